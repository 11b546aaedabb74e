//! Rebuilds the messages of a session from its graph.
//!
//! That this works for every message proves that the mapping `session` loses nothing: each rebuilt value equals the
//! original, with numbers compared as exact decimals, strings by code units, and absent members different from null
//! members.

#[cfg(feature = "parquet")]
mod cells;
#[cfg(feature = "parquet")]
mod logs;
#[cfg(feature = "parquet")]
mod tables;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use oxrdf::vocab::rdf;
use oxrdf::{NamedNodeRef, NamedOrBlankNode, Quad, Term};
use percent_encoding::percent_decode_str;

#[cfg(feature = "parquet")]
pub use self::cells::{TableError, error_of_panic};
#[cfg(feature = "parquet")]
pub use self::logs::TableLogs;
#[cfg(feature = "parquet")]
pub use self::tables::{TableRecord, TableRecords};
use crate::json::quoted;
use crate::log::{LoggedEntry, LoggedMessage};
use crate::message::{Content, Problem, Single};
use crate::record::{Http, HttpExchange, Location, Sender};
use crate::session::Name;
use crate::vocab::{jrpc, rpcg};

/// A session, rebuilt from its graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuiltSession {
    /// Its IRI.
    pub iri: String,
    /// Its records, in order.
    pub records: Vec<RebuiltRecord>,
    /// The request that each response answers: response → request, by IRI.
    pub answers: BTreeMap<String, String>,
}

/// A record, rebuilt from the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuiltRecord {
    /// Its IRI.
    pub iri: String,
    /// Its number, from 1.
    pub sequence: u64,
    /// The content.
    pub content: RebuiltContent,
}

/// The content of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RebuiltContent {
    /// JSON text: a message, a batch, or a value that is neither.
    Json(String),
    /// Text that is not JSON.
    Text(String),
    /// Bytes that are not UTF-8.
    Bytes(Vec<u8>),
    /// The record was too large to be kept; a finding gave its place.
    Skipped,
}

/// A deviation of a graph from the mapping `session`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RebuildError {
    /// A node lacks a property that the mapping always gives it.
    #[error("{node} lacks {property}")]
    Missing {
        /// The node.
        node: String,
        /// The property.
        property: String,
    },
    /// A property has a value that the mapping never gives.
    #[error("{property} of {node} is {value}, which is not what the mapping writes")]
    Unexpected {
        /// The node.
        node: String,
        /// The property.
        property: String,
        /// Its value.
        value: String,
    },
}

/// Rebuilds the sessions of one or more graphs, in the order of their IRIs.
pub fn rebuild<'q>(quads: impl IntoIterator<Item = &'q Quad>) -> Result<Vec<RebuiltSession>, RebuildError> {
    let nodes = nodes(quads);
    let mut elements: BTreeMap<&str, BTreeMap<u64, &GraphNode<'q>>> = BTreeMap::new();
    for node in nodes.values() {
        if let Some(batch) = node.iri_of(rpcg::IN_BATCH)? {
            elements.entry(batch).or_default().insert(node.integer(rpcg::BATCH_INDEX)?, node);
        }
    }
    let graph = SessionGraph { nodes: &nodes, elements };
    let mut sessions: BTreeMap<&str, RebuiltSession> = BTreeMap::new();
    for node in graph.nodes.values() {
        let stated = node.iri_of(rpcg::IN_SESSION)?;
        let Some(iri) = stated.or(node.is_a(rpcg::SESSION).then_some(node.iri)) else { continue };
        let session = sessions.entry(iri).or_insert_with(|| RebuiltSession {
            iri: iri.to_owned(),
            records: Vec::new(),
            answers: BTreeMap::new(),
        });
        if let Some(request) = node.iri_of(rpcg::RESPONDS_TO)? {
            session.answers.insert(node.iri.to_owned(), request.to_owned());
        }
        // Elements are rebuilt with their batch; lines between messages and HTTP exchanges are not rebuilt.
        let is_apart = node.is_a(rpcg::LOG_LINE) || node.is_a(rpcg::HTTP_EXCHANGE);
        if stated.is_some() && node.iri_of(rpcg::IN_BATCH)?.is_none() && !is_apart {
            let sequence = node.integer(rpcg::SEQUENCE)?;
            session.records.push(RebuiltRecord { iri: node.iri.to_owned(), sequence, content: graph.content(node)? });
        }
    }
    let mut sessions: Vec<_> = sessions.into_values().collect();
    for session in &mut sessions {
        session.records.sort_by_key(|record| record.sequence);
    }
    Ok(sessions)
}

/// Returns the entries of each log in a graph, by the IRI of the log: messages, values in place of messages, and lines
/// of text, in the order of the log. A message is as [`Log::messages`](crate::Log::messages) returns it, as far as the
/// graph states it: its text has the members in the order of the specification, and only a graph with provenance gives
/// its place. Otherwise its line is 0.
pub fn messages<'q>(
    quads: impl IntoIterator<Item = &'q Quad>,
) -> Result<BTreeMap<&'q str, Vec<LoggedEntry>>, RebuildError> {
    let nodes = nodes(quads);
    let graph = SessionGraph { nodes: &nodes, elements: BTreeMap::new() };
    let mut logs: BTreeMap<&str, BTreeMap<_, LoggedEntry>> = BTreeMap::new();
    for (iri, node) in &nodes {
        let Some((log, _)) = iri.rsplit_once('#').filter(|_| !node.is_a(rpcg::BATCH)) else { continue };
        let Some(session) = node.iri_of(rpcg::IN_SESSION)? else { continue };
        let (place, entry) = if node.is_a(rpcg::LOG_LINE) {
            let before = node.iri_of(rpcg::AFTER)?.and_then(|record| nodes.get(record));
            let record = before.map_or(Ok(0), |record| record.integer(rpcg::SEQUENCE))?;
            let location = Location { record, line: node.integer(rpcg::LINE)?, byte: 0 };
            let text = node.literal(rpcg::TEXT)?.unwrap_or_default().to_owned();
            ((record, Some(u32::MAX), location.line, *iri), LoggedEntry::LogLine(location, text))
        } else {
            let message = graph.message(node, session)?;
            let Name { record, element } = message.name;
            ((record, element, 0, *iri), LoggedEntry::Message(message.into()))
        };
        logs.entry(log).or_default().insert(place, entry);
    }
    Ok(logs.into_iter().map(|(log, entries)| (log, entries.into_values().collect())).collect())
}

/// Returns the nodes that a graph describes, by IRI.
fn nodes<'q>(quads: impl IntoIterator<Item = &'q Quad>) -> BTreeMap<&'q str, GraphNode<'q>> {
    let mut nodes: BTreeMap<&'q str, GraphNode<'q>> = BTreeMap::new();
    for quad in quads {
        let NamedOrBlankNode::NamedNode(subject) = &quad.subject else { continue };
        let iri = subject.as_str();
        let node = nodes.entry(iri).or_insert_with(|| GraphNode { iri, statements: Vec::new() });
        node.statements.push((quad.predicate.as_ref(), &quad.object));
    }
    nodes
}

struct SessionGraph<'g, 'q> {
    nodes: &'g BTreeMap<&'q str, GraphNode<'q>>,
    /// The elements of each batch, by their index.
    elements: BTreeMap<&'q str, BTreeMap<u64, &'g GraphNode<'q>>>,
}

struct GraphNode<'q> {
    iri: &'q str,
    statements: Vec<(NamedNodeRef<'q>, &'q Term)>,
}

impl<'q> SessionGraph<'_, 'q> {
    fn content(&self, node: &GraphNode<'q>) -> Result<RebuiltContent, RebuildError> {
        if node.is_a(rpcg::MALFORMED_RECORD) {
            if let Some(bytes) = node.literal(rpcg::BYTES)? {
                let bytes = BASE64.decode(bytes).map_err(|_| node.unexpected(rpcg::BYTES, bytes))?;
                return Ok(RebuiltContent::Bytes(bytes));
            }
            let text = node.literal(rpcg::TEXT)?;
            return Ok(text.map_or(RebuiltContent::Skipped, |text| RebuiltContent::Text(text.to_owned())));
        }
        if node.is_a(rpcg::HTTP_EXCHANGE) {
            let text = |property| node.literal(property).map(|text| text.unwrap_or_default().to_owned());
            let exchange =
                HttpExchange { method: text(rpcg::HTTP_METHOD)?, url: text(rpcg::URI)?, reason: text(rpcg::REASON)? };
            let status = node.literal(rpcg::HTTP_STATUS)?.and_then(|status| status.parse().ok());
            return Ok(RebuiltContent::Text(Http { status, exchange: Some(exchange), ..Http::default() }.text()));
        }
        if !node.is_a(rpcg::BATCH) {
            return Ok(RebuiltContent::Json(self.single(node)?));
        }
        let elements = self.elements.get(node.iri).into_iter().flat_map(BTreeMap::values);
        let elements = elements.map(|element| self.single(element)).collect::<Result<Vec<_>, _>>()?;
        Ok(RebuiltContent::Json(format!("[{}]", elements.join(","))))
    }

    /// Returns the JSON text of a message, or of a value that is not one.
    fn single(&self, node: &GraphNode<'q>) -> Result<String, RebuildError> {
        if let Some(text) = node.literal(rpcg::TEXT)? {
            return Ok(text.to_owned());
        }
        if node.is_a(rpcg::INVALID_MESSAGE) {
            return node.required(rpcg::VALUE).map(str::to_owned);
        }
        let members = [
            ("jsonrpc", node.string(jrpc::VERSION)?),
            ("id", self.linked(node, jrpc::HAS_ID)?.map(GraphNode::id).transpose()?),
            ("method", node.string(jrpc::HAS_METHOD)?),
            ("params", node.json(jrpc::HAS_PARAMETERS)?),
            ("result", node.json(jrpc::HAS_RESULT)?),
            ("error", self.linked(node, jrpc::HAS_ERROR)?.map(GraphNode::error).transpose()?),
        ];
        Ok(object(members, node.literal(rpcg::EXTRA_MEMBERS)?))
    }

    /// Returns a message, with what its session knows about it.
    fn message(&self, node: &GraphNode<'q>, session: &str) -> Result<LoggedMessage, RebuildError> {
        let name = node.name()?;
        let place = |property| node.literal(property).map(|digits| digits.and_then(|digits| digits.parse().ok()));
        let (line, byte) = (place(rpcg::LINE)?.unwrap_or_default(), place(rpcg::BYTE_OFFSET)?.unwrap_or_default());
        let text = match self.content(node)? {
            RebuiltContent::Json(text) | RebuiltContent::Text(text) => text,
            RebuiltContent::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            RebuiltContent::Skipped => String::new(),
        };
        let location = Location { record: name.record, line, byte };
        let mut message = LoggedMessage { name, location, ..LoggedMessage::default() };
        if let Content::Single(Single::Message(parsed)) = Content::parse_without_result(text.as_bytes())
            && !node.is_a(rpcg::INVALID_MESSAGE)
        {
            message = message.with_members(&parsed);
        }
        let key = session.rsplit_once("#session-").map(|(_, key)| percent_decode_str(key).decode_utf8_lossy());
        message.session = key.map(Cow::into_owned);
        message.time = node.literal(rpcg::CAPTURED_AT)?.or(node.literal(rpcg::CLOCK_TIME)?).map(str::to_owned);
        let role = node.iri_of(rpcg::SENT_BY)?;
        message.sender = role.map(|role| if role == rpcg::CLIENT.as_str() { Sender::Client } else { Sender::Server });
        let request = node.iri_of(rpcg::RESPONDS_TO)?.and_then(|request| self.nodes.get(request));
        message.responds_to = request.map(GraphNode::name).transpose()?;
        let seconds = node.literal(rpcg::LATENCY_SECONDS)?.and_then(|seconds| seconds.parse().ok());
        message.latency = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        for problem in Problem::ALL {
            let is_said = |term: &Term| matches!(term, Term::NamedNode(said) if said.as_ref() == problem.iri());
            message.problems.insert_if(node.values(rpcg::PROBLEM).any(is_said), *problem);
        }
        Ok(LoggedMessage { text, ..message })
    }

    fn linked(&self, from: &GraphNode<'q>, property: NamedNodeRef<'_>) -> Result<Option<&GraphNode<'q>>, RebuildError> {
        let Some(iri) = from.iri_of(property)? else { return Ok(None) };
        self.nodes.get(iri).map(Some).ok_or_else(|| from.unexpected(property, iri))
    }
}

impl<'q> GraphNode<'q> {
    fn name(&self) -> Result<Name, RebuildError> {
        let index = self.literal(rpcg::BATCH_INDEX)?;
        let element = index.map(|index| index.parse().map_err(|_| self.unexpected(rpcg::BATCH_INDEX, index)));
        Ok(Name { record: self.integer(rpcg::SEQUENCE)?, element: element.transpose()? })
    }

    fn id(&self) -> Result<String, RebuildError> {
        if self.is_a(jrpc::NULL_ID) {
            return Ok("null".to_owned());
        }
        match self.string(jrpc::HAS_STRING_VALUE)? {
            Some(text) => Ok(text),
            None => self.required(jrpc::HAS_NUMBER_VALUE).map(str::to_owned),
        }
    }

    fn error(&self) -> Result<String, RebuildError> {
        if let Some(value) = self.json(rpcg::VALUE)? {
            return Ok(value);
        }
        let members = [
            ("code", self.json(jrpc::HAS_ERROR_CODE)?),
            ("message", self.string(jrpc::HAS_ERROR_MESSAGE)?),
            ("data", self.json(jrpc::HAS_ERROR_DATA)?),
        ];
        Ok(object(members, self.literal(rpcg::EXTRA_MEMBERS)?))
    }

    fn is_a(&self, class: NamedNodeRef<'_>) -> bool {
        self.values(rdf::TYPE).any(|term| matches!(term, Term::NamedNode(named) if named.as_ref() == class))
    }

    fn values(&self, property: NamedNodeRef<'_>) -> impl Iterator<Item = &'q Term> {
        self.statements.iter().filter(move |(predicate, _)| *predicate == property).map(|(_, object)| *object)
    }

    fn iri_of(&self, property: NamedNodeRef<'_>) -> Result<Option<&'q str>, RebuildError> {
        match self.values(property).next() {
            None => Ok(None),
            Some(Term::NamedNode(named)) => Ok(Some(named.as_str())),
            Some(other) => Err(self.unexpected(property, &other.to_string())),
        }
    }

    fn literal(&self, property: NamedNodeRef<'_>) -> Result<Option<&'q str>, RebuildError> {
        match self.values(property).next() {
            None => Ok(None),
            Some(Term::Literal(literal)) => Ok(Some(literal.value())),
            Some(other) => Err(self.unexpected(property, &other.to_string())),
        }
    }

    /// Returns a literal that is JSON text.
    fn json(&self, property: NamedNodeRef<'_>) -> Result<Option<String>, RebuildError> {
        Ok(self.literal(property)?.map(str::to_owned))
    }

    /// Returns a literal as a JSON string.
    fn string(&self, property: NamedNodeRef<'_>) -> Result<Option<String>, RebuildError> {
        Ok(self.literal(property)?.map(quoted))
    }

    fn required(&self, property: NamedNodeRef<'_>) -> Result<&'q str, RebuildError> {
        self.literal(property)?
            .ok_or_else(|| RebuildError::Missing { node: self.iri.to_owned(), property: property.to_string() })
    }

    fn integer(&self, property: NamedNodeRef<'_>) -> Result<u64, RebuildError> {
        let text = self.required(property)?;
        text.parse().map_err(|_| self.unexpected(property, text))
    }

    fn unexpected(&self, property: NamedNodeRef<'_>, value: &str) -> RebuildError {
        RebuildError::Unexpected { node: self.iri.to_owned(), property: property.to_string(), value: value.to_owned() }
    }
}

/// Returns the JSON text of an object: the members that are present, and the members of `more`, which is canonical.
fn object<const N: usize>(members: [(&str, Option<String>); N], more: Option<&str>) -> String {
    let members = members.into_iter().filter_map(|(name, value)| Some(format!("\"{name}\":{}", value?)));
    let more = more.and_then(|object| object.strip_prefix('{')?.strip_suffix('}')).filter(|more| !more.is_empty());
    format!("{{{}}}", members.chain(more.map(str::to_owned)).collect::<Vec<_>>().join(","))
}
