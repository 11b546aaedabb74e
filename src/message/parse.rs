//! From the bytes of a record to its content.

use std::borrow::Cow;

use super::{Content, ErrorMember, ErrorObject, Id, Invalid, Kind, MAX_ID_DIGITS, Message, Problem, Problems, Single};
use crate::json::{self, Object, Text, Value};

impl<'a> Content<'a> {
    /// Reads the content of a record.
    ///
    /// Which message it is, its members decide (`·` absent, `*` anything):
    ///
    /// | method | id | result | error | it is |
    /// |---|---|---|---|---|
    /// | string | present | · | · | Request |
    /// | string | · | · | · | Notification |
    /// | · | * | present | · or null | Response |
    /// | · | * | · or null | present and not null | ErrorResponse |
    ///
    /// Anything else is [`Single::Invalid`], as is whatever has an id that [`Id::from_value`] refuses, or a lone
    /// surrogate in its method, its id or its error's message. An array is a [`Content::Batch`].
    pub fn parse(bytes: &'a [u8]) -> Self {
        json::parse(bytes).into()
    }

    /// Reads the content of a record of which the log tells that there was a result, but not which: an object with an id
    /// and nothing else is then a Response too, without a result.
    pub fn parse_without_result(bytes: &'a [u8]) -> Self {
        let mut content = Self::parse(bytes);
        if let Self::Single(Single::Invalid(Invalid { value: Value::Object(object), problems, text })) = &content
            && object.get("id").is_some_and(|id| Id::from_value(id).is_some())
            && ["method", "result", "error"].iter().all(|name| object.get(name).is_none())
        {
            content = Self::Single(Single::Message(message(object.clone(), Kind::Response, *problems, *text)));
        }
        content
    }
}

/// See [`Content::parse`].
impl<'a> From<Result<Value<'a>, json::Error>> for Content<'a> {
    fn from(parsed: Result<Value<'a>, json::Error>) -> Self {
        match parsed {
            Ok(Value::Array(array)) => Self::Batch(array.items.into_iter().map(Single::from_value).collect()),
            Ok(value) => Self::Single(Single::from_value(value)),
            Err(error) => Self::Malformed(error),
        }
    }
}

impl<'a> Single<'a> {
    /// Classifies one JSON value: see [`Content::parse`].
    pub fn from_value(value: Value<'a>) -> Self {
        let evidence = value.evidence();
        let mut problems = Problems::default();
        problems.insert_if(evidence.duplicate_member, Problem::DuplicateMember);
        problems.insert_if(evidence.lone_surrogate, Problem::LoneSurrogate);
        let text = if evidence.duplicate_member { raw(&value) } else { None };

        match value {
            Value::Object(object) => match kind_of(&object) {
                Some(kind) => Self::Message(message(object, kind, problems, text)),
                None => Self::Invalid(Invalid { value: Value::Object(object), problems, text }),
            },
            value => Self::Invalid(Invalid { value, problems, text }),
        }
    }
}

fn raw<'a>(value: &Value<'a>) -> Option<&'a str> {
    match value {
        Value::Object(object) => Some(object.raw),
        Value::Array(array) => Some(array.raw),
        _ => None,
    }
}

/// The kind that the table gives, or nothing where the object is no message.
fn kind_of(object: &Object<'_>) -> Option<Kind> {
    let (mut method, mut id, mut result, mut error) = (None, None, None, None);
    for (name, value) in &object.members {
        match name.as_str() {
            Some("method") => method = Some(value),
            Some("id") => id = Some(value),
            Some("result") => result = Some(value),
            Some("error") => error = Some(value),
            _ => {}
        }
    }
    if id.is_some_and(|id| Id::from_value(id).is_none()) {
        return None;
    }
    match (method, result, error) {
        (Some(Value::String(method)), None, None) => {
            method.as_str()?;
            Some(if id.is_some() { Kind::Request } else { Kind::Notification })
        }
        (None, Some(_), None | Some(Value::Null)) => Some(Kind::Response),
        (None, None | Some(Value::Null), Some(error)) if !matches!(error, Value::Null) => {
            if let Value::Object(error) = error
                && let Some(Value::String(message)) = error.get("message")
            {
                message.as_str()?;
            }
            Some(Kind::ErrorResponse)
        }
        _ => None,
    }
}

fn message<'a>(object: Object<'a>, kind: Kind, mut problems: Problems, text: Option<&'a str>) -> Message<'a> {
    let mut message = Message { text, ..Message::new(kind) };
    let mut versioned = false;
    for (name, value) in object.members {
        match (name.as_str(), value) {
            (Some("jsonrpc"), value) => {
                versioned = true;
                message.version = as_string(&value);
                problems.insert_if(message.version.as_deref() != Some("2.0"), Problem::WrongVersion);
                if message.version.is_none() {
                    message.extra.push((name, value));
                }
            }
            (Some("id"), value) => {
                message.id = Id::from_value(&value);
                let null = kind == Kind::Request && message.id == Some(Id::Null);
                problems.insert_if(null, Problem::NullRequestId);
            }
            (Some("method"), value) => message.method = as_string(&value),
            (Some("params"), value) => {
                let structured = matches!(value, Value::Array(_) | Value::Object(_));
                problems.insert_if(!structured, Problem::ScalarParams);
                message.params = Some(value.into());
            }
            (Some("result"), value) if kind == Kind::Response => message.result = Some(value.into()),
            (Some("error"), value) if kind == Kind::ErrorResponse => {
                message.error = Some(error_member(value, &mut problems));
            }
            // What is left of `result` and `error` is null beside the other one.
            (Some("result" | "error"), value) => {
                problems.insert(Problem::BothResultAndError);
                message.extra.push((name, value));
            }
            (_, value) => message.extra.push((name, value)),
        }
    }
    problems.insert_if(!versioned, Problem::MissingVersion);
    problems.insert_if(has_keyword(&message), Problem::KeywordMember);
    message.problems = problems;
    message
}

fn error_member<'a>(value: Value<'a>, problems: &mut Problems) -> ErrorMember<'a> {
    let object = match value {
        Value::Object(object) => object,
        other => {
            problems.insert(Problem::ErrorNotObject);
            return ErrorMember::Other(other);
        }
    };
    let mut error = ErrorObject::default();
    for (name, value) in object.members {
        match name.as_str() {
            Some("code") => {
                error.code = as_integer(&value).map(Cow::Owned);
                if error.code.is_none() {
                    error.extra.push((name, value));
                }
            }
            Some("message") => {
                error.message = as_string(&value);
                if error.message.is_none() {
                    error.extra.push((name, value));
                }
            }
            Some("data") => error.data = Some(value.into()),
            _ => error.extra.push((name, value)),
        }
    }
    problems.insert_if(error.code.is_none(), Problem::BadErrorCode);
    problems.insert_if(error.message.is_none(), Problem::BadErrorMessage);
    ErrorMember::Object(error)
}

fn as_string<'a>(value: &Value<'a>) -> Option<Cow<'a, str>> {
    match value {
        Value::String(text) => text.to_cow(),
        _ => None,
    }
}

/// The digits of a number that is an integer, however it is spelled (`1.0` is one).
fn as_integer(value: &Value<'_>) -> Option<String> {
    let Value::Number(number) = value else { return None };
    let decimal = number.to_decimal();
    if decimal.is_integer() { decimal.to_plain(MAX_ID_DIGITS) } else { None }
}

/// Whether a member that is mapped, or would be but for its name, is named like a JSON-LD keyword.
fn has_keyword(message: &Message<'_>) -> bool {
    let keyword = |(name, _): &(Text<'_>, Value<'_>)| name.as_str().is_some_and(is_keyword_like);
    message.extra.iter().any(keyword)
        || matches!(&message.error, Some(ErrorMember::Object(error)) if error.extra.iter().any(keyword))
}

/// Whether JSON-LD reserves the name: `@` and then letters only (JSON-LD 1.1, section 1.7).
pub(crate) fn is_keyword_like(name: &str) -> bool {
    name.strip_prefix('@').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphabetic()))
}
