//! The triples that match a pattern.

use std::ops::Range;
use std::sync::Arc;

use super::Columns;
use super::column::TriplePosition;
use super::term::TermId;

/// The order in which the rows of a column are visited.
enum Walk {
    /// In row order, from this row on.
    InOrder(TriplePosition),
    /// In the order of the objects, from this place on.
    ByObject(usize),
    Ended,
}

/// An iterator over the triples that match a pattern: subject, predicate and object.
pub(crate) struct Matches {
    columns: Arc<Columns>,
    subject: Option<TermId>,
    object: Option<TermId>,
    /// The columns still to visit.
    places: Range<usize>,
    walk: Option<Walk>,
}

impl Matches {
    /// Matches no triple.
    pub fn nothing(columns: Arc<Columns>) -> Self {
        Self { columns, subject: None, object: None, places: 0..0, walk: None }
    }

    /// Matches the triples with these terms.
    pub fn new(
        columns: Arc<Columns>,
        subject: Option<TermId>,
        predicate: Option<TermId>,
        object: Option<TermId>,
    ) -> Self {
        let places = match predicate {
            None => 0..columns.columns.len(),
            Some(predicate) => match columns.columns.iter().position(|(known, _)| *known == predicate) {
                Some(place) => place..place + 1,
                None => 0..0,
            },
        };
        Self { columns, subject, object, places, walk: None }
    }
}

impl Iterator for Matches {
    type Item = (TermId, TermId, TermId);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (predicate, column) = self.columns.columns.get(..self.places.end)?.get(self.places.start)?;
            let walk = self.walk.get_or_insert_with(|| match (self.subject, self.object) {
                (Some(subject), _) => Walk::InOrder(column.seek_near((0, 0), subject)),
                (None, Some(object)) if column.is_asked_by_object() => {
                    column.first_of(object).map_or(Walk::Ended, Walk::ByObject)
                }
                (None, _) => Walk::InOrder((0, 0)),
            });
            let triple = match walk {
                Walk::InOrder(row) => {
                    let triple = column.triple(*row);
                    *row = column.next(*row);
                    triple.filter(|(subject, _)| self.subject.is_none_or(|wanted| wanted == *subject))
                }
                Walk::ByObject(place) => {
                    let triple = column.triple_by_object(*place);
                    *place += 1;
                    triple.filter(|(_, object)| self.object.is_none_or(|wanted| wanted == *object))
                }
                Walk::Ended => None,
            };
            match triple {
                None => {
                    self.places.start += 1;
                    self.walk = None;
                }
                Some((_, object)) if self.object.is_some_and(|wanted| wanted != object) => {}
                Some((subject, object)) => return Some((subject, *predicate, object)),
            }
        }
    }
}
