//! Times of messages, as clocks show them.

use chrono::DateTime;

use crate::record::units::since_1970;

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
    let has_date = text.contains('T');
    let dated = if has_date { text.to_owned() } else { format!("1970-01-01T{text}") };
    let time: oxsdatatypes::DateTime = dated.parse().ok()?;
    let (time, zone, seconds) = match time.timezone_offset() {
        None => (format!("{dated}Z").parse().ok()?, Zone::Unknown, 0),
        Some(_) if text.ends_with('Z') => (time, Zone::Utc, 0),
        Some(offset) => {
            let seconds = 60 * i32::from(i16::from_be_bytes(offset.to_be_bytes()));
            (time, Zone::Offset(seconds), seconds)
        }
    };
    let shown = since_1970(time, 6)? as f64 / 1e6 + f64::from(seconds);
    Some((shown, if has_date { zone } else { Zone::OfDay }))
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
