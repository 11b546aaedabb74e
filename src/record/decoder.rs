//! The contract of a decoder, and functions that most decoders share.

use super::Entry;
use super::scan::ValueScan;
use memchr::memchr;

/// Finds the entries of one log format in bytes. Uses no I/O, no clock and no globals.
///
/// The reader of a log keeps the bytes: it shows the bytes that are not consumed yet, does what the [`Step`] says, and
/// shows the rest again.
///
/// A decoder
/// - gives the same entries however the input is split, so its decisions may depend on bytes, but not on the number of
///   bytes shown;
/// - makes progress: a step other than [`Step::NeedMore`] consumes bytes, or gives an entry that the decoder still
///   held;
/// - never asks for more if it is shown as many bytes as its limit and 64 KiB: a longer record is skipped with
///   [`Step::Begin`] and [`Step::Skip`], and given as [`oversized`](super::Record::oversized).
pub trait Decoder: Send {
    /// Returns the next step. `input` begins with the first byte that is not consumed. If `end` is true, no byte
    /// follows `input`, and [`Step::NeedMore`] means that it holds nothing more.
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a>;

    /// Returns the reason why the rest of the input cannot be decoded, after [`Step::NeedMore`].
    fn failure(&mut self) -> Option<String> {
        None
    }
}

/// The result of a [`Decoder`]. Offsets count from the start of the `input`.
#[derive(Debug, PartialEq)]
pub enum Step<'a> {
    /// Undecided: the decoder needs twice as many bytes or more, or the end of the input.
    NeedMore,
    /// The first bytes do not belong to an entry.
    Skip {
        /// The number of consumed bytes, at least 1.
        consumed: usize,
    },
    /// The next entry begins here, but its bytes are not given in one piece: they are too many, or the decoder
    /// assembles them.
    Begin {
        /// The offset of the entry's first byte.
        start: usize,
        /// The number of consumed bytes, at least 1.
        consumed: usize,
    },
    /// An entry.
    Entry {
        /// The offset of the entry's first byte; without meaning after [`Step::Begin`].
        start: usize,
        /// The number of consumed bytes; 0 only for an entry that the decoder still held.
        consumed: usize,
        /// The entry. The reader, which counts lines and bytes, sets its location, unless the decoder knows it: then
        /// its record number is not 0.
        entry: Entry<'a>,
    },
}

impl<'a> Step<'a> {
    pub(super) fn entry(start: usize, consumed: usize, entry: impl Into<Entry<'a>>) -> Self {
        Self::Entry { start, consumed, entry: entry.into() }
    }

    pub(super) fn is_entry(&self) -> bool {
        matches!(self, Self::Entry { .. })
    }

    /// The number of consumed bytes.
    pub(super) fn consumed(&self) -> usize {
        match *self {
            Self::NeedMore => 0,
            Self::Skip { consumed } | Self::Begin { consumed, .. } | Self::Entry { consumed, .. } => consumed,
        }
    }
}

/// True for whitespace of JSON, called a blank here.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Returns the number of blanks at the beginning of `bytes`.
pub(super) fn leading_blanks(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| !is_blank(byte)).unwrap_or(bytes.len())
}

/// Returns `bytes` without blanks at the end.
pub(super) fn trim_end(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| !is_blank(byte)).map_or(0, |last| last + 1);
    &bytes[..end]
}

/// An entry that is skipped because it is too long, up to the end of its line or of its value.
pub(super) struct SkippedEntry {
    entry: Entry<'static>,
    /// The end of the value; `None` if the line ends the entry.
    value: Option<ValueScan>,
    /// The size so far, with and without blanks at the end.
    seen: u64,
    length: u64,
}

impl SkippedEntry {
    /// Begins with the first bytes of an entry, through which `value` has been read.
    pub(super) fn new(entry: impl Into<Entry<'static>>, head: &[u8], value: Option<ValueScan>) -> Self {
        let mut skipped = Self { entry: entry.into(), value, seen: 0, length: 0 };
        skipped.add(head);
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
    pub(super) fn step<'a>(&mut self, input: &[u8], end: bool) -> Step<'a> {
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Runs a decoder over `input` cut at `cuts`. Returns each entry with the offset of its first byte.
    pub(in super::super) fn drive(
        decoder: &mut dyn Decoder,
        input: &[u8],
        cuts: &[usize],
    ) -> Vec<(usize, Entry<'static>)> {
        let mut entries = Vec::new();
        let (mut at, mut begun) = (0, None);
        for &cut in cuts.iter().chain([&input.len()]) {
            loop {
                match decoder.step(&input[at..cut], cut == input.len()) {
                    Step::NeedMore => break,
                    Step::Skip { consumed } => at += consumed,
                    Step::Begin { start, consumed } => {
                        begun = Some(at + start);
                        at += consumed;
                    }
                    Step::Entry { start, consumed, entry } => {
                        entries.push((begun.take().unwrap_or(at + start), entry.into_owned()));
                        at += consumed;
                    }
                }
            }
        }
        assert_eq!(at, input.len(), "everything is consumed");
        entries
    }

    /// Returns the entries that a decoder finds, after checking that they are the same at every split point, and byte
    /// by byte.
    pub(in super::super) fn entries(make: impl Fn() -> Box<dyn Decoder>, input: &[u8]) -> Vec<(usize, Entry<'static>)> {
        let whole = drive(&mut *make(), input, &[]);
        for cut in 0..input.len() {
            assert_eq!(drive(&mut *make(), input, &[cut]), whole, "cut at {cut}");
        }
        let all: Vec<_> = (0..input.len()).collect();
        assert_eq!(drive(&mut *make(), input, &all), whole, "byte by byte");
        whole
    }

    /// Returns the entries of input that is too long to be cut at every byte.
    pub(in super::super) fn entries_of_long(
        make: impl Fn() -> Box<dyn Decoder>,
        input: &[u8],
    ) -> Vec<(usize, Entry<'static>)> {
        let whole = drive(&mut *make(), input, &[]);
        for size in [97, 1000, 4099] {
            let cuts: Vec<_> = (0..input.len()).step_by(size).collect();
            assert_eq!(drive(&mut *make(), input, &cuts), whole, "in pieces of {size}");
        }
        whole
    }

    /// Returns the text of records, `<length>` for records that are too long, `# text` for lines between records.
    pub(in super::super) fn texts(entries: &[(usize, Entry<'_>)]) -> Vec<String> {
        let text = |(_, entry): &(usize, Entry<'_>)| match entry {
            Entry::Record(r) if r.flags.oversized => format!("<{}>", r.length),
            Entry::Record(r) => String::from_utf8_lossy(&r.bytes).into_owned(),
            Entry::LogLine(l) if l.oversized => format!("# <{}>", l.length),
            Entry::LogLine(l) => format!("# {}", String::from_utf8_lossy(&l.bytes)),
        };
        entries.iter().map(text).collect()
    }
}
