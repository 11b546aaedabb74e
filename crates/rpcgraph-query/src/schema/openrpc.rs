//! Schemas of an [OpenRPC](https://spec.open-rpc.org/) document.
//!
//! | IRI | schema |
//! |---|---|
//! | `urn:rpcgraph:openrpc/method#METHOD` | refuses every value: a method of the document is the one with such a schema |
//! | `urn:rpcgraph:openrpc/params#METHOD` | the params, by position or by name; `null` if a request has none |
//! | `urn:rpcgraph:openrpc/result#METHOD` | the result |
//!
//! `METHOD` is percent-encoded, as SPARQL's `ENCODE_FOR_URI` does. Each schema has the components that it refers to.

use std::collections::BTreeSet;

use percent_encoding::utf8_percent_encode;
use serde_json::{Map, Value, json};

use super::references::{excerpt, percent_decode};
use crate::vocab::RESERVED;

/// The IRI of all schemas, before their kind.
const BASE: &str = "urn:rpcgraph:openrpc/";
/// The dialect of OpenRPC ([Schema Object](https://spec.open-rpc.org/#schema-object)).
const DIALECT: &str = "http://json-schema.org/draft-07/schema#";
/// The maximum number of references that lead to one part of the document.
const MAX_REFERENCES: usize = 100;
/// The maximum length of all schemas with their components, in bytes.
const MAX_TEXT: usize = 64 << 20;

/// A schema of a document.
#[derive(Debug)]
pub struct OpenRpcSchema {
    /// The IRI.
    pub iri: String,
    /// The part of the document that the schema describes, such as `the params of add`.
    pub about: String,
    /// The schema, or the reason why it is not used.
    pub schema: Result<Value, OpenRpcError>,
}

/// Errors in an OpenRPC document.
#[derive(Debug, thiserror::Error)]
pub enum OpenRpcError {
    /// The document is not valid.
    #[error("{0}")]
    Document(String),
    /// The schema of a part is not valid, for this reason.
    #[error("the schema of {0}: {1}")]
    Wrong(String, String),
    /// The schema of a part cannot be used, for this reason.
    #[error("the schema of {0} is not checked: {1}")]
    Unread(String, String),
}

/// Returns the schemas of all methods.
///
/// # Errors
///
/// The document is not valid: a reference leads nowhere, or a method has no name or the name of another.
pub fn schemas(document: &Value) -> Result<Vec<OpenRpcSchema>, OpenRpcError> {
    let wrong = |message: String| OpenRpcError::Document(message);
    let methods = document["methods"].as_array();
    let methods = methods.ok_or_else(|| wrong("the array `methods` is missing".to_owned()))?;
    let (mut schemas, mut names, mut length) = (Vec::new(), BTreeSet::new(), 0);
    for (index, method) in methods.iter().enumerate() {
        let method = resolved(document, method, &format!("the method {}", index + 1))?;
        let name = method["name"].as_str();
        let name = name.ok_or_else(|| wrong(format!("the method {} has no name", index + 1)))?;
        if !names.insert(name) {
            return Err(wrong(format!("two methods have the name {name}")));
        }
        let own = utf8_percent_encode(name, RESERVED);
        let about = format!("the method {name}");
        schemas.push(OpenRpcSchema { iri: format!("{BASE}method#{own}"), about, schema: Ok(json!(false)) });
        for (kind, schema) in [("params", params(document, method, name)), ("result", result(document, method, name))] {
            let Some(schema) = schema.transpose() else { continue };
            let schema = match schema {
                Ok(mut schema) => {
                    schema["$schema"] = DIALECT.into();
                    let schema = excerpt(document, schema);
                    length += schema.to_string().len();
                    Ok(schema)
                }
                Err(error @ OpenRpcError::Unread(..)) => Err(error),
                Err(error) => return Err(error),
            };
            if length > MAX_TEXT {
                return Err(wrong(format!(
                    "its schemas have more than {} MiB with what they refer to",
                    MAX_TEXT >> 20
                )));
            }
            let (iri, about) = (format!("{BASE}{kind}#{own}"), format!("the {kind} of {name}"));
            schemas.push(OpenRpcSchema { iri, about, schema });
        }
    }
    Ok(schemas)
}

/// Returns the schema of the params of a method.
fn params(document: &Value, method: &Value, name: &str) -> Result<Option<Value>, OpenRpcError> {
    let about = format!("the params of {name}");
    let (mut items, mut least, mut properties, mut required) = (Vec::new(), 0, Map::new(), Vec::new());
    let params = match &method["params"] {
        Value::Array(params) => params.as_slice(),
        Value::Null => &[],
        _ => return Err(OpenRpcError::Document(format!("{about} are not an array"))),
    };
    for param in params {
        let param = resolved(document, param, &about)?;
        let schema = param.get("schema").cloned().unwrap_or(json!(true));
        items.push(schema.clone());
        let Some(name) = param["name"].as_str() else { continue };
        properties.insert(name.to_owned(), schema);
        if param["required"] == true {
            required.push(name);
            least = items.len();
        }
    }
    // `null` stands for params that are left out.
    let types = |kind| if least == 0 { json!([kind, "null"]) } else { json!(kind) };
    let mut by_position = json!({ "type": types("array"), "minItems": least });
    if !items.is_empty() {
        by_position["items"] = items.into();
    }
    let by_name = json!({ "type": types("object"), "properties": properties, "required": required });
    Ok(Some(match method["paramStructure"].as_str() {
        Some("by-position") => by_position,
        Some("by-name") => by_name,
        _ => json!({ "if": { "type": "array" }, "then": by_position, "else": by_name }),
    }))
}

/// Returns the schema of the result of a method, if it has one.
fn result(document: &Value, method: &Value, name: &str) -> Result<Option<Value>, OpenRpcError> {
    let result = resolved(document, &method["result"], &format!("the result of {name}"))?;
    // A reference hides the keywords beside it in this dialect.
    Ok(result.get("schema").map(|schema| json!({ "allOf": [schema] })))
}

/// Returns the part of a document that references lead to, or a part that is not a reference.
fn resolved<'d>(document: &'d Value, mut part: &'d Value, about: &str) -> Result<&'d Value, OpenRpcError> {
    for _ in 0..MAX_REFERENCES {
        let Some(reference) = part.get("$ref").and_then(Value::as_str) else { return Ok(part) };
        let Some(pointer) = reference.strip_prefix('#') else {
            let why = format!("it is in another document, {reference}, which is not read");
            return Err(OpenRpcError::Unread(about.to_owned(), why));
        };
        let target = document.pointer(&percent_decode(pointer));
        part =
            target.ok_or_else(|| OpenRpcError::Document(format!("{about}: the document does not have {reference}")))?;
    }
    Err(OpenRpcError::Document(format!("{about}: more than {MAX_REFERENCES} references lead to it, or to each other")))
}
