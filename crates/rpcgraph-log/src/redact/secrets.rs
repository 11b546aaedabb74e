//! Detects text that looks like a password, a token or a key.
//!
//! JSON in a text is searched by its structure: a secret is the whole value of a member whose name identifies a secret,
//! of a pair of name and value, or of an option in a list of arguments. Each string is decoded and searched as a text in
//! turn. The rest is searched by patterns, whatever the number of backslashes before its quotes.

mod decoded;
mod names;
mod patterns;

use std::borrow::Cow;
use std::iter::{self, Peekable};
use std::ops::Range;
use std::vec;

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};
use memchr::{memchr3_iter, memmem};

use self::decoded::Decoded;
use self::names::{Secrecy, is_name_of_pair, is_of_progress, is_of_schema, is_of_values, is_value_of_pair};
use self::patterns::{KEY_BEGIN, KEY_END, is_key_body, key_lines, may_hold, ranges};
use super::placeholder::is_placeholder;
use crate::json::{self, Cursor};
use crate::record::{byte_array, unescaped_bytes, whole_value};

/// The depth of values in values, or of texts in strings, that are searched by their structure.
const DEEP: usize = 32;

/// The size up to which a debug build searches texts without a hint of a secret, in bytes.
const MAX_CHECKED: usize = 1 << 16;

/// The minimum size of the text of a list of the bytes of a key.
const BYTES: usize = 24;

/// Base64, perhaps without its padding.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A secret in a text, without the name that identifies it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretSpan {
    /// Its bytes in the text.
    pub range: Range<usize>,
    pub kind: SecretKind,
}

/// The form of a secret in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretKind {
    /// Text, or the content of a string or a part of it.
    Text,
    /// A number of JSON.
    Number,
    /// A text in Base64 that contains secrets.
    Base64,
    /// An array of the bytes of a text that contains secrets.
    Bytes,
}

/// Returns the secrets in a text, in order. They do not overlap, and none extends beyond the string or the line that it
/// begins in.
pub fn spans(text: &[u8]) -> impl Iterator<Item = SecretSpan> {
    let may_hold = may_hold(text);
    let is_checked = cfg!(debug_assertions) && text.len() < MAX_CHECKED;
    let spans = if may_hold || is_checked { all_spans(text) } else { Vec::new() };
    debug_assert!(may_hold || spans.is_empty(), "no hint of {spans:?} in {}", text.escape_ascii());
    spans.into_iter()
}

fn all_spans(text: &[u8]) -> Vec<SecretSpan> {
    let mut finder = Finder::new(text.len(), 0);
    finder.text(text, 0..text.len(), false);
    finder.found.extend(key_lines(text).into_iter().map(|range| SecretSpan { range, kind: SecretKind::Text }));
    finder.found.sort_by_key(|span| span.range.start);
    let mut spans: Vec<SecretSpan> = Vec::with_capacity(finder.found.len());
    for span in finder.found {
        match spans.last_mut().filter(|last| span.range.start < last.range.end) {
            // Both are in the same string.
            Some(last) => last.range.end = last.range.end.max(span.range.end),
            None => spans.push(span),
        }
    }
    spans
}

/// A search for secrets.
struct Finder {
    found: Vec<SecretSpan>,
    /// The number of bytes that may still be examined in vain: each bracket of text that is not JSON could cost the rest
    /// of the text.
    budget: usize,
    depth: usize,
    /// The name of the current member, in its text.
    name: Range<usize>,
    /// The name of the member with the beginning of a private key whose end is in later strings.
    open_key: Option<Range<usize>>,
}

impl Finder {
    fn new(length: usize, depth: usize) -> Self {
        let budget = length.saturating_mul(16).saturating_add(1 << 16);
        Self { found: Vec::new(), budget, depth, name: 0..0, open_key: None }
    }

    fn push(&mut self, range: Range<usize>, kind: SecretKind) {
        self.found.push(SecretSpan { range, kind });
    }

    /// Searches a text, which may be the content of one string.
    fn text(&mut self, text: &[u8], range: Range<usize>, is_string: bool) {
        let mut searched = range.start;
        for start in memchr3_iter(b'{', b'[', b'"', &text[range.clone()]).map(|at| range.start + at) {
            let rest = &text[start..range.end];
            if start < searched || self.depth >= DEEP || self.budget == 0 || !begins_value(rest, start == range.start) {
                continue;
            }
            match whole_value(rest) {
                Ok(length) if rest[0] != b'"' || is_json(&rest[..length], range.len()) => {
                    self.plain(text, searched..start, is_string);
                    self.value(text, start..start + length, Secrecy::None);
                    (self.name, self.open_key) = (0..0, None);
                    searched = start + length;
                }
                Ok(_) => {}
                Err(examined) => self.budget = self.budget.saturating_sub(examined),
            }
        }
        self.plain(text, searched..range.end, is_string);
    }

    /// Searches text by patterns.
    fn plain(&mut self, text: &[u8], range: Range<usize>, is_string: bool) {
        for found in ranges(&text[range.clone()], is_string) {
            self.push(range.start + found.start..range.start + found.end, SecretKind::Text);
        }
    }

    /// Searches a value of JSON.
    fn value(&mut self, text: &[u8], range: Range<usize>, secrecy: Secrecy) {
        if self.depth >= DEEP {
            return self.plain(text, range, false);
        }
        self.depth += 1;
        match text[range.start] {
            b'"' => {
                let range = range.start + 1..range.end - 1;
                let decoded = Decoded::once(&text[range.clone()]);
                if !self.is_of_key(text, &range, &decoded) {
                    self.string(text, range, &decoded, secrecy);
                }
            }
            b'{' => self.object(text, range, secrecy),
            b'[' => self.array(text, range, secrecy),
            b'-' | b'0'..=b'9' if secrecy == Secrecy::Strong && secrecy.hides(&text[range.clone()]) => {
                self.push(range, SecretKind::Number);
            }
            _ => {}
        }
        self.depth -= 1;
    }

    fn object(&mut self, text: &[u8], range: Range<usize>, secrecy: Secrecy) {
        let (mut named, mut has_value) = (None, false);
        let (mut is_schema, mut is_progress) = (true, secrecy == Secrecy::Progress);
        for (name, value) in members(text, range.clone()) {
            let (name, value) = (content(text, &name), &text[value]);
            let string = || value.strip_prefix(b"\"").map(unescaped_bytes);
            if is_name_of_pair(&name) && named.is_none_or(|named| named == Secrecy::None) {
                named = string().map(|name| Secrecy::from_name(&name)).or(named);
            }
            has_value |= is_value_of_pair(&name);
            is_schema &= is_of_schema(&name);
            is_progress |= &*name == b"method" && string().is_some_and(|method| is_of_progress(&method))
                || &*name == b"value" && value.starts_with(b"{") && memmem::find(value, b"\"kind\"").is_some();
        }
        for (name, value) in members(text, range) {
            let spelled = name.start + 1..name.end - 1;
            self.string(text, spelled.clone(), &Decoded::once(&text[spelled]), Secrecy::None);
            self.name = name.clone();
            let name = content(text, &name);
            let inherited = match secrecy {
                Secrecy::Cookies if !(named.is_some() && has_value) || is_value_of_pair(&name) => Secrecy::Strong,
                Secrecy::Cookies | Secrecy::Progress => Secrecy::None,
                _ if is_schema && !is_of_values(&name) => Secrecy::None,
                secrecy => secrecy,
            };
            let own = match Secrecy::from_name(&name) {
                _ if is_progress && &*name == b"params" => Secrecy::Progress,
                _ if is_progress && &*name == b"token" => Secrecy::None,
                Secrecy::None if is_value_of_pair(&name) => named.unwrap_or(Secrecy::None),
                own => own,
            };
            self.value(text, value, if inherited == Secrecy::None { own } else { inherited });
        }
    }

    fn array(&mut self, text: &[u8], range: Range<usize>, secrecy: Secrecy) {
        let bytes = in_bytes(&text[range.clone()]).filter(|_| self.depth < DEEP);
        if bytes.as_ref().is_some_and(|bytes| is_placeholder(bytes)) {
            return;
        }
        if let Some(bytes) = bytes.filter(|_| secrecy != Secrecy::Strong) {
            let mut inside = Finder::new(bytes.len(), self.depth + 1);
            inside.text(&bytes, 0..bytes.len(), true);
            if !inside.found.is_empty() {
                self.push(range, SecretKind::Bytes);
            }
            return;
        }
        let (mut at, mut named) = (range.start + 1, Secrecy::None);
        // The bytes of a key may be numbers.
        let are_bytes = secrecy == Secrecy::Strong && range.len() >= BYTES;
        while let Some(element) = next_value(text, &mut at) {
            let content = content(text, &element);
            if are_bytes && content.iter().all(u8::is_ascii_digit) && !is_placeholder(&content) {
                self.push(element, SecretKind::Number);
                continue;
            }
            let of_option = match named {
                Secrecy::Cookies if content.contains(&b':') => Secrecy::Strong,
                Secrecy::Cookies => Secrecy::None,
                named => named,
            };
            named = if text[element.start] == b'"' { secrecy_of_option(&content) } else { Secrecy::None };
            self.value(text, element, if secrecy == Secrecy::None { of_option } else { secrecy });
        }
    }

    /// Finds a part of a private key in the content of a string: keys may be split over the elements of an array, or over
    /// members of one name. The beginning of a key is found elsewhere.
    fn is_of_key(&mut self, text: &[u8], range: &Range<usize>, decoded: &Decoded<'_>) -> bool {
        let content = &*decoded.text;
        if self.open_key.as_ref().is_some_and(|name| self::content(text, name) == self::content(text, &self.name)) {
            let end = memmem::find(content, KEY_END);
            let body = &content[..end.unwrap_or(content.len())];
            let is_body = body.split(|byte| *byte == b'\n').all(|line| is_key_body(line.trim_ascii()));
            // The headers of a key are not secret.
            if end.is_some() || !is_body && memmem::find(content, b": ").is_none() {
                self.open_key = None;
            }
            if is_body && !body.is_empty() {
                self.push(range.start..range.start + decoded.spelled(body.len()), SecretKind::Text);
                return true;
            }
        }
        // A key in JSON in a string ends in that JSON.
        let is_text = !matches!(content.trim_ascii_start().first(), Some(b'{' | b'['));
        let key = memmem::rfind(content, KEY_BEGIN).filter(|_| is_text).map(|start| &content[start..]);
        if key.is_some_and(|key| memmem::find(key, b"PRIVATE KEY").is_some() && memmem::find(key, KEY_END).is_none()) {
            self.open_key = Some(self.name.clone());
        }
        false
    }

    /// Searches the content of a string, which is `decoded`.
    fn string(&mut self, text: &[u8], range: Range<usize>, decoded: &Decoded<'_>, secrecy: Secrecy) {
        let place =
            |part: Range<usize>| range.start + decoded.spelled(part.start)..range.start + decoded.spelled(part.end);
        let content = &*decoded.text;
        if secrecy.hides(content) {
            return self.push(range, SecretKind::Text);
        }
        if let Some(value) = value_of_variable(content) {
            return self.push(place(value..content.len()), SecretKind::Text);
        }
        if self.depth < DEEP
            && let Some((start, bytes)) = in_base64(content)
        {
            let mut inside = Finder::new(bytes.len(), self.depth + 1);
            inside.text(&bytes, 0..bytes.len(), true);
            if !inside.found.is_empty() {
                return self.push(place(start..content.len()), SecretKind::Base64);
            }
        }
        if matches!(decoded.text, Cow::Borrowed(_)) {
            return self.text(text, range, true);
        }
        let mut inside = Finder::new(content.len(), self.depth + 1);
        inside.text(content, 0..content.len(), true);
        self.found
            .extend(inside.found.into_iter().map(|span| SecretSpan { range: place(span.range), kind: span.kind }));
    }
}

/// True if a text begins as JSON with members does: as an object, an array of strings or containers, or a string with
/// one of these. Any string does at the beginning of a text.
fn begins_value(text: &[u8], is_first: bool) -> bool {
    let next = text[1..].iter().find(|byte| !byte.is_ascii_whitespace());
    match text[0] {
        b'{' => next == Some(&b'"'),
        b'[' => matches!(next, Some(b'"' | b'{' | b'[')) || in_bytes(text).is_some(),
        _ => is_first || matches!(next, Some(b'{' | b'[')),
    }
}

/// True if a string holds JSON, or is the whole text of that length.
fn is_json(string: &[u8], length: usize) -> bool {
    string.len() == length || memmem::find(string, b"\\").is_some() && matches!(string[string.len() - 2], b'}' | b']')
}

/// Returns the next value in an object or an array that is whole, and moves behind it.
fn next_value(text: &[u8], at: &mut usize) -> Option<Range<usize>> {
    let start = *at + text.get(*at..)?.iter().position(|byte| !b" \t\r\n,:".contains(byte))?;
    *at = start + whole_value(&text[start..]).ok()?;
    Some(start..*at)
}

/// Returns the members of an object that is whole: the names with their quotes, and the values.
fn members(text: &[u8], range: Range<usize>) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let mut at = range.start + 1;
    iter::from_fn(move || Some((next_value(text, &mut at)?, next_value(text, &mut at)?)))
}

/// Returns the content of a string; any other value as it is.
fn content<'t>(text: &'t [u8], value: &Range<usize>) -> Cow<'t, [u8]> {
    let value = &text[value.clone()];
    value.strip_prefix(b"\"").map_or(Cow::Borrowed(value), unescaped_bytes)
}

/// Returns what an element of a list, an option or the name of a header, says of the next element; [`Secrecy::Cookies`]
/// before a user with a password.
fn secrecy_of_option(element: &[u8]) -> Secrecy {
    let is_header = element.starts_with(b"x-") || element.starts_with(b"X-");
    let known = [&b"authorization"[..], b"proxy-authorization", b"cookie", b"set-cookie"];
    match element {
        b"-u" | b"--user" => Secrecy::Cookies,
        [b'-', ..] => Secrecy::from_name(element.trim_ascii_start()),
        _ if is_header || known.iter().any(|known| known.eq_ignore_ascii_case(element)) => Secrecy::from_name(element),
        _ => Secrecy::None,
    }
}

/// Returns the offset of the value if a text assigns a secret to a variable or an option, as in a list of variables.
fn value_of_variable(text: &[u8]) -> Option<usize> {
    let sign = memchr::memchr(b'=', text)?;
    let name = &text[..sign];
    let is_option = name.starts_with(b"-") && !name.contains(&b' ') && memmem::find(text, b" -").is_none();
    let is_capital = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    let is_variable = is_option || name.iter().all(is_capital);
    let is_secret = is_variable && !text.contains(&b'\n') && Secrecy::from_name(name) == Secrecy::Strong;
    (is_secret && Secrecy::Strong.hides(&text[sign + 1..])).then_some(sign + 1)
}

/// Returns text in Base64, perhaps in a `data:` URI, and the offset where it begins.
fn in_base64(text: &[u8]) -> Option<(usize, Vec<u8>)> {
    const MARK: &[u8] = b";base64,";
    let start = if text.starts_with(b"data:") { memmem::find(text, MARK)? + MARK.len() } else { 0 };
    // Text begins with a letter, punctuation or a line end.
    let is_possible = text.len() >= start + 24 && matches!(text[start], b'C' | b'D' | b'I'..=b'Z' | b'a'..=b'f');
    let bytes = is_possible.then(|| BASE64.decode(&text[start..]).ok())??;
    str::from_utf8(&bytes).is_ok().then_some((start, bytes))
}

/// Returns the text of an array of bytes that may hold a secret.
fn in_bytes(text: &[u8]) -> Option<Vec<u8>> {
    byte_array(text).map(|(_, bytes)| bytes).filter(|bytes| bytes.len() >= 8)
}

/// Returns the masked secrets in a text, each after a JSON Pointer to the string that contains it, or to the member
/// whose name contains it. The pointer is empty if the text is not JSON.
pub fn masked(text: &str) -> Vec<(String, String)> {
    let spans: Vec<_> = spans(text.as_bytes()).map(|span| span.range).collect();
    let mut masker = Masker { text, spans: spans.into_iter().peekable(), found: Vec::new() };
    // Most texts have no secret.
    if masker.spans.peek().is_some() && json::check(text.as_bytes()).is_ok() {
        masker.value(&mut Cursor::new(text, 0), "");
    }
    masker.take(text.len(), "");
    masker.found
}

struct Masker<'t> {
    text: &'t str,
    /// The secrets that are not masked yet.
    spans: Peekable<vec::IntoIter<Range<usize>>>,
    found: Vec<(String, String)>,
}

impl<'t> Masker<'t> {
    /// Masks the secrets that end up to an offset, which are at a pointer.
    fn take(&mut self, until: usize, pointer: &str) {
        while let Some(range) = self.spans.next_if(|range| range.end <= until) {
            self.found.push((pointer.to_owned(), mask(self.text.get(range).unwrap_or_default())));
        }
    }

    /// Masks the secrets in the next value of JSON, and in the name before it.
    fn value(&mut self, cursor: &mut Cursor<'t>, pointer: &str) -> Option<()> {
        let first = cursor.peek()?;
        self.take(cursor.at(), pointer);
        match first {
            b'{' => cursor.each_member(|name, member| {
                let name = json::unescaped(name).unwrap_or(Cow::Borrowed(name));
                self.value(member, &format!("{pointer}/{}", json::pointer_token(&name)));
            })?,
            b'[' => {
                let mut indexes = 0..;
                cursor.each(b'[', |element| self.value(element, &format!("{pointer}/{}", indexes.next()?)))?;
            }
            _ => cursor.pass_canonical(0)?,
        }
        self.take(cursor.at(), pointer);
        Some(())
    }
}

/// Masks a secret: shows its first characters if it is long enough to stay secret.
fn mask(secret: &str) -> String {
    if let Some(name) = secret.strip_prefix(PEM) {
        let length = name.find("-----").map_or(0, |end| end + 5);
        return secret[..PEM.len() + length].to_owned();
    }
    let shown = if secret.len() < 16 { 0 } else { 4 };
    secret.chars().take(shown).chain(['…']).collect()
}

const PEM: &str = "-----BEGIN";

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
            (
                "-----BEGIN OPENSSH PRIVATE KEY-----\n-----BEGIN PGP PRIVATE KEY BLOCK-----\n-----BEGIN PUBLIC KEY-----",
                2,
            ),
            (r#"{"Cookie":"sid=0123","set-cookie":"a=b; Path=/","x-api-key":"k-123","cookies":"none"}"#, 3),
            ("Authorization: Basic aWRhOnB3MTI= \nSet-Cookie: sid=0123456789; Path=/\nCookie: a=1", 2),
            ("sk_live_0123456789 hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", 2),
        ] {
            assert_eq!(spans(text.as_bytes()).count(), expected, "{text}");
        }
    }

    #[test]
    fn whole_secrets_are_hidden() {
        for (text, expected) in [
            (r#"{"password":"R2d2\u0026Tail"}"#, vec![r"R2d2\u0026Tail"]),
            (r#"{"password":"ab\"Tail\\"},{"password":"next"}"#, vec![r#"ab\"Tail\\"#, "next"]),
            (r#"{"password":"a\nbc","user":"ida"}"#, vec![r"a\nbc"]),
            (r#"{"password":"abc=def=","set-cookie":"sid=0123; Path=/"}"#, vec!["abc=def=", "sid=0123; Path=/"]),
            (r#"{"password":"","secret":"\"","api_key":"abc"}"#, vec![]),
            (r#""{\"password\":\"\",\"secret\":\"a\\u0026bc\\\"d\\\\\",\"x\":1}""#, vec![r#"a\\u0026bc\\\"d\\\\"#]),
            (r#""{\"in\":\"{\\\"password\\\":\\\"hunter2\\\",\\\"x\\\":1}\"}""#, vec!["hunter2"]),
            ("{\"password\":\"cut off\n{\"x\":\"\"}", vec!["cut off"]),
            (r#"{"password":"cut \"of"#, vec![r#"cut \"of"#]),
            (r#""AWS_SECRET_ACCESS_KEY=wJal\/K7MD\/bPx\n""#, vec![r"wJal\/K7MD\/bPx"]),
            (r#""Authorization: Bearer abcd\/efgh\/ijkl.mnop""#, vec![r"abcd\/efgh\/ijkl.mnop"]),
            (r#""https://ida:pass\u0026word@host/?api_key=ab\/cd\u0026b=1""#, vec![r"pass\u0026word", r"ab\/cd"]),
            (
                r#"{"k":"a -----BEGIN EC PRIVATE KEY-----\r\nMII\/E\u000aab=\n-----END EC PRIVATE KEY----- b"}"#,
                vec![r"-----BEGIN EC PRIVATE KEY-----\r\nMII\/E\u000aab=\n-----END EC PRIVATE KEY-----"],
            ),
            (r#"{"k":"\u002d----BEGIN PRIVATE KEY-----MIIEcut"}"#, vec![r"\u002d----BEGIN PRIVATE KEY-----MIIEcut"]),
            (
                r#""{\"k\":\"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n\",\"c\":1}""#,
                vec![r"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----"],
            ),
            (
                "{\"a\":\"-----BEGIN PRIVATE KEY-----MIIE\",\n{\"a\":\"-----END\"}",
                vec!["-----BEGIN PRIVATE KEY-----MIIE"],
            ),
            (
                "key\n-----BEGIN PRIVATE KEY-----\nMIIE\nab==\n-----END PRIVATE KEY-----\n{\"id\":1}",
                vec!["-----BEGIN PRIVATE KEY-----", "MIIE", "ab=="],
            ),
            (
                "{\"t\":1,\"log\":\"-----BEGIN PRIVATE KEY-----\\n\"}\n{\"t\":2,\"log\":\"MIIE\\n\"}\n{\"t\":3,\"log\":\"hello\\n\"}",
                vec![r"-----BEGIN PRIVATE KEY-----\n", "MIIE", "hello"],
            ),
            (
                r#"{"headers":[{"value":"Basic abcd","name":"Authorization"},{"name":"Accept","value":"*"}]}"#,
                vec!["Basic abcd"],
            ),
            (
                r#"{"cookies":[{"name":"sid","value":"abcd"}],"password":[12345,["abcd"],{"x":"efgh"}]}"#,
                vec!["abcd", "12345", "abcd", "efgh"],
            ),
            (
                r#"{"properties":{"password":{"type":"string","description":"Yours","default":"hunter2"}}}"#,
                vec!["hunter2"],
            ),
            (
                r#"{"args":["--api-key","k-12","-u","ida:pw12","x","authorization","abcd"]}"#,
                vec!["k-12", "ida:pw12", "abcd"],
            ),
            (r#"{"env":["API_TOKEN=a b&c","HOME=/root"],"text":"p\u0061ssword: hunter2."}"#, vec!["a b&c", "hunter2."]),
            (
                r#"{"x":"{\"password\":12345,\"env\":[{\"name\":\"K_TOKEN\",\"value\":\"a\\\"b\\\\c\"}]}"}"#,
                vec!["12345", r#"a\\\"b\\\\c"#],
            ),
            (r#"{"method":"$/progress","params":{"token":"a1-b2","value":{"kind":"end"}}}"#, vec![]),
            (
                r#"{"x":{"token":"a1-b2"},"data":"eyJhIjoxLCJwYXNzd29yZCI6Imh1bnRlcjIifQ=="}"#,
                vec!["a1-b2", "eyJhIjoxLCJwYXNzd29yZCI6Imh1bnRlcjIifQ=="],
            ),
            (
                "postgres://ida:p@ss:w0rd@db/x curl -u ida:pw12 <password>hunter2</password>",
                vec!["p@ss:w0rd", "pw12", "hunter2"],
            ),
            (
                r#"{"secretKey":[174,47,154,16,129,6,9,1,200,3],"n":[174,47,154,16,129,6,9,1,200,3]}"#,
                vec!["174", "47", "154", "16", "129", "6", "9", "1", "200", "3"],
            ),
            ("https://h/x?sv=1&sig=ab%2Fcd {'password': 'hun ter2'}", vec!["ab%2Fcd", "hun ter2"]),
            (
                r#"{"lines":["-----BEGIN RSA PRIVATE KEY-----","DEK-Info: AES,AA","","MIIE","x+/=\n","-----END RSA PRIVATE KEY-----","end"]}"#,
                vec!["-----BEGIN RSA PRIVATE KEY-----", "MIIE", r"x+/=\n"],
            ),
            (
                r#"[{"type":"text","text":"-----BEGIN PRIVATE KEY-----\nMIIE"},{"type":"text","text":"ab\n-----END"},{"text":"x"}]"#,
                vec![r"-----BEGIN PRIVATE KEY-----\nMIIE", r"ab\n"],
            ),
            (
                r#"{"text":"{\"a\":\"-----BEGIN PRIVATE KEY-----\\nMIIE\"}","b":{"text":"abcd"}}"#,
                vec![r"-----BEGIN PRIVATE KEY-----\\nMIIE"],
            ),
            (
                r#"{"log":"{ password: Some(\"hun ter2\"), Password:(*string)(\"a bcd\"), api_key=SecretStr('k-12')"}"#,
                vec!["hun ter2", "a bcd", "k-12"],
            ),
            ("{'password': b'hunter22'} password='it\\'s hunter2', x='y'", vec!["hunter22", "it\\'s hunter2"]),
            (
                r#"Cookie: theme="a b"; sessionid=0123; t="dark" <password type="a"><![CDATA[a bcd]]></password>"#,
                vec![r#"theme="a b"; sessionid=0123; t="dark""#, "a bcd"],
            ),
            (r#"["--password=hunter2 tail"] --password=hunter2 tail"#, vec!["hunter2 tail", "hunter2"]),
            (
                r#"{"m":[112,119,100,61,104,117,110,116,101,114,50]} [112,119,100,61,104,117,110,116,101,114,50]"#,
                vec!["[112,119,100,61,104,117,110,116,101,114,50]"; 2],
            ),
            ("password: must not be empty; Password: required", vec![]),
        ] {
            let found: Vec<_> = spans(text.as_bytes()).map(|span| &text[span.range]).collect();
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
