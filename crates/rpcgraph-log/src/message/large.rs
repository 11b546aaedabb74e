//! Messages that are too large to be held as values. They are written in canonical form, of which their payloads are
//! parts.
//!
//! The result is the same as from [`Content::parse`](super::Content::parse); tests compare both.

use std::borrow::Cow;

use super::parse::is_keyword_like;
use super::{ErrorMember, ExtraMembers, Invalid, Message, Payload, Problem, Problems, Single};
use crate::json::{self, Canonical, Evidence, Numbers, Object, QuickWriter, Text, Value};

/// The minimum size, in bytes, of records and elements of batches that are read in this way if they are unusual. As
/// values, they may take 30 times as much memory.
pub const LARGE: usize = 1 << 20;

/// The members of messages, and of their errors.
const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
const ERROR_MEMBERS: [&str; 3] = ["code", "message", "data"];

/// The maximum number of extra members that are listed.
const FEW: usize = 64;

/// A message or another JSON value, in canonical form.
#[derive(Debug)]
pub struct LargeSingle<'a> {
    /// The value as it is spelled.
    text: &'a str,
    written: String,
    canonical: Canonical,
    evidence: Evidence,
    result_unknown: bool,
}

impl<'a> LargeSingle<'a> {
    /// Reads a text; for `result_unknown`, see [`Content::parse_without_result`](super::Content::parse_without_result).
    pub fn new(bytes: &'a [u8], result_unknown: bool) -> Result<Self, json::Error> {
        let (mut writer, mut written) = (QuickWriter::new(Numbers::Exact), String::with_capacity(bytes.len()));
        let text = str::from_utf8(bytes).ok();
        match text.and_then(|text| Some((text, writer.write_text(text, &mut written)?))) {
            Some((text, canonical)) => {
                let (text, evidence) = (text.trim_ascii(), writer.evidence());
                Ok(Self { text, written, canonical, evidence, result_unknown })
            }
            None => Err(json::check(bytes).err().unwrap_or(json::Error { kind: json::ErrorKind::TooDeep, offset: 0 })),
        }
    }

    /// Returns the message, or the value in its place.
    pub fn single<'s>(&'s self) -> Single<'s>
    where
        'a: 's,
    {
        let payload = |value: &Value<'s>| value.raw().map_or_else(|| value.into(), |text| self.part(text));
        match Single::classified(known_members(&self.written, &MEMBERS), self.result_unknown, &payload) {
            Single::Message(message) => Single::Message(self.message(message)),
            Single::Invalid(invalid) => {
                let mut problems = Problems::default();
                problems.insert_evidence(self.evidence);
                let value = Payload::new(self.written.as_str(), self.canonical);
                Single::Invalid(Invalid { value, problems, text: self.source(), ..invalid })
            }
        }
    }

    /// True if the value is an array.
    pub fn is_array(&self) -> bool {
        self.written.starts_with('[')
    }

    /// Adds what the known members do not say to a message.
    fn message<'s>(&'s self, mut message: Message<'s>) -> Message<'s>
    where
        'a: 's,
    {
        message.problems.insert_evidence(self.evidence);
        message.text = self.source();
        let mut has_keyword = self.extra(&self.written, &MEMBERS, &mut message.extra);
        if let Some(ErrorMember::Object(error)) = &mut message.error {
            let object = json::member(&self.written, "error").unwrap_or_default();
            has_keyword |= self.extra(object, &ERROR_MEMBERS, &mut error.extra);
        }
        message.problems.insert_if(has_keyword, Problem::KeywordMember);
        message
    }

    /// The text, if the canonical form does not keep all of it.
    fn source(&self) -> Option<&'a str> {
        self.evidence.duplicate_member.then_some(self.text)
    }

    /// Lists or writes the members of an object that are not `known`, and the known members that are extra nevertheless.
    /// Returns true if a name is like a JSON-LD keyword.
    fn extra<'s>(&self, object: &'s str, known: &[&str], extra: &mut ExtraMembers<'s>) -> bool {
        let listed = extra.listed();
        let is_extra = |(name, _): &(&str, &str)| {
            !known.contains(name) || listed.iter().any(|(found, _)| found.as_str() == Some(name))
        };
        let members = || json::members(object).filter(is_extra);
        let is_keyword = members().any(|(name, _)| is_keyword_like(name));
        let is_large = |(index, (_, value)): (usize, (&str, &str))| index >= FEW || value.starts_with(['{', '[']);
        *extra = match members().enumerate().any(is_large) {
            true => {
                let mut text = String::with_capacity(object.len());
                for (name, value) in members() {
                    let separator = if text.is_empty() { "{\"" } else { ",\"" };
                    [separator, name, "\":", value].iter().for_each(|part| text.push_str(part));
                }
                text.push('}');
                ExtraMembers::Canonical(self.part(text).into())
            }
            false => ExtraMembers::Listed(
                members().map(|(name, value)| (Text::decode(name), Value::hollow(value))).collect(),
            ),
        };
        is_keyword
    }

    /// Returns the payload of a part of the text, or of several.
    fn part<'s>(&self, part: impl Into<Cow<'s, str>>) -> Payload<'s> {
        let text = part.into();
        let written = || QuickWriter::new(Numbers::Exact).write_text(&text, &mut String::new());
        // Other parts of the text may be the cause.
        let canonical = if self.canonical.interoperable { self.canonical } else { written().unwrap_or(self.canonical) };
        Payload::new(text, canonical)
    }
}

/// Returns a value of which only the `known` members are held, and the members of an error.
fn known_members<'t>(text: &'t str, known: &[&str]) -> Value<'t> {
    if !text.starts_with('{') {
        return Value::hollow(text);
    }
    let members = json::members(text).filter(|(name, _)| known.contains(name));
    let members = members.map(|(name, value)| match name {
        "error" => (Text::decode(name), known_members(value, &ERROR_MEMBERS)),
        name => (Text::decode(name), Value::hollow(value)),
    });
    Value::Object(Object::from_members(members.collect()))
}

#[cfg(test)]
mod tests {
    use super::super::Content;
    use super::*;

    /// Returns the whole message as text, with its payloads in canonical form.
    fn shown(single: &Single<'_>) -> String {
        let payload = |payload: &Payload<'_>| format!("{} {}", payload.text, payload.canonical.interoperable);
        let extra = |extra: &ExtraMembers<'_>| match extra {
            ExtraMembers::Listed(members) if members.is_empty() => String::new(),
            ExtraMembers::Listed(members) => payload(&(&Value::Object(Object::from_members(members.clone()))).into()),
            ExtraMembers::Canonical(object) => payload(object),
        };
        match single {
            Single::Invalid(invalid) => {
                format!("{} {} {:?} {:?}", payload(&invalid.value), invalid.reason, invalid.problems, invalid.text)
            }
            Single::Message(message) => {
                let error = message.error.as_ref().map(|error| match error {
                    ErrorMember::Other(value) => payload(value),
                    ErrorMember::Object(error) => {
                        let data = error.data.as_ref().map(payload);
                        format!("{:?} {:?} {data:?} {}", error.code, error.message, extra(&error.extra))
                    }
                });
                let payloads = [&message.params, &message.result].map(|value| value.as_ref().map(payload));
                format!(
                    "{:?} {:?} {:?} {:?} {payloads:?} {error:?} {} {:?} {:?}",
                    message.kind,
                    message.version,
                    message.id,
                    message.method,
                    extra(&message.extra),
                    message.problems,
                    message.text
                )
            }
        }
    }

    #[test]
    fn large_messages_are_read_as_any_other() {
        let many: String = (0..100).map(|i| format!(r#","x{}":{i}"#, 99 - i)).collect();
        for text in [
            "1",
            r#" "a\ud800" "#,
            r#" {"jsonrpc":"2.0","id":1,"method":"m","params":{"b":[1e2,{"x":null}],"a":"\u00e9"}} "#,
            r#"{"method":"m","params":7,"params":{"a":1}}"#,
            r#"{"method":"m","params":[{"a":1,"\u0061":2}],"extra":{"b":1,"a":[]},"@type":1}"#,
            r#"{"method":"m","params":"\ud800","jsonrpc":2}"#,
            r#"{"method":"m","jsonrpc":{"a":1}}"#,
            r#"{"method":"\ud800"}"#,
            r#"{"method":["m"],"id":1}"#,
            r#"{"id":{},"method":"m"}"#,
            r#"{"id":null,"method":"m"}"#,
            r#"{"id":1.0}"#,
            r#"{"id":1,"result":{"b":1,"a":2},"error":null}"#,
            r#"{"id":1,"result":1,"error":{"code":1}}"#,
            r#"{"id":1,"result":null,"error":{"code":-32601.0,"message":"m","data":{"z":[],"a":1},"more":{}}}"#,
            r#"{"error":{"code":"x","message":7,"data":null,"code":{"y":1}}}"#,
            r#"{"error":{"message":"\ud800"}}"#,
            r#"{"error":["a",{"b":1}],"id":"x"}"#,
            r#"{"error":"text","jsonrpc":"2.0"}"#,
            &format!(r#"{{"method":"m"{many}}}"#),
            &format!(r#"{{"error":{{"code":1{many},"@id":1}}}}"#),
        ] {
            for unknown in [false, true] {
                let parse = if unknown { Content::parse_without_result } else { Content::parse };
                let Content::Single(single) = parse(text.as_bytes()) else { panic!() };
                let large = LargeSingle::new(text.as_bytes(), unknown).unwrap();
                assert_eq!(shown(&large.single()), shown(&single), "{text}");
                assert_eq!(large.single().certainty(), single.certainty(), "{text}");
            }
        }
    }

    #[test]
    fn arrays_in_batches_too() {
        let text = r#"[{"a":1,"a":2}]"#;
        let single = Single::from_value(json::parse(text.as_bytes()).unwrap());
        assert_eq!(shown(&LargeSingle::new(text.as_bytes(), false).unwrap().single()), shown(&single));
    }
}
