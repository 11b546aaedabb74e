//! Which response answers which request.
//!
//! Ids are counted by each side for itself (both from 0, often), so an answer belongs to a request of the *other*
//! side. Where the log does not tell the sides, any open request with the id will do, and more than one is a doubt.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::Name;
use crate::message::Id;
use crate::record::{Sender, Time};

/// How many answered ids are remembered, so that a second answer is recognised.
const REMEMBERED_ANSWERS: usize = 65_536;

/// The exchanges of a session that are open, and the last that were closed.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    /// By id, oldest first.
    open: HashMap<Id<'static>, Vec<OpenRequest>>,
    answered: RecentAnswers,
}

/// A request that nothing has answered yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenRequest {
    pub name: Name,
    pub time: Option<Time>,
    sender: Option<Sender>,
}

/// What a response answers.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// The newest open request that it can belong to.
    pub request: Option<OpenRequest>,
    /// There were others, and the log does not say who sent what.
    pub ambiguous: bool,
    /// There is none, but there was one that has been answered already.
    pub duplicate: bool,
}

impl Exchanges {
    /// A request: gives the older open one of the same sender that had the same id.
    pub fn open(&mut self, sender: Option<Sender>, id: &Id<'_>, name: Name, time: Option<Time>) -> Option<Name> {
        let open = self.open.entry(id.clone().into_owned()).or_default();
        let superseded = open.iter().rev().find(|older| older.sender == sender).map(|older| older.name);
        open.push(OpenRequest { name, time, sender });
        superseded
    }

    /// A response from `sender`: the newest open request of the other side that has its id.
    pub fn close(&mut self, sender: Option<Sender>, id: &Id<'_>) -> Answer {
        let Entry::Occupied(mut entry) = self.open.entry(id.clone().into_owned()) else {
            return Answer { duplicate: self.answered.contains(sender, id), ..Answer::default() };
        };
        let open = entry.get_mut();
        let mut candidates = open
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, request)| answers(sender, request.sender))
            .map(|(index, _)| index);
        let Some(newest) = candidates.next() else {
            return Answer { duplicate: self.answered.contains(sender, id), ..Answer::default() };
        };
        let ambiguous = sender.is_none() && candidates.next().is_some();
        let request = open.remove(newest);
        if open.is_empty() {
            entry.remove();
        }
        self.answered.insert(request.sender, id);
        Answer { request: Some(request), ambiguous, duplicate: false }
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
            if self.known.get(&oldest) == Some(&count) {
                self.known.remove(&oldest);
            }
        }
    }

    fn contains(&self, responder: Option<Sender>, id: &Id<'_>) -> bool {
        [None, Some(Sender::Client), Some(Sender::Server)]
            .into_iter()
            .any(|requester| answers(responder, requester) && self.known.contains_key(&digest(requester, id)))
    }
}

fn digest(requester: Option<Sender>, id: &Id<'_>) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, requester, id).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    (half(0) << 64) | half(1)
}
