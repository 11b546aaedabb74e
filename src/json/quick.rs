//! Canonical JSON in one pass over the source, for nearly all traffic.
//!
//! [`QuickWriter`] checks, canonicalises and copies in one pass, and builds nothing. At anything unusual (an error, a
//! duplicate member, a lone surrogate, deep nesting) it gives up, and the careful path decides, with
//! [`parse`](super::parse) and [`write_canonical`](super::write_canonical). Both paths write the same text; tests
//! compare them.

use super::canonical::{Canonical, Numbers, number_text, write_char};
use super::{Cursor, Number};

/// The deepest nesting that the quick path follows: each level may move members that are out of order once more.
pub(crate) const MAX_QUICK_DEPTH: usize = 64;

/// Writes canonical JSON from JSON text, reusing its buffers for the next text.
pub struct QuickWriter {
    numbers: Numbers,
    /// The written members of all open objects.
    members: Vec<WrittenMember>,
    sorted: String,
    depth: usize,
    interoperable: bool,
}

/// A member that has been written: `"name":value`.
#[derive(Clone, Copy)]
struct WrittenMember {
    /// The first bytes of the name, which nearly always decide the order.
    prefix: u64,
    start: usize,
    /// End of the name, before its closing quote.
    name_end: usize,
    end: usize,
}

impl QuickWriter {
    /// Creates a writer for a form of numbers.
    pub fn new(numbers: Numbers) -> Self {
        Self { numbers, members: Vec::new(), sorted: String::new(), depth: 0, interoperable: true }
    }

    /// Frees the extra room that very large texts needed.
    pub(crate) fn shrink(&mut self) {
        self.members.shrink_to(1 << 14);
        self.sorted.shrink_to(1 << 20);
    }

    /// Appends the canonical form of a text. `None` if the careful path has to decide; `out` may then hold a part.
    #[doc(hidden)]
    pub fn write_text(&mut self, text: &str, out: &mut String) -> Option<Canonical> {
        let mut cursor = Cursor::new(text, 0);
        let canonical = self.write(&mut cursor, out)?;
        cursor.is_at_end().then_some(canonical)
    }

    /// Appends the canonical form of the next value. `None` if the careful path has to decide; `out` may then hold a
    /// part.
    pub(crate) fn write(&mut self, cursor: &mut Cursor<'_>, out: &mut String) -> Option<Canonical> {
        self.interoperable = true;
        self.depth = 0;
        self.members.clear();
        self.value(cursor, out)?;
        Some(Canonical { interoperable: self.interoperable })
    }

    fn value(&mut self, cursor: &mut Cursor<'_>, out: &mut String) -> Option<()> {
        match cursor.peek()? {
            b'"' => string(cursor, out)?,
            b'{' => self.object(cursor, out)?,
            b'[' => self.array(cursor, out)?,
            b't' | b'f' | b'n' => out.push_str(cursor.word()?),
            _ => {
                let kept = number_text(Number::new(cursor.number()?), Numbers::Exact, out).ok()?;
                if !kept && self.numbers == Numbers::Rfc8785 {
                    return None; // the value changes: a matter for the careful path
                }
                self.interoperable &= kept;
            }
        }
        Some(())
    }

    fn array(&mut self, cursor: &mut Cursor<'_>, out: &mut String) -> Option<()> {
        self.enter(cursor)?;
        out.push('[');
        let mut more = cursor.take(b']').is_none();
        while more {
            self.value(cursor, out)?;
            more = cursor.another(b']')?;
            if more {
                out.push(',');
            }
        }
        out.push(']');
        self.depth -= 1;
        Some(())
    }

    fn object(&mut self, cursor: &mut Cursor<'_>, out: &mut String) -> Option<()> {
        self.enter(cursor)?;
        let object = out.len();
        let first = self.members.len();
        let mut ordered = true;
        out.push('{');
        let mut more = cursor.take(b'}').is_none();
        while more {
            let start = out.len();
            // Names with escape sequences must be decoded to be compared, and names above U+DFFF compared by UTF-16
            // code unit.
            let name = cursor.plain_string()?;
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
            cursor.take(b':')?;
            self.value(cursor, out)?;
            self.members.push(WrittenMember { prefix, start, name_end, end: out.len() });
            more = cursor.another(b'}')?;
            if more {
                out.push(',');
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

    /// Sorts the members of an object, after its brace at `object`. `None` if two members have the same name.
    fn sort(&mut self, object: usize, first: usize, out: &mut String) -> Option<()> {
        let bytes = out.as_bytes();
        let name = |member: &WrittenMember| bytes.get(member.start + 1..member.name_end).unwrap_or_default();
        let order = |left: &WrittenMember, right: &WrittenMember| {
            left.prefix.cmp(&right.prefix).then_with(|| name(left).cmp(name(right)))
        };
        let members = self.members.get_mut(first..)?;
        members.sort_unstable_by(order);
        if members.windows(2).any(|pair| matches!(pair, [left, right] if order(left, right).is_eq())) {
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

    fn enter(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        cursor.skip();
        self.depth += 1;
        (self.depth <= MAX_QUICK_DEPTH).then_some(())
    }
}

fn string(cursor: &mut Cursor<'_>, out: &mut String) -> Option<()> {
    cursor.skip();
    out.push('"');
    loop {
        let (plain, special) = cursor.plain()?;
        out.push_str(plain);
        match special {
            b'"' => break,
            b'\\' => match cursor.short_escape() {
                Some(escape) => out.push_str(escape),
                None => write_char(cursor.escape()?.ok()?, out),
            },
            _ => return None, // a control character
        }
    }
    cursor.skip();
    out.push('"');
    Some(())
}

/// Returns the first eight bytes of a name as a number with the same order. A shorter name is padded with zeros, which
/// names without escape sequences do not contain.
fn prefix(name: &[u8]) -> u64 {
    match name.first_chunk() {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => name.iter().fold(0, |prefix, byte| prefix << 8 | u64::from(*byte)) << (8 * (8 - name.len())).min(63),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse, write_canonical};
    use super::*;

    fn quick(text: &str, numbers: Numbers) -> Option<(String, bool)> {
        let mut out = String::from("before");
        let canonical = QuickWriter::new(numbers).write_text(text, &mut out)?;
        Some((out.split_off(6), canonical.interoperable))
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
}
