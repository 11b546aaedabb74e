//! `capture`: makes a building block from logs.

use std::collections::BTreeSet;

use crate::capture::{Capture, CaptureOptions, ExampleKey, block, collection, write};
use crate::diagnostic::printable;
use crate::query::glob::regex;
use crate::register::MAX_FILE;
use crate::summary::counted;
use anyhow::bail;
use clap::Args;

use super::console::{Outcome, say};
use super::input::shown;
use super::paths::OutputPath;
use super::read::{InputArgs, all_read};
use super::target::leave_on_ctrl_c;

/// One thread reads the logs in order, so that the first of equal exchanges is chosen.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/capture.txt").trim_end())]
pub struct CaptureCommand {
    #[command(flatten)]
    input: InputArgs,

    /// Output folder: new, empty, or an earlier block or collection, which is replaced
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: OutputPath,

    /// Keep calls of a method (glob); repeatable
    #[arg(long, value_name = "GLOB", help_heading = "Filter")]
    method: Vec<String>,

    /// Keep calls of a tool (glob); repeatable
    #[arg(long, value_name = "GLOB", help_heading = "Filter")]
    tool: Vec<String>,

    /// Keep the NUMBER shortest of each method, tool and outcome
    #[arg(short = 'n', value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(help_heading = "Filter")]
    each: u32,

    /// Write a collection of real calls: a log of each call, and a manifest
    #[arg(long, help_heading = "Output")]
    collection: bool,

    /// Print only errors
    #[arg(long, help_heading = "Output")]
    quiet: bool,
}

impl CaptureCommand {
    pub fn run(&self) -> anyhow::Result<Outcome> {
        // Also removes a folder that is being written.
        leave_on_ctrl_c();
        let Self { output, quiet, .. } = self;
        let options = self.input.options()?;
        let sources = self.input.sources()?;
        let regexes = |globs: &[String]| globs.iter().map(|glob| regex(glob)).collect::<Result<Vec<_>, _>>();
        let (methods, tools) = (regexes(&self.method)?, regexes(&self.tool)?);
        let mut capture = Capture::new(CaptureOptions { methods, tools, each: self.each as usize });
        let unread = self.input.read_each(&sources, *quiet, |source, input| {
            Ok(capture.read(&source.file_name(), input.read, &options)?)
        })?;
        let examples = capture.chosen().count();
        if examples == 0 {
            let calls: Vec<_> = capture.subjects().collect();
            let tool = |call: &&ExampleKey| call.tool.clone();
            let method = |call: &&ExampleKey| call.method.clone();
            no_call("tools", &self.tool, calls.iter().filter_map(tool))?;
            no_call("methods", &self.method, calls.iter().filter_map(method))?;
            bail!(
                "found no exchange in {}{}; if the logs hold any, name their format with --from",
                counted(capture.records(), "record"),
                left_out(&capture)
            );
        }
        let files = if self.collection { collection(&capture) } else { block(&capture)? };
        if let Some((file, text)) = files.iter().find(|(_, text)| text.len() as u64 > MAX_FILE) {
            let much = text.len();
            bail!(
                "{file} would have {much} bytes, and `register` reads no more than {MAX_FILE}: leave out the log with the \
                 longest messages, or the payloads with --metadata-only"
            );
        }
        write(&files, output)?;
        if !*quiet {
            let examples = counted(examples as u64, "example");
            let records = counted(capture.records(), "record");
            say(&format!("{examples} in {}, of {records}{}", shown(output), left_out(&capture)));
        }
        all_read(unread, sources.len())?;
        Ok(Outcome::Done)
    }
}

/// Fails if there are names of tools or methods, and globs that chose among them: they matched nothing.
fn no_call(kind: &str, globs: &[String], names: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let names: BTreeSet<_> = names.collect();
    if !globs.is_empty() && !names.is_empty() {
        let names: Vec<_> = names.iter().map(|name| printable(name)).collect();
        bail!("no call of {}; the {kind} are {}", globs.join(", "), names.join(", "));
    }
    Ok(())
}

/// Lists the reasons why messages are not in an example, with the number of messages.
fn left_out(capture: &Capture) -> String {
    let reasons: Vec<_> = capture.left_out().iter().map(|(reason, count)| format!("{count} × {reason}")).collect();
    if reasons.is_empty() { String::new() } else { format!("; in no example: {}", reasons.join(", ")) }
}
