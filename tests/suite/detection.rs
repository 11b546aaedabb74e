//! Every log of the corpora is recognised with no option.

use std::fs;

use oxrdfio::{RdfFormat, RdfParser};
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::protocol::Protocol;
use rpcgraph::record::{Entry, Format, Reader, ReaderOptions};
use rpcgraph::sink::Sink;
use rpcgraph::vocab::rpcg;

use crate::support::{BASE, assert_isomorphic, convert_with, files, needed_corpora};

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn every_log_of_the_corpora() {
    let corpora = needed_corpora();
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
fn logs_are_equal_at_any_split() {
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

/// Each format's logs become the graphs that stand beside them: messages alone, whatever their protocol.
#[test]
fn graphs_of_every_format() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let mut formats = std::collections::BTreeSet::new();
    for expected in files(&folder, ".ttl") {
        let log = expected.with_extension("");
        let mut quads = Vec::new();
        let mapper = Mapper::new(Mapping::Session, &[]).unwrap();
        let options = Options { log_lines: true, protocol: Protocol::None, ..Options::default() };
        let bytes = fs::read(&log).unwrap();
        let source = log.file_name().unwrap().to_string_lossy().into_owned();
        let input = Input { name: source.clone(), source, iri: BASE.into(), iri_stated: true, read: bytes.as_slice() };
        let mut sink = Sink::quads(&mut quads);
        let summary = Converter::new(mapper, options).convert(input, &mut sink, &mut |_| {}).unwrap();
        drop(sink);
        formats.extend(summary.formats.iter().map(|format| format.name()));
        // Turtle has no graphs; `rpcg:inSession` also states the session of a message.
        quads.iter_mut().for_each(|quad| quad.graph_name = oxrdf::GraphName::DefaultGraph);
        let turtle = fs::read(&expected).unwrap();
        let turtle: Vec<_> = RdfParser::from_format(RdfFormat::Turtle).for_slice(&turtle).map(Result::unwrap).collect();
        assert_isomorphic(&quads, &turtle, &expected.display().to_string());
    }
    let all = Format::ALL.iter().filter(|format| format.refusal().is_none());
    assert_eq!(formats, all.map(|format| format.name()).collect());
}

/// Texts between messages may begin on one line: a HAR file often has only one. Each is a node all the same.
#[test]
fn every_text_between_messages_is_a_node() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let mut shared = 0;
    for log in files(&folder, "").into_iter().filter(|log| !log.to_string_lossy().contains("nvim-lua")) {
        let bytes = fs::read(&log).unwrap();
        let Ok(mut reader) = Reader::new(bytes.as_slice(), &ReaderOptions::default()) else { continue };
        let mut lines = Vec::new();
        while let Ok(Some(entry)) = reader.next_entry() {
            if let Entry::LogLine(line) = entry {
                lines.push(line.location.line);
            }
        }
        let texts = lines.len();
        lines.dedup();
        shared += texts - lines.len();
        let quads = convert_with(&bytes, &[], Options { log_lines: true, ..Options::default() });
        let is_text = |quad: &&oxrdf::Quad| quad.object == rpcg::LOG_LINE.into_owned().into();
        let nodes: std::collections::BTreeSet<_> =
            quads.iter().filter(is_text).map(|quad| quad.subject.to_string()).collect();
        assert_eq!(nodes.len(), texts, "{}", log.display());
    }
    assert!(shared > 0, "no two texts begin on one line");
}
