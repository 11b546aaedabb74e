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
            // Batches and what is no message are not among the messages; they have a sender and a time of their own.
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

#[test]
fn unmatched_filters_suggest_the_nearest_value() {
    let place = Place::new();
    place.put("mcp.jsonl", std::fs::read(own("tests/queries/mcp.jsonl")).unwrap());
    place.put("log", super::LOG);
    for (arguments, note) in [
        (
            &["errors", "mcp.jsonl", "--method", "tool/call"][..],
            "no message has the method \"tool/call\"; did you mean tools/call?",
        ),
        (
            &["timeline", "mcp.jsonl", "--tool", "xyz"],
            "no message has the tool \"xyz\"; there are alerts, forecast, radar",
        ),
        (
            &["timeline", "mcp.jsonl", "--session", "a3"],
            "no message has the session \"a3\"; there are session-a1, session-b2",
        ),
        (&["timeline", "log", "--tool", "xyz"], "no message has a tool"),
        (&["timeline", "log", "--since", "10m"], "no message has a time, for --since, --last and --until"),
    ] {
        let ran = place.run(arguments);
        assert!(ran.stderr.ends_with(&format!("0 rows\nnote: {note}\n")), "{arguments:?}: {}", ran.stderr);
    }
    // There are such messages, but none that failed.
    place.run(&["errors", "log", "--method", "subtract"]).said(0, "0 rows\n");
    place
        .run(&["errors", "log", "--since", "yesterday"])
        .began(2, "error: invalid value 'yesterday' for '--since <TIME>': expected a time such as ");
    place
        .run(&["errors", "log", "--last", "10:00"])
        .began(2, "error: invalid value '10:00' for '--last <DURATION>': expected a duration such as ");
    place.put("own/q.rq", "SELECT * { ?m a jrpc:Request }");
    place
        .run(&["ask", "q", "log", "--queries", "own", "--method", "a"])
        .said(2, "error: the query q does not accept filters: it needs a line `#:messages ?message`\n");
}

/// Queries of one's own take them where they say what they are about, wherever they stand.
#[test]
fn every_way_to_ask_takes_filters() {
    let place = Place::with("mcp.jsonl", std::fs::read(own("tests/queries/mcp.jsonl")).unwrap());
    let query = "SELECT ?message {\n  ?message a ?kind ; rpcg:sequence ?n\n  #:messages ?message\n}\nORDER BY ?n";
    place.put("own/mine.rq", query);
    let filters = ["--method", "tools/*", "--kind", "request", "--since", "15s"];
    let names = |arguments: &[&str]| -> Vec<String> {
        let ran = rows(&place, &[arguments, &filters].concat());
        ran.iter().map(|row| row.split(',').next().unwrap().to_owned()).collect()
    };
    let expected = names(&["timeline"]);
    assert!(expected.len() > 2, "{expected:?}");
    for asked in [
        &["ask", "mine", "--queries", "own"][..],
        &["query", "own/mine.rq"],
        &["query", "--query-file", "own/mine.rq"],
        &["query", "-q", query],
        &["query", query],
    ] {
        assert_eq!(names(asked), expected, "{asked:?}");
        assert_eq!(names(&[asked, &["--limit", "2"]].concat()), expected[..2], "{asked:?}");
    }
    let why = "does not accept filters: it needs a line `#:messages ?message`";
    place
        .run(&["query", "mcp.jsonl", "-q", "SELECT * { ?m a jrpc:Request }", "--method", "a"])
        .said(2, &format!("error: the query --query {why}\n"));
    let ran = place.run(&["query", "mcp.jsonl", "-q", query, "--method", "tools/cal"]);
    assert!(
        ran.stderr.ends_with("note: no message has the method \"tools/cal\"; did you mean tools/call?\n"),
        "{}",
        ran.stderr
    );
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

#[test]
fn times_may_lack_seconds() {
    let line = |minute: u32| {
        format!("{{\"time\":\"2026-01-05T10:0{minute}:00Z\",\"message\":{{\"jsonrpc\":\"2.0\",\"method\":\"a\"}}}}\n")
    };
    let place = Place::with("mcp.jsonl", [0, 1, 2].map(line).concat());
    for time in ["2026-01-05T10:01", "2026-01-05 10:01", "2026-01-05 10:01:00", "2026-01-05T10:01:00Z", "10:01"] {
        assert_eq!(rows(&place, &["timeline", "--since", time]).len(), 2, "{time}");
    }
}

/// A log without senders or times is not a log without such messages.
#[test]
fn messages_that_a_condition_cannot_judge_are_counted() {
    let log = "{\"time\":\"2026-01-05T10:00:00Z\",\"sender\":\"client\",\"message\":{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}}\n\
               {\"message\":{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"b\"}}\n";
    let place = Place::with("log", log);
    let said = |arguments: &[&str]| place.run(&[&["timeline", "log"], arguments].concat()).stderr;
    assert!(said(&["--sender", "client"]).contains("note: left out: 1 message without a sender\n"));
    assert!(said(&["--since", "09:00"]).contains("note: left out: 1 message without a time\n"));
    for arguments in [&["--sender", "client", "--quiet"][..], &["--method", "a"], &[]] {
        assert!(!said(arguments).contains("left out"), "{arguments:?}");
    }
}
