//! What is shown on a terminal: nothing of a log that a terminal would obey. On a pipe, all is as it is in the log.
#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};

use super::Place;

/// ESC, CSI, marks of direction, and an isolate.
const OBEYED: &str = "\u{1b}[2J\u{9b}31m\u{61c}\u{200e}\u{200f}\u{202e}\u{2066}";

/// What a terminal is sent where the program writes to one; standard error goes there too.
fn shown(place: &Place, arguments: &str) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_rpcgraph");
    let mut script = Command::new("script");
    script.args(["-qec", &format!("{program} {arguments}"), "/dev/null"]);
    script.current_dir(place.path("")).stdin(Stdio::null()).env("TERM", "dumb").env("NO_COLOR", "1");
    match script.output() {
        Ok(output) => Some(String::from_utf8(output.stdout).expect("text")),
        Err(_) => {
            println!("skipped: there is no `script` to make a terminal");
            None
        }
    }
}

#[test]
fn a_terminal_is_sent_nothing_that_it_obeys() {
    let method = format!("=a{OBEYED}");
    let log = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":{}}}\n{OBEYED}\n", serde_json::json!(method));
    let place = Place::with("log", log);
    let rows = "SELECT ?m { ?r jrpc:hasMethod ?m }";
    let graph = "CONSTRUCT WHERE { ?r jrpc:hasMethod ?m }";
    let mut commands: Vec<String> = ["turtle", "ntriples", "nquads", "trig", "jsonld", "jsonld-lines"]
        .map(|to| format!("convert log -t {to}"))
        .into();
    commands.extend(["table", "csv", "tsv", "json"].map(|to| format!("query log -q '{rows}' --results {to}")));
    commands.extend(["turtle", "jsonld"].map(|to| format!("query log -q '{graph}' -t {to}")));
    commands.push(format!("query log -q 'ASK FROM <urn:a{}> {{}}'", "\u{200e}\u{202e}"));
    commands.push(format!("convert 'gone{OBEYED}'"));
    commands.push("convert log -o /dev/tty".to_owned());
    for command in commands {
        let Some(text) = shown(&place, &command) else { return };
        let obeyed: Vec<char> = OBEYED.chars().filter(|c| !c.is_ascii_graphic() && text.contains(*c)).collect();
        assert!(obeyed.is_empty(), "{command}: {obeyed:?} in {text}");
        assert!(text.len() > 10, "{command}: {text}");
    }
    // What is shown is still what it was.
    let Some(text) = shown(&place, "convert log -t ntriples --quiet") else { return };
    assert!(text.contains("=a\\u001B[2J\\u009B31m\\u061C\\u200E\\u200F\\u202E\\u2066"), "{text}");
    let piped = place.convert(&["log", "-t", "ntriples", "--quiet"]);
    assert!(piped.text().contains("\u{9b}31m\u{61c}\u{200e}\u{200f}\u{202e}\u{2066}"), "{}", piped.text());
}

#[test]
fn xml_on_a_terminal_has_references() {
    let place = Place::with("log", "{\"jsonrpc\":\"2.0\",\"method\":\"a\u{9b}b\"}\n");
    let Some(text) = shown(&place, "convert log -t rdfxml --quiet") else { return };
    assert!(text.contains("a&#x9B;b"), "{text}");
    let query = "query log -q 'SELECT ?m { ?r jrpc:hasMethod ?m }' --results xml";
    let Some(text) = shown(&place, query) else { return };
    assert!(text.contains("a&#x9B;b"), "{text}");
}
