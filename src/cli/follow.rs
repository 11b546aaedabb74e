//! `--follow`: continues as a log grows.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use crate::query::{Answer, Cancel, Listed, Listing, Query, QueryError, QuerySolution, Solutions, Window};
use crate::summary::counted;
use anyhow::{Context as _, anyhow, bail};
use oxrdf::Variable;

use super::answer::AnswerWriter;
use super::console::{is_closed_pipe, say};
use super::input::InputSource;
use super::overdue::{self, OpenCalls, Pass};
use super::question::RowTimes;
use super::read::{InputOutcome, InputRun};
use super::target::leave;

/// The maximum number of parts of a log whose rows wait to be written.
const PARTS: usize = 2;

/// Returns the one log to follow, until its end or until Ctrl-C. A second Ctrl-C exits the process.
pub fn followed(mut sources: Vec<InputSource>) -> anyhow::Result<InputSource> {
    let source = sources.pop().filter(|source| sources.is_empty() && source.rdf_format().is_none());
    let Some(mut source) = source else {
        bail!("--follow takes exactly one log: a file that grows, or a pipe");
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

/// Asks a question of each message as a log grows, and writes the rows, or the rows of `calls` that wait too long; returns
/// their number.
pub fn answer(
    source: &InputSource,
    run: &mut InputRun<'_>,
    (query, listing): (Query, Option<Listing>),
    (writer, times): (AnswerWriter<'_>, RowTimes),
    calls: Option<OpenCalls>,
    cancel: Cancel,
) -> anyhow::Result<(InputOutcome, u64)> {
    let stop = source.follow.clone().unwrap_or_default();
    let write = |rows: Solutions<'_>| {
        let written = times.apply(rows, None).map_err(anyhow::Error::from);
        let written = written.and_then(|rows| writer.write(Answer::Solutions(rows)));
        // The output takes no more rows, so stop reading.
        stop.store(true, Ordering::Relaxed);
        written
    };
    let variables = calls.as_ref().map_or_else(|| query.columns(), OpenCalls::variables);
    let (attempt, (found, noun)) = stream(variables, write, |pass| {
        let read = |pass: Pass<'_>| match listing {
            Some(listing) => run.convert(source, &mut Listed::new(listing, &query, None, &cancel, pass).sink()),
            None => run.convert(source, &mut Window::new(query, cancel, pass).sink()),
        };
        let attempt = match calls {
            Some(calls) => overdue::watch(calls, pass, read),
            None => read(pass),
        };
        match attempt {
            Err(failure) if is_closed_pipe(&failure) => Ok(InputOutcome::Done),
            attempt => attempt,
        }
    })?;
    run.findings.end();
    if !run.findings.quiet {
        say(&counted(found, noun));
    }
    Ok((attempt, found))
}

/// Writes rows in another thread while `make` passes them on, some at a time. An error of `make` ends the writing with an error,
/// so that no file is left with a part of the rows.
pub fn stream<T, W: Send>(
    variables: Vec<Variable>,
    write: impl FnOnce(Solutions<'_>) -> anyhow::Result<W> + Send,
    make: impl FnOnce(&mut (dyn FnMut(Vec<QuerySolution>) -> io::Result<()> + Send)) -> anyhow::Result<T>,
) -> anyhow::Result<(T, W)> {
    let (sender, rows) = sync_channel(PARTS);
    thread::scope(|scope| {
        let writing = scope.spawn(move || write(Solutions { variables, rows: Box::new(rows.into_iter().flatten()) }));
        let left = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        let made = make(&mut |rows| sender.send(rows.into_iter().map(Ok).collect::<Vec<_>>()).map_err(left));
        if made.is_err() {
            let ended = QueryError::Server("the log could not be read".into());
            // Nobody listens if the writing has failed.
            let _ = sender.send(vec![Err(ended)]);
        }
        drop(sender);
        let written = writing.join().map_err(|_| anyhow!("the rows could not be written"))?;
        match made {
            Err(failure) if !is_closed_pipe(&failure) => Err(failure),
            Err(failure) => Err(written.err().unwrap_or(failure)),
            Ok(made) => Ok((made, written?)),
        }
    })
}
