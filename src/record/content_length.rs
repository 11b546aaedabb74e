//! `content-length`: headers with the length of a message, an empty line, and the message, as in the base protocol of
//! the Language Server Protocol.
//!
//! A wrong length is not a reason to lose a message, so the message itself counts too. If the stated bytes are not a
//! JSON value, or a length is not stated, the message goes up to its own end. Without an end of its own, it goes up to
//! the next `Content-Length:`.

use super::about::{FormatInfo, FormatTest, InputHead};
use super::decoder::{SkippedLength, Step, leading_blanks, split_once, trim_end};
use super::marked::{Extras, FoundEntry, LineInInput, LineReader, MarkedLines};
use super::value::{Extent, ValueSpan, value};
use super::{LogLine, Record};
use memchr::{memchr, memchr2, memchr2_iter};

pub(super) const ABOUT: FormatInfo = FormatInfo {
    summary: "`Content-Length: 52`, an empty line, `{…}` (LSP and other base protocols); text between is a log line",
    carries: "messages only",
    sign: FormatTest::Line(detect),
    decoder: |limit| MarkedLines::boxed(limit, HEADER, ContentLength { limit, state: FrameState::Between }),
};

/// True for a header `Content-Length:`, maybe other headers, an empty line and `{` or `[`, before any line that is a
/// JSON value.
fn detect(window: &InputHead<'_>) -> bool {
    let bytes = window.bytes;
    let lines = window.lines().take_while(|&(at, _)| at < window.before_values());
    let mut headers = lines.filter_map(|(at, line)| match header(line) {
        Some((Length::Absent, _)) | None => header_in(line).map(|found| at + found),
        Some(_) => Some(at),
    });
    headers.any(|at| {
        let mut rest = &bytes[at..];
        while let Some((line, behind)) = split_once(rest, b"\n") {
            rest = behind;
            match trim_end(line) {
                [] => return matches!(rest.get(leading_blanks(rest)), Some(b'{' | b'[')),
                line if !line.contains(&b':') => return false,
                _ => {}
            }
        }
        false
    })
}

/// The number of bytes of a line that are searched for a header.
const HEADER: usize = 4096;

/// Each message is a record. Each other line is a [`LogLine`], except for the headers before a message.
struct ContentLength {
    limit: usize,
    state: FrameState,
}

enum FrameState {
    Between,
    /// After a header.
    Headers(Length),
    /// After the empty line.
    Body(Length),
    /// In a message that is too long, and the number of bytes still to come, if the length is stated.
    Long(SkippedLength, Option<u64>),
}

/// The length that headers state.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Length {
    Absent,
    Bytes(u64),
    /// Not a number, a negative number, or several different numbers.
    Unclear,
}

impl Length {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Absent, length) | (length, Self::Absent) => length,
            (one, other) if one == other => one,
            _ => Self::Unclear,
        }
    }
}

impl LineReader for ContentLength {
    fn resume<'a>(&mut self, input: &'a [u8], end: bool, _: &mut Extras) -> Option<Step<'a>> {
        match &mut self.state {
            FrameState::Between => None,
            &mut FrameState::Headers(length) => match memchr(b'\n', &input[..leading_blanks(input)]) {
                Some(at) => Some(self.enter(FrameState::Body(length), at + 1)),
                // The empty line is missing.
                None if matches!(input, [b'{' | b'[', ..]) => Some(self.body(length, input, end)),
                None if end && input.is_empty() => Some(self.body(length, input, end)),
                None => None,
            },
            &mut FrameState::Body(length) => Some(self.body(length, input, end)),
            FrameState::Long(passed, left) => {
                let step = pass(passed, left, input, end);
                if step.is_entry() {
                    self.state = FrameState::Between;
                }
                Some(step)
            }
        }
    }

    fn below<'a>(&mut self, LineInInput { line, length, .. }: LineInInput<'a>, _: &mut Extras) -> Option<Step<'a>> {
        let (mut stated, part) = header(line)?;
        if let FrameState::Headers(before) = self.state {
            stated = before.and(stated);
        }
        Some(self.header(stated, &line[..part], if part < line.len() { part } else { length }))
    }

    fn read<'a>(&mut self, line: &'a [u8], more: &mut Extras) -> Option<FoundEntry<'a>> {
        // Between headers, a line up to this length is another header, or output of standard error.
        if matches!(self.state, FrameState::Headers(_)) && line.len() <= HEADER {
            return None;
        }
        self.state = FrameState::Between;
        let at = header_in(line)?;
        more.taken = Some(at);
        Some((0, LogLine::new(trim_end(&line[..at])).into()))
    }
}

impl ContentLength {
    fn enter<'a>(&mut self, state: FrameState, consumed: usize) -> Step<'a> {
        self.state = state;
        Step::Skip { consumed }
    }

    /// Reads a header. It is given as a line unless it states a length, or a content type of the protocols.
    fn header<'a>(&mut self, length: Length, text: &'a [u8], consumed: usize) -> Step<'a> {
        self.state = FrameState::Headers(length);
        let value = split_once(text, b":").map_or(text, |(_, value)| &value[leading_blanks(value)..]);
        let types = [&b"application/vscode-jsonrpc"[..], b"application/json"];
        let is_type = types.iter().filter_map(|name| value.strip_prefix(*name)).any(|rest| {
            let mut parts = rest.split(|byte| b"; ".contains(byte));
            parts.all(|part| [&b""[..], b"charset=utf-8", b"charset=utf8"].contains(&part))
        });
        match is_type || value.iter().all(|byte| b"+-0123456789 \t\r".contains(byte)) {
            true => Step::Skip { consumed },
            false => Step::entry(0, consumed, LogLine::new(trim_end(text))),
        }
    }

    fn body<'a>(&mut self, length: Length, input: &'a [u8], end: bool) -> Step<'a> {
        let blanks = leading_blanks(input);
        if blanks > 0 {
            // Blanks at the start of a message count.
            let left = match length {
                Length::Bytes(bytes) => Length::Bytes(bytes.saturating_sub(blanks as u64)),
                length => length,
            };
            return self.enter(FrameState::Body(left), blanks);
        }
        self.state = FrameState::Body(length);
        match (input, length) {
            ([], _) if end => self.record(&[], 0),
            ([], _) => Step::NeedMore,
            (_, Length::Absent | Length::Unclear) => self.own_end(None, input, end),
            (_, Length::Bytes(bytes)) => match usize::try_from(bytes) {
                Ok(stated) if stated <= self.limit => self.stated(stated, input, end),
                // Perhaps true, perhaps a number that would hide the rest of the log.
                _ => self.own_end(Some(bytes), input, end),
            },
        }
    }

    /// Returns a message of the stated number of bytes, if the message shows that the number is right.
    fn stated<'a>(&mut self, stated: usize, input: &'a [u8], end: bool) -> Step<'a> {
        if stated == 0 && !matches!(input, [b'{' | b'[', ..]) {
            return self.record(&[], 0);
        }
        let Some(body) = input.get(..stated) else {
            return match end {
                true => self.own_end(None, input, end),
                false => Step::NeedMore,
            };
        };
        let text = trim_end(body);
        let own = match value(text) {
            Extent::Whole(length) if length == text.len() => return self.record(text, stated),
            Extent::Incomplete => return self.own_end(None, input, end),
            Extent::Whole(length) => length,
            Extent::Broken(_) => 0,
        };
        // Not exactly one value. These bytes were sent, unless the next header shows that fewer were.
        match header_before(input, own, stated, end) {
            None => Step::NeedMore,
            Some(Some(_)) if own > 0 => self.record(&input[..own], own),
            Some(next) => {
                let length = next.unwrap_or(stated);
                self.record(trim_end(&input[..length]), length)
            }
        }
    }

    /// Returns a message without a stated length, or with more or fewer bytes than stated. Only a message whose end
    /// cannot be found goes up to the `stated` length.
    fn own_end<'a>(&mut self, stated: Option<u64>, input: &'a [u8], end: bool) -> Step<'a> {
        match begins_header(input, end) {
            None => return Step::NeedMore,
            Some(true) => return self.record(&[], 0),
            Some(false) => {}
        }
        match ValueSpan::of(input, self.limit, end) {
            ValueSpan::Whole(length) => self.record(&input[..length], length),
            ValueSpan::NeedMore => Step::NeedMore,
            ValueSpan::Long => self.long(stated.map(|bytes| bytes - 1)),
            ValueSpan::Broken(_) => {
                let window = &input[..input.len().min(self.limit.saturating_add(1))];
                let full = window.len() > self.limit;
                match header_before(input, 0, window.len(), end) {
                    Some(Some(next)) if next <= self.limit => self.record(trim_end(&input[..next]), next),
                    Some(None) if end && !full => self.record(trim_end(window), window.len()),
                    Some(_) if full => self.long(stated.map(|bytes| bytes - 1)),
                    _ => Step::NeedMore,
                }
            }
        }
    }

    fn record<'a>(&mut self, text: &'a [u8], consumed: usize) -> Step<'a> {
        self.state = FrameState::Between;
        Step::entry(0, consumed, Record::new(text))
    }

    /// Begins a message that is too long. `left` is the number of bytes after its first one, if the length is stated.
    fn long<'a>(&mut self, left: Option<u64>) -> Step<'a> {
        self.state = FrameState::Long(SkippedLength::new(b"{"), left);
        Step::Begin { start: 0, consumed: 1 }
    }
}

/// Skips a message that is too long, up to its stated end or the next header.
fn pass<'a>(passed: &mut SkippedLength, left: &mut Option<u64>, input: &[u8], end: bool) -> Step<'a> {
    let until = left.map_or(input.len(), |left| input.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
    let header = memchr2_iter(b'C', b'c', &input[..until]).find_map(|at| match begins_header(&input[at..], end) {
        Some(false) => None,
        found => Some((at, found.is_some())),
    });
    let (consumed, done) = header.unwrap_or((until, *left == Some(until as u64) || end));
    if let Some(left) = left {
        *left -= consumed as u64;
    }
    passed.step(&input[..consumed], done)
}

const NAME: &[u8] = b"content-length";

/// Longer than a header with a length, in bytes. The bound keeps the search for headers linear in the input.
const LONGEST: usize = 64;

/// Returns the length that a line states, if it is a header of this protocol, and the size of the header in bytes: the
/// line, or the part before a message.
fn header(line: &[u8]) -> Option<(Length, usize)> {
    let colon = memchr(b':', &line[..line.len().min(LONGEST)])?;
    let message = memchr2(b'{', b'[', &line[colon..]).map_or(line.len(), |at| colon + at);
    if is_name(&line[..colon]) {
        return Some(stated_in(line, colon + 1).unwrap_or((Length::Unclear, message)));
    }
    trim_end(&line[..colon]).eq_ignore_ascii_case(b"content-type").then_some((Length::Absent, message))
}

fn is_name(name: &[u8]) -> bool {
    trim_end(name).eq_ignore_ascii_case(NAME)
}

/// Returns the number at `from`, if only a message follows it on its line, and the offset of its end.
fn stated_in(line: &[u8], from: usize) -> Option<(Length, usize)> {
    let start = from + leading_blanks(&line[from..]);
    let digits = line[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end = start + digits;
    let behind = end + leading_blanks(&line[end..]);
    let number = std::str::from_utf8(&line[start..end]).ok()?.parse().ok()?;
    matches!(line.get(behind), None | Some(b'{' | b'[')).then_some((Length::Bytes(number), behind))
}

/// Returns the offset of a length at the end of a line, as after a message without a line end.
fn header_in(line: &[u8]) -> Option<usize> {
    let ends = |line: &[u8]| {
        let colon = memchr(b':', &line[..line.len().min(LONGEST)]).filter(|colon| is_name(&line[..*colon]))?;
        stated_in(line, colon + 1).filter(|(_, end)| *end == line.len())
    };
    memchr2_iter(b'C', b'c', line).find(|&at| ends(&line[at..]).is_some())
}

/// True if `input` begins with a line with a length, valid or not. `None` if more input is needed.
///
/// Inside a message that is JSON this is never true: strings do not span lines, so such a line has a quote.
fn begins_header(input: &[u8], end: bool) -> Option<bool> {
    let unseen = if end { Some(false) } else { None };
    let name = &input[..input.len().min(NAME.len())];
    if !name.eq_ignore_ascii_case(&NAME[..name.len()]) {
        return Some(false);
    }
    let line = &input[..input.len().min(LONGEST)];
    match memchr(b'\n', line) {
        None if line.len() == LONGEST => Some(false),
        None => unseen,
        Some(at) => Some(!line[..at].contains(&b'"') && header(&line[..at]).is_some()),
    }
}

/// Returns the offset of the first length at or after `from`, and before `until`. `None` if more input is needed.
fn header_before(input: &[u8], from: usize, until: usize, end: bool) -> Option<Option<usize>> {
    for at in memchr2_iter(b'C', b'c', &input[from..until]) {
        if begins_header(&input[from + at..], end)? {
            return Some(Some(from + at));
        }
    }
    Some(None)
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::decoder::tests::{drive, entries, entries_of_long, texts};
    use super::*;

    fn frames(limit: usize, input: &str) -> Vec<String> {
        texts(&entries(|| (ABOUT.decoder)(limit), input.as_bytes()))
    }

    #[test]
    fn lengths() {
        let table = [
            ("Content-Length: 7", Some(Length::Bytes(7))),
            ("content-LENGTH :  007 ", Some(Length::Bytes(7))),
            ("Content-Length:7\r", Some(Length::Bytes(7))),
            ("Content-Length: -7", Some(Length::Unclear)),
            ("Content-Length: +7", Some(Length::Unclear)),
            ("Content-Length: 7x", Some(Length::Unclear)),
            ("Content-Length:", Some(Length::Unclear)),
            ("Content-Length: 99999999999999999999", Some(Length::Unclear)),
            ("Content-Type: application/vscode-jsonrpc; charset=utf-8", Some(Length::Absent)),
            ("Content of the file: 7", None),
            ("Content-Length 7", None),
            ("{\"a\":1}", None),
            ("Content-{\"a\":1}", None),
        ];
        for (line, expected) in table {
            assert_eq!(header(line.as_bytes()).map(|(length, _)| length), expected, "{line}");
        }
    }

    #[test]
    fn frames_as_they_should_be() {
        let input = "Content-Length: 9\r\n\r\n{\"a\":[\n]}Content-Type: x\r\nCONTENT-LENGTH:4\r\n\r\n \t{}\r\n\
                     content-length: 2\ncontent-length: 2\n\n[]Content-Length: 3\r\n\r\n123";
        let found = entries(|| (ABOUT.decoder)(100), input.as_bytes());
        assert_eq!(texts(&found), ["{\"a\":[\n]}", "# Content-Type: x", "{}", "[]", "123"]);
        let starts: Vec<_> = found.iter().map(|(start, _)| *start).collect();
        assert_eq!(starts, [21, 30, input.find("{}").unwrap(), input.find("[]").unwrap(), input.len() - 3]);
    }

    #[test]
    fn lengths_that_are_not_true() {
        let next = "Content-Length: 4\r\n\r\n[12]";
        let table = [
            ("Content-Length: 3\r\n\r\n{\"a\":1}", &["{\"a\":1}"][..]),
            ("Content-Length: 9\r\n\r\n{\"a\":1}", &["{\"a\":1}"]),
            ("Content-Length: 99\r\n\r\n{\"a\":1}", &["{\"a\":1}"]),
            ("Content-Length: 0\r\n\r\n{\"a\":1}", &["{\"a\":1}"]),
            ("Content-Length: 0\r\n\r\n", &[""]),
            ("Content-Length: 5\r\n\r\n", &[""]),
            ("Content-Length: 0\r\n\r\ntext\n", &["", "# text"]),
            ("Content-Length: -1\r\n\r\n{\"a\":1}", &["{\"a\":1}"]),
            ("Content-Length: many\r\n\r\n{\"a\":1}", &["# Content-Length: many", "{\"a\":1}"]),
            ("Content-L: 7\r\n\r\n{\"a\":1}\n", &["# Content-L: 7", "# {\"a\":1}"]),
            ("Content-Length: 1\r\nContent-Length: 7\r\n\r\n{\"a\":1}", &["{\"a\":1}"]),
            ("Content-Type: x\r\n\r\n{\"a\":1}", &["# Content-Type: x", "{\"a\":1}"]),
            ("Content-Type: application/json; charset=utf8\r\n\r\n{\"a\":1}", &["{\"a\":1}"]),
            ("Content-Type: application/jsonx\r\n\r\n{\"a\":1}", &["# Content-Type: application/jsonx", "{\"a\":1}"]),
            ("Content-Length: 7\r\n{\"a\":1}", &["{\"a\":1}"]),
            ("Content-Length: 6\r\n\r\n{oops}\n", &["{oops}"]),
            ("Content-Length: 60\r\n\r\n{oops}\n", &["{oops}"]),
            ("Content-Length: 3\r\n\r\n{oops}\n", &["{oo", "# ps}"]),
            ("Content-Length: x\r\n\r\n{oops}\n", &["# Content-Length: x", "{oops}"]),
            ("Content-Length: 8\r\n\r\n{} text\n", &["{} text"]),
            ("Content-Length: 80\r\n\r\n{} text\n", &["{}", "# text"]),
            ("Content-Length: 8\r\n\r\n{\"a\": \"b", &["{\"a\": \"b"]),
        ];
        for (input, expected) in table {
            let mut expected: Vec<_> = expected.iter().map(|&text| text.to_owned()).collect();
            if !expected.last().unwrap().starts_with('#') {
                assert_eq!(frames(100, input), expected, "{input}");
            }
            expected.push("[12]".to_owned());
            assert_eq!(frames(100, &format!("{input}{next}")), expected, "{input}");
        }
    }

    #[test]
    fn a_length_beyond_the_limit_hides_no_message() {
        let message = r#"{"id":1,"method":"x"}"#;
        let framed = format!("Content-Length: {}\r\n\r\n{message}", message.len());
        for stated in ["300000000", "99999999999999999999"] {
            let input = format!("Content-Length: {stated}\r\n\r\n{message}\n{framed}{framed}");
            assert_eq!(frames(100, &input), [message; 3], "{stated}");
        }
        let input = format!("Content-Length: 300\r\n\r\n{{oops}}\n{framed}");
        assert_eq!(frames(100, &input), ["{oops}", message]);
    }

    #[test]
    fn a_message_on_the_line_of_its_header() {
        let message = r#"{"id":1,"method":"x"}"#;
        let stated = format!("Content-Length: {}", message.len());
        let table = [
            (format!("{stated} {message}"), None),
            (format!("{stated}{message}\n"), None),
            (format!("Content-Length: x{message}"), Some("# Content-Length: x")),
            (format!("Content-Type: x{message}\r\n"), Some("# Content-Type: x")),
            (format!("{stated}\r\nContent-Type: x {message}"), Some("# Content-Type: x")),
            (format!("Content-Type: application/json\n {stated} {message}"), None),
        ];
        for (input, odd) in table {
            let expected: Vec<_> = odd.into_iter().chain([message]).collect();
            assert_eq!(frames(100, &input), expected, "{input}");
            assert_eq!(frames(100, &input.trim().repeat(2)), expected.repeat(2), "{input} twice");
        }
    }

    #[test]
    fn text_between_messages() {
        let input = "starting\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\nDate: today\r\nwarning!\r\n\r\n{}trailing text \r\n\n\
                     loadingContent-Length: 2\r\n\r\n[] Content-Length: 2 \r\n\r\n{}Content-Len";
        let expected = [
            "starting",
            "HTTP/1.1 200 OK",
            "Date: today",
            "warning!",
            "{}",
            "trailing text",
            "loading",
            "[]",
            "{}",
            "Content-Len",
        ]
        .map(|text| if text.starts_with(['{', '[']) { text.to_owned() } else { format!("# {text}") });
        assert_eq!(frames(100, input), expected);
    }

    #[test]
    fn a_length_in_a_message_is_no_header() {
        let message = r#"{"text":"Content-Length: 5\r\n\r\nhello","Content-Length: 5":1}"#;
        for length in [message.len(), 3, 1000] {
            let input = format!("Content-Length: {length}\r\n\r\n{message}\nContent-Length: 2\r\n\r\n{{}}");
            assert_eq!(frames(1 << 20, &input), [message, "{}"]);
        }
    }

    #[test]
    fn the_limit() {
        let next = "Content-Length: 2\r\n\r\n[]";
        let text = "x".repeat(5000);
        let long = |limit, input: &str| texts(&entries_of_long(|| (ABOUT.decoder)(limit), input.as_bytes()));
        for stated in ["5002", "-1", "99999", "9"] {
            let input = format!("Content-Length: {stated}\r\n\r\n\"{text}\"{next}");
            assert_eq!(long(9, &input), ["<5002>", "[]"], "{stated}");
        }
        assert_eq!(frames(6, "Content-Length: 6\n\n[1234]Content-Length: 7\n\n[12345]"), ["[1234]", "<7>"]);
        assert_eq!(frames(6, "Content-Length: 900\n\n"), [""]);
        assert_eq!(frames(6, &format!("Content-Length: 900\n\n{next}")), ["", "[]"]);
        assert_eq!(long(6, &format!("{text}\n{next}")), ["# <5000>", "[]"]);
        assert_eq!(long(6, &format!("Content-Length: 2\n{text}\n\n{next}")), ["# <5000>", "[]"]);
        assert_eq!(frames(usize::MAX, next), ["[]"]);
    }

    #[test]
    fn many_lines_in_time() {
        let found = |input: &str| texts(&drive(&mut *(ABOUT.decoder)(1 << 28), input.as_bytes(), &[])).len();
        assert_eq!(found(&"Content-Length: 2\r\n\r\n{}".repeat(30_000)), 30_000);
        assert_eq!(found(&"Content-Length\n".repeat(50_000)), 50_000);
        assert_eq!(found(&"c".repeat(1_000_000)), 1);
        assert_eq!(found(&format!("x{}", "Content-Length:".repeat(100_000))), 1);
        assert_eq!(found(&"Content-Length: 2{}".repeat(100_000)), 100_000);
        assert_eq!(found(&format!("Content-Length: -1\n\n{{{}", "Content-Length".repeat(30_000))), 1);
    }

    #[test]
    fn streams_are_recognised() {
        let detected = |input: &str| Format::detect(input.as_bytes()) == Format::ContentLength;
        for input in [
            "Content-Length: 9\r\n\r\n{",
            "banner\n\ncontent-length: x\ncontent-type: y\n\n[",
            "Content-Length: 1\r\nContent-Type: x\r\n\r\n\r\n{\"a\":1}\n",
            "oops}Content-Length: 2\r\n\r\n{}",
        ] {
            assert!(detected(input), "{input}");
        }
        for input in [
            "Content-Length: 9\r\n\r\n<html>",
            "{}\nContent-Length: 9\r\n\r\n{}",
            "Content-Length: 9\r\n",
            "Content-Length: 9\nno header\n\n{}",
            "the Content-Length: 9 bytes\n\n{}",
        ] {
            assert!(!detected(input), "{input}");
        }
    }
}
