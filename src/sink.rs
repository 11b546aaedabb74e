//! Sinks: where triples go.

mod jsonld;
mod output;
mod rdfxml;
mod turtle;

use std::io::{self, Write};

use oxrdf::{GraphName, Quad};
use oxttl::{NQuadsSerializer, NTriplesSerializer};

pub use self::jsonld::{JsonLdSink, Layout};
pub use self::output::{Compression, Output, OutputError, SharedOutput};
use self::rdfxml::RdfXmlSink;
use self::turtle::TurtleSink;

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
pub trait QuadSink {
    /// Starts an input; `base` is what its IRIs are relative to, where they are.
    fn start(&mut self, base: Option<&str>) -> Result<(), SinkError>;

    /// Takes the quads of a record.
    fn quads(&mut self, quads: &[Quad]) -> Result<(), SinkError>;

    /// Ends the output.
    fn finish(&mut self) -> Result<(), SinkError>;
}

/// A syntax that triples are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// RDF 1.1 Turtle.
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

    /// A sink that writes the syntax. JSON-LD is written from documents, not from quads: see [`JsonLdSink`].
    pub fn sink<'w>(self, writer: impl Write + 'w) -> Sink<'w> {
        let writer = Box::new(writer) as Box<dyn Write + 'w>;
        match self {
            Self::Turtle => Sink::Quads(Box::new(TurtleSink::turtle(writer))),
            Self::TriG => Sink::Quads(Box::new(TurtleSink::trig(writer))),
            Self::NTriples => Sink::Quads(Box::new(LineSink { writer, graphs: false })),
            Self::NQuads => Sink::Quads(Box::new(LineSink { writer, graphs: true })),
            Self::RdfXml => Sink::Quads(Box::new(RdfXmlSink::new(writer))),
            Self::JsonLd => Sink::Documents(JsonLdSink::new(writer, Layout::Document)),
            Self::JsonLdLines => Sink::Documents(JsonLdSink::new(writer, Layout::Lines)),
        }
    }
}

/// What takes the result of a mapping: its triples, or the JSON-LD that they are made from.
pub enum Sink<'w> {
    /// Takes quads.
    Quads(Box<dyn QuadSink + 'w>),
    /// Takes JSON-LD.
    Documents(JsonLdSink<'w>),
}

impl Sink<'_> {
    /// Ends the output.
    pub fn finish(&mut self) -> Result<(), SinkError> {
        match self {
            Self::Quads(sink) => sink.finish(),
            Self::Documents(sink) => sink.finish(),
        }
    }
}

/// N-Triples and N-Quads.
struct LineSink<W> {
    writer: W,
    graphs: bool,
}

impl<W: Write> QuadSink for LineSink<W> {
    fn start(&mut self, _base: Option<&str>) -> Result<(), SinkError> {
        Ok(())
    }

    fn quads(&mut self, quads: &[Quad]) -> Result<(), SinkError> {
        if self.graphs {
            let mut serializer = NQuadsSerializer::new().low_level();
            quads.iter().try_for_each(|quad| serializer.serialize_quad(quad, &mut self.writer))?;
        } else {
            let mut serializer = NTriplesSerializer::new().low_level();
            quads.iter().try_for_each(|quad| serializer.serialize_triple(quad.as_ref(), &mut self.writer))?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(self.writer.flush()?)
    }
}

/// Collects quads in memory.
impl QuadSink for Vec<Quad> {
    fn start(&mut self, _base: Option<&str>) -> Result<(), SinkError> {
        Ok(())
    }

    fn quads(&mut self, quads: &[Quad]) -> Result<(), SinkError> {
        self.extend_from_slice(quads);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// The same quad in the default graph, which is all that Turtle and RDF/XML have.
fn without_graph(quad: &Quad) -> Quad {
    Quad { graph_name: GraphName::DefaultGraph, ..quad.clone() }
}
