//! JSON with line breaks, its numbers spelled and its members ordered as they were.

use crate::json::{self, Value};

/// Prints a value with an indent of two spaces, as most tools do.
pub fn pretty(value: &Value<'_>) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out
}

fn write(value: &Value<'_>, depth: usize, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(number.as_str()),
        Value::String(text) => json::write_string(text, out),
        Value::Array(array) => items(['[', ']'], &array.items, depth, out, |item, out| write(item, depth + 1, out)),
        Value::Object(object) => items(['{', '}'], &object.members, depth, out, |(name, value), out| {
            json::write_string(name, out);
            out.push_str(": ");
            write(value, depth + 1, out);
        }),
    }
}

fn items<T>(brackets: [char; 2], items: &[T], depth: usize, out: &mut String, write: impl Fn(&T, &mut String)) {
    let [open, close] = brackets;
    let mut before = "";
    out.push(open);
    for item in items {
        out.push_str(before);
        new_line(depth + 1, out);
        write(item, out);
        before = ",";
    }
    if !items.is_empty() {
        new_line(depth, out);
    }
    out.push(close);
}

fn new_line(depth: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}
