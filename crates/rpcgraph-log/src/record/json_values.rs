//! `json-values`: JSON values one after another, over many lines or several on one.

use super::certainty::Certainty;
use super::cut::elided;
use super::decoder::{Step, is_blank, leading_blanks, trim_end};
use super::json_lines::JsonLines;
use super::value::{Extent, value_shown};
use super::window::InputHead;
use super::{Flags, Record};
use memchr::{memchr, memchr_iter, memrchr};

/// The first bytes of a line before which a value with a syntax error ends.
const STARTS: &[u8] = b"{[";

/// True if the first value spans several lines, as far as it is visible, or has another value after it on its line. It
/// must be neither a message after a prefix, nor a part of one.
pub(super) fn detect(window: &InputHead<'_>) -> bool {
    window.first_value.is_some_and(|value| {
        let bytes = &window.bytes[value.start..value.end.unwrap_or(window.bytes.len())];
        !value.alone || memchr(b'\n', trim_end(bytes)).is_some() && !is_behind_a_prefix(window)
    })
}

/// The maximum number of lines before the first value that are searched for a message.
const MOST: usize = 16;

fn is_behind_a_prefix(window: &InputHead<'_>) -> bool {
    let before = window.lines().take_while(|&(at, _)| at < window.before_values());
    let starts = before.filter_map(|(at, line)| Some(at + opens(line)?)).take(MOST);
    starts.into_iter().any(|at| {
        let value = &window.bytes[at..];
        Certainty::of(&value[leading_blanks(value)..]) == Certainty::Sure
    })
}

/// Returns the offset at which a message may begin that continues on the lines below, as in `Received: {`, `Received:`,
/// `-->`, `SEND ►` and `{"jsonrpc":"2.0",`.
pub(super) fn opens(line: &[u8]) -> Option<usize> {
    match line.last()? {
        b'{' | b'[' => Some(line.len() - 1),
        b':' => Some(line.len()),
        b'}' | b']' => None,
        b',' | b'"' => matches!(line[0], b'{' | b'[').then_some(0),
        _ => ends_in_direction(line).then_some(line.len()),
    }
}

/// True if a line ends in an arrow, or in the name of a direction.
fn ends_in_direction(line: &[u8]) -> bool {
    const SIGNS: [&str; 8] = ["->", "=>", "<-", "<=", "→", "←", "►", "◀"];
    const WORDS: [&[u8]; 6] = [b"send", b"recv", b"sent", b"received", b"request", b"response"];
    let word = &line[line.iter().rposition(|byte| !byte.is_ascii_alphabetic()).map_or(0, |at| at + 1)..];
    SIGNS.iter().any(|sign| line.ends_with(sign.as_bytes()))
        || WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

impl JsonLines {
    /// Reads a value at the beginning of the input. `None` if it is text: it ends with its line. An object or array with a
    /// syntax error ends before the next line that begins, without a blank, with `{` or `[`, from the line with the error
    /// on.
    pub(super) fn values(input: &[u8], end: bool) -> Option<Step<'_>> {
        let first = input.first().filter(|byte| !is_blank(**byte))?;
        let structured = matches!(first, b'{' | b'[');
        Some(match value_shown(input, end) {
            // A value is not followed by a colon: this is a clock, or a part of an object.
            Extent::Whole(length) if !structured && input.get(length) == Some(&b':') => return None,
            // The next byte may be a colon.
            Extent::Whole(length) if !structured && length == input.len() && !end => Step::NeedMore,
            Extent::Whole(length) => Step::entry(0, length, Record::new(&input[..length])),
            Extent::Incomplete => Step::NeedMore,
            Extent::Broken(at) if structured => broken(at, input, end),
            Extent::Broken(_) => return None,
        })
    }
}

/// Reads an object or array with a syntax error at `at`.
fn broken(at: usize, input: &[u8], end: bool) -> Step<'_> {
    // The end of a piece is found by the LF after it, and the bracket after the LF.
    let from = memrchr(b'\n', &input[..at]).unwrap_or(0);
    let piece = match next_start(&input[from..]) {
        Some(found) => &input[..from + found],
        None if !end => return Step::NeedMore,
        None => input,
    };
    let text = trim_end(piece);
    let record = match elided(text) {
        Some((json, used)) if used == text.len() => {
            Record { flags: Flags { truncated: true, ..Flags::default() }, ..Record::new(json) }
        }
        _ => Record::new(text),
    };
    Step::entry(0, piece.len(), record)
}

/// Returns the offset of the next line that begins with one of [`STARTS`].
fn next_start(input: &[u8]) -> Option<usize> {
    memchr_iter(b'\n', input).map(|at| at + 1).find(|&at| input.get(at).is_some_and(|byte| STARTS.contains(byte)))
}

#[cfg(test)]
mod tests {
    use super::super::capped::CappedDecoder;
    use super::super::decoder::tests::{drive, entries, texts};
    use super::*;

    fn values(limit: usize, input: impl AsRef<[u8]>) -> Vec<String> {
        texts(&entries(|| CappedDecoder::boxed(JsonLines::decoder(true, true), limit), input.as_ref()))
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
        assert_eq!(values(99, "{\n \"a\": {...}, // b\n}\n{}"), ["{\n \"a\": {}}", "{}"]);
        assert_eq!(values(99, ""), [""; 0]);
        assert_eq!(values(99, " \r\n\t"), [""; 0]);
        assert_eq!(values(99, "{\"a\":\"}\\\"{\"}[]"), ["{\"a\":\"}\\\"{\"}", "[]"]);
    }

    #[test]
    fn offsets_are_those_of_the_first_byte() {
        let found = entries(|| CappedDecoder::boxed(JsonLines::decoder(true, true), 9), b" {}\n\n  text \n[\n1] 7\n");
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
    fn members_without_their_object_are_text() {
        assert_eq!(values(99, "{}\n\"a\": oops\n\"b\" : 1\n\"c\"\n"), ["{}", "\"a\": oops", "\"b\"", ": 1", "\"c\""]);
    }

    #[test]
    fn the_limit() {
        assert_eq!(values(6, "[1234]\n[12345]\n[1]"), ["[1234]", "<7>", "[1]"]);
        assert_eq!(values(6, "[12345]{}\n {}\n{}"), ["<7>", "{}", "{}", "{}"]);
        assert_eq!(values(6, "[1\n,\n2\n]\n{}"), ["<8>", "{}"]);
        assert_eq!(values(6, "123456 1234567 1\n12"), ["123456", "<7>", "1", "12"]);
        assert_eq!(values(6, "123456\r\n\"abcd\"\n\"abcde\"\n1"), ["123456", "\"abcd\"", "<7>", "1"]);
        assert_eq!(values(6, "a text\na text \na longer text\n{}"), ["a text", "a text", "<13>", "{}"]);
        assert_eq!(
            values(6, "{oops}\n{oops }\n{]\n12\n{}\n{]\n123\n{}"),
            ["{oops}", "<7>", "{]\n12", "{}", "{]\n123", "{}"]
        );
        assert_eq!(values(6, "{]\n1234\n{}\n{oops}\n"), ["<7>", "{}", "{oops}"]);
        assert_eq!(values(6, "{oops}\r\n{}"), ["{oops}", "{}"]);
        assert_eq!(values(6, "[[[[[[\n"), ["[[[[[["]);
        assert_eq!(values(6, "[[[[[["), ["[[[[[["]);
        assert_eq!(values(6, "[[[[[[[[\n\n\n"), ["<8>"]);
        assert_eq!(values(0, "{} 1\n[\n[\n"), ["<2>", "<1>", "<3>"]);
    }

    #[test]
    fn a_million_lines_in_time() {
        let brackets = "[\n".repeat(1_000_000);
        let found = |input: &str| {
            texts(&drive(&mut *CappedDecoder::boxed(JsonLines::decoder(true, true), 1 << 28), input.as_bytes(), &[]))
                .len()
        };
        assert_eq!(found(&brackets), 1);
        assert_eq!(found(&format!("{brackets}x")), 1);
        assert_eq!(found(&"[\n[\nx\n".repeat(300_000)), 300_000);
        assert_eq!(found(&"some text\n".repeat(1_000_000)), 1_000_000);
        assert_eq!(found(&"{oops\n".repeat(1_000_000)), 1_000_000);
        assert_eq!(
            texts(&drive(&mut *CappedDecoder::boxed(JsonLines::decoder(true, true), 1000), brackets.as_bytes(), &[]))
                .len(),
            1
        );
    }
}
