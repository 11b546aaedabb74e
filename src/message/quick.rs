//! Messages without members of their own, read in one pass, with their payloads in canonical form.
//!
//! [`Scanner::scan`] gives up on any other message, and [`Content::parse`](super::Content::parse) decides. Both read the
//! same; tests compare them.

use std::borrow::Cow;
use std::ops::Range;

use super::{Content, ErrorMember, ErrorObject, ExtraMembers, Id, Kind, Message, Payload, Problem, Problems, Single};
use crate::json::{Canonical, Cursor, Levels, Numbers, QuickWriter};

/// Reads the messages of a batch of records, reusing its buffers.
pub struct Scanner {
    writer: QuickWriter,
    /// False if payloads are checked and not written.
    payloads: bool,
}

/// A message with its payloads as ranges of the text that they were written to.
#[derive(Debug)]
pub struct Scanned<'a> {
    kind: Kind,
    version: Option<&'a str>,
    id: Option<Id<'a>>,
    method: Option<&'a str>,
    params: Option<ScannedPayload>,
    result: Option<ScannedPayload>,
    error: Option<ScannedError<'a>>,
    problems: Problems,
    /// The record, if its payloads do not keep all of it.
    text: Option<&'a str>,
}

#[derive(Debug)]
struct ScannedPayload {
    text: Range<usize>,
    canonical: Canonical,
}

#[derive(Debug)]
struct ScannedError<'a> {
    code: &'a str,
    message: &'a str,
    data: Option<ScannedPayload>,
}

impl Scanner {
    /// Creates a scanner for a form of numbers in payloads.
    pub fn new(numbers: Numbers) -> Self {
        Self { writer: QuickWriter::new(numbers), payloads: true }
    }

    /// Leaves payloads empty, where no triple depends on them. Duplicate members and lone surrogates in payloads are not
    /// noticed.
    pub(crate) fn with_payloads(self, payloads: bool) -> Self {
        Self { payloads, ..self }
    }

    /// Reads a record, and appends its payloads to `payloads`. `None` if the careful path has to decide; `payloads` is
    /// then unchanged.
    pub fn scan<'a>(&mut self, record: &'a str, payloads: &mut String) -> Option<Scanned<'a>> {
        let before = payloads.len();
        let scanned = self.message(&mut Cursor::new(record, 0), payloads);
        if scanned.is_none() {
            payloads.truncate(before);
        }
        let has_duplicate = |scanned: &Scanned<'_>| scanned.problems.contains(Problem::DuplicateMember);
        scanned.map(|scanned| Scanned { text: has_duplicate(&scanned).then(|| record.trim_ascii()), ..scanned })
    }

    /// Frees the extra room that very large messages needed.
    pub(crate) fn shrink(&mut self) {
        self.writer.shrink();
    }

    fn message<'a>(&mut self, cursor: &mut Cursor<'a>, payloads: &mut String) -> Option<Scanned<'a>> {
        let (mut version, mut id, mut method, mut params, mut result, mut error) = (None, None, None, None, None, None);
        let mut problems = Problems::default();
        cursor.take(b'{')?;
        loop {
            let name = cursor.plain_string()?;
            cursor.take(b':')?;
            match name {
                "jsonrpc" => {
                    set(&mut version, cursor.plain_string()?)?;
                    problems.insert_if(version != Some("2.0"), Problem::WrongVersion);
                }
                "id" => set(&mut id, scan_id(cursor)?)?,
                "method" => set(&mut method, cursor.plain_string()?)?,
                "params" => {
                    problems.insert_if(!matches!(cursor.peek()?, b'{' | b'['), Problem::ScalarParams);
                    set(&mut params, self.payload(cursor, 1, payloads, &mut problems)?)?;
                }
                "result" => set(&mut result, self.payload(cursor, 1, payloads, &mut problems)?)?,
                "error" => set(&mut error, self.error(cursor, payloads, &mut problems)?)?,
                _ => return None,
            }
            if !cursor.another(b'}')? {
                break;
            }
        }
        if !cursor.is_at_end() {
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
        problems.insert_if(kind == Kind::Request && id == Some(Id::Null), Problem::NullRequestId);
        Some(Scanned { kind, version, id, method, params, result, error, problems, text: None })
    }

    /// Reads a payload that is inside `depth` objects.
    fn payload(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
        payloads: &mut String,
        problems: &mut Problems,
    ) -> Option<ScannedPayload> {
        let start = payloads.len();
        let canonical = match self.payloads {
            true => {
                let canonical = self.writer.write(cursor, depth, payloads)?;
                problems.insert_evidence(self.writer.evidence());
                canonical
            }
            false => {
                let mut levels = Levels::within(depth);
                cursor.value(&mut levels).ok().filter(|()| levels.are_few())?;
                Canonical { interoperable: true }
            }
        };
        Some(ScannedPayload { text: start..payloads.len(), canonical })
    }

    fn error<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        payloads: &mut String,
        problems: &mut Problems,
    ) -> Option<ScannedError<'a>> {
        let (mut code, mut message, mut data) = (None, None, None);
        cursor.take(b'{')?;
        loop {
            let name = cursor.plain_string()?;
            cursor.take(b':')?;
            match name {
                "code" => set(&mut code, scan_integer(cursor)?)?,
                "message" => set(&mut message, cursor.plain_string()?)?,
                "data" => set(&mut data, self.payload(cursor, 2, payloads, problems)?)?,
                _ => return None,
            }
            if !cursor.another(b'}')? {
                break;
            }
        }
        Some(ScannedError { code: code?, message: message?, data })
    }
}

/// Sets a member. `None` for a duplicate, which is left to the careful path.
fn set<T>(member: &mut Option<T>, value: T) -> Option<()> {
    member.is_none().then(|| *member = Some(value))
}

/// Reads an integer in plain spelling.
fn scan_integer<'a>(cursor: &mut Cursor<'a>) -> Option<&'a str> {
    let spelling = cursor.number()?;
    let digits = spelling.strip_prefix('-').unwrap_or(spelling);
    let plain = digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit()) && spelling != "-0";
    plain.then_some(spelling)
}

fn scan_id<'a>(cursor: &mut Cursor<'a>) -> Option<Id<'a>> {
    match cursor.peek()? {
        b'"' => Some(Id::String(cursor.plain_string()?.into())),
        b'n' => cursor.word().map(|_| Id::Null),
        _ => Some(Id::Number(scan_integer(cursor)?.into())),
    }
}

impl<'a> Scanned<'a> {
    /// Returns the content, given the payloads that it was scanned with.
    pub fn content(&self, payloads: &'a str) -> Content<'a> {
        Content::Single(self.single(payloads))
    }

    /// Returns the message, given the payloads that it was scanned with.
    #[inline]
    pub(crate) fn single(&self, payloads: &'a str) -> Single<'a> {
        let payload = |scanned: &ScannedPayload| Payload::Canonical {
            text: payloads.get(scanned.text.clone()).unwrap_or_default(),
            interoperable: scanned.canonical.interoperable,
        };
        let error = |error: &ScannedError<'a>| {
            ErrorMember::Object(ErrorObject {
                code: Some(error.code.into()),
                message: Some(error.message.into()),
                data: error.data.as_ref().map(payload),
                extra: ExtraMembers::default(),
            })
        };
        Single::Message(Message {
            version: self.version.map(Cow::Borrowed),
            id: self.id.clone(),
            method: self.method.map(Cow::Borrowed),
            params: self.params.as_ref().map(payload),
            result: self.result.as_ref().map(payload),
            error: self.error.as_ref().map(error),
            problems: self.problems,
            text: self.text,
            ..Message::new(self.kind)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the members of a message, payloads apart, as they are scanned with and without payloads.
    fn scanned(payload: &str) -> [Option<String>; 2] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{payload}}}"#);
        [true, false].map(|payloads| {
            let mut scanner = Scanner::new(Numbers::Exact).with_payloads(payloads);
            let scanned = scanner.scan(&text, &mut String::new())?;
            Some(format!("{:?} {:?} {:?} {:?}", scanned.kind, scanned.id, scanned.method, scanned.problems))
        })
    }

    #[test]
    fn payloads_that_are_not_written_are_checked() {
        for payload in [
            "[]",
            "{}",
            "7",
            r#" { "b" : [ 1 , -2.5e3 , true , false , null , "x\n\u00e9\ud83d\ude00" ] , "a" : { } } "#,
        ] {
            let [with, without] = scanned(payload);
            assert!(with.is_some(), "{payload}");
            assert_eq!(with, without, "{payload}");
        }
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(scanned(&deep(1023)).iter().all(Option::is_some));
        for payload in [
            "",
            "[1,]",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":}",
            "{1:2}",
            "{\"a\":1,}",
            "[\"\u{1}\"]",
            "[\"\n\"]",
            r#"["\x"]"#,
            "[01]",
            "[tru]",
            "[}",
            "[",
            &deep(1024),
        ] {
            assert_eq!(scanned(payload), [None, None], "{payload}");
        }
    }
}
