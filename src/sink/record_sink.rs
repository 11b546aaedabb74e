//! The interfaces of sinks: for the quads or the rendered records of an input.

use std::io;

use oxrdf::Quad;

use super::rendered::Rendered;
use super::selection::Selection;

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

/// What a sink has to know of an input.
pub(crate) struct SinkInput<'i> {
    pub iri: &'i str,
    /// Its name without folders.
    pub source: &'i str,
    /// Whether its triples are in named graphs, those of its sessions. What is relative is so to its IRI then.
    pub named: bool,
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
