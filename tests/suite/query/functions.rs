//! The functions that queries have beyond SPARQL, as queries call them.

use std::fs;

use super::rows;

const LOG: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,2.50,1e400,true,null],"t":"{\"x\":[7]}","s":"\ud800"}}"#;

fn value(expression: &str) -> String {
    let query = format!("SELECT ({expression} AS ?value) {{ <#m1> jrpc:hasParameters ?p }}");
    rows(LOG, &query).concat()
}

#[test]
fn payloads_open() {
    for (expression, expected) in [
        ("rpcg:json(?p, \"/a/0\")", "1"),
        ("DATATYPE(rpcg:json(?p, \"/a/0\"))", "http://www.w3.org/2001/XMLSchema#integer"),
        ("rpcg:json(?p, \"/a/1\") + 1", "3.5"),
        ("DATATYPE(rpcg:json(?p, \"/a/1\"))", "http://www.w3.org/2001/XMLSchema#decimal"),
        ("rpcg:json(?p, \"/a/3\") && true", "true"),
        ("rpcg:json(?p, \"/a/4\")", "null"),
        ("DATATYPE(rpcg:json(?p, \"/a\"))", "http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON"),
        ("rpcg:jsonLength(?p)", "3"),
        ("rpcg:jsonLength(?p, \"/a\")", "5"),
        ("rpcg:jsonKeys(?p)", "\"[\"\"a\"\",\"\"s\"\",\"\"t\"\"]\""),
        ("rpcg:jsonType(?p, \"/a/4\")", "null"),
        // Text that holds JSON, as MCP's often does.
        ("rpcg:json(rpcg:json(?p, \"/t\"), \"/x/0\")", "7"),
        // Half a surrogate pair is JSON, and no string of RDF.
        ("rpcg:json(?p, \"/s\")", "\"\"\"\\ud800\"\"\""),
        ("BOUND(?p) && COALESCE(rpcg:json(?p, \"/none\"), \"nothing\") = \"nothing\"", "true"),
        ("COALESCE(rpcg:json(5), \"nothing\")", "nothing"),
        ("COALESCE(rpcg:json(?p, 5), \"nothing\")", "nothing"),
        ("COALESCE(rpcg:jsonLength(\"no JSON\"), \"nothing\")", "nothing"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn percentiles_are_aggregates() {
    let query = "SELECT (rpcg:median(?n) AS ?a) (rpcg:p90(?n) AS ?b) (rpcg:p95(?n) AS ?c) (rpcg:p99(?n) AS ?d) \
                 { VALUES ?n { 5 1 4 2 3 0.5 10 } }";
    assert_eq!(rows(LOG, query), ["3,10,10,10"]);
    assert_eq!(rows(LOG, "SELECT (COALESCE(rpcg:median(?n), \"none\") AS ?a) { VALUES ?n { 1 \"x\" } }"), ["none"]);
}

/// The README's table of functions: each expression with what it gives for the params of its log.
#[test]
fn functions_of_the_readme() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let cells: Vec<Vec<&str>> = readme
        .lines()
        .filter(|line| line.starts_with("| `rpcg:"))
        .map(|line| line.split(" | ").map(|cell| cell.trim_matches(['|', ' '])).collect())
        .collect();
    let log = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/mcp-session.ndjson")).unwrap();
    for function in rpcgraph::query::FUNCTIONS {
        let row = cells.iter().find(|row| row[0].starts_with(&format!("`{}(", function.name)));
        let row = row.unwrap_or_else(|| panic!("the README says nothing of {}", function.name));
        let expression = row[0].trim_matches('`');
        let query = match function.is_aggregate() {
            true if expression.contains("?span") => format!(
                "SELECT ({expression} AS ?value) {{ ?request a jrpc:Request ; rpcg:sequence ?from
                 OPTIONAL {{ ?answer rpcg:respondsTo ?request ; rpcg:sequence ?to }}
                 BIND(CONCAT(STR(?from), '/', COALESCE(STR(?to), '')) AS ?span) }}"
            ),
            true => format!("SELECT ({expression} AS ?value) {{ ?message rpcg:sequence ?number }}"),
            false => format!("SELECT ({expression} AS ?value) {{ <#m4> jrpc:hasParameters ?params }}"),
        };
        // The value as CSV quotes it and as it stands in the table, without quotes.
        let plain = |text: &str| text.replace(['"', '`'], "");
        assert_eq!(plain(&rows(&log, &query).concat()), plain(row[1]), "{query}");
    }
}
