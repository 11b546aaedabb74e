//! Where an object ends, in an array that may be laid out in any way and have errors in it.

use super::decoder::is_blank;

/// Looks for the end of an object: where its brackets match, or else where a line begins like the object's own, since an
/// object with an error may never end.
pub(super) struct ObjectScan {
    /// The column of the object.
    own: Option<usize>,
    /// The same of where it is.
    column: Option<usize>,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl ObjectScan {
    pub(super) fn new(own: Option<usize>) -> Self {
        Self { own, column: own, depth: 0, in_string: false, escaped: false }
    }

    /// Goes on with `input`; how much of it is the object's, if it ends there.
    pub(super) fn end(&mut self, input: &[u8]) -> Option<usize> {
        for (at, &byte) in input.iter().enumerate() {
            if byte == b'{' && self.depth > 0 && self.own.is_some() && self.column == self.own {
                return Some(at);
            }
            self.column = column(self.column, byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
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

    /// The column behind the object.
    pub(super) fn column_behind(&self) -> Option<usize> {
        if self.depth > 0 { self.own } else { None }
    }
}

/// How many blanks stand before the byte behind `byte` on its line, if nothing else does.
pub(super) fn column(before: Option<usize>, byte: u8) -> Option<usize> {
    match byte {
        b'\n' => Some(0),
        _ if is_blank(byte) => before.map(|blanks| blanks + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ends of the object that begins behind the first bar, byte by byte, and the column behind it.
    fn end(text: &str) -> (Option<&str>, Option<usize>) {
        let (before, object) = text.split_once('|').unwrap();
        let mut scan = ObjectScan::new(before.bytes().fold(Some(0), column));
        let whole = scan.end(object.as_bytes());
        let mut again = ObjectScan::new(before.bytes().fold(Some(0), column));
        let bytes = (0..object.len()).find_map(|at| again.end(&object.as_bytes()[at..=at]).map(|end| at + end));
        assert_eq!(whole, bytes, "{text}");
        (whole.map(|end| &object[..end]), scan.column_behind())
    }

    #[test]
    fn brackets_or_the_next_one() {
        let table = [
            ("|{}{}", Some("{}"), None),
            ("[|{\"a\":[{}]},", Some("{\"a\":[{}]}"), None),
            ("|{\"}\\\"}\":1}", Some("{\"}\\\"}\":1}"), None),
            ("[\n  |{\n    \"a\": [\n      {}\n    ]\n  }\n]", Some("{\n    \"a\": [\n      {}\n    ]\n  }"), None),
            ("[\n  |{\n    \"a\": \"\n  },\n  {}]", Some("{\n    \"a\": \"\n  },\n  "), Some(2)),
            ("[\n|{[\n{}]", Some("{[\n"), Some(0)),
            ("[|{[\n {}]", None, None),
            ("[1, |{[\n{", None, None),
        ];
        for (text, object, column) in table {
            assert_eq!(end(text), (object, column), "{text}");
        }
    }
}
