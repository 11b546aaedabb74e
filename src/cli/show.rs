//! `show`: prints messages as they were, with their details and their requests or answers.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead as _, BufReader, Write};
use std::path::{Path, PathBuf};

use crate::diagnostic::{printable, shortened};
use crate::endpoint::TIMEOUT;
use crate::json::{indented, quoted};
use crate::log::{LoggedEntry, LoggedMessage};
use crate::query::{Cancel, Dataset};
use crate::record::{Location, ReaderOptions, decompressed};
use crate::session::Name;
use crate::store::open_read_only;
use crate::summary::counted;
use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};
use percent_encoding::percent_decode_str;

use super::choice::Choice;
use super::console::Outcome;
use super::filter::FilterArgs;
use super::filter::text_of;
use super::format::{FormatArgs, OF_LOGS};
use super::input::{InputSource, is_stdin, shown};
use super::limits::LimitArgs;
use super::messages::{MessageSource, SelectedMessages, parse_name};
use super::pager;
use super::question::{QuerySource, endpoint};
use super::target::TargetArgs;
use super::values::parse_count;

/// The maximum number of characters shown of an entry around a message.
const SHOWN: usize = 200;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/show.txt").trim_end())]
pub struct ShowCommand {
    /// Log or its graph; LOG:1532 means a line, LOG#m24 a message
    #[arg(value_name = "LOG", required_unless_present_any = ["store", "endpoint"])]
    log: Option<PathBuf>,

    /// Messages: m24, m32.1 in a batch, m3-m9; session.ndjson#m24
    #[arg(value_name = "MESSAGE", value_parser = parse_selector)]
    messages: Vec<Selector>,

    /// Show messages of a store, without LOG
    #[arg(long, value_name = "DIR", help_heading = "Input", conflicts_with = "endpoint", conflicts_with_all = OF_LOGS)]
    store: Option<PathBuf>,

    /// Show messages of a SPARQL server, without LOG
    #[arg(long, value_name = "URL", help_heading = "Input", conflicts_with_all = OF_LOGS)]
    endpoint: Option<String>,

    /// Also show N messages and lines around each
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "0", hide_default_value = true, help_heading = "Output")]
    around: usize,

    /// Format: text, json or messages
    #[arg(short, long, value_name = "NAME", value_enum, default_value_t, help_heading = "Output")]
    to: ShowFormat,

    /// Do not page long answers on a terminal
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    no_pager: bool,

    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    format: FormatArgs,

    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum ShowFormat {
    /// Place, time, sender, problems, and JSON that is indented
    #[default]
    Text,
    /// The JSON alone, indented
    Json,
    /// The JSON alone, a message a line
    Messages,
    /// Each message and line of the text as a JSON string
    #[value(hide = true)]
    Rows,
}

/// Messages to show, in the logs whose IRIs end with `log`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Selector {
    log: String,
    chosen: ChosenMessages,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ChosenMessages {
    Names(Name, Name),
    Line(u64),
}

fn parse_selector(text: &str) -> Result<Selector, String> {
    // A line of CSV may end with a carriage return.
    let (log, names) = text.trim().rsplit_once('#').unwrap_or(("", text.trim()));
    let (from, to) = names.split_once('-').unwrap_or((names, names));
    match (parse_name(from), parse_name(to)) {
        (Some(from), Some(to)) if from.record <= to.record => Ok(ChosenMessages::Names(from, to).in_log(log)),
        _ if Path::new(text).exists() => Err("the log comes first: rpcgraph show LOG MESSAGE".to_owned()),
        _ => {
            Err("expected the name of a message, such as m24, m32.1 or m3-m9, or a filter, such as --tool NAME"
                .to_owned())
        }
    }
}

impl ChosenMessages {
    fn in_log(self, log: &str) -> Selector {
        Selector { log: log.to_owned(), chosen: self }
    }
}

impl Selector {
    /// Returns a pattern for the selected messages.
    fn pattern(&self) -> String {
        let chosen = match &self.chosen {
            ChosenMessages::Names(from @ Name { record, element: Some(element) }, to) if from == to => {
                format!("?message rpcg:sequence {record} ; rpcg:batchIndex {element}")
            }
            ChosenMessages::Names(from, to) if from.record == to.record => {
                format!("?message rpcg:sequence {}", from.record)
            }
            ChosenMessages::Names(from, to) => {
                format!("?message rpcg:sequence ?n FILTER(?n >= {} && ?n <= {})", from.record, to.record)
            }
            // The last messages that begin on the line or before it.
            ChosenMessages::Line(line) => format!(
                "{{
                   SELECT ?log (MAX(?at) AS ?line) {{ ?any rpcg:sequence ?n ; rpcg:line ?at FILTER(?at <= {line}) }}
                   GROUP BY (STRBEFORE(STR(?any), \"#m\") AS ?log)
                 }}
                 ?message rpcg:line|(rpcg:inBatch/rpcg:line) ?line FILTER(STRBEFORE(STR(?message), \"#m\") = ?log)"
            ),
        };
        format!("{chosen} {}", self.in_log())
    }

    fn in_log(&self) -> String {
        match self.log.as_str() {
            "" => String::new(),
            log => format!("FILTER(STRENDS(STRBEFORE(STR(?message), \"#m\"), {}))", quoted(log)),
        }
    }

    /// Returns queries for a selected message, and for the last record.
    fn queries(&self) -> [String; 2] {
        [
            format!(
                "SELECT ?message {{ {{ {} }} ?message rpcg:sequence ?any FILTER NOT EXISTS {{ ?message a rpcg:Batch }} }} LIMIT 1",
                self.pattern()
            ),
            format!("SELECT (MAX(?sequence) AS ?last) {{ ?message rpcg:sequence ?sequence {} }}", self.in_log()),
        ]
    }

    /// Fails if it does not select a message.
    fn check(&self, source: &QuerySource, name: &str) -> anyhow::Result<()> {
        let [selected, last] = self.queries().map(|query| source.values(&query, &Cancel::default()));
        if !selected?.is_empty() {
            return Ok(());
        }
        let wanted = match &self.chosen {
            ChosenMessages::Names(from, to) if from == to => from.to_string(),
            ChosenMessages::Names(from, to) => format!("{from}-{to}"),
            ChosenMessages::Line(line) => format!("message on line {line}"),
        };
        match last?.first().map(text_of) {
            Some(last) => bail!("cannot find {wanted} in {name}: the last message is m{last}"),
            None => bail!("cannot find {wanted} in {name}: found no messages"),
        }
    }
}

impl ShowCommand {
    pub fn run(&self) -> anyhow::Result<Outcome> {
        // Reading and writing have no switch: the process ends at the limits.
        let _cancel = self.limits.cancel()?;
        let (path, place) = self.log_and_message()?;
        let selectors: Vec<_> = self.messages.iter().cloned().chain(place).collect();
        if selectors.is_empty() && self.filter.given_options(true).is_empty() {
            bail!("name what to show: messages such as m24, LOG:LINE, or what --method, --id and the like choose");
        }
        if self.around > 0 && self.to != ShowFormat::Text {
            bail!("--around is for -t text: with another format, name the messages, as in m3-m9");
        }
        let mut sources = path.map_or(Ok(Vec::new()), |path| self.format.sources(&[path]))?;
        sources.iter_mut().try_for_each(InputSource::keep)?;
        let options = self.format.options()?;
        let patterns: Vec<_> = selectors.iter().map(Selector::pattern).collect();
        let choice = Choice::new(&patterns, &self.filter);
        let (name, asked) = match (sources.first(), &self.store) {
            (Some(log), _) => (
                log.name(),
                choice.read(
                    &sources,
                    (&options, self.format.jobs()),
                    selectors.iter().flat_map(Selector::queries).chain([SelectedMessages::states_query("")]),
                )?,
            ),
            (None, Some(dir)) => (shown(dir), QuerySource::Here(Dataset::stored(open_read_only(dir)?))),
            (None, None) => {
                let url = self.endpoint.clone().unwrap_or_default();
                (url.clone(), QuerySource::There(endpoint(&url, TIMEOUT)?.into()))
            }
        };
        for selector in &selectors {
            selector.check(&asked, &name)?;
            if let (ChosenMessages::Line(line), Some(log)) = (&selector.chosen, sources.first())
                && let count = lines(log)?
                && *line > count
            {
                bail!("{name} has no line {line}: it has {}", counted(count, "line"));
            }
        }
        let selected = choice.messages(&asked)?;
        let states = match self.to {
            ShowFormat::Text | ShowFormat::Rows => selected.states(&asked, &Cancel::default())?,
            ShowFormat::Json | ShowFormat::Messages => HashMap::new(),
        };
        let logs = match sources.as_slice() {
            _ if selected.logs() == 0 => return Err(choice.nothing(&asked, &name)?),
            // In a graph, records around a message are found by their numbers.
            [] => MessageSource::of_graph(&selected.around(self.around as u64).quads(&asked, &Cancel::default())?)?,
            sources => MessageSource::of_all(sources)?,
        };
        // Waits for the pager when dropped, after everything has been written.
        let (_pager, mut output) = match self.target.file() {
            None if pager::is_able() => pager::shown(!self.no_pager, false, Some(false)),
            _ => (None, self.target.open(false)?),
        };
        for log in &logs {
            self.write(log, (&selected, &states), &options, &mut output)?;
        }
        output.finish()?;
        Ok(Outcome::Done)
    }

    /// Returns the log, unless a store or a server is asked, and the message that is named with the log.
    fn log_and_message(&self) -> anyhow::Result<(Option<PathBuf>, Option<Selector>)> {
        let Some(log) = &self.log else { return Ok((None, None)) };
        let text = log.to_string_lossy();
        if self.store.is_some() || self.endpoint.is_some() {
            return Ok((None, Some(parse_selector(&text).map_err(|expected| anyhow!("{text}: {expected}"))?)));
        }
        if is_stdin(log) || log.exists() {
            return Ok((Some(log.clone()), None));
        }
        let line = text
            .rsplit_once(':')
            .and_then(|(path, line)| Some((path, ChosenMessages::Line(line.parse().ok()?).in_log(""))));
        let name = || text.rsplit_once('#').and_then(|(path, name)| Some((path, parse_selector(name).ok()?)));
        Ok(match line.or_else(name) {
            Some((path, place)) if Path::new(path).exists() => (Some(path.into()), Some(place)),
            // The path may be percent-encoded, as in an IRI.
            Some((path, place)) => {
                (Some(percent_decode_str(path).decode_utf8_lossy().into_owned().into()), Some(place))
            }
            None => (Some(log.clone()), None),
        })
    }

    /// Writes the messages of a log.
    fn write(
        &self,
        log: &MessageSource<'_>,
        (selected, states): (&SelectedMessages, &HashMap<String, String>),
        options: &ReaderOptions,
        output: &mut impl Write,
    ) -> anyhow::Result<()> {
        if selected.of_log(log.iri()).is_empty() {
            return Ok(());
        }
        if selected.logs() > 1 && self.to == ShowFormat::Text {
            writeln!(output, "{}\n", log.iri())?;
        }
        let mut before: VecDeque<String> = VecDeque::new();
        let mut after = 0;
        for entry in log.entries(options)? {
            let entry = entry?;
            if let LoggedEntry::Message(message) = &entry
                && selected.has(log.iri(), message.name)
            {
                before.drain(..).try_for_each(|line| self.write_block(&line, output))?;
                let state = states.get(&format!("{}#{}", log.iri(), message.name));
                self.write_message(message, state, output)?;
                after = self.around;
                continue;
            }
            if self.around == 0 || matches!(self.to, ShowFormat::Json | ShowFormat::Messages) {
                continue;
            }
            let line = short(&entry);
            if after > 0 {
                self.write_block(&line, output)?;
                after -= 1;
            } else {
                before.push_back(line);
                if before.len() > self.around {
                    before.pop_front();
                }
            }
        }
        Ok(())
    }

    /// Writes a message; a request without an answer has a `state`.
    fn write_message(
        &self,
        message: &LoggedMessage,
        state: Option<&String>,
        output: &mut impl Write,
    ) -> anyhow::Result<()> {
        match self.to {
            ShowFormat::Messages => writeln!(output, "{}", message.text.replace(['\n', '\r'], " "))?,
            ShowFormat::Json => writeln!(output, "{}", indented(&message.text))?,
            ShowFormat::Text | ShowFormat::Rows => {
                let problems: Vec<_> = message.problems.iter().map(|problem| problem.name()).collect();
                let problems =
                    if problems.is_empty() { String::new() } else { format!("\nproblems: {}", problems.join(", ")) };
                let state = state.map(|state| format!(", no answer ({state})")).unwrap_or_default();
                let text = indented(&message.text);
                self.write_block(&format!("{}{state}{problems}\n{text}", heading(message)), output)?;
            }
        }
        Ok(())
    }

    /// Writes the text about a message or a line.
    fn write_block(&self, text: &str, output: &mut impl Write) -> anyhow::Result<()> {
        match self.to {
            ShowFormat::Rows => writeln!(output, "{}", quoted(text))?,
            _ => writeln!(output, "{text}\n")?,
        }
        Ok(())
    }
}

/// Counts the lines of a log.
fn lines(log: &InputSource) -> anyhow::Result<u64> {
    let text = decompressed(log.open()?.into_input().read)?;
    BufReader::new(text).split(b'\n').try_fold(0, |count, line| Ok(line.map(|_| count + 1)?))
}

/// Formats name, place, sender and kind of a message:
/// `m7 · line 7, byte 812 · Server · ErrorResponse to m6 after 0.418 s`.
fn heading(message: &LoggedMessage) -> String {
    let Location { line, byte, .. } = message.location;
    let mut parts = vec![message.name.to_string()];
    parts.extend((line > 0).then(|| format!("line {line}, byte {byte}")));
    parts.extend(message.session.as_ref().map(|session| format!("session {}", printable(session))));
    parts.extend(message.time.clone());
    parts.extend(message.sender.map(|sender| format!("{sender:?}")));
    let mut kind = message.kind.map_or("not a message".to_owned(), |kind| format!("{kind:?}"));
    if let Some(request) = message.responds_to {
        kind.push_str(&format!(" to {request}"));
    }
    if let Some(latency) = message.latency {
        kind.push_str(&format!(" after {} s", latency.as_secs_f64()));
    }
    parts.push(kind);
    parts.join(" · ")
}

/// Formats the heading of an entry, and the start of its text on one line.
fn short(entry: &LoggedEntry) -> String {
    let (heading, text) = match entry {
        LoggedEntry::Message(message) => (heading(message), &message.text),
        LoggedEntry::LogLine(location, text) => (format!("line {}", location.line), text),
    };
    format!("{heading}\n  {}", shortened(text, SHOWN).replace(char::is_control, " "))
}
