//! Extension points, terms that schemas define differently, members that JSON-LD does not allow, and definitions of uplifts.

use serde_json::{Value, json as value};

use super::{json, turtle};
use crate::cli::Place;
use crate::support::assert_isomorphic;

const MADE: [&str; 5] = ["register", "r", "-o", "out", "--base-url=https://example.net/r/build"];

/// A repository of blocks, each with its files.
fn repository(blocks: &[(&str, &[(&str, &str)])]) -> Place {
    let place = Place::new();
    place.put("r/bblocks-config.yaml", "identifier-prefix: eg.p\nimports: []\n");
    for (name, files) in blocks {
        place.put(&format!("r/_sources/{name}/bblock.json"), "{}");
        files.iter().for_each(|(file, text)| place.put(&format!("r/_sources/{name}/{file}"), *text));
    }
    place
}

fn read(place: &Place, path: &str) -> String {
    String::from_utf8(place.read(&format!("out/{path}"))).expect("text")
}

const POINTS: &str =
    r#"{"extensionPoints": {"baseBuildingBlock": "eg.p.base", "extensions": {"eg.p.input": "eg.p.special"}}}"#;

#[test]
fn extension_points_put_schemas_in_place_of_others() {
    let examples = "- snippets: [{language: json, code: '{\"input\": {\"v\": 1, \"unit\": \"m\"}}'}]
- snippets: [{language: json, code: '{\"input\": {\"v\": 1}}'}]
- snippets: [{language: json, code: '{\"nested\": {\"deep\": {\"v\": 1}}}'}]
- snippets: [{language: json, code: '{\"choice\": true}'}]
";
    let place = repository(&[
        (
            "base",
            &[(
                "schema.yaml",
                "type: object
properties:
  input: {x-jsonld-id: 'https://example.org/input', $ref: 'bblocks://eg.p.input'}
  nested: {$ref: ../mid/schema.yaml}
  list: {type: array, items: {$ref: ../input/schema.yaml}}
  choice: {oneOf: [{$ref: 'bblocks://eg.p.input'}, {$ref: '#/$defs/other'}, {type: array, items: {$ref: 'bblocks://eg.p.input'}}]}
  plain: {type: string}
$defs: {other: {type: boolean}}
",
            )],
        ),
        ("mid", &[("schema.yaml", "allOf: [{properties: {deep: {$ref: ../core/schema.yaml}}}, {title: x}]\n")]),
        // Another name for the core.
        ("input", &[("schema.yaml", "title: Input\n$ref: ../core/schema.yaml\n")]),
        ("core", &[("schema.yaml", "type: object\nproperties: {v: {x-jsonld-id: 'https://example.org/v'}}\n")]),
        (
            "special",
            &[("schema.yaml", "required: [unit]\nproperties: {unit: {x-jsonld-id: 'https://example.org/unit'}}\n")],
        ),
        ("custom", &[("bblock.json", POINTS), ("examples.yaml", examples)]),
        ("more", &[("bblock.json", &POINTS.replace("p.base", "p.custom").replace("special", "core"))]),
        ("circle", &[("bblock.json", &POINTS.replace("p.base", "p.circle")), ("schema.yaml", "{}")]),
        ("unknown", &[("bblock.json", &POINTS.replace("p.special", "p.none"))]),
        ("api", &[("bblock.json", &POINTS.replace("p.base", "p.nothing"))]),
        ("nothing", &[]),
    ]);
    let ran = place.run(&MADE);
    let lines: Vec<_> = ran.stderr.lines().collect();
    for said in [
        "note: eg.p.api: extensionPoints are listed but not applied: the extended block lacks a JSON Schema",
        "failed: eg.p.circle: _sources/circle/schema.yaml: its extension points lead back to it",
        "failed: eg.p.custom: example 2, snippet 1: JSON Schema: Validation failed: \"unit\" is a required property",
        "failed: eg.p.custom: example 3, snippet 1: JSON Schema: Validation failed: \"unit\" is a required property",
        "failed: eg.p.unknown: bblocks://eg.p.none, named by _sources/unknown/schema.yaml: neither the repository nor",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(said)), "{said}\n{}", ran.stderr);
    }
    let schema = json(&read(&place, "annotated/p/custom/schema.json"));
    let url = |name: &str| format!("https://example.net/r/build/annotated/p/{name}/schema.yaml");
    let special = value!({
        "$ref": url("special"),
        "x-bblocks-extension-source": "eg.p.input",
        "x-bblocks-extension-target": "eg.p.special",
    });
    let array = value!({ "type": "array", "items": { "$ref": url("input") } });
    let expected = value!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "x-bblocks-extends": "eg.p.base",
        "x-bblocks-extensions": { "eg.p.input": "eg.p.special" },
        "allOf": [{ "$ref": url("base") }, { "properties": {
            "input": special,
            "nested": { "allOf": [{ "properties": { "deep": special } }, {}] },
            "list": { "items": special },
            "choice": { "oneOf": [
                special,
                { "$ref": format!("{}#/$defs/other", url("base")) },
                { "allOf": [array, { "items": special }] },
            ] },
        } }],
    });
    assert_eq!(schema, expected, "{schema:#}");
    let graph = read(&place, "tests/p/custom/example_1_1.ttl");
    let expected = "@prefix e: <https://example.org/> . [] e:input [ e:v 1 ; e:unit \"m\" ] .";
    assert_isomorphic(&turtle(&graph, "https://e.org/"), &turtle(expected, "https://e.org/"), "custom");
    assert_eq!(json(&read(&place, "annotated/p/more/schema.json"))["allOf"][0]["$ref"], url("custom"));
    let entry = &json(&read(&place, "register.json"))["bblocks"];
    let entry = entry.as_array().expect("blocks").iter().find(|entry| entry["itemIdentifier"] == "eg.p.custom");
    let entry = entry.expect("an entry");
    assert_eq!(entry["schema"]["application/yaml"], url("custom"));
    assert_eq!(entry["extensionPoints"]["baseBuildingBlock"], "bblocks://eg.p.base");
}

/// A schema that cannot be had leaves an example unvalidated, and with its graph.
#[test]
fn parts_of_schemas_that_cannot_be_had() {
    let schema = "$ref: https://example.org/gone.json
$defs: {x: {$anchor: X, required: [a], properties: {a: {x-jsonld-id: 'https://example.org/a'}}}}
properties: {a: {x-jsonld-id: 'https://example.org/a'}}
";
    let examples = "- snippets: [{language: json, schema-ref: '#X', code: '{\"a\": 1}'}]
- snippets: [{language: json, schema-ref: '#X', code: '{}'}]
";
    let place = repository(&[("part", &[("schema.yaml", schema), ("examples.yaml", examples)])]);
    let ran = place.run(&MADE);
    assert_eq!(ran.stderr.matches("Not validated: `https://example.org/gone.json`").count(), 2, "{}", ran.stderr);
    assert_eq!(read(&place, "tests/p/part/example_1_1.ttl"), "[] <https://example.org/a> 1 .\n");
}

#[test]
fn terms_that_two_schemas_define_differently_are_told() {
    let schema = |iri: &str| {
        format!("x-jsonld-prefixes: {{e: 'https://example.org/'}}\nproperties: {{a: {{x-jsonld-id: '{iri}'}}}}\n")
    };
    let all = "allOf: [{$ref: ../one/schema.yaml}, {$ref: ../same/schema.yaml}, {$ref: ../two/schema.yaml}]\n";
    let examples = "- snippets: [{language: json, code: '{\"a\": 1}'}]\n";
    let place = repository(&[
        ("one", &[("schema.yaml", &schema("e:one"))]),
        ("same", &[("schema.yaml", &schema("https://example.org/one"))]),
        ("two", &[("schema.yaml", &schema("https://example.org/two"))]),
        ("all", &[("schema.yaml", all), ("examples.yaml", examples)]),
    ]);
    let told = "eg.p.all: the term \"a\" is <https://example.org/one> in _sources/same/schema.yaml and \
                <https://example.org/two> in _sources/two/schema.yaml: only one can count\n";
    let ran = place.run(&MADE);
    assert_eq!((ran.status, ran.stderr.matches("the term").count()), (Some(0), 1), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("note: {told}")), "{}", ran.stderr);
    let ran = place.run(&[&MADE[..], &["--strict"]].concat());
    assert!(ran.status == Some(1) && ran.stderr.contains(&format!("failed: {told}")), "{}", ran.stderr);
}

/// JSON-LD lets any term be a prefix; one that nothing declares is a path, as rdflib and jsonld.js take it.
#[test]
fn prefixes_that_cannot_be_schemes() {
    let place = Place::new();
    let context = r#"{"@context": {"id": "@id", "my_x": "https://example.org/", "p": {"@id": "my_x:p", "@type": "@id"}, "q": "my_x:q", "j": {"@id": "my_x:j", "@type": "@json"}}}"#;
    place.put("b/context.jsonld", context);
    let code = r#"{"id": "my_agents:x", "@type": "my_agents:T", "p": ["my_agents:y", "urn:z", "my_x:o"], "q": "my_x:is text", "j": {"my_x:b": 1, "n": 2}, "my_x:r": {"my_x": 1, "id": "my_x:i"}}"#;
    place.put(
        "b/examples.yaml",
        format!("- {{base-uri: 'https://e.org/x/y', snippets: [{{language: json, code: '{code}'}}]}}\n"),
    );
    let ran = place.run(&["register", "b", "-o", "out"]);
    let said = "Lost: the prefix my_agents is declared nowhere, so names with it are relative to the base\n";
    assert!(ran.status == Some(0) && ran.stderr.contains(said), "{}", ran.stderr);
    let graph = String::from_utf8(place.read("out/tests/b/example_1_1.ttl")).expect("text");
    let expected = "<https://e.org/x/my_agents:x> a <https://e.org/x/my_agents:T> ; <https://example.org/p> <https://e.org/x/my_agents:y> , <urn:z> ,
        <https://example.org/o> ; <https://example.org/q> \"my_x:is text\" ;
        <https://example.org/j> '{\"my_x:b\":1,\"n\":2}'^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON> ; <https://example.org/r> <https://example.org/i> .
        <https://example.org/i> <https://example.org/> 1 .";
    assert_isomorphic(&turtle(&graph, "https://e.org/"), &turtle(expected, "https://e.org/"), "prefixes");
    assert_eq!(place.run(&["register", "b", "-o", "out", "--strict", "--quiet"]).status, Some(1));
}

/// The official tool's processor resolves them so; the JSON-LD has the whole IRIs, for every processor.
#[test]
fn types_are_those_of_the_context_of_their_own_term() {
    let place = Place::new();
    let context = r#"{"@context": {"@vocab": "https://example.org/", "T": "https://example.org/t#T",
        "type": {"@id": "@type", "@context": {"@vocab": "https://example.net/v#"}},
        "kind": {"@id": "@type", "@context": {"@vocab": null, "@base": "https://example.net/base/"}}}}"#;
    place.put("b/context.jsonld", context);
    let code = r#"{"type": ["A", "T", "urn:x"], "p": {"kind": "B", "q": 1}}"#;
    place.put("b/examples.yaml", format!("- snippets: [{{language: json, code: '{code}'}}]\n"));
    assert_eq!(place.run(&["register", "b", "-o", "out"]).status, Some(0));
    let text = |file: &str| String::from_utf8(place.read(&format!("out/tests/b/example_1_1.{file}"))).expect("text");
    let expected =
        "@prefix e: <https://example.org/> . [] a <https://example.net/v#A> , <https://example.org/t#T> , <urn:x> ;
        e:p [ a <https://example.net/base/B> ; e:q 1 ] .";
    assert_isomorphic(&turtle(&text("ttl"), "https://e.org/"), &turtle(expected, "https://e.org/"), "types");
    assert!(text("jsonld").contains("\"https://example.net/v#A\""), "{}", text("jsonld"));
}

#[test]
fn terms_that_json_ld_does_not_allow_are_named() {
    let place = Place::new();
    let wrong = r#"{"a": "https://example.org/a", "b": {"@id": "https://example.org/b", "@context": {"c": {"@id": "https://example.org/c", "@container": "@bogus"}}}}"#;
    place.put("b/context.jsonld", format!(r#"{{"@context": {wrong}}}"#));
    let ran = place.run(&["register", "b", "-o", "out"]);
    assert!(ran.status == Some(2) && ran.stderr.ends_with(", of the term \"b / c\"\n"), "{}", ran.stderr);
    place.put("b/context.jsonld", r#"{"@context": {"a": "https://example.org/a"}}"#);
    place.put(
        "b/examples.yaml",
        format!("- snippets: [{{language: json, code: '{{\"@context\": {wrong}, \"a\": 1}}'}}]\n"),
    );
    let ran = place.run(&["register", "b", "-o", "out"]);
    let said = ", of the term \"b / c\" of the document's own context\n";
    assert!(ran.status == Some(1) && ran.stderr.contains(said), "{}", ran.stderr);
}

/// What the official tool does by plugins and this one does not is named; so is what its registers say besides.
#[test]
fn plugins_licence_and_summary() {
    let metadata = r#"{"name": "One", "abstract": "A block", "itemClass": "schema", "resources": [{"role": "validation", "ref": "s.xsd"}]}"#;
    let place = repository(&[("one", &[("bblock.json", metadata)])]);
    place.put(
        "r/bblocks-config.yaml",
        "identifier-prefix: eg.p\nimports: []\nname: Blocks\nabstract: About\nlicense: MIT\n\
         plugins: {transforms: [{modules: [jinja]}], validators: [{pip: x, modules: [zip, wkt]}]}\n",
    );
    let ran = place.run(&MADE);
    for said in [
        "note: the plugin jinja is not run, nor what needs it\n",
        "note: the plugin wkt is not run, nor what needs it\n",
        "note: eg.p.one: bblock.json: nothing here validates by the resource \"s.xsd\"\n",
    ] {
        assert!(ran.stderr.contains(said), "{said}\n{}", ran.stderr);
    }
    assert_eq!(json(&read(&place, "register.json"))["license"], "MIT");
    let summary = "# Blocks\n\nAbout\n\n## Building Blocks\n\n### `eg.p.one` — One\n\n**Type:** schema\n\nA block\n\n";
    assert_eq!(read(&place, "register-summary.md"), summary);
    place.put("b/bblock.json", r#"{"license": "MIT"}"#);
    place.run(&["register", "b", "-o", "lone"]);
    let register = String::from_utf8(place.read("lone/register.json")).unwrap();
    assert_eq!(json(&register)["bblocks"][0]["license"], "MIT");
}

#[test]
fn errors_of_json_ld_have_a_place() {
    let context = r#"{"@context": {"id": "@id", "type": "@type", "n": "@nest", "p": "https://example.org/p"}}"#;
    for (code, said) in [
        (r#"{"p": [{"id": "x"}, {"id": "y", "@id": "z"}]}"#, "Colliding keywords, at /p/1/@id"),
        (r#"{"id": "x", "n": {"@id": "y"}}"#, "Colliding keywords, at /n/@id"),
        (r#"{"p": {"n": 5}}"#, "a term for `@nest` holds something else than objects, at /p/n"),
        (r#"{"p": {"id": 5}}"#, "Invalid `@id` value, at /p/id"),
        (r#"{"p": {"type": [5]}}"#, "Invalid `@type` value, at /p/type"),
    ] {
        let place = Place::new();
        place.put("b/context.jsonld", context);
        place.put("b/examples.yaml", format!("- snippets: [{{language: json, code: '{code}'}}]\n"));
        let ran = place.run(&["register", "b", "-o", "out", "--base-url=https://example.net/r/build"]);
        assert!(ran.status == Some(1) && ran.stderr.contains(said), "{said}\n{}", ran.stderr);
    }
}

#[test]
fn definitions_of_uplifts_are_transforms() {
    let definition = r#"
transform: .items
types: {'$[?kind="b"]': [ex:B], '$[*]': ex:Thing}
context:
  $: {ex: 'https://example.org/', name: ex:name}
  $[?(@.kind == 'b')]: {name: ex:title}
"#;
    let transforms = value!({ "transforms": [
        { "id": "up", "type": "semantic-uplift", "code": definition },
        { "id": "graph", "type": "semantic-uplift", "code": "{position: after, context: {.: {name: 'https://example.org/n'}}}" },
        { "id": "odd", "type": "semantic-uplift", "code": "types: {'$..x[(@.length-1)]': a}" },
    ] });
    let code = r#"{"items": [{"kind": "a", "name": "x"}, {"kind": "b", "name": "y"}], "name": "z"}"#;
    let other = r#"{"@context": {"name": "https://example.org/other"}, "@graph": [{"name": "w"}]}"#;
    let examples = format!(
        "- snippets: [{{language: json, code: '{code}'}}]\n- snippets: [{{language: json, code: '{other}'}}]\n"
    );
    let place = repository(&[("b", &[("transforms.yaml", &transforms.to_string()), ("examples.yaml", &examples)])]);
    let ran = place.run(&MADE);
    assert!(
        ran.stderr.contains("note: eg.p.b: transform odd of example_1_1: it is not a jq program"),
        "{}",
        ran.stderr
    );
    let prefix = "@prefix e: <https://example.org/> . ";
    for (file, expected) in [
        ("example_1_1.up", "[] a <ex:Thing> ; e:name \"x\" . [] a <ex:B>, <ex:Thing> ; e:title \"y\" ."),
        ("example_2_1.graph", "[] e:n \"w\" ."),
        ("example_1_1.graph", "[] e:n \"z\" ."),
    ] {
        let expected = format!("{prefix}{}", expected.replace("<ex:", "<https://example.org/"));
        let graph = read(&place, &format!("tests/p/b/transforms/{file}.ttl"));
        assert_isomorphic(&turtle(&graph, "https://e.org/"), &turtle(&expected, "https://e.org/"), file);
    }
    assert_eq!(
        json(&read(&place, "register.json"))["bblocks"][0]["transforms"][0]["outputs"]["mediaTypes"][0]["mimeType"],
        Value::from("text/turtle")
    );
}

/// What is like a keyword and is none defines nothing; of a file, the first value at a JSONPath is the example.
#[test]
fn comments_in_contexts_and_parts_of_files() {
    let place = Place::new();
    place.put("b/context.jsonld", r#"{"@context": {"@comment": "of the author", "a": "https://example.org/a"}}"#);
    place.put("b/all.json", r#"{"items": [{"kind": "x", "a": 1}, {"kind": "y", "a": 2.50}]}"#);
    let snippet = |path: &str| format!("- snippets: [{{language: json, ref: all.json, json-path: '{path}'}}]\n");
    let paths = ["$.items[1]", "$.items[*]", r#"$.items[?kind="y"]"#, "$.none"];
    place.put("b/examples.yaml", paths.map(snippet).concat());
    let ran = place.run(&["register", "b", "-o", "out", "--quiet"]);
    let said = "failed: example 4, snippet 1: Files: examples.yaml, example 4, snippet 1: json-path \"$.none\": it gives nothing\n";
    ran.said(1, said);
    for (number, value) in [(1, "2.50"), (2, "1"), (3, "2.50")] {
        let text = String::from_utf8(place.read(&format!("out/tests/b/example_{number}_1.json"))).expect("text");
        assert!(text.contains(&format!("\"a\": {value}\n")), "{text}");
    }
}

#[test]
fn circles_of_dependencies_are_told() {
    let place = repository(&[
        ("hen", &[("bblock.json", r#"{"dependsOn": ["eg.p.egg"]}"#)]),
        ("egg", &[("bblock.json", r#"{"isProfileOf": ["bblocks://eg.p.hen"]}"#)]),
        ("nest", &[("bblock.json", r#"{"dependsOn": ["eg.p.hen"]}"#)]),
        // A schema that goes on in itself.
        ("tree", &[("schema.yaml", "items: {$ref: 'bblocks://eg.p.tree'}\n")]),
    ]);
    let ran = place.run(&MADE);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let told: Vec<_> = ran.stderr.lines().filter(|line| line.contains("depends on it: ")).collect();
    let expected = ["egg", "hen"].map(|id| {
        format!("note: eg.p.{id}: what it depends on depends on it: whatever it takes over, it takes over once")
    });
    assert_eq!(told, expected);
}
