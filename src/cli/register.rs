//! `register`: a building block's example register.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use rpcgraph::diagnostic::printable;
use rpcgraph::register::{Block, Register, RegisterOptions, ReportEntry, ReportItem};

use super::input::shown;
use super::register_capture::CaptureArgs;
use super::target::{check_folder, leave};
use super::{Failure, Outcome, say};

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/register.txt").trim_end())]
pub struct RegisterCommand {
    /// Folder of the building block, or its examples.yaml
    #[arg(value_name = "BLOCK", required_unless_present = "from_capture", conflicts_with_all = ["from_capture", "FormatArgs"])]
    block: Option<PathBuf>,

    /// Folder for the register, or for the block: new, empty, or with an earlier one that is replaced
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    /// URL of the folder where the register will be published [default: what bblock.json tells, else none]
    ///
    /// Without one, the files of the register refer to each other by relative paths.
    #[arg(long, value_name = "URL")]
    base: Option<String>,

    /// Identifier of the block [default: what bblock.json says, else the name of its folder]
    #[arg(long, value_name = "ID")]
    identifier: Option<String>,

    /// URL of a context that the block refers to, which may be fetched; repeatable
    #[arg(short, long = "context", value_name = "URL")]
    contexts: Vec<String>,

    /// Never fetch a context
    #[arg(long)]
    offline: bool,

    /// Print no summary, no losses and no notes, only what failed
    #[arg(long)]
    quiet: bool,

    #[command(flatten)]
    capture: CaptureArgs,
}

impl RegisterCommand {
    pub fn run(&self) -> Result<Outcome, Failure> {
        // A folder that is being written goes too.
        let _ = ctrlc::set_handler(|| leave());
        let Some(block) = &self.block else { return self.capture.run(&self.output, self.quiet) };
        check_folder(&self.output, [block.as_path()].into_iter())?;
        let options = RegisterOptions {
            base: self.base.clone(),
            identifier: self.identifier.clone(),
            generated: generated()?,
            contexts: self.contexts.clone(),
            offline: self.offline,
            worker: std::env::current_exe().ok(),
        };
        let block = Block::read(block)?;
        let register = Register::build(&block, &options)?;
        register.write(&self.output)?;
        if !self.quiet {
            for note in register.notes() {
                say(&format!("note: {}", printable(note)));
            }
            register.report().items.iter().for_each(say_notes);
        }
        for item in register.report().failed() {
            for reason in item.reasons() {
                say(&format!("failed: {}: {}", printable(&item.title()), printable(&reason)));
            }
        }
        let (passed, total) = (register.report().passed(), register.report().items.len());
        if !self.quiet {
            let files = register.files().len();
            let (name, output) = (printable(block.name()), shown(&self.output));
            say(&format!("{name}: {passed} of {total} passed; {files} files in {output}"));
        }
        Ok(if passed == total { Outcome::Done } else { Outcome::Findings })
    }
}

/// Says the parts of an example that are not in its graph, and the findings of shapes that are not violations.
fn say_notes(item: &ReportItem) {
    let is_note = |entry: &ReportEntry| entry.is("uplift-loss") || (entry.is("shacl-result") && !entry.is_error);
    for entry in item.entries.iter().filter(|entry| is_note(entry)) {
        say(&format!("{}: {}", printable(&item.title()), printable(&entry.message)));
    }
}

/// The time for reports, where the environment fixes it: <https://reproducible-builds.org/specs/source-date-epoch/>.
fn generated() -> Result<Option<String>, Failure> {
    let Some(seconds) = std::env::var_os("SOURCE_DATE_EPOCH") else { return Ok(None) };
    let text = seconds.to_string_lossy().into_owned();
    let seconds: i64 = text.parse().with_context(|| format!("SOURCE_DATE_EPOCH {text:?} is no number of seconds"))?;
    match rpcgraph::register::date_time(seconds) {
        Some(time) => Ok(Some(time)),
        None => bail!("SOURCE_DATE_EPOCH {text:?} is no time that can be written"),
    }
}
