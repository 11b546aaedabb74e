//! `show`: messages as they were, and what belongs to them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};
use percent_encoding::percent_decode_str;
use rpcgraph::json::indented;
use rpcgraph::log::{Log, LoggedEntry, LoggedMessage};
use rpcgraph::message::Id;
use rpcgraph::record::Location;
use rpcgraph::session::Name;
use rpcgraph::sink::Output;

use super::format::FormatArgs;
use super::input::{InputSource, is_stdin, sources};
use super::pager::{self, Pager};
use super::read::parse_size;
use super::{Failure, Outcome};

/// Of what stands around a message, so many characters are shown.
const SHOWN: usize = 200;

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/show.txt").trim_end())]
pub struct ShowCommand {
    /// The log; LOG:1532 means the message on that line, LOG#m24 that message
    #[arg(value_name = "LOG")]
    log: PathBuf,

    /// Messages by their names: m24, m32.1 in a batch, m3-m9
    #[arg(value_name = "MESSAGE", value_parser = parse_selector)]
    messages: Vec<Selector>,

    /// The messages with an id
    #[arg(long, value_name = "ID")]
    id: Vec<String>,

    /// Also so many messages and lines of text before and after each
    #[arg(long, value_name = "N", default_value_t = 0)]
    around: usize,

    /// How they are shown
    #[arg(short, long, value_name = "NAME", value_enum, default_value_t)]
    to: ShowFormat,

    /// Do not show long answers with PAGER, or less, on a terminal
    #[arg(long)]
    no_pager: bool,

    #[command(flatten)]
    format: FormatArgs,

    /// Skip records that are longer, in bytes; K, M and G stand for KiB, MiB and GiB
    #[arg(long, value_name = "N", default_value = "256M", value_parser = parse_size)]
    max_record_size: usize,
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
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Selector {
    Names(Name, Name),
    Line(u64),
    Id(String),
}

fn parse_name(text: &str) -> Option<Name> {
    let name = text.trim_start_matches('m');
    let (record, element) = name.split_once('.').map_or((name, None), |(record, element)| (record, Some(element)));
    Some(Name { record: record.parse().ok()?, element: element.map(str::parse).transpose().ok()? })
}

fn parse_selector(text: &str) -> Result<Selector, String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    match (parse_name(from), parse_name(to)) {
        (Some(from), Some(to)) if from.record <= to.record => Ok(Selector::Names(from, to)),
        _ => Err("expected the name of a message, such as m24, m32.1 or m3-m9".to_owned()),
    }
}

impl Selector {
    fn selects(&self, message: &LoggedMessage) -> bool {
        match self {
            Self::Names(from, to) if from == to && from.element.is_some() => message.name == *from,
            Self::Names(from, to) => (from.record..=to.record).contains(&message.name.record),
            Self::Id(id) => matches!(&message.id, Some(Id::String(text) | Id::Number(text)) if *text == *id),
            Self::Line(_) => false,
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Names(from, to) if from == to => from.to_string(),
            Self::Names(from, to) => format!("{from}-{to}"),
            Self::Line(line) => format!("message on line {line}"),
            Self::Id(id) => format!("message with the id {id:?}"),
        }
    }
}

/// What is shown of a log: what was asked for, and the other half of each exchange.
#[derive(Default)]
struct Found {
    selected: BTreeSet<Name>,
    partners: BTreeSet<Name>,
}

impl ShowCommand {
    pub fn run(&self) -> Result<Outcome, Failure> {
        let (path, place) = self.place();
        let mut selectors = self.messages.clone();
        selectors.extend(place);
        selectors.extend(self.id.iter().cloned().map(Selector::Id));
        if selectors.is_empty() {
            bail!("name what to show: messages such as m24, --id ID, or LOG:LINE");
        }
        let mut sources = sources(&[path], None)?;
        let source = sources.first_mut().ok_or_else(|| anyhow!("there is no log"))?;
        // It is read twice.
        source.keep()?;
        let found = self.find(source, &selectors)?;
        let (_pager, mut output) = match (pager::is_able() && !self.no_pager).then(|| Pager::start(false)).flatten() {
            Some((pager, input)) => (Some(pager), Output::shown(input, Some(false))),
            None => (None, Output::stdout(false)),
        };
        self.write(source, &found, &mut output)?;
        output.finish()?;
        Ok(Outcome::Done)
    }

    /// The log, and the message that is named with it.
    fn place(&self) -> (PathBuf, Option<Selector>) {
        let text = self.log.to_string_lossy();
        if is_stdin(&self.log) || self.log.exists() {
            return (self.log.clone(), None);
        }
        let line = text.rsplit_once(':').and_then(|(path, line)| Some((path, Selector::Line(line.parse().ok()?))));
        let name = || text.rsplit_once('#').and_then(|(path, name)| Some((path, parse_selector(name).ok()?)));
        match line.or_else(name) {
            Some((path, place)) if Path::new(path).exists() => (path.into(), Some(place)),
            // As IRIs have names of files.
            Some((path, place)) => (percent_decode_str(path).decode_utf8_lossy().into_owned().into(), Some(place)),
            None => (self.log.clone(), None),
        }
    }

    fn open(&self, source: &InputSource) -> Result<Log, Failure> {
        Ok(source.open()?.with_options(self.format.options(self.max_record_size)?))
    }

    fn find(&self, source: &InputSource, selectors: &[Selector]) -> Result<Found, Failure> {
        let mut found = Found::default();
        let mut missing: Vec<_> = selectors.iter().collect();
        // Of each line that was asked for, the last message that begins there or before.
        let mut on_lines: BTreeMap<u64, (u64, Vec<Name>)> = BTreeMap::new();
        let mut requests: BTreeMap<Name, Name> = BTreeMap::new();
        let mut last = None;
        for message in self.open(source)?.messages() {
            let message = message?;
            if selectors.iter().any(|selector| selector.selects(&message)) {
                missing.retain(|selector| !selector.selects(&message));
                found.selected.insert(message.name);
            }
            for selector in selectors {
                if let Selector::Line(line) = selector
                    && message.location.line <= *line
                {
                    let at = on_lines.entry(*line).or_default();
                    if at.0 != message.location.line {
                        *at = (message.location.line, Vec::new());
                    }
                    at.1.push(message.name);
                }
            }
            if let Some(request) = message.responds_to {
                let is_shown = |name: &Name| {
                    found.selected.contains(name) || on_lines.values().any(|(_, names)| names.contains(name))
                };
                if is_shown(&request) || is_shown(&message.name) {
                    requests.insert(message.name, request);
                }
            }
            last = Some(message.name);
        }
        missing.retain(|selector| !matches!(selector, Selector::Line(line) if on_lines.contains_key(line)));
        if let Some(selector) = missing.first() {
            let last = last.map_or("it has no messages".to_owned(), |last| format!("the last message is {last}"));
            bail!("there is no {} in {}: {last}", selector.name(), source.name());
        }
        found.selected.extend(on_lines.into_values().flat_map(|(_, names)| names));
        for (answer, request) in requests {
            for (one, other) in [(answer, request), (request, answer)] {
                if found.selected.contains(&one) {
                    found.partners.insert(other);
                }
            }
        }
        Ok(found)
    }

    fn write(&self, source: &InputSource, found: &Found, output: &mut impl Write) -> Result<(), Failure> {
        let mut before: VecDeque<String> = VecDeque::new();
        let mut after = 0;
        let mut messages = self.open(source)?.messages();
        while let Some(entry) = messages.next_entry() {
            let entry = entry?;
            if let LoggedEntry::Message(message) = &entry
                && (found.selected.contains(&message.name) || found.partners.contains(&message.name))
            {
                for line in before.drain(..) {
                    writeln!(output, "{line}\n")?;
                }
                self.write_message(message, output)?;
                after = self.around;
                continue;
            }
            if self.around == 0 || self.to != ShowFormat::Text {
                continue;
            }
            let line = short(&entry);
            if after > 0 {
                writeln!(output, "{line}\n")?;
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

    fn write_message(&self, message: &LoggedMessage, output: &mut impl Write) -> Result<(), Failure> {
        match self.to {
            ShowFormat::Messages => writeln!(output, "{}", message.text.replace(['\n', '\r'], " "))?,
            ShowFormat::Json => writeln!(output, "{}", indented(&message.text))?,
            ShowFormat::Text => {
                writeln!(output, "{}", heading(message))?;
                let problems: Vec<_> = message.problems.iter().map(|problem| problem.name()).collect();
                if !problems.is_empty() {
                    writeln!(output, "problems: {}", problems.join(", "))?;
                }
                writeln!(output, "{}\n", indented(&message.text))?;
            }
        }
        Ok(())
    }
}

/// What a message is, and where: `m7 · line 7, byte 812 · Server · ErrorResponse to m6 after 0.418 s`.
fn heading(message: &LoggedMessage) -> String {
    let Location { line, byte, .. } = message.location;
    let mut parts = vec![message.name.to_string(), format!("line {line}, byte {byte}")];
    parts.extend(message.session.as_ref().map(|session| format!("session {session}")));
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

/// An entry on one line.
fn short(entry: &LoggedEntry) -> String {
    let (heading, text) = match entry {
        LoggedEntry::Message(message) => (heading(message), &message.text),
        LoggedEntry::LogLine(location, text) => (format!("line {}", location.line), text),
    };
    let mut line: String = text.chars().take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.len() < text.len() {
        line.push('…');
    }
    format!("{heading}\n  {line}")
}
