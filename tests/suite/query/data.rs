//! What a query is asked of: which graphs there are, and that nothing is missing or there twice.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;

use super::{ask, rows};
use crate::cli::{LOG, Place, REQUEST, RESPONSE};

fn session() -> String {
    format!("{REQUEST}\n{RESPONSE}\n")
}

#[test]
fn prefixes_need_no_declaration_and_may_have_another() {
    assert_eq!(rows(LOG, "SELECT ?n { <#m1> rpcg:sequence ?n ; rdf:type jrpc:Request }"), ["1"]);
    for (prefix, namespace) in rpcgraph::query::QUERY_PREFIXES {
        let query = format!("SELECT ?x {{ BIND(STR({prefix}:x) AS ?x) }}");
        let ran = ask(LOG, &query, &["-t", "csv"]);
        assert_eq!(ran.text(), format!("x\r\n{namespace}x\r\n"));
        let query = format!("PREFIX {prefix}: <http://example.org/> SELECT ?x {{ BIND(STR({prefix}:x) AS ?x) }}");
        assert_eq!(rows(LOG, &query), ["http://example.org/x"]);
    }
}

#[test]
fn each_session_is_a_graph_and_a_query_sees_them_all() {
    let place = Place::with("a.ndjson", session());
    place.put("b.ndjson", session());
    let run = |query: &str| {
        let ran = place.run(&[
            "query",
            "a.ndjson",
            "b.ndjson",
            "--base",
            "https://example.org/",
            "-t",
            "csv",
            "--quiet",
            "-q",
            query,
        ]);
        ran.quietly();
        ran.text().lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(run("SELECT (COUNT(*) AS ?n) { ?r a jrpc:Request }"), ["2"]);
    assert_eq!(
        run("SELECT ?g (COUNT(?r) AS ?n) { GRAPH ?g { ?r a jrpc:Request } } GROUP BY ?g ORDER BY ?g"),
        ["https://example.org/a.ndjson,1", "https://example.org/b.ndjson,1"]
    );
    assert_eq!(run("SELECT ?r FROM <b.ndjson> { ?r a jrpc:Request }"), ["https://example.org/b.ndjson#m1"]);
    assert_eq!(run("SELECT (COUNT(*) AS ?n) FROM <a.ndjson> FROM <b.ndjson> { ?r a jrpc:Request }"), ["2"]);
    assert_eq!(run("SELECT (COUNT(*) AS ?n) FROM NAMED <a.ndjson> { ?r a jrpc:Request }"), ["0"]);
    assert_eq!(
        run("SELECT ?g FROM NAMED <a.ndjson> FROM <b.ndjson> { GRAPH ?g { ?r a jrpc:Request } }"),
        ["https://example.org/a.ndjson"]
    );
    // A graph is there, whatever is asked of it.
    assert_eq!(run("SELECT (COUNT(?g) AS ?n) { GRAPH ?g {} }"), ["2"]);
    assert_eq!(run("SELECT (1 AS ?is) { GRAPH <a.ndjson> {} }"), ["1"]);
    assert!(run("SELECT (1 AS ?is) { GRAPH <c.ndjson> {} }").is_empty());
}

/// A number stands for an id's decimal where the property is that of ids, and for itself elsewhere.
#[test]
fn numbers_of_ids_are_found_beside_other_numbers() {
    let found = |pattern: &str| rows(LOG, &format!("SELECT ?x {{ {pattern} }} ORDER BY ?x"));
    assert_eq!(
        found("?x jrpc:hasNumberValue|rpcg:sequence 1"),
        ["https://example.org/s#m1", "https://example.org/s#m1-id"]
    );
    assert_eq!(found("?x (jrpc:hasId/jrpc:hasNumberValue)|rpcg:sequence 2"), ["https://example.org/s#m2"]);
    for id in ["1", "7"] {
        let is = (id == "1").to_string();
        let exists = format!("EXISTS {{ ?i jrpc:hasNumberValue {id} }}");
        assert_eq!(found(&format!("BIND({exists} AS ?x)")), [is.as_str()]);
        assert_eq!(found(&format!("BIND(IF({exists}, true, false) AS ?x)")), [is.as_str()]);
        assert_eq!(found(&format!("BIND({is} AS ?x) FILTER({}{exists})", if id == "1" { "" } else { "NOT " })), [is]);
    }
}

#[test]
fn a_graph_that_is_not_there_is_told() {
    let place = Place::with("s", session());
    let query = "SELECT ?r FROM <#other> FROM <> { ?r a jrpc:Request }";
    place
        .run(&["query", "s", "--base", "https://example.org/s", "-q", query])
        .said(0, "note: the query names the graph <https://example.org/s#other>, which is not there\n1 row\n");
}

#[test]
fn rdf_files_are_read_by_their_names() {
    let place = Place::with("s.ndjson", LOG);
    let base = ["--base", "https://example.org/s"];
    let mut expected = Vec::new();
    for file in ["s.ndjson", "s.ttl", "s.nt", "s.nq", "s.trig", "s.jsonld", "s.rdf", "s.ttl.gz", "s.nq.zst"] {
        if file != "s.ndjson" {
            place.run(&["convert", "s.ndjson", base[0], base[1], "--quiet", "-o", file]).quietly();
        }
        let query = "SELECT * { ?s ?p ?o } ORDER BY ?s ?p ?o";
        let ran = place.run(&["query", file, base[0], base[1], "--quiet", "-t", "tsv", "-q", query]);
        ran.quietly();
        let lines: Vec<_> = ran.text().lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 47, "{file}");
        if expected.is_empty() {
            expected = lines;
        } else {
            assert_eq!(lines, expected, "{file}");
        }
    }
}

#[test]
fn a_triple_of_many_files_is_one_triple() {
    let place = Place::new();
    let triple = "<http://example.org/a> <http://example.org/b> <http://example.org/c>";
    place.put("a.nq", format!("{triple} <http://example.org/g> .\n{triple} <http://example.org/h> .\n"));
    place.put("b.nt", format!("{triple} .\n"));
    let count = |query: &str| {
        let ran = place.run(&["query", "a.nq", "b.nt", "-t", "csv", "--quiet", "-q", query]);
        ran.quietly();
        ran.text().trim_start_matches("n\r\n").trim_end().to_owned()
    };
    assert_eq!(count("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"), "1");
    assert_eq!(count("SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }"), "2");
    assert_eq!(count("SELECT (COUNT(*) AS ?n) { ?s ?p ?o . GRAPH ?g { ?s ?p ?o } }"), "2");
    let from = "FROM <http://example.org/g> FROM <http://example.org/h>";
    assert_eq!(count(&format!("SELECT (COUNT(*) AS ?n) {from} {{ ?s ?p ?o }}")), "1");
}

#[test]
fn blank_nodes_of_two_files_are_two() {
    let place = Place::new();
    place.put("a.ttl", "_:x a <http://example.org/A> .");
    place.put("b.ttl", "_:x a <http://example.org/B> .");
    let query = "ASK { ?x a <http://example.org/A>, <http://example.org/B> }";
    assert_eq!(place.run(&["query", "a.ttl", "b.ttl", "-q", query]).text(), "false\n");
}

#[test]
fn rdf_that_is_none_is_refused_with_its_place() {
    let place = Place::with("a.ttl", "<http://example.org/a> a\n  nonsense .");
    place.run(&["query", "a.ttl", "-q", "ASK {}"]).began(2, "error: a.ttl:2:3 is not Turtle: ");
    let mut gz = GzEncoder::new(Vec::new(), Compression::default());
    gz.write_all(b"<http://example.org/a> a <http://example.org/b> .").unwrap();
    let mut bytes = gz.finish().unwrap();
    let checksum = bytes.len() - 8;
    let mut damaged = bytes.clone();
    damaged[checksum] ^= 1;
    place.put("c.ttl.gz", damaged);
    bytes.truncate(30);
    place.put("b.ttl.gz", bytes);
    place.run(&["query", "b.ttl.gz", "-q", "ASK {}"]).said(2, "error: cannot read b.ttl.gz: gzip data ends early\n");
    let cause = "gzip data is damaged: corrupt gzip stream does not have a matching checksum";
    place.run(&["query", "c.ttl.gz", "-q", "ASK {}"]).said(2, &format!("error: cannot read c.ttl.gz: {cause}\n"));
}

/// What is left out while loading makes no difference: the answers are those over all triples.
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
