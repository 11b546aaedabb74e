//! Text with messages in it: lines of a log, heads of frames, texts in wrappers.
//!
//! What stays is what formats read: times, words for directions and levels, punctuation. JSON in the text is redacted as
//! JSON. Every other word becomes a placeholder, also in a value that is cut off or broken.

use std::sync::LazyLock;

use memchr::memmem;
use regex::bytes::Regex;

use super::Redactor;
use super::allowed::{Mode, Rule, is_known_method};
use crate::record::whole_value;

/// The parts of a text, in the order in which they are tried.
const PARTS: &str = r#"(?x-u)
    (?<time>
      [0-9]{4}[/-][0-9]{2}[/-][0-9]{2}[T\x20][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?:Z\b|\x20?[+-][0-9]{2}:?[0-9]{2}\b)?
    | [0-9]{2}\.[0-9]{2}\.[0-9]{4},?\x20[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?
    | (?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\x20)?(?:[0-9]{1,2}\x20)?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\x20+
      [0-9]{1,4}\x20+[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:\x20[0-9]{4}\b)?
    | [IWEFVD][0-9]{4}\x20[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}
    | [0-2]?[0-9]:[0-5][0-9]:[0-5][0-9](?:[.,][0-9]{1,9})?(?:\x20?[AP]M)?\b
    | (?:ts|time|timestamp)=[0-9]{10}(?:\.[0-9]{1,9}|[0-9]{3}|[0-9]{6}|[0-9]{9})?\b )
  | (?<frame> (?i:content-length) [\x20\t]*:[\x20\t]* [0-9]+ )
  | (?<stays> \\["\\/bfnrt] |
      \x1b\[[0-9;]*[A-Za-z] | <[0-9]{1,3}>1?\x20 | HTTP/[0-9.]{1,3}\x20[0-9]{3}\b | -\x20\([0-9]{1,6}\) | \(-32[0-9]{3}\)
    | [0-9]{1,7}(?:\.[0-9]{1,9})?(?:ms|us|\xc2\xb5s|\xce\xbcs|ns|s)\b | \+[0-9]{1,5}[mhd]\b | response\x20[0-9]{1,6}\x20without
    | [0-9]{1,9}\x20chars\x20truncated | \xe2(?:\x96[\xb6\xba]|\x97[\x80\x84]|\x86[\x90-\x93]|\x80\xa6) | [VDIWE]\[ )
  | (?<json> [{\[] )
  | (?<quote> " )
  | (?<method> [A-Za-z$][A-Za-z0-9_$-]*(?:/[A-Za-z0-9_$-]+)+ )
  | (?<word> (?i:WORDS)\b )
  | (?<token> [A-Za-z0-9_%\x80-\xff]+(?:-[A-Za-z0-9_%\x80-\xff]+)* )"#;

/// Words of log formats, which stay in the text around messages, in any case.
const WORDS: &str = "\
    authorization|content-type|event-stream|last-event-id|mcp-protocol-version|mcp-session-id|packets|accept|accepted|active|after|args|bad|base64|bearer|built|c2s|changed|charset|chars|chunked|claudeserver|client|\
    client_to_server|clienttoserver|command|comp|connected|connection|contents|content|created|ctrl|c|critical|data|\
    debug|delete|dir|direction|done|editor|egress|encoding|endpoint|error|event|f|failed|false|fatal|for|found|from|\
    fromclient|fromserver|get|gzip|has|head|helix_lsp|https?|in|inbound|incoming|info|ingress|initialize|initializing|\
    is|jsonrpc|keep|language_server_to_lsp4e|length|level|log|lsp|lsp4e_to_language_server|mcp|message|meta|metadata|\
    method|msg|no|node|not|notice|notification|null|ok|open|out|outbound|outgoing|parameters|params|path|payload|post|\
    press|processing|promise|protocol|provided|puppeteer|put|pw|quit|read|reading|received|receives?|receiving|recv|\
    reply|req|request|response|result|retry|returned|rpc|running|rx|s2c|says|send|sender|sending|sends|sent|\
    sent_by|server|server_to_client|servertoclient|session|sse|starting|started|state|stderr|stdin|stdio|stdout|\
    successfully|text|to|toclient|took|toserver|trace|transfer|transport|true|truncated|ts|tx|undefined|using|verbose|\
    warn|warning|websocket|with|without|write|writing|wrote|wss?";

/// `None` only if the regular expression is invalid.
static REGEX: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&PARTS.replace("WORDS", WORDS)).ok());

impl Redactor {
    /// Redacts text.
    pub(super) fn text(&mut self, text: &[u8], out: &mut Vec<u8>) {
        let Some(regex) = &*REGEX else { return };
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
            let Some(part) = parts.get(0) else { return };
            out.extend_from_slice(&text[at..part.start()]);
            let rest = &text[part.start()..];
            let mut length = part.len();
            let was_known = std::mem::take(&mut is_known);
            if parts.name("stays").or(parts.name("word")).is_some() {
                out.extend_from_slice(part.as_bytes());
            } else if parts.name("time").is_some() {
                // Pairs of digits may also be bytes.
                let is_pair = rest.get(length) == Some(&b':') || text[..part.start()].ends_with(b":");
                if is_pair {
                    length = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(length).max(1);
                    self.token(&rest[..length], false, out);
                } else {
                    self.time(part.as_bytes(), out);
                }
            } else if let Some(frame) = parts.name("frame").and_then(|_| self.frame(rest, out)) {
                length = frame;
            } else if let Some(value) = parts.name("json").and_then(|_| value(rest)) {
                self.json(&rest[..value], Mode::Around, out);
                length = value;
            } else if let Some(value) = parts.name("quote").and_then(|_| value(rest)) {
                let is_name = rest[value..].trim_ascii_start().starts_with(b":");
                is_known = is_name && self.member_name(&rest[..value], Mode::Around, out);
                if !is_name {
                    self.json_string(&rest[..value], Mode::Around, Rule::None, out);
                }
                length = value;
            } else if parts.name("method").or(parts.name("token")).is_none() {
                // A bracket or a quote of no value, or a head without its body.
                out.extend_from_slice(part.as_bytes());
            } else {
                self.token(part.as_bytes(), was_known, out);
            }
            at = part.start() + length;
        }
        out.extend_from_slice(&text[at..]);
    }

    /// Redacts a word in a text.
    fn token(&mut self, token: &[u8], is_known: bool, out: &mut Vec<u8>) {
        let Ok(word) = std::str::from_utf8(token) else {
            // Still no UTF-8.
            out.extend_from_slice(self.key.word(token).as_bytes());
            return out.push(0xff);
        };
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            return self.number(word, is_known, out);
        }
        let rule = if word.contains('/') || is_known_method(word) { Rule::Method } else { Rule::Token };
        match self.string(word, Mode::Around, rule) {
            Some(placeholder) => out.extend_from_slice(placeholder.as_bytes()),
            None => out.extend_from_slice(token),
        }
    }

    /// Redacts a frame with a `Content-Length`, and writes the new length. Returns the size of the frame in the text.
    fn frame(&mut self, text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let head = &text[..text.len().min(1024)];
        let ends = [&b"\r\n\r\n"[..], b"\n\n"].map(|end| memmem::find(head, end).map(|at| at + end.len()));
        let start = ends.into_iter().flatten().min()?;
        let (name, value) = head[..start].split_at(head.iter().position(|byte| *byte == b':')? + 1);
        let blanks = value.len() - value.trim_ascii_start().len();
        let digits = value[blanks..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let length: usize = std::str::from_utf8(&value[blanks..blanks + digits]).ok()?.parse().ok()?;
        let body = text.get(start..start.checked_add(length)?)?;
        let mut redacted = Vec::new();
        self.text(body, &mut redacted);
        out.extend_from_slice(name);
        out.extend_from_slice(&value[..blanks]);
        out.extend_from_slice(redacted.len().to_string().as_bytes());
        self.text(&value[blanks + digits..], out);
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
            match is_host {
                true => out.push_str(&self.key.word(word.to_ascii_lowercase().as_bytes())),
                false => out.push_str(&self.string(&word, Mode::Open, Rule::Token).unwrap_or(word.into_owned())),
            }
        }
        out.push_str(&uri[at..]);
        self.count("URI or path");
        out
    }
}

const SCHEMES: [&str; 10] = ["data", "file", "git", "http", "https", "ssh", "untitled", "urn", "ws", "wss"];
/// The first words of references within a JSON Schema.
const SCHEMA_WORDS: [&str; 3] = ["$defs", "definitions", "properties"];

/// True for the characters of a word in a URI.
fn is_in_word(character: char) -> bool {
    !character.is_ascii() || character.is_ascii_alphanumeric() || matches!(character, '%' | '$' | '_' | '-' | '~' | '+')
}
