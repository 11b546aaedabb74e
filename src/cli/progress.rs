//! Progress on standard error: by default only on a terminal, and only after a second.

use std::io::{self, IsTerminal as _, Read};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::console::say;
use crate::diagnostic::printable;

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
pub struct StatusLine(ProgressBar);

impl StatusLine {
    pub fn new() -> Self {
        Self(ProgressBar::new_spinner().with_style(style("{wide_msg}")))
    }

    /// Replaces the shown text. The part beyond the width of the terminal is cut off.
    pub fn show(&self, text: &str) {
        self.0.set_message(printable(text).into_owned());
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Parses a template of ours.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Counts progress, and shows it: on a terminal as a bar, else as lines.
pub struct Meter {
    bar: ProgressBar,
    name: String,
    unit: Unit,
    when: ProgressMode,
    start: Instant,
    /// The time at which the last line was printed.
    printed: Option<Instant>,
}

impl Meter {
    pub fn new(name: String, unit: Unit, size: Option<u64>, when: ProgressMode) -> Self {
        let size = size.filter(|size| *size > 0);
        // The name comes last, since the end of a long line is cut off.
        let template = match (unit, size) {
            (Unit::Bytes, Some(_)) => "{percent} % of {decimal_total_bytes}, {eta} left: {wide_msg}",
            (Unit::Bytes, None) => "{decimal_bytes}: {wide_msg}",
            (Unit::Triples, Some(_)) => "{percent} % of {len} triples, {eta} left: {wide_msg}",
            (Unit::Triples, None) => "{pos} triples: {wide_msg}",
        };
        let bar = ProgressBar::with_draw_target(size, ProgressDrawTarget::hidden()).with_style(style(template));
        bar.set_message(printable(&name).into_owned());
        Self { bar, name, unit, when, start: Instant::now(), printed: None }
    }

    /// Adds to the count.
    pub fn add(&mut self, count: u64) {
        self.bar.inc(count);
        let on_terminal = io::stderr().is_terminal();
        let is_due = match self.when {
            ProgressMode::Never => false,
            ProgressMode::Auto => on_terminal && self.start.elapsed() > Duration::from_secs(1),
            ProgressMode::Always => true,
        };
        if is_due && on_terminal && self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        } else if is_due
            && !on_terminal
            && self.printed.is_none_or(|printed| printed.elapsed() > Duration::from_secs(1))
        {
            self.printed = Some(Instant::now());
            self.print();
        }
    }

    fn print(&self) {
        let unit = match self.unit {
            Unit::Bytes => "bytes",
            Unit::Triples => "triples",
        };
        let size = self.bar.length().map(|size| format!(" of {size}")).unwrap_or_default();
        say(&format!("{}: {}{size} {unit}", self.name, self.bar.position()));
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        if self.printed.is_some() {
            self.print();
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
