//! Finds the time since the beginning of a log beside its messages, as in `[0.123]`, `+12ms` and `"ts":0.5`: numbers that never
//! become smaller from one message to the next.

use super::super::rules::{DurationUnit, duration_unit};
use super::super::surroundings::TIMES;
use super::super::times;
use super::front::Token;
use super::last_token;
use super::scan::Candidate;
use oxsdatatypes::Decimal;
use std::collections::BTreeSet;

/// The minimum number of different times.
const TIMES_AT_LEAST: usize = 3;

/// The minimum behind a plus sign, where many programs write the time since their last line.
const BEHIND_PLUS: usize = 6;

/// The messages at the places of one rule, in the order of the log.
pub(super) struct Elapsed<'c> {
    candidates: Vec<&'c Candidate>,
}

impl<'c> Elapsed<'c> {
    pub fn of(candidates: Vec<&'c Candidate>) -> Self {
        // A number beside answers alone may be the time that they took.
        let asks = candidates.iter().any(|candidate| candidate.calls().iter().any(|(_, method)| method.is_some()));
        // A request and its answer on one line share what the line states.
        let is_apart = candidates.windows(2).all(|pair| pair[0].line != pair[1].line);
        Self { candidates: if asks && is_apart { candidates } else { Vec::new() } }
    }

    /// Returns the place of the time among the tokens before or behind each message.
    pub fn word(&self, texts: &[impl AsRef<[Token]>]) -> Option<usize> {
        let first = texts.first().filter(|_| texts.len() == self.candidates.len())?.as_ref();
        let text = |tokens: &[Token], at: usize| tokens.get(at).map_or("", Token::text).to_owned();
        // The unit of a whole number is unknown.
        let seconds = |text: &str| {
            times::with_units(text).or_else(|| times::number(text.as_bytes()).filter(|_| text.contains('.')))
        };
        let is_duration = |at: &usize| {
            let name = at.checked_sub(2).map_or_else(String::new, |name| text(first, name));
            duration_unit(&name).is_some() && !name.starts_with("elapsed")
        };
        (0..first.len()).filter(|at| !is_duration(at)).find(|&at| {
            let has_plus = at.checked_sub(1).is_some_and(|before| text(first, before).ends_with('+'));
            let least = if has_plus { BEHIND_PLUS } else { TIMES_AT_LEAST };
            self.never_falls(texts.iter().map(|tokens| seconds(&text(tokens.as_ref(), at))).collect(), least)
        })
    }

    /// Returns the pointer to the time in the object around each message, and its unit if the name does not state it.
    pub fn member(&self) -> Option<(&'c str, &'static str)> {
        let members = self.candidates.first()?.members.iter();
        members.map(|(pointer, _)| &**pointer).find_map(|pointer| {
            let name = last_token(pointer);
            let (unit, suffix) = match duration_unit(name) {
                Some(unit) if name.starts_with("elapsed") => (unit, ""),
                Some(_) => return None,
                None if name.ends_with("Ms") || name.ends_with("_ms") => (DurationUnit::Milliseconds, ":ms"),
                None => (DurationUnit::Seconds, ":s"),
            };
            let value = |candidate: &&Candidate| {
                let (_, value) = candidate.members.iter().find(|(other, _)| other == pointer)?;
                unit.seconds(value).filter(|_| !times::is_time(value.as_bytes()))
            };
            let members = || self.candidates.iter().flat_map(|candidate| &candidate.members);
            let is_fraction = || members().any(|(other, value)| other == pointer && value.contains('.'));
            let is_time = suffix.is_empty() || TIMES.contains(&name) && (suffix == ":ms" || is_fraction());
            (is_time && self.never_falls(self.candidates.iter().map(value).collect(), TIMES_AT_LEAST))
                .then_some((pointer, suffix))
        })
    }

    /// True if there is a number beside each message that is not smaller than the one before, except where a program starts
    /// again, and if at least `least` of the numbers differ.
    fn never_falls(&self, times: Option<Vec<Decimal>>, least: usize) -> bool {
        let starts =
            |at: usize| self.candidates[at].calls().iter().any(|(_, method)| method.as_deref() == Some("initialize"));
        times.is_some_and(|times| {
            let different: BTreeSet<_> = times.iter().map(ToString::to_string).collect();
            different.len() >= least && (1..times.len()).all(|at| times[at - 1] <= times[at] || starts(at))
        })
    }
}
