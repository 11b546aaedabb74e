//! Formats that wrap messages in JSON or in a database, over fixtures: what each gives, and that neither pieces, nor line
//! ends, nor compression, nor a cut change that.

use proptest::prelude::*;
use rpcgraph::record::{Decoder, Entry, Format, Location, Reader, ReaderOptions, Sender, Step, Time};

use crate::support::shown;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Fixtures in folders of their format; what they give stands beside them, in `.entries`.
const FIXTURES: [&str; 9] = [
    "mcpsnoop/typical.jsonl",
    "mcpsnoop/edge.jsonl",
    "mcpspy/typical.jsonl",
    "mcpspy/edge.jsonl",
    "lsp-test/typical.log",
    "lsp-test/edge.log",
    "har/chrome.har",
    "har/mitmproxy.har",
    "har/edge.har",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats")
}

fn fixtures() -> impl Iterator<Item = (&'static str, Format, Vec<u8>)> {
    FIXTURES.into_iter().map(|path| {
        let format = path.split_once('/').and_then(|(format, _)| Format::from_name(format));
        (path, format.expect("a format"), std::fs::read(folder().join(path)).expect("a fixture"))
    })
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
    let mut reader = Reader::new(input, &options).expect("a reader");
    let mut entries = Vec::new();
    while let Some(entry) = reader.next_entry().expect("an entry") {
        entries.push(entry.into_owned());
    }
    (reader.format(), entries)
}

fn location<'a>(entry: &'a mut Entry<'_>) -> &'a mut Location {
    match entry {
        Entry::Record(record) => &mut record.location,
        Entry::LogLine(line) => &mut line.location,
    }
}

/// Compares with what stands beside the fixture.
fn assert_entries(path: &str, entries: &[Entry<'_>]) {
    let expected = std::fs::read_to_string(folder().join(format!("{path}.entries"))).expect("what is expected");
    let found: Vec<_> = entries.iter().map(shown).collect();
    let expected: Vec<_> = expected.lines().collect();
    assert_eq!(found, expected, "{path}");
}

#[test]
fn what_each_fixture_holds() {
    for (path, format, input) in fixtures() {
        let (detected, entries) = read(&input[..], ReaderOptions::default());
        assert_eq!(detected, format, "{path}");
        assert_entries(path, &entries);
    }
}

#[test]
fn records_stand_where_they_are_said_to() {
    for (path, _, input) in fixtures() {
        for mut entry in read(&input[..], ReaderOptions::default()).1 {
            let Location { line, byte, .. } = *location(&mut entry);
            let (before, from) = input.split_at(byte as usize);
            assert_eq!(line, 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64, "{path}");
            let Entry::Record(record) = entry else { continue };
            // A message that the log holds as it was; those in strings and those put together begin there all the same.
            let as_it_was = from.starts_with(&record.bytes);
            let in_string = before.ends_with(b"\"");
            assert!(as_it_was || in_string || record.flags.reconstructed, "{path}: {}", shown(&Entry::Record(record)));
        }
    }
}

#[test]
fn line_ends_and_compression_change_nothing() {
    for (path, format, input) in fixtures() {
        let (_, expected) = read(&input[..], ReaderOptions::default());
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&input).expect("memory");
        assert_eq!(
            read(&gzip.finish().expect("memory")[..], ReaderOptions::default()),
            (format, expected.clone()),
            "{path}"
        );

        let crlf = String::from_utf8(input).expect("text").replace('\n', "\r\n");
        let (detected, mut found) = read(crlf.as_bytes(), ReaderOptions::default());
        assert_eq!(detected, format, "{path} with CRLF");
        for entry in &mut found {
            let place = location(entry);
            place.byte -= place.line - 1;
        }
        // What is cut off in the middle of an archive is shown as it is.
        let shown =
            |entries: &[Entry<'_>]| entries.iter().map(|entry| shown(entry).replace('␍', "")).collect::<Vec<_>>();
        assert_eq!(shown(&found), shown(&expected), "{path} with CRLF");
    }
}

#[test]
fn pieces_of_any_size_give_the_same() {
    for (path, format, input) in fixtures() {
        for limit in [1 << 20, 60, 0] {
            let options = ReaderOptions::default().with_format(format).with_max_record_size(limit);
            let (_, expected) = read(&input[..], options);
            for size in [1, 2, 3, 7, 64, 1000] {
                assert_eq!(read(Pieces(&input, size), options).1, expected, "{path}, limit {limit}, pieces of {size}");
            }
            for entry in &expected {
                let Entry::Record(record) = entry else { continue };
                assert!(record.bytes.len() <= limit, "{path}, limit {limit}");
            }
        }
        let detected = read(Pieces(&input, 1), ReaderOptions::default());
        assert_eq!(detected, read(&input[..], ReaderOptions::default()), "{path}");
    }
}

/// Drives a decoder without a reader; the entries without their places.
fn decode(mut decoder: Box<dyn Decoder>, input: &[u8], cut: usize) -> Vec<Entry<'static>> {
    let (mut entries, mut at) = (Vec::new(), 0);
    for end in [cut, input.len()] {
        loop {
            match decoder.step(&input[at..end], end == input.len()) {
                Step::NeedMore => break,
                Step::Skip { consumed } | Step::Begin { consumed, .. } => at += consumed,
                Step::Entry { consumed, entry, .. } => {
                    entries.push(entry.into_owned());
                    at += consumed;
                }
            }
        }
    }
    assert_eq!(at, input.len());
    entries
}

#[test]
fn a_cut_loses_only_what_is_cut() {
    for (path, format, input) in fixtures() {
        let input = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&input);
        let whole = decode(format.decoder(1 << 20), input, 0);
        // The archives are long; what they are cut from is cut everywhere beside the decoder.
        let step = if input.len() > 4000 { 11 } else { 1 };
        for length in (0..input.len()).step_by(step) {
            assert_eq!(decode(format.decoder(1 << 20), input, length), whole, "{path} in two pieces at {length}");
            let found = decode(format.decoder(1 << 20), &input[..length], 0);
            let sure = found.len().saturating_sub(1);
            assert_eq!(found[..sure], whole[..sure], "{path} cut off at {length}");
        }
    }
}

/// What breaks a log where it is put.
const LIVELY: &[&[u8]] =
    &[b"", b"{", b"}", b"[", b"]", b"\"", b"\\", b",", b":", b"\n", b"\r\n", b"\xff", b"data:", b"1e9"];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// Damaged fixtures: nothing panics, and pieces of any size give the same.
    #[test]
    fn damage(
        fixture in 0..FIXTURES.len(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..9, prop::sample::select(LIVELY)), 1..6),
        size in 1_usize..200,
        limit in prop_oneof![0_usize..200, Just(1 << 20)],
    ) {
        let Some((path, format, mut input)) = fixtures().nth(fixture) else { return Ok(()) };
        for (at, removed, added) in damage {
            let at = at.index(input.len());
            let end = input.len().min(at + removed);
            input.splice(at..end, added.iter().copied());
        }
        let options = ReaderOptions::default().with_format(format).with_max_record_size(limit);
        let (_, whole) = read(&input[..], options);
        prop_assert_eq!(&read(Pieces(&input, size), options).1, &whole, "{}", path);
        read(&input[..], ReaderOptions::default());
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
        let options = ReaderOptions::default().with_format(format).with_max_record_size(1000);
        let next = read(format.sample().as_bytes(), options).1;
        let (_, found) = read(Pieces((input + format.sample()).as_bytes(), 5000), options);
        let [Entry::Record(record), rest @ ..] = &found[..] else { panic!("{name}") };
        assert!(record.flags.oversized && record.bytes.is_empty(), "{name}");
        assert_eq!(record.length, length, "{name}");
        assert_eq!(rest.len(), next.len(), "{name}");
    }
}

#[test]
fn plain_messages_are_left_to_other_formats() {
    let table = [
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"log\":{\"entries\":[]}}}\n", "json-lines"),
        ("{\"jsonrpc\":\"2.0\",\"log\":{\"entries\":[]}}\n", "json-lines"),
        ("{\"id\":1,\"method\":\"x\"}\n{\"tag\":\"FromClient\",\"contents\":[]}\n", "json-lines"),
        ("{\"log\":\"text\"}\n", "json-lines"),
        ("{\"log\":{\"level\":1}}\n", "json-lines"),
        ("{\n\"jsonrpc\": \"2.0\",\n\"params\":\n{\"log\":{\"entries\":[]}}\n}\n", "json-values"),
        ("SQLite format 3\n{}\n", "json-lines"),
    ];
    for (input, name) in table {
        assert_eq!(Format::detect(input.as_bytes()).name(), name, "{input}");
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn rows_of_a_database() {
    for path in ["lsp-devtools-db/typical.sql", "lsp-devtools-db/edge.sql"] {
        let sql = std::fs::read_to_string(folder().join(path)).expect("a fixture");
        let connection = rusqlite::Connection::open_in_memory().expect("a database");
        connection.execute_batch(&sql).expect("tables");
        let bytes = connection.serialize(rusqlite::MAIN_DB).expect("bytes").to_vec();
        let (format, entries) = read(&bytes[..], ReaderOptions::default());
        assert_eq!(format.name(), "lsp-devtools-db");
        assert_entries(path, &entries);
        for size in [1, 7, 1000] {
            assert_eq!(read(Pieces(&bytes, size), ReaderOptions::default()).1, entries);
        }
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&bytes).expect("memory");
        assert_eq!(read(&gzip.finish().expect("memory")[..], ReaderOptions::default()).1, entries);
        // Whatever is cut off or damaged: the reader ends, with an error or without.
        for length in (0..bytes.len()).step_by(97) {
            let options = ReaderOptions::default().with_format(format);
            let mut reader = Reader::new(&bytes[..length], &options).expect("a reader");
            while let Ok(Some(_)) = reader.next_entry() {}
        }
    }
}

#[test]
fn sessions_that_haskell_lsp_captured() {
    let Some(corpora) = std::env::var_os("RPCGRAPH_CORPORA").map(PathBuf::from) else {
        println!("skipped: RPCGRAPH_CORPORA is not set");
        return;
    };
    let folder = corpora.join("lsp-haskell-sessions");
    let read_text = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a corpus");
    let (index, messages) = (read_text("index.tsv"), read_text("messages.ndjson"));
    for source in ["renameFail/session.log", "renamePass/session.log"] {
        let input = std::fs::read(folder.join("raw/lsp-test/test/data").join(source)).expect("a session");
        let (format, entries) = read(&input[..], ReaderOptions::default());
        assert_eq!(format.name(), "lsp-test");
        // line, source, ordinal, direction, time and tag
        let rows = index.lines().skip(1).zip(messages.lines());
        let expected: Vec<_> = rows.filter(|(row, _)| row.split('\t').nth(1) == Some(source)).collect();
        assert_eq!((entries.len(), expected.len()), (18, 18));
        for (entry, (row, message)) in entries.iter().zip(expected) {
            let Entry::Record(record) = entry else { panic!("{entry:?}") };
            let cells: Vec<_> = row.split('\t').collect();
            assert_eq!(String::from_utf8_lossy(&record.bytes), message);
            assert_eq!(record.sender, Some(if cells[3] == "c2s" { Sender::Client } else { Sender::Server }));
            let time = cells[4].split(' ').next().and_then(|time| time.parse().ok());
            assert_eq!(record.time, time.map(Time::DateTime));
        }
    }
}
