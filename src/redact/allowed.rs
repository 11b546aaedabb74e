//! What stays: names and words of published schemas and of log formats, by where they are.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::record::known_method;

/// The members and the words of the published schemas of MCP, LSP and ACP; `names.py` makes the file.
const SCHEMAS: &str = include_str!("names.txt");
/// The members of the objects that formats and wrappers put around messages.
const AROUND: &str = include_str!("around.txt");
/// Keywords of JSON Schema that have no value of the author, or whose value is redacted. Without their bounds and
/// patterns, placeholders are as valid as the values were.
const KEYWORDS: &str = "$anchor $defs $dynamicRef $id $ref $schema additionalProperties allOf anyOf const contains \
    default definitions dependentRequired dependentSchemas deprecated description else enum enumNames examples if items \
    maxItems maxProperties minItems minProperties not oneOf prefixItems properties readOnly required then title type \
    unevaluatedItems unevaluatedProperties uniqueItems writeOnly";
/// Members whose values are of the authors of tools and servers, in any schema.
const OPEN: [&[u8]; 9] = [
    b"arguments",
    b"changes",
    b"experimental",
    b"initializationOptions",
    b"input",
    b"rawInput",
    b"rawOutput",
    b"settings",
    b"structuredContent",
];
/// Further strings that stay where a schema has them: of JSON-RPC, JSON Schema and media types.
const WORDS: &str = "Internal error|Invalid Request|Invalid params|Method not found|Parse error|ServerError|2.0|1.0|\
    application/json|application/octet-stream|application/pdf|application/vscode-jsonrpc|audio/mpeg|audio/ogg|audio/wav|\
    image/gif|image/jpeg|image/png|image/svg+xml|image/webp|text/css|text/event-stream|text/html|text/markdown|\
    text/plain|null|number|endTurn|maxTokens|stopSequence|toolUse|HTTP/1.0|HTTP/1.1|HTTP/2|h2|h3|OK|\
    http://json-schema.org/draft-07/schema#|https://json-schema.org/draft/2019-09/schema|\
    https://json-schema.org/draft/2020-12/schema";
struct Lists {
    /// Names that stay in messages.
    names: HashSet<&'static [u8]>,
    /// Names that stay around messages, too.
    around: HashSet<&'static [u8]>,
    keywords: HashSet<&'static [u8]>,
    words: HashSet<&'static str>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let set = |text: &'static str| text.split_ascii_whitespace().map(str::as_bytes).collect();
    let (names, words) = SCHEMAS.split_once('\n').unwrap_or_default();
    let words = words.split_ascii_whitespace().chain(WORDS.split('|')).collect();
    Lists { names: set(names), around: set(AROUND), keywords: set(KEYWORDS), words }
});

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
            (_, name) if OPEN.contains(&name) => Self::Open,
            (Self::Message, _) => Self::Around,
            (mode, _) => mode,
        }
    }

    /// True if the name of a member stays.
    pub fn allows(self, name: &[u8]) -> bool {
        let lists = &*LISTS;
        match self {
            Self::Around | Self::Message => lists.names.contains(name) || lists.around.contains(name),
            Self::Payload => lists.names.contains(name),
            Self::Schema => lists.keywords.contains(name),
            Self::Properties | Self::Open => false,
        }
    }
}

/// True for a word of the published schemas.
pub(super) fn is_word(text: &str) -> bool {
    LISTS.words.contains(text)
}

/// What a string is, by its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    None,
    /// A method.
    Method,
    /// The name of a tool or a prompt.
    Name,
    /// The version of a protocol.
    Version,
    /// A time or a duration, by the name of its member.
    Time,
    /// A code, by the name of its member.
    Code,
    /// A word of a text, which is not searched.
    Token,
}

/// True for the name of a member that states a time or a duration.
pub(super) fn is_of_time(name: &[u8]) -> bool {
    let ends: [&[u8]; 8] =
        [b"time", b"Time", b"timestamp", b"TIMESTAMP", b"UnixNano", b"duration", b"elapsed", b"latency"];
    ends.iter().any(|end| name.ends_with(end))
        || matches!(name, b"t" | b"ts" | b"date" | b"frame.time_epoch" | b"frame_frame_time_epoch")
}

/// True for a URI, a path or an e-mail address.
pub(super) fn is_uri(text: &str) -> bool {
    static URI: LazyLock<Option<regex::Regex>> = LazyLock::new(|| {
        regex::Regex::new(r"^(?:[A-Za-z][A-Za-z0-9+.-]*:|~?/|\.\.?/|[A-Za-z]:\\|\\\\|#/|[\w.+-]+@)\S*$").ok()
    });
    URI.as_ref().is_some_and(|uri| uri.is_match(text))
}

/// Redacts the name of a method that no published protocol has: what marks it as a notification or an extension stays.
pub(super) fn method_marks(method: &str) -> usize {
    let marks = ["$/", "rpc.", "notifications/"];
    marks.into_iter().find(|mark| method.starts_with(mark)).map_or(0, str::len)
}

/// True for a method that a published protocol defines, or a word that logs have in its place.
pub(super) fn is_known_method(method: &str) -> bool {
    known_method(method).is_some() || ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"].contains(&method)
}
