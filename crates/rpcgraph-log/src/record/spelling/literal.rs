//! Literals of Python, JavaScript, Ruby, Elixir, Rust, Vim and Emacs Lisp, and Java's records.

mod lisp;
mod unquoted;

pub(super) use self::unquoted::begins_member;

use super::super::decoder::leading_blanks;
use super::super::object::string;
use super::super::value::{Extent, value};
use super::NO_BREAK;
use memchr::memmem;

/// A literal on its way to JSON.
pub(super) struct Literal<'a> {
    text: &'a [u8],
    /// The number of bytes that were read.
    pub at: usize,
    pub json: Vec<u8>,
    /// True if the literal states that it leaves out a part.
    pub is_cut: bool,
}

/// The constants of Vim.
const CONSTANTS: [(&[u8], &[u8]); 4] =
    [(b"v:true", b"true"), (b"v:false", b"false"), (b"v:null", b"null"), (b"v:none", b"null")];

/// The maximum depth of a literal.
const DEEPEST: usize = 64;

/// The beginnings of what `util.inspect` prints in place of a value.
const LEFT_OUT: [&[u8]; 5] = [b"[Object]", b"[Array]", b"[Circular", b"[Function", b"[Getter"];
/// The text that it prints before an object without a class.
const WITHOUT_CLASS: &[u8] = b"[Object: null prototype]";
/// The text that it prints behind the first part of a long string, after a number.
const MORE: &[u8] = b" more character";

impl<'a> Literal<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, json: Vec::new(), is_cut: false }
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.at.min(self.text.len())..]
    }

    fn blanks(&mut self) {
        self.at += leading_blanks(self.rest());
        while self.rest().starts_with(NO_BREAK) {
            self.at += NO_BREAK.len();
            self.at += leading_blanks(self.rest());
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn takes(&mut self, byte: u8) -> bool {
        self.blanks();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Returns the name at the current place.
    fn name(&self) -> &[u8] {
        let rest = &self.text[self.at..];
        &rest[..rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte)).count()]
    }

    /// Reads the value at the current place. `None` if it is not whole.
    pub fn value(&mut self, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        self.blanks();
        match self.peek()? {
            b'[' if LEFT_OUT.iter().any(|start| self.rest().starts_with(start)) => {
                self.is_cut = true;
                self.as_it_is(b']')
            }
            b'[' if self.rest().starts_with(WITHOUT_CLASS) => {
                self.at += WITHOUT_CLASS.len();
                self.value(depth)
            }
            b'{' => self.items(b'}', depth, true),
            b'%' if self.rest().starts_with(b"%{") => {
                self.at += 1;
                self.value(depth)
            }
            b'[' => self.items(b']', depth, false),
            b'(' => self.items(b')', depth, false),
            b'\'' | b'"' | b'`' => self.string(),
            b'u' | b'b' | b'r' if matches!(self.text.get(self.at + 1), Some(b'\'' | b'"')) => {
                self.at += 1;
                self.string()
            }
            b'-' | b'0'..=b'9' => {
                let rest = &self.text[self.at..];
                let length =
                    rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
                let is_number = matches!(value(&rest[..length]), Extent::Whole(whole) if whole == length);
                self.json.extend(if is_number { rest[..length].to_vec() } else { string(&rest[..length]) });
                self.at += length;
                Some(())
            }
            // An object that occurs in itself.
            b'<' if self.rest().starts_with(b"<ref *") => {
                self.at += memchr::memchr(b'>', self.rest())? + 1;
                self.value(depth)
            }
            // The representation of an object without a literal.
            b'<' => self.as_it_is(b'>'),
            b'#' if self.rest().starts_with(b"#<") => self.as_it_is(b'>'),
            // A symbol of Ruby.
            b':' => {
                self.at += 1;
                self.named(depth)
            }
            _ => self.named(depth),
        }
    }

    /// Reads the text up to an `end` as a string.
    fn as_it_is(&mut self, end: u8) -> Option<()> {
        let rest = self.rest();
        let length = memchr::memchr(end, rest)? + 1;
        self.json.extend(string(&rest[..length]));
        self.at += length;
        Some(())
    }

    fn named(&mut self, depth: usize) -> Option<()> {
        if let Some((name, json)) = CONSTANTS.iter().find(|(name, _)| self.rest().starts_with(name)) {
            self.json.extend_from_slice(json);
            self.at += name.len();
            return Some(());
        }
        let name = self.name().to_vec();
        self.at += name.len();
        if !name.is_empty() && self.peek() == Some(b'(') {
            return self.call(depth);
        }
        if let Some(end) = self.end_of_record().filter(|_| !name.is_empty()) {
            return self.record(end, depth, false);
        }
        // The name of a class or structure.
        if !name.is_empty() && (self.rest().starts_with(b" {") || self.rest().starts_with(b" [")) {
            return self.value(depth);
        }
        let word: &[u8] = match &*name {
            b"" => return None,
            b"None" | b"null" | b"Null" | b"nil" | b"undefined" => b"null",
            b"True" | b"true" => b"true",
            b"False" | b"false" => b"false",
            name => &string(name),
        };
        self.json.extend_from_slice(word);
        Some(())
    }

    /// Reads the items of a list or, with `has_names`, of a dictionary. A member with a bare name may be absent.
    fn items(&mut self, end: u8, depth: usize, has_names: bool) -> Option<()> {
        self.at += 1;
        self.json.push(if has_names { b'{' } else { b'[' });
        let mut is_first = true;
        while !self.takes(end) {
            // As in `... 3 more items`.
            if self.rest().starts_with(b"...") {
                self.at += memchr::memchr(end, self.rest())?;
                self.is_cut = true;
                continue;
            }
            let (start, mut is_absent) = (self.json.len(), false);
            if !is_first {
                self.json.push(b',');
            }
            if has_names {
                let (from, is_bare) = (self.json.len(), !matches!(self.peek()?, b'\'' | b'"'));
                self.value(depth + 1)?;
                if self.json[from] != b'"' {
                    let name = string(&self.json[from..]);
                    self.json.splice(from.., name);
                }
                (self.takes(b':') || self.takes(b'=') && self.takes(b'>')).then_some(())?;
                self.json.push(b':');
                self.blanks();
                is_absent = is_bare && matches!(self.name(), b"undefined" | b"None");
            }
            self.value(depth + 1)?;
            match is_absent {
                true => self.json.truncate(start),
                false => is_first = false,
            }
            if !self.takes(b',') {
                return self.takes(end).then(|| self.json.push(if has_names { b'}' } else { b']' }));
            }
        }
        self.json.push(if has_names { b'}' } else { b']' });
        Some(())
    }

    /// Reads the arguments of a constructor as members of an object. An argument that is `None` is absent. A single
    /// argument without a name stands for the object.
    fn call(&mut self, depth: usize) -> Option<()> {
        self.at += 1;
        let (start, mut count) = (self.json.len(), 0);
        self.json.push(b'{');
        while !self.takes(b')') {
            let name = self.name().to_vec();
            let is_named = self.text.get(self.at + name.len()) == Some(&b'=');
            let from = self.json.len();
            if count > 0 {
                self.json.push(b',');
            }
            self.json.extend(if is_named { string(&name) } else { format!("\"{count}\"").into_bytes() });
            self.json.push(b':');
            self.at += if is_named { name.len() + 1 } else { 0 };
            let argument = self.json.len();
            self.value(depth + 1)?;
            let is_end = !self.takes(b',');
            self.blanks();
            if !is_named && count == 0 && self.peek() == Some(b')') {
                self.at += 1;
                self.json.drain(start..argument);
                return Some(());
            }
            match &self.json[argument..] == b"null" && is_named {
                true => self.json.truncate(from),
                false => count += 1,
            }
            if is_end {
                self.takes(b')').then_some(())?;
                break;
            }
        }
        self.json.push(b'}');
        Some(())
    }

    /// Reads a string, which may be in parts with `+` between them.
    fn string(&mut self) -> Option<()> {
        let mut text = Vec::new();
        loop {
            self.quoted(&mut text)?;
            let end = self.at;
            if !self.takes(b'+') {
                self.at = end;
                break;
            }
            self.blanks();
        }
        let more =
            self.rest().strip_prefix(b"... ").and_then(|count| memmem::find(&count[..count.len().min(32)], MORE));
        if let Some(at) = more {
            self.is_cut = true;
            self.at += 4 + at + MORE.len();
            self.at += usize::from(self.peek() == Some(b's'));
        }
        self.json.extend(string(&text));
        Some(())
    }

    /// Reads a part of a string, in quotes.
    fn quoted(&mut self, text: &mut Vec<u8>) -> Option<()> {
        let quote = self.peek().filter(|quote| b"'\"`".contains(quote))?;
        self.at += 1;
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                // Vim doubles the quote.
                b'\'' if quote == b'\'' && self.peek() == Some(quote) => {
                    self.at += 1;
                    text.push(quote);
                }
                _ if byte == quote => return Some(()),
                b'\\' => self.escape(text)?,
                byte => text.push(byte),
            }
        }
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Option<()> {
        let byte = self.peek()?;
        self.at += 1;
        let plain = match byte {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'b' => 8,
            b'f' => 12,
            b'x' | b'u' | b'U' => {
                let length = match byte {
                    b'x' => 2,
                    b'u' => 4,
                    _ => 8,
                };
                let digits = std::str::from_utf8(self.text.get(self.at..self.at + length)?).ok()?;
                let code = u32::from_str_radix(digits, 16).ok()?;
                self.at += length;
                match u8::try_from(code).ok().filter(|_| byte == b'x') {
                    Some(byte) => text.push(byte),
                    None => text.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut [0; 4]).as_bytes()),
                }
                return Some(());
            }
            b'\\' | b'\'' | b'"' | b'`' => byte,
            // Python keeps the backslash of an unknown escape sequence.
            other => {
                text.push(b'\\');
                other
            }
        };
        text.push(plain);
        Some(())
    }
}
