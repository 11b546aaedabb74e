//! The command line: parses the arguments, runs a command, and maps its outcome to an exit status.

mod answer;
mod ask;
mod bounds;
mod builtin;
mod capture;
mod check;
mod choice;
mod column_names;
mod console;
mod convert;
mod detect;
mod fail_if;
mod filter;
mod follow;
mod format;
mod incident;
mod input;
mod judging;
mod limits;
mod listed;
mod load;
mod mcp;
mod messages;
mod overdue;
mod pager;
mod paths;
mod progress;
mod queries;
mod query;
mod question;
mod read;
mod record;
mod redact;
mod redaction;
mod register;
mod repeated;
mod report;
mod screen;
mod serve;
mod shell;
mod show;
#[cfg(target_os = "linux")]
mod supervised;
mod target;
mod values;
mod words;

use std::io::{self, IsTerminal as _};
use std::panic;
use std::process::ExitCode;
use std::thread;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

pub(crate) use self::console::told;
use self::console::{Outcome, is_closed_pipe, print_failure};
use self::queries::QuestionArgs;
use self::target::leave;

/// Turn captured JSON-RPC traffic into RDF.
///
/// Reads logs of JSON-RPC messages (MCP, LSP, Ethereum, any JSON-RPC), pairs requests with their answers, and writes a graph in
/// the terms of the OGC building block "JSON-RPC".
#[derive(Debug, Parser)]
#[command(name = "rpcgraph", version, max_term_width = 100, after_long_help = EXIT_STATUS)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_STATUS: &str = "\
Exit status:
  0  done
  1  done, and there are findings that the options ask about
  2  not done: usage, input, output or network error";

/// Defines the commands: for each group of the help, a row for each command, with its help, its name, its arguments, and
/// how it runs.
macro_rules! commands {
    ($($group:literal: $($(#[doc = $help:literal])+ $name:ident($arguments:ty) = $run:expr,)+)+) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($($(#[doc = $help])+ $name($arguments),)+)+
            /// Work for another process of this program
            #[command(hide = true)]
            Worker,
        }

        /// The groups of commands, and the names of their variants.
        const GROUPS: &[(&str, &[&str])] = &[$(($group, &[$(stringify!($name)),+])),+];

        fn run_command(command: Command) -> anyhow::Result<Outcome> {
            match command {
                $($(Command::$name(arguments) => {
                    let run: fn($arguments) -> anyhow::Result<Outcome> = $run;
                    run(arguments)
                })+)+
                Command::Worker => crate::register::worker().map(|()| Outcome::Done).map_err(anyhow::Error::from_boxed),
            }
        }
    };
}

commands! {
    "Record":
    /// Run a server, and record its session
    Record(record::RecordCommand) = |command| command.run(),
    "Look":
    /// Show a log at a glance
    Overview(QuestionArgs) = |mut question| question.run("overview"),
    /// Tell the story of the worst incident of a log
    Incident(incident::IncidentCommand) = |mut command| command.run(),
    /// List all messages in order, with latencies
    Timeline(QuestionArgs) = |mut question| question.run("timeline"),
    /// List failures and their causes
    Errors(QuestionArgs) = |mut question| question.run("errors"),
    /// List requests without an answer
    Unanswered(QuestionArgs) = |mut question| question.run("unanswered"),
    /// List the slowest requests
    Slowest(QuestionArgs) = |mut question| question.run("slowest"),
    /// Count calls, failures and latencies by method
    Methods(QuestionArgs) = |mut question| question.run("methods"),
    /// Count calls, failures and latencies by tool (MCP)
    Tools(QuestionArgs) = |mut question| question.run("tools"),
    /// List invalid records, and messages with problems
    Problems(QuestionArgs) = |mut question| question.run("problems"),
    /// Show programs, versions and capabilities (MCP, LSP)
    Handshake(QuestionArgs) = |mut question| question.run("handshake"),
    /// Show the differences between two logs
    ///
    /// The first log is `a`, all others together are `b`.
    Compare(QuestionArgs) = |mut question| question.run("compare"),
    /// Show messages with their requests or answers
    Show(show::ShowCommand) = |command| command.run(),
    "Ask":
    /// Answer a question, or list all questions
    Ask(queries::AskCommand) = |mut command| command.run(),
    /// Run SPARQL over logs, RDF files, a store or a server
    Query(query::QueryCommand) = |mut command| command.run(),
    /// Check logs against the rules of JSON-RPC, MCP and LSP
    Check(check::CheckCommand) = |command| command.run(),
    "Convert":
    /// Convert logs to RDF, tables or spans
    Convert(convert::ConvertCommand) = |command| command.run(),
    /// Load logs into a SPARQL server or a store
    Load(load::LoadCommand) = |command| command.run(),
    "Share":
    /// Write an HTML page that shows logs
    Report(report::ReportCommand) = |command| command.run(),
    /// Serve a live page and a SPARQL endpoint
    Serve(serve::ServeCommand) = |command| command.run(),
    /// Write a log without its secrets
    Redact(redact::RedactCommand) = |command| command.run(),
    /// Serve a log to agents, as an MCP server
    Mcp(mcp::McpCommand) = |command| command.run(program()),
    "Building blocks":
    /// Make the example register of a building block
    Register(register::RegisterCommand) = |command| command.run(),
    /// Make a building block out of logs
    Capture(capture::CaptureCommand) = |command| command.run(),
    "Reference":
    /// List the log formats, or print one
    Formats(builtin::FormatsCommand) = |command| command.run(),
    /// Explain how a log is read
    Detect(detect::DetectCommand) = |command| command.run(),
    /// Print an ontology, a context, a schema or the columns of tables
    Vocab(builtin::VocabCommand) = |command| command.run(),
    /// Print completions for a shell
    Completions(shell::CompletionsCommand) = |command| command.run(program()),
    /// Print the manual page
    Man(shell::ManCommand) = |command| command.run(program()),
}

/// Parses the arguments, runs the command and maps its outcome to an exit status.
pub fn run() -> ExitCode {
    exit_at_panics();
    if std::env::var_os(crate::mcp::ENDS_WITH_SERVER).is_some() {
        end_with_server();
    }
    let outcome = parse().and_then(|cli| run_command(cli.command));
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Err(failure) if is_closed_pipe(&failure) => ExitCode::SUCCESS,
        Err(failure) => {
            print_failure(&failure);
            ExitCode::from(2)
        }
    }
}

/// Makes a panic, which is a bug or a damaged table, end the process as a failure does: it prints its place, removes
/// incomplete outputs, and exits with 2. Release builds do not unwind.
fn exit_at_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        match crate::rebuild::error_of_panic() {
            Some(damage) => print_failure(&damage.into()),
            None => print(panic),
        }
        leave()
    }));
}

/// Ends the process with the server that started it: standard input ends, however the server does.
fn end_with_server() {
    let _ = thread::Builder::new().spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        leave()
    });
}

/// Returns the parser of the arguments, with help that groups the commands.
fn program() -> clap::Command {
    let mut root = Cli::command();
    root.build();
    let header = *root.get_styles().get_header();
    let mut help = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (group, names) in GROUPS {
        help += &format!("{header}{group}:{header:#}\n");
        for command in names.iter().filter_map(|name| root.find_subcommand(name.to_lowercase())) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            help += &format!("  {:<13}{about}\n", command.get_name());
        }
    }
    help += &format!("{header}Options:{header:#}\n{{options}}{{after-help}}");
    root.help_template(help)
}

/// Parses the arguments.
fn parse() -> anyhow::Result<Cli> {
    let mut root = program();
    let arguments = words::with_command(std::env::args_os().collect(), &root, io::stdin().is_terminal())?;
    let matches = root.try_get_matches_from_mut(arguments.iter()).map_err(|mut error| {
        words::suggest_option(&mut error, &arguments, &root);
        exit(&error)
    })?;
    if let Some((command, matches)) = matches.subcommand().and_then(|(name, m)| Some((root.find_subcommand(name)?, m)))
    {
        words::check_used(command, matches)?;
        paths::check(command, matches)?;
    }
    Cli::from_arg_matches(&matches).map_err(|error| exit(&error))
}

/// Prints a usage error, or the help or version that was asked for, and exits. Fails if standard output cannot be written.
fn exit(error: &clap::Error) -> anyhow::Error {
    match error.print() {
        Err(failure) if failure.kind() != io::ErrorKind::BrokenPipe => failure.into(),
        _ => std::process::exit(error.exit_code()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// The command may follow its options, so that whether a word is an option's value must not depend on the command.
    #[test]
    fn an_option_takes_a_value_in_all_commands_or_in_none() {
        let root = program();
        let mut known = HashMap::new();
        for command in root.get_subcommands() {
            for arg in command.get_arguments() {
                let names = [arg.get_long().map(str::to_owned), arg.get_short().map(String::from)];
                for name in names.into_iter().flatten() {
                    let takes = arg.get_action().takes_values();
                    let before = *known.entry(name.clone()).or_insert(takes);
                    assert_eq!(before, takes, "{name} of {}", command.get_name());
                }
            }
        }
        assert!(known.len() > 80, "{}", known.len());
    }
}
