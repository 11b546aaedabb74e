//! `--check` of pages: judges logs by the built-in rules.

use std::env;
use std::sync::Arc;

use crate::check::{CheckResult, Rules};
use crate::query::Cancel;
use crate::record::ReaderOptions;
use crate::report::{BrokenRule, Verdicts};
use crate::schema::QuerySchemas;

use super::choice::load;
use super::input::InputSource;

/// Reads logs, on at most `jobs` threads, and returns the verdicts of the rules.
pub fn judged(sources: &[InputSource], reader: &ReaderOptions, jobs: usize) -> anyhow::Result<Verdicts> {
    let rules = Rules::built_in(&Arc::new(QuerySchemas::new(env::current_exe().ok())))?;
    let mut dataset = load(&rules.loading(false)?, sources, (reader, jobs), rules.name_log_lines())?;
    let inputs: Vec<_> = sources.iter().map(|source| &*source.iri).collect();
    let judged = rules.judge(&mut dataset, &inputs, jobs, &Cancel::default())?;
    let checked = CheckResult { judged, inputs: Vec::new() };
    let broken = checked.broken().map(|judged| {
        let first = judged.faults.first();
        BrokenRule {
            rule: judged.rule.id.clone(),
            faults: judged.faults.len(),
            log: first.and_then(|fault| fault.input),
            message: first.and_then(|fault| fault.message.clone()),
        }
    });
    let broken = broken.collect();
    Ok(Verdicts { summary: checked.summary(), broken })
}
