//! Extension points: a block that extends a base block and replaces some blocks that the base block's schema refers to,
//! as `extensionPoints` in its `bblock.json` defines.
//!
//! Its schema combines the base block's schema with copies of the branches that lead to a replaced block; at the end of
//! each branch stands the replacement. Each schema on the way is visited once. These are the rules of the OGC's tool.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::annotate::{CONTEXT, MAX_DEPTH, PREFIXES, too_large};
use super::error::BlockError;
use super::library::{Library, shown};
use super::references::{block_reference, identifiers, point, resolve, split};

const BY: &str = "extensionPoints";
/// Keywords that do not constrain a value. A schema of only these and one reference is an alias of the reference's
/// target.
const SILENT: &[&str] =
    &["$anchor", "$comment", "$defs", "$dynamicAnchor", "$id", "$schema", "description", "examples", "title"];
/// The keyword beside a replacing reference that names the replaced block.
const SOURCE: &str = "x-bblocks-extension-source";

/// `extensionPoints` of `bblock.json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExtensionPoints {
    base_building_block: String,
    /// Identifiers of replacing blocks, by the block that each replaces.
    #[serde(default)]
    extensions: BTreeMap<String, String>,
}

/// Makes the schema for extension points, as the document at a URI. Fails if they name a block that does not have a
/// schema.
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
    /// The replaced and the replacing block, by the URI of the replaced schema.
    replaced: BTreeMap<String, (&'l str, &'l str)>,
    /// URIs of the schemas that references were followed to.
    known: HashSet<String>,
    depth: usize,
    is_too_deep: bool,
}

impl Overlay<'_> {
    /// Returns the URI of a reference's target.
    fn target(&self, reference: &str, uri: &str) -> Option<String> {
        let (path, fragment) = split(reference);
        let target = if path.is_empty() { uri.to_owned() } else { self.library.resolve(uri, path).ok()? };
        Some(if fragment.is_empty() { target } else { format!("{target}#{fragment}") })
    }

    /// Returns the URI of the schema that a schema is an alias of, if it is one.
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

    /// Returns the branches of a schema that lead to a replaced block. `None` if there are none.
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

    /// Returns the branches of a reference's target, or the reference that replaces the target.
    fn referred(&mut self, named: &str, uri: &str) -> Option<Map<String, Value>> {
        let target = self.target(named, uri)?;
        if let Some((source, by)) = self.replaced.get(&target) {
            let replacing = json!({ "$ref": block_reference(by), SOURCE: source, "x-bblocks-extension-target": by });
            return replacing.as_object().cloned();
        }
        // A schema that cannot be read is reported where the base block's own schema is used.
        let found = self.library.follow(uri, named, BY).ok().filter(|_| self.known.insert(target))?;
        self.branches(found.document.pointer(&found.pointer.ok()?)?, &found.uri)
    }
}

/// Combines a subschema of a list with its branches. An alternative keeps all its conditions.
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

/// Makes the schema of a block that extends another: both schemas apply, its own at a path such as `a.b[].c` in the
/// other's values.
pub fn extended(extends: &Value, uri: &str, library: &Library) -> Result<Value, BlockError> {
    let mut own = (*library.written(uri, "a schema")?).clone();
    let Some(base) = identifiers(extends).first().map(|id| block_reference(id)) else { return Ok(own) };
    let path = extends.get("path").and_then(Value::as_str).unwrap_or_default();
    // These keywords belong at the top of a document.
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
