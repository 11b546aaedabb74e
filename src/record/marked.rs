//! Formats of lines, of which some hold a message: what most logs have in common.

use super::decoder::{Decoder, Line, Lines, Step};
use super::object::RawObject;
use super::{Entry, LogLine, Record};

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
}

impl<M: Marks + 'static> MarkedLines<M> {
    /// A decoder of messages with at most `limit` bytes, on lines with at most `around` bytes more.
    pub(super) fn boxed(limit: usize, around: usize, marks: M) -> Box<dyn Decoder> {
        Box::new(Self { limit, lines: Lines::new(limit.saturating_add(around)), marks, long: None })
    }
}

impl<M: Marks> Decoder for MarkedLines<M> {
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        match self.lines.step(input, end) {
            Line::NeedMore => Step::NeedMore,
            Line::Skip(consumed) => Step::Skip { consumed },
            Line::Whole(text, consumed) => match self.marks.read(text) {
                Some((start, entry)) => Step::Entry { start, consumed, entry: entry.within(self.limit) },
                None => Step::entry(0, consumed, LogLine::new(text)),
            },
            Line::Long(head) => {
                let (start, entry) = self.marks.read(head).unwrap_or_else(|| (0, LogLine::new(head).into()));
                self.long = Some((start, entry.oversized(0)));
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
const AROUND: usize = 48 * 1024;

/// A decoder of lines that each are an object with a message inside. `open` finds the message in an object, which may be
/// cut off, or a line of text; `None`: it is not an envelope.
///
/// Lines that are not objects are text. An object that is not an envelope is text too if it is whole, and a record as it
/// is if it has an error in it, is cut off, or is a message that stands there without envelope.
pub(super) fn enveloped<F>(limit: usize, open: F) -> Box<dyn Decoder>
where
    F: for<'a> FnMut(&RawObject<'a>, &'a [u8]) -> Option<Found<'a>> + Send + 'static,
{
    MarkedLines::boxed(limit, AROUND, Enveloped(open))
}

struct Enveloped<F>(F);

impl<F: for<'a> FnMut(&RawObject<'a>, &'a [u8]) -> Option<Found<'a>> + Send> Marks for Enveloped<F> {
    fn read<'a>(&mut self, line: &'a [u8]) -> Option<Found<'a>> {
        let Some(object) = RawObject::parse(line) else { return Some((0, LogLine::new(line).into())) };
        (self.0)(&object, line).or_else(|| match object.is_whole() && !object.has("jsonrpc") {
            true => Some((0, LogLine::new(line).into())),
            false => Some((0, Record::new(line).into())),
        })
    }
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
