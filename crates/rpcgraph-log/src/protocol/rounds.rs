//! Operations of more than one request: an answer leaves them open, and another request continues them.
//!
//! | left open by | continued by |
//! |---|---|
//! | a result whose `resultType` is `input_required` | a request of that method for that tool, resource or prompt with the same `requestState`; or, if only one side or neither gave a state, with responses to exactly the requested inputs |
//! | the error -32042, with a URL to visit | the same request once more |
//! | a result that creates a task | requests `tasks/…` about that task, and notifications about its status |

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use oxsdatatypes::Decimal;

use super::definitions::DefinitionKind;
use super::{DigestMap, TextDigest};
use crate::record::Time;
use crate::session::triples::NodeRef;
use crate::session::{Name, seconds_between};

/// The maximum number of open operations in memory; beyond it, the oldest is evicted.
const PAUSED: usize = 1 << 16;

/// The tool, resource or prompt that a request uses.
#[derive(Debug, Clone, Copy)]
pub(super) struct UsedDefinition {
    pub kind: DefinitionKind,
    /// The digest of its name or URI.
    pub key: TextDigest,
    /// The digest of the arguments.
    pub arguments: TextDigest,
    pub node: NodeRef<'static>,
}

/// An operation that an answer has left open.
#[derive(Debug, Clone)]
pub(super) struct PausedOperation {
    pub operation: Name,
    /// The message that left it open.
    pub answer: Name,
    pub used: Option<UsedDefinition>,
    /// The time of that answer, and the duration of the operation up to then, in seconds.
    pub since: Option<(Time, Decimal)>,
    /// True if the outcome is already known: the operation is a task, which may still be queried.
    pub has_ended: bool,
}

impl PausedOperation {
    /// Returns the duration of the operation up to a time, in seconds.
    pub fn seconds(&self, at: Option<Time>) -> Option<Decimal> {
        let (since, seconds) = self.since?;
        seconds_between(since, at?)?.checked_add(seconds)
    }
}

/// The open operation that a request continues.
pub(super) enum ContinuedOperation {
    Nothing,
    With(Box<PausedOperation>),
    /// Several operations match, and the log does not show which.
    Doubt,
}

/// The operations that are left open.
#[derive(Default)]
pub(super) struct Rounds {
    paused: BTreeMap<Name, (PausedOperation, Vec<TextDigest>)>,
    by_key: DigestMap<MatchingOperations>,
}

/// Operations that match one key.
#[derive(Default)]
struct MatchingOperations {
    operations: BTreeSet<Name>,
    /// The number of requests that continued one of these operations, without the log showing which.
    in_doubt: usize,
}

impl Rounds {
    pub fn is_empty(&self) -> bool {
        self.paused.is_empty()
    }

    /// Remembers an open operation by the keys of requests that may continue it.
    pub fn pause(&mut self, paused: PausedOperation, keys: Vec<TextDigest>) {
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

    /// Returns the operation for the first of the keys that matches any.
    pub fn find(&mut self, keys: impl IntoIterator<Item = TextDigest>) -> ContinuedOperation {
        let Some(fitting) = keys.into_iter().find(|key| self.by_key.contains_key(key)) else {
            return ContinuedOperation::Nothing;
        };
        let Some(fitting) = self.by_key.get_mut(&fitting) else { return ContinuedOperation::Nothing };
        if let (Some(one), 1, 0) = (fitting.operations.first(), fitting.operations.len(), fitting.in_doubt)
            && let Some((paused, _)) = self.paused.get(one)
        {
            return ContinuedOperation::With(Box::new(paused.clone()));
        }
        fitting.in_doubt += 1;
        if fitting.in_doubt >= fitting.operations.len() {
            for operation in mem::take(&mut fitting.operations) {
                self.take(operation);
            }
        }
        ContinuedOperation::Doubt
    }

    /// Removes an operation.
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

    /// Marks an operation as ended; returns true if it was not marked before.
    pub fn end(&mut self, operation: Name) -> bool {
        self.paused.get_mut(&operation).is_none_or(|(paused, _)| !mem::replace(&mut paused.has_ended, true))
    }
}
