//! Requests that wait for their answers, where answers name the method.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hash};

/// How many are remembered. Where there are more, some answers seem to say something new.
const MOST: usize = 64 * 1024;

/// The requests of a log that were not answered yet.
#[derive(Default)]
pub(super) struct Asked(HashSet<u64>);

impl Asked {
    /// Notes a request or its answer by all that both say; tells whether it is an answer and the log has no such request, so
    /// that nothing else says what it does.
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
