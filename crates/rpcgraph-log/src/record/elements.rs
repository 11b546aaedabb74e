//! Formats that are one array. Its elements are read one by one, so that the array may be larger than memory.

use super::decoder::{Decoder, Step, is_blank, leading_blanks, trim_end};
use super::lines::{Extras, FoundEntry, LineFormat, LineSplitter};
use super::object::{RawObject, elements};
use super::scan::ValueScan;
use super::window::InputHead;
use super::{LogLine, Record};

/// Returns the first element of the array that is the first value, as far as it is visible, if it is an object.
pub(super) fn first_element<'a>(window: &InputHead<'a>) -> Option<RawObject<'a>> {
    elements(&window.bytes[window.before_values()..]).next().and_then(RawObject::parse)
}

/// Creates a decoder of an array of objects. `open` returns the first entry in an object. If it returns `None`, the
/// object does not have the format and is a record as a whole. Other elements are text.
pub(super) fn object_array<F>(mut open: F) -> Box<dyn Decoder>
where
    F: for<'a> FnMut(&RawObject<'a>, &'a [u8], &mut Extras) -> Option<FoundEntry<'a>> + Send + 'static,
{
    element_array(None, move |text, more| {
        let Some(object) = RawObject::parse(text) else { return Some((0, LogLine::new(text).into())) };
        if object.is_whole() { open(&object, text, more) } else { None }
    })
}

/// Reads the text before the first element of an array, given the input, and true at the end of the input. Returns `None` for a line of text.
type BeginArray = for<'a> fn(&'a [u8], bool) -> Option<Step<'a>>;

/// Creates a decoder of an array: one that `begin` finds in an object, or else an array by itself, or objects on lines.
/// `read` returns the first entry in an element. If it returns `None`, the element is a record. Text outside of the array
/// is read by lines.
pub(super) fn element_array<F>(begin: Option<BeginArray>, read: F) -> Box<dyn Decoder>
where
    F: for<'a> FnMut(&'a [u8], &mut Extras) -> Option<FoundEntry<'a>> + Send + 'static,
{
    LineSplitter::boxed(ElementArray { begin, is_inside: false, read: Box::new(read) })
}

/// Returns the first entry in an element, and adds the others.
type ReadElement = Box<dyn for<'a> FnMut(&'a [u8], &mut Extras) -> Option<FoundEntry<'a>> + Send>;

struct ElementArray {
    begin: Option<BeginArray>,
    is_inside: bool,
    read: ReadElement,
}

impl LineFormat for ElementArray {
    fn resume<'a>(&mut self, input: &'a [u8], end: bool, more: &mut Extras) -> Option<Step<'a>> {
        let first = *input.first().filter(|byte| !is_blank(**byte))?;
        if self.is_inside && !matches!(first, b',' | b']') || self.begin.is_none() && first == b'{' {
            return Some(self.element(input, end, more));
        }
        if matches!(first, b',' | b']') || self.begin.is_some() && first == b'}' {
            self.is_inside &= first == b',';
            return Some(Step::Skip { consumed: 1 });
        }
        let begun = self.begin.unwrap_or(begin_array)(input, end)?;
        self.is_inside = begun.consumed() > 0;
        Some(begun)
    }
}

impl ElementArray {
    fn element<'a>(&mut self, input: &'a [u8], end: bool, more: &mut Extras) -> Step<'a> {
        let length = match ValueScan::default().end(input) {
            // A closing bracket may stand in place of an element.
            Some(length) => length.max(1),
            None if end => input.len(),
            None => return Step::NeedMore,
        };
        let text = trim_end(&input[..length]);
        let found = (self.read)(text, more).unwrap_or_else(|| (0, Record::new(text).into()));
        more.give(found, length)
    }
}

/// Reads the bracket that begins an array of objects, arrays or strings, and not a line such as `[info] ready`.
pub(super) fn begin_array(input: &[u8], end: bool) -> Option<Step<'_>> {
    let behind = input.strip_prefix(b"[")?;
    match behind.get(leading_blanks(behind)) {
        None if !end => Some(Step::NeedMore),
        None | Some(b'{' | b'[' | b']' | b'"') => Some(Step::Skip { consumed: 1 }),
        Some(_) => None,
    }
}
