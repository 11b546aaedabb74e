//! Which format logs have: a name, a file that describes one, or where the messages are.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use clap::Args;
use rpcgraph::record::{Direction, Entry, Format, Layout, Reader, ReaderOptions, Sender, SessionBy, WordMeaning};
use rpcgraph::summary::counted;
use serde::Deserialize;

use super::read::{named, parse_size};
use super::{Failure, told};

/// Options of every command that reads logs, and say what they look like.
#[derive(Debug, Clone, Args)]
pub struct FormatArgs {
    /// Format of the logs, or a file NAME.toml that describes one [default: detected from their content]
    #[arg(short, long, value_name = "NAME", value_parser = parse_from)]
    from: Option<From>,

    /// Where the messages are in lines of JSON, by JSON Pointers: 'message=/payload time=/ts sender=/dir session=/conn'
    #[arg(long, value_name = "POINTERS", value_parser = Layout::envelope)]
    envelope: Option<Layout>,

    /// Where they are in lines of text: a regular expression with the group `message`, and maybe `time`, `sender`, `session`
    #[arg(long, value_name = "REGEX", conflicts_with = "envelope")]
    line: Option<String>,

    /// What tells sessions apart: a JSON Pointer into each line, a group of --line, or `none` [default: the log's own names]
    #[arg(long, value_name = "POINTER|GROUP|none", value_parser = SessionBy::parse)]
    session_by: Option<SessionBy>,

    /// Skip records that are longer, in bytes; K, M and G stand for KiB, MiB and GiB
    #[arg(long, value_name = "N", default_value = "256M", value_parser = parse_size)]
    max_record_size: usize,
}

#[derive(Debug, Clone)]
enum From {
    Format(Format),
    Layout(Layout),
}

impl FormatArgs {
    /// How to read.
    pub fn options(&self) -> Result<ReaderOptions, Failure> {
        let group = self.session_by.as_ref().and_then(SessionBy::group);
        let layout = match (&self.line, group) {
            (Some(regex), Some(group)) => Some(Layout::line_by(regex, group).context("--line")?),
            (Some(regex), None) => Some(Layout::line(regex).context("--line")?),
            (None, Some(group)) => {
                bail!("--session-by {group} names a group of --line, which is missing; a pointer begins with /")
            }
            (None, None) => self.envelope.clone(),
        };
        let options = ReaderOptions::default().with_max_record_size(self.max_record_size);
        let options = self.session_by.iter().cloned().fold(options, ReaderOptions::with_session_by);
        Ok(match (&self.from, layout) {
            (None, None) => options,
            (Some(From::Format(format)), None) => options.with_format(*format),
            (Some(From::Layout(layout)), None) => options.with_layout(layout.clone()),
            (None | Some(From::Format(Format::JsonLines)), Some(layout)) => options.with_layout(layout),
            _ => bail!("--envelope and --line say where messages are in lines: leave out --from"),
        })
    }
}

/// A format of logs by its name, or by a file that describes it.
fn parse_from(name: &str) -> Result<From, String> {
    match name.ends_with(".toml") {
        true => load(Path::new(name)).map(From::Layout).map_err(|error| told(error.as_ref())),
        false => named("format", Format::ALL, Format::name, name).map(From::Format).map_err(|wrong| {
            match Path::new(name).is_file() {
                true => format!("{name} is a log and not a format: --follow {name} goes on as it grows"),
                false => wrong,
            }
        }),
    }
}

/// A format as its users describe it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    name: String,
    /// JSON Pointers to the parts.
    envelope: Option<BTreeMap<String, Pointers>>,
    line: Option<String>,
    /// Words for the sender, and for what the writer of the log sent and received.
    #[serde(default)]
    client: Vec<String>,
    #[serde(default)]
    server: Vec<String>,
    #[serde(default)]
    out: Vec<String>,
    #[serde(default)]
    r#in: Vec<String>,
    sample: Option<String>,
    gives: Option<Gives>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a JSON Pointer, or an array of them")]
enum Pointers {
    One(String),
    Several(Vec<String>),
}

/// What has to come of the sample.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Gives {
    messages: usize,
    /// That of the first message.
    method: Option<String>,
}

/// The format that a file describes.
fn load(path: &Path) -> Result<Layout, Failure> {
    let text = fs::read_to_string(path).context("it cannot be read")?;
    let described: Described = toml::from_str(&text)?;
    let layout = described.layout()?;
    if let Some(sample) = &described.sample {
        described.test(sample, &layout)?;
    }
    Ok(layout)
}

impl Described {
    fn layout(&self) -> Result<Layout, Failure> {
        let mut layout = match (&self.envelope, &self.line) {
            (Some(envelope), None) => {
                Layout::at_pointers(envelope.iter().flat_map(|(name, pointers)| pointers.pairs(name)))?
            }
            (None, Some(regex)) => Layout::line(regex)?,
            _ => bail!("{}: say where the message is: by either `envelope` or `line`", self.name),
        };
        for (words, meaning) in [
            (&self.client, WordMeaning::Sent(Sender::Client)),
            (&self.server, WordMeaning::Sent(Sender::Server)),
            (&self.out, WordMeaning::Went(Direction::Out)),
            (&self.r#in, WordMeaning::Went(Direction::In)),
        ] {
            layout = words.iter().fold(layout, |layout, word| layout.with_word(word, meaning));
        }
        Ok(layout)
    }

    /// Reads the sample, and compares what comes of it with what has to.
    fn test(&self, sample: &str, layout: &Layout) -> Result<(), Failure> {
        let mut reader = Reader::new(sample.as_bytes(), &ReaderOptions::default().with_layout(layout.clone()))?;
        let (mut found, mut unread) = (Vec::new(), None);
        while let Some(entry) = reader.next_entry()? {
            match serde_json::from_slice::<serde_json::Value>(entry.bytes()) {
                Ok(message) if matches!(entry, Entry::Record(_)) => found.push(message),
                _ => {
                    unread =
                        unread.or(Some((entry.location().line, String::from_utf8_lossy(entry.bytes()).into_owned())))
                }
            }
        }
        let expected = self.gives.as_ref().map_or(found.len().max(1), |gives| gives.messages);
        if found.len() != expected {
            let unread = unread.map(|(line, text)| format!("; line {line} was not read: `{text}`")).unwrap_or_default();
            let found = counted(found.len() as u64, "message");
            bail!("{}: the sample gives {found} and not {expected}{unread}", self.name);
        }
        let method = self.gives.as_ref().and_then(|gives| gives.method.as_deref());
        let first = found.first().and_then(|message| message.get("method")?.as_str());
        match method {
            Some(method) if first != Some(method) => {
                let first = first.map_or("none".to_owned(), |first| format!("`{first}`"));
                bail!("{}: the method of the sample's first message is {first} and not `{method}`", self.name)
            }
            _ => Ok(()),
        }
    }
}

impl Pointers {
    fn pairs(&self, name: &str) -> Vec<(String, String)> {
        let pointers = match self {
            Self::One(pointer) => std::slice::from_ref(pointer),
            Self::Several(pointers) => pointers,
        };
        pointers.iter().map(|pointer| (name.to_owned(), pointer.clone())).collect()
    }
}
