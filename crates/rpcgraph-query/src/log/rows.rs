//! Answers as rows, for every form of query.

use std::iter;

use oxrdf::{Literal, Term, Variable};

use crate::query::{Answer, QueryError};
use crate::session::triples::{NodeRef, ObjectRef};

/// The answer to a query, row by row as rows are found.
///
/// A `SELECT` gives its solutions. An `ASK` gives one row with the column `answer`, a boolean. A `CONSTRUCT` or a
/// `DESCRIBE` gives a row for each triple, with the columns `subject`, `predicate` and `object`.
pub struct Rows {
    columns: Vec<Variable>,
    rows: Box<dyn Iterator<Item = Result<Vec<Option<Term>>, QueryError>>>,
}

/// A row: a term, or nothing, for each column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    columns: Vec<Variable>,
    values: Vec<Option<Term>>,
}

impl From<Answer<'static>> for Rows {
    fn from(answer: Answer<'static>) -> Self {
        let columns = |names: &[&str]| names.iter().map(|name| Variable::new_unchecked(*name)).collect();
        match answer {
            Answer::Solutions(solutions) => Self {
                columns: solutions.variables,
                rows: Box::new(solutions.rows.map(|row| row.map(|row| row.values().to_vec()))),
            },
            Answer::Boolean(truth) => Self {
                columns: columns(&["answer"]),
                rows: Box::new(iter::once(Ok(vec![Some(Literal::from(truth).into())]))),
            },
            Answer::Graph(triples) => Self {
                columns: columns(&["subject", "predicate", "object"]),
                rows: Box::new(triples.map(|triple| {
                    triple.map(|triple| {
                        vec![Some(triple.subject.into()), Some(triple.predicate.into()), Some(triple.object)]
                    })
                })),
            },
        }
    }
}

impl Rows {
    /// The names of the columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(Variable::as_str)
    }
}

impl Iterator for Rows {
    type Item = Result<Row, QueryError>;

    fn next(&mut self) -> Option<Self::Item> {
        let values = self.rows.next()?;
        Some(values.map(|values| Row { columns: self.columns.clone(), values }))
    }
}

impl Row {
    /// Returns the term in a column; `None` if the row lacks it, or if the column does not exist.
    pub fn get(&self, column: &str) -> Option<&Term> {
        let index = self.columns.iter().position(|known| known.as_str() == column)?;
        self.values.get(index)?.as_ref()
    }

    /// Returns the term in a column as text: an IRI, the label of a blank node, or a literal without its type and
    /// language.
    pub fn text(&self, column: &str) -> Option<&str> {
        match ObjectRef::new(self.get(column)?.as_ref())? {
            ObjectRef::Text(text) | ObjectRef::Typed(text, _) | ObjectRef::Tagged(text, _) => Some(text),
            ObjectRef::Node(NodeRef::Iri(text) | NodeRef::Label(text)) => Some(text),
            ObjectRef::Node(_) | ObjectRef::Integer(_) => None,
        }
    }

    /// Returns the columns that have a term in this row, with the terms.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Term)> {
        self.columns.iter().zip(&self.values).filter_map(|(name, value)| Some((name.as_str(), value.as_ref()?)))
    }
}
