//! `check`: each rule over its own examples, and what the command writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use oxrdf::vocab::rdf;
use oxrdf::{NamedOrBlankNode, Quad, Triple};
use oxrdfio::{RdfFormat, RdfParser};
use rpcgraph::check::{BUILT_IN, Rule, Rules, SETS, Verdict};
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::log::Rows;
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::query::{Cancel, Dataset, Form, Query};
use rpcgraph::record::{Format, ReaderOptions};
use rpcgraph::schema::QuerySchemas;
use rpcgraph::vocab::rpcg;
use serde_json::Value;

use crate::cli::Place;
use crate::shapes::{pyshacl, report, shacl, triples};
use crate::support::{BASE, corpora, needed_corpora};

mod clauses;
mod sarif;

/// Loads a session for all rules.
fn loaded(rules: &Rules, session: &str, format: Option<&str>, base: &str) -> Dataset {
    let mut reader = ReaderOptions::default();
    if let Some(name) = format {
        let format = Format::ALL.iter().find(|format| format.name() == name);
        reader = reader.with_format(*format.unwrap_or_else(|| panic!("no format {name}")));
    }
    let mut dataset = Dataset::new(&rules.loading(false).unwrap(), false).unwrap();
    let mut loading = dataset.load(&Cancel::default()).unwrap();
    let mapper = Mapper::new(Mapping::Session, &[]).unwrap().with_provenance(true);
    let options = Options { reader, log_lines: rules.name_log_lines(), ..Options::default() };
    let (name, source, iri) = ("session".to_owned(), "session".to_owned(), base.to_owned());
    let input = Input { name, source, iri, iri_stated: true, read: session.as_bytes() };
    Converter::new(mapper, options).convert(input, &mut loading.sink(), &mut |_| {}).unwrap();
    loading.commit().unwrap();
    dataset.order_by_time();
    dataset
}

/// The rules that a session breaks, and the verdict of each rule.
fn verdicts(rules: &Rules, session: &str, format: Option<&str>) -> (BTreeSet<String>, Vec<(String, Verdict)>) {
    let mut dataset = loaded(rules, session, format, BASE);
    let judged = rules.judge(&mut dataset, &[BASE], 1, &Cancel::default()).unwrap();
    let broken = judged.iter().filter(|judged| judged.verdict == Verdict::Failed);
    let broken = broken.map(|judged| judged.rule.id.clone()).collect();
    (broken, judged.into_iter().map(|judged| (judged.rule.id.clone(), judged.verdict)).collect())
}

/// In the files of rules, an example that breaks a rule breaks only the rules that it names, and an example that keeps a
/// rule breaks none. The first example that keeps a rule passes it.
#[test]
fn each_rule_finds_what_breaks_it_and_nothing_else() {
    let schemas = QuerySchemas::new(Some(env!("CARGO_BIN_EXE_rpcgraph").into()));
    let rules = Rules::built_in(&Arc::new(schemas)).unwrap();
    let mut wrong = Vec::new();
    for rule in rules.iter() {
        let id = &rule.id;
        if rule.breaks.is_empty() || rule.keeps.is_empty() {
            wrong.push(format!("{id} has no example that breaks it, or none that keeps it"));
        }
        let allowed: BTreeSet<_> = rule.also_breaks.iter().chain([id]).cloned().collect();
        // Examples may use features that are deprecated.
        let broken_by = |session: &str| {
            let (mut broken, all) = verdicts(&rules, session, rule.sample_format.as_deref());
            broken.retain(|broken| broken != "mcp/deprecated" || broken == id);
            (broken, all)
        };
        for (number, session) in rule.breaks.iter().enumerate() {
            let (broken, all) = broken_by(session);
            if !broken.contains(id) || !broken.is_subset(&allowed) {
                let verdict = all.iter().find(|(rule, _)| rule == id);
                wrong.push(format!("{id}: breaks {} breaks {broken:?}; {verdict:?}", number + 1));
            }
        }
        for (number, session) in rule.keeps.iter().enumerate() {
            let (broken, all) = broken_by(session);
            let verdict = all.iter().find(|(rule, _)| rule == id).map(|(_, verdict)| verdict);
            // The rule is unexercised in a session of another revision.
            let is_passed = matches!(verdict, Some(Verdict::Passed)) || number > 0;
            if !broken.is_empty() || !is_passed {
                wrong.push(format!("{id}: keeps {} breaks {broken:?}, and the rule is {verdict:?}", number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A rule passes only if the log has what could break it: not in an example that keeps it, without these lines.
#[test]
fn rules_without_evidence_are_unexercised() {
    let rules = Rules::built_in(&Arc::default()).unwrap();
    for (id, example, removed) in [
        ("mcp/unknown-tool", 0, "tools/list"),
        ("mcp/unknown-prompt", 0, "prompts/list"),
        // A session of an older revision.
        ("mcp/log-level", 1, "no line"),
        ("mcp/progress-rising", 0, "0.6"),
        ("mcp/cursor", 0, "\"params\":{\"cursor\""),
        ("mcp/sampling-pairs", 0, "tool_"),
        ("lsp/before-initialize", 0, "\"result\":{\"capabilities\""),
        ("lsp/exit-without-shutdown", 0, "\"result\":{\"capabilities\""),
        ("lsp/selection-range", 0, "\"result\":["),
    ] {
        let rule = rules.iter().find(|rule| rule.id == id).unwrap();
        let log: Vec<_> = rule.keeps[example].lines().filter(|line| !line.contains(removed)).collect();
        let (_, all) = verdicts(&rules, &log.join("\n"), None);
        let (_, verdict) = all.into_iter().find(|(rule, _)| rule == id).unwrap();
        assert!(matches!(verdict, Verdict::Unexercised(_)), "{id}: {verdict:?}");
    }
    // A line of text between envelopes did not cross the wire.
    let rule = rules.iter().find(|rule| rule.id == "mcp/stdout-noise").unwrap();
    let enveloped = |line: &str| format!("{{\"time\":\"2026-03-02T10:00:00Z\",\"message\":{line}}}\n");
    let (_, all) = verdicts(&rules, &rule.keeps[0].trim().lines().take(5).map(enveloped).collect::<String>(), None);
    assert!(all.iter().any(|(id, verdict)| *id == rule.id && matches!(verdict, Verdict::Unexercised(_))));
}

#[test]
fn rules_are_described_with_terms_that_exist() {
    let rules = Rules::built_in(&Arc::default()).unwrap();
    for rule in rules.iter() {
        let id = &rule.id;
        assert!(rule.title != *id && rule.rationale.is_some(), "{id} has a title and a rationale");
        assert!(rule.clause().is_some_and(|clause| clause.starts_with("https://")), "{id} has a clause");
        assert!(rule.remedy.as_ref().is_some_and(|remedy| remedy.ends_with('.')), "{id} says what to do");
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
#[ignore = "needs pySHACL"]
fn pyshacl_finds_the_same() {
    let program = pyshacl();
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
    // Shapes of other rules are ignored there.
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

const PREFIXES: &str = "@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix jrpc: <http://json-rpc.org/ontology#> . \
    @prefix rpcg: <https://w3id.org/rpcgraph#> . @prefix my: <urn:my:> . ";

/// A constraint with a query.
fn sparql(select: &str) -> String {
    format!("sh:sparql [ sh:select \"{select}\" ]")
}

/// Nothing in a file of rules is left out silently.
#[test]
fn rules_that_cannot_be_used_are_refused() {
    let right = sparql("SELECT $this { $this jrpc:hasMethod ?m }");
    let place = Place::with("a.log", LOG);
    for (name, rules, reasons) in [
        ("a.ttl", String::new(), &["a.ttl", "has no rules"][..]),
        (
            "a.ttl",
            "my:S sh:targetClass jrpc:Request ; sh:property [ sh:path jrpc:hasMethod ; sh:in ( \"a\" ) ] .".to_owned(),
            &["a.ttl", "<urn:my:S>", "sh:sparql"],
        ),
        ("a.ttl", "my:S a sh:NodeShape .".to_owned(), &["<urn:my:S>", "sh:sparql"]),
        ("a.ttl", format!("my:R {right} . my:S a sh:NodeShape ; sh:closed true ."), &["<urn:my:S>"]),
        ("a.ttl", format!("my:R sh:closed true ; {right} ."), &["sh:closed", "<urn:my:R>"]),
        ("a.ttl", "my:R sh:sparql [ sh:ask \"ASK { }\" ] .".to_owned(), &["sh:ask"]),
        ("a.ttl", format!("my:R sh:targetClass \"a\" ; {right} ."), &["\"a\" is not an IRI"]),
        (
            "a.ttl",
            format!("my:R rpcg:exercisedby \"ASK {{ }}\" ; {right} ."),
            &["rpcg:exercisedby", "did you mean rpcg:exercisedBy?"],
        ),
        (
            "a.ttl",
            format!("my:R {} .", sparql("SELECT $this { $this <http://json-rpc.org/ontology#hasMethd> ?m }")),
            &["jrpc:hasMethd", "did you mean jrpc:hasMethod?"],
        ),
        ("a.ttl", format!("my:R {} .", sparql("SELECT ?m { $this jrpc:hasMethod ?m }")), &["urn:my:R", "$this"]),
        ("a.rq", "SELECT ?m { ?message jrpc:hasMethod ?m }".to_owned(), &["a: ", "selects ?message"]),
        (
            "a.rq",
            "SELECT ?message { ?message jrpc:hasMethd ?m }".to_owned(),
            &["a: ", "jrpc:hasMethd", "did you mean jrpc:hasMethod?"],
        ),
        ("a.rq", "SELECT ?message { ?message lsp:documnt ?m }".to_owned(), &["did you mean lsp:document?"]),
        (
            "a.rq",
            "SELECT ?message { ?message jrpc:hasParameters ?m FILTER(rpcg:json(?m, 'a') = 1) }".to_owned(),
            &["JSON Pointer", "\"/a\""],
        ),
        ("a.rq", "SELECT (?m AS ?message) { ?any jrpc:hasMethod ?m }".to_owned(), &["a: ", "\"add\"", "not a message"]),
        (
            "a.rq",
            "SELECT ?message { ?any jrpc:hasMethod ?m OPTIONAL { ?message rpcg:cancels ?any } }".to_owned(),
            &["a: ", "without a message"],
        ),
    ] {
        let text = if name == "a.ttl" { format!("{PREFIXES}{rules}") } else { rules };
        place.put(name, &text);
        let ran = place.run(&["check", "a.log", "--rules", name]);
        assert_eq!((ran.status, ran.text()), (Some(2), ""), "{text}");
        assert!(reasons.iter().all(|reason| ran.stderr.contains(reason)), "{text}: {}", ran.stderr);
    }
}

#[test]
fn texts_of_a_log_are_not_run() {
    let method = "urn:x> } { SELECT (COUNT(*) AS ?n) { ?a ?b ?c } } VALUES ?q { <urn:y";
    let place = Place::with("a.log", format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#));
    place.put("a.rq", "SELECT (?method AS ?message) { ?any jrpc:hasMethod ?method }");
    let ran = place.run(&["check", "a.log", "--rules", "a.rq", "--only", "a"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.starts_with("error: a: the query selects ") && !ran.stderr.contains("SPARQL"), "{}", ran.stderr);
}

/// A shape is judged for its targets, of which the whole query sees one as `$this`.
#[test]
fn shapes_are_judged_for_their_targets() {
    let verdicts = |target: &str, select: &str| {
        let place = Place::with("a.log", LOG);
        place.put("a.ttl", format!("{PREFIXES}my:R {target} {} .", sparql(select)));
        let ran = place.run(&["check", "a.log", "--rules", "a.ttl", "--only", "urn:my:R", "-t", "json"]);
        let lines = json_lines(ran.text()).into_iter();
        let part = |line: &Value, name: &str| line[name].as_str().unwrap_or("-").to_owned();
        lines
            .map(|line| format!("{} {}", part(&line, "verdict"), part(&line, "message")))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let all = "SELECT $this { $this rpcg:sequence ?n }";
    let silent = "SELECT $this { FILTER NOT EXISTS { $this jrpc:hasMethod ?m } }";
    let answers = "failed m2, failed m3, failed m4";
    for (target, select, expected) in [
        ("", all, "failed m1, failed m2, failed m3, failed m4"),
        ("sh:targetClass jrpc:Response ;", all, answers),
        ("sh:targetClass jrpc:Message ;", silent, answers),
        ("sh:targetSubjectsOf jrpc:hasResult ;", silent, answers),
        ("sh:targetObjectsOf rpcg:respondsTo ;", all, "failed m1"),
        (
            "sh:targetClass jrpc:Request , jrpc:Response ;",
            "SELECT $this { { $this jrpc:hasMethod ?m } UNION { FILTER NOT EXISTS { $this jrpc:hasMethod ?m } } }",
            "failed m1, failed m2, failed m3, failed m4",
        ),
        (
            "sh:targetClass jrpc:Request ;",
            "SELECT $this (COUNT(?a) AS ?n) { $this jrpc:hasMethod ?m OPTIONAL { ?a rpcg:respondsTo $this } } GROUP BY $this HAVING(COUNT(?a) > 0)",
            "failed m1",
        ),
        ("sh:targetClass jrpc:Notification ;", all, "unexercised -"),
        ("sh:targetClass jrpc:Request ;", silent, ""),
        ("", "SELECT $this { $this jrpc:hasError ?e }", "unexercised -"),
        ("", "SELECT $this { $this jrpc:hasMethod 'none' }", ""),
    ] {
        assert_eq!(verdicts(target, select), expected, "{target} {select}");
    }
    assert_eq!(Place::new().run(&["check", "--list", "--rules", "/dev/zero"]).status, Some(2));
}

/// A baseline counts, whatever the order of the findings; each format has the verdicts.
#[test]
fn known_findings_are_counted() {
    let calls = |tools: &[&str]| {
        let call = |(id, tool): (usize, &&str)| {
            format!(
                r#"{{"from":"client","message":{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}}}
"#
            )
        };
        let answer = r#"{"from":"client","message":{"jsonrpc":"2.0","id":99,"method":"ping"}}
{"from":"server","message":{"jsonrpc":"2.0","id":99,"result":{}}}
"#;
        tools.iter().enumerate().map(call).collect::<String>() + answer
    };
    let place = Place::with("a.log", calls(&["ping", "pay", "ping"]));
    place.put("b.log", calls(&["pay"]));
    let check = |arguments: &[&str]| {
        place.run(&[&["check", "--only", "jsonrpc/unanswered", "--fail-on", "warning"][..], arguments].concat())
    };
    assert_eq!(check(&["a.log", "b.log", "--write-baseline", "known.jsonl"]).status, Some(0));
    let known = String::from_utf8(place.read("known.jsonl")).unwrap();
    let counts: Vec<_> =
        json_lines(&known).iter().map(|entry| format!("{} {}", entry["tool"], entry["count"])).collect();
    assert_eq!(counts, ["\"pay\" 2", "\"ping\" 2"]);
    for (log, status, verdicts) in [
        (calls(&["ping", "pay", "ping"]), 0, "known known known"),
        (calls(&["pay", "ping", "pay"]), 0, "known known known"),
        (calls(&["pay", "pay", "ping", "pay"]), 1, "known known known failed"),
        (calls(&["other"]), 1, "failed"),
    ] {
        place.put("c.log", &log);
        let ran = check(&["c.log", "--baseline", "known.jsonl", "-t", "json"]);
        let found: Vec<_> =
            json_lines(ran.text()).iter().map(|line| line["verdict"].as_str().unwrap().to_owned()).collect();
        assert_eq!((found.join(" ").as_str(), ran.status), (verdicts, Some(status)), "{log}");
    }
    let ran = check(&["a.log", "--baseline", "known.jsonl"]);
    assert_eq!(ran.text(), "0 rules broken, 1 known, 0 passed, 0 undecidable, 0 unexercised\n");
    assert!(ran.stderr.contains("note: 3 known findings") && ran.stderr.contains("note: gone: jsonrpc/unanswered"));
    let junit = check(&["a.log", "--baseline", "known.jsonl", "-t", "junit"]);
    assert!(
        junit.text().contains("failures=\"0\"") && junit.text().contains("<skipped message=\"known: 3 findings\"/>")
    );
    let sarif: Value =
        serde_json::from_str(check(&["a.log", "--baseline", "known.jsonl", "-t", "sarif"]).text()).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert!(results.len() == 3 && results.iter().all(|result| result["properties"]["verdict"] == "known"));
    assert!(results.iter().all(|result| result["suppressions"][0]["status"] == "accepted"));
    place.put("known.jsonl", r#"{"rule":"jsonrpc/unanswered","text":"a","fingerprint":"b"}"#);
    let old = check(&["a.log", "--baseline", "known.jsonl"]);
    assert!(old.status == Some(2) && old.stderr.contains("is not a finding that"), "{}", old.stderr);
}

#[test]
fn options_that_are_not_used_are_refused() {
    let place = Place::with("a.log", LOG);
    for arguments in [
        &["--list", "-t", "sarif"][..],
        &["--list", "-t", "junit"],
        &["--list", "--fail-on", "note"],
        &["--list", "--baseline", "b"],
        &["--list", "--from", "json-lines"],
        &["--list", "--timeout", "5"],
        &["--list", "--protocol", "mcp"],
        &["--list", "a.log"],
        &["--rule", "jsonrpc/version", "-t", "json"],
        &["--rule", "jsonrpc/version", "--write-baseline", "b"],
    ] {
        let ran = place.run(&[&["check"], arguments].concat());
        assert_eq!((ran.status, ran.text(), ran.stderr.is_empty()), (Some(2), "", false), "{arguments:?}");
    }
}

/// The rules that a log breaks, each with the message.
fn broken(path: &std::path::Path) -> String {
    let ran = Place::new().run(&["check", &path.to_string_lossy(), "-t", "json", "--quiet"]);
    let findings = json_lines(ran.text());
    let failed = findings.into_iter().filter(|finding| finding["verdict"] == "failed");
    let name =
        |finding: Value| format!("{}@{}", finding["rule"].as_str().unwrap(), finding["message"].as_str().unwrap());
    failed.map(name).collect::<Vec<_>>().join(" ")
}

/// Recorded sessions and examples break nothing but what is named here, with the message.
#[test]
fn examples_break_few_rules() {
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
}

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn sessions_of_the_corpora_break_few_rules() {
    let corpora = needed_corpora();
    for log in ["html", "ids-with-guids", "10-tslint-dirty-trace", "helloworld", "11-crlf"] {
        assert_eq!(broken(&corpora.join(format!("lsp-inspector/fixture/{log}.log"))), "", "{log}");
    }
    for log in ["eth-execution-apis", "mcp-rust-sdk"] {
        assert_eq!(broken(&corpora.join(log).join("messages.ndjson")), "", "{log}");
    }
}

/// A verdict is given where it is asked for: by `check`, and in pages with --check, from one reading.
#[test]
fn verdicts_are_asked_for() {
    let log = format!("{}/examples/mcp-session.ndjson", env!("CARGO_MANIFEST_DIR"));
    let place = Place::new();
    let checked = place.run(&["check", &log]);
    let verdicts = checked.text().lines().last().unwrap();
    assert!(verdicts.starts_with("1 rule broken, "), "{verdicts}");
    for command in ["overview", "handshake", "errors"] {
        let ran = place.run(&[command, &log]);
        assert!(!format!("{}{}", ran.text(), ran.stderr).contains("conform"), "{command}");
    }
    place.run(&["report", &log, "-o", "plain.html"]);
    let plain = String::from_utf8(place.read("plain.html")).unwrap();
    assert!(plain.contains("\"verdicts\":null") && !plain.contains("mcp/stdout-noise"));
    let broken = r#"[{"rule":"mcp/stdout-noise","faults":1,"log":0,"message":"m8"}]"#;
    let data = format!("{{\"summary\":\"{verdicts}\",\"broken\":{broken}}}");
    place.run(&["report", "--check", &log, "-o", "page.html"]);
    let page = String::from_utf8(place.read("page.html")).unwrap();
    assert!(page.contains(&data));
    // A log that can be read only once is judged from the reading that makes the page.
    let redirected = place.command(&["report", "--check", "-o", "stdin.html"]);
    let mut redirected = redirected;
    let output = redirected.stdin(std::fs::File::open(&log).unwrap()).output().unwrap();
    assert!(output.status.success());
    let page = String::from_utf8(place.read("stdin.html")).unwrap();
    assert!(page.contains(&data));
    let filtered = place.run(&["report", "--check", &log, "--sender", "client", "-o", "some.html"]);
    assert!(filtered.stderr.contains("--check judges whole logs"), "{}", filtered.stderr);
}

/// The rules of each set are there and hold for its revision; each check of the official suite has a rule or a reason.
#[test]
fn sets_of_rules() {
    let built_in = Rules::built_in(&Arc::new(QuerySchemas::new(None))).unwrap();
    for (name, set) in SETS {
        let revision = name.strip_prefix("mcp-").unwrap();
        for id in set.lines() {
            let rule = built_in.iter().find(|rule| rule.id == id).unwrap_or_else(|| panic!("{name}: {id}"));
            let [since, until] = &rule.revisions;
            assert!(since.as_deref().is_none_or(|since| since <= revision), "{name}: {id}");
            assert!(until.as_deref().is_none_or(|until| revision <= until), "{name}: {id}");
        }
        let mut rules = Rules::built_in(&Arc::new(QuerySchemas::new(None))).unwrap();
        assert!(rules.retain_set(name) && !rules.retain_set("mcp-1999"));
        assert_eq!(rules.iter().count(), set.lines().count(), "{name}");
    }
    let coverage = built_in.coverage();
    let names: BTreeSet<_> = coverage.iter().map(|(check, _)| check).collect();
    assert_eq!(names.len(), coverage.len(), "a check with a rule and a reason");
    if let Some(folder) = corpora().map(|corpora| corpora.join("../reference/protocols/mcp/conformance")) {
        for file in std::fs::read_dir(folder).into_iter().flatten() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            for check in text.lines().filter_map(|line| line.trim().strip_prefix("- check: ")) {
                assert!(names.contains(&check.trim()), "{check}");
            }
        }
    }
}
