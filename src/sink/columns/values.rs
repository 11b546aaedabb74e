//! The values of functions of literals that are not kept themselves: a row for each such literal.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::super::selection::FunctionName;
use super::term::TermId;
use crate::json::KeyedHashes;

/// Rows of values, each stored once. A row has a value for each function, and a digest of the literal if equal values
/// must not make literals equal.
#[derive(Default)]
pub(super) struct ValueRows {
    functions: Vec<FunctionName>,
    rows: Vec<TermId>,
    table: HashTable<u32>,
    hashes: KeyedHashes,
}

impl ValueRows {
    pub fn new(functions: Vec<FunctionName>) -> Self {
        Self { functions, ..Self::default() }
    }

    /// Returns an empty row.
    pub fn empty_row(&self) -> Vec<TermId> {
        vec![TermId::UNBOUND; self.functions.len() + 1]
    }

    /// Returns the index of a function in the rows.
    pub fn place(&self, function: &str, argument: &str) -> Option<usize> {
        self.functions.iter().position(|(name, of)| name == function && of == argument)
    }

    /// Returns the number of a row, adding it if new.
    pub fn add(&mut self, row: &[TermId]) -> u32 {
        let Self { functions, rows, table, hashes } = self;
        let width = functions.len() + 1;
        let count = u32::try_from(rows.len() / width).unwrap_or(u32::MAX);
        // Most rows without any value follow one another.
        if rows.ends_with(row) {
            return count.saturating_sub(1);
        }
        let known = |number: &u32| rows.chunks(width).nth(*number as usize).unwrap_or_default();
        let is_same = |number: &u32| known(number) == row;
        let hash_of = |number: &u32| hashes.hash_all(known(number).iter());
        match table.entry(hashes.hash_all(row.iter()), is_same, hash_of) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                place.insert(count);
                rows.extend_from_slice(row);
                count
            }
        }
    }

    /// Returns the value at a place of a row; unbound if the function has none.
    pub fn get(&self, number: u32, place: usize) -> TermId {
        let row = number as usize * (self.functions.len() + 1);
        self.rows.get(row + place).copied().unwrap_or(TermId::UNBOUND)
    }

    /// Returns the rows in the order of their numbers.
    pub fn rows(&self) -> impl Iterator<Item = &[TermId]> {
        self.rows.chunks(self.functions.len() + 1)
    }

    /// Takes over the functions of a worker's rows.
    pub fn know_functions(&mut self, of: &Self) {
        if self.functions.is_empty() {
            self.functions.clone_from(&of.functions);
        }
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.table.clear();
    }
}
