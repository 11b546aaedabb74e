//! Which message is it? The specification's examples and those of the texts around it, and the table's corners.

use std::fs;
use std::path::Path;

use rpcgraph::message::{Content, Kind, Problem, Single};

use crate::support::{corpora, own};

/// The class of one value, as the table calls it.
fn class(single: &Single<'_>) -> &'static str {
    match single {
        Single::Message(message) => match message.kind {
            Kind::Request => "Request",
            Kind::Notification => "Notification",
            Kind::Response => "Response",
            Kind::ErrorResponse => "ErrorResponse",
        },
        Single::Invalid(_) => "InvalidMessage",
    }
}

/// The class of a record, for a batch those of its elements in brackets.
fn classes(record: &str) -> String {
    match Content::parse(record.as_bytes()) {
        Content::Single(single) => class(&single).to_owned(),
        Content::Batch(elements) => format!("[{}]", elements.iter().map(class).collect::<Vec<_>>().join(" ")),
        Content::Malformed(_) => "MalformedRecord".to_owned(),
        Content::Exchange => "HttpExchange".to_owned(),
    }
}

fn problems(record: &str) -> String {
    let problems = match Content::parse(record.as_bytes()) {
        Content::Single(single) => single.problems(),
        _ => panic!("{record} is no single message"),
    };
    problems.iter().map(Problem::name).collect::<Vec<_>>().join(" ")
}

#[test]
fn examples_of_the_specification() {
    assert_specification(&own("tests/logs/specification"));
    if let Some(corpora) = corpora() {
        assert_specification(&corpora.join("jsonrpc-spec-examples"));
    }
}

/// Asserts what the examples of section 7 are, one in a line.
fn assert_specification(folder: &Path) {
    let examples = fs::read_to_string(folder.join("messages.ndjson")).unwrap();
    let found: Vec<_> = examples.lines().map(classes).collect();
    assert_eq!(
        found,
        [
            "Request",
            "Response",
            "Request",
            "Response",
            "Request",
            "Response",
            "Request",
            "Response",
            "Notification",
            "Notification",
            "Request",
            "ErrorResponse",
            "ErrorResponse",
            "InvalidMessage",
            "ErrorResponse",
            "ErrorResponse",
            "[]",
            "ErrorResponse",
            "[InvalidMessage]",
            "[ErrorResponse]",
            "[InvalidMessage InvalidMessage InvalidMessage]",
            "[ErrorResponse ErrorResponse ErrorResponse]",
            "[Request Notification Request InvalidMessage Request Request]",
            "[Response Response ErrorResponse ErrorResponse Response]",
            "[Notification Notification]",
        ]
    );
    let broken = fs::read_to_string(folder.join("not-json.txt")).unwrap();
    let broken: Vec<_> = broken.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(broken.len(), 2);
    assert!(broken.iter().all(|line| classes(line) == "MalformedRecord"));
}

/// Every JSON object or array in a text, whole, wherever it stands.
fn json_in(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '[']) {
        rest = &rest[at..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<serde_json::Value>();
        match stream.next() {
            Some(Ok(_)) => {
                let (value, after) = rest.split_at(stream.byte_offset());
                found.push(value);
                rest = after;
            }
            _ => rest = &rest[1..],
        }
    }
    found
}

#[test]
fn demonstrations_of_the_texts_around_the_specification() {
    // Objects, and arrays that hold some: a text has other brackets too.
    let class_of = |text: &str| -> Vec<String> {
        json_in(text).into_iter().filter(|value| value.contains('{')).map(classes).collect()
    };
    let text = r#"
        A call [request] carries {"jsonrpc": "2.0", "method": "add", "params": [1, 2], "id": 7}, and is answered
            {"jsonrpc": "2.0",
             "result": {"sum": 3}, "id": 7}
        or, where {method} is unknown, {"jsonrpc": "2.0", "error": {"code": -32601, "message": "?"}, "id": 7}.
        Named parameters look like {"a": 1, "b": 2} or {}. Several calls [1, 2] go together:
            [{"jsonrpc": "2.0", "method": "log", "params": {"text": "[{"}}, {"method": "add", "id": 8}]
        and a cut one like {"jsonrpc": "2.0", "method" is not anything."#;
    assert_eq!(
        class_of(text),
        ["Request", "Response", "ErrorResponse", "InvalidMessage", "InvalidMessage", "[Notification Request]"]
    );

    let Some(corpora) = corpora() else { return };
    let read = |name: &str| fs::read_to_string(corpora.join("../reference").join(name)).unwrap();
    assert_eq!(
        class_of(&read("json-rpc-grammar-under-mcp.txt")),
        [
            "Request",
            "Notification",
            "Response",
            "ErrorResponse",
            // `[request] method="add"` is no JSON; what the server answers is
            "Response",
            "InvalidMessage", // {"msg":"warming up"}, the parameters that the server logged
            "ErrorResponse",
        ]
    );
    assert_eq!(
        class_of(&read("json-rpc-in-practice.txt")),
        [
            "Request", // the two elements of a batch whose array, in Python, ends in a comma
            "Request",
            "Response",
            "[Response Response]",
            "InvalidMessage", // `jsonrpc` alone
            "Notification",
            "InvalidMessage", // {} and named parameters
            "InvalidMessage",
            "Notification", // a call shown without its id
            "Request",
            "Notification",
            "InvalidMessage", // {} and named parameters again
            "InvalidMessage",
            "Response",
            "ErrorResponse",
        ]
    );
    assert_eq!(
        class_of(&read("json-rpc-2.0-specification-zh.txt")),
        [
            "Request",
            "Response",
            "Request",
            "Response",
            "Request",
            "Response",
            "Request",
            "Response",
            "Notification",
            "Notification",
            "Request",
            "ErrorResponse",
            "ErrorResponse",
            "InvalidMessage",
            "ErrorResponse",
            "[Request Notification]", // cut off in the original, whole in this rendering
            "ErrorResponse",
            "ErrorResponse",
            "[ErrorResponse]",
            "[ErrorResponse ErrorResponse ErrorResponse]",
            "[Request Notification Request InvalidMessage Request Request]",
            "[Response Response ErrorResponse ErrorResponse Response]",
            "[Notification Notification]",
        ]
    );
}

#[test]
fn every_row_of_the_table() {
    for (record, expected) in [
        (r#"{"method":"m","id":0}"#, "Request"),
        (r#"{"method":"m","id":""}"#, "Request"),
        (r#"{"method":"m","id":null}"#, "Request"),
        (r#"{"method":"","id":-1.5e3}"#, "Request"),
        (r#"{"method":"m"}"#, "Notification"),
        (r#"{"method":"m","params":null}"#, "Notification"),
        (r#"{"result":null}"#, "Response"),
        (r#"{"id":1,"result":0}"#, "Response"),
        (r#"{"id":1,"result":false,"error":null}"#, "Response"),
        (r#"{"id":1,"result":null,"error":null}"#, "Response"),
        (r#"{"error":{}}"#, "ErrorResponse"),
        (r#"{"id":null,"error":0}"#, "ErrorResponse"),
        (r#"{"id":1,"error":false,"result":null}"#, "ErrorResponse"),
        (r#"{"id":1,"error":{"message":"m","code":1},"params":[]}"#, "ErrorResponse"),
        // Anything else
        (r#"{"method":"m","id":1,"result":1}"#, "InvalidMessage"),
        (r#"{"method":"m","id":1,"result":null}"#, "InvalidMessage"),
        (r#"{"method":"m","error":null}"#, "InvalidMessage"),
        (r#"{"method":null,"id":1}"#, "InvalidMessage"),
        (r#"{"method":1,"result":1}"#, "InvalidMessage"),
        (r#"{"method":["m"]}"#, "InvalidMessage"),
        (r#"{"id":1}"#, "InvalidMessage"),
        (r#"{"id":1,"error":null}"#, "InvalidMessage"),
        (r#"{"id":1,"result":1,"error":{}}"#, "InvalidMessage"),
        (r#"{"id":{},"method":"m"}"#, "InvalidMessage"),
        (r#"{"id":[1],"result":1}"#, "InvalidMessage"),
        (r#"{"id":true,"method":"m"}"#, "InvalidMessage"),
        (r#"{"jsonrpc":"2.0"}"#, "InvalidMessage"),
        ("{}", "InvalidMessage"),
        ("1", "InvalidMessage"),
        ("null", "InvalidMessage"),
        // A lone surrogate where the text has to be text
        (r#"{"method":"\ud800"}"#, "InvalidMessage"),
        (r#"{"method":"m","id":"\udc00"}"#, "InvalidMessage"),
        (r#"{"id":1,"error":{"code":1,"message":"\ud800x"}}"#, "InvalidMessage"),
        (r#"{"method":"m","params":["\ud800"]}"#, "Notification"),
        // The last of two members counts
        (r#"{"method":1,"method":"m"}"#, "Notification"),
        (r#"{"method":"m","method":1}"#, "InvalidMessage"),
        // Batches
        ("[]", "[]"),
        (r#"[{"method":"m"},[],{"result":1}]"#, "[Notification InvalidMessage Response]"),
        // No JSON
        ("", "MalformedRecord"),
        ("{'method':'m'}", "MalformedRecord"),
        (r#"{"method":"m"} x"#, "MalformedRecord"),
    ] {
        assert_eq!(classes(record), expected, "{record}");
    }
}

#[test]
fn problems_are_noted() {
    for (record, expected) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[]}"#, ""),
        (r#"{"id":1,"method":"m"}"#, "MissingVersion"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, "WrongVersion"),
        (r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, "WrongVersion"),
        (r#"{"jsonrpc":null,"id":1,"method":"m"}"#, "WrongVersion"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "NullRequestId"),
        (r#"{"jsonrpc":"2.0","id":null,"result":1}"#, ""),
        (r#"{"jsonrpc":"2.0","method":"m","params":"x"}"#, "ScalarParams"),
        (r#"{"jsonrpc":"2.0","method":"m","params":null}"#, "ScalarParams"),
        (r#"{"jsonrpc":"2.0","id":1,"error":"x"}"#, "ErrorNotObject"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, "BadErrorCode BadErrorMessage"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":null}}"#, "BadErrorCode BadErrorMessage"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.0,"message":""}}"#, ""),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":""}}"#, "BadErrorCode"),
        (r#"{"jsonrpc":"2.0","id":1,"result":1,"error":null}"#, "BothResultAndError"),
        (r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":""}}"#, "BothResultAndError"),
        (r#"{"jsonrpc":"2.0","method":"m","params":{"a":{"b":1,"b":2}}}"#, "DuplicateMember"),
        (r#"{"jsonrpc":"2.0","method":"m","params":["\ud83d"]}"#, "LoneSurrogate"),
        (r#"{"jsonrpc":"2.0","method":"\ud83d"}"#, "LoneSurrogate"),
        (r#"{"jsonrpc":"2.0","method":"m","@id":1}"#, "KeywordMember"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","@type":"x"}}"#, "KeywordMember"),
        // Under a JSON literal everything is data
        (r#"{"jsonrpc":"2.0","method":"m","params":{"@id":1}}"#, ""),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","data":{"@type":"x"}}}"#, ""),
        // Not the form of a keyword
        (r#"{"jsonrpc":"2.0","method":"m","@":1,"@x1":2,"a@b":3}"#, ""),
    ] {
        assert_eq!(problems(record), expected, "{record}");
    }
}

#[test]
fn invalid_messages_have_a_reason() {
    let half = "half of a surrogate pair in id, method or error message";
    for (record, expected) in [
        ("null", "null, not an object"),
        ("true", "a boolean, not an object"),
        ("17", "a number, not an object"),
        ("\"text\"", "a string, not an object"),
        ("{}", "no method, result or error"),
        (r#"{"jsonrpc":"2.0","id":1}"#, "no method, result or error"),
        (r#"{"id":1,"error":null}"#, "a null error, and no result"),
        (r#"{"id":1,"result":1,"error":{}}"#, "both a result and an error"),
        (r#"{"method":"m","result":1}"#, "a method, and a result or error"),
        (r#"{"method":"m","error":null}"#, "a method, and a result or error"),
        (r#"{"method":null,"id":1}"#, "a method that is not a string"),
        (r#"{"method":7,"result":1}"#, "a method that is not a string"),
        (r#"{"id":[1],"result":1}"#, "an id that is not a string, number or null"),
        (r#"{"id":true,"method":"m"}"#, "an id that is not a string, number or null"),
        (r#"{"id":1e1024,"method":"m"}"#, "an id of more than 1,024 digits"),
        (r#"{"id":"\udc00","method":"m"}"#, half),
        (r#"{"method":"\ud800"}"#, half),
        (r#"{"error":{"message":"\ud800"}}"#, half),
    ] {
        let Content::Single(Single::Invalid(invalid)) = Content::parse(record.as_bytes()) else { panic!("{record}") };
        assert_eq!(invalid.reason, expected, "{record}");
    }
    let Content::Batch(elements) = Content::parse(b"[[]]") else { panic!() };
    assert!(matches!(&elements[..], [Single::Invalid(array)] if array.reason == "an array, not an object"));
}

#[test]
fn ids_are_compared_by_value() {
    let id = |text: &str| match Content::parse(format!(r#"{{"id":{text},"method":"m"}}"#).as_bytes()) {
        Content::Single(Single::Message(message)) => message.id.map(rpcgraph::message::Id::into_owned),
        _ => None,
    };
    assert_eq!(id("1"), id("1.0"));
    assert_eq!(id("1"), id("10e-1"));
    assert_eq!(id("-0"), id("0"));
    assert_eq!(id("1e3"), id("1000"));
    assert_ne!(id("1"), id("\"1\""));
    assert_ne!(id("9007199254740992"), id("9007199254740993"));
    assert_ne!(id("null"), id("\"null\""));
    assert!(id("1e1023").is_some());
    assert!(id("1e1024").is_none(), "its plain form has more than 1,024 digits");
    assert!(id("1e99999999999999999999").is_none());
    assert!(id("0e99999999999999999999").is_some(), "that is 0");
}
