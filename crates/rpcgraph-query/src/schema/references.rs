//! References in JSON Schemas to parts of documents.

use std::collections::BTreeSet;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::json::pointer_name;

/// Keywords whose values are data, not schemas.
pub const DATA: &[&str] = &["const", "default", "enum", "example", "examples"];

/// Percent-decodes a path or a fragment.
pub fn percent_decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Splits a reference from its fragment.
pub fn split(reference: &str) -> (&str, &str) {
    reference.split_once('#').unwrap_or((reference, ""))
}

/// Visits the objects of a schema, except objects that are data.
pub fn each_object(schema: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    match schema {
        Value::Object(entries) => {
            visit(entries);
            for (_, below) in entries.iter_mut().filter(|(name, _)| !DATA.contains(&name.as_str())) {
                each_object(below, visit);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|below| each_object(below, visit)),
        _ => {}
    }
}

/// Returns a schema with the parts of a document that it refers to, directly or not, each at its JSON Pointer.
pub fn excerpt(document: &Value, mut schema: Value) -> Value {
    let (mut done, mut found) = (BTreeSet::new(), Vec::new());
    local_pointers(&schema, &mut found);
    while let Some(pointer) = found.pop() {
        if let Some(part) = document.pointer(&pointer).filter(|_| done.insert(pointer.clone())) {
            local_pointers(part, &mut found);
            insert_at(&mut schema, &pointer, part.clone());
        }
    }
    schema
}

/// Adds the JSON Pointers of the references to the same document.
fn local_pointers(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(entries) => {
            let fragment =
                entries.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
            found.extend(fragment.map(percent_decode).filter(|pointer| pointer.starts_with('/')));
            // Also what looks like data: a property may be called `default`.
            entries.values().for_each(|below| local_pointers(below, found));
        }
        Value::Array(items) => items.iter().for_each(|below| local_pointers(below, found)),
        _ => {}
    }
}

/// Puts a part at a JSON Pointer, unless it lies in an array, which is there as a whole.
fn insert_at(schema: &mut Value, pointer: &str, part: Value) {
    let mut at = schema;
    for token in pointer.split('/').skip(1) {
        let Value::Object(entries) = at else { return };
        at = entries.entry(pointer_name(token).into_owned()).or_insert_with(|| Value::Object(Map::new()));
    }
    *at = part;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_hexadecimal_digits_are_decoded() {
        for (text, decoded) in [("a%2Fb", "a/b"), ("%c3%a9", "é"), ("%+1", "%+1"), ("%2", "%2"), ("%zz%41", "%zzA")] {
            assert_eq!(percent_decode(text), decoded);
        }
    }
}
