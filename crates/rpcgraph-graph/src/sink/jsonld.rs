//! JSON-LD: the document that the reference path expands, readable by any other processor.

use std::io::Write;

use super::record_sink::{RecordSink, SinkError, SinkInput};
use super::rendered::DocumentRecords;

/// Writes node objects as they arrive, in one document: an object for one input, an array of objects for several.
pub(crate) struct JsonLdWriter<'w> {
    writer: Box<dyn Write + Send + 'w>,
    inputs: usize,
    several: bool,
    /// True if the input does not have nodes yet.
    empty: bool,
}

impl<'w> JsonLdWriter<'w> {
    pub fn new(writer: Box<dyn Write + Send + 'w>, several: bool) -> Self {
        Self { writer, inputs: 0, several, empty: true }
    }

    fn end_input(&mut self) -> Result<(), SinkError> {
        if self.inputs > 0 {
            self.writer.write_all(b"\n]}")?;
        }
        Ok(())
    }
}

impl RecordSink for JsonLdWriter<'_> {
    type Rendered = DocumentRecords;

    fn start(&mut self, input: &SinkInput<'_>) -> Result<(), SinkError> {
        self.end_input()?;
        // In an array with other objects, `@graph` without a name would be a separate graph.
        let members = match (input.named, self.several) {
            (true, _) => "\"@id\":\"\",\"@graph\"",
            (false, false) => "\"@graph\"",
            (false, true) => "\"@included\"",
        };
        if self.several {
            self.writer.write_all(if self.inputs == 0 { b"[" } else { b",\n" })?;
        }
        write!(self.writer, "{{\"@context\":{},{members}:[", input.context)?;
        self.inputs += 1;
        self.empty = true;
        Ok(())
    }

    fn rendered(&self, _: &SinkInput<'_>) -> DocumentRecords {
        DocumentRecords::default()
    }

    fn take(&mut self, rendered: &mut DocumentRecords) -> Result<(), SinkError> {
        for (nodes, graph) in rendered.records().filter(|(nodes, _)| !nodes.is_empty()) {
            self.writer.write_all(if std::mem::take(&mut self.empty) { b"\n" } else { b",\n" })?;
            match graph {
                Some(reference) => {
                    let name = serde_json::Value::from(reference);
                    write!(self.writer, "{{\"@id\":{name},\"@graph\":[{nodes}]}}")?;
                }
                None => self.writer.write_all(nodes.as_bytes())?,
            }
        }
        Ok(self.writer.flush()?)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.end_input()?;
        self.writer.write_all(match (self.several, self.inputs) {
            (_, 0) => b"[]\n",
            (true, _) => b"]\n",
            (false, _) => b"\n",
        })?;
        Ok(self.writer.flush()?)
    }
}
