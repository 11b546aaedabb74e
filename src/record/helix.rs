//! `helix`: the log of the Helix editor, which holds the messages of all its language servers.

use super::decoder::leading_blanks;
use super::detect::{About, Window};
use super::marked::{Marked, MarkedLines, Marks, head, lines_before_values, timestamp};
use super::{Sender, Time};
use memchr::memmem;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const ABOUT: About = About {
    name: "helix",
    summary: "`2026-01-06T04:04:15.018 helix_lsp::transport [INFO] subtl <- {…}` and `-> {…}`; other lines are text",
    carries: "sender, time, language server",
    sample: concat!(
        r#"2026-01-06T04:04:15.018 helix_lsp::transport [INFO] subtl -> {"jsonrpc":"2.0","method":"shutdown","id":1}"#,
        "\n",
        r#"2026-01-06T04:04:15.021 helix_lsp::transport [INFO] subtl <- {"jsonrpc":"2.0","id":1,"result":null}"#,
        "\n",
    ),
    decoder: |limit| Box::new(MarkedLines::new(limit, Helix::default())),
};

/// A line with an arrow and an object or array behind it, before any line that is a JSON value.
pub(super) fn detect(window: &Window<'_>) -> bool {
    lines_before_values(window)
        .any(|line| mark(head(line)).is_some_and(|found| matches!(line[found.message..], [b'{' | b'[', ..])))
}

/// Each language server's messages are a session of their own.
#[derive(Default)]
struct Helix {
    /// The servers that have just answered, so that a result may be repeated.
    answered: BTreeSet<Vec<u8>>,
}

impl Marks for Helix {
    fn read<'a>(&mut self, line: &'a [u8]) -> Option<Marked<'a>> {
        let Mark { time, server, sender, message } = mark(head(line))?;
        if sender == Sender::Server {
            let found = kind(&line[message..]);
            let answered = self.answered.remove(server);
            match found {
                // Versions up to 24 write a response and then, with the same arrow, its result alone.
                Kind::NoMessage if answered => return None,
                Kind::Result => {
                    self.answered.insert(server.to_vec());
                }
                _ => {}
            }
        }
        let session = (!server.is_empty()).then(|| String::from_utf8_lossy(server));
        Some(Marked { message: message..line.len(), time, sender, session, truncated: false })
    }
}

/// What stands in front of a message.
struct Mark<'a> {
    time: Option<Time>,
    /// The language server; versions before 23 did not name it.
    server: &'a [u8],
    sender: Sender,
    /// Where the message begins in the line.
    message: usize,
}

/// Lines of other levels have the same arrow in front of errors and of what the server wrote to stderr.
fn mark(line: &[u8]) -> Option<Mark<'_>> {
    let (length, time) = timestamp(line)?;
    let text = line[length..].strip_prefix(b" helix_lsp::transport [INFO]")?;
    let (at, sender) = match (memmem::find(text, b" -> "), memmem::find(text, b" <- ")) {
        (Some(sent), received) if received.is_none_or(|at| sent < at) => (sent, Sender::Client),
        (_, received) => (received?, Sender::Server),
    };
    let server = &text[leading_blanks(text).min(at)..at];
    if server == b"err" || server.ends_with(b" err") {
        return None;
    }
    let behind = line.len() - text.len() + at + 4;
    let message = behind + leading_blanks(&line[behind..]);
    (message < line.len()).then_some(Mark { time, server, sender, message })
}

/// What a server sent.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    /// A response with a result.
    Result,
    /// Something else that has members of a message, or a batch, or something that is no JSON.
    Other,
    /// JSON, but no message.
    NoMessage,
}

fn kind(text: &[u8]) -> Kind {
    match text.first() {
        Some(b'[') => match serde_json::from_slice::<Vec<&RawValue>>(text) {
            Ok(elements) => elements.first().map_or(Kind::NoMessage, |first| match kind_of_object(first.get()) {
                Kind::NoMessage => Kind::NoMessage,
                _ => Kind::Other,
            }),
            Err(_) => Kind::Other,
        },
        _ => match serde_json::from_slice::<&RawValue>(text) {
            Ok(value) => kind_of_object(value.get()),
            Err(_) => Kind::Other,
        },
    }
}

/// A result may be any JSON, so an object needs more than one member of a message to be one.
fn kind_of_object(text: &str) -> Kind {
    let Ok(members) = serde_json::from_str::<BTreeMap<String, &RawValue>>(text) else { return Kind::NoMessage };
    let has = |name| members.contains_key(name);
    match (has("jsonrpc"), has("method"), has("id")) {
        (_, false, true) if has("result") => Kind::Result,
        (true, _, _) | (_, true, _) => Kind::Other,
        (_, _, true) if has("error") => Kind::Other,
        _ => Kind::NoMessage,
    }
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{entries, texts};
    use super::*;

    fn found(line: &str) -> Option<(&str, Sender, &str)> {
        let mark = mark(line.as_bytes())?;
        Some((std::str::from_utf8(mark.server).unwrap(), mark.sender, &line[mark.message..]))
    }

    #[test]
    fn arrows_at_info_only() {
        let line = |rest: &str| format!("2026-01-06T04:04:15.018 helix_lsp::transport {rest}");
        let table = [
            ("[INFO] subtl <- {}", Some(("subtl", Sender::Server, "{}"))),
            ("[INFO] subtl -> {}", Some(("subtl", Sender::Client, "{}"))),
            ("[INFO] a b ->  [\" <- \"]", Some(("a b", Sender::Client, "[\" <- \"]"))),
            ("[INFO] x <- {\"a\":\" -> \"}", Some(("x", Sender::Server, "{\"a\":\" -> \"}"))),
            ("[INFO] <- {}", Some(("", Sender::Server, "{}"))),
            ("[INFO] -> {}", Some(("", Sender::Client, "{}"))),
            ("[INFO] subtl <- null", Some(("subtl", Sender::Server, "null"))),
            ("[ERROR] subtl <- {}", None),
            ("[ERROR] subtl err <- \"{}\"", None),
            ("[INFO] subtl err <- \"{}\"", None),
            ("[INFO] err <- \"{}\"", None),
            ("[INFO] subtl <- ", None),
            ("[INFO] subtl <-", None),
            ("[INFO] subtl", None),
        ];
        for (rest, expected) in table {
            assert_eq!(found(&line(rest)), expected, "{rest}");
        }
        assert_eq!(found("2026-01-06T04:04:15.018 helix_dap::transport [INFO] <- {}"), None);
        assert_eq!(found("helix_lsp::transport [INFO] subtl <- {}"), None);
    }

    #[test]
    fn kinds() {
        let table = [
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, Kind::Result),
            (r#"{"id":1,"result":[]}"#, Kind::Result),
            (r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, Kind::Other),
            (r#"{"id":1,"error":{}}"#, Kind::Other),
            (r#"{"method":"x"}"#, Kind::Other),
            (r#"{"jsonrpc":"2.0"}"#, Kind::Other),
            (r#"[{"jsonrpc":"2.0","id":1,"result":null}]"#, Kind::Other),
            (r#"{"cut":"#, Kind::Other),
            ("[1,", Kind::Other),
            ("text", Kind::Other),
            (r#"{"id":1}"#, Kind::NoMessage),
            (r#"{"result":1}"#, Kind::NoMessage),
            (r#"[{"range":1}]"#, Kind::NoMessage),
            ("[]", Kind::NoMessage),
            ("[[]]", Kind::NoMessage),
            ("null", Kind::NoMessage),
            ("\"a\"", Kind::NoMessage),
        ];
        for (text, expected) in table {
            assert_eq!(kind(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_result_that_is_repeated_is_no_message() {
        let log = [
            r#"a <- {"jsonrpc":"2.0","id":1,"result":[]}"#,
            r#"b <- []"#,
            r#"a -> {"jsonrpc":"2.0","method":"exit"}"#,
            r#"a <- []"#,
            r#"a <- []"#,
            r#"a <- {"jsonrpc":"2.0","id":2,"result":{"id":3}}"#,
            r#"a <- {"jsonrpc":"2.0","method":"m"}"#,
            r#"a <- {"id":3}"#,
            r#"a <- {"jsonrpc":"2.0","id":2,"error":{}}"#,
            r#"a <- 5"#,
        ];
        let log = log.map(|rest| format!("2026-01-06T04:04:15.018 helix_lsp::transport [INFO] {rest}\n")).concat();
        let found = texts(&entries(|| (ABOUT.decoder)(100), log.as_bytes()));
        let lines: Vec<_> = (1..).zip(&found).filter(|(_, text)| text.starts_with('#')).map(|(n, _)| n).collect();
        assert_eq!(lines, [4], "{found:?}");
    }
}
