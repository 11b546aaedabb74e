//! Canonical JSON: [RFC 8785](https://www.rfc-editor.org/rfc/rfc8785), with two deviations.
//!
//! [`Numbers::Exact`], which the caller may choose, keeps numbers that a double cannot hold. A lone surrogate, for
//! which RFC 8785 does not define a form, keeps its escape sequence.

use std::fmt::{self, Write as _};

use super::{Decimal, Number, Text, Value, special};

/// The form in which numbers are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numbers {
    /// As in RFC 8785, except that a number whose value this would change keeps its own digits: a number with more
    /// digits than a double holds, or beyond the range of doubles.
    Exact,
    /// As in [RFC 8785, 3.2.2.3](https://www.rfc-editor.org/rfc/rfc8785#section-3.2.2.3): every number becomes the
    /// nearest double.
    Rfc8785,
}

/// Prints the canonical form.
impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        write_canonical(self, Numbers::Exact, &mut text).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

/// Properties of a text that [`write_canonical`] wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Canonical {
    /// True if any other JSON-LD processor, given the text as a native JSON value, prints the same text again. False if
    /// a number kept its own digits, if there is a lone surrogate, or if a member name has a character above U+DFFF,
    /// where the orders by code point and by UTF-16 code unit differ.
    pub interoperable: bool,
}

/// A number that RFC 8785 cannot write because it is beyond the range of doubles; holds its spelling.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the number {0} is beyond the range of a double")]
pub struct NumberOutOfRange(
    /// The spelling.
    pub String,
);

/// Appends the canonical form of `value` to `out`, which an error leaves unchanged. [`Numbers::Exact`] never fails.
pub fn write_canonical(value: &Value<'_>, numbers: Numbers, out: &mut String) -> Result<Canonical, NumberOutOfRange> {
    let before = out.len();
    match append(value, Some(numbers), out) {
        Ok(interoperable) => Ok(Canonical { interoperable }),
        Err(error) => {
            out.truncate(before);
            Err(error)
        }
    }
}

/// Appends a value with its own numbers, and its members in their own order.
pub(super) fn write_spelled(value: &Value<'_>, out: &mut String) {
    // Numbers that keep their spelling never fail.
    let _ = append(value, None, out);
}

/// Appends a value: in the canonical form, or as it is spelled without `numbers`. Returns true if the canonical form is
/// [interoperable](Canonical::interoperable).
fn append(value: &Value<'_>, numbers: Option<Numbers>, out: &mut String) -> Result<bool, NumberOutOfRange> {
    let mut interoperable = true;
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => match numbers {
            Some(numbers) => interoperable = number_text(*number, numbers, out)?,
            None => out.push_str(number.as_str()),
        },
        Value::String(text) => {
            interoperable = text.as_str().is_some();
            write_string(text, out);
        }
        Value::Array(array) => {
            out.push('[');
            for (i, item) in array.items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                interoperable &= append(item, numbers, out)?;
            }
            out.push(']');
        }
        Value::Object(object) => {
            out.push('{');
            let members = if numbers.is_some() { object.sorted_members() } else { object.members.iter().collect() };
            for (i, (name, value)) in members.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                // The first byte of U+E000 is EE; the characters above begin with EE to F4.
                interoperable &= name.as_str().is_some_and(|name| name.bytes().all(|byte| byte < 0xEE));
                write_string(name, out);
                out.push(':');
                interoperable &= append(value, numbers, out)?;
            }
            out.push('}');
        }
    }
    Ok(interoperable)
}

/// Appends a number. Returns true if it is in the form of RFC 8785.
pub(super) fn number_text(number: Number<'_>, numbers: Numbers, out: &mut String) -> Result<bool, NumberOutOfRange> {
    let spelling = number.as_str();
    if is_canonical_number(spelling.as_bytes()) {
        out.push_str(spelling);
        return Ok(true);
    }
    let mut buffer = ryu_js::Buffer::new();
    let double = spelling.parse().ok().filter(|double: &f64| double.is_finite());
    match (double.map(|double| buffer.format_finite(double)), numbers) {
        (Some(printed), _) if numbers == Numbers::Rfc8785 || is_value_of(printed, number) => out.push_str(printed),
        (None, Numbers::Rfc8785) => return Err(NumberOutOfRange(spelling.to_owned())),
        _ => {
            out.push_str(spelling);
            return Ok(false);
        }
    }
    Ok(true)
}

/// True for the common spellings that are in the form of RFC 8785: up to 15 digits, without an exponent, without a
/// minus before zero, and with a fraction that neither ends in zero nor begins with many zeros.
#[inline]
pub(super) fn is_canonical_number(spelling: &[u8]) -> bool {
    let digits = spelling.strip_prefix(b"-").unwrap_or(spelling);
    if digits.len() > 16 {
        return false;
    }
    match memchr::memchr(b'.', digits) {
        None => digits.len() <= 15 && digits.iter().all(u8::is_ascii_digit) && spelling != b"-0",
        Some(point) => {
            let fraction = digits.get(point + 1..).unwrap_or_default();
            let small = digits.first() == Some(&b'0') && fraction.starts_with(b"0000");
            fraction.iter().all(u8::is_ascii_digit) && fraction.last() != Some(&b'0') && !small
        }
    }
}

fn is_value_of(printed: &str, number: Number<'_>) -> bool {
    printed == number.as_str() || Decimal::parse(printed).is_some_and(|printed| printed == number.to_decimal())
}

/// Appends `text`, quoted and escaped according to
/// [RFC 8785, 3.2.2.2](https://www.rfc-editor.org/rfc/rfc8785#section-3.2.2.2). A lone surrogate is written as its
/// escape sequence, in lower case.
pub fn write_string(text: &Text<'_>, out: &mut String) {
    match text {
        Text::Unicode(text) => write_str(text, out),
        Text::Utf16(units) => {
            out.push('"');
            for character in char::decode_utf16(units.iter().copied()) {
                match character {
                    Ok(character) => write_char(character, out),
                    Err(lone) => write_unit(lone.unpaired_surrogate(), out),
                }
            }
            out.push('"');
        }
    }
}

/// Returns a text as a JSON string.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    write_str(text, &mut quoted);
    quoted
}

/// Appends `text`, quoted and escaped according to
/// [RFC 8785, 3.2.2.2](https://www.rfc-editor.org/rfc/rfc8785#section-3.2.2.2).
pub fn write_str(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some((plain, behind)) = rest.split_at_checked(special(rest.as_bytes())) {
        out.push_str(plain);
        let mut behind = behind.chars();
        let Some(special) = behind.next() else { break };
        write_char(special, out);
        rest = behind.as_str();
    }
    out.push('"');
}

/// Appends one character of a string, escaped if necessary.
pub(super) fn write_char(character: char, out: &mut String) {
    match character {
        '\u{8}' => out.push_str("\\b"),
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\u{c}' => out.push_str("\\f"),
        '\r' => out.push_str("\\r"),
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\0'..' ' => write_unit(character as u16, out),
        _ => out.push(character),
    }
}

/// Appends the escape sequence of a UTF-16 code unit.
pub(super) fn write_unit(unit: u16, out: &mut String) {
    let _ = write!(out, "\\u{unit:04x}");
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn canonical(text: &str, numbers: Numbers) -> (String, bool) {
        let mut out = String::new();
        let canonical = write_canonical(&parse(text.as_bytes()).unwrap(), numbers, &mut out).unwrap();
        (out, canonical.interoperable)
    }

    #[test]
    fn members_are_sorted_at_every_depth() {
        assert_eq!(
            canonical(r#" { "b" : [ { "z" : 1 , "A" : { } } ] , "a" : [ ] , "" : true } "#, Numbers::Exact),
            (r#"{"":true,"a":[],"b":[{"A":{},"z":1}]}"#.to_owned(), true)
        );
    }

    #[test]
    fn short_numbers_take_the_short_way() {
        for spelling in ["0", "-1", "123456789012345", "-999999999999999", "1.5", "-0.0001"] {
            assert!(is_canonical_number(spelling.as_bytes()));
            let double: f64 = spelling.parse().unwrap();
            assert_eq!(ryu_js::Buffer::new().format_finite(double), spelling);
        }
        assert!(!is_canonical_number(b"1234567890123456"));
        assert!(!is_canonical_number(b"1e5"));
        assert!(!is_canonical_number(b"1.50"));
    }

    #[test]
    fn an_error_leaves_no_trace() {
        let mut out = String::from("before");
        let error = write_canonical(&parse(b"[1, -1e999]").unwrap(), Numbers::Rfc8785, &mut out).unwrap_err();
        assert_eq!(error, NumberOutOfRange("-1e999".to_owned()));
        assert_eq!(error.to_string(), "the number -1e999 is beyond the range of a double");
        assert_eq!(out, "before");
    }
}
