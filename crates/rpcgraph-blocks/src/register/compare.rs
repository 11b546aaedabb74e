//! Compares the graphs of two registers.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use oxrdf::Graph;
use oxrdf::graph::CanonicalizationAlgorithm;

use super::output::{Files, list};
use super::turtle::read_turtle;

/// Returns the differences between the graphs of examples and tests and the graphs in the folder of another register,
/// one line each.
///
/// # Errors
///
/// If the folder or a file in it cannot be read.
pub fn compare(files: &Files, folder: &Path) -> io::Result<Vec<String>> {
    let is_graph = |path: &String| path.starts_with("tests/") && path.ends_with(".ttl");
    let paths: BTreeSet<_> = list(folder)?.into_iter().chain(files.keys().cloned()).filter(is_graph).collect();
    let mut differences = Vec::new();
    for path in paths {
        let theirs = folder.join(&path);
        let difference = match files.get(&path) {
            None => "is not made".to_owned(),
            Some(_) if !theirs.exists() => "is not there".to_owned(),
            Some(ours) => match (graph(ours), graph(&String::from_utf8_lossy(&fs::read(theirs)?))) {
                (Some(ours), Some(theirs)) if ours == theirs => continue,
                (Some(ours), Some(theirs)) => format!("another graph, {} triples and not {}", ours.len(), theirs.len()),
                _ => "is not Turtle on one side".to_owned(),
            },
        };
        differences.push(format!("{path}: {difference}"));
    }
    Ok(differences)
}

fn graph(text: &str) -> Option<Graph> {
    let mut graph: Graph = read_turtle(text, None).ok()?.into_iter().collect();
    graph.canonicalize(CanonicalizationAlgorithm::Unstable);
    Some(graph)
}
