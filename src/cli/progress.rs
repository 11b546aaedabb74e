//! Progress on standard error: by default only on a terminal, and only after a second.

use std::io::{self, IsTerminal as _, Read};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::console::say;

/// When to show progress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ProgressMode {
    /// On a terminal, after a second
    #[default]
    Auto,
    /// Never
    Never,
    /// Always; off a terminal a line a second
    Always,
}

/// The unit of a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    Triples,
}

/// Counts progress, and shows it.
pub struct Meter {
    /// Hidden until it is shown on a terminal.
    bar: ProgressBar,
    unit: Unit,
    when: ProgressMode,
    last_line: Option<Instant>,
}

impl Meter {
    pub fn new(name: String, unit: Unit, size: Option<u64>, when: ProgressMode) -> Self {
        let bar = ProgressBar::with_draw_target(size, ProgressDrawTarget::hidden()).with_message(name);
        let template = match (unit, size) {
            (Unit::Bytes, Some(_)) => "{msg} {wide_bar} {bytes} of {total_bytes} ({bytes_per_sec}, {eta} left)",
            (Unit::Bytes, None) => "{msg} {spinner} {bytes} ({bytes_per_sec})",
            (Unit::Triples, _) => "{msg} {wide_bar} {human_pos} of {human_len} triples ({per_sec}, {eta} left)",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { bar, unit, when, last_line: None }
    }

    /// Adds to the count.
    pub fn add(&mut self, count: u64) {
        self.bar.inc(count);
        let terminal = io::stderr().is_terminal();
        let due = match self.when {
            ProgressMode::Never => false,
            ProgressMode::Auto => terminal && self.bar.elapsed() > Duration::from_secs(1),
            ProgressMode::Always => true,
        };
        if due && terminal && self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        } else if due && !terminal && self.last_line.is_none_or(|last| last.elapsed() > Duration::from_secs(1)) {
            self.last_line = Some(Instant::now());
            self.line();
        }
    }

    fn line(&self) {
        let unit = match self.unit {
            Unit::Bytes => "bytes",
            Unit::Triples => "triples",
        };
        let size = self.bar.length().filter(|size| *size > 0).map(|size| format!(" of {size}")).unwrap_or_default();
        say(&format!("{}: {}{size} {unit}", self.bar.message(), self.bar.position()));
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        if self.last_line.is_some() {
            self.line();
        }
    }
}

/// Counts the bytes that are read from an input.
pub struct MeteredRead<R> {
    inner: R,
    meter: Meter,
    until: Option<Instant>,
}

impl<R: Read> MeteredRead<R> {
    pub fn new(inner: R, name: String, size: Option<u64>, when: ProgressMode) -> Self {
        Self { inner, meter: Meter::new(name, Unit::Bytes, size, when), until: None }
    }

    /// Makes reading fail after a time.
    pub fn until(self, until: Option<Instant>) -> Self {
        Self { until, ..self }
    }
}

impl<R: Read> Read for MeteredRead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.until.is_some_and(|until| Instant::now() > until) {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "it takes longer than --timeout allows"));
        }
        let count = self.inner.read(buffer)?;
        self.meter.add(count as u64);
        Ok(count)
    }
}
