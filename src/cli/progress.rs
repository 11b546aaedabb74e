//! Progress on standard error, on a terminal and only when there is something to wait for.

use std::io::{self, IsTerminal as _, Read};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::say;

/// When to show progress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, after a second
    #[default]
    Auto,
    /// Never
    Never,
    /// Always; off a terminal a line a second
    Always,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    Triples,
}

/// Counts what is done, and shows it.
pub struct Meter {
    name: String,
    unit: Unit,
    size: Option<u64>,
    when: When,
    done: u64,
    started: Instant,
    shown: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl Meter {
    pub fn new(name: String, unit: Unit, size: Option<u64>, when: When) -> Self {
        Self { name, unit, size, when, done: 0, started: Instant::now(), shown: None, bar: None }
    }

    /// So many more are done.
    pub fn add(&mut self, count: u64) {
        self.done += count;
        let terminal = io::stderr().is_terminal();
        let due = match self.when {
            When::Never => false,
            When::Auto => terminal && self.started.elapsed() > Duration::from_secs(1),
            When::Always => true,
        };
        if !due {
            return;
        }
        if terminal {
            let (size, unit, name) = (self.size, self.unit, &self.name);
            let bar = self.bar.get_or_insert_with(|| bar(size, unit, name));
            bar.set_position(self.done);
        } else if self.shown.is_none_or(|shown| shown.elapsed() > Duration::from_secs(1)) {
            self.shown = Some(Instant::now());
            self.line();
        }
    }

    fn line(&self) {
        let unit = match self.unit {
            Unit::Bytes => "bytes",
            Unit::Triples => "triples",
        };
        match self.size {
            Some(size) if size > 0 => say(&format!("{}: {} of {size} {unit}", self.name, self.done)),
            _ => say(&format!("{}: {} {unit}", self.name, self.done)),
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        match &self.bar {
            Some(bar) => bar.finish_and_clear(),
            None if self.shown.is_some() => self.line(),
            None => {}
        }
    }
}

fn bar(size: Option<u64>, unit: Unit, name: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(size, ProgressDrawTarget::stderr());
    let template = match (unit, size) {
        (Unit::Bytes, Some(_)) => "{msg} {wide_bar} {bytes} of {total_bytes} ({bytes_per_sec}, {eta} left)",
        (Unit::Bytes, None) => "{msg} {spinner} {bytes} ({bytes_per_sec})",
        (Unit::Triples, _) => "{msg} {wide_bar} {human_pos} of {human_len} triples ({per_sec}, {eta} left)",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(name.to_owned());
    bar
}

/// Counts what is read from an input.
pub struct Watched<R> {
    inner: R,
    meter: Meter,
}

impl<R: Read> Watched<R> {
    pub fn new(inner: R, name: String, size: Option<u64>, when: When) -> Self {
        Self { inner, meter: Meter::new(name, Unit::Bytes, size, when) }
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.meter.add(count as u64);
        Ok(count)
    }
}
