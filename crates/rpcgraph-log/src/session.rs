//! Sessions: the context of a message among others.
//!
//! [`Sessions`] take the records of an input in order, and give each its name, its sequence, its sender, the request
//! that it answers and the latency: the [`Annotated`] message. Memory grows with the open requests of the sessions in
//! use, and with the number of sessions, by the key of each and at most 100 bytes.
//!
//! A client sends `initialize` once. If it sends another one on the same connection, this begins a new session, unless
//! the first was refused. The number of the connection's sessions becomes part of its key. Answers to earlier requests
//! belong to the session before, and show that it goes on. Otherwise, the new session is a restart, and ends the session
//! before with its open requests.

mod annotated;
mod answered;
mod clients;
mod connection;
mod failure;
mod offset;
mod pairing;
mod sides;
#[doc(hidden)]
mod traffic;
pub mod triples;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;
use oxsdatatypes::Decimal;
use percent_encoding::utf8_percent_encode;

pub use self::annotated::{Annotated, FailureKind, IdNode, Name, Node, Origin, RequestState, Restart, SessionEnd};
use self::answered::RecentAnswers;
use self::clients::ClientIds;
pub(crate) use self::connection::seconds_between;
use self::connection::{Connection, IdleTally, InitializeRequest, SessionTally};
pub use self::connection::{OpenBatch, asked_id};
use self::pairing::small;
use crate::message::{Content, Id, Kind, Message, Single};
use crate::record::{KnownMethod, LogLine, Protocols, Record, Sender, Time};
use crate::vocab::RESERVED;

/// The number of sessions with keys that stay in use. At twice this number, half of them are evicted: first sessions
/// that do not wait for an answer, then the idlest.
const KEPT: usize = 4_096;
/// The maximum id of the first request of a client that counts.
const MAX_FIRST_ID: u64 = 2;
/// The number of bytes of a line that are searched for a word for a start.
const MAX_START_LINE: usize = 256;

/// The connections between clients and servers in an input, as far as it has been read.
#[derive(Debug, Default)]
pub struct Sessions {
    /// The input's own session, for records without a key.
    own: Connection,
    /// True if the input's own session holds text between messages.
    own_has_text: bool,
    /// The line of the last text between messages, and the number of such texts that began on it.
    last_log_line: Option<(u64, u32)>,
    /// The other sessions, by their keys, in the order in which they began.
    keyed: IndexMap<Box<str>, KeyedSession>,
    /// The indexes in `keyed` of the sessions in use.
    in_use: Vec<usize>,
    /// The index in `keyed` of the session of the last record; `None` for the input's own session.
    last: Option<usize>,
    /// Connections that began again, by the key in the log, which is empty for the input's own session.
    renewed: HashMap<Box<str>, RenewedSession>,
    /// The restarts that ended sessions, by the index of the session in `keyed`.
    restarts: HashMap<Option<usize>, Restart>,
    /// The times at which the processes of servers ended, by the index of the session in `keyed`.
    exits: HashMap<Option<usize>, Option<Time>>,
    /// The indexes in `keyed` of the sessions whose keys are numbered here and not stated by the log.
    numbered: HashSet<usize>,
    /// True if the last text between messages since the last request says that a program started.
    has_start_line: bool,
    answered: RecentAnswers,
    records: u64,
    given_up: u64,
    /// The states of the requests that were given up, by the index in `keyed` of their session.
    of_given_up: HashMap<usize, Vec<(Name, RequestState)>>,
}

/// The last two sessions of a connection, and the number of its sessions.
#[derive(Debug)]
struct RenewedSession {
    current: usize,
    /// `None` for the input's own session.
    before: Option<usize>,
    count: usize,
    clients: ClientIds,
}

/// A session with a key. There may be millions.
#[derive(Debug)]
enum KeyedSession {
    InUse(Box<Connection>),
    Idle(IdleTally),
}

impl KeyedSession {
    fn tally(&self) -> SessionTally {
        match self {
            Self::InUse(connection) => connection.tally,
            Self::Idle(idle) => idle.tally(),
        }
    }
}

impl Sessions {
    /// Creates the sessions of an input that has not been read yet: its own session, without records.
    pub fn new() -> Self {
        Self::default()
    }

    /// Annotates the content of the input's next record, in the session with its key.
    ///
    /// Returns one node for a message, valid or not; for a batch, the batch's own node and then one for each element.
    pub fn annotate<'a>(&mut self, record: &'a Record<'a>, content: &'a mut Content<'_>) -> Vec<Annotated<'a>> {
        let mut nodes = Vec::new();
        content.look_up_methods();
        self.annotate_into(record, content, &mut nodes);
        nodes
    }

    /// Annotates a record whose methods have been looked up, and appends its nodes. Returns the reference of the
    /// session's graph.
    pub fn annotate_into<'a>(
        &mut self,
        record: &'a Record<'a>,
        content: &'a Content<'a>,
        nodes: &mut Vec<Annotated<'a>>,
    ) -> Arc<str> {
        self.records += 1;
        let message = match content {
            Content::Single(Single::Message(message)) => Some(message),
            _ => None,
        };
        let (connection, answered) = self.connection(record, message);
        connection.annotate_into(record, content, answered, nodes);
        connection.reference.clone()
    }

    /// Begins the input's next record, a batch whose elements are annotated some at a time. `sender_method` is the first known
    /// method in it that implies a sender.
    pub fn begin_batch(&mut self, record: &Record<'_>, sender_method: Option<KnownMethod>) -> OpenBatch {
        self.records += 1;
        self.connection(record, None).0.begin_batch(record, false, sender_method)
    }

    /// Annotates the next elements of the last record, which is a batch.
    pub fn elements<'a>(
        &mut self,
        record: &'a Record<'a>,
        batch: &mut OpenBatch,
        elements: &'a [Single<'a>],
    ) -> (Vec<Annotated<'a>>, Arc<str>) {
        let (connection, answered) = self.connection(record, None);
        let elements = elements.iter().map(|element| connection.element(record, batch, element, answered));
        (elements.collect(), connection.reference.clone())
    }

    /// Returns the newest request with an id in the session of the last record that may come from this side: open, or
    /// among the requests that were answered last.
    pub(crate) fn asked(&self, sender: Option<Sender>, id: &Id<'_>) -> Option<Name> {
        self.at(self.last)?.exchanges.asked(sender, id, &self.answered)
    }

    /// Cancels the request before `notice` that [`asked`](Self::asked) returns.
    pub(crate) fn cancel(&mut self, sender: Option<Sender>, id: &Id<'_>, notice: Name) -> Option<Name> {
        let request = self.asked(sender, id).filter(|request| *request < notice)?;
        self.at_mut(self.last).0.exchanges.cancel(id, request);
        Some(request)
    }

    /// The key of the session of the last record; `None` for the input's own session.
    pub fn last_key(&self) -> Option<&str> {
        self.last.and_then(|place| self.keyed.get_index(place)).map(|(key, _)| &**key)
    }

    /// Returns the session of a record, which is this message if it is a single one.
    fn connection(
        &mut self,
        record: &Record<'_>,
        message: Option<&Message<'_>>,
    ) -> (&mut Connection, &mut RecentAnswers) {
        let place = self.last_for_key(record.session.as_deref());
        if let (Some(ended), Some(next)) = (record.restarts.as_deref(), place) {
            let ended = self.keyed.get_index_of(ended);
            // The end of a process that left no call open matters to nobody, and may be the end of a worker.
            if !record.flags.new_process || self.at(ended).is_some_and(|before| !before.exchanges.is_empty()) {
                self.note_restart(record, ended, next);
            }
        }
        self.has_start_line |= record.flags.new_process && record.restarts.is_none();
        self.last = match message {
            Some(Message { kind: Kind::Request, method: Some(method), id: Some(id), .. }) if method == "initialize" => {
                self.has_start_line = false;
                self.begun(record, place, id)
            }
            Some(Message { kind: Kind::Request, id: Some(id), .. })
                if self.has_start_line || !self.renewed.is_empty() =>
            {
                match self.has_start_line && self.begins_anew(record, place, id) {
                    true => Some(self.begin_anew(record, place, id)),
                    false => self.client_session(record, place, id),
                }
            }
            Some(Message { kind: Kind::Response | Kind::ErrorResponse, id: Some(id), .. })
                if !self.renewed.is_empty() =>
            {
                let answered = self.asked_in(record.session.as_deref(), place, id);
                self.restarts.remove(&answered);
                answered
            }
            _ => place,
        };
        if !self.restarts.is_empty() {
            self.restarts.remove(&self.last);
        }
        let (records, last) = (self.records, self.last);
        let (connection, answered) = self.at_mut(last);
        connection.last_used = records;
        connection.last_record = Some(record.location.record);
        (connection, answered)
    }

    /// Returns the last session for a key in the log, or for none; the session may begin here.
    fn last_for_key(&mut self, key: Option<&str>) -> Option<usize> {
        if let Some(renewed) = self.renewed.get(key.unwrap_or_default()) {
            return Some(self.wake(renewed.current));
        }
        let key = key?;
        Some(match self.keyed.get_index_of(key) {
            None => self.use_session(key),
            Some(numbered) if self.numbered.contains(&numbered) => {
                // The log states a key that a later session of another connection has already.
                let (current, count) = self.next_session(key);
                let clients = ClientIds::default();
                self.renewed.insert(key.into(), RenewedSession { current, before: Some(current), count, clients });
                current
            }
            Some(stated) => self.wake(stated),
        })
    }

    /// Returns the index of the session whose key the log states.
    fn stated(&self, key: &str) -> Option<usize> {
        self.keyed.get_index_of(key).filter(|place| !self.numbered.contains(place))
    }

    /// Begins the next session of the connection with this key in the log. Returns its index and its number.
    fn next_session(&mut self, key: &str) -> (usize, usize) {
        let mut count = self.renewed.get(key).map_or(1, |renewed| renewed.count);
        loop {
            count += 1;
            let new = if key.is_empty() { count.to_string() } else { format!("{key}-{count}") };
            if !self.keyed.contains_key(&*new) {
                let place = self.use_session(&new);
                self.numbered.insert(place);
                return (place, count);
            }
        }
    }

    /// Returns the session with an index in `keyed`, or the input's own session. `None` if it is idle.
    fn at(&self, place: Option<usize>) -> Option<&Connection> {
        match place.and_then(|place| self.keyed.get_index(place)) {
            Some((_, KeyedSession::InUse(connection))) => Some(connection),
            Some((_, KeyedSession::Idle(_))) => None,
            None => Some(&self.own),
        }
    }

    /// As [`Self::at`], for a session in use.
    fn at_mut(&mut self, place: Option<usize>) -> (&mut Connection, &mut RecentAnswers) {
        let connection = match place.and_then(|place| self.keyed.get_index_mut(place)) {
            Some((_, KeyedSession::InUse(connection))) => connection,
            _ => &mut self.own,
        };
        (connection, &mut self.answered)
    }

    /// Returns the session of an `initialize`: a new one if its sender has sent one before.
    fn begun(&mut self, record: &Record<'_>, place: Option<usize>, id: &Id<'_>) -> Option<usize> {
        let begun =
            InitializeRequest { by: record.sender, direction: record.direction, request: record.location.record };
        let begun_by = &mut self.at_mut(place).0.begun_by;
        if begun_by.is_some_and(|first| first.is_of_same_side(begun)) && !record.flags.session_stated {
            let new = self.begin_anew(record, place, id);
            self.at_mut(Some(new)).0.begun_by = Some(begun);
            return Some(new);
        }
        begun_by.get_or_insert(begun);
        place
    }

    /// Returns the session of a request: the session before, if two clients use the connection and it goes on with the ids of
    /// the first one.
    fn client_session(&mut self, record: &Record<'_>, place: Option<usize>, id: &Id<'_>) -> Option<usize> {
        let side = InitializeRequest { by: record.sender, direction: record.direction, request: 0 };
        let begun = self.at(place).and_then(|session| session.begun_by);
        let is_of_client = begun.is_some_and(|begun| begun.is_of_same_side(side));
        let renewed = self.renewed.get_mut(record.session.as_deref().unwrap_or_default());
        let (Some(renewed), Some(number), true) = (renewed, small(id), is_of_client) else { return place };
        let (before, is_of_first) = (renewed.before, renewed.clients.take(number));
        if renewed.clients.are_two {
            self.restarts.remove(&before);
        }
        if is_of_first { before.map(|before| self.wake(before)) } else { place }
    }

    /// True if the first request after a line that says that a program started shows that ids begin anew.
    fn begins_anew(&mut self, record: &Record<'_>, place: Option<usize>, id: &Id<'_>) -> bool {
        self.has_start_line = false;
        let Some(session) = self.at(place).filter(|_| !record.flags.session_stated) else { return false };
        let number = small(id).filter(|number| *number <= MAX_FIRST_ID && !session.exchanges.is_open(id));
        let last = session.exchanges.last_client_id().filter(|last| *last > MAX_FIRST_ID);
        number.is_some() && last.is_some()
    }

    /// Begins the next session of a connection with a request. Returns its index.
    fn begin_anew(&mut self, record: &Record<'_>, place: Option<usize>, id: &Id<'_>) -> usize {
        let first = self.at(place).and_then(|before| before.exchanges.last_client_id());
        let key = record.session.as_deref().unwrap_or_default();
        // Known before the next session may evict this one.
        self.note_restart(record, place, self.keyed.len());
        let (new, count) = self.next_session(key);
        let clients = ClientIds::new(first, small(id));
        self.renewed.insert(key.into(), RenewedSession { current: new, before: place, count, clients });
        new
    }

    /// Notes that a record began the session with the index `next`, and ended another one.
    fn note_restart(&mut self, record: &Record<'_>, ended: Option<usize>, next: usize) {
        let message = Name { record: record.location.record, element: None };
        self.restarts.insert(ended, Restart { message, time: record.time, next });
    }

    /// Returns the session of an answer: the session before, if only that one waits for the answer.
    fn asked_in(&self, key: Option<&str>, place: Option<usize>, id: &Id<'_>) -> Option<usize> {
        let Some(before) = self.renewed.get(key.unwrap_or_default()).map(|renewed| renewed.before) else {
            return place;
        };
        let waits = |place| self.at(place).is_some_and(|connection| connection.exchanges.is_open(id));
        if !waits(place) && waits(before) { before } else { place }
    }

    /// Returns the index of the session with a key. The session may be idle, or begin here.
    fn use_session(&mut self, key: &str) -> usize {
        let known = self.keyed.get_index_of(key);
        let place =
            known.unwrap_or_else(|| self.keyed.insert_full(key.into(), KeyedSession::Idle(IdleTally::default())).0);
        self.wake(place)
    }

    /// Brings the session at an index into use.
    fn wake(&mut self, place: usize) -> usize {
        if let Some((key, session)) = self.keyed.get_index_mut(place)
            && let KeyedSession::Idle(idle) = session
        {
            // The input's own session has the number 0.
            let connection = Connection::new(session_reference(Some(key)).into(), place + 1, idle.tally());
            *session = KeyedSession::InUse(Box::new(connection));
            if self.in_use.len() == 2 * KEPT {
                self.give_up();
            }
            self.in_use.push(place);
        }
        place
    }

    /// Evicts half of the sessions, see [`KEPT`], and gives up their open requests.
    fn give_up(&mut self) {
        let keyed = &self.keyed;
        self.in_use.sort_by_cached_key(|place| match keyed.get_index(*place) {
            Some((_, KeyedSession::InUse(connection))) => (!connection.exchanges.is_empty(), connection.last_used),
            _ => (false, 0),
        });
        for place in self.in_use.drain(..KEPT) {
            if let Some((_, session)) = self.keyed.get_index_mut(place)
                && let KeyedSession::InUse(connection) = session
            {
                if !connection.exchanges.is_empty() {
                    self.given_up += 1;
                    self.of_given_up.entry(place).or_default().extend(connection.unanswered(end_of(
                        &self.restarts,
                        &self.exits,
                        Some(place),
                    )));
                }
                connection.measured.give_up(&mut self.answered.measured);
                *session = KeyedSession::Idle(IdleTally::new(&connection.tally));
            }
        }
    }

    /// Notes that the process of the server has ended, if a line of a session says so, or that a program started.
    pub fn note_line(&mut self, line: &LogLine<'_>) {
        self.has_start_line |= says_start(&line.bytes);
        if line.is_exit {
            let place = line.session.as_deref().and_then(|key| self.stated(key));
            self.exits.insert(place, line.time);
        }
    }

    /// Annotates text between messages: in the session whose key the log states for the text, if that session has
    /// begun, and otherwise in the session of the record before it. Before the first record, this is the session of
    /// `first`, the key of the first record, if it is known. Also returns the reference of the session's graph.
    pub fn annotate_log_line<'a>(&mut self, line: &'a LogLine<'a>, first: Option<&str>) -> (Annotated<'a>, Arc<str>) {
        let at = line.location.line;
        let last = self.last_log_line.filter(|(last, _)| *last == at);
        let nth = last.map_or(1, |(_, count)| count.saturating_add(1));
        self.last_log_line = Some((at, nth));
        let renewed = line.session.as_deref().and_then(|key| self.renewed.get(key)).map(|renewed| renewed.current);
        let told = renewed.or_else(|| line.session.as_deref().and_then(|key| self.stated(key)));
        let place = match line.session.as_deref() {
            _ if told.is_some() => told,
            Some("") => None,
            _ if self.records > 0 => self.last,
            _ => first.map(|key| self.use_session(key)),
        };
        let (last_record, reference) = match place.and_then(|place| self.keyed.get_index(place)) {
            Some((_, KeyedSession::InUse(connection))) => (connection.last_record, connection.reference.clone()),
            // Its last record was forgotten.
            Some((key, KeyedSession::Idle(_))) => (None, session_reference(Some(key)).into()),
            None => {
                self.own_has_text = true;
                (self.own.last_record, self.own.reference.clone())
            }
        };
        let after = last_record.map(|record| Name { record, element: None });
        (Annotated::log_line(line, nth, after), reference)
    }

    /// Returns the sessions' own nodes, after the last record, in the order in which the sessions began, without the requests
    /// that were forwarded, which only the protocol knows. An input whose records all belong to sessions with keys does not
    /// have a node of its own.
    pub fn ends<'s>(&'s self, origin: &'s Origin) -> impl Iterator<Item = SessionEnd<'s>> {
        self.tallies().map(|(key, tally)| self.end(origin, key, tally))
    }

    fn end<'s>(&'s self, origin: &'s Origin, key: Option<&'s str>, tally: SessionTally) -> SessionEnd<'s> {
        let place = key.and_then(|key| self.keyed.get_index_of(key));
        SessionEnd {
            key,
            source: &origin.source,
            format: origin.format,
            record_count: tally.record_count,
            started: tally.times.map(|(started, _)| started),
            ended: tally.times.map(|(_, ended)| ended),
            sender_inferred: tally.sides.inferred,
            clock_offset: tally.traffic.and_then(|traffic| traffic.clock_offset()),
            estimates: self.at(place).map(Connection::estimates).unwrap_or_default(),
            one_sided: tally.is_one_sided(),
            answers_missing: self.at(place).is_some_and(Connection::lacks_answers),
            requests_missing: tally.traffic.is_some_and(|traffic| traffic.lacks_requests()),
            restart: self.restarts.get(&place).copied(),
            exited: self.exits.get(&place).copied().flatten(),
            unanswered: self.states(place),
            forwarded: Vec::new(),
        }
    }

    /// Returns the states of the unanswered requests of the session with an index in `keyed`, or of the input's own.
    fn states(&self, place: Option<usize>) -> Vec<(Name, RequestState)> {
        let given_up = place.and_then(|place| self.of_given_up.get(&place)).cloned().unwrap_or_default();
        let end = end_of(&self.restarts, &self.exits, place);
        [given_up, self.at(place).map(|connection| connection.unanswered(end)).unwrap_or_default()].concat()
    }

    /// Returns the states of all requests without an answer.
    pub fn unanswered(&self) -> impl Iterator<Item = (Name, RequestState)> {
        std::iter::once(None).chain((0..self.keyed.len()).map(Some)).flat_map(|place| self.states(place))
    }

    /// Returns the restarts, with the key of the session that each ended, and of the session that it began.
    pub fn restarts(&self) -> impl Iterator<Item = (Option<&str>, &str, Restart)> {
        let key = |place| self.keyed.get_index(place).map(|(key, _)| &**key);
        self.restarts
            .iter()
            .filter_map(move |(place, restart)| Some((place.and_then(key), key(restart.next)?, *restart)))
    }

    /// The number of sessions.
    pub fn count(&self) -> usize {
        self.tallies().count()
    }

    /// The number of sessions that were idle for so long, among many others, that their open requests were given up.
    /// Answers to these do not find a request.
    pub fn given_up(&self) -> u64 {
        self.given_up
    }

    /// The number of requests that stand after their answers in the log, by their times, within the last 1,024 answers
    /// without a request. They are not paired.
    pub fn misordered(&self) -> u64 {
        self.answered.misordered()
    }

    /// The number of sessions of which the log holds one side.
    pub fn one_sided(&self) -> u64 {
        self.tallies().filter(|(_, tally)| tally.is_one_sided()).count() as u64
    }

    /// The most seconds by which the clock of a side of a session is behind, and whether the latencies of all such sessions are
    /// estimated.
    pub fn clock_offset(&self) -> Option<(Decimal, bool)> {
        let places = (0..self.keyed.len()).map(Some).chain([None]);
        let offsets = places.filter_map(|place| {
            let connection = self.at(place)?;
            Some((connection.tally.traffic?.clock_offset()?.0, connection.estimated_offset().is_some()))
        });
        offsets.reduce(|(most, all), (seconds, estimated)| (most.max(seconds), all && estimated))
    }

    /// The number of sessions that lack most answers to one side, and of those that lack the requests of most answers.
    pub fn incomplete(&self) -> [u64; 2] {
        let answers = (0..self.keyed.len()).map(Some).chain([None]);
        let answers = answers.filter(|place| self.at(*place).is_some_and(Connection::lacks_answers)).count();
        let requests =
            self.tallies().filter(|(_, tally)| tally.traffic.is_some_and(|traffic| traffic.lacks_requests()));
        [answers as u64, requests.count() as u64]
    }

    /// The protocols whose methods implied senders; empty if the log states the senders, or no method implies one.
    pub fn protocols(&self) -> Protocols {
        let inferred = self.tallies().map(|(_, tally)| tally.sides).filter(|sides| sides.inferred);
        inferred.fold(Protocols::default(), |all, sides| all.or(sides.protocols))
    }

    /// True if a session has times with a zone, and true if a session has times without one.
    pub fn zones(&self) -> [bool; 2] {
        let times = || self.tallies().filter_map(|(_, tally)| tally.times).flat_map(|(first, last)| [first, last]);
        [times().any(|time| time.timezone_offset().is_some()), times().any(|time| time.timezone_offset().is_none())]
    }

    fn tallies(&self) -> impl Iterator<Item = (Option<&str>, SessionTally)> {
        let own_is_empty = self.own.tally.record_count == 0 && !self.own_has_text;
        let own = (self.keyed.is_empty() || !own_is_empty).then_some((None, self.own.tally));
        own.into_iter().chain(self.keyed.iter().map(|(key, session)| (Some(&**key), session.tally())))
    }
}

/// True if the beginning of a line says that a program started.
fn says_start(line: &[u8]) -> bool {
    const WORDS: [&str; 5] = ["started", "starting", "restarted", "restarting", "listening"];
    let words = line.get(..MAX_START_LINE).unwrap_or(line).split(|byte| !byte.is_ascii_alphabetic());
    let mut words = words.filter(|word| word.len() >= 7);
    words.any(|word| WORDS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes())))
}

/// Returns the end of a session, if it ended before the log: the time of its restart or of the exit of its server.
fn end_of(
    restarts: &HashMap<Option<usize>, Restart>,
    exits: &HashMap<Option<usize>, Option<Time>>,
    place: Option<usize>,
) -> Option<Option<Time>> {
    restarts.get(&place).map(|restart| restart.time).or_else(|| exits.get(&place).copied())
}

/// Returns the IRI reference of a session and its graph, relative to the input's own IRI.
pub fn session_reference(key: Option<&str>) -> String {
    match key {
        None => String::new(),
        Some(key) => format!("#session-{}", utf8_percent_encode(key, RESERVED)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory for a log grows with this size, the key, and the index of the map (a hash and at most 20 bytes).
    #[test]
    fn a_session_is_small() {
        assert_eq!(size_of::<(Box<str>, KeyedSession)>(), 72);
    }
}
