//! Logs of several sessions, told apart by who wrote each line, and logs of one session by several writers.

use std::io::{self, Read};

use rpcgraph::Log;
use rpcgraph::log::LoggedMessage;
use rpcgraph::record::{Entry, Reader, ReaderOptions};

use crate::cli::Place;
use crate::renderings::{Pause, Pieces, string};

/// A line of a log: who wrote it, in which second, which way the message went, and the message.
type Line = (&'static str, usize, &'static str, &'static str);

const CALL_1: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;
const ANSWER_1: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const CALL_2: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"y"}}"#;
const ANSWER_2: &str = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no"}}"#;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;

/// Exchanges of three writers, of which none is answered in the order of the calls.
const THREE: [Line; 10] = [
    ("a", 0, "recv", CALL_1),
    ("b", 1, "recv", CALL_1),
    ("c", 1, "recv", CALL_1),
    ("a", 2, "send", ANSWER_1),
    ("a", 3, "recv", CALL_2),
    ("c", 4, "send", ANSWER_1),
    ("b", 5, "recv", CALL_2),
    ("b", 6, "send", ANSWER_2),
    ("b", 7, "send", ANSWER_1),
    ("a", 8, "send", ANSWER_2),
];

/// The writer and the answered record of each record.
const TOLD: [(&str, Option<u64>); 10] = [
    ("a", None),
    ("b", None),
    ("c", None),
    ("a", Some(1)),
    ("a", None),
    ("c", Some(3)),
    ("b", None),
    ("b", Some(7)),
    ("b", Some(2)),
    ("a", Some(5)),
];

fn log(lines: &[Line], line: impl Fn(Line) -> String) -> String {
    lines.iter().map(|one| line(*one) + "\n").collect()
}

fn messages_by(log: &str, options: &ReaderOptions) -> Vec<LoggedMessage> {
    let log = Log::read("log", io::Cursor::new(log.as_bytes().to_vec()));
    log.with_options(options.clone()).messages().map(Result::unwrap).collect()
}

fn messages(log: &str) -> Vec<LoggedMessage> {
    messages_by(log, &ReaderOptions::default())
}

/// The session of each message, by the letter of its writer, and the record that it answers.
#[track_caller]
fn assert_apart(log: &str, expected: &[(&str, Option<u64>)]) {
    let found = messages(log);
    let mut keys: Vec<Option<String>> = Vec::new();
    let mut names = Vec::new();
    for (message, (name, answers)) in found.iter().zip(expected) {
        match keys.iter().position(|key| *key == message.session) {
            Some(known) => assert_eq!(&names[known], name, "{log}\n{}", message.name),
            None => {
                assert!(!names.contains(name), "{log}\n{}: {:?}", message.name, message.session);
                assert!(message.session.is_some() || keys.is_empty(), "only the first writer may have no key\n{log}");
                keys.push(message.session.clone());
                names.push(*name);
            }
        }
        assert_eq!(message.responds_to.map(|request| request.record), *answers, "{log}\n{}", message.name);
    }
    assert_eq!(found.len(), expected.len(), "{log}");
    let whole = entries(log.as_bytes());
    for size in [1, 61] {
        assert_eq!(entries(Pieces(log.as_bytes(), size)), whole, "in pieces of {size}: {log}");
    }
}

fn entries(log: impl Read + Send) -> Vec<Entry<'static>> {
    let mut reader = Reader::new(log, &ReaderOptions::default()).unwrap();
    std::iter::from_fn(|| reader.next_entry().unwrap()).collect()
}

/// Wrappers that name the writer of a line.
type Wrapper = (&'static str, fn(&str, usize, &str) -> String);
const WRAPPERS: [Wrapper; 10] = [
    ("kubectl", |who, _, text| format!("[pod/mcp-{who}-7d9/mcp] {text}")),
    ("compose", |who, _, text| format!("mcp-{who}-1  | {text}")),
    ("journald, short", |who, n, text| format!("Jan 05 10:00:{n:02} host mcp{who}[812]: {text}")),
    ("journald, one unit again and again", |who, n, text| {
        format!("2026-01-05T10:00:{n:02}+0000 host mcpd[81{}]: {text}", who.as_bytes()[0])
    }),
    ("journald, JSON", |who, n, text| {
        format!(
            r#"{{"__REALTIME_TIMESTAMP":"17676072{n:02}123456","_PID":"7","_SYSTEMD_UNIT":"mcp-{who}.service","MESSAGE":{}}}"#,
            string(text)
        )
    }),
    ("RFC 3164", |who, n, text| format!("<14>Jan  5 10:00:{n:02} host mcpd[{}]: {text}", who.as_bytes()[0])),
    ("RFC 5424", |who, n, text| format!("<14>1 2026-01-05T10:00:{n:02}Z host mcpd 7{} - - {text}", who.as_bytes()[0])),
    ("hosts", |who, n, text| format!("<14>1 2026-01-05T10:00:{n:02}Z host-{who} mcpd 1 - - {text}")),
    ("a collector of pods", |who, n, text| {
        format!(
            r#"{{"log":{},"stream":"stdout","time":"2026-01-05T10:00:{n:02}Z","kubernetes":{{"pod_name":"mcp-{who}","container_name":"mcp"}}}}"#,
            string(&format!("{text}\n"))
        )
    }),
    ("tail", |who, _, text| format!("==> mcp-{who}.log <==\n{text}")),
];

#[test]
fn wrappers_tell_writers_apart() {
    for (name, wrap) in WRAPPERS {
        let bare = log(&THREE, |(who, n, _, message)| wrap(who, n, message));
        assert_apart(&bare, &TOLD);
        let logged =
            log(&THREE, |(who, n, way, message)| wrap(who, n, &format!("2026-01-05T10:00:0{n}Z {way} {message}")));
        assert_apart(&logged, &TOLD);
        // A writer has the same messages with and without the others.
        let (both, alone) = (
            messages(&logged),
            messages(&log(&THREE, |(_, n, way, message)| format!("2026-01-05T10:00:0{n}Z {way} {message}"))),
        );
        let texts = |messages: &[LoggedMessage]| messages.iter().map(|one| one.text.clone()).collect::<Vec<_>>();
        assert_eq!(texts(&both), texts(&alone), "{name}");
    }
}

/// The graph is the same for any number of threads, and each writer's session is a graph of its own.
#[test]
fn sessions_and_threads() {
    let place = Place::with("log", log(&THREE, |(who, _, _, m)| format!("mcp-{who}  | {m}")).repeat(3_000));
    let convert = |jobs| place.convert(&["log", "-t", "nquads", "--quiet", "--jobs", jobs]).stdout;
    let graph = convert("1");
    assert!(graph == convert("3"));
    let text = String::from_utf8(graph).unwrap();
    assert!(
        ["log#session-mcp-a", "log#session-mcp-b", "log#session-mcp-c"]
            .iter()
            .all(|key| text.contains(&format!("{key}> .")))
    );
    assert_eq!(text.matches("#recordCount>").count(), 3);
}

/// Messages over several lines, of which each line is followed by one of another writer.
#[test]
fn interleaved_messages_are_put_together() {
    const PRETTY: [&str; 2] = [
        "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"method\": \"tools/call\"\n}",
        "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"result\": {}\n}",
    ];
    for (_, wrap) in WRAPPERS {
        let mut lines = Vec::new();
        for message in PRETTY {
            for (n, line) in message.lines().enumerate() {
                lines.extend(["a", "b"].map(|who| wrap(who, n, line)));
            }
        }
        let log = lines.join("\n") + "\n";
        assert_apart(&log, &[("a", None), ("b", None), ("a", Some(1)), ("b", Some(2))]);
    }
}

/// A log with few bytes between thousands of writers keeps little of each.
#[test]
fn many_writers() {
    let lines = (0..1000).map(|who| format!("mcp-{who:04}  | {CALL_1}\nmcp-{who:04}  | {ANSWER_1}\n"));
    let found = messages(&lines.collect::<String>());
    assert!(found.iter().skip(1).step_by(2).all(|answer| answer.responds_to.is_some()));
    assert_eq!((found.len(), found[1999].session.as_deref()), (2000, Some("mcp-0999")));
}

/// Writes a line of a logger with a name, in text and in JSON: name, number, direction, message.
type Logger = fn(&str, usize, &str, &str) -> String;
const LOGGERS: [Logger; 6] = [
    |who, n, way, m| {
        format!("2026-11-22 09:00:0{n},000 DEBUG [mcp.{who}] {} {m}", if way == "recv" { ">>" } else { "<<" })
    },
    |who, n, way, m| format!("2026-11-22 09:00:0{n},000 - client-{who} - DEBUG - {way}: {m}"),
    |who, _, way, m| format!("DEBUG:mcp.{who}:{way} {m}"),
    |who, n, way, m| format!("2026-11-22T09:00:0{n}.000Z DEBUG mcp::{who}: {way}: {m}"),
    |who, n, way, m| format!(r#"{{"time":"2026-11-22T09:00:0{n}Z","logger":"mcp.{who}","msg":"{way}","payload":{m}}}"#),
    |who, n, way, m| format!(r#"{{"time":"2026-11-22T09:00:0{n}Z","service":"mcp-{who}","dir":"{way}","rpc":{m}}}"#),
];

#[test]
fn loggers_tell_sessions_apart() {
    for line in LOGGERS {
        assert_apart(&log(&THREE, |(who, n, way, message)| line(who, n, way, message)), &TOLD);
    }
}

/// The loggers of a client and of a server, or of calls and of answers, are sides of one session.
#[test]
fn loggers_of_one_session() {
    let sides = [
        ("client", 0, "send", CALL_1),
        ("server", 1, "recv", ANSWER_1),
        ("client", 2, "send", CALL_2),
        ("server", 3, "recv", ANSWER_2),
    ];
    let told = [("", None), ("", Some(1)), ("", None), ("", Some(3))];
    for line in LOGGERS {
        assert_apart(&log(&sides, |(who, n, way, message)| line(who, n, way, message)), &told);
        let overlapping = [sides[0], sides[2], sides[3], sides[1]];
        let told = [("", None), ("", None), ("", Some(2)), ("", Some(1))];
        assert_apart(&log(&overlapping, |(who, n, way, message)| line(who, n, way, message)), &told);
    }
    // A session that uses its ids again, after it ended: a word of each line is another one.
    let again = [sides[0], sides[1], ("", 2, "send", CALL_1), ("", 3, "recv", ANSWER_1)];
    let again = log(&again, |(_, n, way, m)| format!("DEBUG call{} {way}: {m}", n / 2));
    let told = [("", None), ("", Some(1)), ("", None), ("", Some(3))];
    assert_apart(&again, &told);
}

/// A log whose lines have one logger is not held back.
#[test]
fn one_logger_streams() {
    let line = |way, m| (LOGGERS[4])("a", 1, way, m) + "\n";
    let log = line("recv", CALL_1) + &line("send", ANSWER_1);
    let mut reader = Reader::new(Pieces(log.as_bytes(), 1).chain(Pause::default()), &ReaderOptions::default()).unwrap();
    assert!((0..2).all(|_| reader.next_entry().unwrap().is_some()));
}

#[test]
fn a_writer_that_restarts() {
    let lines = [
        ("1", 0, "", INITIALIZE),
        ("1", 1, "", INITIALIZED),
        ("1", 2, "", CALL_1),
        ("2", 3, "", INITIALIZE),
        ("2", 4, "", INITIALIZED),
        ("2", 5, "", CALL_1),
        ("2", 6, "", ANSWER_1),
    ];
    let told = [("1", None), ("1", Some(1)), ("1", None), ("2", None), ("2", Some(4)), ("2", None), ("2", Some(6))];
    assert_apart(&log(&lines, |(pid, n, _, m)| format!("Jan 05 10:00:{n:02} host mcpd[81{pid}]: {m}")), &told);
    assert_apart(&log(&lines, |(_, _, _, m)| m.to_owned()), &told);
    assert_apart(&log(&lines, |(_, n, _, m)| format!("2026-01-05T10:00:0{n}Z rpc: {m}")), &told);
    assert_apart(&log(&lines, |(_, _, _, m)| format!("api-1  | {m}")), &told);
    let keys: Vec<_> = messages(&log(&lines, |(_, _, _, m)| m.to_owned())).into_iter().map(|one| one.session).collect();
    assert_eq!(keys[3].as_deref(), Some("2"));
    // A late answer belongs to what was asked before.
    let late = [lines[0], lines[1], lines[2], lines[3], ("1", 4, "", ANSWER_1), lines[4]];
    let told = [("1", None), ("1", Some(1)), ("1", None), ("2", None), ("1", Some(3)), ("2", Some(4))];
    assert_apart(&log(&late, |(_, _, _, m)| m.to_owned()), &told);
    // A refused initialize does not begin a session.
    let refused = [INITIALIZE, r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"version"}}"#, INITIALIZE];
    assert!(messages(&refused.join("\n")).iter().all(|message| message.session.is_none()));
    // A proxy passes an initialize on.
    let passed = [(">", INITIALIZE), ("<", INITIALIZE), (">", INITIALIZED)].map(|(way, m)| format!("{way} {m}\n"));
    assert!(messages(&passed.concat()).iter().all(|message| message.session.is_none()));
}

/// A note says that sessions which nothing distinguishes look like several.
#[test]
fn ids_that_are_used_again_and_again() {
    let place = Place::with("log", log(&THREE, |(_, n, way, m)| format!("2026-01-05T10:00:0{n}Z {way}: {m}")));
    let ran = place.convert(&["log", "-t", "nquads"]);
    assert!(
        ran.stderr.contains("requests take an id that is still open") && ran.stderr.contains("--session-by"),
        "{}",
        ran.stderr
    );
    let place = Place::with("log", log(&THREE, |(who, _, _, m)| format!("api-{who}  | {m}")));
    let ran = place.convert(&["log", "-t", "nquads"]);
    assert!(!ran.stderr.contains("--session-by"), "{}", ran.stderr);
}
