//! JSON Schema: validators, and the schemas that queries name.
//!
//! ```text
//! schema → Validator → value → Verdict
//! ```
//!
//! The schemas of a log are untrusted: references can multiply what a small schema costs. They are used in a separate
//! process with limits on time and memory; in a browser, in the page's own worker, which the page ends.

mod builtin;
pub mod openrpc;
pub mod references;
pub(crate) mod validator;
pub mod worker;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use boon::Draft;
use serde_json::{Value, json};

pub use self::validator::{SchemaValidator, UnusableSchema, Validity, mark_undecidable};
use self::worker::SchemaWorker;
use crate::json::sha256;

/// The time limit for an answer of the worker.
const TIME: Duration = Duration::from_secs(3);
/// The maximum number of requests without an answer; later ones are not sent.
const MAX_UNANSWERED: u8 = 3;
/// The maximum length in bytes of all compiled schemas in memory.
const MAX_KEPT: usize = 8 << 20;
/// The maximum number of answers of the worker in memory.
const MAX_ANSWERS: usize = 10_000;

/// The schemas that a query can use.
#[derive(Default)]
pub struct QuerySchemas {
    /// Trusted schemas by IRI.
    named: HashMap<String, Arc<SchemaValidator>>,
    untrusted: Mutex<UntrustedSchemas>,
}

/// The schemas of logs.
#[derive(Default)]
struct UntrustedSchemas {
    worker: Option<SchemaWorker>,
    /// The schemas of a worker: a browser's, where no process can be started.
    compiled: CompiledSchemas,
    /// The answers by digest of the request.
    answers: HashMap<String, Option<String>>,
    unanswered: u8,
}

/// The validators of untrusted schemas, in a process that may be ended.
#[derive(Default)]
pub struct CompiledSchemas(HashMap<String, CompiledSchema>);

/// An untrusted schema.
enum CompiledSchema {
    Usable(SchemaValidator),
    /// Invalid in its dialect, for this reason.
    Invalid(String),
    /// The outcome is unknown: a dialect or a reference is not supported.
    Undecided,
}

impl QuerySchemas {
    /// Creates the schemas of a query. `worker` is the program that validates by schemas of logs, such as `rpcgraph`: it
    /// calls `rpcgraph_blocks::register::worker` if `worker` is its only argument. Without it, these schemas are not
    /// decided.
    #[must_use]
    pub fn new(worker: Option<PathBuf>) -> Self {
        let worker = worker.map(|program| SchemaWorker::new(program, TIME));
        Self { untrusted: UntrustedSchemas { worker, ..UntrustedSchemas::default() }.into(), ..Self::default() }
    }

    /// Adds the schemas of an [OpenRPC](https://spec.open-rpc.org/) document, by the IRIs `urn:rpcgraph:openrpc#METHOD`
    /// (params) and `urn:rpcgraph:openrpc#METHOD/result`. The document is trusted. Schemas that are invalid or refer to
    /// other documents are left out.
    #[must_use]
    pub fn with_openrpc(mut self, document: &Value) -> Self {
        let compiled = |(iri, schema)| Some((iri, Arc::new(SchemaValidator::of(schema).ok()?)));
        self.named.extend(openrpc::schemas(document).into_iter().filter_map(compiled));
        self
    }

    /// Returns the first error in a JSON text by the schema with an IRI; `None` if there is none, or the schema or the
    /// outcome is unknown.
    pub fn violation_by_iri(&self, json: &str, iri: &str) -> Option<String> {
        first_error(&*self.named.get(iri).cloned().or_else(|| builtin::validator(iri))?, json)
    }

    /// Returns the first error in a JSON text by an untrusted schema; without a JSON text, the first error in the
    /// schema. `None` if there is none, or the outcome is unknown.
    pub fn violation(&self, json: Option<&str>, schema: &str) -> Option<String> {
        let mut untrusted = self.untrusted.lock().unwrap_or_else(PoisonError::into_inner);
        let UntrustedSchemas { worker, compiled, answers, unanswered } = &mut *untrusted;
        if cfg!(target_family = "wasm") {
            return compiled.violation(json, schema);
        }
        let request = json!({ "conforms": schema, "value": json });
        let key = sha256(request.to_string().as_bytes());
        if let Some(known) = answers.get(&key) {
            return known.clone();
        }
        let worker = worker.as_mut().filter(|_| *unanswered < MAX_UNANSWERED)?;
        let answer = worker.ask(&request);
        *unanswered += u8::from(answer.is_err());
        if answers.len() == MAX_ANSWERS {
            answers.clear();
        }
        let answer = answer.ok().and_then(|answer| Some(answer.as_str()?.to_owned()));
        answers.entry(key).or_insert(answer).clone()
    }
}

impl fmt::Debug for QuerySchemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuerySchemas").finish_non_exhaustive()
    }
}

impl CompiledSchemas {
    /// Answers a request of [`QuerySchemas`]; `None` for other requests.
    pub fn answer(&mut self, request: &Value) -> Option<Value> {
        Some(json!(self.violation(request["value"].as_str(), request.get("conforms")?.as_str()?)))
    }

    fn violation(&mut self, json: Option<&str>, schema: &str) -> Option<String> {
        if !self.0.contains_key(schema) && self.0.keys().map(String::len).sum::<usize>() > MAX_KEPT {
            self.0.clear();
        }
        match (self.0.entry(schema.to_owned()).or_insert_with_key(|text| CompiledSchema::new(text)), json) {
            (CompiledSchema::Usable(validator), Some(json)) => first_error(validator, json),
            (CompiledSchema::Invalid(why), None) => Some(why.clone()),
            _ => None,
        }
    }
}

impl CompiledSchema {
    fn new(text: &str) -> Self {
        let Ok(schema) = serde_json::from_str::<Value>(text) else { return Self::Undecided };
        let is_known = |dialect: &Value| dialect.as_str().and_then(Draft::from_url).is_some();
        if !schema.get("$schema").is_none_or(is_known) {
            return Self::Undecided;
        }
        match SchemaValidator::of(schema) {
            Ok(validator) => Self::Usable(validator),
            Err(UnusableSchema { why, is_invalid: true, .. }) => Self::Invalid(why),
            Err(_) => Self::Undecided,
        }
    }
}

fn first_error(validator: &SchemaValidator, json: &str) -> Option<String> {
    match validator.validate(&serde_json::from_str(json).ok()?) {
        Validity::Invalid(violation) => Some(violation.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violation(schema: &Value, json: &str) -> Option<String> {
        CompiledSchemas::default().violation(Some(json), &schema.to_string())
    }

    #[test]
    fn the_first_error_has_its_place() {
        let schema = json!({"properties": {"arguments": {"properties": {"city": {"type": "string"}}}}});
        let message = violation(&schema, r#"{"arguments":{"city":5}}"#);
        assert_eq!(message.as_deref(), Some(r#"at /arguments/city: 5 is not of type "string""#));
        assert_eq!(violation(&schema, r#"{"arguments":{"city":""}}"#), None);
        assert_eq!(violation(&schema, "no JSON"), None);
        assert_eq!(violation(&json!(false), "5").as_deref(), Some("False schema does not allow 5"));
    }

    /// A keyword that only this dialect has decides each outcome.
    #[test]
    fn schemas_are_of_the_dialect_that_they_name() {
        let draft = |name: &str| format!("http://json-schema.org/{name}/schema#");
        let newer = |name: &str| format!("https://json-schema.org/draft/{name}/schema");
        let refused = |dialect: Option<String>, mut schema: Value, json: &str| {
            if let Some(dialect) = dialect {
                schema["$schema"] = dialect.into();
            }
            violation(&schema, json).is_some()
        };
        let exclusive = json!({"minimum": 1, "exclusiveMinimum": true});
        assert!(refused(Some(draft("draft-04")), exclusive.clone(), "1"));
        assert!(!refused(Some(draft("draft-06")), exclusive, "1"), "the schema is not valid");
        assert!(refused(Some(draft("draft-06")), json!({"const": 1}), "2"));
        assert!(!refused(Some(draft("draft-04")), json!({"const": 1}), "2"));
        let conditional = json!({"if": {"minimum": 5}, "then": {"multipleOf": 2}});
        assert!(refused(Some(draft("draft-07")), conditional.clone(), "7"));
        assert!(!refused(Some(draft("draft-06")), conditional, "7"));
        let unevaluated = json!({"properties": {"a": {}}, "unevaluatedProperties": false});
        assert!(refused(Some(newer("2019-09")), unevaluated.clone(), r#"{"b":1}"#));
        assert!(!refused(Some(draft("draft-07")), unevaluated, r#"{"b":1}"#));
        let tuple = json!({"prefixItems": [{"type": "string"}]});
        assert!(refused(Some(newer("2020-12")), tuple.clone(), "[1]"));
        assert!(refused(None, tuple.clone(), "[1]"), "2020-12 is the default");
        assert!(!refused(Some(newer("2019-09")), tuple, "[1]"));
        assert!(!refused(Some("https://example.org/dialect".into()), json!({"const": 1}), "2"), "not decided");
    }

    #[test]
    fn remote_references_and_unsupported_patterns_are_undecided() {
        for schema in [
            json!({"$ref": "https://example.org/schema"}),
            json!({"allOf": [{"type": "string"}, {"$ref": "other.json#/a"}]}),
            json!({"not": {"pattern": "(?!x)"}}),
        ] {
            let text = schema.to_string();
            let mut schemas = CompiledSchemas::default();
            assert_eq!(schemas.violation(Some("\"y\""), &text), None, "{schema}");
            assert_eq!(schemas.violation(None, &text), None, "{schema}");
        }
    }

    #[test]
    fn invalid_schemas_have_a_reason() {
        let problem = |schema: Value| CompiledSchemas::default().violation(None, &schema.to_string());
        let why = problem(json!({"properties": {"a": {"type": "strin"}}})).unwrap();
        assert!(why.contains("not a valid JSON Schema") && why.ends_with("at /properties/a/type"), "{why}");
        assert!(problem(json!(5)).is_some());
        assert!(problem(json!({"$ref": "#/$defs/none"})).unwrap().contains("/$defs/none"));
        for schema in [json!({}), json!(true), json!({"type": "object"}), json!({"$schema": "https://example.org/d"})] {
            assert_eq!(problem(schema.clone()), None, "{schema}");
        }
    }
}
