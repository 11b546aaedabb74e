//! The story of an incident: when, why, who waited, what changed, and how sure it is.

mod lines;

use std::collections::HashMap;

use indexmap::IndexMap;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term, Variable};

use super::causes::causes;
use super::facts::{Call, CallOutcome, Facts, FailureFact};
use super::incident::{Bucket, Incident, IncidentKind};
use super::moment::{Zone, clock, date};
use super::rows::{AnswerRow, Part};
use super::units::{counted, duration};
use crate::query::catalogue::NamedQuery;
use crate::query::{QueryError, Solutions};

pub use self::lines::story_lines;

/// The maximum number of rows of a part.
const MAX_ROWS: usize = 6;
/// The maximum number of changes, which an earlier log adds to.
const MAX_CHANGES: usize = 12;
/// The growth of a p95 since an earlier log that is a change.
const SLOWER: f64 = 2.0;
/// The members of a tool that are named if they change. Other members change its digest.
const TOOL_MEMBERS: [&str; 5] = ["title", "description", "inputSchema", "outputSchema", "annotations"];
/// A change this many seconds before the onset is one at the onset.
const BEFORE: f64 = 60.0;
/// Problems that make the pairing of requests and answers uncertain.
const UNSURE: [&str; 2] = ["AmbiguousPairing", "IdReusedWhileOpen"];

/// A part of a story.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoryPart {
    Incident,
    Cause,
    Victim,
    Change,
    Certainty,
    Next,
}

impl StoryPart {
    /// Its name in data, and its heading.
    pub fn names(self) -> [&'static str; 2] {
        match self {
            Self::Incident => ["incident", "Incident"],
            Self::Cause => ["cause", "Causes"],
            Self::Victim => ["victim", "Calls that waited"],
            Self::Change => ["change", "What changed"],
            Self::Certainty => ["certainty", "How sure this is"],
            Self::Next => ["next", "Next"],
        }
    }
}

/// A fact of a story.
#[derive(Debug, Clone)]
pub struct StoryRow {
    pub part: StoryPart,
    pub what: String,
    pub server: Option<String>,
    /// The tool, else the method, or the number of them.
    pub call: Option<String>,
    pub count: Option<usize>,
    /// The number that the count is a part of.
    pub of: Option<usize>,
    pub seconds: Option<f64>,
    pub time: Option<f64>,
    /// The name of the message that shows it.
    pub message: Option<String>,
}

impl StoryRow {
    pub fn new(part: StoryPart, what: impl Into<String>) -> Self {
        let (what, count, of) = (what.into(), None, None);
        Self { part, what, server: None, call: None, count, of, seconds: None, time: None, message: None }
    }

    fn counted(self, count: usize, of: usize) -> Self {
        Self { count: Some(count), of: Some(of), ..self }
    }
}

/// A question that the overview does not ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// The changes of tools within sessions.
    ToolChanges,
    /// The lists of tools, which show the changes over a restart.
    Lists,
    Clocks,
    /// The differences from an earlier log.
    Compare,
}

impl Beside {
    /// Returns the text of the query; `one` is the IRI of the earlier log.
    pub fn text(self, one: Option<&str>) -> anyhow::Result<String> {
        let parameters: Vec<_> = one.map(|iri| ("one".to_owned(), iri.to_owned())).into_iter().collect();
        Ok(match self {
            Self::Clocks => Part::Clocks.text(&[])?,
            Self::ToolChanges => NamedQuery::find("tool-changes")?.with(&[], &[])?,
            Self::Lists => NamedQuery { name: "lists", text: include_str!("lists.rq") }.with(&[], &[])?,
            Self::Compare => NamedQuery::find("compare")?.with(&parameters, &[])?,
        })
    }

    /// Reads the rows of its answer.
    ///
    /// # Errors
    ///
    /// A row cannot be read.
    pub fn rows(self, facts: &mut Facts, solutions: Solutions<'_>) -> Result<Vec<StoryRow>, QueryError> {
        let rows = solutions.rows.map(|row| row.map(AnswerRow)).collect::<Result<Vec<_>, _>>()?;
        Ok(match self {
            Self::ToolChanges => {
                let what =
                    |row: &AnswerRow| ["change", "member"].map(|name| row.text(name).unwrap_or_default()).join(" ");
                rows.iter().map(|row| facts.tool_change(row, what(row).trim())).collect()
            }
            Self::Lists => facts.changed_over_restarts(&rows),
            Self::Clocks => rows.iter().map(uncertainty).collect(),
            Self::Compare => rows.iter().filter_map(since_before).collect(),
        })
    }
}

/// Returns what makes the times of a log, or its pairs, uncertain.
fn uncertainty(row: &AnswerRow) -> StoryRow {
    match row.text("requestsMissing") {
        Some(_) => StoryRow::new(StoryPart::Certainty, "requests are missing from the log"),
        None => StoryRow {
            seconds: row.seconds("seconds"),
            count: Some(row.count("count")),
            ..StoryRow::new(
                StoryPart::Certainty,
                match row.text("estimated") {
                    Some("true") => "answers before their requests: a clock is behind, latencies are corrected",
                    _ => "answers before their requests: a clock is behind",
                },
            )
        },
    }
}

/// Returns a difference from an earlier log that may explain an incident, or shows how much worse a call is.
fn since_before(row: &AnswerRow) -> Option<StoryRow> {
    let [a, b] = ["a", "b"].map(|side| row.text(side));
    let is_shown = match row.text("part")? {
        "programs" | "capabilities" | "tools" => true,
        "outcomes" => row.count("b") > row.count("a"),
        "seconds" => row.text("what")?.ends_with(": p95") && row.seconds("ratio") >= Some(SLOWER),
        _ => false,
    };
    let in_seconds = |text: Option<&str>| match row.text("part") {
        Some("seconds") => text.and_then(|text| text.parse().ok()).map_or_else(|| "none".to_owned(), duration),
        _ => text.unwrap_or("none").to_owned(),
    };
    let what = format!("since the log before: {}: {} → {}", row.text("what")?, in_seconds(a), in_seconds(b));
    is_shown.then(|| StoryRow::new(StoryPart::Change, what))
}

impl Facts {
    /// Returns the rows of the story of an incident; `beside` has the rows of the other questions.
    pub fn story(&self, incident: &Incident, mut beside: Vec<StoryRow>) -> Vec<StoryRow> {
        let Incident { from, to, step, within, rest } = incident;
        let is_within = |time: Option<f64>| time.is_some_and(|time| (*from..*to).contains(&time));
        let calls: HashMap<_, _> = self.calls.iter().map(|call| (call.name.as_str(), call)).collect();
        // The log may begin within the time before the onset: its first calls are not a change.
        let start = self.from.map_or(0.0, |start| start + step);
        let is_near = |time: &f64| (from - step.max(BEFORE)).max(start) <= *time && time < to;
        let failures: Vec<_> = self.failures.iter().filter(|failure| is_within(failure.ended)).cloned().collect();
        let first = failures.iter().min_by(|a, b| a.time.unwrap_or_default().total_cmp(&b.time.unwrap_or_default()));
        let first = first.map(|failure| failure.name.clone());
        let mut rows = vec![
            StoryRow { time: Some(*from), message: first, ..StoryRow::new(StoryPart::Incident, "onset") },
            StoryRow { time: Some(*to), ..StoryRow::new(StoryPart::Incident, "end") },
        ];
        let of_bucket = |what, bucket: &Bucket| {
            let row = StoryRow { seconds: bucket.p95(), ..StoryRow::new(StoryPart::Incident, what) };
            row.counted(bucket.failed, bucket.calls)
        };
        rows.extend([of_bucket("failed calls", within), of_bucket("failed calls in the rest", rest)]);
        if within.silent > 0 {
            let row = StoryRow::new(StoryPart::Incident, "calls that were never answered");
            rows.push(row.counted(within.silent, within.calls));
        }
        rows.extend(self.causes(&failures, &calls));
        rows.extend(self.victims(incident, &calls));
        beside.retain(|row| row.part != StoryPart::Change || row.time.as_ref().is_none_or(is_near));
        let (mut changes, certainty): (Vec<_>, Vec<_>) =
            beside.into_iter().partition(|row| row.part == StoryPart::Change);
        changes.extend(self.changes(is_near, from + step));
        changes.sort_by(|a, b| a.time.unwrap_or(f64::MAX).total_cmp(&b.time.unwrap_or(f64::MAX)));
        rows.extend(shortened(changes, StoryPart::Change, "more changes"));
        rows.extend(self.certainty(certainty.is_empty()));
        rows.extend(certainty);
        let mut shown: Vec<&str> = Vec::new();
        for name in rows.iter().filter_map(|row| row.message.as_deref()) {
            if shown.len() < MAX_ROWS && !shown.contains(&name) {
                shown.push(name);
            }
        }
        let commands = [
            self.show(&shown),
            match incident.kind() {
                IncidentKind::Failing => Some(self.question_about("errors", incident)),
                IncidentKind::Silent => Some(self.question_about("unanswered", incident)),
                IncidentKind::Slow => None,
            },
            Some(self.question_about("slowest", incident)),
        ];
        let commands: Vec<_> = commands.into_iter().flatten().collect();
        rows.extend(commands.into_iter().map(|command| StoryRow::new(StoryPart::Next, command)));
        rows
    }

    /// Returns the options that select the calls of an incident. A time of day matches on every day, and a bound includes
    /// its whole second.
    pub(super) fn bounds(&self, incident: &Incident) -> String {
        let Incident { from, to, .. } = incident;
        match self.is_of_one_day() {
            true => format!("--since {} --until {}", clock(*from, true), clock(to - 1.0, true)),
            false => {
                let last = self.moment(to - 0.001);
                format!("--since {} --until {}", self.moment(*from).value(), last.value())
            }
        }
    }

    /// A time as it is in the graph, to the millisecond.
    fn moment(&self, time: f64) -> Literal {
        let time = (time * 1e3).round() / 1e3;
        let fraction = format!("{:.3}", time - time.floor());
        let fraction = fraction.trim_start_matches('0').trim_end_matches('0').trim_end_matches('.');
        let clock = format!("{}{fraction}", clock(time, true));
        let zone = match self.zone {
            None | Some(Zone::OfDay) => return Literal::new_typed_literal(clock, xsd::TIME),
            Some(Zone::Utc) => "Z".to_owned(),
            Some(Zone::Unknown) => String::new(),
            Some(zone) => zone.name().trim().to_owned(),
        };
        Literal::new_typed_literal(format!("{}T{clock}{zone}", date(time)), xsd::DATE_TIME)
    }

    fn server(&self, call: &Call) -> Option<String> {
        let session = &self.sessions[call.session];
        session.server.clone().or_else(|| (self.sessions.len() > 1).then(|| session.label.clone()))
    }

    /// Why calls failed, the most frequent text first.
    fn causes(&self, failures: &[FailureFact], calls: &HashMap<&str, &Call>) -> Vec<StoryRow> {
        let causes = causes(failures).into_iter().map(|cause| StoryRow {
            call: Some(cause.scope()),
            server: one_or_number(cause.names.iter().filter_map(|name| self.server(calls.get(name)?)), "server"),
            time: cause.first.time,
            message: Some(cause.first.name.clone()),
            ..StoryRow::new(StoryPart::Cause, &cause.first.text).counted(cause.count, failures.len())
        });
        shortened(causes.collect(), StoryPart::Cause, "in other texts")
    }

    /// Calls without a failure that took longer than the rest's p95, and calls that nothing answered, by tool or method.
    fn victims(&self, incident: &Incident, calls: &HashMap<&str, &Call>) -> Vec<StoryRow> {
        let Incident { from, to, rest, .. } = incident;
        let usual = rest.p95().unwrap_or_default();
        let is_in_flight = |call: &&Call| {
            let ends = call.time.map(|time| time + call.seconds.unwrap_or_default());
            call.time.is_some_and(|time| time < *to) && ends.is_some_and(|end| end >= *from)
        };
        let in_flight: Vec<_> = self.calls.iter().filter(is_in_flight).collect();
        let is_late = |call: &&&Call| call.outcome != CallOutcome::Failed && call.seconds > Some(usual);
        let late: Vec<&Call> = in_flight.iter().filter(is_late).copied().collect();
        let mut groups: IndexMap<(&str, Option<String>, &str), Vec<&Call>> = IndexMap::new();
        for call in &late {
            groups.entry(("late", self.server(call), call.what())).or_default().push(call);
        }
        for silent in &self.silent {
            let what = match silent.state.as_str() {
                "waiting" => continue,
                "open" => "open as the log ended",
                "cancelled" => "cancelled without an answer",
                _ => "never answered",
            };
            if let Some(call) = calls.get(silent.name.as_str()).filter(|call| is_in_flight(call)) {
                groups.entry((what, self.server(call), call.what())).or_default().push(call);
            }
        }
        let mut rows: Vec<_> = groups.into_iter().collect();
        rows.sort_by_key(|(_, calls)| std::cmp::Reverse(calls.len()));
        let row = |what: &str, calls: &[&Call]| {
            let slowest = calls.iter().reduce(|a, b| if b.seconds > a.seconds { b } else { a });
            StoryRow {
                seconds: slowest.and_then(|call| call.seconds),
                time: slowest.and_then(|call| call.time),
                message: slowest.map(|call| call.name.clone()),
                ..StoryRow::new(StoryPart::Victim, what).counted(calls.len(), in_flight.len())
            }
        };
        let all = format!("above the rest's p95 of {}", duration(usual));
        let all = (!late.is_empty()).then(|| row(&all, &late));
        let rows = rows.into_iter().map(|((what, server, call), calls)| StoryRow {
            server,
            call: Some(call.to_owned()),
            ..row(what, &calls)
        });
        all.into_iter().chain(shortened(rows.collect(), StoryPart::Victim, "in other tools or methods")).collect()
    }

    /// Returns the change of a tool that a row is about.
    fn tool_change(&mut self, row: &AnswerRow, what: &str) -> StoryRow {
        StoryRow {
            call: row.owned("tool"),
            time: row.text("time").and_then(|text| self.time(text)),
            message: Some(self.name(row.text("message"))),
            ..StoryRow::new(StoryPart::Change, what)
        }
    }

    /// Returns the tools whose definitions differ after a restart of their server; `rows` are the rows of `lists.rq`.
    fn changed_over_restarts(&mut self, rows: &[AnswerRow]) -> Vec<StoryRow> {
        let mut last: Vec<IndexMap<&str, &AnswerRow>> = vec![IndexMap::new(); self.sessions.len()];
        let mut first = last.clone();
        for row in rows {
            if let (Some(session), Some(tool)) = (self.session(row), row.text("tool")) {
                last[session].insert(tool, row);
                first[session].entry(tool).or_insert(row);
            }
        }
        let mut changes = Vec::new();
        for (session, now) in first.iter().enumerate() {
            let before = self.sessions[session].before.map(|before| &last[before]);
            let Some(before) = before.filter(|before| !before.is_empty()) else { continue };
            for (tool, row) in now {
                let what = match before.get(tool) {
                    None => "added with the restart".to_owned(),
                    Some(old) if old.text("digest") == row.text("digest") => continue,
                    Some(old) => {
                        let differ = TOOL_MEMBERS.into_iter().filter(|name| old.text(name) != row.text(name));
                        match differ.collect::<Vec<_>>().join(", ").as_str() {
                            "" => "changed with the restart".to_owned(),
                            members => format!("changed {members} with the restart"),
                        }
                    }
                };
                let server = self.sessions[session].server.clone();
                changes.push(StoryRow { server, ..self.tool_change(row, &what) });
            }
        }
        changes
    }

    /// Connections that began, and tools and methods that were called for the first time before the end of the onset.
    fn changes(&self, is_near: impl Fn(&f64) -> bool, onset: f64) -> Vec<StoryRow> {
        let begun = self.sessions.iter().filter_map(|session| {
            let (name, time) = session.begun.clone()?;
            let version = session.before.map(|before| [&self.sessions[before].version, &session.version]);
            let what = match version {
                None => "connected".to_owned(),
                Some([Some(old), Some(new)]) if old != new => format!("restarted, version {old} → {new}"),
                Some(_) => "restarted".to_owned(),
            };
            let (server, message) = (session.server.clone().or(Some(session.label.clone())), Some(name));
            Some(StoryRow { server, time, message, ..StoryRow::new(StoryPart::Change, what) })
        });
        let mut first: IndexMap<&str, &Call> = IndexMap::new();
        for call in self.calls.iter().filter(|call| call.time.is_some()) {
            let known = first.entry(call.what()).or_insert(call);
            if call.time < known.time {
                *known = call;
            }
        }
        let used = first.into_values().filter(|call| call.method != "initialize" && call.time < Some(onset));
        let used = used.map(|call| StoryRow {
            server: self.server(call),
            call: Some(call.what().to_owned()),
            time: call.time,
            message: Some(call.name.clone()),
            ..StoryRow::new(StoryPart::Change, "called for the first time")
        });
        begun.chain(used).filter(|row| row.time.as_ref().is_some_and(&is_near)).collect()
    }

    /// The data that the numbers rest on.
    fn certainty(&self, have_clocks_agreed: bool) -> Vec<StoryRow> {
        let is_answered =
            |call: &&Call| !matches!(call.outcome, CallOutcome::Silent | CallOutcome::Open | CallOutcome::Unknown);
        let answered: Vec<_> = self.calls.iter().filter(is_answered).collect();
        let timed = answered.iter().filter(|call| call.seconds.is_some()).count();
        let unsure = self.problems.iter().filter(|(problem, ..)| UNSURE.contains(&problem.as_str()));
        let rows = [
            ("answers with the time that they took", timed, answered.len()),
            ("records that are not messages", self.others, self.messages + self.others),
            ("messages with an id that was in use", unsure.map(|(_, count, _)| count).sum(), self.messages),
        ];
        let clocks =
            StoryRow { count: Some(0), ..StoryRow::new(StoryPart::Certainty, "answers before their requests") };
        let rows = rows.map(|(what, count, of)| StoryRow::new(StoryPart::Certainty, what).counted(count, of));
        rows.into_iter().chain(have_clocks_agreed.then_some(clocks)).collect()
    }
}

/// Keeps the first rows of a part, and counts what the others count.
fn shortened(mut rows: Vec<StoryRow>, part: StoryPart, what: &str) -> Vec<StoryRow> {
    let most = if part == StoryPart::Change { MAX_CHANGES } else { MAX_ROWS };
    if rows.len() > most {
        let others = rows.split_off(most - 1);
        let count = others.iter().map(|row| row.count.unwrap_or(1)).sum();
        rows.push(StoryRow { count: Some(count), ..StoryRow::new(part, what) });
    }
    rows
}

/// The only name, or the number of names.
fn one_or_number(names: impl Iterator<Item = String>, noun: &str) -> Option<String> {
    let mut different: Vec<String> = Vec::new();
    names.for_each(|name| {
        if !different.contains(&name) {
            different.push(name);
        }
    });
    if different.len() > 1 { Some(counted(different.len(), noun)) } else { different.pop() }
}

/// Returns the rows as an answer.
pub fn solutions(facts: &Facts, rows: &[StoryRow]) -> Solutions<'static> {
    let names = ["part", "what", "server", "call", "count", "of", "seconds", "time", "message"];
    let variables: Vec<_> = names.map(Variable::new_unchecked).into();
    let columns = variables.clone();
    let rows: Vec<[Option<Term>; 9]> = rows
        .iter()
        .map(|row| {
            let text = |text: &String| Literal::from(text.as_str());
            let number = |count: usize| Literal::from(count as u64);
            let decimal = |seconds: f64| {
                let text = format!("{seconds:.6}");
                Literal::new_typed_literal(text.trim_end_matches('0').trim_end_matches('.'), xsd::DECIMAL)
            };
            let [part, what] = [Literal::from(row.part.names()[0]), text(&row.what)].map(Some);
            let [server, call, message] = [&row.server, &row.call, &row.message].map(|cell| cell.as_ref().map(text));
            let time = row.time.map(|time| facts.moment(time));
            let [count, of] = [row.count, row.of].map(|count| count.map(number));
            [part, what, server, call, count, of, row.seconds.map(decimal), time, message]
                .map(|cell| cell.map(Term::from))
        })
        .collect();
    let rows = rows.into_iter().map(move |row| Ok((columns.clone(), row.to_vec()).into()));
    Solutions { variables, rows: Box::new(rows) }
}
