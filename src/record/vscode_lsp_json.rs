//! `vscode-lsp-json`: one object per line, with the message, its direction and its time.

use super::certainty::may_hold_message;
use super::decoder::{leading_blanks, split_once};
use super::format_info::{FormatClue, FormatInfo, InputHead};
use super::lines::{FoundEntry, HEAD, line_splitter};
use super::object::{RawObject, offset_in};
use super::times::{epoch, from_milliseconds};
use super::vscode::{LineStamp, LineTag};
use super::{Record, Sender, Time};

pub(super) const ABOUT: FormatInfo = FormatInfo {
    summary: "`[LSP   - 10:00:00] {\"isLSPMessage\":true,\"type\":\"send-request\",\"message\":{…},\"timestamp\":…}`",
    carries: "sender, time",
    clue: FormatClue::Line(detect),
    decoder: |limit| line_splitter(limit, HEAD, |line, _| read(line)),
};

/// True if a line is marked, before any line that is another JSON value.
fn detect(window: &InputHead<'_>) -> bool {
    let mut lines = window.lines().take_while(|&(at, _)| at <= window.before_values());
    lines.any(|(_, line)| marked(line).is_some())
}

/// Finds the mark of a record: `[LSP   - CLOCK]` and an object, or an object whose first member identifies it. Returns
/// the time, and the offset of the object.
fn marked(line: &[u8]) -> Option<(Option<Time>, usize)> {
    let stamp = LineStamp::of(line);
    let object = stamp.map_or(0, |stamp| stamp.rest);
    let [b'{', inside @ ..] = &line[object..] else { return None };
    let tagged = stamp.is_some_and(|stamp| stamp.tag == Some(LineTag::Lsp));
    let named = inside[leading_blanks(inside)..].starts_with(b"\"isLSPMessage\"");
    (tagged || named).then_some((stamp.and_then(|stamp| stamp.time), object))
}

/// Reads a marked line, which is always a record. If the object may hold several messages, or none, or has a syntax
/// error, the record is the object itself.
fn read(line: &[u8]) -> Option<FoundEntry<'_>> {
    let (clock, object) = marked(line)?;
    let whole = &line[object..];
    let envelope = RawObject::parse(whole).filter(RawObject::is_whole);
    let get = |name| envelope.as_ref()?.get(name);
    let holds_message = |(name, value): (&[u8], _)| name == b"message" || may_hold_message(value);
    let is_alone = envelope
        .as_ref()
        .is_some_and(|envelope| envelope.members().filter(|member| holds_message(*member)).count() == 1);
    let message = get("message").filter(|_| is_alone).unwrap_or(whole);
    let sender = match get("type").and_then(|kind| split_once(kind, b"-")) {
        Some((b"\"send", _)) => Some(Sender::Client),
        Some((b"\"receive" | b"\"recv", _)) => Some(Sender::Server),
        _ => None,
    };
    let time = get("timestamp").and_then(from_milliseconds).and_then(epoch).or(clock);
    Some((offset_in(line, message), Record { sender, time, ..Record::new(message) }.into()))
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
    fn objects_with_several_messages_stay_whole() {
        let message = r#"{"id":1,"method":"a"}"#;
        for more in
            [format!(r#","more":{message}"#), format!(r#" "type":{message}"#), format!(r#","message":{message}"#)]
        {
            let object = format!(r#"{{"isLSPMessage":true,"message":{message}{more}}}"#);
            let found = texts(&entries(|| (ABOUT.decoder)(1000), object.as_bytes()));
            assert_eq!(found, [object]);
        }
    }

    #[test]
    fn senders_and_times() {
        let table = [
            ("\"send-request\"", "1534721620392", Some(Sender::Client), Some("2018-08-19T23:33:40.392Z")),
            ("\"receive-response\"", "1534721620392.5", Some(Sender::Server), Some("2018-08-19T23:33:40.3925Z")),
            ("\"recv-notification\"", "0", Some(Sender::Server), None),
            ("\"other\"", "-1", None, None),
        ];
        for (kind, timestamp, sender, time) in table {
            let text = format!("{{\"isLSPMessage\":true,\"type\":{kind},\"timestamp\":{timestamp},\"message\":{{}}}}");
            let Some((_, Entry::Record(record))) = read(text.as_bytes()) else { panic!("{text}") };
            assert_eq!(record.sender, sender, "{kind}");
            let time = time.map(|time: &str| Time::DateTime(time.parse().unwrap()));
            assert_eq!(record.time, time, "{timestamp}");
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
            "{\"isLSPMessage\":1,\"message\":{},\"message\":[]}\n",
            "  {\"message\":{}}\n",
            "2023-11-17 13:00:00.000 [trace] {\"isLSPMessage\":true,\"message\":[1]} \r\n",
            "[LSP   - 1:00:00 PM] {\"isLSPMessage\":true,\"message\":{\"id\"",
        );
        let found = texts(&entries(|| (ABOUT.decoder)(100), input.as_bytes()));
        let expected = [
            "# [Info  - 1:00:00 PM] {}",
            "# [Trace - 1:00:00 PM] {\"a\":1}",
            "{\"isLSPMessage\" : true}",
            "{\"isLSPMessage\":1,\"message\":{},\"message\":[]}",
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
