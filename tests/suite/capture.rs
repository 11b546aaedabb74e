//! Building blocks out of captured traffic are valid, of every log.

use std::fs;
use std::path::Path;

use rpcgraph::capture::{Capture, CaptureOptions, block};
use rpcgraph::record::ReaderOptions;
use rpcgraph::register::Files;

use rpcgraph::redact::{RedactOptions, Redactor};
use rpcgraph::register::examples::Examples;

use crate::schema::Schema;
use crate::support::{corpora, files};

fn examples(files: &Files) -> Examples {
    Examples::from_yaml(&files["examples.yaml"]).unwrap()
}

/// Every example of a block is valid.
fn assert_valid(schema: &Schema, files: &Files, log: &str) {
    for example in examples(files).examples {
        for snippet in example.snippets {
            let code = snippet.code.expect("a text");
            let message = serde_json::from_str(&code).unwrap_or_else(|error| panic!("{log}: {error}\n{code}"));
            schema
                .check(&message, &snippet.schema_ref.unwrap())
                .unwrap_or_else(|error| panic!("{log}: {error}\n{code}"));
        }
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
            let mut capture = Capture::new(CaptureOptions::default());
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
