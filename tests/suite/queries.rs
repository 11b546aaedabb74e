//! The catalogue of queries: what each answers, that it answers at all, and that other ways come to the same answer.
//!
//! `tests/queries/` has five logs, and beside them what each query finds in all of them together, as CSV:
//! `mcp.jsonl` has two sessions with times and senders, `tools.jsonl` one whose tools change, `documents.jsonl` one of a
//! language server, `lsp.log` has times of day, `plain.ndjson` has neither and is broken in places.

mod documented;
mod metamorphic;
mod referee;
mod servers;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use oxigraph::store::Store;
use oxrdf::{Quad, Term};
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::query::catalogue::{CATALOGUE, NamedQuery};
use rpcgraph::query::results::{ResultsFormat, write_solutions};
use rpcgraph::query::{Answer, Cancel, Dataset, Query, Solutions, Table};
use rpcgraph::sink::Sink;

use crate::support::{files, needed_corpora, own};

const FOLDER: &str = "https://example.org/";

/// A log: its name, and its bytes.
type Log = (String, Vec<u8>);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/queries")
}

fn fixtures() -> Vec<Log> {
    let names = ["documents.jsonl", "gateway.ndjson", "lsp.log", "mcp.jsonl", "plain.ndjson", "tools.jsonl"];
    let path = |name: &str| match name {
        "gateway.ndjson" => folder().join("../../examples/gateway-session.ndjson"),
        name => folder().join(name),
    };
    names.map(|name| (name.to_owned(), fs::read(path(name)).expect("a log"))).into()
}

/// Converts logs, each to a session of its name.
fn convert(logs: &[Log], sink: &mut Sink<'_>) {
    let mut converter = Converter::new(Mapper::new(Mapping::Session, &[]).expect("contexts"), Options::default());
    for (name, bytes) in logs {
        let iri = format!("{FOLDER}{name}");
        let input = Input { name: name.clone(), source: name.clone(), iri, iri_stated: true, read: bytes.as_slice() };
        converter.convert(input, sink, &mut |_| {}).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

fn parse(query: &NamedQuery, parameters: &[(&str, &str)]) -> Query {
    let parameters: Vec<_> = parameters.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let text = query.with(&parameters, &[]).unwrap_or_else(|error| panic!("{}: {error}", query.name));
    Query::parse(&text, Some(FOLDER)).unwrap_or_else(|error| panic!("{}: {error}\n{text}", query.name))
}

/// Asks a query of logs as the command does: what it does not need is not loaded. In debug builds and on a machine that is
/// busy, none of them takes longer than this.
fn ask<T>(query: &Query, logs: &[Log], take: impl FnOnce(Solutions<'_>) -> T) -> T {
    let cancel = Cancel::default();
    cancel.after(Duration::from_secs(120));
    let dataset = Dataset::new(query, false).expect("a dataset");
    let mut loading = dataset.load(&cancel).expect("a transaction");
    convert(logs, &mut loading.sink());
    loading.commit().expect("loaded");
    match dataset.answer(query, &cancel).expect("an answer") {
        Answer::Solutions(solutions) => take(solutions),
        Answer::Boolean(_) | Answer::Graph(_) => panic!("a table is wanted"),
    }
}

/// Rows by column name, each with the N-Triples form of its values.
#[derive(Debug, Clone, PartialEq)]
struct Rows {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Rows {
    fn from_solutions(solutions: Solutions<'_>) -> Self {
        let columns = solutions.variables.iter().map(|variable| variable.as_str().to_owned()).collect();
        let rows = solutions.rows.map(|row| {
            let row = row.expect("a row");
            row.values().iter().map(|value| value.as_ref().map(Term::to_string).unwrap_or_default()).collect()
        });
        Self { columns, rows: rows.collect() }
    }

    fn index(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|name| name == column)
    }
}

fn rows(query: &NamedQuery, parameters: &[(&str, &str)], logs: &[Log]) -> Rows {
    ask(&parse(query, parameters), logs, Rows::from_solutions)
}

/// The characters of a term, without what is around them.
fn value(term: &str) -> &str {
    let inside = term.strip_prefix('<').and_then(|term| term.strip_suffix('>'));
    let quoted = || term.strip_prefix('"').and_then(|term| Some(term.rsplit_once('"')?.0));
    inside.or_else(quoted).unwrap_or(term)
}

#[test]
fn every_query_finds_what_is_in_the_logs() {
    let logs = fixtures();
    let mut wrong = Vec::new();
    let mut expected: BTreeSet<_> = files(&folder(), ".csv").into_iter().collect();
    let queries = CATALOGUE.iter().map(|query| (query, Vec::new()));
    let sides = [(NamedQuery::find("compare").expect("compare"), vec![("one", "mcp.jsonl")])];
    for (query, parameters) in queries.chain(sides) {
        let names: String = parameters.iter().map(|(name, _)| format!(".{name}")).collect();
        let path = folder().join(format!("{}{names}.csv", query.name));
        let mut csv = Vec::new();
        ask(&parse(query, &parameters), &logs, |solutions| {
            write_solutions(solutions, ResultsFormat::Csv, &Table::default(), &mut csv).expect("rows")
        });
        let found = String::from_utf8(csv).expect("text").replace("\r\n", "\n");
        expected.remove(&path);
        if fs::read_to_string(&path).unwrap_or_default() != found {
            println!("{}:\n{found}", path.display());
            wrong.push(path);
        }
    }
    assert!(wrong.is_empty(), "other rows than in {wrong:#?}");
    assert!(expected.is_empty(), "nobody compares {expected:#?}");
}

/// Escape sequences of JSON are decoded, and text that only resembles them is kept.
#[test]
fn the_text_of_a_failed_tool_can_be_read() {
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
    for (content, error) in [
        (
            r#"[{"type":"text","text":"no \"luck\"\n\tin C:\\new\\\\\"text\":\"é\""}]"#,
            "no \"luck\"\n\tin C:\\new\\\\\"text\":\"é\"",
        ),
        (r#"[{"type":"image","data":"AA==","mimeType":"a/b"},{"type":"text","text":"second"}]"#, "second"),
        ("[]", r#"{"content":[],"isError":true}"#),
    ] {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":{content},"isError":true}}}}"#);
        let log = ("log.ndjson".to_owned(), format!("{request}\n{answer}\n").into_bytes());
        let found = ask(&parse(NamedQuery::find("errors").expect("a query"), &[]), &[log], |mut solutions| {
            solutions.rows.next().expect("a row").expect("a row").get("error").cloned()
        });
        assert_eq!(found, Some(oxrdf::Literal::from(error).into()));
    }
}

/// However many requests have the id that is taken back, each notification finds the one before it: in a time that grows
/// with their number, not with its square.
#[test]
fn ids_that_are_taken_back_often() {
    for (count, ids) in [(12_000, 1), (6_000, 2_000)] {
        let pair = |nth: usize| {
            let id = nth % ids;
            format!(
                "{{\"id\":{id},\"method\":\"tools/list\"}}\n\
                 {{\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}\n"
            )
        };
        let log = ("log.ndjson".to_owned(), (0..count).map(pair).collect::<String>().into_bytes());
        let found = rows(NamedQuery::find("cancelled").expect("a query"), &[], &[log]);
        let [message, request] = ["message", "request"].map(|column| found.index(column).expect("a column"));
        assert_eq!(found.rows.len(), count);
        for (nth, row) in (1..).zip(&found.rows) {
            let names = [2 * nth, 2 * nth - 1].map(|record| format!("<{FOLDER}log.ndjson#m{record}>"));
            assert_eq!([&row[message], &row[request]], [&names[0], &names[1]]);
        }
    }
}

/// A limit leaves the first rows.
#[test]
fn limits_leave_the_first_rows() {
    let logs = fixtures();
    let mut limited = 0;
    for query in CATALOGUE.iter().filter(|query| query.parameters().contains(&"limit")) {
        // More rows than there are.
        let all = rows(query, &[("limit", "1000")], &logs);
        for limit in ["0", "1", "3"] {
            let first = rows(query, &[("limit", limit)], &logs);
            let count: usize = limit.parse().expect("a number");
            assert_eq!(first.rows, all.rows[..count.min(all.rows.len())], "{} limit={limit}", query.name);
            limited += 1;
        }
    }
    assert!(limited > 40, "{limited}");
    // None of these logs has kept text between messages.
    let timeline = NamedQuery::find("timeline").expect("timeline");
    assert_eq!(rows(timeline, &[("lines", "yes")], &logs), rows(timeline, &[], &logs));
}

/// Triples that a query does not need are not loaded. With all triples, as in a store, it has the same answer.
#[test]
fn everything_else_makes_no_difference() {
    let mut all = Vec::<Quad>::new();
    let logs = [fixtures(), referee::logs(2_000)].concat();
    convert(&logs, &mut Sink::quads(&mut all));
    let store = Store::new().expect("a store");
    store.extend(all).expect("quads");
    let stored = Dataset::stored(store);
    for query in CATALOGUE {
        let parsed = parse(query, &[]);
        let Answer::Solutions(solutions) = stored.answer(&parsed, &Cancel::default()).expect("an answer") else {
            panic!("{}: a table is wanted", query.name)
        };
        let (everything, selected) = (Rows::from_solutions(solutions), ask(&parsed, &logs, Rows::from_solutions));
        assert!(!selected.rows.is_empty(), "{}", query.name);
        assert_eq!(everything, selected, "{}", query.name);
    }
    // Items are read from a copy in columns; Oxigraph evaluates this form.
    let text = "CONSTRUCT { ?m rpcg:value ?item } { ?m jrpc:hasParameters ?params . ?params rpcg:member ?item }";
    let items = Query::parse(text, None).expect("a query");
    let Answer::Graph(triples) = stored.answer(&items, &Cancel::default()).expect("an answer") else {
        panic!("a graph is wanted")
    };
    assert!(triples.count() > 100);
}

#[test]
fn every_query_over_every_own_log() {
    let own_rows =
        rows_of_all(&own("tests"), &[("logs", ""), ("queries", ".jsonl"), ("queries", ".log"), ("queries", ".ndjson")]);
    assert!(own_rows > 100, "{own_rows}");
}

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn every_query_over_every_log_of_the_corpora() {
    let corpora = needed_corpora();
    let folders = [
        ("", "messages.ndjson"),
        ("eth-execution-apis", ".io"),
        ("jsonrpc-spec-examples", "spec-section7.txt"),
        ("lsp-haskell-sessions/raw", ".log"),
        ("lsp-inspector/fixture", ".log"),
        ("lsp-inspector/fixture", ".json"),
        ("mcp-rust-sdk/raw", ".json"),
    ];
    let found = rows_of_all(&corpora, &folders);
    assert!(found > 3_000, "{found}");
}

/// The number of rows of all queries over the logs below folders, given by folder and name ending.
fn rows_of_all(root: &Path, folders: &[(&str, &str)]) -> usize {
    let mut found = 0;
    for (folder, ending) in folders {
        let named = |path: PathBuf| {
            let name = path.strip_prefix(root).expect("below").to_string_lossy().replace(' ', "%20");
            (name, fs::read(&path).expect("a log"))
        };
        let logs: Vec<_> = files(&root.join(folder), ending).into_iter().map(named).collect();
        assert!(!logs.is_empty(), "{folder}/**{ending}");
        for query in CATALOGUE {
            found += rows(query, &[], &logs).rows.len();
        }
    }
    found
}
