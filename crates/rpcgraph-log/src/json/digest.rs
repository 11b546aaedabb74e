//! Digests as graphs name them, hashes of tables, and their random keys.

use std::hash::{BuildHasher, Hash};

use ahash::{AHasher, RandomState};
use sha2::{Digest, Sha256};
use siphasher::sip128::{Hasher128, SipHasher13};

/// Returns the SHA-256 in lower-case hexadecimal, like the function `SHA256` of SPARQL.
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Returns a random key.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn secret_key() -> [u64; 2] {
    [0, 1].map(|half| std::hash::RandomState::new().hash_one(half))
}

/// Returns a random key. The standard library lacks random numbers in a browser.
#[cfg(target_family = "wasm")]
pub(crate) fn secret_key() -> [u64; 2] {
    [0, 1].map(|_| getrandom::u64().unwrap_or_default())
}

/// Digests of 128 bits with a random key, by which tables know texts that they do not keep: no log can foresee two texts
/// with one digest.
#[derive(Debug, Clone, Copy)]
pub struct KeyedDigests([u64; 2]);

impl KeyedDigests {
    /// Returns the digest of a value.
    pub fn digest(self, value: impl Hash) -> u128 {
        let mut hasher = SipHasher13::new_with_keys(self.0[0], self.0[1]);
        value.hash(&mut hasher);
        hasher.finish128().as_u128()
    }
}

impl Default for KeyedDigests {
    fn default() -> Self {
        Self(secret_key())
    }
}

/// Hashes for tables, with a random key, since logs may be hostile.
#[derive(Debug, Clone)]
pub struct KeyedHashes(RandomState);

impl Default for KeyedHashes {
    fn default() -> Self {
        let ([one, two], [three, four]) = (secret_key(), secret_key());
        Self(RandomState::with_seeds(one, two, three, four))
    }
}

impl BuildHasher for KeyedHashes {
    type Hasher = AHasher;

    fn build_hasher(&self) -> AHasher {
        self.0.build_hasher()
    }
}
