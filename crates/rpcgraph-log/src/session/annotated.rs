//! The annotated message: a message, with what its session knows about it.

use std::fmt;
use std::ops::Range;

use oxrdf::NamedNodeRef;
use oxsdatatypes::{DateTime, Decimal};

use crate::message::{Id, Invalid, Kind, Message, Problems};
use crate::record::{Format, Http, HttpOutcome, Location, LogLine, Record, Sender, Time, stated_time};
use crate::vocab::rpcg;

/// A kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// A request failed: an error response.
    Error,
    /// A tool or a task failed: a result or a notification reports it.
    Tool,
    /// An HTTP exchange failed.
    Http,
}

impl FailureKind {
    /// The name in tables and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Tool => "tool",
            Self::Http => "http",
        }
    }

    /// Returns the failure of the HTTP exchange of a message that does not fail by itself.
    pub(super) fn of_http(http: Option<&Http>) -> Option<Self> {
        http.filter(|http| http.outcome == HttpOutcome::Failed).map(|_| Self::Http)
    }
}

/// The state of a request when its session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestState {
    /// An answer was paired with it.
    Answered,
    /// Its sender cancelled it, and no answer came.
    Cancelled,
    /// A later request took its id, and no answer came.
    Superseded,
    /// A later request of its sender was answered, or the connection began anew long after it.
    Unanswered,
    /// It was in flight as the connection began anew, or its client closed the stream of the answer.
    Lost,
    /// Its answer comes only after an event (MCP).
    Waiting,
    /// None of these: the log may have ended before the answer.
    Open,
    /// The log holds one side of the session, or lacks most answers.
    NotCaptured,
}

impl RequestState {
    /// The individual for the state.
    pub fn iri(self) -> NamedNodeRef<'static> {
        match self {
            Self::Answered => rpcg::ANSWERED,
            Self::Cancelled => rpcg::CANCELLED,
            Self::Superseded => rpcg::SUPERSEDED,
            Self::Unanswered => rpcg::UNANSWERED,
            Self::Lost => rpcg::LOST,
            Self::Waiting => rpcg::WAITING,
            Self::Open => rpcg::OPEN,
            Self::NotCaptured => rpcg::NOT_CAPTURED,
        }
    }
}

/// The name of a node within its input: `m7` for the seventh record, `m7.2` for the second element of that batch.
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

/// The origin of a session.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The name of the input: a file's name without its folder, `stdin`.
    pub source: String,
    /// The format of the input.
    pub format: Format,
}

/// A node of a session's graph, before it is put in JSON-LD's terms.
#[derive(Debug, Clone)]
pub struct Annotated<'a> {
    /// The name. Text between messages is named by its line, with an element unless it is the first on the line.
    pub name: Name,
    /// The place of its record.
    pub location: Location,
    /// The bytes of its record, for their digest, unless they were too many to be kept.
    pub record: Option<&'a [u8]>,
    /// The time of capture of its record.
    pub time: Option<Time>,
    /// The side that sent it, as the log states or as inferred from the traffic.
    pub sender: Option<Sender>,
    /// The message, or the value in its place.
    pub node: Node<'a>,
    /// The index in its batch, from 1.
    pub batch_index: Option<u32>,
    /// The request that it answers.
    pub responds_to: Option<Name>,
    /// The seconds from that request to this answer.
    pub latency: Option<Decimal>,
    /// The kind of failure, if it failed.
    pub failure: Option<FailureKind>,
    /// The HTTP exchange that it belongs to.
    pub http: Option<&'a Http>,
    /// The headers of MCP in its HTTP request, as a JSON object.
    pub headers: Option<&'a str>,
    /// The older open request with the same id, if this request is the first one to reuse it.
    pub superseded: Option<Name>,
    /// The problems of the message.
    pub problems: Problems,
    /// The statements about it, among the statements that its protocol makes about its record.
    pub meaning: Range<usize>,
}

/// The kinds of nodes.
#[derive(Debug, Clone)]
pub enum Node<'a> {
    /// A message.
    Message(&'a Message<'a>),
    /// JSON that is not a message.
    Invalid(&'a Invalid<'a>),
    /// A batch (JSON-RPC 2.0, section 6); its elements are nodes of their own.
    Batch,
    /// A record that is not JSON, as it is in the log, and may not be UTF-8 either.
    Malformed(&'a [u8]),
    /// An HTTP exchange without a message; for a batch, with the requests that it answers after the first.
    Exchange(Vec<Name>),
    /// The end of a stream that its client closed, and the requests that are cancelled by that.
    Closing(Vec<Name>),
    /// Text between messages.
    LogLine {
        /// The line.
        bytes: &'a [u8],
        /// The record before it in its session.
        after: Option<Name>,
        /// The event that it repeats.
        copy_of: Option<Name>,
    },
}

/// The node of an id: a request mints it, and the answer to the request points at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdNode {
    /// The message that it is named after.
    pub owner: Name,
    /// True if the current message is that one, and so has to state the id.
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
        let headers = record.headers.as_ref().map(|headers| headers.as_str());
        // The graph states the latencies that follow from a time without a known beginning.
        let time = record.time.filter(|time| !matches!(time, Time::Elapsed(_)));
        Self { time, sender, problems, http, headers, ..Self::bare(name, record.location, bytes, node) }
    }

    /// Creates the node of the `nth` text that begins on its line, from 1.
    pub(super) fn log_line(line: &'a LogLine<'a>, nth: u32, after: Option<Name>) -> Self {
        let name = Name { record: line.location.record, element: (nth > 1).then_some(nth) };
        let copy_of = line.copy_of.map(|record| Name { record, element: None });
        let (bytes, node) = (&*line.bytes, Node::LogLine { bytes: &line.bytes, after, copy_of });
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
            headers: None,
            superseded: None,
            problems: Problems::default(),
            meaning: 0..0,
        }
    }

    /// Returns the node of the message's id, if it has one. A null id does not pair messages, so it always belongs to
    /// its own message.
    pub fn id_node(&self) -> Option<IdNode> {
        let Node::Message(Message { id: Some(id), .. }) = &self.node else { return None };
        Some(match self.responds_to {
            Some(owner) if *id != Id::Null => IdNode { owner, minted: false },
            _ => IdNode { owner: self.name, minted: true },
        })
    }

    /// The kind of message; `None` if it is not a message.
    pub fn kind(&self) -> Option<Kind> {
        match &self.node {
            Node::Message(message) => Some(message.kind),
            _ => None,
        }
    }
}

/// The message with which a connection began anew.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Restart {
    /// The message, in the next session of the connection.
    pub message: Name,
    /// Its time.
    pub time: Option<Time>,
    /// The index of that session among the sessions with keys.
    pub(super) next: usize,
}

/// The node of a session.
#[derive(Debug, Clone)]
pub struct SessionEnd<'a> {
    /// The key that separates it from other sessions of the same input.
    pub key: Option<&'a str>,
    /// The name of the input.
    pub source: &'a str,
    /// The format of the input.
    pub format: Format,
    /// The number of its records.
    pub record_count: u64,
    /// The earliest time in it.
    pub started: Option<DateTime>,
    /// The latest time in it.
    pub ended: Option<DateTime>,
    /// True if a sender was inferred because the log does not state it.
    pub sender_inferred: bool,
    /// The seconds by which the clock of the side that answers is behind at least, and the number of answers with times
    /// before their requests, which show it.
    pub clock_offset: Option<(Decimal, u64)>,
    /// The latencies of answers, corrected by the offset of the clocks, in the order of the log.
    pub estimates: Vec<(Name, Decimal)>,
    /// True if the log holds the messages of one side alone.
    pub one_sided: bool,
    /// True if most answers to one side are missing in the log.
    pub answers_missing: bool,
    /// True if the requests of most answers of one side are missing in the log.
    pub requests_missing: bool,
    /// The restart that ended it. An answer that comes after the restart shows that the session goes on beside the next,
    /// so that there was no restart.
    pub restart: Option<Restart>,
    /// The time at which the process of its server ended, if the log states it.
    pub exited: Option<Time>,
    /// The requests without an answer, in the order of the log.
    pub unanswered: Vec<(Name, RequestState)>,
    /// The requests that a gateway forwarded, each with the gateway's request for it.
    pub forwarded: Vec<(Name, Name)>,
}
