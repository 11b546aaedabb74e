//! A block's shapes: what they find in its examples, where the program is built to look (`--features shacl`).

use crate::cli::{Place, Ran};

const CONTEXT: &str = r#"{"@context": {"@vocab": "https://example.org/", "id": "@id", "type": "@type"}}"#;
const GOOD: &str = r#"{"type": "Order", "count": 2, "line": {"type": "Line", "price": 1}}"#;

fn block(files: &[(&str, &str)]) -> Place {
    let place = Place::new();
    place.put("b/context.jsonld", CONTEXT);
    place.put("b/examples.yaml", format!("- {{title: Good, snippets: [{{language: json, code: '{GOOD}'}}]}}\n"));
    for (name, text) in files {
        place.put(&format!("b/{name}"), text);
    }
    place
}

fn register(place: &Place) -> Ran {
    place.run(&["register", "b", "-o", "out"])
}

fn text(place: &Place, name: &str) -> String {
    String::from_utf8(place.read(&format!("out/tests/b/{name}"))).expect("text")
}

/// Without the feature, shapes are read and not checked: what they are about is neither passed nor failed.
#[cfg(not(feature = "shacl"))]
#[test]
fn unchecked_shapes_are_not_validated() {
    let place = block(&[
        ("rules.shacl", "<s> <p> <o> ."),
        ("more.shacl", "<s> <p> <o> ."),
        (
            "bblock.json",
            r#"{"shaclRules": ["more.shacl"], "shaclShapes": {"b": ["more.shacl", "https://example.org/s"]}}"#,
        ),
    ]);
    register(&place).said(
        1,
        "note: shapes are not checked: more.shacl, https://example.org/s, rules.shacl (a build with `--features shacl` does \
         that)\nb: 0 of 1 passed, 1 not validated; 16 files in out\n",
    );
    let report = text(&place, "example_1_1.validation_not_validated.txt");
    let line = "shapes are not checked: more.shacl, https://example.org/s, rules.shacl (a build with `--features shacl` does that)\n";
    assert!(report.contains(line), "{report}");
    let report: serde_json::Value = serde_json::from_str(&text(&place, "_report.json")).expect("JSON");
    assert_eq!(
        (&report["result"], &report["items"][0]["result"], &report["counts"]),
        (&false.into(), &false.into(), &serde_json::json!({ "total": 1, "passed": 0, "failed": 0, "notValidated": 1 }))
    );
    let register_json = String::from_utf8(place.read("out/register.json")).expect("text");
    assert!(register_json.contains("\"validationPassed\": false"), "{register_json}");
    // A test that only the shapes can fail says so.
    place.put("b/tests/one-fail.json", GOOD);
    let ran = register(&place);
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.stderr.contains("test one-fail.json: Failure was expected, but the test passed; shapes are not checked: "),
        "{}",
        ran.stderr
    );
}

#[test]
fn shapes_that_are_missing_or_are_not_turtle_fail_in_every_build() {
    let place = block(&[("rules.shacl", "no Turtle")]);
    let ran = register(&place);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("error: rules.shacl: "), "{}", ran.stderr);
    let place = block(&[("bblock.json", r#"{"shaclShapes": ["gone.shacl"]}"#)]);
    let ran = register(&place);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("cannot read `gone.shacl`"), "{}", ran.stderr);
}

#[test]
fn shapes_that_nothing_names_are_noted() {
    let place = block(&[
        ("shapes.ttl", "@prefix sh: <http://www.w3.org/ns/shacl#> . <s> a sh:NodeShape ."),
        ("data.ttl", "<s> <p> <o> ."),
    ]);
    register(&place).said(
        0,
        "note: shapes.ttl: not used: shapes are in shapes.shacl, else in rules.shacl, or shaclShapes of bblock.json names \
         them\nb: 1 of 1 passed; 14 files in out\n",
    );
}

#[cfg(feature = "shacl")]
mod checked {
    use serde_json::{Value, json};

    use super::{Ran, block, register, text};
    use crate::http::{Server, respond};

    const PREFIXES: &str = "\
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix ex: <https://example.org/> .
";

    /// An order has a whole number, in any language; a line, which has no name, is not free, says a query; it is not dear,
    /// which is a warning.
    const RULES: &str = r#"
ex:rules sh:declare [ sh:prefix "ex" ; sh:namespace "https://example.org/"^^xsd:anyURI ] .
ex:Order-shape a sh:NodeShape ; sh:targetClass ex:Order ;
    sh:property [
        sh:path ex:count ; sh:minCount 1 ; sh:datatype xsd:integer ;
        sh:message "Eine Bestellung hat eine ganze Zahl."@de , "An order has a whole number."@en
    ] .
ex:Line-is-not-free a sh:NodeShape ; sh:targetClass ex:Line ; sh:nodeKind sh:BlankNode ;
    sh:sparql [
        sh:message "A line is not free: {?price}." ; sh:prefixes ex:rules ;
        sh:select "SELECT $this ?price { $this ex:price ?price FILTER (?price = 0) }"
    ] .
ex:Line-is-not-dear a sh:PropertyShape ; sh:targetClass ex:Line ; sh:path ex:price ;
    sh:maxInclusive 9 ; sh:severity sh:Warning ; sh:message "That is much." .
"#;

    fn shapes(rules: &str) -> String {
        format!("{PREFIXES}{rules}")
    }

    /// Asserts the reason why the shapes cannot be used, and that no register is written.
    #[track_caller]
    fn refused(files: &[(&str, &str)], said: &str) {
        let place = block(files);
        let Ran { status, stderr, .. } = register(&place);
        assert_eq!((status, stderr), (Some(2), format!("error: {said}\n")));
        assert_eq!(place.names(), ["b"]);
    }

    #[test]
    fn examples_are_held_against_the_shapes() {
        let bad = r#"{"id": "urn:o", "type": "Order", "line": [{"type": "Line", "price": 0}, {"type": "Line", "price": 10}]}"#;
        let examples = format!(
            "- {{title: Good, snippets: [{{language: json, code: '{}'}}]}}\n- {{title: Bad, snippets: [{{language: json, code: \
             '{bad}'}}, {{language: turtle, code: '<urn:t> a <https://example.org/Order> .'}}]}}\n",
            super::GOOD
        );
        let place = block(&[
            ("examples.yaml", &examples),
            ("rules.shacl", &shapes(RULES)),
            ("tests/none-fail.json", r#"{"type": "Order"}"#),
            ("tests/one-fail.json", r#"{"type": "Order", "count": 1}"#),
        ]);
        let line = "at <urn:o> / <https://example.org/line>";
        let price = "path <https://example.org/price>, value \"10\"^^<http://www.w3.org/2001/XMLSchema#integer>";
        let order = "path <https://example.org/count>)";
        register(&place).said(
            1,
            &format!(
                "example 2, snippet 1 (Bad): Warning: That is much. (focus node _:b1, {line}, {price}, shape \
                 <https://example.org/Line-is-not-dear>)
failed: example 2, snippet 1 (Bad): SHACL: Violation: An order has a whole number. (focus node <urn:o>, {order}
failed: example 2, snippet 1 (Bad): SHACL: Violation: A line is not free: 0. (focus node _:b0, {line}, shape \
                 <https://example.org/Line-is-not-free>)
failed: example 2, snippet 2 (Bad): SHACL: Violation: An order has a whole number. (focus node <urn:t>, {order}
failed: test one-fail.json: Failure was expected, but the test passed
b: 2 of 5 passed; 29 files in out
"
            ),
        );
        let report: Value = serde_json::from_str(&text(&place, "_report.json")).expect("JSON");
        let shacl = |item: usize| {
            let sections = report["items"][item]["sections"].as_array().expect("sections");
            sections.iter().find(|section| section["name"] == "SHACL").expect("a section")["entries"].clone()
        };
        assert_eq!(
            shacl(0),
            json!([{
                "op": "shacl-report", "shaclFile": "rules.shacl", "result": true, "isError": false,
                "message": "Validation result for rules.shacl: conforms",
            }])
        );
        assert_eq!(shacl(1)[0]["message"], "Validation result for rules.shacl: 2 violations, 1 note");
        let mut first = shacl(1)[1].clone();
        first.as_object_mut().expect("an entry").remove("message");
        assert_eq!(
            first,
            json!({
                "op": "shacl-result", "shaclFile": "rules.shacl", "isError": true, "resultSeverity": "Violation",
                "focusNode": "<urn:o>", "resultPath": "<https://example.org/count>", "value": null,
                "sourceConstraintComponent": "http://www.w3.org/ns/shacl#MinCountConstraintComponent",
                "sourceShape": null, "resultMessage": "An order has a whole number.",
            })
        );
    }

    #[test]
    fn every_file_of_shapes_counts_and_none_is_fetched() {
        let server = Server::start(|_, stream| respond(stream, "200 OK", &[], ""));
        let metadata = json!({ "shaclRules": ["s/one.ttl"], "shaclShapes": [server.url, "s/two.ttl"] }).to_string();
        let none = "ex:S a sh:NodeShape ; sh:targetClass ex:Line ; sh:property [ sh:path ex:price ; sh:maxCount 0 ] .";
        let (one, two) = (shapes(none), shapes(&none.replace("price", "cost")));
        let place = block(&[("bblock.json", &metadata), ("s/one.ttl", &one), ("s/two.ttl", &two)]);
        let ran = register(&place);
        assert_eq!(ran.status, Some(1), "{}", ran.stderr);
        let note = format!("note: {}: shapes are not fetched; put a copy in the block\n", server.url);
        assert!(ran.stderr.starts_with(&note), "{}", ran.stderr);
        let report = text(&place, "example_1_1.validation_failed.txt");
        for line in [
            format!("Shapes not checked: {} (not fetched)\n", server.url),
            "Validation result for s/one.ttl: 1 violation\n".to_owned(),
            "Validation result for s/two.ttl: conforms\n".to_owned(),
        ] {
            assert!(report.contains(&line), "{line}\n{report}");
        }
        assert!(server.requests.lock().unwrap().is_empty());
    }

    #[test]
    fn closures_complete_the_graphs() {
        let rules =
            "ex:S a sh:NodeShape ; sh:targetClass ex:Thing ; sh:property [ sh:path ex:unit ; sh:class ex:Unit ] .";
        let closure = "@prefix ex: <https://example.org/> . [] ex:unused ex:Unit . ex:m a ex:Unit .
            ex:Length <http://www.w3.org/2000/01/rdf-schema#subClassOf> ex:Thing .";
        let length = |unit: &str| format!(r#"{{"type": "Length", "unit": {{"id": "https://example.org/{unit}"}}}}"#);
        let (rules, good, bad) = (shapes(rules), length("m"), length("x"));
        let mut files = vec![
            ("bblock.json", r#"{"shaclClosures": ["units.ttl"]}"#),
            ("units.ttl", closure),
            ("rules.shacl", &rules),
            ("tests/good.json", &good),
            ("tests/bad-fail.json", &bad),
        ];
        let ran = register(&block(&files));
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        files.remove(1);
        refused(
            &files,
            "cannot read `units.ttl`, named by the building block's shapes: No such file or directory (os error 2)",
        );
    }

    /// A blank target node stands for the graph as a whole.
    #[test]
    fn queries_about_the_whole_graph() {
        let query = "SELECT $this { FILTER NOT EXISTS { ?order a <https://example.org/Order> } }";
        let rules = format!("ex:S a sh:NodeShape ; sh:targetNode [] ; sh:sparql [ sh:select '{query}' ] .");
        let place = block(&[("rules.shacl", &shapes(&rules)), ("tests/none-fail.json", r#"{"type": "Line"}"#)]);
        let ran = register(&place);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        let report = text(&place, "_report.json");
        register(&place);
        assert_eq!(text(&place, "_report.json"), report);
    }

    #[test]
    fn unsupported_shapes_are_noted() {
        let rules = "ex:S a sh:NodeShape ; sh:targetClass ex:Line ; sh:rule ex:R ; sh:js ex:J .
            ex:R <http://www.w3.org/2002/07/owl#imports> ex:T .";
        let place = block(&[("rules.shacl", &shapes(rules))]);
        register(&place).said(
            0,
            "note: rules.shacl: validation ignores owl:imports, sh:js, sh:rule\nb: 1 of 1 passed; 15 files in out\n",
        );
        let report = text(&place, "example_1_1.validation_passed.txt");
        assert!(report.contains("rules.shacl: validation ignores owl:imports, sh:js, sh:rule\n"), "{report}");
    }

    #[test]
    fn broken_shapes_are_refused() {
        let rules = |text: &str, why: &str| {
            let why = format!("rules.shacl: these shapes cannot be used: {why}");
            refused(
                &[("rules.shacl", &shapes(&format!("ex:S a sh:NodeShape ; sh:targetClass ex:Line ; {text} .")))],
                &why,
            );
        };
        rules("sh:property [ sh:minCount 1 ]", "a property shape of <https://example.org/S> lacks a sh:path");
        rules(
            "sh:property 3",
            "\"3\"^^<http://www.w3.org/2001/XMLSchema#integer> is the object of sh:property and no property shape",
        );
        let query = |text: &str| format!("sh:sparql [ sh:select \"{text}\" ]");
        rules(
            &query("SELECT $this { SERVICE <http://127.0.0.1:1/> { $this ?p ?o } }"),
            "a query calls another server with SERVICE, which shapes may not",
        );
        for (name, text, why) in [
            ("rules.shacl", "ex:S a ex:T .", "rules.shacl: "),
            ("rules.shacl", &*shapes("ex:S a sh:NodeShape ; sh:property [ sh:path ex:p ; sh:minCount 'x' ] ."), ""),
            ("rules.shacl", &*shapes("ex:S a sh:NodeShape ; sh:property [ sh:path ex:p ; sh:pattern '(' ] ."), ""),
            (
                "rules.shacl",
                &*shapes("ex:S a sh:NodeShape ; sh:targetClass ex:Line ; sh:sparql [ sh:select 'SELECT nothing' ] ."),
                "rules.shacl: these shapes cannot be used: the query of <https://example.org/S> is none: ",
            ),
            // The query does not declare the prefix.
            (
                "rules.shacl",
                &*shapes(
                    "ex:S a sh:NodeShape ; sh:targetClass ex:Line ; sh:sparql [ sh:select 'SELECT $this { $this a ex:T }' ] .",
                ),
                "rules.shacl: these shapes cannot be used: ",
            ),
            (
                "bblock.json",
                r#"{"shaclShapes": "gone.ttl"}"#,
                "cannot read `gone.ttl`, named by the building block's shapes",
            ),
            (
                "bblock.json",
                r#"{"shaclShapes": ["../x.ttl"]}"#,
                "`../x.ttl`, named by the building block's shapes, is outside",
            ),
        ] {
            let place = block(&[(name, text)]);
            let Ran { status, stderr, .. } = register(&place);
            assert_eq!(status, Some(2), "{text}\n{stderr}");
            assert!(stderr.starts_with(&format!("error: {why}")) && stderr.lines().count() == 1, "{text}\n{stderr}");
            assert_eq!(place.names(), ["b"]);
        }
    }

    #[test]
    fn a_shape_may_lead_to_itself() {
        let rules = "ex:S a sh:NodeShape ; sh:targetClass ex:Link ;
            sh:property [ sh:path ex:next ; sh:node ex:S ] , [ sh:path ex:count ; sh:maxCount 1 ] .";
        let circle = |count: &str| {
            let end = format!(r#"{{"id": "urn:b", "type": "Link", "count": {count}, "next": {{"id": "urn:a"}}}}"#);
            format!(r#"{{"id": "urn:a", "type": "Link", "next": {end}}}"#)
        };
        let (rules, good, bad) = (shapes(rules), circle("1"), circle("[1, 2]"));
        let files = [("rules.shacl", &*rules), ("tests/good.json", &*good), ("tests/bad-fail.json", &*bad)];
        let place = block(&files);
        let ran = register(&place);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        assert!(text(&place, "good.validation_passed.txt").contains("rules.shacl: conforms\n"));
    }

    /// The validator cannot represent numbers so large or small; the data is not at fault.
    #[test]
    fn numbers_that_cannot_be_judged_are_told() {
        let rules = "ex:S a sh:PropertyShape ; sh:targetClass ex:Order ; sh:path ex:count ; sh:minExclusive 0 .
            ex:T a sh:PropertyShape ; sh:targetClass ex:Order ; sh:path ex:whole ; sh:datatype xsd:integer .";
        let order = |count: &str| {
            let whole = r#"{"@value": "1000000000000000000000000000000000000000", "@type": "http://www.w3.org/2001/XMLSchema#integer"}"#;
            format!(r#"{{"type": "Order", "count": {count}, "whole": {whole}}}"#)
        };
        let (rules, good, bad) = (shapes(rules), order("[1e300, 1e-40, 1e28, 1e-28]"), order("[-1]"));
        let files = [("rules.shacl", &*rules), ("tests/good.json", &*good), ("tests/bad-fail.json", &*bad)];
        let ran = register(&block(&files));
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        let told = ran.stderr.lines().filter(|line| line.starts_with("test good.json: Not judged, "));
        assert_eq!(told.count(), 3, "{}", ran.stderr);
    }

    /// Two runs write the same.
    #[test]
    fn repeated_runs_write_equal_reports() {
        let lines: Vec<_> = (0..60).map(|n| format!(r#"{{"type": "Line", "price": {}}}"#, n % 3 * 10)).collect();
        let example = format!(r#"{{"type": "Order", "line": [{}]}}"#, lines.join(", "));
        let place = block(&[("rules.shacl", &shapes(RULES)), ("tests/many-fail.json", &example)]);
        assert_eq!(register(&place).status, Some(0));
        let before = text(&place, "_report.json");
        assert!(before.contains("… and ") && before.contains("_:b17"), "{before}");
        assert_eq!(register(&place).status, Some(0));
        assert_eq!(text(&place, "_report.json"), before);
    }
}
