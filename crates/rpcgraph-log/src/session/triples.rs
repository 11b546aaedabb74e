//! Triples on the way from mappings to sinks, with terms that have not been written out yet.
//!
//! Most IRIs of a graph are fragments of the input's own IRI. Here they are still names, so that a sink can write them
//! without building, parsing or hashing an IRI.

use std::fmt;

use oxrdf::vocab::xsd;
use oxrdf::{NamedNodeRef, NamedOrBlankNodeRef, Quad, TermRef};

use crate::session::Name;

/// A node of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeRef<'a> {
    /// `#m7`
    Message(Name),
    /// `#m7-id`
    Id(Name),
    /// `#m7-error`
    Error(Name),
    /// `#m7-tool2`: a part of a message.
    Part(Name, ProtocolPart),
    /// `#l12`: text between messages, by the line on which it begins; `#l12.2` is the second text on that line.
    LogLine(u64, Option<u32>),
    /// The session itself, or a node without another name: empty, or a fragment with its `#`.
    Session(&'a str),
    /// An absolute IRI.
    Iri(&'a str),
    /// A blank node.
    Blank(BlankName),
    /// A blank node with its label.
    Label(&'a str),
}

/// A node that a message adds to its session by its protocol. Its name reveals only its place in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtocolPart {
    /// The kind.
    pub kind: PartKind,
    /// The index among the message's parts of this kind, from 1; 0 if the message has only one.
    pub index: u32,
}

impl ProtocolPart {
    /// The operation that a request begins.
    pub const OPERATION: Self = Self { kind: PartKind::Operation, index: 0 };
}

/// The kinds of [`ProtocolPart`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartKind {
    /// An operation.
    Operation,
    /// A definition of a tool.
    Tool,
    /// A definition of a resource.
    Resource,
    /// A definition of a template of resources.
    Template,
    /// A definition of a prompt.
    Prompt,
    /// A client.
    Client,
    /// A server.
    Server,
    /// A capability of a side.
    Capability,
    /// The result of a tool.
    Result,
    /// An item of content.
    Content,
    /// An input that is requested.
    Input,
    /// A document.
    Document,
    /// The statements of a message about a document.
    Mention,
    /// A diagnostic of a document.
    Diagnostic,
}

impl PartKind {
    /// Every kind at the index of its number, with the end of the names of its nodes.
    pub const ALL: [(Self, &'static str); 14] = [
        (Self::Operation, "-op"),
        (Self::Tool, "-tool"),
        (Self::Resource, "-resource"),
        (Self::Template, "-template"),
        (Self::Prompt, "-prompt"),
        (Self::Client, "-client"),
        (Self::Server, "-server"),
        (Self::Capability, "-capability"),
        (Self::Result, "-result"),
        (Self::Content, "-content"),
        (Self::Input, "-input"),
        (Self::Document, "-document"),
        (Self::Mention, "-mention"),
        (Self::Diagnostic, "-diagnostic"),
    ];

    /// The end of the names of its nodes.
    pub fn suffix(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

impl fmt::Display for NodeRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(name) => write!(f, "#{name}"),
            Self::Id(name) => write!(f, "#{name}-id"),
            Self::Error(name) => write!(f, "#{name}-error"),
            Self::Part(name, ProtocolPart { kind, index: 0 }) => write!(f, "#{name}{}", kind.suffix()),
            Self::Part(name, ProtocolPart { kind, index }) => write!(f, "#{name}{}{index}", kind.suffix()),
            Self::LogLine(line, None) => write!(f, "#l{line}"),
            Self::LogLine(line, Some(nth)) => write!(f, "#l{line}.{nth}"),
            Self::Session(iri) | Self::Iri(iri) => f.write_str(iri),
            Self::Blank(blank) => write!(f, "_:{blank}"),
            Self::Label(label) => write!(f, "_:{label}"),
        }
    }
}

impl<'a> From<NamedOrBlankNodeRef<'a>> for NodeRef<'a> {
    fn from(node: NamedOrBlankNodeRef<'a>) -> Self {
        match node {
            NamedOrBlankNodeRef::NamedNode(named) => Self::Iri(named.as_str()),
            NamedOrBlankNodeRef::BlankNode(blank) => Self::Label(blank.as_str()),
        }
    }
}

/// A blank node, named by its record, so that its label does not depend on anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlankName {
    /// The input, from 0.
    pub input: u32,
    /// The record.
    pub record: u64,
    /// The index among the record's blank nodes, from 0.
    pub index: u32,
}

impl BlankName {
    /// Returns this blank node, and moves to the next one of the record.
    pub fn mint(&mut self) -> Self {
        let blank = *self;
        self.index += 1;
        blank
    }
}

/// Prints `m7b0`, in a later input `i2m7b0`.
impl fmt::Display for BlankName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.input > 0 {
            write!(f, "i{}", u64::from(self.input) + 1)?;
        }
        write!(f, "m{}b{}", self.record, self.index)
    }
}

/// The object of a triple.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ObjectRef<'a> {
    /// A node.
    Node(NodeRef<'a>),
    /// An `xsd:string`.
    Text(&'a str),
    /// A literal of another type.
    Typed(&'a str, &'a str),
    /// A language-tagged string: the string, the tag.
    Tagged(&'a str, &'a str),
    /// An `xsd:integer`, given as a number.
    Integer(u64),
}

impl<'a> ObjectRef<'a> {
    /// Returns a term of a graph; `None` for a triple term.
    pub fn new(term: TermRef<'a>) -> Option<Self> {
        // A triple term, which a feature of another crate may add, is none of these.
        if let TermRef::NamedNode(named) = term {
            Some(Self::Node(NodeRef::Iri(named.as_str())))
        } else if let TermRef::BlankNode(blank) = term {
            Some(Self::Node(NodeRef::Label(blank.as_str())))
        } else if let TermRef::Literal(literal) = term {
            Some(match literal.language() {
                Some(tag) => Self::Tagged(literal.value(), tag),
                None => Self::literal(literal.value(), literal.datatype()),
            })
        } else {
            None
        }
    }

    /// The IRI, if it is a node with a full IRI.
    pub fn iri(&self) -> Option<&'a str> {
        match self {
            Self::Node(NodeRef::Iri(iri)) => Some(iri),
            _ => None,
        }
    }

    /// Creates a literal without a language.
    pub fn literal(lexical: &'a str, datatype: NamedNodeRef<'a>) -> Self {
        if datatype == xsd::STRING { Self::Text(lexical) } else { Self::Typed(lexical, datatype.as_str()) }
    }
}

/// Takes triples, with the triples of each subject one after the other.
pub trait TripleSink {
    /// Starts a subject.
    fn subject(&mut self, node: NodeRef<'_>);

    /// Adds a triple of the subject.
    fn triple(&mut self, predicate: NamedNodeRef<'_>, object: ObjectRef<'_>);

    /// Adds a triple whose predicate is in static memory, and so the same as any other at its address.
    #[inline]
    fn static_triple(&mut self, predicate: NamedNodeRef<'static>, object: ObjectRef<'_>) {
        self.triple(predicate, object);
    }

    /// Returns true if triples of the predicate may be wanted: their objects are not computed in vain.
    fn wants(&self, _predicate: NamedNodeRef<'_>) -> bool {
        true
    }

    /// Adds quads of the record, which may be in graphs of their own, with the quads of each subject one after the
    /// other.
    fn quads(&mut self, quads: &[Quad]);
}
