//! The reference path: the `json-ld` crate expands the annotated message, and this module writes the expanded objects
//! as RDF, exactly by the [Object to RDF Conversion](https://www.w3.org/TR/json-ld11-api/#object-to-rdf-conversion) of
//! JSON-LD 1.1. We do not use the crate's own conversion because it prints numbers and JSON literals as they were
//! spelled, while the standard requires their canonical forms.

use std::collections::HashMap;

use json_ld::object::value::Literal as Plain;
use json_ld::rdf::RdfDirection;
use json_ld::syntax::Parse;
use json_ld::{
    BlankIdBuf, Expand, ExpandedDocument, Id, IndexedObject, IriBuf, JsonLdProcessor, LangString, Node, Object,
    Process, ValidId, Value,
};
use oxrdf::vocab::{rdf, xsd};
use oxrdf::{BlankNode, GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term};

use super::loss::{Loss, Losses};
use super::number::NumberLiteral;
use crate::json::{self, Numbers};
use crate::session::triples::BlankName;
use crate::vocab;

/// A processed context.
pub type ActiveContext = json_ld::Context<IriBuf, BlankIdBuf>;

/// Errors in a context or a document of JSON-LD.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    /// The JSON-LD 1.1 context processing algorithm refuses a context.
    #[error("{0}")]
    Context(String),
    /// JSON-LD 1.1 does not allow a context.
    #[error("{origin} is not a valid JSON-LD context: {message}")]
    NoJsonLd {
        /// The context, as the user named it.
        origin: String,
        /// The error.
        message: String,
    },
    /// The JSON-LD 1.1 expansion algorithm refuses the message under the contexts.
    #[error("JSON-LD expansion fails: {0}")]
    Expansion(String),
    /// The message, or the document built from it, exceeds the given number of MiB.
    #[error("messages of more than {0} MiB are not expanded as JSON-LD")]
    Large(usize),
    /// The base is not an absolute IRI.
    #[error("{0:?} is not an absolute IRI")]
    Base(String),
}

/// The processed contexts.
pub(super) struct ContextExpander {
    active: ActiveContext,
    numbers: Numbers,
}

impl ContextExpander {
    /// Processes the contexts in order: JSON-LD 1.1 API, section 4.1. `base` is the document's own base, which the
    /// `@base` of a context overrides.
    pub fn new(contexts: &serde_json::Value, base: Option<&str>, numbers: Numbers) -> Result<Self, ReferenceError> {
        let base = base.map(|base| IriBuf::new(base.to_owned()).map_err(|_| ReferenceError::Base(base.to_owned())));
        let text = contexts.to_string();
        let (value, _) =
            json_ld::syntax::Value::parse_str(&text).map_err(|error| ReferenceError::Context(error.to_string()))?;
        let context = <json_ld::syntax::context::Context as json_ld::syntax::TryFromJson>::try_from_json(value)
            .map_err(|error| ReferenceError::Context(error.to_string()))?;
        let active = process_with(&context, &ActiveContext::new(base.transpose()?), Default::default())?;
        Ok(Self { active, numbers })
    }

    pub fn active(&self) -> &ActiveContext {
        &self.active
    }

    /// Expands a document (a node object or an array of them) and appends its quads.
    pub fn quads(
        &self,
        document: &str,
        graph: &GraphName,
        blanks: &mut BlankName,
        losses: &mut Losses,
        quads: &mut Vec<Quad>,
    ) -> Result<(), ReferenceError> {
        let (value, _) = json_ld::syntax::Value::parse_str(document)
            .map_err(|error| ReferenceError::Expansion(error.to_string()))?;
        let expanded = futures::executor::block_on(value.expand_full(
            &mut (),
            self.active.clone(),
            self.active.base_iri(),
            &json_ld::NoLoader,
            json_ld::expansion::Options::default(),
            (),
        ))
        .map_err(|error| ReferenceError::Expansion(error.to_string()))?;
        Conversion { numbers: self.numbers, direction: None }.quads(&expanded, graph, blanks, losses, quads);
        Ok(())
    }
}

/// Expands a document that has contexts of its own, which our documents do not have, and converts it as
/// [`toRdf()`](https://www.w3.org/TR/json-ld11-api/#dom-jsonldprocessor-tordf). For the tests of the W3C.
#[doc(hidden)]
pub fn document_quads(
    document: &json_ld::RemoteDocument,
    options: json_ld::Options,
    loader: &impl json_ld::Loader,
) -> Result<Vec<Quad>, json_ld::ExpandError> {
    document_to_rdf(document, options, loader).map(|(quads, _)| quads)
}

/// Like [`document_quads`], with the losses of the conversion.
pub fn document_to_rdf(
    document: &json_ld::RemoteDocument,
    options: json_ld::Options,
    loader: &impl json_ld::Loader,
) -> Result<(Vec<Quad>, Losses), json_ld::ExpandError> {
    let conversion = Conversion { numbers: Numbers::Rfc8785, direction: options.rdf_direction };
    let expanded = futures::executor::block_on(JsonLdProcessor::expand_full(document, &mut (), loader, options, ()))?;
    let mut quads = Vec::new();
    let (mut blanks, mut losses) = (BlankName { input: 0, record: 0, index: 0 }, Losses::default());
    conversion.quads(&expanded, &GraphName::DefaultGraph, &mut blanks, &mut losses, &mut quads);
    Ok((quads, losses))
}

/// Processes a local context on top of an active one.
pub fn process_with(
    context: &json_ld::syntax::context::Context,
    active: &ActiveContext,
    options: json_ld::context_processing::Options,
) -> Result<ActiveContext, ReferenceError> {
    let base = active.base_iri().cloned();
    let processed =
        futures::executor::block_on(context.process_full(&mut (), active, &json_ld::NoLoader, base, options, ()))
            .map_err(|error| ReferenceError::Context(error.to_string()))?;
    Ok(processed.into_processed())
}

/// The options that the standard leaves open.
#[derive(Debug, Clone, Copy)]
struct Conversion {
    numbers: Numbers,
    /// The form of base directions; `None` ignores them.
    direction: Option<RdfDirection>,
}

impl Conversion {
    /// Appends the quads of an expanded document, grouped by subject.
    fn quads(
        self,
        document: &ExpandedDocument<IriBuf, BlankIdBuf>,
        graph: &GraphName,
        blanks: &mut BlankName,
        losses: &mut Losses,
        quads: &mut Vec<Quad>,
    ) {
        let first = quads.len();
        let (named, order) = (HashMap::new(), HashMap::new());
        let mut writer = QuadWriter { conversion: self, blanks, named, order, losses, quads };
        for object in document.iter() {
            writer.nodes(object, Some(graph));
        }
        let order = writer.order;
        quads[first..].sort_by_cached_key(|quad| {
            let subject = order.get(&quad.subject).copied().unwrap_or(usize::MAX);
            let predicate = rank(quad.predicate.as_ref());
            (subject, predicate, quad.predicate.as_str().to_owned())
        });
    }
}

/// Writes quads. A graph that is `None` has a name that is not an IRI, and its triples are not written.
struct QuadWriter<'a> {
    conversion: Conversion,
    blanks: &'a mut BlankName,
    /// The blank nodes that the document itself names.
    named: HashMap<String, BlankNode>,
    /// The order of nodes in the document, so that each can be written in one piece.
    order: HashMap<NamedOrBlankNode, usize>,
    losses: &'a mut Losses,
    quads: &'a mut Vec<Quad>,
}

impl QuadWriter<'_> {
    /// Writes everything below an object and returns the object's term, if it has one.
    fn object(&mut self, object: &IndexedObject<IriBuf, BlankIdBuf>, graph: Option<&GraphName>) -> Option<Term> {
        match object.inner() {
            Object::Node(node) => self.node(node, graph).map(Term::from),
            Object::Value(value) => self.value(value, graph),
            Object::List(list) => {
                let items: Vec<Option<Term>> = list.iter().map(|item| self.object(item, graph)).collect();
                Some(self.list(items, graph))
            }
        }
    }

    /// Writes the nodes below an object to which no triple leads.
    fn nodes(&mut self, object: &IndexedObject<IriBuf, BlankIdBuf>, graph: Option<&GraphName>) {
        match object.inner() {
            Object::Node(node) => {
                self.node(node, graph);
            }
            Object::List(list) => list.iter().for_each(|item| self.nodes(item, graph)),
            Object::Value(_) => {}
        }
    }

    /// Writes a node. A node whose identifier is not an IRI does not have triples, but the nodes below it do.
    fn node(&mut self, node: &Node<IriBuf, BlankIdBuf>, graph: Option<&GraphName>) -> Option<NamedOrBlankNode> {
        let subject = match &node.id {
            Some(id) => self.id(id),
            None => Some(self.mint().into()),
        };
        if let Some(subject) = &subject {
            self.append_node(subject);
            for class in node.types() {
                if let Some(class) = self.id(class) {
                    self.push(subject.clone(), rdf::TYPE.into_owned(), class.into(), graph);
                }
            }
        }
        for (property, objects) in node.properties().iter() {
            let link = subject.clone().zip(self.predicate(property));
            for object in objects {
                let Some((subject, property)) = &link else {
                    self.nodes(object, graph);
                    continue;
                };
                if let Some(object) = self.object(object, graph) {
                    self.push(subject.clone(), property.clone(), object, graph);
                }
            }
        }
        for (property, nodes) in node.reverse_properties().into_iter().flat_map(|reverse| reverse.iter()) {
            let link = subject.clone().zip(self.predicate(property));
            for other in nodes {
                if let (Some(other), Some((subject, property))) = (self.node(other.inner(), graph), &link) {
                    self.push(other, property.clone(), subject.clone().into(), graph);
                }
            }
        }
        for included in node.included().into_iter().flatten() {
            self.node(included.inner(), graph);
        }
        if let Some(objects) = node.graph() {
            let graph = subject.clone().map(GraphName::from);
            for object in objects {
                self.nodes(object, graph.as_ref());
            }
        }
        subject
    }

    /// Writes the cells of a list and returns the first. An item without a term has a cell nevertheless.
    fn list(&mut self, items: Vec<Option<Term>>, graph: Option<&GraphName>) -> Term {
        let mut rest = Term::from(rdf::NIL.into_owned());
        for item in items.into_iter().rev() {
            let cell = NamedOrBlankNode::from(self.mint());
            self.append_node(&cell);
            if let Some(item) = item {
                self.push(cell.clone(), rdf::FIRST.into_owned(), item, graph);
            }
            self.push(cell.clone(), rdf::REST.into_owned(), rest, graph);
            rest = cell.into();
        }
        rest
    }

    fn value(&mut self, value: &Value<IriBuf>, graph: Option<&GraphName>) -> Option<Term> {
        let literal = match value {
            Value::LangString(text) => return self.string(text, graph),
            Value::Json(json) => {
                use json_ld::syntax::Print;
                let text = json.compact_print().to_string();
                let mut canonical = String::with_capacity(text.len());
                let value = json::parse(text.as_bytes()).ok()?;
                match json::write_canonical(&value, self.conversion.numbers, &mut canonical) {
                    Ok(_) => Literal::new_typed_literal(canonical, vocab::rdf::JSON),
                    Err(_) => {
                        self.losses.add(Loss::NumberOutOfRange);
                        return None;
                    }
                }
            }
            Value::Literal(plain, datatype) => {
                let datatype = match datatype {
                    Some(datatype) => Some(self.iri(datatype.as_str())?),
                    None => None,
                };
                let (lexical, natural) = match plain {
                    Plain::Null => return None,
                    Plain::Boolean(value) => (value.to_string(), xsd::BOOLEAN),
                    Plain::Number(number) => {
                        let named = datatype.as_ref().map(NamedNode::as_ref);
                        let Some(literal) = NumberLiteral::new(number.as_str(), self.conversion.numbers, named) else {
                            self.losses.add(Loss::NumberOutOfRange);
                            return None;
                        };
                        (literal.lexical, literal.datatype)
                    }
                    Plain::String(text) => (text.to_string(), xsd::STRING),
                };
                Literal::new_typed_literal(lexical, datatype.unwrap_or_else(|| natural.into_owned()))
            }
        };
        Some(literal.into())
    }

    /// Writes a string with a language, a base direction, or both.
    fn string(&mut self, string: &LangString, graph: Option<&GraphName>) -> Option<Term> {
        let text = string.as_str();
        let language = string.language().map(|language| language.as_str().to_ascii_lowercase());
        let plain = match &language {
            Some(language) => Literal::new_language_tagged_literal(text, language),
            None => Ok(Literal::new_simple_literal(text)),
        };
        let Ok(plain) = plain else {
            self.losses.add(Loss::BadLanguage);
            return None;
        };
        let Some((direction, rdf_direction)) = string.direction().zip(self.conversion.direction) else {
            return Some(plain.into());
        };
        match rdf_direction {
            RdfDirection::I18nDatatype => {
                let language = language.unwrap_or_default();
                let datatype = self.iri(&format!("https://www.w3.org/ns/i18n#{language}_{direction}"))?;
                Some(Literal::new_typed_literal(text, datatype).into())
            }
            RdfDirection::CompoundLiteral => {
                let node = NamedOrBlankNode::from(self.mint());
                self.append_node(&node);
                let parts = [
                    (rdf::VALUE, Some(text.to_owned())),
                    (vocab::rdf::LANGUAGE, language),
                    (vocab::rdf::DIRECTION, Some(direction.to_string())),
                ];
                for (property, part) in parts {
                    if let Some(part) = part {
                        let part = Literal::new_simple_literal(part);
                        self.push(node.clone(), property.into_owned(), part.into(), graph);
                    }
                }
                Some(node.into())
            }
        }
    }

    fn mint(&mut self) -> BlankNode {
        BlankNode::new_unchecked(self.blanks.mint().to_string())
    }

    fn predicate(&mut self, id: &Id<IriBuf, BlankIdBuf>) -> Option<NamedNode> {
        match id {
            Id::Valid(ValidId::Iri(iri)) => self.iri(iri.as_str()),
            // Generalised RDF, which RDF 1.1 does not allow.
            Id::Valid(ValidId::Blank(_)) | Id::Invalid(_) => {
                self.losses.add(Loss::NoIri);
                None
            }
        }
    }

    fn id(&mut self, id: &Id<IriBuf, BlankIdBuf>) -> Option<NamedOrBlankNode> {
        match id {
            Id::Valid(ValidId::Iri(iri)) => self.iri(iri.as_str()).map(Into::into),
            Id::Valid(ValidId::Blank(blank)) => {
                if let Some(known) = self.named.get(blank.as_str()) {
                    return Some(known.clone().into());
                }
                let fresh = self.mint();
                self.named.insert(blank.as_str().to_owned(), fresh.clone());
                Some(fresh.into())
            }
            Id::Invalid(_) => {
                self.losses.add(Loss::NoIri);
                None
            }
        }
    }

    fn iri(&mut self, iri: &str) -> Option<NamedNode> {
        let node = NamedNode::new(iri).ok();
        if node.is_none() {
            self.losses.add(Loss::NoIri);
        }
        node
    }

    /// Appends a node to the order, if it is new.
    fn append_node(&mut self, node: &NamedOrBlankNode) {
        let place = self.order.len();
        self.order.entry(node.clone()).or_insert(place);
    }

    fn push(&mut self, subject: NamedOrBlankNode, predicate: NamedNode, object: Term, graph: Option<&GraphName>) {
        if let Some(graph) = graph {
            self.quads.push(Quad::new(subject, predicate, object, graph.clone()));
        }
    }
}

/// Returns the position of a predicate in its subject's block: the type, then the terms of JSON-RPC, then our terms.
fn rank(predicate: oxrdf::NamedNodeRef<'_>) -> usize {
    let place = |terms: &[oxrdf::NamedNodeRef<'_>]| terms.iter().position(|term| *term == predicate);
    if predicate == rdf::TYPE {
        0
    } else if let Some(place) = place(vocab::jrpc::ALL) {
        1 + place
    } else if let Some(place) = place(vocab::rpcg::ALL) {
        1_001 + place
    } else if let Some(place) = place(vocab::prov::ALL) {
        2_001 + place
    } else {
        1_000
    }
}
