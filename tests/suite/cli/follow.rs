//! Logs that grow: each row and each triple is there soon after its line, and Ctrl-C ends what follows them.
#![cfg(unix)]

use std::fs::File;
use std::io::Write as _;
use std::time::{Duration, Instant};

use super::streaming::Live;
use super::{LOG, Place, REQUEST, RESPONSE};

fn append(place: &Place, text: &str) {
    File::options().append(true).open(place.path("log")).unwrap().write_all(text.as_bytes()).unwrap();
}

const FAILED: &str = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no luck"}}"#;

#[test]
fn rows_come_with_their_lines() {
    let place = Place::with("log", LOG);
    let mut live =
        Live::run(&place, &["errors", "log", "--follow", "-t", "jsonl", "--columns", "message,method,error"]);
    let first = r##""method":"no","error":"Method not found"}"##;
    assert!(live.shows(first), "{}", live.text());
    // In pieces, with what was asked long before.
    append(&place, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"late\"}\n");
    let (start, end) = FAILED.split_at(30);
    append(&place, start);
    std::thread::sleep(Duration::from_millis(300));
    assert!(!live.text().contains("luck"), "{}", live.text());
    append(&place, &format!("{end}\n"));
    assert!(live.shows(r##""method":"late","error":"no luck"}"##), "{}", live.text());
    // Another file takes its place, and is cut off.
    append(&place, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"across\"}\n");
    std::fs::rename(place.path("log"), place.path("log.1")).unwrap();
    place.put("log", format!("{FAILED}\n"));
    assert!(live.shows(r##"#m9","method":"across","##), "{}", live.text());
    place.put("log", "");
    std::thread::sleep(Duration::from_millis(500));
    append(&place, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"on\"}\n");
    append(&place, &format!("{FAILED}\n"));
    assert!(live.shows(r##"#m11","method":"on","##), "{}", live.text());
    let (text, said) = live.interrupted();
    assert_eq!(text.lines().count(), 4);
    let notes = "note: log is another file now, which goes on with it\n\
                 note: log was cut off or written anew, and is read from its beginning\n4 rows\n";
    assert_eq!(said, notes);
}

/// Rows of a growing log are the rows of the complete log.
#[test]
fn rows_are_those_of_the_whole_log() {
    let whole = std::fs::read_to_string(crate::support::own("tests/queries/mcp.jsonl")).unwrap();
    let place = Place::with("log", &whole);
    for options in [
        &["timeline"][..],
        &["errors"],
        &["errors", "--server", "weather", "--client", "*"],
        &["timeline", "--method", "tools/*", "--kind", "response"],
        &["timeline", "--tool", "forecast"],
    ] {
        let rows = |text: &str| -> Vec<String> {
            let mut rows: Vec<_> = text.lines().map(str::to_owned).collect();
            // The sessions take turns there.
            rows.sort();
            rows
        };
        let all = place.run(&[options, &["log", "-t", "csv", "--quiet", "--base", super::BASE]].concat());
        let mut live =
            Live::run(&place, &[options, &["--follow", "-t", "csv", "--quiet", "--base", super::BASE]].concat());
        for line in whole.lines() {
            live.write(&format!("{line}\n"));
            std::thread::sleep(Duration::from_millis(3));
        }
        assert_eq!(rows(&live.end()), rows(all.quietly().text()), "{options:?}");
    }
}

/// A call is printed once it has waited long enough, also if no line comes.
#[test]
fn calls_that_wait() {
    let place = Place::with("log", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"slow\"}\n");
    let options =
        ["unanswered", "log", "--follow", "--after", "700ms", "-t", "csv", "--columns", "message,method,state"];
    let mut live = Live::run(&place, &options);
    append(&place, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"fast\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":1}\n");
    assert!(live.shows("#m1,slow,open"), "{}", live.text());
    append(&place, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"last\"}\n");
    assert!(live.shows("#m5,last,open"), "{}", live.text());
    let (text, said) = live.interrupted();
    assert!(!text.contains("fast") && said == "2 rows\n", "{text} {said}");
    // By the times of the log, and of a whole log.
    let message = |second: u32, id: u32, rest: &str| {
        format!(
            "{{\"time\":\"2026-01-05T10:00:{second:02}Z\",\"message\":{{\"jsonrpc\":\"2.0\",\"id\":{id},{rest}}}}}\n"
        )
    };
    let (call, answer) = ("\"method\":\"m\"", "\"result\":1");
    let log =
        [message(0, 1, call), message(1, 2, call), message(9, 3, call), message(9, 3, answer), message(9, 2, answer)];
    place.put("log", log.concat());
    let ran = place.run(&["unanswered", "log", "--after", "5s", "-t", "csv", "--columns", "message,waited", "--quiet"]);
    assert!(ran.text().contains("#m1,9"), "{}", ran.text());
    let ran = place.run(&["unanswered", "log", "--after", "10s", "-t", "csv", "--columns", "message", "--quiet"]);
    assert_eq!(ran.text(), "message\r\n");
    let mut live = Live::run(&place, &options);
    assert!(live.shows("#m1,m,open") && live.shows("#m2,m,open"), "{}", live.text());
    live.interrupted();
    // With its server and its tool, as without --follow.
    let hello =
        r#""method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"c","version":"1"}}"#;
    let server = r#""result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":"1"}}"#;
    let tool = r#""method":"tools/call","params":{"name":"t"}"#;
    place.put("log", [message(0, 1, hello), message(0, 1, server), message(1, 2, tool)].concat());
    let columns = ["unanswered", "log", "-t", "csv", "--columns", "client,server,tool", "--after", "0.1s"];
    let mut live = Live::run(&place, &[&columns[..], &["--follow"]].concat());
    assert!(live.shows("c,s,t"), "{}", live.text());
    live.interrupted();
    let ran = place.run(&["errors", "log", "--after", "5s"]);
    ran.said(2, "error: --after is about calls without an answer: rpcgraph unanswered LOG --after 30s\n");
    let ran = place.run(&["unanswered", "log", "--follow"]);
    let refused = "error: --follow is for timeline, errors, and unanswered --after: another answer would change as the log grows\n";
    ran.said(2, refused);
}

#[test]
fn triples_come_with_their_lines() {
    let place = Place::with("log", format!("{REQUEST}\n"));
    for syntax in ["ntriples", "nquads", "jsonld-lines", "turtle"] {
        place.put("log", format!("{REQUEST}\n"));
        let mut live = Live::run(&place, &["convert", "log", "--follow", "-t", syntax, "--quiet"]);
        assert!(live.shows("#m1"), "{syntax}: {}", live.text());
        append(&place, &format!("{RESPONSE}\n"));
        assert!(live.shows("respondsTo"), "{syntax}: {}", live.text());
        let (text, said) = live.interrupted();
        assert!(text.contains("recordCount") && said.is_empty(), "{syntax}: {text} {said}");
    }
}

/// Each value stands below the name of its column, whatever is empty or as in the row before.
#[test]
fn people_see_columns() {
    let mut place = Place::with("log", std::fs::read(crate::support::own("tests/queries/mcp.jsonl")).unwrap());
    for columns in ["80", "200"] {
        place.environment = vec![("COLUMNS".to_owned(), columns.to_owned())];
        let mut live = Live::run(&place, &["timeline", "log", "--follow", "--quiet", "--relative"]);
        assert!(live.shows("m15"), "{}", live.text());
        let (text, _) = live.interrupted();
        let lines: Vec<Vec<char>> = text.lines().map(|line| line.chars().collect()).collect();
        let head: String = lines[0].iter().collect();
        assert!(head.starts_with("message  "), "{text}");
        assert!(lines.iter().all(|line| line.len() <= columns.parse().unwrap()), "{text}");
        let cell = |row: &str, column: &str| -> String {
            let line = lines.iter().find(|line| line.starts_with(&format!("{row} ").chars().collect::<Vec<_>>()));
            let start = head.find(column).unwrap();
            line.unwrap().iter().skip(start).collect::<String>().split("  ").next().unwrap().to_owned()
        };
        assert_eq!(cell("m15", "kind"), "ErrorResponse", "{text}");
        assert_eq!(cell("m15", "error"), "Invalid params", "{text}");
        assert_eq!(cell("m14", "kind"), "Request", "{text}");
        assert_eq!(cell("m14", "error"), "", "{text}");
    }
}

#[test]
fn a_missing_log_has_no_columns() {
    let missing = Place::new().run(&["errors", "missing.ndjson", "--follow"]);
    assert_eq!(String::from_utf8(missing.stdout).unwrap(), "");
    assert_eq!(missing.status, Some(2));
}

/// A reader that leaves ends it, also where nothing more comes.
#[test]
fn a_reader_may_leave_what_is_followed() {
    let place = Place::with("log", LOG);
    let mut live = Live::run(&place, &["timeline", "log", "--follow", "-t", "csv", "--limit", "2"]);
    assert!(live.shows("#m2,"), "{}", live.text());
    let asked = Instant::now();
    while live.child.try_wait().unwrap().is_none() {
        assert!(asked.elapsed() < Duration::from_secs(60), "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
}
