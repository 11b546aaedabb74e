//! The triples of one predicate: subjects and objects, in the order of the subjects.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::term::TermId;

/// How many triples a part has at most.
const PART: usize = 1 << 12;

/// Triples in order; a part spans little, so that most numbers fit into half their size.
struct Part {
    subjects: Numbers,
    objects: Numbers,
    /// The last subject.
    last: TermId,
}

/// Numbers, as what they are more than the least.
enum Numbers {
    Same(u64),
    Near(u64, Box<[u32]>),
    Far(Box<[u64]>),
}

impl Numbers {
    fn new(numbers: impl Iterator<Item = u64> + Clone) -> Self {
        let least = numbers.clone().min().unwrap_or_default();
        let most = numbers.clone().max().unwrap_or_default();
        if least == most {
            return Self::Same(least);
        }
        let near: Result<Box<[u32]>, _> = match u32::try_from(most - least) {
            Ok(_) => numbers.clone().map(|number| u32::try_from(number - least)).collect(),
            Err(far) => Err(far),
        };
        near.map_or_else(|_| Self::Far(numbers.collect()), |near| Self::Near(least, near))
    }

    fn get(&self, at: usize) -> Option<TermId> {
        Some(TermId(match self {
            Self::Same(number) => *number,
            Self::Near(least, more) => least + u64::from(*more.get(at)?),
            Self::Far(numbers) => *numbers.get(at)?,
        }))
    }

    /// The first place, up to the end, whose number is not less.
    fn first_not_less(&self, number: TermId, length: usize) -> usize {
        match self {
            Self::Same(same) => {
                if *same < number.0 {
                    length
                } else {
                    0
                }
            }
            Self::Near(least, more) => more.partition_point(|more| least + u64::from(*more) < number.0),
            Self::Far(numbers) => numbers.partition_point(|known| *known < number.0),
        }
    }
}

/// Where a triple is: part and place in it.
pub(super) type Row = (usize, usize);

#[derive(Default)]
pub(super) struct Column {
    parts: Vec<(Part, usize)>,
    /// What will be the next part.
    open: Vec<(TermId, TermId)>,
    last: Option<(TermId, TermId)>,
    /// Triples came out of order, or twice.
    disordered: bool,
    by_object: OnceLock<ByObject>,
}

/// The rows of each object.
#[derive(Default)]
struct ByObject {
    ranges: HashMap<TermId, (u32, u32)>,
    /// Part and place, in 20 and 12 bits.
    rows: Vec<u32>,
}

impl Column {
    pub fn push(&mut self, subject: TermId, object: TermId) {
        let triple = (subject, object);
        self.disordered |= self.last.is_some_and(|last| last >= triple);
        self.last = Some(triple);
        self.open.push(triple);
        if self.open.len() == PART {
            self.close();
        }
    }

    fn close(&mut self) {
        let Some((last, _)) = self.open.last() else { return };
        let part = Part {
            subjects: Numbers::new(self.open.iter().map(|(subject, _)| subject.0)),
            objects: Numbers::new(self.open.iter().map(|(_, object)| object.0)),
            last: *last,
        };
        self.parts.push((part, self.open.len()));
        self.open.clear();
    }

    /// Ends filling: puts the triples in order, each once.
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

    fn rows(&self) -> impl Iterator<Item = Row> {
        self.parts.iter().enumerate().flat_map(|(part, (_, length))| (0..*length).map(move |place| (part, place)))
    }

    pub fn triple(&self, (part, place): Row) -> Option<(TermId, TermId)> {
        let (part, length) = self.parts.get(part)?;
        if place >= *length {
            return None;
        }
        Some((part.subjects.get(place)?, part.objects.get(place)?))
    }

    /// The row behind a row.
    pub fn next(&self, (part, place): Row) -> Row {
        match self.parts.get(part) {
            Some((_, length)) if place + 1 < *length => (part, place + 1),
            _ => (part + 1, 0),
        }
    }

    /// The first row whose subject is not less.
    pub fn seek(&self, subject: TermId) -> Row {
        let part = self.parts.partition_point(|(part, _)| part.last < subject);
        let place = self.parts.get(part).map_or(0, |(part, length)| part.subjects.first_not_less(subject, *length));
        (part, place)
    }

    /// Where in [`Column::row`] the rows of an object are.
    pub fn rows_of(&self, object: TermId) -> std::ops::Range<usize> {
        let (start, end) = self.by_object().ranges.get(&object).copied().unwrap_or_default();
        start as usize..end as usize
    }

    /// A row of those that are in the order of their objects.
    pub fn row(&self, place: usize) -> Option<Row> {
        let row = *self.by_object().rows.get(place)?;
        Some(((row >> 12) as usize, (row & 0xfff) as usize))
    }

    fn by_object(&self) -> &ByObject {
        self.by_object.get_or_init(|| {
            let mut ranges: HashMap<TermId, (u32, u32)> = HashMap::new();
            let mut count = 0_u32;
            let objects = || self.rows().filter_map(|row| Some((row, self.triple(row)?.1)));
            for (_, object) in objects() {
                ranges.entry(object).or_default().1 += 1;
                count += 1;
            }
            let mut start = 0;
            for range in ranges.values_mut() {
                let length = range.1;
                *range = (start, start);
                start += length;
            }
            let mut rows = vec![0; count as usize];
            for ((part, place), object) in objects() {
                let row = u32::try_from(part << 12 | place).unwrap_or(u32::MAX);
                if let Some(range) = ranges.get_mut(&object)
                    && let Some(slot) = rows.get_mut(range.1 as usize)
                {
                    *slot = row;
                    range.1 += 1;
                }
            }
            ByObject { ranges, rows }
        })
    }
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
                let by_object = column.rows_of(object).filter_map(|place| column.triple(column.row(place)?)).map(|(s, _)| s.0);
                let expected = set.iter().filter(|(_, object)| *object == wanted).map(|(subject, _)| *subject);
                prop_assert_eq!(Vec::from_iter(by_object), Vec::from_iter(expected));
                let first = column.triple(column.seek(object)).map(|(subject, _)| subject.0);
                prop_assert_eq!(first, set.iter().map(|(subject, _)| *subject).find(|subject| *subject >= wanted));
            }
        }
    }
}
