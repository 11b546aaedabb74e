//! Exchanges as spans of OpenTelemetry (`-t otlp`).

use std::collections::BTreeMap;

use super::{judge, python};
use crate::cli::{BASE, Place};
use crate::support::logs;

/// Each exchange with times is a span of its duration, in the trace that its request names.
#[test]
fn exchanges_are_spans() {
    let place = Place::with("log", TRACED);
    let ran = place.convert(&["log", "--base", BASE, "--envelope", ENVELOPE, "-t", "otlp"]);
    let told = ran.stderr.lines().last();
    assert_eq!(told, Some("2 spans; in none: 1 message without a time, 1 request without an answer, 1 other message"));
    let lines: Vec<serde_json::Value> =
        ran.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let [called, failed] = lines.as_slice() else { panic!("{}", ran.text()) };
    let span = |line: &serde_json::Value| line["resourceSpans"][0]["scopeSpans"][0]["spans"][0].clone();
    let attributes = |span: &serde_json::Value| -> BTreeMap<String, String> {
        let all = span["attributes"].as_array().expect("attributes").iter();
        let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
        all.map(|one| (text(&one["key"]), text(&one["value"]["stringValue"]))).collect()
    };
    assert_eq!(called["resourceSpans"][0]["schemaUrl"], "https://opentelemetry.io/schemas/1.44.0");
    let (called, failed) = (span(called), span(failed));
    assert_eq!((&called["name"], &called["kind"]), (&"tools/call forecast".into(), &3.into()));
    assert_eq!(called["traceId"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(called["parentSpanId"], "b7ad6b7169203331");
    assert_eq!(called["startTimeUnixNano"], "1767600000000000001");
    assert_eq!(called["endTimeUnixNano"], "1767600002500000000");
    assert_eq!(called["events"][0]["name"], "notifications/progress");
    assert_eq!(called["status"], serde_json::json!({ "code": 2 }));
    let of_call = attributes(&called);
    for (key, value) in [
        ("rpc.system.name", "jsonrpc"),
        ("rpc.method", "tools/call"),
        ("jsonrpc.request.id", "1"),
        ("jsonrpc.protocol.version", "2.0"),
        ("session.id", BASE),
        ("mcp.method.name", "tools/call"),
        ("gen_ai.tool.name", "forecast"),
        ("gen_ai.operation.name", "execute_tool"),
        ("error.type", "tool_error"),
    ] {
        assert_eq!(of_call.get(key).map(String::as_str), Some(value), "{key}");
    }
    assert_eq!(of_call.len(), 9);
    assert_eq!(failed["parentSpanId"], "");
    assert_eq!(attributes(&failed)["rpc.status_code"], "-32602");
    assert!(!ran.text().contains("secret"), "{}", ran.text());
    let ran = place.convert(&["log", "--base", BASE, "--envelope", ENVELOPE, "-t", "otlp", "--payloads", "--quiet"]);
    assert_eq!(ran.quietly().text().matches("secret").count(), 3);
    // The same for any number of threads, and again.
    let again =
        place.convert(&["log", "--base", BASE, "--envelope", ENVELOPE, "-t", "otlp", "--payloads", "--jobs", "4"]);
    assert_eq!(again.text(), ran.text());
    place.convert(&["log", "-t", "otlp", "-m", "bblock"]).began(2, "error: spans are of sessions");
}

const ENVELOPE: &str = "message=/m time=/t";

/// A call in a trace with progress, a read that fails, a request that nothing answers, a message without a time.
const TRACED: &str = r#"{"t":"2026-01-05T08:00:00.000000001Z","m":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"forecast","arguments":{"a":"secret"},"_meta":{"progressToken":7,"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}}}
{"t":"2026-01-05T08:00:01Z","m":{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}}
{"t":"2026-01-05T08:00:01Z","m":{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}}
{"t":"2026-01-05T08:00:02Z","m":{"jsonrpc":"2.0","id":"a","method":"resources/read","params":{"uri":"file:///secret"}}}
{"t":"2026-01-05T08:00:02.5Z","m":{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}}
{"t":"2026-01-05T08:00:03Z","m":{"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"secret"}}}
{"t":"2026-01-05T08:00:04Z","m":{"jsonrpc":"2.0","id":2,"method":"ping"}}
{"m":{"jsonrpc":"2.0","id":3,"method":"ping"}}
"#;

const LATENCIES: &str = r#"SELECT ?seconds ?trace ?parent {
  ?answer rpcg:latencySeconds ?seconds ; rpcg:respondsTo ?request . ?request rpcg:capturedAt ?time FILTER(TZ(?time) != "")
  OPTIONAL { ?request rpcg:traceId ?trace ; rpcg:parentSpanId ?parent }
}"#;

/// Spans are valid by OpenTelemetry's own schema, and they are the exchanges of the graph.
#[test]
fn spans_are_of_the_schema() {
    let Some(python) = python() else { return };
    let place = Place::with("traced", TRACED);
    let all = [logs("edge.log"), logs("typical.log")].concat();
    let all: Vec<_> = all.iter().map(|log| log.to_str().expect("text")).collect();
    let traced = ["traced", "--envelope", ENVELOPE];
    for (name, inputs) in [("all", &all[..]), ("one", &traced)] {
        place.convert(&[&["-t", "otlp", "--quiet", "-o", name], inputs].concat());
        let rows = place.run(&[&["query", "--quiet", "-q", LATENCIES, "-t", "csv"], inputs].concat());
        place.put(&format!("{name}.csv"), rows.text());
    }
    let arguments = ["all", "all.csv", "one", "one.csv"].map(|name| place.path(name));
    judge(&python, "otlp.py", &arguments);
}
