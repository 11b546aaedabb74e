//! `--jobs`: output and messages do not depend on the number of threads, or on how the input is divided.

use std::fmt::Write as _;

use oxrdfio::RdfFormat;

use super::{BASE, Place, values};

/// Enough for any thread to get its share: more than there is read at once.
const RECORDS: usize = 9_000;

/// Requests, then answers to all of them in the same order.
fn log() -> String {
    let mut log = String::new();
    for id in 0..RECORDS / 2 {
        let _ = writeln!(log, "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m\"}}");
    }
    for id in 0..RECORDS / 2 {
        let _ = writeln!(log, "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{id}}}");
    }
    log
}

/// The log with other lines at these places, the first being 1.
fn with(lines: &[(usize, &str)]) -> String {
    let log = log();
    let mut all: Vec<_> = log.lines().collect();
    for (line, text) in lines {
        all[line - 1] = text;
    }
    all.join("\n")
}

#[test]
fn the_output_is_the_same_for_any_number_of_threads() {
    let place = Place::with("log", with(&[(8_000, "oops"), (5, "oops"), (4_097, "oops"), (9_000, "[]")]));
    for syntax in ["nquads", "turtle", "jsonld"] {
        let run = |jobs: &str| place.convert(&["log", "--base", BASE, "-t", syntax, "--jobs", jobs]);
        let one = run("1");
        let findings: Vec<_> = one.stderr.lines().map(|line| line.split(": ").next().unwrap_or_default()).collect();
        assert_eq!(findings[..2], ["log:5", "log:8000"]);
        for jobs in ["2", "5"] {
            let many = run(jobs);
            assert!(many.stdout == one.stdout, "{syntax} with {jobs} threads");
            assert_eq!(many.stderr, one.stderr);
        }
        if syntax == "nquads" {
            let quads = one.quads(RdfFormat::NQuads);
            let answered = |node: &str| values(&quads, node, &super::rpcg("respondsTo"));
            assert_eq!(answered("#m4501"), [format!("<{BASE}#m1>")]);
            assert_eq!(answered("#m8999"), [format!("<{BASE}#m4499>")]);
            assert_eq!(answered("#m4505"), [""; 0], "its request is not JSON");
        }
    }
}

#[test]
fn strict_stops_at_the_same_record() {
    let place = Place::with("log", with(&[(8_500, "oops"), (8_600, "{}"), (9_000, "oops")]));
    let one = place.convert(&["log", "--strict", "-t", "nquads", "--jobs", "1"]);
    assert_eq!(one.status, Some(1));
    assert!(
        one.stderr.starts_with("log:8500: record 8500 at byte ") && one.stderr.lines().count() == 1,
        "{}",
        one.stderr
    );
    assert!(one.text().contains("#m8499> ") && !one.text().contains("#m8500> "));
    for jobs in ["2", "5"] {
        let many = place.convert(&["log", "--strict", "-t", "nquads", "--jobs", jobs]);
        many.said(1, &one.stderr);
        assert!(many.stdout == one.stdout, "{jobs} threads");
        place.convert(&["log", "--strict", "-o", "out.nq", "--jobs", jobs]).said(1, &one.stderr);
    }
    assert_eq!(place.names(), ["log"]);
}

#[test]
fn a_failure_in_the_middle_ends_all_threads() {
    let place = Place::with("log", with(&[(6_000, r#"{"jsonrpc":"2.0","method":"\u0001"}"#)]));
    for jobs in ["1", "4"] {
        let ran = place.convert(&["log", "--base", BASE, "-o", "out.rdf", "--jobs", jobs]);
        ran.said(
            2,
            "error: XML cannot carry U+0001, which a literal of <https://example.org/s#m6000> holds: use Turtle or \
             another syntax instead\n",
        );
    }
    let cut = super::gzip(log().as_bytes());
    place.put("log", &cut[..cut.len() / 2]);
    let one = place.convert(&["log", "-t", "nquads", "--jobs", "1"]);
    let many = place.convert(&["log", "-t", "nquads", "--jobs", "4"]);
    assert_eq!(one.status, Some(2));
    assert!(one.stderr.starts_with("error: log: gzip data ends early after "));
    assert_eq!((many.status, &many.stderr), (one.status, &one.stderr));
    assert!(many.stdout == one.stdout);
    assert_eq!(place.names(), ["log"]);
}
