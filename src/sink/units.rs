//! Times and durations as whole numbers.

use oxsdatatypes::{DateTime, Decimal};

use crate::record::unix_epoch;

/// Returns a time with a zone as units since 1970, each 10^-`places` seconds.
pub(crate) fn since_1970(time: DateTime, places: u32) -> Option<i128> {
    time.timezone_offset()?;
    Some(scaled(time.checked_sub(unix_epoch()?)?.as_seconds(), places))
}

/// Returns a decimal in units of 10^-`places`; smaller parts are cut off.
pub(crate) fn scaled(number: Decimal, places: u32) -> i128 {
    // Oxigraph's decimals have 18 decimal places.
    i128::from_be_bytes(number.to_be_bytes()).div_euclid(10_i128.pow(18 - places))
}
