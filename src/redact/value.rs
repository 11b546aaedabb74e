//! JSON: messages, what is around them, and values in them. White space and the order of members stay.

use std::borrow::Cow;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::bytes::Regex;

use super::allowed::{Mode, Rule, is_known_method, is_of_time, is_uri, is_word, method_marks};
use super::{MOST_DIGITS, Redactor, is_name};
use crate::json::{self, Text, Value};
use crate::record::{is_time, message_look, unescaped_bytes, whole_value};

/// The depth to which messages are searched for in other objects.
const DEEP: usize = 16;

/// An object or an array that is open.
struct Level<'t> {
    mode: Mode,
    is_object: bool,
    /// True before the name of a member.
    is_before_name: bool,
    /// The name of the current member, `*` in an array.
    name: Cow<'t, [u8]>,
    /// True if the current value is at a place where a schema has numbers.
    is_known: bool,
    /// The method, if the object is a request.
    method: Option<String>,
    /// The index of the level of the message, if the value is in one.
    message: Option<usize>,
}

impl Redactor {
    /// Redacts a value of JSON.
    pub(super) fn json(&mut self, text: &[u8], mode: Mode, out: &mut Vec<u8>) {
        let mut levels: Vec<Level<'_>> = Vec::new();
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            let is_name = levels.last().is_some_and(|level| level.is_before_name);
            if !is_name
                && !b" \t\r\n,:}]".contains(&byte)
                && let Some(length) = self.whole(&text[at..], &levels, out)
            {
                at += length;
                continue;
            }
            let length = match byte {
                b'{' | b'[' => {
                    levels.push(self.level(&text[at..], &levels, mode));
                    1
                }
                b'"' => {
                    let length = string_length(&text[at..]);
                    let string = &text[at..at + length];
                    match levels.last_mut().filter(|_| is_name) {
                        Some(level) => {
                            let is_known = self.member_name(string, level.mode, out);
                            level.name = unescaped_bytes(&string[1..]);
                            level.is_known = is_known && !matches!(&*level.name, b"params" | b"result");
                            level.is_before_name = false;
                        }
                        None => {
                            let mode = value_mode(&levels).unwrap_or(mode);
                            self.json_string(string, mode, rule(&levels, mode), out);
                        }
                    }
                    at += length;
                    continue;
                }
                b'}' | b']' => {
                    levels.pop();
                    1
                }
                b',' => {
                    levels.last_mut().into_iter().for_each(|level| level.is_before_name = level.is_object);
                    1
                }
                b':' | b' ' | b'\t' | b'\r' | b'\n' => 1,
                _ => {
                    let rest = &text[at..];
                    let length = rest.iter().position(|byte| b" \t\r\n,}]".contains(byte)).unwrap_or(rest.len());
                    self.scalar(&rest[..length], &levels, mode, out);
                    at += length;
                    continue;
                }
            };
            out.extend_from_slice(&text[at..at + length]);
            at += length;
        }
    }

    /// Redacts a number, and copies `true`, `false` and `null`.
    fn scalar(&mut self, scalar: &[u8], levels: &[Level<'_>], mode: Mode, out: &mut Vec<u8>) {
        let is_open = value_mode(levels).unwrap_or(mode) == Mode::Open;
        let is_known = levels.last().is_some_and(|level| level.is_known) && !is_open;
        match std::str::from_utf8(scalar) {
            Ok(number) if scalar.first().is_some_and(|first| !first.is_ascii_alphabetic()) => {
                match rule(levels, mode) {
                    Rule::Time => self.time(scalar, out),
                    _ => self.number(number, is_known, out),
                }
            }
            _ => out.extend_from_slice(scalar),
        }
    }

    /// Opens the object or the array at the beginning of `text`.
    fn level<'t>(&self, text: &[u8], levels: &[Level<'t>], mode: Mode) -> Level<'t> {
        let is_object = text.first() == Some(&b'{');
        let mut mode = value_mode(levels).unwrap_or(mode);
        let outer = levels.last();
        let name = outer.map_or(&b""[..], |outer| &*outer.name);
        let (mut method, mut message) = (None, outer.and_then(|outer| outer.message));
        if mode == Mode::Around && levels.len() >= DEEP {
            mode = Mode::Open;
        } else if mode == Mode::Around
            && is_object
            && let Some(look) = whole_value(text).ok().and_then(|end| message_look(&text[..end]))
        {
            (mode, method, message) = (Mode::Message, look.method, Some(levels.len()));
        }
        // The answer to an elicitation; other content names its type.
        if mode == Mode::Payload && is_object && name == b"content" {
            let is_block = whole_value(text).is_ok_and(|end| crate::record::has_member(&text[..end], "type"));
            mode = if is_block { mode } else { Mode::Open };
        }
        let is_known = !is_object && outer.is_none_or(|outer| outer.is_known);
        let name = Cow::Borrowed(if is_object { &b""[..] } else { b"*" });
        Level { mode, is_object, is_before_name: is_object, name, is_known, method, message }
    }

    /// Writes a value as a whole if it is kept, or if it is a payload and payloads are left out. Returns its size.
    fn whole(&mut self, text: &[u8], levels: &[Level<'_>], out: &mut Vec<u8>) -> Option<usize> {
        let level = levels.last()?;
        if level.is_object && !self.options.keep.is_empty() && self.is_kept(levels) {
            let length = whole_value(text).ok()?;
            out.extend_from_slice(&text[..length]);
            self.stays("value by --keep");
            return Some(length);
        }
        let is_payload = match (level.mode, &*level.name) {
            (Mode::Message, b"params" | b"result") => true,
            (Mode::Payload, b"data") => path(levels).eq([&b"error"[..], b"data"]),
            _ => false,
        };
        if !is_payload || !self.options.metadata_only {
            return None;
        }
        let length = whole_value(text).ok()?;
        out.extend_from_slice(match text.first()? {
            b'{' => b"{}",
            b'[' => b"[]",
            _ => b"null",
        });
        self.count("payload");
        Some(length)
    }

    fn is_kept(&self, levels: &[Level<'_>]) -> bool {
        let name = levels.last().map_or(&b""[..], |level| &level.name);
        self.options.keep.iter().any(|kept| match kept.strip_prefix('/') {
            Some(pointer) => {
                let tokens = pointer.split('/').map(|token| token.replace("~1", "/").replace("~0", "~"));
                let path: Vec<_> = path(levels).collect();
                let tokens: Vec<_> = tokens.collect();
                let fits = |(token, name): (&String, &&[u8])| {
                    token.as_bytes() == *name || *name == b"*" && token.bytes().all(|byte| byte.is_ascii_digit())
                };
                tokens.len() == path.len() && tokens.iter().zip(&path).all(fits)
            }
            None => kept.as_bytes() == name,
        })
    }

    /// Redacts the name of a member, in quotes. Returns true if it stays.
    pub(super) fn member_name(&mut self, string: &[u8], mode: Mode, out: &mut Vec<u8>) -> bool {
        let name = unescaped_bytes(&string[1..]);
        let stays = mode.allows(&name);
        let is_kept = || {
            let mut kept = self.options.keep.iter().flat_map(|kept| kept.split('/'));
            kept.any(|kept| kept.as_bytes() == &*name)
        };
        if stays || is_kept() {
            out.extend_from_slice(string);
            return stays;
        }
        self.json_string(string, Mode::Open, Rule::None, out);
        false
    }

    /// Redacts a string, in quotes.
    pub(super) fn json_string(&mut self, string: &[u8], mode: Mode, rule: Rule, out: &mut Vec<u8>) {
        let bytes = unescaped_bytes(&string[1..]);
        // What makes a string invalid stays, so that the message is as valid as it was.
        let (content, mark) = match std::str::from_utf8(&bytes) {
            Err(_) => (String::from_utf8_lossy(&bytes), &b"\xff"[..]),
            Ok(content) => match memchr::memmem::find(string, b"\\u").and_then(|_| json::parse(string).ok()) {
                Some(Value::String(Text::Utf16(_))) => (content.into(), &b"\\ud800"[..]),
                _ => (content.into(), cut_mark(string)),
            },
        };
        match self.string(&content, mode, rule) {
            None => out.extend_from_slice(string),
            Some(placeholder) => {
                let mut quoted = String::new();
                json::write_str(&placeholder, &mut quoted);
                out.extend_from_slice(&quoted.as_bytes()[..quoted.len() - 1]);
                out.extend_from_slice(mark);
                out.push(b'"');
            }
        }
    }

    /// Returns what takes the place of a string; `None` if it stays.
    pub(super) fn string(&mut self, content: &str, mode: Mode, rule: Rule) -> Option<String> {
        let stays = match rule {
            Rule::Method => is_known_method(content),
            Rule::Name => is_name(content),
            Rule::Version => {
                content.len() <= 10 && content.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte))
            }
            Rule::Code => content.len() <= MOST_DIGITS && content.bytes().all(|byte| byte.is_ascii_digit()),
            Rule::None | Rule::Time | Rule::Token => false,
        };
        if content.is_empty() || stays || self.options.keep.iter().any(|kept| kept == content) {
            return None;
        }
        if mode != Mode::Open && (is_word(content) || mode == Mode::Payload && is_known_method(content)) {
            self.stays("word of a protocol");
            return None;
        }
        let is_date =
            mode != Mode::Open && content.len() > 15 && content.as_bytes()[4] == b'-' && is_time(content.as_bytes());
        if is_date || rule == Rule::Time && is_time(content.as_bytes()) {
            let mut time = Vec::new();
            self.time(content.as_bytes(), &mut time);
            return String::from_utf8(time).ok();
        }
        if rule == Rule::Method {
            self.count("method");
            let (mark, name) = content.split_at(method_marks(content));
            return Some(format!("{mark}{}", self.key.word(name.as_bytes())));
        }
        if let Some(inside) = self.inside(content, mode) {
            return Some(inside);
        }
        let is_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_hex = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_uuid = content.len() == 36 && content.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
        let (kind, placeholder) = if is_uuid && content.split('-').all(is_hex) {
            ("UUID", self.key.uuid(content))
        } else if let Some(digits) = content.strip_prefix("0x").filter(|digits| is_hex(digits)) {
            ("hexadecimal number", format!("0x{}", self.key.hex(digits)))
        } else if is_digits(content) && content.len() == 1 {
            return None;
        } else if is_digits(content) {
            ("number", self.key.number(content))
        } else if rule != Rule::Token && is_uri(content) {
            return Some(self.uri(content));
        } else if rule != Rule::Token && matches!(mode, Mode::Around | Mode::Message) {
            let mut text = Vec::new();
            self.text(content.as_bytes(), &mut text);
            return Some(String::from_utf8_lossy(&text).into_owned());
        } else {
            ("text", self.key.text(content))
        };
        self.count(kind);
        Some(placeholder)
    }

    /// Redacts JSON in a string, and text around messages: as it is, in Base64, or in hexadecimal digits. Other Base64
    /// becomes a placeholder.
    fn inside(&mut self, content: &str, mode: Mode) -> Option<String> {
        if content.starts_with(['{', '[', ' ', '\n', '\r', '\t']) {
            return self.in_json(content.as_bytes(), mode).and_then(|json| String::from_utf8(json).ok());
        }
        let colon = if content.as_bytes().get(2) == Some(&b':') { ":" } else { "" };
        if let Some(bytes) = hex_bytes(content, colon)
            && let Some(inside) = self.in_bytes(&bytes, mode)
        {
            return Some(inside.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(colon));
        }
        let is_base64 = content.len() >= 24
            && content.len().is_multiple_of(4)
            && content.bytes().any(|byte| !byte.is_ascii_lowercase());
        let bytes = is_base64.then(|| STANDARD.decode(content).ok()).flatten()?;
        if let Some(inside) = self.in_bytes(&bytes, mode) {
            return Some(STANDARD.encode(inside));
        }
        self.count("Base64");
        Some(self.key.base64(&bytes))
    }

    /// Redacts JSON, and around messages also text, that a string has in encoded form.
    fn in_bytes(&mut self, bytes: &[u8], mode: Mode) -> Option<Vec<u8>> {
        let is_text = matches!(mode, Mode::Around | Mode::Message)
            && std::str::from_utf8(bytes)
                .is_ok_and(|text| !text.contains(|c: char| c.is_control() && !c.is_whitespace()));
        self.in_json(bytes, mode).or_else(|| {
            let mut out = Vec::new();
            is_text.then(|| self.text(bytes, &mut out)).map(|()| out)
        })
    }

    /// Redacts text that is an object or an array.
    fn in_json(&mut self, text: &[u8], mode: Mode) -> Option<Vec<u8>> {
        let json = text.trim_ascii();
        let blanks = text.len() - text.trim_ascii_start().len();
        if !json.starts_with(b"{") && !json.starts_with(b"[") || whole_value(json) != Ok(json.len()) {
            return None;
        }
        let mut out = text[..blanks].to_vec();
        let is_around = matches!(mode, Mode::Around | Mode::Message) || message_look(json).is_some();
        self.json(json, if is_around { Mode::Around } else { Mode::Open }, &mut out);
        out.extend_from_slice(&text[blanks + json.len()..]);
        Some(out)
    }

    /// Redacts a number, unless a schema has small numbers at its place.
    pub(super) fn number(&mut self, number: &str, is_known: bool, out: &mut Vec<u8>) {
        let digits = number.bytes().filter(u8::is_ascii_digit).count();
        if digits <= 1 || is_known && digits <= MOST_DIGITS || self.options.keep.iter().any(|kept| kept == number) {
            return out.extend_from_slice(number.as_bytes());
        }
        self.count("number");
        out.extend_from_slice(self.key.number(number).as_bytes());
    }
}

/// Returns the bytes of pairs of hexadecimal digits, at least 8, with `colon` between them.
fn hex_bytes(content: &str, colon: &str) -> Option<Vec<u8>> {
    let is_hex = |byte: u8| byte.is_ascii_hexdigit() || colon.as_bytes() == [byte];
    if content.len() < 16 || !content.bytes().all(is_hex) {
        return None;
    }
    let digits = content.replace(':', "");
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.as_bytes().chunks(2).map(pair).collect()
}

/// Returns what a log writes in place of text that it left out.
fn cut_mark(string: &[u8]) -> &[u8] {
    static MARK: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\.{3}\[[0-9]{1,9} chars truncated\]\.{3}|<<<<<\( LOG TRUNCATED \)>>>>>").ok());
    let mark = memchr::memmem::find(string, b"runcated").or_else(|| memchr::memmem::find(string, b"TRUNCATED"));
    mark.and_then(|_| Some(MARK.as_ref()?.find(string)?.as_bytes())).unwrap_or_default()
}

/// Returns the mode of the current value; `None` outside of objects and arrays.
fn value_mode(levels: &[Level<'_>]) -> Option<Mode> {
    let level = levels.last()?;
    // The parameters of a prompt have a schema, other arguments have not.
    if level.name == &b"arguments"[..] && levels.iter().take(DEEP).any(|level| level.name == &b"prompts"[..]) {
        return Some(level.mode);
    }
    Some(if level.is_object { level.mode.of_member(&level.name) } else { level.mode })
}

/// Returns the names of members from the message to the current value, `*` for an array.
fn path<'l>(levels: &'l [Level<'_>]) -> impl Iterator<Item = &'l [u8]> {
    let message = levels.last().and_then(|level| level.message).unwrap_or(levels.len());
    levels[message..].iter().take(DEEP).map(|level| &*level.name)
}

/// Returns what a value is by its position.
fn rule(levels: &[Level<'_>], mode: Mode) -> Rule {
    let Some(level) = levels.last() else { return Rule::None };
    let name = &*level.name;
    let is_around = matches!(value_mode(levels).unwrap_or(mode), Mode::Around | Mode::Message);
    if is_around && level.is_known && is_of_time(name) {
        return Rule::Time;
    }
    if level.is_known && name.ends_with(b"code") || name.ends_with(b"status") {
        return Rule::Code;
    }
    let is_deep = level.message.is_none_or(|message| levels.len() - message > DEEP);
    if is_deep || !matches!(name, b"method" | b"jsonrpc" | b"protocolVersion" | b"name") {
        return Rule::None;
    }
    let path: Vec<_> = path(levels).collect();
    match path.as_slice() {
        [b"method"] => Rule::Method,
        [b"jsonrpc"] | [_, b"protocolVersion"] => Rule::Version,
        [b"params", b"name"] => {
            let method = level.message.and_then(|message| levels[message].method.as_deref());
            if matches!(method, Some("tools/call" | "prompts/get")) { Rule::Name } else { Rule::None }
        }
        [.., b"tools" | b"prompts", b"*", b"name"] | [.., b"ref" | b"toolChoice", b"name"]
            if level.mode != Mode::Open =>
        {
            Rule::Name
        }
        _ => Rule::None,
    }
}

/// Returns the size of the string at the beginning of valid JSON, with its quotes.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}
