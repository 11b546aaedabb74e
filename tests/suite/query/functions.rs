//! The functions that queries have beyond SPARQL, as queries call them.

use std::fs;

use super::rows;

#[test]
fn items_of_unbound_variables_are_refused() {
    for (pattern, told) in [
        ("?j rpcg:element ?item", "nothing gives ?j"),
        ("{ SELECT ?item { ?j rpcg:element ?item } } ?m jrpc:hasResult ?j", "nothing gives ?j"),
        ("?m jrpc:hasResult ?j MINUS { ?j rpcg:element 7 }", "nothing gives ?j"),
        ("<#m2> rpcg:member ?item", "is not JSON"),
        ("?m jrpc:hasResult ?j . ?j rpcg:element|rpcg:member ?item", "not inside a longer path"),
        ("?m jrpc:hasResult ?j FILTER(IF(EXISTS { ?j rpcg:element 7 }, true, false))", "part of another expression"),
        ("GRAPH ?g { ?m jrpc:hasResult ?j } ?j rpcg:element ?item", "leave those out"),
    ] {
        let error =
            rpcgraph::Query::parse(&format!("SELECT * {{ {pattern} }}"), Some("https://e/")).unwrap_err().to_string();
        assert!(error.contains(told), "{pattern}: {error}");
    }
}

/// The documents' table of functions: each expression with its result for the params of the example.
#[test]
fn functions_of_the_documents() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/sparql.md")).unwrap();
    let cells: Vec<Vec<&str>> = readme
        .lines()
        .filter(|line| line.starts_with("| `rpcg:"))
        .map(|line| line.split(" | ").map(|cell| cell.trim_matches(['|', ' '])).collect())
        .collect();
    let log = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/mcp-session.ndjson")).unwrap();
    for function in rpcgraph::query::FUNCTIONS {
        let row = cells.iter().find(|row| row[0].starts_with(&format!("`{}(", function.name)));
        let row = row.unwrap_or_else(|| panic!("docs/sparql.md lacks {}", function.name));
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
        // The value as CSV quotes it and as it stands in the table, without quotes; of an IRI its fragment.
        let plain = |text: &str| text.rsplit('#').next().unwrap_or_default().replace(['"', '`'], "");
        assert_eq!(plain(&rows(&log, &query).concat()), plain(row[1]), "{query}");
    }
}
