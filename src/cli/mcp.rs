//! `mcp`: a log as an MCP server on standard input and output.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use crate::mcp::{McpOptions, serve};
use clap::parser::ValueSource;
use clap::{Args, Command};

use super::console::Outcome;
use super::input::is_stdin;
use super::read::ReadArgs;
use super::values::{parse_seconds, parse_size};

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/mcp.txt").trim_end())]
pub struct McpCommand {
    #[command(flatten)]
    read: ReadArgs,

    /// Let calls name logs in this folder, too; repeatable
    #[arg(long, value_name = "DIR", help_heading = "Server")]
    allow: Vec<PathBuf>,

    /// Answer with at most N characters
    #[arg(long, value_name = "N", default_value_t = 8000, help_heading = "Server")]
    #[arg(value_parser = clap::value_parser!(u32).range(3000..))]
    budget: u32,

    /// Stop a call after SECONDS
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds, help_heading = "Server")]
    timeout: Duration,

    /// Stop a call at SIZE bytes of memory; K, M and G stand for KiB, MiB and GiB
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_size, help_heading = "Server")]
    max_memory: usize,
}

/// The options of this command that the commands of calls do not have, or have from the server.
const OWN: [&str; 8] = ["inputs", "allow", "budget", "timeout", "max_memory", "progress", "offline", "help"];

impl McpCommand {
    pub fn run(&self, root: Command) -> anyhow::Result<Outcome> {
        let input = &self.read.input;
        if input.inputs.iter().any(|input| is_stdin(input)) {
            anyhow::bail!("standard input carries the messages of MCP: name a file");
        }
        let absolute = |path: &PathBuf| std::path::absolute(path);
        let of_questions = of_questions(&root);
        let (mut options, graph_options) = forwarded(root);
        // One key for the processes of all calls.
        let key_file = input.format.redact.random_key_file()?;
        if let Some(file) = &key_file {
            options.push([OsStr::new("--key-file="), file.path().as_os_str()].join(OsStr::new("")));
        }
        let options = McpOptions {
            program: std::env::current_exe()?,
            options,
            graph_options,
            of_questions,
            redactor: input.format.redact.of_processes(key_file.as_ref().map(|file| file.path()))?,
            inputs: input.inputs.iter().map(absolute).collect::<Result<_, _>>()?,
            allowed: self.allow.clone(),
            budget: usize::try_from(self.budget)?,
            timeout: self.timeout.as_secs_f64(),
            memory: self.max_memory,
        };
        serve(options).map_err(anyhow::Error::from_boxed)?;
        Ok(Outcome::Done)
    }
}

/// Returns the filters, groups and orders of questions, with their help.
fn of_questions(root: &Command) -> Vec<(String, String)> {
    let options = root.find_subcommand("ask").into_iter().flat_map(Command::get_arguments);
    let options = options.filter_map(|option| Some((option.get_long()?, option)));
    options
        .filter(|(name, option)| option.get_help_heading() == Some("Filter") || ["by", "sort"].contains(name))
        .map(|(name, option)| (name.to_owned(), option.get_help().map(ToString::to_string).unwrap_or_default()))
        .collect()
}

/// Returns the options of the command line that say how logs are read, and those that say how they become a graph. `show`
/// has the former alone.
fn forwarded(root: Command) -> (Vec<OsString>, Vec<OsString>) {
    let (Some(command), Some(show)) = (root.find_subcommand("mcp").cloned(), root.find_subcommand("show").cloned())
    else {
        return Default::default();
    };
    let matches = root.get_matches();
    let Some(matches) = matches.subcommand_matches("mcp") else { return Default::default() };
    let given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    let options = command.get_arguments().filter(|option| !OWN.contains(&option.get_id().as_str()));
    let (mut of_logs, mut of_graphs) = (Vec::new(), Vec::new());
    for option in options.filter(|option| given(option.get_id().as_str())) {
        let is_shown = show.get_arguments().any(|shown| shown.get_id() == option.get_id());
        let forwarded = if is_shown { &mut of_logs } else { &mut of_graphs };
        let flag = OsString::from(format!("--{}", option.get_long().unwrap_or_default()));
        if !option.get_action().takes_values() {
            forwarded.push(flag);
            continue;
        }
        let values = matches.get_raw(option.get_id().as_str()).into_iter().flatten();
        forwarded.extend(values.map(|value| [flag.as_os_str(), value].join(OsStr::new("="))));
    }
    (of_logs, of_graphs)
}
