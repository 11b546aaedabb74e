//! Named questions: lists, prints and asks the questions of the catalogue and the user's own queries.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::diagnostic::printable;
use crate::overview;
use crate::query::catalogue::{CATALOGUE, Condition, FACTS, NamedQuery, SqlDialect, names, names_with_sql};
use crate::query::{Form, Listing};
use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};

use super::ask::{AskArgs, EngineArgs};
use super::console::{Outcome, say};
use super::filter::FilterArgs;
use super::input::shown;
use super::overdue::parse_wait;
use super::question::{Question, RowTimes};
use super::read::ShownFindings;
use super::screen;
use super::values::{SQL_DIALECTS, one_of};
use super::words::{NamedParser, nearest, other_command};

/// The maximum size of a user's query, in bytes.
const LONGEST: u64 = 1 << 20;

#[derive(Debug, Default, Args)]
pub struct OwnQueries {
    /// Folder of further queries, NAME.rq [default: $RPCGRAPH_QUERIES]
    #[arg(long, value_name = "DIR", help_heading = "Input", hide_short_help = true)]
    queries: Option<PathBuf>,
}

impl OwnQueries {
    fn folder(&self) -> Option<PathBuf> {
        let named = std::env::var_os("RPCGRAPH_QUERIES").filter(|folder| !folder.is_empty());
        self.queries.clone().or_else(|| named.map(PathBuf::from))
    }

    /// Returns the names and texts of the queries in the folder, sorted by name.
    fn own(&self) -> anyhow::Result<Vec<(String, String)>> {
        let Some(folder) = self.folder() else { return Ok(Vec::new()) };
        let unreadable = || format!("cannot read the queries in {}", shown(&folder));
        let mut own = Vec::new();
        for entry in fs::read_dir(&folder).with_context(unreadable)? {
            let path = entry.with_context(unreadable)?.path();
            if let Some(name) = own_name(&path) {
                let size = fs::metadata(&path).with_context(unreadable)?.len();
                if size > LONGEST {
                    bail!("{} has {size} bytes, and a query has at most {LONGEST}", shown(&path));
                }
                own.push((name, fs::read_to_string(&path).with_context(|| format!("cannot read {}", shown(&path)))?));
            }
        }
        own.sort();
        Ok(own)
    }

    /// Finds a question by its name, and passes it to `take`.
    fn find<T>(&self, name: &str, take: impl FnOnce(&NamedQuery<'_>) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let own = self.own()?;
        let found = own.iter().find(|(own, _)| own == name).map(|(name, text)| NamedQuery { name, text });
        match (NamedQuery::find(name), found) {
            (Ok(query), found) => {
                if found.is_some() {
                    say(&format!("note: {name} is the built-in question; a query of your own needs another name"));
                }
                take(query)
            }
            (Err(_), Some(query)) => take(&query),
            (Err(error), None) => {
                if Path::new(name).exists() {
                    bail!(
                        "{name} is a file, and the question comes first: rpcgraph ask NAME LOG; `rpcgraph ask` lists all questions"
                    );
                }
                let known = || names().into_iter().chain(own.iter().map(|(name, _)| name.as_str()));
                let other = other_command(name).map(|other| other.trim_start_matches("ask "));
                let other = other.and_then(|other| known().find(|known| *known == other));
                if let Some(near) = other.or_else(|| nearest(name, known())) {
                    bail!("unknown question {name:?}: did you mean {near}? `rpcgraph ask` lists all questions");
                }
                let others: Vec<_> = own.iter().map(|(name, _)| printable(name)).collect();
                let folder = self.folder().map(|folder| match others.as_slice() {
                    [] => format!("; found no .rq file in {}", shown(&folder)),
                    others => format!("; {} has {}", shown(&folder), others.join(", ")),
                });
                bail!("{error}{}", folder.unwrap_or_default())
            }
        }
    }

    /// True if a question has the name.
    pub fn has(&self, name: &str) -> anyhow::Result<bool> {
        Ok(names().contains(&name) || self.own()?.iter().any(|(own, _)| own == name))
    }

    /// Returns the list of questions, for people.
    pub fn list(&self) -> anyhow::Result<String> {
        let mut text = String::new();
        let own = self.own()?;
        let own = own.iter().map(|(name, text)| NamedQuery { name, text });
        for query in CATALOGUE.iter().copied().chain(own.filter(|query| NamedQuery::find(query.name).is_err())) {
            text.push_str(&format!("{}\n    {}\n", printable(query.name), printable(query.title())));
        }
        text.push_str(
            "\n`rpcgraph ask NAME LOG` answers a question; `rpcgraph ask NAME --print` explains its columns.\n",
        );
        Ok(text)
    }
}

/// Returns the name of the query in a file; `None` if the file is not a query.
fn own_name(path: &Path) -> Option<String> {
    let is_query = path.extension().is_some_and(|extension| extension == "rq") && path.is_file();
    path.file_stem().filter(|_| is_query).map(|stem| stem.to_string_lossy().into_owned())
}

/// `ask NAME`.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/ask.txt").trim_end())]
pub struct AskCommand {
    /// The question [default: list the questions]
    #[arg(value_name = "NAME", value_parser = NamedParser(|name| Ok(name.to_owned()), names), hide_possible_values = true)]
    name: Option<String>,

    /// Print the question's SPARQL and columns
    #[arg(long, requires = "name", conflicts_with = "sql")]
    print: bool,

    /// Print the question's SQL for Parquet tables
    #[arg(long, requires = "name")]
    sql: bool,

    /// SQL dialect
    #[arg(long, value_name = "NAME", value_parser = one_of(SQL_DIALECTS), default_value = "duckdb", requires = "sql", hide_short_help = true)]
    dialect: SqlDialect,

    #[command(flatten)]
    own: OwnQueries,

    #[command(flatten)]
    engine: EngineArgs,

    #[command(flatten)]
    question: QuestionArgs,
}

impl AskCommand {
    pub fn run(&mut self) -> anyhow::Result<Outcome> {
        let target = &self.question.ask.answer.target;
        match &self.name {
            None => target.print(self.own.list()?),
            Some(name) if self.print => target.print(self.own.find(name, |query| Ok(query.text.to_owned()))?),
            Some(name) if self.sql => target.print(self.own.find(name, |query| self.sql(query))?),
            Some(name) => self.question.ask(name, &self.own, self.engine),
        }
    }

    fn sql(&self, query: &NamedQuery<'_>) -> anyhow::Result<String> {
        query.sql(self.dialect).with_context(|| {
            let (name, others) = (printable(query.name), names_with_sql().join(", "));
            let reason = query.why_no_sql().map(|reason| format!(", since {reason}")).unwrap_or_default();
            format!("the columns of tables do not answer {name}{reason}: ask it of the log or of its graph; there is SQL for {others}")
        })
    }
}

/// A question that is a command of its own.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/question.txt").trim_end())]
pub struct QuestionArgs {
    #[command(flatten)]
    ask: AskArgs,

    /// Continue as it grows (timeline, errors, unanswered)
    #[arg(long, help_heading = "Input")]
    follow: bool,

    /// Keep calls that have waited so long, such as 30s (unanswered)
    #[arg(long, value_name = "DURATION", value_parser = parse_wait, help_heading = "Filter", hide_short_help = true)]
    after: Option<Duration>,

    /// Print times as seconds since the first message
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    relative: bool,

    /// Group rows by `cause` (of failures), `client`, `server`, `tool` or `method`
    ///
    /// `errors` and `unanswered` count the rows of each group; `methods` and `tools` have a row for each client or server.
    #[arg(
        long,
        value_name = "LIST",
        value_enum,
        value_delimiter = ',',
        hide_possible_values = true,
        help_heading = "Output",
        hide_short_help = true,
        conflicts_with = "follow"
    )]
    by: Vec<GroupBy>,

    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GroupBy {
    Cause,
    Client,
    Server,
    Tool,
    Method,
}

impl GroupBy {
    fn name(self) -> &'static str {
        match self {
            Self::Cause => "cause",
            Self::Client => "client",
            Self::Server => "server",
            Self::Tool => "tool",
            Self::Method => "method",
        }
    }
}

/// Returns the columns that the rows of a question are grouped by after it was asked, and the parameters that group them in
/// the query.
fn grouping(question: &NamedQuery<'_>, by: &[GroupBy]) -> anyhow::Result<(Vec<&'static str>, Vec<&'static str>)> {
    let wanted: Vec<_> = by.iter().map(|by| by.name()).collect();
    let parameters = question.parameters();
    let name = question.name;
    // `methods` has a row for each method anyway, and `tools` for each tool.
    let others = || wanted.iter().copied().filter(|by| name != format!("{by}s"));
    match name {
        "errors" => Ok((wanted, Vec::new())),
        "unanswered" if !by.contains(&GroupBy::Cause) => Ok((wanted, Vec::new())),
        _ if others().all(|by| parameters.contains(&by)) => Ok((Vec::new(), others().collect())),
        "methods" if by.contains(&GroupBy::Tool) => {
            bail!("methods has no rows of tools: rpcgraph tools LOG --by server")
        }
        _ => bail!("--by groups the rows of errors, unanswered, methods and tools: rpcgraph errors LOG --by cause"),
    }
}

impl QuestionArgs {
    /// Asks the built-in question with a name.
    pub fn run(&mut self, name: &str) -> anyhow::Result<Outcome> {
        match name == "overview" && self.is_screen() {
            true => self.overview(),
            false => self.ask(name, &OwnQueries::default(), EngineArgs::default()),
        }
    }

    /// True if the answer is for people, without options that are about rows.
    fn is_screen(&self) -> bool {
        let of_rows = self.filter.limit.is_some()
            || self.follow
            || self.ask.sort.is_some()
            || self.ask.has_condition()
            || !self.by.is_empty();
        self.ask.answer.is_screen() && !of_rows
    }

    /// Prints the overview for people. As data, it is the rows of its question.
    fn overview(&mut self) -> anyhow::Result<Outcome> {
        let sources = self.ask.sources()?;
        screen::ask(&mut self.ask, &self.filter, (sources, &[]), |ask, facts, _| {
            let writer = ask.answer.writer(Form::Select, None, None)?;
            let text = overview::lines(&facts, writer.style());
            writer.print(&text)?;
            Ok((facts.messages + facts.others) as u64)
        })
    }

    fn ask(&mut self, name: &str, own: &OwnQueries, engine: EngineArgs) -> anyhow::Result<Outcome> {
        // `problems` is about them, and its rows do not have the reasons.
        self.ask.findings = if name == "problems" { ShownFindings::Kinds } else { ShownFindings::First };
        let sources = self.ask.sources()?;
        if names().contains(&name) {
            self.ask.check_mapping()?;
        }
        let text = own.find(name, |query| Ok(query.text.to_owned()))?;
        let query = NamedQuery { name, text: &text };
        let (by, grouping) = if self.by.is_empty() { Default::default() } else { grouping(&query, &self.by)? };
        let [needs_messages, needs_times, compares, is_by_time, follows, is_within_sessions] =
            FACTS.map(|fact| query.states(fact));
        if let (true, [log]) = (compares, sources.as_slice())
            && log.rdf_format().is_none()
        {
            bail!("{} is one log, and two are compared: rpcgraph compare OLD NEW", log.name());
        }
        if is_within_sessions && sources.len() > 1 && !self.ask.summary.quiet {
            say(&format!("note: {name} compares within each session: rpcgraph compare OLD NEW compares two logs"));
        }
        let is_sorted = self.ask.sort.is_some();
        let by_time = is_by_time && sources.len() > 1 && !is_sorted;
        let times = RowTimes { by_time, relative: self.relative, live: self.follow };
        let known = query.parameters();
        let mut parameters = Vec::new();
        // With several logs, the first is one side of the comparison.
        if let (true, [first, _, ..]) = (known.contains(&"one"), sources.as_slice())
            && first.rdf_format().is_none()
        {
            parameters.push(("one".to_owned(), first.iri.clone()));
        }
        if let Some(after) = self.after {
            if !known.contains(&"after") {
                bail!("--after is about calls without an answer: rpcgraph unanswered LOG --after 30s");
            }
            parameters.push(("after".to_owned(), after.as_millis().to_string()));
        }
        if known.contains(&"lines") && self.ask.has_log_lines() {
            parameters.push(("lines".to_owned(), "yes".to_owned()));
        }
        let is_first = known.contains(&"limit") && !times.by_time && !times.live && !is_sorted && by.is_empty();
        let own_limit = query.own_limit().filter(|_| self.filter.limit.is_none());
        parameters.extend(grouping.iter().map(|name| ((*name).to_owned(), "yes".to_owned())));
        // One row above the query's own limit shows whether there are more.
        let limit = match query.own_limit() {
            Some(_) if !is_first => Some(usize::MAX),
            own => self.filter.limit.filter(|_| is_first).or(own.map(|own| own + 1)),
        };
        parameters.extend(limit.map(|limit| ("limit".to_owned(), limit.to_string())));
        let with = |conditions: &[Condition]| Ok(query.with(&parameters, conditions)?);
        let mut question = Question::named(with, &self.filter, times);
        question.engine = engine;
        question.needs_sessions = sources.iter().all(|source| source.rdf_format().is_some());
        question.protocols = query.protocols();
        question.listing = Listing::from_query(&query);
        if by.is_empty() {
            question.columns = query.table_columns();
            let shown = &mut question.columns.shown;
            let place = shown.len().min(1);
            shown.splice(place..place, grouping.iter().map(|name| (*name).to_owned()));
        }
        question.by = by;
        question.has_known_units = names().contains(&name);
        question.own_limit = own_limit;
        (question.needs_messages, question.needs_times, question.compares) = (needs_messages, needs_times, compares);
        match self.follow {
            false => self.ask.ask(&question, sources),
            true if follows => self.ask.follow(&question, None, sources),
            true if let Some(after) = self.after => {
                let timeline = NamedQuery::find("timeline")?;
                let messages = |conditions: &[Condition]| Ok(timeline.with(&[], conditions)?);
                let mut messages = Question::named(messages, &self.filter, times);
                messages.listing = Listing::from_query(timeline);
                self.ask.follow(&messages, Some((after, &question)), sources)
            }
            true => bail!(
                "--follow is for timeline, errors, and unanswered --after: another answer would change as the log grows"
            ),
        }
    }
}
