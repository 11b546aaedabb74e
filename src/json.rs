//! JSON with its evidence kept.
//!
//! A [`Value`] remembers what a plain JSON value forgets: how each number was spelled, the order of members, whether a
//! member name was given twice, and strings that are not Unicode because of a lone surrogate. [`parse`] makes one from
//! a text, [`write_canonical`] makes a text from one.
//!
//! The grammar is in one place, a cursor over text. [`parse`] builds values with it, [`QuickWriter`] writes canonical text
//! with it and builds nothing; tests hold it to what `serde_json` accepts.

mod canonical;
mod cursor;
mod digest;
mod escape;
mod indent;
mod member;
mod number;
mod outline;
mod parse;
mod pointer;
mod quick;
mod text;

use std::borrow::Cow;
use std::fmt;

pub use canonical::{Canonical, NumberOutOfRange, Numbers, quoted, write_canonical, write_str, write_string};
pub(crate) use cursor::{Cursor, special};
pub(crate) use digest::sha256;
pub(crate) use escape::unescape;
pub use indent::{indented, pretty};
pub(crate) use member::{MemberName, elements, member, members, string, unescaped};
pub use number::{Decimal, Number};
pub(crate) use outline::{Outline, OutlineMember, OutlineWriter, Place};
pub use parse::parse;
pub(crate) use pointer::{pointer_name, pointer_token};
pub use quick::QuickWriter;
pub use text::Text;

/// Deepest nesting of arrays and objects that is accepted.
pub const MAX_DEPTH: usize = 1024;

/// A [JSON value](https://www.rfc-editor.org/rfc/rfc8259#section-3) and the evidence of how it was written.
#[derive(Clone)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as it was spelled.
    Number(Number<'a>),
    /// A string, decoded.
    String(Text<'a>),
    /// An array.
    Array(Array<'a>),
    /// An object.
    Object(Object<'a>),
}

impl<'a> Value<'a> {
    /// The value of the member with this name, if this is an object that has it.
    pub fn member(&self, name: &str) -> Option<&Self> {
        match self {
            Value::Object(object) => object.get(name),
            _ => None,
        }
    }

    /// The text of a string; `None` if this is not one, or has a lone surrogate.
    pub fn to_cow(&self) -> Option<Cow<'a, str>> {
        match self {
            Value::String(text) => text.to_cow(),
            _ => None,
        }
    }

    /// The source text of an array or object.
    pub fn raw(&self) -> Option<&'a str> {
        match self {
            Value::Array(array) => Some(array.raw),
            Value::Object(object) => Some(object.raw),
            _ => None,
        }
    }

    /// The evidence found in the text of this value, at every depth. It is stored, not searched for.
    pub fn evidence(&self) -> Evidence {
        match self {
            Value::Null | Value::Bool(_) | Value::Number(_) => Evidence::default(),
            Value::String(text) => Evidence::of_text(text),
            Value::Array(array) => array.evidence,
            Value::Object(object) => object.evidence,
        }
    }
}

/// What the plain value no longer tells, of a value and all below it.
///
/// It is about the text: what stood in a value that a duplicate member replaced counts too.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Evidence {
    /// An object has two members of the same name.
    pub duplicate_member: bool,
    /// A string or a member name has a surrogate without its partner.
    pub lone_surrogate: bool,
}

impl Evidence {
    fn of_text(text: &Text<'_>) -> Self {
        Self { duplicate_member: false, lone_surrogate: text.as_str().is_none() }
    }

    fn include(&mut self, other: Self) {
        self.duplicate_member |= other.duplicate_member;
        self.lone_surrogate |= other.lone_surrogate;
    }
}

/// A JSON array.
pub struct Array<'a> {
    /// The elements.
    pub items: Vec<Value<'a>>,
    /// The source text, from `[` to `]`.
    pub raw: &'a str,
    evidence: Evidence,
}

/// A JSON object.
pub struct Object<'a> {
    /// The members in source order. Of members with the same name only the last is here, at its own place, as
    /// [ECMAScript](https://tc39.es/ecma262/#sec-json.parse) and most parsers choose.
    pub members: Vec<(Text<'a>, Value<'a>)>,
    /// The source text, from `{` to `}`; empty if it was not read from one.
    pub raw: &'a str,
    evidence: Evidence,
}

impl<'a> Object<'a> {
    /// An object that was not read from a text: its members, of which no two may have one name.
    pub fn from_members(members: Vec<(Text<'a>, Value<'a>)>) -> Self {
        let mut evidence = Evidence::default();
        for (name, value) in &members {
            evidence.include(Evidence::of_text(name));
            evidence.include(value.evidence());
        }
        Self { members, raw: "", evidence }
    }

    /// The members in the order of [RFC 8785, 3.2.3](https://www.rfc-editor.org/rfc/rfc8785#section-3.2.3).
    fn sorted_members(&self) -> Vec<&(Text<'a>, Value<'a>)> {
        let mut members: Vec<_> = self.members.iter().collect();
        members.sort_unstable_by(|(a, _), (b, _)| a.cmp_utf16(b));
        members
    }

    /// The value of the member with this name. Takes time linear in the number of members.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.members.iter().find(|(text, _)| text.as_str() == Some(name)).map(|(_, value)| value)
    }
}

// Loops take far less stack for each level, in a debug build, than cloning a `Vec` does.
impl Clone for Array<'_> {
    fn clone(&self) -> Self {
        let mut items = Vec::with_capacity(self.items.len());
        for item in &self.items {
            items.push(item.clone());
        }
        Self { items, ..*self }
    }
}

impl Clone for Object<'_> {
    fn clone(&self) -> Self {
        let mut members = Vec::with_capacity(self.members.len());
        for (name, value) in &self.members {
            members.push((name.clone(), value.clone()));
        }
        Self { members, ..*self }
    }
}

/// Why a text is not accepted as one JSON value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Where: bytes of the input before the place, so 0 is the first byte.
    pub offset: usize,
}

/// What is wrong with a text that should be JSON.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ErrorKind {
    /// The bytes are not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// Arrays and objects are nested deeper than [`MAX_DEPTH`].
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// The text ends inside a value: with more text it might become one.
    #[error("the text ends inside a value")]
    UnexpectedEnd,
    /// There is only whitespace.
    #[error("no JSON value, only whitespace or nothing")]
    Empty,
    /// The grammar is broken; this says how, without the place.
    #[error("{0}")]
    Syntax(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::Empty => write!(f, "{}", self.kind),
            kind => write!(f, "{kind} at byte {}", self.offset),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_reaches_the_top() {
        let evidence = |text: &str| parse(text.as_bytes()).unwrap().evidence();
        assert_eq!(evidence(r#"{"a":[{"b":"\ud83d\ude00"}]}"#), Evidence::default());
        assert_eq!(
            evidence(r#"[{"x":{"a":1,"\u0061":2}}]"#),
            Evidence { duplicate_member: true, lone_surrogate: false }
        );
        assert_eq!(evidence(r#"[["\ude00"]]"#), Evidence { duplicate_member: false, lone_surrogate: true });
        assert_eq!(evidence(r#"[{"\ud83d":1}]"#), Evidence { duplicate_member: false, lone_surrogate: true });
        assert_eq!(evidence(r#"{"a":"\ud83d","a":1}"#), Evidence { duplicate_member: true, lone_surrogate: true });
    }

    #[test]
    fn errors_read_well() {
        let message = |text: &[u8]| parse(text).unwrap_err().to_string();
        assert_eq!(message(br#"{"a": 1 "b": 2}"#), "expected `,` or `}` at byte 8");
        assert_eq!(message(b"[1, 2"), "the text ends inside a value at byte 5");
        assert_eq!(message(b" \r\n"), "no JSON value, only whitespace or nothing");
        assert_eq!(message(b"[\"\xff\"]"), "not UTF-8 at byte 2");
        assert_eq!(message("[".repeat(1025).as_bytes()), "the text ends inside a value at byte 1025");
        assert_eq!(
            message(format!("{}{}", "[".repeat(1025), "]".repeat(1025)).as_bytes()),
            "nested deeper than 1024 levels at byte 1024"
        );
    }
}
