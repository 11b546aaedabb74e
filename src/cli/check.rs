//! `check`: judges logs by rules, and writes what breaks them.

use std::collections::BTreeMap;
use std::env;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::check::{
    Baseline, CheckResult, DRIFT, GoneFault, HEAD, Judged, Level, RESULTS, RuleError, Rules, SETS, TextStyle, Verdict,
    read_excerpts,
};
use crate::diagnostic::printable;
use crate::mapping::Mapping;
use crate::query::results::{ResultsFormat, write_solutions};
use crate::query::{Answer, Cancel, Dataset, Table};
use crate::schema::QuerySchemas;
use crate::sink::{Compression, Output};
use crate::summary::counted;
use anyhow::{Context as _, anyhow, bail};
use clap::{Args, ValueEnum};
use serde_json::json;

use super::ask::advice_on_term;
use super::console::{Outcome, say};
use super::input::{InputSource, shown};
use super::limits::LimitArgs;
use super::pager;
use super::paths::{OutputPath, is_same};
use super::question::base;
use super::read::{GraphArgs, ReadArgs, ShownFindings};
use super::target::TargetArgs;
use super::words::nearest;

/// The options that --list and --rule do not use.
const UNUSED_WITHOUT_LOGS: [&str; 21] = [
    "inputs",
    "recursive",
    "from",
    "envelope",
    "line",
    "session_by",
    "max_record_size",
    "base",
    "jobs",
    "offline",
    "progress",
    "mapping",
    "protocol",
    "contexts",
    "timeout",
    "max_memory",
    "fail_on",
    "baseline",
    "accept",
    "write_baseline",
    "quiet",
];

/// The name of a budget in the current folder.
const BUDGET: &str = "rpcgraph.toml";

/// The maximum size of a file of rules, a budget, a baseline or an OpenRPC document, in bytes.
const LONGEST: u64 = 16 << 20;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/check.txt").trim_end())]
pub struct CheckCommand {
    /// Exit with 1 if there are findings of this level or a graver one: error, warning, note or never
    #[arg(long, value_name = "LEVEL", value_parser = parse_fail_on, default_value = "error", hide_default_value = true)]
    fail_on: FailOn,

    /// Check only rules with this name (glob); repeatable
    #[arg(long, value_name = "GLOB", help_heading = "Rules")]
    only: Vec<String>,

    /// Leave out rules with this name (glob); repeatable
    #[arg(long, value_name = "GLOB", help_heading = "Rules")]
    skip: Vec<String>,

    /// Check only the rules of a set, which stay the same: mcp-2024-11-05 to mcp-2026-07-28
    ///
    /// With --list, the newest set also shows which checks of the official conformance suite its rules judge.
    #[arg(long, value_name = "NAME", help_heading = "Rules", hide_short_help = true)]
    set: Option<String>,

    /// Change the level of rules (glob): error, warning or note
    #[arg(long, value_name = "RULE=LEVEL", value_parser = parse_level, help_heading = "Rules")]
    level: Vec<(String, Level)>,

    /// Add rules of your own: SHACL in Turtle, or a query NAME.rq
    ///
    /// A query selects ?message, and may select ?related and ?text. Comments at its start give `# id:`, `# title:`,
    /// `# level:` and `# clause:`. A SHACL shape has its condition in SPARQL (sh:sparql); others are an error.
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    rules: Vec<PathBuf>,

    /// Check limits: durations, sizes, failures, tools
    ///
    /// The default is rpcgraph.toml in the current folder, if it is there.
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    budget: Option<PathBuf>,

    /// Check methods, params and results by an OpenRPC document
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    openrpc: Option<PathBuf>,

    /// List the rules
    #[arg(long, conflicts_with_all = ["rule"], conflicts_with_all = UNUSED_WITHOUT_LOGS, help_heading = "Rules")]
    list: bool,

    /// Explain a rule, with an example that breaks it and one that keeps it
    #[arg(long, value_name = "RULE", conflicts_with_all = UNUSED_WITHOUT_LOGS, help_heading = "Rules")]
    rule: Option<String>,

    /// Print the verdict of one rule, and each row that its queries find in the logs
    ///
    /// Findings are the rows in sessions that the rule is about.
    #[arg(
        long,
        value_name = "RULE",
        conflicts_with_all = ["rule", "list", "only", "skip", "set", "to", "baseline", "write_baseline"],
        help_heading = "Rules",
        hide_short_help = true
    )]
    explain: Option<String>,

    /// Fail only on what a file of --write-baseline does not have
    ///
    /// That is: on findings that it does not count, and on definitions of tools that differ from those that it has.
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    baseline: Option<PathBuf>,

    /// Write the definitions of tools in these logs to the file of --baseline, so that they no longer differ
    #[arg(long, requires = "baseline", help_heading = "Rules", hide_short_help = true)]
    accept: bool,

    /// Write all findings and tools as known, exit with 0
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    write_baseline: Option<OutputPath>,

    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    read: ReadArgs,

    /// Format: text, json, sarif, junit or github [default: by the extension of --output, or text]
    #[arg(short, long, value_name = "NAME", value_enum, hide_possible_values = true, help_heading = "Output")]
    to: Option<CheckFormat>,

    #[command(flatten)]
    target: TargetArgs,

    /// Print only errors
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    #[default]
    Text,
    Json,
    Sarif,
    Junit,
    Github,
}

/// The least level that fails; `None` if none does.
type FailOn = Option<Level>;

fn parse_fail_on(name: &str) -> Result<FailOn, String> {
    let level = Level::named(name).map(Some).or((name == "never").then_some(None));
    level.ok_or_else(|| "expected error, warning, note or never".to_owned())
}

impl CheckFormat {
    fn from_extension(extension: &str) -> Option<Self> {
        match extension {
            "txt" => Some(Self::Text),
            "json" | "jsonl" | "ndjson" => Some(Self::Json),
            "sarif" => Some(Self::Sarif),
            "xml" => Some(Self::Junit),
            _ => None,
        }
    }
}

fn parse_level(text: &str) -> Result<(String, Level), String> {
    let parsed = text.split_once('=').and_then(|(rule, level)| Some((rule.to_owned(), Level::named(level)?)));
    parsed.ok_or_else(|| "expected RULE=error, RULE=warning or RULE=note".to_owned())
}

impl CheckCommand {
    pub fn run(&self) -> anyhow::Result<Outcome> {
        let mut baseline = self.baseline.as_deref().map(read_baseline).transpose()?;
        let (rules, format) =
            (self.rules(baseline.as_ref())?, self.target.kind(self.to, CheckFormat::from_extension, "--to")?);
        if self.list {
            let is_whole = self.only.is_empty() && self.skip.is_empty();
            let coverage = is_whole && self.set.as_deref() == SETS.last().map(|(name, _)| *name);
            return self.target.print(listed(&rules, format, coverage)?);
        }
        if let Some(name) = &self.rule {
            if format != CheckFormat::Text {
                bail!("--rule explains a rule as text: leave out --to");
            }
            let rule = rules.iter().find(|rule| rule.id == *name).ok_or_else(|| unknown(name, &rules))?;
            return self.target.print(rule.describe());
        }
        if self.read.mapping != Mapping::Session {
            bail!("rules are about sessions: leave out --mapping");
        }
        let cancel = self.limits.cancel()?;
        let mut sources = self.read.input.sources()?;
        if let Some(graph) = sources.iter().find(|source| source.rdf_format().is_some()) {
            bail!(
                "{} is a graph, and rules are about logs: `rpcgraph timeline -t messages` writes its messages",
                graph.name()
            );
        }
        // The lines of findings are read once the findings are known.
        sources.iter_mut().try_for_each(InputSource::keep)?;
        let (mut dataset, all_read) = self.load(&rules, &sources, &cancel)?;
        let inputs: Vec<_> = sources.iter().map(|source| &*source.iri).collect();
        let judged = rules.judge(&mut dataset, &inputs, self.read.input.format.jobs(), &cancel)?;
        if self.explain.is_some() {
            self.write_explained(&judged, &dataset, base(&sources), &cancel)?;
            all_read?;
            let fails = judged.iter().any(|judged| judged.fails(self.fail_on));
            return Ok(if fails { Outcome::Findings } else { Outcome::Done });
        }
        let mut checked = CheckResult { judged, inputs: sources.iter().map(InputSource::name).collect() };
        if let Some(path) = &self.write_baseline {
            write_baseline(path, &Baseline::of(&checked.judged, &dataset, &cancel)?)?;
        }
        if let (true, Some(path), Some(baseline)) = (self.accept, &self.baseline, &mut baseline) {
            baseline.accept(&dataset, &cancel)?;
            write_baseline(path, baseline)?;
        }
        if let Some(baseline) = baseline.as_ref().filter(|baseline| !self.quiet && !baseline.lacks_definitions()) {
            let [unknown, absent] = baseline.renamed(&dataset, &cancel)?.map(|names| Vec::from_iter(names).join(", "));
            if !unknown.is_empty() && !absent.is_empty() {
                let (unknown, absent) = (printable(&unknown), printable(&absent));
                say(&format!(
                    "note: the baseline has tools of {absent}, which is not in the logs, and none of {unknown}: a server with a new \
                     name is another server; --accept adds it"
                ));
            }
        }
        drop(dataset);
        if let Some(baseline) = &baseline {
            let (known, gone) = baseline.mark(&mut checked.judged);
            let gone = gone.iter().map(|GoneFault { rule, about, text, count }| {
                let count = if *count > 1 { format!(" ({count} times)") } else { String::new() };
                let about = about.map(|about| format!("{}: ", printable(about))).unwrap_or_default();
                format!("note: gone: {rule}: {about}{}{count}", printable(text))
            });
            let notes = std::iter::once(format!("note: {}", counted(known, "known finding"))).chain(gone);
            notes.filter(|_| !self.quiet).for_each(|note| say(&note));
        }
        read_places(&mut checked, &sources, format)?;
        self.write(&checked, format)?;
        self.say_undecidable(&checked);
        all_read?;
        let fails = checked.judged.iter().any(|judged| judged.fails(self.fail_on));
        Ok(if fails && self.write_baseline.is_none() { Outcome::Findings } else { Outcome::Done })
    }

    /// Returns the rules that the options choose, with the levels that they set.
    fn rules(&self, baseline: Option<&Baseline>) -> anyhow::Result<Rules> {
        let mut schemas = QuerySchemas::new(env::current_exe().ok());
        if let Some(path) = &self.openrpc {
            let text = read_text(path, "the OpenRPC document")?;
            let document = serde_json::from_str(&text).with_context(|| format!("{} is not JSON", shown(path)))?;
            schemas = schemas
                .with_openrpc(&document)
                .with_context(|| format!("{} is not a valid OpenRPC document", shown(path)))?;
        }
        let mut rules = Rules::built_in(&Arc::new(schemas))?;
        if self.openrpc.is_some() {
            rules.add_openrpc()?;
        }
        let here = Path::new(BUDGET).is_file().then(|| PathBuf::from(BUDGET));
        if let Some(path) = self.budget.as_ref().or(here.as_ref()) {
            let outputs = [self.write_baseline.as_deref(), self.target.file()];
            if outputs.into_iter().flatten().any(|output| is_same(output, path)) {
                bail!("{} is an input and the output: name another file for the output", shown(path));
            }
            rules.add_budget(&shown(path), &read_text(path, "the budget")?)?;
        }
        for path in &self.rules {
            let (name, text) = (shown(path), read_text(path, "the rules")?);
            let is_query = path.extension().is_some_and(|extension| extension == "rq");
            let added = match is_query {
                true => rules.add_query(&path.file_stem().unwrap_or_default().to_string_lossy(), &text),
                false => rules.add_turtle(&name, &text),
            };
            added.map_err(|error| match error {
                RuleError::Term(rule, term) => {
                    anyhow!("{rule}: graphs of logs have no term {term}; {}", advice_on_term(&term))
                }
                RuleError::Head(_, ref entry) => {
                    let near = nearest(entry, HEAD).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
                    anyhow!("{error}{near}")
                }
                error => error.into(),
            })?;
        }
        let none = Baseline::default();
        // Without a baseline, the rule can be explained.
        let known = baseline.filter(|baseline| !self.accept && !baseline.lacks_definitions());
        if let Some(baseline) = known.or(Some(&none).filter(|_| self.rule.is_some())) {
            baseline.add_to(&mut rules)?;
        }
        if let Some(name) = self.set.as_ref().filter(|name| !rules.retain_set(name)) {
            let sets: Vec<_> = SETS.iter().map(|(name, _)| *name).collect();
            bail!("unknown set {name:?}: the sets are {}", sets.join(", "));
        }
        let chosen = self.level.iter().try_for_each(|(glob, level)| rules.set_level(glob, *level));
        let only = self.explain.as_ref().map_or(&*self.only, std::slice::from_ref);
        chosen.and_then(|()| rules.retain(only, &self.skip)).map_err(|error| match error {
            RuleError::Unknown(name) => unknown(&name, &rules),
            error => error.into(),
        })?;
        Ok(rules)
    }

    /// Loads the logs. The inner result is an error if a log was not read; fails if no log was read.
    fn load(
        &self,
        rules: &Rules,
        sources: &[InputSource],
        cancel: &Cancel,
    ) -> anyhow::Result<(Dataset, anyhow::Result<()>)> {
        let graph = GraphArgs { strict: false, provenance: true, log_lines: rules.name_log_lines() };
        let dataset = Dataset::new(&rules.loading(self.accept || self.write_baseline.is_some())?, false)?;
        let mut loading = dataset.load(cancel)?;
        let mut run = self.read.run(&graph, self.quiet)?;
        // Rules report the problems of records.
        run.findings.shown = ShownFindings::None;
        let all_read = run.load(sources, false, cancel, |run, source| run.load_one(source, &mut loading))?;
        loading.commit()?;
        Ok((dataset, all_read.unwrap_or(Ok(()))))
    }

    fn write(&self, checked: &CheckResult<'_>, format: CheckFormat) -> anyhow::Result<()> {
        let coloured = self.target.file().is_none() && pager::is_coloured();
        let mut output = match coloured && format == CheckFormat::Text {
            true => Output::shown(io::stdout(), None),
            false => self.target.open(format == CheckFormat::Junit)?,
        };
        let width = if self.target.file().is_some() { None } else { pager::width() };
        let written = match format {
            CheckFormat::Text => checked.write_text(TextStyle { width, coloured }, &mut output),
            CheckFormat::Json => checked.write_json(&mut output),
            CheckFormat::Sarif => checked.write_sarif(&mut output),
            CheckFormat::Junit => checked.write_junit(self.fail_on, &mut output),
            CheckFormat::Github => checked.write_github(&mut output),
        };
        written.map_err(|error| self.target.unwritable(crate::sink::SinkError::Io(error).into()))?;
        Ok(output.finish()?)
    }

    /// Writes the verdict of each rule and the answers to its queries.
    fn write_explained(
        &self,
        judged: &[Judged<'_>],
        dataset: &Dataset,
        base: Option<String>,
        cancel: &Cancel,
    ) -> anyhow::Result<()> {
        let mut output = self.target.open(false)?;
        let table = Table { base, ..Table::default() };
        for (index, judged) in judged.iter().enumerate() {
            let verdict = match &judged.verdict {
                Verdict::Passed => "passed".to_owned(),
                Verdict::Failed | Verdict::Known => {
                    format!("broken, {}", counted(judged.faults.len() as u64, "finding"))
                }
                Verdict::Unexercised(why) => format!("unexercised: {why}"),
                Verdict::Undecidable(why) => format!("undecidable: {why}"),
            };
            writeln!(output, "{}{}: {verdict}", if index > 0 { "\n" } else { "" }, judged.rule.id)?;
            for query in judged.rule.queries() {
                match dataset.answer(query, cancel)? {
                    Answer::Solutions(rows) => {
                        writeln!(output)?;
                        write_solutions(rows, ResultsFormat::Table, &table, &mut output)?;
                    }
                    Answer::Boolean(is_exercised) => writeln!(output, "exercised: {is_exercised}")?,
                    Answer::Graph(_) => {}
                }
            }
        }
        Ok(output.finish()?)
    }

    /// Prints why rules are undecidable, for each reason.
    fn say_undecidable(&self, checked: &CheckResult<'_>) {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for judged in checked.judged.iter().filter(|_| !self.quiet) {
            if let Verdict::Undecidable(why) = &judged.verdict {
                reasons.entry(why).or_default().push(&judged.rule.id);
            }
        }
        for (why, rules) in reasons {
            say(&format!("note: {why}, which leaves undecidable: {}", rules.join(", ")));
        }
    }
}

/// Returns the list of rules and, with `coverage`, the checks of the official suite.
fn listed(rules: &Rules, format: CheckFormat, coverage: bool) -> anyhow::Result<String> {
    let checks = if coverage { rules.coverage() } else { Vec::new() };
    if format == CheckFormat::Json {
        let line = |rule: &crate::check::Rule| {
            let line =
                json!({ "rule": rule.id, "level": rule.level.name(), "title": rule.title, "clause": rule.clause() });
            format!("{line}\n")
        };
        let check = |(check, judged): &(&str, Result<&str, &str>)| {
            format!("{}\n", json!({ "check": check, "rule": judged.ok(), "why": judged.err() }))
        };
        return Ok(rules.iter().map(line).chain(checks.iter().map(check)).collect());
    }
    if format != CheckFormat::Text {
        bail!("--list writes the rules as text or JSON; SARIF and JUnit are for the findings in a log");
    }
    let width = rules.iter().map(|rule| rule.id.chars().count()).max().unwrap_or_default();
    let rule = |rule: &crate::check::Rule| format!("{:<width$}  {:<7}  {}\n", rule.id, rule.level.name(), rule.title);
    let mut text: String = rules.iter().map(rule).collect();
    if coverage {
        let judged = checks.iter().filter(|(_, judged)| judged.is_ok()).count();
        text.push_str(&format!(
            "\nOf {} checks of the official conformance suite, these rules judge {judged}.\n",
            checks.len()
        ));
        let width = checks.iter().map(|(check, _)| check.len()).max().unwrap_or_default();
        text.extend(checks.iter().map(|(check, judged)| {
            let judged = judged.map_or_else(|why| format!("not judged: {why}"), str::to_owned);
            format!("{check:<width$}  {judged}\n")
        }));
    }
    Ok(text)
}

/// Reads the places of the findings that are written with them.
fn read_places(checked: &mut CheckResult<'_>, sources: &[InputSource], format: CheckFormat) -> anyhow::Result<()> {
    let most = match format {
        CheckFormat::Text => None,
        CheckFormat::Sarif => Some(RESULTS),
        CheckFormat::Json | CheckFormat::Junit | CheckFormat::Github => return Ok(()),
    };
    for (input, source) in sources.iter().enumerate() {
        let mut faults = checked.shown(most).filter(|fault| fault.input == Some(input)).peekable();
        if faults.peek().is_some() {
            let read = source.open()?.into_input().read;
            read_excerpts(read, faults).with_context(|| format!("cannot read {}", source.name()))?;
        }
    }
    Ok(())
}

/// Reads a small file of text.
fn read_text(path: &Path, what: &str) -> anyhow::Result<String> {
    let unreadable = || format!("cannot read {what} in {}", shown(path));
    let mut text = String::new();
    let length = File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
    if length.with_context(unreadable)? as u64 > LONGEST {
        bail!("{} is too large: {what} may have {} MiB", shown(path), LONGEST >> 20);
    }
    Ok(text)
}

fn read_baseline(path: &Path) -> anyhow::Result<Baseline> {
    let text = read_text(path, "the baseline")?;
    Baseline::parse(&text).with_context(|| shown(path))
}

fn write_baseline(path: &Path, baseline: &Baseline) -> anyhow::Result<()> {
    let mut output = Output::file(path, Compression::None, false)?;
    output.write_all(baseline.to_text()?.as_bytes()).with_context(|| format!("cannot write {}", shown(path)))?;
    Ok(output.finish()?)
}

fn unknown(name: &str, rules: &Rules) -> anyhow::Error {
    if Path::new(name).exists() {
        return anyhow!(
            "{name} is a file, and not a rule: `rpcgraph check --list` lists the rules, `rpcgraph check LOG` checks a log"
        );
    }
    if name.starts_with("budget/") {
        return anyhow!("no rule {name:?}: limits are in a file; name it with --budget, or write {BUDGET} here");
    }
    if name == DRIFT {
        return anyhow!("{name} needs the definitions of a baseline: name one with --baseline, without --accept");
    }
    let near = nearest(name, rules.iter().map(|rule| &*rule.id));
    let advice = near
        .map_or_else(|| "`rpcgraph check --list` lists the rules".to_owned(), |near| format!("did you mean {near}?"));
    anyhow!("unknown rule {name:?}: {advice}")
}
