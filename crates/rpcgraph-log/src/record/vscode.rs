//! The front of a line in output channels of VS Code and of its language clients: a date and a level, `[Trace - CLOCK]`
//! or both.

use super::Time;
use super::decoder::leading_blanks;
use super::times::{hour_of_day, timestamp};
use regex::bytes::Regex;
use std::sync::LazyLock;

/// The front of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LineStamp {
    /// The time of the line. The date of the channel, which has milliseconds, takes precedence over the clock in
    /// brackets.
    pub time: Option<Time>,
    /// True with `[Trace - CLOCK]` or, from some writers, `[Trace]`.
    pub is_trace: bool,
    /// The offset of the rest of the line.
    pub rest: usize,
}

/// The maximum length of a date, a level and a clock together, in bytes.
pub(super) const LONGEST: usize = 128;

impl LineStamp {
    /// Parses the front of `line`, which does not begin with a blank, if it has a front.
    ///
    /// No part has a fixed width: dates have fractions or not, levels differ, and clocks are spelled as in the user's
    /// country.
    pub fn of(line: &[u8]) -> Option<Self> {
        let line = &line[..line.len().min(LONGEST)];
        // The time zone is not stated.
        let date = timestamp(line).map(|(length, time)| (length + leading_blanks(&line[length..]), time));
        let (front, time) = date.unwrap_or((0, None));
        let found = FRONT.as_ref()?.captures(&line[front..])?;
        let is_trace = found.name("trace").is_some();
        let clock = found.name("clock").and_then(|text| clock(text.as_bytes()));
        let stamped = is_trace || (date.is_some() && found.name("level").is_some());
        stamped.then_some(Self { time: time.or(clock), is_trace, rest: front + found.get(0)?.end() })
    }
}

/// The front after the date: `[info] `, a level in small letters, and `[Trace - CLOCK] `.
static FRONT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?-u)^(?<level>\[[a-z]+\]\s*)?(?<trace>\[Trace\s*(?:-(?<clock>[^\]]*))?\]\s*)?").ok()
});

/// The letters beside a clock of 12 hours; true if they mean after noon.
const HALVES: [(&str, bool); 8] = [
    ("am", false),
    ("pm", true),
    ("上午", false),
    ("下午", true),
    ("午前", false),
    ("午後", true),
    ("오전", false),
    ("오후", true),
];

/// Parses a clock as `toLocaleTimeString` writes it: `18:47:29`, `6:47:29 PM`, `6:47:29 p.m.`, `18.47.29`, `下午6:47:29`.
/// Also `18:47:29.123 PM`, which Go programs write, and a date and time in ISO 8601.
pub(super) fn clock(text: &[u8]) -> Option<Time> {
    let text = std::str::from_utf8(text).ok()?.trim();
    if let Ok(time) = text.parse() {
        return Some(Time::DateTime(time));
    }
    let digits = text.find(|c: char| c.is_ascii_digit())?..text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let around = [&text[..digits.start], &text[digits.end..]].concat();
    let letters: String = around.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    let after_noon = match letters.as_str() {
        "" => None,
        letters => Some(HALVES.iter().find(|(half, _)| *half == letters)?.1),
    };
    let mut parts = text[digits].splitn(4, [':', '.', ',']);
    let (hour, minute, second) = (parts.next()?.parse::<u8>().ok()?, parts.next()?, parts.next()?);
    let hour = after_noon.map_or(hour, |after_noon| hour_of_day(hour, after_noon));
    let fraction = parts.next().map(|digits| format!(".{digits}")).unwrap_or_default();
    format!("{hour:02}:{minute:0>2}:{second:0>2}{fraction}").parse().ok().map(Time::Clock)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time_of_day(text: &str) -> Option<Time> {
        Some(Time::Clock(text.parse().unwrap()))
    }

    #[test]
    fn clocks_of_many_countries() {
        let table = [
            ("18:47:29", "18:47:29"),
            ("4:21:27 PM", "16:21:27"),
            ("4:21:27\u{202f}PM", "16:21:27"),
            ("4:21:27\u{a0}p.\u{a0}m.", "16:21:27"),
            ("4:21:27 am", "04:21:27"),
            ("12:00:00 AM", "00:00:00"),
            ("12:30:00 PM", "12:30:00"),
            ("18.47.29", "18:47:29"),
            ("下午4:21:27", "16:21:27"),
            ("오전 12:05:09", "00:05:09"),
            ("18:47:29.123 PM", "18:47:29.123"),
            ("00:47:29.5 AM", "00:47:29.5"),
            ("9:05:09", "09:05:09"),
        ];
        for (text, expected) in table {
            assert_eq!(clock(text.as_bytes()), time_of_day(expected), "{text}");
        }
        for text in ["", "<TIME>", "25:00:00", "4:21", "4:21:27 CET", "a4", "4:21:27 PM AM", "1:2:3:4:5"] {
            assert_eq!(clock(text.as_bytes()), None, "{text}");
        }
        let date = "2022-03-05T13:35:23Z";
        assert_eq!(clock(date.as_bytes()), Some(Time::DateTime(date.parse().unwrap())));
    }

    #[test]
    fn fronts() {
        let noon = time_of_day("12:00:00");
        let date = Some(Time::DateTime("2023-11-17T14:12:11.715".parse().unwrap()));
        let found =
            |line: &str| LineStamp::of(line.as_bytes()).map(|s| (s.time, s.is_trace, line[s.rest..].to_owned()));
        let table = [
            ("[Trace - 12:00:00] x", noon, true, "x"),
            ("[Trace] x", None, true, "x"),
            ("[Trace - <TIME>]x", None, true, "x"),
            ("2023-11-17 14:12:11.715 [info] [Trace - 2:12:11 PM] x", date, true, "x"),
            ("2023-11-17T14:12:11.715 [trace] x", date, false, "x"),
            ("[info] [Trace - 12:00:00] x", noon, true, "x"),
        ];
        for (line, time, is_trace, rest) in table {
            assert_eq!(found(line), Some((time, is_trace, rest.to_owned())), "{line}");
        }
        for line in ["", "x", "[info] x", "[Info  - 12:00:00] x", "[LSP] x", "[Tracing] x", "2023 [info] x", "[Trace"] {
            assert_eq!(found(line), None, "{line}");
        }
        assert_eq!(found("2023-11-17 14:12:11.715 x [info] y"), None);
    }
}
