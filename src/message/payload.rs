//! Values that a message carries and JSON-RPC says nothing about: `params`, `result`, an error's `data`.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::json::{self, Canonical, MemberName, NumberOutOfRange, Numbers, Value};

/// A payload: parsed, or already in canonical form.
#[derive(Debug, Clone)]
pub enum Payload<'a> {
    /// Parsed.
    Value(Value<'a>),
    /// Canonical JSON, written as the reader of the message was asked to write numbers.
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
    /// Its canonical form; `buffer` is overwritten where there has to be one.
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

    /// Its value.
    pub fn value(&self) -> Cow<'_, Value<'a>> {
        match self {
            Self::Value(value) => Cow::Borrowed(value),
            // It was written by this program, so it is JSON.
            Self::Canonical { text, .. } => Cow::Owned(json::parse(text.as_bytes()).unwrap_or(Value::Null)),
        }
    }

    /// Whether it says, as a result, that a tool failed: the boolean `isError` of MCP, if it has it.
    pub(crate) fn is_error(&self) -> Option<bool> {
        static IS_ERROR: LazyLock<MemberName> = LazyLock::new(|| MemberName::new("isError"));
        self.boolean_member(&IS_ERROR)
    }

    /// The task that it tells of (MCP), if that has failed: `taskId`, where `status` is `failed`, or the tool's result says so.
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

    /// Whether it is an object.
    pub(crate) fn is_object(&self) -> bool {
        match self {
            Self::Canonical { text, .. } => text.starts_with('{'),
            Self::Value(value) => matches!(value, Value::Object(_)),
        }
    }

    /// Whether it is an object that has the member.
    pub(crate) fn has_member(&self, name: &MemberName) -> bool {
        match self {
            Self::Canonical { text, .. } => name.is_in(text),
            Self::Value(value) => value.member(name.as_str()).is_some(),
        }
    }

    /// The value of a member, if the payload is an object that has it, and it is a string of Unicode.
    pub(crate) fn string_member(&self, name: &MemberName) -> Option<Cow<'a, str>> {
        match self {
            Self::Canonical { text, .. } => name.string_in(text),
            Self::Value(value) => value.member(name.as_str())?.to_cow(),
        }
    }

    /// The value of a member, if the payload is an object that has it, and it is a boolean.
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
