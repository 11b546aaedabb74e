//! Formats of lines that each are a JSON object with a message inside.

use super::decoder::{Decoder, Line, Lines, Step};
use super::detect::Window;
use super::object::{Object, offset_in};
use super::{Entry, LogLine, Record};
use std::borrow::Cow;

/// How much longer than the limit a line may be, so that a message of that size fits into it with what is around it.
const AROUND: usize = 48 * 1024;

/// What a format makes of its lines.
pub(super) trait Envelope: Send {
    /// Opens an object, which may be cut off: the message in it, a line of text, or `None` if it is no envelope.
    fn open<'a>(&mut self, object: &Object<'a>, line: &'a [u8]) -> Option<Opened<'a>>;
}

/// What was in a line.
#[derive(Debug)]
pub(super) struct Opened<'a> {
    /// Where in the line it begins.
    pub start: usize,
    pub entry: Entry<'a>,
}

impl<'a> Opened<'a> {
    pub(super) fn new(start: usize, entry: impl Into<Entry<'a>>) -> Self {
        Self { start, entry: entry.into() }
    }

    /// A value of the line as it is spelled there.
    pub(super) fn record(line: &[u8], value: &'a [u8]) -> (usize, Record<'a>) {
        (offset_in(line, value), Record::new(value))
    }
}

/// The lines that are objects with members. One with an error in it does not count, unless that is the end of the window.
pub(super) fn objects<'a>(window: &Window<'a>) -> impl Iterator<Item = Object<'a>> {
    let end = window.bytes().len();
    window.lines().filter_map(move |(at, line)| {
        let object = Object::parse(line).filter(|object| !object.is_empty())?;
        (object.is_whole() || at + line.len() == end).then_some(object)
    })
}

/// A decoder of such lines. Lines that are no objects are text; an object that is no envelope is text too if it is whole,
/// and a record as it is if it has an error in it, is cut off, or is a message that stands there without envelope.
pub(super) struct Enveloped<E> {
    limit: usize,
    lines: Lines,
    envelope: E,
    /// What the line is that is being passed over, without its bytes.
    long: Option<Opened<'static>>,
}

impl<E: Envelope> Enveloped<E> {
    pub(super) fn new(limit: usize, envelope: E) -> Self {
        Self { limit, lines: Lines::new(limit.saturating_add(AROUND)), envelope, long: None }
    }

    fn open<'a>(&mut self, line: &'a [u8]) -> Opened<'a> {
        let Some(object) = Object::parse(line) else { return Opened::new(0, LogLine::new(line)) };
        match self.envelope.open(&object, line) {
            Some(opened) => opened,
            None if object.is_whole() && !object.has("jsonrpc") => Opened::new(0, LogLine::new(line)),
            None => Opened::new(0, Record::new(line)),
        }
    }
}

impl<E: Envelope> Decoder for Enveloped<E> {
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        match self.lines.step(input, end) {
            Line::NeedMore => Step::NeedMore,
            Line::Skip { consumed } => Step::Skip { consumed },
            Line::Whole { text, consumed } => {
                let Opened { start, entry } = self.open(text);
                let length = length(&entry);
                let entry = if length > self.limit as u64 { oversized(entry, length) } else { entry };
                Step::Entry { start, consumed, entry }
            }
            Line::Long { head, consumed } => {
                let Opened { start, entry } = self.open(head);
                self.long = Some(Opened { start, entry: oversized(entry, 0) });
                Step::Begin { start, consumed }
            }
            Line::End { length, consumed } => match self.long.take() {
                Some(Opened { start, entry }) => {
                    Step::entry(0, consumed, oversized(entry, length.saturating_sub(start as u64)))
                }
                None => Step::Skip { consumed },
            },
        }
    }
}

fn length(entry: &Entry<'_>) -> u64 {
    match entry {
        Entry::Record(record) => record.length,
        Entry::LogLine(line) => line.length,
    }
}

/// The same entry without its bytes. In a line that was passed over, the length goes to the end of the line.
fn oversized(entry: Entry<'_>, length: u64) -> Entry<'static> {
    match entry {
        Entry::Record(mut record) => {
            record.flags.oversized = true;
            Entry::Record(Record { bytes: Cow::Borrowed(&[]), length, ..record }.into_owned())
        }
        Entry::LogLine(_) => Entry::LogLine(LogLine::oversized(length)),
    }
}
