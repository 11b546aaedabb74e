//! The way back: from the graph of a session to the messages that it was made from.
//!
//! That it works for every message is the proof that the mapping `session` loses nothing: each rebuilt value equals the
//! original, numbers compared as exact decimals, strings by code units, absent members different from null ones.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use oxrdf::vocab::rdf;
use oxrdf::{NamedNodeRef, NamedOrBlankNode, Quad, Term};

use crate::json;
use crate::vocab::{jrpc, rpcg};

/// A session as its graph tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuiltSession {
    /// Its IRI.
    pub iri: String,
    /// Its records, in order.
    pub records: Vec<RebuiltRecord>,
    /// Which response answers which request, by IRI; in the order of the responses' IRIs.
    pub answers: BTreeMap<String, String>,
}

/// A record as the graph tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuiltRecord {
    /// Its IRI.
    pub iri: String,
    /// Its number, from 1.
    pub sequence: u64,
    /// What was in it.
    pub content: RebuiltContent,
}

/// What was in a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RebuiltContent {
    /// JSON text: a message, a batch, or a value that is neither.
    Json(String),
    /// Text that is not JSON.
    Text(String),
    /// Bytes that are not UTF-8.
    Bytes(Vec<u8>),
    /// Nothing: the record was too large, and a finding told where it is.
    Skipped,
}

/// Why a graph is not that of a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RebuildError {
    /// A node lacks a property that the mapping always gives it.
    #[error("{node} has no {property}")]
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

/// Rebuilds the sessions of a graph, or of several, in the order of their IRIs.
pub fn rebuild<'q>(quads: impl IntoIterator<Item = &'q Quad>) -> Result<Vec<RebuiltSession>, RebuildError> {
    let mut nodes: BTreeMap<&'q str, GraphNode<'q>> = BTreeMap::new();
    for quad in quads {
        let NamedOrBlankNode::NamedNode(subject) = &quad.subject else { continue };
        let iri = subject.as_str();
        let node = nodes.entry(iri).or_insert_with(|| GraphNode { iri, statements: Vec::new() });
        node.statements.push((quad.predicate.as_ref(), &quad.object));
    }
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
        // Elements are told with their batch, and lines between messages are not records.
        if stated.is_some() && node.iri_of(rpcg::IN_BATCH)?.is_none() && !node.is_a(rpcg::LOG_LINE) {
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

struct SessionGraph<'g, 'q> {
    nodes: &'g BTreeMap<&'q str, GraphNode<'q>>,
    /// Of each batch, by their place in it.
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
        if !node.is_a(rpcg::BATCH) {
            return Ok(RebuiltContent::Json(self.single(node)?));
        }
        let elements = self.elements.get(node.iri).into_iter().flat_map(BTreeMap::values);
        let elements = elements.map(|element| self.single(element)).collect::<Result<Vec<_>, _>>()?;
        Ok(RebuiltContent::Json(format!("[{}]", elements.join(","))))
    }

    /// JSON text of a message, or of a value that is not one.
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

    fn linked(&self, from: &GraphNode<'q>, property: NamedNodeRef<'_>) -> Result<Option<&GraphNode<'q>>, RebuildError> {
        let Some(iri) = from.iri_of(property)? else { return Ok(None) };
        self.nodes.get(iri).map(Some).ok_or_else(|| from.unexpected(property, iri))
    }
}

impl<'q> GraphNode<'q> {
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

    /// The text of a literal that is JSON already.
    fn json(&self, property: NamedNodeRef<'_>) -> Result<Option<String>, RebuildError> {
        Ok(self.literal(property)?.map(str::to_owned))
    }

    /// The JSON string of a literal.
    fn string(&self, property: NamedNodeRef<'_>) -> Result<Option<String>, RebuildError> {
        Ok(self.literal(property)?.map(|text| {
            let mut quoted = String::with_capacity(text.len() + 2);
            json::write_str(text, &mut quoted);
            quoted
        }))
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

/// JSON text of an object: the members that are there, and those of another object, which is canonical.
fn object<const N: usize>(members: [(&str, Option<String>); N], more: Option<&str>) -> String {
    let members = members.into_iter().filter_map(|(name, value)| Some(format!("\"{name}\":{}", value?)));
    let more = more.and_then(|object| object.strip_prefix('{')?.strip_suffix('}')).filter(|more| !more.is_empty());
    format!("{{{}}}", members.chain(more.map(str::to_owned)).collect::<Vec<_>>().join(","))
}
