//! `vscode-lsp-json`: an object a line, with the message, its direction and the time in it.

use super::decoder::{Decoder, Line, Lines, Step, leading_blanks};
use super::detect::{About, Window};
use super::vscode::{Stamp, Tag};
use super::{LogLine, Record, Sender, Time};
use oxsdatatypes::{DateTime, DayTimeDuration, Decimal};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

pub(super) const ABOUT: About = About {
    name: "vscode-lsp-json",
    summary: "`[LSP   - 10:00:00] {\"isLSPMessage\":true,\"type\":\"send-request\",\"message\":{…},\"timestamp\":…}`",
    carries: "sender, time",
    sample: concat!(
        r#"[LSP   - 10:00:00 AM] {"isLSPMessage":true,"type":"send-request","message":"#,
        r#"{"jsonrpc":"2.0","id":0,"method":"shutdown"},"timestamp":1700000000123}"#,
        "\n",
        r#"[LSP   - 10:00:01 AM] {"isLSPMessage":true,"type":"receive-response","message":"#,
        r#"{"jsonrpc":"2.0","id":0,"result":null},"timestamp":1700000001456}"#,
        "\n",
    ),
    decoder: |limit| Box::new(VscodeLspJson { limit, lines: Lines::new(limit.saturating_add(AROUND)), long: None }),
};

/// A marked line, before any line that is another JSON value.
pub(super) fn detect(window: &Window<'_>) -> bool {
    let before = window.first_value().map_or(window.bytes().len(), |value| value.start);
    let mut lines = window.lines().take_while(|&(at, _)| at <= before);
    lines.any(|(_, line)| marked(line).is_some())
}

/// How many bytes a line may have besides its message.
const AROUND: usize = 4096;

/// Every marked line is a record, every other line is a [`LogLine`].
struct VscodeLspJson {
    limit: usize,
    lines: Lines,
    /// The mark of the line that is being passed over, if it has one.
    long: Option<Mark>,
}

impl Decoder for VscodeLspJson {
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        match self.lines.step(input, end) {
            Line::NeedMore => Step::NeedMore,
            Line::Skip { consumed } => Step::Skip { consumed },
            Line::Whole { text, consumed } => match marked(text) {
                Some(mark) => {
                    let (start, record) = record(text, mark, self.limit);
                    Step::entry(start, consumed, record)
                }
                None => Step::entry(0, consumed, LogLine::new(text)),
            },
            Line::Long { head, consumed } => {
                self.long = marked(&head[..head.len().min(AROUND)]);
                Step::Begin { start: self.long.map_or(0, |mark| mark.object), consumed }
            }
            Line::End { length, consumed } => match self.long.take() {
                Some(mark) => {
                    let record = Record::oversized(length.saturating_sub(mark.object as u64));
                    Step::entry(0, consumed, Record { time: mark.time, ..record })
                }
                None => Step::entry(0, consumed, LogLine::oversized(length)),
            },
        }
    }
}

/// What shows that a line is a record.
#[derive(Clone, Copy)]
struct Mark {
    time: Option<Time>,
    /// Where the object begins in the line.
    object: usize,
}

/// The mark of a line: `[LSP   - CLOCK]` and an object, or an object that says by its first member what it is.
fn marked(line: &[u8]) -> Option<Mark> {
    let stamp = Stamp::of(line);
    let object = stamp.map_or(0, |stamp| stamp.rest);
    let [b'{', inside @ ..] = &line[object..] else { return None };
    let tagged = stamp.is_some_and(|stamp| stamp.tag == Some(Tag::Lsp));
    let named = inside[leading_blanks(inside)..].starts_with(b"\"isLSPMessage\"");
    (tagged || named).then_some(Mark { time: stamp.and_then(|stamp| stamp.time), object })
}

/// The record of a marked line, and where it begins. Where there is no message in the object, it is the object itself.
fn record<'a>(line: &'a [u8], mark: Mark, limit: usize) -> (usize, Record<'a>) {
    let whole = &line[mark.object..];
    let members: BTreeMap<String, &'a RawValue> = serde_json::from_slice(whole).unwrap_or_default();
    let member = |name: &str| members.get(name).map(|value| value.get());
    let message = member("message").map_or(whole, str::as_bytes);
    let record = match message.len() > limit {
        true => Record::oversized(message.len() as u64),
        false => Record::new(message),
    };
    let sender = member("type").and_then(|kind| match kind.trim_matches('"').split_once('-')?.0 {
        "send" => Some(Sender::Client),
        "receive" | "recv" => Some(Sender::Server),
        _ => None,
    });
    let time = member("timestamp").and_then(since_epoch).map(Time::DateTime).or(mark.time);
    // The message is a part of the line, whose place in memory says where.
    let start = message.as_ptr() as usize - line.as_ptr() as usize;
    (start, Record { sender, time, ..record })
}

/// The time that lies so many milliseconds after the start of 1970.
fn since_epoch(milliseconds: &str) -> Option<DateTime> {
    let seconds = milliseconds.parse::<Decimal>().ok()?.checked_div(1000)?;
    let epoch: DateTime = "1970-01-01T00:00:00Z".parse().ok()?;
    epoch.checked_add_day_time_duration(DayTimeDuration::new(seconds))
}

#[cfg(test)]
mod tests {
    use super::super::Entry;
    use super::super::decoder::tests::{entries, entries_of_long, texts};
    use super::*;

    fn line(kind: &str, message: &str) -> String {
        format!("[LSP   - 1:00:00 PM] {{\"isLSPMessage\":true,\"type\":\"{kind}\",\"message\":{message}}}\n")
    }

    #[test]
    fn the_message_as_it_is_spelled() {
        let message = "{ \"id\" : 1.0, \"method\":\"\\u0061\", \"method\":\"b\"}";
        let input = line("send-request", message);
        let found = entries(|| (ABOUT.decoder)(100), input.as_bytes());
        assert_eq!(texts(&found), [message]);
        assert_eq!(found[0].0, input.find("{ ").unwrap());
    }

    #[test]
    fn senders_and_times() {
        let table = [
            ("\"send-request\"", "1534721620392", Some(Sender::Client), "2018-08-19T23:33:40.392Z"),
            ("\"receive-response\"", "1534721620392.5", Some(Sender::Server), "2018-08-19T23:33:40.3925Z"),
            ("\"recv-notification\"", "0", Some(Sender::Server), "1970-01-01T00:00:00Z"),
            ("\"other\"", "-1", None, "1969-12-31T23:59:59.999Z"),
        ];
        for (kind, timestamp, sender, time) in table {
            let text = format!("{{\"isLSPMessage\":true,\"type\":{kind},\"timestamp\":{timestamp},\"message\":{{}}}}");
            let mark = marked(text.as_bytes()).unwrap();
            let (_, record) = record(text.as_bytes(), mark, 100);
            assert_eq!(record.sender, sender, "{kind}");
            assert_eq!(record.time, Some(Time::DateTime(time.parse().unwrap())), "{timestamp}");
        }
    }

    #[test]
    fn the_clock_where_there_is_no_timestamp() {
        let found = entries(|| (ABOUT.decoder)(100), line("send-request", "{}").as_bytes());
        let Entry::Record(record) = &found[0].1 else { panic!() };
        assert_eq!(record.time, Some(Time::Clock("13:00:00".parse().unwrap())));
    }

    #[test]
    fn lines_that_are_cut_or_are_no_messages() {
        let input = concat!(
            "[Info  - 1:00:00 PM] {}\n",
            "[Trace - 1:00:00 PM] {\"a\":1}\n",
            "{\"isLSPMessage\" : true}\n",
            "  {\"message\":{}}\n",
            "2023-11-17 13:00:00.000 [trace] {\"isLSPMessage\":true,\"message\":[1]} \r\n",
            "[LSP   - 1:00:00 PM] {\"isLSPMessage\":true,\"message\":{\"id\"",
        );
        let found = texts(&entries(|| (ABOUT.decoder)(100), input.as_bytes()));
        let expected = [
            "# [Info  - 1:00:00 PM] {}",
            "# [Trace - 1:00:00 PM] {\"a\":1}",
            "{\"isLSPMessage\" : true}",
            "# {\"message\":{}}",
            "[1]",
            "{\"isLSPMessage\":true,\"message\":{\"id\"",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_limit_is_for_the_message() {
        let message = |length: usize| format!("\"{}\"", "x".repeat(length - 2));
        let input = line("a", &message(8)) + &line("b", &message(9)) + &line("c", &message(5000)) + &"x".repeat(5000);
        let found = texts(&entries_of_long(|| (ABOUT.decoder)(8), input.as_bytes()));
        assert_eq!(found, ["\"xxxxxx\"", "<9>", "<5043>", "# <5000>"]);
    }
}
