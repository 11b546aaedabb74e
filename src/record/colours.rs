//! Text without the colours of a terminal.

use memchr::memmem;
use std::borrow::Cow;

/// The beginning of a terminal escape sequence, such as a colour.
pub(super) const COLOUR: &[u8] = b"\x1b[";

/// Returns the parts of a text between terminal escape sequences, with their offsets.
pub(super) fn plain_parts(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let (start, mut from) = (at, 0);
        let (end, length) = loop {
            let Some(found) = memmem::find(&rest[from..], COLOUR) else { break (rest.len(), 0) };
            from += found + COLOUR.len();
            if let Some(code) = code(&rest[from..]) {
                break (from - COLOUR.len(), COLOUR.len() + code);
            }
        };
        at = start + end + length;
        Some((start, &rest[..end]))
    })
}

/// Returns the length of a terminal escape sequence after its beginning, in bytes: numbers and signs, and then a
/// letter. It may be cut off.
fn code(text: &[u8]) -> Option<usize> {
    match text.iter().position(|byte| !(0x20..0x40).contains(byte)) {
        None => Some(text.len()),
        Some(last) => (0x40..0x7F).contains(&text[last]).then_some(last + 1),
    }
}

/// Returns a text without terminal escape sequences.
pub(super) fn without_colours(text: &[u8]) -> Cow<'_, [u8]> {
    match memmem::find(text, COLOUR) {
        None => text.into(),
        Some(_) => plain_parts(text).flat_map(|(_, part)| part).copied().collect::<Vec<_>>().into(),
    }
}
