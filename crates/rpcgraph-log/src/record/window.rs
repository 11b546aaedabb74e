//! The first bytes of an input, for the tests for formats.

use super::decoder::{is_blank, leading_blanks, trim_end};
use super::object::RawObject;
use super::value::{Extent, is_whole, value};
use memchr::{memchr, memrchr};
use std::iter;

/// The first bytes of an input, with facts that several tests need.
pub(super) struct InputHead<'a> {
    pub bytes: &'a [u8],
    pub first_value: Option<FirstValue>,
}

/// The first JSON value that begins a line: an object, an array, or a line that is another value as a whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FirstValue {
    pub start: usize,
    /// The end; `None` if the value continues at the end of the window, or is an array with an error in a later element.
    pub end: Option<usize>,
    /// True if only blanks follow on the line of its end; otherwise another object or array follows.
    pub alone: bool,
}

impl<'a> InputHead<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, first_value: first_value(bytes) }
    }

    /// The lines that are not blank, see [`lines`].
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &'a [u8])> {
        lines(self.bytes)
    }

    /// The offset of the first JSON value, or else the end of the window.
    pub(super) fn before_values(&self) -> usize {
        self.first_value.map_or(self.bytes.len(), |value| value.start)
    }

    /// The lines before the first JSON value. A format that marks its messages must show itself here: quotations
    /// further down, in a message or between messages, do not count.
    pub(super) fn lines_before_values(&self) -> impl Iterator<Item = &'a [u8]> {
        self.lines().take_while(|&(at, _)| at < self.before_values()).map(|(_, line)| line)
    }

    /// The lines that are objects with members. An object with a syntax error does not count, unless the error is at
    /// the end of the window.
    pub(super) fn objects(&self) -> impl Iterator<Item = RawObject<'a>> {
        self.lines().filter_map(move |(at, line)| {
            let object = RawObject::parse(line).filter(|object| !object.is_empty())?;
            (object.is_whole() || at + line.len() == self.bytes.len()).then_some(object)
        })
    }
}

/// Returns the lines of a text that are not blank, without blanks around them, with their offsets. The last one may be
/// cut off.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    let lines = iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let line = &rest[..memchr(b'\n', rest).map_or(rest.len(), |end| end + 1)];
        let start = at + leading_blanks(line);
        at += line.len();
        Some((start, trim_end(&text[start..at])))
    });
    lines.filter(|(_, line)| !line.is_empty())
}

/// Finds the first value. Each byte is examined a bounded number of times: after an error, the search continues in the
/// line with the error.
fn first_value(bytes: &[u8]) -> Option<FirstValue> {
    let mut at = 0;
    loop {
        let start = at + bytes[at..].iter().position(|&byte| !is_blank(byte))?;
        let line_end = end_of_line(bytes, start);
        at = line_end;
        if matches!(bytes[start], b'{' | b'[') {
            match value(&bytes[start..]) {
                Extent::Incomplete => return Some(FirstValue { start, end: None, alone: true }),
                Extent::Whole(length) => {
                    let end = start + length;
                    at = end_of_line(bytes, end);
                    let behind = end + leading_blanks(&bytes[end..at]);
                    let first = FirstValue { start, end: Some(end), alone: behind == at };
                    let another = match bytes.get(behind) {
                        Some(b'{' | b'[') => !matches!(value(&bytes[behind..]), Extent::Broken(_)),
                        _ => false,
                    };
                    if first.alone || another {
                        return Some(first);
                    }
                }
                Extent::Broken(offset) if begins_list(&bytes[start..start + offset]) => {
                    return Some(FirstValue { start, end: None, alone: true });
                }
                Extent::Broken(offset) => {
                    let line = memrchr(b'\n', &bytes[start..start + offset]).map_or(0, |at| at + 1);
                    at = line_end.max(start + line);
                }
            }
        } else if is_whole(trim_end(&bytes[start..line_end])) {
            let end = start + trim_end(&bytes[start..line_end]).len();
            return Some(FirstValue { start, end: Some(end), alone: true });
        }
    }
}

/// True if an array over several lines, up to a syntax error, has a whole element with a comma after it.
fn begins_list(array: &[u8]) -> bool {
    let Some(first) = array.strip_prefix(b"[").filter(|rest| memchr(b'\n', rest).is_some()) else { return false };
    let first = &first[leading_blanks(first)..];
    match value(first) {
        Extent::Whole(length) => first[length + leading_blanks(&first[length..])..].starts_with(b","),
        Extent::Incomplete | Extent::Broken(_) => false,
    }
}

/// Returns the end of the line with the byte at `from`: its LF, or the end of `bytes`.
fn end_of_line(bytes: &[u8], from: usize) -> usize {
    memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(bytes: &str) -> Option<(&str, bool)> {
        let value = first_value(bytes.as_bytes())?;
        Some((&bytes[value.start..value.end.unwrap_or(bytes.len())], value.alone))
    }

    #[test]
    fn the_first_value() {
        let table = [
            ("", None),
            (" \n\n", None),
            ("text\nmore text", None),
            ("text\n  {\"a\":1} \n{}", Some(("{\"a\":1}", true))),
            ("[info] a\n[1] b\n[2]\n", Some(("[2]", true))),
            ("{\n\"a\":\n1}", Some(("{\n\"a\":\n1}", true))),
            ("{} {}\n", Some(("{}", false))),
            ("{} {\n", Some(("{}", false))),
            ("{} {oops}\n[]", Some(("[]", true))),
            ("[1,\n", Some(("[1,\n", true))),
            ("{\"a\":\n{\"b\":1}\n{\"c\":1}", Some(("{\"c\":1}", true))),
            ("2024\n", Some(("2024", true))),
            ("\"a\" \r\n", Some(("\"a\"", true))),
            ("2024-01-01 a\n{}", Some(("{}", true))),
            ("null and void", None),
        ];
        for (bytes, expected) in table {
            assert_eq!(first(bytes), expected, "{bytes}");
        }
    }

    #[test]
    fn lines_and_where_they_begin() {
        let window = InputHead::new(b"a\r\n\n \n  b c \nd");
        let lines: Vec<_> = window.lines().collect();
        assert_eq!(lines, [(0, &b"a"[..]), (8, b"b c"), (13, b"d")]);
    }
}
