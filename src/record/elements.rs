//! Formats that are one array. Its elements are read one by one, so that the array may be larger than memory.

use super::Record;
use super::decoder::{Decoder, SkippedLength, Step, leading_blanks, trim_end};
use super::format_info::InputHead;
use super::lines::{Extras, FoundEntry, KnownMembers, LineFormat, LineSplitter, with_others};
use super::object::{RawObject, elements};
use super::scan::ValueScan;
use super::value::is_whole;

/// Reads an array in one format, and the text around it.
pub(super) trait ElementFormat: Send {
    /// Returns the next step. `input` begins with neither a blank nor the rest of an element. `None` for a line of
    /// text.
    fn next<'a>(&mut self, elements: &mut Elements, input: &'a [u8], end: bool, more: &mut Extras) -> Option<Step<'a>>;
}

/// A decoder for such a format.
pub(super) struct ElementSplitter {
    elements: Elements,
    format: Box<dyn ElementFormat>,
}

impl ElementSplitter {
    /// Creates a decoder. Elements may have `around` bytes more than the limit for a record.
    pub(super) fn boxed(limit: usize, around: usize, format: impl ElementFormat + 'static) -> Box<dyn Decoder> {
        let most = limit.saturating_add(around);
        let elements = Elements { limit, most, long: None };
        LineSplitter::boxed(limit, 0, Self { elements, format: Box::new(format) })
    }
}

impl LineFormat for ElementSplitter {
    fn resume<'a>(&mut self, input: &'a [u8], end: bool, more: &mut Extras) -> Option<Step<'a>> {
        let resumed = self.elements.resume(input, end);
        resumed.or_else(|| self.format.next(&mut self.elements, input, end, more))
    }

    /// Reads the rest of a line: text, or an object, which is a message here too.
    fn read<'a>(&mut self, line: &'a [u8], _: &mut Extras) -> Option<FoundEntry<'a>> {
        let is_object = line.len() <= self.elements.limit && line.starts_with(b"{") && is_whole(line);
        is_object.then(|| (0, Record::new(line).into()))
    }
}

/// The number of bytes by which an object may exceed the limit, for its members besides a message.
pub(super) const AROUND: usize = 60 * 1024;

/// Returns the first element of the array that is the first value, as far as it is visible, if it is an object.
pub(super) fn first_element<'a>(window: &InputHead<'a>) -> Option<RawObject<'a>> {
    elements(&window.bytes[window.before_values()..]).next().and_then(RawObject::parse)
}

/// Creates a decoder of an array of objects. `open` returns the first entry in an object. If it returns `None`, the
/// object does not have the format and is a record as a whole. The content of members that are not `known` is given
/// too, see [`with_others`]. Other lines are text.
pub(super) fn object_array<F>(limit: usize, known: KnownMembers, open: F) -> Box<dyn Decoder>
where
    F: for<'a> FnMut(&RawObject<'a>, &'a [u8], &mut Extras) -> Option<FoundEntry<'a>> + Send + 'static,
{
    ElementSplitter::boxed(limit, AROUND, ObjectArray { open: Box::new(open), known })
}

/// Returns the first entry in an object, and adds the others.
type OpenObject = Box<dyn for<'a> FnMut(&RawObject<'a>, &'a [u8], &mut Extras) -> Option<FoundEntry<'a>> + Send>;

struct ObjectArray {
    open: OpenObject,
    known: KnownMembers,
}

impl ElementFormat for ObjectArray {
    fn next<'a>(&mut self, elements: &mut Elements, input: &'a [u8], end: bool, more: &mut Extras) -> Option<Step<'a>> {
        match input {
            [b'{', ..] => Some(elements.element(input, end, |elements, Element { text, length, .. }| {
                let object = RawObject::parse(text).filter(RawObject::is_whole);
                let found = object.and_then(|object| {
                    let found = (self.open)(&object, text, more)?;
                    Some(with_others(&object, text, self.known, found, more))
                });
                let found = found.unwrap_or_else(|| (0, Record::new(text).into()));
                more.give(found, length, elements.limit)
            })),
            [b',' | b']', ..] => Some(Step::Skip { consumed: 1 }),
            [b'[', rest @ ..] => {
                let behind = &rest[..rest.len().min(AROUND)];
                match behind.get(leading_blanks(behind)) {
                    None if !end && behind.len() < AROUND => Some(Step::NeedMore),
                    None | Some(b'{' | b']') => Some(Step::Skip { consumed: 1 }),
                    Some(_) => None,
                }
            }
            _ => None,
        }
    }
}

/// The state of reading elements.
pub(super) struct Elements {
    /// The maximum size in bytes of a record, and of an element.
    pub limit: usize,
    most: usize,
    /// An element that is skipped because it is too long.
    long: Option<(SkippedLength, ValueScan)>,
}

/// An element, or the text in its place.
pub(super) struct Element<'a> {
    /// The text without blanks at its end.
    pub text: &'a [u8],
    pub length: usize,
    /// True if the end of the element was found, not just the end of the input.
    pub is_closed: bool,
}

impl Elements {
    /// Continues an element, and skips blanks.
    fn resume<'a>(&mut self, input: &'a [u8], end: bool) -> Option<Step<'a>> {
        if let Some((passed, scan)) = &mut self.long {
            let found = scan.end(input);
            let (bytes, done) = (&input[..found.unwrap_or(input.len())], found.is_some() || end);
            let step = passed.step(bytes, done);
            // Blanks at the end of a string that is cut off belong to the string.
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

    /// Finds the end of an element, and returns the result of `take` for the element.
    pub(super) fn element<'a>(
        &mut self,
        input: &'a [u8],
        end: bool,
        take: impl FnOnce(&mut Self, Element<'a>) -> Step<'a>,
    ) -> Step<'a> {
        let window = &input[..input.len().min(self.most)];
        let mut scan = ValueScan::default();
        let found = scan.end(window);
        if found.is_none() && window.len() == self.most {
            self.long = Some((SkippedLength::new(window), scan));
            return Step::Begin { start: 0, consumed: window.len() };
        }
        if found.is_none() && !end {
            return Step::NeedMore;
        }
        let length = found.unwrap_or(window.len());
        take(self, Element { text: trim_end(&window[..length]), length, is_closed: found.is_some() })
    }
}
