//! The answer to a SPARQL query, from any evaluator: rows, a boolean, or a graph.

use oxrdf::{Triple, Variable};
use sparesults::QuerySolution;

/// The forms of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `SELECT`: rows.
    Select,
    /// `ASK`: a boolean.
    Ask,
    /// `CONSTRUCT` and `DESCRIBE`: a graph.
    Graph,
}

impl Form {
    /// Returns the form of a query's answer.
    pub(crate) fn from_query(query: &spargebra::Query) -> Self {
        match query {
            spargebra::Query::Select { .. } => Self::Select,
            spargebra::Query::Ask { .. } => Self::Ask,
            spargebra::Query::Construct { .. } | spargebra::Query::Describe { .. } => Self::Graph,
        }
    }
}

/// The answer to a query. Rows and triples arrive as they are found; `E` is the error for each.
pub enum FallibleAnswer<'a, E> {
    /// Rows of a `SELECT`.
    Solutions(FallibleSolutions<'a, E>),
    /// The boolean of an `ASK`.
    Boolean(bool),
    /// The graph of a `CONSTRUCT` or a `DESCRIBE`.
    Graph(FallibleTriples<'a, E>),
}

/// The triples of a graph.
pub type FallibleTriples<'a, E> = Box<dyn Iterator<Item = Result<Triple, E>> + 'a>;

/// Rows, and the names of their columns.
pub struct FallibleSolutions<'a, E> {
    /// The columns.
    pub variables: Vec<Variable>,
    /// The rows.
    pub rows: Box<dyn Iterator<Item = Result<QuerySolution, E>> + 'a>,
}
