//! Finds the end of a JSON value.

use super::decoder::trim_end;
use crate::json::special;
use memchr::memchr_iter;
use serde_json::Deserializer;
use serde_json::value::RawValue;

/// The extent of the value at the start of some input.
pub(super) enum Extent {
    /// A value of this many bytes. Its strings may hold bytes that are not UTF-8.
    Whole(usize),
    /// A value that the end of the input cuts off.
    Incomplete,
    /// A syntax error at this offset.
    Broken(usize),
}

/// Finds the extent of the value at the start of `input`, which does not begin with a blank.
pub(super) fn value(input: &[u8]) -> Extent {
    if let Some(length) = string(input) {
        return Extent::Whole(length);
    }
    match text_value(input) {
        Extent::Broken(at) if std::str::from_utf8(&input[..at]).is_err() => bytes_value(input, at),
        found => found,
    }
}

/// Returns the size of the value at the start of `input`, in bytes; if it is cut off or has a syntax error, the number of
/// bytes that were examined.
pub(crate) fn whole_value(input: &[u8]) -> Result<usize, usize> {
    match value(input) {
        Extent::Whole(length) => Ok(length),
        Extent::Incomplete => Err(input.len()),
        Extent::Broken(at) => Err(at),
    }
}

/// Returns the size of the string at the start of `input`, in bytes, if it is whole and has only short escape
/// sequences. Most strings are like this, and this check is the fastest.
fn string(input: &[u8]) -> Option<usize> {
    let mut at = usize::from(input.first()? == &b'"');
    while at > 0 {
        at += special(&input[at..]);
        match (input.get(at)?, input.get(at + 1)) {
            (b'"', _) => return std::str::from_utf8(&input[..at]).is_ok().then_some(at + 1),
            (b'\\', Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')) => at += 2,
            _ => break,
        }
    }
    None
}

/// Finds the extent of a value whose strings are UTF-8. Other bytes are an error to `RawValue`.
fn text_value(input: &[u8]) -> Extent {
    let mut values = Deserializer::from_slice(input).into_iter::<&RawValue>();
    match values.next() {
        Some(Ok(_)) => Extent::Whole(values.byte_offset()),
        None => Extent::Incomplete,
        Some(Err(error)) if error.is_eof() => Extent::Incomplete,
        Some(Err(error)) => {
            let line = match error.line() {
                0 | 1 => 0,
                number => memchr_iter(b'\n', input).nth(number - 2).map_or(input.len(), |at| at + 1),
            };
            let at = (line + error.column()).min(input.len());
            // For serde_json, a number that stops before its next digit is an error even at the end of the input.
            let may_go_on = at == input.len() && matches!(input.last(), Some(b'-' | b'+' | b'.' | b'e' | b'E'));
            if may_go_on { Extent::Incomplete } else { Extent::Broken(at) }
        }
    }
}

/// Finds the extent of a value with bytes before `at` that are not UTF-8. Any bytes beyond ASCII in their place leave
/// the end of the value where it is, so a copy with letters in their place is examined, no longer than necessary.
fn bytes_value(input: &[u8], at: usize) -> Extent {
    let mut length = at.saturating_mul(2).max(64);
    loop {
        let part = &input[..length.min(input.len())];
        let ascii: Vec<u8> = part.iter().map(|&byte| if byte.is_ascii() { byte } else { b'x' }).collect();
        match text_value(&ascii) {
            Extent::Incomplete if part.len() < input.len() => length = length.saturating_mul(2),
            found => return found,
        }
    }
}

/// The value at the start of the bytes that a decoder is shown, with a limit on its size in bytes.
pub(super) enum ValueSpan {
    /// A value of this many bytes or, at the end of the input, the part of a value that is present.
    Whole(usize),
    /// The end is not visible yet.
    NeedMore,
    /// A value larger than the limit.
    Long,
    /// A syntax error at this offset.
    Broken(usize),
}

impl ValueSpan {
    /// Examines at most one byte above the limit, which shows the end of a number.
    pub(super) fn of(input: &[u8], limit: usize, end: bool) -> Self {
        let window = &input[..input.len().min(limit.saturating_add(1))];
        let full = window.len() > limit;
        match value(window) {
            Extent::Broken(at) => Self::Broken(at),
            Extent::Whole(length) if length <= limit && (length < window.len() || shows_its_end(window)) => {
                Self::Whole(length)
            }
            Extent::Whole(_) | Extent::Incomplete if full => Self::Long,
            Extent::Whole(_) | Extent::Incomplete if end => Self::Whole(trim_end(window).len()),
            Extent::Whole(_) | Extent::Incomplete => Self::NeedMore,
        }
    }
}

/// True if a value shows its own end, which a number does not.
pub(super) fn shows_its_end(value: &[u8]) -> bool {
    matches!(value.first(), Some(b'{' | b'[' | b'"'))
}

/// True if `text` is one JSON value, without blanks around it.
pub(super) fn is_whole(text: &[u8]) -> bool {
    matches!(value(text), Extent::Whole(length) if length == text.len())
}

/// True if `text` is an object or an array, even if it is broken or cut off. False for the `[DONE]` that ends some
/// streams.
pub(super) fn may_be_message(text: &[u8]) -> bool {
    match text.first() {
        Some(b'{') => true,
        Some(b'[') => !matches!(value(text), Extent::Broken(_)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_value_is_not_an_error() {
        let whole = b"[\n[-0.5e+10, 1E-2, -3], {\"a\\u00e9\\n\": \"\xff\xc3\xa9\"}, true, false, null, {}, []\n]";
        for length in 1..whole.len() {
            assert!(matches!(value(&whole[..length]), Extent::Incomplete), "{length}");
        }
        assert!(matches!(value(whole), Extent::Whole(length) if length == whole.len()));
    }
}
