//! Open requests, for formats whose answers name the method.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hash};

/// The maximum number of requests that are kept. Above it, some answers wrongly count as unmatched.
const MOST: usize = 64 * 1024;

/// The requests of a log without an answer so far.
#[derive(Default)]
pub(super) struct UnansweredRequests(HashSet<u64>);

impl UnansweredRequests {
    /// Adds a request, or removes it at its answer, by the content that both repeat. Returns true for an answer whose
    /// request is not in the log, so that only the answer holds this content.
    pub(super) fn note(&mut self, is_answer: bool, content: impl Hash) -> bool {
        let content = self.0.hasher().hash_one(content);
        if is_answer {
            return !self.0.remove(&content);
        }
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(content);
        false
    }
}
