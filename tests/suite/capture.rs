//! A building block out of captured traffic: which exchanges are chosen, what is said of them, what redaction leaves.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rpcgraph::capture::{Capture, OmissionReason, block};
use rpcgraph::record::ReaderOptions;
use rpcgraph::register::Files;

use rpcgraph::redact::{RedactOptions, Redactor};
use rpcgraph::register::examples::{Examples, SnippetSource};
use serde_json::{Value, json};

use crate::schema::Schema;
use crate::support::{corpora, files};

fn captured(log: &str) -> Capture {
    let mut capture = Capture::new();
    capture.read("session.log", log.as_bytes(), &ReaderOptions::default()).unwrap();
    capture
}

fn examples(files: &Files) -> Examples {
    Examples::from_yaml(&files["examples.yaml"]).unwrap()
}

/// Of each example its title and its messages.
fn told(files: &Files) -> Vec<(String, Vec<Value>)> {
    let message = |source: &SnippetSource| match source {
        SnippetSource::Code(code) => serde_json::from_str(code).unwrap(),
        SnippetSource::Ref(_) => panic!("a text"),
    };
    let examples = examples(files).examples.into_iter();
    examples
        .map(|example| {
            (example.title.unwrap(), example.snippets.iter().map(|snippet| message(&snippet.source)).collect())
        })
        .collect()
}

fn titles(files: &Files) -> Vec<String> {
    told(files).into_iter().map(|(title, _)| title).collect()
}

const SESSION: &str = r#"
<< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}
>> {"jsonrpc":"2.0","id":1,"method":"add","params":[1000,2000]}
<< {"jsonrpc":"2.0","id":1,"result":3000}
>> {"jsonrpc":"2.0","id":2,"method":"add","params":[1,2]}
<< {"jsonrpc":"2.0","id":2,"result":3}
>> {"jsonrpc":"2.0","id":3,"method":"add","params":[3,4]}
<< {"jsonrpc":"2.0","id":3,"result":7}
>> {"jsonrpc":"2.0","id":4,"method":"add","params":["x"]}
<< {"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"Invalid params"}}
>> {"jsonrpc":"2.0","id":5,"method":"add","params":[9007199254740993,1e2]}
<< {"jsonrpc":"2.0","id":5,"error":{"code":-32050,"message":"too large"}}
>> {"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"sum"}}
<< {"jsonrpc":"2.0","id":6,"result":{"content":[],"isError":true}}
<< {"jsonrpc":"2.0","id":1,"method":"add"}
>> {"jsonrpc":"2.0","id":1,"result":0}
>> {"jsonrpc":"2.0","method":"bye"}
>> {"jsonrpc":"2.0","id":7,"method":"wait"}
>> [{"jsonrpc":"2.0","id":8,"method":"b"},{"jsonrpc":"2.0","method":"c"}]
<< [{"jsonrpc":"2.0","id":8,"result":null}]
"#;

#[test]
fn one_example_for_each_method_and_outcome() {
    let capture = captured(SESSION);
    let files = block(&capture).unwrap();
    let told = told(&files);
    let titles: Vec<_> = told.iter().map(|(title, _)| title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "unreadable call from the client: error -32700",
            "add from the client: result",
            "add from the client: error -32050",
            "add from the client: error -32602",
            "tools/call from the client: tool failure",
            "add from the server: result",
            "bye from the client: notification",
            "wait from the client: no answer",
            "b from the client: result",
            "c from the client: notification",
        ]
    );
    // The shortest of three, and of two that are as short the first.
    assert_eq!(
        told[1].1,
        [json!({"jsonrpc":"2.0","id":2,"method":"add","params":[1,2]}), json!({"jsonrpc":"2.0","id":2,"result":3})]
    );
    let examples = examples(&files).examples;
    assert_eq!(
        examples[1].content.as_deref(),
        Some("The call succeeded. The shortest of 3: records 4 and 5 of `session.log`.\n")
    );
    assert_eq!(
        examples[8].content.as_deref(),
        Some("The call succeeded. Seen once: records 18.1 and 19.1 of `session.log`. Sent in a batch.\n")
    );
    // Numbers are as they were.
    let SnippetSource::Code(code) = &examples[2].snippets[0].source else { panic!("a text") };
    assert!(code.contains("\n    9007199254740993,\n    100\n"), "{code}");
    let elements: Vec<_> = examples
        .iter()
        .flat_map(|example| &example.snippets)
        .map(|snippet| snippet.schema_ref.clone().unwrap())
        .collect();
    assert_eq!(elements[..5], ["#ParseErrorResponse", "#Request", "#Response", "#Request", "#ServerErrorResponse"]);
    assert!(capture.left_out().is_empty());
    assert_valid(&Schema::new(), &files, "the session");
}

#[test]
fn protocol_violations_become_failing_tests() {
    let capture = captured(
        r#"{"id":1,"method":"a"}
{"jsonrpc":"2.0","id":1,"result":1}
{"jsonrpc":"2.0","id":2,"method":"b","params":"no"}
{"jsonrpc":"2.0","id":2,"method":"b","params":1}
{"jsonrpc":"2.0","id":3,"method":"c"}
{"jsonrpc":"2.0","id":3,"result":{"a":1,"a":2}}
{"jsonrpc":"2.0","id":4,"method":"d","@context":"https://example.org/evil"}
{"jsonrpc":"2.0","id":5,"method":"e","params":[1e999]}
{"jsonrpc":"2.0","id":6,"result":6}
{"jsonrpc":"2.0","id":7}
not JSON
{"jsonrpc":"2.0","id":8,"method":"f","params":{"@context":"data"}}
"#,
    );
    let left_out: Vec<_> = capture.left_out().iter().map(|(reason, count)| (reason.to_string(), *count)).collect();
    let expected = [
        ("no JSON", 1),
        ("no JSON-RPC message", 1),
        ("MissingVersion", 1),
        ("ScalarParams", 2),
        ("DuplicateMember", 1),
        ("a member named like a keyword of JSON-LD", 1),
        ("a number or a nesting that other programs refuse", 1),
        ("an answer to no request of the log", 1),
        ("its call or its answer is left out", 2),
    ];
    assert_eq!(left_out, expected.map(|(reason, count)| (reason.to_owned(), count)));
    assert_eq!(capture.records(), 12);
    let files = block(&capture).unwrap();
    assert_eq!(titles(&files), ["f: no answer"]);
    assert_eq!(files["tests/missing-version-fail.json"], "{\n  \"id\": 1,\n  \"method\": \"a\"\n}\n");
    assert_eq!(files["tests/scalar-params-fail.json"].matches("\"params\": 1").count(), 1);
    assert_valid(&Schema::new(), &files, "the faulty session");
}

#[test]
fn several_logs_are_one_block() {
    let mut capture = Capture::new();
    for (name, log) in [
        ("one", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"long\",\"params\":[\"abc\"]}\n"),
        // The id of the other log's request.
        ("two", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"long\"}\n"),
    ] {
        capture.read(name, log.as_bytes(), &ReaderOptions::default()).unwrap();
    }
    assert_eq!(capture.left_out().get(&OmissionReason::NoRequest), Some(&1));
    let chosen: Vec<_> = capture.chosen().collect();
    let [only] = chosen.as_slice() else { panic!("{chosen:?}") };
    assert_eq!((only.count, only.exchange.log.as_str()), (2, "two"));
}

#[test]
fn names_of_any_method_are_names_of_files() {
    let methods = ["a/b", "a\\b", "A/B", "$/cancelRequest", "../../etc/passwd", "", "ä", "漢", "con", "x\ny`z", "a  b"];
    let long = "m".repeat(500);
    let mut log = String::new();
    for method in methods.iter().copied().chain([long.as_str()]) {
        log.push_str(&format!("{}\n", json!({"jsonrpc": "2.0", "method": method})));
    }
    let files = block(&captured(&log)).unwrap();
    let names: Vec<_> =
        examples(&files).examples.into_iter().map(|example| example.base_output_filename.unwrap()).collect();
    assert_eq!(names.len(), 12);
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 12, "{names:?}");
    for name in names {
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'), "{name}");
        assert!((1..=90).contains(&name.len()) && !name.starts_with('-'), "{name}");
    }
    assert_eq!(titles(&files)[9], "x\\ny'z: notification");
}

/// Every example and every test of a block does what it should.
fn assert_valid(schema: &Schema, files: &Files, log: &str) {
    for example in examples(files).examples {
        for snippet in example.snippets {
            let SnippetSource::Code(code) = snippet.source else { panic!("a text") };
            let message = serde_json::from_str(&code).unwrap_or_else(|error| panic!("{log}: {error}\n{code}"));
            schema
                .check(&message, &snippet.schema_ref.unwrap())
                .unwrap_or_else(|error| panic!("{log}: {error}\n{code}"));
        }
    }
    for (path, text) in files.iter().filter(|(path, _)| path.starts_with("tests/")) {
        assert!(path.ends_with("-fail.json"));
        assert!(!schema.accepts(&serde_json::from_str(text).unwrap()), "{log}: {path}\n{text}");
    }
}

/// Logs of every format: the project's own, and the corpora where there are any.
pub fn logs() -> Vec<std::path::PathBuf> {
    let mut logs = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats"), "");
    logs.retain(|log| {
        let extension = log.extension().unwrap_or_default().to_string_lossy().into_owned();
        !["entries", "ttl"].contains(&extension.as_str()) && !log.to_string_lossy().contains("nvim-lua")
    });
    assert!(logs.len() > 30, "{}", logs.len());
    if let Some(corpora) = corpora() {
        for folder in [
            "eth-execution-apis",
            "jsonrpc-spec-examples",
            "lsp-haskell-sessions",
            "lsp-inspector",
            "mcp-rust-sdk",
            "mined-jsonrpsee",
            "mined-mcp-sdks",
            "mcp-spec",
            "JSONTestSuite",
        ] {
            let below = files(&corpora.join(folder), "");
            logs.extend(below.into_iter().filter(|log| !log.ends_with("LICENSE") && !log.ends_with("index.tsv")));
        }
    }
    logs
}

#[test]
fn every_log_becomes_a_block() {
    let schema = Schema::new();
    let mut count = 0;
    for log in logs() {
        let name = log.display().to_string();
        let bytes = fs::read(&log).unwrap();
        let read = |bytes: &[u8]| {
            let mut capture = Capture::new();
            capture.read("log", bytes, &ReaderOptions::default()).map(|_| capture)
        };
        let Ok(capture) = read(&bytes) else {
            // Only what no other command reads either.
            assert!(name.contains("JSONTestSuite") || name.ends_with(".har") || name.contains("mcp-spec"), "{name}");
            continue;
        };
        let files = block(&capture).unwrap();
        assert_eq!(block(&read(&bytes).unwrap()).unwrap(), files, "{name}");
        assert_valid(&schema, &files, &name);

        let redacted = Redactor::new(b"key", RedactOptions::default()).log(&bytes);
        assert_valid(&schema, &block(&read(&redacted).unwrap()).unwrap(), &name);
        count += 1;
    }
    assert!(count > 30, "{count}");
}
