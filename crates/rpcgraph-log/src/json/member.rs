//! Members and elements of text that is known to be JSON.

use std::borrow::Cow;

use super::{Cursor, Text};

/// Returns the members of an object in text that is known to be JSON, in order: the names as spelled, without quotes, and
/// the texts of the values. Empty for any other value; stops at an error.
pub fn members(text: &str) -> impl Iterator<Item = (&str, &str)> {
    parts(text, b'{')
}

/// Returns the text of the member with that name, if the text is an object that has it.
pub(crate) fn member<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    members(text).find(|(found, _)| *found == name).map(|(_, value)| value)
}

/// Returns the texts of the elements of an array in text that is known to be JSON; empty for any other value.
pub fn elements(text: &str) -> impl Iterator<Item = &str> {
    parts(text, b'[').map(|(_, element)| element)
}

/// Decodes a canonical text that is a Unicode string; `None` for any other text.
pub(crate) fn string(canonical: &str) -> Option<Cow<'_, str>> {
    unescaped(canonical.strip_prefix('"')?.strip_suffix('"')?)
}

/// Decodes a string or a name without its quotes; `None` if it is not Unicode.
pub fn unescaped(inner: &str) -> Option<Cow<'_, str>> {
    if let Text::Unicode(text) = Text::decode(inner) { Some(text) } else { None }
}

/// Reads a value of text that is known to be JSON in place, and no part of it twice.
impl<'t> Cursor<'t> {
    /// Calls `take` for each member of the object that is next, with its name as spelled and the cursor at its value.
    /// Skips whatever `take` does not read. `None` if the next value is not an object.
    pub fn each_member(&mut self, mut take: impl FnMut(&'t str, &mut Self)) -> Option<()> {
        self.each(b'{', |member| {
            let name = member.known_name()?;
            member.peek()?;
            let value = member.at();
            take(name, member);
            if member.at() == value { member.pass_canonical(0) } else { Some(()) }
        })
    }

    /// Reads the next value, if it is a Unicode string.
    pub fn text_value(&mut self) -> Option<Cow<'t, str>> {
        unescaped(self.known_string()?)
    }

    /// Reads the name of a member, and its colon.
    #[inline]
    fn known_name(&mut self) -> Option<&'t str> {
        let name = self.known_string()?;
        self.take(b':').map(|()| name)
    }
}

fn parts(text: &str, open: u8) -> impl Iterator<Item = (&str, &str)> {
    let mut cursor = Cursor::new(text, 0);
    let mut more = cursor.take(open).is_some() && !matches!(cursor.peek(), Some(b'}' | b']'));
    std::iter::from_fn(move || {
        if !std::mem::take(&mut more) {
            return None;
        }
        let name = if open == b'{' { cursor.known_name()? } else { "" };
        let part = (name, cursor.canonical()?);
        more = cursor.take(b',').is_some();
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
        let (value, mut canonical) = (parse(text.as_bytes()).unwrap(), String::new());
        write_canonical(&value, Numbers::Exact, &mut canonical).unwrap();
        let found = member(&canonical, "isError");
        let (string, boolean) = (found.and_then(string), found.and_then(|text| text.parse().ok()));
        let member = match &value {
            Value::Object(object) => object.get("isError"),
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
}
