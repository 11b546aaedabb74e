//! JSON that is too large to be held as values: its checked text, and an index to write it in canonical form.
//!
//! A value takes up to 30 times the memory of its text. An [`Outline`] takes at most as much as its text; writing an
//! object takes 8 bytes more for each of its members.

use std::cmp::Ordering;

use super::canonical::{Numbers, number_text, write_char, write_string, write_unit};
use super::parse::{Build, Scalar, build};
use super::text::utf16_rank;
use super::{Array, Cursor, Error, Evidence, Number, Object, Text, Value, unescape};

/// The index holds the ends of arrays and objects at every level that is a multiple of this number. Skipping a value
/// reads each byte down to the next such level once, and deeper bytes not at all. So writing a whole text reads each
/// byte at most this many times.
const LEVELS: usize = 8;
/// Shorter arrays and objects, in bytes, are not in the index.
const SHORT: usize = 64;

/// A valid JSON text.
pub(crate) struct Outline<'a> {
    text: &'a str,
    /// True if a string or a member name has a lone surrogate.
    pub lone_surrogate: bool,
    /// The index: start and end of arrays and objects, in order.
    ends: Vec<(usize, usize)>,
}

/// The place of a value in the text, or of whitespace before the value.
#[derive(Clone, Copy)]
pub(crate) struct OutlinePlace {
    at: usize,
    /// The number of arrays and objects around the value.
    level: usize,
}

/// A member of an object.
#[derive(Clone, Copy)]
pub(crate) struct OutlineMember(u64);

/// The number of bits of a member that hold its offset in the text: enough for a terabyte. The bits above hold the
/// first bytes of its name.
const OFFSET: u32 = 40;

impl OutlineMember {
    fn new(at: usize, name: &str) -> Self {
        let first = |index| name.as_bytes().get(index).copied().map_or(0, utf16_rank);
        Self(at as u64 | u64::from(u32::from_be_bytes([0, first(0), first(1), first(2)])) << OFFSET)
    }

    fn at(self) -> usize {
        (self.0 & ((1 << OFFSET) - 1)) as usize
    }
}

#[derive(Default)]
struct OutlineBuilder {
    open: Vec<usize>,
    ends: Vec<(usize, usize)>,
    lone_surrogate: bool,
}

impl<'a> Build<'a> for OutlineBuilder {
    type Built = ();

    fn scalar(&mut self, scalar: Scalar<'a>) {
        if let Scalar::String(inner) = scalar {
            self.name(inner);
        }
    }

    fn begin(&mut self, start: usize) {
        self.open.push(start);
    }

    fn name(&mut self, name: &'a str) {
        let mut rest = name.as_bytes();
        while let Some(escape) = memchr::memchr(b'\\', rest).and_then(|at| rest.get(at..)) {
            let Some((unescaped, length)) = unescape(escape) else { return };
            self.lone_surrogate |= unescaped.is_err();
            rest = escape.get(length..).unwrap_or_default();
        }
    }

    fn add(&mut self, (): ()) {}

    fn end(&mut self, _: u8, _: &'a str, end: usize) {
        let start = self.open.pop().unwrap_or_default();
        if self.open.len().is_multiple_of(LEVELS) && end - start >= SHORT {
            self.ends.push((start, end));
        }
    }
}

impl<'a> Outline<'a> {
    /// Checks a text as [`parse`](super::parse) does.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut builder = OutlineBuilder::default();
        build(bytes, &mut builder)?;
        let OutlineBuilder { mut ends, lone_surrogate, .. } = builder;
        ends.sort_unstable();
        Ok(Self { text: str::from_utf8(bytes).unwrap_or_default(), lone_surrogate, ends })
    }

    /// The text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// True if the outermost value is an array.
    pub fn is_array(&self) -> bool {
        matches!(self.hollow(self.root()), Value::Array(_))
    }

    /// The outermost value.
    pub fn root(&self) -> OutlinePlace {
        OutlinePlace { at: 0, level: 0 }
    }

    /// Returns the texts of the elements of the outermost value, if it is an array.
    pub fn elements(&self) -> impl Iterator<Item = &'a str> {
        let mut cursor = Cursor::new(self.text, 0);
        let mut more = cursor.take(b'[').is_some() && cursor.peek() != Some(b']');
        std::iter::from_fn(move || {
            if !more {
                return None;
            }
            cursor.peek();
            let start = cursor.at();
            self.pass(&mut cursor, 1);
            let element = self.text.get(start..cursor.at());
            more = cursor.another(b']') == Some(true);
            element
        })
    }

    /// Returns the members of an object in the order of RFC 8785, keeping the last member of each name; true if a name
    /// occurs twice; and the offset where the object ends.
    pub fn members(&self, object: OutlinePlace) -> (Vec<OutlineMember>, bool, usize) {
        let mut cursor = Cursor::new(self.text, object.at);
        let (mut members, mut plain) = (Vec::new(), true);
        let mut more = cursor.take(b'{').is_some() && cursor.take(b'}').is_none();
        while more {
            cursor.peek();
            let at = cursor.at();
            let name = cursor.string().unwrap_or_default();
            plain &= memchr::memchr(b'\\', name.as_bytes()).is_none();
            members.push(OutlineMember::new(at, name));
            cursor.take(b':');
            self.pass(&mut cursor, object.level + 1);
            more = cursor.another(b'}') == Some(true);
        }
        let by_name = |left: &OutlineMember, right: &OutlineMember| match (left.0 >> OFFSET).cmp(&(right.0 >> OFFSET)) {
            Ordering::Equal => self.name(*left).cmp_utf16(&self.name(*right)),
            // The first bytes of names without escapes decide.
            order if plain => order,
            _ => self.name(*left).cmp_utf16(&self.name(*right)),
        };
        members.sort_unstable_by(|left, right| by_name(left, right).then_with(|| left.at().cmp(&right.at())));
        let count = members.len();
        members.dedup_by(|later, earlier| {
            let same = by_name(later, earlier).is_eq();
            if same {
                *earlier = *later;
            }
            same
        });
        let duplicate = members.len() < count;
        (members, duplicate, cursor.at())
    }

    /// Returns the name of a member.
    pub fn name(&self, member: OutlineMember) -> Text<'a> {
        Text::decode(Cursor::new(self.text, member.at()).string().unwrap_or_default())
    }

    /// Returns the place of the value of a member of `object`.
    pub fn value(&self, object: OutlinePlace, member: OutlineMember) -> OutlinePlace {
        let mut cursor = Cursor::new(self.text, member.at());
        let _ = cursor.string();
        cursor.take(b':');
        OutlinePlace { at: cursor.at(), level: object.level + 1 }
    }

    /// Returns a value without the content of arrays and objects.
    pub fn hollow(&self, place: OutlinePlace) -> Value<'a> {
        let (mut cursor, evidence) = (Cursor::new(self.text, place.at), Evidence::default());
        match cursor.peek() {
            Some(b'[') => Value::Array(Array { items: Vec::new(), raw: "", evidence }),
            Some(b'{') => Value::Object(Object { members: Vec::new(), raw: "", evidence }),
            Some(b'"') => Scalar::String(cursor.string().unwrap_or_default()).value(),
            Some(b't' | b'f' | b'n') => Scalar::Word(cursor.word().unwrap_or("null")).value(),
            _ => Scalar::Number(cursor.number().unwrap_or("0")).value(),
        }
    }

    /// Skips the next value, which is inside `level` arrays and objects.
    fn pass(&self, cursor: &mut Cursor<'a>, level: usize) {
        let mut depth = 0;
        loop {
            match cursor.peek() {
                Some(b'"') => drop(cursor.string()),
                Some(b'[' | b'{') => match self.end_of(cursor.at(), level + depth) {
                    Some(end) => *cursor = Cursor::new(self.text, end),
                    None => {
                        cursor.skip();
                        depth += 1;
                        continue;
                    }
                },
                Some(b']' | b'}') => {
                    cursor.skip();
                    depth -= 1;
                }
                Some(b',' | b':') => cursor.skip(),
                Some(b't' | b'f' | b'n') => drop(cursor.word()),
                Some(_) => drop(cursor.number()),
                None => return,
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// Returns the offset where the array or object that begins at `start` ends, if the index holds it.
    fn end_of(&self, start: usize, level: usize) -> Option<usize> {
        if !level.is_multiple_of(LEVELS) {
            return None;
        }
        let index = self.ends.binary_search_by_key(&start, |(start, _)| *start).ok()?;
        self.ends.get(index).map(|(_, end)| *end)
    }
}

/// Writes values of an outline in canonical form, with [`Numbers::Exact`].
pub(crate) struct OutlineWriter<'o, 'a> {
    outline: &'o Outline<'a>,
    /// True if an object with a duplicate member was written.
    pub duplicate_member: bool,
    /// See [`Canonical::interoperable`](super::Canonical::interoperable); covers what was written since the field was
    /// set.
    pub interoperable: bool,
}

impl<'o, 'a> OutlineWriter<'o, 'a> {
    pub fn new(outline: &'o Outline<'a>) -> Self {
        Self { outline, duplicate_member: false, interoperable: true }
    }

    /// Appends a value, and returns the offset where it ends.
    pub fn value(&mut self, place: OutlinePlace, out: &mut String) -> usize {
        let mut cursor = Cursor::new(self.outline.text, place.at);
        match cursor.peek() {
            Some(b'{') => {
                let (members, duplicate, end) = self.outline.members(place);
                self.duplicate_member |= duplicate;
                self.object(place, &members, out);
                return end;
            }
            Some(b'[') => {
                cursor.skip();
                out.push('[');
                let mut more = cursor.take(b']').is_none();
                while more {
                    let end = self.value(OutlinePlace { at: cursor.at(), level: place.level + 1 }, out);
                    cursor = Cursor::new(self.outline.text, end);
                    more = cursor.another(b']') == Some(true);
                    if more {
                        out.push(',');
                    }
                }
                out.push(']');
            }
            Some(b'"') => self.string(&mut cursor, out),
            Some(b't' | b'f' | b'n') => out.push_str(cursor.word().unwrap_or_default()),
            _ => {
                let number = Number::new(cursor.number().unwrap_or_default());
                // Exact numbers never fail.
                self.interoperable &= number_text(number, Numbers::Exact, out).unwrap_or(false);
            }
        }
        cursor.at()
    }

    /// Appends an object with the given `members` of `object`.
    pub fn object(&mut self, object: OutlinePlace, members: &[OutlineMember], out: &mut String) {
        out.push('{');
        for (index, member) in members.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            let name = self.outline.name(*member);
            self.interoperable &= name.as_str().is_some_and(|name| name.bytes().all(|byte| byte < 0xEE));
            write_string(&name, out);
            out.push(':');
            self.value(self.outline.value(object, *member), out);
        }
        out.push('}');
    }

    fn string(&mut self, cursor: &mut Cursor<'_>, out: &mut String) {
        cursor.skip();
        out.push('"');
        while let Some((plain, special)) = cursor.plain() {
            out.push_str(plain);
            if special != b'\\' {
                cursor.skip();
                break;
            }
            match cursor.escape() {
                Some(Ok(character)) => write_char(character, out),
                Some(Err(lone)) => {
                    self.interoperable = false;
                    write_unit(lone, out);
                }
                None => break,
            }
        }
        out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse, write_canonical};
    use super::*;

    #[test]
    fn an_outline_is_written_as_its_value() {
        let deep =
            format!(r#"{}{{"b":"{}","a":[1]}}{}"#, r#"{"z":1,"k":["#.repeat(40), "x".repeat(70), "]}".repeat(40));
        let long = format!(r#"[{}0]"#, r#"{"b":[{"d":1,"c":null}],"abcd":"","abce":{},"abc":2},"#.repeat(20));
        let repeated = format!(r#"{{"a":{long},"b":{deep},"a":{{"x":"\ud800","x":1}}}}"#);
        for text in [
            "0",
            " -1.50 ",
            "1e400",
            "[1E20,12345678901234567890,true,false,null]",
            r#" "a\u00e9\n\u0001\/\ud83d\ude00é" "#,
            r#"["\ud800","\ud800\ud800\udc00","\udc00x"]"#,
            " [ ] ",
            " { } ",
            r#"{"b":1,"a":2,"":3,"aa":4,"ab":5,"aaaa":6,"aaab":7}"#,
            r#"{"a":1,"b":{"a":1,"a":2},"a" : 3}"#,
            r#"{"\u0062":1,"a":2,"\ud800":3,"a\u0000":4}"#,
            "{\"\u{fb33}\":1,\"😀\":2,\"é\":{}}",
            r#"{"\u0061":1,"a":2}"#,
            &deep,
            &long,
            &repeated,
        ] {
            let value = parse(text.as_bytes()).unwrap();
            let (mut expected, mut written) = (String::new(), String::new());
            let canonical = write_canonical(&value, Numbers::Exact, &mut expected).unwrap();
            let outline = Outline::new(text.as_bytes()).unwrap();
            let mut writer = OutlineWriter::new(&outline);
            let end = writer.value(outline.root(), &mut written);
            assert_eq!(written, expected, "{text}");
            assert_eq!(writer.interoperable, canonical.interoperable, "{text}");
            let evidence =
                Evidence { duplicate_member: writer.duplicate_member, lone_surrogate: outline.lone_surrogate };
            assert_eq!(evidence, value.evidence(), "{text}");
            assert_eq!(text.get(end..).map(str::trim), Some(""));
        }
    }

    #[test]
    fn elements_are_those_of_the_array() {
        let long = format!(r#"{{"a":[{}]}}"#, "[1],".repeat(50) + "2");
        let text = format!(r#" [1 , "a]" ,{long}, [ ] ,{{}},-1e5 ] "#);
        let outline = Outline::new(text.as_bytes()).unwrap();
        let elements: Vec<_> = outline.elements().collect();
        assert_eq!(elements, ["1", r#""a]""#, &long, "[ ]", "{}", "-1e5"]);
        assert_eq!(Outline::new(b"[ ]").unwrap().elements().count(), 0);
        assert_eq!(Outline::new(b"{}").unwrap().elements().count(), 0);
    }

    #[test]
    fn errors_are_those_of_the_parser() {
        for text in ["", "[1 2]", "{\"a\":}", "[1] 2", "\"\\x\"", &"[".repeat(1025)] {
            assert_eq!(Outline::new(text.as_bytes()).err(), parse(text.as_bytes()).err());
        }
        let deep = format!("{}{}", "[".repeat(1025), "]".repeat(1025));
        assert_eq!(Outline::new(deep.as_bytes()).err(), parse(deep.as_bytes()).err());
    }
}
