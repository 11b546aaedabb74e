//! Transforms: programs that make further outputs from a block's examples, with the media types of their inputs and
//! outputs.
//!
//! Each transform runs on every snippet of a media type that it takes, and on the JSON-LD and the Turtle that JSON
//! snippets were uplifted to. Transforms of unsupported types are reported.

use std::borrow::Cow;

use super::error::said;
use super::examples::Prefixes;
use super::item::ItemRunner;
use super::language::Language;
use super::steps::{StepKind, Transform};
use super::turtle::{self, n_triples, read_turtle};
use super::uplift_definition::program;
use crate::json::{self, pretty};

/// Runs a transform on a text in a language that it takes. The error is the reason why it failed. `url` is the
/// URL of the output.
pub fn run(
    transform: &Transform,
    text: &str,
    language: &Language,
    prefixes: &Prefixes,
    url: Option<&str>,
    runner: &mut ItemRunner,
) -> Result<String, String> {
    let Some(code) = &transform.code else { return Err(transform.lacking.clone()) };
    let graph = |triples| Ok(turtle::write(&turtle::normal(triples), prefixes));
    if transform.r#type == StepKind::SemanticUplift {
        let program = program(code).map_err(|error| error.to_string())?;
        let document = runner.sandbox.borrow_mut().step(&StepKind::Jq, &program, text)?;
        let document = json::parse(document.as_bytes()).map_err(|error| error.to_string())?;
        let uplifted = runner.uplifter.convert_jsonld(&document, &Prefixes::new(), url);
        return graph(uplifted.map_err(|error| said(&error))?.triples);
    }
    let is_rdf = transform.r#type.takes_rdf();
    let triples = |text: &str| read_turtle(text, None).map_err(|error| error.to_string());
    let input = match (is_rdf, language) {
        (true, Language::Turtle) => Cow::Owned(n_triples(&triples(text)?)),
        (true, _) => return Err("it takes RDF, and is run on Turtle alone".to_owned()),
        (false, _) => Cow::Borrowed(text),
    };
    let output = runner.sandbox.borrow_mut().step(&transform.r#type, code, &input)?;
    if is_rdf {
        // N-Triples is a subset of Turtle.
        return graph(triples(&output)?);
    }
    json::parse(output.as_bytes()).map(|value| pretty(&value) + "\n").map_err(|error| error.to_string())
}
