//! Compares a register with another one: its graphs as graphs, and its JSON member by member.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use oxrdf::Graph;
use oxrdf::graph::CanonicalizationAlgorithm;
use serde_json::Value;

use super::output::{Files, list};
use super::report::{MAX_LISTED, unlisted};
use super::turtle::read_turtle;
use crate::diagnostic::shortened;
use crate::json::pointer_token;

/// The maximum length of a value in a difference, in characters.
const MAX_VALUE: usize = 100;
/// The JSON files that are compared, by the end of their path.
const MEMBERS: [&str; 5] =
    ["register.json", "/context.jsonld", "/schema.json", "/resolvedProperties.json", "/index.json"];
/// The members that differ between any two programs or runs.
const OWN: [&str; 3] = ["/tooling", "/modified", "/generated"];

/// Returns the differences from the register in a folder, one line each: the graphs of examples and tests, and the members
/// of `register.json`, contexts, schemas and full entries.
///
/// # Errors
///
/// If the folder or a file in it cannot be read.
pub fn compare(files: &Files, folder: &Path) -> io::Result<Vec<String>> {
    let is_graph = |path: &str| path.starts_with("tests/") && path.ends_with(".ttl");
    let is_compared = |path: &String| is_graph(path) || MEMBERS.iter().any(|end| path.ends_with(end));
    let paths: BTreeSet<_> = list(folder)?.into_iter().chain(files.keys().cloned()).filter(is_compared).collect();
    let mut differences = Vec::new();
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
        if is_graph(&path) {
            differences.extend(graphs(ours, &theirs).map(|difference| format!("{path}: {difference}")));
            continue;
        }
        let mut found = Vec::new();
        match (serde_json::from_str(ours), serde_json::from_str(&theirs)) {
            (Ok(ours), Ok(theirs)) => members(&ours, &theirs, String::new(), &mut found),
            _ => found.push(": is not JSON on one side".to_owned()),
        }
        differences.extend(found.iter().take(MAX_LISTED).map(|difference| format!("{path}{difference}")));
        differences.extend(unlisted(found.len()).map(|more| format!("{path}: … and {more} more")));
    }
    Ok(differences)
}

/// Returns the difference between two graphs.
fn graphs(ours: &str, theirs: &str) -> Option<String> {
    match (graph(ours), graph(theirs)) {
        (Some(ours), Some(theirs)) if ours == theirs => None,
        (Some(ours), Some(theirs)) => Some(format!("another graph, {} triples and not {}", ours.len(), theirs.len())),
        _ => Some("is not Turtle on one side".to_owned()),
    }
}

fn graph(text: &str) -> Option<Graph> {
    let mut graph: Graph = read_turtle(text, None).ok()?.into_iter().collect();
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
