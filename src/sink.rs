//! Sinks: where triples go.
//!
//! Workers render records, each into a buffer of its own; the [`Sink`] takes what they rendered, in the order of
//! the records.

mod jsonld;
mod output;
mod rdfxml;
mod rendered;
mod selection;
mod text;

use std::io::{self, Write};

use oxrdf::{GraphName, Quad};
use oxrdfio::{JsonLdProfileSet, RdfFormat};

use self::jsonld::JsonLdWriter;
#[cfg(feature = "register")]
pub(crate) use self::output::unfinished;
pub use self::output::{Compression, Output, OutputError, discard_unfinished};
pub(crate) use self::rdfxml::{RdfXmlSink, not_xml};
pub(crate) use self::rendered::Rendered;
pub use self::selection::Selection;
use self::text::Layout;
use crate::mapping::{InputIri, Mapper, Mapping};
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

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Turtle => "turtle",
            Self::NTriples => "ntriples",
            Self::NQuads => "nquads",
            Self::TriG => "trig",
            Self::JsonLd => "jsonld",
            Self::JsonLdLines => "jsonld-lines",
            Self::RdfXml => "rdfxml",
        }
    }

    /// The syntax that a file name's extension stands for.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Some(match extension {
            "ttl" => Self::Turtle,
            "nt" => Self::NTriples,
            "nq" => Self::NQuads,
            "trig" => Self::TriG,
            "jsonld" => Self::JsonLd,
            "jsonldl" | "ndjsonld" => Self::JsonLdLines,
            "rdf" | "owl" => Self::RdfXml,
            _ => return None,
        })
    }

    /// A sink that writes the syntax for so many inputs. Each part is written in one piece, as soon as it is complete.
    pub fn sink<'w>(self, writer: impl Write + Send + 'w, inputs: usize) -> Sink<'w> {
        let writer: Box<dyn Write + Send + 'w> = Box::new(writer);
        Sink(match self {
            Self::JsonLd | Self::JsonLdLines => {
                Kind::Documents(JsonLdWriter::new(writer, self == Self::JsonLdLines, inputs > 1))
            }
            Self::RdfXml => Kind::Quads(Box::new(RdfXmlSink::new(writer)), Selection::all()),
            Self::Turtle | Self::NTriples | Self::NQuads | Self::TriG => {
                Kind::Text(TextSink { syntax: self, writer, inputs: 0, graph: None })
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

/// What takes the result of a mapping.
pub struct Sink<'w>(Kind<'w>);

enum Kind<'w> {
    Text(TextSink<'w>),
    Documents(JsonLdWriter<'w>),
    Quads(Box<dyn QuadSink + 'w>, Selection),
}

impl<'w> Sink<'w> {
    /// A sink for quads as such.
    pub fn quads(sink: impl QuadSink + 'w) -> Self {
        Self(Kind::Quads(Box::new(sink), Selection::all()))
    }

    /// The same sink for a selection of the triples, where it takes quads: others are not even made, or may be left out.
    pub fn selecting(mut self, selection: Selection) -> Self {
        if let Kind::Quads(_, selected) = &mut self.0 {
            *selected = selection;
        }
        self
    }

    /// Starts an input.
    pub(crate) fn start(&mut self, mapper: &Mapper, input: &InputIri) -> Result<(), SinkError> {
        let relative = mapper.mapping() == Mapping::Session;
        match &mut self.0 {
            Kind::Text(sink) => sink.start(relative.then_some(input.iri.as_str())),
            Kind::Documents(sink) => sink.start(&mapper.context(input), relative),
            Kind::Quads(..) => Ok(()),
        }
    }

    /// Something for a worker to render records of the input into, as this sink wants them.
    pub(crate) fn rendered(&self, mapper: &Mapper, input: &InputIri) -> Rendered {
        let relative = mapper.mapping() == Mapping::Session;
        match &self.0 {
            Kind::Documents(_) => Rendered::documents(),
            Kind::Quads(_, selection) => Rendered::quads(&input.iri, selection.clone()),
            Kind::Text(sink) => Rendered::text(
                match sink.syntax {
                    Syntax::NQuads => Layout::Lines { graphs: true },
                    Syntax::TriG => Layout::Blocks { margin: relative, relative },
                    Syntax::Turtle => Layout::Blocks { margin: false, relative },
                    _ => Layout::Lines { graphs: false },
                },
                &input.iri,
            ),
        }
    }

    /// Takes rendered records.
    pub(crate) fn take(&mut self, rendered: &Rendered) -> Result<(), SinkError> {
        match (&mut self.0, rendered) {
            (Kind::Text(sink), Rendered::Text { renderer, records }) => sink.take(renderer.text(), records),
            (Kind::Documents(sink), Rendered::Documents { text, records, .. }) => {
                let mut start = 0;
                for record in records {
                    sink.nodes(text.get(start..record.end).unwrap_or_default(), record.graph.as_deref())?;
                    start = record.end;
                }
                sink.flush()
            }
            (Kind::Quads(sink, _), Rendered::Quads { collector, .. }) => sink.quads(collector.quads()),
            // A worker renders what `rendered` gave it.
            _ => Ok(()),
        }
    }

    /// Ends the output.
    pub fn finish(&mut self) -> Result<(), SinkError> {
        match &mut self.0 {
            Kind::Text(sink) => sink.finish(),
            Kind::Documents(sink) => sink.finish(),
            Kind::Quads(sink, _) => sink.finish(),
        }
    }
}

/// N-Triples, N-Quads, Turtle, TriG: what stands around the records.
struct TextSink<'w> {
    syntax: Syntax,
    writer: Box<dyn Write + Send + 'w>,
    inputs: usize,
    /// The graph whose block is open in TriG: its reference.
    graph: Option<String>,
}

impl TextSink<'_> {
    fn start(&mut self, base: Option<&str>) -> Result<(), SinkError> {
        self.end_graph()?;
        self.inputs += 1;
        if !matches!(self.syntax, Syntax::Turtle | Syntax::TriG) {
            return Ok(());
        }
        let mut head = String::new();
        if let Some(base) = base {
            head = format!("{}@base <{base}> .\n", if self.inputs > 1 { "\n" } else { "" });
        }
        if self.inputs == 1 {
            for (prefix, namespace) in PREFIXES {
                head.push_str(&format!("@prefix {prefix}: <{namespace}> .\n"));
            }
        }
        Ok(self.writer.write_all(head.as_bytes())?)
    }

    fn take(&mut self, text: &[u8], records: &[rendered::End]) -> Result<(), SinkError> {
        let mut start = 0;
        if self.syntax == Syntax::TriG {
            for record in records {
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

    fn end_graph(&mut self) -> Result<(), SinkError> {
        match self.graph.take() {
            Some(_) => Ok(self.writer.write_all(b"}\n")?),
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.end_graph()?;
        Ok(self.writer.flush()?)
    }
}

/// The same quad in the default graph, which is all that RDF/XML has.
fn without_graph(quad: &Quad) -> Quad {
    Quad { graph_name: GraphName::DefaultGraph, ..quad.clone() }
}
