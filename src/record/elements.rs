//! Formats that are one array. Its elements are read one by one, so that the array may be larger than memory.

use super::decoder::{Decoder, Step, is_blank, leading_blanks, trim_end};
use super::format_info::InputHead;
use super::lines::{Extras, FoundEntry, KnownMembers, LineFormat, LineSplitter, with_others};
use super::object::{RawObject, elements};
use super::scan::ValueScan;
use super::{LogLine, Record};

/// The number of bytes by which an object may exceed the limit, for its members besides a message.
pub(super) const AROUND: usize = 60 * 1024;

/// Returns the first element of the array that is the first value, as far as it is visible, if it is an object.
pub(super) fn first_element<'a>(window: &InputHead<'a>) -> Option<RawObject<'a>> {
    elements(&window.bytes[window.before_values()..]).next().and_then(RawObject::parse)
}

/// Creates a decoder of an array of objects. `open` returns the first entry in an object. If it returns `None`, the
/// object does not have the format and is a record as a whole. The content of members that are not `known` is given
/// too, see [`with_others`]. Other elements are text.
pub(super) fn object_array<F>(limit: usize, known: KnownMembers, mut open: F) -> Box<dyn Decoder>
where
    F: for<'a> FnMut(&RawObject<'a>, &'a [u8], &mut Extras) -> Option<FoundEntry<'a>> + Send + 'static,
{
    element_array(limit, move |text, more| {
        let Some(object) = RawObject::parse(text) else { return Some((0, LogLine::new(text).into())) };
        let found = if object.is_whole() { open(&object, text, more) } else { None }?;
        Some(with_others(&object, text, known, found, more))
    })
}

/// Creates a decoder of an array, or of objects on lines. `read` returns the first entry in an element. If it returns
/// `None`, the element is a record. Text outside of the array is read by lines.
pub(super) fn element_array<F>(limit: usize, read: F) -> Box<dyn Decoder>
where
    F: for<'a> FnMut(&'a [u8], &mut Extras) -> Option<FoundEntry<'a>> + Send + 'static,
{
    LineSplitter::boxed(limit, 0, ElementArray { limit, is_inside: false, read })
}

struct ElementArray<F> {
    limit: usize,
    is_inside: bool,
    read: F,
}

impl<F> LineFormat for ElementArray<F>
where
    F: for<'a> FnMut(&'a [u8], &mut Extras) -> Option<FoundEntry<'a>> + Send,
{
    fn resume<'a>(&mut self, input: &'a [u8], end: bool, more: &mut Extras) -> Option<Step<'a>> {
        match (self.is_inside, input) {
            (_, []) => return None,
            (_, [blank, ..]) if is_blank(*blank) => return None,
            (true, [b',', ..]) => {}
            (true, [b']', ..]) => self.is_inside = false,
            (true, _) | (false, [b'{', ..]) => {
                return Some(element(self.limit, input, end, more, |Element { text, length, .. }, more| {
                    let found = (self.read)(text, more).unwrap_or_else(|| (0, Record::new(text).into()));
                    more.give(found, length, self.limit)
                }));
            }
            (false, _) => match begins_array(input, end) {
                None => return Some(Step::NeedMore),
                Some(false) => return None,
                Some(true) => self.is_inside = true,
            },
        }
        Some(Step::Skip { consumed: 1 })
    }
}

/// True if a bracket begins an array of objects, arrays or strings, and not a line such as `[info] ready`. `None` if more
/// input is needed.
pub(super) fn begins_array(input: &[u8], end: bool) -> Option<bool> {
    let [b'[', behind @ ..] = &input[..input.len().min(AROUND)] else { return Some(false) };
    match behind.get(leading_blanks(behind)) {
        None => (end || behind.len() + 1 == AROUND).then_some(true),
        Some(first) => Some(b"{[]\"".contains(first)),
    }
}

/// An element, or the text in its place.
pub(super) struct Element<'a> {
    /// The text without blanks at its end. It is not empty.
    pub text: &'a [u8],
    pub length: usize,
    /// True if the end of the element was found, not just the end of the input.
    pub is_closed: bool,
}

/// Finds the end of the element at the beginning of the input, and returns the result of `take` for the element. An
/// element that exceeds the limit for a record by more than [`AROUND`] is skipped.
pub(super) fn element<'a>(
    limit: usize,
    input: &'a [u8],
    end: bool,
    more: &mut Extras,
    take: impl FnOnce(Element<'a>, &mut Extras) -> Step<'a>,
) -> Step<'a> {
    let most = limit.saturating_add(AROUND);
    let window = &input[..input.len().min(most)];
    let found = ValueScan::default().end(window);
    if found.is_none() && window.len() == most {
        return more.skip(0, window, Record::new(b""), Some(0));
    }
    if found.is_none() && !end {
        return Step::NeedMore;
    }
    // A closing bracket may stand in place of an element.
    let length = found.unwrap_or(window.len()).max(1);
    take(Element { text: trim_end(&window[..length]), length, is_closed: found.is_some() }, more)
}
