//! Detects text that looks like a password, a token or a key.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::iter;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::{memchr2_iter, memmem};
use regex::bytes::Regex;

use crate::json::{self, Cursor};

/// The patterns of secrets: known prefixes and shapes of tokens, private keys, names of members, parameters and
/// variables that identify a secret, passwords in URLs, cookies, and credentials in headers. The shapes of tokens and
/// keys follow [gitleaks](https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml), or are shorter;
/// `NAMES` stands for [`NAMES`].
const LOOKS: &str = r#"(?x-u)
    \b(?: gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,} | gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{16,}
    | sk-[A-Za-z0-9_-]{16,} | [rs]k_(?:live|prod|test)_[A-Za-z0-9]{10,} | xox[abeprs]-[A-Za-z0-9-]{10,}
    | xapp-[0-9]-[A-Za-z0-9-]{10,} | (?:A[KS]IA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16} | AIza[A-Za-z0-9_-]{30,}
    | npm_[A-Za-z0-9]{30,} | pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,} | hf_[A-Za-z0-9]{20,} | SG\.[A-Za-z0-9=_.-]{60,}
    | shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32} | dop_v1_[a-f0-9]{64} | hvs\.[A-Za-z0-9_-]{24,}
    | eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]* )
    | hooks\.slack\.com/services/[A-Za-z0-9+/]{40,}
    | -----BEGIN[\x20A-Z0-9_]{0,100}PRIVATE\x20KEY(?:\x20BLOCK)?-----
    | (?i: \bbearer\x20(?:[A-Za-z0-9._~+/-]|\\+/){16,}
    | \\*"(?:[a-z0-9_-]*NAMES|(?:proxy-)?authorization|(?:set-)?cookie)\\*"\s*:\s*\\*"(?:[^"\\]{4}|[^"\\]{0,3}\\)
    | \bauthorization:\x20?(?:basic|bearer|digest|token)\x20(?:[^\s"'\\]|\\+/){8,}
    | \bcookie:\x20?[^\s=;"\\]{1,100}=(?:[^\s;"\\]|\\+/){8,}
    | \b[a-z][a-z0-9+.-]{1,20}:\\?/\\?/[^\s/?\#:@"'\\]{0,100}:(?:[^\s/?\#@"'\\<>{}$*]|\\+u[0-9a-f]{4}){3,100}@
    | [?&](?:NAMES|token)=(?:[^\s&\#"'\\<>{}$*]|\\+/){4,}
    | \b[a-z0-9_.-]{0,40}NAMES=(?:\\*["'])?(?:[^\s"'\\&;,<>(){}\[\]$*|=]|\\+/){4,} )
    | (?:\b|\\[nrt])[A-Z0-9_]*(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY)[A-Z0-9_]*
      =(?:\\*["'])?(?:[^\s"'\\&;,<>(){}\[\]$*|=]|\\+/){4,}"#;

/// The endings of names of secrets.
const NAMES: &str = "(?:passw(?:or)?d|passphrase|secret|(?:api|access|private|secret)[_-]?key\
    |(?:access|api|app|auth|bearer|bot|client|csrf|id|jwt|oauth|refresh|secret|security|service|session|user|xsrf)[_-]?token)";

/// `None` only if the regular expression is invalid.
static SECRETS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&LOOKS.replace("NAMES", NAMES)).ok());

/// Returns the ranges of secrets in a text, in bytes, without the names that identify them. Of a private key, it is the
/// first line.
pub fn ranges(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    iter::from_fn(move || {
        loop {
            let found = SECRETS.as_ref()?.find_at(text, at)?;
            at = found.end();
            let range = if is_code(found.as_bytes(), text.get(at)) { None } else { secret(text, found.range()) };
            if let Some(range) = range {
                at = at.max(range.end);
                return Some(range);
            }
        }
    })
}

/// Returns the secret that was found in a range: the whole string behind the name of a member, the text behind the name
/// of a variable, the password in a URL, or all of it. `None` if it is too short for a secret.
fn secret(text: &[u8], found: Range<usize>) -> Option<Range<usize>> {
    let shown = &text[found.clone()];
    if shown.iter().find(|byte| **byte != b'\\') == Some(&b'"') {
        let start = found.start + shown.iter().rposition(|byte| *byte == b'"')? + 1;
        let end = string_end(text, start);
        return (end >= start + 4).then_some(start..end);
    }
    if let Some(url) = shown.strip_suffix(b"@") {
        return Some(found.start + url.iter().rposition(|byte| *byte == b':')? + 1..found.end - 1);
    }
    let value = shown.iter().rposition(|byte| *byte != b'=')?;
    let name = shown[..value].iter().rposition(|byte| matches!(byte, b'"' | b'=')).map_or(0, |at| at + 1);
    Some(found.start + name..found.end)
}

/// Returns the end of the string that begins at `start`, behind its quote, or of the line. In JSON in a string, quotes
/// have escape sequences, as in `{\"password\":\"a\\\"b\"}`.
fn string_end(text: &[u8], start: usize) -> usize {
    let escapes = |first: usize, at: usize| text[first..at].iter().rev().take_while(|byte| **byte == b'\\').count();
    let opening = escapes(0, start - 1);
    for at in memchr2_iter(b'"', b'\n', &text[start..]).map(|at| start + at) {
        let count = escapes(start, at);
        // Escaped backslashes in the string double with each level.
        if text[at] == b'\n' || count < opening || count % (2 * (opening + 1)) == opening {
            return if text[at] == b'"' { at - count.min(opening) } else { at };
        }
    }
    text.len()
}

/// True if an assignment is program source: `password=self.password`, `token=read(`.
fn is_code(found: &[u8], next: Option<&u8>) -> bool {
    let mut parts = found.splitn(2, |byte| *byte == b'=');
    let (Some(name), Some(value)) = (parts.next(), parts.next()) else { return false };
    let is_name = name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(byte));
    let is_variable = value.iter().any(|byte| b"._".contains(byte)) && !value.iter().any(u8::is_ascii_digit);
    let is_own = name.to_ascii_lowercase().ends_with(&value.to_ascii_lowercase());
    is_name && name.iter().any(u8::is_ascii_lowercase) && (is_variable || is_own || next == Some(&b'('))
}

/// Returns the masked secrets in a text, each after a JSON Pointer to the string that contains it, or to the member
/// whose name contains it. The pointer is empty if the text is not JSON.
pub fn masked(text: &str) -> Vec<(String, String)> {
    let mut path = Vec::new();
    let mut cursor = Cursor::new(text, 0);
    // Most texts have no secret.
    let is_json = LazyCell::new(|| json::check(text.as_bytes()).is_ok());
    let ranges = ranges(text.as_bytes()).map(|range| {
        // The last byte of a range is in the string that contains the secret.
        while *is_json && cursor.at() < range.end && step(&mut cursor, &mut path).is_some() {}
        let pointer = if *is_json { path.iter().map(PathStep::token).collect() } else { String::new() };
        (pointer, mask(text.get(range).unwrap_or_default()))
    });
    ranges.collect()
}

/// A step of the path from an array or an object to a value in it.
enum PathStep<'a> {
    Element(usize),
    /// A name as spelled in the text, with its escape sequences.
    Member(&'a str),
}

impl PathStep<'_> {
    fn token(&self) -> String {
        match self {
            Self::Element(index) => format!("/{index}"),
            Self::Member(name) => {
                let name = json::unescaped(name).unwrap_or(Cow::Borrowed(name));
                format!("/{}", json::pointer_token(&name))
            }
        }
    }
}

/// Skips the next token of JSON. The path then leads to the value that the token belongs to.
fn step<'a>(cursor: &mut Cursor<'a>, path: &mut Vec<PathStep<'a>>) -> Option<()> {
    match cursor.peek()? {
        b'{' => {
            cursor.skip();
            path.push(PathStep::Member(""));
            name(cursor, path);
        }
        b'[' => {
            cursor.skip();
            path.push(PathStep::Element(0));
        }
        b'}' | b']' => {
            cursor.skip();
            path.pop();
        }
        b',' => {
            cursor.skip();
            match path.last_mut()? {
                PathStep::Element(index) => *index += 1,
                PathStep::Member(_) => name(cursor, path),
            }
        }
        b'"' => drop(cursor.known_string()?),
        _ => cursor.skip(),
    }
    Some(())
}

fn name<'a>(cursor: &mut Cursor<'a>, path: &mut [PathStep<'a>]) {
    if cursor.peek() == Some(b'"')
        && let (Some(found), Some(last)) = (cursor.known_string(), path.last_mut())
    {
        *last = PathStep::Member(found);
    }
}

/// Masks a secret: shows its first characters if it is long enough to stay secret.
fn mask(secret: &str) -> String {
    if secret.starts_with(PEM) {
        return secret.to_owned();
    }
    let shown = if secret.len() < 16 { 0 } else { 4 };
    secret.chars().take(shown).chain(['…']).collect()
}

const PEM: &str = "-----BEGIN";

/// Returns the ranges of secrets, and of private keys up to their end.
pub(crate) fn hidden(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    ranges(text).map(move |range| {
        if !text[range.clone()].starts_with(PEM.as_bytes()) {
            return range;
        }
        let rest = &text[range.end..];
        let end = memmem::find(rest, b"-----END").or_else(|| memchr::memchr(b'"', rest)).unwrap_or(rest.len());
        range.end..range.end + end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognized() {
        for (text, expected) in [
            (r#"{"token":"ghp_0123456789abcdefghij0123"}"#, 1),
            (r#"{"headers":{"Authorization":"Bearer abcdefghijklmnop.qrst"}}"#, 1),
            (r#"{"apiKey":"k-12345","db_password":"hunter22"}"#, 2),
            (r#""{\"client_secret\":\"abcdef\"}""#, 1),
            (r#""{\"inner\":\"{\\\"password\\\":\\\"hunter2\\\"}\"}""#, 1),
            (r#"{"id_token":"abcdef","csrfToken":"abcdef","workDoneToken":"abcdef","nextPageToken":"abcdef"}"#, 2),
            ("-----BEGIN RSA PRIVATE KEY-----", 1),
            ("AKIA0123456789ABCDEF and AIza0123456789012345678901234567890", 2),
            (r#"{"password":null,"secretary":"Ida","maxTokens":100,"progressToken":"abcdefgh","key":"value"}"#, 0),
            ("task-force sk-short eyJhbGciOi", 0),
            (
                r#"["postgres://ida:hunter2@db/x","https:\/\/:pw1@host","redis://h:6379/0","git@host:x/y.git","a://u:***@h"]"#,
                2,
            ),
            ("https://h/x?a=1&api_key=abcd&b=2 ?token=abcdef /cb?access_token=abc.def#x ?key=abcdef&tokens=12345", 3),
            (r#""DB_PASSWORD=hunter2\nAWS_SECRET_ACCESS_KEY='x\nGH_TOKEN=abcdef TOKENS=5 HOME=/root X_SECRET=$Y""#, 2),
            ("mysql --password=hunter2 api_key=sk1234 client-secret=abc-def", 3),
            ("login(password=self.password, api_key=api_key, auth_token=read(x), session_token=next_token)", 0),
            ("-----BEGIN OPENSSH PRIVATE KEY----- -----BEGIN PGP PRIVATE KEY BLOCK----- -----BEGIN PUBLIC KEY-----", 2),
            (r#"{"Cookie":"sid=0123","set-cookie":"a=b; Path=/","x-api-key":"k-123","cookies":"none"}"#, 3),
            ("Authorization: Basic aWRhOnB3MTI= \nSet-Cookie: sid=0123456789; Path=/\nCookie: a=1", 2),
            ("sk_live_0123456789 hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", 2),
        ] {
            assert_eq!(ranges(text.as_bytes()).count(), expected, "{text}");
        }
    }

    #[test]
    fn whole_secrets_are_hidden() {
        for (text, expected) in [
            (r#"{"password":"R2d2\u0026Tail"}"#, vec![r"R2d2\u0026Tail"]),
            (r#"{"password":"ab\"Tail\\"},{"password":"next"}"#, vec![r#"ab\"Tail\\"#, "next"]),
            (r#"{"password":"a\nb","user":"ida"}"#, vec![r"a\nb"]),
            (r#"{"password":"abc=def=","set-cookie":"sid=0123; Path=/"}"#, vec!["abc=def=", "sid=0123; Path=/"]),
            (r#"{"password":"","secret":"\"","api_key":"abc"}"#, vec![]),
            (r#""{\"password\":\"\",\"secret\":\"a\\u0026bc\\\"d\\\\\",\"x\":1}""#, vec![r#"a\\u0026bc\\\"d\\\\"#]),
            (r#""{\"in\":\"{\\\"password\\\":\\\"hunter2\\\",\\\"x\\\":1}\"}""#, vec!["hunter2"]),
            ("{\"password\":\"cut off\n{\"x\":\"\"}", vec!["cut off"]),
            (r#"{"password":"cut \"of"#, vec![r#"cut \"of"#]),
            (r#""AWS_SECRET_ACCESS_KEY=wJal\/K7MD\/bPx\n""#, vec![r"wJal\/K7MD\/bPx"]),
            (r#""Authorization: Bearer abcd\/efgh\/ijkl.mnop""#, vec![r"Authorization: Bearer abcd\/efgh\/ijkl.mnop"]),
            (r#""https://ida:pass\u0026word@host/?api_key=ab\/cd\u0026b=1""#, vec![r"pass\u0026word", r"ab\/cd"]),
        ] {
            let found: Vec<_> = hidden(text.as_bytes()).map(|range| &text[range]).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn secrets_have_a_pointer_and_a_prefix() {
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
            (r#"["postgres://ida:correct-horse-battery@db/x"]"#, vec![("/0", "corr…")]),
            (r#"{"env":"DB_PASSWORD=hunter2-hunter2-hunter2"}"#, vec![("/env", "hunt…")]),
            ("{}", vec![]),
        ] {
            let found = masked(text);
            let found: Vec<_> = found.iter().map(|(at, looks)| (at.as_str(), looks.as_str())).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
