//! What looks like a password, a token or a key.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::json::{self, Cursor};

/// Prefixes and shapes by which services' tokens are known, then members whose strings are secrets.
const LOOKS: &str = r#"(?x)
    \b(?: gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,} | glpat-[A-Za-z0-9_-]{16,} | sk-[A-Za-z0-9_-]{16,}
    | xox[abprs]-[A-Za-z0-9-]{10,} | A[KS]IA[A-Z0-9]{16} | AIza[A-Za-z0-9_-]{30,} | npm_[A-Za-z0-9]{30,}
    | hf_[A-Za-z0-9]{20,} | eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]* )
    | -----BEGIN\x20[A-Z\x20]*PRIVATE\x20KEY-----
    | (?i: \bbearer\x20[A-Za-z0-9._~+/-]{16,}
    | \\?"(?:[a-z0-9_-]*(?:password|passwd|secret|api_?-?key|access_?-?token|auth_?-?token|private_?-?key)|authorization)
      \\?"\s*:\s*\\?"[^"\\]{4,} )"#;

/// None only if the expression were wrong.
static SECRETS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(LOOKS).ok());

/// Where those in a text are, in bytes: each with the name of its member, where that gives it away.
pub(crate) fn ranges(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    SECRETS.iter().flat_map(move |looks| looks.find_iter(text)).map(|found| found.range())
}

/// Those in a text: a JSON Pointer to the string that each is in, or to the member whose name has it, and how it begins. The
/// pointer is empty, if the text is not JSON.
pub(crate) fn masked(text: &str) -> Vec<(String, String)> {
    let mut path = Vec::new();
    let mut cursor = Cursor::new(text, 0);
    let is_json = json::parse(text.as_bytes()).is_ok();
    let ranges = ranges(text.as_bytes()).map(|range| {
        // Its last byte is in the string that it is in.
        while is_json && cursor.at() < range.end && step(&mut cursor, &mut path).is_some() {}
        let pointer = if is_json { path.iter().map(Step::token).collect() } else { String::new() };
        (pointer, mask(text.get(range).unwrap_or_default()))
    });
    ranges.collect()
}

/// A step from an array or an object to what is in it.
enum Step<'a> {
    Element(usize),
    /// A name as it is spelled.
    Member(&'a str),
}

impl Step<'_> {
    fn token(&self) -> String {
        match self {
            Self::Element(index) => format!("/{index}"),
            Self::Member(name) => {
                let name = json::unescaped(name).unwrap_or(Cow::Borrowed(name));
                format!("/{}", name.replace('~', "~0").replace('/', "~1"))
            }
        }
    }
}

/// Passes over the next token of JSON. The path then leads to what it belongs to.
fn step<'a>(cursor: &mut Cursor<'a>, path: &mut Vec<Step<'a>>) -> Option<()> {
    match cursor.peek()? {
        b'{' => {
            cursor.skip();
            path.push(Step::Member(""));
            name(cursor, path);
        }
        b'[' => {
            cursor.skip();
            path.push(Step::Element(0));
        }
        b'}' | b']' => {
            cursor.skip();
            path.pop();
        }
        b',' => {
            cursor.skip();
            match path.last_mut()? {
                Step::Element(index) => *index += 1,
                Step::Member(_) => name(cursor, path),
            }
        }
        b'"' => drop(cursor.known_string()?),
        _ => cursor.skip(),
    }
    Some(())
}

fn name<'a>(cursor: &mut Cursor<'a>, path: &mut [Step<'a>]) {
    if cursor.peek() == Some(b'"')
        && let (Some(found), Some(last)) = (cursor.known_string(), path.last_mut())
    {
        *last = Step::Member(found);
    }
}

/// The first characters of a secret, if it is long enough to stay one.
fn mask(found: &str) -> String {
    // Behind the name of its member.
    let secret = found.rsplit('"').next().unwrap_or(found);
    if secret.starts_with("-----BEGIN") {
        return secret.to_owned();
    }
    let shown = if secret.len() < 16 { 0 } else { 4 };
    secret.chars().take(shown).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_secret() {
        for (text, expected) in [
            (r#"{"token":"ghp_0123456789abcdefghij0123"}"#, 1),
            (r#"{"headers":{"Authorization":"Bearer abcdefghijklmnop.qrst"}}"#, 1),
            (r#"{"apiKey":"k-12345","db_password":"hunter22"}"#, 2),
            (r#""{\"client_secret\":\"abcdef\"}""#, 1),
            ("-----BEGIN RSA PRIVATE KEY-----", 1),
            ("AKIA0123456789ABCDEF and AIza0123456789012345678901234567890", 2),
            (r#"{"password":null,"secretary":"Ida","maxTokens":100,"progressToken":"abcdefgh","key":"value"}"#, 0),
            ("task-force sk-short eyJhbGciOi", 0),
        ] {
            assert_eq!(ranges(text.as_bytes()).count(), expected, "{text}");
        }
    }

    #[test]
    fn where_secrets_are_and_how_they_begin() {
        for (text, expected) in [
            (
                r#"{"a/b~":[1,{"token":"x ghp_0123456789abcdefghij0123"}],"z":"sk-0123456789abcdef"}"#,
                vec![("/a~1b~0/1/token", "ghp_…"), ("/z", "sk-0…")],
            ),
            (
                r#"{"headers":{"Authorization":"Bearer abcdefghijklmnop.qrst"}}"#,
                vec![("/headers/Authorization", "Bear…")],
            ),
            (r#"[{},[],"",{"apiKey":"k-12345"}]"#, vec![("/3/apiKey", "…")]),
            (r#"{"x":{"ghp_0123456789abcdefghij0123":1}}"#, vec![("/x/ghp_0123456789abcdefghij0123", "ghp_…")]),
            (r#""{\"client_secret\":\"abcdef\"}""#, vec![("", "…")]),
            ("lost sk-0123456789abcdef", vec![("", "sk-0…")]),
            (r#"{"a":"-----BEGIN RSA PRIVATE KEY-----"}"#, vec![("/a", "-----BEGIN RSA PRIVATE KEY-----")]),
            ("{}", vec![]),
        ] {
            let found = masked(text);
            let found: Vec<_> = found.iter().map(|(at, looks)| (at.as_str(), looks.as_str())).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
