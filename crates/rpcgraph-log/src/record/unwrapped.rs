//! Removal of wrappers: the text inside, and the place in the input of each part of that text.

use super::certainty::{may_hold_message, mentions};
use super::colours::plain_parts;
use super::decoder::trim_end;
use super::decompress::{PlainText, TextFailure};
use super::session_by::SessionBy;
use super::wrapper::{UnwrappedLine, Wrapper};
use super::{Direction, Location, LogLine, Time};
use memchr::memchr;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::mem;

/// A log without its wrappers. Lines outside of a wrapper are given separately, as log lines.
#[derive(Default)]
pub(super) struct UnwrappedLog {
    layers: Vec<WrapperLayer>,
    /// Selects the value in a wrapped line that stands for the writer, after a NUL.
    session_by: Option<SessionBy>,
    /// The writers whose text is the text of another writer.
    one_way: BTreeMap<String, String>,
    /// Bytes of the input that are not processed yet; their offset and line are in `byte` and `line`.
    raw: Vec<u8>,
    /// The buffer for one read.
    buffer: Vec<u8>,
    byte: u64,
    line: u64,
    /// The number of bytes of `raw` that are known not to hold an LF.
    searched: usize,
    /// True within a line that is too long to unwrap: it becomes text as it is.
    passing: bool,
    /// The input has ended, or reading has failed. After a failure, an unfinished line is not given.
    ended: bool,
    failed: bool,
    /// The maximum length of a line, in bytes: longer than a record, for the wrappers around it.
    most: usize,
    /// The text that is ready, and the number of bytes given of its first piece.
    pieces: VecDeque<WriterText>,
    given: usize,
    /// The number of bytes of text that were made.
    made: u64,
    /// The writer of the last wrapped line.
    last_writer: String,
    /// Lines outside of a wrapper, each with the number of bytes of text before it.
    others: VecDeque<(u64, LogLine<'static>)>,
    others_length: usize,
}

/// Whole lines of text by one writer.
#[derive(Default)]
struct WriterText {
    writer: String,
    text: Vec<u8>,
    marks: Vec<TextMark>,
}

/// The places in the input of the text of one writer, as far as it is not read yet.
#[derive(Default)]
pub(super) struct TextOrigins(VecDeque<TextMark>);

impl TextOrigins {
    /// Returns the place in the input of the text at `offset`, and the facts that its wrapper states.
    pub(super) fn place(&self, offset: u64) -> (Location, LineFacts) {
        let index = self.0.partition_point(|mark| mark.at <= offset).saturating_sub(1);
        let Some(mark) = self.0.get(index) else { return (Location::START, LineFacts::default()) };
        let mark = mark.behind(offset);
        (mark.location(), mark.facts)
    }

    /// Drops the places of text that was read.
    pub(super) fn forget(&mut self, read: u64) {
        while self.0.get(1).is_some_and(|next| next.at <= read) {
            self.0.pop_front();
        }
    }
}

/// The facts that the wrapper of a line states about the text in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineFacts {
    pub time: Option<Time>,
    /// The direction, if its writer wrote one direction of a connection.
    pub direction: Option<Direction>,
}

/// A wrapper, with its state between lines.
struct WrapperLayer {
    wrapper: Wrapper,
    inside: Vec<u8>,
    /// The beginnings of continued lines, the oldest first; at most one for each stream, and together no longer than
    /// one may be.
    begun: Vec<ContinuedLine>,
}

struct ContinuedLine {
    writer: String,
    stream: Vec<u8>,
    text: Vec<u8>,
    marks: Vec<TextMark>,
}

/// The place of a part of a text in the input.
#[derive(Clone, Copy, Debug)]
struct TextMark {
    /// Offset of its first byte in the text.
    at: u64,
    /// Offset in the input, and the line.
    byte: u64,
    line: u64,
    facts: LineFacts,
    /// True if the following bytes are consecutive in the input too. The bytes of a string may not be.
    is_exact: bool,
}

impl TextMark {
    fn location(self) -> Location {
        Location { record: 0, line: self.line, byte: self.byte }
    }

    /// Returns the mark for a text that begins `start` bytes later, at its first byte or after.
    fn behind(self, start: u64) -> Self {
        let byte = if self.is_exact { self.byte + start.saturating_sub(self.at) } else { self.byte };
        Self { at: self.at.saturating_sub(start), byte, ..self }
    }
}

/// Returns the marks for the part of a text from `start` up to `end`.
fn part(marks: &[TextMark], start: usize, end: usize) -> impl Iterator<Item = TextMark> {
    let (start, end) = (start as u64, end as u64);
    let first = marks.partition_point(|mark| mark.at <= start).saturating_sub(1);
    marks[first..].iter().take_while(move |mark| mark.at <= start || mark.at < end).map(move |mark| mark.behind(start))
}

/// The size of a read, in bytes.
const READ: usize = 64 * 1024;
/// The number of bytes by which a line may exceed the largest record, for what is around its message.
const AROUND: usize = 48 * 1024;
/// The maximum number of streams with a continued line.
const STREAMS: usize = 16;
/// The maximum size, in bytes, of lines outside of a wrapper that are kept until the text before them is read.
const OTHERS: usize = 64 * 1024;

impl UnwrappedLog {
    /// Removes wrappers, the outermost first, from an input that begins with `raw` at `place`. Records have at most
    /// `limit` bytes.
    pub(super) fn new(wrappers: &[Wrapper], limit: usize, raw: Vec<u8>, place: Location) -> Self {
        let layer = |&wrapper| WrapperLayer { wrapper, inside: Vec::new(), begun: Vec::new() };
        Self {
            layers: wrappers.iter().map(layer).collect(),
            raw,
            byte: place.byte,
            line: place.line,
            most: limit.saturating_mul(2).saturating_add(AROUND),
            ..Self::default()
        }
    }

    /// Notes that nothing more can be read, because the input has ended or `failed`.
    pub(super) fn ended(self, failed: bool) -> Self {
        Self { ended: !failed, failed, ..self }
    }

    /// Sets the writers whose text is the text of another writer.
    pub(super) fn with_one_way(self, one_way: BTreeMap<String, String>) -> Self {
        Self { one_way, ..self }
    }

    /// Sets the value of wrapped lines that separates sessions.
    pub(super) fn with_session_by(self, session_by: Option<SessionBy>) -> Self {
        Self { session_by, ..self }
    }

    /// Returns the text inside a wrapper, ordered by writer.
    pub(super) fn inside(wrapper: Wrapper, text: &[u8]) -> Vec<u8> {
        let mut texts: Vec<(String, Vec<u8>)> = Vec::new();
        for (writer, text) in Self::texts(&[wrapper], text) {
            match texts.iter_mut().find(|(known, _)| *known == writer) {
                Some((_, known)) => known.extend(text),
                None => texts.push((writer, text)),
            }
        }
        texts.into_iter().flat_map(|(_, text)| text).collect()
    }

    /// Returns the texts inside wrappers, each with its writer.
    pub(super) fn texts(wrappers: &[Wrapper], text: &[u8]) -> impl Iterator<Item = (String, Vec<u8>)> {
        let mut unwrapped = Self::new(wrappers, usize::MAX, text.to_vec(), Location::START).ended(false);
        while !unwrapped.raw.is_empty() {
            unwrapped.others.clear();
            unwrapped.others_length = 0;
            unwrapped.take_apart();
        }
        unwrapped.finish();
        unwrapped.pieces.into_iter().map(|piece| (piece.writer, piece.text))
    }

    /// The number of bytes of the input that were read.
    pub(super) fn read_length(&self) -> u64 {
        self.byte + self.raw.len() as u64
    }

    /// Makes text, unless some is ready, the input has ended, or `self` is [full](Self::is_full).
    pub(super) fn advance(&mut self, input: &mut PlainText<'_>) -> Result<(), TextFailure> {
        while self.pieces.is_empty() && !self.is_full() {
            self.take_apart();
            if !self.pieces.is_empty() || self.is_full() {
                break;
            }
            if self.ended {
                self.finish();
                break;
            }
            if self.failed {
                break;
            }
            // Filled with zeros only once, since an input may come one byte at a time.
            self.buffer.resize(READ, 0);
            let read = input.read(&mut self.buffer)?;
            self.raw.extend_from_slice(self.buffer.get(..read).unwrap_or_default());
            self.ended = read == 0;
        }
        Ok(())
    }

    /// The writer of the next text.
    pub(super) fn next_writer(&self) -> Option<&str> {
        self.pieces.front().map(|piece| &*piece.writer)
    }

    /// Copies the next text to `buffer`, and adds its places. The text begins at `offset` of all text of its writer.
    pub(super) fn read(&mut self, buffer: &mut [u8], offset: u64, places: &mut TextOrigins) -> usize {
        let Some(piece) = self.pieces.front_mut() else { return 0 };
        places.0.extend(piece.marks.drain(..).map(|mark| TextMark { at: mark.at + offset, ..mark }));
        let rest = &piece.text[self.given..];
        let given = rest.len().min(buffer.len());
        buffer[..given].copy_from_slice(&rest[..given]);
        self.given += given;
        if self.given == piece.text.len() {
            self.pieces.pop_front();
            self.given = 0;
        }
        given
    }

    /// True if text is ready without reading.
    pub(super) fn has_text(&self) -> bool {
        !self.pieces.is_empty()
    }

    /// True if lines outside of a wrapper must be given before more text can be made.
    pub(super) fn is_full(&self) -> bool {
        self.others_length > OTHERS
    }

    /// Returns a line outside of a wrapper, if the text before it was read (`read` bytes in all), or if too many lines
    /// wait.
    pub(super) fn other(&mut self, read: Option<u64>) -> Option<LogLine<'static>> {
        let (before, _) = self.others.front()?;
        if read.map_or(!self.is_full(), |read| *before > read) {
            return None;
        }
        let (_, line) = self.others.pop_front()?;
        self.others_length -= line.bytes.len() + 1;
        Some(line)
    }

    /// Makes text of whole lines.
    fn take_apart(&mut self) {
        let raw = mem::take(&mut self.raw);
        let mut at = 0;
        while at < raw.len() && !self.is_full() {
            let from = if at == 0 { self.searched } else { at };
            let line_end = memchr(b'\n', &raw[from..]).map(|end| from + end);
            let end = line_end.unwrap_or(raw.len());
            if line_end.is_none() && !self.ended && !self.passing && end - at <= self.most {
                break;
            }
            let ended = line_end.is_some();
            let mark =
                TextMark { at: 0, byte: self.byte, line: self.line, facts: LineFacts::default(), is_exact: true };
            if self.passing || (!ended && end - at > self.most) {
                let writer = self.last_writer.clone();
                self.give(self.layers.len(), &raw[at..end], &[mark], ended, &writer);
                self.passing = !ended;
            } else {
                self.line(0, &raw[at..end], &[mark], ended, "");
            }
            let next = end + usize::from(ended);
            self.byte += (next - at) as u64;
            self.line += u64::from(ended);
            (at, self.searched) = (next, 0);
        }
        self.raw = raw;
        self.raw.drain(..at);
        self.searched = if self.is_full() { 0 } else { self.raw.len() };
    }

    /// At the end of the input, gives the lines that still wait for their rest.
    fn finish(&mut self) {
        if mem::take(&mut self.passing) {
            let writer = self.last_writer.clone();
            self.give(self.layers.len(), b"", &[], true, &writer);
        }
        for level in 0..self.layers.len() {
            let mut begun = mem::take(&mut self.layers[level].begun).into_iter();
            while let Some(ContinuedLine { text, marks, writer, .. }) = begun.next() {
                self.give(level + 1, &text, &marks, begun.len() > 0, &writer);
            }
        }
    }

    /// Unwraps a line without its LF, which it had if it `ended`. `outer` is the writer according to the wrappers
    /// around it.
    fn line(&mut self, level: usize, mut line: &[u8], marks: &[TextMark], ended: bool, outer: &str) {
        let whole = line.len();
        loop {
            let layer = &mut self.layers[level];
            let own: Vec<TextMark> = part(marks, whole - line.len(), whole).collect();
            let Some(taken) = layer.wrapper.take(line, ended, &mut layer.inside) else {
                return self.other_line(level, line, &own, ended);
            };
            let used = taken.used;
            // Members beside the text may hold messages, too.
            if layer.wrapper == Wrapper::Docker && mentions(&line[..used]) > mentions(&taken.text) {
                self.text_line(&line[..used], &own);
            }
            let marks = self.marks_of(level, &taken, line, own);
            let inner = String::from_utf8_lossy(&taken.writer);
            let writer = match (self.session_by.as_ref().and_then(|by| by.value(line)), outer, &*inner) {
                (Some(key), ..) => format!("\0{key}"),
                (None, one, _) if one.starts_with('\0') => one.to_owned(),
                (None, one, "") | (None, "", one) => one.to_owned(),
                (None, outer, inner) => format!("{outer} {inner}"),
            };
            self.join(level, taken, marks, writer);
            // Two writers may have shared the line.
            line = &line[used..];
            if trim_end(line).is_empty() {
                return;
            }
        }
    }

    /// Returns the marks of the content of a line.
    fn marks_of(&self, level: usize, taken: &UnwrappedLine<'_>, line: &[u8], own: Vec<TextMark>) -> Vec<TextMark> {
        let is_exact = matches!(taken.text, Cow::Borrowed(_));
        let mut marks = Vec::with_capacity(1);
        if self.layers[level].wrapper == Wrapper::Colours && !is_exact {
            let mut at = 0;
            for (start, text) in plain_parts(line).filter(|(_, text)| !text.is_empty()) {
                marks.extend(part(&own, start, start + text.len()).map(|mark| TextMark { at: mark.at + at, ..mark }));
                at += text.len() as u64;
            }
        } else if is_exact {
            marks.extend(part(&own, taken.start, line.len()));
        } else {
            marks.extend(part(&own, taken.start, 0).map(|mark| TextMark { is_exact: false, ..mark }));
        }
        if let Some(time) = taken.time {
            marks.iter_mut().for_each(|mark| mark.facts.time = Some(time));
        }
        marks
    }

    /// Joins the content of a line to the earlier content of its stream, and gives it unless the line is continued.
    fn join(&mut self, level: usize, taken: UnwrappedLine<'_>, marks: Vec<TextMark>, writer: String) {
        // More than the maximum size of what a decoder is shown, so that the line is found to be too long.
        let most = self.most / 2 + AROUND + 1;
        let begun = &mut self.layers[level].begun;
        let index = begun.iter().position(|begun| begun.stream == taken.stream && begun.writer == writer);
        if index.is_none() && !taken.is_continued {
            return self.give(level + 1, &taken.text, &marks, true, &writer);
        }
        let index = index.unwrap_or_else(|| {
            begun.push(ContinuedLine { writer, stream: taken.stream.to_vec(), text: Vec::new(), marks: Vec::new() });
            begun.len() - 1
        });
        let joined = &mut begun[index];
        let length = joined.text.len();
        let room = most.saturating_sub(length).min(taken.text.len());
        if room > 0 || length == 0 {
            joined.marks.extend(marks.into_iter().map(|mark| TextMark { at: mark.at + length as u64, ..mark }));
            joined.text.extend_from_slice(&taken.text[..room]);
        }
        let waiting: usize = begun.iter().map(|begun| begun.text.len()).sum();
        let done = match taken.is_continued {
            false => begun.remove(index),
            true if begun.len() > STREAMS || begun.len() > 1 && waiting > most => begun.remove(0),
            true => return,
        };
        self.give(level + 1, &done.text, &done.marks, true, &done.writer);
    }

    /// Gives a text to the next inner wrapper, or as text of the log. The text is the end of a line if it `ended`.
    fn give(&mut self, level: usize, text: &[u8], marks: &[TextMark], ended: bool, writer: &str) {
        if level == self.layers.len() {
            let direction = match self.one_way.get(writer) {
                Some(_) => Some(Direction::In),
                None => self.one_way.values().any(|other| other == writer).then_some(Direction::Out),
            };
            let writer = self.one_way.get(writer).map_or(writer, String::as_str);
            if self.last_writer != writer {
                self.last_writer = writer.to_owned();
            }
            let made = text.len() + usize::from(ended);
            if made == 0 {
                return;
            }
            // Entries are in the order of lines, however many lines are read at once.
            if self.pieces.back().is_none_or(|last| !writer.is_empty() || last.writer != writer) {
                self.pieces.push_back(WriterText { writer: writer.to_owned(), ..WriterText::default() });
            }
            let Some(piece) = self.pieces.back_mut() else { return };
            let at = piece.text.len() as u64;
            piece.marks.extend(marks.iter().map(|mark| {
                let facts = LineFacts { direction, ..mark.facts };
                TextMark { at: mark.at + at, facts, ..*mark }
            }));
            piece.text.extend_from_slice(text);
            piece.text.extend(ended.then_some(b'\n'));
            self.made += made as u64;
            return;
        }
        let mut at = 0;
        loop {
            let end = memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
            let own: Vec<TextMark> = part(marks, at, end).collect();
            self.line(level, &text[at..end], &own, ended || end < text.len(), writer);
            at = end + 1;
            if at > text.len() {
                return;
            }
        }
    }

    /// Handles a line outside of the wrapper: as text of the log if it may hold a message, otherwise as a log line.
    fn other_line(&mut self, level: usize, line: &[u8], marks: &[TextMark], ended: bool) {
        let bytes = trim_end(line);
        let text = bytes.trim_ascii_start();
        if self.layers[level].wrapper.omits_text(line) {
            return self.text_line(line, marks);
        }
        if matches!(text.first(), Some(b'{' | b'[')) || memchr(b'{', text).is_some() && may_hold_message(text) {
            let writer = self.last_writer.clone();
            return self.give(level + 1, line, marks, ended, &writer);
        }
        self.text_line(line, marks);
    }

    /// Gives a line as text.
    fn text_line(&mut self, line: &[u8], marks: &[TextMark]) {
        let bytes = trim_end(line);
        if let Some(mark) = marks.first().filter(|_| !bytes.trim_ascii_start().is_empty()) {
            let line = LogLine { location: mark.location(), time: mark.facts.time, ..LogLine::new(bytes.to_vec()) };
            self.others_length += bytes.len() + 1;
            self.others.push_back((self.made, line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_wait_share_one_limit() {
        let line = |n: usize| format!("{{\"log\":\"{}\",\"stream\":\"s{}\"}}\n", "x".repeat(4000), n % STREAMS);
        let log: String = (0..40 * STREAMS).map(line).collect();
        let mut unwrapped = UnwrappedLog::new(&[Wrapper::Docker], 1000, log.clone().into_bytes(), Location::START);
        unwrapped.take_apart();
        let waiting = unwrapped.layers[0].begun.iter().map(|begun| begun.text.len()).sum::<usize>();
        assert!((1..=1 + 1000 + 2 * AROUND).contains(&waiting), "{waiting}");
        let inside = UnwrappedLog::inside(Wrapper::Docker, log.as_bytes());
        assert_eq!(inside.iter().filter(|byte| **byte == b'x').count(), 4000 * 40 * STREAMS);
    }
}
