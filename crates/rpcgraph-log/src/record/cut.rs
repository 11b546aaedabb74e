//! Messages that a log shortened: cut off behind their id, or with `...` in place of a part. What stands before the cut is read.

use super::certainty::names_member;
use super::object::{RawObject, elements, string};
use super::value::{Extent, is_whole, value};
use memchr::{memchr, memmem};
use std::borrow::Cow;

/// The maximum number of bytes in angle brackets.
const PLACEHOLDER: usize = 64;
/// The maximum depth of values that are closed.
const DEPTH: usize = 100;

/// A message up to its cut, with its open values closed.
pub(super) struct CutMessage {
    pub json: Vec<u8>,
    /// True if nothing of the result stands before the cut.
    pub result_unknown: bool,
}

impl CutMessage {
    /// Reads JSON that is not whole: with `...` or the like in place of values, or cut off. `None` if it is whole, or if nothing
    /// of it is certain.
    pub fn of_broken(json: &[u8]) -> Option<Self> {
        let has_dots = || memmem::find(json, b"...").is_some() || memmem::find(json, "…".as_bytes()).is_some();
        let may_be_cut = !json.ends_with(b"}") && !json.ends_with(b"]") || has_dots() || memchr(b'<', json).is_some();
        if !may_be_cut || is_whole(json) {
            return None;
        }
        let whole = elided(json).filter(|(_, used)| *used == json.len());
        whole.map(|(json, _)| Self { json, result_unknown: false }).or_else(|| Self::of(json))
    }

    /// Reads JSON that is cut off or has a syntax error. `None` unless its id, and its method, result or error begin before: a
    /// call without an id may have one behind the cut.
    pub fn of(json: &[u8]) -> Option<Self> {
        let object = RawObject::parse(json).filter(|object| object.get("id").is_some_and(is_whole))?;
        let is_answer = object.has("result") || object.has("error");
        if !object.get("method").map_or(is_answer, is_whole) {
            return None;
        }
        let cut = object.get("result").filter(|result| !is_whole(result));
        let result_unknown = cut.is_some_and(|result| closed(result, 1).is_none());
        let members = object.members().filter_map(|(name, value)| {
            let value = closed(value, 1).or_else(|| (result_unknown && name == b"result").then(|| b"null"[..].into()));
            Some((name, value?))
        });
        Some(Self { json: written(members), result_unknown })
    }
}

/// Writes an object.
fn written<'v>(members: impl Iterator<Item = (&'v [u8], Cow<'v, [u8]>)>) -> Vec<u8> {
    let members = members.map(|(name, value)| {
        let mut member = String::new();
        crate::json::write_str(&String::from_utf8_lossy(name), &mut member);
        [member.as_bytes(), b":", &value].concat()
    });
    [b"{", &*members.collect::<Vec<_>>().join(&b","[..]), b"}"].concat()
}

/// Returns a value whose end may be missing, up to there, with its strings, arrays and objects closed. `None` if nothing of it
/// is certain.
fn closed(text: &[u8], depth: usize) -> Option<Cow<'_, [u8]>> {
    if is_whole(text) {
        return Some(text.into());
    }
    if depth > DEPTH {
        return None;
    }
    match text.first()? {
        b'{' => {
            let object = RawObject::parse(text)?;
            Some(written(object.members().filter_map(|(name, value)| Some((name, closed(value, depth + 1)?)))).into())
        }
        b'[' => {
            let all: Vec<_> = elements(text).filter_map(|element| closed(element, depth + 1)).collect();
            Some([b"[", &*all.join(&b","[..]), b"]"].concat().into())
        }
        // The last bytes may be a part of an escape or of a character.
        b'"' => (0..8.min(text.len())).find_map(|missing| {
            let string = [&text[..text.len() - missing], b"\""].concat();
            (is_whole(&string) && str::from_utf8(&string).is_ok()).then(|| string.into())
        }),
        _ => None,
    }
}

/// True if a note of a person begins at an offset in JSON: `...` for left out values, or a comment behind a member.
pub(super) fn is_note(text: &[u8], at: usize) -> bool {
    let (before, note) = text.split_at(at.min(text.len()));
    let dots = ["...", "…"].iter().find_map(|dots| note.strip_prefix(dots.as_bytes()));
    let is_apart = |behind: &[u8]| behind.trim_ascii_start().first().is_none_or(|next| b"}],".contains(next));
    dots.is_some_and(is_apart) || note.starts_with(b"//") && before.contains(&b':')
}

/// Returns the length of words in angle brackets that stand for a value, as in `"key": <redacted>`.
fn placeholder(text: &[u8]) -> Option<usize> {
    let length = text.strip_prefix(b"<")?.iter().take(PLACEHOLDER).position(|byte| b"<>\"{}[]\n".contains(byte))? + 2;
    text[..length].ends_with(b">").then_some(length)
}

/// Returns the value at the beginning of a text in which `...` stands for left out values, or words in angle brackets for a value,
/// or which has comments, and its size in bytes. `None` if it has neither, or is not JSON without them.
pub(super) fn elided(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut json, mut depth, mut at, mut is_elided) = (Vec::new(), 0_usize, 0, false);
    while let Some(&byte) = text.get(at) {
        let mark = ["...", "…"].iter().find(|mark| text[at..].starts_with(mark.as_bytes()));
        match (byte, mark) {
            (b'"', _) => {
                let Extent::Whole(length) = value(&text[at..]) else { return None };
                json.extend_from_slice(&text[at..at + length]);
                at += length;
                continue;
            }
            (_, Some(mark)) => {
                is_elided = true;
                at += mark.len();
                continue;
            }
            (b'<', _)
                if json.trim_ascii_end().ends_with(b":")
                    && let Some(length) = placeholder(&text[at..]) =>
            {
                is_elided = true;
                json.extend_from_slice(&string(&text[at..at + length]));
                at += length;
                continue;
            }
            (b'/', _) if text[at..].starts_with(b"//") => {
                is_elided = true;
                let length = text[at..].iter().position(|byte| *byte == b'\n').unwrap_or(text.len() - at);
                // A comment that holds a message would be lost.
                if names_member(&text[at..at + length]) {
                    return None;
                }
                at += length;
                continue;
            }
            (b'{' | b'[', _) => depth += 1,
            (b'}' | b']', _) => {
                json.truncate(json.trim_ascii_end().len());
                json.pop_if(|last| *last == b',');
                depth = depth.checked_sub(1)?;
            }
            // Nothing stands between the bracket or the comma before and this one.
            (b',', _) if json.trim_ascii_end().ends_with(b"[") || json.trim_ascii_end().ends_with(b"{") => {
                at += 1;
                continue;
            }
            _ => {}
        }
        json.push(byte);
        at += 1;
        if depth == 0 {
            break;
        }
    }
    (is_elided && is_whole(&json)).then_some((json, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_messages_are_read_up_to_the_cut() {
        for (text, expected) in [
            (
                r#"{"id":1,"method":"a","params":{"name":"x","ar..."#,
                Some(r#"{"id":1,"method":"a","params":{"name":"x"}}"#),
            ),
            (
                r#"{"id":1,"result":{"tools":[{"name":"a"},{"na"#,
                Some(r#"{"id":1,"result":{"tools":[{"name":"a"},{}]}}"#),
            ),
            (
                r#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"bad b..."#,
                Some(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"bad b..."}}"#),
            ),
            (r#"{"id":"a","result":tr"#, Some(r#"{"id":"a","result":null}"#)),
            (r#"{"id":"a","result":"x\u00"#, Some(r#"{"id":"a","result":"x"}"#)),
            (r#"{"id":1"#, None),
            (r#"{"id":1,"method":"a"#, None),
            (r#"{"method":"a","params":{"x"#, None),
            (r#"{"method":"a","params":{},"id":1"#, Some(r#"{"method":"a","params":{},"id":1}"#)),
        ] {
            let found = CutMessage::of(text.as_bytes()).map(|cut| String::from_utf8(cut.json).expect("text"));
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn dots_stand_for_values() {
        for (text, expected) in [
            (r#"{"params":{...}} x"#, Some((r#"{"params":{}}"#, 16))),
            (r#"{"a":[1, ...],"b":"..."}"#, Some((r#"{"a":[1],"b":"..."}"#, 24))),
            (r#"{"a":[..., 2], …}"#, Some((r#"{"a":[ 2]}"#, 19))),
            ("{\"a\": 1, // one\n}", Some((r#"{"a": 1}"#, 17))),
            (r#"{"a":<redacted>,"b":1}"#, Some((r#"{"a":"<redacted>","b":1}"#, 22))),
            (r#"{"a":<b"c>}"#, None),
            ("{\"a\": 1, // {\"method\":\"one\"}\n}", None),
            (r#"{"a":{}}"#, None),
            (r#"{"a":...}"#, None),
            (r#"{"a":{...}"#, None),
        ] {
            let expected = expected.map(|(json, used)| (json.as_bytes().to_vec(), used));
            assert_eq!(elided(text.as_bytes()), expected, "{text}");
        }
    }
}
