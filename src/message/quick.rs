//! Messages as nearly all of them are, read in one pass with their payloads in canonical form.
//!
//! [`Quick::scan`] gives up on anything out of the ordinary, and [`Content::parse`](super::Content::parse) decides. What
//! it does read is what that reads; tests hold the two together.

use std::borrow::Cow;
use std::ops::Range;

use super::{Content, ErrorMember, ErrorObject, Id, Kind, Message, Payload, Problem, Problems, Single};
use crate::json::{self, Numbers};

/// Reads messages of one batch of records; keeps its buffers from one to the next.
pub struct Quick {
    json: json::Quick<'static>,
}

/// A message whose parts are known by their places: in the record, or in the text of payloads.
#[derive(Debug, Clone)]
pub struct Scanned {
    kind: Kind,
    version: Option<Range<usize>>,
    id: Option<ScannedId>,
    method: Option<Range<usize>>,
    params: Option<ScannedPayload>,
    result: Option<ScannedPayload>,
    error: Option<ScannedError>,
    problems: Problems,
}

#[derive(Debug, Clone)]
enum ScannedId {
    String(Range<usize>),
    Number(Range<usize>),
    Null,
}

#[derive(Debug, Clone)]
struct ScannedPayload {
    text: Range<usize>,
    interoperable: bool,
}

#[derive(Debug, Clone)]
struct ScannedError {
    code: Range<usize>,
    message: Range<usize>,
    data: Option<ScannedPayload>,
}

impl Quick {
    /// A reader that writes numbers of payloads so.
    pub fn new(numbers: Numbers) -> Self {
        Self { json: json::Quick::new("", numbers) }
    }

    /// Reads a record; its payloads are appended to `payloads`, which is left as it was where the answer is `None`.
    pub fn scan(&mut self, record: &str, payloads: &mut String) -> Option<Scanned> {
        let before = payloads.len();
        let spare = json::Quick::new("", self.json.numbers());
        let mut reader = std::mem::replace(&mut self.json, spare).restart(record);
        let scanned = message(&mut reader, record, payloads);
        self.json = reader.restart("");
        if scanned.is_none() {
            payloads.truncate(before);
        }
        scanned
    }
}

/// Fills a member that is there once; a second time is for the careful way.
fn set<T>(member: &mut Option<T>, value: T) -> Option<()> {
    member.is_none().then(|| *member = Some(value))
}

fn message(reader: &mut json::Quick<'_>, text: &str, payloads: &mut String) -> Option<Scanned> {
    let (mut version, mut id, mut method, mut params, mut result, mut error) = (None, None, None, None, None, None);
    let mut problems = Problems::default();
    reader.take(b'{')?;
    loop {
        let name = reader.plain_string()?;
        reader.take(b':')?;
        match name {
            "jsonrpc" => {
                let string = string(reader)?;
                problems.insert_if(text.get(string.clone()) != Some("2.0"), Problem::WrongVersion);
                set(&mut version, string)?;
            }
            "id" => set(&mut id, scan_id(reader)?)?,
            "method" => set(&mut method, string(reader)?)?,
            "params" => {
                problems.insert_if(!matches!(reader.peek()?, b'{' | b'['), Problem::ScalarParams);
                set(&mut params, payload(reader, payloads)?)?;
            }
            "result" => set(&mut result, payload(reader, payloads)?)?,
            "error" => set(&mut error, scan_error(reader, payloads)?)?,
            _ => return None,
        }
        match reader.peek()? {
            b',' => reader.take(b',')?,
            _ => break,
        }
    }
    reader.take(b'}')?;
    if !reader.is_at_end() {
        return None;
    }
    let kind = match (&method, &result, &error) {
        (Some(_), None, None) if id.is_some() => Kind::Request,
        (Some(_), None, None) => Kind::Notification,
        (None, Some(_), None) => Kind::Response,
        (None, None, Some(_)) => Kind::ErrorResponse,
        _ => return None,
    };
    problems.insert_if(version.is_none(), Problem::MissingVersion);
    problems.insert_if(kind == Kind::Request && matches!(id, Some(ScannedId::Null)), Problem::NullRequestId);
    Some(Scanned { kind, version, id, method, params, result, error, problems })
}

/// Place of a string without escapes.
fn string(reader: &mut json::Quick<'_>) -> Option<Range<usize>> {
    let length = reader.plain_string()?.len();
    let end = reader.at() - 1;
    Some(end - length..end)
}

/// Place of an integer that is spelled plainly.
fn integer(reader: &mut json::Quick<'_>) -> Option<Range<usize>> {
    let spelling = reader.number()?;
    let digits = spelling.strip_prefix('-').unwrap_or(spelling);
    let plain = digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit()) && spelling != "-0";
    plain.then(|| reader.at() - spelling.len()..reader.at())
}

fn scan_id(reader: &mut json::Quick<'_>) -> Option<ScannedId> {
    match reader.peek()? {
        b'"' => Some(ScannedId::String(string(reader)?)),
        b'n' => {
            reader.literal("null")?;
            Some(ScannedId::Null)
        }
        _ => Some(ScannedId::Number(integer(reader)?)),
    }
}

fn payload(reader: &mut json::Quick<'_>, payloads: &mut String) -> Option<ScannedPayload> {
    let start = payloads.len();
    let canonical = reader.canonical(payloads)?;
    Some(ScannedPayload { text: start..payloads.len(), interoperable: canonical.interoperable })
}

fn scan_error(reader: &mut json::Quick<'_>, payloads: &mut String) -> Option<ScannedError> {
    let (mut code, mut message, mut data) = (None, None, None);
    reader.take(b'{')?;
    loop {
        let name = reader.plain_string()?;
        reader.take(b':')?;
        match name {
            "code" => set(&mut code, integer(reader)?)?,
            "message" => set(&mut message, string(reader)?)?,
            "data" => set(&mut data, payload(reader, payloads)?)?,
            _ => return None,
        }
        match reader.peek()? {
            b',' => reader.take(b',')?,
            _ => break,
        }
    }
    reader.take(b'}')?;
    Some(ScannedError { code: code?, message: message?, data })
}

impl Scanned {
    /// The content that it is, given the record and the payloads that it was scanned with.
    pub fn content<'a>(&self, record: &'a str, payloads: &'a str) -> Content<'a> {
        let part = |range: &Range<usize>| record.get(range.clone()).unwrap_or_default();
        let string = |range: &Range<usize>| Cow::Borrowed(part(range));
        let payload = |scanned: &ScannedPayload| Payload::Canonical {
            text: payloads.get(scanned.text.clone()).unwrap_or_default(),
            interoperable: scanned.interoperable,
        };
        Content::Single(Single::Message(Message {
            kind: self.kind,
            version: self.version.as_ref().map(string),
            id: self.id.as_ref().map(|id| match id {
                ScannedId::String(range) => Id::String(string(range)),
                ScannedId::Number(range) => Id::Number(string(range)),
                ScannedId::Null => Id::Null,
            }),
            method: self.method.as_ref().map(string),
            params: self.params.as_ref().map(payload),
            result: self.result.as_ref().map(payload),
            error: self.error.as_ref().map(|error| {
                ErrorMember::Object(ErrorObject {
                    code: Some(string(&error.code)),
                    message: Some(string(&error.message)),
                    data: error.data.as_ref().map(payload),
                    extra: Vec::new(),
                })
            }),
            extra: Vec::new(),
            problems: self.problems,
            text: None,
        }))
    }
}
