//! A register beside one that was published: what differs, by file and, in JSON, by JSON Pointer.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use oxrdf::Graph;
use oxrdf::graph::CanonicalizationAlgorithm;
use serde_json::Value;

use super::block::{ANY_BASE, read_turtle};
use super::output::{Files, list};
use super::report::{MAX_LISTED, unlisted};
use crate::json::pointer_token;

/// Members that tell when something was made.
const TIMES: [&str; 3] = ["generated", "modified", "dateOfLastChange"];

/// What differs between the files of a register and a folder, a line each: files that only one of them has, graphs that are not
/// isomorphic, members of JSON, and other files whose bytes differ. Times at which something was made are not looked at, nor
/// links in the folder.
///
/// # Errors
///
/// If the folder or a file in it cannot be read.
pub fn compare(files: &Files, folder: &Path) -> io::Result<Vec<String>> {
    let is_file = |path: &String| folder.join(path).symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    let there: BTreeSet<_> = list(folder)?.into_iter().filter(is_file).collect();
    let mut differences: Vec<_> = there
        .iter()
        .filter(|path| !files.contains_key(*path))
        .map(|path| format!("{path}: is not made any more"))
        .collect();
    for (path, ours) in files {
        if !there.contains(path) {
            differences.push(format!("{path}: is not there"));
            continue;
        }
        let theirs = String::from_utf8_lossy(&fs::read(folder.join(path))?).into_owned();
        if *ours != theirs {
            differences.extend(different(path, ours, &theirs).into_iter().map(|what| format!("{path}: {what}")));
        }
    }
    differences.sort();
    Ok(differences)
}

fn different(path: &str, ours: &str, theirs: &str) -> Vec<String> {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    match extension {
        "ttl" => match (graph(ours), graph(theirs)) {
            (Some(ours), Some(theirs)) if ours == theirs => Vec::new(),
            (Some(ours), Some(theirs)) => {
                vec![format!("another graph, {} triples and not {}", ours.len(), theirs.len())]
            }
            _ => vec!["is no Turtle on one side".to_owned()],
        },
        "json" | "jsonld" => match (parsed(ours), parsed(theirs)) {
            (Some(ours), Some(theirs)) => {
                let mut found = Vec::new();
                members(&ours, &theirs, "", &mut found);
                let more = unlisted(found.len());
                found.truncate(MAX_LISTED);
                found.extend(more.map(|more| format!("… and {more} more differences")));
                found
            }
            _ => vec!["is no JSON on one side".to_owned()],
        },
        _ => vec!["another text".to_owned()],
    }
}

fn graph(text: &str) -> Option<Graph> {
    let mut graph: Graph = read_turtle(text, ANY_BASE).ok()?.into_iter().collect();
    graph.canonicalize(CanonicalizationAlgorithm::Unstable);
    Some(graph)
}

fn members(ours: &Value, theirs: &Value, at: &str, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(one), Value::Object(other)) => {
            let names: BTreeSet<_> =
                one.keys().chain(other.keys()).filter(|name| !TIMES.contains(&name.as_str())).collect();
            for name in names {
                let at = format!("{at}/{}", pointer_token(name));
                match (one.get(name), other.get(name)) {
                    (Some(ours), Some(theirs)) => members(ours, theirs, &at, found),
                    (ours, _) => found.push(format!("{at} is only {}", if ours.is_some() { "here" } else { "there" })),
                }
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for ((ours, theirs), index) in one.iter().zip(other).zip(0..) {
                members(ours, theirs, &format!("{at}/{index}"), found);
            }
        }
        (ours, theirs) if ours == theirs => {}
        (ours, theirs) => {
            let at = if at.is_empty() { "the whole" } else { at };
            found.push(format!("{at} is {} here and {} there", brief(ours, theirs), brief(theirs, ours)));
        }
    }
}

/// A value, if it is short; of a long text, the part where it begins to differ from the other value.
fn brief(value: &Value, other: &Value) -> String {
    const MOST: usize = 60;
    const BEFORE: usize = 10;
    match value {
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) if text.chars().count() > MOST => {
            let other = other.as_str().unwrap_or_default().chars();
            let same = text.chars().zip(other).take_while(|(one, other)| one == other).count();
            let from = if same < MOST { 0 } else { same - BEFORE };
            let shown: String = text.chars().skip(from).take(MOST).collect();
            let dots = |are_there| if are_there { "…" } else { "" };
            let is_cut = text.chars().nth(from + MOST).is_some();
            format!("\"{}{}{}\"", dots(from > 0), shown.escape_debug(), dots(is_cut))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shown_where_they_differ() {
        let long = "All work and no play makes Jack a dull boy. ".repeat(3);
        for (one, other, shown) in [
            (long.clone() + "One.", long.clone() + "Two.", "\"…dull boy. One.\""),
            (long.clone(), "All".to_owned(), "\"All work and no play makes Jack a dull boy. All work and no …\""),
            (long.clone(), long.clone() + "Two.", "\"…dull boy. \""),
        ] {
            assert_eq!(brief(&one.into(), &other.into()), shown);
        }
    }
}
