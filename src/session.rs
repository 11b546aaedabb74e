//! Sessions: what a message is among the others.
//!
//! A [`Session`] takes the records of one connection in order and gives each its name, its sequence, what it answers
//! and how long that took: the [`Annotated`] message. Memory grows with the open requests and nothing else.

mod annotated;
mod pairing;

use oxsdatatypes::{DateTime, Decimal};

pub use self::annotated::{Annotated, IdNode, Name, Node, Origin, SessionEnd};
use self::pairing::{Exchanges, PairedAnswer};
use crate::json::ErrorKind;
use crate::message::{Content, Id, Kind, Problem, Problems, Single};
use crate::record::{LogLine, Record, Time};

/// One connection between a client and a server, as far as it has been read.
#[derive(Debug, Default)]
pub struct Session {
    key: Option<String>,
    record_count: u64,
    /// Line of the last text between messages, and how many such texts began on it.
    last_log_line: Option<(u64, u32)>,
    exchanges: Exchanges,
    started: Option<DateTime>,
    ended: Option<DateTime>,
}

impl Session {
    /// A session without records; `key` tells it from others in the same input, where the log does.
    pub fn new(key: Option<String>) -> Self {
        Self { key, ..Self::default() }
    }

    /// What tells the session from others in the same input.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Whether it has neither records nor lines of text yet.
    pub fn is_empty(&self) -> bool {
        self.record_count == 0 && self.last_log_line.is_none()
    }

    /// Annotates the content of the session's next record.
    ///
    /// One node for a message, valid or not; for a batch the batch's own and then one for each element.
    pub fn annotate<'a>(&mut self, record: &'a Record<'a>, content: Content<'a>) -> Vec<Annotated<'a>> {
        let mut nodes = Vec::new();
        self.annotate_into(record, content, &mut nodes);
        nodes
    }

    /// The same, appended to the nodes of other records.
    pub(crate) fn annotate_into<'a>(
        &mut self,
        record: &'a Record<'a>,
        content: Content<'a>,
        nodes: &mut Vec<Annotated<'a>>,
    ) {
        self.record_count += 1;
        self.note_time(record.time);

        let name = Name { record: record.location.record, element: None };
        let mut flagged = Problems::default();
        flagged.insert_if(record.flags.truncated || record.flags.oversized, Problem::Truncated);
        flagged.insert_if(record.flags.reconstructed, Problem::Reconstructed);
        flagged.insert_if(record.flags.result_unknown, Problem::ResultUnknown);

        match content {
            Content::Single(single) => nodes.push(self.single(record, name, None, single, flagged)),
            Content::Batch(elements) => {
                let mut problems = flagged;
                problems.insert_if(elements.is_empty(), Problem::EmptyBatch);
                nodes.reserve(elements.len() + 1);
                nodes.push(Annotated::new(record, name, Node::Batch, problems));
                for (index, element) in (1..).zip(elements) {
                    let name = Name { element: Some(index), ..name };
                    nodes.push(self.single(record, name, Some(index), element, Problems::default()));
                }
            }
            Content::Malformed(error) => {
                let mut problems = flagged;
                problems.insert_if(error.kind == ErrorKind::UnexpectedEnd, Problem::Truncated);
                nodes.push(Annotated::new(record, name, Node::Malformed(&record.bytes), problems));
            }
        }
    }

    /// Annotates text between messages.
    pub fn annotate_log_line<'a>(&mut self, line: &'a LogLine<'a>) -> Annotated<'a> {
        let at = line.location.line;
        let nth = match self.last_log_line {
            Some((last, count)) if last == at => count.saturating_add(1),
            _ => 1,
        };
        self.last_log_line = Some((at, nth));
        Annotated::log_line(line, nth)
    }

    /// The session's own node, known when its last record is.
    pub fn end<'a>(&'a self, origin: &'a Origin) -> SessionEnd<'a> {
        SessionEnd {
            key: self.key.as_deref(),
            source: &origin.source,
            format: origin.format,
            record_count: self.record_count,
            started: self.started,
            ended: self.ended,
        }
    }

    fn single<'a>(
        &mut self,
        record: &'a Record<'a>,
        name: Name,
        index: Option<u32>,
        single: Single<'a>,
        flagged: Problems,
    ) -> Annotated<'a> {
        let mut problems = flagged;
        single.problems().iter().for_each(|problem| problems.insert(problem));
        let mut answer = PairedAnswer::default();
        let mut superseded = None;
        let node = match single {
            Single::Message(message) => {
                match (message.kind, &message.id) {
                    (Kind::Request, Some(id)) if *id != Id::Null => {
                        superseded = self.exchanges.open(record.sender, id, name, record.time);
                    }
                    (Kind::Response | Kind::ErrorResponse, Some(id)) if *id != Id::Null => {
                        answer = self.exchanges.close(record.sender, id);
                    }
                    _ => {}
                }
                problems.insert_if(answer.ambiguous, Problem::AmbiguousPairing);
                problems.insert_if(answer.duplicate, Problem::DuplicateAnswer);
                Node::Message(message)
            }
            Single::Invalid(invalid) => Node::Invalid(invalid),
        };
        let mut annotated = Annotated::new(record, name, node, problems);
        annotated.batch_index = index;
        annotated.superseded = superseded;
        if let Some(request) = answer.request {
            annotated.responds_to = Some(request.name);
            annotated.latency = record.latency.or_else(|| latency(*request.time?, record.time?));
        }
        annotated
    }

    fn note_time(&mut self, time: Option<Time>) {
        if let Some(Time::DateTime(time)) = time {
            if self.started.is_none_or(|started| time < started) {
                self.started = Some(time);
            }
            if self.ended.is_none_or(|ended| time > ended) {
                self.ended = Some(time);
            }
        }
    }
}

/// Seconds from the request to its answer, where both times are of one kind and the log's clock did not run backwards.
/// A clock without a date that did has passed midnight.
fn latency(request: Time, answer: Time) -> Option<Decimal> {
    let zero = Decimal::from(0);
    match (request, answer) {
        (Time::DateTime(request), Time::DateTime(answer)) => {
            let seconds = answer.checked_sub(request)?.as_seconds();
            (seconds >= zero).then_some(seconds)
        }
        (Time::Clock(request), Time::Clock(answer)) => {
            let seconds = answer.checked_sub(request)?.as_seconds();
            if seconds >= zero { Some(seconds) } else { seconds.checked_add(Decimal::from(86_400)) }
        }
        _ => None,
    }
}
