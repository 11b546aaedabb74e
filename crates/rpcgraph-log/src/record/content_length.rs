//! `content-length`: headers with the length of a message, an empty line, and the message, as in the base protocol of
//! the Language Server Protocol.
//!
//! A length in other units, or of text whose line ends were converted, is wrong. So if the stated bytes are not a JSON
//! value, the message goes up to its own end.
//!
//! Two processes that write to one file, such as `tee` for each direction, may write both headers before both bodies. So
//! a header in the place of a body waits for a JSON value of its length.

use super::decoder::{Decoder, Step, leading_blanks, trim_end};
use super::lines::{Extras, FoundEntry, LineFormat, LineInInput, LineSplitter};
use super::value::{Extent, is_whole, value_shown};
use super::{LogLine, Record};
use memchr::{memchr, memchr2_iter};

pub(super) fn decoder() -> Box<dyn Decoder> {
    LineSplitter::boxed(ContentLength { state: FrameState::Between, waiting: Vec::new() })
}

/// The maximum number of headers that wait for their messages.
const WAITING: usize = 16;
/// The maximum length of another header, or of output of standard error between headers, in bytes.
const HEADER: usize = 4096;

/// A header of this protocol.
pub(super) enum Header {
    /// The length, if it is a number.
    Length(Option<u64>),
    /// A content type of the protocols.
    Type,
}

impl Header {
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let (name, value) = str::from_utf8(&line[..line.len().min(HEADER)]).ok()?.split_once(':')?;
        match name.trim_end().to_ascii_lowercase().as_str() {
            "content-length" => Some(Self::Length(value.trim().parse().ok())),
            "content-type" => {
                let (kind, charset) = value.split_once(';').unwrap_or((value, ""));
                let is_usual = matches!(kind.trim(), "application/vscode-jsonrpc" | "application/json")
                    && matches!(charset.trim(), "" | "charset=utf-8" | "charset=utf8");
                is_usual.then_some(Self::Type)
            }
            _ => None,
        }
    }
}

/// Returns the offset of a length at the end of a line, as after text without a line end.
fn header_in(line: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"content-length";
    memchr2_iter(b'C', b'c', line).find(|&at| {
        line[at..].get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME))
            && matches!(Header::of(&line[at..]), Some(Header::Length(Some(_))))
    })
}

/// Each message is a record. Each other line is a [`LogLine`], except for the headers before a message.
struct ContentLength {
    state: FrameState,
    /// The lengths of earlier headers, behind which other headers stood.
    waiting: Vec<u64>,
}

#[derive(Clone, Copy)]
enum FrameState {
    Between,
    /// After a header, with the length that is stated.
    Headers(Option<u64>),
    /// After the empty line.
    Body(Option<u64>),
}

impl LineFormat for ContentLength {
    fn resume<'a>(&mut self, input: &'a [u8], end: bool, _: &mut Extras) -> Option<Step<'a>> {
        match self.state {
            FrameState::Between => self.late_body(input, end),
            FrameState::Headers(length) => match memchr(b'\n', &input[..leading_blanks(input)]) {
                Some(at) => Some(self.enter(FrameState::Body(length), at + 1)),
                // The empty line is missing.
                None if matches!(input, [b'{' | b'[', ..]) || end && input.is_empty() => {
                    Some(self.body(length, input, end))
                }
                None => None,
            },
            FrameState::Body(length) => Some(self.body(length, input, end)),
        }
    }

    fn below<'a>(&mut self, LineInInput { line, length, .. }: LineInInput<'a>, _: &mut Extras) -> Option<Step<'a>> {
        let before = if let FrameState::Headers(before) = self.state { before } else { None };
        let (stated, is_clear) = match Header::of(line)? {
            Header::Length(stated) => (stated, stated.is_some()),
            Header::Type => (before, true),
        };
        self.state = FrameState::Headers(stated);
        Some(match is_clear {
            true => Step::Skip { consumed: length },
            false => Step::entry(0, length, LogLine::new(line)),
        })
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

    fn body<'a>(&mut self, length: Option<u64>, input: &'a [u8], end: bool) -> Step<'a> {
        let blanks = leading_blanks(input);
        if blanks > 0 {
            // Blanks at the start of a message count.
            return self.enter(FrameState::Body(length.map(|bytes| bytes.saturating_sub(blanks as u64))), blanks);
        }
        self.state = FrameState::Body(length);
        if input.is_empty() {
            if end {
                self.waiting.clear();
            }
            return if end { self.record(input, 0) } else { Step::NeedMore };
        }
        let next = header_at(input);
        let has_room = length.is_some() && self.waiting.len() < WAITING;
        if has_room && next.is_none() && may_be_header(input) {
            if !end {
                return Step::NeedMore;
            }
            self.waiting.clear();
            return self.record(trim_end(input), input.len());
        }
        if let Some(length) = length
            && has_room
            && (next.is_some() || !self.waiting.is_empty())
        {
            self.waiting.push(length);
            self.state = FrameState::Between;
            match self.late_body(input, end) {
                Some(Step::NeedMore) => {
                    self.waiting.pop();
                    self.state = FrameState::Body(Some(length));
                    return Step::NeedMore;
                }
                Some(step) => return step,
                None => {}
            }
            if let Some((next, consumed)) = next {
                return self.enter(FrameState::Headers(Some(next)), consumed);
            }
            self.waiting.pop();
            self.state = FrameState::Body(Some(length));
        }
        let stated = length.and_then(|bytes| usize::try_from(bytes).ok());
        match stated.map(|bytes| input.get(..bytes).ok_or(bytes)) {
            Some(Err(_)) if !end => return Step::NeedMore,
            Some(Ok(body)) if is_whole(trim_end(body)) => return self.record(trim_end(body), body.len()),
            _ => {}
        }
        let body = stated.and_then(|bytes| input.get(..bytes));
        match (value_shown(input, end), body) {
            (Extent::Whole(length), _) => self.record(&input[..length], length),
            (Extent::Incomplete, _) => Step::NeedMore,
            (Extent::Broken(_), Some(body)) => self.record(trim_end(body), body.len()),
            // The line is a line of text.
            (Extent::Broken(_), None) => self.record(&[], 0),
        }
    }

    /// Returns a message whose header stands before other headers.
    fn late_body<'a>(&mut self, input: &'a [u8], end: bool) -> Option<Step<'a>> {
        if self.waiting.is_empty() {
            return None;
        }
        if input.is_empty() && end {
            // The log was cut off: one message is, as if there were one header.
            self.waiting.clear();
            return Some(self.record(input, 0));
        }
        if !matches!(input.first(), Some(b'{' | b'[')) {
            return None;
        }
        let fits = |length: u64| {
            let body = usize::try_from(length).ok().and_then(|length| input.get(..length));
            body.map(|body| is_whole(trim_end(body)))
        };
        let fitting = (0..self.waiting.len()).filter(|at| fits(self.waiting[*at]) == Some(true));
        // The shortest, which does not depend on how much of the text is there.
        let found = fitting.min_by_key(|at| self.waiting[*at]);
        let Some(at) = found else {
            if end && matches!(value_shown(input, false), Extent::Incomplete) {
                self.waiting.clear();
                return Some(self.record(trim_end(input), input.len()));
            }
            let is_short = self.waiting.iter().any(|length| fits(*length).is_none());
            return (is_short && !end).then_some(Step::NeedMore);
        };
        let body = &input[..usize::try_from(self.waiting.remove(at)).unwrap_or_default()];
        Some(self.record(trim_end(body), body.len()))
    }

    fn record<'a>(&mut self, text: &'a [u8], consumed: usize) -> Step<'a> {
        self.state = FrameState::Between;
        Step::entry(0, consumed, Record::new(text))
    }
}

/// True if a text is the beginning of a line with the length of a message.
fn may_be_header(input: &[u8]) -> bool {
    const NAME: &[u8] = b"content-length";
    let is_name = input.iter().zip(NAME).all(|(byte, expected)| byte.eq_ignore_ascii_case(expected));
    is_name && input.len() < HEADER && memchr(b'\n', input).is_none()
}

/// Returns the length of a message that a line at the beginning of a text states, and the size of the line.
fn header_at(input: &[u8]) -> Option<(u64, usize)> {
    let end = memchr(b'\n', &input[..input.len().min(HEADER)])?;
    let Some(Header::Length(Some(length))) = Header::of(trim_end(&input[..end])) else { return None };
    Some((length, end + 1))
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::capped::CappedDecoder;
    use super::super::decoder::tests::{drive, entries, entries_of_long, texts};
    use super::*;

    fn frames(limit: usize, input: &str) -> Vec<String> {
        texts(&entries(|| CappedDecoder::boxed(decoder(), limit), input.as_bytes()))
    }

    #[test]
    fn frames_as_they_should_be() {
        let input = "Content-Length: 9\r\n\r\n{\"a\":[\n]}Content-Type: x\r\nCONTENT-LENGTH:4\r\n\r\n \t{}\r\n\
                     content-length: 2\ncontent-length: 2\n\n[]Content-Length: 3\r\n\r\n123";
        let found = entries(|| CappedDecoder::boxed(decoder(), 100), input.as_bytes());
        assert_eq!(texts(&found), ["{\"a\":[\n]}", "# Content-Type: x", "{}", "[]", "123"]);
        let starts: Vec<_> = found.iter().map(|(start, _)| *start).collect();
        assert_eq!(starts, [21, 30, input.find("{}").unwrap(), input.find("[]").unwrap(), input.len() - 3]);
    }

    #[test]
    fn lengths_that_are_not_true() {
        let next = "\nContent-Length: 4\r\n\r\n[12]";
        let table = [
            ("Content-Length: 3\r\n\r\n{\"a\":1}", &["{\"a\":1}"][..]),
            ("Content-Length: 9\r\n\r\n{\"a\":1}", &["{\"a\":1}"]),
            ("Content-Length: 0\r\n\r\n{\"a\":1}", &["{\"a\":1}"]),
            ("Content-Length: 300000000\r\n\r\n{\"a\":1}", &["{\"a\":1}"]),
            ("Content-Length: -1\r\n\r\n{\"a\":1}", &["# Content-Length: -1", "{\"a\":1}"]),
            ("Content-Length: many\r\n\r\n{\"a\":1}", &["# Content-Length: many", "{\"a\":1}"]),
            ("Content-L: 7\r\n\r\n{\"a\":1}\n", &["# Content-L: 7", "# {\"a\":1}"]),
            ("Content-Length: 1\r\nContent-Length: 7\r\n\r\n{\"a\":1}", &["{\"a\":1}"]),
            ("Content-Type: application/json; charset=utf8\r\n\r\n{\"a\":1}", &["{\"a\":1}"]),
            ("Content-Length: 7\r\n{\"a\":1}", &["{\"a\":1}"]),
            ("Content-Length: 6\r\n\r\n{oops}\n", &["{oops}"]),
            ("Content-Length: 3\r\n\r\n{oops}\n", &["{oo", "# ps}"]),
            ("Content-Length: x\r\n\r\n{oops}\n", &["# Content-Length: x", "", "# {oops}"]),
            ("Content-Length: 8\r\n\r\n{} text\n", &["{}", "# text"]),
        ];
        for (input, expected) in table {
            let expected: Vec<_> = expected.iter().chain(&["[12]"]).map(|&text| text.to_owned()).collect();
            assert_eq!(frames(100, &format!("{input}{next}")), expected, "{input}");
        }
        for cut in ["Content-Length: 99\r\n\r\n{\"a\":1}", "Content-Length: 8\r\n\r\n{\"a\": \"b"] {
            assert_eq!(frames(100, cut), [&cut[cut.find('{').unwrap()..]]);
        }
        for empty in ["Content-Length: 0\r\n\r\n", "Content-Length: 5\r\n\r\n"] {
            assert_eq!(frames(100, empty), [""]);
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
    fn headers_before_the_bodies_of_both() {
        let header = |body: &str| format!("Content-Length: {}\r\n\r\n", body.len());
        let (a, b, c) = (r#"{"id":1,"method":"m"}"#, r#"{"id":1,"result":{"a":[]}}"#, "[3]");
        let (ha, hb, hc) = (header(a), header(b), header(c));
        for (input, expected) in [
            (format!("{ha}{hb}{a}{b}{hc}{c}"), &[a, b, c][..]),
            (format!("{ha}{hb}{b}{a}{hc}{c}"), &[b, a, c]),
            (format!("{ha}{a}{hb}{hc}{b}{c}"), &[a, b, c]),
            (format!("{ha}{hb}{hc}{b}{c}{a}"), &[b, c, a]),
            // A body that was not written.
            (format!("{ha}{hb}{b}text\n{hc}{c}"), &[b, "# text", c, ""]),
            (format!("{ha}{hb}"), &[""]),
            (format!("{ha}{hb}{b}{}", &a[..9]), &[b, &a[..9]]),
        ] {
            assert_eq!(frames(100, &input), expected, "{input}");
        }
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
        let long =
            |limit, input: &str| texts(&entries_of_long(|| CappedDecoder::boxed(decoder(), limit), input.as_bytes()));
        for stated in ["5002", "99999", "9"] {
            let input = format!("Content-Length: {stated}\r\n\r\n\"{text}\"{next}");
            assert_eq!(long(9, &input), ["<5002>", "[]"], "{stated}");
        }
        assert_eq!(frames(6, "Content-Length: 6\n\n[1234]Content-Length: 7\n\n[12345]"), ["[1234]", "<7>"]);
        assert_eq!(frames(6, "Content-Length: 900\n\n"), [""]);
        assert_eq!(long(6, &format!("{text}\n{next}")), ["# <5000>", "[]"]);
        assert_eq!(long(6, &format!("Content-Length: 2\n{text}\n\n{next}")), ["# <5000>", "[]"]);
        assert_eq!(frames(usize::MAX, next), ["[]"]);
    }

    #[test]
    fn many_lines_in_time() {
        let found = |input: &str| texts(&drive(&mut *decoder(), input.as_bytes(), &[])).len();
        assert_eq!(found(&"Content-Length: 2\r\n\r\n{}".repeat(30_000)), 30_000);
        assert_eq!(found(&"Content-Length\n".repeat(50_000)), 50_000);
        assert_eq!(found(&"c".repeat(1_000_000)), 1);
        assert_eq!(found(&format!("x{}", "Content-Length:".repeat(100_000))), 1);
    }

    #[test]
    fn streams_are_recognised() {
        let detected = |input: &str| Format::detect(input.as_bytes()) == Format::ContentLength;
        for input in [
            "Content-Length: 9\r\n\r\n{",
            "banner\n\ncontent-length: x\ncontent-type: y\n\n[",
            "Content-Length: 1\r\nContent-Type: x\r\n\r\n\r\n{\"a\":1}\n",
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
