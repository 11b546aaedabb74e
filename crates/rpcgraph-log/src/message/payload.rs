//! Values that a message carries and JSON-RPC does not define: `params`, `result`, an error's `data`.

use std::borrow::Cow;

use crate::json::{self, Canonical, MemberSpan, Numbers, Value};

/// A payload in canonical JSON, with numbers in the form that the reader of the message was given.
#[derive(Debug, Clone)]
pub struct Payload<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// The properties of the text.
    pub canonical: Canonical,
    /// The members, if their places are known. None are known if it is not an object.
    pub(super) members: Option<&'a [MemberSpan]>,
}

impl<'a> Payload<'a> {
    /// Creates a payload from canonical JSON.
    pub fn new(text: impl Into<Cow<'a, str>>, canonical: Canonical) -> Self {
        Self { text: text.into(), canonical, members: None }
    }

    /// Creates a payload whose text is set later. Until then, no member is known.
    pub(super) fn later(canonical: Canonical) -> Self {
        Self { text: Cow::Borrowed(""), canonical, members: Some(&[]) }
    }
}

/// Writes the value with exact numbers.
impl From<&Value<'_>> for Payload<'_> {
    fn from(value: &Value<'_>) -> Self {
        let mut text = String::new();
        // Canonical form with exact numbers never fails.
        let canonical = json::write_canonical(value, Numbers::Exact, &mut text);
        Self::new(text, canonical.unwrap_or(Canonical { interoperable: false }))
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
        self.member("isError")?.parse().ok()
    }

    /// Returns the `taskId` of the task that the payload is about (MCP), if the task failed: its `status` is `failed`,
    /// or the tool's result is an error.
    pub(super) fn failed_task(&self) -> Option<Box<str>> {
        let task = self.string_member("taskId")?;
        let is_error = || json::member(self.member("result")?, "isError");
        (self.string_member("status")? == "failed" || is_error() == Some("true")).then(|| task.into())
    }

    /// Returns the document or the resource that the params of a message name.
    pub fn target_uri(&self) -> Option<Cow<'_, str>> {
        let of_document = || json::string(json::member(self.member("textDocument")?, "uri")?);
        self.string_member("uri").or_else(of_document)
    }

    /// True if it is an object.
    pub fn is_object(&self) -> bool {
        self.text.starts_with('{')
    }

    /// Returns a view of the text and its members.
    #[inline]
    pub(crate) fn view(&self) -> PayloadView<'_> {
        PayloadView { text: &self.text, interoperable: self.canonical.interoperable, members: self.members }
    }

    /// Returns the text of a member, if the payload is an object with that member.
    pub fn member(&self, name: &str) -> Option<&str> {
        self.view().member(name)
    }

    /// Returns the value of a member, if the payload is an object with that member and the value is a Unicode string.
    pub fn string_member(&self, name: &str) -> Option<Cow<'_, str>> {
        json::string(self.member(name)?)
    }
}

/// A payload, or a part of one, in canonical JSON.
#[derive(Clone, Copy, Default)]
pub(crate) struct PayloadView<'a> {
    pub text: &'a str,
    pub interoperable: bool,
    /// See [`Payload::members`].
    members: Option<&'a [MemberSpan]>,
}

impl<'a> From<&'a str> for PayloadView<'a> {
    fn from(text: &'a str) -> Self {
        Self::default().part(text)
    }
}

impl<'a> PayloadView<'a> {
    /// Returns a view of a part of the payload.
    pub fn part(self, text: &'a str) -> Self {
        Self { text, members: None, ..self }
    }

    /// Calls `take` for each member, if the text is an object, with its name as spelled, without quotes, and the text of
    /// its value.
    pub fn each_member(self, take: &mut dyn FnMut(&'a str, &'a str)) {
        let Some(members) = self.members else {
            return json::members(self.text).for_each(|(name, value)| take(name, value));
        };
        for member in members {
            if let (Some(name), Some(value)) = (member.name(self.text), member.value(self.text)) {
                take(name, value);
            }
        }
    }

    /// Returns the text of a member, if the text is an object with that member. Canonical JSON must not escape any
    /// character of the name.
    pub fn member(self, name: &str) -> Option<&'a str> {
        match self.members {
            Some(members) => members.iter().find(|member| member.name(self.text) == Some(name))?.value(self.text),
            None => json::member(self.text, name),
        }
    }
}
