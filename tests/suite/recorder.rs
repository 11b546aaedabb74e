//! `record`: what passes between a client and a server, and what the log has of it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::{LOG, Place, REQUEST, RESPONSE};
use crate::support::tool;

/// The lines of the log, without the recorder's own lines.
fn lines(place: &Place, log: &str) -> Vec<Value> {
    let text = String::from_utf8(place.read(log)).unwrap();
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|line| line.get("sender").is_some()).collect()
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn every_byte_passes() {
    let place = Place::new();
    let mut state = 1_u32;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(3 << 20)
    .collect();
    let ran = place.run_with(&["record", "-o", "log", "--", "cat"], &bytes);
    assert!(ran.stdout == bytes);
    ran.said(0, "");
    let ran = place.run(&["record", "-o", "log", "--", "sh", "-c", "echo oops >&2; exit 7"]);
    ran.printed_nothing().said(7, "oops\n");
    let ran = place.run(&["record", "-o", "log", "--", "no-such-server"]);
    ran.began(2, "error: cannot run no-such-server: ");
}

#[test]
fn messages_and_text_of_both_sides() {
    let place = Place::new();
    let server = format!("read line; echo starting; printf '%s\\n' '{RESPONSE}'; printf '\\377'");
    let arguments = ["record", "-o", "log", "--", "sh", "-c", &server];
    place.run_with(&arguments, format!("{REQUEST}\n")).said(0, "");
    let log = lines(&place, "log");
    let said = |place: usize| (log[place]["sender"].as_str().unwrap(), log[place]["message"].to_string());
    assert_eq!(said(0), ("client", REQUEST.to_owned()));
    assert_eq!((log[1]["sender"].as_str(), log[1]["text"].as_str()), (Some("server"), Some("starting")));
    assert_eq!(said(2), ("server", RESPONSE.to_owned()));
    assert_eq!((log.len(), &log[3]["bytes"]), (4, &json!("/w==")));
    assert!(log.iter().all(|line| line["session"] == log[0]["session"] && line["time"].is_string()));
    // A further session is appended.
    place.run_with(&arguments, format!("{REQUEST}\n")).said(0, "");
    let ran = place.run(&["ask", "sessions", "log", "-t", "jsonl"]);
    assert_eq!((ran.status, ran.text().lines().count()), (Some(0), 2), "{}", ran.stderr);
    let ran = place.run(&["slowest", "log", "-t", "csv", "--quiet"]);
    assert_eq!(ran.text().lines().count(), 3, "{}", ran.text());
}

#[test]
fn headers_and_bodies() {
    let place = Place::new();
    let frame = |message: &str| format!("Content-Length: {}\r\n\r\n{message}", message.len());
    let spread = RESPONSE.replace(',', ",\n");
    let sent = frame(REQUEST) + &frame(&spread);
    let ran = place.run_with(&["record", "-o", "log", "--", "cat"], &sent);
    assert_eq!(ran.text(), sent);
    let messages: Vec<_> = lines(&place, "log").iter().map(|line| line["message"].to_string()).collect();
    let mut expected = [REQUEST, RESPONSE, REQUEST, RESPONSE].map(str::to_owned);
    let mut found = messages.clone();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn signals_and_closed_ends_reach_the_server() {
    let place = Place::new();
    let server = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.02; done";
    let mut command = place.command(&["record", "-o", "log", "--", "sh", "-c", server]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    signal(&child, "-TERM");
    assert_eq!((line.as_str(), child.wait().unwrap().code()), ("ready\n", Some(9)));
    // A client that goes away.
    let mut command = place.command(&["record", "-o", "log", "--", "yes"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 13));
    assert!(String::from_utf8(place.read("log")).unwrap().contains("ended: signal: 13"));
}

#[test]
fn a_log_that_cannot_be_written_does_not_end_the_session() {
    let place = Place::new();
    for log in ["/dev/full", "missing/log", "/proc/log"] {
        let ran = place.run_with(&["record", "-o", log, "--", "cat"], LOG);
        assert_eq!((ran.status, ran.text()), (Some(0), LOG));
        let note = format!("note: cannot write {log}, so nothing more is recorded: ");
        assert!(ran.stderr.starts_with(&note) && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    }
}

#[test]
fn a_killed_recorder_leaves_whole_lines() {
    let place = Place::new();
    let mut command = place.command(&["record", "-o", "log", "--", "cat"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || while stdin.write_all(LOG.as_bytes()).is_ok() {});
    let mut passed = vec![0; LOG.len() * 2_000];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut passed).unwrap();
    signal(&child, "-KILL");
    child.wait().unwrap();
    drop(stdout);
    writer.join().unwrap();
    // No line is missing before the last.
    let text = String::from_utf8(place.read("log")).unwrap();
    let whole = text.rsplit_once('\n').unwrap().0;
    let numbers = whole.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["sequence"].as_u64().unwrap());
    let numbers: Vec<_> = numbers.collect();
    assert!(numbers.iter().zip(1..).all(|(number, expected)| *number == expected) && !numbers.is_empty());
}

/// Reads a request or a response with a `Content-Length` header, and returns its head and body.
fn read_http(stream: &mut BufReader<TcpStream>) -> (String, String) {
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).unwrap() > 0, "{head}");
        let lower = line.to_ascii_lowercase();
        length = lower.strip_prefix("content-length:").map_or(length, |text| text.trim().parse().unwrap());
        head += &line;
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (head, String::from_utf8(body).unwrap())
}

/// A JSON response that begins a session, a stream of two events, and a failure pass and are recorded.
#[test]
fn http() {
    let place = Place::new();
    let target = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", target.local_addr().unwrap());
    let event = format!("id: 1\r\nevent: message\r\ndata: {RESPONSE}\r\n\r\n");
    let (sender, next) = std::sync::mpsc::channel::<()>();
    let events = event.clone();
    let server = thread::spawn(move || {
        let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
        let mut heads = Vec::new();
        let mut stream = BufReader::new(target.accept().unwrap().0);
        for turn in 0..3 {
            heads.push(read_http(&mut stream).0);
            let out = stream.get_mut();
            match turn {
                0 => write!(out, "HTTP/1.1 200 OK\r\nMcp-Session-Id: s1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{RESPONSE}", RESPONSE.len()).unwrap(),
                1 => {
                    write!(out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n{}", chunk(&events)).unwrap();
                    next.recv().unwrap();
                    write!(out, "{}0\r\n\r\n", chunk(&events)).unwrap();
                }
                _ => write!(out, "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone").unwrap(),
            }
        }
        heads
    });
    let (mut recorder, address) = recording(&place, &url);
    let stream = TcpStream::connect(&address).unwrap();
    let mut client = BufReader::new(stream);
    let post = |session: &str, client: &mut BufReader<TcpStream>| {
        let length = REQUEST.len();
        let head = format!(
            "POST /mcp?key=secret HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n{session}Content-Length: {length}\r\n\r\n"
        );
        client.get_mut().write_all((head + REQUEST).as_bytes()).unwrap();
    };
    post("", &mut client);
    let (head, body) = read_http(&mut client);
    assert!(
        head.starts_with("HTTP/1.1 200") && head.contains("mcp-session-id: s1") && body == RESPONSE,
        "{head}{body}"
    );
    post("Mcp-Session-Id: s1\r\nMcp-Param-City: here\r\n", &mut client);
    read_http(&mut client);
    // The first event passes before the second is sent.
    let mut passed = String::new();
    while !passed.contains(RESPONSE) {
        client.read_line(&mut passed).unwrap();
    }
    sender.send(()).unwrap();
    while !passed.ends_with("\r\n0\r\n\r\n") {
        client.read_line(&mut passed).unwrap();
    }
    assert_eq!(passed.matches(&event).count(), 2);
    post("Mcp-Session-Id: s1\r\n", &mut client);
    let (head, body) = read_http(&mut client);
    assert!(head.starts_with("HTTP/1.1 404") && body == "gone", "{head}{body}");
    let heads = server.join().unwrap();
    assert!(heads.iter().all(|head| head.to_lowercase().contains("authorization: bearer secret")), "{heads:?}");
    wait_for_lines(&place, 7);
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    assert!(!fs::read_to_string(place.path("log")).unwrap().contains("secret"));
    let log = lines(&place, "log");
    let senders: Vec<_> = log.iter().map(|line| line["sender"].as_str().unwrap()).collect();
    assert_eq!(senders, ["client", "server", "client", "server", "server", "client", "server"]);
    assert!(log.iter().all(|line| line["session"] == "s1"));
    assert_eq!((&log[6]["status"], &log[6]["text"]), (&json!(404), &json!("gone")));
    assert_eq!((&log[6]["request"]["method"], &log[6]["request"]["ids"]), (&json!("POST"), &json!([1])));
    assert_eq!((&log[3]["event"], &log[3]["transport"]), (&json!("1"), &json!("http")));
    let sent = json!({ "mcp-param-city": "here", "mcp-session-id": "s1" });
    assert_eq!((&log[0]["headers"], &log[2]["headers"]), (&json!({}), &sent));
    let ran = place.run(&["query", "SELECT * { ?m rpcg:requestHeaders ?headers }", "log", "-t", "csv", "--quiet"]);
    assert!(ran.text().contains(&sent.to_string().replace('"', "\"\"")), "{}", ran.text());
    let ran = place.run(&["convert", "log", "-t", "otlp", "--quiet"]);
    assert!(ran.text().contains(r#"{"key":"mcp.session.id","value":{"stringValue":"s1"}}"#), "{}", ran.text());
}

/// Starts a recorder of HTTP, and returns the address that it listens on.
fn recording(place: &Place, target: &str) -> (Child, String) {
    let arguments = ["record", "-o", "log", "--listen", "127.0.0.1:0", "--to", target];
    let mut recorder = place.command(&arguments).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(recorder.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    let (_, address) = line.split_once("http://").unwrap();
    let address = address.split_once('/').unwrap().0.to_owned();
    (recorder, address)
}

fn wait_for_lines(place: &Place, count: usize) {
    let started = Instant::now();
    let lines = || place.read("log").iter().filter(|byte| **byte == b'\n').count();
    while !fs::exists(place.path("log")).unwrap() || lines() < count {
        assert!(started.elapsed() < Duration::from_secs(30), "{}", String::from_utf8_lossy(&place.read("log")));
        thread::sleep(Duration::from_millis(10));
    }
}

/// The end of a response in [`HTTP_SESSION`].
#[derive(Clone, Copy, PartialEq)]
enum Ends {
    Whole,
    /// The client closes the stream.
    Closed,
}

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"weather","version":"1"}}}"#;
const PROGRESS: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}"#;
const SUNNY: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"sunny"}]}}"#;
const OLD: &str = "Mcp-Session-Id: s1\r\nMCP-Protocol-Version: 2025-11-25\r\n";

/// Requests with their headers, and responses with their status and events: `id data`.
type HttpTurn = (&'static str, &'static str, &'static str, &'static str, &'static [(&'static str, &'static str)], Ends);

const HTTP_SESSION: [HttpTurn; 9] = [
    (
        "POST",
        "",
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"desk","version":"1"}}}"#,
        "200 OK\r\nMcp-Session-Id: s1",
        &[("", INITIALIZED)],
        Ends::Whole,
    ),
    ("POST", OLD, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "202 Accepted", &[], Ends::Whole),
    (
        "POST",
        OLD,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"forecast","arguments":{},"_meta":{"progressToken":7}}}"#,
        "200 OK",
        &[("a-1", PROGRESS)],
        Ends::Closed,
    ),
    (
        "GET",
        "Last-Event-ID: a-0\r\nMcp-Session-Id: s1\r\n",
        "",
        "200 OK",
        &[("a-1", PROGRESS), ("a-2", SUNNY)],
        Ends::Whole,
    ),
    ("GET", "Last-Event-ID: a-1\r\nMcp-Session-Id: s1\r\n", "", "200 OK", &[("a-2", SUNNY)], Ends::Whole),
    ("GET", OLD, "", "200 OK", &[("b-1", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)], Ends::Closed),
    ("POST", OLD, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "202 Accepted", &[], Ends::Whole),
    (
        "POST",
        OLD,
        "oops",
        "400 Bad Request",
        &[("", r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#)],
        Ends::Whole,
    ),
    (
        "POST",
        OLD,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        "200 OK",
        &[("", r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#)],
        Ends::Whole,
    ),
];

/// Plays turns between a client and a server with a recorder between, and returns the log without its last member.
fn play(place: &Place, turns: &'static [HttpTurn], lines: usize) {
    let target = TcpListener::bind("127.0.0.1:0").unwrap();
    let (mut recorder, address) = recording(place, &format!("http://{}/mcp", target.local_addr().unwrap()));
    let server = thread::spawn(move || {
        for (_, _, _, status, events, ends) in turns {
            let mut stream = BufReader::new(target.accept().unwrap().0);
            read_http(&mut stream);
            let body: String = match events {
                [("", message)] => (*message).to_owned(),
                events => events.iter().map(|(id, data)| format!("id: {id}\ndata: {data}\n\n")).collect(),
            };
            let kind = if body.starts_with("id:") { "text/event-stream" } else { "application/json" };
            let length =
                if *ends == Ends::Whole { format!("Content-Length: {}\r\n", body.len()) } else { String::new() };
            let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: {kind}\r\n{length}\r\n");
            if *ends == Ends::Whole || !body.is_empty() {
                stream.get_mut().write_all((head + &body).as_bytes()).unwrap();
            }
            if *ends == Ends::Closed {
                // The recorder closes its connection, too.
                assert_eq!(stream.read(&mut [0]).unwrap_or_default(), 0);
            }
        }
    });
    for (method, headers, sent, _, events, ends) in turns {
        let mut stream = BufReader::new(TcpStream::connect(&address).unwrap());
        let length = sent.len();
        let head = format!("{method} /mcp HTTP/1.1\r\nHost: x\r\n{headers}Content-Length: {length}\r\n\r\n");
        stream.get_mut().write_all((head + sent).as_bytes()).unwrap();
        match (ends, events.last()) {
            (Ends::Whole, _) => _ = read_http(&mut stream),
            (Ends::Closed, None) => thread::sleep(Duration::from_millis(200)),
            (Ends::Closed, Some((_, last))) => {
                let mut line = String::new();
                while !line.contains(last) {
                    assert!(stream.read_line(&mut line).unwrap() > 0, "{line}");
                }
            }
        }
    }
    server.join().unwrap();
    wait_for_lines(place, lines);
    recorder.kill().unwrap();
    recorder.wait().unwrap();
}

/// Events that are sent again, streams that the client closes, and an error without an id break no rule.
#[test]
fn streams_that_are_resumed() {
    let place = Place::new();
    play(&place, &HTTP_SESSION, 18);
    let log = lines(&place, "log");
    let of = |member: &str| log.iter().filter(|line| line.get(member).is_some()).count();
    assert_eq!((of("event"), of("resumed"), of("closed")), (5, 3, 2), "{log:#?}");
    let ran = place.run(&["check", "log", "-t", "json"]);
    assert!(!ran.text().contains("failed"), "{}", ran.text());
    assert!(!ran.text().contains("unanswered\",\"verdict\":\"undecidable"), "{}", ran.text());
    let ran = place.run(&["timeline", "log", "-t", "csv", "--quiet", "--columns", "method"]);
    assert_eq!(ran.text().matches("notifications/progress").count(), 1, "{}", ran.text());
    let query = "SELECT ?copy ?first { ?copy rpcg:copyOf ?first }";
    let ran = place.run(&["query", query, "log", "-t", "csv", "--quiet"]);
    assert_eq!(ran.text().lines().count(), 3, "{}{}", ran.text(), ran.stderr);
}

/// Closing a stream cancels its request since 2026-07-28, and before it only loses the answer.
#[test]
fn streams_that_are_closed() {
    const NEW: &str = "MCP-Protocol-Version: 2026-07-28\r\n";
    const CALL: &str = r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"a","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"desk","version":"1"}}}}"#;
    const LIST: &str = r#"{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"desk","version":"1"}}}}"#;
    const LISTED: &str =
        r#"{"jsonrpc":"2.0","id":9,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[]}}"#;
    static TURNS: [HttpTurn; 2] =
        [("POST", NEW, CALL, "200 OK", &[], Ends::Closed), ("POST", NEW, LIST, "200 OK", &[("", LISTED)], Ends::Whole)];
    static OLD_TURNS: [HttpTurn; 2] =
        [("POST", OLD, CALL, "200 OK", &[], Ends::Closed), ("POST", OLD, LIST, "200 OK", &[("", LISTED)], Ends::Whole)];
    for (turns, state) in [(&TURNS, "Cancelled"), (&OLD_TURNS, "Lost")] {
        let place = Place::new();
        play(&place, turns, 4);
        let ran = place.run(&["check", "log", "--only", "jsonrpc/unanswered"]);
        ran.said(0, "");
        let query = "SELECT ?state { ?call jrpc:hasMethod 'tools/call' ; rpcg:state ?state }";
        let ran = place.run(&["query", query, "log", "-t", "csv", "--quiet"]);
        assert!(ran.text().contains(state), "{}{}", ran.text(), ran.stderr);
    }
}

/// A server that prints text between its messages on standard output breaks rules of the transport.
#[test]
fn noise_on_standard_output() {
    let place = Place::new();
    let server = format!("read line; echo starting; echo 5; echo []; printf '%s\\n' '{INITIALIZED}'");
    place.run_with(&["record", "-o", "log", "--", "sh", "-c", &server], HTTP_SESSION[0].2.to_owned() + "\n");
    let ran = place.run(&["check", "log", "-t", "json", "--fail-on", "never"]);
    let failed = |rule: &str| {
        ran.text().lines().any(|line| line.contains(&format!("\"{rule}\"")) && line.contains("\"failed\""))
    };
    for rule in ["mcp/stdout-noise", "jsonrpc/not-message", "jsonrpc/empty-batch"] {
        assert!(failed(rule), "{rule}: {}", ran.text());
    }
    assert!(!failed("jsonrpc/not-json"), "{}", ran.text());
}

/// A server that cannot be reached is named without the query, which may hold secrets.
#[test]
fn queries_are_not_logged() {
    let place = Place::new();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (mut recorder, address) = recording(&place, &format!("http://{closed}/mcp?key=QSECRET"));
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let mut client = BufReader::new(TcpStream::connect(&address).unwrap());
    let length = body.len();
    write!(client.get_mut(), "POST /mcp?token=QSECRET HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{body}")
        .unwrap();
    let (head, text) = read_http(&mut client);
    assert!(head.starts_with("HTTP/1.1 502") && text.starts_with("the server did not answer"), "{head} {text}");
    wait_for_lines(&place, 2);
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    let log = String::from_utf8(place.read("log")).unwrap();
    assert!(log.contains("\"error\"") && !log.contains("QSECRET") && !text.contains("QSECRET"), "{log} {text}");
}

/// Only loopback addresses are listened on, and both ends are needed.
#[test]
fn usage() {
    let place = Place::new();
    let ran = place.run(&["record", "--listen", "0.0.0.0:0", "--to", "http://localhost:1"]);
    ran.said(2, "error: 0.0.0.0:0 can be reached from other machines: listen on 127.0.0.1 or [::1]\n");
    let ran = place.run(&["record"]);
    assert_eq!(ran.status, Some(2));
}

/// The official client of Python sees the same with the recorder between as without it.
#[test]
#[ignore = "needs a Python with the package mcp"]
fn mcp_for_the_official_client() {
    let place = Place::with("log", LOG);
    let script = "import asyncio, sys\n\
        from mcp import ClientSession, StdioServerParameters\n\
        from mcp.client.stdio import stdio_client\n\
        async def main():\n    \
            parameters = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])\n    \
            async with stdio_client(parameters) as (read, write):\n        \
                async with ClientSession(read, write) as session:\n            \
                    print((await session.initialize()).model_dump_json())\n            \
                    print((await session.list_tools()).model_dump_json())\n            \
                    print((await session.call_tool('overview', {})).model_dump_json())\n\
        asyncio.run(main())\n";
    place.put("client.py", script);
    assert_transparent(&place, || {
        let mut command = Command::new(tool("RPCGRAPH_MCP", &["python3"]));
        command.arg(place.path("client.py"));
        command
    });
}

/// Asserts that a client prints the same with the recorder between as without it.
fn assert_transparent(place: &Place, client: impl Fn() -> Command) {
    let program = env!("CARGO_BIN_EXE_rpcgraph");
    let run = |arguments: &[&str]| {
        let output = client().args(arguments).current_dir(place.path(".")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let direct = run(&[program, "mcp", "log"]);
    assert_eq!(run(&[program, "record", "-o", "recorded", "--", program, "mcp", "log"]), direct);
    assert!(!direct.is_empty());
    let ran = place.run(&["timeline", "recorded", "--quiet", "-t", "csv"]);
    assert_eq!(ran.text().lines().count(), 8, "{}", ran.text());
}

/// So does the official client of TypeScript.
#[test]
#[ignore = "needs npm's @modelcontextprotocol/sdk, in the folder RPCGRAPH_TYPESCRIPT_SDK"]
fn typescript_sdk_sees_the_same() {
    let place = Place::with("log", LOG);
    assert_transparent(&place, || {
        let mut command = Command::new(tool("RPCGRAPH_NODE", &["node"]));
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/typescript-sdk/client.mjs"));
        command.arg(tool("RPCGRAPH_TYPESCRIPT_SDK", &[]));
        command
    });
}

/// Requests that are in flight as a server ends are lost, and waited until then, whatever a later session records.
#[test]
fn requests_in_flight_are_lost_with_their_server() {
    let place = Place::new();
    let line = |time: &str, session: &str, rest: &str| {
        format!(r#"{{"time":"2026-11-02T{time}Z","session":"{session}","sequence":1,"transport":"stdio",{rest}}}"#)
            + "\n"
    };
    let call = r#""sender":"client","message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}"#;
    let log = [
        line("08:00:00", "a", call),
        line("08:00:02", "a", r#""text":"ended: exit status: 3""#),
        line("09:00:00", "b", call),
    ];
    place.put("log.ndjson", log.concat());
    let rows = "waited,until,state\n2,exit,lost\n0,end,open\n";
    let ask = ["unanswered", "log.ndjson", "-t", "csv", "--columns", "waited,until,state", "--quiet"];
    assert_eq!(place.run(&ask).text().replace("\r\n", "\n"), rows);
}
