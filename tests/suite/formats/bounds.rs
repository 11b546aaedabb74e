//! Memory is bounded, whatever comes.

use super::{Pieces, as_format, record, text};
use rpcgraph::record::{Entry, Format, Step};
use std::io::{self, Read};

/// No decoder asks for more bytes than it has promised to need, and each goes on behind what is too long.
#[test]
fn decoders_ask_for_no_more_than_they_promise() {
    let trace = "[Trace - 1:00:00] Received notification 'a'.\n";
    let heads: [(Format, String, &str); 13] = [
        (Format::ContentLength, "Content-Length: 2000000\n\n{".into(), "Content-Length: 2\n\n{}"),
        (Format::ContentLength, "Content-Length: x\n\n{".into(), "Content-Length: 2\n\n{}"),
        (Format::ContentLength, "Content-Length: 2".into(), "\nContent-Length: 2\n\n{}"),
        (Format::ContentLength, String::new(), "\nContent-Length: 2\n\n{}"),
        (Format::Sse, "data: {".into(), "\n\ndata: {}"),
        (Format::Sse, "event: x\n: y".into(), "\n\ndata: {}"),
        (Format::JsonArray, "[\n{\"".into(), "\"},\n{}"),
        (Format::JsonArray, "[\n".into(), ",\n{}"),
        (Format::JsonArray, "[".into(), "\n[ {}"),
        (Format::VscodeLspText, format!("{trace}Params: {{\""), trace),
        (Format::VscodeLspText, format!("{trace}Params: oops"), trace),
        (Format::VscodeLspText, "[Trace - 1:00:00] Received response 'a - (1)' in 1ms. Request failed: ".into(), trace),
        (
            Format::VscodeLspJson,
            "[LSP   - 1:00:00] {\"isLSPMessage\":true,\"message\":\"".into(),
            "\n{\"isLSPMessage\":1}",
        ),
    ];
    for (format, head, tail) in heads {
        for filler in ["x", " ", "1", "\\", "x\n", "[Cc:\n"] {
            let tail = if format == Format::VscodeLspText { format!("\n\n{tail}") } else { tail.to_owned() };
            // More than a decoder may ask for.
            let input = [head.as_str(), &filler.repeat(70_000 / filler.len()), &tail].concat().into_bytes();
            let (mut decoder, mut at, mut shown, mut last) = (format.decoder(1000), 0, 1, String::new());
            loop {
                let end = input.len().min(at + shown);
                match decoder.step(&input[at..end], end == input.len()) {
                    Step::NeedMore if end == input.len() => break,
                    Step::NeedMore => {
                        assert!(end - at <= 1000 + 64 * 1024, "{format:?} {head} {filler:?}");
                        shown = 2 * (end - at).max(1);
                    }
                    Step::Skip { consumed } | Step::Begin { consumed, .. } => (at, shown) = (at + consumed, 1),
                    Step::Entry { consumed, entry, .. } => {
                        assert!(record(&entry).is_none_or(|record| record.bytes.len() <= 1000));
                        last = text(&entry);
                        at += consumed;
                        shown = if consumed > 0 { 1 } else { shown };
                    }
                }
            }
            assert_eq!(at, input.len(), "{format:?} {head} {filler:?}");
            assert!(last.len() < 50, "{format:?} {head} {filler:?}: {last}");
        }
    }
}

#[test]
fn memory_is_bounded() {
    let limit = 1000;
    let heads = [
        ("vscode-mcp", "[editor -> server] {", "[editor -> server] [2]"),
        ("claude-desktop", "2025-03-10T17:03:18.764Z [a] [info] Message from client: {", "text"),
        ("helix", "2026-01-06T04:04:15.018 helix_lsp::transport [INFO] a -> {\"id\":", "text"),
        ("zed", "{\"", "[2]"),
        ("zed", "text", "[2]"),
        ("mcp-inspector", "[\n{\"", "\"},{\"message\":[2]}]"),
        ("mcp-inspector", "text", "[{\"message\":[2]}]"),
    ];
    for (name, head, next) in heads {
        let input = head.as_bytes().chain(io::repeat(b'x').take(3_000_000)).chain(&b"\n"[..]).chain(next.as_bytes());
        let entries = as_format(input, Format::from_name(name).unwrap(), limit);
        assert_eq!(entries.len(), 2, "{name}");
        let (length, oversized) = match &entries[0] {
            Entry::Record(record) => (record.length, record.flags.oversized),
            Entry::LogLine(line) => (line.length, line.oversized),
        };
        assert!(oversized && (3_000_000..3_000_010).contains(&length), "{name}: {length}");
    }
}

#[test]
fn long_records_are_passed_over() {
    let long = "x".repeat(300_000);
    let table = [
        (
            "mcpsnoop",
            format!("{{\"session_id\":\"s\",\"direction\":\"c2s\",\"raw\":{{\"id\":\"{long}\"}}}}\n"),
            300_010,
        ),
        ("mcpspy", format!("{{\"transport_type\":\"http\",\"raw\":\"{{\\\"id\\\":\\\"{long}\\\"}}\"}}\n"), 300_015),
        ("lsp-test", format!("{{\"tag\":\"FromClient\",\"contents\":[\"t\",{{\"id\":\"{long}\"}}]}}\n"), 300_011),
        ("har", format!("{{\"log\":{{\"entries\":[{{\"request\":\"{long}\"}}]}}}}\n"), 300_014),
    ];
    for (name, input, length) in table {
        let format = Format::from_name(name).expect("a format");
        let next = as_format(format.sample().as_bytes(), format, 1000);
        let found = as_format(Pieces((input + format.sample()).as_bytes(), 5000), format, 1000);
        let [Entry::Record(record), rest @ ..] = &found[..] else { panic!("{name}") };
        assert!(record.flags.oversized && record.bytes.is_empty(), "{name}");
        assert_eq!(record.length, length, "{name}");
        assert_eq!(rest.len(), next.len(), "{name}");
    }
}
