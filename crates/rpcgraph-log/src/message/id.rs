//! Identifiers of requests (JSON-RPC 2.0, section 4): a string, a number or null.

use std::borrow::Cow;

use crate::json::Value;

/// The maximum number of digits in the plain decimal form of a numeric id.
pub const MAX_ID_DIGITS: usize = 1024;

/// An id. `"1"` and `1` are different; `1`, `1.0` and `1e0` are the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Id<'a> {
    /// Any string, also an empty one.
    String(Cow<'a, str>),
    /// A number of any size, in its plain decimal form: without an exponent or needless zeros.
    Number(Cow<'a, str>),
    /// `null`.
    Null,
}

impl<'a> Id<'a> {
    /// Returns the id in a JSON value. `None` for a value that cannot be an id: an object, an array, a boolean, a
    /// string with a lone surrogate, a number whose plain form is longer than [`MAX_ID_DIGITS`].
    pub fn from_value(value: &Value<'a>) -> Option<Self> {
        match value {
            Value::String(_) => value.to_cow().map(Self::String),
            Value::Number(number) => Self::number(number.as_str()),
            Value::Null => Some(Self::Null),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Returns the id in the spelling of a number.
    pub(super) fn number(spelling: &'a str) -> Option<Self> {
        plain(spelling).map(Self::Number)
    }

    /// Returns the id with text of its own.
    pub fn into_owned(self) -> Id<'static> {
        match self {
            Self::String(text) => Id::String(Cow::Owned(text.into_owned())),
            Self::Number(digits) => Id::Number(Cow::Owned(digits.into_owned())),
            Self::Null => Id::Null,
        }
    }
}

/// Returns the plain decimal form of a number, borrowed in the common case that it is spelled like this.
fn plain(spelling: &str) -> Option<Cow<'_, str>> {
    let digits = spelling.as_bytes();
    if digits.len() <= MAX_ID_DIGITS && digits.iter().all(u8::is_ascii_digit) {
        return Some(Cow::Borrowed(spelling)); // JSON does not allow leading zeros
    }
    crate::json::Decimal::parse(spelling)?.to_plain(MAX_ID_DIGITS).map(Cow::Owned)
}
