//! Compares the results of reading the beginning of a log.

use super::super::spelling::has_shape;
use super::super::{Decoder, Entry, Step, Time, names_jsonrpc};

/// The result of reading the beginning of a log.
#[derive(Default)]
pub struct Reading {
    messages: usize,
    copies: usize,
    /// Records that are not messages.
    others: usize,
    /// These records, and lines that mention messages.
    unread: usize,
    times: usize,
    senders: usize,
    latencies: usize,
}

impl Reading {
    pub fn of(mut decoder: Box<dyn Decoder>, mut text: &[u8]) -> Self {
        let mut reading = Self::default();
        loop {
            match decoder.step(text, true) {
                Step::NeedMore => return reading,
                Step::Entry { consumed, entry, .. } => {
                    match entry {
                        Entry::Record(record) if has_shape(&record.bytes) || record.is_exchange() => {
                            reading.messages += 1;
                            reading.times += match record.time {
                                Some(Time::DateTime(_)) => 2,
                                Some(Time::Clock(_) | Time::Elapsed(_)) => 1,
                                None => 0,
                            };
                            let has_side = record.sender.is_some();
                            reading.senders +=
                                2 * usize::from(has_side) + usize::from(!has_side && record.direction.is_some());
                            reading.latencies += usize::from(record.latency.is_some());
                        }
                        Entry::Record(_) => {
                            reading.others += 1;
                            reading.unread += 1;
                        }
                        Entry::LogLine(line) => {
                            let is_copy = line.is_copy;
                            reading.copies += usize::from(is_copy);
                            reading.unread += usize::from(!is_copy && names_jsonrpc(&line.bytes));
                        }
                    }
                    text = &text[consumed..];
                }
                step => {
                    let consumed = step.consumed();
                    if consumed == 0 {
                        return reading;
                    }
                    text = &text[consumed..];
                }
            }
        }
    }

    /// True if this reading has more messages, senders, times or durations than another one, or leaves less unread.
    pub fn has_more_than(&self, other: &Self) -> bool {
        self.messages > other.messages
            || self.senders > other.senders
            || self.times > other.times
            || self.latencies > other.latencies
            || self.copies > 0
            || self.messages == other.messages && self.unread < other.unread
    }

    /// True if this reading has more messages than another one, or if each record of that one is a message.
    pub fn keeps_records_of(&self, other: &Self) -> bool {
        other.others == 0 || self.messages > other.messages
    }

    /// True if this reading has all that another one has, with as little unread: anything is better than no message.
    pub fn has_all_of(&self, other: &Self) -> bool {
        let part = self.messages.min(other.messages);
        self.messages + self.copies >= other.messages
            && self.times + 2 * self.copies >= other.times
            && self.senders + 2 * self.copies >= other.senders
            && self.latencies >= other.latencies.min(part)
            && (self.unread <= other.unread || other.messages == 0)
    }
}
