//! Lookup of one member in canonical text, without reading the whole text.

use std::borrow::Cow;

use memchr::memmem::Finder;

use super::{Cursor, Text};

/// A member name to look up in many texts.
pub(crate) struct MemberName {
    name: &'static str,
    /// Finds the name as canonical JSON writes it before a value: quoted, with a colon.
    finder: Finder<'static>,
}

impl MemberName {
    /// `name` must be a name that canonical JSON writes without an escape sequence.
    pub fn new(name: &'static str) -> Self {
        Self { name, finder: Finder::new(&format!("\"{name}\":")).into_owned() }
    }

    /// The name.
    pub fn as_str(&self) -> &'static str {
        self.name
    }

    /// Returns the member's value, if the text is an object with that member at its top level and the value is a
    /// Unicode string.
    pub fn string_in<'t>(&self, canonical: &'t str) -> Option<Cow<'t, str>> {
        unescaped(self.value_in(canonical)?.known_string()?)
    }

    /// Returns the member's value, if the text is an object with that member at its top level and the value is a
    /// boolean.
    pub fn boolean_in(&self, canonical: &str) -> Option<bool> {
        match self.value_in(canonical)?.peek()? {
            b't' => Some(true),
            b'f' => Some(false),
            _ => None,
        }
    }

    /// True if the text is an object with the member at its top level.
    pub fn is_in(&self, canonical: &str) -> bool {
        self.value_in(canonical).is_some()
    }

    /// Returns a cursor at the value of the member, if the text is an object with that member at its top level.
    ///
    /// The text must be canonical as [`write_canonical`](super::write_canonical) writes it, with either form of
    /// numbers. Takes time linear in the text, and hardly any if the name does not occur.
    fn value_in<'t>(&self, canonical: &'t str) -> Option<Cursor<'t>> {
        let bytes = canonical.as_bytes();
        let mut from = 0;
        loop {
            let name = from + self.finder.find(bytes.get(from..)?)?;
            let value = name + self.finder.needle().len();
            // Inside a string, every quote has a backslash before it; outside strings, backslashes do not occur. So a
            // match without a backslash before it begins a member, and a match with one ends a longer name.
            if name.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'\\') {
                from = value;
                continue;
            }
            // The outermost object ends with the text. If this object ends earlier, everything up to its end is nested
            // deeper.
            let mut end = Cursor::new(canonical, value);
            end.pass_canonical(1)?;
            from = end.at();
            if from == bytes.len() {
                return Some(Cursor::new(canonical, value));
            }
        }
    }
}

/// Returns the members of an object in text that is known to be JSON, in order: the names as spelled, without quotes, and
/// the texts of the values. Empty for any other value; stops at an error.
pub(crate) fn members(text: &str) -> impl Iterator<Item = (&str, &str)> {
    parts(text, b'{')
}

/// Returns the text of the member with that name, if the text is an object that has it.
pub(crate) fn member<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    members(text).find(|(found, _)| *found == name).map(|(_, value)| value)
}

/// Returns the texts of the elements of an array in text that is known to be JSON; empty for any other value.
pub(crate) fn elements(text: &str) -> impl Iterator<Item = &str> {
    parts(text, b'[').map(|(_, element)| element)
}

/// Decodes a canonical text that is a Unicode string; `None` for any other text.
pub(crate) fn string(canonical: &str) -> Option<Cow<'_, str>> {
    unescaped(canonical.strip_prefix('"')?.strip_suffix('"')?)
}

/// Decodes a string or a name without its quotes; `None` if it is not Unicode.
pub(crate) fn unescaped(inner: &str) -> Option<Cow<'_, str>> {
    match Text::decode(inner) {
        Text::Unicode(text) => Some(text),
        Text::Utf16(_) => None,
    }
}

/// Reads a value of text that is known to be JSON in place, and no part of it twice.
impl<'t> Cursor<'t> {
    /// Calls `take` for each member of the object that is next, with its name as spelled and the cursor at its value.
    /// Skips whatever `take` does not read. `None` if the next value is not an object.
    pub fn each_member(&mut self, take: impl FnMut(&'t str, &mut Self)) -> Option<()> {
        self.each(b'{', take)
    }

    /// Calls `take` with the cursor at each element of the array that is next. Skips elements that `take` does not
    /// read.
    pub fn each_element(&mut self, mut take: impl FnMut(&mut Self)) -> Option<()> {
        self.each(b'[', |_, element| take(element))
    }

    /// Reads the next value, if it is a Unicode string.
    pub fn text_value(&mut self) -> Option<Cow<'t, str>> {
        unescaped(self.known_string()?)
    }

    #[inline]
    fn each(&mut self, open: u8, mut take: impl FnMut(&'t str, &mut Self)) -> Option<()> {
        let mut more = self.enter(open)?;
        while more {
            let name = self.name(open)?;
            let value = self.at();
            take(name, self);
            if self.at() == value {
                self.pass_canonical(0)?;
            }
            more = self.peek()? == b',';
            self.skip();
        }
        Some(())
    }

    /// Skips the bracket `open`, if it is next. Returns false, and skips the closing bracket, if there is nothing in
    /// between.
    fn enter(&mut self, open: u8) -> Option<bool> {
        self.take(open)?;
        let is_empty = matches!(self.peek()?, b'}' | b']');
        if is_empty {
            self.skip();
        }
        Some(!is_empty)
    }

    /// Reads the name of the next member of an object; returns an empty name in an array.
    #[inline]
    fn name(&mut self, open: u8) -> Option<&'t str> {
        if open == b'[' {
            return Some("");
        }
        let name = self.known_string()?;
        self.take(b':')?;
        Some(name)
    }
}

fn parts(text: &str, open: u8) -> impl Iterator<Item = (&str, &str)> {
    let mut cursor = Cursor::new(text, 0);
    let mut more = cursor.enter(open) == Some(true);
    std::iter::from_fn(move || {
        if !std::mem::take(&mut more) {
            return None;
        }
        let part = (cursor.name(open)?, cursor.canonical()?);
        more = cursor.peek() == Some(b',');
        cursor.skip();
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Numbers, Value, parse, write_canonical};
    use super::*;

    /// Returns the string or boolean member in the canonical form of a text, as Rust prints it. Checks that a lookup in
    /// the whole value agrees.
    fn found(text: &str) -> Option<String> {
        let name = MemberName::new("isError");
        let (value, mut canonical) = (parse(text.as_bytes()).unwrap(), String::new());
        write_canonical(&value, Numbers::Exact, &mut canonical).unwrap();
        let (string, boolean) = (name.string_in(&canonical), name.boolean_in(&canonical));
        let member = match &value {
            Value::Object(object) => object.get(name.as_str()),
            _ => None,
        };
        match member {
            Some(Value::String(text)) => assert_eq!((string.as_deref(), boolean), (text.as_str(), None), "{canonical}"),
            Some(Value::Bool(value)) => assert_eq!((&string, boolean), (&None, Some(*value)), "{canonical}"),
            _ => assert_eq!((&string, boolean), (&None, None), "{canonical}"),
        }
        string.map(|string| format!("{string:?}")).or(boolean.map(|boolean| boolean.to_string()))
    }

    #[test]
    fn members_of_the_object_itself_are_found() {
        for (text, value) in [
            (r#"{"isError":true}"#, "true"),
            (r#" { "isError" : false , "content" : [ ] } "#, "false"),
            (r#"{"isE\u0072ror":true}"#, "true"),
            (r#"{"isError":false,"isError":true}"#, "true"),
            (r#"{"isError":"a\"b\\,}\u0001é\ud83d\ude00","z":{}}"#, r#""a\"b\\,}\u{1}é😀""#),
            (r#"{"isError":"\\","z":"}"}"#, r#""\\""#),
            (r#"{"isError":""}"#, r#""""#),
            (r#"{"isError":"longer than a word","n":[123456789012345678901,1e400]}"#, r#""longer than a word""#),
            (r#"{"z":[{"a":"]}"}],"y":"{[","isError":true,"a":{"b":"\\\"}"}}"#, "true"),
        ] {
            assert_eq!(found(text).as_deref(), Some(value), "{text}");
        }
    }

    #[test]
    fn members_are_found_beside_nested_ones() {
        for text in [
            r#"{"a":{"isError":false},"isError":true}"#,
            r#"{"isError":true,"z":{"isError":false}}"#,
            r#"{"a":[{"isError":false},{"b":{"isError":0},"isError":1}],"isError":true,"z":[{"isError":false}]}"#,
            r#"{"a":"\"isError\":false","isError":true,"z":"{\"isError\":false}"}"#,
            r#"{"\"isError":false,"isError":true,"x\\\"isError":0}"#,
            r#"{"\\":0,"a\\":"\\","isError":true}"#,
        ] {
            assert_eq!(found(text).as_deref(), Some("true"), "{text}");
        }
    }

    #[test]
    fn nested_and_quoted_members_are_skipped() {
        for text in [
            "{}",
            "[]",
            "null",
            "1",
            r#""""#,
            r#""isError""#,
            r#""\"isError\":true""#,
            r#"["isError",true]"#,
            r#"[{"isError":true}]"#,
            r#"{"a":{"isError":true}}"#,
            r#"{"a":{"isError":true},"b":1}"#,
            r#"{"a":[{"isError":true}]}"#,
            r#"{"a":{"b":{"isError":true},"isError":true},"c":"isError"}"#,
            r#"{"isError2":true,"isErro":true,"xisError":true,"ISERROR":true}"#,
            r#"{"\"isError":true}"#,
            r#"{"\\\"isError":true}"#,
            r#"{"a":"isError\":true"}"#,
            r#"{"isError":{"isError":true}}"#,
            r#"{"isError":[true]}"#,
            r#"{"isError":null}"#,
            r#"{"isError":-1.5e-9}"#,
            r#"{"isError":"\ud800"}"#,
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn parts_are_told_apart() {
        let all = |text| members(text).map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
        let text = r#"{"a":{"b":[1,"],}"]},"c\"d":"x\"y","e":-1.5e3,"f":[],"g":true}"#;
        assert_eq!(all(text), [r#"a={"b":[1,"],}"]}"#, r#"c\"d="x\"y""#, "e=-1.5e3", "f=[]", "g=true"]);
        assert_eq!(
            elements(r#"[[1,[2]],{"a":1},"b",null]"#).collect::<Vec<_>>(),
            ["[1,[2]]", r#"{"a":1}"#, "\"b\"", "null"]
        );
        let spaced = elements(" [1 , \"a]\" ,{ \"a\" : [1, 2] } ,\n[ ] ,{}\t,-1e5 ] ");
        assert_eq!(spaced.collect::<Vec<_>>(), ["1", "\"a]\"", "{ \"a\" : [1, 2] }", "[ ]", "{}", "-1e5"]);
        assert_eq!(all(r#" { "a" : [ ] , "b":1 } "#), ["a=[ ]", "b=1"]);
        assert_eq!(elements("[ ]").count(), 0);
        for text in ["{}", "[]", "[1]", "1", r#""{\"a\":1}""#, ""] {
            assert_eq!(members(text).count(), 0, "{text}");
        }
        for text in ["[]", "{}", r#"{"a":[1]}"#, "[", ""] {
            assert_eq!(elements(text).count(), 0, "{text}");
        }
        let text = |canonical| string(canonical).map(Cow::into_owned);
        assert_eq!(text(r#""a\"b""#).as_deref(), Some("a\"b"));
        for other in ["1", "null", "[\"a\"]", r#""\ud800""#] {
            assert_eq!(text(other), None, "{other}");
        }
    }

    #[test]
    fn depth_is_no_matter() {
        let nested = format!("{}true{}", r#"{"isError":"#.repeat(500), "}".repeat(500));
        assert_eq!(found(&nested), None);
        assert_eq!(found(&format!(r#"{{"a":{nested},"isError":true}}"#)).as_deref(), Some("true"));
        let arrays = format!(r#"{{"a":{}{},"isError":false}}"#, "[".repeat(500), "]".repeat(500));
        assert_eq!(found(&arrays).as_deref(), Some("false"));
    }

    #[test]
    fn text_that_is_cut_has_no_member() {
        let text = r#"{"a":[{"isError":"x\"y"}],"isError":"x\ny","z":[1]}"#;
        assert_eq!(found(text).as_deref(), Some(r#""x\ny""#));
        let name = MemberName::new("isError");
        for end in 0..text.len() {
            // A cut text that ends with the brace of an inner object cannot be recognised as cut.
            let cut = text.get(..end).unwrap();
            assert_eq!(name.string_in(cut).is_some(), cut.ends_with('}'), "{cut}");
        }
    }
}
