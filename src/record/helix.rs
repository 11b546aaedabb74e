//! `helix`: the log of the Helix editor, with the messages of all its language servers.

use super::about::{About, Sign, Window};
use super::decoder::leading_blanks;
use super::marked::{Found, HEAD, MarkedLines, Marks, More, head, is_structured};
use super::object::{RawObject, elements, is_message};
use super::times::timestamp;
use super::value::is_whole;
use super::{Record, Sender};
use memchr::memmem;
use std::collections::BTreeSet;

pub(super) const ABOUT: About = About {
    summary: "`2026-01-06T04:04:15.018 helix_lsp::transport [INFO] subtl <- {…}` and `-> {…}`; other lines are text",
    carries: "sender, time, language server",
    sign: Sign::Line(detect),
    decoder: |limit| MarkedLines::boxed(limit, HEAD, Helix::default()),
};

/// True if a line has an arrow and an object or array after it, before any line that is a JSON value.
fn detect(window: &Window<'_>) -> bool {
    window.lines_before_values().any(|line| is_structured(Helix::default().read(line, &mut More::default())))
}

/// The messages of each language server are one session.
#[derive(Default)]
struct Helix {
    /// The servers that have just answered: each may repeat its result.
    answered: BTreeSet<String>,
}

impl Marks for Helix {
    fn read<'a>(&mut self, line: &'a [u8], _: &mut More) -> Option<Found<'a>> {
        let (start, record) = mark(line)?;
        if record.sender == Some(Sender::Server) {
            let server = record.session.as_deref().unwrap_or_default();
            let answered = self.answered.remove(server);
            match answer(&record.bytes) {
                // Versions up to 24 write a response and then its result alone, with the same arrow.
                HelixAnswer::Value if answered => return None,
                HelixAnswer::Result => {
                    self.answered.insert(server.to_owned());
                }
                _ => {}
            }
        }
        Some((start, record.into()))
    }
}

/// Returns the message after an arrow, and its offset. Lines of other levels have the same arrow before errors and
/// before the server's output to stderr.
fn mark(line: &[u8]) -> Option<(usize, Record<'_>)> {
    let front = head(line);
    let (length, time) = timestamp(front)?;
    let text = front[length..].strip_prefix(b" helix_lsp::transport [INFO]")?;
    let (at, sender) = match (memmem::find(text, b" -> "), memmem::find(text, b" <- ")) {
        (Some(sent), received) if received.is_none_or(|at| sent < at) => (sent, Sender::Client),
        (_, received) => (received?, Sender::Server),
    };
    let server = &text[leading_blanks(text).min(at)..at];
    if server == b"err" || server.ends_with(b" err") {
        return None;
    }
    let behind = front.len() - text.len() + at + 4;
    let start = behind + leading_blanks(&line[behind..]);
    // Versions before 23 did not name the server.
    let session = (!server.is_empty()).then(|| String::from_utf8_lossy(server));
    (start < front.len())
        .then(|| (start, Record { time, sender: Some(sender), session, ..Record::new(&line[start..]) }))
}

/// The kind of text that a server sent.
#[derive(Clone, Copy, PartialEq, Debug)]
enum HelixAnswer {
    /// A response with a result.
    Result,
    /// Another object with members of a message, a batch, or text that is not JSON.
    Other,
    /// JSON that is not a message.
    Value,
}

fn answer(text: &[u8]) -> HelixAnswer {
    if !is_whole(text) {
        return HelixAnswer::Other;
    }
    if text.starts_with(b"[") {
        return match elements(text).next().map(answer) {
            None | Some(HelixAnswer::Value) => HelixAnswer::Value,
            Some(_) => HelixAnswer::Other,
        };
    }
    let Some(object) = RawObject::parse(text) else { return HelixAnswer::Value };
    match object.has("method") {
        false if object.has("id") && object.has("result") => HelixAnswer::Result,
        called if called || is_message(&object) => HelixAnswer::Other,
        _ => HelixAnswer::Value,
    }
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{entries, texts};
    use super::*;

    fn found(line: &str) -> Option<(&str, Sender, &str)> {
        let (start, record) = mark(line.as_bytes())?;
        let server = record.session.unwrap_or_default();
        Some((line.matches(&*server).next()?, record.sender?, &line[start..]))
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
    fn answers() {
        let table = [
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, HelixAnswer::Result),
            (r#"{"id":1,"result":[]}"#, HelixAnswer::Result),
            (r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, HelixAnswer::Other),
            (r#"{"id":1,"error":{}}"#, HelixAnswer::Other),
            (r#"{"method":"x"}"#, HelixAnswer::Other),
            (r#"{"jsonrpc":"2.0"}"#, HelixAnswer::Other),
            (r#"[{"jsonrpc":"2.0","id":1,"result":null}]"#, HelixAnswer::Other),
            (r#"{"cut":"#, HelixAnswer::Other),
            ("[1,", HelixAnswer::Other),
            ("text", HelixAnswer::Other),
            (r#"{"id":1}"#, HelixAnswer::Value),
            (r#"{"result":1}"#, HelixAnswer::Value),
            (r#"[{"range":1}]"#, HelixAnswer::Value),
            ("[]", HelixAnswer::Value),
            ("[[]]", HelixAnswer::Value),
            ("null", HelixAnswer::Value),
            ("\"a\"", HelixAnswer::Value),
        ];
        for (text, expected) in table {
            assert_eq!(answer(text.as_bytes()), expected, "{text}");
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
