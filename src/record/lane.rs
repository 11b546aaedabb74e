//! The text of one writer as it is read: its buffer, its decoder and its place in the input.

use super::carried::Places;
use super::{Decoder, Location, Time};
use memchr::{memchr, memchr_iter};
use std::ops::Range;

pub(super) const CHUNK: usize = 64 * 1024;
/// A larger buffer is made smaller when half of it has been consumed.
const LARGE_BUFFER: usize = 4 << 20;
/// How many blanks before a line of text are kept.
const INDENT: usize = 4 * 1024;
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of one writer.
pub(super) struct Lane {
    /// Empty: nothing names it.
    pub writer: Vec<u8>,
    /// Key of the sessions of the writer, if it is not the first.
    pub key: String,
    /// Key of the session of its last record; empty: the input's own.
    pub last_session: Option<String>,
    /// Its text is read to the end, as if there came no more of it.
    pub closes: bool,
    /// How many bytes have to be there before it is looked at again.
    pub wanted: usize,
    pub decoder: Box<dyn Decoder>,
    /// The bytes that were read and are not consumed yet are `buffer[start..filled]`.
    pub buffer: Vec<u8>,
    pub start: usize,
    pub filled: usize,
    /// Where `buffer[start]` is; the number is that of the last record given.
    pub here: Location,
    /// How many lines end before that offset from `start`: entries of one piece are not counted each from its beginning.
    pub counted: (usize, u64),
    /// Where the entry began that the decoder has not given yet, and the time of its carrier.
    pub begun: Option<(Location, Option<Time>)>,
    pub places: Places,
}

impl Lane {
    pub fn new(decoder: Box<dyn Decoder>) -> Self {
        Self {
            writer: Vec::new(),
            key: String::new(),
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
            places: Places::default(),
        }
    }

    /// The bytes that are not consumed.
    pub fn unread(&self) -> &[u8] {
        &self.buffer[self.start..self.filled]
    }

    /// The place in the buffer for more text, where `wanted` bytes are to be there in all.
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

    /// How many blanks are before what is not consumed, if there is nothing else before it on its line, and it was not begun.
    pub fn indentation(&self) -> usize {
        let before = &self.buffer[..self.start];
        let blanks = before.iter().rev().take(INDENT).take_while(|byte| b" \t".contains(byte)).count();
        let begins_line = match before[..self.start - blanks].last() {
            Some(last) => *last == b'\n' || self.here.byte == (BYTE_ORDER_MARK.len() + blanks) as u64,
            None => self.here.byte == blanks as u64,
        };
        if begins_line && self.begun.is_none() { blanks } else { 0 }
    }

    /// Moves what is not consumed to the beginning of the buffer, but for what tells the indentation of a line of text.
    pub fn compact(&mut self) {
        let blanks = self.buffer[..self.start].iter().rev().take(INDENT).take_while(|byte| b" \t".contains(byte));
        let (kept, have) = ((blanks.count() + 1).min(self.start), self.filled - self.start);
        self.buffer.copy_within(self.start - kept..self.filled, 0);
        (self.start, self.filled) = (kept, kept + have);
    }

    pub fn consume(&mut self, bytes: usize) {
        // More entries of the same piece may follow.
        if bytes == 0 {
            return;
        }
        self.here = self.here.behind(&self.buffer[self.start..self.start + bytes], &mut self.counted);
        self.start += bytes;
        self.counted = (0, 0);
        self.places.forget(self.here.byte);
        // Room for one very large record is not kept.
        if self.buffer.len() > LARGE_BUFFER && self.start >= self.buffer.len() / 2 {
            self.compact();
            self.buffer.truncate(self.filled.max(CHUNK));
            self.buffer.shrink_to_fit();
        }
    }
}

impl Location {
    /// Where the byte behind these is, of which some may be `counted`: how many, and how many lines end in them.
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
