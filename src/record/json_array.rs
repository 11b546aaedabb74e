//! `json-array`: one array over several lines, whose elements are the messages. The elements are read one by one, so
//! that the array may be larger than memory, and may lack its end.

use super::Record;
use super::decoder::{Step, leading_blanks, trim_end};
use super::elements::{Element, ElementFormat, ElementSplitter, Elements};
use super::format_info::{FormatClue, FormatInfo, InputHead};
use super::lines::Extras;
use super::value::{Extent, value};
use memchr::{memchr, memrchr};

pub(super) const ABOUT: FormatInfo = FormatInfo {
    summary: "one array of messages over several lines, `[` `{…},` `{…}` `]`; each element is a record",
    carries: "messages only",
    clue: FormatClue::Value(detect),
    // One byte above the maximum size of an element, so that it is found to be too long.
    decoder: |limit| ElementSplitter::boxed(limit, 1, JsonArray::Outside),
};

/// True if the first value that begins a line is an array over several lines, with only blanks after it. Its end may be
/// cut off, and elements after the first may have errors.
fn detect(window: &InputHead<'_>) -> bool {
    let bytes = window.bytes;
    let last = window.before_values();
    let mut from = 0;
    for (at, _) in window.lines().take_while(|&(at, _)| at <= last) {
        if at < from || opens(&bytes[at..], true) != Some(true) {
            continue;
        }
        let (array, behind) = match value(&bytes[at..]) {
            Extent::Whole(length) => bytes[at..].split_at(length),
            Extent::Incomplete => (trim_end(&bytes[at..]), &[][..]),
            Extent::Broken(error) if first_is_whole(&bytes[at..]) => (&bytes[at..at + error], &[][..]),
            Extent::Broken(error) => {
                // Lines before the line with the error are not examined again.
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

/// True if the first element of an array has a comma after it.
fn first_is_whole(array: &[u8]) -> bool {
    let first = &array[1 + leading_blanks(&array[1..])..];
    match value(first) {
        Extent::Whole(length) => first[length + leading_blanks(&first[length..])..].starts_with(b","),
        Extent::Incomplete | Extent::Broken(_) => false,
    }
}

/// The number of bytes that are examined after a bracket.
const BEHIND: usize = 4096;

/// True if the bracket at the start of `input` begins an array, and not a line such as `[info] ready` or
/// `[12:00:01] ready`: an element in brackets or quotes, a comma after another element, or the line's end shows this.
/// `None` if more input is needed.
fn opens(input: &[u8], end: bool) -> Option<bool> {
    let [b'[', rest @ ..] = input else { return Some(false) };
    let seen = &rest[..rest.len().min(BEHIND)];
    let line_end = memchr(b'\n', seen);
    let line = &seen[..line_end.unwrap_or(seen.len())];
    let unseen = match line_end.is_some() || seen.len() == BEHIND {
        true => Some(false),
        false => end.then_some(true),
    };
    let element = &line[leading_blanks(line)..];
    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
    let behind = &element[element.iter().take_while(is_word).count()..];
    match (element.first(), behind.get(leading_blanks(behind))) {
        (None, _) => unseen.map(|_| true),
        (Some(b'{' | b'[' | b']' | b'"'), _) => Some(true),
        (_, None) => unseen,
        (_, Some(&next)) => Some(next == b','),
    }
}

/// Elements are records, and so is each piece that is not an element. Before and after the array, objects are records
/// and other lines are text.
enum JsonArray {
    Outside,
    Inside,
}

impl ElementFormat for JsonArray {
    fn next<'a>(&mut self, elements: &mut Elements, input: &'a [u8], end: bool, _: &mut Extras) -> Option<Step<'a>> {
        *self = match (&self, input) {
            (Self::Outside, _) => match opens(input, end) {
                None => return Some(Step::NeedMore),
                Some(false) => return None,
                Some(true) => Self::Inside,
            },
            (Self::Inside, [b']', ..]) => Self::Outside,
            (Self::Inside, [b',', ..]) => Self::Inside,
            (Self::Inside, _) => {
                return Some(elements.element(input, end, |elements, Element { length, .. }| {
                    // Another closing bracket may stand in place of an element.
                    let consumed = length.max(1);
                    Step::entry(0, consumed, Record::within(elements.limit, trim_end(&input[..consumed])))
                }));
            }
        };
        Some(Step::Skip { consumed: 1 })
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
    fn a_broken_element_ends_with_its_brackets() {
        assert_eq!(elements(99, "[\n{\"a\":oops},\n{\"b\":1}\n]"), ["{\"a\":oops}", "{\"b\":1}"]);
        assert_eq!(elements(99, "[{\"a\":oops}, {\"b\":1}\n]"), ["{\"a\":oops}", "{\"b\":1}"]);
        assert_eq!(elements(99, "[{\n \"a\" 1\n}, {\n \"b\": 1\n}]"), ["{\n \"a\" 1\n}", "{\n \"b\": 1\n}"]);
        assert_eq!(elements(99, "[\n [\n  1 2\n ],\n []\n]"), ["[\n  1 2\n ]", "[]"]);
        assert_eq!(elements(99, "[\n {\"a\": [1 2,\n {}\n]"), ["{\"a\": [1 2,\n {}\n]"]);
        assert_eq!(elements(99, "[\noops, {},\n}\n, b\"c\"d]"), ["oops", "{}", "}", "b", "\"c\"", "d"]);
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
