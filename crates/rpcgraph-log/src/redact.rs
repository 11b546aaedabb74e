//! Redaction: a log without its secrets, whose messages still pair and join.
//!
//! An allow-list decides what stays. Everything else becomes a placeholder.
//!
//! | part of a log | becomes |
//! |---|---|
//! | structure, white space, `true`, `false`, `null`, times | stays |
//! | a method that a published protocol defines | stays; another one becomes a word |
//! | the name of a member | stays where a published schema or a log format has it; a word elsewhere: in arguments, structured content, settings, and among the properties of a tool's schema |
//! | a string | stays if it is a word of the published schemas, and not in arguments and the like |
//! | names of MCP's tools and prompts | stay, and are listed, if they look like names (letters, at most [`MOST_DIGITS`] digits, `_`, `-`, `$`, `.`, `/`, `:`; at most 100 characters) and not like tokens |
//! | the version of a protocol | stays if it consists of at most 10 digits, `.` and `-` |
//! | a number | stays if it has one digit, or up to [`MOST_DIGITS`] digits in a member that a published schema has; an array of such numbers only below 32 |
//! | text around messages | keeps punctuation, levels and words for directions; every other word becomes a placeholder |
//!
//! Strings that hold JSON, Base64 or hexadecimal digits of JSON, URIs, and texts as arrays of bytes are redacted inside. A placeholder is an HMAC of
//! the value, in the shape of its kind: a word, a text of a similar length, a number, a UUID, Base64. Equal values have equal
//! placeholders, different values have different ones.

mod allowed;
mod placeholder;
pub mod secrets;
mod text;
mod value;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use base64::Engine as _;

use self::placeholder::HmacKey;
use self::secrets::{SecretKind, SecretSpan};
use crate::json;
use crate::record::{RawObject, byte_array, days_later};

/// The maximum number of digits of a number that stays.
pub const MOST_DIGITS: usize = 6;

/// The maximum number of names in a summary.
const MOST_NAMES: usize = 50;

/// The options of redaction.
#[derive(Debug, Clone, Default)]
pub struct RedactOptions {
    /// Exceptions, which stay: names of members with their values, JSON Pointers into messages, and strings.
    pub keep: Vec<String>,
    /// True to leave out parameters, results and the data of errors.
    pub metadata_only: bool,
    /// True to replace only what looks like a password, a token or a key.
    pub secrets_only: bool,
    /// True to replace names of tools, prompts and methods that are not published, too.
    pub drop_names: bool,
    /// The number of days that are added to each date that begins with its year, and to each Unix time.
    pub shift_days: i64,
}

/// Redacts logs. Equal values have equal placeholders in all logs of a redactor, and of redactors with the same key.
#[derive(Clone)]
pub struct Redactor {
    key: HmacKey,
    options: RedactOptions,
    replaced: BTreeMap<&'static str, u64>,
    stayed: BTreeMap<&'static str, u64>,
    /// Names that are not published and stayed.
    names: BTreeSet<String>,
    /// The number of frames that are open.
    depth: usize,
}

impl Redactor {
    /// Creates a redactor.
    pub fn new(key: &[u8], options: RedactOptions) -> Self {
        let key = HmacKey::new(key);
        Self { key, options, replaced: BTreeMap::new(), stayed: BTreeMap::new(), names: BTreeSet::new(), depth: 0 }
    }

    /// Returns the placeholder of a name.
    pub fn name(&self, name: &str) -> String {
        self.key.word(name.as_bytes())
    }

    /// True if times stay as they are.
    pub fn keeps_times(&self) -> bool {
        self.options.shift_days == 0
    }

    /// True if a message still has a secret, and no exceptions are stated.
    pub fn leaves_secret(&self, message: &str) -> bool {
        self.options.keep.is_empty() && secrets::spans(message.as_bytes()).next().is_some()
    }

    /// True if a message still has parameters, a result or the data of an error that are to be left out, as in a spelling
    /// other than JSON, and no exceptions are stated.
    pub fn leaves_payload(&self, message: &str) -> bool {
        let message = RawObject::parse(message.as_bytes()).filter(|_| self.options.metadata_only);
        let error = message.as_ref().and_then(|message| message.get("error")).and_then(RawObject::parse);
        let payloads = [(&message, "params"), (&message, "result"), (&error, "data")];
        let mut payloads = payloads.into_iter().filter_map(|(object, name)| object.as_ref()?.get(name));
        self.options.keep.is_empty() && payloads.any(|payload| !matches!(payload, b"{}" | b"[]" | b"null"))
    }

    /// Redacts the text of a log.
    pub fn log(&mut self, text: &[u8]) -> Vec<u8> {
        let secrets_only = self.options.secrets_only;
        let text = if secrets_only { Cow::Borrowed(text) } else { self.text(text).into() };
        if !secrets_only && !self.options.keep.is_empty() {
            return text.into_owned();
        }
        // Placeholders in the shape of their values may look like secrets.
        self.options.secrets_only = true;
        let redacted = self.content(&text);
        self.options.secrets_only = secrets_only;
        redacted
    }

    /// Replaces the secrets in a text without frames.
    fn secrets(&mut self, text: &[u8], out: &mut Vec<u8>) {
        let mut at = 0;
        for SecretSpan { range, kind } in secrets::spans(text) {
            out.extend_from_slice(&text[at..range.start]);
            at = range.end;
            // Equal secrets may be spelled with other escape sequences.
            let spelled = String::from_utf8_lossy(&text[range]);
            let value = json::unescaped(&spelled).unwrap_or(Cow::Borrowed(&spelled));
            match kind {
                SecretKind::Text => out.extend_from_slice(self.key.word(value.as_bytes()).as_bytes()),
                SecretKind::Number => out.extend_from_slice(self.key.number(&value).as_bytes()),
                SecretKind::Base64 | SecretKind::Bytes => {
                    let decoded = match kind {
                        SecretKind::Base64 => secrets::BASE64.decode(&*value).ok(),
                        _ => byte_array(value.as_bytes()).map(|(_, bytes)| bytes),
                    };
                    let mut inside = Vec::new();
                    self.secrets(&decoded.unwrap_or_default(), &mut inside);
                    let encoded = match kind {
                        SecretKind::Base64 => secrets::BASE64.encode(inside),
                        _ => format!("{inside:?}"),
                    };
                    out.extend_from_slice(encoded.as_bytes());
                    continue;
                }
            }
            self.count("secret");
        }
        out.extend_from_slice(&text[at..]);
    }

    /// Redacts a time, which stays or is shifted.
    fn time(&mut self, time: &[u8], out: &mut Vec<u8>) {
        self.stays("time");
        let days = self.options.shift_days;
        let shifted = std::str::from_utf8(time).ok().filter(|_| days != 0).and_then(|time| days_later(time, days));
        out.extend_from_slice(shifted.as_ref().map_or(time, String::as_bytes));
    }

    /// Counts what was replaced.
    fn count(&mut self, kind: &'static str) {
        *self.replaced.entry(kind).or_default() += 1;
    }

    /// Counts what stayed.
    fn stays(&mut self, kind: &'static str) {
        *self.stayed.entry(kind).or_default() += 1;
    }
}

/// Prints what was replaced, and what stayed.
impl fmt::Display for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |counts: &BTreeMap<&str, u64>| {
            let listed: Vec<_> = counts.iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
            if listed.is_empty() { "nothing".to_owned() } else { listed.join(", ") }
        };
        write!(f, "replaced: {}", listed(&self.replaced))?;
        if self.options.secrets_only {
            return write!(f, "; everything else stayed");
        }
        write!(f, "; stayed: {}", listed(&self.stayed))?;
        if !self.names.is_empty() {
            let shown: Vec<_> = self.names.iter().take(MOST_NAMES).map(String::as_str).collect();
            let more = self.names.len() - shown.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            write!(f, "; names that stayed: {}{more} (--drop-names replaces them)", shown.join(", "))?;
        }
        Ok(())
    }
}

/// True for a text that looks like a name and not like a key, a token or an account.
fn is_name(name: &str) -> bool {
    let punctuation = ['_', '-', '$', '.', '/', ':'];
    (1..=100).contains(&name.len())
        && name.chars().all(|character| character.is_ascii_alphanumeric() || punctuation.contains(&character))
        && name.bytes().filter(u8::is_ascii_digit).count() <= MOST_DIGITS
        && secrets::spans(name.as_bytes()).next().is_none()
}
