//! Columns answer as Oxigraph's store does: the same triples of the same logs are in both.

use oxrdf::Term;
use rpcgraph::context::Context;
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::query::catalogue::CATALOGUE;
use rpcgraph::query::{Answer, Cancel, Dataset, Engine, Query};
use serde_json::json;

use crate::support::{logs, own};

/// Messages with terms that just have, or just lack, a number of their own: spellings, lengths, names, equal terms.
fn few_terms() -> Vec<String> {
    let long = "long ".repeat(200);
    let deep = format!("{{\"method\":\"m\",\"params\":{{\"text\":\"{}\"}}}}", long.repeat(60));
    vec![
        r#"{"jsonrpc":"2.0","id":1,"method":"1234567"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":"1","method":"12345678"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"result":{"a":[1,2]}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":"1","error":{"code":-32601,"message":"m","data":{"a":[1,2]}}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1.50,"method":"a","params":{"a":[1,2]},"x":["same","same",{"y":"same"}]}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":123456789012345678901,"method":"a","params":{"i":-7,"b":true}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"again"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"again"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"again"}"#.to_owned(),
        r##"{"method":"https://e/one#m1","params":{"u":"https://e/two#m2-id","v":"https://e/other#m3"}}"##.to_owned(),
        r#"[{"id":7,"method":"a"},{"id":8,"method":"b"},{"nothing":1},2,null]"#.to_owned(),
        r#"[{"id":8,"result":0},{"id":7,"result":0}]"#.to_owned(),
        "text".to_owned(),
        format!(r#"{{"method":"{long}"}}"#),
        format!(r#"{{"method":"{long}","id":"{long}"}}"#),
        deep.clone(),
        deep,
    ]
}

/// The same, and more than is answered at once.
fn terms() -> String {
    let mut lines = few_terms();
    // Long enough to be taken in pieces.
    let element = |n| format!("{{\"method\":\"in-pieces\",\"params\":[\"of a long batch\",{n}]}}");
    lines.push(format!("[{}]", (0..2500).map(element).collect::<Vec<_>>().join(",")));
    lines.extend((0..4500).map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"many-{}"}}"#, id % 70)));
    lines.join("\n")
}

/// An answer as lines in an order of their own; `in_store` has it of the store.
fn answer(query: &Query, logs: &[Vec<u8>], contexts: &[Context], in_store: bool) -> Vec<String> {
    let mut lines = found(query, logs, contexts, in_store);
    lines.sort_unstable();
    lines
}

/// An answer as lines, as they are found.
fn found(query: &Query, logs: &[Vec<u8>], contexts: &[Context], in_store: bool) -> Vec<String> {
    lines(&loaded(query, logs, contexts, in_store), query)
}

/// Logs, as far as a query needs them.
fn loaded(query: &Query, logs: &[Vec<u8>], contexts: &[Context], in_store: bool) -> Dataset {
    let cancel = Cancel::default();
    let engine = if in_store { Engine::Store } else { Engine::Columns };
    let dataset = Dataset::on(query, false, engine).expect("a dataset");
    let mut loading = dataset.load(&cancel).expect("a start");
    let mapper = Mapper::new(Mapping::Session, contexts).expect("contexts work").with_provenance(true);
    let mut converter = Converter::new(mapper, Options { log_lines: true, jobs: 2, ..Options::default() });
    for (log, name) in logs.iter().zip(["one", "two", "three"]) {
        let iri = format!("https://e/{name}");
        let input = Input { name: name.into(), source: name.into(), iri, iri_stated: true, read: log.as_slice() };
        converter.convert(input, &mut loading.sink(), &mut |_| {}).expect("a conversion");
    }
    loading.commit().expect("an end");
    dataset
}

fn lines(dataset: &Dataset, query: &Query) -> Vec<String> {
    let cancel = Cancel::default();
    let text = |term: Option<&Term>| term.map_or("-".to_owned(), Term::to_string);
    match dataset.answer(query, &cancel).expect("an answer") {
        Answer::Boolean(truth) => vec![truth.to_string()],
        Answer::Graph(triples) => triples.map(|triple| triple.expect("a triple").to_string()).collect(),
        Answer::Solutions(solutions) => {
            let variables = solutions.variables;
            let row = |row: oxigraph::sparql::QuerySolution| {
                variables.iter().map(|name| text(row.get(name))).collect::<Vec<_>>().join(" ")
            };
            solutions.rows.map(|found| row(found.expect("a row"))).collect()
        }
    }
}

#[track_caller]
fn assert_same(query: &str, logs: &[Vec<u8>], contexts: &[Context]) -> usize {
    let parsed = Query::parse(query, None).expect("a query");
    let columns = answer(&parsed, logs, contexts, false);
    let store = answer(&parsed, logs, contexts, true);
    let differs = columns.iter().zip(&store).find(|(column, store)| column != store);
    assert_eq!((differs, columns.len()), (None, store.len()), "{query}");
    columns.len()
}

const QUERIES: [&str; 21] = [
    "SELECT * { ?s ?p ?o }",
    "SELECT DISTINCT ?o { ?s ?p ?o }",
    "SELECT ?o (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?o",
    "SELECT ?p (COUNT(DISTINCT ?o) AS ?n) { ?s ?p ?o } GROUP BY ?p",
    "SELECT ?a ?b { ?a jrpc:hasParameters|jrpc:hasResult ?p . ?b jrpc:hasErrorData|jrpc:hasResult ?p }",
    "SELECT ?s { ?s jrpc:hasNumberValue 1.5 }",
    "SELECT ?s ?n { ?s jrpc:hasNumberValue ?n FILTER(?n > 1 && ?n < 10) }",
    "SELECT ?s { VALUES ?v { \"1\" 1 1.5 \"{\\\"a\\\":[1,2]}\"^^rdf:JSON } ?s ?p ?v }",
    "SELECT ?p ?o { <https://e/one#m5> ?p ?o }",
    "SELECT ?s ?p { ?s ?p <https://e/two#m2> }",
    "SELECT ?s ?o { ?s (rpcg:respondsTo|jrpc:hasId)+ ?o }",
    "SELECT ?s (STRLEN(STR(?o)) AS ?n) (STR(?o) AS ?text) { ?s jrpc:hasMethod|jrpc:hasParameters ?o }",
    "SELECT ?s ?n { ?s jrpc:hasResult|(jrpc:hasError/jrpc:hasErrorData) ?o BIND(STRLEN(STR(?o)) AS ?n) }",
    "SELECT ?m (SUM(STRLEN(STR(?o))) AS ?n) { ?s jrpc:hasMethod ?m ; jrpc:hasParameters ?o } GROUP BY ?m",
    "SELECT ?m ?o { VALUES ?m { \"a\" \"1234567\" } ?s jrpc:hasMethod ?m OPTIONAL { ?s jrpc:hasParameters ?o } }",
    "SELECT ?s ?k { ?s jrpc:hasMethod ?m BIND(SUBSTR(?m, 1, 4) AS ?k) ?other jrpc:hasMethod ?k }",
    // Both sides have rows with a key, and rows without: those pair with any.
    "SELECT ?m ?n ?k { { SELECT DISTINCT ?m ?k { ?s jrpc:hasMethod ?m BIND(xsd:integer(SUBSTR(?m, 6)) + 1 AS ?k) } }
        { SELECT ?n ?k { { SELECT DISTINCT ?n { ?s jrpc:hasMethod ?n } } BIND(xsd:integer(SUBSTR(?n, 6)) AS ?k) } } }",
    "ASK { ?s jrpc:hasMethod \"many-69\" }",
    "CONSTRUCT { ?s ?p ?o } WHERE { ?s a jrpc:Request ; ?p ?o }",
    "DESCRIBE <https://e/one#m3>",
    "SELECT ?s { ?s a jrpc:Request FILTER NOT EXISTS { ?a rpcg:respondsTo ?s } }",
];

#[test]
fn columns_answer_as_the_store_does() {
    let logs = [terms().into_bytes(), few_terms().join("\n").into_bytes()];
    for query in QUERIES {
        let count = assert_same(query, &logs, &[]);
        assert!(count > 0, "{query}");
    }
    for query in CATALOGUE {
        assert_same(query.text, &logs[..1], &[]);
    }
}

/// Also without protocols, whose terms they do not need.
#[test]
fn named_queries_answer_as_in_the_store() {
    for name in ["mcp.jsonl", "tools.jsonl", "documents.jsonl", "lsp.log", "plain.ndjson"] {
        let error = r#"{"jsonrpc":"2.0","id":"last","method":"tools/list"}
{"jsonrpc":"2.0","id":"last","error":{"code":-32021,"message":"no"}}"#;
        let logs = [std::fs::read(own("tests/queries").join(name)).expect("a log"), error.into()];
        for query in CATALOGUE {
            assert_same(query.text, &logs, &[]);
        }
    }
}

/// Few groups, and more than are counted in columns.
#[test]
fn groups_are_counted_as_in_the_store() {
    let timed = std::fs::read(own("tests/queries/mcp.jsonl")).expect("a log");
    let logs = [timed, terms().into_bytes()];
    for (pattern, keys, counts) in [
        ("?r jrpc:hasMethod ?m", "?m", "(COUNT(*) AS ?n)"),
        (
            "?r jrpc:hasMethod ?m ; rpcg:sequence ?q",
            "?m",
            "(MIN(?q) AS ?a) (MAX(?q) AS ?b) (SUM(?q) AS ?c) (COUNT(?q) AS ?d)",
        ),
        ("?r a ?t ; rpcg:inSession ?s", "?s ?t", "(COUNT(?r) AS ?n)"),
        // One IRI begins with another.
        ("?r rpcg:inSession ?s", "?s", "(MIN(?r) AS ?a) (MAX(?r) AS ?b)"),
        (
            "?a rpcg:respondsTo ?r . ?r jrpc:hasMethod ?m ; rpcg:inSession ?s",
            "?m",
            "(COUNT(DISTINCT ?s) AS ?n) (COUNT(?a) AS ?c)",
        ),
        ("?r a jrpc:Request ; jrpc:hasId ?i . ?i jrpc:hasNumberValue ?v", "?v", "(COUNT(*) AS ?n)"),
        ("?i jrpc:hasNumberValue ?v ; a ?t", "?t", "(SUM(?v) AS ?n)"),
        ("?a rpcg:respondsTo ?r . ?r a jrpc:Request", "?r", "(COUNT(*) AS ?n)"),
        ("?r jrpc:hasParameters ?p", "?p", "(COUNT(DISTINCT ?r) AS ?n)"),
    ] {
        let query = format!("SELECT {keys} {counts} {{ {pattern} }} GROUP BY {keys}");
        assert!(assert_same(&query, &logs, &[]) > 0, "{query}");
    }
    assert_same(
        "SELECT ?x (COUNT(*) AS ?n) { ?r rpcg:cancels ?x ; rpcg:inSession <https://e/none> } GROUP BY ?x",
        &logs,
        &[],
    );
}

/// Payloads of every kind, whole and with only the members that a query needs.
#[test]
fn functions_of_payloads_answer_as_in_the_store() {
    let params = [
        r#"{"b":[{"c":1},{"c":"x"}],"a":{"a/b":"\u00e9\n","~":null}}"#,
        r#"{"a":1,"a":{"c":[1,2.50,1e400]}}"#,
        r#"{"\u0061":"\ud800","b":"{\"c\":3}","c\"d":true,"*":{"c":[]}}"#,
        r#"[{"a":1},"b",-0,[2]]"#,
        r#"{"b": { "z" : 1, "c" : [ true , false ] } , "é": 0}"#,
        r#"{}"#,
    ];
    let log: String =
        params.iter().map(|params| format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{params}}}\n")).collect();
    let pointers = [
        "/a", "/b", "/b/0/c", "/b/*/c", "/a/a~1b", "/a/~0", "/a/c/*", "/c\\\"d", "/*/c", "/1", "/2", "/3/0", "/é", "/x",
    ];
    for function in ["json", "jsonLength", "jsonSize", "jsonKeys", "jsonPointers", "jsonType"] {
        for pointer in pointers {
            let call = format!("rpcg:{function}(?p, \"{pointer}\")");
            let found = format!("SELECT ?m ?v {{ ?m jrpc:hasParameters ?p BIND({call} AS ?v) }}");
            let whole = found.replace("?m ?v {", "?m ?v ?p {");
            assert_eq!(assert_same(&found, &[log.clone().into_bytes()], &[]), params.len());
            assert_same(&whole, &[log.clone().into_bytes()], &[]);
            let nested = format!("SELECT ?v {{ ?m jrpc:hasParameters ?p BIND(rpcg:json({call}, \"/c\") AS ?v) }}");
            assert_same(&nested, &[log.clone().into_bytes()], &[]);
        }
    }
}

/// A context may give a string the type of JSON, which it need not be, nor be canonical.
#[test]
fn functions_of_strings_that_a_context_calls_json_answer_as_in_the_store() {
    let json = "http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON";
    let term = |property: String| json!({ "@id": property, "@type": json });
    let has_params = format!("{}hasParameters", "http://json-rpc.org/ontology#");
    let context = json!({ "params": "https://v/params", "q": term("https://v/q".into()), "r": term(has_params) });
    let contexts = [Context::from_value("v", context).expect("a context")];
    let params = json!({ "q": "{\"b\": 1, \"a\":[1 ,2", "r": "{ \"\\u0062\": 1, \"b\" : [ 2 ] }" });
    let log = json!({ "jsonrpc": "2.0", "method": "m", "params": params }).to_string().into_bytes();
    for call in ["rpcg:jsonSize(?p, \"/b\")", "rpcg:json(?p, \"/b\")", "rpcg:jsonSize(?p)", "rpcg:jsonType(?p)"] {
        for property in ["<https://v/q>", "jrpc:hasParameters"] {
            let query = format!("SELECT ?v {{ ?m {property} ?p BIND({call} AS ?v) }}");
            assert_eq!(assert_same(&query, std::slice::from_ref(&log), &contexts), 1, "{query}");
        }
    }
}

/// Records of one session, one side or one time, and records without any.
#[test]
fn conditions_of_records_change_no_answer() {
    let timed = std::fs::read(own("tests/queries/mcp.jsonl")).expect("a log");
    let logs = [timed, terms().into_bytes()];
    for pattern in [
        "?m rpcg:sentBy rpcg:Server ; jrpc:hasResult|jrpc:hasParameters ?p",
        "?m jrpc:hasParameters ?p FILTER EXISTS { ?m rpcg:sentBy ?f FILTER(LCASE(STRAFTER(STR(?f), '#')) = 'client') }",
        "?m jrpc:hasParameters ?p ; rpcg:capturedAt|rpcg:clockTime ?t FILTER(?t > '2026-01-05T10:00:01Z'^^xsd:dateTime)",
        "?m jrpc:hasParameters ?p ; rpcg:capturedAt '2026-01-05T10:00:00Z'^^xsd:dateTime",
        "?m jrpc:hasParameters ?p ; rpcg:inSession ?s FILTER(STRENDS(STR(?s), 'a1'))",
        "?m rpcg:inSession <https://e/two> OPTIONAL { ?m jrpc:hasParameters ?p }",
        "?m a ?t ; rpcg:sequence ?n FILTER(?n < 5)",
        "?m a ?t ; rpcg:inSession ?s . ?m rpcg:problem ?p",
        "?m rpcg:problem ?p ; rpcg:sequence ?n FILTER(?n IN (1, 2, 3, 7, 8))",
        "?m rpcg:text ?t ; rpcg:inSession ?s",
        "?m rpcg:sentBy ?r ; a ?t MINUS { ?m jrpc:hasMethod ?x FILTER(STRSTARTS(?x, 'tools/')) }",
        "{ OPTIONAL { ?m jrpc:hasParameters 'none' } } ?m jrpc:hasMethod 'a'",
        "{ SELECT ?m { ?m a ?t } } ?m rpcg:inSession ?s FILTER(STRENDS(STR(?s), 'two'))",
    ] {
        assert!(assert_same(&format!("SELECT * {{ {pattern} }}"), &logs, &[]) > 0, "{pattern}");
    }
}

/// Of one load: one query asks for lengths, another for what is that long.
#[test]
fn queries_of_one_load_find_what_they_do_alone() {
    let lengths = "SELECT ?m ?n { ?m jrpc:hasParameters ?p BIND(STRLEN(STR(?p)) AS ?n) }";
    let texts = "SELECT ?m ?p { ?m jrpc:hasParameters ?p }";
    let logs = [terms().into_bytes()];
    for pair in [[lengths, texts], [texts, lengths], [lengths, lengths]] {
        let [first, second] = pair.map(|text| Query::parse(text, None).expect("a query"));
        let both = first.clone().with_needs_of(&second);
        for query in [&first, &second] {
            let dataset = loaded(&both, &logs, &[], false);
            assert_eq!(lines(&dataset, query), found(query, &logs, &[], false), "{pair:?}");
        }
    }
}

/// Logs are named in turn, so that a log that comes first need not be first in the order of sessions.
#[test]
fn rows_come_in_order_whether_the_log_has_it_or_not() {
    let text = terms();
    let lines: Vec<&str> = text.lines().take(17).collect();
    let logs = || lines.chunks(6).map(|lines| lines.join("\n").into_bytes());
    // Of one type each.
    let star = "?m rpcg:inSession ?session ; rpcg:sequence ?n ; a ?type FILTER(?type != rpcg:Failure)";
    let index = "OPTIONAL { ?m rpcg:batchIndex ?index }";
    for query in [
        format!("SELECT ?m ?type {{ {star} {index} }} ORDER BY ?session ?n ?index"),
        format!(
            "SELECT ?m ?type ?method {{ {star} {index} OPTIONAL {{ ?m jrpc:hasMethod ?method }} }} ORDER BY ?session ?n ?index LIMIT 7"
        ),
        format!("SELECT ?n {{ {star} FILTER(?type != jrpc:Request) }} ORDER BY ?session ?n"),
        format!("SELECT ?m {{ {star} {index} }} ORDER BY ?n ?session ?index"),
    ] {
        let query = Query::parse(&query, None).expect("a query");
        for logs in [logs().collect(), logs().rev().collect::<Vec<_>>(), vec![terms().into_bytes()]] {
            assert_eq!(found(&query, &logs, &[], false), found(&query, &logs, &[], true), "{query:?}");
        }
    }
}

/// Blank nodes, languages, and properties that nobody foresaw.
#[test]
fn columns_answer_as_the_store_does_under_further_contexts() {
    let vocabulary = json!({
        "@vocab": "https://v/", "params": "https://v/params", "@language": "en", "u": { "@type": "@id" },
        "v": { "@type": "@id" }
    });
    let contexts = [Context::from_value("v", vocabulary).expect("a context")];
    let head = terms().lines().take(20).collect::<Vec<_>>().join("\n").into_bytes();
    for query in [
        "SELECT * { ?s ?p ?o }",
        "SELECT DISTINCT ?o { ?s ?p ?o }",
        "SELECT * { ?s <https://v/u>|<https://v/v> ?n . ?n ?p ?o }",
    ] {
        assert!(assert_same(query, &[head.clone(), head.clone()], &contexts) > 0, "{query}");
    }
}

#[test]
fn columns_answer_as_the_store_does_for_every_log() {
    for path in [".jsonl", ".ndjson", ".log", ".io"].into_iter().flat_map(logs) {
        let log = std::fs::read(&path).expect("a log");
        if log.len() < 2_000_000 {
            assert_same("SELECT * { ?s ?p ?o }", &[log], &[]);
        }
    }
}

#[test]
fn a_dataset_is_loaded_once() {
    let query = Query::parse("ASK { ?s ?p ?o }", None).expect("a query");
    let dataset = Dataset::new(&query, false).expect("a dataset");
    let load = || dataset.load(&Cancel::default()).expect("a start").commit();
    assert!(load().is_ok());
    assert!(load().is_err_and(|error| error.to_string().contains("loaded before")));
}
