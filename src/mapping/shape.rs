//! What a context makes of the members of an object, at every depth: terms, each compiled when it is first met.
//!
//! JSON-LD obeys what it finds in a document: `@id`, `@context` and the like, and members that look like IRIs. A log is
//! no document of ours, so its members are looked up here before JSON-LD sees them, and what must not be obeyed is taken
//! out. Under a term of type `@json` everything is data, and stays.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use json_ld::context::TermDefinitionRef;
use json_ld::{Container, Id, Nullable, Type, ValidId};
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, NamedNodeRef};

use super::number::NumberLiteral;
use super::reference::{Active, ReferenceError, process_with};
use crate::json::Numbers;

/// How many names that the context does not define are remembered: a log may hold any number.
const MAX_TERMS: usize = 4_096;

/// What holds for a mapping under any context.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub numbers: Numbers,
    /// Whether a member that looks like an IRI is a property, as JSON-LD has it. Otherwise it is data.
    pub iri_members: bool,
}

/// An active context, with the terms that were looked up in it.
pub(super) struct Shape {
    active: Active,
    rules: Rules,
    terms: RefCell<HashMap<String, Rc<Term>>>,
    /// What counts below, where this context does not propagate.
    outer: Option<Rc<Shape>>,
}

/// What a member is under a context.
pub(super) enum Term {
    /// Nothing: data that no context maps.
    Unmapped,
    /// A JSON literal; the property where it can be written without the term.
    Json(Option<NamedNode>),
    /// A property of a node, or values.
    Mapped(Rc<MappedTerm>),
}

/// How to go on below a mapped member.
pub(super) struct MappedTerm {
    /// What the members below are.
    pub below: Rc<Shape>,
    /// The property, where there is one.
    pub property: Option<NamedNode>,
    /// The values are one list.
    pub list: bool,
    pub strings: Strings,
    /// Strings stand for IRIs (`@type`: `@id` or `@vocab`).
    pub iris: bool,
    /// The datatype of values (`@type`: an IRI).
    pub datatype: Option<NamedNode>,
    /// The object below is a map (`@container`: `@index`, `@language`, `@id`, `@type`), its keys are not members, and its
    /// values are such.
    pub keyed: Option<Takes>,
    /// Those keys stand for IRIs (`@id`, `@type`).
    pub iri_keys: bool,
    /// What JSON-LD takes here.
    pub takes: Takes,
    /// Why only the reference path can tell its triples, if so.
    pub uncovered: Option<&'static str>,
}

/// What a string becomes, where no datatype says it.
pub(super) enum Strings {
    Iri,
    Literal,
    Tagged(String),
    Uncovered(&'static str),
}

/// Values that JSON-LD takes somewhere. For any other it refuses the document, so they are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Anything,
    /// In maps by language: strings, or an array of them.
    Strings,
    /// In such an array.
    OneString,
    /// In maps by id, type or a property, and under a reverse property: nodes, or arrays of them.
    Nodes,
}

impl Shape {
    pub fn new(active: Active, rules: Rules) -> Rc<Self> {
        Rc::new(Self { active, rules, terms: RefCell::default(), outer: None })
    }

    /// Forgets what was looked up. Contexts that lead to each other would keep each other for good.
    pub fn forget(&self) {
        let terms = self.terms.take();
        for term in terms.values() {
            if let Term::Mapped(mapped) = &**term {
                mapped.below.forget();
            }
        }
    }

    pub fn active(&self) -> &Active {
        &self.active
    }

    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// What the member `name` is, which is not like a keyword.
    pub fn term(self: &Rc<Self>, name: &str) -> Result<Rc<Term>, ReferenceError> {
        if let Some(known) = self.terms.borrow().get(name) {
            return Ok(known.clone());
        }
        let definition = self.active.get(name);
        let term = Rc::new(match definition {
            Some(definition) => self.defined(definition)?,
            None => self.by_vocabulary(name),
        });
        let mut terms = self.terms.borrow_mut();
        if definition.is_some() || terms.len() < MAX_TERMS {
            terms.insert(name.to_owned(), term.clone());
        }
        Ok(term)
    }

    /// What holds below a term without a context of its own.
    fn below(self: &Rc<Self>) -> Rc<Self> {
        self.outer.as_ref().unwrap_or(self).clone()
    }

    /// What holds below a term with a context of its own.
    fn scoped(self: &Rc<Self>, context: &json_ld::syntax::context::Context) -> Result<Rc<Self>, ReferenceError> {
        // A context that does not propagate ends here: JSON-LD reverts before it applies another.
        let options = json_ld::context_processing::Options::default().with_override();
        let active = process_with(context, &self.below().active, options)?;
        let outer = active.previous_context().is_some().then(|| self.clone());
        Ok(Rc::new(Self { active, rules: self.rules, terms: RefCell::default(), outer }))
    }

    fn by_vocabulary(self: &Rc<Self>, name: &str) -> Term {
        let property = match self.active.vocabulary() {
            Some(json_ld::Term::Id(Id::Valid(ValidId::Iri(vocabulary)))) if !name.contains(':') => {
                NamedNode::new(format!("{vocabulary}{name}")).ok()
            }
            _ => None,
        };
        if property.is_none() && !(self.rules.iri_members && name.contains(':')) {
            return Term::Unmapped;
        }
        Term::Mapped(Rc::new(MappedTerm {
            below: self.below(),
            uncovered: self.uncovered().or_else(|| property.is_none().then_some("a member that is an IRI")),
            property,
            list: false,
            strings: self.strings(None),
            iris: false,
            datatype: None,
            keyed: None,
            iri_keys: false,
            takes: Takes::Anything,
        }))
    }

    fn defined(
        self: &Rc<Self>,
        definition: TermDefinitionRef<'_, json_ld::IriBuf, json_ld::BlankIdBuf>,
    ) -> Result<Term, ReferenceError> {
        let property = match definition.value() {
            Some(json_ld::Term::Id(Id::Valid(ValidId::Iri(iri)))) => NamedNode::new(iri.as_str()).ok(),
            Some(json_ld::Term::Id(_) | json_ld::Term::Keyword(_)) => None,
            Some(json_ld::Term::Null) | None => return Ok(Term::Unmapped),
        };
        let container = definition.container();
        let reverse = definition.reverse_property();
        if matches!(definition.typ(), Some(Type::Json)) {
            let plain = matches!(container, Container::None | Container::Set) && !reverse;
            return Ok(Term::Json(property.filter(|_| plain)));
        }
        let (keyed, iri_keys) = keys(container, definition.index().is_some());
        // A map by id or type would make IRIs of the log's member names, and types choose contexts.
        if iri_keys && !self.rules.iri_members {
            return Ok(Term::Unmapped);
        }
        let below = match definition.context() {
            Some(context) => self.scoped(context)?,
            None => self.below(),
        };
        let (strings, datatype) = match definition.typ() {
            Some(Type::Id) => (Strings::Iri, None),
            Some(Type::Vocab) => (Strings::Uncovered("@type: @vocab"), None),
            Some(Type::Iri(iri)) => (Strings::Literal, Some(NamedNode::new_unchecked(iri.as_str()))),
            Some(Type::Json | Type::None) | None => (self.strings(definition.language()), None),
        };
        let single = matches!(container, Container::None | Container::Set | Container::List);
        let uncovered = self.uncovered().or_else(|| {
            if property.is_none() || !single {
                Some("@container")
            } else if reverse || definition.nest().is_some() || definition.direction().is_some() {
                Some("@reverse, @nest or @direction")
            } else if datatype.as_ref().is_some_and(|datatype| NamedNode::new(datatype.as_str()).is_err()) {
                Some("a datatype that is not an IRI")
            } else {
                None
            }
        });
        Ok(Term::Mapped(Rc::new(MappedTerm {
            below,
            property,
            list: container == Container::List,
            strings,
            iris: matches!(definition.typ(), Some(Type::Id | Type::Vocab)),
            datatype,
            keyed,
            iri_keys,
            takes: if reverse { Takes::Nodes } else { Takes::Anything },
            uncovered,
        })))
    }

    /// Why no mapped term of the context is covered, if so.
    fn uncovered(&self) -> Option<&'static str> {
        self.active.default_base_direction().is_some().then_some("@direction")
    }

    /// What strings become under a term with that language.
    fn strings(&self, language: Option<Nullable<&json_ld::LenientLangTagBuf>>) -> Strings {
        let language = match language {
            Some(Nullable::Some(language)) => Some(language.as_str()),
            Some(Nullable::Null) => None,
            None => self.active.default_language().map(|language| language.as_str()),
        };
        // Checked and put in lower case as the reference path does.
        match language.map(|language| Literal::new_language_tagged_literal("", language)) {
            None => Strings::Literal,
            Some(Ok(literal)) => Strings::Tagged(literal.language().unwrap_or_default().to_owned()),
            Some(Err(_)) => Strings::Uncovered("a language that is not valid"),
        }
    }
}

/// What a map's values are, if the container is one, and whether its keys stand for IRIs.
fn keys(container: Container, by_property: bool) -> (Option<Takes>, bool) {
    match container {
        Container::None | Container::List | Container::Set | Container::Graph | Container::GraphSet => (None, false),
        Container::Language | Container::LanguageSet => (Some(Takes::Strings), false),
        Container::Id | Container::IdSet | Container::Type | Container::SetType => (Some(Takes::Nodes), true),
        Container::GraphId | Container::GraphIdSet => (Some(Takes::Anything), true),
        Container::Index | Container::IndexSet if by_property => (Some(Takes::Nodes), false),
        Container::Index | Container::IndexSet | Container::GraphIndex | Container::GraphIndexSet => {
            (Some(Takes::Anything), false)
        }
    }
}

impl Term {
    /// Whether values are JSON literals under the property.
    pub fn is_json(&self, property: NamedNodeRef<'_>) -> bool {
        matches!(self, Self::Json(Some(own)) if own.as_ref() == property)
    }

    /// Whether values are literals of a type, one by one, under the property.
    pub fn is_typed(&self, property: NamedNodeRef<'_>, datatype: NamedNodeRef<'_>) -> bool {
        self.stands_for(property)
            .and_then(|mapped| mapped.datatype.as_ref())
            .is_some_and(|own| own.as_ref() == datatype)
    }

    /// What is below, where objects are nodes under the property, one by one, and strings stand for such.
    pub fn leads_to_nodes(&self, property: NamedNodeRef<'_>) -> Option<&Rc<Shape>> {
        self.stands_for(property).filter(|mapped| matches!(mapped.strings, Strings::Iri)).map(|mapped| &mapped.below)
    }

    fn stands_for(&self, property: NamedNodeRef<'_>) -> Option<&MappedTerm> {
        match self {
            Self::Mapped(mapped) if mapped.uncovered.is_none() && !mapped.list => {
                mapped.property.as_ref().filter(|own| own.as_ref() == property).map(|_| &**mapped)
            }
            _ => None,
        }
    }
}

impl MappedTerm {
    /// What a number is below it; nothing where a double cannot hold it.
    pub fn number(&self, spelling: &str) -> Option<NumberLiteral> {
        let double = self.datatype.as_ref().is_some_and(|datatype| datatype.as_ref() == xsd::DOUBLE);
        NumberLiteral::new(spelling, self.below.rules.numbers, double)
    }
}
