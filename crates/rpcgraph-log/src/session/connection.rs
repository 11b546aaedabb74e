//! A connection: a session in use.

use std::sync::Arc;

use oxsdatatypes::{DateTime, Decimal};

use super::annotated::{Annotated, FailureKind, Name, Node, RequestState};
use super::answered::RecentAnswers;
use super::failure::Tasks;
use super::offset::MeasuredAnswers;
use super::pairing::{Exchanges, OpenRequest, PairedAnswer};
use super::sides::{MessageSide, Sides};
use super::traffic::{AnswerRequest, EarlyAnswer, SessionTraffic};
use crate::json::{self, ErrorKind};
use crate::message::{Content, Id, Kind, Problem, Problems, Single};
use crate::record::{DAY, Direction, HttpOutcome, KnownMethod, Protocols, Record, Sender, Time};

/// A connection between a client and a server, as far as it has been read.
#[derive(Debug, Default)]
pub(super) struct Connection {
    /// The reference of its graph.
    pub reference: Arc<str>,
    /// The number of its last record in the input.
    pub last_used: u64,
    /// The number in the name of that record.
    pub last_record: Option<u64>,
    pub tally: SessionTally,
    /// The `initialize` that it began with.
    pub begun_by: Option<InitializeRequest>,
    /// The record of its last `initialize`.
    last_initialize: u64,
    pub exchanges: Exchanges,
    tasks: Tasks,
    pub measured: MeasuredAnswers,
}

/// An `initialize`: its sender, its direction, and its record.
#[derive(Debug, Clone, Copy)]
pub(super) struct InitializeRequest {
    pub by: Option<Sender>,
    pub direction: Option<Direction>,
    pub request: u64,
}

impl InitializeRequest {
    pub fn is_of_same_side(self, other: Self) -> bool {
        (self.by, self.direction) == (other.by, other.direction)
    }
}

/// The facts about a session as a whole.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionTally {
    pub record_count: u64,
    /// The earliest and the latest time.
    pub times: Option<(DateTime, DateTime)>,
    pub sides: Sides,
    /// `None` for a session that was not in use for a while.
    pub traffic: Option<SessionTraffic>,
}

/// A tally in little memory, for a session that is not in use.
#[derive(Debug, Default)]
pub(super) struct IdleTally {
    record_count: u64,
    times: Option<([u8; 18], [u8; 18])>,
    sides: Sides,
}

impl IdleTally {
    pub fn new(tally: &SessionTally) -> Self {
        let times = tally.times.map(|(started, ended)| (started.to_be_bytes(), ended.to_be_bytes()));
        Self { record_count: tally.record_count, times, sides: tally.sides }
    }

    pub fn tally(&self) -> SessionTally {
        let times =
            self.times.map(|(started, ended)| (DateTime::from_be_bytes(started), DateTime::from_be_bytes(ended)));
        let traffic = (self.record_count == 0).then(SessionTraffic::default);
        SessionTally { record_count: self.record_count, times, sides: self.sides, traffic }
    }
}

impl SessionTally {
    pub fn is_one_sided(&self) -> bool {
        self.traffic.is_some_and(|traffic| traffic.is_one_sided())
    }
}

impl Default for SessionTally {
    fn default() -> Self {
        IdleTally::default().tally()
    }
}

impl SessionTally {
    fn note_time(&mut self, time: Option<Time>) {
        let Some(Time::DateTime(time)) = time else { return };
        let (started, ended) = self.times.get_or_insert((time, time));
        if time < *started {
            *started = time;
        }
        if time > *ended {
            *ended = time;
        }
    }
}

impl Connection {
    /// Creates the connection of the session with this number and this reference of its graph.
    pub fn new(reference: Arc<str>, number: usize, tally: SessionTally) -> Self {
        Self { reference, tally, exchanges: Exchanges::new(number), ..Self::default() }
    }

    /// True if the log holds both sides, but not most answers to one of them.
    pub fn lacks_answers(&self) -> bool {
        !self.tally.is_one_sided() && self.exchanges.lacks_answers()
    }

    /// Returns the states of its open requests, in the order of the log, given the time at which the session ended, if it ended
    /// before the log.
    pub fn unanswered(&self, end: Option<Option<Time>>) -> Vec<(Name, RequestState)> {
        let unknown =
            (self.tally.is_one_sided() || self.exchanges.lacks_answers()).then_some(RequestState::NotCaptured);
        let states = self.exchanges.states(self.last_initialize, end);
        let mut states: Vec<_> = states.map(|(name, state)| (name, unknown.unwrap_or(state))).collect();
        states.sort_unstable_by_key(|(name, _)| *name);
        states
    }

    /// Returns the side whose clock is behind, and by how many seconds, if clocks differ and the answers show it well.
    pub fn estimated_offset(&self) -> Option<(Option<Sender>, Decimal)> {
        let early = self.tally.traffic?.early_answers()?;
        Some((early.sender, self.measured.offset(early.sender, early.most)?))
    }

    /// Returns the latencies of answers that the offset of the clocks corrects.
    pub fn estimates(&self) -> Vec<(Name, Decimal)> {
        let offset = self.estimated_offset();
        offset.map(|(behind, seconds)| self.measured.estimates(behind, seconds)).unwrap_or_default()
    }

    /// Annotates the content of its next record.
    pub fn annotate_into<'a>(
        &mut self,
        record: &'a Record<'a>,
        content: &'a Content<'a>,
        answered: &mut RecentAnswers,
        nodes: &mut Vec<Annotated<'a>>,
    ) {
        match content {
            Content::Single(single) => {
                let (name, flagged) = self.begin(record);
                let known = single.known_sender();
                nodes.push(self.single(record, name, single, flagged, known, answered));
            }
            Content::Batch(elements) => {
                let sender_method = elements.iter().find_map(Single::known_sender);
                let mut batch = self.begin_batch(record, elements.is_empty(), sender_method);
                nodes.reserve(elements.len() + 1);
                let first = nodes.len();
                nodes.extend(elements.iter().map(|element| self.element(record, &mut batch, element, answered)));
                nodes.insert(first, batch.end(record));
            }
            Content::Malformed(error) => {
                let (name, mut problems) = self.begin(record);
                problems.insert_if(error.kind == ErrorKind::UnexpectedEnd, Problem::Truncated);
                nodes.push(self.other(record, name, Node::Malformed(&record.bytes), problems, None));
            }
            Content::Exchange => {
                let (name, problems) = self.begin(record);
                let http = record.http.as_deref();
                let party = MessageSide { sender: record.sender.or(Some(Sender::Server)), ..MessageSide::default() };
                let ids = http.into_iter().flat_map(|http| &http.ids).filter_map(|id| asked_id(id));
                let outcome = http.map(|http| http.outcome).unwrap_or_default();
                if outcome.closing().is_some() {
                    let cancels = outcome == HttpOutcome::Cancelled;
                    let cancelled = ids.filter_map(|id| {
                        let request = self.exchanges.disconnect(party, &id).filter(|_| cancels)?;
                        self.exchanges.cancel(&id, request);
                        Some(request)
                    });
                    let closing = Node::Closing(cancelled.collect());
                    nodes.push(self.other(record, name, closing, problems, None));
                    return;
                }
                let mut requests = ids.filter_map(|id| self.exchanges.close(party, &id, answered).request);
                let first = requests.next();
                let others = requests.map(|request| request.name).collect();
                self.note_side(party);
                let mut annotated = self.other(record, name, Node::Exchange(others), problems, None);
                annotated.failure = FailureKind::of_http(http);
                if let Some(request) = first {
                    annotated.responds_to = Some(request.name);
                    annotated.latency = latency(record, &request);
                }
                nodes.push(annotated);
            }
        }
    }

    /// Counts a further record. Returns its name, and the problems that its log states.
    fn begin(&mut self, record: &Record<'_>) -> (Name, Problems) {
        self.tally.record_count += 1;
        self.tally.note_time(record.time);
        let mut flagged = Problems::default();
        flagged.insert_if(record.flags.truncated || record.flags.oversized, Problem::Truncated);
        flagged.insert_if(record.flags.reconstructed, Problem::Reconstructed);
        flagged.insert_if(record.flags.result_unknown, Problem::ResultUnknown);
        (Name { record: record.location.record, element: None }, flagged)
    }

    /// Begins its next record, a batch. `sender_method` is the first known method in it that implies a sender.
    pub fn begin_batch(
        &mut self,
        record: &Record<'_>,
        is_empty: bool,
        sender_method: Option<KnownMethod>,
    ) -> OpenBatch {
        let (name, mut problems) = self.begin(record);
        problems.insert_if(is_empty, Problem::EmptyBatch);
        let sender = self.tally.sides.party(record, sender_method, false).sender;
        OpenBatch { name, problems, sender_method, sender, common: None, next: 1 }
    }

    /// Annotates the next element of its last record, which is a batch.
    pub fn element<'a>(
        &mut self,
        record: &'a Record<'a>,
        batch: &mut OpenBatch,
        element: &'a Single<'a>,
        answered: &mut RecentAnswers,
    ) -> Annotated<'a> {
        let index = batch.next;
        batch.next = index.saturating_add(1);
        let name = Name { element: Some(index), ..batch.name };
        let known = element.known_sender().or(batch.sender_method);
        let mut problems = Problems::default();
        let is_answer = matches!(element, Single::Message(message) if message.kind == Kind::Response);
        problems.insert_if(record.flags.result_unknown && is_answer, Problem::ResultUnknown);
        let node = self.single(record, name, element, problems, known, answered);
        let common = batch.common.map_or(node.sender, |common| common.filter(|common| node.sender == Some(*common)));
        batch.common = Some(common);
        Annotated { batch_index: Some(index), ..node }
    }

    /// Annotates a message, or the value in its place. `known` is the known method of the message, or of its batch.
    fn single<'a>(
        &mut self,
        record: &'a Record<'a>,
        name: Name,
        single: &'a Single<'a>,
        flagged: Problems,
        known: Option<KnownMethod>,
        answered: &mut RecentAnswers,
    ) -> Annotated<'a> {
        let mut problems = flagged;
        single.problems().iter().for_each(|problem| problems.insert(problem));
        let message = match single {
            Single::Message(message) => message,
            Single::Invalid(invalid) => return self.other(record, name, Node::Invalid(invalid), problems, known),
        };
        // Both sides may send a published method.
        let is_own_request = message.kind == Kind::Request && message.known.is_none();
        let mut party = self.tally.sides.party(record, known, is_own_request);
        let mut answer = PairedAnswer::default();
        let mut superseded = None;
        match (message.kind, &message.id) {
            (Kind::Request, Some(id)) => {
                let method = message.method.as_deref();
                if method == Some("initialize") {
                    self.last_initialize = name.record;
                }
                let request = OpenRequest::new(name, record.time, party, message);
                if *id == Id::Null {
                    self.exchanges.open_without_id(request);
                } else {
                    answered.note_request(self.exchanges.session(), id, record.time);
                    superseded = self.exchanges.open(id, request);
                    self.tasks.ask(message, name);
                }
            }
            (Kind::Response | Kind::ErrorResponse, Some(id)) if *id != Id::Null => {
                answer = self.exchanges.close(party, id, answered);
                if answer.request.is_none() && answer.again.is_none() && !answer.duplicate {
                    answered.note_unsolicited(self.exchanges.session(), id, record.time);
                }
            }
            // HTTP shows which request an error without an id answers.
            (Kind::ErrorResponse, _) => {
                if let [id] = record.http.as_ref().map_or(&[][..], |http| &http.ids)
                    && let Some(id) = asked_id(id)
                {
                    answer = self.exchanges.close(party, &id, answered);
                }
            }
            _ => {}
        }
        let request = answer.request.as_ref();
        let asked = (
            request.map(|request| request.name).or(answer.again),
            request.map(|request| request.protocols).unwrap_or_default(),
        );
        let failure = match message.kind {
            Kind::Request => None,
            _ => self.tasks.failure(message, asked, record.http.as_deref()),
        };
        // [MCP](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation#behavior-requirements)
        // ignores what answers a cancelled request.
        let is_ignored = request.is_some_and(|request| request.cancelled && request.protocols.has(Protocols::MCP));
        let failure = failure.filter(|_| !is_ignored && !answer.failed_before);
        if let (Some(_), Some(request), Some(id)) = (failure, request, &message.id) {
            answered.note_failure(self.exchanges.session(), request.party.sender, id);
        }
        if message.kind == Kind::ErrorResponse
            && let (Some(request), Some(begun)) = (&answer.request, self.begun_by)
            && request.name.record == begun.request
        {
            // The client may send it again with other parameters.
            self.begun_by = None;
        }
        problems.insert_if(answer.ambiguous, Problem::AmbiguousPairing);
        problems.insert_if(answer.duplicate, Problem::DuplicateAnswer);
        let early = request.filter(|_| !answer.ambiguous).and_then(|request| {
            let seconds = seconds_early(record, request)?;
            Some(EarlyAnswer { seconds, asked: request.name.record, answered: name.record })
        });
        problems.insert_if(early.is_some(), Problem::AnswerBeforeRequest);
        if record.sender.is_none()
            && let Some(request) = &answer.request
        {
            if answer.unlikely {
                self.tally.sides.ignore_directions();
            }
            if answer.unlikely || party.sender.is_none() && (answer.one_side || !answer.ambiguous) {
                party = self.tally.sides.answers(request.party.sender);
            }
        }
        self.note_side(party);
        if let Some(traffic) = &mut self.tally.traffic {
            match message.kind {
                Kind::Request => traffic.note_request(),
                Kind::Response | Kind::ErrorResponse => {
                    let request = match &answer {
                        PairedAnswer { request: Some(_), .. } => AnswerRequest::Found,
                        PairedAnswer { again: Some(_), .. } | PairedAnswer { duplicate: true, .. } => {
                            AnswerRequest::AnsweredBefore
                        }
                        _ => AnswerRequest::Missing,
                    };
                    traffic.note_answer(party.sender, request, early);
                }
                Kind::Notification => {}
            }
        }
        let mut annotated = Annotated::new(record, party.sender, name, Node::Message(message), problems);
        annotated.superseded = superseded;
        annotated.failure = failure;
        annotated.responds_to = answer.request.as_ref().map(|request| request.name).or(answer.again);
        let mut measured = None;
        if let Some(request) = answer.request {
            annotated.latency = if answer.ambiguous { record.latency } else { latency(record, &request) };
            measured = early
                .and_then(|early| early.seconds.checked_neg())
                .or(annotated.latency.filter(|seconds| is_measured(record, &request, *seconds)));
        } else if answer.again.is_some() {
            annotated.latency = record.latency;
        }
        self.exchanges.note_latency(annotated.latency);
        if let Some(seconds) = measured
            && self.measured.is_open()
        {
            let seems = self.tally.traffic.is_some_and(|traffic| traffic.may_have_offset());
            self.measured.note(name, party.sender, seconds, seems, &mut answered.measured);
        }
        annotated
    }

    /// Annotates a node that does not take part in exchanges.
    fn other<'a>(
        &mut self,
        record: &'a Record<'a>,
        name: Name,
        node: Node<'a>,
        problems: Problems,
        known: Option<KnownMethod>,
    ) -> Annotated<'a> {
        let party = self.tally.sides.party(record, known, false);
        self.note_side(party);
        Annotated::new(record, party.sender, name, node, problems)
    }

    /// A side that sent anything is in the log.
    fn note_side(&mut self, party: MessageSide) {
        self.tally.traffic.iter_mut().for_each(|traffic| traffic.note_side(party));
    }
}

/// A batch whose elements are annotated one after the other.
#[derive(Debug)]
pub struct OpenBatch {
    name: Name,
    problems: Problems,
    /// The known method of a message in it: all messages of a batch come from one side.
    sender_method: Option<KnownMethod>,
    sender: Option<Sender>,
    /// The sender of all elements so far, if it is the same.
    common: Option<Option<Sender>>,
    /// The index of the next element, from 1.
    next: u32,
}

impl OpenBatch {
    /// Returns the batch's own node, after all elements.
    pub fn end<'a>(&self, record: &'a Record<'a>) -> Annotated<'a> {
        let sender = self.sender.or(self.common.flatten());
        Annotated::new(record, sender, self.name, Node::Batch, self.problems)
    }
}

/// Parses the id of a request in JSON.
pub fn asked_id(text: &str) -> Option<Id<'static>> {
    Id::from_value(&json::parse(text.as_bytes()).ok()?).map(Id::into_owned)
}

/// Returns the seconds that the log states, or the seconds from a request to this answer.
fn latency(answer: &Record<'_>, request: &OpenRequest) -> Option<Decimal> {
    answer.latency.or_else(|| {
        let (asked, answered) = (*request.time.as_deref()?, answer.time?);
        if answer.flags.shares_time && asked == answered { None } else { seconds_between(asked, answered) }
    })
}

/// True if a latency is the difference of the times, and not a duration that the log states.
fn is_measured(answer: &Record<'_>, request: &OpenRequest, latency: Decimal) -> bool {
    let between = || seconds_between(*request.time.as_deref()?, answer.time?);
    answer.latency.is_none() || between() == Some(latency)
}

/// Returns the seconds by which the time of an answer is before the time of its request, so that it has no latency.
fn seconds_early(answer: &Record<'_>, request: &OpenRequest) -> Option<Decimal> {
    let seconds = answer.time?.seconds_to(*request.time.as_deref()?)?;
    (seconds > Decimal::from(0) && latency(answer, request).is_none()).then_some(seconds)
}

/// Returns the seconds from a request to its answer, if both times are of one kind and the log's clock did not run
/// backwards. A clock without a date that went back by more than half a day has passed midnight.
pub(crate) fn seconds_between(request: Time, answer: Time) -> Option<Decimal> {
    let seconds = request.seconds_to(answer)?;
    match answer {
        _ if seconds >= Decimal::from(0) => Some(seconds),
        Time::Clock(_) if seconds < Decimal::from(-DAY / 2) => seconds.checked_add(DAY),
        _ => None,
    }
}
