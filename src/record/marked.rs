//! Formats of lines, of which some hold a message: what most logs have in common.

use super::decoder::{Decoder, Line, Lines, Step, is_blank, leading_blanks, trim_end};
use super::known::may_hold_message;
use super::object::{RawObject, extent, is_message, offset_in, unescape};
use super::scan::Scan;
use super::value::{Extent, value};
use super::{Entry, LogLine, Record};
use memchr::{memchr, memchr_iter};
use std::borrow::Cow;
use std::collections::VecDeque;

/// How many bytes the mark in front of a message may have. A line that is longer than the limit by more is not kept.
pub(super) const HEAD: usize = 4096;

/// The part of a line where a mark may be.
pub(super) fn head(line: &[u8]) -> &[u8] {
    &line[..line.len().min(HEAD)]
}

/// Where in its line an entry begins, and the entry.
pub(super) type Found<'a> = (usize, Entry<'a>);

/// Reads the lines of one format, one after the other. Formats that need not remember anything are a function.
pub(super) trait Marks: Send {
    /// Finds the message on a line, which has no blanks around it; `None`: it is text between messages.
    ///
    /// Of a line that is too long to be kept, only the beginning is given.
    fn read<'a>(&mut self, line: &'a [u8]) -> Option<Found<'a>>;

    /// Where on a line a value may begin that goes on in the lines below: at its last byte, or behind it.
    #[inline]
    fn opens(&mut self, _line: &[u8]) -> Option<usize> {
        None
    }

    /// The message that such a value is, behind that text.
    #[inline]
    fn spread<'a>(&mut self, _front: &[u8], _value: &'a [u8]) -> Option<Record<'a>> {
        None
    }

    /// The next message on the same line; asked after [`Marks::read`] has found one.
    #[inline]
    fn further(&mut self) -> Option<Found<'static>> {
        None
    }

    /// Looks at the lines below, where they decide what to make of the line that was read. `input` begins with that line, which
    /// has `length` bytes with its end, and does not go on at the `end`.
    #[inline]
    fn look_ahead(&mut self, _input: &[u8], _length: usize, _end: bool) -> LookedAhead {
        LookedAhead::NotNeeded
    }

    /// How many bytes of the line what was read takes, where the rest is to be read as a line of its own.
    #[inline]
    fn taken(&mut self) -> Option<usize> {
        None
    }
}

/// What came of looking at lines below.
pub(super) enum LookedAhead {
    /// Nothing depends on them.
    NotNeeded,
    /// It needs more of them.
    NeedMore,
    /// What the line is has been decided: it is to be read again.
    Decided,
}

impl<F: for<'a> Fn(&'a [u8]) -> Option<Found<'a>> + Send> Marks for F {
    #[inline]
    fn read<'a>(&mut self, line: &'a [u8]) -> Option<Found<'a>> {
        self(line)
    }
}

/// Whether a message was found that begins as an object or an array.
pub(super) fn is_structured(found: Option<Found<'_>>) -> bool {
    found.is_some_and(|(_, entry)| matches!(entry, Entry::Record(_)) && matches!(entry.bytes(), [b'{' | b'[', ..]))
}

/// Gives what [`Marks`] finds on each line, and every other line as a [`LogLine`].
pub(super) struct MarkedLines<M> {
    limit: usize,
    lines: Lines,
    marks: M,
    /// Where the entry begins in the line that is being passed over, and the entry without its bytes.
    long: Option<Found<'static>>,
    /// A further message of the line that the input still begins with, and how many bytes that line has.
    held: Option<(Found<'static>, usize)>,
    /// How many lines were looked at in vain for the end of a value: none of them is looked at so again.
    closed: usize,
}

/// A decoder of lines of which none is a message that could be read.
pub(super) fn text_lines(limit: usize) -> Box<dyn Decoder> {
    fn no_message(_: &[u8]) -> Option<Found<'_>> {
        None
    }
    MarkedLines::boxed(limit, 0, no_message)
}

impl<M: Marks + 'static> MarkedLines<M> {
    /// A decoder of messages with at most `limit` bytes, on lines with at most `around` bytes more.
    pub(super) fn boxed(limit: usize, around: usize, marks: M) -> Box<dyn Decoder> {
        Box::new(Self {
            limit,
            lines: Lines::new(limit.saturating_add(around)),
            marks,
            long: None,
            held: None,
            closed: 0,
        })
    }
}

impl<M: Marks> MarkedLines<M> {
    /// Gives what was found on a line of `length` bytes, which is done with once nothing further is on it.
    #[inline]
    fn give<'a>(&mut self, (start, entry): Found<'a>, length: usize) -> Step<'a> {
        let mut consumed = length;
        if let Some(further) = self.marks.further() {
            (self.held, consumed) = (Some((further, length)), 0);
        }
        Step::Entry { start, consumed, entry: entry.within(self.limit) }
    }
}

impl<M: Marks> MarkedLines<M> {
    /// The message that may begin at this place of the line that the input begins with, and goes on in the lines below it.
    fn spread<'a>(&mut self, at: usize, input: &'a [u8], end: bool) -> Option<Step<'a>> {
        let window = &input[..input.len().min(self.limit.saturating_add(AROUND))];
        let is_all = end || window.len() < input.len();
        let start = at + leading_blanks(&window[at..]);
        match window.get(start) {
            None => return (!is_all).then_some(Step::NeedMore),
            Some(b'{' | b'[') => {}
            Some(_) => return None,
        }
        // No line of JSON begins otherwise, unless it is in brackets.
        let goes_on = |byte: u8| is_blank(byte) || b"\"{},]".contains(&byte);
        let ends = memchr_iter(b'\n', &window[start..]).map(|at| start + at + 1);
        let bound = ends.into_iter().find(|&at| window.get(at).is_some_and(|byte| !goes_on(*byte)));
        let text = &window[start..bound.unwrap_or(window.len())];
        let length = match Scan::value().end(text) {
            Some(length) => length,
            None if bound.is_none() && !is_all => return Some(Step::NeedMore),
            None => trim_end(text).len(),
        };
        let value = &text[..length];
        let lines = memchr_iter(b'\n', value).count();
        match self.marks.spread(&window[..at], value).filter(|_| lines > 0) {
            Some(record) => Some(Step::entry(start, start + length, Entry::from(record).within(self.limit))),
            None => {
                self.closed = lines + 1;
                None
            }
        }
    }
}

impl<M: Marks> Decoder for MarkedLines<M> {
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        // Taking it moves all of its bytes, also where there is none.
        if self.held.is_some()
            && let Some((found, consumed)) = self.held.take()
        {
            return self.give(found, consumed);
        }
        match self.lines.step(input, end) {
            Line::NeedMore => Step::NeedMore,
            Line::Skip(consumed) => Step::Skip { consumed },
            Line::Whole(text, consumed) => {
                if let Some(at) = self.marks.opens(text)
                    && self.closed == 0
                    && let Some(step) = self.spread(at, input, end)
                {
                    return step;
                }
                let found = self.marks.read(text);
                match self.marks.look_ahead(input, consumed, end) {
                    LookedAhead::NotNeeded => {}
                    LookedAhead::NeedMore => return Step::NeedMore,
                    LookedAhead::Decided => return self.step(input, end),
                }
                self.closed = self.closed.saturating_sub(1);
                match found {
                    Some(found) => {
                        let part = self.marks.taken();
                        let consumed = part.map_or(consumed, |part| self.lines.take(part));
                        self.give(found, consumed)
                    }
                    None => Step::entry(0, consumed, LogLine::new(text)),
                }
            }
            Line::Long(head) => {
                let (start, entry) = self.marks.read(head).unwrap_or_else(|| (0, LogLine::new(head).into()));
                self.long = Some((start, entry.oversized(0)));
                while self.marks.further().is_some() {}
                self.marks.taken();
                Step::Begin { start, consumed: head.len() }
            }
            Line::End(length, consumed) => match self.long.take() {
                Some((start, entry)) => Step::entry(0, consumed, entry.oversized(length.saturating_sub(start as u64))),
                None => Step::Skip { consumed },
            },
        }
    }
}

/// How much longer than the limit a line with an envelope may be, so that a message of that size fits into it.
pub(super) const AROUND: usize = 48 * 1024;

/// A decoder of lines that each are an object with a message inside. `open` finds the message in an object, which may be
/// cut off, or a line of text; `None`: it is not an envelope.
///
/// What an envelope holds besides its first message is added to the [`More`], and so is what is in [others](others) than the
/// `known` members. Lines that are not objects are text. An object that is not an envelope is text too if it is whole, and a
/// record as it is if it has an error in it, is cut off, or is a message that stands there without envelope. What stands
/// behind an object, or behind the message in one that does not end, is read as another line: two writers may share a log.
pub(super) fn enveloped<F>(limit: usize, known: KnownMembers, open: F) -> Box<dyn Decoder>
where
    F: for<'a> FnMut(&RawObject<'a>, &'a [u8], &mut More) -> Option<Found<'a>> + Send + 'static,
{
    MarkedLines::boxed(limit, AROUND, Enveloped { open, known, more: More::new(), taken: None })
}

/// The members that may hold messages, or words of such, without being messages of the log; `None`: all may.
pub(super) type KnownMembers = Option<&'static [&'static str]>;

/// What is in an envelope besides the entries that were `found`, each of which begins at a place and has a length: messages
/// in other members than the `known` ones. Before them, the `text` of the envelope, if a message may be deeper in such a
/// member, or if it has not the commas of JSON: which of its members say what, nobody knows.
pub(super) fn others(
    envelope: &RawObject<'_>,
    text: &[u8],
    known: KnownMembers,
    found: impl Iterator<Item = (usize, usize)> + Clone,
) -> Vec<Found<'static>> {
    if found.clone().any(|(_, length)| length >= text.len()) {
        return Vec::new();
    }
    let (mut messages, mut is_text) = (Vec::new(), !envelope.is_proper());
    let is_known = |name: &[u8]| known.is_none_or(|known| known.iter().any(|known| known.as_bytes() == name));
    for (_, value) in envelope.members().filter(|(name, value)| !is_known(name) && may_hold_message(value)) {
        let start = offset_in(text, value);
        if found.clone().any(|(at, _)| (start..start + value.len()).contains(&at)) {
            continue;
        }
        let (start, inside) = unescape(value).map_or((start, Cow::Borrowed(value)), |text| (start + 1, text));
        let inside = inside.trim_ascii();
        match RawObject::parse(inside).is_some_and(|object| is_message(&object)) {
            true => messages.push((start, Record::new(inside.to_vec()).into())),
            false => is_text = true,
        }
    }
    let text = is_text.then(|| (0, Entry::from(LogLine::new(text.to_vec()))));
    text.into_iter().chain(messages).collect()
}

/// What else was found in an envelope.
pub(super) type More = VecDeque<Found<'static>>;

struct Enveloped<F> {
    open: F,
    known: KnownMembers,
    more: More,
    taken: Option<usize>,
}

impl<F: for<'a> FnMut(&RawObject<'a>, &'a [u8], &mut More) -> Option<Found<'a>> + Send> Marks for Enveloped<F> {
    fn read<'a>(&mut self, line: &'a [u8]) -> Option<Found<'a>> {
        let Some((object, length)) = RawObject::first(line) else { return Some((0, LogLine::new(line).into())) };
        let own = &line[..length];
        let found = (self.open)(&object, own, &mut self.more);
        self.taken = Some(match &found {
            Some((start, _)) if !object.is_whole() => behind(own, self.more.back().map_or(*start, |(last, _)| *last)),
            _ => length,
        });
        // An envelope that is only cut off has no more to tell.
        let is_cut = |taken| length == line.len() && memchr(b'{', &line[taken..]).is_none() && is_incomplete(line);
        self.taken = self.taken.filter(|&taken| taken < line.len() && !is_cut(taken));
        let Some((start, entry)) = found else {
            return match object.is_whole() && !object.has("jsonrpc") {
                true => Some((0, LogLine::new(own).into())),
                false => Some((0, Record::new(own).into())),
            };
        };
        let own = &line[..self.taken.unwrap_or(line.len())];
        let places = self.more.iter().map(|(start, entry)| (*start, entry.bytes().len()));
        let places = std::iter::once((start, entry.bytes().len())).chain(places);
        let others = others(&object, own, self.known, places);
        if others.is_empty() {
            return Some((start, entry));
        }
        let found = std::iter::once((start, entry.into_owned())).chain(self.more.drain(..));
        let mut all: Vec<_> = others.into_iter().chain(found).collect();
        all.sort_by_key(|(start, _)| *start);
        self.more = all.into();
        self.more.pop_front()
    }

    fn further(&mut self) -> Option<Found<'static>> {
        self.more.pop_front()
    }

    fn taken(&mut self) -> Option<usize> {
        self.taken.take()
    }
}

fn is_incomplete(line: &[u8]) -> bool {
    matches!(value(line), Extent::Incomplete)
}

/// Where the value ends that begins at `start`, or the string whose text does.
fn behind(line: &[u8], start: usize) -> usize {
    let start = if line[..start].ends_with(b"\"") { start - 1 } else { start };
    start + extent(&line[start..], line[start..].starts_with(b"\"")).0
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{entries, texts};
    use super::super::{Flags, Sender};
    use super::*;
    use std::borrow::Cow;

    /// `NAME>MESSAGE`, of which the client sends all.
    fn names(line: &[u8]) -> Option<Found<'_>> {
        let at = head(line).iter().position(|&byte| byte == b'>')?;
        let record = Record {
            sender: Some(Sender::Client),
            session: Some(Cow::Owned(String::from_utf8_lossy(&line[..at]).into_owned())),
            flags: Flags { truncated: true, ..Flags::default() },
            ..Record::new(&line[at + 1..])
        };
        (at + 1 < line.len()).then(|| (at + 1, record.into()))
    }

    #[test]
    fn records_and_lines_between() {
        let name = "n".repeat(HEAD);
        let long = "x".repeat(HEAD + 30);
        let input = format!("a>1\n text \r\n\n  b>{{}}  \r\n>\n{name}>1\na>{long} \n{long}\nb>123456\n>7");
        let found = entries(|| MarkedLines::boxed(5, HEAD, names), input.as_bytes());
        let text = format!("# {name}>1");
        assert_eq!(texts(&found), ["1", "# text", "{}", "# >", &text, "<4126>", "# <4126>", "<6>", "7"]);
        let records = found.iter().filter_map(|(_, entry)| match entry {
            Entry::Record(r) => Some((r.session.as_deref(), r.sender, r.flags.truncated)),
            Entry::LogLine(_) => None,
        });
        let client = Some(Sender::Client);
        let all = ["a", "b", "a", "b", ""].map(|name| (Some(name), client, true));
        assert_eq!(records.collect::<Vec<_>>(), all);
    }
}
