//! A session in two logs: of each side, what it sent.
//!
//! Entries of one log keep their order. Between the logs it is that of their times, where both have some that can be compared;
//! but an answer waits for its request while the other log is at most a minute ahead, as clocks differ. Where times do not
//! tell, an answer comes after its request, and else a side that waits for an answer lets the other go on.
//!
//! Of each log one entry is kept, and the ids of its requests that are open.

use std::collections::HashMap;
use std::io::Read;

use oxsdatatypes::Decimal;

use crate::json::Outline;
use crate::message::{Id, Kind, LargeSingle, Single};
use crate::record::{DAY, Entry, LogLine, ReadError, Reader, Record, Sender, Time};

/// So many seconds may an answer seem to be older than its request.
const SKEW: i64 = 60;

/// The entries of both logs, in one order.
pub(super) struct BothSides<R: Read> {
    /// That of the client, and that of the server.
    logs: [SideLog<R>; 2],
    /// How many records were given.
    pub records: u64,
    /// Which of them asked last.
    asked_last: usize,
    /// Which of them could not be read to its end.
    pub failed: Option<Sender>,
}

/// The log of a side.
struct SideLog<R: Read> {
    reader: Reader<R>,
    sender: Sender,
    next: Option<NextEntry>,
    ended: bool,
    /// The last time that it told.
    time: Option<Time>,
    /// How many requests with an id are open.
    open: HashMap<Id<'static>, usize>,
}

struct NextEntry {
    entry: Entry<'static>,
    /// Ids of requests and of answers.
    asks: Vec<Id<'static>>,
    answers: Vec<Id<'static>>,
}

impl<R: Read> BothSides<R> {
    pub fn new(client: Reader<R>, server: Reader<R>) -> Self {
        let log =
            |(reader, sender)| SideLog { reader, sender, next: None, ended: false, time: None, open: HashMap::new() };
        let logs = [(client, Sender::Client), (server, Sender::Server)].map(log);
        Self { logs, records: 0, asked_last: 0, failed: None }
    }

    /// The readers of both.
    pub fn readers(&self) -> [&Reader<R>; 2] {
        self.logs.each_ref().map(|log| &log.reader)
    }

    /// As [`Reader::take_entry`].
    pub fn take_entry<T>(&mut self, may_read: bool, take: impl FnOnce(Entry<'_>) -> T) -> Result<Option<T>, ReadError> {
        for log in &mut self.logs {
            match log.look(may_read) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) => {
                    self.failed = Some(log.sender);
                    return Err(error);
                }
            }
        }
        let place = self.first();
        let [client, server] = &mut self.logs;
        let (log, other) = if place == 0 { (client, server) } else { (server, client) };
        let Some(next) = log.next.take() else { return Ok(None) };
        for id in next.answers {
            if let Some(open) = other.open.get_mut(&id) {
                *open -= 1;
                if *open == 0 {
                    other.open.remove(&id);
                }
            }
        }
        for id in next.asks {
            *log.open.entry(id).or_default() += 1;
            self.asked_last = place;
        }
        self.records += u64::from(matches!(next.entry, Entry::Record(_)));
        let sender = Some(log.sender);
        let mut location = next.entry.location();
        location.record = self.records;
        Ok(Some(take(match next.entry {
            Entry::Record(record) => Record { location, sender, direction: None, session: None, ..record }.into(),
            Entry::LogLine(line) => LogLine { location, sender, session: None, ..line }.into(),
        })))
    }

    /// Which log goes on.
    fn first(&self) -> usize {
        let [client, server] = &self.logs;
        let (Some(one), Some(other)) = (&client.next, &server.next) else {
            return usize::from(client.next.is_none());
        };
        if let Some(text) = [one, other].iter().position(|next| matches!(next.entry, Entry::LogLine(_))) {
            return text;
        }
        let waits = [one.waits_for(server), other.waits_for(client)];
        let later = client.time.zip(server.time).and_then(|(one, other)| seconds(one, other));
        let zero = Decimal::from(0);
        match later.filter(|later| *later != zero) {
            // The client's time is that of the earlier one.
            Some(later) if later > zero => usize::from(waits == [true, false] && later <= Decimal::from(SKEW)),
            Some(later) => usize::from(!(waits == [false, true] && later >= Decimal::from(-SKEW))),
            None => match (waits, [client, server].map(|log| log.open.is_empty())) {
                ([true, false], _) => 1,
                ([false, true], _) => 0,
                (_, [false, true]) => 1,
                (_, [false, false]) => 1 - self.asked_last,
                (_, [true, _]) => 0,
            },
        }
    }
}

impl<R: Read> SideLog<R> {
    /// Makes sure that its next entry is there, or that it has ended; `false` if that needs more to be read than it may be.
    fn look(&mut self, may_read: bool) -> Result<bool, ReadError> {
        if self.next.is_none() && !self.ended {
            self.next = self.reader.take_entry(may_read, |entry| NextEntry::new(entry.into_owned()))?;
            self.ended = may_read && self.next.is_none();
            if let Some(NextEntry { entry: Entry::Record(record), .. }) = &self.next {
                self.time = record.time.or(self.time);
            }
        }
        Ok(self.ended || self.next.is_some())
    }
}

impl NextEntry {
    fn new(entry: Entry<'static>) -> Self {
        let (mut asks, mut answers) = (Vec::new(), Vec::new());
        let mut note = |text: &Outline<'_>| {
            if let Single::Message(message) = LargeSingle::new(text, false).single()
                && let Some(id) = message.id.filter(|id| *id != Id::Null)
            {
                let ids = if message.kind == Kind::Request { &mut asks } else { &mut answers };
                ids.push(id.into_owned());
            }
        };
        if let Entry::Record(record) = &entry
            && let Ok(outline) = Outline::new(&record.bytes)
        {
            match outline.is_array() {
                false => note(&outline),
                true => {
                    outline.elements().filter_map(|text| Outline::new(text.as_bytes()).ok()).for_each(|one| note(&one))
                }
            }
        }
        Self { entry, asks, answers }
    }

    /// Whether it answers a request of the other side that is still to come.
    fn waits_for<R: Read>(&self, other: &SideLog<R>) -> bool {
        self.answers.iter().any(|id| !other.open.contains_key(id))
    }
}

/// Seconds from one time to another of the same kind; between clocks, half a day at most.
fn seconds(one: Time, other: Time) -> Option<Decimal> {
    let seconds = one.seconds_to(other)?;
    match other {
        Time::Clock(_) if seconds > Decimal::from(DAY / 2) => seconds.checked_sub(DAY),
        Time::Clock(_) if seconds < Decimal::from(-DAY / 2) => seconds.checked_add(DAY),
        Time::Clock(_) | Time::DateTime(_) => Some(seconds),
    }
}
