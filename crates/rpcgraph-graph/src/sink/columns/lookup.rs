//! Look-ups of triples in columns, for an evaluator that asks for one pattern after the other.

use std::sync::Arc;

use super::Columns;
use super::column::{ColumnCursor, TriplePosition};
use super::term::TermId;

/// The triples that a look-up finds in a column.
pub enum ColumnMatches {
    Few(std::vec::IntoIter<(TermId, TermId)>),
    /// The triples with an object, in the order of the subjects.
    Subjects {
        columns: Arc<Columns>,
        place: usize,
        object: TermId,
        next: TriplePosition,
    },
    One(Option<(TermId, TermId)>),
    /// All triples, or those with an object if one is given.
    All(Box<ColumnScan>),
}

impl Iterator for ColumnMatches {
    type Item = (TermId, TermId);

    fn next(&mut self) -> Option<(TermId, TermId)> {
        match self {
            Self::Few(triples) => triples.next(),
            Self::Subjects { columns, place, object, next } => {
                let index = columns.all().get(*place)?.1.by_object();
                let (_, subject) = index.triple(*next).filter(|(known, _)| known == object)?;
                *next = index.next(*next);
                Some((subject, *object))
            }
            Self::One(triple) => triple.take(),
            Self::All(scan) => scan.next(),
        }
    }
}

/// A scan of a column, a part at a time.
pub struct ColumnScan {
    columns: Arc<Columns>,
    place: usize,
    object: Option<TermId>,
    part: usize,
    subjects: Vec<TermId>,
    objects: Vec<TermId>,
    next: usize,
}

impl Iterator for ColumnScan {
    type Item = (TermId, TermId);

    fn next(&mut self) -> Option<(TermId, TermId)> {
        loop {
            while let (Some(subject), Some(object)) = (self.subjects.get(self.next), self.objects.get(self.next)) {
                self.next += 1;
                if self.object.is_none_or(|wanted| wanted == *object) {
                    return Some((*subject, *object));
                }
            }
            let (_, column) = self.columns.all().get(self.place)?;
            if self.part == column.parts() {
                return None;
            }
            self.subjects.clear();
            self.objects.clear();
            column.read(self.part, &mut self.subjects, &mut self.objects);
            self.part += 1;
            self.next = 0;
        }
    }
}

/// Look-ups of triples. They are fast for subjects in nearly increasing order.
#[derive(Default)]
pub struct ColumnLookUps {
    /// The place of the last look-up in each column.
    cursors: Vec<ColumnCursor>,
}

impl ColumnLookUps {
    /// Returns the triples of the column at a place with a subject, with an object, with both, or all.
    pub fn matching(
        &mut self,
        columns: &Arc<Columns>,
        place: usize,
        subject: Option<TermId>,
        object: Option<TermId>,
    ) -> ColumnMatches {
        let Some((_, column)) = columns.all().get(place) else { return ColumnMatches::One(None) };
        let is_wanted = |(_, known): &(TermId, TermId)| object.is_none_or(|object| *known == object);
        match (subject, object) {
            (Some(subject), _) => {
                if self.cursors.len() <= place {
                    self.cursors.resize_with(place + 1, ColumnCursor::default);
                }
                let Some(cursor) = self.cursors.get_mut(place) else { return ColumnMatches::One(None) };
                cursor.seek(column, subject);
                let is_of_subject = |(known, _): &(TermId, TermId)| *known == subject;
                let first = cursor.triple(column).filter(is_of_subject);
                if column.is_functional() || first.is_none() {
                    return ColumnMatches::One(first.filter(is_wanted));
                }
                let mut found = Vec::new();
                while let Some(triple) = cursor.triple(column).filter(is_of_subject) {
                    found.extend(Some(triple).filter(is_wanted));
                    cursor.advance(column);
                }
                ColumnMatches::Few(found.into_iter())
            }
            (None, Some(object)) if column.count_object_lookup() => {
                let next = column.by_object().seek(object);
                ColumnMatches::Subjects { columns: columns.clone(), place, object, next }
            }
            (None, object) => ColumnMatches::All(Box::new(ColumnScan {
                columns: columns.clone(),
                place,
                object,
                part: 0,
                subjects: Vec::new(),
                objects: Vec::new(),
                next: 0,
            })),
        }
    }
}
