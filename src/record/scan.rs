//! Finds the end of a value, of any length and with any defect.

use super::decoder::is_blank;

/// Searches for the end of a value, piece by piece. Strings and brackets are all that it knows of JSON.
#[derive(Clone)]
pub(super) struct ValueScan {
    recovery: Recovery,
    /// The number of bytes that were scanned.
    passed: usize,
    /// The number of open brackets.
    depth: usize,
    pub in_string: bool,
    escaped: bool,
    /// True within a value that is neither a string nor in brackets.
    in_word: bool,
    /// The number of blanks at the beginning of the line, if only blanks were scanned on it.
    column: Option<usize>,
}

/// The way to find the end of a value whose brackets do not close because of a syntax error.
#[derive(Clone, Copy)]
enum Recovery {
    /// The end is not found.
    None,
    /// An object ends before a line that begins with `{` in the object's own column.
    Column(usize),
    /// An element of an array ends at a line after offset `from` that begins with a bracket, and is not indented more
    /// than the first line of the element.
    Lines { first: u8, indent: usize, from: usize },
}

impl ValueScan {
    fn new(recovery: Recovery) -> Self {
        let (passed, depth) = (0, 0);
        Self { recovery, passed, depth, in_string: false, escaped: false, in_word: false, column: None }
    }

    /// Scans any value. The end is at 0 if a comma, a blank or a closing bracket stands in place of the value.
    pub(super) fn value() -> Self {
        Self::new(Recovery::None)
    }

    /// Scans an object that begins a line in a column, or that stands after other text.
    pub(super) fn object(column: Option<usize>) -> Self {
        Self::new(column.map_or(Recovery::None, Recovery::Column))
    }

    /// Scans the text in place of an element. It begins with `first`, on a line that begins with `indent` blanks. It
    /// may have a syntax error in the line that ends, or begins, at `error`.
    pub(super) fn element(first: u8, indent: usize, error: Option<usize>) -> Self {
        Self::new(Recovery::Lines { first, indent, from: error.unwrap_or(usize::MAX) })
    }

    /// Returns the number of bytes in `input` that belong to the value, if its end is found.
    pub(super) fn end(&mut self, input: &[u8]) -> Option<usize> {
        for (at, &byte) in input.iter().enumerate() {
            if let Some(behind) = self.recovered(byte) {
                return Some(at + behind);
            }
            self.column = match byte {
                b'\n' => Some(0),
                _ if is_blank(byte) => self.column.map(|blanks| blanks + 1),
                _ => None,
            };
            self.passed += 1;
            let escaped = std::mem::take(&mut self.escaped);
            match byte {
                b'\n' if self.in_string && self.ends_strings_with_lines() => {
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
                _ if escaped => {}
                b'\\' if self.in_string => self.escaped = true,
                b'"' if self.in_string => {
                    self.in_string = false;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ if self.in_string => {}
                _ if self.depth == 0 && self.ends_before(byte) => return Some(at),
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => self.in_word = self.depth == 0,
            }
        }
        None
    }

    /// Returns 0 if the value, which has a syntax error, ends before this byte, and 1 if it ends with this byte.
    fn recovered(&self, byte: u8) -> Option<usize> {
        match (self.recovery, self.column?) {
            (Recovery::Column(own), column) => (byte == b'{' && column == own).then_some(0),
            (Recovery::Lines { first, indent, from }, column) if column <= indent && self.passed >= from => {
                match byte {
                    b'}' => Some(1),
                    // The end of an element that is an array; any other closing bracket ends the whole array.
                    b']' if first == b'[' && column == indent => Some(1),
                    b'{' | b'[' | b']' => Some(0),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Ends the current string at the end of its line, if recovery is by lines; returns true then. Valid strings do not
    /// span lines, so from here on the brackets are not trusted.
    fn ends_strings_with_lines(&mut self) -> bool {
        let Recovery::Lines { from, .. } = &mut self.recovery else { return false };
        *from = self.passed.min(*from);
        self.in_string = false;
        true
    }

    /// True if a value without brackets around it ends before this byte.
    fn ends_before(&self, byte: u8) -> bool {
        match self.recovery {
            Recovery::Lines { .. } => b"\n,]".contains(&byte),
            _ => b"}], \t\r\n".contains(&byte) || (self.in_word && b"\"{[".contains(&byte)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the object that begins after the first bar, whose end is the same if it is found byte by byte.
    fn end(text: &str) -> Option<&str> {
        let (before, object) = text.split_once('|').unwrap();
        let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        let column = line.bytes().all(is_blank).then_some(line.len());
        let whole = ValueScan::object(column).end(object.as_bytes());
        let mut again = ValueScan::object(column);
        let bytes = (0..object.len()).find_map(|at| again.end(&object.as_bytes()[at..=at]).map(|end| at + end));
        assert_eq!(whole, bytes, "{text}");
        whole.map(|end| &object[..end])
    }

    #[test]
    fn brackets_or_the_next_one() {
        let table = [
            ("|{}{}", Some("{}")),
            ("[|{\"a\":[{}]},", Some("{\"a\":[{}]}")),
            ("|{\"}\\\"}\":1}", Some("{\"}\\\"}\":1}")),
            ("[\n  |{\n    \"a\": [\n      {}\n    ]\n  }\n]", Some("{\n    \"a\": [\n      {}\n    ]\n  }")),
            ("[\n  |{\n    \"a\": \"\n  },\n  {}]", Some("{\n    \"a\": \"\n  },\n  ")),
            ("[\n|{[\n{}]", Some("{[\n")),
            ("[|{[\n {}]", None),
            ("[1, |{[\n{", None),
        ];
        for (text, object) in table {
            assert_eq!(end(text), object, "{text}");
        }
    }

    #[test]
    fn values_end_however_they_are_cut() {
        let table = [
            ("{\"}\\\"\":[{}]}x", Some(12)),
            ("[[\"\\\\\"],{} ] ", Some(12)),
            ("\"a\\\"b\"c", Some(6)),
            ("\"\\\\\"", Some(4)),
            ("-1.5e3,", Some(6)),
            ("null}", Some(4)),
            ("oops\"", Some(4)),
            ("1{", Some(1)),
            (",", Some(0)),
            ("]", Some(0)),
            ("tru", None),
            ("[\"]\"", None),
            ("\"\\\"", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(ValueScan::value().end(text.as_bytes()), expected, "{text}");
            for cut in 0..=expected.unwrap_or(text.len()) {
                let mut scan = ValueScan::value();
                let first = scan.end(&text.as_bytes()[..cut]);
                let found = first.or_else(|| scan.end(&text.as_bytes()[cut..]).map(|end| cut + end));
                assert_eq!(found, expected, "{text} cut at {cut}");
            }
        }
    }
}
