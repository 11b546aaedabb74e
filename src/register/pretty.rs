//! JSON with line breaks, its numbers spelled and its members ordered as they were.

use crate::json::{self, Text, Value};

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
        Value::Array(array) if array.items.is_empty() => out.push_str("[]"),
        Value::Array(array) => {
            out.push('[');
            for (index, item) in array.items.iter().enumerate() {
                out.push_str(if index == 0 { "\n" } else { ",\n" });
                indent(depth + 1, out);
                write(item, depth + 1, out);
            }
            out.push('\n');
            indent(depth, out);
            out.push(']');
        }
        Value::Object(object) if object.members.is_empty() => out.push_str("{}"),
        Value::Object(object) => {
            out.push('{');
            for (index, (name, value)) in object.members.iter().enumerate() {
                out.push_str(if index == 0 { "\n" } else { ",\n" });
                indent(depth + 1, out);
                key(name, out);
                write(value, depth + 1, out);
            }
            out.push('\n');
            indent(depth, out);
            out.push('}');
        }
    }
}

fn key(name: &Text<'_>, out: &mut String) {
    json::write_string(name, out);
    out.push_str(": ");
}

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", depth));
}
