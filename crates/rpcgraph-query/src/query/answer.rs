//! Answers as streams, and errors.

use std::error::Error;
use std::io;
use std::sync::Arc;

use oxigraph::sparql::{QueryEvaluationError, QuerySolution};
use oxigraph::store::StorageError;
use oxrdf::{Term, Variable};

use super::cancel::Cause;
use crate::sink::SinkError;
use crate::store::answer;

/// The answer to a query. Rows and triples arrive as they are found.
pub type Answer<'a> = answer::FallibleAnswer<'a, QueryError>;
/// Rows, and the names of their columns.
pub type Solutions<'a> = answer::FallibleSolutions<'a, QueryError>;
/// The triples of a graph.
pub type Triples<'a> = answer::FallibleTriples<'a, QueryError>;

/// Errors in answering a query.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The query was cancelled.
    #[error(transparent)]
    Ended(#[from] Cause),
    /// Evaluation failed.
    #[error(transparent)]
    Evaluation(QueryEvaluationError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StorageError),
    /// A server failed.
    #[error(transparent)]
    Server(Box<dyn Error + Send + Sync>),
}

/// Errors in writing an answer.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The query failed.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// Writing failed, or the format cannot represent the answer.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

impl From<io::Error> for ResultsError {
    fn from(error: io::Error) -> Self {
        Self::Sink(error.into())
    }
}

/// Returns rows with these columns, whose values are computed from each row.
pub(super) fn computed<'a>(
    solutions: Solutions<'a>,
    variables: Vec<Variable>,
    mut values: impl FnMut(&[Option<Term>]) -> Vec<Option<Term>> + 'a,
) -> Solutions<'a> {
    let shared: Arc<[Variable]> = variables.clone().into();
    let rows = solutions.rows.map(move |row| Ok(QuerySolution::from((Arc::clone(&shared), values(row?.values())))));
    Solutions { variables, rows: Box::new(rows) }
}
