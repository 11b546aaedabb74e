//! Input bytes → [`Record`]s.
//!
//! ```text
//! bytes → decompressed → wrapper taken off → splitter: pieces → rules of the format: entries
//! ```
//!
//! - A *wrapper* ([`Carrier`]) is what a container, service manager or terminal put around each line.
//! - A *splitter* cuts bytes into pieces and knows no meaning: lines (`marked.rs`), elements of an array (`elements.rs`), values,
//!   frames, events. It is a [`Decoder`], which does no I/O: it is shown bytes and says what the next step is.
//! - A *rule* (`rules.rs`) turns a piece into entries: by JSON Pointers, or by a regular expression.
//! - An *entry* is a record, which may be a message, or a line of log. Where a piece mentions more messages than its records
//!   hold, the piece is also kept as a line of log.
//! - A *format* has a name, a clue by which it is recognised, a splitter, rules and a sample. It is a file in `record/formats`, in
//!   the same words as its user's `-f FILE.toml` ([`Layout`]); formats that take more than rules are modules.
//!
//! A [`Reader`] does all that. What a record's bytes mean is not this stage's business: text that is not JSON is a record too.
//!
//! ```
//! use rpcgraph::record::{Entry, Reader, ReaderOptions, Sender};
//!
//! let log = "// adds\n>> {\"id\":1,\"method\":\"add\"}\n<< {\"id\":1,\"result\":3}\n";
//! let mut reader = Reader::new(log.as_bytes(), &ReaderOptions::default())?;
//! assert_eq!(reader.format().name(), "arrows");
//! let mut senders = Vec::new();
//! while let Some(entry) = reader.next_entry()? {
//!     match entry {
//!         Entry::Record(record) => senders.push(record.sender),
//!         Entry::LogLine(line) => assert_eq!(&*line.bytes, b"// adds"),
//!     }
//! }
//! assert_eq!(senders, [Some(Sender::Client), Some(Sender::Server)]);
//! # Ok::<(), rpcgraph::record::ReadError>(())
//! ```
//!
//! # Adding a format
//!
//! 1. `record/formats/NAME.toml`: what `record/described.rs` reads. `rank` is the order in which formats are looked for, in logs
//!    that have one of the `literals`; the `clue` then decides. `RPCGRAPH_BLESS=1 cargo test --lib formats_that_are_files` adds it
//!    to the list, and runs the sample.
//! 2. `tests/formats/NAME/` holds a log `typical.log` and one with all that may go wrong, `edge.log`, beside each what it
//!    gives, `.entries`, and beside the typical one its graph, `.ttl`.
//!
//! A format that takes more is a module with a constant `ABOUT` (`record/about.rs`), a sample in `record/samples`, and a row in the
//! table of `record/detect.rs`.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

mod about;
mod asked;
mod carried;
mod carrier;
mod clues;
mod colours;
mod content_length;
mod decoder;
mod decompress;
mod describe;
mod described;
mod detect;
mod elements;
mod follow;
mod formats;
mod har;
mod har_entry;
mod helix;
mod inside;
mod inspector_network;
mod json_array;
mod json_lines;
mod json_values;
mod key;
mod known;
mod lane;
mod layout;
mod lsp4e;
mod lsp_trace;
mod marked;
mod mcpspy;
mod nature;
mod object;
mod page;
mod pointer;
mod protocol_monitor;
mod reader;
mod rules;
mod sample;
mod scan;
mod session_by;
mod sse;
mod tar;
mod times;
mod tshark;
mod value;
mod vscode;
mod vscode_lsp_json;
mod vscode_lsp_text;
mod window;
mod zed;
mod zed_acp;

pub use carrier::Carrier;
pub(crate) use clues::stated_time;
pub use decoder::{Decoder, Step};
#[cfg(feature = "register")]
pub(crate) use decompress::plain_text;
pub use decompress::{InputCompression, decompressed};
pub use describe::{FoundIn, toml_string};
pub use detect::Format;
pub use follow::{Follow, FollowEvent};
pub(crate) use known::{KnownMethod, Protocols, is_member_of_messages, known_method};
pub use layout::{Layout, LayoutError};
pub(crate) use nature::nature;
#[cfg(feature = "register")]
pub(crate) use page::page_mark;
pub use pointer::PointerError;
pub use reader::{OwnEntries, ReadError, Reader, ReaderOptions};
pub use session_by::SessionBy;
pub(crate) use times::unix_epoch;

pub use crate::diagnostic::Location;

/// The side that sent a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sender {
    /// The side that connected and asks.
    Client,
    /// The side that answers.
    Server,
}

impl Sender {
    /// The other side.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// Which way a message went, as seen by the side that wrote the log, which may be either.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// The writer of the log sent it.
    Out,
    /// The writer of the log received it.
    In,
}

/// When a record was captured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Time {
    /// A date and a time, with or without a timezone.
    DateTime(oxsdatatypes::DateTime),
    /// A time of day: the log has no date.
    Clock(oxsdatatypes::Time),
}

/// Seconds of a day.
pub(crate) const DAY: i64 = 86_400;

impl Time {
    /// Seconds from this time to another of its kind, negative where that is earlier: two clocks, two dates with a timezone
    /// or two without.
    pub fn seconds_to(self, other: Self) -> Option<oxsdatatypes::Decimal> {
        let duration = match (self, other) {
            (Self::DateTime(one), Self::DateTime(other)) => {
                let same_kind = one.timezone_offset().is_some() == other.timezone_offset().is_some();
                same_kind.then(|| other.checked_sub(one))?
            }
            (Self::Clock(one), Self::Clock(other)) => other.checked_sub(one),
            _ => None,
        };
        duration.map(|duration| duration.as_seconds())
    }
}

/// In the form of its type of XML Schema.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DateTime(time) => time.fmt(f),
            Self::Clock(time) => time.fmt(f),
        }
    }
}

/// One entry of a log that may be a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Record<'a> {
    /// Where the first byte of the message is.
    pub location: Location,
    /// The message exactly as in the log: no line end, no arrow and, in formats of lines, no blanks around it.
    pub bytes: Cow<'a, [u8]>,
    /// How many bytes the message has. More than `bytes` holds only where [`Flags::oversized`] says so.
    pub length: u64,
    /// When it was captured.
    pub time: Option<Time>,
    /// The side that sent it.
    pub sender: Option<Sender>,
    /// Which way it went, where the log does not say who that was.
    pub direction: Option<Direction>,
    /// Key of the session within the input, where the log holds several.
    pub session: Option<Cow<'a, str>>,
    /// A duration that the log itself states, in seconds.
    pub latency: Option<oxsdatatypes::Decimal>,
    /// Further facts that the log states of the record.
    pub flags: Flags,
    /// The HTTP exchange that it belongs to, where the log has HTTP.
    pub http: Option<Arc<Http>>,
}

/// An HTTP exchange, as far as a record of it needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Http {
    /// Status of the response; none where no response came.
    pub status: Option<u16>,
    /// Whether the exchange failed.
    pub outcome: HttpOutcome,
    /// The ids, as JSON, of the requests in an exchange that is not done: HTTP has answered them.
    pub ids: Vec<Box<str>>,
    /// The exchange, where the record stands for it and not for a message.
    pub exchange: Option<HttpExchange>,
}

impl Http {
    /// What is known of it, in a line.
    pub fn text(&self) -> String {
        let Some(HttpExchange { method, url, reason }) = &self.exchange else { return String::new() };
        let ended = match self.status {
            Some(status) => format!("{status} {reason}"),
            None if reason.is_empty() => "no response".to_owned(),
            None => format!("no response ({reason})"),
        };
        format!("{method} {url}: {}", ended.trim_end())
    }

    /// A record that stands for it.
    pub(crate) fn record(self) -> Record<'static> {
        Record { http: Some(Arc::new(self.clone())), ..Record::new(self.text().into_bytes()) }
    }
}

/// How an HTTP exchange ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpOutcome {
    /// It did not fail.
    #[default]
    Done,
    /// Its status is an error's by which two sides come to terms: a `GET` that is not supported, a session that has ended, a
    /// request before authorization.
    Negotiated,
    /// Its status is 4xx or 5xx, or no response came.
    Failed,
}

/// An HTTP exchange that brought no message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpExchange {
    /// Method of the HTTP request.
    pub method: String,
    /// URL of the HTTP request.
    pub url: String,
    /// Reason phrase of the response, or why none came; empty if the log does not say.
    pub reason: String,
}

impl<'a> Record<'a> {
    /// A record of which nothing is known but its bytes; its location is [`Location::START`].
    pub fn new(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        let bytes = bytes.into();
        Self {
            location: Location::START,
            length: bytes.len() as u64,
            bytes,
            time: None,
            sender: None,
            direction: None,
            session: None,
            latency: None,
            flags: Flags::default(),
            http: None,
        }
    }

    /// Whether it stands for an HTTP exchange that brought no message.
    pub fn is_exchange(&self) -> bool {
        self.http.as_ref().is_some_and(|http| http.exchange.is_some())
    }

    /// A record of these bytes, or an oversized one if they are more than `limit`.
    pub(crate) fn within(limit: usize, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        let bytes = bytes.into();
        if bytes.len() > limit { Self::oversized(bytes.len() as u64) } else { Self::new(bytes) }
    }

    /// A record that was too long to be kept: `length` bytes were passed over.
    pub fn oversized(length: u64) -> Self {
        let flags = Flags { oversized: true, ..Flags::default() };
        Self { length, flags, ..Self::new(Vec::new()) }
    }

    /// The same record with bytes of its own.
    pub fn into_owned(self) -> Record<'static> {
        Record {
            bytes: Cow::Owned(self.bytes.into_owned()),
            session: self.session.map(|key| Cow::Owned(key.into_owned())),
            ..self
        }
    }
}

/// Facts that a log states of a record and its bytes do not.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Flags {
    /// The log says that it left out a part of the message.
    pub truncated: bool,
    /// The log holds the message's parts; the envelope around them was put together again.
    pub reconstructed: bool,
    /// The log says "no result" where the result may have been any of null, 0, false and "".
    pub result_unknown: bool,
    /// Longer than [`ReaderOptions::max_record_size`]: `bytes` holds nothing, [`Record::length`] tells.
    pub oversized: bool,
    /// The log says who sent the message, and that this was inferred.
    pub sender_inferred: bool,
    /// Its bytes do not stand like that in the input: they were unescaped, decoded or put together.
    pub is_derived: bool,
    /// It stands in one entry of the log with the record before it. If both have one time, it is that of the entry.
    pub shares_time: bool,
    /// The user says what tells sessions apart, so that nothing is inferred of them.
    pub session_stated: bool,
}

/// Text between the messages, in formats that mark their messages.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLine<'a> {
    /// Where its first byte is.
    pub location: Location,
    /// The line without its end, and without blanks before that. Where it stands in the log as it is, it keeps up to 4 KiB
    /// of blanks that it begins with.
    pub bytes: Cow<'a, [u8]>,
    /// How many bytes the line has. More than `bytes` holds only where `oversized` says so.
    pub length: u64,
    /// Longer than [`ReaderOptions::max_record_size`]: `bytes` holds nothing, `length` tells.
    pub oversized: bool,
    /// When it was written, where the log tells that beside the text.
    pub time: Option<Time>,
    /// Key of the session within the input, where the log tells that of the line; empty: the input's own.
    pub session: Option<Cow<'a, str>>,
}

impl<'a> LogLine<'a> {
    /// A line of text; its location is [`Location::START`].
    pub fn new(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        let bytes = bytes.into();
        let length = bytes.len() as u64;
        Self { location: Location::START, length, bytes, oversized: false, time: None, session: None }
    }

    /// A line that was too long to be kept: `length` bytes were passed over.
    pub fn oversized(length: u64) -> Self {
        Self { length, oversized: true, ..Self::new(Vec::new()) }
    }
}

/// A part of a log.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry<'a> {
    /// A message, or what stands where one should be.
    Record(Record<'a>),
    /// Text that the format sets apart from messages.
    LogLine(LogLine<'a>),
}

impl<'a> Entry<'a> {
    /// Where its first byte is.
    pub fn location(&self) -> Location {
        let (Self::Record(Record { location, .. }) | Self::LogLine(LogLine { location, .. })) = self;
        *location
    }

    /// Its bytes, as far as they are kept.
    pub fn bytes(&self) -> &[u8] {
        let (Self::Record(Record { bytes, .. }) | Self::LogLine(LogLine { bytes, .. })) = self;
        bytes
    }

    /// How many bytes it has.
    pub fn length(&self) -> u64 {
        let (Self::Record(Record { length, .. }) | Self::LogLine(LogLine { length, .. })) = self;
        *length
    }

    /// Says where it is.
    pub(crate) fn set_place(&mut self, place: Location) {
        let (Self::Record(Record { location, .. }) | Self::LogLine(LogLine { location, .. })) = self;
        *location = place;
    }

    /// The same line of text with blanks before it.
    #[must_use]
    pub(crate) fn indented(mut self, blanks: &[u8]) -> Self {
        if let Self::LogLine(LogLine { bytes, length, .. }) = &mut self {
            *bytes = Cow::Owned([blanks, bytes].concat());
            *length += blanks.len() as u64;
        }
        self
    }

    /// The same entry with that time, unless it has one.
    #[must_use]
    pub(crate) fn timed(mut self, of_carrier: Option<Time>) -> Self {
        let (Self::Record(Record { time, .. }) | Self::LogLine(LogLine { time, .. })) = &mut self;
        *time = time.or(of_carrier);
        self
    }

    /// The same entry in the session that the user means: the input's own if there is no key.
    #[must_use]
    pub(crate) fn in_session(mut self, key: Option<Option<String>>) -> Self {
        if let Self::Record(record) = &mut self {
            record.flags.session_stated = true;
        }
        let (Self::Record(Record { session, .. }) | Self::LogLine(LogLine { session, .. })) = &mut self;
        if let Some(key) = key {
            *session = key.map(Cow::Owned);
        }
        self
    }

    /// The same entry in a session of its writer, whose sessions have this key in front of theirs, or none if it is the first
    /// writer. A line without a session is in that of the writer's `last` record.
    #[must_use]
    pub(crate) fn by_writer(mut self, key: Option<&'a str>, last: &mut Option<String>) -> Self {
        match &mut self {
            Self::Record(Record { session, .. }) => {
                *session = in_front(key, session.take());
                let own = session.as_deref().unwrap_or_default();
                if last.as_deref() != Some(own) {
                    *last = Some(own.to_owned());
                }
            }
            Self::LogLine(LogLine { session, .. }) => {
                let told = session.take().map(|own| in_front(key, Some(own)));
                *session = told.unwrap_or_else(|| Some(last.as_deref().or(key).unwrap_or_default().to_owned().into()));
            }
        }
        self
    }

    /// The same entry, without its bytes if they are more than `limit`.
    #[inline]
    #[must_use]
    pub(crate) fn within(self, limit: usize) -> Self {
        let length = self.length();
        if length > limit as u64 { self.oversized(length) } else { self }
    }

    /// The same entry without its bytes, of which it has `count`.
    #[must_use]
    pub(crate) fn oversized(mut self, count: u64) -> Entry<'static> {
        let (Self::Record(Record { bytes, length, flags: Flags { oversized, .. }, .. })
        | Self::LogLine(LogLine { bytes, length, oversized, .. })) = &mut self;
        (*bytes, *length, *oversized) = (Cow::default(), count, true);
        self.into_owned()
    }

    /// The same entry with bytes of its own.
    pub fn into_owned(self) -> Entry<'static> {
        match self {
            Self::Record(record) => Entry::Record(record.into_owned()),
            Self::LogLine(line) => LogLine {
                bytes: Cow::Owned(line.bytes.into_owned()),
                session: line.session.map(|key| Cow::Owned(key.into_owned())),
                ..line
            }
            .into(),
        }
    }
}

/// The key of a session of a writer that has a key.
fn in_front<'a>(key: Option<&'a str>, own: Option<Cow<'a, str>>) -> Option<Cow<'a, str>> {
    match (key, own) {
        (Some(key), Some(own)) => Some(format!("{key} {own}").into()),
        (key, own) => own.or(key.map(Cow::Borrowed)),
    }
}

impl<'a> From<Record<'a>> for Entry<'a> {
    fn from(record: Record<'a>) -> Self {
        Self::Record(record)
    }
}

impl<'a> From<LogLine<'a>> for Entry<'a> {
    fn from(line: LogLine<'a>) -> Self {
        Self::LogLine(line)
    }
}
