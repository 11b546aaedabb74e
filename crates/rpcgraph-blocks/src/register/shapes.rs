//! The shapes of a block ([SHACL](https://www.w3.org/TR/shacl/)), and their findings in the graph of each example.
//!
//! As in the OGC's tool, each file is a separate shapes graph. The `shacl` crate supports SHACL Core and SPARQL
//! constraints. Other parts of a shapes graph are not checked, and the report says so.

mod validator;

use std::collections::BTreeSet;

use oxrdf::vocab::rdf;
use oxrdf::{Graph, NamedNode, NamedNodeRef, NamedOrBlankNodeRef, TermRef, Triple};
use serde_json::{Value, json};

use self::validator::{ShapeFinding, ShapesValidator};
use super::error::BlockError;
use super::library::Library;
use super::report::{MAX_LISTED, ReportItem, SHAPES_NOT_CHECKED, Section, unlisted};
use super::rules::{SHACL, prefixes, sh};
use super::shapes_graphs::ShapesGraphs;
use crate::log::summary::counted;
use crate::query::Query;

const IMPORTS: &str = "http://www.w3.org/2002/07/owl#imports";

/// The properties of shapes that are checked, and those that only describe shapes to people.
const KNOWN: &str = "\
    alternativePath and class closed datatype deactivated declare defaultValue description disjoint equals flags \
    group hasValue ignoredProperties in inversePath languageIn lessThan lessThanOrEquals maxCount maxExclusive \
    maxInclusive maxLength message minCount minExclusive minInclusive minLength name namespace node nodeKind not \
    oneOrMorePath or order path pattern prefix prefixes property qualifiedMaxCount qualifiedMinCount \
    qualifiedValueShape qualifiedValueShapesDisjoint select severity sparql targetClass targetNode targetObjectsOf \
    targetSubjectsOf uniqueLang xone zeroOrMorePath zeroOrOnePath";

/// The shapes of a block.
#[derive(Default)]
pub struct Shapes {
    files: Vec<ShapesFile>,
    /// URLs of shapes and of closures, which are not fetched.
    remote: Vec<String>,
    /// The graphs of `shaclClosures`, which are validated as parts of each graph.
    closure: Vec<Triple>,
}

struct ShapesFile {
    name: String,
    validator: ShapesValidator,
    /// Terms in the file that are not checked.
    unknown: Vec<String>,
}

impl Shapes {
    /// Reads and compiles shapes by their URIs, and reads the graphs of their closures.
    pub fn open(uris: &[String], closures: &[String], library: &Library) -> Result<Self, BlockError> {
        let ShapesGraphs { shapes, closure, remote } = ShapesGraphs::read(uris, closures, library)?;
        let mut files = Vec::new();
        for (name, mut triples) in shapes {
            name_targets(&mut triples);
            let graph: Graph = triples.into_iter().collect();
            check_shapes(&graph).map_err(|message| broken(&name, &message))?;
            let validator = ShapesValidator::new(&graph).map_err(|message| broken(&name, &message))?;
            files.push(ShapesFile { name, validator, unknown: unknown_terms(&graph) });
        }
        Ok(Self { files, remote, closure })
    }

    /// Returns the reasons why shapes, or parts of them, are not used.
    pub fn notes(&self) -> Vec<String> {
        let remote = self.remote.iter().map(|url| format!("{url}: shapes are not fetched; put a copy in the block"));
        let unknown = self.files.iter().filter(|file| !file.unknown.is_empty()).map(ShapesFile::unused);
        remote.chain(unknown).collect()
    }

    /// Validates a graph against the shapes, and adds the findings to a report item.
    pub fn check(&self, triples: &[Triple], item: &mut ReportItem) {
        for url in &self.remote {
            let message = format!("Shapes not checked: {url} (not fetched)");
            item.done(Section::Shacl, message, json!({ "op": SHAPES_NOT_CHECKED, "shapes": [url] }));
        }
        let graph: Graph = triples.iter().chain(&self.closure).collect();
        for file in &self.files {
            let found = match file.validator.validate(&graph) {
                Ok(found) => found,
                Err(message) => {
                    let message = broken(&file.name, &message).to_string();
                    item.fail(Section::Shacl, message, json!({ "op": "shacl-report", "shaclFile": file.name }));
                    continue;
                }
            };
            let errors = found.iter().filter(|finding| finding.rank == 0).count();
            let message = format!("Validation result for {}: {}", file.name, outcome(errors, found.len() - errors));
            let payload = json!({ "op": "shacl-report", "shaclFile": file.name, "result": errors == 0 });
            item.done(Section::Shacl, message, payload);
            if !file.unknown.is_empty() {
                let payload = json!({ "op": SHAPES_NOT_CHECKED, "shapes": [file.name], "terms": file.unknown });
                item.done(Section::Shacl, file.unused(), payload);
            }
            for finding in found.iter().take(MAX_LISTED) {
                add_finding(finding, file, &graph, item);
            }
            if let Some(more) = unlisted(found.len()) {
                let message = format!("… and {more} more results for {}", file.name);
                item.done(Section::Shacl, message, json!({ "op": "shacl-result" }));
            }
        }
    }
}

impl ShapesFile {
    fn unused(&self) -> String {
        format!("{}: validation ignores {}", self.name, self.unknown.join(", "))
    }
}

fn broken(file: &str, message: &str) -> BlockError {
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    BlockError::unusable(file, format!("these shapes cannot be used: {message}"))
}

/// Gives IRIs to blank target nodes, which the `shacl` crate skips with their shapes. A blank target node is in no other
/// graph, like these IRIs: authors use one for a query about the graph as a whole.
fn name_targets(shapes: &mut [Triple]) {
    let described: BTreeSet<_> = shapes.iter().map(|triple| triple.subject.to_string()).collect();
    let targets =
        shapes.iter_mut().filter(|triple| triple.predicate == sh("targetNode") && triple.object.is_blank_node());
    for (triple, number) in targets.filter(|triple| !described.contains(&triple.object.to_string())).zip(1..) {
        triple.object = NamedNode::new_unchecked(format!("urn:rpcgraph:target-{number}")).into();
    }
}

/// Describes the outcome of a validation.
fn outcome(errors: usize, others: usize) -> String {
    let count = |count: usize, noun: &str| counted(count as u64, noun);
    match (errors, others) {
        (0, 0) => "conforms".to_owned(),
        (0, others) => format!("no violations, {}", count(others, "note")),
        (errors, 0) => count(errors, "violation"),
        (errors, others) => format!("{}, {}", count(errors, "violation"), count(others, "note")),
    }
}

/// Adds a finding to the report: an error if it is a violation.
fn add_finding(finding: &ShapeFinding, file: &ShapesFile, graph: &Graph, item: &mut ReportItem) {
    let mut message = format!("{}: {} (focus node {}", finding.severity, finding.message, finding.focus);
    if let Some(path) = path_to(graph, &finding.focus) {
        message.push_str(&format!(", at {path}"));
    }
    for (name, text) in [("path", &finding.path), ("value", &finding.value), ("shape", &finding.shape)] {
        // For a constraint on a node, the value is the node itself.
        if let Some(text) = text.as_ref().filter(|text| **text != finding.focus) {
            message.push_str(&format!(", {name} {text}"));
        }
    }
    message.push(')');
    let mut payload = json!({ "op": "shacl-result", "shaclFile": file.name });
    if let (Value::Object(payload), Value::Object(finding)) = (&mut payload, json!(finding)) {
        payload.extend(finding);
    }
    item.add(Section::Shacl, finding.rank == 0, message, payload);
}

/// Returns a path of properties to a blank node, since its label does not identify it to a reader. The path starts at a
/// named node, or at a node that is not an object of any triple.
fn path_to(graph: &Graph, node: &str) -> Option<String> {
    const FARTHEST: usize = 16;
    let label = node.strip_prefix("_:")?;
    let mut node = oxrdf::BlankNode::new(label).ok()?;
    let mut properties = Vec::new();
    let start = loop {
        let mut above: Vec<_> = graph.triples_for_object(&node).collect();
        above.sort_by_key(|triple| triple.to_string());
        let Some(triple) = above.first().filter(|_| properties.len() < FARTHEST) else {
            let class = graph.object_for_subject_predicate(&node, rdf::TYPE);
            break class.map_or_else(|| "a node".to_owned(), |class| format!("a {class}"));
        };
        properties.push(triple.predicate.to_string());
        match triple.subject {
            NamedOrBlankNodeRef::NamedNode(named) => break named.to_string(),
            NamedOrBlankNodeRef::BlankNode(blank) => node = blank.into_owned(),
        }
    };
    properties.push(start);
    properties.reverse();
    Some(properties.join(" / "))
}

/// Refuses shapes that the `shacl` crate would ignore: property shapes without a path, and queries that are invalid or
/// call a server.
fn check_shapes(graph: &Graph) -> Result<(), String> {
    for triple in sorted(graph.triples_for_predicate(&sh("property"))) {
        let shape = match triple.object.as_ref() {
            TermRef::NamedNode(node) => NamedOrBlankNodeRef::from(node),
            TermRef::BlankNode(node) => node.into(),
            other => return Err(format!("{other} is the object of sh:property and no property shape")),
        };
        if graph.object_for_subject_predicate(shape, &sh("path")).is_none() {
            return Err(format!("a property shape of {} lacks a sh:path", triple.subject));
        }
    }
    let prefixes = prefixes(graph);
    for triple in sorted(graph.triples_for_predicate(&sh("select"))) {
        let TermRef::Literal(select) = triple.object.as_ref() else {
            return Err(format!("{} is the object of sh:select and no query", triple.object));
        };
        // Any path makes the query valid.
        let select = select.value().replace("$PATH", "<urn:path>");
        let query = Query::parse(&format!("{prefixes}{select}"), None).map_err(|error| {
            let shape = graph.subject_for_predicate_object(&sh("sparql"), triple.subject.as_ref());
            let shape = shape.map_or_else(|| "a shape".to_owned(), |shape| shape.to_string());
            format!("the query of {shape} is none: {error}")
        })?;
        if query.uses_services() {
            return Err("a query calls another server with SERVICE, which shapes may not".to_owned());
        }
    }
    Ok(())
}

/// Returns the terms of SHACL, and imports, that are not checked.
fn unknown_terms(graph: &Graph) -> Vec<String> {
    let unknown = |predicate: NamedNodeRef<'_>| match predicate.as_str().strip_prefix(SHACL) {
        Some(name) => (!KNOWN.split(' ').any(|known| known == name)).then(|| format!("sh:{name}")),
        None => (predicate.as_str() == IMPORTS).then(|| "owl:imports".to_owned()),
    };
    graph.iter().filter_map(|triple| unknown(triple.predicate)).collect::<BTreeSet<_>>().into_iter().collect()
}

fn sorted<'g>(triples: impl Iterator<Item = oxrdf::TripleRef<'g>>) -> Vec<Triple> {
    let mut triples: Vec<_> = triples.map(oxrdf::TripleRef::into_owned).collect();
    triples.sort_by_cached_key(ToString::to_string);
    triples
}
