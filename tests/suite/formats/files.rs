//! Formats that are files, on logs that no fixture has.

use super::{as_format, record, text};
use rpcgraph::record::{Entry, Format, Sender};

/// Each entry: its session and sender, or `#` before a line of text, and its bytes.
fn entry_texts(format: Format, log: &str) -> Vec<String> {
    let told = |entry: Entry<'static>| match record(&entry) {
        None => format!("# {}", text(&entry)),
        Some(record) => {
            let sender = match (record.sender, record.direction) {
                (Some(Sender::Client), _) => "client ",
                (Some(Sender::Server), _) => "server ",
                (None, Some(_)) => "way ",
                (None, None) => "",
            };
            let cut = if record.flags.truncated { "cut " } else { "" };
            format!(
                "{}{sender}{cut}{}",
                record.session.as_deref().map_or(String::new(), |key| format!("{key} ")),
                text(&entry)
            )
        }
    };
    as_format(log.as_bytes(), format, 1 << 20).into_iter().map(told).collect()
}

#[track_caller]
fn tells(format: Format, log: &str, expected: &[&str]) {
    assert_eq!(entry_texts(format, log), expected, "{log}");
}

#[test]
fn arrows_and_who_drew_them() {
    let log = ">> {}\n<<{}\n--> [1]\n<--\t[]\n> {}\n→{}\n>>> {}\nV[13:09:49.765] >>> {}\nV[no time] <<< {}\n>> no json\n>> -1\n\
               → null\n";
    let expected = [
        "client {}",
        "server {}",
        "client [1]",
        "server []",
        "way {}",
        "way {}",
        "way {}",
        "server {}",
        "client {}",
        "client no json",
        "client -1",
        "way null",
    ];
    tells(Format::Arrows, log, &expected);
    for line in [
        "// >> {}",
        "<-- //Nothing is returned",
        ">>",
        "> quoted",
        "<html>",
        "<!-- {} -->",
        ">>>> {}",
        "<<<<<<< HEAD",
        "<----->",
        "V[13:09:49.765] {}",
        "{}",
    ] {
        tells(Format::Arrows, line, &[&format!("# {line}")]);
    }
    tells(Format::Arrows, ">> {\n\"a\":1\n}\n<< {}\n", &["client {\n\"a\":1\n}", "server {}"]);
}

const TIME: &str = "2025-03-10T17:03:18.764Z";

#[test]
fn claude_desktop_opens_one_connection_by_several_lines() {
    let start = "Initializing server...|Using MCP server command: npx with args and path: {|\
                 ClaudeServer started and connected successfully";
    let lines = |name: &str, lines: &str| {
        lines.split('|').map(|line| format!("{TIME} [{name}] [info] {line}\n")).collect::<String>()
    };
    let say = |name: &str, id: u8| lines(name, &format!("Message from client: {id}"));
    let log = [
        lines("demo", start),
        say("demo", 1),
        lines("demo", "Client transport closed|Initializing server..."),
        lines("demo", start),
        lines("demo-2", start),
        say("demo", 2),
        say("demo-2", 3),
        say("demo", 4),
        say("other", 6),
    ]
    .concat();
    let said = |log: &str| entry_texts(Format::ClaudeDesktop, log).into_iter().filter(|text| !text.starts_with('#'));
    let expected = ["demo client 1", "demo-2 client 2", "demo-2-2 client 3", "demo-2 client 4", "other client 6"];
    assert_eq!(said(&log).collect::<Vec<_>>(), expected);
    let expected = ["client 1", "2 client 2", "demo-2 client 3", "2 client 4", "other client 6"];
    assert_eq!(said(&log.replace("[demo] ", "")).collect::<Vec<_>>(), expected);
}

#[test]
fn claude_desktop_metadata_is_removed() {
    let entry = |text: &str| format!("{TIME} [info] [demo] Message from server: {text}");
    for metadata in ["{ metadata: undefined }", "{ metadata: { context: 'connection', stack: undefined } }"] {
        let own = r#"{"a":" { metadata: undefined }"}"#;
        let log = ["[1]", own, "[3]"].map(|text| entry(&format!("{text} {metadata}"))).concat();
        let own = format!("demo server {own}");
        tells(Format::ClaudeDesktop, &format!("{log} text"), &["demo server [1]", &own, "demo server [3]", "# text"]);
    }
    for (text, expected) in [
        (r#"{"a":"...[52653 chars truncated]..."}"#, r#"demo server cut {"a":"...[52653 chars truncated]..."}"#),
        (r#"{"a":[...[1 chars truncated]..."#, r#"demo server cut {"a":[...[1 chars truncated]..."#),
        (r#"{"a":"[n chars truncated]"}"#, r#"demo server {"a":"[n chars truncated]"}"#),
    ] {
        tells(Format::ClaudeDesktop, &entry(&format!("{text} {{ metadata: undefined }}")), &[expected]);
    }
    let odd = format!("{TIME} [{{\"jsonrpc\":\"2.0\"}}] [info] Message from client:{{}}");
    assert!(entry_texts(Format::ClaudeDesktop, &odd).contains(&format!("# {odd}")), "{odd}");
}

#[test]
fn claude_desktop_is_recognised() {
    for (rest, expected) in [
        ("[demo] [info] Initializing server...", true),
        ("[info] [demo] ClaudeServer started and connected successfully { metadata: undefined }", true),
        ("[demo] [info] Initializing server...\n{\"id\":1}\n", false),
        ("[demo] [info] Message from client: {\"cut", true),
        ("[demo] [info] Message from client: no json", false),
        ("[demo] [info] Client transport closed", false),
        ("[demo] [info] x\n{}\nMessage from client: {}", false),
    ] {
        let found = Format::detect(format!("\n{TIME} {rest}").as_bytes());
        assert_eq!(found == Format::ClaudeDesktop, expected, "{rest}");
    }
    let log = format!("{TIME} [a] [info] Initializing server...\n{{}}\n{TIME} [a] [info] Message from client: {{}}");
    assert_eq!(Format::detect(log.as_bytes()), Format::ClaudeDesktop);
}

#[test]
fn vscode_mcp_marks() {
    for line in [
        "[editor -> server] {}",
        "[debug] [editor -> server] {}",
        "2025-06-01 10:00:00.123 [trace] [editor -> server] {}",
        "2025-06-01T10:00:00.123 [editor -> server]{}",
        "2025-03-23 16:38:00.970 [info] [Client Says] {}",
    ] {
        tells(Format::VscodeMcp, line, &["client {}"]);
        assert_eq!(Format::detect(line.as_bytes()), Format::VscodeMcp, "{line}");
    }
    for line in [
        "[editor -> server]",
        "[editor] {}",
        "editor -> server {}",
        "2025-06-01 [editor -> server] {}",
        "[warning] [server stderr] [editor -> server] {}",
    ] {
        tells(Format::VscodeMcp, line, &[&format!("# {line}")]);
        assert_ne!(Format::detect(line.as_bytes()), Format::VscodeMcp, "{line}");
    }
    let pasted = "[Client Says] {\"a\":\"[Server Says] {}\"} 2025-06-01 10:00:00.123 [info] [Server Says] [1] [Client Says] {x} [Server Says] 2\n";
    tells(
        Format::VscodeMcp,
        pasted,
        &["client {\"a\":\"[Server Says] {}\"}", "server [1]", "client {x} [Server Says] 2"],
    );
}

#[test]
fn envelopes_give_all_their_messages() {
    let line = |rest: &str| format!("{{\"session_id\":\"s\",\"seq\":1,\"ts\":\"2026-01-05T10:00:00+01:00\",{rest}}}");
    let (one, two) = (line(r#""direction":"c2s","raw":{"id":1}"#), line(r#""direction":"s2c","raw":{"id":2}"#));
    let other = line(r#""direction":"c2s","raw":{"id":1},"other":[{"method":"a"}]"#);
    let stderr = line(r#""direction":"stderr","text":"a\tb\r\n""#);
    for (log, expected) in [
        (format!("{one}{two}"), vec!["s client {\"id\":1}".to_owned(), "s server {\"id\":2}".to_owned()]),
        (other.clone(), vec![format!("# {other}"), "s client {\"id\":1}".to_owned()]),
        (stderr, vec!["# a\tb".to_owned()]),
    ] {
        assert_eq!(entry_texts(Format::Mcpsnoop, &log), expected, "{log}");
    }
    let event = |contents: &str| format!("{{\"tag\":\"FromClient\",\"contents\":[\"t\",{contents}]}}");
    for (contents, expected) in [
        (r#"{"tag":"NotExit","contents":{"id":1.0}}"#, r#"client {"id":1.0}"#),
        (r#"{"jsonrpc":"2.0","params":{"tag":1}}"#, r#"client {"jsonrpc":"2.0","params":{"tag":1}}"#),
        (r#"{"tag":"NotOdd","contents":null}"#, "client null"),
    ] {
        tells(Format::LspTest, &event(contents), &[expected]);
    }
    for (members, message, response) in [
        (r#""origin":"client","direction":"request""#, "client [0]", "server [1]"),
        (r#""origin":"server","direction":"request""#, "server [0]", "client [1]"),
        (r#""direction":"request""#, "client [0]", "server [1]"),
        (r#""direction":"in""#, "way [0]", "[1]"),
    ] {
        let log = format!(r#"[{{{members},"message":[0],"response":[1]}}]"#);
        tells(Format::McpInspector, &log, &[message, response]);
    }
    tells(Format::McpInspector, r#"[{"direction":"request","message":[0]}]"#, &["[0]"]);
}
