//! `zed`: what the Zed editor shows of the messages of one language or context server.

use super::decoder::{Decoder, Line, Lines, Step, leading_blanks};
use super::detect::{About, Window};
use super::json_values::JsonValues;
use super::{Entry, LogLine, Record, Sender};

pub(super) const ABOUT: About = About {
    name: "zed",
    summary: "`// Send:` or `// Receive:` on a line, and below it messages, on a line each or pretty-printed",
    carries: "sender",
    sample: concat!(
        "// Send:\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#,
        "\n\n// Receive:\n{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"result\": null\n}\n",
    ),
    decoder: |limit| {
        let (lines, values) = (Lines::new(limit.max(HEADING)), JsonValues::new(limit, STARTS));
        Box::new(Zed { lines, values, state: State::Between, line_begins: true, sender: None })
    },
};

/// A heading, and on the next line that is not blank an object or array, before any line that is a JSON value.
pub(super) fn detect(window: &Window<'_>) -> bool {
    let before = window.first_value().map_or(window.bytes().len(), |value| value.start);
    let lines = || window.lines();
    lines()
        .take_while(|&(at, _)| at < before)
        .zip(lines().skip(1))
        .any(|((_, line), (_, next))| heading(line).is_some() && matches!(next, [b'{' | b'[', ..]))
}

/// What a line begins with that ends a message with an error in it. No JSON text has such a line with `/`.
const STARTS: &[u8] = b"{[/";

/// How long a heading is at most.
const HEADING: usize = 11;

/// Who sent the messages below this line. A message has a heading of its own only where the direction changes.
fn heading(line: &[u8]) -> Option<Sender> {
    match line {
        b"// Send:" => Some(Sender::Client),
        b"// Receive:" => Some(Sender::Server),
        _ => None,
    }
}

/// Objects and arrays are records, whole or with an error in them; every other line is a heading or a [`LogLine`].
struct Zed {
    lines: Lines,
    values: JsonValues,
    state: State,
    /// Whether nothing but blanks stands before this place on its line.
    line_begins: bool,
    sender: Option<Sender>,
}

/// What is being looked at.
#[derive(Clone, Copy)]
enum State {
    Between,
    Line,
    Value,
}

impl Decoder for Zed {
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        if matches!(self.state, State::Between) {
            let blanks = leading_blanks(input);
            if blanks > 0 {
                self.line_begins |= input[..blanks].contains(&b'\n');
                return Step::Skip { consumed: blanks };
            }
            self.state = match input.first() {
                None => return Step::NeedMore,
                Some(b'{' | b'[') => State::Value,
                Some(_) => State::Line,
            };
        }
        let is_value = matches!(self.state, State::Value);
        let step = if is_value { self.values.step(input, end) } else { self.line(input, end) };
        match step {
            Step::Entry { start, consumed, entry } => {
                self.state = State::Between;
                // A value that is too long, or has an error, ends where a line begins; nothing of it may be left.
                self.line_begins = !is_value || input[..consumed].last().is_none_or(|&byte| byte == b'\n');
                let entry = match entry {
                    Entry::Record(record) => Record { sender: self.sender, ..record }.into(),
                    line => line,
                };
                Step::Entry { start, consumed, entry }
            }
            step => step,
        }
    }
}

impl Zed {
    fn line<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        match self.lines.step(input, end) {
            Line::NeedMore => Step::NeedMore,
            Line::Skip { consumed } => Step::Skip { consumed },
            Line::Whole { text, consumed } => match heading(text).filter(|_| self.line_begins) {
                Some(sender) => {
                    self.sender = Some(sender);
                    self.state = State::Between;
                    Step::Skip { consumed }
                }
                None => Step::entry(0, consumed, LogLine::new(text)),
            },
            Line::Long { consumed, .. } => Step::Begin { start: 0, consumed },
            Line::End { length, consumed } => Step::entry(0, consumed, LogLine::oversized(length)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::decoder::tests::{entries, texts};
    use super::*;

    fn found(limit: usize, log: &str) -> Vec<String> {
        let entries = entries(|| (ABOUT.decoder)(limit), log.as_bytes());
        let senders = entries.iter().map(|(_, entry)| match entry {
            Entry::Record(record) => match record.sender {
                Some(Sender::Client) => "> ",
                Some(Sender::Server) => "< ",
                None => "? ",
            },
            Entry::LogLine(_) => "",
        });
        senders.zip(texts(&entries)).map(|(sender, text)| format!("{sender}{text}")).collect()
    }

    #[test]
    fn headings_hold_until_the_next() {
        let log =
            "{}\n\n// Send:\n{\"a\":1}\r\n[\n2\n]\n\n// Receive:\r\n{\n  \"b\": {\n}\n}\n// Send:\n// Receive:\n[]\n";
        let expected = ["? {}", "> {\"a\":1}", "> [\n2\n]", "< {\n  \"b\": {\n}\n}", "< []"];
        assert_eq!(found(100, log), expected);
    }

    #[test]
    fn other_lines_are_text() {
        let log = "// a comment\n// Send: now\n//Send:\n// Send:\nstderr: text\n{} // Receive:\n12\n// Receive:\n";
        let expected =
            ["# // a comment", "# // Send: now", "# //Send:", "# stderr: text", "> {}", "# // Receive:", "# 12"];
        assert_eq!(found(100, log), expected);
    }

    #[test]
    fn a_broken_message_ends_at_the_next_heading() {
        let log = "// Send:\n{\n  \"cut\": [\n\n// Receive:\n{oops}\n{\"a\":1}\n// Send:\n[1,";
        assert_eq!(found(100, log), ["> {\n  \"cut\": [", "< {oops}", "< {\"a\":1}", "> [1,"]);
    }

    #[test]
    fn the_limit() {
        let log =
            "// Receive:\n[12345]\n// Send:\n{\"a\":\n1}\n{}\n// a long comment\n[1234]\n{oops\n\n}\n// Receive:\n[1]";
        let expected = ["< <7>", "> <8>", "> {}", "# <17>", "> [1234]", "> <8>", "< [1]"];
        assert_eq!(found(6, log), expected);
    }

    #[test]
    fn what_is_recognised() {
        let table = [
            ("// Send:\n{\"cut\":", true),
            ("\n// Receive:\r\n\r\n[]\n", true),
            ("a banner\n// Send:\n{}\n", true),
            ("// Send:\n", false),
            ("// Send:\n>> {}\n", false),
            ("// Send:\ntext\n{}\n", false),
            ("{}\n// Send:\n{}\n", false),
        ];
        for (log, expected) in table {
            assert_eq!(Format::detect(log.as_bytes()) == Format::Zed, expected, "{log}");
        }
    }
}
