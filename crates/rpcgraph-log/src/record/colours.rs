//! Text without the colours of a terminal.

use memchr::{memchr2, memmem};
use regex::bytes::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The beginning of a terminal escape sequence, such as a colour.
const COLOUR: &[u8] = b"\x1b[";

/// A terminal escape sequence: numbers and signs, and then a letter. It may be cut off.
static SEQUENCE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)\x1b\[[\x20-\x3f]*(?:[\x40-\x7e]|$)").ok());

/// A colour in text that was copied from a terminal, where the control character is lost or spelled.
static COPIED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)(?:\\x1[bB]|\\u001[bB]|\\033|\\e|\^\[|\xE2\x90\x9B)?\[[\d;]*m").ok());

/// Returns the front of a line, if it has colours that were copied as text. Behind it, JSON may have such text itself.
fn copied(line: &[u8]) -> &[u8] {
    let front = &line[..memchr2(b'{', b'"', line).unwrap_or(line.len())];
    if memmem::find(front, b"[0m").is_some() { front } else { b"" }
}

/// True if a line has colours, or they were copied as text.
pub(super) fn has_colours(line: &[u8]) -> bool {
    memmem::find(line, COLOUR).is_some() || !copied(line).is_empty()
}

/// Returns the parts of a text between terminal escape sequences, with their offsets.
pub(super) fn plain_parts(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let (sequence, coloured) = match memmem::find(text, COLOUR) {
        Some(_) => (&SEQUENCE, text),
        None => (&COPIED, copied(text)),
    };
    let found = sequence.iter().flat_map(|sequence| sequence.find_iter(coloured));
    let found = found.map(|found| (found.start(), found.end()));
    let mut at = 0;
    found.chain([(text.len(), text.len())]).map(move |(start, end)| {
        let part = (at, &text[at..start]);
        at = end;
        part
    })
}

/// Returns a text without terminal escape sequences.
pub(super) fn without_colours(text: &[u8]) -> Cow<'_, [u8]> {
    match has_colours(text) {
        false => text.into(),
        true => plain_parts(text).flat_map(|(_, part)| part).copied().collect::<Vec<_>>().into(),
    }
}
