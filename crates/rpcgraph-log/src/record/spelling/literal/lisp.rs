//! Property lists, vectors and hash tables of Lisp, as Emacs prints them.

use super::super::super::object::string;
use super::super::super::value::is_whole;
use super::{DEEPEST, Literal};

/// The beginning of a hash table, whose members stand in the list behind `data`.
const TABLE: &[u8] = b"#s(hash-table";

impl<'a> Literal<'a> {
    /// Reads the Lisp value at the current place. `None` if it is not whole.
    pub fn lisp(&mut self, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        self.blanks();
        match self.peek()? {
            b'(' => {
                let has_names = self.rest()[1..].trim_ascii_start().starts_with(b":");
                self.sequence(b')', depth, has_names)
            }
            b'[' => self.sequence(b']', depth, false),
            b'"' => {
                let mut text = Vec::new();
                self.quoted(&mut text)?;
                self.json.extend(string(&text));
                Some(())
            }
            b'#' if self.rest().starts_with(TABLE) => self.table(depth),
            _ => {
                let atom = self.atom()?;
                let json: &[u8] = match atom {
                    b"nil" | b":null" | b":json-null" => b"null",
                    b"t" => b"true",
                    b":json-false" | b":false" => b"false",
                    number if number.iter().any(u8::is_ascii_digit) && is_whole(number) => number,
                    symbol => &string(symbol),
                };
                self.json.extend_from_slice(json);
                Some(())
            }
        }
    }

    /// Reads a symbol or a number.
    fn atom(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest();
        let length = rest.iter().take_while(|byte| !b" \t\r\n()[]\"'".contains(byte)).count();
        self.at += length;
        (length > 0).then_some(&rest[..length])
    }

    /// Reads the values of a list or, with `has_names`, names and values in turn.
    fn sequence(&mut self, end: u8, depth: usize, has_names: bool) -> Option<()> {
        self.at += 1;
        self.json.push(if has_names { b'{' } else { b'[' });
        let mut is_first = true;
        while !self.takes(end) {
            if !std::mem::take(&mut is_first) {
                self.json.push(b',');
            }
            if has_names {
                self.key()?;
            }
            self.lisp(depth + 1)?;
        }
        self.json.push(if has_names { b'}' } else { b']' });
        Some(())
    }

    /// Reads the name of a member: a keyword, another symbol, or a string.
    fn key(&mut self) -> Option<()> {
        let mut name = Vec::new();
        match self.peek()? {
            b'"' => self.quoted(&mut name)?,
            _ => {
                let symbol = self.atom()?;
                name.extend_from_slice(symbol.strip_prefix(b":").unwrap_or(symbol));
            }
        }
        self.json.extend(string(&name));
        self.json.push(b':');
        Some(())
    }

    fn table(&mut self, depth: usize) -> Option<()> {
        self.at += TABLE.len();
        let start = self.json.len();
        while !self.takes(b')') {
            match self.peek()? {
                b'(' => {
                    self.json.truncate(start);
                    self.sequence(b')', depth, true)?;
                }
                _ => {
                    self.atom()?;
                }
            }
        }
        if self.json.len() == start {
            self.json.extend_from_slice(b"{}");
        }
        Some(())
    }
}
