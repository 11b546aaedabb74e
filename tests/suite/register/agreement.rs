//! Other JSON-LD processors, given the JSON-LD of a register and the context that it names, make the graph of the Turtle
//! beside it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use oxjsonld::{JsonLdParser, JsonLdRemoteDocument};
use oxrdf::Quad;
use oxrdfio::{RdfFormat, RdfParser};
use rpcgraph::register::{Register, RegisterOptions};
use serde_json::json;

use super::{build, fixture, reference, turtle};
use crate::cli::Place;
use crate::support::{assert_isomorphic, corpora, tool, with_decimals};

/// The base URL of the registers, for the processors.
const BASE: &str = "https://example.org/build/";

/// The pairs of a register: name, JSON-LD, graph of the Turtle.
fn pairs(register: &Register) -> Vec<(&str, &str, Vec<Quad>)> {
    let files = &register.files;
    let documents = files.iter().filter(|(path, _)| path.starts_with("tests/") && path.ends_with(".jsonld"));
    let pair = |path: &'_ str| path.replace(".jsonld", ".ttl");
    documents
        .filter(|(path, _)| files.contains_key(&pair(path)))
        .map(|(path, text)| (path.as_str(), text.as_str(), turtle(&files[&pair(path)], BASE)))
        .collect()
}

/// The documents that JSON-LD of the register may name, by URL.
fn contexts(register: &Register) -> BTreeMap<String, String> {
    let contexts = register.files.iter().filter(|(path, _)| path.ends_with("context.jsonld"));
    contexts.map(|(path, text)| (format!("{BASE}{path}"), text.clone())).collect()
}

/// Questions for jsonld.js, asked at once: starting node takes longer than most answers.
#[derive(Default)]
pub struct Questions {
    lines: Vec<String>,
    expected: Vec<(String, Vec<Quad>)>,
}

impl Questions {
    /// Both ways to name the context: by a URL, and by a path.
    fn check(&mut self, block: &Path, count: usize) {
        for base in [None, Some(BASE.to_owned())] {
            let register = build(block, &RegisterOptions { base, offline: true, ..RegisterOptions::default() });
            let pairs = pairs(&register);
            let reasons: Vec<_> = register.blocks[0].report.failed().flat_map(|item| item.reasons()).collect();
            assert_eq!(pairs.len(), count, "{reasons:?}");
            let contexts = contexts(&register);
            for (path, document, expected) in pairs {
                // It goes on with a context that does not propagate, where the property that leads on has one, too.
                if path != "tests/calculator/lossy.jsonld" {
                    assert_isomorphic(&oxjsonld(path, document, contexts.clone()), &expected, path);
                }
                self.add(path, document, &format!("{BASE}{path}"), &contexts, expected);
            }
        }
    }

    /// JSON-LD, the contexts that it names, and the graph that is expected of it.
    pub fn add(
        &mut self,
        path: &str,
        document: &str,
        base: &str,
        contexts: &BTreeMap<String, String>,
        expected: Vec<Quad>,
    ) {
        let contexts: BTreeMap<_, _> = contexts.iter().map(|(url, text)| (url, super::json(text))).collect();
        let question = json!({ "document": super::json(document), "base": base, "contexts": contexts });
        self.lines.push(question.to_string());
        self.expected.push((path.to_owned(), expected));
    }

    /// Asks jsonld.js.
    pub fn ask(self) {
        let folder = tool("RPCGRAPH_JSONLD_JS", &[]);
        let mut node = Command::new("node")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/jsonld-js/toRdf.mjs"))
            .env("RPCGRAPH_JSONLD_JS", folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node");
        let mut stdin = node.stdin.take().expect("its input");
        let lines = self.lines;
        let writer = std::thread::spawn(move || lines.iter().try_for_each(|line| writeln!(stdin, "{line}")));
        let output = node.wait_with_output().expect("its output");
        writer.join().expect("a thread").expect("questions");
        assert!(output.status.success(), "node failed");
        let answers = String::from_utf8(output.stdout).expect("text");
        assert_eq!(answers.lines().count(), self.expected.len());
        for ((path, expected), answer) in self.expected.iter().zip(answers.lines()) {
            let theirs: String = serde_json::from_str(answer).unwrap_or_else(|_| panic!("{path}: {answer}"));
            let parser = RdfParser::from_format(RdfFormat::NQuads).for_slice(theirs.as_bytes());
            assert_isomorphic(&with_decimals(parser.map(Result::unwrap).collect()), expected, path);
        }
    }
}

/// Asserts that oxjsonld agrees on all pairs of a block's register, and returns what to ask jsonld.js about them.
fn check(block: &Path, count: usize) -> Questions {
    let mut questions = Questions::default();
    questions.check(block, count);
    questions
}

fn oxjsonld(path: &str, document: &str, contexts: BTreeMap<String, String>) -> Vec<Quad> {
    let parser = JsonLdParser::new().with_base_iri(format!("{BASE}{path}")).expect("a base");
    let parser =
        parser.for_slice(document.as_bytes()).with_load_document_callback(move |url, _| match contexts.get(url) {
            Some(text) => {
                Ok(JsonLdRemoteDocument { document: text.clone().into_bytes(), document_url: url.to_owned() })
            }
            None => Err(format!("not fetched: {url}").into()),
        });
    parser.map(|quad| quad.unwrap_or_else(|error| panic!("{error}\n{document}"))).collect()
}

fn calculator() -> Questions {
    check(&fixture("calculator"), 6)
}

#[test]
fn on_the_calculator() {
    calculator();
}

fn published_examples() -> Questions {
    check(&reference("ogc-json-rpc").join("_sources/json-rpc"), 3)
}

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn on_the_published_examples_beside_the_corpora() {
    published_examples();
}

/// Another context: scoped contexts, lists, coercion.
fn another_context() -> Questions {
    let folder = reference("ogc-mcp");
    let place = Place::new();
    place.put("mcp/context.jsonld", fs::read(folder.join("build/annotated/mcp/context.jsonld")).expect("a context"));
    place.put("mcp/examples.yaml", fs::read(fixture("mcp/examples.yaml")).expect("examples"));
    let questions = check(&place.path("mcp"), 5);
    let register = build(&place.path("mcp"), &RegisterOptions::default());
    let losses: Vec<_> = register.blocks[0].report.items.iter().map(|item| item.losses).collect();
    assert_eq!(losses, [0, 1, 0, 0, 0], "`notInTheContext`, and nothing else");
    questions
}

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn on_another_context_beside_the_corpora() {
    another_context();
}

/// Context, base of the example, example; every feature that contexts have.
const FEATURES: &[(&str, &str, &str, &str)] = &[
    (
        "relative, no base",
        r#"{"p": {"@id": "https://e.org/p", "@type": "@id"}, "q": "https://e.org/q"}"#,
        "",
        r#"{"p": "x", "q": 1}"#,
    ),
    ("no base, and none needed", r#"{"q": "https://e.org/q"}"#, "", r#"{"q": 1}"#),
    (
        "the context has no base",
        r#"{"@base": null, "p": {"@id": "https://e.org/p", "@type": "@id"}, "q": "https://e.org/q"}"#,
        "https://e.org/",
        r#"{"p": "x", "q": 1}"#,
    ),
    (
        "a base against a base",
        r#"{"@base": "../up/", "p": {"@id": "https://e.org/p", "@type": "@id"}}"#,
        "https://e.org/a/b",
        r##"{"p": ["x", "", "#f", "?q"]}"##,
    ),
    (
        "bases in a row",
        r#"[{"@base": "https://e.org/one/"}, {"@base": "two/"}, {"p": {"@id": "https://e.org/p", "@type": "@id"}}]"#,
        "https://e.org/a",
        r#"{"p": "x"}"#,
    ),
    (
        "a base of its own",
        r#"{"@base": "https://e.org/c/", "p": {"@id": "https://e.org/p", "@type": "@id"}}"#,
        "https://e.org/a",
        r#"{"@context": {"@base": "https://e.org/own/"}, "p": "x"}"#,
    ),
    (
        "a relative base of its own",
        r#"{"@base": "https://e.org/c/", "p": {"@id": "https://e.org/p", "@type": "@id"}}"#,
        "https://e.org/a",
        r#"{"@context": {"@base": "own/"}, "p": "x"}"#,
    ),
    (
        "a context of its own",
        r#"{"p": "https://e.org/p"}"#,
        "https://e.org/",
        r#"{"@context": [{"q": "https://e.org/q"}, {"p": "https://e.org/other"}], "p": 1, "q": 2}"#,
    ),
    (
        "null of its own",
        r#"{"@base": "https://e.org/c/", "p": "https://e.org/p"}"#,
        "https://e.org/a/",
        r#"{"@context": [null, {"q": {"@id": "https://e.org/q", "@type": "@id"}}], "p": 1, "q": "x"}"#,
    ),
    (
        "aliases",
        r#"{"id": "@id", "type": "@type", "value": "@value", "graph": "@graph", "T": "https://e.org/T", "p": "https://e.org/p"}"#,
        "https://e.org/",
        r#"{"graph": [{"id": "x", "type": "T", "p": {"value": "v", "type": "T"}}]}"#,
    ),
    (
        "a vocabulary",
        r#"{"@vocab": "https://e.org/v#", "@language": "en"}"#,
        "https://e.org/",
        r#"{"a": "x", "b": [1, true, {"c": "d"}], "@type": "T"}"#,
    ),
    (
        "maps",
        r#"{"byId": {"@id": "https://e.org/i", "@container": "@id"}, "byType": {"@id": "https://e.org/t", "@container": "@type"}, "byIndex": {"@id": "https://e.org/x", "@container": "@index"}, "byProperty": {"@id": "https://e.org/y", "@container": "@index", "@index": "https://e.org/key"}, "p": "https://e.org/p"}"#,
        "https://e.org/",
        r#"{"byId": {"a": {"p": 1}, "b": [{"p": 2}]}, "byType": {"https://e.org/T": {"p": 3}}, "byIndex": {"k": {"p": 4}, "l": "v"}, "byProperty": {"m": {"p": 5}}}"#,
    ),
    (
        "languages",
        r#"{"l": {"@id": "https://e.org/l", "@container": "@language"}, "m": {"@id": "https://e.org/m", "@language": "de"}}"#,
        "https://e.org/",
        r#"{"l": {"en": ["a", "b"], "de-AT": "c"}, "m": "d"}"#,
    ),
    (
        "nesting",
        r#"{"p": "https://e.org/p", "n": "@nest", "r": {"@reverse": "https://e.org/r"}}"#,
        "https://e.org/",
        r#"{"@id": "s", "n": {"p": [1, 2]}, "r": {"@id": "o", "@reverse": {"p": {"@id": "t", "p": 3}}}, "@included": [{"@id": "u", "p": 4}]}"#,
    ),
    (
        "reverse properties with contexts",
        r#"{"r": {"@reverse": "https://e.org/r", "@context": {"p": "https://e.org/p", "s": {"@reverse": "https://e.org/s", "@context": {"q": "https://e.org/q"}}}}}"#,
        "https://e.org/",
        r#"{"@id": "s", "r": [{"@id": "o", "p": 1, "s": {"p": 2, "q": 3}}, {"p": 4}]}"#,
    ),
    (
        "lists",
        r#"{"l": {"@id": "https://e.org/l", "@container": "@list"}, "s": {"@id": "https://e.org/s", "@container": "@set"}}"#,
        "https://e.org/",
        r#"{"l": [1, [2, []], {"l": []}, null], "s": {"@list": ["a", {"@id": "x"}]}}"#,
    ),
    (
        "named graphs",
        r#"{"p": "https://e.org/p", "g": {"@id": "https://e.org/g", "@container": "@graph"}}"#,
        "https://e.org/",
        r#"{"@id": "s", "p": 1}"#,
    ),
    (
        "types with contexts",
        r#"{"T": {"@id": "https://e.org/T", "@context": {"p": "https://e.org/typed"}}, "p": "https://e.org/p", "q": {"@id": "https://e.org/q", "@context": {"p": "https://e.org/under"}}}"#,
        "https://e.org/",
        r#"{"@type": "T", "p": 1, "q": {"p": 2, "q": {"p": 3}}}"#,
    ),
    (
        "protected",
        r#"{"@protected": true, "p": "https://e.org/p", "q": {"@id": "https://e.org/q", "@context": {"p": "https://e.org/under"}}}"#,
        "https://e.org/",
        r#"{"p": 1, "q": {"p": 2}}"#,
    ),
    (
        "blank nodes",
        r#"{"p": {"@id": "https://e.org/p", "@type": "@id"}}"#,
        "https://e.org/",
        r#"{"@id": "_:a", "p": ["_:b", {"@id": "_:b", "p": "_:a"}, {"@id": "_:c"}]}"#,
    ),
    (
        "circles",
        r#"{"p": {"@id": "https://e.org/p", "@type": "@id"}}"#,
        "",
        r#"[{"@id": "_:a", "p": "_:b"}, {"@id": "_:b", "p": "_:a"}, {"@id": "_:c", "p": "_:c"}]"#,
    ),
    (
        "strings",
        r#"{"p": "https://e.org/p"}"#,
        "",
        r#"{"p": ["\"\\\n\r\t\u0000\u0001\u007f", "'''", "é😀\u2028", "", " x "]}"#,
    ),
    (
        "numbers",
        r#"{"p": "https://e.org/p", "d": {"@id": "https://e.org/d", "@type": "http://www.w3.org/2001/XMLSchema#double"}}"#,
        "",
        r#"{"p": [0, -0, 1.0, 1.5, 1e30, 123456789012, true], "d": [1, 2.5]}"#,
    ),
    (
        "IRIs with odd ends",
        r#"{"@vocab": "https://e.org/v/", "p": {"@type": "@id"}}"#,
        "https://e.org/",
        r#"{"p": ["https://e.org/v/a.b", "https://e.org/v/1a", "https://e.org/v/", "https://e.org/v/a%20b", "urn:x:y"], "a/b": 1, "é": 2}"#,
    ),
    (
        "JSON",
        r#"{"j": {"@id": "https://e.org/j", "@type": "@json"}}"#,
        "",
        r#"{"j": {"b": [1.0, null, "\u0007"], "a": {"@id": 1}}}"#,
    ),
];

fn all_that_contexts_can_say() -> Questions {
    let place = Place::new();
    let mut questions = Questions::default();
    for (number, (title, context, base, example)) in FEATURES.iter().enumerate() {
        let base = if base.is_empty() { String::new() } else { format!("base-uri: '{base}', ") };
        let code = serde_json::Value::from(*example);
        let examples = format!("- {{title: \"{title}\", {base}snippets: [{{language: json, code: {code}}}]}}\n");
        place.put(&format!("b{number}/context.jsonld"), format!("{{\"@context\": {context}}}"));
        place.put(&format!("b{number}/examples.yaml"), &examples);
        println!("{title}");
        questions.check(&place.path(&format!("b{number}")), 1);
    }
    questions
}

#[test]
fn on_all_that_contexts_can_say() {
    all_that_contexts_can_say();
}

#[test]
#[ignore = "needs jsonld.js"]
fn jsonld_js_agrees_on_registers() {
    let of_corpora = corpora().map(|_| [published_examples(), another_context()]);
    let all = [calculator(), all_that_contexts_can_say()].into_iter().chain(of_corpora.into_iter().flatten());
    all.for_each(Questions::ask);
}
