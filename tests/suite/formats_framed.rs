//! The formats `content-length`, `sse`, `json-array`, `vscode-lsp-text` and `vscode-lsp-json`: logs in
//! `tests/formats/<format>/`, each with its entries in a file `.entries` beside it.
//!
//! A line of that file is a record (`m` and its number) or a log line (`l` and the number of the record before it), then
//! line and byte of its start, sender, time, session, latency, flags, and its bytes, quoted as Rust does.

use crate::support::{corpora, files};
use proptest::prelude::*;
use rpcgraph::record::{Entry, Format, Location, Reader, ReaderOptions, Record, Sender, Step, Time};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

const FORMATS: [Format; 5] =
    [Format::ContentLength, Format::Sse, Format::JsonArray, Format::VscodeLspText, Format::VscodeLspJson];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats")
}

/// Every log: its format, its name, its text.
fn logs() -> Vec<(Format, PathBuf, Vec<u8>)> {
    let logs = FORMATS.iter().flat_map(|&format| {
        let logs = files(&folder().join(format.name()), ".log");
        assert!(logs.len() >= 2, "{format:?}");
        logs.into_iter().map(move |path| {
            let text = std::fs::read(&path).unwrap();
            (format, path, text)
        })
    });
    logs.collect()
}

/// Gives its bytes in pieces of a fixed size.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.1.min(buffer.len());
        self.0.read(&mut buffer[..size])
    }
}

fn entries(input: impl Read, options: ReaderOptions) -> Vec<Entry<'static>> {
    let mut reader = Reader::new(input, &options).unwrap();
    let mut entries = Vec::new();
    while let Some(entry) = reader.next_entry().unwrap() {
        entries.push(entry.into_owned());
    }
    entries
}

fn as_format(input: &[u8], format: Format) -> Vec<Entry<'static>> {
    entries(input, ReaderOptions::default().with_format(format))
}

fn location(entry: &Entry<'_>) -> Location {
    match entry {
        Entry::Record(record) => record.location,
        Entry::LogLine(line) => line.location,
    }
}

fn record<'a>(entry: &'a Entry<'_>) -> Option<&'a Record<'a>> {
    match entry {
        Entry::Record(record) => Some(record),
        Entry::LogLine(_) => None,
    }
}

fn text(entry: &Entry<'_>) -> String {
    match entry {
        Entry::Record(record) => String::from_utf8_lossy(&record.bytes).into_owned(),
        Entry::LogLine(line) => String::from_utf8_lossy(&line.bytes).into_owned(),
    }
}

/// All that an entry tells, on one line.
fn shown(entry: &Entry<'_>) -> String {
    let Location { record: number, line, byte } = location(entry);
    let quoted = format!("{:?}", text(entry));
    let Some(record) = record(entry) else { return format!("l{number} {line}:{byte} {quoted}") };
    let mut shown = format!("m{number} {line}:{byte}");
    match record.sender {
        Some(sender) => write!(shown, " {sender:?}").unwrap(),
        None => shown.push_str(" -"),
    }
    match record.time {
        Some(Time::DateTime(time)) => write!(shown, " {time}").unwrap(),
        Some(Time::Clock(time)) => write!(shown, " {time}").unwrap(),
        None => shown.push_str(" -"),
    }
    write!(shown, " {}", record.session.as_deref().unwrap_or("-")).unwrap();
    match record.latency {
        Some(latency) => write!(shown, " {latency}").unwrap(),
        None => shown.push_str(" -"),
    }
    let flags = record.flags;
    for (set, name) in [
        (flags.truncated, "truncated"),
        (flags.reconstructed, "reconstructed"),
        (flags.result_unknown, "result-unknown"),
        (flags.oversized, "oversized"),
    ] {
        if set {
            write!(shown, " {name}").unwrap();
        }
    }
    assert_eq!(record.length, record.bytes.len() as u64);
    format!("{shown} {quoted}")
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn the_entries_of_every_log() {
    for (format, path, input) in logs() {
        let reader = Reader::new(&input[..], &ReaderOptions::default()).unwrap();
        assert_eq!(reader.format(), format, "{}", path.display());
        let reader = Reader::new(Pieces(&input, 1), &ReaderOptions::default()).unwrap();
        assert_eq!(reader.format(), format, "{}, in pieces", path.display());
        let found: Vec<_> = entries(&input[..], ReaderOptions::default()).iter().map(shown).collect();
        let expected = std::fs::read_to_string(path.with_extension("entries")).unwrap();
        assert_eq!(found, expected.lines().collect::<Vec<_>>(), "{}", path.display());
    }
}

/// What is expected of a log when its lines end with CRLF: the same at other places, with other line ends in messages.
fn with_crlf(entry: Entry<'static>, format: Format, input: &[u8]) -> Entry<'static> {
    let moved = |location: Location| {
        let before = &input[..location.byte as usize];
        Location { byte: location.byte + before.iter().filter(|&&byte| byte == b'\n').count() as u64, ..location }
    };
    match entry {
        Entry::LogLine(mut line) => {
            line.location = moved(line.location);
            Entry::LogLine(line)
        }
        Entry::Record(mut record) => {
            record.location = moved(record.location);
            let mut text = String::from_utf8(record.bytes.into_owned()).unwrap();
            // Lines of data are joined by an LF, whatever ends them.
            if format != Format::Sse {
                text = text.replace('\n', "\r\n");
            }
            // An error's message over several lines, which is escaped.
            if record.flags.reconstructed && text.contains("\"error\"") {
                text = text.replace("\\n", "\\r\\n");
            }
            record.length = text.len() as u64;
            Entry::Record(Record { bytes: text.into_bytes().into(), ..record })
        }
    }
}

#[test]
fn crlf_compression_and_a_byte_order_mark_change_nothing() {
    for (format, path, input) in logs() {
        let expected = entries(&input[..], ReaderOptions::default());
        let compressed = gzip(&input);
        assert_eq!(entries(&compressed[..], ReaderOptions::default()), expected, "{}", path.display());

        let crlf = String::from_utf8(input.clone()).unwrap().replace('\n', "\r\n");
        let reader = Reader::new(crlf.as_bytes(), &ReaderOptions::default()).unwrap();
        assert_eq!(reader.format(), format, "{}", path.display());
        let expected_crlf: Vec<_> = expected.iter().cloned().map(|entry| with_crlf(entry, format, &input)).collect();
        assert_eq!(entries(crlf.as_bytes(), ReaderOptions::default()), expected_crlf, "{}", path.display());

        let marked = [b"\xef\xbb\xbf", &input[..]].concat();
        let reader = Reader::new(&marked[..], &ReaderOptions::default()).unwrap();
        assert_eq!(reader.format(), format, "{}", path.display());
        let found = entries(&marked[..], ReaderOptions::default());
        assert_eq!(found.iter().map(text).collect::<Vec<_>>(), expected.iter().map(text).collect::<Vec<_>>());
        assert!(found.iter().zip(&expected).all(|(found, entry)| location(found).byte == location(entry).byte + 3));
    }
}

#[test]
fn banners_blank_lines_and_a_window_that_ends_early_do_not_hide_a_format() {
    for (format, path, input) in logs() {
        let banner = [b"\n  starting [1/2] \r\n\n\nready: 100%\n\n", &input[..]].concat();
        assert_eq!(Format::detect(&banner), format, "{}", path.display());
        // 64 KiB end in the middle of something.
        let padding = [&input[..], &b"\n".repeat(70_000)].concat();
        assert_eq!(Format::detect(&padding), format, "{}", path.display());
        // Several arrays one after another are another format.
        if format != Format::JsonArray {
            let more = input.repeat(200);
            assert_eq!(Format::detect(&more[..1 << 16]), format, "{}", path.display());
        }
    }
}

#[test]
fn the_same_entries_from_pieces_of_any_size() {
    for (format, path, input) in logs() {
        for limit in [1 << 20, 60, 22] {
            let options = ReaderOptions::default().with_format(format).with_max_record_size(limit);
            let expected = entries(&input[..], options);
            for size in [1, 2, 3, 5, 7, 64, 1000] {
                assert_eq!(entries(Pieces(&input, size), options), expected, "{}, {limit}, {size}", path.display());
            }
            for cut in 0..=input.len() {
                decode(format, limit, &input, &[cut], &expected);
            }
            let all: Vec<_> = (0..input.len()).collect();
            decode(format, limit, &input, &all, &expected);
        }
    }
}

/// Drives a decoder by hand over an input that is cut at these places, and checks what it gives and that it goes on.
fn decode(format: Format, limit: usize, input: &[u8], cuts: &[usize], expected: &[Entry<'_>]) {
    let mut decoder = format.decoder(limit);
    let (mut at, mut given, mut steps) = (0, 0, 0);
    for &cut in cuts.iter().chain([&input.len()]) {
        loop {
            steps += 1;
            assert!(steps <= 4 * input.len() + 2 * cuts.len() + 100, "no progress");
            match decoder.step(&input[at..cut], cut == input.len()) {
                Step::NeedMore => break,
                Step::Skip { consumed } | Step::Begin { consumed, .. } => {
                    assert!(consumed > 0);
                    at += consumed;
                }
                Step::Entry { consumed, entry, .. } => {
                    assert_eq!(text(&entry), text(&expected[given]), "{format:?}, limit {limit}, cuts {cuts:?}");
                    given += 1;
                    at += consumed;
                }
            }
        }
    }
    assert_eq!((at, given), (input.len(), expected.len()), "{format:?}, limit {limit}, cuts {cuts:?}");
}

/// A log that ends early loses the record that is cut and no other: everything up to the one before it is the same.
#[test]
fn logs_cut_off_anywhere() {
    for (format, path, input) in logs() {
        let whole: Vec<_> = as_format(&input, format).iter().map(shown).collect();
        for cut in 0..=input.len() {
            let found = as_format(&input[..cut], format);
            let records = || (0..found.len()).rev().filter(|&index| record(&found[index]).is_some());
            let kept = records().nth(1).map_or(0, |last_but_one| last_but_one + 1);
            let found: Vec<_> = found[..kept].iter().map(shown).collect();
            assert_eq!(found, whole[..kept], "{}, cut at {cut}", path.display());
        }
    }
}

/// What each format may consist of, for logs that nobody thought of.
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

/// What any log may be full of.
const FILLERS: [&str; 11] = ["x", " ", "\n", "1", ":", ",", "x\n", ": x\n", "Cc", "[", "\r"];

/// A format, and parts for a log in it.
fn parts(count: usize) -> impl Strategy<Value = (Format, Vec<&'static str>)> {
    prop::sample::select(&PARTS[..]).prop_flat_map(move |(format, parts)| {
        (Just(format), prop::collection::vec(prop::sample::select(parts), 0..count))
    })
}

fn check(format: Format, input: &[u8], limit: usize, size: usize) {
    let options = ReaderOptions::default().with_format(format).with_max_record_size(limit);
    let expected = entries(input, options);
    let cuts: Vec<_> = (0..input.len()).step_by(size).collect();
    decode(format, limit, input, &cuts, &expected);
    assert_eq!(entries(Pieces(input, size), options), expected);
    for entry in &expected {
        assert!(record(entry).is_none_or(|record| record.bytes.len() <= limit));
        assert!(location(entry).byte as usize <= input.len());
    }
    Format::detect(input);
}

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

    /// The same around the places where a decoder stops to wait.
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

/// No decoder asks for more bytes than it has promised to need, and each goes on behind what is too long.
#[test]
fn memory_is_bounded() {
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
            let input = [head.as_str(), &filler.repeat(300_000), &tail].concat().into_bytes();
            let (mut decoder, mut at, mut shown, mut last) = (format.decoder(1000), 0, 1, String::new());
            loop {
                let end = input.len().min(at + shown);
                match decoder.step(&input[at..end], end == input.len()) {
                    Step::NeedMore if end == input.len() => break,
                    Step::NeedMore => {
                        assert!(end - at < 1000 + 64 * 1024, "{format:?} {head} {filler:?}");
                        shown = 2 * (end - at).max(1);
                    }
                    Step::Skip { consumed } | Step::Begin { consumed, .. } => (at, shown) = (at + consumed, 1),
                    Step::Entry { consumed, entry, .. } => {
                        assert!(record(&entry).is_none_or(|record| record.bytes.len() <= 1000));
                        last = text(&entry);
                        (at, shown) = (at + consumed, 1);
                    }
                }
            }
            assert_eq!(at, input.len(), "{format:?} {head} {filler:?}");
            assert!(last.len() < 50, "{format:?} {head} {filler:?}: {last}");
        }
    }
}

/// The two directions of a session, each a stream of frames.
#[test]
fn framed_lsp_sessions() {
    let Some(corpora) = corpora() else { return };
    let folder = corpora.join("lsp-haskell-sessions");
    let index = std::fs::read_to_string(folder.join("index.tsv")).unwrap();
    let messages = std::fs::read_to_string(folder.join("messages.ndjson")).unwrap();
    for (name, count) in [("client.log", 8), ("server.log", 9)] {
        let source = format!("documentSymbolFail/{name}");
        let rows = index.lines().skip(1).zip(messages.lines());
        let expected: Vec<_> =
            rows.filter(|(row, _)| row.split('\t').nth(1) == Some(&source)).map(|(_, message)| message).collect();
        let input = std::fs::read(folder.join("raw/lsp-test/test/data").join(&source)).unwrap();
        let reader = Reader::new(&input[..], &ReaderOptions::default()).unwrap();
        assert_eq!(reader.format(), Format::ContentLength, "{source}");
        let found = entries(&input[..], ReaderOptions::default());
        assert!(found.iter().all(|entry| record(entry).is_some()), "{source}: only records");
        assert_eq!(found.iter().map(text).collect::<Vec<_>>(), expected, "{source}");
        assert_eq!(found.len(), count, "{source}");
    }
}

/// Each log of the LSP Inspector has a file beside it with what the Inspector makes of the log: an array of
/// `{time, msg, msgKind, msgType, msgId?, msgLatency?, arg}`, where `arg` are the parameters or the result. It leaves out
/// what has neither, so such messages are left out here too. Compared are kind and direction, id, latency, `arg`, the
/// method where the message has one (a response has none), and the time of day. `msg` is the headline, which says the
/// same again.
#[test]
fn traces_of_the_lsp_inspector() {
    let Some(corpora) = corpora() else { return };
    let logs = files(&corpora.join("lsp-inspector/fixture"), ".log");
    assert_eq!(logs.len(), 5);
    for path in logs {
        let input = std::fs::read(&path).unwrap();
        let reader = Reader::new(&input[..], &ReaderOptions::default()).unwrap();
        assert_eq!(reader.format(), Format::VscodeLspText, "{}", path.display());
        let found = entries(&input[..], ReaderOptions::default());
        let mut items = Vec::new();
        for record in found.iter().filter_map(record) {
            assert!(record.flags.reconstructed, "{}: {}", path.display(), String::from_utf8_lossy(&record.bytes));
            items.extend(inspected(record));
        }
        let parsed: Vec<Value> = serde_json::from_slice(&std::fs::read(path.with_extension("json")).unwrap()).unwrap();
        let expected: Vec<_> = parsed.into_iter().map(comparable).collect();
        assert_eq!(items, expected, "{}", path.display());
    }
}

/// A record as the Inspector shows it, if that does.
fn inspected(record: &Record<'_>) -> Option<Value> {
    let mut message: Value = serde_json::from_slice(&record.bytes).unwrap();
    let members = message.as_object_mut().unwrap();
    let direction = if record.sender == Some(Sender::Client) { "send" } else { "recv" };
    let (kind, arg) = match (members.contains_key("method"), members.contains_key("id")) {
        (true, true) => ("request", members.remove("params")?),
        (true, false) => ("notification", members.remove("params")?),
        (false, _) => ("response", members.remove("result")?),
    };
    let id = members.remove("id").map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
    let Some(Time::Clock(time)) = record.time else { panic!("a clock") };
    Some(serde_json::json!({
        "time": time.to_string(),
        "kind": format!("{direction}-{kind}"),
        "method": members.remove("method"),
        "id": id,
        "latency": record.latency.map(|latency| latency.to_string()),
        "arg": arg,
    }))
}

/// The Inspector's object in the same shape. Its clock may have 12 hours.
fn comparable(item: Value) -> Value {
    let text = |name: &str| item[name].as_str().map(str::to_owned);
    let kind = text("msgKind").unwrap();
    let (clock, afternoon) = match text("time").unwrap().split_once(' ') {
        Some((clock, half)) => (clock.to_owned(), half == "PM"),
        None => (text("time").unwrap(), false),
    };
    let (hour, rest) = clock.split_once(':').unwrap();
    let hour: u8 = hour.parse().unwrap();
    let milliseconds = text("msgLatency").map(|latency| latency.trim_end_matches("ms").parse::<f64>().unwrap());
    serde_json::json!({
        "time": format!("{:02}:{rest}", hour + if afternoon && hour < 12 { 12 } else { 0 }),
        "kind": kind,
        "method": (!kind.ends_with("response")).then(|| text("msgType")),
        "id": text("msgId"),
        "latency": milliseconds.map(|milliseconds| (milliseconds / 1000.0).to_string()),
        "arg": item["arg"],
    })
}
