//! What the fast path pushes: triples whose terms have not been written out yet.
//!
//! Most IRIs of a graph are fragments of the input's own IRI. Here they are still names, so that whoever writes them can
//! do so without building, parsing or hashing an IRI.

use std::fmt;

use oxrdf::NamedNodeRef;

use crate::session::Name;

/// A node of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node<'a> {
    /// `#m7`
    Message(Name),
    /// `#m7-id`
    Id(Name),
    /// `#m7-error`
    Error(Name),
    /// `#l12`: a text between messages, by the line that it begins on; `#l12.2` is the second there.
    LogLine(u64, Option<u32>),
    /// The session itself: nothing, or a fragment with its `#`.
    Session(&'a str),
    /// An absolute IRI.
    Iri(&'a str),
    /// A blank node.
    Blank(Blank),
    /// A blank node that has its label.
    Label(&'a str),
}

/// A blank node, named by the record that it comes from, so that its label depends on nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Blank {
    /// The input, from 0.
    pub input: u32,
    /// The record.
    pub record: u64,
    /// Which of the record's, from 0.
    pub index: u32,
}

/// `m7b0`, in a later input `i2m7b0`
impl fmt::Display for Blank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.input > 0 {
            write!(f, "i{}", u64::from(self.input) + 1)?;
        }
        write!(f, "m{}b{}", self.record, self.index)
    }
}

/// The object of a triple.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Object<'a> {
    /// A node.
    Node(Node<'a>),
    /// An `xsd:string`.
    Text(&'a str),
    /// A literal of another type.
    Typed(&'a str, &'a str),
    /// A language-tagged string: the string, the tag.
    Tagged(&'a str, &'a str),
    /// An `xsd:integer` that is counted here.
    Integer(u64),
}

/// Takes triples, those of a subject one after the other.
pub trait Triples {
    /// Starts a subject.
    fn subject(&mut self, node: Node<'_>);

    /// A triple of the subject.
    fn triple(&mut self, predicate: NamedNodeRef<'_>, object: Object<'_>);
}
