//! Answers as streams, and the reasons for which there is none.

use std::error::Error;
use std::io;

use oxigraph::sparql::QueryEvaluationError;
use oxigraph::store::StorageError;

use super::cancel::Cause;
use crate::sink::SinkError;
use crate::store::answer;

/// The answer to a query. Rows and triples come as they are found.
pub type Answer<'a> = answer::Answer<'a, QueryError>;
/// Rows, and the names of their columns.
pub type Solutions<'a> = answer::Solutions<'a, QueryError>;
/// Triples of a graph.
pub type Triples<'a> = answer::Triples<'a, QueryError>;

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// It was ended.
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

/// Why an answer could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// There is none.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// Writing failed, or the format cannot carry it.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

impl From<io::Error> for ResultsError {
    fn from(error: io::Error) -> Self {
        Self::Sink(error.into())
    }
}
