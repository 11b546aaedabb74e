//! Finds values in a log that may be messages.

use super::super::Time;
use super::super::certainty::{Certainty, has_members_of_messages, names_member};
use super::super::colours::without_colours;
use super::super::decoder::{leading_blanks, trim_end};
use super::super::object::{RawObject, elements, objects, scalar, unescape};
use super::super::rules::{ArrayPlace, time};
use super::super::spelling::{HEADER, SpelledValue, Spelling, has_shape, may_continue};
use super::super::surroundings::named_side;
use super::super::value::{Extent, value as value_of};
use super::super::{Sender, times};
use super::front::{Token, meaning, tokens};
use super::print::POINTERS;
use super::{is_fact, is_time_member};
use crate::json::{pointer_name, pointer_token};
use memchr::{memchr, memmem};
use serde_json::Value;
use std::cell::OnceCell;
use std::ops::Range;

/// A value that may be a message, and the facts around it.
pub(super) struct Candidate {
    /// The number of its line, from 0, and the line.
    pub line: usize,
    pub front: Vec<Token>,
    /// The text after the value, up to the end of the line; `None` if another value follows on the line.
    pub behind: Option<String>,
    pub spelling: Spelling,
    /// The pointer to the text that holds the value, in the object that is the line.
    pub within: Option<String>,
    /// The pointer to the message in the value.
    pub pointer: String,
    pub message: Vec<u8>,
    /// The scalars around the message, by their pointers in the object that is the line or the value.
    pub members: Vec<(String, String)>,
    pub is_broken: bool,
    pub certainty: Certainty,
    /// True if text touches the value, as in source code and in some logs.
    pub is_glued: bool,
    /// True if no text stands on the line, but perhaps other values.
    pub is_alone: bool,
    parsed: OnceCell<Option<Value>>,
    calls: OnceCell<Vec<Call>>,
}

/// The id of a request or an answer, and the method of a request.
pub(super) type Call = (Vec<u8>, Option<String>);

/// A line of a log and its candidates.
pub(super) struct ScannedLine<'a> {
    pub text: &'a [u8],
    pub candidates: Range<usize>,
}

#[derive(Default)]
pub(super) struct Scan<'a> {
    pub lines: Vec<ScannedLine<'a>>,
    pub candidates: Vec<Candidate>,
    /// The number of searches for the end of a value over several lines that failed.
    failed: usize,
}

/// The depth in members to which messages are searched for.
const DEEP: usize = 5;
/// The depth to which objects beside a message are searched for the name of its connection.
const LABELS: usize = 3;
/// The maximum number of scalars that are kept of one object, and the maximum size of each.
const MEMBERS: usize = 40;
const SCALAR: usize = 256;
/// The maximum number of failed searches for values over several lines.
const FAILED: usize = 32;
/// The maximum number of values without an end on a line: each is read up to the end of the line.
const BROKEN: usize = 64;
/// The maximum size of the text before a message.
const FRONT: usize = 2048;

/// The place of the values in a text.
#[derive(Clone, Default)]
struct Around {
    within: Option<String>,
    members: Vec<(String, String)>,
}

impl<'a> Scan<'a> {
    pub fn of(text: &'a [u8]) -> Self {
        let (mut scan, mut at) = (Self::default(), 0);
        while at < text.len() {
            let end = memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
            let start = at + leading_blanks(&text[at..end]);
            let line = trim_end(&text[start..end]);
            let first = scan.candidates.len();
            let used = scan.text(line, &text[start..], &Around::default(), 0);
            scan.lines.push(ScannedLine { text: line, candidates: first..scan.candidates.len() });
            at = if used > line.len() { start + used } else { end + 1 };
        }
        split_numbered_sides(&mut scan.candidates);
        scan
    }

    /// Scans a line of text, with the text below it. Returns the number of bytes up to the end of the last candidate.
    fn text(&mut self, line: &[u8], below: &[u8], around: &Around, nested: usize) -> usize {
        let opens = may_continue(line);
        if line.is_empty() || !(opens || names_any(line)) || is_comment(line) {
            return 0;
        }
        let (mut at, mut front, first, mut broken) = (0, 0, self.candidates.len(), 0);
        while at < line.len() && broken < BROKEN {
            let before = &line[..at];
            let is_coloured = before.ends_with(b"m") && line[0] == 0x1b;
            let before = if is_coloured { without_colours(&before[at.saturating_sub(16)..]) } else { before.into() };
            let is_last = opens && (at + 1 == line.len() || line[at..] == *b"%{");
            let Some(spelling) = Spelling::shown(&before, if is_last { &below[at..] } else { &line[at..] }) else {
                at += 1;
                continue;
            };
            let mut found = spelling.decode(&line[at..]);
            // The value may continue on the lines below.
            if opens
                && !matches!(spelling, Spelling::String | Spelling::Csv | Spelling::Hex)
                && self.failed < FAILED
                && found.as_ref().is_none_or(|found| found.is_broken)
            {
                let whole = match spelling.extent(&below[at..], true) {
                    Extent::Whole(_) => spelling.decode(&below[at..]),
                    _ => None,
                };
                self.failed += usize::from(whole.is_none());
                found = whole.or(found);
            }
            broken += usize::from(found.as_ref().is_some_and(|found| found.is_broken));
            // Rust's `{:?}` of a request names the type of its parameters in place of its method.
            let is_message = |found: &SpelledValue<'_>| match found.is_broken {
                true => names_member(&found.json),
                false => !is_typed(&found.json),
            };
            let Some(found) = found.filter(is_message) else {
                at += 1;
                continue;
            };
            let before = self.candidates.len();
            let template = Candidate {
                line: self.lines.len(),
                front: tokens(&String::from_utf8_lossy(line[front..at.min(front + FRONT)].trim_ascii_start())),
                behind: None,
                spelling,
                within: around.within.clone(),
                pointer: String::new(),
                message: Vec::new(),
                members: around.members.clone(),
                is_broken: found.is_broken,
                certainty: Certainty::No,
                // Commas may separate messages.
                is_glued: is_glued(&line[..at], spelling)
                    && !(front > 0 && line[front..at].iter().all(|byte| b" \t,".contains(byte))),
                is_alone: around.within.is_none()
                    && line[front..at].trim_ascii().is_empty()
                    && line.get(at + found.used..).is_none_or(is_value_or_end),
                parsed: OnceCell::new(),
                calls: OnceCell::new(),
            };
            self.value(&found.json, &template, nested);
            let is_whole = !found.is_broken;
            if self.candidates.len() > before {
                at += found.used;
                front = at;
            } else {
                at += if is_whole && spelling == Spelling::Json { found.used } else { 1 };
            }
        }
        if front == 0 || self.candidates.len() == first {
            return 0;
        }
        let behind = if front < line.len() { &line[front..] } else { b"" };
        let behind = String::from_utf8_lossy(behind.trim_ascii()).into_owned();
        let last = self.candidates.last().map(|last| last.front.clone());
        for candidate in self.candidates[first..].iter_mut().rev().take_while(|one| Some(&one.front) == last.as_ref()) {
            candidate.behind = Some(behind.clone());
            candidate.is_glued |=
                candidate.spelling != Spelling::Csv && line.get(front).is_some_and(|next| !b" \t\x1b".contains(next));
        }
        front
    }

    /// Adds the messages in a value.
    fn value(&mut self, json: &[u8], template: &Candidate, nested: usize) {
        let certainty = Certainty::of(json);
        let is_possible = || certainty != Certainty::No || has_shape(json);
        // Of the messages in an array, some may answer others: then they were not sent together.
        if (certainty == Certainty::Sure || is_possible() && !is_access(json)) && !has_exchange(json) {
            let message = json.to_vec();
            self.candidates.push(Candidate { certainty, message, ..template.copy() });
            return;
        }
        match json.first() {
            Some(b'{') => self.object(json, template, nested),
            Some(b'[') => self.array(json, template, nested),
            _ => {}
        }
    }

    fn object(&mut self, json: &[u8], template: &Candidate, nested: usize) {
        let Some(object) = RawObject::parse(json) else { return };
        // The rest of a message may be cut off.
        if !object.is_whole() && !object.is_empty() && has_members_of_messages(&object) {
            return;
        }
        let mut template = template.copy();
        let scalars = object.members().filter_map(|(name, value)| {
            let text = scalar(value).filter(|text| text.len() <= SCALAR)?;
            Some((format!("{}/{}", template.pointer, token(name)), text))
        });
        let scalars: Vec<_> = scalars.take(MEMBERS).collect();
        template.members.extend(scalars);
        let mut labels = Vec::new();
        add_labels(&mut labels, &object, &template.pointer, LABELS);
        template.members.extend(labels);
        for (outer, inner, name) in [("event", "duration", "event/duration"), ("instant", "epochSecond", "instant")] {
            let text = object.object(outer).and_then(|object| scalar(object.get(inner)?));
            template.members.extend(text.map(|text| (format!("{}/{name}", template.pointer), text)));
        }
        let is_name = |part: &&str| part.parse::<usize>().is_err();
        if template.pointer.split('/').skip(1).filter(is_name).count() >= DEEP {
            return;
        }
        for (name, value) in object.members() {
            self.part(value, &token(name), &template, nested);
        }
    }

    fn array(&mut self, json: &[u8], template: &Candidate, nested: usize) {
        if template.pointer.split('/').count() > 2 * DEEP {
            return;
        }
        let mut template = template.copy();
        // A pair of a time and a text.
        let time = elements(json).next().and_then(scalar).filter(|text| times::is_time(text.as_bytes()));
        template.members.extend(time.map(|text| (format!("{}/0", template.pointer), text)));
        for (index, element) in elements(json).enumerate().take(MEMBERS) {
            self.part(element, &index.to_string(), &template, nested);
        }
    }

    /// Adds the messages in a member of an object, or in an element of an array.
    fn part(&mut self, value: &[u8], name: &str, template: &Candidate, nested: usize) {
        let inner = Candidate { pointer: format!("{}/{name}", template.pointer), ..template.copy() };
        match value.first() {
            Some(b'[') if !has_shape(value) || Certainty::of(value) != Certainty::Sure => {
                self.array(value, &inner, nested);
            }
            Some(b'{' | b'[') => self.value(value, &inner, nested),
            Some(b'"') if names_any(value) => {
                let Some(text) = unescape(value) else { return };
                let text = text.trim_ascii();
                match text.first() {
                    Some(b'{' | b'[') if matches!(value_of(text), Extent::Whole(length) if length == text.len()) => {
                        self.value(text, &inner, nested);
                    }
                    _ if nested == 0 && template.within.is_none() => {
                        let around = Around { within: Some(inner.pointer.clone()), members: template.members.clone() };
                        let line = &text[..memchr(b'\n', text).unwrap_or(text.len())];
                        self.text(line, text, &around, 1);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Returns the array whose elements hold all messages, if they are in one document, or if the array is long.
    pub fn array_of_messages(&self) -> Option<ArrayPlace> {
        let paths: Vec<Vec<String>> = self.candidates.iter().map(Candidate::path).collect();
        let is_alone = self.candidates.iter().all(|one| one.front.is_empty() || one.within.is_some());
        let first = paths.first().filter(|_| is_alone)?;
        let index = |path: &[String], at: usize| path.get(at)?.parse::<usize>().ok();
        let names = |path: &[String], at: usize| -> Vec<String> {
            let parts = path[..at].iter();
            parts.filter(|part| part.parse::<usize>().is_err()).cloned().collect()
        };
        let place = (0..first.len())
            .rev()
            .find(|at| index(first, *at).is_some() && paths.iter().any(|path| index(path, *at) != index(first, *at)))?;
        let leading = names(first, place);
        let is_in_array = |path: &Vec<String>| index(path, place).is_some() && names(path, place) == leading;
        let is_one = self.candidates.iter().all(|one| one.line == self.candidates[0].line);
        let is_long = || paths.iter().any(|path| index(path, place) > Some(POINTERS));
        let array = || leading.last().cloned().map_or(ArrayPlace::ByItself, ArrayPlace::Member);
        (paths.iter().all(is_in_array) && (is_one || is_long())).then(array)
    }
}

/// Splits words such as `client0` and `server0` into the side and the number of its connection, if both sides have numbers and
/// nothing else states a direction.
fn split_numbered_sides(candidates: &mut [Candidate]) {
    let numbered = |token: &Token| {
        let Token::Word(word) = token else { return None };
        let (side, number) = word.split_at(word.trim_end_matches(|c: char| c.is_ascii_digit()).len());
        let sender = named_side(side).filter(|_| !number.is_empty())?;
        Some((sender, [side, number].map(|part| Token::Word(part.to_owned()))))
    };
    let tokens = || candidates.iter().flat_map(|candidate| &candidate.front);
    let has = |side: Sender| tokens().filter_map(numbered).any(|(sender, _)| sender == side);
    let is_directed = || candidates.iter().any(|candidate| meaning(&candidate.front, true).is_some());
    if !has(Sender::Client) || !has(Sender::Server) || is_directed() {
        return;
    }
    for candidate in candidates {
        let parts = |token: Token| numbered(&token).map_or_else(|| vec![token], |(_, parts)| parts.into());
        candidate.front = std::mem::take(&mut candidate.front).into_iter().flat_map(parts).collect();
    }
}

/// Adds the scalars of the objects in an object that may name its writer, as in `"stream":{"pod":"a"}`, to `depth`.
fn add_labels(labels: &mut Vec<(String, String)>, object: &RawObject<'_>, pointer: &str, depth: usize) {
    for (outer, value) in object.members() {
        let Some(inner) =
            RawObject::parse(value).filter(|_| Certainty::of(value) == Certainty::No && !has_shape(value))
        else {
            continue;
        };
        let pointer = format!("{pointer}/{}", token(outer));
        let label = |(name, value): (&[u8], &[u8])| {
            let is_key = value.first().is_some_and(|first| *first == b'"' || first.is_ascii_digit());
            let text = scalar(value).filter(|text| text.len() <= SCALAR && is_key)?;
            let is_fact = is_fact(&String::from_utf8_lossy(name));
            (!is_fact).then(|| (format!("{pointer}/{}", token(name)), text))
        };
        labels.extend(inner.members().filter_map(label).take(MEMBERS.saturating_sub(labels.len())));
        if depth > 1 {
            add_labels(labels, &inner, &pointer, depth - 1);
        }
    }
}

/// True for an object whose version of JSON-RPC is the name of a type.
fn is_typed(json: &[u8]) -> bool {
    RawObject::parse(json).is_some_and(|object| object.get("jsonrpc") == Some(b"\"JsonRpcVersion2_0\""))
}

/// True if one object of an array answers another.
fn has_exchange(json: &[u8]) -> bool {
    let mut asked = Vec::new();
    json.starts_with(b"[")
        && objects(json).any(|object| {
            let Some(id) = object.get("id").filter(|id| *id != b"null") else { return false };
            match object.has("method") {
                true => asked.push(id),
                false => return asked.contains(&id),
            }
            false
        })
}

impl Candidate {
    /// Returns a candidate in the same surroundings.
    fn copy(&self) -> Self {
        Self {
            front: self.front.clone(),
            behind: self.behind.clone(),
            within: self.within.clone(),
            pointer: self.pointer.clone(),
            message: Vec::new(),
            members: self.members.clone(),
            parsed: OnceCell::new(),
            calls: OnceCell::new(),
            ..*self
        }
    }

    /// Returns the names and indexes that lead to the message.
    fn path(&self) -> Vec<String> {
        let whole = self.within.iter().chain([&self.pointer]);
        whole.flat_map(|pointer| pointer.split('/').skip(1)).map(|part| pointer_name(part).into_owned()).collect()
    }

    /// The time in the members around the message, or before it.
    pub fn time(&self) -> Option<Time> {
        let member = self.members.iter().rev().find(|(pointer, _)| is_time_member(pointer)).map(|(_, text)| &**text);
        let word = || self.front.iter().find(|token| matches!(token, Token::Time(_))).map(Token::text);
        time(member.or_else(word)?)
    }

    /// The requests and answers.
    pub fn calls(&self) -> &[Call] {
        let call = |object: RawObject<'_>| {
            let id = object.get("id").filter(|id| *id != b"null")?.to_vec();
            Some((id, object.string("method").map(|method| method.into_owned())))
        };
        self.calls.get_or_init(|| objects(&self.message).filter_map(call).collect())
    }

    /// The message without the members that are null, which some programs write where others write nothing.
    pub fn value(&self) -> Option<&Value> {
        let parsed = || {
            let mut value = serde_json::from_slice(&self.message).ok()?;
            remove_nulls(&mut value);
            Some(value)
        };
        self.parsed.get_or_init(parsed).as_ref()
    }

    /// True if another message has the same value. A spelling without quotes loses types and the ends of texts, so letters and
    /// digits count there.
    pub fn equals(&self, other: &Self) -> bool {
        let letters = |candidate: &Self| {
            let mut letters = candidate.value()?.to_string().into_bytes();
            letters.retain(u8::is_ascii_alphanumeric);
            letters.sort_unstable();
            Some(letters)
        };
        self.value().is_some()
            && (self.value() == other.value() || self.spelling != other.spelling && letters(self) == letters(other))
    }

    /// True if another message has the same kind, id and method.
    pub fn is_alike(&self, other: &Self) -> bool {
        let outline = |candidate: &Self| -> Vec<_> {
            let outline = |object: RawObject<'_>| {
                (["id", "method"].map(|name| object.get(name).and_then(scalar)), object.has("error"))
            };
            objects(&candidate.message).map(outline).collect()
        };
        outline(self) == outline(other)
    }
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, value| !value.is_null());
            members.values_mut().for_each(remove_nulls);
        }
        Value::Array(elements) => elements.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

fn token(name: &[u8]) -> String {
    pointer_token(&String::from_utf8_lossy(name)).to_string()
}

/// True if a text has one of the words that messages have, escaped letters, or the bracket of an object in hexadecimal.
fn names_any(text: &[u8]) -> bool {
    [&b"jsonrpc"[..], b"method", b"result", b"error", b"\\u00", b"7b", b"7B"]
        .iter()
        .any(|word| memmem::find(text, word).is_some())
}

/// True if text in front touches a value: `send(` or `"request": `, but neither `recv: ` nor `payload=`.
fn is_glued(front: &[u8], spelling: Spelling) -> bool {
    let text = without_colours(front);
    let trimmed = text.trim_ascii_end();
    match (text.last(), trimmed.last()) {
        (_, None) => false,
        // A comma separates fields.
        _ if spelling == Spelling::Csv => false,
        (_, Some(b':')) => trimmed.ends_with(b"\":") || trimmed.ends_with(b"':"),
        (Some(b'\''), _) => !text.ends_with(b"='"),
        (_, Some(b'(' | b'[' | b'{' | b',' | b'"' | b'\'')) => true,
        (Some(last), _) => {
            let is_plain = last.is_ascii_whitespace() || !last.is_ascii() || b"]>)|=".contains(last);
            !is_plain || spelling == Spelling::String && *last != b'='
        }
        (None, _) => false,
    }
}

/// True if another value follows, or nothing.
fn is_value_or_end(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    rest.first().is_none_or(|next| b"{[".contains(next)) || rest.starts_with(HEADER)
}

fn is_comment(line: &[u8]) -> bool {
    // A number may follow the sign.
    let is_number = line.starts_with(b"#") && line.get(1).is_some_and(u8::is_ascii_digit);
    // In a list, `* ` stands before each message.
    let is_bullet = line.starts_with(b"* {");
    !is_number && !is_bullet && [&b"//"[..], b"#", b"*"].iter().any(|comment| line.starts_with(comment))
}

/// True for an object whose method is one of HTTP.
fn is_access(json: &[u8]) -> bool {
    const METHODS: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"];
    RawObject::parse(json)
        .is_some_and(|object| object.string("method").is_some_and(|method| METHODS.contains(&&*method)))
}
