//! The annotated message: a message and what its session knows of it.

use std::fmt;
use std::ops::Range;

use oxsdatatypes::{DateTime, Decimal};

use crate::message::{Id, Invalid, Kind, Message, Problems};
use crate::record::{Format, Http, HttpOutcome, Location, LogLine, Record, Sender, Time, stated_time};

/// What failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// A request: an error response.
    Error,
    /// A tool, or a task: a result says so, or a notification.
    Tool,
    /// An HTTP exchange.
    Http,
}

impl FailureKind {
    /// Its name in tables and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Tool => "tool",
            Self::Http => "http",
        }
    }

    /// What the log says of the HTTP exchange of a message that does not fail by itself.
    pub(super) fn of_http(http: Option<&Http>) -> Option<Self> {
        http.filter(|http| http.outcome == HttpOutcome::Failed).map(|_| Self::Http)
    }
}

/// What a node is called within its input: `m7` for the seventh record, `m7.2` for the second element of that batch.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// The record, from 1.
    pub record: u64,
    /// The element of a batch, from 1.
    pub element: Option<u32>,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}", self.record)?;
        if let Some(element) = self.element {
            write!(f, ".{element}")?;
        }
        Ok(())
    }
}

/// Where a session comes from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// Name of the input: a file's name without its folder, `stdin`.
    pub source: String,
    /// Format that it was read as.
    pub format: Format,
}

/// One node of a session's graph, before it is put in JSON-LD's terms.
#[derive(Debug, Clone)]
pub struct Annotated<'a> {
    /// Its name; a text between messages is named by its line, and has an element where it is not the first on it.
    pub name: Name,
    /// Where its record is.
    pub location: Location,
    /// The bytes of its record, for their digest, unless they were too many to be kept.
    pub record: Option<&'a [u8]>,
    /// When its record was captured.
    pub time: Option<Time>,
    /// The side that sent it, as the log says or as the traffic tells.
    pub sender: Option<Sender>,
    /// The message, or what stands in its place.
    pub node: Node<'a>,
    /// Its place in its batch, from 1.
    pub batch_index: Option<u32>,
    /// The request that it answers.
    pub responds_to: Option<Name>,
    /// Seconds from that request to this answer.
    pub latency: Option<Decimal>,
    /// How it failed, if it did.
    pub failure: Option<FailureKind>,
    /// The HTTP exchange that it belongs to.
    pub http: Option<&'a Http>,
    /// The older open request whose id this one is the first to take.
    pub superseded: Option<Name>,
    /// What is wrong with it.
    pub problems: Problems,
    /// Which of the statements that its protocol makes of its record are about it.
    pub meaning: Range<usize>,
    /// Whether the [facts](crate::mapping) of its payload are among them.
    pub facts_said: bool,
}

/// The kinds of nodes.
#[expect(clippy::large_enum_variant, reason = "nearly all are the largest, and a box each would cost more")]
#[derive(Debug, Clone)]
pub enum Node<'a> {
    /// A message.
    Message(Message<'a>),
    /// JSON that is not a message.
    Invalid(Invalid<'a>),
    /// A batch (JSON-RPC 2.0, section 6); its elements are nodes of their own.
    Batch,
    /// A record that is not JSON, as it is in the log; maybe not UTF-8 either.
    Malformed(&'a [u8]),
    /// An HTTP exchange that brought no message; of a batch, the requests behind the first that it answers.
    Exchange(Vec<Name>),
    /// Text between messages.
    LogLine {
        /// The line.
        bytes: &'a [u8],
        /// The record before it in its session.
        after: Option<Name>,
    },
}

/// The node of an id: a request mints one, and what answers the request points at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdNode {
    /// The message that it is named after.
    pub owner: Name,
    /// Whether the message at hand is that one, and so has to say what the id is.
    pub minted: bool,
}

impl<'a> Annotated<'a> {
    pub(super) fn new(
        record: &'a Record<'a>,
        sender: Option<Sender>,
        name: Name,
        node: Node<'a>,
        problems: Problems,
    ) -> Self {
        let bytes = (!record.flags.oversized).then_some(&*record.bytes);
        let http = record.http.as_deref();
        Self { time: record.time, sender, problems, http, ..Self::bare(name, record.location, bytes, node) }
    }

    /// The `nth` text that begins on its line, from 1.
    pub(super) fn log_line(line: &'a LogLine<'a>, nth: u32, after: Option<Name>) -> Self {
        let name = Name { record: line.location.record, element: (nth > 1).then_some(nth) };
        let (bytes, node) = (&*line.bytes, Node::LogLine { bytes: &line.bytes, after });
        let time = stated_time(bytes).or(line.time);
        let bytes = (!line.oversized).then_some(bytes);
        Self { time, ..Self::bare(name, line.location, bytes, node) }
    }

    fn bare(name: Name, location: Location, record: Option<&'a [u8]>, node: Node<'a>) -> Self {
        Self {
            name,
            location,
            record,
            time: None,
            sender: None,
            node,
            batch_index: None,
            responds_to: None,
            latency: None,
            failure: None,
            http: None,
            superseded: None,
            problems: Problems::default(),
            meaning: 0..0,
            facts_said: false,
        }
    }

    /// The node of the message's id, where it has one. Null belongs to no exchange, so it is always the message's own.
    pub fn id_node(&self) -> Option<IdNode> {
        let Node::Message(Message { id: Some(id), .. }) = &self.node else { return None };
        Some(match self.responds_to {
            Some(owner) if *id != Id::Null => IdNode { owner, minted: false },
            _ => IdNode { owner: self.name, minted: true },
        })
    }

    /// The kind of message, where it is one.
    pub fn kind(&self) -> Option<Kind> {
        match &self.node {
            Node::Message(message) => Some(message.kind),
            _ => None,
        }
    }
}

/// The session's own node.
#[derive(Debug, Clone, Copy)]
pub struct SessionEnd<'a> {
    /// What tells it from other sessions of the same input.
    pub key: Option<&'a str>,
    /// Name of the input.
    pub source: &'a str,
    /// Format of the input.
    pub format: Format,
    /// How many records it had.
    pub record_count: u64,
    /// The earliest time in it.
    pub started: Option<DateTime>,
    /// The latest time in it.
    pub ended: Option<DateTime>,
    /// A sender was inferred: the log does not say it.
    pub sender_inferred: bool,
}
