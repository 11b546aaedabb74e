//! Compares a register with another one, file by file: graphs as graphs, JSON and YAML member by member.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use oxrdf::graph::CanonicalizationAlgorithm;
use oxrdf::{Graph, Triple};
use oxrdfio::{JsonLdProfileSet, RdfFormat, RdfParser};
use serde_json::Value;

use super::output::{Files, list};
use super::report::{MAX_LISTED, unlisted};
use super::yaml;
use crate::diagnostic::shortened;
use crate::json::pointer_token;

/// The maximum length of a value in a difference, in characters.
const MAX_VALUE: usize = 100;
/// The members that differ between any two programs or runs.
const OWN: [&str; 3] = ["/tooling", "/modified", "/generated"];

/// A register beside another.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The differences, one line each.
    pub differences: Vec<String>,
    /// The files that are not equal, and whose kind is not compared.
    pub not_compared: Vec<String>,
}

/// The kind of a file, by which it is compared.
enum FileKind {
    /// Turtle, and the catalogue in JSON-LD: as a graph.
    Graph(RdfFormat),
    /// JSON and YAML: member by member.
    Members,
    /// Texts for people.
    Text,
}

impl FileKind {
    fn of(path: &str) -> Self {
        match path.rsplit('.').next().unwrap_or_default() {
            "ttl" => Self::Graph(RdfFormat::Turtle),
            _ if path == "bblocks.jsonld" => Self::Graph(RdfFormat::JsonLd { profile: JsonLdProfileSet::empty() }),
            "json" | "jsonld" | "yaml" | "yml" => Self::Members,
            _ => Self::Text,
        }
    }
}

/// Compares a register with the register in a folder: each file that one of them has, by its kind.
///
/// # Errors
///
/// If the folder or a file in it cannot be read.
pub fn compare(files: &Files, folder: &Path) -> io::Result<Comparison> {
    let paths: BTreeSet<_> = list(folder)?.into_iter().chain(files.keys().cloned()).collect();
    let mut comparison = Comparison::default();
    let Comparison { differences, not_compared } = &mut comparison;
    for path in paths {
        let theirs = folder.join(&path);
        let Some(ours) = files.get(&path) else {
            differences.push(format!("{path}: is not made"));
            continue;
        };
        if !theirs.exists() {
            differences.push(format!("{path}: is not there"));
            continue;
        }
        let theirs = String::from_utf8_lossy(&fs::read(theirs)?).into_owned();
        if *ours == theirs {
            continue;
        }
        match FileKind::of(&path) {
            FileKind::Graph(format) => {
                differences.extend(graphs(ours, &theirs, format).map(|difference| format!("{path}: {difference}")));
            }
            FileKind::Members => {
                let mut found = Vec::new();
                match (parsed(&path, ours), parsed(&path, &theirs)) {
                    (Some(ours), Some(theirs)) => members(&ours, &theirs, String::new(), &mut found),
                    _ => found.push(": cannot be parsed on one side".to_owned()),
                }
                differences.extend(found.iter().take(MAX_LISTED).map(|difference| format!("{path}{difference}")));
                differences.extend(unlisted(found.len()).map(|more| format!("{path}: … and {more} more")));
            }
            FileKind::Text => not_compared.push(path),
        }
    }
    Ok(comparison)
}

/// Parses JSON or, by the extension, YAML.
fn parsed(path: &str, text: &str) -> Option<Value> {
    let is_yaml = path.ends_with(".yaml") || path.ends_with(".yml");
    if is_yaml { yaml::read(text).ok() } else { serde_json::from_str(text).ok() }
}

/// Returns the difference between two graphs.
fn graphs(ours: &str, theirs: &str, format: RdfFormat) -> Option<String> {
    match (graph(ours, format), graph(theirs, format)) {
        (Some(ours), Some(theirs)) if ours == theirs => None,
        (Some(ours), Some(theirs)) => Some(format!("another graph, {} triples and not {}", ours.len(), theirs.len())),
        _ => Some(format!("is not {} on one side", format.name())),
    }
}

fn graph(text: &str, format: RdfFormat) -> Option<Graph> {
    // References in the register of a block are relative.
    let parser = RdfParser::from_format(format).with_base_iri("https://example.invalid/").ok()?;
    let mut graph: Graph = parser.for_slice(text).map(|quad| quad.map(Triple::from)).collect::<Result<_, _>>().ok()?;
    graph.canonicalize(CanonicalizationAlgorithm::Unstable);
    Some(graph)
}

/// Adds the differences between two values at a JSON Pointer. Blocks are found by their identifiers, and lists of texts
/// count as sets.
fn members(ours: &Value, theirs: &Value, at: String, found: &mut Vec<String>) {
    if ours == theirs || OWN.contains(&at.as_str()) {
        return;
    }
    let names: Vec<_> = keys(ours).into_iter().flatten().chain(keys(theirs).into_iter().flatten()).collect();
    if keys(ours).is_none() || keys(theirs).is_none() {
        return found.push(format!("{at}: {} and not {}", shown(ours), shown(theirs)));
    }
    let mut known = BTreeSet::new();
    for (name, _) in names.iter().filter(|(name, _)| known.insert(name.clone())) {
        let at = format!("{at}/{}", pointer_token(name));
        match [ours, theirs].map(|value| keys(value)?.into_iter().find(|(other, _)| other == name)) {
            [Some((_, ours)), Some((_, theirs))] => members(ours, theirs, at, found),
            [None, Some((_, theirs))] => found.push(format!("{at}: is not made: {}", shown(theirs))),
            [Some((_, ours)), None] => found.push(format!("{at}: is not there: {}", shown(ours))),
            [None, None] => {}
        }
    }
}

/// Returns the members of an object, or the items of a list with names.
fn keys(value: &Value) -> Option<Vec<(String, &Value)>> {
    let name = |(index, item): (usize, &Value)| match item.as_str().or_else(|| item.get("itemIdentifier")?.as_str()) {
        Some(name) => name.to_owned(),
        None => index.to_string(),
    };
    match value {
        Value::Object(members) => Some(members.iter().map(|(name, value)| (name.clone(), value)).collect()),
        Value::Array(items) => Some(items.iter().enumerate().map(|(at, item)| (name((at, item)), item)).collect()),
        _ => None,
    }
}

fn shown(value: &Value) -> String {
    shortened(&value.to_string(), MAX_VALUE).into_owned()
}
