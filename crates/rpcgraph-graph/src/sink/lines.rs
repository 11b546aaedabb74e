//! One document per line: JSON-LD in [expanded form](https://www.w3.org/TR/json-ld11/#expanded-document-form), made
//! from the triples of a record, so that it does not need a context.

use std::io::{self, Write};

use oxrdf::{NamedNodeRef, Quad};
use oxrdfio::RdfSerializer;

use super::record_sink::{RecordSink, SinkError, SinkInput};
use super::rendered::{KEPT, QuadCollector, Rendered};
use super::selection::Selection;
use super::syntax::Syntax;
use crate::session::triples::{NodeRef, ObjectRef, TripleSink};

/// Writes lines as they arrive.
pub(crate) struct LinesSink<'w>(pub Box<dyn Write + Send + 'w>);

impl RecordSink for LinesSink<'_> {
    type Rendered = LinesRenderer;

    fn rendered(&self, input: &SinkInput<'_>) -> LinesRenderer {
        let record = QuadCollector::new(input.iri, Selection::all());
        LinesRenderer { record, out: Vec::new(), count: 0 }
    }

    fn take(&mut self, lines: &mut LinesRenderer) -> Result<(), SinkError> {
        self.0.write_all(&lines.out)?;
        Ok(self.0.flush()?)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(self.0.flush()?)
    }
}

/// Renders the triples of each record as one document, since labels of blank nodes are scoped to a document.
pub(crate) struct LinesRenderer {
    record: QuadCollector,
    out: Vec<u8>,
    count: u64,
}

impl Rendered for LinesRenderer {
    fn start_record(&mut self, graph: Option<&str>) {
        self.record.start_record(graph);
    }

    fn end_record(&mut self) {
        self.count += self.record.count();
        // Writing into memory never fails.
        let _ = write_line(self.record.collected(), &mut self.out);
        self.record.clear();
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn clear(&mut self) {
        self.out.clear();
        self.out.shrink_to(KEPT);
        self.count = 0;
    }
}

impl TripleSink for LinesRenderer {
    fn subject(&mut self, node: NodeRef<'_>) {
        self.record.subject(node);
    }

    fn triple(&mut self, predicate: NamedNodeRef<'_>, object: ObjectRef<'_>) {
        self.record.triple(predicate, object);
    }

    fn quads(&mut self, quads: &[Quad]) {
        self.record.quads(quads);
    }
}

/// Writes quads, if there are any, as one document on one line.
pub fn write_line(quads: &[Quad], mut writer: impl Write) -> io::Result<()> {
    if quads.is_empty() {
        return Ok(());
    }
    let mut serializer = RdfSerializer::from_format(Syntax::JsonLdLines.into()).for_writer(Vec::new());
    for quad in quads {
        serializer.serialize_quad(quad)?;
    }
    let mut line = serializer.finish()?;
    // A line feed is always white space between tokens, since strings escape it.
    line.retain(|byte| *byte != b'\n');
    line.push(b'\n');
    writer.write_all(&line)
}
