//! Logs whose lines are out of order, such as exports that begin with the newest line. Their entries are sorted by time, since
//! a request is only answered by what comes after it.

use super::super::entry::DAY;
use super::super::object::RawObject;
use super::super::units::{nanoseconds, scaled};
use super::super::{Decoder, Entry, Format, Step, Time};
use super::clock_order::EarlyAnswers;
use super::order::EntryOrder;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// The maximum number of bytes of the entries that wait.
const MAX_BYTES: usize = 64 << 20;
/// The number of entries without a time after which a log has no times to sort by.
const ENTRIES: usize = 16;
/// The size that is assumed of an entry beside its bytes.
const ENTRY: usize = 256;

/// Gives entries in the order of their times, as far as [`MAX_BYTES`] of later ones reach. An entry without a time stays with
/// the entry before it.
pub(super) struct TimeOrder {
    /// True if the log begins with its newest line. Of lines with equal times, the last is then the oldest.
    is_reversed: bool,
    last: Option<i128>,
    count: i64,
    held: BTreeMap<(i128, i64), Entry<'static>>,
    held_bytes: usize,
    ready: VecDeque<Entry<'static>>,
}

impl TimeOrder {
    /// Reads the beginning of a log, and returns the order if its lines are out of order, by time or by the clocks of the sides.
    pub fn of(mut decoder: impl Decoder, mut text: &[u8]) -> Option<Box<dyn EntryOrder>> {
        let mut seen = SeenTimes::default();
        loop {
            let step = decoder.step(text, true);
            if let Step::Entry { entry, .. } = &step {
                seen.add(entry);
            }
            let (is_entry, consumed) = (matches!(step, Step::Entry { .. }), step.consumed());
            text = &text[consumed..];
            // Without times, nothing is out of order.
            if seen.is_untimed() {
                return None;
            }
            if consumed == 0 && !is_entry {
                return seen.order();
            }
        }
    }

    fn give_first(&mut self) -> bool {
        let Some((_, entry)) = self.held.pop_first() else { return false };
        self.held_bytes -= ENTRY + entry.bytes().len();
        self.ready.push_back(entry);
        true
    }
}

/// The times at the beginning of a log.
#[derive(Default)]
struct SeenTimes {
    pairs: Pairs,
    early: EarlyAnswers,
    /// The number of times that are earlier than the one before, less the number of later ones.
    falling: i64,
    last: Option<i128>,
    untimed: usize,
}

impl SeenTimes {
    fn add(&mut self, entry: &Entry<'_>) {
        let Entry::Record(record) = entry else { return };
        self.untimed += usize::from(record.time.is_none());
        if let Some(time) = record.time.and_then(|time| time_after(time, self.last))
            && let Some(object) = RawObject::parse(&record.bytes)
        {
            self.falling += self.last.map_or(0, |last| (time < last) as i64 - (time > last) as i64);
            self.last = Some(time);
            self.pairs.add(record.session.as_deref(), &object, time);
            self.early.add(record, &object, time);
        }
    }

    fn is_untimed(&self) -> bool {
        self.untimed > ENTRIES && self.last.is_none()
    }

    /// Returns the order if answers stand above their requests: by time if they have later times, unless more answers stand
    /// below and have earlier times, as where clocks differ; by the clocks of the sides if they have earlier times. `None` if
    /// the log is sorted.
    fn order(&self) -> Option<Box<dyn EntryOrder>> {
        if self.pairs.misordered > self.pairs.early {
            let (held, ready) = (BTreeMap::new(), VecDeque::new());
            let is_reversed = self.falling > 0;
            return Some(Box::new(TimeOrder { is_reversed, last: None, count: 0, held, held_bytes: 0, ready }));
        }
        self.early.order().map(|order| Box::new(order) as _)
    }
}

/// The order of a log whose wrappers state its times: its first entries wait until they show whether lines are out of order.
#[derive(Default)]
pub(super) struct WrappedOrder {
    seen: SeenTimes,
    first: VecDeque<Entry<'static>>,
    first_bytes: usize,
    is_decided: bool,
    order: Option<Box<dyn EntryOrder>>,
}

impl WrappedOrder {
    fn decide(&mut self) {
        self.is_decided = true;
        self.order = self.seen.order();
        if let Some(order) = &mut self.order {
            self.first.drain(..).for_each(|entry| order.push(entry, true));
        }
    }
}

impl EntryOrder for WrappedOrder {
    fn push(&mut self, entry: Entry<'static>, ends_piece: bool) {
        if let Some(order) = &mut self.order {
            return order.push(entry, ends_piece);
        }
        self.seen.add(&entry);
        self.first_bytes += ENTRY + entry.bytes().len();
        self.first.push_back(entry);
        if self.first_bytes > Format::WINDOW || self.seen.is_untimed() {
            self.decide();
        }
    }

    fn end(&mut self) -> bool {
        if !self.is_decided {
            self.decide();
        }
        self.order.as_mut().map_or(!self.first.is_empty(), |order| order.end())
    }

    fn next(&mut self) -> Option<Entry<'static>> {
        match &mut self.order {
            Some(order) => order.next(),
            None if self.is_decided => self.first.pop_front(),
            None => None,
        }
    }

    fn is_over(&self) -> bool {
        self.is_decided && self.order.is_none()
    }

    fn is_by_time(&self) -> bool {
        self.order.as_ref().is_some_and(|order| order.is_by_time())
    }
}

/// Requests and answers in the order of their lines.
#[derive(Default)]
struct Pairs {
    /// The times of the last request and the last answer, by session and id.
    asked: HashMap<(Option<String>, Vec<u8>), i128>,
    answered: HashMap<(Option<String>, Vec<u8>), i128>,
    /// The number of answers above their requests, with later times.
    misordered: usize,
    /// The number of answers below their requests, with earlier times.
    early: usize,
}

impl Pairs {
    fn add(&mut self, session: Option<&str>, object: &RawObject<'_>, time: i128) {
        let Some(id) = object.get("id").filter(|id| *id != b"null") else { return };
        let key = (session.map(str::to_owned), id.to_vec());
        if object.has("method") {
            let is_answered = self.answered.remove(&key).is_some_and(|answer| answer > time);
            match is_answered && !self.asked.contains_key(&key) {
                true => self.misordered += 1,
                false => _ = self.asked.insert(key, time),
            }
        } else {
            match self.asked.remove(&key) {
                Some(request) => self.early += usize::from(time < request),
                None => _ = self.answered.insert(key, time),
            }
        }
    }
}

impl EntryOrder for TimeOrder {
    fn push(&mut self, entry: Entry<'static>, _: bool) {
        if let Entry::Record(record) = &entry {
            self.last = record.time.and_then(|time| time_after(time, self.last)).or(self.last);
        }
        self.count += 1;
        self.held_bytes += ENTRY + entry.bytes().len();
        self.held
            .insert((self.last.unwrap_or(i128::MIN), if self.is_reversed { -self.count } else { self.count }), entry);
        while self.held_bytes > MAX_BYTES && self.give_first() {}
    }

    fn end(&mut self) -> bool {
        while self.give_first() {}
        !self.ready.is_empty()
    }

    fn next(&mut self) -> Option<Entry<'static>> {
        self.ready.pop_front()
    }

    fn is_by_time(&self) -> bool {
        true
    }
}

/// Returns nanoseconds since 1970, in UTC or in the log's own zone, or since the log's beginning. A time of day is within
/// twelve hours of the time before.
pub(super) fn time_after(time: Time, before: Option<i128>) -> Option<i128> {
    match time {
        Time::DateTime(time) => nanoseconds(time),
        Time::Clock(time) => {
            let (second, day) = (1_000_000_000, i128::from(DAY) * 1_000_000_000);
            let minutes = i128::from(time.hour()) * 60 + i128::from(time.minute());
            let time = minutes * 60 * second + scaled(time.second(), 9);
            let days = before.map_or(0, |before| (before - time + day / 2).div_euclid(day));
            Some(time + days * day)
        }
        Time::Elapsed(seconds) => Some(scaled(seconds, 9)),
    }
}
