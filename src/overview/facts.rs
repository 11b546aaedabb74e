//! Facts about logs.

use std::collections::{HashMap, HashSet};

use super::incident::{TIMES, percentile};
use super::moment::{Zone, parse};

/// The seconds of a day.
const DAY: f64 = 86_400.0;
/// A message is late by less than these seconds.
const LATE: f64 = 60.0;

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    Answered,
    Failed,
    /// Its sender cancelled it, whether it was answered or not.
    Cancelled,
    /// LSP: the content changed while it was answered.
    Outdated,
    /// Nothing answered it: it was lost in a restart, superseded, or others were answered instead.
    Silent,
    /// The log ends before its answer, or it waits for an event.
    Open,
    /// Its answer is not in the log, which holds one side only.
    Unknown,
}

impl CallOutcome {
    /// Returns the outcome of a call that did not fail. Its answer may have an error code, if the call was cancelled or its
    /// result is outdated.
    pub fn of_code(code: Option<&str>) -> Self {
        match code {
            Some("-32800") => Self::Cancelled,
            Some("-32801" | "-32802") => Self::Outdated,
            _ => Self::Answered,
        }
    }
}

/// A request, and its answer.
#[derive(Debug, Clone)]
pub struct Call {
    pub name: String,
    /// The place of its session in [`Facts::sessions`].
    pub session: usize,
    pub time: Option<f64>,
    pub method: String,
    pub tool: Option<String>,
    pub seconds: Option<f64>,
    /// The time of its answer.
    pub ended: Option<f64>,
    pub outcome: CallOutcome,
}

impl Call {
    /// True if an answer is in the log.
    pub fn is_answered(&self) -> bool {
        matches!(self.outcome, CallOutcome::Answered | CallOutcome::Failed | CallOutcome::Outdated)
    }

    /// The tool, else the method.
    pub fn what(&self) -> &str {
        self.tool.as_deref().unwrap_or(&self.method)
    }

    /// The time at which an incident counts it. As `--since` and `--until` choose: a failure by the time of its answer, which
    /// `errors` lists, and other calls by the time of the request.
    pub fn counted_at(&self) -> Option<f64> {
        self.ended.filter(|_| self.outcome == CallOutcome::Failed).or(self.time)
    }
}

/// Returns the number of calls whose answers have a latency, and the number of those with answers.
pub fn timed_answers<'c>(calls: impl Iterator<Item = &'c Call>) -> (usize, usize) {
    calls
        .filter(|call| call.is_answered())
        .fold((0, 0), |(timed, all), call| (timed + usize::from(call.seconds.is_some()), all + 1))
}

/// The method of an error without a request in the log.
pub const UNKNOWN_REQUEST: &str = "unknown request";

/// A failure.
#[derive(Debug, Clone)]
pub struct FailureFact {
    /// The name of the request, else of the message that failed.
    pub name: String,
    /// The time of the request, else of the message that failed.
    pub time: Option<f64>,
    /// The time of the message that failed.
    pub ended: Option<f64>,
    /// The tool, the method, `HTTP`, or [`UNKNOWN_REQUEST`].
    pub what: String,
    /// True if a call failed; false for an error without its request, and for HTTP that brought notifications.
    pub of_call: bool,
    pub is_tool: bool,
    pub code: Option<String>,
    pub text: String,
}

/// A request without an answer.
#[derive(Debug, Clone)]
pub struct SilentCall {
    pub name: String,
    pub time: Option<f64>,
    pub what: String,
    /// `cancelled`, `superseded`, `unanswered`, `lost`, `open` or `waiting`.
    pub state: String,
    /// The seconds until it was cancelled, its connection began anew or the log ended, as far as the log tells.
    pub waited: Option<f64>,
}

/// A session and its programs.
#[derive(Debug, Clone, Default)]
pub struct SessionFact {
    pub label: String,
    pub server: Option<String>,
    /// The version of the server.
    pub version: Option<String>,
    /// The name and time of its `initialize`.
    pub begun: Option<(String, Option<f64>)>,
    /// The session of the same connection before it began anew.
    pub before: Option<usize>,
    /// True if a call of it is known.
    pub has_calls: bool,
}

impl SessionFact {
    /// The key of the connection, and its server.
    pub fn name(&self) -> String {
        self.server.as_deref().map_or_else(|| self.label.clone(), |server| format!("{} {server}", self.label))
    }
}

/// The facts about one log or several.
#[derive(Debug, Default)]
pub struct Facts {
    #[cfg(feature = "cli")]
    pub repeated: super::RepeatedArgs,
    pub logs: Vec<String>,
    pub formats: Vec<String>,
    pub messages: usize,
    /// Records that are not messages.
    pub others: usize,
    pub malformed: usize,
    /// Logs beside others that hold no message; their records are not counted.
    pub without_messages: usize,
    /// The messages, the other records and those that are not JSON, by the IRI of the log.
    pub(super) of_logs: HashMap<String, [usize; 3]>,
    /// The lines of text beside the records, as far as they are known.
    pub text_lines: usize,
    pub from: Option<f64>,
    pub to: Option<f64>,
    pub zone: Option<Zone>,
    /// The first time of a log of times of day that passes midnight: earlier times are of the next day.
    pub(crate) before_midnight: Option<f64>,
    pub has_senders: bool,
    /// Client, server and protocol, with the number of their connections.
    pub programs: Vec<(String, usize)>,
    pub sessions: Vec<SessionFact>,
    pub calls: Vec<Call>,
    pub failures: Vec<FailureFact>,
    pub silent: Vec<SilentCall>,
    /// Answers to no request, without second answers.
    pub unsolicited: Vec<String>,
    /// Answers before the first request of their session: the log begins late. The name, and the place of the session.
    pub late: Vec<(String, usize)>,
    /// True if the log states that a server exited.
    pub has_exit: bool,
    /// True if the log lacks the requests of most answers.
    pub requests_missing: bool,
    /// The most by which an answer is before its request, in seconds.
    pub clock_offset: Option<f64>,
    /// True if the latencies of a session whose clocks differ are not corrected.
    pub latencies_uncertain: bool,
    /// Problem, number and first message.
    pub problems: Vec<(String, usize, String)>,
    /// The sessions and the calls by their IRIs.
    pub(super) places: HashMap<String, usize>,
    pub(super) requests: HashMap<String, usize>,
}

impl Facts {
    /// Creates facts about logs with these names.
    pub fn for_logs(logs: Vec<String>) -> Self {
        Self { logs, ..Self::default() }
    }

    /// Notes by how many seconds the clocks of a session differ, and whether its latencies are corrected.
    pub(crate) fn note_clocks(&mut self, seconds: Option<f64>, are_corrected: bool) {
        self.clock_offset = self.clock_offset.into_iter().chain(seconds).reduce(f64::max);
        self.latencies_uncertain |= seconds.is_some() && !are_corrected;
    }

    /// Adds a session by its key. Returns its place.
    pub(crate) fn begin_session(&mut self, label: String) -> usize {
        self.sessions.push(SessionFact { label, ..SessionFact::default() });
        self.sessions.len() - 1
    }

    /// Notes sessions that a restart began, each with the session before. They take the label of the first session of their
    /// connection.
    pub(crate) fn note_restarts(&mut self, restarts: impl IntoIterator<Item = (usize, usize)>) {
        restarts.into_iter().for_each(|(session, before)| self.sessions[session].before = Some(before));
        // Each session is visited once: there may be thousands, and in a graph that somebody wrote, they may be in a circle.
        let mut is_known = vec![false; self.sessions.len()];
        for session in 0..self.sessions.len() {
            let (mut first, mut later) = (session, Vec::new());
            while let Some(before) = self.sessions[first].before
                && !std::mem::replace(&mut is_known[first], true)
            {
                later.push(first);
                first = before;
            }
            let label = self.sessions[first].label.clone();
            later.into_iter().for_each(|session| self.sessions[session].label.clone_from(&label));
        }
    }

    /// Notes an answer without a request.
    pub(crate) fn add_unsolicited(&mut self, name: String, session: Option<usize>, is_first: bool) {
        match session.filter(|_| is_first) {
            Some(session) => self.late.push((name, session)),
            None => self.unsolicited.push(name),
        }
    }

    /// Sorts out answers of sessions without a request, of which the log does not begin late.
    pub(crate) fn end_unsolicited(&mut self) {
        let all = std::mem::take(&mut self.late).into_iter();
        let (late, others): (Vec<_>, Vec<_>) = all.partition(|(_, session)| self.sessions[*session].has_calls);
        self.late = late;
        self.unsolicited.splice(0..0, others.into_iter().map(|(name, _)| name));
    }

    /// Takes calls as silent that were open at the end of the log and had waited far longer than answers take: the end did not
    /// cut their answers off.
    pub(crate) fn end_open(&mut self) {
        let mut seconds: Vec<f64> = self.calls.iter().filter_map(|call| call.seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let Some(p95) = percentile(&seconds, 0.95) else { return };
        let waited = |silent: &SilentCall| silent.waited.or(self.to.zip(silent.time).map(|(to, time)| to - time));
        let hung = self.silent.iter().filter(|silent| silent.state == "open" && waited(silent) > Some(TIMES * p95));
        let hung: HashSet<&str> = hung.map(|silent| silent.name.as_str()).collect();
        let calls = self.calls.iter_mut().filter(|call| hung.contains(call.name.as_str()));
        calls.for_each(|call| call.outcome = CallOutcome::Silent);
    }

    /// Names the servers of sessions that began anew without an `initialize`, as before.
    pub(crate) fn inherit_servers(&mut self) {
        for session in 0..self.sessions.len() {
            let before = self.sessions[session].before.filter(|_| self.sessions[session].server.is_none());
            self.sessions[session].server =
                before.and_then(|before| self.sessions[before].server.clone()).or(self.sessions[session].server.take());
        }
    }

    /// Counts a connection of two programs.
    pub(crate) fn add_programs(&mut self, client: Option<&str>, server: Option<&str>, agreed: Option<&str>) {
        let protocol = agreed.map(|version| format!(", MCP {version}")).unwrap_or_default();
        let text = format!("{} → {}{protocol}", client.unwrap_or("a client"), server.unwrap_or("a server"));
        match self.programs.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => self.programs.push((text, 1)),
        }
    }

    /// Reads a time, in the zone of the first.
    pub(crate) fn time(&mut self, text: &str) -> Option<f64> {
        let (time, zone) = parse(text)?;
        let first = *self.zone.get_or_insert(zone);
        let east = |zone| if let Zone::Offset(seconds) = zone { f64::from(seconds) } else { 0.0 };
        let time = time - east(zone) + east(first);
        Some(if zone == Zone::OfDay { self.after_midnight(time) } else { time })
    }

    /// Moves a time of day to the next day, if the log passes midnight before it.
    pub(crate) fn after_midnight(&self, time: f64) -> f64 {
        let is_late = self.before_midnight.is_some_and(|first| time < first - LATE);
        if is_late { time + DAY } else { time }
    }

    /// Takes the times of a log of times of day, in its order. The log passes midnight where its clock goes back by more than
    /// half a day.
    pub(crate) fn take_clock(&mut self, times: &[f64]) {
        let passes: Vec<_> = (1..times.len()).filter(|place| times[*place] < times[place - 1] - DAY / 2.0).collect();
        let ([pass], Some(first)) = (passes.as_slice(), times.first()) else { return };
        let last = times[*pass..].iter().copied().filter(|time| *time < DAY / 2.0 + first).reduce(f64::max);
        // A time of day of a longer log may be of two days.
        if let Some(last) = last.filter(|last| *last < first - LATE) {
            (self.from, self.to) = (Some(*first), Some(last + DAY));
            self.before_midnight = Some(*first);
        }
    }
}
