//! Looking up triples: a whole column, or the triples of subjects or objects in rows.

use std::ops::Range;

use super::plan::{Batch, BatchSink, ROWS, Slot, Stop, TermSource, TripleScan};
use super::terms::QueryRun;
use crate::sink::columns::{ColumnCursor, TermId};

/// The found rows: the input row of each, and the added values.
#[derive(Default)]
struct ScannedRows {
    rows: Vec<u32>,
    subjects: Vec<TermId>,
    predicates: Vec<TermId>,
    objects: Vec<TermId>,
}

impl TermSource {
    fn value(self, batch: &Batch, row: usize) -> TermId {
        match self {
            Self::Known(id) => id,
            Self::Slot(slot) => batch.get(slot, row),
        }
    }

    fn slot(self) -> Option<Slot> {
        match self {
            Self::Slot(slot) => Some(slot),
            Self::Known(_) => None,
        }
    }
}

impl TripleScan {
    pub fn slots(&self) -> impl Iterator<Item = Slot> {
        [self.subject.slot(), self.predicate, self.object.slot()].into_iter().flatten()
    }

    /// Returns the number of pieces of a scan that begins a chain.
    pub fn pieces(&self, run: &QueryRun) -> usize {
        let is_base = matches!(self.subject, TermSource::Slot(_)) && !self.optional;
        if is_base { self.columns.iter().map(|place| run.columns.all()[*place].1.parts()).sum() } else { 1 }
    }

    /// Looks up the triples for each row; those in some pieces of the columns, or all.
    pub fn run(
        &self,
        run: &QueryRun,
        mut batch: Batch,
        pieces: Option<Range<usize>>,
        keep: &[bool],
        most: usize,
        out: &mut BatchSink<'_>,
    ) -> Result<(), Stop> {
        let mut found = ScannedRows::default();
        // For each column, by subject and by object.
        let mut cursors = vec![ColumnCursor::default(); 2 * self.columns.len()];
        let is_same = self.subject == self.object && matches!(self.subject, TermSource::Slot(_));
        let wanted = |place: TermSource| place.slot().is_some_and(|slot| keep.get(slot) == Some(&true));
        let (keeps_subject, keeps_object) = (wanted(self.subject), wanted(self.object));
        let (mut subjects, mut objects) = (Vec::new(), Vec::new());
        for row in 0..batch.rows {
            let at = u32::try_from(row).unwrap_or(u32::MAX);
            let (subject, object) = (self.subject.value(&batch, row), self.object.value(&batch, row));
            let predicate = self.predicate.map(|slot| batch.get(slot, row)).filter(|id| id.is_bound());
            let push = |found: &mut ScannedRows, subject, object, predicate| {
                found.rows.push(at);
                if keeps_subject {
                    found.subjects.push(subject);
                }
                if keeps_object {
                    found.objects.push(object);
                }
                if self.predicate.is_some() {
                    found.predicates.push(predicate);
                }
            };
            let mut any = false;
            let mut before = 0;
            for (nth, place) in self.columns.iter().enumerate() {
                let (name, column) = &run.columns.all()[*place];
                let parts = match &pieces {
                    Some(pieces) => {
                        let of_column = before..before + column.parts();
                        before = of_column.end;
                        pieces.start.max(of_column.start) - of_column.start
                            ..pieces.end.clamp(of_column.start, of_column.end) - of_column.start
                    }
                    None => 0..column.parts(),
                };
                if predicate.is_some_and(|wanted| wanted != *name) {
                    continue;
                }
                // Like Oxigraph, returns a result of several alternatives only once.
                let earlier = if self.predicate.is_none() { self.columns.get(..nth).unwrap_or_default() } else { &[] };
                let is_new = |subject, object| {
                    !earlier.iter().any(|place| run.columns.all()[*place].1.contains(subject, object))
                };
                let add = |found: &mut ScannedRows, subject: TermId, object: TermId| {
                    if (is_same && subject != object) || !(earlier.is_empty() || is_new(subject, object)) {
                        return false;
                    }
                    push(found, subject, object, *name);
                    true
                };
                let by_object = || pieces.is_none() && (batch.rows > 1 || column.is_asked_by_object());
                let sorted = match subject.is_bound() {
                    true => Some((column, subject, 2 * nth)),
                    false if object.is_bound() && by_object() => Some((column.by_object(), object, 2 * nth + 1)),
                    false => None,
                };
                if let Some((sorted, key, place)) = sorted
                    && let Some(cursor) = cursors.get_mut(place)
                {
                    cursor.seek(sorted, key);
                    while let Some((_, other)) = cursor.triple(sorted).filter(|(known, _)| *known == key) {
                        if !subject.is_bound() {
                            any |= add(&mut found, other, object);
                        } else if !object.is_bound() || object == other {
                            any |= add(&mut found, subject, other);
                        }
                        if sorted.is_functional() {
                            break;
                        }
                        if cursor.advance(sorted) {
                            run.cancel.check()?;
                        }
                    }
                } else {
                    for part in parts {
                        subjects.clear();
                        objects.clear();
                        column.read(part, &mut subjects, &mut objects);
                        for (known, value) in subjects.iter().zip(&objects) {
                            if !object.is_bound() || object == *value {
                                any |= add(&mut found, *known, *value);
                            }
                        }
                        run.cancel.check()?;
                        if found.rows.len() >= ROWS {
                            self.flush(run, &batch, &mut found, keep, out)?;
                        }
                    }
                }
            }
            if self.optional && !any {
                push(&mut found, subject, object, predicate.unwrap_or(TermId::UNBOUND));
            }
            if found.rows.len() >= most && row + 1 < batch.rows {
                self.flush(run, &batch, &mut found, keep, out)?;
            }
        }
        let is_each = found.rows.len() == batch.rows && found.rows.iter().zip(0..).all(|(row, at)| *row == at);
        if is_each && batch.rows > 1 {
            run.cancel.check()?;
            self.fill(&mut batch, &mut found, keep);
            batch.keep(keep);
            return out(batch);
        }
        self.flush(run, &batch, &mut found, keep, out)
    }

    /// Passes on the found rows.
    fn flush(
        &self,
        run: &QueryRun,
        batch: &Batch,
        found: &mut ScannedRows,
        keep: &[bool],
        out: &mut BatchSink<'_>,
    ) -> Result<(), Stop> {
        run.cancel.check()?;
        if found.rows.is_empty() {
            return Ok(());
        }
        let mut taken = batch.take(&found.rows, keep);
        self.fill(&mut taken, found, keep);
        found.rows.clear();
        out(taken)
    }

    fn fill(&self, batch: &mut Batch, found: &mut ScannedRows, keep: &[bool]) {
        let columns = [
            (self.subject.slot(), &mut found.subjects),
            (self.predicate, &mut found.predicates),
            (self.object.slot(), &mut found.objects),
        ];
        for (slot, values) in columns {
            if let Some(slot) = slot
                && keep.get(slot) == Some(&true)
            {
                batch.set(slot, std::mem::take(values));
            }
            values.clear();
        }
    }
}
