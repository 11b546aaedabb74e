//! What the blocks of a repository depend on: what `bblock.json` names, and what their schemas refer to. With it comes what is
//! taken over from there, SHACL shapes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::block::Block;
use super::library::{BLOCKS, Library, uri};
use super::references::point;

/// What a block takes over from others.
#[derive(Debug, Clone, Default)]
pub struct Inherited {
    /// Identifiers of the blocks that it depends on itself.
    pub depends_on: BTreeSet<String>,
    /// The shapes of all that it depends on, at whatever distance: identifiers, and the URIs of the files.
    pub shapes: BTreeMap<String, Vec<String>>,
    /// Whether what it depends on depends on it.
    pub is_in_circle: bool,
}

/// A reference to a block as registers have it.
pub fn reference(id: &str) -> String {
    format!("{BLOCKS}{}", bare(id))
}

fn bare(id: &str) -> &str {
    id.strip_prefix(BLOCKS).unwrap_or(id)
}

/// The identifiers in a value: one, a list of them, an object that names one, or one that leads to them.
fn identifiers(value: &Value) -> Vec<&str> {
    match value {
        Value::String(id) => vec![bare(id)],
        Value::Array(items) => items.iter().flat_map(identifiers).collect(),
        Value::Object(members) => match members.get("itemIdentifier") {
            Some(id) => identifiers(id),
            None => members.values().flat_map(identifiers).collect(),
        },
        _ => Vec::new(),
    }
}

/// What names blocks, with references in place of identifiers.
pub fn referring(value: &Value) -> Value {
    match value {
        Value::String(id) => reference(id).into(),
        Value::Array(items) => items.iter().map(referring).collect(),
        Value::Object(members) => {
            let refer = |(name, value): (&String, &Value)| match name.as_str() {
                "path" => (name.clone(), value.clone()),
                "extensions" => (name.clone(), extensions(value)),
                _ => (name.clone(), referring(value)),
            };
            members.iter().map(refer).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

fn extensions(value: &Value) -> Value {
    let members = value.as_object().into_iter().flatten();
    members.map(|(point, by)| (reference(point), referring(by))).collect::<Map<_, _>>().into()
}

/// What each block of a repository takes over, by identifier.
pub fn inherited(blocks: &BTreeMap<String, Block>, library: &Library) -> BTreeMap<String, Inherited> {
    let direct: BTreeMap<_, _> = blocks.iter().map(|(id, block)| (id.as_str(), direct(id, block, library))).collect();
    let take_over = |(id, depends_on): (&&str, &BTreeSet<String>)| {
        let (mut shapes, mut known) = (BTreeMap::new(), BTreeSet::from([(*id).to_owned()]));
        // A schema may refer to itself.
        let mut next: Vec<_> = depends_on.iter().filter(|other| other != id).cloned().collect();
        let mut is_in_circle = false;
        while let Some(other) = next.pop() {
            is_in_circle |= other == **id;
            if !known.insert(other.clone()) {
                continue;
            }
            if let Some(block) = blocks.get(&other) {
                let files: Vec<_> = block.shapes.iter().map(|file| shape_uri(block, file)).collect();
                if !files.is_empty() {
                    shapes.insert(other.clone(), files);
                }
                next.extend(direct.get(other.as_str()).into_iter().flatten().cloned());
            } else if let Some(entry) = library.imported(&other) {
                shapes.extend(imported_shapes(&entry));
                next.extend(entry.get("dependsOn").map(identifiers).into_iter().flatten().map(str::to_owned));
            }
        }
        ((*id).to_owned(), Inherited { depends_on: depends_on.clone(), shapes, is_in_circle })
    };
    direct.iter().map(take_over).collect()
}

/// The URI of a block's own shapes.
pub fn shape_uri(block: &Block, file: &str) -> String {
    if file.contains("://") { file.to_owned() } else { uri(&format!("{}{file}", block.below)) }
}

fn imported_shapes(entry: &Value) -> BTreeMap<String, Vec<String>> {
    let shapes = entry.get("shaclShapes").and_then(Value::as_object).into_iter().flatten();
    let urls =
        |urls: &Value| urls.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    shapes.map(|(id, files)| (id.clone(), urls(files))).collect()
}

fn direct(id: &str, block: &Block, library: &Library) -> BTreeSet<String> {
    let metadata = &block.metadata;
    let others = ["isProfileOf", "extends", "extensionPoints"].iter().filter_map(|name| metadata.others.get(*name));
    let named = others.flat_map(identifiers).chain(metadata.depends_on.iter().map(|id| bare(id)));
    let mut found: BTreeSet<_> = named.map(str::to_owned).collect();
    let mut documents: Vec<_> = library.block(id).and_then(|block| block.schema.clone()).into_iter().collect();
    let mut known = BTreeSet::new();
    while let Some(document) = documents.pop() {
        // What cannot be read is told where it is used.
        let Some(schema) = library.document(&document, "a schema").ok().filter(|_| known.insert(document.clone()))
        else {
            continue;
        };
        point(&mut (*schema).clone(), &mut |reference| {
            let path = reference.split('#').next().filter(|path| !path.is_empty())?;
            if let Some(id) = path.strip_prefix(BLOCKS) {
                found.insert(id.to_owned());
                return None;
            }
            let target = library.resolve(&document, path).ok()?;
            match library.identifier(&target) {
                Some(id) => drop(found.insert(id)),
                None if library.is_local(&target) => documents.push(target),
                None => {}
            }
            None
        });
    }
    found.remove(id);
    found
}

/// The schema of a block that extends another one: both at once, its own at a path such as `a.b[].c` of the other's.
pub fn extended(extends: &Value, own: &Value) -> Option<Value> {
    let base = identifiers(extends).first().map(|id| reference(id))?;
    let path = extends.get("path").and_then(Value::as_str).unwrap_or_default();
    let mut own = own.clone();
    // These say something of the document that they stand in.
    let mut top = Map::new();
    for name in ["$schema", "$id", "x-jsonld-prefixes", "x-jsonld-context"] {
        if let Some(value) = own.as_object_mut().and_then(|members| members.remove(name)) {
            top.insert(name.to_owned(), value);
        }
    }
    for name in path.split('.').rev().filter(|name| !name.is_empty()) {
        let (name, item) = name.strip_suffix("[]").map_or((name, own.clone()), |name| (name, json!({ "items": own })));
        own = json!({ "properties": { name: item } });
    }
    top.insert("allOf".to_owned(), json!([{ "$ref": base }, own]));
    Some(Value::Object(top))
}
