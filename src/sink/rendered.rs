//! What a worker renders records into, on its own.

use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, GraphName, Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term};

use super::selection::Selection;
use super::text::{Layout, TextRenderer};
use crate::mapping::{Node, Object, Rendering, TripleSink, Triples};

/// Rendered records, and where each ends.
pub(crate) enum Rendered {
    Text {
        renderer: Box<TextRenderer>,
        records: Vec<End>,
    },
    Documents {
        text: String,
        /// Those of one record.
        nodes: String,
        records: Vec<End>,
    },
    Quads {
        collector: QuadCollector,
        graph: Option<String>,
    },
}

/// Where a record is in what was rendered, and the graph it is in: its reference against the input's IRI.
pub(crate) struct End {
    pub start: usize,
    pub end: usize,
    pub graph: Option<String>,
}

/// Takes triples as text, or as quads.
pub(crate) enum Taker<'r> {
    Text(&'r mut TextRenderer),
    Quads(&'r mut QuadCollector),
}

impl Rendered {
    pub fn text(layout: Layout, iri: &str) -> Self {
        Self::Text { renderer: Box::new(TextRenderer::new(layout, iri)), records: Vec::new() }
    }

    pub fn documents() -> Self {
        Self::Documents { text: String::new(), nodes: String::new(), records: Vec::new() }
    }

    pub fn quads(iri: &str, selection: Selection) -> Self {
        Self::Quads { collector: QuadCollector::new(iri, selection), graph: None }
    }

    /// Forgets the records.
    pub fn clear(&mut self) {
        match self {
            Self::Text { renderer, records } => {
                renderer.clear();
                records.clear();
            }
            Self::Documents { text, records, .. } => {
                text.clear();
                records.clear();
            }
            Self::Quads { collector, .. } => collector.quads.clear(),
        }
    }

    /// How many triples were rendered; none of a document.
    pub fn count(&self) -> u64 {
        match self {
            Self::Text { renderer, .. } => renderer.count(),
            Self::Documents { .. } => 0,
            Self::Quads { collector, .. } => collector.quads.len() as u64,
        }
    }

    /// Renders one record with what `map` does. `graph` is the reference of the graph its triples are in, if it is not
    /// the default graph.
    pub fn record<E>(
        &mut self,
        graph: Option<&str>,
        map: impl FnOnce(Rendering<'_, Taker<'_>>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Text { renderer, records } => {
                let start = renderer.text().len();
                renderer.start_record(graph);
                let result = map(Rendering::Triples(&mut Taker::Text(renderer)));
                renderer.end_record();
                let end = renderer.text().len();
                if end > start {
                    records.push(End { start, end, graph: graph.map(str::to_owned) });
                }
                result
            }
            Self::Documents { text, nodes, records } => {
                let start = text.len();
                // Nodes are separated from those before them in the same record only.
                nodes.clear();
                let result = map(Rendering::Documents(nodes));
                if result.is_ok() {
                    text.push_str(nodes);
                    // The document's own graph is the input's.
                    let graph = graph.filter(|graph| !graph.is_empty()).map(str::to_owned);
                    records.push(End { start, end: text.len(), graph });
                }
                result
            }
            Self::Quads { collector, graph: known } => {
                if known.as_deref() != graph {
                    *known = graph.map(str::to_owned);
                    collector.graph = match graph {
                        Some(reference) => NamedNode::new_unchecked(format!("{}{reference}", collector.iri)).into(),
                        None => GraphName::DefaultGraph,
                    };
                }
                map(Rendering::Triples(&mut Taker::Quads(collector)))
            }
        }
    }
}

impl Triples for Taker<'_> {
    fn subject(&mut self, node: Node<'_>) {
        match self {
            Self::Text(renderer) => renderer.subject(node),
            Self::Quads(collector) => collector.subject(node),
        }
    }

    fn triple(&mut self, predicate: NamedNodeRef<'_>, object: Object<'_>) {
        match self {
            Self::Text(renderer) => renderer.triple(predicate, object),
            Self::Quads(collector) => collector.triple(predicate, object),
        }
    }
}

impl TripleSink for Taker<'_> {
    fn quads(&mut self, quads: &[Quad]) {
        match self {
            Self::Text(renderer) => renderer.quads(quads),
            Self::Quads(collector) => collector.take(quads),
        }
    }
}

/// Collects triples as quads.
pub(crate) struct QuadCollector {
    iri: String,
    graph: GraphName,
    subject: NamedOrBlankNode,
    selection: Selection,
    quads: Vec<Quad>,
}

impl QuadCollector {
    fn new(iri: &str, selection: Selection) -> Self {
        let subject = NamedNode::new_unchecked(iri).into();
        Self { iri: iri.to_owned(), graph: GraphName::DefaultGraph, subject, selection, quads: Vec::new() }
    }

    fn take(&mut self, quads: &[Quad]) {
        let wanted = |quad: &&Quad| {
            let object = match &quad.object {
                Term::NamedNode(node) => Some(node.as_str()),
                _ => None,
            };
            self.selection.wants(quad.predicate.as_ref(), object)
        };
        self.quads.extend(quads.iter().filter(wanted).cloned());
    }

    pub fn quads(&self) -> &[Quad] {
        &self.quads
    }

    fn node(&self, node: Node<'_>) -> NamedOrBlankNode {
        let iri = &self.iri;
        NamedNode::new_unchecked(match node {
            Node::Message(name) => format!("{iri}#{name}"),
            Node::Id(name) => format!("{iri}#{name}-id"),
            Node::Error(name) => format!("{iri}#{name}-error"),
            Node::LogLine(line, None) => format!("{iri}#l{line}"),
            Node::LogLine(line, Some(nth)) => format!("{iri}#l{line}.{nth}"),
            Node::Session(reference) => format!("{iri}{reference}"),
            Node::Iri(iri) => iri.to_owned(),
            Node::Blank(blank) => return BlankNode::new_unchecked(blank.to_string()).into(),
            Node::Label(label) => return BlankNode::new_unchecked(label).into(),
        })
        .into()
    }
}

impl Triples for QuadCollector {
    fn subject(&mut self, node: Node<'_>) {
        self.subject = self.node(node);
    }

    fn triple(&mut self, predicate: NamedNodeRef<'_>, object: Object<'_>) {
        let iri = match &object {
            Object::Node(Node::Iri(iri)) => Some(*iri),
            _ => None,
        };
        if !self.selection.wants(predicate, iri) {
            return;
        }
        let object: Term = match object {
            Object::Node(node) => self.node(node).into(),
            Object::Text(text) => Literal::new_simple_literal(text).into(),
            Object::Tagged(text, tag) => Literal::new_language_tagged_literal_unchecked(text, tag).into(),
            Object::Typed(lexical, datatype) => {
                Literal::new_typed_literal(lexical, NamedNodeRef::new_unchecked(datatype)).into()
            }
            Object::Integer(number) => Literal::new_typed_literal(number.to_string(), xsd::INTEGER).into(),
        };
        self.quads.push(Quad::new(self.subject.clone(), predicate.into_owned(), object, self.graph.clone()));
    }
}
