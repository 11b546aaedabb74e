//! `redact`, and the option `--redact` of commands that read logs.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;

use crate::log::redacted::{redacted, redacted_for_reading, redacted_lines};
use crate::record::{ReaderOptions, plain_text};
use crate::redact::{RedactOptions, Redactor};
use anyhow::{Context as _, bail};
use clap::Args;
use tempfile::NamedTempFile;

use super::format::FormatArgs;
use super::input::{InputSource, sources};
use super::target::TargetArgs;
use super::{Outcome, say};

/// Options of redaction, each of which implies it.
#[derive(Debug, Clone, Args)]
pub struct RedactArgs {
    /// Replace all that may be private with placeholders; `rpcgraph redact --help` says what stays
    #[arg(long, hide_short_help = true)]
    redact: bool,

    /// Keep the member NAME with its value, the value at a JSON Pointer into messages, or the string NAME; repeatable
    #[arg(long, value_name = "NAME|POINTER", hide_short_help = true)]
    keep: Vec<String>,

    /// Make the placeholders with the key in FILE, so that equal values in several logs have equal ones
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    key_file: Option<PathBuf>,

    /// Replace only what looks like a password, a token or a key
    #[arg(long, hide_short_help = true)]
    secrets_only: bool,

    /// Leave out the parameters and the results of messages
    #[arg(long, conflicts_with = "secrets_only", hide_short_help = true)]
    metadata_only: bool,

    /// Add DAYS to dates that begin with the year and to Unix times; may be negative
    #[arg(long, value_name = "DAYS", default_value_t, allow_negative_numbers = true, hide_short_help = true)]
    shift_times: i64,
}

impl RedactArgs {
    /// True if an option of redaction is given.
    pub fn is_on(&self) -> bool {
        let has_value = !self.keep.is_empty() || self.key_file.is_some() || self.shift_times != 0;
        self.redact || self.secrets_only || self.metadata_only || has_value
    }

    /// Returns the redactor, with a random key unless there is a file.
    pub fn redactor(&self) -> anyhow::Result<Redactor> {
        let key = match &self.key_file {
            Some(path) => {
                let key = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
                if key.len() < 16 {
                    bail!("{} is too short for a key: it needs 16 bytes", path.display());
                }
                key
            }
            None => random_key()?.to_vec(),
        };
        let options = RedactOptions {
            keep: self.keep.clone(),
            metadata_only: self.metadata_only,
            secrets_only: self.secrets_only,
            shift_days: self.shift_times,
        };
        Ok(Redactor::new(&key, options))
    }

    /// Returns a file with a random key, for several processes that redact alike; `None` if none is needed.
    pub fn random_key_file(&self) -> anyhow::Result<Option<NamedTempFile>> {
        if !self.is_on() || self.key_file.is_some() {
            return Ok(None);
        }
        let mut file = NamedTempFile::new()?;
        file.write_all(&random_key()?)?;
        Ok(Some(file))
    }

    /// Replaces the content, the name and the IRI of each input, unless `keeps_iri`.
    pub fn apply(&self, inputs: &mut [InputSource], options: &ReaderOptions, keeps_iri: bool) -> anyhow::Result<()> {
        let mut redactor = self.redactor()?;
        for input in inputs {
            let text = text_of(input)?;
            let log = redacted_for_reading(&text, options, &mut redactor)?;
            let log = log.with_context(|| format!("{} {UNWRITABLE}", input.name()))?;
            let name = redactor.name(&input.iri);
            input.replace(&log, name, keeps_iri)?;
        }
        Ok(())
    }
}

fn random_key() -> anyhow::Result<[u8; 32]> {
    let mut key = [0; 32];
    getrandom::fill(&mut key)?;
    Ok(key)
}

/// Returns the text of a log, decompressed.
fn text_of(input: &InputSource) -> anyhow::Result<Vec<u8>> {
    if input.rdf_format().is_some() {
        bail!("{} is RDF, and redaction is for logs: redact the log, and convert that", input.name());
    }
    let mut text = Vec::new();
    let read = plain_text(input.open()?.into_input().read).and_then(|mut read| read.read_to_end(&mut text));
    read.with_context(|| format!("cannot read {}", input.name()))?;
    Ok(text)
}

/// The end of a message about a log that redaction does not write back.
const UNWRITABLE: &str = "cannot be redacted in its own format, since it would not read as before: \
    `rpcgraph redact --as json-lines` writes its messages as JSON lines";

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/redact.txt").trim_end())]
pub struct RedactCommand {
    /// Log to redact; `-` or none for standard input
    #[arg(value_name = "INPUT", help_heading = None)]
    input: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArgs,

    #[command(flatten)]
    target: TargetArgs,

    /// Write messages as JSON lines, not in the format of the log
    #[arg(long = "as", value_name = "json-lines", value_parser = ["json-lines"], help_heading = "Output")]
    lines: Option<String>,

    /// Print only errors
    #[arg(long, help_heading = "Output")]
    quiet: bool,
}

impl RedactCommand {
    pub fn run(&self) -> anyhow::Result<Outcome> {
        let paths: Vec<_> = self.input.iter().cloned().collect();
        let inputs = sources(&paths, None)?;
        let [input] = inputs.as_slice() else { bail!("tables hold several logs: redact the logs, and convert those") };
        self.target.check(std::iter::once(input.path()))?;
        let (options, mut redactor) = (self.format.options()?, self.format.redact.redactor()?);
        let text = text_of(input)?;
        let log = match self.lines {
            Some(_) => redacted_lines(&text, &options, &mut redactor)?,
            None => {
                redacted(&text, &options, &mut redactor)?.with_context(|| format!("{} {UNWRITABLE}", input.name()))?
            }
        };
        let mut output = self.target.open(false)?;
        output.write_all(&log)?;
        output.finish()?;
        if !self.quiet {
            say(&redactor.to_string());
        }
        Ok(Outcome::Done)
    }
}
