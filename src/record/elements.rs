//! Formats that are an array, whose elements are read one by one, so that the array may be larger than memory.

use super::about::Window;
use super::decoder::{Decoder, Lines, Passed, Step, leading_blanks, trim_end};
use super::marked::{Found, KnownMembers, others};
use super::object::{RawObject, elements};
use super::scan::Scan;
use super::value::is_whole;
use super::{Entry, LogLine, Record};
use memchr::memrchr;
use std::collections::VecDeque;

/// One format's reading of an array and of the text around it.
pub(super) trait ArrayFormat: Send {
    /// Says what comes next, where `input` begins with neither a blank nor a part of something.
    fn next<'a>(&mut self, elements: &mut Elements, input: &'a [u8], end: bool) -> Step<'a>;
}

/// A decoder of such a format.
pub(super) struct ArrayDecoder<F> {
    elements: Elements,
    format: F,
}

impl<F: ArrayFormat + 'static> ArrayDecoder<F> {
    /// Of elements that have at most `around` bytes more than the limit for a record.
    pub(super) fn boxed(limit: usize, around: usize, format: F) -> Box<dyn Decoder> {
        let elements = Elements {
            limit,
            most: limit.saturating_add(around),
            lines: Lines::new(limit),
            indent: 0,
            line_begins: true,
            long: None,
            found: VecDeque::new(),
            length: 0,
        };
        Box::new(Self { elements, format })
    }
}

impl<F: ArrayFormat> Decoder for ArrayDecoder<F> {
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        let resumed = self.elements.resume(input, end);
        let step = resumed.unwrap_or_else(|| self.format.next(&mut self.elements, input, end));
        if let Step::Skip { consumed } | Step::Begin { consumed, .. } | Step::Entry { consumed, .. } = step {
            self.elements.note(&input[..consumed]);
        }
        step
    }
}

/// How much longer than the limit an object may be, for what it has besides a message.
pub(super) const AROUND: usize = 60 * 1024;

/// The first element of the array that is the first value, as far as it can be seen, if it is an object.
pub(super) fn first_element<'a>(window: &Window<'a>) -> Option<RawObject<'a>> {
    elements(&window.bytes[window.before_values()..]).next().and_then(RawObject::parse)
}

/// What an object holds, and where in it each begins; `None`: it is not one of the format.
pub(super) type ReadObject = Box<dyn FnMut(&RawObject<'_>, &[u8], usize) -> Option<Vec<Found<'static>>> + Send>;

/// An array of objects. One that is not of the format is a record as a whole; other lines are text.
pub(super) struct ObjectArray(KnownMembers, ReadObject);

impl ArrayDecoder<ObjectArray> {
    /// A decoder of an array of objects, in which what is in [others](others) than the `known` members is told too.
    pub(super) fn of_objects(limit: usize, known: KnownMembers, read: ReadObject) -> Box<dyn Decoder> {
        Self::boxed(limit, AROUND, ObjectArray(known, read))
    }
}

impl ArrayFormat for ObjectArray {
    fn next<'a>(&mut self, elements: &mut Elements, input: &'a [u8], end: bool) -> Step<'a> {
        match input {
            [b'{', ..] => {
                let scan = Scan::object(elements.column());
                elements.element(input, end, scan, |elements, Element { text, length, .. }| {
                    match self.read(text, elements.limit) {
                        Some(found) => elements.give(found, length),
                        None => Step::entry(0, length, Record::within(elements.limit, text)),
                    }
                })
            }
            [b',' | b']', ..] => Step::Skip { consumed: 1 },
            [b'[', rest @ ..] => {
                let behind = &rest[..rest.len().min(AROUND)];
                match behind.get(leading_blanks(behind)) {
                    None if !end && behind.len() < AROUND => Step::NeedMore,
                    None | Some(b'{' | b']') => Step::Skip { consumed: 1 },
                    Some(_) => elements.text(input, end),
                }
            }
            _ => elements.text(input, end),
        }
    }
}

impl ObjectArray {
    fn read(&mut self, text: &[u8], limit: usize) -> Option<Vec<Found<'static>>> {
        let object = RawObject::parse(text).filter(RawObject::is_whole)?;
        let found = (self.1)(&object, text, limit)?;
        let mut all = others(&object, text, self.0, found.iter().map(|(start, entry)| (*start, entry.bytes().len())));
        if all.is_empty() {
            return Some(found);
        }
        all = all.into_iter().map(|(start, entry)| (start, entry.within(limit))).chain(found).collect();
        all.sort_by_key(|(start, _)| *start);
        Some(all)
    }
}

/// The state of reading elements, and lines around them.
pub(super) struct Elements {
    /// How many bytes a record may have, and how many an element.
    pub limit: usize,
    most: usize,
    lines: Lines,
    /// How many blanks the line begins with that is being read, and whether nothing else was in it so far.
    pub indent: usize,
    line_begins: bool,
    /// The element that is being passed over because it is too long.
    long: Option<(Passed, Scan)>,
    /// The entries in the element that the input begins with, where in it each begins, and the element's length.
    found: VecDeque<(usize, Entry<'static>)>,
    length: usize,
}

/// An element, or what stands in its place.
pub(super) struct Element<'a> {
    /// Without blanks at its end.
    pub text: &'a [u8],
    pub length: usize,
    /// Whether its end was found, and not that of the input.
    pub is_closed: bool,
}

impl Elements {
    /// Goes on with what was begun, and passes over blanks.
    fn resume<'a>(&mut self, input: &'a [u8], end: bool) -> Option<Step<'a>> {
        if !self.found.is_empty() {
            return Some(self.next_found());
        }
        if self.lines.are_inside() {
            return Some(self.text(input, end));
        }
        if let Some((passed, scan)) = &mut self.long {
            let found = scan.end(input);
            let (bytes, done) = (&input[..found.unwrap_or(input.len())], found.is_some() || end);
            let step = passed.step(bytes, done);
            // Blanks at the end of a string that is cut off belong to it.
            let whole = (found.is_none() && scan.in_string).then_some(passed.seen);
            if done {
                self.long = None;
            }
            return Some(step.map(|entry| whole.map_or(entry, |length| Record::oversized(length).into())));
        }
        match leading_blanks(input) {
            0 if input.is_empty() => Some(Step::NeedMore),
            0 => None,
            consumed => Some(Step::Skip { consumed }),
        }
    }

    /// Keeps an eye on the indentation of the line that is being read.
    fn note(&mut self, consumed: &[u8]) {
        let line = match memrchr(b'\n', consumed) {
            Some(at) => {
                (self.indent, self.line_begins) = (0, true);
                &consumed[at + 1..]
            }
            None => consumed,
        };
        if self.line_begins {
            let blanks = leading_blanks(line);
            self.indent += blanks;
            self.line_begins = blanks == line.len();
        }
    }

    /// How many blanks stand before this place on its line, if nothing else does.
    pub(super) fn column(&self) -> Option<usize> {
        self.line_begins.then_some(self.indent)
    }

    /// The rest of a line: text, or an object, which is a message here too.
    pub(super) fn text<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        let entry = |line: &'a [u8]| match line.starts_with(b"{") && is_whole(line) {
            true => Entry::from(Record::new(line)),
            false => LogLine::new(line).into(),
        };
        self.lines.entries(input, end, entry, |length| LogLine::oversized(length).into())
    }

    /// Gives what `take` makes of the element that `scan` finds the end of.
    pub(super) fn element<'a>(
        &mut self,
        input: &'a [u8],
        end: bool,
        mut scan: Scan,
        take: impl FnOnce(&mut Self, Element<'a>) -> Step<'a>,
    ) -> Step<'a> {
        let window = &input[..input.len().min(self.most)];
        let found = scan.end(window);
        if found.is_none() && window.len() == self.most {
            self.long = Some((Passed::new(window), scan));
            return Step::Begin { start: 0, consumed: window.len() };
        }
        if found.is_none() && !end {
            return Step::NeedMore;
        }
        let length = found.unwrap_or(window.len());
        take(self, Element { text: trim_end(&window[..length]), length, is_closed: found.is_some() })
    }

    /// Gives what an element of that length holds.
    pub(super) fn give<'a>(&mut self, found: Vec<(usize, Entry<'static>)>, length: usize) -> Step<'a> {
        (self.found, self.length) = (found.into(), length);
        self.next_found()
    }

    /// The input still begins with the element, and is done with it after the last one found in it.
    fn next_found<'a>(&mut self) -> Step<'a> {
        match self.found.pop_front() {
            Some((start, entry)) => {
                let consumed = if self.found.is_empty() { self.length } else { 0 };
                Step::Entry { start, consumed, entry }
            }
            None => Step::Skip { consumed: self.length },
        }
    }
}
