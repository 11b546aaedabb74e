//! JSON values with the evidence of how they were written.

use std::borrow::Cow;

use super::{Number, Text};

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

    /// The text of a string; `None` if the value is not a string, or has a lone surrogate.
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

    /// The evidence in the text of this value, at every depth. It is stored, not computed.
    pub fn evidence(&self) -> Evidence {
        match self {
            Value::Null | Value::Bool(_) | Value::Number(_) => Evidence::default(),
            Value::String(text) => Evidence::of_text(text),
            Value::Array(array) => array.evidence,
            Value::Object(object) => object.evidence,
        }
    }
}

/// Evidence that a plain value loses, for a value and everything in it.
///
/// It describes the text: the content of a value that a duplicate member replaced counts too.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Evidence {
    /// An object has two members of the same name.
    pub duplicate_member: bool,
    /// A string or a member name has a surrogate without its partner.
    pub lone_surrogate: bool,
}

impl Evidence {
    pub(super) fn of_text(text: &Text<'_>) -> Self {
        Self { duplicate_member: false, lone_surrogate: text.as_str().is_none() }
    }

    pub(super) fn include(&mut self, other: Self) {
        self.duplicate_member |= other.duplicate_member;
        self.lone_surrogate |= other.lone_surrogate;
    }
}

/// A JSON array.
#[derive(Clone)]
pub struct Array<'a> {
    /// The elements.
    pub items: Vec<Value<'a>>,
    /// The source text, from `[` to `]`.
    pub raw: &'a str,
    pub(super) evidence: Evidence,
}

/// A JSON object.
#[derive(Clone)]
pub struct Object<'a> {
    /// The members in source order. Of members with the same name only the last is kept, at its own place, as
    /// [ECMAScript](https://tc39.es/ecma262/#sec-json.parse) and most parsers do.
    pub members: Vec<(Text<'a>, Value<'a>)>,
    /// The source text, from `{` to `}`; empty if the object was not read from text.
    pub raw: &'a str,
    pub(super) evidence: Evidence,
}

impl<'a> Object<'a> {
    /// Creates an object that was not read from text. Its members must have different names.
    pub fn from_members(members: Vec<(Text<'a>, Value<'a>)>) -> Self {
        let mut evidence = Evidence::default();
        for (name, value) in &members {
            evidence.include(Evidence::of_text(name));
            evidence.include(value.evidence());
        }
        Self { members, raw: "", evidence }
    }

    /// The members in the order of [RFC 8785, 3.2.3](https://www.rfc-editor.org/rfc/rfc8785#section-3.2.3).
    pub(super) fn sorted_members(&self) -> Vec<&(Text<'a>, Value<'a>)> {
        let mut members: Vec<_> = self.members.iter().collect();
        members.sort_unstable_by(|(a, _), (b, _)| a.cmp_utf16(b));
        members
    }

    /// The value of the member with this name. Takes time linear in the number of members.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.members.iter().find(|(text, _)| text.as_str() == Some(name)).map(|(_, value)| value)
    }
}
