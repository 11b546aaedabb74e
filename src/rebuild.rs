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
    /// Text that is no JSON.
    Text(String),
    /// Bytes that are no UTF-8.
    Bytes(Vec<u8>),
    /// Nothing: the record was too large, and a finding told where it is.
    Skipped,
}

/// Why a graph is none of a session.
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
    /// A property's value is none that the mapping gives.
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
    let mut nodes: BTreeMap<&'q str, Node<'q>> = BTreeMap::new();
    for quad in quads {
        let NamedOrBlankNode::NamedNode(subject) = &quad.subject else { continue };
        let node = nodes.entry(subject.as_str()).or_insert_with(|| Node::new(subject.as_str()));
        node.statements.push((quad.predicate.as_ref(), &quad.object));
    }
    let mut elements: BTreeMap<&str, BTreeMap<u64, &Node<'q>>> = BTreeMap::new();
    for node in nodes.values() {
        if let Some(batch) = node.iri_of(rpcg::IN_BATCH)? {
            elements.entry(batch).or_default().insert(node.integer(rpcg::BATCH_INDEX)?, node);
        }
    }
    let graph = Graph { nodes: &nodes, elements };
    let mut sessions: BTreeMap<String, RebuiltSession> = BTreeMap::new();
    for node in graph.nodes.values() {
        if node.is_a(rpcg::SESSION) {
            sessions.entry(node.iri.to_owned()).or_insert_with(|| RebuiltSession::new(node.iri));
        }
        let Some(session) = node.iri_of(rpcg::IN_SESSION)? else { continue };
        let session = sessions.entry(session.to_owned()).or_insert_with(|| RebuiltSession::new(session));
        if let Some(request) = node.iri_of(rpcg::RESPONDS_TO)? {
            session.answers.insert(node.iri.to_owned(), request.to_owned());
        }
        // Elements are told with their batch, and lines between messages are no records.
        if node.iri_of(rpcg::IN_BATCH)?.is_none() && !node.is_a(rpcg::LOG_LINE) {
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

impl RebuiltSession {
    fn new(iri: &str) -> Self {
        Self { iri: iri.to_owned(), records: Vec::new(), answers: BTreeMap::new() }
    }
}

struct Graph<'g, 'q> {
    nodes: &'g BTreeMap<&'q str, Node<'q>>,
    /// Of each batch, by their place in it.
    elements: BTreeMap<&'q str, BTreeMap<u64, &'g Node<'q>>>,
}

struct Node<'q> {
    iri: &'q str,
    statements: Vec<(NamedNodeRef<'q>, &'q Term)>,
}

impl<'q> Graph<'_, 'q> {
    fn content(&self, node: &Node<'q>) -> Result<RebuiltContent, RebuildError> {
        if node.is_a(rpcg::MALFORMED_RECORD) {
            if let Some(bytes) = node.literal(rpcg::BYTES)? {
                let bytes = BASE64.decode(bytes).map_err(|_| node.unexpected(rpcg::BYTES, bytes))?;
                return Ok(RebuiltContent::Bytes(bytes));
            }
            return Ok(match node.literal(rpcg::TEXT)? {
                Some(text) => RebuiltContent::Text(text.to_owned()),
                None => RebuiltContent::Skipped,
            });
        }
        if !node.is_a(rpcg::BATCH) {
            return Ok(RebuiltContent::Json(self.single(node)?));
        }
        let elements = self.elements.get(node.iri).into_iter().flat_map(BTreeMap::values);
        let elements = elements.map(|element| self.single(element)).collect::<Result<Vec<_>, _>>()?;
        Ok(RebuiltContent::Json(format!("[{}]", elements.join(","))))
    }

    /// JSON text of a message, or of what is none.
    fn single(&self, node: &Node<'q>) -> Result<String, RebuildError> {
        if let Some(text) = node.literal(rpcg::TEXT)? {
            return Ok(text.to_owned());
        }
        if node.is_a(rpcg::INVALID_MESSAGE) {
            return node.required(rpcg::VALUE).map(str::to_owned);
        }
        let mut object = ObjectText::default();
        object.string("jsonrpc", node.literal(jrpc::VERSION)?);
        if let Some(id) = node.iri_of(jrpc::HAS_ID)? {
            object.member("id", &self.id(self.node(id, node, jrpc::HAS_ID)?)?);
        }
        object.string("method", node.literal(jrpc::HAS_METHOD)?);
        object.json("params", node.literal(jrpc::HAS_PARAMETERS)?);
        object.json("result", node.literal(jrpc::HAS_RESULT)?);
        if let Some(error) = node.iri_of(jrpc::HAS_ERROR)? {
            object.member("error", &Self::error(self.node(error, node, jrpc::HAS_ERROR)?)?);
        }
        object.members_of(node.literal(rpcg::EXTRA_MEMBERS)?);
        Ok(object.end())
    }

    fn id(&self, node: &Node<'q>) -> Result<String, RebuildError> {
        if node.is_a(jrpc::NULL_ID) {
            return Ok("null".to_owned());
        }
        match node.literal(jrpc::HAS_STRING_VALUE)? {
            Some(text) => Ok(quoted(text)),
            None => node.required(jrpc::HAS_NUMBER_VALUE).map(str::to_owned),
        }
    }

    fn error(node: &Node<'q>) -> Result<String, RebuildError> {
        if let Some(value) = node.literal(rpcg::VALUE)? {
            return Ok(value.to_owned());
        }
        let mut object = ObjectText::default();
        object.json("code", node.literal(jrpc::HAS_ERROR_CODE)?);
        object.string("message", node.literal(jrpc::HAS_ERROR_MESSAGE)?);
        object.json("data", node.literal(jrpc::HAS_ERROR_DATA)?);
        object.members_of(node.literal(rpcg::EXTRA_MEMBERS)?);
        Ok(object.end())
    }

    fn node(&self, iri: &str, from: &Node<'q>, property: NamedNodeRef<'_>) -> Result<&Node<'q>, RebuildError> {
        self.nodes.get(iri).ok_or_else(|| from.unexpected(property, iri))
    }
}

impl<'q> Node<'q> {
    fn new(iri: &'q str) -> Self {
        Self { iri, statements: Vec::new() }
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

/// JSON text of an object, a member at a time.
#[derive(Default)]
struct ObjectText {
    text: String,
}

impl ObjectText {
    fn string(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.member(name, &quoted(value));
        }
    }

    fn json(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.member(name, value);
        }
    }

    fn member(&mut self, name: &str, value: &str) {
        self.separate();
        json::write_str(name, &mut self.text);
        self.text.push(':');
        self.text.push_str(value);
    }

    /// The members of another object, given as its text in canonical form.
    fn members_of(&mut self, object: Option<&str>) {
        let members = object.and_then(|object| object.strip_prefix('{')?.strip_suffix('}'));
        if let Some(members) = members.filter(|members| !members.is_empty()) {
            self.separate();
            self.text.push_str(members);
        }
    }

    fn separate(&mut self) {
        if !self.text.is_empty() {
            self.text.push(',');
        }
    }

    fn end(self) -> String {
        format!("{{{}}}", self.text)
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    json::write_str(text, &mut quoted);
    quoted
}
