//! Verdicts and faults as text, JSON lines and JUnit.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::json;

use super::fault::Fault;
use super::judge::{Judged, Verdict};
use super::rules::{Level, Rule};
use crate::diagnostic::markup::xml;
use crate::diagnostic::{pointed, printable};
use crate::json::without_nulls;
use crate::log::summary::counted;
use crate::query::folded;

/// The maximum number of faults of a rule in text.
const SHOWN: usize = 5;

/// Judged logs, and the names of the logs.
#[derive(Debug)]
pub struct CheckResult<'r> {
    /// The rules with their verdicts.
    pub judged: Vec<Judged<'r>>,
    /// The names of the inputs.
    pub inputs: Vec<String>,
}

/// The look of text.
#[derive(Debug, Clone, Copy)]
pub struct TextStyle {
    /// The maximum width of lines, in columns; `None`: only lines of the log are cut.
    pub width: Option<usize>,
    /// True if levels are coloured.
    pub coloured: bool,
}

/// The width of a line of the log where no width is stated.
const WIDTH: usize = 120;

impl TextStyle {
    /// Writes a text behind spaces; what does not fit follows on further lines, behind two more.
    fn write(self, spaces: usize, text: &str, out: &mut impl Write) -> io::Result<()> {
        let width = self.width.map_or(usize::MAX, |width| width.saturating_sub(spaces + 2).max(20));
        for (nth, line) in folded(text, width, usize::MAX).enumerate() {
            let spaces = if nth > 0 { spaces + 2 } else { spaces };
            writeln!(out, "{:spaces$}{line}", "")?;
        }
        Ok(())
    }

    fn level(self, level: Level) -> String {
        let colour = match level {
            Level::Error => 31,
            Level::Warning => 33,
            Level::Note => 36,
        };
        if self.coloured { format!("\x1b[1;{colour}m{}\x1b[0m", level.name()) } else { level.name().to_owned() }
    }
}

impl<'r> CheckResult<'r> {
    /// Returns the broken rules, with their faults.
    pub fn broken(&self) -> impl Iterator<Item = &Judged<'r>> {
        self.judged.iter().filter(|judged| judged.verdict == Verdict::Failed)
    }

    /// Returns the faults that are shown with their excerpts: at most `most` in all, in text the first of each rule.
    pub fn shown(&mut self, most: Option<usize>) -> impl Iterator<Item = &mut Fault> {
        let in_text = most.is_none();
        let of_rule = if in_text { SHOWN } else { usize::MAX };
        self.judged
            .iter_mut()
            .flat_map(move |judged| {
                judged.faults.iter_mut().filter(move |fault| !in_text || !fault.is_known).take(of_rule)
            })
            .take(most.unwrap_or(usize::MAX))
    }

    /// Returns the verdicts in one line: `3 rules broken, 41 passed, 9 undecidable, 12 unexercised`, after `broken` the
    /// number of rules whose faults are all known, if there are any.
    pub fn summary(&self) -> String {
        let count = |is: fn(&Verdict) -> bool| self.judged.iter().filter(|judged| is(&judged.verdict)).count();
        let undecidable = count(|verdict| matches!(verdict, Verdict::Undecidable(_)));
        let unexercised = count(|verdict| matches!(verdict, Verdict::Unexercised(_)));
        let broken = counted(self.broken().count() as u64, "rule");
        let passed = count(|verdict| *verdict == Verdict::Passed);
        let known = match count(|verdict| *verdict == Verdict::Known) {
            0 => String::new(),
            known => format!(", {known} known"),
        };
        format!("{broken} broken{known}, {passed} passed, {undecidable} undecidable, {unexercised} unexercised")
    }

    pub(super) fn input(&self, fault: &Fault) -> Option<&str> {
        self.inputs.get(fault.input?).map(String::as_str)
    }

    /// Returns the place of a fault and its text: `session.ndjson:7: No open request has this id.`
    fn line(&self, fault: &Fault) -> String {
        let mut line = self.input(fault).unwrap_or("all inputs").to_owned();
        match (fault.place, &fault.message) {
            (Some((number, _)), _) => _ = write!(line, ":{number}"),
            (None, Some(message)) => _ = write!(line, ":{message}"),
            (None, None) => {}
        }
        format!("{line}: {}", printable(&fault.text))
    }

    /// Writes the broken rules, each with its first faults, and the summary.
    ///
    /// # Errors
    ///
    /// The output is not writable.
    pub fn write_text(&self, style: TextStyle, mut out: impl Write) -> io::Result<()> {
        for judged in self.broken() {
            let (rule, faults) = (judged.rule, judged.new_faults().collect::<Vec<_>>());
            let (level, title) = (rule.level.name(), printable(&rule.title));
            let mut heading = Vec::new();
            style.write(0, &format!("{level}: {title} [{}]", printable(&rule.id)), &mut heading)?;
            out.write_all(style.level(rule.level).as_bytes())?;
            out.write_all(heading.get(level.len()..).unwrap_or_default())?;
            let clauses: BTreeSet<_> = faults.iter().take(SHOWN).filter_map(|fault| fault.clause.as_deref()).collect();
            clauses.iter().try_for_each(|clause| writeln!(out, "  {}", printable(clause)))?;
            rule.remedy.iter().try_for_each(|remedy| style.write(2, &printable(remedy), &mut out))?;
            for fault in faults.iter().take(SHOWN) {
                style.write(2, &self.line(fault), &mut out)?;
                if let (Some(excerpt), Some((number, _))) = (&fault.excerpt, fault.place) {
                    let at = excerpt.column - excerpt.first;
                    let length = if excerpt.is_detail { excerpt.end - excerpt.column } else { 1 };
                    let width = style.width.unwrap_or(WIDTH).saturating_sub(12).max(20);
                    for line in pointed(number, &excerpt.text, at, length, width).lines() {
                        writeln!(out, "    {line}")?;
                    }
                }
            }
            if faults.len() > SHOWN {
                writeln!(out, "  … and {} more", faults.len() - SHOWN)?;
            }
            writeln!(out)?;
        }
        writeln!(out, "{}", self.summary())
    }

    /// Writes a JSON object a line for each fault, `failed` or `known`, and for each rule that is `undecidable` or
    /// `unexercised`.
    ///
    /// # Errors
    ///
    /// The output is not writable.
    pub fn write_json(&self, mut out: impl Write) -> io::Result<()> {
        let none = Fault::default();
        for Judged { rule, verdict, faults } in &self.judged {
            let mut write = |verdict: &str, fault: &Fault, text: &str| {
                let line = json!({
                    "rule": rule.id, "level": rule.level.name(), "verdict": verdict, "input": self.input(fault),
                    "line": fault.place.map(|(line, _)| line), "message": fault.message, "related": fault.related,
                    "side": fault.side, "text": text, "clause": fault.clause.as_deref().or(rule.clause()),
                });
                writeln!(out, "{}", without_nulls(line))
            };
            match verdict {
                Verdict::Unexercised(why) => write("unexercised", &none, why)?,
                Verdict::Undecidable(why) => write("undecidable", &none, why)?,
                _ => faults.iter().try_for_each(|fault| write(fault.verdict(), fault, &fault.text))?,
            }
        }
        Ok(())
    }

    /// Writes each new fault as a workflow command of GitHub, which annotates its line, and the summary as a notice.
    ///
    /// # Errors
    ///
    /// The output is not writable.
    pub fn write_github(&self, mut out: impl Write) -> io::Result<()> {
        // As GitHub's own toolkit escapes them.
        let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
        let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
        for judged in self.broken() {
            let rule = judged.rule;
            let command = if rule.level == Level::Note { "notice" } else { rule.level.name() };
            let title = property(&format!("{} [{}]", rule.title, rule.id));
            for fault in judged.new_faults() {
                let file = self.input(fault).map(|input| format!("file={},", property(input)));
                let line = fault.place.map(|(line, _)| format!("line={line},"));
                let place = [file, line].into_iter().flatten().collect::<String>();
                let text = fault.text.trim_end_matches('.');
                let remedy = rule.remedy.iter().map(|remedy| format!(". {remedy}")).collect::<String>();
                let text = if remedy.is_empty() { fault.text.clone() } else { format!("{text}{remedy}") };
                writeln!(out, "::{command} {place}title={title}::{}", data(&text))?;
            }
        }
        writeln!(out, "::notice title=rpcgraph check::{}", data(&self.summary()))
    }

    /// Writes a JUnit test case for each rule. A broken rule of the level `fail_on` or a graver one is a failure; another
    /// one passes, and its findings are the output of the test. A rule that is neither broken nor passed is skipped, with
    /// its verdict.
    ///
    /// # Errors
    ///
    /// The output is not writable.
    pub fn write_junit(&self, fail_on: Option<Level>, mut out: impl Write) -> io::Result<()> {
        let tests = self.judged.len();
        let failures = self.judged.iter().filter(|judged| judged.fails(fail_on)).count();
        let ran = |judged: &&Judged<'_>| matches!(judged.verdict, Verdict::Passed | Verdict::Failed);
        let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\"");
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"rpcgraph check\" {counts}>")?;
        let skipped = tests - self.judged.iter().filter(ran).count();
        writeln!(out, "  <testsuite name=\"rpcgraph check\" {counts} skipped=\"{skipped}\">")?;
        for judged in &self.judged {
            let rule = judged.rule;
            let class = rule.id.split('/').next().unwrap_or_default();
            write!(out, "    <testcase name=\"{}\" classname=\"rpcgraph.{}\"", xml(&rule.id), xml(class))?;
            let skipped = match &judged.verdict {
                Verdict::Passed => {
                    writeln!(out, "/>")?;
                    continue;
                }
                Verdict::Failed => {
                    let (title, level) = (xml(&rule.title), rule.level.name());
                    let lines: Vec<_> = judged.new_faults().map(|fault| xml(&self.line(fault))).collect();
                    let lines = lines.join("\n");
                    let told = match judged.fails(fail_on) {
                        true => format!("<failure type=\"{level}\" message=\"{title}\">{lines}</failure>"),
                        false => format!("<system-out>{level}: {title}\n{lines}</system-out>"),
                    };
                    writeln!(out, ">\n      {told}\n    </testcase>")?;
                    continue;
                }
                Verdict::Known => format!("known: {}", counted(judged.faults.len() as u64, "finding")),
                Verdict::Unexercised(why) => format!("unexercised: {why}"),
                Verdict::Undecidable(why) => format!("undecidable: {why}"),
            };
            writeln!(out, ">\n      <skipped message=\"{}\"/>\n    </testcase>", xml(&skipped))?;
        }
        writeln!(out, "  </testsuite>\n</testsuites>")
    }
}

impl Rule {
    /// Describes the rule: what it asks for and why, with a session that breaks it and one that keeps it.
    pub fn describe(&self) -> String {
        let mut text = format!("{} ({})\n{}\n", self.id, self.level.name(), self.title);
        let [since, until] = &self.revisions;
        let facts = [("protocol", &self.protocol), ("side", &self.side), ("since", since), ("until", until)];
        let facts = facts.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let see = self.clauses.iter().zip(std::iter::once("clause").chain(std::iter::repeat("see")));
        for (name, value) in see.map(|(iri, name)| (name, iri)).chain(facts) {
            let _ = writeln!(text, "{name}: {value}");
        }
        let rationale = self.rationale.iter().chain(&self.remedy).map(|why| format!("\n{why}\n"));
        let samples = [("breaks it", self.breaks.first()), ("keeps it", self.keeps.first())];
        let samples = samples.into_iter().filter_map(|(title, sample)| Some((title, sample?.trim())));
        text.extend(rationale.chain(samples.map(|(title, sample)| format!("\nThis {title}:\n{sample}\n"))));
        text
    }
}
