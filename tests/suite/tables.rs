//! Tables of messages: what is in them, how they get to their place, and what other engines make of them.
//!
//! Those engines are Python's: `RPCGRAPH_TABLES` names a Python that has DuckDB, pyarrow, morph-kgc and
//! opentelemetry-proto, `RPCGRAPH_SPARK` one that has pyspark. Tests that need them are ignored.

mod spans;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;

use parquet::basic::Compression;
use parquet::column::reader::ColumnReader;
use parquet::data_type::{BoolType, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::FileReader as _;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::printer::print_schema;
use rpcgraph::query::catalogue::{CATALOGUE, NamedQuery, names_with_sql};
use rpcgraph::rebuild::TableLogs;
use rpcgraph::record::Step;

use crate::cli::{BASE, LOG, Place};
use crate::support::{files, logs, own, tool};

const TABLES: [&str; 4] = ["messages.parquet", "problems.parquet", "sessions.parquet", "latencies.parquet"];
/// The tables from which a log is rebuilt.
const REBUILT: [&str; 3] = ["messages.parquet", "problems.parquet", "sessions.parquet"];

/// The cells of a table that are not null, row by row, as they are printed.
pub fn rows(table: &Path) -> Vec<BTreeMap<String, String>> {
    let reader = SerializedFileReader::new(File::open(table).expect("a table")).expect("Parquet");
    let rows = reader.into_iter().map(|row| row.expect("a row").into_columns());
    let printed = rows.map(|cells| cells.into_iter().map(|(name, cell)| (name, cell.to_string())));
    printed.map(|cells| cells.filter(|(_, cell)| cell != "null").collect()).collect()
}

/// The cells of a row under these columns; `-` where there is none.
fn cells<'c>(row: &'c BTreeMap<String, String>, columns: &[&str]) -> Vec<&'c str> {
    columns.iter().map(|column| row.get(*column).map_or("-", |cell| cell.trim_matches('"'))).collect()
}

#[test]
fn messages_are_rows() {
    let place = Place::with("log", LOG);
    let ran = place.convert(&["log", "--base", BASE, "-t", "parquet", "-o", "tables", "--provenance"]);
    ran.said(0, "5 records (json-lines): 2 requests, 1 notification, 1 response, 1 error response\n").printed_nothing();
    let messages = rows(&place.path("tables/messages.parquet"));
    let columns = ["message", "kind", "method", "request_method", "id_kind", "id_number", "error_code", "error_kind"];
    let found: Vec<_> = messages.iter().map(|row| cells(row, &columns)).collect();
    assert_eq!(
        found,
        [
            ["m1", "Request", "subtract", "-", "Number", "1", "-", "-"],
            ["m2", "Response", "-", "subtract", "Number", "1", "-", "-"],
            ["m3", "Notification", "note", "-", "-", "-", "-", "-"],
            ["m4", "Request", "no", "-", "String", "-", "-", "-"],
            ["m5", "ErrorResponse", "-", "no", "String", "-", "-32601", "MethodNotFound"],
        ]
    );
    let columns = ["id_iri", "responds_to", "result", "line", "byte_offset", "size_bytes", "source"];
    let (id, request) = (format!("{BASE}#m1-id"), format!("{BASE}#m1"));
    assert_eq!(cells(&messages[1], &columns), [&id, &request, "19", "2", "62", "36", "log"]);
    let sessions = rows(&place.path("tables/sessions.parquet"));
    assert_eq!(cells(&sessions[0], &["session_iri", "format", "record_count"]), [BASE, "json-lines", "5"]);
    assert!(rows(&place.path("tables/problems.parquet")).is_empty());
}

#[test]
fn times_are_exact() {
    let log = concat!(
        r#"{"timestamp":"2026-01-05T10:00:00.1234567+02:00","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}}"#,
        "\n",
        r#"{"timestamp":"2026-01-05T08:00:01.1234568Z","message":{"jsonrpc":"2.0","id":1,"result":{"isError":true}}}"#,
        "\n"
    );
    let place = Place::with("log", log);
    let envelope = "message=/message time=/timestamp";
    place.convert(&["log", "--envelope", envelope, "-t", "parquet", "-o", "tables", "--quiet"]).quietly();
    let messages = rows(&place.path("tables/messages.parquet"));
    let columns = ["time_text", "latency_s", "latency_text", "request_tool", "is_error"];
    assert_eq!(cells(&messages[0], &columns), ["2026-01-05T10:00:00.1234567+02:00", "-", "-", "-", "-"]);
    assert_eq!(
        cells(&messages[1], &columns),
        ["2026-01-05T08:00:01.1234568Z", "1.000000100", "1.0000001", "t", "true"]
    );
    assert!(messages[0]["time"].starts_with("2026-01-05 08:00:00"), "{messages:?}");
}

#[test]
fn a_folder_appears_as_a_whole() {
    let place = Place::with("log", LOG);
    let convert = ["log", "-t", "parquet", "--quiet", "-o", "tables"];
    place.convert(&convert).quietly();
    assert_eq!(place.names(), ["log", "tables"]);
    let names = || -> BTreeSet<_> {
        let entries = fs::read_dir(place.path("tables")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    assert_eq!(names(), BTreeSet::from(TABLES.map(str::to_owned)));
    // Again, in place of those; not in place of anything else.
    place.put("log", LOG.repeat(2));
    place.convert(&convert).quietly();
    assert_eq!(rows(&place.path("tables/messages.parquet")).len(), 10);
    place.put("tables/own", "");
    place.convert(&convert).began(2, "error: cannot write tables: the folder holds \"own\"");
    fs::remove_file(place.path("tables/own")).unwrap();
    let before = place.read("tables/messages.parquet");
    place.put("log", "[]\n{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n");
    place.convert(&[&convert[..], &["--strict"]].concat()).began(1, "log:1: record 1 at byte 0: a batch without");
    place.convert(&[&convert[..], &["missing"]].concat()).began(2, "error: cannot read missing");
    assert_eq!((place.names(), place.read("tables/messages.parquet")), (vec!["log".into(), "tables".into()], before));
}

/// Readers of tables that are being replaced see either the old or the new ones.
#[test]
#[cfg(unix)]
fn tables_are_read_while_they_are_replaced() {
    let place = Place::with("log", LOG);
    let convert = |log: String| {
        place.put("log", log);
        place.convert(&["log", "-t", "parquet", "--quiet", "-o", "tables"]).quietly();
    };
    convert(LOG.to_owned());
    let folder = place.path("tables");
    let count = |tables: &Arc<TableLogs>| {
        let mut input = tables.input(0, 1 << 20).expect("tables that belong together").expect("a log");
        let mut count = 0;
        while let Step::Entry { .. } = input.read.decoder.step(&[], true) {
            count += 1;
        }
        assert_eq!(input.read.decoder.failure(), None);
        count
    };
    let old = Arc::new(TableLogs::open(&folder).expect("tables"));
    thread::scope(|scope| {
        let writer = scope.spawn(|| (1..8).for_each(|times| convert(LOG.repeat(1 + times % 2))));
        while !writer.is_finished() {
            let read = Arc::new(TableLogs::open(&folder).expect("tables"));
            assert!([5, 10].contains(&count(&read)));
        }
    });
    assert_eq!(count(&old), 5);
}

#[test]
fn unsupported_tables_are_refused() {
    let place = Place::with("log", LOG);
    place.put("c.jsonld", r#"{"@context":{}}"#);
    place.convert(&["log", "-t", "parquet"]).began(2, "error: tables are files in a folder");
    for option in [&["-m", "bblock"][..], &["-c", "c.jsonld"], &["--follow"]] {
        let arguments = [&["log", "-t", "parquet", "-o", "tables"], option].concat();
        place.convert(&arguments).began(2, "error: tables are of whole sessions");
    }
    place.convert(&["log", "-t", "parquet", "-o", "."]).began(2, "error: log is in the folder that would be replaced");
}

/// Queries over tables have the same answers as over their logs: the graph is the same.
#[test]
fn tables_are_asked_as_their_logs() {
    for ending in
        ["messages.ndjson", "not-json.txt", "edge.log", "edge.json", "typical.log", "typical.io", "plain.ndjson"]
    {
        // Its second `initialize` goes the other way than the first, and tables have senders, but not directions.
        let is_told = |log: &&PathBuf| !log.ends_with("vscode-lsp-text/edge.log");
        let all: Vec<_> = logs(ending).into_iter().filter(|log| is_told(&log)).collect();
        for some in all.chunks(100) {
            let some: Vec<_> = some.iter().map(|log| log.to_str().expect("text")).collect();
            let place = Place::new();
            let convert =
                |inputs: &[&str], more: &[&str]| place.convert(&[&["--quiet", "--log-lines"], more, inputs].concat());
            // Inputs that are not logs are reported each time, and do not stop the others.
            assert!(convert(&some, &["-t", "parquet", "-o", "tables"]).status <= Some(1), "{some:?}");
            let lines = |inputs: &[&str]| -> BTreeSet<String> {
                let ran = convert(inputs, &["-t", "nquads"]);
                assert!(ran.status <= Some(1), "{}", ran.stderr);
                ran.text().lines().map(str::to_owned).collect()
            };
            let (expected, found) = (lines(&some), lines(&["tables"]));
            let differences: Vec<_> = expected.symmetric_difference(&found).take(10).collect();
            assert!(differences.is_empty(), "{ending}: {differences:#?}");
        }
    }
}

/// Data that tables lack is not invented, and missing rows are reported.
#[test]
fn tables_are_whole_or_refused() {
    let place = Place::with("log", LOG);
    place.convert(&["log", "-t", "parquet", "-o", "tables", "--quiet"]).quietly();
    let no_bytes =
        "error: tables has messages and not the bytes of logs: ask the logs for lines, offsets and digests\n";
    place.convert(&["tables", "--provenance"]).began(2, no_bytes);
    place.run(&["query", "tables", "-q", "SELECT * { ?m rpcg:line ?line }"]).began(2, no_bytes);
    place.convert(&["tables", "--base", BASE]).began(2, "error: tables has the IRIs of its sessions: leave out --base");
    place.convert(&["tables", "--follow"]).began(2, "error: tables is a folder of tables, which do not grow: ");
    for command in [&["report", "tables", "-o", "page.html"][..], &["detect", "tables"]] {
        place.run(command).began(2, "error: tables is a folder of tables, and here logs are read: name the logs\n");
    }
    for (log, said) in [
        (LOG.repeat(2), "log has 5 records, not 10\n"),
        (LOG.lines().take(2).collect::<Vec<_>>().join("\n"), "log has 5 records, not 2\n"),
    ] {
        place.put("log", log);
        place.convert(&["log", "-t", "parquet", "-o", "other", "--quiet"]).quietly();
        fs::copy(place.path("other/sessions.parquet"), place.path("tables/sessions.parquet")).unwrap();
        let ran = place.convert(&["tables", "--quiet", "-t", "nquads"]);
        assert!(
            ran.status == Some(2) && ran.stderr.contains("rows are missing, or not in the order"),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}

/// Writes a table once more, compressed with Snappy as other programs do.
fn write_with_snappy(table: &Path) {
    let reader = SerializedFileReader::new(File::open(table).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema().clone();
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut out = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut out, Arc::new(schema), Arc::new(properties)).unwrap();
    for group in 0..reader.num_row_groups() {
        let read = reader.get_row_group(group).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for column in 0..read.num_columns() {
            let mut writer = group.next_column().unwrap().unwrap();
            macro_rules! copy {
                ($reader:expr, $kind:ty) => {{
                    let (mut levels, mut values) = (Vec::new(), Vec::new());
                    $reader.read_records(usize::MAX, Some(&mut levels), None, &mut values).unwrap();
                    let levels = (!levels.is_empty()).then_some(&levels[..]);
                    writer.typed::<$kind>().write_batch(&values, levels, None).unwrap();
                }};
            }
            match read.get_column_reader(column).unwrap() {
                ColumnReader::ByteArrayColumnReader(mut reader) => copy!(reader, ByteArrayType),
                ColumnReader::Int64ColumnReader(mut reader) => copy!(reader, Int64Type),
                ColumnReader::BoolColumnReader(mut reader) => copy!(reader, BoolType),
                _ => panic!("no such column is written"),
            }
            writer.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    fs::write(table, out).unwrap();
}

/// A table without rows that has other columns.
fn write_with_schema(table: &Path, change: impl Fn(String) -> String) {
    let reader = SerializedFileReader::new(File::open(table).unwrap()).unwrap();
    let mut schema = Vec::new();
    print_schema(&mut schema, reader.metadata().file_metadata().schema());
    let schema = parse_message_type(&change(String::from_utf8(schema).unwrap())).unwrap();
    let file = File::create(table).unwrap();
    SerializedFileWriter::new(file, Arc::new(schema), Arc::default()).unwrap().close().unwrap();
}

#[test]
fn tables_of_other_programs() {
    let place = Place::with("log", LOG);
    place.convert(&["log", "-t", "parquet", "-o", "tables", "--quiet"]).quietly();
    let before = place.convert(&["tables", "--quiet", "-t", "nquads"]);
    TABLES.iter().for_each(|table| write_with_snappy(&place.path(&format!("tables/{table}"))));
    let after = place.convert(&["tables", "--quiet", "-t", "nquads"]);
    assert_eq!(after.quietly().text(), before.quietly().text());
    for (table, column, columns, said) in [
        ("messages", "REQUIRED INT64 seq;", "REQUIRED INT32 seq;", "the column seq has another type"),
        ("sessions", "record_count;", "record_count; OPTIONAL INT64 record_count;", "it has two columns record_count"),
        ("problems", "problem (STRING);", "other (STRING);", "the column problem is missing"),
    ] {
        place.convert(&["log", "-t", "parquet", "-o", "tables", "--quiet"]).quietly();
        write_with_schema(&place.path(&format!("tables/{table}.parquet")), |schema| {
            assert!(schema.contains(column), "{schema}");
            schema.replace(column, columns)
        });
        let said = format!(
            "error: cannot read tables: it is not the table of {table} that `convert -t parquet` writes: {said}\n"
        );
        place.run(&["errors", "tables"]).said(2, &said);
    }
    for table in REBUILT {
        place.convert(&["log", "-t", "parquet", "-o", "tables", "--quiet"]).quietly();
        fs::remove_file(place.path(&format!("tables/{table}"))).unwrap();
        place.run(&["errors", "tables"]).began(2, &format!("error: cannot read tables: {table}: No such file"));
    }
}

#[test]
fn cells_over_the_size_limit_are_refused() {
    let place = Place::with("log", format!("{{\"id\":1,\"method\":\"m\",\"params\":[\"{}\"]}}\n", "x".repeat(2_000)));
    place.convert(&["log", "-t", "parquet", "-o", "tables", "--quiet"]).quietly();
    let said = "error: cannot read tables: a cell in the column params has 2004 bytes, more than \
                --max-record-size allows (1024)\n";
    place.run(&["methods", "tables", "--max-record-size", "1K"]).began(2, said);
    place.run(&["methods", "tables", "--max-record-size", "2004", "--quiet"]).quietly();
}

/// Reads the logs of a folder of tables; the first error ends it.
fn read_tables(folder: &Path) -> Result<u64, String> {
    let tables = Arc::new(TableLogs::open(folder).map_err(|error| error.to_string())?);
    let mut count = 0;
    for place in 0.. {
        let Some(mut input) = tables.input(place, 1 << 20).map_err(|error| error.to_string())? else { break };
        while let Step::Entry { .. } = input.read.decoder.step(b"", true) {
            count += 1;
        }
        if let Some(failure) = input.read.decoder.failure() {
            return Err(failure);
        }
    }
    Ok(count)
}

/// Any damage is an error or changes a value, whatever the Parquet library makes of it.
#[test]
fn damaged_tables_are_errors() {
    let place = Place::with("log", LOG);
    place.convert(&["log", "-t", "parquet", "-o", "tables", "--quiet"]).quietly();
    let folder = place.path("tables");
    assert_eq!(read_tables(&folder), Ok(5));
    for table in REBUILT {
        let path = folder.join(table);
        let whole = fs::read(&path).unwrap();
        let (mut tried, mut refused) = (0, 0);
        let mut read = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            let failure = read_tables(&folder).err();
            assert!(failure.as_ref().is_none_or(|failure| !failure.is_empty()));
            (tried, refused) = (tried + 1, refused + usize::from(failure.is_some()));
            failure
        };
        let step = if whole.len() < 1000 { 1 } else { 37 };
        for at in (0..whole.len()).step_by(step) {
            for change in [0xff, 0x80, 0x01, 0x5f] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                read(&bytes);
            }
            let cut = read(&whole[..at]);
            assert!(cut.is_some(), "{table} of {at} bytes is read");
        }
        assert!(refused > tried / 3, "{table}: {refused} of {tried}");
        fs::write(&path, whole).unwrap();
    }
}

/// The command prints the error, and no panic.
#[test]
fn a_damaged_table_is_a_message() {
    let place = Place::with("log", LOG);
    place.convert(&["log", "-t", "parquet", "-o", "tables", "--quiet"]).quietly();
    let path = place.path("tables/messages.parquet");
    let whole = fs::read(&path).unwrap();
    let mut panics = 0;
    for at in (4..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        fs::write(&path, bytes).unwrap();
        let ran = place.run(&["convert", "tables", "-t", "nquads", "--quiet"]);
        let said = String::from_utf8_lossy(ran.stderr.as_bytes()).into_owned();
        assert!(!said.contains("panicked"), "{at}: {said}");
        if ran.status != Some(0) {
            assert!(ran.status == Some(2) && said.starts_with("error: "), "{at}: {said}");
            panics += 1;
        }
    }
    assert!(panics > 10, "{panics}");
}

#[test]
fn threads_change_nothing() {
    let line = |number: u32| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"m{}\"}}\n{{\"jsonrpc\":\"2.0\",\"id\":{number},\"result\":{number}}}\n",
            number % 7
        )
    };
    let log: String = (0..20_000).map(line).collect();
    let place = Place::with("log", log);
    for (jobs, folder) in [("1", "one"), ("4", "four")] {
        place.convert(&["log", "--jobs", jobs, "-t", "parquet", "--quiet", "-o", folder]).quietly();
    }
    for table in TABLES {
        let read = |folder: &str| place.read(&format!("{folder}/{table}"));
        assert!(read("one") == read("four"), "{table}");
    }
    let messages = rows(&place.path("one/messages.parquet"));
    let answers = messages.iter().filter(|row| row["kind"] == "\"Response\"");
    assert!(answers.clone().all(|row| row.contains_key("request_method")));
    assert_eq!((messages.len(), answers.count()), (40_000, 20_000));
    let rebuilt = place.run(&["rebuild", "one"]);
    assert_eq!(rebuilt.text().lines().count(), 40_000);
}

/// Two answers with times before their requests, so that latencies are corrected.
const SKEWED: &str = r#"{"ts":"2026-03-10T09:00:10Z","dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sum"}}}
{"ts":"2026-03-10T09:00:08.3Z","dir":"s2c","msg":{"jsonrpc":"2.0","id":1,"result":{"isError":true}}}
{"ts":"2026-03-10T09:00:20Z","dir":"c2s","msg":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sum"}}}
{"ts":"2026-03-10T09:00:18.4Z","dir":"s2c","msg":{"jsonrpc":"2.0","id":2,"result":{"content":[]}}}
"#;

/// A Python with engines that read tables.
fn python() -> PathBuf {
    tool("RPCGRAPH_TABLES", &[])
}

/// Runs a script of `tests/tables`, which says what is wrong.
fn judge(python: &Path, script: &str, arguments: &[PathBuf]) {
    let mut command = Command::new(python);
    let output = command.arg(own("tests/tables").join(script)).args(arguments).output().expect("Python");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    println!("{said}");
}

/// The mapping [`ontology/messages.r2rml.ttl`] of the tables gives the graph without protocols.
#[test]
#[ignore = "needs a Python with DuckDB, pyarrow, morph-kgc and opentelemetry-proto"]
fn table_engines_map_to_the_graph() {
    let python = python();
    let place = Place::with("skewed", SKEWED);
    let all = [logs("messages.ndjson"), logs("not-json.txt"), logs("edge.log"), logs("plain.ndjson")].concat();
    let all: Vec<_> = all.iter().map(|log| log.to_str().expect("text")).chain(["skewed"]).collect();
    let options = ["--quiet", "--protocol", "none", "--provenance", "--log-lines"];
    place.convert(&[&["-t", "parquet", "-o", "tables"], &options[..], &all].concat());
    place.convert(&[&["-o", "graph.nq"], &options[..], &all].concat());
    let arguments = [own("ontology/messages.r2rml.ttl"), place.path("tables"), place.path("graph.nq")];
    judge(&python, "mapping.py", &arguments);
}

#[test]
#[ignore = "needs a Python with DuckDB, pyarrow, morph-kgc and opentelemetry-proto"]
fn table_engines_read_what_was_written() {
    let python = python();
    let digits = "7".repeat(100);
    let mut log = format!("{{\"jsonrpc\":\"2.0\",\"id\":{digits},\"method\":\"m\",\"params\":null}}\n").into_bytes();
    log.extend_from_slice(b"{\"a\":\"\xff\"}\n");
    log.extend(
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"big\",\"params\":[\"{}\"]}}\n", "x".repeat(30 << 20)).bytes(),
    );
    log.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n");
    let place = Place::with("log", log);
    place.convert(&["log", "--base", BASE, "-t", "parquet", "--quiet", "-o", "tables"]);
    judge(&python, "engines.py", &[place.path("tables")]);
}

/// The named queries that have a twin give the same rows of tables in SQL.
fn twins_say_the_same(python: &Path, dialect: &str) {
    let place = Place::with("skewed", SKEWED);
    let some = ["mined-mcp-sdks", "eth-execution-apis", "examples-2026-07-28", "logs/mcp"];
    let mut all = logs("messages.ndjson");
    all.retain(|log| some.iter().any(|name| log.parent().expect("a folder").ends_with(name)));
    let own = ["plain.ndjson", "lsp.log", "mcp.jsonl", "edge.log"].map(logs).concat();
    all.extend([own, vec![place.path("errors"), place.path("skewed")]].concat());
    let all: Vec<_> = all.iter().map(|log| log.to_str().expect("text")).collect();
    // An error code that only MCP names.
    let code = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"no"}}"#;
    place.put("errors", format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}}\n{code}\n"));
    place.convert(&[&["--quiet", "-t", "parquet", "-o", "tables"], &all[..]].concat());
    for query in names_with_sql() {
        let sql = place.run(&["ask", query, "--sql", "--dialect", dialect]);
        place.put(&format!("{query}.sql"), sql.quietly().text());
        let rows = place.run(&[&["ask", query, "--quiet", "-t", "csv"], &all[..]].concat());
        place.put(&format!("{query}.csv"), rows.text());
    }
    judge(python, "twins.py", &[PathBuf::from(dialect), place.path("")]);
}

#[test]
#[ignore = "needs a Python with DuckDB, pyarrow, morph-kgc and opentelemetry-proto"]
fn table_engines_answer_the_twins() {
    let python = python();
    twins_say_the_same(&python, "duckdb");
}

#[test]
#[ignore = "needs a Python with pyspark"]
fn spark_answers_the_twins() {
    let python = tool("RPCGRAPH_SPARK", &[]);
    twins_say_the_same(&python, "spark");
}

/// Many logs in one place, by Spark: see `tests/tables/lake.py`.
#[test]
#[ignore = "needs a Python with pyspark"]
fn spark_finds_every_message_of_a_lake_once() {
    let python = tool("RPCGRAPH_SPARK", &[]);
    let place = Place::new();
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_rpcgraph"));
    judge(&python, "lake.py", &[binary, place.path(""), "30".into(), "50000".into()]);
}

#[test]
fn queries_are_printed_in_sql() {
    let place = Place::new();
    let print = |arguments: &[&str]| place.run(&[&["ask"], arguments].concat());
    let duckdb = print(&["problems", "--sql"]);
    assert!(duckdb.quietly().text().starts_with("-- Problems of the log: "), "{}", duckdb.text());
    assert_eq!(print(&["problems", "--sql", "--dialect", "spark"]).text(), duckdb.text());
    let printed = print(&["cancelled", "--sql", "--dialect", "spark"]);
    assert!(printed.text().contains(r#"get_json_object(params, "$['reason']") AS reason,"#), "{}", printed.text());
    let refused = "error: the columns of tables do not answer tools, since it counts definitions, which lists of tools repeat and change: ask it of";
    print(&["tools", "--sql"]).began(2, refused);
    let explained = CATALOGUE.iter().filter(|query| query.why_no_sql().is_some()).map(|query| query.name);
    assert_eq!(explained.chain(names_with_sql()).count(), CATALOGUE.len());
    assert!(names_with_sql().iter().all(|name| NamedQuery::find(name).unwrap().why_no_sql().is_none()));
    // A changed query is a reminder to check its SQL.
    let files = files(&own("examples/queries/sql"), ".sql");
    let names: BTreeSet<_> = files.iter().map(|file| file.file_stem().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, BTreeSet::from_iter(names_with_sql()));
}
