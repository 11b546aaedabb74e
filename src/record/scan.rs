//! Where a value ends, however long it is and whatever is wrong with it.

use super::decoder::is_blank;

/// Looks for the end of a value, piece by piece. Strings and brackets are all that it knows of JSON.
#[derive(Clone)]
pub(super) struct Scan {
    recovery: Recovery,
    /// How many bytes have been passed.
    passed: usize,
    /// How many brackets are open.
    depth: usize,
    pub in_string: bool,
    escaped: bool,
    /// In something that is not a string and has no brackets.
    in_word: bool,
    /// How many blanks the line begins with, where nothing else was in it so far.
    column: Option<usize>,
}

/// How the end of a value is found whose brackets do not close because it has an error.
#[derive(Clone, Copy)]
enum Recovery {
    /// Not at all.
    None,
    /// Of an object: where a line begins with `{` in the column of the object.
    Column(usize),
    /// Of an element of an array: where a line is indented no more than the element's first one and begins with a
    /// bracket, behind the place with that offset.
    Lines { first: u8, indent: usize, from: usize },
}

impl Scan {
    fn new(recovery: Recovery) -> Self {
        let (passed, depth) = (0, 0);
        Self { recovery, passed, depth, in_string: false, escaped: false, in_word: false, column: None }
    }

    /// Of any value; the end is at 0 where a comma, a blank or a closing bracket stands in its place.
    pub(super) fn value() -> Self {
        Self::new(Recovery::None)
    }

    /// Of an object that begins a line, in that column, or stands behind something else.
    pub(super) fn object(column: Option<usize>) -> Self {
        Self::new(column.map_or(Recovery::None, Recovery::Column))
    }

    /// Of what stands in place of an element and begins with `first`, in a line that begins with `indent` blanks. It may
    /// have an error in the line that ends, or begins, at `error`.
    pub(super) fn element(first: u8, indent: usize, error: Option<usize>) -> Self {
        Self::new(Recovery::Lines { first, indent, from: error.unwrap_or(usize::MAX) })
    }

    /// How many of the bytes that follow belong to the value, if its end can be seen.
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

    /// Whether the value, which has an error, ends before this byte or with it: 0 or 1.
    fn recovered(&self, byte: u8) -> Option<usize> {
        match (self.recovery, self.column?) {
            (Recovery::Column(own), column) => (byte == b'{' && column == own).then_some(0),
            (Recovery::Lines { first, indent, from }, column) if column <= indent && self.passed >= from => {
                match byte {
                    b'}' => Some(1),
                    // The end of the whole array, if not of an element that is one.
                    b']' if first == b'[' && column == indent => Some(1),
                    b'{' | b'[' | b']' => Some(0),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// No string goes over a line's end: behind one that does, the brackets tell nothing for sure.
    fn ends_strings_with_lines(&mut self) -> bool {
        let Recovery::Lines { from, .. } = &mut self.recovery else { return false };
        *from = self.passed.min(*from);
        self.in_string = false;
        true
    }

    /// Whether a value without brackets around it ends before this byte.
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

    /// The end of the object that begins behind the first bar, also byte by byte.
    fn end(text: &str) -> Option<&str> {
        let (before, object) = text.split_once('|').unwrap();
        let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        let column = line.bytes().all(is_blank).then_some(line.len());
        let whole = Scan::object(column).end(object.as_bytes());
        let mut again = Scan::object(column);
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
            assert_eq!(Scan::value().end(text.as_bytes()), expected, "{text}");
            for cut in 0..=expected.unwrap_or(text.len()) {
                let mut scan = Scan::value();
                let first = scan.end(&text.as_bytes()[..cut]);
                let found = first.or_else(|| scan.end(&text.as_bytes()[cut..]).map(|end| cut + end));
                assert_eq!(found, expected, "{text} cut at {cut}");
            }
        }
    }
}
