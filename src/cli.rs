//! The command line: what the user typed, and how outcomes become exit statuses.

mod builtin;
mod convert;
mod input;
mod progress;
mod shell;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::{Args, Parser, Subcommand, ValueEnum};
use rpcgraph::context::{self, Context, Loader};
use rpcgraph::convert::ConvertError;
use rpcgraph::record::{Format, ReaderOptions};
use rpcgraph::sink::{OutputError, SinkError};

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
    /// Convert logs to RDF
    Convert(convert::Convert),
    /// Print a built-in JSON-LD context, or the JSON Schema it is annotated in
    Context(builtin::ContextCommand),
    /// Print the built-in ontologies
    Ontology(builtin::OntologyCommand),
    /// List the log formats that are understood
    Formats(builtin::FormatsCommand),
    /// Print completions for a shell
    Completions(shell::Completions),
    /// Print the manual page
    Man(shell::Man),
}

/// Options of every command that reads logs.
#[derive(Debug, Args)]
struct ReadArgs {
    /// Logs to read, compressed or not; `-` or none for standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Format of the logs [default: detected from their content]
    #[arg(short, long, value_name = "NAME", value_parser = parse_format)]
    from: Option<Format>,

    /// How messages become triples
    #[arg(short, long, value_name = "NAME", value_enum, default_value_t)]
    mapping: MappingName,

    /// A further JSON-LD context, a file or a URL, applied after the built-in ones; repeatable
    #[arg(short, long = "context", value_name = "FILE|URL")]
    contexts: Vec<String>,

    /// IRI of the session; with several inputs, what their names are resolved against
    ///
    /// Without it, a session's IRI is the `file:` IRI of its input, `urn:rpcgraph:stdin` for standard input.
    #[arg(long, value_name = "IRI")]
    base: Option<String>,

    /// Never fetch a context
    #[arg(long)]
    offline: bool,

    /// Skip records that are longer, in bytes; K, M and G stand for KiB, MiB and GiB
    #[arg(long, value_name = "N", default_value = "256M", value_parser = parse_size)]
    max_record_size: usize,

    /// Use at most N threads [default: one for each processor]; the output is the same for any N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// When to show progress on standard error: `auto` is on a terminal, after a second
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    progress: progress::When,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum MappingName {
    /// Sessions, exchanges, times and problems; nothing lost
    #[default]
    Session,
    /// The building block to the letter: every message by itself under its context
    Bblock,
}

impl From<MappingName> for rpcgraph::mapping::Mapping {
    fn from(name: MappingName) -> Self {
        match name {
            MappingName::Session => Self::Session,
            MappingName::Bblock => Self::Bblock,
        }
    }
}

impl ReadArgs {
    fn reader_options(&self) -> ReaderOptions {
        ReaderOptions { format: self.from, max_record_size: self.max_record_size }
    }

    fn jobs(&self) -> usize {
        match self.jobs {
            Some(jobs) => jobs.into(),
            None => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    fn load_contexts(&self) -> Result<Vec<Context>, Failure> {
        let loader = Loader::new().offline(self.offline);
        let load = |argument: &String| loader.load(&context::Reference::parse(argument));
        Ok(self.contexts.iter().map(load).collect::<Result<_, _>>()?)
    }
}

fn parse_format(name: &str) -> Result<Format, String> {
    Format::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        format!("there is no such format; there are {}", names.join(", "))
    })
}

fn parse_size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let unit = text.get(digits.len()..).unwrap_or_default().to_ascii_lowercase();
    let factor = match unit.as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return Err("expected a number of bytes such as 65536, 64K, 16M or 1G".to_owned()),
    };
    let size = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(factor));
    size.filter(|size| *size > 0).ok_or_else(|| "expected a number of bytes such as 65536, 64K, 16M or 1G".to_owned())
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
    let cli = Cli::parse();
    let outcome = match cli.command {
        Command::Convert(command) => command.run(),
        Command::Context(command) => command.run(),
        Command::Ontology(command) => command.run(),
        Command::Formats(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    };
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

/// Says what went wrong, each cause once.
fn print_failure(failure: &Failure) {
    let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let mut text = String::new();
    for cause in failure.chain() {
        let cause = cause.to_string();
        // Some errors repeat their cause in their own text.
        if !text.ends_with(&cause) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&cause);
        }
    }
    say(&format!("{style}error:{style:#} {text}"));
}

/// Prints a line on standard error; there is nobody to tell if that fails.
fn say(line: &str) {
    use io::Write as _;
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}

/// Whether whoever read the output has left, which is their right.
fn is_closed_pipe(failure: &Failure) -> bool {
    let closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if let Some(ConvertError::Sink(SinkError::Io(error))) = failure.downcast_ref() {
        return closed(error);
    }
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
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(Outcome::Done)
}
