//! Logs of two machines that were merged by time although their clocks differ: answers of the side whose clock is behind stand
//! above their requests. Its entries wait for the requests.

use super::super::object::RawObject;
use super::super::rules::WordMeaning;
use super::super::{Entry, Record};
use super::order::EntryOrder;
use super::time_order::time_after;
use std::collections::{HashMap, HashSet, VecDeque};
use std::mem;

/// The minimum number of answers above their requests that show that clocks differ.
const MIN_EARLY: usize = 3;
/// The maximum distance of an answer above its request: records, and nanoseconds.
const MAX_RECORDS: usize = 256;
const MAX_NANOSECONDS: i128 = 60_000_000_000;
/// The maximum number of bytes of the entries that wait.
const MAX_BYTES: usize = 16 << 20;
/// The minimum number of requests that are remembered.
const MIN_ASKED: usize = 1 << 15;

/// The side of a record, if the log states it.
fn side_of(record: &Record<'_>) -> Option<WordMeaning> {
    record.sender.map(WordMeaning::Sent).or(record.direction.map(WordMeaning::Went))
}

/// The session, the id and the side of a request.
type RequestKey = (Option<String>, Vec<u8>, Option<WordMeaning>);

/// The request that a record is or answers.
#[derive(PartialEq)]
enum Exchange {
    Request(RequestKey),
    Answer(RequestKey),
}

fn exchange(record: &Record<'_>, object: &RawObject<'_>) -> Option<Exchange> {
    let id = object.get("id").filter(|id| *id != b"null")?.to_vec();
    let (session, side) = (record.session.as_deref().map(str::to_owned), side_of(record));
    Some(match object.has("method") {
        true => Exchange::Request((session, id, side)),
        false => Exchange::Answer((session, id, side.map(WordMeaning::other))),
    })
}

/// Answers above their requests, in the order of their lines.
#[derive(Default)]
pub(super) struct EarlyAnswers {
    records: usize,
    /// The times and places of answers without a request above them.
    answers: HashMap<RequestKey, (i128, usize)>,
    /// The open requests: true if an answer above fits.
    asked: HashMap<RequestKey, bool>,
    counts: HashMap<Option<WordMeaning>, EarlyCounts>,
}

/// The counts of one side's answers.
#[derive(Default)]
struct EarlyCounts {
    /// Answers without a request above them.
    orphans: usize,
    /// Orphans whose request stands soon after them, at a later time.
    early: usize,
    /// Early answers whose requests have another answer below: the ids are used again.
    contradicted: usize,
    /// The most nanoseconds by which an answer is early.
    most: i128,
}

impl EarlyAnswers {
    pub fn add(&mut self, record: &Record<'_>, object: &RawObject<'_>, time: i128) {
        self.records += 1;
        match exchange(record, object) {
            Some(Exchange::Request(key)) => {
                let above = self.answers.remove(&key);
                let early = above.filter(|(answer, at)| {
                    (0..=MAX_NANOSECONDS).contains(&(time - answer)) && self.records - at <= MAX_RECORDS
                });
                if let Some((answer, _)) = early {
                    let counts = self.counts.entry(key.2.map(WordMeaning::other)).or_default();
                    counts.early += 1;
                    counts.most = counts.most.max(time - answer);
                }
                self.asked.insert(key, early.is_some());
            }
            Some(Exchange::Answer(key)) => {
                let counts = self.counts.entry(key.2.map(WordMeaning::other)).or_default();
                match self.asked.remove(&key) {
                    Some(has_early) => counts.contradicted += usize::from(has_early),
                    None => {
                        counts.orphans += 1;
                        self.answers.insert(key, (time, self.records));
                    }
                }
            }
            None => {}
        }
    }

    /// Returns the order if the answers of one side stand above their requests, and nothing else explains them: most answers
    /// without a request above have one below, which has no other answer.
    pub fn order(&self) -> Option<ClockOrder> {
        let is_behind = |counts: &EarlyCounts| {
            counts.early >= MIN_EARLY && counts.early > 4 * counts.contradicted && 2 * counts.early >= counts.orphans
        };
        let mut behind = self.counts.iter().filter(|(_, counts)| is_behind(counts));
        let (side, counts) = behind.next()?;
        behind.next().is_none().then(|| ClockOrder::new(*side, counts.most))
    }
}

/// Gives entries in their order, but holds an answer by the side whose clock is behind until its request is given, and other
/// messages of this side until the other clock has the same time or an answer behind them is given.
pub(super) struct ClockOrder {
    /// `None` if the log does not state sides: then only answers wait.
    side: Option<WordMeaning>,
    /// The nanoseconds by which the clock of this side is behind at least.
    behind: i128,
    /// The last time of the other side.
    now: Option<i128>,
    last: Option<i128>,
    /// The requests that were given and not answered, and the requests before these.
    asked: HashSet<RequestKey>,
    asked_before: HashSet<RequestKey>,
    held: VecDeque<HeldEntry>,
    held_bytes: usize,
    ready: VecDeque<Entry<'static>>,
}

/// An entry that waits.
struct HeldEntry {
    entry: Entry<'static>,
    session: Option<String>,
    time: Option<i128>,
    exchange: Option<Exchange>,
}

impl HeldEntry {
    fn is_answer(&self) -> bool {
        matches!(self.exchange, Some(Exchange::Answer(_)))
    }
}

impl ClockOrder {
    fn new(side: Option<WordMeaning>, behind: i128) -> Self {
        let (asked, asked_before) = (HashSet::new(), HashSet::new());
        let (held, ready) = (VecDeque::new(), VecDeque::new());
        Self { side, behind, now: None, last: None, asked, asked_before, held, held_bytes: 0, ready }
    }

    fn hold(&mut self, entry: Entry<'static>, session: Option<String>, exchange: Option<Exchange>) {
        self.held_bytes += entry.bytes().len();
        self.held.push_back(HeldEntry { entry, session, time: self.last, exchange });
        while self.held.len() > MAX_RECORDS || self.held_bytes > MAX_BYTES {
            self.give(0);
        }
    }

    /// Gives an entry that waits.
    fn give(&mut self, at: usize) {
        let Some(HeldEntry { entry, .. }) = self.held.remove(at) else { return };
        self.held_bytes -= entry.bytes().len();
        self.ready.push_back(entry);
    }

    /// Gives the entries that the time of the other side has reached. The request of an answer does not come any more after twice
    /// the difference of the clocks and a second.
    fn release(&mut self) {
        let Some(now) = self.now else { return };
        let mut at = 0;
        while let Some(held) = self.held.get(at) {
            let wait = if held.is_answer() { 2 * self.behind + 1_000_000_000 } else { self.behind };
            match held.time.is_none_or(|time| time + wait <= now) {
                true => self.give(at),
                false => at += 1,
            }
        }
    }

    /// Notes that a request was given, and gives its answer if this waits.
    fn note_request(&mut self, key: RequestKey) {
        let answer = Exchange::Answer(key);
        if !self.give_other(&answer)
            && let Exchange::Answer(key) = answer
        {
            self.asked.insert(key);
            if self.asked.len() > MIN_ASKED {
                self.asked_before = mem::take(&mut self.asked);
            }
        }
    }

    /// Gives the other message of an exchange if it waits, with the messages of its session before.
    fn give_other(&mut self, exchange: &Exchange) -> bool {
        let Some(mut end) = self.held.iter().position(|held| held.exchange.as_ref() == Some(exchange)) else {
            return false;
        };
        let mut at = 0;
        while at < end {
            match !self.held[at].is_answer() && self.held[at].session == self.held[end].session {
                true => {
                    self.give(at);
                    end -= 1;
                }
                false => at += 1,
            }
        }
        self.give(end);
        true
    }
}

impl EntryOrder for ClockOrder {
    fn push(&mut self, entry: Entry<'static>, _: bool) {
        let Entry::Record(record) = &entry else { return self.ready.push_back(entry) };
        let time = record.time.and_then(|time| time_after(time, self.last));
        self.last = time.or(self.last);
        let exchange = RawObject::parse(&record.bytes).and_then(|object| exchange(record, &object));
        let (side, session) = (side_of(record), record.session.as_deref().map(str::to_owned));
        let is_behind = side == self.side;
        match exchange {
            Some(Exchange::Answer(key)) if is_behind => {
                if self.asked.remove(&key) || self.asked_before.remove(&key) {
                    return self.ready.push_back(entry);
                }
                self.hold(entry, session, Some(Exchange::Answer(key)));
            }
            exchange if is_behind && side.is_some() => self.hold(entry, session, exchange),
            exchange => {
                self.now = self.now.max(time);
                self.release();
                if let Some(Exchange::Answer(key)) = exchange {
                    self.give_other(&Exchange::Request(key));
                    return self.ready.push_back(entry);
                }
                self.ready.push_back(entry);
                if let Some(Exchange::Request(key)) = exchange {
                    self.note_request(key);
                }
            }
        }
    }

    fn end(&mut self) -> bool {
        while !self.held.is_empty() {
            self.give(0);
        }
        !self.ready.is_empty()
    }

    fn next(&mut self) -> Option<Entry<'static>> {
        self.ready.pop_front()
    }
}
