//! The traffic of a session as a whole: whether the log has both sides of it, and how far their clocks differ.

use oxsdatatypes::Decimal;

use super::pairing::side;
use super::sides::MessageSide;
use crate::record::{Direction, Sender};

/// The minimum number of requests, or of answers, of a session with one side alone.
const MIN_MESSAGES: u64 = 3;
/// The minimum number of answers of a side, most of which have no request in the log, that show that requests are missing.
const MIN_ANSWERS: u64 = 8;
/// The clocks differ if one answer in this many is early, or more.
const EARLY_SHARE: u64 = 3;
/// They also differ if one answer in this many is early, and answers are early again and again.
const AGAIN_SHARE: u64 = 8;
/// The minimum number of early answers whose requests were sent after the early answer before. Fewer show that a clock was
/// set, which makes the answers to the open requests early.
const AGAIN: u64 = 8;

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
    early: Option<EarlyAnswers>,
}

/// An answer with a time before its request.
#[derive(Debug, Clone, Copy)]
pub(super) struct EarlyAnswer {
    pub seconds: Decimal,
    /// The records of the request and of the answer.
    pub asked: u64,
    pub answered: u64,
}

/// The answers with times before their requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct EarlyAnswers {
    pub sender: Option<Sender>,
    pub count: u64,
    /// The most seconds by which one is early.
    pub most: Decimal,
    /// True if both sides sent some.
    are_of_both: bool,
    /// The number of early answers whose requests were sent after the early answer before, see [`AGAIN`].
    again: u64,
    /// The record of the last of these.
    last_again: u64,
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
    pub fn note_answer(&mut self, sender: Option<Sender>, request: AnswerRequest, early: Option<EarlyAnswer>) {
        self.answers += 1;
        match request {
            AnswerRequest::Found => self.paired[side(sender)] += 1,
            AnswerRequest::Missing => self.orphans[side(sender)] += 1,
            AnswerRequest::AnsweredBefore => {}
        }
        if let Some(EarlyAnswer { seconds, asked, answered }) = early {
            let none = EarlyAnswers { sender, count: 0, most: seconds, are_of_both: false, again: 0, last_again: 0 };
            let all = self.early.get_or_insert(none);
            all.are_of_both |= all.sender != sender;
            all.count += 1;
            all.most = all.most.max(seconds);
            if asked > all.last_again {
                (all.again, all.last_again) = (all.again + 1, answered);
            }
        }
    }

    /// Returns the seconds by which the clock of the side that answers is behind at least, and the number of answers that
    /// show it.
    pub fn clock_offset(&self) -> Option<(Decimal, u64)> {
        self.early_answers().map(|early| (early.most, early.count))
    }

    /// True if it may have a clock offset at its end.
    pub fn may_have_offset(&self) -> bool {
        self.early
            .is_some_and(|early| !early.are_of_both && early.count * AGAIN_SHARE >= self.paired[side(early.sender)])
    }

    /// Returns the early answers if they show that clocks differ: several of one side, and [enough](EARLY_SHARE) of its
    /// answers.
    pub fn early_answers(&self) -> Option<EarlyAnswers> {
        let share = |early: &EarlyAnswers| if early.again >= AGAIN { AGAIN_SHARE } else { EARLY_SHARE };
        let enough = |early: &EarlyAnswers| early.count * share(early) >= self.paired[side(early.sender)];
        self.early.filter(|early| early.count > 1 && !early.are_of_both && enough(early))
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
