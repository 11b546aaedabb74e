//! RDF/XML, and XML of serializers that write U+000D as it is. XML cannot carry everything: version 1.0 does not allow
//! NUL and other control characters, not even escaped.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use oxrdf::{Quad, Term, TripleRef};
use oxrdfio::WriterQuadSerializer;

use super::record_sink::{QuadSink, SinkError};
use super::syntax::{Syntax, serializer};
use crate::diagnostic::markup::{CARRIAGE_RETURN, not_xml};

pub struct RdfXmlSink<W: Write> {
    serializer: Option<WriterQuadSerializer<XmlWriter<SharedWriter<W>>>>,
    writer: SharedWriter<W>,
}

/// A writer shared with the serializer, which owns its writer until it is finished, while flushing needs it earlier.
struct SharedWriter<W>(Arc<Mutex<W>>);

impl<W: Write> Write for SharedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// Writes U+000D as a reference, without which XML reads it as a line end.
pub struct XmlWriter<W>(pub W);

impl<W: Write> Write for XmlWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut pieces = bytes.split(|byte| *byte == b'\r');
        self.0.write_all(pieces.next().unwrap_or_default())?;
        pieces.try_for_each(|piece| {
            self.0.write_all(CARRIAGE_RETURN.as_bytes())?;
            self.0.write_all(piece)
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<W: Write> RdfXmlSink<W> {
    pub fn new(writer: W) -> Self {
        let writer = Arc::new(Mutex::new(writer));
        let serializer = serializer(Syntax::RdfXml, None).for_writer(XmlWriter(SharedWriter(writer.clone())));
        Self { serializer: Some(serializer), writer: SharedWriter(writer) }
    }
}

impl<W: Write + Send> QuadSink for RdfXmlSink<W> {
    fn quads(&mut self, quads: &[Quad]) -> Result<(), SinkError> {
        let Some(serializer) = &mut self.serializer else { return Ok(()) };
        for quad in quads {
            if let Term::Literal(literal) = &quad.object
                && let Some(character) = not_xml(literal.value())
            {
                return Err(SinkError::NotXml { character: character.into(), subject: quad.subject.to_string() });
            }
            if !has_xml_name(quad.predicate.as_str()) {
                return Err(SinkError::NotXmlName { predicate: quad.predicate.as_str().to_owned() });
            }
            // RDF/XML has a single graph.
            serializer.serialize_triple(TripleRef::new(&quad.subject, &quad.predicate, &quad.object))?;
        }
        Ok(self.writer.flush()?)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        match self.serializer.take() {
            Some(serializer) => Ok(serializer.finish()?.0.flush()?),
            None => Ok(self.writer.flush()?),
        }
    }
}

/// Returns true if the predicate ends in a valid local name of an element.
fn has_xml_name(predicate: &str) -> bool {
    let start = predicate
        .rfind(|character: char| !(character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '\u{B7}')));
    let local = match start {
        Some(at) => predicate.get(at..).unwrap_or_default(),
        None => predicate,
    };
    local.chars().skip(1).any(|character| character.is_alphabetic() || character == '_')
}
