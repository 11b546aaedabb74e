//! Bounds in time, `--since`, `--until` and `--last`, and the times of a log that they refer to.
//!
//! A bound is a date and time, a time of day, or a duration before the end of the log. Times without a date pass
//! midnight where the clock goes back by more than half a day: each log is divided into days, and a bound lies on one of
//! them.

use std::collections::BTreeMap;
use std::str::FromStr as _;

use anyhow::{anyhow, bail};
use oxsdatatypes::{DateTime, DayTimeDuration, Decimal, Duration, Time};

use crate::json::quoted;

/// The path from a message to its times.
pub const TIMES: &str = "rpcg:capturedAt|rpcg:clockTime";
/// The seconds of a day.
const DAY: i64 = 86_400;
/// A clock that goes forward by more seconds shows a late message of the day before.
const LATE: i64 = 22 * 3600;
/// The maximum number of spans of records, each of one day, in a condition.
const MAX_SPANS: usize = 1000;

/// A time as typed, and its meaning.
#[derive(Debug, Clone)]
pub struct TimeArgument {
    pub text: String,
    at: TimeArgumentKind,
}

#[derive(Debug, Clone)]
enum TimeArgumentKind {
    At(DatedBound),
    /// A time of day, as precise as it was typed.
    Clock(String),
    /// A duration before the end of the log.
    Before(DayTimeDuration),
}

/// A date, or a date and time, as precise as it was typed.
#[derive(Debug, Clone)]
struct DatedBound {
    /// Its beginning, with its zone, or else in UTC.
    start: DateTime,
    /// Its beginning as typed, without the zone.
    written: String,
    has_zone: bool,
    /// The seconds from its beginning to the next bound of this precision: of a date, a day.
    length: Decimal,
}

impl DatedBound {
    /// Returns the first time after the bound, and that as it would be written without a zone.
    fn end(&self) -> Option<(DateTime, String)> {
        let length = DayTimeDuration::new(self.length);
        let written = DateTime::from_str(&self.written).ok()?.checked_add_day_time_duration(length)?;
        Some((self.start.checked_add_day_time_duration(length)?, written.to_string()))
    }

    /// Returns the time of day of the bound: of a date, the first or the last.
    fn clock(&self, is_end: bool) -> &str {
        let clock = self.written.split_once('T').map_or("", |(_, clock)| clock);
        match self.length {
            length if length == Decimal::from(DAY) && is_end => "23:59:59",
            length if length == Decimal::from(60) => clock.get(..5).unwrap_or(clock),
            _ => clock,
        }
    }
}

pub fn parse_moment(text: &str) -> Result<TimeArgument, String> {
    let at = parse_moment_kind(text).ok_or("expected a time such as 2026-01-05T10:00:00Z, 10:00:00 or 10m")?;
    Ok(TimeArgument { text: text.to_owned(), at })
}

pub fn parse_duration(text: &str) -> Result<TimeArgument, String> {
    let expected = || "expected a duration such as 90s, 10m, 2h or 1d".to_owned();
    parse_moment(text).ok().filter(TimeArgument::is_relative).ok_or_else(expected)
}

/// Parses a number of seconds, minutes, hours or days, such as `90s`.
pub fn parse_seconds(text: &str) -> Option<Decimal> {
    let units = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400)];
    let (number, unit) = units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(*unit)?, *seconds)))?;
    Decimal::from_str(number).ok()?.checked_mul(Decimal::from(unit))
}

fn parse_moment_kind(text: &str) -> Option<TimeArgumentKind> {
    if let Some(seconds) = parse_seconds(text) {
        return Some(TimeArgumentKind::Before(DayTimeDuration::new(seconds)));
    }
    if text.get(2..3) == Some(":") {
        return seconds_of_day(text).map(|_| TimeArgumentKind::Clock(text.to_owned()));
    }
    let text = text.replacen(' ', "T", 1);
    [("", 1), ("Z", 1), (":00Z", 60), ("T00:00:00Z", DAY)].into_iter().find_map(|(rest, length)| {
        let whole = format!("{text}{rest}");
        let start = DateTime::from_str(&whole).ok().filter(|time| time.timezone_offset().is_some())?;
        let written = without_zone(&whole).to_owned();
        let digits = written.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let length = Decimal::new(length.into(), u32::try_from(digits).ok()?).ok()?;
        Some(TimeArgumentKind::At(DatedBound { start, written, has_zone: rest.is_empty(), length }))
    })
}

/// Returns the seconds from midnight to a time of day: `HH:MM`, or `HH:MM:SS` with or without a fraction.
fn seconds_of_day(text: &str) -> Option<Decimal> {
    let whole = if text.len() == 5 { format!("{text}:00") } else { text.to_owned() };
    // The end of a day is the beginning of the next.
    let time =
        Time::from_str(&whole).ok().filter(|time| time.timezone_offset().is_none() && !text.starts_with("24"))?;
    Decimal::from(i64::from(time.hour()) * 3600 + i64::from(time.minute()) * 60).checked_add(time.second())
}

/// Returns a date and time as it is written, without its zone.
fn without_zone(text: &str) -> &str {
    let time = text.find('T').unwrap_or(text.len());
    let zone = text.get(time..).and_then(|text| text.find(['Z', '+', '-']));
    zone.and_then(|zone| text.get(..time + zone)).unwrap_or(text)
}

impl TimeArgument {
    /// True for a duration before the end of the log.
    pub fn is_relative(&self) -> bool {
        matches!(self.at, TimeArgumentKind::Before(_))
    }

    /// Returns the condition on `$it` that its time is on the side `sign` of this bound. A time of day that the log has
    /// several times is the first, or the first after the time of day `since`.
    pub fn condition(&self, sign: &str, times: &LogTimes, since: Option<&Self>) -> anyhow::Result<String> {
        let (dated, clock) = match &self.at {
            TimeArgumentKind::At(bound) => {
                let is_end = sign == "<=";
                let dated = match bound.end().filter(|_| is_end) {
                    Some((end, written)) => dated("<", &end.to_string(), &written),
                    None => dated(sign, &bound.start.to_string(), &bound.written),
                };
                (dated, times.clocks.condition(sign, bound.clock(is_end), None)?)
            }
            TimeArgumentKind::Clock(clock) => {
                let before = since.and_then(|since| match &since.at {
                    TimeArgumentKind::Clock(since) => Some(since.as_str()),
                    _ => None,
                });
                (times.dated_clock(sign, clock), times.clocks.condition(sign, clock, before)?)
            }
            TimeArgumentKind::Before(duration) => {
                let bound = times.dated.as_ref().map(|(_, end)| {
                    let start = DateTime::from_str(end).ok()?.checked_sub_duration(Duration::from(*duration))?;
                    let start = start.to_string();
                    let written = without_zone(&start);
                    let zone = if start.len() == written.len() { "Z" } else { "" };
                    Some(dated(sign, &format!("{start}{zone}"), written))
                });
                let far = || anyhow!("{} before the end of the log is too far", self.text);
                let bound = bound.unwrap_or_else(|| Some("true".to_owned())).ok_or_else(far)?;
                (bound, times.clocks.before_end(sign, *duration).ok_or_else(far)??)
            }
        };
        let fits = match (times.dated.is_some(), times.clocks.logs.is_empty()) {
            (true, true) => dated,
            (false, false) => clock,
            _ => format!("IF(DATATYPE(?filtered) = xsd:time, {clock}, {dated})"),
        };
        let sequence = if fits.contains("?filteredRecord") { " ; rpcg:sequence ?filteredRecord" } else { "" };
        Ok(format!("FILTER EXISTS {{ $it {TIMES} ?filtered{sequence} FILTER({fits}) }}"))
    }

    /// True if no time can be both since this bound and until another: both are dates, or durations before the end.
    pub fn is_after(&self, until: &Self) -> bool {
        match (&self.at, &until.at) {
            (TimeArgumentKind::At(since), TimeArgumentKind::At(until)) if since.has_zone == until.has_zone => {
                until.end().is_some_and(|(end, _)| since.start >= end)
            }
            (TimeArgumentKind::Before(since), TimeArgumentKind::Before(until)) => since < until,
            _ => false,
        }
    }

    /// Describes how times are compared with this bound, `since` or `until`, that lack what it has: a zone, or a date.
    pub fn note(&self, side: &str, times: &LogTimes) -> Option<String> {
        let TimeArgumentKind::At(bound) = &self.at else { return None };
        let clock = bound.clock(side == "until");
        match (times.are_without_zone && bound.has_zone, times.clocks.logs.is_empty()) {
            (true, _) => Some(format!("times without a zone are compared with {} as it is written", self.text)),
            (_, false) => {
                Some(format!("times without a date are compared with {clock}, the time of day of {}", self.text))
            }
            _ => None,
        }
    }
}

/// Returns the expression that compares a date and time with a bound that has a zone, or with the bound as written if the
/// time has none. A comparison without a result is an error, so that the next counts.
fn dated(sign: &str, zoned: &str, written: &str) -> String {
    format!("COALESCE(?filtered {sign} \"{zoned}\"^^xsd:dateTime, ?filtered {sign} \"{written}\"^^xsd:dateTime)")
}

/// Returns the expression that compares the beginning of a text, as long as the bound, with the bound.
fn starts(text: &str, sign: &str, bound: &str) -> String {
    let bound = if bound.contains('.') { bound.trim_end_matches('0') } else { bound };
    format!("SUBSTR({text}, 1, {}) {sign} {}", bound.len(), quoted(bound))
}

/// The time of day in a time, without its date and its zone.
const CLOCK: &str = "REPLACE(STR(?filtered), \"^.*T|(Z|[+-][0-9:]+)$\", \"\")";

/// The times of the loaded messages.
#[derive(Debug, Default)]
pub struct LogTimes {
    /// The first and the last date and time.
    dated: Option<(String, String)>,
    /// True if there are dates without a zone.
    are_without_zone: bool,
    clocks: ClockLogs,
}

/// The records with a time of day, by log.
#[derive(Debug, Default)]
pub struct ClockReadings(BTreeMap<String, Vec<(u64, Decimal)>>);

impl ClockReadings {
    /// Adds the time of the message with an IRI, and the number of its record.
    pub fn add(&mut self, message: &str, record: &str, time: &str) {
        let time = seconds_of_day(time.split(['Z', '+', '-']).next().unwrap_or_default());
        if let (Some((log, _)), Ok(record), Some(time)) = (message.rsplit_once("#m"), record.parse(), time) {
            match self.0.get_mut(log) {
                Some(times) => times.push((record, time)),
                None => _ = self.0.insert(log.to_owned(), vec![(record, time)]),
            }
        }
    }
}

/// The logs whose messages have a time of day, but no date.
#[derive(Debug, Default)]
struct ClockLogs {
    logs: Vec<ClockLog>,
    /// The first and the last time, in seconds from the midnight before the first.
    span: (Decimal, Decimal),
}

/// The days of a log, each with the first record of the day; a day may occur again where its late messages are.
#[derive(Debug)]
struct ClockLog {
    /// The IRI up to the names of messages.
    iri: String,
    days: Vec<(u64, i64)>,
    span: (Decimal, Decimal),
}

impl LogTimes {
    /// The query for the times without a date, and what orders them.
    pub const CLOCKS: &str = "SELECT ?message ?record ?time { ?message rpcg:clockTime ?time ; rpcg:sequence ?record }";

    /// Creates the times of logs from their first and last date and time, and their times of day.
    pub fn new(dated: Option<(String, String)>, are_without_zone: bool, clocks: ClockReadings) -> Self {
        Self { dated, are_without_zone, clocks: ClockLogs::new(clocks.0) }
    }

    /// Returns the expression that compares a date and time with a time of day: the first of the log if that is shorter
    /// than a day, otherwise the time on each day.
    fn dated_clock(&self, sign: &str, clock: &str) -> String {
        let date = self.dated.as_ref().and_then(|(start, end)| {
            let [start, end] = [start, end].map(|time| without_zone(time));
            let [from, to] = [start, end].map(|time| DateTime::from_str(&format!("{time}Z")).ok());
            let length = to?.checked_sub(from?)?.as_seconds();
            let ((date, from), (next, to)) = (start.split_once('T')?, end.split_once('T')?);
            if date == next || length >= Decimal::from(DAY) {
                return None;
            }
            let span = (seconds_of_day(from)?, seconds_of_day(to)?.checked_add(DAY)?);
            Some(if day_of(span, seconds_of_day(clock)?, 0) == 0 { date } else { next })
        });
        match date {
            Some(date) => starts("STR(?filtered)", sign, &format!("{date}T{clock}")),
            None => starts(CLOCK, sign, clock),
        }
    }

    /// Describes a bound that no message is within; `side` is `since` or `until`.
    pub fn beyond(&self, bound: &TimeArgument, side: &str) -> String {
        let clock = |logs: &ClockLogs, time: Decimal| {
            let (_, seconds) = (!logs.logs.is_empty()).then(|| split(time))??;
            Some(format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60))
        };
        let (start, end) = self.dated.clone().unzip();
        let (start, end) = (
            start.or_else(|| clock(&self.clocks, self.clocks.span.0)),
            end.or_else(|| clock(&self.clocks, self.clocks.span.1)),
        );
        let nearest = match side {
            "until" => start.map(|start| format!("the first is of {start}")),
            _ => end.map(|end| format!("the last is of {end}")),
        };
        format!(
            "no message has a time {side} {}{}",
            bound.text,
            nearest.map(|near| format!("; {near}")).unwrap_or_default()
        )
    }
}

/// Divides seconds into the day and the seconds of the day.
fn split(seconds: Decimal) -> Option<(i64, i64)> {
    let seconds: i64 = seconds.checked_floor()?.to_string().parse().ok()?;
    Some((seconds.div_euclid(DAY), seconds.rem_euclid(DAY)))
}

/// Returns the day, from `first` on, on which a time of day is within a span or nearest to it.
fn day_of((start, end): (Decimal, Decimal), time: Decimal, first: i64) -> i64 {
    let last = split(end).map_or(0, |(day, _)| day).max(first);
    let zero = Decimal::from(0);
    let distance = |day: &i64| {
        let at = Decimal::from(*day * DAY).checked_add(time)?;
        let outside = [start.checked_sub(at)?, at.checked_sub(end)?];
        outside.into_iter().filter(|outside| *outside > zero).max().or(Some(zero))
    };
    (first..=last).min_by_key(|day| (distance(day).is_none(), distance(day))).unwrap_or(first)
}

impl ClockLogs {
    /// Divides logs into days. The times of all logs are of one span: another log begins on the day of the longest log
    /// on which its first time is within that log or nearest to it.
    fn new(logs: BTreeMap<String, Vec<(u64, Decimal)>>) -> Self {
        let mut logs: Vec<_> = logs.into_iter().map(|(iri, times)| ClockLog::new(iri, times)).collect();
        logs.sort_by_key(|log| std::cmp::Reverse(log.span.1));
        let Some(longest) = logs.first().map(|log| log.span) else { return Self::default() };
        for log in &mut logs {
            log.shift(day_of(longest, log.span.0, 0));
        }
        let spans = logs.iter().map(|log| log.span);
        let span = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))).unwrap_or(longest);
        Self { logs, span }
    }

    /// Returns the expression that compares a time of day with a bound, on the first day that has it, or the first after
    /// `since`.
    fn condition(&self, sign: &str, clock: &str, since: Option<&str>) -> anyhow::Result<String> {
        let day = |clock: &str, first| seconds_of_day(clock).map_or(0, |time| day_of(self.span, time, first));
        let after = since.map_or(0, |since| day(since, 0) + i64::from(clock < since));
        self.on_day(sign, clock, day(clock, after))
    }

    /// Returns the expression that compares a time of day with a time before the end of the logs; `None` if that is out of
    /// range.
    fn before_end(&self, sign: &str, duration: DayTimeDuration) -> Option<anyhow::Result<String>> {
        if self.logs.is_empty() {
            return Some(Ok("true".to_owned()));
        }
        let start = self.span.1.checked_sub(duration.as_seconds())?;
        let (day, seconds) = split(start)?;
        let fraction = start.checked_sub(start.checked_floor()?)?.to_string();
        let fraction = fraction.strip_prefix('0').unwrap_or_default();
        let clock = format!("{:02}:{:02}:{:02}{fraction}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        Some(self.on_day(sign, &clock, day))
    }

    fn on_day(&self, sign: &str, clock: &str, day: i64) -> anyhow::Result<String> {
        let is_within = starts(CLOCK, sign, clock);
        if self.logs.iter().all(|log| log.days.iter().all(|(_, of)| *of == day)) {
            return Ok(is_within);
        }
        let mut spans = Vec::new();
        for ClockLog { iri, days, .. } in &self.logs {
            let mut rest = days.as_slice();
            while let [(from, of), after @ ..] = rest {
                // Consecutive days with the same outcome are one span.
                let outcome = of.cmp(&day);
                let length = after.iter().take_while(|(_, of)| of.cmp(&day) == outcome).count();
                rest = after.get(length..).unwrap_or_default();
                let bound = match (outcome, sign) {
                    (std::cmp::Ordering::Equal, _) => format!(" && {is_within}"),
                    (std::cmp::Ordering::Greater, ">=") | (std::cmp::Ordering::Less, "<=") => String::new(),
                    _ => continue,
                };
                let end = rest.first().map(|(end, _)| format!(" && ?filteredRecord < {end}")).unwrap_or_default();
                let log = quoted(&format!("{iri}#m"));
                spans.push(format!("(STRSTARTS(STR($it), {log}) && ?filteredRecord >= {from}{end}{bound})"));
            }
        }
        if spans.len() > MAX_SPANS {
            bail!("the times of day pass midnight more than {MAX_SPANS} times: --since, --until and --last need dates");
        }
        Ok(if spans.is_empty() { "false".to_owned() } else { format!("({})", spans.join(" || ")) })
    }
}

impl ClockLog {
    fn new(iri: String, mut times: Vec<(u64, Decimal)>) -> Self {
        times.sort_by_key(|(record, _)| *record);
        let mut days: Vec<(u64, i64)> = Vec::new();
        let (mut span, mut before, mut day) = (None, None, 0);
        for (record, time) in times {
            let ahead = before.and_then(|before| time.checked_sub(before)).unwrap_or_default();
            match ahead {
                _ if ahead < Decimal::from(-DAY / 2) => day += 1,
                _ if ahead > Decimal::from(LATE) && day > 0 => day -= 1,
                _ => {}
            }
            before = Some(time);
            if days.last().is_none_or(|(_, last)| *last != day) {
                days.push((record, day));
            }
            let Some(at) = Decimal::from(day * DAY).checked_add(time) else { continue };
            let (start, end) = span.unwrap_or((at, at));
            span = Some((at.min(start), at.max(end)));
        }
        Self { iri, days, span: span.unwrap_or_default() }
    }

    fn shift(&mut self, by: i64) {
        self.days.iter_mut().for_each(|(_, day)| *day += by);
        let later = |time: Decimal| time.checked_add(by * DAY).unwrap_or(time);
        self.span = (later(self.span.0), later(self.span.1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_do_not_exist_are_refused() {
        for text in
            ["25:00:00", "99:99", "10:61", "10:00:60", "24:00:00", "10:0", "10:00:00:00", "10:00Z", "2026-13-45", ""]
        {
            assert!(parse_moment(text).is_err(), "{text}");
        }
        for text in
            ["00:00", "23:59:59.999", "10:00:00", "2026-01-05", "2026-01-05 10:00", "2026-01-05T10:00:00+01:00", "1.5h"]
        {
            assert!(parse_moment(text).is_ok(), "{text}");
        }
    }

    fn clocks(logs: &[&[&str]]) -> ClockLogs {
        let log = |times: &&[&str]| {
            (1..).zip(times.iter()).map(|(record, time)| (record, seconds_of_day(time).unwrap())).collect()
        };
        let names = ["a", "b", "c"].map(str::to_owned);
        ClockLogs::new(names.into_iter().zip(logs.iter().map(log)).collect())
    }

    fn days(logs: &[&[&str]]) -> Vec<Vec<(u64, i64)>> {
        let mut logs = clocks(logs).logs;
        logs.sort_by(|one, other| one.iri.cmp(&other.iri));
        logs.into_iter().map(|log| log.days).collect()
    }

    #[test]
    fn midnight_begins_a_day() {
        assert_eq!(days(&[&["23:55", "23:58", "00:02", "00:04"]]), [[(1, 0), (3, 1)]]);
        assert_eq!(days(&[&["23:00", "12:30", "12:20"]]), [[(1, 0)]]);
        assert_eq!(days(&[&["23:55", "00:02", "23:59", "00:03"]]), [[(1, 0), (2, 1), (3, 0), (4, 1)]]);
        assert_eq!(days(&[&["23:55", "08:00", "21:30", "09:00"]]), [[(1, 0), (2, 1), (4, 2)]]);
        // Another log lies where its beginning is nearest to the longest.
        assert_eq!(
            days(&[&["23:55", "00:04"], &["00:01"], &["23:50"]]),
            [vec![(1, 0), (2, 1)], vec![(1, 1)], vec![(1, 0)]]
        );
    }

    #[test]
    fn a_time_of_day_is_the_first_that_the_log_has() {
        let logs = clocks(&[&["23:55", "00:04", "23:55", "00:04"]]);
        for (clock, since, day) in [
            ("23:57", None, 0),
            ("23:50", None, 0),
            ("00:02", None, 1),
            ("00:10", None, 1),
            ("23:57", Some("00:01"), 1),
            ("00:01", Some("23:57"), 1),
            ("00:02", Some("00:01"), 1),
        ] {
            assert_eq!(
                logs.condition(">=", clock, since).unwrap(),
                logs.on_day(">=", clock, day).unwrap(),
                "{clock} after {since:?}"
            );
        }
    }
}
