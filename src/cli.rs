//! The command line: parses the arguments, runs a command, and maps its outcome to an exit status.

mod answer;
mod ask;
mod bounds;
mod builtin;
mod capture;
mod check;
mod choice;
mod console;
mod convert;
mod detect;
mod filter;
mod follow;
mod format;
mod input;
mod limits;
mod load;
mod mcp;
mod messages;
mod pager;
mod progress;
mod queries;
mod query;
mod question;
mod read;
mod rebuild;
mod redact;
mod redaction;
mod register;
mod report;
mod serve;
mod shell;
mod show;
mod standard;
#[cfg(target_os = "linux")]
mod supervised;
mod target;
mod values;
mod words;

use std::io::{self, IsTerminal as _};
use std::panic;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

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

/// The groups of commands in the help.
const GROUPS: [(&str, &str); 6] = [
    ("Look", "overview timeline errors unanswered slowest methods tools problems handshake compare show"),
    ("Ask", "ask query check"),
    ("Convert", "convert load rebuild"),
    ("Share", "report serve redact mcp"),
    ("Building blocks", "register capture"),
    ("Reference", "formats detect vocab completions man"),
];

#[derive(Debug, Subcommand)]
enum Command {
    /// Show a log at a glance
    Overview(QuestionArgs),
    /// List all messages in order, with latencies
    Timeline(QuestionArgs),
    /// List failures and their causes
    Errors(QuestionArgs),
    /// List requests without an answer
    Unanswered(QuestionArgs),
    /// List the slowest requests
    Slowest(QuestionArgs),
    /// Count calls, failures and latencies by method
    Methods(QuestionArgs),
    /// Count calls, failures and latencies by tool (MCP)
    Tools(QuestionArgs),
    /// List invalid records, and messages with problems
    Problems(QuestionArgs),
    /// Show programs, versions and capabilities (MCP, LSP)
    Handshake(QuestionArgs),
    /// Show the differences between two logs
    Compare(QuestionArgs),
    /// Show messages with their requests or answers
    Show(show::ShowCommand),
    /// Answer a question, or list all questions
    Ask(queries::AskCommand),
    /// Run SPARQL over logs, RDF files, a store or a server
    Query(query::QueryCommand),
    /// Check logs against the rules of JSON-RPC, MCP and LSP
    Check(check::CheckCommand),
    /// Convert logs to RDF, tables or spans
    Convert(convert::ConvertCommand),
    /// Load logs into a SPARQL server or a store
    Load(load::LoadCommand),
    /// Write the messages of graphs or tables as JSON lines
    Rebuild(rebuild::RebuildCommand),
    /// Write an HTML page that shows logs
    Report(report::ReportCommand),
    /// Serve a live page and a SPARQL endpoint
    Serve(serve::ServeCommand),
    /// Write a log without its secrets
    Redact(redact::RedactCommand),
    /// Serve a log to agents, as an MCP server
    Mcp(mcp::McpCommand),
    /// Make the example register of a building block
    Register(register::RegisterCommand),
    /// Make a building block out of logs
    Capture(capture::CaptureCommand),
    /// List the log formats, or print one
    Formats(builtin::FormatsCommand),
    /// Explain how a log is read
    Detect(detect::DetectCommand),
    /// Print an ontology, a context, a schema or the columns of tables
    Vocab(builtin::VocabCommand),
    /// Print completions for a shell
    Completions(shell::CompletionsCommand),
    /// Print the manual page
    Man(shell::ManCommand),
    /// Work for another process of this program
    #[command(hide = true)]
    Worker,
}

/// Parses the arguments, runs the command and maps its outcome to an exit status.
pub fn run() -> ExitCode {
    exit_at_panics();
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

/// Makes a panic, which is a bug, end the process as a failure does: it prints its place, removes incomplete outputs, and
/// exits with 2. Release builds do not unwind.
fn exit_at_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        print(panic);
        leave()
    }));
}

/// Returns the parser of the arguments, with help that groups the commands.
fn program() -> clap::Command {
    let mut root = Cli::command();
    root.build();
    let header = *root.get_styles().get_header();
    let mut help = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (group, names) in GROUPS {
        help += &format!("{header}{group}:{header:#}\n");
        for command in names.split(' ').filter_map(|name| root.find_subcommand(name)) {
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
    Cli::from_arg_matches(&matches).map_err(|error| exit(&error))
}

/// Prints a usage error, or the help or version that was asked for, and exits. Fails if standard output cannot be written.
fn exit(error: &clap::Error) -> anyhow::Error {
    match error.print() {
        Err(failure) if failure.kind() != io::ErrorKind::BrokenPipe => failure.into(),
        _ => std::process::exit(error.exit_code()),
    }
}

fn run_command(command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Overview(question) => question.run("overview"),
        Command::Timeline(question) => question.run("timeline"),
        Command::Errors(question) => question.run("errors"),
        Command::Unanswered(question) => question.run("unanswered"),
        Command::Slowest(question) => question.run("slowest"),
        Command::Methods(question) => question.run("methods"),
        Command::Tools(question) => question.run("tools"),
        Command::Problems(question) => question.run("problems"),
        Command::Handshake(question) => question.run("handshake"),
        Command::Compare(question) => question.run("compare"),
        Command::Ask(command) => command.run(),
        Command::Show(command) => command.run(),
        Command::Rebuild(command) => command.run(),
        Command::Convert(command) => command.run(),
        Command::Query(mut command) => command.run(),
        Command::Check(command) => command.run(),
        Command::Load(command) => command.run(),
        Command::Register(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Serve(command) => command.run(),
        Command::Redact(command) => command.run(),
        Command::Mcp(command) => command.run(program()),
        Command::Capture(command) => command.run(),
        Command::Formats(command) => command.run(),
        Command::Detect(command) => command.run(),
        Command::Vocab(command) => command.run(),
        Command::Completions(command) => command.run(program()),
        Command::Man(command) => command.run(program()),
        Command::Worker => crate::register::worker().map(|()| Outcome::Done).map_err(anyhow::Error::from_boxed),
    }
}
