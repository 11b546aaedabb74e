//! `check`: each rule over its own examples, and what the command writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use oxrdf::vocab::rdf;
use oxrdf::{NamedOrBlankNode, Quad, Triple};
use oxrdfio::{RdfFormat, RdfParser};
use rpcgraph::check::{BUILT_IN, Rule, Rules, Verdict};
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::log::Rows;
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::query::{Cancel, Dataset, Form, Query};
use rpcgraph::record::{Format, ReaderOptions};
use rpcgraph::vocab::rpcg;
use serde_json::Value;

use crate::cli::{Place, Ran};
use crate::shapes::{pyshacl, report, shacl, triples};
use crate::support::BASE;

/// Loads a session for all rules.
fn loaded(rules: &Rules, session: &str, format: Option<&str>, base: &str) -> Dataset {
    let mut reader = ReaderOptions::default();
    if let Some(name) = format {
        let format = Format::ALL.iter().find(|format| format.name() == name);
        reader = reader.with_format(*format.unwrap_or_else(|| panic!("no format {name}")));
    }
    let dataset = Dataset::new(&rules.loading().unwrap(), false).unwrap();
    let mut loading = dataset.load(&Cancel::default()).unwrap();
    let mapper = Mapper::new(Mapping::Session, &[]).unwrap().with_provenance(true);
    let options = Options { reader, log_lines: rules.name_log_lines(), ..Options::default() };
    let (name, source, iri) = ("session".to_owned(), "session".to_owned(), base.to_owned());
    let input = Input { name, source, iri, iri_stated: true, read: session.as_bytes() };
    Converter::new(mapper, options).convert(input, &mut loading.sink(), &mut |_| {}).unwrap();
    loading.commit().unwrap();
    dataset
}

/// The rules that a session breaks, and the verdict of each rule.
fn verdicts(rules: &Rules, session: &str, format: Option<&str>) -> (BTreeSet<String>, Vec<(String, Verdict)>) {
    let dataset = loaded(rules, session, format, BASE);
    let judged = rules.judge(&dataset, &[BASE], 1, &Cancel::default()).unwrap();
    let broken = judged.iter().filter(|judged| judged.verdict == Verdict::Failed);
    let broken = broken.map(|judged| judged.rule.id.clone()).collect();
    (broken, judged.into_iter().map(|judged| (judged.rule.id.clone(), judged.verdict)).collect())
}

/// Of the examples in the files of rules, each that breaks a rule breaks no other but those that the rule names, and
/// each that keeps a rule breaks none; the rule is passed by the first.
#[test]
fn each_rule_finds_what_breaks_it_and_nothing_else() {
    let rules = Rules::built_in(&Arc::default()).unwrap();
    let mut wrong = Vec::new();
    for rule in rules.iter() {
        let id = &rule.id;
        if rule.breaks.is_empty() || rule.keeps.is_empty() {
            wrong.push(format!("{id} has no example that breaks it, or none that keeps it"));
        }
        let allowed: BTreeSet<_> = rule.also_breaks.iter().chain([id]).cloned().collect();
        for (number, session) in rule.breaks.iter().enumerate() {
            let (broken, all) = verdicts(&rules, session, rule.sample_format.as_deref());
            if !broken.contains(id) || !broken.is_subset(&allowed) {
                let verdict = all.iter().find(|(rule, _)| rule == id);
                wrong.push(format!("{id}: breaks {} breaks {broken:?}; {verdict:?}", number + 1));
            }
        }
        for (number, session) in rule.keeps.iter().enumerate() {
            let (broken, all) = verdicts(&rules, session, rule.sample_format.as_deref());
            let verdict = all.iter().find(|(rule, _)| rule == id).map(|(_, verdict)| verdict);
            // Of a session of another revision, the rule is unexercised.
            let is_passed = matches!(verdict, Some(Verdict::Passed)) || number > 0;
            if !broken.is_empty() || !is_passed {
                wrong.push(format!("{id}: keeps {} breaks {broken:?}, and the rule is {verdict:?}", number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rules_are_described_with_terms_that_exist() {
    let rules = Rules::built_in(&Arc::default()).unwrap();
    for rule in rules.iter() {
        let id = &rule.id;
        assert!(rule.title != *id && rule.rationale.is_some(), "{id} has a title and a rationale");
        assert!(rule.clause().is_some_and(|clause| clause.starts_with("https://")), "{id} has a clause");
        let unknown: Vec<_> = rule.queries().flat_map(|query| query.unknown_terms()).collect();
        assert_eq!(unknown, Vec::<String>::new(), "{id}");
        for other in &rule.also_breaks {
            assert!(rules.iter().any(|rule| rule.id == *other), "{id}: unknown rule {other}");
        }
    }
    for (name, text) in BUILT_IN {
        for quad in RdfParser::from_format(RdfFormat::Turtle).with_base_iri(BASE).unwrap().for_slice(text) {
            let property = quad.unwrap().predicate;
            let is_known = rpcg::ALL.contains(&property.as_ref());
            assert!(is_known || !property.as_str().starts_with(rpcg::NAMESPACE), "{name}: {property}");
        }
    }
}

/// By the rules that pySHACL can run, it finds in the sessions that break them what the queries find here.
#[test]
fn pyshacl_finds_the_same() {
    let Some(program) = pyshacl() else { return };
    let rules = Rules::built_in(&Arc::default()).unwrap();
    let selects =
        |rule: &Rule| rule.queries().filter(|query| query.form() == Form::Select).cloned().collect::<Vec<_>>();
    // SHACL forbids these in constraints, and nested queries that do not select $this.
    let has_forbidden = |select: &Query| {
        let text = select.to_portable();
        let mut nested = text.split("SELECT").skip(2).filter_map(|rest| rest.split('{').next());
        ["VALUES", "MINUS"].iter().any(|word| text.contains(word)) || nested.any(|head| !head.contains("this"))
    };
    let run: BTreeMap<_, _> = rules
        .iter()
        .map(|rule| (rule.id.as_str(), (rule, selects(rule))))
        .filter(|(_, (_, selects))| {
            selects.iter().all(|select| select.functions().is_empty() && !has_forbidden(select))
        })
        .collect();
    let (mut graphs, mut shapes, mut ours) = (String::new(), String::new(), BTreeSet::new());
    let namespace = "https://w3id.org/rpcgraph/rules/";
    for (number, (id, (rule, selects))) in run.iter().enumerate() {
        let base = format!("urn:case:{number}");
        graphs.push_str(&triples(rule.breaks[0].as_bytes(), "session", &base));
        let dataset = loaded(&rules, &rule.breaks[0], rule.sample_format.as_deref(), &base);
        let rows = selects.iter().flat_map(|select| Rows::from(dataset.answer(select, &Cancel::default()).unwrap()));
        let found: Vec<_> = rows.map(|row| row.unwrap().text("this").unwrap().to_owned()).collect();
        // Not the targets of the rule: with all sessions, that would take minutes there.
        let records = (1..=rule.breaks[0].lines().count()).map(|record| format!("{base}#m{record}"));
        for node in records.chain([base.clone()]).chain(found.clone()) {
            shapes += &format!("<{namespace}{id}> <http://www.w3.org/ns/shacl#targetNode> <{node}> .\n");
        }
        ours.extend(found.into_iter().map(|node| ((*id).to_owned(), node)));
    }
    // Other rules are no shapes there.
    let quads = BUILT_IN.iter().flat_map(|(_, text)| {
        RdfParser::from_format(RdfFormat::Turtle).with_base_iri(namespace).unwrap().for_slice(text)
    });
    let is_kept = |quad: &Quad| match &quad.subject {
        NamedOrBlankNode::NamedNode(node) => match node.as_str().strip_prefix(namespace) {
            Some(id) => run.contains_key(id) && !quad.predicate.as_str().contains("#target"),
            None => true,
        },
        NamedOrBlankNode::BlankNode(_) => true,
    };
    let lines = quads.map(|quad| quad.unwrap()).filter(is_kept).map(|quad| format!("{} .\n", Triple::from(quad)));
    shapes.extend(lines);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.nt");
    std::fs::write(&file, shapes).unwrap();
    let report = report(&program, &file, &graphs);
    let mut theirs = BTreeSet::new();
    for result in report.subjects_for_predicate_object(rdf::TYPE, &shacl("ValidationResult")) {
        let one = |name: &str| report.object_for_subject_predicate(result, &shacl(name)).unwrap().to_string();
        let [rule, node] = [one("sourceShape"), one("focusNode")].map(|node| node.trim_matches(['<', '>']).to_owned());
        theirs.insert((rule.trim_start_matches(namespace).to_owned(), node));
    }
    println!("{} of {} rules run, with {} findings", run.len(), rules.iter().count(), ours.len());
    assert_eq!(ours.difference(&theirs).collect::<Vec<_>>(), Vec::<&(String, String)>::new(), "only here");
    assert_eq!(theirs.difference(&ours).collect::<Vec<_>>(), Vec::<&(String, String)>::new(), "only there");
}

/// Two rules for tests, whose texts do not change with the built-in ones.
const RULES: &str = r#"@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix rpcg: <https://w3id.org/rpcgraph#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@base <https://w3id.org/rpcgraph/rules/> .
<my/no-request> rdfs:label "An answer to nothing" ; rdfs:seeAlso <https://example.org/clause> ; rpcg:side "sender" ;
    sh:sparql [ sh:message "No open request has this id." ; sh:select """SELECT $this {
        $this a jrpc:Response FILTER NOT EXISTS { $this rpcg:respondsTo|rpcg:problem ?known }
    }""" ] .
<my/second-answer> rdfs:label "A second answer" ; rpcg:exercisedBy "ASK { ?answer rpcg:respondsTo ?request }" ;
    sh:sparql [ sh:message "The id {?text} was answered before." ; sh:select """SELECT $this ?text {
        $this rpcg:problem rpcg:DuplicateAnswer ; jrpc:hasId/jrpc:hasNumberValue ?text
    }""" ] .
"#;

/// Runs `check` with [`RULES`] alone.
fn check(place: &Place, arguments: &[&str], stdin: &str) -> Ran {
    place.put("my.ttl", RULES);
    place.run_with(&[&["check", "--rules", "my.ttl", "--only", "my/*"], arguments].concat(), stdin)
}

/// Line 3 answers twice, line 4 answers nothing.
const LOG: &str = r#"{"jsonrpc":"2.0","id":1,"method":"add"}
{"jsonrpc":"2.0","id":1,"result":2}
{"jsonrpc":"2.0","id":1,"result":2}
sent {"jsonrpc":"2.0","id":7,"result":"ü<&"}
"#;

fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn json_has_a_line_for_each_finding() {
    let place = Place::with("a.log", LOG);
    let ran = check(&place, &["a.log", "-t", "json", "--skip", "*/second*"], "");
    let expected = r#"{"rule":"my/no-request","level":"error","verdict":"failed","input":"a.log","line":4,"message":"m4","text":"No open request has this id.","clause":"https://example.org/clause"}"#;
    assert_eq!((ran.text().trim_end(), ran.status), (expected, Some(1)), "{}", ran.stderr);
    let ran = check(&place, &["-t", "json"], &LOG[..40]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let line = &json_lines(ran.text())[0];
    assert_eq!(line["verdict"], "unexercised");
    assert!(line["text"].is_string() && line.get("line").is_none());
}

#[test]
fn text_points_at_the_place() {
    let place = Place::with("a.log", LOG);
    let options = ["a.log", "--level", "my/no*=warning", "--level", "my/sec*=note"];
    let ran = check(&place, &options, "");
    let expected = "\
warning: An answer to nothing [my/no-request]
  https://example.org/clause
  a.log:4: No open request has this id.
    4 | sent {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"ü<&\"}
      |      ^

note: A second answer [my/second-answer]
  a.log:3: The id 1 was answered before.
    3 | {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":2}
      |                       ^

2 rules broken, 0 passed, 0 undecidable, 0 unexercised
";
    assert_eq!((ran.text(), ran.status), (expected, Some(0)), "{}", ran.stderr);
    for (level, status) in [("error", 0), ("warning", 1), ("note", 1), ("never", 0)] {
        let ran = check(&place, &[options.as_slice(), &["--fail-on", level]].concat(), "");
        assert_eq!(ran.status, Some(status), "{level}");
    }
    place.put("many.log", r#"{"jsonrpc":"2.0","id":7,"result":1}"#.to_owned().repeat(7).replace("}{", "}\n{"));
    let ran = check(&place, &["many.log"], "");
    assert!(ran.text().contains("\n  … and 2 more\n"), "{}", ran.text());
}

#[test]
fn an_input_without_messages_is_an_error() {
    let place = Place::with("a.log", "nothing\n");
    place.put("b.log", LOG);
    assert_eq!(place.run(&["check", "a.log"]).status, Some(2));
    let ran = check(&place, &["a.log", "b.log"], "");
    assert!(ran.text().contains("b.log:4: "), "{}", ran.text());
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
}

#[test]
fn rules_are_listed_and_explained() {
    let place = Place::new();
    let list = place.run(&["check", "--list"]);
    let count = list.quietly().text().lines().count();
    assert!(
        list.text().contains("jsonrpc/no-request ")
            && count == Rules::built_in(&Arc::default()).unwrap().iter().count()
    );
    let lines = place.run(&["check", "--list", "-t", "json"]);
    assert_eq!(json_lines(lines.quietly().text()).len(), count);
    let rule = place.run(&["check", "--rule", "jsonrpc/no-request"]);
    for part in ["(error)", "clause: https://", "This breaks it:\n{", "This keeps it:\n{"] {
        assert!(rule.quietly().text().contains(part), "{part} in {}", rule.text());
    }
    let unknown = "error: unknown rule \"jsonrpc/norequest\": did you mean jsonrpc/no-request?\n";
    place.run(&["check", "--rule", "jsonrpc/norequest"]).said(2, unknown);
    place.run(&["check", "--only", "jsonrpc/norequest", "x"]).said(2, unknown);
}

/// With `RPCGRAPH_SARIF_SCHEMA`, a file with the published schema, SARIF is validated.
#[test]
fn sarif_has_all_rules_and_places() {
    let place = Place::with("a b.log", LOG);
    place.put("rule.rq", "# id: mine/all\n# level: note\nSELECT ?message { ?message rpcg:sequence ?n }");
    place.put("my.ttl", RULES);
    let ran = place.run(&["check", "a b.log", "--rules", "rule.rq", "--rules", "my.ttl", "-o", "a.sarif"]);
    assert_eq!((ran.status, ran.text()), (Some(1), ""), "{}", ran.stderr);
    let log: Value = serde_json::from_slice(&place.read("a.sarif")).unwrap();
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), Rules::built_in(&Arc::default()).unwrap().iter().count() + 3);
    let with_clause = rules.iter().filter(|rule| rule["helpUri"].is_string());
    assert_eq!(with_clause.count(), rules.len() - 2);
    let results = run["results"].as_array().unwrap();
    let result = results.iter().find(|result| result["ruleId"] == "my/no-request").unwrap();
    assert_eq!(rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()]["id"], "my/no-request");
    let physical = &result["locations"][0]["physicalLocation"];
    assert_eq!(physical["artifactLocation"]["uri"], "a%20b.log");
    assert_eq!(physical["region"], serde_json::json!({"startLine": 4, "startColumn": 6, "endColumn": 45}));
    assert!(result["partialFingerprints"]["rpcgraph/v1"].is_string());
    match std::env::var_os("RPCGRAPH_SARIF_SCHEMA") {
        None => println!("skipped: RPCGRAPH_SARIF_SCHEMA is not set, to the file with the schema"),
        Some(schema) => {
            let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
            let schema = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
            compiler.add_resource("urn:sarif", schema).unwrap();
            let index = compiler.compile("urn:sarif", &mut schemas).unwrap();
            schemas.validate(&log, index).unwrap_or_else(|error| panic!("{error:#}"));
        }
    }
}

#[test]
fn sarif_names_how_many_results_are_left_out() {
    let place = Place::with("a.log", r#"{"jsonrpc":"2.0","method":"a"}"#.repeat(5_010).replace("}{", "}\n{"));
    place.put("rule.rq", "# id: mine/all\n# level: note\nSELECT ?message { ?message rpcg:sequence ?n }");
    let ran = place.run(&["check", "a.log", "-t", "sarif", "--rules", "rule.rq", "--only", "mine/all"]);
    let log: Value = serde_json::from_str(ran.text()).unwrap();
    let run = &log["runs"][0];
    assert_eq!((run["results"].as_array().unwrap().len(), ran.status), (5_000, Some(0)));
    let note = &run["invocations"][0]["toolExecutionNotifications"][0];
    assert_eq!(note["message"]["text"], "10 more findings are not in this file");
}

#[test]
fn junit_has_a_case_for_each_rule() {
    let place = Place::with("a.log", LOG);
    place
        .put("a.rq", "# title: <A> & \u{1}\nSELECT ?message ?text { ?message rpcg:sequence 4 ; jrpc:hasResult ?text }");
    place.put("b.rq", "# level: note\nSELECT ?message { ?message a rpcg:Batch }");
    let options = ["--rules", "a.rq", "--rules", "b.rq", "--only", "?"];
    let ran = place.run(&[["check", "a.log", "-t", "junit"].as_slice(), &options].concat());
    let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="rpcgraph check" tests="2" failures="1" errors="0">
  <testsuite name="rpcgraph check" tests="2" failures="1" errors="0" skipped="0">
    <testcase name="a" classname="rpcgraph.a">
      <failure type="error" message="&lt;A&gt; &amp; \u{1}">a.log:4: &lt;A&gt; &amp; \u{1}: &quot;ü&lt;&amp;&quot;</failure>
    </testcase>
    <testcase name="b" classname="rpcgraph.b"/>
  </testsuite>
</testsuites>
"#;
    assert_eq!((ran.text(), ran.status), (expected, Some(1)), "{}", ran.stderr);
    let ran = check(&place, &["-t", "junit"], &LOG[..40]);
    assert!(ran.text().contains("skipped=\"1\"") && ran.text().contains("<skipped message="), "{}", ran.text());
}

#[test]
fn findings_in_the_baseline_do_not_fail() {
    let place = Place::with("a.log", LOG);
    let with = |option| check(&place, &["a.log", "-t", "json", option, "known.jsonl"], "");
    assert_eq!(json_lines(with("--write-baseline").text()).len(), 2);
    assert_eq!(with("--write-baseline").status, Some(0));
    with("--baseline").said(0, "note: 2 known findings left out\n");

    // The fault that is left moves to another line; the other is gone.
    let moved = LOG.lines().filter(|line| !line.starts_with("sent")).collect::<Vec<_>>().join("\n");
    place.put("a.log", format!("\n\n{moved}\n"));
    let gone = "note: gone: my/no-request: No open request has this id.\n";
    with("--baseline").said(0, &format!("note: 1 known finding left out\n{gone}"));
    place.put("a.log", r#"{"jsonrpc":"2.0","id":7,"method":"a"}"#.to_owned() + "\n" + LOG);
    place.put("known.jsonl", "");
    assert_eq!(with("--baseline").status, Some(1));
    place.put("known.jsonl", "{}\n");
    with("--baseline").said(2, "error: known.jsonl: line 1 is not a finding that --write-baseline wrote\n");
}

#[test]
fn rules_of_ones_own_are_checked() {
    let place = Place::with("a.log", LOG);
    let turtle = r#"@prefix sh: <http://www.w3.org/ns/shacl#> .
        <http://h/r> sh:declare [ sh:prefix "j" ; sh:namespace "http://json-rpc.org/ontology#" ] .
        <http://h/shapes#add> sh:severity sh:Info ; sh:sparql [
            sh:message "{?text} is called by {?missing}{?this}." ;
            sh:select "SELECT $this ?text { $this j:hasMethod ?text }" ] ."#;
    place.put("rules.ttl", turtle);
    let ran = place.run(&["check", "a.log", "--rules", "rules.ttl", "--only", "add", "-t", "json"]);
    let line = &json_lines(ran.text())[0];
    let text = format!("add is called by {}#m1.", place.iri("a.log"));
    assert_eq!((line["text"].as_str(), line["level"].as_str()), (Some(&*text), Some("note")), "{}", ran.stderr);
    for (rule, said) in [
        ("SELECT ?message { GRAPH ?g { ?message ?p ?o } }", "rules are about one graph"),
        ("ASK { ?message ?p ?o }", "a rule selects messages"),
        ("# level: bad\nSELECT ?message { ?message ?p ?o }", "the level is error, warning or note"),
        ("# id: jsonrpc/no-request\nSELECT ?message { ?message ?p ?o }", "two rules have this name"),
        ("SELECT ?message { ?message ?p }", "not SPARQL, at line 1, column 31"),
    ] {
        place.put("rule.rq", rule);
        let ran = place.run(&["check", "a.log", "--rules", "rule.rq"]);
        assert!(ran.status == Some(2) && ran.stderr.contains(said), "{rule}: {}", ran.stderr);
    }
}

#[test]
fn an_openrpc_document_is_checked() {
    let log = r#"{"jsonrpc":"2.0","id":1,"method":"add"}
{"jsonrpc":"2.0","id":1,"result":2}
{"jsonrpc":"2.0","method":"a"}"#;
    let place = Place::with("a.log", log);
    let param = r#"{"name":"n","schema":{"type":"integer"},"required":true}"#;
    let method =
        format!(r#"{{"name":"add","params":[{param}],"result":{{"name":"sum","schema":{{"type":"string"}}}}}}"#);
    place.put("api.json", format!(r#"{{"openrpc":"1.3.2","methods":[{method}]}}"#));
    place.put("b.log", r#"{"jsonrpc":"2.0","method":"add","params":{"n":"1"}}"#);
    let ran = place.run(&["check", "a.log", "b.log", "--openrpc", "api.json", "--only", "openrpc/*", "-t", "json"]);
    let found: Vec<_> = json_lines(ran.text())
        .iter()
        .map(|finding| {
            ["rule", "input", "message", "text"].map(|name| finding[name].as_str().unwrap().to_owned()).join(" ")
        })
        .collect();
    let expected = [
        "openrpc/method a.log m3 The document does not have the method a.",
        "openrpc/params b.log m1 The params do not conform to the document: at /n: \"1\" is not of type \"integer\".",
        "openrpc/result a.log m2 The result of add does not conform to the document: 2 is not of type \"string\".",
    ];
    assert_eq!((found.as_slice(), ran.status), (expected.map(str::to_owned).as_slice(), Some(1)), "{}", ran.stderr);
    place.put("api.json", "{}");
    let refused = "error: api.json is not an OpenRPC document: the array `methods` is missing\n";
    place.run(&["check", "a.log", "--openrpc", "api.json"]).said(2, refused);
}

/// Recorded sessions and examples break nothing but what is named here, with the message.
#[test]
fn recorded_sessions_break_few_rules() {
    let broken = |path: &std::path::Path| {
        let ran = Place::new().run(&["check", &path.to_string_lossy(), "-t", "json", "--quiet"]);
        let findings = json_lines(ran.text());
        let failed = findings.into_iter().filter(|finding| finding["verdict"] == "failed");
        let name =
            |finding: Value| format!("{}@{}", finding["rule"].as_str().unwrap(), finding["message"].as_str().unwrap());
        failed.map(name).collect::<Vec<_>>().join(" ")
    };
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for (example, named) in [
        // The server does not announce them.
        ("lsp-session.ndjson", "lsp/capability@m4 lsp/capability@m11"),
        ("mcp-session.ndjson", "mcp/stdout-noise@m8"),
        ("ethereum-session.io", ""),
        ("calculator.io", ""),
    ] {
        assert_eq!(broken(&examples.join(example)), named, "{example}");
    }
    let Some(corpora) = crate::support::corpora() else { return };
    for log in ["html", "ids-with-guids", "10-tslint-dirty-trace", "helloworld", "11-crlf"] {
        assert_eq!(broken(&corpora.join(format!("lsp-inspector/fixture/{log}.log"))), "", "{log}");
    }
    for log in ["eth-execution-apis", "mcp-rust-sdk"] {
        assert_eq!(broken(&corpora.join(log).join("messages.ndjson")), "", "{log}");
    }
}

/// The overview, the handshake and the page have the verdicts that `check` ends with; a choice of messages has none.
#[test]
fn other_answers_say_the_verdicts() {
    let log = format!("{}/examples/mcp-session.ndjson", env!("CARGO_MANIFEST_DIR"));
    let place = Place::new();
    let checked = place.run(&["check", &log]);
    let verdicts = checked.text().lines().last().unwrap();
    assert!(verdicts.starts_with("1 rule broken, "), "{verdicts}");
    let line = format!("conformance: {verdicts} (`rpcgraph check` has them)");
    let said = |arguments: &[&str]| place.run(arguments).stderr;
    for command in ["overview", "handshake"] {
        assert!(said(&[command, &log]).contains(&line), "{command}");
        assert!(!said(&[command, &log, "--quiet"]).contains("conformance"), "{command}");
        assert!(!said(&[command, &log, "--sender", "client"]).contains("conformance"), "{command}");
    }
    assert!(!said(&["errors", &log]).contains("conformance"));
    place.run(&["report", &log, "-o", "page.html"]);
    let page = String::from_utf8(place.read("page.html")).unwrap();
    let broken = r#"[{"rule":"mcp/stdout-noise","faults":1,"log":0,"message":"m8"}]"#;
    let data = format!("{{\"summary\":\"{verdicts}\",\"broken\":{broken}}}");
    assert!(page.contains(&data));
}
