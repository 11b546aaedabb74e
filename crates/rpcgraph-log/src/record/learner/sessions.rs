//! Finds the field that separates the sessions of a log: a word in front of messages, or a member around them.

use super::super::rules::WordMeaning;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A varying part around messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    /// The word in front of the message, counted from 0.
    Word(usize),
    /// The member at a pointer.
    Member(String),
}

/// A message, as far as it matters for sessions.
pub(super) struct Observed {
    pub fields: BTreeMap<Field, String>,
    pub side: Option<WordMeaning>,
    /// The ids, and the methods of requests.
    pub calls: Vec<(Vec<u8>, Option<String>)>,
}

/// Members that may be the key, the most reliable first. A process may have many sessions, and a session many processes.
const NAMES: [&str; 12] = [
    "mcp-session-id",
    "mcp_session_id",
    "session",
    "session_id",
    "sessionId",
    "connection",
    "connection_id",
    "connectionId",
    "conn",
    "conn_id",
    "connId",
    "server",
];

/// The maximum number of fields that are tried.
const FIELDS: usize = 64;

/// The result of reading all messages with a session for each value of some fields.
#[derive(Default)]
struct Trial {
    exchanges: usize,
    orphans: usize,
    /// The number of requests that reuse an id while it is open.
    overlaps: usize,
    values: usize,
}

/// Returns the field, or the two fields, that leave no exchange across two values and no id reused while it is open. Empty
/// if one session has no such id, and no field has the name of a session.
/// Also returns the first value, which stands for the input's own session unless the field has the name of a session.
pub(super) fn choose(messages: &[Observed]) -> (Vec<Field>, Option<String>) {
    let (fields, is_named) = fields_of(messages);
    let value = |message: &Observed| {
        let values: Vec<_> = fields.iter().filter_map(|field| message.fields.get(field)).map(String::as_str).collect();
        Some(values.join(" ")).filter(|value| !value.is_empty())
    };
    let own = if is_named { None } else { messages.iter().find_map(value) };
    (fields, own)
}

/// Returns the fields, and true if their names state that they are a session.
fn fields_of(messages: &[Observed]) -> (Vec<Field>, bool) {
    let together = Trial::of(messages, &[]);
    let is_used = |trial: &Trial| {
        trial.exchanges >= together.exchanges && trial.orphans <= together.orphans && trial.overlaps == 0
    };
    let mut fields: BTreeSet<&Field> = messages.iter().flat_map(|message| message.fields.keys()).collect();
    let named = |is_fit: &dyn Fn(&Trial) -> bool| {
        NAMES.iter().find_map(|name| {
            let mut named = fields.iter().filter(|field| match field {
                Field::Member(pointer) => pointer.rsplit('/').next() == Some(name),
                Field::Word(_) => false,
            });
            named.find(|field| is_fit(&Trial::of(messages, &[**field]))).map(|field| vec![(**field).clone()])
        })
    };
    if let Some(field) = named(&|trial| together.exchanges + together.overlaps > 0 && is_used(trial)) {
        return (field, true);
    }
    if together.overlaps == 0 {
        return (Vec::new(), false);
    }
    let partly = named(&|trial| together.exchanges > 0 && trial.exchanges == together.exchanges);
    // A field that repeats the id separates everything.
    fields.retain(|field| {
        let repeats = |message: &Observed| {
            let id = message.calls.first().map(|(id, _)| String::from_utf8_lossy(id).trim_matches('"').to_owned());
            message.fields.get(field) == id.as_ref()
        };
        !messages.iter().filter(|message| !message.calls.is_empty()).all(repeats)
    });
    let fields: Vec<_> = fields.into_iter().take(FIELDS).collect();
    let trials: Vec<_> = fields.iter().map(|field| (*field, Trial::of(messages, &[field]))).collect();
    let single =
        trials.iter().filter(|(_, trial)| trial.values > 1 && is_used(trial)).min_by_key(|(_, trial)| trial.values);
    if let Some((field, _)) = single {
        return (vec![(*field).clone()], false);
    }
    let several: Vec<_> = trials.iter().filter(|(_, trial)| trial.values > 1).map(|(field, _)| *field).collect();
    let pairs = several.iter().enumerate().flat_map(|(at, one)| several[..at].iter().map(move |other| [*other, *one]));
    let pairs = pairs.take(FIELDS).filter(|pair| is_used(&Trial::of(messages, pair)));
    let best = pairs.min_by_key(|pair| Trial::of(messages, pair).values);
    match (best, partly) {
        (Some(pair), _) => (pair.into_iter().cloned().collect(), false),
        (None, Some(field)) => (field, true),
        (None, None) => (Vec::new(), false),
    }
}

impl Trial {
    fn of(messages: &[Observed], fields: &[&Field]) -> Self {
        let (mut trial, mut values) = (Self::default(), BTreeSet::new());
        // The sides that asked, by the session and the id.
        let mut open: HashMap<_, Vec<Option<WordMeaning>>> = HashMap::new();
        for message in messages {
            let key: Vec<&str> =
                fields.iter().map(|field| message.fields.get(field).map_or("", String::as_str)).collect();
            values.insert(key.clone());
            for (id, method) in &message.calls {
                let open = open.entry((key.clone(), id.as_slice())).or_default();
                if method.is_some() {
                    trial.overlaps += usize::from(open.iter().any(|side| is_same(*side, message.side) != Some(false)));
                    open.push(message.side);
                    continue;
                }
                let call = open.iter().position(|side| is_same(*side, message.side) != Some(true));
                match call {
                    Some(call) => {
                        open.remove(call);
                        trial.exchanges += 1;
                    }
                    None => trial.orphans += 1,
                }
            }
        }
        Self { values: values.len(), ..trial }
    }
}

/// True if two messages come from the same side; `None` if it is unknown.
fn is_same(one: Option<WordMeaning>, other: Option<WordMeaning>) -> Option<bool> {
    match (one?, other?) {
        (WordMeaning::Sent(one), WordMeaning::Sent(other)) => Some(one == other),
        (WordMeaning::Went(one), WordMeaning::Went(other)) => Some(one == other),
        _ => None,
    }
}
