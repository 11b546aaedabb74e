//! `json-values`: JSON values one after another, over many lines or several on one.

use super::Record;
use super::decoder::{Decoder, Line, Lines, Passed, Step, leading_blanks, trim_end};
use super::detect::{About, Window};
use memchr::{memchr, memchr_iter, memrchr};
use serde_json::Deserializer;
use serde_json::value::RawValue;

pub(super) const ABOUT: About = About {
    name: "json-values",
    summary: "JSON values one after another, pretty-printed over many lines or several on one",
    carries: "messages only",
    sample: concat!(
        "{\n",
        "  \"jsonrpc\": \"2.0\",\n",
        "  \"id\": 1,\n",
        "  \"method\": \"tools/list\"\n",
        "}\n",
        "{ \"jsonrpc\": \"2.0\", \"id\": 1,\n",
        "  \"result\": { \"tools\": [] } }\n",
    ),
    decoder: |limit| Box::new(JsonValues::new(limit, b"{[")),
};

/// The first value goes over several lines, as far as it can be seen, or has another one behind it on its line.
pub(super) fn detect(window: &Window<'_>) -> bool {
    window.first_value().is_some_and(|value| {
        let bytes = &window.bytes()[value.start..value.end.unwrap_or(window.bytes().len())];
        !value.alone || memchr(b'\n', trim_end(bytes)).is_some()
    })
}

/// Hands out values, and what is none in pieces that end where the next value may begin:
/// - text that begins no object or array ends with its line;
/// - an object or array with an error ends before the next line that begins, without any blank, with `{` or `[`, from the
///   line with the error on.
pub(super) struct JsonValues {
    limit: usize,
    /// What such a line begins with.
    starts: &'static [u8],
    lines: Lines,
    state: State,
}

enum State {
    /// Before a value or its blanks.
    Between,
    /// In text that ends with its line.
    Text,
    /// In an object or array that is too long.
    Long { passed: Passed, line_begins: bool },
}

impl Decoder for JsonValues {
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        match &mut self.state {
            State::Text => return self.text(input, end),
            State::Long { passed, line_begins } => {
                let step = pass(passed, line_begins, self.starts, input, end);
                if matches!(step, Step::Entry { .. }) {
                    self.state = State::Between;
                }
                return step;
            }
            State::Between => {}
        }
        let blanks = leading_blanks(input);
        if blanks > 0 {
            return Step::Skip { consumed: blanks };
        }
        let Some(&first) = input.first() else { return Step::NeedMore };
        let structured = matches!(first, b'{' | b'[');
        // One byte more than a value may have, so that a number can be seen to end.
        let window = &input[..input.len().min(self.limit.saturating_add(1))];
        let last = end && window.len() == input.len();
        match value(window) {
            Value::Whole(length) if length > self.limit => self.long(window, structured, input, end),
            Value::Whole(length) if length == window.len() && !last && !delimited(first) => Step::NeedMore,
            Value::Whole(length) => Step::entry(0, length, Record::new(&window[..length])),
            Value::Incomplete if window.len() > self.limit => self.long(window, structured, input, end),
            Value::Incomplete if last => Step::entry(0, window.len(), Record::new(trim_end(window))),
            Value::Incomplete => Step::NeedMore,
            Value::Broken(at) if structured => self.broken(at, input, end),
            Value::Broken(_) => self.text(input, end),
        }
    }
}

impl JsonValues {
    /// Objects and arrays with an error end before the next line that begins with one of the bytes in `starts`.
    pub(super) fn new(limit: usize, starts: &'static [u8]) -> Self {
        Self { limit, starts, lines: Lines::new(limit), state: State::Between }
    }

    /// The rest of a line.
    fn text<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        self.state = State::Between;
        match self.lines.step(input, end) {
            Line::NeedMore => {
                self.state = State::Text;
                Step::NeedMore
            }
            Line::Skip { consumed } => {
                self.state = State::Text;
                Step::Skip { consumed }
            }
            Line::Long { consumed, .. } => {
                self.state = State::Text;
                Step::Begin { start: 0, consumed }
            }
            Line::Whole { text, consumed } => Step::entry(0, consumed, Record::new(text)),
            Line::End { length, consumed } => Step::entry(0, consumed, Record::oversized(length)),
        }
    }

    /// An object or array with an error at `at`.
    fn broken<'a>(&mut self, at: usize, input: &'a [u8], end: bool) -> Step<'a> {
        // The end of a piece is seen by the LF behind it and the bracket after that.
        let window = &input[..input.len().min(self.limit.saturating_add(2))];
        let from = memrchr(b'\n', &window[..at]).unwrap_or(0);
        let piece = match next_start(&window[from..], self.starts) {
            Some(found) => &window[..from + found],
            None if window.len() > self.limit.saturating_add(1) => {
                return self.long(&window[..=self.limit], true, input, end);
            }
            None if !end => return Step::NeedMore,
            None => window,
        };
        let text = trim_end(piece);
        match text.len() > self.limit {
            true => self.long(&window[..=self.limit], true, input, end),
            false => Step::entry(0, piece.len(), Record::new(text)),
        }
    }

    /// What begins with `head` is too long.
    fn long<'a>(&mut self, head: &[u8], structured: bool, input: &'a [u8], end: bool) -> Step<'a> {
        if !structured {
            return self.text(input, end);
        }
        let mut passed = Passed::default();
        passed.add(head);
        self.state = State::Long { passed, line_begins: head.ends_with(b"\n") };
        Step::Begin { start: 0, consumed: head.len() }
    }
}

/// Passes over what is too long, up to the next line that begins with one of `starts`.
fn pass<'a>(passed: &mut Passed, line_begins: &mut bool, starts: &[u8], input: &[u8], end: bool) -> Step<'a> {
    let done = match input.first() {
        None if !end => return Step::NeedMore,
        Some(first) if *line_begins && starts.contains(first) => Some(0),
        _ => next_start(input, starts),
    };
    let consumed = done.unwrap_or(input.len());
    passed.add(&input[..consumed]);
    *line_begins = input.ends_with(b"\n");
    match done {
        None if !end => Step::Skip { consumed },
        _ => Step::entry(0, consumed, Record::oversized(passed.length())),
    }
}

/// Where the first line after this one begins that begins with one of `starts`.
fn next_start(input: &[u8], starts: &[u8]) -> Option<usize> {
    memchr_iter(b'\n', input).map(|at| at + 1).find(|&at| input.get(at).is_some_and(|byte| starts.contains(byte)))
}

/// Whether a value that begins with `first` shows its own end, as a number does not.
fn delimited(first: u8) -> bool {
    matches!(first, b'{' | b'[' | b'"')
}

/// What stands at the start of some input.
pub(super) enum Value {
    /// A value of that many bytes. Its strings may hold bytes that are no UTF-8.
    Whole(usize),
    /// A value, up to the end of the input.
    Incomplete,
    /// An error at that offset.
    Broken(usize),
}

/// Looks for a value at the start of `input`, which begins with no blank.
pub(super) fn value(input: &[u8]) -> Value {
    match text_value(input) {
        Value::Broken(at) if std::str::from_utf8(&input[..at]).is_err() => bytes_value(input, at),
        found => found,
    }
}

/// The same, for values whose strings are UTF-8: others are an error to `RawValue`.
fn text_value(input: &[u8]) -> Value {
    let mut values = Deserializer::from_slice(input).into_iter::<&RawValue>();
    match values.next() {
        Some(Ok(_)) => Value::Whole(values.byte_offset()),
        None => Value::Incomplete,
        Some(Err(error)) if error.is_eof() => Value::Incomplete,
        Some(Err(error)) => {
            let line = match error.line() {
                0 | 1 => 0,
                number => memchr_iter(b'\n', input).nth(number - 2).map_or(input.len(), |at| at + 1),
            };
            let at = (line + error.column()).min(input.len());
            // A number that stops before its next digit is an error to serde_json even where the input stops.
            let may_go_on = at == input.len() && matches!(input.last(), Some(b'-' | b'+' | b'.' | b'e' | b'E'));
            if may_go_on { Value::Incomplete } else { Value::Broken(at) }
        }
    }
}

/// The same, for values that are known to hold bytes that are no UTF-8 before `at`. These may be anything but ASCII
/// without changing where the value ends, so a copy with letters in their place is looked at, no longer than it has to be.
fn bytes_value(input: &[u8], at: usize) -> Value {
    let mut length = at.saturating_mul(2).max(64);
    loop {
        let part = &input[..length.min(input.len())];
        let ascii: Vec<u8> = part.iter().map(|&byte| if byte.is_ascii() { byte } else { b'x' }).collect();
        match text_value(&ascii) {
            Value::Incomplete if part.len() < input.len() => length = length.saturating_mul(2),
            found => return found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{drive, entries, texts};
    use super::*;

    fn values(limit: usize, input: impl AsRef<[u8]>) -> Vec<String> {
        texts(&entries(|| (ABOUT.decoder)(limit), input.as_ref()))
    }

    #[test]
    fn values_however_they_are_laid_out() {
        assert_eq!(
            values(99, "{\n \"a\": [1,\n\n2]\n}\r\n{}{}[ ]\n[{\n}]"),
            ["{\n \"a\": [1,\n\n2]\n}", "{}", "{}", "[ ]", "[{\n}]"]
        );
        assert_eq!(
            values(99, "1 -2.5e3\nnull\n\"a b\"\"c\"true{}"),
            ["1", "-2.5e3", "null", "\"a b\"", "\"c\"", "true", "{}"]
        );
        assert_eq!(values(99, ""), [""; 0]);
        assert_eq!(values(99, " \r\n\t"), [""; 0]);
        assert_eq!(values(99, "{\"a\":\"}\\\"{\"}[]"), ["{\"a\":\"}\\\"{\"}", "[]"]);
    }

    #[test]
    fn offsets_are_those_of_the_first_byte() {
        let found = entries(|| (ABOUT.decoder)(9), b" {}\n\n  text \n[\n1] 7\n");
        assert_eq!(found.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1, 7, 13, 18]);
    }

    #[test]
    fn text_ends_with_its_line() {
        let input = "Server started\r\n  on port 80 \n{\n\"a\":1}\n2024-01-01 {}\n\"open\n{}";
        let found = ["Server started", "on port 80", "{\n\"a\":1}", "2024-01-01 {}", "\"open", "{}"];
        assert_eq!(values(99, input), found);
        assert_eq!(values(99, "{} trailing {}\n,\n{}"), ["{}", "trailing {}", ",", "{}"]);
    }

    #[test]
    fn a_broken_value_ends_where_the_next_one_begins() {
        assert_eq!(
            values(99, "{\"a\": oops,\n \"b\": {}\n}\n{\"c\":1}\n"),
            ["{\"a\": oops,\n \"b\": {}\n}", "{\"c\":1}"]
        );
        assert_eq!(values(99, "{\"a\":\n{\"b\":1}\n{\"c\":1}"), ["{\"a\":\n{\"b\":1}", "{\"c\":1}"]);
        assert_eq!(values(99, "[1,\n[2],\n[3]\n[4]\n{}"), ["[1,\n[2],\n[3]", "[4]", "{}"]);
        assert_eq!(values(99, "[info] a\n[info] b\nc\n{}"), ["[info] a", "[info] b\nc", "{}"]);
        assert_eq!(values(99, "{\"a\":\"\n{}"), ["{\"a\":\"", "{}"]);
        assert_eq!(values(99, "{]\n\n \n"), ["{]"]);
        assert_eq!(values(99, "}{}\n]"), ["}{}", "]"]);
    }

    #[test]
    fn the_last_value_may_be_cut_off() {
        assert_eq!(values(99, "{}\n{\"a\": [\n 1,\n"), ["{}", "{\"a\": [\n 1,"]);
        assert_eq!(values(99, "{}\"ab"), ["{}", "\"ab"]);
        assert_eq!(values(99, "{} 12"), ["{}", "12"]);
        assert_eq!(values(99, "{} tru"), ["{}", "tru"]);
        assert_eq!(values(99, "{} 1e"), ["{}", "1e"]);
    }

    #[test]
    fn bytes_that_are_no_utf8_do_not_end_a_value() {
        assert_eq!(values(99, b"{\"a\":\n\"\xff\xc3\"}\n{}"), ["{\"a\":\n\"\u{fffd}\u{fffd}\"}", "{}"]);
        assert_eq!(values(99, b"\"\xff\"{}"), ["\"\u{fffd}\"", "{}"]);
        assert_eq!(values(99, b"\xff{}\n{\"\xff\":\xff}\n{}"), ["\u{fffd}{}", "{\"\u{fffd}\":\u{fffd}}", "{}"]);
        assert_eq!(values(99, b"12\xff\n1"), ["12\u{fffd}", "1"]);
    }

    #[test]
    fn the_start_of_a_value_is_no_error() {
        let whole = b"[\n[-0.5e+10, 1E-2, -3], {\"a\\u00e9\\n\": \"\xff\xc3\xa9\"}, true, false, null, {}, []\n]";
        for length in 1..whole.len() {
            assert!(matches!(value(&whole[..length]), Value::Incomplete), "{length}");
        }
        assert!(matches!(value(whole), Value::Whole(length) if length == whole.len()));
    }

    #[test]
    fn the_limit() {
        assert_eq!(values(6, "[1234]\n[12345]\n[1]"), ["[1234]", "<7>", "[1]"]);
        assert_eq!(values(6, "[12345]{}\n {}\n{}"), ["<13>", "{}"]);
        assert_eq!(values(6, "[1\n,\n2\n]\n{}"), ["<8>", "{}"]);
        assert_eq!(values(6, "123456 1234567 1\n12"), ["123456", "<9>", "12"]);
        assert_eq!(values(6, "123456\r\n\"abcd\"\n\"abcde\"\n1"), ["123456", "\"abcd\"", "<7>", "1"]);
        assert_eq!(values(6, "a text\na text \na longer text\n{}"), ["a text", "<6>", "<13>", "{}"]);
        assert_eq!(
            values(6, "{oops}\n{oops }\n{]\n12\n{}\n{]\n123\n{}"),
            ["{oops}", "<7>", "{]\n12", "{}", "{]\n123", "{}"]
        );
        assert_eq!(values(6, "{]\n1234\n{}\n{oops}\n"), ["<7>", "{}", "{oops}"]);
        assert_eq!(values(6, "{oops}\r\n{}"), ["<6>", "{}"]);
        assert_eq!(values(6, "[[[[[[\n"), ["<6>"]);
        assert_eq!(values(6, "[[[[[["), ["[[[[[["]);
        assert_eq!(values(6, "[[[[[[[[\n\n\n"), ["<8>"]);
        assert_eq!(values(0, "{} 1\n[\n[\n"), ["<4>", "<1>", "<1>"]);
    }

    #[test]
    fn a_million_lines_in_time() {
        let brackets = "[\n".repeat(1_000_000);
        let found = |input: &str| texts(&drive(&mut *(ABOUT.decoder)(1 << 28), input.as_bytes(), &[])).len();
        assert_eq!(found(&brackets), 1);
        assert_eq!(found(&format!("{brackets}x")), 1);
        assert_eq!(found(&"[\n[\nx\n".repeat(300_000)), 300_000);
        assert_eq!(found(&"some text\n".repeat(1_000_000)), 1_000_000);
        assert_eq!(found(&"{oops\n".repeat(1_000_000)), 1_000_000);
        assert_eq!(texts(&drive(&mut *(ABOUT.decoder)(1000), brackets.as_bytes(), &[])).len(), 1997);
    }
}
