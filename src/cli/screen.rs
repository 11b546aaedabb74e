//! Asks the questions of the overview, for the screens that show them.

use crate::overview::{Facts, Part};
use crate::query::{Answer, Cancel, Query};
use anyhow::bail;

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
    let kinds = Question::named(|conditions| Part::Kinds.text(conditions), filter, RowTimes::default());
    let query = kinds.query(&LogTimes::default(), None)?;
    let conditions = filter.conditions(&LogTimes::default())?;
    let texts = Part::ALL.into_iter().map(|part| part.text(&conditions)).chain(beside.iter().cloned().map(Ok));
    let mut loading = kinds.loading(&query)?;
    for text in texts {
        loading = loading.with_needs_of(&Query::parse(&text?, None)?);
    }
    let loaded = ask.source(&loading, &query, &sources, EngineName::default(), &cancel)?;
    let Some((source, all_read)) = loaded else { return Ok(Outcome::Findings) };
    let are_graphs = sources.iter().all(|source| source.rdf_format().is_some());
    if are_graphs && source.values(SESSIONS, &cancel)?.is_empty() {
        bail!(NO_SESSION);
    }
    let times = kinds.times(&source, &cancel)?;
    let conditions = filter.conditions(&times)?;
    let names: Vec<_> = sources.iter().map(InputSource::file_name).collect();
    let mut facts = Facts::of(if names.is_empty() { vec!["store".to_owned()] } else { names });
    for part in Part::ALL {
        let query = Query::parse(&part.text(&conditions)?, None)?;
        if let Answer::Solutions(solutions) = source.answer(&query, &cancel)? {
            facts.take(part, solutions)?;
        }
    }
    let in_log = (facts.messages + facts.others) as u64;
    let found = show(ask, facts, (&source, &cancel))?;
    if !ask.summary.quiet {
        note_filter(&kinds, (in_log, &query), &AskedData { source: &source, base: None, times: &times }, &cancel)?;
    }
    all_read?;
    check_missing(missing, &sources)?;
    Ok(ask.outcome(found))
}
