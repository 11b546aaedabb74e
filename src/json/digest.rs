//! Digests as graphs name them, and the keys of secret ones.

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

/// Returns a random key.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn secret_key() -> [u64; 2] {
    use std::hash::{BuildHasher as _, RandomState};
    [0, 1].map(|half| RandomState::new().hash_one(half))
}

/// Returns a random key. The standard library lacks random numbers in a browser.
#[cfg(target_family = "wasm")]
pub(crate) fn secret_key() -> [u64; 2] {
    [0, 1].map(|_| getrandom::u64().unwrap_or_default())
}
