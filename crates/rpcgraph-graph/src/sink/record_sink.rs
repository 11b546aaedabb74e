//! Traits of sinks: one for quads, one for rendered records.

use std::io;

use oxrdf::Quad;

use super::rendered::Rendered;
use super::selection::Selection;

/// Errors in writing triples. A failure of the *input* has another type.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// Writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The syntax cannot represent a literal.
    #[error(
        "XML cannot carry U+{character:04X}, which a literal of {subject} holds: use Turtle or another syntax instead"
    )]
    NotXml {
        /// The first character that XML 1.0 does not allow.
        character: u32,
        /// The subject of the literal.
        subject: String,
    },
    /// The syntax cannot represent a predicate.
    #[error(
        "XML cannot carry the property <{predicate}>, whose name XML does not allow: use Turtle or another syntax instead"
    )]
    NotXmlName {
        /// The predicate.
        predicate: String,
    },
}

/// Takes quads, grouped by subject.
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

/// The data about an input that a sink needs.
pub(crate) struct SinkInput<'i> {
    pub iri: &'i str,
    /// The name of the input, without folders.
    pub source: &'i str,
    /// True if its triples are in the named graphs of its sessions. Relative IRIs are then relative to the input's IRI.
    pub named: bool,
    /// The `@context` of its JSON-LD document.
    pub context: serde_json::Value,
}

/// A sink of one kind, and the buffer for its workers.
pub(crate) trait RecordSink: Send {
    type Rendered: Rendered;

    /// Starts an input.
    fn start(&mut self, _: &SinkInput<'_>) -> Result<(), SinkError> {
        Ok(())
    }

    /// The selected triples; `None` for all.
    fn selection(&self) -> Option<&Selection> {
        None
    }

    /// False if all graphs become one, so that it does not matter to which session a record belongs.
    fn keeps_graphs(&self) -> bool {
        true
    }

    /// Creates a buffer into which a worker renders records of the input.
    fn rendered(&self, input: &SinkInput<'_>) -> Self::Rendered;

    /// Takes rendered records.
    fn take(&mut self, rendered: &mut Self::Rendered) -> Result<(), SinkError>;

    /// Ends the output.
    fn finish(&mut self) -> Result<(), SinkError>;
}
