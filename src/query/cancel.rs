//! Ending what takes too long.

use std::sync::{Arc, OnceLock};
use std::time::Duration;
use std::{fs, thread};

use oxigraph::sparql::CancellationToken;

/// Why a query was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// The user has lost interest.
    #[error("interrupted")]
    Interrupted,
    /// The time is up.
    #[error("time limit exceeded; raise --timeout, or ask for less")]
    TimedOut,
    /// The memory limit was exceeded.
    #[error("memory limit exceeded; raise --max-memory, or ask for less: fewer properties, fewer rows, no payloads")]
    OutOfMemory,
}

/// A switch that ends loading and answering, from any thread. Clones are the same switch.
#[derive(Clone, Default)]
pub struct Cancel {
    token: CancellationToken,
    cause: Arc<OnceLock<Cause>>,
}

impl Cancel {
    /// Ends what runs under this switch, soon. The first cause stays.
    pub fn cancel(&self, cause: Cause) {
        let _ = self.cause.set(cause);
        self.token.cancel();
    }

    /// Ends it after a time, counted from now.
    pub fn after(&self, time: Duration) {
        let cancel = self.clone();
        // A thread that only sleeps; the process does not wait for it.
        let _ = thread::Builder::new().stack_size(64 << 10).spawn(move || {
            thread::sleep(time);
            cancel.cancel(Cause::TimedOut);
        });
    }

    /// Ends it once the process has more than so many bytes of memory, where the system tells (Linux does).
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

    /// Why it was ended, if it was.
    pub fn cause(&self) -> Option<Cause> {
        self.cause.get().copied()
    }

    /// Fails once it was ended.
    pub fn check(&self) -> Result<(), Cause> {
        self.cause().map_or(Ok(()), Err)
    }

    pub(super) fn token(&self) -> CancellationToken {
        self.token.clone()
    }
}

/// The memory of the process that is not swapped out, as Linux tells it (proc(5)).
pub fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.strip_suffix("kB")?.trim().parse().ok());
    kilobytes.map(|kilobytes: u64| kilobytes * 1024)
}
