//! A text whose escape sequences are decoded, and where its bytes are in the text as spelled.

use std::borrow::Cow;

use memchr::memchr;

use crate::json::unescape;

/// A decoded text.
pub(super) struct Decoded<'t> {
    pub text: Cow<'t, [u8]>,
    /// After each escape sequence: the offset in the decoded text, and in the text as spelled.
    marks: Vec<(usize, usize)>,
}

impl<'t> Decoded<'t> {
    /// Decodes the content of a JSON string.
    pub fn once(spelled: &'t [u8]) -> Self {
        Self::with(spelled, |escape| unescape(escape).and_then(|(character, length)| Some((character.ok()?, length))))
    }

    /// Decodes escape sequences with any number of backslashes, as in JSON in a string in a string. A control character
    /// becomes a vertical tab: it may also be a backslash and a letter.
    pub fn fully(spelled: &'t [u8]) -> Self {
        Self::with(spelled, |escape| {
            let slashes = backslashes(escape);
            match escape.get(slashes)? {
                itself @ (b'"' | b'/') => Some((char::from(*itself), slashes + 1)),
                b'b' | b'f' | b'n' | b'r' | b't' => Some(('\u{b}', slashes + 1)),
                b'u' => unescape(&escape[slashes - 1..])
                    .and_then(|(character, length)| Some((character.ok()?, slashes - 1 + length))),
                _ => None,
            }
        })
    }

    fn with(spelled: &'t [u8], escape: impl Fn(&[u8]) -> Option<(char, usize)>) -> Self {
        let (mut text, mut marks, mut at) = (Vec::new(), Vec::new(), 0);
        while let Some(plain) = memchr(b'\\', &spelled[at..]) {
            text.extend_from_slice(&spelled[at..at + plain]);
            at += plain;
            match escape(&spelled[at..]) {
                Some((character, length)) => {
                    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    at += length;
                    marks.push((text.len(), at));
                }
                None => {
                    let end = at + backslashes(&spelled[at..]);
                    text.extend_from_slice(&spelled[at..end]);
                    at = end;
                }
            }
        }
        if marks.is_empty() {
            return Self { text: Cow::Borrowed(spelled), marks };
        }
        text.extend_from_slice(&spelled[at..]);
        Self { text: Cow::Owned(text), marks }
    }

    /// Returns the offset as spelled of an offset in the decoded text, which is not within a character.
    pub fn spelled(&self, decoded: usize) -> usize {
        let before = self.marks.partition_point(|mark| mark.0 <= decoded);
        self.marks[..before].last().map_or(decoded, |mark| mark.1 + decoded - mark.0)
    }

    /// Returns the offset in the decoded text of an offset as spelled, which is not within an escape sequence.
    pub fn decoded(&self, spelled: usize) -> usize {
        let before = self.marks.partition_point(|mark| mark.1 <= spelled);
        self.marks[..before].last().map_or(spelled, |mark| mark.0 + spelled - mark.1)
    }
}

/// Counts the backslashes at the beginning of a text.
fn backslashes(text: &[u8]) -> usize {
    text.iter().take_while(|byte| **byte == b'\\').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_kept() {
        let spelled = br#"a\\b\u0063\/\"\ud800\x"#;
        let once = Decoded::once(spelled);
        assert_eq!(&*once.text, br#"a\bc/"\ud800\x"#);
        for (decoded, place) in [(0, 0), (1, 1), (2, 3), (3, 4), (4, 10), (5, 12), (6, 14), (14, 22)] {
            assert_eq!((once.spelled(decoded), once.decoded(place)), (place, decoded));
        }
        let fully = Decoded::fully(br#"{\\\"a\\n\\\\u0062\q"#);
        assert_eq!(&*fully.text, b"{\"a\x0bb\\q");
        assert_eq!((fully.spelled(1), fully.spelled(2), fully.spelled(5)), (1, 5, 18));
    }
}
