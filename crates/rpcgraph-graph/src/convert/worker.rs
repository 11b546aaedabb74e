//! A worker: takes one chunk at a time from records to triples.

use std::any::Any;
use std::io;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::chunk::{Chunk, ChunkSource, HUGE, HUGE_UNDER_CONTEXTS};
use super::error::ConvertError;
use super::options::Options;
use super::order::InOrder;
use crate::diagnostic::Finding;
use crate::json;
use crate::mapping::{InputIri, InputMapper, Loss, MapPart, MapTally, MapTarget, Mapper, ReferenceError};
use crate::message::{self, Content, PayloadBuffer, Problem, Scanned, Single};
use crate::protocol::{Extract, Extraction, Linker, Makers, Statement};
use crate::record::{Entry, Location, Record};
use crate::session::{Annotated, Node, Origin, Sessions, session_reference};
use crate::sink::{RecordSink, Rendered, SinkError};
use crate::summary::Summary;

/// The state of pairing, used in the order of records.
pub struct PairingState {
    pub sessions: Sessions,
    pub summary: Summary,
    linker: Linker,
}

impl PairingState {
    pub fn new(summary: Summary, makers: Makers) -> Self {
        Self { sessions: Sessions::new(), summary, linker: Linker::new(makers) }
    }

    /// Links nodes of a session. `extracts` holds the extract of each message among the nodes, or is empty.
    pub fn link<'a>(
        &mut self,
        session: &Arc<str>,
        nodes: &mut [Annotated<'a>],
        extracts: &mut impl Iterator<Item = Extract<'a>>,
        statements: &mut Vec<Statement<'a>>,
    ) {
        let singles = nodes.iter_mut().filter(|node| matches!(node.node, Node::Message(_) | Node::Invalid(_)));
        for (node, extract) in singles.zip(extracts) {
            let first = statements.len();
            self.linker.link(session, &mut self.sessions, node, extract, statements);
            node.meaning = first..statements.len();
        }
    }

    pub fn count_problems(&mut self, nodes: &[Annotated<'_>]) {
        for node in nodes {
            self.summary.add_problems(node.problems);
            self.summary.add_problem(Problem::IdReusedWhileOpen, node.superseded.is_some().into());
        }
    }
}

/// The number of sessions whose nodes are written at once.
const ENDS: usize = 4_096;

/// A target for rendering, for any sink: workers are compiled once, not for each kind of sink.
pub(super) trait WorkerTarget: Rendered + MapTarget + Any {}

impl<R: Rendered + MapTarget + Any> WorkerTarget for R {}

/// A sink that takes back the targets that it gave out.
pub(super) trait WorkerSink: Send {
    fn take(&mut self, rendered: &mut dyn WorkerTarget) -> Result<(), SinkError>;
}

impl<S: RecordSink<Rendered: WorkerTarget>> WorkerSink for S {
    fn take(&mut self, rendered: &mut dyn WorkerTarget) -> Result<(), SinkError> {
        let rendered: &mut dyn Any = rendered;
        match rendered.downcast_mut() {
            Some(rendered) => RecordSink::take(self, rendered),
            // Unreachable: each sink gets its own targets back.
            None => Err(SinkError::Io(io::Error::other("what was rendered is for another sink"))),
        }
    }
}

/// The state of writing, used in the order of records.
pub(super) struct WrittenOutput<'s> {
    pub sink: &'s mut dyn WorkerSink,
    pub report: &'s mut (dyn FnMut(Finding) + Send),
    pub triples: u64,
    pub tally: MapTally,
    pub error: Option<ConvertError>,
}

impl WrittenOutput<'_> {
    /// Takes the output that a worker has rendered.
    pub fn take(&mut self, rendered: &mut dyn WorkerTarget) -> Result<(), SinkError> {
        rendered.finish();
        self.triples += rendered.count();
        self.sink.take(rendered)
    }
}

/// Records that are ready to be rendered, up to one that ends the run.
struct Steps<'c> {
    steps: Vec<RenderStep<'c>>,
    /// The nodes of all records.
    nodes: Vec<Annotated<'c>>,
    /// The statements of protocols about the nodes.
    statements: Vec<Statement<'c>>,
    stop: Option<Finding>,
}

/// A record that is ready to be rendered.
enum RenderStep<'c> {
    Nodes { graph: Arc<str>, nodes: Range<usize>, at: Location },
    Plain { bytes: &'c [u8], content: &'c Content<'c>, at: Location },
}

/// One thread's part of a conversion.
pub(super) struct ConvertWorker<'w, 's> {
    pub(super) shared: &'w WorkShared<'s>,
    pub(super) mapper: InputMapper<'w>,
    pub(super) rendered: Box<dyn WorkerTarget>,
    pub(super) scanner: message::Scanner,
    pub(super) payloads: PayloadBuffer,
}

impl<'w, 's> ConvertWorker<'w, 's> {
    pub fn new(shared: &'w WorkShared<'s>, rendered: Box<dyn WorkerTarget>) -> Self {
        let mapper = InputMapper::new(shared.mapper, shared.iri);
        let scanner = message::Scanner::default().with_payloads(shared.extracted.payloads);
        Self { shared, mapper, rendered, scanner, payloads: PayloadBuffer::default() }
    }

    /// Takes chunks until the input ends.
    pub fn work(mut self) {
        let mut chunk = Chunk::default();
        while self.step(&mut chunk) {}
    }

    /// Takes the next chunk from records to the sink, and returns true if there may be more. A panic stops all workers.
    pub fn step(&mut self, chunk: &mut Chunk) -> bool {
        panic::catch_unwind(AssertUnwindSafe(|| self.take(chunk))).unwrap_or_else(|_| {
            self.shared.panicked.store(true, Ordering::Relaxed);
            self.shared.stopped.store(true, Ordering::Relaxed);
            self.shared.paired.give_up();
            self.shared.written.give_up();
            false
        })
    }

    fn take(&mut self, chunk: &mut Chunk) -> bool {
        if self.shared.stopped.load(Ordering::Relaxed) {
            return false;
        }
        let mut source = self.shared.source.lock().unwrap_or_else(PoisonError::into_inner);
        let mut entries = source.fill(chunk);
        if entries.is_empty() {
            return false;
        }
        // Holding the lock keeps others from reading another record meanwhile.
        let most = if self.shared.mapper.payloads_stay_opaque() { HUGE } else { HUGE_UNDER_CONTEXTS };
        let _alone = (chunk.length() > most).then_some(source);
        chunk.lend(&mut entries);
        let first_key = entries.iter().find_map(|entry| match entry {
            Entry::Record(record) => Some(record.session.as_deref()),
            Entry::LogLine(_) => None,
        });
        let first_key = first_key.flatten();
        match entries.split_last() {
            Some((Entry::Record(array), before)) if chunk.ends_in_array => {
                self.run(chunk.index, before, first_key);
                self.run_array(chunk.index + 1, array);
            }
            _ => self.run(chunk.index, &entries, first_key),
        }
        true
    }

    /// Writes entries to the sink, in the turn of `index`. Lines before the first record of the input belong to the
    /// session of `first_key`.
    pub(super) fn run(&mut self, index: usize, entries: &[Entry<'_>], first_key: Option<&str>) {
        // Each step is done for all records before the next step, so that what the records borrow does not move.
        let mut payloads = std::mem::take(&mut self.payloads);
        payloads.clear();
        let scanned = entries.iter().map(|entry| match entry {
            Entry::Record(record) if record.is_exchange() => Some(Content::Exchange.into()),
            Entry::Record(record) => Some(self.scanner.scan(&record.bytes, record.flags.result_unknown, &mut payloads)),
            Entry::LogLine(_) => None,
        });
        let mut scanned: Vec<Option<Scanned<'_>>> = scanned.collect();
        for scanned in scanned.iter_mut().flatten() {
            scanned.lend(&payloads);
            if self.shared.mapper.in_session() {
                match self.shared.extracted.exchanges {
                    true => scanned.content.look_up_methods(),
                    false => forget_ids(&mut scanned.content),
                }
            }
        }
        self.scanner.shrink();
        let elements = scanned.iter().flatten().flat_map(|scanned| scanned.content.elements());
        let extracts = Extract::all(self.shared.extracted, scanned.len(), elements);

        let mut findings = Vec::new();
        let pair = |paired: &mut _| self.pair(paired, (entries, first_key), &scanned, extracts, &mut findings);
        let paired = self.shared.paired.in_turn(index, pair);
        let Some(Steps { steps, nodes, statements, stop }) = paired else { return };

        self.rendered.clear();
        for step in &steps {
            let (graph, part, at) = match step {
                RenderStep::Nodes { graph, nodes: range, at } => {
                    let nodes = nodes.get(range.clone()).unwrap_or_default();
                    (Some(&**graph), MapPart::Nodes(graph, nodes, &statements), at)
                }
                RenderStep::Plain { bytes, content, at } => (None, MapPart::Plain(at.record, bytes, content), at),
            };
            if let Err(error) = self.map(graph, true, &part) {
                // Expansion depends on the message only under contexts with maps or the like.
                self.mapper.lose(Loss::NotExpanded);
                findings.push(self.finding(*at, error.to_string(), graph.is_some()));
            }
        }
        // Other workers need not wait for this.
        self.rendered.finish();
        findings.sort_by_key(|finding| finding.location.record);
        let tally = self.mapper.take_tally();
        self.shared.written.in_turn(index, |written| {
            if written.error.is_some() {
                return;
            }
            findings.into_iter().for_each(&mut written.report);
            written.tally.merge(&tally);
            written.error = match written.take(&mut *self.rendered) {
                Err(error) => Some(error.into()),
                Ok(()) => stop.map(ConvertError::NotAMessage),
            };
            if written.error.is_some() {
                self.shared.stopped.store(true, Ordering::Relaxed);
            }
        });
        self.keep(payloads);
    }

    /// Keeps the buffer for other records, without the room for a very large record.
    pub(super) fn keep(&mut self, payloads: PayloadBuffer) {
        self.payloads = payloads;
        self.payloads.shrink();
    }

    /// Writes the nodes of the sessions, after all records.
    pub fn end(&mut self, origin: &Origin) {
        if !self.shared.mapper.in_session() {
            return;
        }
        let shared = self.shared;
        let result = shared.paired.after_all(|paired| {
            let mut forwarded = paired.linker.forwarded();
            let ends = paired.sessions.ends(origin).map(|mut end| {
                // There may be millions of sessions, and most logs have no gateway.
                if !forwarded.is_empty() {
                    end.forwarded = forwarded.remove(&*session_reference(end.key)).unwrap_or_default();
                }
                end
            });
            let mut ends = ends.peekable();
            while ends.peek().is_some() {
                self.rendered.clear();
                let mut some = ends.by_ref().take(ENDS);
                some.try_for_each(|end| self.map(Some(&session_reference(end.key)), true, &MapPart::End(&end)))?;
                shared.written.after_all(|written| written.take(&mut *self.rendered))?;
            }
            Ok(())
        });
        shared.written.after_all(|written| {
            written.tally.merge(&self.mapper.take_tally());
            written.error = result.err();
        });
    }

    /// Renders the first or a further part of a record, into the graph with the reference `graph`.
    pub(super) fn map(&mut self, graph: Option<&str>, first: bool, part: &MapPart<'_>) -> Result<(), ReferenceError> {
        match first {
            true => self.rendered.start_record(graph),
            false => self.rendered.continue_record(graph),
        }
        let result = self.rendered.map(&mut self.mapper, part);
        self.rendered.end_record();
        result
    }

    /// Counts, judges and pairs the records of a chunk, up to one that ends the run.
    fn pair<'p, 'c: 'p>(
        &self,
        paired: &mut PairingState,
        (entries, first_key): (&'p [Entry<'c>], Option<&str>),
        scanned: &'p [Option<Scanned<'c>>],
        extracts: Vec<Extract<'p>>,
        findings: &mut Vec<Finding>,
    ) -> Steps<'p> {
        let in_session = self.shared.mapper.in_session();
        // Most messages make fewer statements.
        let mut statements = Vec::with_capacity(6 * extracts.len());
        let mut extracts = extracts.into_iter();
        let mut steps = Vec::with_capacity(entries.len());
        let mut nodes = Vec::with_capacity(if in_session { entries.len() } else { 0 });
        for (entry, scanned) in entries.iter().zip(scanned) {
            match (entry, scanned.as_ref().map(|scanned| &scanned.content)) {
                (Entry::Record(record), Some(content)) => {
                    if let Some(finding) = self.judge(record, content) {
                        if self.shared.options.strict {
                            return Steps { steps, nodes, statements, stop: Some(finding) };
                        }
                        findings.push(finding);
                    }
                    paired.summary.count(content);
                    if !in_session {
                        // Without sessions, no more problems are found later.
                        content.elements().iter().for_each(|element| paired.summary.add_problems(element.problems()));
                    }
                    let at = record.location;
                    if !in_session {
                        if !matches!(content, Content::Exchange) {
                            steps.push(RenderStep::Plain { bytes: &record.bytes, content, at });
                        }
                        continue;
                    }
                    let (first, given_up) = (nodes.len(), paired.sessions.given_up());
                    let graph = paired.sessions.annotate_into(record, content, &mut nodes);
                    if given_up == 0 && paired.sessions.given_up() > 0 {
                        let message = "more than 8,192 sessions are in use: the open requests of the idlest were dropped, so \
                                       their answers stay unpaired; to pair all, convert the sessions one by one";
                        findings.push(self.finding(at, message.to_owned(), true));
                    }
                    let added = nodes.get_mut(first..).unwrap_or_default();
                    paired.link(&graph, added, &mut extracts, &mut statements);
                    paired.count_problems(added);
                    steps.push(RenderStep::Nodes { graph, nodes: first..nodes.len(), at });
                }
                (Entry::LogLine(line), _) => {
                    paired.sessions.note_line(line);
                    // Tables state an exit without its text.
                    if line.bytes.is_empty() && !line.oversized {
                        continue;
                    }
                    paired.summary.count_log_line(line);
                    if line.oversized {
                        let message = format!("{} bytes of text are skipped", line.length);
                        findings.push(self.finding(line.location, message, false));
                    } else if self.shared.options.log_lines && in_session {
                        let first = nodes.len();
                        let (node, graph) = paired.sessions.annotate_log_line(line, first_key);
                        nodes.push(node);
                        steps.push(RenderStep::Nodes { graph, nodes: first..nodes.len(), at: line.location });
                    }
                }
                (Entry::Record(_), None) => {}
            }
        }
        Steps { steps, nodes, statements, stop: None }
    }

    /// Returns the finding about a record, if any: the graph does not hold the record as it was, the record is not
    /// JSON, or, with `strict`, it is not a valid message.
    fn judge(&self, record: &Record<'_>, content: &Content<'_>) -> Option<Finding> {
        let (options, in_session) = (self.shared.options, self.shared.mapper.in_session());
        let message = match content {
            _ if record.flags.oversized => format!(
                "{} bytes are more than --max-record-size allows ({}); the record is skipped",
                record.length, options.reader.max_record_size
            ),
            Content::Malformed(error) => {
                // The place in the record becomes a place in the input, if the record stands there as it is.
                let start =
                    if record.flags.is_derived { 0 } else { usize::try_from(record.location.byte).unwrap_or(0) };
                let offset = error.offset.saturating_add(start);
                let of_message = if record.flags.is_derived { " of the message" } else { "" };
                format!("not JSON: {}{of_message}", json::Error { offset, ..error.clone() })
            }
            Content::Batch(elements) if elements.is_empty() && options.strict => "a batch without elements".to_owned(),
            Content::Batch(elements) => {
                let index = elements.iter().position(|element| !self.is_tolerated(element))?;
                bad_element(index)
            }
            Content::Single(single) if !self.is_tolerated(single) => {
                "valid JSON, but not a JSON-RPC message".to_owned()
            }
            Content::Single(_) | Content::Exchange => return None,
        };
        Some(self.finding(record.location, message, in_session && !record.flags.oversized))
    }

    /// True if a message, or the value in its place, does not need a finding.
    pub(super) fn is_tolerated(&self, single: &Single<'_>) -> bool {
        match single {
            Single::Message(_) => true,
            // Both mappings map an object as it is.
            Single::Invalid(invalid) => {
                !self.shared.options.strict && (self.shared.mapper.in_session() || invalid.value.is_object())
            }
        }
    }

    pub(super) fn finding(&self, location: Location, message: String, in_graph: bool) -> Finding {
        Finding { input: self.shared.name.to_owned(), location, message, in_graph }
    }
}

/// Removes the ids of messages, which are then not paired.
fn forget_ids(content: &mut Content<'_>) {
    for element in content.elements_mut() {
        if let Single::Message(message) = element {
            message.id = None;
        }
    }
}

/// Describes the first element of a batch that is not tolerated.
pub(super) fn bad_element(index: usize) -> String {
    format!("element {} of the batch is not a JSON-RPC message", index + 1)
}

/// The state that the workers of an input share.
pub(super) struct WorkShared<'s> {
    pub mapper: &'s Mapper,
    pub options: &'s Options,
    pub extracted: Extraction,
    pub name: &'s str,
    pub iri: &'s InputIri,
    pub source: Mutex<ChunkSource<'s>>,
    /// The number of bytes that were read of the input, before decompression.
    pub taken: &'s AtomicU64,
    /// True if no further chunk is wanted.
    pub stopped: AtomicBool,
    /// True if a worker has panicked, and printed why.
    pub panicked: AtomicBool,
    pub paired: InOrder<PairingState>,
    pub written: InOrder<WrittenOutput<'s>>,
}

impl WorkShared<'_> {
    /// Returns the summary, or the error.
    pub(super) fn end(self) -> Result<Summary, ConvertError> {
        if self.panicked.load(Ordering::Relaxed) {
            return Err(ConvertError::Panicked { input: self.name.to_owned() });
        }
        let written = self.written.into_inner();
        if let Some(error) = written.error {
            return Err(error);
        }
        let source = self.source.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = source.failure {
            return Err(ConvertError::Read { input: self.name.to_owned(), error });
        }
        let mut paired = self.paired.into_inner();
        let is_known = self.options.reader.is_stated() || source.is_learned();
        paired.summary.is_by_time = source.is_by_time();
        paired.summary.end_input(is_known, source.head());
        let mut summary = paired.summary;
        summary.count_sessions(&paired.sessions);
        summary.add_compression(self.taken.load(Ordering::Relaxed), source.text_length());
        summary.triples = written.triples;
        summary.losses = written.tally.losses;
        summary.by_reference = written.tally.by_reference;
        summary.add_problem(Problem::KeywordMember, written.tally.keyword_members);
        Ok(summary)
    }

    /// True if all records were read and written.
    pub(super) fn is_whole(&self) -> bool {
        !self.panicked.load(Ordering::Relaxed)
            && self.written.after_all(|written| written.error.is_none())
            && self.source.lock().unwrap_or_else(PoisonError::into_inner).failure.is_none()
    }
}
