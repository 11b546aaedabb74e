//! Standard input and output, which may be closed.
//!
//! On Unix, they may have been closed when the process started. Before `main`, Rust opens `/dev/null` in place of each
//! closed stream: output would be lost silently, and input would be empty.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::bail;

use super::console::{Outcome, say};

static INPUT_CLOSED: AtomicBool = AtomicBool::new(false);
static OUTPUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before `main`, and before Rust opens anything.
#[cfg(unix)]
#[ctor::ctor]
fn look() {
    let is_closed = |fd: std::os::fd::BorrowedFd<'_>| rustix::io::fcntl_getfd(fd).is_err();
    INPUT_CLOSED.store(is_closed(std::os::fd::AsFd::as_fd(&io::stdin())), Ordering::Relaxed);
    OUTPUT_CLOSED.store(is_closed(std::os::fd::AsFd::as_fd(&io::stdout())), Ordering::Relaxed);
}

/// Fails if standard input was closed. Notes if it is a terminal.
pub fn check_input() -> anyhow::Result<()> {
    if INPUT_CLOSED.load(Ordering::Relaxed) {
        bail!("standard input is closed: name a file to read");
    }
    if io::stdin().is_terminal() {
        let end = if cfg!(windows) { "Ctrl-Z and Enter end it" } else { "Ctrl-D ends it" };
        say(&format!("note: reading standard input; {end}"));
    }
    Ok(())
}

/// Fails if standard output was closed.
pub fn check_output() -> anyhow::Result<()> {
    if OUTPUT_CLOSED.load(Ordering::Relaxed) {
        bail!("standard output is closed: nothing can be written there");
    }
    Ok(())
}

/// Writes text to standard output.
pub fn print(text: &str) -> anyhow::Result<Outcome> {
    check_output()?;
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(Outcome::Done)
}
