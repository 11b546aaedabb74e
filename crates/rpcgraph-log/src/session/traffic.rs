//! The traffic of a session as a whole: whether the log has both sides of it, and how far their clocks differ.

use oxsdatatypes::Decimal;

use super::sides::MessageSide;
use crate::record::{Direction, Sender};

/// The minimum number of requests, or of answers, of a session with one side alone.
const MIN_MESSAGES: u64 = 3;

/// The counts of a session's requests and answers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SessionTraffic {
    requests: u64,
    answers: u64,
    /// Answers that were paired with a request.
    paired: u64,
    /// Senders and directions of its records: client, server, in, out.
    sides: [bool; 4],
    /// Answers with times before their requests: their sender, their number, and the most seconds.
    early: Option<(Option<Sender>, u64, Decimal)>,
    /// True if both sides sent such answers.
    both_are_early: bool,
}

impl SessionTraffic {
    /// Notes the side of a record, which need not be a message.
    pub fn note_side(&mut self, MessageSide { sender, direction, .. }: MessageSide) {
        let is_of = [
            sender == Some(Sender::Client),
            sender == Some(Sender::Server),
            direction == Some(Direction::In),
            direction == Some(Direction::Out),
        ];
        self.sides.iter_mut().zip(is_of).for_each(|(seen, is)| *seen |= is);
    }

    pub fn note_request(&mut self) {
        self.requests += 1;
    }

    /// Counts an answer, which may be `early` by some seconds.
    pub fn note_answer(&mut self, sender: Option<Sender>, is_paired: bool, early: Option<Decimal>) {
        self.answers += 1;
        self.paired += u64::from(is_paired);
        if let Some(seconds) = early {
            let (side, count, most) = self.early.get_or_insert((sender, 0, seconds));
            self.both_are_early |= *side != sender;
            *count += 1;
            *most = (*most).max(seconds);
        }
    }

    /// Returns the seconds by which the clock of the side that answers is behind at least, and the number of answers that
    /// show it: several, of one side.
    pub fn clock_offset(&self) -> Option<(Decimal, u64)> {
        let (_, count, most) = self.early.filter(|(_, count, _)| *count > 1 && !self.both_are_early)?;
        Some((most, count))
    }

    /// True if the log holds the messages of one side alone: no answer is paired with a request.
    pub fn is_one_sided(&self) -> bool {
        let [client, server, into, out] = self.sides;
        let is_alone = self.sides.contains(&true) || self.requests == 0 || self.answers == 0;
        let has_both = client && server || into && out;
        self.paired == 0 && !has_both && is_alone && self.requests.max(self.answers) >= MIN_MESSAGES
    }
}
