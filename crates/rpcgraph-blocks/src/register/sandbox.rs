//! The sandbox, a process that runs untrusted JSON Schemas, jq and SPARQL. One process serves a whole register.
//!
//! The process has an empty environment, and the code that it runs cannot read files. A request that exceeds the limits
//! on time or memory ends the process.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars, data, unwrap_valr};
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::Store;
use oxrdf::{GraphName, Triple};
use oxrdfio::{RdfFormat, RdfParser};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::references::split;
use super::rules::infer;
use super::turtle::n_triples;
use crate::query::query_store;
use crate::schema::CompiledSchemas;
use crate::schema::worker::SchemaWorker;
pub use crate::schema::{SchemaValidator, UnusableSchema, Validity};

/// Time limit for an answer.
const TIME: Duration = Duration::from_secs(10);
/// A schema is not tried again after this number of consecutive examples without an answer.
const MAX_UNANSWERED: u8 = 3;

/// Runs untrusted code: in a worker process or, without a worker program, in this process.
pub struct Sandbox {
    worker: Option<SchemaWorker>,
    here: Answers,
    /// The schemas by URI, ready to compile.
    pub documents: BTreeMap<String, Value>,
    /// The number of schemas that the worker has.
    sent: usize,
    /// Schemas whose last request was not answered, with the last reason and the number of consecutive failures.
    unanswered: BTreeMap<String, (String, u8)>,
}

type Answers = Box<dyn FnMut(&Value) -> Value>;

impl Sandbox {
    /// Creates a sandbox that starts `program`, which answers with [`answers`].
    pub fn new(program: Option<PathBuf>) -> Self {
        Self {
            worker: program.map(|program| SchemaWorker::new(program, TIME)),
            here: Box::new(|_| Value::Null),
            documents: BTreeMap::new(),
            sent: usize::MAX,
            unanswered: BTreeMap::new(),
        }
    }

    /// Compiles the schema at a URI with a fragment.
    pub fn compile(&mut self, target: &str) -> Result<(), UnusableSchema> {
        let uri = split(target).0.to_owned();
        let failed = |why| Err(UnusableSchema { uri, why, is_invalid: false });
        self.ask(&json!({ "schema": target })).unwrap_or_else(failed)
    }

    /// Validates a value against the schema at a URI with a fragment.
    pub fn validate(&mut self, target: &str, value: &Value) -> Validity {
        if let Some((why, MAX_UNANSWERED)) = self.unanswered.get(target) {
            return Validity::Unknown(why.clone());
        }
        let answer = self.ask(&json!({ "schema": target, "value": value.to_string() }));
        let before = self.unanswered.remove(target).map_or(0, |(_, times)| times);
        answer.unwrap_or_else(|why| {
            self.unanswered.insert(target.to_owned(), (why.clone(), before + 1));
            Validity::Unknown(why)
        })
    }

    /// Runs a step on a JSON text or on N-Triples.
    pub fn step(&mut self, kind: &str, code: &str, input: &str) -> Result<String, String> {
        self.ask(&json!({ "step": kind, "code": code, "input": input }))?
    }

    fn ask<T: DeserializeOwned>(&mut self, request: &Value) -> Result<T, String> {
        if self.sent != self.documents.len() {
            self.sent = self.documents.len();
            // Sent as texts, since the nesting of JSON messages is limited.
            let texts = self.documents.iter().map(|(uri, schema)| (uri.clone(), schema.to_string())).collect();
            match &mut self.worker {
                Some(worker) => worker.set_up(texts),
                None => self.here = Box::new(answers(texts).map_err(|error| error.to_string())?),
            }
        }
        let answer = match &mut self.worker {
            Some(worker) => worker.ask(request)?,
            None => (self.here)(request),
        };
        serde_json::from_value(answer).map_err(|error| error.to_string())
    }
}

/// Returns a function that answers the requests of registers, set up with schemas, and of queries.
pub fn answers(setup: Value) -> Result<impl FnMut(&Value) -> Value, serde_json::Error> {
    let texts: Option<BTreeMap<String, String>> = serde_json::from_value(setup)?;
    let read = |(uri, text): (String, String)| Ok((uri, serde_json::from_str(&text)?));
    let documents: Arc<BTreeMap<String, Value>> =
        Arc::new(texts.into_iter().flatten().map(read).collect::<Result<_, serde_json::Error>>()?);
    let mut validators: BTreeMap<String, SchemaValidator> = BTreeMap::new();
    let mut of_queries = CompiledSchemas::default();
    Ok(move |request: &Value| {
        if let Some(answer) = of_queries.answer(request) {
            return answer;
        }
        let text = |name: &str| request[name].as_str().unwrap_or_default();
        if request.get("step").is_some() {
            return json!(step(text("step"), text("code"), text("input")));
        }
        // Without a value, the schema is only compiled.
        let (target, value) = (text("schema"), request.get("value"));
        if !validators.contains_key(target) {
            match SchemaValidator::compile(target, &documents) {
                Ok(validator) => drop(validators.insert(target.to_owned(), validator)),
                Err(error) if value.is_none() => return json!(Result::<(), _>::Err(error)),
                Err(error) => return json!(Validity::Unknown(error.why)),
            }
        }
        let (Some(validator), Some(Value::String(value))) = (validators.get(target), value) else {
            return json!(Result::<(), ()>::Ok(()));
        };
        let value = serde_json::from_str(value).map_err(|error| error.to_string());
        json!(value.map_or_else(Validity::Unknown, |value| validator.validate(&value)))
    })
}

/// Runs a step on a JSON text or, after the uplift, on N-Triples. Runs without limits on time and memory.
fn step(kind: &str, code: &str, input: &str) -> Result<String, String> {
    match kind {
        "jq" => jq(code, input),
        "sparql-construct" | "sparql-update" | "shacl" | "shacl-af-rule" => {
            sparql(kind, code, input).map_err(|error| error.to_string())
        }
        kind => Err(format!("nothing here runs steps of the type {kind}")),
    }
}

/// Runs a jq program on a JSON text, and returns its first output.
pub fn jq(code: &str, input: &str) -> Result<String, String> {
    let input = jaq_json::read::parse_single(input.as_bytes()).map_err(|error| error.to_string())?;
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let arena = Arena::default();
    // Without a file reader, modules cannot be imported from files.
    let modules = Loader::new(definitions).load(&arena, File { code, path: () });
    let modules = modules.map_err(|_| "it is not a jq program, or imports another".to_owned())?;
    let filter = Compiler::default().with_funs(functions).compile(modules).map_err(|errors| {
        let unknown = errors.iter().flat_map(|(_, errors)| errors).map(|(name, _)| *name);
        format!("the built-in jq lacks {}", unknown.collect::<Vec<_>>().join(", "))
    })?;
    let context = Ctx::<data::JustLut<jaq_json::Val>>::new(&filter.lut, Vars::new([]));
    match filter.id.run((context, input)).map(unwrap_valr).next() {
        Some(Ok(value)) => Ok(value.to_string()),
        // The text of an error that the program raises is any value, such as `1`.
        Some(Err(error)) => Err(format!("jq ended with the error {error}")),
        None => Err("it gives nothing".to_owned()),
    }
}

fn sparql(kind: &str, code: &str, input: &str) -> Result<String, Box<dyn Error>> {
    let store = Store::new()?;
    for quad in RdfParser::from_format(RdfFormat::NTriples).for_slice(input) {
        store.insert(&quad?)?;
    }
    match kind {
        "sparql-construct" => match query_store(&store, code, None)? {
            QueryResults::Graph(triples) => return Ok(n_triples(&triples.collect::<Result<Vec<_>, _>>()?)),
            _ => return Err("it is not a CONSTRUCT query".into()),
        },
        // Built without an HTTP client, so SERVICE and LOAD fail.
        "sparql-update" => SparqlEvaluator::new().parse_update(code)?.on_store(&store).execute()?,
        _ => infer(code, &store)?,
    }
    let quads = store.quads_for_pattern(None, None, None, Some(GraphName::DefaultGraph.as_ref()));
    let triples = quads.map(|quad| quad.map(Triple::from)).collect::<Result<Vec<_>, _>>()?;
    Ok(n_triples(&triples))
}
