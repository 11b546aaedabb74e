//! The text of one writer as it is read: its buffer, its decoder and its place in the input.

use super::Location;
use super::capped::CappedDecoder;
use super::unwrapped::{LineFacts, TextOrigins};
use memchr::{memchr, memchr_iter};
use std::ops::Range;

pub(super) const CHUNK: usize = 64 * 1024;
/// The size in bytes above which a buffer is shrunk when half of it has been consumed.
const LARGE_BUFFER: usize = 4 << 20;
/// The maximum number of blanks that are kept before a line of text.
const INDENT: usize = 4 * 1024;
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of one writer.
pub(super) struct WriterInput {
    /// The name of the writer, which is the key of its sessions unless it is the first writer; empty if the log does not
    /// name it.
    pub writer: String,
    /// The key of the session of the last record; empty for the input's own.
    pub last_session: Option<String>,
    /// True if the text is read to the end as if no more could come.
    pub closes: bool,
    /// The number of bytes that must be present before the decoder runs again.
    pub wanted: usize,
    pub decoder: CappedDecoder,
    /// The bytes that were read and not consumed are `buffer[start..filled]`.
    pub buffer: Vec<u8>,
    pub start: usize,
    pub filled: usize,
    /// The place of `buffer[start]`, with the number of the last record given.
    pub here: Location,
    /// An offset from `start`, and the number of line ends before it, so that a piece with many entries is not counted
    /// from its beginning for each.
    pub counted: (usize, u64),
    /// The place of the entry that the decoder has begun but not given yet, and the facts that its wrapper
    /// states.
    pub begun: Option<(Location, LineFacts)>,
    /// True if an entry was given at this place that consumed nothing.
    pub gave: bool,
    pub places: TextOrigins,
}

impl WriterInput {
    pub fn new(decoder: CappedDecoder) -> Self {
        Self {
            writer: String::new(),
            last_session: None,
            closes: false,
            wanted: 0,
            decoder,
            buffer: vec![0; CHUNK],
            start: 0,
            filled: 0,
            here: Location::START,
            counted: (0, 0),
            begun: None,
            gave: false,
            places: TextOrigins::default(),
        }
    }

    /// The bytes that are not consumed.
    pub fn unread(&self) -> &[u8] {
        &self.buffer[self.start..self.filled]
    }

    /// Returns the range of the buffer for more text, with room for `wanted` bytes in all.
    pub fn room(&mut self, wanted: usize) -> Range<usize> {
        let have = self.filled - self.start;
        if have <= self.start || self.buffer.len() - self.start < wanted {
            self.compact();
        }
        if self.buffer.len() - self.start < wanted {
            let more = (self.start + wanted).next_multiple_of(CHUNK) - self.buffer.len();
            self.buffer.reserve_exact(more);
            self.buffer.resize(self.buffer.len() + more, 0);
        }
        // A buffer that grew for one large record is not filled as far again for small ones.
        self.filled..self.buffer.len().min(self.start + wanted.max(CHUNK))
    }

    /// Returns the number of blanks before the bytes that are not consumed, if only blanks are before them on their
    /// line and no entry was begun or given there.
    pub fn indentation(&self) -> usize {
        let before = &self.buffer[..self.start];
        let blanks = before.iter().rev().take(INDENT).take_while(|byte| b" \t".contains(byte)).count();
        let begins_line = match before[..self.start - blanks].last() {
            Some(last) => *last == b'\n' || self.here.byte == (BYTE_ORDER_MARK.len() + blanks) as u64,
            None => self.here.byte == blanks as u64,
        };
        if begins_line && self.begun.is_none() && !self.gave { blanks } else { 0 }
    }

    /// Moves the bytes that are not consumed to the beginning of the buffer, and keeps the indentation of a line of
    /// text.
    pub fn compact(&mut self) {
        let blanks = self.buffer[..self.start].iter().rev().take(INDENT).take_while(|byte| b" \t".contains(byte));
        let (kept, have) = ((blanks.count() + 1).min(self.start), self.filled - self.start);
        self.buffer.copy_within(self.start - kept..self.filled, 0);
        (self.start, self.filled) = (kept, kept + have);
    }

    pub fn consume(&mut self, bytes: usize) {
        // More entries of the same piece may follow.
        self.gave = bytes == 0;
        if self.gave {
            return;
        }
        self.here = self.here.behind(&self.buffer[self.start..self.start + bytes], &mut self.counted);
        self.start += bytes;
        self.counted = (0, 0);
        self.places.forget(self.here.byte);
        // The room for one very large record is freed.
        if self.buffer.len() > LARGE_BUFFER && self.start >= self.buffer.len() / 2 {
            self.compact();
            self.buffer.truncate(self.filled.max(CHUNK));
            self.buffer.shrink_to_fit();
        }
    }
}

impl Location {
    /// Returns the place after these bytes. `counted` has the number of bytes that were counted already, and of line
    /// ends in them.
    pub(super) fn behind(self, bytes: &[u8], counted: &mut (usize, u64)) -> Self {
        if counted.0 > bytes.len() {
            *counted = (0, 0);
        }
        let more = &bytes[counted.0..];
        // Nearly always it is one line, with its end.
        counted.1 += match memchr(b'\n', more) {
            None => 0,
            Some(end) if end + 1 == more.len() => 1,
            Some(end) => 1 + memchr_iter(b'\n', &more[end + 1..]).count() as u64,
        };
        counted.0 = bytes.len();
        Self { line: self.line + counted.1, byte: self.byte + bytes.len() as u64, ..self }
    }
}
