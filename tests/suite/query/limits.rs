//! RDF files that are too much for a parser, and those that are not.

use crate::cli::{Place, REQUEST, gzip};

const COUNT: &str = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }";

#[test]
fn documents_that_grow_are_refused() {
    let place = Place::new();
    let level = |n: u8| format!("<!ENTITY {} \"{}\">", char::from(n + 1), format!("&{};", char::from(n)).repeat(10));
    let laughs: String = (b'a'..=b'i').map(level).collect();
    let rdf = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE r [<!ENTITY a \"ha\">{laughs}]><rdf:RDF \
         xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description rdf:about=\"urn:a\"><b \
         xmlns=\"urn:\">&j;</b></rdf:Description></rdf:RDF>"
    );
    place.put("laughs.rdf", &rdf);
    place.put("laughs.owl.gz", gzip(rdf.as_bytes()));
    let nested = |depth: usize| format!("{}1{}", r#"{"@id":"urn:a","urn:b":"#.repeat(depth), "}".repeat(depth));
    place.put("deep.jsonld", nested(4000));
    place.put("less.jsonld", nested(500));
    let too_deep = "it is nested more than 1024 levels deep: flatten it";
    let too_much = "it has an entity of more than 128 bytes, or one that refers to another: write what it stands for in its \
                    place";
    for (file, why) in [("laughs.rdf", too_much), ("laughs.owl.gz", too_much), ("deep.jsonld", too_deep)] {
        place.run(&["query", file, "-q", COUNT]).said(2, &format!("error: cannot read {file}: {why}\n"));
    }
    place.run(&["query", "less.jsonld", "-q", COUNT, "--quiet"]).quietly();
}

/// XML has U+000D as a reference, and CSV quotes whatever has a comma, a quote or a line end.
#[test]
fn line_ends_and_commas_are_read_back() {
    let method = r#"\ra\r\nb, \"c\"\r"#;
    let place = Place::with("a,b.log", format!("{}\n", REQUEST.replace("\"m\"", &format!("\"{method}\""))));
    place.convert(&["a,b.log", "-o", "out.rdf", "--quiet"]).quietly();
    let query = "SELECT ?method { ?request jrpc:hasMethod ?method }";
    let methods = place.run(&["query", "out.rdf", "-q", query, "-t", "jsonl", "--quiet"]);
    methods.quietly();
    assert_eq!(methods.text(), format!("{{\"method\":\"{method}\"}}\n"));
    let xml = place.run(&["query", "a,b.log", "-q", query, "-t", "xml", "--quiet"]);
    assert!(xml.quietly().text().contains(">&#13;a&#13;\nb, &quot;c&quot;&#13;</literal>"), "{}", xml.text());
    let query = "SELECT ?request ?method { ?request jrpc:hasMethod ?method }";
    let csv = place.run(&["query", "a,b.log", "-q", query, "-t", "csv", "--quiet"]);
    let iri = format!("{}#m1", place.iri("a,b.log"));
    assert_eq!(csv.quietly().text(), format!("request,method\r\n\"{iri}\",\"\ra\r\nb, \"\"c\"\"\r\"\r\n"));
}

/// Queries with thousands of parts are answered on several threads as on one.
#[test]
fn long_queries_end_no_stack() {
    let place = Place::with("log", format!("{REQUEST}\n").repeat(600));
    let binds: String = (0..900).map(|n| format!("BIND(?s + {n} AS ?x{n}) ")).collect();
    let patterns: String = (0..1500).map(|n| format!("?m rpcg:sequence ?s{n} . ")).collect();
    let sum = vec!["?s"; 3000].join(" + ");
    for body in [
        format!("?m rpcg:sequence ?s {binds}"),
        patterns,
        format!("?m rpcg:sequence ?s FILTER(?s < 590 || {sum} > 0)"),
        format!("?m rpcg:sequence ?s FILTER(?s < 590 || {} > 0)", vec!["?s"; 1500].join(" - 1 + ")),
    ] {
        place.put("q.rq", format!("SELECT (COUNT(*) AS ?n) {{ {body} }}"));
        for jobs in ["1", "2"] {
            let ran = place.run(&["query", "--quiet", "--jobs", jobs, "-t", "csv", "q.rq", "log"]);
            assert_eq!((ran.status, ran.text()), (Some(0), "n\r\n600\r\n"), "{jobs} {}", ran.stderr);
        }
    }
}

/// Every syntax that is written is read, however long its literals are, up to --max-record-size.
#[test]
fn long_literals_are_read_back() {
    let place = Place::with("log", format!("{}\n", REQUEST.replace("\"m\"", &format!("\"{}\"", "x".repeat(17 << 20)))));
    for syntax in ["nt", "nq", "ttl", "trig", "jsonld", "rdf"] {
        let file = format!("out.{syntax}");
        place.convert(&["log", "-o", &file, "--quiet"]).quietly();
        let query = "SELECT (STRLEN(?method) AS ?length) { ?request jrpc:hasMethod ?method }";
        let ran = place.run(&["query", &file, "-q", query, "-t", "csv", "--quiet"]);
        ran.quietly();
        assert_eq!(ran.text(), "length\r\n17825792\r\n", "{syntax}");
        if ["nt", "nq", "ttl", "trig"].contains(&syntax) {
            let ran = place.run(&["query", &file, "-q", query, "--max-record-size", "1M"]);
            ran.began(2, &format!("error: cannot read {file}: something in it is longer than "));
        }
    }
}
