//! The properties that a block's schema gives to its values, `resolvedProperties.json`, from which viewers of registers
//! draw the structure of the data.
//!
//! References and the branches of `allOf` are merged into the object that they describe. Branches of `oneOf` and `anyOf`
//! are alternatives: below `_oneOf` or `_anyOf` and the index of the branch. The items of an array are at the path of
//! the array. A schema that contains itself is not entered again.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::library::{BY_SCHEMA, Library};
use super::references::block_reference;

/// The maximum number of subschemas visited: with references, few bytes can stand for many subschemas.
const MAX_STEPS: usize = 20_000;
/// The maximum length of a path, and of a chain of references.
const MAX_DEPTH: usize = 64;
/// The keywords that are copied from the schema of a property, with their names in the file.
const COPIED: [(&str, &str); 10] = [
    ("x-jsonld-id", "id"),
    ("x-jsonld-reverse", "id"),
    ("x-jsonld-vocab", "vocab"),
    ("x-jsonld-type", "jsonld_type"),
    ("title", "title"),
    ("description", "description"),
    ("type", "schema_type"),
    ("format", "format"),
    ("enum", "enum"),
    ("const", "const"),
];

/// Returns the properties of the schema at a URI; `None` if the schema cannot be read, or does not have properties.
pub fn resolved(library: &Library, uri: &str) -> Option<Value> {
    let schema = library.annotated(uri).ok()?;
    let mut resolver = PropertyResolver { library, found: IndexMap::new(), open: Vec::new(), steps: 0 };
    resolver.schema(&schema, uri, &[], None);
    if resolver.found.is_empty() {
        return None;
    }
    let properties: Vec<_> = resolver.found.into_iter().map(|(path, property)| entry(path, property)).collect();
    Some(json!({ "defs": {}, "properties": properties }))
}

fn entry(path: Vec<String>, mut property: Map<String, Value>) -> Value {
    let text = |name: &str| property.get(name).and_then(Value::as_str);
    let name = path.last().map_or("", String::as_str);
    let effective = text("id").map(str::to_owned).or_else(|| text("vocab").map(|vocab| format!("{vocab}{name}")));
    let mut entry = Map::from_iter([("path".to_owned(), json!(path))]);
    entry.append(&mut property);
    entry.extend(effective.map(|id| ("effectiveId".to_owned(), id.into())));
    entry.into()
}

struct PropertyResolver<'l> {
    library: &'l Library,
    /// The properties by their paths.
    found: IndexMap<Vec<String>, Map<String, Value>>,
    /// The URIs, with pointers, of the references that led here.
    open: Vec<String>,
    steps: usize,
}

impl PropertyResolver<'_> {
    /// Adds the properties of an object at a path. `vocab` is the vocabulary of the schemas around it.
    fn schema(&mut self, schema: &Value, uri: &str, path: &[String], vocab: Option<&str>) {
        self.steps += 1;
        let Some(entries) = schema.as_object().filter(|_| self.steps <= MAX_STEPS && path.len() <= MAX_DEPTH) else {
            return;
        };
        let vocab = entries.get("x-jsonld-vocab").and_then(Value::as_str).or(vocab);
        if !path.is_empty() {
            self.describe(entries, path);
        }
        if let Some(reference) = entries.get("$ref").and_then(Value::as_str) {
            self.reference(reference, uri, path, vocab);
        }
        let required = entries.get("required").and_then(Value::as_array);
        for (name, property) in entries.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let below = [path, std::slice::from_ref(name)].concat();
            let known = self.found.entry(below.clone()).or_default();
            if required.is_some_and(|required| required.iter().any(|other| other == name)) {
                known.insert("required".to_owned(), true.into());
            }
            if let Some(vocab) = vocab {
                known.entry("vocab").or_insert_with(|| vocab.into());
            }
            if let Some(id) = self.library.identifier(uri) {
                let source = Value::from(block_reference(id));
                if let Value::Array(sources) = known.entry("sources").or_insert_with(|| json!([]))
                    && !sources.contains(&source)
                {
                    sources.push(source);
                }
            }
            self.schema(property, uri, &below, vocab);
        }
        if let Some(items) = entries.get("items") {
            self.schema(items, uri, path, vocab);
        }
        for branch in entries.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.schema(branch, uri, path, vocab);
        }
        for keyword in ["oneOf", "anyOf"] {
            let Some(branches) = entries.get(keyword).and_then(Value::as_array) else { continue };
            let alternatives = [path, &[format!("_{keyword}")]].concat();
            for (branch, index) in branches.iter().zip(0..) {
                let below = [alternatives.as_slice(), &[format!("{index}")]].concat();
                let before = self.found.len();
                self.schema(branch, uri, &below, vocab);
                // A branch without properties is not a structure.
                if self.found.keys().skip(before).any(|path| path.len() > below.len()) {
                    self.found.entry(alternatives.clone()).or_default().insert("keyword".to_owned(), keyword.into());
                    self.found.entry(below).or_default().insert("keyword".to_owned(), "branch".into());
                } else {
                    self.found.truncate(before);
                }
            }
        }
    }

    /// Copies what a schema says of a property; the first schema that says it counts.
    fn describe(&mut self, entries: &Map<String, Value>, path: &[String]) {
        let known = self.found.entry(path.to_vec()).or_default();
        for (keyword, name) in COPIED {
            if let Some(value) = entries.get(keyword) {
                known.entry(name).or_insert_with(|| value.clone());
            }
        }
    }

    fn reference(&mut self, reference: &str, uri: &str, path: &[String], vocab: Option<&str>) {
        // A reference that leads nowhere is reported where the schema is used.
        let Ok(target) = self.library.follow(uri, reference, BY_SCHEMA) else { return };
        let Ok(pointer) = target.pointer else { return };
        let place = format!("{}#{pointer}", target.uri);
        let Ok(document) = self.library.annotated(&target.uri) else { return };
        if self.open.contains(&place) || self.open.len() >= MAX_DEPTH {
            return;
        }
        self.open.push(place);
        if let Some(schema) = document.pointer(&pointer) {
            self.schema(schema, &target.uri, path, vocab);
        }
        self.open.pop();
    }
}
