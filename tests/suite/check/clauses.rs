//! Findings cite the clause of their revision, and are not about events or answers that no clause covers.

use std::sync::Arc;

use rpcgraph::check::{Rules, SETS};

use crate::cli::Place;

/// The clause of a finding is a clause of the session's revision, from the oldest clause of the rule on.
#[test]
fn clauses_are_of_the_revision() {
    let rules = Rules::built_in(&Arc::default()).unwrap();
    // The features are not part of the revision.
    let missing = ["mcp/initialize-cancelled", "mcp/session-header"];
    for rule in rules.iter().filter(|rule| rule.protocol.as_deref() == Some("mcp")) {
        let [since, until] = &rule.revisions;
        for revision in SETS.map(|(set, _)| set.strip_prefix("mcp-").unwrap()) {
            let is_of = since.as_deref().is_none_or(|since| since <= revision)
                && until.as_deref().is_none_or(|until| revision <= until);
            let clause = rule.clause_in(revision).unwrap();
            let is_dated = clause.contains("/specification/") && rule.clause_in("2024-11-05") != Some(clause);
            if is_of && is_dated && !(revision == "2026-07-28" && missing.contains(&&*rule.id)) {
                assert!(clause.contains(revision), "{}: {clause} for {revision}", rule.id);
            }
        }
    }
    let place = Place::with("log", &rules.iter().find(|rule| rule.id == "mcp/capability-24").unwrap().breaks[0]);
    let ran = place.run(&["check", "log", "--fail-on", "never", "-t", "json", "--only", "mcp/capability-24"]);
    assert!(ran.text().contains("specification/2024-11-05/basic/lifecycle#operation"), "{}", ran.text());
}

/// An archive has no times of the events of a stream, so their place among other messages is not known.
#[test]
fn events_without_times_are_not_in_order() {
    let entry = |second: &str, sent: &str, kind: &str, received: &str| {
        let body = |text: &str| serde_json::to_string(text).unwrap();
        let method = if sent.is_empty() { "GET" } else { "POST" };
        let header = r#"[{"name":"Mcp-Session-Id","value":"S1"}]"#;
        format!(
            r#"{{"startedDateTime":"2026-08-01T10:00:{second}Z","time":9,"request":{{"method":"{method}","url":"http://h/mcp","headers":{header},"postData":{{"text":{}}}}},"response":{{"status":200,"headers":[],"content":{{"mimeType":"{kind}","text":{}}}}}}}"#,
            body(sent),
            body(received)
        )
    };
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"d","version":"1"}}}"#;
    let hi = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"w","version":"1"}}}"#;
    let progress = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":7,\"progress\":1}}\n\n";
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","arguments":{},"_meta":{"progressToken":7}}}"#;
    let entries = [
        entry("00", hello, "application/json", hi),
        entry("01", "", "text/event-stream", progress),
        entry("02", call, "application/json", r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#),
    ];
    let place = Place::with("log", format!(r#"{{"log":{{"version":"1.2","entries":[{}]}}}}"#, entries.join(",\n")));
    let ran = place.run(&["check", "log", "--only", "mcp/progress-token", "-t", "json"]);
    assert!(ran.status == Some(0) && ran.text().contains("when the events of a stream came"), "{}", ran.text());
}

/// Where words say which messages go the same way, methods show which side wrote the log, and rules about senders are decided.
#[test]
fn directions_decide_rules_about_senders() {
    let line = |word: &str, members: &str| format!("10:00:00 {word} {{\"jsonrpc\":\"2.0\",{members}}}\n");
    let begin = [
        line("send", r#""id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"d","version":"1"}}"#),
        line("recv", r#""id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"w","version":"1"}}"#),
        line("send", r#""method":"notifications/initialized""#),
        line("send", r#""id":1,"method":"tools/list""#),
        line("recv", r#""id":1,"result":{"tools":[]}"#),
    ]
    .concat();
    let progress = |token: u8| {
        let params = format!(r#""params":{{"progressToken":{token},"progress":1}}"#);
        begin.clone() + &line("recv", &format!(r#""method":"notifications/progress",{params}"#))
    };
    let asked = line("send", r#""id":2,"method":"tools/list","params":{"_meta":{"progressToken":7}}"#);
    for (log, expected) in [(progress(7), Some(1)), (begin.replacen("send", "recv", 1), Some(0))] {
        let place = Place::with("log", log);
        let ran = place.run(&["check", "log", "--only", "mcp/progress-token", "-t", "json"]);
        assert_eq!(ran.status, expected, "{}", ran.text());
        assert_eq!(ran.text().contains("does not say who sent"), expected == Some(0), "{}", ran.text());
    }
    let kept = Place::with("log", begin.clone() + &asked + progress(7).strip_prefix(&*begin).unwrap());
    let ran = kept.run(&["check", "log", "--only", "mcp/progress-token", "--only", "mcp/id-reused"]);
    assert_eq!(ran.text(), "0 rules broken, 2 passed, 0 undecidable, 0 unexercised\n");
}

/// The answer to a cancelled request is not a failure, and a request fails once.
#[test]
fn failures_that_do_not_count() {
    let log = r#"{"sender":"client","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}}
{"sender":"client","message":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}}
{"sender":"server","message":{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"Request cancelled"}}}
{"sender":"client","message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a"}}}
{"sender":"server","message":{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"oops"}}}
{"sender":"server","message":{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"oops"}}}
{"sender":"client","message":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a"}}}
{"sender":"server","message":{"jsonrpc":"2.0","id":3,"result":{"content":[]}}}
{"sender":"server","message":{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"oops"}}}
"#;
    let place = Place::with("log", log);
    let ran = place.run(&["errors", "log", "--quiet", "-t", "csv", "--columns", "message"]);
    let names: Vec<_> = ran.text().lines().skip(1).filter_map(|iri| iri.rsplit('#').next()).collect();
    assert_eq!(names, ["m5", "m9"], "{}", ran.text());
    let ran = place.run(&["query", "SELECT ?m { ?m a rpcg:Failure }", "log", "--quiet", "-t", "csv"]);
    assert_eq!(ran.text().lines().count(), 3, "{}", ran.text());
}
