//! Which member of the objects around messages tells the session of each.
//!
//! `session`, `conn` or `server` may mean anything: a user, the machine that wrote the log. So the traffic decides: such a
//! member is used if every exchange stays within one of its values, which is the same as that no more requests stay unanswered
//! with it than without.
//!
//! A stream has to be told before its first message is given, and what was given stays. So the first message that has such a
//! member is held back until eight exchanges have ended, or 48 KiB of text or the input's end have come: a live log waits for no
//! more. What comes later is not asked: a user who knows better says so with a [`Layout`](super::Layout).

use super::inside::messages;
use super::marked::AROUND;
use super::object::{RawObject, objects};
use super::{Entry, Record};
use memchr::memchr;
use std::collections::HashMap;
use std::iter;

/// Members that may tell it, the most telling first. A process may have many sessions, and a session many processes.
const NAMES: [&str; 10] = [
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

/// So many exchanges decide.
const ENOUGH: usize = 8;

/// The members that may tell the session, while that is not decided.
pub(super) struct KeyTrials {
    /// The first is that of all messages in one session.
    trials: Vec<Trial>,
    /// How many bytes were looked at.
    at: usize,
}

/// What comes of one member.
struct Trial {
    name: Option<&'static str>,
    /// How many requests with an id in a session are open.
    open: HashMap<(Vec<u8>, String), usize>,
    exchanges: usize,
}

impl KeyTrials {
    /// Those around the messages of a line; `None`: there are none.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let is_around =
            |name: &Option<&'static str>| records(line, *name).iter().any(|record| record.session.is_some());
        let names: Vec<_> = NAMES.into_iter().map(Some).filter(is_around).collect();
        let trial = |name| Trial { name, open: HashMap::new(), exchanges: 0 };
        (!names.is_empty()).then(|| Self { trials: iter::once(None).chain(names).map(trial).collect(), at: 0 })
    }

    /// The member that tells the session, if one does, once that is decided. `input` begins with the line of the first
    /// message, which has `length` bytes, and grows from call to call; `end` means that it does not any more.
    pub(super) fn decide(&mut self, input: &[u8], length: usize, end: bool) -> Option<Option<&'static str>> {
        let most = length.saturating_add(AROUND);
        let is_cut = input.len() > most;
        let window = &input[..input.len().min(most)];
        while self.exchanges() < ENOUGH && self.at < window.len() {
            let rest = &window[self.at..];
            let length = match memchr(b'\n', rest) {
                Some(last) => last + 1,
                None if end && !is_cut => rest.len(),
                None => break,
            };
            self.trials.iter_mut().for_each(|trial| trial.read(rest[..length].trim_ascii()));
            self.at += length;
        }
        let all = self.exchanges();
        (end || is_cut || all >= ENOUGH).then(|| {
            let (_, trials) = self.trials.split_first()?;
            trials.iter().find(|trial| all > 0 && trial.exchanges == all)?.name
        })
    }

    /// How many exchanges there were.
    fn exchanges(&self) -> usize {
        self.trials.first().map_or(0, |trial| trial.exchanges)
    }
}

impl Trial {
    fn read(&mut self, line: &[u8]) {
        for record in records(line, self.name) {
            let session = record.session.as_deref().unwrap_or_default();
            for message in objects(&record.bytes) {
                let Some(id) = message.get("id").filter(|id| *id != b"null") else { continue };
                let open = self.open.entry((id.to_vec(), session.to_owned())).or_default();
                if message.has("method") {
                    *open += 1;
                } else if *open > 0 {
                    *open -= 1;
                    self.exchanges += 1;
                }
            }
        }
    }
}

/// The messages of a line, each with the session that this member tells.
fn records<'a>(line: &'a [u8], key: Option<&'static str>) -> Vec<Record<'a>> {
    let object = RawObject::parse(line);
    match &object {
        Some(message) if message.has("jsonrpc") => vec![Record::new(line)],
        object => {
            let record = |(_, entry)| match entry {
                Entry::Record(record) => Some(record),
                Entry::LogLine(_) => None,
            };
            messages(line, object.as_ref(), key).into_iter().filter_map(record).collect()
        }
    }
}
