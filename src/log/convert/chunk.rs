//! Chunks: the records that a worker takes at once.

use std::borrow::Cow;
use std::ops::Range;

use crate::record::{Entry, LogLine, ReadError, Reader, Record};

/// The approximate size of a chunk, in bytes of its records.
const BYTES: usize = 256 << 10;
/// The maximum number of entries in a chunk.
const ENTRIES: usize = 4_096;
/// The weight of a byte of an array, where other bytes weigh 1: every byte or two of an array may be a node.
const ARRAY_WEIGHT: usize = 8;
/// The minimum size, in bytes, of arrays that are processed in pieces, by one thread at a time.
const LONG_ARRAY: usize = 16 << 10;
/// Records above this size, in bytes, are processed one at a time.
pub(super) const HUGE: usize = 16 << 20;
/// The same limit with additional contexts, which make many triples of a record.
pub(super) const HUGE_UNDER_CONTEXTS: usize = 1 << 20;

/// Entries, with their bytes in one buffer.
#[derive(Default)]
pub(super) struct Chunk {
    /// The index among the chunks of the input, from 0.
    pub index: usize,
    /// True if the last entry is a long array. The array takes an index of its own, after the chunk's.
    pub ends_in_array: bool,
    bytes: Vec<u8>,
    /// The size in bytes, with arrays weighted by [`ARRAY_WEIGHT`].
    weight: usize,
    entries: Vec<(Range<usize>, Entry<'static>)>,
}

/// Supplies the chunks of an input.
pub(super) struct ChunkSource<'r> {
    reader: Reader<'r>,
    /// True if long arrays can be processed in pieces.
    in_pieces: bool,
    next: usize,
    ended: bool,
    /// The error that ended the input early.
    pub failure: Option<ReadError>,
}

impl<'r> ChunkSource<'r> {
    pub fn new(reader: Reader<'r>, in_pieces: bool) -> Self {
        Self { reader, in_pieces, next: 0, ended: false, failure: None }
    }

    /// The beginning of the text of the input; see [`Reader::head`].
    pub fn head(&self) -> &[u8] {
        self.reader.head()
    }

    /// The number of bytes of text that were read.
    pub fn text_length(&self) -> u64 {
        self.reader.text_length()
    }

    /// Fills a chunk with the next entries, and returns true if there are any. It waits for input only for the first
    /// entry, so that entries at hand are processed before the next wait, and for the first record of the input, whose
    /// session contains the lines before it.
    pub fn fill(&mut self, chunk: &mut Chunk) -> bool {
        chunk.clear();
        while !self.ended && !chunk.ends_in_array && chunk.weight < BYTES && chunk.entries.len() < ENTRIES {
            let is_empty = chunk.entries.is_empty();
            let push = |entry: Entry<'_>| chunk.push(entry, self.in_pieces);
            let may_read = is_empty || self.reader.record_count() == 0;
            match self.reader.take_entry(may_read, push) {
                Ok(Some(())) => {}
                Ok(None) if chunk.entries.is_empty() => self.ended = true,
                Ok(None) => break,
                Err(failure) => {
                    self.failure = Some(failure);
                    self.ended = true;
                }
            }
        }
        chunk.index = self.next;
        self.next += usize::from(!chunk.entries.is_empty()) + usize::from(chunk.ends_in_array);
        !chunk.entries.is_empty()
    }
}

impl Chunk {
    fn clear(&mut self) {
        self.entries.clear();
        self.bytes.clear();
        self.weight = 0;
        self.ends_in_array = false;
        // Room for one very large record is freed.
        self.bytes.shrink_to(4 * BYTES);
    }

    /// The size of the records, in bytes.
    pub fn length(&self) -> usize {
        self.bytes.len()
    }

    fn push(&mut self, entry: Entry<'_>, in_pieces: bool) {
        let start = self.bytes.len();
        let length = entry.bytes().len();
        let is_array = matches!(&entry, Entry::Record(record) if record.bytes.starts_with(b"["));
        self.weight += if is_array { ARRAY_WEIGHT * length } else { length };
        self.ends_in_array = is_array && in_pieces && length >= LONG_ARRAY;
        self.bytes.extend_from_slice(entry.bytes());
        let range = start..self.bytes.len();
        let bytes = Cow::Borrowed(&b""[..]);
        let key = |session: Option<Cow<'_, str>>| session.map(|key| Cow::Owned(key.into_owned()));
        self.entries.push((
            range,
            match entry {
                Entry::Record(record) => Entry::Record(Record { bytes, session: key(record.session), ..record }),
                Entry::LogLine(line) => Entry::LogLine(LogLine { bytes, session: key(line.session), ..line }),
            },
        ));
    }

    /// Returns the entries, borrowed from the chunk.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.entries.iter().map(|(range, entry)| {
            let bytes = Cow::Borrowed(self.bytes.get(range.clone()).unwrap_or_default());
            match entry {
                Entry::Record(record) => {
                    let session = record.session.as_deref().map(Cow::Borrowed);
                    Entry::Record(Record { bytes, session, http: record.http.clone(), ..*record })
                }
                Entry::LogLine(line) => {
                    let session = line.session.as_deref().map(Cow::Borrowed);
                    Entry::LogLine(LogLine { bytes, session, ..*line })
                }
            }
        })
    }
}
