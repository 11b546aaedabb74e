//! Known faults, in a file of JSON lines.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fault::Fault;
use super::judge::Judged;

/// Known faults: the rule and the text of each, by fingerprint.
#[derive(Debug, Default)]
pub struct Baseline(BTreeMap<String, (String, String)>);

/// A line of a baseline is not a known fault.
#[derive(Debug, thiserror::Error)]
#[error("line {0} is not a finding that --write-baseline wrote")]
pub struct BaselineError(usize);

impl Baseline {
    /// Collects all faults.
    pub fn of(judged: &[Judged<'_>]) -> Self {
        let of_rule = |judged: &Judged<'_>| {
            let entry = |fault: &Fault| (fault.fingerprint.clone(), (judged.rule.id.clone(), fault.text.clone()));
            judged.faults.iter().map(entry).collect::<Vec<_>>()
        };
        Self(judged.iter().flat_map(of_rule).collect())
    }

    /// Parses the lines of a file.
    ///
    /// # Errors
    ///
    /// A line is not a known fault.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let entry = |(index, line)| {
            let value: Value = serde_json::from_str(line).map_err(|_| BaselineError(index + 1))?;
            let member = |name: &str| value.get(name)?.as_str().map(str::to_owned);
            let known = (|| Some((member("fingerprint")?, (member("rule")?, member("text")?))))();
            known.ok_or(BaselineError(index + 1))
        };
        text.lines().enumerate().map(entry).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the lines of a file.
    pub fn to_text(&self) -> String {
        let line = |(fingerprint, (rule, text)): (&String, &(String, String))| {
            format!("{}\n", json!({ "rule": rule, "text": text, "fingerprint": fingerprint }))
        };
        let mut lines: Vec<_> = self.0.iter().map(line).collect();
        lines.sort();
        lines.concat()
    }

    /// Removes known faults, and returns their number and the rules and texts of those that are gone.
    pub fn subtract<'b>(&'b self, judged: &mut [Judged<'_>]) -> (u64, Vec<(&'b str, &'b str)>) {
        let now = Self::of(judged);
        let mut known = 0;
        for judged in judged.iter_mut() {
            judged.retain(|fault| {
                let is_known = self.0.contains_key(&fault.fingerprint);
                known += u64::from(is_known);
                !is_known
            });
        }
        let gone = self.0.iter().filter(|(fingerprint, _)| !now.0.contains_key(*fingerprint));
        (known, gone.map(|(_, (rule, text))| (rule.as_str(), text.as_str())).collect())
    }
}
