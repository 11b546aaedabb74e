//! Progress on standard error: by default only on a terminal, and only after a second.

use std::io::{self, IsTerminal as _, Read, Write as _};
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::console::say;
use crate::diagnostic::{display_width, printable};

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

/// A line on standard error that is replaced as often as its text changes, and removed at the end. Off a terminal it is not
/// shown.
#[derive(Default)]
pub struct StatusLine {
    /// The width of what is shown.
    width: usize,
}

impl StatusLine {
    /// Replaces the shown text. The part beyond the width of the terminal is cut off.
    pub fn show(&mut self, text: &str) {
        let mut stderr = io::stderr().lock();
        if !stderr.is_terminal() {
            return;
        }
        let columns = terminal_size::terminal_size_of(&stderr).map_or(80, |(width, _)| width.0.into());
        let mut text = printable(text).into_owned();
        while display_width(&text) >= columns {
            text.pop();
        }
        // Blanks rather than escape sequences, which some terminals lack.
        let width = display_width(&text);
        let rest = " ".repeat(self.width.saturating_sub(width));
        let _ = write!(stderr, "\r{text}{rest}\r");
        self.width = width;
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        if self.width > 0 {
            self.show("");
        }
    }
}

/// Counts progress, and shows it.
pub struct Meter {
    name: String,
    unit: Unit,
    count: u64,
    size: Option<u64>,
    when: ProgressMode,
    start: Instant,
    /// The time at which the count was last shown.
    shown: Option<Instant>,
    status: StatusLine,
}

impl Meter {
    pub fn new(name: String, unit: Unit, size: Option<u64>, when: ProgressMode) -> Self {
        let (size, start) = (size.filter(|size| *size > 0), Instant::now());
        Self { name, unit, count: 0, size, when, start, shown: None, status: StatusLine::default() }
    }

    /// Adds to the count.
    pub fn add(&mut self, count: u64) {
        self.count += count;
        let terminal = io::stderr().is_terminal();
        let due = match self.when {
            ProgressMode::Never => false,
            ProgressMode::Auto => terminal && self.start.elapsed() > Duration::from_secs(1),
            ProgressMode::Always => true,
        };
        let pause = Duration::from_millis(if terminal { 100 } else { 1000 });
        if due && self.shown.is_none_or(|shown| shown.elapsed() > pause) {
            self.shown = Some(Instant::now());
            if terminal { self.status.show(&self.status()) } else { self.line() }
        }
    }

    /// Describes the progress to people, the name last, since the end of a long line is cut off.
    fn status(&self) -> String {
        let amount = |count| match self.unit {
            Unit::Bytes => format!("{:.1} MB", count as f64 / 1e6),
            Unit::Triples => format!("{count} triples"),
        };
        let done = match self.size {
            Some(size) => {
                let share = (self.count as f64 / size as f64).min(1.0);
                let left = self.start.elapsed().as_secs_f64() * (1.0 - share) / share.max(f64::MIN_POSITIVE);
                format!("{:.0} % of {}, {left:.0} s left", 100.0 * share, amount(size))
            }
            None => amount(self.count),
        };
        format!("{done}: {}", self.name)
    }

    fn line(&self) {
        let unit = match self.unit {
            Unit::Bytes => "bytes",
            Unit::Triples => "triples",
        };
        let size = self.size.map(|size| format!(" of {size}")).unwrap_or_default();
        say(&format!("{}: {}{size} {unit}", self.name, self.count));
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if self.shown.is_some() && !io::stderr().is_terminal() {
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
