//! What a context makes of the members of an object, at every depth.
//!
//! JSON-LD obeys what it finds in a document: `@id`, `@context` and the like, and members that look like IRIs. A log is
//! no document of ours, so before expansion its members are looked up here, and what must not be obeyed is taken out.
//! Under a term of type `@json` everything is data, and stays.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use json_ld::{Container, Id, Term, Type, ValidId};
use oxrdf::vocab::xsd;

use super::loss::{Loss, Losses};
use super::number::NumberLiteral;
use super::plan::Entry;
use super::reference::{Active, ReferenceError, process};
use super::triples::Blank;
use crate::json::{self, Canonical, Numbers, Text, Value};
use crate::message::is_keyword_like;
use crate::vocab::rdf;

/// An active context, with those that its terms scope, processed when first met.
pub(super) struct Shape {
    active: Active,
    scoped: RefCell<HashMap<String, Rc<Shape>>>,
    /// Terms that were looked up, as the fast path wants them.
    entries: RefCell<HashMap<String, Rc<Entry>>>,
    /// What counts below, where this context does not propagate.
    outer: Option<Rc<Shape>>,
}

/// How many names a context remembers.
const MAX_ENTRIES: usize = 4_096;

/// What a member is under a context.
pub(super) enum Place {
    /// Nothing: data that no context maps.
    Unmapped,
    /// A JSON literal; the property where it can be written without the term.
    Json { property: Option<String> },
    /// A property of a node, or values.
    Mapped(Mapped),
}

/// How to go on below a mapped member.
#[derive(Clone)]
pub(super) struct Mapped {
    shape: Rc<Shape>,
    /// The property, where values stand under it one by one.
    property: Option<String>,
    /// The object below is a map (`@container`: `@index`, `@language`, `@id`, `@type`), its keys are no members, and its
    /// values are such.
    keyed: Option<Takes>,
    /// Those keys stand for IRIs (`@id`, `@type`).
    iri_keys: bool,
    /// What JSON-LD takes here.
    takes: Takes,
    /// Strings stand for IRIs (`@type`: `@id` or `@vocab`).
    iris: bool,
    /// The datatype of values (`@type`: an IRI).
    datatype: Option<String>,
}

/// Values that JSON-LD takes somewhere. For any other it refuses the document, so they are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Anything,
    /// In maps by language: strings, or an array of them.
    Strings,
    /// In such an array.
    OneString,
    /// In maps by id, type or a property, and under a reverse property: nodes, or arrays of them.
    Nodes,
}

/// What may look like an IRI and be a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IriMembers {
    /// As JSON-LD has it.
    Mapped,
    /// Never: it is data.
    Data,
}

/// How values are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub numbers: Numbers,
    pub iri_members: IriMembers,
    /// What tells the blank nodes that this record names from those of others.
    pub blanks: Blank,
}

impl Rules {
    /// An IRI reference as it is; a blank node as one of this record alone.
    fn scoped<'t>(&self, reference: &'t str) -> Cow<'t, str> {
        match reference.strip_prefix("_:") {
            Some(label) => format!("_:{}-{label}", self.blanks).into(),
            None => reference.into(),
        }
    }
}

impl Shape {
    pub fn new(active: Active) -> Rc<Self> {
        Rc::new(Self { active, scoped: RefCell::default(), entries: RefCell::default(), outer: None })
    }

    /// Forgets what was looked up. Contexts that lead to each other would keep each other for good.
    pub fn forget(&self) {
        self.entries.borrow_mut().clear();
        for (_, below) in std::mem::take(&mut *self.scoped.borrow_mut()) {
            below.forget();
        }
    }

    /// The active context.
    pub fn active(&self) -> &Active {
        &self.active
    }

    /// What the member `name` is, compiled for the fast path.
    pub fn entry(self: &Rc<Self>, name: &str) -> Result<Rc<Entry>, ReferenceError> {
        if let Some(known) = self.entries.borrow().get(name) {
            return Ok(known.clone());
        }
        let entry = Rc::new(Entry::new(self, name)?);
        let mut entries = self.entries.borrow_mut();
        // Names of a log that no context maps could be any number.
        if entries.len() < MAX_ENTRIES {
            entries.insert(name.to_owned(), entry.clone());
        }
        Ok(entry)
    }

    /// What the member `name` is; `name` is not like a keyword.
    pub fn place(self: &Rc<Self>, name: &str, rules: Rules) -> Result<Place, ReferenceError> {
        let below = || self.outer.as_ref().unwrap_or(self).clone();
        let Some(definition) = self.active.get(name) else {
            let mapped = match rules.iri_members {
                IriMembers::Mapped if name.contains(':') => true,
                _ => {
                    !name.contains(':')
                        && self.active.vocabulary().is_some_and(|vocabulary| makes_iri(vocabulary, name))
                }
            };
            let place = Mapped {
                shape: below(),
                property: None,
                keyed: None,
                iri_keys: false,
                takes: Takes::Anything,
                iris: false,
                datatype: None,
            };
            return Ok(if mapped { Place::Mapped(place) } else { Place::Unmapped });
        };
        let property = match definition.value() {
            Some(Term::Id(Id::Valid(ValidId::Iri(iri)))) => Some(iri.as_str().to_owned()),
            Some(Term::Id(_) | Term::Keyword(_)) => None,
            Some(Term::Null) | None => return Ok(Place::Unmapped),
        };
        let container = definition.container();
        let plain = matches!(container, Container::None | Container::Set) && !definition.reverse_property();
        if matches!(definition.typ(), Some(Type::Json)) {
            return Ok(Place::Json { property: property.filter(|_| plain) });
        }
        // A map by id or type would make IRIs of the log's member names, and types choose contexts.
        let by_name = matches!(
            container,
            Container::Id
                | Container::IdSet
                | Container::GraphId
                | Container::GraphIdSet
                | Container::Type
                | Container::SetType
        );
        if by_name && rules.iri_members == IriMembers::Data {
            return Ok(Place::Unmapped);
        }
        let shape = match definition.context() {
            Some(context) => self.scope(name, context)?,
            None => below(),
        };
        let keyed = match container {
            Container::None | Container::List | Container::Set | Container::Graph | Container::GraphSet => None,
            Container::Language | Container::LanguageSet => Some(Takes::Strings),
            Container::Id | Container::IdSet | Container::Type | Container::SetType => Some(Takes::Nodes),
            Container::Index | Container::IndexSet if definition.index().is_some() => Some(Takes::Nodes),
            Container::Index
            | Container::IndexSet
            | Container::GraphId
            | Container::GraphIdSet
            | Container::GraphIndex
            | Container::GraphIndexSet => Some(Takes::Anything),
        };
        let takes = if definition.reverse_property() { Takes::Nodes } else { Takes::Anything };
        let iris = matches!(definition.typ(), Some(Type::Id | Type::Vocab));
        let property = property.filter(|_| plain);
        let datatype = match definition.typ() {
            Some(Type::Iri(iri)) => Some(iri.as_str().to_owned()),
            _ => None,
        };
        Ok(Place::Mapped(Mapped { shape, property, keyed, iri_keys: by_name, takes, iris, datatype }))
    }

    fn scope(
        self: &Rc<Self>,
        name: &str,
        context: &json_ld::syntax::context::Context,
    ) -> Result<Rc<Self>, ReferenceError> {
        if let Some(known) = self.scoped.borrow().get(name) {
            return Ok(known.clone());
        }
        // A context that does not propagate ends here: JSON-LD reverts before it applies another.
        let active = process(context, &self.outer.as_ref().unwrap_or(self).active, true)?;
        let outer = active.previous_context().is_some().then(|| self.clone());
        let shape = Rc::new(Self { active, scoped: RefCell::default(), entries: RefCell::default(), outer });
        self.scoped.borrow_mut().insert(name.to_owned(), shape.clone());
        Ok(shape)
    }

    /// Writes the members of an object that the context maps, each behind a comma where one is needed.
    pub fn write_members(
        self: &Rc<Self>,
        members: &[(Text<'_>, Value<'_>)],
        rules: Rules,
        out: &mut String,
        losses: &mut Losses,
    ) -> Result<(), ReferenceError> {
        for (name, value) in members {
            let Some(name) = name.as_str() else {
                losses.add(Loss::UnmappedMember);
                continue;
            };
            if is_keyword_like(name) {
                losses.add(Loss::KeywordMember);
                continue;
            }
            self.write_member(name, value, rules, out, losses)?;
        }
        Ok(())
    }

    /// Writes one member, or nothing where the context does not map it.
    pub fn write_member(
        self: &Rc<Self>,
        name: &str,
        value: &Value<'_>,
        rules: Rules,
        out: &mut String,
        losses: &mut Losses,
    ) -> Result<(), ReferenceError> {
        let start = out.len();
        match self.place(name, rules)? {
            Place::Unmapped => losses.add(Loss::UnmappedMember),
            Place::Json { property } => {
                if write_json_member(name, property.as_deref(), value, rules.numbers, out, losses).is_none() {
                    out.truncate(start);
                }
            }
            Place::Mapped(mapped) => {
                write_key(name, out);
                let before = out.len();
                mapped.write(value, rules, out, losses)?;
                // A null is nothing, and the json-ld crate would make an empty list of one.
                if out.get(before..) == Some("null") {
                    out.truncate(start);
                }
            }
        }
        Ok(())
    }
}

impl Mapped {
    /// Whether values stand under that property one by one, and strings are strings unless `iris`.
    pub fn is_plain(&self, property: oxrdf::NamedNodeRef<'_>, iris: bool) -> bool {
        self.property.as_deref() == Some(property.as_str()) && self.iris == iris
    }

    /// What the members below are.
    pub fn shape(&self) -> &Rc<Shape> {
        &self.shape
    }

    /// Writes a value as far as JSON-LD may see it.
    pub fn write(
        &self,
        value: &Value<'_>,
        rules: Rules,
        out: &mut String,
        losses: &mut Losses,
    ) -> Result<(), ReferenceError> {
        let taken = match value {
            Value::Null => true,
            Value::Array(_) => self.takes != Takes::OneString,
            Value::Object(_) => !matches!(self.takes, Takes::Strings | Takes::OneString),
            Value::String(_) => self.takes != Takes::Nodes || self.iris,
            Value::Number(_) | Value::Bool(_) => self.takes == Takes::Anything,
        };
        if !taken {
            losses.add(Loss::NotTaken);
            out.push_str("null");
            return Ok(());
        }
        match value {
            Value::Array(array) => {
                out.push('[');
                // An array under a map container is no map, and its items are members like others.
                let takes = if self.takes == Takes::Strings { Takes::OneString } else { self.takes };
                let below = Self { keyed: None, takes, ..self.clone() };
                for (index, item) in array.items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    below.write(item, rules, out, losses)?;
                }
                out.push(']');
            }
            Value::Object(object) if self.keyed.is_some() => {
                let takes = self.keyed.filter(|_| self.takes == Takes::Anything).unwrap_or(self.takes);
                let below = Self { keyed: None, takes, ..self.clone() };
                out.push('{');
                for (name, value) in &object.members {
                    match name.as_str() {
                        Some(name) if !is_keyword_like(name) => {
                            write_key(&if self.iri_keys { rules.scoped(name) } else { name.into() }, out);
                            below.write(value, rules, out, losses)?;
                        }
                        _ => losses.add(Loss::KeywordMember),
                    }
                }
                out.push('}');
            }
            Value::Object(object) => {
                out.push('{');
                self.shape.write_members(&object.members, rules, out, losses)?;
                out.push('}');
            }
            Value::String(text) => match text.as_str() {
                Some(text) if self.iris => self.write_iri(text, rules, out, losses),
                Some(text) => json::write_str(text, out),
                None => {
                    losses.add(Loss::LoneSurrogate);
                    out.push_str("null");
                }
            },
            Value::Number(number) => self.write_number(number.as_str(), rules, out, losses),
            Value::Bool(true) => out.push_str("true"),
            Value::Bool(false) => out.push_str("false"),
            Value::Null => out.push_str("null"),
        }
        Ok(())
    }
}

/// Whether `@vocab` makes an IRI of a name.
fn makes_iri(vocabulary: &Term, name: &str) -> bool {
    match vocabulary {
        Term::Id(Id::Valid(ValidId::Iri(iri))) => oxiri::Iri::parse(format!("{iri}{name}")).is_ok(),
        _ => false,
    }
}

impl Mapped {
    /// Writes a string that stands for an IRI, or for a blank node, which is one of this record alone.
    fn write_iri(&self, text: &str, rules: Rules, out: &mut String, losses: &mut Losses) {
        if is_keyword_like(text) || oxiri::IriRef::parse(text).is_err() && !text.starts_with("_:") {
            losses.add(Loss::NoIri);
            return out.push_str("null");
        }
        json::write_str(&rules.scoped(text), out);
    }

    /// Writes a number: as a number, or, where processors would part over it, as the literal that it is.
    fn write_number(&self, spelling: &str, rules: Rules, out: &mut String, losses: &mut Losses) {
        let double = self.datatype.as_deref() == Some(xsd::DOUBLE.as_str());
        let Some(literal) = NumberLiteral::new(spelling, rules.numbers, double) else {
            losses.add(Loss::NumberOutOfRange);
            return out.push_str("null");
        };
        if literal.changed {
            losses.add(Loss::NumberChanged);
        }
        match literal.native {
            Some(native) => out.push_str(&native),
            None => {
                let datatype = self.datatype.as_deref().unwrap_or(literal.datatype.as_str());
                write_typed(&literal.lexical, datatype, out);
            }
        }
    }
}

/// Starts a member; a comma goes in front unless the object or array begins here.
pub(super) fn write_key(name: &str, out: &mut String) {
    if !out.ends_with(['{', '[']) && !out.is_empty() {
        out.push(',');
    }
    json::write_str(name, out);
    out.push(':');
}

/// Writes a member whose value is a JSON literal: see [`write_literal_member`]. `None` where the value cannot be written;
/// `out` then holds part of it.
pub(super) fn write_json_member(
    term: &str,
    property: Option<&str>,
    value: &Value<'_>,
    numbers: Numbers,
    out: &mut String,
    losses: &mut Losses,
) -> Option<()> {
    let mut literal = String::new();
    let canonical = match json::write_canonical(value, numbers, &mut literal) {
        Ok(canonical) => canonical,
        Err(_) => {
            losses.add(Loss::NumberOutOfRange);
            return None;
        }
    };
    if numbers == Numbers::Rfc8785 {
        let mut exact = String::new();
        if json::write_canonical(value, Numbers::Exact, &mut exact).is_ok() && exact != literal {
            losses.add(Loss::NumberChanged);
        }
    }
    match property {
        Some(property) => write_literal_member(term, property, &literal, canonical, out),
        // The digits that it keeps cannot be written under the term.
        None if numbers == Numbers::Exact && !canonical.interoperable => {
            losses.add(Loss::NumberChanged);
            return None;
        }
        None if value.evidence().lone_surrogate => {
            losses.add(Loss::LoneSurrogate);
            return None;
        }
        None => {
            write_key(term, out);
            out.push_str(&literal);
        }
    }
    Some(())
}

/// Writes a member whose value is a JSON literal, given in canonical form: natively under its term, or, where another
/// processor would print another form of it, as a string of type `rdf:JSON` under the property itself.
pub(super) fn write_literal_member(term: &str, property: &str, literal: &str, canonical: Canonical, out: &mut String) {
    if canonical.interoperable {
        write_key(term, out);
        out.push_str(literal);
    } else {
        write_key(property, out);
        write_json_literal(literal, out);
    }
}

/// A value object for a JSON literal, given as text.
pub(super) fn write_json_literal(literal: &str, out: &mut String) {
    write_typed(literal, rdf::JSON.as_str(), out);
}

/// A value object.
pub(super) fn write_typed(lexical: &str, datatype: &str, out: &mut String) {
    out.push_str("{\"@type\":");
    json::write_str(datatype, out);
    out.push_str(",\"@value\":");
    json::write_str(lexical, out);
    out.push('}');
}
