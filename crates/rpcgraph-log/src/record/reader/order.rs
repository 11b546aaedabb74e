//! The order of messages by HTTP: an archive lists a stream of events where it begins, and a capture of packets where
//! it ends, so that an answer may stand before its request.

use super::super::har_entry::{answered_ids, ids};
use super::super::{Entry, Record, Sender};
use std::collections::{HashSet, VecDeque};
use std::mem;

/// The maximum number of pieces that wait, and of their bytes.
const MAX_PIECES: usize = 256;
const MAX_BYTES: usize = 16 << 20;
/// The minimum number of requests that are remembered.
const MIN_ASKED: usize = 1 << 15;

/// Reorders entries.
pub(super) trait EntryOrder: Send {
    /// Takes the next entry, which may be the last one of its piece.
    fn push(&mut self, entry: Entry<'static>, ends_piece: bool);

    /// Gives the entries that still wait. Returns true if there are any.
    fn end(&mut self) -> bool;

    /// Returns the next entry that does not wait.
    fn next(&mut self) -> Option<Entry<'static>>;

    /// True if later entries are in order, after [`Self::next`] gave the last one.
    fn is_over(&self) -> bool {
        false
    }

    /// True if entries are sorted by time.
    fn is_by_time(&self) -> bool {
        false
    }
}

/// Gives entries in their order, but holds an answer by one side, and what stands behind it in its piece, until the request
/// is given. Messages between two answers of a piece come as late as they may: nothing states when they were sent.
pub(super) struct AnswerOrder {
    side: Sender,
    /// The requests of the other side that were given, and the requests before these.
    asked: HashSet<RequestKey>,
    asked_before: HashSet<RequestKey>,
    /// The entries that wait, by their pieces. The last piece may be empty if more of it follows.
    held: VecDeque<HeldPiece>,
    held_bytes: usize,
    /// True if the last entry was not the last one of its piece.
    is_within: bool,
    ready: VecDeque<Entry<'static>>,
}

/// The session and the id of a request.
type RequestKey = (Option<String>, Vec<u8>);
/// Entries, each with the requests that it answers.
type HeldPiece = VecDeque<(Entry<'static>, Vec<RequestKey>)>;

impl AnswerOrder {
    pub fn new(side: Sender) -> Self {
        Self {
            side,
            asked: HashSet::new(),
            asked_before: HashSet::new(),
            held: VecDeque::new(),
            held_bytes: 0,
            is_within: false,
            ready: VecDeque::new(),
        }
    }

    /// Gives the entries up to a request that is answered now.
    fn release_requests(&mut self, asked: &[RequestKey]) {
        for at in 0..self.held.len() {
            let is_asked = |(entry, _): &(_, Vec<_>)| keys(entry, self.side, ids).iter().any(|key| asked.contains(key));
            let count = self.held[at].iter().rposition(is_asked).map_or(0, |last| last + 1);
            (0..count).for_each(|_| self.give_first_of(at));
        }
    }

    /// Gives the first entry of a piece.
    fn give_first_of(&mut self, at: usize) {
        let Some((entry, _)) = self.held.get_mut(at).and_then(VecDeque::pop_front) else { return };
        self.held_bytes -= entry.bytes().len();
        self.asked.extend(keys(&entry, self.side.other(), ids));
        if self.asked.len() > MIN_ASKED {
            self.asked_before = mem::take(&mut self.asked);
        }
        self.ready.push_back(entry);
    }

    /// Gives the entries that need not wait, and the oldest of the others if there are more.
    fn release(&mut self, pieces: usize, bytes: usize) {
        loop {
            // More of the last piece may follow.
            let mut whole = self.held.len() - usize::from(self.is_within);
            let mut at = 0;
            self.held.retain(|piece| {
                at += 1;
                !piece.is_empty() || at > whole
            });
            whole = self.held.len() - usize::from(self.is_within);
            let is_asked = |key: &RequestKey| self.asked.contains(key) || self.asked_before.contains(key);
            let waits = |(_, answers): &(_, Vec<RequestKey>)| !answers.is_empty() && !answers.iter().any(is_asked);
            let is_by_side =
                |entry: &Entry<'_>| matches!(entry, Entry::Record(record) if record.sender == Some(self.side));
            let is_free = |(at, piece): (usize, &HeldPiece)| match piece.front() {
                Some((entry, answers)) if answers.is_empty() && is_by_side(entry) => {
                    at < whole && !piece.iter().any(waits)
                }
                Some(first) => !waits(first),
                None => false,
            };
            let free = self.held.iter().enumerate().position(is_free);
            let is_full = self.held.len() > pieces || self.held_bytes > bytes;
            let Some(at) = free.or(is_full.then_some(0)) else { return };
            self.give_first_of(at);
        }
    }
}

impl EntryOrder for AnswerOrder {
    fn push(&mut self, entry: Entry<'static>, ends_piece: bool) {
        let asked = keys(&entry, self.side.other(), answered_ids);
        if !asked.is_empty() {
            self.release_requests(&asked);
        }
        let answers = keys(&entry, self.side, answered_ids);
        self.held_bytes += entry.bytes().len();
        let continues = mem::replace(&mut self.is_within, !ends_piece);
        match self.held.back_mut().filter(|_| continues) {
            Some(piece) => piece.push_back((entry, answers)),
            None => self.held.push_back([(entry, answers)].into()),
        }
        self.release(MAX_PIECES, MAX_BYTES);
    }

    fn end(&mut self) -> bool {
        self.is_within = false;
        self.release(0, 0);
        !self.ready.is_empty()
    }

    fn next(&mut self) -> Option<Entry<'static>> {
        self.ready.pop_front()
    }
}

/// Returns the keys of the ids in an entry by one side.
fn keys(entry: &Entry<'_>, side: Sender, ids: fn(&[u8]) -> Vec<Vec<u8>>) -> Vec<RequestKey> {
    match entry {
        Entry::Record(Record { sender, session, bytes, .. }) if *sender == Some(side) => {
            ids(bytes).into_iter().map(|id| (session.as_deref().map(str::to_owned), id)).collect()
        }
        _ => Vec::new(),
    }
}
