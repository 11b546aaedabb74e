//! Text with messages in it: lines of a log, heads of frames, texts in wrappers.
//!
//! Times, words for directions and levels, and punctuation stay, since log formats read them. JSON in the text is redacted
//! as JSON. Every other word becomes a placeholder, also in a value that is cut off or broken.

use std::sync::LazyLock;

use memchr::memmem;
use regex::bytes::Regex;

use super::Redactor;
use super::allowed::{LISTS, StringRole, ValuePosition, is_known_method};
use crate::record::whole_value;

/// The depth of frames in frames.
const DEEP: usize = 3;
/// The parts of a text, in the order in which they are tried. `WORDS` stands for words that stay.
const PARTS: &str = include_str!("parts.regex");

/// The head of a frame.
const HEAD: &str = r"(?i-u)content-length[ \t]*:[ \t]*[0-9]+";

/// `None` only if the regular expression is invalid.
static FRAMES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(HEAD).ok());
static REGEX: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&PARTS.replace("WORDS", &LISTS.text_words.join("|"))).ok());

impl Redactor {
    /// Redacts text, or only the secrets in it.
    pub(super) fn content(&mut self, text: &[u8]) -> Vec<u8> {
        if !self.options.secrets_only {
            return self.text(text);
        }
        let (mut out, mut at, mut searched) = (Vec::with_capacity(text.len()), 0, 0);
        while let Some(head) = FRAMES.as_ref().and_then(|frames| frames.find_at(text, searched)) {
            let mut frame = Vec::new();
            searched = head.end();
            if let Some(length) = self.frame(head.as_bytes(), &text[head.start()..], &mut frame) {
                self.secrets(&text[at..head.start()], &mut out);
                out.append(&mut frame);
                at = head.start() + length;
                searched = at;
            }
        }
        self.secrets(&text[at..], &mut out);
        out
    }

    /// Redacts text.
    pub(super) fn text(&mut self, text: &[u8]) -> Vec<u8> {
        let mut output = Vec::with_capacity(text.len());
        let (Some(regex), out) = (&*REGEX, &mut output) else { return Vec::new() };
        let mut at = 0;
        // True if the last string was the name of a member whose numbers stay.
        let mut is_known = false;
        // Each bracket of text that is not JSON could cost the rest of the text.
        let mut budget = text.len().saturating_mul(16).saturating_add(1 << 20);
        let mut value = |rest: &[u8]| {
            let found = if budget > 0 { whole_value(rest) } else { Err(0) };
            found.map_err(|examined| budget = budget.saturating_sub(examined)).ok()
        };
        while let Some(parts) = regex.captures_at(text, at) {
            let Some(part) = parts.get(0) else { break };
            out.extend_from_slice(&text[at..part.start()]);
            let rest = &text[part.start()..];
            let mut length = part.len();
            let was_known = std::mem::take(&mut is_known);
            let is_trace = || rest.starts_with(b"-") && !is_in_trace(&text[..part.start()]);
            if parts.name("stays").or(parts.name("word")).is_some() && !is_trace() {
                out.extend_from_slice(part.as_bytes());
            } else if parts.name("time").is_some() {
                self.time(part.as_bytes(), out);
            } else if let Some(frame) = parts.name("frame").and_then(|head| self.frame(head.as_bytes(), rest, out)) {
                length = frame;
            } else if let Some(value) = parts.name("json").and_then(|_| value(rest)) {
                self.json(&rest[..value], ValuePosition::Around, out);
                length = value;
            } else if let Some(value) = parts.name("quote").and_then(|_| value(rest)) {
                let is_name = rest[value..].trim_ascii_start().starts_with(b":");
                is_known = is_name && self.member_name(&rest[..value], ValuePosition::Around, out);
                if !is_name {
                    self.json_string(&rest[..value], ValuePosition::Around, StringRole::None, out);
                }
                length = value;
            } else if parts.name("json").or(parts.name("quote")).or(parts.name("frame")).is_some() {
                // A bracket or a quote of no value, or a head without its body.
                out.extend_from_slice(part.as_bytes());
            } else {
                self.token(part.as_bytes(), was_known, out);
            }
            at = part.start() + length;
        }
        out.extend_from_slice(&text[at..]);
        output
    }

    /// Redacts a word in a text.
    fn token(&mut self, token: &[u8], is_known: bool, out: &mut Vec<u8>) {
        let Ok(word) = std::str::from_utf8(token) else {
            // Still no UTF-8.
            out.extend_from_slice(self.key.word(token).as_bytes());
            return out.push(0xff);
        };
        if is_known && word.bytes().all(|byte| byte.is_ascii_digit()) {
            return self.number(word, true, out);
        }
        let rule = if word.contains('/') || is_known_method(word) { StringRole::Method } else { StringRole::Token };
        match self.string(word, ValuePosition::Around, rule) {
            Some(placeholder) => out.extend_from_slice(placeholder.as_bytes()),
            None => out.extend_from_slice(token),
        }
    }

    /// Redacts a frame whose `head` ends with its length, and writes the new length. Returns the size of the frame in the
    /// text.
    fn frame(&mut self, head: &[u8], text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let ends = [&b"\r\n\r\n"[..], b"\n\n"];
        let within = &text[..text.len().min(1024)];
        let start = ends.iter().filter_map(|end| Some(memmem::find(within, end)? + end.len())).min()?;
        let digits = head.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let (name, length) = head.split_at(head.len() - digits);
        let length: usize = std::str::from_utf8(length).ok()?.parse().ok()?;
        let body = text.get(start..start.checked_add(length)?).filter(|_| self.depth < DEEP)?;
        self.depth += 1;
        let redacted = self.content(body);
        self.depth -= 1;
        out.extend_from_slice(name);
        out.extend_from_slice(redacted.len().to_string().as_bytes());
        out.extend(self.content(&text[head.len()..start]));
        out.extend_from_slice(&redacted);
        Some(start + length)
    }

    /// Redacts the words of a URI, a path or an e-mail address, with percent-encoding undone, and keeps what is around
    /// the words. The scheme and the port stay.
    pub(super) fn uri(&mut self, uri: &str) -> String {
        let authority = uri.find("://").map_or(0..0, |at| {
            let start = at + 3;
            start..uri[start..].find(['/', '?', '#']).map_or(uri.len(), |length| start + length)
        });
        let (mut out, mut at) = (String::new(), 0);
        while let Some(start) = uri[at..].find(is_in_word).map(|start| at + start) {
            let end = uri[start..].find(|c| !is_in_word(c)).map_or(uri.len(), |length| start + length);
            let (before, word) = (&uri[at..start], &uri[start..end]);
            out.push_str(before);
            at = end;
            let is_host = authority.contains(&start) && !uri[end..authority.end.max(end)].contains('@');
            let is_port = is_host && before == ":" && word.len() < 6 && word.bytes().all(|byte| byte.is_ascii_digit());
            let is_scheme = start == 0 && SCHEMES.contains(&word) && uri[end..].starts_with(':');
            if is_port || is_scheme || SCHEMA_WORDS.contains(&word) && uri.starts_with('#') {
                out.push_str(word);
                continue;
            }
            let word = percent_encoding::percent_decode_str(word).decode_utf8_lossy();
            let placeholder = self.string(&word, ValuePosition::Open, StringRole::Token).filter(|_| !is_host);
            out.push_str(&placeholder.unwrap_or_else(|| self.key.word(word.to_lowercase().as_bytes())));
        }
        out.push_str(&uri[at..]);
        self.count("URI or path");
        out
    }
}

/// True behind the method of a message in a trace of LSP, where the id follows: `Received response 'initialize - (1)'`.
fn is_in_trace(text: &[u8]) -> bool {
    let line = &text[text.len().saturating_sub(MAX_TRACE)..];
    let line = line.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    memmem::rfind(line, b" '")
        .is_some_and(|quote| line[..quote].ends_with(b"request") || line[..quote].ends_with(b"response"))
}

/// The maximum size of the beginning of a line of a trace, in bytes.
const MAX_TRACE: usize = 256;
const SCHEMES: [&str; 10] = ["data", "file", "git", "http", "https", "ssh", "untitled", "urn", "ws", "wss"];
/// The first words of references within a JSON Schema.
const SCHEMA_WORDS: [&str; 3] = ["$defs", "definitions", "properties"];

/// True for the characters of a word in a URI.
fn is_in_word(character: char) -> bool {
    !character.is_ascii() || character.is_ascii_alphanumeric() || matches!(character, '%' | '$' | '_' | '-' | '~' | '+')
}
