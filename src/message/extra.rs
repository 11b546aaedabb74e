//! Members that JSON-RPC does not define.

use std::borrow::Cow;

use crate::json::{MemberName, Text, Value};

/// A member of an object: its name and its value.
pub type Member<'a> = (Text<'a>, Value<'a>);

/// Members that JSON-RPC does not define, or with a value of the wrong type.
#[derive(Debug, Clone)]
pub enum ExtraMembers<'a> {
    /// The members in the order of the record.
    Listed(Vec<Member<'a>>),
    /// An object of the members in canonical form, if they are too large to be held as values.
    Canonical {
        /// The text.
        text: Cow<'a, str>,
        /// See [`Canonical::interoperable`](crate::json::Canonical::interoperable).
        interoperable: bool,
    },
}

impl Default for ExtraMembers<'_> {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

impl<'a> ExtraMembers<'a> {
    /// True if it is empty.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Listed(members) if members.is_empty())
    }

    /// The members that are held as values.
    pub fn listed(&self) -> &[Member<'a>] {
        match self {
            Self::Listed(members) => members,
            Self::Canonical { .. } => &[],
        }
    }

    pub(super) fn has(&self, name: &MemberName) -> bool {
        match self {
            Self::Listed(members) => members.iter().any(|(found, _)| found.as_str() == Some(name.as_str())),
            Self::Canonical { text, .. } => name.is_in(text),
        }
    }
}
