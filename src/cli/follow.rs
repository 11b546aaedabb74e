//! `--follow`: continues as a log grows.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use crate::query::{Answer, Cancel, Dataset, Query, Solutions, Window};
use crate::summary::counted;
use anyhow::{Context as _, anyhow, bail};

use super::answer::AnswerWriter;
use super::console::{is_closed_pipe, say};
use super::input::InputSource;
use super::question::RowTimes;
use super::read::{InputOutcome, InputRun};
use super::target::leave;

/// The maximum number of rows that wait to be written.
const ROWS: usize = 256;

/// Returns the one log to follow, until its end or until Ctrl-C. A second Ctrl-C exits the process.
pub fn followed(mut sources: Vec<InputSource>) -> anyhow::Result<InputSource> {
    let source = sources.pop().filter(|source| sources.is_empty() && source.rdf_format().is_none());
    let Some(mut source) = source else {
        bail!("--follow goes on with one log, a file that grows or a pipe: name that alone");
    };
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    let pressed = move || {
        if asked.swap(true, Ordering::Relaxed) {
            leave();
        }
    };
    ctrlc::set_handler(pressed).context("cannot listen for Ctrl-C")?;
    source.follow = Some(stop);
    Ok(source)
}

/// Asks a question of each message as a log grows, and writes the rows; returns their number.
pub fn answer(
    source: &InputSource,
    run: &mut InputRun<'_>,
    query: Query,
    (writer, times): (AnswerWriter<'_>, RowTimes),
    cancel: Cancel,
) -> anyhow::Result<(InputOutcome, u64)> {
    let Answer::Solutions(Solutions { variables, .. }) = Dataset::new(&query, false)?.answer(&query, &cancel)? else {
        bail!("--follow is for questions that are answered by rows");
    };
    let (sender, rows) = sync_channel(ROWS);
    let stop = source.follow.clone().unwrap_or_default();
    let (written, attempt) = thread::scope(|scope| {
        let writing = scope.spawn(move || {
            let rows = Box::new(rows.into_iter().map(Ok));
            let rows = times.apply(Solutions { variables, rows }, None);
            let written = rows.map_err(anyhow::Error::from).and_then(|rows| writer.write(Answer::Solutions(rows)));
            // The output takes no more rows, so stop reading.
            stop.store(true, Ordering::Relaxed);
            written
        });
        let left = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        let mut window = Window::new(query, cancel, |row| Ok(sender.send(row).map_err(left)?));
        let attempt = run.convert(source, &mut window.sink());
        drop(window);
        drop(sender);
        (writing.join(), attempt)
    });
    let (found, noun) = written.map_err(|_| anyhow!("the rows could not be written"))??;
    run.findings.end();
    let attempt = match attempt {
        Err(failure) if is_closed_pipe(&failure) => InputOutcome::Done,
        attempt => attempt?,
    };
    if !run.findings.quiet {
        say(&counted(found, noun));
    }
    Ok((attempt, found))
}
