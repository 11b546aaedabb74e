//! JSON: messages, what is around them, and values in them. White space and the order of members stay.

use std::borrow::Cow;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use regex::bytes::Regex;

use super::allowed::{StringRole, ValuePosition, allows_method, is_known_method, is_of_time, is_word, method_marks};
use super::{MOST_DIGITS, Redactor, is_name};
use crate::json::{self, Text, Value};
use crate::record::{RawObject, byte_array, is_time, unescaped_bytes, whole_value};

/// The depth to which messages are searched for in other objects.
const DEEP: usize = 16;

/// An object or an array that is open.
struct OpenContainer<'t> {
    mode: ValuePosition,
    is_object: bool,
    /// True before the name of a member.
    is_before_name: bool,
    /// The name of the current member, `*` in an array.
    name: Cow<'t, [u8]>,
    /// The index of the current element in an array.
    index: usize,
    /// True if the current value is at a place where a schema has numbers.
    is_known: bool,
    /// The method, if the object is a request.
    method: Option<String>,
    /// The index of the level of the message, if the value is in one.
    message: Option<usize>,
    /// True if the object is the header of an archive that [`StringRole::NameHeader`] is about.
    is_name_header: bool,
}

impl Redactor {
    /// Redacts a value of JSON.
    pub(super) fn json(&mut self, text: &[u8], mode: ValuePosition, out: &mut Vec<u8>) {
        let mut levels: Vec<OpenContainer<'_>> = Vec::new();
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            let rest = &text[at..];
            let is_name = levels.last().is_some_and(|level| level.is_before_name);
            let is_value = !is_name && !b" \t\r\n,:}]".contains(&byte);
            let current = value_mode(&levels).unwrap_or(mode);
            let whole = || self.whole(rest, &levels, out).or_else(|| self.bytes(rest, &levels, current, out));
            at += match (is_value.then(whole).flatten(), byte) {
                (Some(length), _) => length,
                (None, b'"') => {
                    let string = &rest[..whole_value(rest).unwrap_or(rest.len())];
                    match levels.last_mut().filter(|_| is_name) {
                        Some(level) => {
                            let is_known = self.member_name(string, level.mode, out);
                            level.name = unescaped_bytes(&string[1..]);
                            level.is_known = is_known && !matches!(&*level.name, b"params" | b"result");
                            level.is_before_name = false;
                        }
                        None => self.json_string(string, current, rule(&levels, current), out),
                    }
                    string.len()
                }
                (None, b'-' | b'0'..=b'9') => {
                    let length = rest.iter().position(|byte| b" \t\r\n,}]".contains(byte)).unwrap_or(rest.len());
                    let is_known = levels.last().is_some_and(|level| level.is_known) && current != ValuePosition::Open;
                    match rule(&levels, current) {
                        StringRole::Time => self.time(&rest[..length], out),
                        _ if path(&levels).eq([&b"error"[..], b"code"]) => out.extend_from_slice(&rest[..length]),
                        _ => self.number(&String::from_utf8_lossy(&rest[..length]), is_known, out),
                    }
                    length
                }
                (None, _) => {
                    match byte {
                        b'{' | b'[' => levels.push(self.level(rest, &levels, current)),
                        b'}' | b']' => drop(levels.pop()),
                        b',' => levels.last_mut().into_iter().for_each(|level| {
                            level.is_before_name = level.is_object;
                            level.index += 1;
                        }),
                        _ => {}
                    }
                    out.push(byte);
                    1
                }
            };
        }
    }

    /// Opens the object or the array at the beginning of `text`.
    fn level<'t>(&self, text: &[u8], levels: &[OpenContainer<'t>], mut mode: ValuePosition) -> OpenContainer<'t> {
        let is_object = text.first() == Some(&b'{');
        let outer = levels.last();
        let is_content = is_object && outer.is_some_and(|outer| outer.name == &b"content"[..]);
        let (mut method, mut message) = (None, outer.and_then(|outer| outer.message));
        let is_deep = levels.len() >= DEEP;
        let object = || Some(&text[..whole_value(text).ok().filter(|_| is_object && !is_deep)?]);
        if mode == ValuePosition::Around {
            if let Some(object) = object().and_then(RawObject::message) {
                (mode, message) = (ValuePosition::Message, Some(levels.len()));
                method = object.string("method").map(Cow::into_owned);
            } else if is_deep {
                mode = ValuePosition::Open;
            }
        } else if mode == ValuePosition::Payload
            && is_content
            && !object().and_then(RawObject::parse).is_some_and(|object| object.has("type"))
        {
            // The answer to an elicitation; other content names its type.
            mode = ValuePosition::Open;
        }
        let is_in_headers = levels.iter().rev().nth(1).is_some_and(|around| around.name == &b"headers"[..]);
        let header = if is_in_headers { object().and_then(RawObject::parse) } else { None };
        let is_name_header =
            header.is_some_and(|header| header.string("name").is_some_and(|name| is_mcp_name(name.as_bytes())));
        // In text, one number in brackets is a thread or a process.
        let is_single = || text.iter().find(|byte| b",]".contains(byte)) == Some(&b']');
        let is_known = !is_object && outer.map_or_else(is_single, |outer| outer.is_known && are_codes(text));
        let name = Cow::Borrowed(if is_object { &b""[..] } else { b"*" });
        let is_before_name = is_object;
        OpenContainer { mode, is_object, is_before_name, name, index: 0, is_known, method, message, is_name_header }
    }

    /// Writes a value as a whole if it is kept, or if it is a payload and payloads are left out. Returns its size.
    fn whole(&mut self, text: &[u8], levels: &[OpenContainer<'_>], out: &mut Vec<u8>) -> Option<usize> {
        let level = levels.last()?;
        if !self.options.keep.is_empty() && self.is_kept(level, levels) {
            let length = whole_value(text).ok()?;
            out.extend_from_slice(&text[..length]);
            self.stays("value by --keep");
            return Some(length);
        }
        let is_payload = level.mode == ValuePosition::Message && matches!(&*level.name, b"params" | b"result")
            || level.name == &b"data"[..] && path(levels).eq([&b"error"[..], b"data"]);
        if !is_payload || !self.options.metadata_only {
            return None;
        }
        self.count("payload");
        out.extend_from_slice(match text.first()? {
            b'{' => b"{}",
            b'[' => b"[]",
            _ => b"null",
        });
        whole_value(text).ok()
    }

    /// Redacts an array of bytes as the text that it spells. Returns its size.
    fn bytes(
        &mut self,
        text: &[u8],
        levels: &[OpenContainer<'_>],
        mode: ValuePosition,
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        let is_known = levels.last().is_some_and(|level| level.is_known) && mode != ValuePosition::Open;
        let (length, bytes) = byte_array(text)
            .filter(|(_, bytes)| bytes.len() >= LEAST_BYTES && bytes.iter().any(|byte| *byte > 9))
            .filter(|_| !is_known || !are_codes(text))?;
        let redacted = match std::str::from_utf8(&bytes) {
            Ok(content) => self.string(content, mode, rule(levels, mode)).map(String::into_bytes),
            Err(_) if mode.is_around() => Some(self.text(&bytes)),
            Err(_) => Some(self.key.word(&bytes).into_bytes()),
        };
        out.extend(redacted.map_or_else(|| text[..length].to_vec(), |bytes| format!("{bytes:?}").into_bytes()));
        Some(length)
    }

    fn is_kept(&self, level: &OpenContainer<'_>, levels: &[OpenContainer<'_>]) -> bool {
        self.options.keep.iter().any(|kept| match kept.strip_prefix('/') {
            Some(pointer) => {
                let tokens = pointer.split('/').map(|token| json::pointer_name(token).into_owned().into_bytes());
                tokens.eq(in_message(levels).iter().map(|level| match level.is_object {
                    true => level.name.to_vec(),
                    false => level.index.to_string().into_bytes(),
                }))
            }
            None => level.is_object && kept.as_bytes() == &*level.name,
        })
    }

    /// Redacts the name of a member, in quotes. Returns true if it stays.
    pub(super) fn member_name(&mut self, string: &[u8], mode: ValuePosition, out: &mut Vec<u8>) -> bool {
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
        self.json_string(string, ValuePosition::Open, StringRole::None, out);
        false
    }

    /// Redacts a string, in quotes.
    pub(super) fn json_string(&mut self, string: &[u8], mode: ValuePosition, rule: StringRole, out: &mut Vec<u8>) {
        let bytes = unescaped_bytes(&string[1..]);
        // The bytes that make a string invalid stay, so that the message is as valid as it was.
        let (content, mark) = match std::str::from_utf8(&bytes) {
            Err(_) => (String::from_utf8_lossy(&bytes), &b"\xff"[..]),
            Ok(content) => match memmem::find(string, b"\\u").and_then(|_| json::parse(string).ok()) {
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
                // JSON in the string has the mark of text that is left out already.
                if mark == b"\\ud800" || memmem::find(placeholder.as_bytes(), mark).is_none() {
                    out.extend_from_slice(mark);
                }
                out.push(b'"');
            }
        }
    }

    /// Returns what takes the place of a string; `None` if it stays.
    pub(super) fn string(&mut self, content: &str, mode: ValuePosition, rule: StringRole) -> Option<String> {
        let is_digits = content.bytes().all(|byte| byte.is_ascii_digit());
        let stays = match rule {
            StringRole::Method => is_known_method(content) || allows_method(content) && self.keeps_name(content),
            StringRole::Name => is_name(content) && self.keeps_name(content),
            StringRole::Status => content.len() <= 3 && is_digits,
            StringRole::None | StringRole::Time | StringRole::Token | StringRole::NameHeader => {
                content.len() == 1 && is_digits
            }
        };
        if content.is_empty() || stays || self.options.keep.iter().any(|kept| kept == content) {
            return None;
        }
        // The name of a tool is its author's, also if a protocol has the word elsewhere.
        let is_of_protocol = mode != ValuePosition::Open && !matches!(rule, StringRole::Name | StringRole::NameHeader);
        if is_of_protocol && (is_word(content) || mode == ValuePosition::Payload && is_known_method(content)) {
            self.stays("word of a protocol");
            return None;
        }
        let is_date = mode != ValuePosition::Open && content.len() > 15 && content.as_bytes()[4] == b'-';
        if (is_date || rule == StringRole::Time) && is_time(content.as_bytes()) {
            let mut time = Vec::new();
            self.time(content.as_bytes(), &mut time);
            return String::from_utf8(time).ok();
        }
        if rule == StringRole::Method {
            self.count("method");
            let (mark, name) = content.split_at(method_marks(content));
            return Some(format!("{mark}{}", self.key.word(name.as_bytes())));
        }
        if let Some(inside) = self.inside(content, mode) {
            return Some(inside);
        }
        let is_hex = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_uuid = content.len() == 36 && content.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
        let is_uri = content.contains(['/', '\\', '@', ':']) && !content.contains(char::is_whitespace);
        let (kind, placeholder) = if is_uuid && content.split('-').all(is_hex) {
            ("UUID", self.key.uuid(content))
        } else if let Some(digits) = content.strip_prefix("0x").filter(|digits| is_hex(digits)) {
            ("hexadecimal number", format!("0x{}", self.key.hex(digits)))
        } else if is_digits {
            ("number", self.key.number(content))
        } else if rule != StringRole::Token && is_uri {
            return Some(self.uri(content));
        } else if !matches!(rule, StringRole::Token | StringRole::NameHeader) && mode.is_around() {
            return Some(String::from_utf8_lossy(&self.text(content.as_bytes())).into_owned());
        } else {
            ("text", self.key.text(content))
        };
        self.count(kind);
        Some(placeholder)
    }

    /// Notes a name that is not published, and returns true if it stays.
    fn keeps_name(&mut self, name: &str) -> bool {
        if !self.options.drop_names && !self.names.contains(name) {
            self.names.insert(name.to_owned());
        }
        !self.options.drop_names
    }

    /// Redacts JSON in a string, as it is or in Base64, and around messages text in Base64. Other Base64 becomes a
    /// placeholder.
    fn inside(&mut self, content: &str, mode: ValuePosition) -> Option<String> {
        if content.starts_with(['{', '[', ' ', '\n', '\r', '\t']) {
            return self.in_json(content.as_bytes(), mode).and_then(|json| String::from_utf8(json).ok());
        }
        let may_be = content.len() >= 24 && content.bytes().any(|byte| !byte.is_ascii_lowercase());
        let bytes = may_be.then(|| STANDARD.decode(content).ok()).flatten()?;
        let is_text = mode.is_around() && std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0'));
        let inside = self.in_json(&bytes, mode).or_else(|| is_text.then(|| self.text(&bytes)));
        if inside.is_none() {
            self.count("Base64");
        }
        Some(inside.map_or_else(|| self.key.base64(&bytes), |inside| STANDARD.encode(inside)))
    }

    /// Redacts text that is an object or an array.
    fn in_json(&mut self, text: &[u8], mode: ValuePosition) -> Option<Vec<u8>> {
        let json = text.trim_ascii();
        let blanks = text.len() - text.trim_ascii_start().len();
        if !json.starts_with(b"{") && !json.starts_with(b"[") || whole_value(json) != Ok(json.len()) {
            return None;
        }
        let mut out = text[..blanks].to_vec();
        let is_around = mode.is_around() || RawObject::message(json).is_some();
        self.json(json, if is_around { ValuePosition::Around } else { ValuePosition::Open }, &mut out);
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

/// The minimum number of elements of an array of bytes.
const LEAST_BYTES: usize = 4;

/// True for an array of numbers that a schema enumerates: no byte below 32 is a letter.
fn are_codes(text: &[u8]) -> bool {
    byte_array(text).is_some_and(|(_, bytes)| bytes.iter().all(|byte| *byte < 32))
}

/// Returns what a log writes in place of text that it left out.
fn cut_mark(string: &[u8]) -> &[u8] {
    static MARK: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\.{3}\[[0-9]{1,9} chars truncated\]\.{3}|<<<<<\( LOG TRUNCATED \)>>>>>").ok());
    MARK.as_ref().and_then(|mark| mark.find(string)).map(|found| found.as_bytes()).unwrap_or_default()
}

/// Returns the mode of the current value; `None` outside of objects and arrays.
fn value_mode(levels: &[OpenContainer<'_>]) -> Option<ValuePosition> {
    let level = levels.last()?;
    // The parameters of a prompt have a schema, other arguments have not.
    if level.name == &b"arguments"[..] && levels.iter().take(DEEP).any(|level| level.name == &b"prompts"[..]) {
        return Some(level.mode);
    }
    Some(if level.is_object { level.mode.of_member(&level.name) } else { level.mode })
}

/// Returns the names of members from the message to the current value, `*` for an array.
fn path<'l>(levels: &'l [OpenContainer<'_>]) -> impl Iterator<Item = &'l [u8]> {
    in_message(levels).iter().take(DEEP).map(|level| &*level.name)
}

/// Returns the levels from the message on.
fn in_message<'l, 't>(levels: &'l [OpenContainer<'t>]) -> &'l [OpenContainer<'t>] {
    &levels[levels.last().and_then(|level| level.message).unwrap_or(levels.len())..]
}

fn is_mcp_name(header: &[u8]) -> bool {
    header.eq_ignore_ascii_case(b"mcp-name")
}

/// Returns the kind of a string by its position; `mode` is its mode.
fn rule(levels: &[OpenContainer<'_>], mode: ValuePosition) -> StringRole {
    let Some(level) = levels.last() else { return StringRole::None };
    let name = &*level.name;
    if mode.is_around() && level.is_known && is_of_time(name) {
        return StringRole::Time;
    }
    if mode.is_around()
        && level.is_known
        && [&b"response.code"[..], b"response_code"].iter().any(|end| name.ends_with(end))
    {
        return StringRole::Status;
    }
    if mode.is_around() && (is_mcp_name(name) || level.is_name_header && name == b"value") {
        return StringRole::NameHeader;
    }
    let is_deep = level.message.is_none_or(|message| levels.len() - message > DEEP);
    if is_deep || !matches!(name, b"method" | b"name") {
        return StringRole::None;
    }
    let path: Vec<_> = path(levels).collect();
    match path.as_slice() {
        [b"method"] => StringRole::Method,
        [b"params", b"name"] => {
            let method = level.message.and_then(|message| levels[message].method.as_deref());
            if matches!(method, Some("tools/call" | "prompts/get")) { StringRole::Name } else { StringRole::None }
        }
        [.., b"tools" | b"prompts", b"*", b"name"] | [.., b"ref" | b"toolChoice", b"name"]
            if mode != ValuePosition::Open =>
        {
            StringRole::Name
        }
        _ => StringRole::None,
    }
}
