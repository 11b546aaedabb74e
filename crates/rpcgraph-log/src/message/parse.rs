//! Parsing the bytes of a record to its content.

use std::borrow::Cow;

use super::{
    Content, ErrorMember, ErrorObject, ExtraMembers, Id, Invalid, Kind, MAX_ID_DIGITS, Message, Payload, Problem,
    Problems, Single,
};
use crate::json::{self, Object, Text, Value};
use crate::record::Record;

impl<'a> Content<'a> {
    /// Parses the content of a record.
    ///
    /// The members decide which message it is (`·` absent, `*` anything):
    ///
    /// | method | id | result | error | it is |
    /// |---|---|---|---|---|
    /// | string | present | · | · | Request |
    /// | string | ·, or null without `jsonrpc` | · | · | Notification |
    /// | · | * | present | · or null | Response |
    /// | · | * | · or null | present and not null | ErrorResponse |
    ///
    /// Anything else is [`Single::Invalid`], also anything with an id that [`Id::from_value`] rejects, or with a lone
    /// surrogate in its method, its id or its error message. An array is a [`Content::Batch`].
    pub fn parse(bytes: &'a [u8]) -> Self {
        Self::classified(bytes, false)
    }

    /// Parses the content of a record, as far as the log holds it.
    pub fn of(record: &'a Record<'_>) -> Self {
        match record.flags.result_unknown {
            _ if record.is_exchange() => Self::Exchange,
            true => Self::parse_without_result(&record.bytes),
            false => Self::parse(&record.bytes),
        }
    }

    /// Parses the content of a record for which the log says that there was a result, but not which one. An object with
    /// only an id is then also a Response, without a result.
    pub fn parse_without_result(bytes: &'a [u8]) -> Self {
        Self::classified(bytes, true)
    }

    fn classified(bytes: &'a [u8], result_unknown: bool) -> Self {
        match json::parse(bytes) {
            Ok(Value::Array(array)) => Self::Batch(array.items.into_iter().map(Single::from_value).collect()),
            Ok(value) => Self::Single(Single::classified(value, result_unknown, &|value| value.into())),
            Err(error) => Self::Malformed(error),
        }
    }
}

/// Writes a payload.
pub(super) type WritePayload<'w, 'a> = &'w dyn Fn(&Value<'a>) -> Payload<'a>;

impl<'a> Single<'a> {
    /// Classifies a JSON value: see [`Content::parse`].
    pub fn from_value(value: Value<'a>) -> Self {
        Self::classified(value, false, &|value| value.into())
    }

    /// Classifies a JSON value, with `result_unknown` as in [`Content::parse_without_result`].
    pub(super) fn classified(value: Value<'a>, result_unknown: bool, payload: WritePayload<'_, 'a>) -> Self {
        let evidence = value.evidence();
        let mut problems = Problems::default();
        problems.insert_evidence(evidence);
        let text = value.raw().filter(|_| evidence.duplicate_member);

        let (reason, value) = match value {
            Value::Object(object) => match kind_of(&object, result_unknown) {
                Ok(kind) => return Self::Message(message(object, kind, problems, text, payload)),
                Err(reason) => (reason, Value::Object(object)),
            },
            value => (not_an_object(&value), value),
        };
        Self::Invalid(Invalid { value: payload(&value), reason, problems, text })
    }
}

/// The reason if an id, method or error message has a lone surrogate.
const HALF: &str = "half of a surrogate pair in id, method or error message";

/// Returns the kind according to the table, or the reason why the object is not a message.
fn kind_of(object: &Object<'_>, result_unknown: bool) -> Result<Kind, &'static str> {
    let [method, id, result, error] = ["method", "id", "result", "error"].map(|name| object.get(name));
    if let Some(id) = id.filter(|id| Id::from_value(id).is_none()) {
        return Err(match id {
            Value::String(_) => HALF,
            Value::Number(_) => "an id of more than 1,024 digits",
            _ => "an id that is not a string, number or null",
        });
    }
    match (method, result, error) {
        (Some(method @ Value::String(_)), None, None) => {
            method.to_cow().ok_or(HALF)?;
            // In JSON-RPC 1.0, a null id marks a notification.
            let is_request = id.is_some_and(|id| !matches!(id, Value::Null) || object.get("jsonrpc").is_some());
            Ok(if is_request { Kind::Request } else { Kind::Notification })
        }
        (Some(Value::String(_)), ..) => Err("a method, and a result or error"),
        (Some(_), ..) => Err("a method that is not a string"),
        (None, Some(_), None | Some(Value::Null)) => Ok(Kind::Response),
        (None, None | Some(Value::Null), Some(error)) if !matches!(error, Value::Null) => {
            if let Some(message @ Value::String(_)) = error.member("message") {
                message.to_cow().ok_or(HALF)?;
            }
            Ok(Kind::ErrorResponse)
        }
        (None, Some(_), Some(_)) => Err("both a result and an error"),
        (None, None, Some(_)) => Err("a null error, and no result"),
        (None, None, None) if result_unknown && id.is_some() => Ok(Kind::Response),
        (None, None, None) => Err("no method, result or error"),
    }
}

/// Returns the reason why a value that is not an object is not a message.
fn not_an_object(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "null, not an object",
        Value::Bool(_) => "a boolean, not an object",
        Value::Number(_) => "a number, not an object",
        Value::String(_) => "a string, not an object",
        Value::Array(_) | Value::Object(_) => "an array, not an object",
    }
}

fn message<'a>(
    object: Object<'a>,
    kind: Kind,
    mut problems: Problems,
    text: Option<&'a str>,
    payload: WritePayload<'_, 'a>,
) -> Message<'a> {
    let mut message = Message { text, ..Message::new(kind) };
    let (mut versioned, mut extra) = (false, Vec::new());
    for (name, value) in object.members {
        let taken = match name.as_str() {
            Some("jsonrpc") => {
                versioned = true;
                message.version = value.to_cow();
                problems.insert_if(message.version.as_deref() != Some("2.0"), Problem::WrongVersion);
                message.version.is_some()
            }
            Some("id") => {
                message.id = Id::from_value(&value);
                problems.insert_if(kind == Kind::Request && message.id == Some(Id::Null), Problem::NullRequestId);
                true
            }
            Some("method") => {
                message.method = value.to_cow();
                true
            }
            Some("params") => {
                problems.insert_if(!matches!(value, Value::Array(_) | Value::Object(_)), Problem::ScalarParams);
                message.params = Some(payload(&value));
                continue;
            }
            Some("result") if kind == Kind::Response => {
                message.result = Some(payload(&value));
                continue;
            }
            Some("error") if kind == Kind::ErrorResponse => {
                message.error = Some(error_member(value, &mut problems, payload));
                continue;
            }
            other => {
                // A `result` or `error` that was not taken is null, beside the other one.
                problems.insert_if(matches!(other, Some("result" | "error")), Problem::BothResultAndError);
                false
            }
        };
        if !taken {
            extra.push((name, value));
        }
    }
    message.extra = ExtraMembers::Listed(extra);
    problems.insert_if(!versioned, Problem::MissingVersion);
    problems.insert_if(has_keyword(&message), Problem::KeywordMember);
    message.problems = problems;
    message
}

fn error_member<'a>(value: Value<'a>, problems: &mut Problems, payload: WritePayload<'_, 'a>) -> ErrorMember<'a> {
    let object = match value {
        Value::Object(object) => object,
        other => {
            problems.insert(Problem::ErrorNotObject);
            return ErrorMember::Other(payload(&other));
        }
    };
    let (mut error, mut extra) = (ErrorObject::default(), Vec::new());
    for (name, value) in object.members {
        let taken = match name.as_str() {
            Some("code") => {
                error.code = as_integer(&value).map(Cow::Owned);
                error.code.is_some()
            }
            Some("message") => {
                error.message = value.to_cow();
                error.message.is_some()
            }
            Some("data") => {
                error.data = Some(payload(&value));
                continue;
            }
            _ => false,
        };
        if !taken {
            extra.push((name, value));
        }
    }
    error.extra = ExtraMembers::Listed(extra);
    problems.insert_if(error.code.is_none(), Problem::BadErrorCode);
    problems.insert_if(error.message.is_none(), Problem::BadErrorMessage);
    ErrorMember::Object(error.into())
}

/// Returns the digits of a number that is an integer in any spelling, such as `1.0`.
fn as_integer(value: &Value<'_>) -> Option<String> {
    let Value::Number(number) = value else { return None };
    let decimal = number.to_decimal();
    if decimal.is_integer() { decimal.to_plain(MAX_ID_DIGITS) } else { None }
}

/// True if a member that is mapped, or would be mapped under another name, is named like a JSON-LD keyword.
fn has_keyword(message: &Message<'_>) -> bool {
    let keyword = |(name, _): &(Text<'_>, Value<'_>)| name.as_str().is_some_and(is_keyword_like);
    message.extra.listed().iter().any(keyword)
        || matches!(&message.error, Some(ErrorMember::Object(error)) if error.extra.listed().iter().any(keyword))
}

/// True if JSON-LD reserves the name: `@` and then letters only (JSON-LD 1.1, section 1.7).
pub fn is_keyword_like(name: &str) -> bool {
    name.strip_prefix('@').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphabetic()))
}
