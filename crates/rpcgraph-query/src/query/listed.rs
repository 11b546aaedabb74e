//! Questions that list messages, answered from the rows of the walk while the log is read, without an evaluator: in memory
//! that does not depend on the log. Their queries have the same rows, and are evaluated where a question has conditions.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use oxigraph::sparql::QuerySolution;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, NamedNodeRef, Term, Variable};

use super::Query;
use super::cancel::Cancel;
use super::catalogue::NamedQuery;
use crate::sink::Sink;
use crate::sink::rows::cells::TableRows;
use crate::sink::rows::schema::messages;

/// The number of rows of `biggest`.
const BIGGEST: usize = 20;

/// A question that lists messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// `timeline`: all messages.
    All,
    /// `biggest`: the messages with the longest payloads.
    Biggest,
}

impl Listing {
    /// Returns the listing that a built-in query describes.
    pub fn from_query(query: &NamedQuery<'_>) -> Option<Self> {
        let listing = match query.name {
            "timeline" => Self::All,
            "biggest" => Self::Biggest,
            _ => return None,
        };
        NamedQuery::find(query.name).is_ok_and(|known| known == query).then_some(listing)
    }
}

/// The rows of a listing, passed on as the log is read.
pub struct Listed<'q, R> {
    listing: Listing,
    query: &'q Query,
    variables: Arc<[Variable]>,
    /// The biggest messages so far, by size and IRI, and their maximum number.
    biggest: BTreeMap<(Reverse<usize>, String), QuerySolution>,
    limit: usize,
    cancel: &'q Cancel,
    pass: R,
}

impl<'q, R: FnMut(Vec<QuerySolution>) -> io::Result<()> + Send> Listed<'q, R> {
    /// Creates a listing with the columns of its query. `pass` is called for each part of the log, with the rows of that part.
    pub fn new(listing: Listing, query: &'q Query, limit: Option<usize>, cancel: &'q Cancel, pass: R) -> Self {
        let variables = query.columns().into();
        Self { listing, query, variables, biggest: BTreeMap::new(), limit: limit.unwrap_or(BIGGEST), cancel, pass }
    }

    /// Returns the sink for a converter.
    pub fn sink(&mut self) -> Sink<'_> {
        let needs = self.query.needs().clone();
        Sink::messages(needs, |rows| {
            self.cancel.check().map_err(io::Error::other)?;
            let messages = (0..rows.count()).map(|row| MessageRow { rows, row });
            match self.listing {
                Listing::All => (self.pass)(messages.map(|row| row.solution(&self.variables, None)).collect()),
                Listing::Biggest => {
                    messages.for_each(|row| self.weigh(&row));
                    Ok(())
                }
            }
        })
    }

    /// Passes on the rows that wait for the end of the logs.
    pub fn finish(mut self) -> io::Result<()> {
        match self.listing {
            Listing::All => Ok(()),
            Listing::Biggest => (self.pass)(self.biggest.into_values().collect()),
        }
    }

    /// Keeps a message if it is one of the biggest so far.
    fn weigh(&mut self, row: &MessageRow<'_>) {
        let Some(payload) = row.payload() else { return };
        let smallest = self.biggest.keys().next_back().map_or(0, |(Reverse(size), _)| *size);
        if self.biggest.len() < self.limit || payload.len() >= smallest {
            let size = payload.chars().count();
            let key = (Reverse(size), row.text(messages::MESSAGE_IRI).unwrap_or_default().to_owned());
            self.biggest.insert(key, row.solution(&self.variables, Some(size)));
        }
        if self.biggest.len() > self.limit {
            self.biggest.pop_last();
        }
    }
}

/// A row of the table of messages.
struct MessageRow<'r> {
    rows: &'r TableRows,
    row: usize,
}

impl<'r> MessageRow<'r> {
    fn text(&self, column: usize) -> Option<&'r str> {
        self.rows.get(column, self.row)
    }

    fn first(&self, columns: &[usize]) -> Option<&'r str> {
        columns.iter().find_map(|column| self.text(*column))
    }

    fn kind(&self) -> &'r str {
        self.text(messages::KIND).unwrap_or_default()
    }

    /// The params, result or error data, or the JSON in the place of a message.
    fn payload(&self) -> Option<&'r str> {
        let value = self.text(messages::VALUE).filter(|_| self.kind() == "InvalidMessage");
        self.first(&[messages::PARAMS, messages::RESULT, messages::ERROR_DATA]).or(value)
    }

    /// The params or result of a message, or the content of a record that is not a message.
    fn content(&self) -> Option<Cow<'r, str>> {
        let value = self.text(messages::VALUE).filter(|_| self.kind() != "ErrorResponse");
        let text = self.first(&[messages::PARAMS, messages::RESULT]).or(value).or(self.text(messages::TEXT));
        let bytes = || self.rows.bytes(messages::RAW, self.row).map(|bytes| BASE64.encode(bytes).into());
        text.map(Cow::Borrowed).or_else(bytes)
    }

    fn solution(&self, variables: &Arc<[Variable]>, size: Option<usize>) -> QuerySolution {
        let values = variables.iter().map(|variable| self.value(variable.as_str(), size)).collect::<Vec<_>>();
        QuerySolution::from((Arc::clone(variables), values))
    }

    /// Returns the value of a column of the question.
    fn value(&self, column: &str, size: Option<usize>) -> Option<Term> {
        let iri = |column| Some(NamedNode::new_unchecked(self.text(column)?).into());
        let plain = |text: &str| Literal::new_simple_literal(text).into();
        let typed =
            |column, datatype: NamedNodeRef<'_>| Some(Literal::new_typed_literal(self.text(column)?, datatype).into());
        match column {
            "message" => iri(messages::MESSAGE_IRI),
            "session" => iri(messages::SESSION_IRI),
            "request" => iri(messages::RESPONDS_TO),
            "size" => Some(Literal::from(u64::try_from(size?).ok()?).into()),
            "time" => typed(messages::TIME_TEXT, xsd::DATE_TIME).or_else(|| typed(messages::CLOCK, xsd::TIME)),
            "seconds" => typed(messages::LATENCY_TEXT, xsd::DECIMAL),
            // The row of an exchange has the id of what it answers.
            "id" if self.kind() == "HttpExchange" => None,
            "id" => self.text(messages::ID_STRING).map(plain).or_else(|| typed(messages::ID_NUMBER, xsd::DECIMAL)),
            "kind" => Some(plain(self.kind())),
            "sender" => self.text(messages::SENDER).map(plain),
            "method" => self.first(&[messages::METHOD, messages::REQUEST_METHOD]).map(plain),
            "tool" => self.first(&[messages::TOOL, messages::REQUEST_TOOL]).map(plain),
            "about" => self.first(&[messages::TOOL, messages::REQUEST_TOOL, messages::TARGET_URI]).map(plain),
            "error" => {
                let value = self.text(messages::VALUE).filter(|_| self.kind() == "ErrorResponse");
                self.text(messages::ERROR_MESSAGE).or(value).map(plain)
            }
            "content" => self.content().map(|text| plain(&text)),
            _ => None,
        }
    }
}
