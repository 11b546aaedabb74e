//! A reader of messages that classifies whole values: the oracle of the scanner, which builds none.

#![cfg(test)]

use super::scanner::{HALF, LONG_ID, OTHER_ID, OTHER_METHOD};
use super::{
    Content, ErrorMember, ErrorObject, Id, Invalid, Kind, MAX_ID_DIGITS, Member, Message, Payload, PayloadBuffer,
    Problem, Problems, Scanner, Single, is_keyword_like,
};
use crate::json::{self, Object, Value};
use std::borrow::Cow;

fn content(text: &str, result_unknown: bool) -> Content<'_> {
    match json::parse(text.as_bytes()) {
        Ok(Value::Array(array)) => {
            Content::Batch(array.items.into_iter().map(|value| classified(value, false)).collect())
        }
        Ok(value) => Content::Single(classified(value, result_unknown)),
        Err(error) => Content::Malformed(error),
    }
}

fn classified(value: Value<'_>, result_unknown: bool) -> Single<'_> {
    let evidence = value.evidence();
    let mut problems = Problems::default();
    problems.insert_evidence(evidence);
    let text = value.raw().filter(|_| evidence.duplicate_member);
    let (reason, value) = match value {
        Value::Object(object) => match kind_of(&object, result_unknown) {
            Ok(kind) => return Single::Message(message(object, kind, problems, text)),
            Err(reason) => (reason, Value::Object(object)),
        },
        value => (not_an_object(&value), value),
    };
    Single::Invalid(Invalid { value: (&value).into(), reason, problems, text })
}

fn kind_of(object: &Object<'_>, result_unknown: bool) -> Result<Kind, &'static str> {
    let [method, id, result, error] = ["method", "id", "result", "error"].map(|name| object.get(name));
    if let Some(id) = id.filter(|id| Id::from_value(id).is_none()) {
        return Err(match id {
            Value::String(_) => HALF,
            Value::Number(_) => LONG_ID,
            _ => OTHER_ID,
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
        (Some(_), ..) => Err(OTHER_METHOD),
        (None, Some(_), None | Some(Value::Null)) => Ok(Kind::Response),
        (None, None | Some(Value::Null | Value::Bool(false)), Some(error)) if !matches!(error, Value::Null) => {
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

fn not_an_object(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "null, not an object",
        Value::Bool(_) => "a boolean, not an object",
        Value::Number(_) => "a number, not an object",
        Value::String(_) => "a string, not an object",
        Value::Array(_) | Value::Object(_) => "an array, not an object",
    }
}

fn message<'a>(object: Object<'a>, kind: Kind, mut problems: Problems, text: Option<&'a str>) -> Message<'a> {
    let mut message = Message { text, ..Message::new(kind) };
    let (mut versioned, mut has_null, mut has_false, mut extra) = (false, false, false, Vec::new());
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
                message.params = Some((&value).into());
                true
            }
            Some("result") if kind == Kind::Response => {
                message.result = Some((&value).into());
                true
            }
            Some("error") if kind == Kind::ErrorResponse => {
                message.error = Some(error_member(&value, &mut problems));
                true
            }
            other => {
                // A `result` or `error` that was not taken is null or false, beside the other one.
                has_null |= matches!(other, Some("result" | "error")) && matches!(value, Value::Null);
                has_false |= other == Some("result") && matches!(value, Value::Bool(false));
                problems.insert_if(other.is_some_and(is_keyword_like), Problem::KeywordMember);
                false
            }
        };
        if !taken {
            extra.push((name, value));
        }
    }
    message.extra = object_of(extra);
    problems.insert_if(!versioned, Problem::MissingVersion);
    // JSON-RPC 1.0 requires the null.
    let is_required = matches!(message.version.as_deref(), None | Some("1.0"));
    problems.insert_if(has_false || has_null && !is_required, Problem::BothResultAndError);
    message.problems = problems;
    message
}

fn error_member(value: &Value<'_>, problems: &mut Problems) -> ErrorMember<'static> {
    let Value::Object(object) = value else {
        problems.insert(Problem::ErrorNotObject);
        return ErrorMember::Other(value.into());
    };
    let (mut error, mut extra) = (ErrorObject::default(), Vec::new());
    for (name, value) in &object.members {
        let taken = match name.as_str() {
            Some("code") => {
                error.code = as_integer(value).map(Cow::Owned);
                error.code.is_some()
            }
            Some("message") => {
                error.message = value.to_cow().map(|text| text.into_owned().into());
                error.message.is_some()
            }
            Some("data") => {
                error.data = Some(value.into());
                true
            }
            other => {
                problems.insert_if(other.is_some_and(is_keyword_like), Problem::KeywordMember);
                false
            }
        };
        if !taken {
            extra.push((name.clone(), value.clone()));
        }
    }
    error.extra = object_of(extra);
    problems.insert_if(error.code.is_none(), Problem::BadErrorCode);
    problems.insert_if(error.message.is_none(), Problem::BadErrorMessage);
    ErrorMember::Object(error.into())
}

fn object_of(members: Vec<Member<'_>>) -> Option<Box<Payload<'static>>> {
    (!members.is_empty()).then(|| Box::new((&Value::Object(Object::from_members(members))).into()))
}

fn as_integer(value: &Value<'_>) -> Option<String> {
    let Value::Number(number) = value else { return None };
    let decimal = number.to_decimal();
    if decimal.is_integer() { decimal.to_plain(MAX_ID_DIGITS) } else { None }
}

/// Returns the content as text, without what is known of the places of members.
fn shown(content: &Content<'_>) -> String {
    let mut content = content.clone();
    let forget = |payload: &mut Payload<'_>| payload.members = None;
    for single in content.elements_mut() {
        match single {
            Single::Invalid(invalid) => forget(&mut invalid.value),
            Single::Message(Message { params, result, error, extra, .. }) => {
                [params, result].into_iter().flatten().for_each(forget);
                extra.as_deref_mut().into_iter().for_each(forget);
                match error {
                    Some(ErrorMember::Other(payload)) => forget(payload),
                    Some(ErrorMember::Object(error)) => {
                        error.data.as_mut().into_iter().chain(error.extra.as_deref_mut()).for_each(forget);
                    }
                    None => {}
                }
            }
        }
    }
    format!("{content:?}")
}

const TEXTS: &[&str] = &[
    "",
    "1",
    "nul",
    "[]",
    "[",
    "[1,]",
    "[1,[],\"a\",null,{\"method\":\"m\"}]",
    r#"[{"a":1,"a":2},{"method":"m","x":1},{"id":1,"error":{"code":1,"message":"m","data":[1],"y":{}}}]"#,
    r#"[{"method":"m","params":{"b":1,"a":2},"z":{"b":1,"a":2}},{"result":"\u00e9","id":1},{"id":{}}] "#,
    r#"[{"method":"m"},{"method":"m",}]"#,
    r#" "a\ud800" "#,
    r#" {"jsonrpc":"2.0","id":1,"method":"m","params":{"b":[1e2,{"x":null}],"a":"\u00e9"}} "#,
    r#"{"method":"m","params":7,"params":{"a":1}}"#,
    r#"{"method":"m","params":{"a":1},"params":7}"#,
    r#"{"method":"m","params":[{"a":1,"\u0061":2}],"extra":{"b":1,"a":[]},"@type":1}"#,
    r#"{"method":"m","params":"\ud800","jsonrpc":2}"#,
    r#"{"method":"m","jsonrpc":{"a":1}}"#,
    r#"{"method":"m","jsonrpc":"\ud800"}"#,
    r#"{"method":"m","jsonrpc":"2.0","jsonrpc":2}"#,
    r#"{"method":"m","jsonrpc":2,"jsonrpc":"2.0"}"#,
    r#"{"method":"m","jsonrpc":[1,],"jsonrpc":"2.0"}"#,
    r#"{"method":"m","id":{"a":01},"id":1}"#,
    r#"{"method":"m","id":{"a":"\ud800"},"id":1}"#,
    r#"{"method":"m","id":{"a":1},"id":1}"#,
    r#"{"method":"m","id":1,"id":{"a":1}}"#,
    r#"{"method":"m","id":-1.50e1,"x":1.0}"#,
    r#"{"method":"m","id":"\u0061","x":1e400}"#,
    r#"{"method":7,"method":"m"}"#,
    r#"{"m\u0065thod":"\u0061/b","\u0069d":1,"\ud800":1,"p\u0061rams":[]}"#,
    r#"{"method":"m","method":"n","m\u0065thod":"o"}"#,
    r#"{"method":"\ud800"}"#,
    r#"{"method":"\ud800","result":1}"#,
    r#"{"method":["m"],"id":1}"#,
    r#"{"method":["m"],"result":1}"#,
    r#"{"method":"m","result":1}"#,
    r#"{"id":{},"method":"m"}"#,
    r#"{"id":true,"method":"m"}"#,
    r#"{"id":"\ud800","method":"m"}"#,
    r#"{"id":null,"method":"m"}"#,
    r#"{"id":nope,"method":"m"}"#,
    r#"{"id":1.0}"#,
    r#"{"id":1,"result":{"b":1,"a":2},"error":null}"#,
    r#"{"id":1,"error":null,"result":{"b":1,"a":2},"x":[1 , 2]}"#,
    r#"{"id":1,"result":null,"error":null}"#,
    r#"{"id":1,"error":null}"#,
    r#"{"id":1,"result":1,"error":{"code":1}}"#,
    r#"{"id":1,"result":1,"params":[2],"error":null}"#,
    r#"{"id":1,"result":null,"error":{"code":-32601.0,"message":"m","data":{"z":[],"a":1},"more":{}}}"#,
    r#"{"error":{"code":"x","message":7,"data":null,"code":{"y":1}}}"#,
    r#"{"error":{"code":{"y":1},"code":7,"message":"m","message":"n"}}"#,
    r#"{"error":{"code":-0,"message":"\u0061","@id":1,"@graph":{}},"@x":1}"#,
    r#"{"error":{"data":1,"x":2},"error":{"code":1,"message":"m"}}"#,
    r#"{"error":{"code":1,"message":"m"},"error":[1]}"#,
    r#"{"error":[1],"error":{"data":{"x":1,"x":2}}}"#,
    r#"{"error":{"message":"\ud800"}}"#,
    r#"{"error":{"message":"\ud800","message":"m"}}"#,
    r#"{"error":["a",{"b":1}],"id":"x"}"#,
    r#"{"error":"text","jsonrpc":"2.0"}"#,
    r#"{"b":1,"method":"m","a":{"d":1,"c":2},"b":"\ud800","aa":[{"z":1,"y":2,"z":3}]}"#,
    r#"{"method":"m","x":[}}"#,
    r#"{"method":"m","x":,"y":1}"#,
    r#"{"method":"m","x": : 1}"#,
    r#"{"method":"m","x":[},"y":{]}"#,
    r#"{"method":"m","x":1 2}"#,
    r#"{"method":"m","x":01}"#,
    r#"{"method":"m","x":tru}"#,
    r#"{"method":"m","x":"\x"}"#,
    "{\"method\":\"m\",\"x\":\"\u{1}\"}",
    r#"{"method":"m","x":1"#,
    r#"{"method":"m","x""#,
    r#"{"method":"m","x":}"#,
    r#"{"method":"m"} {"#,
    r#"{"method":"m",}"#,
    r#"{"id":[1,],"method":"m"}"#,
    r#"{"method":["m",]}"#,
    r#"{"error":{"code":[1,],"message":"m"}}"#,
    r#"{"error":{"code":1,"message":"m","x":[1,]}}"#,
];

fn assert_same(text: &str) {
    for unknown in [false, true] {
        let expected = content(text, unknown);
        let mut payloads = PayloadBuffer::default();
        let mut scanner = Scanner::default();
        // The buffer holds the payloads of other messages, too.
        scanner.scan(br#"{"method":"m","params":{"b":1,"a":2},"x":1}"#, false, &mut payloads);
        let mut scanned = scanner.scan(text.as_bytes(), unknown, &mut payloads);
        scanned.lend(&payloads);
        assert_eq!(shown(&scanned.content), shown(&expected), "{text}");
        assert_eq!(scanned.content.certainty(), expected.certainty(), "{text}");
        let parse = if unknown { Content::parse_without_result } else { Content::parse };
        assert_eq!(shown(&parse(text.as_bytes())), shown(&expected), "{text}");
    }
}

#[test]
fn messages_are_read_as_values_are() {
    TEXTS.iter().for_each(|text| assert_same(text));
    let many: String = (0..100).map(|i| format!(r#","x{}":{i}"#, 99 - i)).collect();
    assert_same(&format!(r#"{{"method":"m"{many}}}"#));
    assert_same(&format!(r#"{{"error":{{"code":1{many},"@id":1}}}}"#));
    assert_same(&format!(r#"{{"method":"m","id":1{}}}"#, "0".repeat(1100)));
}

#[test]
fn messages_are_read_as_values_are_wherever_they_are_cut() {
    for text in TEXTS.iter().filter(|text| text.is_ascii()) {
        (0..text.len()).for_each(|end| assert_same(&text[..end]));
    }
}

#[test]
fn nesting_is_limited_everywhere() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    for levels in 1021..=1024 {
        for (before, behind) in [
            ("", ""),
            (r#"{"method":"m","params":"#, "}"),
            (r#"{"method":"m","x":"#, "}"),
            (r#"{"id":"#, "}"),
            (r#"{"error":{"data":"#, "}}"),
            (r#"{"error":{"x":"#, "}}"),
            (r#"[{"method":"m","params":"#, "}]"),
            (r#"[{"method":"m","x":"#, "}]"),
            (r#"[{"error":{"x":"#, "}}]"),
            (r#"{"method":"m","id":"#, r#","id":1}"#),
        ] {
            assert_same(&format!("{before}{}{behind}", deep(levels)));
        }
    }
}

/// Payloads apart, messages are the same without payloads.
#[test]
fn payloads_that_are_not_written_are_checked() {
    let shown = |text: &str, written: bool| {
        let mut scanner = Scanner::default().with_payloads(written);
        match scanner.scan(text.as_bytes(), false, &mut PayloadBuffer::default()).content {
            Content::Single(Single::Message(Message { kind, id, method, problems, .. })) => {
                Some(format!("{kind:?} {id:?} {method:?} {problems:?}"))
            }
            _ => None,
        }
    };
    let is_same = |payload: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{payload}}}"#);
        assert_eq!(shown(&text, true), shown(&text, false), "{payload}");
        shown(&text, true).is_some()
    };
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let some = r#" { "b" : [ 1 , -2.5e3 , true , false , null , "x\n\u00e9\ud83d\ude00" ] , "a" : { } } "#;
    assert!(["[]", "{}", "7", some, &deep(1023)].into_iter().all(is_same));
    let wrong = ["", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "{1:2}", "{\"a\":1,}", "[\"\u{1}\"]", "[\"\\x\"]", "[01]"];
    assert!(!wrong.into_iter().chain(["[tru]", "[}", "[", &deep(1024)]).any(is_same));
}

#[test]
fn members_of_payloads_are_found_in_their_places() {
    for (payload, is_known) in [
        ("{}", true),
        ("[{\"a\":1}]", true),
        (r#"{"a":1,"b":{"d":2,"c":[{"f":3,"e":4}]},"c":"x"}"#, true),
        (r#"{"b":{"y":1,"x":2},"a":[{"z":1,"y":2}],"":"\u0041"}"#, true),
        (r#" { "b" : 1.0 , "a" : { "c" : { } } } "#, true),
        (r#"{"a":1,"b":{"b":{"b":1,"a":1},"a":2}}"#, true),
        (r#"{"a":1,"a":2}"#, false),
        (r#"{"\u0062":1,"a":2}"#, false),
    ] {
        let text = format!(r#"{{"method":"m","params":{payload}}}"#);
        let (mut scanner, mut payloads) = (Scanner::default(), PayloadBuffer::default());
        scanner.scan(br#"{"method":"m","params":{"b":1,"a":2}}"#, false, &mut payloads);
        let mut scanned = scanner.scan(text.as_bytes(), false, &mut payloads);
        scanned.lend(&payloads);
        let [Single::Message(message)] = scanned.content.elements() else { panic!("{text}") };
        let params = message.params.as_ref().unwrap();
        assert_eq!(params.members.is_some(), is_known, "{payload}");
        let mut members = Vec::new();
        params.view().each_member(&mut |name, value| members.push((name, value)));
        assert_eq!(members, json::members(&params.text).collect::<Vec<_>>(), "{payload}");
    }
}
