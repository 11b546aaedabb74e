//! The fast path below further contexts: what a compiled context makes of a value, straight as triples.
//!
//! Every term is looked up once and kept as an [`Entry`]; what an entry or a value asks of JSON-LD beyond that (maps,
//! `@nest`, `@reverse`, graphs, lists of lists, relative IRIs, …) is not covered, and the message takes the reference path.

use std::collections::VecDeque;
use std::rc::Rc;

use json_ld::{Container, Id, Nullable, Term, Type, ValidId};
use oxiri::Iri;
use oxrdf::vocab::{rdf, xsd};
use oxrdf::{Literal, NamedNode, NamedNodeRef};

use super::loss::{Loss, Losses};
use super::number::NumberLiteral;
use super::reference::ReferenceError;
use super::shape::{IriMembers, Place, Rules, Shape};
use super::triples::{Blank, Node, Object, Triples};
use crate::json::{self, Numbers, Text, Value};
use crate::message::is_keyword_like;
use crate::vocab;

/// What a term is, ready to be used.
pub(super) enum Entry {
    /// Data that nothing maps.
    Unmapped,
    /// A JSON literal under the property.
    Json(NamedNode),
    /// Nodes and values under the property.
    Mapped(Rc<Mapped>),
    /// Only the reference path can tell.
    Uncovered(&'static str),
}

pub(super) struct Mapped {
    property: NamedNode,
    /// The values are one list.
    list: bool,
    strings: Strings,
    /// Datatype that numbers and booleans get instead of their own.
    datatype: Option<NamedNode>,
    below: Rc<Shape>,
}

/// What a string becomes.
enum Strings {
    Iri,
    Literal,
    Typed(NamedNode),
    Tagged(String),
    Uncovered(&'static str),
}

/// Something that is still to be written, when the subject at hand has been.
enum Pending<'v> {
    /// A node with its members.
    Node(Blank, &'v [(Text<'v>, Value<'v>)], Rc<Shape>),
    /// A cell of a list, its item, and the cell behind it.
    Cell(Blank, Item<'v>, Option<Blank>),
}

/// The object of a triple: a node that is pending, or a scalar under its term.
enum Item<'v> {
    Node(Blank),
    Scalar(&'v Value<'v>, Rc<Mapped>),
}

/// Numbers keep their value, and nothing that merely looks like an IRI is a property.
fn rules(blanks: Blank) -> Rules {
    Rules { numbers: Numbers::Exact, iri_members: IriMembers::Data, blanks }
}

impl Entry {
    /// Compiles a term.
    pub fn new(shape: &Rc<Shape>, name: &str) -> Result<Self, ReferenceError> {
        let blank = Blank { input: 0, record: 0, index: 0 };
        let mapped = match shape.place(name, rules(blank))? {
            Place::Unmapped => return Ok(Self::Unmapped),
            Place::Json { property: None } => return Ok(Self::Uncovered("JSON in a container")),
            Place::Json { property: Some(property) } => {
                return Ok(NamedNode::new(property).map_or(Self::Uncovered("a property that is no IRI"), Self::Json));
            }
            Place::Mapped(mapped) => mapped,
        };
        let below = mapped.shape().clone();
        let active = shape.active();
        if active.default_base_direction().is_some() {
            return Ok(Self::Uncovered("@direction"));
        }
        let Some(definition) = active.get(name) else {
            // Only `@vocab` maps it.
            let property = match active.vocabulary() {
                Some(Term::Id(Id::Valid(ValidId::Iri(vocabulary)))) => {
                    NamedNode::new(format!("{vocabulary}{name}")).ok()
                }
                _ => None,
            };
            let strings = match active.default_language() {
                None => Strings::Literal,
                Some(language) => tagged(language.as_str()),
            };
            return Ok(match property {
                Some(property) => {
                    Self::Mapped(Rc::new(Mapped { property, list: false, strings, datatype: None, below }))
                }
                None => Self::Uncovered("@vocab that is no IRI"),
            });
        };
        let property = match definition.value() {
            Some(Term::Id(Id::Valid(ValidId::Iri(iri)))) => NamedNode::new(iri.as_str()).ok(),
            _ => None,
        };
        let list = match definition.container() {
            Container::None | Container::Set => Some(false),
            Container::List => Some(true),
            _ => None,
        };
        let (Some(property), Some(list)) = (property, list) else { return Ok(Self::Uncovered("@container")) };
        if definition.reverse_property() || definition.nest().is_some() || definition.direction().is_some() {
            return Ok(Self::Uncovered("@reverse, @nest or @direction"));
        }
        let (strings, datatype) = match definition.typ() {
            Some(Type::Id) => (Strings::Iri, None),
            Some(Type::Vocab) => (Strings::Uncovered("@type: @vocab"), None),
            Some(Type::Json) => return Ok(Self::Uncovered("JSON in a container")),
            Some(Type::Iri(iri)) => match NamedNode::new(iri.as_str()) {
                Ok(datatype) => (Strings::Typed(datatype.clone()), Some(datatype)),
                Err(_) => return Ok(Self::Uncovered("a datatype that is no IRI")),
            },
            Some(Type::None) | None => {
                let strings = match definition.language() {
                    Some(Nullable::Some(language)) => tagged(language.as_str()),
                    Some(Nullable::Null) => Strings::Literal,
                    None => active.default_language().map_or(Strings::Literal, |language| tagged(language.as_str())),
                };
                (strings, None)
            }
        };
        Ok(Self::Mapped(Rc::new(Mapped { property, list, strings, datatype, below })))
    }

    /// Looks through a member before anything of it is written: counts what is lost of it, or tells what is not covered.
    pub fn survey(&self, shape: &Rc<Shape>, value: &Value<'_>, losses: &mut Losses) -> Result<(), NotCovered> {
        match self {
            Self::Unmapped => losses.add(Loss::UnmappedMember),
            Self::Json(_) => {}
            Self::Uncovered(reason) => return Err(NotCovered(reason)),
            Self::Mapped(mapped) => mapped.survey(shape, value, mapped.list, losses)?,
        }
        Ok(())
    }
}

/// Why a message takes the reference path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotCovered(pub &'static str);

fn tagged(language: &str) -> Strings {
    // Checked and put in lower case as the reference path does.
    match Literal::new_language_tagged_literal("", language) {
        Ok(literal) => Strings::Tagged(literal.language().unwrap_or_default().to_owned()),
        Err(_) => Strings::Uncovered("a language that is none"),
    }
}

impl Mapped {
    /// Whether its values are literals of a type, one by one, under the property.
    pub fn is_typed(&self, property: NamedNodeRef<'_>, datatype: NamedNodeRef<'_>) -> bool {
        self.property.as_ref() == property
            && !self.list
            && matches!(&self.strings, Strings::Typed(own) if own.as_ref() == datatype)
    }

    /// Whether objects below it are nodes under the property, one by one, and strings stand for such.
    pub fn leads_to_nodes(&self, property: NamedNodeRef<'_>) -> bool {
        self.property.as_ref() == property && !self.list && matches!(self.strings, Strings::Iri)
    }

    /// What the members below are.
    pub fn below(&self) -> &Rc<Shape> {
        &self.below
    }

    /// What a number is below it; nothing where a double cannot hold it.
    fn number(&self, spelling: &str) -> Option<NumberLiteral> {
        let double = self.datatype.as_ref().is_some_and(|datatype| datatype.as_ref() == xsd::DOUBLE);
        NumberLiteral::new(spelling, Numbers::Exact, double)
    }

    fn survey(&self, shape: &Rc<Shape>, value: &Value<'_>, list: bool, losses: &mut Losses) -> Result<(), NotCovered> {
        match value {
            Value::Null if list => Err(NotCovered("null for a list")),
            Value::Null | Value::Bool(_) => Ok(()),
            Value::Number(number) => {
                match self.number(number.as_str()) {
                    None if list => return Err(NotCovered("null for a list")),
                    None => losses.add(Loss::NumberOutOfRange),
                    Some(literal) if literal.changed => losses.add(Loss::NumberChanged),
                    Some(_) => {}
                }
                Ok(())
            }
            Value::String(text) => match (text.as_str(), &self.strings) {
                // What cannot be written is null to JSON-LD.
                (None, _) if list => Err(NotCovered("null for a list")),
                (None, _) => {
                    losses.add(Loss::LoneSurrogate);
                    Ok(())
                }
                (Some(_), Strings::Uncovered(reason)) => Err(NotCovered(reason)),
                (Some(text), Strings::Iri) => is_absolute(shape, text, losses),
                (Some(_), _) => Ok(()),
            },
            Value::Array(array) if list => array.items.iter().try_for_each(|item| match item {
                Value::Array(_) => Err(NotCovered("lists of lists")),
                item => self.survey(shape, item, false, losses),
            }),
            Value::Array(array) => array.items.iter().try_for_each(|item| self.survey(shape, item, false, losses)),
            Value::Object(object) => object.members.iter().try_for_each(|(name, value)| match name.as_str() {
                None => {
                    losses.add(Loss::UnmappedMember);
                    Ok(())
                }
                Some(name) if is_keyword_like(name) => {
                    losses.add(Loss::KeywordMember);
                    Ok(())
                }
                Some(name) => match self.below.entry(name) {
                    Ok(entry) => entry.survey(&self.below, value, losses),
                    Err(_) => Err(NotCovered("a scoped context that is none")),
                },
            }),
        }
    }
}

/// Whether a string is an IRI as it is; counts those that can be none.
fn is_absolute(shape: &Rc<Shape>, text: &str, losses: &mut Losses) -> Result<(), NotCovered> {
    if is_keyword_like(text) {
        losses.add(Loss::NoIri);
        return Ok(());
    }
    let Some((prefix, rest)) = text.split_once(':') else { return Err(NotCovered("relative IRIs")) };
    if prefix == "_" {
        return Err(NotCovered("blank nodes by name"));
    }
    if !rest.starts_with("//") && shape.active().get(prefix).is_some() {
        return Err(NotCovered("compact IRIs"));
    }
    match Iri::parse(text) {
        Ok(_) => Ok(()),
        Err(_) => Err(NotCovered("IRIs that are none")),
    }
}

/// Writes surveyed members.
pub(super) struct PlanWriter<'w, 'v> {
    next: Blank,
    pending: VecDeque<Pending<'v>>,
    buffer: &'w mut String,
}

impl<'w, 'v> PlanWriter<'w, 'v> {
    /// A writer for a record; `next` is the first of its blank nodes that is free.
    pub fn new(next: Blank, buffer: &'w mut String) -> Self {
        Self { next, pending: VecDeque::new(), buffer }
    }

    /// Writes a member of the subject at hand.
    pub fn member(&mut self, entry: &Entry, value: &'v Value<'v>, triples: &mut impl Triples) {
        match entry {
            Entry::Unmapped | Entry::Uncovered(_) => {}
            Entry::Json(property) => {
                self.buffer.clear();
                // Exact numbers never fail.
                if json::write_canonical(value, Numbers::Exact, self.buffer).is_ok() {
                    triples.triple(property.as_ref(), Object::Typed(self.buffer, vocab::rdf::JSON.as_str()));
                }
            }
            Entry::Mapped(mapped) if mapped.list => self.list(mapped, value, triples),
            Entry::Mapped(mapped) => self.values(mapped, value, triples),
        }
    }

    fn values(&mut self, mapped: &Rc<Mapped>, value: &'v Value<'v>, triples: &mut impl Triples) {
        if let Value::Array(array) = value {
            return array.items.iter().for_each(|item| self.values(mapped, item, triples));
        }
        if let Some(item) = self.item(mapped, value) {
            object(mapped.property.as_ref(), &item, triples);
        }
    }

    fn list(&mut self, mapped: &Rc<Mapped>, value: &'v Value<'v>, triples: &mut impl Triples) {
        let items = match value {
            Value::Array(array) => array.items.as_slice(),
            value => std::slice::from_ref(value),
        };
        let items: Vec<_> = items.iter().filter_map(|item| self.item(mapped, item)).collect();
        let cells: Vec<_> = items.iter().map(|_| self.mint()).collect();
        let first = cells.first().map_or(Node::Iri(rdf::NIL.as_str()), |first| Node::Blank(*first));
        triples.triple(mapped.property.as_ref(), Object::Node(first));
        for (index, (item, cell)) in items.into_iter().zip(&cells).enumerate() {
            self.pending.push_back(Pending::Cell(*cell, item, cells.get(index + 1).copied()));
        }
    }

    /// What stands for a value that is no array: nothing for null, and for a string that cannot be what it should be.
    fn item(&mut self, mapped: &Rc<Mapped>, value: &'v Value<'v>) -> Option<Item<'v>> {
        match value {
            Value::Null | Value::Array(_) => None,
            Value::String(text) => {
                let text = text.as_str()?;
                let iri = matches!(mapped.strings, Strings::Iri);
                (!iri || !is_keyword_like(text)).then(|| Item::Scalar(value, mapped.clone()))
            }
            Value::Object(object) => {
                let blank = self.mint();
                self.pending.push_back(Pending::Node(blank, &object.members, mapped.below.clone()));
                Some(Item::Node(blank))
            }
            Value::Number(number) => {
                mapped.number(number.as_str()).is_some().then(|| Item::Scalar(value, mapped.clone()))
            }
            Value::Bool(_) => Some(Item::Scalar(value, mapped.clone())),
        }
    }

    /// Writes everything that is pending, and what that leaves pending in turn.
    pub fn finish(mut self, triples: &mut impl Triples) {
        while let Some(pending) = self.pending.pop_front() {
            match pending {
                Pending::Node(blank, members, shape) => {
                    triples.subject(Node::Blank(blank));
                    for (name, value) in members {
                        let Some(name) = name.as_str().filter(|name| !is_keyword_like(name)) else { continue };
                        // The survey has met every entry.
                        if let Ok(entry) = shape.entry(name) {
                            self.member(&entry, value, triples);
                        }
                    }
                }
                Pending::Cell(cell, item, rest) => {
                    triples.subject(Node::Blank(cell));
                    object(rdf::FIRST, &item, triples);
                    let rest = rest.map_or(Node::Iri(rdf::NIL.as_str()), Node::Blank);
                    triples.triple(rdf::REST, Object::Node(rest));
                }
            }
        }
    }

    fn mint(&mut self) -> Blank {
        let blank = self.next;
        self.next.index += 1;
        blank
    }
}

/// Writes a triple of the subject at hand.
fn object(property: NamedNodeRef<'_>, item: &Item<'_>, triples: &mut impl Triples) {
    let (value, mapped) = match item {
        Item::Node(blank) => return triples.triple(property, Object::Node(Node::Blank(*blank))),
        Item::Scalar(value, mapped) => (value, mapped),
    };
    let (lexical, natural) = match value {
        Value::Bool(value) => (value.to_string(), xsd::BOOLEAN),
        Value::Number(number) => match mapped.number(number.as_str()) {
            Some(literal) => (literal.lexical, literal.datatype),
            None => return,
        },
        Value::String(text) => {
            let text = text.as_str().unwrap_or_default();
            let object = match &mapped.strings {
                Strings::Iri => Object::Node(Node::Iri(text)),
                Strings::Typed(datatype) if datatype.as_ref() != xsd::STRING => Object::Typed(text, datatype.as_str()),
                Strings::Tagged(tag) => Object::Tagged(text, tag),
                Strings::Typed(_) | Strings::Literal | Strings::Uncovered(_) => Object::Text(text),
            };
            return triples.triple(property, object);
        }
        Value::Null | Value::Array(_) | Value::Object(_) => return,
    };
    let datatype = mapped.datatype.as_ref().map_or(natural, NamedNode::as_ref);
    if datatype == xsd::STRING {
        triples.triple(property, Object::Text(&lexical));
    } else {
        triples.triple(property, Object::Typed(&lexical, datatype.as_str()));
    }
}
