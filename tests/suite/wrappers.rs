//! Logs in the logs of what runs the program, or pasted from a terminal or a page: each gives the graph of the log without
//! its wrapper, but for times that only the wrapper tells.

use std::fs;
use std::io::{self, Read, Write};

use oxrdf::Quad;
use proptest::prelude::*;
use rpcgraph::record::{Entry, Format, OwnFormat, Reader, ReaderOptions, Record, Time, Wrapper};
use rpcgraph::vocab::{prov, rpcg};
use rpcgraph::{Log, LogError, Query};

use crate::renderings::{
    ENVELOPES, OTHERS, Pieces, Rendering, SESSION, TEXTS, entries, rendered, string, without_clues,
};
use crate::support::{assert_isomorphic, convert, own};

mod pieces;

/// Renders a line, given its number.
type Wrapping = (&'static str, &'static [Wrapper], fn(usize, &str) -> String);

const WRAPPERS: [Wrapping; 18] = [
    ("Docker", &[Wrapper::Docker], docker),
    ("CRI", &[Wrapper::Cri], |n, line| format!("2026-01-05T10:00:{:02}.123456789Z stdout F {line}", n % 60)),
    ("journald", &[Wrapper::Journald], |n, line| journald(n, &string(line))),
    ("journald, in bytes", &[Wrapper::Journald], |n, line| journald(n, &format!("{:?}", line.as_bytes()))),
    ("journald, short", &[Wrapper::Syslog], |n, line| format!("Jan 05 10:00:{:02} host mcpd[812]: {line}", n % 60)),
    ("journald, short-iso", &[Wrapper::Syslog], |n, line| {
        format!("2026-01-05T10:00:{:02}+0000 host mcpd[812]: {line}", n % 60)
    }),
    ("journald, short-precise", &[Wrapper::Syslog], |n, line| {
        format!("Jan 05 10:00:{:02}.123456 host mcpd[812]: {line}", n % 60)
    }),
    ("syslog, RFC 3164", &[Wrapper::Syslog], |n, line| format!("<14>Jun  1 10:00:{:02} host mcpd: {line}", n % 60)),
    ("syslog, RFC 5424", &[Wrapper::Syslog], |n, line| {
        format!("<14>1 2026-01-05T10:00:{:02}Z host app 812 - - {line}", n % 60)
    }),
    ("syslog, RFC 5424, with data", &[Wrapper::Syslog], |_, line| {
        format!("<165>1 - host app - ID47 [a@1 b=\"\\\"]\" c=\"\"][d@2] \u{feff}{line}")
    }),
    ("docker compose", &[Wrapper::Compose], |_, line| format!("api-1  | {line}")),
    ("docker compose, in colours", &[Wrapper::Colours, Wrapper::Compose], |_, line| {
        format!("\x1b[36mapi-1  |\x1b[0m {line}\x1b[0m")
    }),
    ("docker compose over syslog", &[Wrapper::Compose, Wrapper::Syslog], |n, line| {
        format!("log-1  | <14>Jan  5 10:00:{:02} host mcpd[812]: {line}", n % 60)
    }),
    ("kubectl", &[Wrapper::Kubectl], |_, line| format!("[pod/mcp-a-7d9/mcp] {line}")),
    ("colours", &[Wrapper::Colours], |_, line| format!("\x1b[1;32m{line}\x1b[0m\x1b[K")),
    ("colours that were copied", &[Wrapper::Colours], |_, line| format!("[1;32m[0m{line}")),
    ("colours in Docker", &[Wrapper::Docker, Wrapper::Colours], |n, line| docker(n, &format!("\x1b[2m{line}\x1b[0m"))),
    ("quoted", &[Wrapper::Quoted], |_, line| format!("> {line}")),
];

fn docker(n: usize, line: &str) -> String {
    let text = string(&format!("{line}\n"));
    format!(r#"{{"log":{text},"stream":"stdout","time":"2026-01-05T10:00:{:02}.123456789Z"}}"#, n % 60)
}

fn journald(n: usize, message: &str) -> String {
    let second = n % 60;
    format!(
        r#"{{"__REALTIME_TIMESTAMP":"17676072{second:02}123456","_PID":"7","SYSLOG_IDENTIFIER":"mcpd","MESSAGE":{message}}}"#
    )
}

fn wrapped(wrap: fn(usize, &str) -> String, log: &str, ending: &str) -> String {
    let lines = log.strip_suffix('\n').unwrap_or(log).split('\n').enumerate();
    lines.map(|(number, line)| wrap(number, line) + ending).collect()
}

fn without_times(mut quads: Vec<Quad>) -> Vec<Quad> {
    let times =
        [rpcg::CAPTURED_AT, rpcg::CLOCK_TIME, rpcg::LATENCY_SECONDS, prov::STARTED_AT_TIME, prov::ENDED_AT_TIME];
    // Facts about answers that depend on times go with the times.
    let told = [rpcg::CLOCK_OFFSET_SECONDS, rpcg::CLOCK_OFFSET_ANSWERS];
    let is_early = |quad: &Quad| quad.object == rpcg::ANSWER_BEFORE_REQUEST.into_owned().into();
    quads.retain(|quad| {
        let predicate = quad.predicate.as_ref();
        !times.contains(&predicate) && !told.contains(&predicate) && !is_early(quad)
    });
    quads
}

/// A log in every format that has lines.
fn logs() -> Vec<(Format, String)> {
    let mut logs = vec![(Format::JsonLines, SESSION.join("\n"))];
    for (format, name) in [
        (Format::ContentLength, "content-length/typical.log"),
        (Format::VscodeLspText, "vscode-lsp-text/typical.log"),
        (Format::ClaudeDesktop, "claude-desktop/typical.log"),
        (Format::Sse, "sse/typical.log"),
        (Format::Zed, "zed/typical.log"),
        (Format::Helix, "helix/typical.log"),
        (Format::VscodeMcp, "vscode-mcp/typical.log"),
        (Format::VscodeLspJson, "vscode-lsp-json/typical.log"),
        (Format::Mcpsnoop, "mcpsnoop/typical.jsonl"),
        (Format::LspTest, "lsp-test/typical.log"),
        (Format::Arrows, "arrows/typical.io"),
        (Format::McpInspector, "mcp-inspector/typical.json"),
        (Format::JsonArray, "json-array/typical.log"),
        (Format::Har, "har/chrome.har"),
    ] {
        logs.push((format, fs::read_to_string(own("tests/formats").join(name)).unwrap()));
    }
    logs
}

fn read(log: impl Read + Send) -> (Vec<Wrapper>, Format, Vec<Entry<'static>>) {
    let mut reader = Reader::new(log, &ReaderOptions::default()).unwrap();
    let entries = std::iter::from_fn(|| reader.next_entry().unwrap()).collect();
    (reader.wrappers().to_vec(), reader.format(), entries)
}

/// The records among entries: the number of the line, and the message.
fn records<'e>(entries: &'e [Entry<'_>]) -> Vec<(u64, &'e [u8])> {
    let record = |entry: &'e Entry<'_>| (entry.location().line, entry.bytes());
    entries.iter().filter(|entry| matches!(entry, Entry::Record(_))).map(record).collect()
}

#[test]
fn every_format_in_every_carrier() {
    for (format, log) in logs() {
        let (own_carriers, own_format, plain) = read(log.as_bytes());
        assert_eq!((&own_carriers[..], own_format), (&[][..], format));
        let graph = without_times(convert(log.as_bytes()));
        for (name, wrappers, wrap) in WRAPPERS {
            let name = format!("{} in {name}", format.name());
            let rendering = wrapped(wrap, &log, "\n");
            let (found_carriers, found, whole) = read(rendering.as_bytes());
            assert_eq!((&found_carriers[..], found), (wrappers, format), "{name}");
            assert_eq!(records(&whole), records(&plain), "{name}");
            assert_isomorphic(&without_times(convert(rendering.as_bytes())), &graph, &name);
            let crlf = wrapped(wrap, &log, "\r\n");
            assert_isomorphic(&without_times(convert(crlf.as_bytes())), &graph, &format!("{name}, CRLF"));
            for size in [1, 61] {
                assert_eq!(read(Pieces(rendering.as_bytes(), size)).2, whole, "{name}, in pieces of {size}");
            }
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(rendering.as_bytes()).unwrap();
            assert_eq!(read(&gzip.finish().unwrap()[..]).2, whole, "{name}, compressed");
        }
    }
}

/// A log that ends early loses the record that is cut and no other.
#[test]
fn cut_off_anywhere() {
    for (format, log) in logs().into_iter().take(5) {
        for (name, _, wrap) in WRAPPERS {
            let rendering = wrapped(wrap, &log, "\n");
            let (wrappers, read_as, whole) = read(rendering.as_bytes());
            let all = records(&whole);
            for cut in (0..rendering.len()).filter(|&cut| rendering.is_char_boundary(cut)).step_by(13) {
                let (found_carriers, found_as, found) = read(&rendering.as_bytes()[..cut]);
                // Before the first message, the format cannot be seen.
                if (&found_carriers, found_as) != (&wrappers, read_as) {
                    let seen = rendering[..cut].matches('\n').count() as u64;
                    assert!(seen <= all[1].0, "{} in {name}, cut at {cut}", format.name());
                    continue;
                }
                let found = records(&found);
                let kept = found.len().saturating_sub(1);
                assert_eq!(found[..kept], all[..kept], "{} in {name}, cut at {cut}", format.name());
            }
        }
    }
}

/// Envelopes and prefixes inside wrappers, and where each message stands.
#[test]
fn messages_inside_lines_inside_carriers() {
    let plain = without_clues(convert(SESSION.join("\n").as_bytes()));
    for (index, (name, _, wrap)) in WRAPPERS.iter().enumerate() {
        // Objects and arrays behind `> ` are what arrows mark.
        let is_marked = |line: &str| line.starts_with(['{', '[']);
        let is_arrow = |render: &Rendering| *name == "quoted" && render.1(0, "").lines().any(is_marked);
        let renderings = ENVELOPES.iter().chain(&TEXTS).filter(|rendering| !is_arrow(rendering));
        for rendering in renderings.skip(index % 4).step_by(4) {
            let name = format!("{} in {name}", rendering.0);
            let log = wrapped(*wrap, &rendered(rendering, "\n"), "\n");
            assert_isomorphic(&without_clues(convert(log.as_bytes())), &plain, &name);
        }
        let log = wrapped(*wrap, &SESSION.join("\n"), "\n");
        for entry in entries(log.as_bytes()) {
            let (before, from) = log.as_bytes().split_at(entry.location().byte as usize);
            let is_in_string = before.ends_with(b"\"") || from.starts_with(b"[");
            assert!(from.starts_with(entry.bytes()) || is_in_string, "{name}");
        }
    }
}

/// The time that the program states is used, or else the time of its wrapper.
#[test]
fn the_nearest_time_counts() {
    let time = |log: &str| match &entries(log.as_bytes())[..] {
        [Entry::Record(record)] => record.time,
        other => panic!("{other:?}"),
    };
    let parsed = |text: &str| text.parse().ok().map(Time::DateTime);
    let message = SESSION[0];
    let wrapped = |index: usize| (WRAPPERS[index].2)(2, message);
    assert_eq!(time(&wrapped(0)), parsed("2026-01-05T10:00:02.123456789Z"));
    assert_eq!(time(&wrapped(1)), parsed("2026-01-05T10:00:02.123456789Z"));
    assert_eq!(time(&wrapped(2)), parsed("2026-01-05T10:00:02.123456Z"));
    assert_eq!(time(&wrapped(4)), "10:00:02".parse().ok().map(Time::Clock));
    assert_eq!(time(&wrapped(5)), parsed("2026-01-05T10:00:02Z"));
    assert_eq!(time(&wrapped(8)), parsed("2026-01-05T10:00:02Z"));
    assert_eq!(time(&wrapped(12)), "10:00:02".parse().ok().map(Time::Clock));
    let inside = format!("2025-06-01 10:00:00,123 - x - DEBUG - Received: {message}");
    assert_eq!(time(&docker(1, &inside)), parsed("2025-06-01T10:00:00.123"));
}

/// A wrapped log that begins with its newest line is sorted by the times of its wrapper or its lines.
#[test]
fn the_newest_line_first() {
    let lines = SESSION.iter().enumerate();
    let dated = |n: usize, line: &str| format!("2026-01-05T10:00:{n:02}Z received {line}");
    let compose = |n: usize, line: &str| format!("api-1  | {}", dated(n, line));
    let kubectl = |n: usize, line: &str| format!("[pod/mcp-a-7d9/mcp] {}", dated(n, line));
    for wrap in [&docker as &dyn Fn(usize, &str) -> String, &compose, &kubectl] {
        let wrapped: Vec<_> = lines.clone().map(|(n, line)| wrap(n, line)).collect();
        let newest_first: Vec<_> = wrapped.iter().rev().map(String::as_str).collect();
        let log = newest_first.join("\n");
        let mut reader = Reader::new(log.as_bytes(), &ReaderOptions::default()).unwrap();
        let found: Vec<_> = std::iter::from_fn(|| reader.next_entry().unwrap()).collect();
        let texts: Vec<_> = records(&found).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, SESSION.iter().map(|line| line.as_bytes()).collect::<Vec<_>>(), "{log}");
        assert!(reader.is_by_time());
    }
}

/// Lines that are not in the wrapper stand beside the log, in their place, and split no message; one that may be a message
/// is read.
#[test]
fn lines_that_are_not_in_the_carrier() {
    let frame = format!("Content-Length: {}\r\n\r\n{}", SESSION[0].len(), SESSION[0]);
    let mut lines: Vec<_> = frame.split('\n').map(|line| docker(0, line)).collect();
    lines.insert(0, "Attaching to api-1".to_owned());
    lines.insert(2, "  a line of another writer \r".to_owned());
    lines.push(docker(1, "Content-Length: 2\r") + &docker(1, "\r") + &docker(2, "{}"));
    lines.push("the end".to_owned());
    let log = lines.join("\n");
    let found = entries(log.as_bytes());
    let shown: Vec<_> = found
        .iter()
        .map(|entry| {
            let text = String::from_utf8_lossy(entry.bytes()).into_owned();
            (matches!(entry, Entry::Record(_)), entry.location().line, text)
        })
        .collect();
    let expected = [
        (false, 1, "Attaching to api-1"),
        (true, 5, SESSION[0]),
        (false, 3, "  a line of another writer"),
        (true, 6, "{}"),
        (false, 7, "the end"),
    ];
    let expected = expected.map(|(is_record, line, text)| (is_record, line, text.to_owned()));
    let in_order = |mut entries: Vec<(bool, u64, String)>| {
        entries.sort();
        entries
    };
    assert_eq!(in_order(shown), in_order(expected.to_vec()));
    for size in [1, 61] {
        assert_eq!(entries(Pieces(log.as_bytes(), size)), found);
    }
    let mixed = format!("{}\n{}\n{}\n", docker(0, SESSION[0]), SESSION[1], docker(1, SESSION[2]));
    let expected = [(1, SESSION[0]), (2, SESSION[1]), (3, SESSION[2])];
    assert_eq!(records(&entries(mixed.as_bytes())), expected.map(|(line, text)| (line, text.as_bytes())));
    // However many there are, they do not pile up, and nothing depends on the pieces.
    let noise = "noise that no wrapper has\n".repeat(10_000);
    let log = format!("{0}\n{0}\n{1}\n{noise}{1}\n", docker(0, SESSION[0]), docker(1, "{\"id\":1,\"method\":\"m\"}"));
    assert_eq!(entries(Pieces(log.as_bytes(), 1000)), entries(log.as_bytes()));
}

/// The program that prints a journal leaves out long texts.
#[test]
fn texts_that_are_left_out() {
    let omitted = journald(1, "null");
    for log in [
        [journald(0, &string(SESSION[0])), omitted.clone(), journald(2, &string(SESSION[1]))].join("\n"),
        [journald(0, &string(SESSION[0])), omitted.clone(), omitted.clone()].join("\n"),
    ] {
        let found = entries(log.as_bytes());
        let is_text = |entry: &Entry<'_>| matches!(entry, Entry::LogLine(line) if *line.bytes == *omitted.as_bytes());
        assert_eq!(found.len(), 3);
        assert_eq!(found.iter().filter(|entry| is_text(entry)).count(), log.matches("null").count());
        assert_eq!(entries(Pieces(log.as_bytes(), 7)), found);
    }
}

/// The two ends of a pipe may have a tag each.
#[test]
fn writers_of_one_direction() {
    let log = |lines: &[(&str, &str)]| {
        lines.iter().map(|(tag, text)| format!("Jan 05 10:00:00 host {tag}: {text}\n")).collect::<String>()
    };
    let sessions = |log: &str| {
        let found = entries(log.as_bytes());
        assert_eq!(entries(Pieces(log.as_bytes(), 7)), found);
        let session = |entry: Entry<'_>| match entry {
            Entry::Record(record) => record.session.map(|key| key.into_owned()).unwrap_or_default(),
            Entry::LogLine(_) => panic!("{log}"),
        };
        found.into_iter().map(session).collect::<Vec<_>>()
    };
    let (ask, answer) = (r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#, r#"{"jsonrpc":"2.0","id":1,"result":2}"#);
    let notice = r#"{"jsonrpc":"2.0","method":"b"}"#;
    let (ask_2, answer_2) = (ask.replace(":1", ":2"), answer.replace(":1", ":2"));
    let (one, other) = ("to[1]", "from[2]");
    let same_ids = [(one, ask), (other, ask), (other, answer), (one, answer), (other, notice)];
    let crossed = [(one, &*ask_2), (other, &answer_2)];
    assert_eq!(sessions(&log(&[&same_ids[..], &crossed].concat())), [""; 7]);
    // Each may as well log both sides of a connection of its own, such as one of two equal services.
    let apart = ["host to[1]", "host from[2]", "host from[2]", "host to[1]", "host from[2]"];
    assert_eq!(sessions(&log(&same_ids)), apart);
    let both = [("a", ask), ("a", answer), ("b", ask), ("b", answer)];
    assert_eq!(sessions(&log(&both)), ["host a", "host a", "host b", "host b"]);
    // Either may be the one that was asked.
    let three = [("a", ask), ("b", ask), ("c", answer)];
    assert_eq!(sessions(&log(&three)), ["host a", "host b", "host c"]);
    let unasked = [("a", ask), ("b", answer), ("b", answer)];
    assert_eq!(sessions(&log(&unasked)), ["host a", "host b", "host b"]);
}

/// A page with a log in it.
#[test]
fn in_a_fence() {
    for (format, log) in logs() {
        let page =
            format!("# What happened\n\nSee here:\n\n```json\n{log}\n```\n\nThat was it, with no method at all.\n");
        let (wrappers, found, entries) = read(page.as_bytes());
        assert_eq!((&wrappers[..], found), (&[Wrapper::Fenced][..], format));
        let (_, _, plain) = read(log.as_bytes());
        let texts = |entries: &[Entry<'_>]| records(entries).iter().map(|record| record.1.to_vec()).collect::<Vec<_>>();
        assert_eq!(texts(&entries), texts(&plain), "{}", format.name());
        assert_isomorphic(&without_times(convert(page.as_bytes())), &without_times(convert(log.as_bytes())), "a page");
        let quoted = wrapped(|_, line| format!("> {line}"), &page, "\n");
        assert_eq!(read(quoted.as_bytes()).0, [Wrapper::Quoted, Wrapper::Fenced], "{}", format.name());
    }
}

/// Blanks in front of all lines hide no format.
#[test]
fn indented() {
    for (format, log) in logs().into_iter().take(5) {
        let log = log.replace("\n\n", "\n \n");
        let rendering = wrapped(|_, line| format!("\t  {line}"), &log, "\n");
        let (_, found, entries) = read(rendering.as_bytes());
        assert_eq!(found, format);
        assert_eq!(records(&entries).len(), records(&read(log.as_bytes()).2).len());
        assert_isomorphic(
            &without_times(convert(rendering.as_bytes())),
            &without_times(convert(log.as_bytes())),
            format.name(),
        );
    }
}

#[test]
fn other_logs_hold_no_messages() {
    for (name, _, wrap) in WRAPPERS {
        for line in OTHERS {
            let log = wrapped(wrap, &format!("{line}\n").repeat(3), "\n");
            let asked =
                Log::read("log", io::Cursor::new(log.clone().into_bytes())).ask(&Query::named("methods").unwrap());
            assert!(matches!(asked, Err(LogError::Unread { .. })), "{name}: {line}");
        }
    }
}

/// Wrappers are removed from stated formats too, unless the format finds a record in the lines as they are.
#[test]
fn wrappers_are_removed_from_stated_formats() {
    let stated = |log: &str, options: &ReaderOptions, size: usize| {
        let mut reader = Reader::new(Pieces(log.as_bytes(), size), options).unwrap();
        let entries: Vec<_> = std::iter::from_fn(|| reader.next_entry().unwrap()).collect();
        (reader.wrappers().to_vec(), entries)
    };
    for (format, log) in logs() {
        let options = ReaderOptions::default().with_format(format);
        let (_, plain) = stated(&log, &options, 1000);
        for (name, wrappers, wrap) in WRAPPERS {
            let name = format!("{} in {name}", format.name());
            let rendering = wrapped(wrap, &log, "\n");
            let (found, whole) = stated(&rendering, &options, 1000);
            assert_eq!((&found[..], records(&whole)), (wrappers, records(&plain)), "{name}");
            assert_eq!(stated(&rendering, &options, 1), (found, whole), "{name}, in pieces");
        }
    }
    let envelope = |pointers: &str| ReaderOptions::default().with_own_format(OwnFormat::envelope(pointers).unwrap());
    let line = |regex: &str| ReaderOptions::default().with_own_format(OwnFormat::line(regex).unwrap());
    let payload = |message: &str| format!("{{\"payload\":{message}}}");
    let log: String = SESSION.iter().enumerate().map(|(n, message)| docker(n, &payload(message)) + "\n").collect();
    let syslog = |n: usize, message: &str| format!("Jan 05 10:00:0{n} host mcpd[812]: rpc {message}\n");
    let text: String = SESSION.iter().enumerate().map(|(n, message)| syslog(n, message)).collect();
    for (log, options, wrappers) in [
        (&log, envelope("message=/payload"), &[Wrapper::Docker][..]),
        (&log, envelope("message=/log/payload time=/time"), &[]),
        (&text, line("^rpc (?<message>.*)"), &[Wrapper::Syslog]),
        (&text, line("^(?<time>.*) host .*?: rpc (?<message>.*)"), &[]),
    ] {
        // Lines before the first record do not decide.
        for log in [log.clone(), format!("started\n\n{log}")] {
            let (found, whole) = stated(&log, &options, 1000);
            assert_eq!(found, wrappers, "{log}");
            let texts: Vec<_> = records(&whole).into_iter().map(|(_, text)| String::from_utf8_lossy(text)).collect();
            assert_eq!(texts, SESSION, "{log}");
            let has_time =
                |entry: &Entry<'_>| matches!(entry, Entry::LogLine(_) | Entry::Record(Record { time: Some(_), .. }));
            assert!(whole.iter().all(has_time), "{log}");
            assert_eq!(stated(&log, &options, 1), (found, whole), "{log}");
        }
    }
}

/// Lines of JSON behind `> ` are quoted, and marked by arrows if others stand among them.
#[test]
fn quoted_or_arrows() {
    let line = |n: usize, mark: &str| format!("{mark} {}\n", SESSION[n]);
    let quoted: String = (0..9).map(|n| line(n, ">")).collect();
    let answered = quoted.clone() + &line(1, "<");
    let noted = quoted.replacen("> ", "started\n> ", 1);
    let quoted_twice: String = quoted.lines().map(|line| format!("> {line}\n")).collect();
    let remarked = quoted_twice.clone() + "> a remark\n";
    for (log, wrappers, format) in [
        (&quoted, &[Wrapper::Quoted][..], Format::JsonLines),
        (&quoted_twice, &[Wrapper::Quoted; 2], Format::JsonLines),
        (&remarked, &[Wrapper::Quoted; 2], Format::JsonLines),
        (&answered, &[], Format::Arrows),
        (&noted, &[], Format::Arrows),
    ] {
        for size in [1, 61, 1000] {
            let (found, detected, entries) = read(Pieces(log.as_bytes(), size));
            assert_eq!((&found[..], detected), (wrappers, format), "{log}");
            assert_eq!(records(&entries).len(), log.lines().filter(|line| line.contains('{')).count());
        }
    }
}

/// Entries read before the input fails are returned.
#[test]
fn inputs_that_fail() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is on fire"))
        }
    }
    let log = format!("{}\n{}\n{}", docker(0, SESSION[0]), docker(1, SESSION[1]), docker(2, SESSION[2]));
    for size in [1, 100, 10_000] {
        let input = Pieces(log.as_bytes(), size).chain(Broken);
        let mut reader = Reader::new(input, &ReaderOptions::default()).unwrap();
        for message in &SESSION[..2] {
            assert_eq!(reader.next_entry().unwrap().unwrap().bytes(), message.as_bytes());
        }
        let error = reader.next_entry().unwrap_err().to_string();
        assert_eq!(error, format!("reading failed after {} bytes of text", log.len()));
        assert!(reader.next_entry().unwrap().is_none());
    }
}

/// The wrapper is named with the format.
#[test]
fn carriers_are_named() {
    let log = docker(0, SESSION[0]);
    let summary = Log::read("log", io::Cursor::new(log.into_bytes()));
    let summary = summary.write_to(io::sink(), rpcgraph::Syntax::NQuads).unwrap().to_string();
    assert!(summary.starts_with("1 record (docker, json-lines): 1 request"), "{summary}");
}

/// The explanation of a log names its wrapper, and does not name a format that would read the wrapper, too.
#[test]
fn carriers_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let log = fs::read_to_string(own("tests/formats/zed/typical.log")).unwrap();
    fs::write(folder.path().join("log"), wrapped(docker, &log, "\n")).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rpcgraph"));
    let output = command.args(["detect", "log"]).current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("log: docker, zed\n"), "{said}");
    assert!(said.ends_with("\n`--from zed` reads this log identically.\n"), "{said}");
}

/// Parts of the lines of wrappers, whole and broken.
const PARTS: [&str; 16] = [
    "{\"log\":\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"method\\\":\\\"m\\\"}\\n\",\"stream\":\"stdout\"}",
    "{\"log\":\"{\\\"jsonrpc\\\":\\\"2.0\\\",\",\"stream\":\"stdout\"}",
    "{\"log\":\"\\\"id\\\":2}\\n\",\"stream\":\"stdout\"}",
    "{\"log\":\"a piece of another\",\"stream\":\"stderr\"}",
    "{\"log\":\"\\u001b[1mred\\u001b[0m\\n\",\"stream\":\"stderr\"}",
    "{\"log\":\"cut",
    "2026-01-05T10:00:00Z stdout F {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}",
    "2026-01-05T10:00:00Z stdout P {\"jsonrpc\":",
    "2026-01-05T10:00:00Z stderr F ",
    "Jan 05 10:00:00 host mcpd[812]: Content-Length: 2\r\n\r\n{}",
    "api-1  | \x1b[2m>> {}",
    "> ```",
    "  noise",
    "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}",
    "\n",
    "\r\n",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any lines: the reader ends, gives the same entries from pieces of any size, and each in its line.
    #[test]
    fn any_lines(
        parts in proptest::collection::vec((prop::sample::select(&PARTS[..]), prop::bool::weighted(0.8)), 0..12),
        first in prop::sample::select(&PARTS[..]),
        size in 1_usize..50,
        limit in prop_oneof![0_usize..100, Just(1 << 20)],
    ) {
        let rest: String = parts.iter().map(|(part, ends)| format!("{part}{}", if *ends { "\n" } else { "" })).collect();
        let log = format!("{first}\n{first}\n{rest}");
        let options = ReaderOptions::default().with_max_record_size(limit);
        let read = |input: &mut (dyn Read + Send)| {
            let mut reader = Reader::new(input, &options).unwrap();
            std::iter::from_fn(|| reader.next_entry().unwrap()).collect::<Vec<_>>()
        };
        let entries = read(&mut log.as_bytes());
        prop_assert_eq!(&read(&mut Pieces(log.as_bytes(), size)), &entries);
        for entry in &entries {
            let place = entry.location();
            prop_assert_eq!(place.line, 1 + log.as_bytes()[..place.byte as usize].iter().filter(|&&byte| byte == b'\n').count() as u64);
            prop_assert!(matches!(entry, Entry::LogLine(_)) || entry.bytes().len() <= limit);
        }
    }
}
