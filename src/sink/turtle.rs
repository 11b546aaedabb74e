//! Turtle and TriG: one header, one block a subject, a blank line between records.

use std::io::Write;

use oxrdf::Quad;
use oxttl::TriGSerializer;
use oxttl::trig::LowLevelTriGSerializer;

use super::{QuadSink, SinkError, without_graph};
use crate::vocab::PREFIXES;

pub(super) struct TurtleSink<W> {
    writer: W,
    graphs: bool,
    serializer: Option<Serializer>,
    started: bool,
    buffer: Vec<u8>,
}

struct Serializer {
    inner: LowLevelTriGSerializer,
    /// Lines of its own header that are still to come, and to be left out: it would write the prefixes relative to the
    /// base, and again for each input.
    header: usize,
}

impl<W: Write> TurtleSink<W> {
    pub fn turtle(writer: W) -> Self {
        Self { writer, graphs: false, serializer: None, started: false, buffer: Vec::new() }
    }

    pub fn trig(writer: W) -> Self {
        Self { graphs: true, ..Self::turtle(writer) }
    }

    fn end_input(&mut self) -> Result<(), SinkError> {
        if let Some(mut serializer) = self.serializer.take() {
            serializer.inner.finish(&mut self.writer)?;
        }
        Ok(())
    }
}

impl<W: Write> QuadSink for TurtleSink<W> {
    fn start(&mut self, base: Option<&str>) -> Result<(), SinkError> {
        self.end_input()?;
        if self.started && base.is_some() {
            writeln!(self.writer)?;
        }
        let mut serializer = TriGSerializer::new();
        let mut header = 0;
        if let Some(base) = base {
            writeln!(self.writer, "@base <{base}> .")?;
            serializer = serializer.with_base_iri(base).map_err(std::io::Error::other)?;
            header += 1;
        }
        for (prefix, namespace) in PREFIXES {
            if !self.started {
                writeln!(self.writer, "@prefix {prefix}: <{namespace}> .")?;
            }
            serializer = serializer.with_prefix(*prefix, *namespace).map_err(std::io::Error::other)?;
            header += 1;
        }
        self.started = true;
        self.serializer = Some(Serializer { inner: serializer.low_level(), header });
        Ok(())
    }

    fn quads(&mut self, quads: &[Quad]) -> Result<(), SinkError> {
        let Some(serializer) = &mut self.serializer else { return Ok(()) };
        for (index, quad) in quads.iter().enumerate() {
            self.buffer.clear();
            if self.graphs {
                serializer.inner.serialize_quad(quad, &mut self.buffer)?;
            } else {
                serializer.inner.serialize_quad(&without_graph(quad), &mut self.buffer)?;
            }
            let mut text = self.buffer.as_slice();
            let first = serializer.header > 0;
            for _ in 0..std::mem::take(&mut serializer.header) {
                let line = memchr::memchr(b'\n', text).map_or(text.len(), |end| end + 1);
                text = text.get(line..).unwrap_or_default();
            }
            if index == 0 {
                // A blank line in front of the record, behind what ends the one before it.
                let end = if text.starts_with(b" .\n") { 3 } else { 0 };
                let (before, after) = text.split_at(end);
                if first || end > 0 {
                    self.writer.write_all(before)?;
                    self.writer.write_all(b"\n")?;
                    text = after;
                }
            }
            self.writer.write_all(text)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.end_input()?;
        Ok(self.writer.flush()?)
    }
}
