//! Logs whose lines are out of order, such as exports that begin with the newest line. Their entries are sorted by time, since
//! a request is only answered by what comes after it.

use super::super::entry::DAY;
use super::super::object::RawObject;
use super::super::units::{local_epoch, scaled, since_1970};
use super::super::{Decoder, Entry, Step, Time};
use super::order::EntryOrder;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// The maximum number of bytes of the entries that wait.
const MAX_BYTES: usize = 64 << 20;
/// The number of entries without a time, and of those on a line, after which a log has no lines to sort.
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
    /// Reads the beginning of a log, and returns the order if answers stand above their requests there and have later times.
    /// `None` if the log is sorted, or if more answers stand below and have earlier times, as where clocks differ.
    pub fn of(mut decoder: impl Decoder, mut text: &[u8]) -> Option<Self> {
        let (mut pairs, mut falling, mut last) = (Pairs::default(), 0_i64, None);
        let (mut entries, mut untimed, mut lines) = (0, 0, 1);
        loop {
            let step = decoder.step(text, true);
            if let Step::Entry { entry: Entry::Record(record), .. } = &step {
                untimed += usize::from(record.time.is_none());
                if let Some(time) = record.time.and_then(|time| time_after(time, last))
                    && let Some(object) = RawObject::parse(&record.bytes)
                {
                    falling += last.map_or(0, |last| (time < last) as i64 - (time > last) as i64);
                    last = Some(time);
                    pairs.add(record.session.as_deref(), &object, time);
                }
            }
            let (is_entry, consumed) = (matches!(step, Step::Entry { .. }), step.consumed());
            entries += 1;
            lines += memchr::memchr_iter(b'\n', &text[..consumed]).count();
            text = &text[consumed..];
            // Without times, or without lines, nothing is out of order.
            if untimed > ENTRIES && last.is_none() || entries > ENTRIES * lines {
                return None;
            }
            if consumed == 0 && !is_entry {
                break;
            }
        }
        let (held, ready) = (BTreeMap::new(), VecDeque::new());
        let order = Self { is_reversed: falling > 0, last: None, count: 0, held, held_bytes: 0, ready };
        (pairs.misordered > pairs.early).then_some(order)
    }

    fn give_first(&mut self) -> bool {
        let Some((_, entry)) = self.held.pop_first() else { return false };
        self.held_bytes -= ENTRY + entry.bytes().len();
        self.ready.push_back(entry);
        true
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

/// Returns nanoseconds since 1970, in UTC or in the log's own zone. A time of day is within twelve hours of the time before.
fn time_after(time: Time, before: Option<i128>) -> Option<i128> {
    match time {
        Time::DateTime(time) => {
            since_1970(time, 9).or_else(|| Some(scaled(time.checked_sub(local_epoch()?)?.as_seconds(), 9)))
        }
        Time::Clock(time) => {
            let (second, day) = (1_000_000_000, i128::from(DAY) * 1_000_000_000);
            let minutes = i128::from(time.hour()) * 60 + i128::from(time.minute());
            let time = minutes * 60 * second + scaled(time.second(), 9);
            let days = before.map_or(0, |before| (before - time + day / 2).div_euclid(day));
            Some(time + days * day)
        }
    }
}
