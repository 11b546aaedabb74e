//! Kinds of messages: the examples of the specification and of texts about it.

use std::fs;
use std::path::Path;

use rpcgraph::message::{Content, Kind, Single};

use crate::support::{corpora, needed_corpora, own};

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

/// The class of a record; for a batch, the classes of its elements in brackets.
fn classes(record: &str) -> String {
    match Content::parse(record.as_bytes()) {
        Content::Single(single) => class(&single).to_owned(),
        Content::Batch(elements) => format!("[{}]", elements.iter().map(class).collect::<Vec<_>>().join(" ")),
        Content::Malformed(_) => "MalformedRecord".to_owned(),
        Content::Exchange => "HttpExchange".to_owned(),
    }
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

/// The classes of the objects in a text, and of its arrays that hold some: a text has other brackets, too.
fn class_of(text: &str) -> Vec<String> {
    json_in(text).into_iter().filter(|value| value.contains('{')).map(classes).collect()
}

#[test]
fn demonstrations_of_a_text() {
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
}

#[test]
#[ignore = "needs RPCGRAPH_CORPORA"]
fn demonstrations_of_the_texts_beside_the_corpora() {
    let corpora = needed_corpora();
    let read = |name: &str| fs::read_to_string(corpora.join("../reference").join(name)).unwrap();
    assert_eq!(
        class_of(&read("json-rpc-grammar-under-mcp.txt")),
        [
            "Request",
            "Notification",
            "Response",
            "ErrorResponse",
            // `[request] method="add"` is not JSON; the answer of the server is
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
