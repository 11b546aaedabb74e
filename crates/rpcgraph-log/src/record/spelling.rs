//! Spellings of values in logs: JSON, JSON in a string, literals of other languages, and hexadecimal digits.

use super::decoder::{leading_blanks, trim_end};
use super::object::{RawObject, string, unescaped};
use super::value::{Extent, value, value_shown};
use memchr::memmem;
use std::borrow::Cow;

/// The spelling of the value in a place of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Spelling {
    #[default]
    Json,
    /// The text of a string, with or without its quotes.
    String,
    /// A field of CSV, or the end of one: its quotes are doubled.
    Csv,
    /// Python's dictionaries, strings, bytes and constructor calls.
    Python,
    /// Objects with bare names, as Node.js's `util.inspect` prints them, and Rust's `{:?}`.
    JavaScript,
    /// Two digits for each byte.
    Hex,
    /// JSON over several lines, each of which but the first has the same text in front, with other digits.
    Prefixed,
}

/// A value in JSON, of which the spelling in the log has `used` bytes.
pub(super) struct SpelledValue<'a> {
    pub json: Cow<'a, [u8]>,
    pub used: usize,
    /// True if the value is cut off or has a syntax error.
    pub is_broken: bool,
    /// True if the spelling states that it leaves out a part.
    pub is_cut: bool,
}

impl Spelling {
    /// The name in files that describe formats.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::String => "string",
            Self::Csv => "csv",
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::Hex => "hex",
            Self::Prefixed => "prefixed",
        }
    }

    /// Returns the spelling of a value that may begin at the end of `front`.
    pub fn shown(front: &[u8], text: &[u8]) -> Option<Self> {
        let is_apart = !front.last().is_some_and(|last| last.is_ascii_alphanumeric() || *last == b'_');
        let inside = || &text[1 + leading_blanks(&text[1..])..];
        let is_string = |text: &[u8]| text.starts_with(b"{\\\"") || text.starts_with(b"[{\\\"");
        let is_field = |text: &[u8]| matches!(text, [b'{', b'"', b'"', b'a'..=b'z', ..]);
        match text.first()? {
            b'{' | b'[' if is_string(text) => Some(Self::String),
            b'{' if is_field(text) => Some(Self::Csv),
            b'"' if is_field(&text[1..]) || text[1..].starts_with(b"[") && is_field(&text[2..]) => Some(Self::Csv),
            b'{' => match inside() {
                [] | [b'"' | b'}', ..] => Some(Self::Json),
                [b'\'', ..] | [b'u' | b'b', b'\'' | b'"', ..] => Some(Self::Python),
                inside if begins_member(inside) => Some(Self::JavaScript),
                _ => prefix(text).map(|_| Self::Prefixed),
            },
            b'[' => match inside() {
                [] => Some(Self::Json),
                [b'\'' | b'`', b'{', ..] => Some(Self::JavaScript),
                [b'{', ..] => Self::shown(b"", inside()).filter(|spelling| *spelling != Self::String),
                _ => None,
            },
            b'"' if is_apart && (is_string(&text[1..]) || text[1..].starts_with(HEADER)) => Some(Self::String),
            b'b' if is_apart && matches!(text.get(1), Some(b'\'' | b'"')) => Some(Self::Python),
            b'A'..=b'Z' if is_apart && is_call(text) => Some(Self::Python),
            b'5' | b'7'
                if is_apart && (text.starts_with(b"7b") || text.starts_with(b"7B") || text.starts_with(b"5b7b")) =>
            {
                (text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count() >= 32).then_some(Self::Hex)
            }
            _ => None,
        }
    }

    /// Decodes the object or array at the beginning of a text, behind the header of a frame.
    pub fn decode(self, text: &[u8]) -> Option<SpelledValue<'_>> {
        match self {
            Self::Json => structured(text),
            Self::String => {
                let quoted = text.strip_prefix(b"\"");
                let rest = quoted.unwrap_or(text);
                let end = end_of_string(rest);
                let used = text.len() - rest.len() + end.map_or(rest.len(), |end| end + usize::from(quoted.is_some()));
                let mut inside = unescaped(&rest[..end.unwrap_or(rest.len())]).into_owned();
                if inside.starts_with(b"{\\\"") {
                    inside = unescaped(&inside).into_owned();
                }
                owned(inside, used)
            }
            Self::Csv => {
                let rest = text.strip_prefix(b"\"").unwrap_or(text);
                let (mut inside, mut at) = (Vec::new(), 0);
                while let Some(quote) = memchr::memchr(b'"', &rest[at..]) {
                    let is_doubled = rest.get(at + quote + 1) == Some(&b'"');
                    inside.extend_from_slice(&rest[at..at + quote + usize::from(is_doubled)]);
                    at += quote + 1 + usize::from(is_doubled);
                    if !is_doubled {
                        break;
                    }
                }
                owned(inside, text.len() - rest.len() + at)
            }
            Self::Python | Self::JavaScript => {
                let mut literal = Literal::new(text);
                literal.value(0)?;
                let Literal { at, json, is_cut, .. } = literal;
                // A program may print the list of its arguments.
                let quoted = json.strip_prefix(b"[").filter(|_| self == Self::JavaScript && is_single(&json));
                let inside = match quoted.unwrap_or(&json).strip_prefix(b"\"") {
                    Some(quoted) => unescaped(quoted).into_owned(),
                    None => json,
                };
                Some(SpelledValue { is_cut, ..owned(inside, at)? })
            }
            Self::Prefixed => match prefixed(text) {
                Some(Prefixed::Whole(json, used)) => owned(json, used),
                _ => None,
            },
            Self::Hex => {
                let used = text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count() / 2 * 2;
                let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or_default() as u8;
                owned(text[..used].chunks(2).map(|pair| 16 * digit(pair[0]) + digit(pair[1])).collect(), used)
            }
        }
    }

    /// Returns the extent of a value that continues on the lines below its first; nothing follows the text at its `end`.
    pub fn extent(self, text: &[u8], end: bool) -> Extent {
        match self {
            Self::Python | Self::JavaScript => {
                let mut literal = Literal::new(text);
                match literal.value(0) {
                    Some(()) => Extent::Whole(literal.at),
                    None if literal.at >= text.len() && end => Extent::Whole(trim_end(text).len()),
                    None if literal.at >= text.len() => Extent::Incomplete,
                    None => Extent::Broken(literal.at),
                }
            }
            Self::Prefixed => match prefixed(text) {
                Some(Prefixed::Whole(_, used)) => Extent::Whole(used),
                Some(Prefixed::Incomplete) if !end => Extent::Incomplete,
                // The second line shows the prefix.
                None if !end && memchr::memchr_iter(b'\n', text).nth(1).is_none() => Extent::Incomplete,
                _ => Extent::Broken(0),
            },
            _ => value_shown(text, end),
        }
    }
}

/// An object over several lines with text in front of each.
enum Prefixed {
    /// The object, and the length of its spelling.
    Whole(Vec<u8>, usize),
    Incomplete,
}

/// Returns the text in front of the second line of an object, without the blanks before the first member, and the end of the
/// first line.
fn prefix(text: &[u8]) -> Option<(&[u8], usize)> {
    let end = memchr::memchr(b'\n', text)?;
    let below = text[end + 1..].split(|byte| *byte == b'\n').next()?;
    let prefix = trim_end(&below[..memchr::memchr(b'"', below)?]);
    (trim_end(&text[..end]) == b"{" && !prefix.trim_ascii().is_empty()).then_some((prefix, end))
}

/// Reads an object up to its end. `None` if a line has another text in front.
fn prefixed(text: &[u8]) -> Option<Prefixed> {
    let (prefix, mut at) = prefix(text)?;
    let (mut json, mut depth) = (b"{\n".to_vec(), 1_usize);
    while at < text.len() {
        let start = at + 1;
        at = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |end| start + end);
        let Some(length) = length_like(prefix, &text[start..at]) else {
            return (at == text.len() && at - start < prefix.len()).then_some(Prefixed::Incomplete);
        };
        let (mut in_string, mut is_escaped) = (false, false);
        for (offset, byte) in text[start + length..at].iter().enumerate() {
            json.push(*byte);
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = in_string,
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => depth += 1,
                b'}' | b']' if !in_string => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(Prefixed::Whole(json, start + length + offset + 1));
            }
        }
        json.push(b'\n');
    }
    Some(Prefixed::Incomplete)
}

/// Returns the length of a text at the beginning of a line, whatever numbers are in both.
fn length_like(text: &[u8], line: &[u8]) -> Option<usize> {
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (mut at, mut length) = (0, 0);
    while at < text.len() {
        let (own, other) = (digits(&text[at..]), digits(line.get(length..)?));
        match own {
            0 if line.get(length) == Some(&text[at]) => (at, length) = (at + 1, length + 1),
            1.. if other > 0 => (at, length) = (at + own, length + other),
            _ => return None,
        }
    }
    Some(length)
}

/// True for the bare name of a member and its colon.
fn begins_member(text: &[u8]) -> bool {
    let name = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    name > 0 && !text[0].is_ascii_digit() && matches!(text[name..], [b':', b' ' | b'\n', ..])
}

/// True for an array of one string.
fn is_single(json: &[u8]) -> bool {
    json.starts_with(b"[\"") && end_of_string(&json[2..]).is_some_and(|end| json[2 + end..] == *b"\"]")
}

/// The beginning of a frame's header.
const HEADER: &[u8] = b"Content-Length";

fn owned<'a>(text: Vec<u8>, used: usize) -> Option<SpelledValue<'a>> {
    let start = match text.starts_with(HEADER) {
        true => text.iter().position(|byte| b"{[".contains(byte))?,
        false => 0,
    };
    let found = structured(&text[start..])?;
    Some(SpelledValue { json: found.json.into_owned().into(), used, ..found })
}

/// Returns the object or array in JSON at the beginning of a text.
fn structured(text: &[u8]) -> Option<SpelledValue<'_>> {
    let text_start = leading_blanks(text);
    let rest = &text[text_start..];
    let (length, is_broken) = match (rest.first()?, value(rest)) {
        (b'{' | b'[', Extent::Whole(length)) => (length, false),
        (b'{' | b'[', _) => (trim_end(rest).len(), true),
        _ => return None,
    };
    Some(SpelledValue { json: rest[..length].into(), used: text_start + length, is_broken, is_cut: false })
}

/// Returns the offset of the quote that ends a string.
fn end_of_string(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

/// True for the call of a constructor that has the members of a message.
fn is_call(text: &[u8]) -> bool {
    let name = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let has = |word: &[u8]| memmem::find(text, word).is_some();
    text.get(name) == Some(&b'(') && (has(b"jsonrpc=") || has(b"method="))
}

/// A literal on its way to JSON.
struct Literal<'a> {
    text: &'a [u8],
    at: usize,
    json: Vec<u8>,
    is_cut: bool,
}

/// The maximum depth of a literal.
const DEEPEST: usize = 64;

/// The beginnings of what `util.inspect` prints in place of a value.
const LEFT_OUT: [&[u8]; 5] = [b"[Object]", b"[Array]", b"[Circular", b"[Function", b"[Getter"];
/// The text that it prints before an object without a class.
const WITHOUT_CLASS: &[u8] = b"[Object: null prototype]";
/// The text that it prints behind the first part of a long string, after a number.
const MORE: &[u8] = b" more character";

impl<'a> Literal<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, json: Vec::new(), is_cut: false }
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.at.min(self.text.len())..]
    }

    fn blanks(&mut self) {
        self.at += leading_blanks(self.rest());
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

    fn value(&mut self, depth: usize) -> Option<()> {
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
        let name = self.name().to_vec();
        self.at += name.len();
        if !name.is_empty() && self.peek() == Some(b'(') {
            return self.call(depth);
        }
        // The name of a class or structure.
        if !name.is_empty() && (self.rest().starts_with(b" {") || self.rest().starts_with(b" [")) {
            return self.value(depth);
        }
        let word: &[u8] = match &*name {
            b"" => return None,
            b"None" | b"null" | b"Null" | b"undefined" => b"null",
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
                self.takes(b':').then_some(())?;
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

/// True if an object or array has the shape of a message, or is the beginning of one.
pub(super) fn has_shape(json: &[u8]) -> bool {
    super::object::objects(json).any(|object| is_shaped(&object))
}

/// True if an object has the members of a call or of an answer, whatever else it has.
pub(super) fn is_shaped(object: &RawObject<'_>) -> bool {
    object.has("jsonrpc")
        || object.string("method").is_some()
        || object.has("id") && (object.has("result") || object.has("error"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Option<(String, usize)> {
        let spelling = Spelling::shown(b" ", text.as_bytes())?;
        let found = spelling.decode(text.as_bytes())?;
        Some((String::from_utf8_lossy(&found.json).into_owned(), found.used))
    }

    #[test]
    fn spellings_of_messages() {
        const M: &str = r#"{"id":1,"method":"a"}"#;
        let hex: String = M.bytes().map(|byte| format!("{byte:02x}")).collect();
        for (text, json) in [
            (M.to_owned(), M),
            (r#""{\"id\":1,\"method\":\"a\"}""#.to_owned(), M),
            (r#"{\"id\":1,\"method\":\"a\"}"#.to_owned(), M),
            (format!("b'Content-Length: 21\\r\\n\\r\\n{M}'"), M),
            (r#"b"{'x"#.to_owned(), ""),
            ("{'id': 1, u'method': \"a\"}".to_owned(), M),
            (
                "{'a': (True, None, 1.5, 'it\\'s \\u00e9'), 2: {}}".to_owned(),
                r#"{"a":[true,null,1.5,"it's é"],"2":{}}"#,
            ),
            (
                "Message(root=Request(id=1, params=None, method='a'), x=None)".to_owned(),
                r#"{"root":{"id":1,"method":"a"}}"#,
            ),
            ("Root(Request(id=1, method='a'))".to_owned(), M),
            ("{ id: 1, method: 'a', params: undefined }".to_owned(), M),
            ("{ id: Number(1), method: \"a\", params: None }".to_owned(), "{\"id\":1,\"method\":\"a\"}"),
            (format!("[\n  `{}`\n]", M.replace('a', "it\\'s")), r#"{"id":1,"method":"it's"}"#),
            (
                "{\n  a: [ 'x' +\n 'y', [Object], ... 2 more items ],\n b: <ref *1> { c: null }, d: 'z'... 9 more characters }".to_owned(),
                r#"{"a":["xy","[Object]"],"b":{"c":null},"d":"z"}"#,
            ),
            ("{\n    id: Number(\n        1,\n    ),\n    method: \"a\",\n}".to_owned(), M),
            ("{ a b: 1 }".to_owned(), ""),
            (hex, M),
            (format!("\"{}\"", M.replace('"', "\"\"")), M),
            ("{\n9 |   \"a\": [\n10 |     \"}\"\n11 |   ]\n12 | }".to_owned(), "{\n   \"a\": [\n     \"}\"\n   ]\n }"),
            ("{\n9 |   \"a\": 1\n10 : }".to_owned(), ""),
        ] {
            let expected = (!json.is_empty()).then(|| json.to_owned());
            let found = decoded(&format!("{text} rest"));
            assert_eq!(found.as_ref().map(|(json, _)| json.clone()), expected, "{text}");
            if let Some((_, used)) = found.filter(|_| !text.starts_with("{\\")) {
                assert_eq!(used, text.len(), "{text}");
            }
        }
    }
}
