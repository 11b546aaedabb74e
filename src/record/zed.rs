//! `zed`: the messages of one language or context server, as the Zed editor shows them.

use super::about::{About, Sign, Window};
use super::decoder::{Step, leading_blanks};
use super::json_values::JsonValues;
use super::marked::{Found, LineInInput, MarkedLines, Marks, More};
use super::times::with_units;
use super::{Entry, LogLine, Record, Sender};
use oxsdatatypes::Decimal;

pub(super) const ABOUT: About = About {
    summary: "`// Send:`, `// Receive:` or `// Receive (took 2.8ms):` on a line, and below it messages, on a line each or pretty-printed",
    carries: "sender, stated durations",
    sign: Sign::Line(detect),
    decoder: |limit| {
        let values = JsonValues::new(limit, STARTS);
        MarkedLines::boxed(limit, HEADING, Zed { values, line_begins: true, sender: None, took: None })
    },
};

/// True if a heading is followed by an object or array, on the next line that is not blank, before any line that is a
/// JSON value.
fn detect(window: &Window<'_>) -> bool {
    let next = window.lines().skip(1).map(|(_, line)| line);
    window
        .lines_before_values()
        .zip(next)
        .any(|(line, next)| heading(line).is_some() && matches!(next, [b'{' | b'[', ..]))
}

/// The first bytes of a line that ends a message with a syntax error. In JSON text, a line never begins with `/`.
const STARTS: &[u8] = b"{[/";

/// The maximum length of a heading, in bytes.
const HEADING: usize = 64;

/// Returns the side that sent the messages below this line, and the time that the first answer took. A message has a
/// heading of its own only if the direction changes, or if an answer took its time.
fn heading(line: &[u8]) -> Option<(Sender, Option<Decimal>)> {
    match line {
        b"// Send:" => Some((Sender::Client, None)),
        b"// Receive:" => Some((Sender::Server, None)),
        _ => {
            let took = line.strip_prefix(b"// Receive (took ")?.strip_suffix(b"):")?;
            Some((Sender::Server, Some(with_units(std::str::from_utf8(took).ok()?)?)))
        }
    }
}

/// Objects and arrays are records, whole or with a syntax error; every other line is a heading or text.
struct Zed {
    values: JsonValues,
    /// True if only blanks stand before the current place on its line.
    line_begins: bool,
    sender: Option<Sender>,
    took: Option<Decimal>,
}

impl Marks for Zed {
    fn resume<'a>(&mut self, input: &'a [u8], end: bool, more: &mut More) -> Option<Step<'a>> {
        if !self.values.are_inside() && !matches!(input, [b'{' | b'[', ..]) {
            let blanks = &input[..leading_blanks(input)];
            self.line_begins |= blanks.contains(&b'\n');
            return (!blanks.is_empty()).then_some(Step::Skip { consumed: blanks.len() });
        }
        let step = self.values.resume(input, end, more)?;
        if let Step::Entry { consumed, .. } = step {
            // A value that is too long, or has a syntax error, ends where a line begins. The step may consume no bytes
            // of it.
            self.line_begins = input[..consumed].last().is_none_or(|&byte| byte == b'\n');
        }
        Some(step.map(|entry| match entry {
            Entry::Record(record) => Record { sender: self.sender, latency: self.took.take(), ..record }.into(),
            line => line,
        }))
    }

    fn below<'a>(&mut self, at: LineInInput<'a>, _: &mut More) -> Option<Step<'a>> {
        let (sender, took) = heading(at.line).filter(|_| self.line_begins)?;
        (self.sender, self.took, self.line_begins) = (Some(sender), took, true);
        Some(Step::Skip { consumed: at.length })
    }

    fn read<'a>(&mut self, line: &'a [u8], _: &mut More) -> Option<Found<'a>> {
        self.line_begins = true;
        Some((0, LogLine::new(line).into()))
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
    fn the_first_answer_below_took_its_time() {
        let log = "// Receive (took 2.819125ms):\n{}\n[]\n// Receive (took long):\n// Receive:\n{}";
        let found = entries(|| (ABOUT.decoder)(100), log.as_bytes());
        let latency = |entry: &Entry<'_>| match entry {
            Entry::Record(record) => record.latency.map(|seconds| seconds.to_string()),
            Entry::LogLine(line) => Some(String::from_utf8_lossy(&line.bytes).into_owned()),
        };
        let found: Vec<_> = found.iter().map(|(_, entry)| latency(entry)).collect();
        assert_eq!(found, [Some("0.002819125".to_owned()), None, Some("// Receive (took long):".to_owned()), None]);
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
