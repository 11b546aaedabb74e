//! Redaction: keeps the shape of a message and removes its content.
//!
//! | part of a message | becomes |
//! |---|---|
//! | structure, `true`, `false`, `null` | stays |
//! | a string anywhere, including ids and error messages | a placeholder: each letter and each character beyond ASCII is `x`, each digit `0`; ASCII punctuation and white space stay, so that dates, URIs, paths and UUIDs keep their shape. After [`LONGEST`] characters, `…` |
//! | a string that is one of [`WORDS`] | stays: words of the protocols do not reveal content |
//! | `method`; names of MCP's tools and prompts where they are called or listed | stays if it looks like a name (letters, at most [`MOST_DIGITS`] digits, `_`, `-`, `$`, `.`, `/`, `:`; at most 100 characters) and not like a token, else a placeholder |
//! | `jsonrpc`; the `protocolVersion` of MCP's `initialize` | stays if it consists of at most 10 digits, `.` and `-`, else a placeholder |
//! | a number of up to [`MOST_DIGITS`] digits, with an exponent of up to 3, and an error's code | stays |
//! | a longer number | 1 and zeros, with the same number of digits, also in the exponent |
//! | the name of a member | stays if it looks like one (a letter, `_` or `$`, then letters, digits, `_`, `-`, `$`; at most 40 characters and 3 digits), else a placeholder |
//!
//! A placeholder depends only on the value, so references to an id still match it.

pub(crate) mod secrets;

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{Hash as _, Hasher as _};

use siphasher::sip::SipHasher13;

use crate::json::{Text, Value, secret_key, write_str};
use crate::message::Id;

/// The maximum length of a placeholder, in characters.
pub const LONGEST: usize = 64;

/// The maximum number of digits of a number that stays.
pub const MOST_DIGITS: usize = 6;

/// Strings that stay anywhere, separated by `|`: words of JSON Schema, JSON-RPC, MCP, LSP and Ethereum.
pub const WORDS: &str = "\
    Internal error|Invalid Request|Invalid params|Method not found|Parse error|accept|alert|application/json|array|\
    assistant|audio|auto|begin|boolean|cancel|create|critical|debug|decline|delete|earliest|emergency|end|endTurn|\
    error|finalized|form|full|image|incremental|info|integer|latest|markdown|maxTokens|none|notice|null|number|object|\
    pending|plaintext|rename|report|required|resource|resource_link|safe|stopSequence|string|system|text|text/html|\
    text/markdown|text/plain|tool|unChanged|user|utf-16|utf-32|utf-8|warning";

/// The path segment for an element of an array.
const ELEMENT: &str = "*";

/// Redacts a message or any other JSON value: returns JSON text in one line. `method` is the method of the message, or
/// of the call that it answers.
pub fn redact(message: &Value<'_>, method: Option<&str>) -> String {
    let mut writer = RedactionWriter { method, key: None, path: Vec::new(), out: String::new() };
    writer.value(message);
    writer.out
}

/// Redacts the name of a method, a tool or a prompt: returns a placeholder if it does not look like a name.
pub fn redact_name(name: &str) -> Cow<'_, str> {
    let punctuation = ['_', '-', '$', '.', '/', ':'];
    let like_a_name = (1..=100).contains(&name.len())
        && name.chars().all(|character| character.is_ascii_alphanumeric() || punctuation.contains(&character))
        // More digits suggest a key, a token or an account.
        && name.bytes().filter(u8::is_ascii_digit).count() <= MOST_DIGITS
        && secrets::ranges(name.as_bytes()).next().is_none();
    kept(name, like_a_name)
}

/// Redacts the version of a protocol, which is a number or a date.
pub fn redact_version(version: &str) -> Cow<'_, str> {
    let like_a_version =
        version.len() <= 10 && version.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
    kept(version, like_a_version)
}

fn kept(text: &str, stays: bool) -> Cow<'_, str> {
    if stays { Cow::Borrowed(text) } else { Cow::Owned(placeholder(text.chars())) }
}

/// Returns the name, or a name made from it that is not in `taken`; adds it there.
pub(crate) fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let mut candidate = name.to_owned();
    let mut copy = 1_u64;
    while !taken.insert(candidate.clone()) {
        copy += 1;
        candidate = format!("{name}-{copy}");
    }
    candidate
}

/// Redaction for one document. Equal texts have the same placeholder there, and different texts most likely have
/// different ones. The placeholders differ between documents.
#[derive(Debug, Clone)]
pub struct Redaction(SipHasher13);

impl Default for Redaction {
    fn default() -> Self {
        let [first, second] = secret_key();
        Self(SipHasher13::new_with_keys(first, second))
    }
}

impl Redaction {
    /// Creates the redaction for a new document, with a random key.
    pub fn keyed() -> Self {
        Self::default()
    }

    /// Redacts a message; see [`redact`].
    pub fn message(&self, message: &Value<'_>, method: Option<&str>) -> String {
        let mut writer = RedactionWriter { method, key: Some(self), path: Vec::new(), out: String::new() };
        writer.value(message);
        writer.out
    }

    /// Redacts a text: returns its placeholder with a keyed hash of 16 bits.
    pub fn text(&self, text: &str) -> String {
        let mut hasher = self.0;
        text.hash(&mut hasher);
        format!("{}·{:04x}", placeholder(text.chars()), hasher.finish() & 0xffff)
    }

    /// Redacts a name as [`redact_name`] does, or else as a text.
    pub fn name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        match redact_name(name) {
            Cow::Owned(_) => Cow::Owned(self.text(name)),
            kept => kept,
        }
    }

    /// Redacts an id. Short numbers stay.
    pub fn id(&self, id: &Id<'_>) -> String {
        match id {
            Id::String(text) => self.text(text),
            Id::Number(number) => redact_number(number).into_owned(),
            Id::Null => "null".to_owned(),
        }
    }
}

struct RedactionWriter<'p> {
    key: Option<&'p Redaction>,
    method: Option<&'p str>,
    /// Names of the members from the message to the current value, with [`ELEMENT`] for an element of an array.
    path: Vec<String>,
    out: String,
}

impl RedactionWriter<'_> {
    fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(true) => self.out.push_str("true"),
            Value::Bool(false) => self.out.push_str("false"),
            Value::Number(number) if self.is_error_code() => self.out.push_str(number.as_str()),
            Value::Number(number) => self.out.push_str(&redact_number(number.as_str())),
            Value::String(text) => {
                let text = self.string(text);
                write_str(&text, &mut self.out);
            }
            Value::Array(array) => {
                self.out.push('[');
                for (i, item) in array.items.iter().enumerate() {
                    self.out.push_str(if i > 0 { "," } else { "" });
                    // An element of a batch is a message.
                    if self.path.is_empty() {
                        self.value(item);
                        continue;
                    }
                    self.path.push(ELEMENT.to_owned());
                    self.value(item);
                    self.path.pop();
                }
                self.out.push(']');
            }
            Value::Object(object) => {
                // Two names may have the same placeholder, but the names in an object must differ.
                let mut taken = HashSet::new();
                self.out.push('{');
                for (i, (name, value)) in object.members.iter().enumerate() {
                    self.out.push_str(if i > 0 { "," } else { "" });
                    write_str(&unique(&redact_member_name(name), &mut taken), &mut self.out);
                    self.out.push(':');
                    self.path.push(name.as_str().unwrap_or_default().to_owned());
                    self.value(value);
                    self.path.pop();
                }
                self.out.push('}');
            }
        }
    }

    fn string<'t>(&self, text: &'t Text<'_>) -> Cow<'t, str> {
        let Text::Unicode(text) = text else { return Cow::Owned(placeholder_of(text)) };
        if WORDS.split('|').any(|word| word == text) {
            return Cow::Borrowed(text);
        }
        if self.is_name() {
            self.key.map_or_else(|| redact_name(text), |key| key.name(text))
        } else if self.is_version() {
            redact_version(text)
        } else if let Some(key) = self.key {
            Cow::Owned(key.text(text))
        } else {
            Cow::Owned(placeholder(text.chars()))
        }
    }

    fn path(&self) -> Vec<&str> {
        self.path.iter().map(String::as_str).collect()
    }

    fn is_error_code(&self) -> bool {
        self.path() == ["error", "code"]
    }

    /// True if the value is the version of a protocol.
    fn is_version(&self) -> bool {
        match self.path().as_slice() {
            ["jsonrpc"] => true,
            ["params" | "result", "protocolVersion"] => self.method == Some("initialize"),
            _ => false,
        }
    }

    /// True if the value is a name that the protocols define.
    fn is_name(&self) -> bool {
        match self.path().as_slice() {
            ["method"] => true,
            ["params", "name"] => matches!(self.method, Some("tools/call" | "prompts/get")),
            ["result", "tools", ELEMENT, "name"] => self.method == Some("tools/list"),
            ["result", "prompts", ELEMENT, "name"] => self.method == Some("prompts/list"),
            _ => false,
        }
    }
}

fn redact_member_name(name: &Text<'_>) -> String {
    let Text::Unicode(name) = name else { return placeholder_of(name) };
    let mut characters = name.chars();
    let like_a_name = name.len() <= 40
        && characters.next().is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, '_' | '$'))
        && characters.all(|other| other.is_ascii_alphanumeric() || matches!(other, '_' | '-' | '$'))
        && name.bytes().filter(u8::is_ascii_digit).count() <= 3;
    kept(name, like_a_name).into_owned()
}

fn placeholder_of(text: &Text<'_>) -> String {
    match text {
        Text::Unicode(text) => placeholder(text.chars()),
        Text::Utf16(units) => {
            placeholder(char::decode_utf16(units.iter().copied()).map(|character| character.unwrap_or('x')))
        }
    }
}

fn placeholder(characters: impl IntoIterator<Item = char>) -> String {
    let mut characters = characters.into_iter().map(|character| match character {
        '0'..='9' => '0',
        'a'..='z' | 'A'..='Z' => 'x',
        _ if character.is_ascii() => character,
        _ if character.is_numeric() => '0',
        _ => 'x',
    });
    let mut placeholder: String = characters.by_ref().take(LONGEST).collect();
    if characters.next().is_some() {
        placeholder.push('…');
    }
    placeholder
}

/// Redacts a number: its digits become 1 and zeros if they are more than [`MOST_DIGITS`]. An exponent of up to three
/// digits stays, which is the maximum for a double.
fn redact_number(spelling: &str) -> Cow<'_, str> {
    let (mantissa, exponent) = spelling.split_at(spelling.find(['e', 'E']).unwrap_or(spelling.len()));
    let digits = |part: &str| part.bytes().filter(u8::is_ascii_digit).count();
    let (is_long, is_far) = (digits(mantissa) > MOST_DIGITS, digits(exponent) > 3);
    if !is_long && !is_far {
        return Cow::Borrowed(spelling);
    }
    let mantissa = if is_long { zeros(mantissa) } else { mantissa.to_owned() };
    let exponent = if is_far { zeros(exponent) } else { exponent.to_owned() };
    Cow::Owned(mantissa + &exponent)
}

/// Replaces the first digit of a text by 1, and all other digits by 0.
fn zeros(text: &str) -> String {
    let mut digit = '1';
    let zero =
        |character: char| if character.is_ascii_digit() { std::mem::replace(&mut digit, '0') } else { character };
    text.chars().map(zero).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn redacted(text: &str, method: Option<&str>) -> String {
        redact(&parse(text.as_bytes()).unwrap(), method)
    }

    #[test]
    fn words_are_sorted() {
        assert!(WORDS.split('|').is_sorted());
    }

    #[test]
    fn shapes_stay_and_words_go() {
        for (text, placeholder) in [
            ("2026-01-05T10:00:00Z", "0000-00-00x00:00:00x"),
            ("https://ida:pw@example.org:8080/a?b=c#d", "xxxxx://xxx:xx@xxxxxxx.xxx:0000/x?x=x#x"),
            ("9b2F-00aa", "0x0x-00xx"),
            ("Größe\\n\\t漢字 ٣ 😀", "xxxxx\\n\\txx 0 x"),
            ("", ""),
            ("text", "text"),
            ("Text", "xxxx"),
        ] {
            assert_eq!(redacted(&format!("[\"{text}\"]"), None), format!("[\"{placeholder}\"]"));
        }
        assert_eq!(placeholder("é".repeat(64).chars()), "x".repeat(64));
        assert_eq!(placeholder("é".repeat(65).chars()), format!("{}…", "x".repeat(64)));
        assert_eq!(redacted(r#"["\ud83dab"]"#, None), r#"["xxx"]"#);
    }

    #[test]
    fn names_stay_where_the_protocol_has_names() {
        let call = r#"{"jsonrpc":"2.0","id":"a-7","method":"tools/call","params":{"name":"get_user","arguments":{"name":"Ida","type":"vip"}}}"#;
        assert_eq!(
            redacted(call, Some("tools/call")),
            r#"{"jsonrpc":"2.0","id":"x-0","method":"tools/call","params":{"name":"get_user","arguments":{"name":"xxx","type":"xxx"}}}"#
        );
        assert!(redacted(call, Some("other")).contains(r#""name":"xxx_xxxx""#));
        let spaced = r#"{"method":"tools/call","params":{"name":"my secret"}}"#;
        assert_eq!(redacted(spaced, Some("tools/call")), r#"{"method":"tools/call","params":{"name":"xx xxxxxx"}}"#);
        let list = r#"{"result":{"tools":[{"name":"get_user","description":"Finds Ida"}]}}"#;
        assert_eq!(
            redacted(list, Some("tools/list")),
            r#"{"result":{"tools":[{"name":"get_user","description":"xxxxx xxx"}]}}"#
        );
        let hello = r#"{"result":{"protocolVersion":"2025-11-25","serverInfo":{"version":"1.2"}}}"#;
        assert_eq!(
            redacted(hello, Some("initialize")),
            r#"{"result":{"protocolVersion":"2025-11-25","serverInfo":{"version":"0.0"}}}"#
        );
    }

    #[test]
    fn names_and_versions_hide_nothing() {
        for (message, method, left) in [
            (r#"{"method":"user.4111111111111111.get"}"#, None, r#"{"method":"xxxx.0000000000000000.xxx"}"#),
            (r#"{"jsonrpc":"token-7"}"#, None, r#"{"jsonrpc":"xxxxx-0"}"#),
            (
                r#"{"params":{"name":"sk-abcdefghijklmnopqrst"}}"#,
                Some("tools/call"),
                r#"{"params":{"name":"xx-xxxxxxxxxxxxxxxxxxxx"}}"#,
            ),
            // In positional parameters, names cannot be recognised.
            (r#"{"params":[{"name":"ida"}]}"#, Some("tools/call"), r#"{"params":[{"name":"xxx"}]}"#),
            (
                r#"{"result":[{"tools":[{"name":"ida"}]}]}"#,
                Some("tools/list"),
                r#"{"result":[{"tools":[{"name":"xxx"}]}]}"#,
            ),
            (
                r#"{"params":{"protocolVersion":"ghp_abc"}}"#,
                Some("initialize"),
                r#"{"params":{"protocolVersion":"xxx_xxx"}}"#,
            ),
            (
                r#"{"result":{"tools":[{"name":"mcp__6ba7b810-9dad-11d1__find"}]}}"#,
                Some("tools/list"),
                r#"{"result":{"tools":[{"name":"xxx__0xx0x000-0xxx-00x0__xxxx"}]}}"#,
            ),
        ] {
            assert_eq!(redacted(message, method), left);
        }
    }

    #[test]
    fn errors_keep_their_code() {
        assert_eq!(
            redacted(r#"{"error":{"code":-32768001,"message":"no such user: ida","data":{"code":12345678}}}"#, None),
            r#"{"error":{"code":-32768001,"message":"xx xxxx xxxx: xxx","data":{"code":10000000}}}"#
        );
        assert_eq!(
            redacted(r#"{"error":{"message":"Method not found"}}"#, None),
            r#"{"error":{"message":"Method not found"}}"#
        );
    }

    #[test]
    fn long_numbers_go() {
        for (number, left) in [
            ("123456", "123456"),
            ("1234567", "1000000"),
            ("-59.858562", "-10.000000"),
            ("0.00", "0.00"),
            ("1.5E300", "1.5E300"),
            ("1e-4111111", "1e-1000000"),
            ("1731600000.5e-3", "1000000000.0e-3"),
        ] {
            assert_eq!(redacted(number, None), left);
        }
    }

    #[test]
    fn member_names_that_are_data_go() {
        assert_eq!(
            redacted(r#"{"changes":{"file:///home/ida/a":1,"file:///home/eva/b":2,"2026":3,"sha256":4,"x":5}}"#, None),
            r#"{"changes":{"xxxx:///xxxx/xxx/x":1,"xxxx:///xxxx/xxx/x-2":2,"0000":3,"sha256":4,"x":5}}"#
        );
    }
}
