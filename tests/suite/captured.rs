//! `capture`, and that what it makes is a building block like any other.

use std::fs;
use std::path::Path;

use rpcgraph::capture::{Capture, CaptureOptions, block, write};
use rpcgraph::record::ReaderOptions;
use rpcgraph::redact::{RedactOptions, Redactor};
use rpcgraph::register::MAX_FILE;

use rpcgraph::register::{Register, RegisterOptions};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::capture::logs;
use crate::cli::Place;

const LOG: &str = r#"{"jsonrpc":"2.0","id":"a","method":"greet","params":{"name":"Ida"}}
{"jsonrpc":"2.0","id":"a","result":"hello, Ida"}
{"jsonrpc":"2.0","id":"b","method":"greet","params":["Eva Berg"]}
{"jsonrpc":"2.0","id":"b","error":{"code":-32602,"message":"no greeting for Eva Berg"}}
{"id":"c","method":"greet"}
"#;

/// The register of a block on disk, where nothing may be fetched.
fn register(folder: &Path) -> Register {
    let options = RegisterOptions { offline: true, ..RegisterOptions::default() };
    Register::build(folder, &options).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
}

#[track_caller]
fn assert_passes(register: &Register, what: &str) {
    let failed: Vec<_> = register.blocks[0].report.failed().map(|item| (item.title(), item.reasons())).collect();
    assert!(failed.is_empty(), "{what}: {failed:#?}");
}

#[test]
fn the_way_from_a_log_to_a_register() {
    let place = Place::with("session.log", LOG);
    place
        .run(&["capture", "session.log", "-o", "traffic"])
        .said(0, "2 examples in traffic, of 5 records; in no example: 1 × MissingVersion\n");
    let made = place.read("traffic/examples.yaml");
    let ran = place.run(&["register", "traffic", "-o", "build"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("Captured JSON-RPC traffic: 4 of 4 passed; "), "{}", ran.stderr);
    assert!(String::from_utf8(place.read("build/tests/traffic/greet-result.ttl")).unwrap().contains("jrpc:hasMethod"));

    // Again, in place of what is there; and from standard input.
    place.run(&["capture", "session.log", "-o", "traffic", "--quiet"]).quietly();
    assert_eq!(place.read("traffic/examples.yaml"), made);
    place.run_with(&["capture", "-", "-o", "traffic", "--quiet", "--redact"], LOG).quietly();
    let redacted = String::from_utf8(place.read("traffic/examples.yaml")).unwrap();
    assert!(!redacted.contains("Ida") && !redacted.contains("Eva"), "{redacted}");
    place.run(&["register", "traffic", "-o", "build", "--quiet"]).quietly();
}

/// Calls of a tool, several of each kind, as logs with a manifest that says who spoke.
#[test]
fn real_calls_are_collected() {
    let call = |id: u8, tool: &str, argument: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{argument}}}}}\n\
             {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}\n"
        )
    };
    let log = [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","clientInfo":{"name":"c","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":"2"}}}"#,
        "\n",
        &call(1, "sum", "[1,2,3]"),
        &call(2, "sum", "[1]"),
        &call(3, "sum", "[1,2]"),
        &call(4, "add", "[]"),
    ]
    .concat();
    let place = Place::with("session.log", &log);
    let made = ["capture", "session.log", "-o", "calls", "--collection", "--tool", "s?m", "-n", "2"];
    place.run(&made).said(0, "2 examples in calls, of 10 records\n");
    let hash: String = Sha256::digest(&log).iter().map(|byte| format!("{byte:02x}")).collect();
    let manifest: Value = serde_json::from_slice(&place.read("calls/collection.json")).unwrap();
    assert_eq!(manifest["logs"][0]["sha256"], hash);
    let calls = manifest["calls"].as_array().unwrap();
    let expected = json!({
        "file": "calls/tools-call-sum-from-the-client-result.ndjson", "method": "tools/call", "tool": "sum", "caller": "client",
        "outcome": "result", "client": "c 1", "server": "s 2", "revision": "2025-06-18", "log": "session.log",
        "records": ["m5", "m6"], "count": 3
    });
    assert_eq!(calls[0], expected);
    assert_eq!(calls[1]["records"], json!(["m7", "m8"]));
    // Each is a log, and the folder is replaced by the next collection.
    let overview = place.run(&["methods", "calls/calls/tools-call-sum-from-the-client-result.ndjson"]);
    assert!(
        overview.status == Some(0) && String::from_utf8_lossy(&overview.stdout).contains("tools/call"),
        "{}",
        overview.stderr
    );
    place.run(&["capture", "session.log", "-o", "calls", "--collection", "--method", "init*", "--quiet"]).quietly();
    let named = |name: &str| name.to_owned();
    assert_eq!(place.names(), [named("calls"), named("session.log")]);
    // A block has them, too.
    place
        .run(&["capture", "session.log", "-o", "block", "--method", "tools/*", "-n", "9"])
        .said(0, "4 examples in block, of 10 records\n");
}

/// JSON takes characters as they are that YAML does not.
#[test]
fn characters_outside_of_yaml_are_escaped() {
    let log = "{\"jsonrpc\":\"2.0\",\"id\":\"\u{FFFE}\",\"method\":\"a\u{FFFF}\u{7f}\u{85}\u{2028}\u{FEFF}\",\
               \"params\":[\"\u{FFFE}\u{9b}\"]}\n\
               {\"jsonrpc\":\"2.0\",\"id\":\"\u{FFFE}\",\"error\":{\"code\":1,\"message\":\"\u{FFFF}\"}}\n";
    let place = Place::with("\u{FFFE}.log", log);
    for options in [&["--quiet"][..], &["--quiet", "--redact"]] {
        let capture = &["capture", "\u{FFFE}.log", "-o", "traffic"];
        place.run(&[capture, options].concat()).quietly();
        place.run(&["register", "traffic", "-o", "build", "--quiet"]).quietly();
    }
}

#[test]
fn impossible_captures_are_refused() {
    let place = Place::with("session.log", LOG);
    place.put("text.log", "nothing here\n");
    place.put("answer.log", r#"{"jsonrpc":"2.0","id":1,"result":1}"#);
    place.put("mine/notes.txt", "keep me");
    for (arguments, said) in [
        (
            &["capture", "text.log", "-o", "out"][..],
            "error: text.log: found no JSON-RPC (json-lines: 1 malformed record); it begins with `nothing \
             here`: ",
        ),
        (
            &["capture", "answer.log", "-o", "out"],
            "error: found no exchange in 1 record; in no example: 1 × an answer to no request of the log; if \
             the logs hold any, name their format with --from\n",
        ),
        (&["capture", "none.log", "-o", "out"], "error: cannot read none.log"),
        (&["capture", "session.log"], "error: the following required arguments were not provided"),
        (&["register", "-o", "out"], "error: the following required arguments were not provided"),
    ] {
        let before = place.names();
        place.run(arguments).began(2, said);
        assert_eq!(place.names(), before, "{arguments:?}");
    }

    // Examples that `register` could not read are not written.
    let long = "x".repeat(MAX_FILE as usize);
    let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"{long}\"}}\n");
    place.put("long.log", format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}}\n{answer}"));
    let ran = place.run(&["capture", "long.log", "-o", "out"]);
    ran.began(2, "error: examples.yaml would have ");
    place.run(&["capture", "long.log", "-o", "short", "--metadata-only", "--quiet"]).quietly();
    place.run(&["register", "short", "-o", "out", "--quiet"]).quietly();

    // Files of the author in the folder are kept.
    let onto = ["capture", "session.log", "-o"];
    let ran = place.run(&[&onto[..], &["mine"]].concat());
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("is not empty, and not a building block that rpcgraph wrote"), "{}", ran.stderr);
    assert_eq!(place.read("mine/notes.txt"), b"keep me");
    place.run(&[&onto[..], &["traffic", "--quiet"]].concat()).quietly();
    place.put("traffic/more.yaml", "[]");
    let ran = place.run(&[&onto[..], &["traffic"]].concat());
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("traffic holds more.yaml, which is not of the building block"), "{}", ran.stderr);
    assert_eq!(place.read("traffic/more.yaml"), b"[]");

    // Nor is a block for its own register.
    place.run(&[&onto[..], &["block", "--quiet"]].concat()).quietly();
    let ran = place.run(&["register", "block", "-o", "block"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("block is an input and the output"), "{}", ran.stderr);
}

#[test]
fn every_log_registers() {
    let mut examples = 0;
    for (at, log) in logs().into_iter().enumerate() {
        let name = log.display().to_string();
        let bytes = fs::read(&log).unwrap();
        // Thousands of examples would tell no more.
        if bytes.len() > 200_000 {
            continue;
        }
        // A debug build is slow: every third log is also redacted.
        let redacted = (at % 3 == 0).then(|| Redactor::new(b"key", RedactOptions::default()).log(&bytes));
        for bytes in [Some(bytes), redacted].into_iter().flatten() {
            let mut capture = Capture::new(CaptureOptions::default());
            if capture.read("log", bytes.as_slice(), &ReaderOptions::default()).is_err() {
                continue;
            }
            if capture.chosen().next().is_none() {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path().join("block");
            write(&block(&capture).unwrap(), &folder).unwrap();
            let register = register(&folder);
            assert_passes(&register, &name);
            examples += register.blocks[0].report.items.len();
        }
    }
    assert!(examples > 100, "{examples}");
}

/// The block that the project ships: everything passes, and what JSON-LD cannot hold of it is what its texts say.
#[test]
fn the_block_of_examples_registers() {
    let register = register(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/json-rpc"));
    assert_passes(&register, "examples/json-rpc");
    assert_eq!(register.blocks[0].notes, &[] as &[String]);
    let items = &register.blocks[0].report.items;
    assert!(items.len() > 60, "{}", items.len());
    let mut losing: Vec<_> = items
        .iter()
        .filter(|item| item.losses > 0 && !item.title().starts_with("test "))
        .map(|item| item.title())
        .collect();
    losing.sort();
    assert_eq!(
        losing,
        [
            "example 10, snippet 1 (Error -32700: parse error)",
            "example 11, snippet 1 (Error -32600: invalid request)",
            "example 9, snippet 1 (Id that is null)",
            "example 9, snippet 2 (Id that is null)",
        ]
    );
    let files = register.files;
    assert!(files["generateddocs/markdown/json-rpc/index.md"].contains("#MethodNotFoundResponse"));
    // It is not published where the context is.
    assert!(!files["register.json"].contains("ogcincubator.github.io/modelcontextprotocol/build/report.html"));
}
