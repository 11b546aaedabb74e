//! The pager, which shows long text on a terminal. As in git, it is `PAGER`, else `less`, which exits by itself if the
//! text fits the screen.

use std::io::{self, IsTerminal as _, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::sink::Output;

static OPEN: AtomicBool = AtomicBool::new(false);

/// True if a pager is open, which handles Ctrl-C itself.
pub fn is_open() -> bool {
    OPEN.load(Ordering::Relaxed)
}

/// True if standard output is a terminal that understands escape sequences.
pub fn is_able() -> bool {
    io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// True if standard output is such a terminal, and NO_COLOR is not set.
pub fn is_coloured() -> bool {
    is_able() && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty())
}

/// Returns the width of standard output: the terminal's, or what `COLUMNS` states for a pipe; `None` without either.
pub fn width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return std::env::var("COLUMNS").ok()?.parse().ok();
    }
    terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into()).or(Some(80))
}

/// A running pager; dropping it waits until the pager exits.
pub struct Pager(Child);

/// Returns an output that shows text on an [able](is_able) terminal: a pager, if `may_be` allows it and one is found,
/// or the terminal itself. `wide` allows lines wider than the screen; `escaped` is for [`Output::shown`].
pub fn shown(may_be: bool, wide: bool, escaped: Option<bool>) -> (Option<Pager>, Output) {
    match may_be.then(|| Pager::start(wide)).flatten() {
        Some((pager, input)) => (Some(pager), Output::shown(input, escaped)),
        None => (None, Output::shown(io::stdout(), escaped)),
    }
}

impl Pager {
    fn start(wide: bool) -> Option<(Self, ChildStdin)> {
        let named = std::env::var("PAGER").ok();
        let pager = named.as_deref().map_or("less", str::trim);
        // The shell would take the text of a pager that is not there.
        let program = pager.split_whitespace().next().filter(|_| pager != "cat")?;
        let mut found = Command::new("sh");
        found.args(["-c", "command -v -- \"$1\"", "sh", program]).stdout(Stdio::null()).stderr(Stdio::null());
        if !program.contains('=') && !found.status().ok()?.success() {
            return None;
        }
        let mut command = Command::new("sh");
        command.args(["-c", pager]).stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            command.env("LESS", if wide { "FRSX" } else { "FRX" });
        }
        if std::env::var_os("LESSCHARSET").is_none() {
            command.env("LESSCHARSET", "utf-8");
        }
        let mut child = command.spawn().ok()?;
        let input = child.stdin.take()?;
        OPEN.store(true, Ordering::Relaxed);
        Some((Self(child), input))
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        let _ = io::stdout().flush();
        let _ = self.0.wait();
        OPEN.store(false, Ordering::Relaxed);
    }
}
