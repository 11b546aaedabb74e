//! Reads messages in one pass: the members of JSON-RPC as values, and everything else as canonical JSON.
//!
//! Members that JSON-RPC does not define, or with a value of the wrong type, are skipped first: their spans of the source
//! are written together, as one object, and checked by this. The same holds for a value that is not a message. Tests
//! compare the result with what `oracle.rs` makes of whole values.

use std::borrow::Cow;
use std::mem;
use std::ops::Range;

use super::{
    Content, ErrorMember, ErrorObject, Id, Invalid, Kind, MAX_ID_DIGITS, Message, Payload, Problem, Problems, Single,
    is_keyword_like,
};
use crate::json::{self, Canonical, Cursor, Decimal, Levels, MemberSpan, Numbers, QuickWriter, Text};

/// Reads the messages of records, reusing its buffers.
pub struct Scanner {
    writer: QuickWriter,
    /// False if payloads are checked and not written.
    payloads: bool,
    /// The source of an object's members that JSON-RPC does not define.
    others: String,
    /// The index of the current element in its batch.
    element: usize,
}

/// The payloads of scanned messages.
#[derive(Debug, Default)]
pub struct PayloadBuffer {
    text: String,
    members: Vec<MemberSpan>,
    parts: Vec<PayloadPart>,
}

/// A payload in the buffer.
#[derive(Debug)]
struct PayloadPart {
    of: PartOf,
    /// The index of its message in the batch.
    element: usize,
    text: Range<usize>,
    /// `None` if the places of the members are not known.
    members: Option<Range<usize>>,
}

/// The member of a message that a payload is.
#[derive(Debug, Clone, Copy)]
enum PartOf {
    Params,
    Result,
    /// An error that is not an object.
    Error,
    Data,
    ErrorExtra,
    Extra,
    /// The whole value, which is not a message.
    Invalid,
}

impl PayloadBuffer {
    /// Removes the payloads.
    pub fn clear(&mut self) {
        self.truncate((0, 0, 0));
    }

    /// Frees the extra room that very large payloads needed.
    pub fn shrink(&mut self) {
        self.text.shrink_to(4 << 20);
        self.members.shrink_to(1 << 16);
        self.parts.shrink_to(1 << 14);
    }

    fn lengths(&self) -> (usize, usize, usize) {
        (self.text.len(), self.members.len(), self.parts.len())
    }

    fn truncate(&mut self, (text, members, parts): (usize, usize, usize)) {
        self.text.truncate(text);
        self.members.truncate(members);
        self.parts.truncate(parts);
    }
}

/// The content of a record, and the places of its payloads in the buffer that they were written to.
#[derive(Debug)]
pub struct Scanned<'a> {
    /// The content, without the text of payloads until they are [lent](Self::lend).
    pub content: Content<'a>,
    parts: Range<usize>,
}

/// Content that does not borrow its payloads.
impl<'a> From<Content<'a>> for Scanned<'a> {
    fn from(content: Content<'a>) -> Self {
        Self { content, parts: 0..0 }
    }
}

impl Default for Scanner {
    fn default() -> Self {
        Self { writer: QuickWriter::new(Numbers::Exact), payloads: true, others: String::new(), element: 0 }
    }
}

impl Scanner {
    /// Leaves payloads empty, where no triple depends on them. Duplicate members and lone surrogates in payloads are not
    /// noticed.
    #[must_use]
    pub fn with_payloads(self, payloads: bool) -> Self {
        Self { payloads, ..self }
    }

    /// Reads a record, and appends its payloads to `payloads`. `result_unknown` is true if the log says that there was a
    /// result, but not which one.
    pub fn scan<'a>(&mut self, record: &'a [u8], result_unknown: bool, payloads: &mut PayloadBuffer) -> Scanned<'a> {
        self.read(record, payloads, |scanner, cursor, payloads, content| {
            if cursor.peek()? != b'[' {
                return scanner.single(cursor, 0, result_unknown, payloads, content.elements_mut().first_mut()?);
            }
            // An array that is cut off may have millions of elements, which would be read for nothing.
            json::check(record).ok()?;
            let mut elements = Vec::new();
            cursor.each(b'[', |cursor| {
                scanner.element = elements.len();
                elements.push(new_message());
                scanner.single(cursor, 1, result_unknown, payloads, elements.last_mut()?)
            })?;
            *content = Content::Batch(elements);
            Some(())
        })
    }

    /// As [`Self::scan`], for an element of a batch.
    pub fn scan_element<'a>(&mut self, element: &'a str, payloads: &mut PayloadBuffer) -> Scanned<'a> {
        self.read(element.as_bytes(), payloads, |scanner, cursor, payloads, content| {
            scanner.single(cursor, 0, false, payloads, content.elements_mut().first_mut()?)
        })
    }

    /// Frees the extra room that very large messages needed.
    pub fn shrink(&mut self) {
        self.writer.shrink();
        self.others.shrink_to(1 << 20);
    }

    #[inline]
    fn read<'a>(
        &mut self,
        record: &'a [u8],
        payloads: &mut PayloadBuffer,
        read: impl FnOnce(&mut Self, &mut Cursor<'a>, &mut PayloadBuffer, &mut Content<'a>) -> Option<()>,
    ) -> Scanned<'a> {
        let before = payloads.lengths();
        self.element = 0;
        let mut content = Content::Single(new_message());
        let is_read = simdutf8::basic::from_utf8(record).is_ok_and(|text| {
            let mut cursor = Cursor::new(text, 0);
            read(self, &mut cursor, payloads, &mut content).is_some() && cursor.is_at_end()
        });
        if !is_read {
            payloads.truncate(before);
            // Text that is correct is longer than 4 GiB.
            let too_deep = json::Error { kind: json::ErrorKind::TooDeep, offset: 0 };
            content = Content::Malformed(json::check(record).err().unwrap_or(too_deep));
        }
        Scanned { content, parts: before.2..payloads.parts.len() }
    }

    /// Reads the next value, which is inside `depth` arrays. Fills `single`, a new message, or replaces it.
    #[inline]
    fn single<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        depth: usize,
        result_unknown: bool,
        payloads: &mut PayloadBuffer,
        single: &mut Single<'a>,
    ) -> Option<()> {
        let first = cursor.peek()?;
        let (begin, before) = (cursor.clone(), payloads.lengths());
        let reason = match (first, &mut *single) {
            (b'{', Single::Message(message)) => {
                match self.message(cursor, depth + 1, result_unknown, payloads, message)? {
                    Ok(()) => return Some(()),
                    Err(reason) => reason,
                }
            }
            _ => not_an_object(first),
        };
        payloads.truncate(before);
        *cursor = begin.clone();
        let mut problems = Problems::default();
        let value = self.write(cursor, depth, PartOf::Invalid, payloads, &mut problems)?;
        let text = problems.contains(Problem::DuplicateMember).then(|| cursor.text_from(begin.at()));
        *single = Single::Invalid(Invalid { value, reason, problems, text });
        Some(())
    }

    /// Reads a message whose members are inside `depth` arrays and objects. Returns the reason if the object is not a
    /// message; it is then not checked as a whole.
    fn message<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        depth: usize,
        result_unknown: bool,
        payloads: &mut PayloadBuffer,
        message: &mut Message<'a>,
    ) -> Option<Result<(), &'static str>> {
        let begin = cursor.clone();
        let Message { version, id, method, params, result, error, problems, .. } = message;
        let mut members = SeenMembers::default();
        let (mut bad_id, mut bad_method, mut half_message) = (None, None, false);
        let (mut scalar_params, mut null_result, mut null_error) = (false, None, None);
        let mut has_false_result = false;
        cursor.each(b'{', |cursor| {
            cursor.peek()?;
            let start = cursor.at();
            let name = string(cursor)?;
            cursor.take(b':')?;
            let first = cursor.peek()?;
            match name.as_deref() {
                Some("jsonrpc") => {
                    members.known(0);
                    *version = text(cursor, first)?;
                    if version.is_none() {
                        members.others.push((0, start..cursor.at()));
                    }
                }
                Some("id") => {
                    members.known(1);
                    (*id, bad_id) = match scan_id(cursor, first)? {
                        Ok(id) => (Some(id), None),
                        Err(reason) => (None, Some(reason)),
                    };
                }
                Some("method") => {
                    members.known(2);
                    *method = text(cursor, first)?;
                    let reason = if first == b'"' { HALF } else { OTHER_METHOD };
                    bad_method = method.is_none().then_some(reason);
                }
                Some("params") => {
                    members.known(3);
                    scalar_params = !matches!(first, b'{' | b'[');
                    *params = Some(self.payload(cursor, depth, PartOf::Params, payloads, problems)?);
                }
                Some("result") => {
                    members.known(4);
                    *result = Some(self.payload(cursor, depth, PartOf::Result, payloads, problems)?);
                    has_false_result = first == b'f';
                    null_result = matches!(first, b'n' | b'f').then(|| start..cursor.at());
                }
                Some("error") => {
                    members.known(5);
                    half_message = false;
                    *error = Some(match first {
                        b'{' => self.error(cursor, depth + 1, payloads, problems, &mut half_message, &mut members)?,
                        _ => ErrorMember::Other(self.payload(cursor, depth, PartOf::Error, payloads, problems)?),
                    });
                    null_error = (first == b'n').then(|| start..cursor.at());
                }
                other => members.other(other, start, cursor)?,
            }
            Some(())
        })?;
        if members.is_repeated {
            // A member that a later one replaced may not have been checked, and is evidence, too.
            let mut replaced = String::new();
            self.writer.write(&mut begin.clone(), depth - 1, &mut replaced)?;
            problems.insert_evidence(self.writer.evidence());
        }
        if let Some(reason) = bad_id {
            return Some(Err(reason));
        }
        let is_error = error.is_some() && null_error.is_none();
        let kind = match (method.is_some() || bad_method.is_some(), result.is_some(), error.is_some()) {
            (true, false, false) => match bad_method {
                Some(reason) => Err(reason),
                // In JSON-RPC 1.0, a null id marks a notification.
                None if id.as_ref().is_some_and(|id| *id != Id::Null || members.seen & 1 != 0) => Ok(Kind::Request),
                None => Ok(Kind::Notification),
            },
            (true, ..) if bad_method == Some(OTHER_METHOD) => Err(OTHER_METHOD),
            (true, ..) => Err("a method, and a result or error"),
            (false, true, _) if !is_error => Ok(Kind::Response),
            (false, true, _) if null_result.is_none() => Err("both a result and an error"),
            (false, _, true) if !is_error => Err("a null error, and no result"),
            (false, _, true) if half_message => Err(HALF),
            (false, _, true) => Ok(Kind::ErrorResponse),
            (false, ..) if result_unknown && id.is_some() => Ok(Kind::Response),
            (false, ..) => Err("no method, result or error"),
        };
        message.kind = match kind {
            Ok(kind) => kind,
            Err(reason) => return Some(Err(reason)),
        };
        // A null beside the other one is not a member of the message, nor is a false result beside an error.
        let null = match message.kind {
            Kind::Response => null_error.inspect(|_| *error = None),
            Kind::ErrorResponse => null_result.inspect(|_| *result = None),
            Kind::Request | Kind::Notification => None,
        };
        // JSON-RPC 1.0 requires the null.
        let is_null = null.is_some() && !(message.kind == Kind::ErrorResponse && has_false_result);
        let is_required = is_null && matches!(version.as_deref(), None | Some("1.0"));
        problems.insert_if(null.is_some() && !is_required, Problem::BothResultAndError);
        members.others.extend(null.map(|span| (4, span)));
        problems.insert_if(members.seen & 1 == 0, Problem::MissingVersion);
        problems.insert_if(members.seen & 1 != 0 && version.as_deref() != Some("2.0"), Problem::WrongVersion);
        problems.insert_if(message.kind == Kind::Request && *id == Some(Id::Null), Problem::NullRequestId);
        problems.insert_if(scalar_params, Problem::ScalarParams);
        match error {
            None => {}
            Some(ErrorMember::Other(_)) => problems.insert(Problem::ErrorNotObject),
            Some(ErrorMember::Object(error)) => {
                problems.insert_if(error.code.is_none(), Problem::BadErrorCode);
                problems.insert_if(error.message.is_none(), Problem::BadErrorMessage);
            }
        }
        problems.insert_if(members.has_keyword, Problem::KeywordMember);
        message.extra = self.extra(cursor, &members.others, depth - 1, PartOf::Extra, payloads, problems)?;
        message.text = problems.contains(Problem::DuplicateMember).then(|| cursor.text_from(begin.at()));
        Some(Ok(()))
    }

    /// Reads an error object whose members are inside `depth` arrays and objects.
    fn error<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        depth: usize,
        payloads: &mut PayloadBuffer,
        problems: &mut Problems,
        half_message: &mut bool,
        of_message: &mut SeenMembers,
    ) -> Option<ErrorMember<'a>> {
        let mut error = ErrorObject::default();
        let ErrorObject { code, message, data, .. } = &mut error;
        let mut members = SeenMembers::default();
        cursor.each(b'{', |cursor| {
            cursor.peek()?;
            let start = cursor.at();
            let name = string(cursor)?;
            cursor.take(b':')?;
            let first = cursor.peek()?;
            match name.as_deref() {
                Some("code") => {
                    members.known(0);
                    *code = scan_integer(cursor, first)?;
                    if code.is_none() {
                        members.others.push((0, start..cursor.at()));
                    }
                }
                Some("message") => {
                    members.known(1);
                    *message = text(cursor, first)?;
                    *half_message = message.is_none() && first == b'"';
                    if message.is_none() {
                        members.others.push((1, start..cursor.at()));
                    }
                }
                Some("data") => {
                    members.known(2);
                    *data = Some(self.payload(cursor, depth, PartOf::Data, payloads, problems)?);
                }
                other => members.other(other, start, cursor)?,
            }
            Some(())
        })?;
        error.extra = self.extra(cursor, &members.others, depth - 1, PartOf::ErrorExtra, payloads, problems)?;
        of_message.is_repeated |= members.is_repeated;
        of_message.has_keyword |= members.has_keyword;
        Some(ErrorMember::Object(error.into()))
    }

    /// Reads a payload that is inside `depth` arrays and objects. Its text is set [later](Scanned::lend).
    fn payload<'a>(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
        of: PartOf,
        payloads: &mut PayloadBuffer,
        problems: &mut Problems,
    ) -> Option<Payload<'a>> {
        if self.payloads {
            return self.write(cursor, depth, of, payloads, problems);
        }
        let mut levels = Levels::at_depth(depth);
        cursor.value(&mut levels).ok().filter(|()| levels.are_few())?;
        Some(Payload::later(Canonical { interoperable: true }))
    }

    fn write<'a>(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
        of: PartOf,
        payloads: &mut PayloadBuffer,
        problems: &mut Problems,
    ) -> Option<Payload<'a>> {
        let (text, first, _) = payloads.lengths();
        let canonical = self.writer.write(cursor, depth, &mut payloads.text)?;
        problems.insert_evidence(self.writer.evidence());
        let members = self.writer.members().map(|members| payloads.members.extend(members));
        let members = members.map(|()| first..payloads.members.len());
        let text = text..payloads.text.len();
        payloads.parts.push(PayloadPart { of, element: self.element, text, members });
        Some(Payload::later(canonical))
    }

    /// Writes the object of the other members, if there are any.
    #[inline]
    fn extra<'a>(
        &mut self,
        cursor: &Cursor<'_>,
        others: &[(usize, Range<usize>)],
        depth: usize,
        of: PartOf,
        payloads: &mut PayloadBuffer,
        problems: &mut Problems,
    ) -> Option<Option<Box<Payload<'a>>>> {
        if others.is_empty() {
            return Some(None);
        }
        let mut object = mem::take(&mut self.others);
        object.clear();
        for (_, span) in others {
            object.push(if object.is_empty() { '{' } else { ',' });
            object.push_str(cursor.text_between(span.start, span.end)?);
        }
        object.push('}');
        let written = self.write(&mut Cursor::new(&object, 0), depth, of, payloads, problems);
        self.others = object;
        written.map(|payload| Some(payload.into()))
    }
}

/// The members of an object that occurred so far.
#[derive(Default)]
struct SeenMembers {
    /// The bits of known names.
    seen: u8,
    /// True if a known name occurred twice. The last one counts.
    is_repeated: bool,
    /// True if another member is named like a JSON-LD keyword.
    has_keyword: bool,
    /// The spans in the source of other members, and of known ones with a value of the wrong type, with the bit of the
    /// name.
    others: Vec<(usize, Range<usize>)>,
}

impl SeenMembers {
    #[inline]
    fn known(&mut self, bit: usize) {
        if self.seen & (1 << bit) != 0 {
            self.is_repeated = true;
            self.others.retain(|(other, _)| *other != bit);
        }
        self.seen |= 1 << bit;
    }

    /// Skips the value of a member that begins at `start`.
    fn other(&mut self, name: Option<&str>, start: usize, cursor: &mut Cursor<'_>) -> Option<()> {
        cursor.pass_canonical(0)?;
        self.others.push((usize::MAX, start..cursor.at()));
        self.has_keyword |= name.is_some_and(is_keyword_like);
        Some(())
    }
}

/// The reason if an id, method or error message has a lone surrogate.
pub(super) const HALF: &str = "half of a surrogate pair in id, method or error message";
pub(super) const OTHER_METHOD: &str = "a method that is not a string";
pub(super) const OTHER_ID: &str = "an id that is not a string, number or null";
pub(super) const LONG_ID: &str = "an id of more than 1,024 digits";

/// Returns the reason why a value is not a message that begins with `first` and is not an object.
fn not_an_object(first: u8) -> &'static str {
    match first {
        b'n' => "null, not an object",
        b't' | b'f' => "a boolean, not an object",
        b'"' => "a string, not an object",
        b'[' => "an array, not an object",
        _ => "a number, not an object",
    }
}

fn new_message<'a>() -> Single<'a> {
    Single::Message(Message::new(Kind::Notification))
}

/// Reads a string. The inner `None` is one with a lone surrogate.
#[inline]
fn string<'a>(cursor: &mut Cursor<'a>) -> Option<Option<Cow<'a, str>>> {
    let quote = cursor.clone();
    if let Some(plain) = cursor.plain_string() {
        return Some(Some(Cow::Borrowed(plain)));
    }
    *cursor = quote;
    escaped_string(cursor)
}

#[cold]
fn escaped_string<'a>(cursor: &mut Cursor<'a>) -> Option<Option<Cow<'a, str>>> {
    cursor.take(b'"')?;
    Some(Text::decode(cursor.rest_of_string().ok()?).to_cow())
}

/// Reads a value that begins with `first`. The inner `None` is one that is not a Unicode string.
#[inline]
fn text<'a>(cursor: &mut Cursor<'a>, first: u8) -> Option<Option<Cow<'a, str>>> {
    if first == b'"' { string(cursor) } else { cursor.pass_canonical(0).map(|()| None) }
}

/// Reads a value that begins with `first`. The inner `None` is one that is not an integer in any spelling, such as `1.0`.
fn scan_integer<'a>(cursor: &mut Cursor<'a>, first: u8) -> Option<Option<Cow<'a, str>>> {
    if !matches!(first, b'-' | b'0'..=b'9') {
        return cursor.pass_canonical(0).map(|()| None);
    }
    let spelling = cursor.number()?;
    let digits = spelling.strip_prefix('-').unwrap_or(spelling);
    if digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit()) && spelling != "-0" {
        return Some(Some(Cow::Borrowed(spelling)));
    }
    let decimal = Decimal::parse(spelling).filter(Decimal::is_integer);
    Some(decimal.and_then(|decimal| decimal.to_plain(MAX_ID_DIGITS)).map(Cow::Owned))
}

/// Reads an id that begins with `first`, or returns the reason why it is not one.
fn scan_id<'a>(cursor: &mut Cursor<'a>, first: u8) -> Option<Result<Id<'a>, &'static str>> {
    Some(match first {
        b'"' => string(cursor)?.map(Id::String).ok_or(HALF),
        b'n' => cursor.word().map(|_| Ok(Id::Null))?,
        b'-' | b'0'..=b'9' => Id::number(cursor.number()?).ok_or(LONG_ID),
        _ => {
            cursor.pass_canonical(0)?;
            Err(OTHER_ID)
        }
    })
}

impl<'a> Scanned<'a> {
    /// Gives the messages the text of their payloads, out of the payloads that they were scanned with.
    #[inline]
    pub fn lend(&mut self, payloads: &'a PayloadBuffer) {
        self.fill(payloads, |payload, text, members| (payload.text, payload.members) = (Cow::Borrowed(text), members));
    }

    /// Returns the content, with payloads of its own.
    pub(super) fn own(mut self, payloads: &PayloadBuffer) -> Content<'a> {
        self.fill(payloads, |payload, text, _| (payload.text, payload.members) = (Cow::Owned(text.to_owned()), None));
        self.content
    }

    #[inline]
    fn fill<'p>(
        &mut self,
        payloads: &'p PayloadBuffer,
        fill: impl Fn(&mut Payload<'a>, &'p str, Option<&'p [MemberSpan]>),
    ) {
        // A later member replaces the part of an earlier member with the same name.
        for part in payloads.parts.get(self.parts.clone()).unwrap_or_default() {
            let payload = self.content.elements_mut().get_mut(part.element).and_then(|single| single.part(part.of));
            if let Some(payload) = payload {
                let members = part.members.clone().and_then(|members| payloads.members.get(members));
                fill(payload, payloads.text.get(part.text.clone()).unwrap_or_default(), members);
            }
        }
    }
}

impl<'a> Single<'a> {
    #[inline]
    fn part(&mut self, of: PartOf) -> Option<&mut Payload<'a>> {
        let message = match (self, of) {
            (Self::Message(message), _) => message,
            (Self::Invalid(invalid), PartOf::Invalid) => return Some(&mut invalid.value),
            (Self::Invalid(_), _) => return None,
        };
        match (of, &mut message.error) {
            (PartOf::Params, _) => message.params.as_mut(),
            (PartOf::Result, _) => message.result.as_mut(),
            (PartOf::Extra, _) => message.extra.as_deref_mut(),
            (PartOf::Error, Some(ErrorMember::Other(payload))) => Some(payload),
            (PartOf::Data, Some(ErrorMember::Object(error))) => error.data.as_mut(),
            (PartOf::ErrorExtra, Some(ErrorMember::Object(error))) => error.extra.as_deref_mut(),
            _ => None,
        }
    }
}
