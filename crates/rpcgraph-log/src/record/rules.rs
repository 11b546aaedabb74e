//! Rules: how a format's file turns a piece of a log, a line or an element of an array, into entries.

use super::certainty::{Certainty, mentions, mentions_message, names_member};
use super::decoder::{Decoder, Step, leading_blanks, trim_end};
use super::elements::object_array;
use super::har_entry::ids;
use super::lines::{Extras, FoundEntry, LineFormat, LineInInput, LineSplitter};
use super::lines::{head, in_envelope, with_others, with_text};
use super::object::{RawObject, objects, offset_in, scalar, unescape, unescaped};
use super::pointer::{Pointer, inside};
use super::spelling::{Spelling, has_shape};
use super::surroundings::{instant, named_direction, named_side};
use super::value::{Extent, value, value_shown};
use super::{Direction, Entry, Flags, Http, HttpExchange, HttpOutcome, LogLine, Record, Sender, Time, times, vscode};
use memchr::memmem;
use oxsdatatypes::Decimal;
use regex::bytes::{Captures, Regex};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Reads the pieces of one format.
#[derive(Clone, Debug, Default)]
pub(super) struct FormatRules {
    /// The first rule that fits a piece reads it.
    pub rules: Vec<FormatRule>,
    /// True if pieces are the elements of an array; otherwise they are lines.
    pub is_array: bool,
    /// The text that the log writes after a message, and the text that it writes for a part that it leaves out.
    pub tail: Option<Regex>,
    pub truncated: Option<Regex>,
    /// The key of the input's own session.
    pub own_session: Option<String>,
    pub detects_wrappers: bool,
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
    /// The spelling of the value in a line; `None` if it is the rest of the line, or the text of a group.
    pub spelling: Option<Spelling>,
    /// The pointer to the text in which the line's expression is searched for.
    pub within: Option<Pointer>,
    /// The text after the value.
    pub behind: Option<Regex>,
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
    /// Messages that stand at another place too: log lines.
    Copy,
    /// A log line, after which the next message of the session begins a connection.
    Start,
    /// A log line whose time, sender and session hold for the messages below it, and its duration for the first.
    Heading,
}

pub(super) type EnvelopeParts = [Vec<Pointer>; PARTS.len()];

/// The parts of an entry, by the names of pointers and groups: `message` is an object or an array, also in a string;
/// `value` is anything, as it is; `text` is the text of a string.
/// The `peer` is a second part of the session's key; `status` and `error` are the outcome of an exchange over HTTP; the
/// `date` belongs to a time of day.
pub(super) const PARTS: [&str; 13] = [
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
];

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

    fn seconds(self, text: &str) -> Option<Decimal> {
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
    const NAMES: [&str; 8] =
        ["duration", "latency", "elapsed", "took", "request_time", "response_time", "time_taken", "rtt"];
    // nginx counts in seconds.
    if name.ends_with("request_time") || name.ends_with("response_time") {
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

#[derive(Clone, Debug)]
pub(super) struct LineRule {
    pub regex: Regex,
    /// True if the message continues to the end of the line, of which only the beginning is matched.
    pub is_open: bool,
    /// The name of the group for the session.
    pub session: String,
}

/// The meaning of a word about the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordMeaning {
    /// This side sent the message.
    Sent(Sender),
    /// The message went in this direction.
    Went(Direction),
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
    fn of_rule<'a>(&self, rule: &FormatRule, message: Cow<'a, [u8]>) -> Record<'a> {
        let is_call = || RawObject::parse(&message).is_some_and(|object| object.has("method"));
        let latency = self.latency.filter(|_| rule.is_sure || !is_call());
        Self { latency, ..self.clone() }.of(message)
    }

    /// Returns the record of the failure of a request over HTTP, without an answer.
    fn failure(&self, call: &[u8]) -> Option<Entry<'static>> {
        let ids: Vec<Box<str>> = ids(call).into_iter().map(|id| String::from_utf8_lossy(&id).into()).collect();
        let is_failed = self.status.is_some_and(|status| status >= 400) || self.error.is_some();
        if ids.is_empty() || !is_failed || !objects(call).any(|object| object.has("method")) {
            return None;
        }
        let exchange = HttpExchange {
            reason: self.error.clone().unwrap_or_default(),
            method: "POST".to_owned(),
            ..HttpExchange::default()
        };
        let http = Http { status: self.status, outcome: HttpOutcome::Failed, ids, exchange: Some(exchange) };
        let record = http.record();
        let (sender, time) =
            (self.meaning, self.time.zip(self.latency).and_then(|(time, latency)| times::later(time, latency)));
        let sender = if let Some(WordMeaning::Sent(sender)) = sender { Some(sender.other()) } else { None };
        let session = self.session.clone().filter(|key| !key.is_empty()).map(Cow::Owned);
        Some(Record { time, sender, session, latency: self.latency, ..record }.into())
    }

    fn of<'a>(&self, message: Cow<'a, [u8]>) -> Record<'a> {
        let (sender, direction) = match self.meaning {
            Some(WordMeaning::Sent(sender)) => (Some(sender), None),
            Some(WordMeaning::Went(direction)) => (None, Some(direction)),
            None => (None, None),
        };
        let flags = Flags { truncated: self.is_truncated, ..Flags::default() };
        let session = self.key();
        Record { time: self.time, sender, direction, session, flags, latency: self.latency, ..Record::new(message) }
    }

    /// Returns the record of the response to the message.
    fn answer<'a>(&self, response: Cow<'a, [u8]>) -> Record<'a> {
        let record = self.of(response);
        let time = self.time.zip(self.latency).and_then(|(time, latency)| times::later(time, latency));
        Record { time, sender: record.sender.map(Sender::other), direction: None, ..record }
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
        match self.is_array {
            true => object_array(move |object, text, more| self.open(object, text, more)),
            false => LineSplitter::boxed(RuleReader {
                rules: self,
                connections: None,
                heading: EnvelopeFacts::default(),
                line_facts: None,
                is_continued: false,
                is_unread: false,
            }),
        }
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
        let [messages, values, texts, responses, ..] = self.envelope.as_ref()?;
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
            found.retain(|(_, value)| has_shape(value));
            // Of an object and a part of it, the part is the message.
            found.dedup_by(|(_, whole), (_, part)| whole.len() > part.len() && memmem::find(whole, part).is_some());
        }
        let has_sender = found.len() <= 1;
        found.extend(all(values, |value| (!value.starts_with(b"}")).then_some(value), false));
        found.extend(all(texts, text_of, true));
        found.sort_by_key(|(start, _)| *start);
        // A call and its answer come from different sides.
        let said = self.around(object, line, before, has_sender);
        let responses: Vec<_> =
            all(responses, message, true).into_iter().map(|(start, text)| (start, said.answer(text).into())).collect();
        let failure = match (&found[..], self.is_sure && said.status.is_none()) {
            ([(start, call)], false) if responses.is_empty() => said.failure(call).map(|entry| (*start, entry)),
            _ => None,
        };
        let has_answer = !responses.is_empty() || failure.is_some();
        let said = EnvelopeFacts { latency: said.latency.filter(|_| !has_answer), ..said };
        let entry = |(start, text): (usize, Cow<'a, [u8]>)| match self.kind {
            RuleKind::Messages => (start, said.of_rule(self, text).into()),
            kind => {
                (start, LogLine { session: said.key(), is_copy: kind == RuleKind::Copy, ..LogLine::new(text) }.into())
            }
        };
        let found: Vec<FoundEntry<'a>> = found.into_iter().map(entry).chain(responses).chain(failure).collect();
        (!found.is_empty()).then_some(found)
    }

    /// Returns the facts that the members of an object state, or else the facts before it.
    fn around(&self, object: &RawObject<'_>, line: &[u8], before: &EnvelopeFacts, has_sender: bool) -> EnvelopeFacts {
        let Some(parts) = &self.envelope else { return before.clone() };
        let [_, _, _, _, times, durations, senders, sessions, truncated, peers, statuses, errors, dates] = parts;
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
        let senders = if has_sender { &senders[..] } else { &[] };
        let key = |pointers: &[Pointer]| pointers.iter().filter_map(text).find(|key| !key.is_empty());
        EnvelopeFacts {
            time: times.iter().find_map(time).or(before.time),
            latency: durations.iter().find_map(duration).or(before.latency),
            meaning: senders.iter().filter_map(text).find_map(|text| self.meaning(&text)).or(before.meaning),
            session: joined(key(sessions), key(peers)).or_else(|| before.session.clone()),
            is_truncated: truncated.iter().filter_map(text).any(|text| text == "true"),
            status: statuses.iter().filter_map(text).find_map(|text| text.parse().ok()),
            error: errors.iter().filter_map(text).find(|text| !text.is_empty()),
        }
    }

    fn said(&self, captures: &Captures<'_>, session: &str) -> EnvelopeFacts {
        let text = |name: &str| Some(String::from_utf8_lossy(captures.name(name)?.as_bytes()).into_owned());
        EnvelopeFacts {
            time: text("time").and_then(|time| time_on(text("date").as_deref(), &time)),
            latency: text("duration").and_then(|text| duration(&text)),
            meaning: text("sender").and_then(|word| self.meaning(&word)),
            session: joined(text(session), text("peer")),
            ..EnvelopeFacts::default()
        }
    }
}

/// Reads the lines of a format by its rules.
struct RuleReader {
    rules: Arc<FormatRules>,
    connections: Option<NamedConnections>,
    /// The facts of the last heading.
    heading: EnvelopeFacts,
    /// The facts of the message before on the same line, and true if the current text continues that line.
    line_facts: Option<EnvelopeFacts>,
    is_continued: bool,
    /// True if the last line may hold a message that no rule reads.
    is_unread: bool,
}

impl LineFormat for RuleReader {
    fn splits_lines(&self) -> bool {
        true
    }

    fn is_unread(&self) -> bool {
        self.is_unread
    }

    fn read<'a>(&mut self, line: &'a [u8], more: &mut Extras) -> Option<FoundEntry<'a>> {
        let rules = self.rules.clone();
        let has_envelope = || rules.rules.iter().any(|rule| rule.line.is_none());
        self.is_continued = self.line_facts.is_some();
        let by_line =
            |reader: &mut Self, more: &mut Extras| rules.rules.iter().find_map(|rule| reader.line(rule, line, more));
        let found = match line.starts_with(b"{") && has_envelope() {
            true if rules.rules.iter().any(|rule| rule.spelling.is_some()) => match RawObject::parse(line)
                .filter(|object| !object.has("jsonrpc"))
            {
                Some(object) if object.is_whole() => rules.open(&object, line, more).or_else(|| by_line(self, more)),
                _ => in_envelope(line, more, |object, own, more| rules.open(object, own, more)),
            },
            true => in_envelope(line, more, |object, own, more| rules.open(object, own, more)),
            false if has_envelope() && is_batch(line) => Some((0, Record::new(line).into())),
            false => by_line(self, more),
        };
        if more.taken.is_none() {
            self.line_facts = None;
        }
        self.is_unread = match &found {
            Some((_, Entry::Record(_))) => false,
            Some((_, Entry::LogLine(line))) if line.is_copy => false,
            _ => more.entries.is_empty() && mentions_message(line),
        };
        // A line between messages may state its session, too.
        let found = found.map(|(start, mut entry)| {
            if let Entry::LogLine(text @ LogLine { session: None, .. }) = &mut entry
                && rules.rules.iter().any(|rule| !rule.is_sure && rule.envelope.is_some())
                && let Some(object) = RawObject::parse(line)
            {
                let around = |rule: &FormatRule| rule.around(&object, line, &EnvelopeFacts::default(), false).session;
                text.session = rules.rules.iter().find_map(around).map(Cow::Owned);
            }
            (start, entry)
        });
        let Some(own) = &rules.own_session else { return found };
        let in_own = |entry: &mut Entry<'_>| {
            let (Entry::Record(Record { session, .. }) | Entry::LogLine(LogLine { session, .. })) = entry;
            session.take_if(|key| key == own);
        };
        more.entries.iter_mut().for_each(|(_, entry)| in_own(entry));
        found.map(|(start, mut entry)| {
            in_own(&mut entry);
            (start, entry)
        })
    }

    /// Reads a value that continues on the lines below.
    fn below<'a>(
        &mut self,
        LineInInput { line, input, end, .. }: LineInInput<'a>,
        more: &mut Extras,
    ) -> Option<Step<'a>> {
        let has_envelope = || self.rules.rules.iter().any(|rule| rule.line.is_none() && rule.spelling.is_none());
        let start = match line.last()? {
            b'{' | b'[' | b',' if line.starts_with(b"{") && has_envelope() => 0,
            b'{' | b'[' | b',' => self.rules.rules.iter().find_map(|rule| {
                let start = rule.line.as_ref()?.regex.captures(head(line))?.name("value")?.start();
                let start = start + leading_blanks(&line[start..]);
                matches!(line.get(start), Some(b'{' | b'[')).then_some(start)
            })?,
            _ => return None,
        };
        let text = &input[start..];
        let length = match value_shown(text, end) {
            Extent::Whole(length) => length,
            Extent::Incomplete => return Some(Step::NeedMore),
            Extent::Broken(_) => return None,
        };
        if start + length <= line.len() {
            return None;
        }
        if self.rules.rules.iter().any(|rule| rule.spelling.is_some()) {
            let whole = &input[..start + length];
            let found = self.read(whole, more)?;
            let length = more.taken.take().unwrap_or(start + length);
            return Some(more.give(found, length));
        }
        let Some((_, Entry::Record(record))) = self.read(line, &mut Extras::default()) else { return None };
        Some(Step::entry(
            start,
            start + length,
            Record { length: length as u64, bytes: text[..length].into(), ..record },
        ))
    }
}

impl RuleReader {
    /// Returns the facts that a line and the heading above it state.
    fn said(&mut self, rule: &FormatRule, captures: &Captures<'_>, session: &str) -> EnvelopeFacts {
        let (own, above) = (rule.said(captures, session), &mut self.heading);
        EnvelopeFacts {
            time: own.time.or(above.time),
            latency: own.latency.or_else(|| above.latency.take()),
            meaning: own.meaning.or(above.meaning),
            session: own.session.or_else(|| above.session.clone()),
            ..own
        }
    }

    /// Returns the first message in a text within an object.
    fn nested<'a>(
        &mut self,
        rule: &FormatRule,
        within: &Pointer,
        line: &'a [u8],
        more: &mut Extras,
    ) -> Option<FoundEntry<'a>> {
        let object = RawObject::parse(line)?;
        let (start, value) = within.find(&object, line)?;
        let start = start + usize::from(value.starts_with(b"\""));
        let text = text_of(value)?;
        let said = rule.around(&object, line, &EnvelopeFacts::default(), true);
        let mut inner = Extras::default();
        let (_, first) = self.spelled(rule, &text, Some(said), &mut inner)?;
        let first = (start, first.into_owned());
        more.entries.extend(inner.entries.into_iter().map(|(_, entry)| (start, entry)));
        self.line_facts = None;
        Some(with_others(&object, line, &[], first, more))
    }

    /// Returns the first message in a text with the value of a rule in its spelling, and adds the others to `more`.
    fn spelled<'a>(
        &mut self,
        rule: &FormatRule,
        text: &'a [u8],
        before: Option<EnvelopeFacts>,
        more: &mut Extras,
    ) -> Option<FoundEntry<'a>> {
        let LineRule { regex, session, .. } = rule.line.as_ref()?;
        let captures = regex.captures(head(text))?;
        let start = captures.name("value")?.start();
        let found = rule.spelling?.decode(&text[start..])?;
        let is_message = rule.envelope.as_ref().is_some_and(|parts| !parts[0].is_empty());
        if !rule.is_sure && !is_message && !has_shape(&found.json) {
            return None;
        }
        let end = start + found.used;
        let own = self.said(rule, &captures, session);
        // The messages of one line share its time.
        let shares_time = before.is_some() && rule.within.is_none() && own.time.is_none();
        let mut said = own.or(before.unwrap_or_default());
        let rest = &text[end..];
        let behind = rule.behind.as_ref().and_then(|behind| behind.captures(rest.trim_ascii()));
        if let Some(captures) = &behind {
            said = said.or(rule.said(captures, session));
        }
        said.is_truncated |=
            found.is_broken && self.rules.truncated.as_ref().is_some_and(|cut| cut.is_match(&found.json));
        let taken = (behind.is_none() && !rest.trim_ascii().is_empty()).then_some(end);
        let part = taken.map_or(text, |end| &text[..end]);
        if rule.kind == RuleKind::Copy && !is_message {
            more.taken = taken;
            let line = LogLine { session: said.key(), is_copy: true, ..LogLine::new(part) };
            return Some((0, line.into()));
        }
        // The text of a string begins after its quote.
        let at = start + usize::from(text[start] == b'"');
        let first = match is_message {
            true => {
                let is_exact = matches!(found.json, Cow::Borrowed(_));
                let object = RawObject::parse(&found.json)?;
                let entries = rule.open(&object, &found.json, &said)?;
                let place = |inner: usize| if is_exact { start + inner } else { at };
                more.first_of(entries.into_iter().map(|(inner, entry)| (place(inner), entry.into_owned())))?
            }
            false => {
                let mut record = said.of_rule(rule, found.json);
                record.flags.shares_time = shares_time;
                (at, record.into())
            }
        };
        more.taken = taken;
        self.line_facts = taken.map(|_| said);
        let told: usize = more.entries.iter().map(|(_, entry)| mentions(entry.bytes())).sum();
        let is_all_told = rule.within.is_some()
            || !names_member(&text[..start])
                && !part.get(end..).is_some_and(names_member)
                && (!is_message || mentions(&part[start..end]) <= told + mentions(first.1.bytes()));
        Some(if is_all_told { first } else { with_text(part, first, more) })
    }

    /// Returns the first entry of a line, and adds the others to `more`, if the rule reads the line.
    fn line<'a>(&mut self, rule: &FormatRule, line: &'a [u8], more: &mut Extras) -> Option<FoundEntry<'a>> {
        if rule.spelling.is_some() {
            let before = self.line_facts.take().filter(|_| self.is_continued);
            let found = match &rule.within {
                None => self.spelled(rule, line, before.clone(), more),
                Some(within) => self.nested(rule, within, line, more),
            };
            self.line_facts = if found.is_none() { before } else { self.line_facts.take() };
            return found;
        }
        let LineRule { regex, is_open, session } = rule.line.as_ref()?;
        if rule.envelope.is_some() {
            let captures = regex.captures(head(line))?;
            let start = captures.name("message")?.start();
            let (object, length) = RawObject::first(&line[start..])?;
            let (own, said) = (&line[start..start + length], self.said(rule, &captures, session));
            let first = more.first_of(rule.open(&object, own, &said)?)?;
            let (at, entry) = with_others(&object, own, &[], first, more);
            more.entries.iter_mut().for_each(|(at, _)| *at += start);
            more.taken = Some(start + length).filter(|taken| *taken < line.len());
            let found = (start + at, entry);
            return Some(match names_member(&line[..start]) {
                true => with_text(&line[..start + length], found, more),
                false => found,
            });
        }
        if !is_open && rule.kind == RuleKind::Messages {
            // A group after the message may take the rest of the line, so the search continues after the message.
            let mut at = 0;
            let all = std::iter::from_fn(|| {
                let captures = regex.captures_at(line, at)?;
                at = captures.name("message")?.end().max(at + 1).min(line.len());
                Some(captures)
            });
            let found = all.filter_map(|captures| {
                let group = captures.name("message")?;
                let message = message(group.as_bytes())?;
                let start = match &message {
                    Cow::Borrowed(part) => offset_in(line, part),
                    Cow::Owned(_) => group.start(),
                };
                Some((start, self.said(rule, &captures, session).of(message).into()))
            });
            return more.first_of(found);
        }
        let captures = regex.captures(head(line))?;
        if rule.kind == RuleKind::Heading {
            self.heading = rule.said(&captures, session);
            return Some((0, LogLine::new(line).into()));
        }
        let said = self.said(rule, &captures, session);
        if rule.kind != RuleKind::Messages {
            let connections = self.connections.get_or_insert_default();
            let session = connections.of_text(&said.session.unwrap_or_default(), rule.kind == RuleKind::Start);
            return Some((0, LogLine { session, ..LogLine::new(line) }.into()));
        }
        let (start, message) = match (captures.name("value"), captures.name("message")) {
            (Some(group), _) => {
                let (message, used) = self.rules.value(&line[group.start()..])?;
                more.taken = Some(group.start() + used).filter(|taken| *taken < line.len());
                (offset_in(line, message), Cow::Borrowed(message))
            }
            (None, group) => {
                let start = group?.start();
                let message = message(&line[start..])?;
                (if let Cow::Borrowed(part) = message { offset_in(line, part) } else { start }, message)
            }
        };
        let session = match self.rules.rules.iter().any(|rule| rule.kind == RuleKind::Start) {
            true => self.connections.get_or_insert_default().of_message(&said.session.unwrap_or_default()),
            false => said.session,
        };
        let is_truncated = self.rules.truncated.as_ref().is_some_and(|cut| cut.is_match(&message));
        let end = if let Cow::Borrowed(part) = message { start + part.len() } else { line.len() };
        let own = &line[..more.taken.unwrap_or(line.len())];
        let is_all_told = !names_member(&line[..start]) && own.get(end..).is_none_or(|behind| !names_member(behind));
        let found = (start, EnvelopeFacts { session, is_truncated, ..said }.of(message).into());
        Some(if is_all_told { found } else { with_text(own, found, more) })
    }
}

/// The connections of a log that states where each begins. The key of a connection is its name, with a number from the
/// second one on.
#[derive(Default)]
struct NamedConnections {
    named: BTreeMap<String, NamedConnection>,
    /// The keys in use: a server may have the name of another server's second connection.
    keys: BTreeSet<String>,
}

/// The connections with one name.
#[derive(Default)]
struct NamedConnection {
    /// True while a connection starts. It opens with its first message, so there is one session for each connection
    /// with messages, however many lines report a start, and however many starts fail.
    is_starting: bool,
    /// The number of connections with messages, and the key of the last one.
    count: u64,
    key: Option<String>,
}

impl NamedConnections {
    /// Returns the key of a log line, which is the key of the last message.
    fn of_text(&mut self, name: &str, starts: bool) -> Option<Cow<'static, str>> {
        if starts {
            self.named.entry(name.to_owned()).or_default().is_starting = true;
        }
        self.named.get(name)?.key.clone().map(Cow::Owned)
    }

    /// Returns the key of the next message.
    fn of_message(&mut self, name: &str) -> Option<String> {
        let connection = self.named.entry(name.to_owned()).or_default();
        if std::mem::take(&mut connection.is_starting) || connection.count == 0 {
            connection.key = loop {
                connection.count += 1;
                let key = match (name, connection.count) {
                    ("", 1) => break None,
                    ("", number) => number.to_string(),
                    (name, 1) => name.to_owned(),
                    (name, number) => format!("{name}-{number}"),
                };
                if self.keys.insert(key.clone()) {
                    break Some(key);
                }
            };
        }
        connection.key.clone()
    }
}

/// True if a line is a batch of messages.
fn is_batch(line: &[u8]) -> bool {
    line.starts_with(b"[")
        && Certainty::of(line) == Certainty::Sure
        && matches!(value(line), Extent::Whole(length) if length == line.len())
}

/// Returns the key of a session from its two parts.
fn joined(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one} {other}")),
        (one, other) => one.or(other),
    }
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
