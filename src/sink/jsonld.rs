//! JSON-LD: the documents that the reference expands, printed for any other processor to read.

use std::io::Write;

use super::SinkError;

/// How documents are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One document: an object for one input, an array of objects for several.
    Document,
    /// A document a line, each whole by itself.
    Lines,
}

/// Writes node objects as they come.
pub struct JsonLdSink<'w> {
    writer: Box<dyn Write + 'w>,
    layout: Layout,
    /// Everything of the input's document before its nodes.
    head: String,
    inputs: usize,
    several: bool,
    empty: bool,
}

impl<'w> JsonLdSink<'w> {
    /// A sink that writes to `writer`.
    pub fn new(writer: Box<dyn Write + 'w>, layout: Layout) -> Self {
        Self { writer, layout, head: String::new(), inputs: 0, several: false, empty: true }
    }

    /// States that there will be several inputs, so that the document has to be an array.
    pub fn expect_several(&mut self) {
        self.several = true;
    }

    /// Starts an input: the `@context` of its documents, and whether its nodes are in a graph of its own.
    pub fn start(&mut self, context: &serde_json::Value, named: bool) -> Result<(), SinkError> {
        self.end_input()?;
        let name = if named { "\"@id\":\"\"," } else { "" };
        self.head = format!("{{\"@context\":{context},{name}\"@graph\":[");
        if self.layout == Layout::Document {
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
        match self.layout {
            Layout::Document => self.writer.write_all(if self.empty { b"\n" } else { b",\n" })?,
            Layout::Lines => self.writer.write_all(self.head.as_bytes())?,
        }
        self.empty = false;
        match graph {
            Some(reference) => {
                let name = serde_json::Value::from(reference);
                write!(self.writer, "{{\"@id\":{name},\"@graph\":[{nodes}]}}")?;
            }
            None => self.writer.write_all(nodes.as_bytes())?,
        }
        if self.layout == Layout::Lines {
            self.writer.write_all(b"]}\n")?;
        }
        Ok(())
    }

    /// Ends the document.
    pub fn finish(&mut self) -> Result<(), SinkError> {
        self.end_input()?;
        if self.layout == Layout::Document {
            match (self.several, self.inputs) {
                (true, 0) => self.writer.write_all(b"[]\n")?,
                (true, _) => self.writer.write_all(b"]\n")?,
                (false, _) => self.writer.write_all(b"\n")?,
            }
        }
        Ok(self.writer.flush()?)
    }

    fn end_input(&mut self) -> Result<(), SinkError> {
        if self.inputs > 0 && self.layout == Layout::Document {
            self.writer.write_all(b"\n]}")?;
        }
        Ok(())
    }
}
