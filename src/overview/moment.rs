//! Times of messages, as clocks show them.

use chrono::{DateTime, NaiveDate};

/// The zone that times are shown in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    Utc,
    /// Seconds east of UTC.
    Offset(i32),
    /// The log does not state a zone.
    Unknown,
    /// The log has times of day only.
    OfDay,
}

impl Zone {
    /// The words behind a time.
    pub fn name(self) -> String {
        match self {
            Self::Utc => " UTC".to_owned(),
            Self::Offset(seconds) => {
                let minutes = seconds.abs() / 60;
                let sign = if seconds < 0 { '-' } else { '+' };
                format!(" {sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
            Self::Unknown => ", no zone".to_owned(),
            Self::OfDay => ", no date".to_owned(),
        }
    }
}

/// Reads an xsd:dateTime or an xsd:time: the seconds that its clock shows since 1970, or since midnight, and its zone.
pub fn parse(text: &str) -> Option<(f64, Zone)> {
    let (day, clock) = match text.split_once('T') {
        Some((date, clock)) => {
            let (year, rest) = date.get(1..)?.split_once('-')?;
            let (year, (month, day)) = (format!("{}{year}", &date[..1]), rest.split_once('-')?);
            let date = NaiveDate::from_ymd_opt(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)?;
            (Some((date - NaiveDate::default()).num_days()), clock)
        }
        None => (None, text),
    };
    let number = |range: std::ops::Range<usize>| clock.get(range)?.parse::<u32>().ok();
    let (hours, minutes) = (number(0..2)?, number(3..5)?);
    let rest = clock.get(6..)?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (seconds, zone) = rest.split_at_checked(end)?;
    let seconds = f64::from(hours * 3600 + minutes * 60) + seconds.parse::<f64>().ok()?;
    let Some(day) = day else { return Some((seconds, Zone::OfDay)) };
    let zone = match zone {
        "" => Zone::Unknown,
        "Z" => Zone::Utc,
        zone => {
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            let offset = hours.parse::<i32>().ok()? * 3600 + minutes.parse::<i32>().ok()? * 60;
            Zone::Offset(if zone.starts_with('-') { -offset } else { offset })
        }
    };
    Some((day as f64 * 86_400.0 + seconds, zone))
}

/// Formats a time as hours and minutes, with seconds if wanted.
pub fn clock(time: f64, with_seconds: bool) -> String {
    format(time, if with_seconds { "%H:%M:%S" } else { "%H:%M" })
}

/// Formats the date of a time.
pub fn date(time: f64) -> String {
    format(time, "%Y-%m-%d")
}

fn format(time: f64, pattern: &str) -> String {
    DateTime::from_timestamp(time.floor() as i64, 0).map(|time| time.format(pattern).to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Zone, clock, date, parse};

    #[test]
    fn times_are_shown_as_written() {
        let (time, zone) = parse("2026-03-02T14:08:07.25Z").unwrap();
        assert_eq!((clock(time, true).as_str(), date(time).as_str(), zone), ("14:08:07", "2026-03-02", Zone::Utc));
        let (time, zone) = parse("2026-03-02T14:08:07+02:00").unwrap();
        assert_eq!((clock(time, false).as_str(), zone.name().as_str()), ("14:08", " +02:00"));
        assert_eq!(parse("2026-03-02T14:08:07").unwrap().1, Zone::Unknown);
        assert_eq!(parse("14:08:07.5"), Some((50_887.5, Zone::OfDay)));
        assert_eq!(parse("soon"), None);
    }
}
