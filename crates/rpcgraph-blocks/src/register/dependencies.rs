//! The dependencies between the blocks of a repository, from entries of `bblock.json` and references in schemas, and
//! the SHACL shapes that a block inherits through them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::block::Block;
use super::library::{BY_SCHEMA, Library, uri};
use super::references::{BLOCKS, block_reference, identifiers, point, split};

/// The dependencies and shapes that a block inherits from others.
#[derive(Debug, Clone, Default)]
pub struct InheritedParts {
    /// Identifiers of the blocks that it depends on directly.
    pub depends_on: BTreeSet<String>,
    /// The shapes of all its direct and indirect dependencies: identifiers of blocks, and the URIs of their files.
    pub shapes: BTreeMap<String, Vec<String>>,
}

/// Replaces the identifiers of blocks in a value with references.
pub fn referring(value: &Value) -> Value {
    match value {
        Value::String(id) => block_reference(id).into(),
        Value::Array(items) => items.iter().map(referring).collect(),
        Value::Object(members) => {
            let refer = |(name, value): (&String, &Value)| match name.as_str() {
                "path" => (name.clone(), value.clone()),
                // The names are identifiers, too.
                "extensions" => {
                    let by_block = value.as_object().into_iter().flatten();
                    (name.clone(), by_block.map(|(id, by)| (block_reference(id), referring(by))).collect())
                }
                _ => (name.clone(), referring(value)),
            };
            members.iter().map(refer).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// Returns what each block of a repository inherits, by identifier.
pub fn inherited(library: &Library) -> BTreeMap<String, InheritedParts> {
    let direct: BTreeMap<_, _> =
        library.blocks.iter().map(|(id, block)| (id.as_str(), direct(id, block, library))).collect();
    let take_over = |(id, depends_on): (&&str, &BTreeSet<String>)| {
        let (mut shapes, mut known) = (BTreeMap::new(), BTreeSet::from([(*id).to_owned()]));
        let mut next: Vec<_> = depends_on.iter().cloned().collect();
        while let Some(other) = next.pop() {
            if !known.insert(other.clone()) {
                continue;
            }
            if let Some(block) = library.blocks.get(&other) {
                if !block.shapes.is_empty() {
                    shapes.insert(other.clone(), shape_uris(block));
                }
                next.extend(direct.get(other.as_str()).into_iter().flatten().cloned());
            } else if let Some(entry) = library.imported.get(&other) {
                let lists: Option<BTreeMap<_, _>> = serde_json::from_value(entry["shaclShapes"].clone()).ok();
                shapes.extend(lists.into_iter().flatten());
                next.extend(entry.get("dependsOn").map(identifiers).into_iter().flatten().map(str::to_owned));
            }
        }
        ((*id).to_owned(), InheritedParts { depends_on: depends_on.clone(), shapes })
    };
    direct.iter().map(take_over).collect()
}

/// Returns a note on each group of blocks that depend on each other. The official tool does not process them.
pub fn circles(inherited: &BTreeMap<String, InheritedParts>) -> Vec<String> {
    let mut reachable: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for id in inherited.keys() {
        let (known, mut next) = (reachable.entry(id).or_default(), vec![id.as_str()]);
        while let Some(id) = next.pop() {
            let ids = inherited.get(id).into_iter().flat_map(|parts| &parts.depends_on);
            next.extend(ids.map(String::as_str).filter(|id| known.insert(*id)));
        }
    }
    let leads = |from: &str, to: &str| reachable.get(from).is_some_and(|known| known.contains(to));
    let circle = |id: &str| reachable.keys().copied().filter(|other| leads(id, other) && leads(other, id)).collect();
    let circles: BTreeSet<Vec<_>> =
        reachable.keys().copied().map(circle).filter(|ids: &Vec<_>| !ids.is_empty()).collect();
    let note = |ids: Vec<&str>| {
        format!("these blocks depend on each other, which the official tool refuses: {}", ids.join(", "))
    };
    circles.into_iter().map(note).collect()
}

/// Returns the URIs of a block's own shapes.
pub fn shape_uris(block: &Block) -> Vec<String> {
    file_uris(block, &block.shapes)
}

/// Returns the URIs of files of a block, or of URLs.
pub fn file_uris(block: &Block, files: &[String]) -> Vec<String> {
    let uri = |file: &String| if file.contains("://") { file.clone() } else { uri(&format!("{}{file}", block.below)) };
    files.iter().map(uri).collect()
}

fn direct(id: &str, block: &Block, library: &Library) -> BTreeSet<String> {
    let metadata = &block.metadata;
    let named = ["isProfileOf", "extends", "extensionPoints", "dependsOn"].iter().filter_map(|name| metadata.get(name));
    let mut found: BTreeSet<_> = named.flat_map(identifiers).map(str::to_owned).collect();
    let openapi = block.openapi_file.as_ref().map(|file| uri(&format!("{}{file}", block.below)));
    let mut documents: Vec<_> = block.schema.clone().into_iter().chain(openapi).collect();
    let mut known = BTreeSet::new();
    while let Some(document) = documents.pop() {
        // A document that cannot be read is reported where it is used.
        let Some(schema) = library.document(&document, BY_SCHEMA).ok().filter(|_| known.insert(document.clone()))
        else {
            continue;
        };
        point(&mut (*schema).clone(), &mut |reference| {
            let path = Some(split(reference).0).filter(|path| !path.is_empty())?;
            if let Some(id) = path.strip_prefix(BLOCKS) {
                found.insert(id.to_owned());
                return None;
            }
            let target = library.resolve(&document, path).ok()?;
            match library.identifier(&target) {
                Some(id) => drop(found.insert(id.clone())),
                None if library.is_local(&target) => documents.push(target),
                None => {}
            }
            None
        });
    }
    found.remove(id);
    found
}
