//! Facts from the rows of the questions.

use std::cmp::Reverse;
use std::collections::HashSet;

use indexmap::IndexMap;
use oxrdf::{Literal, Term, Variable};
use percent_encoding::percent_decode_str;

use super::causes::{grouped, normalised};
use super::facts::{Call, CallOutcome, Facts, FailureFact, SilentCall, UNKNOWN_REQUEST};
use crate::query::catalogue::{Condition, NamedQuery};
use crate::query::{QueryError, QuerySolution, Solutions};

/// A question of the overview.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    TimesOfDay,
    Edges,
    Sessions,
    Programs,
    Calls,
    Outcomes,
    Failures,
    Silent,
    Unsolicited,
    Problems,
    Clocks,
}

impl Part {
    /// The questions up to the calls, in the order in which their rows are taken.
    pub const UP_TO_CALLS: [Self; 5] = [Self::TimesOfDay, Self::Edges, Self::Sessions, Self::Programs, Self::Calls];
    /// The questions after the calls, which their rows name.
    pub const AFTER_CALLS: [Self; 6] =
        [Self::Outcomes, Self::Failures, Self::Silent, Self::Unsolicited, Self::Problems, Self::Clocks];

    /// Returns the text of the query, about messages under conditions.
    pub fn text(self, conditions: &[Condition]) -> anyhow::Result<String> {
        let query = match self {
            Self::TimesOfDay => NamedQuery { name: "clock", text: include_str!("clock.rq") },
            Self::Edges => NamedQuery { name: "edges", text: include_str!("edges.rq") },
            Self::Calls => NamedQuery { name: "calls", text: include_str!("calls.rq") },
            Self::Outcomes => NamedQuery { name: "outcomes", text: include_str!("outcomes.rq") },
            Self::Sessions => NamedQuery { name: "sessions", text: include_str!("sessions.rq") },
            Self::Programs => *NamedQuery::find("handshake")?,
            Self::Failures => *NamedQuery::find("errors")?,
            Self::Silent => *NamedQuery::find("unanswered")?,
            Self::Unsolicited => *NamedQuery::find("unsolicited")?,
            Self::Problems => *NamedQuery::find("problems")?,
            Self::Clocks => NamedQuery { name: "clocks", text: include_str!("clocks.rq") },
        };
        // Clocks differ whatever messages are asked about.
        Ok(query.with(&[], if self == Self::Clocks { &[] } else { conditions })?)
    }
}

/// A row of an answer.
pub(super) struct AnswerRow(pub(super) QuerySolution);

impl AnswerRow {
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name)? {
            Term::NamedNode(node) => Some(node.as_str()),
            Term::BlankNode(node) => Some(node.as_str()),
            Term::Literal(literal) => Some(literal.value()),
            // RDF 1.2, which `rudof_rdf` switches on.
            #[cfg(feature = "shacl")]
            Term::Triple(_) => None,
        }
    }

    pub(super) fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    pub(super) fn count(&self, name: &str) -> usize {
        self.text(name).and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    pub(super) fn seconds(&self, name: &str) -> Option<f64> {
        self.text(name)?.parse().ok()
    }
}

impl Facts {
    /// Takes the rows of a question: first of [`Part::UP_TO_CALLS`], then of [`Part::AFTER_CALLS`].
    ///
    /// # Errors
    ///
    /// A row cannot be read.
    pub fn take(&mut self, part: Part, solutions: Solutions<'_>) -> Result<(), QueryError> {
        let (mut restarts, mut times_of_day, mut calls) = (Vec::new(), Vec::new(), Vec::new());
        for solution in solutions.rows {
            let row = AnswerRow(solution?);
            match part {
                Part::TimesOfDay => times_of_day.extend(row.text("time").and_then(|text| self.time(text))),
                Part::Edges => self.take_edges(&row),
                Part::Sessions => restarts.extend(self.take_session(&row)),
                Part::Programs => self.take_programs(&row),
                Part::Calls => calls.extend(self.call(&row)),
                Part::Outcomes => self.take_outcome(&row),
                Part::Failures => self.take_failure(&row),
                Part::Silent => self.take_silent(&row),
                // A sentence about problems names second answers.
                Part::Unsolicited if row.text("problem").is_some() => {}
                Part::Unsolicited => {
                    let (name, session) = (self.name(row.text("message")), self.session(&row));
                    let first = session
                        .and_then(|session| self.calls.get(self.calls.partition_point(|call| call.session < session)));
                    let first = first.filter(|call| Some(call.session) == session);
                    let is_first = first.is_some_and(|call| record(&name) < record(&call.name));
                    self.add_unsolicited(name, session, is_first);
                }
                Part::Problems => self.take_problem(&row),
                Part::Clocks => {
                    self.requests_missing |= row.text("requestsMissing").is_some();
                    self.note_clocks(row.seconds("seconds"), row.text("estimated") == Some("true"));
                }
            }
        }
        self.take_calls(calls);
        // The records of several logs are not in one order.
        if self.logs.len() == 1 {
            self.take_clock(&times_of_day);
        }
        match part {
            Part::Programs => self.inherit_servers(),
            Part::Silent => self.end_open(),
            _ => {}
        }
        if part == Part::Sessions {
            // A file without messages, as in a folder of other files, does not count as a damaged log.
            let several = self.of_logs.len() > 1 && self.of_logs.values().any(|[messages, ..]| *messages > 0);
            for [messages, others, malformed] in self.of_logs.values() {
                if several && *messages == 0 {
                    self.without_messages += 1;
                    continue;
                }
                (self.messages, self.others, self.malformed) =
                    (self.messages + messages, self.others + others, self.malformed + malformed);
            }
            let before = |(session, before)| Some((session, *self.places.get(&before)?));
            let restarts: Vec<_> = restarts.into_iter().filter_map(before).collect();
            self.note_restarts(restarts);
        }
        Ok(())
    }

    fn take_edges(&mut self, row: &AnswerRow) {
        self.has_senders |= row.text("sender").is_some();
        for (name, is_first) in [("from", true), ("to", false)] {
            // The least and the greatest time of day are not the edges of a log that passes midnight.
            let time = row.text(name).filter(|_| self.before_midnight.is_none()).and_then(|text| self.time(text));
            if let Some(time) = time {
                let edge = if is_first { &mut self.from } else { &mut self.to };
                let keep = edge.is_some_and(|edge| if is_first { edge <= time } else { edge >= time });
                if !keep {
                    *edge = Some(time);
                }
            }
        }
    }

    /// Takes a class of a session's records. Returns the place of the session and the session that it restarted, if there is one.
    fn take_session(&mut self, row: &AnswerRow) -> Option<(usize, String)> {
        let (session, format) = (row.text("session")?, row.owned("format").unwrap_or_default());
        let log = session.split('#').next().unwrap_or_default();
        let [messages, others, malformed] = self.of_logs.entry(log.to_owned()).or_default();
        let count = row.count("count");
        match row.text("type").and_then(|class| class.rsplit('#').next()) {
            Some("Request" | "Notification" | "Response" | "ErrorResponse") => *messages += count,
            Some("InvalidMessage") => *others += count,
            Some("MalformedRecord") => (*others, *malformed) = (*others + count, *malformed + count),
            _ => {}
        }
        if !self.formats.contains(&format) {
            self.formats.push(format);
        }
        let known = self.session(row);
        let place = known.unwrap_or_else(|| {
            let label = match session.split_once("#session-") {
                Some((_, key)) => percent_decode_str(key).decode_utf8_lossy().into_owned(),
                None => row.owned("source").unwrap_or_default(),
            };
            self.begin_session(label)
        });
        self.places.insert(session.to_owned(), place);
        Some((place, row.owned("before")?))
    }

    fn take_programs(&mut self, row: &AnswerRow) {
        let with = |name: &str, version: &str| {
            let name = row.text(name)?;
            Some(row.text(version).map_or_else(|| name.to_owned(), |version| format!("{name} {version}")))
        };
        let (client, server) = (with("client", "clientVersion"), with("server", "serverVersion"));
        if let Some(session) = self.session(row) {
            let (name, time) = (self.name(row.text("request")), row.text("time").and_then(|text| self.time(text)));
            let session = &mut self.sessions[session];
            session.begun.get_or_insert((name, time));
            session.server = row.owned("server").or(session.server.take());
            session.version = row.owned("serverVersion").or(session.version.take());
        }
        self.add_programs(client.as_deref(), server.as_deref(), row.text("agreed"));
    }

    /// Returns the call in a row: its session and record, the IRI of its request, and the call.
    fn call(&mut self, row: &AnswerRow) -> Option<([usize; 3], String, Call)> {
        let (request, session) = (row.owned("request")?, self.session(row)?);
        let outcome = match row.text("state").and_then(|state| state.rsplit('#').next()) {
            Some("Answered") => CallOutcome::Answered,
            Some("Cancelled") => CallOutcome::Cancelled,
            Some("NotCaptured") => CallOutcome::Unknown,
            Some("Open" | "Waiting") => CallOutcome::Open,
            _ => CallOutcome::Silent,
        };
        let time = row.text("time").and_then(|text| self.time(text));
        let (tool, seconds) = (row.owned("tool"), row.seconds("seconds"));
        let (name, method) = (self.name(Some(&request)), row.owned("method").unwrap_or_default());
        let [record, element] = record(&name);
        let call = Call { name, session, time, method, tool, seconds, ended: None, outcome };
        Some(([session, record, element], request, call))
    }

    fn take_outcome(&mut self, row: &AnswerRow) {
        let ended = row.text("ended").and_then(|text| self.time(text));
        let call = row.text("request").and_then(|request| self.requests.get(request));
        let Some(call) = call.map(|place| &mut self.calls[*place]) else { return };
        match row.text("code") {
            None => (call.outcome, call.ended) = (CallOutcome::Failed, ended),
            code if call.outcome == CallOutcome::Answered => call.outcome = CallOutcome::of_code(code),
            _ => {}
        }
    }

    /// Takes the calls in the order of the log. The rows are nearly sorted already.
    fn take_calls(&mut self, mut calls: Vec<([usize; 3], String, Call)>) {
        calls.sort_by_key(|(place, ..)| *place);
        // A second answer to a request is a row, too.
        calls.dedup_by(|(_, request, _), (_, before, _)| request == before);
        for (_, request, call) in calls {
            self.requests.insert(request, self.calls.len());
            self.calls.push(call);
        }
    }

    fn take_failure(&mut self, row: &AnswerRow) {
        let time = row.text("time").and_then(|text| self.time(text));
        let call = row.text("request").and_then(|request| self.requests.get(request)).map(|place| &self.calls[*place]);
        let unknown = if row.text("failure") == Some("http") { "HTTP" } else { UNKNOWN_REQUEST };
        let failure = FailureFact {
            name: call.map_or_else(|| self.name(row.text("message")), |call| call.name.clone()),
            time: call.and_then(|call| call.time).or(time),
            ended: time,
            of_call: call.is_some(),
            is_tool: row.text("tool").is_some(),
            what: row.text("tool").or(row.text("method")).unwrap_or(unknown).to_owned(),
            code: row.owned("code"),
            text: row.owned("error").unwrap_or_default(),
        };
        self.failures.push(failure);
    }

    fn take_silent(&mut self, row: &AnswerRow) {
        let time = row.text("time").and_then(|text| self.time(text));
        // The question does not know the end of the log if times have no date.
        let to_end = self.to.zip(time).filter(|_| row.text("until") == Some("end")).map(|(to, time)| to - time);
        let silent = SilentCall {
            name: self.name(row.text("message")),
            time,
            waited: row.seconds("waited").or(to_end),
            what: row.owned("tool").or_else(|| row.owned("method")).unwrap_or_default(),
            state: row.owned("state").unwrap_or_default(),
        };
        self.has_exit |= row.text("until") == Some("exit");
        self.silent.push(silent);
    }

    fn take_problem(&mut self, row: &AnswerRow) {
        let Some(problem) = row.text("problem").filter(|problem| !problem.is_empty()) else { return };
        let (count, first) = (row.count("count"), self.name(row.text("message")));
        match self.problems.iter_mut().find(|(known, ..)| known == problem) {
            Some((_, known, _)) => *known += count,
            None => self.problems.push((problem.to_owned(), count, first)),
        }
    }

    pub(super) fn session(&self, row: &AnswerRow) -> Option<usize> {
        self.places.get(row.text("session")?).copied()
    }

    /// The name of a message: `m7`, or with several logs `log.ndjson#m7`.
    pub(super) fn name(&self, node: Option<&str>) -> String {
        let node = node.unwrap_or_default();
        let from = if self.logs.len() > 1 { node.rfind('/') } else { node.rfind('#') };
        node.get(from.map_or(0, |at| at + 1)..).unwrap_or_default().to_owned()
    }
}

/// The number of the record in the name of a message, and its place in a batch; 0 if it has none.
fn record(name: &str) -> [usize; 2] {
    let number = name.rsplit_once('m').map_or("", |(_, number)| number);
    let (record, element) = number.split_once('.').unwrap_or((number, ""));
    [record, element].map(|number| number.parse().unwrap_or_default())
}

/// Returns the value of a column.
fn value(row: Option<&AnswerRow>, name: &str) -> Option<Term> {
    row.and_then(|row| row.0.get(name)).cloned()
}

/// Groups rows by the values of some columns, the largest group first: the values, the number of rows, the first message, and
/// the first and the last time. The column `cause` is the text of `error`, numbers and quoted words aside.
///
/// # Errors
///
/// A row cannot be read.
pub fn by_columns(solutions: Solutions<'_>, columns: &[&'static str]) -> Result<Solutions<'static>, QueryError> {
    let of_answer = |column: &&'static str| if *column == "cause" { "error" } else { column };
    let sources: Vec<_> = columns.iter().map(of_answer).collect();
    let mut groups = IndexMap::<Vec<String>, Vec<AnswerRow>>::new();
    for row in solutions.rows {
        let row = AnswerRow(row?);
        let key = |column: &&'static str| {
            let text = row.text(of_answer(column)).unwrap_or_default();
            if *column == "cause" { normalised(text) } else { text.to_owned() }
        };
        groups.entry(columns.iter().map(key).collect()).or_default().push(row);
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.sort_by_key(|group| Reverse(group.len()));
    let names = sources.iter().copied().chain(["count", "message", "time", "last"]);
    let variables: Vec<_> = names.map(Variable::new_unchecked).collect();
    let shown = variables.clone();
    let rows = groups.into_iter().map(move |group| {
        let (first, last) = (group.first(), group.last());
        let mut values: Vec<_> = sources.iter().map(|source| value(first, source)).collect();
        values.push(Some(Literal::from(group.len() as u64).into()));
        values.extend([value(first, "message"), value(first, "time"), value(last, "time")]);
        Ok((shown.clone(), values).into())
    });
    Ok(Solutions { variables, rows: Box::new(rows) })
}

/// Groups the rows of `errors` by their causes: the first message, the number, its error, the code, tool and method (of several,
/// their number), the first time and the last.
///
/// # Errors
///
/// A row cannot be read.
pub fn by_cause(solutions: Solutions<'_>) -> Result<Solutions<'static>, QueryError> {
    const SHARED: [&str; 3] = ["code", "tool", "method"];
    let names = ["message", "count", "error"].into_iter().chain(SHARED).chain(["time", "last"]);
    let variables: Vec<_> = names.map(Variable::new_unchecked).collect();
    let columns = variables.clone();
    let rows = solutions.rows.map(|row| row.map(AnswerRow)).collect::<Result<Vec<_>, _>>()?;
    let causes = grouped(rows, |row| (row.text("error").unwrap_or_default(), row.text("code")));
    let rows = causes.into_iter().map(move |failures| {
        let (first, last) = (failures.first(), failures.last());
        let count = Literal::from(failures.len() as u64).into();
        let mut values = vec![value(first, "message"), Some(count), value(first, "error")];
        values.extend(SHARED.map(|name| {
            let different: HashSet<_> = failures.iter().filter_map(|row| row.text(name)).collect();
            match different.len() {
                0 | 1 => failures.iter().find_map(|row| row.0.get(name)).cloned(),
                several => Some(Literal::from(format!("{several} {name}s")).into()),
            }
        }));
        values.extend([value(first, "time"), value(last, "time")]);
        Ok((columns.clone(), values).into())
    });
    Ok(Solutions { variables, rows: Box::new(rows) })
}
