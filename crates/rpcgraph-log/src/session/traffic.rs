//! The traffic of a session as a whole: whether the log has both sides of it, and how far their clocks differ.

use oxsdatatypes::Decimal;

use super::pairing::side;
use super::sides::MessageSide;
use crate::record::{Direction, Sender};

/// The minimum number of requests, or of answers, of a session with one side alone.
const MIN_MESSAGES: u64 = 3;
/// The minimum number of answers of a side, most of which have no request in the log, that show that requests are missing.
const MIN_ANSWERS: u64 = 8;
/// The clocks differ if one answer in this many is early, or more. Fewer early answers show that a clock was set.
const EARLY_SHARE: u64 = 3;

/// The request of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerRequest {
    Found,
    /// Another answer was paired with it.
    AnsweredBefore,
    Missing,
}

/// The counts of a session's requests and answers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SessionTraffic {
    requests: u64,
    answers: u64,
    /// Answers that were paired with a request, by their senders: client, server, unknown.
    paired: [u64; 3],
    /// Answers whose requests are not in the log, by their senders.
    orphans: [u64; 3],
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
    pub fn note_answer(&mut self, sender: Option<Sender>, request: AnswerRequest, early: Option<Decimal>) {
        self.answers += 1;
        match request {
            AnswerRequest::Found => self.paired[side(sender)] += 1,
            AnswerRequest::Missing => self.orphans[side(sender)] += 1,
            AnswerRequest::AnsweredBefore => {}
        }
        if let Some(seconds) = early {
            let (side, count, most) = self.early.get_or_insert((sender, 0, seconds));
            self.both_are_early |= *side != sender;
            *count += 1;
            *most = (*most).max(seconds);
        }
    }

    /// Returns the seconds by which the clock of the side that answers is behind at least, and the number of answers that
    /// show it: several, of one side, and a third of its answers.
    pub fn clock_offset(&self) -> Option<(Decimal, u64)> {
        let (sender, count, most) = self.early.filter(|(_, count, _)| *count > 1 && !self.both_are_early)?;
        (count * EARLY_SHARE >= self.paired[side(sender)]).then_some((most, count))
    }

    /// True if the log holds answers of a side whose requests are mostly missing.
    pub fn lacks_requests(&self) -> bool {
        let lacks = |(orphans, paired): (&u64, &u64)| *orphans > *paired && orphans + paired >= MIN_ANSWERS;
        self.paired() > 0 && self.orphans.iter().zip(&self.paired).any(lacks)
    }

    fn paired(&self) -> u64 {
        self.paired.iter().sum()
    }

    /// True if the log holds the messages of one side alone: no answer is paired with a request.
    pub fn is_one_sided(&self) -> bool {
        let [client, server, into, out] = self.sides;
        let is_alone = self.sides.contains(&true) || self.requests == 0 || self.answers == 0;
        let has_both = client && server || into && out;
        self.paired() == 0 && !has_both && is_alone && self.requests.max(self.answers) >= MIN_MESSAGES
    }
}
