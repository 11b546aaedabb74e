//! Asks the questions of the overview, for the screens that show them.

use std::thread;

use anyhow::{anyhow, bail};

use crate::overview::{Facts, Part};
use crate::query::{Answer, Cancel, Query, Solutions};

use super::ask::{AskArgs, AskedData, EngineName, check_missing, note_filter};
use super::bounds::LogTimes;
use super::console::Outcome;
use super::filter::FilterArgs;
use super::input::InputSource;
use super::question::{NO_SESSION, QuerySource, Question, RowTimes, SESSIONS};
use super::read::ShownFindings;

/// Asks the questions of the overview, and passes their facts to `show`, which returns the number of what it found. The data
/// answers the queries in `beside`, too.
pub fn ask(
    ask: &mut AskArgs,
    filter: &FilterArgs,
    (sources, beside): (Vec<InputSource>, &[String]),
    show: impl FnOnce(&AskArgs, Facts, (&QuerySource, &Cancel)) -> anyhow::Result<u64>,
) -> anyhow::Result<Outcome> {
    ask.findings = ShownFindings::None;
    let ask = &*ask;
    let cancel = ask.limits.cancel()?;
    ask.check_mapping()?;
    let (sources, missing) = ask.there(sources)?;
    let edges = Question::named(|conditions| Part::Edges.text(conditions), filter, RowTimes::default());
    let query = edges.query(&LogTimes::default(), None)?;
    let conditions = filter.conditions(&LogTimes::default())?;
    let parts = Part::UP_TO_CALLS.into_iter().chain(Part::AFTER_CALLS);
    let texts = parts.map(|part| part.text(&conditions)).chain(beside.iter().cloned().map(Ok));
    let mut loading = edges.loading(&query)?;
    for text in texts {
        loading = loading.with_needs_of(&Query::parse(&text?, None)?);
    }
    let loaded = ask.source(&loading, &query, &sources, EngineName::default(), &cancel)?;
    let Some((source, text_lines, all_read)) = loaded else { return Ok(Outcome::Findings) };
    let are_graphs = sources.iter().all(|source| source.rdf_format().is_some());
    if are_graphs && source.values(SESSIONS, &cancel)?.is_empty() {
        bail!(NO_SESSION);
    }
    let times = edges.times(&source, &cancel)?;
    let conditions = filter.conditions(&times)?;
    let names: Vec<_> = sources.iter().map(InputSource::file_name).collect();
    let mut facts = Facts::for_logs(if names.is_empty() { vec!["store".to_owned()] } else { names });
    facts.repeated = ask.typed.0.clone();
    // Conditions are about messages.
    if conditions.is_empty() {
        facts.text_lines = text_lines;
    }
    let answer = |part: Part| match source.answer(&Query::parse(&part.text(&conditions)?, None)?, &cancel)? {
        Answer::Solutions(solutions) => Ok(solutions),
        _ => Err(anyhow!("{part:?} is not a SELECT query")),
    };
    // Two at a time: the list of calls takes as long as the questions after it together.
    thread::scope(|scope| {
        let rows = |part: Part| {
            let Solutions { variables, rows } = answer(part)?;
            anyhow::Ok((variables, rows.collect::<Vec<_>>()))
        };
        let later_rows = scope.spawn(move || Part::AFTER_CALLS.map(rows));
        for part in Part::UP_TO_CALLS {
            facts.take(part, answer(part)?)?;
        }
        let later_rows = later_rows.join().map_err(|_| anyhow!("a question of the overview panicked"))?;
        for (part, rows) in Part::AFTER_CALLS.into_iter().zip(later_rows) {
            let (variables, rows) = rows?;
            facts.take(part, Solutions { variables, rows: Box::new(rows.into_iter()) })?;
        }
        anyhow::Ok(())
    })?;
    let in_log = (facts.messages + facts.others) as u64;
    let found = show(ask, facts, (&source, &cancel))?;
    if !ask.summary.quiet {
        note_filter(&edges, (in_log, &query), &AskedData { source: &source, base: None, times: &times }, &cancel)?;
    }
    all_read?;
    check_missing(missing, &sources)?;
    Ok(ask.outcome(found))
}
