//! `show`: messages as they were, and what belongs to them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};
use percent_encoding::percent_decode_str;
use rpcgraph::endpoint::TIMEOUT;
use rpcgraph::json::{indented, quoted};
use rpcgraph::log::{LoggedEntry, LoggedMessage};
use rpcgraph::message::Id;
use rpcgraph::query::{Cancel, Dataset};
use rpcgraph::record::Location;
use rpcgraph::session::Name;
use rpcgraph::sink::Output;
use rpcgraph::store::open_read_only;

use super::ask::{Source, endpoint, text_of};
use super::format::FormatArgs;
use super::input::{InputSource, is_stdin, shown, sources};
use super::messages::{Entries, MessageSource, SelectedMessages};
use super::pager::{self, Pager};
use super::read::parse_size;
use super::{Failure, Outcome};

/// Of what stands around a message, so many characters are shown.
const SHOWN: usize = 200;

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/show.txt").trim_end())]
pub struct ShowCommand {
    /// The log, or its graph; LOG:1532 means the message on that line, LOG#m24 that message
    #[arg(value_name = "LOG", required_unless_present_any = ["store", "endpoint"])]
    log: Option<PathBuf>,

    /// Messages by their names: m24, m32.1 in a batch, m3-m9; of one log of several: session.ndjson#m24
    #[arg(value_name = "MESSAGE", value_parser = parse_selector)]
    messages: Vec<Selector>,

    /// The messages with an id
    #[arg(long, value_name = "ID")]
    id: Vec<String>,

    /// Show what the store in a folder holds, which `rpcgraph load` has filled: no LOG is named then
    #[arg(long, value_name = "DIR", conflicts_with = "endpoint")]
    store: Option<PathBuf>,

    /// Show what the SPARQL server at a URL holds
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,

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

/// What was asked for, of the logs alone whose IRIs end like `log`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Selector {
    log: String,
    chosen: Chosen,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Chosen {
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
    let (log, names) = text.rsplit_once('#').unwrap_or(("", text));
    let (from, to) = names.split_once('-').unwrap_or((names, names));
    match (parse_name(from), parse_name(to)) {
        (Some(from), Some(to)) if from.record <= to.record => Ok(Chosen::Names(from, to).of(log)),
        _ => Err("expected the name of a message, such as m24, m32.1 or m3-m9".to_owned()),
    }
}

impl Chosen {
    fn of(self, log: &str) -> Selector {
        Selector { log: log.to_owned(), chosen: self }
    }
}

impl Selector {
    fn selects(&self, log: &str, message: &LoggedMessage) -> bool {
        log.ends_with(&self.log)
            && match &self.chosen {
                Chosen::Names(from, to) if from == to && from.element.is_some() => message.name == *from,
                Chosen::Names(from, to) => (from.record..=to.record).contains(&message.name.record),
                Chosen::Id(id) => matches!(&message.id, Some(Id::String(text) | Id::Number(text)) if *text == *id),
                Chosen::Line(_) => false,
            }
    }

    /// A query for what it selects, and for the other half of each exchange.
    fn query(&self) -> String {
        let chosen = match &self.chosen {
            Chosen::Names(from, to) if from.record == to.record => format!("?message rpcg:sequence {}", from.record),
            Chosen::Names(from, to) => {
                format!("?message rpcg:sequence ?n FILTER(?n >= {} && ?n <= {})", from.record, to.record)
            }
            Chosen::Line(line) => format!("?message rpcg:line {line}"),
            Chosen::Id(id) => format!(
                "?message jrpc:hasId/(jrpc:hasStringValue|jrpc:hasNumberValue) ?id FILTER(STR(?id) = {})",
                quoted(id)
            ),
        };
        let log = quoted(&self.log);
        format!(
            "SELECT DISTINCT ?shown {{ {chosen} FILTER(STRENDS(STRBEFORE(STR(?message), \"#m\"), {log})) \
             ?message (rpcg:respondsTo|^rpcg:respondsTo)? ?shown }}"
        )
    }

    fn name(&self) -> String {
        match &self.chosen {
            Chosen::Names(from, to) if from == to => from.to_string(),
            Chosen::Names(from, to) => format!("{from}-{to}"),
            Chosen::Line(line) => format!("message on line {line}"),
            Chosen::Id(id) => format!("message with the id {id:?}"),
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
        let (path, place) = self.place()?;
        let mut selectors = self.messages.clone();
        selectors.extend(place);
        selectors.extend(self.id.iter().map(|id| Chosen::Id(id.clone()).of("")));
        if selectors.is_empty() {
            bail!("name what to show: messages such as m24, --id ID, or LOG:LINE");
        }
        let mut sources = path.map_or(Ok(Vec::new()), |path| sources(&[path], None))?;
        sources.iter_mut().try_for_each(InputSource::keep)?;
        let (name, logs) = match sources.first() {
            Some(source) => (source.name(), MessageSource::of(source)?),
            None => self.stored(&selectors)?,
        };
        let options = self.format.options(self.max_record_size)?;
        let (mut missing, mut last) = (selectors.iter().collect(), None);
        let mut found = Vec::new();
        for log in &logs {
            found.push((log, self.find(log.iri(), log.entries(&options)?, (&selectors, &mut missing, &mut last))?));
        }
        if let Some(selector) = missing.first() {
            let last = last.map_or("it has no such messages".to_owned(), |last| format!("the last message is {last}"));
            bail!("there is no {} in {name}: {last}", selector.name());
        }
        found.retain(|(_, found)| !found.selected.is_empty());
        let (_pager, mut output) = match (pager::is_able() && !self.no_pager).then(|| Pager::start(false)).flatten() {
            Some((pager, input)) => (Some(pager), Output::shown(input, Some(false))),
            None => (None, Output::stdout(false)),
        };
        for (log, shown) in &found {
            if found.len() > 1 && self.to == ShowFormat::Text {
                writeln!(output, "{}\n", log.iri())?;
            }
            self.write(log.entries(&options)?, shown, &mut output)?;
        }
        output.finish()?;
        Ok(Outcome::Done)
    }

    /// The log, if not a store or a server is asked, and the message that is named with it.
    fn place(&self) -> Result<(Option<PathBuf>, Option<Selector>), Failure> {
        let Some(log) = &self.log else { return Ok((None, None)) };
        let text = log.to_string_lossy();
        if self.store.is_some() || self.endpoint.is_some() {
            return Ok((None, Some(parse_selector(&text).map_err(|expected| anyhow!("{text}: {expected}"))?)));
        }
        if is_stdin(log) || log.exists() {
            return Ok((Some(log.clone()), None));
        }
        let line = text.rsplit_once(':').and_then(|(path, line)| Some((path, Chosen::Line(line.parse().ok()?).of(""))));
        let name = || text.rsplit_once('#').and_then(|(path, name)| Some((path, parse_selector(name).ok()?)));
        Ok(match line.or_else(name) {
            Some((path, place)) if Path::new(path).exists() => (Some(path.into()), Some(place)),
            // As IRIs have names of files.
            Some((path, place)) => {
                (Some(percent_decode_str(path).decode_utf8_lossy().into_owned().into()), Some(place))
            }
            None => (Some(log.clone()), None),
        })
    }

    /// What a store or a server has of what was asked for, by the name of it.
    fn stored(&self, selectors: &[Selector]) -> Result<(String, Vec<MessageSource<'static>>), Failure> {
        let (name, source) = match (&self.store, &self.endpoint) {
            (Some(dir), _) => (shown(dir), Source::Here(Dataset::stored(open_read_only(dir)?))),
            (None, url) => {
                let url = url.as_deref().unwrap_or_default();
                (url.to_owned(), Source::There(endpoint(url, TIMEOUT)?.into()))
            }
        };
        let mut messages = BTreeSet::new();
        for selector in selectors {
            for term in source.values(&selector.query(), &Cancel::default())? {
                // What stands around it is named by the numbers of records.
                if let Some((log, name)) = text_of(&term).rsplit_once("#m")
                    && let Some(Name { record, .. }) = parse_name(name)
                {
                    let around = record.saturating_sub(self.around as u64)..=record.saturating_add(self.around as u64);
                    messages.extend(around.map(|record| format!("{log}#m{record}")));
                }
            }
        }
        let quads = SelectedMessages::named(messages).quads(&source, &Cancel::default())?;
        Ok((name, MessageSource::of_graph(&quads)?))
    }

    /// Finds what these select in a log; takes out of `missing` those that select something, and tells the last message.
    fn find<'s>(
        &self,
        log: &str,
        entries: Entries<'_>,
        (selectors, missing, last): (&'s [Selector], &mut Vec<&'s Selector>, &mut Option<Name>),
    ) -> Result<Found, Failure> {
        let mut found = Found::default();
        // On the line that was asked for: the last messages that begin there or before.
        let line = selectors.iter().find_map(|selector| match selector.chosen {
            Chosen::Line(line) => Some(line),
            _ => None,
        });
        let (mut begin, mut on_line) = (0, Vec::new());
        let mut requests: BTreeMap<Name, Name> = BTreeMap::new();
        for entry in entries {
            let LoggedEntry::Message(message) = entry? else { continue };
            if selectors.iter().any(|selector| selector.selects(log, &message)) {
                missing.retain(|selector| !selector.selects(log, &message));
                found.selected.insert(message.name);
            }
            let at = message.location.line;
            if at > 0 && line.is_some_and(|line| at <= line) {
                if begin != at {
                    (begin, on_line) = (at, Vec::new());
                }
                on_line.push(message.name);
            }
            if let Some(request) = message.responds_to {
                let is_shown = |name: &Name| found.selected.contains(name) || on_line.contains(name);
                if is_shown(&request) || is_shown(&message.name) {
                    requests.insert(message.name, request);
                }
            }
            *last = (*last).max(Some(message.name));
        }
        missing.retain(|selector| !matches!(selector.chosen, Chosen::Line(_) if begin > 0));
        found.selected.extend(on_line);
        for (answer, request) in requests {
            for (one, other) in [(answer, request), (request, answer)] {
                if found.selected.contains(&one) {
                    found.partners.insert(other);
                }
            }
        }
        Ok(found)
    }

    fn write(&self, entries: Entries<'_>, found: &Found, output: &mut impl Write) -> Result<(), Failure> {
        let mut before: VecDeque<String> = VecDeque::new();
        let mut after = 0;
        for entry in entries {
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
    let mut parts = vec![message.name.to_string()];
    parts.extend((line > 0).then(|| format!("line {line}, byte {byte}")));
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
