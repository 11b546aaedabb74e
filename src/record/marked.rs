//! Lines of which some carry a message behind a mark: what the logs of editors and apps have in common.

use super::decoder::{Decoder, Line, Lines, Step};
use super::detect::Window;
use super::{Flags, LogLine, Record, Sender, Time};
use std::borrow::Cow;
use std::ops::Range;

/// How many bytes the mark in front of a message may have. So much is seen of a line that is too long to be kept.
pub(super) const HEAD: usize = 4096;

/// The part of a line where a mark may be.
pub(super) fn head(line: &[u8]) -> &[u8] {
    &line[..line.len().min(HEAD)]
}

/// A message on its line, and what the line says of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Marked<'a> {
    /// Where the message is in the line; not empty.
    pub message: Range<usize>,
    pub time: Option<Time>,
    pub sender: Sender,
    pub session: Option<Cow<'a, str>>,
    pub truncated: bool,
}

impl<'a> Marked<'a> {
    fn mark(self, record: Record<'a>) -> Record<'a> {
        let flags = Flags { truncated: self.truncated, ..record.flags };
        Record { time: self.time, sender: Some(self.sender), session: self.session, flags, ..record }
    }
}

/// Reads the lines of one format, one after the other.
pub(super) trait Marks: Send {
    /// Finds the message on a line, which has no blanks around it; `None`: it is text between messages.
    ///
    /// The mark is in the line's [`head`]: of a line that is too long to be kept, nothing else is given.
    fn read<'a>(&mut self, line: &'a [u8]) -> Option<Marked<'a>>;
}

/// Every line with a mark and a message is a record, every other line is a [`LogLine`].
pub(super) struct MarkedLines<M> {
    limit: usize,
    lines: Lines,
    marks: M,
    /// Where the record begins in the line that is being passed over, and what is known of it; `None`: it is none.
    long: Option<(usize, Record<'static>)>,
}

impl<M: Marks> MarkedLines<M> {
    pub(super) fn new(limit: usize, marks: M) -> Self {
        Self { limit, lines: Lines::new(limit.saturating_add(HEAD)), marks, long: None }
    }
}

impl<M: Marks> Decoder for MarkedLines<M> {
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        match self.lines.step(input, end) {
            Line::NeedMore => Step::NeedMore,
            Line::Skip { consumed } => Step::Skip { consumed },
            Line::Whole { text, consumed } => match self.marks.read(text) {
                Some(found) => {
                    let message = &text[found.message.clone()];
                    let record = match message.len() > self.limit {
                        true => Record::oversized(message.len() as u64),
                        false => Record::new(message),
                    };
                    Step::entry(found.message.start, consumed, found.mark(record))
                }
                None => Step::entry(0, consumed, LogLine::new(text)),
            },
            Line::Long { head: seen, consumed } => {
                let found = self.marks.read(head(seen));
                self.long = found.map(|found| (found.message.start, found.mark(Record::oversized(0)).into_owned()));
                Step::Begin { start: self.long.as_ref().map_or(0, |(start, _)| *start), consumed }
            }
            Line::End { length, consumed } => match self.long.take() {
                Some((start, record)) => {
                    Step::entry(0, consumed, Record { length: length.saturating_sub(start as u64), ..record })
                }
                None => Step::entry(0, consumed, LogLine::oversized(length)),
            },
        }
    }
}

/// The lines before the first JSON value, where a format that marks its messages has to show itself: what is quoted
/// further down, in a message or between messages, decides nothing.
pub(super) fn lines_before_values<'a>(window: &Window<'a>) -> impl Iterator<Item = &'a [u8]> {
    let before = window.first_value().map_or(window.bytes().len(), |value| value.start);
    window.lines().take_while(move |&(at, _)| at < before).map(|(_, line)| line)
}

/// Reads a date and time at the start of a line, such as `2025-06-01 10:00:00.123` or `2025-03-10T17:03:18.764Z`: how
/// long it is, and what it says unless there is no such time.
pub(super) fn timestamp(line: &[u8]) -> Option<(usize, Option<Time>)> {
    let mut length = fits(line, b"0000-00-00 00:00:00")?;
    if line.get(length) == Some(&b'.') {
        length += 1 + digits(&line[length + 1..]);
    }
    length += match line.get(length) {
        Some(b'Z') => 1,
        Some(b'+' | b'-') => fits(&line[length + 1..], b"00:00").map_or(0, |zone| zone + 1),
        _ => 0,
    };
    let text = std::str::from_utf8(&line[..length]).ok()?.replacen(' ', "T", 1);
    Some((length, text.parse().ok().map(Time::DateTime)))
}

/// The shape's length, if `text` begins so: `0` stands for a digit, a blank also for `T`.
fn fits(text: &[u8], shape: &[u8]) -> Option<usize> {
    let fit = |(&byte, &shape): (&u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        b' ' => matches!(byte, b' ' | b'T'),
        _ => byte == shape,
    };
    text.get(..shape.len())?.iter().zip(shape).all(fit).then_some(shape.len())
}

/// How many digits `bytes` begins with.
fn digits(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::super::Entry;
    use super::super::decoder::tests::{entries, texts};
    use super::*;

    #[test]
    fn timestamps() {
        let table = [
            ("2025-06-01 10:00:00.123 [info]", 23, Some("2025-06-01T10:00:00.123")),
            ("2025-06-01T10:00:00Z x", 20, Some("2025-06-01T10:00:00Z")),
            ("2025-06-01T10:00:00.5+02:00", 27, Some("2025-06-01T10:00:00.5+02:00")),
            ("2025-06-01 10:00:00-x", 19, Some("2025-06-01T10:00:00")),
            ("2025-13-01 10:00:00", 19, None),
            ("2025-06-01 10:00:00.", 20, None),
        ];
        for (line, length, time) in table {
            let time = time.and_then(|time| time.parse().ok()).map(Time::DateTime);
            assert_eq!(timestamp(line.as_bytes()), Some((length, time)), "{line}");
        }
        for line in ["", "2025-06-01", "2025-06-01_10:00:00", "x2025-06-01 10:00:00"] {
            assert_eq!(timestamp(line.as_bytes()), None, "{line}");
        }
    }

    /// `NAME>MESSAGE`, of which the client sends all.
    struct Names;

    impl Marks for Names {
        fn read<'a>(&mut self, line: &'a [u8]) -> Option<Marked<'a>> {
            let at = head(line).iter().position(|&byte| byte == b'>')?;
            (at + 1 < line.len()).then(|| Marked {
                message: at + 1..line.len(),
                time: None,
                sender: Sender::Client,
                session: Some(String::from_utf8_lossy(&line[..at])),
                truncated: true,
            })
        }
    }

    #[test]
    fn records_and_lines_between() {
        let name = "n".repeat(HEAD);
        let long = "x".repeat(HEAD + 30);
        let input = format!("a>1\n text \r\n\n  b>{{}}  \r\n>\n{name}>1\na>{long} \n{long}\nb>123456\n>7");
        let found = entries(|| Box::new(MarkedLines::new(5, Names)), input.as_bytes());
        let text = format!("# {name}>1");
        assert_eq!(texts(&found), ["1", "# text", "{}", "# >", &text, "<4126>", "# <4126>", "<6>", "7"]);
        let records = found.iter().filter_map(|(_, entry)| match entry {
            Entry::Record(r) => Some((r.session.as_deref(), r.sender, r.flags.truncated)),
            Entry::LogLine(_) => None,
        });
        let client = Some(Sender::Client);
        let all = ["a", "b", "a", "b", ""].map(|name| (Some(name), client, true));
        assert_eq!(records.collect::<Vec<_>>(), all);
    }
}
