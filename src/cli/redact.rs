//! `redact`: writes a log without what is private.

use std::fs;
use std::path::{Path, PathBuf};

use crate::log::redacted::{redacted, redacted_lines};
use crate::record::ReaderOptions;
use crate::redact::Redactor;
use crate::summary::counted;
use anyhow::{Context as _, bail};
use clap::Args;

use super::console::{Outcome, print_failure, say};
use super::format::{FormatArgs, check_pointers};
use super::input::{InputSource, files, is_stdin, shown, sources};
use super::paths::is_same;
use super::redaction::{text_of, unwritable};
use super::target::TargetArgs;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/redact.txt").trim_end())]
pub struct RedactCommand {
    /// Log or folder of logs to redact; `-` or none for standard input
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
        let (options, mut redactor) = (self.format.options()?, self.format.redact.redactor()?);
        let folder = self.input.as_deref().filter(|input| !is_stdin(input) && input.is_dir());
        match folder {
            Some(folder) => {
                self.folder(folder, &options, &mut redactor)?;
                check_pointers(&options)?;
            }
            None => {
                let paths: Vec<_> = self.input.iter().cloned().collect();
                let log = self.log(&only_log(&paths)?, &options, &mut redactor)?;
                check_pointers(&options)?;
                self.target.print(log)?;
            }
        }
        if !self.quiet {
            say(&redactor.to_string());
        }
        Ok(Outcome::Done)
    }

    /// Redacts each log of a folder into a file of the same name in the folder of the output. A log that cannot be redacted
    /// does not end the run.
    fn folder(&self, folder: &Path, options: &ReaderOptions, redactor: &mut Redactor) -> anyhow::Result<()> {
        let Some(output) = self.target.file() else {
            bail!("{} is a folder: name a folder for its redacted logs with --output", shown(folder));
        };
        let place = fs::canonicalize(output).or_else(|_| std::path::absolute(output))?;
        if place.starts_with(fs::canonicalize(folder)?) || place.starts_with(std::path::absolute(folder)?) {
            bail!("{} is in the folder that is read: name another folder with --output", shown(output));
        }
        let paths = files(&[folder.to_owned()], self.format.recursive)?;
        let mut failed = 0;
        for path in &paths {
            let target = TargetArgs::from_file(output.join(path.strip_prefix(folder)?));
            let redacted = only_log(std::slice::from_ref(path)).and_then(|input| {
                if let Some(input) = paths.iter().find(|path| target.file().is_some_and(|target| is_same(path, target)))
                {
                    bail!("{} is an input and the output: name another folder with --output", shown(input));
                }
                let log = self.log(&input, options, redactor)?;
                target.file().and_then(Path::parent).map_or(Ok(()), fs::create_dir_all)?;
                target.print(log)
            });
            if let Err(failure) = redacted {
                print_failure(&failure);
                failed += 1;
            }
        }
        if failed > 0 {
            bail!("{failed} of {} could not be redacted", counted(paths.len() as u64, "log"));
        }
        Ok(())
    }

    fn log(&self, input: &InputSource, options: &ReaderOptions, redactor: &mut Redactor) -> anyhow::Result<Vec<u8>> {
        let text = text_of(input)?;
        let log = match self.lines {
            Some(_) => redacted_lines(&text, options, redactor)?,
            None => redacted(&text, options, redactor)?,
        };
        log.with_context(|| unwritable(input, self.lines.is_some()))
    }
}

fn only_log(paths: &[PathBuf]) -> anyhow::Result<InputSource> {
    match <[InputSource; 1]>::try_from(sources(paths, None)?) {
        Ok([input]) => Ok(input),
        Err(_) => bail!("tables hold several logs: redact the logs, and convert those"),
    }
}
