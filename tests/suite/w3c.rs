//! The W3C's tests of JSON-LD 1.1, deserialization to RDF, through the reference path.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use json_ld::syntax::Parse;
use json_ld::{FsLoader, IriBuf, NoLoader, Options, ProcessingMode, RemoteDocument, RemoteDocumentReference};
use oxrdf::Quad;
use oxrdfio::{RdfFormat, RdfParser};
use rpcgraph::context::Context;
use rpcgraph::convert;
use rpcgraph::mapping::document_quads;
use serde_json::{Value, json};

use crate::support::{BASE, assert_isomorphic, canonical, convert_with, corpora, own};

/// The URL of the tests' folder.
const FOLDER: &str = "https://w3c.github.io/json-ld-api/tests";

/// The tests that fail, by cause. File names belong to the json-ld crates, version 0.21.4.
const EXCEPTIONS: &[(&str, &[&str])] = &[
    (
        "RDF has no blank nodes as predicates: the option produceGeneralizedRdf, which JSON-LD 1.1 calls obsolete, is \
         not offered",
        &["#te075"],
    ),
    (
        "json-ld-expansion, node.rs, `node_id_of_term`: a node whose @id is like a keyword cannot be distinguished from one that \
         has none",
        &["#te122"],
    ),
    (
        "json-ld-syntax, context/try_from_json.rs, `ContextEntry`: a @base that is not an IRI reference is refused; in the \
         test it only makes IRIs that are none",
        &["#tli12"],
    ),
    // From here on what is to be refused is refused, under another error code than expected.
    (
        "json-ld-syntax, context/try_from_json.rs, `InvalidContext::code`: an entry of the wrong JSON type is an \
         invalid context entry, whichever entry it is",
        &[
            "#tc030", "#tec01", "#ter01", "#ter06", "#ter07", "#ter08", "#ter09", "#ter11", "#ter12", "#ter15",
            "#ter18", "#ter22", "#ter53", "#ter55", "#tpi04", "#tso02",
        ],
    ),
    (
        "json-ld-syntax, context/try_from_json.rs, `definition::Type`: a definition of @type is invalid without a \
         @container, whatever else is wrong with it, or right",
        &["#tec02", "#tpr32"],
    ),
    (
        "json-ld-syntax, context/try_from_json.rs and try_from_json.rs, `definition::Version`, `ContainerKind`, \
         `TermDefinition`: a wrong @version, @container or definition of @context is an invalid term definition",
        &["#tem01", "#tep03", "#ter56"],
    ),
    (
        "json-ld-context-processing, lib.rs, `Error::code`: a remote document without a context is one that failed to \
         load",
        &["#ter05"],
    ),
];

/// Why a test fails.
type Failure = String;

fn iri(iri: &str) -> IriBuf {
    IriBuf::new(iri.to_owned()).expect("an IRI")
}

fn text<'t>(object: &'t Value, name: &str) -> Option<&'t str> {
    object[name].as_str()
}

fn run(test: &Value, folder: &Path) -> Result<(), Failure> {
    // One test names the file that the suite for expansion has of it.
    let input = text(test, "input").expect("an input").replace("expand/", "toRdf/");
    let json = fs::read_to_string(folder.join(&input)).expect("an input");
    let (json, _) = json_ld::syntax::Value::parse_str(&json).map_err(|error| format!("not JSON: {error}"))?;
    let document = RemoteDocument::new(Some(iri(&format!("{FOLDER}/{input}"))), None, json);

    let option = &test["option"];
    let options = Options {
        base: text(option, "base").map(iri),
        expand_context: text(option, "expandContext")
            .map(|context| RemoteDocumentReference::Iri(iri(&format!("{FOLDER}/{context}")))),
        processing_mode: text(option, "processingMode")
            .map_or(ProcessingMode::JsonLd1_1, |mode| mode.try_into().expect("a processing mode")),
        rdf_direction: text(option, "rdfDirection").map(|direction| direction.parse().expect("a way to write it")),
        ..Options::default()
    };
    let mut loader = FsLoader::new();
    loader.mount(iri(FOLDER), folder);
    let quads = catch_unwind(AssertUnwindSafe(|| document_quads(&document, options, &loader)))
        .map_err(|_| "panics".to_owned())?;

    match (quads, text(test, "expectErrorCode"), text(test, "expect")) {
        (Ok(quads), Some(code), _) => Err(format!("{} quads instead of the error {code:?}", quads.len())),
        (Err(error), Some(code), _) if error.code().as_str() == code => Ok(()),
        (Err(error), Some(code), _) => Err(format!("{:?} instead of the error {code:?}", error.code().as_str())),
        (Err(error), None, _) => Err(error.to_string()),
        (Ok(quads), None, Some(expected)) => compare(&quads, &fs::read(folder.join(expected)).expect("an output")),
        (Ok(_), None, None) => Ok(()),
    }
}

fn compare(quads: &[Quad], expected: &[u8]) -> Result<(), Failure> {
    let parser = RdfParser::from_format(RdfFormat::NQuads).for_slice(expected);
    let expected: Vec<Quad> = parser.collect::<Result<_, _>>().map_err(|error| format!("the output: {error}"))?;
    let (quads, expected) = (canonical(quads), canonical(&expected));
    if quads == expected { Ok(()) } else { Err(format!("{quads:#?} instead of {expected:#?}")) }
}

/// Runs the tests of a manifest: how many pass, how many are of JSON-LD 1.0 only, and which fail.
fn run_all(folder: &Path) -> (usize, usize, Vec<(String, Failure)>) {
    let manifest = fs::read(folder.join("toRdf-manifest.jsonld")).expect("a manifest");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    let (mut passed, mut obsolete, mut failures) = (0, 0, Vec::new());
    for test in manifest["sequence"].as_array().expect("tests") {
        if text(&test["option"], "specVersion") == Some("json-ld-1.0") {
            obsolete += 1;
            continue;
        }
        match run(test, folder) {
            Ok(()) => passed += 1,
            Err(failure) => failures.push((text(test, "@id").expect("an id").to_owned(), failure)),
        }
    }
    (passed, obsolete, failures)
}

#[test]
fn to_rdf() {
    assert_eq!(run_all(&own("tests/w3c")), (3, 1, Vec::new()));

    let Some(folder) = corpora().map(|corpora| corpora.join("w3c-json-ld-api")) else { return };
    let (passed, obsolete, failures) = run_all(&folder);
    println!("{passed} tests pass, {} fail as listed, {obsolete} are of JSON-LD 1.0 only", failures.len());

    let listed: BTreeSet<&str> = EXCEPTIONS.iter().flat_map(|(_, tests)| *tests).copied().collect();
    let failing: BTreeSet<&str> = failures.iter().map(|(test, _)| test.as_str()).collect();
    let unlisted: Vec<_> = failures.iter().filter(|(test, _)| !listed.contains(test.as_str())).collect();
    assert!(unlisted.is_empty(), "tests fail that are not listed: {unlisted:#?}");
    let mended: Vec<_> = listed.difference(&failing).collect();
    assert!(mended.is_empty(), "tests are listed that pass, or are not run: {mended:?}");
}

#[test]
fn members_without_terms_do_not_affect_others() {
    for (document, expected) in [
        (
            r#"{"@id":"not an IRI","http://e/p":{"@id":"http://e/s","http://e/q":"kept"}}"#,
            r#"<http://e/s> <http://e/q> "kept" ."#,
        ),
        (
            r#"{"@id":"http://e/r","_:p":[{"@id":"http://e/s","http://e/q":"kept"},"lost",{"@list":["lost"]}]}"#,
            r#"<http://e/s> <http://e/q> "kept" ."#,
        ),
        (
            r#"{"@id":"not an IRI","@reverse":{"http://e/p":{"@id":"http://e/s","http://e/q":"kept"}}}"#,
            r#"<http://e/s> <http://e/q> "kept" ."#,
        ),
        (
            r#"{"@id":"not an IRI","@graph":[
                {"@id":"http://e/s","http://e/q":"lost"},
                {"@id":"http://e/g","@graph":[{"@id":"http://e/s","http://e/q":"kept"}]}
            ]}"#,
            r#"<http://e/s> <http://e/q> "kept" <http://e/g> ."#,
        ),
        (
            r#"{"@id":"not an IRI","http://e/p":{"@list":[{"@id":"http://e/s","http://e/q":"kept"},"lost"]}}"#,
            r#"<http://e/s> <http://e/q> "kept" ."#,
        ),
    ] {
        assert_document(document, expected);
    }
}

#[test]
fn numbers_are_doubles_before_they_are_integers() {
    for (number, literal) in [
        ("1.00000000000000000001", r#""1"^^<http://www.w3.org/2001/XMLSchema#integer>"#),
        ("9007199254740992.5", r#""9007199254740992"^^<http://www.w3.org/2001/XMLSchema#integer>"#),
        ("9007199254740993", r#""9007199254740992"^^<http://www.w3.org/2001/XMLSchema#integer>"#),
        ("-1e-400", r#""0"^^<http://www.w3.org/2001/XMLSchema#integer>"#),
        ("1e-7", r#""1.0E-7"^^<http://www.w3.org/2001/XMLSchema#double>"#),
        ("1e21", r#""1.0E21"^^<http://www.w3.org/2001/XMLSchema#double>"#),
        ("999999999999999934463", r#""999999999999999868928"^^<http://www.w3.org/2001/XMLSchema#integer>"#),
    ] {
        let document = format!(r#"{{"@id":"http://e/s","http://e/p":{number}}}"#);
        assert_document(&document, &format!("<http://e/s> <http://e/p> {literal} ."));
    }
}

/// Which is the input's IRI, as it is before any context.
#[test]
fn a_context_without_a_base_goes_back_to_that_of_the_document() {
    let error = json!({ "error": { "@id": "jrpc:hasError", "@type": "@id", "@context": null } });
    let context = Context::from_value("null.jsonld", error).expect("a context");
    let log = br#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#;
    let quads = convert_with(log, &[context], convert::Options::default());
    let node = format!("<{BASE}#m1-error>");
    assert!(quads.iter().any(|quad| quad.subject.to_string() == node), "{quads:#?}");
    assert!(quads.iter().any(|quad| quad.object.to_string() == node), "{quads:#?}");
}

fn assert_document(document: &str, expected: &str) {
    let (json, _) = json_ld::syntax::Value::parse_str(document).expect("JSON");
    let document_iri = iri("http://example.org/");
    let parsed = RemoteDocument::new(Some(document_iri), None, json);
    let quads = document_quads(&parsed, Options::default(), &NoLoader).expect("JSON-LD");
    let parser = RdfParser::from_format(RdfFormat::NQuads).for_slice(expected.as_bytes());
    assert_isomorphic(&quads, &parser.collect::<Result<Vec<_>, _>>().expect("N-Quads"), document);
}
