//! Runs one example or test: reads, uplifts and validates it, which gives files and an item of the report.

use std::borrow::Cow;
use std::cell::RefCell;

use indexmap::IndexMap;
use oxrdf::Triple;
use serde_json::json;

use super::block::Block;
use super::examples::Prefixes;
use super::language::Language;
use super::lost::MissingValue;
use super::report::{ItemSubject, MAX_LISTED, NOT_VALIDATED, PARSE_ERROR, ReportItem, Section, TURTLE, unlisted};
use super::sandbox::Sandbox;
use super::schema::Schemas;
use super::shapes::Shapes;
use super::site::REPORTS;
use super::steps::Program;
use super::turtle::{self, read_turtle};
use super::uplift::{Uplifted, Uplifter};
use super::yaml;
use crate::diagnostic::markup::turtle_iri;
use crate::json::{self, pretty, without_nulls};
pub use crate::schema::Validity;

/// An example or test, with everything that is needed to run it.
pub struct ItemJob<'j> {
    /// Its place in the block, for the report.
    pub subject: ItemSubject,
    /// Its language.
    pub language: &'j Language,
    /// Name of its files, without extension.
    pub stem: &'j str,
    /// Prefixes that it may use without declaring them.
    pub prefixes: &'j Prefixes,
    /// Base IRI.
    pub base: Option<&'j str>,
    /// The schema that it is an example of. `None` for the block's own schema.
    pub schema_ref: Option<&'j str>,
    /// True if it must fail.
    pub must_fail: bool,
}

/// The outcome of an example or test.
#[derive(Debug)]
pub struct ItemOutcome {
    /// The item of the report.
    pub item: ReportItem,
    /// The JSON-LD.
    pub jsonld: Option<String>,
    /// The Turtle.
    pub turtle: Option<String>,
    /// The graph; its blank nodes are `b0`, `b1`, ….
    graph: Vec<Triple>,
    /// Files by path, starting with the file of the example or test itself.
    pub files: Vec<(String, String)>,
    /// The file of the schema that validated it, with a fragment.
    pub schema: Option<String>,
}

impl ItemOutcome {
    /// Adds the file of the example or test itself.
    fn add_own(&mut self, text: impl Into<String>) {
        self.files.push((self.item.file.clone(), text.into()));
    }
}

/// Runs examples and tests of one block.
pub struct ItemRunner<'b> {
    /// The block.
    pub block: &'b Block,
    /// Uplifts JSON to RDF.
    pub uplifter: Uplifter<'b>,
    /// Validates JSON.
    pub schemas: Schemas<'b>,
    /// Runs untrusted code.
    pub sandbox: &'b RefCell<Sandbox>,
    /// Validates graphs.
    pub shapes: Shapes,
    /// True if the context is incomplete, for reasons that are errors of the block.
    pub is_incomplete: bool,
    /// True if a loss makes an item fail.
    pub strict: bool,
}

impl ItemRunner<'_> {
    /// Runs an example or test on its text.
    pub fn run(&self, job: &ItemJob<'_>, text: &str, done: &mut ItemOutcome) {
        let name = format!("{}.{}", job.stem, job.language.extension());
        let from = match job.subject {
            ItemSubject::Example { .. } => "examples",
            ItemSubject::Test { .. } => "test resources",
        };
        let using = format!("Using {name} from {from}");
        match job.language {
            Language::Json | Language::JsonLd => self.json(job, text, &using, done),
            Language::Yaml => self.yaml(job, text, &using, done),
            Language::Turtle => self.turtle(job, text, &using, done),
            Language::Other(_) => done.add_own(text),
        }
        if !done.graph.is_empty() {
            self.shapes.check(&done.graph, &mut done.item);
        }
        done.item.require_failure();
    }

    /// Creates the outcome of an example or test, still without results.
    pub fn begin(&self, job: &ItemJob<'_>) -> ItemOutcome {
        let file = self.block.site.test(&format!("{}.{}", job.stem, job.language.extension()));
        let item = ReportItem {
            subject: job.subject.clone(),
            must_fail: job.must_fail,
            url: self.block.site.url(&file),
            href: self.block.site.reference_from(REPORTS[0], &file),
            file,
            language: job.language.media_type().to_owned(),
            entries: Vec::new(),
            losses: 0,
        };
        ItemOutcome { item, jsonld: None, turtle: None, graph: Vec::new(), files: Vec::new(), schema: None }
    }

    fn yaml(&self, job: &ItemJob<'_>, text: &str, using: &str, done: &mut ItemOutcome) {
        done.add_own(text);
        match yaml::read(text) {
            Ok(value) => {
                done.item.done(Section::Files, using, json!({}));
                self.validate(job, &value, done);
            }
            Err(error) => {
                let payload = json!({ "op": PARSE_ERROR, "line": error.line() });
                done.item.fail(Section::JsonSchema, format!("Error parsing YAML: {error}"), payload);
            }
        }
    }

    fn json(&self, job: &ItemJob<'_>, text: &str, using: &str, done: &mut ItemOutcome) {
        // The first parser is strict about characters and numbers; the second keeps their spelling.
        let value = serde_json::from_str::<serde_json::Value>(text).map_err(|error| {
            (error.to_string(), json!({ "op": PARSE_ERROR, "line": error.line(), "col": error.column() }))
        });
        let spelled = json::parse(text.as_bytes()).map_err(|error| (error.to_string(), json!({ "op": PARSE_ERROR })));
        let (value, spelled) = match value.and_then(|value| Ok((value, spelled?))) {
            Ok(read) => read,
            Err((error, payload)) => {
                done.item.fail(Section::JsonSchema, format!("Error parsing JSON: {error}"), payload);
                return done.add_own(text);
            }
        };
        done.item.done(Section::Files, using, json!({}));
        if spelled.evidence().duplicate_member {
            self.loss(&mut done.item, "of members that have one name, only the last is used", None);
        }
        if self.is_incomplete {
            done.item.fail(Section::JsonLd, "The context is not complete", json!({ "op": "context-incomplete" }));
        }
        let has_context = self.uplifter.has_context() || !job.prefixes.is_empty() || value.get("@context").is_some();
        let uplifted = if *job.language == Language::Json {
            done.add_own(pretty(&spelled) + "\n");
            if !has_context {
                return self.validate(job, &value, done);
            }
            let Some(text) = self.prepared(text, done) else { return self.validate(job, &value, done) };
            let message = "JSON-LD context is present - uplifting";
            done.item.done(Section::Files, message, json!({ "op": "jsonld-uplift" }));
            match json::parse(text.as_bytes()) {
                Ok(prepared) => self.uplifter.convert(&prepared, job.prefixes, job.base, false),
                Err(error) => Err(format!("what jq gives is not JSON: {error}")),
            }
        } else {
            self.uplifter.convert(&spelled, job.prefixes, job.base, true)
        };
        match uplifted {
            Ok(uplifted) => {
                if let Some(uplifted) = self.finished(job, uplifted, done) {
                    self.write_uplifted(job, uplifted, done);
                }
            }
            Err(error) => {
                let message = format!("Error found when uplifting JSON-LD: {error}");
                done.item.fail(Section::JsonLd, message, json!({ "op": "jsonld-uplift-error" }));
                if *job.language == Language::JsonLd {
                    done.add_own(pretty(&spelled) + "\n");
                }
            }
        }
        self.validate(job, &value, done);
    }

    /// Runs the steps before the uplift on an example. `None` if a step fails.
    fn prepared<'t>(&self, text: &'t str, done: &mut ItemOutcome) -> Option<Cow<'t, str>> {
        let mut steps = self.block.steps.iter().filter(|step| !step.takes_rdf());
        steps.try_fold(Cow::Borrowed(text), |text, step| {
            step_value(step, step.run(&text, self.sandbox), done).map(Cow::Owned)
        })
    }

    /// Runs the steps after the uplift on a graph. `None` if a step fails.
    fn finished(&self, job: &ItemJob<'_>, mut uplifted: Uplifted, done: &mut ItemOutcome) -> Option<Uplifted> {
        for step in self.block.steps.iter().filter(|step| *job.language == Language::Json && step.takes_rdf()) {
            uplifted.triples = step_value(step, step.run_on_graph(&uplifted.triples, self.sandbox), done)?;
        }
        Some(uplifted)
    }

    fn write_uplifted(&self, job: &ItemJob<'_>, uplifted: Uplifted, done: &mut ItemOutcome) {
        let name = format!("{}.jsonld", job.stem);
        done.files.push((self.block.site.test(&name), format!("{}\n", uplifted.document)));
        if *job.language == Language::Json {
            let message = format!("Output JSON-LD {name} created");
            done.item.done(Section::Files, message, json!({ "op": "jsonld-create", "filename": name }));
        }
        done.jsonld = Some(uplifted.document);
        self.write_turtle(job, turtle::normal(uplifted.triples), done);
        let before = done.item.losses;
        let lost = by_place(&uplifted.lost);
        for (places, first, count) in lost.iter().take(MAX_LISTED) {
            let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
            self.loss(&mut done.item, &format!("{places}: {}{times}", first.why), Some(&first.pointer));
        }
        if let Some(more) = unlisted(lost.len()) {
            self.loss(&mut done.item, &format!("… and {more} more"), None);
        }
        uplifted.losses.iter().take(MAX_LISTED).for_each(|loss| self.loss(&mut done.item, loss, None));
        done.item.losses = before + uplifted.lost.len() + uplifted.losses.len();
    }

    /// Adds a loss to an item: an error in strict mode, otherwise a note.
    fn loss(&self, item: &mut ReportItem, what: &str, pointer: Option<&String>) {
        item.losses += 1;
        let (message, payload) = (format!("Lost: {what}"), json!({ "op": "uplift-loss", "path": pointer }));
        item.add(Section::JsonLd, self.strict, message, without_nulls(payload));
    }

    fn write_turtle(&self, job: &ItemJob<'_>, triples: Vec<Triple>, done: &mut ItemOutcome) {
        let name = format!("{}.ttl", job.stem);
        let prefixes = turtle::prefixes(self.uplifter.context.value(), job.prefixes);
        let empty = triples.is_empty();
        let text = if empty { "# No triples\n".to_owned() } else { turtle::write(&triples, &prefixes) };
        let payload = json!({ "op": TURTLE, "empty": empty, "filename": name, "size": triples.len() });
        let what = if empty { "**Empty** output" } else { "Output" };
        done.item.add(Section::Files, empty, format!("{what} Turtle {name} created"), payload);
        done.files.push((self.block.site.test(&name), text.clone()));
        done.turtle = Some(text);
        done.graph = triples;
    }

    /// Reads Turtle, with the base and the prefixes that it may use without declaring them written in front.
    fn turtle(&self, job: &ItemJob<'_>, text: &str, using: &str, done: &mut ItemOutcome) {
        let base = job.base.map(|base| format!("@base {} .\n", turtle_iri(base)));
        let is_name = |name: &str| !name.contains(|c: char| c.is_whitespace() || "<>:#\"'".contains(c));
        let prefixes = job.prefixes.iter().filter(|(name, _)| is_name(name));
        let prefixes = prefixes.map(|(name, namespace)| format!("@prefix {name}: {} .\n", turtle_iri(namespace)));
        let mut whole: String = base.into_iter().chain(prefixes).collect();
        if !whole.is_empty() {
            whole.push('\n');
        }
        whole.push_str(text);
        done.item.done(Section::Files, using, json!({}));
        match read_turtle(&whole, done.item.url.as_deref()) {
            Ok(triples) if triples.is_empty() => {
                done.item.fail(Section::Turtle, "The Turtle does not contain triples", json!({ "empty": true }));
            }
            Ok(triples) => done.graph = turtle::normal(triples),
            Err(error) => {
                let payload = json!({ "op": PARSE_ERROR });
                done.item.fail(Section::Turtle, format!("Error parsing Turtle: {error}"), payload);
            }
        }
        done.add_own(whole);
    }

    fn validate(&self, job: &ItemJob<'_>, value: &serde_json::Value, done: &mut ItemOutcome) {
        let reference = job.schema_ref.unwrap_or_default();
        // In a document with several nodes, the schema describes the nodes.
        let value = value.get("@graph").unwrap_or(value);
        let Some(verdict) = self.schemas.validate(reference, value) else { return };
        if let Some(reference) = job.schema_ref {
            let message = format!("Using the following JSON Schema: {reference}");
            done.item.done(Section::JsonSchema, message, json!({ "filename": reference }));
        }
        done.schema = self.schemas.shown(reference);
        match verdict {
            Validity::Valid | Validity::Unchecked => {
                let payload = json!({ "op": "validation", "result": true });
                let partly = if verdict == Validity::Unchecked { ", but not every condition is checked" } else { "" };
                done.item.done(Section::JsonSchema, format!("Validation passed{partly}"), payload);
            }
            Validity::Unknown(why) => {
                let message = format!("Not validated: {why}");
                done.item.fail(Section::JsonSchema, message, json!({ "op": NOT_VALIDATED }));
            }
            Validity::Invalid(invalid) => {
                let places = [&invalid.instance, &invalid.keyword];
                let [at, keyword] = places.map(|place| if place.is_empty() { "the top" } else { place.as_str() });
                let message = format!("Validation failed: {}, at {at} (schema: {keyword})", invalid.message);
                let payload = json!({
                    "op": "validation",
                    "result": false,
                    "errorMessage": invalid.message,
                    "instancePath": invalid.instance,
                    "schemaPath": invalid.keyword,
                });
                done.item.fail(Section::JsonSchema, message, payload);
            }
        }
    }
}

/// Reports the outcome of a step. `None` if it failed: the example then does not get a graph, since the graph would differ
/// without the step.
fn step_value<T>(step: &Program, outcome: Result<T, String>, done: &mut ItemOutcome) -> Option<T> {
    let (name, payload) = (&step.r#type, json!({ "op": step.r#type }));
    match &outcome {
        Ok(_) => done.item.done(Section::SemanticUplift, format!("Step {name} is run"), payload),
        Err(error) => {
            let message = format!("No graph, for the step {name} cannot be run: {error}");
            done.item.fail(Section::SemanticUplift, message, payload);
        }
    }
    outcome.ok()
}

/// Groups losses whose places differ only in array indexes. Returns each group's place with `*` for an index, its first
/// loss, and the number of its losses.
fn by_place(lost: &[MissingValue]) -> Vec<(String, &MissingValue, usize)> {
    let mut found: IndexMap<(String, &'static str), (&MissingValue, usize)> = IndexMap::new();
    for one in lost {
        let is_index = |token: &str| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
        let places: Vec<_> = one.pointer.split('/').map(|token| if is_index(token) { "*" } else { token }).collect();
        found.entry((places.join("/"), one.why)).or_insert((one, 0)).1 += 1;
    }
    let groups = found.into_iter().map(|((places, _), (first, count))| match count {
        1 => (first.pointer.clone(), first, 1),
        _ => (places, first, count),
    });
    groups.collect()
}
