//! `json-lines`: one JSON value per line. Lines that are not JSON are records too.

use super::certainty::{Certainty, has_members_of_messages, mentions_message};
use super::decoder::{Decoder, Step, leading_blanks, trim_end};
use super::json_values::opens;
use super::lines::{Extras, FoundEntry, LineFormat, LineInInput, LineSplitter};
use super::object::RawObject;
use super::surroundings::with_facts;
use super::value::{Extent, value};
use super::{LogLine, Record};
use memchr::{memchr, memchr_iter, memmem};

#[derive(Default)]
pub(super) struct JsonLines {
    /// True for values over several lines, or several on one; other text is read by lines.
    has_values: bool,
    /// True if the user stated the format: then each line is read by itself.
    is_stated: bool,
    /// True if the log begins with at least 64 KiB of text. Lines before the first message are then log lines, not malformed
    /// records.
    is_text: bool,
    /// True after the first message, and true if it has a member `_meta`, in which its recorder states time and sender.
    has_messages: bool,
    has_meta: bool,
    /// The number of lines that were searched in vain for the end of a value, and are not searched again.
    closed: usize,
    /// True from the first line of a message of HTTP up to its body.
    is_header: bool,
    /// True if the last line may hold a message, and is not one.
    is_unread: bool,
}

impl LineFormat for JsonLines {
    #[inline]
    fn read<'a>(&mut self, line: &'a [u8], _: &mut Extras) -> Option<FoundEntry<'a>> {
        self.closed = self.closed.saturating_sub(1);
        let names = [&b"jsonrpc"[..], b"id", b"method", b"params", b"result", b"error"];
        if self.has_messages && !self.has_meta && names.contains(&first_name(line)) {
            (self.is_unread, self.is_header) = (false, false);
            return Some((0, Record::new(line).into()));
        }
        Some(self.look(line))
    }

    fn splits_lines(&self) -> bool {
        !self.has_values
    }

    fn is_unread(&self) -> bool {
        self.is_unread
    }

    #[inline]
    fn resume<'a>(&mut self, input: &'a [u8], end: bool, _: &mut Extras) -> Option<Step<'a>> {
        if self.has_values { Self::values(input, end) } else { None }
    }

    /// Reads a message that begins on this line, and continues on the lines below.
    #[inline]
    fn below<'a>(&mut self, LineInInput { line, input, end, .. }: LineInInput<'a>, _: &mut Extras) -> Option<Step<'a>> {
        if self.is_stated || self.closed > 0 || !matches!(line.first(), Some(b'{' | b'[')) {
            return None;
        }
        opens(line)?;
        let is_object = input[0] == b'{';
        let length = match value(input) {
            Extent::Whole(length) => length,
            Extent::Incomplete if !end => return Some(Step::NeedMore),
            Extent::Incomplete if is_object => trim_end(input).len(),
            Extent::Incomplete => input.len(),
            Extent::Broken(error) => return self.close(&input[..error]),
        };
        let text = &input[..length];
        memchr(b'\n', text)?;
        if !is_object || Certainty::of(text) == Certainty::No {
            return self.close(text);
        }
        (self.closed, self.is_unread) = (0, false);
        Some(Step::entry(0, length, Record::new(text)))
    }
}

/// Returns the name of an object's first member, if it is not longer than `jsonrpc`.
#[inline]
fn first_name(line: &[u8]) -> &[u8] {
    let Some(rest) = line.strip_prefix(b"{") else { return b"" };
    let Some(name) = rest[leading_blanks(rest)..].strip_prefix(b"\"") else { return b"" };
    name.iter().take(8).position(|byte| *byte == b'"').map_or(b"", |end| &name[..end])
}

impl JsonLines {
    /// Creates a decoder of lines or of values. In a log whose format was detected, not stated, a message may continue on
    /// the lines below.
    pub(super) fn decoder(has_values: bool, is_stated: bool) -> Box<dyn Decoder> {
        LineSplitter::boxed(Self { has_values, is_stated, ..Self::default() })
    }

    /// Creates a decoder of a log that begins with more text than is searched for its format.
    pub(super) fn behind_text() -> Box<dyn Decoder> {
        LineSplitter::boxed(Self { is_text: true, ..Self::default() })
    }

    /// Excludes these lines from further searches for a value over several lines.
    fn close<'a>(&mut self, lines: &[u8]) -> Option<Step<'a>> {
        self.closed = self.closed.max(memchr_iter(b'\n', lines).count()).max(1);
        None
    }

    /// Reads a line whose first bytes do not show that it is a message.
    fn look<'a>(&mut self, line: &'a [u8]) -> FoundEntry<'a> {
        let record = Record::new(line);
        let Some(object) = RawObject::parse(line) else {
            self.is_unread = mentions_message(line) && Certainty::of(line) == Certainty::No;
            // `-- a.json --` before each file of a txtar archive.
            let is_file_name = line.starts_with(b"-- ") && line.ends_with(b" --") && memchr(b'{', line).is_none();
            let is_text = self.is_text && !self.has_messages && !line.starts_with(b"[");
            // A person adds the command, and the requests and responses around messages.
            let is_command = line.starts_with(b"$ ");
            // As mitmdump prints them: `192.0.2.1:50000: POST http://h/` and `<< 200 OK 39b`.
            let is_of_mitmdump =
                [": POST http", ": GET http"].iter().any(|verb| memmem::find(line, verb.as_bytes()).is_some())
                    || line.strip_prefix(b"<< ").is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_digit));
            self.is_header |= is_of_mitmdump
                || line.starts_with(b"HTTP/")
                || [" HTTP/1.1", " HTTP/2"].iter().any(|end| line.ends_with(end.as_bytes()));
            let is_text = is_text || is_file_name || is_command || self.is_header && !line.starts_with(b"[");
            return (0, if is_text { LogLine::new(line).into() } else { record.into() });
        };
        self.is_header = false;
        let claims = ["method", "result", "error"].iter().any(|name| object.has(name));
        let is_message = object.has("jsonrpc") || claims && object.is_whole() && has_members_of_messages(&object);
        self.is_unread = !is_message && mentions_message(line);
        if is_message && !self.has_messages {
            (self.has_messages, self.has_meta) = (true, object.has("_meta"));
        }
        let meta = object.object("_meta").filter(|_| is_message && self.has_meta);
        (0, if let Some(meta) = meta { with_facts(&meta, record) } else { record }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::capped::CappedDecoder;
    use super::super::decoder::tests::{entries, texts};
    use super::super::{Direction, Entry};
    use super::*;

    fn lines(limit: usize, input: &str) -> (Vec<usize>, Vec<String>) {
        let found = entries(|| CappedDecoder::boxed(JsonLines::decoder(false, true), limit), input.as_bytes());
        (found.iter().map(|(start, _)| *start).collect(), texts(&found))
    }

    fn both(starts: &[usize], records: &[&str]) -> (Vec<usize>, Vec<String>) {
        (starts.to_vec(), records.iter().map(|&text| text.to_owned()).collect())
    }

    #[test]
    fn one_record_a_line_blanks_left_out() {
        let input = "{\"a\":1}\r\n\n \t\r\n  [2] \n\rno json\r\n{\"cut\":";
        assert_eq!(lines(100, input), both(&[0, 16, 22, 31], &["{\"a\":1}", "[2]", "no json", "{\"cut\":"]));
        assert_eq!(lines(100, ""), both(&[], &[]));
        assert_eq!(lines(100, "\n \n\r\n"), both(&[], &[]));
        assert_eq!(lines(100, "1\n2\r"), both(&[0, 2], &["1", "2"]));
    }

    #[test]
    fn members_of_recorders_give_time_and_direction() {
        let meta =
            r#"{"jsonrpc":"2.0","id":1,"_meta":{"ts":"2026-01-05T10:00:00Z","direction":"outgoing","server":"x"}}"#;
        let log = format!(
            "{meta}\n{}\n{{\"id\":1,\"result\":{{\"_meta\":{{\"ts\":1767607200}}}}}}",
            meta.replace("outgoing", "incoming")
        );
        let found = entries(|| JsonLines::decoder(false, true), log.as_bytes());
        let facts = |entry: &Entry<'_>| match entry {
            Entry::Record(record) => (record.time.is_some(), record.direction, record.bytes.len()),
            Entry::LogLine(line) => panic!("{line:?}"),
        };
        let (out, back) = (Some(Direction::Out), Some(Direction::In));
        let found: Vec<_> = found.iter().map(|(_, entry)| facts(entry)).collect();
        assert_eq!(found, [(true, out, 98), (true, back, 98), (false, None, 45)]);
    }

    #[test]
    fn commands_and_headers_of_http_are_text() {
        let message = r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#;
        let log = format!(
            "$ curl http://h\nPOST /rpc HTTP/1.1\nHost: h\n\n{message}\n\nHTTP/1.1 200 OK\nX: y\n\n{message}\noops\n"
        );
        let expected =
            ["# $ curl http://h", "# POST /rpc HTTP/1.1", "# Host: h", message, "# HTTP/1.1 200 OK", "# X: y"];
        assert_eq!(lines(100, &log).1, [&expected[..], &[message, "oops"]].concat());
        let (asks, answers) = ("192.0.2.1:50000: POST http://h/", "<< 200 OK 39b");
        let log = format!("{asks}\n    Host: h\n\n    {message}\n\n {answers}\n    X: y\n\n    {message}\n");
        let headers = |line: &str, header: &str| [format!("# {line}"), format!("# {header}"), message.to_owned()];
        assert_eq!(lines(100, &log).1, [headers(asks, "Host: h"), headers(answers, "X: y")].concat());
    }

    #[test]
    fn blanks_are_those_of_json_only() {
        assert_eq!(lines(100, "\x0c{}\n\0\n\u{a0}\n"), both(&[0, 4, 6], &["\x0c{}", "\0", "\u{a0}"]));
    }

    #[test]
    fn lines_over_the_limit_are_passed_over() {
        let input = "123456\n1234567\n 123456\r\n1234567\r\n12345   \n123456789 \t\r\n\n1";
        let starts = [0, 7, 16, 24, 33, 42, 56];
        assert_eq!(lines(6, input), both(&starts, &["123456", "<7>", "123456", "<7>", "12345", "<9>", "1"]));
        assert_eq!(lines(6, "1234567"), both(&[0], &["<7>"]));
        assert_eq!(lines(6, "123456 \r"), both(&[0], &["123456"]));
        assert_eq!(lines(6, "1          2 "), both(&[0], &["<12>"]));
        assert_eq!(lines(0, "a\nbc"), both(&[0, 2], &["<1>", "<2>"]));
        assert_eq!(lines(usize::MAX, "a\nbc"), both(&[0, 2], &["a", "bc"]));
    }
}
