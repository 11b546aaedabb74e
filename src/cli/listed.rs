//! Questions that list messages: their rows are written while logs are read.

use std::cell::Cell;

use crate::query::{Answer, Cancel, Listed, Listing, Query, Solutions};
use crate::summary::counted;

use super::answer::AnswerWriter;
use super::ask::{AskArgs, EngineArgs};
use super::bounds::LogTimes;
use super::console::{Outcome, say};
use super::follow::stream;
use super::input::InputSource;
use super::question::Question;

impl AskArgs {
    /// Returns the listing that answers a question of logs: one without conditions, without an order of its own, and without
    /// the times of other messages. A list of all messages of several logs is sorted by time.
    pub fn listing(&self, question: &Question<'_>, sources: &[InputSource]) -> anyhow::Result<Option<Listing>> {
        let are_logs = !sources.is_empty() && sources.iter().all(|source| source.rdf_format().is_none());
        let is_plain = self.sort.is_none()
            && !self.answer.are_messages()
            && !self.read.has_contexts()
            && !self.is_strict()
            && !question.times.relative
            && question.engine == EngineArgs::default();
        let listing = question.listing.filter(|_| are_logs && is_plain);
        let listing = listing.filter(|listing| sources.len() == 1 || *listing == Listing::Biggest);
        // Conditions on times may depend on all times; that they are there does not.
        let is_filtered = question.filter.has_times() || !question.filter.conditions(&LogTimes::default())?.is_empty();
        Ok(listing.filter(|_| !is_filtered))
    }

    /// Writes the rows of a listing while logs are read, some of which are `missing`.
    pub fn list(
        &self,
        (listing, question, query): (Listing, &Question<'_>, &Query),
        (sources, missing): (&[InputSource], usize),
        writer: AnswerWriter<'_>,
        cancel: &Cancel,
    ) -> anyhow::Result<Outcome> {
        let mut run = self.run(query)?;
        let write = |solutions: Solutions<'_>| {
            let met = Cell::new(0);
            let Solutions { variables, mut rows } = self.watched(solutions, &met)?;
            let written = writer.write(Answer::Solutions(Solutions { variables, rows: Box::new(rows.by_ref()) }))?;
            // The log is read to its end, whatever the limit of rows.
            rows.for_each(drop);
            Ok((written, met.get()))
        };
        let (all_read, ((found, noun), met)) = stream(query.columns(), write, |pass| {
            let mut listed = Listed::new(listing, query, question.filter.limit, cancel, pass);
            let all_read =
                run.load(sources, query.sees_unread(), cancel, |run, source| run.convert(source, &mut listed.sink()))?;
            listed.finish()?;
            Ok(all_read)
        })?;
        let Some(all_read) = all_read else { return Ok(Outcome::Findings) };
        if !self.summary.quiet {
            say(&counted(found, noun));
        }
        self.conclude((question, query), (found, met), (sources, missing), all_read)
    }
}
