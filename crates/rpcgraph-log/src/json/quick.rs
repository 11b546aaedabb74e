//! Canonical JSON in one pass over the source, without values.
//!
//! [`QuickWriter`] checks and canonicalises in one pass, and copies canonical text up to the next byte that is not
//! canonical at once. It writes the same text as [`write_canonical`](super::write_canonical) writes for a value from
//! [`parse`](super::parse); tests compare them.

use std::cmp::Ordering;
use std::ops::Range;

use super::canonical::{Canonical, Numbers, is_canonical_number, number_text, write_char, write_unit};
use super::{Cursor, Evidence, MAX_DEPTH, Number, Text};

/// The maximum size, in bytes, of objects that are sorted at once. Each level of nesting may sort a byte once more.
const SHORT: usize = 1 << 10;

/// Writes canonical JSON from JSON text, reusing its buffers for the next text.
pub struct QuickWriter {
    numbers: Numbers,
    /// The written members of all open objects.
    members: Vec<WrittenMember>,
    /// The objects whose members must be sorted, and the ranges of their members in order.
    unsorted: Vec<UnsortedObject>,
    sorted: Vec<(u32, u32)>,
    scratch: String,
    /// The length of the output before the value.
    start: usize,
    /// The offset in the source of the first byte that is not copied yet. From there to the cursor, it is canonical.
    uncopied: usize,
    /// The number of arrays and objects around the value, and around the cursor.
    around: usize,
    depth: usize,
    interoperable: bool,
    evidence: Evidence,
}

/// The place of a member in the canonical text of its object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemberSpan {
    start: u32,
    /// End of the name, before its closing quote.
    name_end: u32,
    end: u32,
}

impl MemberSpan {
    /// Returns the name as spelled, without quotes.
    #[inline]
    pub fn name<'t>(&self, object: &'t str) -> Option<&'t str> {
        object.get(self.start as usize + 1..self.name_end as usize)
    }

    /// Returns the value.
    #[inline]
    pub fn value<'t>(&self, object: &'t str) -> Option<&'t str> {
        object.get(self.name_end as usize + 2..self.end as usize)
    }
}

/// A member that has been written: `"name":value`. Offsets count from the start of the value.
#[derive(Clone, Copy)]
struct WrittenMember {
    /// The first bytes of the name, which nearly always decide the order.
    prefix: u64,
    span: MemberSpan,
}

impl WrittenMember {
    /// Returns the name, as it was written.
    fn name<'w>(&self, written: &'w [u8]) -> &'w [u8] {
        written.get(self.span.start as usize + 1..self.span.name_end as usize).unwrap_or_default()
    }

    /// Compares the names of two members, both without escape sequences.
    fn compare_names(&self, other: &Self, written: &[u8]) -> Ordering {
        self.prefix.cmp(&other.prefix).then_with(|| self.name(written).cmp(other.name(written)))
    }
}

/// An object that was written with its members as they came.
struct UnsortedObject {
    /// The offset of its opening brace, and of its closing brace.
    start: u32,
    end: u32,
    /// The place of its members in the list of sorted members.
    members: Range<u32>,
}

impl QuickWriter {
    /// Creates a writer for a form of numbers.
    pub fn new(numbers: Numbers) -> Self {
        Self {
            numbers,
            members: Vec::new(),
            unsorted: Vec::new(),
            sorted: Vec::new(),
            scratch: String::new(),
            start: 0,
            uncopied: 0,
            around: 0,
            depth: 0,
            interoperable: true,
            evidence: Evidence::default(),
        }
    }

    /// Frees the extra room that very large texts needed.
    pub(crate) fn shrink(&mut self) {
        self.members.shrink_to(1 << 14);
        self.unsorted.shrink_to(1 << 14);
        self.sorted.shrink_to(1 << 14);
        self.scratch.shrink_to(1 << 20);
    }

    /// Appends the canonical form of a text. `None` if [`QuickWriter`] cannot write it: if the text is not one JSON value,
    /// is nested too deep, is larger than 4 GiB, or has a number that the form of numbers changes. `out` may then hold a
    /// part.
    #[doc(hidden)]
    pub fn write_text(&mut self, text: &str, out: &mut String) -> Option<Canonical> {
        let mut cursor = Cursor::new(text, 0);
        let canonical = self.write(&mut cursor, 0, out)?;
        cursor.is_at_end().then_some(canonical)
    }

    /// Appends the canonical form of the next value, which is inside `depth` arrays and objects. `None` as for
    /// [`QuickWriter::write_text`].
    pub(crate) fn write(&mut self, cursor: &mut Cursor<'_>, depth: usize, out: &mut String) -> Option<Canonical> {
        self.start = out.len();
        self.uncopied = cursor.at();
        (self.around, self.depth) = (depth, depth);
        self.interoperable = true;
        self.evidence = Evidence::default();
        self.members.clear();
        self.unsorted.clear();
        self.sorted.clear();
        self.value(cursor, out)?;
        self.copy(cursor, cursor.at(), out)?;
        if !self.unsorted.is_empty() {
            self.sort(out)?;
        }
        if self.evidence.duplicate_member && !self.interoperable {
            // Perhaps only because of a member that was replaced.
            let text = out.get(self.start..)?;
            self.interoperable = Self::new(self.numbers).write_text(text, &mut String::new())?.interoperable;
        }
        Some(Canonical { interoperable: self.interoperable })
    }

    /// The evidence in the value that was written last.
    pub(crate) fn evidence(&self) -> Evidence {
        self.evidence
    }

    /// The members of the value that was written last, if it is an object, in the order of their names. `None` if their
    /// places are not known.
    pub(crate) fn members(&self) -> Option<impl Iterator<Item = MemberSpan>> {
        self.unsorted.is_empty().then(|| self.members.iter().map(|member| member.span))
    }

    /// Copies the canonical source up to an offset.
    #[inline]
    fn copy(&mut self, cursor: &Cursor<'_>, until: usize, out: &mut String) -> Option<()> {
        out.push_str(cursor.text_between(self.uncopied, until)?);
        self.uncopied = until;
        Some(())
    }

    /// Returns the length of the written value, with the canonical source that is not yet copied.
    #[inline]
    fn written(&self, cursor: &Cursor<'_>, out: &str) -> usize {
        out.len() - self.start + cursor.at() - self.uncopied
    }

    /// Skips whitespace, which is not copied, and returns the byte after it.
    #[inline]
    fn peek(&mut self, cursor: &mut Cursor<'_>, out: &mut String) -> Option<u8> {
        match cursor.byte()? {
            byte @ b'!'.. => Some(byte),
            _ => {
                self.copy(cursor, cursor.at(), out)?;
                let next = cursor.peek();
                self.uncopied = cursor.at();
                next
            }
        }
    }

    fn value(&mut self, cursor: &mut Cursor<'_>, out: &mut String) -> Option<()> {
        match self.peek(cursor, out)? {
            b'"' => self.string(cursor, out)?,
            b'{' => self.object(cursor, out)?,
            b'[' => self.array(cursor, out)?,
            b't' | b'f' | b'n' => drop(cursor.word()?),
            _ => {
                let start = cursor.at();
                let spelling = cursor.number()?;
                if !is_canonical_number(spelling.as_bytes()) {
                    self.copy(cursor, start, out)?;
                    self.uncopied = cursor.at();
                    let kept = number_text(Number::new(spelling), Numbers::Exact, out).ok()?;
                    if !kept && self.numbers == Numbers::Rfc8785 {
                        return None; // the value changes
                    }
                    self.interoperable &= kept;
                }
            }
        }
        Some(())
    }

    fn array(&mut self, cursor: &mut Cursor<'_>, out: &mut String) -> Option<()> {
        self.enter(cursor)?;
        self.peek(cursor, out)?;
        let mut more = cursor.take(b']').is_none();
        while more {
            self.value(cursor, out)?;
            self.peek(cursor, out)?;
            more = cursor.another(b']')?;
        }
        self.depth -= 1;
        Some(())
    }

    fn object(&mut self, cursor: &mut Cursor<'_>, out: &mut String) -> Option<()> {
        let object = self.written(cursor, out);
        self.enter(cursor)?;
        let (first, unsorted) = (self.members.len(), self.unsorted.len());
        let (mut is_ordered, mut is_plain) = (true, true);
        let mut before = None;
        self.peek(cursor, out)?;
        let mut more = cursor.take(b'}').is_none();
        while more {
            if self.peek(cursor, out)? != b'"' {
                return None;
            }
            let (start, quote) = (self.written(cursor, out), cursor.clone());
            cursor.skip();
            let (prefix, name_end) = match cursor.rest_of_plain_string() {
                // Names above U+DFFF are compared by UTF-16 code unit.
                Some(name) if name.is_ascii() || name.bytes().all(|byte| byte < 0xEE) => {
                    let prefix = cursor.prefix(quote.at() + 1, name.len());
                    is_ordered &= before < Some((prefix, name));
                    before = Some((prefix, name));
                    (prefix, start + 1 + name.len())
                }
                _ => {
                    *cursor = quote;
                    is_plain = false;
                    (0, self.odd_name(cursor, out)?)
                }
            };
            self.peek(cursor, out)?;
            cursor.take(b':')?;
            self.value(cursor, out)?;
            let end = u32::try_from(self.written(cursor, out)).ok()?;
            // Both are less than `end`.
            let span = MemberSpan { start: start as u32, name_end: name_end as u32, end };
            self.members.push(WrittenMember { prefix, span });
            self.peek(cursor, out)?;
            more = cursor.another(b'}')?;
        }
        if !(is_ordered && is_plain) {
            self.copy(cursor, cursor.at() - 1, out)?;
            // A short object without unsorted objects in it is sorted at once, any other later.
            let is_short = out.len() - self.start - object <= SHORT;
            let is_simple = is_plain && is_short && self.unsorted.len() == unsorted;
            if !(is_simple && self.sort_short(object, first, out)?) {
                self.sort_members(object, first, is_plain, out)?;
            }
        }
        self.depth -= 1;
        if self.depth > self.around {
            self.members.truncate(first);
        }
        Some(())
    }

    /// Sorts the members of an object with its opening brace at `object`, and keeps the last one of each name. The text
    /// follows later, once for all objects.
    fn sort_members(&mut self, object: usize, first: usize, is_plain: bool, out: &str) -> Option<()> {
        let written = out.as_bytes().get(self.start..)?;
        let order = |left: &WrittenMember, right: &WrittenMember| match is_plain {
            true => left.compare_names(right, written),
            false => {
                let [left, right] = [left, right].map(|member| str::from_utf8(member.name(written)));
                Text::decode(left.unwrap_or_default()).cmp_utf16(&Text::decode(right.unwrap_or_default()))
            }
        };
        let own = self.members.get_mut(first..)?;
        own.sort_unstable_by(|left, right| order(left, right).then(left.span.start.cmp(&right.span.start)));
        let from = self.sorted.len();
        let mut kept = own.iter().peekable();
        let mut duplicate = false;
        while let Some(member) = kept.next() {
            match kept.peek() {
                Some(next) if order(member, next).is_eq() => duplicate = true,
                _ => self.sorted.push((member.span.start, member.span.end)),
            }
        }
        self.evidence.duplicate_member |= duplicate;
        let end = u32::try_from(written.len()).ok()?;
        // All are less than `end`.
        let members = from as u32..self.sorted.len() as u32;
        self.unsorted.push(UnsortedObject { start: object as u32, end, members });
        Some(())
    }

    /// Writes the value again, with the members of all objects in order.
    fn sort(&mut self, out: &mut String) -> Option<()> {
        self.scratch.clear();
        self.scratch.push_str(out.get(self.start..)?);
        out.truncate(self.start);
        self.unsorted.sort_unstable_by_key(|object| object.start);
        self.copy_sorted(0, u32::try_from(self.scratch.len()).ok()?, out)
    }

    /// Copies a part of the written text, with the members of its objects in order.
    fn copy_sorted(&self, mut from: u32, until: u32, out: &mut String) -> Option<()> {
        let text = |from: u32, until: u32| self.scratch.get(from as usize..until as usize);
        let mut next = self.unsorted.partition_point(|object| object.start < from);
        while let Some(object) = self.unsorted.get(next).filter(|object| object.start < until) {
            out.push_str(text(from, object.start + 1)?);
            let members = self.sorted.get(object.members.start as usize..object.members.end as usize)?;
            for (index, (start, end)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                self.copy_sorted(*start, *end, out)?;
            }
            from = object.end;
            next += self.unsorted.get(next..)?.partition_point(|object| object.start < from);
        }
        out.push_str(text(from, until)?);
        Some(())
    }

    /// Writes an object with plain names again, with its members in order. False if two members have the same name.
    fn sort_short(&mut self, object: usize, first: usize, out: &mut String) -> Option<bool> {
        let written = out.as_bytes().get(self.start..)?;
        let order = |left: &WrittenMember, right: &WrittenMember| left.compare_names(right, written);
        let members = self.members.get_mut(first..)?;
        members.sort_unstable_by(order);
        if members.windows(2).any(|pair| matches!(pair, [left, right] if order(left, right).is_eq())) {
            return Some(false);
        }
        self.scratch.clear();
        let mut start = object as u32 + 1;
        for WrittenMember { span, .. } in members {
            if !self.scratch.is_empty() {
                self.scratch.push(',');
            }
            self.scratch.push_str(out.get(self.start + span.start as usize..self.start + span.end as usize)?);
            let length = span.end - span.start;
            *span = MemberSpan { start, name_end: start + span.name_end - span.start, end: start + length };
            start += length + 1;
        }
        out.truncate(self.start + object + 1);
        out.push_str(&self.scratch);
        Some(true)
    }

    fn enter(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        cursor.skip();
        self.depth += 1;
        (self.depth <= MAX_DEPTH).then_some(())
    }

    /// Reads a name that has escape sequences or characters above U+DFFF. Returns the end of the name.
    #[cold]
    fn odd_name(&mut self, cursor: &mut Cursor<'_>, out: &mut String) -> Option<usize> {
        let start = self.written(cursor, out);
        self.string(cursor, out)?;
        self.copy(cursor, cursor.at(), out)?;
        let name = out.as_bytes().get(self.start + start..)?;
        self.interoperable &= name.iter().all(|byte| *byte < 0xEE);
        Some(start + name.len() - 1)
    }

    /// Reads a string.
    #[inline(always)]
    fn string(&mut self, cursor: &mut Cursor<'_>, out: &mut String) -> Option<()> {
        cursor.skip();
        loop {
            match cursor.next_special()? {
                b'"' => break,
                b'\\' if cursor.pass_short_escape() => {}
                b'\\' => self.long_escape(cursor, out)?,
                _ => return None, // a control character
            }
        }
        cursor.skip();
        Some(())
    }

    #[cold]
    fn long_escape(&mut self, cursor: &mut Cursor<'_>, out: &mut String) -> Option<()> {
        self.copy(cursor, cursor.at(), out)?;
        let unescaped = cursor.escape()?;
        self.uncopied = cursor.at();
        match unescaped {
            Ok(character) => write_char(character, out),
            Err(lone) => {
                (self.interoperable, self.evidence.lone_surrogate) = (false, true);
                write_unit(lone, out);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse, write_canonical};
    use super::*;

    fn quick(text: &str, numbers: Numbers) -> Option<(String, bool, Evidence)> {
        let mut out = String::from("before");
        let mut writer = QuickWriter::new(numbers);
        let canonical = writer.write_text(text, &mut out)?;
        Some((out.split_off(6), canonical.interoperable, writer.evidence()))
    }

    fn careful(text: &str, numbers: Numbers) -> Option<(String, bool, Evidence)> {
        let mut out = String::new();
        let value = parse(text.as_bytes()).ok()?;
        let canonical = write_canonical(&value, numbers, &mut out).ok()?;
        Some((out, canonical.interoperable, value.evidence()))
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
            r#" { "b" : [ 1 , { "d" : "\u00e9 x" , "c" : -0 } , "\ud83d\ude00\n" , 1e2 ] , "a" : { } , "aa" : [ ] } "#,
            r#"{"b":1.0,"\u0062":2 , "a":"\/"}"#,
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
            r#"["\ud800","\ud800\ud800\udc00","\udc00x"]"#,
            r#"{"b":1,"a":2,"":3,"aa":4,"ab":5,"aaaa":6,"aaab":7}"#,
            r#"{"a":1,"b":{"a":1,"a":2},"a" : 3}"#,
            r#"{"\u0062":1,"a":2,"\ud800":3,"a\u0000":4}"#,
            r#"{"a":1e400,"b":[{"d":1,"c":2}],"a":{"z":1,"y":[{"x":"\ud800","x":1}]}}"#,
            r#"{"a":1e400,"a":1}"#,
            "{\"\u{fb33}\":1,\"😀\":2,\"é\":{}}",
        ] {
            assert_eq!(quick(text, Numbers::Exact), careful(text, Numbers::Exact), "{text}");
            if let Some(quick) = quick(text, Numbers::Rfc8785) {
                assert_eq!(Some(quick), careful(text, Numbers::Rfc8785), "{text}");
            }
        }
    }

    #[test]
    fn nesting_is_followed_up_to_the_limit() {
        let objects = |levels: usize| format!("{}0{}", "{\"b\":".repeat(levels), ",\"a\":1}".repeat(levels));
        for levels in [MAX_DEPTH / 2, MAX_DEPTH / 2 + 1] {
            let text = format!("{}{}{}", "[".repeat(MAX_DEPTH / 2), objects(levels), "]".repeat(MAX_DEPTH / 2));
            assert_eq!(quick(&text, Numbers::Exact), careful(&text, Numbers::Exact), "{levels}");
        }
    }
}
