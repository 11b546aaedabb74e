//! Members that JSON-RPC does not know.

use crate::json::{MemberName, Text, Value};

/// A member of an object: its name and its value.
pub type Member<'a> = (Text<'a>, Value<'a>);

/// Members that JSON-RPC does not know, or whose value has the wrong type.
#[derive(Debug, Clone)]
pub enum ExtraMembers<'a> {
    /// In the order of the record.
    Listed(Vec<Member<'a>>),
    /// The object of them in canonical form, where they are too large to be held as values.
    Canonical {
        /// The text.
        text: &'a str,
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
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Listed(members) if members.is_empty())
    }

    /// Those that are held as values.
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
