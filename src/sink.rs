//! Sinks: where triples go.
//!
//! Workers render records, each into a buffer of its own kind; the [`Sink`] takes what they rendered, in the order of
//! the records.

mod beside;
pub(crate) mod columns;
mod jsonld;
mod lines;
pub(crate) mod otlp;
mod output;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
mod rdfxml;
mod rendered;
mod selection;
mod terminal;
mod text;
pub(crate) mod units;

use std::io::{self, Write};

use oxrdf::Quad;
use oxrdfio::{JsonLdProfileSet, RdfFormat, RdfSerializer};

pub use self::beside::discard_unfinished;
#[cfg(feature = "register")]
pub(crate) use self::beside::{begin, put_folder, unfinished};
use self::columns::{Columns, ColumnsSink};
use self::jsonld::JsonLdWriter;
use self::lines::LinesSink;
pub(crate) use self::lines::write_line;
pub use self::otlp::SpanCounts;
use self::otlp::Spans;
pub use self::output::{Compression, Output, OutputError};
#[cfg(feature = "parquet")]
use self::parquet::TablesSink;
#[cfg(feature = "parquet")]
pub use self::parquet::{Tables, describe_tables};
pub(crate) use self::rdfxml::{RdfXmlSink, not_xml};
use self::rendered::QuadCollector;
pub(crate) use self::rendered::{DocumentRecords, Rendered};
pub use self::selection::Selection;
pub(crate) use self::selection::{Condition, Subjects, ValueTest};
use self::text::{Layout, TextRenderer};
use crate::vocab::PREFIXES;

/// Why triples could not be written. That the *input* failed is another matter, and another type.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// Writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The syntax has no way to write a literal.
    #[error(
        "XML cannot carry U+{character:04X}, which a literal of {subject} holds: use Turtle or another syntax instead"
    )]
    NotXml {
        /// The first character that XML 1.0 does not allow.
        character: u32,
        /// The subject whose literal it is.
        subject: String,
    },
    /// The syntax has no way to write a predicate.
    #[error(
        "XML cannot carry the property <{predicate}>, which has no name that XML allows: use Turtle or another syntax instead"
    )]
    NotXmlName {
        /// The predicate.
        predicate: String,
    },
}

/// Takes quads, the triples of a subject together.
pub trait QuadSink: Send {
    /// Takes the quads of a record.
    fn quads(&mut self, quads: &[Quad]) -> Result<(), SinkError>;

    /// Ends the output.
    fn finish(&mut self) -> Result<(), SinkError>;
}

/// Collects quads in memory.
impl QuadSink for Vec<Quad> {
    fn quads(&mut self, quads: &[Quad]) -> Result<(), SinkError> {
        self.extend_from_slice(quads);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

impl<S: QuadSink> QuadSink for &mut S {
    fn quads(&mut self, quads: &[Quad]) -> Result<(), SinkError> {
        (**self).quads(quads)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        (**self).finish()
    }
}

/// A syntax that triples are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Syntax {
    /// RDF 1.1 Turtle.
    #[default]
    Turtle,
    /// RDF 1.1 N-Triples.
    NTriples,
    /// RDF 1.1 N-Quads.
    NQuads,
    /// RDF 1.1 TriG.
    TriG,
    /// JSON-LD 1.1, one document.
    JsonLd,
    /// JSON-LD 1.1, a document a line.
    JsonLdLines,
    /// RDF 1.1 XML Syntax.
    RdfXml,
}

impl Syntax {
    /// Every syntax, in the order of the documentation.
    pub const ALL: [Self; 7] =
        [Self::Turtle, Self::NTriples, Self::NQuads, Self::TriG, Self::JsonLd, Self::JsonLdLines, Self::RdfXml];

    /// Its name on the command line, and the extensions of files that hold it.
    fn names(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Turtle => ("turtle", &["ttl"]),
            Self::NTriples => ("ntriples", &["nt"]),
            Self::NQuads => ("nquads", &["nq"]),
            Self::TriG => ("trig", &["trig"]),
            Self::JsonLd => ("jsonld", &["jsonld"]),
            Self::JsonLdLines => ("jsonld-lines", &["jsonldl", "ndjsonld"]),
            Self::RdfXml => ("rdfxml", &["rdf", "owl"]),
        }
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// The syntax that a file name's extension stands for.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|syntax| syntax.names().1.contains(&extension))
    }

    /// A sink that writes the syntax, for that number of inputs. Each part is written in one piece, as soon as it is
    /// complete.
    pub fn sink<'w>(self, writer: impl Write + Send + 'w, inputs: usize) -> Sink<'w> {
        let writer: Box<dyn Write + Send + 'w> = Box::new(writer);
        Sink(match self {
            Self::JsonLd => SinkKind::Documents(JsonLdWriter::new(writer, inputs > 1)),
            Self::JsonLdLines => SinkKind::Lines(LinesSink(writer)),
            Self::RdfXml => SinkKind::Quads(Selected::all(RdfXmlSink::new(writer))),
            Self::Turtle | Self::NTriples | Self::NQuads | Self::TriG => {
                SinkKind::Text(TextSink { syntax: self, writer, inputs: 0, graph: None })
            }
        })
    }
}

impl From<Syntax> for RdfFormat {
    /// The format that a document of the syntax is in.
    fn from(syntax: Syntax) -> Self {
        match syntax {
            Syntax::Turtle => Self::Turtle,
            Syntax::NTriples => Self::NTriples,
            Syntax::NQuads => Self::NQuads,
            Syntax::TriG => Self::TriG,
            Syntax::RdfXml => Self::RdfXml,
            Syntax::JsonLd | Syntax::JsonLdLines => Self::JsonLd { profile: JsonLdProfileSet::empty() },
        }
    }
}

/// Writes a whole document of the syntax, with our prefixes, and IRIs that are relative to `base` where the syntax can.
pub(crate) fn serializer(syntax: Syntax, base: Option<&str>) -> RdfSerializer {
    let mut serializer = RdfSerializer::from_format(syntax.into());
    // `rdf` is the own of RDF/XML's serializer.
    for (prefix, namespace) in PREFIXES.iter().filter(|(prefix, _)| syntax != Syntax::RdfXml || *prefix != "rdf") {
        if let Ok(with) = serializer.clone().with_prefix(*prefix, *namespace) {
            serializer = with;
        }
    }
    base.and_then(|base| serializer.clone().with_base_iri(base).ok()).unwrap_or(serializer)
}

/// What a sink has to know of an input.
pub(crate) struct SinkInput<'i> {
    pub iri: &'i str,
    /// Its name without folders.
    pub source: &'i str,
    /// Whether its triples are in named graphs, those of its sessions. What is relative is so to its IRI then.
    pub named: bool,
    /// Whether its messages are mapped as they are, a message's method before its params: no further context has a say.
    pub plain: bool,
    /// The `@context` of its JSON-LD document.
    pub context: serde_json::Value,
}

/// A sink of one kind, and what its workers render records into.
pub(crate) trait RecordSink: Send {
    type Rendered: Rendered;

    /// Starts an input.
    fn start(&mut self, _: &SinkInput<'_>) -> Result<(), SinkError> {
        Ok(())
    }

    /// Which triples it takes; none: all.
    fn selection(&self) -> Option<&Selection> {
        None
    }

    /// Something for a worker to render records of the input into.
    fn rendered(&self, input: &SinkInput<'_>) -> Self::Rendered;

    /// Takes rendered records.
    fn take(&mut self, rendered: &mut Self::Rendered) -> Result<(), SinkError>;

    /// Ends the output.
    fn finish(&mut self) -> Result<(), SinkError>;
}

/// What takes the result of a mapping.
pub struct Sink<'w>(pub(crate) SinkKind<'w>);

/// The kinds of sinks.
pub(crate) enum SinkKind<'w> {
    Text(TextSink<'w>),
    Documents(JsonLdWriter<'w>),
    Lines(LinesSink<'w>),
    Quads(Selected<'w>),
    Columns(ColumnsSink<'w>),
    Spans(Spans<'w>),
    #[cfg(feature = "parquet")]
    Tables(&'w mut TablesSink),
}

impl<'w> Sink<'w> {
    /// A sink for quads as such.
    pub fn quads(sink: impl QuadSink + 'w) -> Self {
        Self(SinkKind::Quads(Selected::all(sink)))
    }

    /// A sink that writes exchanges with times as spans, in OTLP/JSON a line each; with `payloads`, also error messages,
    /// URIs and arguments of tools.
    pub fn spans(writer: impl Write + Send + 'w, payloads: bool) -> Self {
        Self(SinkKind::Spans(Spans::new(writer, payloads)))
    }

    /// How many spans it has written, if it writes spans, and what is in none of them.
    pub fn span_counts(&self) -> Option<SpanCounts> {
        match &self.0 {
            SinkKind::Spans(spans) => Some(spans.counts),
            _ => None,
        }
    }

    /// A sink that fills columns with a selection of the triples, as long as `check` does not fail.
    pub(crate) fn columns(
        columns: &'w mut Columns,
        selection: Selection,
        check: impl Fn() -> io::Result<()> + Send + 'w,
    ) -> Self {
        Self(SinkKind::Columns(ColumnsSink { columns, selection, check: Box::new(check) }))
    }

    /// The same sink for a selection of the triples, where it takes quads: others are not even made, or may be left out.
    pub fn selecting(mut self, selection: Selection) -> Self {
        if let SinkKind::Quads(selected) = &mut self.0 {
            selected.selection = selection;
        }
        self
    }

    /// Ends the output.
    pub fn finish(&mut self) -> Result<(), SinkError> {
        match &mut self.0 {
            SinkKind::Text(sink) => sink.finish(),
            SinkKind::Documents(sink) => sink.finish(),
            SinkKind::Lines(sink) => sink.finish(),
            SinkKind::Quads(sink) => sink.finish(),
            SinkKind::Columns(sink) => sink.finish(),
            SinkKind::Spans(sink) => sink.finish(),
            #[cfg(feature = "parquet")]
            SinkKind::Tables(sink) => sink.finish(),
        }
    }
}

/// Quads of a selection, for another sink.
pub(crate) struct Selected<'w> {
    sink: Box<dyn QuadSink + 'w>,
    selection: Selection,
}

impl<'w> Selected<'w> {
    fn all(sink: impl QuadSink + 'w) -> Self {
        Self { sink: Box::new(sink), selection: Selection::all() }
    }
}

impl RecordSink for Selected<'_> {
    type Rendered = QuadCollector;

    fn selection(&self) -> Option<&Selection> {
        Some(&self.selection)
    }

    fn rendered(&self, input: &SinkInput<'_>) -> QuadCollector {
        QuadCollector::new(input.iri, self.selection.clone())
    }

    fn take(&mut self, collector: &mut QuadCollector) -> Result<(), SinkError> {
        self.sink.quads(collector.collected())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.sink.finish()
    }
}

/// N-Triples, N-Quads, Turtle, TriG: what stands around the records.
pub(crate) struct TextSink<'w> {
    syntax: Syntax,
    writer: Box<dyn Write + Send + 'w>,
    inputs: usize,
    /// The graph whose block is open in TriG: its reference.
    graph: Option<String>,
}

impl TextSink<'_> {
    fn end_graph(&mut self) -> Result<(), SinkError> {
        match self.graph.take() {
            Some(_) => Ok(self.writer.write_all(b"}\n")?),
            None => Ok(()),
        }
    }
}

impl RecordSink for TextSink<'_> {
    type Rendered = TextRenderer;

    fn start(&mut self, input: &SinkInput<'_>) -> Result<(), SinkError> {
        self.end_graph()?;
        self.inputs += 1;
        if !matches!(self.syntax, Syntax::Turtle | Syntax::TriG) {
            return Ok(());
        }
        let mut head = String::new();
        if input.named {
            head = format!("{}@base <{}> .\n", if self.inputs > 1 { "\n" } else { "" }, input.iri);
        }
        if self.inputs == 1 {
            for (prefix, namespace) in PREFIXES {
                head.push_str(&format!("@prefix {prefix}: <{namespace}> .\n"));
            }
        }
        Ok(self.writer.write_all(head.as_bytes())?)
    }

    fn rendered(&self, input: &SinkInput<'_>) -> TextRenderer {
        let relative = input.named;
        let layout = match self.syntax {
            Syntax::NQuads => Layout::Lines { graphs: true },
            Syntax::TriG => Layout::Blocks { margin: relative, relative },
            Syntax::Turtle => Layout::Blocks { margin: false, relative },
            _ => Layout::Lines { graphs: false },
        };
        TextRenderer::new(layout, input.iri)
    }

    fn take(&mut self, rendered: &mut TextRenderer) -> Result<(), SinkError> {
        let text = rendered.text();
        let mut start = 0;
        if self.syntax == Syntax::TriG {
            for record in rendered.records() {
                if self.graph != record.graph {
                    self.writer.write_all(text.get(start..record.start).unwrap_or_default())?;
                    start = record.start;
                    self.end_graph()?;
                    if let Some(graph) = &record.graph {
                        write!(self.writer, "\n<{graph}> {{")?;
                    }
                    self.graph.clone_from(&record.graph);
                }
            }
        }
        self.writer.write_all(text.get(start..).unwrap_or_default())?;
        Ok(self.writer.flush()?)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.end_graph()?;
        Ok(self.writer.flush()?)
    }
}
