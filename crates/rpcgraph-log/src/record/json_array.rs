//! `json-array`: one array over several lines, whose elements are the messages. The elements are read one by one, so
//! that the array may be larger than memory, and may lack its end.

use super::decoder::{Decoder, leading_blanks, trim_end};
use super::elements::{begin_array, element_array};
use super::window::InputHead;
use memchr::memchr;

pub(super) fn decoder() -> Box<dyn Decoder> {
    element_array(None, |_, _| None)
}

/// True if the first value is an array over several lines, with only blanks after it.
pub(super) fn detect(window: &InputHead<'_>) -> bool {
    window.first_value.is_some_and(|value| {
        let end = value.end.unwrap_or(window.bytes.len());
        let (array, behind) = (trim_end(&window.bytes[value.start..end]), &window.bytes[end..]);
        begin_array(array, true).is_some() && memchr(b'\n', array).is_some() && leading_blanks(behind) == behind.len()
    })
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::capped::CappedDecoder;
    use super::super::decoder::tests::{drive, entries, entries_of_long, texts};
    use super::*;

    fn elements(limit: usize, input: impl AsRef<[u8]>) -> Vec<String> {
        texts(&entries(|| CappedDecoder::boxed(decoder(), limit), input.as_ref()))
    }

    #[test]
    fn elements_however_they_are_laid_out() {
        let input =
            "\n[\n  {\n    \"a\": [1,\n2]\n  },\r\n {}, [ ]\n,{\"b\":\"]},\"}, 1,\n\"x, y\", null ,-2.5e3\n]\n\n";
        let found = entries(|| CappedDecoder::boxed(decoder(), 100), input.as_bytes());
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
        assert_eq!(elements(99, "[\n{}, oops,\n}\n, b\"c\"d]"), ["{}", "oops", "}", "b", "\"c\"", "d"]);
    }

    #[test]
    fn lines_outside_the_array() {
        let input = "[info] export\n[12:00] of [1]\n[1] element\n\n[ {} ] done\n[\n{}\n]\nend [\n{}";
        assert_eq!(
            elements(99, input),
            ["# [info] export", "# [12:00] of [1]", "# [1] element", "{}", "# done", "{}", "# end [", "{}"]
        );
        assert_eq!(elements(99, "[1 , 2]"), ["# [1 , 2]"]);
        let long = |input: String| texts(&entries_of_long(|| CappedDecoder::boxed(decoder(), 99), input.as_bytes()));
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
        assert_eq!(elements(6, "[\"1\",\n[[[[[[[["), ["\"1\"", "<8>"]);
        assert_eq!(elements(6, "[\n{}\n] a longer line\n1"), ["{}", "# <13>", "# 1"]);
        assert_eq!(elements(0, "[\n{},1\n]"), ["<2>", "<1>"]);
        assert_eq!(elements(usize::MAX, "[\n{},1\n]"), ["{}", "1"]);
    }

    #[test]
    fn many_lines_in_time() {
        let found = |input: &str| texts(&drive(&mut *decoder(), input.as_bytes(), &[])).len();
        assert_eq!(found(&format!("[\n{}]", "{},\n".repeat(100_000))), 100_000);
        assert_eq!(found(&"[\n".repeat(100_000)), 1);
        assert_eq!(found(&format!("[\n{}", "{oops},\n".repeat(50_000))), 50_000);
        assert_eq!(found(&"[1]\n".repeat(50_000)), 50_000);
        let brackets = "[\n".repeat(100_000);
        assert_eq!(texts(&drive(&mut *decoder(), brackets.as_bytes(), &[])).len(), 1);
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
        for input in ["[1,\n2]", "[\n{}\n]\n{}\n", "[\n1\n]\ntext", "{\n}\n[\n]"] {
            assert_eq!(detected(input), Format::JsonValues, "{input}");
        }
    }
}
