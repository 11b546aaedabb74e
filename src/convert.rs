//! The way of a log through the program: records → messages → annotated messages → triples → sink.

use std::io::Read;

use oxrdf::Quad;

use crate::diagnostic::Finding;
use crate::json::{self, Value};
use crate::mapping::{Loss, Mapper, Mapping, ReferenceError};
use crate::message::{Content, Problem, Problems, Single};
use crate::record::{Entry, Location, LogLine, ReadError, Reader, ReaderOptions, Record};
use crate::session::{Annotated, Node, Origin, Session};
use crate::sink::{Sink, SinkError};
use crate::summary::Summary;

/// An input and what it is called.
pub struct Input<R> {
    /// As findings name it.
    pub name: String,
    /// Its name without folders, for `rpcg:source`.
    pub source: String,
    /// IRI of its session.
    pub iri: String,
    /// Whether the user gave that IRI.
    pub iri_stated: bool,
    /// Its bytes, maybe compressed.
    pub read: R,
}

/// How to convert.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// How to read.
    pub reader: ReaderOptions,
    /// Stop at the first record that is not a valid message.
    pub strict: bool,
    /// Keep the text between messages.
    pub log_lines: bool,
}

/// Why a conversion stopped.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The source failed.
    #[error("{input}: {error}")]
    Read {
        /// The input, as findings name it.
        input: String,
        /// What happened.
        error: ReadError,
    },
    /// The sink failed.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The contexts do not work.
    #[error(transparent)]
    Mapping(#[from] ReferenceError),
    /// A record is not a valid message, and [`Options::strict`] asks for nothing but those.
    #[error("{0}")]
    NotAMessage(Finding),
}

/// Converts inputs, one after the other, into one sink.
pub struct Converter {
    mapper: Mapper,
    options: Options,
}

impl Converter {
    /// A converter for any number of inputs.
    pub fn new(mapper: Mapper, options: Options) -> Self {
        Self { mapper, options }
    }

    /// Converts an input. Findings that do not end the run go to `report`.
    pub fn convert<R: Read>(
        &mut self,
        input: Input<R>,
        sink: &mut Sink<'_>,
        report: &mut dyn FnMut(Finding),
    ) -> Result<Summary, ConvertError> {
        self.mapper.start(&input.iri, input.iri_stated)?;
        let name = input.name;
        let failed = |error| ConvertError::Read { input: name.clone(), error };
        let mut reader = Reader::new(input.read, &self.options.reader).map_err(failed)?;
        let in_session = self.mapper.mapping() == Mapping::Session;
        match sink {
            Sink::Quads(sink) => sink.start(in_session.then_some(input.iri.as_str()))?,
            Sink::Documents(sink) => sink.start(&self.mapper.context(), in_session)?,
        }
        let mut run = Run {
            mapper: &mut self.mapper,
            options: &self.options,
            sink,
            report,
            input: &name,
            sessions: Vec::new(),
            summary: Summary::new(reader.format()),
            document: String::new(),
            quads: Vec::new(),
        };
        run.session(None);
        while let Some(entry) = reader.next_entry().map_err(failed)? {
            match entry {
                Entry::Record(record) => run.record(&record)?,
                Entry::LogLine(line) => run.log_line(&line)?,
            }
        }
        run.end(&Origin { source: input.source, format: reader.format() })
    }
}

/// The state of one input's conversion.
struct Run<'r, 's> {
    mapper: &'r mut Mapper,
    options: &'r Options,
    sink: &'r mut Sink<'s>,
    report: &'r mut dyn FnMut(Finding),
    input: &'r str,
    /// In the order in which they began; the first is the input's own.
    sessions: Vec<Session>,
    summary: Summary,
    document: String,
    quads: Vec<Quad>,
}

impl Run<'_, '_> {
    fn record(&mut self, record: &Record<'_>) -> Result<(), ConvertError> {
        self.summary.records += 1;
        self.document.clear();
        match self.mapper.mapping() {
            Mapping::Session => {
                let content = Content::parse(&record.bytes);
                self.judge(record, &content, true)?;
                let index = self.session(record.session.as_deref());
                let nodes = match self.sessions.get_mut(index) {
                    Some(session) => session.annotate(record, content),
                    None => return Ok(()),
                };
                self.count(&nodes);
                self.write_nodes(index, &nodes, record.location)
            }
            Mapping::Bblock => {
                let parsed = json::parse(&record.bytes);
                let content = Content::from(parsed.clone());
                self.judge(record, &content, false)?;
                self.count_plain(&content);
                match parsed {
                    Ok(value) => self.write_plain(&value, record.location),
                    Err(_) => {
                        self.mapper.lose(Loss::NoObject);
                        Ok(())
                    }
                }
            }
        }
    }

    fn log_line(&mut self, line: &LogLine<'_>) -> Result<(), ConvertError> {
        self.summary.log_lines += 1;
        if !self.options.log_lines || self.mapper.mapping() == Mapping::Bblock {
            return Ok(());
        }
        self.document.clear();
        let index = self.session(None);
        let Some(session) = self.sessions.get_mut(index) else { return Ok(()) };
        let node = session.annotate_log_line(line);
        self.write_nodes(index, &[node], line.location)
    }

    fn end(mut self, origin: &Origin) -> Result<Summary, ConvertError> {
        if self.mapper.mapping() == Mapping::Session {
            // An input whose records all belong to sessions of their own has none itself.
            let own_is_empty = self.sessions.len() > 1 && self.sessions.first().is_some_and(Session::is_empty);
            for index in usize::from(own_is_empty)..self.sessions.len() {
                self.document.clear();
                if let Some(session) = self.sessions.get(index) {
                    self.mapper.end_document(session, origin, &mut self.document);
                }
                self.flush(index)?;
            }
        }
        self.summary.losses = self.mapper.take_losses();
        Ok(self.summary)
    }

    /// Place of the session with that key, which begins here if it is new.
    fn session(&mut self, key: Option<&str>) -> usize {
        match self.sessions.iter().position(|session| session.key() == key) {
            Some(index) => index,
            None => {
                self.sessions.push(Session::new(key.map(str::to_owned)));
                self.sessions.len() - 1
            }
        }
    }

    fn write_nodes(&mut self, index: usize, nodes: &[Annotated<'_>], at: Location) -> Result<(), ConvertError> {
        if let Some(session) = self.sessions.get(index) {
            self.mapper.document(session, nodes, &mut self.document)?;
        }
        match self.flush(index) {
            Err(ConvertError::Mapping(error)) => self.not_expanded(&error, at),
            result => result,
        }
    }

    fn write_plain(&mut self, value: &Value<'_>, at: Location) -> Result<(), ConvertError> {
        self.mapper.plain_document(value, &mut self.document)?;
        match self.flush(0) {
            Err(ConvertError::Mapping(error)) => self.not_expanded(&error, at),
            result => result,
        }
    }

    /// Expansion depends on the message only under contexts with maps or the like; one message is no reason to stop.
    fn not_expanded(&mut self, error: &ReferenceError, location: Location) -> Result<(), ConvertError> {
        self.mapper.lose(Loss::NotExpanded);
        self.find(location, error.to_string(), false);
        Ok(())
    }

    /// Hands on what is in the document.
    fn flush(&mut self, index: usize) -> Result<(), ConvertError> {
        if self.document.is_empty() {
            return Ok(());
        }
        let Some(session) = self.sessions.get(index) else { return Ok(()) };
        match self.sink {
            Sink::Quads(sink) => {
                let graph = self.mapper.graph(session);
                self.quads.clear();
                self.mapper.quads(&self.document, &graph, &mut self.quads)?;
                self.summary.triples += self.quads.len() as u64;
                sink.quads(&self.quads)?;
            }
            Sink::Documents(sink) => {
                let graph = session.key().map(|_| self.mapper.graph_reference(session));
                sink.nodes(&self.document, graph.as_deref())?;
            }
        }
        Ok(())
    }

    /// Reports what is not a valid message, and ends the run there if asked to.
    fn judge(&mut self, record: &Record<'_>, content: &Content<'_>, in_graph: bool) -> Result<(), ConvertError> {
        let message = if record.flags.oversized {
            format!(
                "{} bytes are more than --max-record-size allows ({}); the record is skipped",
                record.length, self.options.reader.max_record_size
            )
        } else {
            match content {
                Content::Malformed(error) => {
                    // Its place in the record, as a place in the input.
                    let offset = error.offset.saturating_add(usize::try_from(record.location.byte).unwrap_or(0));
                    format!("not JSON: {}", json::Error { offset, ..error.clone() })
                }
                Content::Batch(elements) => match self.judge_batch(elements, in_graph) {
                    Some(message) => message,
                    None => return Ok(()),
                },
                Content::Single(Single::Invalid(invalid)) => {
                    // An object is mapped as it is in either mapping.
                    if !self.options.strict && (in_graph || matches!(invalid.value, Value::Object(_))) {
                        return Ok(());
                    }
                    "JSON, but no JSON-RPC message".to_owned()
                }
                Content::Single(Single::Message(_)) => return Ok(()),
            }
        };
        if self.options.strict {
            let finding = Finding { input: self.input.to_owned(), location: record.location, message, in_graph: false };
            return Err(ConvertError::NotAMessage(finding));
        }
        self.find(record.location, message, in_graph && !record.flags.oversized);
        Ok(())
    }

    fn judge_batch(&self, elements: &[Single<'_>], in_graph: bool) -> Option<String> {
        if self.options.strict && elements.is_empty() {
            return Some("a batch without elements".to_owned());
        }
        let bad = (1..).zip(elements).find(|(_, element)| match element {
            Single::Message(_) => false,
            Single::Invalid(invalid) => self.options.strict || !in_graph && !matches!(invalid.value, Value::Object(_)),
        });
        bad.map(|(index, _): (u64, _)| format!("element {index} of the batch is no JSON-RPC message"))
    }

    fn find(&mut self, location: Location, message: String, in_graph: bool) {
        (self.report)(Finding { input: self.input.to_owned(), location, message, in_graph });
    }

    fn count(&mut self, nodes: &[Annotated<'_>]) {
        for node in nodes {
            match &node.node {
                Node::Message(message) => self.summary.messages[message.kind as usize] += 1,
                Node::Invalid(_) => self.summary.invalid += 1,
                Node::Batch(_) => self.summary.batches += 1,
                Node::Malformed(_) => self.summary.malformed += 1,
                Node::LogLine(_) => {}
            }
            self.summary.add_problems(node.problems);
            if node.superseded.is_some() {
                self.summary.add_problems(Problems::from_iter([Problem::IdReusedWhileOpen]));
            }
        }
    }

    fn count_plain(&mut self, content: &Content<'_>) {
        let mut count = |single: &Single<'_>| {
            match single {
                Single::Message(message) => self.summary.messages[message.kind as usize] += 1,
                Single::Invalid(_) => self.summary.invalid += 1,
            }
            self.summary.add_problems(single.problems());
        };
        match content {
            Content::Single(single) => count(single),
            Content::Batch(elements) => {
                elements.iter().for_each(&mut count);
                self.summary.batches += 1;
            }
            Content::Malformed(_) => self.summary.malformed += 1,
        }
    }
}
