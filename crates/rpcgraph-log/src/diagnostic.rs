//! Recoverable findings: a problem of a record, and its place.

#[doc(hidden)]
pub mod markup;

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use unicode_width::UnicodeWidthStr as _;

/// Returns the text with all characters escaped that a terminal obeys: control characters, line ends, and characters
/// that change the direction of writing.
pub fn printable(text: &str) -> Cow<'_, str> {
    if is_plain(text) || !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        match is_obeyed(character) {
            true => printable.extend(character.escape_default()),
            false => printable.push(character),
        }
    }
    Cow::Owned(printable)
}

/// True if all characters are printable ASCII: a terminal shows each in one column, and obeys none. Most texts are
/// plain, and this check is faster than looking up each character.
fn is_plain(text: &str) -> bool {
    // Without an early exit, the loop is vectorized.
    text.bytes().fold(true, |plain, byte| plain & (b' '..=b'~').contains(&byte))
}

/// Returns the width of a text on a terminal, in columns.
pub fn display_width(text: &str) -> usize {
    if is_plain(text) { text.len() } else { text.width() }
}

/// Returns a path as messages show it.
pub fn printable_path(path: &Path) -> String {
    printable(&path.display().to_string()).into_owned()
}

/// True if a terminal obeys the character, or cannot show it.
pub fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
        || matches!(character, '\u{FFFE}' | '\u{FFFF}')
}

/// Returns the first characters of a text, and an ellipsis if there are more than `most`.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}

/// Returns a line of text with a mark below `length` characters, of which `at` is the first. A line that is wider than
/// `width` is cut.
pub fn pointed(number: u64, text: &str, at: usize, length: usize, width: usize) -> String {
    let is_long = text.chars().nth(width).is_some();
    let skipped = if is_long { at.saturating_sub(width / 2) } else { 0 };
    let mut rest = text.chars().skip(skipped);
    let mut shown = String::from(if skipped > 0 { "…" } else { "" });
    // Tabs would shift the mark.
    let plain = |c: char| if is_obeyed(c) { ' ' } else { c };
    shown.extend(rest.by_ref().take(at - skipped).map(plain));
    let indent = " ".repeat(display_width(&shown));
    let marked: String = rest.by_ref().take(width.saturating_sub(at - skipped)).map(plain).collect();
    let length = marked.char_indices().nth(length).map_or(marked.len(), |(end, _)| end);
    let mark = "^".repeat(display_width(marked.get(..length).unwrap_or_default()).max(1));
    let more = if rest.next().is_some() { "…" } else { "" };
    let number = number.to_string();
    format!("{number} | {shown}{marked}{more}\n{} | {indent}{mark}", " ".repeat(number.len()))
}

/// A place in an input, as decompressed text with its wrappers. A message in a string is located at the start of the
/// string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The number of the record, from 1. For a [`LogLine`](crate::record::LogLine), the number of the record before it,
    /// or 0.
    pub record: u64,
    /// Line of the first byte, from 1. Lines end with LF.
    pub line: u64,
    /// Offset of the first byte, from 0. A byte-order mark counts.
    pub byte: u64,
}

impl Location {
    /// Before the first record of an input.
    pub const START: Self = Self { record: 0, line: 1, byte: 0 };
}

/// A problem in an input that did not end the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The input, as the user named it.
    pub input: String,
    /// The place in the input.
    pub location: Location,
    /// The description.
    pub message: String,
    /// True if the graph holds the record nevertheless; if not, only the finding mentions the record.
    pub in_graph: bool,
}

/// Writes `session.ndjson:12: record 12 at byte 345: …`; if the line is not known,
/// `tables/session.ndjson: record 12: …`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Location { record, line, byte } = self.location;
        if line == 0 {
            return write!(f, "{}: record {record}: {}", self.input, self.message);
        }
        write!(f, "{}:{line}: record {record} at byte {byte}: {}", self.input, self.message)
    }
}
