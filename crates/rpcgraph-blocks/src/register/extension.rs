//! Schemas of blocks with extension points: the schema of the base block, in which references to some blocks lead to
//! more special ones.
//!
//! The base refers to a replaced block directly, or through other documents. Such documents are copied into the
//! `$defs` of the new schema, with their references changed; references to all other documents stay.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::block::Block;
use super::error::{BlockError, with_causes};
use super::library::{Library, shown};
use super::references::{block_reference, each_object, identifiers, percent_encode, point, split};

/// The source of messages about extension points.
const BY: &str = "extensionPoints";

/// Makes the schemas of the blocks with extension points, each after those that it builds upon. If a schema
/// cannot be made, its document is the reason.
pub fn apply(library: &mut Library) {
    let points = |block: &Block| block.schema_file.is_none().then(|| block.metadata.get("extensionPoints").cloned())?;
    let mut waiting: Vec<_> =
        library.blocks.iter().filter_map(|(id, block)| Some((id.clone(), points(block)?))).collect();
    // The base may describe an interface, and have an OpenAPI document in place of a schema.
    waiting.retain(|(id, points)| {
        let bases = identifiers(&points["baseBuildingBlock"]);
        let has_schema = bases.iter().all(|base| library.has_schema(base) != Some(false));
        if !has_schema && let Some(block) = library.blocks.get_mut(id) {
            block.schema = None;
            block.notes.push("extensionPoints are not applied: the base does not have a schema".to_owned());
        }
        has_schema
    });
    while !waiting.is_empty() {
        let mut failed = Vec::new();
        let before = waiting.len();
        for (id, points) in waiting {
            match extended_base(library, &points) {
                Ok(schema) => library.provide(&id, Ok(schema)),
                Err(error) => failed.push((id, points, error)),
            }
        }
        if failed.len() == before {
            for (id, _, error) in failed {
                library.provide(&id, Err(with_causes(&error)));
            }
            return;
        }
        waiting = failed.into_iter().map(|(id, points, _)| (id, points)).collect();
    }
}

/// Returns the schema for the `extensionPoints` of a block. Fails if a block is unknown, or if the base does not refer
/// to a block that is to be replaced.
fn extended_base(library: &Library, points: &Value) -> Result<Value, BlockError> {
    let target = |id: &str| library.resolve("bblock.json", &block_reference(id));
    let base = identifiers(&points["baseBuildingBlock"]);
    let base = base.first().ok_or_else(|| BlockError::unusable(BY, "it does not name a baseBuildingBlock"))?;
    let mut replaced = BTreeMap::new();
    for (from, to) in points["extensions"].as_object().into_iter().flatten() {
        for to in identifiers(to) {
            replaced.insert(target(identifiers(&Value::from(from.as_str())).first().unwrap_or(&""))?, target(to)?);
        }
    }
    let base = target(base)?;
    if let Some(other) = replaced.get(&base) {
        return Ok(json!({ "$ref": other }));
    }
    let mut extender =
        Extender { library, replaced, used: BTreeSet::new(), reaching: BTreeMap::new(), copies: Vec::new() };
    let mut schema = extender.copied(&base, "")?;
    let mut definitions = Map::new();
    // A copy may add further copies.
    let mut number = 0;
    while let Some(uri) = extender.copies.get(number).cloned() {
        let name = copy_name(number);
        let copy = extender.copied(&uri, &format!("/$defs/{name}"))?;
        definitions.insert(name, copy);
        number += 1;
    }
    if let Some(unused) = extender.replaced.keys().find(|from| !extender.used.contains(*from)) {
        let message = format!("the base {} does not refer to {}", shown(&base), shown(unused));
        return Err(BlockError::unusable(BY, message));
    }
    if let Some(entries) = schema.as_object_mut().filter(|_| !definitions.is_empty())
        && let Value::Object(known) = entries.entry("$defs").or_insert_with(|| Map::new().into())
    {
        known.extend(definitions);
    }
    Ok(schema)
}

fn copy_name(number: usize) -> String {
    format!("extended-{}", number + 1)
}

struct Extender<'l> {
    library: &'l Library,
    /// The URIs of the schemas that are replaced, and what replaces each.
    replaced: BTreeMap<String, String>,
    /// The replaced schemas that a reference led to.
    used: BTreeSet<String>,
    /// True for documents that refer to a replaced schema, directly or through others.
    reaching: BTreeMap<String, bool>,
    /// The documents that are copied, in the order of their names in `$defs`.
    copies: Vec<String>,
}

impl Extender<'_> {
    /// Copies a document to a JSON Pointer of the new schema, with its references changed.
    fn copied(&mut self, uri: &str, at: &str) -> Result<Value, BlockError> {
        let original = self.library.annotated(uri)?;
        let mut copy = Value::clone(&original);
        let mut failed = None;
        point(&mut copy, &mut |reference| {
            self.changed(uri, &original, at, reference).unwrap_or_else(|error| {
                failed.get_or_insert(error);
                None
            })
        });
        if let Some(error) = failed {
            return Err(error);
        }
        for name in ["$id", "id"].into_iter().chain((!at.is_empty()).then_some("$schema")) {
            if let Some(entries) =
                copy.as_object_mut().filter(|entries| entries.get(name).is_some_and(Value::is_string))
            {
                entries.shift_remove(name);
            }
        }
        if !at.is_empty() {
            // References to anchors are pointers now, and another copy may have an anchor of the same name.
            each_object(&mut copy, &mut |entries| {
                ["$anchor", "$dynamicAnchor"].iter().for_each(|name| drop(entries.shift_remove(*name)));
            });
        }
        Ok(copy)
    }

    /// Returns the reference in the new schema for one in a document at `uri`; `None` if it stays.
    fn changed(
        &mut self,
        uri: &str,
        document: &Value,
        at: &str,
        reference: &str,
    ) -> Result<Option<String>, BlockError> {
        let (path, fragment) = split(reference);
        if path.is_empty() {
            let pointer = self.library.pointer(uri, document, fragment);
            let inner =
                |pointer: String| (!at.is_empty()).then(|| format!("#{}", percent_encode(&format!("{at}{pointer}"))));
            // A reference that leads nowhere may be data.
            return Ok(pointer.ok().and_then(inner));
        }
        let Ok(target) = self.library.resolve(uri, path) else { return Ok(None) };
        if let Some(other) = self.replaced.get(&target) {
            let other = other.clone();
            self.used.insert(target);
            return Ok(Some(if fragment.is_empty() { other } else { format!("{other}#{fragment}") }));
        }
        if !self.reaches(&target, &mut BTreeSet::new())? {
            return Ok(Some(if fragment.is_empty() { target } else { format!("{target}#{fragment}") }));
        }
        let known = self.copies.iter().position(|copy| *copy == target);
        let number = known.unwrap_or_else(|| {
            self.copies.push(target.clone());
            self.copies.len() - 1
        });
        let document = self.library.document(&target, BY)?;
        let pointer = self.library.pointer(&target, &document, fragment);
        let pointer = pointer.map_err(|why| BlockError::unusable(&shown(&target), why))?;
        Ok(Some(format!("#{}", percent_encode(&format!("/$defs/{}{pointer}", copy_name(number))))))
    }

    /// True if a document refers to a replaced schema, directly or through documents that are not `open` already.
    fn reaches(&mut self, uri: &str, open: &mut BTreeSet<String>) -> Result<bool, BlockError> {
        if let Some(known) = self.reaching.get(uri) {
            return Ok(*known);
        }
        if !open.insert(uri.to_owned()) {
            return Ok(false);
        }
        let document: Rc<Value> = self.library.document(uri, BY)?;
        let mut targets = BTreeSet::new();
        each_object(&mut Value::clone(&document), &mut |entries| {
            let reference = entries.get("$ref").and_then(Value::as_str).map(|reference| split(reference).0);
            let target = reference.filter(|path| !path.is_empty()).map(|path| self.library.resolve(uri, path));
            targets.extend(target.and_then(Result::ok));
        });
        let mut found = targets.iter().any(|target| self.replaced.contains_key(target));
        for target in targets {
            found = found || self.reaches(&target, open)?;
        }
        open.remove(uri);
        // In a cycle, the answer for a document that is still open is not known yet.
        if found || open.is_empty() {
            self.reaching.insert(uri.to_owned(), found);
        }
        Ok(found)
    }
}
