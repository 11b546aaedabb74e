//! OTLP/JSON: each exchange with times as a span, one per line.
//!
//! `mapping/spans.rs` makes the attributes, and documents them. Ids are derived from IRIs, so that the same log has the
//! same spans.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::Write;

use serde_json::{Value, json};

use super::record_sink::{RecordSink, SinkError, SinkInput};
use super::rendered::Rendered;
use crate::VERSION;
use crate::json::sha256;
use crate::protocol::OpenRequests;
use crate::record::Sender;
use crate::session::{Name, RequestState};

/// The version of OpenTelemetry's conventions for the attributes.
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.44.0";
/// The maximum number of events in a span, OpenTelemetry's default limit.
const EVENTS: usize = 128;

/// The maximum number of requests that wait for their answers; beyond it, the oldest counts as unanswered.
const OPEN: usize = 1 << 14;
/// The maximum length of an attribute, in characters.
const LONGEST: usize = 4 << 10;

/// Writes exchanges as spans, and counts messages that do not become part of a span.
pub(crate) struct Spans<'w> {
    writer: Box<dyn Write + Send + 'w>,
    payloads: bool,
    source: String,
    /// The names of the programs of sessions, by the references of these: the server, else the client.
    services: HashMap<String, String>,
    open: OpenRequests<TimedRequest>,
    /// The sessions with answers before their requests, and their exchanges since the first one, until the sessions end:
    /// their latencies may be corrected.
    skewed: HashSet<String>,
    held: VecDeque<(TimedRequest, Answer)>,
    pub counts: SpanCounts,
}

/// The number of spans written, and of messages that are not part of a span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpanCounts {
    /// Spans written.
    pub spans: u64,
    /// Messages without a time, a zone or a date, and requests whose answers lack them.
    pub untimed: u64,
    /// Requests without an answer of which the log does not tell when their wait ended.
    pub unanswered: u64,
    /// Requests whose answers the log does not hold, as it has one side alone or lacks most answers.
    pub not_captured: u64,
    /// Answers without a timed request; notifications that do not refer to an open request, or exceed its limit of
    /// events.
    pub apart: u64,
}

/// A request with a time.
#[derive(Debug)]
pub(crate) struct TimedRequest {
    /// Nanoseconds since 1970.
    pub start: i128,
    pub iri: String,
    /// The reference of its session.
    pub session: String,
    pub name: String,
    /// The trace and the parent span, if the request states them.
    pub trace: Option<[String; 2]>,
    pub attributes: Vec<Value>,
    pub events: Vec<Value>,
}

/// The part of a span that comes from the answer.
pub(crate) struct Answer {
    pub name: Name,
    /// The duration in nanoseconds; `None` if it is unknown, since the answer has a time before its request.
    pub took: Option<i128>,
    pub attributes: Vec<Value>,
    pub status: Value,
}

/// The part that a message plays in a span.
pub(crate) enum SpanPart {
    Asks(Name, Box<TimedRequest>),
    /// A program of a session states its name.
    Introduces(String, Sender, String),
    /// An answer to a request.
    Answers(Name, Box<Answer>),
    /// The end of a session: its reference, and the latencies of answers that the clocks' offset corrects, in nanoseconds.
    Ends(String, HashMap<Name, i128>),
    /// A notification: the request that it refers to, and its event.
    Tells(Option<Name>, Value),
    /// A message without a time.
    Untimed,
    /// An answer without a time: its request.
    UntimedAnswer(Name),
    /// An answer to an unknown request.
    Apart,
    /// A request without an answer, the end of its session or its restart in nanoseconds, and its state there.
    Silent(Name, Option<i128>, RequestState),
}

/// The parts of spans from a worker.
pub(crate) struct SpanRecords {
    pub iri: String,
    pub payloads: bool,
    pub parts: Vec<SpanPart>,
}

/// Creates a string attribute, truncated to `LONGEST` characters.
pub(crate) fn attribute(key: &str, text: &str) -> Value {
    let text: String = text.chars().take(LONGEST).collect();
    json!({ "key": key, "value": { "stringValue": text } })
}

/// Creates an attribute that is true.
fn flag(key: &str) -> Value {
    json!({ "key": key, "value": { "boolValue": true } })
}

impl<'w> Spans<'w> {
    /// Creates a writer of spans. With `payloads`, it also writes error messages, and URIs and arguments of tools.
    pub fn new(writer: impl Write + Send + 'w, payloads: bool) -> Self {
        let (source, services, skewed, held, counts) = Default::default();
        let open = OpenRequests::new(OPEN);
        Self { writer: Box::new(writer), payloads, source, services, open, skewed, held, counts }
    }

    fn write(
        &mut self,
        asked: TimedRequest,
        took: i128,
        attributes: Vec<Value>,
        status: &Value,
    ) -> Result<(), SinkError> {
        let digest = sha256(asked.iri.as_bytes());
        let id = |part: std::ops::Range<usize>| digest.get(part).unwrap_or_default().to_owned();
        let [trace, parent] = asked.trace.unwrap_or_else(|| [id(0..32), String::new()]);
        let service = self.services.get(&asked.session).map_or(&self.source, |name| name);
        let all = [asked.attributes, attributes].concat();
        let span = json!({
            "traceId": trace, "spanId": id(32..48), "parentSpanId": parent, "name": asked.name, "kind": 3,
            "startTimeUnixNano": asked.start.to_string(), "endTimeUnixNano": (asked.start + took).to_string(),
            "attributes": all, "events": asked.events, "status": status,
        });
        let scope = json!({ "name": "rpcgraph", "version": VERSION });
        let line = json!({ "resourceSpans": [{
            "resource": { "attributes": [attribute("service.name", service)] },
            "scopeSpans": [{ "scope": scope, "spans": [span], "schemaUrl": SCHEMA }],
            "schemaUrl": SCHEMA,
        }] });
        self.counts.spans += 1;
        Ok(writeln!(self.writer, "{line}")?)
    }

    /// Writes an exchange, now or as its session ends.
    fn answered(&mut self, asked: TimedRequest, answer: Answer) -> Result<(), SinkError> {
        if answer.took.is_none() && !self.skewed.contains(&asked.session) {
            self.skewed.insert(asked.session.clone());
        }
        if !self.skewed.contains(&asked.session) {
            return self.write_answered(asked, answer);
        }
        self.held.push_back((asked, answer));
        match self.held.len() > OPEN {
            true => self.held.pop_front().map_or(Ok(()), |(asked, answer)| self.write_answered(asked, answer)),
            false => Ok(()),
        }
    }

    fn write_answered(&mut self, asked: TimedRequest, mut answer: Answer) -> Result<(), SinkError> {
        if answer.took.is_none() {
            answer.attributes.push(flag("rpcgraph.answer_before_request"));
        }
        self.write(asked, answer.took.unwrap_or_default(), answer.attributes, &answer.status)
    }

    /// Writes the exchanges that were held for a session, or for all, with these latencies.
    fn end_session(&mut self, session: Option<&str>, latencies: &HashMap<Name, i128>) -> Result<(), SinkError> {
        let (ended, others) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|(asked, _)| session.is_none_or(|session| asked.session == session));
        self.held = others;
        for (asked, mut answer) in VecDeque::into_iter(ended) {
            if let Some(took) = latencies.get(&answer.name) {
                answer.took = Some(*took);
                answer.attributes.push(flag("rpcgraph.latency_estimated"));
            }
            self.write_answered(asked, answer)?;
        }
        Ok(())
    }

    /// Writes a request without an answer, up to its cancellation, the restart of the connection, or the end of its session.
    fn write_silent(&mut self, mut asked: TimedRequest, ended: i128, state: RequestState) -> Result<(), SinkError> {
        let told = asked.events.iter().rev().find_map(|event| event["timeUnixNano"].as_str()?.parse().ok());
        let ended = told.filter(|_| state == RequestState::Cancelled).unwrap_or(ended).max(asked.start);
        let mut attributes = vec![attribute("rpcgraph.state", &format!("{state:?}").to_lowercase())];
        let is_expected = matches!(state, RequestState::Cancelled | RequestState::Waiting);
        if !is_expected {
            attributes.insert(0, attribute("error.type", "no_answer"));
            asked.events.push(json!({ "timeUnixNano": ended.to_string(), "name": "rpcgraph.no_answer" }));
        }
        let took = ended - asked.start;
        self.write(asked, took, attributes, &if is_expected { json!({}) } else { json!({ "code": 2 }) })
    }
}

impl RecordSink for Spans<'_> {
    type Rendered = SpanRecords;

    fn start(&mut self, input: &SinkInput<'_>) -> Result<(), SinkError> {
        self.end_session(None, &HashMap::new())?;
        self.skewed.clear();
        self.counts.unanswered += self.open.clear();
        self.services.clear();
        self.source = input.source.to_owned();
        Ok(())
    }

    fn rendered(&self, input: &SinkInput<'_>) -> SpanRecords {
        SpanRecords { iri: input.iri.to_owned(), payloads: self.payloads, parts: Vec::new() }
    }

    fn take(&mut self, records: &mut SpanRecords) -> Result<(), SinkError> {
        for part in records.parts.drain(..) {
            match part {
                SpanPart::Asks(name, asked) => {
                    self.counts.unanswered += u64::from(self.open.insert(name, *asked).is_some())
                }
                SpanPart::Introduces(session, side, name) => {
                    // The last sessions matter: an answer comes soon.
                    if self.services.len() == OPEN {
                        self.services.clear();
                    }
                    let service = self.services.entry(session).or_insert_with(|| name.clone());
                    if side == Sender::Server {
                        *service = name;
                    }
                }
                SpanPart::Answers(request, answer) => match self.open.take(request) {
                    Some(asked) => self.answered(asked, *answer)?,
                    None => self.counts.apart += 1,
                },
                SpanPart::Ends(session, latencies) => self.end_session(Some(&session), &latencies)?,
                SpanPart::Tells(about, event) => match about.and_then(|request| self.open.get_mut(request)) {
                    Some(asked) if asked.events.len() < EVENTS => asked.events.push(event),
                    _ => self.counts.apart += 1,
                },
                SpanPart::Untimed => self.counts.untimed += 1,
                SpanPart::UntimedAnswer(request) => {
                    self.counts.untimed += 1 + u64::from(self.open.take(request).is_some());
                }
                SpanPart::Apart => self.counts.apart += 1,
                SpanPart::Silent(request, ended, state) => match (self.open.take(request), ended) {
                    (Some(_), _) if state == RequestState::NotCaptured => self.counts.not_captured += 1,
                    (Some(asked), Some(ended)) => self.write_silent(asked, ended, state)?,
                    (Some(_), _) => self.counts.unanswered += 1,
                    (None, _) => {}
                },
            }
        }
        Ok(self.writer.flush()?)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.end_session(None, &HashMap::new())?;
        self.counts.unanswered += self.open.clear();
        Ok(self.writer.flush()?)
    }
}

impl Rendered for SpanRecords {
    fn clear(&mut self) {
        self.parts.clear();
    }
}
