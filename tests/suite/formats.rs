//! Logs in every format: `tests/formats/<format>/`, each with its entries in a file `.entries` beside it, a line each as
//! [`shown`] writes them. Neither pieces, nor line ends, nor compression, nor a cut change them.

mod bounds;
mod files;
mod invented;
mod kinds;
mod traffic;

use crate::support::{files, shown};
use rpcgraph::record::{Entry, Format, Location, Reader, ReaderOptions, Record, Step};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Formats that frame messages, or put them together again from several lines.
const FRAMED: [Format; 6] = [
    Format::ContentLength,
    Format::Sse,
    Format::Socat,
    Format::JsonArray,
    Format::VscodeLspText,
    Format::VscodeLspJson,
];

/// Logs of editors and apps.
const LINES: [Format; 6] =
    [Format::VscodeMcp, Format::ClaudeDesktop, Format::Helix, Format::Zed, Format::McpInspector, Format::Lsp4e];

/// Formats that wrap messages in JSON.
const RECORDED: [Format; 9] = [
    Format::Record,
    Format::Mcpsnoop,
    Format::Mcpspy,
    Format::LspTest,
    Format::Har,
    Format::ZedAcp,
    Format::ProtocolMonitor,
    Format::McpInspectorNetwork,
    Format::Tshark,
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats")
}

/// Every log in one of the formats: its format, its path below the folder, its text.
fn logs_in(formats: &[Format]) -> Vec<(Format, String, Vec<u8>)> {
    let mut logs = Vec::new();
    for &format in formats {
        let mut expected = files(&folder().join(format.name()), ".entries");
        if is_blessed() && expected.is_empty() {
            expected = files(&folder().join(format.name()), ".log")
                .iter()
                .map(|log| PathBuf::from(format!("{}.entries", log.display())))
                .collect();
        }
        assert!(expected.len() >= 2, "{format:?}");
        for path in expected {
            let path = path.with_extension("");
            let name = path.strip_prefix(folder()).unwrap().display().to_string();
            logs.push((format, name, std::fs::read(path).unwrap()));
        }
    }
    logs
}

fn logs() -> Vec<(Format, String, Vec<u8>)> {
    let mut formats = [&FRAMED[..], &LINES, &RECORDED].concat();
    let others = Format::ALL.iter().filter(|format| format.file().is_some() && format.refusal().is_none());
    let others: Vec<_> =
        others.filter(|format| !formats.contains(format) && **format != Format::Arrows).copied().collect();
    formats.extend(others);
    let logs = logs_in(&formats);
    assert!(logs.len() >= 30);
    logs
}

fn log(format: &str, name: &str) -> Vec<u8> {
    std::fs::read(folder().join(format).join(name)).unwrap()
}

/// Gives its bytes in pieces of a fixed size.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.1.min(buffer.len());
        self.0.read(&mut buffer[..size])
    }
}

fn read(input: impl Read + Send, options: ReaderOptions) -> (Format, Vec<Entry<'static>>) {
    let mut reader = Reader::new(input, &options).unwrap();
    let mut entries = Vec::new();
    while let Some(entry) = reader.next_entry().unwrap() {
        entries.push(entry);
    }
    (reader.format(), entries)
}

fn detected(input: impl Read + Send) -> (Format, Vec<Entry<'static>>) {
    read(input, ReaderOptions::default())
}

fn as_format(input: impl Read + Send, format: Format, limit: usize) -> Vec<Entry<'static>> {
    read(input, ReaderOptions::default().with_format(format).with_max_record_size(limit)).1
}

fn record<'a>(entry: &'a Entry<'_>) -> Option<&'a Record<'a>> {
    match entry {
        Entry::Record(record) => Some(record),
        Entry::LogLine(_) => None,
    }
}

fn text(entry: &Entry<'_>) -> String {
    String::from_utf8_lossy(entry.bytes()).into_owned()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// The same entry at another place.
fn moved(entry: Entry<'static>, to: impl Fn(Location) -> Location) -> Entry<'static> {
    match entry {
        Entry::Record(record) => Record { location: to(record.location), ..record }.into(),
        Entry::LogLine(mut line) => {
            line.location = to(line.location);
            line.into()
        }
    }
}

#[test]
fn the_entries_of_every_log() {
    for (format, name, input) in logs() {
        let (found, entries) = detected(&input[..]);
        assert_eq!(found, format, "{name}");
        assert_entries(&name, &entries);
        assert_eq!(detected(Pieces(&input, 1)), (format, entries), "{name}, in pieces");
    }
}

/// True if the entries of new logs are to be written.
fn is_blessed() -> bool {
    std::env::var_os("RPCGRAPH_BLESS").is_some()
}

/// Compares with what stands beside the log.
fn assert_entries(name: &str, entries: &[Entry<'_>]) {
    let found: Vec<_> = entries.iter().map(shown).collect();
    assert!(entries.iter().filter_map(record).all(|record| record.length == record.bytes.len() as u64), "{name}");
    let path = folder().join(format!("{name}.entries"));
    if is_blessed() {
        std::fs::write(&path, found.join("\n") + "\n").unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap();
    assert_eq!(found, expected.lines().collect::<Vec<_>>(), "{name}");
}

/// Returns the expected entry of a log with CRLF line ends: at another offset, with CRLF inside of messages.
fn with_crlf(entry: Entry<'static>, input: &[u8]) -> Entry<'static> {
    let from = entry.location().byte as usize;
    let ends = input[..from].iter().filter(|&&byte| byte == b'\n').count() as u64;
    // Lines of data are joined by an LF whatever ends them, and what stands in a string has its own.
    let as_it_was = input[from..].starts_with(entry.bytes());
    let mut text = String::from_utf8(entry.bytes().to_vec()).unwrap();
    if as_it_was || record(&entry).is_some_and(|record| record.flags.reconstructed) {
        text = text.replace('\n', "\r\n");
    }
    match moved(entry, |location| Location { byte: location.byte + ends, ..location }) {
        Entry::Record(record) => {
            // An error's message over several lines, which is escaped.
            if record.flags.reconstructed && text.contains("\"error\"") {
                text = text.replace("\\n", "\\r\\n");
            }
            Record { length: text.len() as u64, bytes: text.into_bytes().into(), ..record }.into()
        }
        Entry::LogLine(mut line) => {
            (line.length, line.bytes) = (text.len() as u64, text.into_bytes().into());
            line.into()
        }
    }
}

#[test]
fn crlf_compression_and_a_byte_order_mark_change_nothing() {
    for (format, name, input) in logs() {
        let (_, expected) = detected(&input[..]);
        assert_eq!(detected(&gzip(&input)[..]), (format, expected.clone()), "{name}");

        let crlf = String::from_utf8(input.clone()).unwrap().replace('\n', "\r\n");
        let with_crlf: Vec<_> = expected.iter().cloned().map(|entry| with_crlf(entry, &input)).collect();
        assert_eq!(detected(crlf.as_bytes()), (format, with_crlf.clone()), "{name}");

        if input.starts_with(b"\xef\xbb\xbf") {
            continue;
        }
        let behind = |location: Location| Location { byte: location.byte + 3, ..location };
        for (text, entries) in [(&input[..], expected), (crlf.as_bytes(), with_crlf)] {
            let entries: Vec<_> = entries.into_iter().map(|entry| moved(entry, behind)).collect();
            assert_eq!(detected(&[b"\xef\xbb\xbf", text].concat()[..]), (format, entries), "{name}");
        }
    }
}

#[test]
fn banners_blank_lines_and_a_window_that_ends_early_do_not_hide_a_format() {
    for (format, name, input) in logs_in(&FRAMED) {
        let banner = [b"\n  starting [1/2] \r\n\n\nready: 100%\n\n", &input[..]].concat();
        assert_eq!(Format::detect(&banner), format, "{name}");
        // 64 KiB end in the middle of something.
        let padding = [&input[..], &b"\n".repeat(70_000)].concat();
        assert_eq!(Format::detect(&padding), format, "{name}");
        // Several arrays one after another are another format.
        if format != Format::JsonArray {
            let more = input.repeat(200);
            assert_eq!(Format::detect(&more[..1 << 16]), format, "{name}");
        }
    }
}

/// Bytes between two cuts of one run: more than most records have.
const CUTS_APART: usize = 400;

#[test]
fn the_same_entries_from_pieces_of_any_size() {
    for (format, name, input) in logs() {
        for limit in [1 << 20, 60, 22, 5, 0] {
            let expected = as_format(&input[..], format, limit);
            for size in [1, 2, 3, 5, 7, 64, 1000] {
                assert_eq!(as_format(Pieces(&input, size), format, limit), expected, "{name}, {limit}, {size}");
            }
            for record in expected.iter().filter_map(record) {
                assert!(record.bytes.len() <= limit, "{name}, {limit}");
                assert!(!LINES.contains(&format) || record.flags.oversized == (record.length > limit as u64), "{name}");
            }
        }
        let limits: &[usize] = if FRAMED.contains(&format) { &[1 << 20, 60, 22] } else { &[1 << 20] };
        for &limit in limits {
            let expected = as_format(&input[..], format, limit);
            // A reader passes over a byte-order mark.
            let input = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&input);
            // Every place is cut, several far from each other at a time.
            for first in 0..CUTS_APART.min(input.len() + 1) {
                let cuts: Vec<_> = (first..=input.len()).step_by(CUTS_APART).collect();
                decode(format, limit, input, &cuts, &expected);
            }
            decode(format, limit, input, &(0..input.len()).collect::<Vec<_>>(), &expected);
        }
    }
}

/// An entry as decoders give it: readers add the indentation of text, and where the bytes of a record come from.
fn without_indentation<'a>(mut entry: Entry<'a>) -> Entry<'a> {
    match &mut entry {
        Entry::LogLine(line) if !line.oversized => {
            line.bytes = line.bytes.trim_ascii_start().to_vec().into();
            line.length = line.bytes.len() as u64;
        }
        Entry::LogLine(_) => {}
        Entry::Record(record) => record.flags.is_derived = false,
    }
    entry
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
                    let entry = moved(entry.into_owned(), |_| expected[given].location());
                    let expected = without_indentation(expected[given].clone());
                    assert_eq!(entry, expected, "{format:?}, limit {limit}, cuts {cuts:?}");
                    given += 1;
                    at += consumed;
                }
            }
        }
    }
    assert_eq!((at, given), (input.len(), expected.len()), "{format:?}, limit {limit}, cuts {cuts:?}");
}

/// A log that ends early loses the record that is cut and no other.
#[test]
fn logs_cut_off_anywhere() {
    for (format, name, input) in logs() {
        let whole = as_format(&input[..], format, 1 << 20);
        let step = match input.len() {
            0..1000 => 1,
            1000..4000 => 3,
            _ => 11,
        };
        for cut in (0..=input.len()).step_by(step) {
            let found = as_format(&input[..cut], format, 1 << 20);
            // The beginning of a framed message may be taken for log lines.
            let records = || (0..found.len()).rev().filter(|&index| record(&found[index]).is_some());
            let kept = match FRAMED.contains(&format) {
                true => records().nth(1).map_or(0, |last_but_one| last_but_one + 1),
                // A message that is cut off stands beside its text.
                false => {
                    let is_cut = found.last().and_then(record).is_some_and(|last| last.flags.reconstructed);
                    found.len().saturating_sub(if is_cut { 2 } else { 1 })
                }
            };
            assert_eq!(found[..kept], whole[..kept], "{name}, cut at {cut}");
        }
    }
}

#[test]
fn locations_lead_back_to_the_bytes() {
    for (format, name, input) in logs_in(&[&LINES[..], &RECORDED].concat()) {
        for entry in as_format(&input[..], format, 1 << 20) {
            let Location { line, byte, .. } = entry.location();
            let (before, from) = input.split_at(byte as usize);
            assert_eq!(line, 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64, "{name}");
            // Entries whose bytes are not in the log: messages in strings, which still begin there, reassembled messages,
            // and facts from an entry of an archive.
            let is_made = record(&entry).is_some_and(|record| record.flags.reconstructed);
            let elsewhere = RECORDED.contains(&format)
                && record(&entry).is_none_or(|record| before.ends_with(b"\"") || record.is_exchange());
            assert!(from.starts_with(entry.bytes()) || is_made || elsewhere, "{name}: {}", shown(&entry));
        }
    }
}
