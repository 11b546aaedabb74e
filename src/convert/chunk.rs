//! Chunks: records that a worker takes at once.

use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;

use crate::record::{Entry, LogLine, ReadError, Reader, Record};

/// How many bytes of records a chunk has, about.
const BYTES: usize = 256 << 10;
/// How many entries a chunk has at most.
const ENTRIES: usize = 4_096;

/// Entries with bytes of their own.
#[derive(Default)]
pub(super) struct Chunk {
    /// Its place among the chunks of the input, from 0.
    pub index: usize,
    bytes: Vec<u8>,
    entries: Vec<(Range<usize>, Entry<'static>)>,
}

/// Gives out the chunks of an input.
pub(super) struct ChunkSource<'r> {
    reader: Reader<Box<dyn Read + Send + 'r>>,
    next: usize,
    ended: bool,
    /// Why the input ended before its end.
    pub failure: Option<ReadError>,
}

impl<'r> ChunkSource<'r> {
    pub fn new(reader: Reader<Box<dyn Read + Send + 'r>>) -> Self {
        Self { reader, next: 0, ended: false, failure: None }
    }

    /// How the text of the input begins: see [`Reader::head`].
    pub fn head(&self) -> &[u8] {
        self.reader.head()
    }

    /// Fills a chunk with the entries that come next; tells whether there are any. Waits for input only for the first of
    /// them, so that what is known goes on before the next wait.
    pub fn fill(&mut self, chunk: &mut Chunk) -> bool {
        chunk.clear();
        while !self.ended && chunk.bytes.len() < BYTES && chunk.entries.len() < ENTRIES {
            match self.reader.take_entry(chunk.entries.is_empty(), |entry| chunk.push(entry)) {
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
        self.next += usize::from(!chunk.entries.is_empty());
        !chunk.entries.is_empty()
    }
}

impl Chunk {
    fn clear(&mut self) {
        self.entries.clear();
        self.bytes.clear();
        // Room for one very large record is not kept.
        self.bytes.shrink_to(4 * BYTES);
    }

    fn push(&mut self, mut entry: Entry<'_>) {
        let start = self.bytes.len();
        let (Entry::Record(Record { bytes, .. }) | Entry::LogLine(LogLine { bytes, .. })) = &mut entry;
        self.bytes.extend_from_slice(bytes);
        *bytes = Cow::Borrowed(b"");
        self.entries.push((start..self.bytes.len(), entry.into_owned()));
    }

    /// The entries, lent.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.entries.iter().map(|(range, entry)| {
            let bytes = Cow::Borrowed(self.bytes.get(range.clone()).unwrap_or_default());
            match entry {
                Entry::Record(record) => Entry::Record(Record {
                    bytes,
                    session: record.session.as_deref().map(Cow::Borrowed),
                    location: record.location,
                    length: record.length,
                    time: record.time,
                    sender: record.sender,
                    direction: record.direction,
                    latency: record.latency,
                    flags: record.flags,
                }),
                Entry::LogLine(line) => Entry::LogLine(LogLine {
                    bytes,
                    location: line.location,
                    length: line.length,
                    oversized: line.oversized,
                }),
            }
        })
    }
}
