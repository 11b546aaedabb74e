//! Classes of messages and errors, shared by both paths of the mapping `session`.

use oxrdf::NamedNodeRef;

use crate::message::Kind;
use crate::vocab::jrpc;

/// Returns the class of a kind of message.
pub(super) fn class(kind: Kind) -> NamedNodeRef<'static> {
    match kind {
        Kind::Request => jrpc::REQUEST,
        Kind::Notification => jrpc::NOTIFICATION,
        Kind::Response => jrpc::RESPONSE,
        Kind::ErrorResponse => jrpc::ERROR_RESPONSE,
    }
}

/// Returns the class of an error node, and its standard error if it is one: JSON-RPC 2.0, section 5.1.
pub(super) fn kind_of_error(code: Option<&str>) -> (NamedNodeRef<'static>, Option<NamedNodeRef<'static>>) {
    match code.and_then(|code| code.parse().ok()) {
        Some(-32700) => (jrpc::ERROR, Some(jrpc::PARSE_ERROR)),
        Some(-32600) => (jrpc::ERROR, Some(jrpc::INVALID_REQUEST)),
        Some(-32601) => (jrpc::ERROR, Some(jrpc::METHOD_NOT_FOUND)),
        Some(-32602) => (jrpc::ERROR, Some(jrpc::INVALID_PARAMS)),
        Some(-32603) => (jrpc::ERROR, Some(jrpc::INTERNAL_ERROR)),
        Some(-32099..=-32000) => (jrpc::SERVER_ERROR, None),
        Some(i64::MIN..=i64::MAX) | None => (jrpc::ERROR, None),
    }
}
