//! Redaction: nothing private is left in any output, and the log reads, and answers questions, as before.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rpcgraph::Query;
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::log::redacted::{redacted, redacted_lines};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::query::catalogue::names;
use rpcgraph::query::{Answer, Cancel, Dataset};
use rpcgraph::record::ReaderOptions;
use rpcgraph::redact::{RedactOptions, Redactor};
use serde_json::{Value, json};

mod planted;

use self::planted::{SECRETS, forms, planted};
use crate::cli::Place;
use crate::report::inflated;
use crate::support::{logs, own};

fn redactor(options: RedactOptions) -> Redactor {
    Redactor::new(b"a key of this test", options)
}

#[track_caller]
fn assert_none_left(secret: &str, output: &[u8], what: &str) {
    let output = String::from_utf8_lossy(output);
    for form in forms(secret) {
        if let Some(at) = output.find(&form) {
            let start = (0..=at.saturating_sub(80)).rev().find(|at| output.is_char_boundary(*at)).unwrap();
            panic!(
                "{what}: {secret:?} is left as {form:?} in {:?}",
                output[start..].chars().take(240).collect::<String>()
            );
        }
    }
}

#[test]
fn no_secret_is_left() {
    for secret in SECRETS {
        for (format, log) in planted(secret) {
            let what = format!("{format} with {secret:?}");
            assert!(forms(secret).iter().any(|form| log.contains(form)), "{what}");
            let out = redactor(RedactOptions::default()).log(log.as_bytes());
            assert_none_left(secret, &out, &what);
            let lines =
                redacted_lines(log.as_bytes(), &ReaderOptions::default(), &mut redactor(RedactOptions::default()));
            assert_none_left(secret, &lines.unwrap().expect(&what), &format!("JSON lines of {what}"));
        }
    }
}

/// Every log with secrets in it reads as before.
#[test]
fn redacted_logs_are_in_their_format() {
    for (format, log) in planted(SECRETS[0]) {
        let options = ReaderOptions::default();
        let out = redacted(log.as_bytes(), &options, &mut redactor(RedactOptions::default())).unwrap();
        assert!(
            out.is_some(),
            "{format}: {}",
            String::from_utf8_lossy(&redactor(RedactOptions::default()).log(log.as_bytes()))
        );
    }
}

#[test]
fn no_output_of_a_command_has_a_secret() {
    let mut runs = 0;
    for secret in SECRETS.iter().step_by(5) {
        let place = Place::new();
        let file = format!("{}.log", secret.replace(['/', '\\', ':', '\n', '"', '*', '?', '<', '>', '|'], "_"));
        for (format, log) in planted(secret) {
            place.put(&file, &log);
            place.put("key", "0123456789abcdef");
            let what = |run: &str| format!("{run} of {format} with {secret:?}");
            let shown = |arguments: &[&str]| {
                let ran = place.run(&[arguments, &["--key-file", "key", "--redact", "--", &file]].concat());
                let (output, said) = (ran.stdout, ran.stderr.replace(&file, ""));
                assert_none_left(secret, &output, &what(arguments[0]));
                assert_none_left(secret, said.as_bytes(), &what(arguments[0]));
                output
            };
            // A debug build is slow: each log passes a third of the commands.
            let commands = ["turtle", "ntriples", "nquads", "trig", "jsonld", "jsonld-lines", "rdfxml", "otlp"];
            let commands = commands.into_iter().chain(["overview", "timeline", "errors", "report", "capture"]);
            for (_, command) in commands.enumerate().filter(|(at, _)| at % 3 == runs % 3) {
                match command {
                    "overview" | "timeline" | "errors" => _ = shown(&[command, "--wide"]),
                    "report" => {
                        let page = String::from_utf8(shown(&["report", "--full"])).unwrap();
                        let pieces = [inflated(&page, "index"), inflated(&page, "piece-")].concat();
                        assert_none_left(secret, &pieces, &what("report"));
                    }
                    "capture" => {
                        place.run(&["capture", "-o", "block", "--quiet", "--redact", "--", &file]);
                        let parts = ["block/examples.yaml", "block/description.md"].into_iter();
                        for part in parts.filter(|part| place.path(part).exists()) {
                            assert_none_left(secret, &place.read(part), &what("capture"));
                        }
                    }
                    syntax => _ = shown(&["convert", "-t", syntax, "--provenance", "--log-lines"]),
                }
            }
            runs += 1;
        }
    }
}

/// Logs that redaction does not write back: they are damaged, have messages as pairs of hexadecimal digits, or in parts.
const REFUSED: [&str; 16] = [
    "chromedriver/edge.log",
    "chromedriver/typical.log",
    "clangd/edge.log",
    "clangd/typical.log",
    "claude-desktop/parts.log",
    "content-length/edge.log",
    "content-length/interleaved.log",
    "jsonrpc2/typical.log",
    "slog/typical.log",
    "sublime-lsp/typical.log",
    "terraform-ls/edge.log",
    "terraform-ls/typical.log",
    "tshark/edge.json",
    "tshark/tcp.json",
    "tshark/typical.json",
    "zed-acp/edge.json",
];

fn own_logs() -> Vec<std::path::PathBuf> {
    let mut logs = logs("");
    logs.retain(|log| {
        let extension = log.extension().unwrap_or_default().to_string_lossy();
        log.starts_with(own("")) && ["ndjson", "jsonl", "log", "json", "io", "har"].contains(&&*extension)
    });
    logs.retain(|log| !log.starts_with(own("examples/register")) && !log.starts_with(own("examples/json-rpc")));
    logs
}

#[test]
fn every_log_of_the_tests_is_written_back() {
    for log in own_logs() {
        let bytes = fs::read(&log).unwrap();
        let out = redacted(&bytes, &ReaderOptions::default(), &mut redactor(RedactOptions::default())).unwrap();
        let is_refused = REFUSED.iter().any(|refused| log.ends_with(refused));
        assert_eq!(out.is_none(), is_refused, "{}", log.display());
    }
}

/// A log, read once for all questions.
fn loaded(log: &[u8]) -> Dataset {
    let (dataset, cancel) = (Dataset::of_everything(), Cancel::default());
    let mut loading = dataset.load(&cancel).unwrap();
    let mut converter = Converter::new(Mapper::new(Mapping::Session, &[]).unwrap(), Options::default());
    let (name, iri) = ("log".to_owned(), "urn:rpcgraph:log".to_owned());
    let input = Input { source: name.clone(), name, iri, iri_stated: false, read: log };
    converter.convert(input, &mut loading.sink(), &mut |_| {}).unwrap();
    loading.commit().unwrap();
    dataset
}

/// The number of rows that a question finds.
fn rows(log: &Dataset, question: &str) -> usize {
    match log.answer(&Query::named(question).unwrap(), &Cancel::default()).unwrap() {
        Answer::Solutions(found) => found.rows.map(Result::unwrap).count(),
        _ => panic!("{question} has no rows"),
    }
}

#[test]
fn questions_find_as_many_rows() {
    let mut differ = Vec::new();
    for log in own_logs() {
        let bytes = fs::read(&log).unwrap();
        let out = redacted(&bytes, &ReaderOptions::default(), &mut redactor(RedactOptions::default())).unwrap();
        let Some(out) = out else { continue };
        let [original, redacted] = [&bytes, &out].map(|log| loaded(log));
        // Which sessions are compared depends on the order of their names, and no secret is left to find.
        for question in names().into_iter().filter(|name| !["compare", "secrets"].contains(name)) {
            let (before, after) = (rows(&original, question), rows(&redacted, question));
            if before != after {
                differ.push(format!("{question} of {}: {before}, then {after}", log.display()));
            }
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");
}

fn findings(log: &[u8]) -> BTreeSet<(String, String, String)> {
    let place = Place::with("log", log);
    let ran = place.run(&["check", "--to", "json", "--", "log"]);
    let text = |finding: &Value, name: &str| finding[name].to_string();
    let lines = ran.text().lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|finding| (text(&finding, "rule"), text(&finding, "verdict"), text(&finding, "line"))).collect()
}

#[test]
fn verdicts_stay() {
    let examples = logs("").into_iter().filter(|log| log.parent() == Some(&own("examples")));
    let checked = logs("").into_iter().filter(|log| log.starts_with(own("tests/queries")));
    for log in examples.chain(checked).filter(|log| is_log(log)) {
        let bytes = fs::read(&log).unwrap();
        let out = redactor(RedactOptions::default()).log(&bytes);
        assert_eq!(findings(&out), findings(&bytes), "{}", log.display());
    }
}

/// The verdicts on headers stay. The name of a tool in a header is replaced as in the body, even if a protocol has the same word.
#[test]
fn headers_stay_as_true_as_before() {
    let call = |sequence: u32, header: &str, body: &str| {
        format!(
            r#"{{"time":"2026-08-01T10:00:0{sequence}Z","session":"s","sequence":{sequence},"transport":"http","sender":"client","headers":{{"mcp-method":"tools/call","mcp-protocol-version":"2026-07-28","mcp-name":"{header}"}},"message":{{"jsonrpc":"2.0","id":{sequence},"method":"tools/call","params":{{"name":"{body}","arguments":{{}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}}}"#
        ) + "\n"
    };
    let log = call(1, "add", "add") + &call(2, "fetch_ida", "fetch_ida") + &call(3, "=?base64?w6Q=?=", "ä");
    let of_headers =
        |log: &[u8]| findings(log).into_iter().filter(|(rule, ..)| rule.contains("headers")).collect::<Vec<_>>();
    for drop_names in [false, true] {
        let out = redactor(RedactOptions { drop_names, ..RedactOptions::default() }).log(log.as_bytes());
        assert_eq!(of_headers(&out), of_headers(log.as_bytes()), "{}", String::from_utf8_lossy(&out));
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.contains("add\"") || text.contains("fetch_ida"), !drop_names, "{text}");
        // HTTP archives have the name of a header in a member of its own.
        let archive = br#"{"log":{"version":"1.2","entries":[{"request":{"headers":[{"name":"Mcp-Name","value":"add"},{"name":"accept","value":"a"}]}}]}}"#;
        let text =
            String::from_utf8(redactor(RedactOptions { drop_names, ..RedactOptions::default() }).log(archive)).unwrap();
        assert!(!text.contains("\"add\""), "{text}");
    }
}

fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|extension| ["ndjson", "jsonl", "log", "io"].iter().any(|log| extension == *log))
}

fn redact_value(value: &Value) -> Value {
    let out = redactor(RedactOptions::default()).log(value.to_string().as_bytes());
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn a_tool_and_its_calls_are_redacted_together() {
    let listed = redact_value(
        &json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [{ "name": "find_user", "inputSchema": {
        "type": "object", "properties": { "mail": { "enum": ["ida@example.org"], "pattern": "^ida", "default": "Ida" } },
        "required": ["mail"] } }] } }),
    );
    let called = redact_value(&json!({ "jsonrpc": "2.0", "id": 123_456, "method": "tools/call",
        "params": { "name": "find_user", "arguments": { "mail": "ida@example.org", "age": 42 } } }));
    let answered = redact_value(&json!({ "jsonrpc": "2.0", "id": 123_456, "result": {
        "content": [{ "type": "text", "text": "{\"mail\":\"ida@example.org\"}" }],
        "structuredContent": { "mail": "ida@example.org" } } }));
    let schema = &listed["result"]["tools"][0]["inputSchema"];
    assert_eq!(listed["result"]["tools"][0]["name"], called["params"]["name"]);
    let arguments = called["params"]["arguments"].as_object().unwrap();
    let (name, value) = arguments.iter().next().unwrap();
    assert_eq!(schema["required"], json!([name]));
    assert_eq!(schema["properties"][name]["enum"], json!([value]));
    assert!(schema["properties"][name].get("pattern").is_none());
    assert!(value.as_str().unwrap().contains('@'));
    assert_ne!(arguments.values().nth(1), Some(&json!(42)));
    assert_eq!((&called["id"], &answered["id"]), (&json!(123_456), &json!(123_456)));
    assert_eq!(answered["result"]["content"][0]["text"], answered["result"]["structuredContent"].to_string());
    assert_eq!(answered["result"]["structuredContent"][name], *value);
}

const LOG: &str = r#"{"time":"2026-01-05T10:00:00Z","message":{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"find","arguments":{"mail":"ida","token":"ghp_0123456789abcdefghij0123"}}}}
{"time":"2026-01-05T10:00:01Z","message":{"jsonrpc":"2.0","id":"a","error":{"code":-32000,"message":"no ida","data":{"x":"ida"}}}}
"#;

#[test]
fn methods_of_ethereum_stay() {
    for (method, stays) in [("eth_getBalance", true), ("engine_newPayloadV4", true), ("bank_transfer", false)] {
        let request = redact_value(&json!({ "jsonrpc": "2.0", "id": 1, "method": method }));
        assert_eq!(request["method"] == method, stays, "{request}");
    }
}

/// Words of the protocols are content where a tool's author has them.
#[test]
fn words_in_arguments_are_replaced() {
    let own = json!({ "uri": "text", "name": "tool", "count": 41 });
    let called = redact_value(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "t", "arguments": own } }));
    let answered = redact_value(&json!({ "jsonrpc": "2.0", "id": 1, "result": {
        "content": [], "structuredContent": own } }));
    for value in [&called["params"]["arguments"], &answered["result"]["structuredContent"]] {
        let text = value.to_string();
        assert_eq!(value.as_object().unwrap().len(), 3, "{text}");
        for word in ["uri", "\"text\"", "name", "tool", "count", "41"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
    }
}

/// A question redacts its logs once: standard input can be read only once, and another key would give other names.
#[test]
fn a_question_redacts_its_logs_once() {
    let place = Place::with("log", LOG);
    place.put("other", LOG);
    let asked = |arguments: &[&str]| place.run(arguments).text().to_owned();
    let rows = |text: &str| text.lines().count();
    let errors = asked(&["errors", "log", "-t", "csv", "--quiet"]);
    assert_eq!(rows(&errors), 2);
    let piped = place.run_with(&["errors", "--redact", "-t", "csv", "--quiet"], LOG);
    assert_eq!(rows(piped.text()), 2, "{}", piped.text());
    let compared = ["compare", "log", "other", "-t", "csv", "--columns", "part,a,b", "--quiet"];
    assert_eq!(asked(&[&compared[..], &["--redact"]].concat()), asked(&compared));
}

#[test]
fn options() {
    let log = |options| String::from_utf8(redactor(options).log(LOG.as_bytes())).unwrap();
    let kept = log(RedactOptions { keep: vec!["mail".to_owned()], ..RedactOptions::default() });
    assert!(kept.contains(r#""mail":"ida""#) && !kept.contains("ghp_") && !kept.contains("no ida"), "{kept}");
    let pointed = log(RedactOptions { keep: vec!["/error/message".to_owned()], ..RedactOptions::default() });
    assert!(pointed.contains(r#""message":"no ida""#) && !pointed.contains(r#"mail":"ida""#), "{pointed}");
    let indexed = r#"{"id":1,"result":{"0":"a b","x":[{"y":"one"},{"y":"two"}]}}"#;
    let keep = ["/result/0", "/result/x/0/y"].map(str::to_owned).to_vec();
    let indexed = redactor(RedactOptions { keep, ..RedactOptions::default() }).log(indexed.as_bytes());
    let indexed = String::from_utf8(indexed).unwrap();
    assert!(indexed.contains(r#""0":"a b""#) && indexed.contains("\"one\"") && !indexed.contains("two"), "{indexed}");
    let bare = log(RedactOptions { metadata_only: true, ..RedactOptions::default() });
    assert!(bare.contains(r#""params":{}"#) && bare.contains(r#""data":{}"#), "{bare}");
    let secrets = log(RedactOptions { secrets_only: true, ..RedactOptions::default() });
    assert!(secrets.contains(r#""mail":"ida""#) && !secrets.contains("ghp_"), "{secrets}");
    let shifted = log(RedactOptions { shift_days: -5, ..RedactOptions::default() });
    assert!(shifted.contains(r#"{"time":"2025-12-31T10:00:01Z","#), "{shifted}");
    let pem = "{\"a\":\"-----BEGIN RSA PRIVATE KEY-----\\nMIIEow\\nabc\\n-----END RSA PRIVATE KEY-----\"}";
    let secrets = redactor(RedactOptions { secrets_only: true, ..RedactOptions::default() }).log(pem.as_bytes());
    assert!(!String::from_utf8(secrets).unwrap().contains("MIIEow"));
}

#[test]
fn the_command() {
    let place = Place::with("ida.ndjson", LOG);
    place.put("key", "a key that is long enough");
    let arguments = ["redact", "ida.ndjson", "--key-file", "key"];
    let ran = place.run(&arguments);
    ran.said(
        0,
        "replaced: 9 × text; stayed: 2 × time, 2 × word of a protocol; \
         names that stayed: find (--drop-names replaces them)\n",
    );
    let dropped = place.run(&[&arguments[..], &["--drop-names"]].concat());
    dropped.said(0, "replaced: 10 × text; stayed: 2 × time, 2 × word of a protocol\n");
    assert!(!dropped.text().contains("find") && dropped.text().contains("tools/call"));
    assert!(!ran.text().contains("no ida") && !ran.text().contains("\"ida\""));
    assert_eq!(place.run(&arguments).stdout, ran.stdout);
    assert_ne!(place.run(&["redact", "ida.ndjson"]).stdout, ran.stdout);
    place.run(&["redact", "ida.ndjson", "--as", "json-lines", "-o", "out.ndjson.gz", "--quiet"]).quietly();
    place.run(&["timeline", "out.ndjson.gz"]).said(0, "2 rows\n");
    place.put("short", "key");
    place
        .run(&["redact", "ida.ndjson", "--key-file", "short"])
        .said(2, "error: short is too short for a key: it needs 16 bytes\n");
    place.run(&["redact", "ida.ndjson", "-o", "none.ndjson", "--session-by", "/nope"]).began(2, "error: no line has");
    assert!(!place.path("none.ndjson").exists());
    let edge = fs::read(own("tests/formats/zed-acp/edge.json")).unwrap();
    place.put("edge.json", edge);
    place.run(&["redact", "edge.json"]).began(2, "error: edge.json cannot be redacted in its own format");
    place.run(&["redact", "edge.json", "--as", "json-lines", "--quiet"]).quietly();
    assert!(place.run(&["convert", "edge.json", "--redact", "--quiet"]).text().contains("urn:rpcgraph:x"));
    let turtle = place.run(&["convert", "ida.ndjson", "--redact", "--base", "https://example.org/a", "--quiet"]);
    assert!(
        turtle.text().contains("https://example.org/a")
            && !turtle.text().contains("ida.ndjson")
            && !turtle.text().contains("no ida")
    );
    place
        .run(&["timeline", "ida.ndjson", "--redact", "--follow"])
        .said(2, "error: --redact reads a log to its end: leave out --follow\n");
}

/// Parameters and results in a spelling that is not JSON, or around messages, are not left out: such a log is refused.
#[test]
fn payloads_never_stay_with_metadata_only() {
    let trace = "[Trace - 10:00:00 AM] Sending request 'textDocument/hover - (3)'.\nParams: {\n    \"position\": {\"line\": 12}\n}\n\n\n\
        [Trace - 10:00:01 AM] Received response 'textDocument/hover - (3)' in 5ms.\nResult: {\n    \"range\": {\"line\": 12}\n}\n\n\n";
    let place = Place::with("trace.log", trace);
    place.run(&["redact", "trace.log", "--quiet"]).quietly();
    place
        .run(&["redact", "trace.log", "--metadata-only"])
        .began(2, "error: trace.log cannot be redacted in its own format");
    let lines = place.run(&["redact", "trace.log", "--metadata-only", "--as", "json-lines", "--quiet"]);
    assert!(lines.text().contains("\"params\":{}"), "{}", lines.text());
    let shown = place.run(&["timeline", "trace.log", "--metadata-only", "-t", "messages"]);
    assert!(!shown.text().contains("12") && shown.stderr.contains(" is redacted as JSON lines"), "{}", shown.stderr);
}

/// Error codes, status codes and times stay, also where a log has them as text; marks of text that is left out stay once.
#[test]
fn codes_and_times_stay() {
    let out = |log: &str| String::from_utf8(redactor(RedactOptions::default()).log(log.as_bytes())).unwrap();
    let cut = r#"{"log":"{\"id\":1,\"params\":{\"text\":\"ab...[99 chars truncated]...\"}}\n"}"#;
    for (log, stays) in [
        (r#"{"id":2,"error":{"code":99991663,"message":"m"}}"#, "99991663"),
        (r#"{"layers":{"http":{"http.response.code":"401"}}}"#, "\"401\""),
        ("1725433249680\tAgent -> {\"id\":1}", "1725433249680\t"),
        ("Served t=1.4ms", "t=1.4ms"),
        (cut, "...[99 chars truncated]..."),
    ] {
        assert_eq!(out(log).matches(stays).count(), 1, "{}", out(log));
    }
}

const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANbody\n-----END PRIVATE KEY-----\n";

/// A folder is redacted log by log, with one key; a log that cannot be redacted does not end the run.
#[test]
fn folders() {
    let place = Place::with("logs/a.ndjson", LOG);
    place.put("logs/deep/b.log.gz", "text\n".to_owned() + LOG);
    place
        .run(&["redact", "logs"])
        .said(2, "error: logs is a folder: name a folder for its redacted logs with --output\n");
    place.run(&["redact", "logs", "-o", "logs/out"]).began(2, "error: logs/out is in the folder that is read");
    place.run(&["redact", "logs", "-r", "-o", "out", "--quiet"]).quietly();
    let [one, other] = ["out/a.ndjson", "out/deep/b.log.gz"].map(|log| {
        place.run(&["timeline", log, "--quiet"]).quietly();
        place.read(log)
    });
    assert_eq!(&other[..2], b"\x1f\x8b");
    let text = String::from_utf8(one).unwrap();
    let error: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    let reason = error["message"]["error"]["data"].as_object().unwrap().values().next().unwrap().as_str().unwrap();
    assert!(
        !text.contains("\"ida\"") && place.run(&["convert", "out/deep/b.log.gz", "--quiet"]).text().contains(reason)
    );
    let utf16: Vec<u8> = LOG.encode_utf16().flat_map(u16::to_le_bytes).collect();
    place.put("logs/c.log", utf16);
    let ran = place.run(&["redact", "logs", "-o", "again"]);
    ran.began(2, "error: logs/c.log cannot be redacted: it has binary data, or text in another encoding than UTF-8");
    assert!(ran.stderr.ends_with("error: 1 of 2 logs could not be redacted\n"), "{}", ran.stderr);
    assert!(place.path("again/a.ndjson").exists() && !place.path("again/c.log").exists());
}

/// The redacted log, with one secret in each message: the secrets are replaced, the ids of the messages stay.
fn secrets_only(log: &str) -> String {
    let options = RedactOptions { secrets_only: true, ..RedactOptions::default() };
    let out = redacted(log.as_bytes(), &ReaderOptions::default(), &mut redactor(options)).unwrap();
    String::from_utf8(out.unwrap_or_else(|| panic!("refused: {log}"))).unwrap()
}

/// A secret ends with its string: the rest of the message stays, in any spelling.
#[test]
fn whole_secrets_are_replaced_and_nothing_else() {
    let key = json!({ "id": 1, "method": "m", "params": { "private_key": KEY, "color": "teal" } }).to_string();
    let cut = json!({ "id": 2, "method": "m", "params": { "k": &KEY[..40], "color": "teal" } }).to_string();
    let end = json!({ "method": "n", "params": { "c": "-----END CERTIFICATE-----", "color": "teal" } }).to_string();
    let nested = json!({ "id": 3, "method": "m", "params": { "in": key, "color": "teal" } }).to_string();
    let spelled = key.replace('-', "\\u002d").replace("\\n", "\\r\\u000a");
    for log in [
        format!("{key}\n{cut}\n{end}\n{nested}\n{spelled}\n"),
        format!("[{key},{cut},{end}]\n[{nested},{spelled}]\n"),
        format!("Content-Length: {}\r\n\r\n{key}Content-Length: {}\r\n\r\n{nested}", key.len(), nested.len()),
        format!("{KEY}INFO {key}\nINFO {KEY}INFO {cut}\n"),
    ] {
        let out = secrets_only(&log);
        assert!(!out.contains("MII") && !out.contains("BEGIN"), "{out}");
        for word in ["teal", "\"m\"", "-----END CERTIFICATE-----", "INFO"] {
            assert_eq!(out.matches(word).count(), log.matches(word).count(), "{word} in {out}");
        }
        let again = redactor(RedactOptions { secrets_only: true, ..RedactOptions::default() }).log(out.as_bytes());
        assert_eq!(String::from_utf8(again).unwrap(), out, "placeholders are not secrets");
    }
}

/// A secret in the parts of an event is found where its message is read, and then written as lines.
#[test]
fn secrets_in_pieces_are_not_left() {
    let log = "event: message\ndata: {\"id\":1,\"method\":\"m\",\"params\":{\"password\":\ndata: \"hunter22\"}}\n\n";
    let place = Place::with("log", log);
    place.run(&["redact", "--secrets-only", "log"]).began(2, "error: log cannot be redacted in its own format");
    let ran = place.run(&["redact", "--secrets-only", "log", "--as", "json-lines"]);
    assert!(ran.text().contains("\"method\":\"m\"") && !ran.text().contains("hunter22"), "{}", ran.text());
    let graph = place.run(&["convert", "--redact", "--secrets-only", "log", "-t", "ntriples"]);
    assert!(graph.text().contains("hasMethod") && !graph.text().contains("hunter22"));
}

/// Neither way of redaction leaves something that the question `secrets` or a page finds.
#[test]
fn redacted_logs_have_no_secrets() {
    for secret in SECRETS.iter().step_by(3) {
        for (format, log) in planted(secret) {
            for options in [RedactOptions::default(), RedactOptions { secrets_only: true, ..RedactOptions::default() }]
            {
                let out = redactor(options.clone()).log(log.as_bytes());
                let again = redactor(RedactOptions { secrets_only: true, ..RedactOptions::default() }).log(&out);
                let what = format!("{format} with {secret:?}: {}", String::from_utf8_lossy(&out));
                assert!(again == out, "{what}");
                assert!(options.secrets_only || rows(&loaded(&out), "secrets") == 0, "{what}");
            }
        }
    }
}

#[test]
fn digits_and_addresses_in_text_are_replaced() {
    let text = "code - (482913) from 8.8.8.8 via fe80::1:2, pin 4 7 1 1 or 47-11, token 1234567s, <482> in 12ms, \
        4, 7, 1, 1 and 4829131ms, took 1234567us";
    let log =
        format!("{{\"id\":1,\"method\":\"ping\"}}\n{text}\n[Trace - 10:00:00 AM] Sending request 'ping - (2)'.\n");
    let out = String::from_utf8(redactor(RedactOptions::default()).log(log.as_bytes())).unwrap();
    for part in ["(482913)", "<482>", "8.8", "::1", "4 7", "47-11", "1234567s", "4, 7", "4829131ms"] {
        assert!(!out.contains(part), "{part} in {out}");
    }
    assert!(out.contains("in 12ms") && out.contains("took 1234567us") && out.contains("'ping - (2)'"), "{out}");
}
