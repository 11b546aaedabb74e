//! Latencies between clocks that differ: the differences of the times, kept until the session's end shows by how much.
//!
//! Of a session, the first answers are kept, and further ones while early answers show that the clocks differ.

use oxsdatatypes::Decimal;

use super::Name;
use crate::record::Sender;

/// The maximum number of answers of a session that are kept while nothing shows that clocks differ.
const FIRST: usize = 32;
/// The minimum number of answers that show that one is far from all others: farther than half of them are from the next.
const SEVERAL: usize = 8;
/// The maximum number of answers that are kept, for all sessions together: 24 MiB.
const MAX_MEASURED: usize = 1 << 19;

/// An answer, and the seconds from its request by their times: below zero if the answer is early.
#[derive(Debug, Clone, Copy)]
struct MeasuredAnswer {
    answer: Name,
    sender: Option<Sender>,
    seconds: Decimal,
}

/// The answers of a session whose latencies may have to be corrected.
#[derive(Debug, Default)]
pub(super) struct MeasuredAnswers {
    answers: Vec<MeasuredAnswer>,
    /// True if clocks do not seem to differ, or if there are too many answers.
    given_up: bool,
}

impl MeasuredAnswers {
    /// True if further answers are kept.
    pub fn is_open(&self) -> bool {
        !self.given_up
    }

    /// Keeps an answer. `seems` is true if the clocks seem to differ; `kept` is the number of answers kept in all sessions.
    pub fn note(&mut self, answer: Name, sender: Option<Sender>, seconds: Decimal, seems: bool, kept: &mut usize) {
        if self.answers.len() >= FIRST && !seems || *kept >= MAX_MEASURED {
            return self.give_up(kept);
        }
        *kept += 1;
        self.answers.push(MeasuredAnswer { answer, sender, seconds });
    }

    /// Forgets the answers.
    pub fn give_up(&mut self, kept: &mut usize) {
        *kept -= self.answers.len();
        *self = Self { given_up: true, answers: Vec::new() };
    }

    /// Returns the seconds by which the clock of the side `behind` is behind: at least `least`, at most the smallest difference
    /// of the other side, and the middle if both are known, as in [NTP](https://www.rfc-editor.org/rfc/rfc5905#section-8).
    /// Returns `None` without answers, if the bounds contradict each other, or if `least` is an outlier: a single answer far from
    /// all others, as after a clock was set.
    pub fn offset(&self, behind: Option<Sender>, least: Decimal) -> Option<Decimal> {
        if self.answers.is_empty() {
            return None;
        }
        let own = self.answers.iter().filter(|answer| answer.sender == behind);
        let mut own: Vec<_> = own.map(|answer| answer.seconds).collect();
        own.sort_unstable();
        if let [first, second, .., _] = own.as_slice()
            && own.len() >= SEVERAL
            && second.checked_sub(*first) > own[own.len() / 2].checked_sub(*second)
        {
            return None;
        }
        let others = self.answers.iter().filter(|answer| answer.sender != behind);
        match others.map(|answer| answer.seconds).min() {
            None => Some(least),
            Some(most) if most < least => None,
            Some(most) => most.checked_add(least).and_then(|sum| sum.checked_div(2)),
        }
    }

    /// Returns the latencies of the answers, in the order of the log, corrected by the offset of the side `behind`.
    pub fn estimates(&self, behind: Option<Sender>, offset: Decimal) -> Vec<(Name, Decimal)> {
        let estimate = |answer: &MeasuredAnswer| {
            let seconds = match answer.sender == behind {
                true => answer.seconds.checked_add(offset),
                false => answer.seconds.checked_sub(offset),
            };
            Some((answer.answer, seconds?))
        };
        self.answers.iter().filter_map(estimate).collect()
    }
}
