//! Inputs without JSON-RPC: none of them looks like a log without errors.

use oxrdfio::RdfFormat;

use super::{BASE, LOG, Place, REQUEST, RESPONSE, Ran, rpcg, values};

const TEXT: &str = "2026-11-21 10:00:00 INFO \x1b[1mready\x1b[0m\nlistening on port 8000\n";

/// What is said of [`TEXT`] in the file `app.log`.
const WHY: &str = "app.log: found no JSON-RPC (json-lines: 2 malformed records); it begins with `2026-11-21 \
                   10:00:00 INFO \\u{1b}[1mready\\u{1b}[0m`: if there is JSON-RPC in it, name the format with --from \
                   (`rpcgraph formats` lists them)\n";

fn ask(place: &Place, arguments: &[&str]) -> Ran {
    place.run(&[arguments, &["--quiet", "-t", "csv"]].concat())
}

/// Queries of nothing but the types that they name, by which whatever is not a message is seen.
const MALFORMED: &str = "SELECT ?text { ?record a rpcg:MalformedRecord ; rpcg:text ?text }";

#[test]
fn a_log_that_was_not_read_answers_no_question() {
    let place = Place::with("app.log", TEXT);
    let failed = format!("error: {WHY}error: found no JSON-RPC in 1 of 1 input\n");
    for name in ["errors", "methods", "unanswered", "slowest", "tools"] {
        ask(&place, &["ask", name, "app.log"]).said(2, &failed).printed_nothing();
    }
    ask(&place, &["query", "app.log", "-q", "ASK { ?answer a jrpc:ErrorResponse }", "--fail-if", "none"])
        .said(2, &failed);
    // Findings are those that `convert` has.
    let ran = place.run(&["ask", "errors", "app.log"]);
    let converted = place.convert(&["app.log"]);
    let (told, _) = converted.stderr.split_once("error: ").expect("why");
    assert_eq!(ran.stderr, format!("{told}{failed}"));
}

#[test]
fn unread_records_can_be_queried() {
    let place = Place::with("app.log", TEXT);
    assert_eq!(ask(&place, &["query", "app.log", "-q", MALFORMED]).quietly().text().lines().count(), 3);
    let values = "SELECT ?r { VALUES ?type { rpcg:LogLine } ?r a ?type }";
    for query in ["SELECT ?line { ?line a rpcg:LogLine }", values] {
        assert_eq!(ask(&place, &["query", "app.log", "-q", query]).quietly().text().lines().count(), 1, "{query}");
    }
    for name in ["problems", "timeline", "sessions"] {
        assert!(ask(&place, &["ask", name, "app.log"]).quietly().text().lines().count() > 1, "{name}");
    }
    let converted = place.convert(&["app.log"]).stderr;
    let (findings, _) = converted.split_once("error: ").expect("why");
    let ran = place.run(&["query", "app.log", "-q", "ASK { ?record a rpcg:InvalidMessage }"]);
    ran.said(0, &format!("{findings}note: {WHY}"));
    // It sees what is there, by any type, but nothing of what it is about.
    let answers = ask(&place, &["query", "app.log", "-q", "SELECT * { ?answer a ?type ; rpcg:respondsTo ?request }"]);
    answers.said(2, "error: found no JSON-RPC in 1 of 1 input\n");
}

#[test]
fn the_other_inputs_are_answered() {
    let place = Place::with("app.log", TEXT);
    place.put("log", LOG);
    let ran = ask(&place, &["errors", "app.log", "log"]);
    ran.said(2, &format!("error: {WHY}error: found no JSON-RPC in 1 of 2 inputs\n"));
    assert!(ran.text().contains("Method not found"), "{}", ran.text());
    place.put("app.ttl", "<#a> <#b> <#c> .");
    let ran = ask(&place, &["query", "app.log", "app.ttl", "-q", "SELECT * { ?s <#b> ?o }"]);
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);

    let ran = place.run(&["capture", "app.log", "log", "-o", "block", "--quiet"]);
    ran.said(2, &format!("error: {WHY}error: found no JSON-RPC in 1 of 2 inputs\n"));
    assert!(place.path("block/examples.yaml").exists());
}

#[test]
fn its_graph_is_written() {
    let place = Place::with("app.log", TEXT);
    let ran = place.convert(&["app.log", "--base", BASE, "--quiet"]);
    ran.said(1, &format!("error: {WHY}"));
    assert_eq!(values(&ran.quads(RdfFormat::Turtle), "#m2", &rpcg("text")), ["listening on port 8000"]);
    place.convert(&["app.log", "--quiet", "-m", "bblock", "-o", "out.ttl"]).began(1, "app.log:1: ");
    assert!(place.path("out.ttl").exists());
}

#[test]
fn kinds_of_unread_input_are_named() {
    let place = Place::new();
    let utf16: Vec<u8> = LOG.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let access = "{\"method\":\"POST\",\"status\":200,\"id\":7}\n{\"method\":\"GET\",\"status\":404}\n";
    for (bytes, expected) in [
        (utf16.as_slice(), "; it is UTF-16 text without a byte-order mark: "),
        (b"PK\x03\x04\x14\0\0\0\x08\0\n", "; it is a zip archive: "),
        (b"\x7fELF\x02\x01\x01\n\0\0\x03", "; it is a program that can be executed: "),
        (b"%PDF-1.7\n%\xe2\xe3\n", "; it is a PDF document: "),
        (b"{\"seq\":1,\"type\":\"request\",\"command\":\"launch\"}\n", "Debug Adapter Protocol"),
        (b"[{\n\"url\":\"/\",\"requestBody\":\"\",\"method\":\"GET\"}]\n", "the MCP Inspector's network export"),
        (access.as_bytes(), "; it looks like the access log of a web server"),
    ] {
        place.put("input", bytes);
        let ran = ask(&place, &["ask", "errors", "input"]);
        assert_eq!(ran.status, Some(2), "{expected}");
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    place.put("input", access);
    assert_eq!(ask(&place, &["ask", "methods", "input", "-f", "json-lines"]).quietly().text().lines().count(), 3);
    // One message that has no such members is enough.
    place.put("input", format!("{access}{}\n", r#"{"method":"m","params":[],"id":8}"#));
    ask(&place, &["ask", "methods", "input"]).quietly();
}

/// Nothing of the log is in any record.
#[test]
fn a_format_that_was_stated() {
    let place = Place::with("log", LOG);
    for format in ["har", "arrows", "claude-desktop", "content-length", "sse"] {
        let ran = ask(&place, &["errors", "log", "-f", format]);
        assert_eq!((ran.status, ran.text()), (Some(2), ""), "{format}: {}", ran.stderr);
        assert!(ran.stderr.contains("`: try without --from, or with another format"), "{format}: {}", ran.stderr);
    }
}

#[test]
fn broken_json_rpc_is_read() {
    for log in [
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m","par"#,
        "[]",
        r#"{"jsonrpc":2.0,"method":"m","extra":1}"#,
        r#"{"id":1,"method":"m"}"#,
    ] {
        let ran = ask(&Place::with("log", log), &["errors", "log"]);
        assert_eq!(ran.status, Some(0), "{log}: {}", ran.stderr);
        assert!(!ran.stderr.contains("error"), "{log}: {}", ran.stderr);
    }
}

#[test]
fn most_of_it_may_be_unread() {
    let half = format!("{REQUEST}\n{RESPONSE}\nready\n{{\"a\":1}}\n");
    let place = Place::with("log", &half);
    let said = |arguments: &[&str]| place.run(arguments).stderr.contains("were not read as JSON-RPC");
    assert!(!said(&["convert", "log"]));
    place.put("log", format!("{half}done\n"));
    assert!(said(&["convert", "log"]) && said(&["ask", "errors", "log"]));
    assert!(!said(&["convert", "log", "--quiet"]));
}

/// The option that is printed for an unread log reads its messages.
#[test]
fn the_printed_option_reads_nested_messages() {
    let message = r#"{"id":1,"method":"foo","params":[]}"#;
    let quoted = serde_json::Value::from(message).to_string();
    let logs = [
        (format!(r#"{{"log":{{"body":{message}}}}}"#), "--envelope 'message=/log/body'"),
        (format!(r#"{{"log":[1,{{"body":{quoted}}}]}}"#), "--envelope 'message=/log/1/body'"),
        (format!(r#"{{"a/b":[{message},{message}]}}"#), "--envelope 'message=/a~1b'"),
        (format!("at 7: {message}"), r"--line '^[^{]*(?<message>\{.*)'"),
        (format!("at 7: data={quoted}"), r#"--line '^[^"]*(?<message>"\{.*)'"#),
    ];
    for (log, option) in logs {
        let place = Place::with("app.log", format!("{log}\n"));
        let ran = place.run(&["app.log"]);
        let advice = format!(": if there is JSON-RPC in it, read it with {option}\n");
        assert!(ran.stderr.contains(&advice), "{log}: {}", ran.stderr);
        let (name, value) = option.split_once(' ').expect("a value");
        let ran = place.convert(&[name, value.trim_matches('\''), "app.log", "--base", BASE]);
        assert_eq!(values(&ran.quads(RdfFormat::Turtle), "#m1", &rpcg("sequence")), ["1"], "{log}: {}", ran.stderr);
        assert!(ran.stderr.contains(" request"), "{log}: {}", ran.stderr);
    }
    let ran = Place::with("app.log", "{\"id\":1,\"method\":\"foo\",\"level\":1}\n{\"level\":2}\n").run(&["app.log"]);
    let advice = ": 1 possible message lacks `jsonrpc`: if it is JSON-RPC, read it with --from json-lines\n";
    assert!(ran.stderr.contains(advice), "{}", ran.stderr);
    for log in [r#"{"req":{"id":1,"method":"GET","url":"/"}}"#, "a {", r#"{"a":{"id":1}}"#, r#"{"a":"{"}"#] {
        let ran = Place::with("app.log", format!("{log}\n")).run(&["app.log"]);
        assert!(ran.stderr.contains(": if there is JSON-RPC in it, name the format with --from"), "{}", ran.stderr);
    }
}

/// Each form of a line is read as a message, and both sides are in one session.
#[test]
fn text_before_messages_does_not_hide_them() {
    for (asks, answers) in [
        ("==> ", "<== "),
        ("2026-11-20T08:00:01Z INFO request = ", "2026-11-20T08:00:02Z INFO result = "),
        ("2026-11-20T08:00:01.000Z Sending request: ", "2026-11-20T08:00:01.500Z Received response: "),
        ("2026-11-20T08:00:01.000Z HTTP request: ", "2026-11-20T08:00:01.500Z HTTP response: "),
        ("Nov 20 08:00:01 mcp client: ", "Nov 20 08:00:02 mcp server: "),
        ("2026-11-20T08:00:01.000Z Outbound message: ", "2026-11-20T08:00:01.500Z Inbound message: "),
    ] {
        let log = format!("{asks}{REQUEST}\n{answers}{RESPONSE}\n");
        let place = Place::with("app.log", &log);
        let query = "SELECT ?answer ?request { ?answer rpcg:respondsTo ?request }";
        let ran = ask(&place, &["query", "app.log", "-q", query]);
        assert_eq!(ran.text().lines().count(), 2, "{log}{}", ran.text());
    }
}

#[test]
fn unread_lines_with_messages_are_noted() {
    let line = |text: &str| format!("send('{text}')\n");
    let place = Place::with("app.log", format!("rpc: {REQUEST}\n{}{}", line(REQUEST), line(RESPONSE)));
    let note = "note: app.log: not read as messages: 2 lines of text with \"jsonrpc\"; --line REGEX reads them\n";
    let ran = place.run(&["methods", "app.log"]);
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let place = Place::with("app.log", format!("> {REQUEST}\nstarted\n< {RESPONSE}\n"));
    let ran = place.run(&["methods", "app.log"]);
    assert!(!ran.stderr.contains("not read"), "{}", ran.stderr);
}
