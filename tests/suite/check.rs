//! `check`: each rule over its own examples, and what the command writes.

use std::collections::BTreeSet;
use std::sync::Arc;

use oxrdfio::{RdfFormat, RdfParser};
use rpcgraph::check::{BUILT_IN, Rules, Verdict};
use rpcgraph::convert::{Converter, Input, Options};
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::query::{Cancel, Dataset};
use rpcgraph::record::{Format, ReaderOptions};
use rpcgraph::vocab::rpcg;
use serde_json::Value;

use crate::cli::Place;
use crate::support::BASE;

/// The rules that a session breaks, and the verdict of each rule.
fn verdicts(rules: &Rules, session: &str, format: Option<&str>) -> (BTreeSet<String>, Vec<(String, Verdict)>) {
    let mut reader = ReaderOptions::default();
    if let Some(name) = format {
        let format = Format::ALL.iter().find(|format| format.name() == name);
        reader = reader.with_format(*format.unwrap_or_else(|| panic!("no format {name}")));
    }
    let dataset = Dataset::new(&rules.loading().unwrap(), false).unwrap();
    let mut loading = dataset.load(&Cancel::default()).unwrap();
    let mapper = Mapper::new(Mapping::Session, &[]).unwrap().with_provenance(true);
    let options = Options { reader, log_lines: rules.name_log_lines(), ..Options::default() };
    let (name, source, iri) = ("session".to_owned(), "session".to_owned(), BASE.to_owned());
    let input = Input { name, source, iri, iri_stated: true, read: session.as_bytes() };
    Converter::new(mapper, options).convert(input, &mut loading.sink(), &mut |_| {}).unwrap();
    loading.commit().unwrap();
    let judged = rules.judge(&dataset, &[BASE], 1, &Cancel::default()).unwrap();
    let broken = judged.iter().filter(|judged| judged.verdict == Verdict::Failed);
    let broken = broken.map(|judged| judged.rule.id.clone()).collect();
    (broken, judged.into_iter().map(|judged| (judged.rule.id.clone(), judged.verdict)).collect())
}

/// Of the examples in the files of rules, each that breaks a rule breaks no other but those that the rule names, and
/// each that keeps a rule breaks none, and the rule is passed.
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
            if !broken.is_empty() || verdict != Some(&Verdict::Passed) {
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
            assert!(rules.iter().any(|rule| rule.id == *other), "{id}: there is no rule {other}");
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
    let ran = place.run(&["check", "a.log", "-t", "json", "--only", "jsonrpc/no-request"]);
    let expected = r#"{"rule":"jsonrpc/no-request","level":"error","verdict":"failed","input":"a.log","line":4,"message":"m4","text":"No open request has this id.","clause":"https://www.jsonrpc.org/specification#response_object"}"#;
    assert_eq!((ran.text().trim_end(), ran.status), (expected, Some(1)), "{}", ran.stderr);
    let ran = place.run_with(&["check", "-t", "json", "--only", "*/second-answer"], &LOG[..40]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let line = &json_lines(ran.text())[0];
    assert_eq!(line["verdict"], "unexercised");
    assert!(line["text"].is_string() && line.get("line").is_none());
}

#[test]
fn text_points_at_the_place() {
    let place = Place::with("a.log", LOG);
    let ran = place.run(&["check", "a.log", "--only", "jsonrpc/no-request", "--level", "*=warning"]);
    let expected = "\
warning: An answer to a request that was not made [jsonrpc/no-request]
  https://www.jsonrpc.org/specification#response_object
  a.log:4: No open request has this id.
    4 | sent {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"ü<&\"}
      |      ^

1 rule broken, 0 passed, 0 undecidable, 0 unexercised
";
    assert_eq!((ran.text(), ran.status), (expected, Some(0)), "{}", ran.stderr);
    let fails = ["check", "a.log", "--only", "jsonrpc/no-request", "--level", "*=warning", "--fail-on", "note"];
    assert_eq!(place.run(&fails).status, Some(1));
    place.put("many.log", r#"{"jsonrpc":"2.0","id":7,"result":1}"#.to_owned().repeat(7).replace("}{", "}\n{"));
    let ran = place.run(&["check", "many.log", "--only", "jsonrpc/no-request"]);
    assert!(ran.text().contains("\n  … and 2 more\n"), "{}", ran.text());
}

#[test]
fn an_input_without_messages_is_an_error() {
    let place = Place::with("a.log", "nothing\n");
    place.put("b.log", LOG);
    assert_eq!(place.run(&["check", "a.log"]).status, Some(2));
    let ran = place.run(&["check", "a.log", "b.log"]);
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
    let unknown = "error: there is no rule \"jsonrpc/norequest\": did you mean jsonrpc/no-request?\n";
    place.run(&["check", "--rule", "jsonrpc/norequest"]).said(2, unknown);
    place.run(&["check", "--only", "jsonrpc/norequest", "x"]).said(2, unknown);
}
