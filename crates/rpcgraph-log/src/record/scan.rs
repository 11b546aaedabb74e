//! Finds the end of a value by its strings and brackets, whatever its length and its defects.

/// Searches for the end of a value, piece by piece. Strings and brackets are all that it knows of JSON.
#[derive(Clone, Default)]
pub(super) struct ValueScan {
    /// The number of open brackets.
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// True within a value that is neither a string nor in brackets.
    in_word: bool,
}

impl ValueScan {
    /// Returns the number of bytes in `input` that belong to the value, if its end is found. The end is at 0 if a comma, a
    /// blank or a closing bracket stands in place of the value.
    pub(super) fn end(&mut self, input: &[u8]) -> Option<usize> {
        for (at, &byte) in input.iter().enumerate() {
            let escaped = std::mem::take(&mut self.escaped);
            match byte {
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
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => self.in_word = self.depth == 0,
            }
        }
        None
    }

    /// True if a value without brackets around it ends before this byte.
    fn ends_before(&self, byte: u8) -> bool {
        b"}], \t\r\n".contains(&byte) || (self.in_word && b"\"{[".contains(&byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(ValueScan::default().end(text.as_bytes()), expected, "{text}");
            for cut in 0..=expected.unwrap_or(text.len()) {
                let mut scan = ValueScan::default();
                let first = scan.end(&text.as_bytes()[..cut]);
                let found = first.or_else(|| scan.end(&text.as_bytes()[cut..]).map(|end| cut + end));
                assert_eq!(found, expected, "{text} cut at {cut}");
            }
        }
    }
}
