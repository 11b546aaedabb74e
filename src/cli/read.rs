//! Parts of every command that reads logs: options, and the conversion of inputs into a sink.

use std::io::Read;
use std::path::PathBuf;
use std::time::Instant;

use crate::context::{self, Context, Loader};
use crate::convert::{ConvertError, Converter, Input, Options};
use crate::diagnostic::{Finding, printable};
use crate::mapping::{Mapper, Mapping, ReferenceError};
use crate::message::{Kind, Problem};
use crate::protocol::Protocol;
use crate::query::{Cancel, Loading, duration};
use crate::record::ReaderOptions;
use crate::sink::{Sink, SinkError};
use crate::summary::{Summary, counted};
use anyhow::{Context as _, anyhow, bail};
use clap::{Args, ValueHint};
use oxsdatatypes::Double;

use super::console::{print_failure, say};
use super::format::{FormatArgs, check_pointers};
use super::input::{InputSource, folders_in, shown};
use super::progress::{self, MeteredRead};
use super::values::{MAPPINGS, PROTOCOLS, one_of};

/// The maximum number of findings shown for records that the graph holds nevertheless.
const SHOWN_FINDINGS: usize = 20;

/// Logs, and how they are read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// Logs or folders of logs; `-` or none for standard input
    ///
    /// They may be compressed with gzip, zstd, bzip2 or xz.
    #[arg(value_name = "INPUT", help_heading = None)]
    pub inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub format: FormatArgs,

    /// Show progress on standard error: `auto` on a terminal, after a second
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, hide_short_help = true)]
    pub progress: progress::ProgressMode,
}

/// The arguments of [`ReadArgs`] and [`GraphArgs`] that a store or a server does not use, beside [`OF_LOGS`].
pub const OF_MAPPING: [&str; 3] = ["mapping", "protocol", "contexts"];
pub const OF_GRAPH: [&str; 3] = ["strict", "provenance", "log_lines"];

/// Logs, and how they become a graph.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Input")]
pub struct ReadArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// Mapping of messages to triples
    #[arg(short, long, value_name = "NAME", value_parser = one_of(MAPPINGS), default_value = "session", hide_short_help = true)]
    pub mapping: Mapping,

    /// Add MCP or LSP details: operations, tools, documents and so on
    #[arg(long, value_name = "NAME", value_parser = one_of(PROTOCOLS), default_value = "auto", hide_short_help = true)]
    protocol: Protocol,

    /// Apply a JSON-LD context, too; repeatable
    ///
    /// Contexts apply in their order, after the built-in ones.
    #[arg(short, long = "context", value_name = "FILE|URL", value_hint = ValueHint::FilePath)]
    contexts: Vec<String>,

    /// When reading ends at the latest.
    #[arg(skip)]
    until: Option<Instant>,
}

/// Options of every command that makes a graph.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Input")]
pub struct GraphArgs {
    /// Stop at the first record that is not a valid message, with exit status 1
    #[arg(long, hide_short_help = true)]
    pub strict: bool,

    /// Add the line, byte offset and SHA-256 of each record
    #[arg(long, hide_short_help = true)]
    pub provenance: bool,

    /// Keep the text between messages
    #[arg(long, hide_short_help = true)]
    pub log_lines: bool,
}

/// How much to say of a run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct SummaryArgs {
    /// Print only errors, no summary and no findings
    #[arg(long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Also print how many records needed the full JSON-LD algorithms, and why
    #[arg(long, hide_short_help = true)]
    pub verbose: bool,
}

impl InputArgs {
    /// Returns the inputs, without opening them.
    pub fn sources(&self) -> anyhow::Result<Vec<InputSource>> {
        self.format.sources(&self.inputs)
    }

    /// Returns the options for reading.
    pub fn options(&self) -> anyhow::Result<ReaderOptions> {
        self.format.options()
    }

    /// Opens an input, with progress.
    pub fn open(&self, source: &InputSource) -> anyhow::Result<Input<MeteredRead<Box<dyn Read + Send>>>> {
        let log = source.open()?;
        let size = log.size();
        // A log that grows does not have an end to show progress towards.
        let when = if source.follow.is_some() { progress::ProgressMode::Never } else { self.progress };
        Ok(log.into_input().map(|read| MeteredRead::new(read, source.name(), size, when)))
    }

    /// Reads each log. Prints why a log was not read as JSON-RPC, and returns the number of such logs. Fails if no log
    /// was read.
    pub fn read_each(
        &self,
        sources: &[InputSource],
        quiet: bool,
        mut read: impl FnMut(&InputSource, Input<MeteredRead<Box<dyn Read + Send>>>) -> anyhow::Result<Summary>,
    ) -> anyhow::Result<usize> {
        let (stated, mut unread) = (self.options()?.is_stated(), 0);
        for source in sources {
            let summary = read(source, self.open(source)?).with_context(|| source.name())?;
            if let Some(why) = why_unread(&source.name(), &summary, stated, quiet) {
                print_failure(&why);
                unread += 1;
            }
        }
        check_pointers(&self.options()?)?;
        if unread == sources.len() {
            all_read(unread, unread)?;
        }
        Ok(unread)
    }
}

impl ReadArgs {
    /// Returns these options with a time at which reading fails.
    pub fn until(&self, until: Option<Instant>) -> Self {
        Self { until, ..self.clone() }
    }

    /// True if further contexts are given.
    pub fn has_contexts(&self) -> bool {
        !self.contexts.is_empty()
    }

    /// Prepares a run over inputs. Without `quiet`, the run also shows findings that the graph holds.
    pub fn run(&self, graph: &GraphArgs, quiet: bool) -> anyhow::Result<InputRun<'_>> {
        let unread = !quiet && !self.input.format.recursive;
        let folders = self.input.inputs.iter().filter(|_| unread).map(|path| (path, folders_in(path)));
        for (path, count) in folders.filter(|(_, count)| *count > 0) {
            let folders = counted(count, "folder");
            say(&format!("note: {}: {folders} in it not read; -r reads the files in them, too", shown(path)));
        }
        let mapper = Mapper::new(self.mapping, &self.load_contexts()?)?.with_provenance(graph.provenance);
        let options = Options {
            reader: self.input.options()?,
            strict: graph.strict,
            log_lines: graph.log_lines,
            protocol: self.protocol,
            jobs: self.input.format.jobs(),
        };
        let findings = Findings { quiet, ..Findings::default() };
        let is_stated = options.reader.is_stated();
        let converter = Converter::new(mapper, options);
        let provenance = graph.provenance;
        Ok(InputRun {
            read: self,
            provenance,
            is_stated,
            converter,
            findings,
            total: None,
            inputs: 0,
            failed: 0,
            unread: 0,
        })
    }

    /// Opens an input, with progress.
    pub fn open(&self, source: &InputSource) -> anyhow::Result<Input<MeteredRead<Box<dyn Read + Send>>>> {
        Ok(self.input.open(source)?.map(|read| read.until(self.until)))
    }

    fn load_contexts(&self) -> anyhow::Result<Vec<Context>> {
        let loader = Loader::new().offline(self.input.format.offline);
        let load = |argument: &String| loader.load(&context::Reference::parse(argument));
        Ok(self.contexts.iter().map(load).collect::<Result<_, _>>()?)
    }
}

/// The outcome of an input.
pub enum InputOutcome {
    Done,
    /// The input does not contain JSON-RPC, for this reason.
    Unread(anyhow::Error),
    /// The input could not be read.
    Failed,
    /// A record is not a valid message, which `--strict` refuses; the record was reported.
    Stopped,
}

/// A run over inputs, one after the other, and its results.
pub struct InputRun<'r> {
    read: &'r ReadArgs,
    provenance: bool,
    /// True if an option names the format of the inputs.
    is_stated: bool,
    converter: Converter,
    pub findings: Findings,
    pub total: Option<Summary>,
    inputs: usize,
    failed: usize,
    unread: usize,
}

impl InputRun<'_> {
    /// Converts an input, up to the first record that `--strict` refuses.
    pub fn convert(&mut self, source: &InputSource, sink: &mut Sink<'_>) -> anyhow::Result<InputOutcome> {
        self.inputs += 1;
        let report = &mut |finding: Finding| self.findings.show(&finding);
        let converted = match source.in_tables(self.provenance, self.read.input.options()?.max_record_size)? {
            Some(entries) => self.converter.convert_entries(entries, sink, report),
            None => self.converter.convert(self.read.open(source)?, sink, report),
        };
        let summary = match converted {
            Ok(summary) => summary,
            Err(ConvertError::NotAMessage(finding)) => {
                say(&finding.to_string());
                return Ok(InputOutcome::Stopped);
            }
            Err(ConvertError::Sink(error)) => return Err(error.into()),
            Err(ConvertError::Mapping(error)) => return Err(error.into()),
            Err(error @ (ConvertError::Read { .. } | ConvertError::Panicked { .. })) => return Err(error.into()),
        };
        let unread = why_unread(&source.name(), &summary, self.is_stated, self.findings.quiet);
        let mixes = |total: &Option<Summary>| total.as_ref().is_some_and(Summary::mixes_zones);
        let mixed = mixes(&self.total);
        match &mut self.total {
            Some(total) => total.merge(&summary),
            None => self.total = Some(summary),
        }
        if mixes(&self.total) && !mixed && !self.findings.quiet {
            say(
                "note: some times have a zone and others have none: no time of one kind is compared with one of the other",
            );
        }
        self.unread += usize::from(unread.is_some());
        Ok(unread.map_or(InputOutcome::Done, InputOutcome::Unread))
    }

    /// Takes logs and graphs one by one. The inner result is an error if one was not read as JSON-RPC; `None` if `--strict`
    /// stopped the run. With `sees_unread`, an input that was not read is worth a note only.
    ///
    /// Fails if no input was read, unless unread input is seen.
    pub fn load(
        &mut self,
        sources: &[InputSource],
        sees_unread: bool,
        cancel: &Cancel,
        mut take: impl FnMut(&mut Self, &InputSource) -> anyhow::Result<InputOutcome>,
    ) -> anyhow::Result<Option<anyhow::Result<()>>> {
        let mut any_read = sources.is_empty() || sees_unread;
        for source in sources {
            let attempt = take(self, source);
            cancel.check()?;
            match attempt? {
                InputOutcome::Stopped => {
                    self.findings.end();
                    return Ok(None);
                }
                InputOutcome::Unread(why) if !sees_unread => print_failure(&why),
                InputOutcome::Unread(why) if !self.findings.quiet => say(&format!("note: {why}")),
                InputOutcome::Unread(_) => {}
                InputOutcome::Done | InputOutcome::Failed => any_read = true,
            }
        }
        self.findings.end();
        self.check_pointers()?;
        let all_read = self.check_read();
        match any_read {
            true => Ok(Some(all_read)),
            false => all_read.map(|()| None),
        }
    }

    /// Loads a log or a graph.
    pub fn load_one(&mut self, source: &InputSource, loading: &mut Loading<'_>) -> anyhow::Result<InputOutcome> {
        let Some(format) = source.rdf_format() else { return self.convert(source, &mut loading.sink()) };
        let longest = self.read.input.options()?.max_record_size;
        let read = self.read.open(source)?.read;
        let unread = loading.rdf(&source.name(), &source.iri, format, longest, read)?;
        Ok(self.take_graph(source, &unread))
    }

    /// Converts an input. If the input cannot be read, prints the reason, so that the other inputs can follow.
    pub fn attempt(&mut self, source: &InputSource, sink: &mut Sink<'_>) -> anyhow::Result<InputOutcome> {
        match self.convert(source, sink) {
            Err(failure) if failure.is::<SinkError>() || failure.is::<ReferenceError>() => Err(failure),
            Err(failure) => {
                print_failure(&failure);
                self.failed += 1;
                Ok(InputOutcome::Failed)
            }
            attempt => attempt,
        }
    }

    /// Counts a graph; `unread` are its logs in which no JSON-RPC was found.
    pub fn take_graph(&mut self, source: &InputSource, unread: &[String]) -> InputOutcome {
        self.inputs += 1;
        let Some(log) = unread.first().filter(|_| !self.is_stated) else { return InputOutcome::Done };
        self.unread += 1;
        InputOutcome::Unread(anyhow!(
            "{}: this is the graph of a log in which no JSON-RPC was found, {}: read the log with another --from; if the \
             graph is right, name its format",
            source.name(),
            printable(log),
        ))
    }

    /// Fails if a pointer of the user led to nothing on any line.
    pub fn check_pointers(&self) -> anyhow::Result<()> {
        check_pointers(&self.read.input.options()?)
    }

    /// Fails if inputs failed, or a pointer of the user led to nothing; the message ends with the `consequence`.
    pub fn check(&self, consequence: &str) -> anyhow::Result<()> {
        self.check_pointers()?;
        if self.failed > 0 {
            bail!("{} of {} inputs failed{consequence}", self.failed, self.inputs);
        }
        Ok(())
    }

    /// Fails if an input was not read as JSON-RPC.
    pub fn check_read(&self) -> anyhow::Result<()> {
        all_read(self.unread, self.inputs)
    }
}

/// Fails if an input was not read as JSON-RPC.
pub fn all_read(unread: usize, inputs: usize) -> anyhow::Result<()> {
    if unread > 0 {
        bail!("found no JSON-RPC in {unread} of {}", counted(inputs as u64, "input"));
    }
    Ok(())
}

/// Returns the reason why an input was not read as JSON-RPC, if so. Without `quiet`, also notes that the input is
/// empty, that most of it was not read, or that ids of open requests are reused.
fn why_unread(input: &str, summary: &Summary, is_stated: bool, quiet: bool) -> Option<anyhow::Error> {
    let Summary { records, unread, .. } = summary;
    let why = summary.why_unread(is_stated).map(|why| anyhow!("{input}: {why}"));
    match why {
        _ if quiet => {}
        None if summary.is_empty() => say(&format!("note: {input} is empty: found no records")),
        None if unread.saturating_mul(2) > *records => {
            say(&format!("note: {input}: {unread} of {records} records were not read as JSON-RPC"));
        }
        _ => {}
    }
    if !quiet && summary.unread_lines() > 0 {
        let lines = counted(summary.unread_lines(), "line");
        say(&format!("note: {input}: not read as messages: {lines} of text with \"jsonrpc\"; --line REGEX reads them"));
    }
    if !quiet && let Some(reused) = summary.ids_reused() {
        say(&format!(
            "note: {input}: {reused} requests take an id that is still open; this log may hold several sessions: separate \
             them with --session-by"
        ));
    }
    let early = summary.problem(Problem::AnswerBeforeRequest);
    if !quiet && early > 0 {
        let answers = if early == 1 { "1 answer has a time".to_owned() } else { format!("{early} answers have times") };
        let effect = match summary.clock_offset {
            Some((seconds, are_estimated)) => {
                let seconds = duration(f64::from(Double::from(seconds)));
                let latencies = if are_estimated { "are corrected by it" } else { "are uncertain by as much" };
                format!("clocks differ by {seconds} or more, and latencies {latencies}")
            }
            None => "latencies are of the other answers".to_owned(),
        };
        say(&format!("note: {input}: {answers} before the request; {effect}"));
    }
    if !quiet && summary.one_sided > 0 {
        let sessions = counted(summary.one_sided, "session");
        let missing = if summary.messages[Kind::Request as usize] > 0 { "answers" } else { "requests" };
        say(&format!("note: {input}: {missing} are not in this log: {sessions} of one side alone"));
    }
    for (count, what) in summary.incomplete.into_iter().zip(["answers", "requests"]) {
        if !quiet && count > 0 {
            say(&format!("note: {input}: {what} are missing from this log, in {}", counted(count, "session")));
        }
    }
    if !quiet && summary.omitted > 0 {
        let entries = if summary.omitted == 1 { "1 entry".to_owned() } else { format!("{} entries", summary.omitted) };
        say(&format!("note: {input}: the text of {entries} is left out: `journalctl --all` keeps more than 4 KiB"));
    }
    if !quiet && summary.is_by_time {
        say(&format!("note: {input}: its lines are out of order, and are read by their times"));
    }
    if !quiet && summary.misordered > 0 {
        let requests = counted(summary.misordered, "request");
        say(&format!("note: {input}: out of order: {requests} below an answer with a later time, which is not paired"));
    }
    why
}

impl SummaryArgs {
    /// Prints the summary; with `verbose`, also the number of records that took the reference path, by reason.
    pub fn say(&self, total: Option<&Summary>) {
        let Some(total) = total.filter(|_| !self.quiet) else { return };
        say(&total.to_string());
        if self.verbose {
            let count: u64 = total.by_reference.values().sum();
            say(&format!("reference path: {count} of {} records", total.records));
            total.by_reference.iter().for_each(|(reason, count)| say(&format!("  {count}  {reason}")));
        }
    }
}

/// The findings that the graph holds of which there are lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShownFindings {
    /// The first of each kind.
    #[default]
    Kinds,
    /// The first of all.
    First,
    /// None: the answer has them.
    None,
}

/// Shows findings: all findings that the graph does not hold, and some of those that it holds.
#[derive(Default)]
pub struct Findings {
    pub quiet: bool,
    pub shown: ShownFindings,
    kinds: Vec<FindingKind>,
    /// The number of findings of further kinds.
    others: u64,
}

/// Findings of an input that differ in numbers alone.
struct FindingKind {
    /// The message without its digits.
    message: String,
    first: Finding,
    last: Option<Finding>,
    /// The number of findings after the first.
    more: u64,
}

impl Findings {
    /// Shows or counts a finding.
    fn show(&mut self, finding: &Finding) {
        if finding.in_graph && (self.quiet || self.shown == ShownFindings::None || self.is_repeated(finding)) {
            return;
        }
        say(&finding.to_string());
    }

    /// Counts a finding that the graph holds. Returns false if it is to be shown now: the first of its kind.
    fn is_repeated(&mut self, finding: &Finding) -> bool {
        if self.shown == ShownFindings::First && !self.kinds.is_empty() {
            self.others += 1;
            return true;
        }
        let message = finding.message.replace(|character: char| character.is_ascii_digit(), "");
        let mut kinds = self.kinds.iter_mut();
        if let Some(kind) = kinds.find(|kind| kind.message == message && kind.first.input == finding.input) {
            (kind.last, kind.more) = (Some(finding.clone()), kind.more + 1);
            return true;
        }
        if self.kinds.len() == SHOWN_FINDINGS {
            self.others += 1;
            return true;
        }
        self.kinds.push(FindingKind { message, first: finding.clone(), last: None, more: 0 });
        // One line has the first and the number of the others.
        self.shown == ShownFindings::First
    }

    /// Prints a line for each kind of finding that was repeated, and the number of findings that were not shown.
    pub fn end(&self) {
        if let (ShownFindings::First, [kind]) = (self.shown, self.kinds.as_slice()) {
            return say(&match self.others {
                0 => kind.first.to_string(),
                others => format!("{} (and {others} more: rpcgraph problems)", kind.first),
            });
        }
        for kind in &self.kinds {
            match &kind.last {
                Some(last) if kind.more > 1 => {
                    say(&format!("{last} (the last of {} more like record {})", kind.more, kind.first.location.record));
                }
                Some(last) => say(&last.to_string()),
                None => {}
            }
        }
        if self.others > 0 {
            say(&format!("… and {} findings more; the graph holds them all", self.others));
        }
    }
}
