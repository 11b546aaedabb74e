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
//! | names of MCP's tools and prompts | stay if they look like names (letters, at most [`MOST_DIGITS`] digits, `_`, `-`, `$`, `.`, `/`, `:`; at most 100 characters) and not like tokens |
//! | the version of a protocol | stays if it consists of at most 10 digits, `.` and `-` |
//! | a number | stays if it has one digit, or up to [`MOST_DIGITS`] digits in a member that a published schema has |
//! | text around messages | keeps punctuation, levels and words for directions; every other word becomes a placeholder |
//!
//! Strings that hold JSON, Base64 or hexadecimal digits of JSON, and URIs are redacted inside. A placeholder is an HMAC of
//! the value, in the shape of its kind: a word, a text of a similar length, a number, a UUID, Base64. Equal values have equal
//! placeholders, different values have different ones.

mod allowed;
mod placeholder;
pub mod secrets;
mod text;
mod value;

use std::collections::BTreeMap;
use std::fmt;

use self::placeholder::HmacKey;
use crate::json;
use crate::record::days_later;

/// The maximum number of digits of a number that stays.
pub const MOST_DIGITS: usize = 6;

/// The options of redaction.
#[derive(Debug, Clone, Default)]
pub struct RedactOptions {
    /// Exceptions, which stay: names of members with their values, JSON Pointers into messages, and strings.
    pub keep: Vec<String>,
    /// True to leave out parameters, results and the data of errors.
    pub metadata_only: bool,
    /// True to replace only what looks like a password, a token or a key.
    pub secrets_only: bool,
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
    /// The number of frames that are open.
    depth: usize,
}

impl Redactor {
    /// Creates a redactor.
    pub fn new(key: &[u8], options: RedactOptions) -> Self {
        Self { key: HmacKey::new(key), options, replaced: BTreeMap::new(), stayed: BTreeMap::new(), depth: 0 }
    }

    /// Returns the placeholder of a name.
    pub fn name(&self, name: &str) -> String {
        self.key.word(name.as_bytes())
    }

    /// True if times stay as they are.
    pub fn keeps_times(&self) -> bool {
        self.options.shift_days == 0
    }

    /// Redacts the text of a log.
    pub fn log(&mut self, text: &[u8]) -> Vec<u8> {
        if !self.options.secrets_only {
            return self.text(text);
        }
        let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
        for range in secrets::hidden(text) {
            out.extend_from_slice(&text[at..range.start]);
            at = range.end;
            // Equal secrets may be spelled with other escape sequences.
            let spelled = &text[range];
            let value = str::from_utf8(spelled).ok().and_then(json::unescaped);
            out.extend_from_slice(self.key.word(value.as_deref().map_or(spelled, str::as_bytes)).as_bytes());
            self.count("secret");
        }
        out.extend_from_slice(&text[at..]);
        out
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
        for (done, counts) in [("replaced", &self.replaced), ("; stayed", &self.stayed)] {
            let listed: Vec<_> = counts.iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
            write!(f, "{done}: {}", if listed.is_empty() { "nothing".to_owned() } else { listed.join(", ") })?;
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
        && secrets::ranges(name.as_bytes()).next().is_none()
}
