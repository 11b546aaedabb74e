//! Limits of time and memory for queries, and Ctrl-C.

use std::thread;
use std::time::{Duration, Instant};

use crate::query::{Cancel, Cause, QueryError, resident_bytes};
use anyhow::Context as _;
use clap::Args;

use super::console::{print_failure, say};
use super::pager;
use super::target::leave;
use super::values::{parse_seconds, parse_size};

#[derive(Debug, Args)]
pub struct LimitArgs {
    /// Stop after SECONDS
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, hide_short_help = true)]
    pub timeout: Option<Duration>,

    /// Stop at SIZE bytes of memory; K, M and G stand for KiB, MiB and GiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size, hide_short_help = true)]
    max_memory: Option<usize>,
}

/// The time that a cancelled query has to end by itself before the process exits.
const GRACE: Duration = Duration::from_millis(500);

impl LimitArgs {
    /// Returns the switch that cancels the query, on Ctrl-C or after the timeout.
    pub fn cancel(&self) -> anyhow::Result<Cancel> {
        let cancel = Cancel::default();
        let interrupted = cancel.clone();
        ctrlc::set_handler(move || {
            // Cancelled already: the user does not want to wait.
            if interrupted.cause().is_some() && !pager::is_open() {
                leave();
            }
            interrupted.cancel(Cause::Interrupted);
            // With a pager, the answer ends when the pager is closed.
            if pager::is_open() {
                return;
            }
            leave_after(GRACE, Cause::Interrupted);
        })
        .context("cannot listen for Ctrl-C")?;
        self.bound(&cancel);
        Ok(cancel)
    }

    /// Sets the limits of time and memory for a query.
    pub fn bound(&self, cancel: &Cancel) {
        if let Some(time) = self.timeout {
            cancel.after(time);
            leave_after(time.saturating_add(GRACE), Cause::TimedOut);
        }
        if let Some(bytes) = self.max_memory {
            if resident_bytes().is_none() {
                say("warning: --max-memory is ignored: this system does not say how much memory a process has");
            }
            cancel.beyond(bytes as u64);
            leave_beyond(bytes as u64 * 2, cancel.clone());
        }
    }
}

/// Exits the process once it has a much larger amount of memory than its limit, or has not ended after its limit.
fn leave_beyond(bytes: u64, cancel: Cancel) {
    let _ = thread::Builder::new().spawn(move || {
        let mut cancelled: Option<Instant> = None;
        while let Some(resident) = resident_bytes() {
            if cancel.cause() == Some(Cause::OutOfMemory) {
                cancelled.get_or_insert_with(Instant::now);
            }
            if resident > bytes || cancelled.is_some_and(|since| since.elapsed() > GRACE) {
                print_failure(&QueryError::Ended(Cause::OutOfMemory).into());
                leave();
            }
            thread::sleep(Duration::from_millis(5));
        }
    });
}

/// Exits the process after a time, if the query has not ended by then.
fn leave_after(time: Duration, cause: Cause) {
    let _ = thread::Builder::new().spawn(move || {
        thread::sleep(time);
        print_failure(&QueryError::Ended(cause).into());
        leave();
    });
}
