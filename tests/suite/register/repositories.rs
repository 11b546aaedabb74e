//! Whole repositories, and the registers that the official tool made of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use oxrdf::dataset::CanonicalizationAlgorithm;
use oxrdf::vocab::xsd;
use oxrdf::{Dataset, Literal, NamedNode, NamedOrBlankNode, Quad, Term};
use rpcgraph::register::{Register, RegisterOptions, Repository};

use serde_json::json as value;

use super::agreement::Questions;
use super::{build, item, json, turtle};
use crate::cli::Place;
use crate::support::{corpora, files, needed_corpora};

/// Graphs that are not the published ones although all that they are made of is here, with what the published ones lack.
///
/// They were published with a context that an older ogc-na made; of the block's sources, 0.5.36 makes the one that is made here
/// (`contexts::contexts_of_repositories_are_those_of_ogc_na`). Under each of the two contexts the specification supports the graph
/// that stands beside it: under ours jsonld.js makes ours, and the published context makes here what was published.
const OTHERWISE: &[(&str, &str)] = &[
    (
        "modelcontextprotocol/mcp/example_14_1.ttl",
        "`progressToken` and `total`, which its context does not map below `params`",
    ),
    ("modelcontextprotocol/mcp/example_1_1.ttl", "`logging`, which its context does not map below `capabilities`"),
];

/// The Turtle of a JSON document under a context.
pub fn under(context: &serde_json::Value, document: &str, url: &str) -> String {
    let place = Place::new();
    place.put("b/context.jsonld", context.to_string());
    let snippet = value!({ "language": "json", "code": document, "base-uri": url });
    place.put("b/examples.yaml", value!([{ "snippets": [snippet] }]).to_string());
    let register = build(&place.path("b"), &RegisterOptions { offline: true, ..RegisterOptions::default() });
    register.files.get("tests/b/example_1_1.ttl").cloned().unwrap_or_default()
}

pub fn repositories() -> (PathBuf, Vec<(String, PathBuf)>) {
    let folder = needed_corpora().join("bblocks");
    let below = |folder: &Path| -> Vec<PathBuf> {
        let mut below: Vec<_> =
            fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
        below.sort();
        below
    };
    let mut imports = Vec::new();
    for host in below(&folder.join("imports")) {
        for register in below(&host) {
            let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
            imports.push((format!("https://{}/{}", name(&host), name(&register)), register));
        }
    }
    (folder, imports)
}

pub fn made(folder: &Path, imports: &[(String, PathBuf)], base: Option<&str>, options: &RegisterOptions) -> Register {
    let (folders, base) = (imports.to_vec(), base.map(str::to_owned));
    let options = RegisterOptions { folders, base, offline: true, ..options.clone() };
    Repository::open(folder).expect("a repository").build(None, &options, &mut |_| {}).expect("a register")
}

/// A graph in which numbers stand for their values to seven digits, which is what the official tool keeps of them, and what is
/// beside the example stands where that tool ran.
pub fn canonical(text: &str, key: &str) -> Dataset {
    let place = format!("/build/tests/{key}/");
    let name = |iri: &str| match iri.split_once(&place) {
        Some((_, file)) => NamedNode::new_unchecked(format!("file:///github/workspace/{file}")),
        None => NamedNode::new_unchecked(iri),
    };
    let value = |literal: Literal| {
        let datatype = literal.datatype().into_owned();
        let number = [xsd::DOUBLE, xsd::DECIMAL, xsd::FLOAT, xsd::INTEGER].contains(&datatype.as_ref());
        match literal.value().parse::<f64>() {
            Ok(number_value) if number => Literal::new_simple_literal(format!("{number_value:.6e}")),
            _ if datatype == xsd::DATE_TIME => Literal::new_simple_literal(literal.value().replace("+00:00", "Z")),
            _ => literal,
        }
    };
    let quads = turtle(text, &format!("https://example.org/build/tests/{key}/x")).into_iter().map(|quad| {
        let subject = match quad.subject {
            NamedOrBlankNode::NamedNode(node) => name(node.as_str()).into(),
            blank => blank,
        };
        let object = match quad.object {
            Term::NamedNode(node) => name(node.as_str()).into(),
            Term::Literal(literal) => value(literal).into(),
            other => other,
        };
        Quad::new(subject, quad.predicate, object, quad.graph_name)
    });
    let mut dataset: Dataset = quads.collect();
    dataset.canonicalize(CanonicalizationAlgorithm::Unstable);
    dataset
}

/// Compares the graphs of registers with the published graphs, and returns what to ask jsonld.js where they differ.
fn published_graphs() -> Questions {
    let (folder, imports) = repositories();
    let otherwise: BTreeMap<_, _> = OTHERWISE.iter().copied().collect();
    let (mut wrong, mut questions) = (Vec::new(), Questions::default());
    let (mut all_equal, mut all_whole) = (0, 0);
    println!("{:<24}{:>8}{:>11}{:>8}{:>15}", "repository", "blocks", "published", "equal", "lacking input");
    for (name, blocks) in [
        ("bblock-template", 2),
        ("bblocks-examples", 25),
        ("bblocks-tutorial", 21),
        ("bblocks-eoap-cct", 5),
        ("modelcontextprotocol", 2),
    ] {
        let register =
            made(&folder.join(name), &imports, Some("https://example.org/build/"), &RegisterOptions::default());
        let listed = json(&register.files["register.json"]);
        assert_eq!(
            (register.blocks.len(), listed["bblocks"].as_array().map(Vec::len)),
            (blocks, Some(blocks)),
            "{name}"
        );
        let lacks: BTreeMap<_, _> = register
            .blocks
            .iter()
            .map(|block| {
                let key = block.report.id.split_once('.').expect("a prefix").1.replace('.', "/");
                let entries = block.report.items.iter().flat_map(|item| &item.entries);
                (key, entries.clone().any(|entry| entry.is("context-incomplete")))
            })
            .collect();
        let tests = folder.join(name).join("build/tests");
        let published = if tests.is_dir() { files(&tests, ".ttl") } else { Vec::new() };
        let (mut equal, mut lacking) = (0, 0);
        for path in &published {
            let file = path.strip_prefix(&tests).expect("below").to_str().expect("text");
            let (key, _) = file.rsplit_once('/').expect("a folder");
            let ours = register.files.get(&format!("tests/{file}"));
            let theirs = fs::read_to_string(path).expect("text");
            let is_equal = ours.is_some_and(|ours| canonical(ours, key) == canonical(&theirs, key));
            equal += usize::from(is_equal);
            let is_lacking = lacks.get(key) == Some(&true) && !is_equal;
            lacking += usize::from(is_lacking);
            if let (Some(ours), true) = (ours, otherwise.contains_key(format!("{name}/{file}").as_str())) {
                let beside = |extension: &str| &register.files[&format!("tests/{file}").replace(".ttl", extension)];
                let url = format!("https://example.org/build/tests/{file}");
                let contexts = register.files.iter().filter(|(path, _)| path.ends_with("context.jsonld"));
                let contexts = contexts.map(|(path, text)| (format!("https://example.org/build/{path}"), text.clone()));
                questions.add(file, beside(".jsonld"), &url, &contexts.collect(), turtle(ours, &url));
                let context = folder.join(name).join(format!("build/annotated/{key}/context.jsonld"));
                let context = json(&fs::read_to_string(context).expect("a context"));
                let jsonld = json(beside(".jsonld"));
                let mut bases = jsonld["@context"]
                    .as_array()
                    .expect("contexts")
                    .iter()
                    .filter_map(|context| context["@base"].as_str());
                let under = under(&context, beside(".json"), bases.next_back().unwrap_or(&url));
                assert!(canonical(&under, key) == canonical(&theirs, key), "{file}: {under}");
            }
            let file = format!("{name}/{file}");
            if !is_lacking && is_equal == otherwise.contains_key(file.as_str()) {
                wrong.push(format!("{file}: {}", if is_equal { "equal" } else { "another graph" }));
            }
        }
        if name == "modelcontextprotocol" {
            let passed: Vec<_> = register.blocks.iter().flat_map(|block| &block.report.items).collect();
            assert_eq!((passed.len(), passed.iter().filter(|item| item.passed()).count()), (23, 23));
            assert_eq!((published.len(), equal + otherwise.len(), lacking), (23, 23, 0));
        }
        println!("{name:<24}{:>8}{:>11}{equal:>8}{lacking:>15}", register.blocks.len(), published.len());
        (all_equal, all_whole) = (all_equal + equal, all_whole + published.len() - lacking);
    }
    println!("{all_equal} of {all_whole} graphs whose inputs are here");
    OTHERWISE.iter().for_each(|(file, why)| println!("{file}: the published one lacks {why}"));
    assert_eq!(wrong, Vec::<String>::new());
    assert!(all_equal * 10 >= all_whole * 9, "{all_equal} of {all_whole}");
    questions
}

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn the_published_graphs_of_the_corpora() {
    published_graphs();
}

#[test]
#[ignore = "needs jsonld.js"]
fn jsonld_js_agrees_where_published_graphs_differ() {
    if corpora().is_some() {
        published_graphs().ask();
    }
}

/// Blocks that refer to each other, with faults here and there.
fn small() -> Place {
    let place = Place::new();
    place.put(
        "r/bblocks-config.yaml",
        "identifier-prefix: eg.small\nname: Small\nimports: [https://example.org/other/]\n",
    );
    let block = |name: &str, files: &[(&str, &str)]| {
        place.put(&format!("r/_sources/{name}/bblock.json"), format!(r#"{{"name": "{name}", "tags": ["t"]}}"#));
        files.iter().for_each(|(file, text)| place.put(&format!("r/_sources/{name}/{file}"), *text));
    };
    let context = r#"{"@context": {"ex": "https://example.org/", "a": {"@id": "ex:a", "@type": "@id"},}}"#;
    let example = |code: &str| format!("- snippets: [{{language: json, code: '{code}'}}]\n");
    block(
        "things/base",
        &[
            ("context.jsonld", context),
            ("schema.yaml", "type: object\nproperties: {a: {type: string}}\n"),
            ("examples.yaml", &example(r#"{"a": "x"}"#)),
        ],
    );
    block(
        "things/derived",
        &[
            (
                "schema.yaml",
                "allOf:\n- $ref: bblocks://eg.small.things.base\n- $ref: bblocks://eg.other.far\nrequired: [a, b]\n",
            ),
            ("examples.yaml", &(example(r#"{"a": "x", "b": 1}"#) + &example(r#"{"a": "x"}"#))),
            (
                "semantic-uplift.yaml",
                "additionalSteps: [{type: jq, code: '.b += 1'}, {type: sparql-update, ref: u.rq}]\n",
            ),
            ("u.rq", "INSERT {?s <https://example.org/new> true} WHERE {?s <https://example.org/b> 2}"),
            ("tests/half-fail.json", r#"{"a": "y"}"#),
            ("tests.yaml", "[{ref: other.json, require-fail: true}]"),
            ("other.json", r#"{"b": true}"#),
        ],
    );
    block("things/sibling", &[("schema.json", r#"{"$ref": "../base/schema.yaml"}"#)]);
    block("bad/examples", &[("examples.yaml", "- title: [")]);
    block("bad/lacking", &[("schema.yaml", "$ref: https://example.org/gone.json"), ("examples.yaml", &example("{}"))]);
    block(
        "bad/step",
        &[
            ("context.jsonld", context),
            ("examples.yaml", &example(r#"{"a": "x"}"#)),
            ("semantic-uplift.yaml", "additionalSteps: [{type: shacl, code: '.'}]\n"),
        ],
    );
    block("_hidden/block", &[]);
    let other = r#"{"bblocks": [{"itemIdentifier": "eg.other.far", "schema": {"application/yaml": "https://example.org/other/s.yaml"}}]}"#;
    place.put("other/build/register.json", other);
    place.put(
        "other/s.yaml",
        "properties: {b: {x-jsonld-id: 'https://example.org/b', type: number, items: {$ref: 'https://example.org/other/s.yaml'}}}\n",
    );
    place
}

const SMALL: [&str; 7] = [
    "register",
    "r",
    "-o",
    "deep/out",
    "--import=https://example.org/other=other",
    "--base-url",
    "https://example.net/r/build",
];

#[test]
fn a_register_of_another_program_is_replaced_only_when_told() {
    let place = small();
    place.put("deep/out/register.json", r#"{"bblocks": []}"#);
    place.put("deep/out/theirs.txt", "kept");
    let ran = place.run(&SMALL);
    assert!(ran.status == Some(2) && ran.stderr.contains("not a register that rpcgraph wrote"), "{}", ran.stderr);
    assert_eq!(place.read("deep/out/theirs.txt"), b"kept");
    assert_eq!(place.run(&[&SMALL[..], &["--replace"]].concat()).status, Some(1));
    assert!(!place.path("deep/out/theirs.txt").exists());
}

/// An example passes only with all of its graph.
#[cfg(unix)]
#[test]
fn unreadable_output_of_a_step_fails_the_example() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.put("worker", "#!/bin/sh\nread setup\nwhile read request; do echo '{\"Ok\": \"not Turtle\"}'; done\n");
    fs::set_permissions(place.path("worker"), fs::Permissions::from_mode(0o755)).expect("a program");
    place.put("b/context.jsonld", r#"{"@context": {"a": "https://example.org/a"}}"#);
    place.put("b/examples.yaml", "- snippets: [{language: json, code: '{\"a\": 1}'}]\n");
    place.put("b/semantic-uplift.yaml", "additionalSteps: [{type: sparql-update, code: x}]\n");
    let worker = Some(place.path("worker"));
    let register = build(&place.path("b"), &RegisterOptions { worker, ..RegisterOptions::default() });
    let reasons = item(&register, "example_1_1.json").reasons();
    let said = "Semantic Uplift: No graph, for the step sparql-update cannot be run: its output cannot be read: ";
    assert!(matches!(reasons.as_slice(), [reason] if reason.starts_with(said)), "{reasons:?}");
}

/// Statements of registers about the blocks that a block depends on, and about the shapes that it inherits from them.
#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn dependencies_equal_published_registers_of_the_corpora() {
    let (folder, imports) = repositories();
    let mut compared = 0;
    for name in ["bblocks-examples", "bblocks-tutorial", "bblocks-eoap-cct"] {
        let base = format!("https://ogcincubator.github.io/{name}/build/");
        let register = made(&folder.join(name), &imports, Some(&base), &RegisterOptions::default());
        let published = fs::read_to_string(folder.join(name).join("build/register.json")).expect("a register");
        let blocks = |text: &str| -> BTreeMap<String, serde_json::Value> {
            let blocks = json(text)["bblocks"].as_array().expect("blocks").clone();
            blocks
                .into_iter()
                .map(|block| (block["itemIdentifier"].as_str().expect("an identifier").into(), block))
                .collect()
        };
        let shapes = |block: &serde_json::Value| -> BTreeMap<String, BTreeSet<String>> {
            serde_json::from_value(block["shaclShapes"].clone()).expect("lists by block")
        };
        let ours = blocks(&register.files["register.json"]);
        for (id, theirs) in blocks(&published) {
            // It refers to the others in a document of OpenAPI, which is not read.
            if id.ends_with(".custom-api") {
                continue;
            }
            let ids = |block: &serde_json::Value| -> BTreeSet<String> {
                let ids = block["dependsOn"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
                ids.map(|id| id.strip_prefix("bblocks://").unwrap_or(id).to_owned()).collect()
            };
            assert_eq!(ids(&ours[&id]), ids(&theirs), "{id}");
            assert_eq!(shapes(&ours[&id]), shapes(&theirs), "{id}");
            compared += 1;
        }
    }
    assert_eq!(compared, 50);
}

/// A hostile repository cannot read outside of its folder, or take unlimited time.
#[test]
fn hostile_repositories() {
    let place = small();
    place.put("secret/s.yaml", "title: secret");
    place.put("r/_sources/things/sibling/schema.json", r#"{"$ref": "../../../../secret/s.yaml"}"#);
    place.put("r/_sources/bad/step/semantic-uplift.yaml", "additionalSteps: [{type: jq, code: '[repeat(1)]'}]");
    place.put(
        "r/_sources/things/base/semantic-uplift.yaml",
        "additionalSteps: [{type: jq, ref: ../../../../secret/s.yaml}]",
    );
    let deep: String = (0..3000).map(|n| format!("  d{n}: {{$ref: '#/$defs/d{}'}}\n", n + 1)).collect();
    place.put("r/_sources/things/derived/schema.yaml", format!("$ref: '#/$defs/d0'\n$defs:\n{deep}  d3000: {{}}\n"));
    let ran = place.run(&SMALL);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    for said in [
        "failed: eg.small.things.sibling: `../secret/s.yaml`, named by a schema, is outside",
        "failed: eg.small.bad.step: example 1, snippet 1: Semantic Uplift: No graph, for the step jq cannot be run: it takes more",
        "failed: eg.small.things.base: example 1, snippet 1: Semantic Uplift: No graph, for the step jq cannot be run: `../../../../secret/s.yaml`, named by semantic-uplift.yaml, is outside",
        "failed: eg.small.things.derived: _sources/things/derived/schema.yaml: with its references it has more than",
    ] {
        assert!(ran.stderr.contains(said), "{said}\n{}", ran.stderr);
    }
    assert_eq!(place.names(), ["deep", "other", "r", "secret"]);
}
