//! JSON-LD: the documents that the reference expands, printed for any other processor to read.

use std::io::Write;

use super::SinkError;

/// Writes node objects as they come.
pub(super) struct JsonLdWriter<'w> {
    writer: Box<dyn Write + Send + 'w>,
    /// A document a line, each whole by itself, instead of one document.
    lines: bool,
    /// Everything of the input's document before its nodes.
    head: String,
    inputs: usize,
    several: bool,
    empty: bool,
}

impl<'w> JsonLdWriter<'w> {
    /// A sink that writes to `writer`.
    ///
    /// One document is an object for one input, and an array of objects for several.
    pub fn new(writer: Box<dyn Write + Send + 'w>, lines: bool, several: bool) -> Self {
        Self { writer, lines, head: String::new(), inputs: 0, several, empty: true }
    }

    /// Starts an input: the `@context` of its documents, and whether its nodes are in a graph of its own.
    pub fn start(&mut self, context: &serde_json::Value, named: bool) -> Result<(), SinkError> {
        self.end_input()?;
        // Among others in an array, `@graph` without a name would be a graph of its own.
        let members = match (named, self.several && !self.lines) {
            (true, _) => "\"@id\":\"\",\"@graph\"",
            (false, false) => "\"@graph\"",
            (false, true) => "\"@included\"",
        };
        self.head = format!("{{\"@context\":{context},{members}:[");
        if !self.lines {
            if self.several {
                self.writer.write_all(if self.inputs == 0 { b"[" } else { b",\n" })?;
            }
            self.writer.write_all(self.head.as_bytes())?;
        }
        self.inputs += 1;
        self.empty = true;
        Ok(())
    }

    /// Takes the node objects of a record, commas between them. `graph` is the IRI reference of the session they belong
    /// to, where it is another than the input's own.
    pub fn nodes(&mut self, nodes: &str, graph: Option<&str>) -> Result<(), SinkError> {
        if nodes.is_empty() {
            return Ok(());
        }
        match self.lines {
            false => self.writer.write_all(if self.empty { b"\n" } else { b",\n" })?,
            true => self.writer.write_all(self.head.as_bytes())?,
        }
        self.empty = false;
        match graph {
            Some(reference) => {
                let name = serde_json::Value::from(reference);
                write!(self.writer, "{{\"@id\":{name},\"@graph\":[{nodes}]}}")?;
            }
            None => self.writer.write_all(nodes.as_bytes())?,
        }
        if self.lines {
            self.writer.write_all(b"]}\n")?;
        }
        Ok(())
    }

    /// Lets readers have what has been written.
    pub fn flush(&mut self) -> Result<(), SinkError> {
        Ok(self.writer.flush()?)
    }

    /// Ends the document.
    pub fn finish(&mut self) -> Result<(), SinkError> {
        self.end_input()?;
        if !self.lines {
            match (self.several, self.inputs) {
                (_, 0) => self.writer.write_all(b"[]\n")?,
                (true, _) => self.writer.write_all(b"]\n")?,
                (false, _) => self.writer.write_all(b"\n")?,
            }
        }
        Ok(self.writer.flush()?)
    }

    fn end_input(&mut self) -> Result<(), SinkError> {
        if self.inputs > 0 && !self.lines {
            self.writer.write_all(b"\n]}")?;
        }
        Ok(())
    }
}
