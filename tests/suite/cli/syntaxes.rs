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
        other => panic!("{other} is not a format of oxrdfio"),
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
