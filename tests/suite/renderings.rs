//! One session, as programs really write it: inside JSON of a logger, behind a prefix. Each rendering gives the
//! graph of the plain session, but for times and senders that only one of them tells.

use std::io::{self, Read};

use oxrdf::Quad;
use rpcgraph::message::{Content, Single};
use rpcgraph::record::{Entry, Format, Reader, ReaderOptions, Sender};
use rpcgraph::vocab::{prov, rpcg};
use rpcgraph::{Log, LogError, Query};

use crate::support::{assert_isomorphic, convert};

/// Requests, answers, an error, notifications and batches; strings with escapes, and numbers that have to stay as they are.
pub const SESSION: [&str; 9] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"c"}}}"#,
    r#"{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"s \"quoted\" \\ {[","version":1.0}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"add","arguments":{"text":"line\n\tüber 😀","n":1e400}}}"#,
    r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"no such tool: \"add\"","data":[null,true]}}"#,
    r#"{"method":"notifications/progress","params":{"progressToken":1,"progress":0.50},"jsonrpc":"2.0"}"#,
    r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"x/y","params":[1,2]}]"#,
    r#"[{"jsonrpc":"2.0","id":2,"result":null},{"jsonrpc":"2.0","id":1,"result":{}}]"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"shutdown"}"#,
];

/// The text of a JSON string.
pub fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Renders a message, given its number.
pub type Rendering = (&'static str, fn(usize, &str) -> String);

/// Objects in lines of JSON.
pub const ENVELOPES: [Rendering; 14] = [
    ("pino", |n, m| {
        format!(r#"{{"level":20,"time":176760720{n}123,"pid":7,"hostname":"h","msg":"rpc","dir":"in","payload":{m}}}"#)
    }),
    ("winston", |n, m| {
        let text = string(m);
        format!(
            r#"{{"level":"debug","message":"rpc","timestamp":"2026-01-05T10:00:0{n}.000Z","direction":"outgoing","body":{text}}}"#
        )
    }),
    ("winston, the message itself", |_, m| format!(r#"{{"message":{m},"level":"debug"}}"#)),
    ("bunyan", |n, m| {
        format!(
            r#"{{"name":"mcp","hostname":"h","pid":7,"level":20,"rpc":{m},"msg":"","time":"2026-01-05T10:00:0{n}.123Z","v":0}}"#
        )
    }),
    ("zap", |n, m| {
        let text = string(m);
        format!(r#"{{"level":"debug","ts":176760720{n}.1234,"caller":"mcp/conn.go:12","msg":"read","data":{text}}}"#)
    }),
    ("slog", |n, m| {
        format!(
            r#"{{"time":"2026-01-05T10:00:0{n}.000+01:00","level":"DEBUG","msg":"rpc","thread":{{"id":1}},"rpc":{{"message":{m}}}}}"#
        )
    }),
    ("structlog", |_, m| format!(r#"{{"event": "received", "payload": {m}, "timestamp": "2026-01-05 10:00:00,123"}}"#)),
    ("tracing", |_, m| {
        let text = string(m);
        format!(
            r#"{{"timestamp":"2026-01-05T10:00:00.123456Z","level":"TRACE","fields":{{"message":"recv","payload":{text}}},"target":"t"}}"#
        )
    }),
    ("a record of OpenTelemetry", |_, m| {
        let text = string(m);
        format!(
            r#"{{"timeUnixNano":"1767607200123456789","body":{{"stringValue":{text}}},"attributes":[{{"key":"a","value":{{"intValue":"1"}}}}]}}"#
        )
    }),
    ("records of OpenTelemetry", |_, m| {
        let text = string(m);
        format!(
            r#"{{"resourceLogs":[{{"resource":{{}},"scopeLogs":[{{"scope":{{}},"logRecords":[{{"timeUnixNano":"1767607200123456789","body":{{"stringValue":{text}}}}}]}}]}}]}}"#
        )
    }),
    ("an object in a string", |_, m| format!(r#"{{"line":{}}}"#, string(&format!(r#"{{"rpc":{m}}}"#)))),
    ("a proxy", |_, m| format!(r#"{{"id":"x","method":"POST","status":200,"body":{}}}"#, string(&format!("{m}\n")))),
    ("with other lines between", |_, m| {
        format!(
            "{{\"rpc\":{m}}}\n{{\"level\":30,\"msg\":\"jsonrpc method\"}}\nstarted\n{{\"id\":1,\"error\":\"x\",\"level\":3}}"
        )
    }),
    ("plain messages between", |n, m| if n % 2 == 0 { format!("{{\"rpc\":{m}}}") } else { m.to_owned() }),
];

/// Messages behind a prefix.
pub const TEXTS: [Rendering; 17] = [
    ("Python's logging", |_, m| format!("2025-06-01 10:00:00,123 - mcp.server - DEBUG - Received message: {m}")),
    ("Python's logging, in short", |_, m| format!("DEBUG:mcp.client:Sending {m}")),
    ("tracing", |_, m| format!("2022-05-27T16:02:00.689826Z TRACE jsonrpsee_client_transport::ws: send: {m}")),
    ("tracing, with a field", |_, m| format!("2022-05-27T16:02:00.689826Z TRACE x::ws: recv={}", string(m))),
    ("rust-analyzer", |n, m| {
        format!("2024-09-24T23:10:33.316442Z DEBUG lsp_server::msg: {} {m}", if n % 2 == 0 { ">" } else { "<" })
    }),
    ("logfmt", |_, m| format!("time=2025-06-01T10:00:00.000Z level=DEBUG msg=rpc payload={} dir=out", string(m))),
    ("Go's log", |_, m| format!("2025/06/01 10:00:00.123456 conn.go:12: --> {m}")),
    ("glog", |_, m| format!("I0601 10:00:00.123456   77 conn.go:12] recv {m}")),
    ("syslog", |_, m| format!("<14>Jun  1 10:00:00 host mcpd[812]: [DEBUG] <-- {m}")),
    ("a clock", |_, m| format!("[10:00:00.123] << {m}")),
    ("eglot", |_, m| format!("[jsonrpc] e[07:25:31.379] --> x[1] {m}")),
    ("zap's console", |_, m| {
        format!("2026-01-05T10:00:00.123Z\tDEBUG\tmcp/conn.go:12\tread\t{{\"data\": {}}}", string(m))
    }),
    ("winston's simple format", |_, m| format!("debug: rpc {{\"payload\":{m},\"service\":\"s\"}}")),
    ("a prefix in JSON", |_, m| format!("{{\"level\":10,\"msg\":{}}}", string(&format!("recv: {m}")))),
    ("with other lines between", |_, m| format!("a: {m}\nINFO started {{x}} jsonrpc\n  at method (x.js:1)\n[1]")),
    ("tracing, in colours", |_, m| {
        let time = "\x1b[2m2022-05-27T16:02:00.689826Z\x1b[0m \x1b[34mDEBUG\x1b[0m \x1b[2mx::ws\x1b[0m\x1b[2m:\x1b[0m";
        format!("{time} recv \x1b[3mpayload\x1b[0m\x1b[2m=\x1b[0m{}\nplain\nlines", string(m))
    }),
    ("an arrow of the log's own", |_, m| format!("conn 1 → {m}")),
];

/// Messages that go on in the lines below their prefix.
const SPREAD: [Rendering; 6] = [
    ("a bracket at the end", |_, m| {
        format!("2025-06-01 10:00:00,123 - x - DEBUG - Received message: {}", spread(m, "  "))
    }),
    ("below the prefix", |_, m| format!("2025-06-01 10:00:00,123 - x - DEBUG - Sending:\n{}", spread(m, "\t"))),
    ("below an arrow", |n, m| {
        format!("2026-01-05T10:00:00Z {}\n{}", if n % 2 == 0 { "SEND ►" } else { "RECV ◀" }, spread(m, "  "))
    }),
    ("below a word", |_, m| format!("[10:00:00] Received\n{}", spread(m, "  "))),
    ("without indentation", |_, m| {
        format!("[10:00:00] recv: {}\nready: {{\n  x\n}}\n\nbanner:\nstarted", spread(m, ""))
    }),
    ("indented below", |_, m| format!("  payload:\n    {}", spread(m, "    ").replace('\n', "\n    "))),
];

/// A message over several lines.
fn spread(message: &str, indent: &str) -> String {
    let (open, rest) = message.split_at(1);
    let (members, close) = rest.split_at(rest.len() - 1);
    format!("{open}\n{indent}{members}\n{close}")
}

pub fn rendered((_, render): &Rendering, ending: &str) -> String {
    SESSION.iter().enumerate().map(|(number, message)| render(number, message) + ending).collect()
}

/// The graph without what only the rendering may tell.
pub fn without_clues(mut quads: Vec<Quad>) -> Vec<Quad> {
    let clues = [
        rpcg::CAPTURED_AT,
        rpcg::CLOCK_TIME,
        rpcg::SENT_BY,
        rpcg::LATENCY_SECONDS,
        prov::STARTED_AT_TIME,
        prov::ENDED_AT_TIME,
    ];
    quads.retain(|quad| !clues.contains(&quad.predicate.as_ref()));
    quads
}

/// Gives its bytes in pieces of a fixed size.
pub struct Pieces<'a>(pub &'a [u8], pub usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.1.min(buffer.len());
        self.0.read(&mut buffer[..size])
    }
}

pub fn entries(log: impl Read + Send) -> Vec<Entry<'static>> {
    let mut reader = Reader::new(log, &ReaderOptions::default()).unwrap();
    std::iter::from_fn(|| reader.next_entry().unwrap()).collect()
}

fn assert_renderings(renderings: &[Rendering]) {
    let plain = without_clues(convert(SESSION.join("\n").as_bytes()));
    for rendering in renderings {
        let name = rendering.0;
        for ending in ["\n", "\r\n"] {
            let log = rendered(rendering, ending);
            assert_isomorphic(&without_clues(convert(log.as_bytes())), &plain, name);
        }
        let log = rendered(rendering, "\n");
        let whole = entries(log.as_bytes());
        for (entry, place) in whole.iter().map(|entry| (entry, entry.location())) {
            let before = &log[..place.byte as usize];
            assert_eq!(place.line, 1 + before.matches('\n').count() as u64, "{name}");
            assert!(log.as_bytes()[before.len()..].starts_with(entry.bytes()) || before.ends_with('"'), "{name}");
        }
        for size in [1, 61] {
            assert_eq!(entries(Pieces(log.as_bytes(), size)), whole, "{name}, in pieces of {size}");
        }
        // One that is cut off loses the record that is cut and no other.
        for cut in (0..log.len()).filter(|&cut| log.is_char_boundary(cut)).step_by(7) {
            // The meaning of words depends on all messages.
            let found = entries(&log.as_bytes()[..cut]);
            // A message up to its cut stands beside its line.
            let is_cut_line = |entry: &&Entry<'_>| matches!(entry, Entry::LogLine(line) if line.is_copy);
            let lost = found.iter().rev().skip(1).take(1).filter(is_cut_line).count() + 1;
            let kept = found.len().saturating_sub(lost);
            let texts = |entries: &[Entry<'_>]| -> Vec<_> {
                let is_record = |entry: &Entry<'_>| matches!(entry, Entry::Record(_));
                let text = |entry: &Entry<'_>| (entry.location(), is_record(entry), entry.bytes().to_vec());
                entries[..kept].iter().map(text).collect()
            };
            assert_eq!(texts(&found), texts(&whole), "{name}, cut at {cut}");
        }
    }
}

#[test]
fn in_lines_of_json() {
    assert_renderings(&ENVELOPES);
}

#[test]
fn behind_a_prefix() {
    assert_renderings(&TEXTS);
}

#[test]
fn over_the_lines_below_a_prefix() {
    let plain = without_clues(convert(SESSION.join("\n").as_bytes()));
    for rendering in &SPREAD {
        let (name, log) = (rendering.0, rendered(rendering, "\n"));
        for log in [log.clone(), log.replace('\n', "\r\n")] {
            assert_isomorphic(&without_clues(convert(log.as_bytes())), &plain, name);
        }
        let whole = entries(log.as_bytes());
        for size in [1, 61] {
            assert_eq!(entries(Pieces(log.as_bytes(), size)), whole, "{name}, in pieces of {size}");
        }
        let clues = |entry: &Entry<'_>| match entry {
            Entry::Record(record) => {
                Some((record.time.is_some(), record.sender.is_some() || record.direction.is_some()))
            }
            Entry::LogLine(_) => None,
        };
        // A word that is the same for requests and answers does not state a direction.
        let expected = (name != "indented below", name == "below an arrow");
        assert!(whole.iter().filter_map(clues).all(|clues| clues == expected), "{name}");
        // A truncated message is a record as soon as it is recognisable.
        let last = log.trim_end().len() - if name == "without indentation" { 40 } else { 2 };
        let cut = entries(&log.as_bytes()[..last]);
        let records = |entries: &[Entry<'_>]| entries.iter().filter_map(clues).count();
        assert_eq!(records(&cut), records(&whole), "{name}");
    }
    // A message that ends early is text, line by line.
    let log = "x recv: {\n  \"jsonrpc\": \"2.0\",\n12:00 next\nx recv: {\n  \"jsonrpc\": \"2.0\"\n}\n";
    let texts: Vec<_> =
        entries(log.as_bytes()).iter().map(|entry| String::from_utf8_lossy(entry.bytes()).into_owned()).collect();
    assert_eq!(texts, ["x recv: {", "  \"jsonrpc\": \"2.0\",", "12:00 next", "{\n  \"jsonrpc\": \"2.0\"\n}"]);
    // Looking for ends is linear.
    for text in ["x: {\n", " {\n", "x:\n", " \"x\": [\n", "x: {\n}\n"] {
        entries(text.repeat(100_000).as_bytes());
    }
}

/// A log that was pasted as one paragraph, and a call that is logged with its answer.
#[test]
fn several_on_a_line() {
    let pasted = SESSION.map(|message| format!("2026-01-05T10:00:00Z [info] rpc: {message}")).join(" ");
    let plain = without_clues(convert(SESSION.join("\n").as_bytes()));
    assert_isomorphic(&without_clues(convert(pasted.as_bytes())), &plain, "pasted");
    let answer = string(r#"{"jsonrpc":"2.0","id":1,"result":2}"#);
    let call = string(r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#);
    let log =
        format!("TRACE[09-09|12:20:27.473] Served conn=127.0.0.1:5 method=a t=1.3ms request={call} response={answer}");
    let found = entries(log.as_bytes());
    let time = |entry: &Entry<'_>| match entry {
        Entry::Record(record) => record.time,
        Entry::LogLine(_) => None,
    };
    let latency = |entry: &Entry<'_>| match entry {
        Entry::Record(record) => record.latency.map(|seconds| seconds.to_string()),
        Entry::LogLine(_) => None,
    };
    assert_eq!(found.iter().map(latency).collect::<Vec<_>>(), [None, Some("0.0013".to_owned())]);
    let envelope = format!("{{\"request\":{call},\"latency_ms\":12,\"response\":{answer}}}");
    assert_eq!(latency(&entries(envelope.as_bytes())[1]).as_deref(), Some("0.012"));
    assert!(found.iter().all(|entry| time(entry).is_some() && time(entry) == time(&found[0])));
}

#[test]
fn times_and_senders_of_envelopes() {
    let log = concat!(
        r#"{"time":1767607200123,"dir":"client-to-server","rpc":{"jsonrpc":"2.0","id":1,"method":"a"}}"#,
        "\n",
        r#"{"at":1,"direction":"in","rpc":{"jsonrpc":"2.0","id":1,"result":1}}"#
    );
    let found: Vec<_> = entries(log.as_bytes())
        .into_iter()
        .map(|entry| match entry {
            Entry::Record(record) => (record.time.is_some(), record.sender),
            Entry::LogLine(line) => panic!("{line:?}"),
        })
        .collect();
    // The other side of an exchange with a client is the server.
    assert_eq!(found, [(true, Some(Sender::Client)), (false, Some(Sender::Server))]);
}

#[test]
fn request_and_response_in_one_line() {
    let log = concat!(
        r#"{"request":{"jsonrpc":"2.0","id":1,"method":"a"},"response":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":2}","ms":1}"#,
        "\n",
        r#"{"request":{"jsonrpc":"2.0","id":2,"method":"b"},"response":null}"#
    );
    let texts: Vec<_> = entries(log.as_bytes())
        .iter()
        .map(|entry| {
            (entry.location().record, entry.location().line, String::from_utf8_lossy(entry.bytes()).into_owned())
        })
        .collect();
    let expected = [
        (1, 1, r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#),
        (2, 1, r#"{"jsonrpc":"2.0","id":1,"result":2}"#),
        (3, 2, r#"{"jsonrpc":"2.0","id":2,"method":"b"}"#),
    ];
    assert_eq!(texts, expected.map(|(record, line, text)| (record, line, text.to_owned())));
}

/// The sessions of a log's records.
fn sessions(entries: &[Entry<'_>]) -> Vec<Option<String>> {
    let session = |entry: &Entry<'_>| match entry {
        Entry::Record(record) => Some(record.session.as_deref().map(str::to_owned)),
        Entry::LogLine(_) => None,
    };
    entries.iter().filter_map(session).collect()
}

/// A member such as `conn` around messages tells their session if no exchange crosses it.
#[test]
fn sessions_that_members_tell() {
    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#;
    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":1}"#;
    let line = |members: &str, message: &str| format!("{{{members},\"rpc\":{message}}}\n");
    let log =
        |lines: &[(&str, &str)]| lines.iter().map(|(members, message)| line(members, message)).collect::<String>();
    let (a, b) = (r#""conn":"a""#, r#""conn":2"#);
    let (on_a, on_2, none) = (Some("a"), Some("2"), None);
    let both = |member: &str| format!("{member},\"server\":\"s\"");
    let crossing = |member: &str, side: &str| format!("{member},\"session\":\"{side}\"");
    let table = [
        (log(&[(a, CALL), (b, CALL), (a, ANSWER), (b, ANSWER)]), vec![on_a, on_2, on_a, on_2]),
        // One that is not answered in its own session, an exchange that crosses, and no exchange but an id in use twice.
        (log(&[(a, CALL), (b, CALL), (a, ANSWER)]), vec![on_a, on_2, on_a]),
        (log(&[(a, CALL), (b, ANSWER), (b, CALL), (b, ANSWER)]), vec![none; 4]),
        (log(&[(a, CALL), (b, CALL)]), vec![on_a, on_2]),
        // An answer to what was before the log.
        (log(&[(a, CALL), (b, ANSWER), (a, ANSWER)]), vec![on_a, on_2, on_a]),
        // The most telling member that may be it.
        (log(&[(&both(a), CALL), (&both(a), ANSWER)]), vec![on_a; 2]),
        (log(&[(&crossing(a, "up"), CALL), (&crossing(a, "down"), ANSWER)]), vec![on_a; 2]),
        // Members that do not identify a session: a process, an object, nothing.
        (log(&[(r#""pid":1"#, CALL), (r#""pid":1"#, ANSWER)]), vec![none; 2]),
        (log(&[(r#""conn":{"port":1}"#, CALL), (r#""conn":{"port":1}"#, ANSWER)]), vec![none; 2]),
        (log(&[(r#""conn":{"id":"a"}"#, CALL), (r#""conn":{"id":"a"}"#, ANSWER)]), vec![on_a; 2]),
        (log(&[(r#""conn":"""#, CALL), (r#""conn":"""#, ANSWER)]), vec![none; 2]),
        // Without the member, and further out.
        (log(&[(a, CALL), (r#""x":1"#, CALL), (a, ANSWER)]), vec![on_a, none, on_a]),
        (log(&[(a, &format!("{{\"x\":{CALL}}}")), (a, &string(ANSWER))]), vec![on_a; 2]),
        (format!("{CALL}\n{}{ANSWER}\n", log(&[(b, CALL), (b, ANSWER)])), vec![none, on_2, on_2, none]),
    ];
    for (log, expected) in &table {
        let whole = entries(log.as_bytes());
        assert_eq!(sessions(&whole), expected.iter().map(|key| key.map(str::to_owned)).collect::<Vec<_>>(), "{log}");
        for size in [1, 61] {
            assert_eq!(entries(Pieces(log.as_bytes(), size)), whole, "in pieces of {size}: {log}");
        }
        for cut in 0..log.len() {
            // The end may come before what decides.
            let found = entries(&log.as_bytes()[..cut]);
            let kept = found.len().saturating_sub(1);
            let places = |entries: &[Entry<'_>]| entries[..kept].iter().map(Entry::location).collect::<Vec<_>>();
            assert_eq!(places(&found), places(&whole), "{log}");
        }
    }
    // A member of a line between messages is a member of its session.
    let text = format!("{}{{\"level\":30,{b}}}\n", table[0].0);
    assert!(matches!(&entries(text.as_bytes())[4], Entry::LogLine(line) if line.session.as_deref() == Some("2")));
}

/// The first exchanges decide: later ones are not examined, and do not matter.
#[test]
fn members_are_tried_on_the_first_exchanges() {
    let exchange = |call: &str, answer: &str| {
        let message =
            |key: &str, rest: &str| format!("{{\"session\":{key},\"rpc\":{{\"jsonrpc\":\"2.0\",\"id\":1,{rest}}}}}\n");
        message(call, r#""method":"a""#) + &message(answer, r#""result":1"#)
    };
    let (within, across) = (exchange("1", "1"), exchange("1", "2"));
    let is_used = |log: &str, size: usize| {
        let found = sessions(&entries(Pieces(log.as_bytes(), size)));
        assert!(found.windows(2).all(|pair| pair[0].is_some() == pair[1].is_some()));
        found[0].is_some()
    };
    let noise = "{\"level\":1}\n".repeat(6_000);
    for (log, expected) in [
        (within.repeat(8) + &across, false),
        (within.repeat(8), true),
        (within.repeat(7) + &across, false),
        (across.repeat(8) + &within, false),
        (within.clone() + &noise + &across, true),
        (across.clone() + &noise + &within, false),
        (within.lines().next().unwrap().to_owned() + "\n" + &noise + &within, false),
    ] {
        for size in [1, 4099, 1 << 20] {
            assert_eq!(is_used(&log, size), expected, "{}", &log[..200]);
        }
    }
    // A live log is not held back beyond them.
    let live = within.repeat(8);
    let mut reader =
        Reader::new(Pieces(live.as_bytes(), 1).chain(Pause::default()), &ReaderOptions::default()).unwrap();
    assert!((0..16).all(|_| reader.next_entry().unwrap().is_some()));
}

/// Nothing comes for a while, and nothing more may be read.
#[derive(Default)]
pub struct Pause(bool);

impl Read for Pause {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        assert!(!std::mem::replace(&mut self.0, true), "read too far");
        Err(io::ErrorKind::Interrupted.into())
    }
}

/// A message that is cut off with its envelope is a record all the same, so that there is a finding.
#[test]
fn truncated_envelopes_are_records() {
    let log =
        "{\"rpc\":{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}}\n{\"rpc\":{\"jsonrpc\":\"2.0\",\"id\":2,\"meth\n";
    let texts: Vec<_> =
        entries(log.as_bytes()).iter().map(|entry| String::from_utf8_lossy(entry.bytes()).into_owned()).collect();
    assert_eq!(texts, [r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#, "{\"jsonrpc\":\"2.0\",\"id\":2,\"meth"]);
}

/// Logs without JSON-RPC, however they look.
pub const OTHERS: [&str; 18] = [
    // A web server's.
    r#"{"time":"2026-01-05T10:00:00Z","method":"POST","path":"/mcp","status":200,"id":"a-1"}"#,
    r#"{"id":"a-1","level":"error","error":"no such method","result":null}"#,
    r#"{"level":"info","method":"tools/call","duration":3}"#,
    // Kubernetes' audit log.
    r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","auditID":"0a","verb":"create","requestURI":"/api","requestObject":{"kind":"Pod","metadata":{"name":"method"}},"responseStatus":{"code":201}}"#,
    // A webhook of GitHub's.
    r#"{"action":"opened","issue":{"id":1,"title":"result","body":"The method `ping`:\n```\n{\"jsonrpc\":\"2.0\",\"id\":1}\n```"},"sender":{"login":"client"}}"#,
    // Prose, source code, a page, a table, logs of packages and of a kernel.
    r#"A request such as `{"jsonrpc":"2.0","id":1,"method":"ping"}` names its method."#,
    r#"    let request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";"#,
    r#"    const request = {"jsonrpc": "2.0", "id": 1, "method": "ping"};"#,
    r#"    write('{"jsonrpc":"2.0","id":1,"method":"ping"}')"#,
    r#"    "request": {"jsonrpc": "2.0", "id": 1, "method": "ping"},"#,
    r#"<p class="x">{"jsonrpc":"2.0","id":1,"method":"ping"}</p>"#,
    r#"2026-01-05 10:00:00 status installed libjsonrpccpp:amd64 1.4 {"method": "x"}"#,
    r#"[    0.000000] jsonrpc: unknown method {"a":1}"#,
    r#"127.0.0.1 - - [05/Jan/2026:10:00:00 +0000] "POST /jsonrpc HTTP/1.1" 200 12 "-" "{}""#,
    r#"10:00:00 POST /mcp {"method":"tools/call","status":200,"id":1}"#,
    r#"{"event":"x","rpc":{"method":"tools/call","duration":3},"other":{"id":1,"result":2}}"#,
    // A possible message is not searched for inner messages.
    r#"{"method":"x","params":{"a":{"jsonrpc":"2.0","id":1,"method":"ping"}},"ms":1}"#,
    r#"{"id":1,"result":{"jsonrpc":"2.0","id":1,"method":"ping"},"ms":1}"#,
];

#[test]
fn other_logs_hold_no_messages() {
    for line in OTHERS {
        let log = format!("{line}\n").repeat(3);
        for entry in entries(log.as_bytes()) {
            // An object may look like a message itself; then no part of it is extracted.
            if entry.bytes() == line.as_bytes() {
                continue;
            }
            let is_record = matches!(entry, Entry::Record(_));
            let content = Content::parse(entry.bytes());
            assert!(
                !is_record || !matches!(content, Content::Single(Single::Message(_)) | Content::Batch(_)),
                "{line}"
            );
        }
        let query = Query::named("methods").unwrap();
        let asked = Log::read("log", io::Cursor::new(log.clone().into_bytes())).ask(&query);
        assert!(matches!(asked, Err(LogError::Unread { .. })), "{line}");
        assert_eq!(Format::detect(log.as_bytes()), Format::JsonLines, "{line}");
    }
}

/// Asked for json-lines, every line is a record as it is.
#[test]
fn a_stated_format_takes_all_lines() {
    let log = format!("{}\nrecv: {}\n{{\"rpc\":{}}}\ntext\n", OTHERS[0], SESSION[0], SESSION[1]);
    let options = ReaderOptions::default().with_format(Format::JsonLines);
    let mut reader = Reader::new(log.as_bytes(), &options).unwrap();
    let found = std::iter::from_fn(|| reader.next_entry().unwrap());
    let shown: Vec<_> =
        found.filter(|entry| matches!(entry, Entry::Record(_))).map(|entry| entry.bytes().to_vec()).collect();
    assert_eq!(shown, log.lines().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>());
}

/// An explanation of a log says where the messages are, in a format file that reads them again to the same graph.
#[test]
fn explained_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rpcgraph"));
        let output = command.args(arguments).current_dir(folder.path()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for rendering in ENVELOPES.iter().chain(&TEXTS) {
        std::fs::write(folder.path().join("log"), rendered(rendering, "\n")).unwrap();
        let explained = run(&["detect", "log"]);
        assert!(
            explained.contains("\nrecord 3, line ")
                && explained.contains("\n9 records (")
                && explained.contains("json-lines): "),
            "{explained}"
        );
        let (_, file) = explained.split_once("\n# This file for --from says the same.\n").expect(rendering.0);
        std::fs::write(folder.path().join("own.toml"), file).unwrap();
        let convert = ["convert", "log", "--log-lines", "--provenance", "--quiet"];
        let again = run(&[&convert[..], &["-f", "own.toml"]].concat());
        assert_eq!(again, run(&convert), "{file}");
    }
}
