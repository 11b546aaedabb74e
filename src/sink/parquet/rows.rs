//! What a worker renders records into: rows of each table.

use super::schema::{messages, problems, sessions};
use super::table::TableRows;
use crate::session::Name;
use crate::sink::rendered::Rendered;

/// What a row is in an exchange.
#[derive(Debug, Clone, Copy)]
pub(crate) enum InExchange {
    /// A request, which an answer may name.
    Asks(Name),
    /// An answer, and its request.
    Answers(Name),
    /// Neither.
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
    /// Of each row of messages.
    pub exchanges: Vec<InExchange>,
    /// Holds one value at a time.
    pub buffer: String,
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
            buffer: String::new(),
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
