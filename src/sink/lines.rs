//! A document a line: JSON-LD in [expanded form](https://www.w3.org/TR/json-ld11/#expanded-document-form), made from the
//! triples of a record, so that it needs no context.

use std::fmt::Write as _;
use std::io::Write;
use std::ops::Range;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{GraphName, NamedNodeRef, Quad};

use super::rendered::Rendered;
use super::{RecordSink, SinkError, SinkInput};
use crate::json::{self, Numbers};
use crate::triples::{NodeRef, ObjectRef, Triples};
use crate::vocab;

/// Writes lines as they come.
pub(crate) struct LinesSink<'w>(pub Box<dyn Write + Send + 'w>);

impl RecordSink for LinesSink<'_> {
    type Rendered = LinesRenderer;

    fn rendered(&self, input: &SinkInput<'_>) -> LinesRenderer {
        LinesRenderer::new(input.iri)
    }

    fn take(&mut self, lines: &LinesRenderer) -> Result<(), SinkError> {
        self.0.write_all(lines.out.as_bytes())?;
        Ok(self.0.flush()?)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(self.0.flush()?)
    }
}

/// Writes the triples of each record as an array of its graphs, or of its nodes in the default graph.
pub(crate) struct LinesRenderer {
    /// IRI of the input.
    iri: String,
    out: String,
    /// Where the record begins.
    record: usize,
    /// IRI or label of the graph at hand; none for the default graph.
    graph: Option<String>,
    /// Whether the graph has a node already.
    in_graph: bool,
    subject: String,
    /// Where the keys of the node at hand are. No key may stand twice.
    keys: Vec<Range<usize>>,
    count: u64,
}

impl LinesRenderer {
    fn new(iri: &str) -> Self {
        let (out, subject, keys) = Default::default();
        Self { iri: iri.to_owned(), out, record: 0, graph: None, in_graph: false, subject, keys, count: 0 }
    }

    /// Goes on in a graph.
    fn set_graph(&mut self, graph: Option<String>) {
        if self.graph != graph {
            self.end_graph();
            self.graph = graph;
        }
    }

    fn end_graph(&mut self) {
        self.end_node();
        if std::mem::take(&mut self.in_graph) && self.graph.is_some() {
            self.out.push_str("]}");
        }
    }

    fn end_node(&mut self) {
        if !self.keys.is_empty() {
            self.out.push_str("]}");
            self.keys.clear();
        }
    }

    fn start_node(&mut self) {
        self.end_node();
        self.separate();
        if !std::mem::replace(&mut self.in_graph, true)
            && let Some(graph) = &self.graph
        {
            self.out.push_str("{\"@id\":");
            json::write_str(graph, &mut self.out);
            self.out.push_str(",\"@graph\":[");
        }
        self.out.push_str("{\"@id\":");
        json::write_str(&self.subject, &mut self.out);
        self.out.push(',');
    }

    /// Starts the values of a key, or goes on with them.
    fn start_value(&mut self, key: &str) {
        let written = |range: &Range<usize>| self.out.get(range.clone()) == Some(key);
        if self.keys.last().is_some_and(written) {
            return self.out.push(',');
        }
        if self.keys.is_empty() || self.keys.iter().any(written) {
            self.start_node();
        } else {
            self.out.push_str("],");
        }
        self.out.push('"');
        let start = self.out.len();
        self.out.push_str(key);
        self.keys.push(start..self.out.len());
        self.out.push_str("\":[");
    }

    fn separate(&mut self) {
        if !self.out.ends_with('[') {
            self.out.push(',');
        }
    }

    fn write_node(&mut self, node: NodeRef<'_>) {
        let name = self.name(node);
        json::write_str(&name, &mut self.out);
    }

    /// The IRI or the label of a node.
    fn name(&self, node: NodeRef<'_>) -> String {
        if node.is_relative() { format!("{}{node}", self.iri) } else { node.to_string() }
    }

    fn write_value(&mut self, lexical: &str, kind: Option<(&str, &str)>) {
        self.out.push('{');
        if let Some((key, value)) = kind {
            let _ = write!(self.out, "\"{key}\":");
            json::write_str(value, &mut self.out);
            self.out.push(',');
        }
        self.out.push_str("\"@value\":");
        json::write_str(lexical, &mut self.out);
        self.out.push('}');
    }
}

impl Triples for LinesRenderer {
    fn subject(&mut self, node: NodeRef<'_>) {
        self.end_node();
        self.subject = self.name(node);
    }

    fn triple(&mut self, predicate: NamedNodeRef<'_>, object: ObjectRef<'_>) {
        self.count += 1;
        if let (ObjectRef::Node(class), true) = (object, predicate == rdf::TYPE) {
            self.start_value("@type");
            return self.write_node(class);
        }
        self.start_value(predicate.as_str());
        match object {
            ObjectRef::Node(node) => {
                self.out.push_str("{\"@id\":");
                self.write_node(node);
                self.out.push('}');
            }
            ObjectRef::Text(text) => self.write_value(text, None),
            ObjectRef::Tagged(text, tag) => self.write_value(text, Some(("@language", tag))),
            ObjectRef::Typed(literal, datatype) if datatype == vocab::rdf::JSON.as_str() && is_native(literal) => {
                let _ = write!(self.out, "{{\"@type\":\"@json\",\"@value\":{literal}}}");
            }
            ObjectRef::Typed(lexical, datatype) => self.write_value(lexical, Some(("@type", datatype))),
            ObjectRef::Integer(number) => {
                self.write_value(&number.to_string(), Some(("@type", xsd::INTEGER.as_str())));
            }
        }
    }

    fn quads(&mut self, quads: &[Quad]) {
        for quad in quads {
            self.set_graph(match &quad.graph_name {
                GraphName::DefaultGraph => None,
                GraphName::NamedNode(name) => Some(name.as_str().to_owned()),
                GraphName::BlankNode(name) => Some(name.to_string()),
            });
            let subject = NodeRef::from(quad.subject.as_ref());
            if self.name(subject) != self.subject {
                self.subject(subject);
            }
            // JSON-LD has no triple terms, and neither has what it is expanded from.
            if let Some(object) = ObjectRef::new(quad.object.as_ref()) {
                self.triple(quad.predicate.as_ref(), object);
            }
        }
    }
}

/// Whether every JSON-LD processor prints the JSON literal as it is when it is given as JSON.
fn is_native(literal: &str) -> bool {
    let mut canonical = String::with_capacity(literal.len());
    json::parse(literal.as_bytes()).is_ok_and(|value| {
        json::write_canonical(&value, Numbers::Exact, &mut canonical).is_ok_and(|form| form.interoperable)
    }) && canonical == literal
}

impl Rendered for LinesRenderer {
    fn start_record(&mut self, graph: Option<&str>) {
        self.record = self.out.len();
        self.graph = graph.map(|reference| format!("{}{reference}", self.iri));
        self.out.push('[');
    }

    fn end_record(&mut self, _: bool) {
        self.end_graph();
        self.out.push_str("]\n");
        if self.out.get(self.record..) == Some("[]\n") {
            self.out.truncate(self.record); // it had no triples
        }
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn clear(&mut self) {
        self.out.clear();
        self.count = 0;
    }
}
