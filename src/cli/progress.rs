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

/// Counts what is read from an input, and shows it.
pub struct Watched<R> {
    inner: R,
    name: String,
    size: Option<u64>,
    when: When,
    read: u64,
    started: Instant,
    shown: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl<R: Read> Watched<R> {
    pub fn new(inner: R, name: String, size: Option<u64>, when: When) -> Self {
        Self { inner, name, size, when, read: 0, started: Instant::now(), shown: None, bar: None }
    }

    fn show(&mut self) {
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
            let (size, name) = (self.size, &self.name);
            let bar = self.bar.get_or_insert_with(|| bar(size, name));
            bar.set_position(self.read);
        } else if self.shown.is_none_or(|shown| shown.elapsed() > Duration::from_secs(1)) {
            self.shown = Some(Instant::now());
            self.line();
        }
    }
}

impl<R> Watched<R> {
    fn line(&self) {
        match self.size {
            Some(size) if size > 0 => say(&format!("{}: {} of {size} bytes", self.name, self.read)),
            _ => say(&format!("{}: {} bytes", self.name, self.read)),
        }
    }
}

fn bar(size: Option<u64>, name: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(size, ProgressDrawTarget::stderr());
    let template = match size {
        Some(_) => "{msg} {wide_bar} {bytes} of {total_bytes} ({bytes_per_sec}, {eta} left)",
        None => "{msg} {spinner} {bytes} ({bytes_per_sec})",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(name.to_owned());
    bar
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.read += count as u64;
        self.show();
        Ok(count)
    }
}

impl<R> Drop for Watched<R> {
    fn drop(&mut self) {
        match &self.bar {
            Some(bar) => bar.finish_and_clear(),
            None if self.shown.is_some() => self.line(),
            None => {}
        }
    }
}
