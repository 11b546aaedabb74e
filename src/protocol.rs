//! Protocols: what a message is about, as nodes and links of its session's graph.
//!
//! ```text
//! message → Extract → (the session's definitions, open requests) → statements → the walk
//!           worker    Linker, in the order of records                           mapping
//! ```
//!
//! Workers take out of a message what its method and the shape of its payload tell; only what needs other messages is
//! linked in order. A message is never looked at again later.
//!
//! Nodes are fragments of the session that are named by the message that brings them ([`Part`](crate::triples::Part)), and
//! hang on messages. Strings of the log stay literals, so that no log can name a node.
//!
//! Memory is bounded: its linker says by what, and what is lost beyond it.

mod content;
mod definitions;
mod documents;
mod extract;
mod lsp;
mod mcp;
mod open;
mod rounds;
mod sides;

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::sync::LazyLock;

use oxrdf::NamedNodeRef;
use oxrdf::vocab::rdf;
use siphasher::sip128::{Hasher128, SipHasher13};

pub(crate) use self::extract::Extract;
pub(crate) use self::mcp::Linker;
pub(crate) use self::open::OpenRequests;
use crate::json::Numbers;
use crate::message::{ErrorMember, Payload, Single};
use crate::triples::NodeRef;
use crate::vocab::{lsp as lsp_terms, mcp as terms, prov, rpcg};

/// Whose messages are told in the terms of their protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Protocol {
    /// Details of every protocol that is recognised
    #[default]
    Auto,
    /// Details of the Model Context Protocol
    Mcp,
    /// Details of the Language Server Protocol
    Lsp,
    /// No details: only messages, as JSON-RPC defines them
    None,
}

/// What is told in the terms of protocols.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    /// Whose messages.
    pub protocol: Protocol,
    /// Whether of these only what kinds of errors need: answers that are errors, and the requests, whose protocol it is.
    pub errors_alone: bool,
    /// Whether of these only what takes requests back.
    pub cancels_alone: bool,
}

/// Something that is said of a node. Statements about a node, and those with one property, stand together.
#[derive(Debug, Clone)]
pub struct Statement<'a> {
    /// The node.
    pub(crate) subject: NodeRef<'a>,
    pub(crate) property: NamedNodeRef<'static>,
    pub(crate) said: Said<'a>,
}

/// The object of a statement.
#[derive(Debug, Clone)]
pub(crate) enum Said<'a> {
    /// The node's class: the property is `rdf:type`.
    Class(NamedNodeRef<'static>),
    Node(NodeRef<'a>),
    /// A literal without a language.
    Literal(Cow<'a, str>, NamedNodeRef<'static>),
    /// Canonical JSON, and whether it is [interoperable](crate::json::Canonical::interoperable).
    Json(Cow<'a, str>, bool),
    Count(u64),
    Boolean(bool),
}

/// The literal that is said of a node with a property.
pub(crate) fn literal_of<'s>(
    statements: &'s [Statement<'_>],
    node: NodeRef<'_>,
    property: NamedNodeRef<'_>,
) -> Option<&'s str> {
    let said = statements.iter().find(|said| said.subject == node && said.property == property)?;
    if let Said::Literal(text, _) = &said.said { Some(text) } else { None }
}

/// Says something of one node after the other.
struct Speaker<'s, 'a> {
    statements: &'s mut Vec<Statement<'a>>,
    subject: NodeRef<'a>,
}

impl<'s, 'a> Speaker<'s, 'a> {
    fn new(statements: &'s mut Vec<Statement<'a>>, subject: NodeRef<'a>) -> Self {
        Self { statements, subject }
    }

    fn say(&mut self, property: NamedNodeRef<'static>, said: Said<'a>) {
        self.statements.push(Statement { subject: self.subject, property, said });
    }

    fn class(&mut self, class: NamedNodeRef<'static>) {
        self.say(rdf::TYPE, Said::Class(class));
    }

    fn link(&mut self, property: NamedNodeRef<'static>, node: NodeRef<'a>) {
        self.say(property, Said::Node(node));
    }

    fn literal(
        &mut self,
        property: NamedNodeRef<'static>,
        text: Option<Cow<'a, str>>,
        datatype: NamedNodeRef<'static>,
    ) {
        if let Some(text) = text {
            self.say(property, Said::Literal(text, datatype));
        }
    }
}

/// The properties and classes of everything that is said here.
pub(crate) fn terms() -> impl Iterator<Item = NamedNodeRef<'static>> {
    let ours = [
        rpcg::OPERATION,
        rpcg::IN_OPERATION,
        rpcg::DEFINED_IN,
        rpcg::ADDED_IN,
        rpcg::CHANGED_IN,
        rpcg::REMOVED_IN,
        rpcg::DIGEST,
        rpcg::SIZE,
        rpcg::URI,
        rpcg::TOOL_RESULT,
        rpcg::INTRODUCES,
        rpcg::CLIENT_CAPABILITIES,
        rpcg::PROGRESS_OF,
        rpcg::CANCELS,
        rpcg::TRACE_ID,
        rpcg::PARENT_SPAN_ID,
        rpcg::CONTINUES,
        rpcg::STATUS,
        rpcg::ENDED_BY,
        rpcg::DURATION_SECONDS,
        rpcg::ASKS,
        rpcg::INPUT,
        rpcg::VALUE,
        rpcg::EXTRA_MEMBERS,
        rpcg::ERROR_KIND,
        rpcg::PROBLEM,
    ];
    terms::ALL.iter().chain(lsp_terms::ALL).copied().chain(ours).chain([prov::WAS_REVISION_OF])
}

/// The canonical text of a payload that a message does not have as such.
#[derive(Debug)]
pub(crate) struct Spelled {
    text: String,
    /// See [`Canonical`](crate::json::Canonical).
    interoperable: bool,
}

/// The canonical text of a message's params or result or its error's data, where the message does not have it.
pub(crate) fn spell(single: &Single<'_>) -> Option<Spelled> {
    let Single::Message(message) = single else { return None };
    let data = match &message.error {
        Some(ErrorMember::Object(error)) => error.data.as_ref(),
        _ => None,
    };
    let payload = message.params.as_ref().or(message.result.as_ref()).or(data)?;
    if let Payload::Canonical { .. } = payload {
        return None;
    }
    let mut text = String::new();
    // Exact numbers never fail.
    let interoperable = payload.canonical(Numbers::Exact, &mut text).ok()?.1.interoperable;
    Some(Spelled { text, interoperable })
}

/// What stands for a text of any length where memory is kept of it. Nobody can make two texts that have one.
type Key = u128;

fn key(of: impl Hash) -> Key {
    static EMPTY: LazyLock<SipHasher13> = LazyLock::new(|| {
        let secret = RandomState::new();
        SipHasher13::new_with_keys(secret.hash_one(0), secret.hash_one(1))
    });
    let mut hasher = *EMPTY;
    of.hash(&mut hasher);
    hasher.finish128().as_u128()
}

/// What is kept by keys.
type KeyMap<T> = HashMap<Key, T, BuildHasherDefault<KeyHasher>>;

/// Gives the end of a key as its hash: it is one already.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, key: &[u8]) {
        self.0 = key.first_chunk().map_or(0, |end| u64::from_ne_bytes(*end));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
