//! Reads the lines of a format by its rules.

use super::super::certainty::{Certainty, has_broken_json, mentions, mentions_message, names_member};
use super::super::cut::CutMessage;
use super::super::decoder::{Step, leading_blanks};
use super::super::har_entry::{answered_ids, ids};
use super::super::lines::{
    Extras, FoundEntry, LineFormat, LineInInput, head, in_envelope, with_copy, with_others, with_text,
};
use super::super::object::{ObjectBuilder, RawObject, offset_in, string};
use super::super::pointer::Pointer;
use super::super::spelling::{Spelling, has_shape, is_bare_answer, may_continue};
use super::super::value::{Extent, is_whole, value};
use super::super::{Entry, Flags, LogLine, Record};
use super::{
    EnvelopeFacts, FactGroups, FormatRule, FormatRules, LineRule, RuleKind, VALUES, WordMeaning, message, text_of,
};
use regex::bytes::Captures;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The maximum number of entries of a line among which requests are put before their answers.
const ON_A_LINE: usize = 64;
/// The maximum number of open requests that are known.
const OPEN: usize = 4096;

/// Reads the lines of a format by its rules.
pub(super) struct RuleReader {
    rules: Arc<FormatRules>,
    connections: Option<NamedConnections>,
    /// The facts of the last heading, or of several above one message. No message is below it yet if it is new.
    heading: EnvelopeFacts,
    is_heading_new: bool,
    /// The facts of the message before on the same line, and true if the current text continues that line.
    line_facts: Option<EnvelopeFacts>,
    is_continued: bool,
    /// True if the current text is the rest of a line, of which only the beginning is matched: a line of many entries is not
    /// searched to its end for each.
    is_rest: bool,
    /// The direction of the open requests whose answers look the same, by their sessions and ids.
    open: HashMap<(Option<String>, Vec<u8>), Option<WordMeaning>>,
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
        let found = match found {
            Some((_, Entry::LogLine(LogLine { is_copy: false, .. }))) | None
                if rules.is_transport && more.entries.is_empty() && has_broken_json(line) =>
            {
                Some((0, Record::new(line).into()))
            }
            found => found,
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
            self.request_first(line, (start, entry), more)
        });
        self.is_rest = more.taken.is_some();
        found
    }

    /// Reads a value that continues on the lines below.
    fn below<'a>(
        &mut self,
        LineInInput { line, input, end, .. }: LineInInput<'a>,
        more: &mut Extras,
    ) -> Option<Step<'a>> {
        let has_envelope = || self.rules.rules.iter().any(|rule| rule.line.is_none() && rule.spelling.is_none());
        if !may_continue(line) {
            return None;
        }
        let extent = |start: usize, spelling: Spelling| match spelling.extent(&input[start..], end) {
            Extent::Whole(length) => Some((start, Some(length))),
            Extent::Incomplete => Some((start, None)),
            Extent::Broken(_) => None,
        };
        let found = match line.starts_with(b"{") && has_envelope() {
            true => extent(0, Spelling::Json),
            false => self.rules.rules.iter().find_map(|rule| {
                let LineRule { regex, is_headline, .. } = rule.line.as_ref()?;
                let captures = regex.captures(head(line))?;
                let named = |name: &&str| captures.name(name);
                let value = captures.name("value");
                let start = value.or_else(|| VALUES.iter().filter(|_| *is_headline).find_map(named))?.start();
                let start = start + leading_blanks(&line[start..]);
                line.get(start).filter(|first| matches!(first, b'{' | b'[' | b'%' | b'('))?;
                extent(start, rule.spelling.unwrap_or_default())
            }),
        };
        let (start, Some(length)) = found? else { return Some(Step::NeedMore) };
        let text = &input[start..];
        if start + length <= line.len() {
            return None;
        }
        let is_headline = |rule: &FormatRule| rule.line.as_ref().is_some_and(|line| line.is_headline);
        if self.rules.rules.iter().any(|rule| rule.spelling.is_some() || is_headline(rule)) {
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
    pub(super) fn new(rules: Arc<FormatRules>) -> Self {
        Self {
            rules,
            connections: None,
            heading: EnvelopeFacts::default(),
            is_heading_new: false,
            line_facts: None,
            is_continued: false,
            is_rest: false,
            open: HashMap::new(),
            is_unread: false,
        }
    }

    /// Reads the rest of a line if an answer stands before other messages, and puts a request on the line before its answer.
    fn request_first<'a>(&mut self, line: &'a [u8], first: FoundEntry<'a>, more: &mut Extras) -> FoundEntry<'a> {
        let answers = |entry: &Entry<'_>| match entry {
            Entry::Record(record) => answered_ids(&record.bytes),
            Entry::LogLine(_) => Vec::new(),
        };
        let is_answer = |(_, entry): &FoundEntry<'_>| !answers(entry).is_empty();
        let has_rest = more.taken.is_some_and(|taken| names_member(&line[taken..]));
        if !has_rest || !is_answer(&first) && !more.entries.iter().any(is_answer) {
            return first;
        }
        let mut found: Vec<FoundEntry<'a>> = vec![first];
        found.extend(more.entries.drain(..));
        let mut at = 0;
        while let Some(taken) = more.taken.take() {
            at += taken + leading_blanks(&line[at + taken..]);
            let (start, next) = self.read(&line[at..], more).unwrap_or_else(|| (0, LogLine::new(&line[at..]).into()));
            found.push((at + start, next));
            found.extend(more.entries.drain(..).map(|(start, entry)| (at + start, entry)));
        }
        for later in 1..found.len().min(ON_A_LINE) {
            let asked = ids(found[later].1.bytes());
            let is_answered = |(_, entry): &FoundEntry<'_>| answers(entry).iter().any(|id| asked.contains(id));
            if matches!(found[later].1, Entry::Record(_))
                && let Some(earlier) = found[..later].iter().position(is_answered)
            {
                found[earlier..=later].rotate_right(1);
            }
        }
        more.first_of(found).unwrap_or_else(|| (0, LogLine::new(line).into()))
    }

    /// Returns the facts that a line and the heading above it state. A line in a place that is not sure has a heading of its
    /// own, if any.
    fn said(&mut self, rule: &FormatRule, captures: &Captures<'_>, groups: &FactGroups) -> EnvelopeFacts {
        self.is_heading_new = false;
        let above = match rule.is_sure {
            true => EnvelopeFacts { latency: self.heading.latency.take(), ..self.heading.clone() },
            false => std::mem::take(&mut self.heading),
        };
        rule.said(captures, groups).or(above)
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
        let LineRule { regex, facts, .. } = rule.line.as_ref()?;
        let captures = regex.captures(head(text))?;
        let start = captures.name("value")?.start();
        let found = rule.spelling?.decode(&text[start..])?;
        let is_message = rule.envelope.as_ref().is_some_and(|parts| !parts[0].is_empty());
        if !rule.is_sure && !is_message && !has_shape(&found.json) && !is_bare_answer(&found.json) {
            return None;
        }
        let end = start + found.used;
        let own = self.said(rule, &captures, facts);
        // The messages of one line share its time.
        let shares_time = before.is_some() && rule.within.is_none() && own.time.is_none();
        let mut said = own.or(before.unwrap_or_default());
        let rest = &text[end..];
        let behind = rule.behind.as_ref().and_then(|(regex, facts)| Some((regex.captures(rest.trim_ascii())?, facts)));
        if let Some((captures, facts)) = &behind {
            said = said.or(rule.said(captures, facts));
        }
        said.is_truncated |= found.is_cut || is_shortened(&found.json, rest);
        said.is_truncated |=
            found.is_broken && self.rules.truncated.as_ref().is_some_and(|cut| cut.is_match(&found.json));
        let taken = (behind.is_none() && !rest.trim_ascii().is_empty()).then_some(end);
        let part = taken.map_or(text, |end| &text[..end]);
        if rule.kind == RuleKind::Copy && !is_message {
            more.taken = taken;
            let line = LogLine { session: said.key(), is_copy: true, ..LogLine::new(part) };
            self.line_facts = taken.map(|_| said);
            return Some((0, line.into()));
        }
        // The text of a string begins after its quote.
        let at = start + usize::from(text[start] == b'"');
        let mut is_cut = false;
        let first = match is_message {
            true => {
                let is_exact = matches!(found.json, Cow::Borrowed(_));
                let object = RawObject::parse(&found.json)?;
                let entries = rule.open(&object, &found.json, &said)?;
                let place = |inner: usize| if is_exact { start + inner } else { at };
                more.first_of(entries.into_iter().map(|(inner, entry)| (place(inner), entry.into_owned())))?
            }
            false => {
                let cut = if found.is_broken { CutMessage::of(&found.json) } else { None };
                is_cut = cut.is_some();
                said.is_truncated |= is_cut;
                let result_unknown = cut.as_ref().is_some_and(|cut| cut.result_unknown);
                let mut record = said.of_rule(rule, cut.map_or(found.json, |cut| cut.json.into()), false);
                let result_unknown = result_unknown || record.flags.result_unknown;
                record.flags = Flags { shares_time, reconstructed: is_cut, result_unknown, ..record.flags };
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
        if is_cut {
            return Some(with_copy(part, first, more));
        }
        Some(if is_all_told { first } else { with_text(part, first, more) })
    }

    /// True if a headline with an id is the answer to an open request that went the other way. Otherwise, it is a request, which
    /// is open then.
    fn is_answer(&mut self, id: &[u8], said: &EnvelopeFacts) -> bool {
        let key = (said.session.clone(), id.to_vec());
        if self.open.get(&key).is_some_and(|asked| *asked != said.meaning) {
            self.open.remove(&key);
            return true;
        }
        if self.open.len() < OPEN {
            self.open.insert(key, said.meaning);
        }
        false
    }

    /// Returns the message that a headline describes.
    fn headline<'a>(&mut self, rule: &FormatRule, line: &'a [u8], more: &mut Extras) -> Option<FoundEntry<'a>> {
        let LineRule { regex, facts, is_closed, .. } = rule.line.as_ref()?;
        let captures = regex.captures(if *is_closed && !self.is_rest { line } else { head(line) })?;
        let (mut message, mut flags) = (ObjectBuilder::new(), Flags { reconstructed: true, ..Flags::default() });
        let words = |name| captures.name(name).map(|group| group.as_bytes());
        if let Some(id) = words("id") {
            message.member("id", &if is_whole(id) { id.to_vec() } else { string(id) });
        }
        let said = self.said(rule, &captures, facts);
        let is_answer = rule.kind == RuleKind::Call && self.is_answer(words("id").unwrap_or_default(), &said);
        if let Some(method) = words("method").filter(|_| !is_answer) {
            message.member("method", &string(method));
        }
        flags.result_unknown = is_answer;
        if let Some(code) = words("code").filter(|code| is_whole(code)) {
            let text = words("error").map_or_else(Vec::new, |text| [b",\"message\":", &*string(text)].concat());
            message.member("error", &[b"{\"code\":", code, &text, b"}"].concat());
            return Some((0, Record { flags, ..said.of(message.end().into()) }.into()));
        }
        let mut is_lost = false;
        for name in VALUES {
            let Some(group) = captures.name(name) else { continue };
            if group.is_empty() {
                flags.result_unknown = name == "result";
                continue;
            }
            let value = if *is_closed { group.as_bytes() } else { &line[group.start()..] };
            // A value of any type is the element of an array.
            let array = [b"[", value.trim_ascii(), b"]"].concat();
            let found = rule.spelling.unwrap_or_default().decode(&array).filter(|found| !found.is_broken);
            match found.as_ref().and_then(|found| found.json.strip_prefix(b"[")?.strip_suffix(b"]")) {
                Some(value) => message.member(name, value),
                None if name == "error" => message.member(name, &string(group.as_bytes())),
                None => (is_lost, flags.truncated, flags.result_unknown) = (true, true, name == "result"),
            }
        }
        let found = (0, Record { flags, ..said.of(message.end().into()) }.into());
        // A value that cannot be parsed stays as text.
        Some(if is_lost { with_copy(line, found, more) } else { found })
    }

    /// Returns the first entry of a line, and adds the others to `more`, if the rule reads the line.
    fn line<'a>(&mut self, rule: &FormatRule, line: &'a [u8], more: &mut Extras) -> Option<FoundEntry<'a>> {
        if rule.line.as_ref()?.is_headline {
            return self.headline(rule, line, more);
        }
        if rule.spelling.is_some() {
            let before = self.line_facts.take().filter(|_| self.is_continued);
            let found = match &rule.within {
                None => self.spelled(rule, line, before.clone(), more),
                Some(within) => self.nested(rule, within, line, more),
            };
            self.line_facts = if found.is_none() { before } else { self.line_facts.take() };
            return found;
        }
        let LineRule { regex, is_open, facts, .. } = rule.line.as_ref()?;
        if rule.envelope.is_some() {
            let captures = regex.captures(head(line))?;
            let start = captures.name("message")?.start();
            let (object, length) = RawObject::first(&line[start..])?;
            let (own, said) = (&line[start..start + length], self.said(rule, &captures, facts));
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
                let captures = (at <= line.len()).then(|| regex.captures_at(line, at))??;
                at = captures.name("message")?.end().max(at + 1);
                Some(captures)
            });
            let found = all.filter_map(|captures| {
                let group = captures.name("message")?;
                let message = message(group.as_bytes())?;
                let start = match &message {
                    Cow::Borrowed(part) => offset_in(line, part),
                    Cow::Owned(_) => group.start(),
                };
                Some((start, self.said(rule, &captures, facts).of(message).into()))
            });
            return more.first_of(found);
        }
        let captures = regex.captures(head(line))?;
        if rule.kind == RuleKind::Heading {
            let above = if self.is_heading_new { std::mem::take(&mut self.heading) } else { EnvelopeFacts::default() };
            self.heading = rule.said(&captures, facts).or(above);
            self.is_heading_new = true;
            return Some((0, LogLine { is_heading: true, ..LogLine::new(line) }.into()));
        }
        let said = self.said(rule, &captures, facts);
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
        let (session, restarts) = match self.rules.rules.iter().any(|rule| rule.kind == RuleKind::Start) {
            true => self.connections.get_or_insert_default().of_message(&said.session.unwrap_or_default()),
            false => (said.session, None),
        };
        let is_truncated = self.rules.truncated.as_ref().is_some_and(|cut| cut.is_match(&message));
        let end = if let Cow::Borrowed(part) = message { start + part.len() } else { line.len() };
        let own = &line[..more.taken.unwrap_or(line.len())];
        let is_all_told = !names_member(&line[..start]) && own.get(end..).is_none_or(|behind| !names_member(behind));
        let facts = EnvelopeFacts { session, is_truncated, ..said };
        if let Some(cut) = CutMessage::of_broken(&message) {
            let CutMessage { json, result_unknown } = cut;
            let mut record = Record { restarts, ..EnvelopeFacts { is_truncated: true, ..facts }.of(json.into()) };
            record.flags = Flags { reconstructed: true, result_unknown, ..record.flags };
            return Some(with_copy(own, (start, record.into()), more));
        }
        let found = (start, Record { restarts, ..facts.of(message) }.into());
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

    /// Returns the key of the next message, and the key of the connection before, if it ended.
    fn of_message(&mut self, name: &str) -> (Option<String>, Option<Box<str>>) {
        let connection = self.named.entry(name.to_owned()).or_default();
        let mut ended = None;
        if std::mem::take(&mut connection.is_starting) || connection.count == 0 {
            ended = (connection.count > 0).then(|| connection.key.as_deref().unwrap_or_default().into());
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
        (connection.key.clone(), ended)
    }
}

/// True if a line is a batch of messages.
fn is_batch(line: &[u8]) -> bool {
    line.starts_with(b"[")
        && Certainty::of(line) == Certainty::Sure
        && matches!(value(line), Extent::Whole(length) if length == line.len())
}

/// True if the text behind a message says that it had more bytes, as in `"ab...yz" [5120 bytes]`.
fn is_shortened(message: &[u8], behind: &[u8]) -> bool {
    let stated = || -> Option<usize> {
        let text = std::str::from_utf8(behind).ok()?.trim_end().strip_suffix([']', ')'])?.strip_suffix(" bytes")?;
        let digits = text.len() - text.trim_end_matches(|last: char| last.is_ascii_digit()).len();
        text.get(text.len() - digits..)?.parse().ok()
    };
    // Spaces between members may not have been written.
    let is_elided = || memchr::memmem::find(message, b"...").is_some();
    stated().is_some_and(|stated| stated >= if is_elided() { message.len() + 3 } else { message.len() * 3 / 2 + 16 })
}
