//! `json-lines`: one JSON value a line. Lines that are not JSON are records too.

use super::Record;
use super::about::{About, Sign};
use super::marked::{Found, MarkedLines};

pub(super) const ABOUT: About = About {
    name: "json-lines",
    summary: "one JSON value a line; other lines (banners, stderr) are records that are no JSON",
    carries: "messages only",
    sample: include_str!("samples/json-lines.log"),
    // Every log that has no other sign.
    sign: Sign::Value(|_| true),
    decoder: |limit| MarkedLines::boxed(limit, 0, read),
};

/// Every line that is not blank is a record; whether it is JSON is for others to say.
#[inline]
fn read(line: &[u8]) -> Option<Found<'_>> {
    Some((0, Record::new(line).into()))
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{entries, texts};
    use super::*;

    fn lines(limit: usize, input: &str) -> (Vec<usize>, Vec<String>) {
        let found = entries(|| (ABOUT.decoder)(limit), input.as_bytes());
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
    fn blanks_are_those_of_json_only() {
        assert_eq!(lines(100, "\x0c{}\n\0\n\u{a0}\n"), both(&[0, 4, 6], &["\x0c{}", "\0", "\u{a0}"]));
    }

    #[test]
    fn lines_over_the_limit_are_passed_over() {
        let input = "123456\n1234567\n 123456\r\n1234567\r\n12345   \n123456789 \t\r\n\n1";
        let starts = [0, 7, 16, 24, 33, 42, 56];
        assert_eq!(lines(6, input), both(&starts, &["123456", "<7>", "123456", "<7>", "<5>", "<9>", "1"]));
        assert_eq!(lines(6, "1234567"), both(&[0], &["<7>"]));
        assert_eq!(lines(6, "123456 \r"), both(&[0], &["<6>"]));
        assert_eq!(lines(6, "1          2 "), both(&[0], &["<12>"]));
        assert_eq!(lines(0, "a\nbc"), both(&[0, 2], &["<1>", "<2>"]));
        assert_eq!(lines(usize::MAX, "a\nbc"), both(&[0, 2], &["a", "bc"]));
    }
}
