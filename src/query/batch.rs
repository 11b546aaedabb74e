//! Evaluation in batches: a query becomes a plan of operators over columns of term numbers.
//!
//! ```text
//! algebra → compile → Plan → run: a batch of rows through each operator → rows of terms
//! ```
//!
//! | word | meaning |
//! |---|---|
//! | slot | the place of a variable's column in a batch |
//! | batch | some rows: for each slot that is in use, a term number a row |
//! | chain | operators, each of which extends the rows of the one before |
//! | scan | the operator that looks up triples: all of a column, or those of known subjects or objects |
//! | table | all rows of a part of the query that is not evaluated row by row |
//! | stage | a chain whose rows become a table: grouped, sorted, made distinct or cut |
//!
//! Rows keep their order through every operator but a union, so a query is sorted as early as its keys are known, and what comes
//! after it is only computed for the rows that are left.

mod compile;
mod condition;
mod expression;
mod group;
mod operators;
mod plan;
mod rows;
mod scan;
mod sort;
mod terms;

use std::sync::Arc;

use spargebra::Query;

pub(super) use self::plan::Plan;
use self::plan::Stop;
pub(super) use self::terms::Run;
use super::answer::{Answer, QueryError, Solutions};
use super::cancel::Cancel;
use crate::sink::columns::Columns;

/// The plan of a query; `None` where the batch evaluator does not cover it.
pub(super) fn plan(query: &Query, columns: &Arc<Columns>, cancel: &Cancel) -> Option<(Plan, Arc<Run>)> {
    let run = Arc::new(Run::new(columns.clone(), cancel.clone(), query.base_iri().cloned()));
    compile::compile(query, &run).ok().map(|plan| (plan, run))
}

impl Plan {
    /// The answer to the query.
    pub fn answer<'a>(self, run: Arc<Run>) -> Result<Answer<'a>, QueryError> {
        if self.is_ask() {
            return Ok(Answer::Boolean(self.has_rows(&run)?));
        }
        let variables = self.variables().to_vec();
        let rows = rows::Rows::new(self, run);
        Ok(Answer::Solutions(Solutions { variables, rows: Box::new(rows) }))
    }
}

impl From<Stop> for QueryError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Ended(cause) => Self::Ended(cause),
            Stop::Enough => Self::Ended(super::Cause::Interrupted),
        }
    }
}
