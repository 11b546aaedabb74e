//! The parts of a document that JSON-LD expansion leaves out: members that no context maps, nulls, and the like.
//!
//! This is the walk of the [Expansion Algorithm](https://www.w3.org/TR/json-ld11-api/#expansion-algorithm), with the
//! same contexts at each step, but it returns the places that do not contribute to the result.

use std::collections::BTreeMap;

use json_ld::context::TermDefinitionRef;
use json_ld::context_processing::Options;
use json_ld::syntax::context::Context;
use json_ld::syntax::{ErrorCode, Keyword, TryFromJson as _, is_keyword_like};
use json_ld::{BlankIdBuf, Container, IriBuf, Term, Type};
use oxrdf::NamedNodeRef;

use super::prefixes::OtherPrefixes;
use super::references::resolve;
use super::turtle::ANY_BASE;
use crate::context::{definitions, joined};
use crate::json::{self, Numbers, Object, Text, Value, pointer_token, pretty};
use crate::mapping::{ActiveContext, NumberLiteral, process_with};

/// A place in a document whose value is missing or different in the graph.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingValue {
    /// JSON Pointer.
    pub pointer: String,
    /// The reason for the loss, worded as messages about the place.
    pub why: &'static str,
}

// The reasons for losses.
const UNMAPPED: &str = "no context maps it";
pub const NULL: &str = "a null stands for nothing in JSON-LD";
const EMPTY_ARRAY: &str = "an empty array stands for nothing, unless its term is a list";
const KEYWORD_LIKE: &str = "its name is like a keyword's, which JSON-LD ignores";
const FREE_VALUE: &str = "a value outside of a node is not the object of a triple";
const INDEX: &str = "the keys of an index are not in the graph";
const NUMBER_CHANGED: &str = "the number in the graph is another one, the nearest that a double holds";
const NUMBER_OUT_OF_RANGE: &str = "the number is beyond the range of a double";

/// Walks a document, an object or an array. `context` is a JSON text with remote contexts in place, including the
/// document's own. Fails if JSON-LD does not allow a context, which expansion reports, too.
pub fn walk(document: &Value<'_>, context: &str, base: Option<&str>) -> Result<LostWalk, String> {
    let base = base.map(|base| IriBuf::new(base.to_owned())).transpose().map_err(|error| error.to_string())?;
    let active = local(context, &ActiveContext::new(base), Options::default())?;
    let mut walk = LostWalk::default();
    reverse_contexts(&serde_json::from_str(context).unwrap_or_default(), &mut walk.reverse);
    let top = LostPlace { property: None, active: &active, in_map: false, at: "" };
    match document {
        Value::Object(object) => {
            walk.object(&Object::from_members(own_members(object).collect()), top)?;
        }
        several => walk.items(one_or_several(several), top)?,
    }
    walk.lost.sort();
    walk.lost.dedup();
    Ok(walk)
}

/// Returns the term of a context that JSON-LD does not allow, without which it would allow the context.
pub fn faulty_term(context: &serde_json::Value) -> Option<String> {
    let is_allowed = |entries: &serde_json::Map<String, serde_json::Value>| {
        let text = serde_json::Value::Object(entries.clone()).to_string();
        let base = IriBuf::new(ANY_BASE.to_owned()).ok();
        local(&text, &ActiveContext::new(base), Options::default()).is_ok()
    };
    let refused = definitions(context).iter().filter_map(|definition| definition.as_object());
    refused.filter(|entries| !is_allowed(entries)).find_map(|entries| {
        let is_fault = |term: &&String| {
            let mut others = entries.clone();
            others.shift_remove(*term);
            !term.starts_with('@') && is_allowed(&others)
        };
        let term = entries.keys().find(is_fault)?;
        let inner = entries[term].get("@context").and_then(faulty_term);
        Some(inner.map_or_else(|| term.clone(), |inner| format!("{term} / {inner}")))
    })
}

/// Collects the contexts of reverse properties, by term, from a context and those within it.
fn reverse_contexts(context: &serde_json::Value, found: &mut BTreeMap<String, serde_json::Value>) {
    for (term, entry) in definitions(context).iter().filter_map(serde_json::Value::as_object).flatten() {
        let Some(scoped) = entry.get("@context") else { continue };
        if entry.get("@reverse").is_some() {
            found.insert(term.clone(), scoped.clone());
        }
        reverse_contexts(scoped, found);
    }
}

/// Returns the members of a document except its context.
pub fn own_members<'a>(object: &Object<'a>) -> impl Iterator<Item = (Text<'a>, Value<'a>)> {
    object.members.iter().filter(|(name, _)| name.as_str() != Some("@context")).cloned()
}

fn local(text: &str, active: &ActiveContext, options: Options) -> Result<ActiveContext, String> {
    let (value, _) = OtherPrefixes::parse(text, true)?;
    apply(&Context::try_from_json(value).map_err(|error| error.to_string())?, active, options)
}

fn apply(context: &Context, active: &ActiveContext, options: Options) -> Result<ActiveContext, String> {
    process_with(context, active, options).map_err(|error| error.to_string())
}

/// The findings of the walk over a document.
#[derive(Default)]
pub struct LostWalk {
    /// The places that do not contribute to the graph.
    pub lost: Vec<MissingValue>,
    /// JSON Pointers of members that JSON-LD does not allow in their places, with the error codes.
    pub faults: Vec<(ErrorCode, String)>,
    /// The IRIs of classes, by JSON Pointer, if the term for `@type` has a scoped context. JSON-LD ignores such a
    /// context; the processor of the OGC's tool applies it, and authors rely on that.
    pub types: BTreeMap<String, String>,
    /// The contexts of nodes under reverse properties, as JSON texts by JSON Pointer. The JSON-LD processor ignores a context in the
    /// definition of a reverse property, as the standard did before its
    /// [erratum](https://github.com/w3c/json-ld-api/issues/565); the processor of the OGC's tool applies it.
    pub contexts: BTreeMap<String, String>,
    /// The contexts of reverse properties, by term.
    reverse: BTreeMap<String, serde_json::Value>,
}

/// The place of a value in the document.
#[derive(Clone, Copy)]
struct LostPlace<'p> {
    /// The property of the value; `None` at the top.
    property: Option<&'p str>,
    active: &'p ActiveContext,
    /// True if the value is an entry of a map of nodes.
    in_map: bool,
    /// JSON Pointer.
    at: &'p str,
}

impl<'p> LostPlace<'p> {
    /// Returns the definition of the property.
    fn term(&self) -> Option<TermDefinitionRef<'p, IriBuf, BlankIdBuf>> {
        self.active.get(self.property?)
    }
}

/// The expansion of a member's name: `Some` for a keyword, `None` for a property, or the reason why it is ignored.
type ExpandedName = Result<Option<Keyword>, &'static str>;

fn expand(name: &str, active: &ActiveContext) -> ExpandedName {
    if let Ok(keyword) = Keyword::try_from(name) {
        return in_documents(keyword);
    }
    if is_keyword_like(name) {
        return Err(KEYWORD_LIKE);
    }
    if let Some(definition) = active.get(name) {
        return match definition.value() {
            Some(Term::Keyword(target)) => in_documents(*target),
            Some(Term::Id(_)) => Ok(None),
            Some(Term::Null) | None => Err(UNMAPPED),
        };
    }
    // With a prefix or as it is, the name may be an IRI; if it is not, the conversion to RDF counts the loss.
    let is_iri = name.split_once(':').is_some_and(|(prefix, _)| !prefix.is_empty());
    let is_in_vocabulary = || active.vocabulary().is_some_and(|vocabulary| matches!(vocabulary, Term::Id(_)));
    if is_iri || is_in_vocabulary() { Ok(None) } else { Err(UNMAPPED) }
}

/// Returns the keyword if it is allowed in documents.
fn in_documents(keyword: Keyword) -> ExpandedName {
    use Keyword::{Base, Container, Import, Prefix, Propagate, Protected, Version, Vocab};
    match keyword {
        Base | Container | Import | Prefix | Propagate | Protected | Version | Vocab => Err(KEYWORD_LIKE),
        keyword => Ok(Some(keyword)),
    }
}

fn one_or_several<'v, 'a>(value: &'v Value<'a>) -> &'v [Value<'a>] {
    match value {
        Value::Array(array) => array.items.as_slice(),
        one => std::slice::from_ref(one),
    }
}

fn strings<'v>(value: &'v Value<'_>) -> Vec<&'v str> {
    let text = |item: &'v Value<'_>| match item {
        Value::String(text) => text.as_str(),
        _ => None,
    };
    let mut strings: Vec<_> = one_or_several(value).iter().filter_map(text).collect();
    strings.sort_unstable();
    strings
}

/// Returns the JSON Pointer of a member.
fn below(at: &str, name: &Text<'_>) -> String {
    let name = name.to_cow().unwrap_or_else(|| "\u{FFFD}".into());
    format!("{at}/{}", pointer_token(&name))
}

/// Visits the values below a value, then the value itself, with their JSON Pointers. Removes the members for which `keep`
/// returns false.
pub fn change<'v>(value: &mut Value<'v>, at: &str, keep: &mut dyn FnMut(&str, &mut Value<'v>) -> bool) -> bool {
    match value {
        Value::Object(object) => {
            let mut members = std::mem::replace(object, Object::from_members(Vec::new())).members;
            members.retain_mut(|(name, value)| change(value, &below(at, name), keep));
            *object = Object::from_members(members);
        }
        Value::Array(array) => {
            for (index, item) in array.items.iter_mut().enumerate() {
                change(item, &format!("{at}/{index}"), keep);
            }
        }
        _ => {}
    }
    keep(at, value)
}

impl LostWalk {
    fn add(&mut self, pointer: &str, why: &'static str) {
        self.lost.push(MissingValue { pointer: pointer.to_owned(), why });
    }

    fn element(&mut self, value: &Value<'_>, place: LostPlace<'_>) -> Result<(), String> {
        match value {
            Value::Null => self.add(place.at, NULL),
            Value::Array(array) => {
                let is_list = place.term().is_some_and(|term| term.container() == Container::List);
                if array.items.is_empty() && !is_list {
                    self.add(place.at, EMPTY_ARRAY);
                }
                self.items(&array.items, place)?;
            }
            Value::Object(object) => self.object(object, place)?,
            _ if place.property.is_none() => self.add(place.at, FREE_VALUE),
            Value::Number(number) => {
                let datatype = place.term().and_then(|term| match term.typ() {
                    Some(Type::Iri(iri)) => Some(NamedNodeRef::new_unchecked(iri.as_str())),
                    _ => None,
                });
                match NumberLiteral::new(number.as_str(), Numbers::Rfc8785, datatype) {
                    None => self.add(place.at, NUMBER_OUT_OF_RANGE),
                    Some(literal) if literal.changed => self.add(place.at, NUMBER_CHANGED),
                    Some(_) => {}
                }
            }
            Value::String(_) | Value::Bool(_) => {}
        }
        Ok(())
    }

    fn items(&mut self, items: &[Value<'_>], place: LostPlace<'_>) -> Result<(), String> {
        for (index, item) in items.iter().enumerate() {
            self.element(item, LostPlace { at: &format!("{}/{index}", place.at), ..place })?;
        }
        Ok(())
    }

    fn object(&mut self, object: &Object<'_>, place: LostPlace<'_>) -> Result<(), String> {
        let options = Options::default();
        let members = || object.members.iter().filter_map(|(name, value)| Some((name.as_str()?, value)));
        let has =
            |keyword, active: &ActiveContext| members().any(|(name, _)| expand(name, active) == Ok(Some(keyword)));
        let outer = place.active;
        let mut active = outer.clone();
        // A context that does not propagate ends at the next node.
        if let Some(previous) = outer.previous_context() {
            let is_reference = object.members.len() == 1 && has(Keyword::Id, outer);
            if !place.in_map && !has(Keyword::Value, outer) && !is_reference {
                active = previous.clone();
            }
        }
        if let Some(scoped) = place.term().and_then(|term| term.context()) {
            active = apply(scoped, &active, options.with_override())?;
        }
        let is_reverse = place.term().is_some_and(|term| term.reverse_property());
        if let Some(scoped) = place.property.filter(|_| is_reverse).and_then(|term| self.reverse.get(term)) {
            active = local(&scoped.to_string(), &active, options.with_override())?;
            let own = object.get("@context").and_then(|own| serde_json::from_str(&pretty(own)).ok());
            self.contexts.insert(place.at.to_owned(), joined(std::iter::once(scoped).chain(&own)).to_string());
        }
        if let Some(context) = object.get("@context") {
            active = local(&pretty(context), &active, options)?;
        }
        let typed = active.clone();
        for (_, types) in members().filter(|(name, _)| expand(name, &typed) == Ok(Some(Keyword::Type))) {
            for class in strings(types) {
                if let Some(scoped) = typed.get(class).and_then(|term| term.context()) {
                    active = apply(scoped, &active, options.without_propagation())?;
                }
            }
        }
        if has(Keyword::Value, &active) {
            return Ok(());
        }
        self.members(object, LostPlace { active: &active, in_map: false, ..place }, &mut Vec::new())
    }

    /// `known` holds the keywords that the node has already.
    fn members(&mut self, object: &Object<'_>, place: LostPlace<'_>, known: &mut Vec<Keyword>) -> Result<(), String> {
        for (name, value) in &object.members {
            let at = &below(place.at, name);
            let place = LostPlace { at, ..place };
            let Some(name) = name.as_str() else {
                self.add(at, UNMAPPED);
                continue;
            };
            match expand(name, place.active) {
                Err(why) => self.add(at, why),
                Ok(Some(keyword)) => {
                    if known.contains(&keyword) {
                        self.faults.push((ErrorCode::CollidingKeywords, at.clone()));
                    }
                    // The other keywords may occur several times.
                    known.extend(
                        Some(keyword).filter(|_| matches!(keyword, Keyword::Id | Keyword::Graph | Keyword::Index)),
                    );
                    if let (Keyword::Type, Some(scoped)) =
                        (keyword, place.active.get(name).and_then(|term| term.context()))
                    {
                        self.scoped_type(value, at, &apply(scoped, place.active, Options::default().with_override())?);
                    }
                    self.keyword(keyword, value, place, known)?;
                }
                Ok(None) => self.property(name, value, place)?,
            }
        }
        Ok(())
    }

    /// Resolves the classes of a node against a context.
    fn scoped_type(&mut self, classes: &Value<'_>, at: &str, active: &ActiveContext) {
        for (index, class) in one_or_several(classes).iter().enumerate() {
            let Some(class) = strings(class).first().copied().filter(|class| !class.contains(':')) else { continue };
            let iri = match (active.get(class).map(|term| term.value()), active.vocabulary(), active.base_iri()) {
                (Some(Some(Term::Id(id))), _, _) => Some(id.to_string()),
                (None, Some(Term::Id(vocabulary)), _) => Some(format!("{vocabulary}{class}")),
                (None, None, Some(base)) => resolve(Some(base.as_str()), class),
                _ => None,
            };
            let at = if matches!(classes, Value::Array(_)) { format!("{at}/{index}") } else { at.to_owned() };
            self.types.extend(iri.map(|iri| (at, iri)));
        }
    }

    fn keyword(
        &mut self,
        keyword: Keyword,
        value: &Value<'_>,
        place: LostPlace<'_>,
        known: &mut Vec<Keyword>,
    ) -> Result<(), String> {
        let is_text = |value: &Value<'_>| matches!(value, Value::String(_));
        let is_object = |value: &Value<'_>| matches!(value, Value::Object(_));
        let (is_right, code) = match keyword {
            Keyword::Id => (is_text(value), ErrorCode::InvalidIdValue),
            Keyword::Index => (is_text(value), ErrorCode::InvalidIndexValue),
            Keyword::Type => (one_or_several(value).iter().all(is_text), ErrorCode::InvalidTypeValue),
            Keyword::Reverse => (is_object(value), ErrorCode::InvalidReverseValue),
            Keyword::Nest => (one_or_several(value).iter().all(is_object), ErrorCode::InvalidNestValue),
            _ => (true, ErrorCode::CollidingKeywords),
        };
        if !is_right {
            self.faults.push((code, place.at.to_owned()));
        }
        match (keyword, value) {
            (Keyword::Index, _) => self.add(place.at, INDEX),
            (Keyword::List, Value::Array(list)) if list.items.is_empty() => {}
            (Keyword::List | Keyword::Set, _) => self.element(value, place)?,
            (Keyword::Graph | Keyword::Included, _) => self.element(value, LostPlace { property: None, ..place })?,
            (Keyword::Nest | Keyword::Reverse, _) => {
                for nested in one_or_several(value) {
                    if let Value::Object(nested) = nested {
                        let mut own = Vec::new();
                        self.members(nested, place, if keyword == Keyword::Nest { &mut *known } else { &mut own })?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn property(&mut self, name: &str, value: &Value<'_>, outer: LostPlace<'_>) -> Result<(), String> {
        let place = LostPlace { property: Some(name), ..outer };
        let Some(term) = place.term() else { return self.element(value, place) };
        if matches!(term.typ(), Some(Type::Json)) {
            self.json(value, place.at);
            return Ok(());
        }
        let Value::Object(map) = value else { return self.element(value, place) };
        let (keys_are_lost, by_type, by_id) = match term.container() {
            Container::Index | Container::IndexSet | Container::GraphIndex | Container::GraphIndexSet => {
                (term.index().is_none(), false, false)
            }
            Container::Type | Container::SetType => (false, true, false),
            Container::Id | Container::IdSet | Container::GraphId | Container::GraphIdSet => (false, false, true),
            Container::Language | Container::LanguageSet => (false, false, false),
            _ => return self.element(value, place),
        };
        let previous = place.active.previous_context().filter(|_| by_type || by_id);
        let map_context = previous.unwrap_or(place.active);
        for (key, item) in &map.members {
            let at = &below(place.at, key);
            if keys_are_lost {
                self.add(at, INDEX);
            }
            let class = key.as_str().filter(|_| by_type).and_then(|class| map_context.get(class));
            let typed = match class.and_then(|class| class.context()) {
                Some(scoped) => &apply(scoped, map_context, Options::default().without_propagation())?,
                None => map_context,
            };
            self.element(item, LostPlace { active: typed, in_map: true, at, ..place })?;
        }
        Ok(())
    }

    /// Finds the losses in a JSON literal: all its values are in the graph, but RFC 8785 turns its numbers into
    /// doubles.
    fn json(&mut self, value: &Value<'_>, at: &str) {
        change(&mut value.clone(), at, &mut |at, value| {
            let mut text = String::new();
            let is_number = matches!(value, Value::Number(_));
            if is_number && json::write_canonical(value, Numbers::Rfc8785, &mut text).is_err() {
                self.add(at, NUMBER_OUT_OF_RANGE);
            } else if is_number
                && json::write_canonical(value, Numbers::Exact, &mut text).is_ok_and(|text| !text.interoperable)
            {
                self.add(at, NUMBER_CHANGED);
            }
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use json_ld::syntax::Parse as _;

    use super::*;

    fn places(context: &str, document: &str) -> Vec<(String, &'static str)> {
        let document = json::parse(document.as_bytes()).unwrap();
        let lost = walk(&document, context, Some("https://e.org/")).unwrap().lost;
        lost.into_iter().map(|lost| (lost.pointer, lost.why)).collect()
    }

    #[test]
    fn places_are_those_that_expansion_leaves_out() {
        type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)]);
        let cases: &[Case] = &[
            (r#"{"p": "https://e.org/p"}"#, r#"{"p": [1, {"p": 2}], "https://e.org/q": 1, "p:x": 2}"#, &[]),
            (
                r#"{"p": "https://e.org/p", "n": null}"#,
                r#"{"a": {"p": 1}, "p": {"b/~": 1}, "n": 1, "@x": 2, "c": null}"#,
                &[("/@x", KEYWORD_LIKE), ("/a", UNMAPPED), ("/c", UNMAPPED), ("/n", UNMAPPED), ("/p/b~1~0", UNMAPPED)],
            ),
            (
                r#"{"p": "https://e.org/p", "l": {"@id": "https://e.org/l", "@container": "@list"}}"#,
                r#"[1, {"p": [], "l": []}, {"p": null, "l": [null, 1]}]"#,
                &[("/0", FREE_VALUE), ("/1/p", EMPTY_ARRAY), ("/2/l/0", NULL), ("/2/p", NULL)],
            ),
            (
                r#"{"T": {"@id": "https://e.org/T", "@context": {"p": "https://e.org/p"}}, "q": "https://e.org/q", "type": "@type"}"#,
                r#"{"type": "T", "p": 1, "q": [{"p": 2}, {"type": ["T"], "p": 3}]}"#,
                &[("/q/0/p", UNMAPPED)],
            ),
            (
                r#"{"q": {"@id": "https://e.org/q", "@context": {"p": "https://e.org/p"}}}"#,
                r#"{"p": 1, "q": {"p": 2, "q": {"p": 3}}, "x": {"p": 4}}"#,
                &[("/p", UNMAPPED), ("/x", UNMAPPED)],
            ),
            (
                r#"{"j": {"@id": "https://e.org/j", "@type": "@json"}, "p": "https://e.org/p"}"#,
                r#"{"j": {"x": [null, 9007199254740993, {"@id": 1}]}, "p": [9007199254740993, {"@value": 9007199254740993}]}"#,
                &[("/j/x/1", NUMBER_CHANGED), ("/p/0", NUMBER_CHANGED)],
            ),
            (
                r#"{"i": {"@id": "https://e.org/i", "@container": "@index"}, "d": {"@id": "https://e.org/d", "@container": "@id"},
                    "p": "https://e.org/p"}"#,
                r#"{"i": {"a": {"p": 1, "x": 2}}, "d": {"b": {"p": 3, "x": 4}}, "p": {"@index": "k", "p": 5}}"#,
                &[("/d/b/x", UNMAPPED), ("/i/a", INDEX), ("/i/a/x", UNMAPPED), ("/p/@index", INDEX)],
            ),
            (
                r#"{"p": "https://e.org/p", "n": "@nest"}"#,
                r#"{"n": {"p": 1, "x": 2}, "@reverse": {"p": {"p": 1, "y": 1}}, "@graph": [{"p": 1, "z": 1}, 5]}"#,
                &[
                    ("/@graph/0/z", UNMAPPED),
                    ("/@graph/1", FREE_VALUE),
                    ("/@reverse/p/y", UNMAPPED),
                    ("/n/x", UNMAPPED),
                ],
            ),
            (r#"{"@vocab": "https://e.org/"}"#, r#"{"a": {"b": 1}, "@c": 1}"#, &[("/@c", KEYWORD_LIKE)]),
        ];
        for (context, document, expected) in cases {
            let expected: Vec<_> = expected.iter().map(|(place, why)| ((*place).to_owned(), *why)).collect();
            assert_eq!(places(context, document), expected, "{document}");
        }
    }

    /// Compares with expansion itself: if the graph stays the same without a member, the member is a loss.
    #[test]
    fn losses_equal_those_of_expansion() {
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
