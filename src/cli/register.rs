//! `register`: makes a building block's example register.

use std::path::PathBuf;

use crate::diagnostic::printable;
use crate::register::{
    BlockReport, Comparison, Register, RegisterBlock, RegisterOptions, ReportEntry, ReportItem, Repository, compare,
};
use anyhow::{Context as _, bail};
use clap::{Args, ValueHint};

use super::console::{Outcome, say};
use super::input::shown;
use super::paths::OutputPath;
use super::progress::StatusLine;
use super::target::{leave_on_ctrl_c, print};

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/register.txt").trim_end())]
pub struct RegisterCommand {
    /// Folder of a building block or of a repository of them, or a block's examples.yaml
    #[arg(value_name = "BLOCK")]
    path: PathBuf,

    /// Output folder: new, empty, or an earlier register, which is replaced
    #[arg(short, long, value_name = "DIR", required_unless_present = "compare", help_heading = "Output")]
    output: Option<OutputPath>,

    /// Write nothing; list what differs from the register in DIR, and exit with 1 if anything does
    #[arg(long, value_name = "DIR", conflicts_with = "output", help_heading = "Output")]
    compare: Option<PathBuf>,

    /// URL where the register will be published [default: from bblock.json, or the repository]
    ///
    /// Without one, the files of a block's register refer to each other by relative paths. A repository has the URL of
    /// its GitHub remote or of its earlier register, or else a placeholder, which a note names.
    #[arg(long = "base-url", alias = "base", value_name = "URL", help_heading = "Output")]
    base: Option<String>,

    /// Make only this block of a repository
    #[arg(long, value_name = "ID", help_heading = "Input")]
    block: Option<String>,

    /// Folder for URLs with a prefix or for an imported register, or file for a URL; repeatable
    #[arg(long = "import", value_name = "URL=DIR", value_parser = import, value_hint = ValueHint::DirPath)]
    #[arg(help_heading = "Input")]
    imports: Vec<(String, PathBuf)>,

    /// Fetch references of blocks, from the hosts of the URLs after -c
    #[arg(long, conflicts_with = "offline", help_heading = "Input")]
    online: bool,

    /// Replace a register by another program
    #[arg(long, help_heading = "Output")]
    replace: bool,

    /// Fail examples that lose data or use undeclared prefixes
    #[arg(long)]
    strict: bool,

    /// Identifier of the block [default: from bblock.json, else the folder's name]
    #[arg(long, value_name = "ID", help_heading = "Input")]
    identifier: Option<String>,

    /// URL of a context that may be fetched; repeatable
    #[arg(short, long = "context", value_name = "URL", help_heading = "Input")]
    contexts: Vec<String>,

    /// Never fetch a context
    #[arg(long, help_heading = "Input")]
    offline: bool,

    /// Print only failures
    #[arg(long, help_heading = "Output")]
    quiet: bool,
}

impl RegisterCommand {
    pub fn run(&self) -> anyhow::Result<Outcome> {
        // Also removes a folder that is being written.
        leave_on_ctrl_c();
        let block = self.path.as_path();
        let extension = block.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if block.is_file() && !["json", "yaml", "yml"].contains(&extension) {
            let name = shown(block);
            bail!(
                "{name} is a file and not a building block: `rpcgraph capture {name} -o BLOCK` makes a block of a log"
            );
        }
        let options = RegisterOptions {
            base: self.base.clone(),
            identifier: self.identifier.clone(),
            generated: generated()?,
            contexts: self.contexts.clone(),
            offline: self.offline,
            folders: self.imports.clone(),
            online: self.online,
            strict: self.strict,
            worker: std::env::current_exe().ok(),
        };
        let repository = Repository::open(block)?;
        let status = StatusLine::new();
        let mut progress = |id: &str| {
            if !self.quiet {
                status.show(id)
            }
        };
        let register = repository.build(self.block.as_deref(), &options, &mut progress)?;
        drop(status);
        self.finish(&register)
    }

    /// Writes a register, and prints its notes, failures and counts.
    fn finish(&self, register: &Register) -> anyhow::Result<Outcome> {
        let alone = register.blocks.len() == 1;
        let place = match &self.output {
            Some(output) => {
                register.write(output, self.replace)?;
                format!(" in {}", shown(output))
            }
            None => String::new(),
        };
        let note = |before: &str, note: &String| say(&format!("note: {before}{}", printable(note)));
        register.notes.iter().filter(|_| !self.quiet).for_each(|text| note("", text));
        let mut good = 0;
        for RegisterBlock { report, notes } in &register.blocks {
            let before = if alone { String::new() } else { format!("{}: ", printable(&report.id)) };
            notes.iter().filter(|_| !self.quiet).for_each(|text| note(&before, text));
            report.items.iter().filter(|_| !self.quiet && alone).for_each(say_notes);
            say_failed(report, &before);
            good += usize::from(report.verdict().is_pass());
        }
        let (blocks, files) = (register.blocks.len(), register.files.len());
        let passed = |behind| BlockReport::passed_in_words(register.blocks.iter().map(|block| &block.report), behind);
        let counts = match register.blocks.first().filter(|_| alone) {
            Some(block) => format!("{}: {}", printable(&block.report.name), passed(" passed")),
            None => format!("{good} of {blocks} blocks passed, {}", passed(" examples and tests")),
        };
        if !self.quiet {
            say(&format!("{counts}; {files} files{place}"));
        }
        // A comparison fails only if there are differences.
        let Some(folder) = &self.compare else {
            return Ok(if good == blocks { Outcome::Done } else { Outcome::Findings });
        };
        let Comparison { differences, not_compared } =
            compare(&register.files, folder).with_context(|| format!("cannot read {}", shown(folder)))?;
        let lines = differences.iter().map(|difference| format!("differs: {}\n", printable(difference)));
        print(&lines.collect::<String>())?;
        let files = not_compared.iter().map(|path| printable(path)).collect::<Vec<_>>().join(", ");
        if !self.quiet && !files.is_empty() {
            say(&format!("note: files with another text, which is not compared: {files}"));
        }
        Ok(if differences.is_empty() { Outcome::Done } else { Outcome::Findings })
    }
}

/// Parses a prefix of URLs, and the folder or the file that stands for them.
fn import(text: &str) -> Result<(String, PathBuf), String> {
    // The URL may contain an equals sign, too.
    match text.rsplit_once('=') {
        Some((prefix, path)) if prefix.contains("://") && PathBuf::from(path).exists() => {
            Ok((prefix.to_owned(), PathBuf::from(path)))
        }
        Some((prefix, path)) if prefix.contains("://") => Err(format!("cannot find {path}")),
        _ => Err("write URL=DIR, such as https://example.org/register=../register".to_owned()),
    }
}

fn say_failed(report: &BlockReport, before: &str) {
    for error in &report.errors {
        say(&format!("failed: {before}{}", printable(error)));
    }
    for item in report.failed() {
        for reason in item.reasons() {
            say(&format!("failed: {before}{}: {}", printable(&item.title()), printable(&reason)));
        }
    }
}

/// Prints the losses of an example, and the findings of shapes that are not violations.
fn say_notes(item: &ReportItem) {
    let is_note = |entry: &ReportEntry| entry.is("uplift-loss") || (entry.is("shacl-result") && !entry.is_error);
    for entry in item.entries.iter().filter(|entry| is_note(entry)) {
        say(&format!("{}: {}", printable(&item.title()), printable(&entry.message)));
    }
}

/// Returns the time for reports, if the environment fixes it:
/// <https://reproducible-builds.org/specs/source-date-epoch/>.
fn generated() -> anyhow::Result<Option<String>> {
    let Some(seconds) = std::env::var_os("SOURCE_DATE_EPOCH") else { return Ok(None) };
    let text = seconds.to_string_lossy().into_owned();
    let seconds: i64 =
        text.parse().with_context(|| format!("SOURCE_DATE_EPOCH {text:?} is not a number of seconds"))?;
    match crate::register::date_time(seconds) {
        Some(time) => Ok(Some(time)),
        None => bail!("SOURCE_DATE_EPOCH {text:?} is not a time that can be written"),
    }
}
