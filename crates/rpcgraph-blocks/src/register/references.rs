//! References in JSON Schemas: to blocks, to documents, and to parts of documents by fragment.

use std::collections::BTreeMap;

use oxiri::{Iri, IriRef};
use percent_encoding::{AsciiSet, PercentEncode, utf8_percent_encode};
use serde_json::{Map, Value};

use crate::json::pointer_token;
use crate::schema::references::DATA;
pub use crate::schema::references::{each_object, percent_decode, split};
use crate::vocab::RESERVED;

/// The prefix of references to blocks, before the identifier.
pub const BLOCKS: &str = "bblocks://";
/// The bytes that are percent-encoded in paths and fragments.
const PATH: &AsciiSet = &RESERVED.remove(b'/').remove(b'$');

pub fn percent_encode(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, PATH)
}

/// Resolves a reference to an absolute IRI.
pub fn resolve(base: Option<&str>, reference: &str) -> Option<String> {
    let parsed = IriRef::parse(reference).ok()?;
    if parsed.is_absolute() {
        return Some(reference.to_owned());
    }
    Some(Iri::parse(base?).ok()?.resolve(&parsed).ok()?.into_inner())
}

/// Returns the reference to a block, as registers write it.
pub fn block_reference(id: &str) -> String {
    format!("{BLOCKS}{}", bare(id))
}

fn bare(id: &str) -> &str {
    id.strip_prefix(BLOCKS).unwrap_or(id)
}

/// Returns the identifiers of blocks in a value: an identifier, a list, an object that names a block, or an object with
/// such values.
pub fn identifiers(value: &Value) -> Vec<&str> {
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

/// The JSON Pointers of a schema's anchors, in the syntax of any draft, by name.
pub type Anchors = BTreeMap<String, String>;

/// Returns the anchors of a schema.
pub fn anchors(schema: &Value) -> Anchors {
    let mut anchors = Anchors::new();
    collect_anchors(schema, String::new(), &mut anchors);
    anchors
}

/// Returns the JSON Pointer for a fragment of a schema: a pointer, an anchor, or a pointer without its leading slash.
pub fn pointer(schema: &Value, anchors: &Anchors, fragment: &str) -> Result<String, String> {
    let fragment = percent_decode(fragment);
    if fragment.is_empty() || fragment.starts_with('/') {
        let found = schema.pointer(&fragment).is_some();
        return if found { Ok(fragment) } else { Err(format!("there is nothing at {fragment:?}")) };
    }
    if let Some(pointer) = anchors.get(&fragment) {
        return Ok(pointer.clone());
    }
    let with_slash = format!("/{fragment}");
    if fragment.contains('/') && schema.pointer(&with_slash).is_some() {
        return Ok(with_slash);
    }
    let known: Vec<_> = anchors.keys().map(|name| format!("#{name}")).collect();
    Err(match known.is_empty() {
        true => format!("unknown anchor #{fragment}: the schema does not have anchors"),
        false => format!("unknown anchor #{fragment}; use one of {}", known.join(", ")),
    })
}

/// Returns the anchor that an object declares, by any keyword.
fn anchor(entries: &Map<String, Value>) -> Option<&str> {
    let text = |keyword: &str| entries.get(keyword).and_then(Value::as_str);
    let fragment = |keyword: &str| text(keyword)?.strip_prefix('#').filter(|name| !name.is_empty());
    text("$anchor").or_else(|| text("$dynamicAnchor")).or_else(|| fragment("$id")).or_else(|| fragment("id"))
}

fn collect_anchors(schema: &Value, at: String, anchors: &mut Anchors) {
    match schema {
        Value::Object(entries) => {
            if let Some(name) = anchor(entries) {
                anchors.entry(name.to_owned()).or_insert_with(|| at.clone());
            }
            for (name, below) in entries.iter().filter(|(name, _)| !DATA.contains(&name.as_str())) {
                collect_anchors(below, format!("{at}/{}", pointer_token(name)), anchors);
            }
        }
        Value::Array(items) => {
            for (index, below) in items.iter().enumerate() {
                collect_anchors(below, format!("{at}/{index}"), anchors);
            }
        }
        _ => {}
    }
}

/// True if a schema's draft does not have `$anchor`; blocks use `$anchor` in such schemas nevertheless.
pub fn is_without_anchors(schema: &Value) -> bool {
    let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    ["draft-03", "draft-04", "draft-06", "draft-07"].iter().any(|draft| dialect.contains(draft))
}

/// Returns a schema's identifier if it is absolute.
pub fn absolute_id(schema: &Value) -> Option<String> {
    let id = schema.get("$id").or_else(|| schema.get("id")).and_then(Value::as_str)?;
    Some(split(id).0.to_owned()).filter(|id| id.contains("://"))
}

/// Replaces each `$ref` for which `resolve` returns another reference.
pub fn point(schema: &mut Value, resolve: &mut impl FnMut(&str) -> Option<String>) {
    each_object(schema, &mut |entries| {
        if let Some(Value::String(reference)) = entries.get_mut("$ref")
            && let Some(other) = resolve(reference)
        {
            *reference = other;
        }
    });
}
