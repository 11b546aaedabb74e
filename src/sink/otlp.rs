//! OTLP/JSON: each exchange with times as a span, a line each.
//!
//! What of an exchange becomes which attribute is said where they are made, in `mapping/spans.rs`. Ids are derived from
//! IRIs, so that the same log has the same spans.

use std::io::Write;

use serde_json::{Value, json};

use super::rendered::Rendered;
use super::{RecordSink, SinkError, SinkInput};
use crate::json::sha256;
use crate::protocol::OpenRequests;
use crate::session::Name;

/// The version of OpenTelemetry's conventions that attributes follow.
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.44.0";
/// How many events a span has at most, as OpenTelemetry limits them.
const EVENTS: usize = 128;

/// How many requests wait for their answers at most; beyond that, the oldest is taken for unanswered.
const OPEN: usize = 1 << 14;
/// How many characters of an attribute there are at most.
const LONGEST: usize = 4 << 10;

/// Writes exchanges as spans, and counts what is not among them.
pub(crate) struct Spans<'w> {
    writer: Box<dyn Write + Send + 'w>,
    payloads: bool,
    source: String,
    open: OpenRequests<Asked>,
    pub counts: SpanCounts,
}

/// How many spans were written, and what is in none of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpanCounts {
    /// The spans.
    pub spans: u64,
    /// Messages without a time, or without a zone or a date of it.
    pub untimed: u64,
    /// Requests that nothing answers.
    pub unanswered: u64,
    /// Answers to no request with a time, and notifications that are about no request.
    pub apart: u64,
}

/// A request with a time.
#[derive(Debug)]
pub(crate) struct Asked {
    /// Nanoseconds since 1970.
    pub start: i128,
    pub iri: String,
    pub name: String,
    /// Trace and parent, if it says so.
    pub trace: Option<[String; 2]>,
    pub attributes: Vec<Value>,
    pub events: Vec<Value>,
}

/// What a message is of a span.
pub(crate) enum SpanPart {
    Asks(Name, Box<Asked>),
    /// An answer: its request, the nanoseconds that it took, attributes and status.
    Answers(Name, i128, Vec<Value>, Value),
    /// A notification: the request that it is about, and the event that it is.
    Tells(Option<Name>, Value),
    /// It has no time.
    Untimed,
    /// An answer to nothing.
    Apart,
}

/// The parts of spans that a worker has found.
pub(crate) struct SpanRecords {
    pub iri: String,
    pub payloads: bool,
    pub parts: Vec<SpanPart>,
}

/// An attribute that is a string, up to so many characters of it.
pub(crate) fn attribute(key: &str, text: &str) -> Value {
    let text: String = text.chars().take(LONGEST).collect();
    json!({ "key": key, "value": { "stringValue": text } })
}

impl<'w> Spans<'w> {
    /// A writer of spans; with `payloads`, also of error messages, URIs and arguments of tools.
    pub fn new(writer: impl Write + Send + 'w, payloads: bool) -> Self {
        let (writer, source, open) = (Box::new(writer), String::new(), OpenRequests::new(OPEN));
        Self { writer, payloads, source, open, counts: SpanCounts::default() }
    }

    fn write(&mut self, asked: Asked, took: i128, attributes: Vec<Value>, status: &Value) -> Result<(), SinkError> {
        let digest = sha256(asked.iri.as_bytes());
        let id = |part: std::ops::Range<usize>| digest.get(part).unwrap_or_default().to_owned();
        let [trace, parent] = asked.trace.unwrap_or_else(|| [id(0..32), String::new()]);
        let all = [asked.attributes, attributes].concat();
        let span = json!({
            "traceId": trace, "spanId": id(32..48), "parentSpanId": parent, "name": asked.name, "kind": 3,
            "startTimeUnixNano": asked.start.to_string(), "endTimeUnixNano": (asked.start + took).to_string(),
            "attributes": all, "events": asked.events, "status": status,
        });
        let scope = json!({ "name": "rpcgraph", "version": env!("CARGO_PKG_VERSION") });
        let line = json!({ "resourceSpans": [{
            "resource": { "attributes": [attribute("service.name", &self.source)] },
            "scopeSpans": [{ "scope": scope, "spans": [span], "schemaUrl": SCHEMA }],
            "schemaUrl": SCHEMA,
        }] });
        self.counts.spans += 1;
        Ok(writeln!(self.writer, "{line}")?)
    }
}

impl RecordSink for Spans<'_> {
    type Rendered = SpanRecords;

    fn start(&mut self, input: &SinkInput<'_>) -> Result<(), SinkError> {
        self.counts.unanswered += self.open.clear();
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
                SpanPart::Answers(request, took, attributes, status) => match self.open.take(request) {
                    Some(asked) => self.write(asked, took, attributes, &status)?,
                    None => self.counts.apart += 1,
                },
                SpanPart::Tells(about, event) => match about.and_then(|request| self.open.get_mut(request)) {
                    Some(asked) if asked.events.len() < EVENTS => asked.events.push(event),
                    _ => self.counts.apart += 1,
                },
                SpanPart::Untimed => self.counts.untimed += 1,
                SpanPart::Apart => self.counts.apart += 1,
            }
        }
        Ok(self.writer.flush()?)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.counts.unanswered += self.open.clear();
        Ok(self.writer.flush()?)
    }
}

impl Rendered for SpanRecords {
    fn clear(&mut self) {
        self.parts.clear();
    }
}
