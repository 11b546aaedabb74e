//! The option `--redact` of commands that read logs.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::log::redacted::redacted_for_reading;
use crate::record::{ReaderOptions, plain_text, undecoded};
use crate::redact::{RedactOptions, Redactor};
use anyhow::{Context as _, bail};
use clap::Args;
use tempfile::NamedTempFile;

use super::console::say;
use super::input::InputSource;

/// Options of redaction, each of which implies it.
#[derive(Debug, Clone, Args)]
pub struct RedactArgs {
    /// Replace all that may be private with placeholders; `rpcgraph redact --help` says what stays
    #[arg(long, hide_short_help = true)]
    redact: bool,

    /// Keep the member NAME with its value, the value at a JSON Pointer into messages, or the string NAME; repeatable
    #[arg(long, value_name = "NAME|POINTER", conflicts_with = "secrets_only", hide_short_help = true)]
    keep: Vec<String>,

    /// Make the placeholders with the key in FILE, so that equal values in several logs have equal ones
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    key_file: Option<PathBuf>,

    /// Replace only what looks like a password, a token or a key
    #[arg(long, hide_short_help = true)]
    secrets_only: bool,

    /// Also replace names of tools, prompts and methods that no protocol defines
    #[arg(long, conflicts_with = "secrets_only", hide_short_help = true)]
    drop_names: bool,

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
        self.redact || self.secrets_only || self.drop_names || self.metadata_only || has_value
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
            drop_names: self.drop_names,
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

    /// Returns the redactor of several processes, with the key in `file` or its own; `None` without redaction.
    pub fn of_processes(&self, file: Option<&Path>) -> anyhow::Result<Option<Redactor>> {
        let key_file = file.map(Path::to_owned).or_else(|| self.key_file.clone());
        self.is_on().then(|| Self { key_file, ..self.clone() }.redactor()).transpose()
    }

    /// Replaces the content, the name and the IRI of each input, unless `keeps_iri`.
    pub fn apply(&self, inputs: &mut [InputSource], options: &ReaderOptions, keeps_iri: bool) -> anyhow::Result<()> {
        let mut redactor = self.redactor()?;
        for input in inputs {
            let text = text_of(input)?;
            let log = redacted_for_reading(&text, options, &mut redactor)?;
            let (log, is_as_lines) = log.with_context(|| unwritable(input, !options.is_stated()))?;
            let name = redactor.name(&input.iri);
            if is_as_lines {
                say(&format!(
                    "note: {name} is redacted as JSON lines, since its own format would not read as before: \
                     exchanges over HTTP and log lines are left out, and messages have a version"
                ));
            }
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
pub fn text_of(input: &InputSource) -> anyhow::Result<Vec<u8>> {
    if input.rdf_format().is_some() {
        bail!("{} is RDF, and redaction is for logs: redact the log, and convert that", input.name());
    }
    let mut text = Vec::new();
    let read = plain_text(input.open()?.into_input().read).and_then(|mut read| read.read_to_end(&mut text));
    read.with_context(|| format!("cannot read {}", input.name()))?;
    if let Some(kind) = undecoded(&text) {
        bail!("{} cannot be redacted: {kind}", input.name());
    }
    Ok(text)
}

/// Describes a log that redaction does not write back, in its own format or `as_lines`.
pub fn unwritable(input: &InputSource, as_lines: bool) -> String {
    let name = input.name();
    if as_lines {
        return format!(
            "{name} cannot be redacted, since its messages would not read as before: \
             redact what `rpcgraph timeline -t messages` writes of it"
        );
    }
    format!(
        "{name} cannot be redacted in its own format, since it would not read as before: \
         `rpcgraph redact --as json-lines` writes its messages as JSON lines"
    )
}
