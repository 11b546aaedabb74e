//! The allow-lists: names and words of published schemas and of log formats, by where they are.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

use super::is_name;
use crate::record::{known_method, streams_answers};

/// Names and words that stay.
#[derive(Default, Deserialize)]
pub(super) struct AllowLists {
    /// Names of members around messages.
    around: HashSet<String>,
    schema_keywords: HashSet<String>,
    /// Names of members whose values are of the authors of tools and servers.
    open: HashSet<String>,
    words: HashSet<String>,
    /// Words that stay in text around messages: parts of a regular expression.
    pub text_words: Vec<String>,
    /// Names of members that state a time or a duration.
    times: HashSet<String>,
    /// Words in place of a secret.
    pub states: Vec<String>,
}

/// The members and the words of the published schemas of MCP, LSP and ACP.
#[derive(Default, Deserialize)]
struct PublishedNames {
    members: HashSet<String>,
    words: HashSet<String>,
}

pub(super) static LISTS: LazyLock<AllowLists> =
    LazyLock::new(|| toml::from_str(include_str!("lists.toml")).unwrap_or_default());
static PUBLISHED: LazyLock<PublishedNames> =
    LazyLock::new(|| toml::from_str(include_str!("published.toml")).unwrap_or_default());

fn has(list: &HashSet<String>, name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(|name| list.contains(name))
}

/// True for a keyword of JSON Schema.
pub(super) fn is_schema_keyword(name: &[u8]) -> bool {
    has(&LISTS.schema_keywords, name)
}

/// The position of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValuePosition {
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

impl ValuePosition {
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
            (_, name) if has(&LISTS.open, name) => Self::Open,
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
            Self::Around | Self::Message => has(&PUBLISHED.members, name) || has(&LISTS.around, name),
            Self::Payload => has(&PUBLISHED.members, name),
            Self::Schema => is_schema_keyword(name),
            Self::Properties | Self::Open => false,
        }
    }
}

/// True for a word of the published schemas.
pub(super) fn is_word(text: &str) -> bool {
    PUBLISHED.words.contains(text) || LISTS.words.contains(text)
}

/// The kind of a string, by its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringRole {
    None,
    /// A method.
    Method,
    /// The name of a tool or a prompt.
    Name,
    /// A header of HTTP with the name or the URI that a request of MCP is about: no word of a protocol.
    NameHeader,
    /// A time or a duration, by the name of its member.
    Time,
    /// The status of a response over HTTP, which may be a string of digits.
    Status,
    /// A word of a text, which is not searched.
    Token,
}

/// True for the name of a member that states a time or a duration.
pub(super) fn is_of_time(name: &[u8]) -> bool {
    has(&LISTS.times, name)
}

/// Returns the length of the prefix that marks a method as a notification or an extension; the prefix stays.
pub(super) fn method_marks(method: &str) -> usize {
    let marks = ["$/", "rpc.", "notifications/"];
    marks.into_iter().find(|mark| method.starts_with(mark)).map_or(0, str::len)
}

/// The prefixes of the methods of Ethereum's published API.
const ETHEREUM: [&str; 6] = ["debug_", "engine_", "eth_", "net_", "txpool_", "web3_"];

/// True for a method that stays as the method of a message.
pub(super) fn allows_method(method: &str) -> bool {
    is_known_method(method) || ETHEREUM.iter().any(|space| method.starts_with(space)) && is_name(method)
}

/// True for a method that a published protocol defines, or a word that logs have in its place.
pub(super) fn is_known_method(method: &str) -> bool {
    known_method(method).is_some()
        || streams_answers(method)
        || ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"].contains(&method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let AllowLists { around, schema_keywords, open, words, text_words, times, states } = &*LISTS;
        for (list, member) in [
            (around, "http.request"),
            (schema_keywords, "anyOf"),
            (open, "arguments"),
            (words, "Method not found"),
            (times, "durationMs"),
            (&PUBLISHED.members, "protocolVersion"),
            (&PUBLISHED.words, "assistant"),
        ] {
            assert!(list.contains(member), "{member}");
        }
        assert!(text_words.iter().any(|word| word == "fromserver") && states.iter().any(|state| state == "missing"));
    }
}
