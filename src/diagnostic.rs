//! Recoverable findings: what is wrong with a record, and where it is.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// The text with nothing in it that a terminal obeys: control characters, line ends too, and what turns the direction of
/// writing are escaped.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
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

/// A path as messages show it.
pub fn printable_path(path: &Path) -> String {
    printable(&path.display().to_string()).into_owned()
}

/// Whether a terminal obeys a character, or has none to show for it.
pub(crate) fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
        || matches!(character, '\u{FFFE}' | '\u{FFFF}')
}

/// Where something is in its input, after decompression and with its carriers. What stands in a string there is at the
/// start of that string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// Number of the record, from 1; for a [`LogLine`](crate::record::LogLine) that of the record before it, or 0.
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

/// Something that was found in an input and did not end the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The input, as the user named it.
    pub input: String,
    /// Where in it.
    pub location: Location,
    /// What.
    pub message: String,
    /// Whether the graph holds the record all the same; if not, the finding is all there is of it.
    pub in_graph: bool,
}

/// `session.ndjson:12: record 12 at byte 345: …`; where the place is not known, `tables/session.ndjson: record 12: …`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Location { record, line, byte } = self.location;
        if line == 0 {
            return write!(f, "{}: record {record}: {}", self.input, self.message);
        }
        write!(f, "{}:{line}: record {record} at byte {byte}: {}", self.input, self.message)
    }
}
