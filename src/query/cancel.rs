//! Ending what takes too long.

use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use oxigraph::sparql::CancellationToken;

/// Why a query was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// The user has lost interest.
    #[error("interrupted")]
    Interrupted,
    /// The time is up.
    #[error("the time is up; give it more with --timeout, or ask for less")]
    TimedOut,
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
