//! The ids that were answered last, to recognise a second answer, and a cancellation that comes too late.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::Name;
use super::sides::may_answer;
use crate::json::KeyedHashes;
use crate::message::Id;
use crate::record::Sender;

/// The maximum number of ids that are kept, for all sessions together.
const REMEMBERED_ANSWERS: usize = 65_536;

/// The last ids that were answered, as digests: an id may be a string of any length.
#[derive(Debug, Default)]
pub(super) struct RecentAnswers {
    /// The number of the last answer to each id, and the request.
    known: HashMap<u128, (u64, Name), KeyedHashes>,
    /// Oldest first. If an id was answered again, only the last answer counts.
    order: VecDeque<(u128, u64)>,
    count: u64,
}

impl RecentAnswers {
    /// Adds a request by its id, in the session with that number.
    pub fn insert(&mut self, session: usize, requester: Option<Sender>, id: &Id<'_>, request: Name) {
        let digest = digest(session, requester, id);
        self.count += 1;
        self.known.insert(digest, (self.count, request));
        self.order.push_back((digest, self.count));
        while self.known.len() > REMEMBERED_ANSWERS || self.order.len() > 2 * REMEMBERED_ANSWERS {
            let Some((oldest, count)) = self.order.pop_front() else { break };
            if let Entry::Occupied(entry) = self.known.entry(oldest)
                && entry.get().0 == count
            {
                entry.remove();
            }
        }
    }

    /// True if `responder` may have answered a request with the id.
    pub fn contains(&self, session: usize, responder: Option<Sender>, id: &Id<'_>) -> bool {
        self.find(session, id, |requester| may_answer(responder, requester)).is_some()
    }

    /// Returns the newest answered request with the id, among requests whose sender fits.
    pub fn find(&self, session: usize, id: &Id<'_>, fits: impl Fn(Option<Sender>) -> bool) -> Option<Name> {
        let senders = [None, Some(Sender::Client), Some(Sender::Server)].into_iter().filter(|sender| fits(*sender));
        senders.filter_map(|sender| self.known.get(&digest(session, sender, id))).map(|(_, request)| *request).max()
    }
}

/// Returns an id that is a natural number of at most 18 digits.
pub(super) fn small(id: &Id<'_>) -> Option<u64> {
    let Id::Number(digits) = id else { return None };
    let plain = digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain && (digits.len() == 1 || !digits.starts_with('0')) { digits.parse().ok() } else { None }
}

/// Returns the key of an answer: a small number as it is, any other id as two hashes.
fn digest(session: usize, requester: Option<Sender>, id: &Id<'_>) -> u128 {
    const HASHED: u128 = 1 << 127;
    if let Some(number) = small(id) {
        let side: u128 = match requester {
            None => 0,
            Some(Sender::Client) => 1,
            Some(Sender::Server) => 2,
        };
        // A machine does not have room for 2^61 sessions.
        return ((session as u128) << 66) | (side << 64) | u128::from(number);
    }
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, session, requester, id).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    HASHED | (half(0) << 64) | half(1)
}
