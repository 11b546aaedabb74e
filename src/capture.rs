//! Examples out of captured traffic: one exchange for each method and each way it ended.
//!
//! A [`Capture`] reads logs. Of all exchanges with the same method, direction and outcome it keeps the shortest, and of
//! several the first, so its memory grows with what there is to show and with the requests that are open, not with the
//! logs. [`block`] makes a building block of them.
//!
//! An example is a message as JSON-RPC 2.0 has it. What is not, in part or as a whole, is counted in
//! [`Capture::left_out`]; of each fault that the schema knows, the shortest message is in [`Capture::faulty`].

mod files;

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use indexmap::IndexSet;

pub use self::files::{block, write};
use crate::json::{self, Numbers, Value};
use crate::log::summary::Summary;
use crate::message::{Content, ErrorMember, Id, Kind, Message, Problem, Problems, is_keyword_like};
use crate::record::{Entry, ReadError, Reader, ReaderOptions, Record, Sender};
use crate::session::{Annotated, Name, Node, Sessions};

/// How an exchange ended.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallOutcome {
    /// With a result.
    Result,
    /// With a result that says that a tool failed: an object in which `isError` is true, as MCP has it.
    ToolFailure,
    /// With an error of this code: plain decimal digits.
    Error(String),
    /// The log ends before there is an answer, or has none.
    NoAnswer,
    /// It was a notification, which has no answer.
    Notification,
}

/// The part that all exchanges of one example have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Subject {
    /// The method; none where an error answers what could not be read.
    pub method: Option<String>,
    /// The side that called, where the log tells.
    pub caller: Option<Sender>,
}

/// One side of an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// The message, as canonical JSON in which no number is changed.
    pub text: String,
    /// Where it is in its log.
    pub name: Name,
    /// Whether the log had its parts only.
    pub reconstructed: bool,
}

/// An exchange: a call, what answers it, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The log that it is in.
    pub log: String,
    /// The request or the notification.
    pub call: Option<Side>,
    /// What answers it.
    pub answer: Option<Side>,
}

/// The best of several exchanges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// What it is about.
    pub subject: Subject,
    /// How it ended.
    pub outcome: CallOutcome,
    /// The shortest.
    pub exchange: Exchange,
    /// How many there are.
    pub count: u64,
}

/// Why a message is in no example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum LeftOut {
    /// The record is not JSON.
    #[error("no JSON")]
    NotJson,
    /// JSON, but not a JSON-RPC message.
    #[error("no JSON-RPC message")]
    NoMessage,
    /// A message with this problem.
    #[error("{}", .0.name())]
    Problem(Problem),
    /// A member is named like a keyword of JSON-LD, which an example would have to obey.
    #[error("a member named like a keyword of JSON-LD")]
    KeywordMember,
    /// A number beyond the range of a double, or nesting deeper than other programs read.
    #[error("a number or a nesting that other programs refuse")]
    NotPortable,
    /// A response whose request is not in the log.
    #[error("an answer to no request of the log")]
    NoRequest,
    /// The other side of the exchange is left out.
    #[error("its call or its answer is left out")]
    OtherSide,
}

/// Reads logs, and keeps what is worth showing.
#[derive(Debug, Default)]
pub struct Capture {
    /// In the order in which they were met.
    subjects: IndexSet<Subject>,
    chosen: BTreeMap<(usize, CallOutcome), Chosen>,
    faulty: BTreeMap<Problem, String>,
    left_out: BTreeMap<LeftOut, u64>,
    records: u64,
}

/// One side of an exchange that is over: none where there is no message, or why the message cannot be in an example.
type Part = Result<Option<Side>, LeftOut>;

/// Requests that are not answered yet, each with the place of its subject.
type OpenCalls = HashMap<Name, (usize, Part)>;

/// The sessions of the log, and their exchanges that are not over.
#[derive(Default)]
struct Ongoing {
    sessions: Sessions,
    open: OpenCalls,
}

impl Capture {
    /// One that has read nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a log to its end; `log` is what examples call it. Gives the counts of its records.
    ///
    /// # Errors
    ///
    /// Where the log cannot be read to its end. What was read before stays.
    pub fn read(&mut self, log: &str, input: impl Read + Send, options: &ReaderOptions) -> Result<Summary, ReadError> {
        let mut reader = Reader::new(input, options)?;
        let mut summary = Summary::new(reader.format(), reader.carriers());
        let mut ongoing = Ongoing::default();
        while let Some(entry) = reader.next_entry()? {
            let Entry::Record(record) = entry else {
                summary.log_lines += 1;
                continue;
            };
            self.record(log, &mut ongoing, &record, &mut summary);
        }
        let mut open: Vec<_> = ongoing.open.into_iter().collect();
        open.sort_by_key(|(name, _)| *name);
        for (_, (place, call)) in open {
            self.settle(log, place, CallOutcome::NoAnswer, call, Ok(None));
        }
        summary.end_input(options.is_stated(), reader.head());
        self.records += summary.records;
        Ok(summary)
    }

    /// The best exchange of each kind: methods in the order in which they were met, results before errors.
    pub fn chosen(&self) -> impl Iterator<Item = &Chosen> {
        self.chosen.values()
    }

    /// Of each fault that makes a message invalid under the JSON Schema of messages, the shortest message that has it.
    pub fn faulty(&self) -> &BTreeMap<Problem, String> {
        &self.faulty
    }

    /// How many messages are in no example, whatever their exchange, and why.
    pub fn left_out(&self) -> &BTreeMap<LeftOut, u64> {
        &self.left_out
    }

    /// How many records were read.
    pub fn records(&self) -> u64 {
        self.records
    }

    fn record(&mut self, log: &str, ongoing: &mut Ongoing, record: &Record<'_>, summary: &mut Summary) {
        let value = json::parse(&record.bytes);
        let texts: Vec<String> = match &value {
            Ok(Value::Array(array)) => array.items.iter().map(canonical).collect(),
            Ok(value) => vec![canonical(value)],
            Err(_) => Vec::new(),
        };
        let content = match value {
            Ok(_) if record.flags.result_unknown => Content::parse_without_result(&record.bytes),
            value => value.into(),
        };
        summary.count(&content, &record.bytes);
        let Ongoing { sessions, open } = ongoing;
        let mut texts = texts.into_iter();
        for node in sessions.annotate(record, content) {
            match &node.node {
                Node::Message(message) => {
                    let part = self.part(&node, message, texts.next().unwrap_or_default());
                    self.message(log, open, &node, message, part);
                }
                Node::Invalid(_) => {
                    texts.next();
                    self.leave_out(LeftOut::NoMessage);
                }
                Node::Malformed(_) => self.leave_out(LeftOut::NotJson),
                Node::Batch | Node::Exchange(_) | Node::LogLine { .. } => {}
            }
        }
    }

    fn message(&mut self, log: &str, open: &mut OpenCalls, node: &Annotated<'_>, message: &Message<'_>, part: Part) {
        let mut place = || self.place(message.method.as_deref(), node.sender);
        match message.kind {
            Kind::Notification => {
                let place = place();
                self.settle(log, place, CallOutcome::Notification, part, Ok(None));
            }
            // Nothing can be told to answer it.
            Kind::Request if message.id == Some(Id::Null) => {
                let place = place();
                self.settle(log, place, CallOutcome::NoAnswer, part, Ok(None));
            }
            Kind::Request => drop(open.insert(node.name, (place(), part))),
            Kind::Response | Kind::ErrorResponse => match node.responds_to.and_then(|name| open.remove(&name)) {
                Some((place, call)) => self.settle(log, place, outcome(message), call, part),
                // A call that could not be read has no method either.
                None if message.kind == Kind::ErrorResponse && message.id == Some(Id::Null) => {
                    let place = self.place(None, node.sender.map(Sender::other));
                    self.settle(log, place, outcome(message), Ok(None), part);
                }
                None if part.is_err() => {}
                None => self.leave_out(LeftOut::NoRequest),
            },
        }
    }

    /// Where the subject is among those that were met.
    fn place(&mut self, method: Option<&str>, caller: Option<Sender>) -> usize {
        self.subjects.insert_full(Subject { method: method.map(str::to_owned), caller }).0
    }

    /// The message as one side of an example, where it can be one.
    fn part(&mut self, node: &Annotated<'_>, message: &Message<'_>, text: String) -> Part {
        let error_members = match &message.error {
            Some(ErrorMember::Object(error)) => error.extra.listed(),
            _ => &[],
        };
        let mut extra = message.extra.listed().iter().chain(error_members);
        let reason = if extra.any(|(name, _)| name.as_str().is_some_and(is_keyword_like)) {
            LeftOut::KeywordMember
        } else if !is_portable(&text) {
            LeftOut::NotPortable
        } else if let Some(problem) = hindrance(node.problems) {
            if let Some(fault) = fault(node.problems) {
                self.keep_faulty(fault, text);
            }
            LeftOut::Problem(problem)
        } else {
            let reconstructed = node.problems.contains(Problem::Reconstructed);
            return Ok(Some(Side { text, name: node.name, reconstructed }));
        };
        self.leave_out(reason);
        Err(reason)
    }

    fn keep_faulty(&mut self, fault: Problem, text: String) {
        let shortest = self.faulty.entry(fault).or_insert_with(|| text.clone());
        if text.len() < shortest.len() {
            *shortest = text;
        }
    }

    /// An exchange is over.
    fn settle(&mut self, log: &str, place: usize, outcome: CallOutcome, call: Part, answer: Part) {
        let (call, answer) = match (call, answer) {
            (Ok(call), Ok(answer)) => (call, answer),
            (Ok(Some(_)), Err(_)) | (Err(_), Ok(Some(_))) => return self.leave_out(LeftOut::OtherSide),
            _ => return,
        };
        let Some(subject) = self.subjects.get_index(place) else { return };
        let exchange = Exchange { log: log.to_owned(), call, answer };
        let chosen = self.chosen.entry((place, outcome)).or_insert_with_key(|(_, outcome)| {
            let (subject, outcome) = (subject.clone(), outcome.clone());
            Chosen { subject, outcome, exchange: exchange.clone(), count: 0 }
        });
        chosen.count += 1;
        if exchange.length() < chosen.exchange.length() {
            chosen.exchange = exchange;
        }
    }

    fn leave_out(&mut self, reason: LeftOut) {
        *self.left_out.entry(reason).or_default() += 1;
    }
}

impl Exchange {
    /// Its messages, the call first.
    pub fn sides(&self) -> impl Iterator<Item = &Side> {
        self.call.iter().chain(&self.answer)
    }

    fn length(&self) -> usize {
        self.sides().map(|side| side.text.len()).sum()
    }
}

fn canonical(value: &Value<'_>) -> String {
    let mut out = String::new();
    // With exact numbers there is no error.
    let _ = json::write_canonical(value, Numbers::Exact, &mut out);
    out
}

/// Whether programs read it that keep numbers as doubles and nest 128 levels deep.
fn is_portable(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}

fn outcome(message: &Message<'_>) -> CallOutcome {
    match &message.error {
        Some(ErrorMember::Object(error)) => CallOutcome::Error(error.code.as_deref().unwrap_or_default().to_owned()),
        Some(ErrorMember::Other(_)) => CallOutcome::Error(String::new()),
        None => {
            let failed = message.is_error() == Some(true);
            if failed { CallOutcome::ToolFailure } else { CallOutcome::Result }
        }
    }
}

/// The first problem that keeps a message from being an example.
fn hindrance(problems: Problems) -> Option<Problem> {
    problems.iter().find(|problem| !is_harmless(*problem))
}

/// The first problem that the JSON Schema of messages knows, where all of them can be shown.
fn fault(problems: Problems) -> Option<Problem> {
    let can_be_shown = problems.iter().all(|problem| is_fault(&problem) || is_harmless(problem));
    problems.iter().find(is_fault).filter(|_| can_be_shown)
}

/// Whether a message with the problem can be an example.
fn is_harmless(problem: Problem) -> bool {
    matches!(problem, Problem::NullRequestId | Problem::Reconstructed)
}

fn is_fault(problem: &Problem) -> bool {
    matches!(
        problem,
        Problem::MissingVersion
            | Problem::WrongVersion
            | Problem::ScalarParams
            | Problem::ErrorNotObject
            | Problem::BadErrorCode
            | Problem::BadErrorMessage
            | Problem::BothResultAndError
    )
}
