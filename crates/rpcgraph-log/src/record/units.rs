//! Dates, times and durations as whole numbers.

use std::sync::LazyLock;

use oxsdatatypes::{DateTime, Decimal};

/// The beginning of 1970, in UTC.
pub fn unix_epoch() -> Option<DateTime> {
    static EPOCH: LazyLock<Option<DateTime>> = LazyLock::new(|| "1970-01-01T00:00:00Z".parse().ok());
    *EPOCH
}

/// The beginning of 1970, without a zone.
pub(super) fn local_epoch() -> Option<DateTime> {
    static EPOCH: LazyLock<Option<DateTime>> = LazyLock::new(|| "1970-01-01T00:00:00".parse().ok());
    *EPOCH
}

/// Returns a time with a zone as units since 1970, each 10^-`places` seconds.
pub fn since_1970(time: DateTime, places: u32) -> Option<i128> {
    time.timezone_offset()?;
    Some(scaled(time.checked_sub(unix_epoch()?)?.as_seconds(), places))
}

/// Returns nanoseconds since 1970, in UTC or in the time's own zone.
pub(crate) fn nanoseconds(time: DateTime) -> Option<i128> {
    since_1970(time, 9).or_else(|| Some(scaled(time.checked_sub(local_epoch()?)?.as_seconds(), 9)))
}

/// Returns a decimal in units of 10^-`places`; smaller parts are cut off.
pub fn scaled(number: Decimal, places: u32) -> i128 {
    // Oxigraph's decimals have 18 decimal places.
    i128::from_be_bytes(number.to_be_bytes()).div_euclid(10_i128.pow(18 - places))
}

/// Returns the days from 1970-01-01 to a day of the Gregorian calendar. A year begins in March here, so that a leap day
/// is at its end.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Returns the day that is `days` after 1970-01-01: year, month, day.
pub fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, of_year - (153 * from_march + 2) / 5 + 1)
}
