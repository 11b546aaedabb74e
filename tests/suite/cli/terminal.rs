//! Output on a terminal: no escape sequences of the log reach it. A pipe receives the log unchanged.
#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};

use super::Place;

/// ESC, CSI, marks of direction, and an isolate.
const OBEYED: &str = "\u{1b}[2J\u{9b}31m\u{61c}\u{200e}\u{200f}\u{202e}\u{2066}";

/// Returns the bytes that the program writes to a terminal, standard error included.
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
    commands.extend(["table", "csv", "tsv", "json"].map(|to| format!("query log -q '{rows}' -t {to}")));
    commands.extend(["turtle", "jsonld"].map(|to| format!("query log -q '{graph}' -t {to}")));
    commands.push(format!("query log -q 'ASK FROM <urn:a{}> {{}}'", "\u{200e}\u{202e}"));
    commands.push(format!("convert 'gone{OBEYED}'"));
    commands.push("convert log -o /dev/tty".to_owned());
    commands.extend(
        ["show log m1", "show log --limit 1 --around 1", "show log m1-m2 -t messages", "show log m1 -t json"]
            .map(str::to_owned),
    );
    commands.extend(["timeline", "overview", "problems", "unanswered"].map(|question| format!("{question} log")));
    commands.push(format!("show log --method 'b{OBEYED}'"));
    for command in commands {
        let Some(text) = shown(&place, &command) else { return };
        let obeyed: Vec<char> = OBEYED.chars().filter(|c| !c.is_ascii_graphic() && text.contains(*c)).collect();
        assert!(obeyed.is_empty(), "{command}: {obeyed:?} in {text}");
        assert!(text.len() > 10, "{command}: {text}");
    }
    // The escapes of N-Triples keep the value.
    let Some(text) = shown(&place, "convert log -t ntriples --quiet") else { return };
    assert!(text.contains("=a\\u001B[2J\\u009B31m\\u061C\\u200E\\u200F\\u202E\\u2066"), "{text}");
    let piped = place.convert(&["log", "-t", "ntriples", "--quiet"]);
    assert!(piped.text().contains("\u{9b}31m\u{61c}\u{200e}\u{200f}\u{202e}\u{2066}"), "{}", piped.text());
}

/// Somebody who waits for an answer learns that the program waits, too.
#[test]
fn a_terminal_that_is_read_is_told() {
    let Some(text) = shown(&Place::new(), "query 'ASK {}' --timeout 1") else { return };
    assert!(text.contains("note: reading standard input; Ctrl-D ends it"), "{text}");
}

#[test]
fn xml_on_a_terminal_has_references() {
    let place = Place::with("log", "{\"jsonrpc\":\"2.0\",\"method\":\"a\u{9b}b\"}\n");
    let Some(text) = shown(&place, "convert log -t rdfxml --quiet") else { return };
    assert!(text.contains("a&#x9B;b"), "{text}");
    let query = "query log -q 'SELECT ?m { ?r jrpc:hasMethod ?m }' -t xml";
    let Some(text) = shown(&place, query) else { return };
    assert!(text.contains("a&#x9B;b"), "{text}");
}

/// Returns the bytes for a terminal with this width; words before the name of the terminal are for the environment.
fn shown_at(columns: u32, arguments: &str, term: &str) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_rpcgraph");
    let mut script = Command::new("script");
    let (environment, term) = term.rsplit_once(' ').unwrap_or(("", term));
    let command = format!("stty cols {columns} rows 40; {environment} {program} {arguments}");
    script.args(["-qec", &command, "/dev/null"]);
    script.current_dir(crate::support::own("tests/queries")).stdin(Stdio::null());
    script.env("TERM", term).env("PAGER", "cat").env_remove("NO_COLOR");
    let output = script.output().ok()?;
    Some(String::from_utf8(output.stdout).expect("text"))
}

/// Every question over each of three logs: no line is longer than the terminal, no id is cut, and what a terminal obeys is
/// there only where it was asked for. What is seen is kept in `tests/terminal/`.
#[test]
fn questions_fit_their_terminal() {
    let (mut cut, mut other) = (0, Vec::new());
    for columns in [60, 80, 120, 200] {
        for log in ["lsp.log", "mcp.jsonl", "plain.ndjson"] {
            let mut seen = String::new();
            for query in rpcgraph::query::catalogue::CATALOGUE {
                let other = match (query.name, log) {
                    ("compare", "mcp.jsonl") => " plain.ndjson",
                    ("compare", _) => " mcp.jsonl",
                    _ => "",
                };
                let command = format!("ask {} {log}{other} --quiet", query.name);
                let Some(text) = shown_at(columns, &command, "dumb") else { return };
                assert!(!text.contains('\u{1b}'), "{command}: {text:?}");
                for line in text.lines() {
                    let width = unicode_width::UnicodeWidthStr::width(line.trim_end_matches('\r'));
                    assert!(width <= columns as usize, "{command} at {columns}: {line}");
                    let first = line.split(' ').next().unwrap_or_default();
                    assert!(!(first.starts_with('m') && first.ends_with('…')), "{command} at {columns}: {line}");
                }
                cut += text.matches('…').count();
                seen.push_str(&format!("$ rpcgraph {command}\n{}\n", text.replace("\r\n", "\n")));
            }
            let path = crate::support::own(&format!("tests/terminal/{log}.{columns}.txt"));
            if std::fs::read_to_string(&path).unwrap_or_default() != seen {
                // The actual output, to compare.
                std::fs::write(std::env::temp_dir().join(format!("{log}.{columns}.txt")), seen).expect("a file");
                other.push(path);
            }
        }
    }
    assert!(cut > 20, "{cut}");
    assert!(
        other.is_empty(),
        "what is seen is not as in {other:#?}, but as in the files of that name in the temporary folder"
    );
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let Some(text) = shown_at(100, "errors mcp.jsonl", "xterm") else { return };
    assert!(text.contains("\u{1b}[31mInvalid params\u{1b}[0m"), "{text}");
    for (arguments, term) in
        [("--color never", "xterm"), ("--no-pager", "dumb"), ("-t csv", "xterm"), ("", "NO_COLOR=1 xterm")]
    {
        let text = shown_at(100, &format!("errors mcp.jsonl {arguments}"), term).unwrap();
        assert!(text.contains("Invalid params") && !text.contains('\u{1b}'), "{arguments}: {text:?}");
    }
    let place = Place::with("log", super::LOG);
    let ran = place.run(&["errors", "log", "--quiet", "--color", "always"]);
    assert!(ran.quietly().text().contains("\u{1b}[31mMethod not found\u{1b}[0m"), "{}", ran.text());
}

/// Progress is a line that is narrower than the terminal and is gone at the end.
#[test]
fn progress_leaves_no_trace() {
    let place = Place::with(&"long".repeat(30), super::LOG);
    let program = env!("CARGO_BIN_EXE_rpcgraph");
    let mut script = Command::new("script");
    let command = format!("stty cols 40 rows 40; {program} convert {} --progress always -o a.ttl", "long".repeat(30));
    script.args(["-qec", &command, "/dev/null"]).current_dir(place.path("")).stdin(Stdio::null());
    let Ok(output) = script.output() else { return };
    let text = String::from_utf8(output.stdout).expect("text");
    let shown: Vec<_> = text.split(['\r', '\x1b']).filter(|line| line.contains(" left: long")).collect();
    assert!(!shown.is_empty() && shown.iter().all(|line| line.trim_start_matches("[2K").len() <= 40), "{text:?}");
    // The line is cleared.
    let end = text.rsplit("left: long").next().expect("a part");
    assert!(end.contains("\r\x1b[2K"), "{text:?}");
}

/// A pager receives escaped text; leaving the pager early is not a failure.
#[test]
fn pagers_are_fed_escaped_text() {
    let place = Place::with("log", format!("{{\"jsonrpc\":\"2.0\",\"method\":{}}}\n", serde_json::json!(OBEYED)));
    let program = env!("CARGO_BIN_EXE_rpcgraph");
    for (pager, option, paged) in [
        ("cat > paged", "", true),
        ("cat > paged", "-t csv", true),
        ("cat > paged", "--no-pager", false),
        ("true", "", false),
        ("no-such-pager -R", "", false),
    ] {
        let mut script = Command::new("script");
        script.args(["-qec", &format!("{program} timeline log {option}"), "/dev/null"]);
        script.current_dir(place.path("")).stdin(Stdio::null()).env("TERM", "xterm").env("PAGER", pager);
        let Ok(output) = script.output() else { return };
        let sent = String::from_utf8(output.stdout).expect("text");
        assert!(output.status.success(), "{sent}");
        assert_eq!(place.names().contains(&"paged".to_owned()), paged, "{pager} {option}: {sent}");
        assert_eq!(sent.contains("Notification"), !paged && pager != "true", "{pager} {option}: {sent}");
        if paged {
            let text = String::from_utf8(place.read("paged")).expect("text");
            assert!(text.contains("Notification") && !text.contains(['\u{9b}', '\u{202e}']), "{text:?}");
            std::fs::remove_file(place.path("paged")).expect("a file");
        }
    }
}
