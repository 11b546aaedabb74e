//! Messages that are too large to be held as values. Their payloads are written from the text in canonical form.
//!
//! The result is the same as from [`Content::parse`](super::Content::parse); tests compare both.

use std::ops::Range;

use super::parse::{is_answer_without_result, is_keyword_like, kind_of, message, not_an_object};
use super::{ErrorMember, ExtraMembers, Invalid, Kind, Message, Payload, Problem, Problems, Single};
use crate::json::{Object, Outline, OutlineMember, OutlinePlace, OutlineWriter, Value};
use crate::record::MEMBERS;

/// The minimum size, in bytes, of records and elements of batches that are read in this way if they are unusual. As
/// values, they may take 30 times as much memory.
pub(crate) const LARGE: usize = 1 << 20;

const ERROR_MEMBERS: [&str; 3] = ["code", "message", "data"];

/// The maximum number of extra members that are listed.
const FEW: usize = 64;

/// A message or another JSON value, with its payloads as ranges of a text of its own.
#[derive(Debug)]
pub(crate) struct LargeSingle<'a> {
    single: Single<'a>,
    written: String,
    parts: Vec<(WrittenPart, Range<usize>, bool)>,
}

/// A part of a message that was written.
#[derive(Debug, Clone, Copy)]
enum WrittenPart {
    Params,
    Result,
    Error,
    ErrorData,
    ErrorExtra,
    Extra,
    Value,
}

impl<'a> LargeSingle<'a> {
    /// Reads a text; for `result_unknown`, see [`Content::parse_without_result`](super::Content::parse_without_result).
    pub fn new(outline: &Outline<'a>, result_unknown: bool) -> Self {
        let writer = OutlineWriter::new(outline);
        let mut reader = LargeReader { outline, writer, written: String::new(), parts: Vec::new() };
        let mut single = reader.single(result_unknown);
        let duplicate = reader.writer.duplicate_member;
        let (problems, text) = match &mut single {
            Single::Message(message) => (&mut message.problems, &mut message.text),
            Single::Invalid(invalid) => (&mut invalid.problems, &mut invalid.text),
        };
        problems.insert_if(duplicate, Problem::DuplicateMember);
        problems.insert_if(outline.lone_surrogate, Problem::LoneSurrogate);
        *text = duplicate.then(|| outline.text().trim_ascii());
        Self { single, written: reader.written, parts: reader.parts }
    }

    /// Returns the message, or the value in its place.
    pub fn single<'s>(&'s self) -> Single<'s>
    where
        'a: 's,
    {
        let mut single: Single<'s> = self.single.clone();
        for (part, range, interoperable) in &self.parts {
            let (text, interoperable) = (self.written.get(range.clone()).unwrap_or_default(), *interoperable);
            let payload = Payload::Canonical { text, interoperable };
            let extra = ExtraMembers::Canonical { text, interoperable };
            let message = match &mut single {
                Single::Message(message) => message,
                Single::Invalid(invalid) => {
                    invalid.value = payload;
                    continue;
                }
            };
            match (part, &mut message.error) {
                (WrittenPart::Params, _) => message.params = Some(payload),
                (WrittenPart::Result, _) => message.result = Some(payload),
                (WrittenPart::Extra, _) => message.extra = extra,
                (WrittenPart::ErrorData, Some(ErrorMember::Object(error))) => error.data = Some(payload),
                (WrittenPart::ErrorExtra, Some(ErrorMember::Object(error))) => error.extra = extra,
                (_, error) => *error = Some(ErrorMember::Other(payload)),
            }
        }
        single
    }
}

struct LargeReader<'o, 'a> {
    outline: &'o Outline<'a>,
    writer: OutlineWriter<'o, 'a>,
    written: String,
    parts: Vec<(WrittenPart, Range<usize>, bool)>,
}

impl<'a> LargeReader<'_, 'a> {
    fn single(&mut self, result_unknown: bool) -> Single<'a> {
        let root = self.outline.root();
        self.message(root, result_unknown).map_or_else(
            |reason| {
                self.value(WrittenPart::Value, root);
                let (value, problems) = (Value::Null.into(), Problems::default());
                Single::Invalid(Invalid { value, reason, problems, text: None })
            },
            Single::Message,
        )
    }

    /// Returns the message, or the reason why the value is not one.
    fn message(&mut self, root: OutlinePlace, result_unknown: bool) -> Result<Message<'a>, &'static str> {
        let value = self.outline.hollow(root);
        if !matches!(value, Value::Object(_)) {
            return Err(not_an_object(&value));
        }
        let members = self.members(root);
        let mut object = self.hollow(root, &members, &MEMBERS);
        let mut error = None;
        for (name, value) in &mut object.members {
            if let (Some("error"), Value::Object(hollow)) = (name.as_str(), value) {
                let place = self.place(root, &members, "error")?;
                let members = self.members(place);
                *hollow = self.hollow(place, &members, &ERROR_MEMBERS);
                error = Some((place, members));
            }
        }
        let answer = result_unknown && is_answer_without_result(&object);
        let kind = if answer { Kind::Response } else { kind_of(&object)? };

        let mut message = message(object, kind, Problems::default(), None);
        let payloads = [
            ("params", WrittenPart::Params, message.params.is_some()),
            ("result", WrittenPart::Result, message.result.is_some()),
            ("error", WrittenPart::Error, matches!(message.error, Some(ErrorMember::Other(_)))),
        ];
        for (name, part, _) in payloads.into_iter().filter(|(.., there)| *there) {
            self.value(part, self.place(root, &members, name)?);
        }
        let mut keyword = self.extra(root, &members, &MEMBERS, &mut message.extra, WrittenPart::Extra);
        if let (Some(ErrorMember::Object(object)), Some((place, members))) = (&mut message.error, error) {
            if object.data.is_some() {
                self.value(WrittenPart::ErrorData, self.place(place, &members, "data")?);
            }
            keyword |= self.extra(place, &members, &ERROR_MEMBERS, &mut object.extra, WrittenPart::ErrorExtra);
        }
        message.problems.insert_if(keyword, Problem::KeywordMember);
        Ok(message)
    }

    fn members(&mut self, object: OutlinePlace) -> Vec<OutlineMember> {
        let (members, duplicate, _) = self.outline.members(object);
        self.writer.duplicate_member |= duplicate;
        members
    }

    /// Returns the members with these names, without the content of arrays and objects.
    fn hollow(&self, object: OutlinePlace, members: &[OutlineMember], names: &[&str]) -> Object<'a> {
        let named = members.iter().map(|member| (self.outline.name(*member), *member));
        let known = named.filter(|(name, _)| name.as_str().is_some_and(|name| names.contains(&name)));
        Object::from_members(
            known.map(|(name, member)| (name, self.outline.hollow(self.outline.value(object, member)))).collect(),
        )
    }

    fn place(&self, object: OutlinePlace, members: &[OutlineMember], name: &str) -> Result<OutlinePlace, &'static str> {
        let member = members.iter().find(|member| self.outline.name(**member).as_str() == Some(name));
        Ok(self.outline.value(object, *member.ok_or("a member is missing")?))
    }

    /// Lists or writes the members without one of these names, and the members that are `extra` nevertheless. Returns
    /// true if a name is like a JSON-LD keyword.
    fn extra(
        &mut self,
        object: OutlinePlace,
        members: &[OutlineMember],
        names: &[&str],
        extra: &mut ExtraMembers<'a>,
        part: WrittenPart,
    ) -> bool {
        let outline = self.outline;
        let is_extra = |member: &OutlineMember| match outline.name(*member) {
            name if name.as_str().is_some_and(|name| names.contains(&name)) => {
                extra.listed().iter().any(|(found, _)| *found == name)
            }
            _ => true,
        };
        let members: Vec<_> = members.iter().copied().filter(is_extra).collect();
        let few = members.iter().take(FEW + 1);
        let listed = few.map(|member| (outline.name(*member), outline.hollow(outline.value(object, *member))));
        let listed: Vec<_> = listed.collect();
        let is_small = |(_, value): &(_, Value<'_>)| !matches!(value, Value::Array(_) | Value::Object(_));
        if listed.len() > FEW || !listed.iter().all(is_small) {
            self.write(part, |writer, out| writer.object(object, &members, out));
        } else {
            *extra = ExtraMembers::Listed(listed);
        }
        members.iter().any(|member| outline.name(*member).as_str().is_some_and(is_keyword_like))
    }

    fn value(&mut self, part: WrittenPart, place: OutlinePlace) {
        self.write(part, |writer, out| {
            writer.value(place, out);
        });
    }

    fn write(&mut self, part: WrittenPart, write: impl FnOnce(&mut OutlineWriter<'_, 'a>, &mut String)) {
        let start = self.written.len();
        self.writer.interoperable = true;
        write(&mut self.writer, &mut self.written);
        self.parts.push((part, start..self.written.len(), self.writer.interoperable));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Content;
    use super::*;
    use crate::json::Numbers;

    /// Returns the whole message as text, with its payloads in canonical form.
    fn shown(single: &Single<'_>) -> String {
        let payload = |payload: &Payload<'_>| {
            let mut buffer = String::new();
            let (text, canonical) = payload.canonical(Numbers::Exact, &mut buffer).unwrap();
            format!("{text} {}", canonical.interoperable)
        };
        let extra = |extra: &ExtraMembers<'_>| match extra {
            ExtraMembers::Listed(members) if members.is_empty() => String::new(),
            ExtraMembers::Listed(members) => payload(&Value::Object(Object::from_members(members.clone())).into()),
            ExtraMembers::Canonical { text, interoperable } => format!("{text} {interoperable}"),
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
            let outline = Outline::new(text.as_bytes()).unwrap();
            for unknown in [false, true] {
                let parse = if unknown { Content::parse_without_result } else { Content::parse };
                let Content::Single(single) = parse(text.as_bytes()) else { panic!() };
                let large = LargeSingle::new(&outline, unknown);
                assert_eq!(shown(&large.single()), shown(&single), "{text}");
                assert_eq!(large.single().recognized(), single.recognized(), "{text}");
            }
        }
    }

    #[test]
    fn arrays_in_batches_too() {
        let text = r#"[{"a":1,"a":2}]"#;
        let single = Single::from_value(crate::json::parse(text.as_bytes()).unwrap());
        let outline = Outline::new(text.as_bytes()).unwrap();
        assert_eq!(shown(&LargeSingle::new(&outline, false).single()), shown(&single));
    }
}
