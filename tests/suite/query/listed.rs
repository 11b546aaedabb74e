//! Lists of messages that are written while a log is read have the rows of their queries.

use std::fs;
use std::path::PathBuf;

use rpcgraph::query::catalogue::NamedQuery;
use rpcgraph::query::{Answer, Cancel, Dataset, Listed, Listing, Query, QuerySolution};

use super::drawn::convert;
use crate::cli::{LOG, Place};
use crate::support::{corpora, logs};

/// The size in bytes from which a log is left out.
const LARGE: usize = 150_000;

/// Returns the rows of the query, and of the listing; nothing if the file is not a log.
fn rows(log: &[u8], name: &str) -> Option<[Vec<QuerySolution>; 2]> {
    let query = NamedQuery::find(name).expect("a query");
    let listing = Listing::from_query(query).expect("a listing");
    let parameters: &[(String, String)] = &[("lines".to_owned(), "yes".to_owned())];
    let parameters = if query.parameters().contains(&"lines") { parameters } else { &[] };
    let text = query.with(parameters, &[]).expect("parameters");
    let query = Query::parse(&text, None).expect("a query");

    let dataset = Dataset::new(&query, false).expect("a dataset");
    let mut loading = dataset.load(&Cancel::default()).expect("a dataset");
    convert(log, &mut loading.sink()).ok()?;
    loading.commit().expect("a dataset");
    let Ok(Answer::Solutions(solutions)) = dataset.answer(&query, &Cancel::default()) else { panic!("{name}: rows") };
    let evaluated = solutions.rows.collect::<Result<_, _>>().expect("rows");

    let mut passed = Vec::new();
    let cancel = Cancel::default();
    let mut listed = Listed::new(listing, &query, None, &cancel, |rows| {
        passed.extend(rows);
        Ok(())
    });
    convert(log, &mut listed.sink()).expect("the same log");
    listed.finish().expect("rows");
    Some([evaluated, passed])
}

#[test]
fn a_list_of_messages_has_the_rows_of_its_query() {
    let mut compared = 0;
    // From the corpora, only logs of real programs are compared: there are many logs of each other kind.
    let is_taken = |path: &PathBuf| match corpora() {
        Some(corpora) if path.starts_with(&corpora) => {
            ["real", "public-logs"].iter().any(|kind| path.starts_with(corpora.join(kind)))
        }
        _ => true,
    };
    for path in logs("").into_iter().filter(is_taken) {
        let log = fs::read(&path).expect("a log");
        if log.len() > LARGE {
            continue;
        }
        for name in ["timeline", "biggest"] {
            let Some([mut evaluated, mut listed]) = rows(&log, name) else { continue };
            if listed.iter().any(|row| row.get("kind").is_some_and(|kind| kind.to_string().contains("LogLine"))) {
                // The query orders the lines behind a record by their names, l9 after l10.
                for rows in [&mut evaluated, &mut listed] {
                    rows.sort_by_key(|row| row.get(0).map(ToString::to_string));
                }
            }
            assert_eq!(listed, evaluated, "{name} of {}", path.display());
            compared += listed.len();
        }
    }
    assert!(compared > 1_000, "{compared} rows");
}

#[test]
fn a_log_without_messages_ends_as_its_query_does() {
    let place = Place::with("s", "text\n");
    for (name, status) in [("timeline", 2), ("biggest", 0)] {
        for engine in ["columns", "store"] {
            let ran = place.run(&["ask", name, "s", "--engine", engine]);
            assert_eq!(ran.status, Some(status), "{name} by {engine}: {}", ran.stderr);
        }
    }
}

#[test]
fn a_limit_of_rows_does_not_end_the_reading() {
    let place = Place::with("s", format!("{LOG}not JSON\n"));
    let ran = place.run(&["timeline", "s", "-n", "1", "-t", "csv", "--columns", "messageName"]);
    assert_eq!(ran.text(), "messageName\r\nm1\r\n");
    assert!(ran.stderr.contains("not JSON"), "{}", ran.stderr);
}

#[test]
fn a_log_that_cannot_be_read_to_its_end_leaves_no_file() {
    let gzip = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &[0xff; 64]].concat();
    let place = Place::with("s.gz", gzip);
    let ran = place.run(&["timeline", "s.gz", "-o", "rows.csv"]);
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(!place.path("rows.csv").exists());
}
