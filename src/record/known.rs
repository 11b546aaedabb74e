//! What is a message of JSON-RPC for sure, although it stands among other things.

use super::object::{RawObject, elements};
use memchr::memmem;

/// The members of a message. `sessionId` is that of Chrome's protocol, and recorders add `_meta`.
const MEMBERS: [&str; 8] = ["jsonrpc", "id", "method", "params", "result", "error", "sessionId", "_meta"];

/// The methods of the Model Context Protocol (its schemas) and the Language Server Protocol (metaModel 3.17 and 3.18).
const METHODS: &str = include_str!("methods.txt");

/// Whether there can be a message in the text that counts: it is looked for in no other.
pub(super) fn may_hold_message(text: &[u8]) -> bool {
    memmem::find(text, b"jsonrpc").is_some() || memmem::find(text, b"method").is_some()
}

/// Whether an object is a message of JSON-RPC for sure, wherever it stands: it says so, or has a method
/// that a published protocol knows, and nothing that JSON-RPC does not know.
pub(super) fn counts(object: &RawObject<'_>) -> bool {
    object.has("jsonrpc")
        || has_members_of_messages(object)
            && object.string("method").is_some_and(|method| METHODS.lines().any(|known| *known == *method))
}

/// Whether all members are those of messages.
pub(super) fn has_members_of_messages(object: &RawObject<'_>) -> bool {
    object.members().all(|(name, _)| MEMBERS.iter().any(|known| known.as_bytes() == name))
}

/// Whether an object is a message for sure, or an array is a batch that has such a message.
pub(super) fn is_sure(text: &[u8]) -> bool {
    match RawObject::parse(text) {
        Some(object) => counts(&object),
        None => elements(text).filter_map(RawObject::parse).any(|object| counts(&object)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_in_order() {
        assert!(METHODS.lines().is_sorted() && METHODS.lines().count() > 100);
    }
}
