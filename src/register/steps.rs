//! Steps beside the uplift: jq on an example before it, SPARQL and rules of SHACL on its graph after it.
//!
//! They are strangers' programs. They run in a worker, which has no environment to tell and can read no file.

use std::error::Error;

use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars, data, unwrap_valr};
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::Store;
use oxrdf::{GraphName, Triple};
use oxrdfio::{RdfFormat, RdfParser};
use serde::Deserialize;
use serde_json::{Value, json};

use super::BlockError;
use super::block::BLOCK;
use super::folder::Folder;
use super::report::without_nulls;
use super::rules::infer;

/// The file that a block's steps stand in.
pub const FILES: &[&str] = &["semantic-uplift.yaml", "semantic-uplift.yml"];

/// A kind of step.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// A jq program, whose first output goes over the example.
    Jq,
    /// A query, whose graph goes over that of the example.
    SparqlConstruct,
    /// A change of the example's graph.
    SparqlUpdate,
    /// Rules of SHACL, which add to the example's graph.
    #[serde(alias = "shacl-af-rule")]
    Shacl,
    /// Of transforms: jq, types and a context, which make a graph of JSON.
    SemanticUplift,
    /// What nothing here runs.
    #[serde(untagged)]
    Other(String),
}

/// A step.
#[derive(Debug, Clone, Deserialize)]
pub struct Step {
    /// Its kind.
    pub r#type: StepKind,
    /// Its program; read from the file that it names.
    #[serde(default)]
    pub code: String,
    r#ref: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StepsFile {
    additional_steps: Vec<Step>,
}

impl Step {
    /// What registers say of it. `source` gives the URL of a file of the block.
    pub fn entry(&self, source: impl Fn(&str) -> Option<String>) -> Value {
        let stage = if self.r#type.takes_rdf() { "post" } else { "pre" };
        let url = self.r#ref.as_deref().and_then(source);
        let code = Some(&self.code).filter(|_| url.is_none());
        without_nulls(json!({ "type": self.r#type.name(), "code": code, "ref": url, "stage": stage }))
    }
}

impl StepKind {
    /// Whether it goes from RDF to RDF.
    pub fn takes_rdf(&self) -> bool {
        matches!(self, Self::SparqlConstruct | Self::SparqlUpdate | Self::Shacl)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Jq => "jq",
            Self::SparqlConstruct => "sparql-construct",
            Self::SparqlUpdate => "sparql-update",
            Self::Shacl => "shacl",
            Self::SemanticUplift => "semantic-uplift",
            Self::Other(name) => name,
        }
    }
}

/// The steps of a block, with their programs.
pub fn read(folder: &Folder) -> Result<Vec<Step>, BlockError> {
    let (name, StepsFile { additional_steps: mut steps }) = folder.read_first(FILES, BLOCK)?;
    for step in &mut steps {
        if let Some(reference) = &step.r#ref {
            step.code = folder.read(reference, name)?;
        }
    }
    Ok(steps)
}

/// What a step makes of a JSON text or, after the uplift, of N-Triples. Takes any time and memory that its program takes.
pub fn run(kind: &str, code: &str, input: &str) -> Result<String, String> {
    match kind {
        "jq" => jq(code, input),
        "sparql-construct" | "sparql-update" | "shacl" => sparql(kind, code, input).map_err(|error| error.to_string()),
        kind => Err(format!("nothing here runs steps of the type {kind}")),
    }
}

fn jq(code: &str, input: &str) -> Result<String, String> {
    let input = jaq_json::read::parse_single(input.as_bytes()).map_err(|error| error.to_string())?;
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let arena = Arena::default();
    // Without a reader, modules cannot be files.
    let modules = Loader::new(definitions).load(&arena, File { code, path: () });
    let modules = modules.map_err(|_| "it is not a jq program, or imports another".to_owned())?;
    let filter = Compiler::default().with_funs(functions).compile(modules).map_err(|errors| {
        let unknown = errors.iter().flat_map(|(_, errors)| errors).map(|(name, _)| *name);
        format!("there is no {} in the jq that is used here", unknown.collect::<Vec<_>>().join(", "))
    })?;
    let context = Ctx::<data::JustLut<jaq_json::Val>>::new(&filter.lut, Vars::new([]));
    match filter.id.run((context, input)).map(unwrap_valr).next() {
        Some(Ok(value)) => Ok(value.to_string()),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("it gives nothing".to_owned()),
    }
}

fn sparql(kind: &str, code: &str, input: &str) -> Result<String, Box<dyn Error>> {
    let store = Store::new()?;
    for quad in RdfParser::from_format(RdfFormat::NTriples).for_slice(input) {
        store.insert(&quad?)?;
    }
    // It is built without a client, so SERVICE and LOAD lead nowhere.
    let evaluator = SparqlEvaluator::new();
    match kind {
        "sparql-construct" => match evaluator.parse_query(code)?.on_store(&store).execute()? {
            QueryResults::Graph(triples) => return Ok(n_triples(&triples.collect::<Result<Vec<_>, _>>()?)),
            _ => return Err("it is not a CONSTRUCT query".into()),
        },
        "shacl" => infer(code, &store)?,
        _ => evaluator.parse_update(code)?.on_store(&store).execute()?,
    }
    let quads = store.quads_for_pattern(None, None, None, Some(GraphName::DefaultGraph.as_ref()));
    let triples = quads.map(|quad| quad.map(Triple::from)).collect::<Result<Vec<_>, _>>()?;
    Ok(n_triples(&triples))
}

/// Triples as N-Triples.
pub fn n_triples(triples: &[Triple]) -> String {
    triples.iter().map(|triple| format!("{triple} .\n")).collect()
}
