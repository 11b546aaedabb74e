//! Distinguishing items by hashes, of which only a part is in memory at once.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hash, RandomState};

/// The number of items distinguished at once.
const TOLD_APART: u64 = 2 << 20;

/// Divides items into parts, each with few enough hashes to be in memory.
pub(super) struct HashParts {
    count: u64,
    states: [RandomState; 2],
}

/// Two hashes: with a single one, two of many items may well collide.
pub(super) type PartHash = [u64; 2];

impl HashParts {
    /// Creates enough parts for a number of items.
    pub fn of(things: u64) -> Self {
        Self { count: things / TOLD_APART + 1, states: [RandomState::new(), RandomState::new()] }
    }

    /// Returns the numbers of the parts.
    pub fn numbers(&self) -> std::ops::Range<u64> {
        0..self.count
    }

    /// Returns the hash of an item; `None` if it is not in this part.
    pub fn hash(&self, part: u64, thing: &impl Hash) -> Option<PartHash> {
        let hash = self.states.each_ref().map(|state| state.hash_one(thing));
        (hash[0] % self.count == part).then_some(hash)
    }

    /// Returns the hashes of the items in this part.
    pub fn hashes<T: Hash, E>(
        &self,
        part: u64,
        things: impl Iterator<Item = Result<T, E>>,
    ) -> Result<HashSet<PartHash>, E> {
        things.filter_map(|thing| thing.map(|thing| self.hash(part, &thing)).transpose()).collect()
    }
}
