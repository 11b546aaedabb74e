//! Rules: how a format's file turns a piece of a log, a line or an element of an array, into entries.

mod line_reader;
mod line_regex;

use self::line_reader::RuleReader;
pub(super) use self::line_regex::LineRegex;
use super::decoder::{Decoder, leading_blanks, trim_end};
use super::elements::{object_array, placed_elements};
use super::har_entry::{answered_ids, ids};
use super::lines::{Extras, FoundEntry, LineFormat as _, LineSplitter, with_others};
use super::object::{RawObject, scalar, unescape, unescaped};
use super::pointer::{Pointer, inside};
use super::spelling::{Spelling, has_shape, is_bare_answer};
use super::surroundings::{instant, named_direction, named_side};
use super::value::{Extent, value};
use super::{Direction, Entry, Flags, Http, HttpExchange, HttpOutcome, LogLine, Record, Sender, Time, times, vscode};
use memchr::memmem;
use oxsdatatypes::Decimal;
use regex::bytes::{Captures, Regex};
use std::borrow::Cow;
use std::sync::Arc;

/// Reads the pieces of one format.
#[derive(Clone, Debug, Default)]
pub(super) struct FormatRules {
    /// The first rule that fits a piece reads it.
    pub rules: Vec<FormatRule>,
    /// The array whose elements are the pieces; otherwise they are lines.
    pub array: Option<ArrayPlace>,
    /// The text that the log writes after a message, and the text that it writes for a part that it leaves out.
    pub tail: Option<Regex>,
    pub truncated: Option<Regex>,
    pub detects_wrappers: bool,
    /// True if each line is a message: a line with JSON that cannot be parsed is a malformed record, not text.
    pub is_transport: bool,
}

/// An array of pieces.
#[derive(Clone, Debug)]
pub(super) enum ArrayPlace {
    ByItself,
    /// The value of a member of this name, in an object.
    Member(String),
}

impl ArrayPlace {
    /// The name of the member.
    pub fn member(&self) -> Option<&str> {
        match self {
            Self::ByItself => None,
            Self::Member(name) => Some(name),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct FormatRule {
    pub kind: RuleKind,
    /// The part of a line that is a message, or an envelope around a message.
    pub line: Option<LineRule>,
    /// The pointers to each of [`PARTS`] in an envelope, which is a piece, or a part of a line.
    pub envelope: Option<EnvelopeParts>,
    /// Regular expressions for the values at pointers, all of which match in pieces that the rule reads.
    pub conditions: Vec<(Pointer, Regex)>,
    pub words: Vec<(String, WordMeaning)>,
    /// True if the session and the peer are the sender and the receiver.
    pub is_directed: bool,
    /// True if the record of an answer repeats its request, which is a copy.
    pub repeats_requests: bool,
    /// The spelling of the value in a line; `None` if it is the rest of the line, or the text of a group.
    pub spelling: Option<Spelling>,
    /// The pointer to the text in which the line's expression is searched for.
    pub within: Option<Pointer>,
    /// The text after the value.
    pub behind: Option<(LineRegex, FactGroups)>,
    /// False if objects without the shape of a message are text.
    pub is_sure: bool,
}

/// The result of a rule for a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RuleKind {
    #[default]
    Messages,
    /// A log line in a session.
    Text,
    /// Headlines of requests and of their answers, which look the same: the first one with an id is the request.
    Call,
    /// Messages that stand at another place too: log lines.
    Copy,
    /// A log line, after which the next message of the session begins a connection.
    Start,
    /// A log line whose time, sender and session hold for the messages below it, and its duration for the first. All hold for
    /// one message in a place that is not sure.
    Heading,
}

pub(super) type EnvelopeParts = [Vec<Pointer>; PARTS.len()];

/// The parts of an entry, by the names of pointers and groups: `message` is an object or an array, also in a string;
/// `value` is anything, as it is; `text` is the text of a string.
/// The `peer` is a second part of the session's key; `status` and `error` are the outcome of an exchange over HTTP; the
/// `date` belongs to a time of day; `elapsed` is the time since a beginning, and counts without another time.
pub(super) const PARTS: [&str; 14] = [
    "message",
    "value",
    "text",
    "response",
    "time",
    "duration",
    "sender",
    "session",
    "truncated",
    "peer",
    "status",
    "error",
    "date",
    "elapsed",
];

/// Groups of a line that are members of its message, which is reconstructed. The last one continues to the end of the line.
pub(super) const MESSAGE_MEMBERS: [&str; 6] = ["id", "method", "params", "result", "code", "error"];

/// The groups of a line that are values of members.
pub(super) const VALUES: [&str; 3] = ["params", "result", "error"];

/// The unit of a number that is a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DurationUnit {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
    /// The text states it.
    Stated,
}

impl DurationUnit {
    pub fn named(unit: &str) -> Option<Self> {
        Some(match unit {
            "s" => Self::Seconds,
            "ms" => Self::Milliseconds,
            "us" => Self::Microseconds,
            "ns" => Self::Nanoseconds,
            _ => return None,
        })
    }

    /// True if a text is a duration in this unit.
    pub fn fits(self, text: &str) -> bool {
        self.seconds(text).is_some()
    }

    pub fn seconds(self, text: &str) -> Option<Decimal> {
        let parts = match self {
            Self::Seconds => 1,
            Self::Milliseconds => 1000,
            Self::Microseconds => 1_000_000,
            Self::Nanoseconds => 1_000_000_000,
            Self::Stated => return times::with_units(text),
        };
        times::with_units(text)
            .or_else(|| times::number(text.as_bytes())?.checked_div(parts).filter(|seconds| !seconds.is_negative()))
    }
}

/// Returns the unit of a duration that its name states.
pub(super) fn duration_unit(name: &str) -> Option<DurationUnit> {
    const NAMES: [&str; 11] = [
        "duration",
        "dur",
        "latency",
        "elapsed",
        "took",
        "request_time",
        "response_time",
        "responseTime",
        "time_taken",
        "rt",
        "rtt",
    ];
    if is_of_nginx(name) {
        return Some(DurationUnit::Seconds);
    }
    if NAMES.contains(&name) {
        return Some(DurationUnit::Stated);
    }
    let units = [
        (DurationUnit::Milliseconds, ["_ms", "Ms", "_millis", "Millis", "_milliseconds"]),
        (DurationUnit::Microseconds, ["_us", "Us", "_micros", "Micros", "_microseconds"]),
        (DurationUnit::Nanoseconds, ["_ns", "Ns", "_nanos", "Nanos", "_nanoseconds"]),
        (DurationUnit::Seconds, ["_s", "_sec", "_secs", "Seconds", "_seconds"]),
    ];
    units.iter().find_map(|(unit, endings)| {
        let is_named = |ending: &&str| name.strip_suffix(*ending).is_some_and(|stem| NAMES.contains(&stem));
        endings.iter().any(is_named).then_some(*unit)
    })
}

/// True for the durations of nginx, which counts in seconds, and writes its records when the answer was sent.
fn is_of_nginx(name: &str) -> bool {
    name.ends_with("request_time") || name.ends_with("upstream_response_time")
}

#[derive(Clone, Debug)]
pub(super) struct LineRule {
    pub regex: LineRegex,
    /// True if the message continues to the end of the line, of which only the beginning is matched.
    pub is_open: bool,
    /// True for a headline, whose groups are members of the message.
    pub is_headline: bool,
    /// True if a value in the middle of the line is a member of the message, so that the line is matched as a whole.
    pub is_closed: bool,
    pub facts: FactGroups,
}

/// The numbers of the groups of [`FACTS`] in a regular expression: to find a group by its name takes longer.
pub(super) type FactGroups = [Option<usize>; FACTS.len()];

/// The names of groups that state the facts around a message.
const FACTS: [&str; 7] = ["session", "peer", "time", "date", "elapsed", "duration", "sender"];

/// Returns the numbers of the groups that state facts, given the name of the group for the session.
pub(super) fn fact_groups(regex: &LineRegex, session: &str) -> FactGroups {
    FACTS.map(|fact| {
        let name = if fact == "session" { session } else { fact };
        regex.group_names().position(|group| group == Some(name))
    })
}

/// The meaning of a word about the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WordMeaning {
    /// This side sent the message.
    Sent(Sender),
    /// The message went in this direction.
    Went(Direction),
}

impl WordMeaning {
    pub fn other(self) -> Self {
        match self {
            Self::Sent(sender) => Self::Sent(sender.other()),
            Self::Went(direction) => Self::Went(direction.other()),
        }
    }
}

/// Converts the value at a pointer.
type PartReader<'a> = fn(Cow<'a, [u8]>) -> Option<Cow<'a, [u8]>>;

/// The facts around a message.
#[derive(Clone, Default)]
struct EnvelopeFacts {
    time: Option<Time>,
    latency: Option<Decimal>,
    meaning: Option<WordMeaning>,
    session: Option<String>,
    is_truncated: bool,
    /// The status of the exchange over HTTP, and the reason why it failed.
    status: Option<u16>,
    error: Option<String>,
}

impl EnvelopeFacts {
    /// Returns the record of a message in the place of a rule. Unless the place is sure, only an answer took time.
    fn of_rule<'a>(&self, rule: &FormatRule, message: Cow<'a, [u8]>, spans: bool) -> Record<'a> {
        let is_call = || RawObject::parse(&message).is_some_and(|object| object.has("method"));
        let latency = self.latency.filter(|_| rule.is_sure || !is_call());
        let end = if spans && !is_call() { self.end() } else { None };
        Self { latency, time: end.or(self.time), ..self.clone() }.of(message)
    }

    /// True if these are the facts of an exchange with a beginning and an end, as the names of its time or its duration say. Its
    /// time is the beginning then.
    fn spans(&mut self, times: &[Pointer], durations: &[Pointer]) -> bool {
        let (Some(time), Some(latency)) = (self.time, self.latency) else { return false };
        if times.iter().any(|pointer| pointer.name().starts_with("start")) {
            return true;
        }
        let begin = || times::later(time, Decimal::from(0).checked_sub(latency)?);
        let begin = durations.iter().any(|pointer| is_of_nginx(pointer.name())).then(begin).flatten();
        self.time = begin.or(self.time);
        begin.is_some()
    }

    /// Returns the time at which an exchange ended that began at its time.
    fn end(&self) -> Option<Time> {
        times::later(self.time?, self.latency?)
    }

    /// Returns the record of the failure of a request over HTTP, without an answer.
    fn failure(&self, call: &[u8]) -> Option<Entry<'static>> {
        let is_failed = self.status.is_some_and(|status| status >= 400) || self.error.is_some();
        let ids = if is_failed { ids(call) } else { Vec::new() };
        let ids: Vec<Box<str>> = ids.into_iter().map(|id| String::from_utf8_lossy(&id).into()).collect();
        if ids.is_empty() {
            return None;
        }
        let exchange = HttpExchange {
            reason: self.error.clone().unwrap_or_default(),
            method: "POST".to_owned(),
            ..HttpExchange::default()
        };
        let http = Http { status: self.status, outcome: HttpOutcome::Failed, ids, exchange: Some(exchange) };
        let record = http.record();
        let sender = if let Some(WordMeaning::Sent(sender)) = self.meaning { Some(sender.other()) } else { None };
        let session = self.session.clone().filter(|key| !key.is_empty()).map(Cow::Owned);
        Some(Record { time: self.end(), sender, session, latency: self.latency, ..record }.into())
    }

    fn of<'a>(&self, message: Cow<'a, [u8]>) -> Record<'a> {
        let (sender, direction) = match self.meaning {
            Some(WordMeaning::Sent(sender)) => (Some(sender), None),
            Some(WordMeaning::Went(direction)) => (None, Some(direction)),
            None => (None, None),
        };
        let result_unknown = is_bare_answer(&message);
        let flags = Flags { truncated: self.is_truncated, result_unknown, ..Flags::default() };
        let session = self.key();
        Record { time: self.time, sender, direction, session, flags, latency: self.latency, ..Record::new(message) }
    }

    /// Returns the record of the response to the message.
    fn answer<'a>(&self, response: Cow<'a, [u8]>) -> Record<'a> {
        let record = self.of(response);
        Record { time: self.end(), sender: record.sender.map(Sender::other), direction: None, ..record }
    }

    /// Returns these facts, and otherwise the others.
    fn or(self, other: Self) -> Self {
        Self {
            time: self.time.or(other.time),
            latency: self.latency.or(other.latency),
            meaning: self.meaning.or(other.meaning),
            session: self.session.or(other.session),
            ..self
        }
    }

    fn key<'k>(&self) -> Option<Cow<'k, str>> {
        self.session.clone().filter(|key| !key.is_empty()).map(Cow::Owned)
    }
}

impl FormatRules {
    pub fn decoder(self: Arc<Self>) -> Box<dyn Decoder> {
        let Some(array) = self.array.clone() else { return LineSplitter::boxed(RuleReader::new(self)) };
        if array.member().is_none() && self.rules.iter().all(|rule| rule.line.is_none()) {
            return object_array(move |object, text, more| self.open(object, text, more));
        }
        let mut reader = RuleReader::new(self);
        placed_elements(array.member(), move |element, more| {
            let found = reader.read(element, more);
            more.taken = None;
            Some(found.unwrap_or_else(|| (0, LogLine::new(element).into())))
        })
    }

    /// Returns the first entry in an envelope, and adds the others to `more`.
    fn open<'a>(&self, object: &RawObject<'a>, text: &'a [u8], more: &mut Extras) -> Option<FoundEntry<'a>> {
        let mut rules = self.rules.iter().filter(|rule| rule.line.is_none());
        let first = more.first_of(rules.find_map(|rule| rule.open(object, text, &EnvelopeFacts::default()))?)?;
        Some(with_others(object, text, &[], first, more))
    }

    /// Returns the value at the beginning of `text`, the end of a line, and the number of consumed bytes: up to the end
    /// of a JSON value, or else of the line.
    fn value<'a>(&self, text: &'a [u8]) -> Option<(&'a [u8], usize)> {
        let start = leading_blanks(text);
        let tail = |text| self.tail.as_ref().into_iter().flat_map(move |tail| tail.find_iter(text));
        let (end, used) = match value(&text[start..]) {
            Extent::Whole(length) if matches!(text[start], b'{' | b'[') => {
                let end = start + length;
                let tail = tail(&text[end..]).next().filter(|tail| tail.start() == 0);
                (end, end + tail.map_or(0, |tail| tail.end()))
            }
            _ => {
                let tail = tail(text).find(|tail| tail.end() == text.len());
                (tail.map_or(text.len(), |tail| tail.start()), text.len())
            }
        };
        let message = trim_end(&text[start.min(end)..end]);
        (!message.is_empty()).then_some((message, used))
    }
}

impl FormatRule {
    fn meaning(&self, word: &str) -> Option<WordMeaning> {
        let own = self.words.iter().find(|(own, _)| own.eq_ignore_ascii_case(word.trim())).map(|(_, meaning)| *meaning);
        own.or_else(|| named_meaning(word))
    }

    /// Returns the entries of an envelope, if the rule reads it. The envelope's own facts take precedence over the facts
    /// before it.
    fn open<'a>(&self, object: &RawObject<'a>, line: &'a [u8], before: &EnvelopeFacts) -> Option<Vec<FoundEntry<'a>>> {
        let [messages, values, texts, responses, times, durations, ..] = self.envelope.as_ref()?;
        if !self.conditions.iter().all(|(pointer, regex)| pointer.has(object, line, regex)) {
            return None;
        }
        let all = |pointers: &[Pointer], read: PartReader<'a>, in_string: bool| {
            let found = pointers.iter().filter_map(|pointer| {
                let (start, value) = pointer.find(object, line)?;
                let is_string = matches!(value, Cow::Owned(_)) || in_string && value.starts_with(b"\"");
                Some((start + usize::from(is_string), read(value)?))
            });
            found.collect::<Vec<_>>()
        };
        let message = |value| inside(value, message);
        let mut found = all(messages, message, true);
        if !self.is_sure {
            found.retain(|(_, value)| has_shape(value) || is_bare_answer(value));
            // Of an object and a part of it, the part is the message.
            found.dedup_by(|(_, whole), (_, part)| whole.len() > part.len() && memmem::find(whole, part).is_some());
        }
        let answers = found.iter().filter(|_| self.repeats_requests);
        let answered: Vec<_> = answers.flat_map(|(_, value)| answered_ids(value)).collect();
        let is_repeated = |value: &[u8]| !answered.is_empty() && ids(value).iter().any(|id| answered.contains(id));
        let has_sender = found.iter().filter(|(_, value)| !is_repeated(value)).count() <= 1;
        found.extend(all(values, |value| (!value.starts_with(b"}")).then_some(value), false));
        found.extend(all(texts, text_of, true));
        found.sort_by_key(|(start, _)| *start);
        // A call and its answer come from different sides.
        let mut said = self.around(object, line, before, has_sender);
        let spans = said.spans(times, durations);
        let responses: Vec<_> =
            all(responses, message, true).into_iter().map(|(start, text)| (start, said.answer(text).into())).collect();
        let failure = match (&found[..], self.is_sure && said.status.is_none()) {
            ([(start, call)], false) if responses.is_empty() => said.failure(call).map(|entry| (*start, entry)),
            _ => None,
        };
        let has_answer = !responses.is_empty() || failure.is_some();
        let said = EnvelopeFacts { latency: said.latency.filter(|_| !has_answer), ..said };
        let entry = |(start, text): (usize, Cow<'a, [u8]>)| match self.kind {
            RuleKind::Messages if !is_repeated(&text) => (start, said.of_rule(self, text, spans).into()),
            kind => {
                let is_copy = matches!(kind, RuleKind::Copy | RuleKind::Messages);
                (start, LogLine { session: said.key(), is_copy, ..LogLine::new(text) }.into())
            }
        };
        let found: Vec<FoundEntry<'a>> = found.into_iter().map(entry).chain(responses).chain(failure).collect();
        (!found.is_empty()).then_some(found)
    }

    /// Returns the facts that the members of an object state, or else the facts before it.
    fn around(&self, object: &RawObject<'_>, line: &[u8], before: &EnvelopeFacts, has_sender: bool) -> EnvelopeFacts {
        let Some(parts) = &self.envelope else { return before.clone() };
        let [_, _, _, _, times, durations, senders, sessions, truncated, peers, statuses, errors, dates, elapsed] =
            parts;
        let text = |pointer: &Pointer| pointer.find(object, line).and_then(|(_, value)| scalar(&value));
        let duration = |pointer: &Pointer| {
            let text = text(pointer)?;
            pointer.unit.map_or_else(|| duration(&text), |unit| unit.seconds(&text))
        };
        let date = dates.iter().find_map(text);
        let time = |pointer: &Pointer| {
            let (_, value) = pointer.find(object, line)?;
            RawObject::parse(&value).map_or_else(
                || scalar(&value).and_then(|text| time_on(date.as_deref(), &text)),
                |object| instant(&object),
            )
        };
        let since =
            || elapsed.iter().find_map(|pointer| self::elapsed(&text(pointer)?, pointer.unit)).map(Time::Elapsed);
        let senders = if has_sender { &senders[..] } else { &[] };
        let key = |pointers: &[Pointer]| pointers.iter().filter_map(text).find(|key| !key.is_empty());
        let (session, went) = self.connection(key(sessions), key(peers));
        let meaning = senders.iter().filter_map(text).find_map(|text| self.meaning(&text));
        EnvelopeFacts {
            time: times.iter().find_map(time).or(before.time).or_else(since),
            latency: durations.iter().find_map(duration).or(before.latency),
            meaning: meaning.or(went.filter(|_| has_sender)).or(before.meaning),
            session: session.or_else(|| before.session.clone()),
            is_truncated: truncated.iter().filter_map(text).any(|text| text == "true"),
            status: statuses.iter().filter_map(text).find_map(|text| text.parse().ok()),
            error: errors.iter().filter_map(text).find(|text| !text.is_empty()),
        }
    }

    /// Returns the facts that the groups of a line state.
    fn said(&self, captures: &Captures<'_>, groups: &FactGroups) -> EnvelopeFacts {
        let [session, peer, time, date, since, took, sender] =
            groups.map(|group| Some(String::from_utf8_lossy(captures.get(group?)?.as_bytes())));
        let (session, went) = self.connection(session.map(Cow::into_owned), peer.map(Cow::into_owned));
        EnvelopeFacts {
            time: time
                .and_then(|time| time_on(date.as_deref(), &time))
                .or_else(|| elapsed(&since?, None).map(Time::Elapsed)),
            latency: took.and_then(|text| duration(&text)),
            meaning: sender.and_then(|word| self.meaning(&word)).or(went),
            session,
            ..EnvelopeFacts::default()
        }
    }

    /// Returns the key of a session from its two parts, and what their order states about the sender.
    fn connection(&self, session: Option<String>, peer: Option<String>) -> (Option<String>, Option<WordMeaning>) {
        match (session, peer) {
            (Some(from), Some(to)) if self.is_directed => {
                let (key, meaning) = connection(&from, &to);
                (Some(key), Some(meaning))
            }
            (Some(session), Some(peer)) => (Some(format!("{session} {peer}")), None),
            (session, peer) => (session.or(peer), None),
        }
    }
}

/// Returns the key of the connection between a sender and a receiver, which is the same in both directions, and the sender:
/// a client if one has this name. A server may be the client of another one.
pub(super) fn connection(from: &str, to: &str) -> (String, WordMeaning) {
    let is_client = |end: &str| named_side(end) == Some(Sender::Client);
    let is_first = from <= to;
    let meaning = match (is_client(from), is_client(to)) {
        (true, false) => WordMeaning::Sent(Sender::Client),
        (false, true) => WordMeaning::Sent(Sender::Server),
        _ => WordMeaning::Went(if is_first { Direction::Out } else { Direction::In }),
    };
    (if is_first { format!("{from} {to}") } else { format!("{to} {from}") }, meaning)
}

/// Returns the text of a string without blanks around it, or a value that is not a string.
fn text_of(value: Cow<'_, [u8]>) -> Option<Cow<'_, [u8]>> {
    let text = match value.first()? {
        b'"' => inside(value, unescape)?,
        _ => value,
    };
    let text = match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_ascii()),
        Cow::Owned(text) => text.trim_ascii().to_vec().into(),
    };
    (!text.is_empty()).then_some(text)
}

/// Returns the object or array at the beginning of a text, or of the text of a string.
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

/// Returns the default meaning of a word.
pub(super) fn named_meaning(word: &str) -> Option<WordMeaning> {
    named_side(word).map(WordMeaning::Sent).or_else(|| named_direction(word).map(WordMeaning::Went))
}

/// Parses a date and a time, a number of seconds or the like, a clock of 12 or 24 hours, or the first time in a text.
pub(super) fn time(text: &str) -> Option<Time> {
    let text = text.trim().as_bytes();
    match times::timestamp(text) {
        Some((_, time)) => time,
        None => times::any(text).or_else(|| vscode::clock(text)).or_else(|| times::first(text)),
    }
}

/// Parses a time of day on a date, or any other time.
fn time_on(date: Option<&str>, text: &str) -> Option<Time> {
    let of_day = |date: &str| times::of_day(Some(date.as_bytes()), text.as_bytes());
    date.and_then(of_day).or_else(|| time(text))
}

/// Parses a number of milliseconds, or a duration with its unit.
fn duration(text: &str) -> Option<Decimal> {
    times::with_units(text).or_else(|| times::duration(text.as_bytes()))
}

/// Parses a number of seconds, or of the unit, or a duration with its unit.
fn elapsed(text: &str, unit: Option<DurationUnit>) -> Option<Decimal> {
    unit.unwrap_or(DurationUnit::Seconds).seconds(text)
}
