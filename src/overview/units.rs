//! Numbers with their units, and texts that fit into lines.

use crate::diagnostic::printable;
pub use crate::query::duration;
use crate::query::trimmed;

/// Formats a number with a comma between thousands.
pub fn number(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number with its noun, which takes an s.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", number(count), if count == 1 { "" } else { "s" })
}

/// Formats a share: `5.4 %`, `12 %`, `below 0.1 %`.
pub fn share(part: usize, whole: usize) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    match percent {
        p if part > 0 && p < 0.05 => "below 0.1 %".to_owned(),
        p => format!("{} %", trimmed(p)),
    }
}

/// The first line of a text, without what terminals obey.
pub fn one_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    printable(line).into_owned()
}

/// Turns the name of a problem into words.
pub fn in_words(name: &str) -> String {
    let mut words = String::new();
    for character in name.chars() {
        if character.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(character.to_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{number, share};

    #[test]
    fn numbers_have_units() {
        assert_eq!(
            [number(7), number(1464), number(119_962), number(1_000_000)],
            ["7", "1,464", "119,962", "1,000,000"]
        );
        assert_eq!([share(79, 1464), share(16, 1600), share(1, 100_000)], ["5.4 %", "1 %", "below 0.1 %"]);
    }
}
