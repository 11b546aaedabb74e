//! Makes examples from captured traffic: one exchange for each method and each outcome.
//!
//! A [`Capture`] reads logs. Of all exchanges with the same method, direction and outcome, it keeps the shortest, or
//! the first of several with the same length. Its memory therefore grows with the number of examples and of open
//! requests, not with the size of the logs. [`block`] makes a building block from the examples.
//!
//! An example is a valid message of JSON-RPC 2.0. Other messages are counted in [`Capture::left_out`]; for each fault
//! that the JSON Schema detects, [`Capture::faulty`] keeps the shortest message.

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

/// An exchange: a call, its answer, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The name of its log.
    pub log: String,
    /// The request or the notification.
    pub call: Option<Side>,
    /// The answer to the request.
    pub answer: Option<Side>,
}

/// The exchange chosen among several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenExchange {
    /// Its method and caller.
    pub subject: ExampleKey,
    /// Its outcome.
    pub outcome: CallOutcome,
    /// The shortest exchange.
    pub exchange: Exchange,
    /// The number of exchanges.
    pub count: u64,
}

/// The reason why a message is not in an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum OmissionReason {
    /// The record is not JSON.
    #[error("no JSON")]
    NotJson,
    /// JSON, but not a JSON-RPC message.
    #[error("no JSON-RPC message")]
    NoMessage,
    /// A message with this problem.
    #[error("{}", .0.name())]
    Problem(Problem),
    /// A member has the name of a JSON-LD keyword, which JSON-LD would interpret in the example.
    #[error("a member named like a keyword of JSON-LD")]
    KeywordMember,
    /// A number beyond the range of a double, or nesting too deep for other programs.
    #[error("a number or a nesting that other programs refuse")]
    NotPortable,
    /// A response whose request is not in the log.
    #[error("an answer to no request of the log")]
    NoRequest,
    /// The other side of the exchange is left out.
    #[error("its call or its answer is left out")]
    OtherSide,
}

/// Reads logs, and keeps the exchanges for examples.
#[derive(Debug, Default)]
pub struct Capture {
    /// In order of appearance.
    subjects: IndexSet<ExampleKey>,
    chosen: BTreeMap<(usize, CallOutcome), ChosenExchange>,
    faulty: BTreeMap<Problem, String>,
    left_out: BTreeMap<OmissionReason, u64>,
    records: u64,
}

/// One side of a completed exchange, `None` if it is not in the log; or the reason why its message cannot be in an
/// example.
type CapturedSide = Result<Option<Side>, OmissionReason>;

/// The requests that are not answered yet, each with the index of its subject.
type OpenCalls = HashMap<Name, (usize, CapturedSide)>;

/// The sessions of a log, and their open exchanges.
#[derive(Default)]
struct OpenExchanges {
    sessions: Sessions,
    open: OpenCalls,
}

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
        let mut ongoing = OpenExchanges::default();
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

    /// Returns the chosen exchange of each kind: methods in order of appearance, results before errors.
    pub fn chosen(&self) -> impl Iterator<Item = &ChosenExchange> {
        self.chosen.values()
    }

    /// Returns, for each fault that makes a message invalid by the JSON Schema of messages, the shortest message with
    /// the fault.
    pub fn faulty(&self) -> &BTreeMap<Problem, String> {
        &self.faulty
    }

    /// Returns the number of messages that are not in any example, by reason.
    pub fn left_out(&self) -> &BTreeMap<OmissionReason, u64> {
        &self.left_out
    }

    /// Returns the number of records read.
    pub fn records(&self) -> u64 {
        self.records
    }

    fn record(&mut self, log: &str, ongoing: &mut OpenExchanges, record: &Record<'_>, summary: &mut Summary) {
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
        summary.count(&content);
        let OpenExchanges { sessions, open } = ongoing;
        let mut texts = texts.into_iter();
        for node in sessions.annotate(record, content) {
            match &node.node {
                Node::Message(message) => {
                    let part = self.part(&node, message, texts.next().unwrap_or_default());
                    self.message(log, open, &node, message, part);
                }
                Node::Invalid(_) => {
                    texts.next();
                    self.leave_out(OmissionReason::NoMessage);
                }
                Node::Malformed(_) => self.leave_out(OmissionReason::NotJson),
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
        let mut place = || self.place(message.method.as_deref(), node.sender);
        match message.kind {
            Kind::Notification => {
                let place = place();
                self.settle(log, place, CallOutcome::Notification, part, Ok(None));
            }
            // A null id does not identify the answer.
            Kind::Request if message.id == Some(Id::Null) => {
                let place = place();
                self.settle(log, place, CallOutcome::NoAnswer, part, Ok(None));
            }
            Kind::Request => drop(open.insert(node.name, (place(), part))),
            Kind::Response | Kind::ErrorResponse => match node.responds_to.and_then(|name| open.remove(&name)) {
                Some((place, call)) => self.settle(log, place, outcome(message), call, part),
                // The answer to a call that could not be read; its method is unknown, too.
                None if message.kind == Kind::ErrorResponse && message.id == Some(Id::Null) => {
                    let place = self.place(None, node.sender.map(Sender::other));
                    self.settle(log, place, outcome(message), Ok(None), part);
                }
                None if part.is_err() => {}
                None => self.leave_out(OmissionReason::NoRequest),
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
        let reason = if extra.any(|(name, _)| name.as_str().is_some_and(is_keyword_like)) {
            OmissionReason::KeywordMember
        } else if !is_portable(&text) {
            OmissionReason::NotPortable
        } else if let Some(problem) = hindrance(node.problems) {
            if let Some(fault) = fault(node.problems) {
                self.keep_faulty(fault, text);
            }
            OmissionReason::Problem(problem)
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

    /// Completes an exchange.
    fn settle(&mut self, log: &str, place: usize, outcome: CallOutcome, call: CapturedSide, answer: CapturedSide) {
        let (call, answer) = match (call, answer) {
            (Ok(call), Ok(answer)) => (call, answer),
            (Ok(Some(_)), Err(_)) | (Err(_), Ok(Some(_))) => return self.leave_out(OmissionReason::OtherSide),
            _ => return,
        };
        let Some(subject) = self.subjects.get_index(place) else { return };
        let exchange = Exchange { log: log.to_owned(), call, answer };
        let chosen = self.chosen.entry((place, outcome)).or_insert_with_key(|(_, outcome)| {
            let (subject, outcome) = (subject.clone(), outcome.clone());
            ChosenExchange { subject, outcome, exchange: exchange.clone(), count: 0 }
        });
        chosen.count += 1;
        if exchange.length() < chosen.exchange.length() {
            chosen.exchange = exchange;
        }
    }

    fn leave_out(&mut self, reason: OmissionReason) {
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
    // Writing exact numbers does not fail.
    let _ = json::write_canonical(value, Numbers::Exact, &mut out);
    out
}

/// True for a text that programs with doubles for numbers and at most 128 levels of nesting can read.
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

/// Returns the first problem that keeps a message from being an example.
fn hindrance(problems: Problems) -> Option<Problem> {
    problems.iter().find(|problem| !is_harmless(*problem))
}

/// Returns the first problem that the JSON Schema of messages detects, if all of the message's problems can be shown.
fn fault(problems: Problems) -> Option<Problem> {
    let can_be_shown = problems.iter().all(|problem| is_fault(&problem) || is_harmless(problem));
    problems.iter().find(is_fault).filter(|_| can_be_shown)
}

/// True if a message with the problem can be an example.
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
