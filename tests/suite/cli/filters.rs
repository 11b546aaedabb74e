//! Conditions on messages: the same rows as plain code chooses, in every question.

use std::collections::{BTreeMap, BTreeSet};

use rpcgraph::Log;
use rpcgraph::log::LoggedMessage;
use rpcgraph::record::Sender;

use super::Place;
use crate::support::own;

/// The messages of the log that `choose` chooses, given what each of them answers; by name.
fn chosen(choose: impl Fn(&LoggedMessage, Option<&LoggedMessage>) -> bool) -> BTreeSet<String> {
    let messages: BTreeMap<_, _> = Log::open(own("tests/queries/mcp.jsonl"))
        .unwrap()
        .messages()
        .map(|message| message.unwrap())
        .map(|message| (message.name, message))
        .collect();
    let request = |message: &LoggedMessage| messages.get(message.responds_to.as_ref()?);
    let chosen = messages.values().filter(|message| choose(message, request(message)));
    chosen.map(|message| format!("#{}", message.name)).collect()
}

fn rows(place: &Place, arguments: &[&str]) -> Vec<String> {
    let ran = place.run(&[arguments, &["mcp.jsonl", "-t", "csv", "--quiet"]].concat());
    ran.quietly().text().lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn every_question_takes_every_filter() {
    let place = Place::new();
    place.put("mcp.jsonl", std::fs::read(own("tests/queries/mcp.jsonl")).unwrap());
    let tool = |message: &LoggedMessage| {
        let params: serde_json::Value = serde_json::from_str(message.params.as_deref()?).ok()?;
        (message.method.as_deref() == Some("tools/call")).then(|| params["name"].as_str().map(str::to_owned)).flatten()
    };
    let time = |message: &LoggedMessage| message.time.clone().unwrap_or_default();
    let filters: Vec<(&[&str], BTreeSet<String>)> = vec![
        (
            &["--method", "tools/call"],
            chosen(|m, r| [Some(m), r].iter().flatten().any(|m| m.method.as_deref() == Some("tools/call"))),
        ),
        (
            &["--method", "*/l?st*"],
            chosen(|m, r| {
                [Some(m), r].iter().flatten().any(|m| m.method.as_ref().is_some_and(|m| m.contains("/list")))
            }),
        ),
        (
            &["--tool", "forec*"],
            chosen(|m, r| [Some(m), r].iter().flatten().any(|m| tool(m).as_deref() == Some("forecast"))),
        ),
        (
            &["--id", "3"],
            chosen(|m, _| serde_json::from_str::<serde_json::Value>(&m.text).is_ok_and(|json| json["id"] == 3)),
        ),
        (&["--sender", "server"], chosen(|m, _| m.sender == Some(Sender::Server))),
        (&["--session", "b2"], chosen(|m, _| m.session.as_deref() == Some("b2"))),
        (&["--session=-?1"], chosen(|m, _| m.session.as_deref() == Some("a1"))),
        (&["--kind", "Error*"], chosen(|m, _| m.error.is_some())),
        (&["--kind", "error"], chosen(|m, _| m.error.is_some())),
        (&["--since", "2026-01-05T10:00:15Z"], chosen(|m, _| time(m).as_str() >= "2026-01-05T10:00:15")),
        (&["--since", "10:00:15"], chosen(|m, _| time(m).as_str() >= "2026-01-05T10:00:15")),
        // The last message is from 10:00:21.
        (&["--since", "6s"], chosen(|m, _| time(m).as_str() >= "2026-01-05T10:00:15")),
        (&["--last", "6s"], chosen(|m, _| time(m).as_str() >= "2026-01-05T10:00:15")),
        (
            &["--since", "10:00:05", "--until", "0.2m"],
            chosen(|m, _| {
                let time = time(m);
                time.as_str() >= "2026-01-05T10:00:05"
                    && (time.as_str() < "2026-01-05T10:00:09" || time.ends_with("09Z"))
            }),
        ),
        (&["--contains", "region"], chosen(|m, _| m.text.contains("region"))),
        (&["--method", "none*"], BTreeSet::new()),
    ];
    let mut found = 0;
    for question in [
        "timeline",
        "errors",
        "unanswered",
        "unsolicited",
        "tool-failures",
        "handshake",
        "cancelled",
        "slowest",
        "biggest",
    ] {
        let all = rows(&place, &["ask", question, "--limit", "1000"]);
        assert!(!all.is_empty(), "{question}");
        for (filter, names) in &filters {
            let some = rows(&place, &[&["ask", question, "--limit", "1000"], *filter].concat());
            let name = |row: &str| format!("#{}", row.split(',').next().unwrap().rsplit('#').next().unwrap());
            // Batches and records that are not messages are not listed among the messages; they have a sender and a time.
            let known = chosen(|_, _| true);
            let expected: Vec<_> = all.iter().filter(|row| names.contains(&name(row))).cloned().collect();
            let some: Vec<_> = some.into_iter().filter(|row| known.contains(&name(row))).collect();
            assert_eq!(some, expected, "{question} {filter:?}");
            found += some.len();
        }
    }
    assert!(found > 100, "{found}");
    // Counts are of the messages that are chosen.
    assert_eq!(rows(&place, &["methods", "--method", "ping", "--columns", "method,count"]), ["ping,2"]);
    assert_eq!(rows(&place, &["tools", "--session", "b2", "--columns", "tool,count"]), ["radar,1"]);
    assert_eq!(rows(&place, &["ask", "sessions", "--session", "*-b2", "--columns", "records,requests"]), ["9,3"]);
    assert_eq!(rows(&place, &["ask", "sessions", "--limit", "1"]).len(), 1);
    assert_eq!(rows(&place, &["methods", "--limit", "2"]).len(), 2);
    let problems = rows(&place, &["problems", "--sender", "server", "--columns", "problem,count"]);
    assert_eq!(problems, ["DuplicateAnswer,1"]);
}

/// A value is text, whatever stands in it.
#[test]
fn values_are_no_sparql() {
    let place = Place::with("log", super::LOG);
    for value in ["\"", "a\" || true || \"", "\\", "\n", "} #", "(", "[a-", "?value", "$it", "*\"*", "a{2,1}", "é"] {
        for option in ["--method", "--contains", "--session", "--id", "--sender", "--kind", "--tool"] {
            let ran = place.run(&["timeline", "log", "-t", "csv", "--quiet", &format!("{option}={value}")]);
            // The params `{"x":1.5}` have quotation marks.
            let found = usize::from((option, value) == ("--contains", "\""));
            assert_eq!(ran.quietly().text().lines().count(), 1 + found, "{option} {value:?}");
        }
    }
}
