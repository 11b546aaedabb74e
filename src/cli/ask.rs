//! Asks questions of logs, a store or a server, within limits of time and memory, and writes the answers.

mod notes;

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::time::Duration;

use crate::endpoint::Endpoint;
use crate::mapping::Mapping;
use crate::overview::{by_cause, by_columns};
use crate::query::{Answer, Cancel, Dataset, Engine, Loading, Query, Solutions, TableColumns, sorted_by};
use crate::store;
use crate::summary::counted;
use anyhow::bail;
use clap::{Args, ValueEnum};

use self::notes::note_unknown;
pub use self::notes::{AskedData, advice_on_term, note_filter};
use super::answer::AnswerArgs;
use super::bounds::LogTimes;
use super::column_names::column_named;
use super::console::{Outcome, print_failure, say};
use super::fail_if::{FailIf, RowsMet};
use super::filter::text_of;
use super::follow;
use super::format::OF_LOGS;
use super::input::{InputSource, is_stdin, shown};
use super::limits::LimitArgs;
use super::messages::{MessageSource, SelectedMessages};
use super::overdue::OpenCalls;
use super::question::{NO_SESSION, QuerySource, Question, SESSIONS, base, endpoint, first_rows};
use super::read::{GraphArgs, InputOutcome, InputRun, OF_GRAPH, OF_MAPPING, ReadArgs, ShownFindings, SummaryArgs};
use super::repeated::TypedArgs;

/// Options of every command that evaluates queries.
#[derive(Debug, Args)]
pub struct AskArgs {
    #[command(flatten)]
    pub typed: TypedArgs,

    /// Exit with 1: rows, none, or a condition on a row
    ///
    /// `rows`: if there are rows; `none`: if there are none; otherwise if a row meets the condition. Triples and `true` count as rows, `false` as none. A condition compares a column with a number: 'p95 > 200ms',
    /// 'failures > 0', 'share > 1%' (the failures of all calls).
    #[arg(long, value_name = "WHEN", value_parser = FailIf::parse)]
    fail_if: Option<FailIf>,

    /// Sort rows by a column; -COLUMN: the largest first
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, help_heading = "Output")]
    pub sort: Option<RowSort>,

    #[command(flatten)]
    pub limits: LimitArgs,

    #[command(flatten)]
    pub read: ReadArgs,

    /// Query a store that `rpcgraph load` filled
    #[arg(long, value_name = "DIR", help_heading = "Input", conflicts_with_all = ["inputs", "endpoint"])]
    #[arg(conflicts_with_all = OF_LOGS, conflicts_with_all = OF_MAPPING, conflicts_with_all = OF_GRAPH)]
    store: Option<PathBuf>,

    /// Query a SPARQL server
    ///
    /// Credentials come from RPCGRAPH_TOKEN, RPCGRAPH_USER and RPCGRAPH_PASSWORD, or a netrc file.
    #[arg(long, value_name = "URL", help_heading = "Input", conflicts_with = "inputs")]
    #[arg(conflicts_with_all = OF_LOGS, conflicts_with_all = OF_MAPPING, conflicts_with_all = OF_GRAPH)]
    endpoint: Option<String>,

    #[command(flatten)]
    pub answer: AnswerArgs,

    #[command(flatten)]
    graph: GraphArgs,

    #[command(flatten)]
    pub summary: SummaryArgs,

    #[arg(skip)]
    pub findings: ShownFindings,
}

/// Options for how a query is evaluated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct EngineArgs {
    /// Let SERVICE in the query call other servers
    #[arg(long, hide_short_help = true)]
    allow_service: bool,

    /// Load logs into sorted columns, or into Oxigraph's store in memory
    #[arg(long, value_name = "NAME", value_enum, default_value_t, hide_default_value = true, hide_short_help = true)]
    #[arg(conflicts_with_all = ["store", "endpoint"])]
    engine: EngineName,

    /// Print the query plan and the engine instead of the answer
    #[arg(long, conflicts_with = "endpoint", hide_short_help = true)]
    plan: bool,
}

/// The column that rows are sorted by.
#[derive(Debug, Clone)]
pub struct RowSort {
    pub column: String,
    pub descending: bool,
}

impl RowSort {
    /// Sorts rows, all of which are in memory.
    fn apply(&self, rows: Solutions<'_>) -> anyhow::Result<Solutions<'static>> {
        let known: Vec<_> = rows.variables.iter().map(|variable| variable.as_str()).collect();
        let Some(column) = column_named(&self.column, &known).map(str::to_owned) else {
            bail!("unknown column {:?}; use one of {}", self.column, known.join(", "));
        };
        Ok(sorted_by(rows, &column, self.descending)?)
    }

    /// The name of its column as a query has it, if the query has it.
    fn column_of(&self, query: &Query) -> String {
        let known = query.columns();
        let known: Vec<_> = known.iter().map(|variable| variable.as_str()).collect();
        column_named(&self.column, &known).unwrap_or(&self.column).to_owned()
    }
}

impl From<&str> for RowSort {
    fn from(text: &str) -> Self {
        let column = text.strip_prefix('-').or_else(|| text.strip_suffix(":desc"));
        Self { column: column.unwrap_or(text).to_owned(), descending: column.is_some() }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    #[default]
    Columns,
    Store,
}

impl AskArgs {
    /// Adds an input before the others.
    pub fn add_first(&mut self, input: PathBuf) -> anyhow::Result<()> {
        if self.store.is_some() || self.endpoint.is_some() {
            bail!("--store and --endpoint do not take inputs: leave out {}", shown(&input));
        }
        self.read.input.inputs.insert(0, input);
        Ok(())
    }

    /// Asks a question of `sources`, the store or the server, and writes the answer as the options define.
    pub fn ask(&self, question: &Question<'_>, mut sources: Vec<InputSource>) -> anyhow::Result<Outcome> {
        // Before the query is parsed, since some queries take long to parse.
        let cancel = self.limits.cancel()?;
        if question.file.as_deref().is_some_and(is_stdin) && sources.iter().any(InputSource::is_stdin) {
            bail!("standard input cannot be both the query and the log: name a file for one of them");
        }
        if self.answer.are_messages() {
            sources.iter_mut().try_for_each(InputSource::keep)?;
        }
        let base = base(&sources).or_else(|| self.read.input.format.base.clone());
        let (sources, missing) = self.there(sources)?;
        let query = question.query(&LogTimes::default(), base.as_deref())?;
        note_unknown(&query);
        if query.uses_services() && !question.engine.allow_service {
            bail!("the query calls another server with SERVICE; --allow-service allows it");
        }
        // Check the output now rather than after all the work.
        let limit = question.filter.limit;
        let mut writer =
            self.answer.writer(query.form(), base.clone(), limit)?.with_columns(self.table_columns(question, &query));
        if let Some(listing) = self.listing(question, &sources)? {
            return self.list((listing, question, &query), (&sources, missing), writer, &cancel);
        }
        let loaded = self.source(&question.loading(&query)?, &query, &sources, question.engine.engine, &cancel)?;
        let Some((source, _, all_read)) = loaded else { return Ok(Outcome::Findings) };
        let is_here = matches!(source, QuerySource::Here(_)) && !question.engine.plan;
        if question.needs_sessions && is_here {
            let sessions = source.values(SESSIONS, &cancel)?;
            let mut logs = sessions.iter().filter_map(|session| text_of(session).split('#').next());
            let Some(log) = logs.next() else { bail!(NO_SESSION) };
            // Messages of the graph of one log are named in their log, and not in the file of the graph.
            if logs.all(|other| other == log) {
                writer = writer.with_base(Some(log.to_owned()));
            }
        }
        // A log that was not read would differ in everything.
        if question.compares && (all_read.is_err() || source.values(SESSIONS, &cancel)?.len() < 2) {
            all_read?;
            bail!("found only one session to compare: rpcgraph compare OLD NEW takes two logs");
        }
        let times = question.times(&source, &cancel)?;
        let query = if question.filter.has_times() { question.query(&times, base.as_deref())? } else { query };
        let query = match &self.sort {
            Some(sort) if question.by.is_empty() => query.sorted_by(&sort.column_of(&query), sort.descending)?,
            _ => query,
        };
        if let (true, QuerySource::Here(dataset)) = (question.engine.plan, &source) {
            return self.answer.target.print(dataset.plan(&query, &cancel)?);
        }
        let (met, is_cut) = (RefCell::default(), Cell::new(false));
        let (found, noun) = match self.answer(&source, &query, question.engine.allow_service, &cancel)? {
            Answer::Solutions(rows) => {
                let start = if question.times.relative { source.start(&cancel)? } else { None };
                let rows = question.times.apply(rows, start.as_ref())?;
                let rows = match question.by.as_slice() {
                    [] => rows,
                    ["cause"] => by_cause(rows)?,
                    columns => by_columns(rows, columns)?,
                };
                let rows = match &self.sort {
                    Some(sort) if !question.by.is_empty() => sort.apply(rows)?,
                    _ => rows,
                };
                let rows = first_rows(rows, question.own_limit, &is_cut);
                let rows = self.watched(rows, question.known_columns(), &met)?;
                match self.answer.are_messages() {
                    true => {
                        let selected = SelectedMessages::from_rows(rows, limit.unwrap_or(usize::MAX))?;
                        (self.write_messages(&selected, (&source, &sources), &cancel)?, "message")
                    }
                    false => writer.write(Answer::Solutions(rows))?,
                }
            }
            _ if self.has_condition() => bail!("--fail-if: a condition is about the columns of rows"),
            answer => writer.write(answer)?,
        };
        let met = met.into_inner();
        if !noun.is_empty() {
            self.say_count(&counted(found, noun), &met, is_cut.get());
        }
        if !self.summary.quiet {
            let asked = AskedData { source: &source, base: base.as_deref(), times: &times };
            note_filter(question, (found, &query), &asked, &cancel)?;
        }
        self.conclude((question, &query), (found, met.count), (&sources, missing), all_read)
    }

    /// Returns the outcome of a question with a number of rows, some of which met the condition of `--fail-if`. Fails if inputs
    /// are missing, or if one was not read and the answer depends on that.
    pub fn conclude(
        &self,
        (question, query): (&Question<'_>, &Query),
        (found, met): (u64, u64),
        (sources, missing): (&[InputSource], usize),
        all_read: anyhow::Result<()>,
    ) -> anyhow::Result<Outcome> {
        // A query that sees unread input may answer despite an error; an empty answer counts only if the query names
        // unread input.
        if question.needs_messages || !query.sees_unread() || (found == 0 && !query.names_unread()) {
            all_read?;
        }
        check_missing(missing, sources)?;
        Ok(if met > 0 { Outcome::Findings } else { self.outcome(found) })
    }

    /// Returns the columns of the question's table, with the one that sorts it.
    fn table_columns(&self, question: &Question<'_>, query: &Query) -> TableColumns {
        let mut columns = question.columns.clone();
        if !columns.shown.is_empty() {
            columns.shown.extend(self.sort.iter().map(|sort| sort.column_of(query)));
        }
        columns
    }

    /// Passes rows on, and collects in `met` those that meet the condition of `--fail-if`.
    pub fn watched<'a>(
        &'a self,
        rows: Solutions<'a>,
        columns: Option<&TableColumns>,
        met: &'a RefCell<RowsMet>,
    ) -> anyhow::Result<Solutions<'a>> {
        match &self.fail_if {
            Some(FailIf::Condition(condition)) => condition.watch(rows, columns, met),
            _ => Ok(rows),
        }
    }

    /// Prints the number of rows, those that meet the condition of `--fail-if`, and that there are more rows if `is_cut`.
    pub fn say_count(&self, count: &str, met: &RowsMet, is_cut: bool) {
        if self.summary.quiet {
            return;
        }
        let met = match &self.fail_if {
            Some(FailIf::Condition(condition)) => met.described(condition),
            _ => String::new(),
        };
        let start = if is_cut { "the first " } else { "" };
        let end = if is_cut { "; -n N shows more" } else { "" };
        say(&format!("{start}{count}{met}{end}"));
    }

    /// True if `--strict` is given.
    pub fn is_strict(&self) -> bool {
        self.graph.strict
    }

    /// True if `--fail-if` is about the columns of rows.
    pub fn has_condition(&self) -> bool {
        matches!(self.fail_if, Some(FailIf::Condition(_)))
    }

    /// Connects to the server, or loads the data that `loading` needs. Also returns the number of lines of text between messages,
    /// as far as it is known. The inner result is an error if an input was not read; `None` if `--strict` stopped the load.
    pub fn source(
        &self,
        loading: &Query,
        query: &Query,
        sources: &[InputSource],
        engine: EngineName,
        cancel: &Cancel,
    ) -> anyhow::Result<Option<(QuerySource, usize, anyhow::Result<()>)>> {
        let Some(endpoint) = self.endpoint()? else {
            let data = self.dataset(loading, sources, engine, cancel)?;
            return Ok(data.map(|(dataset, lines, all_read)| (QuerySource::Here(dataset), lines, all_read)));
        };
        if let functions @ [_, ..] = query.functions().as_slice() {
            bail!(
                "the query uses {}, which only this program has: ask the logs, or a store that load has filled",
                functions.join(", ")
            );
        }
        Ok(Some((QuerySource::There(endpoint.into()), 0, Ok(()))))
    }

    /// Returns the inputs that exist, and the number of missing inputs. A missing input is an error if all are missing
    /// or the answer goes to a file; otherwise its error is printed, and the other inputs are asked.
    pub fn there(&self, sources: Vec<InputSource>) -> anyhow::Result<(Vec<InputSource>, usize)> {
        let (sources, missing): (Vec<_>, Vec<_>) = sources.into_iter().partition(InputSource::is_there);
        for source in &missing {
            let failure = source.open().map(drop);
            if sources.is_empty() || self.answer.is_file() {
                failure?;
            } else if let Err(failure) = failure {
                print_failure(&failure);
            }
        }
        Ok((sources, missing.len()))
    }

    /// Fails if a question is asked of a mapping without sessions.
    pub fn check_mapping(&self) -> anyhow::Result<()> {
        if self.read.mapping == Mapping::Bblock {
            bail!("questions are about sessions: leave out --mapping bblock, or ask with `rpcgraph query`");
        }
        Ok(())
    }

    /// True if `--log-lines` is given.
    pub fn has_log_lines(&self) -> bool {
        self.graph.log_lines
    }

    /// Asks a question of each message as a log grows. With `after`, writes the calls that have waited for this duration, in the
    /// columns of the question beside it.
    pub fn follow(
        &self,
        question: &Question<'_>,
        after: Option<(Duration, &Question<'_>)>,
        sources: Vec<InputSource>,
    ) -> anyhow::Result<Outcome> {
        if self.has_condition() || self.sort.is_some() {
            bail!("--follow takes neither --sort nor a condition of --fail-if: rows are written as they come");
        }
        if question.filter.is_relative() {
            bail!("--follow does not take times before the end of the log: name a time such as 10:00:00");
        }
        let listing = self.listing(question, &sources)?;
        let (sources, _) = self.there(sources)?;
        let source = follow::followed(sources)?;
        let cancel = Cancel::default();
        self.limits.bound(&cancel);
        let base = Some(source.iri.clone());
        let query = question.query(&LogTimes::default(), base.as_deref())?;
        let limit = question.filter.limit;
        let columns = self.table_columns(after.map_or(question, |(_, shown)| shown), &query);
        let writer = self.answer.writer(query.form(), base.clone(), limit)?.with_columns(columns).live()?;
        let calls = |(after, shown): (Duration, &Question<'_>)| {
            anyhow::Ok(OpenCalls::new(after, shown.query(&LogTimes::default(), base.as_deref())?.columns()))
        };
        let calls = after.map(calls).transpose()?;
        let mut run = self.read.run(&self.graph, self.summary.quiet)?;
        let (attempt, found) =
            follow::answer(&source, &mut run, (query, listing), (writer, question.times), calls, cancel)?;
        run.check_pointers()?;
        Ok(match attempt {
            InputOutcome::Unread(why) => return Err(why),
            InputOutcome::Stopped => Outcome::Findings,
            InputOutcome::Done | InputOutcome::Failed => self.outcome(found),
        })
    }

    pub fn outcome(&self, found: u64) -> Outcome {
        match self.fail_if {
            Some(FailIf::Rows) if found > 0 => Outcome::Findings,
            Some(FailIf::None) if found == 0 => Outcome::Findings,
            _ => Outcome::Done,
        }
    }

    /// Returns the inputs, redacted if the options define it; none if a store or a server is asked.
    ///
    /// To be called once: redaction reads standard input, and a random key is another one each time.
    pub fn sources(&self) -> anyhow::Result<Vec<InputSource>> {
        if self.store.is_some() || self.endpoint.is_some() { Ok(Vec::new()) } else { self.read.input.sources() }
    }

    fn answer(
        &self,
        source: &QuerySource,
        query: &Query,
        allow_service: bool,
        cancel: &Cancel,
    ) -> anyhow::Result<Answer<'static>> {
        match source {
            QuerySource::Here(dataset) if allow_service => {
                Ok(dataset.answer_with(query, cancel, crate::query::services(self.request_timeout()))?)
            }
            _ => source.answer(query, cancel),
        }
    }

    /// Writes the messages that the rows name, as in their logs, or as rebuilt from a store or a server.
    fn write_messages(
        &self,
        selected: &SelectedMessages,
        (asked, sources): (&QuerySource, &[InputSource]),
        cancel: &Cancel,
    ) -> anyhow::Result<u64> {
        let mut output = self.answer.messages()?;
        let logs = match sources {
            [] => MessageSource::of_graph(&selected.quads(asked, cancel)?)?,
            sources => MessageSource::of_all(sources)?,
        };
        let options = self.read.input.options()?;
        let count = logs.iter().map(|log| selected.write(log, &options, &mut output)).sum::<Result<_, _>>()?;
        output.finish()?;
        Ok(count)
    }

    fn endpoint(&self) -> anyhow::Result<Option<Endpoint>> {
        self.endpoint.as_deref().map(|url| endpoint(url, self.request_timeout())).transpose()
    }

    /// Returns the time limit for a request to a server.
    fn request_timeout(&self) -> Duration {
        self.limits.timeout.unwrap_or(crate::endpoint::TIMEOUT)
    }

    /// Loads the data of a query, and counts the lines of text. The inner result is an error if an input was not read; `None` if
    /// `--strict` stopped the load.
    fn dataset(
        &self,
        query: &Query,
        sources: &[InputSource],
        engine: EngineName,
        cancel: &Cancel,
    ) -> anyhow::Result<Option<ReadData>> {
        if let Some(dir) = &self.store {
            return Ok(Some((Dataset::stored(store::open_read_only(dir)?), 0, Ok(()))));
        }
        let engine = match engine {
            EngineName::Columns => Engine::Columns,
            EngineName::Store => Engine::Store,
        };
        let dataset = Dataset::on(query, sources.iter().any(|source| source.rdf_format().is_some()), engine)?;
        let mut loading = dataset.load(cancel)?;
        let Some((lines, all_read)) = self.load(&mut loading, query, sources, cancel)? else { return Ok(None) };
        for graph in loading.commit()? {
            say(&format!("note: the query names the graph {graph}, which is not there"));
        }
        Ok(Some((dataset, lines, all_read)))
    }

    /// Loads the inputs. Returns the number of lines of text. The inner result is an error if an input was not read; `None` if
    /// `--strict` stopped the load.
    ///
    /// Fails if no input was read, and the query does not see unread input.
    fn load(
        &self,
        loading: &mut Loading<'_>,
        query: &Query,
        sources: &[InputSource],
        cancel: &Cancel,
    ) -> anyhow::Result<Option<(usize, anyhow::Result<()>)>> {
        let mut run = self.run(query)?;
        let all_read = run.load(sources, query.sees_unread(), cancel, |run, source| run.load_one(source, loading))?;
        let lines = run.total.map_or(0, |total| usize::try_from(total.text_lines).unwrap_or(usize::MAX));
        Ok(all_read.map(|all_read| (lines, all_read)))
    }

    /// Prepares a run over inputs, which adds the terms that the query names to the graph.
    pub fn run(&self, query: &Query) -> anyhow::Result<InputRun<'_>> {
        let mut graph = self.graph.clone();
        graph.provenance |= query.names_provenance();
        graph.log_lines |= query.names_log_lines();
        let mut run = self.read.run(&graph, self.summary.quiet)?;
        run.findings.shown = self.findings;
        Ok(run)
    }
}

/// Fails if inputs are missing.
pub fn check_missing(missing: usize, sources: &[InputSource]) -> anyhow::Result<()> {
    if missing > 0 {
        bail!("{missing} of {} could not be read", counted((missing + sources.len()) as u64, "input"));
    }
    Ok(())
}

/// The data, the number of lines of text between messages, and an error if an input was not read.
type ReadData = (Dataset, usize, anyhow::Result<()>);
