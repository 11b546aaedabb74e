//! Finds the end of a JSON value.

use super::decoder::{is_blank, trim_end};
use crate::json::{Cursor, Levels};

/// The extent of the value at the start of some input.
pub(super) enum Extent {
    /// A value of this many bytes. Its strings may hold bytes that are not UTF-8.
    Whole(usize),
    /// A value that the end of the input cuts off.
    Incomplete,
    /// A syntax error at this offset.
    Broken(usize),
}

/// Finds the extent of the value at the start of `input`. A number or a word that goes on in other characters is not a
/// value.
pub(super) fn value(input: &[u8]) -> Extent {
    let mut cursor = Cursor::over(input);
    let found = cursor.value(&mut Levels::default());
    let is_apart = |next: &u8| is_blank(*next) || b"\"[]{},:".contains(next);
    match found {
        Ok(()) if shows_its_end(input) || input.get(cursor.at()).is_none_or(is_apart) => Extent::Whole(cursor.at()),
        Ok(()) => Extent::Broken(cursor.at()),
        Err(_) if cursor.at() == input.len() => Extent::Incomplete,
        Err(_) => Extent::Broken(cursor.at()),
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

/// Returns the size of the array of numbers up to 255 at the start of `input`, and the numbers; `None` for any other value.
pub(crate) fn byte_array(input: &[u8]) -> Option<(usize, Vec<u8>)> {
    let inside = input.strip_prefix(b"[")?;
    let end = inside.iter().position(|byte| !b"0123456789, \t\r\n".contains(byte)).filter(|at| inside[*at] == b']')?;
    let numbers = std::str::from_utf8(&inside[..end]).ok()?.trim_ascii();
    let bytes = numbers.split(',').filter(|_| !numbers.is_empty()).map(|number| number.trim_ascii().parse().ok());
    Some((end + 2, bytes.collect::<Option<_>>()?))
}

/// Finds the extent of the value at the start of the bytes that a decoder is shown. If `end` is true, nothing follows
/// them, and the part of a value that is present counts as whole.
pub(super) fn value_shown(input: &[u8], end: bool) -> Extent {
    match value(input) {
        Extent::Whole(length) if length == input.len() && !end && !shows_its_end(input) => Extent::Incomplete,
        Extent::Incomplete if end => Extent::Whole(trim_end(input).len()),
        extent => extent,
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
