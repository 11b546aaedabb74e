//! Where a JSON value ends.

use super::decoder::trim_end;
use crate::json::special;
use memchr::memchr_iter;
use serde_json::Deserializer;
use serde_json::value::RawValue;

/// The extent of the value at the start of some input.
pub(super) enum Extent {
    /// A value of that many bytes. Its strings may hold bytes that are not UTF-8.
    Whole(usize),
    /// A value, up to the end of the input.
    Incomplete,
    /// An error at that offset.
    Broken(usize),
}

/// Looks for a value at the start of `input`, which does not begin with a blank.
pub(super) fn value(input: &[u8]) -> Extent {
    if let Some(length) = string(input) {
        return Extent::Whole(length);
    }
    match text_value(input) {
        Extent::Broken(at) if std::str::from_utf8(&input[..at]).is_err() => bytes_value(input, at),
        found => found,
    }
}

/// How many bytes the string has that `input` begins with, if it is whole and has only short escapes: most are like that, and
/// this is the quickest way to tell.
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

/// The same, for values whose strings are UTF-8: others are an error to `RawValue`.
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
            // A number that stops before its next digit is an error to serde_json even where the input stops.
            let may_go_on = at == input.len() && matches!(input.last(), Some(b'-' | b'+' | b'.' | b'e' | b'E'));
            if may_go_on { Extent::Incomplete } else { Extent::Broken(at) }
        }
    }
}

/// The same, for values that are known to hold bytes that are not UTF-8 before `at`. These may be anything but ASCII
/// without changing where the value ends, so a copy with letters in their place is looked at, no longer than it has to be.
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

/// The value at the start of the bytes that a decoder is shown, if it may take a value of at most `limit` bytes.
pub(super) enum Front {
    /// A value of that many bytes, or, at the end of the input, what there is of one.
    Whole(usize),
    /// The end cannot be seen yet.
    NeedMore,
    /// A value of more bytes than the limit.
    Long,
    /// An error at that offset.
    Broken(usize),
}

impl Front {
    /// Looks at no more than one byte above the limit, by which a number can be seen to end.
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

/// Whether a value shows its own end, as a number does not.
pub(super) fn shows_its_end(value: &[u8]) -> bool {
    matches!(value.first(), Some(b'{' | b'[' | b'"'))
}

/// Whether `text` is one JSON value, with no blanks around it.
pub(super) fn is_whole(text: &[u8]) -> bool {
    matches!(value(text), Extent::Whole(length) if length == text.len())
}

/// Whether `text` is an object or an array, maybe one that is broken or cut off. Not the `[DONE]` that ends some streams.
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
