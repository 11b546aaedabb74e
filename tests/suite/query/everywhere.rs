//! The same queries give the same answers in memory, in the store on disk, and on the servers of others.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cli::{LOG, Place, REQUEST, RESPONSE};
use crate::servers::{self, Running};

/// Standard SPARQL, each about something that a server may do otherwise.
const QUERIES: &[&str] = &[
    "SELECT ?method (COUNT(*) AS ?count) { ?message jrpc:hasMethod ?method } GROUP BY ?method",
    "SELECT ?request ?method { ?request a jrpc:Request ; jrpc:hasMethod ?method }",
    "SELECT ?request ?answer { ?request a jrpc:Request OPTIONAL { ?answer rpcg:respondsTo ?request } }",
    "SELECT ?request { ?request a jrpc:Request FILTER NOT EXISTS { ?answer rpcg:respondsTo ?request } }",
    "SELECT ?request { ?request a jrpc:Request MINUS { ?answer rpcg:respondsTo ?request } }",
    "SELECT ?answer ?code ?message { ?answer jrpc:hasError ?error . ?error jrpc:hasErrorCode ?code ; jrpc:hasErrorMessage ?message }",
    "SELECT ?session (COUNT(?message) AS ?count) { ?message rpcg:inSession ?session } GROUP BY ?session",
    "SELECT ?graph (COUNT(?message) AS ?count) { GRAPH ?graph { ?message rpcg:sequence ?number } } GROUP BY ?graph",
    "SELECT ?message { GRAPH <https://example.org/b.ndjson> { ?message a jrpc:Request } }",
    "SELECT ?message FROM <https://example.org/b.ndjson> { ?message a jrpc:Request }",
    "SELECT ?graph FROM NAMED <https://example.org/a.ndjson> { GRAPH ?graph { ?message a jrpc:ErrorResponse } }",
    "SELECT ?params { ?message jrpc:hasParameters ?params }",
    "SELECT ?message { ?message jrpc:hasParameters \"[42,23]\"^^rdf:JSON }",
    "SELECT ?message (STRLEN(STR(?params)) AS ?size) { ?message jrpc:hasParameters ?params }",
    "SELECT ?method { ?answer rpcg:respondsTo/jrpc:hasMethod ?method }",
    "SELECT ?tool { ?call rpcg:toolName ?tool . ?answer rpcg:respondsTo ?call ; rpcg:isError true }",
    "SELECT ?message { ?message rpcg:sequence ?number FILTER(?number > 2) }",
    "SELECT ?kind (COUNT(*) AS ?count) { ?message a ?kind ; rpcg:sequence ?number } GROUP BY ?kind HAVING(COUNT(*) > 1)",
    "SELECT (SUM(?number) AS ?sum) (MIN(?number) AS ?least) (MAX(?number) AS ?most) { ?message rpcg:sequence ?number }",
    "ASK { ?message a jrpc:ErrorResponse }",
    "ASK { ?message a rpcg:Batch }",
];

/// Two logs: [`LOG`], and one with a tool that fails.
fn place_with_logs() -> Place {
    let place = Place::with("a.ndjson", LOG);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"forecast"}}"#;
    let failure = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}"#;
    place.put("b.ndjson", format!("{call}\n{failure}\n{REQUEST}\n{RESPONSE}\n{REQUEST}\n"));
    place
}

const LOGS: [&str; 4] = ["a.ndjson", "b.ndjson", "--base", "https://example.org/"];

/// The answer as JSON, its rows in an order of their own.
#[track_caller]
fn answer(place: &Place, query: &str, source: &[&str]) -> Value {
    let ran = place.run(&[&["query", "--quiet", "-t", "json", "-q", query], source].concat());
    ran.quietly();
    let mut answer: Value = serde_json::from_str(ran.text()).expect("JSON");
    if let Some(rows) = answer.pointer_mut("/results/bindings").and_then(Value::as_array_mut) {
        rows.sort_by_key(Value::to_string);
    }
    answer
}

/// Compares a source with memory; gives the queries that it answers otherwise.
fn differences<'q>(place: &Place, source: &[&str]) -> BTreeMap<&'q str, (Value, Value)> {
    let both = |query| (answer(place, query, source), answer(place, query, &LOGS));
    QUERIES.iter().map(|query| (*query, both(query))).filter(|(_, (there, here))| there != here).collect()
}

fn loaded(server: &Running) -> Place {
    let place = place_with_logs();
    let to = ["--endpoint", &server.query, "--update", &server.update, "--graph-store", &server.graph_store, "--quiet"];
    place.run(&[&["load"], &LOGS[..], &to].concat()).quietly();
    place
}

#[test]
fn in_memory_there_is_something_to_compare() {
    let place = place_with_logs();
    for query in QUERIES {
        let answer = answer(&place, query, &LOGS);
        let rows = answer.pointer("/results/bindings").and_then(Value::as_array).map(Vec::len);
        assert!(rows != Some(0), "{query} finds nothing");
    }
}

#[test]
#[ignore = "needs Oxigraph's server"]
fn on_oxigraph() {
    let server = servers::oxigraph();
    let place = loaded(&server);
    assert_eq!(differences(&place, &["--endpoint", &server.query]), BTreeMap::new());
}

#[test]
#[ignore = "needs Virtuoso"]
fn on_virtuoso() {
    let server = servers::virtuoso();
    let place = loaded(&server);
    assert_eq!(differences(&place, &["--endpoint", &server.query]), BTreeMap::new());
}

#[test]
fn functions_that_no_server_has_are_not_asked_there() {
    let query = "SELECT ?x { ?call jrpc:hasParameters ?p BIND(rpcg:json(?p, \"/name\") AS ?x) }";
    let ran = Place::new().run(&["query", "--endpoint", "http://localhost:1/", "-q", query]);
    ran.began(2, "error: the query uses rpcg:json, which only this program has: ask the logs");
}

/// A service is another server, asked for a part of the query.
#[test]
#[ignore = "needs Oxigraph's server"]
fn oxigraph_is_asked_as_a_service() {
    let server = servers::oxigraph();
    let place = loaded(&server);
    place.put("c.ndjson", REQUEST);
    let query = format!(
        "SELECT ?there {{ ?here jrpc:hasMethod ?method SERVICE <{}> {{ GRAPH ?g {{ ?there jrpc:hasMethod ?method }} }} }}",
        server.query
    );
    let ran = place.run(&["query", "c.ndjson", "--allow-service", "--quiet", "-t", "csv", "-q", &query]);
    ran.quietly();
    let mut rows: Vec<_> = ran.text().lines().skip(1).collect();
    rows.sort_unstable();
    assert_eq!(rows, ["https://example.org/b.ndjson#m3", "https://example.org/b.ndjson#m5"]);
}

#[cfg(feature = "rocksdb")]
#[test]
fn on_disk() {
    let place = place_with_logs();
    place.run(&[&["load"], &LOGS[..], &["--store", "dir", "--quiet"]].concat()).quietly();
    assert_eq!(differences(&place, &["--store", "dir"]), BTreeMap::new());
}
