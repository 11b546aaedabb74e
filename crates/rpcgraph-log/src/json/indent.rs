//! JSON for people: text with line ends and indentation between its tokens.

use super::canonical::write_spelled;
use super::{Value, check};

/// Returns the text with each member and element on a line of its own. Only whitespace between tokens is changed; text
/// that is not JSON is returned as it is.
pub fn indented(text: &str) -> String {
    match check(text.as_bytes()) {
        Ok(_) => indent(text),
        Err(_) => text.to_owned(),
    }
}

/// Returns a value with each member and element on a line of its own. Numbers keep their spelling, members their order.
pub fn pretty(value: &Value<'_>) -> String {
    let mut text = String::new();
    write_spelled(value, &mut text);
    indent(&text)
}

/// Indents text that is JSON.
fn indent(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    let mut characters = text.chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    while let Some(character) = characters.next() {
        if in_string {
            in_string = escaped || character != '"';
            escaped = !escaped && character == '\\';
            out.push(character);
            continue;
        }
        match character {
            ' ' | '\n' | '\r' | '\t' => {}
            '{' | '[' => {
                out.push(character);
                while characters.next_if(|next| matches!(next, ' ' | '\n' | '\r' | '\t')).is_some() {}
                if let Some(end) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(',');
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                in_string = character == '"';
                out.push(character);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::indented;

    #[test]
    fn tokens_stay_as_they_are() {
        let text = r#" {"a":[1.50,{ },[ ],"x\"{,}:\\"], "a" : 1e400,"é":null}"#;
        let expected = r#"{
  "a": [
    1.50,
    {},
    [],
    "x\"{,}:\\"
  ],
  "a": 1e400,
  "é": null
}"#;
        assert_eq!(indented(text), expected);
        assert_eq!(indented("{not json"), "{not json");
        assert_eq!(indented("\"a\""), "\"a\"");
    }
}
