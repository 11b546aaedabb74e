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
    /// Oldest first; no more than a pointer where it has no request.
    #[expect(clippy::box_collection, reason = "nearly every id has one open request, and there may be millions")]
    older: Option<Box<Vec<OpenRequest>>>,
}

impl OpenRequests {
    fn newest_first(&self) -> impl Iterator<Item = &OpenRequest> {
        iter::once(&self.newest).chain(self.older.iter().flat_map(|older| older.iter().rev()))
    }

    /// Takes the one out that is the n-th from the newest; none if it is the only one.
    fn take(&mut self, nth: usize) -> Option<OpenRequest> {
        let older = self.older.as_mut()?;
        let taken = match nth.checked_sub(1) {
            Some(among_older) => older.remove(older.len() - 1 - among_older),
            None => mem::replace(&mut self.newest, older.pop()?),
        };
        if older.is_empty() {
            self.older = None;
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
    /// A request: gives the older open one of the same sender that had the same id.
    pub fn open(&mut self, sender: Option<Sender>, id: &Id<'_>, name: Name, time: Option<Time>) -> Option<Name> {
        let request = OpenRequest { name, time: time.map(Box::new), sender };
        match self.open.entry(Key::new(id)) {
            Entry::Vacant(entry) => {
                entry.insert(OpenRequests { newest: request, older: None });
                None
            }
            Entry::Occupied(mut entry) => {
                let open = entry.get_mut();
                let superseded = open.newest_first().find(|older| older.sender == sender).map(|older| older.name);
                let older = mem::replace(&mut open.newest, request);
                open.older.get_or_insert_default().push(older);
                superseded
            }
        }
    }

    /// A response from `sender`: the newest open request of the other side that has its id.
    pub fn close(&mut self, sender: Option<Sender>, id: &Id<'_>) -> PairedAnswer {
        let Entry::Occupied(mut entry) = self.open.entry(Key::new(id)) else {
            return PairedAnswer { duplicate: self.answered.contains(sender, id), ..PairedAnswer::default() };
        };
        let open = entry.get_mut();
        let mut candidates =
            open.newest_first().enumerate().filter(|(_, request)| answers(sender, request.sender)).map(|(at, _)| at);
        let Some(found) = candidates.next() else {
            return PairedAnswer { duplicate: self.answered.contains(sender, id), ..PairedAnswer::default() };
        };
        let ambiguous = sender.is_none() && candidates.next().is_some();
        drop(candidates);
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
