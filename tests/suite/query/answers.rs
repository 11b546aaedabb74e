//! What is written of an answer.

use oxrdfio::{JsonLdProfileSet, RdfFormat};

use super::ask;
use crate::cli::{BASE, LOG, Place, parse};
use crate::support::assert_isomorphic;

/// A row of every kind of term, and one of none.
const TERMS: &str = r#"SELECT ?iri ?plain ?tagged ?number ?json WHERE {
  VALUES (?iri ?plain ?tagged ?number ?json) {
    (<#m1> "a,\"b\"\n<c>" "hej"@sv 1.5 "[1]"^^rdf:JSON)
    (UNDEF UNDEF UNDEF UNDEF UNDEF)
  }
}"#;

#[test]
fn rows_in_the_formats_of_the_w3c() {
    // As the four recommendations write these terms.
    let csv = "iri,plain,tagged,number,json\r\nhttps://example.org/s#m1,\"a,\"\"b\"\"\n<c>\",hej,1.5,[1]\r\n,,,,\r\n";
    let tsv = "?iri\t?plain\t?tagged\t?number\t?json\n<https://example.org/s#m1>\t\"a,\\\"b\\\"\\n<c>\"\t\"hej\"@sv\t1.5\t\
               \"[1]\"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON>\n\t\t\t\t\n";
    for (format, expected) in [("csv", csv), ("tsv", tsv)] {
        let ran = ask(LOG, TERMS, &["-t", format]);
        ran.quietly();
        assert_eq!(ran.text(), expected, "{format}");
    }
    let json: serde_json::Value = serde_json::from_str(ask(LOG, TERMS, &["-t", "json"]).text()).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "head": {"vars": ["iri", "plain", "tagged", "number", "json"]},
            "results": {"bindings": [
                {
                    "iri": {"type": "uri", "value": "https://example.org/s#m1"},
                    "plain": {"type": "literal", "value": "a,\"b\"\n<c>"},
                    "tagged": {"type": "literal", "value": "hej", "xml:lang": "sv"},
                    "number": {"type": "literal", "value": "1.5", "datatype": "http://www.w3.org/2001/XMLSchema#decimal"},
                    "json": {"type": "literal", "value": "[1]", "datatype": "http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON"},
                },
                {},
            ]},
        })
    );
    let ran = ask(LOG, TERMS, &["-t", "xml"]);
    for part in [
        "<variable name=\"iri\"/>",
        "<binding name=\"iri\"><uri>https://example.org/s#m1</uri></binding>",
        "<literal xml:lang=\"sv\">hej</literal>",
        "<result></result>",
    ] {
        assert!(ran.text().contains(part), "{part} in {}", ran.text());
    }
}

#[test]
fn a_table_for_people() {
    let ran = ask(LOG, TERMS, &[]);
    ran.quietly();
    assert_eq!(
        ran.text(),
        "iri  plain       tagged  number  json\n\
         ───  ──────────  ──────  ──────  ────\n\
         m1   a,\"b\"\\n<c>  hej@sv     1.5  [1]\n\
         \n"
    );
    let place = Place::with("s", LOG);
    let ran = place.run(&["query", "s", "-q", "SELECT ?m { ?r jrpc:hasMethod ?m } ORDER BY ?m"]);
    ran.said(0, "3 rows\n");
    assert_eq!(ran.text(), "m\n────────\nno\nnote\nsubtract\n");
}

#[test]
fn columns_of_a_star_stand_as_they_are_named() {
    let ran = ask(LOG, "SELECT DISTINCT * { ?z jrpc:hasMethod ?a } ORDER BY ?z LIMIT 1", &["-t", "csv"]);
    assert_eq!(ran.text(), "z,a\r\nhttps://example.org/s#m1,subtract\r\n");
}

#[test]
fn yes_and_no() {
    let yes = "ASK { ?x a jrpc:Request }";
    assert_eq!(ask(LOG, yes, &[]).text(), "true\n");
    assert_eq!(ask(LOG, yes, &["-t", "csv"]).text(), "true\n");
    assert_eq!(ask(LOG, yes, &["-t", "json"]).text(), "{\"head\":{},\"boolean\":true}");
    assert_eq!(ask(LOG, "ASK { ?x a rpcg:Batch }", &[]).text(), "false\n");
}

#[test]
fn graphs_in_every_syntax() {
    let construct = "CONSTRUCT { ?r <http://example.org/called> ?m ; <http://example.org/with> ?p } \
                     WHERE { ?r jrpc:hasMethod ?m OPTIONAL { ?r jrpc:hasParameters ?p } }";
    let expected = parse(RdfFormat::NTriples, &ask(LOG, construct, &["-t", "ntriples"]).stdout);
    assert_eq!(expected.len(), 5);
    for (name, format) in [
        ("turtle", RdfFormat::Turtle),
        ("nquads", RdfFormat::NQuads),
        ("trig", RdfFormat::TriG),
        ("jsonld", RdfFormat::JsonLd { profile: JsonLdProfileSet::empty() }),
        ("rdfxml", RdfFormat::RdfXml),
    ] {
        let ran = ask(LOG, construct, &["-t", name]);
        ran.quietly();
        assert_isomorphic(&expected, &ran.quads(format), name);
    }
    let lines = ask(LOG, construct, &["-t", "jsonld-lines"]);
    let mut quads = Vec::new();
    for line in lines.text().lines() {
        quads.extend(parse(RdfFormat::JsonLd { profile: JsonLdProfileSet::empty() }, line.as_bytes()));
    }
    assert_eq!(lines.text().lines().count(), 3);
    assert_isomorphic(&expected, &quads, "jsonld-lines");
}

#[test]
fn turtle_is_short_against_the_session() {
    let ran = ask(LOG, "DESCRIBE <#m2>", &[]);
    ran.quietly();
    assert!(ran.text().starts_with("@base <https://example.org/s> .\n"), "{}", ran.text());
    assert!(ran.text().contains("<#m2> "), "{}", ran.text());
    let whole = Place::with("s", LOG).run(&["convert", "s", "--base", BASE, "-t", "ntriples", "--quiet"]);
    let subject = "<https://example.org/s#m2>";
    let expected: Vec<_> =
        whole.quads(RdfFormat::NTriples).into_iter().filter(|quad| quad.subject.to_string() == subject).collect();
    assert_isomorphic(&expected, &ran.quads(RdfFormat::Turtle), "the description");
}

#[test]
fn xml_refuses_what_it_cannot_carry() {
    let log = "{\"jsonrpc\":\"2.0\",\"method\":\"a\\u0001b\"}";
    let query = "SELECT ?m { ?r jrpc:hasMethod ?m }";
    ask(log, query, &["-t", "xml"]).began(2, "error: XML cannot carry U+0001, which a literal of row 1 holds: use ");
    ask(log, "CONSTRUCT { ?r jrpc:hasMethod ?m } { ?r jrpc:hasMethod ?m }", &["-t", "rdfxml"])
        .began(2, "error: XML cannot carry U+0001, which a literal of <https://example.org/s#m1> holds: use Turtle");
    // A terminal is not given it either, but told of it.
    assert_eq!(ask(log, query, &[]).text(), "m\n───────\na\\u{1}b\n");
}

#[test]
fn an_output_file_tells_the_format() {
    let place = Place::with("s", LOG);
    let select = "SELECT ?m { ?r jrpc:hasMethod ?m } ORDER BY ?m LIMIT 1";
    for (file, content) in [
        ("a.csv", "m\r\nno\r\n"),
        ("a.tsv", "?m\n\"no\"\n"),
        (
            "a.srj",
            "{\"head\":{\"vars\":[\"m\"]},\"results\":{\"bindings\":[{\"m\":{\"type\":\"literal\",\"value\":\"no\"}}]}}",
        ),
        ("a.txt", "m\n──\nno\n"),
    ] {
        place.run(&["query", "s", "--quiet", "-q", select, "-o", file]).quietly().printed_nothing();
        assert_eq!(String::from_utf8(place.read(file)).unwrap(), content, "{file}");
    }
    place.run(&["query", "s", "--quiet", "-q", "DESCRIBE <#m1>", "-o", "a.nt.gz"]).quietly();
    assert_eq!(place.read("a.nt.gz")[..2], [0x1f, 0x8b]);
    let before = place.names();
    place
        .run(&["query", "s", "-q", select, "-o", "a.parquet"])
        .said(2, "error: no syntax goes by the extension \"parquet\" of a.parquet; name one with --to\n");
    place
        .run(&["query", "s", "-q", "DESCRIBE <#m1>", "-o", "a.csv"])
        .said(2, "error: no syntax goes by the extension \"csv\" of a.csv; name one with --to\n");
    assert_eq!(place.names(), before);
}

#[test]
fn a_plan_says_which_engine_answers() {
    let query = "SELECT ?m { ?r jrpc:hasMethod ?m } ORDER BY ?m";
    let plan = ask(LOG, query, &["--plan"]);
    assert_eq!(plan.text(), "engine: batches over columns\nwith sorted by ?m of\n  scan ?r hasMethod ?m\nrows of ?m\n");
    for (query, options, engine) in [
        (query, &["--engine", "store"][..], "engine: Oxigraph's store\n"),
        ("ASK { ?a rpcg:inBatch* ?b }", &[], "engine: Oxigraph's evaluator over columns\n"),
        ("ASK { GRAPH ?g { ?a ?b ?c } }", &[], "engine: Oxigraph's store\n"),
    ] {
        assert_eq!(ask(LOG, query, &[options, &["--plan"]].concat()).text(), engine, "{query}");
    }
    assert_eq!(ask(LOG, query, &["--engine", "store"]).text(), ask(LOG, query, &[]).text());
}
