//! Tables and CSV of what strangers wrote.

use crate::cli::{Place, REQUEST};

#[test]
fn cut_cells_are_told() {
    let place = Place::with("log", format!("{}\n", REQUEST.replace("\"m\"", &format!("\"{}\"", "x".repeat(1000)))));
    let query = "SELECT ?method { ?request jrpc:hasMethod ?method }";
    let ran = place.run(&["query", "log", "-q", query]);
    ran.said(0, "note: 1 cell cut (…): -t csv has all of it\n1 row\n");
    assert!(ran.text().ends_with(&format!("\n{}…\n", "x".repeat(399))));
    let ran = place.run(&["query", "log", "-q", query, "-t", "csv"]);
    ran.said(0, "1 row\n");
    assert_eq!(ran.text(), format!("method\r\n{}\r\n", "x".repeat(1000)));
}

#[test]
fn spreadsheets_run_nothing_where_that_is_asked_for() {
    let query = r#"SELECT * { VALUES ?x { "=1+1" "+cmd" "-cmd" "@x" "\tx" "\rx" "-1" -32601 "a=1" <urn:=> "'" "-1+1"^^xsd:integer } }"#;
    let place = Place::with("data.nt", "");
    let rows = |options: &[&str]| {
        let ran = place.run(&[&["query", "data.nt", "-q", query, "--quiet", "-t", "csv"], options].concat());
        ran.quietly();
        ran.text().split("\r\n").skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    // As the W3C has it.
    assert_eq!(rows(&[]).first().map(String::as_str), Some("=1+1"));
    let safe = ["'=1+1", "'+cmd", "'-cmd", "'@x", "'\tx", "\"'\rx\"", "-1", "-32601", "a=1", "urn:=", "'", "'-1+1", ""];
    assert_eq!(rows(&["--csv-safe"]), safe);
    let ran = place.run(&["query", "data.nt", "-q", query, "--csv-safe"]);
    ran.said(2, "error: --csv-safe is about rows in CSV: name that with -t csv, or leave it out\n");
}
