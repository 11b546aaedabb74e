//! The ids that were answered last, to recognise a second answer, and a cancellation that comes too late.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use oxsdatatypes::Decimal;

use super::Name;
use super::sides::may_answer;
use crate::json::{KeyedDigests, KeyedHashes};
use crate::message::Id;
use crate::record::{Sender, Time};

/// The maximum number of answers without a request that are kept.
const MAX_EARLY: usize = 1_024;
/// The maximum number of ids that are kept, for all sessions together.
const REMEMBERED_ANSWERS: usize = 65_536;

/// The last ids that were answered, as keyed digests: an id may be a string of any length.
#[derive(Debug, Default)]
pub(super) struct RecentAnswers {
    known: HashMap<u128, Answered, KeyedHashes>,
    digests: KeyedDigests,
    /// Oldest first. If an id was answered again, only the last answer counts.
    order: VecDeque<(u128, u64)>,
    count: u64,
    early: EarlyAnswers,
    /// The number of answers that are kept, in all sessions, since their latencies may have to be corrected.
    pub measured: usize,
}

/// The last answer to an id.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answered {
    count: u64,
    pub request: Name,
    /// True if the request may have further answers.
    pub streams: bool,
    /// True if the answer was a failure.
    pub failed: bool,
}

/// The last answers without a request before them, which may stand before it: a writer may flush its answers first.
#[derive(Debug, Default)]
struct EarlyAnswers {
    times: HashMap<u128, Time, KeyedHashes>,
    /// Oldest first.
    order: VecDeque<u128>,
    /// The number of requests that came after their answers.
    misordered: u64,
}

impl RecentAnswers {
    /// Adds a request by its id, in the session with that number. `streams` is true if it may have further answers.
    pub fn insert(&mut self, session: usize, requester: Option<Sender>, id: &Id<'_>, request: Name, streams: bool) {
        let answered = self.digests.digest((session, requester, id));
        self.count += 1;
        self.known.insert(answered, Answered { count: self.count, request, streams, failed: false });
        self.order.push_back((answered, self.count));
        while self.known.len() > REMEMBERED_ANSWERS || self.order.len() > 2 * REMEMBERED_ANSWERS {
            let Some((oldest, count)) = self.order.pop_front() else { break };
            if let Entry::Occupied(entry) = self.known.entry(oldest)
                && entry.get().count == count
            {
                entry.remove();
            }
        }
    }

    /// Notes that the last answer to an id was a failure.
    pub fn note_failure(&mut self, session: usize, requester: Option<Sender>, id: &Id<'_>) {
        let answered = self.known.get_mut(&self.digests.digest((session, requester, id)));
        answered.into_iter().for_each(|answered| answered.failed = true);
    }

    /// Keeps the time of an answer to an id that no request has yet.
    pub fn note_unsolicited(&mut self, session: usize, id: &Id<'_>, time: Option<Time>) {
        let Some(time) = time else { return };
        let (digest, early) = (self.digests.digest((session, id)), &mut self.early);
        early.times.insert(digest, time);
        early.order.push_back(digest);
        if early.order.len() > MAX_EARLY
            && let Some(oldest) = early.order.pop_front()
        {
            early.times.remove(&oldest);
        }
    }

    /// Counts a request if an answer to its id stands before it, with a later time.
    pub fn note_request(&mut self, session: usize, id: &Id<'_>, time: Option<Time>) {
        let (false, Some(time)) = (self.early.times.is_empty(), time) else { return };
        let digest = self.digests.digest((session, id));
        let Some(answered) = self.early.times.get(&digest) else { return };
        if time.seconds_to(*answered).is_some_and(|seconds| seconds >= Decimal::from(0)) {
            self.early.times.remove(&digest);
            self.early.misordered += 1;
        }
    }

    /// The number of requests that stand after their answers, by their times.
    pub fn misordered(&self) -> u64 {
        self.early.misordered
    }

    /// Returns the answer to the newest request with the id that `responder` may have answered.
    pub fn again(&self, session: usize, responder: Option<Sender>, id: &Id<'_>) -> Option<&Answered> {
        self.newest(session, id, |requester| may_answer(responder, requester))
    }

    /// Returns the newest answered request with the id, among requests whose sender fits.
    pub fn find(&self, session: usize, id: &Id<'_>, fits: impl Fn(Option<Sender>) -> bool) -> Option<Name> {
        Some(self.newest(session, id, fits)?.request)
    }

    fn newest(&self, session: usize, id: &Id<'_>, fits: impl Fn(Option<Sender>) -> bool) -> Option<&Answered> {
        let senders = [None, Some(Sender::Client), Some(Sender::Server)].into_iter().filter(|sender| fits(*sender));
        let known = senders.filter_map(|sender| self.known.get(&self.digests.digest((session, sender, id))));
        known.max_by_key(|answered| answered.request)
    }
}
