//! Advice for inputs in which JSON-RPC was not found: where possible messages are, and the option that reads them there.

use serde_json::{Deserializer, Value};

use crate::json::pointer_token;

/// The maximum number of lines that are examined.
const MOST: usize = 32;

/// The members of messages.
pub(crate) const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// Returns the option that reads the first possible message inside a JSON value or behind a prefix, given the first
/// bytes of an input.
pub(crate) fn nested(head: &[u8]) -> Option<String> {
    let lines = head.split(|byte| *byte == b'\n').take(MOST);
    lines.filter_map(|line| std::str::from_utf8(line).ok()).find_map(|line| in_line(line.trim()))
}

fn in_line(line: &str) -> Option<String> {
    ["{", "\"{"].iter().find_map(|start| {
        let at = line.find(start)?;
        let value = Deserializer::from_str(line.get(at..)?).into_iter::<Value>().next()?.ok()?;
        let pointer = place(&value)?;
        match (at, pointer.is_empty()) {
            (0, false) if !pointer.contains(['\'', ' ', ',']) => Some(format!("--envelope 'message={pointer}'")),
            (1.., true) if start.len() == 1 => Some(r"--line '^[^{]*(?<message>\{.*)'".to_owned()),
            (1.., true) if !line.get(..at)?.contains('"') => Some(r#"--line '^[^"]*(?<message>"\{.*)'"#.to_owned()),
            _ => None,
        }
    })
}

/// Returns the JSON Pointer of the first possible message in a value, or in a string of JSON that is one.
fn place(value: &Value) -> Option<String> {
    if is_possible(value) {
        return Some(String::new());
    }
    let inside = |token: &str, value: &Value| Some(format!("/{}{}", pointer_token(token), place(value)?));
    match value {
        Value::String(text) => {
            let value: Value = serde_json::from_str(text).ok().filter(|value: &Value| !value.is_string())?;
            is_possible(&value).then(String::new)
        }
        Value::Object(members) => members.iter().find_map(|(name, value)| inside(name, value)),
        Value::Array(elements) => {
            elements.iter().zip(0..).find_map(|(value, at): (_, u32)| inside(&at.to_string(), value))
        }
        _ => None,
    }
}

/// True for an object, or an array of objects, that may be a message though it lacks `jsonrpc`.
fn is_possible(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            let has = |name| members.contains_key(name);
            members.keys().all(|name| MEMBERS.contains(&name.as_str()))
                && (members.get("method").is_some_and(Value::is_string) || has("id") && (has("result") || has("error")))
        }
        Value::Array(elements) => !elements.is_empty() && elements.iter().all(is_possible),
        _ => false,
    }
}
