//! The walk as triples, without JSON-LD in between, in the order of the reference path.
//!
//! Some features of JSON-LD are beyond a compiled term (maps, `@nest`, `@reverse`, graphs, lists of lists, relative
//! IRIs, …). A message that uses one takes the reference path.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;
use std::sync::LazyLock;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{NamedNode, NamedNodeRef};

use super::further::MembersPlan;
use super::makers;
use super::shape::{MappedTerm, MemberMeaning, Shape, Strings};
use super::walk::{BlockTerm, NodeWriter};
use crate::json::Value;
use crate::message::{Member, Payload, is_keyword_like};
use crate::session::triples::{BlankName, NodeRef, ObjectRef, TripleSink};
use crate::vocab;

/// Pushes triples.
pub(super) struct TripleWriter<'t, 'v, T> {
    triples: &'t mut T,
    /// The next free blank node of the record.
    pub next: BlankName,
    pending: VecDeque<PendingItem<'v>>,
}

/// An item to write after the current subject.
enum PendingItem<'v> {
    /// A node with its members.
    Node(BlankName, &'v [Member<'v>], Rc<Shape>),
    /// A cell of a list, its item, and the next cell.
    Cell(BlankName, MappedItem<'v>, Option<BlankName>),
}

/// The object of a triple: a pending node, or a scalar under its term.
enum MappedItem<'v> {
    Node(BlankName),
    Scalar(&'v Value<'v>, Rc<MappedTerm>),
}

impl<'t, 'v, T: TripleSink> TripleWriter<'t, 'v, T> {
    pub fn new(triples: &'t mut T, next: BlankName) -> Self {
        Self { triples, next, pending: VecDeque::new() }
    }

    /// Writes an object of a log as a new node, with the members that a shape maps. Returns the next free blank node.
    pub fn object(mut self, members: &'v [Member<'v>], shape: &Rc<Shape>) -> BlankName {
        let node = self.next.mint();
        self.pending.push_back(PendingItem::Node(node, members, shape.clone()));
        self.finish();
        self.next
    }

    /// Writes a member of the current subject.
    fn member(&mut self, term: &MemberMeaning, value: &'v Value<'v>) {
        match term {
            MemberMeaning::Unmapped
            | MemberMeaning::KeyedByIri
            | MemberMeaning::Alias(_)
            | MemberMeaning::Json(None) => {}
            MemberMeaning::Json(Some(property)) => self.push_json(property.as_ref(), value),
            MemberMeaning::Mapped(mapped) => {
                let Some(property) = &mapped.property else { return };
                if mapped.list {
                    self.list(mapped, property, value);
                } else {
                    self.values(mapped, property, value);
                }
            }
        }
    }

    fn push_json(&mut self, property: NamedNodeRef<'_>, value: &Value<'_>) {
        let literal = Payload::from(value);
        self.triples.triple(property, ObjectRef::Typed(&literal.text, vocab::rdf::JSON.as_str()));
    }

    fn values(&mut self, term: &Rc<MappedTerm>, property: &NamedNode, value: &'v Value<'v>) {
        if let Value::Array(array) = value {
            return array.items.iter().for_each(|item| self.values(term, property, item));
        }
        if let Some(item) = self.item(term, value) {
            self.push_item(property.as_ref(), &item);
        }
    }

    fn list(&mut self, term: &Rc<MappedTerm>, property: &NamedNode, value: &'v Value<'v>) {
        let items = match value {
            Value::Array(array) => array.items.as_slice(),
            value => std::slice::from_ref(value),
        };
        let items: Vec<_> = items.iter().filter_map(|item| self.item(term, item)).collect();
        let cells: Vec<_> = items.iter().map(|_| self.next.mint()).collect();
        self.triples.triple(property.as_ref(), cell_or_nil(cells.first()));
        for (index, (item, cell)) in items.into_iter().zip(&cells).enumerate() {
            self.pending.push_back(PendingItem::Cell(*cell, item, cells.get(index + 1).copied()));
        }
    }

    /// Returns the item for a value that is not an array; `None` for null, and for a string that is not valid under the
    /// term.
    fn item(&mut self, term: &Rc<MappedTerm>, value: &'v Value<'v>) -> Option<MappedItem<'v>> {
        let stands = match value {
            Value::Null | Value::Array(_) => false,
            Value::Bool(_) => true,
            Value::Number(number) => term.number(number.as_str()).is_some(),
            Value::String(text) => {
                text.as_str().is_some_and(|text| !matches!(term.strings, Strings::Iri) || !is_keyword_like(text))
            }
            Value::Object(object) => {
                let blank = self.next.mint();
                self.pending.push_back(PendingItem::Node(blank, &object.members, term.below.clone()));
                return Some(MappedItem::Node(blank));
            }
        };
        stands.then(|| MappedItem::Scalar(value, term.clone()))
    }

    /// Writes a triple of the current subject.
    fn push_item(&mut self, property: NamedNodeRef<'_>, item: &MappedItem<'_>) {
        let (value, term) = match item {
            MappedItem::Node(blank) => return self.triples.triple(property, ObjectRef::Node(NodeRef::Blank(*blank))),
            MappedItem::Scalar(value, term) => (value, term),
        };
        let (lexical, natural) = match value {
            Value::Bool(value) => (value.to_string(), xsd::BOOLEAN),
            Value::Number(number) => match term.number(number.as_str()) {
                Some(literal) => (literal.lexical, literal.datatype),
                None => return,
            },
            Value::String(text) => {
                let text = text.as_str().unwrap_or_default();
                let object = match (&term.strings, &term.datatype) {
                    (Strings::Iri, _) => ObjectRef::Node(NodeRef::Iri(text)),
                    (Strings::Tagged(tag), _) => ObjectRef::Tagged(text, tag),
                    (_, Some(datatype)) => ObjectRef::literal(text, datatype.as_ref()),
                    (_, None) => ObjectRef::Text(text),
                };
                return self.triples.triple(property, object);
            }
            Value::Null | Value::Array(_) | Value::Object(_) => return,
        };
        let datatype = term.datatype.as_ref().map_or(natural, NamedNode::as_ref);
        self.triples.triple(property, ObjectRef::literal(&lexical, datatype));
    }
}

/// Returns true if a maker states a property; if it is `rdf:type`, the class.
fn is_stated(property: NamedNodeRef<'_>, object: NodeRef<'_>) -> bool {
    static TERMS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let terms = makers().flat_map(|maker| maker.of_records.iter().chain(&maker.of_nodes));
        terms.map(|term| term.as_str()).collect()
    });
    let term = match object {
        NodeRef::Iri(class) if property == rdf::TYPE => class,
        _ => property.as_str(),
    };
    TERMS.contains(term)
}

fn cell_or_nil(cell: Option<&BlankName>) -> ObjectRef<'static> {
    ObjectRef::Node(cell.map_or(NodeRef::Iri(rdf::NIL.as_str()), |cell| NodeRef::Blank(*cell)))
}

impl<'v, T: TripleSink> NodeWriter<'v> for TripleWriter<'_, 'v, T> {
    fn open(&mut self, node: NodeRef<'_>) {
        self.triples.subject(node);
    }

    fn open_child(&mut self, _: BlockTerm, node: NodeRef<'_>) {
        self.triples.subject(node);
    }

    fn close(&mut self) {}

    fn wants(&self, property: NamedNodeRef<'static>) -> bool {
        self.triples.wants(property)
    }

    fn announce(&mut self, link: BlockTerm, node: NodeRef<'_>) {
        self.link(link.property, node);
    }

    fn class(&mut self, class: NamedNodeRef<'static>) {
        self.link(rdf::TYPE, NodeRef::Iri(class.as_str()));
    }

    fn classes(&mut self, classes: [NamedNodeRef<'static>; 2]) {
        classes.into_iter().for_each(|class| self.class(class));
    }

    fn string_member(&mut self, member: BlockTerm, text: &str) {
        self.triples.static_triple(member.property, ObjectRef::Text(text));
    }

    fn integer_member(&mut self, member: BlockTerm, digits: &str) {
        self.triples.static_triple(member.property, ObjectRef::Typed(digits, xsd::INTEGER.as_str()));
    }

    fn payload(&mut self, member: BlockTerm, payload: &Payload<'_>) {
        let literal = ObjectRef::Typed(&payload.text, vocab::rdf::JSON.as_str());
        debug_assert!(is_stated(member.property, NodeRef::Iri("")), "no maker states {}", member.property);
        self.triples.static_triple(member.property, literal);
    }

    fn mapped(&mut self, plan: &'v MembersPlan<'v>) {
        plan.values.iter().for_each(|(term, value)| self.member(term, value));
    }

    fn link(&mut self, property: NamedNodeRef<'static>, node: NodeRef<'_>) {
        debug_assert!(is_stated(property, node), "no maker states {property}, or the class {node}");
        self.triples.static_triple(property, ObjectRef::Node(node));
    }

    fn links<'n>(&mut self, property: NamedNodeRef<'static>, nodes: impl Iterator<Item = NodeRef<'n>>) {
        nodes.for_each(|node| self.link(property, node));
    }

    #[inline]
    fn literal(&mut self, property: NamedNodeRef<'static>, lexical: &str, datatype: NamedNodeRef<'static>) {
        debug_assert!(is_stated(property, NodeRef::Iri("")), "no maker states {property}");
        self.triples.static_triple(property, ObjectRef::literal(lexical, datatype));
    }

    fn count(&mut self, property: NamedNodeRef<'static>, number: u64) {
        debug_assert!(is_stated(property, NodeRef::Iri("")), "no maker states {property}");
        self.triples.static_triple(property, ObjectRef::Integer(number));
    }

    fn boolean(&mut self, property: NamedNodeRef<'static>, value: bool) {
        self.literal(property, if value { "true" } else { "false" }, xsd::BOOLEAN);
    }

    fn finish(&mut self) {
        while let Some(pending) = self.pending.pop_front() {
            match pending {
                PendingItem::Node(blank, members, shape) => {
                    self.triples.subject(NodeRef::Blank(blank));
                    for (name, value) in members {
                        let Some(name) = name.as_str().filter(|name| !is_keyword_like(name)) else { continue };
                        // The plan has already looked up every term.
                        if let Ok(term) = shape.term(name) {
                            self.member(&term, value);
                        }
                    }
                }
                PendingItem::Cell(cell, item, rest) => {
                    self.triples.subject(NodeRef::Blank(cell));
                    self.push_item(rdf::FIRST, &item);
                    self.triples.triple(rdf::REST, cell_or_nil(rest.as_ref()));
                }
            }
        }
    }
}
