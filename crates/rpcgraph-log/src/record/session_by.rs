//! The value that separates the sessions of a log, as the user names it.

use super::object::{RawObject, scalar};
use super::pointer::{Pointer, PointerError};

/// A value that separates the sessions of an input.
#[derive(Clone, Debug)]
pub struct SessionBy(SessionSource);

#[derive(Clone, Debug)]
enum SessionSource {
    Nothing,
    Value(Pointer),
    Group(String),
}

impl SessionBy {
    /// Parses a JSON Pointer into the object on a record's line or into a wrapper around it, or `none`, or the name of
    /// a group in the expression of [`OwnFormat::line_by`](super::OwnFormat::line_by).
    ///
    /// # Errors
    ///
    /// If the text begins with `/` and is not a JSON Pointer.
    pub fn parse(text: &str) -> Result<Self, PointerError> {
        Ok(Self(match text {
            "none" => SessionSource::Nothing,
            _ if text.starts_with('/') => SessionSource::Value(Pointer::parse(text)?),
            group => SessionSource::Group(group.to_owned()),
        }))
    }

    /// The name of the group, if it is one.
    pub fn group(&self) -> Option<&str> {
        match &self.0 {
            SessionSource::Group(name) => Some(name),
            SessionSource::Nothing | SessionSource::Value(_) => None,
        }
    }

    /// Returns the key of the session of the record that begins at `start` of the input. `None` if the user's format
    /// states it.
    pub(super) fn session(&self, input: &[u8], start: usize) -> Option<Option<String>> {
        match &self.0 {
            SessionSource::Nothing => Some(None),
            SessionSource::Group(_) => None,
            // In the object around the message, or else in the message.
            SessionSource::Value(_) => Some(self.value(input).or_else(|| self.value(input.get(start..)?))),
        }
    }

    /// Returns the value at the pointer in the object at the beginning of a text.
    pub(super) fn value(&self, text: &[u8]) -> Option<String> {
        let SessionSource::Value(pointer) = &self.0 else { return None };
        scalar(&pointer.find(&RawObject::first(text)?.0, text)?.1).filter(|key| !key.is_empty())
    }
}
