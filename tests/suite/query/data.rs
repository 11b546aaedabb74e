//! Loading a part of the data, or with several threads, changes no answer.

use super::ask;
use crate::cli::{LOG, Place, REQUEST, RESPONSE};

fn session() -> String {
    format!("{REQUEST}\n{RESPONSE}\n")
}

/// Triples that are not loaded do not matter: the answers are the answers over all triples.
#[test]
fn loading_a_part_gives_the_answers_of_the_whole() {
    let place = Place::with("s.ndjson", LOG);
    place.put("t.ndjson", session());
    let logs = ["s.ndjson", "t.ndjson"];
    place.run(&["convert", logs[0], logs[1], "--base", "https://example.org/", "--quiet", "-o", "all.nq"]).quietly();
    for query in [
        "SELECT ?r { ?r a jrpc:Request }",
        "SELECT ?r ?t { ?r a ?t ; rpcg:sequence 1 }",
        "SELECT ?r { ?r a jrpc:Request FILTER NOT EXISTS { ?a rpcg:respondsTo ?r ; a jrpc:ErrorResponse } }",
        "SELECT ?r { ?r rpcg:inSession ?s MINUS { ?a rpcg:respondsTo ?r } }",
        "SELECT ?m { ?a rpcg:respondsTo/jrpc:hasMethod ?m }",
        "SELECT ?m { ?r ^rpcg:respondsTo|jrpc:hasMethod ?m }",
        "SELECT ?x { <https://example.org/s.ndjson#m2> rpcg:respondsTo? ?x }",
        "SELECT ?x { <https://example.org/s.ndjson#m2> rpcg:respondsTo* ?x }",
        "SELECT ?x { <https://example.org/s.ndjson#m2> !rdf:type ?x }",
        "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p",
        "SELECT ?g ?m { GRAPH ?g { ?r jrpc:hasMethod ?m } }",
        "SELECT ?g { GRAPH ?g {} }",
        "SELECT ?r { ?r a jrpc:Request { SELECT ?r { ?r jrpc:hasMethod \"subtract\" } } }",
        "SELECT ?r { ?r jrpc:hasMethod ?m } ORDER BY EXISTS { ?r jrpc:hasId ?i }",
        "SELECT ?e { ?x jrpc:hasError [ jrpc:hasErrorCode ?e ; rpcg:errorKind jrpc:MethodNotFound ] }",
        "SELECT ?x { { ?x a jrpc:Response } UNION { ?x a jrpc:ErrorResponse } }",
        "SELECT ?x ?k { ?x a jrpc:Response BIND(EXISTS { ?x rpcg:problem ?p } AS ?k) }",
        "SELECT (COUNT(*) AS ?n) FROM <https://example.org/t.ndjson> { ?x a jrpc:Request }",
    ] {
        let sorted = |arguments: &[&str]| {
            let mut all = vec!["query", "-t", "csv", "--quiet", "-q", query];
            all.extend(arguments);
            let ran = place.run(&all);
            ran.quietly();
            let mut lines: Vec<_> = ran.text().lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        // Beside a query for every triple, all are loaded.
        let whole = sorted(&["all.nq"]);
        assert!(whole.len() > 1, "{query}");
        assert_eq!(sorted(&[logs[0], logs[1], "--base", "https://example.org/"]), whole, "{query}");
    }
}

#[test]
fn one_thread_or_many_one_answer() {
    let log: String =
        (0..5000).map(|n| format!("{}\n", REQUEST.replace("\"m\"", &format!("\"m{}\"", n % 7)))).collect();
    let query = "SELECT ?m (COUNT(*) AS ?n) { ?r jrpc:hasMethod ?m } GROUP BY ?m ORDER BY ?m";
    let one = ask(&log, query, &["--jobs", "1"]);
    one.quietly();
    assert_eq!(one.text().lines().count(), 9);
    assert_eq!(ask(&log, query, &["--jobs", "4"]).text(), one.text());
}

#[test]
fn from_finds_a_file_by_its_iri_and_keeps_literals_as_written() {
    let byte = "\"1\"^^<http://www.w3.org/2001/XMLSchema#byte>";
    let place = Place::with("a.ttl", format!("<urn:s> <urn:p> 01, {byte}, 1 ."));
    place.put("b.ttl", "<urn:s> <urn:p> 2 .");
    place.put("log", LOG);
    let query = "SELECT ?o FROM <https://example.org/a.ttl> { ?s <urn:p> ?o }";
    let ran =
        place.run(&["query", "a.ttl", "b.ttl", "log", "--base", crate::cli::BASE, "--quiet", "-t", "tsv", "-q", query]);
    let mut rows: Vec<_> = ran.text().lines().skip(1).map(str::to_owned).collect();
    rows.sort();
    assert_eq!(rows, [byte, "01", "1"]);
}
