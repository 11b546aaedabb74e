//! Finds the field that separates the sessions of a log: a word in front of messages, or a member around them.

use super::super::Direction;
use super::super::methods::known_method;
use super::super::rules::WordMeaning;
use super::super::surroundings::named_side;
use super::super::wrapper::is_level;
use super::is_step;
use super::scan::Call;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A varying part around messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    /// The word in front of the message, counted from 0.
    Word(usize),
    /// The member at a pointer.
    Member(String),
    /// The word behind the message and this text, which ends the word before.
    Behind(String),
    /// The word behind this text in a line above the message.
    Above(String),
}

impl Field {
    /// The name of the member, or of the value behind the message: of the object whose `id` or `name` the member is, as in
    /// `"conn":{"id":7}`.
    fn name(&self) -> Option<&str> {
        match self {
            Self::Word(_) => None,
            Self::Member(pointer) => {
                pointer.rsplit('/').find(|name| !name.is_empty() && !["id", "name"].contains(name))
            }
            Self::Behind(label) | Self::Above(label) => Some(label.trim_end_matches(['=', ':', ' ', '"'])),
        }
    }
}

/// A message, as far as it matters for sessions.
pub(super) struct Observed<'c> {
    /// The number of its place.
    pub place: usize,
    pub fields: BTreeMap<Field, String>,
    pub side: Option<WordMeaning>,
    pub calls: &'c [Call],
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
    /// The number of exchanges whose answer stands above the request.
    reversed: usize,
    orphans: usize,
    /// The number of requests that reuse an id while it is open.
    overlaps: usize,
    values: usize,
}

/// Returns the field, or the two fields, that leave no exchange across two values and no id reused while it is open. Empty
/// if one session has no such id, and no field has the name of a session.
pub(super) fn choose(messages: &[Observed<'_>]) -> Vec<Field> {
    let together = Trial::of(messages, &[]);
    let is_used = |trial: &Trial| {
        trial.exchanges >= together.exchanges && trial.orphans <= together.orphans && trial.overlaps == 0
    };
    let mut fields: BTreeSet<&Field> = messages.iter().flat_map(|message| message.fields.keys()).collect();
    let named = |is_fit: &dyn Fn(&Trial) -> bool| {
        NAMES.iter().find_map(|name| {
            let mut named = fields.iter().filter(|field| field.name() == Some(name));
            named.find(|field| is_fit(&Trial::of(messages, &[**field]))).map(|field| vec![(**field).clone()])
        })
    };
    if let Some(field) = named(&|trial| together.exchanges + together.overlaps > 0 && is_used(trial)) {
        return field;
    }
    if together.overlaps == 0 {
        let passes_on = |field: &&&Field| {
            Trial::of(messages, &[**field]).exchanges == together.exchanges && tells_hops(messages, field)
        };
        return fields.iter().find(passes_on).map(|field| vec![(**field).clone()]).unwrap_or_default();
    }
    let partly = named(&|trial| together.exchanges > 0 && trial.exchanges == together.exchanges);
    let names_steps = |field: &Field| {
        let mut values = messages.iter().filter_map(|message| message.fields.get(field));
        values.all(|value| is_step(value) || is_level(value))
    };
    // A word that each place has always is a part of its text.
    let varies = |field: &Field| {
        let mut values: HashMap<usize, &str> = HashMap::new();
        messages.iter().any(|message| {
            let Some(value) = message.fields.get(field) else { return false };
            *values.entry(message.place).or_insert(value) != value
        })
    };
    fields.retain(|field| matches!(field, Field::Member(_)) || varies(field) && !names_steps(field));
    // A field that repeats the id separates everything.
    fields.retain(|field| {
        let repeats = |message: &Observed<'_>| {
            let id = message.calls.first().map(|(id, _)| String::from_utf8_lossy(id).trim_matches('"').to_owned());
            message.fields.get(field) == id.as_ref()
        };
        !messages.iter().filter(|message| !message.calls.is_empty()).all(repeats)
    });
    // Answers stand above their requests where a field names the sender.
    let is_used = |trial: &Trial| is_used(trial) && trial.reversed <= together.reversed;
    let fields: Vec<_> = fields.into_iter().take(FIELDS).collect();
    let trials: Vec<_> = fields.iter().map(|field| (*field, Trial::of(messages, &[field]))).collect();
    let single =
        trials.iter().filter(|(_, trial)| trial.values > 1 && is_used(trial)).min_by_key(|(_, trial)| trial.values);
    if let Some((field, _)) = single {
        return vec![(*field).clone()];
    }
    let several: Vec<_> = trials.iter().filter(|(_, trial)| trial.values > 1).map(|(field, _)| *field).collect();
    let pairs = several.iter().enumerate().flat_map(|(at, one)| several[..at].iter().map(move |other| [*other, *one]));
    let pairs = pairs.take(FIELDS).filter(|pair| is_used(&Trial::of(messages, pair)));
    let best = pairs.min_by_key(|pair| Trial::of(messages, pair).values);
    match (best, partly) {
        (Some(pair), _) => pair.into_iter().cloned().collect(),
        (None, field) => field.unwrap_or_default(),
    }
}

/// True if a field has two values, with requests in one direction beside each: a proxy receives them in one connection, and
/// passes them on in another. Not if names of sides or published methods show who asked, and that one side wrote the log.
fn tells_hops(messages: &[Observed<'_>], field: &Field) -> bool {
    let mut hops: BTreeMap<&str, Vec<Direction>> = BTreeMap::new();
    let mut writers = HashSet::new();
    for message in messages {
        let (Some(value), Some(WordMeaning::Went(direction))) = (message.fields.get(field), message.side) else {
            return false;
        };
        let directions = hops.entry(value).or_default();
        let methods = || message.calls.iter().filter_map(|(_, method)| method.as_ref());
        if methods().any(|method| method == value) {
            return false;
        }
        directions.extend(methods().map(|_| direction));
        let senders = methods().filter_map(|method| known_method(method)?.sender);
        writers.extend(senders.map(|sender| if direction == Direction::Out { sender } else { sender.other() }));
    }
    let [(one, asked), (other, passed_on)] = &hops.into_iter().collect::<Vec<_>>()[..] else { return false };
    let are_all =
        |directions: &[Direction], direction| directions.len() > 1 && directions.iter().all(|one| *one == direction);
    [Direction::In, Direction::Out].iter().any(|way| are_all(asked, *way) && are_all(passed_on, way.other()))
        && (named_side(one).is_none() || named_side(other).is_none())
        && writers.len() != 1
}

impl Trial {
    /// Pairs requests and answers of one session by id. An answer may stand above its request, since lines may be out of order.
    fn of(messages: &[Observed<'_>], fields: &[&Field]) -> Self {
        let (mut trial, mut values) = (Self::default(), BTreeSet::new());
        // The sides that asked and answered, by the session and the id.
        let mut open: HashMap<_, Waiting> = HashMap::new();
        for message in messages {
            let key: Vec<&str> =
                fields.iter().map(|field| message.fields.get(field).map_or("", String::as_str)).collect();
            values.insert(key.clone());
            for (id, method) in message.calls {
                let Waiting { asked, answered } = open.entry((key.clone(), id.as_slice())).or_default();
                let (same, other) = if method.is_some() { (asked, answered) } else { (answered, asked) };
                if let Some(at) = other.iter().position(|side| is_same(*side, message.side) != Some(true)) {
                    other.remove(at);
                    trial.exchanges += 1;
                    trial.reversed += usize::from(method.is_some());
                    continue;
                }
                let is_reused = || same.iter().any(|side| is_same(*side, message.side) != Some(false));
                trial.overlaps += usize::from(method.is_some() && is_reused());
                same.push(message.side);
            }
        }
        trial.orphans = open.values().map(|waiting| waiting.answered.len()).sum();
        Self { values: values.len(), ..trial }
    }
}

/// The sides of messages with one id that wait for their counterparts.
#[derive(Default)]
struct Waiting {
    asked: Vec<Option<WordMeaning>>,
    answered: Vec<Option<WordMeaning>>,
}

/// True if two messages come from the same side; `None` if it is unknown.
fn is_same(one: Option<WordMeaning>, other: Option<WordMeaning>) -> Option<bool> {
    match (one?, other?) {
        (WordMeaning::Sent(one), WordMeaning::Sent(other)) => Some(one == other),
        (WordMeaning::Went(one), WordMeaning::Went(other)) => Some(one == other),
        _ => None,
    }
}
