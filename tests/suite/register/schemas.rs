//! Validation of examples: drafts, references, and which error is shown.

use rpcgraph::register::RegisterOptions;

use super::{build, item};
use crate::cli::Place;

/// Returns the problem of an example under a schema; `None` if it is valid.
fn problem(files: &[(&str, &str)], schema_ref: Option<&str>, example: &str) -> Option<String> {
    let place = Place::new();
    place.put("b/context.jsonld", r#"{"@context": {"@vocab": "https://example.org/"}}"#);
    for (name, text) in files {
        place.put(&format!("b/{name}"), text);
    }
    let code = serde_json::Value::from(example);
    let schema_ref = schema_ref.map(|name| format!("schema-ref: '{name}', ")).unwrap_or_default();
    place.put("b/examples.yaml", format!("- snippets: [{{language: json, {schema_ref}code: {code}}}]\n"));
    let register = build(&place.path("b"), &RegisterOptions::default());
    // A process of its own finds the same.
    let worker = Some(env!("CARGO_BIN_EXE_rpcgraph").into());
    let by_worker = build(&place.path("b"), &RegisterOptions { worker, ..RegisterOptions::default() });
    assert_eq!(register.files, by_worker.files);
    let item = item(&register, "example_1_1.json");
    let reasons = item.reasons();
    assert_eq!(item.passed(), reasons.is_empty());
    reasons.iter().find_map(|reason| reason.strip_prefix("JSON Schema: Validation failed: ")).map(str::to_owned)
}

/// Each level is the one below it twice: of a schema of 2 kB, validation would see 2 to the power of 30.
#[test]
fn schemas_that_take_all_time_or_memory() {
    let place = Place::new();
    let levels = |keyword: &str, leaf: &str| {
        let level = |n: u8| {
            let below = format!("{{\"$ref\": \"#/$defs/{keyword}{}\"}}", n - 1);
            format!(r#", "{keyword}{n}": {{"{keyword}": [{below}, {below}]}}"#)
        };
        let levels: String = (1..=30).map(level).collect();
        format!(r#""{keyword}0": {{"type": "{leaf}"}}{levels}"#)
    };
    let schema = format!(
        r##"{{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "properties": {{"slow": {{"$ref": "#/$defs/allOf30"}}}}, "$defs": {{{}, {}}}}}"##,
        levels("allOf", "object"),
        levels("anyOf", "string"),
    );
    place.put("b/schema.json", schema);
    place.put("b/context.jsonld", r#"{"@context": {"@vocab": "https://example.org/"}}"#);
    place.put("b/tests/wrong-fail.json", "[1]");
    let snippet =
        |reference: &str, code: &str| format!("- snippets: [{{language: json, {reference}code: '{code}'}}]\n");
    let slow = snippet("", r#"{"slow": {"a": 1}}"#);
    let hostile = snippet("schema-ref: '#/$defs/anyOf30', ", r#"{"a": 1}"#);
    place.put("b/examples.yaml", [slow, hostile, snippet("", r#"{"a": 1}"#)].concat());
    let ran = place.run(&["register", "b", "-o", "out", "--quiet"]);
    let time = "JSON Schema: Not validated: it takes more than 10 s";
    let lines: Vec<_> = ran.stderr.lines().collect();
    assert_eq!(ran.status, Some(1), "{lines:?}");
    assert_eq!(lines[0], format!("failed: example 1, snippet 1: {time}"));
    assert!(lines[1].starts_with("failed: example 2, snippet 1: JSON Schema: Not validated: "));
    // The third was validated with the schema that took too long for the first, and so was the test.
    assert_eq!(lines.len(), 2, "{lines:?}");
}

#[test]
fn anchors_in_every_draft() {
    for (dialect, definitions, anchor) in [
        ("http://json-schema.org/draft-04/schema#", "definitions", "\"$anchor\": \"Number\""),
        ("http://json-schema.org/draft-04/schema#", "definitions", "\"id\": \"#Number\""),
        ("http://json-schema.org/draft-06/schema#", "definitions", "\"$anchor\": \"Number\""),
        ("http://json-schema.org/draft-07/schema#", "definitions", "\"$anchor\": \"Number\""),
        ("http://json-schema.org/draft-07/schema#", "$defs", "\"$anchor\": \"Number\""),
        ("http://json-schema.org/draft-07/schema#", "definitions", "\"$id\": \"#Number\""),
        ("https://json-schema.org/draft/2019-09/schema", "$defs", "\"$anchor\": \"Number\""),
        ("https://json-schema.org/draft/2020-12/schema", "$defs", "\"$anchor\": \"Number\""),
        ("https://json-schema.org/draft/2020-12/schema", "$defs", "\"$dynamicAnchor\": \"Number\""),
    ] {
        let schema = format!(
            r##"{{"$schema": "{dialect}", "{definitions}": {{
                "n": {{{anchor}, "type": "integer"}},
                "m": {{"$anchor": "Alias", "$ref": "#Number"}}
            }}, "properties": {{"n": {{"$ref": "#Number"}}}}}}"##
        );
        let files = [("schema.json", schema.as_str())];
        for (reference, wrong, right) in [
            (None, r#"{"n": "x"}"#, r#"{"n": 1}"#),
            (Some("#Number"), r#"{"n": 1}"#, "5"),
            (Some("schema.json#Number"), r#"{"n": 1}"#, "5"),
            (Some("#Alias"), r#"{"n": 1}"#, "5"),
        ] {
            let of_type = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains("is not of type"));
            assert!(of_type(&problem(&files, reference, wrong)), "{dialect} {anchor} {reference:?}");
            let right = problem(&files, reference, right);
            assert!(!of_type(&right), "{dialect} {anchor} {reference:?}: {right:?}");
        }
    }
}

#[test]
fn references_to_other_files_of_the_block() {
    let files = [
        ("schema.yaml", "$schema: https://json-schema.org/draft/2020-12/schema\n$ref: sub/one.json#/$defs/a\n"),
        ("sub/one.json", r##"{"$defs": {"a": {"properties": {"p": {"$ref": "../two%20.yaml#T"}}}}}"##),
        ("two .yaml", "$defs: {t: {$anchor: T, type: string}}\n"),
    ];
    assert_eq!(problem(&files, None, r#"{"p": "x"}"#), None);
    let failure = problem(&files, None, r#"{"p": 1}"#).expect("a failure");
    assert!(failure.starts_with("1 is not of type \"string\", at /p (schema: "), "{failure}");
    assert!(problem(&files, Some("two .yaml#T"), r#"{"p": 1}"#).is_some());
    // A schema that says where it is published is found there.
    let files = [
        ("schema.json", r#"{"$id": "https://example.org/s/schema.json", "properties": {"p": {"$ref": "p.json"}}}"#),
        ("p.json", r#"{"$id": "https://example.org/s/p.json", "type": "string"}"#),
    ];
    assert_eq!(problem(&files, None, r#"{"p": "x"}"#), None);
    for reference in [None, Some("https://example.org/s/schema.json"), Some("p.json")] {
        assert!(problem(&files, reference, r#"{"p": 1}"#).is_some(), "{reference:?}");
    }
}

/// Data that looks like a schema is none, and schemas may lead to themselves.
#[test]
fn odd_schemas() {
    let data =
        r##"{"$schema": "http://json-schema.org/draft-07/schema#", "const": {"$anchor": "x", "$ref": "#y", "p": 1}}"##;
    assert_eq!(problem(&[("schema.json", data)], None, r##"{"$anchor": "x", "$ref": "#y", "p": 1}"##), None);
    let tree = r##"{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"t": {"$anchor": "T",
        "required": ["v"], "properties": {"child": {"$ref": "#T"}}}}, "$ref": "#T"}"##;
    let files = [("schema.json", tree)];
    assert_eq!(problem(&files, None, r#"{"v": 1, "child": {"v": 2}}"#), None);
    let failure = problem(&files, None, r#"{"v": 1, "child": {"v": 2, "child": {}}}"#).expect("a failure");
    assert!(failure.starts_with("\"v\" is a required property, at /child/child (schema: "), "{failure}");
}

#[test]
fn the_error_that_tells_most() {
    let schema = r#"{"anyOf": [
        {"type": "string"},
        {"type": "object", "required": ["kind", "size"], "properties": {"kind": {"const": "box"}, "size": {"type": "integer"}}},
        {"type": "object", "required": ["kind", "sides", "colour"], "properties": {"kind": {"const": "star"}}}
    ]}"#;
    let files = [("schema.json", schema)];
    for (example, expected) in [
        (
            r#"{"kind": "box", "size": "x"}"#,
            "\"x\" is not of type \"integer\", at /size (schema: /$ref/anyOf/1/properties/size/type)",
        ),
        (
            r#"{"kind": "star", "sides": 5}"#,
            "\"colour\" is a required property, at the top (schema: /$ref/anyOf/2/required)",
        ),
        ("[1]", "[1] is not valid under any of the given schemas, at the top (schema: /$ref/anyOf)"),
    ] {
        let failure = problem(&files, None, example).expect("a failure");
        assert_eq!(failure, expected, "{example}");
    }
    // Of several, the one nearest to the top.
    let files =
        [("schema.json", r#"{"properties": {"a": {"properties": {"b": {"type": "string"}}}}, "required": ["c"]}"#)];
    let failure = problem(&files, None, r#"{"a": {"b": 1}}"#).expect("a failure");
    assert_eq!(failure, "\"c\" is a required property, at the top (schema: /$ref/required)");
    // A long value is not repeated.
    let long = format!("{{\"c\": 1, \"a\": \"{}\"}}", "x".repeat(10_000));
    let failure = problem(&[("schema.json", r#"{"maxProperties": 1}"#)], None, &long).expect("a failure");
    assert!(failure.len() < 200, "{failure}");
}

/// Numbers keep the digits of the text.
#[test]
fn numbers_keep_their_spelling() {
    let place = Place::new();
    place.put("b/context.jsonld", r#"{"@context": {"@vocab": "https://example.org/"}}"#);
    let code = r#"{"a": 1.50, "b": 12345678901234567890123, "c": -0, "d": 1E2, "z": "\u00e9\/"}"#;
    place.put("b/examples.yaml", format!("- snippets: [{{language: json, code: '{code}'}}]\n"));
    let register = build(&place.path("b"), &RegisterOptions::default());
    let expected =
        "{\n  \"a\": 1.50,\n  \"b\": 12345678901234567890123,\n  \"c\": -0,\n  \"d\": 1E2,\n  \"z\": \"é/\"\n}\n";
    assert_eq!(register.files["tests/b/example_1_1.json"], expected);
    assert!(register.files["tests/b/example_1_1.jsonld"].ends_with(&expected[4..]));
}
