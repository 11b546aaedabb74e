//! The meaning of an object's members under a context, at every depth: terms, each compiled on first use.
//!
//! JSON-LD interprets what it finds in a document: `@id`, `@context` and the like, and members that look like IRIs. A
//! log is not a document of ours. So its members are looked up here before JSON-LD sees them, and members that JSON-LD
//! must not interpret are removed. Under a term of type `@json`, everything is data and is kept.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use json_ld::context::TermDefinitionRef;
use json_ld::syntax::Keyword;
use json_ld::{Container, Id, Nullable, Type, ValidId};
use oxrdf::{Literal, NamedNode, NamedNodeRef};

use super::number::NumberLiteral;
use super::reference::{ActiveContext, ReferenceError, process_with};
use crate::json::Numbers;
use crate::vocab::{PREFIXES, rdf};

/// The maximum number of cached names that the context does not define: a log may hold any number.
const MAX_TERMS: usize = 4_096;

/// The rules of a mapping under any context.
#[derive(Debug, Clone, Copy)]
pub(super) struct MappingRules {
    pub numbers: Numbers,
    /// True if a member that looks like an IRI is a property, as JSON-LD specifies. Otherwise it is data.
    pub iri_members: bool,
}

/// An active context, with a cache of its terms.
pub(super) struct Shape {
    active: ActiveContext,
    rules: MappingRules,
    terms: RefCell<HashMap<String, Rc<MemberMeaning>>>,
    /// The shape that applies below, if this context does not propagate.
    outer: Option<Rc<Shape>>,
}

/// The meaning of a member under a context.
pub(super) enum MemberMeaning {
    /// Data that no context maps.
    Unmapped,
    /// A map by `@id` or `@type`, whose keys would become IRIs: data, where members do not name properties.
    KeyedByIri,
    /// An alias of `@id` or `@type`, for nodes in payloads: data of a message itself.
    Alias(NodeKeyword),
    /// A JSON literal, with the property if it can be written without the term.
    Json(Option<NamedNode>),
    /// A property of a node, or values.
    Mapped(Rc<MappedTerm>),
}

/// A keyword that identifies or types a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeKeyword {
    Id,
    Type,
}

/// The rules for values below a mapped member.
pub(super) struct MappedTerm {
    /// The shape of the members below.
    pub below: Rc<Shape>,
    /// The property, if there is one.
    pub property: Option<NamedNode>,
    /// True if the values are one list.
    pub list: bool,
    pub strings: Strings,
    /// True if strings stand for IRIs (`@type`: `@id` or `@vocab`).
    pub iris: bool,
    /// The datatype of values (`@type`: an IRI).
    pub datatype: Option<NamedNode>,
    /// The values that the map takes, if the object below is a map (`@container`: `@index`, `@language`, `@id`,
    /// `@type`): its keys are then not members.
    pub keyed: Option<AcceptedValues>,
    /// True if the keys of the map stand for IRIs (`@id`, `@type`).
    pub iri_keys: bool,
    /// The values that JSON-LD takes here.
    pub takes: AcceptedValues,
    /// The reason why only the reference path can produce its triples, if so.
    pub uncovered: Option<&'static str>,
}

/// The form of a string without a datatype.
pub(super) enum Strings {
    Iri,
    Literal,
    Tagged(String),
    Uncovered(&'static str),
}

/// The values that JSON-LD takes at a place. It refuses a document with any other value, so those are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AcceptedValues {
    Anything,
    /// In maps by language: strings, or arrays of strings.
    Strings,
    /// In an array within a map by language.
    OneString,
    /// In maps by id, type or property, and under a reverse property: nodes, or arrays of nodes.
    Nodes,
}

impl Shape {
    pub fn new(active: ActiveContext, rules: MappingRules) -> Rc<Self> {
        Rc::new(Self { active, rules, terms: RefCell::default(), outer: None })
    }

    /// Clears the cache of terms. Contexts that refer to each other would otherwise never be freed.
    pub fn forget(&self) {
        let terms = self.terms.take();
        for term in terms.values() {
            if let MemberMeaning::Mapped(mapped) = &**term {
                mapped.below.forget();
            }
        }
    }

    pub fn active(&self) -> &ActiveContext {
        &self.active
    }

    pub fn rules(&self) -> MappingRules {
        self.rules
    }

    /// Returns the meaning of the member `name`, which does not look like a keyword.
    pub fn term(self: &Rc<Self>, name: &str) -> Result<Rc<MemberMeaning>, ReferenceError> {
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

    /// Returns the IRI that identifies or types a node of a payload: not an IRI of the log's own nodes, or of a term of
    /// the vocabularies, which only the mapping states.
    pub fn node_iri(&self, keyword: NodeKeyword, text: &str) -> Option<String> {
        let active = &self.active;
        let iri = |term: &json_ld::Term<json_ld::IriBuf, json_ld::BlankIdBuf>| match term {
            json_ld::Term::Id(Id::Valid(ValidId::Iri(iri))) => Some(iri.as_str().to_owned()),
            _ => None,
        };
        let base = active.base_iri().map(|base| base.as_str().split('#').next().unwrap_or_default());
        let whole = match (text.split_once(':'), keyword) {
            (Some((prefix, local)), _) => match active.get(prefix).filter(|_| !local.starts_with("//")) {
                Some(term) => format!("{}{local}", iri(term.value()?)?),
                None => text.to_owned(),
            },
            (None, NodeKeyword::Id) => oxiri::Iri::parse(base?).ok()?.resolve(text).ok()?.into_inner(),
            (None, NodeKeyword::Type) => match active.get(text) {
                // The context of a class would apply to the node's other members.
                Some(class) => iri(class.value()?).filter(|_| class.context().is_none())?,
                None => format!("{}{text}", iri(active.vocabulary()?)?),
            },
        };
        let is_own = base
            .is_some_and(|base| whole.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('#')));
        let is_term = PREFIXES.iter().any(|(_, namespace)| whole.starts_with(namespace));
        (!is_own && !is_term && oxiri::Iri::parse(whole.as_str()).is_ok()).then_some(whole)
    }

    /// Returns the shape below a term without a context of its own.
    fn below(self: &Rc<Self>) -> Rc<Self> {
        self.outer.as_ref().unwrap_or(self).clone()
    }

    /// Returns the shape below a term with a context of its own.
    fn scoped(self: &Rc<Self>, context: &json_ld::syntax::context::Context) -> Result<Rc<Self>, ReferenceError> {
        // A context that does not propagate ends here: JSON-LD reverts before it applies another.
        let options = json_ld::context_processing::Options::default().with_override();
        let active = process_with(context, &self.below().active, options)?;
        let outer = active.previous_context().is_some().then(|| self.clone());
        Ok(Rc::new(Self { active, rules: self.rules, terms: RefCell::default(), outer }))
    }

    fn by_vocabulary(self: &Rc<Self>, name: &str) -> MemberMeaning {
        let property = match self.active.vocabulary() {
            Some(json_ld::Term::Id(Id::Valid(ValidId::Iri(vocabulary)))) if !name.contains(':') => {
                NamedNode::new(format!("{vocabulary}{name}")).ok()
            }
            _ => None,
        };
        if property.is_none() && !(self.rules.iri_members && name.contains(':')) {
            return MemberMeaning::Unmapped;
        }
        MemberMeaning::Mapped(Rc::new(MappedTerm {
            below: self.below(),
            uncovered: self.uncovered().or_else(|| property.is_none().then_some("a member that is an IRI")),
            property,
            list: false,
            strings: self.strings(None),
            iris: false,
            datatype: None,
            keyed: None,
            iri_keys: false,
            takes: AcceptedValues::Anything,
        }))
    }

    fn defined(
        self: &Rc<Self>,
        definition: TermDefinitionRef<'_, json_ld::IriBuf, json_ld::BlankIdBuf>,
    ) -> Result<MemberMeaning, ReferenceError> {
        let property = match definition.value() {
            Some(json_ld::Term::Id(Id::Valid(ValidId::Iri(iri)))) => NamedNode::new(iri.as_str()).ok(),
            Some(json_ld::Term::Keyword(Keyword::Id)) => return Ok(MemberMeaning::Alias(NodeKeyword::Id)),
            Some(json_ld::Term::Keyword(Keyword::Type)) => return Ok(MemberMeaning::Alias(NodeKeyword::Type)),
            Some(json_ld::Term::Id(_) | json_ld::Term::Keyword(_)) => None,
            Some(json_ld::Term::Null) | None => return Ok(MemberMeaning::Unmapped),
        };
        let container = definition.container();
        let reverse = definition.reverse_property();
        if matches!(definition.typ(), Some(Type::Json)) {
            let plain = matches!(container, Container::None | Container::Set) && !reverse;
            return Ok(MemberMeaning::Json(property.filter(|_| plain)));
        }
        let (keyed, iri_keys) = keys(container, definition.index().is_some());
        // A map by id or type would turn the log's member names into IRIs, and types would choose contexts.
        if iri_keys && !self.rules.iri_members {
            return Ok(MemberMeaning::KeyedByIri);
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
            } else if datatype.as_ref().is_some_and(|datatype| datatype.as_ref() == rdf::JSON) {
                // Columns know JSON of this mapping to be canonical, and a string of that type need not even be JSON.
                Some("strings of the type rdf:JSON")
            } else {
                None
            }
        });
        Ok(MemberMeaning::Mapped(Rc::new(MappedTerm {
            below,
            property,
            list: container == Container::List,
            strings,
            iris: matches!(definition.typ(), Some(Type::Id | Type::Vocab)),
            datatype,
            keyed,
            iri_keys,
            takes: if reverse { AcceptedValues::Nodes } else { AcceptedValues::Anything },
            uncovered,
        })))
    }

    /// Returns the reason why no mapped term of the context is covered, if so.
    fn uncovered(&self) -> Option<&'static str> {
        self.active.default_base_direction().is_some().then_some("@direction")
    }

    /// Returns the form of strings under a term with that language.
    fn strings(&self, language: Option<Nullable<&json_ld::LenientLangTagBuf>>) -> Strings {
        let language = match language {
            Some(Nullable::Some(language)) => Some(language.as_str()),
            Some(Nullable::Null) => None,
            None => self.active.default_language().map(|language| language.as_str()),
        };
        // Validated and lower-cased as on the reference path.
        match language.map(|language| Literal::new_language_tagged_literal("", language)) {
            None => Strings::Literal,
            Some(Ok(literal)) => Strings::Tagged(literal.language().unwrap_or_default().to_owned()),
            Some(Err(_)) => Strings::Uncovered("a language that is not valid"),
        }
    }
}

/// Returns the values of a map, if the container is one, and true if its keys stand for IRIs.
fn keys(container: Container, by_property: bool) -> (Option<AcceptedValues>, bool) {
    match container {
        Container::None | Container::List | Container::Set | Container::Graph | Container::GraphSet => (None, false),
        Container::Language | Container::LanguageSet => (Some(AcceptedValues::Strings), false),
        Container::Id | Container::IdSet | Container::Type | Container::SetType => (Some(AcceptedValues::Nodes), true),
        Container::GraphId | Container::GraphIdSet => (Some(AcceptedValues::Anything), true),
        Container::Index | Container::IndexSet if by_property => (Some(AcceptedValues::Nodes), false),
        Container::Index | Container::IndexSet | Container::GraphIndex | Container::GraphIndexSet => {
            (Some(AcceptedValues::Anything), false)
        }
    }
}

impl MemberMeaning {
    /// Returns true if values are JSON literals under the property.
    pub fn is_json(&self, property: NamedNodeRef<'_>) -> bool {
        matches!(self, Self::Json(Some(own)) if own.as_ref() == property)
    }

    /// Returns true if values are single literals of the datatype under the property.
    pub fn is_typed(&self, property: NamedNodeRef<'_>, datatype: NamedNodeRef<'_>) -> bool {
        self.stands_for(property)
            .and_then(|mapped| mapped.datatype.as_ref())
            .is_some_and(|own| own.as_ref() == datatype)
    }

    /// Returns the shape below, if objects are single nodes under the property, and strings stand for nodes.
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
    /// Creates the rules for references to nodes under a property.
    pub fn node(shape: &Rc<Shape>, property: NamedNodeRef<'_>) -> Self {
        Self {
            below: shape.below(),
            property: Some(property.into_owned()),
            list: false,
            strings: Strings::Iri,
            iris: true,
            datatype: None,
            keyed: None,
            iri_keys: false,
            takes: AcceptedValues::Anything,
            uncovered: None,
        }
    }

    /// Returns the literal of a number below the member; `None` if it is beyond the range of a double.
    pub fn number(&self, spelling: &str) -> Option<NumberLiteral> {
        NumberLiteral::new(spelling, self.below.rules.numbers, self.datatype.as_ref().map(NamedNode::as_ref))
    }
}
