//! The order of events: the numbers of records, by the times that a log states.
//!
//! A log may state the times of its messages and hold them in another order: an archive of HTTP has the response after its
//! request, though other requests came between them, and a program that writes with several threads swaps lines. Rules
//! about what came before what go by the times.

use std::collections::{BTreeMap, HashMap, HashSet};

use oxrdf::{Literal, Term};

use super::times::{Moment, moment};
use crate::json::KeyedHashes;
use crate::sink::columns::{Columns, TermId};
use crate::vocab::rpcg;

/// A record of a session: a message, or all messages of a batch.
struct TimedRecord {
    /// Its number in the log.
    number: u64,
    /// The term of the number.
    term: TermId,
    time: Option<Moment>,
}

/// Exchanges the numbers of records in the sessions whose records are not in the order of their times.
pub(super) fn order_by_time(columns: &mut Columns) {
    let unordered = unordered_sessions(columns);
    if unordered.is_empty() {
        return;
    }
    let literal = |term: &TermId| literal(columns, *term);
    let of_unordered = columns.triples(rpcg::IN_SESSION).filter(|(_, session)| unordered.contains(session));
    let session_of: HashMap<_, _, KeyedHashes> = of_unordered.collect();
    let of_messages = |predicate| columns.triples(predicate).filter(|(message, _)| session_of.contains_key(message));
    let times: HashMap<_, _, KeyedHashes> = of_messages(rpcg::CAPTURED_AT).collect();
    let numbers: HashMap<_, _, KeyedHashes> = of_messages(rpcg::SEQUENCE).collect();
    let mut sessions: BTreeMap<TermId, BTreeMap<u64, TimedRecord>> = BTreeMap::new();
    for (&message, &session) in &session_of {
        let Some(term) = numbers.get(&message).copied() else { continue };
        let Some(number) = literal(&term).and_then(|number| number.value().parse().ok()) else { continue };
        let time = times.get(&message).and_then(literal).and_then(|time| moment(&time));
        let record = sessions.entry(session).or_default().entry(number);
        let record = record.or_insert(TimedRecord { number, term, time });
        record.time = record.time.max(time);
    }
    let mut moved: HashMap<TermId, HashMap<TermId, TermId>> =
        sessions.into_iter().filter_map(|(session, records)| Some((session, exchanged(records)?))).collect();
    // Times by which an answer comes before its request are not of one clock.
    for (answer, request) in columns.triples(rpcg::RESPONDS_TO) {
        let Some((session, exchanged)) = session_of.get(&answer).and_then(|session| moved.get_key_value(session))
        else {
            continue;
        };
        let number = |message: &TermId| {
            let number = numbers.get(message)?;
            literal(exchanged.get(number).unwrap_or(number))?.value().parse::<u64>().ok()
        };
        if session_of.get(&request) == Some(session) && number(&answer) < number(&request) {
            let session = *session;
            moved.remove(&session);
        }
    }
    columns.replace_objects(rpcg::SEQUENCE, |message, number| {
        let exchanged = session_of.get(&message).and_then(|session| moved.get(session));
        exchanged.and_then(|exchanged| exchanged.get(&number)).copied().unwrap_or(number)
    });
}

/// Returns the sessions with a record whose time is before the time of a record above it.
fn unordered_sessions(columns: &Columns) -> HashSet<TermId> {
    let mut times = columns.triples(rpcg::CAPTURED_AT).peekable();
    let (mut latest, mut unordered) = (HashMap::new(), HashSet::new());
    // Both columns are sorted by message, and messages are numbered in the order of the log.
    for (message, session) in columns.triples(rpcg::IN_SESSION) {
        while times.next_if(|(timed, _)| *timed < message).is_some() {}
        let Some((_, time)) = times.next_if(|(timed, _)| *timed == message) else { continue };
        let time = literal(columns, time).and_then(|time| moment(&time));
        let latest = latest.entry(session).or_insert(time);
        if time < *latest {
            unordered.insert(session);
        }
        *latest = time.max(*latest);
    }
    unordered
}

fn literal(columns: &Columns, term: TermId) -> Option<Literal> {
    match columns.term(term) {
        Term::Literal(literal) => Some(literal),
        _ => None,
    }
}

/// Returns the number of each record by its time, in place of its number in the log. `None` if the records are in the order
/// of their times. A record without a time stays behind the record before it.
fn exchanged(records: BTreeMap<u64, TimedRecord>) -> Option<HashMap<TermId, TermId>> {
    let mut last = None;
    let records: Vec<_> = records.into_values().collect();
    let mut by_time: Vec<_> = records
        .iter()
        .map(|record| {
            last = record.time.or(last);
            (last, record.number, record.term)
        })
        .collect();
    if by_time.is_sorted() {
        return None;
    }
    by_time.sort_unstable();
    Some(by_time.into_iter().zip(records).map(|((_, _, term), place)| (term, place.term)).collect())
}
