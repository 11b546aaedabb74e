//! Pages in a browser: what a reader sees, and what is said to those who cannot see it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rpcgraph::report::ReportOptions;
use serde_json::Value;

use super::{ROUNDS, page};
use crate::cli::Place;
use crate::support::{own, tool};

/// The folder of the browser's driver, and the browser.
pub fn browser() -> (PathBuf, PathBuf) {
    let chromium = tool("RPCGRAPH_CHROMIUM", &["chromium", "chromium-browser", "google-chrome"]);
    (tool("RPCGRAPH_BROWSER", &[]), chromium)
}

fn looked_at(log: &str, what: &str) -> Value {
    page_looked_at(&page(log.as_bytes(), &ReportOptions::default()).0, what)
}

fn page_looked_at(page: &str, what: &str) -> Value {
    let (driver, chromium) = browser();
    let folder = Place::with("page.html", page);
    let mut node = Command::new("node");
    node.arg(own("tests/browser/look.mjs")).arg(chromium).arg(folder.path("page.html")).env("RPCGRAPH_BROWSER", driver);
    if let Some(pictures) = std::env::var_os("RPCGRAPH_PICTURES") {
        let pictures = PathBuf::from(pictures).join(what);
        fs::create_dir_all(&pictures).unwrap();
        node.arg(pictures);
    }
    let output = node.output().expect("node");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(seen["said"], serde_json::json!([]), "{what}: the console");
    assert_eq!(seen["violations"], serde_json::json!([]), "{what}: accessibility");
    assert_eq!(seen["reachedList"], true, "{what}");
    seen
}

/// Each case of tests/browser/cases is a log, and what a reader does with its page.
#[test]
#[ignore = "needs Node and Chromium"]
fn a_browser_passes_the_cases() {
    let (driver, chromium) = browser();
    let mut node = Command::new("node");
    node.arg(own("tests/browser/cases.mjs")).arg(chromium).arg(env!("CARGO_BIN_EXE_rpcgraph"));
    let output = node.env("RPCGRAPH_BROWSER", driver).output().expect("node");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&[output.stdout, output.stderr].concat()));
}

#[test]
#[ignore = "needs Node and Chromium"]
fn a_browser_shows_it() {
    let log = fs::read_to_string(own("examples/mcp-session.ndjson")).unwrap();
    let seen = looked_at(&log, "small");
    assert!(log.len() < 2_000 && page(log.as_bytes(), &ReportOptions::default()).0.len() < 100_000);
    let verdict = ["! 1 of 9 lines is not JSON", "✗ 2 of 4 calls failed (50 %)", "✗ 1 call was open as the log ended"];
    assert_eq!(seen["verdict"], serde_json::json!(verdict));
    assert_eq!(seen["rows"].as_array().unwrap().len(), 6);
    assert_eq!(seen["opened"], "m3 notifications/initialized");
    assert!(seen["shown"].as_str().unwrap().contains("notifications/initialized"));
    assert_eq!(seen["focusInMessage"], "message-title");
    assert_eq!(seen["focusAfter"], "listbox");
    assert!(seen["clicked"].as_str().unwrap().starts_with("m1 initialize"));
    assert_eq!(seen["failed"].as_array().unwrap().len(), 2);
}

/// The first screen of a session of an editor: its server, what was slow, and what was cancelled.
#[test]
#[ignore = "needs Node and Chromium"]
fn a_browser_shows_what_an_editor_does() {
    let messages = [
        (0, "client", r#""id":0,"method":"initialize","params":{"clientInfo":{"name":"ed","version":"1"}}"#),
        (500, "server", r#""id":0,"result":{"capabilities":{},"serverInfo":{"name":"analyzer","version":"0.3"}}"#),
        (
            600,
            "client",
            r#""method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///src/a.rs","text":""}}"#,
        ),
        (
            700,
            "server",
            r#""method":"textDocument/publishDiagnostics","params":{"uri":"file:///src/a.rs","diagnostics":[]}"#,
        ),
        (
            1000,
            "client",
            r#""id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///src/a.rs"},"at":{"line":{"n":[0]}}}"#,
        ),
        (1250, "server", r#""id":1,"result":null"#),
        (
            2000,
            "client",
            r#""id":2,"method":"textDocument/references","params":{"textDocument":{"uri":"file:///src/b.rs"}}"#,
        ),
        (2010, "client", r#""method":"$/cancelRequest","params":{"id":2}"#),
        (4000, "server", r#""id":2,"error":{"code":-32800,"message":"cancelled"}"#),
    ];
    let messages = messages.map(|(time, side, members)| (time, side, format!(r#"{{"jsonrpc":"2.0",{members}}}"#)));
    let line = |(time, side, message): &(u32, &str, String)| {
        format!(
            "{{\"time\":\"2026-01-05T10:00:0{}.{:03}Z\",\"from\":\"{side}\",\"message\":{message}}}\n",
            time / 1000,
            time % 1000
        )
    };
    let seen = looked_at(&messages.iter().map(line).collect::<String>(), "editor");
    assert!(seen["title"].as_str().unwrap().contains(" · ed 1 → analyzer 0.3 · "), "{}", seen["title"]);
    assert_eq!(seen["verdict"], serde_json::json!(["· 0 of 3 calls failed", "· 1 call was cancelled"]));
    let slowest = ["initialize 500 ms · 10:00:00", "textDocument/hover a.rs 250 ms · 10:00:01"];
    assert_eq!(seen["side"]["slowest"], serde_json::json!(slowest));
    assert_eq!(seen["rows"][3], "m5 10:00:01.000 textDocument/hover a.rs 250 ms");
    assert_eq!(seen["rows"][4], "m7 10:00:02.000 textDocument/references b.rs – cancelled 2.00 s");
}

#[test]
#[ignore = "needs Node and Chromium"]
fn a_browser_shows_rounds_of_an_operation_together() {
    let seen = looked_at(ROUNDS, "rounds");
    let rows = seen["sequence"].as_array().unwrap();
    let told: Vec<bool> = rows.iter().map(|row| row[0].as_str().unwrap().contains("(operation of m1)")).collect();
    let marked: Vec<bool> = rows.iter().map(|row| row[1].as_str().unwrap().contains("operation")).collect();
    assert_eq!((&told, told.as_slice()), (&marked, &[true, true, false, true, false, true][..]));
}

/// The first screen of a page states its filter, and makes no statement about excluded messages.
#[test]
#[ignore = "needs Node and Chromium"]
fn a_browser_tells_what_was_chosen() {
    let log = "{\"id\":1,\"method\":\"a\"}\n{\"id\":2,\"method\":\"b\"}\n{\"id\":1,\"result\":1}\n{\"id\":2,\"result\":{\"isError\":true}}\n";
    let folder = Place::with("log", log);
    folder.run(&["report", "log", "-o", "page.html", "--kind", "request", "--limit", "1"]).quietly();
    let page = String::from_utf8(folder.read("page.html")).unwrap();
    let seen = page_looked_at(&page, "chosen");
    assert_eq!(seen["verdict"], serde_json::json!(["✓ 0 of 1 call failed"]));
    let note = "2 of 4 messages, chosen by --kind request --limit 1, each with its answer or request.";
    assert_eq!(seen["notes"], serde_json::json!([note]));
}

#[test]
#[ignore = "needs Node and Chromium"]
fn a_browser_is_not_misled() {
    let hostile = concat!(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"</script><script>alert(1)</script>\",\"params\":{\"uri\":\"javascript:alert(1)\"}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"<img src=x onerror=alert(1)>\\u202e\\u001b\"}}\n",
        "<script>alert(2)</script>\n",
    );
    let seen = looked_at(hostile, "hostile");
    assert!(seen["rows"][0].as_str().unwrap().contains("</script><script>alert(1)</script> javascript:alert(1)"));
    // Ten megabytes of it.
    let long = format!(r#"{{"id":1,"method":"m","params":{{"text":"{}"}}}}"#, "</script>\u{202e}".repeat(850_000));
    let seen = looked_at(&long, "long");
    assert!(seen["rows"][0].as_str().unwrap().starts_with("m1 m … no answer, log ended"), "{}", seen["rows"]);
    assert!(seen["shown"].as_str().unwrap().contains("</script>"));
    let seen = looked_at("", "empty");
    assert_eq!(seen["verdict"], serde_json::json!(["· There are no calls."]));
    let timed: String = (0..3000)
        .map(|n| {
            format!(
                "{{\"time\":\"2026-01-05T10:{:02}:{:02}Z\",\"message\":{{\"jsonrpc\":\"2.0\",\"id\":{},{}}}}}\n",
                n / 60 % 60,
                n % 60,
                n / 2,
                if n % 2 == 0 { "\"method\":\"m\"" } else { "\"result\":0" }
            )
        })
        .collect();
    let seen = looked_at(&timed, "timed");
    assert!(seen["title"].as_str().unwrap().contains("(49 min 59 s)"));
    assert!(seen["rows"].as_array().unwrap().len() < 100);
}
