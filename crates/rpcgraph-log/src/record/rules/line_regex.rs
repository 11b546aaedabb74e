//! The regular expression of a rule for lines.

use regex::bytes::{Captures, Regex, RegexBuilder};
use std::sync::OnceLock;

/// A regular expression for lines. Lines in ASCII, as most are, are matched without the classes of Unicode, which take five
/// times as long, and ten times as long to compile. Both match the same in such lines.
#[derive(Clone, Debug)]
pub(in super::super) struct LineRegex {
    text: String,
    /// `None` if the expression needs Unicode.
    ascii: Option<Regex>,
    /// Compiled for the first line that is not in ASCII.
    any: OnceLock<Option<Regex>>,
}

impl LineRegex {
    pub fn new(text: String) -> Result<Self, regex::Error> {
        let ascii = RegexBuilder::new(&text).unicode(false).build().ok();
        let any = if ascii.is_some() { OnceLock::new() } else { Some(Regex::new(&text)?).into() };
        Ok(Self { text, ascii, any })
    }

    /// Returns the names of the groups, by their numbers.
    pub fn group_names(&self) -> impl Iterator<Item = Option<&str>> {
        self.ascii.as_ref().or_else(|| self.any()).into_iter().flat_map(Regex::capture_names)
    }

    pub fn captures<'t>(&self, text: &'t [u8]) -> Option<Captures<'t>> {
        self.captures_at(text, 0)
    }

    /// Returns the first match that begins at a place of the text or behind it.
    pub fn captures_at<'t>(&self, text: &'t [u8], at: usize) -> Option<Captures<'t>> {
        let ascii = self.ascii.as_ref().filter(|_| text.is_ascii());
        ascii.or_else(|| self.any())?.captures_at(text, at)
    }

    /// The expression with Unicode classes, or with ASCII classes if Unicode makes it too large to compile.
    fn any(&self) -> Option<&Regex> {
        self.any.get_or_init(|| Regex::new(&self.text).ok()).as_ref().or(self.ascii.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_match_as_with_unicode() {
        for text in [
            r"^(?<time>\d+)\s+(?<sender>[\w→]+)\s*(?<value>\{)",
            r"^(?<time>\S+) (?<sender>\w+)\W*(?<value>.*)",
            r"(?i)(?<sender>K)\b",
        ] {
            let (ours, unicode) = (LineRegex::new(text.to_owned()).unwrap(), Regex::new(text).unwrap());
            assert!(ours.group_names().eq(unicode.capture_names()));
            for line in [
                "12 out {}",
                "12\u{a0}out {}",
                "１２ é→ {}",
                "12 ausgänge: {\"ä\"}",
                "\u{212a}",
                "k",
                "",
                "12 out {\"é\"}",
            ] {
                let places = |captures: Option<Captures<'_>>| {
                    captures.map(|captures| {
                        captures.iter().map(|group| group.map(|group| group.range())).collect::<Vec<_>>()
                    })
                };
                assert_eq!(
                    places(ours.captures(line.as_bytes())),
                    places(unicode.captures(line.as_bytes())),
                    "{text} {line}"
                );
            }
        }
        assert!(LineRegex::new("(".to_owned()).is_err());
    }
}
