//! Ending what takes too long.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

use oxigraph::sparql::CancellationToken;

use super::answer::QueryError;

/// Why a query was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Whoever asked has lost interest.
    Interrupted,
    /// The time is up.
    TimedOut,
}

/// A switch that ends loading and answering, from any thread. Clones are the same switch.
#[derive(Clone, Default)]
pub struct Cancel {
    token: CancellationToken,
    cause: Arc<AtomicU8>,
}

const INTERRUPTED: u8 = 1;
const TIMED_OUT: u8 = 2;

impl Cancel {
    /// Ends what runs under this switch, soon. The first cause stays.
    pub fn cancel(&self, cause: Cause) {
        let cause = match cause {
            Cause::Interrupted => INTERRUPTED,
            Cause::TimedOut => TIMED_OUT,
        };
        let _ = self.cause.compare_exchange(0, cause, Ordering::AcqRel, Ordering::Acquire);
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
        match self.cause.load(Ordering::Acquire) {
            INTERRUPTED => Some(Cause::Interrupted),
            TIMED_OUT => Some(Cause::TimedOut),
            _ => None,
        }
    }

    /// Fails once it was ended.
    pub fn check(&self) -> Result<(), QueryError> {
        self.cause().map_or(Ok(()), |cause| Err(QueryError::Ended(cause)))
    }

    pub(super) fn token(&self) -> CancellationToken {
        self.token.clone()
    }
}
