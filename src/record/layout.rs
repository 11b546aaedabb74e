//! Where a log has its messages, as its user says it: by pointers into objects, or by a regular expression for lines.

use super::clues::{named_direction, named_side};
use super::decoder::{Decoder, leading_blanks, trim_end};
use super::marked::{AROUND, Found, More, enveloped, marked_lines};
use super::object::{RawObject, elements, offset_in, scalar, unescape, unescaped};
use super::value::{Extent, value};
use super::{Direction, Record, Sender, Time, times};
use crate::json::pointer_name;
use regex::bytes::{Captures, Regex};
use std::borrow::Cow;
use std::sync::Arc;

/// Where a log has its messages, and the time, sender and session of each, as its user says it. Cheap to clone.
///
/// What is an object or an array there is a record, with or without `jsonrpc`; lines without one are text between messages.
///
/// ```
/// use rpcgraph::record::{Entry, Layout, Reader, ReaderOptions};
///
/// let log = "{\"ts\":1767607200,\"dir\":\"c2s\",\"payload\":{\"id\":1,\"method\":\"add\"}}\n";
/// let layout = Layout::envelope("message=/payload time=/ts sender=/dir")?;
/// let mut reader = Reader::new(log.as_bytes(), &ReaderOptions::default().with_layout(layout))?;
/// let Some(Entry::Record(record)) = reader.next_entry()? else { unreachable!() };
/// assert_eq!(&*record.bytes, b"{\"id\":1,\"method\":\"add\"}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Layout(Arc<Places>);

#[derive(Clone, Debug)]
struct Places {
    place: Place,
    words: Vec<(String, WordMeaning)>,
}

#[derive(Clone, Debug)]
enum Place {
    /// For each of [`PARTS`], the pointers to it.
    Envelope([Vec<Pointer>; 4]),
    /// With the name of the group of the session.
    Line(Regex, String),
}

/// The parts of an entry that a layout may have, as pointers and groups are called.
const PARTS: [&str; 4] = ["message", "time", "sender", "session"];

/// What a word about the sender means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordMeaning {
    /// That side sent the message.
    Sent(Sender),
    /// The message went that way.
    Went(Direction),
}

/// What tells the sessions of an input apart.
#[derive(Clone, Debug)]
pub struct SessionBy(By);

#[derive(Clone, Debug)]
enum By {
    Nothing,
    Value(Pointer),
    Group(String),
}

impl SessionBy {
    /// A JSON Pointer into the object on a record's line or into a wrapper around it, or `none`, or the name of a group in the expression of
    /// [`Layout::line_by`].
    ///
    /// # Errors
    ///
    /// If it begins as a pointer and is none.
    pub fn parse(text: &str) -> Result<Self, LayoutError> {
        Ok(Self(match text {
            "none" => By::Nothing,
            _ if text.starts_with('/') => By::Value(Pointer::parse(text.to_owned())?),
            group => By::Group(group.to_owned()),
        }))
    }

    /// The name of a group.
    pub fn group(&self) -> Option<&str> {
        match &self.0 {
            By::Group(name) => Some(name),
            By::Nothing | By::Value(_) => None,
        }
    }

    /// Key of the session of the record that begins at `start` of the input; `None`: the layout says it.
    pub(super) fn session(&self, input: &[u8], start: usize) -> Option<Option<String>> {
        match &self.0 {
            By::Nothing => Some(None),
            By::Group(_) => None,
            // The object around it, and else the message.
            By::Value(_) => Some(self.value(input).or_else(|| self.value(input.get(start..)?))),
        }
    }

    /// The value at the pointer in the object that a text begins with.
    pub(super) fn value(&self, text: &[u8]) -> Option<String> {
        let By::Value(pointer) = &self.0 else { return None };
        scalar(&pointer.find(&RawObject::first(text)?.0, text)?.1).filter(|key| !key.is_empty())
    }
}

/// Why a layout cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// Something else than a name, `=` and a pointer.
    #[error("`{0}` is not NAME=/POINTER: say where things are as in 'message=/payload time=/ts'")]
    Pair(String),
    /// A name that means nothing.
    #[error("there is no part `{0}`; the parts are message, time, sender and session")]
    Part(String),
    /// Not a JSON Pointer.
    #[error("`{0}` is not a JSON Pointer: it begins with `/`, and has `~0` for `~` and `~1` for `/` (RFC 6901)")]
    Pointer(String),
    /// It does not say where the message is.
    #[error("it is not said where the message is: add {0}")]
    NoMessage(&'static str),
    /// Not a regular expression.
    #[error(transparent)]
    Regex(#[from] regex::Error),
}

impl Layout {
    /// Messages in JSON lines, at these pointers: `message=/payload time=/ts sender=/dir session=/conn`. A name may stand
    /// more than once: each message is a record, and of the others, what comes first is used.
    ///
    /// Pointers go through strings that hold JSON as well.
    ///
    /// # Errors
    ///
    /// If a name or a pointer is wrong, or `message` is not there.
    pub fn envelope(pointers: &str) -> Result<Self, LayoutError> {
        let pair = |text: &str| {
            let (name, pointer) = text.split_once('=').ok_or_else(|| LayoutError::Pair(text.to_owned()))?;
            Ok::<_, LayoutError>((name.to_owned(), pointer.to_owned()))
        };
        Self::at_pointers(pointers.split_whitespace().map(pair).collect::<Result<Vec<_>, _>>()?)
    }

    /// The same, from pairs of a name and a pointer.
    ///
    /// # Errors
    ///
    /// As [`Layout::envelope`].
    pub fn at_pointers(pairs: impl IntoIterator<Item = (String, String)>) -> Result<Self, LayoutError> {
        let mut parts: [Vec<Pointer>; 4] = Default::default();
        for (name, pointer) in pairs {
            let place = PARTS.iter().position(|part| *part == name).and_then(|part| parts.get_mut(part));
            place.ok_or(LayoutError::Part(name))?.push(Pointer::parse(pointer)?);
        }
        match parts[0].is_empty() {
            true => Err(LayoutError::NoMessage("message=/POINTER")),
            false => Ok(Self::new(Place::Envelope(parts))),
        }
    }

    /// Messages in lines of text, where a regular expression has the group `message`, and maybe `time`, `sender` and
    /// `session`. What stands behind the value that the group begins with does not belong to the message; a group may also
    /// begin with a quote, or be the text of a string with escapes.
    ///
    /// # Errors
    ///
    /// If it is not a regular expression, or has other groups, or no `message`.
    pub fn line(regex: &str) -> Result<Self, LayoutError> {
        Self::line_by(regex, PARTS[3])
    }

    /// The same with another name for the group of the session.
    ///
    /// # Errors
    ///
    /// As [`Layout::line`].
    pub fn line_by(regex: &str, session: &str) -> Result<Self, LayoutError> {
        let regex = Regex::new(regex)?;
        let is_part = |name: &&str| PARTS.contains(name) || *name == session;
        if let Some(other) = regex.capture_names().flatten().find(|name| !is_part(name)) {
            return Err(LayoutError::Part(other.to_owned()));
        }
        match regex.capture_names().flatten().any(|name| name == PARTS[0]) {
            true => Ok(Self::new(Place::Line(regex, session.to_owned()))),
            false => Err(LayoutError::NoMessage("a group (?<message>…)")),
        }
    }

    fn new(place: Place) -> Self {
        Self(Arc::new(Places { place, words: Vec::new() }))
    }

    /// A further word for a side or a direction, in any case.
    #[must_use]
    pub fn with_word(mut self, word: impl Into<String>, meaning: WordMeaning) -> Self {
        Arc::make_mut(&mut self.0).words.push((word.into(), meaning));
        self
    }

    /// A decoder that keeps records of up to `limit` bytes.
    pub(super) fn decoder(&self, limit: usize) -> Box<dyn Decoder> {
        let layout = self.0.clone();
        match &self.0.place {
            Place::Envelope(_) => enveloped(limit, None, move |object, line, more| layout.open(object, line, more)),
            Place::Line(..) => marked_lines(limit, AROUND, move |line, more| layout.read(line, more)),
        }
    }
}

/// What is said around a message.
struct Said {
    time: Option<Time>,
    meaning: Option<WordMeaning>,
    session: Option<String>,
}

impl Said {
    fn of<'a>(&self, message: Cow<'a, [u8]>) -> Record<'a> {
        let (sender, direction) = match self.meaning {
            Some(WordMeaning::Sent(sender)) => (Some(sender), None),
            Some(WordMeaning::Went(direction)) => (None, Some(direction)),
            None => (None, None),
        };
        let session = self.session.clone().filter(|key| !key.is_empty()).map(Cow::Owned);
        Record { time: self.time, sender, direction, session, ..Record::new(message) }
    }
}

impl Places {
    /// The messages of an object, the first of them apart.
    fn open<'a>(&self, object: &RawObject<'a>, line: &'a [u8], more: &mut More) -> Option<Found<'a>> {
        let Place::Envelope([messages, times, senders, sessions]) = &self.place else { return None };
        let mut found = messages.iter().filter_map(|pointer| {
            let (start, value) = pointer.find(object, line)?;
            let in_string = matches!(value, Cow::Owned(_)) || value.starts_with(b"\"");
            Some((start + usize::from(in_string), inside(value, message)?))
        });
        let (first, others) = (found.next()?, found.collect::<Vec<_>>());
        let text = |pointer: &Pointer| pointer.find(object, line).and_then(|(_, value)| scalar(&value));
        // Of a call and its answer, one cannot have been sent by whoever sent the other.
        let senders = if others.is_empty() { &senders[..] } else { &[] };
        let said = Said {
            time: times.iter().filter_map(text).find_map(|text| time(&text)),
            meaning: senders.iter().filter_map(text).find_map(|text| self.meaning(&text)),
            session: sessions.iter().find_map(text),
        };
        let others = others.into_iter().map(|(start, message)| (start, said.of(message).into_owned().into()));
        more.entries.extend(others);
        Some((first.0, said.of(first.1).into()))
    }

    fn meaning(&self, word: &str) -> Option<WordMeaning> {
        let own = self.words.iter().find(|(own, _)| own.eq_ignore_ascii_case(word.trim())).map(|(_, meaning)| *meaning);
        own.or_else(|| named_meaning(word))
    }

    /// The messages of a line, the first of them apart.
    fn read<'a>(&self, line: &'a [u8], more: &mut More) -> Option<Found<'a>> {
        let Place::Line(regex, session) = &self.place else { return None };
        let mut found = regex.captures_iter(line).filter_map(|captures| self.captured(line, &captures, session));
        let first = found.next()?;
        more.entries.extend(found.map(|(start, entry)| (start, entry.into_owned())));
        Some(first)
    }

    /// The message in what the expression found on a line.
    fn captured<'a>(&self, line: &'a [u8], captures: &Captures<'a>, session: &str) -> Option<Found<'a>> {
        let message = message(captures.name("message")?.as_bytes())?;
        let text = |name: &str| Some(String::from_utf8_lossy(captures.name(name)?.as_bytes()).into_owned());
        let said = Said {
            time: text("time").and_then(|text| time(&text)),
            meaning: text("sender").and_then(|word| self.meaning(&word)),
            session: text(session),
        };
        let start = match &message {
            Cow::Borrowed(part) => offset_in(line, part),
            Cow::Owned(_) => captures.name("message")?.start(),
        };
        Some((start, said.of(message).into()))
    }
}

/// What `find` finds in a text, which may be one of its own.
fn inside<'a>(text: Cow<'a, [u8]>, find: impl Fn(&[u8]) -> Option<Cow<'_, [u8]>>) -> Option<Cow<'a, [u8]>> {
    match text {
        Cow::Borrowed(text) => find(text),
        Cow::Owned(text) => find(&text).map(|found| found.into_owned().into()),
    }
}

/// The object or array that a text, or the text of a string, begins with.
fn message(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    let text = &text[leading_blanks(text)..];
    let members = || &text[text.iter().take_while(|byte| b"{[ ".contains(byte)).count()..];
    match text.first()? {
        b'"' => inside(unescape(text)?, |text| in_braces(text).map(Cow::Borrowed)),
        b'{' | b'[' if members().starts_with(b"\\\"") => Some(unescaped(text)),
        _ => in_braces(text).map(Cow::Borrowed),
    }
}

fn in_braces(text: &[u8]) -> Option<&[u8]> {
    let text = &text[leading_blanks(text)..];
    match (text.first()?, value(text)) {
        (b'{' | b'[', Extent::Whole(length)) => Some(&text[..length]),
        (b'{' | b'[', _) => Some(trim_end(text)),
        _ => None,
    }
}

/// What a word means without being told.
pub(super) fn named_meaning(word: &str) -> Option<WordMeaning> {
    named_side(word).map(WordMeaning::Sent).or_else(|| named_direction(word).map(WordMeaning::Went))
}

pub(super) fn time(text: &str) -> Option<Time> {
    let text = text.trim().as_bytes();
    times::any(text).or_else(|| times::first(text))
}

/// A JSON Pointer (RFC 6901): its tokens.
#[derive(Clone, Debug)]
struct Pointer(Vec<String>);

impl Pointer {
    fn parse(text: String) -> Result<Self, LayoutError> {
        let mut tokens = text.split('/');
        let bad = |token: &str| token.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1']));
        if tokens.next() != Some("") || tokens.clone().any(bad) {
            return Err(LayoutError::Pointer(text));
        }
        Ok(Self(tokens.map(pointer_name).collect()))
    }

    /// The value there, and where it begins in the line, or the string that it is in.
    fn find<'a>(&self, object: &RawObject<'a>, line: &'a [u8]) -> Option<(usize, Cow<'a, [u8]>)> {
        let Some((first, rest)) = self.0.split_first() else { return Some((0, line.into())) };
        let mut start = offset_in(line, object.get(first)?);
        let mut found = Cow::Borrowed(object.get(first)?);
        for token in rest {
            found = inside(found, |value| member(value, token))?;
            if let Cow::Borrowed(value) = found {
                start = offset_in(line, value);
            }
        }
        Some((start, found))
    }
}

/// The member or element of that name in a value, or in the JSON that a string holds.
fn member<'a>(value: &'a [u8], name: &str) -> Option<Cow<'a, [u8]>> {
    match value.first()? {
        b'{' => RawObject::parse(value)?.get(name).map(Cow::Borrowed),
        b'[' => elements(value).nth(name.parse().ok()?).map(Cow::Borrowed),
        b'"' => inside(unescape(value)?, |text| member(text, name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Entry;
    use super::super::decoder::tests::{entries, texts};
    use super::*;

    fn found(layout: &Layout, log: &str) -> (Vec<String>, Vec<usize>) {
        let found = entries(|| layout.decoder(1000), log.as_bytes());
        (texts(&found), found.iter().map(|(start, _)| *start).collect())
    }

    fn first(layout: &Layout, log: &str) -> Record<'static> {
        match entries(|| layout.decoder(1000), log.as_bytes()).remove(0).1 {
            Entry::Record(record) => record,
            Entry::LogLine(line) => panic!("{line:?}"),
        }
    }

    #[test]
    fn messages_in_envelopes() {
        let layout = Layout::envelope("message=/a/b message=/c").unwrap();
        let table = [
            (r#"{"a":{"b":{"x":1}}}"#, vec![r#"{"x":1}"#], vec![10]),
            (r#"{"a":{"b":"{\"x\":1}"}}"#, vec![r#"{"x":1}"#], vec![11]),
            (r#"{"a":"{\"b\":{\"x\":1}}"}"#, vec![r#"{"x":1}"#], vec![6]),
            (r#"{"a":{"b":[1]},"c":{}}"#, vec!["[1]", "{}"], vec![10, 19]),
            (r#"{"a":{"b":"text"},"c":null}"#, vec![r##"# {"a":{"b":"text"},"c":null}"##], vec![0]),
            ("started\n{\"b\":1}", vec!["# started", "# {\"b\":1}"], vec![0, 8]),
            (r#"{"jsonrpc":"2.0"}"#, vec![r#"{"jsonrpc":"2.0"}"#], vec![0]),
            (r#"{"c":{"x":"cut"#, vec![r#"{"x":"cut"#], vec![5]),
        ];
        for (log, expected, starts) in table {
            let expected: Vec<_> = expected.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(found(&layout, log), (expected, starts), "{log}");
        }
        let whole = Layout::envelope("message= time=/_meta/ts").unwrap();
        let record = first(&whole, r#"{"id":1,"_meta":{"ts":"2026-01-05T10:00:00Z"}}"#);
        assert_eq!((record.length, record.time), (46, times::date_time(b"2026-01-05T10:00:00Z")));
    }

    #[test]
    fn messages_in_lines() {
        let regex = r"^(?:(?<time>\S+) )?(?:<(?<sender>\w+)> )?(?:#(?<session>\d+) )?.*?=(?<message>.*)$";
        let layout = Layout::line(regex).unwrap();
        let table = [
            ("rpc={\"x\":1} +1ms", vec!["{\"x\":1}"], vec![4]),
            ("rpc=\"{\\\"x\\\":1}\"", vec!["{\"x\":1}"], vec![4]),
            ("rpc= [ 1]", vec!["[ 1]"], vec![5]),
            ("rpc=text", vec!["# rpc=text"], vec![0]),
            ("text\n\nrpc={\"cut", vec!["# text", "{\"cut"], vec![0, 10]),
        ];
        for (log, expected, starts) in table {
            let expected: Vec<_> = expected.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(found(&layout, log), (expected, starts), "{log}");
        }
        let record = first(&layout, "2026-01-05T10:00:00Z <s2c> #7 m={}");
        assert_eq!((record.sender, record.session.as_deref()), (Some(Sender::Server), Some("7")));
        assert_eq!(record.time, times::date_time(b"2026-01-05T10:00:00Z"));
        let escaped = Layout::line(r#"m="(?<message>[^ ]*)""#).unwrap();
        let log = r#"m="{\"x\":1}" m="[{\"y\":\"\\\"\"}]""#;
        assert_eq!(found(&escaped, log), (vec!["{\"x\":1}".to_owned(), "[{\"y\":\"\\\"\"}]".to_owned()], vec![3, 17]));
    }

    #[test]
    fn words_and_values_around() {
        let layout = Layout::envelope("message=/m sender=/s time=/t time=/u session=/k").unwrap();
        let layout = layout.with_word("App", WordMeaning::Sent(Sender::Client));
        let layout = layout.with_word("up", WordMeaning::Went(Direction::Out));
        let read = |members: &str| first(&layout, &format!("{{{members},\"m\":{{}}}}"));
        for (members, sender, direction) in [
            (r#""s":"app""#, Some(Sender::Client), None),
            (r#""s":"UP""#, None, Some(Direction::Out)),
            (r#""s":"server -> client""#, Some(Sender::Server), None),
            (r#""s":"<""#, None, Some(Direction::In)),
            (r#""s":"x""#, None, None),
            (r#""s":{}"#, None, None),
        ] {
            let record = read(members);
            assert_eq!((record.sender, record.direction), (sender, direction), "{members}");
        }
        assert_eq!(read(r#""t":"noon","u":1767607200"#).time, times::date_time(b"2026-01-05T10:00:00Z"));
        for (members, session) in [(r#""k":7"#, Some("7")), (r#""k":"a\nb""#, Some("a\nb")), (r#""k":null"#, None)] {
            assert_eq!(read(members).session.as_deref(), session, "{members}");
        }
    }

    #[test]
    fn what_cannot_be_used() {
        for (text, expected) in [
            ("message", "is not NAME=/POINTER"),
            ("msg=/a", "there is no part `msg`"),
            ("message=a", "`a` is not a JSON Pointer"),
            ("message=/a~2", "`/a~2` is not a JSON Pointer"),
            ("time=/a", "add message=/POINTER"),
            ("", "add message=/POINTER"),
        ] {
            let error = Layout::envelope(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        for (text, expected) in [("(", "regex parse error"), ("(?<a>x)", "no part `a`"), ("x", "a group (?<message>…)")]
        {
            let error = Layout::line(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
