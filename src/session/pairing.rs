//! Which response answers which request.
//!
//! Ids are counted by each side for itself (both from 0, often), so an answer belongs to a request of the *other*
//! side. Where the log does not tell the sides, any open request with the id will do, and more than one is a doubt.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::{iter, mem};

use super::Name;
use crate::message::Id;
use crate::record::{Sender, Time};

/// How many answered ids are remembered, so that a second answer is recognised.
const REMEMBERED_ANSWERS: usize = 65_536;

/// The exchanges of a session that are open, and the last that were closed.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    open: HashMap<Key, OpenRequests>,
    answered: RecentAnswers,
}

/// What an id is looked up by: most are numbers that need no memory of their own.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Small(u64),
    // In a box, since open requests are all that the memory for a log grows with.
    Other(Box<Id<'static>>),
}

impl Key {
    fn new(id: &Id<'_>) -> Self {
        match small(id) {
            Some(number) => Self::Small(number),
            None => Self::Other(Box::new(id.clone().into_owned())),
        }
    }
}

/// The number that an id is, where it is a natural one of at most 18 digits.
fn small(id: &Id<'_>) -> Option<u64> {
    let Id::Number(digits) = id else { return None };
    let plain = digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain && (digits.len() == 1 || !digits.starts_with('0')) { digits.parse().ok() } else { None }
}

/// The open requests that have one id: nearly always one.
#[derive(Debug)]
struct OpenRequests {
    newest: OpenRequest,
    /// Those of each sender in a stack of their own, so that none has to be looked for; no more than a pointer where there
    /// is one request.
    #[expect(clippy::box_collection, reason = "nearly every id has one open request, and there may be millions")]
    older: Option<Box<Vec<Stack>>>,
}

/// Open requests with one id and one sender, oldest first; at least one.
#[derive(Debug)]
struct Stack {
    sender: Option<Sender>,
    requests: Vec<OpenRequest>,
}

impl OpenRequests {
    /// The newest request, and the newest older one of each sender.
    fn tops(&self) -> impl Iterator<Item = &OpenRequest> {
        let stacks = self.older.iter().flat_map(|older| older.iter());
        iter::once(&self.newest).chain(stacks.filter_map(|stack| stack.requests.last()))
    }

    /// Adds a request, and gives the newest one of the same sender, unless it gave that before.
    fn push(&mut self, request: OpenRequest) -> Option<Name> {
        let stacks = self.older.iter_mut().flat_map(|older| older.iter_mut());
        let tops = iter::once(&mut self.newest).chain(stacks.filter_map(|stack| stack.requests.last_mut()));
        let reused = tops.filter(|older| older.sender == request.sender).max_by_key(|older| older.name);
        let superseded = reused.filter(|older| !older.superseded).map(|older| {
            older.superseded = true;
            older.name
        });
        let older = mem::replace(&mut self.newest, request);
        let stacks = self.older.get_or_insert_default();
        match stacks.iter_mut().find(|stack| stack.sender == older.sender) {
            Some(stack) => stack.requests.push(older),
            None => stacks.push(Stack { sender: older.sender, requests: vec![older] }),
        }
        superseded
    }

    /// Takes the request of that name out, which is one of the [tops](Self::tops); none if it is the only one.
    fn take(&mut self, name: Name) -> Option<OpenRequest> {
        let stacks = self.older.as_mut()?;
        let top = |stack: &Stack| stack.requests.last().map(|request| request.name);
        // In place of the newest comes the next.
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

/// A request that nothing has answered yet.
#[derive(Debug)]
pub(super) struct OpenRequest {
    pub name: Name,
    /// In a box, since most logs have none.
    pub time: Option<Box<Time>>,
    sender: Option<Sender>,
    /// A later request has taken its id.
    superseded: bool,
}

/// What a response answers.
#[derive(Debug, Default)]
pub(super) struct PairedAnswer {
    /// The newest open request that it can belong to.
    pub request: Option<OpenRequest>,
    /// There were others, and the log does not name the senders.
    pub ambiguous: bool,
    /// No open request has the id, but one that has been answered already had it.
    pub duplicate: bool,
}

impl Exchanges {
    /// A request: gives the newest open one of the same sender that has the same id, the first time that its id is taken.
    pub fn open(&mut self, sender: Option<Sender>, id: &Id<'_>, name: Name, time: Option<Time>) -> Option<Name> {
        let request = OpenRequest { name, time: time.map(Box::new), sender, superseded: false };
        match self.open.entry(Key::new(id)) {
            Entry::Vacant(entry) => {
                entry.insert(OpenRequests { newest: request, older: None });
                None
            }
            Entry::Occupied(mut entry) => entry.get_mut().push(request),
        }
    }

    /// A response from `sender`: the newest open request of the other side that has its id.
    pub fn close(&mut self, sender: Option<Sender>, id: &Id<'_>) -> PairedAnswer {
        let Entry::Occupied(mut entry) = self.open.entry(Key::new(id)) else {
            return PairedAnswer { duplicate: self.answered.contains(sender, id), ..PairedAnswer::default() };
        };
        let open = entry.get_mut();
        let fitting = open.tops().filter(|request| answers(sender, request.sender)).map(|request| request.name);
        let Some(found) = fitting.max() else {
            return PairedAnswer { duplicate: self.answered.contains(sender, id), ..PairedAnswer::default() };
        };
        let ambiguous = sender.is_none() && open.older.is_some();
        let request = match open.take(found) {
            Some(request) => request,
            None => entry.remove().newest,
        };
        self.answered.insert(request.sender, id);
        PairedAnswer { request: Some(request), ambiguous, duplicate: false }
    }
}

/// Whether a response from `responder` can answer a request from `requester`: not if both are known and the same.
fn answers(responder: Option<Sender>, requester: Option<Sender>) -> bool {
    match (responder, requester) {
        (Some(responder), Some(requester)) => responder != requester,
        _ => true,
    }
}

/// The last ids that were answered, as digests: an id may be a string of any length.
#[derive(Debug, Default)]
struct RecentAnswers {
    /// With the number of the answer that was the last.
    known: HashMap<u128, u64>,
    /// Oldest first; of an id that was answered again, only the last answer counts.
    order: VecDeque<(u128, u64)>,
    count: u64,
}

impl RecentAnswers {
    fn insert(&mut self, requester: Option<Sender>, id: &Id<'_>) {
        let digest = digest(requester, id);
        self.count += 1;
        self.known.insert(digest, self.count);
        self.order.push_back((digest, self.count));
        while self.known.len() > REMEMBERED_ANSWERS || self.order.len() > 2 * REMEMBERED_ANSWERS {
            let Some((oldest, count)) = self.order.pop_front() else { break };
            if let Entry::Occupied(entry) = self.known.entry(oldest)
                && *entry.get() == count
            {
                entry.remove();
            }
        }
    }

    fn contains(&self, responder: Option<Sender>, id: &Id<'_>) -> bool {
        [None, Some(Sender::Client), Some(Sender::Server)]
            .into_iter()
            .any(|requester| answers(responder, requester) && self.known.contains_key(&digest(requester, id)))
    }
}

/// What an answer is remembered by: a small number as it is, anything else by two hashes.
fn digest(requester: Option<Sender>, id: &Id<'_>) -> u128 {
    const HASHED: u128 = 1 << 127;
    if let Some(number) = small(id) {
        let side: u128 = match requester {
            None => 0,
            Some(Sender::Client) => 1,
            Some(Sender::Server) => 2,
        };
        return (side << 64) | u128::from(number);
    }
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, requester, id).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    HASHED | (half(0) << 64) | half(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory for a log grows with this and nothing else.
    #[test]
    fn an_open_request_is_small() {
        assert_eq!(size_of::<(Key, OpenRequests)>(), 56);
    }
}
