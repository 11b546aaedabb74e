//! Helpers of all tests.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use oxrdf::dataset::CanonicalizationAlgorithm;
use oxrdf::{Dataset, Literal, Quad, Term};
use rpcgraph::context::Context;
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::json::{Object, Value};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::message::Member;
use rpcgraph::record::{Entry, Location, Sender};
use rpcgraph::sink::{Sink, Tables};

/// A file or folder of the project.
pub fn own(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The folder of real traffic that the project does not ship, where there is one.
pub fn corpora() -> Option<PathBuf> {
    std::env::var_os("RPCGRAPH_CORPORA").map(PathBuf::from).filter(|folder| folder.is_dir())
}

/// That folder, for tests that have nothing to do without it. They are ignored, so that a run without it says so, and have
/// `corpora` in their names, by which `.ci/run` runs them.
pub fn needed_corpora() -> PathBuf {
    corpora().expect("RPCGRAPH_CORPORA names a folder")
}

/// The program, Python or folder that an environment variable names, else a program with one of these names on the path.
///
/// Tests that compare with the programs of others are ignored, so that a run without these says so; `.ci/run` installs them,
/// and runs the tests.
pub fn tool(variable: &str, names: &[&str]) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let programs = folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
    let mut all =
        std::env::var_os(variable).map(PathBuf::from).into_iter().chain(programs.filter(|path| path.is_file()));
    all.next().unwrap_or_else(|| panic!("{variable} is not set, and no program of {names:?} is on the path"))
}

/// Logs with that name ending that are read: the project's own, and the corpora's where there are any.
pub fn logs(ending: &str) -> Vec<PathBuf> {
    let folders = ["tests/logs", "tests/formats", "tests/queries", "examples"].map(own);
    let mut logs: Vec<_> = folders.iter().flat_map(|folder| files(folder, ending)).collect();
    logs.retain(|log| !log.starts_with(own("tests/formats/nvim-lua")));
    assert!(!logs.is_empty(), "no log of the project's own ends with {ending}");
    logs.extend(corpora().iter().flat_map(|corpora| files(corpora, ending)));
    logs
}

/// Every file below a folder with that name ending, in order.
pub fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

pub const BASE: &str = "https://example.org/captures/session.ndjson";

/// Converts a log to a folder of tables, in the session [`BASE`].
pub fn convert_to_tables(log: &[u8], options: Options, folder: &Path) {
    let mapper = Mapper::new(Mapping::Session, &[]).expect("contexts work");
    let mut tables = Tables::create(folder).expect("a folder");
    let mut sink = tables.sink();
    Converter::new(mapper, options).convert(input(log), &mut sink, &mut |_| {}).expect("a conversion");
    sink.finish().expect("tables");
    drop(sink);
    tables.finish().expect("a folder");
}

fn input(log: &[u8]) -> Input<&[u8]> {
    let name = "session.ndjson".to_owned();
    Input { source: name.clone(), name, iri: BASE.into(), iri_stated: true, read: log }
}

/// Converts a log to quads, in the session [`BASE`].
pub fn convert(log: &[u8]) -> Vec<Quad> {
    convert_with(log, &[], Options::default())
}

pub fn convert_with(log: &[u8], contexts: &[Context], options: Options) -> Vec<Quad> {
    let mut quads = Vec::new();
    let mapper = Mapper::new(Mapping::Session, contexts).expect("contexts work");
    let mut sink = Sink::quads(&mut quads);
    Converter::new(mapper, options).convert(input(log), &mut sink, &mut |_| {}).expect("a conversion");
    drop(sink);
    quads
}

/// Compares two values: numbers by their exact decimal value, strings by their code units, objects as
/// unordered maps. Evidence and spelling do not count.
pub fn same_value(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a.as_str() == b.as_str() || a.to_decimal() == b.to_decimal(),
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Array(a), Value::Array(b)) => {
            a.items.len() == b.items.len() && a.items.iter().zip(&b.items).all(|(a, b)| same_value(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |((a_name, a), (b_name, b)): (&Member<'_>, &Member<'_>)| a_name == b_name && same_value(a, b);
            a.members.len() == b.members.len() && sorted(a).into_iter().zip(sorted(b)).all(same)
        }
        _ => false,
    }
}

fn sorted<'v, 'a>(object: &'v Object<'a>) -> Vec<&'v Member<'a>> {
    let mut members: Vec<_> = object.members.iter().collect();
    members.sort_unstable_by(|(a, _), (b, _)| a.cmp_utf16(b));
    members
}

/// The canonical form of a set of quads: RDFC-1.0.
pub fn canonical<'q>(quads: impl IntoIterator<Item = &'q Quad>) -> Vec<String> {
    let mut dataset: Dataset = quads.into_iter().collect();
    dataset.canonicalize(CanonicalizationAlgorithm::Rdfc10 {
        hash_algorithm: oxrdf::dataset::CanonicalizationHashAlgorithm::Sha256,
    });
    let mut lines: Vec<_> = dataset.iter().map(|quad| quad.to_string()).collect();
    lines.sort();
    lines
}

/// Writes the decimals of jsonld.js as decimals: it writes every fraction in the form of a double, such as `7.25E0`,
/// which xsd:decimal does not have.
pub fn with_decimals(mut quads: Vec<Quad>) -> Vec<Quad> {
    for quad in &mut quads {
        if let Term::Literal(literal) = &quad.object
            && literal.datatype() == oxrdf::vocab::xsd::DECIMAL
            && literal.value().contains('E')
        {
            let number: f64 = literal.value().parse().expect("a number");
            quad.object = Literal::new_typed_literal(number.to_string(), oxrdf::vocab::xsd::DECIMAL).into();
        }
    }
    quads
}

/// Asserts that two graphs are isomorphic, and shows what only one has if not.
#[track_caller]
pub fn assert_isomorphic<'q>(
    left: impl IntoIterator<Item = &'q Quad>,
    right: impl IntoIterator<Item = &'q Quad>,
    what: &str,
) {
    let (left, right): (HashSet<_>, HashSet<_>) = (left.into_iter().collect(), right.into_iter().collect());
    // Canonical forms take long, and equal sets have equal ones.
    if left == right {
        return;
    }
    let (left, right) = (canonical(left), canonical(right));
    if left != right {
        let only = |these: &[String], those: &[String]| {
            these.iter().filter(|line| !those.contains(line)).take(5).cloned().collect::<Vec<_>>().join("\n  ")
        };
        panic!("{what}:\n left only\n  {}\n right only\n  {}", only(&left, &right), only(&right, &left));
    }
}

/// All that an entry says, in one line: `NUMBER LINE:BYTE SENDER TIME latency=… session=… flags | BYTES`.
pub fn shown(entry: &Entry<'_>) -> String {
    let bytes = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\r', "␍").replace('\n', "␊");
    let place = |at: Location| format!("{} {}:{}", at.record, at.line, at.byte);
    match entry {
        Entry::LogLine(line) => format!("{} text | {}", place(line.location), bytes(&line.bytes)),
        Entry::Record(record) => {
            let sender = match record.sender {
                Some(Sender::Client) => "client",
                Some(Sender::Server) => "server",
                None => "-",
            };
            let time = record.time.map_or_else(|| "-".to_owned(), |time| time.to_string());
            let mut text = format!("{} {sender} {time}", place(record.location));
            if let Some(latency) = record.latency {
                text.push_str(&format!(" latency={latency}"));
            }
            if let Some(session) = &record.session {
                text.push_str(&format!(" session={session}"));
            }
            let flags = record.flags;
            for (flag, name) in [
                (flags.truncated, " truncated"),
                (flags.reconstructed, " reconstructed"),
                (flags.result_unknown, " result-unknown"),
                (flags.oversized, " oversized"),
            ] {
                text.push_str(if flag { name } else { "" });
            }
            assert!(flags.oversized || record.length == record.bytes.len() as u64);
            format!("{text} | {}", bytes(&record.bytes))
        }
    }
}
