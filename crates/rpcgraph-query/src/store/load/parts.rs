//! Distinguishing items by digests, of which only a part is in memory at once.

use std::collections::HashSet;
use std::hash::Hash;

use crate::json::KeyedDigests;

/// The number of items distinguished at once.
const TOLD_APART: u64 = 2 << 20;

/// Divides items into parts, each with few enough digests to be in memory.
pub(super) struct DigestParts {
    count: u64,
    digests: KeyedDigests,
}

impl DigestParts {
    /// Creates enough parts for a number of items.
    pub fn for_items(things: u64) -> Self {
        Self { count: things / TOLD_APART + 1, digests: KeyedDigests::default() }
    }

    /// Returns the numbers of the parts.
    pub fn numbers(&self) -> std::ops::Range<u64> {
        0..self.count
    }

    /// Returns the digest of an item; `None` if it is not in this part.
    pub fn digest(&self, part: u64, thing: &impl Hash) -> Option<u128> {
        let digest = self.digests.digest(thing);
        (digest % u128::from(self.count) == u128::from(part)).then_some(digest)
    }

    /// Returns the digests of the items in this part.
    pub fn digests<T: Hash, E>(
        &self,
        part: u64,
        things: impl Iterator<Item = Result<T, E>>,
    ) -> Result<HashSet<u128>, E> {
        things.filter_map(|thing| thing.map(|thing| self.digest(part, &thing)).transpose()).collect()
    }
}
