//! Questions, and the data that they are asked of.

use std::cell::Cell;
use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::endpoint::{Credentials, Endpoint};
use crate::query::catalogue::{Condition, NamedQuery};
use crate::query::{Answer, Cancel, Dataset, Listing, Query, QueryError, Solutions, TableColumns, by_time, relative};
use crate::schema::QuerySchemas;
use oxrdf::Term;

use super::ask::EngineArgs;
use super::bounds::{ClockReadings, LogTimes, TIMES};
use super::filter::{FilterArgs, text_of};
use super::input::{InputSource, shown};

/// Selects two sessions if there are as many.
pub const SESSIONS: &str = "SELECT ?session { ?session a rpcg:Session } LIMIT 2";

/// Why a graph without sessions does not answer questions.
pub const NO_SESSION: &str = "found no session in the graph: ask graphs that `convert` wrote without --mapping bblock";

/// SPARQL to evaluate; its text may depend on conditions.
pub struct Question<'q> {
    text: Box<MakeText<'q>>,
    pub filter: &'q FilterArgs,
    pub engine: EngineArgs,
    /// The file with the query, if one was named.
    pub file: Option<PathBuf>,
    pub times: RowTimes,
    /// True if inputs without messages do not give an answer, even if the query finds rows in them.
    pub needs_messages: bool,
    /// True if data without sessions does not give an answer, as for graphs, whose content alone shows what they are.
    pub needs_sessions: bool,
    /// True if the answer needs two sessions.
    pub compares: bool,
    /// True if the answer has no rows where no message has a time.
    pub needs_times: bool,
    /// The protocols that it is about; empty for any.
    pub protocols: &'q str,
    /// The columns whose values rows are grouped by; `cause` stands for the text of failures.
    pub by: Vec<&'static str>,
    /// The listing that has the same rows, if there is one.
    pub listing: Option<Listing>,
    /// The columns of its table.
    pub columns: TableColumns,
    /// True if these columns state all units: other columns are numbers, or text.
    pub has_known_units: bool,
    /// The number of rows that are written without `--limit`; `None`: all.
    pub own_limit: Option<usize>,
}

/// The order of rows by time, and the form of their times.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowTimes {
    /// True if the rows of several logs are sorted by time.
    pub by_time: bool,
    /// True if times are seconds since the first time.
    pub relative: bool,
    /// True if rows arrive one by one.
    pub live: bool,
}

/// Makes the text of a query with conditions.
type MakeText<'q> = dyn Fn(&[Condition]) -> anyhow::Result<String> + 'q;

impl<'q> Question<'q> {
    /// Creates a question from a query as typed or read from a file, which may have places for conditions.
    pub fn sparql(text: String, file: Option<PathBuf>, filter: &'q FilterArgs) -> Self {
        let name = file.as_deref().map_or("--query".to_owned(), shown);
        let text = move |conditions: &[Condition]| match conditions {
            [] => Ok(text.clone()),
            conditions => Ok(NamedQuery { name: &name, text: &text }.with(&[], conditions)?),
        };
        Self { file, ..Self::named(text, filter, RowTimes::default()) }
    }

    /// Creates a question from a query that has places for conditions.
    pub fn named(
        text: impl Fn(&[Condition]) -> anyhow::Result<String> + 'q,
        filter: &'q FilterArgs,
        times: RowTimes,
    ) -> Self {
        let text = Box::new(text);
        Self {
            text,
            filter,
            engine: EngineArgs::default(),
            file: None,
            times,
            needs_messages: false,
            needs_sessions: false,
            compares: false,
            needs_times: false,
            protocols: "",
            by: Vec::new(),
            listing: None,
            columns: TableColumns::default(),
            has_known_units: false,
            own_limit: None,
        }
    }

    /// Returns the columns of its table, if they state all units.
    pub fn known_columns(&self) -> Option<&TableColumns> {
        self.has_known_units.then_some(&self.columns)
    }

    /// Returns the query; `times` are the times of the messages, if they are known.
    pub fn query(&self, times: &LogTimes, base: Option<&str>) -> anyhow::Result<Query> {
        self.parse(&self.filter.conditions(times)?, base)
    }

    /// Returns the query without its filter.
    pub fn unfiltered(&self, base: Option<&str>) -> anyhow::Result<Query> {
        self.parse(&[], base)
    }

    fn parse(&self, conditions: &[Condition], base: Option<&str>) -> anyhow::Result<Query> {
        let text = (self.text)(conditions)?;
        // Some editors write a byte order mark at the start of a file.
        let query = Query::parse(text.strip_prefix('\u{FEFF}').unwrap_or(&text), base)?;
        Ok(query.with_schemas(&Arc::new(QuerySchemas::new(env::current_exe().ok()))))
    }

    /// Returns the times of the messages, if the filter depends on them.
    pub fn times(&self, source: &QuerySource, cancel: &Cancel) -> anyhow::Result<LogTimes> {
        // A server would have to scan all its graphs.
        let is_needed = match source {
            QuerySource::Here(_) => self.filter.has_times(),
            QuerySource::There(_) => self.filter.is_relative(),
        };
        if !is_needed {
            return Ok(LogTimes::default());
        }
        let edges = "SELECT (MIN(?time) AS ?start) (MAX(?time) AS ?end) { ?message rpcg:capturedAt ?time }";
        let dated = match source.values(edges, cancel)?.as_slice() {
            [start, end] => Some((text_of(start).to_owned(), text_of(end).to_owned())),
            _ => None,
        };
        let zones = "SELECT ?time { ?message rpcg:capturedAt ?time FILTER(TZ(?time) = \"\") } LIMIT 1";
        let are_without_zone = dated.is_some() && !source.values(zones, cancel)?.is_empty();
        let (mut clocks, mut row) = (ClockReadings::default(), Vec::with_capacity(3));
        source.each_value(&Query::parse(LogTimes::CLOCKS, None)?, cancel, |value| {
            row.push(text_of(value).to_owned());
            if let [message, record, time] = row.as_slice() {
                clocks.add(message, record, time);
                row.clear();
            }
        })?;
        Ok(LogTimes::new(dated, are_without_zone, clocks))
    }

    /// Returns a query that needs the same data as the query together with all queries that are asked beside it.
    pub fn loading(&self, query: &Query) -> anyhow::Result<Query> {
        let beside = self.filter.asked_beside();
        let times =
            (self.times.relative || self.needs_times).then(|| format!("SELECT ?time {{ ?message {TIMES} ?time }}"));
        let sessions = self.needs_sessions.then(|| SESSIONS.to_owned());
        beside
            .chain(times)
            .chain(sessions)
            .try_fold(query.clone(), |all, text| Ok(all.with_needs_of(&Query::parse(&text, None)?)))
    }
}

impl RowTimes {
    /// Sorts rows and converts their times; `start` is the first time of the messages, if it is known.
    pub fn apply<'a>(self, solutions: Solutions<'a>, start: Option<&Term>) -> Result<Solutions<'a>, QueryError> {
        let rows = if self.by_time { by_time(solutions)? } else { solutions };
        Ok(if self.relative { relative(rows, start) } else { rows })
    }
}

/// Ends rows at a limit, and states in `is_cut` whether there are more.
pub fn first_rows<'a>(solutions: Solutions<'a>, limit: Option<usize>, is_cut: &'a Cell<bool>) -> Solutions<'a> {
    let Some(mut left) = limit else { return solutions };
    let Solutions { variables, mut rows } = solutions;
    let rows = std::iter::from_fn(move || {
        let row = rows.next();
        is_cut.set(left == 0 && row.is_some());
        left = left.checked_sub(1)?;
        row
    });
    Solutions { variables, rows: Box::new(rows.fuse()) }
}

/// Returns the server at a URL, with a time limit for each request.
pub fn endpoint(url: &str, time: Duration) -> anyhow::Result<Endpoint> {
    Ok(Endpoint::builder(url).credentials(Credentials::from_environment()?).timeout(time).build()?)
}

/// The data that a query is evaluated over.
pub enum QuerySource {
    Here(Dataset),
    There(Box<Endpoint>),
}

impl QuerySource {
    pub fn answer(&self, query: &Query, cancel: &Cancel) -> anyhow::Result<Answer<'static>> {
        Ok(match self {
            Self::There(endpoint) => crate::query::ask(endpoint, query, cancel)?,
            Self::Here(dataset) => dataset.answer(query, cancel)?,
        })
    }

    /// Returns the values in the rows of a query.
    pub fn values(&self, text: &str, cancel: &Cancel) -> anyhow::Result<Vec<Term>> {
        let mut values = Vec::new();
        self.each_value(&Query::parse(text, None)?, cancel, |value| values.push(value.clone()))?;
        Ok(values)
    }

    /// Calls `take` with each value in the rows of a query.
    pub fn each_value(&self, query: &Query, cancel: &Cancel, mut take: impl FnMut(&Term)) -> anyhow::Result<()> {
        if let Answer::Solutions(solutions) = self.answer(query, cancel)? {
            for row in solutions.rows {
                row?.values().iter().flatten().for_each(&mut take);
            }
        }
        Ok(())
    }

    /// Returns the first time of the messages: a date and time or, if no message has a date, a time of day.
    pub fn start(&self, cancel: &Cancel) -> anyhow::Result<Option<Term>> {
        const DATED: &str = "SELECT (MIN(?time) AS ?start) { ?message rpcg:capturedAt ?time }";
        // In a log that passes midnight, the least time of day is not the first.
        const CLOCK: &str = "SELECT (COALESCE(IF(HOURS(?first) - HOURS(?least) > 12, ?first, ?least), ?least) AS ?start) {
            { SELECT (MIN(?time) AS ?least) { ?message rpcg:clockTime ?time } }
            { SELECT (?time AS ?first) { ?message rpcg:clockTime ?time ; rpcg:sequence ?record } ORDER BY ?record LIMIT 1 }
        }";
        for text in [DATED, CLOCK] {
            if let Some(start) = self.values(text, cancel)?.pop() {
                return Ok(Some(start));
            }
        }
        Ok(None)
    }
}

/// Returns the base for shortening IRIs: the session, or the folder that contains all sessions.
pub fn base(sources: &[InputSource]) -> Option<String> {
    let [first, rest @ ..] = sources else { return None };
    if rest.is_empty() {
        return Some(first.iri.clone());
    }
    let mut common = first.iri.as_str();
    for source in rest {
        let shared = common.bytes().zip(source.iri.bytes()).take_while(|(a, b)| a == b).count();
        // Cut after a slash, which is never a part of a longer character.
        common = common.get(..shared).and_then(|shared| shared.rfind('/').map(|slash| &shared[..=slash])).unwrap_or("");
    }
    // `file:///` alone is not a base.
    (common.matches('/').count() > 3).then(|| common.to_owned())
}
