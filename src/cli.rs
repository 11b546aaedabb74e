//! The command line: what the user typed, and how outcomes become exit statuses.

mod answer;
mod ask;
mod builtin;
mod choice;
mod convert;
mod explain;
mod filter;
mod follow;
mod format;
mod input;
mod load;
mod messages;
mod pager;
mod progress;
mod queries;
mod query;
mod read;
mod rebuild;
mod register;
mod register_capture;
mod report;
mod serve;
mod shell;
mod show;
mod standard;
#[cfg(target_os = "linux")]
mod supervised;
mod target;
mod words;

use std::error::Error;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::{CommandFactory as _, Parser, Subcommand};
use rpcgraph::diagnostic::printable;
use rpcgraph::sink::{OutputError, SinkError};

use self::queries::QuestionArgs;

/// Turn captured JSON-RPC traffic into RDF.
///
/// Reads logs of JSON-RPC messages (MCP, LSP, Ethereum, any JSON-RPC), pairs requests with what answers them, and
/// writes a graph in the terms of the OGC building block "JSON-RPC".
#[derive(Debug, Parser)]
#[command(name = "rpcgraph", version, about, long_about, max_term_width = 100, after_help = EXIT_STATUS)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_STATUS: &str = "\
Exit status:
  0  done
  1  done, and there are findings that the options ask about
  2  not done: usage, input, output or network error";

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
    /// List invalid records and messages with problems
    Problems(QuestionArgs),
    /// Show programs, versions and capabilities (MCP, LSP)
    Handshake(QuestionArgs),
    /// Show the differences between two logs
    Compare(QuestionArgs),
    /// Answer a question by its name
    Ask(queries::AskCommand),
    /// Show messages as they were, with their requests or answers
    Show(show::ShowCommand),
    /// Convert logs to RDF
    Convert(convert::Convert),
    /// Run SPARQL over logs, RDF files, a store or a server
    Query(query::QueryCommand),
    /// List the questions, or print one
    Queries(queries::QueriesCommand),
    /// Print the messages of graphs as JSON lines
    Rebuild(rebuild::RebuildCommand),
    /// Load logs into a SPARQL server or a store
    Load(load::Load),
    /// Make the example register of a building block
    Register(register::RegisterCommand),
    /// Write an HTML page that shows logs
    Report(report::ReportCommand),
    /// Serve that page live, with a SPARQL endpoint
    Serve(serve::ServeCommand),
    /// Print a built-in JSON-LD context or JSON Schema
    Context(builtin::ContextCommand),
    /// Print the built-in ontologies
    Ontology(builtin::OntologyCommand),
    /// List the log formats, print one, or explain a log
    Formats(builtin::FormatsCommand),
    /// Print completions for a shell
    Completions(shell::Completions),
    /// Print the manual page
    Man(shell::Man),
    /// Work for another process of this program
    #[command(hide = true)]
    Worker,
}

/// How a command ended that could be run.
enum Outcome {
    Done,
    /// Done, and there are findings.
    Findings,
}

/// Why a command could not be run.
type Failure = anyhow::Error;

/// Parses the arguments, runs the command and maps what came of it to an exit status.
pub fn run() -> ExitCode {
    let outcome = parse().and_then(|cli| run_command(&cli.command));
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

/// What the user typed.
fn parse() -> Result<Cli, Failure> {
    let mut root = Cli::command();
    root.build();
    let arguments = words::with_command(std::env::args_os().collect(), &root, io::stdin().is_terminal())?;
    Ok(Cli::parse_from(arguments))
}

fn run_command(command: &Command) -> Result<Outcome, Failure> {
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
        Command::Query(command) => command.run(),
        Command::Queries(command) => command.run(),
        Command::Load(command) => command.run(),
        Command::Register(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Serve(command) => command.run(),
        Command::Context(command) => command.run(),
        Command::Ontology(command) => command.run(),
        Command::Formats(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
        Command::Worker => rpcgraph::register::worker().map(|()| Outcome::Done).map_err(Failure::from_boxed),
    }
}

/// Says what went wrong.
fn print_failure(failure: &Failure) {
    let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    print_line(&format!("{style}error:{style:#} {}", told(failure.as_ref())));
}

/// An error and its causes, each once.
fn told(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    for cause in anyhow::Chain::new(error) {
        let cause = harmless(&cause.to_string());
        // Some errors of other crates repeat their cause in their own text.
        if !text.ends_with(&cause) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&cause);
        }
    }
    text
}

/// The text with its line ends, and nothing else in it that a terminal obeys: words of servers and files may be among it.
fn harmless(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// Says something on standard error, with nothing in it that a terminal obeys.
fn say(text: &str) {
    print_line(&harmless(text));
}

/// Prints a line on standard error; there is nobody to tell if that fails.
fn print_line(line: &str) {
    use io::Write as _;
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}

/// Whether the reader of the output has left, which is its right.
fn is_closed_pipe(failure: &Failure) -> bool {
    let closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if let Some(SinkError::Io(error)) = failure.downcast_ref() {
        return closed(error);
    }
    if let Some(error) = failure.downcast_ref::<OutputError>() {
        return closed(error.cause());
    }
    failure.downcast_ref().is_some_and(closed)
}

/// Writes text to standard output.
fn print(text: &str) -> Result<Outcome, Failure> {
    use io::Write as _;
    standard::check_output()?;
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(Outcome::Done)
}
