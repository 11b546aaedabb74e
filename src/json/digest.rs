//! Digests as graphs name them.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// Returns the SHA-256 in lower-case hexadecimal, like the function `SHA256` of SPARQL.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let mut hex = String::with_capacity(2 * digest.len());
    for byte in digest {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
