//! Canonical JSON in one pass over the source, for what nearly all traffic is made of.
//!
//! [`Quick`] checks, canonicalises and copies at the same time, and builds nothing on the way. Where it meets anything
//! out of the ordinary (an error, a member twice, a lone surrogate, deep nesting) it gives up, and the careful way by
//! [`parse`](super::parse) and [`write_canonical`](super::write_canonical) decides. What it does write is what the
//! careful way writes; tests hold the two together.

use super::canonical::{Canonical, Numbers, number_text, write_escaped};
use super::{Number, unescape};

/// Deepest nesting that the quick way follows: members that are out of order are moved once at every level.
const MAX_QUICK_DEPTH: usize = 64;

/// Reads JSON text from front to back.
pub struct Quick<'a> {
    text: &'a str,
    at: usize,
    numbers: Numbers,
    /// Members of the objects that are open: where they are in the output.
    members: Vec<Member>,
    sorted: String,
    depth: usize,
    interoperable: bool,
}

/// A member that has been written: `"name":value`.
#[derive(Clone, Copy)]
struct Member {
    /// The first bytes of the name, which nearly always decide the order.
    prefix: u64,
    start: usize,
    /// End of the name, before its closing quote.
    name_end: usize,
    end: usize,
}

impl<'a> Quick<'a> {
    /// A reader at the start of `text`.
    pub fn new(text: &'a str, numbers: Numbers) -> Self {
        Self { text, at: 0, numbers, members: Vec::new(), sorted: String::new(), depth: 0, interoperable: true }
    }

    /// The same reader, with its buffers, at the start of another text.
    pub fn restart<'b>(self, text: &'b str) -> Quick<'b> {
        let Self { numbers, mut members, mut sorted, .. } = self;
        members.clear();
        sorted.clear();
        Quick { text, at: 0, numbers, members, sorted, depth: 0, interoperable: true }
    }

    /// How it writes numbers.
    pub fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// Where the reader is, in bytes.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Passes over blanks, and tells the byte behind them.
    pub fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    /// Passes over blanks and the byte, if it is there.
    pub fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// A string without escapes, as it is.
    #[inline]
    pub fn plain_string(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let start = self.at;
        let end = start + special(self.text.as_bytes().get(start..)?);
        if self.text.as_bytes().get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        self.text.get(start..end)
    }

    /// A number, as it is spelled.
    pub fn number(&mut self) -> Option<&'a str> {
        self.peek()?;
        let bytes = self.text.as_bytes();
        let start = self.at;
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
        let integer = at;
        at = digits(at);
        if at == integer || at > integer + 1 && bytes.get(integer) == Some(&b'0') {
            return None;
        }
        if bytes.get(at) == Some(&b'.') {
            let fraction = at + 1;
            at = digits(fraction);
            if at == fraction {
                return None;
            }
        }
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = at + 1 + sign;
            at = digits(exponent);
            if at == exponent {
                return None;
            }
        }
        self.at = at;
        self.text.get(start..at)
    }

    /// Whether nothing but blanks follows.
    pub fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Appends the canonical form of the value that comes next; nothing if the careful way has to decide.
    pub fn canonical(&mut self, out: &mut String) -> Option<Canonical> {
        self.interoperable = true;
        self.depth = 0;
        self.members.clear();
        self.value(out)?;
        Some(Canonical { interoperable: self.interoperable })
    }

    fn value(&mut self, out: &mut String) -> Option<()> {
        match self.peek()? {
            b'"' => self.string(out),
            b'{' => self.object(out),
            b'[' => self.array(out),
            b't' => self.literal("true").map(|()| out.push_str("true")),
            b'f' => self.literal("false").map(|()| out.push_str("false")),
            b'n' => self.literal("null").map(|()| out.push_str("null")),
            _ => {
                let spelling = self.number()?;
                if is_canonical_number(spelling.as_bytes()) {
                    out.push_str(spelling);
                } else {
                    let kept = number_text(Number::new(spelling), Numbers::Exact, out).ok()?;
                    if !kept && self.numbers == Numbers::Rfc8785 {
                        return None; // its value changes, and the careful way says so
                    }
                    self.interoperable &= kept;
                }
                Some(())
            }
        }
    }

    /// `true`, `false` or `null`, if it stands here.
    pub fn literal(&mut self, literal: &str) -> Option<()> {
        self.text.get(self.at..)?.strip_prefix(literal)?;
        self.at += literal.len();
        Some(())
    }

    fn array(&mut self, out: &mut String) -> Option<()> {
        self.enter()?;
        out.push('[');
        if self.peek()? == b']' {
            self.at += 1;
        } else {
            loop {
                self.value(out)?;
                match self.peek()? {
                    b',' => out.push(','),
                    b']' => break self.at += 1,
                    _ => return None,
                }
                self.at += 1;
            }
        }
        out.push(']');
        self.depth -= 1;
        Some(())
    }

    fn object(&mut self, out: &mut String) -> Option<()> {
        self.enter()?;
        let object = out.len();
        let first = self.members.len();
        let mut ordered = true;
        out.push('{');
        if self.peek()? == b'}' {
            self.at += 1;
        } else {
            loop {
                let start = out.len();
                // A name with escapes would have to be compared unescaped, one above U+DFFF by UTF-16 code units.
                let name = self.plain_string()?;
                if name.bytes().any(|byte| byte >= 0xEE) {
                    return None;
                }
                out.push('"');
                out.push_str(name);
                out.push_str("\":");
                let name_end = start + 1 + name.len();
                let prefix = prefix(name.as_bytes());
                if let Some(before) = self.members.last().filter(|_| self.members.len() > first) {
                    ordered &= before.prefix < prefix
                        || before.prefix == prefix
                            && out.as_bytes().get(before.start + 1..before.name_end)? < name.as_bytes();
                }
                self.take(b':')?;
                self.value(out)?;
                self.members.push(Member { prefix, start, name_end, end: out.len() });
                match self.peek()? {
                    b',' => out.push(','),
                    b'}' => break self.at += 1,
                    _ => return None,
                }
                self.at += 1;
            }
        }
        if !ordered {
            self.sort(object, first, out)?;
        }
        self.members.truncate(first);
        out.push('}');
        self.depth -= 1;
        Some(())
    }

    /// Puts the members of an object in order, behind the brace at `object`; gives up where two have one name.
    fn sort(&mut self, object: usize, first: usize, out: &mut String) -> Option<()> {
        let bytes = out.as_bytes();
        let name = |member: &Member| bytes.get(member.start + 1..member.name_end).unwrap_or_default();
        let members = self.members.get_mut(first..)?;
        members
            .sort_unstable_by(|left, right| left.prefix.cmp(&right.prefix).then_with(|| name(left).cmp(name(right))));
        let same = |left: &Member, right: &Member| left.prefix == right.prefix && name(left) == name(right);
        if members.windows(2).any(|pair| matches!(pair, [left, right] if same(left, right))) {
            return None;
        }
        self.sorted.clear();
        for member in members {
            if !self.sorted.is_empty() {
                self.sorted.push(',');
            }
            self.sorted.push_str(out.get(member.start..member.end)?);
        }
        out.truncate(object + 1);
        out.push_str(&self.sorted);
        Some(())
    }

    fn string(&mut self, out: &mut String) -> Option<()> {
        self.at += 1;
        out.push('"');
        loop {
            let start = self.at;
            let end = start + special(self.text.as_bytes().get(start..)?);
            out.push_str(self.text.get(start..end)?);
            match self.text.as_bytes().get(end)? {
                b'"' => {
                    self.at = end + 1;
                    out.push('"');
                    return Some(());
                }
                b'\\' => {
                    // Two letters: the canonical form of all these but the solidus.
                    match self.text.as_bytes().get(end + 1)? {
                        b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' => out.push_str(self.text.get(end..end + 2)?),
                        b'/' => out.push('/'),
                        b'u' => {
                            let (Ok(character), length) = unescape(self.text.as_bytes().get(end..)?)? else {
                                return None;
                            };
                            write_escaped(character.encode_utf8(&mut [0; 4]), out);
                            self.at = end + length;
                            continue;
                        }
                        _ => return None,
                    }
                    self.at = end + 2;
                }
                _ => return None, // a control character
            }
        }
    }

    fn enter(&mut self) -> Option<()> {
        self.at += 1;
        self.depth += 1;
        (self.depth <= MAX_QUICK_DEPTH).then_some(())
    }
}

/// The first eight bytes of a name as a number that orders as they do. A shorter name is filled up with zeros, which no
/// name without escapes holds.
fn prefix(name: &[u8]) -> u64 {
    match name.first_chunk() {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => name.iter().fold(0, |prefix, byte| prefix << 8 | u64::from(*byte)) << (8 * (8 - name.len())).min(63),
    }
}

/// How many bytes stand before the first quote, backslash or control character; all of them if there is none.
#[inline]
pub(crate) fn special(bytes: &[u8]) -> usize {
    // Names and words of text often end in the first eight bytes.
    match bytes.first_chunk().map(|chunk| specials(u64::from_le_bytes(*chunk))) {
        None => special_far(bytes),
        Some(0) => 8 + special_far(bytes.get(8..).unwrap_or_default()),
        Some(found) => (found.trailing_zeros() / 8) as usize,
    }
}

fn special_far(bytes: &[u8]) -> usize {
    let (chunks, rest) = bytes.as_chunks();
    let mut at = 0;
    for chunk in chunks {
        let found = specials(u64::from_le_bytes(*chunk));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let found = rest.iter().position(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\'));
    at + found.unwrap_or(rest.len())
}

/// A word whose lowest bit that is set is in the lowest byte of `word` that is a quote, a backslash or a control character.
fn specials(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    // The high bit of a byte of the result is set where that byte of the word is zero, or above the first that is.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let quote = zero(word ^ (ONES * b'"' as u64));
    let backslash = zero(word ^ (ONES * b'\\' as u64));
    let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
    quote | backslash | control
}

/// Whether a number is spelled as RFC 8785 wants it, as far as can be seen at once: up to 15 digits, no exponent, and
/// neither a minus before zero nor a fraction that ends in zero or begins with many.
fn is_canonical_number(spelling: &[u8]) -> bool {
    let digits = spelling.strip_prefix(b"-").unwrap_or(spelling);
    if digits.len() > 16 {
        return false;
    }
    match memchr::memchr(b'.', digits) {
        None => digits.len() <= 15 && digits.iter().all(u8::is_ascii_digit) && spelling != b"-0",
        Some(point) => {
            let fraction = digits.get(point + 1..).unwrap_or_default();
            let small = digits.first() == Some(&b'0') && fraction.starts_with(b"0000");
            fraction.iter().all(u8::is_ascii_digit) && fraction.last() != Some(&b'0') && !small
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse, write_canonical};
    use super::*;

    fn quick(text: &str, numbers: Numbers) -> Option<(String, bool)> {
        let mut out = String::from("before");
        let mut quick = Quick::new(text, numbers);
        let canonical = quick.canonical(&mut out)?;
        quick.is_at_end().then(|| (out.split_off(6), canonical.interoperable))
    }

    fn careful(text: &str, numbers: Numbers) -> Option<(String, bool)> {
        let mut out = String::new();
        let canonical = write_canonical(&parse(text.as_bytes()).ok()?, numbers, &mut out).ok()?;
        Some((out, canonical.interoperable))
    }

    #[test]
    fn writes_what_the_careful_way_writes() {
        for text in [
            "0",
            "-0",
            "1",
            "-15",
            "10",
            "01",
            "1.5",
            "1.50",
            "0.1",
            "0.00001",
            "0.0001",
            "0.000001",
            "1e3",
            "1E-7",
            "1.",
            "-",
            "-.5",
            "+1",
            "123456789012345",
            "1234567890123456",
            "9007199254740993",
            "1234567.8901234",
            "0.12345678901234",
            "1e400",
            "0.0",
            "null",
            "nul",
            "true",
            "false",
            "\"\"",
            "\"a\"",
            "\"",
            "\"a",
            "\"\u{1}\"",
            "\"\u{7f}é😀\"",
            r#""\n\t\"\\\/\b\f\r""#,
            r#""\u0041\u00e9\u0000\u001f\u0022\u005c\u000a\ud83d\ude00""#,
            r#""\ud800""#,
            r#""\u12""#,
            r#""\ud800\u0041""#,
            r#""\x""#,
            r#""\u+123""#,
            "[]",
            "[ ]",
            "[1, 2 ,3]",
            "[1,]",
            "[",
            "[1",
            "[[[]]]",
            "{}",
            "{ }",
            r#"{"a":1,"b":2}"#,
            r#"{"b":1,"a":2}"#,
            r#"{"b":{"d":1,"c":[{"z":1,"y":2}]},"a":2,"aa":3,"":4}"#,
            r#"{"a":1,"a":2}"#,
            r#"{"b":1,"a":1,"b":2}"#,
            r#"{"a" : 1 , "b":2 }"#,
            r#"{"a":1,}"#,
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"é":1,"e":2,"z":3}"#,
            "{\"\u{fb33}\":1,\"😀\":2}",
            r#"{"\u0061":1}"#,
            r#"{"12345678\n":1}"#,
            "1 2",
            "  \"12345678\\\\\"  ",
            "\"123456\u{1f}7\"",
            "\"1234567\"",
        ] {
            for numbers in [Numbers::Exact, Numbers::Rfc8785] {
                if let Some(quick) = quick(text, numbers) {
                    assert_eq!(Some(quick), careful(text, numbers), "{text}");
                }
            }
        }
    }

    #[test]
    fn follows_ordinary_values() {
        for text in [
            "0",
            "-15",
            "1.5",
            "1.50",
            "9007199254740993",
            "1e3",
            r#"{"b":{"d":1,"c":[]},"a":"x\ny\u00e9"}"#,
            "[[1],null]",
        ] {
            assert!(quick(text, Numbers::Exact).is_some(), "{text}");
        }
        let deep = format!("{}{}", "[".repeat(64), "]".repeat(64));
        assert!(quick(&deep, Numbers::Exact).is_some());
        assert!(quick(&format!("[{deep}]"), Numbers::Exact).is_none());
    }

    #[test]
    fn special_bytes_are_found_wherever_they_are() {
        for length in 0..40 {
            for at in 0..length {
                for byte in [b'"', b'\\', 0, 0x1f] {
                    let mut bytes = vec![0xC3; length];
                    bytes[at] = byte;
                    assert_eq!(special(&bytes), at);
                }
            }
            assert_eq!(special(&vec![b' '; length]), length);
            assert_eq!(special(&vec![0x80; length]), length);
        }
    }
}
