//! What a run did: counts of records, messages, problems and losses.

use std::collections::BTreeMap;
use std::fmt;

use crate::mapping::Losses;
use crate::message::{Kind, Problem, Problems};
use crate::record::Format;

/// Counts of one input, or of several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Formats that the inputs were read as, each once.
    pub formats: Vec<Format>,
    /// Sessions, one at least for each input.
    pub sessions: u64,
    /// Inputs.
    pub inputs: u64,
    /// Records.
    pub records: u64,
    /// Messages, by [`Kind`].
    pub messages: [u64; Kind::ALL.len()],
    /// Batches; their elements are counted as messages or as invalid.
    pub batches: u64,
    /// JSON values that are not messages.
    pub invalid: u64,
    /// Records that are not JSON.
    pub malformed: u64,
    /// Lines of text between messages.
    pub log_lines: u64,
    /// Triples written; none where JSON-LD was.
    pub triples: u64,
    /// What the mapping could not carry.
    pub losses: Losses,
    /// Records that took the reference path, by why they did.
    pub by_reference: BTreeMap<&'static str, u64>,
    problems: [u64; Problem::ALL.len()],
}

impl Summary {
    /// Of an input without records.
    pub fn new(format: Format) -> Self {
        Self { formats: vec![format], sessions: 1, inputs: 1, ..Self::default() }
    }

    /// How often a problem was found.
    pub fn problem(&self, problem: Problem) -> u64 {
        self.problems[problem as usize]
    }

    pub(crate) fn add_problem(&mut self, problem: Problem, count: u64) {
        self.problems[problem as usize] += count;
    }

    pub(crate) fn add_problems(&mut self, problems: Problems) {
        problems.iter().for_each(|problem| self.add_problem(problem, 1));
    }

    /// Adds the counts of another input.
    pub fn merge(&mut self, other: &Self) {
        for format in &other.formats {
            if !self.formats.contains(format) {
                self.formats.push(*format);
            }
        }
        self.sessions += other.sessions;
        self.inputs += other.inputs;
        self.records += other.records;
        self.messages.iter_mut().zip(other.messages).for_each(|(mine, theirs)| *mine += theirs);
        self.batches += other.batches;
        self.invalid += other.invalid;
        self.malformed += other.malformed;
        self.log_lines += other.log_lines;
        self.triples += other.triples;
        self.losses.merge(&other.losses);
        for (reason, count) in &other.by_reference {
            *self.by_reference.entry(reason).or_default() += count;
        }
        self.problems.iter_mut().zip(other.problems).for_each(|(mine, theirs)| *mine += theirs);
    }
}

/// A few lines for people: `24 records (json-lines): 9 requests, …`, then problems, then losses.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let formats: Vec<_> = self.formats.iter().map(|format| format.name()).collect();
        write!(f, "{} ({})", counted(self.records, "record"), formats.join(", "))?;
        if self.sessions > self.inputs {
            write!(f, " in {}", counted(self.sessions, "session"))?;
        }
        let mut separator = ": ";
        let kinds = ["request", "notification", "response", "error response"];
        let counts = self.messages.into_iter().zip(kinds);
        let others = [
            (self.batches, "batch"),
            (self.invalid, "invalid message"),
            (self.malformed, "malformed record"),
            (self.log_lines, "log line"),
        ];
        for (count, noun) in counts.chain(others).filter(|(count, _)| *count > 0) {
            write!(f, "{separator}{}", counted(count, noun))?;
            separator = ", ";
        }
        if self.triples > 0 {
            write!(f, "; {}", counted(self.triples, "triple"))?;
        }
        let problems = Problem::ALL.iter().filter(|problem| self.problem(**problem) > 0);
        let mut separator = "\nproblems: ";
        for problem in problems {
            write!(f, "{separator}{} {}", self.problem(*problem), problem.name())?;
            separator = ", ";
        }
        let mut separator = "\nnot carried: ";
        for (loss, count) in self.losses.iter() {
            let (one, more, what) = loss.describe();
            write!(f, "{separator}{count} {} {what}", if count == 1 { one } else { more })?;
            separator = ", ";
        }
        Ok(())
    }
}

/// A count and what is counted, in the plural where there is not one.
pub fn counted(count: u64, noun: &str) -> String {
    match (count, noun) {
        (1, noun) => format!("1 {noun}"),
        (count, "batch") => format!("{count} batches"),
        (count, noun) => format!("{count} {noun}s"),
    }
}
