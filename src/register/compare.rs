//! Compares the graphs of two registers.

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
    let mut there = list(folder)?;
    there.retain(is_graph);
    let mut differences: Vec<_> = files
        .keys()
        .filter(|path| is_graph(path) && !there.contains(path))
        .map(|path| format!("{path}: is not there"))
        .collect();
    for path in there {
        let theirs = fs::read(folder.join(&path))?;
        differences.extend(
            match files.get(&path).map(|ours| (graph(ours), graph(&String::from_utf8_lossy(&theirs)))) {
                None => Some(format!("{path}: is not made")),
                Some((Some(ours), Some(theirs))) if ours == theirs => None,
                Some((Some(ours), Some(theirs))) => {
                    Some(format!("{path}: another graph, {} triples and not {}", ours.len(), theirs.len()))
                }
                Some(_) => Some(format!("{path}: is not Turtle on one side")),
            },
        );
    }
    differences.sort();
    Ok(differences)
}

fn graph(text: &str) -> Option<Graph> {
    let mut graph: Graph = read_turtle(text, None).ok()?.into_iter().collect();
    graph.canonicalize(CanonicalizationAlgorithm::Unstable);
    Some(graph)
}
