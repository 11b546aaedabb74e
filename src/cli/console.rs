//! The outcome of a command, and messages on standard error.

use std::error::Error;
use std::io::{self, Write as _};

use crate::diagnostic::printable;
use crate::sink::{OutputError, SinkError};
use anstyle::{AnsiColor, Style};

/// The outcome of a command that could be run.
pub enum Outcome {
    Done,
    /// Done, and there are findings.
    Findings,
}

/// Prints an error.
pub fn print_failure(failure: &anyhow::Error) {
    let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    print_line(&format!("{style}error:{style:#} {}", told(failure.as_ref())));
}

/// Formats an error and its causes, each once.
pub fn told(error: &(dyn Error + 'static)) -> String {
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

/// Escapes everything that a terminal interprets except line ends: the text may contain words of servers and files.
fn harmless(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// Prints text on standard error, without anything that a terminal interprets.
pub fn say(text: &str) {
    print_line(&harmless(text));
}

/// Prints a line on standard error. Ignores a failure, which could not be reported.
fn print_line(line: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}

/// Tests for a pipe that its reader has closed, which is not a failure.
pub fn is_closed_pipe(failure: &anyhow::Error) -> bool {
    let closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if let Some(SinkError::Io(error)) = failure.downcast_ref() {
        return closed(error);
    }
    if let Some(error) = failure.downcast_ref::<OutputError>() {
        return closed(error.cause());
    }
    failure.downcast_ref().is_some_and(closed)
}
