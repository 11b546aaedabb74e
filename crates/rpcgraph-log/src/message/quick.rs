//! Messages without members of their own, read in one pass, with their payloads in canonical form.
//!
//! [`Scanner::scan`] gives up on any other message, and [`Content::parse`](super::Content::parse) decides. Both read the
//! same; tests compare them.

use std::ops::Range;

use super::{Content, ErrorMember, ErrorObject, Id, Kind, Message, Payload, Problem, Problems, Single};
use crate::json::{Canonical, Cursor, Levels, MemberSpan, Numbers, QuickWriter};

/// Reads the messages of a batch of records, reusing its buffers.
pub struct Scanner {
    writer: QuickWriter,
    /// False if payloads are checked and not written.
    payloads: bool,
}

/// The payloads of scanned messages.
#[derive(Debug, Default)]
pub struct PayloadBuffer {
    text: String,
    members: Vec<MemberSpan>,
}

impl PayloadBuffer {
    /// Removes the payloads.
    pub fn clear(&mut self) {
        self.text.clear();
        self.members.clear();
    }

    /// Frees the extra room that very large payloads needed.
    pub fn shrink(&mut self) {
        self.text.shrink_to(4 << 20);
        self.members.shrink_to(1 << 16);
    }
}

/// A message, and the place of its payload in the buffer that the payload was written to.
#[derive(Debug)]
pub struct Scanned<'a> {
    /// The message, without the text of its payload until it is [lent](Self::lend).
    pub content: Content<'a>,
    payload: Range<usize>,
    /// `None` if the places of the members are not known.
    members: Option<Range<usize>>,
}

/// Content that does not borrow its payload.
impl<'a> From<Content<'a>> for Scanned<'a> {
    fn from(content: Content<'a>) -> Self {
        Self { content, payload: 0..0, members: None }
    }
}

impl Scanner {
    /// Creates a scanner for a form of numbers in payloads.
    pub fn new(numbers: Numbers) -> Self {
        Self { writer: QuickWriter::new(numbers), payloads: true }
    }

    /// Leaves payloads empty, where no triple depends on them. Duplicate members and lone surrogates in payloads are not
    /// noticed.
    pub fn with_payloads(self, payloads: bool) -> Self {
        Self { payloads, ..self }
    }

    /// Reads a record, and appends its payload to `payloads`. `None` if the careful path has to decide; `payloads` is
    /// then unchanged.
    pub fn scan<'a>(&mut self, record: &'a str, payloads: &mut PayloadBuffer) -> Option<Scanned<'a>> {
        let (before, members) = (payloads.text.len(), payloads.members.len());
        let mut scanned = Scanned::from(Content::Single(Single::Message(Message::new(Kind::Notification))));
        let message = scanned.message()?;
        if self.message(&mut Cursor::new(record, 0), payloads, message).is_none() {
            payloads.text.truncate(before);
            return None;
        }
        if before < payloads.text.len()
            && let Some(written) = self.writer.members()
        {
            payloads.members.extend(written);
            scanned.members = Some(members..payloads.members.len());
        }
        let message = scanned.message()?;
        if message.problems.contains(Problem::DuplicateMember) {
            message.text = Some(record.trim_ascii());
        }
        scanned.payload = before..payloads.text.len();
        Some(scanned)
    }

    /// Frees the extra room that very large messages needed.
    pub fn shrink(&mut self) {
        self.writer.shrink();
    }

    fn message<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        payloads: &mut PayloadBuffer,
        message: &mut Message<'a>,
    ) -> Option<()> {
        let Message { version, id, method, params, result, error, problems, .. } = message;
        cursor.each(b'{', |cursor| {
            let name = cursor.plain_string()?;
            cursor.take(b':')?;
            match name {
                "jsonrpc" => {
                    let text = cursor.plain_string()?;
                    set(version, text.into())?;
                    problems.insert_if(text != "2.0", Problem::WrongVersion);
                }
                "id" => set(id, scan_id(cursor)?)?,
                "method" => set(method, cursor.plain_string()?.into())?,
                "params" => {
                    problems.insert_if(!matches!(cursor.peek()?, b'{' | b'['), Problem::ScalarParams);
                    set(params, self.payload(cursor, 1, payloads, problems)?)?;
                }
                "result" => set(result, self.payload(cursor, 1, payloads, problems)?)?,
                "error" => set(error, self.error(cursor, payloads, problems)?)?,
                _ => return None,
            }
            Some(())
        })?;
        if !cursor.is_at_end() {
            return None;
        }
        message.kind = match (&method, &params, &result, &error) {
            (Some(_), _, None, None) if id.is_some() && (version.is_some() || *id != Some(Id::Null)) => Kind::Request,
            (Some(_), _, None, None) => Kind::Notification,
            (None, None, Some(_), None) => Kind::Response,
            (None, None, None, Some(_)) => Kind::ErrorResponse,
            _ => return None,
        };
        problems.insert_if(version.is_none(), Problem::MissingVersion);
        problems.insert_if(message.kind == Kind::Request && *id == Some(Id::Null), Problem::NullRequestId);
        Some(())
    }

    /// Reads a payload that is inside `depth` objects. Its text is set [later](Scanned::lend).
    fn payload<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        depth: usize,
        payloads: &mut PayloadBuffer,
        problems: &mut Problems,
    ) -> Option<Payload<'a>> {
        let canonical = match self.payloads {
            true => {
                let canonical = self.writer.write(cursor, depth, &mut payloads.text)?;
                problems.insert_evidence(self.writer.evidence());
                canonical
            }
            false => {
                let mut levels = Levels::within(depth);
                cursor.value(&mut levels).ok().filter(|()| levels.are_few())?;
                Canonical { interoperable: true }
            }
        };
        Some(Payload { members: Some(&[]), ..Payload::new("", canonical) })
    }

    fn error<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        payloads: &mut PayloadBuffer,
        problems: &mut Problems,
    ) -> Option<ErrorMember<'a>> {
        let mut error = ErrorObject::default();
        let ErrorObject { code, message, data, .. } = &mut error;
        cursor.each(b'{', |cursor| {
            let name = cursor.plain_string()?;
            cursor.take(b':')?;
            match name {
                "code" => set(code, scan_integer(cursor)?.into())?,
                "message" => set(message, cursor.plain_string()?.into())?,
                "data" => set(data, self.payload(cursor, 2, payloads, problems)?)?,
                _ => return None,
            }
            Some(())
        })?;
        (code.is_some() && message.is_some()).then(|| ErrorMember::Object(error.into()))
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
    fn message(&mut self) -> Option<&mut Message<'a>> {
        match &mut self.content {
            Content::Single(Single::Message(message)) => Some(message),
            _ => None,
        }
    }

    /// Gives the message the text of its payload, out of the payloads that it was scanned with.
    #[inline]
    pub fn lend(&mut self, payloads: &'a PayloadBuffer) {
        if self.payload.is_empty() {
            return;
        }
        let text = payloads.text.get(self.payload.clone()).unwrap_or_default();
        let members = self.members.clone().and_then(|members| payloads.members.get(members));
        let Some(Message { params, result, error, .. }) = self.message() else { return };
        let data = match error {
            Some(ErrorMember::Object(error)) => error.data.as_mut(),
            _ => None,
        };
        if let Some(payload) = params.as_mut().or(result.as_mut()).or(data) {
            (payload.text, payload.members) = (text.into(), members);
        }
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
            let mut scanned = scanner.scan(&text, &mut PayloadBuffer::default())?;
            let Message { kind, id, method, problems, .. } = scanned.message()?;
            Some(format!("{kind:?} {id:?} {method:?} {problems:?}"))
        })
    }

    #[test]
    fn members_of_payloads_are_found_in_their_places() {
        for (payload, is_known) in [
            ("{}", true),
            ("[{\"a\":1}]", true),
            (r#"{"a":1,"b":{"d":2,"c":[{"f":3,"e":4}]},"c":"x"}"#, true),
            (r#"{"b":{"y":1,"x":2},"a":[{"z":1,"y":2}],"":"\u0041"}"#, true),
            (r#" { "b" : 1.0 , "a" : { "c" : { } } } "#, true),
            (r#"{"a":1,"b":{"b":{"b":1,"a":1},"a":2}}"#, true),
            (r#"{"a":1,"a":2}"#, false),
            (r#"{"\u0062":1,"a":2}"#, false),
        ] {
            let text = format!(r#"{{"method":"m","params":{payload}}}"#);
            let (mut scanner, mut payloads) = (Scanner::new(Numbers::Exact), PayloadBuffer::default());
            scanner.scan(r#"{"method":"m","params":{"b":1,"a":2}}"#, &mut payloads).unwrap();
            let mut scanned = scanner.scan(&text, &mut payloads).unwrap();
            scanned.lend(&payloads);
            let params = scanned.message().unwrap().params.clone().unwrap();
            assert_eq!(params.members.is_some(), is_known, "{payload}");
            let mut members = Vec::new();
            params.view().each_member(&mut |name, value| members.push((name, value)));
            assert_eq!(members, crate::json::members(&params.text).collect::<Vec<_>>(), "{payload}");
        }
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
