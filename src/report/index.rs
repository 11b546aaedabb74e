//! The index of a page: a row for each message and each text between messages, stored by columns.

use std::borrow::Cow;
use std::cmp::Ordering;

use indexmap::IndexSet;
use oxsdatatypes::{Decimal, Double};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::pieces::TextSpan;
use crate::diagnostic;
use crate::json::{Value, quoted};
use crate::message::{ErrorMember, Id, Message, Problem};
use crate::record::{Format, LogLine, Sender};
use crate::session::{Annotated, Name, RequestState};

/// The maximum length of a text in the index, in characters.
const SHORT: usize = 120;
/// The number of slowest answers whose text a page prefers to keep.
const SLOWEST: usize = 1_000;

/// The kind of a row. The page uses the numbers.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowKind {
    Request = 0,
    Notification = 1,
    Response = 2,
    Error = 3,
    Invalid = 4,
    Malformed = 5,
    #[default]
    LogLine = 6,
    Exchange = 7,
}

/// The reason why a request does not have an answer, or has one that does not count. The page uses the numbers.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowState {
    #[default]
    None = 0,
    /// Its sender cancelled it.
    Cancelled = 1,
    /// Its peer answered a later request, or the connection restarted long after it.
    Unanswered = 2,
    /// The log ends before the answer.
    Open = 3,
    /// The answer comes only after some event (MCP).
    Waiting = 4,
    /// A later request took its id.
    Superseded = 5,
    /// It has an answer that is out of date, as its content changed (LSP).
    Outdated = 6,
    /// The log holds one side alone.
    NotCaptured = 7,
    /// It was in flight as the connection restarted.
    Lost = 8,
}

impl From<RequestState> for RowState {
    fn from(state: RequestState) -> Self {
        match state {
            RequestState::Answered => Self::None,
            RequestState::Cancelled => Self::Cancelled,
            RequestState::Superseded => Self::Superseded,
            RequestState::Unanswered => Self::Unanswered,
            RequestState::Lost => Self::Lost,
            RequestState::Waiting => Self::Waiting,
            RequestState::Open => Self::Open,
            RequestState::NotCaptured => Self::NotCaptured,
        }
    }
}

/// A row. Texts are indexes into [`PageIndex::texts`], where 0 is an absent text.
#[derive(Debug, Default)]
pub(super) struct PageRow {
    pub kind: RowKind,
    pub sender: u8,
    /// The name of the message: record and element.
    pub record: u64,
    pub element: u32,
    line: u64,
    /// The time as its clock shows it, in seconds since 1970, or since midnight if it does not have a date.
    pub time: Option<f64>,
    pub latency: Option<f64>,
    /// The problems, one bit for each.
    pub problems: u32,
    pub session: u32,
    pub method: u32,
    pub id: u32,
    /// The tool, resource or document that the message refers to.
    pub detail: u32,
    /// The text of a failure, or of an error that does not count as a failure.
    pub error: u32,
    /// True for a failure.
    pub failed: bool,
    pub state: RowState,
    /// The row of the request that this row answers.
    pub answers: Option<u32>,
    /// The row that ended this request without an answer of its own: its cancellation, the HTTP exchange of its batch, or
    /// the restart of its connection.
    pub ended: Option<u32>,
    /// The name of the request that began the operation which this row continues.
    pub operation: u32,
    pub place: TextSpan,
}

/// A column of the rows. A value that all rows share is written once.
struct RowColumn<T>(Vec<T>);

impl<T: Serialize + PartialEq> Serialize for RowColumn<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [first, rest @ ..] if rest.iter().all(|value| value == first) => first.serialize(serializer),
            all => all.serialize(serializer),
        }
    }
}

/// Returns each integer as its difference from the one before, since small numbers take little space.
fn differences(numbers: impl Iterator<Item = Option<i64>>) -> Vec<Option<i64>> {
    let mut last = 0;
    numbers.map(|number| number.map(|number| number - std::mem::replace(&mut last, number))).collect()
}

/// Returns the texts of a column; of an answer, the difference from the text of its request, which is usually the same.
fn texts(rows: &[PageRow], of: impl Fn(&PageRow) -> u32) -> Vec<i64> {
    let request = |row: &PageRow| row.answers.and_then(|request| rows.get(request as usize)).map_or(0, &of);
    rows.iter().map(|row| i64::from(of(row)) - i64::from(request(row))).collect()
}

/// Returns how far each text in the page begins behind the end of the one before.
fn gaps(rows: &[PageRow]) -> Vec<i64> {
    let mut end = 0;
    let gap = |row: &PageRow| match row.place {
        TextSpan { piece: 0, .. } => 0,
        TextSpan { start, length, .. } => {
            i64::from(start) - std::mem::replace(&mut end, i64::from(start) + i64::from(length))
        }
    };
    rows.iter().map(gap).collect()
}

/// The time of a row in microseconds.
fn micros(row: &PageRow) -> Option<i64> {
    row.time.map(|time| (time * 1e6).round() as i64)
}

/// The seconds from a request to its answer; -1 where they are the difference of the times.
fn latency(rows: &[PageRow], row: &PageRow) -> Option<f64> {
    let latency = row.latency?;
    let request = row.answers.and_then(|request| rows.get(request as usize));
    let between = micros(row).zip(request.and_then(micros)).map(|(answered, asked)| answered - asked);
    let is_between = between.is_some_and(|between| (latency - between as f64 / 1e6).abs() < 1e-9);
    Some(if is_between { -1.0 } else { latency })
}

/// Writes the rows as an object with a list for each column.
fn by_columns<S: Serializer>(rows: &[PageRow], serializer: S) -> Result<S::Ok, S::Error> {
    fn column<T>(rows: &[PageRow], of: impl Fn(&PageRow) -> T) -> RowColumn<T> {
        RowColumn(rows.iter().map(of).collect())
    }
    let numbers = |of: fn(&PageRow) -> Option<i64>| RowColumn(differences(rows.iter().map(of)));
    let mut columns = serializer.serialize_map(None)?;
    columns.serialize_entry("kind", &column(rows, |row| row.kind as u8))?;
    columns.serialize_entry("sender", &column(rows, |row| row.sender))?;
    columns.serialize_entry("record", &numbers(|row| Some(row.record.cast_signed())))?;
    columns.serialize_entry("element", &column(rows, |row| row.element))?;
    columns.serialize_entry("line", &numbers(|row| Some(row.line.cast_signed())))?;
    columns.serialize_entry("time", &numbers(micros))?;
    columns.serialize_entry("latency", &column(rows, |row| latency(rows, row)))?;
    columns.serialize_entry("problems", &column(rows, |row| row.problems))?;
    columns.serialize_entry("session", &RowColumn(texts(rows, |row| row.session)))?;
    columns.serialize_entry("method", &column(rows, |row| row.method))?;
    columns.serialize_entry("id", &RowColumn(texts(rows, |row| row.id)))?;
    columns.serialize_entry("detail", &column(rows, |row| row.detail))?;
    columns.serialize_entry("error", &column(rows, |row| row.error))?;
    columns.serialize_entry("operation", &column(rows, |row| row.operation))?;
    columns.serialize_entry("answers", &numbers(|row| row.answers.map(i64::from)))?;
    columns.serialize_entry("ended", &column(rows, |row| row.ended))?;
    columns.serialize_entry("piece", &column(rows, |row| row.place.piece))?;
    columns.serialize_entry("start", &RowColumn(gaps(rows)))?;
    columns.serialize_entry("length", &column(rows, |row| row.place.length))?;
    columns.serialize_entry("failed", &column(rows, |row| u8::from(row.failed)))?;
    columns.serialize_entry("state", &column(rows, |row| row.state as u8))?;
    columns.end()
}

impl PageRow {
    pub fn new(kind: RowKind, node: &Annotated<'_>, time: Option<f64>, place: TextSpan) -> Self {
        let problems = Problem::ALL.iter().filter(|problem| node.problems.contains(**problem));
        Self {
            kind,
            sender: match node.sender {
                None => 0,
                Some(Sender::Client) => 1,
                Some(Sender::Server) => 2,
            },
            record: node.name.record,
            element: node.name.element.unwrap_or_default(),
            line: node.location.line,
            time,
            latency: node.latency.map(number),
            problems: problems.map(|one| 1 << *one as u32).sum(),
            failed: node.failure.is_some(),
            place,
            ..Self::default()
        }
    }

    pub fn log_line(line: &LogLine<'_>, time: Option<f64>, place: TextSpan) -> Self {
        let location = line.location;
        Self { record: location.record, line: location.line, time, place, ..Self::default() }
    }
}

pub(super) fn number(seconds: Decimal) -> f64 {
    Double::from(seconds).into()
}

/// Facts about a log in the page.
#[derive(Debug, Serialize)]
pub(super) struct LogFacts {
    pub name: String,
    pub format: &'static str,
    /// The first row, and the number of rows.
    pub first: u32,
    pub rows: u32,
    /// The content of `initialize`: the offered and the agreed versions, and the names of clients and servers.
    protocol: Vec<String>,
    /// The sessions that restarts began, each with the session before, by the indexes of their keys in the texts.
    #[serde(skip)]
    pub restarts: Vec<(u32, u32)>,
    client: ProgramNames,
    server: ProgramNames,
}

/// The maximum number of names and versions that the head of a page lists.
const LISTED: usize = 6;

/// The names of the programs on one side, written as one text: `a 1, b 2 and more`.
#[derive(Debug, Default)]
struct ProgramNames {
    names: Vec<String>,
    are_cut: bool,
}

impl ProgramNames {
    fn add(&mut self, name: String) {
        match self.names.contains(&name) {
            true => {}
            false if self.names.len() < LISTED => self.names.push(name),
            false => self.are_cut = true,
        }
    }
}

impl Serialize for ProgramNames {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!(
            "{}{}",
            self.names.join(", "),
            if self.are_cut { " and more" } else { "" }
        ))
    }
}

impl LogFacts {
    pub fn new(name: &str, format: Format, first: u32) -> Self {
        let (name, format) = (name.to_owned(), format.name());
        let (client, server) = Default::default();
        Self { name, format, first, rows: 0, protocol: Vec::new(), restarts: Vec::new(), client, server }
    }

    /// Records the facts from a message of the handshake.
    pub fn handshake(&mut self, message: &Message<'_>) {
        let Some(payload) = message.params.as_ref().or(message.result.as_ref()) else { return };
        let payload = payload.value();
        let who = |member: &str| {
            let info = payload.member(member)?;
            let part = |name| info.member(name).and_then(Value::to_cow).unwrap_or_default();
            Some(shortened(format!("{} {}", part("name"), part("version")).trim()))
        };
        who("clientInfo").into_iter().for_each(|name| self.client.add(name));
        who("serverInfo").into_iter().for_each(|name| self.server.add(name));
        if let Some(version) = payload.member("protocolVersion").and_then(Value::to_cow)
            && self.protocol.len() < LISTED
        {
            self.protocol.push(shortened(&version));
            self.protocol.dedup();
        }
    }
}

/// All rows of a page.
#[derive(Debug, Serialize)]
pub(super) struct PageIndex {
    pub logs: Vec<LogFacts>,
    #[serde(serialize_with = "in_order")]
    pub texts: IndexSet<String>,
    problem_names: Vec<&'static str>,
    #[serde(rename = "columns", serialize_with = "by_columns")]
    pub rows: Vec<PageRow>,
    #[serde(skip)]
    marked: Vec<u32>,
}

impl PageIndex {
    pub fn new() -> Self {
        let problem_names = Problem::ALL.iter().map(|problem| problem.name()).collect();
        let texts = IndexSet::from([String::new()]);
        Self { logs: Vec::new(), texts, problem_names, rows: Vec::new(), marked: Vec::new() }
    }

    /// Returns the index of a text, adding it if new.
    pub fn text(&mut self, text: &str) -> u32 {
        let number = self.texts.get_index_of(text).unwrap_or_else(|| self.texts.insert_full(text.to_owned()).0);
        u32::try_from(number).unwrap_or_default()
    }

    pub fn len(&self) -> u32 {
        u32::try_from(self.rows.len()).unwrap_or(u32::MAX)
    }

    /// Appends a row and returns its number.
    pub fn push(&mut self, row: PageRow) -> u32 {
        self.rows.push(row);
        self.len() - 1
    }

    /// Returns the row of a message of the log that begins at the row `first`.
    pub fn row_of(&self, first: u32, name: Name) -> Option<u32> {
        let rows = self.rows.get(first as usize..)?;
        let start = rows.partition_point(|row| row.record < name.record);
        let mut same = (start..).zip(&rows[start..]).take_while(|(_, row)| row.record == name.record);
        let is_own = |row: &PageRow| row.kind != RowKind::LogLine && row.element == name.element.unwrap_or_default();
        same.find(|(_, row)| is_own(row)).and_then(|(row, _)| u32::try_from(row).ok()).map(|row| first + row)
    }

    /// Replaces the latencies of answers of the log that begins at the row `first`.
    pub fn estimate(&mut self, first: u32, latencies: &[(Name, Decimal)]) {
        for (answer, seconds) in latencies {
            let row = self.row_of(first, *answer).and_then(|row| self.rows.get_mut(row as usize));
            row.into_iter().for_each(|row| row.latency = Some(number(*seconds)));
        }
    }

    /// Marks a row that a reader is likely to view.
    pub fn mark(&mut self, row: u32) {
        self.marked.push(row);
    }

    /// Returns the marked rows in the order of the log, then the slowest answers, each after its request.
    pub fn marked(&mut self) -> Vec<u32> {
        self.marked.sort_unstable();
        let mut slow: Vec<_> = (0..).zip(&self.rows).filter(|(_, row)| row.latency.is_some()).collect();
        slow.sort_by(|(_, left), (_, right)| right.latency.partial_cmp(&left.latency).unwrap_or(Ordering::Equal));
        let slow = slow.into_iter().take(SLOWEST).flat_map(|(number, row)| row.answers.into_iter().chain([number]));
        self.marked.iter().copied().chain(slow).collect()
    }
}

fn in_order<S: Serializer>(texts: &IndexSet<String>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(texts)
}

/// Returns a text on one line, shortened to [`SHORT`] characters.
pub(super) fn shortened(text: &str) -> String {
    diagnostic::shortened(text, SHORT).into_owned()
}

/// Returns an id as JSON.
pub(super) fn id(id: &Id<'_>) -> String {
    match id {
        Id::Number(number) => number.to_string(),
        Id::Null => "null".to_owned(),
        Id::String(text) => quoted(text),
    }
}

/// An error's code, and its message.
type ErrorParts<'m> = (Cow<'m, str>, Option<Cow<'m, str>>);

/// Returns the subject of a message, and its failure.
pub(super) fn detail_and_error<'m>(message: &'m Message<'_>) -> (Option<String>, Option<ErrorParts<'m>>) {
    let error = match &message.error {
        Some(ErrorMember::Object(error)) => {
            Some((error.code.as_deref().unwrap_or("error").into(), error.message.as_deref().map(Cow::Borrowed)))
        }
        Some(ErrorMember::Other(_)) => Some(("error".into(), None)),
        None => message.result.as_ref().filter(|_| message.is_error() == Some(true)).map(|result| {
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
    (detail, error)
}
