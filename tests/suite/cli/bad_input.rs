//! Bad inputs that are generated, or devices.

use oxrdfio::RdfFormat;
use rpcgraph::sink::Syntax;

use super::{BASE, LOG, Place, REQUEST, parse, rpcg, values};

/// Levels of arrays and objects: the message, then `params` as deep as is left.
fn nested(levels: usize, open: &str, inside: &str, close: &str) -> String {
    let params = [&open.repeat(levels - 1), inside, &close.repeat(levels - 1)].concat();
    format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params}}}"#)
}

#[test]
fn findings_of_many_inputs_are_counted() {
    let place = Place::with("logs/0", format!("oops\n{REQUEST}\n"));
    (1..23).for_each(|log| place.put(&format!("logs/{log}"), format!("oops\n{REQUEST}\n")));
    let ran = place.run(&["query", "ASK {}", "logs"]);
    let lines: Vec<_> = ran.stderr.lines().collect();
    assert_eq!(lines.len(), 21, "{}", ran.stderr);
    assert_eq!(lines[20], "… and 3 findings more; the graph holds them all");
    // A question has a line for all, and another for its rows.
    let first = "logs/0:1: record 1 at byte 0: not JSON: expected value at byte 0";
    let ran = place.run(&["ask", "unanswered", "logs"]);
    assert_eq!(ran.stderr, format!("{first} (and 22 more: rpcgraph problems)\n23 rows\n"));
    assert_eq!(place.run(&["problems", "logs"]).stderr.lines().count(), 22);
    let ran = place.run(&["errors", "logs", "--strict"]);
    assert!(ran.status == Some(1) && ran.stderr.starts_with(first), "{}", ran.stderr);
}

/// The system says only what went wrong; where is for the program to add.
#[test]
#[cfg(target_os = "linux")]
fn devices_that_fail() {
    let place = Place::with("log", LOG);
    // A file that can be opened, and not be read where it begins.
    let unread = "error: /proc/self/mem: reading failed after 0 bytes of text: Input/output error (os error 5)\n";
    place.run(&["query", "/proc/self/mem", "-q", "ASK {}"]).said(2, unread);
    let full = "error: cannot write /dev/full: No space left on device (os error 28)\n";
    for syntax in Syntax::ALL {
        place.convert(&["log", "--quiet", "-t", syntax.name(), "-o", "/dev/full"]).said(2, full);
    }
}

#[test]
fn nesting_beyond_the_limit() {
    let deep = nested(200_000, "[", "", "]");
    let place = Place::with("log", format!("{}\n{{\"jsonrpc\":\"2.0\",\"method\":\"n\"}}\n", deep.trim_end()));
    let finding = "log:1: record 1 at byte 0: not JSON: nested deeper than 1024 levels at byte 1062\n";
    let ran = place.convert(&["log", "--base", BASE]);
    ran.said(0, &format!("{finding}2 records (json-lines): 1 notification, 1 malformed record; 13 triples\n"));
    let quads = ran.quads(RdfFormat::Turtle);
    assert_eq!(values(&quads, "#m1", &rpcg("text")).concat().len(), 400_038);
    place.convert(&["log", "--strict"]).said(1, finding);
    place.convert(&["log", "-m", "bblock", "--quiet"]).said(0, finding);
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        place.put("log", nested(1_025, open, "0", close));
        assert!(place.convert(&["log"]).stderr.contains("1 malformed record"));
    }
}

#[test]
fn nesting_up_to_the_limit() {
    let place = Place::new();
    let vocabulary = r#"{"@context":{"@vocab":"http://example.org/","params":"http://example.org/params"}}"#;
    place.put("vocabulary.jsonld", vocabulary);
    for (open, close, nodes) in [(r#"{"a":"#, "}", 1_023), ("[", "]", 0)] {
        place.put("log", nested(1_024, open, "0", close));
        let ran = place.convert(&["log", "--base", BASE, "--strict", "--quiet"]);
        ran.quietly();
        let params = values(&ran.quads(RdfFormat::Turtle), "#m1", &super::jrpc("hasParameters"));
        assert_eq!(params.concat(), [&open.repeat(1_023), "0", &close.repeat(1_023)].concat());
        // Under a context that makes a node of every level, and as the document that those nodes are made from.
        let mapped = ["log", "--base", BASE, "--quiet", "-c", "vocabulary.jsonld"];
        let ran = place.convert(&[&mapped[..], &["-t", "ntriples"]].concat());
        ran.quietly();
        let levels = parse(RdfFormat::NTriples, &ran.stdout);
        assert_eq!(levels.iter().filter(|quad| quad.predicate.as_str() == "http://example.org/a").count(), nodes);
        for syntax in ["jsonld", "trig", "rdfxml"] {
            place.convert(&[&mapped[..], &["-t", syntax]].concat()).quietly();
        }
        place.convert(&["log", "--quiet", "-m", "bblock", "-c", "vocabulary.jsonld"]).quietly();
    }
}
