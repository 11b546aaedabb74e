//! Escape sequences in JSON strings.

/// Decodes the escape sequence at the beginning of `text`, and returns its length in bytes. `None` if
/// [JSON](https://www.rfc-editor.org/rfc/rfc8259#section-7) does not define the escape sequence, or if it is cut off.
///
/// Two escape sequences that form a surrogate pair are one character of 12 bytes. A lone surrogate is an `Err`.
pub(crate) fn unescape(text: &[u8]) -> Option<(Result<char, u16>, usize)> {
    let character = match text.get(1)? {
        b'u' => return unescape_unicode(text),
        b'b' => '\u{8}',
        b't' => '\t',
        b'n' => '\n',
        b'f' => '\u{c}',
        b'r' => '\r',
        itself @ (b'"' | b'/' | b'\\') => char::from(*itself),
        _ => return None,
    };
    Some((Ok(character), 2))
}

fn unescape_unicode(text: &[u8]) -> Option<(Result<char, u16>, usize)> {
    let unit = code_unit(text)?;
    if let Some(character) = char::from_u32(unit.into()) {
        return Some((Ok(character), 6));
    }
    let partner = text.get(6..).and_then(code_unit);
    let pair = partner.and_then(|partner| char::decode_utf16([unit, partner]).next()?.ok());
    Some(pair.map_or((Err(unit), 6), |character| (Ok(character), 12)))
}

/// Returns the code unit of `\uXXXX`.
fn code_unit(escape: &[u8]) -> Option<u16> {
    let digits: &[u8; 4] = escape.strip_prefix(b"\\u")?.first_chunk()?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)? as u16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_escape() {
        for (escape, meaning) in [
            (r#"\"x"#, Some((Ok('"'), 2))),
            (r"\\", Some((Ok('\\'), 2))),
            (r"\/", Some((Ok('/'), 2))),
            (r"\b", Some((Ok('\u{8}'), 2))),
            (r"\f", Some((Ok('\u{c}'), 2))),
            (r"\n", Some((Ok('\n'), 2))),
            (r"\r", Some((Ok('\r'), 2))),
            (r"\t", Some((Ok('\t'), 2))),
            (r"\u00E9\u00e9", Some((Ok('é'), 6))),
            (r"\u0000", Some((Ok('\0'), 6))),
            (r"\ud83d\uDE00x", Some((Ok('😀'), 12))),
            (r"\ud83d", Some((Err(0xD83D), 6))),
            (r"\ud83d\n", Some((Err(0xD83D), 6))),
            (r"\ud83d\u0041", Some((Err(0xD83D), 6))),
            (r"\ud83d\ud83d\ude00", Some((Err(0xD83D), 6))),
            (r"\ude00\ud83d", Some((Err(0xDE00), 6))),
            (r"\", None),
            (r"\x", None),
            (r"\u", None),
            (r"\u12", None),
            (r"\u+123", None),
            (r"\u12g4", None),
            (r"\U0041", None),
        ] {
            assert_eq!(unescape(escape.as_bytes()), meaning, "{escape}");
        }
    }
}
