//! Finds the session key: a member of the objects around messages, or a word before them.
//!
//! `session`, `conn` or `server` may mean anything: a user, the machine that wrote the log. So the traffic decides:
//! such a member is used if every exchange stays within one of its values; in other words, if it does not leave more
//! requests unanswered than one session would.
//!
//! A message's session must be known before the message is given, and does not change later. So the first message with
//! such a member is held back until eight exchanges have ended, or 48 KiB of text or the input's end have come: a live
//! log does not wait longer. Later text is not considered; a user who knows better states the key with a
//! [`OwnFormat`](super::OwnFormat).
//!
//! The name of a logger or a service is weaker evidence: loggers of a client and of a server are two sides of one
//! session, and a word may mean anything. It separates sessions if a request under one name reuses an id that is open
//! under another. A log with one name is not held back: its session is the input's own, as is the session of the first
//! name.

use super::object::{RawObject, objects};
use super::search::messages;
use super::surroundings::{KeyPlace, SessionKey, WORDS, digest};
use super::{Entry, Record};
use memchr::memchr;
use std::collections::HashMap;

/// The number of bytes below a line that are examined.
const AHEAD: usize = 48 * 1024;

/// Members that may be the key, the most reliable first. A process may have many sessions, and a session many
/// processes.
pub(super) const NAMES: [&str; 12] = [
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

/// Members with the name of a logger or a service.
const LOGGERS: [&str; 7] = ["logger", "logger_name", "loggerName", "name", "target", "component", "service"];

/// The number of exchanges that decide.
const ENOUGH: usize = 8;

/// The candidates for the session key, until one is chosen.
#[derive(Clone)]
pub(super) struct KeyTrials {
    /// The first trial has all messages in one session.
    trials: Vec<KeyTrial>,
    /// The number of bytes that were examined or skipped.
    at: usize,
    /// True if a member holds back all messages until there is a decision.
    holds: bool,
    /// The trials including the lines below, if another value of a word holds back the current message.
    ahead: Option<Box<Self>>,
}

/// The decision about the current message.
pub(super) enum Decision {
    /// The message waits for more input.
    Wait,
    /// The message does not have a key, which does not decide about later messages.
    Pass,
    /// The key of all messages.
    Key(Option<SessionKey>),
}

/// The trial of one member or word.
#[derive(Clone)]
struct KeyTrial {
    place: Option<KeyPlace>,
    /// The digest of the first value, if it stands for the input's own session.
    own: Option<u64>,
    is_weak: bool,
    /// True if there was another value.
    has_several: bool,
    /// True if a request reused an id that was open under another value.
    has_overlap: bool,
    /// The number of open requests for each id and session, and the direction of the last one.
    open: HashMap<(Vec<u8>, String), (usize, StatedSide)>,
    exchanges: usize,
}

/// The sender or direction of a message, as far as stated.
type StatedSide = (Option<super::Sender>, Option<super::Direction>);

impl KeyTrials {
    /// Returns the candidates around the messages of a line; `None` if there are none.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let is_there = |place: &KeyPlace| records(line, Some(*place)).iter().any(|record| record.session.is_some());
        let sure =
            NAMES.into_iter().map(KeyPlace::Member).filter(is_there).map(|place| KeyTrial::new(Some(place), false));
        let mut trials: Vec<_> = [KeyTrial::new(None, false)].into_iter().chain(sure).collect();
        let holds = trials.len() > 1;
        let weak = LOGGERS.into_iter().map(KeyPlace::Member).chain((0..WORDS).map(KeyPlace::Word));
        trials.extend(weak.filter(is_there).map(|place| KeyTrial::new(Some(place), true)));
        (trials.len() > 1).then_some(Self { trials, at: 0, holds, ahead: None })
    }

    /// Decides about the message in the first line of `input`, which has `length` bytes. The input grows from call to
    /// call, until its `end`.
    pub(super) fn decide(&mut self, input: &[u8], length: usize, end: bool) -> Decision {
        if self.holds {
            return self.look_on(input, length, end);
        }
        let line = input[..length].trim_ascii();
        let mut ahead = self.ahead.take().unwrap_or_else(|| {
            let mut ahead = Box::new(self.clone());
            ahead.at = length;
            ahead.look(line);
            ahead
        });
        let decision = if ahead.is_contested() { ahead.look_on(input, length, end) } else { Decision::Pass };
        match decision {
            Decision::Wait => self.ahead = Some(ahead),
            Decision::Pass => {
                self.look(line);
                self.trials.retain(|trial| ahead.trials.iter().any(|other| other.place == trial.place));
                self.at += length;
                if self.trials.len() == 1 || self.exchanges() >= ENOUGH || self.at > AHEAD {
                    return Decision::Key(None);
                }
            }
            Decision::Key(_) => {}
        }
        decision
    }

    fn look_on(&mut self, input: &[u8], length: usize, end: bool) -> Decision {
        let most = length.saturating_add(AHEAD);
        let is_cut = input.len() > most;
        let window = &input[..input.len().min(most)];
        while self.exchanges() < ENOUGH && self.at < window.len() {
            let rest = &window[self.at..];
            let length = match memchr(b'\n', rest) {
                Some(last) => last + 1,
                None if end && !is_cut => rest.len(),
                None => break,
            };
            self.look(rest[..length].trim_ascii());
            self.at += length;
            if !self.holds && !self.is_contested() {
                return Decision::Pass;
            }
        }
        let all = self.exchanges();
        if !end && !is_cut && all < ENOUGH {
            return Decision::Wait;
        }
        let is_used = |trial: &&KeyTrial| {
            trial.place.is_some() && all > 0 && trial.exchanges == all && (!trial.is_weak || trial.has_overlap)
        };
        let used = self.trials.iter().find(is_used);
        Decision::Key(
            used.and_then(|used| Some(SessionKey { place: used.place?, own: used.own.filter(|_| used.is_weak) })),
        )
    }

    /// True if a word may separate sessions.
    fn is_contested(&self) -> bool {
        self.trials.iter().any(|trial| trial.is_weak && trial.has_several)
    }

    /// The number of exchanges.
    fn exchanges(&self) -> usize {
        self.trials.first().map_or(0, |trial| trial.exchanges)
    }

    fn look(&mut self, line: &[u8]) {
        self.trials.iter_mut().for_each(|trial| trial.read(line));
        let all = self.exchanges();
        self.trials.retain(|trial| !trial.is_weak || trial.exchanges == all);
    }
}

impl KeyTrial {
    fn new(place: Option<KeyPlace>, is_weak: bool) -> Self {
        let (has_several, has_overlap) = (false, false);
        Self { place, own: None, is_weak, has_several, has_overlap, open: HashMap::new(), exchanges: 0 }
    }

    fn read(&mut self, line: &[u8]) {
        for record in records(line, self.place) {
            let session = record.session.as_deref().unwrap_or_default();
            let value = digest(session.as_bytes());
            self.has_several |= *self.own.get_or_insert(value) != value;
            let way: StatedSide = (record.sender, record.direction);
            for message in objects(&record.bytes) {
                let Some(id) = message.get("id").filter(|id| *id != b"null") else { continue };
                let is_request = message.has("method");
                if is_request && self.is_weak && !self.has_overlap {
                    let is_open = |((other, value), (open, its)): (&(Vec<u8>, String), &(usize, StatedSide))| {
                        *open > 0 && *its == way && other == id && value != session
                    };
                    self.has_overlap = self.open.iter().any(is_open);
                }
                let (open, last) = self.open.entry((id.to_vec(), session.to_owned())).or_default();
                if is_request {
                    *open += 1;
                    *last = way;
                } else if *open > 0 {
                    *open -= 1;
                    self.exchanges += 1;
                }
            }
        }
    }
}

/// Returns the messages of a line, each with the session that the line states.
fn records(line: &[u8], place: Option<KeyPlace>) -> Vec<Record<'_>> {
    let object = RawObject::parse(line);
    let key = place.map(|place| SessionKey { place, own: None });
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
