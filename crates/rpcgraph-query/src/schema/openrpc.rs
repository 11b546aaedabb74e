//! Schemas of an [OpenRPC](https://spec.open-rpc.org/) document.

use serde_json::{Map, Value, json};

use super::references::{excerpt, percent_decode};

/// The IRI of all methods, before the name.
const METHODS: &str = "urn:rpcgraph:openrpc#";
/// The dialect of OpenRPC ([Schema Object](https://spec.open-rpc.org/#schema-object)).
const DIALECT: &str = "http://json-schema.org/draft-07/schema#";

/// Returns the schemas of the params of each method (`urn:rpcgraph:openrpc#METHOD`), by position or by name, and of its
/// result (`urn:rpcgraph:openrpc#METHOD/result`), each with the components that it refers to; and the schema of an array
/// of names of methods (`urn:rpcgraph:openrpc#`).
pub fn schemas(document: &Value) -> Vec<(String, Value)> {
    let methods = document["methods"].as_array().into_iter().flatten().map(|method| resolved(document, method));
    let names: Vec<_> = methods.clone().map(|method| &method["name"]).collect();
    let mut schemas = vec![(METHODS.to_owned(), json!({ "$schema": DIALECT, "items": { "enum": names } }))];
    for method in methods {
        let Some(name) = method["name"].as_str() else { continue };
        let with_dialect = |mut schema: Value| {
            schema["$schema"] = DIALECT.into();
            excerpt(document, schema)
        };
        schemas.push((format!("{METHODS}{name}"), with_dialect(params(document, method))));
        if let Some(schema) = resolved(document, &method["result"]).get("schema") {
            // A reference hides the keywords beside it in this dialect.
            schemas.push((format!("{METHODS}{name}/result"), with_dialect(json!({ "allOf": [schema] }))));
        }
    }
    schemas
}

/// Returns the schema of the params of a method.
fn params(document: &Value, method: &Value) -> Value {
    let params = method["params"].as_array().into_iter().flatten().map(|param| resolved(document, param));
    let (mut items, mut least, mut properties, mut required) = (Vec::new(), 0, Map::new(), Vec::new());
    for param in params {
        let schema = param.get("schema").cloned().unwrap_or(json!(true));
        items.push(schema.clone());
        let Some(name) = param["name"].as_str() else { continue };
        properties.insert(name.to_owned(), schema);
        if param["required"] == true {
            required.push(name);
            least = items.len();
        }
    }
    let mut by_position = json!({ "minItems": least });
    if !items.is_empty() {
        by_position["items"] = items.into();
    }
    let by_name = json!({ "type": "object", "properties": properties, "required": required });
    json!({ "if": { "type": "array" }, "then": by_position, "else": by_name })
}

/// Returns the part of a document that a reference leads to, or a part that is not a reference.
fn resolved<'d>(document: &'d Value, part: &'d Value) -> &'d Value {
    let pointer = part.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
    pointer.and_then(|pointer| document.pointer(&percent_decode(pointer))).unwrap_or(part)
}
