//! The value that tells the sessions of a log apart, as the user names it.

use super::object::{RawObject, scalar};
use super::pointer::{Pointer, PointerError};

/// What tells the sessions of an input apart.
#[derive(Clone, Debug)]
pub struct SessionBy(By);

#[derive(Clone, Debug)]
enum By {
    Nothing,
    Value(Pointer),
    Group(String),
}

impl SessionBy {
    /// A JSON Pointer into the object on a record's line or into a wrapper around it, or `none`, or the name of a group in the
    /// expression of [`Layout::line_by`](super::Layout::line_by).
    ///
    /// # Errors
    ///
    /// It begins with `/` and is not a JSON Pointer.
    pub fn parse(text: &str) -> Result<Self, PointerError> {
        Ok(Self(match text {
            "none" => By::Nothing,
            _ if text.starts_with('/') => By::Value(Pointer::parse(text)?),
            group => By::Group(group.to_owned()),
        }))
    }

    /// The name of a group.
    pub fn group(&self) -> Option<&str> {
        match &self.0 {
            By::Group(name) => Some(name),
            By::Nothing | By::Value(_) => None,
        }
    }

    /// Key of the session of the record that begins at `start` of the input; `None`: the layout says it.
    pub(super) fn session(&self, input: &[u8], start: usize) -> Option<Option<String>> {
        match &self.0 {
            By::Nothing => Some(None),
            By::Group(_) => None,
            // The object around it, and else the message.
            By::Value(_) => Some(self.value(input).or_else(|| self.value(input.get(start..)?))),
        }
    }

    /// The value at the pointer in the object that a text begins with.
    pub(super) fn value(&self, text: &[u8]) -> Option<String> {
        let By::Value(pointer) = &self.0 else { return None };
        scalar(&pointer.find(&RawObject::first(text)?.0, text)?.1).filter(|key| !key.is_empty())
    }
}
