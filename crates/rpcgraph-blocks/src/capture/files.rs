//! Makes a building block from captured traffic: writes the exchanges of a [`Capture`] as the files of a block.
//!
//! The block names the schema and the context of JSON-RPC by URL; both are built into the program.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use serde_json::json;

use super::{Capture, CapturedLog, ChosenExchange, ExampleOutcome, ExampleSide};
use crate::context::{JSON_RPC_SCHEMA_URL, JSON_RPC_URL};
use crate::diagnostic;
use crate::json::{self, pretty, without_nulls};
use crate::record::Sender;
use crate::register::examples::{Example, Examples, Snippet};
use crate::register::output::{self, Files, Product, WriteError, lines};

/// The maximum length of a method in a title or a file name, in characters.
const LONGEST_METHOD: usize = 80;

/// Makes a building block from a capture.
///
/// # Errors
///
/// If YAML cannot hold the examples; no such case is known.
pub fn block(capture: &Capture) -> Result<Files, serde_saphyr::ser_error::Error> {
    let mut names = HashSet::new();
    let examples = capture.chosen().map(|chosen| example(chosen, capture.options.each, &mut names)).collect();
    let examples = Examples { examples, ..Examples::default() };
    let mut files = Files::from([
        ("description.md".to_owned(), DESCRIPTION.to_owned()),
        ("examples.yaml".to_owned(), examples.to_yaml()?),
    ]);
    files.insert(Product::BLOCK.marker.to_owned(), metadata(&files));
    Ok(files)
}

/// Makes a collection of real calls from a capture: each exchange in a log of its own, and a manifest.
pub fn collection(capture: &Capture) -> Files {
    let (mut names, mut files) = (HashSet::new(), Files::new());
    let mut calls = Vec::new();
    for chosen in capture.chosen() {
        let path = format!("calls/{}.ndjson", unique(&slug(&title(chosen)), &mut names));
        let code = match &chosen.outcome {
            ExampleOutcome::Error(code) => code.parse::<i64>().ok(),
            _ => None,
        };
        calls.push(without_nulls(json!({
            "file": path,
            "method": chosen.subject.method,
            "tool": chosen.subject.tool,
            "caller": chosen.subject.caller.map(|caller| if caller == Sender::Client { "client" } else { "server" }),
            "outcome": if code.is_some() { "error".into() } else { in_title(&chosen.outcome) },
            "code": code,
            "client": chosen.peers.client,
            "server": chosen.peers.server,
            "revision": chosen.peers.revision,
            "log": chosen.log,
            "records": chosen.sides().map(|side| side.name.to_string()).collect::<Vec<_>>(),
            "count": chosen.count,
        })));
        files.insert(path, chosen.sides().map(|side| format!("{}\n", side.text)).collect());
    }
    let log = |log: &CapturedLog| json!({ "file": log.name, "sha256": log.sha256, "records": log.records });
    let manifest = json!({
        "name": "Captured JSON-RPC traffic",
        "logs": capture.logs().iter().map(log).collect::<Vec<_>>(),
        "calls": calls,
        "tooling": Product::COLLECTION.tooling(&files),
    });
    files.insert(Product::COLLECTION.marker.to_owned(), lines(&manifest));
    files
}

/// Writes a block or a collection into a folder, in place of an earlier one from captured traffic. On failure, the
/// folder keeps its content.
pub fn write(files: &Files, folder: &Path) -> Result<(), WriteError> {
    let is_block = files.contains_key(Product::BLOCK.marker);
    output::write(files, folder, if is_block { Product::BLOCK } else { Product::COLLECTION }, false)
}

/// Returns `bblock.json`, which also names the program and the block's files.
fn metadata(files: &Files) -> String {
    let metadata = json!({
        "name": "Captured JSON-RPC traffic",
        "abstract": "One exchange for each method, each tool and each outcome",
        "status": "under-development",
        "version": "0.1.0",
        "itemClass": "model",
        "schema": JSON_RPC_SCHEMA_URL,
        "ldContext": JSON_RPC_URL,
        "tooling": Product::BLOCK.tooling(files),
    });
    lines(&metadata)
}

const DESCRIPTION: &str = "\
# Captured JSON-RPC traffic

Each example is an exchange as it was captured: a call and its answer, a call that nothing answered, or a notification. Of
all exchanges with the same method, tool and outcome it is the shortest, or among the shortest.
";

/// Returns method, tool, caller and outcome in a line.
fn title(chosen: &ChosenExchange) -> String {
    let method = chosen.subject.method.as_deref();
    let shown = method.map_or_else(|| "unreadable call".to_owned(), printable);
    let caller = match chosen.subject.caller {
        Some(Sender::Client) => " from the client",
        Some(Sender::Server) => " from the server",
        None => "",
    };
    let tool = chosen.subject.tool.as_deref().map(|tool| format!(" {}", printable(tool))).unwrap_or_default();
    format!("{shown}{tool}{caller}: {}", in_title(&chosen.outcome))
}

fn example(chosen: &ChosenExchange, each: usize, names: &mut HashSet<String>) -> Example {
    let title = title(chosen);
    let (call, answer) = match chosen.outcome {
        ExampleOutcome::Notification => ("#Notification", ""),
        ExampleOutcome::Error(_) => ("#Request", "#ErrorResponse"),
        _ => ("#Request", "#Response"),
    };
    let call = chosen.call.iter().map(|side| snippet(side, call));
    let snippets = call.chain(chosen.answer.iter().map(|side| snippet(side, answer))).collect();
    let base_output_filename = Some(unique(&slug(&title), names));
    Example {
        content: Some(content(chosen, each)),
        title: Some(title),
        base_output_filename,
        snippets,
        ..Example::default()
    }
}

fn snippet(side: &ExampleSide, element: &str) -> Snippet {
    let schema_ref = Some(element.to_owned());
    Snippet { schema_ref, ..Snippet::new("json", text(&side.text)) }
}

/// Formats a message for people, with a line end.
fn text(message: &str) -> String {
    // The program wrote this text, so it is valid JSON.
    let mut text = json::parse(message.as_bytes()).map_or_else(|_| message.to_owned(), |value| pretty(&value));
    text.push('\n');
    // These characters are valid in JSON, but not in YAML.
    text.replace('\u{FFFE}', "\\uFFFE").replace('\u{FFFF}', "\\uFFFF")
}

fn in_title(outcome: &ExampleOutcome) -> Cow<'static, str> {
    match outcome {
        ExampleOutcome::Result => "result".into(),
        ExampleOutcome::ToolFailure => "tool failure".into(),
        ExampleOutcome::Error(code) => format!("error {code}").into(),
        ExampleOutcome::NoAnswer => "no answer".into(),
        ExampleOutcome::Notification => "notification".into(),
    }
}

/// Describes the example in Markdown.
fn content(chosen: &ChosenExchange, each: usize) -> String {
    let how = match &chosen.outcome {
        ExampleOutcome::Result => "The call succeeded.".to_owned(),
        ExampleOutcome::ToolFailure => {
            "To JSON-RPC the call succeeded; its result says that the tool failed (`isError`).".to_owned()
        }
        ExampleOutcome::Error(code) => format!("The call failed with the error {code}."),
        ExampleOutcome::NoAnswer => "The log does not hold an answer to this call.".to_owned(),
        ExampleOutcome::Notification => "A notification: nobody answers it.".to_owned(),
    };
    let sides: Vec<&ExampleSide> = chosen.sides().collect();
    let records: Vec<_> = sides.iter().map(|side| side.name.to_string().replacen('m', "", 1)).collect();
    let records = match records.as_slice() {
        [one] => format!("record {one}"),
        several => format!("records {}", several.join(" and ")),
    };
    let count = match chosen.count {
        1 => "Seen once".to_owned(),
        count if each == 1 => format!("The shortest of {count}"),
        count => format!("Among the shortest of {count}"),
    };
    let mut text = format!("{how} {count}: {records} of `{}`.", printable(&chosen.log));
    if sides.iter().any(|side| side.name.element.is_some()) {
        text.push_str(" Sent in a batch.");
    }
    if sides.iter().any(|side| side.reconstructed) {
        text.push_str(" The log had its parts only, and the message was put together again.");
    }
    text.push('\n');
    text
}

/// Formats a name from a log as one line of limited length that may stand in backticks.
fn printable(name: &str) -> String {
    diagnostic::printable(&diagnostic::shortened(name, LONGEST_METHOD)).replace('`', "'")
}

/// Returns the name, or a name made from it that is not in `taken`; adds it there.
fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let mut candidate = name.to_owned();
    let mut copy = 1_u64;
    while !taken.insert(candidate.clone()) {
        copy += 1;
        candidate = format!("{name}-{copy}");
    }
    candidate
}

/// Converts a title to a file name that is valid on any system.
fn slug(title: &str) -> String {
    let mut slug = String::new();
    let mut previous = ' ';
    for character in title.chars() {
        // Splits `textDocument` into two words.
        if character.is_ascii_uppercase() && previous.is_ascii_lowercase() && !slug.ends_with('-') {
            slug.push('-');
        }
        previous = character;
        match character {
            'a'..='z' | '0'..='9' => slug.push(character),
            'A'..='Z' => slug.push(character.to_ascii_lowercase()),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.truncate(LONGEST_METHOD);
    slug.trim_end_matches('-').to_owned()
}
