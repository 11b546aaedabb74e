//! What stays: names and words of published schemas and of log formats, by where they are.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::is_name;
use crate::record::known_method;

/// The members and the words of the published schemas of MCP, LSP and ACP; `names.py` makes the file.
const SCHEMAS: &str = include_str!("names.txt");
/// Lists, each below a title.
const LISTS: &str = include_str!("lists.txt");

/// Returns the list below the nth title.
pub(super) fn list(nth: usize) -> impl Iterator<Item = &'static str> {
    let lines = LISTS.split("\n\n").nth(nth).unwrap_or_default().lines().skip(1);
    lines.flat_map(|line| line.split(',')).map(str::trim).filter(|item| !item.is_empty())
}

/// Names that stay in messages; names around messages; keywords of schemas; names of open values; words; names of times.
static SETS: LazyLock<[HashSet<&'static [u8]>; 6]> = LazyLock::new(|| {
    let schemas = |line| SCHEMAS.lines().nth(line).unwrap_or_default().split(' ');
    let [around, keywords, open, times] = [0, 1, 2, 5].map(|nth| list(nth).map(str::as_bytes).collect());
    let words = schemas(1).chain(list(3)).map(str::as_bytes).collect();
    [schemas(0).map(str::as_bytes).collect(), around, keywords, open, words, times]
});

fn is_in(set: usize, text: &[u8]) -> bool {
    SETS.get(set).is_some_and(|set| set.contains(text))
}

/// Where a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Around messages.
    Around,
    /// A member of a message.
    Message,
    /// In the parameters, the result or the error of a message.
    Payload,
    /// In the schema of a tool.
    Schema,
    /// The members of an object in a schema that has the names of properties.
    Properties,
    /// In a value of an author of a tool or a server.
    Open,
}

impl Mode {
    /// Returns the mode of the value of a member.
    pub fn of_member(self, name: &[u8]) -> Self {
        match (self, name) {
            (Self::Open, _) => Self::Open,
            (Self::Schema, b"properties" | b"$defs" | b"definitions" | b"dependentSchemas") => Self::Properties,
            (Self::Schema, b"enum" | b"const" | b"default" | b"examples" | b"required" | b"dependentRequired") => {
                Self::Open
            }
            (Self::Schema | Self::Properties, _) => Self::Schema,
            (_, b"inputSchema" | b"outputSchema" | b"requestedSchema") => Self::Schema,
            (Self::Message, b"id" | b"params" | b"result" | b"error" | b"_meta") => Self::Payload,
            (_, name) if is_in(3, name) => Self::Open,
            (Self::Message, _) => Self::Around,
            (mode, _) => mode,
        }
    }

    /// True around messages.
    pub fn is_around(self) -> bool {
        matches!(self, Self::Around | Self::Message)
    }

    /// True if the name of a member stays.
    pub fn allows(self, name: &[u8]) -> bool {
        match self {
            Self::Around | Self::Message => is_in(0, name) || is_in(1, name),
            Self::Payload => is_in(0, name),
            Self::Schema => is_in(2, name),
            Self::Properties | Self::Open => false,
        }
    }
}

/// True for a word of the published schemas.
pub(super) fn is_word(text: &str) -> bool {
    is_in(4, text.as_bytes())
}

/// What a string is, by its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    None,
    /// A method.
    Method,
    /// The name of a tool or a prompt.
    Name,
    /// A time or a duration, by the name of its member.
    Time,
    /// A word of a text, which is not searched.
    Token,
}

/// True for the name of a member that states a time or a duration.
pub(super) fn is_of_time(name: &[u8]) -> bool {
    is_in(5, name)
}

/// Returns the length of what marks a method as a notification or an extension, which stays.
pub(super) fn method_marks(method: &str) -> usize {
    let marks = ["$/", "rpc.", "notifications/"];
    marks.into_iter().find(|mark| method.starts_with(mark)).map_or(0, str::len)
}

/// What the methods of Ethereum's published API begin with.
const ETHEREUM: [&str; 6] = ["debug_", "engine_", "eth_", "net_", "txpool_", "web3_"];

/// True for a method that stays as the method of a message.
pub(super) fn allows_method(method: &str) -> bool {
    is_known_method(method) || ETHEREUM.iter().any(|space| method.starts_with(space)) && is_name(method)
}

/// True for a method that a published protocol defines, or a word that logs have in its place.
pub(super) fn is_known_method(method: &str) -> bool {
    known_method(method).is_some() || ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"].contains(&method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_list_has_items_and_no_title() {
        for nth in 0..6 {
            assert!(list(nth).count() > 5, "{nth}");
            assert!(list(nth).all(|item| !item.contains('#') || item.starts_with("http")), "{nth}");
        }
        assert_eq!(list(6).count(), 0);
    }
}
