//! Chooses the messages for `show` and `report`: a question with the filters that all questions have.

use crate::convert::{Converter, Options};
use crate::mapping::{Mapper, Mapping};
use crate::query::catalogue::Condition;
use crate::query::{Cancel, Dataset, Query};
use crate::record::ReaderOptions;
use anyhow::anyhow;

use super::bounds::LogTimes;
use super::console::say;
use super::filter::FilterArgs;
use super::format::check_pointers;
use super::input::InputSource;
use super::messages::SelectedMessages;
use super::question::{QuerySource, Question, RowTimes};

/// A choice of messages.
pub struct Choice<'c> {
    filter: &'c FilterArgs,
    question: Question<'c>,
}

impl<'c> Choice<'c> {
    /// Chooses the messages that pass the filter and, if there are patterns, match one of these patterns for
    /// `?message`.
    pub fn new(patterns: &'c [String], filter: &'c FilterArgs) -> Self {
        let text = move |conditions: &[Condition]| Ok(query_text(patterns, filter, conditions));
        Self { filter, question: Question::named(text, filter, RowTimes::default()) }
    }

    /// Loads from logs and RDF files the data that the question needs, and the data that the queries `beside` it need.
    pub fn read(
        &self,
        sources: &[InputSource],
        (reader, jobs): (&ReaderOptions, usize),
        beside: impl Iterator<Item = String>,
    ) -> anyhow::Result<QuerySource> {
        let mut query = self.question.loading(&self.question.query(&LogTimes::default(), None)?)?;
        for text in beside {
            query = query.with_needs_of(&Query::parse(&text, None)?);
        }
        Ok(QuerySource::Here(load(&query, sources, (reader, jobs), false)?))
    }

    /// Returns the chosen messages, each with its answer or its request.
    pub fn messages(&self, source: &QuerySource) -> anyhow::Result<SelectedMessages> {
        let (mut selected, cancel) = (SelectedMessages::default(), Cancel::default());
        let times = self.question.times(source, &cancel)?;
        self.filter.notes(&times).iter().for_each(|note| say(&format!("note: {note}")));
        source.each_value(&self.question.query(&times, None)?, &cancel, |value| _ = selected.add(value))?;
        Ok(selected)
    }

    /// Returns the reason why no message is chosen.
    pub fn nothing(&self, source: &QuerySource, name: &str) -> anyhow::Result<anyhow::Error> {
        let cancel = Cancel::default();
        let times = self.question.times(source, &cancel)?;
        let mut unmet = self.filter.unmet(&times, |text| source.values(text, &cancel))?;
        if unmet.is_empty() {
            unmet.push(format!("no message is all of {}", self.filter.given_options(true)));
        }
        Ok(anyhow!("found nothing to show in {name}: {}", unmet.join("; ")))
    }
}

/// Loads from logs and RDF files the data that a query needs, on at most `jobs` threads; `log_lines` keeps the text between
/// messages.
pub fn load(
    query: &Query,
    sources: &[InputSource],
    (reader, jobs): (&ReaderOptions, usize),
    log_lines: bool,
) -> anyhow::Result<Dataset> {
    let dataset = Dataset::new(query, sources.iter().any(|source| source.rdf_format().is_some()))?;
    let mut loading = dataset.load(&Cancel::default())?;
    let provenance = query.names_provenance();
    let mapper = Mapper::new(Mapping::Session, &[])?.with_provenance(provenance);
    let options = Options { reader: reader.clone(), log_lines, jobs, ..Options::default() };
    let mut converter = Converter::new(mapper, options);
    for source in sources {
        if let Some(entries) = source.in_tables(provenance, reader.max_record_size)? {
            converter.convert_entries(entries, &mut loading.sink(), &mut |_| {})?;
            continue;
        }
        let input = source.open()?.into_input();
        match source.rdf_format() {
            Some(format) => {
                loading.rdf(&source.name(), &source.iri, format, reader.max_record_size, input.read)?;
            }
            None => _ = converter.convert(input, &mut loading.sink(), &mut |_| {})?,
        }
    }
    check_pointers(reader)?;
    loading.commit()?;
    Ok(dataset)
}

fn query_text(patterns: &[String], filter: &FilterArgs, conditions: &[Condition]) -> String {
    let patterns: Vec<_> = patterns.iter().map(|pattern| format!("{{ {pattern} }}")).collect();
    let patterns = patterns.join(" UNION ");
    let conditions: String = conditions.iter().map(|condition| condition.pattern.replace("$it", "?message")).collect();
    // Messages in a batch are chosen one by one, unless the filter names kinds.
    let batches = if filter.names_kinds() { "" } else { "FILTER NOT EXISTS { ?message a rpcg:Batch }" };
    let first = filter.limit.map_or(String::new(), |limit| {
        format!("ORDER BY STRBEFORE(STR(?message), \"#m\") ?sequence ?index LIMIT {limit}")
    });
    format!(
        "SELECT ?message ?other {{
           {{
             SELECT ?message {{
               {patterns} ?message rpcg:inSession ?session ; rpcg:sequence ?sequence . {batches} {conditions}
               OPTIONAL {{ ?message rpcg:batchIndex ?index }}
             }} {first}
           }}
           OPTIONAL {{
             ?message {PAIR}|(^rpcg:inBatch/({PAIR})) ?other
           }}
         }}"
    )
}

/// The path from a request to its answer, or from an answer to its request.
const PAIR: &str = "rpcg:respondsTo|^rpcg:respondsTo";
