//! The triples of one predicate: subjects and objects, in the order of the subjects.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::term::TermId;

/// The maximum number of triples in a part.
const PART: usize = 1 << 12;
/// The number of look-ups by object that scan all triples before an index is built: a query makes one for each class
/// that it names.
const ASKED: usize = 8;

/// The number of triples that are sorted at once for an index, and one of how many is looked at to choose them.
const SORTED: usize = 1 << 18;
const SAMPLE: usize = 1 << 6;
/// The number of rows scanned one by one before a binary search for a subject.
const NEAR: usize = 8;
/// A part is read as a whole after one look-up for this number of its triples.
const ASKED_PER_PART: usize = 128;

/// Triples in order. A part covers a small range, so that most numbers fit into half their size.
struct ColumnPart {
    subjects: OffsetNumbers,
    objects: OffsetNumbers,
    /// The last subject of the part.
    last: TermId,
}

/// Numbers as offsets from the least, without the low bits that are 0 in all offsets.
enum OffsetNumbers {
    /// The first number, and the difference of each to the next.
    Steady(u64, u64),
    Nearest(u64, u32, Box<[u16]>),
    Near(u64, u32, Box<[u32]>),
    Far(Box<[u64]>),
}

impl OffsetNumbers {
    fn new(numbers: impl Iterator<Item = u64> + Clone) -> Self {
        let steps = numbers.clone().zip(numbers.clone().skip(1)).map(|(number, next)| next.wrapping_sub(number));
        let step = steps.clone().next().unwrap_or_default();
        if steps.clone().all(|other| other == step) {
            return Self::Steady(numbers.clone().next().unwrap_or_default(), step);
        }
        let least = numbers.clone().min().unwrap_or_default();
        let used = numbers.clone().fold(0, |used, number| used | (number - least));
        let shift = used.trailing_zeros();
        let more = || numbers.clone().map(|number| (number - least) >> shift);
        match used >> shift {
            0..=0xffff => Self::Nearest(least, shift, more().filter_map(|more| u16::try_from(more).ok()).collect()),
            0x1_0000..=0xffff_ffff => {
                Self::Near(least, shift, more().filter_map(|more| u32::try_from(more).ok()).collect())
            }
            _ => Self::Far(numbers.collect()),
        }
    }

    fn get(&self, at: usize) -> Option<TermId> {
        Some(TermId(match self {
            Self::Steady(first, step) => first.wrapping_add(step.wrapping_mul(at as u64)),
            Self::Nearest(least, shift, more) => least + (u64::from(*more.get(at)?) << shift),
            Self::Near(least, shift, more) => least + (u64::from(*more.get(at)?) << shift),
            Self::Far(numbers) => *numbers.get(at)?,
        }))
    }

    fn read(&self, length: usize, into: &mut Vec<TermId>) {
        match self {
            Self::Steady(..) => into.extend((0..length).filter_map(|at| self.get(at))),
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
            Self::Steady(first, 0) => length * usize::from(*first < number),
            Self::Steady(first, step) => {
                usize::try_from(number.saturating_sub(*first).div_ceil(*step)).map_or(length, |place| place.min(length))
            }
            Self::Nearest(least, shift, more) => {
                more.partition_point(|more| least + (u64::from(*more) << shift) < number)
            }
            Self::Near(least, shift, more) => more.partition_point(|more| least + (u64::from(*more) << shift) < number),
            Self::Far(numbers) => numbers.partition_point(|known| *known < number),
        }
    }
}

/// The position of a triple: part, and place in the part.
pub(super) type TriplePosition = (usize, usize);

/// A place in a column. Look-ups of subjects in nearly increasing order are fast.
#[derive(Clone, Default)]
pub struct ColumnCursor {
    part: usize,
    place: usize,
    /// The number of look-ups in the part.
    asked: usize,
    /// The triples of the part, once it was asked often enough.
    subjects: Vec<TermId>,
    objects: Vec<TermId>,
}

impl ColumnCursor {
    /// Moves to the first triple whose subject is not less than `subject`.
    pub fn seek(&mut self, column: &Column, subject: TermId) {
        // A subject may have triples in the part before.
        let is_inside = self.subjects.first().is_some_and(|first| *first < subject)
            && self.subjects.last().is_some_and(|last| *last >= subject);
        if is_inside {
            let is_behind = |place: &usize| self.subjects.get(*place).is_some_and(|known| *known >= subject);
            let from = if self.place > 0 && is_behind(&(self.place - 1)) { usize::MAX } else { self.place };
            let near = (from..from.saturating_add(NEAR)).find(is_behind);
            self.place = near.unwrap_or_else(|| self.subjects.partition_point(|known| *known < subject));
            return;
        }
        let (part, place) = column.seek(subject);
        self.place = place;
        self.enter(part);
        self.asked += 1;
        let worth = column.parts.get(part).map_or(usize::MAX, |(_, length)| length / ASKED_PER_PART);
        if self.asked > worth && self.subjects.is_empty() {
            column.read(part, &mut self.subjects, &mut self.objects);
        }
    }

    fn enter(&mut self, part: usize) {
        if part != self.part {
            (self.part, self.asked) = (part, 0);
            self.subjects.clear();
            self.objects.clear();
        }
    }

    /// Returns the triple at this place.
    pub fn triple(&self, column: &Column) -> Option<(TermId, TermId)> {
        match self.subjects.get(self.place) {
            Some(subject) => Some((*subject, *self.objects.get(self.place)?)),
            None => column.triple((self.part, self.place)),
        }
    }

    /// Moves to the next triple. Returns true if it is in another part.
    pub fn advance(&mut self, column: &Column) -> bool {
        let (part, place) = column.next((self.part, self.place));
        self.place = place;
        self.enter(part);
        place == 0
    }
}

#[derive(Default)]
pub struct Column {
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
    by_object: OnceLock<Box<Self>>,
    /// The estimated number of triples with the same object.
    per_object: OnceLock<f64>,
}

impl Column {
    pub fn push(&mut self, subject: TermId, object: TermId) {
        self.open.push((subject, object));
        if self.open.len() == 2 * PART {
            self.close();
        }
    }

    /// Makes a part of the first open triples. Those that are closely out of order, such as the triples of one record, are
    /// sorted here.
    fn close(&mut self) {
        if !self.open.is_sorted_by(|one, next| one < next) {
            self.open.sort_unstable();
            self.open.dedup();
        }
        let rest = self.open.split_off(self.open.len().min(PART));
        let closed = std::mem::replace(&mut self.open, rest);
        let Some((first, last)) = closed.first().zip(closed.last()) else { return };
        self.disordered |= self.last.is_some_and(|last| last >= *first);
        self.repeats |= self.last.is_some_and(|(last, _)| last == first.0);
        self.repeats |= closed.iter().zip(closed.iter().skip(1)).any(|((one, _), (next, _))| one == next);
        let part = ColumnPart {
            subjects: OffsetNumbers::new(closed.iter().map(|(subject, _)| subject.0)),
            objects: OffsetNumbers::new(closed.iter().map(|(_, object)| object.0)),
            last: last.0,
        };
        self.last = Some(*last);
        self.parts.push((part, closed.len()));
    }

    /// Ends filling: sorts the triples and removes duplicates.
    pub fn finish(&mut self) {
        while !self.open.is_empty() {
            self.close();
        }
        self.open = Vec::new();
        if std::mem::take(&mut self.disordered) {
            *self = Self::sorted(self.triples().collect());
        }
    }

    fn sorted(mut triples: Vec<(TermId, TermId)>) -> Self {
        triples.sort_unstable();
        triples.dedup();
        Self::of(triples.into_iter())
    }

    fn of(triples: impl Iterator<Item = (TermId, TermId)>) -> Self {
        let mut column = Self::default();
        triples.for_each(|(subject, object)| column.push(subject, object));
        column.finish();
        column
    }

    /// Returns the column with other objects, each by a function of its triple.
    pub fn with_objects(&self, object: impl Fn(TermId, TermId) -> TermId) -> Self {
        Self::of(self.triples().map(|(subject, known)| (subject, object(subject, known))))
    }

    /// Returns the triples, in the order of the subjects.
    pub fn triples(&self) -> impl Iterator<Item = (TermId, TermId)> {
        self.rows().filter_map(|row| self.triple(row))
    }

    fn rows(&self) -> impl Iterator<Item = TriplePosition> {
        self.parts.iter().enumerate().flat_map(|(part, (_, length))| (0..*length).map(move |place| (part, place)))
    }

    /// Returns the triple in a row.
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

    /// Estimates the number of triples with the same object, from the first part.
    pub fn by_object_rows(&self) -> f64 {
        *self.per_object.get_or_init(|| {
            let (mut subjects, mut objects) = (Vec::new(), Vec::new());
            self.read(0, &mut subjects, &mut objects);
            let count = objects.len();
            objects.sort_unstable();
            objects.dedup();
            let distinct = objects.len().max(1);
            // If objects are seldom equal, there are about as many for each part; otherwise, all parts have the same.
            let all = if distinct * 8 > count { count } else { self.len() };
            (all as f64 / distinct as f64).max(1.2)
        })
    }

    /// Returns the first row whose subject is not less than `subject`.
    pub fn seek(&self, subject: TermId) -> TriplePosition {
        let part = self.parts.partition_point(|(part, _)| part.last < subject);
        let place = self.parts.get(part).map_or(0, |(part, length)| part.subjects.first_not_less(subject, *length));
        (part, place)
    }

    /// Counts a look-up by object, and returns true if an index is now worth its cost.
    pub fn count_object_lookup(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= ASKED
    }

    /// Returns the triples with subjects and objects exchanged, in the order of the objects.
    pub fn by_object(&self) -> &Self {
        self.by_object.get_or_init(|| {
            let mut objects: Vec<_> = self.triples().step_by(SAMPLE).map(|(_, object)| object).collect();
            objects.sort_unstable();
            let mut bounds: Vec<_> = objects.into_iter().step_by(SORTED / SAMPLE).skip(1).collect();
            bounds.push(TermId::UNBOUND);
            bounds.dedup();
            let mut least = TermId(0);
            Box::new(Self::of(bounds.into_iter().flat_map(|bound| {
                let objects = std::mem::replace(&mut least, bound)..bound;
                let some = self.triples().filter(|(_, object)| objects.contains(object));
                let mut some: Vec<_> = some.map(|(subject, object)| (object, subject)).collect();
                some.sort_unstable();
                some
            })))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn steady_numbers_are_found() {
        let numbers = OffsetNumbers::new((0..100).map(|nth| 10 + 3 * nth));
        assert!(matches!(numbers, OffsetNumbers::Steady(10, 3)));
        for wanted in 0..320 {
            let before = (0..100).filter(|nth| 10 + 3 * nth < wanted).count();
            assert_eq!(numbers.first_not_less(TermId(wanted), 100), before);
        }
    }

    #[test]
    fn an_index_of_several_ranges_is_sorted() {
        let mut column = Column::default();
        (0..3 * SORTED as u64).for_each(|subject| column.push(TermId(subject), TermId(subject % 5)));
        column.finish();
        assert_eq!(column.by_object().len(), column.len());
        assert!(column.by_object().triples().is_sorted_by(|one, next| one < next));
    }

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
            let rows: Vec<_> = column.triples().map(|(s, o)| (s.0, o.0)).collect();
            prop_assert_eq!(&rows, &Vec::from_iter(set.iter().copied()));
            for wanted in 0..5 {
                let object = TermId(wanted);
                let index = column.by_object();
                let rows = iter::successors(Some(index.seek(object)), |row| Some(index.next(*row)));
                let found = rows.map_while(|row| index.triple(row).filter(|(known, _)| *known == object));
                let by_object = found.map(|(_, subject)| subject.0);
                let expected = set.iter().filter(|(_, object)| *object == wanted).map(|(subject, _)| *subject);
                prop_assert_eq!(Vec::from_iter(by_object), Vec::from_iter(expected));
            }
            // Forwards, again, backwards.
            let mut cursor = ColumnCursor::default();
            for wanted in (0..52).flat_map(|wanted| [wanted, wanted, wanted / 2, wanted, wanted]) {
                cursor.seek(&column, TermId(wanted));
                let mut behind = cursor.clone();
                let triples = iter::from_fn(|| {
                    let triple = behind.triple(&column);
                    behind.advance(&column);
                    triple
                });
                let expected = set.iter().filter(|(subject, _)| *subject >= wanted);
                prop_assert_eq!(triples.map(|(s, o)| (s.0, o.0)).collect::<Vec<_>>(), Vec::from_iter(expected.copied()));
            }
        }
    }
}
