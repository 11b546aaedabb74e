//! Records: every format through the reader, whatever the input's pieces, compression and defects.

#![expect(clippy::unwrap_used, reason = "clippy.toml allows them in tests, but not in what tests call")]

use proptest::prelude::*;
use rpcgraph::record::{
    Decoder, Entry, Format, InputEncoding, Location, ReadError, Reader, ReaderOptions, Sender, Step,
};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::support::needed_corpora;

/// Gives its bytes in pieces of a fixed size.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.1.min(buffer.len());
        self.0.read(&mut buffer[..size])
    }
}

/// All entries, and the error that ends them.
fn read(input: impl Read + Send, options: ReaderOptions) -> (Vec<Entry<'static>>, Option<ReadError>) {
    let mut reader = match Reader::new(input, &options) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut entries = Vec::new();
    loop {
        match reader.next_entry() {
            Ok(Some(entry)) => entries.push(entry.into_owned()),
            Ok(None) => return (entries, None),
            Err(error) => {
                assert!(reader.next_entry().unwrap().is_none(), "nothing follows an error");
                return (entries, Some(error));
            }
        }
    }
}

fn whole(input: &[u8], options: ReaderOptions) -> Vec<Entry<'static>> {
    let (entries, error) = read(input, options);
    assert!(error.is_none(), "{error:?}");
    entries
}

fn limited(format: Format, max_record_size: usize) -> ReaderOptions {
    ReaderOptions::default().with_format(format).with_max_record_size(max_record_size)
}

fn bytes<'a>(entry: &'a Entry<'_>) -> &'a [u8] {
    match entry {
        Entry::Record(record) => &record.bytes,
        Entry::LogLine(line) => &line.bytes,
    }
}

fn location(entry: &Entry<'_>) -> Location {
    match entry {
        Entry::Record(record) => record.location,
        Entry::LogLine(line) => line.location,
    }
}

/// Drives a decoder without a reader, over input cut in two; only the bytes of the entries.
fn decode(mut decoder: Box<dyn Decoder>, input: &[u8], cut: usize) -> Vec<Vec<u8>> {
    let (mut entries, mut at) = (Vec::new(), 0);
    for end in [cut, input.len()] {
        loop {
            match decoder.step(&input[at..end], end == input.len()) {
                Step::NeedMore => break,
                Step::Skip { consumed } | Step::Begin { consumed, .. } => at += consumed,
                Step::Entry { consumed, entry, .. } => {
                    entries.push(bytes(&entry).to_vec());
                    at += consumed;
                }
            }
        }
    }
    assert_eq!(at, input.len());
    entries
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 1).unwrap()
}

fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn xz(text: &[u8]) -> Vec<u8> {
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(0)).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Small logs with something of everything, and the format that each is detected as.
const FIXTURES: [(Format, &[u8]); 6] = [
    (Format::JsonLines, b"{\"a\":1}\r\n\n  [2]\t\nstderr: no json\n{\"long\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}\n{\"cut\":"),
    (Format::JsonLines, b"\xef\xbb\xbf\"a\"\n\xff\xfe\n{}\n"),
    (Format::JsonValues, b"{\n  \"a\": 1\n}\r\n{}[1] 12\ntext\n{\"b\": oops,\n}\n[3]\n{\"\xff\":\n[\"long, much too long\"]}\n{\"cut\":\n"),
    (Format::JsonValues, b"\xef\xbb\xbf{\"a\":1}{\"b\":2} 1 2 3 null\n"),
    (Format::Arrows, b"// note\n\n>> {\"a\":1}\r\n<< [1]\n<-- //none\nV[13:09:49.765] <<< {}\n\xe2\x86\x92{\"long\":\"xxxxxxxxx\"}\n> {"),
    (Format::Arrows, b"\xef\xbb\xbf--> {}\n# a line of text that is longer than the limit allows\n<-- {}"),
];

#[test]
fn the_same_entries_from_pieces_of_any_size() {
    for (format, input) in FIXTURES {
        for limit in [1 << 20, 20] {
            let entries = whole(input, limited(format, limit));
            for size in 1..=input.len() {
                let (found, error) = read(Pieces(input, size), limited(format, limit));
                assert!(error.is_none());
                assert_eq!(found, entries, "{format:?}, limit {limit}, pieces of {size}");
            }
            let input = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
            let entries: Vec<_> = entries.iter().map(|entry| bytes(entry).to_vec()).collect();
            for cut in 0..=input.len() {
                assert_eq!(
                    decode(format.decoder(limit), input, cut),
                    entries,
                    "{format:?}, limit {limit}, cut at {cut}"
                );
            }
        }
    }
}

#[test]
fn locations_lead_back_to_the_bytes() {
    for (format, input) in FIXTURES {
        for options in [ReaderOptions::default(), limited(format, 20)] {
            let mut reader = Reader::new(input, &options).unwrap();
            assert_eq!(reader.format(), format);
            let mut records = 0;
            while let Some(entry) = reader.next_entry().unwrap() {
                records += u64::from(matches!(entry, Entry::Record(_)));
                let Location { record, line, byte } = location(&entry);
                assert_eq!(record, records);
                let (before, from) = input.split_at(byte as usize);
                assert_eq!(line, 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64);
                assert!(from.starts_with(bytes(&entry)) && !from.starts_with(b" ") && !from.starts_with(b"\n"));
            }
            assert_eq!(reader.record_count(), records);
        }
    }
}

#[test]
fn compressed_input_is_read_like_plain_input() {
    for (format, input) in FIXTURES {
        let entries = whole(input, ReaderOptions::default());
        let (start, rest) = input.split_at(input.len() / 2);
        let skippable = b"\x50\x2a\x4d\x18\x02\x00\x00\x00hi".to_vec();
        for compressed in [
            gzip(input),
            zstd(input),
            zstd(&gzip(input)),
            [gzip(start), gzip(rest)].concat(),
            [zstd(start), skippable.clone(), zstd(rest)].concat(),
            [skippable, zstd(input)].concat(),
            bzip2(input),
            xz(input),
        ] {
            assert_eq!(whole(&compressed, ReaderOptions::default()), entries, "{format:?}");
            assert_eq!(read(Pieces(&compressed, 1), ReaderOptions::default()).0, entries, "{format:?}");
        }
    }
}

/// Half of a character is not lost: its record is not UTF-8.
#[test]
fn text_in_utf_16_is_read_like_text_in_utf_8() {
    let log = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"é😀\"}\r\n{\"a\":1}\n";
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        let utf16: Vec<u8> = log.encode_utf16().flat_map(order).collect();
        let expected = whole(log.as_bytes(), ReaderOptions::default());
        for size in [1, 2, 3, 1000] {
            assert_eq!(read(Pieces(&utf16, size), ReaderOptions::default()).0, expected, "in pieces of {size}");
        }
        let halves = [&[0xfeff][..], &"{\"a\":\"".encode_utf16().collect::<Vec<_>>(), &[0xd83d, 0x22, 0x7d]].concat();
        let halves: Vec<u8> = halves.into_iter().flat_map(order).collect();
        let entries = whole(&halves, ReaderOptions::default());
        let [Entry::Record(record)] = &entries[..] else { panic!("{entries:?}") };
        assert_eq!(&*record.bytes, b"{\"a\":\"\xed\xa0\xbd\"}");
        assert!(matches!(rpcgraph::message::Content::from_record(record), rpcgraph::message::Content::Malformed(_)));
    }
}

/// Lines that do not compress well, so that cutting the data cuts the text about as far.
fn numbers() -> String {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 8
    };
    (0..5000).map(|id| format!("{{\"id\":{id},\"params\":[{},{}]}}\n", next(), next())).collect()
}

#[test]
fn complete_records_precede_the_error() {
    let text = numbers();
    let lines: Vec<_> = text.lines().collect();
    for (kind, data) in [(InputEncoding::Gzip, gzip(text.as_bytes())), (InputEncoding::Zstd, zstd(text.as_bytes()))] {
        for length in [data.len() / 3, data.len() / 2, data.len() - 1] {
            for format in [None, Some(Format::JsonLines), Some(Format::JsonValues)] {
                let (entries, error) = read(&data[..length], ReaderOptions { format, ..ReaderOptions::default() });
                let Some(ReadError::Compressed { kind: found, after, source: None }) = error else {
                    panic!("{error:?}")
                };
                assert_eq!(found, kind);
                // Every line that was read to its end; `json-values` need not see that end.
                let ended = text[..after as usize].matches('\n').count();
                let seen = text[..after as usize].matches('}').count();
                assert_eq!(entries.len(), if format == Some(Format::JsonValues) { seen } else { ended });
                assert!(entries.iter().zip(&lines).all(|(entry, line)| bytes(entry) == line.as_bytes()));
                assert!(length < data.len() / 2 || entries.len() > 1000, "{}", entries.len());
            }
        }
    }
}

#[test]
fn errors_say_what_and_where() {
    let data = gzip(b"{}\n{}\n{\"cut\":");
    let (entries, error) = read(&data[..data.len() - 9], ReaderOptions::default());
    assert!(entries.len() <= 2);
    let message = error.unwrap().to_string();
    assert!(message.starts_with("gzip data ends early after ") && message.ends_with(" bytes of text"), "{message}");

    let (entries, error) = read(&[&zstd(b"{}\n")[..], b"garbage!"].concat()[..], ReaderOptions::default());
    assert_eq!(entries.len(), 1);
    assert_eq!(error.unwrap().to_string(), "zstd data is damaged after 3 bytes of text");

    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is on fire"))
        }
    }
    let (entries, error) = read((&b"{}\n{}"[..]).chain(Broken), ReaderOptions::default());
    assert_eq!(entries.len(), 1);
    assert_eq!(error.unwrap().to_string(), "reading failed after 5 bytes of text");
    assert!(matches!(Reader::new(Broken, &ReaderOptions::default()), Err(ReadError::Io { after: 0, .. })));
}

#[test]
fn records_that_are_too_long() {
    let long = "x".repeat(3_000_000);
    let table = [
        (Format::JsonLines, format!("{{}}\n  \"{long}\" \r\n[]\n"), 3_000_002, 1, 2, 5),
        (Format::JsonValues, format!("{{}}{{\n\"{long}\":1}}\n[]\n"), 3_000_007, 1, 1, 2),
        (Format::JsonValues, format!("{{}}\n\"{long}\"\n[]\n"), 3_000_002, 1, 2, 3),
        (Format::JsonValues, format!("{{}}\n{{{long}\n[]\n"), 3_000_001, 1, 2, 3),
        (Format::Arrows, format!(">> {{}}\n\t<< {{{long}\n<< []\n"), 3_000_001, 1, 2, 10),
    ];
    for (format, input, length, index, line, byte) in table {
        let (entries, error) = read(Pieces(input.as_bytes(), 10_000), limited(format, 1000));
        assert!(error.is_none());
        assert_eq!(entries.len(), 3, "{format:?}");
        let Entry::Record(record) = &entries[index] else { panic!() };
        assert!(record.flags.oversized && record.bytes.is_empty(), "{format:?}");
        assert_eq!((record.length, record.location), (length, Location { record: 2, line, byte }), "{format:?}");
        assert_eq!(bytes(&entries[2]), b"[]");
    }
}

#[test]
fn formats_are_detected() {
    let far = format!("{}>> {{}}\n", "text\n".repeat(20_000));
    let pretty = format!("{{\n\"a\": \"{}\"}}\n", "x".repeat(100_000));
    let line = format!("{{\"a\": \"{}\"}}\n", "x".repeat(100_000));
    let table: &[(&str, Format)] = &[
        ("", Format::JsonLines),
        ("\n\n \n", Format::JsonLines),
        ("just text\n", Format::JsonLines),
        ("{}", Format::JsonLines),
        ("{\"a\":1}\n{\n\"b\":2}\n", Format::JsonLines),
        ("{\"a\":\n", Format::JsonLines),
        ("{\"a\":oops}\n{\"b\":1}\n", Format::JsonLines),
        ("{\"cut\":\n{\"b\":1}\n{\"c\":1}\n", Format::JsonLines),
        ("starting [1]\n[info] ready\n{\"a\":1}\n", Format::JsonLines),
        ("[1]\n>> {}\n", Format::JsonLines),
        ("1\n>> {}\n", Format::JsonLines),
        ("{}\n>> {}\n", Format::JsonLines),
        ("> quoted\n< text\n", Format::JsonLines),
        ("<html>\n[]", Format::JsonLines),
        (">> hello\n", Format::JsonLines),
        (&far, Format::JsonLines),
        (&line, Format::JsonLines),
        ("{\n}", Format::JsonValues),
        ("\n  {\n\"a\":1", Format::JsonValues),
        ("[\n{\"a\":1},\n{\"b\":2}\n]\n", Format::JsonArray),
        ("{\"a\":1} {\"b\":2}\n", Format::JsonValues),
        ("{\"a\":oops,\n\"b\":1}\n{\n\"c\":1}\n", Format::JsonValues),
        (&pretty, Format::JsonValues),
        (">> {}", Format::Arrows),
        ("<<[]", Format::Arrows),
        ("// a\n\n# b\n  --> {\"cut", Format::Arrows),
        ("a heading:\n→ [1]\n", Format::Arrows),
        ("< {}\n", Format::Arrows),
        ("[info] ready\n> {}\n", Format::Arrows),
        ("I[13:09:49.700] clangd\nV[13:09:49.765] <<< {}\n", Format::Arrows),
        (">> {}\n{\n}\n", Format::Arrows),
    ];
    for (input, format) in table {
        let reader = Reader::new(input.as_bytes(), &ReaderOptions::default()).unwrap();
        assert_eq!(reader.format(), *format, "{}", &input[..input.len().min(60)]);
        let reader = Reader::new(Pieces(input.as_bytes(), 1), &ReaderOptions::default()).unwrap();
        assert_eq!(reader.format(), *format, "in pieces");
    }
}

/// Bytes that mean something to some format.
const LIVELY: &[u8] = b"{}[]\"\\,:1 \n\r<>-/aV\xef\xbb\xbf";

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bytes: the reader ends, and gives the same entries from pieces of any size.
    #[test]
    fn any_bytes(
        input in proptest::collection::vec(prop_oneof![3 => prop::sample::select(LIVELY), 1 => any::<u8>()], 0..300),
        size in 1_usize..50,
        limit in prop_oneof![0_usize..40, Just(1 << 20)],
        magic in prop::sample::select(vec![&b""[..], b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"{\n"]),
    ) {
        let input = [magic, &input].concat();
        for format in Format::ALL.iter().copied().map(Some).chain([None]) {
            let options = ReaderOptions { format, max_record_size: limit, ..ReaderOptions::default() };
            let (entries, error) = read(&input[..], options.clone());
            let (pieces, piece_error) = read(Pieces(&input, size), options);
            prop_assert_eq!(error.is_some(), piece_error.is_some());
            // How much text comes out of damaged data depends on how much of the data is looked at at once.
            let length = if error.is_none() { entries.len().max(pieces.len()) } else { entries.len().min(pieces.len()) };
            prop_assert_eq!(entries.get(..length), pieces.get(..length));
            for entry in &entries {
                prop_assert!(bytes(entry).len() <= limit || matches!(entry, Entry::LogLine(_)));
            }
        }
    }

    /// Every byte that is not blank is in exactly one record of `json-lines`, in order. Colours are the terminal's.
    #[test]
    fn every_byte_is_in_one_record(lines in proptest::collection::vec("[ \t]{0,2}[^\n\x1b]{0,20}\r?\n?", 0..20)) {
        let input = lines.concat();
        let solid = |bytes: &[u8]| bytes.iter().copied().filter(|byte| !b" \t\r\n".contains(byte)).collect::<Vec<_>>();
        let entries = whole(input.as_bytes(), ReaderOptions::default().with_format(Format::JsonLines));
        let all: Vec<_> = entries.iter().flat_map(|entry| bytes(entry).to_vec()).collect();
        let text = input.strip_prefix('\u{feff}').unwrap_or(&input);
        prop_assert_eq!(solid(&all), solid(text.as_bytes()));
        prop_assert_eq!(entries.len(), text.split('\n').filter(|line| !solid(line.as_bytes()).is_empty()).count());
    }
}

/// All files under `folder` whose name ends so, sorted.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn open(path: &Path) -> Reader<'static> {
    Reader::new(std::fs::File::open(path).unwrap(), &ReaderOptions::default()).unwrap()
}

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn ethereum_conversations_of_the_corpora() {
    let corpora = needed_corpora();
    let folder = corpora.join("eth-execution-apis");
    let index = std::fs::read_to_string(folder.join("index.tsv")).unwrap();
    let messages = std::fs::read_to_string(folder.join("messages.ndjson")).unwrap();
    let mut records = 0;
    for path in files(&folder, ".io") {
        let source = path.strip_prefix(folder.join("io")).unwrap().to_str().unwrap();
        // line, source, ordinal, direction
        let expected = index.lines().zip([""].into_iter().chain(messages.lines())).filter_map(|(row, message)| {
            let cells: Vec<_> = row.split('\t').collect();
            let sender = if cells[3] == "c2s" { Sender::Client } else { Sender::Server };
            (cells[1] == source).then_some((Some(sender), message))
        });
        let mut reader = open(&path);
        assert_eq!(reader.format(), Format::Arrows, "{source}");
        let mut found = Vec::new();
        while let Some(entry) = reader.next_entry().unwrap() {
            if let Entry::Record(record) = entry {
                found.push((record.sender, String::from_utf8(record.bytes.into_owned()).unwrap()));
            }
        }
        records += found.len();
        let found: Vec<_> = found.iter().map(|(sender, text)| (*sender, text.as_str())).collect();
        assert_eq!(found, expected.collect::<Vec<_>>(), "{source}");
    }
    assert_eq!((files(&folder, ".io").len(), records), (232, 472));
}

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn examples_of_the_specification_in_the_corpora() {
    let corpora = needed_corpora();
    let mut reader = open(&corpora.join("jsonrpc-spec-examples/spec-section7.txt"));
    assert_eq!(reader.format(), Format::Arrows);
    let (mut clients, mut servers, mut lines) = (0, 0, Vec::new());
    while let Some(entry) = reader.next_entry().unwrap() {
        match entry {
            Entry::Record(record) if record.sender == Some(Sender::Client) => clients += 1,
            Entry::Record(record) => servers += u64::from(record.sender == Some(Sender::Server)),
            Entry::LogLine(line) => lines.push(String::from_utf8(line.bytes.into_owned()).unwrap()),
        }
    }
    assert_eq!((clients, servers), (15, 12));
    assert_eq!(lines.len(), 13);
    assert_eq!(lines[12], "<-- //Nothing is returned for all notification batches");
}

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn messages_of_the_corpora() {
    let corpora = needed_corpora();
    let paths = files(&corpora, "messages.ndjson");
    assert!(!paths.is_empty());
    for path in paths {
        let text = std::fs::read(&path).unwrap();
        let entries = whole(&text, ReaderOptions::default());
        assert_eq!(open(&path).format(), Format::JsonLines, "{}", path.display());
        let lines: Vec<_> = text.strip_suffix(b"\n").unwrap_or(&text).split(|&byte| byte == b'\n').collect();
        assert_eq!(entries.iter().map(bytes).collect::<Vec<_>>(), lines, "{}", path.display());
    }
}
