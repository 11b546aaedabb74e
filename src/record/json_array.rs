//! `json-array`: one array over several lines, whose elements are the messages. They are read one by one, so that the
//! array may be larger than memory, and may lack its end.

use super::decoder::{Decoder, Line, Lines, Passed, Step, is_blank, leading_blanks, trim_end};
use super::detect::{About, Window};
use super::json_values::{Value, value};
use super::{Entry, LogLine, Record};
use memchr::{memchr, memrchr};

pub(super) const ABOUT: About = About {
    name: "json-array",
    summary: "one array of messages over several lines, `[` `{…},` `{…}` `]`; each element is a record",
    carries: "messages only",
    sample: concat!(
        "[\n",
        "  { \"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/list\" },\n",
        "  { \"jsonrpc\": \"2.0\", \"id\": 1, \"result\": { \"tools\": [] } }\n",
        "]\n",
    ),
    decoder: |limit| {
        Box::new(JsonArray { limit, lines: Lines::new(limit), indent: 0, line_begins: true, state: State::Outside })
    },
};

/// The first value that begins a line is an array over several lines, with nothing but blanks behind it. Its end may be
/// cut off, and elements behind the first may have errors.
pub(super) fn detect(window: &Window<'_>) -> bool {
    let bytes = window.bytes();
    let last = window.first_value().map_or(bytes.len(), |value| value.start);
    let mut from = 0;
    for (at, _) in window.lines().take_while(|&(at, _)| at <= last) {
        if at < from || opens(&bytes[at..], true) != Some(true) {
            continue;
        }
        let (array, behind) = match value(&bytes[at..]) {
            Value::Whole(length) => bytes[at..].split_at(length),
            Value::Incomplete => (trim_end(&bytes[at..]), &[][..]),
            Value::Broken(error) if first_is_whole(&bytes[at..]) => (&bytes[at..at + error], &[][..]),
            Value::Broken(error) => {
                // Nothing before the line with the error is looked at again.
                from = memrchr(b'\n', &bytes[at..at + error]).map_or(at + 1, |line_end| at + line_end);
                continue;
            }
        };
        if memchr(b'\n', array).is_some() && leading_blanks(behind) == behind.len() {
            return true;
        }
    }
    false
}

/// Whether the first element of an array has a comma behind it.
fn first_is_whole(array: &[u8]) -> bool {
    let first = &array[1 + leading_blanks(&array[1..])..];
    match value(first) {
        Value::Whole(length) => first[length + leading_blanks(&first[length..])..].starts_with(b","),
        Value::Incomplete | Value::Broken(_) => false,
    }
}

/// How many blanks are looked at behind a bracket.
const BLANKS: usize = 4096;

/// Whether an array begins with the bracket at the start of `input`, and not a line such as `[info] ready` or
/// `[12:00:01] ready`: an element in brackets or quotes, a comma behind another one, or the line's end shows that.
/// `None`: more is needed to know.
fn opens(input: &[u8], end: bool) -> Option<bool> {
    let [b'[', rest @ ..] = input else { return Some(false) };
    let unseen = if end { Some(true) } else { None };
    let next_token = |rest: &[u8]| {
        let blanks = leading_blanks(&rest[..rest.len().min(BLANKS)]);
        (memchr(b'\n', &rest[..blanks]).is_some() || blanks == BLANKS, rest.get(blanks).copied(), blanks)
    };
    let (line_ends, first, blanks) = next_token(rest);
    match first {
        _ if line_ends => Some(true),
        None => unseen,
        Some(b'{' | b'[' | b']' | b'"') => Some(true),
        Some(_) => {
            let rest = &rest[blanks..];
            let token = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
            let length = rest.iter().take(BLANKS).position(|byte| !token(byte));
            match length {
                None if rest.len() >= BLANKS => Some(false),
                None => unseen,
                Some(length) => match next_token(&rest[length..]) {
                    (true, ..) => Some(false),
                    (_, None, _) => unseen,
                    (_, next, _) => Some(next == Some(b',')),
                },
            }
        }
    }
}

/// Elements are records, and so is each piece of what is none; lines before and behind the array are
/// [`LogLine`]s, but for objects.
struct JsonArray {
    limit: usize,
    lines: Lines,
    /// How many blanks the line begins with that is being read, and whether nothing else was in it so far.
    indent: usize,
    line_begins: bool,
    state: State,
}

enum State {
    /// Before an array, or behind one.
    Outside,
    /// In a line outside.
    Text,
    /// Before an element, or behind one.
    Inside,
    /// In an element that is too long.
    Long(Passed, Walk),
}

impl Decoder for JsonArray {
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        let step = match &mut self.state {
            State::Outside => self.outside(input, end),
            State::Text => self.text(input, end),
            State::Inside => self.inside(input, end),
            State::Long(passed, walk) => {
                let found = walk.end(input);
                let consumed = found.unwrap_or(input.len());
                passed.add(&input[..consumed]);
                match found {
                    None if input.is_empty() && !end => Step::NeedMore,
                    None if !end => Step::Skip { consumed },
                    _ => {
                        let length = passed.length();
                        self.state = State::Inside;
                        Step::entry(0, consumed, Record::oversized(length))
                    }
                }
            }
        };
        if let Step::Skip { consumed } | Step::Begin { consumed, .. } | Step::Entry { consumed, .. } = step {
            self.note(&input[..consumed]);
        }
        step
    }
}

impl JsonArray {
    /// Keeps an eye on the indentation of the line that is being read.
    fn note(&mut self, consumed: &[u8]) {
        let line = match memrchr(b'\n', consumed) {
            Some(at) => {
                (self.indent, self.line_begins) = (0, true);
                &consumed[at + 1..]
            }
            None => consumed,
        };
        if self.line_begins {
            let blanks = leading_blanks(line);
            self.indent += blanks;
            self.line_begins = blanks == line.len();
        }
    }

    fn outside<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        let blanks = leading_blanks(input);
        match opens(&input[blanks..], end) {
            _ if blanks > 0 => Step::Skip { consumed: blanks },
            _ if input.is_empty() => Step::NeedMore,
            None => Step::NeedMore,
            Some(false) => self.text(input, end),
            Some(true) => {
                self.state = State::Inside;
                Step::Skip { consumed: 1 }
            }
        }
    }

    /// The rest of a line outside.
    fn text<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        let (state, step) = match self.lines.step(input, end) {
            Line::NeedMore => (State::Text, Step::NeedMore),
            Line::Skip { consumed } => (State::Text, Step::Skip { consumed }),
            Line::Long { consumed, .. } => (State::Text, Step::Begin { start: 0, consumed }),
            Line::Whole { text, consumed } => {
                // An object is a message here too.
                let whole = matches!(value(text), Value::Whole(length) if length == text.len());
                let entry = match text.starts_with(b"{") && whole {
                    true => Entry::from(Record::new(text)),
                    false => LogLine::new(text).into(),
                };
                (State::Outside, Step::entry(0, consumed, entry))
            }
            Line::End { length, consumed } => (State::Outside, Step::entry(0, consumed, LogLine::oversized(length))),
        };
        self.state = state;
        step
    }

    fn inside<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        let Some(&first) = input.first() else { return Step::NeedMore };
        let between = input.iter().position(|&byte| !is_blank(byte) && byte != b',').unwrap_or(input.len());
        if between > 0 {
            return Step::Skip { consumed: between };
        }
        if first == b']' {
            self.state = State::Outside;
            return Step::Skip { consumed: 1 };
        }
        // One byte more than an element may have, so that a number can be seen to end.
        let window = &input[..input.len().min(self.limit.saturating_add(1))];
        let full = window.len() > self.limit;
        let last = end && !full;
        let delimited = matches!(first, b'{' | b'[' | b'"');
        let error = match value(window) {
            Value::Whole(length) if length <= self.limit && (length < window.len() || last || delimited) => {
                return Step::entry(0, length, Record::new(&window[..length]));
            }
            Value::Whole(_) | Value::Incomplete if last => {
                return Step::entry(0, window.len(), Record::new(trim_end(window)));
            }
            Value::Whole(_) | Value::Incomplete if !full => return Step::NeedMore,
            Value::Whole(_) | Value::Incomplete => None,
            Value::Broken(at) => Some(memrchr(b'\n', &window[..at]).unwrap_or(0)),
        };
        let walk = Walk::new(first, self.indent, error);
        let length = match walk.clone().end(&window[1..]) {
            _ if error.is_none() => None,
            Some(behind) => Some(1 + behind),
            None if last => Some(window.len()),
            None if !full => return Step::NeedMore,
            None => None,
        };
        let piece = trim_end(&window[..length.unwrap_or(0)]);
        let piece = trim_end(piece.strip_suffix(b",").unwrap_or(piece));
        match length {
            Some(length) if piece.len() <= self.limit => Step::entry(0, length, Record::new(piece)),
            _ => {
                let mut passed = Passed::default();
                passed.add(&window[..1]);
                self.state = State::Long(passed, walk);
                Step::Begin { start: 0, consumed: 1 }
            }
        }
    }
}

/// Looks for the end of an element that is too long or has an error: where its brackets close, or, from the line with
/// the error on, where a line is indented no more than its first one and begins with a bracket. The first of these counts.
#[derive(Clone)]
struct Walk {
    first: u8,
    indent: usize,
    /// How many bytes have been passed, and behind how many the lines' indentation counts.
    passed: usize,
    lines_from: usize,
    /// How many brackets are open.
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// How many blanks the line begins with, where nothing else was in it so far.
    blanks: Option<usize>,
}

impl Walk {
    /// Of an element that begins with `first`, and may have an error behind so many bytes.
    fn new(first: u8, indent: usize, error: Option<usize>) -> Self {
        Self {
            first,
            indent,
            passed: 1,
            lines_from: error.unwrap_or(usize::MAX),
            depth: usize::from(matches!(first, b'{' | b'[')),
            in_string: first == b'"',
            escaped: false,
            blanks: None,
        }
    }

    /// How many of the bytes that follow belong to the element, if its end can be seen.
    fn end(&mut self, input: &[u8]) -> Option<usize> {
        for (at, &byte) in input.iter().enumerate() {
            let escaped = std::mem::take(&mut self.escaped);
            if let Some(blanks) = self.blanks {
                let outer = blanks <= self.indent && self.passed >= self.lines_from;
                match byte {
                    b' ' | b'\t' | b'\r' => self.blanks = Some(blanks + 1),
                    b'}' if outer => return Some(at + 1),
                    // The end of the whole array, if not of an element that is one.
                    b']' if outer && self.first == b'[' && blanks == self.indent => return Some(at + 1),
                    b'{' | b'[' | b']' if outer => return Some(at),
                    b'\n' => {}
                    _ => self.blanks = None,
                }
            }
            self.passed += 1;
            match byte {
                b'\n' if self.depth == 0 => return Some(at),
                b'\n' => {
                    if std::mem::take(&mut self.in_string) {
                        // No string goes over a line's end: from here on the brackets tell nothing for sure.
                        self.lines_from = self.lines_from.min(self.passed);
                    }
                    self.blanks = Some(0);
                }
                _ if escaped => {}
                b'\\' if self.in_string => self.escaped = true,
                b'"' if self.in_string && self.depth == 0 => return Some(at + 1),
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b',' | b']' if self.depth == 0 => return Some(at),
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::decoder::tests::{drive, entries, entries_of_long, texts};
    use super::*;

    fn elements(limit: usize, input: impl AsRef<[u8]>) -> Vec<String> {
        texts(&entries(|| (ABOUT.decoder)(limit), input.as_ref()))
    }

    #[test]
    fn elements_however_they_are_laid_out() {
        let input =
            "\n[\n  {\n    \"a\": [1,\n2]\n  },\r\n {}, [ ]\n,{\"b\":\"]},\"}, 1,\n\"x, y\", null ,-2.5e3\n]\n\n";
        let found = entries(|| (ABOUT.decoder)(100), input.as_bytes());
        let expected =
            ["{\n    \"a\": [1,\n2]\n  }", "{}", "[ ]", "{\"b\":\"]},\"}", "1", "\"x, y\"", "null", "-2.5e3"];
        assert_eq!(texts(&found), expected);
        assert_eq!(found[0].0, 5);
        assert_eq!(found[7].0, input.find("-2").unwrap());
        assert_eq!(elements(99, "[]"), [""; 0]);
        assert_eq!(elements(99, "[ \n"), [""; 0]);
        assert_eq!(elements(99, b"[{\"\xff\":\n1}]"), ["{\"\u{fffd}\":\n1}"]);
    }

    #[test]
    fn an_array_that_ends_early() {
        assert_eq!(elements(99, "[{},\n{\"a\": [\n1,\n"), ["{}", "{\"a\": [\n1,"]);
        assert_eq!(elements(99, "[{},\n12"), ["{}", "12"]);
        assert_eq!(elements(99, "[{},\n\"a"), ["{}", "\"a"]);
        assert_eq!(elements(99, "[{},\n"), ["{}"]);
    }

    #[test]
    fn a_broken_element_ends_where_the_next_one_begins() {
        assert_eq!(elements(99, "[\n{\"a\":oops},\n{\"b\":1}\n]"), ["{\"a\":oops}", "{\"b\":1}"]);
        assert_eq!(elements(99, "[{\"a\":oops}, {\"b\":1}\n]"), ["{\"a\":oops}", "{\"b\":1}"]);
        assert_eq!(
            elements(99, "[\n {\n  \"a\": oops,\n  \"b\": {}\n },\n {}\n]"),
            ["{\n  \"a\": oops,\n  \"b\": {}\n }", "{}"]
        );
        assert_eq!(elements(99, "[\n {\n  \"a\": [oops\n },\n {}\n]"), ["{\n  \"a\": [oops\n }", "{}"]);
        assert_eq!(elements(99, "[\n {\"a\": [1 2,\n {\"b\": 1}\n]"), ["{\"a\": [1 2", "{\"b\": 1}"]);
        assert_eq!(elements(99, "[\n {\"a\": \"open,\n {\"b\": 1}\n]\nx"), ["{\"a\": \"open", "{\"b\": 1}", "# x"]);
        assert_eq!(elements(99, "[{\n \"a\" 1\n}, {\n \"b\": 1\n}]"), ["{\n \"a\" 1\n}", "{\n \"b\": 1\n}"]);
        assert_eq!(elements(99, "[\n [\n  1 2\n ],\n []\n]"), ["[\n  1 2\n ]", "[]"]);
        assert_eq!(elements(99, "[\n {\"a\": [1\n]\n"), ["{\"a\": [1\n]"]);
        assert_eq!(
            elements(99, "[\noops, {},\n}\n, \"a\n\"\n, \"\\\"\", b\"c\"d]"),
            ["oops", "{}", "}", "\"a", "\"", "\"\\\"\"", "b\"c\"", "d"]
        );
    }

    #[test]
    fn lines_outside_the_array() {
        let input = "[info] export\n[12:00] of [1]\n[1] element\n\n[ {} ] done\n[\n1\n]\nend [\n{}";
        assert_eq!(
            elements(99, input),
            ["# [info] export", "# [12:00] of [1]", "# [1] element", "{}", "# done", "1", "# end [", "{}"]
        );
        assert_eq!(elements(99, "[1 , 2]"), ["1", "2"]);
        let long = |input: String| texts(&entries_of_long(|| (ABOUT.decoder)(99), input.as_bytes()));
        assert_eq!(long(format!("[{}x]", " ".repeat(9000))), ["x"]);
        assert_eq!(long(format!("[{}x]", "y".repeat(9000))), ["# <9003>"]);
    }

    #[test]
    fn the_limit() {
        assert_eq!(elements(6, "[[1234],\n[12345],\n[1]]"), ["[1234]", "<7>", "[1]"]);
        assert_eq!(
            elements(6, "[{\"a\": [\n{}, {}]}, {}, \"12345\", 1234567, 12]"),
            ["<16>", "{}", "<7>", "<7>", "12"]
        );
        assert_eq!(elements(6, "[\n{\"abcd\":\"\n},\n{}\n]"), ["<11>", "{}"]);
        assert_eq!(elements(6, "[\n {abcdefg\n {}\n]"), ["<8>", "{}"]);
        assert_eq!(elements(6, "[\n {oops\n },\n {oo}\n]"), ["<8>", "{oo}"]);
        assert_eq!(elements(6, "[1,\n[[[[[[[["), ["1", "<8>"]);
        assert_eq!(elements(6, "[\n1\n] a longer line\n1"), ["1", "# <13>", "# 1"]);
        assert_eq!(elements(0, "[\n{},1\n]"), ["<2>", "<1>"]);
        assert_eq!(elements(usize::MAX, "[\n{},1\n]"), ["{}", "1"]);
    }

    #[test]
    fn many_lines_in_time() {
        let found = |input: &str| texts(&drive(&mut *(ABOUT.decoder)(1 << 28), input.as_bytes(), &[])).len();
        assert_eq!(found(&format!("[\n{}]", "{},\n".repeat(100_000))), 100_000);
        assert_eq!(found(&"[\n".repeat(100_000)), 1);
        assert_eq!(found(&format!("[\n{}", "{oops},\n".repeat(50_000))), 50_000);
        assert_eq!(found(&"[1]\n".repeat(50_000)), 50_000);
        let brackets = "[\n".repeat(100_000);
        assert_eq!(texts(&drive(&mut *(ABOUT.decoder)(1000), brackets.as_bytes(), &[])).len(), 1);
    }

    #[test]
    fn arrays_are_recognised() {
        let detected = |input: &str| Format::detect(input.as_bytes());
        let long = format!("[\n{}", "{\"a\":1},\n".repeat(10_000));
        for input in [
            "[\n]",
            "[info] ready\n\n[\n  {\"a\":1},\n  {\"b\":2}\n]\n",
            "[{\"a\":1},\n{\"b\":",
            "[{\n\"a\":1}]",
            "[\n{\"a\":1},\n{oops},\n{\"b\":1}\n]",
            "[\n{\"a\":1",
            "[1,\n2]",
            &long,
        ] {
            assert_eq!(detected(input), Format::JsonArray, "{input}");
        }
        for input in [
            "[{\"a\":1},{\"b\":2}]\n",
            "[{\"a\":1}, oops]\n{}\n",
            "[1] text\n[2]\n{}\n",
            "[\noops\n{}\n",
            "[",
            "{}\n[\n]",
        ] {
            assert_eq!(detected(input), Format::JsonLines, "{input}");
        }
        for input in ["[\n{}\n]\n{}\n", "[\n1\n]\ntext", "{\n}\n[\n]"] {
            assert_eq!(detected(input), Format::JsonValues, "{input}");
        }
    }
}
