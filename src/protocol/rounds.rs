//! Operations that take more than one request: an answer leaves them open, and another request goes on with them.
//!
//! | left open by | gone on with by |
//! |---|---|
//! | a result whose `resultType` is `input_required` | a request of that method for that tool, resource or prompt with the same `requestState`; or, where only one side gave a state or neither, with responses to just what was asked |
//! | the error -32042, of a URL that has to be visited | the same request once more |
//! | a result that makes a task | what `tasks/…` asks about that task, and what notifications tell of it |

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use oxsdatatypes::Decimal;

use super::definitions::DefinitionKind;
use super::{Key, KeyMap};
use crate::record::Time;
use crate::session::triples::NodeRef;
use crate::session::{Name, seconds_between};

/// How many operations that are left open are remembered; beyond that, the oldest is forgotten.
const PAUSED: usize = 1 << 16;

/// What a request uses: a tool, a resource, a prompt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    pub kind: DefinitionKind,
    /// Stands for its name or URI.
    pub key: Key,
    /// Stands for what it is used with.
    pub arguments: u64,
    pub node: NodeRef<'static>,
}

/// An operation that an answer has left open.
#[derive(Debug, Clone)]
pub(super) struct Paused {
    pub operation: Name,
    /// The message that left it open.
    pub answer: Name,
    pub used: Option<Used>,
    /// When that was, and how many seconds the operation had taken by then.
    pub since: Option<(Time, Decimal)>,
    /// Its outcome is known already: it is a task, which can be asked about still.
    pub has_ended: bool,
}

impl Paused {
    /// How long the operation has taken at a time.
    pub fn seconds(&self, at: Option<Time>) -> Option<Decimal> {
        let (since, seconds) = self.since?;
        seconds_between(since, at?)?.checked_add(seconds)
    }
}

/// What a request goes on with.
pub(super) enum GoesOn {
    Nothing,
    With(Box<Paused>),
    /// There are several, and nobody knows which.
    Doubt,
}

/// The operations that are left open.
#[derive(Default)]
pub(super) struct Rounds {
    paused: BTreeMap<Name, (Paused, Vec<Key>)>,
    by_key: KeyMap<Fitting>,
}

/// Operations that one key fits.
#[derive(Default)]
struct Fitting {
    operations: BTreeSet<Name>,
    /// How many of them were gone on with, nobody knows which.
    in_doubt: usize,
}

impl Rounds {
    pub fn is_empty(&self) -> bool {
        self.paused.is_empty()
    }

    /// Remembers that an operation is left open, by what a request that goes on with it has.
    pub fn pause(&mut self, paused: Paused, keys: Vec<Key>) {
        self.take(paused.operation);
        for key in &keys {
            self.by_key.entry(*key).or_default().operations.insert(paused.operation);
        }
        self.paused.insert(paused.operation, (paused, keys));
        if self.paused.len() > PAUSED
            && let Some((oldest, _)) = self.paused.first_key_value()
        {
            self.take(*oldest);
        }
    }

    /// What fits the first of these keys that fits anything.
    pub fn find(&mut self, keys: impl IntoIterator<Item = Key>) -> GoesOn {
        let Some(fitting) = keys.into_iter().find(|key| self.by_key.contains_key(key)) else { return GoesOn::Nothing };
        let Some(fitting) = self.by_key.get_mut(&fitting) else { return GoesOn::Nothing };
        if let (Some(one), 1, 0) = (fitting.operations.first(), fitting.operations.len(), fitting.in_doubt)
            && let Some((paused, _)) = self.paused.get(one)
        {
            return GoesOn::With(Box::new(paused.clone()));
        }
        fitting.in_doubt += 1;
        if fitting.in_doubt >= fitting.operations.len() {
            for operation in mem::take(&mut fitting.operations) {
                self.take(operation);
            }
        }
        GoesOn::Doubt
    }

    /// Forgets an operation.
    pub fn take(&mut self, operation: Name) {
        let Some((_, keys)) = self.paused.remove(&operation) else { return };
        for key in keys {
            if let Entry::Occupied(mut fitting) = self.by_key.entry(key) {
                fitting.get_mut().operations.remove(&operation);
                if fitting.get().operations.is_empty() {
                    fitting.remove();
                }
            }
        }
    }

    /// Notes that an operation has ended; tells whether that is new.
    pub fn end(&mut self, operation: Name) -> bool {
        self.paused.get_mut(&operation).is_none_or(|(paused, _)| !mem::replace(&mut paused.has_ended, true))
    }
}
