//! Infers the side that sent a message if the log does not state it. A method that only one side sends implies that
//! side, and an answer comes from the other side than its request.
//!
//! Words such as `in` and `out` refer to the side that wrote the log. The first message whose method only one side
//! sends shows which side this is. Until then, requests of other protocols come from the client, which is the origin of requests
//! ([section 1.1](https://www.jsonrpc.org/specification#overview)). Inference never overrules what the log states. Words that
//! contradict each other are ignored from then on (a proxy receives from both sides). Where the words fit all such methods of
//! the session, the log itself says who sent what.

use crate::record::{Direction, KnownMethod, Protocols, Record, Sender};

/// The facts about the side that sent a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct MessageSide {
    /// The side.
    pub sender: Option<Sender>,
    /// True if the side was inferred, not stated by the log.
    pub inferred: bool,
    /// The direction of the message, seen from the side that wrote the log.
    pub direction: Option<Direction>,
}

impl MessageSide {
    /// True if both may use the same sequence of ids, as one side does. If the log states neither side, true unless
    /// they are known to differ.
    pub fn shares_ids_with(self, other: Self) -> bool {
        match (self.direction, other.direction) {
            (Some(one), Some(other)) => one == other,
            _ if self.is_stated() || other.is_stated() => self.sender == other.sender,
            _ => self.sender.is_none() || other.sender.is_none() || self.sender == other.sender,
        }
    }

    /// True if it may answer a request of `requester`. False only if both are known and the same.
    pub fn may_answer(self, requester: Self) -> bool {
        match (self.direction, requester.direction) {
            (Some(one), Some(other)) => one != other,
            _ => may_answer(self.sender, requester.sender),
        }
    }

    /// True if the log allows it to answer a request of `requester`, whatever was inferred.
    pub fn may_answer_by_log(self, requester: Self) -> bool {
        !(self.is_stated() && requester.is_stated() && self.sender == requester.sender)
    }

    fn is_stated(self) -> bool {
        self.sender.is_some() && !self.inferred
    }
}

/// True if one side may answer another. False only if both are known and the same.
pub(super) fn may_answer(responder: Option<Sender>, requester: Option<Sender>) -> bool {
    responder.is_none() || requester.is_none() || responder != requester
}

/// The facts about the sides of a session so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sides {
    /// The side that wrote the log.
    writer: Option<Sender>,
    /// True if no known method showed the writer, but a request did.
    is_by_request: bool,
    /// True if its words for directions are ignored.
    directions_ignored: bool,
    /// True if a sender was inferred that no word for a direction confirms.
    pub inferred: bool,
    /// The protocols whose methods implied a sender.
    pub protocols: Protocols,
}

impl Sides {
    /// Returns the party that sent a record, or a message in it with a known method, or a request whose method no published
    /// protocol has.
    pub fn party(&mut self, record: &Record<'_>, known: Option<KnownMethod>, is_own_request: bool) -> MessageSide {
        if record.sender.is_some() {
            let inferred = record.flags.sender_inferred;
            self.inferred |= inferred;
            return MessageSide { sender: record.sender, inferred, direction: None };
        }
        let known = known.and_then(|known| Some((known.sender?, known.protocols)));
        if let Some((sender, protocols)) = known {
            self.protocols = self.protocols.narrowed(protocols);
            if let Some(direction) = record.direction {
                let writer = one_end(direction, sender);
                if std::mem::take(&mut self.is_by_request) {
                    self.writer = None;
                }
                if *self.writer.get_or_insert(writer) != writer {
                    self.ignore_directions();
                }
            }
        }
        if is_own_request
            && self.writer.is_none()
            && let Some(direction) = record.direction
        {
            (self.writer, self.is_by_request) = (Some(one_end(direction, Sender::Client)), true);
        }
        let direction = record.direction.filter(|_| !self.directions_ignored);
        let told = direction.zip(self.writer).map(|(direction, writer)| one_end(direction, writer));
        let sender = known.map(|(sender, _)| sender).or(told);
        self.inferred |= sender.is_some() && (told.is_none() || self.is_by_request);
        MessageSide { sender, inferred: sender.is_some(), direction }
    }

    /// Returns the party of an answer to a request by that side.
    pub fn answers(&mut self, requester: Option<Sender>) -> MessageSide {
        let sender = requester.map(Sender::other);
        self.inferred |= sender.is_some();
        MessageSide { sender, inferred: sender.is_some(), direction: None }
    }

    /// Ignores words for directions from now on: methods contradict them, or an answer went the same way as its request. The
    /// senders that they have shown so far count as inferred.
    pub fn ignore_directions(&mut self) {
        (self.directions_ignored, self.inferred) = (true, true);
    }
}

/// Returns the sender of a message with this direction, given the side that wrote the log; or the side that wrote the
/// log, given the sender.
fn one_end(direction: Direction, other: Sender) -> Sender {
    match direction {
        Direction::Out => other,
        Direction::In => other.other(),
    }
}
