//! Which response answers which request.
//!
//! Ids are counted by each side for itself (both from 0, often), so an answer belongs to a request of the *other*
//! side. Where the sides are not known, any open request with the id will do, and more than one is a doubt.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::{iter, mem};

use super::Name;
use super::answered::{RecentAnswers, small};
use super::sides::Party;
use crate::message::Id;
use crate::record::{Protocols, Sender, Time};

/// The exchanges of a session that are open.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    /// The number of the session.
    session: usize,
    open: HashMap<Key, OpenRequests>,
}

/// What an id is looked up by: most are numbers that need no memory of their own.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Small(u64),
    // In a box, since open requests are all that the memory for a log grows with.
    Other(Box<Id<'static>>),
}

impl Key {
    fn new(id: &Id<'_>) -> Self {
        match small(id) {
            Some(number) => Self::Small(number),
            None => Self::Other(Box::new(id.clone().into_owned())),
        }
    }
}

/// The open requests that have one id: nearly always one.
#[derive(Debug)]
struct OpenRequests {
    newest: OpenRequest,
    /// Those of each party in a stack of their own, so that none has to be looked for; no more than a pointer where there
    /// is one request.
    #[expect(clippy::box_collection, reason = "nearly every id has one open request, and there may be millions")]
    older: Option<Box<Vec<Stack>>>,
}

/// Open requests with one id by one party, oldest first; at least one.
#[derive(Debug)]
struct Stack {
    party: Party,
    requests: Vec<OpenRequest>,
}

impl OpenRequests {
    /// The newest request, and the newest older one of each party.
    fn tops(&self) -> impl Iterator<Item = &OpenRequest> {
        let stacks = self.older.iter().flat_map(|older| older.iter());
        iter::once(&self.newest).chain(stacks.filter_map(|stack| stack.requests.last()))
    }

    /// The newest request whose party fits.
    fn newest_of(&self, fits: impl Fn(Party) -> bool) -> Option<Name> {
        // Nearly always.
        if fits(self.newest.party) {
            return Some(self.newest.name);
        }
        self.tops().filter(|request| fits(request.party)).map(|request| request.name).max()
    }

    /// Adds a request, and gives the newest one whose sender may be the same, unless it gave that before.
    fn push(&mut self, request: OpenRequest) -> Option<Name> {
        let stacks = self.older.iter_mut().flat_map(|older| older.iter_mut());
        let tops = iter::once(&mut self.newest).chain(stacks.filter_map(|stack| stack.requests.last_mut()));
        let reused = tops.filter(|older| older.party.shares_ids_with(request.party)).max_by_key(|older| older.name);
        let superseded = reused.filter(|older| !older.superseded).map(|older| {
            older.superseded = true;
            older.name
        });
        let older = mem::replace(&mut self.newest, request);
        let stacks = self.older.get_or_insert_default();
        match stacks.iter_mut().find(|stack| stack.party == older.party) {
            Some(stack) => stack.requests.push(older),
            None => stacks.push(Stack { party: older.party, requests: vec![older] }),
        }
        superseded
    }

    /// Takes the request of that name out, which is one of the [tops](Self::tops); none if it is the only one.
    fn take(&mut self, name: Name) -> Option<OpenRequest> {
        let stacks = self.older.as_mut()?;
        let top = |stack: &Stack| stack.requests.last().map(|request| request.name);
        // In place of the newest comes the next.
        let wanted = if name == self.newest.name { stacks.iter().filter_map(top).max()? } else { name };
        let at = stacks.iter().position(|stack| top(stack) == Some(wanted))?;
        let stack = stacks.get_mut(at)?;
        let mut taken = stack.requests.pop()?;
        if stack.requests.is_empty() {
            stacks.swap_remove(at);
        }
        if stacks.is_empty() {
            self.older = None;
        }
        if name == self.newest.name {
            mem::swap(&mut self.newest, &mut taken);
        }
        Some(taken)
    }
}

/// A request that nothing has answered yet.
#[derive(Debug)]
pub(super) struct OpenRequest {
    pub name: Name,
    /// In a box, since most logs have none.
    pub time: Option<Box<Time>>,
    /// Who asks.
    pub party: Party,
    /// The protocols that have its method.
    pub protocols: Protocols,
    /// A later request has taken its id.
    superseded: bool,
}

impl OpenRequest {
    pub fn new(name: Name, time: Option<Time>, party: Party, protocols: Protocols) -> Self {
        Self { name, time: time.map(Box::new), party, protocols, superseded: false }
    }
}

/// What a response answers.
#[derive(Debug, Default)]
pub(super) struct PairedAnswer {
    /// The newest open request that it can belong to.
    pub request: Option<OpenRequest>,
    /// There were others, and the senders are not known.
    pub ambiguous: bool,
    /// All requests with the id that were open came from one side.
    pub one_side: bool,
    /// What was inferred of the sides speaks against it; what the log says does not.
    pub unlikely: bool,
    /// No open request has the id, but one that has been answered already had it.
    pub duplicate: bool,
}

impl Exchanges {
    /// Those of the session with that number.
    pub fn new(session: usize) -> Self {
        Self { session, ..Self::default() }
    }

    /// Whether nothing waits for an answer.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether a request with that id is open.
    pub fn is_open(&self, id: &Id<'_>) -> bool {
        self.open.contains_key(&Key::new(id))
    }

    /// A request: gives the newest open one of the same sender that has the same id, the first time that its id is taken.
    pub fn open(&mut self, id: &Id<'_>, request: OpenRequest) -> Option<Name> {
        match self.open.entry(Key::new(id)) {
            Entry::Vacant(entry) => {
                entry.insert(OpenRequests { newest: request, older: None });
                None
            }
            Entry::Occupied(mut entry) => entry.get_mut().push(request),
        }
    }

    /// The newest request that has an id and may be this side's, open or among those that were answered last.
    pub fn asked(&self, sender: Option<Sender>, id: &Id<'_>, answered: &RecentAnswers) -> Option<Name> {
        let fits = |asker: Option<Sender>| sender.is_none() || asker.is_none() || asker == sender;
        let open = self.open.get(&Key::new(id)).and_then(|open| open.newest_of(|party| fits(party.sender)));
        open.max(answered.find(self.session, id, fits))
    }

    /// A response: the newest open request of the other side that has its id.
    pub fn close(&mut self, party: Party, id: &Id<'_>, answered: &mut RecentAnswers) -> PairedAnswer {
        let mut answer = PairedAnswer::default();
        if let Entry::Occupied(mut entry) = self.open.entry(Key::new(id)) {
            let open = entry.get_mut();
            let likely = open.newest_of(|requester| party.may_answer(requester));
            if let Some(found) = likely.or_else(|| open.newest_of(|requester| party.is_let_answer(requester))) {
                answer.unlikely = likely.is_none();
                answer.ambiguous = party == Party::default() && open.older.is_some();
                answer.one_side = open.tops().all(|request| request.party.sender == open.newest.party.sender);
                answer.request = Some(match open.take(found) {
                    Some(request) => request,
                    None => entry.remove().newest,
                });
            }
        }
        match &answer.request {
            Some(request) => answered.insert(self.session, request.party.sender, id, request.name),
            None => answer.duplicate = answered.contains(self.session, party.sender, id),
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory for a log grows with this and nothing else.
    #[test]
    fn an_open_request_is_small() {
        assert_eq!(size_of::<(Key, OpenRequests)>(), 56);
    }
}
