//! What a worker renders records into: rows of each table.

use oxsdatatypes::{DateTime, Decimal};

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
    fn start_record(&mut self, _: Option<&str>) {}

    fn end_record(&mut self) {}

    fn count(&self) -> u64 {
        0
    }

    fn clear(&mut self) {
        self.messages.clear();
        self.sessions.clear();
        self.problems.clear();
        self.exchanges.clear();
    }
}

/// Microseconds since 1970, of a time with a zone.
pub(crate) fn micros(time: DateTime) -> Option<i64> {
    time.timezone_offset()?;
    let epoch: DateTime = "1970-01-01T00:00:00Z".parse().ok()?;
    i64::try_from(scaled(time.checked_sub(epoch)?.as_seconds(), 6)).ok()
}

/// A decimal in units of that many places after the point; what is smaller is cut off.
pub(crate) fn scaled(number: Decimal, places: u32) -> i128 {
    // Oxigraph's decimals count by 18 places.
    i128::from_be_bytes(number.to_be_bytes()).div_euclid(10_i128.pow(18 - places))
}
