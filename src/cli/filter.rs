//! Filters: conditions on messages that mean the same in every question.
//!
//! Queries have places for conditions: `#:messages ?message` is replaced by the conditions on `?message`.

use anyhow::bail;
use clap::Args;
use oxrdf::Term;
// JSON's escapes are SPARQL's.
use crate::json::quoted;
use crate::query::catalogue::Condition;
use crate::query::glob::condition;

use super::bounds::{LogTimes, TIMES, TimeArgument, parse_duration, parse_moment};
use super::values::parse_count;
use super::words::nearest;

/// The heading of filters in help.
pub const FILTERS: &str = "Filter";

#[derive(Debug, Default, Args)]
#[command(next_help_heading = FILTERS)]
pub struct FilterArgs {
    /// Keep messages of a method (glob) and their answers
    ///
    /// In a glob, `*` stands for any text and `?` for a character. Repeat a filter to accept several values.
    #[arg(long, value_name = "GLOB")]
    method: Vec<String>,

    /// Keep calls of a tool (glob), with their answers (MCP)
    #[arg(long, value_name = "GLOB")]
    tool: Vec<String>,

    /// Keep messages with an id (glob)
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    id: Vec<String>,

    /// Keep messages from a sender (glob): client or server
    #[arg(long, value_name = "GLOB")]
    sender: Vec<String>,

    /// Keep sessions of a client (glob), by the name in its description (MCP, LSP)
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    client: Vec<String>,

    /// Keep sessions of a server (glob), by the name in its description (MCP, LSP)
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    server: Vec<String>,

    /// Keep sessions whose IRI ends with this (glob)
    #[arg(long, value_name = "GLOB")]
    session: Vec<String>,

    /// Keep a kind: request, notification, response, error…
    ///
    /// A glob. The others are batch, invalid and malformed.
    #[arg(long, value_name = "GLOB")]
    kind: Vec<String>,

    /// Keep messages since 2026-01-05T10:00:00Z or 10:00:00
    ///
    /// Or since a date; without a zone, in UTC. A time of day is the first one in the log, or applies to each day if the
    /// log has dates of several days. A duration, such as 90s, 10m, 2h or 1d, is a time before the last one in the log. Times
    /// without a zone or a date are compared with the bound as it is written.
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    since: Option<TimeArgument>,

    /// Keep the last 90s, 10m, 2h or 1d of the log
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, conflicts_with = "since")]
    last: Option<TimeArgument>,

    /// Keep messages until a time
    ///
    /// It includes what is not written of it: 10:00 includes 10:00:59, and a date includes its day.
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    until: Option<TimeArgument>,

    /// Keep messages with this text in their payload
    ///
    /// That is in their method, params, result, error or other members, or in an invalid record. Strings are compared as
    /// they read, without JSON's escape sequences.
    #[arg(long, value_name = "TEXT")]
    contains: Option<String>,

    /// Print at most N rows or messages
    #[arg(short = 'n', long, value_name = "N", value_parser = parse_count)]
    pub limit: Option<usize>,
}

/// A property that a glob is compared with: the pattern from a message or a session, `$it`, to its value, and the
/// expression to compare.
struct Property {
    name: &'static str,
    pattern: &'static str,
    value: &'static str,
    scope: Scope,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Message,
    /// The glob is compared with the end of the session's IRI.
    Session,
    /// The session has the value; `$it` is the session.
    Program,
}

const PROPERTIES: [Property; 8] = [
    property("method", "$it jrpc:hasMethod|(rpcg:respondsTo/jrpc:hasMethod) ?filtered", "STR(?filtered)"),
    property("tool", "$it rpcg:toolName|(rpcg:respondsTo/rpcg:toolName) ?filtered", "STR(?filtered)"),
    // Not shortened: a path that begins with a common step is two patterns, and the second would be evaluated for each
    // message.
    property("id", "$it (jrpc:hasId/jrpc:hasStringValue)|(jrpc:hasId/jrpc:hasNumberValue) ?filtered", "STR(?filtered)"),
    property("sender", "$it rpcg:sentBy ?filtered", "LCASE(STRAFTER(STR(?filtered), \"#\"))"),
    property("kind", "$it rdf:type ?filtered", "LCASE(STRAFTER(STR(?filtered), \"#\"))"),
    program("client", "$it rpcg:client ?filtered"),
    program("server", "$it rpcg:server ?filtered"),
    Property { scope: Scope::Session, ..property("session", "$it rpcg:inSession ?filtered", "STR(?filtered)") },
];

/// Short names of kinds.
const KINDS: [(&str, &str); 3] =
    [("error", "errorresponse"), ("invalid", "invalidmessage"), ("malformed", "malformedrecord")];

const fn property(name: &'static str, pattern: &'static str, value: &'static str) -> Property {
    Property { name, pattern, value, scope: Scope::Message }
}

const fn program(name: &'static str, pattern: &'static str) -> Property {
    Property { name, pattern, value: "STR(?filtered)", scope: Scope::Program }
}

const PAYLOADS: &str = "jrpc:hasMethod|jrpc:hasParameters|jrpc:hasResult|\
    (jrpc:hasError/(jrpc:hasErrorMessage|jrpc:hasErrorData|rpcg:value))|rpcg:value|rpcg:text|rpcg:extraMembers";

impl Property {
    /// Returns the pattern for the values of all messages.
    fn values(&self) -> String {
        let it = if self.scope == Scope::Program { "?session" } else { "?message" };
        format!("?message rpcg:inSession ?session . {}", self.pattern.replace("$it", it))
    }

    /// Returns the expression that tests a value for a glob.
    fn fits(&self, glob: &str) -> String {
        let glob = if self.value.starts_with("LCASE") { glob.to_lowercase() } else { glob.to_owned() };
        let value = self.value;
        let kind = KINDS.iter().find(|(short, _)| self.name == "kind" && *short == glob);
        let glob = kind.map_or(glob, |(_, kind)| (*kind).to_owned());
        match (glob.contains(['*', '?']), self.scope == Scope::Session) {
            (false, false) => format!("{value} = {}", quoted(&glob)),
            (false, true) => format!("STRENDS({value}, {})", quoted(&glob)),
            (true, false) => condition(value, &glob),
            (true, true) => condition(value, &format!("*{glob}")),
        }
    }
}

/// True for an option that chooses messages by what they are, not by their times or their number.
pub fn is_filter(id: &str) -> bool {
    id == "contains" || PROPERTIES.iter().any(|property| property.name == id)
}

impl FilterArgs {
    fn globs(&self) -> impl Iterator<Item = (&'static Property, &[String])> {
        let Self { method, tool, id, sender, kind, client, server, session, .. } = self;
        let globs = [method, tool, id, sender, kind, client, server, session].map(Vec::as_slice);
        PROPERTIES.iter().zip(globs).filter(|(_, globs)| !globs.is_empty())
    }

    fn each_glob(&self) -> impl Iterator<Item = (&'static Property, &str)> {
        self.globs().flat_map(|(property, globs)| globs.iter().map(move |glob| (property, glob.as_str())))
    }

    fn times(&self) -> impl Iterator<Item = (&'static str, &TimeArgument)> {
        let times = [("since", &self.since), ("last", &self.last), ("until", &self.until)];
        times.into_iter().filter_map(|(name, moment)| Some((name, moment.as_ref()?)))
    }

    /// Returns the options that were given, with or without their `values`; empty if there are none.
    pub fn given_options(&self, values: bool) -> String {
        let limit = self.limit.map(|limit| limit.to_string());
        let globs = self.each_glob().map(|(property, glob)| (property.name, glob));
        let times = self.times().map(|(name, moment)| (name, moment.text.as_str()));
        let others = [("contains", self.contains.as_deref()), ("limit", limit.as_deref())];
        let others = others.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let all = globs.chain(times).chain(others);
        all.map(|(name, value)| if values { format!("--{name} {value}") } else { format!("--{name}") })
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// True if `--kind` is given.
    pub fn names_kinds(&self) -> bool {
        !self.kind.is_empty()
    }

    /// True if a time is relative to the end of the log.
    pub fn is_relative(&self) -> bool {
        self.times().any(|(_, moment)| moment.is_relative())
    }

    /// True if a time is given.
    pub fn has_times(&self) -> bool {
        self.times().next().is_some()
    }

    /// Returns the conditions for the places in a query; `times` are the times of the messages.
    pub fn conditions(&self, times: &LogTimes) -> anyhow::Result<Vec<Condition>> {
        if let (Some(since), Some(until)) = (&self.since, &self.until)
            && since.is_after(until)
        {
            bail!("--since {} is after --until {}: no message is between them", since.text, until.text);
        }
        let mut conditions = Vec::new();
        for (property, globs) in self.globs() {
            let fits = globs.iter().map(|glob| property.fits(glob)).collect::<Vec<_>>().join(" || ");
            let Property { name, pattern, scope, .. } = property;
            let exists = |pattern: &str| format!("FILTER EXISTS {{ {pattern} FILTER({fits}) }}");
            let (pattern, session) = match scope {
                Scope::Message => (exists(pattern), None),
                Scope::Session => (exists(pattern), Some(format!("FILTER({})", fits.replace("?filtered", "$it")))),
                // The few sessions first, not the name for each message.
                Scope::Program => {
                    let session = format!("?{name}Session");
                    let named = pattern.replace("$it", &session);
                    let sessions = format!("SELECT DISTINCT {session} {{ {named} FILTER({fits}) }}");
                    (format!("{{ {sessions} }} $it rpcg:inSession {session} ."), Some(exists(pattern)))
                }
            };
            conditions.push(Condition { pattern, session });
        }
        for (name, moment) in self.times() {
            conditions.push(Condition { pattern: self.bound(name, moment, times)?, session: None });
        }
        if let Some(text) = &self.contains {
            let pattern = format!("FILTER EXISTS {{ $it {PAYLOADS} ?filtered FILTER({}) }}", contains(text));
            conditions.push(Condition { pattern, session: None });
        }
        Ok(conditions)
    }

    /// Returns the condition of a bound in time.
    fn bound(&self, name: &str, moment: &TimeArgument, times: &LogTimes) -> anyhow::Result<String> {
        match name {
            "until" => moment.condition("<=", times, self.since.as_ref()),
            _ => moment.condition(">=", times, None),
        }
    }

    /// Describes how times are compared with bounds that they cannot be compared with in full.
    pub fn notes(&self, times: &LogTimes) -> Vec<String> {
        self.times().filter_map(|(side, moment)| moment.note(side, times)).collect()
    }

    /// Returns queries that count messages which cannot fulfil a condition, since the log does not state the property;
    /// each with the property.
    pub fn unknown(&self) -> impl Iterator<Item = (&'static str, String)> {
        const KINDS: &str = "jrpc:Request jrpc:Notification jrpc:Response jrpc:ErrorResponse";
        let sender = (!self.sender.is_empty()).then_some(("sender", "rpcg:sentBy"));
        let time = self.times().next().map(|_| ("time", TIMES));
        let count = |path: &str| {
            format!(
                "SELECT (COUNT(*) AS ?count) {{ VALUES ?kind {{ {KINDS} }} ?message a ?kind \
                 FILTER NOT EXISTS {{ ?message {path} ?value }} }}"
            )
        };
        sender.into_iter().chain(time).map(move |(name, path)| (name, count(path)))
    }

    /// Returns queries for the data that [`unmet`](Self::unmet), [`unknown`](Self::unknown) and the end of the log need.
    pub fn asked_beside(&self) -> impl Iterator<Item = String> {
        let patterns = self.globs().map(|(property, _)| property.values());
        let times = [LogTimes::CLOCKS.to_owned(), format!("SELECT ?time {{ ?message {TIMES} ?time }}")];
        patterns
            .map(|pattern| format!("SELECT ?filtered {{ {pattern} }}"))
            .chain(times.into_iter().filter(|_| self.has_times()))
            .chain(self.unknown().map(|(_, query)| query))
    }

    /// Describes the conditions that no message fulfils; `ask` returns the first column of a query's rows, and `times` are
    /// the times of the messages.
    pub fn unmet(
        &self,
        times: &LogTimes,
        mut ask: impl FnMut(&str) -> anyhow::Result<Vec<Term>>,
    ) -> anyhow::Result<Vec<String>> {
        let mut unmet = Vec::new();
        for (property, glob) in self.each_glob() {
            let Property { name, value, scope, .. } = property;
            let pattern = property.values();
            let fits = property.fits(glob);
            if !ask(&format!("SELECT ?filtered {{ {pattern} FILTER({fits}) }} LIMIT 1"))?.is_empty() {
                continue;
            }
            let known = ask(&format!("SELECT DISTINCT ({value} AS ?text) {{ {pattern} }} ORDER BY ?text LIMIT 10000"))?;
            let known: Vec<_> = known
                .iter()
                .map(text_of)
                .map(|text| text.rsplit(['/', '#']).next().filter(|_| *scope == Scope::Session).unwrap_or(text))
                .filter_map(|text| match (*name, text) {
                    // A failure is of another kind, too.
                    ("kind", "failure") => None,
                    ("kind", kind) => {
                        Some(KINDS.iter().find(|(_, long)| *long == kind).map_or(kind, |(short, _)| short))
                    }
                    _ => Some(text),
                })
                .collect();
            unmet.push(match (nearest(glob, known.iter().copied()), known.as_slice()) {
                (_, []) => format!("no message has {} {name}", if *name == "id" { "an" } else { "a" }),
                (Some(near), _) => format!("no message has the {name} {glob:?}; did you mean {near}?"),
                (None, all) => {
                    let (few, more) =
                        (all.get(..10).unwrap_or(all).join(", "), if all.len() > 10 { ", …" } else { "" });
                    let are = if all.len() == 1 { "is" } else { "are" };
                    format!("no message has the {name} {glob:?}; there {are} {few}{more}")
                }
            });
        }
        if self.has_times() && ask(&format!("SELECT ?time {{ ?message {TIMES} ?time }} LIMIT 1"))?.is_empty() {
            unmet.push("no message has a time, for --since, --last and --until".to_owned());
            return Ok(unmet);
        }
        for (name, moment) in self.times() {
            let fits = self.bound(name, moment, times)?.replace("$it", "?message");
            if ask(&format!("SELECT ?message {{ ?message {TIMES} ?time {fits} }} LIMIT 1"))?.is_empty() {
                unmet.push(times.beyond(moment, name));
            }
        }
        Ok(unmet)
    }
}

/// Returns the expression that searches `?filtered` for a text. In JSON, the text may also be part of a string, with the
/// escape sequences of canonical JSON; a text with a backslash can only be in a string of JSON.
fn contains(text: &str) -> String {
    let is_in = |text: &str| format!("CONTAINS(STR(?filtered), {})", quoted(text));
    let mut escaped = quoted(text);
    escaped.pop();
    match escaped.split_off(1) {
        escaped if escaped == text => is_in(text),
        escaped => {
            let raw = if text.contains('\\') { String::new() } else { format!("{} || ", is_in(text)) };
            format!("IF(DATATYPE(?filtered) = rdf:JSON, {raw}{}, {})", is_in(&escaped), is_in(text))
        }
    }
}

/// Returns the text of a term: an IRI, or the text of a literal.
pub fn text_of(term: &Term) -> &str {
    match term {
        Term::NamedNode(node) => node.as_str(),
        Term::Literal(literal) => literal.value(),
        _ => "",
    }
}
