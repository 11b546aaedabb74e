//! Annotated schemas: the terms of a context, written beside the properties of a schema.
//!
//! Annotations are entries `x-jsonld-K`, each for the keyword `@K` of the property's term. Terms that do not
//! belong to a property of the schema stay at its top, in `x-jsonld-extra-terms` and `x-jsonld-prefixes`, so that
//! [`context`](super::terms::context) can make the context from the annotated schema alone. The rules follow
//! `ogc.na.annotate_schema`, so that schemas and contexts of registers fit together, whichever program made them.

use std::collections::{BTreeSet, HashSet};

use json_ld::syntax::is_keyword;
use serde_json::{Map, Value};

use crate::context::definitions;
use crate::json::pointer_token;

/// The prefix of an annotation's name.
pub const ANNOTATION: &str = "x-jsonld-";
/// The name of the entry with which a schema refers to its context.
pub const CONTEXT: &str = "x-jsonld-context";
/// The name of the annotation with the prefixes for IRIs in other annotations.
pub const PREFIXES: &str = "x-jsonld-prefixes";
/// The name of the annotation with the terms that do not belong to a property.
pub const EXTRA_TERMS: &str = "x-jsonld-extra-terms";
/// The maximum nesting depth of subschemas and references in a schema.
pub const MAX_DEPTH: usize = 200;

/// The maximum number of subschemas visited for one schema: with references, few bytes can stand for many subschemas.
pub const MAX_STEPS: usize = 500_000;

/// Annotates a schema with a context that does not contain remote references. Existing annotations stay. `follow`
/// resolves a fragment to a JSON Pointer. Fails if references make the schema too large or too deep.
pub fn annotate(schema: &mut Value, context: &Value, follow: &dyn Fn(&str) -> Option<String>) -> Result<(), String> {
    let (mut context, mut prefixes) = (merged(context), Map::new());
    write_out(&mut context, &[], &mut prefixes);
    if let Some(entries) = schema.as_object_mut() {
        entries.shift_remove(CONTEXT);
    }
    let mut annotator = Annotator { root: schema, prefixes, followed: HashSet::new(), follow, steps: 0 };
    annotator.subschema("", &[&context], 1, false, 0);
    if annotator.steps > MAX_STEPS {
        return Err(too_large());
    }
    let prefixes = annotator.prefixes;
    let Some(entries) = schema.as_object_mut() else { return Ok(()) };
    for key in ["@base", "@vocab"] {
        if let Some(value) = context.get(key).filter(|value| !value.is_null()) {
            entries.insert(annotation(key), value.clone());
        }
    }
    if !prefixes.is_empty() {
        entries.insert(PREFIXES.to_owned(), Value::Object(prefixes));
    }
    Ok(())
}

/// Returns the message for a schema that is too large to annotate.
pub fn too_large() -> String {
    format!("with its references it has more than {MAX_STEPS} subschemas, or they are nested deeper than {MAX_DEPTH}")
}

fn annotation(keyword: &str) -> String {
    format!("{ANNOTATION}{}", keyword.trim_start_matches('@'))
}

/// Merges the objects of a context into one, in which later objects refine earlier ones.
fn merged(context: &Value) -> Map<String, Value> {
    let mut merged = Map::new();
    for definition in definitions(context) {
        match definition {
            Value::Object(entries) => merge(&mut merged, entries),
            Value::Null => merged.clear(),
            _ => {}
        }
    }
    merged
}

fn merge(into: &mut Map<String, Value>, entries: &Map<String, Value>) {
    for (name, value) in entries {
        match (into.get_mut(name), value) {
            (Some(Value::Object(known)), Value::Object(more)) => merge(known, more),
            _ => drop(into.insert(name.clone(), value.clone())),
        }
    }
}

/// Replaces compact IRIs in a context with full ones, and adds the prefixes that they used.
fn write_out(context: &mut Map<String, Value>, outer: &[&Map<String, Value>], prefixes: &mut Map<String, Value>) {
    let terms: Vec<String> = context.keys().cloned().collect();
    for term in &terms {
        let keys = ["@id", "@type", "@index"];
        let whole = |text: &Value| {
            let scopes = || [&*context].into_iter().chain(outer.iter().rev().copied());
            let (prefix, local) = text.as_str()?.split_once(':').filter(|(_, local)| !local.is_empty())?;
            let namespace = scopes().find_map(|scope| iri(scope.get(prefix)?))?;
            Some((prefix.to_owned(), namespace.to_owned(), format!("{namespace}{local}")))
        };
        let found: Vec<_> = match &context[term.as_str()] {
            text @ Value::String(_) => vec![(None, whole(text))],
            Value::Object(entries) => keys.iter().map(|key| (Some(*key), entries.get(*key).and_then(whole))).collect(),
            _ => continue,
        };
        for (key, found) in found {
            let Some((prefix, namespace, whole)) = found else { continue };
            prefixes.insert(prefix, Value::String(namespace));
            match key {
                None => context[term.as_str()] = Value::String(whole),
                Some(key) => context[term.as_str()][key] = Value::String(whole),
            }
        }
    }
    for term in &terms {
        let Some(scoped) = context[term.as_str()].get_mut("@context").map(Value::take) else { continue };
        let mut inner = merged(&scoped);
        let scopes: Vec<_> = outer.iter().copied().chain([&*context]).collect();
        write_out(&mut inner, &scopes, prefixes);
        context[term.as_str()]["@context"] = Value::Object(inner);
    }
}

/// Returns the IRI in a term's definition.
pub fn iri(definition: &Value) -> Option<&str> {
    definition.as_str().or_else(|| definition.get("@id")?.as_str())
}

struct Annotator<'s> {
    root: &'s mut Value,
    prefixes: Map<String, Value>,
    /// Pointers of the subschemas whose references were followed.
    followed: HashSet<String>,
    follow: &'s dyn Fn(&str) -> Option<String>,
    /// The number of subschemas visited.
    steps: usize,
}

type UsedTerms = BTreeSet<String>;
/// The contexts of the properties that lead to a subschema, outermost first.
type Scopes<'s> = [&'s Map<String, Value>];

impl Annotator<'_> {
    fn get(&self, pointer: &str) -> Option<&Map<String, Value>> {
        self.root.pointer(pointer)?.as_object()
    }

    /// Returns the pointers of the subschemas in the list or the map under a keyword.
    fn below(&self, at: &str, keyword: &str) -> Vec<String> {
        let names: Vec<String> = match self.get(at).and_then(|entries| entries.get(keyword)) {
            Some(Value::Array(items)) => (0..items.len()).map(|index| index.to_string()).collect(),
            Some(Value::Object(entries)) => entries.keys().map(|name| pointer_token(name)).collect(),
            _ => return Vec::new(),
        };
        names.into_iter().map(|name| format!("{at}/{keyword}/{name}")).collect()
    }

    /// Annotates a subschema, with the contexts of the properties that lead to it. Returns the terms that it uses.
    fn subschema(
        &mut self,
        at: &str,
        scopes: &Scopes<'_>,
        level: usize,
        in_definitions: bool,
        depth: usize,
    ) -> UsedTerms {
        let mut used = UsedTerms::new();
        if self.steps > MAX_STEPS || self.get(at).is_none_or(Map::is_empty) {
            return used;
        }
        self.steps += if depth > MAX_DEPTH { MAX_STEPS } else { 1 };
        let text = |this: &Self, name: &str| this.get(at)?.get(name)?.as_str().map(str::to_owned);
        for keyword in ["definitions", "$defs"] {
            for entry in self.below(at, keyword) {
                // A term that only a definition uses may still be an extra term.
                self.subschema(&entry, scopes, level + 1, true, depth + 1);
            }
        }
        let mut next = Vec::new();
        if let Some(fragment) = text(self, "$ref").as_deref().and_then(|reference| reference.strip_prefix('#'))
            && self.followed.insert(at.to_owned())
            && let Some(target) = (self.follow)(fragment)
        {
            next.push((target, level + 1));
        }
        for keyword in ["oneOf", "allOf", "anyOf"] {
            let branches = self.below(at, keyword);
            next.extend(branches.into_iter().map(|branch| (branch, level + 1)));
        }
        for keyword in ["then", "else", "additionalProperties", "unevaluatedProperties"] {
            next.push((format!("{at}/{keyword}"), level));
        }
        next.extend(self.below(at, "patternProperties").into_iter().map(|property| (property, level + 1)));
        let kind = text(self, "type");
        if kind.as_deref() == Some("array") {
            next.extend(["prefixItems", "items", "contains"].map(|keyword| (format!("{at}/{keyword}"), level + 1)));
        }
        for (pointer, level) in next {
            let below = self.subschema(&pointer, scopes, level, in_definitions, depth + 1);
            if !in_definitions {
                used.extend(below);
            }
        }
        let has = |this: &Self, name: &str| this.get(at).is_some_and(|entries| entries.contains_key(name));
        if kind.as_deref() == Some("object") || (!has(self, "type") && has(self, "properties")) {
            let below = self.properties(at, scopes, level + 1, depth);
            if !in_definitions {
                used.extend(below);
            }
        }
        let own = self.get(at).and_then(|entries| entries.get(PREFIXES)).and_then(Value::as_object).cloned();
        for (prefix, namespace) in own.unwrap_or_default() {
            self.prefixes.entry(prefix).or_insert(namespace);
        }
        if scopes.len() == level {
            self.extra_terms(at, scopes.last().copied(), &used);
        }
        used
    }

    fn properties(&mut self, at: &str, scopes: &Scopes<'_>, level: usize, depth: usize) -> UsedTerms {
        let mut used = UsedTerms::new();
        let Some(properties) = self.get(at).and_then(|entries| entries.get("properties")?.as_object()) else {
            return used;
        };
        let names: Vec<String> = properties.keys().filter(|name| !is_keyword(name)).cloned().collect();
        for name in names {
            let pointer = format!("{at}/properties/{}", pointer_token(&name));
            let term = term(&name, scopes, &self.prefixes);
            let Some(property) = self.root.pointer_mut(&pointer) else { continue };
            match property {
                Value::Bool(true) => *property = Value::Object(Map::new()),
                Value::Bool(false) => *property = serde_json::json!({ "not": true }),
                _ => {}
            }
            let Some(entries) = property.as_object_mut() else { continue };
            let scoped = term.as_ref().and_then(|term| term.get("@context")?.as_object().cloned());
            if let Some(term) = &term {
                let inner = ["@base", "@vocab"].iter().filter_map(|key| Some((*key, scoped.as_ref()?.get(*key)?)));
                let own = term.iter().map(|(key, value)| (key.as_str(), value)).filter(|(key, _)| *key != "@context");
                for (key, value) in own.chain(inner.filter(|(key, value)| *key == "@vocab" || !value.is_null())) {
                    entries.entry(annotation(key)).or_insert_with(|| value.clone());
                }
                used.insert(name);
            }
            let inner: Vec<_> = scopes.iter().copied().chain(&scoped).collect();
            used.extend(self.subschema(&pointer, &inner, level, false, depth + 1));
        }
        used
    }

    /// Keeps the terms of a context that no property used.
    fn extra_terms(&mut self, at: &str, context: Option<&Map<String, Value>>, used: &UsedTerms) {
        let mut extra = Map::new();
        for (term, definition) in context.into_iter().flatten() {
            if is_keyword(term) || self.prefixes.contains_key(term) || used.contains(term) {
                continue;
            }
            let definition = match definition {
                Value::Object(entries) => match (entries.len(), entries.get("@id")) {
                    (1, Some(iri)) => iri.clone(),
                    _ => {
                        let keywords = entries.iter().filter(|(key, _)| is_keyword(key));
                        Value::Object(keywords.map(|(key, value)| (annotation(key), value.clone())).collect())
                    }
                },
                other => other.clone(),
            };
            match definition.as_str() {
                Some(iri) if iri.ends_with(['#', '/', ':']) => self.prefixes.insert(term.clone(), definition),
                _ => extra.insert(term.clone(), definition),
            };
        }
        let entries = self.root.pointer_mut(at).and_then(Value::as_object_mut);
        if let Some(entries) = entries.filter(|_| !extra.is_empty()) {
            let known = entries.entry(EXTRA_TERMS).or_insert_with(|| Value::Object(Map::new()));
            known.as_object_mut().into_iter().for_each(|known| known.extend(std::mem::take(&mut extra)));
        }
    }
}

/// Returns the definition of a property's term: from the innermost context, or made from a prefix in its name.
fn term(name: &str, scopes: &Scopes<'_>, prefixes: &Map<String, Value>) -> Option<Map<String, Value>> {
    let compact = || {
        let (prefix, local) = name.split_once(':')?;
        let namespace = prefixes.get(prefix).or_else(|| scopes.iter().rev().find_map(|scope| scope.get(prefix)));
        Some(Value::String(format!("{}{local}", iri(namespace?)?)))
    };
    let with_iri = |iri| Map::from_iter([("@id".to_owned(), iri)]);
    match scopes.iter().rev().find_map(|scope| scope.get(name)) {
        Some(Value::String(iri)) => Some(with_iri(Value::String(iri.clone()))),
        Some(Value::Object(entries)) => {
            let keywords = entries.iter().filter(|(key, _)| is_keyword(key));
            let mut term: Map<_, _> = keywords.map(|(key, value)| (key.clone(), value.clone())).collect();
            if !term.contains_key("@id") && !term.contains_key("@reverse") {
                term.extend(compact().map(with_iri).into_iter().flatten());
            }
            Some(term)
        }
        Some(_) => None,
        None => compact().map(with_iri),
    }
}
