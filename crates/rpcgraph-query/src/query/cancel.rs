//! Cancelling queries that take too much time or memory.

use std::sync::{Arc, OnceLock};
use std::time::Duration;
use std::{fs, thread};

use oxigraph::sparql::CancellationToken;

/// The reason why a query was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// The user interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// The time limit was exceeded.
    #[error("time limit exceeded; raise --timeout, or ask for less")]
    TimedOut,
    /// The memory limit was exceeded.
    #[error("memory limit exceeded; raise --max-memory, or ask for less: fewer properties, fewer rows, no payloads")]
    OutOfMemory,
}

/// A switch that cancels loading and answering, from any thread. Clones share the switch.
#[derive(Clone, Default)]
pub struct Cancel {
    token: CancellationToken,
    cause: Arc<OnceLock<Cause>>,
}

impl Cancel {
    /// Cancels the work under this switch soon. The first cause stays.
    pub fn cancel(&self, cause: Cause) {
        let _ = self.cause.set(cause);
        self.token.cancel();
    }

    /// Cancels after a time from now.
    pub fn after(&self, time: Duration) {
        let cancel = self.clone();
        // The thread only sleeps; the process does not wait for it.
        let _ = thread::Builder::new().stack_size(64 << 10).spawn(move || {
            thread::sleep(time);
            cancel.cancel(Cause::TimedOut);
        });
    }

    /// Cancels once the process has more than `bytes` of memory, if the system reports it (Linux does).
    pub fn beyond(&self, bytes: u64) {
        let cancel = self.clone();
        let _ = thread::Builder::new().stack_size(64 << 10).spawn(move || {
            while cancel.cause().is_none() {
                let Some(resident) = resident_bytes() else { return };
                if resident > bytes {
                    cancel.cancel(Cause::OutOfMemory);
                }
                thread::sleep(Duration::from_millis(10));
            }
        });
    }

    /// Returns the cause if cancelled.
    pub fn cause(&self) -> Option<Cause> {
        self.cause.get().copied()
    }

    /// Fails once cancelled.
    pub fn check(&self) -> Result<(), Cause> {
        self.cause().map_or(Ok(()), Err)
    }

    pub(super) fn token(&self) -> CancellationToken {
        self.token.clone()
    }
}

/// Returns the resident memory of the process in bytes, as Linux reports it (proc(5)).
pub fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.strip_suffix("kB")?.trim().parse().ok());
    kilobytes.map(|kilobytes: u64| kilobytes * 1024)
}
