//! JSON over several lines that begin with the same text.

use super::super::decoder::trim_end;

/// An object over several lines with text in front of each.
pub(super) enum Prefixed {
    /// The object, and the length of its spelling.
    Whole(Vec<u8>, usize),
    Incomplete,
}

/// Returns the text in front of the second line of an object, without the blanks before the first member, and the end of the
/// first line.
pub(super) fn prefix(text: &[u8]) -> Option<(&[u8], usize)> {
    let end = memchr::memchr(b'\n', text)?;
    let below = text[end + 1..].split(|byte| *byte == b'\n').next()?;
    let prefix = trim_end(&below[..memchr::memchr(b'"', below)?]);
    // A member stands there, and no object of its own.
    let is_prefix = !prefix.trim_ascii().is_empty() && !prefix.ends_with(b"{") && !prefix.ends_with(b"[");
    (trim_end(&text[..end]) == b"{" && is_prefix).then_some((prefix, end))
}

/// Reads an object up to its end. `None` if a line has another text in front.
pub(super) fn prefixed(text: &[u8]) -> Option<Prefixed> {
    let (prefix, mut at) = prefix(text)?;
    let (mut json, mut depth) = (b"{\n".to_vec(), 1_usize);
    while at < text.len() {
        let start = at + 1;
        at = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |end| start + end);
        let Some(length) = length_like(prefix, &text[start..at]) else {
            return (at == text.len() && at - start < prefix.len()).then_some(Prefixed::Incomplete);
        };
        let (mut in_string, mut is_escaped) = (false, false);
        for (offset, byte) in text[start + length..at].iter().enumerate() {
            json.push(*byte);
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = in_string,
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => depth += 1,
                b'}' | b']' if !in_string => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(Prefixed::Whole(json, start + length + offset + 1));
            }
        }
        json.push(b'\n');
    }
    Some(Prefixed::Incomplete)
}

/// Returns the length of a text at the beginning of a line, whatever numbers are in both.
fn length_like(text: &[u8], line: &[u8]) -> Option<usize> {
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (mut at, mut length) = (0, 0);
    while at < text.len() {
        let (own, other) = (digits(&text[at..]), digits(line.get(length..)?));
        match own {
            0 if line.get(length) == Some(&text[at]) => (at, length) = (at + 1, length + 1),
            1.. if other > 0 => (at, length) = (at + own, length + other),
            _ => return None,
        }
    }
    Some(length)
}
