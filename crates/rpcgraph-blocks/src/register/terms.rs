//! Makes the context of an annotated schema: a term for each property with annotations.
//!
//! The term of a nested property is scoped to the term of the property around it, unless an outer scope defines it
//! identically. The walk follows `ogc.na.annotate_schema` step by step, since the context depends on the order in which
//! schemas are visited.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use indexmap::IndexMap;
use json_ld::syntax::is_keyword;
use serde_json::{Map, Value, json};

use super::annotate::{ANNOTATION, CONTEXT, EXTRA_TERMS, MAX_DEPTH, MAX_STEPS, PREFIXES, iri, too_large};
use super::error::BlockError;
use super::library::{BY_SCHEMA, Library, shown};
use super::references::split;

/// The maximum number of terms of one context, including scoped terms.
const MAX_TERMS: usize = 50_000;

type Terms = Map<String, Value>;
/// Terms with two definitions in one scope: the term and both IRIs.
type Clashes = BTreeSet<(String, String, String)>;

/// A context, and the reasons why it is incomplete.
#[derive(Debug, Clone, Default)]
pub struct BuiltContext {
    /// The context; empty if the schema is not annotated.
    pub context: Terms,
    /// References that cannot be resolved, each with the reason.
    pub lacking: BTreeMap<String, String>,
    /// Descriptions of the terms that two schemas define differently.
    pub clashes: Vec<String>,
}

/// Makes the context of the schema at a URI.
pub fn context(library: &Library, uri: &str) -> Result<BuiltContext, BlockError> {
    let full = library.annotated(uri)?;
    let place = Subschema { uri: uri.to_owned(), fragment: String::new(), reference: String::new(), full, from: None };
    let mut builder = TermsBuilder {
        library,
        lacking: BTreeMap::new(),
        clashes: Clashes::new(),
        prefixes: IndexMap::new(),
        extra_terms: IndexMap::new(),
        contexts: HashMap::new(),
        steps: 0,
    };
    let place = Rc::new(place);
    let mut terms = builder.subschema(&place.full, &place, SchemaScope::default());
    if builder.steps > MAX_STEPS || size(&terms) > MAX_TERMS {
        return Err(BlockError::unusable(&shown(uri), too_large()));
    }
    let clashes = builder.clashes();
    for (term, definition) in builder.extra_terms.into_iter().flat_map(|(_, terms)| terms) {
        terms.entry(&term).or_insert_with(|| keywords(&definition));
    }
    let mut prefixes: Vec<(String, String)> = Vec::new();
    for (prefix, namespace) in builder.prefixes.into_iter().flat_map(|(_, prefixes)| prefixes) {
        if let (Some(namespace), false) = (namespace.as_str(), terms.contains_key(&prefix)) {
            terms.insert(prefix.clone(), json!({ "@id": namespace }));
            prefixes.push((prefix, namespace.to_owned()));
        }
    }
    prune(&mut terms);
    lift_nested(&mut terms);
    while drop_known(&mut terms, &[], false) {}
    compact(&mut terms, &prefixes);
    if !terms.is_empty() {
        terms.insert("@version".to_owned(), json!(1.1));
    }
    Ok(BuiltContext { context: terms, lacking: builder.lacking, clashes })
}

/// A schema or a part of one, and the references that led to it.
struct Subschema {
    uri: String,
    fragment: String,
    reference: String,
    full: Rc<Value>,
    from: Option<Rc<Subschema>>,
}

/// The state that a subschema inherits from the schemas around it.
#[derive(Clone, Copy, Default)]
struct SchemaScope<'s> {
    is_vocab: bool,
    /// True if references to other documents do not add terms.
    local_only: bool,
    siblings: Option<&'s Siblings<'s>>,
    depth: usize,
}

/// The terms that are known already when a branch is visited.
struct Siblings<'s> {
    terms: &'s Terms,
    outer: Option<&'s Siblings<'s>>,
}

impl Siblings<'_> {
    fn get(&self, term: &str) -> Option<&Value> {
        self.terms.get(term).or_else(|| self.outer?.get(term))
    }
}

struct TermsBuilder<'l> {
    library: &'l Library,
    lacking: BTreeMap<String, String>,
    clashes: Clashes,
    /// Prefixes and extra terms, by the reference that led to them.
    prefixes: IndexMap<String, Terms>,
    extra_terms: IndexMap<String, Terms>,
    /// The contexts of subschemas, by URI and fragment.
    contexts: HashMap<(String, String), Terms>,
    /// The number of subschemas and terms visited.
    steps: usize,
}

impl TermsBuilder<'_> {
    /// Returns the terms of a subschema. The `@id` of a term is null if it is not known yet.
    fn subschema(&mut self, schema: &Value, place: &Rc<Subschema>, mut scope: SchemaScope<'_>) -> Terms {
        let mut terms = Terms::new();
        let Some(entries) = schema.as_object().filter(|_| self.steps <= MAX_STEPS) else { return terms };
        self.steps += if scope.depth > MAX_DEPTH { MAX_STEPS } else { 1 };
        scope.depth += 1;
        for (name, keyword) in [("x-jsonld-base", "@base"), ("x-jsonld-vocab", "@vocab")] {
            if let Some(value) = entries.get(name).filter(|value| is_truthy(value)) {
                terms.insert(keyword.to_owned(), value.clone());
            }
        }
        scope.is_vocab = entries.get("x-jsonld-vocab").map_or(scope.is_vocab, |vocab| !vocab.is_null());
        scope.local_only &= !scope.is_vocab;
        let siblings = scope.siblings.take();
        if let Some(reference) = entries.get("$ref").and_then(Value::as_str) {
            if !scope.local_only || reference.starts_with('#') {
                self.reference(reference, place, scope)
                    .into_iter()
                    .for_each(|found| merge(&mut terms, found, &mut self.clashes));
            } else {
                // Only the prefixes and extra terms of the target are used; its properties and its unresolved
                // references are not.
                let lacking = self.lacking.clone();
                self.reference(reference, place, SchemaScope { local_only: false, ..scope });
                self.lacking = lacking;
            }
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for branch in entries.get(keyword).and_then(Value::as_array).into_iter().flatten() {
                let siblings = Siblings { terms: &terms, outer: None };
                let found = self.subschema(branch, place, SchemaScope { siblings: Some(&siblings), ..scope });
                merge(&mut terms, found, &mut self.clashes);
            }
        }
        let one = ["prefixItems", "items", "contains", "additionalProperties", "unevaluatedProperties", "then", "else"];
        let one = one.iter().filter_map(|keyword| entries.get(*keyword));
        let patterns = entries.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::values);
        for below in one.chain(patterns).filter(|below| below.is_object()) {
            let found = self.subschema(below, place, scope);
            merge(&mut terms, found, &mut self.clashes);
        }
        for (term, definition) in entries.get(EXTRA_TERMS).and_then(Value::as_object).into_iter().flatten() {
            let is_open = terms.get(term).is_none_or(|known| known.get("@id").is_some_and(Value::is_null));
            if is_open {
                terms.insert(term.clone(), keywords(definition));
            }
        }
        self.properties(entries, place, &mut terms, SchemaScope { siblings, ..scope });
        self.imported(entries, place);
        self.contexts.insert((place.uri.clone(), place.fragment.clone()), terms.clone());
        self.steps += terms.len();
        terms
    }

    /// Keeps the prefixes and extra terms of a schema when a reference first leads to it.
    fn imported(&mut self, entries: &Terms, place: &Subschema) {
        let reference = format!("{}{}", place.uri, place.reference);
        let top = |name: &str| place.full.get(name).and_then(Value::as_object);
        if !self.prefixes.contains_key(&reference) {
            let mut prefixes = entries.get(PREFIXES).and_then(Value::as_object).cloned().unwrap_or_default();
            prefixes.extend(top(PREFIXES).cloned().into_iter().flatten());
            if !prefixes.is_empty() {
                self.prefixes.insert(reference.clone(), prefixes);
            }
        }
        if let Some(terms) = top(EXTRA_TERMS) {
            self.extra_terms.entry(reference).or_insert_with(|| terms.clone());
        }
    }

    /// Returns the terms of a reference's target; `None` if the target is missing or is one of the schemas that led to
    /// it.
    fn reference(&mut self, reference: &str, place: &Rc<Subschema>, scope: SchemaScope<'_>) -> Option<Terms> {
        let library = self.library;
        let found = library.follow(&place.uri, reference, BY_SCHEMA);
        let found = found.and_then(|found| Ok((library.annotated(&found.uri)?, found.uri, found.pointer)));
        let found = found.map_err(|error| error.to_string()).and_then(|(full, uri, pointer)| match pointer {
            Ok(at) => Ok((full, uri, at)),
            Err(message) => Err(format!("{reference}, named by {}: {message}", shown(&place.uri))),
        });
        let (full, uri, at) = match found {
            Ok(found) => found,
            Err(why) => {
                self.lacking.insert(reference.to_owned(), why);
                return None;
            }
        };
        let fragment = split(reference).1.to_owned();
        let mut ancestor = place.from.as_ref();
        while let Some(above) = ancestor {
            if above.uri == uri && above.fragment == fragment {
                return None;
            }
            ancestor = above.from.as_ref();
        }
        let key = (uri, fragment);
        if let Some(known) = self.contexts.get(&key) {
            self.steps += size(known);
            return Some(known.clone());
        }
        let full = if key.0 == place.uri { Rc::clone(&place.full) } else { full };
        let from = Some(Rc::clone(place));
        let found = Rc::new(Subschema { uri: key.0, fragment: key.1, reference: reference.to_owned(), full, from });
        found.full.pointer(&at).map(|schema| self.subschema(schema, &found, scope))
    }

    fn properties(&mut self, entries: &Terms, place: &Rc<Subschema>, terms: &mut Terms, scope: SchemaScope<'_>) {
        let is_object = match entries.get("type") {
            None => true,
            Some(Value::Array(types)) => types.iter().any(|name| name == "object"),
            Some(name) => name == "object",
        };
        let properties = entries.get("properties").and_then(Value::as_object).filter(|_| is_object);
        for (name, property) in properties.into_iter().flatten().filter(|(name, _)| !is_keyword(name)) {
            self.property(name, property, place, terms, scope);
        }
    }

    fn property(
        &mut self,
        name: &str,
        property: &Value,
        place: &Rc<Subschema>,
        terms: &mut Terms,
        scope: SchemaScope<'_>,
    ) {
        let Some(annotated) = property.as_object() else { return };
        let mut definition = Map::from_iter([("@context".to_owned(), json!({}))]);
        let is_vocab = annotated.get("x-jsonld-vocab").map_or(scope.is_vocab, |vocab| !vocab.is_null());
        let own = |key: &str| key.starts_with(ANNOTATION) && ![CONTEXT, EXTRA_TERMS, PREFIXES].contains(&key);
        for (key, value) in annotated.iter().filter(|(key, _)| own(key)) {
            let keyword = format!("@{}", key.trim_start_matches(ANNOTATION));
            match keyword.as_str() {
                "@base" | "@vocab" => definition["@context"][keyword] = value.clone(),
                _ => drop(definition.insert(keyword, value.clone())),
            }
        }
        let id = ["@id", "@reverse"].iter().find_map(|key| definition.get(*key)?.as_str().map(str::to_owned));
        let inner = SchemaScope { is_vocab, siblings: None, local_only: false, ..scope };
        if name.contains(':') {
            // The prefix in the name defines the IRI, so `@id` is dropped; nested terms go beside the term in the
            // context.
            definition.shift_remove("@id");
            let found = self.subschema(property, place, inner);
            let mut nested = definition.shift_remove("@context").map(object).unwrap_or_default();
            merge(&mut nested, found, &mut self.clashes);
            merge(terms, nested, &mut self.clashes);
            if !definition.is_empty() {
                self.define(terms, name, definition, None);
            }
            return;
        }
        if id.is_none() {
            definition.insert("@id".to_owned(), Value::Null);
        }
        let is_nest = matches!(id.as_deref(), Some("@nest" | "@graph"));
        if is_nest || (id.is_none() && (place.from.is_none() || scope.is_vocab)) {
            if id.is_none() {
                definition.shift_remove("@id");
            }
            let known = terms.get(name).or_else(|| scope.siblings?.get(name));
            let is_bound =
                known.is_some_and(|known| is_truthy(known.get("@id").unwrap_or(known)) && iri(known).is_some());
            let local_only = !is_bound && !definition.contains_key("@id") && !scope.is_vocab;
            let siblings = Siblings { terms: &*terms, outer: scope.siblings };
            let found = self.subschema(property, place, SchemaScope { local_only, siblings: Some(&siblings), ..inner });
            match scope.is_vocab {
                true => merge_value(&mut definition["@context"], found, &mut self.clashes),
                false => merge(terms, found, &mut self.clashes),
            }
        } else {
            let local_only = !definition.contains_key("@id");
            let found = self.subschema(property, place, SchemaScope { local_only, ..inner });
            merge_value(&mut definition["@context"], found, &mut self.clashes);
        }
        if definition.len() > 1 || definition.get("@context").is_none_or(is_truthy) {
            self.define(terms, name, definition, id);
        }
    }

    /// Adds a definition to the known definition of a term.
    fn define(&mut self, terms: &mut Terms, name: &str, mut definition: Terms, id: Option<String>) {
        match terms.get_mut(name) {
            Some(Value::Object(known)) => merge(known, definition, &mut self.clashes),
            Some(known) => {
                let own = definition.shift_remove("@id").filter(is_truthy);
                let whole = own.or(id.map(Value::String)).unwrap_or(known.take());
                let mut whole = Map::from_iter([("@id".to_owned(), whole)]);
                whole.extend(definition);
                *known = Value::Object(whole);
            }
            None => drop(terms.insert(name.to_owned(), Value::Object(definition))),
        }
    }

    /// Describes the terms that two schemas define differently.
    fn clashes(&self) -> Vec<String> {
        let whole = |iri: &str| {
            let (prefix, local) = iri.split_once(':')?;
            let namespace = self.prefixes.values().find_map(|prefixes| prefixes.get(prefix)?.as_str())?;
            Some(format!("{namespace}{local}"))
        };
        let describe = |(term, one, other): &(String, String, String)| {
            let [one_iri, other_iri] = [one, other].map(|iri| whole(iri).unwrap_or_else(|| iri.clone()));
            (one_iri != other_iri)
                .then(|| format!("the term {term:?} is both <{one_iri}> and <{other_iri}>: only one can count"))
        };
        self.clashes.iter().filter_map(describe).collect()
    }
}

/// True unless the value is null, false or empty.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}

fn object(value: Value) -> Terms {
    match value {
        Value::Object(entries) => entries,
        Value::String(iri) => Map::from_iter([("@id".to_owned(), Value::String(iri))]),
        _ => Map::new(),
    }
}

fn size(terms: &Terms) -> usize {
    let below = |value: &Value| value.as_object().map_or(0, size);
    terms.len() + terms.values().map(below).sum::<usize>()
}

/// Returns the definition of an extra term, with keywords in place of annotations.
fn keywords(definition: &Value) -> Value {
    let Value::Object(entries) = definition else { return definition.clone() };
    let keyword = |name: &String| format!("@{}", name.trim_start_matches(ANNOTATION));
    Value::Object(entries.iter().map(|(name, value)| (keyword(name), value.clone())).collect())
}

/// Adds terms to a context. A new definition of a known term overrides its entries, and the scoped contexts are merged.
fn merge(into: &mut Terms, more: Terms, clashes: &mut Clashes) {
    for (term, value) in more {
        let Some(known) = into.get_mut(&term) else {
            into.insert(term, value);
            continue;
        };
        if is_keyword(&term) {
            if is_truthy(&value) {
                *known = value;
            }
            continue;
        }
        let mut whole = object(known.take());
        let mut value = object(value);
        if value.get("@id").is_some_and(Value::is_null) && whole.contains_key("@id") {
            value.shift_remove("@id");
        }
        let iri = |definition: &Terms| definition.get("@id").and_then(Value::as_str).map(str::to_owned);
        if let (Some(one), Some(other)) = (iri(&whole), iri(&value))
            && one != other
        {
            clashes.insert((term.clone(), one.clone().min(other.clone()), one.max(other)));
        }
        for (key, value) in value {
            match whole.get_mut(&key) {
                Some(context) if key == "@context" => match value {
                    Value::Object(value) => merge_value(context, value, clashes),
                    other => *context = other,
                },
                _ => drop(whole.insert(key, value)),
            }
        }
        *known = Value::Object(whole);
    }
}

fn merge_value(into: &mut Value, more: Terms, clashes: &mut Clashes) {
    match into {
        Value::Object(into) => merge(into, more, clashes),
        other => *other = Value::Object(more),
    }
}

/// Removes identifiers that are still unknown.
fn prune(terms: &mut Terms) {
    terms.retain(|key, value| key != "@id" || !value.is_null());
    terms.values_mut().filter_map(Value::as_object_mut).for_each(prune);
}

/// Moves terms that are scoped to a term for `@nest` beside it, since not every processor finds scoped terms there.
fn lift_nested(terms: &mut Terms) {
    let names: Vec<String> = terms.keys().filter(|term| !is_keyword(term)).cloned().collect();
    for name in names {
        let Some(definition) = terms.get_mut(&name).and_then(Value::as_object_mut) else { continue };
        definition.get_mut("@context").and_then(Value::as_object_mut).into_iter().for_each(lift_nested);
        if definition.get("@id").is_some_and(|id| id == "@nest")
            && let Some(Value::Object(scoped)) = definition.shift_remove("@context")
        {
            merge(terms, scoped, &mut Clashes::new());
        }
    }
}

/// Removes terms without a meaning, and terms that an outer scope defines already. Returns true if the terms changed.
fn drop_known(terms: &mut Terms, outer: &[&Terms], is_vocab: bool) -> bool {
    let is_vocab = is_vocab || terms.get("@vocab").is_some_and(is_truthy);
    let before = terms.len();
    let mut changed = false;
    terms.retain(|term, value| {
        let Some(entries) = value.as_object_mut().filter(|_| !is_keyword(term)) else { return true };
        match entries.get("@context") {
            Some(scoped) if !is_truthy(scoped) => {
                entries.shift_remove("@context");
                changed = true;
            }
            Some(_) => {
                let named = ["@id", "@reverse"].iter().find_map(|key| entries.get(*key)).is_some_and(is_truthy);
                return is_vocab || named || term.contains(':');
            }
            None => {}
        }
        !entries.is_empty()
    });
    let here = terms.clone();
    let scopes: Vec<&Terms> = outer.iter().copied().chain([&here]).collect();
    for definition in terms.values_mut().filter_map(Value::as_object_mut) {
        let Some(scoped) = definition.get_mut("@context").and_then(Value::as_object_mut) else { continue };
        let is_vocab = is_vocab && !scoped.get("@vocab").is_some_and(Value::is_null);
        changed |= drop_known(scoped, &scopes, is_vocab);
    }
    terms.retain(|term, value| {
        let known = |scope: &&Terms| scope.get(term).is_some_and(|known| says(known, value));
        is_keyword(term) || !outer.iter().any(known)
    });
    changed || terms.len() < before
}

/// True if a definition contains everything that another definition states.
fn says(known: &Value, other: &Value) -> bool {
    let names = |whole: &Value, iri: &Value| whole.get("@id") == Some(iri);
    match (known, other) {
        (Value::Object(known), Value::Object(other)) => {
            let has = |(key, value): (&String, &Value)| {
                known.get(key).is_some_and(|known| {
                    known == value || (known.is_object() && value.is_object() && says(known, value))
                })
            };
            other.iter().all(has)
        }
        (Value::String(_), Value::Object(whole)) => whole.len() == 1 && names(other, known),
        (Value::Object(_), Value::String(_)) => names(known, other),
        (known, other) => known == other,
    }
}

/// Shortens IRIs with prefixes that JSON-LD allows, and definitions that consist of an IRI alone.
fn compact(terms: &mut Terms, prefixes: &[(String, String)]) {
    let short = |value: &Value| {
        let iri = value.as_str().filter(|iri| !is_keyword(iri))?;
        let local = |namespace: &str| iri.strip_prefix(namespace).filter(|local| !local.is_empty());
        let found = prefixes.iter().filter(|(_, namespace)| namespace.ends_with([':', '/', '?', '#', '[', ']', '@']));
        let (prefix, local) = found.filter_map(|(prefix, namespace)| Some((prefix, local(namespace)?))).next()?;
        (!local.starts_with("//")).then(|| Value::String(format!("{prefix}:{local}")))
    };
    for (_, value) in terms.iter_mut().filter(|(term, _)| !is_keyword(term)) {
        let Some(definition) = value.as_object_mut() else {
            *value = short(value).unwrap_or(value.take());
            continue;
        };
        for key in ["@id", "@type", "@index"] {
            if let Some(value) = definition.get_mut(key) {
                *value = short(value).unwrap_or(value.take());
            }
        }
        if let Some(Value::Object(scoped)) = definition.get_mut("@context") {
            compact(scoped, prefixes);
        }
        if let (1, Some(iri)) = (definition.len(), definition.get_mut("@id")) {
            *value = iri.take();
        }
    }
}
