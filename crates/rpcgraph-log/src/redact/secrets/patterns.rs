//! Secrets in text that is not JSON, found by patterns.

use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::{memchr, memchr_iter, memchr2, memchr2_iter, memmem, memrchr};
use regex::bytes::{Captures, Regex};

use super::decoded::Decoded;
use super::names::{Secrecy, compiled};
use crate::redact::allowed::LISTS;

/// The groups of the pattern `looks` that need an examination of their own.
const BEARER: usize = 1;
const BASIC: usize = 2;
const AUTHORIZATION: usize = 3;
const COOKIE: usize = 4;
const URL: usize = 5;
const USER: usize = 6;

static SECRETS: LazyLock<Option<Regex>> = LazyLock::new(|| compiled("looks"));
static MAY_HOLD: LazyLock<Option<Regex>> = LazyLock::new(|| compiled("hints"));

/// True if a text may hold a secret. Most texts do not.
pub(super) fn may_hold(text: &[u8]) -> bool {
    MAY_HOLD.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// Returns the ranges of secrets in a text. A secret ends with the string or the line that it is in, unless the text is
/// the content of one string.
pub(super) fn ranges(spelled: &[u8], is_string: bool) -> Vec<Range<usize>> {
    let (mut ranges, mut at) = (Vec::new(), 0);
    let view = Decoded::fully(spelled);
    while let Some(found) =
        SECRETS.as_ref().filter(|_| at <= view.text.len()).and_then(|it| it.captures_at(&view.text, at))
    {
        let Some(whole) = found.get(0) else { break };
        let secret = secret(&found, spelled, &view, is_string);
        at = match (&secret, found.iter().skip(1).flatten().next()) {
            (Some(secret), _) => whole.end().max(secret.end),
            // A value that is not a secret may contain one.
            (None, Some(value)) => value.start().max(whole.start() + 1),
            (None, None) => whole.end(),
        };
        ranges.extend(secret.map(|secret| view.spelled(secret.start)..view.spelled(secret.end)));
    }
    ranges
}

/// Returns the secret in a match, as a range of the decoded text.
fn secret(found: &Captures<'_>, spelled: &[u8], view: &Decoded<'_>, is_string: bool) -> Option<Range<usize>> {
    let text = &*view.text;
    let whole = found.get(0)?;
    let Some((group, value)) = found.iter().enumerate().skip(1).find_map(|(group, value)| Some((group, value?))) else {
        let is_key = whole.as_bytes().starts_with(KEY_BEGIN);
        return Some(whole.start()..if is_key { key_end(text, whole.end(), is_string) } else { whole.end() });
    };
    let start = value.start();
    let end = match (value.is_empty(), text.get(start - 1)) {
        (true, Some(b'\'')) => {
            let line = &text[start..];
            let line = &line[..memchr(b'\n', line).unwrap_or(line.len())];
            let mut quotes = memchr_iter(b'\'', line);
            // A quote behind a backslash is in the string if another one follows.
            let end = quotes.find(|at| !line[..*at].ends_with(b"\\")).or_else(|| memrchr(b'\'', line));
            start + end.unwrap_or(line.len())
        }
        (true, _) => view.decoded(string_end(spelled, view.spelled(start))),
        (false, _) => value.end(),
    };
    let content = &text[start..end];
    let is_secret = match group {
        BEARER => content.len() >= 16 || content.iter().any(u8::is_ascii_digit),
        BASIC => STANDARD.decode(content).is_ok_and(|decoded| decoded.contains(&b':')),
        URL => true,
        COOKIE => !content.starts_with(b":"),
        USER => !content.iter().all(u8::is_ascii_digit),
        AUTHORIZATION => !is_prose(content, text.get(end)),
        _ => {
            let before = &text[whole.start()..start];
            let is_in_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
            let front = if before.to_ascii_lowercase().starts_with(FIELD) { FIELD.len() } else { 0 };
            let name_start = front + before[front..].iter().position(is_in_name).unwrap_or(0);
            let length = before[name_start..].iter().take_while(|byte| is_in_name(byte)).count();
            let name_end = name_start + length;
            let name = &before[name_start..name_end];
            let name = &name[name.iter().take_while(|byte| **byte == b'-').count()..];
            let sign = before[name_end..].iter().find(|byte| b":=".contains(byte));
            let is_parameter = (whole.start() + name_start).checked_sub(1).is_some_and(|at| b"?&".contains(&text[at]));
            let is_quoted = value.is_empty();
            let secrecy = Secrecy::from_name(name);
            let is_signature =
                || [&b"sig"[..], b"signature"].iter().any(|end| name.to_ascii_lowercase().ends_with(end));
            let is_certain = is_parameter && (secrecy == Secrecy::Weak || is_signature());
            let secrecy = if is_certain { Secrecy::Strong } else { secrecy };
            let is_bare_code = !is_quoted && !is_parameter && sign == Some(&b'=') && is_code(name, content);
            // A closing quote is not an opening one.
            let is_outside = is_quoted && matches!(content.first(), Some(b',' | b':' | b'}' | b']'));
            let is_prose = !is_quoted && sign == Some(&b':') && is_prose(content, text.get(end));
            return (secrecy.hides(content) && !is_bare_code && !is_outside && !is_prose).then_some(start..end);
        }
    };
    let is_short = content.len() < 4 && matches!(group, URL | USER);
    (is_secret && (is_short && content != b"***" || Secrecy::Strong.hides(content))).then_some(start..end)
}

/// The beginnings of the first and of the last line of a private key.
pub(super) const KEY_BEGIN: &[u8] = b"-----BEGIN";
pub(super) const KEY_END: &[u8] = b"-----END";

/// The text before the name of a form field.
const FIELD: &[u8] = b"name=\"";

/// Returns the end of a private key whose first line ends at `start`: with its last line, or else with the text, which is
/// a string, or up to the end of the string or the line.
fn key_end(text: &[u8], start: usize, is_string: bool) -> usize {
    let rest = &text[start..];
    let rest = &rest[..if is_string { None } else { memchr2(b'"', b'\n', rest) }.unwrap_or(rest.len())];
    let end = memmem::find(rest, KEY_END).and_then(|last| {
        let last = last + KEY_END.len();
        let dashes = last + memmem::find(&rest[last..], b"-----")?;
        let behind = dashes + rest[dashes..].iter().take_while(|byte| **byte == b'-').count();
        // A last line that is cut off may be followed by another key.
        Some(if rest[behind..].starts_with(b"BEGIN") { behind - 5 } else { dashes + 5 })
    });
    start + end.unwrap_or(rest.len())
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
fn is_code(name: &[u8], value: &[u8]) -> bool {
    let value = value.trim_ascii_end();
    let value = &value[..value.iter().rposition(|byte| !b",)".contains(byte)).map_or(0, |last| last + 1)];
    let is_call = value.contains(&b'(');
    let is_variable = value.iter().any(|byte| b"._".contains(byte)) && !value.iter().any(u8::is_ascii_digit);
    let is_own = name.to_ascii_lowercase().ends_with(&value.to_ascii_lowercase());
    name.iter().any(u8::is_ascii_lowercase) && (is_call || is_variable || is_own)
}

/// True if what follows a name and a colon is a word of a sentence: a word of letters that is not the last of its line.
fn is_prose(value: &[u8], next: Option<&u8>) -> bool {
    let word = &value[..value.iter().rposition(|byte| !b".,:)!?".contains(byte)).map_or(0, |last| last + 1)];
    let is_state = LISTS.states.iter().any(|state| state.as_bytes().eq_ignore_ascii_case(word));
    let is_word = word.iter().all(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
    is_state || is_word && (next.is_some_and(|next| b" \t".contains(next)) || word.len() < value.len())
}

/// The maximum size of the first line of a private key, and of the text of a log before and after it, in bytes.
const MAX_HEAD: usize = 160;
const MAX_AROUND: usize = 4096;
/// The maximum number of lines between the first line of a private key and its content.
const MAX_HEADS: usize = 10;

/// Returns the lines of private keys that are written line by line, each perhaps behind the time of a log or in an object.
/// The first line is not among them.
pub(super) fn key_lines(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for start in memmem::find_iter(text, KEY_BEGIN) {
        let front = start.saturating_sub(MAX_AROUND);
        let line_start = memrchr(b'\n', &text[front..start]).map(|end| front + end + 1);
        let Some(line_start) = line_start.or_else(|| (front == 0).then_some(0)) else { continue };
        let behind = &text[start..text.len().min(start + MAX_AROUND)];
        let Some(mut end) = memchr(b'\n', behind).map(|length| start + length) else { continue };
        let head = line_content(&text[start..end.min(start + MAX_HEAD)]);
        if !head.ends_with(b"KEY-----") && !head.ends_with(b"KEY BLOCK-----") {
            continue;
        }
        let prefix = &text[line_start..start];
        let (mut heads, mut has_body) = (0, false);
        while end < text.len() && heads < MAX_HEADS {
            let begin = end + 1;
            end = memchr(b'\n', &text[begin..]).map_or(text.len(), |length| begin + length);
            let line = &text[begin..end];
            let is_like = |(one, other): (&u8, &u8)| one == other || one.is_ascii_digit() && other.is_ascii_digit();
            let same = line.len() >= prefix.len() && prefix.iter().zip(line).all(is_like);
            let skipped = if same { prefix.len() } else { line.len() - line.trim_ascii_start().len() };
            let content = line_content(&line[skipped..]);
            let is_body = is_key_body(content);
            let is_head = content.is_empty() || memmem::find(content, b": ").is_some();
            if is_body && !content.is_empty() {
                found.push(begin + skipped..begin + skipped + content.len());
                has_body = true;
            } else if has_body || !is_head || content.first().is_some_and(|byte| !byte.is_ascii_alphabetic()) {
                break;
            }
            heads += usize::from(!has_body);
        }
    }
    found
}

/// True for a line of a private key, or an empty one.
pub(super) fn is_key_body(line: &[u8]) -> bool {
    line.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte))
}

/// Returns the part of a line up to a quote or an escape sequence, without blanks at its end.
fn line_content(line: &[u8]) -> &[u8] {
    line[..memchr2(b'"', b'\\', line).unwrap_or(line.len())].trim_ascii_end()
}
