#![cfg(test)]
//! Tests of tables for people.

use oxigraph::sparql::QuerySolution;
use oxrdf::NamedNode;
use unicode_width::UnicodeWidthStr as _;

use super::*;

fn table(table: &Table, names: &[&str], rows: &[&[Term]]) -> String {
    let variables: Vec<_> = names.iter().map(|name| Variable::new_unchecked(*name)).collect();
    let rows: Vec<_> = rows
        .iter()
        .map(|row| Ok(QuerySolution::from((variables.clone(), row.iter().cloned().map(Some).collect::<Vec<_>>()))))
        .collect();
    let mut out = Vec::new();
    table.write(Solutions { variables, rows: Box::new(rows.into_iter()) }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn node(iri: &str) -> Term {
    NamedNode::new_unchecked(iri).into()
}

#[test]
fn what_all_rows_share_stands_above_them() {
    let row = |file: &str| {
        let time = Literal::new_typed_literal("2026-03-02T09:00:00Z", xsd::DATE_TIME);
        [node(&format!("https://example.org/logs/{file}")), time.into(), Literal::from("editor-for-all").into()]
    };
    let wide = Table { width: Some(34), ..Table::default() };
    let shown = table(&wide, &["session", "started", "server"], &[&row("a.log"), &row("a-very-long-name.log")]);
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines[..2], ["started: 2026-03-02T09:00:00Z", "server: editor-for-all   session:"]);
    assert_eq!(
        lines[2..],
        ["https://example.org/logs/…", "", "session", &"─".repeat(20), "a.log", "a-very-long-name.log"]
    );
}

/// The first column is cut before the server is left out.
#[test]
fn a_column_that_says_who_outlives_long_names() {
    let row = |name: &str, server: &str, requests: i64| {
        let (server, requests) = (Literal::from(server), Literal::from(requests));
        [node(&format!("#session-20260302-091403-{name}")), server.into(), requests.into()]
    };
    let narrow = Table { width: Some(42), ..Table::default() };
    let rows: [&[Term]; 2] = [&row("5121", "github", 12), &row("5122", "search", 7)];
    let shown = table(&narrow, &["session", "server", "requests"], &rows);
    assert_eq!(shown.lines().nth(2).unwrap(), "<#session-2…091403-5121>  github        12");
}

#[test]
fn columns_line_up_and_numbers_stand_right() {
    let json = Literal::new_typed_literal("[1]", rdf::JSON);
    let shown = table(
        &Table { base: Some("https://example.org/log".to_owned()), ..Table::default() },
        &["message", "count", "params"],
        &[
            &[node("https://example.org/log#m1"), Literal::from(7).into(), json.into()],
            &[node("http://json-rpc.org/ontology#Request"), Literal::from(12).into(), Literal::from("日本").into()],
        ],
    );
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(
        lines,
        [
            "message       count  params",
            "────────────  ─────  ──────",
            "m1                7  [1]",
            "jrpc:Request     12  日本",
        ]
    );
}

#[test]
fn one_long_cell_does_not_widen_all_rows() {
    let rows: Vec<[Term; 2]> = (0..3000)
        .map(|row| [Literal::from(if row == 7 { "x".repeat(1 << 20) } else { "a".to_owned() }).into(), node("urn:b")])
        .collect();
    let rows: Vec<&[Term]> = rows.iter().map(|row| &row[..]).collect();
    let shown = table(&Table::default(), &["a", "b"], &rows);
    assert!(shown.len() < 3_000 * 420, "{}", shown.len());
    assert!(shown.contains(&format!("\n{}…\n", "x".repeat(399))));
}

#[test]
fn long_texts_are_cut_on_a_terminal_only() {
    let long: Term = Literal::from("x".repeat(100)).into();
    let row: &[Term] = &[Literal::from("short").into(), long];
    assert!(table(&Table::default(), &["a", "b"], &[row]).contains(&"x".repeat(100)));
    let cut = table(&Table { width: Some(40), ..Table::default() }, &["a", "b"], &[row]);
    for line in cut.lines() {
        assert!(line.width() <= 40, "{line}");
    }
    assert!(cut.contains("xxx…"));
}

#[test]
fn texts_that_differ_where_they_are_cut_are_not_the_same() {
    let rows = ["a", "b"].map(|end| -> [Term; 1] { [Literal::from("x".repeat(WIDEST) + end).into()] });
    let shown = table(&Table::default(), &["a"], &[&rows[0], &rows[1]]);
    assert_eq!(shown.matches("x…\n").count(), 2, "{shown}");
    let shown = table(&Table { sections: true, ..Table::default() }, &["a"], &[&rows[0], &rows[1]]);
    assert_eq!(shown.matches("x…\n").count(), 2, "{shown}");
}

#[test]
fn constant_columns_stand_above_and_empty_ones_are_left_out() {
    let time = |text: &str| -> Term { Literal::new_typed_literal(text, xsd::DATE_TIME).into() };
    let rows: [[Term; 3]; 2] = [
        [node("urn:l"), time("2026-01-05T10:00:00.12Z"), Literal::from(1.5).into()],
        [node("urn:l"), time("2026-01-05T23:59:59Z"), Literal::from(10).into()],
    ];
    let rows: Vec<&[Term]> = rows.iter().map(|row| &row[..]).collect();
    let shown = table(&Table::default(), &["session", "time", "seconds", "none"], &rows);
    let expected = "session: <urn:l>   time: 2026-01-05 UTC\n\n\
                    time          seconds\n────────────  ───────\n\
                    10:00:00.120      1.5\n23:59:59.000     10\n";
    assert_eq!(shown, expected);
}

#[test]
fn rows_that_do_not_fit_are_records_of_lines() {
    let id = "0123456789".repeat(5);
    let row = |text: &str| -> [Term; 3] { [Literal::from(&*id).into(), node("urn:a"), Literal::from(text).into()] };
    let rows = [row(&"word ".repeat(100)), row("b")];
    let rows: Vec<&[Term]> = rows.iter().map(|row| &row[..]).collect();
    let shown = table(&Table { width: Some(30), ..Table::default() }, &["id", "name", "text"], &rows[..1]);
    assert!(shown.lines().all(|line| line.width() <= 30), "{shown}");
    assert!(shown.starts_with("id    012345678901234567890123\n      456789"), "{shown}");
    assert!(shown.lines().count() == 3 + 1 + LINES && shown.ends_with("…\n"), "{shown}");
    // Failures are red.
    let shown = table(&Table { colour: true, ..Table::default() }, &["a", "b", "error"], &rows[..1]);
    assert!(shown.contains(&format!("{RED}word ")), "{shown}");
}

#[test]
fn the_least_columns_are_left_out_before_rows_are_records() {
    let row =
        |name: &str| -> [Term; 3] { [node(name), Literal::from(name.repeat(9)).into(), Literal::from(name).into()] };
    let rows = [row("urn:a"), row("urn:b")];
    let rows: Vec<&[Term]> = rows.iter().map(|row| &row[..]).collect();
    let narrow = Table { width: Some(40), ..Table::default() };
    let shown = table(&narrow, &["name", "id", "text"], &rows);
    assert!(shown.starts_with("name     text\n"), "{shown}");
    assert!(shown.ends_with("\nnot shown: id (--wide shows all)\n"), "{shown}");
    let shown = table(&Table { all_columns: true, ..narrow }, &["name", "id", "text"], &rows);
    assert!(shown.starts_with("name  <urn:a>\nid    urn:a"), "{shown}");
}

#[test]
fn columns_have_units_and_are_chosen() {
    let row: &[Term] =
        &[Literal::from("a").into(), Literal::from(0.111).into(), Literal::from(24_000).into(), node("urn:b")];
    let [shown, seconds, bytes] = [["a", "p95", "size"].as_slice(), &["p95"], &["size"]]
        .map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    let known =
        Table { columns: TableColumns { shown, seconds, bytes, ..TableColumns::default() }, ..Table::default() };
    let names = ["a", "p95", "size", "b"];
    let expected = "a     p95   size\n─  ──────  ─────\na  111 ms  24 kB\n\nnot shown: b (--wide shows all)\n";
    assert_eq!(table(&known, &names, &[row]), expected);
    assert!(table(&Table { all_columns: true, ..known }, &names, &[row]).contains("24 kB  <urn:b>"));
}

#[test]
fn the_first_column_is_cut_last() {
    let row: &[Term] = &[Literal::from("k".repeat(20)).into(), Literal::from("t".repeat(60)).into()];
    let shown = |width| table(&Table { width: Some(width), ..Table::default() }, &["key", "text"], &[row]);
    assert!(shown(40).contains(&"k".repeat(20)), "{}", shown(40));
    assert!(shown(26).contains("kkk…kkk"), "{}", shown(26));
}

/// A page with another layout has its own head.
#[test]
fn pages_go_on_below_each_other() {
    let count = |rows: &[[Term; 2]]| {
        let rows: Vec<&[Term]> = rows.iter().map(|row| &row[..]).collect();
        let shown = table(&Table::default(), &["a", "b"], &rows);
        (shown.matches("──").count(), shown.lines().count())
    };
    let row = |number: usize| -> [Term; 2] { [Literal::from((number % 7) as i64).into(), node("urn:b")] };
    let mut rows: Vec<_> = (0..2 * PAGE + 10).map(row).collect();
    assert_eq!(count(&rows), (0, 4 + 2 * PAGE + 10));
    rows[2 * PAGE + 5] = [Literal::from(1_000_000).into(), node("urn:c")];
    assert_eq!(count(&rows).1, 4 + 3 + 2 * PAGE + 10);
}

#[test]
fn a_terminal_is_not_given_control_characters() {
    let shown = table(&Table::default(), &["a"], &[&[Literal::from("a\u{1b}[2Jb\nc").into()]]);
    assert!(shown.contains("a\\u{1b}[2Jb\\nc"), "{shown}");
}

#[test]
fn a_number_stays_with_its_unit() {
    let lines = |text| folded(text, 12, 5).map(|line| line.into_owned()).collect::<Vec<_>>();
    assert_eq!(lines("p95 is 481 ms of it"), ["p95 is", "481 ms of it"]);
    assert_eq!(lines("all took 481 ms"), ["all took", "481 ms"]);
    assert_eq!(lines("all took 481 miles"), ["all took 481", "miles"]);
}
