//! Which side sent a message, where the log does not say: a method that only one side sends tells it, and an answer comes
//! from the other side than its request.
//!
//! Words such as `in` and `out` mean the side that wrote the log. Which one that is, the first message tells whose method
//! only one side sends. Nothing of this stands against what the log says, and words that contradict themselves (those of a
//! proxy, which receives from both sides) are no longer heard.

use crate::record::{Direction, KnownMethod, Protocols, Record, Sender};

/// What is known of the side that sent a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Party {
    /// The side.
    pub sender: Option<Sender>,
    /// The log does not say so itself.
    pub inferred: bool,
    /// Which way the message went, as seen by the side that wrote the log.
    pub direction: Option<Direction>,
}

impl Party {
    /// Whether both count their ids as one side does: where the log says nothing, unless they are known to be two.
    pub fn shares_ids_with(self, other: Self) -> bool {
        match (self.direction, other.direction) {
            (Some(one), Some(other)) => one == other,
            _ if self.is_stated() || other.is_stated() => self.sender == other.sender,
            _ => self.sender.is_none() || other.sender.is_none() || self.sender == other.sender,
        }
    }

    /// Whether it may answer what that one asked: not if both are known and the same.
    pub fn may_answer(self, requester: Self) -> bool {
        match (self.direction, requester.direction) {
            (Some(one), Some(other)) => one != other,
            _ => may_answer(self.sender, requester.sender),
        }
    }

    /// Whether the log lets it answer what that one asked, whatever was inferred.
    pub fn is_let_answer(self, requester: Self) -> bool {
        !(self.is_stated() && requester.is_stated() && self.sender == requester.sender)
    }

    fn is_stated(self) -> bool {
        self.sender.is_some() && !self.inferred
    }
}

/// Whether one side may answer another: not if both are known and the same.
pub(super) fn may_answer(responder: Option<Sender>, requester: Option<Sender>) -> bool {
    responder.is_none() || requester.is_none() || responder != requester
}

/// What a session has told of its sides so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sides {
    /// The side that wrote the log.
    writer: Option<Sender>,
    /// Its words for directions do not tell sides.
    unheard: bool,
    /// A sender was inferred.
    pub inferred: bool,
    /// The protocols whose methods told a sender.
    pub protocols: Protocols,
}

impl Sides {
    /// Who sent a record, or a message in it with that method.
    pub fn party(&mut self, record: &Record<'_>, known: Option<KnownMethod>) -> Party {
        if record.sender.is_some() {
            let inferred = record.flags.sender_inferred;
            self.inferred |= inferred;
            return Party { sender: record.sender, inferred, direction: None };
        }
        let known = known.and_then(|known| Some((known.sender?, known.protocols)));
        if let Some((sender, protocols)) = known {
            self.protocols = self.protocols.narrowed(protocols);
            if let Some(direction) = record.direction {
                let writer = one_end(direction, sender);
                self.unheard |= *self.writer.get_or_insert(writer) != writer;
            }
        }
        let direction = record.direction.filter(|_| !self.unheard);
        let told = || Some(one_end(direction?, self.writer?));
        let sender = known.map(|(sender, _)| sender).or_else(told);
        self.inferred |= sender.is_some();
        Party { sender, inferred: sender.is_some(), direction }
    }

    /// An answer that answers a request by that side.
    pub fn answers(&mut self, requester: Option<Sender>) -> Party {
        let sender = requester.map(Sender::other);
        self.inferred |= sender.is_some();
        Party { sender, inferred: sender.is_some(), direction: None }
    }

    /// An answer and its request went the same way.
    pub fn hear_no_more(&mut self) {
        self.unheard = true;
    }
}

/// The sender of a message that went this way, given the side that wrote the log; and the other way round.
fn one_end(direction: Direction, other: Sender) -> Sender {
    match direction {
        Direction::Out => other,
        Direction::In => other.other(),
    }
}
