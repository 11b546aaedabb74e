//! What of a document JSON-LD expansion leaves out: the members that no context maps, nulls, and the like.
//!
//! This is the walk of the [Expansion Algorithm](https://www.w3.org/TR/json-ld11-api/#expansion-algorithm), with the
//! same contexts at each step, but instead of the result it gives the places that contribute nothing.

use json_ld::syntax::Parse as _;
use json_ld::{Container, Term, Type};

use super::pretty::pretty;
use crate::json::{self, Numbers, Object, Text, Value};
use crate::mapping::{Active, NumberLiteral, process_with};

/// A place in a document that the graph has nothing, or something else, of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lost {
    /// JSON Pointer.
    pub pointer: String,
    /// Why.
    pub why: Why,
}

/// Why a part of a document is not in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// A member that no context maps.
    Unmapped,
    /// A null, which stands for nothing.
    Null,
    /// An empty array, which stands for nothing.
    EmptyArray,
    /// A member named like a keyword that JSON-LD does not have.
    KeywordLike,
    /// A value that is the object of no triple.
    FreeValue,
    /// A key of an index, which RDF does not have.
    Index,
    /// A number that is another one in the graph.
    NumberChanged,
    /// A number beyond a double.
    NumberOutOfRange,
}

impl Why {
    /// What messages say of the place.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Unmapped => "no context maps it",
            Self::Null => "a null stands for nothing in JSON-LD",
            Self::EmptyArray => "an empty array stands for nothing, unless its term is a list",
            Self::KeywordLike => "its name is like a keyword's, which JSON-LD ignores",
            Self::FreeValue => "a value that is no member of a node is the object of no triple",
            Self::Index => "the keys of an index are not in the graph",
            Self::NumberChanged => "the number in the graph is another one, the nearest that a double holds",
            Self::NumberOutOfRange => "the number is beyond the range of a double",
        }
    }
}

/// The keywords that may be members of a document.
const KEYWORDS: &[&str] = &[
    "@context",
    "@direction",
    "@graph",
    "@id",
    "@included",
    "@index",
    "@json",
    "@language",
    "@list",
    "@nest",
    "@none",
    "@reverse",
    "@set",
    "@type",
    "@value",
];

/// Goes through a document, an object or an array, under a context, which is a JSON text with all that is remote in
/// place, the document's own included. Fails where a context is none that JSON-LD allows, which expansion would have
/// said before.
pub fn lost(document: &Value<'_>, context: &str, base: Option<&str>) -> Result<Vec<Lost>, String> {
    let base = base.map(|base| json_ld::IriBuf::new(base.to_owned())).transpose().map_err(|error| error.to_string())?;
    let active = local(context, &Active::new(base), json_ld::context_processing::Options::default())?;
    let mut walk = Walk { lost: Vec::new() };
    let items = match document {
        Value::Array(array) => array.items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let several = matches!(document, Value::Array(_));
    for (index, item) in items.iter().enumerate() {
        let at = if several { format!("/{index}") } else { String::new() };
        match item {
            Value::Object(object) if !several => {
                let own = object.members.iter().filter(|(name, _)| name.as_str() != Some("@context")).cloned();
                walk.object(&Object::from_members(own.collect()), None, &active, false, &at)?;
            }
            other => walk.element(other, None, &active, false, &at)?,
        }
    }
    walk.lost.sort();
    walk.lost.dedup();
    Ok(walk.lost)
}

fn local(text: &str, active: &Active, options: json_ld::context_processing::Options) -> Result<Active, String> {
    let (value, _) = json_ld::syntax::Value::parse_str(text).map_err(|error| error.to_string())?;
    let context = <json_ld::syntax::context::Context as json_ld::syntax::TryFromJson>::try_from_json(value)
        .map_err(|error| error.to_string())?;
    apply(&context, active, options)
}

fn apply(
    context: &json_ld::syntax::context::Context,
    active: &Active,
    options: json_ld::context_processing::Options,
) -> Result<Active, String> {
    process_with(context, active, options).map_err(|error| error.to_string())
}

struct Walk {
    lost: Vec<Lost>,
}

/// What a member's name expands to.
enum Name {
    Keyword(&'static str),
    Property,
    KeywordLike,
    Unmapped,
}

fn expand(name: &str, active: &Active) -> Name {
    let keyword = |text: &str| KEYWORDS.iter().find(|keyword| **keyword == text).map(|keyword| Name::Keyword(keyword));
    if let Some(keyword) = keyword(name) {
        return keyword;
    }
    if crate::message::is_keyword_like(name) {
        return Name::KeywordLike;
    }
    if let Some(definition) = active.get(name) {
        return match definition.value() {
            Some(Term::Keyword(target)) => keyword(target.into_str()).unwrap_or(Name::KeywordLike),
            Some(Term::Id(_)) => Name::Property,
            Some(Term::Null) | None => Name::Unmapped,
        };
    }
    // Behind a prefix, or as it is, it may be an IRI; if it is none, the conversion to RDF counts it.
    let is_iri = name.split_once(':').is_some_and(|(prefix, _)| !prefix.is_empty());
    if is_iri || active.vocabulary().is_some_and(|vocabulary| matches!(vocabulary, Term::Id(_))) {
        Name::Property
    } else {
        Name::Unmapped
    }
}

fn strings<'v>(value: &'v Value<'_>) -> Vec<&'v str> {
    let items = match value {
        Value::Array(array) => array.items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let text = |item: &'v Value<'_>| match item {
        Value::String(text) => text.as_str(),
        _ => None,
    };
    let mut strings: Vec<_> = items.iter().filter_map(text).collect();
    strings.sort_unstable();
    strings
}

fn below(at: &str, name: &Text<'_>) -> String {
    let name = name.to_cow().unwrap_or_else(|| "\u{FFFD}".into());
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

impl Walk {
    fn add(&mut self, pointer: &str, why: Why) {
        self.lost.push(Lost { pointer: pointer.to_owned(), why });
    }

    /// A value under a property, or at the top where there is none.
    fn element(
        &mut self,
        value: &Value<'_>,
        property: Option<&str>,
        active: &Active,
        from_map: bool,
        at: &str,
    ) -> Result<(), String> {
        match value {
            Value::Null => self.add(at, Why::Null),
            Value::Array(array) => {
                let term = property.and_then(|property| active.get(property));
                let is_list = term.is_some_and(|term| term.container() == Container::List);
                if array.items.is_empty() && !is_list {
                    self.add(at, Why::EmptyArray);
                }
                for (index, item) in array.items.iter().enumerate() {
                    self.element(item, property, active, from_map, &format!("{at}/{index}"))?;
                }
            }
            Value::Object(object) => self.object(object, property, active, from_map, at)?,
            Value::String(_) | Value::Number(_) | Value::Bool(_) if property.is_none() => self.add(at, Why::FreeValue),
            Value::Number(number) => {
                let double = property.and_then(|property| active.get(property)).is_some_and(|definition| {
                    matches!(definition.typ(), Some(Type::Iri(iri)) if iri.as_str() == oxrdf::vocab::xsd::DOUBLE.as_str())
                });
                match NumberLiteral::new(number.as_str(), Numbers::Rfc8785, double) {
                    None => self.add(at, Why::NumberOutOfRange),
                    Some(literal) if literal.changed => self.add(at, Why::NumberChanged),
                    Some(_) => {}
                }
            }
            Value::String(_) | Value::Bool(_) => {}
        }
        Ok(())
    }

    fn object(
        &mut self,
        object: &Object<'_>,
        property: Option<&str>,
        outer: &Active,
        from_map: bool,
        at: &str,
    ) -> Result<(), String> {
        let options = json_ld::context_processing::Options::default();
        let members = || object.members.iter().filter_map(|(name, value)| Some((name.as_str()?, value)));
        let is = |name: &str, keyword: &str, active: &Active| matches!(expand(name, active), Name::Keyword(found) if found == keyword);
        let mut active = outer.clone();
        // A context that does not propagate ends at the next node.
        if let Some(previous) = outer.previous_context() {
            let is_value = members().any(|(name, _)| is(name, "@value", outer));
            let is_reference = object.members.len() == 1 && members().any(|(name, _)| is(name, "@id", outer));
            if !from_map && !is_value && !is_reference {
                active = previous.clone();
            }
        }
        if let Some(scoped) = property.and_then(|property| outer.get(property)).and_then(|term| term.context()) {
            active = apply(scoped, &active, options.with_override())?;
        }
        if let Some(context) = object.get("@context") {
            active = local(&pretty(context), &active, options)?;
        }
        let typed = active.clone();
        for (_, types) in members().filter(|(name, _)| is(name, "@type", &typed)) {
            for class in strings(types) {
                if let Some(scoped) = typed.get(class).and_then(|term| term.context()) {
                    active = apply(scoped, &active, options.without_propagation())?;
                }
            }
        }
        if members().any(|(name, _)| is(name, "@value", &active)) {
            return Ok(());
        }
        self.members(object, property, &active, at)
    }

    fn members(
        &mut self,
        object: &Object<'_>,
        property: Option<&str>,
        active: &Active,
        at: &str,
    ) -> Result<(), String> {
        for (name, value) in &object.members {
            let at = below(at, name);
            let Some(name) = name.as_str() else {
                self.add(&at, Why::Unmapped);
                continue;
            };
            match expand(name, active) {
                Name::Unmapped => self.add(&at, Why::Unmapped),
                Name::KeywordLike => self.add(&at, Why::KeywordLike),
                Name::Keyword("@index") => self.add(&at, Why::Index),
                Name::Keyword("@list") if matches!(value, Value::Array(list) if list.items.is_empty()) => {}
                Name::Keyword("@list" | "@set") => self.element(value, property, active, false, &at)?,
                Name::Keyword("@graph" | "@included") => self.element(value, None, active, false, &at)?,
                Name::Keyword("@nest") => {
                    let nested = match value {
                        Value::Array(array) => array.items.as_slice(),
                        one => std::slice::from_ref(one),
                    };
                    for nested in nested {
                        if let Value::Object(nested) = nested {
                            self.members(nested, property, active, &at)?;
                        }
                    }
                }
                Name::Keyword("@reverse") => {
                    if let Value::Object(reverse) = value {
                        self.members(reverse, property, active, &at)?;
                    }
                }
                Name::Keyword(_) => {}
                Name::Property => self.property(name, value, active, &at)?,
            }
        }
        Ok(())
    }

    fn property(&mut self, name: &str, value: &Value<'_>, active: &Active, at: &str) -> Result<(), String> {
        let definition = active.get(name);
        let container = definition.as_ref().map_or(Container::None, |definition| definition.container());
        if definition.as_ref().is_some_and(|definition| matches!(definition.typ(), Some(Type::Json))) {
            self.json(value, at);
            return Ok(());
        }
        let Value::Object(map) = value else { return self.element(value, Some(name), active, false, at) };
        let by_index = matches!(
            container,
            Container::Index | Container::IndexSet | Container::GraphIndex | Container::GraphIndexSet
        );
        let by_type = matches!(container, Container::Type | Container::SetType);
        let by_id = matches!(container, Container::Id | Container::IdSet | Container::GraphId | Container::GraphIdSet);
        let by_language = matches!(container, Container::Language | Container::LanguageSet);
        if !(by_index || by_type || by_id || by_language) {
            return self.element(value, Some(name), active, false, at);
        }
        let keys_are_lost = by_index && definition.as_ref().is_some_and(|definition| definition.index().is_none());
        let mut map_context = active.clone();
        if (by_type || by_id)
            && let Some(previous) = active.previous_context()
        {
            map_context = previous.clone();
        }
        for (key, item) in &map.members {
            let at = below(at, key);
            if keys_are_lost {
                self.add(&at, Why::Index);
            }
            let scoped = key.as_str().filter(|_| by_type).and_then(|class| map_context.get(class));
            let typed = match scoped.and_then(|term| term.context()) {
                Some(scoped) => {
                    let options = json_ld::context_processing::Options::default();
                    apply(scoped, &map_context, options.without_propagation())?
                }
                None => map_context.clone(),
            };
            self.element(item, Some(name), &typed, true, &at)?;
        }
        Ok(())
    }

    /// A JSON literal: all of it is there, but RFC 8785 makes doubles of its numbers.
    fn json(&mut self, value: &Value<'_>, at: &str) {
        match value {
            Value::Number(number) => match number.as_str().parse::<f64>() {
                Ok(double) if double.is_finite() => {
                    let (mut exact, mut canonical) = (String::new(), String::new());
                    let _ = json::write_canonical(value, Numbers::Exact, &mut exact);
                    let _ = json::write_canonical(value, Numbers::Rfc8785, &mut canonical);
                    if exact != canonical {
                        self.add(at, Why::NumberChanged);
                    }
                }
                _ => self.add(at, Why::NumberOutOfRange),
            },
            Value::Array(array) => {
                for (index, item) in array.items.iter().enumerate() {
                    self.json(item, &format!("{at}/{index}"));
                }
            }
            Value::Object(object) => {
                for (name, item) in &object.members {
                    self.json(item, &below(at, name));
                }
            }
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(context: &str, document: &str) -> Vec<(String, Why)> {
        let document = json::parse(document.as_bytes()).unwrap();
        let lost = lost(&document, context, Some("https://e.org/")).unwrap();
        lost.into_iter().map(|lost| (lost.pointer, lost.why)).collect()
    }

    #[test]
    fn places_are_those_that_expansion_leaves_out() {
        type Case = (&'static str, &'static str, &'static [(&'static str, Why)]);
        let cases: &[Case] = &[
            (r#"{"p": "https://e.org/p"}"#, r#"{"p": [1, {"p": 2}], "https://e.org/q": 1, "p:x": 2}"#, &[]),
            (
                r#"{"p": "https://e.org/p", "n": null}"#,
                r#"{"a": {"p": 1}, "p": {"b/~": 1}, "n": 1, "@x": 2, "c": null}"#,
                &[
                    ("/@x", Why::KeywordLike),
                    ("/a", Why::Unmapped),
                    ("/c", Why::Unmapped),
                    ("/n", Why::Unmapped),
                    ("/p/b~1~0", Why::Unmapped),
                ],
            ),
            (
                r#"{"p": "https://e.org/p", "l": {"@id": "https://e.org/l", "@container": "@list"}}"#,
                r#"[1, {"p": [], "l": []}, {"p": null, "l": [null, 1]}]"#,
                &[("/0", Why::FreeValue), ("/1/p", Why::EmptyArray), ("/2/l/0", Why::Null), ("/2/p", Why::Null)],
            ),
            (
                r#"{"T": {"@id": "https://e.org/T", "@context": {"p": "https://e.org/p"}}, "q": "https://e.org/q", "type": "@type"}"#,
                r#"{"type": "T", "p": 1, "q": [{"p": 2}, {"type": ["T"], "p": 3}]}"#,
                &[("/q/0/p", Why::Unmapped)],
            ),
            (
                r#"{"q": {"@id": "https://e.org/q", "@context": {"p": "https://e.org/p"}}}"#,
                r#"{"p": 1, "q": {"p": 2, "q": {"p": 3}}, "x": {"p": 4}}"#,
                &[("/p", Why::Unmapped), ("/x", Why::Unmapped)],
            ),
            (
                r#"{"j": {"@id": "https://e.org/j", "@type": "@json"}, "p": "https://e.org/p"}"#,
                r#"{"j": {"x": [null, 9007199254740993, {"@id": 1}]}, "p": [9007199254740993, {"@value": 9007199254740993}]}"#,
                &[("/j/x/1", Why::NumberChanged), ("/p/0", Why::NumberChanged)],
            ),
            (
                r#"{"i": {"@id": "https://e.org/i", "@container": "@index"}, "d": {"@id": "https://e.org/d", "@container": "@id"},
                    "p": "https://e.org/p"}"#,
                r#"{"i": {"a": {"p": 1, "x": 2}}, "d": {"b": {"p": 3, "x": 4}}, "p": {"@index": "k", "p": 5}}"#,
                &[
                    ("/d/b/x", Why::Unmapped),
                    ("/i/a", Why::Index),
                    ("/i/a/x", Why::Unmapped),
                    ("/p/@index", Why::Index),
                ],
            ),
            (
                r#"{"p": "https://e.org/p", "n": "@nest"}"#,
                r#"{"n": {"p": 1, "x": 2}, "@reverse": {"p": {"p": 1, "y": 1}}, "@graph": [{"p": 1, "z": 1}, 5]}"#,
                &[
                    ("/@graph/0/z", Why::Unmapped),
                    ("/@graph/1", Why::FreeValue),
                    ("/@reverse/p/y", Why::Unmapped),
                    ("/n/x", Why::Unmapped),
                ],
            ),
            (r#"{"@vocab": "https://e.org/"}"#, r#"{"a": {"b": 1}, "@c": 1}"#, &[("/@c", Why::KeywordLike)]),
        ];
        for (context, document, expected) in cases {
            let expected: Vec<_> = expected.iter().map(|(place, why)| ((*place).to_owned(), *why)).collect();
            assert_eq!(places(context, document), expected, "{document}");
        }
    }

    /// Expansion itself, without a member: if that changes nothing, the member is one that is lost.
    #[test]
    fn what_is_not_lost_is_in_the_graph() {
        for (context, document) in [
            (
                r#"{"T": {"@id": "https://e.org/T", "@context": {"p": "https://e.org/p", "l": {"@id": "https://e.org/l", "@container": "@list"}}},
                    "q": {"@id": "https://e.org/q", "@context": {"r": "https://e.org/r"}}, "type": "@type", "n": "@nest",
                    "g": {"@id": "https://e.org/g", "@container": "@language"}}"#,
                r#"{"type": "T", "p": [1, 2], "l": [], "q": {"r": 1, "p": 2, "type": "T", "q": {"r": null, "l": [1]}},
                    "r": 5, "n": {"p": 3, "x": 4}, "g": {"en": "a", "de": null}, "x": {"p": 1}, "@y": 1}"#,
            ),
            (
                r#"{"@vocab": "https://e.org/", "off": null, "on": {"@id": "https://e.org/on", "@context": {"@vocab": null, "z": "https://e.org/z"}}}"#,
                r#"{"off": 1, "a": {"b": [], "c": [[]], "off": {"d": 1}}, "on": {"a": 1, "z": 2, "on": {"z": 3}}}"#,
            ),
        ] {
            let whole: serde_json::Value = serde_json::from_str(document).unwrap();
            let lost: Vec<_> = places(context, document).into_iter().map(|(place, _)| place).collect();
            let mut pointers = Vec::new();
            members(&whole, String::new(), &mut pointers);
            assert!(pointers.len() > 10);
            let before = graph(context, &whole);
            for pointer in pointers {
                let mut without = whole.clone();
                remove(&mut without, &pointer);
                let covered = lost.iter().any(|place| {
                    pointer == *place
                        || pointer.starts_with(&format!("{place}/"))
                        // A member whose only parts are lost.
                        || place.starts_with(&format!("{pointer}/"))
                });
                let changes = graph(context, &without) != before;
                assert!(changes || covered, "{pointer} is lost, but is not among {lost:?}");
                let is_lost = lost.iter().any(|place| pointer == *place || pointer.starts_with(&format!("{place}/")));
                assert!(!(changes && is_lost), "{pointer} is among {lost:?}, but not lost");
            }
        }
    }

    fn members(value: &serde_json::Value, at: String, found: &mut Vec<String>) {
        let entries = value.as_object().into_iter().flatten();
        for (name, below) in entries.filter(|(name, _)| !name.contains("type")) {
            let at = format!("{at}/{name}");
            members(below, at.clone(), found);
            found.push(at);
        }
    }

    fn remove(value: &mut serde_json::Value, pointer: &str) {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        value.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name);
    }

    fn graph(context: &str, document: &serde_json::Value) -> Vec<String> {
        let mut document = document.clone();
        let context: serde_json::Value = serde_json::from_str(context).unwrap();
        document.as_object_mut().unwrap().insert("@context".to_owned(), context);
        let (value, _) = json_ld::syntax::Value::parse_str(&document.to_string()).unwrap();
        let remote = json_ld::RemoteDocument::new(None, None, value);
        let quads = crate::mapping::document_quads(&remote, json_ld::Options::default(), &json_ld::NoLoader).unwrap();
        let mut dataset: oxrdf::Dataset = quads.iter().collect();
        let hash_algorithm = oxrdf::dataset::CanonicalizationHashAlgorithm::Sha256;
        dataset.canonicalize(oxrdf::dataset::CanonicalizationAlgorithm::Rdfc10 { hash_algorithm });
        let mut lines: Vec<_> = dataset.iter().map(|quad| quad.to_string()).collect();
        lines.sort();
        lines
    }
}
