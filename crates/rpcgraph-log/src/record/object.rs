//! JSON objects around messages, with their members as they are spelled. The objects may be cut off or broken.

use super::decoder::{leading_blanks, trim_end};
use super::times::date_time;
use super::value::{Extent, value};
use super::{Sender, Time};
use crate::json::{special, unescape as unescape_one};
use std::borrow::Cow;

/// The maximum number of members, more than any envelope has. The members of a larger object are not kept: they would
/// take more memory than its text.
const MOST: usize = 1000;

/// A JSON object, or the part of it before it is cut off or has a syntax error.
#[derive(Debug)]
pub struct RawObject<'a> {
    members: Vec<(Cow<'a, [u8]>, &'a [u8])>,
    whole: bool,
}

impl<'a> RawObject<'a> {
    /// Parses text that begins with `{`. The last value is the rest of the text if it is cut off or has a syntax error.
    /// Commas are not checked.
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        let (object, length) = Self::first(text)?;
        let whole = object.whole && leading_blanks(&text[length..]) == text.len() - length;
        Some(Self { whole, ..object })
    }

    /// Parses an object that other text may follow. Also returns its size in bytes: up to its `}`, or else to the end.
    pub(super) fn first(text: &'a [u8]) -> Option<(Self, usize)> {
        let mut rest = text.strip_prefix(b"{")?;
        let mut members = Vec::new();
        loop {
            rest = &rest[rest.iter().position(|byte| !b" \t\r\n,".contains(byte)).unwrap_or(rest.len())..];
            if let Some(behind) = rest.strip_prefix(b"}") {
                return Some((Self { members, whole: true }, text.len() - behind.len()));
            }
            let named = name(rest).filter(|_| members.len() < MOST);
            let Some((name, colon)) = named else { return Some((Self { members, whole: false }, text.len())) };
            let behind = &rest[colon + 1..];
            let found = trim_end(&behind[leading_blanks(behind)..]);
            let (length, is_value) = extent(found);
            if length > 0 {
                members.push((name, &found[..length]));
            }
            if !is_value {
                return Some((Self { members, whole: false }, text.len()));
            }
            rest = &found[length..];
        }
    }

    /// True if it ends with its `}` and nothing follows.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Names and values, as far as they go.
    pub(super) fn members(&self) -> impl Iterator<Item = (&[u8], &'a [u8])> {
        self.members.iter().map(|(name, value)| (&**name, *value))
    }

    /// Returns the members that are strings or other scalars.
    pub(super) fn texts(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'a, str>)> {
        self.members().filter_map(|(name, value)| Some((String::from_utf8_lossy(name), scalar(value)?.into())))
    }

    /// True if the object has a member of this name.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns the value of a member as it is spelled; the last one if there are several.
    pub(crate) fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.all(name).next_back()
    }

    /// Returns the values of all members with a name.
    pub(super) fn all(&self, name: &str) -> impl DoubleEndedIterator<Item = &'a [u8]> {
        self.members.iter().filter(move |(found, _)| &**found == name.as_bytes()).map(|(_, value)| *value)
    }

    /// Returns the objects in all members with a name.
    pub(super) fn objects(&self, name: &str) -> impl Iterator<Item = Self> {
        self.all(name).filter_map(Self::parse)
    }

    pub(super) fn object(&self, name: &str) -> Option<Self> {
        Self::parse(self.get(name)?)
    }

    /// Returns the text of a string; bytes that are not UTF-8 are replaced.
    pub(crate) fn string(&self, name: &str) -> Option<Cow<'a, str>> {
        Some(match unescape(self.get(name)?)? {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        })
    }

    /// Returns the date and time in a string.
    pub(super) fn date_time(&self, name: &str) -> Option<Time> {
        date_time(&unescape(self.get(name)?)?)
    }
}

/// Returns the name at the beginning of `text`, and the offset of the colon after it.
fn name(text: &[u8]) -> Option<(Cow<'_, [u8]>, usize)> {
    let Extent::Whole(length) = value(text) else { return None };
    let colon = length + leading_blanks(&text[length..]);
    (text.get(colon) == Some(&b':')).then_some((unescape(&text[..length])?, colon))
}

/// Returns the size of the value at the beginning of `text`, in bytes, and true if it is valid. A value that is cut off
/// or has a syntax error is the rest of the text.
pub(super) fn extent(text: &[u8]) -> (usize, bool) {
    match value(text) {
        Extent::Whole(length) => (length, true),
        Extent::Incomplete | Extent::Broken(_) => (text.len(), false),
    }
}

/// Returns the elements of text that begins with `[`. The last one is the rest of the text if it is cut off or has a
/// syntax error.
pub(super) fn elements(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text.strip_prefix(b"[").unwrap_or_default();
    std::iter::from_fn(move || {
        rest = trim_end(&rest[rest.iter().position(|byte| !b" \t\r\n,".contains(byte)).unwrap_or(rest.len())..]);
        if rest.is_empty() || rest[0] == b']' {
            return None;
        }
        let (element, behind) = rest.split_at(extent(rest).0);
        rest = behind;
        Some(element)
    })
}

/// Returns the objects of a possible message: itself, or the elements of a batch.
pub(super) fn objects(text: &[u8]) -> impl Iterator<Item = RawObject<'_>> {
    RawObject::parse(text).into_iter().chain(elements(text).filter_map(RawObject::parse))
}

/// Returns the text of a JSON string without its quotes. The string may be cut off.
///
/// Half of a surrogate pair stays an escape sequence: UTF-8 cannot encode it, and if the string holds JSON, the escape
/// sequence means the same there.
pub(super) fn unescape(string: &[u8]) -> Option<Cow<'_, [u8]>> {
    string.strip_prefix(b"\"").map(unescaped)
}

/// Returns the text of a JSON string, given from after its quote.
pub(crate) fn unescaped(rest: &[u8]) -> Cow<'_, [u8]> {
    let plain = mark(rest);
    if rest.get(plain) != Some(&b'\\') {
        return Cow::Borrowed(&rest[..plain]);
    }
    // The text is never longer than its escaped form.
    let (mut text, mut from) = (Vec::with_capacity(rest.len()), 0);
    loop {
        let plain = mark(&rest[from..]);
        text.extend_from_slice(&rest[from..from + plain]);
        from += plain;
        if rest.get(from) != Some(&b'\\') {
            return Cow::Owned(text);
        }
        let mut buffer = [0; 4];
        let (meaning, length) = match rest.get(from + 1..from + 2) {
            // Strings that hold JSON have these every few bytes.
            Some(itself @ (b"\"" | b"\\")) => (itself, 2),
            _ => escaped(&rest[from..], &mut buffer),
        };
        text.extend_from_slice(meaning);
        from += length;
    }
}

/// Returns the text of the escape sequence at the beginning of `text`, and the size of the sequence in bytes.
fn escaped<'a>(text: &'a [u8], buffer: &'a mut [u8; 4]) -> (&'a [u8], usize) {
    match (unescape_one(text), text) {
        (Some((Ok(character), length)), _) => (character.encode_utf8(buffer).as_bytes(), length),
        // A byte, which JSON does not escape, but web servers do.
        (_, [_, b'x', high, low, ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or_default() as u8;
            buffer[0] = 16 * digit(*high) + digit(*low);
            (&buffer[..1], 4)
        }
        // An escape sequence that is too short may be followed by another one.
        (_, [_, b'u', digits @ ..]) => {
            let length = 2 + digits.iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count();
            (&text[..length], length)
        }
        // A letter that JSON does not escape, or the end.
        (_, [_, letter @ ..]) if !letter.is_empty() => (&letter[..1], 2),
        _ => (text, 1),
    }
}

/// Returns the number of bytes before the first quote or backslash.
fn mark(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += special(&text[at..]);
        match text.get(at) {
            Some(b'"' | b'\\') | None => return at,
            // A control character, which JSON does not allow in a string.
            Some(_) => at += 1,
        }
    }
}

/// Returns the offset of `part` in `whole`, from which it was cut out.
pub(super) fn offset_in(whole: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len())
}

/// Returns the side that a value names, given the names of client and server.
pub(super) fn side(value: &[u8], [client, server]: [&[u8]; 2]) -> Option<Sender> {
    if value == client { Some(Sender::Client) } else { (value == server).then_some(Sender::Server) }
}

/// Returns the characters of a string, a number or a boolean.
pub(super) fn scalar(value: &[u8]) -> Option<String> {
    let text = match value.first()? {
        b'{' | b'[' => return None,
        b'"' => unescape(value)?,
        _ if value == b"null" => return None,
        _ => value.into(),
    };
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// A JSON object under construction.
pub(super) struct ObjectBuilder(Vec<u8>);

impl ObjectBuilder {
    pub(super) fn new() -> Self {
        Self(vec![b'{'])
    }

    /// Adds a member whose value is JSON text. The name must not need escape sequences.
    pub(super) fn member(&mut self, name: &str, value: &[u8]) {
        let comma: &[u8] = if self.0.len() > 1 { b"," } else { b"" };
        for part in [comma, b"\"", name.as_bytes(), b"\":", value] {
            self.0.extend_from_slice(part);
        }
    }

    /// Returns the text of the object.
    pub(super) fn end(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }
}

/// Returns a member's name, unless it would need escape sequences.
pub(super) fn plain_name(name: &[u8]) -> Option<&str> {
    let is_plain = |c: char| !c.is_control() && !matches!(c, '"' | '\\');
    std::str::from_utf8(name).ok().filter(|name| name.chars().all(is_plain))
}

/// Returns a text as a JSON string. Bytes that are not UTF-8 are kept, so that no byte is lost.
pub(super) fn string(text: &[u8]) -> Vec<u8> {
    let mut json = vec![b'"'];
    for chunk in text.utf8_chunks() {
        let quoted = serde_json::Value::from(chunk.valid()).to_string();
        json.extend_from_slice(&quoted.as_bytes()[1..quoted.len() - 1]);
        json.extend_from_slice(chunk.invalid());
    }
    json.push(b'"');
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_as_they_are_spelled() {
        let text = br#"{"a" : 1.50 ,"b":{"a":2},"\u0063":"\u0041","a":[1e3, "]"] } "#;
        let object = RawObject::parse(text).unwrap();
        assert!(object.is_whole() && object.has("b") && !object.has("d"));
        assert_eq!(object.get("a"), Some(&br#"[1e3, "]"]"#[..]));
        assert_eq!(object.string("c").as_deref(), Some("A"));
        assert_eq!(object.object("b").unwrap().get("a"), Some(&b"2"[..]));
        assert_eq!(object.string("a"), None);
        assert_eq!(offset_in(text, object.get("b").unwrap()), 17);
        assert!(RawObject::parse(b"[]").is_none() && RawObject::parse(b"{}").is_some_and(|object| object.is_empty()));
        let bytes = RawObject::parse(b"{\"a\":\"\xff\",\"b\":\xff}").unwrap();
        assert_eq!((bytes.string("a").as_deref(), bytes.get("b")), (Some("\u{fffd}"), Some(&b"\xff}"[..])));
    }

    #[test]
    fn as_far_as_it_goes() {
        let whole = br#"{"a":"b\"","c":{"d":[1]},"e":null}"#;
        for length in 1..whole.len() {
            let object = RawObject::parse(&whole[..length]).unwrap();
            assert!(!object.is_whole());
            assert_eq!(object.get("a"), (length > 5).then(|| &whole[5..length.min(10)]), "{length}");
            assert_eq!(object.get("c"), (length > 15).then(|| &whole[15..length.min(24)]), "{length}");
        }
        for (text, found) in [("{\"a\" 1}", None), ("{a:1}", None), ("{\"a\":}", Some("}")), ("{\"a\":1} x", Some("1"))]
        {
            let object = RawObject::parse(text.as_bytes()).unwrap();
            assert!(!object.is_whole());
            assert_eq!(object.get("a"), found.map(str::as_bytes), "{text}");
        }
    }

    #[test]
    fn members_are_counted() {
        let many = format!("{{{}}}", vec!["\"a\":1"; MOST + 1].join(","));
        assert!(!RawObject::parse(many.as_bytes()).unwrap().is_whole());
        assert!(RawObject::parse(many.replacen("\"a\":1,", "", 1).as_bytes()).unwrap().is_whole());
    }

    #[test]
    fn the_elements_of_an_array() {
        let all = |text: &'static str| elements(text.as_bytes()).map(String::from_utf8_lossy).collect::<Vec<_>>();
        assert_eq!(all("[1 , {\"a\":[2]},\n\"]\" ] x"), ["1", "{\"a\":[2]}", "\"]\""]);
        assert_eq!(all("[1, {\"a\": "), ["1", "{\"a\":"]);
        assert_eq!(all("[oops, 2]"), ["oops, 2]"]);
        assert_eq!(all("[]"), [""; 0]);
        assert_eq!(all("{}"), [""; 0]);
    }

    #[test]
    fn strings() {
        let text = |string: &str| unescape(string.as_bytes()).map(|text| String::from_utf8_lossy(&text).into_owned());
        let table = [
            (r#""""#, ""),
            (r#""plain é""#, "plain é"),
            (r#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\x08\x0c\n\r\tz"),
            (r#""\u00e9\u4e2d\ud83d\ude00\u0000""#, "é中😀\0"),
            (r#""\ud83d""#, "\\ud83d"),
            (r#""\ud83dx\ude00""#, "\\ud83dx\\ude00"),
            (r#""\ud83d\u0041""#, "\\ud83dA"),
            (r#""cut off"#, "cut off"),
            (r#""cut\u00"#, "cut\\u00"),
            (r#""cut\"#, "cut\\"),
            (r#""byte\x22\xC3\xa9\x5C\xg""#, "byte\"é\\xg"),
            (r#""odd\x\uzzzz""#, "oddx\\uzzzz"),
            (r#""\u0d{\"a\":1}""#, "\\u0d{\"a\":1}"),
        ];
        for (string, expected) in table {
            assert_eq!(text(string).as_deref(), Some(expected), "{string}");
        }
        assert_eq!(text("1"), None);
        assert_eq!(unescape(b"\"\xff\""), Some(Cow::Borrowed(&b"\xff"[..])));
        assert!(matches!(unescape(b"\"\\n\""), Some(Cow::Owned(_))));
    }
}
