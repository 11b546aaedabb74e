//! Makes examples from captured traffic: one exchange for each method, each tool and each outcome.
//!
//! A [`Capture`] reads logs. For each combination of method, tool, direction and outcome, it keeps the shortest exchange,
//! or the first of several with the same length. Its memory therefore grows with the number of examples and of open
//! requests, not with the size of the logs. [`block`] makes a building block from the examples, and [`collection`] a
//! folder of logs of one exchange each, with a manifest.
//!
//! An example is a valid message of JSON-RPC 2.0. Other messages are counted in [`Capture::left_out`].

mod files;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};

use indexmap::IndexSet;
use regex::Regex;
use sha2::{Digest as _, Sha256};

pub use self::files::{block, collection, write};
use crate::json::{self, Value};
use crate::log::summary::Summary;
use crate::message::{Content, ErrorMember, Id, Kind, Message, Payload, Problem};
use crate::record::{Entry, ReadError, Reader, ReaderOptions, Record, Sender};
use crate::session::{Annotated, Name, Node, Sessions};

/// The outcome of an exchange.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExampleOutcome {
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
    /// The tool that `tools/call` of MCP names.
    pub tool: Option<String>,
    /// The side that called, if known.
    pub caller: Option<Sender>,
}

/// One side of an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleSide {
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
    pub outcome: ExampleOutcome,
    /// The name of its log.
    pub log: String,
    /// The request or the notification.
    pub call: Option<ExampleSide>,
    /// The answer to the request.
    pub answer: Option<ExampleSide>,
    /// The number of exchanges of its kind.
    pub count: u64,
    /// The programs on both sides, as the log states them before this exchange ends.
    pub peers: Peers,
}

/// The programs on both sides of a session, and the revision of their protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peers {
    /// Name and version of the client.
    pub client: Option<String>,
    /// Name and version of the server.
    pub server: Option<String>,
    /// The revision that the server chose, or else the revision that the client asked for.
    pub revision: Option<String>,
}

/// A log that was read.
#[derive(Debug, Clone)]
pub struct CapturedLog {
    /// Its name.
    pub name: String,
    /// The SHA-256 digest of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// The number of its records.
    pub records: u64,
}

/// The exchanges to keep.
#[derive(Debug, Clone)]
pub struct CaptureOptions {
    /// Patterns of methods; empty for all.
    pub methods: Vec<Regex>,
    /// Patterns of tools; empty for all.
    pub tools: Vec<Regex>,
    /// The number of exchanges to keep of each kind.
    pub each: usize,
}

impl Default for CaptureOptions {
    fn default() -> Self {
        Self { methods: Vec::new(), tools: Vec::new(), each: 1 }
    }
}

impl CaptureOptions {
    fn take(&self, subject: &ExampleKey) -> bool {
        let fits = |patterns: &[Regex], text: Option<&str>| {
            patterns.is_empty() || text.is_some_and(|text| patterns.iter().any(|pattern| pattern.is_match(text)))
        };
        fits(&self.methods, subject.method.as_deref()) && fits(&self.tools, subject.tool.as_deref())
    }
}

/// Reads logs, and keeps the exchanges for examples.
#[derive(Debug, Default)]
pub struct Capture {
    /// In order of appearance.
    subjects: IndexSet<ExampleKey>,
    options: CaptureOptions,
    /// The shortest exchanges of each kind, in the order of their lengths.
    chosen: BTreeMap<(usize, ExampleOutcome), Vec<ChosenExchange>>,
    logs: Vec<CapturedLog>,
    /// The programs of each session of the log being read, by key.
    peers: HashMap<Option<String>, Peers>,
    left_out: BTreeMap<&'static str, u64>,
    records: u64,
}

/// One side of a completed exchange, `None` if it is not in the log; or the reason why its message cannot be in an
/// example.
type CapturedSide = Result<Option<ExampleSide>, &'static str>;

/// The requests that are not answered yet, each with the index of its subject.
type OpenCalls = HashMap<Name, (usize, CapturedSide)>;

impl Capture {
    /// Creates a capture that has not read a log.
    pub fn new(options: CaptureOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Returns the methods and tools that were read, whether the options take them or not.
    pub fn subjects(&self) -> impl Iterator<Item = &ExampleKey> {
        self.subjects.iter()
    }

    /// Reads a log to its end; examples name it `log`. Returns the counts of its records.
    ///
    /// # Errors
    ///
    /// If the log cannot be read to its end. The messages read before stay.
    pub fn read(&mut self, log: &str, input: impl Read + Send, options: &ReaderOptions) -> Result<Summary, ReadError> {
        let mut digest = Sha256::new();
        let mut reader = Reader::new(HashedReader { input, digest: &mut digest }, options)?;
        let mut summary = Summary::new(&reader);
        let (mut sessions, mut open) = (Sessions::default(), OpenCalls::new());
        while let Some(entry) = reader.next_entry()? {
            let Entry::Record(record) = entry else {
                summary.log_lines += 1;
                continue;
            };
            let (texts, mut content) = read(&record);
            summary.count(&content);
            let nodes = sessions.annotate(&record, &mut content);
            let session = sessions.last_key().map(str::to_owned);
            self.record(log, session, &mut open, nodes, texts);
        }
        let mut open: Vec<_> = open.into_iter().collect();
        open.sort_by_key(|(name, _)| *name);
        for (_, (place, call)) in open {
            self.settle(log, &None, place, ExampleOutcome::NoAnswer, call, Ok(None));
        }
        summary.end_input(options.is_stated() || reader.learned().is_some(), reader.head());
        drop(reader);
        self.records += summary.records;
        let sha256 = hex::encode(digest.finalize());
        self.logs.push(CapturedLog { name: log.to_owned(), sha256, records: summary.records });
        self.peers.clear();
        Ok(summary)
    }

    /// Returns the chosen exchange of each kind: methods in order of appearance, results before errors.
    pub fn chosen(&self) -> impl Iterator<Item = &ChosenExchange> {
        self.chosen.values().flatten()
    }

    /// Returns the logs that were read.
    pub fn logs(&self) -> &[CapturedLog] {
        &self.logs
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
        session: Option<String>,
        open: &mut OpenCalls,
        nodes: impl IntoIterator<Item = Annotated<'r>>,
        texts: Vec<String>,
    ) {
        let mut texts = texts.into_iter();
        for node in nodes {
            match &node.node {
                Node::Message(message) => {
                    let part = self.part(&node, message, texts.next().unwrap_or_default());
                    self.message(log, &session, open, &node, message, part);
                }
                Node::Invalid(_) => {
                    texts.next();
                    self.leave_out("no JSON-RPC message");
                }
                Node::Malformed(_) => self.leave_out("no JSON"),
                Node::Batch | Node::Exchange(_) | Node::Closing(_) | Node::LogLine { .. } => {}
            }
        }
    }

    fn message(
        &mut self,
        log: &str,
        session: &Option<String>,
        open: &mut OpenCalls,
        node: &Annotated<'_>,
        message: &Message<'_>,
        part: CapturedSide,
    ) {
        self.peers.entry(session.clone()).or_default().learn(message);
        let is_call = matches!(message.kind, Kind::Notification | Kind::Request);
        let place = if is_call { self.subject_index(message.method.as_deref(), tool(message), node.sender) } else { 0 };
        match message.kind {
            Kind::Notification => self.settle(log, session, place, ExampleOutcome::Notification, part, Ok(None)),
            // A null id does not identify the answer.
            Kind::Request if message.id == Some(Id::Null) => {
                self.settle(log, session, place, ExampleOutcome::NoAnswer, part, Ok(None));
            }
            Kind::Request => drop(open.insert(node.name, (place, part))),
            Kind::Response | Kind::ErrorResponse => match node.responds_to.and_then(|name| open.remove(&name)) {
                Some((place, call)) => self.settle(log, session, place, outcome(message), call, part),
                // The answer to a call that could not be read; its method is unknown, too.
                None if message.kind == Kind::ErrorResponse && message.id == Some(Id::Null) => {
                    let place = self.subject_index(None, None, node.sender.map(Sender::other));
                    self.settle(log, session, place, outcome(message), Ok(None), part);
                }
                None if part.is_err() => {}
                None => self.leave_out("an answer to no request of the log"),
            },
        }
    }

    /// Returns the index of a subject, and adds new subjects.
    fn subject_index(&mut self, method: Option<&str>, tool: Option<String>, caller: Option<Sender>) -> usize {
        self.subjects.insert_full(ExampleKey { method: method.map(str::to_owned), tool, caller }).0
    }

    /// Returns the message as one side of an example, or the reason why it cannot be one.
    fn part(&mut self, node: &Annotated<'_>, message: &Message<'_>, text: String) -> CapturedSide {
        let is_hindrance = |problem: &Problem| !matches!(problem, Problem::NullRequestId | Problem::Reconstructed);
        let reason = if message.problems.contains(Problem::KeywordMember) {
            "a member named like a keyword of JSON-LD"
        } else if !is_portable(&text) {
            "a number or a nesting that other programs refuse"
        } else if let Some(problem) = node.problems.iter().find(is_hindrance) {
            problem.name()
        } else {
            let reconstructed = node.problems.contains(Problem::Reconstructed);
            return Ok(Some(ExampleSide { text, name: node.name, reconstructed }));
        };
        self.leave_out(reason);
        Err(reason)
    }

    /// Completes an exchange.
    fn settle(
        &mut self,
        log: &str,
        session: &Option<String>,
        place: usize,
        outcome: ExampleOutcome,
        call: CapturedSide,
        answer: CapturedSide,
    ) {
        let (call, answer) = match (call, answer) {
            (Ok(call), Ok(answer)) => (call, answer),
            (Ok(Some(_)), Err(_)) | (Err(_), Ok(Some(_))) => {
                return self.leave_out("its call or its answer is left out");
            }
            _ => return,
        };
        let Some(subject) = self.subjects.get_index(place).filter(|subject| self.options.take(subject)) else {
            return;
        };
        let (subject, log) = (subject.clone(), log.to_owned());
        let peers = self.peers.get(session).cloned().unwrap_or_default();
        let new = ChosenExchange { subject, outcome: outcome.clone(), log, call, answer, count: 1, peers };
        let kind = self.chosen.entry((place, outcome)).or_default();
        let count = kind.first().map_or(0, |first| first.count) + 1;
        kind.insert(kind.partition_point(|other| other.length() <= new.length()), new);
        kind.truncate(self.options.each);
        kind.iter_mut().for_each(|exchange| exchange.count = count);
    }

    fn leave_out(&mut self, reason: &'static str) {
        *self.left_out.entry(reason).or_default() += 1;
    }
}

impl ChosenExchange {
    /// Its messages, the call first.
    pub fn sides(&self) -> impl Iterator<Item = &ExampleSide> {
        self.call.iter().chain(&self.answer)
    }

    fn length(&self) -> usize {
        self.sides().map(|side| side.text.len()).sum()
    }
}

impl Peers {
    /// Adds what `initialize` and its answer state.
    fn learn(&mut self, message: &Message<'_>) {
        let payload = match message.method.as_deref() {
            Some("initialize") => message.params.as_ref(),
            None => message.result.as_ref().filter(|result| result.text.contains("\"serverInfo\"")),
            _ => None,
        };
        let Some(value) = payload.and_then(|payload| serde_json::from_str::<serde_json::Value>(&payload.text).ok())
        else {
            return;
        };
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        let named = |member: &str| {
            let program = value.get(member)?;
            let version = program.get("version").and_then(text).map(|version| format!(" {version}"));
            Some(text(program.get("name")?)? + &version.unwrap_or_default())
        };
        self.client = named("clientInfo").or(self.client.take());
        self.server = named("serverInfo").or(self.server.take());
        self.revision = value.get("protocolVersion").and_then(text).or(self.revision.take());
    }
}

/// Computes the digest of what is read.
struct HashedReader<'d, R> {
    input: R,
    digest: &'d mut Sha256,
}

impl<R: Read> Read for HashedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(buffer)?;
        self.digest.update(&buffer[..length]);
        Ok(length)
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

/// Returns the tool that a call names.
fn tool(message: &Message<'_>) -> Option<String> {
    let params = message.params.as_ref().filter(|_| message.method.as_deref() == Some("tools/call"))?;
    params.string_member("name").map(String::from)
}

fn outcome(message: &Message<'_>) -> ExampleOutcome {
    match &message.error {
        Some(ErrorMember::Object(error)) => ExampleOutcome::Error(error.code.as_deref().unwrap_or_default().to_owned()),
        Some(ErrorMember::Other(_)) => ExampleOutcome::Error(String::new()),
        None if message.is_error() == Some(true) => ExampleOutcome::ToolFailure,
        None => ExampleOutcome::Result,
    }
}
