//! The contract of a decoder, and functions that most decoders share.

use super::Entry;

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
/// - does not enforce the limit on the size of an entry: `CappedDecoder` shows it a prefix of a longer entry with `end`,
///   and then the text after the entry.
pub trait Decoder: Send {
    /// Returns the next step. `input` begins with the first byte that is not consumed. If `end` is true, no byte
    /// follows `input`, and [`Step::NeedMore`] means that it holds nothing more.
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a>;

    /// True if an entry that is too long ends with its line; otherwise it ends with the value in it.
    fn splits_lines(&self) -> bool {
        false
    }

    /// True if the last entry may hold a message that was not read.
    fn is_unread(&self) -> bool {
        false
    }

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
    /// The next entry begins here, but its bytes are too many.
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
