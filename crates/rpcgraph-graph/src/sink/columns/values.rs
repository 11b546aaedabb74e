//! The values of functions of literals, in place of the literals.

use std::hash::BuildHasher as _;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::TermId;
use crate::json::KeyedHashes;

/// Rows of the same width, each stored once: a value for each function, and a digest of the literal if equal values must
/// not make literals equal.
#[derive(Default)]
pub(super) struct ValueRows {
    width: usize,
    ids: Vec<TermId>,
    table: HashTable<u32>,
    hashes: KeyedHashes,
}

impl ValueRows {
    /// Returns the number of a row, adding it if new.
    pub fn add(&mut self, row: &[TermId]) -> usize {
        self.width = row.len();
        let number = self.ids.len() / row.len().max(1);
        // Most payloads give the values of the one before, such as none.
        if number > 0 && self.ids.ends_with(row) {
            return number - 1;
        }
        let Self { ids, table, hashes, .. } = self;
        let row_at = |number: &u32| ids.chunks_exact(row.len()).nth(*number as usize).unwrap_or_default();
        let is_same = |number: &u32| row_at(number) == row;
        match table.entry(hashes.hash_one(row), is_same, |number| hashes.hash_one(row_at(number))) {
            Entry::Occupied(entry) => *entry.get() as usize,
            Entry::Vacant(entry) => {
                // Beyond 4 billion rows, no memory is left.
                entry.insert(u32::try_from(number).unwrap_or(u32::MAX));
                ids.extend_from_slice(row);
                number
            }
        }
    }

    pub fn get(&self, number: usize) -> Option<&[TermId]> {
        self.iter().nth(number)
    }

    pub fn iter(&self) -> impl Iterator<Item = &[TermId]> {
        self.ids.chunks_exact(self.width.max(1))
    }

    pub fn clear(&mut self) {
        self.ids.clear();
        self.table.clear();
    }
}
