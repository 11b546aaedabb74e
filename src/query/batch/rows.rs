//! The rows of a plan, as an iterator.

use std::sync::Arc;

use oxigraph::sparql::QuerySolution;
use oxrdf::{Term, Variable};

use super::super::answer::QueryError;
use super::plan::{Batch, Plan, Slot, Stop};
use super::terms::{Operand, QueryRun};

/// Rows as terms, computed one piece at a time.
pub(super) struct BatchRows {
    plan: Plan,
    run: Arc<QueryRun>,
    variables: Arc<[Variable]>,
    /// The number of pieces, once it is known.
    pieces: Option<usize>,
    piece: usize,
    found: Vec<Batch>,
    batch: Batch,
    row: usize,
}

impl Plan {
    /// Returns true if there is at least one row.
    pub(super) fn has_rows(&self, run: &QueryRun) -> Result<bool, Stop> {
        match self.chain.all(run, self.width, &mut |batch| if batch.rows > 0 { Err(Stop::Enough) } else { Ok(()) }) {
            Ok(()) => Ok(false),
            Err(Stop::Enough) => Ok(true),
            Err(stop) => Err(stop),
        }
    }
}

impl BatchRows {
    pub fn new(plan: Plan, run: Arc<QueryRun>) -> Self {
        let variables = plan.variables.clone().into();
        Self { plan, run, variables, pieces: None, piece: 0, found: Vec::new(), batch: Batch::default(), row: 0 }
    }

    /// Moves on to the next batch; returns false at the end.
    fn advance(&mut self) -> Result<bool, Stop> {
        self.row = 0;
        let pieces = match self.pieces {
            Some(pieces) => pieces,
            None => *self.pieces.insert(self.plan.chain.pieces(&self.run)?),
        };
        while self.found.is_empty() && self.piece < pieces {
            let next = self.piece..pieces.min(self.piece + self.run.jobs.max(1));
            self.piece = next.end;
            let found = &mut self.found;
            self.plan.chain.in_order(&self.run, self.plan.width, next, &mut |batch| {
                found.push(batch);
                Ok(())
            })?;
            found.reverse();
        }
        let next = self.found.pop();
        let any = next.is_some();
        self.batch = next.unwrap_or_default();
        Ok(any)
    }

    fn terms(&self) -> Vec<Option<Term>> {
        let mut late: Vec<(Slot, Option<Operand<'_>>)> = Vec::with_capacity(self.plan.late.len());
        for (slot, expression) in &self.plan.late {
            let value = expression.late(&self.run, &self.batch, self.row, &late);
            late.push((*slot, value));
        }
        let term = |slot: &Slot| match late.iter().find(|(known, _)| known == slot) {
            Some((_, value)) => self.run.to_term(value.clone()?),
            None => self.run.term(self.batch.get(*slot, self.row)),
        };
        self.plan.slots.iter().map(term).collect()
    }
}

impl Iterator for BatchRows {
    type Item = Result<QuerySolution, QueryError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.row >= self.batch.rows {
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(stop) => {
                    (self.pieces, self.batch) = (Some(0), Batch::default());
                    self.found.clear();
                    return Some(Err(stop.into()));
                }
            }
        }
        let terms = self.terms();
        self.row += 1;
        Some(Ok(QuerySolution::from((self.variables.clone(), terms))))
    }
}
