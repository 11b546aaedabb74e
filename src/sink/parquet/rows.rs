//! Rows of each table, rendered by a worker.

use super::schema::{messages, problems, sessions};
use super::table::TableRows;
use crate::session::Name;
use crate::sink::rendered::Rendered;

/// The part that a row plays in an exchange.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ExchangeRole {
    /// A request, to which an answer may refer.
    Asks(Name),
    /// An answer, with the name of its request.
    Answers(Name),
    /// Neither a request nor an answer.
    Apart,
}

/// Records as rows of the tables.
pub(crate) struct RecordRows {
    /// The IRI of the input, and its name.
    pub iri: String,
    pub source: String,
    pub messages: TableRows,
    pub sessions: TableRows,
    pub problems: TableRows,
    /// The exchange of each row of messages.
    pub exchanges: Vec<ExchangeRole>,
}

impl RecordRows {
    pub(super) fn new(iri: &str, source: &str) -> Self {
        Self {
            iri: iri.to_owned(),
            source: source.to_owned(),
            messages: TableRows::new(&messages::TABLE),
            sessions: TableRows::new(&sessions::TABLE),
            problems: TableRows::new(&problems::TABLE),
            exchanges: Vec::new(),
        }
    }

    pub(super) fn tables(&self) -> [&TableRows; 3] {
        [&self.messages, &self.sessions, &self.problems]
    }
}

impl Rendered for RecordRows {
    fn clear(&mut self) {
        self.messages.clear();
        self.sessions.clear();
        self.problems.clear();
        self.exchanges.clear();
    }
}
