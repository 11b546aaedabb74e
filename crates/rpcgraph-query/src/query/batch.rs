//! Evaluation in batches: a query becomes a plan of operators over columns of term numbers.
//!
//! ```text
//! algebra → compile → Plan → run: a batch of rows through each operator → rows of terms
//! ```
//!
//! | word | meaning |
//! |---|---|
//! | slot | the place of a variable's column in a batch |
//! | batch | some rows: for each slot in use, a term number per row |
//! | chain | operators, each of which extends the rows of the previous one |
//! | scan | the operator that looks up triples: a whole column, or the triples of known subjects or objects |
//! | table | all rows of a part of the query that is not evaluated row by row |
//! | piece | the part of a chain's rows that come from some 4096 rows at its beginning |
//! | stage | a chain whose rows become a table: grouped, sorted, made distinct or cut |
//!
//! A chain is cut into pieces at the scan or the table that it begins with. Threads evaluate pieces, and the next stage
//! gets their rows in order.
//!
//! Rows keep their order through every operator but a union. So a query is sorted as early as its keys are known, and
//! later operators process only the remaining rows.

mod compile;
mod condition;
mod explain;
mod expression;
mod group;
mod live;
mod operators;
mod parallel;
mod pieces;
mod plan;
mod rows;
mod scan;
mod scope;
mod sort;
mod terms;

use std::sync::Arc;

use spargebra::Query;

pub(super) use self::plan::Plan;
use self::plan::Stop;
pub(super) use self::scope::{Names, certain};
pub(super) use self::terms::QueryRun;
use super::answer::{Answer, QueryError, Solutions};
use super::cancel::Cancel;
use crate::schema::QuerySchemas;
use crate::sink::columns::Columns;

/// Returns the plan of a query; `None` if the batch evaluator does not cover it.
pub(super) fn plan(
    query: &Query,
    columns: &Arc<Columns>,
    cancel: &Cancel,
    jobs: usize,
    schemas: &Arc<QuerySchemas>,
) -> Option<(Plan, Arc<QueryRun>)> {
    let run = QueryRun::new(columns.clone(), cancel.clone(), jobs, query.base_iri().cloned(), schemas.clone());
    let run = Arc::new(run);
    compile::compile(query, &run).ok().map(|plan| (plan, run))
}

impl Plan {
    /// Evaluates the plan and returns the answer.
    pub fn answer<'a>(self, run: Arc<QueryRun>) -> Result<Answer<'a>, QueryError> {
        if self.is_ask() {
            return Ok(Answer::Boolean(self.has_rows(&run)?));
        }
        let variables = self.variables().to_vec();
        let rows = rows::BatchRows::new(self, run);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;
    use crate::query::catalogue::CATALOGUE;

    fn planned(text: &str) -> Option<String> {
        let query = Query::parse(text, None).unwrap();
        plan(&query.algebra, &Arc::default(), &Cancel::default(), 1, &Arc::default()).map(|(plan, _)| plan.to_string())
    }

    #[test]
    fn batches_answer_the_whole_catalogue() {
        for query in CATALOGUE {
            assert!(planned(query.text).is_some(), "{}", query.name);
        }
        for other in ["DESCRIBE ?a { ?a a ?b }", "SELECT * { ?a rpcg:inBatch* ?b }", "SELECT (RAND() AS ?r) {}"] {
            assert_eq!(planned(other), None, "{other}");
        }
    }

    #[test]
    fn rows_are_sorted_before_what_their_order_does_not_need() {
        let text = "SELECT * { ?m rpcg:sequence ?n OPTIONAL { ?m jrpc:hasMethod ?x } } ORDER BY ?n LIMIT 3";
        let plan = planned(text).unwrap();
        let lines: Vec<_> = plan.lines().map(str::trim).collect();
        let expected = [
            "with 3 rows from 0 of",
            "with the first 3 sorted by ?n of",
            "scan ?m sequence ?n",
            "optional scan ?m hasMethod ?x",
            "rows of ?m ?n ?x",
        ];
        assert_eq!(lines, expected);
    }
}
