//! Pairs responses with requests.
//!
//! Each side counts its own ids (both often from 0), so an answer belongs to a request of the *other* side. If the
//! sides are not known, any open request with the id may be the answered one, and several make the pairing ambiguous.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::{iter, mem};

use ahash::RandomState;
use oxsdatatypes::Decimal;

use super::answered::{Answered, RecentAnswers};
use super::connection::seconds_between;
use super::sides::MessageSide;
use super::{Name, RequestState};
use crate::json::KeyedHashes;
use crate::message::{Id, Message};
use crate::record::{Protocols, Sender, Time, streams_answers};

/// The methods of MCP whose answers come only after an event.
const WAITING: [&str; 2] = ["subscriptions/listen", "tasks/result"];

/// A request that is open for longer than this, in seconds, and than three times the slowest answer, as its connection
/// begins anew, was not lost in the restart.
const MIN_HANG: i64 = 30;

/// The minimum number of requests of a side, most of which have no answer, that show that answers are missing in the log.
const MIN_REQUESTS: u64 = 8;
/// The maximum number of kinds of requests whose last answered requests are kept.
const MAX_KINDS: usize = 1_024;

/// The open exchanges of a session.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    /// The number of the session.
    session: usize,
    open: HashMap<IdKey, SameIdRequests, KeyedHashes>,
    /// The requests with the id null, which no answer is paired with.
    without_id: Vec<OpenRequest>,
    /// The last record with a request that was answered: of the client, of the server, of an unknown side.
    last_answered: [u64; 3],
    /// The number of requests that were answered, by the same sides.
    answered: [u64; 3],
    /// The last records with a request that was answered while others were open, by side and kind.
    answered_kinds: HashMap<(usize, u16), u64, KeyedHashes>,
    /// The last ids that are natural numbers, by the same sides.
    last_ids: [Option<u64>; 3],
    /// The longest latency.
    slowest: Option<Decimal>,
}

/// The key for an id: most ids are numbers that need no memory of their own.
#[derive(Debug, PartialEq, Eq, Hash)]
enum IdKey {
    Small(u64),
    // Boxed, since the memory for a log grows only with open requests.
    Other(Box<Id<'static>>),
}

impl IdKey {
    fn new(id: &Id<'_>) -> Self {
        match small(id) {
            Some(number) => Self::Small(number),
            None => Self::Other(Box::new(id.clone().into_owned())),
        }
    }
}

/// The index of a side.
pub(super) fn side(sender: Option<Sender>) -> usize {
    sender.map_or(2, |sender| sender as usize)
}

/// Returns an id that is a natural number of at most 18 digits.
pub(super) fn small(id: &Id<'_>) -> Option<u64> {
    let Id::Number(digits) = id else { return None };
    let plain = digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain && (digits.len() == 1 || !digits.starts_with('0')) { digits.parse().ok() } else { None }
}

/// The open requests with one id: nearly always one request.
#[derive(Debug)]
struct SameIdRequests {
    newest: OpenRequest,
    /// The older requests, with a stack for each party, so that no search is needed; only a pointer if there is one
    /// request.
    #[expect(clippy::box_collection, reason = "nearly every id has one open request, and there may be millions")]
    older: Option<Box<Vec<Stack>>>,
}

/// Open requests with one id by one party, oldest first; at least one.
#[derive(Debug)]
struct Stack {
    party: MessageSide,
    requests: Vec<OpenRequest>,
}

impl SameIdRequests {
    /// Returns the newest request, and the newest older request of each party.
    fn tops(&self) -> impl Iterator<Item = &OpenRequest> {
        let stacks = self.older.iter().flat_map(|older| older.iter());
        iter::once(&self.newest).chain(stacks.filter_map(|stack| stack.requests.last()))
    }

    fn all(&self) -> impl Iterator<Item = &OpenRequest> {
        let stacks = self.older.iter().flat_map(|older| older.iter());
        iter::once(&self.newest).chain(stacks.flat_map(|stack| &stack.requests))
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut OpenRequest> {
        let stacks = self.older.iter_mut().flat_map(|older| older.iter_mut());
        iter::once(&mut self.newest).chain(stacks.flat_map(|stack| &mut stack.requests))
    }

    /// Returns the newest request whose party fits.
    fn newest_of(&self, fits: impl Fn(MessageSide) -> bool) -> Option<Name> {
        // Nearly always true.
        if fits(self.newest.party) {
            return Some(self.newest.name);
        }
        self.tops().filter(|request| fits(request.party)).map(|request| request.name).max()
    }

    /// Adds a request. Returns the newest request whose sender may be the same, unless that request was returned
    /// before.
    fn push(&mut self, mut request: OpenRequest) -> Option<Name> {
        request.sides_in_doubt = self.newest.sides_in_doubt;
        let stacks = self.older.iter_mut().flat_map(|older| older.iter_mut());
        let tops = iter::once(&mut self.newest).chain(stacks.filter_map(|stack| stack.requests.last_mut()));
        let reused = tops.filter(|older| older.party.shares_ids_with(request.party)).max_by_key(|older| older.name);
        let superseded = reused.filter(|older| !older.superseded).map(|older| {
            older.superseded = true;
            older.name
        });
        let older = mem::replace(&mut self.newest, request);
        let stacks = self.older.get_or_insert_default();
        match stacks.iter_mut().find(|stack| stack.party == older.party) {
            Some(stack) => stack.requests.push(older),
            None => stacks.push(Stack { party: older.party, requests: vec![older] }),
        }
        superseded
    }

    /// Removes the request with a name, which is one of the [tops](Self::tops); `None` if it is the only request.
    fn take(&mut self, name: Name) -> Option<OpenRequest> {
        let stacks = self.older.as_mut()?;
        let top = |stack: &Stack| stack.requests.last().map(|request| request.name);
        // The next request takes the place of the newest.
        let wanted = if name == self.newest.name { stacks.iter().filter_map(top).max()? } else { name };
        let at = stacks.iter().position(|stack| top(stack) == Some(wanted))?;
        let stack = stacks.get_mut(at)?;
        let mut taken = stack.requests.pop()?;
        if stack.requests.is_empty() {
            stacks.swap_remove(at);
        }
        if stacks.is_empty() {
            self.older = None;
        }
        if name == self.newest.name {
            mem::swap(&mut self.newest, &mut taken);
        }
        Some(taken)
    }
}

/// A request without an answer so far.
#[derive(Debug)]
pub(super) struct OpenRequest {
    pub name: Name,
    /// Boxed, since most logs do not have times.
    pub time: Option<Box<Time>>,
    /// The side that asks.
    pub party: MessageSide,
    /// The protocols that define its method.
    pub protocols: Protocols,
    /// A short digest of its method and tool.
    kind: u16,
    /// The last bits of the number of requests of its side that were answered before it.
    answered_before: u16,
    /// True if it is answered only after an event.
    waits: bool,
    /// True if each event of a stream answers it.
    streams: bool,
    /// True if its sender cancelled it.
    pub cancelled: bool,
    /// True if its sender closed the stream of the answer.
    disconnected: bool,
    /// True if a later request has taken its id.
    superseded: bool,
    /// True if an answer that was paired with another request may have been the answer to this one.
    in_doubt: bool,
    /// True if such an answer may have come from either side, for this request or another with its id.
    sides_in_doubt: bool,
}

impl OpenRequest {
    pub fn new(name: Name, time: Option<Time>, party: MessageSide, message: &Message<'_>) -> Self {
        let (method, protocols) = (message.method.as_deref(), message.known.map(|known| known.protocols));
        Self {
            name,
            time: time.map(Box::new),
            party,
            protocols: protocols.unwrap_or_default(),
            kind: kind(message),
            answered_before: 0,
            waits: method.is_some_and(|method| WAITING.contains(&method)),
            streams: method.is_some_and(streams_answers),
            cancelled: false,
            disconnected: false,
            superseded: false,
            in_doubt: false,
            sides_in_doubt: false,
        }
    }
}

/// Returns a short digest of the method of a request and of the tool that it calls.
fn kind(message: &Message<'_>) -> u16 {
    let method = message.method.as_deref().unwrap_or_default();
    let params = message.params.as_ref().filter(|_| method == "tools/call");
    let tool = params.and_then(|params| params.string_member("name")).unwrap_or_default();
    // The seeds are fixed, so that a log gives the same graph in each run.
    RandomState::with_seeds(0, 0, 0, 0).hash_one((method, tool)) as u16
}

/// The pairing of a response.
#[derive(Debug, Default)]
pub(super) struct PairedAnswer {
    /// The newest open request that it may answer.
    pub request: Option<OpenRequest>,
    /// True if there were others, or an earlier answer may have been the one to this request, and the senders are not known.
    pub ambiguous: bool,
    /// True if all requests with the id that may be open came from one side.
    pub one_side: bool,
    /// True if inferred sides contradict the pairing, but stated sides do not.
    pub unlikely: bool,
    /// True if an answered request had the id, and no open request has it.
    pub duplicate: bool,
    /// True if that answer was a failure.
    pub failed_before: bool,
    /// The request that was answered before, if each event of a stream answers it.
    pub again: Option<Name>,
}

impl Exchanges {
    /// Creates the exchanges of the session with that number.
    pub fn new(session: usize) -> Self {
        Self { session, ..Self::default() }
    }

    /// Returns the number of the session.
    pub fn session(&self) -> usize {
        self.session
    }

    /// True if no request is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// True if a request with that id is open.
    pub fn is_open(&self, id: &Id<'_>) -> bool {
        self.open.contains_key(&IdKey::new(id))
    }

    /// Adds a request. Returns the newest open request of the same sender with the same id, the first time that its id
    /// is reused.
    pub fn open(&mut self, id: &Id<'_>, mut request: OpenRequest) -> Option<Name> {
        request.answered_before = self.answered[side(request.party.sender)] as u16;
        let key = IdKey::new(id);
        if let IdKey::Small(number) = key {
            self.last_ids[side(request.party.sender)] = Some(number);
        }
        match self.open.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(SameIdRequests { newest: request, older: None });
                None
            }
            Entry::Occupied(mut entry) => entry.get_mut().push(request),
        }
    }

    /// Returns the newest request with an id that may come from this side: open, or among the requests that were
    /// answered last.
    pub fn asked(&self, sender: Option<Sender>, id: &Id<'_>, answered: &RecentAnswers) -> Option<Name> {
        let fits = |asker: Option<Sender>| sender.is_none() || asker.is_none() || asker == sender;
        let open = self.open.get(&IdKey::new(id)).and_then(|open| open.newest_of(|party| fits(party.sender)));
        open.max(answered.find(self.session, id, fits))
    }

    /// Returns the last id of a client that is a natural number.
    pub fn last_client_id(&self) -> Option<u64> {
        self.last_ids[side(Some(Sender::Client))].or(self.last_ids[side(None)])
    }

    /// Adds a request with the id null.
    pub fn open_without_id(&mut self, request: OpenRequest) {
        self.without_id.push(request);
    }

    /// Cancels the request with an id and a name, if it is open.
    pub fn cancel(&mut self, id: &Id<'_>, name: Name) {
        let open = self.open.get_mut(&IdKey::new(id)).into_iter().flat_map(SameIdRequests::all_mut);
        open.filter(|request| request.name == name).for_each(|request| request.cancelled = true);
    }

    /// Returns the newest open request of a side with an id, whose answer that side does not wait for any longer.
    pub fn disconnect(&mut self, party: MessageSide, id: &Id<'_>) -> Option<Name> {
        let open = self.open.get_mut(&IdKey::new(id))?;
        let newest = open.newest_of(|requester| requester.sender == party.sender)?;
        open.all_mut().filter(|request| request.name == newest).for_each(|request| request.disconnected = true);
        Some(newest)
    }

    /// Notes the latency of an answer.
    pub fn note_latency(&mut self, latency: Option<Decimal>) {
        self.slowest = self.slowest.max(latency);
    }

    /// True if its session ended while the request was in flight: by their times, and without times if no later request was
    /// answered before.
    fn is_lost(&self, request: &OpenRequest, end: Option<Time>, last_answered: u64) -> bool {
        let age = request.time.as_deref().zip(end).and_then(|(asked, at)| seconds_between(*asked, at));
        let longest = self.slowest.and_then(|slowest| slowest.checked_mul(3)).max(Some(MIN_HANG.into()));
        age.map_or(request.name.record > last_answered, |age| Some(age) <= longest)
    }

    /// Returns the states of the open requests, given the record of the session's last `initialize`, and the time at which the
    /// session ended, if it ended before the log.
    pub fn states(
        &self,
        last_initialize: u64,
        end: Option<Option<Time>>,
    ) -> impl Iterator<Item = (Name, RequestState)> {
        let state = move |request: &OpenRequest| {
            let last_answered = match request.party.sender {
                None => self.last_answered.into_iter().max().unwrap_or_default(),
                sender => self.last_answered[side(sender)],
            };
            let state = match request {
                OpenRequest { cancelled: true, .. } => RequestState::Cancelled,
                OpenRequest { waits: true, .. } => RequestState::Waiting,
                OpenRequest { superseded: true, .. } => RequestState::Superseded,
                OpenRequest { disconnected: true, .. } => RequestState::Lost,
                _ if end.is_some_and(|end| self.is_lost(request, end, last_answered)) => RequestState::Lost,
                _ if end.is_some() || last_answered.max(last_initialize) > request.name.record => {
                    RequestState::Unanswered
                }
                _ => RequestState::Open,
            };
            (request.name, state)
        };
        self.open.values().flat_map(SameIdRequests::all).chain(&self.without_id).map(state)
    }

    /// True if answers are missing in the log: more than half of the requests of a side have none although later requests of
    /// the same kind do, and answered requests are between them. A hang, or a tool that never answers, is none of this.
    pub fn lacks_answers(&self) -> bool {
        (0..3).filter(|asker| self.answered[*asker] > 0).any(|asker| {
            let is_missing = |request: &&OpenRequest| {
                let later = self.answered_kinds.get(&(asker, request.kind));
                side(request.party.sender) == asker
                    && !(request.cancelled || request.waits || request.disconnected)
                    && later.is_some_and(|later| *later > request.name.record)
            };
            let missing = self.open.values().flat_map(SameIdRequests::all).filter(is_missing);
            let places: Vec<_> = missing.map(|request| request.answered_before).collect();
            let (missing, answered) = (places.len() as u64, self.answered[asker]);
            let gaps = || places.iter().collect::<HashSet<_>>().len() as u64;
            missing > answered && missing + answered >= MIN_REQUESTS && 2 * gaps() >= answered
        })
    }

    /// Pairs a response with the newest open request of the other side that has its id.
    pub fn close(&mut self, party: MessageSide, id: &Id<'_>, answered: &mut RecentAnswers) -> PairedAnswer {
        let mut answer = PairedAnswer::default();
        if let Entry::Occupied(mut entry) = self.open.entry(IdKey::new(id)) {
            let open = entry.get_mut();
            let likely = open.newest_of(|requester| party.may_answer(requester));
            if let Some(found) = likely.or_else(|| open.newest_of(|requester| party.may_answer_by_log(requester))) {
                answer.unlikely = likely.is_none();
                let is_doubtful = open.older.is_some() || open.newest.in_doubt;
                answer.ambiguous = party == MessageSide::default() && is_doubtful;
                answer.one_side = !open.newest.sides_in_doubt
                    && open.tops().all(|request| request.party.sender == open.newest.party.sender);
                answer.request = Some(match open.take(found) {
                    Some(request) => {
                        open.newest.in_doubt |= answer.ambiguous;
                        open.newest.sides_in_doubt |= answer.ambiguous && !answer.one_side;
                        request
                    }
                    None => entry.remove().newest,
                });
            }
        }
        match &answer.request {
            Some(request) => {
                let asker = side(request.party.sender);
                let last = &mut self.last_answered[asker];
                *last = request.name.record.max(*last);
                self.answered[asker] += 1;
                if !self.open.is_empty() && self.answered_kinds.len() < MAX_KINDS {
                    let last = self.answered_kinds.entry((asker, request.kind)).or_default();
                    *last = request.name.record.max(*last);
                }
                answered.insert(self.session, request.party.sender, id, request.name, request.streams);
            }
            None => match answered.again(self.session, party.sender, id) {
                Some(Answered { request, streams: true, .. }) => answer.again = Some(*request),
                found => {
                    answer.duplicate = found.is_some();
                    answer.failed_before = found.is_some_and(|found| found.failed);
                }
            },
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory for a log grows only with this size.
    #[test]
    fn an_open_request_is_small() {
        assert_eq!(size_of::<(IdKey, SameIdRequests)>(), 64);
    }
}
