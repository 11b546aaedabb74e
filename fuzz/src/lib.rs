//! The fuzz targets. Each target is a function of bytes, which it takes for choices: of a fixture, and of changes to it. It
//! panics if a property does not hold. `cargo fuzz run TARGET` gives it bytes that reach new places of the program; the
//! test `fuzz` of rpcgraph gives it random ones.

mod queries;
mod redaction;

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use oxrdf::dataset::{CanonicalizationAlgorithm, CanonicalizationHashAlgorithm};
use oxrdf::{Dataset, Quad, Term};
use oxrdfio::{RdfFormat, RdfParser};
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::diagnostic::Finding;
use rpcgraph::json::{self, Numbers, QuickWriter};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::message::Content;
use rpcgraph::rebuild::{RebuiltContent, rebuild};
use rpcgraph::record::{Entry, Format, Reader, ReaderOptions, Record};
use rpcgraph::sink::{Sink, Syntax};

pub use self::queries::{compare, queries};
pub use self::redaction::redaction;

/// A function that panics where something does not hold.
pub type Target = fn(&[u8]);

/// Every target, by its name.
pub const TARGETS: [(&str, Target); 7] = [
    ("decoders", decoders),
    ("json", json),
    ("paths", paths),
    ("convert", convert),
    ("needle", needle),
    ("queries", queries),
    ("redaction", redaction),
];

/// Records of more bytes are skipped.
const LIMIT: usize = 64 << 10;
const BASE: &str = "https://example.org/log";

/// A log and the format that it is in.
struct Fixture {
    format: Format,
    name: String,
    log: Vec<u8>,
    /// Messages, and parts of them, in whose place something else can be written.
    places: Vec<Place>,
}

/// A part of a log.
struct Place {
    start: usize,
    end: usize,
    what: Planted,
}

/// The content that replaces it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Planted {
    /// A message of the same length.
    Message,
    /// A message as a string of JSON holds it.
    Quoted,
    /// The name of a method.
    Method,
}

static FIXTURES: LazyLock<Vec<Fixture>> = LazyLock::new(|| {
    let mut fixtures = Vec::new();
    for format in Format::ALL.iter().copied().filter(|format| format.refusal().is_none()) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = [folder.join("tests/formats"), folder.join("../tests/formats")]
            .into_iter()
            .map(|formats| formats.join(format.name()))
            .find(|folder| folder.is_dir());
        let names = folder.into_iter().flat_map(|folder| fs::read_dir(folder).expect("a folder"));
        let mut paths: Vec<_> = names.map(|entry| entry.expect("an entry").path()).collect();
        paths.retain(|path| path.extension().is_none_or(|extension| extension != "entries" && extension != "ttl"));
        paths.sort();
        for path in paths {
            let log = fs::read(&path).expect("a fixture");
            let places = places(&log, format);
            fixtures.push(Fixture { format, name: path.display().to_string(), log, places });
        }
        let log = format.sample().as_bytes().to_vec();
        let places = places(&log, format);
        fixtures.push(Fixture { format, name: format!("the sample of {}", format.name()), log, places });
    }
    fixtures.retain(|fixture| fixture.log.len() < LIMIT && !fixture.log.starts_with(b"CREATE"));
    fixtures
});

/// Returns the places of a log where content can be planted.
fn places(log: &[u8], format: Format) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for entry in entries(log, format, log.len()).unwrap_or_default() {
        let Entry::Record(record) = entry else { continue };
        let Ok(text) = std::str::from_utf8(&record.bytes) else { continue };
        let from = places.iter().map(|place| place.end).max().unwrap_or(0).max(at(&record));
        let find = |needle: &str| {
            let found = log.get(from..)?.windows(needle.len().max(1)).position(|window| window == needle.as_bytes())?;
            Some((from + found, from + found + needle.len()))
        };
        let Content::Single(rpcgraph::message::Single::Message(message)) = Content::from_record(&record) else {
            continue;
        };
        let quoted = serde_json::Value::from(text).to_string();
        let quoted = quoted.get(1..quoted.len() - 1).unwrap_or_default();
        let planted = if let Some(found) = find(text).filter(|_| text.len() >= planted("0", 0).len() + 8) {
            Some((found, Planted::Message))
        } else if let Some(found) = find(quoted).filter(|_| quoted != text) {
            Some((found, Planted::Quoted))
        } else {
            let method = message.method.as_deref().filter(|method| method.len() > 3);
            method.and_then(find).map(|found| (found, Planted::Method))
        };
        if let Some(((start, end), what)) = planted {
            places.push(Place { start, end, what });
        }
    }
    places
}

fn at(record: &Record<'_>) -> usize {
    usize::try_from(record.location.byte).expect("a log in memory")
}

/// A message with that name, filled up to a length.
fn planted(token: &str, length: usize) -> String {
    let head = format!(r#"{{"jsonrpc":"2.0","method":"{token}"#);
    let fill = length.saturating_sub(head.len() + 2);
    format!("{head}{}\"}}", "_".repeat(fill))
}

/// Choices, made by bytes.
struct Choices<'d>(&'d [u8]);

impl Choices<'_> {
    /// A number below that one; 0 when there are no more bytes.
    fn below(&mut self, end: usize) -> usize {
        let (bytes, rest) = self.0.split_at(self.0.len().min(4));
        self.0 = rest;
        let number = bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte));
        number % end.max(1)
    }

    fn fixture(&mut self) -> &'static Fixture {
        &FIXTURES[self.below(FIXTURES.len())]
    }

    /// Changes a log in a few places.
    fn mutate(&mut self, log: &mut Vec<u8>) {
        const TOKENS: [&[u8]; 32] = [
            b"\n",
            b"\r\n",
            b"\n\n",
            b" ",
            b"\t",
            b"\"",
            b"\\",
            b"\\\"",
            b"{",
            b"}",
            b"[",
            b"]",
            b",",
            b":",
            b"{}",
            b"null",
            b"0",
            b"\xff",
            b"\xf0\x9f",
            b"\0",
            b"\\ud800",
            b"data: ",
            b"event: x\n",
            b"Content-Length: 5\r\n\r\n",
            b"Content-Length: 70000\r\n\r\n",
            b"{\"method\":\"m\"}",
            b"\"method\":1,",
            b"\"id\":1,",
            b"[Trace - ",
            b">> ",
            b"<< ",
            b"\xef\xbb\xbf",
        ];
        for _ in 0..=self.below(4) {
            let (at, kind) = (self.below(log.len() + 1), self.below(6));
            let most = [2, 10, 100][self.below(3)];
            let length = self.below(most) + 1;
            let until = log.len().min(at + length);
            match kind {
                0 => drop(log.drain(at..until)),
                1 => {
                    let copy = log[at..until].to_vec();
                    let to = self.below(log.len() + 1);
                    log.splice(to..to, copy);
                }
                2 => {
                    let other = &self.fixture().log;
                    let from = self.below(other.len() + 1);
                    let piece = other[from..other.len().min(from + length)].to_vec();
                    log.splice(at..at, piece);
                }
                3 if at < log.len() => log[at] ^= 1 << self.below(8),
                _ => {
                    let token = TOKENS[self.below(TOKENS.len())];
                    log.splice(at..at, token.iter().copied());
                }
            }
        }
    }

    /// A fixture that was changed, and its format.
    fn log(&mut self) -> (Format, Vec<u8>) {
        let fixture = self.fixture();
        let mut log = fixture.log.clone();
        self.mutate(&mut log);
        (fixture.format, log)
    }
}

/// Gives its bytes in pieces of at most that size.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.1.min(buffer.len());
        self.0.read(&mut buffer[..size])
    }
}

/// The entries of a log that comes in pieces of that size, or why there are none.
fn entries(log: &[u8], format: Format, piece: usize) -> Result<Vec<Entry<'static>>, String> {
    let options = ReaderOptions::default().with_format(format).with_max_record_size(LIMIT);
    let mut reader = Reader::new(Pieces(log, piece.max(1)), &options).map_err(|error| error.to_string())?;
    let mut entries = Vec::new();
    loop {
        match reader.next_entry() {
            Ok(Some(entry)) => entries.push(entry),
            Ok(None) => return Ok(entries),
            Err(error) => return Err(format!("{error} after {entries:?}")),
        }
    }
}

fn shown(log: &[u8]) -> String {
    log.escape_ascii().to_string()
}

/// Every decoder: the same entries however the log is cut into pieces, in order, and where they say.
pub fn decoders(data: &[u8]) {
    let mut choices = Choices(data);
    let (format, log) = choices.log();
    let whole = entries(&log, format, log.len());
    for piece in [1, 2 + choices.below(30), 32 + choices.below(1000)] {
        let pieces = entries(&log, format, piece);
        assert!(pieces == whole, "{}, in pieces of {piece}: {}\n{pieces:?}\n{whole:?}", format.name(), shown(&log));
    }
    let (mut last, mut number) = (0, 0);
    for entry in whole.unwrap_or_default() {
        let location = entry.location();
        number += u64::from(matches!(entry, Entry::Record(_)));
        let lines =
            log.iter().take(usize::try_from(location.byte).unwrap_or(usize::MAX)).filter(|byte| **byte == b'\n');
        // Entries may be out of order: answers that the log has later, and an event's fields before the text between them.
        let in_order = location.byte >= last
            || matches!(
                format,
                Format::Har
                    | Format::McpInspector
                    | Format::McpInspectorNetwork
                    | Format::Sse
                    | Format::Tshark
                    | Format::VscodeLspText
            );
        let is_right = location.record == number
            && in_order
            && location.byte <= log.len() as u64
            && location.line == 1 + lines.count() as u64;
        assert!(is_right, "{}: {entry:?} behind {last} in {}", format.name(), shown(&log));
        last = location.byte;
    }
}

/// JSON: what is valid, and its canonical form.
pub fn json(data: &[u8]) {
    let mut choices = Choices(data);
    let fixture = choices.fixture();
    let records = entries(&fixture.log, fixture.format, fixture.log.len()).unwrap_or_default();
    let Some(Entry::Record(record)) = records.get(choices.below(records.len())) else { return };
    let mut text = record.bytes.to_vec();
    choices.mutate(&mut text);
    let value = json::parse(&text);
    let Ok(text) = std::str::from_utf8(&text) else { return assert!(value.is_err()) };
    let raw = serde_json::from_str::<&serde_json::value::RawValue>(text);
    assert_eq!(value.is_ok(), raw.is_ok(), "{text}");
    let Ok(value) = value else { return };
    let mut canonical = String::new();
    let careful = json::write_canonical(&value, Numbers::Exact, &mut canonical).expect("exact numbers");
    let mut quick = String::new();
    let written = QuickWriter::new(Numbers::Exact).write_text(text, &mut quick);
    assert_eq!((&quick, written), (&canonical, Some(careful)), "{text}");
    let again = json::parse(canonical.as_bytes()).expect("canonical JSON");
    assert_eq!(format!("{again:?}"), canonical, "{text}");
    // As serde_json reads both, but that 1.0 is not 1 to it.
    if let (Ok(before), Ok(after)) = (serde_json::from_str(text), serde_json::from_str(&canonical)) {
        assert!(same(&before, &after), "{text}");
    }
}

fn same(left: &serde_json::Value, right: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Number, Object};
    match (left, right) {
        (Number(left), Number(right)) => left.as_f64() == right.as_f64(),
        (Array(left), Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Object(left), Object(right)) => {
            let has = |(name, left)| right.get(name).is_some_and(|right| same(left, right));
            left.len() == right.len() && left.iter().all(has)
        }
        (left, right) => left == right,
    }
}

/// Returns the quads and findings of a conversion.
fn converted(log: &[u8], format: Format, reference: bool) -> Option<(Vec<Quad>, Vec<Finding>)> {
    let (mut quads, mut findings) = (Vec::new(), Vec::new());
    let mapper = Mapper::new(Mapping::Session, &[]).expect("contexts").with_reference_only(reference);
    let reader = ReaderOptions::default().with_format(format).with_max_record_size(LIMIT);
    let options = Options { reader, log_lines: true, jobs: 1, ..Options::default() };
    let mut sink = Sink::quads(&mut quads);
    let result = Converter::new(mapper, options).convert(input(log), &mut sink, &mut |finding| findings.push(finding));
    drop(sink);
    // Formats that have to be whole to be read say so.
    result.ok().map(|_| (quads, findings))
}

fn input(log: &[u8]) -> Input<&[u8]> {
    Input { name: "log".into(), source: "log".into(), iri: BASE.into(), iri_stated: true, read: log }
}

/// The fast path and the reference path: the same graph.
pub fn paths(data: &[u8]) {
    let (format, log) = Choices(data).log();
    let [fast, reference] = [false, true].map(|reference| {
        converted(&log, format, reference).map(|(quads, findings)| {
            let mut dataset: Dataset = quads.iter().collect();
            let hash_algorithm = CanonicalizationHashAlgorithm::Sha256;
            dataset.canonicalize(CanonicalizationAlgorithm::Rdfc10 { hash_algorithm });
            let mut lines: Vec<_> = dataset.iter().map(|quad| quad.to_string()).collect();
            lines.sort();
            (lines, findings)
        })
    });
    assert!(fast == reference, "{}: {}", format.name(), shown(&log));
}

/// A whole conversion: N-Quads that parse, and out of which each record comes back.
pub fn convert(data: &[u8]) {
    let (format, log) = Choices(data).log();
    let (mut text, mapper) = (Vec::new(), Mapper::new(Mapping::Session, &[]).expect("contexts"));
    let reader = ReaderOptions::default().with_format(format).with_max_record_size(LIMIT);
    let options = Options { reader, log_lines: true, jobs: 1, ..Options::default() };
    let mut sink = Syntax::NQuads.sink(&mut text, 1);
    let result = Converter::new(mapper, options).convert(input(&log), &mut sink, &mut |_| {});
    drop(sink);
    let quads = RdfParser::from_format(RdfFormat::NQuads).for_slice(&text).collect::<Result<Vec<_>, _>>();
    let what = || format!("{}: {}", format.name(), shown(&log));
    let quads = quads.unwrap_or_else(|error| panic!("{error} in {}", what()));
    if result.is_err() {
        return;
    }
    let sessions = rebuild(&quads).unwrap_or_else(|error| panic!("{error} in {}", what()));
    let mut rebuilt: Vec<_> = sessions.into_iter().flat_map(|session| session.records).collect();
    rebuilt.sort_by_key(|record| record.sequence);
    let records = entries(&log, format, log.len()).unwrap_or_default();
    let records: Vec<_> = records
        .iter()
        .filter_map(|entry| if let Entry::Record(record) = entry { Some(record) } else { None })
        // An exchange over HTTP is not a message.
        .filter(|record| record.http.as_ref().is_none_or(|http| http.exchange.is_none()))
        .collect();
    assert_eq!(rebuilt.len(), records.len(), "{}", what());
    for (rebuilt, record) in rebuilt.iter().zip(records) {
        let same = match (&rebuilt.content, json::parse(&record.bytes)) {
            (RebuiltContent::Json(text), Ok(original)) => {
                let again = json::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error} in {}", what()));
                // A result that the log does not tell has none.
                format!("{again:?}") == format!("{original:?}")
            }
            (RebuiltContent::Text(text), Err(_)) => text.as_bytes() == &*record.bytes,
            (RebuiltContent::Bytes(bytes), Err(_)) => *bytes == *record.bytes,
            (RebuiltContent::Skipped, _) => record.flags.oversized || record.bytes.is_empty(),
            _ => false,
        };
        assert!(same, "{rebuilt:?} of {record:?} in {}", what());
    }
}

/// The needle: what is planted in a log is in its graph, or a finding covers it, whatever is around it.
pub fn needle(data: &[u8]) {
    let mut choices = Choices(data);
    let fixture = choices.fixture();
    let Some(place) = fixture.places.get(choices.below(fixture.places.len())) else { return };
    // No escape of JSON begins as it does.
    let token = format!("Needle-{:08x}", choices.below(usize::MAX));
    let needle = match place.what {
        Planted::Message => planted(&token, place.end - place.start),
        Planted::Quoted => planted(&token, 0).replace('"', "\\\""),
        Planted::Method => token.clone(),
    };
    let (mut before, mut behind) = (fixture.log[..place.start].to_vec(), fixture.log[place.end..].to_vec());
    match choices.below(4) {
        0 => choices.mutate(&mut behind),
        1 => {
            choices.mutate(&mut before);
            choices.mutate(&mut behind);
        }
        _ => choices.mutate(&mut before),
    }
    if is_lost(fixture.format, &before, &needle, &behind, &token) {
        // Parts that the loss does not need are removed, larger parts first.
        let mut size = before.len().max(behind.len());
        while size > 0 {
            for at in (0..before.len() + behind.len()).step_by(size).rev() {
                let (mut less, mut rest) = (before.clone(), behind.clone());
                if at < less.len() {
                    less.drain(at..less.len().min(at + size));
                } else {
                    let at = at - less.len();
                    rest.drain(at..rest.len().min(at + size));
                }
                if is_lost(fixture.format, &less, &needle, &rest, &token) {
                    (before, behind) = (less, rest);
                }
            }
            size /= 2;
        }
        let log = [&before, needle.as_bytes(), &behind].concat();
        panic!("{} ({}): lost {:?} in\n{}", fixture.format.name(), fixture.name, place.what, shown(&log));
    }
}

fn is_lost(format: Format, before: &[u8], needle: &str, behind: &[u8], token: &str) -> bool {
    let log = [before, needle.as_bytes(), behind].concat();
    let Some((quads, findings)) = converted(&log, format, false) else { return false };
    let holds = |quad: &Quad| match &quad.object {
        Term::Literal(literal) if literal.datatype().as_str().ends_with("base64Binary") => {
            let bytes = BASE64.decode(literal.value()).unwrap_or_default();
            bytes.windows(token.len()).any(|window| window == token.as_bytes())
        }
        Term::Literal(literal) => literal.value().contains(token),
        _ => false,
    };
    // "… bytes are more than …", "… bytes of text are skipped"
    let covers = |finding: &Finding| {
        let length = finding.message.split(' ').next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
        let at = before.len() as u64;
        !finding.in_graph && (finding.location.byte..finding.location.byte.saturating_add(length)).contains(&at)
    };
    // A length that is not true may cut it in two.
    let text = |quad: &Quad| {
        let Term::Literal(literal) = &quad.object else { return String::new() };
        match literal.datatype().as_str().ends_with("base64Binary") {
            true => String::from_utf8_lossy(&BASE64.decode(literal.value()).unwrap_or_default()).into_owned(),
            false => literal.value().to_owned(),
        }
    };
    let texts = || quads.iter().map(text);
    let is_cut = || {
        (1..token.len()).any(|at| {
            let (head, rest) = token.split_at(at);
            texts().any(|text| text.ends_with(head)) && texts().any(|text| text.starts_with(rest))
        })
    };
    let is_cut = format == Format::ContentLength && is_cut();
    !is_cut && !quads.iter().any(holds) && !findings.iter().any(covers)
}
