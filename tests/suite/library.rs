//! The library as its users write it: the programs under `examples/`, run.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rpcgraph::message::Kind;
use rpcgraph::{Log, LogError, Query, Syntax};

#[path = "../../examples/ask.rs"]
#[expect(dead_code, reason = "its main is for the command line")]
mod ask;
#[path = "../../examples/convert.rs"]
#[expect(dead_code, reason = "its main is for the command line")]
mod convert;
#[path = "../../examples/register.rs"]
#[expect(dead_code, reason = "its main is for the command line")]
mod register;

const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/mcp-session.ndjson");

#[test]
fn the_example_of_converting_writes_turtle() {
    let mut turtle = Vec::new();
    convert::convert(LOG, &mut turtle).unwrap();
    let turtle = String::from_utf8(turtle).unwrap();
    assert!(turtle.starts_with("@base <https://example.org/session> .\n"), "{turtle}");
    assert!(turtle.contains("rpcg:respondsTo <#m1>"), "{turtle}");
    assert!(turtle.contains("rpcg:source \"mcp-session.ndjson\""), "{turtle}");
}

#[test]
fn the_example_of_asking_tells_what_failed_and_what_hung() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.io");
    fs::write(
        &log,
        "// adds\n>> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"add\"}\n\
         >> {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"wait\"}\n\
         << {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"none\"}}\n",
    )
    .unwrap();
    let mut said = Vec::new();
    ask::ask(log.to_str().unwrap(), &mut said).unwrap();
    assert_eq!(String::from_utf8(said).unwrap(), "failed: add with -32601 none\nnever answered: wait\n");
}

#[test]
fn the_example_of_a_register_makes_one() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("register");
    register::register(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/json-rpc"), &out).unwrap();
    assert!(out.join("register.json").is_file());
    assert!(out.join("tests/report.json").is_file());
}

#[test]
fn messages_know_what_they_answer() {
    let log = "2026-01-05T10:00:00.5Z [demo] [info] Message from client: {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":{\"b\":1,\"a\":[ ]}} { metadata: undefined }\n\
               2026-01-05T10:00:01.75Z [demo] [info] Message from server: {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":null} { metadata: undefined }\n";
    let messages: Vec<_> = Log::read("mcp.log", log.as_bytes()).messages().collect::<Result<_, _>>().unwrap();
    let [request, answer] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!(request.kind, Some(Kind::Request));
    assert_eq!(request.method.as_deref(), Some("tools/call"));
    assert_eq!(request.params.as_deref(), Some("{\"a\":[],\"b\":1}"));
    assert_eq!(request.time.as_deref(), Some("2026-01-05T10:00:00.5Z"));
    assert_eq!(answer.responds_to, Some(request.name));
    assert_eq!(answer.latency.map(|latency| latency.as_millis()), Some(1250));
    assert_eq!(answer.result.as_deref(), Some("null"));
    assert_eq!(answer.text, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":null}");
}

#[test]
fn elements_of_a_batch_are_messages_each_with_its_text() {
    let log = "[{\"jsonrpc\":\"2.0\",\"method\":\"a\"}, 1,{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"b\"}]\nnot JSON\n";
    let messages: Vec<_> = Log::read("log", log.as_bytes()).messages().collect::<Result<_, _>>().unwrap();
    let told: Vec<_> =
        messages.iter().map(|message| (message.name.to_string(), message.kind, &*message.text)).collect();
    assert_eq!(
        told,
        [
            ("m1.1".to_owned(), Some(Kind::Notification), "{\"jsonrpc\":\"2.0\",\"method\":\"a\"}"),
            ("m1.2".to_owned(), None, "1"),
            ("m1.3".to_owned(), Some(Kind::Request), "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"b\"}"),
            ("m2".to_owned(), None, "not JSON"),
        ]
    );
}

#[test]
fn every_form_of_query_gives_rows() {
    let log =
        || Log::read("log", "{\"id\":1,\"method\":\"a\"}\n".as_bytes()).with_base("https://example.org/l").unwrap();
    let rows = |text: &str| -> Vec<Vec<(String, String)>> {
        let rows = log().ask(&Query::parse(text, None).unwrap()).unwrap();
        let told = |row: rpcgraph::Row| row.iter().map(|(name, term)| (name.to_owned(), term.to_string())).collect();
        rows.map(|row| told(row.unwrap())).collect()
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(rows("SELECT ?m ?none { ?r jrpc:hasMethod ?m }"), [[pair("m", "\"a\"")]]);
    let boolean = "^^<http://www.w3.org/2001/XMLSchema#boolean>";
    assert_eq!(rows("ASK { ?r a jrpc:Response }"), [[pair("answer", &format!("\"false\"{boolean}"))]]);
    assert_eq!(
        rows("CONSTRUCT { ?r <p:q> ?m } WHERE { ?r jrpc:hasMethod ?m }"),
        [[pair("subject", "<https://example.org/l#m1>"), pair("predicate", "<p:q>"), pair("object", "\"a\"")]]
    );
}

#[test]
fn a_log_that_was_not_read_has_no_answer() {
    let ask = |text: &str| Log::read("log", "ready\n".as_bytes()).ask(&Query::parse(text, None).unwrap());
    let error = ask("ASK { ?answer a jrpc:ErrorResponse }").err().unwrap();
    assert!(matches!(error, LogError::Unread { .. }));
    assert!(error.to_string().starts_with("log: found no JSON-RPC (json-lines: 1 malformed record); "));
    assert_eq!(ask("SELECT ?record { ?record a rpcg:MalformedRecord }").unwrap().count(), 1);
}

#[test]
fn findings_are_told_and_errors_say_what_is_wrong() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let keep = told.clone();
    let log = Log::read("log", "{\"id\":1,\"method\":\"a\"}\nnot JSON\n".as_bytes());
    let summary = log
        .with_findings(move |finding| keep.lock().unwrap().push(finding.to_string()))
        .write_to(std::io::sink(), Syntax::NQuads)
        .unwrap();
    assert_eq!(summary.records, 2);
    let told = told.lock().unwrap();
    assert!(matches!(told.as_slice(), [one] if one.starts_with("log:2: record 2 at byte 22: not JSON")), "{told:?}");

    assert!(matches!(Log::open("no such file"), Err(LogError::Open { .. })));
    assert!(matches!(Log::open(env!("CARGO_MANIFEST_DIR")), Err(LogError::Folder { .. })));
    let log = || Log::read("log", std::io::empty());
    assert!(matches!(log().with_base("a b"), Err(LogError::BadIri { .. })));
    assert!(matches!(log().with_base("a:b#c"), Err(LogError::Fragment { .. })));
}

#[test]
fn spans_state_the_version_of_the_program() {
    assert_eq!(rpcgraph_graph::VERSION, env!("CARGO_PKG_VERSION"));
}
