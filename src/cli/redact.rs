//! `redact`: writes a log without what is private.

use std::path::PathBuf;

use crate::log::redacted::{redacted, redacted_lines};
use anyhow::{Context as _, bail};
use clap::Args;

use super::console::{Outcome, say};
use super::format::{FormatArgs, check_pointers};
use super::input::sources;
use super::redaction::{UNWRITABLE, text_of};
use super::target::TargetArgs;

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
        let (options, mut redactor) = (self.format.options()?, self.format.redact.redactor()?);
        let text = text_of(input)?;
        let log = match self.lines {
            Some(_) => redacted_lines(&text, &options, &mut redactor)?,
            None => {
                redacted(&text, &options, &mut redactor)?.with_context(|| format!("{} {UNWRITABLE}", input.name()))?
            }
        };
        check_pointers(&options)?;
        self.target.print(log)?;
        if !self.quiet {
            say(&redactor.to_string());
        }
        Ok(Outcome::Done)
    }
}
