//! Known faults and definitions of tools, in a file of JSON lines.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::drift::{KnownTools, definitions};
use super::fault::Fault;
use super::judge::{Judged, Verdict};
use super::rules::{RuleError, Rules};
use crate::query::{Cancel, Dataset, QueryError};

/// What the known faults of an entry have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct KnownFault {
    rule: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    /// The text, with `#` in place of each word that has a digit.
    text: String,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct BaselineEntry {
    #[serde(flatten)]
    fault: KnownFault,
    count: u64,
}

/// A line of the file about a tool of a server: the SHA-256 of each member of its definition.
#[derive(Serialize, Deserialize)]
struct KnownDefinition {
    server: String,
    tool: String,
    definition: BTreeMap<String, String>,
}

/// Known faults, how many there are of each, and known definitions of tools.
#[derive(Debug, Default)]
pub struct Baseline {
    faults: BTreeMap<KnownFault, u64>,
    definitions: KnownTools,
}

/// An entry of the baseline that has fewer faults now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoneFault<'b> {
    /// The name of the rule.
    pub rule: &'b str,
    /// The tool, or else the method.
    pub about: Option<&'b str>,
    /// The text, with `#` in place of each word that has a digit.
    pub text: &'b str,
    /// How many are gone.
    pub count: u64,
}

/// Errors in a file of known faults.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// A line is not a known fault.
    #[error("line {0} is not a finding that --write-baseline wrote")]
    NotAFault(usize),
}

impl KnownFault {
    fn of(rule: &str, fault: &Fault) -> Self {
        let (method, tool) = (fault.method.clone(), fault.tool.clone());
        Self { rule: rule.to_owned(), method, tool, text: normalized(&fault.text) }
    }
}

/// Replaces each word that has a digit: an id, a number or a time differs from log to log.
fn normalized(text: &str) -> String {
    let is_in_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut rest = text;
    let mut normalized = String::with_capacity(text.len());
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|c| is_in_word(c) != is_in_word(first)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        match is_in_word(first) && word.contains(char::is_numeric) {
            // The dot of a sentence is not a part of its last word.
            true => normalized.extend(["#", if word.ends_with('.') { "." } else { "" }]),
            false => normalized.push_str(word),
        }
        rest = behind;
    }
    normalized
}

impl Baseline {
    /// Collects all faults and definitions.
    ///
    /// # Errors
    ///
    /// A query fails, or `cancel` ends it.
    pub fn of(judged: &[Judged<'_>], dataset: &Dataset, cancel: &Cancel) -> Result<Self, QueryError> {
        let mut baseline = Self { definitions: definitions(dataset, cancel)?, ..Self::default() };
        for judged in judged {
            for fault in &judged.faults {
                *baseline.faults.entry(KnownFault::of(&judged.rule.id, fault)).or_default() += 1;
            }
        }
        Ok(baseline)
    }

    /// Replaces the definitions of the servers in a loaded log.
    ///
    /// # Errors
    ///
    /// A query fails, or `cancel` ends it.
    pub fn accept(&mut self, dataset: &Dataset, cancel: &Cancel) -> Result<(), QueryError> {
        let now = definitions(dataset, cancel)?;
        self.definitions.retain(|(server, _), _| now.keys().all(|(other, _)| other != server));
        self.definitions.extend(now);
        Ok(())
    }

    /// Adds the rule that the definitions are known.
    ///
    /// # Errors
    ///
    /// A rule has its name.
    pub fn add_to(&self, rules: &mut Rules) -> Result<(), RuleError> {
        rules.add_definitions(&self.definitions)
    }

    /// True if it has no definitions.
    pub fn lacks_definitions(&self) -> bool {
        self.definitions.is_empty()
    }

    /// Returns the servers of a loaded log whose definitions are not known, and the known servers that are not in it: one may
    /// be the other under a new name.
    ///
    /// # Errors
    ///
    /// A query fails, or `cancel` ends it.
    pub fn renamed(&self, dataset: &Dataset, cancel: &Cancel) -> Result<[BTreeSet<String>; 2], QueryError> {
        let names = |tools: &KnownTools| tools.keys().map(|(server, _)| server.clone()).collect::<BTreeSet<_>>();
        let (now, known) = (names(&definitions(dataset, cancel)?), names(&self.definitions));
        Ok([&now - &known, &known - &now])
    }

    /// Parses the lines of a file. Equal entries, as of several files in one, add up.
    ///
    /// # Errors
    ///
    /// A line is not a known fault.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let mut baseline = Self::default();
        for (index, line) in text.lines().enumerate() {
            if let Ok(KnownDefinition { server, tool, definition }) = serde_json::from_str(line) {
                baseline.definitions.insert((server, tool), definition);
                continue;
            }
            let entry = serde_json::from_str::<BaselineEntry>(line).map_err(|_| BaselineError::NotAFault(index + 1))?;
            *baseline.faults.entry(entry.fault).or_default() += entry.count;
        }
        Ok(baseline)
    }

    /// Returns the lines of a file.
    ///
    /// # Errors
    ///
    /// Never: the entries are texts and numbers.
    pub fn to_text(&self) -> serde_json::Result<String> {
        let line = |(fault, count): (&KnownFault, &u64)| {
            Ok(serde_json::to_string(&BaselineEntry { fault: fault.clone(), count: *count })? + "\n")
        };
        let definition = |((server, tool), definition): (&(String, String), &BTreeMap<String, String>)| {
            let (server, tool, definition) = (server.clone(), tool.clone(), definition.clone());
            Ok(serde_json::to_string(&KnownDefinition { server, tool, definition })? + "\n")
        };
        self.faults.iter().map(line).chain(self.definitions.iter().map(definition)).collect()
    }

    /// Marks known faults: of each entry, as many as it counts, in the order of the logs. Returns the number of known
    /// faults, and the entries of these rules that have fewer faults now.
    pub fn mark(&self, judged: &mut [Judged<'_>]) -> (u64, Vec<GoneFault<'_>>) {
        let (mut left, mut known) = (self.faults.clone(), 0);
        for judged in judged.iter_mut() {
            for fault in &mut judged.faults {
                if let Some(count) = left.get_mut(&KnownFault::of(&judged.rule.id, fault)).filter(|count| **count > 0) {
                    *count -= 1;
                    known += 1;
                    fault.is_known = true;
                }
            }
            if judged.verdict == Verdict::Failed && judged.new_faults().next().is_none() {
                judged.verdict = Verdict::Known;
            }
        }
        let is_judged = |rule: &str| judged.iter().any(|judged| judged.rule.id == rule);
        let gone =
            self.faults.keys().zip(left.into_values()).filter(|(fault, gone)| *gone > 0 && is_judged(&fault.rule));
        let gone = gone.map(|(fault, count)| GoneFault {
            rule: &fault.rule,
            about: fault.tool.as_deref().or(fault.method.as_deref()),
            text: &fault.text,
            count,
        });
        (known, gone.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_digits_are_alike() {
        for (text, expected) in [
            ("The id 17 was answered before.", "The id # was answered before."),
            ("id \"a1-b2\" and 2.5.", "id \"#\" and #."),
            ("at /n: \"1\" is not of type \"integer\".", "at /n: \"#\" is not of type \"integer\"."),
            ("Nothing answers tools/call.", "Nothing answers tools/call."),
        ] {
            assert_eq!(normalized(text), expected);
        }
    }

    #[test]
    fn equal_entries_add_up() {
        let line = r#"{"rule":"a/b","method":"m","text":"t","count":2}"#;
        let baseline = Baseline::parse(&format!("{line}\n{line}\n")).unwrap();
        assert_eq!(baseline.to_text().unwrap(), format!("{}\n", line.replace('2', "4")));
        assert!(matches!(Baseline::parse("{}"), Err(BaselineError::NotAFault(1))));
    }
}
