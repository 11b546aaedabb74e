//! Runs a decoder over an input: the buffer, the counting of lines and bytes, and the errors.

mod clock_order;
mod learning;
mod options;
mod order;
mod process;
mod time_order;

pub use self::options::{ReadError, ReaderOptions};
use self::order::{AnswerOrder, EntryOrder};
use self::process::{Processes, around, process_in, program};
use self::time_order::WrappedOrder;

use super::capped::CappedDecoder;
use super::certainty::mentions_message;
use super::decompress::{PlainText, TextFailure};
use super::detect::ExaminedInput;
use super::json_lines::JsonLines;
use super::one_way::one_way_writers;
use super::seen_events::SeenEvents;
use super::unwrapped::{LineFacts, UnwrappedLog};
use super::writer::{BYTE_ORDER_MARK, CHUNK, WriterInput};
use super::{Decoder, Entry, Format, Location, LogLine, OwnFormat, Step, Wrapper};
use std::collections::HashSet;
use std::io::{self, Read};
use std::mem;

/// Reads the entries of an input in any compression and format.
pub struct Reader<'r> {
    input: PlainText<'r>,
    /// Removes wrappers. The bytes in the buffer, and `here`, then belong to the text inside.
    unwrapped: Option<Box<UnwrappedLog>>,
    /// The number of bytes of that text that were consumed.
    consumed: u64,
    wrappers: Vec<Wrapper>,
    /// The failure that came before wrappers were removed.
    failure: Option<ReadError>,
    state: ReaderState,
    format: Format,
    /// The text that is being read, and the texts of other writers with lines in between, the newest last.
    current: WriterInput,
    parked: Vec<WriterInput>,
    /// The writer whose records are in the input's own session: the writer of the first record.
    first_writer: Option<String>,
    processes: Processes,
    options: ReaderOptions,
    /// What reorders the entries, if answers may stand before their requests.
    order: Option<Box<dyn EntryOrder>>,
    seen: SeenEvents,
    /// The maximum number of bytes that are kept, unless a decoder breaks its contract.
    most: usize,
    /// The first bytes of the text, without blanks before them.
    head: Vec<u8>,
    /// True for a log of lines whose first 64 KiB are text without messages.
    is_text: bool,
    /// The file that describes the format, if it was learned from the log.
    learned: Option<String>,
    /// The number of times that the format may still be learned, and the number of bytes of text that were learned from.
    learnings: u8,
    learned_until: u64,
    /// True if a read was interrupted, since a live log is slow.
    has_paused: bool,
}

/// Entries that a decoder supplies itself, without bytes to read.
pub struct OwnEntries {
    /// The format that they were read as originally.
    pub format: Format,
    /// The decoder, which is not shown any bytes.
    pub decoder: Box<dyn Decoder>,
}

/// The state of reading an input.
enum ReaderState {
    Open,
    Ended,
    /// Reading failed, and the rest of the buffer may be cut off.
    Failed(ReadError),
    /// The failure was returned.
    Over,
}

/// The number of bytes of the text that are kept to describe it.
const HEAD: usize = 4 * 1024;
/// The number of times that a format is learned again.
const LEARNINGS: u8 = 4;
/// The maximum number of writers whose text is kept, besides the last writer.
const WRITERS: usize = 1000;

impl<'r> Reader<'r> {
    /// Reads until the content settles the format, or shows a record of the format in the options, but at most 64 KiB
    /// of text.
    ///
    /// # Errors
    ///
    /// If nothing can be read, or the format is [refused](Format::refusal). An input that fails later returns its error
    /// in [`Reader::next_entry`].
    pub fn new(input: impl Read + Send + 'r, options: &ReaderOptions) -> Result<Self, ReadError> {
        let format = options.format.unwrap_or(Format::JsonLines);
        let mut reader = Self {
            input: PlainText::new(input).map_err(|source| ReadError::Io { after: 0, source })?,
            unwrapped: None,
            consumed: 0,
            wrappers: Vec::new(),
            failure: None,
            state: ReaderState::Open,
            format,
            current: WriterInput::new(CappedDecoder::new(format.own_decoder(), options.max_record_size)),
            parked: Vec::new(),
            first_writer: None,
            processes: Processes::default(),
            options: options.clone(),
            order: None,
            seen: SeenEvents::default(),
            most: options.max_record_size.saturating_add(2 * CHUNK),
            head: Vec::new(),
            is_text: false,
            learned: None,
            learnings: 0,
            learned_until: 0,
            has_paused: false,
        };
        reader.fill(BYTE_ORDER_MARK.len());
        reader.state = match reader.state {
            ReaderState::Failed(error) if reader.current.filled == 0 => return Err(error),
            state => state,
        };
        if reader.current.unread().starts_with(BYTE_ORDER_MARK) {
            reader.consume(BYTE_ORDER_MARK.len());
        }
        let mut is_examined = options.own_format.is_some();
        if options.own_format.as_ref().is_some_and(OwnFormat::detects_wrappers) {
            (reader.wrappers, _) = reader.settle(Format::settled);
        } else if options.is_stated() {
            let own_format = options.own_format.as_ref();
            reader.wrappers = reader.settle(|head, all, looked| format.wrappers(own_format, head, all, looked));
        } else {
            (reader.wrappers, reader.format) = reader.settle(Format::settled);
            is_examined = reader.format.may_be_learned();
            if is_examined {
                reader.learn(false);
                reader.is_text = reader.format == Format::JsonLines
                    && reader.learned.is_none()
                    && reader.current.unread().get(..Format::WINDOW).is_some_and(|head| !mentions_message(head));
                reader.learnings = if reader.format == Format::JsonLines { LEARNINGS } else { 0 };
            }
        }
        reader.current.decoder = reader.decoder();
        reader.order = reader.format.early_side().map(|side| Box::new(AnswerOrder::new(side)) as _);
        if !reader.wrappers.is_empty() {
            reader.take_off(options.max_record_size);
            if reader.order.is_none() && !reader.has_paused {
                reader.order = Some(Box::new(WrappedOrder::default()));
            }
        } else if reader.order.is_none() {
            if options.own_format.is_some() || !is_examined {
                reader.fill_window();
            }
            reader.order_by_time();
        }
        if let Some(reason) = reader.format.refusal() {
            return Err(ReadError::Refused { format: reader.format, reason });
        }
        Ok(reader)
    }

    /// True if the lines are out of order, and the entries are sorted by time.
    pub fn is_by_time(&self) -> bool {
        self.order.as_ref().is_some_and(|order| order.is_by_time())
    }

    /// The file that describes the format of the log, if it was learned.
    pub fn learned(&self) -> Option<&str> {
        self.learned.as_deref()
    }

    fn decoder(&self) -> CappedDecoder {
        let inner = match &self.options.own_format {
            Some(own_format) => own_format.decoder(),
            None if self.options.is_stated() => self.format.own_decoder(),
            None if self.is_text => JsonLines::behind_text(),
            None => self.format.detected_decoder(),
        };
        CappedDecoder::new(inner, self.options.max_record_size)
    }

    /// The format of the input, detected or stated.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The wrappers of the log, the outermost first. Lines that have the stated format as they are, or a record in the
    /// place that the user's format states, are not unwrapped.
    pub fn wrappers(&self) -> &[Wrapper] {
        &self.wrappers
    }

    /// The number of records that were given.
    pub fn record_count(&self) -> u64 {
        self.current.here.record
    }

    /// The number of bytes of text that were read, after decompression and with wrappers.
    pub fn text_length(&self) -> u64 {
        let text = self.current.here.byte + self.current.unread().len() as u64;
        self.unwrapped.as_ref().map_or(text, |unwrapped| unwrapped.read_length())
    }

    /// The beginning of the text that was read, at most 4 KiB, without blanks before it.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns the next entry, with bytes of its own; `None` after the last entry, and after an error.
    ///
    /// # Errors
    ///
    /// If the input fails, or its compressed data is damaged or cut off: after the last whole entry. An entry that the
    /// failure cuts off is not given.
    pub fn next_entry(&mut self) -> Result<Option<Entry<'static>>, ReadError> {
        self.take_entry(true, |entry| entry.into_owned())
    }

    /// Returns the result of `take` for the next entry, whose bytes belong to the reader; `None` after the last entry.
    /// Without `may_read`, also returns `None` if more input would have to be read first.
    ///
    /// # Errors
    ///
    /// As [`Reader::next_entry`].
    pub fn take_entry<T>(&mut self, may_read: bool, take: impl FnOnce(Entry<'_>) -> T) -> Result<Option<T>, ReadError> {
        loop {
            if let Some(entry) = self.order.as_mut().and_then(|order| order.next()) {
                return Ok(Some(take(numbered(&mut self.current.here, &mut self.seen, entry))));
            }
            self.order.take_if(|order| order.is_over());
            if self.unwrapped.is_some()
                && let Some(line) = self.other_line(false)
            {
                if let Some(line) = self.in_order(line) {
                    return Ok(Some(take(line)));
                }
                continue;
            }
            if matches!(self.state, ReaderState::Over) {
                return Ok(None);
            }
            let input = &self.current.buffer[self.current.start..self.current.filled];
            let end = self.current.closes || matches!(self.state, ReaderState::Ended);
            let step = self.current.decoder.step(input, end);
            if self.learnings > 0
                && matches!(step, Step::Entry { consumed: 1.., .. })
                && self.current.decoder.is_unread()
                && self.consumed >= self.learned_until
                && !self.current.gave
                && self.current.begun.is_none()
            {
                drop(step);
                self.learn_below();
                continue;
            }
            match step {
                Step::NeedMore | Step::Skip { consumed: 0 } => {
                    if let Some(line) = self.other_line(true) {
                        if let Some(line) = self.in_order(line) {
                            return Ok(Some(take(line)));
                        }
                        continue;
                    }
                    if !matches!(self.state, ReaderState::Open) && self.order.as_mut().is_some_and(|order| order.end())
                    {
                        continue;
                    }
                    match (self.current.decoder.failure(), mem::replace(&mut self.state, ReaderState::Over)) {
                        (Some(problem), _) => return Err(ReadError::Unreadable { format: self.format, problem }),
                        (None, ReaderState::Open) => {
                            self.state = ReaderState::Open;
                            if !may_read && self.unwrapped.as_ref().is_none_or(|unwrapped| !unwrapped.has_text()) {
                                return Ok(None);
                            }
                            let have = self.current.unread().len();
                            // A message is not searched again for each of its lines between lines of other writers.
                            self.current.wanted = if have < CHUNK { 0 } else { have + have / 8 };
                            self.fill(have.saturating_mul(2).min(self.most).max(have + 1));
                        }
                        (None, ReaderState::Failed(error)) => return Err(error),
                        (None, ReaderState::Ended) if !self.parked.is_empty() => {
                            self.state = ReaderState::Ended;
                            let next = self.parked.remove(0);
                            self.turn_to(next);
                        }
                        (None, ReaderState::Ended | ReaderState::Over) => return Ok(None),
                    }
                }
                Step::Skip { consumed } => self.consume(consumed),
                Step::Begin { start, consumed } => {
                    let begun = self.current.here.behind(&input[..start], &mut self.current.counted);
                    self.current.begun = Some(self.place(begun));
                    self.consume(consumed);
                }
                Step::Entry { start, consumed, mut entry } => {
                    let indent = match &entry {
                        Entry::LogLine(line) if start == 0 && !line.oversized && input.starts_with(&line.bytes) => {
                            self.current.indentation()
                        }
                        _ => 0,
                    };
                    let (location, facts) = match self.current.begun.take() {
                        Some(begun) => begun,
                        None => {
                            let begun = self.current.here.behind(&input[..start], &mut self.current.counted);
                            self.place(Location { byte: begun.byte - indent as u64, ..begun })
                        }
                    };
                    let blanks = &self.current.buffer[self.current.start - indent..self.current.start];
                    if !blanks.is_empty() {
                        entry = entry.indented(blanks);
                    }
                    if let Entry::Record(record) = &mut entry {
                        record.flags.is_derived =
                            self.unwrapped.is_some() || !input.as_ptr_range().contains(&record.bytes.as_ptr());
                        if !record.flags.is_derived && consumed > record.bytes.len() {
                            let around = around(&input[..consumed], &record.bytes);
                            record.flags.new_process = self.processes.is_new(around.into_iter().find_map(process_in));
                        }
                    }
                    let known = if entry.location().record == 0 { location } else { entry.location() };
                    entry.add_facts(facts);
                    entry.set_place(known);
                    if let Some(by) = &self.options.session_by {
                        let around = self.current.writer.strip_prefix('\0').map(|key| Some(key.to_owned()));
                        entry = entry.in_session(around.or_else(|| by.session(input, start)));
                    } else if !self.current.writer.is_empty() {
                        if self.first_writer.is_none() && matches!(entry, Entry::Record(_)) {
                            self.first_writer = Some(self.current.writer.clone());
                        }
                        if let Some(first) = &self.first_writer {
                            let key = Some(&*self.current.writer).filter(|writer| first != writer);
                            let is_first = self.current.last_session.is_none() && matches!(entry, Entry::Record(_));
                            entry = entry.by_writer(key, &mut self.current.last_session);
                            if is_first && let Some(program) = program(&self.current.writer) {
                                let ended = self.processes.last.insert(program.to_owned(), key.map(str::to_owned));
                                if let Some(ended) = ended {
                                    entry = entry.of_new_process(ended.as_deref());
                                }
                            }
                        }
                    }
                    if let Some(order) = &mut self.order {
                        order.push(entry.into_owned(), consumed > 0);
                        self.consume(consumed);
                        continue;
                    }
                    let taken = take(numbered(&mut self.current.here, &mut self.seen, entry));
                    self.consume(consumed);
                    return Ok(Some(taken));
                }
            }
        }
    }

    /// Returns a line, unless it has to wait among the entries that are reordered.
    fn in_order(&mut self, line: Entry<'static>) -> Option<Entry<'static>> {
        match &mut self.order {
            Some(order) => {
                order.push(line, false);
                None
            }
            None => Some(line),
        }
    }

    /// Returns the next line outside of a wrapper, in its place among the entries, or earlier if it must not wait any
    /// longer.
    fn other_line(&mut self, needs_more: bool) -> Option<Entry<'static>> {
        let unwrapped = self.unwrapped.as_mut()?;
        let read = match needs_more {
            true => None,
            false if self.current.begun.is_some() => return None,
            false => Some(self.consumed),
        };
        let line = unwrapped.other(read)?;
        let location = Location { record: self.current.here.record, ..line.location };
        Some(Entry::from(LogLine { location, ..line }).within(self.most - 2 * CHUNK))
    }

    /// Returns the place in the input of a byte of text, and the facts that its wrapper states.
    fn place(&self, text: Location) -> (Location, LineFacts) {
        if self.unwrapped.is_some() { self.current.places.place(text.byte) } else { (text, LineFacts::default()) }
    }

    /// Unwraps all text from here on, beginning with the text in the buffer.
    fn take_off(&mut self, limit: usize) {
        self.fill_window();
        let raw = self.current.unread().to_vec();
        let head = &raw[..raw.len().min(Format::WINDOW)];
        let texts: Vec<_> = UnwrappedLog::texts(&self.wrappers, head).collect();
        let one_way = one_way_writers(&texts);
        let of_messages = texts.iter().filter(|(writer, text)| mentions_message(text) && !one_way.contains_key(writer));
        let writers: HashSet<&str> = of_messages.map(|(writer, _)| writer.as_str()).collect();
        // Of several writers, each has a session with its name.
        self.first_writer = (writers.len() > 1).then(String::new);
        let unwrapped = UnwrappedLog::new(&self.wrappers, limit, raw, self.current.here);
        let unwrapped = unwrapped.with_session_by(self.options.session_by.clone()).with_one_way(one_way);
        self.unwrapped = Some(Box::new(match mem::replace(&mut self.state, ReaderState::Open) {
            ReaderState::Open => unwrapped,
            ReaderState::Ended | ReaderState::Over => unwrapped.ended(false),
            ReaderState::Failed(error) => {
                self.failure = Some(error);
                unwrapped.ended(true)
            }
        }));
        self.current = WriterInput::new(self.decoder());
        self.head.clear();
    }

    /// Reads no further than the decision needs: the next line of a live log may be long in coming.
    fn settle<T>(&mut self, settled: impl Fn(&[u8], bool, &mut ExaminedInput) -> Option<T>) -> T {
        let mut looked = ExaminedInput::default();
        loop {
            let head = self.current.unread();
            let all = !matches!(self.state, ReaderState::Open) || head.len() >= Format::WINDOW;
            if let Some(found) = settled(head, all, &mut looked) {
                return found;
            }
            let wanted = head.len() + 1;
            self.fill(wanted);
        }
    }

    /// Reads until `wanted` bytes are present that are not consumed, or to the end. In a log with several writers,
    /// switches to the text of the writer who wrote the next part.
    fn fill(&mut self, mut wanted: usize) {
        loop {
            if let Some(unwrapped) = &mut self.unwrapped {
                if let Err(failure) = unwrapped.advance(&mut self.input) {
                    self.state = ReaderState::Failed(ReadError::new(failure, self.text_length()));
                    return;
                }
                match unwrapped.next_writer() {
                    Some(writer) if *writer == self.current.writer && !self.current.closes => {}
                    Some(writer) => {
                        let writer = writer.to_owned();
                        if self.switch(writer) {
                            return;
                        }
                        wanted = 0;
                    }
                    None if unwrapped.is_full() => return,
                    None => {
                        self.state = self.failure.take().map_or(ReaderState::Ended, ReaderState::Failed);
                        return;
                    }
                }
            }
            wanted = wanted.max(self.current.unread().len() + 1);
            let room = self.current.room(wanted);
            let (from, until) = (room.start, room.end);
            let room = &mut self.current.buffer[room];
            let read = match &mut self.unwrapped {
                Some(unwrapped) => {
                    let offset = self.current.here.byte + (from - self.current.start) as u64;
                    Ok(unwrapped.read(room, offset, &mut self.current.places))
                }
                None => self.input.read(room),
            };
            match read {
                Ok(0) => {
                    self.state = self.failure.take().map_or(ReaderState::Ended, ReaderState::Failed);
                    return;
                }
                Ok(read) => {
                    let end = until.min(from + read);
                    if self.head.len() < HEAD {
                        let text = &self.current.buffer[from..end];
                        let text = if self.head.is_empty() { text.trim_ascii_start() } else { text };
                        self.head.extend_from_slice(&text[..text.len().min(HEAD - self.head.len())]);
                    }
                    self.current.filled = end;
                    let have = self.current.unread().len();
                    // A writer that has just ended a line may be waiting for an answer.
                    let is_line = end < until && self.current.buffer[..end].ends_with(b"\n");
                    let waits_for_more = !self.parked.is_empty() && have < self.current.wanted;
                    if (is_line || have >= wanted) && !waits_for_more {
                        return;
                    }
                }
                Err(TextFailure::Source(error)) if error.kind() == io::ErrorKind::Interrupted => {
                    self.has_paused = true;
                    return;
                }
                Err(failure) => {
                    self.state = ReaderState::Failed(ReadError::new(failure, self.text_length()));
                    return;
                }
            }
        }
    }

    /// Switches to the text of a writer. Returns true if another writer's text has to be read to its end first.
    fn switch(&mut self, writer: String) -> bool {
        if self.current.writer.is_empty() && self.current.here.byte == 0 && self.current.unread().is_empty() {
            self.current.writer = writer;
            return false;
        }
        let known = self.parked.iter().position(|input| input.writer == writer);
        let next = match known {
            Some(known) => self.parked.remove(known),
            None => WriterInput { writer, ..WriterInput::new(self.decoder()) },
        };
        let before = self.turn_to(next);
        if !before.closes {
            self.parked.push(before);
        }
        let waiting: usize = self.parked.iter().map(|input| input.unread().len()).sum();
        if self.parked.len() <= WRITERS && waiting <= self.most {
            return false;
        }
        let mut oldest = self.parked.remove(0);
        oldest.closes = true;
        let next = self.turn_to(oldest);
        self.parked.push(next);
        true
    }

    /// Switches to a text, and returns the text before.
    fn turn_to(&mut self, mut next: WriterInput) -> WriterInput {
        next.here.record = self.current.here.record;
        mem::replace(&mut self.current, next)
    }

    fn consume(&mut self, bytes: usize) {
        self.current.consume(bytes);
        self.consumed += bytes as u64;
    }
}

/// Gives an entry the number of the last record, `here`; a record is the next one.
fn numbered<'a>(here: &mut Location, seen: &mut SeenEvents, entry: Entry<'a>) -> Entry<'a> {
    let mut entry = seen.sort_out(entry, here.record + 1);
    here.record += u64::from(matches!(entry, Entry::Record(_)));
    entry.set_place(Location { record: here.record, ..entry.location() });
    entry
}

impl Reader<'_> {
    /// Creates a reader of entries that a decoder supplies itself.
    pub fn of(entries: OwnEntries) -> Result<Self, ReadError> {
        let nothing = Self::new(Box::new(io::empty()), &ReaderOptions::default().with_format(Format::JsonLines))?;
        Ok(Self {
            format: entries.format,
            current: WriterInput::new(CappedDecoder::new(entries.decoder, usize::MAX)),
            ..nothing
        })
    }
}

#[cfg(test)]
mod tests;
