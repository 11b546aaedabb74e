//! Entries of a log: records and lines of text, with the facts that the log states about each.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::unwrapped::LineFacts;
use crate::diagnostic::Location;

/// The side that sent a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sender {
    /// The side that connects and asks.
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

/// The direction of a message, seen from the side that wrote the log, which may be client or server.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// The writer of the log sent it.
    Out,
    /// The writer of the log received it.
    In,
}

impl Direction {
    /// The other direction.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
        }
    }
}

/// The time of capture of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Time {
    /// A date and a time, with or without a timezone.
    DateTime(oxsdatatypes::DateTime),
    /// A time of day, in a log without dates.
    Clock(oxsdatatypes::Time),
    /// The seconds since the beginning of a log, or of the program that wrote it.
    Elapsed(oxsdatatypes::Decimal),
}

/// The number of seconds in a day.
pub(crate) const DAY: i64 = 86_400;

impl Time {
    /// Returns the seconds from this time to another, negative if the other is earlier. `None` unless both are of one
    /// kind: times of day, times since a beginning, dates with a timezone, or dates without.
    pub fn seconds_to(self, other: Self) -> Option<oxsdatatypes::Decimal> {
        let duration = match (self, other) {
            (Self::DateTime(one), Self::DateTime(other)) => {
                let same_kind = one.timezone_offset().is_some() == other.timezone_offset().is_some();
                same_kind.then(|| other.checked_sub(one))?
            }
            (Self::Clock(one), Self::Clock(other)) => other.checked_sub(one),
            (Self::Elapsed(one), Self::Elapsed(other)) => return other.checked_sub(one),
            _ => None,
        };
        duration.map(|duration| duration.as_seconds())
    }
}

/// Prints the lexical form of the XML Schema type.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DateTime(time) => time.fmt(f),
            Self::Clock(time) => time.fmt(f),
            Self::Elapsed(seconds) => seconds.fmt(f),
        }
    }
}

/// An entry of a log that may be a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Record<'a> {
    /// The place of the first byte of the message.
    pub location: Location,
    /// The message exactly as in the log, without a line end, an arrow and, in formats of lines, blanks around it.
    pub bytes: Cow<'a, [u8]>,
    /// The size of the message in bytes. It differs from the size of `bytes` only if [`Flags::oversized`] is set.
    pub length: u64,
    /// The time of capture.
    pub time: Option<Time>,
    /// The side that sent it.
    pub sender: Option<Sender>,
    /// The direction, if the log does not state the sender.
    pub direction: Option<Direction>,
    /// The key of the session within the input, if the log holds several.
    pub session: Option<Cow<'a, str>>,
    /// The key of the session that ended as its connection began anew with this record, if the log states it; empty for
    /// the input's own session.
    pub restarts: Option<Box<str>>,
    /// A duration that the log states, in seconds.
    pub latency: Option<oxsdatatypes::Decimal>,
    /// Further facts that the log states about the record.
    pub flags: Flags,
    /// The HTTP exchange of the record, if the log has HTTP.
    pub http: Option<Arc<Http>>,
    /// The id of the server-sent event that brought it.
    pub event: Option<Box<str>>,
    /// The headers of MCP in its HTTP request, as a JSON object with names in lower case; `None` if the log has no headers.
    pub headers: Option<Arc<String>>,
}

/// The facts about an HTTP exchange that a record needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Http {
    /// The status of the response; `None` if a response never came.
    pub status: Option<u16>,
    /// The outcome of the exchange.
    pub outcome: HttpOutcome,
    /// The ids, as JSON, of the requests in an exchange that is not [done](HttpOutcome::Done): HTTP has answered them.
    pub ids: Vec<Box<str>>,
    /// The exchange, if the record stands for the exchange and not for a message.
    pub exchange: Option<HttpExchange>,
}

impl Http {
    /// Describes the exchange in one line.
    pub fn text(&self) -> String {
        let Some(HttpExchange { method, url, reason }) = &self.exchange else { return String::new() };
        let ended = match self.status {
            Some(status) => format!("{status} {reason}"),
            None if reason.is_empty() => "no response".to_owned(),
            None => format!("no response ({reason})"),
        };
        format!("{method} {url}: {}", ended.trim_end())
    }

    /// Returns a record that stands for the exchange.
    pub fn record(self) -> Record<'static> {
        Record { http: Some(Arc::new(self.clone())), ..Record::new(self.text().into_bytes()) }
    }
}

/// The outcome of an HTTP exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpOutcome {
    /// It did not fail.
    #[default]
    Done,
    /// The status is an error by which the two sides negotiate: a `GET` that is not supported, a session that has
    /// ended, a request before authorization.
    Negotiated,
    /// The status is 4xx or 5xx, or a response never came.
    Failed,
    /// The client closed the stream of the response before its end.
    Disconnected,
    /// The client closed the stream, which [cancels](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#cancellation)
    /// its requests.
    Cancelled,
}

impl HttpOutcome {
    /// Returns the reason in an exchange whose stream the client closed.
    pub fn closing(self) -> Option<&'static str> {
        match self {
            Self::Disconnected => Some("closed by the client"),
            Self::Cancelled => Some("cancelled by the client"),
            _ => None,
        }
    }
}

/// An HTTP exchange without a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpExchange {
    /// The method of the HTTP request.
    pub method: String,
    /// The URL of the HTTP request.
    pub url: String,
    /// The reason phrase of the response, or the reason for its absence; empty if the log does not state it.
    pub reason: String,
}

impl<'a> Record<'a> {
    /// Creates a record with nothing but its bytes. Its location is [`Location::START`].
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
            restarts: None,
            latency: None,
            flags: Flags::default(),
            http: None,
            event: None,
            headers: None,
        }
    }

    /// True if the record stands for an HTTP exchange without a message.
    pub fn is_exchange(&self) -> bool {
        self.http.as_ref().is_some_and(|http| http.exchange.is_some())
    }

    /// Creates a record that was too long to be kept: `length` bytes were skipped.
    pub fn oversized(length: u64) -> Self {
        let flags = Flags { oversized: true, ..Flags::default() };
        Self { length, flags, ..Self::new(Vec::new()) }
    }

    /// Returns the record with bytes of its own.
    pub fn into_owned(self) -> Record<'static> {
        Record {
            bytes: Cow::Owned(self.bytes.into_owned()),
            session: self.session.map(|key| Cow::Owned(key.into_owned())),
            ..self
        }
    }
}

/// Facts that a log states about a record, beyond its bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Flags {
    /// The log states that it left out a part of the message.
    pub truncated: bool,
    /// The log holds the parts of the message; the envelope around them was reconstructed.
    pub reconstructed: bool,
    /// The log states "no result" for any of the results null, 0, false and "".
    pub result_unknown: bool,
    /// Longer than [`ReaderOptions::max_record_size`](super::ReaderOptions::max_record_size): `bytes` is empty, and
    /// [`Record::length`] holds the size.
    pub oversized: bool,
    /// The log states the sender of the message, and that the sender was inferred.
    pub sender_inferred: bool,
    /// The bytes differ from the input: they were unescaped, decoded or reconstructed.
    pub is_derived: bool,
    /// The record shares an entry of the log with the record before it. If both have the same time, it is the time of
    /// the entry.
    pub shares_time: bool,
    /// The user stated how to separate sessions, so they are not inferred.
    pub session_stated: bool,
    /// An event of a stream that its client resumed with `Last-Event-ID`.
    pub resumed: bool,
    /// The first record of a process, after records of another process of its program: [`Record::restarts`] is the session of
    /// that one, if it is another, and ended if it left calls open.
    pub new_process: bool,
}

/// Text between the messages, in formats that mark their messages.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLine<'a> {
    /// The place of the first byte.
    pub location: Location,
    /// The line without its end, and without blanks at its end. A line that stands in the log as it is keeps up to 4
    /// KiB of blanks at its beginning.
    pub bytes: Cow<'a, [u8]>,
    /// The size of the line in bytes. It differs from the size of `bytes` only if `oversized` is set.
    pub length: u64,
    /// Longer than [`ReaderOptions::max_record_size`](super::ReaderOptions::max_record_size): `bytes` is empty, and
    /// `length` holds the size.
    pub oversized: bool,
    /// The time of writing, if the log states it beside the text.
    pub time: Option<Time>,
    /// The key of the session within the input, if the log states it for the line; empty for the input's own session.
    pub session: Option<Cow<'a, str>>,
    /// True if what the line says of messages is read: they stand at another place of the log, too, or are cut off on this line.
    pub is_copy: bool,
    /// True if it is a heading: messages below have its facts.
    pub is_heading: bool,
    /// The record of the event that the line repeats.
    pub copy_of: Option<u64>,
    /// True if it states that the process of the server has ended, and with it the session.
    pub is_exit: bool,
}

impl<'a> LogLine<'a> {
    /// Creates a line of text. Its location is [`Location::START`].
    pub fn new(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        let bytes = bytes.into();
        let length = bytes.len() as u64;
        Self {
            location: Location::START,
            length,
            bytes,
            oversized: false,
            time: None,
            session: None,
            is_copy: false,
            is_heading: false,
            copy_of: None,
            is_exit: false,
        }
    }

    /// Creates a line that was too long to be kept: `length` bytes were skipped.
    pub fn oversized(length: u64) -> Self {
        Self { length, oversized: true, ..Self::new(Vec::new()) }
    }
}

/// A part of a log.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry<'a> {
    /// A message, or the value in its place.
    Record(Record<'a>),
    /// Text that the format sets apart from messages.
    LogLine(LogLine<'a>),
}

impl<'a> Entry<'a> {
    /// The place of the first byte.
    pub fn location(&self) -> Location {
        let (Self::Record(Record { location, .. }) | Self::LogLine(LogLine { location, .. })) = self;
        *location
    }

    /// The bytes, as far as they are kept.
    pub fn bytes(&self) -> &[u8] {
        let (Self::Record(Record { bytes, .. }) | Self::LogLine(LogLine { bytes, .. })) = self;
        bytes
    }

    /// The size in bytes.
    pub fn length(&self) -> u64 {
        let (Self::Record(Record { length, .. }) | Self::LogLine(LogLine { length, .. })) = self;
        *length
    }

    /// Sets the place.
    pub fn set_place(&mut self, place: Location) {
        let (Self::Record(Record { location, .. }) | Self::LogLine(LogLine { location, .. })) = self;
        *location = place;
    }

    /// Adds blanks before a line of text.
    #[must_use]
    pub(crate) fn indented(mut self, blanks: &[u8]) -> Self {
        if let Self::LogLine(LogLine { bytes, length, .. }) = &mut self {
            *bytes = Cow::Owned([blanks, bytes].concat());
            *length += blanks.len() as u64;
        }
        self
    }

    /// Adds the facts that the entry itself does not state.
    pub(super) fn add_facts(&mut self, facts: LineFacts) {
        let (Self::Record(Record { time, .. }) | Self::LogLine(LogLine { time, .. })) = self;
        *time = time.or(facts.time);
        if let Self::Record(record) = self
            && record.sender.is_none()
        {
            record.direction = record.direction.or(facts.direction);
        }
    }

    /// Sets the session that the user means. The inner `None` is the input's own session; the outer `None` keeps the
    /// session.
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

    /// Moves the entry into a session of its writer. The `key` of the writer comes before the key of the session; the
    /// first writer does not have one. A line without a session is in the session of the writer's `last` record.
    #[must_use]
    pub(crate) fn by_writer(mut self, key: Option<&'a str>, last: &mut Option<String>) -> Self {
        match &mut self {
            Self::Record(Record { session, restarts, .. }) => {
                *session = join_session_keys(key, session.take());
                if let Some(ended) = restarts.as_mut().filter(|_| key.is_some()) {
                    let own = Some(&**ended).filter(|own| !own.is_empty()).map(|own| own.to_owned().into());
                    *ended = join_session_keys(key, own).unwrap_or_default().into();
                }
                let own = session.as_deref().unwrap_or_default();
                if last.as_deref() != Some(own) {
                    *last = Some(own.to_owned());
                }
            }
            Self::LogLine(LogLine { session, .. }) => {
                let stated = session.take().map(|own| join_session_keys(key, Some(own)));
                *session =
                    stated.unwrap_or_else(|| Some(last.as_deref().or(key).unwrap_or_default().to_owned().into()));
            }
        }
        self
    }

    /// Notes that a record is the first one of a process, after the process with this session.
    #[must_use]
    pub(crate) fn of_new_process(mut self, ended: Option<&str>) -> Self {
        if let Self::Record(Record { restarts: restarts @ None, flags, .. }) = &mut self {
            *restarts = Some(ended.unwrap_or_default().into());
            flags.new_process = true;
        }
        self
    }

    /// Drops the bytes if they are more than `limit`.
    #[inline]
    #[must_use]
    pub(crate) fn within(self, limit: usize) -> Self {
        let length = self.length();
        if length > limit as u64 { self.oversized(length) } else { self }
    }

    /// Drops the bytes, whose number is `count`.
    #[must_use]
    pub(crate) fn oversized(mut self, count: u64) -> Entry<'static> {
        let (Self::Record(Record { bytes, length, flags: Flags { oversized, .. }, .. })
        | Self::LogLine(LogLine { bytes, length, oversized, .. })) = &mut self;
        (*bytes, *length, *oversized) = (Cow::default(), count, true);
        self.into_owned()
    }

    /// Returns the entry with bytes of its own.
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

/// Returns the key of a session, after the key of its writer.
fn join_session_keys<'a>(key: Option<&'a str>, own: Option<Cow<'a, str>>) -> Option<Cow<'a, str>> {
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
