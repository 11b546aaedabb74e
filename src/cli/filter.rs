//! Filters: conditions on messages that mean the same in every question.
//!
//! Queries have places for conditions: `#:messages ?message` is replaced by the conditions on `?message`.

use std::str::FromStr as _;

use anyhow::anyhow;
use clap::Args;
use oxrdf::Term;
use oxsdatatypes::{DateTime, DayTimeDuration, Decimal, Duration, Time};
// JSON's escapes are SPARQL's.
use crate::json::quoted;
use crate::query::catalogue::Condition;

use super::words::nearest;

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Filter")]
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
    #[arg(long, value_name = "GLOB")]
    id: Vec<String>,

    /// Keep messages from a sender (glob): client or server
    #[arg(long, value_name = "GLOB")]
    sender: Vec<String>,

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
    /// Or since a date. A duration, such as 90s, 10m, 2h or 1d, is a time before the last one in the log.
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    since: Option<TimeArgument>,

    /// Keep the last 90s, 10m, 2h or 1d of the log
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, conflicts_with = "since")]
    last: Option<TimeArgument>,

    /// Keep messages until a time
    ///
    /// A time of day includes what is not written of it: 10:00:00 includes 10:00:00.9.
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    until: Option<TimeArgument>,

    /// Keep messages with this text in their payload
    ///
    /// That is in their method, params, result, error or other members, or in an invalid record.
    #[arg(long, value_name = "TEXT")]
    contains: Option<String>,

    /// Print at most N rows or messages
    #[arg(short = 'n', long, value_name = "N")]
    pub limit: Option<usize>,
}

/// A time as typed, and its meaning.
#[derive(Debug, Clone)]
struct TimeArgument {
    text: String,
    at: TimeArgumentKind,
}

#[derive(Debug, Clone)]
enum TimeArgumentKind {
    At(DateTime),
    /// A time of day, as precise as it was typed.
    Clock(String),
    /// A duration before the end of the log.
    Before(DayTimeDuration),
}

fn parse_moment(text: &str) -> Result<TimeArgument, String> {
    let at = parse_moment_kind(text).ok_or("expected a time such as 2026-01-05T10:00:00Z, 10:00:00 or 10m")?;
    Ok(TimeArgument { text: text.to_owned(), at })
}

fn parse_duration(text: &str) -> Result<TimeArgument, String> {
    let expected = || "expected a duration such as 90s, 10m, 2h or 1d".to_owned();
    parse_moment(text).ok().filter(|moment| matches!(moment.at, TimeArgumentKind::Before(_))).ok_or_else(expected)
}

fn parse_moment_kind(text: &str) -> Option<TimeArgumentKind> {
    let units = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400)];
    let stripped = units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(*unit)?, *seconds)));
    if let Some((number, unit)) = stripped
        && let Ok(number) = Decimal::from_str(number)
        && let Some(seconds) = number.checked_mul(Decimal::from(unit))
    {
        return Some(TimeArgumentKind::Before(DayTimeDuration::new(seconds)));
    }
    let digits = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'));
    if digits && text.get(2..3) == Some(":") {
        return Some(TimeArgumentKind::Clock(text.to_owned()));
    }
    // A date and time with a time zone.
    let time = |text: String| DateTime::from_str(&text).ok().filter(|time| time.timezone_offset().is_some());
    let text = text.replacen(' ', "T", 1);
    let at = ["", "Z", ":00Z", "T00:00:00Z"].into_iter().find_map(|rest| time(format!("{text}{rest}")));
    at.map(TimeArgumentKind::At)
}

/// A property that a glob is compared with: the path from a message to its value, and the expression to compare.
struct Property {
    name: &'static str,
    path: &'static str,
    value: &'static str,
    /// True if the glob is compared with the end of the value.
    ending: bool,
}

const PROPERTIES: [Property; 6] = [
    property("method", "jrpc:hasMethod|(rpcg:respondsTo/jrpc:hasMethod)", "STR(?filtered)"),
    property("tool", "rpcg:toolName|(rpcg:respondsTo/rpcg:toolName)", "STR(?filtered)"),
    // Not shortened: a path that begins with a common step is two patterns, and the second would be evaluated for each
    // message.
    property("id", "(jrpc:hasId/jrpc:hasStringValue)|(jrpc:hasId/jrpc:hasNumberValue)", "STR(?filtered)"),
    property("sender", "rpcg:sentBy", "LCASE(STRAFTER(STR(?filtered), \"#\"))"),
    property("kind", "rdf:type", "LCASE(STRAFTER(STR(?filtered), \"#\"))"),
    Property { ending: true, ..property("session", "rpcg:inSession", "STR(?filtered)") },
];

/// Short names of kinds.
const KINDS: [(&str, &str); 3] =
    [("error", "errorresponse"), ("invalid", "invalidmessage"), ("malformed", "malformedrecord")];

const fn property(name: &'static str, path: &'static str, value: &'static str) -> Property {
    Property { name, path, value, ending: false }
}

/// The path from a message to its times.
pub const TIMES: &str = "rpcg:capturedAt|rpcg:clockTime";

const PAYLOADS: &str = "jrpc:hasMethod|jrpc:hasParameters|jrpc:hasResult|\
    (jrpc:hasError/(jrpc:hasErrorMessage|jrpc:hasErrorData|rpcg:value))|rpcg:value|rpcg:text|rpcg:extraMembers";

impl Property {
    /// Returns the expression that tests a value for a glob.
    fn fits(&self, glob: &str) -> String {
        let glob = if self.value.starts_with("LCASE") { glob.to_lowercase() } else { glob.to_owned() };
        let value = self.value;
        let kind = KINDS.iter().find(|(short, _)| self.name == "kind" && *short == glob);
        let glob = kind.map_or(glob, |(_, kind)| (*kind).to_owned());
        match (glob.contains(['*', '?']), self.ending) {
            (false, false) => format!("{value} = {}", quoted(&glob)),
            (false, true) => format!("STRENDS({value}, {})", quoted(&glob)),
            (true, ending) => {
                let mut regex = String::from(if ending { "" } else { "^" });
                for character in glob.chars() {
                    match character {
                        '*' => regex.push_str(".*"),
                        '?' => regex.push('.'),
                        _ => regex.push_str(&regex::escape(&character.to_string())),
                    }
                }
                regex.push('$');
                format!("REGEX({value}, {}, \"s\")", quoted(&regex))
            }
        }
    }
}

impl FilterArgs {
    fn globs(&self) -> impl Iterator<Item = (&'static Property, &[String])> {
        let Self { method, tool, id, sender, kind, session, .. } = self;
        let globs = [method, tool, id, sender, kind, session].map(Vec::as_slice);
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
    pub fn said(&self, values: bool) -> String {
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
        self.times().any(|(_, moment)| matches!(moment.at, TimeArgumentKind::Before(_)))
    }

    /// Returns the conditions for the places in a query; `end` is the last time of the messages.
    pub fn conditions(&self, end: Option<&str>) -> anyhow::Result<Vec<Condition>> {
        let mut conditions = Vec::new();
        for (property, globs) in self.globs() {
            let fits = globs.iter().map(|glob| property.fits(glob)).collect::<Vec<_>>().join(" || ");
            let pattern = format!("FILTER EXISTS {{ $it {} ?filtered FILTER({fits}) }}", property.path);
            let session = property.ending.then(|| format!("FILTER({})", fits.replace("?filtered", "$it")));
            conditions.push(Condition { pattern, session });
        }
        for (name, moment) in self.times() {
            let fits = moment.at.fits(if name == "until" { "<=" } else { ">=" }, end)?;
            let pattern = format!("FILTER EXISTS {{ $it {TIMES} ?filtered FILTER({fits}) }}");
            conditions.push(Condition { pattern, session: None });
        }
        if let Some(text) = &self.contains {
            let pattern = format!(
                "FILTER EXISTS {{ $it {PAYLOADS} ?filtered FILTER(CONTAINS(STR(?filtered), {})) }}",
                quoted(text)
            );
            conditions.push(Condition { pattern, session: None });
        }
        Ok(conditions)
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
        let paths = self.globs().map(|(property, _)| property.path);
        let times = self.times().next().map(|_| TIMES);
        paths
            .chain(times)
            .map(|path| format!("SELECT ?filtered {{ ?message rpcg:inSession ?session ; {path} ?filtered }}"))
            .chain(self.unknown().map(|(_, query)| query))
    }

    /// Describes the conditions that no message fulfils; `ask` returns the first column of a query's rows.
    pub fn unmet(&self, mut ask: impl FnMut(&str) -> anyhow::Result<Vec<Term>>) -> anyhow::Result<Vec<String>> {
        let mut unmet = Vec::new();
        for (property, glob) in self.each_glob() {
            let Property { name, path, value, .. } = property;
            let pattern = format!("?message rpcg:inSession ?session ; {path} ?filtered");
            let fits = property.fits(glob);
            if !ask(&format!("SELECT ?filtered {{ {pattern} FILTER({fits}) }} LIMIT 1"))?.is_empty() {
                continue;
            }
            let known = ask(&format!("SELECT DISTINCT ({value} AS ?text) {{ {pattern} }} ORDER BY ?text LIMIT 10000"))?;
            let known: Vec<_> = known
                .iter()
                .map(text_of)
                .map(|text| text.rsplit(['/', '#']).next().filter(|_| property.ending).unwrap_or(text))
                .collect();
            unmet.push(match (nearest(glob, known.iter().copied()), known.as_slice()) {
                (_, []) => format!("no message has {} {name}", if *name == "id" { "an" } else { "a" }),
                (Some(near), _) => format!("no message has the {name} {glob:?}; did you mean {near}?"),
                (None, all) => {
                    let (few, more) =
                        (all.get(..10).unwrap_or(all).join(", "), if all.len() > 10 { ", …" } else { "" });
                    format!("no message has the {name} {glob:?}; there are {few}{more}")
                }
            });
        }
        if self.times().next().is_some()
            && ask(&format!("SELECT ?time {{ ?message {TIMES} ?time }} LIMIT 1"))?.is_empty()
        {
            unmet.push("no message has a time, for --since, --last and --until".to_owned());
        }
        Ok(unmet)
    }
}

impl TimeArgumentKind {
    /// Returns the expression that compares `?filtered` with this time by `sign`.
    fn fits(&self, sign: &str, end: Option<&str>) -> anyhow::Result<String> {
        let before = |duration: &DayTimeDuration, end: &str| {
            let duration = Duration::from(*duration);
            match DateTime::from_str(end) {
                Ok(end) => Some(Self::At(end.checked_sub_duration(duration)?)),
                Err(_) => {
                    let time = Time::from_str(end).ok()?.checked_sub_duration(duration)?.to_string();
                    Some(Self::Clock(time.trim_end_matches('Z').to_owned()))
                }
            }
        };
        match self {
            Self::At(time) => Ok(format!("?filtered {sign} \"{time}\"^^xsd:dateTime")),
            // Compares the times of day as texts without zones, and only as many characters as were typed.
            Self::Clock(time) => {
                let time = if time.contains('.') { time.trim_end_matches('0') } else { time };
                let (length, time) = (time.len(), quoted(time));
                Ok(format!(
                    "SUBSTR(REPLACE(STR(?filtered), \"^.*T|(Z|[+-][0-9:]+)$\", \"\"), 1, {length}) {sign} {time}"
                ))
            }
            Self::Before(duration) => match end {
                Some(end) => before(duration, end)
                    .ok_or_else(|| anyhow!("the end of the log, {end}, is not a time that --since can count from"))?
                    .fits(sign, None),
                // Any time, as long as the end is unknown.
                None => Ok("BOUND(?filtered)".to_owned()),
            },
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
