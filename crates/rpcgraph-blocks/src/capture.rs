//! Makes examples from captured traffic: one exchange for each method and each outcome.
//!
//! A [`Capture`] reads logs. Of all exchanges with the same method, direction and outcome, it keeps the shortest, or
//! the first of several with the same length. Its memory therefore grows with the number of examples and of open
//! requests, not with the size of the logs. [`block`] makes a building block from the examples.
//!
//! An example is a valid message of JSON-RPC 2.0. Other messages are counted in [`Capture::left_out`].

mod files;

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use indexmap::IndexSet;

pub use self::files::{block, write};
use crate::json::{self, Value};
use crate::log::summary::Summary;
use crate::message::{Content, ErrorMember, Id, Kind, Message, Payload, Problem, is_keyword_like};
use crate::record::{Entry, ReadError, Reader, ReaderOptions, Record, Sender};
use crate::session::{Annotated, Name, Node, Sessions};

/// The outcome of an exchange.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallOutcome {
    /// A result.
    Result,
    /// A result that reports the failure of a tool: an object in which `isError` is true, as in MCP.
    ToolFailure,
    /// An error with this code, in plain decimal digits.
    Error(String),
    /// The log does not contain an answer.
    NoAnswer,
    /// The call was a notification, which is not answered.
    Notification,
}

/// The properties that all exchanges of one example share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExampleKey {
    /// The method; `None` if an error answers a call that could not be read.
    pub method: Option<String>,
    /// The side that called, if known.
    pub caller: Option<Sender>,
}

/// One side of an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// The message, as canonical JSON that keeps all numbers exactly.
    pub text: String,
    /// The message's place in its log.
    pub name: Name,
    /// True if the message was reconstructed from parts in the log.
    pub reconstructed: bool,
}

/// The exchange chosen among several: a call, its answer, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenExchange {
    /// Its method and caller.
    pub subject: ExampleKey,
    /// Its outcome.
    pub outcome: CallOutcome,
    /// The name of its log.
    pub log: String,
    /// The request or the notification.
    pub call: Option<Side>,
    /// The answer to the request.
    pub answer: Option<Side>,
    /// The number of exchanges of which it is the shortest.
    pub count: u64,
}

/// Reads logs, and keeps the exchanges for examples.
#[derive(Debug, Default)]
pub struct Capture {
    /// In order of appearance.
    subjects: IndexSet<ExampleKey>,
    chosen: BTreeMap<(usize, CallOutcome), ChosenExchange>,
    left_out: BTreeMap<&'static str, u64>,
    records: u64,
}

/// One side of a completed exchange, `None` if it is not in the log; or the reason why its message cannot be in an
/// example.
type CapturedSide = Result<Option<Side>, &'static str>;

/// The requests that are not answered yet, each with the index of its subject.
type OpenCalls = HashMap<Name, (usize, CapturedSide)>;

impl Capture {
    /// Creates a capture that has not read a log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a log to its end; examples name it `log`. Returns the counts of its records.
    ///
    /// # Errors
    ///
    /// If the log cannot be read to its end. The messages read before stay.
    pub fn read(&mut self, log: &str, input: impl Read + Send, options: &ReaderOptions) -> Result<Summary, ReadError> {
        let mut reader = Reader::new(input, options)?;
        let mut summary = Summary::new(reader.format(), reader.wrappers());
        let (mut sessions, mut open) = (Sessions::default(), OpenCalls::new());
        while let Some(entry) = reader.next_entry()? {
            let Entry::Record(record) = entry else {
                summary.log_lines += 1;
                continue;
            };
            let (texts, mut content) = read(&record);
            summary.count(&content);
            self.record(log, &mut open, sessions.annotate(&record, &mut content), texts);
        }
        let mut open: Vec<_> = open.into_iter().collect();
        open.sort_by_key(|(name, _)| *name);
        for (_, (place, call)) in open {
            self.settle(log, place, CallOutcome::NoAnswer, call, Ok(None));
        }
        summary.end_input(options.is_stated(), reader.head());
        self.records += summary.records;
        Ok(summary)
    }

    /// Returns the chosen exchange of each kind: methods in order of appearance, results before errors.
    pub fn chosen(&self) -> impl Iterator<Item = &ChosenExchange> {
        self.chosen.values()
    }

    /// Returns the number of messages that are not in any example, by reason.
    pub fn left_out(&self) -> &BTreeMap<&'static str, u64> {
        &self.left_out
    }

    /// Returns the number of records read.
    pub fn records(&self) -> u64 {
        self.records
    }

    fn record<'r>(
        &mut self,
        log: &str,
        open: &mut OpenCalls,
        nodes: impl IntoIterator<Item = Annotated<'r>>,
        texts: Vec<String>,
    ) {
        let mut texts = texts.into_iter();
        for node in nodes {
            match &node.node {
                Node::Message(message) => {
                    let part = self.part(&node, message, texts.next().unwrap_or_default());
                    self.message(log, open, &node, message, part);
                }
                Node::Invalid(_) => {
                    texts.next();
                    self.leave_out("no JSON-RPC message");
                }
                Node::Malformed(_) => self.leave_out("no JSON"),
                Node::Batch | Node::Exchange(_) | Node::LogLine { .. } => {}
            }
        }
    }

    fn message(
        &mut self,
        log: &str,
        open: &mut OpenCalls,
        node: &Annotated<'_>,
        message: &Message<'_>,
        part: CapturedSide,
    ) {
        let is_call = matches!(message.kind, Kind::Notification | Kind::Request);
        let place = if is_call { self.place(message.method.as_deref(), node.sender) } else { 0 };
        match message.kind {
            Kind::Notification => self.settle(log, place, CallOutcome::Notification, part, Ok(None)),
            // A null id does not identify the answer.
            Kind::Request if message.id == Some(Id::Null) => {
                self.settle(log, place, CallOutcome::NoAnswer, part, Ok(None));
            }
            Kind::Request => drop(open.insert(node.name, (place, part))),
            Kind::Response | Kind::ErrorResponse => match node.responds_to.and_then(|name| open.remove(&name)) {
                Some((place, call)) => self.settle(log, place, outcome(message), call, part),
                // The answer to a call that could not be read; its method is unknown, too.
                None if message.kind == Kind::ErrorResponse && message.id == Some(Id::Null) => {
                    let place = self.place(None, node.sender.map(Sender::other));
                    self.settle(log, place, outcome(message), Ok(None), part);
                }
                None if part.is_err() => {}
                None => self.leave_out("an answer to no request of the log"),
            },
        }
    }

    /// Returns the index of a subject, and adds new subjects.
    fn place(&mut self, method: Option<&str>, caller: Option<Sender>) -> usize {
        self.subjects.insert_full(ExampleKey { method: method.map(str::to_owned), caller }).0
    }

    /// Returns the message as one side of an example, or the reason why it cannot be one.
    fn part(&mut self, node: &Annotated<'_>, message: &Message<'_>, text: String) -> CapturedSide {
        let error_members = match &message.error {
            Some(ErrorMember::Object(error)) => error.extra.listed(),
            _ => &[],
        };
        let mut extra = message.extra.listed().iter().chain(error_members);
        let is_hindrance = |problem: &Problem| !matches!(problem, Problem::NullRequestId | Problem::Reconstructed);
        let reason = if extra.any(|(name, _)| name.as_str().is_some_and(is_keyword_like)) {
            "a member named like a keyword of JSON-LD"
        } else if !is_portable(&text) {
            "a number or a nesting that other programs refuse"
        } else if let Some(problem) = node.problems.iter().find(is_hindrance) {
            problem.name()
        } else {
            let reconstructed = node.problems.contains(Problem::Reconstructed);
            return Ok(Some(Side { text, name: node.name, reconstructed }));
        };
        self.leave_out(reason);
        Err(reason)
    }

    /// Completes an exchange.
    fn settle(&mut self, log: &str, place: usize, outcome: CallOutcome, call: CapturedSide, answer: CapturedSide) {
        let (call, answer) = match (call, answer) {
            (Ok(call), Ok(answer)) => (call, answer),
            (Ok(Some(_)), Err(_)) | (Err(_), Ok(Some(_))) => {
                return self.leave_out("its call or its answer is left out");
            }
            _ => return,
        };
        let Some(subject) = self.subjects.get_index(place) else { return };
        let (subject, log) = (subject.clone(), log.to_owned());
        let new = ChosenExchange { subject, outcome: outcome.clone(), log, call, answer, count: 0 };
        let chosen = self.chosen.entry((place, outcome)).or_insert_with(|| new.clone());
        let count = chosen.count + 1;
        if new.length() < chosen.length() {
            *chosen = new;
        }
        chosen.count = count;
    }

    fn leave_out(&mut self, reason: &'static str) {
        *self.left_out.entry(reason).or_default() += 1;
    }
}

impl ChosenExchange {
    /// Its messages, the call first.
    pub fn sides(&self) -> impl Iterator<Item = &Side> {
        self.call.iter().chain(&self.answer)
    }

    fn length(&self) -> usize {
        self.sides().map(|side| side.text.len()).sum()
    }
}

/// Returns the messages of a record as canonical JSON, and its content.
fn read<'r>(record: &'r Record<'r>) -> (Vec<String>, Content<'r>) {
    let canonical = |value: &Value<'_>| Payload::from(value).text.into_owned();
    let texts = match json::parse(&record.bytes) {
        Ok(Value::Array(array)) => array.items.iter().map(canonical).collect(),
        Ok(value) => vec![canonical(&value)],
        Err(_) => Vec::new(),
    };
    let parse = if record.flags.result_unknown { Content::parse_without_result } else { Content::parse };
    (texts, parse(&record.bytes))
}

/// True for a text that programs with doubles for numbers and at most 128 levels of nesting can read.
fn is_portable(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}

fn outcome(message: &Message<'_>) -> CallOutcome {
    match &message.error {
        Some(ErrorMember::Object(error)) => CallOutcome::Error(error.code.as_deref().unwrap_or_default().to_owned()),
        Some(ErrorMember::Other(_)) => CallOutcome::Error(String::new()),
        None if message.is_error() == Some(true) => CallOutcome::ToolFailure,
        None => CallOutcome::Result,
    }
}
