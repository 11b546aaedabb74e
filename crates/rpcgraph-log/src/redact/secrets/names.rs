//! Names of secrets, and the values that they make secret.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::redact::allowed::is_schema_keyword;
use crate::redact::placeholder::is_placeholder;

static PATTERNS: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| toml::from_str(include_str!("patterns.toml")).unwrap_or_default());

/// Compiles a pattern of `patterns.toml`; `None` only if it is invalid.
pub(super) fn compiled(name: &str) -> Option<Regex> {
    let mut pattern = PATTERNS.get(name)?.clone();
    let parts: Vec<_> = PATTERNS.iter().map(|(name, part)| (format!("{{{name}}}"), part)).collect();
    while let Some((name, part)) = parts.iter().find(|(name, _)| pattern.contains(name)) {
        pattern = pattern.replace(name, part);
    }
    Regex::new(&pattern).ok()
}

static STRONG_NAMES: LazyLock<Option<Regex>> = LazyLock::new(|| compiled("strong"));
static HARMLESS_NAMES: LazyLock<Option<Regex>> = LazyLock::new(|| compiled("harmless"));
static WEAK_NAMES: LazyLock<Option<Regex>> = LazyLock::new(|| compiled("weak"));
static TEMPLATE: LazyLock<Option<Regex>> = LazyLock::new(|| compiled("templates"));

fn matches(regex: &LazyLock<Option<Regex>>, text: &[u8]) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// The secrecy of a value, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Secrecy {
    None,
    /// An object in which `token` identifies the progress of an operation of LSP.
    Progress,
    /// A secret if it looks like one.
    Weak,
    /// The values of its members, or of its pairs of name and value, are secret.
    Cookies,
    Strong,
}

impl Secrecy {
    /// Returns what the name of a member, a variable, an option or a header says.
    pub fn from_name(name: &[u8]) -> Self {
        match name {
            _ if matches(&HARMLESS_NAMES, name) => Self::None,
            _ if matches(&STRONG_NAMES, name) => Self::Strong,
            _ if matches(&WEAK_NAMES, name) => Self::Weak,
            b"cookies" => Self::Cookies,
            _ => Self::None,
        }
    }

    /// True if a value is secret.
    pub fn hides(self, value: &[u8]) -> bool {
        let hides = match self {
            Self::None | Self::Progress => false,
            Self::Strong => value.len() >= 4,
            Self::Cookies => value.contains(&b'='),
            Self::Weak => value.len() >= 4 && looks_secret(value),
        };
        hides && !matches(&TEMPLATE, value) && !is_placeholder(value)
    }
}

/// True if a value is not a word, a path, an identifier of a request, or a text.
fn looks_secret(value: &[u8]) -> bool {
    let is = |class: fn(&u8) -> bool| value.iter().all(class);
    let is_path = matches!(value, [b'/' | b'~' | b'.', ..] | [_, b':', b'\\' | b'/', ..]);
    let is_uuid = value.len() == 36 && value.split(|byte| *byte == b'-').map(<[u8]>::len).eq([8, 4, 4, 4, 12]);
    let is_plain = |part: &[u8]| part.iter().all(|byte| !byte.is_ascii_digit()) || part.iter().all(u8::is_ascii_digit);
    let is_scoped = value.contains(&b'/') && value.split(|byte| b"/-_".contains(byte)).all(is_plain);
    let is_text = value.iter().any(u8::is_ascii_whitespace);
    !is(u8::is_ascii_digit) && !is(u8::is_ascii_alphabetic) && !is_path && !is_uuid && !is_scoped && !is_text
}

/// True for a member whose value names the value beside it.
pub(super) fn is_name_of_pair(name: &[u8]) -> bool {
    [&b"name"[..], b"key", b"header", b"field", b"variable"].iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// True for a member whose value is named beside it.
pub(super) fn is_value_of_pair(name: &[u8]) -> bool {
    [&b"value"[..], b"values", b"val"].iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// True for a member of a JSON Schema.
pub(super) fn is_of_schema(name: &[u8]) -> bool {
    const BOUNDS: [&[u8]; 8] =
        [b"format", b"pattern", b"minLength", b"maxLength", b"minimum", b"maximum", b"multipleOf", b"contentEncoding"];
    is_schema_keyword(name) || BOUNDS.contains(&name)
}

/// True for a member of a JSON Schema that has values.
pub(super) fn is_of_values(name: &[u8]) -> bool {
    [&b"const"[..], b"default", b"enum", b"examples"].contains(&name)
}

/// True for a method of LSP whose parameters have a token of progress.
pub(super) fn is_of_progress(method: &[u8]) -> bool {
    method == b"$/progress" || method.starts_with(b"window/workDoneProgress/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values() {
        for (name, value, expected) in [
            ("db_password", "abcd", true),
            ("dbPassword", "abcd", true),
            ("password", "abc", false),
            ("x-api-key", "k-12", true),
            ("X-Auth-Token", "abcd", true),
            ("GITHUB_TOKEN", "abcd", true),
            ("AWS_SECRET_ACCESS_KEY_ID", "abcd", true),
            ("MYSQL_PWD", "abcd", true),
            ("PWD", "/root/a1", false),
            ("storageKeys", "0x0123456789abcdef", false),
            ("MAX_TOKENS", "4096", false),
            ("progress_token", "a1-b2", false),
            ("nextPageToken", "a1-b2", false),
            ("token", "a1b2", true),
            ("token", "rust-analyzer/flycheck/0", false),
            ("token", "6390373747387519384", false),
            ("token", "9b2f61c4-7d3e-4a58-9c1b-5e8f0a6d2b47", false),
            ("pwd", "/home/ida1", false),
            ("pwd", "C:\\Users\\ida1", false),
            ("pwd", "hunter2", true),
            ("password", "${DB_PASSWORD}", false),
            ("password", "********", false),
            ("password", "<your-password>", false),
            ("secretary", "Ida 4711", false),
            ("cookie", "sid=1", true),
            ("cookies", "none", false),
        ] {
            assert_eq!(Secrecy::from_name(name.as_bytes()).hides(value.as_bytes()), expected, "{name}: {value}");
        }
    }
}
