//! The rows of a plan, as an iterator.

use std::sync::Arc;

use oxigraph::sparql::QuerySolution;
use oxrdf::{Term, Variable};

use super::super::answer::QueryError;
use super::plan::{Batch, Plan, Slot, Stop};
use super::terms::{Operand, QueryRun};
use crate::sink::columns::TermId;

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
    /// The cached values of each late expression that reads one slot, by the slot's value.
    known: Vec<[LateValue; KNOWN]>,
}

/// The number of cached values of an expression.
const KNOWN: usize = 8;

/// The value of a slot, and the value of the expression for it.
type LateValue = (TermId, Option<Operand<'static>>);

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
        let unknown = || [const { (TermId::UNBOUND, None) }; KNOWN];
        let known = plan.late.iter().map(|_| unknown()).collect();
        Self { plan, run, variables, pieces: None, piece: 0, found: Vec::new(), batch: Batch::default(), row: 0, known }
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

    fn terms(&mut self) -> Vec<Option<Term>> {
        let mut late: Vec<(Slot, Option<Operand<'_>>)> = Vec::with_capacity(self.plan.late.len());
        for ((slot, expression), known) in self.plan.late.iter().zip(&mut self.known) {
            let compute = || expression.late(&self.run, &self.batch, self.row, &late);
            let input = match expression.reads.as_slice() {
                [read] => self.batch.get(*read, self.row),
                _ => TermId::UNBOUND,
            };
            let value = match input.cache_place(KNOWN as u64).and_then(|place| known.get_mut(place)) {
                Some(known) => {
                    if known.0 != input {
                        *known = (input, compute().map(Operand::into_owned));
                    }
                    known.1.clone()
                }
                None => compute(),
            };
            late.push((*slot, value));
        }
        let term = |slot: &Slot| match late.iter_mut().find(|(known, _)| known == slot) {
            Some((_, value)) => self.run.to_term(value.take()?),
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
