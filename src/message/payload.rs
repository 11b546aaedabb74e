//! Values that a message carries and JSON-RPC does not define: `params`, `result`, an error's `data`.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::json::{self, Canonical, MemberName, NumberOutOfRange, Numbers, Value};

/// A payload: parsed, or already in canonical form.
#[derive(Debug, Clone)]
pub enum Payload<'a> {
    /// Parsed.
    Value(Value<'a>),
    /// Canonical JSON, with numbers in the form that the reader of the message was given.
    Canonical {
        /// The text.
        text: &'a str,
        /// See [`Canonical::interoperable`].
        interoperable: bool,
    },
}

impl<'a> From<Value<'a>> for Payload<'a> {
    fn from(value: Value<'a>) -> Self {
        Self::Value(value)
    }
}

impl<'a> Payload<'a> {
    /// Returns the canonical form. Overwrites `buffer` if the payload is not canonical yet.
    pub fn canonical<'b>(
        &'b self,
        numbers: Numbers,
        buffer: &'b mut String,
    ) -> Result<(&'b str, Canonical), NumberOutOfRange> {
        match self {
            Self::Value(value) => {
                buffer.clear();
                let canonical = json::write_canonical(value, numbers, buffer)?;
                Ok((buffer, canonical))
            }
            Self::Canonical { text, interoperable } => Ok((text, Canonical { interoperable: *interoperable })),
        }
    }

    /// Returns the value.
    pub fn value(&self) -> Cow<'_, Value<'a>> {
        match self {
            Self::Value(value) => Cow::Borrowed(value),
            // This program wrote the text, so it is JSON.
            Self::Canonical { text, .. } => Cow::Owned(json::parse(text.as_bytes()).unwrap_or(Value::Null)),
        }
    }

    /// Returns the boolean `isError` of a tool's result (MCP), if present.
    pub(crate) fn is_error(&self) -> Option<bool> {
        static IS_ERROR: LazyLock<MemberName> = LazyLock::new(|| MemberName::new("isError"));
        self.boolean_member(&IS_ERROR)
    }

    /// Returns the `taskId` of the task that the payload is about (MCP), if the task failed: its `status` is `failed`,
    /// or the tool's result is an error.
    pub(super) fn failed_task(&self) -> Option<Box<str>> {
        static TASK: LazyLock<MemberName> = LazyLock::new(|| MemberName::new("taskId"));
        static STATUS: LazyLock<MemberName> = LazyLock::new(|| MemberName::new("status"));
        let task = self.string_member(&TASK)?;
        let is_error = || {
            let value = self.value();
            matches!(value.member("result").and_then(|result| result.member("isError")), Some(Value::Bool(true)))
        };
        (self.string_member(&STATUS)? == "failed" || is_error()).then(|| task.into())
    }

    /// True if it is an object.
    pub(crate) fn is_object(&self) -> bool {
        match self {
            Self::Canonical { text, .. } => text.starts_with('{'),
            Self::Value(value) => matches!(value, Value::Object(_)),
        }
    }

    /// True if it is an object with the member.
    pub(crate) fn has_member(&self, name: &MemberName) -> bool {
        match self {
            Self::Canonical { text, .. } => name.is_in(text),
            Self::Value(value) => value.member(name.as_str()).is_some(),
        }
    }

    /// Returns the value of a member, if the payload is an object with that member and the value is a Unicode string.
    pub(crate) fn string_member(&self, name: &MemberName) -> Option<Cow<'a, str>> {
        match self {
            Self::Canonical { text, .. } => name.string_in(text),
            Self::Value(value) => value.member(name.as_str())?.to_cow(),
        }
    }

    /// Returns the value of a member, if the payload is an object with that member and the value is a boolean.
    fn boolean_member(&self, name: &MemberName) -> Option<bool> {
        match self {
            Self::Canonical { text, .. } => name.boolean_in(text),
            Self::Value(value) => match value.member(name.as_str())? {
                Value::Bool(value) => Some(*value),
                _ => None,
            },
        }
    }
}
