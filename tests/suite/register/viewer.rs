//! Registers for those who read them: the official viewer, and repositories that import them.

use std::fs;
use std::path::Path;

use rpcgraph::register::RegisterOptions;
use serde_json::Value;

use super::json;
use super::repositories::made;
use crate::cli::Place;
use crate::support::files;

/// Members of a register that the viewer reads: `src/services/bblock.service.js`.
const REGISTER: &[&str] = &["/name", "/imports/0", "/bblocks/0/itemIdentifier", "/validationReport"];
/// Members of each block in a register that it reads, with the file of its source.
const LISTED: &[(&str, &str)] = &[
    ("/itemIdentifier", "services/bblock.service.js"),
    ("/schema/application~1yaml", "services/bblock.service.js"),
    ("/schema/application~1json", "services/bblock.service.js"),
    ("/sourceSchema", "services/bblock.service.js"),
    ("/documentation/json-full/url", "services/bblock.service.js"),
    ("/name", "components/BuildingBlockListItem.vue"),
    ("/version", "components/BuildingBlockListItem.vue"),
    ("/status", "components/BuildingBlockListItem.vue"),
    ("/abstract", "components/BuildingBlockListItem.vue"),
    ("/tags/0", "components/BuildingBlockListItem.vue"),
    ("/itemClass", "components/BuildingBlockListItem.vue"),
    ("/dependsOn/0", "lib/dependency-graph.js"),
    ("/isProfileOf/0", "lib/dependency-graph.js"),
    ("/sourceLdContext", "lib/dependency-graph.js"),
];
/// Members of the document at `documentation` that it reads.
const FULL: &[(&str, &str)] = &[
    ("/annotatedSchema", "components/bblock/JsonSchemaViewer.vue"),
    ("/ldContext", "components/bblock/JsonLdContextViewer.vue"),
    ("/sourceLdContext", "components/bblock/JsonLdContextViewer.vue"),
    ("/ontology", "components/bblock/OntologyViewer.vue"),
    ("/description", "components/BuildingBlock.vue"),
    ("/validationPassed", "components/BuildingBlock.vue"),
    ("/testOutputs", "components/BuildingBlock.vue"),
    ("/sources/0/title", "components/BuildingBlock.vue"),
    ("/sources/0/link", "components/BuildingBlock.vue"),
    ("/dateTimeAddition", "components/BuildingBlock.vue"),
    ("/dateOfLastChange", "components/BuildingBlock.vue"),
    ("/sourceFiles", "components/BuildingBlock.vue"),
    ("/shaclShapes/eg.w.thing/0", "components/BuildingBlock.vue"),
    ("/semanticUplift/additionalSteps/0/type", "components/bblock/SemanticUplift.vue"),
    ("/semanticUplift/additionalSteps/0/stage", "components/bblock/SemanticUplift.vue"),
    ("/semanticUplift/additionalSteps/0/code", "components/bblock/SemanticUpliftStepContent.vue"),
    ("/transforms/0/id", "components/bblock/TransformsViewer.vue"),
    ("/transforms/0/code", "components/bblock/TransformsViewer.vue"),
    ("/transforms/0/inputs/mediaTypes/0/mimeType", "components/bblock/TransformsViewer.vue"),
    ("/transforms/0/outputs/mediaTypes/0/mimeType", "components/bblock/TransformsViewer.vue"),
    ("/examples/0/title", "components/BuildingBlock.vue"),
    ("/examples/0/content", "components/bblock/ExampleViewer.vue"),
    ("/examples/0/snippets/0/language", "components/bblock/ExampleViewer.vue"),
    ("/examples/0/snippets/0/code", "components/bblock/ExampleViewer.vue"),
    ("/examples/0/snippets/0/url", "components/bblock/ExampleViewer.vue"),
    ("/examples/0/snippets/0/sizeBytes", "components/bblock/BuildingBlockExamples.vue"),
    ("/resolvedSchemaProperties", "components/bblock/SchemaPropertiesViewer.vue"),
    ("/examples/0/snippets/0/transformResults/up/success", "components/bblock/ExampleTransformResults.vue"),
    ("/examples/0/snippets/0/transformResults/up/url", "components/bblock/ExampleTransformResults.vue"),
];

const BASE: &str = "https://example.net/w/build/";

/// A repository whose first block has all that a block may have.
fn whole() -> Place {
    let place = Place::new();
    let put = |file: &str, text: &str| place.put(&format!("w/{file}"), text);
    put("bblocks-config.yaml", "identifier-prefix: eg.w\nname: Whole\nimports: [default]\n");
    put(
        "_sources/thing/bblock.json",
        r#"{"name": "Thing", "abstract": "A", "status": "stable", "version": "1", "itemClass": "schema", "tags": ["t"],
            "dependsOn": ["eg.w.zero"], "isProfileOf": ["eg.w.zero"], "dateTimeAddition": "2026-01-01T00:00:00Z",
            "dateOfLastChange": "2026-01-02", "sources": [{"title": "S", "link": "https://example.org/s"}], "description": "D"}"#,
    );
    put("_sources/thing/schema.yaml", "type: object\nproperties: {v: {type: number}}\n");
    put("_sources/thing/context.jsonld", r#"{"@context": {"v": "https://example.org/v"}}"#);
    put("_sources/thing/ontology.ttl", "<https://example.org/v> a <http://www.w3.org/2002/07/owl#DatatypeProperty> .");
    put("_sources/thing/shapes.shacl", "<https://example.org/S> a <http://www.w3.org/ns/shacl#NodeShape> .");
    put("_sources/thing/semantic-uplift.yaml", "additionalSteps: [{type: jq, code: .}]\n");
    put("_sources/thing/transforms.yaml", "transforms: [{id: up, type: jq, code: '{more: .v}'}]\n");
    put("_sources/thing/examples.yaml", "- {title: T, content: C, snippets: [{language: json, code: '{\"v\": 1}'}]}\n");
    put("_sources/zero/bblock.json", "{}");
    place
}

#[test]
fn files_read_by_the_official_viewer_exist() {
    let place = whole();
    let register = made(&place.path("w"), &[], Some(BASE), &RegisterOptions::default());
    let listed = json(&register.files["register.json"]);
    let has = |document: &Value, pointer: &str, by: &str| {
        assert!(document.pointer(pointer).is_some_and(|value| !value.is_null()), "{pointer}, read by {by}");
    };
    REGISTER.iter().for_each(|pointer| has(&listed, pointer, "services/bblock.service.js"));
    // It is asked for as it stands.
    assert_eq!(listed["imports"][0], "https://opengeospatial.github.io/bblocks/register.json");
    let block = &listed["bblocks"][0];
    LISTED.iter().for_each(|(pointer, by)| has(block, pointer, by));
    let url = block["documentation"]["json-full"]["url"].as_str().expect("a URL");
    let full = json(&register.files[url.strip_prefix(BASE).expect("a file of the register")]);
    FULL.iter().for_each(|(pointer, by)| has(&full, pointer, by));
    assert!(
        register.files["tests/report.html"].contains("id=\"bblock-eg.w.thing\""),
        "components/bblock/ValidationBanner.vue"
    );
    assert_eq!(full["shaclShapes"]["eg.w.thing"][0], "https://example.net/w/_sources/thing/shapes.shacl");
}

fn copy(from: &Path, to: &Path) {
    for file in files(from, "") {
        let copied = to.join(file.strip_prefix(from).expect("a file below"));
        fs::create_dir_all(copied.parent().expect("a folder")).expect("folders");
        fs::copy(&file, copied).expect("a copy");
    }
}

#[test]
fn another_repository_imports_what_is_made() {
    let place = whole();
    let shapes = "@prefix sh: <http://www.w3.org/ns/shacl#> . <https://example.org/S> a sh:NodeShape ;
        sh:targetSubjectsOf <https://example.org/v> ; sh:property [ sh:path <https://example.org/v> ; sh:maxInclusive 5 ] .";
    place.put("w/_sources/thing/shapes.shacl", shapes);
    // Without the feature, the shapes are not checked, and what they are about is not validated.
    let expected = if cfg!(feature = "shacl") { 0 } else { 1 };
    assert_eq!(place.run(&["register", "w", "-o", "w/build", "--base-url", BASE, "--quiet"]).status, Some(expected));
    let put = |file: &str, text: &str| place.put(&format!("x/{file}"), text);
    put("bblocks-config.yaml", "identifier-prefix: eg.x\nimports: ['https://example.net/w']\n");
    put("_sources/more/bblock.json", r#"{"dependsOn": ["eg.w.thing"]}"#);
    put("_sources/more/schema.yaml", "allOf: [{$ref: 'bblocks://eg.w.thing'}, {required: [v]}]\n");
    let snippet = |code: &str| format!("- snippets: [{{language: json, code: '{code}'}}]\n");
    put("_sources/more/examples.yaml", &[r#"{"v": 1}"#, r#"{"v": 9}"#, r#"{"v": "x"}"#].map(snippet).concat());
    let arguments =
        ["register", "x", "-o", "out", "--base-url=https://example.net/x/build", "--import=https://example.net/w=w"];
    let ran = place.run(&arguments);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    for said in
        ["failed: example 3, snippet 1: JSON Schema: Validation failed: \"x\" is not of type \"number\"", "x/more: "]
    {
        assert!(ran.stderr.contains(said), "{said}\n{}", ran.stderr);
    }
    #[cfg(feature = "shacl")]
    assert!(ran.stderr.contains("failed: example 2, snippet 1: SHACL: Violation: "), "{}", ran.stderr);
    // The register's own URL names it, too, and so does a mapping of the repository to a folder in it; not to others.
    let by_url = arguments[..5].iter().copied().chain(["--import=https://example.net/w/build/register.json=w/build"]);
    let ran = place.run(&by_url.collect::<Vec<_>>());
    assert!(ran.stderr.contains("\"x\" is not of type \"number\""), "{}", ran.stderr);
    put("bblocks-config-local.yml", "url-mappings: {'https://example.net/w': ../w}\n");
    let ran = place.run(&arguments[..5]);
    let refused = "or allow it with --import https://example.net/w=../w\n";
    assert!(ran.stderr.contains(refused) && ran.stderr.contains("its imports are not available"), "{}", ran.stderr);
    put("bblocks-config-local.yml", "url-mappings: {'https://example.net/w/build': w}\n");
    copy(&place.path("w/build"), &place.path("x/w"));
    let ran = place.run(&arguments[..5]);
    assert!(ran.stderr.contains("\"x\" is not of type \"number\""), "{}", ran.stderr);
    let read = |path: &str| String::from_utf8(place.read(&format!("out/{path}"))).expect("text");
    assert!(read("tests/x/more/example_1_1.ttl").contains("<https://example.org/v> 1"));
    let register = json(&read("register.json"));
    assert_eq!(register["imports"][0], "https://example.net/w/build/register.json");
    let block = &register["bblocks"][0];
    assert_eq!(block["dependsOn"][0], "bblocks://eg.w.thing");
    assert_eq!(block["shaclShapes"]["eg.w.thing"][0], "https://example.net/w/_sources/thing/shapes.shacl");
    let schema = json(&read("annotated/x/more/schema.json"));
    assert_eq!(schema["allOf"][0]["$ref"], "https://example.net/w/build/annotated/w/thing/schema.json");
    let context = json(&read("annotated/x/more/context.jsonld"));
    assert_eq!(context["@context"]["v"], "https://example.org/v");
}
