//! Facts about the logs of a page from the rows of its index.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::index::{PageIndex, PageRow, RowKind, RowState};
use crate::json::Value;
use crate::message::{Message, Problem};
use crate::overview::Facts;
use crate::overview::facts::{Call, CallOutcome, FailureFact, SilentCall, UNKNOWN_REQUEST};
use crate::overview::moment::Zone;

/// The names and versions of the programs of a session, and the version that they agreed on.
#[derive(Debug, Default)]
pub(super) struct Handshake {
    row: u32,
    pub client: Option<String>,
    pub server: Option<String>,
    server_name: Option<String>,
    pub agreed: Option<String>,
}

/// The handshakes by log and key of the session.
#[derive(Debug, Default)]
pub(super) struct Handshakes(IndexMap<(usize, u32), Handshake>);

impl Handshakes {
    /// Takes a message of a handshake, which becomes a row.
    pub fn add(&mut self, session: (usize, u32), row: u32, message: &Message<'_>) {
        let handshake = self.0.entry(session).or_insert_with(|| Handshake { row, ..Handshake::default() });
        let text = |value: Option<&Value<'_>>| value.and_then(Value::to_cow).map(|text| super::index::shortened(&text));
        let program = |info: Option<&Value<'_>>| {
            let name = text(info?.member("name"))?;
            Some(text(info?.member("version")).map_or(name.clone(), |version| format!("{name} {version}")))
        };
        if let Some(params) = &message.params {
            handshake.client = program(params.value().member("clientInfo"));
        } else if let Some(result) = &message.result {
            let result = result.value();
            let (info, version) = (result.member("serverInfo"), result.member("protocolVersion"));
            handshake.server = program(info);
            handshake.server_name = text(info.and_then(|info| info.member("name")));
            handshake.agreed = text(version);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Handshake> {
        self.0.values()
    }
}

/// Fills in the facts. Marks requests whose answer says that they were cancelled, or that it is outdated.
/// Returns the log, the key and the place of each session.
pub(super) fn gather(facts: &mut Facts, index: &mut PageIndex, handshakes: &Handshakes) -> Vec<(usize, u32, usize)> {
    let (mut places, mut restarts) = (Vec::new(), Vec::new());
    pass_midnight(facts, index);
    let answers = answers(&index.rows);
    let ended: HashSet<usize> = index.rows.iter().filter_map(|row| row.ended.map(|end| end as usize)).collect();
    for log in 0..index.logs.len() {
        let (first, count) = (index.logs[log].first as usize, index.logs[log].rows as usize);
        facts.logs.push(index.logs[log].name.clone());
        let format = index.logs[log].format.to_owned();
        if !facts.formats.contains(&format) {
            facts.formats.push(format);
        }
        let mut sessions = IndexMap::<u32, usize>::new();
        for (place, answer) in answers.iter().enumerate().skip(first).take(count) {
            let row = &index.rows[place];
            if row.kind == RowKind::LogLine {
                continue;
            }
            let session = *sessions.entry(row.session).or_insert_with(|| {
                let key = index.texts.get_index(row.session as usize).filter(|key| !key.is_empty());
                let session = facts.begin_session(key.unwrap_or(&index.logs[log].name).clone());
                if let Some(handshake) = handshakes.0.get(&(log, row.session)) {
                    let begun = &index.rows[handshake.row as usize];
                    facts.sessions[session].begun = Some((name(index, log, begun), begun.time));
                    facts.sessions[session].server.clone_from(&handshake.server_name);
                    let Handshake { client, server, agreed, .. } = handshake;
                    facts.add_programs(client.as_deref(), server.as_deref(), agreed.as_deref());
                }
                places.push((log, row.session, session));
                session
            });
            take(facts, (index, &ended), (log, session), place, *answer);
        }
        let begun = index.logs[log].restarts.iter();
        restarts.extend(begun.filter_map(|(key, before)| Some((*sessions.get(key)?, *sessions.get(before)?))));
    }
    facts.note_restarts(restarts);
    facts.inherit_servers();
    facts.end_unsolicited();
    facts.end_open();
    for (row, answer) in answers.into_iter().enumerate() {
        let code = answer.map(|answer| failure(index, &index.rows[answer as usize]).0);
        index.rows[row].state = match CallOutcome::of_code(code.flatten().as_deref()) {
            CallOutcome::Cancelled => RowState::Cancelled,
            CallOutcome::Outdated => RowState::Outdated,
            _ => index.rows[row].state,
        };
    }
    places
}

/// Moves the times of day after midnight to the next day. The records of several logs are not in one order.
fn pass_midnight(facts: &mut Facts, index: &mut PageIndex) {
    if facts.zone != Some(Zone::OfDay) || index.logs.len() > 1 {
        return;
    }
    let messages = index.rows.iter().filter(|row| row.kind != RowKind::LogLine);
    facts.take_clock(&messages.filter_map(|row| row.time).collect::<Vec<_>>());
    index.rows.iter_mut().for_each(|row| row.time = row.time.map(|time| facts.after_midnight(time)));
}

/// For each row the row of its answer.
fn answers(rows: &[PageRow]) -> Vec<Option<u32>> {
    let mut answers = vec![None; rows.len()];
    for (row, answer) in (0..).zip(rows) {
        if let Some(request) = answer.answers {
            answers[request as usize].get_or_insert(row);
        }
    }
    answers
}

fn take(
    facts: &mut Facts,
    (index, ended): (&PageIndex, &HashSet<usize>),
    (log, session): (usize, usize),
    place: usize,
    answer: Option<u32>,
) {
    let row = &index.rows[place];
    let own = name(index, log, row);
    // The edges of a log that passes midnight are known.
    if facts.before_midnight.is_none() {
        facts.from = facts.from.into_iter().chain(row.time).reduce(f64::min);
        facts.to = facts.to.into_iter().chain(row.time).reduce(f64::max);
    }
    facts.has_senders |= row.sender != 0;
    match row.kind {
        RowKind::Request | RowKind::Notification | RowKind::Response | RowKind::Error => facts.messages += 1,
        RowKind::Malformed => (facts.malformed, facts.others) = (facts.malformed + 1, facts.others + 1),
        RowKind::Invalid => facts.others += 1,
        RowKind::Exchange | RowKind::LogLine => {}
    }
    let has = |problem: &Problem| row.problems & (1 << *problem as u32) != 0;
    let is_answer = matches!(row.kind, RowKind::Response | RowKind::Error);
    if is_answer && row.answers.is_none() && !has(&Problem::DuplicateAnswer) {
        let is_first = !facts.sessions[session].has_calls;
        facts.add_unsolicited(own.clone(), Some(session), is_first);
    }
    for problem in Problem::ALL.iter().filter(|problem| has(problem)) {
        match facts.problems.iter_mut().find(|(known, ..)| known == problem.name()) {
            Some((_, count, _)) => *count += 1,
            None => facts.problems.push((problem.name().to_owned(), 1, own.clone())),
        }
    }
    if row.kind == RowKind::Request {
        let end = answer.or(row.ended).map(|end| &index.rows[end as usize]);
        let end = end.filter(|end| answer.is_some() || end.kind == RowKind::Exchange);
        let outcome = match (end, row.state) {
            (_, RowState::Cancelled) => CallOutcome::Cancelled,
            (None, RowState::NotCaptured) => CallOutcome::Unknown,
            (None, RowState::Open | RowState::Waiting) => CallOutcome::Open,
            (None, _) => CallOutcome::Silent,
            (Some(end), _) if end.failed => CallOutcome::Failed,
            (Some(end), _) => CallOutcome::of_code(failure(index, end).0.as_deref()),
        };
        let (method, tool) = (text(index, row.method), tool(index, row));
        let what = tool.clone().unwrap_or_else(|| method.clone());
        if !matches!(row.state, RowState::None | RowState::NotCaptured) {
            let state = format!("{:?}", row.state).to_lowercase();
            let end = row.ended.and_then(|end| index.rows[end as usize].time);
            let (what, waited) = (what.clone(), row.time.zip(end).map(|(time, end)| end - time));
            facts.silent.push(SilentCall { name: own.clone(), time: row.time, what, state, waited });
        }
        let (is_tool, seconds) = (tool.is_some(), end.and_then(|end| end.latency));
        let ended = end.and_then(|end| end.time);
        if let Some(end) = end.filter(|end| end.failed) {
            let (code, text) = failure(index, end);
            let (name, time) = (own.clone(), row.time);
            facts.failures.push(FailureFact { name, time, ended, what, of_call: true, is_tool, code, text });
        }
        facts.sessions[session].has_calls = true;
        facts.calls.push(Call { name: own, session, time: row.time, method, tool, seconds, ended, outcome });
    } else if row.failed && row.answers.is_none() && !ended.contains(&place) {
        let (code, text) = failure(index, row);
        let what = match row.kind {
            RowKind::Exchange => "HTTP".to_owned(),
            RowKind::Response | RowKind::Error => UNKNOWN_REQUEST.to_owned(),
            _ => self::text(index, row.method),
        };
        let (time, ended) = (row.time, row.time);
        facts.failures.push(FailureFact { name: own, time, ended, what, of_call: false, is_tool: false, code, text });
    }
}

fn text(index: &PageIndex, number: u32) -> String {
    index.texts.get_index(number as usize).cloned().unwrap_or_default()
}

fn tool(index: &PageIndex, row: &PageRow) -> Option<String> {
    (text(index, row.method) == "tools/call" && row.detail > 0).then(|| text(index, row.detail))
}

/// The code and the text of a failure, or of an error that is none.
fn failure(index: &PageIndex, row: &PageRow) -> (Option<String>, String) {
    let error = text(index, row.error);
    match error.split_once(' ').unwrap_or((&error, "")) {
        ("isError" | "error", text) => (None, text.to_owned()),
        (code, text) => (Some(code.to_owned()), text.to_owned()),
    }
}

/// The name of a message in the page; with several logs, the number of its log is before it.
fn name(index: &PageIndex, log: usize, row: &PageRow) -> String {
    let log = if index.logs.len() > 1 { format!("{}:", log + 1) } else { String::new() };
    let element = if row.element > 0 { format!(".{}", row.element) } else { String::new() };
    format!("{log}m{}{element}", row.record)
}
