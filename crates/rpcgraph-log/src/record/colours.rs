//! Text without the colours of a terminal.

use memchr::memmem;
use regex::bytes::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The beginning of a terminal escape sequence, such as a colour.
pub(super) const COLOUR: &[u8] = b"\x1b[";

/// A terminal escape sequence: numbers and signs, and then a letter. It may be cut off.
static SEQUENCE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)\x1b\[[\x20-\x3f]*(?:[\x40-\x7e]|$)").ok());

/// Returns the parts of a text between terminal escape sequences, with their offsets.
pub(super) fn plain_parts(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let found = SEQUENCE.iter().flat_map(|sequence| sequence.find_iter(text)).map(|found| (found.start(), found.end()));
    let mut at = 0;
    found.chain([(text.len(), text.len())]).map(move |(start, end)| {
        let part = (at, &text[at..start]);
        at = end;
        part
    })
}

/// Returns a text without terminal escape sequences.
pub(super) fn without_colours(text: &[u8]) -> Cow<'_, [u8]> {
    match memmem::find(text, COLOUR) {
        None => text.into(),
        Some(_) => plain_parts(text).flat_map(|(_, part)| part).copied().collect::<Vec<_>>().into(),
    }
}
