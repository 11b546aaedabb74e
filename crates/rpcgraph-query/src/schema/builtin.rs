//! The schemas of the Model Context Protocol, by revision: definitions, and the params and results of methods.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use serde_json::Value;

use super::references::excerpt;
use super::validator::SchemaValidator;
use crate::record::decompressed;

/// The IRI of all revisions, before the revision.
const MCP: &str = "https://w3id.org/rpcgraph/schemas/mcp/";

/// The definitions of each revision (`ontology/schemas/README.md`).
static REVISIONS: LazyLock<Value> = LazyLock::new(|| {
    let packed: &[u8] = include_bytes!("../../ontology/schemas/mcp.json.zst");
    // Parsing from a reader takes it byte by byte.
    let text = decompressed(packed).and_then(io::read_to_string);
    text.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
});

static VALIDATORS: LazyLock<RwLock<HashMap<String, Arc<SchemaValidator>>>> = LazyLock::new(RwLock::default);

/// Returns the validator for an IRI; `None` if it does not name a schema.
pub fn validator(iri: &str) -> Option<Arc<SchemaValidator>> {
    let name = iri.strip_prefix(MCP)?;
    if let Some(known) = VALIDATORS.read().unwrap_or_else(PoisonError::into_inner).get(name) {
        return Some(Arc::clone(known));
    }
    let (revision, definition) = name.split_once('#')?;
    let document = REVISIONS.get(revision)?;
    let schema = document.get("$defs")?.get(definition)?.clone();
    let validator = Arc::new(SchemaValidator::from_schema(excerpt(document, schema)).ok()?);
    VALIDATORS.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), Arc::clone(&validator));
    Some(validator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_is_usable() {
        for (revision, document) in REVISIONS.as_object().unwrap() {
            for (name, _) in document["$defs"].as_object().unwrap() {
                assert!(validator(&format!("{MCP}{revision}#{name}")).is_some(), "{revision} {name}");
            }
        }
    }
}
