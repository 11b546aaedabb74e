//! `register`: building blocks in, registers out.
//!
//! `tests/register/calculator` is a block of our own, which has everything that a block may have, and examples that fail;
//! `calculator.expected` is its register. What is expected there is not taken on trust: other JSON-LD processors read the
//! JSON-LD in it as the graph of the Turtle.

mod agreement;
mod authors;
mod broken;
mod contexts;
mod members;
mod online;
mod published;
mod repositories;
mod schemas;
mod shapes;
mod viewer;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use oxrdf::{GraphName, Quad};
use rpcgraph::register::{Register, RegisterOptions, ReportItem};
use serde_json::Value;

use crate::cli::Place;
use crate::support::{files, needed_corpora};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/register").join(name)
}

fn build(block: &Path, options: &RegisterOptions) -> Register {
    Register::build(block, options).expect("a register")
}

/// A difference between a register and what is on disk.
#[derive(Debug, PartialEq)]
enum Difference {
    Missing(String),
    Changed(String),
    Extra(String),
}

/// Differences between a register and the content of a folder, in the order of paths.
fn compare(register: &Register, folder: &Path) -> Vec<Difference> {
    let relative = |path: PathBuf| path.strip_prefix(folder).expect("a file below").to_str().expect("text").to_owned();
    let present: BTreeSet<String> = files(folder, "").into_iter().map(relative).collect();
    let mut differences = Vec::new();
    for (path, text) in &register.files {
        if !present.contains(path) {
            differences.push(Difference::Missing(path.clone()));
        } else if fs::read(folder.join(path)).expect("a file") != text.as_bytes() {
            differences.push(Difference::Changed(path.clone()));
        }
    }
    let extra = present.into_iter().filter(|path| !register.files.contains_key(path));
    differences.extend(extra.map(Difference::Extra));
    differences
}

/// A folder of the references that the project does not ship.
fn reference(name: &str) -> PathBuf {
    needed_corpora().join("../reference").join(name)
}

fn turtle(text: &str, base: &str) -> Vec<Quad> {
    // Others publish IRIs that are none.
    let parser = oxttl::TurtleParser::new().lenient().with_base_iri(base).expect("a base");
    let triples = parser.for_slice(text).map(|triple| triple.unwrap_or_else(|error| panic!("{error}\n{text}")));
    triples.map(|triple| triple.in_graph(GraphName::DefaultGraph)).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn item<'r>(register: &'r Register, file: &str) -> &'r ReportItem {
    let items = &register.blocks[0].report.items;
    items.iter().find(|item| item.file.ends_with(file)).unwrap_or_else(|| panic!("no item for {file}"))
}

#[test]
fn the_calculators_register_is_as_expected() {
    let register = build(&fixture("calculator"), &RegisterOptions::default());
    let differences = compare(&register, &fixture("calculator.expected"));
    assert_eq!(
        differences,
        [],
        "if that is right: rpcgraph register tests/register/calculator -o tests/register/calculator.expected"
    );
}

#[test]
fn every_example_and_test_of_the_calculator() {
    let register = build(&fixture("calculator"), &RegisterOptions::default());
    let outcomes: BTreeMap<&str, bool> = register.blocks[0]
        .report
        .items
        .iter()
        .map(|item| (item.file.strip_prefix("tests/calculator/").expect("its folder"), item.passed()))
        .collect();
    let expected = [
        ("empty-fail.ttl", true),
        ("example_1_1.json", true),
        ("graph.ttl", true),
        ("lossy.json", true),
        ("negative-fail.json", true),
        ("plus.json", true),
        ("quotient-1.ttl", true),
        ("quotient-2.jsonld", true),
        ("quotient-3.yaml", true),
        ("quotient.json", false),
    ];
    assert_eq!(outcomes, expected.into());
    let [file, dependency] = register.blocks[0].notes.as_slice() else { panic!("two notes") };
    assert_eq!(file, "tests/README.txt: a test is a file that ends in .json, .jsonld, .ttl, .yaml or .yml");
    assert!(dependency.starts_with("bblocks://test.numbers, named by bblock.json: it is not in"), "{dependency}");
    assert!(item(&register, "quotient.json").reasons()[0].contains("is not of type \"object\", at the top"));
}

#[test]
fn losses_under_the_context_are_listed() {
    let register = build(&fixture("calculator"), &RegisterOptions::default());
    let lost: Vec<_> = item(&register, "lossy.json")
        .entries
        .iter()
        .filter_map(|entry| entry.message.strip_prefix("Lost: "))
        .map(|lost| lost.split(": ").next().expect("a place").to_owned())
        .collect();
    assert_eq!(
        lost,
        [
            "/@odd",
            "/note",
            "/operator/terms",
            "/sameAs/2",
            "/terms/1",
            "/trace/step/1",
            "/unknown",
            "1 name or reference is not an IRI",
        ]
    );
    assert_eq!(item(&register, "example_1_1.json").losses, 0);
}

#[test]
fn the_base_of_a_context_goes_over_that_of_an_example() {
    let place = Place::new();
    let examples = "- {base-uri: 'https://example.org/x/y', snippets: [{language: json, code: '{\"p\": \"z\"}'}]}";
    place.put("b/examples.yaml", examples);
    for (base, expected, shown) in [
        ("\"https://example.com/c/\"", Some("https://example.com/c/z"), Some("https://example.com/c/")),
        ("\"../d/\"", Some("https://example.org/d/z"), Some("https://example.org/d/")),
        ("null", None, None),
    ] {
        let context = format!(
            r#"{{"@context": {{"@base": {base}, "p": {{"@id": "https://example.org/p", "@type": "@id"}},
                "q": "https://example.org/q"}}}}"#
        );
        place.put("b/context.jsonld", context);
        let register = build(&place.path("b"), &RegisterOptions::default());
        let document = json(&register.files["tests/b/example_1_1.jsonld"]);
        assert_eq!(document["@context"][1]["@base"].as_str(), shown);
        assert!(document["@context"][1].as_object().is_some_and(|base| base.contains_key("@base")));
        let objects: Vec<_> = turtle(&register.files["tests/b/example_1_1.ttl"], "https://wrong.example/")
            .iter()
            .map(|quad| quad.object.to_string())
            .collect();
        assert_eq!(objects, expected.map(|iri| format!("<{iri}>")).into_iter().collect::<Vec<_>>());
        // Without a base, the document loses all its triples.
        assert_eq!(register.blocks[0].report.verdict().is_pass(), expected.is_some());
    }
}

/// A feature of GeoJSON may have no properties, where JSON-LD wants some if their term is for `@nest`.
#[test]
fn a_null_stands_for_nothing_under_nest() {
    let place = Place::new();
    place.put(
        "b/context.jsonld",
        r#"{"@context": {"properties": "@nest", "p": "https://example.org/p", "j": {"@id": "https://example.org/j", "@type": "@json"}}}"#,
    );
    let examples = "- snippets:
  - {language: json, code: '{\"p\": 1, \"properties\": null, \"q\": {}}'}
  - {language: json, code: '{\"p\": 1, \"properties\": 2}'}
";
    place.put("b/examples.yaml", examples);
    let register = build(&place.path("b"), &RegisterOptions::default());
    assert_eq!(register.files["tests/b/example_1_1.ttl"], "[] <https://example.org/p> 1 .\n");
    assert!(!register.files["tests/b/example_1_1.jsonld"].contains("null"));
    let lost = |file: &str| {
        let entries = item(&register, file).entries.iter();
        entries.filter(|entry| entry.message.starts_with("Lost: /properties: ")).count()
    };
    assert_eq!(lost("example_1_1.json"), 1);
    let reasons = item(&register, "example_1_2.json").reasons();
    let said = "a term for `@nest` holds something else than objects, at /properties";
    assert!(reasons[0].ends_with(said), "{reasons:?}");
}

#[test]
fn the_register_is_described_in_rdf() {
    let options = RegisterOptions { base: Some("https://example.org/build".into()), ..RegisterOptions::default() };
    let register = build(&fixture("calculator"), &options);
    let quads = turtle(&register.files["bblocks.ttl"], "https://wrong.example/");
    let has = |subject: &str, predicate: &str, object: &str| {
        let quad = quads.iter().find(|quad| {
            quad.subject.to_string() == format!("<https://example.org/build/{subject}>")
                && quad.predicate.as_str() == predicate
                && quad.object.to_string() == object
        });
        assert!(quad.is_some(), "{subject} {predicate} {object}\n{}", register.files["bblocks.ttl"]);
    };
    let (dct, dcat) = ("http://purl.org/dc/terms/", "http://www.w3.org/ns/dcat#");
    let title = format!("{dct}title");
    has("bblocks.ttl#calculator/example_1", &title, "\"A sum\"");
    has("bblocks.ttl#calculator/example_4", &title, "\"Only words\"");
    has(
        "bblocks.ttl#calculator/example_1",
        &format!("{dct}conformsTo"),
        "<https://example.org/build/annotated/calculator/schema.yaml#Sum>",
    );
    has(
        "bblocks.ttl#calculator/example_3",
        &format!("{dct}conformsTo"),
        "<https://example.org/build/annotated/calculator/schema.yaml#/definitions/Quotient>",
    );
    let file = "<https://example.org/build/tests/calculator/example_1_1.ttl>";
    has("bblocks.ttl#calculator/example_1", &format!("{dcat}distribution"), file);
    has("bblocks.ttl#calculator/example_1", &format!("{dct}source"), &file.replace(".ttl", ".json"));
    has("tests/calculator/example_1_1.ttl", &format!("{dcat}downloadURL"), file);
    let class = "<bblocks://test.calculator> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> \
                 <https://www.opengis.net/def/bblocks/Schema>";
    assert!(quads.iter().any(|quad| quad.to_string().contains(class)), "{class}");
    // Without a base, the same with relative references.
    let relative = build(&fixture("calculator"), &RegisterOptions::default());
    let relative = turtle(&relative.files["bblocks.ttl"], "https://example.org/build/bblocks.ttl");
    crate::support::assert_isomorphic(&quads, &relative, "with a base and without");
}

/// Every file that the register says to have is there, and every link of the page leads to one.
#[test]
fn links_lead_somewhere() {
    let register = build(&fixture("calculator"), &RegisterOptions::default());
    let files = &register.files;
    let page = &files["generateddocs/markdown/calculator/index.md"];
    let links: Vec<_> = page.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(links.len() > 15, "{links:?}");
    for link in links.into_iter().filter(|link| !link.contains("://")) {
        assert!(link.strip_prefix("../../../").is_some_and(|path| files.contains_key(path)), "{link}");
    }
    let html = &files["tests/report.html"];
    let references: Vec<_> = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(references.len(), register.blocks[0].report.items.len());
    assert!(references.iter().all(|file| files.contains_key(&format!("tests/{file}"))), "{references:?}");
    for tag in ["<script", "<link", "<img", "@import", "url("] {
        assert!(!html.contains(tag), "the report needs nothing else: {tag}");
    }
    let listed = json(&files["register.json"]);
    let listed = listed.pointer("/tooling/rpcgraph/files").and_then(Value::as_array).expect("files");
    assert_eq!(listed.iter().filter_map(Value::as_str).collect::<Vec<_>>(), files.keys().collect::<Vec<_>>());
}

#[test]
fn texts_of_examples_are_escaped() {
    let place = Place::new();
    place.put("b/context.jsonld", r#"{"@context": {"p": "https://example.org/p"}}"#);
    place.put(
        "b/examples.yaml",
        "- title: \"<b>`x`</b>\\n# y\"\n  snippets:\n  - language: json\n    schema-ref: s.json\n    code: '{\"p\": \"```\\n````</script>\"}'\n",
    );
    place.put("b/s.json", r#"{"required": ["<i>"]}"#);
    let register = build(&place.path("b"), &RegisterOptions::default());
    let (page, html) = (&register.files["generateddocs/markdown/b/index.md"], &register.files["tests/report.html"]);
    assert!(page.contains("\n`````json\n"), "{page}");
    assert!(page.contains("\n### \\<b\\>\\`x\\`\\</b\\> \\# y\n"), "{page}");
    assert!(html.contains("&lt;b&gt;") && html.contains("&lt;i&gt;"), "{html}");
    assert!(!html.contains("<b>") && !html.contains("<i>"), "{html}");
}

#[test]
fn texts_of_metadata_are_escaped() {
    let place = Place::new();
    place.put("b/context.jsonld", r#"{"@context": {"p": "https://example.org/p"}}"#);
    place.put("b/examples.yaml", "- {title: '![i](x) &lt; _a_b_', snippets: [{language: json, code: '{\"p\": 1}'}]}\n");
    let metadata = r#"{"itemIdentifier": "i`\n\n<b>", "status": "s\n# x", "ldContext": "javascript:alert(1)//annotated/b/context.jsonld",
        "sources": [{"title": "s](x", "link": "javascript:alert(1)"}, {"title": "t", "link": "https://example.org/> <b>"}]}"#;
    place.put("b/bblock.json", metadata);
    let register = build(&place.path("b"), &RegisterOptions::default());
    let (page, html) = (&register.files["generateddocs/markdown/b/index.md"], &register.files["tests/report.html"]);
    for line in [
        "### !\\[i\\](x) \\&lt; \\_a_b\\_",
        "i\\` \\<b\\>, status: s \\# x",
        "- s\\](x: `javascript:alert(1)`",
        "- t: https://example.org/\\> \\<b\\>",
    ] {
        assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    }
    assert!(!html.contains("javascript:"), "{html}");
}

/// Texts of a block with HTML, links or ends of other syntaxes are shown by pages and kept by graphs.
#[test]
fn texts_of_a_block_are_no_html() {
    let place = Place::new();
    let hostile = |name: &str| {
        format!(
            "{name} <script>alert(1)</script> <img src=x onerror=alert(2)> <!-- [a](javascript:b) ![c](data:d) `e | f\r\n# g\n\n> ."
        )
    };
    let text = |name: &str| serde_json::to_string(&hostile(name)).expect("JSON");
    place.put(
        "r/bblocks-config.yaml",
        format!("name: {}\nabstract: {}\ndescription: {}\nidentifier-prefix: x.\n", text("N"), text("A"), text("D")),
    );
    let metadata = ["name", "title", "abstract", "description", "status", "version", "itemClass", "dateTimeAddition"];
    let metadata: Vec<_> = metadata.iter().map(|name| format!("\"{name}\": {}", text(name))).collect();
    let sources = format!("\"sources\": [{{\"title\": {0}, \"link\": {0}}}], \"tags\": [{0}]", text("link"));
    place.put("r/_sources/b/bblock.json", format!("{{{}, {sources}}}", metadata.join(", ")));
    place.put("r/_sources/b/description.md", hostile("description.md"));
    place.put("r/_sources/b/context.jsonld", r#"{"@context": {"p": "https://example.org/p"}}"#);
    let example = ["title", "content"].map(|name| format!("\"{name}\": {}", text(&format!("example {name}"))));
    let other = format!("{{\"language\": \"ttl\", \"code\": \"<#a> <#b> {} .\"}}", "\\\"c\\\"");
    let snippets = format!("\"snippets\": [{{\"language\": \"json\", \"code\": {}}}, {other}]", text("code"));
    let prefixes = "\"prefixes\": {\"q\": \"http://e/> . <#x> <#y> <#z> . @prefix r: <\"}";
    place.put("r/_sources/b/examples.yaml", format!("[{{{}, {prefixes}, {snippets}}}]", example.join(", ")));
    place.run(&["register", "r", "-o", "out", "--quiet"]);
    let mut seen = String::new();
    for file in files(&place.path("out"), "") {
        let name = file.to_string_lossy().into_owned();
        let shown = fs::read_to_string(&file).expect("text");
        if name.ends_with(".html") {
            assert!(
                !shown.contains("<script") && !shown.contains("<img") && !shown.contains("<!--"),
                "{name}: {shown}"
            );
            assert!(!shown.contains("href=\"javascript") && !shown.contains("href=\"data"), "{name}: {shown}");
        } else if name.ends_with(".md") {
            // Without blocks of code, which show what they hold.
            let parts: Vec<_> =
                shown.split("\n```").enumerate().filter(|(at, _)| at % 2 == 0).map(|(_, part)| part).collect();
            let page = parts.concat().replace("\\<", "").replace("\\]", "");
            for markup in ["<script", "<img", "<!--", "](javascript", "](data"] {
                assert!(!page.contains(markup), "{name}: {markup} in {shown}");
            }
            seen.push_str(&shown);
        } else if name.ends_with("bblocks.ttl") {
            let triples = turtle(&shown, "https://example.org/");
            assert!(triples.iter().any(|quad| quad.object.to_string().contains("title <script>")), "{shown}");
        } else if name.ends_with(".ttl") {
            assert!(!shown.contains("<#y> <#z>"), "{name}: {shown}");
        }
    }
    for text in
        ["name", "title", "abstract", "description", "description.md", "example title", "example content", "link"]
    {
        assert!(
            seen.contains(&format!("{text} \\<script")) || seen.contains(&format!("{text} &lt;script")),
            "{text}: {seen}"
        );
    }
}

#[test]
fn a_register_is_the_same_on_every_run() {
    let texts: Vec<_> =
        (0..3).map(|_| build(&fixture("calculator"), &RegisterOptions::default()).files.clone()).collect();
    assert!(texts.windows(2).all(|pair| pair[0] == pair[1]));
    assert!(!texts[0].values().any(|text| text.contains(env!("CARGO_MANIFEST_DIR"))), "paths of this machine");
    let options =
        RegisterOptions { generated: rpcgraph::register::date_time(1_772_366_399), ..RegisterOptions::default() };
    let files = build(&fixture("calculator"), &options).files.clone();
    for file in ["tests/report.json", "tests/calculator/_report.json"] {
        assert_eq!(json(&files[file])["generated"], "2026-03-01T11:59:59+00:00");
    }
    assert!(files["tests/calculator/plus.validation_passed.txt"].contains("\nGenerated 2026-03-01T11:59:59+00:00\n"));
}

#[test]
fn the_time_of_the_environment_is_in_the_reports() {
    let mut place = Place::new();
    place.put("b/context.jsonld", r#"{"@context": {"p": "https://example.org/p"}}"#);
    place.put("b/examples.yaml", "- snippets: [{language: json, code: '{\"p\": 1}'}]");
    place.set("SOURCE_DATE_EPOCH", "0");
    place.run(&["register", "b", "-o", "out", "--quiet"]).quietly();
    let report = json(&String::from_utf8(place.read("out/tests/report.json")).expect("text"));
    assert_eq!(report["generated"], "1970-01-01T00:00:00+00:00");
    let mut place = Place::with("b/context.jsonld", "");
    place.set("SOURCE_DATE_EPOCH", "soon");
    place
        .run(&["register", "b", "-o", "out"])
        .began(2, "error: SOURCE_DATE_EPOCH \"soon\" is not a number of seconds: ");
}

/// A block is named by its folder or by its examples, from anywhere.
#[test]
fn a_block_is_named_by_its_examples_too() {
    let place = Place::new();
    place.put("b/context.jsonld", r#"{"@context": {"p": "https://example.org/p"}}"#);
    place.put("b/examples.yaml", "- snippets: [{language: json, code: '{\"p\": 1}'}]");
    place.put("b/more.yaml", "- snippets: [{language: json, code: '{\"p\": 2}'}]");
    place.run(&["register", "b/", "-o", "one"]).said(0, "b: 1 of 1 passed; 14 files in one\n");
    place.run(&["register", "b/examples.yaml", "-o", "two", "--quiet"]).quietly();
    place.run(&["register", "b/more.yaml", "-o", "three/", "--quiet"]).quietly();
    assert_eq!(place.read("one/tests/b/example_1_1.ttl"), place.read("two/tests/b/example_1_1.ttl"));
    assert_eq!(place.read("three/tests/b/example_1_1.ttl"), b"[] <https://example.org/p> 2 .\n");
}

#[test]
fn times_are_those_of_the_calendar() {
    for (seconds, time) in [
        (0, "1970-01-01T00:00:00+00:00"),
        (-1, "1969-12-31T23:59:59+00:00"),
        (951_782_400, "2000-02-29T00:00:00+00:00"),
        (4_107_542_400, "2100-03-01T00:00:00+00:00"),
        (253_402_300_799, "9999-12-31T23:59:59+00:00"),
    ] {
        assert_eq!(rpcgraph::register::date_time(seconds).as_deref(), Some(time));
    }
    for beyond in [253_402_300_800, i64::MAX, i64::MIN] {
        assert_eq!(rpcgraph::register::date_time(beyond), None);
    }
}

/// The register of the block that the project ships is the one that it makes.
#[test]
fn the_committed_register_is_not_stale() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let register = build(&examples.join("json-rpc"), &RegisterOptions::default());
    let report = &register.blocks[0].report;
    assert!(report.items.len() > 60);
    let differences = compare(&register, &examples.join("register"));
    assert_eq!(differences, [], "make it again: rpcgraph register examples/json-rpc -o examples/register");
}

#[test]
fn differences_are_found() {
    let place = Place::new();
    let register = build(&fixture("calculator"), &RegisterOptions::default());
    let folder = place.path("out");
    register.write(&folder, false).expect("a register");
    assert_eq!(compare(&register, &folder), []);
    fs::write(folder.join("bblocks.ttl"), "other").expect("a file");
    fs::write(folder.join("mine.txt"), "").expect("a file");
    fs::remove_file(folder.join("tests/report.html")).expect("removed");
    let expected = [
        Difference::Changed("bblocks.ttl".into()),
        Difference::Missing("tests/report.html".into()),
        Difference::Extra("mine.txt".into()),
    ];
    assert_eq!(compare(&register, &folder), expected);
}
