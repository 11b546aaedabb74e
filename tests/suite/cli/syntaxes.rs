//! Syntaxes: each reads back, and all say the same.

use oxrdf::Quad;
use oxrdfio::{JsonLdProfileSet, RdfFormat};
use rpcgraph::sink::Syntax;

use super::{BASE, LOG, Place, gzip, parse, triples, zstd};
use crate::support::assert_isomorphic;

/// Everything that syntaxes may stumble over, but for what XML cannot carry.
const ODD: &str = r#"{"jsonrpc":"2.0","id":"<a href=\"x\">\\&amp; 'q' \" ]]> é 😀 \u0085 \u2028","method":" a\tb \n "}
{"jsonrpc":"2.0","id":1234567890.5,"method":"m","params":{"😀":1,"\ufb33":2,"n":[1.0,1e400,-0,9007199254740993]}}
{"jsonrpc":"2.0","id":1234567890.50,"result":"\ud800"}
{"jsonrpc":"2.0","id":null,"error":{"code":123456789012345678901234567890,"message":"","data":null,"x":[{}]}}
{"jsonrpc":"2.0","id":7,"error":[1]}
{"jsonrpc":"2.0","method":"","params":null,"@id":"http://example.org/","@type":"_:b","_:x":"y","http://example.org/p":1}
[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","id":1,"method":"n"},3,{"jsonrpc":"2.0","id":1,"result":{}}]
{"method":"twice","method":"m","params":{"a":1,"a":2}}
@prefix : <http://example.org/> .
{"jsonrpc":"2.0"
"#;

/// JSON-LD of any profile.
pub fn json_ld() -> RdfFormat {
    RdfFormat::JsonLd { profile: JsonLdProfileSet::empty() }
}

/// The format that a syntax of the program is.
pub fn format(name: &str) -> RdfFormat {
    match name {
        "turtle" => RdfFormat::Turtle,
        "ntriples" => RdfFormat::NTriples,
        "nquads" => RdfFormat::NQuads,
        "trig" => RdfFormat::TriG,
        "rdfxml" => RdfFormat::RdfXml,
        "jsonld" => json_ld(),
        other => panic!("{other} is no format of oxrdfio"),
    }
}

/// Reads what the program wrote; of several lines of JSON-LD, each by itself.
fn read(syntax: Syntax, text: &[u8]) -> Vec<Quad> {
    match syntax {
        Syntax::JsonLdLines => {
            text.split_inclusive(|byte| *byte == b'\n').flat_map(|line| parse(json_ld(), line)).collect()
        }
        other => parse(format(other.name()), text),
    }
}

fn has_graphs(syntax: Syntax) -> bool {
    !matches!(syntax, Syntax::Turtle | Syntax::NTriples | Syntax::RdfXml)
}

#[test]
fn syntaxes_hold_equal_graphs() {
    let place = Place::with("log", LOG);
    place.put("odd", ODD);
    place.put("third", [ODD, LOG].concat());
    // oxjsonld keeps more digits of a number beyond 2^53 than a double has, which is what a number is to JSON-LD.
    place.put("plain", ODD.replace("123456789012345678901234567890", "7"));
    place.put("context.jsonld", r#"{"@context":{"x":"http://example.org/x","data":"http://example.org/data"}}"#);
    for arguments in [
        &["log"][..],
        &["odd"],
        &["odd", "--provenance", "-c", "context.jsonld"],
        &["log", "odd", "third"],
        &["plain", "-m", "bblock"],
        &["plain", "-m", "bblock", "-c", "context.jsonld"],
    ] {
        let run = |syntax: Syntax| {
            let arguments = [arguments, &["--base", BASE, "-t", syntax.name()]].concat();
            let ran = place.convert(&arguments);
            assert_eq!(ran.status, Some(0), "{arguments:?}: {}", ran.stderr);
            read(syntax, &ran.stdout)
        };
        let expected = run(Syntax::NQuads);
        assert!(expected.len() > 15);
        for syntax in Syntax::ALL {
            let found = run(syntax);
            let what = format!("{} of {arguments:?}", syntax.name());
            match has_graphs(syntax) {
                true => assert_isomorphic(&expected, &found, &what),
                false => assert_isomorphic(&triples(&expected), &found, &what),
            }
        }
    }
}

/// A message is a document of its own, so its blank nodes are no other message's.
#[test]
fn blank_nodes_of_messages_stay_apart() {
    let log = r#"{"jsonrpc":"2.0","id":"_:a","method":"m","who":"_:a"}
{"jsonrpc":"2.0","id":"_:a","method":"m","who":"_:a"}
[{"jsonrpc":"2.0","id":"_:a","method":"m"},{"jsonrpc":"2.0","id":"_:a","method":"m"}]
"#;
    let place = Place::with("log", log);
    place.put("who.jsonld", r#"{"@context":{"who":{"@id":"http://example.org/who","@type":"@id"}}}"#);
    for arguments in [&["-c", "who.jsonld"][..], &["-m", "bblock"]] {
        let run = |syntax: Syntax| {
            let ran = place.convert(&[&["log", "--base", BASE, "--quiet", "-t", syntax.name()], arguments].concat());
            read(syntax, &ran.quietly().stdout)
        };
        for syntax in [Syntax::TriG, Syntax::JsonLd, Syntax::JsonLdLines] {
            assert_isomorphic(&run(Syntax::NQuads), &run(syntax), &format!("{} with {arguments:?}", syntax.name()));
        }
    }
}

/// Each is a document of its own, and says what it says however often it was said.
#[test]
fn equal_messages_are_several() {
    let place = Place::with("log", r#"[{"jsonrpc":"2.0","method":"m"},{"jsonrpc":"2.0","method":"m"}]"#);
    for syntax in [Syntax::NQuads, Syntax::JsonLd, Syntax::JsonLdLines] {
        let ran = place.convert(&["log", "-m", "bblock", "--quiet", "-t", syntax.name()]);
        assert_eq!(read(syntax, &ran.quietly().stdout).len(), 4, "{}", syntax.name());
    }
}

#[test]
fn json_ld_lines_are_documents() {
    let place = Place::with("log", LOG);
    let ran = place.convert(&["log", "-t", "jsonld-lines"]);
    ran.said(0, super::LOG_SUMMARY);
    let lines: Vec<_> = ran.text().lines().collect();
    assert_eq!(lines.len(), 6, "five records and the session");
    for line in lines {
        let document: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let [graph] = document.as_array().expect("a document in expanded form").as_slice() else { panic!("{line}") };
        assert!(graph.get("@graph").is_some() && !line.contains("@context"));
        assert!(!parse(json_ld(), line.as_bytes()).is_empty());
    }
}

#[test]
fn control_characters() {
    let log = r#"{"jsonrpc":"2.0","id":"\u0000","method":"a\u0001b\u001f\u007f\ufffe\r\n\u000b"}"#;
    let place = Place::with("log", log);
    let run = |syntax: Syntax| place.convert(&["log", "--base", BASE, "--quiet", "-t", syntax.name()]);
    let expected = read(Syntax::NQuads, &run(Syntax::NQuads).quietly().stdout);
    assert_eq!(super::values(&expected, "#m1", &super::jrpc("hasMethod")), ["a\u{1}b\u{1f}\u{7f}\u{fffe}\r\n\u{b}"]);
    for syntax in Syntax::ALL.into_iter().filter(|syntax| *syntax != Syntax::RdfXml) {
        let found = read(syntax, &run(syntax).quietly().stdout);
        assert_isomorphic(&triples(&expected), &triples(&found), syntax.name());
    }
}

#[test]
fn characters_outside_of_xml_are_refused() {
    let place = Place::new();
    for (escape, character) in [
        ("\\u0001", "U+0001"),
        ("\\u0000", "U+0000"),
        ("\\u001f", "U+001F"),
        ("\\ufffe", "U+FFFE"),
        ("\\uffff", "U+FFFF"),
    ] {
        place.put("log", format!("{LOG}{{\"jsonrpc\":\"2.0\",\"method\":\"a{escape}\"}}\n"));
        let stderr = format!(
            "error: XML cannot carry {character}, which a literal of <{BASE}#m6> holds: use Turtle or another syntax \
             instead\n"
        );
        place.convert(&["log", "--base", BASE, "-t", "rdfxml"]).said(2, &stderr);
        place.put("old.rdf", "old");
        place.convert(&["log", "--base", BASE, "-o", "old.rdf"]).said(2, &stderr);
        place.convert(&["log", "--base", BASE, "-o", "new.rdf.gz"]).said(2, &stderr);
        assert_eq!(place.read("old.rdf"), b"old");
        assert_eq!(place.names(), ["log", "old.rdf"]);
    }
    // In a payload they are escaped, as JSON has it.
    place.put("log", r#"{"jsonrpc":"2.0","method":"m","params":["\u0000\u0001\uffff"]}"#.replace("\\uffff", ""));
    place.convert(&["log", "-t", "rdfxml", "--quiet"]).quietly();
}

#[test]
fn properties_that_have_no_name_in_xml() {
    let place = Place::with("log", r#"{"jsonrpc":"2.0","method":"m","x":1}"#);
    place.put("numbered.jsonld", r#"{"@context":{"x":"http://example.org/1"}}"#);
    place.convert(&["log", "-c", "numbered.jsonld", "-o", "out.rdf"]).said(
        2,
        "error: XML cannot carry the property <http://example.org/1>, whose name XML does not allow: use Turtle \
         or another syntax instead\n",
    );
    assert_eq!(place.names(), ["log", "numbered.jsonld"]);
    for iri in ["http://example.org/a1", "http://example.org/1a", "http://example.org/a#1_b", "urn:a:é"] {
        place.put("named.jsonld", format!(r#"{{"@context":{{"x":"{iri}"}}}}"#));
        let run = |syntax: Syntax| {
            let ran = place.convert(&["log", "-c", "named.jsonld", "--quiet", "--base", BASE, "-t", syntax.name()]);
            read(syntax, &ran.quietly().stdout)
        };
        assert_isomorphic(&run(Syntax::NTriples), &run(Syntax::RdfXml), iri);
    }
}

/// Compression changes nothing about what is inside.
#[test]
fn compressed_inputs() {
    let place = Place::with("log", ODD);
    place.put("log.gz", gzip(ODD.as_bytes()));
    place.put("log.zst", zstd(ODD.as_bytes()));
    let run = |name: &str| place.convert(&[name, "--base", BASE, "-t", "nquads", "--provenance"]);
    let expected = run("log");
    for name in ["log.gz", "log.zst"] {
        let found = run(name);
        assert_eq!(found.text().replace(name, "log"), expected.text());
        assert_eq!(found.stderr.replace(name, "log"), expected.stderr);
    }
}
