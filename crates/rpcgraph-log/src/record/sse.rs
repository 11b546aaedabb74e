//! `sse`: a stream of server-sent events, read as in section 9.2.6 of the HTML standard, and the HTTP heads around it.

use super::certainty::Certainty;
use super::decoder::{Decoder, Step, is_blank, leading_blanks, trim_end};
use super::lines::{Extras, LineFormat, LineSplitter};
use super::object::{RawObject, objects};
use super::value::{Extent, may_be_message, value};
use super::window::InputHead;
use super::{LogLine, Record, Sender};
use memchr::{memchr2, memmem};
use std::borrow::Cow;

pub(super) fn decoder() -> Box<dyn Decoder> {
    LineSplitter::boxed(Sse::default())
}

/// True for the HTTP head of an event stream, or an event whose data begins as a message does, before any line that is
/// a JSON value.
pub(super) fn detect(window: &InputHead<'_>) -> bool {
    let before = window.before_values();
    let mut rest = &window.bytes[..before];
    let (mut fields_only, mut named, mut message, mut http) = (true, false, false, false);
    while !rest.is_empty() {
        let Some(SseLine { text, length }) = line(rest, true) else { return false };
        rest = &rest[length..];
        if text.is_empty() {
            if fields_only && message {
                return true;
            }
            (fields_only, named, message, http) = (true, false, false, false);
            continue;
        }
        let (name, content) = field(text);
        let content = &content[leading_blanks(content)..];
        let starts = |start: &[u8]| content.len() >= start.len() && content[..start.len()].eq_ignore_ascii_case(start);
        http |= text.starts_with(b"HTTP/");
        if http && name.eq_ignore_ascii_case(b"content-type") && starts(b"text/event-stream") {
            return true;
        }
        fields_only &= matches!(name, b"" | b"data" | b"event" | b"id" | b"retry");
        named |= name == b"event";
        message |= name == b"data" && matches!(content.first(), Some(b'{' | b'['));
    }
    // A line `data: {…}` at the end of the window may belong to any format, unless it is cut off.
    fields_only && message && before == window.bytes.len() && (named || !window.bytes.ends_with(b"\n"))
}

/// Returns the request in a line of text, and its offset: in quotes, as in the command `curl -d '{…}'` above the stream
/// that answers it.
fn request_in(text: &[u8]) -> Option<(usize, &[u8])> {
    let at = memmem::find(text, b" '{").or_else(|| memmem::find(text, b" '[{"))? + 2;
    let Extent::Whole(length) = value(&text[at..]) else { return None };
    let request = &text[at..at + length];
    let is_request = Certainty::of(request) == Certainty::Sure && objects(request).all(|object| object.has("method"));
    (is_request && text[at + length..].starts_with(b"'")).then_some((at, request))
}

/// An event with a message, or a request in a command above the stream, is a record; every other line that is not blank is a
/// [`LogLine`], given before it.
#[derive(Default)]
struct Sse {
    /// The event at the beginning of the input. Its lines are given one by one: an event may have millions of comments.
    open: Option<OpenEvent>,
}

struct OpenEvent {
    is_message: bool,
    length: usize,
    /// The offset of the first line that was not given.
    next: usize,
}

impl LineFormat for Sse {
    fn resume<'a>(&mut self, input: &'a [u8], end: bool, _: &mut Extras) -> Option<Step<'a>> {
        let open = match self.open.take() {
            Some(open) => open,
            None => {
                input.first().filter(|byte| !is_blank(**byte))?;
                let Some(event) = Event::read(input, end) else { return Some(Step::NeedMore) };
                OpenEvent { is_message: event.is_message(), length: event.length, next: 0 }
            }
        };
        let OpenEvent { is_message, length, next } = open;
        let mut lines = lines(&input[next..length]).filter(|(_, line)| !is_message || !is_field(line));
        if let Some((at, line)) = lines.next() {
            let (start, text) = (next + at + leading_blanks(line), line.trim_ascii());
            let consumed = if is_message || lines.next().is_some() { 0 } else { length };
            self.open = (consumed == 0).then_some(OpenEvent { next: next + at + line.len(), ..open });
            return Some(match request_in(text) {
                Some((at, request)) => {
                    let record = Record { sender: Some(Sender::Client), ..Record::new(request) };
                    Step::entry(start + at, consumed, record)
                }
                None => Step::entry(start, consumed, LogLine::new(text)),
            });
        }
        let (start, data) = Event::read(&input[..length], true)?.trimmed();
        Some(Step::entry(start, length, Record { sender: Some(Sender::Server), ..Record::new(data) }))
    }
}

/// A line, without its end.
struct SseLine<'a> {
    text: &'a [u8],
    /// The size with the end of the line.
    length: usize,
}

/// Returns the first line of `input`. Lines end with LF, CR LF or CR, the last one also with the input. `None` if the
/// end is not visible: another byte is needed after CR.
fn line(input: &[u8], end: bool) -> Option<SseLine<'_>> {
    let Some(at) = memchr2(b'\r', b'\n', input) else {
        return end.then_some(SseLine { text: input, length: input.len() });
    };
    let length = match (input[at], input.get(at + 1)) {
        (b'\r', Some(b'\n')) => at + 2,
        (b'\r', None) if !end => return None,
        _ => at + 1,
    };
    Some(SseLine { text: &input[..at], length })
}

/// Returns name and value of a line. The name of a comment is empty, and so is the value of a line without a colon.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b':', line) {
        Some(colon) => {
            let content = &line[colon + 1..];
            (&line[..colon], content.strip_prefix(b" ").unwrap_or(content))
        }
        None => (line, &[]),
    }
}

/// Returns the lines of an event that are not blank, with their offsets.
fn lines(event: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut next = 0;
    let lines = std::iter::from_fn(move || {
        let at = next;
        let SseLine { text, length } = line(&event[at..], true).filter(|line| line.length > 0)?;
        next += length;
        Some((at, text))
    });
    lines.filter(|(_, line)| !trim_end(line).is_empty())
}

/// True for a line that is a field of an event. Only data holds JSON.
fn is_field(line: &[u8]) -> bool {
    match field(line) {
        (b"data", _) => true,
        (b"event" | b"id" | b"retry", content) => memchr2(b'{', b'"', content).is_none(),
        _ => false,
    }
}

/// Returns the events of a text with their lines. An event that is cut off at the end counts too.
///
/// See <https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>.
pub(super) fn events(text: &[u8]) -> impl Iterator<Item = (Event<'_>, &[u8])> {
    let mut rest = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    std::iter::from_fn(move || {
        let event = Event::read(rest, true).filter(|event| event.length > 0)?;
        let (lines, behind) = rest.split_at(event.length);
        rest = behind;
        Some((event, lines))
    })
}

/// Returns the lines of an event that are neither fields nor comments.
pub(super) fn other_lines(event: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines(event).filter(|(_, line)| !is_field(line) && !line.starts_with(b":")).map(|(_, line)| line.trim_ascii())
}

/// A server-sent event.
pub(super) struct Event<'a> {
    name: &'a [u8],
    /// Its own id; empty if it has none.
    pub id: &'a [u8],
    /// The data of all its lines.
    pub data: Cow<'a, [u8]>,
    /// The offset of the data.
    start: usize,
    /// The size with the empty line at the end.
    length: usize,
}

impl<'a> Event<'a> {
    /// Reads the event at the beginning of `window`, up to the empty line after it or the end of the input.
    fn read(window: &'a [u8], end: bool) -> Option<Self> {
        let mut event = Self { name: b"", id: b"", data: Cow::Borrowed(&[]), start: 0, length: 0 };
        let mut first = true;
        while event.length < window.len() {
            let SseLine { text, length } = line(&window[event.length..], end)?;
            let at = event.length;
            event.length += length;
            if text.is_empty() {
                return Some(event);
            }
            match field(text) {
                (b"event", content) => event.name = trim_end(content),
                (b"id", content) => event.id = trim_end(content),
                (b"data", content) if first => {
                    first = false;
                    event.start = at + (text.len() - content.len());
                    event.data = Cow::Borrowed(content);
                }
                (b"data", content) => {
                    let data = event.data.to_mut();
                    data.push(b'\n');
                    data.extend_from_slice(content);
                }
                _ => {}
            }
        }
        end.then_some(event)
    }

    /// Returns the data without blanks around it, and its offset.
    fn trimmed(&self) -> (usize, Cow<'a, [u8]>) {
        let trim = |data: &[u8]| leading_blanks(data)..trim_end(data).len().max(leading_blanks(data));
        match &self.data {
            Cow::Borrowed(data) => (self.start + trim(data).start, Cow::Borrowed(&data[trim(data)])),
            Cow::Owned(data) => (self.start, Cow::Owned(data[trim(data)].to_vec())),
        }
    }

    /// True if the event carries a message: an object or array in an event that is named `message` or without a name;
    /// in an event with another name, an object with members of messages.
    fn is_message(&self) -> bool {
        let (_, data) = self.trimmed();
        match self.name {
            b"" | b"message" => may_be_message(&data),
            _ => RawObject::parse(&data)
                .is_some_and(|object| object.is_whole() && Certainty::of_object(&object) != Certainty::No),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::capped::CappedDecoder;
    use super::super::decoder::tests::{drive, entries, entries_of_long, texts};
    use super::super::{Entry, Format};
    use super::*;

    fn events(limit: usize, input: &str) -> (Vec<usize>, Vec<String>) {
        let found = entries(|| CappedDecoder::boxed(decoder(), limit), input.as_bytes());
        for (_, entry) in &found {
            assert!(!matches!(entry, Entry::Record(record) if record.sender != Some(Sender::Server)));
        }
        (found.iter().map(|(start, _)| *start).collect(), texts(&found))
    }

    #[test]
    fn an_event_is_a_record_however_its_lines_end() {
        for end in ["\n", "\r\n", "\r"] {
            let input = ["event: message", "id: 7", "data: {\"a\":", "data:1}", "", "data:  [2] ", ""].join(end);
            let (starts, found) = events(100, &input);
            assert_eq!(found, ["{\"a\":\n1}", "[2]"], "{end:?}");
            assert_eq!(starts, [input.find('{').unwrap(), input.find('[').unwrap()]);
        }
    }

    #[test]
    fn events_without_messages_are_log_lines() {
        let table = [
            ("event: endpoint\ndata: /messages\n\n", &["# event: endpoint", "# data: /messages"][..]),
            ("event: ping\ndata: {\"now\":1}\n\n", &["# event: ping", "# data: {\"now\":1}"]),
            ("event: other\ndata: {\"jsonrpc\":\"2.0\"}\n\n", &["{\"jsonrpc\":\"2.0\"}"]),
            ("event: other\ndata: {\"id\":1,\"error\":{}}\n\n", &["{\"id\":1,\"error\":{}}"]),
            ("data: [DONE]\n\ndata: [1]\n\ndata: {oops\n\n", &["# data: [DONE]", "[1]", "{oops"]),
            ("id: 1\ndata:\nretry: 500\n\n", &["# id: 1", "# data:", "# retry: 500"]),
            (": one\n\n:two \r\n: three\ndata: {}\n\n", &["# : one", "# :two", "# : three", "{}"]),
            ("HTTP/1.1 200 OK\r\nServer: x\r\n\r\ndata: {}", &["# HTTP/1.1 200 OK", "# Server: x", "{}"]),
            ("data: {}\n data: {\"id\":1}\n\n", &["# data: {\"id\":1}", "{}"]),
            ("2a\r\nevent: message\ndata: {}\n: in between\n\n", &["# 2a", "# : in between", "{}"]),
        ];
        for (input, expected) in table {
            assert_eq!(events(100, input).1, expected, "{input}");
        }
    }

    #[test]
    fn log_lines_have_their_offsets() {
        let (starts, found) = events(100, "data: {}\n: x\n\ny\n");
        assert_eq!((starts, found), (vec![9, 6, 14], ["# : x", "{}", "# y"].map(String::from).to_vec()));
    }

    #[test]
    fn the_limit_is_for_the_data() {
        let text = "x".repeat(5000);
        let input = format!(
            "data: [1234]\n\ndata: [12345]\n\n: c\n: {text}\ndata: {{{text}}}\nid: 1\n\n\ndata: 1\n\ndata: {{}}\n{text}y\n\n{{}}"
        );
        let long = |input: &str| texts(&entries_of_long(|| CappedDecoder::boxed(decoder(), 6), input.as_bytes()));
        let found = long(&input);
        assert_eq!(found, ["[1234]", "<7>", "# : c", "# <5002>", "<5002>", "# <7>", "# <5001>", "{}", "# {}"]);
        let input = format!("event: ping\nnote: {text}\r\ndata: 1\r\rdata: [1]");
        assert_eq!(long(&input), ["# <11>", "# <5006>", "# <7>", "[1]"]);
        assert_eq!(events(usize::MAX, "data: [1]").1, ["[1]"]);
    }

    #[test]
    fn many_lines_in_time() {
        let found = |input: &str| texts(&drive(&mut *decoder(), input.as_bytes(), &[])).len();
        assert_eq!(found(&format!("data: {{\n{}", ": x\n".repeat(100_000))), 100_001);
        assert_eq!(found(&format!("data: {{\n{}", "data: 1\n".repeat(100_000))), 1);
        assert_eq!(found(&"data: {}\n\n".repeat(50_000)), 50_000);
        assert_eq!(found(&"text\n".repeat(100_000)), 100_000);
    }

    #[test]
    fn comments_are_given_without_a_copy() {
        let input = format!("data: {{}}\n{}", ": x\n".repeat(1000));
        let (mut decoder, mut given) = (decoder(), 0);
        loop {
            let Step::Entry { consumed, entry, .. } = decoder.step(input.as_bytes(), true) else { panic!() };
            let (Entry::LogLine(LogLine { bytes, .. }) | Entry::Record(Record { bytes, .. })) = entry;
            assert!(matches!(bytes, Cow::Borrowed(_)));
            given += 1;
            if consumed > 0 {
                break assert_eq!((given, consumed), (1001, input.len()));
            }
        }
    }

    #[test]
    fn streams_are_recognised() {
        let detected = |input: &str| Format::detect(input.as_bytes()) == Format::Sse;
        for input in [
            "data: {\"a\":1}\n\n",
            "data: {\"a\":1}",
            "event: message\ndata: {\"a\":1}\n",
            "starting\n\n: hi\n\nevent: message\r\ndata: {\"cut",
            "event: message\rdata:[\rdata: 1]\r\r",
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream;charset=utf-8\r\n\r\n",
        ] {
            assert!(detected(input), "{input}");
        }
        for input in [
            "data: {}\n{\"a\":1}\n",
            "{}\ndata: {}\n\n",
            "info: x\ndata: {}\n\n",
            "data: x\n\n",
            "a:\n\n",
            "data: {}\n",
            "content-type: text/event-stream\n",
        ] {
            assert!(!detected(input), "{input}");
        }
    }
}
