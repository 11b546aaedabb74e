//! Open requests, for formats whose answers name the method.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hash};

/// The maximum number of requests that are kept. Above it, some answers wrongly count as news.
const MOST: usize = 64 * 1024;

/// The requests of a log without an answer so far.
#[derive(Default)]
pub(super) struct UnansweredRequests(HashSet<u64>);

impl UnansweredRequests {
    /// Adds a request, or removes it at its answer, by the content `said` that both repeat. Returns true for an answer
    /// whose request is not in the log, so that only the answer holds this content.
    pub(super) fn is_news(&mut self, is_answer: bool, said: impl Hash) -> bool {
        let said = self.0.hasher().hash_one(said);
        if is_answer {
            return !self.0.remove(&said);
        }
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(said);
        false
    }
}
