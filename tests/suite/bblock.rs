//! The mapping `bblock`: the building block to the letter.

use std::fs;

use oxrdf::Quad;
use oxrdfio::{RdfFormat, RdfParser};
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::mapping::{Loss, Mapper, Mapping};
use rpcgraph::sink::Syntax;
use rpcgraph::summary::Summary;

use crate::support::{assert_isomorphic, files, needed_corpora};

/// Converts as the command does without `--base`.
fn convert(log: &[u8]) -> (Vec<Quad>, Summary) {
    let mut text = Vec::new();
    let mut converter = Converter::new(Mapper::new(Mapping::Bblock, &[]).expect("contexts work"), Options::default());
    let input =
        Input { name: "log".into(), source: "log".into(), iri: "file:///tmp/log".into(), iri_stated: false, read: log };
    let mut sink = Syntax::NQuads.sink(&mut text, 1);
    let summary = converter.convert(input, &mut sink, &mut |_| {}).expect("a conversion");
    sink.finish().expect("the end");
    drop(sink);
    (RdfParser::from_format(RdfFormat::NQuads).for_slice(&text).map(Result::unwrap).collect(), summary)
}

fn turtle(text: &str) -> Vec<Quad> {
    let prefixes = "@prefix jrpc: <http://json-rpc.org/ontology#> .
        @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
        @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        @base <https://override-me-for-custom-content.eg/> .\n";
    let text = format!("{prefixes}{text}");
    RdfParser::from_format(RdfFormat::Turtle).for_slice(text.as_bytes()).map(Result::unwrap).collect()
}

#[test]
fn examples_like_the_published_ones() {
    // In their form, with other values.
    for (example, expected) in [
        (
            r#"{ "jsonrpc": "2.0", "method": "divide", "params": { "divisor": 2, "dividend": 9.50 }, "id": "7" }"#,
            r#"[] jrpc:version "2.0" ; jrpc:hasMethod "divide" ; jrpc:hasId <https://override-me-for-custom-content.eg/7> ;
                jrpc:hasParameters "{\"dividend\":9.5,\"divisor\":2}"^^rdf:JSON ."#,
        ),
        (
            r#"{ "jsonrpc": "2.0", "result": { "value": 4.75 }, "id": "7" }"#,
            r#"[] jrpc:version "2.0" ; jrpc:hasId <7> ; jrpc:hasResult "{\"value\":4.75}"^^rdf:JSON ."#,
        ),
    ] {
        let (quads, summary) = convert(example.as_bytes());
        assert_isomorphic(&quads, &turtle(expected), example);
        assert_eq!(summary.losses.iter().count(), 0, "nothing is lost of {example}");
    }
}

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn published_examples_beside_the_corpora() {
    let corpora = needed_corpora();
    let examples = files(&corpora.join("../reference/ogc-json-rpc/build/tests/json-rpc"), ".json");
    let examples: Vec<_> = examples.into_iter().filter(|path| !path.ends_with("_report.json")).collect();
    assert_eq!(examples.len(), 3);
    for example in examples {
        let (quads, summary) = convert(&fs::read(&example).expect("an example"));
        let expected = fs::read_to_string(example.with_extension("ttl")).expect("its Turtle");
        assert_isomorphic(&quads, &turtle(&expected), &example.display().to_string());
        assert_eq!(summary.losses.iter().count(), 0, "nothing is lost of {}", example.display());
    }
}

#[test]
fn messages_map_under_the_context() {
    for (message, expected) in [
        (r#"{"jsonrpc":"2.0","method":"m","id":1}"#, r#"[] jrpc:version "2.0" ; jrpc:hasMethod "m" ; jrpc:hasId 1 ."#),
        (r#"{"method":"m","id":1.5}"#, r#"[] jrpc:hasMethod "m" ; jrpc:hasId 1.5E0 ."#),
        (r#"{"method":"m","id":"http://e/x y"}"#, r#"[] jrpc:hasMethod "m" ."#),
        (r#"{"method":"m","id":"_:b7"}"#, r#"[] jrpc:hasMethod "m" ; jrpc:hasId [] ."#),
        (r#"{"method":"m","id":"@type"}"#, r#"[] jrpc:hasMethod "m" ."#),
        (
            r#"{"method":"m","id":null,"params":null}"#,
            r#"[] jrpc:hasMethod "m" ; jrpc:hasParameters "null"^^rdf:JSON ."#,
        ),
        (
            r#"{"id":"x/../y","error":{"code":-32601.0,"message":"m","data":[1.0,1e2],"more":1}}"#,
            r#"[] jrpc:hasId <y> ; jrpc:hasError [ jrpc:hasErrorCode -32601 ; jrpc:hasErrorMessage "m" ;
                jrpc:hasErrorData "[1,100]"^^rdf:JSON ] ."#,
        ),
        // The error's terms are scoped to it, and what only looks like a keyword is dropped.
        (r#"{"method":"m","message":"x","code":1,"data":2}"#, r#"[] jrpc:hasMethod "m" ."#),
        (r#"{"method":"m","@id":"http://e/s","@type":"http://e/T"}"#, r#"[] jrpc:hasMethod "m" ."#),
        (r#"{"method":"m","@context":{"method":"http://e/m"}}"#, r#"[] jrpc:hasMethod "m" ."#),
        // To the letter: other terms and IRIs are mapped too.
        (
            r#"{"method":"m","stringValue":"s","http://e/p":2,"jrpc:hasResult":true}"#,
            r#"[] jrpc:hasMethod "m" ; jrpc:hasStringValue "s" ; <http://e/p> 2 ; jrpc:hasResult true ."#,
        ),
        (
            r#"{"result":{"@id":"x","n":12345678901234567890,"\ud83d\ude00":1,"\ufb33":2}}"#,
            r#"[] jrpc:hasResult "{\"@id\":\"x\",\"n\":12345678901234567000,\"😀\":1,\"\uFB33\":2}"^^rdf:JSON ."#,
        ),
        (r#"{"result":"\ud800"}"#, r#"[] jrpc:hasResult "\"\\ud800\""^^rdf:JSON ."#),
        (r#"{"method":"m","params":[1e400]}"#, r#"[] jrpc:hasMethod "m" ."#),
        (r#"[{"method":"a"},{"method":"b"},3,[{"method":"c"}]]"#, r#"[] jrpc:hasMethod "a" . [] jrpc:hasMethod "b" ."#),
        ("3", ""),
        ("no json", ""),
    ] {
        assert_isomorphic(&convert(message.as_bytes()).0, &turtle(expected), message);
    }
}

#[test]
fn losses_are_counted() {
    let log = r#"{"method":"m","id":null,"x":1,"@id":"y","params":[1e400],"method":"n"}
{"id":"a b","result":9007199254740993,"method":"\ud800"}
[1]
no json"#;
    let losses = convert(log.as_bytes()).1.losses;
    let counted: Vec<_> = losses.iter().collect();
    assert_eq!(
        counted,
        [
            (Loss::NullId, 1),
            (Loss::NoIri, 1),
            (Loss::UnmappedMember, 1),
            (Loss::KeywordMember, 1),
            (Loss::NumberChanged, 1),
            (Loss::NumberOutOfRange, 1),
            (Loss::LoneSurrogate, 1),
            (Loss::DuplicateMember, 1),
            (Loss::NoObject, 2),
        ]
    );
}
