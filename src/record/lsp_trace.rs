//! A message in the trace of a language client: the headline, the text after it, and the JSON text made from both.
//!
//! `traceSendingRequest` and similar functions in vscode-languageserver-node's `connection.ts` write the lines; gopls,
//! lsp4j and lsp4clj write them with small differences.

use super::Time;
use super::decoder::{is_blank, leading_blanks, split_once, trim_end};
use super::object::{ObjectBuilder, string};
use super::times::{duration, number};
use super::value::{Extent, is_whole, shows_its_end, value};
use super::vscode::{self, LineStamp, LineTag};
use memchr::{memchr, memchr_iter, memmem, memrchr};
use oxsdatatypes::Decimal;
use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum HeadlineKind {
    Request,
    Notification,
    Response,
}

/// The first line of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Headline<'a> {
    pub time: Option<Time>,
    pub sending: bool,
    pub kind: HeadlineKind,
    /// Empty for a response to an unknown request.
    pub method: &'a [u8],
    /// Empty for a notification.
    pub id: &'a [u8],
    pub latency: Option<Decimal>,
    /// The text after `Request failed: `, and its offset.
    failure: Option<(usize, &'a [u8])>,
}

const FAILED: &[u8] = b"Request failed: ";

impl<'a> Headline<'a> {
    /// Parses a line without blanks around it. Every part must be known: servers write other lines after `[Trace - …]`.
    pub fn of(line: &'a [u8]) -> Option<Self> {
        let stamp = LineStamp::of(line).filter(|stamp| stamp.tag != Some(LineTag::Lsp))?;
        let rest = &line[stamp.rest..];
        let (sending, rest) = match rest.strip_prefix(b"Sending ") {
            Some(rest) => (true, rest),
            None => (false, rest.strip_prefix(b"Received ")?),
        };
        let kinds: [(&[u8], _); 3] = [
            (b"request ", HeadlineKind::Request),
            (b"notification ", HeadlineKind::Notification),
            (b"response ", HeadlineKind::Response),
        ];
        let (kind, rest) = kinds.iter().find_map(|(name, kind)| Some((*kind, rest.strip_prefix(*name)?)))?;
        let headline = Self { time: stamp.time, sending, kind, method: b"", id: b"", latency: None, failure: None };
        let Some(rest) = rest.strip_prefix(b"'") else {
            let id = rest.strip_suffix(b" without active response promise.")?;
            return (kind == HeadlineKind::Response && !id.is_empty()).then_some(Self { id, ..headline });
        };
        if kind == HeadlineKind::Notification {
            let method = rest.strip_suffix(b".").unwrap_or(rest).strip_suffix(b"'")?;
            return Some(Self { method, ..headline });
        }
        let (method, rest) = split_once(rest, b" - (")?;
        // Emacs' lsp-mode leaves out the quote of a request that it received.
        let unquoted = || Some((rest.strip_suffix(b").")?, &b""[..]));
        let (id, rest) = split_once(rest, b")'").or_else(unquoted)?;
        let headline = Self { method, id, ..headline };
        match kind {
            HeadlineKind::Response if id.is_empty() => None,
            HeadlineKind::Response => headline.with_outcome(rest, line.len()),
            _ => matches!(rest, b"" | b".").then_some(headline),
        }
    }

    /// Parses ` in 510ms.`, `. Processing request took 1ms` and the like, maybe with a failure after it, up to the
    /// line's end.
    fn with_outcome(mut self, outcome: &'a [u8], line_end: usize) -> Option<Self> {
        let trim = |text: &'a [u8]| &text[text.iter().take_while(|&byte| matches!(byte, b'.' | b' ')).count()..];
        let mut rest = trim(outcome);
        let takes: [&[u8]; 4] = [b"in ", b"took ", b"Processing request took ", b"Request took "];
        if let Some(took) = takes.iter().find_map(|take| rest.strip_prefix(*take)) {
            let (milliseconds, behind) = split_once(took, b"ms")?;
            number(milliseconds)?;
            (self.latency, rest) = (duration(milliseconds), trim(behind));
        }
        match rest.strip_prefix(FAILED) {
            Some(failure) => self.failure = Some((line_end - failure.len(), failure)),
            None if rest.is_empty() => {}
            None => return None,
        }
        Some(self)
    }

    /// Returns the message as JSON text, with members only for what the log states.
    pub fn message(&self, parts: &TraceParts<'_>) -> Vec<u8> {
        let mut message = ObjectBuilder::new();
        if self.kind != HeadlineKind::Notification {
            message.member("id", &id(self.id));
        }
        if self.kind != HeadlineKind::Response {
            message.member("method", &string(self.method));
        }
        if let Some(value) = parts.value {
            message.member(if self.kind == HeadlineKind::Response { "result" } else { "params" }, value);
        }
        if let Some(error) = parts.error {
            message.member("error", error);
        } else if parts.failure.is_some() || parts.error_data.is_some() {
            let mut error = ObjectBuilder::new();
            if let Some(RequestFailure { message, code }) = parts.failure {
                code.into_iter().for_each(|code| error.member("code", code));
                error.member("message", &string(message));
            }
            parts.error_data.into_iter().for_each(|data| error.member("data", data));
            message.member("error", &error.end());
        }
        message.end()
    }
}

/// The parts of a message after its headline, each as JSON text.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub(super) struct TraceParts<'a> {
    /// The parameters or the result.
    value: Option<&'a [u8]>,
    /// The whole error.
    error: Option<&'a [u8]>,
    error_data: Option<&'a [u8]>,
    failure: Option<RequestFailure<'a>>,
}

/// `msg (code).`, without quotes and escapes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RequestFailure<'a> {
    message: &'a [u8],
    code: Option<&'a [u8]>,
}

impl<'a> RequestFailure<'a> {
    fn of(text: &'a [u8]) -> Option<Self> {
        let text = trim_end(text).strip_suffix(b").")?;
        let open = memmem::rfind(text, b" (")?;
        let code = &text[open + 2..];
        let code = match is_number(code) {
            true => Some(code),
            false if code == b"undefined" => None,
            false => return None,
        };
        Some(Self { message: &text[..open], code })
    }
}

/// The text from a headline on, as far as it is visible.
#[derive(Clone, Copy)]
pub(super) struct TraceText<'a> {
    pub bytes: &'a [u8],
    /// True if nothing follows.
    pub last: bool,
}

/// The parts after a headline, and the offset of their end; or only that offset, if a part that must be JSON is not
/// JSON, or is cut off.
pub(super) type TraceBody<'a> = Result<(TraceParts<'a>, usize), usize>;

/// The beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Label {
    /// A name, and the offset of the JSON after it.
    Name(PartName, usize),
    /// The statement that there is nothing, and the offset of the line's end.
    Nothing(usize),
    /// A part of such a label, before the end of the input.
    CutOff,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum PartName {
    /// The parameters or the result.
    Value,
    ErrorData,
    Error,
}

/// lsp4j writes `Error:`, and only after a result.
const NAMES: [(&[u8], PartName); 4] = [
    (b"Params:", PartName::Value),
    (b"Result:", PartName::Value),
    (b"Error data:", PartName::ErrorData),
    (b"Error:", PartName::Error),
];

const NOTHING: [&[u8]; 2] = [b"No result returned.", b"No parameters provided."];

/// The JSON after a name, if any, and the offset of its end; or only that offset, if the JSON is broken.
type Json<'a> = Result<(Option<&'a [u8]>, usize), usize>;

/// The maximum length, in bytes, of an error's message over several lines.
const LONGEST_MESSAGE: usize = 8192;

impl<'a> TraceText<'a> {
    /// Returns the body of the message whose headline ends at `at`; `None` if more input is needed.
    ///
    /// The body must begin on the next line; otherwise it was not logged.
    pub fn body(self, headline: &Headline<'a>, mut at: usize) -> Option<TraceBody<'a>> {
        let mut parts = TraceParts::default();
        if let Some((start, line)) = headline.failure {
            let (failure, end) = self.failure(start, line, at)?;
            (parts.failure, at) = (Some(failure), end);
        }
        let (name, start) = match self.label(at)? {
            Label::Name(PartName::Error, _) | Label::Other => return Some(Ok((parts, at))),
            Label::Name(name, start) => (name, start),
            Label::Nothing(end) => return Some(Ok((parts, end))),
            Label::CutOff => return Some(Err(self.bytes.len())),
        };
        let found = match self.json(start)? {
            Ok((found, end)) => {
                at = end;
                found
            }
            Err(end) => return Some(Err(end)),
        };
        match name {
            PartName::Value => parts.value = found,
            _ => parts.error_data = found,
        }
        if headline.kind == HeadlineKind::Response && name == PartName::Value {
            let blanks = self.bytes[at..].iter().take_while(|&&byte| byte != b'\n' && is_blank(byte)).count();
            let next = match self.bytes.get(at + blanks) {
                None if !self.last => return None,
                Some(b'\n') => self.label(at + blanks + 1)?,
                _ => Label::Other,
            };
            if let Label::Name(PartName::Error, start) = next
                && let Ok((Some(error), end)) = self.json_of_error(start)?
            {
                at = end;
                // lsp4j writes both, with null for the absent one.
                if error != b"null" {
                    parts.error = Some(error);
                    parts.value = parts.value.filter(|value| value != b"null");
                }
            }
        }
        Some(Ok((parts, at)))
    }

    /// Returns the failure in a headline, which begins at `start` on `line` and may continue on the lines from `at`;
    /// and its end.
    fn failure(self, start: usize, line: &'a [u8], at: usize) -> Option<(RequestFailure<'a>, usize)> {
        let only = RequestFailure { message: line.strip_suffix(b".").unwrap_or(line), code: None };
        if let Some(failure) = RequestFailure::of(line) {
            return Some((failure, at));
        }
        let mut next = at;
        while next < self.bytes.len().min(at + LONGEST_MESSAGE) || !self.last {
            if next >= at + LONGEST_MESSAGE || self.entry_ends(next)? || self.label(next)? != Label::Other {
                break;
            }
            let end = match memchr(b'\n', &self.bytes[next..]) {
                Some(length) => next + length,
                None if self.last => self.bytes.len(),
                None if self.bytes.len() - next > LONGEST_MESSAGE => break,
                None => return None,
            };
            next = self.bytes.len().min(end + 1);
            if let Some(failure) = RequestFailure::of(&self.bytes[start..end]) {
                return Some((failure, next));
            }
        }
        Some((only, at))
    }

    /// Returns the label at the beginning of the line at `at`; `None` if more input is needed.
    fn label(self, at: usize) -> Option<Label> {
        let rest = &self.bytes[at.min(self.bytes.len())..];
        let seen = &rest[..rest.len().min(vscode::LONGEST + 32)];
        let line_end = memchr(b'\n', seen);
        if line_end.is_none() && seen.len() == rest.len() && !self.last {
            return None;
        }
        let line = &seen[..line_end.unwrap_or(seen.len())];
        let blanks = leading_blanks(line);
        // Channels put date and level before this line too.
        let stamp = match LineStamp::of(&line[blanks..]) {
            Some(LineStamp { tag: Some(_), .. }) => return Some(Label::Other),
            stamp => stamp.map_or(0, |stamp| stamp.rest),
        };
        let start = blanks + stamp;
        let text = trim_end(&line[start..]);
        if NOTHING.contains(&text) {
            return Some(Label::Nothing(at + line_end.map_or(line.len(), |end| end + 1)));
        }
        if let Some((name, kind)) = NAMES.iter().find(|(name, _)| text.starts_with(name)) {
            return Some(Label::Name(*kind, at + start + name.len()));
        }
        let cut_off = self.last && line.len() == rest.len() && !text.is_empty();
        let of_one = || NAMES.iter().map(|(name, _)| *name).chain(NOTHING).any(|name| name.starts_with(text));
        Some(if cut_off && of_one() { Label::CutOff } else { Label::Other })
    }

    fn json(self, start: usize) -> Option<Json<'a>> {
        let blanks = self.bytes[start..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let start = start + blanks;
        match self.bytes.get(start) {
            None if !self.last => return None,
            None | Some(b'\r' | b'\n') => return Some(Ok((None, start))),
            Some(_) => {}
        }
        let rest = &self.bytes[start..];
        match value(rest) {
            // More digits may follow.
            Extent::Whole(length) if length == rest.len() && !self.last && !shows_its_end(rest) => None,
            Extent::Whole(length) => Some(Ok((Some(&rest[..length]), start + length))),
            Extent::Incomplete => self.last.then_some(Err(self.bytes.len())),
            Extent::Broken(error) => {
                // Broken JSON goes up to the next entry, or to the empty line after its own; the search begins at the
                // line with the error.
                let (end, is_seen) = self.entry_end(start + memrchr(b'\n', &rest[..error]).unwrap_or(0));
                is_seen.then_some(Err(end))
            }
        }
    }

    /// Returns the JSON of lsp4j's errors. Other text after `Error:` is a line of its own.
    fn json_of_error(self, start: usize) -> Option<Json<'a>> {
        match self.bytes[start..].trim_ascii_start() {
            [b'{' | b'n', ..] => self.json(start),
            [] if !self.last => None,
            _ => Some(Ok((None, start))),
        }
    }

    /// Returns the end of the entry that continues at `from`, and true if that end is known. Otherwise returns an
    /// offset up to which the entry does not end.
    pub fn entry_end(self, from: usize) -> (usize, bool) {
        for at in memchr_iter(b'\n', &self.bytes[from..]).map(|at| from + at) {
            match self.entry_ends(at + 1) {
                Some(false) => {}
                Some(true) => return (at + 1, true),
                None => return (at, false),
            }
        }
        (self.bytes.len(), self.last)
    }

    /// True if an entry ends before the line at `at`: the line is empty, or begins with a date or `[Name`. `None` if
    /// more input is needed.
    fn entry_ends(self, at: usize) -> Option<bool> {
        let rest = &self.bytes[at.min(self.bytes.len())..];
        match rest {
            [b'\n', ..] | [b'\r', b'\n', ..] => Some(true),
            [b'[', letter, ..] => Some(letter.is_ascii_alphabetic()),
            [a, b, c, d, b'-', ..] => Some([a, b, c, d].iter().all(|byte| byte.is_ascii_digit())),
            _ if rest.len() >= 5 || self.last => Some(false),
            _ => None,
        }
    }
}

/// Returns an id as JSON. The log writes numbers and strings alike, so text that is spelled as a number becomes a
/// number.
fn id(text: &[u8]) -> Cow<'_, [u8]> {
    if is_number(text) || text == b"null" { Cow::Borrowed(text) } else { Cow::Owned(string(text)) }
}

/// True if the text is a JSON number without an exponent: `1e5` is more likely a string.
fn is_number(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let plain = digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    plain && is_whole(text)
}
