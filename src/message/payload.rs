//! Values that a message carries and JSON-RPC does not define: `params`, `result`, an error's `data`.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::json::{self, Canonical, MemberName, Numbers, Value};

/// A payload in canonical JSON, with numbers in the form that the reader of the message was given.
#[derive(Debug, Clone)]
pub struct Payload<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// The properties of the text.
    pub canonical: Canonical,
}

/// Writes the value with exact numbers.
impl From<&Value<'_>> for Payload<'_> {
    fn from(value: &Value<'_>) -> Self {
        let mut text = String::new();
        // Canonical form with exact numbers never fails.
        let canonical = json::write_canonical(value, Numbers::Exact, &mut text);
        Self { text: text.into(), canonical: canonical.unwrap_or(Canonical { interoperable: false }) }
    }
}

impl Payload<'_> {
    /// Returns the value.
    pub fn value(&self) -> Value<'_> {
        // This program wrote the text, so it is JSON.
        json::parse(self.text.as_bytes()).unwrap_or(Value::Null)
    }

    /// Returns the boolean `isError` of a tool's result (MCP), if present.
    pub(crate) fn is_error(&self) -> Option<bool> {
        static IS_ERROR: LazyLock<MemberName> = LazyLock::new(|| MemberName::new("isError"));
        IS_ERROR.boolean_in(&self.text)
    }

    /// Returns the `taskId` of the task that the payload is about (MCP), if the task failed: its `status` is `failed`,
    /// or the tool's result is an error.
    pub(super) fn failed_task(&self) -> Option<Box<str>> {
        static TASK: LazyLock<MemberName> = LazyLock::new(|| MemberName::new("taskId"));
        static STATUS: LazyLock<MemberName> = LazyLock::new(|| MemberName::new("status"));
        let task = self.string_member(&TASK)?;
        let is_error = || json::member(json::member(&self.text, "result")?, "isError");
        (self.string_member(&STATUS)? == "failed" || is_error() == Some("true")).then(|| task.into())
    }

    /// True if it is an object.
    pub(crate) fn is_object(&self) -> bool {
        self.text.starts_with('{')
    }

    /// True if it is an object with the member.
    pub(crate) fn has_member(&self, name: &MemberName) -> bool {
        name.is_in(&self.text)
    }

    /// Returns the value of a member, if the payload is an object with that member and the value is a Unicode string.
    pub(crate) fn string_member(&self, name: &MemberName) -> Option<Cow<'_, str>> {
        name.string_in(&self.text)
    }
}
