//! Chunks: the records that a worker takes at once.

use std::borrow::Cow;

use crate::record::{Entry, LogLine, ReadError, Reader, Record};

/// The approximate size of a chunk, in bytes of its records.
const BYTES: usize = 256 << 10;
/// The maximum number of entries in a chunk.
const ENTRIES: usize = 4_096;
/// The number of entries that a first chunk has room for.
const ROOM: usize = 1_024;
/// The weight of a byte of an array, where other bytes weigh 1: every byte or two of an array may be a node.
const ARRAY_WEIGHT: usize = 8;
/// The minimum size, in bytes, of arrays that are processed in pieces, by one thread at a time.
const LONG_ARRAY: usize = 16 << 10;
/// Records above this size, in bytes, are processed one at a time.
pub(super) const HUGE: usize = 16 << 20;
/// The same limit with additional contexts, which make many triples of a record.
pub(super) const HUGE_UNDER_CONTEXTS: usize = 1 << 20;

/// The bytes of entries, in one buffer.
#[derive(Default)]
pub(super) struct Chunk {
    /// The index among the chunks of the input, from 0.
    pub index: usize,
    /// True if the last entry is a long array. The array takes an index of its own, after the chunk's.
    pub ends_in_array: bool,
    bytes: Vec<u8>,
    /// The end of each entry.
    ends: Vec<usize>,
    /// The size in bytes, with arrays weighted by [`ARRAY_WEIGHT`].
    weight: usize,
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

    /// True if the format was learned.
    pub fn is_learned(&self) -> bool {
        self.reader.learned().is_some()
    }

    /// True if the entries were sorted by time.
    pub fn is_by_time(&self) -> bool {
        self.reader.is_by_time()
    }

    /// The beginning of the text of the input; see [`Reader::head`].
    pub fn head(&self) -> &[u8] {
        self.reader.head()
    }

    /// The number of bytes of text that were read.
    pub fn text_length(&self) -> u64 {
        self.reader.text_length()
    }

    /// Fills a chunk with the next entries, and returns them without their [bytes](Chunk::lend). It waits for input only
    /// for the first entry, so that entries at hand are processed before the next wait, and for the first record of the
    /// input, whose session contains the lines before it.
    pub fn fill<'c>(&mut self, chunk: &mut Chunk) -> Vec<Entry<'c>> {
        // Most chunks have as many entries as the one before.
        let mut entries = Vec::with_capacity(chunk.ends.len().max(ROOM));
        chunk.clear();
        while !self.ended && !chunk.ends_in_array && chunk.weight < BYTES && entries.len() < ENTRIES {
            let may_read = entries.is_empty() || self.reader.record_count() == 0;
            let push = |entry: Entry<'_>| entries.push(chunk.take(entry, self.in_pieces));
            match self.reader.take_entry(may_read, push) {
                Ok(Some(())) => {}
                Ok(None) if entries.is_empty() => self.ended = true,
                Ok(None) => break,
                Err(failure) => {
                    self.failure = Some(failure);
                    self.ended = true;
                }
            }
        }
        chunk.index = self.next;
        self.next += usize::from(!entries.is_empty()) + usize::from(chunk.ends_in_array);
        entries
    }
}

impl Chunk {
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.weight = 0;
        self.ends_in_array = false;
        // Room for one very large record is freed.
        self.bytes.shrink_to(4 * BYTES);
    }

    /// The size of the records, in bytes.
    pub fn length(&self) -> usize {
        self.bytes.len()
    }

    /// Takes the bytes of an entry, and returns the rest of the entry.
    fn take(&mut self, entry: Entry<'_>, in_pieces: bool) -> Entry<'static> {
        let length = entry.bytes().len();
        let is_array = matches!(&entry, Entry::Record(record) if record.bytes.starts_with(b"["));
        self.weight += if is_array { ARRAY_WEIGHT * length } else { length };
        self.ends_in_array = is_array && in_pieces && length >= LONG_ARRAY;
        self.bytes.extend_from_slice(entry.bytes());
        self.ends.push(self.bytes.len());
        let bytes = Cow::Borrowed(&b""[..]);
        let key = |session: Option<Cow<'_, str>>| session.map(|key| Cow::Owned(key.into_owned()));
        match entry {
            Entry::Record(record) => Entry::Record(Record { bytes, session: key(record.session), ..record }),
            Entry::LogLine(line) => Entry::LogLine(LogLine { bytes, session: key(line.session), ..line }),
        }
    }

    /// Gives the entries their bytes.
    pub fn lend<'c>(&'c self, entries: &mut [Entry<'c>]) {
        let mut start = 0;
        for (entry, end) in entries.iter_mut().zip(&self.ends) {
            let (Entry::Record(Record { bytes, .. }) | Entry::LogLine(LogLine { bytes, .. })) = entry;
            *bytes = Cow::Borrowed(self.bytes.get(start..*end).unwrap_or_default());
            start = *end;
        }
    }
}
