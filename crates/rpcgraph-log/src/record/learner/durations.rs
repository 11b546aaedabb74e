//! Finds the units of durations beside messages: their names or their texts state them, or the times of the exchanges do.

use super::super::rules::DurationUnit::{self, Microseconds, Milliseconds, Nanoseconds, Seconds, Stated};
use super::super::rules::duration_unit;
use super::super::times;
use super::super::units::scaled;
use super::{LearnedFormat, last_token};

/// The units, as they are printed behind a pointer.
const UNITS: [(DurationUnit, &str); 4] =
    [(Seconds, ":s"), (Milliseconds, ":ms"), (Microseconds, ":us"), (Nanoseconds, ":ns")];

/// The precision of times with and without fractions, in nanoseconds.
const FRACTION: i128 = 2_000_000;
const SECOND: i128 = 1_000_000_000;

impl LearnedFormat<'_> {
    /// Returns the unit to print behind the pointer to a duration beside some messages; empty if the name or the text of the
    /// member states it. `Some(None)` if the unit is unknown, or if the times of the exchanges contradict it. `None` if the member
    /// is not a duration.
    pub(super) fn unit(&self, found: &[usize], pointer: &str) -> Option<Option<&'static str>> {
        let members = |number: usize| self.candidates[number].members.iter();
        let name = last_token(pointer);
        match name {
            // HTTP Archives count in milliseconds, and the Elastic Common Schema in nanoseconds.
            "time" => {
                let mut all = found.iter().flat_map(|number| members(*number));
                return all.any(|(other, _)| last_token(other) == "startedDateTime").then_some(Some(":ms"));
            }
            "event.duration" => return Some(Some(":ns")),
            "duration" if pointer.ends_with("/event/duration") => return Some(Some(":ns")),
            _ => {}
        }
        let known = duration_unit(name)?;
        let value =
            |number: usize| members(number).find(|(other, _)| other == pointer).map(|(_, text)| (number, &**text));
        let values: Vec<(usize, &str)> = found.iter().filter_map(|number| value(*number)).collect();
        let has_fractions = self.waits.values().any(|wait| wait % SECOND != 0);
        let precision = if has_fractions { FRACTION } else { SECOND };
        let mut waits = Vec::new();
        for (number, text) in &values {
            // A log that writes a request when its answer comes gives both the same time.
            let wait = self.waits.get(number).filter(|wait| **wait > precision);
            waits.extend(wait.map(|wait| (*wait, *text)));
        }
        let fit = |unit: DurationUnit, fits: &dyn Fn(i128, i128) -> bool| {
            let stated = |text| unit.seconds(text).map(|seconds| scaled(seconds, 9));
            let fitting = waits.iter().filter(|(wait, text)| stated(text).is_some_and(|stated| fits(stated, *wait)));
            waits.len() > 1 && 2 * fitting.count() > waits.len()
        };
        let is_text = |(_, text): &(usize, &str)| times::with_units(text).is_some();
        // nginx writes seconds with a fraction.
        let is_whole = |(_, text): &(usize, &str)| name.ends_with("_time") && text.parse::<u64>().is_ok();
        match known {
            Stated if values.iter().any(is_text) => Some(Some("")),
            Stated => {
                let agrees = |unit| {
                    fit(unit, &|stated, wait| stated <= wait + wait / 8 + precision && wait <= 2 * stated + precision)
                };
                let mut units = UNITS.iter().filter(|(unit, _)| agrees(*unit));
                let unit = units.next().filter(|_| units.next().is_none());
                Some(unit.map(|(_, unit)| *unit))
            }
            Seconds if values.iter().any(is_whole) => Some(None),
            unit if fit(unit, &|stated, wait| stated > 2 * wait + precision) => Some(None),
            unit => values.iter().any(|(_, text)| unit.fits(text)).then_some(Some("")),
        }
    }
}
