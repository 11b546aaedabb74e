//! Driving a decoder: the buffer, the counting of lines and bytes, and what can go wrong.

use super::carried::Carried;
use super::decompress::{InputCompression, PlainText, TextFailure};
use super::detect::Looked;
use super::{Carrier, Decoder, Entry, Format, Layout, Location, LogLine, Step, Time};
use memchr::{memchr, memchr_iter};
use std::io::{self, Read};
use std::mem;

/// How an input is to be read.
#[derive(Clone, Debug)]
pub struct ReaderOptions {
    /// The format; `None`: detect it, by [`Format::detect`].
    pub format: Option<Format>,
    /// Where messages are, if the user says it: in the lines of an input, whose format is `json-lines` then.
    pub layout: Option<Layout>,
    /// Records of more bytes are passed over and given as [`oversized`](super::Flags::oversized). The reader's memory is
    /// bounded by this, and a few buffers of 64 KiB.
    pub max_record_size: usize,
}

impl Default for ReaderOptions {
    /// Detects the format, and keeps records of up to 256 MiB.
    fn default() -> Self {
        Self { format: None, layout: None, max_record_size: 256 * 1024 * 1024 }
    }
}

impl ReaderOptions {
    /// Reads as this format, whatever the content looks like.
    #[must_use]
    pub fn with_format(self, format: Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// Looks for messages where this says, in the lines of the input.
    #[must_use]
    pub fn with_layout(self, layout: Layout) -> Self {
        Self { layout: Some(layout), ..self }
    }

    /// Whether the user says how the input is to be read, so that it is not detected.
    pub fn is_stated(&self) -> bool {
        self.format.is_some() || self.layout.is_some()
    }

    /// Keeps records of at most that many bytes.
    #[must_use]
    pub fn with_max_record_size(self, bytes: usize) -> Self {
        Self { max_record_size: bytes, ..self }
    }
}

/// Why an input cannot be read to its end. Entries that were whole before that place have been given.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The input itself failed.
    #[error("reading failed after {after} bytes of text")]
    Io {
        /// How many bytes had been read, after decompression.
        after: u64,
        /// The error that it failed with.
        source: io::Error,
    },
    /// The input is compressed, and its data is damaged or cut off.
    #[error("{kind} data {} after {after} bytes of text", if source.is_some() { "is damaged" } else { "ends early" })]
    Compressed {
        /// The kind of compression.
        kind: InputCompression,
        /// How many bytes had been decompressed.
        after: u64,
        /// The defect of the data; `None`: it ends early.
        source: Option<io::Error>,
    },
    /// The input has, or is to be read as, a format that is recognised but not read.
    #[error("{} is not read: {reason}", format.name())]
    Refused {
        /// The format.
        format: Format,
        /// Why, and what to do instead.
        reason: &'static str,
    },
    /// The input is not what its format has to be, or is damaged.
    #[error("{} cannot be read on: {problem}", format.name())]
    Unreadable {
        /// The format.
        format: Format,
        /// The defect.
        problem: String,
    },
}

impl ReadError {
    fn new(failure: TextFailure, after: u64) -> Self {
        match failure {
            TextFailure::Source(source) => Self::Io { after, source },
            TextFailure::Data { kind, source } => Self::Compressed { kind, after, source },
        }
    }
}

/// Pulls the entries out of an input, whatever its compression and format.
pub struct Reader<R: Read> {
    input: PlainText<R>,
    /// Takes carriers off: then the bytes in the buffer, and `here`, are those of the text inside.
    carried: Option<Box<Carried>>,
    carriers: Vec<Carrier>,
    /// The failure that came before carriers were taken off.
    failure: Option<ReadError>,
    state: ReaderState,
    format: Format,
    decoder: Box<dyn Decoder>,
    /// The bytes that were read and are not consumed yet are `buffer[start..filled]`.
    buffer: Vec<u8>,
    start: usize,
    filled: usize,
    /// How many bytes are kept at most, unless a decoder breaks its promise.
    most: usize,
    /// Where `buffer[start]` is; the number is that of the last record given.
    here: Location,
    /// How many lines end before that offset from `start`: entries of one piece are not counted each from its beginning.
    counted: (usize, u64),
    /// Where the entry began that the decoder has not given yet, and the time of its carrier.
    begun: Option<(Location, Option<Time>)>,
    /// The first bytes of the text that are not blank.
    head: Vec<u8>,
}

/// Entries that a decoder has by itself, with no bytes to read.
pub struct OwnEntries {
    /// The format that they once were read as.
    pub format: Format,
    /// The decoder, which is shown nothing.
    pub decoder: Box<dyn Decoder>,
}

/// Whether there is more to read.
enum ReaderState {
    Open,
    Ended,
    /// No more can be read, and what is left in the buffer may be cut off.
    Failed(ReadError),
    /// That was said.
    Over,
}

const CHUNK: usize = 64 * 1024;
/// A larger buffer is made smaller when half of it has been consumed.
const LARGE_BUFFER: usize = 4 << 20;
/// How many bytes of the text are kept to tell what it is.
const HEAD: usize = 4 * 1024;
/// How many blanks before a line of text are kept.
const INDENT: usize = 4 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<R: Read> Reader<R> {
    /// Starts to read: until the content settles the format, or shows a record of the one in the options, and 64 KiB of text at
    /// most.
    ///
    /// # Errors
    ///
    /// If nothing at all can be read, or the format is [refused](Format::refusal). An input that fails later does so in
    /// [`Reader::next_entry`].
    pub fn new(input: R, options: &ReaderOptions) -> Result<Self, ReadError> {
        let format = options.format.unwrap_or(Format::JsonLines);
        let layout = options.layout.as_ref();
        let decoder = match layout {
            Some(layout) => layout.decoder(options.max_record_size),
            None => format.decoder(options.max_record_size),
        };
        let mut reader = Self {
            input: PlainText::new(input).map_err(|source| ReadError::Io { after: 0, source })?,
            carried: None,
            carriers: Vec::new(),
            failure: None,
            state: ReaderState::Open,
            format,
            decoder,
            buffer: vec![0; CHUNK],
            start: 0,
            filled: 0,
            most: options.max_record_size.saturating_add(2 * CHUNK),
            here: Location::START,
            counted: (0, 0),
            begun: None,
            head: Vec::new(),
        };
        reader.fill(BYTE_ORDER_MARK.len());
        reader.state = match reader.state {
            ReaderState::Failed(error) if reader.filled == 0 => return Err(error),
            state => state,
        };
        if reader.buffer[..reader.filled].starts_with(BYTE_ORDER_MARK) {
            reader.consume(BYTE_ORDER_MARK.len());
        }
        if options.is_stated() {
            reader.carriers = reader.settle(|head, all, looked| format.carriers(layout, head, all, looked));
        } else {
            (reader.carriers, reader.format) = reader.settle(Format::settled);
            reader.decoder = reader.format.detected_decoder(options.max_record_size);
        }
        if !reader.carriers.is_empty() {
            reader.take_off(options.max_record_size);
        }
        if let Some(reason) = reader.format.refusal() {
            return Err(ReadError::Refused { format: reader.format, reason });
        }
        Ok(reader)
    }

    /// The format that the input has, or is read as.
    pub fn format(&self) -> Format {
        self.format
    }

    /// What the log was taken out of, the outermost first. Lines that have the stated format as they are, or a
    /// record where the layout says, stay as they are.
    pub fn carriers(&self) -> &[Carrier] {
        &self.carriers
    }

    /// How many records were given so far.
    pub fn record_count(&self) -> u64 {
        self.here.record
    }

    /// How many bytes of text were read, decompressed where they are compressed, and with carriers.
    pub(crate) fn text_length(&self) -> u64 {
        let text = self.here.byte + (self.filled - self.start) as u64;
        self.carried.as_ref().map_or(text, |carried| carried.read_length())
    }

    /// How the text begins, as far as it was read, and at most 4 KiB of it; without blanks before it.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The next entry, with bytes of its own; `None` after the last one, and after an error.
    ///
    /// # Errors
    ///
    /// If the input fails or its compressed data is damaged or cut off: after the last entry that is whole. An entry that
    /// is cut off by that is not given.
    pub fn next_entry(&mut self) -> Result<Option<Entry<'static>>, ReadError> {
        self.take_entry(true, |entry| entry.into_owned())
    }

    /// What `take` makes of the next entry, whose bytes are the reader's; `None` after the last one. Without `may_read`,
    /// `None` also where more would have to be read to tell.
    ///
    /// # Errors
    ///
    /// As [`Reader::next_entry`].
    pub(crate) fn take_entry<T>(
        &mut self,
        may_read: bool,
        take: impl FnOnce(Entry<'_>) -> T,
    ) -> Result<Option<T>, ReadError> {
        loop {
            if self.carried.is_some()
                && let Some(line) = self.other_line(false)
            {
                return Ok(Some(take(line)));
            }
            if matches!(self.state, ReaderState::Over) {
                return Ok(None);
            }
            let input = &self.buffer[self.start..self.filled];
            match self.decoder.step(input, matches!(self.state, ReaderState::Ended)) {
                Step::NeedMore | Step::Skip { consumed: 0 } => {
                    if let Some(line) = self.other_line(true) {
                        return Ok(Some(take(line)));
                    }
                    match (self.decoder.failure(), mem::replace(&mut self.state, ReaderState::Over)) {
                        (Some(problem), _) => return Err(ReadError::Unreadable { format: self.format, problem }),
                        (None, ReaderState::Open) => {
                            self.state = ReaderState::Open;
                            if !may_read {
                                return Ok(None);
                            }
                            let have = self.filled - self.start;
                            self.fill(have.saturating_mul(2).min(self.most).max(have + 1));
                        }
                        (None, ReaderState::Failed(error)) => return Err(error),
                        (None, ReaderState::Ended | ReaderState::Over) => return Ok(None),
                    }
                }
                Step::Skip { consumed } => self.consume(consumed),
                Step::Begin { start, consumed } => {
                    let begun = self.here.behind(&input[..start], &mut self.counted);
                    self.begun = Some(self.place(begun));
                    self.consume(consumed);
                }
                Step::Entry { start, consumed, mut entry } => {
                    let indent = match &entry {
                        Entry::LogLine(line) if start == 0 && !line.oversized && input.starts_with(&line.bytes) => {
                            self.indentation()
                        }
                        _ => 0,
                    };
                    let (location, time) = match self.begun.take() {
                        Some(begun) => begun,
                        None => {
                            let begun = self.here.behind(&input[..start], &mut self.counted);
                            self.place(Location { byte: begun.byte - indent as u64, ..begun })
                        }
                    };
                    let blanks = &self.buffer[self.start - indent..self.start];
                    if !blanks.is_empty() {
                        entry = entry.indented(blanks);
                    }
                    if let Entry::Record(record) = &mut entry {
                        self.here.record += 1;
                        record.flags.is_derived =
                            self.carried.is_some() || !input.as_ptr_range().contains(&record.bytes.as_ptr());
                    }
                    let known = if entry.location().record == 0 { location } else { entry.location() };
                    if time.is_some() {
                        entry = entry.timed(time);
                    }
                    entry.set_place(Location { record: self.here.record, ..known });
                    let taken = take(entry);
                    self.consume(consumed);
                    return Ok(Some(taken));
                }
            }
        }
    }

    /// The next line that is not in the carrier as the others are, at its place among the entries, or before it if it must
    /// not wait any longer.
    fn other_line(&mut self, needs_more: bool) -> Option<Entry<'static>> {
        let carried = self.carried.as_mut()?;
        let read = match needs_more {
            true => None,
            false if self.begun.is_some() => return None,
            false => Some(self.here.byte),
        };
        let line = carried.other(read)?;
        let location = Location { record: self.here.record, ..line.location };
        Some(Entry::from(LogLine { location, ..line }).within(self.most - 2 * CHUNK))
    }

    /// How many blanks are before what is not consumed, if there is nothing else before it on its line, and it was not begun.
    fn indentation(&self) -> usize {
        let before = &self.buffer[..self.start];
        let blanks = before.iter().rev().take(INDENT).take_while(|byte| b" \t".contains(byte)).count();
        let begins_line = match before[..self.start - blanks].last() {
            Some(last) => *last == b'\n' || self.here.byte == (BYTE_ORDER_MARK.len() + blanks) as u64,
            None => self.here.byte == blanks as u64,
        };
        if begins_line && self.begun.is_none() { blanks } else { 0 }
    }

    /// Where a byte of text is in the input, and the time that its carrier tells.
    fn place(&self, text: Location) -> (Location, Option<Time>) {
        self.carried.as_ref().map_or((text, None), |carried| carried.place(text.byte))
    }

    /// From here on, what is read is taken out of the carriers, beginning with what is in the buffer.
    fn take_off(&mut self, limit: usize) {
        let raw = self.buffer[self.start..self.filled].to_vec();
        let carried = Carried::new(&self.carriers, limit, raw, self.here);
        self.carried = Some(Box::new(match mem::replace(&mut self.state, ReaderState::Open) {
            ReaderState::Open => carried,
            ReaderState::Ended | ReaderState::Over => carried.ended(false),
            ReaderState::Failed(error) => {
                self.failure = Some(error);
                carried.ended(true)
            }
        }));
        (self.start, self.filled, self.here) = (0, 0, Location::START);
        self.counted = (0, 0);
        self.head.clear();
    }

    /// Reads no further than the format needs: the next line of a live log may be long in coming.
    fn settle<T>(&mut self, settled: impl Fn(&[u8], bool, &mut Looked) -> Option<T>) -> T {
        let mut looked = Looked::default();
        loop {
            let head = &self.buffer[self.start..self.filled];
            let all = !matches!(self.state, ReaderState::Open) || head.len() >= Format::WINDOW;
            if let Some(found) = settled(head, all, &mut looked) {
                return found;
            }
            self.fill(head.len() + 1);
        }
    }

    /// Reads until `wanted` bytes are there that are not consumed, or as far as it goes.
    fn fill(&mut self, wanted: usize) {
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
        let until = self.buffer.len().min(self.start + wanted.max(CHUNK));
        while self.filled - self.start < wanted {
            let room = &mut self.buffer[self.filled..until];
            let read = match &mut self.carried {
                Some(carried) => carried.read(&mut self.input, room),
                None => self.input.read(room),
            };
            match read {
                Ok(0) if self.carried.as_ref().is_some_and(|carried| carried.is_full()) => return,
                Ok(0) => {
                    self.state = self.failure.take().map_or(ReaderState::Ended, ReaderState::Failed);
                    return;
                }
                Ok(read) => {
                    let room = until - self.filled;
                    if self.head.len() < HEAD {
                        let text = &self.buffer[self.filled..until.min(self.filled + read)];
                        let text = if self.head.is_empty() { text.trim_ascii_start() } else { text };
                        self.head.extend_from_slice(&text[..text.len().min(HEAD - self.head.len())]);
                    }
                    self.filled = until.min(self.filled + read);
                    // A writer that has just ended a line may wait for an answer.
                    if read < room && self.buffer[..self.filled].ends_with(b"\n") {
                        return;
                    }
                }
                Err(failure) => {
                    self.state = ReaderState::Failed(ReadError::new(failure, self.text_length()));
                    return;
                }
            }
        }
    }

    /// Moves what is not consumed to the beginning of the buffer, but for what tells the indentation of a line of text.
    fn compact(&mut self) {
        let blanks = self.buffer[..self.start].iter().rev().take(INDENT).take_while(|byte| b" \t".contains(byte));
        let (kept, have) = ((blanks.count() + 1).min(self.start), self.filled - self.start);
        self.buffer.copy_within(self.start - kept..self.filled, 0);
        (self.start, self.filled) = (kept, kept + have);
    }

    fn consume(&mut self, bytes: usize) {
        // More entries of the same piece may follow.
        if bytes == 0 {
            return;
        }
        self.here = self.here.behind(&self.buffer[self.start..self.start + bytes], &mut self.counted);
        self.start += bytes;
        self.counted = (0, 0);
        if let Some(carried) = &mut self.carried {
            carried.forget(self.here.byte);
        }
        // Room for one very large record is not kept.
        if self.buffer.len() > LARGE_BUFFER && self.start >= self.buffer.len() / 2 {
            self.compact();
            self.buffer.truncate(self.filled.max(CHUNK));
            self.buffer.shrink_to_fit();
        }
    }
}

impl<'r> Reader<Box<dyn Read + Send + 'r>> {
    /// Gives what a decoder has by itself.
    pub(crate) fn of(entries: OwnEntries) -> Result<Self, ReadError> {
        let nothing = Self::new(Box::new(io::empty()), &ReaderOptions::default().with_format(Format::JsonLines))?;
        Ok(Self { format: entries.format, decoder: entries.decoder, ..nothing })
    }
}

impl Location {
    /// Where the byte behind these is, of which some may be `counted`: how many, and how many lines end in them.
    fn behind(self, bytes: &[u8], counted: &mut (usize, u64)) -> Self {
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

#[cfg(test)]
mod tests {
    use super::super::Record;
    use super::*;
    use std::borrow::Cow;

    /// Gives one entry of each kind of memory: of the input, of its own, and of the program.
    struct Lender(u8);

    impl Decoder for Lender {
        fn step<'a>(&mut self, input: &'a [u8], _: bool) -> Step<'a> {
            let Some(key) = input.get(..2).and_then(|key| std::str::from_utf8(key).ok()) else { return Step::NeedMore };
            self.0 += 1;
            let (consumed, bytes, session) = match self.0 {
                1 => (0, Cow::Borrowed(&input[2..4]), Cow::Borrowed(key)),
                2 => (0, Cow::Owned(b"own".to_vec()), Cow::Owned("own".to_owned())),
                _ => (input.len(), Cow::Borrowed(&b"static"[..]), Cow::Borrowed("static")),
            };
            Step::entry(2, consumed, Record { session: Some(session), ..Record::new(bytes) })
        }
    }

    #[test]
    fn entries_from_any_memory() {
        let options = ReaderOptions::default().with_format(Format::JsonLines);
        let mut reader = Reader::new(&b"k\nv\n"[..], &options).unwrap();
        reader.decoder = Box::new(Lender(0));
        for (number, (bytes, session)) in (1..).zip([("v\n", "k\n"), ("own", "own"), ("static", "static")]) {
            let Some(Entry::Record(record)) = reader.next_entry().unwrap() else { panic!() };
            assert_eq!((&*record.bytes, record.session.as_deref()), (bytes.as_bytes(), Some(session)));
            assert_eq!(record.location, Location { record: number, line: 2, byte: 2 });
        }
        assert_eq!(reader.next_entry().unwrap(), None);
    }

    #[test]
    fn the_buffer_grows_for_large_records_only() {
        let small = "{\"a\":1}\n".repeat(100_000);
        let mut reader = Reader::new(small.as_bytes(), &ReaderOptions::default()).unwrap();
        while reader.next_entry().unwrap().is_some() {}
        assert_eq!(reader.buffer.len(), CHUNK);

        let large = format!("{}\n{small}", "x".repeat(1_000_000));
        let mut reader = Reader::new(large.as_bytes(), &ReaderOptions::default()).unwrap();
        while reader.next_entry().unwrap().is_some() {}
        assert!(reader.buffer.len() <= 2_000_000 + CHUNK);
        assert_eq!(reader.record_count(), 100_001);
    }

    #[test]
    fn memory_is_bounded_by_the_largest_record() {
        for (format, head) in [("json-lines", "x"), ("json-values", "[\n"), ("json-values", "x"), ("arrows", ">> {")] {
            let input = io::Cursor::new(head).chain(io::repeat(b' ').take(5_000_000)).chain(&b"1\n[2]\n"[..]);
            let format = Format::from_name(format).unwrap();
            let options = ReaderOptions::default().with_format(format).with_max_record_size(1000);
            let mut reader = Reader::new(input, &options).unwrap();
            let Some(Entry::Record(record)) = reader.next_entry().unwrap() else { panic!() };
            assert!(record.flags.oversized && record.length > 5_000_000 && record.bytes.is_empty());
            assert!(reader.next_entry().unwrap().is_some());
            assert_eq!(reader.next_entry().unwrap(), None);
            assert!(reader.buffer.len() <= 1000 + 3 * CHUNK);
        }
    }
}
