//! What comes of a query, as a stream.

use oxigraph::sparql::{QueryEvaluationError, QuerySolution};
use oxigraph::store::StorageError;
use oxrdf::{Triple, Variable};

use super::cancel::{Cancel, Cause};
use crate::endpoint::{self, EndpointError};

/// What comes of a query. Rows and triples come as they are found.
pub enum Answer<'a> {
    /// Rows of a `SELECT`.
    Solutions(Solutions<'a>),
    /// Of an `ASK`.
    Boolean(bool),
    /// Of a `CONSTRUCT` or a `DESCRIBE`.
    Graph(Triples<'a>),
}

/// Triples of a graph.
pub type Triples<'a> = Box<dyn Iterator<Item = Result<Triple, QueryError>> + 'a>;

/// Rows, and what their columns are called.
pub struct Solutions<'a> {
    /// The columns.
    pub variables: Vec<Variable>,
    /// The rows.
    pub rows: Box<dyn Iterator<Item = Result<QuerySolution, QueryError>> + 'a>,
}

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// It was ended.
    #[error("{}", match .0 {
        Cause::Interrupted => "interrupted",
        Cause::TimedOut => "the time is up; give it more with --timeout, or ask for less",
    })]
    Ended(Cause),
    /// Evaluation failed.
    #[error(transparent)]
    Evaluation(QueryEvaluationError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StorageError),
    /// A server failed.
    #[error(transparent)]
    Server(#[from] EndpointError),
    /// A server did not give all of a graph.
    #[error("the server gave {given} triples of <{graph}>, and has {there}; a limit of its own, most likely")]
    Incomplete {
        /// The graph.
        graph: String,
        /// What came.
        given: u64,
        /// What it says there is.
        there: u64,
    },
}

impl<'a> Answer<'a> {
    /// What a server answers, until it is ended.
    pub fn of_server(answer: endpoint::Answer, cancel: &Cancel) -> Self {
        let cancel = cancel.clone();
        match answer {
            endpoint::Answer::Boolean(truth) => Self::Boolean(truth),
            endpoint::Answer::Solutions(rows) => Self::Solutions(Solutions {
                variables: rows.variables().to_vec(),
                rows: Box::new(rows.map(move |row| cancel.check().and_then(|()| Ok(row?)))),
            }),
            endpoint::Answer::Graph(triples) => {
                Self::Graph(Box::new(triples.map(move |triple| cancel.check().and_then(|()| Ok(triple?)))))
            }
        }
    }
}
