//! JSON Schema: validators, and the schemas that queries name.
//!
//! ```text
//! schema → Validator → value → Verdict
//! ```
//!
//! The schemas of a log are untrusted: references can multiply what a small schema costs. They are used in a separate
//! process with limits on time and memory; in a browser, in the page's own worker, which the page ends.

mod ahead;
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

use self::ahead::AskedAhead;
pub use self::openrpc::OpenRpcError;
use self::openrpc::OpenRpcSchema;
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

/// The first error in a value, if there is one; or the reason why that is unknown.
type ValidationOutcome = Result<Option<String>, String>;

/// The schemas that a query can use.
#[derive(Default)]
pub struct QuerySchemas {
    /// The texts of the schemas of an OpenRPC document by IRI; or the reason why one is not used.
    named: Arc<HashMap<String, Result<String, String>>>,
    untrusted: Arc<Mutex<UntrustedSchemas>>,
    /// The values to validate together, after [`ask_ahead`](Self::ask_ahead).
    ahead: Mutex<Option<AskedAhead>>,
    /// The reason why the outcome for a value was unknown.
    undecided: Mutex<Option<String>>,
}

/// The schemas of logs.
#[derive(Default)]
struct UntrustedSchemas {
    worker: Option<SchemaWorker>,
    /// The schemas of a worker: a browser's, where no process can be started.
    compiled: CompiledSchemas,
    /// The answers by digest of the request.
    answers: HashMap<String, ValidationOutcome>,
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
    /// The outcome is unknown for this reason: a dialect or a reference is not supported.
    Undecided(String),
}

impl QuerySchemas {
    /// Creates the schemas of a query. `worker` is the program that validates by schemas of logs, such as `rpcgraph`: it
    /// calls `rpcgraph_blocks::register::worker` if `worker` is its only argument. Without it, these schemas are not
    /// decided.
    #[must_use]
    pub fn new(worker: Option<PathBuf>) -> Self {
        let worker = worker.map(|program| SchemaWorker::new(program, TIME));
        let untrusted = UntrustedSchemas { worker, ..UntrustedSchemas::default() };
        Self { untrusted: Arc::new(untrusted.into()), ..Self::default() }
    }

    /// Adds the schemas of an [OpenRPC](https://spec.open-rpc.org/) document; [`openrpc`] describes their IRIs. They are
    /// used in the worker. A schema that refers to another document decides nothing.
    ///
    /// # Errors
    ///
    /// The document, or a schema in it, is not valid.
    pub fn with_openrpc(mut self, document: &Value) -> Result<Self, OpenRpcError> {
        let mut named = HashMap::new();
        for OpenRpcSchema { iri, about, schema } in openrpc::schemas(document)? {
            let usable = schema.and_then(|schema| {
                let text = schema.to_string();
                match CompiledSchema::new(&text) {
                    CompiledSchema::Usable(_) => Ok(text),
                    CompiledSchema::Invalid(why) => Err(OpenRpcError::Wrong(about, why)),
                    CompiledSchema::Undecided(why) => Err(OpenRpcError::Unread(about, why)),
                }
            });
            let schema = match usable {
                Err(error @ OpenRpcError::Unread(..)) => Err(error.to_string()),
                usable => Ok(usable?),
            };
            named.insert(iri, schema);
        }
        self.named = Arc::new(named);
        Ok(self)
    }

    /// Returns the same schemas, with [`undecided`](Self::undecided) of their own.
    #[must_use]
    pub fn shared(&self) -> Self {
        Self { named: self.named.clone(), untrusted: self.untrusted.clone(), ..Self::default() }
    }

    /// Returns why the outcome is unknown for a value that was asked about; `None` if all outcomes are known.
    pub fn undecided(&self) -> Option<String> {
        self.undecided.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the first error in a JSON text by the schema with an IRI; `None` if there is none, or the schema or the
    /// outcome is unknown.
    pub fn violation_by_iri(&self, json: &str, iri: &str) -> Option<String> {
        let outcome = match self.named.get(iri) {
            Some(Ok(schema)) => self.untrusted(Some(json), schema),
            Some(Err(why)) => Err(why.clone()),
            None => first_error(&*builtin::validator(iri)?, json),
        };
        self.decided(outcome)
    }

    /// Returns the first error in a JSON text by an untrusted schema; without a JSON text, the first error in the
    /// schema. `None` if there is none, or the outcome is unknown.
    pub fn violation(&self, json: Option<&str>, schema: &str) -> Option<String> {
        self.decided(self.untrusted(json, schema))
    }

    fn decided(&self, outcome: ValidationOutcome) -> Option<String> {
        outcome.unwrap_or_else(|why| {
            self.undecided.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
            None
        })
    }

    /// From now on, a value counts as valid until it was validated together with others: most are, and a question for each
    /// takes far longer. [`has_settled`](Self::has_settled) ends this.
    pub(crate) fn ask_ahead(&self) {
        *self.ahead.lock().unwrap_or_else(PoisonError::into_inner) = Some(AskedAhead::default());
    }

    /// Returns true if all values since [`ask_ahead`](Self::ask_ahead) counted for what they are. Otherwise the query must be
    /// evaluated again: the values that are not valid are known then.
    pub(crate) fn has_settled(&self) -> bool {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let is_settled =
            ahead.as_mut().is_none_or(|ahead| ahead.settle(&mut |schema, values| self.together(schema, values)));
        if is_settled || ahead.as_ref().is_some_and(AskedAhead::is_exhausted) {
            *ahead = None;
        }
        is_settled
    }

    /// Returns the outcome by an untrusted schema.
    fn untrusted(&self, json: Option<&str>, schema: &str) -> ValidationOutcome {
        if let (Some(json), Some(ahead)) = (json, &mut *self.ahead.lock().unwrap_or_else(PoisonError::into_inner)) {
            return ahead.outcome(json, schema, &mut |schema, values| self.together(schema, values));
        }
        self.asked(json, schema)
    }

    /// Returns the outcomes of values by an untrusted schema, in one question if the worker answers it.
    fn together(&self, schema: &str, values: &[String]) -> Vec<ValidationOutcome> {
        let request = json!({ "conforms": schema, "values": values });
        let mut untrusted = self.untrusted.lock().unwrap_or_else(PoisonError::into_inner);
        let UntrustedSchemas { worker, unanswered, .. } = &mut *untrusted;
        // As for single values: a worker that left too many requests without an answer is not asked again.
        let worker = worker.as_mut().filter(|_| *unanswered < MAX_UNANSWERED);
        let answer = worker.and_then(|worker| worker.ask(&request).ok());
        drop(untrusted);
        let outcomes = answer.and_then(|answer| serde_json::from_value(answer).ok());
        outcomes.unwrap_or_else(|| values.iter().map(|value| self.asked(Some(value), schema)).collect())
    }

    /// Returns the outcome by an untrusted schema, from the worker.
    fn asked(&self, json: Option<&str>, schema: &str) -> ValidationOutcome {
        let mut untrusted = self.untrusted.lock().unwrap_or_else(PoisonError::into_inner);
        let UntrustedSchemas { worker, compiled, answers, unanswered } = &mut *untrusted;
        if cfg!(target_family = "wasm") {
            return compiled.outcome(json, schema);
        }
        let request = json!({ "conforms": schema, "value": json });
        let key = sha256(request.to_string().as_bytes());
        if let Some(known) = answers.get(&key) {
            return known.clone();
        }
        let worker = worker.as_mut().ok_or("a JSON Schema needs the worker process, and there is none")?;
        if *unanswered >= MAX_UNANSWERED {
            return Err("JSON Schemas took too long".to_owned());
        }
        let answer = worker.ask(&request);
        *unanswered += u8::from(answer.is_err());
        if answers.len() == MAX_ANSWERS {
            answers.clear();
        }
        let answer =
            answer.and_then(|answer| serde_json::from_value(answer).unwrap_or_else(|error| Err(error.to_string())));
        let answer = answer.map_err(|why| format!("validation by a JSON Schema failed: {why}"));
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
        let schema = request.get("conforms")?.as_str()?;
        Some(match request["values"].as_array() {
            Some(values) => values.iter().map(|value| json!(self.outcome(value.as_str(), schema))).collect(),
            None => json!(self.outcome(request["value"].as_str(), schema)),
        })
    }

    fn outcome(&mut self, json: Option<&str>, schema: &str) -> ValidationOutcome {
        if !self.0.contains_key(schema) && self.0.keys().map(String::len).sum::<usize>() > MAX_KEPT {
            self.0.clear();
        }
        match (self.0.entry(schema.to_owned()).or_insert_with_key(|text| CompiledSchema::new(text)), json) {
            (CompiledSchema::Usable(validator), Some(json)) => first_error(validator, json),
            (CompiledSchema::Usable(_), None) => Ok(None),
            (CompiledSchema::Invalid(why), None) => Ok(Some(why.clone())),
            (CompiledSchema::Invalid(why), Some(_)) => Err(format!("a JSON Schema cannot be used: {why}")),
            (CompiledSchema::Undecided(why), _) => Err(why.clone()),
        }
    }
}

impl CompiledSchema {
    fn new(text: &str) -> Self {
        let Ok(schema) = serde_json::from_str::<Value>(text) else {
            return Self::Undecided("a JSON Schema is not JSON".to_owned());
        };
        let is_known = |dialect: &&Value| dialect.as_str().and_then(Draft::from_url).is_some();
        if let Some(dialect) = schema.get("$schema").filter(|dialect| !is_known(dialect)) {
            return Self::Undecided(format!("the dialect {dialect} of a JSON Schema is unknown"));
        }
        match SchemaValidator::from_schema(schema) {
            Ok(validator) => Self::Usable(validator),
            Err(UnusableSchema { why, is_invalid: true, .. }) => Self::Invalid(why),
            Err(UnusableSchema { why, .. }) => Self::Undecided(format!("a JSON Schema cannot be used: {why}")),
        }
    }
}

fn first_error(validator: &SchemaValidator, json: &str) -> ValidationOutcome {
    let value = serde_json::from_str(json).map_err(|error| format!("a value cannot be validated: {error}"))?;
    match validator.validate(&value) {
        Validity::Valid => Ok(None),
        Validity::Invalid(violation) => Ok(Some(violation.to_string())),
        Validity::Unchecked => Err("a JSON Schema has a pattern or a multipleOf that is not supported".to_owned()),
        Validity::Unknown(why) => Err(format!("a JSON Schema does not decide: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violation(schema: &Value, json: &str) -> Option<String> {
        CompiledSchemas::default().outcome(Some(json), &schema.to_string()).ok()?
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
            assert!(schemas.outcome(Some("\"y\""), &text).is_err(), "{schema}");
            assert_eq!(schemas.outcome(None, &text).ok().flatten(), None, "{schema}");
        }
    }

    #[test]
    fn invalid_schemas_have_a_reason() {
        let problem = |schema: Value| CompiledSchemas::default().outcome(None, &schema.to_string()).ok()?;
        let why = problem(json!({"properties": {"a": {"type": "strin"}}})).unwrap();
        assert!(why.contains("not a valid JSON Schema") && why.ends_with("at /properties/a/type"), "{why}");
        assert!(problem(json!(5)).is_some());
        assert!(problem(json!({"$ref": "#/$defs/none"})).unwrap().contains("/$defs/none"));
        for schema in [json!({}), json!(true), json!({"type": "object"}), json!({"$schema": "https://example.org/d"})] {
            assert_eq!(problem(schema.clone()), None, "{schema}");
        }
    }
}
