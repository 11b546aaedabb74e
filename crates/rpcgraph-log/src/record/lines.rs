//! Formats of lines, some of which hold a message: the common part of most formats.

use super::certainty::mentions;
use super::decoder::{Decoder, Step, leading_blanks, trim_end};
use super::object::{RawObject, offset_in};
use super::{Entry, LogLine, Record};
use memchr::memchr;
use std::collections::VecDeque;
use std::iter;

/// The maximum size of the mark before a message, in bytes.
pub(super) const HEAD: usize = 4096;

/// Returns the part of a line that may have a mark.
pub(super) fn head(line: &[u8]) -> &[u8] {
    &line[..line.len().min(HEAD)]
}

/// The offset of an entry in its line, and the entry.
pub(super) type FoundEntry<'a> = (usize, Entry<'a>);

/// The content of a piece of the input, a line or an element, besides the first entry.
#[derive(Default)]
pub(super) struct Extras {
    /// The other entries, and their offsets in the piece.
    pub entries: VecDeque<FoundEntry<'static>>,
    /// The number of bytes of a line that they take, if the rest is to be read as a line of its own.
    pub taken: Option<usize>,
    /// The size of the piece, in bytes.
    length: usize,
    /// True if a record of the piece was given.
    has_record: bool,
}

impl Extras {
    /// Gives the first entry of a piece of `length` bytes. The last entry consumes the piece.
    #[inline]
    pub(super) fn give<'a>(&mut self, found: FoundEntry<'a>, length: usize) -> Step<'a> {
        (self.length, self.has_record) = (length, false);
        self.pass(found)
    }

    #[inline]
    fn pass<'a>(&mut self, (start, entry): FoundEntry<'a>) -> Step<'a> {
        self.has_record |= matches!(entry, Entry::Record(_));
        let consumed = if self.entries.is_empty() { self.length } else { 0 };
        Step::Entry { start, consumed, entry }
    }

    /// Returns the first one of the entries of a piece, and keeps the others.
    pub(super) fn first_of<'a>(&mut self, found: impl IntoIterator<Item = FoundEntry<'a>>) -> Option<FoundEntry<'a>> {
        let mut found = found.into_iter();
        let first = found.next()?;
        self.entries.extend(found.map(|(start, entry)| (start, entry.into_owned())));
        Some(first)
    }

    /// Gives the next entry of the piece.
    #[inline]
    pub(super) fn resume<'a>(&mut self) -> Option<Step<'a>> {
        let (start, mut entry) = self.entries.pop_front()?;
        if let Entry::Record(record) = &mut entry {
            record.flags.shares_time |= self.has_record;
        }
        Some(self.pass((start, entry)))
    }
}

/// The line at the beginning of `input`. It has `length` bytes with its end. If `end` is true, nothing follows the
/// input.
#[derive(Clone, Copy)]
pub(super) struct LineInInput<'a> {
    pub line: &'a [u8],
    pub length: usize,
    pub input: &'a [u8],
    pub end: bool,
}

/// Reads the lines of one format, one after the other.
pub(super) trait LineFormat: Send {
    /// Returns the first entry on a line, which is given without blanks around it. `None` if the line is text between
    /// messages.
    fn read<'a>(&mut self, _line: &'a [u8], _more: &mut Extras) -> Option<FoundEntry<'a>> {
        None
    }

    /// True if an entry that is too long ends with its line; otherwise it ends with the value in it.
    fn splits_lines(&self) -> bool {
        false
    }

    /// Continues what was begun, or reads input that does not begin as a line. `None` if a line begins here, or
    /// continues.
    #[inline]
    fn resume<'a>(&mut self, _input: &'a [u8], _end: bool, _more: &mut Extras) -> Option<Step<'a>> {
        None
    }

    /// Consumes a span other than the current line. `None` if the line is to be read by itself.
    #[inline]
    fn below<'a>(&mut self, _at: LineInInput<'a>, _more: &mut Extras) -> Option<Step<'a>> {
        None
    }

    /// True if the last line may hold a message that was not read.
    fn is_unread(&self) -> bool {
        false
    }
}

/// Gives the entries that [`LineFormat`] finds on each line, and every other line as a [`LogLine`]. Lines end with LF
/// or CRLF, the last one also with the input.
pub(super) struct LineSplitter {
    /// The number of bytes of the input that are known not to hold an LF.
    searched: usize,
    format: Box<dyn LineFormat>,
    more: Extras,
}

impl LineSplitter {
    pub(super) fn boxed(format: impl LineFormat + 'static) -> Box<dyn Decoder> {
        Box::new(Self { searched: 0, format: Box::new(format), more: Extras::default() })
    }
}

impl Decoder for LineSplitter {
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        if let Some(step) = self.more.resume() {
            return step;
        }
        if let Some(step) = self.format.resume(input, end, &mut self.more) {
            self.searched = self.searched.saturating_sub(step.consumed());
            return step;
        }
        let blanks = leading_blanks(input);
        if blanks > 0 {
            self.searched = self.searched.saturating_sub(blanks);
            return Step::Skip { consumed: blanks };
        }
        let line_end = memchr(b'\n', &input[self.searched.min(input.len())..]).map(|at| self.searched + at);
        if line_end.is_none() && !end || input.is_empty() {
            self.searched = input.len();
            return Step::NeedMore;
        }
        self.searched = 0;
        let line = &input[..line_end.unwrap_or(input.len())];
        self.line(line, line_end.map_or(line.len(), |at| at + 1), input, end)
    }

    fn splits_lines(&self) -> bool {
        self.format.splits_lines()
    }

    fn is_unread(&self) -> bool {
        self.format.is_unread()
    }
}

impl LineSplitter {
    /// Reads the line at the beginning of the input, which has `length` bytes with its end.
    #[inline]
    fn line<'a>(&mut self, line: &'a [u8], length: usize, input: &'a [u8], end: bool) -> Step<'a> {
        let text = trim_end(line);
        if let Some(step) = self.format.below(LineInInput { line: text, length, input, end }, &mut self.more) {
            if step.consumed() > 0 {
                self.searched = line.len().saturating_sub(step.consumed());
            }
            return step;
        }
        let found = self.format.read(text, &mut self.more);
        let Some(found) = found else { return Step::entry(0, length, LogLine::new(text)) };
        let Some(part) = self.more.taken.take() else { return self.more.give(found, length) };
        // The rest is another line, whose end is known.
        self.searched = line.len().saturating_sub(part);
        self.more.give(found, part)
    }
}

/// Returns the entry found in an envelope, and before it the `text` of the envelope if a member that is not `known`
/// mentions more messages than were found in it, or if the text after the last member does.
pub(super) fn with_others<'a>(
    envelope: &RawObject<'_>,
    text: &'a [u8],
    known: &[&str],
    (start, entry): FoundEntry<'a>,
    more: &mut Extras,
) -> FoundEntry<'a> {
    if entry.bytes().len() >= text.len() {
        return (start, entry);
    }
    let others = more.entries.iter().map(|(start, entry)| (*start, entry.bytes()));
    let found: Vec<_> = iter::once((start, entry.bytes())).chain(others).collect();
    let says_more = |(name, value): (&[u8], &[u8])| {
        let start = offset_in(text, value);
        // The member is the message that was found.
        if found.iter().any(|(at, bytes)| *at == start && bytes.len() == value.len()) {
            return false;
        }
        let within = found.iter().filter(|(at, _)| (start..start + value.len()).contains(at));
        !known.iter().any(|known| known.as_bytes() == name)
            && mentions(value) > within.map(|(_, bytes)| mentions(bytes)).sum()
    };
    let end = envelope.members().last().map_or(0, |(_, value)| offset_in(text, value) + value.len());
    match envelope.members().any(says_more) || mentions(&text[end..]) > 0 {
        true => with_text(text, (start, entry), more),
        false => (start, entry),
    }
}

/// Gives the text of a piece, and then the entry found there.
pub(super) fn with_text<'a>(text: &'a [u8], (start, entry): FoundEntry<'a>, more: &mut Extras) -> FoundEntry<'a> {
    more.entries.push_front((start, entry.into_owned()));
    (0, LogLine::new(text).into())
}

/// Gives the text of a message that is cut off or shortened, as a copy, and then what can be read of the message.
pub(super) fn with_copy<'a>(text: &'a [u8], (start, message): FoundEntry<'a>, more: &mut Extras) -> FoundEntry<'a> {
    more.entries.push_front((start, message.into_owned()));
    (0, LogLine { is_copy: true, ..LogLine::new(text) }.into())
}

/// Returns the first entry of a line that may be an object with a message inside. `open` returns the first entry in an
/// object, which may be cut off; `None` if the object is not an envelope.
///
/// Lines that are not objects are text. An object that is not an envelope is text too if it is whole. It is a record as
/// it is if it has a syntax error, is cut off, or is a message without an envelope. The text after an object is read as
/// another line.
pub(super) fn in_envelope<'a>(
    line: &'a [u8],
    more: &mut Extras,
    open: impl FnOnce(&RawObject<'a>, &'a [u8], &mut Extras) -> Option<FoundEntry<'a>>,
) -> Option<FoundEntry<'a>> {
    let Some((object, length)) = RawObject::first(line) else { return Some((0, LogLine::new(line).into())) };
    let own = &line[..length];
    more.taken = (length < line.len()).then_some(length);
    let is_text = object.is_whole() && !object.has("jsonrpc");
    let otherwise = || if is_text { LogLine::new(own).into() } else { Record::new(own).into() };
    Some(open(&object, own, more).unwrap_or_else(|| (0, otherwise())))
}

#[cfg(test)]
mod tests {
    use super::super::capped::CappedDecoder;
    use super::super::decoder::tests::{entries, texts};
    use super::super::{Flags, Sender};
    use super::*;
    use std::borrow::Cow;

    /// Reads `NAME>MESSAGE`. The client sends all messages.
    struct Names;

    impl LineFormat for Names {
        fn read<'a>(&mut self, line: &'a [u8], _: &mut Extras) -> Option<FoundEntry<'a>> {
            let at = head(line).iter().position(|&byte| byte == b'>')?;
            let record = Record {
                sender: Some(Sender::Client),
                session: Some(Cow::Owned(String::from_utf8_lossy(&line[..at]).into_owned())),
                flags: Flags { truncated: true, ..Flags::default() },
                ..Record::new(&line[at + 1..])
            };
            (at + 1 < line.len()).then(|| (at + 1, record.into()))
        }
    }

    #[test]
    fn records_and_lines_between() {
        let name = "n".repeat(HEAD);
        let long = "x".repeat(HEAD + 30);
        let input = format!("a>1\n text \r\n\n  b>{{}}  \r\n>\n{name}>1\na>{long} \n{long}\nb>123456\n>7");
        let found = entries(|| CappedDecoder::boxed(LineSplitter::boxed(Names), 5), input.as_bytes());
        assert_eq!(texts(&found), ["1", "# text", "{}", "# >", "# <4098>", "<4126>", "# <4126>", "<6>", "7"]);
        let records = found.iter().filter_map(|(_, entry)| match entry {
            Entry::Record(r) => Some((r.session.as_deref(), r.sender, r.flags.truncated)),
            Entry::LogLine(_) => None,
        });
        let client = Some(Sender::Client);
        let all = ["a", "b", "a", "b", ""].map(|name| (Some(name), client, true));
        assert_eq!(records.collect::<Vec<_>>(), all);
    }
}
