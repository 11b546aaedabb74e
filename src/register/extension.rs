//! Extension points: a block that is another one, with blocks in place of some that the other's schema refers to, as
//! `extensionPoints` of its `bblock.json` say.
//!
//! Its schema is that of the other and, beside it, the branches of that schema which lead to what is replaced; at their ends
//! stands what replaces it. A schema on the way is gone through once. These are the rules of the OGC's tool.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::annotate::{CONTEXT, MAX_DEPTH, PREFIXES, too_large};
use super::error::BlockError;
use super::library::{Library, shown};
use super::references::{block_reference, identifiers, point, resolve, split};

const BY: &str = "extensionPoints";
/// Keywords that say nothing of a value; a schema of these and one reference is another name for what it refers to.
const SILENT: &[&str] =
    &["$anchor", "$comment", "$defs", "$dynamicAnchor", "$id", "$schema", "description", "examples", "title"];
/// What stands in place of a reference that is replaced.
const SOURCE: &str = "x-bblocks-extension-source";

/// `extensionPoints` of `bblock.json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExtensionPoints {
    base_building_block: String,
    /// What takes the place of which block.
    #[serde(default)]
    extensions: BTreeMap<String, String>,
}

/// The schema that extension points make, as a document with a URI. Fails where they name blocks that have no schema.
pub fn schema(points: &Value, uri: &str, library: &Library) -> Result<Value, BlockError> {
    let points = ExtensionPoints::deserialize(points).map_err(|error| BlockError::syntax(BY, error))?;
    let mut overlay =
        Overlay { library, replaced: BTreeMap::new(), known: HashSet::new(), depth: 0, is_too_deep: false };
    for (source, target) in &points.extensions {
        library.resolve(uri, &block_reference(target))?;
        let mut name = Some(library.resolve(uri, &block_reference(source))?);
        while let Some(place) = name {
            name = overlay.other_name(&place).filter(|other| !overlay.replaced.contains_key(other));
            overlay.replaced.insert(place, (source, target));
        }
    }
    let base = library.resolve(uri, &block_reference(&points.base_building_block))?;
    let branches = overlay.branches(&*library.document(&base, BY)?, &base);
    if overlay.is_too_deep {
        return Err(BlockError::unusable(&shown(&base), too_large()));
    }
    let mut whole = vec![json!({ "$ref": block_reference(&points.base_building_block) })];
    whole.extend(branches.map(Value::Object));
    Ok(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "x-bblocks-extends": points.base_building_block,
        "x-bblocks-extensions": points.extensions,
        "allOf": whole,
    }))
}

struct Overlay<'l> {
    library: &'l Library,
    /// The blocks in question, by the URIs of the schemas that are replaced.
    replaced: BTreeMap<String, (&'l str, &'l str)>,
    /// Schemas that references were followed to.
    known: HashSet<String>,
    depth: usize,
    is_too_deep: bool,
}

impl Overlay<'_> {
    /// The URI of what a reference in a document leads to.
    fn target(&self, reference: &str, uri: &str) -> Option<String> {
        let (path, fragment) = split(reference);
        let target = if path.is_empty() { uri.to_owned() } else { self.library.resolve(uri, path).ok()? };
        Some(if fragment.is_empty() { target } else { format!("{target}#{fragment}") })
    }

    /// What a schema is only another name for.
    fn other_name(&self, place: &str) -> Option<String> {
        let (uri, fragment) = split(place);
        let found = self.library.follow(uri, &format!("#{fragment}"), BY).ok()?;
        let schema = found.document.pointer(&found.pointer.ok()?)?;
        let is_silent = |name: &str| SILENT.contains(&name) || name.starts_with("x-");
        let mut said = schema.as_object()?.iter().filter(|(name, _)| !is_silent(name));
        let (Some((name, value)), None) = (said.next(), said.next()) else { return None };
        let reference = match (name.as_str(), value.as_array().map(Vec::as_slice)) {
            ("$ref", _) => value,
            ("allOf" | "anyOf" | "oneOf", Some([one])) => one.get("$ref")?,
            _ => return None,
        };
        self.target(reference.as_str()?, uri)
    }

    /// The branches of a schema in a document that lead to what is replaced; none where there are none.
    fn branches(&mut self, schema: &Value, uri: &str) -> Option<Map<String, Value>> {
        let entries = schema.as_object().filter(|_| !self.is_too_deep)?;
        self.is_too_deep = self.depth > MAX_DEPTH;
        self.depth += 1;
        let referred = entries.get("$ref").and_then(Value::as_str).and_then(|reference| self.referred(reference, uri));
        let mut found = Map::new();
        for keyword in ["oneOf", "allOf", "anyOf"] {
            let items = entries.get(keyword).and_then(Value::as_array).into_iter().flatten();
            let below: Vec<_> = items.map(|item| (item, self.branches(item, uri))).collect();
            if below.iter().any(|(_, branches)| branches.is_some()) {
                let of = |(item, branches): (&Value, Option<_>)| alternative(keyword, item, branches, uri);
                found.insert(keyword.to_owned(), below.into_iter().map(of).collect());
            }
        }
        for keyword in ["prefixItems", "items", "contains", "then", "else", "additionalProperties"] {
            let below = entries.get(keyword).and_then(|below| self.branches(below, uri));
            found.extend(below.map(|below| (keyword.to_owned(), Value::Object(below))));
        }
        for keyword in ["properties", "patternProperties"] {
            let properties = entries.get(keyword).and_then(Value::as_object).into_iter().flatten();
            let below = properties.filter_map(|(name, below)| Some((name.clone(), self.branches(below, uri)?.into())));
            let below: Map<_, _> = below.collect();
            found.extend((!below.is_empty()).then(|| (keyword.to_owned(), Value::Object(below))));
        }
        self.depth -= 1;
        match referred {
            Some(referred) if found.is_empty() => Some(referred),
            Some(referred) => json!({ "allOf": [referred, found] }).as_object().cloned(),
            None => (!found.is_empty()).then_some(found),
        }
    }

    /// The same for what a reference leads to, or what replaces that.
    fn referred(&mut self, named: &str, uri: &str) -> Option<Map<String, Value>> {
        let target = self.target(named, uri)?;
        if let Some((source, by)) = self.replaced.get(&target) {
            let replacing = json!({ "$ref": block_reference(by), SOURCE: source, "x-bblocks-extension-target": by });
            return replacing.as_object().cloned();
        }
        // What cannot be read is told where the other block's own schema is used.
        let found = self.library.follow(uri, named, BY).ok().filter(|_| self.known.insert(target))?;
        self.branches(found.document.pointer(&found.pointer.ok()?)?, &found.uri)
    }
}

/// One of several subschemas, with its branches. Of alternatives, all that they say stays.
fn alternative(keyword: &str, item: &Value, branches: Option<Map<String, Value>>, uri: &str) -> Value {
    let whole = || {
        let mut item = item.clone();
        point(&mut item, &mut |reference| resolve(Some(uri), reference));
        item
    };
    match branches {
        branches if keyword == "allOf" => branches.unwrap_or_default().into(),
        None => whole(),
        Some(branches) if branches.contains_key(SOURCE) => branches.into(),
        Some(branches) => json!({ "allOf": [whole(), branches] }),
    }
}

/// The schema of a block that extends another one: both at once, its own at a path such as `a.b[].c` of the other's.
pub fn extended(extends: &Value, uri: &str, library: &Library) -> Result<Value, BlockError> {
    let mut own = (*library.written(uri, "a schema")?).clone();
    let Some(base) = identifiers(extends).first().map(|id| block_reference(id)) else { return Ok(own) };
    let path = extends.get("path").and_then(Value::as_str).unwrap_or_default();
    // These say something of the document that they stand in.
    let mut top = Map::new();
    for name in ["$schema", "$id", PREFIXES, CONTEXT] {
        if let Some(value) = own.as_object_mut().and_then(|members| members.remove(name)) {
            top.insert(name.to_owned(), value);
        }
    }
    for name in path.split('.').rev().filter(|name| !name.is_empty()) {
        let (name, item) = name.strip_suffix("[]").map_or((name, own.clone()), |name| (name, json!({ "items": own })));
        own = json!({ "properties": { name: item } });
    }
    top.insert("allOf".to_owned(), json!([{ "$ref": base }, own]));
    Ok(Value::Object(top))
}
