//! Logs that nobody thought of: made of what means something to a format, or damaged.

use super::{LINES, Pieces, RECORDED, as_format, decode, detected, logs_in, record};
use proptest::prelude::*;
use rpcgraph::record::{Format, Reader, ReaderOptions};

/// Parts of each format, for random logs.
const PARTS: [(Format, &[&str]); 5] = [
    (
        Format::ContentLength,
        &[
            "Content-Length: 2\r\n\r\n{}",
            "Content-Length: 9\n\n",
            "content-length:0",
            "Content-Length: -1\r\n",
            "Content-Type: x\r\n",
            "\r\n",
            "\n",
            "{\"a\":1}",
            "{\"a\":",
            "[]",
            "12",
            "text",
            " ",
            "Content-Length: 100\r\n\r\n",
            "C",
            "Content-Length",
            "\"Content-Length: 5\"",
            "}",
        ],
    ),
    (
        Format::Sse,
        &[
            "data: {\"a\":1}",
            "data:",
            "data: [",
            "data: ]",
            "event: message",
            "event: x",
            "id: 1",
            ": comment",
            "text",
            "\n",
            "\n",
            "\r\n",
            "\r",
            "\n\n",
            " ",
            "data: {\"jsonrpc\":1}",
            "\r\r",
            ":",
        ],
    ),
    (
        Format::JsonArray,
        &[
            "[",
            "]",
            "[\n",
            "\n]",
            "{",
            "}",
            "{\"a\":1}",
            ",",
            ",\n",
            " ",
            "  ",
            "\n",
            "\"x\"",
            "\"",
            "12",
            "oops",
            "\\",
            "[info] x\n",
            "[1] x\n",
            "\r\n",
        ],
    ),
    (
        Format::VscodeLspText,
        &[
            "[Trace - 1:00:00 PM] ",
            "2023-11-17 14:12:11.715 [info] ",
            "Sending request 'm - (1)'.",
            "Received response ",
            "'m - (a)' in 5ms.",
            " Request failed: x",
            " (1).",
            "Sending notification 'n'",
            "Params: ",
            "Result: ",
            "Error data: ",
            "Error: ",
            "No result returned.",
            "{}",
            "[\n1]",
            "{\n",
            "12",
            "null",
            "\n",
            "\n",
            "\r\n",
            "\n\n",
            " ",
            "oops",
            "[Info  - 1:00:00 PM] ",
            "1 without active response promise.",
        ],
    ),
    (
        Format::VscodeLspJson,
        &[
            "[LSP   - 1:00:00 PM] ",
            "{\"isLSPMessage\":true,",
            "\"type\":\"send-request\",",
            "\"message\":{\"a\":1}",
            ",\"timestamp\":1}",
            "}",
            "{\"a\":1}",
            "\n",
            "\r\n",
            "[info] ",
            "x",
            "2023-11-17 14:12:11.715 ",
            " ",
        ],
    ),
];

/// Text that any log may contain.
const FILLERS: [&str; 11] = ["x", " ", "\n", "1", ":", ",", "x\n", ": x\n", "Cc", "[", "\r"];

/// A format, and parts for a log in it.
fn parts(count: usize) -> impl Strategy<Value = (Format, Vec<&'static str>)> {
    prop::sample::select(&PARTS[..]).prop_flat_map(move |(format, parts)| {
        (Just(format), prop::collection::vec(prop::sample::select(parts), 0..count))
    })
}

fn check(format: Format, input: &[u8], limit: usize, size: usize) {
    let expected = as_format(input, format, limit);
    let cuts: Vec<_> = (0..input.len()).step_by(size).collect();
    // A decoder takes no wrappers off, as a reader does.
    let options = ReaderOptions::default().with_format(format).with_max_record_size(limit);
    if Reader::new(input, &options).is_ok_and(|reader| reader.wrappers().is_empty()) {
        decode(format, limit, input, &cuts, &expected);
    }
    assert_eq!(as_format(Pieces(input, size), format, limit), expected);
    for entry in &expected {
        assert!(record(entry).is_none_or(|record| record.bytes.len() <= limit));
        assert!(entry.location().byte as usize <= input.len());
    }
    Format::detect(input);
}

/// Text with a meaning in some format.
const LIVELY: [&str; 24] = [
    "\n",
    "\r\n",
    " ",
    "{}",
    "{\"a\":\"",
    "\"}",
    "[",
    "]",
    ",",
    "{",
    "}",
    "\\\"",
    "// Send:\n",
    "// Receive:\n",
    "[editor -> server] ",
    "[info] ",
    "2025-03-10T17:03:18.764Z ",
    "[demo] ",
    "Message from client: ",
    "Initializing server...",
    " { metadata: undefined }",
    "helix_lsp::transport [INFO] a <- ",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[]}",
    "\"message\":{},\"response\":[],\"timestamp\":1,\"duration\":1",
];

/// Text that damages a log at any position.
const DAMAGE: &[&[u8]] =
    &[b"", b"{", b"}", b"[", b"]", b"\"", b"\\", b",", b":", b"\n", b"\r\n", b"\xff", b"data:", b"1e9"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn logs_that_nobody_thought_of(
        (format, parts) in parts(25),
        limit in prop_oneof![0_usize..60, Just(1 << 20)],
        size in 1_usize..20,
    ) {
        check(format, parts.concat().as_bytes(), limit, size);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The same around the places where a decoder stops to wait. 256 cases take 7 s of processor time without
    /// optimization, 1,000 half a minute: PROPTEST_CASES asks for more.
    #[test]
    fn long_logs_that_nobody_thought_of(
        (format, parts) in parts(8),
        fillers in prop::collection::vec((prop::sample::select(FILLERS.to_vec()), 4000_usize..9000), 0..4),
        limit in prop_oneof![0_usize..60, 0_usize..9000],
        size in 500_usize..9000,
    ) {
        let mut input = String::new();
        let mut fillers = fillers.into_iter();
        for part in parts {
            input += part;
            if let Some((filler, length)) = fillers.next() {
                input += &filler.repeat(length / filler.len());
            }
        }
        check(format, input.as_bytes(), limit, size);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any text: the reader ends, and gives the same entries from pieces of any size.
    #[test]
    fn any_text(
        parts in proptest::collection::vec(prop_oneof![
            8 => prop::sample::select(&LIVELY[..]).prop_map(|text| text.as_bytes().to_vec()),
            1 => proptest::collection::vec(any::<u8>(), 0..4),
        ], 0..30),
        size in 1_usize..50,
        limit in prop_oneof![0_usize..40, Just(1 << 20)],
    ) {
        let input = parts.concat();
        for format in LINES {
            let entries = as_format(&input[..], format, limit);
            prop_assert_eq!(as_format(Pieces(&input, size), format, limit), entries);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// Damaged fixtures: nothing panics, and pieces of any size give the same.
    #[test]
    fn damage(
        fixture in any::<prop::sample::Index>(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..9, prop::sample::select(DAMAGE)), 1..6),
        size in 1_usize..200,
        limit in prop_oneof![0_usize..200, Just(1 << 20)],
    ) {
        let mut fixtures = logs_in(&RECORDED);
        let (format, path, mut input) = fixtures.swap_remove(fixture.index(fixtures.len()));
        for (at, removed, added) in damage {
            let at = at.index(input.len());
            let end = input.len().min(at + removed);
            input.splice(at..end, added.iter().copied());
        }
        let whole = as_format(&input[..], format, limit);
        prop_assert_eq!(as_format(Pieces(&input, size), format, limit), whole, "{}", path);
        detected(&input[..]);
    }
}
