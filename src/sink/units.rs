//! Times and durations as whole numbers.

use oxsdatatypes::{DateTime, Decimal};

use crate::record::unix_epoch;

/// A time with a zone, since 1970: in units of that many places after the second.
pub(crate) fn since_1970(time: DateTime, places: u32) -> Option<i128> {
    time.timezone_offset()?;
    Some(scaled(time.checked_sub(unix_epoch()?)?.as_seconds(), places))
}

/// A decimal in units of that many places after the point; what is smaller is cut off.
pub(crate) fn scaled(number: Decimal, places: u32) -> i128 {
    // Oxigraph's decimals count by 18 places.
    i128::from_be_bytes(number.to_be_bytes()).div_euclid(10_i128.pow(18 - places))
}
