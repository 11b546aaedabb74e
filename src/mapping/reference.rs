//! The reference path: the `json-ld` crate expands the annotated message, and this module writes the expanded objects
//! as RDF, which is the [Object to RDF Conversion](https://www.w3.org/TR/json-ld11-api/#object-to-rdf-conversion) of
//! JSON-LD 1.1 and no more. It is ours because the crate's own prints numbers and JSON literals as they were spelled,
//! where the standard wants their canonical forms.

use std::collections::HashMap;

use json_ld::object::value::Literal as Plain;
use json_ld::syntax::Parse;
use json_ld::{BlankIdBuf, Expand, Id, IndexedObject, IriBuf, Node, Object, Process, ValidId, Value};
use oxrdf::vocab::{rdf, xsd};
use oxrdf::{BlankNode, GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term};

use super::loss::{Loss, Losses};
use super::triples::Blank;
use crate::json::{self, Decimal, Numbers};
use crate::vocab;

/// A processed context.
pub(super) type Active = json_ld::Context<IriBuf, BlankIdBuf>;

/// Why a context or a document is no JSON-LD.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    /// The JSON-LD 1.1 context processing algorithm refuses a context.
    #[error("{0}")]
    Context(String),
    /// A context is none that JSON-LD 1.1 allows.
    #[error("{origin} is no valid JSON-LD context: {message}")]
    NoJsonLd {
        /// The context, as the user named it.
        origin: String,
        /// What is wrong.
        message: String,
    },
    /// The JSON-LD 1.1 expansion algorithm refuses the message under the contexts.
    #[error("JSON-LD expansion fails: {0}")]
    Expansion(String),
    /// The base is no absolute IRI.
    #[error("{0:?} is no absolute IRI")]
    Base(String),
}

/// The contexts, processed once, and the base of the input at hand.
pub(super) struct Reference {
    active: Active,
    /// The `@base` that the contexts set themselves.
    own_base: Option<IriBuf>,
    numbers: Numbers,
}

impl Reference {
    /// Processes the contexts in order: JSON-LD 1.1 API, section 4.1.
    pub fn new(contexts: &serde_json::Value, numbers: Numbers) -> Result<Self, ReferenceError> {
        let text = contexts.to_string();
        let (value, _) =
            json_ld::syntax::Value::parse_str(&text).map_err(|error| ReferenceError::Context(error.to_string()))?;
        let context = <json_ld::syntax::context::Context as json_ld::syntax::TryFromJson>::try_from_json(value)
            .map_err(|error| ReferenceError::Context(error.to_string()))?;
        let active = process(&context, &Active::default(), false)?;
        Ok(Self { own_base: active.base_iri().cloned(), active, numbers })
    }

    /// Sets what IRIs resolve against: `base`, unless a context's own `@base` goes first and there is one.
    pub fn set_base(&mut self, base: &str, own_base: OwnBase) -> Result<(), ReferenceError> {
        let base = match (&self.own_base, own_base) {
            (Some(own), OwnBase::Wins) => own.clone(),
            _ => IriBuf::new(base.to_owned()).map_err(|_| ReferenceError::Base(base.to_owned()))?,
        };
        self.active.set_base_iri(Some(base));
        Ok(())
    }

    pub fn active(&self) -> &Active {
        &self.active
    }

    /// Expands a document (a node object or an array of them) and appends its quads.
    pub fn quads(
        &self,
        document: &str,
        graph: &GraphName,
        blanks: &mut Blanks,
        losses: &mut Losses,
        quads: &mut Vec<Quad>,
    ) -> Result<(), ReferenceError> {
        let (value, _) = json_ld::syntax::Value::parse_str(document)
            .map_err(|error| ReferenceError::Expansion(error.to_string()))?;
        let expanded = pollster::block_on(value.expand_full(
            &mut (),
            self.active.clone(),
            self.active.base_iri(),
            &json_ld::NoLoader,
            json_ld::expansion::Options::default(),
            (),
        ))
        .map_err(|error| ReferenceError::Expansion(error.to_string()))?;
        let first = quads.len();
        let mut writer =
            QuadWriter { numbers: self.numbers, blanks, named: HashMap::new(), order: HashMap::new(), losses, quads };
        for object in expanded.iter() {
            writer.object(object, graph);
        }
        let order = writer.order;
        quads[first..].sort_by_cached_key(|quad| {
            let subject = order.get(&quad.subject).copied().unwrap_or(usize::MAX);
            let predicate = rank(quad.predicate.as_ref());
            (subject, predicate, quad.predicate.as_str().to_owned())
        });
        Ok(())
    }
}

/// Whether a context's own `@base` goes before the IRI of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnBase {
    Wins,
    Loses,
}

/// Processes a local context on top of an active one; `scoped` for those inside a term definition.
pub(super) fn process(
    context: &json_ld::syntax::context::Context,
    active: &Active,
    scoped: bool,
) -> Result<Active, ReferenceError> {
    let options = json_ld::context_processing::Options::default();
    let options = if scoped { options.with_override() } else { options };
    let base = active.base_iri().cloned();
    let processed = pollster::block_on(context.process_full(&mut (), active, &json_ld::NoLoader, base, options, ()))
        .map_err(|error| ReferenceError::Context(error.to_string()))?;
    Ok(processed.into_processed())
}

/// Blank nodes of one record.
#[derive(Debug)]
pub(super) struct Blanks {
    next: Blank,
}

impl Blanks {
    pub fn new(input: u32, record: u64) -> Self {
        Self { next: Blank { input, record, index: 0 } }
    }

    /// The blank node that a label of the document stands for is another one in each record.
    pub fn scope(&self) -> Blank {
        self.next
    }

    fn mint(&mut self) -> BlankNode {
        let label = self.next.to_string();
        self.next.index += 1;
        BlankNode::new_unchecked(label)
    }
}

struct QuadWriter<'a> {
    numbers: Numbers,
    blanks: &'a mut Blanks,
    /// Blank nodes that the document itself names.
    named: HashMap<String, BlankNode>,
    /// Nodes in the order in which the document has them, so that each can be written in one piece.
    order: HashMap<NamedOrBlankNode, usize>,
    losses: &'a mut Losses,
    quads: &'a mut Vec<Quad>,
}

impl QuadWriter<'_> {
    /// Writes all that is below an object and gives the term that stands for it, where there is one.
    fn object(&mut self, object: &IndexedObject<IriBuf, BlankIdBuf>, graph: &GraphName) -> Option<Term> {
        match object.inner() {
            Object::Node(node) => self.node(node, graph).map(Term::from),
            Object::Value(value) => Some(Term::Literal(self.value(value)?)),
            Object::List(list) => {
                let items: Vec<Term> = list.iter().filter_map(|item| self.object(item, graph)).collect();
                Some(self.list(items, graph))
            }
        }
    }

    fn node(&mut self, node: &Node<IriBuf, BlankIdBuf>, graph: &GraphName) -> Option<NamedOrBlankNode> {
        let subject = match &node.id {
            Some(id) => self.id(id)?,
            None => self.blanks.mint().into(),
        };
        let place = self.order.len();
        self.order.entry(subject.clone()).or_insert(place);
        for class in node.types() {
            if let Some(class) = self.id(class) {
                self.push(subject.clone(), rdf::TYPE.into_owned(), class.into(), graph);
            }
        }
        for (property, objects) in node.properties().iter() {
            let Some(property) = self.predicate(property) else { continue };
            for object in objects {
                if let Some(object) = self.object(object, graph) {
                    self.push(subject.clone(), property.clone(), object, graph);
                }
            }
        }
        for (property, nodes) in node.reverse_properties().into_iter().flat_map(|reverse| reverse.iter()) {
            let Some(property) = self.predicate(property) else { continue };
            for other in nodes {
                if let Some(other) = self.node(other.inner(), graph) {
                    self.push(other, property.clone(), subject.clone().into(), graph);
                }
            }
        }
        for included in node.included().into_iter().flatten() {
            self.node(included.inner(), graph);
        }
        if let Some(objects) = node.graph() {
            let graph = GraphName::from(subject.clone());
            for object in objects {
                self.object(object, &graph);
            }
        }
        Some(subject)
    }

    fn list(&mut self, items: Vec<Term>, graph: &GraphName) -> Term {
        let mut rest = Term::from(rdf::NIL.into_owned());
        for item in items.into_iter().rev() {
            let cell = self.blanks.mint();
            let place = self.order.len();
            self.order.insert(cell.clone().into(), place);
            self.push(cell.clone().into(), rdf::FIRST.into_owned(), item, graph);
            self.push(cell.clone().into(), rdf::REST.into_owned(), rest, graph);
            rest = cell.into();
        }
        rest
    }

    fn value(&mut self, value: &Value<IriBuf>) -> Option<Literal> {
        match value {
            Value::Json(json) => {
                use json_ld::syntax::Print;
                let text = json.compact_print().to_string();
                let mut canonical = String::with_capacity(text.len());
                let value = json::parse(text.as_bytes()).ok()?;
                match json::write_canonical(&value, self.numbers, &mut canonical) {
                    Ok(_) => Some(Literal::new_typed_literal(canonical, vocab::rdf::JSON)),
                    Err(_) => {
                        self.losses.add(Loss::NumberOutOfRange);
                        None
                    }
                }
            }
            Value::LangString(text) => match text.language() {
                Some(language) => {
                    let literal = Literal::new_language_tagged_literal(text.as_str(), language.as_str());
                    if literal.is_err() {
                        self.losses.add(Loss::BadLanguage);
                    }
                    literal.ok()
                }
                None => Some(Literal::new_simple_literal(text.as_str())),
            },
            Value::Literal(plain, datatype) => {
                let datatype = match datatype {
                    Some(datatype) => Some(self.iri(datatype.as_str())?),
                    None => None,
                };
                let (lexical, natural) = match plain {
                    Plain::Null => return None,
                    Plain::Boolean(value) => (value.to_string(), xsd::BOOLEAN),
                    Plain::Number(number) => {
                        let double = datatype.as_ref().is_some_and(|datatype| datatype.as_ref() == xsd::DOUBLE);
                        self.number(number.as_str(), double)?
                    }
                    Plain::String(text) => (text.to_string(), xsd::STRING),
                };
                Some(Literal::new_typed_literal(lexical, datatype.unwrap_or_else(|| natural.into_owned())))
            }
        }
    }

    /// Canonical lexical form of a number, and the datatype it has by nature.
    fn number(&mut self, spelling: &str, double: bool) -> Option<(String, oxrdf::NamedNodeRef<'static>)> {
        let exact = number_literal(spelling, double)?;
        if self.numbers == Numbers::Exact {
            return Some(exact);
        }
        let value: f64 = spelling.parse().ok()?;
        if !value.is_finite() {
            self.losses.add(Loss::NumberOutOfRange);
            return None;
        }
        if exact.1 == xsd::INTEGER {
            let rounded = format!("{value:.0}");
            let rounded = if rounded == "-0" { "0".to_owned() } else { rounded };
            if rounded != exact.0 {
                self.losses.add(Loss::NumberChanged);
                return Some((rounded, xsd::INTEGER));
            }
        }
        Some(exact)
    }

    fn predicate(&mut self, id: &Id<IriBuf, BlankIdBuf>) -> Option<NamedNode> {
        match id {
            Id::Valid(ValidId::Iri(iri)) => self.iri(iri.as_str()),
            // Generalised RDF, which RDF 1.1 does not have.
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
                let fresh = self.blanks.mint();
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

    fn push(&mut self, subject: NamedOrBlankNode, predicate: NamedNode, object: Term, graph: &GraphName) {
        self.quads.push(Quad::new(subject, predicate, object, graph.clone()));
    }
}

/// Where a predicate stands in its subject's block: the type, then what the message says, then what we say of it.
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

/// Canonical lexical form of a number, and the datatype it has by nature. Integers are exact, whatever their size, up to
/// where JSON-LD makes doubles of them.
pub(super) fn number_literal(spelling: &str, double: bool) -> Option<(String, oxrdf::NamedNodeRef<'static>)> {
    let value: f64 = spelling.parse().ok()?;
    if !double && value.abs() < 1e21 {
        let decimal = Decimal::parse(spelling)?;
        if decimal.is_integer() {
            return Some((decimal.to_plain(32)?, xsd::INTEGER));
        }
    }
    if !value.is_finite() {
        return Some((if value > 0.0 { "INF" } else { "-INF" }.to_owned(), xsd::DOUBLE));
    }
    Some((canonical_double(value), xsd::DOUBLE))
}

/// `%1.15E` with needless zeros left out: JSON-LD 1.1 API, "canonical double representation".
fn canonical_double(value: f64) -> String {
    let text = format!("{value:.15E}");
    let (mantissa, exponent) = text.split_once('E').unwrap_or((&text, "0"));
    let mantissa = mantissa.trim_end_matches('0');
    let zero = if mantissa.ends_with('.') { "0" } else { "" };
    format!("{mantissa}{zero}E{exponent}")
}

#[cfg(test)]
mod tests {
    use super::canonical_double;

    #[test]
    fn doubles_have_one_form() {
        for (value, text) in [
            (0.0, "0.0E0"),
            (1.5, "1.5E0"),
            (0.1, "1.0E-1"),
            (-12.25, "-1.225E1"),
            (1e21, "1.0E21"),
            (5.3e-324, "4.940656458412465E-324"),
            (123.456, "1.23456E2"),
        ] {
            assert_eq!(canonical_double(value), text);
        }
    }
}
