//! The same messages, given in another way, have the same answers.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use oxrdf::Quad;
use rpcgraph::convert::{Converter, Options};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::query::catalogue::{CATALOGUE, NamedQuery};
use rpcgraph::query::{Answer, Cancel, Dataset, Loading};
use rpcgraph::rebuild::TableLogs;
use rpcgraph::sink::{Sink, Tables};

use super::{FOLDER, Log, Rows, convert, fixtures, parse, rows};

/// The questions whose rows differ between logs and what `load` loads.
fn differing(logs: &[Log], overlapping: bool, load: impl Fn(&mut Loading<'_>)) -> Vec<&'static str> {
    let differs = |query: &&NamedQuery<'_>| {
        let parsed = parse(query, &[]);
        let dataset = Dataset::new(&parsed, overlapping).expect("a dataset");
        let mut loading = dataset.load(&Cancel::default()).expect("a start");
        load(&mut loading);
        loading.commit().expect("an end");
        let Ok(Answer::Solutions(solutions)) = dataset.answer(&parsed, &Cancel::default()) else { panic!("rows") };
        Rows::from_solutions(solutions) != rows(query, &[], logs)
    };
    CATALOGUE.iter().filter(differs).map(|query| query.name).collect()
}

/// Columns that count or number the records of a log, or depend on its end.
const NUMBERS: [(&str, &str); 7] = [
    ("overview", "first"),
    ("unanswered", "after"),
    ("unanswered", "waited"),
    ("repeated-ids", "first"),
    ("repeated-ids", "last"),
    ("progress", "first"),
    ("progress", "last"),
];

/// The questions whose rows differ, apart from the names of logs and the numbers of records.
fn differing_but_for_names(one: &[Log], other: &[Log]) -> Vec<&'static str> {
    let differs = |query: &&NamedQuery<'_>| anonymous(query, one) != anonymous(query, other);
    CATALOGUE.iter().filter(differs).map(|query| query.name).collect()
}

/// Rows in an order of their own, without the names of logs and the numbers of records.
fn anonymous(query: &NamedQuery<'_>, logs: &[Log]) -> Vec<Vec<String>> {
    let found = rows(query, &[], logs);
    let numbers = NUMBERS.iter().filter(|(question, _)| *question == query.name);
    let numbers: Vec<_> = numbers.filter_map(|(_, column)| found.index(column)).collect();
    let mut found = found.rows;
    found.iter_mut().for_each(|row| numbers.iter().for_each(|column| row[*column].clear()));
    for cell in found.iter_mut().flatten() {
        for (name, _) in logs {
            *cell = cell.replace(&format!("{FOLDER}{name}"), "").replace(name, "");
        }
        let mut parts = cell.split("#m").map(str::to_owned).collect::<Vec<_>>();
        for part in parts.iter_mut().skip(1) {
            *part = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned();
        }
        *cell = parts.join("#m");
    }
    found.sort_unstable();
    found
}

#[test]
fn compressed_logs() {
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 1).expect("zstd");
    let gzip = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("gzip");
        encoder.finish().expect("gzip")
    };
    for compress in [&zstd as &dyn Fn(&[u8]) -> Vec<u8>, &gzip] {
        let compressed: Vec<Log> = fixtures().into_iter().map(|(name, bytes)| (name, compress(&bytes))).collect();
        assert_eq!(differing(&fixtures(), false, |loading| convert(&compressed, &mut loading.sink())), [""; 0]);
    }
}

#[test]
fn graphs_and_tables_of_logs() {
    let logs = fixtures();
    let mut quads = Vec::<Quad>::new();
    convert(&logs, &mut Sink::quads(&mut quads));
    let from_graph = |loading: &mut Loading<'_>| quads.iter().for_each(|quad| loading.insert(quad.as_ref()));
    assert_eq!(differing(&logs, true, from_graph), [""; 0]);

    let folder = tempfile::tempdir().expect("a folder");
    let mut tables = Tables::create(folder.path()).expect("a folder");
    let mut sink = tables.sink();
    convert(&logs, &mut sink);
    sink.finish().expect("tables");
    drop(sink);
    tables.finish().expect("tables");
    let tables = Arc::new(TableLogs::open(folder.path()).expect("tables"));
    let from_tables = |loading: &mut Loading<'_>| {
        let mut converter = Converter::new(Mapper::new(Mapping::Session, &[]).expect("contexts"), Options::default());
        for place in 0..tables.iris().count() {
            let input = tables.input(place, 1 << 20).expect("tables").expect("a log");
            converter.convert_entries(input, &mut loading.sink(), &mut |_| {}).expect("a conversion");
        }
    };
    assert_eq!(differing(&logs, false, from_tables), [""; 0]);
}

/// Of Docker and of Kubernetes; the times are those inside.
#[test]
fn wrapped_logs() {
    let logs = fixtures().into_iter().filter(|(name, _)| name.ends_with(".jsonl")).collect::<Vec<_>>();
    let docker = |line: &str| {
        let text = serde_json::Value::from(format!("{line}\n"));
        format!("{{\"log\":{text},\"stream\":\"stdout\",\"time\":\"2026-01-05T10:00:00.123456789Z\"}}\n")
    };
    let kubernetes = |line: &str| format!("2026-01-05T10:00:00.123456789Z stdout F {line}\n");
    for wrap in [&docker as &dyn Fn(&str) -> String, &kubernetes] {
        let wrapped = logs.iter().map(|(name, bytes)| {
            let text = String::from_utf8(bytes.clone()).expect("text");
            (name.clone(), text.lines().map(wrap).collect::<String>().into_bytes())
        });
        let wrapped: Vec<Log> = wrapped.collect();
        assert_eq!(differing(&logs, false, |loading| convert(&wrapped, &mut loading.sink())), [""; 0]);
    }
}

/// Sessions that alternate, follow each other, or have a log each give the same rows.
#[test]
fn sessions_apart() {
    let (name, bytes) = fixtures().into_iter().find(|(name, _)| name == "mcp.jsonl").expect("a log");
    let text = String::from_utf8(bytes).expect("text");
    let key = |line: &str| Some(line.split_once("\"session_id\":\"")?.1.split('"').next()?.to_owned());
    let keyed: Vec<(String, &str)> = text.lines().filter_map(|line| Some((key(line)?, line))).collect();
    let keys: BTreeSet<&String> = keyed.iter().map(|(key, _)| key).collect();
    assert!(keys.len() > 1);
    let of = |wanted: &str| -> String {
        let lines = keyed.iter().filter(|(key, _)| key == wanted);
        lines.map(|(_, line)| format!("{line}\n")).collect()
    };
    let all: String = keyed.iter().map(|(_, line)| format!("{line}\n")).collect();
    let in_turns = [(name.clone(), all.into_bytes())];
    let in_a_row = [(name, keys.iter().rev().map(|key| of(key)).collect::<String>().into_bytes())];
    assert_eq!(differing_but_for_names(&in_turns, &in_a_row), [""; 0]);
    let cut: Vec<Log> = keys.iter().map(|key| (format!("{key}.jsonl"), of(key).into_bytes())).collect();
    assert_eq!(differing_but_for_names(&in_turns, &cut), [""; 0]);
}

/// A session whose log is cut in two where no request is open. It counts as two then, and what only its first part says is
/// not known of the second.
#[test]
fn a_session_cut_in_two() {
    let (_, bytes) = fixtures().into_iter().find(|(name, _)| name == "mcp.jsonl").expect("a log");
    let text = String::from_utf8(bytes).expect("text");
    let lines: Vec<_> = text.split_inclusive('\n').filter(|line| line.contains("\"session_id\":\"a1\"")).collect();
    let (first, second) = lines.split_at(11);
    assert!(first.last().is_some_and(|line| line.contains("\"id\":\"x-4\",\"error\"")));
    let whole = [("whole.jsonl".to_owned(), lines.concat().into_bytes())];
    let cut =
        [("1.jsonl".to_owned(), first.concat().into_bytes()), ("2.jsonl".to_owned(), second.concat().into_bytes())];
    // They count sessions, what is in each, or what was agreed on in one against what is used in it.
    let counting = ["sessions", "overview", "in-flight", "repeated-ids", "compare", "capabilities", "cost"];
    // They name the server, which only the first part knows.
    let naming = ["errors", "slowest", "unanswered"];
    let differing = differing_but_for_names(&whole, &cut);
    let unexpected: Vec<_> =
        differing.iter().filter(|name| !counting.contains(name) && !naming.contains(name)).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
}
