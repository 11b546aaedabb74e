//! Members that JSON-RPC does not define.

use super::Payload;
use crate::json::{Text, Value};

/// A member of an object: its name and its value.
pub type Member<'a> = (Text<'a>, Value<'a>);

/// Members that JSON-RPC does not define, or with a value of the wrong type.
#[derive(Debug, Clone)]
pub enum ExtraMembers<'a> {
    /// The members in the order of the record.
    Listed(Vec<Member<'a>>),
    /// An object of the members, if they are too large to be held as values.
    Canonical(Box<Payload<'a>>),
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
            Self::Canonical(_) => &[],
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        match self {
            Self::Listed(members) => members.iter().any(|(found, _)| found.as_str() == Some(name)),
            Self::Canonical(object) => object.member(name).is_some(),
        }
    }
}
