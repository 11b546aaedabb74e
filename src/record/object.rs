//! JSON objects around messages: their members as they are spelled, as far as they go.

use super::decoder::{leading_blanks, trim_end};
use super::scan::Scan;
use super::times::date_time;
use super::value::{Extent, value};
use super::{Sender, Time};
use crate::json::{special, unescape as unescape_one};
use memchr::memchr;
use std::borrow::Cow;

/// More members than any envelope has. Those of a larger object are not kept: they would take more memory than its text.
const MOST: usize = 1000;

/// A JSON object, or what stands of it before it is cut off or an error comes.
#[derive(Debug)]
pub(super) struct RawObject<'a> {
    members: Vec<(Cow<'a, [u8]>, &'a [u8])>,
    whole: bool,
    proper: bool,
}

impl<'a> RawObject<'a> {
    /// Takes apart what begins with `{`. The last value is the rest of the text if it is cut off or has an error in it.
    ///
    /// Lenient about commas: what matters here is only which members can be told apart.
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        let (object, length) = Self::first(text)?;
        let whole = object.whole && leading_blanks(&text[length..]) == text.len() - length;
        Some(Self { whole, ..object })
    }

    /// The same of an object that may have something else behind it, and how many bytes it has: up to its `}`, or else all.
    pub(super) fn first(text: &'a [u8]) -> Option<(Self, usize)> {
        Self::read(text, false)
    }

    /// The same, and behind an error it goes on with the next member.
    pub(super) fn recover(text: &'a [u8]) -> Option<Self> {
        Some(Self::read(text, true)?.0)
    }

    fn read(text: &'a [u8], recovers: bool) -> Option<(Self, usize)> {
        let mut rest = text.strip_prefix(b"{")?;
        let (mut members, mut whole, mut proper) = (Vec::new(), true, true);
        loop {
            let (gap, next) =
                rest.split_at(rest.iter().position(|byte| !b" \t\r\n,".contains(byte)).unwrap_or(rest.len()));
            let commas = gap.iter().filter(|byte| **byte == b',').count();
            proper &= match next.first() {
                Some(b'"') => commas == usize::from(!members.is_empty()),
                Some(b'}') => commas == 0,
                _ => true,
            };
            rest = next;
            if let Some(behind) = rest.strip_prefix(b"}") {
                let length = if whole { text.len() - behind.len() } else { text.len() };
                return Some((Self { members, whole, proper }, length));
            }
            let behind = match name(rest).filter(|_| members.len() < MOST) {
                Some((name, colon)) => {
                    let behind = &rest[colon + 1..];
                    let found = trim_end(&behind[leading_blanks(behind)..]);
                    let (length, is_value) = extent(found, recovers);
                    whole &= is_value;
                    if length > 0 {
                        members.push((name, &found[..length]));
                    }
                    (is_value || recovers).then(|| &found[length..])
                }
                // The next name is in quotes.
                None if recovers && members.len() < MOST => {
                    rest.get(1..).and_then(|rest| Some(&rest[memchr(b'"', rest)?..]))
                }
                None => None,
            };
            whole &= behind.is_some() && rest.starts_with(b"\"");
            let Some(behind) = behind else { return Some((Self { members, whole: false, proper }, text.len())) };
            rest = behind;
        }
    }

    /// Whether it ends with its `}` and nothing else follows.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Whether its commas are those of JSON, as far as it goes.
    pub(super) fn is_proper(&self) -> bool {
        self.proper
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Names and values, as far as they go.
    pub(super) fn members(&self) -> impl Iterator<Item = (&[u8], &'a [u8])> {
        self.members.iter().map(|(name, value)| (&**name, *value))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The value of that name as it is spelled; the last one, where there are several.
    pub(super) fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.all(name).next_back()
    }

    /// The values of that name, where it may stand more than once.
    pub(super) fn all(&self, name: &str) -> impl DoubleEndedIterator<Item = &'a [u8]> {
        self.members.iter().filter(move |(found, _)| &**found == name.as_bytes()).map(|(_, value)| *value)
    }

    /// The objects of that name, which may have errors in them.
    pub(super) fn objects(&self, name: &str) -> impl Iterator<Item = Self> {
        self.all(name).filter_map(Self::recover)
    }

    pub(super) fn object(&self, name: &str) -> Option<Self> {
        Self::parse(self.get(name)?)
    }

    /// The text of a string; bytes that are not UTF-8 are replaced.
    pub(super) fn string(&self, name: &str) -> Option<Cow<'a, str>> {
        Some(match unescape(self.get(name)?)? {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        })
    }

    /// A string that is a date and a time.
    pub(super) fn date_time(&self, name: &str) -> Option<Time> {
        date_time(&unescape(self.get(name)?)?)
    }
}

/// The name that `text` begins with, and where the colon behind it is.
fn name(text: &[u8]) -> Option<(Cow<'_, [u8]>, usize)> {
    let Extent::Whole(length) = value(text) else { return None };
    let colon = length + leading_blanks(&text[length..]);
    (text.get(colon) == Some(&b':')).then_some((unescape(&text[..length])?, colon))
}

/// How many bytes the value has that `text` begins with, and whether it is one: one that is cut off is the rest of the
/// text, and so is one with an error in it, whose end is looked for by its brackets if that `recovers`.
pub(super) fn extent(text: &[u8], recovers: bool) -> (usize, bool) {
    match value(text) {
        Extent::Whole(length) => (length, true),
        Extent::Broken(_) if recovers => (Scan::value().end(text).unwrap_or(text.len()), false),
        Extent::Incomplete | Extent::Broken(_) => (text.len(), false),
    }
}

/// The elements of what begins with `[`; the last one is the rest of the text if it is cut off or has an error in it.
pub(super) fn elements(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    elements_of(text, false)
}

/// The same; behind one with an error, the next one is looked for if that `recovers`.
pub(super) fn elements_of(text: &[u8], recovers: bool) -> impl Iterator<Item = &[u8]> {
    let mut rest = text.strip_prefix(b"[").unwrap_or_default();
    std::iter::from_fn(move || {
        rest = trim_end(&rest[rest.iter().position(|byte| !b" \t\r\n,".contains(byte)).unwrap_or(rest.len())..]);
        if rest.is_empty() || rest[0] == b']' {
            return None;
        }
        let (element, behind) = rest.split_at(extent(rest, recovers).0.max(1));
        rest = behind;
        Some(element)
    })
}

/// The objects of what may be a message: itself, or the elements of a batch.
pub(super) fn objects(text: &[u8]) -> impl Iterator<Item = RawObject<'_>> {
    RawObject::parse(text).into_iter().chain(elements(text).filter_map(RawObject::parse))
}

/// The text that a JSON string stands for, without its quotes; it may be cut off.
///
/// Half of a surrogate pair stays the escape that it is: UTF-8 has nothing for it, and where the string holds JSON, the
/// escape means the same there.
pub(super) fn unescape(string: &[u8]) -> Option<Cow<'_, [u8]>> {
    string.strip_prefix(b"\"").map(unescaped)
}

/// The same of what stands behind the quote.
pub(super) fn unescaped(rest: &[u8]) -> Cow<'_, [u8]> {
    let plain = mark(rest);
    if rest.get(plain) != Some(&b'\\') {
        return Cow::Borrowed(&rest[..plain]);
    }
    // Nothing is longer than what stands for it. Strings that hold JSON have an escape every few bytes: whole words are
    // copied, and what is behind the escape is written over.
    let mut text = vec![0; rest.len()];
    let (mut from, mut to) = (0, 0);
    loop {
        if let (Some(word), Some(space)) = (rest[from..].first_chunk::<8>(), text[to..].first_chunk_mut()) {
            *space = *word;
            let plain = special(word);
            from += plain;
            to += plain;
            if plain == word.len() {
                continue;
            }
            if let (Some([b'\\', itself @ (b'"' | b'\\')]), Some(space)) = (rest.get(from..from + 2), text.get_mut(to))
            {
                *space = *itself;
                from += 2;
                to += 1;
                continue;
            }
        }
        let mut buffer = [0; 4];
        let (meaning, length) = match rest.get(from) {
            None | Some(b'"') => break,
            Some(b'\\') => escaped(&rest[from..], &mut buffer),
            Some(_) => (&rest[from..=from], 1),
        };
        text[to..to + meaning.len()].copy_from_slice(meaning);
        to += meaning.len();
        from += length;
    }
    text.truncate(to);
    Cow::Owned(text)
}

/// What stands for the escape at the beginning of `text`, and how many bytes it has.
fn escaped<'a>(text: &'a [u8], buffer: &'a mut [u8; 4]) -> (&'a [u8], usize) {
    match (unescape_one(text), text) {
        (Some((Ok(character), length)), _) => (character.encode_utf8(buffer).as_bytes(), length),
        // Too short, it may stand in front of another escape.
        (_, [_, b'u', digits @ ..]) => {
            let length = 2 + digits.iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count();
            (&text[..length], length)
        }
        // A letter that JSON does not escape, or the end.
        (_, [_, letter @ ..]) if !letter.is_empty() => (&letter[..1], 2),
        _ => (text, 1),
    }
}

/// How many bytes stand before the first quote or backslash.
fn mark(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += special(&text[at..]);
        match text.get(at) {
            Some(b'"' | b'\\') | None => return at,
            // A control character, which JSON does not have in a string.
            Some(_) => at += 1,
        }
    }
}

/// Where `part`, which was cut out of `whole`, begins in it.
pub(super) fn offset_in(whole: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len())
}

/// Whether an object is a message of JSON-RPC: other JSON has a `method` or an `id` too.
pub(super) fn is_message(object: &RawObject<'_>) -> bool {
    let call = object.string("method").is_some() && (object.has("id") || object.has("params"));
    let answer = object.has("id") && (object.has("result") || object.has("error"));
    object.has("jsonrpc") || call || answer
}

/// The side that a value names, of which there is a name for the client and one for the server.
pub(super) fn side(value: &[u8], [client, server]: [&[u8]; 2]) -> Option<Sender> {
    if value == client { Some(Sender::Client) } else { (value == server).then_some(Sender::Server) }
}

/// The characters of a string, a number or a boolean.
pub(super) fn scalar(value: &[u8]) -> Option<String> {
    let text = match value.first()? {
        b'{' | b'[' => return None,
        b'"' => unescape(value)?,
        _ if value == b"null" => return None,
        _ => value.into(),
    };
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// A JSON object that is put together.
pub(super) struct NewObject(Vec<u8>);

impl NewObject {
    pub(super) fn new() -> Self {
        Self(vec![b'{'])
    }

    /// Adds a member whose value is JSON text. The name has nothing in it that has to be escaped.
    pub(super) fn member(&mut self, name: &str, value: &[u8]) {
        let comma: &[u8] = if self.0.len() > 1 { b"," } else { b"" };
        for part in [comma, b"\"", name.as_bytes(), b"\":", value] {
            self.0.extend_from_slice(part);
        }
    }

    /// Its text.
    pub(super) fn end(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }
}

/// A member's name, unless something in it would have to be escaped.
pub(super) fn plain_name(name: &[u8]) -> Option<&str> {
    let is_plain = |c: char| !c.is_control() && !matches!(c, '"' | '\\');
    std::str::from_utf8(name).ok().filter(|name| name.chars().all(is_plain))
}

/// A JSON string. Bytes that are not UTF-8 stay as they are, so that nothing of them is lost.
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
    fn commas() {
        let is_proper = |text: &str| RawObject::parse(text.as_bytes()).unwrap().is_proper();
        for (text, expected) in [
            ("{}", true),
            ("{\"a\":1 , \"b\":2}", true),
            ("{\"a\":1 \"b\":2}", false),
            ("{\"a\":1,,\"b\":2}", false),
            ("{\"a\":1,}", false),
            ("{,\"a\":1}", false),
            ("{\"a\":1", true),
            ("{\"a\":1 \"b\":", false),
        ] {
            assert_eq!(is_proper(text), expected, "{text}");
        }
    }

    #[test]
    fn behind_an_error() {
        let table = [
            ("{\"a\":\"x\ty\",\"b\":1}", "\"x\ty\""),
            ("{\"a\":{oops},\"b\":1}", "{oops}"),
            ("{\"a\":[1 2] oops \"b\" : 1}", "[1 2]"),
            ("{\"a\":nil,\"b\":1}", "nil"),
            ("{\"a\":,\"b\":1}", ""),
            ("{oops \"x\ty\" \"a\":2,\"b\":1", "2"),
        ];
        for (text, a) in table {
            let object = RawObject::recover(text.as_bytes()).unwrap();
            assert!(!object.is_whole(), "{text}");
            assert_eq!(object.get("a").unwrap_or_default(), a.as_bytes(), "{text}");
            assert_eq!(object.get("b"), Some(&b"1"[..]), "{text}");
        }
        let all =
            |text: &'static str| elements_of(text.as_bytes(), true).map(String::from_utf8_lossy).collect::<Vec<_>>();
        assert_eq!(all("[oops, {\"a\" 1}, } 2]"), ["oops", "{\"a\" 1}", "}", "2"]);
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
