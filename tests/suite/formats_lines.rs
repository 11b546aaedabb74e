//! Logs of editors and apps: fixtures, each with the entries that are in it, through the reader and the whole conversion.

use crate::support::{convert, corpora, files, shown};
use oxrdf::{Quad, Term};
use proptest::prelude::*;
use rpcgraph::convert::{ConvertError, Converter, Input, Options};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::record::{Entry, Format, Location, ReadError, Reader, ReaderOptions};
use rpcgraph::sink::Sink;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Each log, and the format that it is in.
const LOGS: [(&str, &str); 11] = [
    ("vscode-mcp", "typical.log"),
    ("vscode-mcp", "edge.log"),
    ("claude-desktop", "typical.log"),
    ("claude-desktop", "edge.log"),
    ("claude-desktop", "mixed.log"),
    ("helix", "typical.log"),
    ("helix", "edge.log"),
    ("zed", "typical.log"),
    ("zed", "edge.log"),
    ("mcp-inspector", "typical.json"),
    ("mcp-inspector", "edge.json"),
];

/// The formats whose logs are here.
const NAMES: [&str; 6] = ["vscode-mcp", "claude-desktop", "helix", "zed", "mcp-inspector", "nvim-lua"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats")
}

fn log(format: &str, name: &str) -> Vec<u8> {
    std::fs::read(folder().join(format).join(name)).unwrap()
}

fn logs() -> Vec<(Format, String, Vec<u8>)> {
    LOGS.iter()
        .map(|(format, name)| (Format::from_name(format).unwrap(), format!("{format}/{name}"), log(format, name)))
        .collect()
}

/// Gives its bytes in pieces of a fixed size.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.1.min(buffer.len());
        self.0.read(&mut buffer[..size])
    }
}

fn read(input: impl Read, options: ReaderOptions) -> (Format, Vec<Entry<'static>>) {
    let mut reader = Reader::new(input, &options).unwrap();
    let mut entries = Vec::new();
    while let Some(entry) = reader.next_entry().unwrap() {
        entries.push(entry.into_owned());
    }
    (reader.format(), entries)
}

fn as_format(input: impl Read, format: Format, limit: usize) -> Vec<Entry<'static>> {
    read(input, ReaderOptions::default().with_format(format).with_max_record_size(limit)).1
}

#[test]
fn entries_are_these() {
    for (format, name, log) in logs() {
        let (found, entries) = read(&log[..], ReaderOptions::default());
        assert_eq!(found, format, "{name}");
        let expected = std::fs::read_to_string(folder().join(format!("{name}.entries"))).unwrap();
        let entries: Vec<_> = entries.iter().map(shown).collect();
        assert_eq!(entries.join("\n"), expected.trim_end(), "{name}");
    }
}

/// What the entries are where a byte-order mark is in front, and every line ends with CRLF.
fn with_crlf(entries: Vec<Entry<'static>>) -> Vec<Entry<'static>> {
    let moved = |at: Location| Location { byte: at.byte + 3 + (at.line - 1), ..at };
    let ended = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\n', "\r\n").into_bytes();
    let entries = entries.into_iter().map(|entry| match entry {
        Entry::Record(mut record) => {
            record.bytes = ended(&record.bytes).into();
            (record.length, record.location) = (record.bytes.len() as u64, moved(record.location));
            Entry::Record(record)
        }
        Entry::LogLine(mut line) => {
            line.location = moved(line.location);
            Entry::LogLine(line)
        }
    });
    entries.collect()
}

#[test]
fn line_ends_and_compression_change_nothing() {
    for (format, name, log) in logs() {
        let entries = as_format(&log[..], format, 1 << 20);
        let crlf = format!("\u{feff}{}", String::from_utf8(log.clone()).unwrap().replace('\n', "\r\n"));
        assert_eq!(read(crlf.as_bytes(), ReaderOptions::default()), (format, with_crlf(entries.clone())), "{name}");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(&log).unwrap();
        let gzip = encoder.finish().unwrap();
        assert_eq!(read(&gzip[..], ReaderOptions::default()), (format, entries), "{name}");
    }
}

#[test]
fn the_same_entries_from_pieces_of_any_size() {
    for (format, name, log) in logs() {
        for limit in [1 << 20, 60, 5] {
            let entries = as_format(&log[..], format, limit);
            for size in [1, 2, 3, 7, 64, 1000] {
                assert_eq!(as_format(Pieces(&log, size), format, limit), entries, "{name}, {limit}, pieces of {size}");
            }
            for entry in &entries {
                if let Entry::Record(record) = entry {
                    assert!(record.bytes.len() <= limit, "{name}");
                    assert_eq!(record.flags.oversized, record.length > limit as u64, "{name}");
                }
            }
        }
        assert_eq!(read(Pieces(&log, 1), ReaderOptions::default()).0, format, "{name}");
    }
}

#[test]
fn a_log_that_is_cut_off_loses_what_is_cut_off() {
    for (format, name, log) in logs() {
        let entries = as_format(&log[..], format, 1 << 20);
        for cut in 0..log.len() {
            let found = as_format(&log[..cut], format, 1 << 20);
            let whole = found.len().saturating_sub(1);
            assert_eq!(found[..whole], entries[..whole], "{name} cut at {cut}");
        }
    }
}

#[test]
fn locations_lead_back_to_the_bytes() {
    for (format, name, log) in logs() {
        for entry in as_format(&log[..], format, 1 << 20) {
            let (at, bytes) = match &entry {
                Entry::Record(record) => (record.location, &record.bytes),
                Entry::LogLine(line) => (line.location, &line.bytes),
            };
            let (before, from) = log.split_at(at.byte as usize);
            assert!(from.starts_with(bytes), "{name}: {}", shown(&entry));
            assert_eq!(at.line, 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64, "{name}");
        }
    }
}

#[test]
fn memory_is_bounded() {
    let limit = 1000;
    let heads = [
        ("vscode-mcp", "[editor -> server] {", "[editor -> server] [2]"),
        ("claude-desktop", "2025-03-10T17:03:18.764Z [a] [info] Message from client: {", "text"),
        ("helix", "2026-01-06T04:04:15.018 helix_lsp::transport [INFO] a -> {", "text"),
        ("zed", "// Send:\n{\"", "// Receive:\n[2]"),
        ("zed", "text", "[2]"),
        ("mcp-inspector", "[\n{\"", "{\"message\":[2]}]"),
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
fn neovim_is_refused_with_advice() {
    for name in ["typical.log", "old.log"] {
        let log = log("nvim-lua", name);
        for format in [None, Format::from_name("nvim-lua")] {
            let options = ReaderOptions { format, ..ReaderOptions::default() };
            let Err(error) = Reader::new(&log[..], &options) else { panic!("{name}") };
            assert!(matches!(error, ReadError::Refused { format: Format::NvimLua, .. }), "{error:?}");
            let message = error.to_string();
            assert!(
                message.starts_with("nvim-lua is not read: Neovim's LSP log holds messages as Lua tables"),
                "{message}"
            );
            assert!(message.contains("lsp-devtools agent --") && !message.contains('\n'), "{message}");
        }
        assert!(!as_format(&log[..], Format::JsonLines, 1 << 20).is_empty());
    }
    let refused = Format::ALL.iter().filter(|format| format.refusal().is_some());
    let refused: Vec<_> = refused.filter(|format| **format != Format::LspDevtoolsDb).collect();
    assert_eq!(refused, [&Format::NvimLua]);

    let mut converter = Converter::new(Mapper::new(Mapping::Session, &[]).unwrap(), Options::default());
    let log = log("nvim-lua", "typical.log");
    let input = Input {
        name: "lsp.log".to_owned(),
        source: "lsp.log".to_owned(),
        iri: "https://example.org/lsp.log".to_owned(),
        iri_stated: true,
        read: &log[..],
    };
    let mut quads = Vec::new();
    let result = converter.convert(input, &mut Sink::quads(&mut quads), &mut |_| {});
    assert!(matches!(result, Err(ConvertError::Read { error: ReadError::Refused { .. }, .. })));
}

/// The pairs of (what answers, what is answered), as fragments, and the sessions.
fn pairs(quads: &[Quad]) -> (Vec<(String, String)>, Vec<String>) {
    let fragment =
        |text: &str| text.rsplit_once('#').map_or("", |(_, fragment)| fragment).trim_end_matches('>').to_owned();
    let (mut pairs, mut sessions) = (Vec::new(), Vec::new());
    for quad in quads {
        if quad.predicate.as_str().ends_with("#respondsTo") {
            pairs.push((fragment(&quad.subject.to_string()), fragment(&quad.object.to_string())));
        }
        if matches!(&quad.object, Term::NamedNode(class) if class.as_str().ends_with("rpcgraph#Session")) {
            sessions.push(fragment(&quad.subject.to_string()));
        }
    }
    pairs.sort();
    sessions.sort();
    (pairs, sessions)
}

#[test]
fn sessions_pair_apart() {
    type Case<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);
    let table: [Case<'_>; 5] = [
        (
            "claude-desktop",
            "mixed.log",
            &[("m3", "m1"), ("m4", "m2")],
            &["session-Control%20your%20Mac", "session-memory", "session-memory-2", "session-memory-2-2"],
        ),
        // The second connection never sent the request that "id":2 would answer.
        (
            "claude-desktop",
            "edge.log",
            &[("m2", "m1"), ("m4", "m3")],
            &["session-Time%20%28Reference%29", "session-Time%20%28Reference%29-2"],
        ),
        ("helix", "typical.log", &[("m3", "m1"), ("m6", "m5"), ("m7", "m2")], &["session-subtl", "session-words"]),
        ("vscode-mcp", "edge.log", &[("m2", "m1"), ("m5", "m4")], &["", "session-2"]),
        ("vscode-mcp", "typical.log", &[("m2", "m1"), ("m5", "m4"), ("m7", "m6")], &[""]),
    ];
    for (format, name, expected, sessions) in table {
        let converted = convert(&log(format, name));
        let (found, named) = pairs(&converted);
        let found: Vec<_> = found.iter().map(|(answer, request)| (answer.as_str(), request.as_str())).collect();
        assert_eq!(found, expected, "{format}/{name}");
        assert_eq!(named, sessions, "{format}/{name}");
    }
}

#[test]
fn durations_and_cut_messages_reach_the_graph() {
    let converted = convert(&log("mcp-inspector", "typical.json"));
    let seconds = |quads: &[Quad]| {
        let stated = quads.iter().filter(|quad| quad.predicate.as_str().ends_with("#latencySeconds"));
        let mut stated: Vec<_> = stated.map(|quad| quad.object.to_string()).collect();
        stated.sort();
        stated
    };
    let decimal = |value: &str| format!("\"{value}\"^^<http://www.w3.org/2001/XMLSchema#decimal>");
    assert_eq!(seconds(&converted), [decimal("0.0025"), decimal("0.118")]);

    let converted = convert(&log("claude-desktop", "edge.log"));
    let cut = converted.iter().filter(|quad| quad.object.to_string().ends_with("#Truncated>"));
    let mut cut: Vec<_> = cut.map(|quad| quad.subject.to_string()).collect();
    cut.sort();
    let cut: Vec<_> = cut.iter().filter_map(|iri| iri.rsplit_once('#')).map(|(_, fragment)| fragment).collect();
    assert_eq!(cut, ["m10>", "m4>", "m6>"]);
}

/// What means something to some format.
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
        for name in NAMES {
            let format = Format::from_name(name).unwrap();
            if format.refusal().is_none() {
                let entries = as_format(&input[..], format, limit);
                prop_assert_eq!(as_format(Pieces(&input, size), format, limit), entries);
            }
        }
    }
}

#[test]
fn no_other_log_is_taken_for_one_of_these() {
    let Some(corpora) = corpora() else { return };
    let paths = files(&corpora, "");
    assert!(!paths.is_empty());
    for path in paths {
        match Reader::new(std::fs::File::open(&path).unwrap(), &ReaderOptions::default()) {
            Ok(reader) => {
                assert!(!NAMES.contains(&reader.format().name()), "{}: {:?}", path.display(), reader.format())
            }
            Err(error) => assert!(!matches!(error, ReadError::Refused { .. }), "{}", path.display()),
        }
    }
}
