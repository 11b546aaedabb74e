//! Strings of JSON, decoded.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::unescape;

/// A JSON string, decoded.
///
/// [RFC 8259, 8.2](https://www.rfc-editor.org/rfc/rfc8259#section-8.2) lets a string escape half of a surrogate pair.
/// Such a string is not Unicode text, but remains distinct from every other string.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Text<'a> {
    /// Unicode scalar values. Every string that can have this form has it.
    Unicode(Cow<'a, str>),
    /// UTF-16 code units, with at least one lone surrogate among them.
    Utf16(Vec<u16>),
}

impl<'a> Text<'a> {
    /// The string as text; `None` if it has a lone surrogate.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Text::Unicode(text) => Some(text),
            Text::Utf16(_) => None,
        }
    }

    /// The string as text with the lifetime of its source; `None` if it has a lone surrogate.
    pub fn to_cow(&self) -> Option<Cow<'a, str>> {
        match self {
            Text::Unicode(text) => Some(text.clone()),
            Text::Utf16(_) => None,
        }
    }

    /// Compares by UTF-16 code units, the order of member names in
    /// [RFC 8785, 3.2.3](https://www.rfc-editor.org/rfc/rfc8785#section-3.2.3).
    pub fn cmp_utf16(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Text::Unicode(a), Text::Unicode(b)) => a.bytes().map(utf16_rank).cmp(b.bytes().map(utf16_rank)),
            (Text::Unicode(a), Text::Utf16(b)) => a.encode_utf16().cmp(b.iter().copied()),
            (Text::Utf16(a), Text::Unicode(b)) => a.iter().copied().cmp(b.encode_utf16()),
            (Text::Utf16(a), Text::Utf16(b)) => a.cmp(b),
        }
    }

    /// Decodes the text between the quotes of a valid JSON string.
    pub(crate) fn decode(inner: &'a str) -> Self {
        if !inner.contains('\\') {
            return Text::Unicode(Cow::Borrowed(inner));
        }
        let mut decoded = String::with_capacity(inner.len());
        // The text up to the last lone surrogate, inclusive.
        let mut units: Vec<u16> = Vec::new();
        let mut rest = inner;
        while let Some((plain, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
            decoded.push_str(plain);
            let (unescaped, length) = unescape(escape.as_bytes()).unwrap_or((Ok('\u{FFFD}'), escape.len()));
            match unescaped {
                Ok(character) => decoded.push(character),
                Err(lone) => {
                    units.extend(decoded.encode_utf16());
                    units.push(lone);
                    decoded.clear();
                }
            }
            rest = escape.get(length..).unwrap_or_default();
        }
        decoded.push_str(rest);
        if units.is_empty() {
            return Text::Unicode(Cow::Owned(decoded));
        }
        units.extend(decoded.encode_utf16());
        Text::Utf16(units)
    }
}

/// Maps a byte of UTF-8 so that mapped bytes compare as UTF-16 code units do. Bytes of UTF-8 compare as code points do.
/// UTF-16 differs only in that U+E000 to U+FFFF (first bytes EE and EF) come after the supplementary characters (first
/// bytes F0 to F4), whose surrogates are below U+E000.
fn utf16_rank(byte: u8) -> u8 {
    if matches!(byte, 0xEE | 0xEF) { byte + 0x10 } else { byte }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded() {
        let text = Text::decode(r#"a\"\\\/\b\f\n\r\t\u00E9\u20ac\ud83d\uDE00é😀"#);
        assert_eq!(text.as_str(), Some("a\"\\/\u{8}\u{c}\n\r\té€😀é😀"));
        assert!(matches!(Text::decode("plain é"), Text::Unicode(Cow::Borrowed("plain é"))));
    }

    #[test]
    fn lone_surrogates_are_kept() {
        for (inner, units) in [
            (r"\ud83d", &[0xD83D][..]),
            (r"\ude00x", &[0xDE00, 0x78]),
            (r"\ude00\ud83d", &[0xDE00, 0xD83D]),
            (r"\ud83d\n", &[0xD83D, 0x0A]),
            (r"\ud83d\ud83d\ude00", &[0xD83D, 0xD83D, 0xDE00]),
            (r"😀\udfff", &[0xD83D, 0xDE00, 0xDFFF]),
        ] {
            assert_eq!(Text::decode(inner), Text::Utf16(units.to_vec()), "{inner}");
        }
    }

    #[test]
    fn order_is_by_utf16_code_unit() {
        let sorted = ["", "a", "a\u{0}", "aa", "é", "\u{D7FF}", "😀", "\u{10FFFF}", "\u{E000}", "\u{FB33}"];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(Text::decode(a).cmp_utf16(&Text::decode(b)), i.cmp(&j), "{a:?} {b:?}");
            }
        }
        let lone = Text::decode(r"\ud83e");
        assert_eq!(lone.cmp_utf16(&Text::decode("😀")), Ordering::Greater);
        assert_eq!(Text::decode("\u{FB33}").cmp_utf16(&lone), Ordering::Greater);
        assert_eq!(lone.cmp_utf16(&Text::decode(r"\ud83e\ud83e")), Ordering::Less);
    }
}
