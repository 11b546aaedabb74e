//! `claude-desktop`: the logs of the Claude app, `mcp-server-NAME.log` and, for all servers together, `mcp.log`.

use super::about::{About, Sign, Window};
use super::decoder::leading_blanks;
use super::known::may_hold_message;
use super::marked::{Found, HEAD, MarkedLines, Marks, More, head, is_structured};
use super::object::{extent, offset_in};
use super::times::timestamp;
use super::{Flags, LogLine, Record, Sender, Time};
use memchr::memmem;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const ABOUT: About = About {
    summary: "`2025-03-10T17:03:18.764Z [demo] [info] Message from client: {…}` and `from server`; other lines are text",
    carries: "sender, time, server, connections, messages cut short",
    sign: Sign::Line(detect),
    decoder: |limit| MarkedLines::boxed(limit, HEAD, ClaudeDesktop::default()),
};

/// A message that begins an object or array, before any line that is a JSON value. Where the app only starts a server
/// there, such a message further down, or nothing that could be one: servers write the like of a start, too.
fn detect(window: &Window<'_>) -> bool {
    let text = |line| header(head(line)).map(|header| &line[header.text..]);
    let is_message = |line| is_structured(ClaudeDesktop::default().read(line, &mut More::default()));
    window.lines_before_values().any(is_message)
        || window.lines_before_values().any(|line| text(line).is_some_and(starts))
            && (window.first_value.is_none() || window.lines().any(|(_, line)| is_message(line)))
}

/// The marks in front of a message, and the side that sent it.
const MARKS: [(&[u8], Sender); 2] =
    [(b"Message from client:", Sender::Client), (b"Message from server:", Sender::Server)];

/// Lines that the app writes while it starts a server, before the first message of the new connection; several of them
/// for one start.
const STARTS: [&[u8]; 4] = [
    b"Initializing server...",
    b"Using MCP server command:",
    b"Using built-in Node.js for MCP server:",
    b"ClaudeServer started and connected successfully",
];

/// Each connection of each server is a session of its own: its key is the server's name, from the second on with a number.
#[derive(Default)]
struct ClaudeDesktop {
    servers: BTreeMap<Vec<u8>, ClaudeServer>,
    /// The keys in use: a server may be called like the second connection of another.
    keys: BTreeSet<String>,
}

/// A server, under the name that the log gives it.
#[derive(Default)]
struct ClaudeServer {
    /// A connection is being started. It opens with its first message, so however many lines tell of the start, and
    /// however many starts fail, there is one session for each connection that has messages.
    starting: bool,
    /// How many connections had messages.
    connections: u64,
    key: Option<String>,
}

impl Marks for ClaudeDesktop {
    fn read<'a>(&mut self, line: &'a [u8], more: &mut More) -> Option<Found<'a>> {
        let Header { time, server: name, text } = header(head(line))?;
        let name = name.unwrap_or_default();
        if may_hold_message(name) {
            return None;
        }
        if starts(&line[text..]) {
            self.servers.entry(name.to_vec()).or_default().starting = true;
            return self.text(name, line);
        }
        let Some((sender, message, length)) = message(&line[text..]) else { return self.text(name, line) };
        more.taken = Some(text + length).filter(|&taken| taken < line.len());
        let flags = Flags { truncated: is_cut(message), ..Flags::default() };
        let record = Record { time, sender: Some(sender), session: self.session(name), flags, ..Record::new(message) };
        Some((offset_in(line, message), record.into()))
    }
}

impl ClaudeDesktop {
    /// A line of text in the session of the server's last message.
    fn text<'a>(&self, name: &[u8], line: &'a [u8]) -> Option<Found<'a>> {
        let session = self.servers.get(name)?.key.clone().map(Cow::Owned);
        Some((0, LogLine { session, ..LogLine::new(line) }.into()))
    }

    /// The session of the server's next message.
    fn session(&mut self, name: &[u8]) -> Option<Cow<'static, str>> {
        let server = self.servers.entry(name.to_vec()).or_default();
        if std::mem::take(&mut server.starting) || server.connections == 0 {
            let name = String::from_utf8_lossy(name);
            server.key = loop {
                server.connections += 1;
                let key = match (&*name, server.connections) {
                    ("", 1) => break None,
                    ("", number) => number.to_string(),
                    (name, 1) => name.to_owned(),
                    (name, number) => format!("{name}-{number}"),
                };
                if self.keys.insert(key.clone()) {
                    break Some(key);
                }
            };
        }
        server.key.clone().map(Cow::Owned)
    }
}

/// The front of every line, by the app's logger.
#[derive(Debug, PartialEq)]
struct Header<'a> {
    time: Option<Time>,
    /// The server; early versions of `mcp.log` do not name it.
    server: Option<&'a [u8]>,
    /// Where the text begins in the line.
    text: usize,
}

/// Reads `TIME [SERVER] [LEVEL] `, or in `mcp.log` `TIME [LEVEL] [SERVER] `. A server's name may hold anything, brackets
/// too.
fn header(line: &[u8]) -> Option<Header<'_>> {
    let (length, time) = timestamp(line)?;
    let rest = line[length..].strip_prefix(b" [")?;
    let begin = line.len() - rest.len();
    if let Some(level) = level(rest) {
        let named = rest[level..].strip_prefix(b"[").and_then(|name| Some(&name[..memmem::find(name, b"] ")?]));
        let text = begin + level + named.map_or(0, |name| name.len() + 3);
        return Some(Header { time, server: named, text });
    }
    let end = memmem::find_iter(rest, b"] [").find(|end| level(&rest[end + 3..]).is_some())?;
    let text = begin + end + 3 + level(&rest[end + 3..])?;
    Some(Header { time, server: Some(&rest[..end]), text })
}

/// The length of `LEVEL] ` at the start of `text`.
fn level(text: &[u8]) -> Option<usize> {
    const LEVELS: [&[u8]; 7] = [b"info", b"error", b"warn", b"debug", b"verbose", b"silly", b"log"];
    let length = LEVELS.iter().find(|level| text.starts_with(level))?.len();
    text[length..].starts_with(b"] ").then_some(length + 2)
}

fn starts(text: &[u8]) -> bool {
    STARTS.iter().any(|start| text.starts_with(start))
}

/// The message that is behind the mark at the start of `text`, who sent it, and how many bytes are done with.
fn message(text: &[u8]) -> Option<(Sender, &[u8], usize)> {
    let (sender, behind) = MARKS.iter().find_map(|(mark, sender)| Some((*sender, text.strip_prefix(*mark)?)))?;
    let (length, metadata) = metadata(behind);
    let message = &behind[..length];
    let message = &message[leading_blanks(message)..];
    (!message.is_empty()).then_some((sender, message, text.len() - behind.len() + length + metadata))
}

/// How many bytes of `text` are the message, and how many behind it are the logger's: ` { metadata: undefined }`, behind
/// every message in newer logs, at the end of the line or before the next entry.
fn metadata(text: &[u8]) -> (usize, usize) {
    const START: &[u8] = b" { metadata: ";
    const UNDEFINED: &[u8] = b" { metadata: undefined }";
    let Some(first) = memmem::find(text, START) else { return (text.len(), 0) };
    if text[first..] == *UNDEFINED {
        return (first, UNDEFINED.len());
    }
    // Behind the message's own end it may be other metadata; no JSON text ends like the usual one.
    let blanks = leading_blanks(text);
    let own = blanks + extent(&text[blanks..], false).0;
    match text[own..].strip_prefix(START).and_then(|_| inspected(&text[own + 1..])) {
        Some(length) => (own, length + 1),
        None => match text.strip_suffix(UNDEFINED) {
            Some(message) => (message.len(), UNDEFINED.len()),
            None => (text.len(), 0),
        },
    }
}

/// The length of the object that `text` begins with, as Node.js shows one to developers.
fn inspected(text: &[u8]) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            _ if std::mem::take(&mut escaped) => {}
            b'\\' => escaped = quote.is_some(),
            _ if quote.is_some() => quote = quote.filter(|&open| open != byte),
            b'"' | b'\'' | b'`' => quote = Some(byte),
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return Some(at + 1),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Whether the app left out the middle of a long message: `...[52653 chars truncated]...`. Where that is inside of a
/// string, what is left is still JSON.
fn is_cut(message: &[u8]) -> bool {
    memmem::find_iter(message, b" chars truncated]").any(|at| {
        let digits = message[..at].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        digits > 0 && message[..at - digits].ends_with(b"[")
    })
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{drive, entries, texts};
    use super::super::{Entry, Format, Record};
    use super::*;

    const TIME: &str = "2025-03-10T17:03:18.764Z";

    fn records(log: &str) -> Vec<Record<'static>> {
        let found = entries(|| (ABOUT.decoder)(1000), log.as_bytes());
        let records = found.into_iter().filter_map(|(_, entry)| match entry {
            Entry::Record(record) => Some(record),
            Entry::LogLine(_) => None,
        });
        records.collect()
    }

    #[test]
    fn headers() {
        let table = [
            ("[demo] [info] x", Some(("demo", "x"))),
            ("[info] [demo] x", Some(("demo", "x"))),
            ("[error] [Control your Mac] x", Some(("Control your Mac", "x"))),
            ("[A (b) [c]] [warn] x] [y", Some(("A (b) [c]", "x] [y"))),
            ("[a] [b] [info] x", Some(("a] [b", "x"))),
            ("[info] x", Some(("", "x"))),
            ("[demo] x", None),
            ("[demo] [info]", None),
            ("x", None),
        ];
        for (rest, expected) in table {
            let line = format!("{TIME} {rest}");
            let found = header(line.as_bytes())
                .map(|header| (std::str::from_utf8(header.server.unwrap_or_default()).unwrap(), &line[header.text..]));
            assert_eq!(found, expected, "{rest}");
        }
        assert_eq!(header(b"[demo] [info] x"), None);
    }

    #[test]
    fn metadata_behind_a_message() {
        let table = [
            ("{} { metadata: undefined }", "{}"),
            ("{\"a\":\" { metadata: undefined }\"}", "{\"a\":\" { metadata: undefined }\"}"),
            ("{\"a\":\" { metadata: undefined }\"} { metadata: undefined }", "{\"a\":\" { metadata: undefined }\"}"),
            ("{\"a\":...[9 chars truncated]... { metadata: undefined }", "{\"a\":...[9 chars truncated]..."),
            ("{} { metadata: { context: 'connection', stack: undefined } }", "{}"),
            ("{\"a\":\" { metadata: 1\"}", "{\"a\":\" { metadata: 1\"}"),
            ("{} {}", "{} {}"),
            ("{}", "{}"),
        ];
        for (text, message) in table {
            let log = format!("{TIME} [demo] [info] Message from server: {text}\r\n");
            let found = records(&log);
            assert_eq!(found.len(), 1);
            assert_eq!(String::from_utf8_lossy(&found[0].bytes), message);
        }
    }

    #[test]
    fn entries_behind_the_metadata() {
        let entry = |text: &str| format!("{TIME} [demo] [info] Message from server: {text}");
        let other = "{ metadata: { a: 'it\\'s }', b: [ \"}\" ], stack: undefined } }";
        for metadata in ["{ metadata: undefined }", other] {
            let log =
                ["[1]", "{\"a\":\" { metadata: undefined }\"}", "[3]"].map(|text| entry(&format!("{text} {metadata}")));
            let log = format!("{} text\n", log.concat());
            let found = texts(&entries(|| (ABOUT.decoder)(1000), log.as_bytes()));
            assert_eq!(found, ["[1]", "{\"a\":\" { metadata: undefined }\"}", "[3]", "# text"], "{metadata}");
        }
        let many = entry("{} { metadata: undefined }").repeat(20_000);
        assert_eq!(drive(&mut *(ABOUT.decoder)(1 << 28), many.as_bytes(), &[]).len(), 20_000);
    }

    #[test]
    fn messages_cut_short() {
        let table = [
            (r#"{"a":"...[52653 chars truncated]..."}"#, true),
            (r#"{"a":[...[1 chars truncated]..."#, true),
            (r#"{"a":"[ chars truncated] [9 chars truncated]"}"#, true),
            (r#"{"a":"[n chars truncated]"}"#, false),
            (r#"{"a":"9 chars truncated]"}"#, false),
            (r#"{"a":"[9 chars"}"#, false),
        ];
        for (text, cut) in table {
            let found =
                records(&format!("{TIME} [info] [demo] Message from client: {text} {{ metadata: undefined }}\n"));
            assert_eq!(found.len(), 1);
            assert_eq!((&*found[0].bytes, found[0].flags.truncated), (text.as_bytes(), cut), "{text}");
        }
    }

    #[test]
    fn one_start_of_several_lines_opens_one_connection() {
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
            lines("demo", "ClaudeServer started and connected successfully"),
            say("demo", 5),
            say("other", 6),
        ];
        let found = records(&log.concat());
        let sessions: Vec<_> = found.iter().map(|record| record.session.as_deref().unwrap()).collect();
        assert_eq!(sessions, ["demo", "demo-2", "demo-2-2", "demo-2", "demo-3", "other"]);
        let unnamed = log.concat().replace("[demo] ", "");
        let found = records(&unnamed);
        let sessions: Vec<_> = found.iter().map(|record| record.session.as_deref()).collect();
        assert_eq!(sessions, [None, Some("2"), Some("demo-2"), Some("2"), Some("3"), Some("other")]);
    }

    #[test]
    fn what_is_recognised() {
        let table = [
            ("[demo] [info] Initializing server...", true),
            ("[info] [demo] ClaudeServer started and connected successfully { metadata: undefined }", true),
            ("[demo] [info] Initializing server...\n{\"id\":1}\n", false),
            ("[demo] [info] Message from client: {\"cut", true),
            ("[demo] [info] Message from client: no json", false),
            ("[demo] [info] Client transport closed", false),
            ("[demo] [info] x\n{}\nMessage from client: {}", false),
        ];
        for (rest, expected) in table {
            let found = Format::detect(format!("\n{TIME} {rest}").as_bytes());
            assert_eq!(found == Format::ClaudeDesktop, expected, "{rest}");
        }
        let log =
            format!("{TIME} [a] [info] Initializing server...\n{{}}\n{TIME} [a] [info] Message from client: {{}}");
        assert_eq!(Format::detect(log.as_bytes()), Format::ClaudeDesktop);
    }

    #[test]
    fn a_mark_without_a_message_is_text() {
        let mark = format!("{TIME} [demo] [info] Message from client:");
        let log = format!("{mark} \n{mark} {{ metadata: undefined }}\n{mark}{{}}");
        let found = entries(|| (ABOUT.decoder)(100), log.as_bytes());
        assert_eq!(
            texts(&found),
            [format!("# {mark}"), format!("# {mark} {{ metadata: undefined }}"), "{}".to_owned()]
        );
        // No server is called like a message.
        let odd = mark.replace("demo", "{\"jsonrpc\":\"2.0\"}") + "{}";
        assert_eq!(texts(&entries(|| (ABOUT.decoder)(100), odd.as_bytes())), [format!("# {odd}")]);
    }
}
