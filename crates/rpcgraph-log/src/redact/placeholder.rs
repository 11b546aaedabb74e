//! Placeholders: a keyed digest of a value, in the shape of its kind.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The size of a block of SHA-256, in bytes.
const BLOCK: usize = 64;
/// The number of letters of a word, with about 70 bits of the digest.
const LETTERS: usize = 16;
/// The number of digits of a number, with about 50 bits of the digest, which a double holds exactly.
const DIGITS: usize = 15;

/// The key of an HMAC ([RFC 2104](https://www.rfc-editor.org/rfc/rfc2104)) with SHA-256.
#[derive(Clone)]
pub(super) struct HmacKey {
    inner: Sha256,
    outer: Sha256,
}

impl HmacKey {
    pub fn new(key: &[u8]) -> Self {
        let mut block = [0; BLOCK];
        match block.get_mut(..key.len()) {
            Some(start) => start.copy_from_slice(key),
            None => block[..32].copy_from_slice(&Sha256::digest(key)),
        }
        let padded = |pad: u8| Sha256::new_with_prefix(block.map(|byte| byte ^ pad));
        Self { inner: padded(0x36), outer: padded(0x5c) }
    }

    fn digest(&self, value: &[u8]) -> [u8; 32] {
        let inner = self.inner.clone().chain_update(value).finalize();
        self.outer.clone().chain_update(inner).finalize().into()
    }

    fn number_of(&self, value: &[u8]) -> u128 {
        let digest = self.digest(value);
        digest.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte))
    }

    /// Returns a word.
    pub fn word(&self, value: &[u8]) -> String {
        let mut rest = self.number_of(value);
        let letters = (1..LETTERS).map(|_| {
            let letter = b'a' + (rest % 26) as u8;
            rest /= 26;
            char::from(letter)
        });
        std::iter::once('x').chain(letters).collect()
    }

    /// Returns a word, or the same word several times if the value is longer: at most as long as the value, and longer
    /// than half of it.
    pub fn text(&self, value: &str) -> String {
        let word = self.word(value.as_bytes());
        let count = class(value.len()) / (LETTERS + 1);
        match value.contains(char::is_whitespace) {
            true => vec![word; count.max(1)].join(" "),
            false => word.repeat(count.max(1)),
        }
    }

    /// Returns a number of at least [`DIGITS`] digits, an integer if `spelling` is one.
    pub fn number(&self, spelling: &str) -> String {
        let sign = if spelling.starts_with('-') { "-" } else { "" };
        let least = 10_u128.pow(DIGITS as u32 - 1);
        let digits = least + self.number_of(spelling.as_bytes()) % (9 * least);
        let is_integer = spelling.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        match spelling.len().checked_sub(DIGITS + sign.len()) {
            Some(more) if is_integer => format!("{sign}{digits}{:0<more$}", ""),
            None if is_integer => format!("{sign}{digits}"),
            _ => format!("{sign}1.{digits}"),
        }
    }

    /// Returns a UUID.
    pub fn uuid(&self, value: &str) -> String {
        let hex = format!("{:032x}", self.number_of(value.as_bytes()));
        [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
    }

    /// Returns hexadecimal digits, at least 16.
    pub fn hex(&self, value: &str) -> String {
        let digits = format!("{:032x}", self.number_of(value.as_bytes()));
        digits.chars().cycle().take(class(value.len()).max(16)).collect()
    }

    /// Returns bytes in Base64, at least 16.
    pub fn base64(&self, bytes: &[u8]) -> String {
        let digest = self.digest(bytes);
        let bytes: Vec<u8> = digest.into_iter().cycle().take(class(bytes.len()).max(16)).collect();
        STANDARD.encode(bytes)
    }
}

/// The class of a length: the largest power of two that is not greater.
fn class(length: usize) -> usize {
    length.checked_ilog2().map_or(0, |log| 1 << log)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test cases 2 and 6 of [RFC 4231](https://www.rfc-editor.org/rfc/rfc4231#section-4).
    #[test]
    fn hmac() {
        let hex = |digest: [u8; 32]| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(
            hex(HmacKey::new(b"Jefe").digest(b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hex(HmacKey::new(&[0xaa; 131]).digest(b"Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn kinds_and_lengths() {
        let key = HmacKey::new(b"key");
        assert_eq!(key.word(b"Ida").len(), LETTERS);
        assert_eq!(key.text(&"Ida ".repeat(100)).len(), 254);
        assert_eq!(key.text(&"x".repeat(600)).len(), 480);
        for (number, length) in [("7", 15), ("-12345678", 16), ("12345678901234567890", 20), ("1.5", 17), ("1e9", 17)] {
            assert_eq!(key.number(number).len(), length, "{number}");
        }
        assert_eq!((key.uuid("a").len(), key.hex("0").len(), key.hex(&"0".repeat(64)).len()), (36, 16, 64));
        assert_ne!(key.word(b"a"), HmacKey::new(b"other").word(b"a"));
    }
}
