//! The triples of one predicate: subjects and objects, in the order of the subjects.

use std::hash::BuildHasher as _;
use std::iter;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashTable;

use super::term::TermId;
use crate::json::KeyedHashes;

/// The maximum number of triples in a part.
const PART: usize = 1 << 12;
/// The number of look-ups by object that scan all triples before an index is built: a query makes one for each class
/// that it names.
const ASKED: usize = 8;

/// The number of rows scanned one by one before a binary search for a subject.
const NEAR: usize = 8;

/// Triples in order. A part covers a small range, so that most numbers fit into half their size.
struct ColumnPart {
    subjects: OffsetNumbers,
    objects: OffsetNumbers,
    /// The last subject of the part.
    last: TermId,
}

/// Numbers as offsets from the least, without the low bits that are 0 in all offsets.
enum OffsetNumbers {
    Same(u64),
    Nearest(u64, u32, Box<[u16]>),
    Near(u64, u32, Box<[u32]>),
    Far(Box<[u64]>),
}

impl OffsetNumbers {
    fn new(numbers: impl Iterator<Item = u64> + Clone) -> Self {
        let least = numbers.clone().min().unwrap_or_default();
        let used = numbers.clone().fold(0, |used, number| used | (number - least));
        let shift = used.trailing_zeros();
        let more = || numbers.clone().map(|number| (number - least) >> shift);
        match used.checked_shr(shift) {
            None => Self::Same(least),
            Some(..=0xffff) => {
                Self::Nearest(least, shift, more().filter_map(|more| u16::try_from(more).ok()).collect())
            }
            Some(..=0xffff_ffff) => {
                Self::Near(least, shift, more().filter_map(|more| u32::try_from(more).ok()).collect())
            }
            Some(_) => Self::Far(numbers.collect()),
        }
    }

    fn get(&self, at: usize) -> Option<TermId> {
        Some(TermId(match self {
            Self::Same(number) => *number,
            Self::Nearest(least, shift, more) => least + (u64::from(*more.get(at)?) << shift),
            Self::Near(least, shift, more) => least + (u64::from(*more.get(at)?) << shift),
            Self::Far(numbers) => *numbers.get(at)?,
        }))
    }

    fn read(&self, length: usize, into: &mut Vec<TermId>) {
        match self {
            Self::Same(number) => into.extend((0..length).map(|_| TermId(*number))),
            Self::Nearest(least, shift, more) => {
                into.extend(more.iter().map(|more| TermId(least + (u64::from(*more) << shift))));
            }
            Self::Near(least, shift, more) => {
                into.extend(more.iter().map(|more| TermId(least + (u64::from(*more) << shift))));
            }
            Self::Far(numbers) => into.extend(numbers.iter().map(|number| TermId(*number))),
        }
    }

    /// Returns the first place, up to `length`, whose number is not less than `number`.
    fn first_not_less(&self, number: TermId, length: usize) -> usize {
        let number = number.0;
        match self {
            Self::Same(same) => length * usize::from(*same < number),
            Self::Nearest(least, shift, more) => {
                more.partition_point(|more| least + (u64::from(*more) << shift) < number)
            }
            Self::Near(least, shift, more) => more.partition_point(|more| least + (u64::from(*more) << shift) < number),
            Self::Far(numbers) => numbers.partition_point(|known| *known < number),
        }
    }
}

/// The position of a triple: part, and place in the part.
pub(crate) type TriplePosition = (usize, usize);

#[derive(Default)]
pub(crate) struct Column {
    parts: Vec<(ColumnPart, usize)>,
    /// The triples of the next part.
    open: Vec<(TermId, TermId)>,
    last: Option<(TermId, TermId)>,
    /// True if triples arrived out of order, or twice.
    disordered: bool,
    /// True if a subject has several triples.
    repeats: bool,
    /// The number of look-ups by object.
    asked: AtomicUsize,
    by_object: OnceLock<ObjectIndex>,
}

/// The rows in the order of their objects, and the start of each object's rows.
#[derive(Default)]
struct ObjectIndex {
    /// Part and place, in 20 and 12 bits.
    rows: Vec<u32>,
    starts: HashTable<u32>,
    hashes: KeyedHashes,
}

impl Column {
    pub fn push(&mut self, subject: TermId, object: TermId) {
        let triple = (subject, object);
        self.disordered |= self.last.is_some_and(|last| last >= triple);
        self.repeats |= self.last.is_some_and(|(last, _)| last == subject);
        self.last = Some(triple);
        self.open.push(triple);
        if self.open.len() == PART {
            self.close();
        }
    }

    fn close(&mut self) {
        let Some((last, _)) = self.open.last() else { return };
        let part = ColumnPart {
            subjects: OffsetNumbers::new(self.open.iter().map(|(subject, _)| subject.0)),
            objects: OffsetNumbers::new(self.open.iter().map(|(_, object)| object.0)),
            last: *last,
        };
        self.parts.push((part, self.open.len()));
        self.open.clear();
    }

    /// Ends filling: sorts the triples and removes duplicates.
    pub fn finish(&mut self) {
        self.close();
        self.open = Vec::new();
        if !std::mem::take(&mut self.disordered) {
            return;
        }
        let mut triples: Vec<_> = self.rows().filter_map(|row| self.triple(row)).collect();
        triples.sort_unstable();
        triples.dedup();
        *self = Self::default();
        triples.into_iter().for_each(|(subject, object)| self.push(subject, object));
        self.close();
        self.open = Vec::new();
    }

    fn rows(&self) -> impl Iterator<Item = TriplePosition> {
        self.parts.iter().enumerate().flat_map(|(part, (_, length))| (0..*length).map(move |place| (part, place)))
    }

    pub fn triple(&self, (part, place): TriplePosition) -> Option<(TermId, TermId)> {
        let (part, length) = self.parts.get(part)?;
        if place >= *length {
            return None;
        }
        Some((part.subjects.get(place)?, part.objects.get(place)?))
    }

    /// Returns the row after a row.
    pub fn next(&self, (part, place): TriplePosition) -> TriplePosition {
        match self.parts.get(part) {
            Some((_, length)) if place + 1 < *length => (part, place + 1),
            _ => (part + 1, 0),
        }
    }

    /// Returns true if no subject has several triples.
    pub fn is_functional(&self) -> bool {
        !self.repeats && !self.disordered
    }

    /// Returns the number of triples.
    pub fn len(&self) -> usize {
        self.parts.iter().map(|(_, length)| length).sum()
    }

    /// Returns the number of parts.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Appends the triples of a part: subjects to one list, objects to the other.
    pub fn read(&self, part: usize, subjects: &mut Vec<TermId>, objects: &mut Vec<TermId>) {
        if let Some((part, length)) = self.parts.get(part) {
            part.subjects.read(*length, subjects);
            part.objects.read(*length, objects);
        }
    }

    /// Returns the number of triples with that object.
    pub fn count(&self, object: TermId) -> usize {
        let (mut subjects, mut objects) = (Vec::new(), Vec::new());
        let of_part = |part| {
            subjects.clear();
            objects.clear();
            self.read(part, &mut subjects, &mut objects);
            objects.iter().filter(|known| **known == object).count()
        };
        (0..self.parts()).map(of_part).sum()
    }

    /// Returns true if the column contains the triple.
    pub fn contains(&self, subject: TermId, object: TermId) -> bool {
        let mut row = self.seek_near((0, 0), subject);
        while let Some((_, value)) = self.triple(row).filter(|(found, _)| *found == subject) {
            if value == object {
                return true;
            }
            row = self.next(row);
        }
        false
    }

    /// Returns the triples with a subject, with an object, with both, or all.
    pub fn matching(&self, subject: Option<TermId>, object: Option<TermId>) -> Vec<(TermId, TermId)> {
        let is_wanted = |(_, known): &(TermId, TermId)| object.is_none_or(|object| *known == object);
        match (subject, object) {
            (Some(subject), _) => {
                let first = self.seek_near((0, 0), subject);
                let triples = iter::successors(Some(first), |row| Some(self.next(*row)));
                let triples = triples.map_while(|row| self.triple(row).filter(|(known, _)| *known == subject));
                triples.filter(is_wanted).collect()
            }
            (None, Some(object)) if self.is_asked_by_object() => {
                let places = self.first_of(object).into_iter().flat_map(|first| first..);
                places.map_while(|place| self.triple_by_object(place).filter(is_wanted)).collect()
            }
            _ => self.rows().filter_map(|row| self.triple(row)).filter(is_wanted).collect(),
        }
    }

    /// Returns the first row whose subject is not less than `subject`. It is often close to `from`.
    pub fn seek_near(&self, from: TriplePosition, subject: TermId) -> TriplePosition {
        self.seek_from(from, subject).unwrap_or_else(|| {
            let part = self.parts.partition_point(|(part, _)| part.last < subject);
            let place = self.parts.get(part).map_or(0, |(part, length)| part.subjects.first_not_less(subject, *length));
            (part, place)
        })
    }

    /// Like [`seek_near`](Self::seek_near), but only within the next few rows; `None` if the row is not among them.
    fn seek_from(&self, (part, place): TriplePosition, subject: TermId) -> Option<TriplePosition> {
        let (ColumnPart { subjects, .. }, length) = self.parts.get(part)?;
        let before = match place.checked_sub(1) {
            Some(before) => subjects.get(before),
            None => part.checked_sub(1).and_then(|before| Some(self.parts.get(before)?.0.last)),
        };
        if before.is_some_and(|before| before >= subject) {
            return None;
        }
        let found =
            (place..*length).take(NEAR).find(|place| subjects.get(*place).is_some_and(|known| known >= subject));
        found.map(|place| (part, place))
    }

    /// Counts a look-up by object, and returns true if an index is now worth its cost.
    pub fn is_asked_by_object(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= ASKED
    }

    /// Returns the start of an object's rows in the order of the objects.
    pub fn first_of(&self, object: TermId) -> Option<usize> {
        let ObjectIndex { rows, starts, hashes } = self.by_object.get_or_init(|| self.ordered_by_object());
        let is_same = |start: &u32| {
            let row = rows.get(*start as usize);
            row.and_then(|row| self.triple(unpacked(*row))).is_some_and(|(_, known)| known == object)
        };
        starts.find(hashes.hash_one(Some(&object)), is_same).map(|start| *start as usize)
    }

    /// Returns the triple at a place in the order of the objects.
    pub fn triple_by_object(&self, place: usize) -> Option<(TermId, TermId)> {
        self.triple(unpacked(*self.by_object.get()?.rows.get(place)?))
    }

    fn ordered_by_object(&self) -> ObjectIndex {
        let object = |row| self.triple(row).map_or(TermId(0), |(_, object)| object);
        let mut ordered: Vec<(TermId, u32)> = self.rows().map(|row| (object(row), packed(row))).collect();
        if !ordered.is_sorted() {
            ordered.sort_unstable();
        }
        let runs = || ordered.chunk_by(|(one, _), (next, _)| one == next);
        let hashes = KeyedHashes::default();
        let mut starts = HashTable::with_capacity(runs().count());
        let mut start = 0;
        for run in runs() {
            let hash = |start: &u32| hashes.hash_one(ordered.get(*start as usize).map(|(object, _)| object));
            starts.insert_unique(hash(&start), start, hash);
            start = start.saturating_add(u32::try_from(run.len()).unwrap_or(u32::MAX));
        }
        // Not in place, which would keep the room of the objects.
        ObjectIndex { rows: ordered.iter().map(|(_, row)| *row).collect(), starts, hashes }
    }
}

/// Packs part and place of a row into 20 and 12 bits.
fn packed((part, place): TriplePosition) -> u32 {
    u32::try_from(part << 12 | place).unwrap_or(u32::MAX)
}

/// Unpacks a row from 20 and 12 bits.
fn unpacked(row: u32) -> TriplePosition {
    ((row >> 12) as usize, (row & 0xfff) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn a_column_is_a_set(triples in prop::collection::vec((0..50_u64, prop_oneof![0..5_u64, any::<u64>()]), 0..9000)) {
            let mut column = Column::default();
            for (subject, object) in &triples {
                column.push(TermId(*subject), TermId(*object));
            }
            column.finish();
            let set: std::collections::BTreeSet<_> = triples.into_iter().collect();
            let rows: Vec<_> = column.rows().filter_map(|row| column.triple(row)).map(|(s, o)| (s.0, o.0)).collect();
            prop_assert_eq!(&rows, &Vec::from_iter(set.iter().copied()));
            for wanted in 0..5 {
                let object = TermId(wanted);
                let by_object = column.first_of(object).into_iter().flat_map(|first| first..);
                let by_object = by_object.map_while(|place| column.triple_by_object(place).filter(|(_, o)| *o == object));
                let by_object = by_object.map(|(subject, _)| subject.0);
                let expected = set.iter().filter(|(_, object)| *object == wanted).map(|(subject, _)| *subject);
                prop_assert_eq!(Vec::from_iter(by_object), Vec::from_iter(expected));
            }
            // Forwards, again, backwards.
            let mut last = (0, 0);
            for wanted in (0..52).flat_map(|wanted| [wanted, wanted, wanted / 2]) {
                let row = column.seek_near(last, TermId(wanted));
                last = row;
                let behind = iter::successors(Some(row), |row| Some(column.next(*row))).map_while(|row| column.triple(row));
                let expected = set.iter().filter(|(subject, _)| *subject >= wanted);
                prop_assert_eq!(behind.map(|(s, o)| (s.0, o.0)).collect::<Vec<_>>(), Vec::from_iter(expected.copied()));
            }
        }
    }
}
