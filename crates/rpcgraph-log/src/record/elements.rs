//! Formats that are one array. Its elements are read one by one, so that the array may be larger than memory.

use super::certainty::may_hold_message;
use super::decoder::{Decoder, Step, is_blank, leading_blanks, trim_end};
use super::lines::{Extras, FoundEntry, LineFormat, LineSplitter};
use super::object::{RawObject, elements, extent};
use super::scan::ValueScan;
use super::window::InputHead;
use super::{LogLine, Record};
use memchr::{memchr, memmem};

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

/// Creates a decoder of an array: the value of a member of that name, wherever it is in an object, or else an array by
/// itself, or objects on lines. `read` returns the first entry in an element. If it returns `None`, the element is a
/// record. Text outside of the array is read by lines.
pub(super) fn element_array<F>(member: Option<&str>, read: F) -> Box<dyn Decoder>
where
    F: for<'a> FnMut(&'a [u8], &mut Extras) -> Option<FoundEntry<'a>> + Send + 'static,
{
    decoder(member, None, Box::new(read))
}

/// Creates a decoder of an array, as [`element_array`] does. `read` is given an object for each element: the element itself, or
/// the object around the array with the element in place of the array. The latter holds for an element that is not an object,
/// and for an array with other members beside it.
pub(super) fn placed_elements<F>(member: Option<&str>, read: F) -> Box<dyn Decoder>
where
    F: for<'a> FnMut(&'a [u8], &mut Extras) -> Option<FoundEntry<'a>> + Send + 'static,
{
    let around = Some(EnclosingObject { text: b"\"\":".to_vec(), is_element: false, is_open: false });
    decoder(member, around, Box::new(read))
}

fn decoder(member: Option<&str>, around: Option<EnclosingObject>, read: ReadElement) -> Box<dyn Decoder> {
    LineSplitter::boxed(ElementArray { member: member.map(str::to_owned), around, is_inside: false, read })
}

/// Returns the elements of an array at the beginning of a log, each on a line.
pub(super) fn element_lines(member: Option<&str>, mut text: &[u8]) -> Vec<u8> {
    let mut decoder = placed_elements(member, |text, _| Some((0, LogLine::new(text).into())));
    let mut lines = Vec::new();
    loop {
        let step = decoder.step(text, true);
        let consumed = step.consumed();
        if let Step::Entry { entry, .. } = step
            && RawObject::parse(entry.bytes()).is_some_and(|object| object.is_whole())
        {
            lines.extend(entry.bytes().iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }));
            lines.push(b'\n');
        } else if consumed == 0 {
            return lines;
        }
        text = &text[consumed..];
    }
}

/// Returns the first entry in an element, and adds the others.
type ReadElement = Box<dyn for<'a> FnMut(&'a [u8], &mut Extras) -> Option<FoundEntry<'a>> + Send>;

/// The object around an array.
struct EnclosingObject {
    /// The text after its brace, up to the array.
    text: Vec<u8>,
    /// True if it is an element of another array.
    is_element: bool,
    /// True after the first array.
    is_open: bool,
}

struct ElementArray {
    /// The name of the member whose value is the array.
    member: Option<String>,
    /// The object around the array, if elements are placed in it.
    around: Option<EnclosingObject>,
    is_inside: bool,
    read: ReadElement,
}

impl LineFormat for ElementArray {
    fn resume<'a>(&mut self, input: &'a [u8], end: bool, more: &mut Extras) -> Option<Step<'a>> {
        let first = *input.first().filter(|byte| !is_blank(**byte))?;
        if self.is_inside && !matches!(first, b',' | b']') || self.member.is_none() && first == b'{' {
            return Some(self.element(input, end, more));
        }
        if matches!(first, b',' | b']') || self.member.is_some() && first == b'}' {
            self.is_inside &= first == b',';
            return Some(Step::Skip { consumed: 1 });
        }
        let begun = match &self.member {
            // Of the members behind an array, another one may be an array of that name.
            Some(member)
                if first == b'{' || first == b'"' && self.around.as_ref().is_some_and(|around| around.is_open) =>
            {
                begin_member(member, input, end)
            }
            Some(_) => return None,
            None => begin_array(input, end)?,
        };
        self.is_inside = begun.consumed() > 0;
        if let Some((around, member)) = self.around.as_mut().zip(self.member.as_ref()).filter(|_| self.is_inside) {
            around.open(&input[..begun.consumed()], member);
        }
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
        let placed = self.around.as_ref().and_then(|around| Some((around.with(text)?, around.text.len() + 1)));
        let found = match &placed {
            Some((object, front)) => {
                let found =
                    (self.read)(object, more).map(|(at, entry)| (at.saturating_sub(*front), entry.into_owned()));
                more.entries.iter_mut().for_each(|(at, _)| *at = at.saturating_sub(*front));
                found
            }
            None => (self.read)(text, more),
        };
        more.give(found.unwrap_or_else(|| (0, Record::new(text).into())), length)
    }
}

/// The maximum size of the text around an array in which its elements are placed.
const AROUND: usize = 4 * 1024;

impl EnclosingObject {
    /// Notes the innermost object that is open at the end of a text, where the array of a member begins.
    fn open(&mut self, text: &[u8], member: &str) {
        let (mut open, mut at) = (Vec::new(), 0);
        while let Some(found) = text[at..].iter().position(|byte| b"{}[]\"".contains(byte)).map(|found| at + found) {
            at = found + 1;
            match text[found] {
                b'{' | b'[' => open.push(found),
                b'"' => at = found + extent(&text[found..]).0.max(1),
                _ => _ = open.pop(),
            }
        }
        self.is_open = true;
        let [.., object, array] = open[..] else { return };
        self.is_element |= open.len() > 2 && text[open[open.len() - 3]] == b'[';
        let name = memmem::rfind(text, format!("\"{member}\"").as_bytes()).unwrap_or(object + 1);
        let has_members = self.is_element && array - object <= AROUND;
        self.text = text[if has_members { object + 1 } else { name }..array].to_vec();
    }

    /// Returns the object with an element in place of the array; `None` if the element is an object by itself.
    fn with(&self, element: &[u8]) -> Option<Vec<u8>> {
        let is_beside = self.is_element && memchr(b',', &self.text).is_some();
        (is_beside || !element.starts_with(b"{")).then(|| [b"{", &*self.text, element, b"}"].concat())
    }
}

/// Reads the text of an object up to the first element of the array that a member has. It is a line of text if it may
/// hold a message. An object without the member is text.
fn begin_member<'a>(member: &str, input: &'a [u8], end: bool) -> Step<'a> {
    let name = format!("\"{member}\"");
    let array = memmem::find_iter(input, &name).find_map(|at| {
        let array = input[at + name.len()..].trim_ascii_start().strip_prefix(b":")?;
        Some(input.len() - array.trim_ascii_start().strip_prefix(b"[")?.len())
    });
    match array {
        None if !end => Step::NeedMore,
        Some(consumed) if !may_hold_message(&input[..consumed]) => Step::Skip { consumed },
        _ => {
            let consumed = array.unwrap_or(input.len());
            Step::entry(0, consumed, LogLine::new(trim_end(&input[..consumed])))
        }
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
