//! Sinks: the destinations of triples.
//!
//! Workers render records, each into a buffer of its own type. The [`Sink`] takes the rendered records in their order.

pub mod columns;
mod compression;
mod jsonld;
mod lines;
pub(crate) mod otlp;
#[cfg(not(target_family = "wasm"))]
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod rdfxml;
mod record_sink;
mod rendered;
pub mod rows;
mod selection;
mod syntax;
#[cfg(not(target_family = "wasm"))]
mod terminal;
mod text;
#[cfg(not(target_family = "wasm"))]
mod unfinished;

use std::io::{self, Write};

use self::columns::{Columns, ColumnsSink};
pub use self::compression::Compression;
use self::jsonld::JsonLdWriter;
use self::lines::LinesSink;
pub use self::lines::write_line;
pub use self::otlp::SpanCounts;
use self::otlp::Spans;
#[cfg(not(target_family = "wasm"))]
pub use self::output::{Output, OutputError};
#[cfg(feature = "parquet")]
pub use self::parquet::Tables;
#[cfg(feature = "parquet")]
use self::parquet::TablesSink;
pub use self::rdfxml::{RdfXmlSink, XmlWriter};
pub use self::record_sink::{QuadSink, SinkError};
pub(crate) use self::record_sink::{RecordSink, SinkInput};
use self::rendered::QuadCollector;
pub(crate) use self::rendered::{DocumentRecords, Rendered};
use self::rows::MessagesSink;
use self::rows::cells::TableRows;
pub use self::selection::{FunctionName, LiteralFunctions, Selection, WantedExtent, WantedSubject};
pub use self::syntax::{Syntax, serializer};
use self::text::{TextRenderer, TripleLayout};
#[cfg(not(target_family = "wasm"))]
pub use self::unfinished::{UnfinishedFolder, discard_unfinished, unfinished};
use crate::vocab::PREFIXES;

impl Syntax {
    /// Creates a sink that writes the syntax, for that number of inputs. Each part is written at once, as soon as it is
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

/// A destination for the result of a mapping.
pub struct Sink<'w>(pub(crate) SinkKind<'w>);

/// The kinds of sinks.
pub(crate) enum SinkKind<'w> {
    Text(TextSink<'w>),
    Documents(JsonLdWriter<'w>),
    Lines(LinesSink<'w>),
    Quads(Selected<'w>),
    Columns(ColumnsSink<'w>),
    Spans(Spans<'w>),
    Messages(MessagesSink<'w>),
    #[cfg(feature = "parquet")]
    Tables(&'w mut TablesSink),
}

impl<'w> Sink<'w> {
    /// Creates a sink that passes on quads.
    pub fn quads(sink: impl QuadSink + 'w) -> Self {
        Self(SinkKind::Quads(Selected::all(sink)))
    }

    /// Creates a sink that writes exchanges with times as spans, in OTLP/JSON, one per line. With `payloads`, it also
    /// writes error messages, and URIs and arguments of tools.
    pub fn spans(writer: impl Write + Send + 'w, payloads: bool) -> Self {
        Self(SinkKind::Spans(Spans::new(writer, payloads)))
    }

    /// Returns the number of spans written, and of messages without a span; `None` if the sink does not write spans.
    pub fn span_counts(&self) -> Option<SpanCounts> {
        match &self.0 {
            SinkKind::Spans(spans) => Some(spans.counts),
            _ => None,
        }
    }

    /// Creates a sink that fills columns with a selection of the triples, until `check` fails.
    pub fn columns(
        columns: &'w mut Columns,
        selection: Selection,
        check: impl Fn() -> io::Result<()> + Send + 'w,
    ) -> Self {
        Self(SinkKind::Columns(ColumnsSink { columns, selection, check: Box::new(check) }))
    }

    /// Creates a sink that passes on the rows of messages ([`rows::schema::messages`]), in the order of the log. Cells of
    /// properties outside of the selection may be empty.
    pub fn messages(selection: Selection, pass: impl FnMut(&TableRows) -> io::Result<()> + Send + 'w) -> Self {
        Self(SinkKind::Messages(MessagesSink::new(selection, pass)))
    }

    /// Restricts a sink of quads to a selection of the triples. Other triples may be left out, or not even be created.
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
            SinkKind::Messages(sink) => sink.finish(),
            #[cfg(feature = "parquet")]
            SinkKind::Tables(sink) => sink.finish(),
        }
    }
}

/// A sink for the selected quads.
pub(crate) struct Selected<'w> {
    sink: Box<dyn QuadSink + 'w>,
    selection: Selection,
}

impl<'w> Selected<'w> {
    fn all(sink: impl QuadSink + 'w) -> Self {
        Self { sink: Box::new(sink), selection: Selection::all() }
    }
}

#[cfg(feature = "parquet")]
impl Tables {
    /// Returns the sink that fills the tables.
    pub fn sink(&mut self) -> Sink<'_> {
        Sink(SinkKind::Tables(self.tables()))
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

/// The text around the records in N-Triples, N-Quads, Turtle or TriG.
pub(crate) struct TextSink<'w> {
    syntax: Syntax,
    writer: Box<dyn Write + Send + 'w>,
    inputs: usize,
    /// The reference of the graph whose block is open in TriG.
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
            Syntax::NQuads => TripleLayout::Lines { graphs: true },
            Syntax::TriG => TripleLayout::Blocks { graphs: true, margin: relative, relative },
            Syntax::Turtle => TripleLayout::Blocks { graphs: false, margin: false, relative },
            _ => TripleLayout::Lines { graphs: false },
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
