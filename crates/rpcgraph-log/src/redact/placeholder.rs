//! Placeholders: a keyed digest of a value, in the shape of its kind.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;

use super::allowed::LISTS;

/// The number of letters of a word: `x`, about 61 bits of the digest, and two letters that check the others.
const LETTERS: usize = 16;
/// The number of digits of a number: about 43 bits of the digest, and two digits that check the others. A double holds
/// it exactly.
const DIGITS: usize = 15;

/// The key of an HMAC ([RFC 2104](https://www.rfc-editor.org/rfc/rfc2104)) with SHA-256.
#[derive(Clone)]
pub(super) struct HmacKey(Hmac<Sha256>);

impl HmacKey {
    pub fn new(key: &[u8]) -> Self {
        // HMAC accepts keys of every length.
        Self(Hmac::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Default::default())))
    }

    fn digest(&self, value: &[u8]) -> [u8; 32] {
        self.0.clone().chain_update(value).finalize().into_bytes().into()
    }

    fn number_of(&self, value: &[u8]) -> u128 {
        let digest = self.digest(value);
        digest.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte))
    }

    /// Returns a word.
    pub fn word(&self, value: &[u8]) -> String {
        let mut rest = self.number_of(value);
        let letters = (3..LETTERS).map(|_| {
            let letter = b'a' + (rest % 26) as u8;
            rest /= 26;
            letter
        });
        let mut word: Vec<u8> = std::iter::once(b'x').chain(letters).collect();
        word.extend(check_letters(&word));
        word.into_iter().map(char::from).collect()
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
        let least = 10_u128.pow(DIGITS as u32 - 3);
        let digits = least + self.number_of(spelling.as_bytes()) % (9 * least);
        let digits = digits * 100 + digits % 97;
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

/// Returns two letters that check the others of a word.
fn check_letters(word: &[u8]) -> [u8; 2] {
    let sum = word.iter().fold(7, |sum, letter| (sum * 31 + u32::from(*letter)) % 676);
    [sum / 26, sum % 26].map(|letter| b'a' + letter as u8)
}

fn is_word(text: &[u8]) -> bool {
    text.split_last_chunk().is_some_and(|(word, check)| {
        word.starts_with(b"x") && word.iter().all(u8::is_ascii_lowercase) && check_letters(word) == *check
    })
}

fn is_number(digits: &[u8]) -> bool {
    let number = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
    let checked = number.and_then(|digits| digits.get(..DIGITS)?.parse::<u64>().ok());
    checked.is_some_and(|number| number / 100 % 97 == number % 100) && digits[DIGITS..].iter().all(|zero| *zero == b'0')
}

/// True for placeholders, with only punctuation and words that stay in text around them.
pub(super) fn is_placeholder(text: &[u8]) -> bool {
    let mut is_any = false;
    let is_inert = text.split(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric()).all(|part| {
        let is_made = part.len().is_multiple_of(LETTERS) && part.chunks(LETTERS).all(is_word) || is_number(part);
        is_any |= is_made && !part.is_empty();
        is_made || part.len() < 3 || LISTS.text_words.iter().any(|word| word.as_bytes().eq_ignore_ascii_case(part))
    });
    is_any && is_inert
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
    fn placeholders_are_known() {
        let key = HmacKey::new(b"key");
        let (word, number) = (key.word(b"Ida"), key.number("4711"));
        for (text, expected) in [
            (word.clone(), true),
            (key.text(&"Ida ".repeat(100)), true),
            (key.text(&"Ida".repeat(100)), true),
            (number.clone(), true),
            (key.number("-12345678901234567890"), true),
            (key.number("1.5"), true),
            (format!("Bearer {word}"), true),
            (format!("{word}={word}; path={number}"), true),
            (format!("{word} hunter2"), false),
            (format!("{word}a"), false),
            ("xylophonexylopho".to_owned(), false),
            ("123456789012345".to_owned(), false),
            ("Bearer".to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(is_placeholder(text.as_bytes()), expected, "{text}");
        }
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
