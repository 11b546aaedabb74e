//! The logs of a page, in compressed pieces.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use tempfile::SpooledTempFile;

use super::index::PageRow;
use crate::redact::secrets::spans;

/// The maximum number of messages in a piece, and the approximate size of its text, in bytes.
const MESSAGES: usize = 1_000;
const BYTES: usize = 1 << 20;
/// The maximum size of what stands around a message in its line, for the page to keep it, in bytes. The page has the same number.
const ENVELOPE: usize = 2_000;
/// The maximum size of pieces in memory, in bytes. A browser cannot open files.
const IN_MEMORY: usize = if cfg!(target_family = "wasm") { usize::MAX } else { 8 << 20 };

/// The position of a text: its piece, its start there and its length, in bytes. A text that is not in the page is in
/// piece 0.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TextSpan {
    pub piece: u32,
    pub start: u32,
    pub length: u32,
}

/// The bytes of a log that were read but are not yet in a piece.
#[derive(Default)]
pub(super) struct UnwrittenBytes {
    /// The offset of the bytes in the log.
    start: u64,
    bytes: Vec<u8>,
}

/// A reader of a log that also keeps the bytes in a window.
pub(super) struct RecordingReader<R> {
    input: R,
    window: Arc<Mutex<UnwrittenBytes>>,
}

impl<R: Read> RecordingReader<R> {
    pub fn new(input: R) -> (Self, Arc<Mutex<UnwrittenBytes>>) {
        let window = Arc::<Mutex<UnwrittenBytes>>::default();
        (Self { input, window: Arc::clone(&window) }, window)
    }
}

impl<R: Read> Read for RecordingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        lock(&self.window).bytes.extend_from_slice(&buffer[..read]);
        Ok(read)
    }
}

/// Locks the window. One thread reads and writes, so the lock is never contended.
fn lock(window: &Mutex<UnwrittenBytes>) -> MutexGuard<'_, UnwrittenBytes> {
    window.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The piece being filled.
#[derive(Default)]
struct OpenPiece {
    number: u32,
    messages: usize,
    /// The end of the last text in the piece.
    end: usize,
}

/// A piece in the file.
#[derive(Debug, Clone)]
pub(super) struct TextPiece {
    pub number: u32,
    /// True if the piece is a part of the log, and false if it holds texts that the log has in another form.
    pub of_log: bool,
    range: Range<u64>,
}

impl TextPiece {
    /// The size in a page, in bytes.
    fn in_page(&self) -> u64 {
        (self.range.end - self.range.start).div_ceil(3) * 4
    }
}

/// The pieces.
pub(super) struct PieceFile {
    file: SpooledTempFile,
    size: u64,
    written: Vec<TextPiece>,
    /// The number of pieces with a number.
    numbered: u32,
    window: Arc<Mutex<UnwrittenBytes>>,
    /// The next part of the log.
    log: OpenPiece,
    /// Texts that the log has in another form: in strings, or in parts.
    own: OpenPiece,
    own_text: Vec<u8>,
    /// True if the log itself is left out, except for the texts of some messages.
    is_chosen: bool,
    /// The number of secrets in the log, and in texts that it has in another form; `None` if they are not counted.
    secrets: Option<[u64; 2]>,
}

impl PieceFile {
    pub fn new(counts_secrets: bool) -> Self {
        Self {
            file: SpooledTempFile::new(IN_MEMORY),
            size: 0,
            written: Vec::new(),
            numbered: 0,
            window: Arc::default(),
            log: OpenPiece::default(),
            own: OpenPiece::default(),
            own_text: Vec::new(),
            is_chosen: false,
            secrets: counts_secrets.then_some([0; 2]),
        }
    }

    /// The number of possible secrets in the pieces. Texts in another form repeat secrets of the log.
    pub fn secrets(&self) -> u64 {
        self.secrets.into_iter().flatten().max().unwrap_or(0)
    }

    /// Begins a log.
    pub fn begin(&mut self, window: Arc<Mutex<UnwrittenBytes>>, is_chosen: bool) {
        (self.window, self.is_chosen) = (window, is_chosen);
        self.log = self.open();
        self.own = self.open();
    }

    fn open(&mut self) -> OpenPiece {
        self.numbered += 1;
        OpenPiece { number: self.numbered, ..OpenPiece::default() }
    }

    /// Returns the place of a text that begins at that byte of the log: in the log itself if it stands there, otherwise
    /// in a separate piece.
    pub fn locate(&mut self, at: u64, text: &[u8]) -> io::Result<TextSpan> {
        let window = Arc::clone(&self.window);
        let mut window = lock(&window);
        let start = at.checked_sub(window.start).and_then(|start| usize::try_from(start).ok());
        let Some(mut start) =
            start.filter(|start| window.bytes.get(*start..).is_some_and(|rest| rest.starts_with(text)))
        else {
            drop(window);
            return self.own(text);
        };
        if (self.log.messages >= MESSAGES || start >= BYTES) && start >= self.log.end && start > 0 {
            // The line of a message stays whole.
            let line = line_of(&window.bytes, start..start + text.len()).start.max(self.log.end);
            let number = self.log.number;
            self.write(number, true, &window.bytes[..line])?;
            window.bytes.drain(..line);
            window.start += line as u64;
            self.log = self.open();
            start -= line;
        }
        self.log.messages += 1;
        self.log.end = self.log.end.max(start + text.len());
        Ok(placed(self.log.number, start, text.len()))
    }

    /// Stores a text that the log has in another form, as a line.
    fn own(&mut self, text: &[u8]) -> io::Result<TextSpan> {
        if self.own.messages >= MESSAGES || self.own_text.len() >= BYTES {
            self.end_own()?;
        }
        let start = self.own_text.len();
        self.own_text.extend_from_slice(text);
        self.own_text.push(b'\n');
        self.own.messages += 1;
        Ok(placed(self.own.number, start, text.len()))
    }

    /// Discards the bytes read from the log so far.
    pub fn leave_out(&mut self) {
        let mut window = lock(&self.window);
        window.start += window.bytes.len() as u64;
        window.bytes.clear();
    }

    fn end_own(&mut self) -> io::Result<()> {
        let text = std::mem::take(&mut self.own_text);
        if !text.is_empty() {
            self.write(self.own.number, false, &text)?;
            self.own = self.open();
        }
        Ok(())
    }

    /// Ends the log.
    pub fn end(&mut self) -> io::Result<()> {
        self.end_own()?;
        let rest = std::mem::take(&mut *lock(&self.window));
        if rest.bytes.is_empty() || self.is_chosen {
            return Ok(());
        }
        self.write(self.log.number, true, &rest.bytes)
    }

    fn write(&mut self, number: u32, of_log: bool, text: &[u8]) -> io::Result<()> {
        if let Some(secrets) = &mut self.secrets {
            secrets[usize::from(!of_log)] += spans(text).count() as u64;
        }
        // Texts in another form, and those that a limit leaves, are few: the smallest size is worth the time.
        let level = if of_log { Compression::default() } else { Compression::best() };
        let mut encoder = GzEncoder::new(Vec::new(), level);
        encoder.write_all(text)?;
        let bytes = encoder.finish()?;
        self.file.seek(SeekFrom::Start(self.size))?;
        self.file.write_all(&bytes)?;
        let range = self.size..self.size + bytes.len() as u64;
        self.size = range.end;
        self.written.push(TextPiece { number, of_log, range });
        Ok(())
    }

    /// Returns the pieces of a page, and true if they hold all texts. If these take more than `limit` bytes of a page, writes
    /// new pieces with the texts that fit: of the rows in `first`, then of the others in order. A row whose text is left out
    /// is placed in piece 0 and keeps the length of the text.
    pub fn choose(
        &mut self,
        rows: &mut [PageRow],
        first: Vec<u32>,
        limit: Option<u64>,
    ) -> io::Result<(Vec<TextPiece>, bool)> {
        // Pieces are written when full, but numbered when begun.
        self.written.sort_by_key(|piece| piece.number);
        let size: u64 = self.written.iter().map(TextPiece::in_page).sum();
        if limit.is_none_or(|limit| size <= limit) {
            return Ok((self.written.clone(), !self.is_chosen));
        }
        let mut wanted = self.wanted(rows, first, limit.unwrap_or_default());
        let (all, known) = (std::mem::take(&mut self.written), self.numbered);
        // These texts have been counted.
        self.secrets = None;
        self.own = self.open();
        let mut moved = HashMap::new();
        for piece in all {
            let Some(texts) = wanted.remove(&piece.number) else { continue };
            let mut whole = Vec::new();
            GzDecoder::new(&*self.read(&piece)?).read_to_end(&mut whole)?;
            for span in texts {
                let (start, length) = (span.start as usize, span.length as usize);
                let line = line_of(&whole, start..start + length);
                let own = self.own(whole.get(line.clone()).unwrap_or_default())?;
                moved.insert(
                    (piece.number, span.start),
                    placed(own.piece, own.start as usize + start - line.start, length),
                );
            }
        }
        self.end_own()?;
        self.written.retain(|piece| piece.number > known);
        for row in rows {
            let absent = TextSpan { piece: 0, start: 0, length: row.place.length };
            row.place = moved.get(&(row.place.piece, row.place.start)).copied().unwrap_or(absent);
        }
        Ok((self.written.clone(), false))
    }

    /// Returns the texts that fit into `limit` bytes of a page, by the number of their piece.
    fn wanted(&self, rows: &[PageRow], first: Vec<u32>, limit: u64) -> HashMap<u32, BTreeSet<TextSpan>> {
        let mut wanted = HashMap::<u32, BTreeSet<TextSpan>>::new();
        let mut lengths = HashMap::<u32, u64>::new();
        rows.iter().for_each(|row| *lengths.entry(row.place.piece).or_default() += u64::from(row.place.length));
        let mut left = limit as f64;
        let others = 0..u32::try_from(rows.len()).unwrap_or(u32::MAX);
        for row in first.into_iter().chain(others) {
            let Some(span) = rows.get(row as usize).map(|row| row.place).filter(|span| span.piece > 0) else {
                continue;
            };
            let Ok(piece) = self.written.binary_search_by_key(&span.piece, |piece| piece.number) else { continue };
            let piece = &self.written[piece];
            let share = f64::from(span.length) / lengths.get(&span.piece).map_or(1.0, |length| *length as f64);
            let size = share * piece.in_page() as f64;
            if size <= left && wanted.entry(span.piece).or_default().insert(span) {
                left -= size;
            }
        }
        wanted
    }

    /// Returns the compressed bytes of a piece.
    pub fn read(&mut self, piece: &TextPiece) -> io::Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(piece.range.start))?;
        let mut bytes = Vec::new();
        Read::by_ref(&mut self.file).take(piece.range.end - piece.range.start).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Returns the line of a text in a piece, or the text if there is much around it.
fn line_of(piece: &[u8], text: Range<usize>) -> Range<usize> {
    let before = &piece[..text.start];
    let near = &before[before.len().saturating_sub(ENVELOPE)..];
    let start = near.iter().rposition(|byte| *byte == b'\n').map(|at| text.start - near.len() + at + 1);
    let start = start.or((near.len() == before.len()).then_some(0));
    let end = piece[text.end..].iter().take(ENVELOPE).position(|byte| *byte == b'\n').map(|at| text.end + at);
    match start.zip(end) {
        Some((start, end)) if end - start <= text.len() + ENVELOPE => start..end,
        _ => text,
    }
}

fn placed(piece: u32, start: usize, length: usize) -> TextSpan {
    let short = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    TextSpan { piece, start: short(start), length: short(length) }
}
