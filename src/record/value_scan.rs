//! Where a value ends, of any kind and however long it is.

use memchr::memchr2;
use std::mem;

/// Looks for the end of any value. Strings and brackets are all that it knows of JSON.
#[derive(Default)]
pub(super) struct ValueScan {
    depth: u64,
    string: bool,
    escaped: bool,
    word: bool,
}

impl ValueScan {
    /// Where the value ends; 0 at a comma, a blank or a closing bracket where it should begin.
    pub(super) fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            if self.string {
                if mem::take(&mut self.escaped) {
                    continue;
                }
                match byte {
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.string = false;
                        if self.depth == 0 {
                            return Some(at);
                        }
                    }
                    _ => at += memchr2(b'"', b'\\', &bytes[at..]).unwrap_or(bytes.len() - at),
                }
                continue;
            }
            match byte {
                b'"' | b'{' | b'[' if self.word => return Some(at - 1),
                b'"' => self.string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' | b',' | b' ' | b'\t' | b'\r' | b'\n' if self.depth == 0 => return Some(at - 1),
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
                _ => self.word = self.depth == 0,
            }
        }
        None
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
