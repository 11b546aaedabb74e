//! Numbers with units.

/// Formats a duration in seconds: `6.0 ms`, `111 ms`, `1.62 s`, `42 s`, `3 min 12 s`, `1 h 0 min`, `3 d 4 h`.
pub fn duration(seconds: f64) -> String {
    let pair = |large: f64, name: &str, small: &str, parts: f64| {
        let small_count = (seconds / (large / parts)).round();
        format!("{} {name} {} {small}", (small_count / parts).floor(), small_count % parts)
    };
    match seconds {
        0.0 => "0 s".to_owned(),
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

/// Formats a number of bytes: `59 B`, `1.2 kB`, `24 kB`, `3.1 MB`.
pub(super) fn bytes(count: f64) -> String {
    match count {
        n if n < 999.5 => format!("{n:.0} B"),
        n if n < 9_950.0 => format!("{:.1} kB", n / 1e3),
        n if n < 999_500.0 => format!("{:.0} kB", n / 1e3),
        n if n < 999_950_000.0 => format!("{:.1} MB", n / 1e6),
        n => format!("{:.1} GB", n / 1e9),
    }
}

/// Formats a number with at most one decimal.
pub fn trimmed(seconds: f64) -> String {
    let text = format!("{seconds:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::{bytes, duration};

    #[test]
    fn numbers_have_units() {
        let seconds = [0.0, 0.0004, 0.006, 0.1114, 1.618, 30.0, 42.37, 59.7, 192.0, 3599.9, 3618.9, 90_000.0];
        let shown = seconds.map(duration);
        let expected = [
            "0 s",
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
        let sizes = [0.0, 999.0, 1234.0, 24_400.0, 3_140_000.0, 2e9].map(bytes);
        assert_eq!(sizes, ["0 B", "999 B", "1.2 kB", "24 kB", "3.1 MB", "2.0 GB"]);
    }
}
