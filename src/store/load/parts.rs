//! Telling things apart by hashes, of which only some are in memory at once.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hash, RandomState};

/// How many things are told apart at once.
const TOLD_APART: u64 = 2 << 20;

/// Divides things into parts, each with few enough hashes to be in memory.
pub(super) struct HashParts {
    count: u64,
    states: [RandomState; 2],
}

/// Two hashes: with one alone, two of many things may well have the same.
pub(super) type PartHash = [u64; 2];

impl HashParts {
    /// As many parts as this number of things needs.
    pub fn of(things: u64) -> Self {
        Self { count: things / TOLD_APART + 1, states: [RandomState::new(), RandomState::new()] }
    }

    /// The number of each part.
    pub fn numbers(&self) -> std::ops::Range<u64> {
        0..self.count
    }

    /// The hash of a thing, if it is in this part.
    pub fn hash(&self, part: u64, thing: &impl Hash) -> Option<PartHash> {
        let hash = self.states.each_ref().map(|state| state.hash_one(thing));
        (hash[0] % self.count == part).then_some(hash)
    }

    /// The hashes of the things that are in this part.
    pub fn hashes<T: Hash, E>(
        &self,
        part: u64,
        things: impl Iterator<Item = Result<T, E>>,
    ) -> Result<HashSet<PartHash>, E> {
        things.filter_map(|thing| thing.map(|thing| self.hash(part, &thing)).transpose()).collect()
    }
}
