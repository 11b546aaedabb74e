//! `incident`: the story of the worst incident of a log.

use std::path::PathBuf;

use crate::overview::{Beside, StoryPart, StoryRow, shell_quoted, solutions, story_lines};
use crate::query::results::ResultsFormat;
use crate::query::{Answer, Cancel, Form, Query};
use crate::summary::counted;
use anyhow::bail;
use clap::{Args, ValueHint};

use super::ask::{AskArgs, EngineName};
use super::console::{Outcome, say};
use super::filter::FilterArgs;
use super::input::{InputSource, shown};
use super::screen;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/incident.txt").trim_end())]
pub struct IncidentCommand {
    /// List what changed since an earlier log
    #[arg(long, value_name = "OLD", value_hint = ValueHint::FilePath, help_heading = "Input", conflicts_with_all = ["store", "endpoint"])]
    before: Option<PathBuf>,

    #[command(flatten)]
    ask: AskArgs,

    #[command(flatten)]
    filter: FilterArgs,
}

impl IncidentCommand {
    pub fn run(&mut self) -> anyhow::Result<Outcome> {
        if self.ask.sort.is_some() || self.ask.has_condition() || self.filter.limit.is_some() {
            bail!(
                "an incident takes neither --sort, --limit nor a condition: --fail-if rows exits with 1 if there is one"
            );
        }
        if self.ask.answer.are_messages() {
            bail!("-t messages is for questions: `rpcgraph show` prints the messages that an incident names");
        }
        let mut changes = Vec::new();
        if let Some(old) = &self.before {
            if old.is_dir() {
                bail!("{} is a folder, and --before takes one log", shown(old));
            }
            self.ask.add_first(old.clone())?;
        }
        let mut sources = self.ask.sources()?;
        if let Some(old) = &self.before {
            if sources.len() < 2 {
                bail!("--before compares two logs: rpcgraph incident LOG --before {}", shown(old));
            }
            sources.iter_mut().try_for_each(InputSource::keep)?;
            changes = compared(&self.ask, &sources)?;
            sources.remove(0);
        }
        let beside = [Beside::ToolChanges, Beside::Lists, Beside::Clocks];
        let texts: Vec<_> = beside.iter().map(|one| one.text(None)).collect::<Result<_, _>>()?;
        let before = self.before.as_deref().map(shown);
        screen::ask(&mut self.ask, &self.filter, (sources, &texts), |ask, mut facts, (source, cancel)| {
            let found = facts.incidents().into_iter().next();
            let mut rows = Vec::new();
            if let Some(incident) = &found {
                for (one, text) in beside.into_iter().zip(&texts) {
                    if let Answer::Solutions(answer) = source.answer(&Query::parse(text, None)?, cancel)? {
                        changes.extend(one.rows(&mut facts, answer)?);
                    }
                }
                rows = facts.story(incident, changes);
                if let Some(old) = before {
                    let command = facts.question(&format!("compare {}", shell_quoted(&old)));
                    rows.push(StoryRow::new(StoryPart::Next, command));
                }
            }
            let writer = ask.answer.writer(Form::Select, None, None)?;
            let is_markdown = writer.format() == ResultsFormat::Markdown;
            if ask.answer.has_columns() || !is_markdown && writer.format() != ResultsFormat::Table {
                let (found, noun) = writer.write(Answer::Solutions(solutions(&facts, &rows)))?;
                if !ask.summary.quiet {
                    say(&counted(found, noun));
                }
                return Ok(found);
            }
            let style = writer.style();
            let found = found.as_ref().map(|incident| (incident, rows.as_slice()));
            writer.print(&story_lines(&facts, found, style, is_markdown))?;
            Ok(rows.len() as u64)
        })
    }
}

/// Returns the differences between the first log and the others.
fn compared(ask: &AskArgs, sources: &[InputSource]) -> anyhow::Result<Vec<StoryRow>> {
    let cancel = Cancel::default();
    let query = Query::parse(&Beside::Compare.text(sources.first().map(|old| old.iri.as_str()))?, None)?;
    let Some((source, _, all_read)) = ask.source(&query, &query, sources, EngineName::default(), &cancel)? else {
        return Ok(Vec::new());
    };
    all_read?;
    match source.answer(&query, &cancel)? {
        Answer::Solutions(rows) => Ok(Beside::Compare.rows(&mut Default::default(), rows)?),
        _ => Ok(Vec::new()),
    }
}
