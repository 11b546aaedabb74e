//! Conversion of a log: records → messages → annotated messages → triples → sink.
//!
//! Several workers take chunks of records. Each reads its messages and renders their triples independently; only
//! pairing and writing happen in the order of the chunks, so that the output is the same for any number of workers.
//!
//! Memory is a small multiple of the largest record: a long batch is checked as a whole and then processed in pieces, a
//! large message is never held as values, and even larger records are processed one at a time.

mod batch;
mod chunk;
mod error;
mod options;
mod order;
mod worker;

use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use oxrdf::NamedNodeRef;
use oxrdf::vocab::rdf;

use self::chunk::{Chunk, ChunkSource};
pub use self::error::ConvertError;
pub use self::options::Options;
use self::order::InOrder;
pub use self::worker::PairingState;
use self::worker::{ConvertWorker, WorkShared, WorkerSink, WorkerTarget, WrittenOutput};
use crate::diagnostic::Finding;
pub use crate::mapping::STACK;
use crate::mapping::{self, InputIri, MapTally, Mapper, deep_thread};
use crate::protocol::{Extraction, Maker, Makers, Protocol};
use crate::record::{OwnEntries, Reader};
use crate::session::Origin;
use crate::sink::{RecordSink, Selection, Sink, SinkKind};
use crate::summary::Summary;
use crate::vocab::rpcg;

/// An input and its names.
pub struct Input<R> {
    /// The name in findings.
    pub name: String,
    /// The name without folders, for `rpcg:source`.
    pub source: String,
    /// The IRI of the session: absolute, without a fragment.
    pub iri: String,
    /// True if the user gave the IRI.
    pub iri_stated: bool,
    /// The bytes, compressed or not.
    pub read: R,
}

impl<R> Input<R> {
    /// Replaces the reader with the result of `map`.
    pub fn map<S>(self, map: impl FnOnce(R) -> S) -> Input<S> {
        let Self { name, source, iri, iri_stated, read } = self;
        Input { name, source, iri, iri_stated, read: map(read) }
    }

    fn boxed<'r>(self) -> Input<InputEntries<'r>>
    where
        R: Read + Send + 'r,
    {
        self.map(|read| InputEntries::Read(Box::new(read)))
    }
}

/// The source of the entries of an input.
enum InputEntries<'r> {
    Read(Box<dyn Read + Send + 'r>),
    Own(OwnEntries),
}

/// Returns the number of processors, which is the best number of threads.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Converts inputs, one after the other, into one sink.
pub struct Converter {
    mapper: Mapper,
    options: Options,
    inputs: u32,
}

impl Converter {
    /// Creates a converter for any number of inputs.
    pub fn new(mapper: Mapper, options: Options) -> Self {
        Self { mapper, options, inputs: 0 }
    }

    /// Converts an input. Passes findings that do not end the run to `report`, in the order of their records.
    ///
    /// # Errors
    ///
    /// The records before the error have been written.
    pub fn convert<R: Read + Send>(
        &mut self,
        input: Input<R>,
        sink: &mut Sink<'_>,
        report: &mut (dyn FnMut(Finding) + Send),
    ) -> Result<Summary, ConvertError> {
        self.convert_log(input.boxed(), sink, report)
    }

    /// Converts an input that supplies its own entries.
    ///
    /// # Errors
    ///
    /// As [`Converter::convert`].
    pub fn convert_entries(
        &mut self,
        input: Input<OwnEntries>,
        sink: &mut Sink<'_>,
        report: &mut (dyn FnMut(Finding) + Send),
    ) -> Result<Summary, ConvertError> {
        self.convert_log(input.map(InputEntries::Own), sink, report)
    }

    /// Not generic, so that it is not compiled for each kind of reader.
    fn convert_log(
        &mut self,
        input: Input<InputEntries<'_>>,
        sink: &mut Sink<'_>,
        report: &mut (dyn FnMut(Finding) + Send),
    ) -> Result<Summary, ConvertError> {
        let Input { name, source, iri, iri_stated, read } = input;
        let iri = InputIri { number: self.inputs, iri, stated: iri_stated };
        self.inputs += 1;
        let taken = AtomicU64::new(0);
        let options = &self.options.reader;
        let reader = match read {
            InputEntries::Read(read) => {
                let read: Box<dyn Read + Send + '_> = Box::new(CountedRead { read, taken: &taken });
                Reader::new(read, options)
            }
            InputEntries::Own(entries) => Reader::of(entries),
        };
        let reader = reader.map_err(|error| ConvertError::Read { input: name.clone(), error })?;
        let summary = Summary::new(&reader);
        let origin = Origin { source, format: reader.format() };
        let input = OpenInput { name: &name, iri: &iri, origin, reader, summary, taken: &taken };
        match &mut sink.0 {
            SinkKind::Text(sink) => self.run(input, sink, report),
            SinkKind::Documents(sink) => self.run(input, sink, report),
            SinkKind::Lines(sink) => self.run(input, sink, report),
            SinkKind::Quads(sink) => self.run(input, sink, report),
            SinkKind::Columns(sink) => self.run(input, sink, report),
            SinkKind::Spans(sink) => self.run(input, sink, report),
            SinkKind::Messages(sink) => self.run(input, sink, report),
            #[cfg(feature = "parquet")]
            SinkKind::Tables(sink) => self.run(input, *sink, report),
        }
    }

    /// Returns what to extract for a selection of triples.
    #[doc(hidden)]
    pub fn extracted(&self, selection: Option<&Selection>, keeps_graphs: bool) -> Extraction {
        let makers = selection.map_or(Makers::ALL, |selection| self.makers(selection));
        let protocol = match makers.has_protocols() && self.mapper.in_session() {
            true => self.options.protocol,
            false => Protocol::None,
        };
        // Statements of protocols, and triples of further contexts, may depend on everything.
        let any = protocol != Protocol::None || !self.mapper.payloads_stay_opaque();
        Extraction {
            protocol,
            makers,
            payloads: any || makers.has(Maker::Payload),
            exchanges: any || keeps_graphs || makers.has(Maker::Exchange),
        }
    }

    /// Returns the makers of the triples of a selection: of each property and class that it names. Any maker may make
    /// the triples of another term.
    fn makers(&self, selection: &Selection) -> Makers {
        let Some(predicates) = selection.predicates() else { return Makers::ALL };
        let is_opaque = self.mapper.payloads_stay_opaque();
        let wants = |property: NamedNodeRef<'_>, object: Option<&str>, elsewhere: bool| match elsewhere {
            true => selection.wants_elsewhere(property, object),
            false => selection.wants(property, object),
        };
        let is_named = |term: &NamedNodeRef<'_>, elsewhere: bool| match is_property(*term) {
            true => wants(*term, None, elsewhere),
            false => wants(rdf::TYPE, Some(term.as_str()), elsewhere),
        };
        let stated = || mapping::makers().flat_map(|maker| maker.of_records.iter().chain(&maker.of_nodes));
        let is_known = |iri: &str| stated().any(|term| term.as_str() == iri);
        for predicate in predicates {
            let known = match predicate == rdf::TYPE {
                true => selection.objects(predicate).is_none_or(|classes| classes.into_iter().all(is_known)),
                false => is_known(predicate.as_str()),
            };
            if !known {
                return Makers::ALL;
            }
        }
        let wanted = mapping::makers().filter(|maker| {
            maker.of_records.iter().any(|term| is_named(term, false))
                || maker.of_nodes.iter().any(|term| is_named(term, is_opaque))
                || maker.problems.iter().any(|problem| wants(rpcg::PROBLEM, Some(problem.as_str()), false))
        });
        wanted.fold(Makers::NONE, |makers, wanted| makers.with(wanted.maker))
    }

    fn run<S: RecordSink<Rendered: WorkerTarget>>(
        &self,
        input: OpenInput<'_>,
        sink: &mut S,
        report: &mut (dyn FnMut(Finding) + Send),
    ) -> Result<Summary, ConvertError> {
        let head = self.mapper.sink_input(input.iri, &input.origin.source);
        sink.start(&head)?;
        let first = Box::new(sink.rendered(&head));
        let further = (1..self.options.jobs.max(1)).map(|_| Box::new(sink.rendered(&head)) as _).collect();
        let extracted = self.extracted(sink.selection(), sink.keeps_graphs());
        self.work((input, extracted), (first, further), sink, report)
    }

    /// Writes an input to a sink, with a worker for each target that the sink gave out.
    fn work(
        &self,
        (input, extracted): (OpenInput<'_>, Extraction),
        (first, further): (Box<dyn WorkerTarget>, Vec<Box<dyn WorkerTarget>>),
        sink: &mut dyn WorkerSink,
        report: &mut (dyn FnMut(Finding) + Send),
    ) -> Result<Summary, ConvertError> {
        let shared = WorkShared {
            mapper: &self.mapper,
            options: &self.options,
            extracted,
            name: input.name,
            iri: input.iri,
            source: Mutex::new(ChunkSource::new(input.reader, self.mapper.takes_pieces())),
            taken: input.taken,
            stopped: AtomicBool::new(false),
            panicked: AtomicBool::new(false),
            paired: InOrder::new(PairingState::new(input.summary, extracted.makers)),
            written: InOrder::new(WrittenOutput { sink, report, triples: 0, tally: MapTally::default(), error: None }),
        };
        let mut worker = ConvertWorker::new(&shared, first);
        let mut chunk = Chunk::default();
        // An input that fits in one chunk is done before another thread would have started.
        if worker.step(&mut chunk) {
            thread::scope(|scope| {
                for rendered in further {
                    let shared = &shared;
                    // If a thread cannot start, the others do the work.
                    let work = move || ConvertWorker::new(shared, rendered).work();
                    let _ = deep_thread().spawn_scoped(scope, work);
                }
                while worker.step(&mut chunk) {}
            });
        }
        if shared.is_whole() {
            worker.end(&input.origin);
        }
        drop(worker);
        shared.end()
    }
}

/// Returns true if a term is a property; otherwise, it is a class, and its name begins with a capital letter.
fn is_property(term: NamedNodeRef<'_>) -> bool {
    let name = term.as_str().rsplit(['#', '/']).next();
    name.is_some_and(|name| name.starts_with(|first: char| first.is_ascii_lowercase()))
}

/// An input that has been opened.
struct OpenInput<'i> {
    name: &'i str,
    iri: &'i InputIri,
    origin: Origin,
    reader: Reader<'i>,
    summary: Summary,
    taken: &'i AtomicU64,
}

/// Counts the bytes read from an input, before decompression.
struct CountedRead<'c, R> {
    read: R,
    taken: &'c AtomicU64,
}

impl<R: Read> Read for CountedRead<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.read.read(buffer)?;
        self.taken.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::Mapping;
    use crate::sink::Syntax;

    /// The worker that panics may be the first, before others have begun, or any when all are at work.
    #[test]
    fn a_panic_ends_the_work_of_all() {
        let message = r#"{"jsonrpc":"2.0","method":"a"}"#;
        let log = format!("{message}\n{}", "no message\n".repeat(200_000));
        for after in [0, 100_000] {
            let mut findings = 0;
            let mut report = |_| {
                findings += 1;
                assert!(findings <= after, "this handler fails");
            };
            let mapper = Mapper::new(Mapping::Session, &[]).unwrap();
            let mut converter = Converter::new(mapper, Options { jobs: 3, ..Options::default() });
            let (name, iri) = ("log".to_owned(), "https://example.org/log".to_owned());
            let input = Input { name, source: "log".into(), iri, iri_stated: true, read: log.as_bytes() };
            let result = converter.convert(input, &mut Syntax::NTriples.sink(io::sink(), 1), &mut report);
            assert!(matches!(result, Err(ConvertError::Panicked { .. })));
            assert!(findings <= after + 1);
        }
    }
}
