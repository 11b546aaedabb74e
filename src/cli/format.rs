//! The files to read, and their format: a name, a file that describes the format, or the places of messages in lines.

use std::fs;
use std::path::{Path, PathBuf};

use crate::convert::processors;
use crate::diagnostic::printable;
use crate::record::{Format, OwnFormat, ReaderOptions, SessionBy};
use anyhow::{Context as _, bail};
use clap::{Args, ValueHint};

use super::console::told;
use super::input::{InputSource, files, sources};
use super::redaction::RedactArgs;
use super::values::{named, parse_size};

/// The arguments of [`FormatArgs`] that a store or a server does not use.
pub const OF_LOGS: [&str; 12] = [
    "recursive",
    "from",
    "envelope",
    "line",
    "session_by",
    "max_record_size",
    "redact",
    "keep",
    "key_file",
    "secrets_only",
    "metadata_only",
    "shift_times",
];

/// Options of every command that reads logs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Input")]
pub struct FormatArgs {
    /// Also read subfolders; links are not followed
    #[arg(short, long)]
    pub recursive: bool,

    /// Format, or a file NAME.toml [default: detected]
    ///
    /// `rpcgraph formats` lists the formats. A file describes one of your own.
    #[arg(short, long, value_name = "NAME", value_parser = parse_from, value_hint = ValueHint::FilePath)]
    from: Option<FormatChoice>,

    /// Parts of JSON lines, by JSON Pointers: 'message=/payload time=/ts sender=/dir session=/conn'
    #[arg(long, value_name = "POINTERS", value_parser = OwnFormat::envelope, hide_short_help = true)]
    envelope: Option<OwnFormat>,

    /// Parts of text lines: a regular expression with the group `message`, or `method`, `id`, `result` and `error`, and `time`, `sender`, `session`
    #[arg(long, value_name = "REGEX", conflicts_with = "envelope", hide_short_help = true)]
    line: Option<String>,

    /// Key of the session: a JSON Pointer into each line, a group of --line, or `none` [default: names in the log]
    #[arg(long, value_name = "POINTER|GROUP|none", value_parser = SessionBy::parse, hide_short_help = true)]
    session_by: Option<SessionBy>,

    /// Skip records longer than N bytes; K, M and G stand for KiB, MiB and GiB
    #[arg(long, value_name = "N", default_value = "256M", value_parser = parse_size, hide_short_help = true)]
    max_record_size: usize,

    /// IRI of the session; with several inputs, the base of their names
    ///
    /// Without it, a session's IRI is the `file:` IRI of its input, `urn:rpcgraph:stdin` for standard input.
    #[arg(long, value_name = "IRI", hide_short_help = true)]
    pub base: Option<String>,

    /// Use at most N threads [default: one per processor]; the output does not depend on N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), hide_short_help = true)]
    jobs: Option<u16>,

    /// Never fetch a context
    #[arg(long, hide_short_help = true)]
    pub offline: bool,

    #[command(flatten)]
    pub redact: RedactArgs,
}

#[derive(Debug, Clone)]
enum FormatChoice {
    Format(Format),
    OwnFormat(OwnFormat),
}

impl FormatArgs {
    /// Returns the logs at paths, without opening them unless they are redacted.
    pub fn sources(&self, paths: &[PathBuf]) -> anyhow::Result<Vec<InputSource>> {
        let mut sources = sources(&files(paths, self.recursive)?, self.base.as_deref())?;
        let is_read = sources.iter().any(|source| source.rdf_format().is_none() && !source.is_in_tables());
        let unused = [
            ("--envelope", self.envelope.is_some()),
            ("--line", self.line.is_some()),
            ("--session-by", self.session_by.is_some()),
        ];
        if let Some((option, _)) = unused.into_iter().find(|(_, is_given)| *is_given && !is_read) {
            bail!("{option} says how logs are read, and here are graphs and tables: leave it out");
        }
        if self.redact.is_on() {
            let keeps_iri = self.base.is_some() && sources.len() == 1;
            self.redact.apply(&mut sources, &self.options()?, keeps_iri)?;
        }
        Ok(sources)
    }

    /// Returns the maximum number of threads.
    pub fn jobs(&self) -> usize {
        self.jobs.map_or_else(processors, usize::from)
    }

    /// Returns the options for reading.
    pub fn options(&self) -> anyhow::Result<ReaderOptions> {
        let group = self.session_by.as_ref().and_then(SessionBy::group);
        let own_format = match (&self.line, group) {
            (Some(regex), Some(group)) => Some(OwnFormat::line_by(regex, group).context("--line")?),
            (Some(regex), None) => Some(OwnFormat::line(regex).context("--line")?),
            (None, Some(group)) => {
                bail!("--session-by {group} names a group of --line, which is missing; a pointer begins with /")
            }
            (None, None) => self.envelope.clone(),
        };
        let options = ReaderOptions {
            session_by: self.session_by.clone(),
            max_record_size: self.max_record_size,
            ..ReaderOptions::default()
        };
        Ok(match (&self.from, own_format) {
            (None, None) => options,
            (Some(FormatChoice::Format(format)), None) => options.with_format(*format),
            (Some(FormatChoice::OwnFormat(own_format)), None) => options.with_own_format(own_format.clone()),
            (None | Some(FormatChoice::Format(Format::JsonLines)), Some(own_format)) => {
                options.with_own_format(own_format)
            }
            _ => bail!("--envelope and --line say where messages are in lines: leave out --from"),
        })
    }
}

/// Fails if a pointer of --session-by or --envelope led to a value on no line that was read.
pub fn check_pointers(options: &ReaderOptions) -> anyhow::Result<()> {
    let session = options.session_by.iter().filter_map(|by| Some(("--session-by", by.unmatched()?)));
    let parts = options.own_format.iter().flat_map(OwnFormat::unmatched).map(|pointer| ("--envelope", pointer));
    if let Some((option, pointer)) = session.chain(parts).next() {
        let advice =
            if pointer.contains(" /") { "it takes one pointer" } else { "correct the pointer, or leave it out" };
        bail!("no line has a value at {}, which {option} names: {advice}", printable(pointer));
    }
    Ok(())
}

/// Parses the name of a format, or reads a file that describes a format.
fn parse_from(name: &str) -> Result<FormatChoice, String> {
    match name.ends_with(".toml") {
        true => load(Path::new(name)).map(FormatChoice::OwnFormat).map_err(|error| told(error.as_ref())),
        false => {
            named("format", Format::ALL, Format::name, name).map(FormatChoice::Format).map_err(|wrong| match name {
                "mcp" | "lsp" => format!(
                    "{name} is a protocol and not a format: it is recognised without options, or by --protocol {name}"
                ),
                _ if Path::new(name).is_file() => {
                    format!("{name} is a log and not a format: --follow {name} goes on as it grows")
                }
                _ => wrong,
            })
        }
    }
}

/// Reads the description of a format from a file.
fn load(path: &Path) -> anyhow::Result<OwnFormat> {
    let text = fs::read_to_string(path).context("it cannot be read")?;
    Ok(OwnFormat::described(&text)?)
}
