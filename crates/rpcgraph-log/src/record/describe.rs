//! Describes the places of messages in a log, as a [`OwnFormat`] that finds them again.

use super::object::{RawObject, elements, scalar, unescape};
use super::own_format::OwnFormat;
use super::rules::{WordMeaning, named_meaning, time};
use super::{Record, times};
use crate::json::pointer_token;
use std::collections::BTreeMap;

/// A record, the line on which it was found, and its place in the line.
pub struct FoundIn<'a> {
    /// The line without its end.
    pub line: &'a [u8],
    /// The offset of the message.
    pub at: usize,
    /// The record.
    pub record: &'a Record<'a>,
}

/// The maximum number of places, more than logs have in practice.
const MOST: usize = 12;

impl OwnFormat {
    /// Returns a format that finds these records again, with pointers if all of them were inside objects, and the TOML
    /// for it in a file: `envelope = …` or `line = …`. `None` if all records were whole lines.
    pub fn describe(found: &[FoundIn<'_>]) -> Option<(String, Self)> {
        let inside: Vec<_> = found.iter().filter(|found| found.line != &*found.record.bytes).collect();
        match inside.first()? {
            _ if inside.iter().all(|found| found.line.starts_with(b"{")) => pointers(&inside),
            _ => expression(&inside),
        }
    }
}

fn pointers(found: &[&FoundIn<'_>]) -> Option<(String, OwnFormat)> {
    let mut pairs: Vec<(&str, String)> = Vec::new();
    for FoundIn { line, record, .. } in found {
        let text_is = |is: &dyn Fn(&str) -> bool| pointer(line, &|value| scalar(value).is_some_and(|text| is(&text)));
        for (name, pointer) in [
            ("message", pointer(line, &|value| value == &*record.bytes)),
            ("time", record.time.and_then(|stated| text_is(&|text| time(text) == Some(stated)))),
            ("sender", meaning(record).and_then(|stated| text_is(&|text| named_meaning(text) == Some(stated)))),
            ("session", record.session.as_ref().and_then(|stated| text_is(&|text| text == stated))),
        ] {
            let pair = pointer.map(|pointer| (name, pointer));
            pairs.extend(pair.filter(|pair| !pairs.contains(pair)));
        }
        if pairs.len() > MOST {
            return None;
        }
    }
    let own_format =
        OwnFormat::at_pointers(pairs.iter().map(|(name, pointer)| ((*name).to_owned(), pointer.clone()))).ok()?;
    let mut parts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, pointer) in pairs {
        parts.entry(name).or_default().push(toml_string(&pointer));
    }
    let parts = parts.iter().map(|(name, pointers)| match &pointers[..] {
        [pointer] => format!("{name} = {pointer}"),
        several => format!("{name} = [{}]", several.join(", ")),
    });
    Some((format!("envelope = {{ {} }}", parts.collect::<Vec<_>>().join(", ")), own_format))
}

/// Returns the pointer to the first value for which `is` returns true, also in strings that hold JSON.
pub(super) fn pointer(value: &[u8], is: &dyn Fn(&[u8]) -> bool) -> Option<String> {
    let below = |name: &str, value: &[u8]| Some(format!("/{}{}", pointer_token(name), pointer(value, is)?));
    match value.first()? {
        _ if is(value) => Some(String::new()),
        b'{' => {
            RawObject::parse(value)?.members().find_map(|(name, value)| below(std::str::from_utf8(name).ok()?, value))
        }
        b'[' => elements(value).enumerate().find_map(|(index, value)| below(&index.to_string(), value)),
        b'"' => pointer(unescape(value)?.trim_ascii(), is),
        _ => None,
    }
}

fn meaning(record: &Record<'_>) -> Option<WordMeaning> {
    record.sender.map(WordMeaning::Sent).or(record.direction.map(WordMeaning::Went))
}

/// Makes an expression from the text before the messages: the shapes of times, and the words for the sender.
fn expression(found: &[&FoundIn<'_>]) -> Option<(String, OwnFormat)> {
    let [mut times, mut words, mut anchors] = [Vec::new(), Vec::new(), Vec::new()];
    for FoundIn { line, at, record } in found {
        let front = std::str::from_utf8(line.get(..*at)?).ok()?;
        let shape = record.time.and_then(|stated| {
            let ends = |text: &str| text.find([']', '"', ' ', '\t', ')']).unwrap_or(text.len());
            let length =
                |text: &str| times::timestamp(text.as_bytes()).map_or_else(|| ends(text), |(length, _)| length);
            let texts = front.char_indices().map(|(at, _)| &front[at..]).map(|text| &text[..length(text)]);
            texts.into_iter().find(|text| time(text) == Some(stated)).map(shape)
        });
        let tokens = front.split(|c: char| c.is_whitespace() || "=:[]\"".contains(c)).filter(|token| !token.is_empty());
        let word = tokens.rev().find(|token| meaning(record).is_some() && named_meaning(token) == meaning(record));
        let anchor = front.rfind('{').map_or("", |open| front[open..].trim_end_matches('"'));
        for (all, one) in [
            (&mut times, shape),
            (&mut words, word.map(regex::escape)),
            (&mut anchors, Some(regex::escape(anchor)).filter(|anchor| !anchor.is_empty())),
        ] {
            all.extend(one.filter(|one| !all.contains(one)));
        }
        if times.len() + words.len() + anchors.len() > MOST {
            return None;
        }
    }
    let any = |all: &[String], front: &str, behind: &str| match all {
        [] => String::new(),
        all => format!("(?:{front}{}{behind})?", all.join("|")),
    };
    let (time, word) = (any(&times, "[^{]*?(?<time>", ")"), any(&words, r"(?:[^{]*\W)?(?<sender>", r")\W"));
    let regex = format!(r#"^{time}{word}[^{{]*?{}(?<message>(?:\[\s*)?\{{\s*\\?".*)"#, any(&anchors, "(?:", r#")"?"#));
    let own_format = OwnFormat::line(&regex).ok()?;
    Some((format!("line = {}", toml_string(&regex)), own_format))
}

/// Returns a string in TOML: literal if possible, and with line breaks around the text if there are line breaks in it.
pub fn toml_string(text: &str) -> String {
    let is_plain = |c: char| !c.is_control() || c == '\n';
    match text.contains('\n') {
        false if text.chars().all(is_plain) && !text.contains('\'') => format!("'{text}'"),
        true if text.chars().all(is_plain) && !text.contains("'''") => format!("'''\n{text}\n'''"),
        // Escape sequences of JSON are valid in TOML.
        _ => serde_json::Value::from(text).to_string().replace('\x7f', "\\u007f"),
    }
}

/// Returns a text as a regular expression that matches any number in place of each number.
pub(super) fn shape(text: &str) -> String {
    let mut shape = String::new();
    for character in regex::escape(text).chars() {
        match character.is_ascii_digit() {
            true if shape.ends_with(r"\d+") => {}
            true => shape.push_str(r"\d+"),
            false => shape.push(character),
        }
    }
    shape
}
