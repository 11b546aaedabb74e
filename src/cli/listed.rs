//! Questions that list messages: their rows are written while logs are read.

use std::cell::{Cell, RefCell};

use crate::query::{Answer, Cancel, Listed, Listing, Query, Solutions};
use crate::summary::counted;

use super::answer::AnswerWriter;
use super::ask::{AskArgs, EngineArgs};
use super::bounds::LogTimes;
use super::console::Outcome;
use super::follow::stream;
use super::input::InputSource;
use super::question::{Question, first_rows};

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
        let (own_limit, columns) = (question.own_limit, question.known_columns());
        let limit = question.filter.limit.or(own_limit.map(|limit| limit + 1));
        let write = |solutions: Solutions<'_>| {
            let (met, is_cut) = (RefCell::default(), Cell::new(false));
            let rows = first_rows(solutions, own_limit, &is_cut);
            let Solutions { variables, mut rows } = self.watched(rows, columns, &met)?;
            let written = writer.write(Answer::Solutions(Solutions { variables, rows: Box::new(rows.by_ref()) }))?;
            // The log is read to its end, whatever the limit of rows.
            rows.for_each(drop);
            Ok((written, met.into_inner(), is_cut.get()))
        };
        let (all_read, ((found, noun), met, is_cut)) = stream(query.columns(), write, |pass| {
            let mut listed = Listed::new(listing, query, limit, cancel, pass);
            let all_read =
                run.load(sources, query.sees_unread(), cancel, |run, source| run.convert(source, &mut listed.sink()))?;
            listed.finish()?;
            Ok(all_read)
        })?;
        let Some(all_read) = all_read else { return Ok(Outcome::Findings) };
        self.say_count(&counted(found, noun), &met, is_cut);
        self.conclude((question, query), (found, met.count), (sources, missing), all_read)
    }
}
