//! Java's records, and the maps and lists in them, as `toString` prints them: texts have no quotes.

use super::super::super::object::string;
use super::super::super::value::{Extent, is_whole, value};
use super::{DEEPEST, Literal};

/// The maximum length of the name of a member behind a text, in bytes.
const LONGEST_NAME: usize = 64;

impl Literal<'_> {
    /// Returns the bracket that ends a record, if its members begin at the current place, behind its name.
    pub(super) fn end_of_record(&self) -> Option<u8> {
        let (first, members) = self.rest().split_first()?;
        begins_member(members).then_some(())?;
        closing(*first)
    }

    /// Reads the members of a record, or of a map. A member of a record that is null is absent.
    pub(super) fn record(&mut self, end: u8, depth: usize, is_map: bool) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        self.at += 1;
        self.json.push(b'{');
        let mut is_first = true;
        while !self.takes(end) {
            let rest = self.rest();
            let name = &rest[..memchr::memchr(b'=', rest).filter(|end| is_name(&rest[..*end]))?];
            let start = self.json.len();
            if !is_first {
                self.json.push(b',');
            }
            self.json.extend(string(name));
            self.json.push(b':');
            self.at += name.len() + 1;
            let from = self.json.len();
            self.unquoted(end, depth + 1, true)?;
            if name == b"jsonrpc" && self.json[from] != b'"' {
                let version = string(&self.json[from..]);
                self.json.splice(from.., version);
            }
            match !is_map && &self.json[from..] == b"null" {
                true => self.json.truncate(start),
                false => is_first = false,
            }
            if !self.takes(b',') {
                self.takes(end).then_some(())?;
                break;
            }
        }
        self.json.push(b'}');
        Some(())
    }

    fn list(&mut self, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        self.at += 1;
        self.json.push(b'[');
        let mut is_first = true;
        while !self.takes(b']') {
            if !std::mem::take(&mut is_first) {
                self.json.push(b',');
            }
            self.unquoted(b']', depth + 1, false)?;
            if !self.takes(b',') {
                self.takes(b']').then_some(())?;
                break;
            }
        }
        self.json.push(b']');
        Some(())
    }

    /// Reads a value before the bracket `end`. A value that cannot be parsed for sure is a text.
    fn unquoted(&mut self, end: u8, depth: usize, has_names: bool) -> Option<()> {
        self.blanks();
        let (start, from, is_cut) = (self.at, self.json.len(), self.is_cut);
        if self.nested(depth).is_some() && ends_value(self.rest(), end, has_names) {
            return Some(());
        }
        (self.at, self.is_cut) = (start, is_cut);
        self.json.truncate(from);
        let rest = self.rest();
        let length = text_length(rest, end, has_names)?;
        let text = rest[..length].trim_ascii();
        let is_json = matches!(text, b"null" | b"true" | b"false") || is_number(text);
        self.json.extend(if is_json { text.to_vec() } else { string(text) });
        self.at += length;
        Some(())
    }

    /// Reads a value that shows its end.
    fn nested(&mut self, depth: usize) -> Option<()> {
        let rest = self.rest();
        match (self.peek()?, value(rest)) {
            (b'{' | b'[' | b'"', Extent::Whole(length)) => {
                self.json.extend_from_slice(&rest[..length]);
                self.at += length;
                Some(())
            }
            (b'{', _) => self.record(b'}', depth, true),
            (b'[', _) => self.list(depth),
            (b'\'' | b'"', _) => self.string(),
            _ => {
                self.at += self.name().len();
                let end = self.end_of_record()?;
                self.record(end, depth, false)
            }
        }
    }
}

fn closing(bracket: u8) -> Option<u8> {
    match bracket {
        b'[' => Some(b']'),
        b'{' => Some(b'}'),
        _ => None,
    }
}

/// True for the name of a member, which may be any key in a map.
fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && !name.iter().any(|byte| b",[]{}\"'".contains(byte))
}

/// True if a text begins with the name of a member of a record and its sign.
pub(in super::super) fn begins_member(text: &[u8]) -> bool {
    let name = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    name > 0 && text.get(name) == Some(&b'=')
}

/// True if a value ends before a text: before the bracket, or before the comma and the next value.
fn ends_value(text: &[u8], end: u8, has_names: bool) -> bool {
    text.first() == Some(&end) || text.strip_prefix(b", ").is_some_and(|next| !has_names || names_next(next))
}

/// True if a text begins with a member of a record or of a map.
fn names_next(text: &[u8]) -> bool {
    let text = &text[..text.len().min(LONGEST_NAME)];
    memchr::memchr(b'=', text).is_some_and(|end| is_name(&text[..end]) && !text[..end].contains(&b' '))
}

/// Returns the length of a text without quotes. Its brackets are in pairs; otherwise they do not count.
fn text_length(text: &[u8], end: u8, has_names: bool) -> Option<usize> {
    let mut open = Vec::new();
    for (at, byte) in text.iter().enumerate() {
        if open.is_empty() && ends_value(&text[at..], end, has_names) {
            return Some(at);
        }
        match byte {
            b'(' => open.push(b')'),
            b'[' | b'{' => open.extend(closing(*byte)),
            b')' | b']' | b'}' if open.pop().is_some_and(|expected| expected != *byte) => break,
            _ => {}
        }
    }
    (0..text.len()).find(|at| ends_value(&text[*at..], end, has_names))
}

fn is_number(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'-' | b'0'..=b'9')) && is_whole(text)
}
