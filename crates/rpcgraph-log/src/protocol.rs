//! Protocols: nodes and links for the meaning of a message in its protocol, in the graph of its session.
//!
//! ```text
//! message → Extract → (the session's definitions, open requests) → statements → the walk
//!           worker    Linker, in the order of records                           mapping
//! ```
//!
//! Workers extract what the method and the payload of a single message state. The linker, in the order of records, adds
//! only the links that need other messages. A message is not read again later.
//!
//! Nodes are fragments of the session, named by the message that introduces them
//! ([`ProtocolPart`](crate::session::triples::ProtocolPart)), and hang on messages. Strings of the log stay literals, so
//! that no log can name a node.
//!
//! Memory is bounded: `Linker` documents its limits, and what is lost beyond them.

pub mod content;
mod definitions;
mod documents;
mod extract;
mod forwarding;
mod lsp;
pub mod makers;
mod mcp;
mod open;
mod rounds;
mod sides;

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash};
use std::sync::LazyLock;

use ahash::AHasher;
use oxrdf::NamedNodeRef;
use oxrdf::vocab::rdf;

pub use self::extract::Extract;
use self::makers::is_stated;
pub use self::makers::{Maker, Makers};
pub use self::mcp::Linker;
pub use self::open::OpenRequests;
use crate::json::KeyedDigests;
use crate::message::PayloadView;
use crate::session::triples::NodeRef;

/// The protocols whose nodes and links are added to messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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

/// The details to extract from messages.
#[derive(Debug, Clone, Copy)]
pub struct Extraction {
    /// The protocol, or all, or none.
    pub protocol: Protocol,
    /// The makers of the wanted triples.
    pub makers: Makers,
    /// False if no triple is wanted that depends on a payload.
    pub payloads: bool,
    /// False if no triple is wanted that depends on other messages of the session, or on the side that sent a message.
    pub exchanges: bool,
}

/// A statement about a node. Statements about one node are adjacent, and among them statements with one property.
#[derive(Debug, Clone)]
pub struct Statement<'a> {
    /// The subject. The session is without its reference, which the protocol does not know.
    pub subject: NodeRef<'a>,
    /// The property.
    pub property: NamedNodeRef<'static>,
    /// The object.
    pub object: StatementObject<'a>,
}

/// The object of a statement.
#[derive(Debug, Clone)]
pub enum StatementObject<'a> {
    /// The class of the node: the property is `rdf:type`.
    Class(NamedNodeRef<'static>),
    /// A node.
    Node(NodeRef<'a>),
    /// A literal without a language.
    Literal(Cow<'a, str>, NamedNodeRef<'static>),
    /// Canonical JSON, and whether it is [interoperable](crate::json::Canonical::interoperable).
    Json(Cow<'a, str>, bool),
    /// A number, `xsd:integer`.
    Count(u64),
    /// An `xsd:boolean`.
    Boolean(bool),
}

/// Returns the literal that is the node's value of a property.
pub fn literal_of<'s>(
    statements: &'s [Statement<'_>],
    node: NodeRef<'_>,
    property: NamedNodeRef<'_>,
) -> Option<&'s str> {
    let statement = statements.iter().find(|one| one.subject == node && one.property == property)?;
    if let StatementObject::Literal(text, _) = &statement.object { Some(text) } else { None }
}

/// Appends the statements of a maker about one node after the other.
struct StatementWriter<'s, 'a> {
    statements: &'s mut Vec<Statement<'a>>,
    maker: Maker,
    subject: NodeRef<'a>,
}

impl<'s, 'a> StatementWriter<'s, 'a> {
    fn new(maker: Maker, statements: &'s mut Vec<Statement<'a>>, subject: NodeRef<'a>) -> Self {
        Self { statements, maker, subject }
    }

    /// Returns a writer of another maker's statements about the same node.
    fn by(&mut self, maker: Maker) -> StatementWriter<'_, 'a> {
        StatementWriter { statements: self.statements, maker, subject: self.subject }
    }

    fn add(&mut self, property: NamedNodeRef<'static>, object: StatementObject<'a>) {
        debug_assert!(is_stated(self.maker, property, &object), "{:?} does not state {property}", self.maker);
        self.statements.push(Statement { subject: self.subject, property, object });
    }

    fn class(&mut self, class: NamedNodeRef<'static>) {
        self.add(rdf::TYPE, StatementObject::Class(class));
    }

    fn link(&mut self, property: NamedNodeRef<'static>, node: NodeRef<'a>) {
        self.add(property, StatementObject::Node(node));
    }

    fn literal(
        &mut self,
        property: NamedNodeRef<'static>,
        text: Option<Cow<'a, str>>,
        datatype: NamedNodeRef<'static>,
    ) {
        if let Some(text) = text {
            self.add(property, StatementObject::Literal(text, datatype));
        }
    }
}

/// Returns the members of an object with these names, in canonical JSON.
fn picked<'a, const N: usize>(object: impl Into<PayloadView<'a>>, names: [&str; N]) -> [Option<&'a str>; N] {
    let mut found = [None; N];
    object.into().each_member(&mut |name, value| pick(&names, &mut found, name, value));
    found
}

/// Keeps the value of a member if it is one of these names.
#[inline]
fn pick<'a, const N: usize>(names: &[&str; N], found: &mut [Option<&'a str>; N], name: &str, value: &'a str) {
    if let Some(place) = names.iter().position(|known| *known == name) {
        found[place] = Some(value);
    }
}

/// A digest that stands for a text of any length where memory is kept. It is keyed with a secret, so that nobody can
/// construct two texts with one digest.
type TextDigest = u128;

fn key(of: impl Hash) -> TextDigest {
    static DIGESTS: LazyLock<KeyedDigests> = LazyLock::new(KeyedDigests::default);
    DIGESTS.digest(of)
}

/// A map by digest. The hashes need no key of their own: the digests have one.
type DigestMap<T> = HashMap<TextDigest, T, BuildHasherDefault<AHasher>>;
