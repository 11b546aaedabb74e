//! Server-sent events that a server sends again, as its client resumes a stream with `Last-Event-ID`.
//!
//! The id of an event is [unique in its session](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery).
//! Some servers count in each stream anew, so an event is a copy only on a stream that was resumed, with the same bytes.

use super::{Entry, LogLine, Record};
use crate::json::{KeyedDigests, KeyedHashes};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// The maximum number of events that are kept.
const REMEMBERED: usize = 65_536;

/// The last events of an input, as keyed digests, with their records.
#[derive(Default)]
pub(super) struct SeenEvents {
    known: HashMap<u128, u64, KeyedHashes>,
    digests: KeyedDigests,
    /// Oldest first.
    order: VecDeque<u128>,
}

impl SeenEvents {
    /// Makes a log line of an event that was sent before. `next` is the number of the next record.
    #[inline]
    pub fn sort_out<'a>(&mut self, entry: Entry<'a>, next: u64) -> Entry<'a> {
        match entry {
            Entry::Record(record) if record.event.is_some() => self.sort_out_event(record, next),
            entry => entry,
        }
    }

    fn sort_out_event<'a>(&mut self, record: Record<'a>, next: u64) -> Entry<'a> {
        let digest = self.digests.digest((&record.session, &record.event, &record.bytes));
        if let Some(first) = self.known.get(&digest) {
            return match record.flags.resumed {
                true => copy(record, *first).into(),
                false => record.into(),
            };
        }
        self.known.insert(digest, next);
        self.order.push_back(digest);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        record.into()
    }
}

fn copy(record: Record<'_>, first: u64) -> LogLine<'_> {
    let session = record.session.or(Some(Cow::Borrowed("")));
    let (location, time) = (record.location, record.time);
    LogLine { location, time, session, is_copy: true, copy_of: Some(first), ..LogLine::new(record.bytes) }
}
