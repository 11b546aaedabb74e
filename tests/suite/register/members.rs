//! Members of a register that other tools read, and blocks whose schema comes from extension points.

use std::collections::BTreeMap;

use oxrdf::NamedNode;
use rpcgraph::register::{Register, RegisterOptions};
use serde_json::{Value, json as value};

use super::repositories::made;
use super::{json, turtle};
use crate::cli::Place;
use crate::support::assert_isomorphic;

const BASE: &str = "https://example.net/w/build/";

/// Makes the register of a repository whose blocks have these files.
fn register(files: &[(&str, &str)]) -> Register {
    let place = Place::new();
    place.put(
        "w/bblocks-config.yaml",
        "identifier-prefix: eg.\nimports: []\nsparql: {query: 'https://example.net/q'}\n",
    );
    for (file, text) in files {
        place.put(&format!("w/_sources/{file}"), text);
        let folder = file.split('/').next().expect("a folder");
        if !files.iter().any(|(other, _)| *other == format!("{folder}/bblock.json")) {
            place.put(&format!("w/_sources/{folder}/bblock.json"), "{}");
        }
    }
    made(&place.path("w"), &[], Some(BASE), &RegisterOptions::default())
}

/// The results of a block's tests, by file name.
fn results(register: &Register, block: &str) -> BTreeMap<String, bool> {
    let report = json(&register.files[&format!("tests/{block}/_report.json")]);
    let items = report["items"].as_array().expect("items").iter();
    let name =
        |item: &Value| item["source"]["filename"].as_str().expect("a name").rsplit('/').next().unwrap_or("").to_owned();
    items.map(|item| (name(item), item["result"] == true)).collect()
}

fn notes(register: &Register) -> String {
    let of_blocks = register.blocks.iter().flat_map(|block| block.notes.iter().chain(&block.report.errors));
    of_blocks.chain(&register.notes).map(|note| format!("{note}\n")).collect()
}

const NAMED: (&str, &str) =
    ("base/schema.yaml", "{type: object, properties: {name: {type: string}}, required: [name]}");
const SPECIAL: (&str, &str) = (
    "special/schema.yaml",
    "{allOf: [{$ref: 'bblocks://eg.base'}, {properties: {color: {type: string, x-jsonld-id: 'http://e/c'}}, required: [color]}]}",
);
const POINTS: (&str, &str) = (
    "ext/bblock.json",
    r#"{"extensionPoints": {"baseBuildingBlock": "eg.coll", "extensions": {"eg.base": "eg.special"}}}"#,
);

#[test]
fn extension_points_replace_the_blocks_that_a_base_refers_to() {
    let tests = [
        ("ext/tests/ok.json", r#"{"members": [{"name": "a", "color": "red"}]}"#),
        ("ext/tests/plain-fail.json", r#"{"members": [{"name": "a"}]}"#),
        ("ext/tests/nameless-fail.json", r#"{"members": [{"color": "red"}]}"#),
    ];
    let bases: [&[(&str, &str)]; 4] = [
        &[(
            "coll/schema.yaml",
            "{properties: {members: {x-jsonld-id: 'http://e/m', items: {$ref: 'bblocks://eg.base'}}}}",
        )],
        // Through another block, with an anchor and a pointer of its own.
        &[
            ("coll/schema.yaml", "{properties: {members: {$ref: 'bblocks://eg.list#/$defs/all'}}}"),
            (
                "list/schema.yaml",
                "{$defs: {all: {items: {$ref: '#one'}}, one: {$anchor: one, $ref: 'bblocks://eg.base'}}}",
            ),
        ],
        // Through files, in a circle.
        &[
            ("coll/schema.yaml", "{$ref: more.yaml}"),
            (
                "coll/more.yaml",
                "{properties: {members: {items: {$ref: '../base/schema.yaml'}}, below: {$ref: schema.yaml}}}",
            ),
        ],
        // In a schema with definitions.
        &[(
            "coll/schema.yaml",
            "{$id: 'https://example.org/coll', $defs: {m: {$ref: 'bblocks://eg.base'}}, properties: {members: {items: {$ref: '#/$defs/m'}}}}",
        )],
    ];
    for base in bases {
        let register = register(&[&[NAMED, SPECIAL, POINTS], base, &tests[..]].concat());
        let results = results(&register, "ext");
        assert_eq!(results.len(), 3);
        assert!(results.values().all(|passed| *passed), "{base:?} {results:?}\n{}", notes(&register));
        assert!(register.files.contains_key("annotated/ext/schema.json"));
        // Terms below a property without a term of its own have no place in a context.
        if base[0].1.contains("x-jsonld-id") {
            let context = json(&register.files["annotated/ext/context.jsonld"]);
            assert_eq!(context["@context"]["members"]["@context"]["color"], "http://e/c", "{context}");
        }
    }
}

#[test]
fn an_extension_of_an_extension_has_both() {
    let register = register(&[
        NAMED,
        SPECIAL,
        POINTS,
        (
            "coll/schema.yaml",
            "{properties: {members: {items: {$ref: 'bblocks://eg.base'}}, owner: {$ref: 'bblocks://eg.owner'}}}",
        ),
        ("owner/schema.yaml", "{type: string}"),
        ("long/schema.yaml", "{type: string, minLength: 3}"),
        (
            "again/bblock.json",
            r#"{"extensionPoints": {"baseBuildingBlock": "eg.ext", "extensions": {"eg.owner": "eg.long"}}}"#,
        ),
        ("again/tests/ok.json", r#"{"members": [{"name": "a", "color": "red"}], "owner": "abc"}"#),
        ("again/tests/short-fail.json", r#"{"owner": "ab"}"#),
        ("again/tests/plain-fail.json", r#"{"members": [{"name": "a"}]}"#),
    ]);
    let results = results(&register, "again");
    assert!(results.len() == 3 && results.values().all(|passed| *passed), "{results:?}\n{}", notes(&register));
}

#[test]
fn extension_points_that_cannot_be_applied_pass_nothing() {
    let coll = ("coll/schema.yaml", "{properties: {members: {items: {$ref: 'bblocks://eg.base'}}}}");
    let tests = [("ext/tests/a.json", "{}"), ("ext/tests/b-fail.json", r#"{"members": [{}]}"#)];
    for (points, said) in [
        (r#"{"baseBuildingBlock": "eg.gone", "extensions": {"eg.base": "eg.special"}}"#, "bblocks://eg.gone"),
        (r#"{"baseBuildingBlock": "eg.coll", "extensions": {"eg.gone": "eg.special"}}"#, "bblocks://eg.gone"),
        (
            r#"{"baseBuildingBlock": "eg.coll", "extensions": {"eg.special": "eg.base"}}"#,
            "does not refer to _sources/special/schema.yaml",
        ),
        ("{}", "does not name a baseBuildingBlock"),
    ] {
        let block = format!(r#"{{"extensionPoints": {points}}}"#);
        let register = register(&[&[NAMED, SPECIAL, coll, ("ext/bblock.json", &block)], &tests[..]].concat());
        assert!(notes(&register).contains(said), "{said}: {}", notes(&register));
        let results = results(&register, "ext");
        assert!(results.len() == 2 && results.values().all(|passed| !passed), "{points}: {results:?}");
        assert!(!register.blocks.iter().any(|block| block.report.id == "eg.ext" && block.report.verdict().is_pass()));
    }
}

#[test]
fn members_that_other_tools_read_have_their_names_and_places() {
    let register = register(&[
        (
            "a/schema.yaml",
            "{type: object, properties: {n: {type: string, format: uri, x-jsonld-id: 'http://e/n'}, r: {x-jsonld-reverse: 'http://e/r'}}, required: [n]}",
        ),
        ("a/description.md", "A *short* text."),
        ("a/bblock.json", r#"{"description": "D"}"#),
        (
            "b/schema.yaml",
            "{properties: {a: {$ref: 'bblocks://eg.a'}, l: {type: array, items: {$ref: '#'}}, e: {oneOf: [{type: 'null'}, {title: E, properties: {x: {const: 1}}}]}}}",
        ),
        (
            "api/openapi.yaml",
            "{openapi: 3.1.0, paths: {/x: {get: {responses: {'200': {content: {application/json: {schema: {$ref: 'bblocks://eg.a'}}}}}}}}}",
        ),
    ]);
    let listed = json(&register.files["register.json"]);
    let block = |id: &str| {
        listed["bblocks"]
            .as_array()
            .and_then(|all| all.iter().find(|block| block["itemIdentifier"] == id))
            .cloned()
            .expect(id)
    };
    assert_eq!(listed["sparqlEndpoint"], "https://example.net/q");
    for link in listed["links"].as_array().expect("links") {
        let file = link["href"].as_str().and_then(|url| url.strip_prefix(BASE)).expect("a file of the register");
        assert!(register.files.contains_key(file), "{file}");
    }
    assert_eq!(json(&register.files["generateddocs/json-full/a/index.json"])["description"], "A *short* text.");
    assert_eq!(block("eg.a")["description"], "D");
    for form in ["json", "yaml"] {
        let text = &register.files[&format!("annotated/b/schema.{form}")];
        assert!(text.contains(&format!("{BASE}annotated/a/schema.{form}")), "{text}");
    }
    assert_eq!(block("eg.b")["resolvedSchemaProperties"], format!("{BASE}annotated/b/resolvedProperties.json"));
    let properties = json(&register.files["annotated/b/resolvedProperties.json"]);
    let a = "bblocks://eg.a";
    let b = "bblocks://eg.b";
    assert_eq!(
        properties,
        value!({ "defs": {}, "properties": [
            { "path": ["a"], "sources": [b], "schema_type": "object" },
            { "path": ["a", "n"], "required": true, "sources": [a], "id": "http://e/n", "schema_type": "string", "format": "uri", "effectiveId": "http://e/n" },
            { "path": ["a", "r"], "sources": [a], "id": "http://e/r", "effectiveId": "http://e/r" },
            { "path": ["l"], "sources": [b], "schema_type": "array" },
            { "path": ["l", "a"], "sources": [b], "schema_type": "object" },
            { "path": ["l", "a", "n"], "required": true, "sources": [a], "id": "http://e/n", "schema_type": "string", "format": "uri", "effectiveId": "http://e/n" },
            { "path": ["l", "a", "r"], "sources": [a], "id": "http://e/r", "effectiveId": "http://e/r" },
            { "path": ["l", "l"], "sources": [b], "schema_type": "array" },
            { "path": ["l", "e"], "sources": [b] },
            { "path": ["l", "e", "_oneOf", "1"], "title": "E", "keyword": "branch" },
            { "path": ["l", "e", "_oneOf", "1", "x"], "sources": [b], "const": 1 },
            { "path": ["l", "e", "_oneOf"], "keyword": "oneOf" },
            { "path": ["e"], "sources": [b] },
            { "path": ["e", "_oneOf", "1"], "title": "E", "keyword": "branch" },
            { "path": ["e", "_oneOf", "1", "x"], "sources": [b], "const": 1 },
            { "path": ["e", "_oneOf"], "keyword": "oneOf" },
        ] })
    );
    let api = block("eg.api");
    assert_eq!(api["openAPIDocument"], format!("{BASE}annotated/api/openapi.yaml"));
    assert_eq!(api["sourceOpenAPIDocument"], "https://example.net/w/_sources/api/openapi.yaml");
    assert_eq!(api["dependsOn"], value!([a]));
    assert!(register.files["annotated/api/openapi.yaml"].contains(&format!("{BASE}annotated/a/schema.yaml")));
}

#[test]
fn the_catalogue_has_the_nodes_and_terms_of_the_official_register() {
    let register = register(&[
        (
            "a/bblock.json",
            r#"{"name": "A", "abstract": "About A", "status": "stable", "itemClass": "schema", "tags": ["t"], "scope": "unstable"}"#,
        ),
        ("a/schema.yaml", "{properties: {n: {type: string, x-jsonld-id: 'http://e/n'}}}"),
        (
            "a/examples.yaml",
            "- snippets: [{language: json, code: '{\"n\": \"x\"}'}, {language: json, schema-ref: '#/properties/n', code: '\"x\"'}, {language: json, schema-ref: other.yaml, code: '{}'}]",
        ),
        ("a/other.yaml", "{}"),
        ("b/bblock.json", r#"{"dependsOn": ["eg.a"], "isProfileOf": ["eg.a"]}"#),
    ]);
    let quads = turtle(&register.files["bblocks.ttl"], &format!("{BASE}bblocks.ttl"));
    let iri = |name: &str| {
        let prefixes = [
            ("bb:", "https://www.opengis.net/def/bblocks/"),
            ("prof:", "http://www.w3.org/ns/dx/prof/"),
            ("dct:", "http://purl.org/dc/terms/"),
            ("skos:", "http://www.w3.org/2004/02/skos/core#"),
            ("dcat:", "http://www.w3.org/ns/dcat#"),
            ("rdf:", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
        ];
        let found = prefixes.iter().find_map(|(prefix, whole)| Some(format!("{whole}{}", name.strip_prefix(prefix)?)));
        NamedNode::new(found.unwrap_or_else(|| name.to_owned())).expect("an IRI")
    };
    let has = |subject: &str, predicate: &str, object: &str| {
        let (subject, predicate) = (iri(subject), iri(predicate));
        let mut found =
            quads.iter().filter(|quad| quad.subject == subject.clone().into() && quad.predicate == predicate);
        assert!(found.any(|quad| quad.object.to_string() == object), "{subject} {predicate} {object}");
    };
    let node = |name: &str| iri(name).to_string();
    for class in ["bb:BBlock", "bb:Schema", "skos:Concept", "dcat:Dataset"] {
        has("bblocks://eg.a", "rdf:type", &node(class));
    }
    has("bblocks://eg.b", "bb:dependsOn", "<bblocks://eg.a>");
    has("bblocks://eg.b", "prof:isProfileOf", "<bblocks://eg.a>");
    has("bblocks://eg.a", "dct:abstract", "\"About A\"^^<https://www.w3.org/ns/iana/media-types/text/markdown>");
    has("bblocks://eg.a", "bb:status", "<http://www.opengis.net/def/status/stable>");
    has("bblocks://eg.a", "bb:scope", "<http://www.opengis.net/def/bblocks/scope/unstable>");
    has("bblocks://eg.b", "bb:validationPassed", "\"true\"^^<http://www.w3.org/2001/XMLSchema#boolean>");
    has("bblocks://eg.a", "skos:inScheme", "<https://example.net/w/>");
    has("https://example.net/w/", "skos:hasTopConcept", "<bblocks://eg.b>");
    let artifacts: Vec<_> = quads
        .iter()
        .filter(|quad| quad.predicate == iri("prof:hasArtifact"))
        .map(|quad| quad.object.to_string())
        .collect();
    for file in ["schema.yaml", "schema.json", "context.jsonld"] {
        assert!(artifacts.contains(&format!("<{BASE}annotated/a/{file}>")), "{artifacts:?}");
    }
    let example = format!("{BASE}bblocks.ttl#a/example_1");
    for schema in
        ["build/annotated/a/schema.yaml", "build/annotated/a/schema.yaml#/properties/n", "_sources/a/other.yaml"]
    {
        has(&example, "dct:conformsTo", &format!("<https://example.net/w/{schema}>"));
    }
    // References below the base lead to files of the register.
    let mut checked = 0;
    for quad in &quads {
        let object = quad.object.to_string();
        if let Some(path) = object.strip_prefix(&format!("<{BASE}")).map(|path| path.trim_end_matches('>')) {
            let file = path.split('#').next().unwrap_or_default();
            assert!(register.files.contains_key(file), "{file}");
            checked += 1;
        }
    }
    assert!(checked > 20);
}

#[test]
fn tests_that_must_fail_do_not_pass_unread() {
    let register = register(&[
        ("a/schema.yaml", "type: object\n"),
        ("a/tests.yaml", "- {ref: gone.json, require-fail: true}\n- {ref: other.json, require-fail: true}\n"),
        ("a/other.json", "1"),
        ("a/tests/x-fail.json", "{\"a\":"),
        ("b/context.jsonld", r#"{"@context":{"id":"@id","type":"@type"}}"#),
        ("b/tests/valid-fail.json", r#"{"note":"y"}"#),
        ("b/examples.yaml", "- snippets: [{language: json, code: '{}'}]\n"),
        ("a/examples.yaml", "- snippets: [{language: json, code: '{}'}]\n"),
    ]);
    let report = &register.blocks[0].report;
    let failed: Vec<_> = report.failed().map(|item| (item.title(), item.reasons())).collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0].0, "test gone.json");
    assert!(failed[0].1[0].contains("cannot read `gone.json`, named by tests.yaml"), "{failed:?}");
    let notes = notes(&register);
    assert!(notes.contains("test x-fail.json: fails only because it cannot be parsed: Error parsing JSON"), "{notes}");
    assert!(!notes.contains("other.json"), "{notes}");
    assert!(
        notes.contains("test valid-fail.json: fails only because it has no triples: **Empty** output Turtle"),
        "{notes}"
    );
}

/// With a schema, the context only annotates it.
#[test]
fn a_context_that_json_ld_does_not_allow_is_named() {
    let register = register(&[
        ("a/schema.yaml", "type: object\nproperties: {name: {type: string}}\n"),
        ("a/context.jsonld", r#"{"@context":{"name":{"@id":"http://e.org/n","@tpye":"@id"}}}"#),
        ("a/examples.yaml", "- snippets: [{language: json, code: '{\"name\":\"x\"}'}]\n"),
    ]);
    let notes = notes(&register);
    assert!(notes.contains("JSON-LD does not allow this context") && notes.contains("of the term \"name\""), "{notes}");
}

#[test]
fn transforms_that_are_not_run_are_named() {
    let register = register(&[
        ("a/context.jsonld", r#"{"@context": {"n": "http://e/n"}}"#),
        (
            "a/examples.yaml",
            "- snippets: [{language: xml, code: <a/>}, {language: application/xml, code: <b/>}, {language: json, code: '{}'}]",
        ),
        (
            "a/transforms.yaml",
            "transforms: [{id: x, type: xslt, code: c}, {id: f, type: json-ld-frame, code: '{}'}, {id: p, type: python, code: c}, {id: q, type: jq, code: .}]",
        ),
    ]);
    let notes = notes(&register);
    for said in [
        "transform x is not run: type xslt",
        "transform f is not run: type json-ld-frame",
        "transform p is not run: type python",
    ] {
        assert!(notes.contains(said), "{notes}");
    }
    assert!(!notes.contains("transform q"), "{notes}");
    for file in ["tests/a/example_1_1.xml", "tests/a/example_1_2.xml", "tests/a/transforms/example_1_3.q.json"] {
        assert!(register.files.contains_key(file), "{file}: {:?}", register.files.keys());
    }
    let full = json(&register.files["generateddocs/json-full/a/index.json"]);
    assert_eq!(full["examples"][0]["snippets"][0]["transformResults"]["x"]["success"], false);
}

#[test]
fn differences_from_a_published_register_are_listed_member_by_member() {
    let place = Place::new();
    place.put("r/bblocks-config.yaml", "identifier-prefix: eg\nname: Mine\nimports: []\n");
    place.put("r/_sources/a/bblock.json", r#"{"name": "A", "tags": ["x", "y"]}"#);
    place.put("r/_sources/a/schema.yaml", "properties: {p: {x-jsonld-id: 'https://example.org/p'}}\n");
    place.put("r/_sources/a/examples.yaml", "- snippets: [{language: json, code: '{\"p\": 1}'}]\n");
    let made = ["register", "r", "--base-url=https://example.net/r/build", "--quiet"];
    place.run(&[&made[..], &["-o", "out"]].concat()).quietly();
    place.run(&[&made[..], &["--compare", "out"]].concat()).quietly();
    place.put("r/bblocks-config.yaml", "identifier-prefix: eg\nname: Yours\nlicense: MIT\nimports: []\n");
    place.put("r/_sources/a/bblock.json", r#"{"name": "A", "tags": ["y", "z"]}"#);
    place.put("r/_sources/a/examples.yaml", "- snippets: [{language: json, code: '{\"p\": 2}'}]\n");
    place.put("out/annotated/a/notes.tsv", "a\tb\n");
    let ran = place.run(&[&made[..], &["--compare", "out"]].concat());
    assert_eq!(ran.status, Some(1));
    let differs = |line: &&str| !line.contains("/json-full/") && !line.contains("tests/");
    let stdout = String::from_utf8_lossy(&ran.stdout).into_owned();
    let said: Vec<_> = stdout.lines().filter(differs).collect();
    assert_eq!(
        said,
        [
            "differs: annotated/a/notes.tsv: is not made",
            "differs: bblocks.jsonld: another graph, 60 triples and not 60",
            "differs: bblocks.ttl: another graph, 60 triples and not 60",
            "differs: register.json/name: \"Yours\" and not \"Mine\"",
            "differs: register.json/license: is not there: \"MIT\"",
            "differs: register.json/bblocks/eg.a/tags/z: is not there: \"z\"",
            "differs: register.json/bblocks/eg.a/tags/x: is not made: \"x\"",
        ]
    );
}

#[test]
fn outputs_of_transforms_are_validated_by_their_profiles() {
    let register = register(&[
        ("p/bblock.json", "{}"),
        ("p/schema.yaml", "required: [more]\n"),
        ("a/bblock.json", "{}"),
        ("a/examples.yaml", "- snippets: [{language: json, code: '{\"v\": 1}'}]\n"),
        (
            "a/transforms.yaml",
            "transforms:\n\
             - {id: good, type: jq, code: '{more: .v}', outputs: {mediaTypes: [application/json], profiles: [eg.p]}}\n\
             - {id: bad, type: jq, code: '{less: .v}', outputs: {mediaTypes: [application/json], profiles: [eg.p]}}\n",
        ),
    ]);
    let full = json(&register.files["generateddocs/json-full/a/index.json"]);
    let results = &full["examples"][0]["snippets"][0]["transformResults"];
    assert_eq!(results["good"]["profilesValidation"]["eg.p"]["result"], true);
    assert_eq!(results["bad"]["profilesValidation"]["eg.p"]["result"], false);
    assert!(
        notes(&register).contains("transform bad of example_1_1, profile eg.p: \"more\" is a required property"),
        "{}",
        notes(&register)
    );
}

#[test]
fn contexts_of_reverse_properties_apply_to_their_nodes() {
    let context = r#"{"@context": {"@vocab": "http://e/", "parts": {"@reverse": "partOf", "@context": {
        "@vocab": null, "name": "http://e/label", "inner": {"@reverse": "http://e/innerOf", "@context": {"size": "http://e/size"}}}}}}"#;
    let example = r#"{"@id": "http://e/x", "parts": [
        {"@id": "http://e/y", "@context": {"more": "http://e/more"}, "name": "n", "more": 1, "inner": {"@id": "http://e/z", "size": 2, "name": "m"}, "lost": 3}]}"#;
    let examples = format!("[{{title: T, snippets: [{{language: json, code: {}}}]}}]", value!(example));
    let register = register(&[("a/context.jsonld", context), ("a/examples.yaml", &examples)]);
    let text = &register.files["tests/a/example_1_1.ttl"];
    let expected = "@prefix : <http://e/> .
        :y :partOf :x ; :label \"n\" ; :more 1 . :z :innerOf :y ; :size 2 ; :label \"m\" .";
    assert_isomorphic(&turtle(text, BASE), &turtle(expected, BASE), text);
    let item = &register.blocks[0].report.items[0];
    let lost: Vec<_> =
        item.entries.iter().filter(|entry| entry.is("uplift-loss")).map(|entry| &entry.message).collect();
    assert_eq!(lost, ["Lost: /parts/0/lost: no context maps it"]);
    assert!(!register.files["tests/a/example_1_1.jsonld"].contains("label"));
}

#[test]
fn files_that_the_metadata_name_are_published() {
    let named = r#"{"schema": "my/s.yaml", "ontology": "my/o.ttl", "openAPIDocument": "my/api.yaml", "ldContext": "my/c.jsonld"}"#;
    let elsewhere = r#"{"ontology": "https://e.org/o.ttl", "openAPIDocument": "https://e.org/api.yaml"}"#;
    let register = register(&[
        ("a/bblock.json", named),
        ("a/my/s.yaml", "{properties: {a: {type: string}}}"),
        ("a/my/o.ttl", "<http://e/o> a <http://e/Ontology> ."),
        ("a/my/api.yaml", "{openapi: 3.1.0, paths: {/x: {$ref: 'bblocks://eg.a'}}}"),
        ("a/my/c.jsonld", r#"{"@context": {"a": "http://e/a"}}"#),
        ("b/bblock.json", elsewhere),
    ]);
    let of = |block: &str| json(&register.files[&format!("generateddocs/json-full/{block}/index.json")]);
    let (a, b) = (of("a"), of("b"));
    for (member, file, source, named) in [
        ("ontology", "ontology.ttl", None, "o.ttl"),
        ("openAPIDocument", "openapi.yaml", Some("sourceOpenAPIDocument"), "api.yaml"),
        ("ldContext", "context.jsonld", Some("sourceLdContext"), "c.jsonld"),
    ] {
        assert_eq!(a[member], format!("{BASE}annotated/a/{file}"));
        assert!(register.files.contains_key(&format!("annotated/a/{file}")), "{file}");
        if let Some(source) = source {
            assert_eq!(a[source], format!("https://example.net/w/_sources/a/my/{named}"));
        }
    }
    assert_eq!(a["sourceSchema"], "https://example.net/w/_sources/a/my/s.yaml");
    assert!(register.files["annotated/a/openapi.yaml"].contains(&format!("{BASE}annotated/a/schema.yaml")));
    assert_eq!(b["ontology"], "https://e.org/o.ttl");
    assert_eq!(b["openAPIDocument"], "https://e.org/api.yaml");
}

#[test]
fn files_that_the_metadata_name_and_lack_are_errors() {
    let register = register(&[("a/bblock.json", r#"{"ontology": "o.ttl", "openAPIDocument": "api.yaml"}"#)]);
    let errors = register.blocks[0].report.errors.join("\n");
    assert!(errors.contains("cannot read `o.ttl`") && errors.contains("api.yaml"), "{errors}");
}

#[test]
fn a_snippet_keeps_its_reference() {
    let examples = "[{title: T, snippets: [{language: json, ref: x/e.json}, {language: text, code: c}]}]";
    let register = register(&[("a/examples.yaml", examples), ("a/x/e.json", "{}")]);
    let full = json(&register.files["generateddocs/json-full/a/index.json"]);
    let snippets = &full["examples"][0]["snippets"];
    assert_eq!(snippets[0]["ref"], "https://example.net/w/_sources/a/x/e.json");
    assert_eq!(snippets[0]["code"], "{}");
    assert_eq!(snippets[1].get("ref"), None);
}

#[test]
fn the_documentation_shows_the_part_and_the_formats_that_a_snippet_names() {
    let examples =
        "[{title: T, snippets: [{language: json, ref: e.json, json-path: '$.parts[1]', doc-uplift-formats: ttl}]},
        {title: U, snippets: [{language: json, code: '{\"a\": 3}', doc-uplift-formats: null}]}]";
    let register = register(&[
        ("a/examples.yaml", examples),
        ("a/e.json", r#"{"parts": [{"a": 1}, {"a": 2}]}"#),
        ("a/context.jsonld", r#"{"@context": {"a": "http://e/a"}}"#),
    ]);
    let full = json(&register.files["generateddocs/json-full/a/index.json"]);
    let languages = |example: usize| {
        let snippets = full["examples"][example]["snippets"].as_array().expect("snippets").iter();
        snippets.map(|snippet| snippet["language"].as_str().expect("a name")).collect::<Vec<_>>()
    };
    assert_eq!(full["examples"][0]["snippets"][0]["code"], "{\n  \"a\": 2\n}\n");
    assert_eq!((languages(0), languages(1)), (vec!["json", "ttl"], vec!["json"]));
    assert!(register.files.contains_key("tests/a/example_2_1.jsonld"));
    let page = &register.files["generateddocs/markdown/a/index.md"];
    assert!(page.contains("#### ttl") && !page.contains("#### jsonld") && !page.contains("parts"), "{page}");
    assert!(!notes(&register).contains("doc-uplift-formats"));
}

#[test]
fn blocks_that_are_not_there_are_named() {
    let register = register(&[
        ("a/bblock.json", r#"{"isProfileOf": "eg.none", "dependsOn": ["bblocks://eg.b", "eg.gone"]}"#),
        ("b/bblock.json", "{}"),
    ]);
    let notes = notes(&register);
    for id in ["eg.none", "eg.gone"] {
        assert!(notes.contains(&format!("bblocks://{id}, named by bblock.json: neither the repository")), "{notes}");
    }
    assert!(!notes.contains("eg.b,"), "{notes}");
}

#[test]
fn metadata_that_the_official_tool_refuses_are_noted() {
    let whole = r#"{"name": "A", "status": "stable", "version": "1", "itemClass": "model", "dateTimeAddition": "2024-01-01T00:00:00Z"}"#;
    let wrong = whole.replace("stable", "deprecated").replace(r#""version": "1", "#, "");
    let register = register(&[("a/bblock.json", whole), ("b/bblock.json", &wrong)]);
    assert_eq!(register.blocks[0].notes, [""; 0]);
    let [version, status] = register.blocks[1].notes.as_slice() else { panic!("two notes") };
    assert_eq!(version, "bblock.json: the official tool requires `version`");
    assert!(
        status.starts_with("bblock.json: the official tool refuses the `status` \"deprecated\"; it knows experim"),
        "{status}"
    );
    let entry = json(&register.files["generateddocs/json-full/a/index.json"]);
    assert_eq!(entry.get("dependsOn"), None);
}
