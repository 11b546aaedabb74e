//! The limit on the size of an entry, for the decoder of any format.

use super::decoder::{Decoder, Step, is_blank, trim_end};
use super::scan::ValueScan;
use super::value::{Extent, value};
use super::{Entry, LogLine};
use memchr::{memchr, memchr2};

/// The number of bytes by which the text of an entry may exceed the limit, for what is around its message.
const AROUND: usize = 64 * 1024;

/// Gives the entries of another decoder. An entry that exceeds the limit is
/// [`oversized`](super::ReaderOptions::max_record_size). A decoder that is undecided after the limit and 64 KiB gets this
/// prefix as if it were all. The rest of the open value, or else of the line, is skipped.
pub(super) struct CappedDecoder {
    inner: Box<dyn Decoder>,
    limit: usize,
    /// The maximum number of bytes that the decoder is shown.
    most: usize,
    /// True if the decoder was shown the beginning of a text as if it were all, and still holds entries of it.
    is_cut: bool,
    skipped: Option<SkippedEntry>,
}

impl CappedDecoder {
    pub fn new(inner: Box<dyn Decoder>, limit: usize) -> Self {
        Self { inner, limit, most: limit.saturating_add(AROUND), is_cut: false, skipped: None }
    }

    pub fn boxed(inner: Box<dyn Decoder>, limit: usize) -> Box<dyn Decoder> {
        Box::new(Self::new(inner, limit))
    }
}

impl CappedDecoder {
    /// Limits the entry of a step that was found at the beginning of `window`.
    #[cold]
    fn limited<'a>(&mut self, step: Step<'a>, window: &[u8]) -> Step<'a> {
        let consumed = step.consumed();
        let is_long = self.is_cut && consumed > 0 && window.iter().skip(consumed).all(|&byte| is_blank(byte));
        self.is_cut &= consumed == 0;
        match step {
            Step::Entry { start, entry, .. } if is_long => {
                self.skipped = Some(SkippedEntry::new(entry, start, window, self.inner.splits_lines()));
                Step::Begin { start, consumed: window.len() }
            }
            Step::Entry { start, consumed, entry } => Step::Entry { start, consumed, entry: entry.within(self.limit) },
            step => step,
        }
    }
}

impl Decoder for CappedDecoder {
    #[inline]
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        if let Some(skipped) = &mut self.skipped {
            let step = skipped.step(input, end);
            self.skipped.take_if(|_| matches!(step, Step::Entry { .. }));
            return step;
        }
        let window = &input[..input.len().min(self.most)];
        let has_more = window.len() < input.len();
        let step = self.inner.step(window, end && !has_more);
        match &step {
            Step::NeedMore if has_more => {
                self.is_cut = true;
                match self.inner.step(window, true) {
                    Step::NeedMore => self.limited(Step::entry(0, window.len(), LogLine::new(window)), window),
                    step => self.limited(step, window),
                }
            }
            Step::Entry { entry, .. } if entry.length() > self.limit as u64 => self.limited(step, window),
            _ if self.is_cut => self.limited(step, window),
            _ => step,
        }
    }

    fn is_unread(&self) -> bool {
        self.inner.is_unread()
    }

    fn failure(&mut self) -> Option<String> {
        self.inner.failure()
    }
}

/// An entry that is skipped because it is too long.
struct SkippedEntry {
    entry: Entry<'static>,
    /// The value that is open; `None` if the line ends the entry.
    value: Option<ValueScan>,
    /// The size so far, with and without blanks at the end.
    seen: u64,
    length: u64,
}

impl SkippedEntry {
    /// Begins with an entry that begins at `start` in the first bytes of its text.
    fn new(entry: Entry<'_>, start: usize, text: &[u8], by_line: bool) -> Self {
        let value = if by_line { None } else { open_value(text) };
        let mut skipped = Self { entry: entry.into_owned(), value, seen: 0, length: 0 };
        skipped.add(&text[start..]);
        skipped
    }

    fn add(&mut self, bytes: &[u8]) {
        let trimmed = trim_end(bytes).len() as u64;
        if trimmed > 0 {
            self.length = self.seen + trimmed;
        }
        self.seen += bytes.len() as u64;
    }

    /// Skips more bytes. Returns the entry, without its bytes, at its end.
    fn step<'a>(&mut self, input: &[u8], end: bool) -> Step<'a> {
        let found = match &mut self.value {
            Some(value) => value.end(input),
            None => memchr(b'\n', input),
        };
        let consumed = found.unwrap_or(input.len());
        self.add(&input[..consumed]);
        match consumed {
            _ if found.is_some() || end => Step::entry(0, consumed, self.entry.clone().oversized(self.length)),
            0 => Step::NeedMore,
            _ => Step::Skip { consumed },
        }
    }
}

/// Returns the scan of the first object or array that a text does not close, if it has no syntax error so far.
fn open_value(text: &[u8]) -> Option<ValueScan> {
    let mut at = 0;
    loop {
        at += memchr2(b'{', b'[', &text[at..])?;
        let mut scan = ValueScan::default();
        at += match scan.end(&text[at..]) {
            Some(length) => length,
            // After a syntax error, brackets show nothing.
            None => return Some(scan).filter(|_| matches!(value(&text[at..]), Extent::Incomplete)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::{entries, texts};
    use super::super::{Direction, Entry, Format};
    use super::*;

    /// Returns the entries of a format, of whose text a decoder is shown 20 bytes at most.
    fn found(format: &str, input: &str) -> Vec<(usize, Entry<'static>)> {
        let inner = || Format::from_name(format).unwrap().own_decoder();
        entries(|| Box::new(CappedDecoder { most: 20, ..CappedDecoder::new(inner(), 10) }), input.as_bytes())
    }

    #[test]
    fn the_end_of_what_is_skipped() {
        let long = "1".repeat(30);
        let table = [
            ("json-lines", format!("{{}}\n{{\"a\": [{long}  \n[1]\n"), ["{}", "<37>", "[1]"]),
            ("json-lines", format!("{{}}\n{{{long}{long}\r\n[1]"), ["{}", "<61>", "[1]"]),
            ("json-values", format!("{{}}\n{{\"a\": [\n{long}]\n}}\n\n[1]\n"), ["{}", "<41>", "[1]"]),
            ("json-values", format!("{{}}\n text {long}\n[1]\n"), ["{}", "<35>", "[1]"]),
            ("json-array", format!("[{{}},\n{{\"}}\": [{long}]\n}}, [1]]"), ["{}", "<40>", "[1]"]),
            (
                "content-length",
                format!("{{}}\nContent-Length: 41\n\n{{\"a\":\n[{long}]\n}}\n[1]"),
                ["# {}", "<40>", "# [1]"],
            ),
            ("sse", format!("data: {{}}\n\ndata: {{\"a\": [{long}]}}\n\ndata: [1]"), ["{}", "<39>", "[1]"]),
            ("arrows", format!("> {{}}\n> {{\"a\": {long}\n> [1]"), ["{}", "<36>", "[1]"]),
        ];
        for (format, input, expected) in table {
            let found = found(format, &input);
            assert_eq!(texts(&found), expected, "{format} {input}");
            assert_eq!(found.iter().map(|(start, _)| *start).collect::<Vec<_>>()[2], input.find("[1]").unwrap());
        }
    }

    #[test]
    fn what_is_skipped_does_not_depend_on_pieces() {
        for format in Format::ALL.iter().filter(|format| format.refusal().is_none()) {
            for most in [10, 25, 80] {
                let capped = || CappedDecoder { most, ..CappedDecoder::new(format.own_decoder(), 10) };
                assert!(!entries(|| Box::new(capped()), format.sample().as_bytes()).is_empty(), "{format:?}");
            }
        }
    }

    #[test]
    fn facts_of_what_is_skipped() {
        let found = found("arrows", &format!("< {{{}", "x".repeat(30)));
        let [(2, Entry::Record(record))] = &found[..] else { panic!("{found:?}") };
        assert_eq!((record.direction, record.length, record.flags.oversized), (Some(Direction::In), 31, true));
    }
}
