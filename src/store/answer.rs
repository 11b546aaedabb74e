//! The answer to a SPARQL query, whoever gives it: rows, yes or no, or a graph.

use oxrdf::{Triple, Variable};
use sparesults::QuerySolution;

/// The kinds of answer that queries have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `SELECT`: rows.
    Select,
    /// `ASK`: yes or no.
    Ask,
    /// `CONSTRUCT` and `DESCRIBE`: a graph.
    Graph,
}

impl Form {
    /// The kind of answer that a query has.
    pub(crate) fn of(query: &spargebra::Query) -> Self {
        match query {
            spargebra::Query::Select { .. } => Self::Select,
            spargebra::Query::Ask { .. } => Self::Ask,
            spargebra::Query::Construct { .. } | spargebra::Query::Describe { .. } => Self::Graph,
        }
    }
}

/// The answer to a query. Rows and triples come as they are found; `E` is how that can fail.
pub enum Answer<'a, E> {
    /// Rows of a `SELECT`.
    Solutions(Solutions<'a, E>),
    /// Of an `ASK`.
    Boolean(bool),
    /// Of a `CONSTRUCT` or a `DESCRIBE`.
    Graph(Triples<'a, E>),
}

/// Triples of a graph.
pub type Triples<'a, E> = Box<dyn Iterator<Item = Result<Triple, E>> + 'a>;

/// Rows, and the names of their columns.
pub struct Solutions<'a, E> {
    /// The columns.
    pub variables: Vec<Variable>,
    /// The rows.
    pub rows: Box<dyn Iterator<Item = Result<QuerySolution, E>> + 'a>,
}
