//! Every log of the corpora is recognised with no option.

use std::fs;

use rpcgraph::record::{Format, Reader, ReaderOptions};

use crate::support::{corpora, files};

#[test]
fn every_log_of_the_corpora() {
    let Some(corpora) = corpora() else { return };
    let mut recognised = 0;
    for (folder, ending, format) in [
        ("", "messages.ndjson", "json-lines"),
        ("eth-execution-apis", ".io", "arrows"),
        ("jsonrpc-spec-examples", "spec-section7.txt", "arrows"),
        ("lsp-haskell-sessions/raw", "session.log", "lsp-test"),
        ("lsp-haskell-sessions/raw", "client.log", "content-length"),
        ("lsp-haskell-sessions/raw", "server.log", "content-length"),
        ("lsp-inspector/fixture", ".log", "vscode-lsp-text"),
        ("lsp-inspector/fixture", ".json", "json-array"),
        ("mcp-rust-sdk/raw", ".json", "json-values"),
    ] {
        let logs = files(&corpora.join(folder), ending);
        assert!(!logs.is_empty(), "{folder}/**{ending}");
        for log in logs {
            let bytes = fs::read(&log).unwrap();
            let reader = Reader::new(bytes.as_slice(), &ReaderOptions::default()).unwrap();
            assert_eq!(reader.format().name(), format, "{}", log.display());
            recognised += 1;
        }
    }
    assert!(recognised > 250, "{recognised}");
}

/// However a log comes in, it is the same log.
#[test]
fn whatever_the_pieces() {
    struct Pieces<'a>(&'a [u8], usize);
    impl std::io::Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            let (now, later) = self.0.split_at(length);
            buffer[..length].copy_from_slice(now);
            self.0 = later;
            Ok(length)
        }
    }
    for format in Format::ALL.iter().filter(|format| format.refusal().is_none()) {
        for size in [1, 3, 64, 1 << 20] {
            let reader = Reader::new(Pieces(format.sample().as_bytes(), size), &ReaderOptions::default()).unwrap();
            assert_eq!(reader.format(), *format, "in pieces of {size}");
        }
    }
}
