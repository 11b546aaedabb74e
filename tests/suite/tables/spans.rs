//! Exchanges as spans of OpenTelemetry (`-t otlp`).

use super::{judge, python};
use crate::cli::Place;
use crate::support::logs;

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
#[ignore = "needs a Python with DuckDB, pyarrow, morph-kgc and opentelemetry-proto"]
fn table_engines_accept_spans() {
    let python = python();
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
