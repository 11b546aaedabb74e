//! `json-lines`: one JSON value per line. Lines that are not JSON are records too.
//!
//! A line may also hold a message after a prefix or in an object, as in these lines of Python's logging and of pino:
//!
//! ```text
//! 2025-06-01 10:00:00,123 - mcp.server - DEBUG - Received message: {"jsonrpc":"2.0","id":1,"method":"ping"}
//! {"level":20,"time":1767607200123,"msg":"rpc","dir":"in","payload":{"jsonrpc":"2.0","id":1,"method":"ping"}}
//! ```
//!
//! After a prefix, the message may continue on the lines below.

use super::certainty::{Certainty, has_members_of_messages};
use super::decoder::{Decoder, Step, leading_blanks, trim_end};
use super::lines::{Extras, FoundEntry, LineFormat, LineInInput, LineSplitter};
use super::object::RawObject;
use super::search::{messages, messages_over_lines};
use super::session_key::{Decision, KeyTrials};
use super::surroundings::SessionKey;
use super::surroundings::Surroundings;
use super::value::{Extent, value};
use super::{LogLine, Record};
use memchr::{memchr, memchr_iter};

/// The evidence of earlier lines about the next line.
#[derive(Clone, Copy, PartialEq)]
enum LineEvidence {
    /// No message so far.
    Nothing,
    /// A line that is a message.
    Messages,
    /// A message inside a line: lines without a message are text.
    Inside,
}

pub(super) struct JsonLines {
    /// True for values over several lines, or several on one; other text is read by lines.
    has_values: bool,
    /// True if the user stated the format: then text is a record as it is.
    is_stated: bool,
    seen: LineEvidence,
    /// True if the first message has a member `_meta`, in which its recorder states time and sender.
    has_meta: bool,
    /// The place of the session key around messages.
    key: Option<SessionKey>,
    /// The candidates for that place, until one is chosen.
    trials: Option<Box<KeyTrials>>,
    /// The number of lines that were searched in vain for the end of a value, and are not searched again.
    closed: usize,
}

impl LineFormat for JsonLines {
    #[inline]
    fn read<'a>(&mut self, line: &'a [u8], more: &mut Extras) -> Option<FoundEntry<'a>> {
        let first = first_name(line);
        let is_plain = match self.seen {
            LineEvidence::Messages => {
                matches!(first, b"jsonrpc" | b"id" | b"method" | b"params" | b"result" | b"error")
            }
            LineEvidence::Inside => first == b"jsonrpc",
            LineEvidence::Nothing => false,
        };
        if is_plain && !self.has_meta { Some((0, Record::new(line).into())) } else { Some(self.look(line, more)) }
    }

    fn splits_lines(&self) -> bool {
        !self.has_values
    }

    #[inline]
    fn resume<'a>(&mut self, input: &'a [u8], end: bool, _: &mut Extras) -> Option<Step<'a>> {
        if self.has_values { Self::values(input, end) } else { None }
    }

    #[inline]
    fn look_ahead(&mut self, input: &[u8], length: usize, end: bool) -> Option<bool> {
        let Some(trials) = &mut self.trials else {
            self.closed = self.closed.saturating_sub(1);
            return None;
        };
        match trials.decide(input, length, end) {
            Decision::Wait => Some(false),
            Decision::Pass => None,
            Decision::Key(key) => {
                (self.key, self.trials) = (key, None);
                Some(true)
            }
        }
    }

    #[inline]
    fn below<'a>(
        &mut self,
        LineInInput { line, input, end, .. }: LineInInput<'a>,
        more: &mut Extras,
    ) -> Option<Step<'a>> {
        let at = opens(line).filter(|_| !self.is_stated && self.closed == 0)?;
        let is_json = matches!(line.first(), Some(b'{' | b'['));
        let first = if is_json { self.spread(0, input, end, more) } else { None };
        // Among plain messages, JSON that is cut off is not a heading for the message below it.
        let is_heading = at > 0 && !(is_json && self.seen == LineEvidence::Messages);
        let step = first.or_else(|| if is_heading { self.spread(at, input, end, more) } else { None });
        if step.is_some() {
            self.closed = 0;
        }
        step
    }
}

/// Returns the offset at which a message may begin that continues on the lines below, as in `Received: {`, `Received:`,
/// `-->`, `SEND ►` and `{"jsonrpc":"2.0",`.
#[inline]
pub(super) fn opens(line: &[u8]) -> Option<usize> {
    match line.last()? {
        b'{' | b'[' => Some(line.len() - 1),
        b':' => Some(line.len()),
        b'}' | b']' => None,
        b',' | b'"' => matches!(line[0], b'{' | b'[').then_some(0),
        _ => ends_in_direction(line).then_some(line.len()),
    }
}

/// True if a line ends in an arrow, or in the name of a direction.
fn ends_in_direction(line: &[u8]) -> bool {
    const SIGNS: [&str; 8] = ["->", "=>", "<-", "<=", "→", "←", "►", "◀"];
    const WORDS: [&[u8]; 6] = [b"send", b"recv", b"sent", b"received", b"request", b"response"];
    let word = &line[line.iter().rposition(|byte| !byte.is_ascii_alphabetic()).map_or(0, |at| at + 1)..];
    SIGNS.iter().any(|sign| line.ends_with(sign.as_bytes()))
        || WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Returns the name of an object's first member, if it is not longer than `jsonrpc`.
#[inline]
fn first_name(line: &[u8]) -> &[u8] {
    let Some(rest) = line.strip_prefix(b"{") else { return b"" };
    let Some(name) = rest[leading_blanks(rest)..].strip_prefix(b"\"") else { return b"" };
    name.iter().take(8).position(|byte| *byte == b'"').map_or(b"", |end| &name[..end])
}

impl JsonLines {
    /// Creates a decoder of lines or of values. The text of a log whose format was detected, not stated, may hold messages.
    pub(super) fn decoder(has_values: bool, is_stated: bool) -> Box<dyn Decoder> {
        let lines = Self {
            has_values,
            is_stated,
            seen: LineEvidence::Nothing,
            has_meta: false,
            key: None,
            trials: None,
            closed: 0,
        };
        LineSplitter::boxed(lines)
    }

    /// Reads a message that may begin at this place of the first line, and continue on the lines below. Messages before
    /// it on its line come first.
    fn spread<'a>(&mut self, at: usize, input: &'a [u8], end: bool, more: &mut Extras) -> Option<Step<'a>> {
        let start = at + leading_blanks(&input[at..]);
        let text = &input[start..];
        let is_object = match text.first() {
            None => return (!end).then_some(Step::NeedMore),
            Some(first) if b"{[".contains(first) => *first == b'{',
            Some(_) => return None,
        };
        let length = match value(text) {
            Extent::Whole(length) => length,
            Extent::Incomplete if !end => return Some(Step::NeedMore),
            Extent::Incomplete if is_object => trim_end(text).len(),
            Extent::Incomplete => return self.close(text),
            Extent::Broken(error) => return self.close(&text[..error]),
        };
        let (below, whole) = (&input[at..start + length], &input[..start + length]);
        memchr(b'\n', below)?;
        let is_plain = || is_object && Certainty::of(&text[..length]) != Certainty::No;
        let mut found = match at == 0 && self.seen == LineEvidence::Messages && is_plain() {
            true => vec![(0, Record::new(whole).into())],
            false => messages_over_lines(whole, start, self.key),
        };
        if found.is_empty() {
            return self.close(&text[..length]);
        }
        // A line of its own is text, even if it states facts about the message below it.
        let heading = trim_end(&whole[..start]);
        if memchr(b'\n', &whole[at..start]).is_some() && found[0].0 >= start {
            found.insert(0, (0, LogLine::new(heading).into()));
        }
        if at > 0 || self.seen == LineEvidence::Nothing {
            self.seen = LineEvidence::Inside;
        }
        let first = more.first_of(found)?;
        Some(more.give(first, start + length))
    }

    /// Excludes these lines from further searches for a value over several lines.
    fn close<'a>(&mut self, lines: &[u8]) -> Option<Step<'a>> {
        self.closed = self.closed.max(memchr_iter(b'\n', lines).count()).max(1);
        None
    }

    /// Reads a line whose first bytes do not show that it is a message.
    fn look<'a>(&mut self, line: &'a [u8], more: &mut Extras) -> FoundEntry<'a> {
        let record = || (0, Record::new(line).into());
        let text = || LogLine::new(line);
        let object = RawObject::parse(line);
        let Some(object) = object else {
            let is_array = line.strip_prefix(b"[").is_some_and(|rest| rest.get(leading_blanks(rest)) == Some(&b'{'));
            let is_inside = self.seen == LineEvidence::Inside;
            // `-- a.json --` before each file of a txtar archive.
            let is_file_name = line.starts_with(b"-- ") && line.ends_with(b" --") && memchr(b'{', line).is_none();
            let otherwise = || if is_inside || is_file_name { (0, text().into()) } else { record() };
            return match self.is_stated {
                _ if is_array && (!is_inside || Certainty::of(line) == Certainty::Sure) => record(),
                true => otherwise(),
                false => self.first(line, None, more).unwrap_or_else(otherwise),
            };
        };
        let claims = ["method", "result", "error"].iter().any(|name| object.has(name));
        if object.has("jsonrpc")
            || claims && object.is_whole() && has_members_of_messages(&object) && self.takes(&object)
        {
            if self.seen == LineEvidence::Nothing {
                (self.seen, self.has_meta) = (LineEvidence::Messages, object.has("_meta"));
            }
            let meta = object.object("_meta").filter(|_| self.has_meta);
            let facts = meta.map_or_else(Surroundings::default, |meta| Surroundings::default().within(&meta));
            return (0, facts.of(Record::new(line)).into());
        }
        if let Some(first) = self.first(line, Some(&object), more) {
            return first;
        }
        match self.seen == LineEvidence::Inside && object.is_whole() {
            true => {
                let around = Surroundings { key: self.key, ..Surroundings::default() };
                (0, LogLine { session: around.within(&object).session_key(), ..text() }.into())
            }
            false => record(),
        }
    }

    /// True if an object without `jsonrpc` counts as a message by the names of its members.
    fn takes(&self, object: &RawObject<'_>) -> bool {
        self.seen != LineEvidence::Inside || Certainty::of_object(object) != Certainty::No
    }

    /// Returns the first message inside a line.
    fn first<'a>(
        &mut self,
        line: &'a [u8],
        object: Option<&RawObject<'a>>,
        more: &mut Extras,
    ) -> Option<FoundEntry<'a>> {
        let first = more.first_of(messages(line, object, self.key))?;
        if self.seen != LineEvidence::Inside {
            self.trials = KeyTrials::of(line).map(Box::new);
        }
        self.seen = LineEvidence::Inside;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::super::capped::CappedDecoder;
    use super::super::decoder::tests::{entries, texts};
    use super::super::{Direction, Entry};
    use super::*;

    fn lines(limit: usize, input: &str) -> (Vec<usize>, Vec<String>) {
        let found = entries(|| CappedDecoder::boxed(JsonLines::decoder(false, true), limit), input.as_bytes());
        (found.iter().map(|(start, _)| *start).collect(), texts(&found))
    }

    fn both(starts: &[usize], records: &[&str]) -> (Vec<usize>, Vec<String>) {
        (starts.to_vec(), records.iter().map(|&text| text.to_owned()).collect())
    }

    #[test]
    fn one_record_a_line_blanks_left_out() {
        let input = "{\"a\":1}\r\n\n \t\r\n  [2] \n\rno json\r\n{\"cut\":";
        assert_eq!(lines(100, input), both(&[0, 16, 22, 31], &["{\"a\":1}", "[2]", "no json", "{\"cut\":"]));
        assert_eq!(lines(100, ""), both(&[], &[]));
        assert_eq!(lines(100, "\n \n\r\n"), both(&[], &[]));
        assert_eq!(lines(100, "1\n2\r"), both(&[0, 2], &["1", "2"]));
    }

    #[test]
    fn members_of_recorders_give_time_and_direction() {
        let meta =
            r#"{"jsonrpc":"2.0","id":1,"_meta":{"ts":"2026-01-05T10:00:00Z","direction":"outgoing","server":"x"}}"#;
        let log = format!(
            "{meta}\n{}\n{{\"id\":1,\"result\":{{\"_meta\":{{\"ts\":1767607200}}}}}}",
            meta.replace("outgoing", "incoming")
        );
        let found = entries(|| JsonLines::decoder(false, true), log.as_bytes());
        let facts = |entry: &Entry<'_>| match entry {
            Entry::Record(record) => (record.time.is_some(), record.direction, record.bytes.len()),
            Entry::LogLine(line) => panic!("{line:?}"),
        };
        let (out, back) = (Some(Direction::Out), Some(Direction::In));
        let found: Vec<_> = found.iter().map(|(_, entry)| facts(entry)).collect();
        assert_eq!(found, [(true, out, 98), (true, back, 98), (false, None, 45)]);
    }

    #[test]
    fn blanks_are_those_of_json_only() {
        assert_eq!(lines(100, "\x0c{}\n\0\n\u{a0}\n"), both(&[0, 4, 6], &["\x0c{}", "\0", "\u{a0}"]));
    }

    #[test]
    fn lines_over_the_limit_are_passed_over() {
        let input = "123456\n1234567\n 123456\r\n1234567\r\n12345   \n123456789 \t\r\n\n1";
        let starts = [0, 7, 16, 24, 33, 42, 56];
        assert_eq!(lines(6, input), both(&starts, &["123456", "<7>", "123456", "<7>", "12345", "<9>", "1"]));
        assert_eq!(lines(6, "1234567"), both(&[0], &["<7>"]));
        assert_eq!(lines(6, "123456 \r"), both(&[0], &["123456"]));
        assert_eq!(lines(6, "1          2 "), both(&[0], &["<12>"]));
        assert_eq!(lines(0, "a\nbc"), both(&[0, 2], &["<1>", "<2>"]));
        assert_eq!(lines(usize::MAX, "a\nbc"), both(&[0, 2], &["a", "bc"]));
    }
}
