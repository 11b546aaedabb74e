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
