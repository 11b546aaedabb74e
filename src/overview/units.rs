//! Numbers with their units, and texts that fit into lines.

use crate::diagnostic::{display_width, printable};
use crate::query::cut;

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

/// Formats a duration in seconds: `6.0 ms`, `111 ms`, `1.62 s`, `42 s`, `3 min 12 s`, `1 h 0 min`, `3 d 4 h`.
pub fn duration(seconds: f64) -> String {
    let pair = |large: f64, name: &str, small: &str, parts: f64| {
        let small_count = (seconds / (large / parts)).round();
        format!("{} {name} {} {small}", (small_count / parts).floor(), small_count % parts)
    };
    match seconds {
        s if s < 0.000_999_5 => format!("{:.0} µs", s * 1e6),
        s if s < 0.009_95 => format!("{:.1} ms", s * 1e3),
        s if s < 0.999_5 => format!("{:.0} ms", s * 1e3),
        s if s < 9.995 => format!("{s:.2} s"),
        s if s < 59.5 => format!("{} s", trimmed(s)),
        s if s < 3599.5 => pair(60.0, "min", "s", 60.0),
        s if s < 86_370.0 => pair(3600.0, "h", "min", 60.0),
        _ => pair(86_400.0, "d", "h", 24.0),
    }
}

fn trimmed(seconds: f64) -> String {
    let text = format!("{seconds:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
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

/// Cuts a text in its middle.
pub fn cut_middle(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let half = width / 2;
    let start = cut(text, half.max(1));
    let tail: String =
        text.chars().rev().take(width.saturating_sub(half)).collect::<Vec<_>>().into_iter().rev().collect();
    format!("{start}{tail}")
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
    use super::{duration, number, share};

    #[test]
    fn numbers_have_units() {
        let seconds = [0.0004, 0.006, 0.1114, 1.618, 30.0, 42.37, 59.7, 192.0, 3599.9, 3618.9, 90_000.0];
        let shown = seconds.map(duration);
        let expected = [
            "400 µs",
            "6.0 ms",
            "111 ms",
            "1.62 s",
            "30 s",
            "42.4 s",
            "1 min 0 s",
            "3 min 12 s",
            "1 h 0 min",
            "1 h 0 min",
            "1 d 1 h",
        ];
        assert_eq!(shown, expected);
        assert_eq!(
            [number(7), number(1464), number(119_962), number(1_000_000)],
            ["7", "1,464", "119,962", "1,000,000"]
        );
        assert_eq!([share(79, 1464), share(16, 1600), share(1, 100_000)], ["5.4 %", "1 %", "below 0.1 %"]);
    }
}
