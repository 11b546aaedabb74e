//! The rows of a plan, as an iterator.

use std::ops::Range;
use std::sync::Arc;

use oxigraph::sparql::QuerySolution;
use oxrdf::{Term, Variable};

use super::super::answer::QueryError;
use super::super::operand::Operand;
use super::parallel::{Lane, Ordered, divide};
use super::plan::{Batch, Plan, Slot, Stop};
use super::terms::QueryRun;
use crate::mapping::deep_thread;
use crate::sink::columns::TermId;

/// Rows as terms. Their batches are computed one piece at a time, or by threads ahead of the consumer.
pub(super) struct BatchRows {
    plan: Arc<Plan>,
    run: Arc<QueryRun>,
    variables: Arc<[Variable]>,
    source: BatchSource,
    batch: Batch,
    row: usize,
    /// The cached values of each late expression that reads one slot, by the slot's value.
    known: Vec<[LateValue; KNOWN]>,
}

enum BatchSource {
    /// Nothing is computed yet.
    New,
    /// The next pieces, and the batches of the last one, the next batch at the end.
    Here(Range<usize>, Vec<Batch>),
    Threads(Ordered),
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
        let (plan, source) = (Arc::new(plan), BatchSource::New);
        Self { plan, run, variables, source, batch: Batch::default(), row: 0, known }
    }

    /// Returns the next batch; `None` at the end.
    fn advance(&mut self) -> Result<Option<Batch>, Stop> {
        if matches!(self.source, BatchSource::New) {
            self.source = self.begin()?;
        }
        match &mut self.source {
            BatchSource::New => Ok(None),
            BatchSource::Threads(batches) => batches.next().transpose(),
            BatchSource::Here(pieces, batches) => {
                while batches.is_empty()
                    && let Some(piece) = pieces.next()
                {
                    self.plan.chain.piece(&self.run, self.plan.width, piece, &mut |batch| {
                        batches.push(batch);
                        Ok(())
                    })?;
                    batches.reverse();
                }
                Ok(batches.pop())
            }
        }
    }

    fn begin(&self) -> Result<BatchSource, Stop> {
        let pieces = 0..self.plan.chain.pieces(&self.run)?;
        let jobs = self.run.jobs.min(pieces.len());
        if jobs < 2 {
            return Ok(BatchSource::Here(pieces, Vec::new()));
        }
        let (lanes, batches) = divide(jobs, pieces.clone());
        let start = |lane: Lane| {
            let (plan, run) = (self.plan.clone(), self.run.clone());
            deep_thread().spawn(move || lane.run(&plan.chain, &run, plan.width)).is_ok()
        };
        match lanes.into_iter().all(start) {
            true => Ok(BatchSource::Threads(batches)),
            false => Ok(BatchSource::Here(pieces, Vec::new())),
        }
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
            (self.batch, self.row) = match self.advance() {
                Ok(batch) => (batch?, 0),
                Err(stop) => {
                    (self.source, self.batch) = (BatchSource::Threads(Ordered::default()), Batch::default());
                    return Some(Err(stop.into()));
                }
            };
        }
        let terms = self.terms();
        self.row += 1;
        Some(Ok(QuerySolution::from((self.variables.clone(), terms))))
    }
}
