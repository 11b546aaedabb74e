//! A message in the trace of a language client: the headline, the text after it, and the JSON text made from both.
//!
//! `traceSendingRequest` and similar functions in vscode-languageserver-node's `connection.ts` write the lines; gopls,
//! lsp4j and lsp4clj write them with small differences.

use super::Time;
use super::decoder::{is_blank, leading_blanks, trim_end};
use super::object::{ObjectBuilder, string};
use super::times::duration;
use super::value::{Extent, is_whole, value};
use super::vscode::{LineStamp, clock};
use memchr::{memchr, memmem};
use oxsdatatypes::Decimal;
use regex::bytes::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

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
    /// Empty for a response to an unknown request, and for gopls' errors.
    pub method: &'a [u8],
    /// Empty for a notification.
    pub id: &'a [u8],
    pub latency: Option<Decimal>,
    /// The text after `Request failed: `, or of gopls' error, and its offset.
    failure: Option<(usize, &'a [u8])>,
}

/// A headline after the front of its line. Servers write other lines after `[Trace - …]`, so it matches to the end.
///
/// Emacs' lsp-mode leaves out the quote of a request that it received.
static HEADLINE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(HEADLINES).ok());
const HEADLINES: &str = r"(?xs-u)^(?<way>Sending|Received)\ (?:
    notification\ '(?<notification>.*?)'\.?
    |request\ '(?<request>.*?)\ -\ \((?<asked>.*?)\)(?:'\.?|\.)
    |response\ (?<unknown>[^'].*)\ without\ active\ response\ promise\.
    |response\ '(?<response>.*?)\ -\ \((?<answered>.+?)\)'[.\ ]*
        (?:(?:in|(?:Processing\ request\ |Request\ )?took)\ (?<took>-?[0-9][-+.0-9Ee]*)ms[.\ ]*)?
        (?:Request\ failed:\ (?<failure>.*))?
    )$";

/// The headline of an error that gopls received or sent; it does not have a code.
static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?-u)^\[Error - (?<way>Received|Sent)\] (?<clock>\d\d?:\d\d:\d\d[^#]{0,16}) #(?<id>\S+) (?<failure>.+)$",
    )
    .ok()
});

impl<'a> Headline<'a> {
    /// Parses a line without blanks around it.
    pub fn of(line: &'a [u8]) -> Option<Self> {
        if line.starts_with(b"[Error - ") {
            return Self::of_error(line);
        }
        let stamp = LineStamp::of(line)?;
        Self::behind(stamp.time, &line[stamp.rest..], stamp.rest)
    }

    /// Parses a headline below its stamp, as OmniSharp writes it, given the offset of its line in the message.
    pub fn below(stamp: &'a [u8], line: &'a [u8], offset: usize) -> Option<Self> {
        let time = LineStamp::of(stamp).filter(|_| is_stamp(stamp))?.time;
        Self::behind(time, line, offset)
    }

    /// Parses the text of a headline behind its stamp, given the offset of the text in the message.
    fn behind(time: Option<Time>, line: &'a [u8], offset: usize) -> Option<Self> {
        let found = HEADLINE.as_ref()?.captures(line)?;
        let text = |name: &str| found.name(name).map(|text| text.as_bytes());
        let (kind, method, id) = match (text("notification"), text("request")) {
            (Some(method), _) => (HeadlineKind::Notification, Some(method), None),
            (None, Some(method)) => (HeadlineKind::Request, Some(method), text("asked")),
            (None, None) => (HeadlineKind::Response, text("response"), text("answered").or(text("unknown"))),
        };
        Some(Self {
            time,
            sending: text("way") == Some(b"Sending"),
            kind,
            method: method.unwrap_or_default(),
            id: id.unwrap_or_default(),
            latency: text("took").and_then(duration),
            failure: found.name("failure").map(|text| (offset + text.start(), text.as_bytes())),
        })
    }

    fn of_error(line: &'a [u8]) -> Option<Self> {
        let found = ERROR.as_ref()?.captures(line)?;
        let failure = found.name("failure")?;
        Some(Self {
            time: found.name("clock").and_then(|text| clock(text.as_bytes())),
            sending: found.name("way")?.as_bytes() == b"Sent",
            kind: HeadlineKind::Response,
            method: b"",
            id: found.name("id")?.as_bytes(),
            latency: None,
            failure: Some((failure.start(), failure.as_bytes())),
        })
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

/// The beginning of a line in a message.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Label {
    /// A name, and the offset of the JSON after it.
    Name(PartName, usize),
    /// The statement that there is nothing.
    Nothing,
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

impl Label {
    fn of(line: &[u8]) -> Option<Self> {
        let blanks = leading_blanks(line);
        // Channels put date and level before this line too.
        let stamp = match LineStamp::of(&line[blanks..]) {
            Some(LineStamp { is_trace: true, .. }) => return None,
            stamp => stamp.map_or(0, |stamp| stamp.rest),
        };
        let start = blanks + stamp;
        let text = trim_end(&line[start..]);
        if NOTHING.contains(&text) {
            return Some(Self::Nothing);
        }
        let (name, kind) = NAMES.iter().find(|(name, _)| text.starts_with(name))?;
        Some(Self::Name(*kind, start + name.len()))
    }
}

/// Returns the end of the empty line between a headline on two lines and the label of its JSON, or else of the headline,
/// which ends at `at`; `None` if more input is needed.
pub(super) fn before_label(text: &[u8], at: usize, is_all: bool) -> Option<usize> {
    let blank = line_at(text, at);
    let label = line_at(text, at + blank.len());
    match trim_end(blank).is_empty() {
        true if !label.ends_with(b"\n") && !is_all => None,
        true if Label::of(label).is_some() => Some(at + blank.len()),
        _ => Some(at),
    }
}

/// Returns the end of the message whose headline ends at `at`, as far as its text may go; `None` if more input is
/// needed. A line ends the message if it is empty, or begins with a date or `[Name` without a [`Label`].
pub(super) fn entry_end(text: &[u8], at: usize, is_all: bool) -> Option<usize> {
    let mut next = at;
    while next < text.len() {
        let rest = &text[next..];
        let length = memchr(b'\n', rest).map(|end| end + 1);
        let line = &rest[..length.unwrap_or(rest.len())];
        let begins_another = match line {
            [b'[', letter, ..] => letter.is_ascii_alphabetic(),
            [a, b, c, d, b'-', ..] => [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()),
            _ => trim_end(line).is_empty(),
        };
        match length {
            None if !is_all => return None,
            _ if begins_another && Label::of(line).is_none() => return Some(next),
            _ => next += line.len(),
        }
    }
    is_all.then_some(next)
}

impl<'a> TraceParts<'a> {
    /// Returns the parts in the text of a message whose headline ends at `at`, and the offset of their end. `None` if a
    /// part that must be JSON is not JSON.
    ///
    /// The parts must begin on the next line; otherwise they were not logged.
    pub fn of(headline: &Headline<'a>, text: &'a [u8], mut at: usize) -> Option<(Self, usize)> {
        let mut parts = Self::default();
        if let Some((start, line)) = headline.failure {
            // An error's message may go on up to the next label.
            let lines = text[at..].split_inclusive(|byte| *byte == b'\n');
            let message =
                start..at + lines.take_while(|line| Label::of(line).is_none()).map(<[u8]>::len).sum::<usize>();
            if headline.method.is_empty() {
                parts.failure = Some(RequestFailure { message: trim_end(&text[message.clone()]), code: None });
                return Some((parts, message.end));
            }
            let only = || RequestFailure { message: line.strip_suffix(b".").unwrap_or(line), code: None };
            let whole = RequestFailure::of(line).or_else(|| {
                let failure = RequestFailure::of(&text[message.clone()]);
                at = if failure.is_some() { message.end } else { at };
                failure
            });
            parts.failure = Some(whole.unwrap_or_else(only));
        }
        match Label::of(line_at(text, at)) {
            None | Some(Label::Name(PartName::Error, _)) => return Some((parts, at)),
            Some(Label::Nothing) => return Some((parts, at + line_at(text, at).len())),
            Some(Label::Name(name, start)) => {
                let (found, end) = json(text, at + start)?;
                at = end;
                match name {
                    PartName::Value => parts.value = found,
                    _ => parts.error_data = found,
                }
            }
        }
        let blanks = line_at(text, at);
        if headline.kind == HeadlineKind::Response
            && parts.value.is_some()
            && trim_end(blanks).is_empty()
            && let Some(Label::Name(PartName::Error, start)) = Label::of(line_at(text, at + blanks.len()))
            && let Some((Some(error), end)) = json(text, at + blanks.len() + start)
        {
            at = end;
            // lsp4j writes both, with null for the absent one.
            if error != b"null" {
                parts.error = Some(error);
                parts.value = parts.value.filter(|value| value != b"null");
            }
        }
        Some((parts, at))
    }
}

/// True if a line is the stamp of a trace, without a headline.
pub(super) fn is_stamp(line: &[u8]) -> bool {
    LineStamp::of(line).is_some_and(|stamp| stamp.is_trace && stamp.rest == line.len())
}

/// Returns the line at `at`, with its end.
fn line_at(text: &[u8], at: usize) -> &[u8] {
    text[at..].split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default()
}

/// Returns the JSON after a label, or on the lines below it, if any, and the offset of its end; `None` if it is broken or cut
/// off.
fn json(text: &[u8], start: usize) -> Option<(Option<&[u8]>, usize)> {
    let start = start + line_at(text, start).iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let below = start + text[start..].iter().take_while(|byte| is_blank(**byte)).count();
    match (text.get(start), value(&text[below..])) {
        (Some(b'\r' | b'\n'), Extent::Whole(length)) if ends_line(text, below + length) => {
            Some((Some(&text[below..below + length]), below + length))
        }
        (None | Some(b'\r' | b'\n'), _) => Some((None, start)),
        (_, Extent::Whole(length)) => Some((Some(&text[start..start + length]), start + length)),
        _ => None,
    }
}

/// True if only blanks follow on the line.
fn ends_line(text: &[u8], at: usize) -> bool {
    trim_end(line_at(text, at)).is_empty()
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
