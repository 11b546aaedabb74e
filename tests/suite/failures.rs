//! What is a failure, and why a request has no answer: the same for every question, the tables and the page.

use std::collections::BTreeSet;
use std::io::Cursor;

use rpcgraph::{Log, Query};

const HTTP: &str = include_str!("../logs/http.har");

/// Answers of a question, the columns that are named.
fn rows(question: &str, log: &str, columns: &[&str]) -> Vec<String> {
    let log = Log::read("log", Cursor::new(log.to_owned())).with_base("https://example.org/log").expect("an IRI");
    let rows = log.ask(&Query::named(question).expect("a question")).expect("an answer");
    let shown = rows.map(|row| {
        let row = row.expect("a row");
        let values = columns.iter().map(|column| row.text(column).unwrap_or("-"));
        values.map(|value| value.rsplit('#').next().unwrap_or(value)).collect::<Vec<_>>().join(" ")
    });
    shown.collect()
}

fn errors(log: &str) -> Vec<String> {
    rows("errors", log, &["message", "request", "code", "failure"])
}

/// Messages one a line: what the client sends begins with `>`.
fn log(lines: &[&str]) -> String {
    let line = |(second, line): (usize, &&str)| {
        let (arrow, message) = line.split_at(1);
        format!("2026-11-22T09:00:{second:02}Z {}{arrow} {message}\n", if arrow == ">" { "-" } else { "" })
    };
    lines.iter().enumerate().map(line).collect::<String>().replace("< ", "<- ")
}

fn request(id: u32, method: &str, params: &str) -> String {
    format!(r#">{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

fn result(id: u32, result: &str) -> String {
    format!(r#"<{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

fn error(id: u32, code: i32, data: &str) -> String {
    format!(r#"<{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"x"{data}}}}}"#)
}

fn exchanges(lines: &[String]) -> String {
    log(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn errors_tools_and_http_are_failures() {
    let all = exchanges(&[
        request(1, "tools/call", r#"{"name":"a"}"#),
        error(1, -32000, ""),
        request(2, "tools/call", r#"{"name":"a"}"#),
        result(2, r#"{"content":[],"isError":true}"#),
        request(3, "tools/call", r#"{"name":"a"}"#),
        result(3, r#"{"content":[],"isError":false}"#),
    ]);
    assert_eq!(errors(&all), ["m2 m1 -32000 error", "m4 m3 - tool"]);
    assert_eq!(rows("tools", &all, &["tool", "count", "failures", "errors"]), ["a 3 2 1"]);
    assert_eq!(rows("methods", &all, &["method", "count", "failures"]), ["tools/call 3 2"]);
    assert_eq!(rows("sessions", &all, &["errors", "failures"]), ["1 2"]);
    assert_eq!(rows("tool-failures", &all, &["request", "answer", "kind"]), ["m1 m2 ErrorResponse", "m3 m4 Response"]);
    assert_eq!(rows("timeline", &all, &["message"]).len(), 6);
}

#[test]
fn an_http_exchange_that_failed_answers_its_request() {
    assert_eq!(errors(HTTP), ["m5 m4 500 http", "m7 m6 401 http", "m9 m8 - http"]);
    let columns = ["method", "id", "error", "seconds"];
    assert_eq!(
        rows("errors", HTTP, &columns),
        [
            "tools/call 2  0.01".to_owned(),
            "tools/call 3  0.01".to_owned(),
            "tools/call 4 net::ERR_CONNECTION_REFUSED 30".to_owned(),
        ]
        .map(|row| row.replace("  ", " - "))
    );
    assert!(rows("unanswered", HTTP, &["message"]).is_empty());
    let parts = rows("overview", HTTP, &["part", "what", "count"]);
    assert!(parts.contains(&"failures tools/call a: HTTP 500 1".to_owned()), "{parts:#?}");
    assert!(parts.contains(&"failures tools/call a: no HTTP response 1".to_owned()), "{parts:#?}");
    assert!(!parts.iter().any(|part| ["unanswered ", "open "].iter().any(|word| part.starts_with(word))), "{parts:#?}");
}

fn har(entries: &[&str]) -> String {
    format!(r#"{{"log":{{"version":"1.2","creator":{{"name":"x","version":"1"}},"entries":[{}]}}}}"#, entries.join(","))
}

fn entry_of(method: &str, headers: &str, sent: &str, status: i32, received: &str) -> String {
    let quoted = |text: &str| serde_json::to_string(text).expect("a string");
    let header = |name: &&str| format!(r#"{{"name":"{name}","value":"v"}}"#);
    let headers = headers.split_whitespace().collect::<Vec<_>>();
    let headers = headers.iter().map(header).collect::<Vec<_>>().join(",");
    let posted = if sent.is_empty() { String::new() } else { format!(r#","postData":{{"text":{}}}"#, quoted(sent)) };
    format!(
        r#"{{"startedDateTime":"2026-11-22T09:00:00Z","time":10,"request":{{"method":"{method}","url":"http://h/mcp","headers":[{headers}]{posted}}},"response":{{"status":{status},"statusText":"","content":{{"text":{}}}}}}}"#,
        quoted(received)
    )
}

#[test]
fn negotiation_over_http_is_not_a_failure() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let (session, version) = ("Mcp-Session-Id", "MCP-Protocol-Version");
    let lost = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Session not found"}}"#;
    for (entry, failures) in [
        (entry_of("GET", version, "", 405, "no"), 0),
        (entry_of("DELETE", session, "", 405, "no"), 0),
        (entry_of("POST", version, ping, 405, "no"), 1),
        (entry_of("POST", "", ping, 401, r#"{"error":"invalid_token"}"#), 0),
        (entry_of("POST", "Authorization", ping, 401, ""), 1),
        (entry_of("POST", session, ping, 404, lost), 0),
        (entry_of("POST", session, ping, 404, ""), 0),
        (entry_of("POST", "", ping, 404, lost), 1),
        (entry_of("POST", "", ping, 400, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"x"}}"#), 1),
        (entry_of("GET", "", "", 404, "no favicon"), 0),
        (entry_of("POST", "", r#"{"jsonrpc":"2.0","method":"x"}"#, 202, ""), 0),
    ] {
        let fine = entry_of("POST", "", &ping.replace(":1", ":9"), 200, r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
        let log = har(&[&entry, &fine]);
        assert_eq!(errors(&log).len(), failures, "{entry}: {:?}", errors(&log));
        assert!(rows("unanswered", &log, &["message"]).is_empty(), "{entry}");
    }
}

/// As the Inspector exports its requests over HTTP.
#[test]
fn an_exchange_of_the_inspector_that_failed_answers_its_request() {
    let call = |id: u32| {
        let call = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"a"}}}}"#);
        serde_json::to_string(&call).expect("a string")
    };
    let entry = |id: u32, answer: &str| {
        format!(
            r#"{{"id":"x","timestamp":"2026-11-22T09:00:00Z","method":"POST","url":"http://h/mcp","requestHeaders":{{"mcp-session-id":"s"}},"requestBody":{},{answer}}}"#,
            call(id)
        )
    };
    let log = format!(
        "[{},\n{},\n{}]",
        entry(1, r#""responseStatus":502,"responseStatusText":"Bad Gateway","responseBody":"<html>","duration":4"#),
        entry(2, r#""error":"fetch failed""#),
        entry(3, r#""responseStatus":200,"responseBody":"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}""#)
    );
    assert_eq!(
        rows("errors", &log, &["message", "request", "code", "failure", "error"]),
        ["m2 m1 502 http Bad Gateway", "m4 m3 - http fetch failed"]
    );
    assert!(rows("unanswered", &log, &["message"]).is_empty());
}

/// Requests and responses are packets of their own.
#[test]
fn a_status_in_packets_answers_its_request() {
    let packet = |stream: u32, http: &str| {
        format!(r#"{{"_source":{{"layers":{{"tcp":{{"tcp.stream":"{stream}"}},"http":{{{http}}}}}}}}}"#)
    };
    let request = |stream: u32, id: u32| {
        let body = format!(r#"{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}"#);
        let line = r#""POST /mcp HTTP/1.1\\r\\n":{"http.request.method":"POST"},"http.request":"1""#;
        packet(stream, &format!(r#"{line},"http.request.full_uri":"http://h/mcp","http.file_data":"{body}""#))
    };
    let response = |stream: u32, status: u32, body: &str| {
        let line = format!(r#""HTTP/1.1 {status}\\r\\n":{{"http.response.code":"{status}"}},"http.response":"1""#);
        packet(stream, &format!(r#"{line},"http.file_data":"{body}""#))
    };
    let answer = r#"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"#;
    let log = [request(0, 1), request(1, 1), response(1, 503, "busy"), response(0, 200, answer)];
    let log = format!("[{}]", log.join(",\n"));
    assert_eq!(errors(&log), ["m3 m2 503 http"]);
    assert!(rows("unanswered", &log, &["message"]).is_empty());
}

#[test]
fn a_batch_in_an_exchange_that_failed_is_answered_whole() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"b"}]"#;
    let log = har(&[&entry_of("POST", "", batch, 503, "")]);
    assert!(rows("unanswered", &log, &["message"]).is_empty());
    let mut rows = errors(&log);
    rows.sort();
    assert_eq!(rows, ["m2 m1.1 503 http", "m2 m1.2 503 http"]);
}

#[test]
fn cancellations_and_negotiations_are_not_failures() {
    let versions = r#","data":{"supported":["2025-11-25"],"requested":"1"}"#;
    for (method, code, data, failures) in [
        ("textDocument/hover", -32800, "", 0),
        ("textDocument/hover", -32801, "", 0),
        ("rust-analyzer/x", -32802, "", 0),
        ("tools/call", -32801, "", 1),
        ("textDocument/hover", -32803, "", 1),
        ("initialize", -32602, versions, 0),
        ("initialize", -32602, "", 1),
        ("tools/call", -32022, "", 0),
        ("tools/call", -32042, "", 0),
        ("eth_call", -32042, "", 1),
    ] {
        let log = exchanges(&[request(1, method, "{}"), error(1, code, data)]);
        assert_eq!(errors(&log).len(), failures, "{method} {code}");
    }
}

#[test]
fn a_comparison_counts_the_same_failures() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let fine = entry_of("POST", "", ping, 200, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let gone = |status: i32| entry_of("POST", "Authorization", ping, status, "");
    let log = har(&[&fine, &gone(503), &gone(503).replace("//h/", "//other/")]);
    let outcomes = rows("compare", &log, &["part", "what", "a", "b"]);
    let outcomes: Vec<_> = outcomes.into_iter().filter(|row| row.starts_with("outcomes")).collect();
    assert_eq!(rows("errors", &log, &["message"]).len(), 2);
    assert!(outcomes.is_empty(), "{outcomes:?}");
    let log = har(&[&fine, &gone(503), &fine.replace("//h/", "//other/")]);
    let outcomes = rows("compare", &log, &["part", "what", "a", "b"]);
    assert!(outcomes.contains(&"outcomes ping: HTTP 503 1 0".to_owned()), "{outcomes:?}");
}

#[test]
fn a_failed_task_is_one_failure() {
    let task = |status: &str| format!(r#"{{"taskId":"t","status":"{status}"}}"#);
    let begin = [
        request(1, "tools/call", r#"{"name":"a","task":{}}"#),
        result(1, r#"{"task":{"taskId":"t","status":"working"}}"#),
    ];
    let told = format!(r#"<{{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{}}}"#, task("failed"));
    let get = |id: u32, status: &str| [request(id, "tasks/get", r#"{"taskId":"t"}"#), result(id, &task(status))];
    let outcome = [request(9, "tasks/result", r#"{"taskId":"t"}"#), result(9, r#"{"content":[],"isError":true}"#)];
    let all = |parts: &[&[String]]| exchanges(&parts.concat());
    assert_eq!(errors(&all(&[&begin, &get(2, "working"), &get(3, "failed"), &get(4, "failed")])), ["m6 m1 - tool"]);
    assert_eq!(errors(&all(&[&begin, std::slice::from_ref(&told), &get(2, "failed"), &outcome])), ["m3 m1 - tool"]);
    assert_eq!(errors(&all(&[&begin, &outcome, &get(2, "failed"), std::slice::from_ref(&told)])), ["m4 m1 - tool"]);
    let failed = all(&[&begin, std::slice::from_ref(&told)]);
    assert_eq!(rows("errors", &failed, &["method", "id"]), ["tools/call 1"]);
    let waits = all(&[&begin, &outcome[..1], &get(2, "working")]);
    assert_eq!(rows("unanswered", &waits, &["message", "state"]), ["m3 waiting"]);
}

#[test]
fn cancelled_unanswered_and_open_are_kept_apart() {
    let cancel =
        |method: &str, member: &str| format!(r#">{{"jsonrpc":"2.0","method":"{method}","params":{{"{member}":1}}}}"#);
    let state = |lines: &[String]| rows("unanswered", &exchanges(lines), &["message", "state"]);
    let (first, second) = (request(1, "tools/call", r#"{"name":"a"}"#), request(2, "tools/call", r#"{"name":"b"}"#));
    let answer = result(2, "{}");
    let cancelled = cancel("notifications/cancelled", "requestId");
    assert_eq!(state(&[first.clone(), cancelled, second.clone(), answer.clone()]), ["m1 cancelled"]);
    assert_eq!(state(&[first.clone(), second.clone(), answer.clone()]), ["m1 unanswered"]);
    assert_eq!(state(&[second.clone(), answer.clone(), first.clone()]), ["m3 open"]);
    assert_eq!(state(&[first.clone(), request(1, "initialize", "{}")]), ["m1 unanswered", "m2 open"]);
    assert_eq!(state(&[request(1, "subscriptions/listen", "{}"), second.clone(), answer.clone()]), ["m1 waiting"]);
    // In LSP, a cancelled request needs its answer all the same.
    let hover = |id| request(id, "textDocument/hover", "{}");
    assert_eq!(state(&[hover(1), cancel("$/cancelRequest", "id"), hover(2), result(2, "null")]), ["m1 unanswered"]);
    // The client answers nothing of its own.
    let asked = r#"<{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}"#.to_owned();
    assert_eq!(state(&[asked, second, answer]), ["m1 open"]);
    let parts = rows("overview", &exchanges(&[first]), &["part", "what", "count"]);
    assert!(parts.contains(&"open tools/call a 1".to_owned()), "{parts:#?}");
}

#[test]
fn the_overview_groups_failures_and_says_how_many_kinds_there_are_more() {
    let lines = (1..=7).flat_map(|code| {
        let id = u32::try_from(code).expect("small");
        [request(id, "x", "{}"), error(id, code, "").replace("\"x\"", &format!("\"{code} at {code}\""))]
    });
    let parts = rows("overview", &exchanges(&lines.collect::<Vec<_>>()), &["part", "what", "count"]);
    let failures: Vec<_> = parts.iter().filter(|part| part.starts_with("failures ")).collect();
    assert_eq!(failures.len(), 6, "{failures:?}");
    assert_eq!(failures[5], "failures further kinds: see errors 2");
}

#[test]
fn the_overview_tells_mixed_clocks_apart() {
    let log = "2026-11-22T09:00:00Z -> {\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n2026-11-22T09:00:01 -> {\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n";
    let parts = rows("overview", log, &["part", "what", "count"]);
    let times: BTreeSet<_> = parts.iter().filter_map(|part| part.strip_prefix("time ")).collect();
    assert_eq!(times.len(), 2, "{times:?}");
    assert!(times.iter().any(|time| time.contains("without a time zone")), "{times:?}");
}

#[test]
fn tables_of_http_failures_have_the_same_answers() {
    let place = crate::cli::Place::with("http.har", HTTP);
    place.run(&["convert", "http.har", "-t", "parquet", "-o", "tables", "--quiet"]).printed_nothing();
    for question in ["errors", "unanswered", "timeline", "tool-failures"] {
        let asked = |log: &str| place.run(&[question, log, "-t", "csv", "--quiet"]).text().to_owned();
        assert_eq!(asked("tables"), asked("http.har"), "{question}");
    }
}
