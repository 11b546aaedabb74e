//! The index of a page: a row for each message and each text between messages, in columns.

use std::borrow::Cow;

use indexmap::IndexSet;
use oxsdatatypes::{DateTime, Decimal, Double};
use serde::{Serialize, Serializer};

use super::pieces::Place;
use crate::json::{Value, write_str};
use crate::message::{ErrorMember, Id, Message, Payload, Problem};
use crate::record::{Format, LogLine, Time};
use crate::register::redact::Redaction;
use crate::session::Annotated;

/// Most characters of a text in the index.
const SHORT: usize = 120;

/// What a row is, by the number that the page knows it by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowKind {
    Request = 0,
    Notification = 1,
    Response = 2,
    Error = 3,
    Invalid = 4,
    Malformed = 5,
    LogLine = 6,
}

/// A row.
#[derive(Debug)]
pub(super) struct Row {
    kind: RowKind,
    sender: u8,
    /// Its name: the record and the element.
    record: u64,
    element: u32,
    line: u64,
    time: Option<f64>,
    latency: Option<f64>,
    problems: u32,
    session: u32,
    place: Place,
    pub method: u32,
    pub id: u32,
    /// The tool, the resource or the document that it is about.
    pub detail: u32,
    /// What failed.
    pub error: u32,
    /// The row of the request that it answers.
    pub answers: Option<u32>,
}

impl Row {
    pub fn new(kind: RowKind, node: &Annotated<'_>, session: u32, place: Place) -> Self {
        let number = |seconds: Decimal| f64::from(Double::from(seconds));
        Self {
            kind,
            sender: super::sender(node.sender),
            record: node.name.record,
            element: node.name.element.unwrap_or_default(),
            line: node.location.line,
            time: node.time.and_then(seconds).map(number),
            latency: node.latency.map(number),
            problems: Problem::ALL
                .iter()
                .filter(|problem| node.problems.contains(**problem))
                .map(|one| 1 << *one as u32)
                .sum(),
            session,
            place,
            method: 0,
            id: 0,
            detail: 0,
            error: 0,
            answers: None,
        }
    }

    pub fn log_line(line: &LogLine<'_>, place: Place) -> Self {
        Self {
            kind: RowKind::LogLine,
            sender: 0,
            record: line.location.record,
            element: 0,
            line: line.location.line,
            time: line.time.and_then(seconds).map(|seconds| f64::from(Double::from(seconds))),
            latency: None,
            problems: 0,
            session: 0,
            place,
            method: 0,
            id: 0,
            detail: 0,
            error: 0,
            answers: None,
        }
    }
}

/// Seconds since 1970, or since midnight where there is no date.
fn seconds(time: Time) -> Option<Decimal> {
    match time {
        Time::DateTime(time) => {
            let epoch: DateTime = "1970-01-01T00:00:00Z".parse().ok()?;
            Some(time.checked_sub(epoch)?.as_seconds())
        }
        Time::Clock(time) => Some(
            Decimal::from(i64::from(time.hour()) * 3600 + i64::from(time.minute()) * 60).checked_add(time.second())?,
        ),
    }
}

/// What a page tells of a log.
#[derive(Debug, Serialize)]
pub(super) struct LogFacts {
    name: String,
    format: &'static str,
    /// Its first row, and how many it has.
    pub first: u32,
    pub rows: u32,
    /// Whether its times are those of a day that is not known.
    clock: bool,
    /// What `initialize` told: the versions that were offered and agreed, and who talks.
    protocol: Vec<String>,
    client: Option<String>,
    server: Option<String>,
}

impl LogFacts {
    pub fn new(name: &str, format: Format, first: u32) -> Self {
        let (name, format) = (name.to_owned(), format.name());
        Self { name, format, first, rows: 0, clock: false, protocol: Vec::new(), client: None, server: None }
    }

    /// Learns what a message of the handshake says.
    pub fn handshake(&mut self, message: &Message<'_>, redaction: Option<&Redaction>) {
        let Some(payload) = message.params.as_ref().or(message.result.as_ref()) else { return };
        let payload = payload.value();
        let shown = |text: &str| redaction.map_or_else(|| shortened(text), |redaction| redaction.text(text));
        let who = |member: &str| {
            let info = payload.member(member)?;
            let part = |name| info.member(name).and_then(Value::to_cow).unwrap_or_default();
            Some(shown(format!("{} {}", part("name"), part("version")).trim()))
        };
        self.client = self.client.take().or_else(|| who("clientInfo"));
        self.server = self.server.take().or_else(|| who("serverInfo"));
        if let Some(version) = payload.member("protocolVersion").and_then(Value::to_cow) {
            self.protocol.push(shortened(&version));
            self.protocol.dedup();
        }
    }
}

/// All rows. Texts are numbers of [`Index::texts`], in which 0 is none.
#[derive(Debug, Default, Serialize)]
pub(super) struct Index {
    pub logs: Vec<LogFacts>,
    #[serde(serialize_with = "in_order")]
    texts: IndexSet<String>,
    problem_names: Vec<&'static str>,
    kind: Vec<u8>,
    sender: Vec<u8>,
    record: Vec<u64>,
    element: Vec<u32>,
    line: Vec<u64>,
    time: Vec<Option<f64>>,
    latency: Vec<Option<f64>>,
    problems: Vec<u32>,
    session: Vec<u32>,
    method: Vec<u32>,
    id: Vec<u32>,
    detail: Vec<u32>,
    error: Vec<u32>,
    answers: Vec<Option<u32>>,
    /// Where each one's text is.
    pub piece: Vec<u32>,
    start: Vec<u32>,
    length: Vec<u32>,
    #[serde(skip)]
    marked: Vec<u32>,
}

impl Index {
    /// The number of a text.
    pub fn text(&mut self, text: &str) -> u32 {
        if self.texts.is_empty() {
            self.texts.insert(String::new());
            self.problem_names = Problem::ALL.iter().map(|problem| problem.name()).collect();
        }
        let number = self.texts.get_index_of(text).unwrap_or_else(|| self.texts.insert_full(text.to_owned()).0);
        u32::try_from(number).unwrap_or_default()
    }

    pub fn len(&self) -> u32 {
        u32::try_from(self.kind.len()).unwrap_or(u32::MAX)
    }

    /// Appends a row, and gives its number.
    pub fn push(&mut self, row: Row) -> u32 {
        let number = self.len();
        self.kind.push(row.kind as u8);
        self.sender.push(row.sender);
        self.record.push(row.record);
        self.element.push(row.element);
        self.line.push(row.line);
        self.time.push(row.time);
        self.latency.push(row.latency);
        self.problems.push(row.problems);
        self.session.push(row.session);
        self.method.push(row.method);
        self.id.push(row.id);
        self.detail.push(row.detail);
        self.error.push(row.error);
        self.answers.push(row.answers);
        self.piece.push(row.place.piece);
        self.start.push(row.place.start);
        self.length.push(row.place.length);
        number
    }

    /// Notes a row that a reader will want to look into.
    pub fn mark(&mut self, row: u32) {
        self.marked.push(row);
    }

    /// The pieces of the rows that are marked, in their order, and then those of the slowest answers.
    pub fn marked(&self) -> Vec<u32> {
        let mut marked = self.marked.clone();
        marked.sort_unstable();
        let mut slow: Vec<usize> = (0..self.kind.len()).filter(|row| self.latency[*row].is_some()).collect();
        slow.sort_by(|left, right| {
            self.latency[*right].partial_cmp(&self.latency[*left]).unwrap_or(std::cmp::Ordering::Equal)
        });
        let marked = marked.into_iter().filter_map(|row| self.piece.get(row as usize).copied());
        marked.chain(slow.into_iter().take(1_000).map(|row| self.piece[row])).collect()
    }
}

fn in_order<S: Serializer>(texts: &IndexSet<String>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(texts)
}

/// A text in one line of at most [`SHORT`] characters.
pub(super) fn shortened(text: &str) -> String {
    let mut characters = text.chars();
    let mut short: String = characters.by_ref().take(SHORT).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}

/// An id as JSON has it.
pub(super) fn id(id: &Id<'_>) -> String {
    match id {
        Id::Number(number) => number.to_string(),
        Id::Null => "null".to_owned(),
        Id::String(text) => {
            let mut quoted = String::new();
            write_str(text, &mut quoted);
            quoted
        }
    }
}

/// An error's code, and what is said of it.
type Failure<'m> = (Cow<'m, str>, Option<Cow<'m, str>>);

/// What a message is about, and how it failed.
pub(super) fn detail_and_error<'m>(message: &'m Message<'_>) -> (Option<Cow<'m, str>>, Option<Failure<'m>>) {
    let error = match &message.error {
        Some(ErrorMember::Object(error)) => {
            Some((error.code.as_deref().unwrap_or("error").into(), error.message.as_deref().map(Cow::Borrowed)))
        }
        Some(ErrorMember::Other(_)) => Some(("error".into(), None)),
        None => message.result.as_ref().filter(|result| is_tool_failure(result)).map(|result| {
            let value = result.value();
            let text = value.member("content").and_then(|content| match content {
                Value::Array(items) => items.items.first()?.member("text")?.to_cow().map(Cow::into_owned),
                _ => None,
            });
            ("isError".into(), text.map(Cow::Owned))
        }),
    };
    let detail = message.params.as_ref().and_then(|params| {
        let value = params.value();
        let of = |name: &str| value.member(name).and_then(Value::to_cow).map(Cow::into_owned);
        let document = || value.member("textDocument")?.member("uri")?.to_cow().map(Cow::into_owned);
        of("name").or_else(|| of("uri")).or_else(document)
    });
    (detail.map(Cow::Owned), error)
}

fn is_tool_failure(result: &Payload<'_>) -> bool {
    matches!(result.value().member("isError"), Some(Value::Bool(true)))
}
