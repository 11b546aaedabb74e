//! What both paths of the mapping `session` say of a message in the ontologies' terms.

use std::fmt::Write as _;

use oxrdf::NamedNodeRef;
use sha2::{Digest, Sha256};

use crate::message::Kind;
use crate::vocab::jrpc;

/// SHA-256 in lower-case hexadecimal, as SPARQL's function of that name gives it.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let mut hex = String::with_capacity(2 * digest.len());
    for byte in digest {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// Class of a kind of message.
pub(super) fn class(kind: Kind) -> NamedNodeRef<'static> {
    match kind {
        Kind::Request => jrpc::REQUEST,
        Kind::Notification => jrpc::NOTIFICATION,
        Kind::Response => jrpc::RESPONSE,
        Kind::ErrorResponse => jrpc::ERROR_RESPONSE,
    }
}

/// Class of an error node and the standard error that it is one of: JSON-RPC 2.0, section 5.1.
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
