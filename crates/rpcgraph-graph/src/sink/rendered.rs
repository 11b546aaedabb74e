//! Buffers into which workers render records.

use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, GraphName, Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term};

use super::selection::Selection;
use crate::session::triples::{NodeRef, ObjectRef, TripleSink};

/// The buffer capacity that is kept for further records, in bytes.
pub(super) const KEPT: usize = 4 << 20;

/// Rendered records.
pub(crate) trait Rendered: Send {
    /// Starts a record. `graph` is the reference of its graph against the input's IRI; `None` for the default graph.
    fn start_record(&mut self, _graph: Option<&str>) {}

    /// Continues the record that ended last.
    fn continue_record(&mut self, graph: Option<&str>) {
        self.start_record(graph);
    }

    /// Ends the record.
    fn end_record(&mut self) {}

    /// Ends a chunk of records; a second call does nothing.
    fn finish(&mut self) {}

    /// Returns the number of rendered triples; 0 for output other than triples.
    fn count(&self) -> u64 {
        0
    }

    /// Removes the records.
    fn clear(&mut self);
}

/// The range of a record in the rendered text, and its graph, as a reference against the input's IRI.
pub(crate) struct RecordSpan {
    pub start: usize,
    pub end: usize,
    pub graph: Option<String>,
}

/// Records as JSON-LD node objects.
#[derive(Default)]
pub(crate) struct DocumentRecords {
    text: String,
    /// The nodes of the current record.
    nodes: String,
    graph: Option<String>,
    records: Vec<RecordSpan>,
}

impl DocumentRecords {
    /// Returns the buffer for the current record's node objects, with commas between them.
    pub fn record(&mut self) -> &mut String {
        &mut self.nodes
    }

    /// Returns the node objects of each record, and the reference of their graph unless it is the document's own graph.
    pub(super) fn records(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let nodes = |record: &RecordSpan| self.text.get(record.start..record.end).unwrap_or_default();
        self.records.iter().map(move |record| (nodes(record), record.graph.as_deref()))
    }
}

impl Rendered for DocumentRecords {
    fn start_record(&mut self, graph: Option<&str>) {
        self.nodes.clear();
        // The document's own graph is the graph of the input.
        self.graph = graph.filter(|graph| !graph.is_empty()).map(str::to_owned);
    }

    fn end_record(&mut self) {
        let start = self.text.len();
        self.text.push_str(&self.nodes);
        self.records.push(RecordSpan { start, end: self.text.len(), graph: self.graph.take() });
    }

    fn clear(&mut self) {
        self.text.clear();
        self.text.shrink_to(KEPT);
        self.nodes.shrink_to(KEPT);
        self.records.clear();
    }
}

/// Collects triples as quads.
pub(crate) struct QuadCollector {
    iri: String,
    reference: Option<String>,
    graph: GraphName,
    subject: NamedOrBlankNode,
    selection: Selection,
    quads: Vec<Quad>,
}

impl QuadCollector {
    pub fn new(iri: &str, selection: Selection) -> Self {
        let (iri, subject) = (iri.to_owned(), NamedNode::new_unchecked(iri).into());
        Self { iri, reference: None, graph: GraphName::DefaultGraph, subject, selection, quads: Vec::new() }
    }

    pub fn collected(&self) -> &[Quad] {
        &self.quads
    }

    fn node(&self, node: NodeRef<'_>) -> NamedOrBlankNode {
        match node {
            NodeRef::Blank(blank) => BlankNode::new_unchecked(blank.to_string()).into(),
            NodeRef::Label(label) => BlankNode::new_unchecked(label).into(),
            NodeRef::Iri(iri) => NamedNode::new_unchecked(iri).into(),
            relative => NamedNode::new_unchecked(format!("{}{relative}", self.iri)).into(),
        }
    }
}

impl Rendered for QuadCollector {
    fn start_record(&mut self, graph: Option<&str>) {
        if self.reference.as_deref() != graph {
            self.reference = graph.map(str::to_owned);
            self.graph = match graph {
                Some(reference) => NamedNode::new_unchecked(format!("{}{reference}", self.iri)).into(),
                None => GraphName::DefaultGraph,
            };
        }
    }

    fn count(&self) -> u64 {
        self.quads.len() as u64
    }

    fn clear(&mut self) {
        self.quads.clear();
        self.quads.shrink_to(1 << 14);
    }
}

impl TripleSink for QuadCollector {
    fn subject(&mut self, node: NodeRef<'_>) {
        self.subject = self.node(node);
    }

    fn triple(&mut self, predicate: NamedNodeRef<'_>, object: ObjectRef<'_>) {
        if !self.selection.wants(predicate, object.iri()) {
            return;
        }
        let object: Term = match object {
            ObjectRef::Node(node) => self.node(node).into(),
            ObjectRef::Text(text) => Literal::new_simple_literal(text).into(),
            ObjectRef::Tagged(text, tag) => Literal::new_language_tagged_literal_unchecked(text, tag).into(),
            ObjectRef::Typed(lexical, datatype) => {
                Literal::new_typed_literal(lexical, NamedNodeRef::new_unchecked(datatype)).into()
            }
            ObjectRef::Integer(number) => Literal::new_typed_literal(number.to_string(), xsd::INTEGER).into(),
        };
        self.quads.push(Quad::new(self.subject.clone(), predicate.into_owned(), object, self.graph.clone()));
    }

    fn quads(&mut self, quads: &[Quad]) {
        let wanted = |quad: &&Quad| {
            let object = ObjectRef::new(quad.object.as_ref());
            self.selection.wants(quad.predicate.as_ref(), object.and_then(|object| object.iri()))
        };
        self.quads.extend(quads.iter().filter(wanted).cloned());
    }
}
