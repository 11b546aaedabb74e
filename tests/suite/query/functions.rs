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
        ("rpcg:jsonSize(\"[\\\"å\\\", 1]\")", "8"),
        ("rpcg:jsonSize(?p, \"/a/4\")", "4"),
        ("rpcg:jsonSize(\"{\\\"a\\\":[{\\\"b\\\":1},{},{\\\"b\\\":\\\"x\\\"}]}\", \"/a/*/b\")", "4"),
        ("COALESCE(rpcg:jsonSize(?p, \"/none/*\"), \"nothing\")", "nothing"),
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

const TOOLS: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"b","tags":["x","y"]},{"name":"a"}],"more":[1,"1",null,true]}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"result":[7]}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":3,"result":{}}"#
);

/// Patterns that ask for elements and members, and what they find.
const ITEMS: [(&str, &str, &[&str]); 13] = [
    (
        "?item",
        "<#m2> jrpc:hasResult ?r BIND(rpcg:json(?r, '/more') AS ?j) ?j rpcg:element ?item",
        &["1", "1", "null", "true"],
    ),
    ("?item", "?m rpcg:sequence 3 . ?j rpcg:element ?item . ?m jrpc:hasResult ?j", &["7"]),
    ("?item", "<#m3> jrpc:hasResult/rpcg:element ?item", &["7"]),
    (
        "?n",
        "?m jrpc:hasResult ?r BIND(rpcg:json(?r, '/tools') AS ?j) ?j rpcg:element ?t BIND(rpcg:json(?t, '/name') AS ?n)",
        &["a", "b"],
    ),
    (
        "?tag",
        "?m jrpc:hasResult ?r . ?r rpcg:member ?p BIND(rpcg:json(?p, '/1') AS ?j) ?j rpcg:element ?t
         BIND(rpcg:json(?t, '/tags') AS ?k) ?k rpcg:element ?tag",
        &["x", "y"],
    ),
    ("?item", "<#m2> jrpc:hasResult ?r . ?r rpcg:member ?p BIND(rpcg:json(?p, '/0') AS ?item)", &["more", "tools"]),
    ("?m ?item", "?m a jrpc:Response ; jrpc:hasResult ?r OPTIONAL { ?r rpcg:element ?item }", &["m2,", "m3,7", "m4,"]),
    ("?m", "?m jrpc:hasResult ?r FILTER EXISTS { ?r rpcg:element 7 }", &["m3"]),
    ("?m", "?m jrpc:hasResult ?r FILTER(!EXISTS { ?r rpcg:element 7 } && isLiteral(?r))", &["m2", "m4"]),
    (
        "?item",
        "?m jrpc:hasResult ?r { ?r rpcg:element ?item } UNION { ?r rpcg:member ?item FILTER(?m = <#m4>) }",
        &["7"],
    ),
    ("?item", "VALUES ?j { '[1,[2]]' } ?j rpcg:element ?i . ?i rpcg:element ?item", &["2"]),
    ("(COUNT(*) AS ?n)", "?m jrpc:hasResult/rpcg:member ?p", &["2"]),
    ("?item", "{ SELECT ?j { ?m jrpc:hasResult ?j } } ?j rpcg:element ?item", &["7"]),
];

#[test]
fn arrays_and_objects_are_gone_through() {
    for (columns, pattern, expected) in ITEMS {
        let mut found: Vec<String> = rows(TOOLS, &format!("SELECT {columns} {{ {pattern} }}"));
        found.iter_mut().for_each(|row| {
            if let Some(at) = row.rfind('#') {
                row.drain(..=at);
            }
        });
        found.sort_unstable();
        assert_eq!(found, *expected, "{pattern}");
    }
}

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

#[test]
fn percentiles_are_aggregates() {
    let query = "SELECT (rpcg:median(?n) AS ?a) (rpcg:p90(?n) AS ?b) (rpcg:p95(?n) AS ?c) (rpcg:p99(?n) AS ?d) \
                 { VALUES ?n { 5 1 4 2 3 0.5 10 } }";
    assert_eq!(rows(LOG, query), ["3,10,10,10"]);
    assert_eq!(rows(LOG, "SELECT (COALESCE(rpcg:median(?n), \"none\") AS ?a) { VALUES ?n { 1 \"x\" } }"), ["none"]);
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

/// A function with state gives the same in batches, in Oxigraph's evaluator over columns and over its store.
#[test]
fn values_conform_to_schemas_in_every_engine() {
    const CALL: &str = "<https://w3id.org/rpcgraph/schemas/mcp/2025-06-18#tools/call>";
    let log = [r#"{"name":"a"}"#, r#"{"name":7}"#, r#"{}"#, r#"{"name":"b","x":{"x":{"x":3}}}"#];
    let log =
        log.map(|params| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)).join("\n");
    let recursive = r##"'{"properties":{"x":{"$ref":"#"}},"type":"object"}'"##;
    for (expression, expected) in [
        (
            format!("rpcg:conforms(?p, {CALL})"),
            ["-", "at /name: 7 is not of type \"string\"", "\"name\" is a required property", "-"],
        ),
        (format!("rpcg:conforms(?p, IRI(CONCAT(STR({CALL}), '/none')))"), ["-"; 4]),
        (
            "rpcg:conforms(?p, STRDT('{\"required\":[\"x\"]}', rdf:JSON))".to_owned(),
            ["\"x\" is a required property", "\"x\" is a required property", "\"x\" is a required property", "-"],
        ),
        (format!("rpcg:conforms(?p, {recursive})"), ["-", "-", "-", "at /x/x/x: 3 is not of type \"object\""]),
        (r#"REPLACE(rpcg:schemaProblem('{"type":"number?"}'), "^.*, at", "")"#.to_owned(), [" /type"; 4]),
    ] {
        // The second form is one that batches do not cover.
        for (form, engine) in [("", "columns"), ("?m rpcg:inBatch* ?m .", "columns"), ("", "store")] {
            let query = format!(
                "SELECT (COALESCE({expression}, '-') AS ?error) {{ {form} ?m jrpc:hasParameters ?p ; rpcg:sequence ?n }} ORDER BY ?n"
            );
            let ran = super::ask(&log, &query, &["-t", "tsv", "--engine", engine]);
            ran.quietly();
            let found: Vec<String> = ran.text().lines().skip(1).map(|line| line.replace("\\\"", "\"")).collect();
            assert_eq!(found, expected.map(|error| format!("\"{error}\"")), "{query} ({engine})");
        }
    }
    let error =
        rpcgraph::Query::parse("SELECT (rpcg:conforms(?p) AS ?x) { ?m jrpc:hasParameters ?p }", None).unwrap_err();
    assert!(error.to_string().contains("it is rpcg:conforms(?json, ?schema)"), "{error}");
}
