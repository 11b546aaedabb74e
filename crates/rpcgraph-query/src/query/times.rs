//! Sorting rows by time, and times in seconds since the first.

use std::str::FromStr as _;
use std::sync::LazyLock;

use oxigraph::sparql::QuerySolution;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term};
use oxsdatatypes::{DateTime, DayTimeDuration, Decimal, TimezoneOffset};

use super::answer::{QueryError, Solutions, computed};

/// A time, and true if it has a date; a time without a date is on 1970-01-01.
pub(super) type Moment = (bool, Decimal);

pub(super) fn moment(literal: &Literal) -> Option<Moment> {
    let has_date = literal.datatype() == xsd::DATE_TIME;
    if !has_date && literal.datatype() != xsd::TIME {
        return None;
    }
    let time = match has_date {
        true => DateTime::from_str(literal.value()),
        false => DateTime::from_str(&format!("1970-01-01T{}", literal.value())),
    };
    let mut time = time.ok()?;
    if time.timezone_offset().is_none() {
        // A time without a zone is compared as if it were in UTC.
        time = time.adjust(Some(TimezoneOffset::UTC))?;
    }
    Some((has_date, time.checked_sub(EPOCH[1]?)?.as_seconds()))
}

/// Returns the time that is some microseconds after the beginning of 1970, in UTC or without a zone.
pub(super) fn date_time(micros: i64, has_zone: bool) -> Option<DateTime> {
    let seconds = DayTimeDuration::new(Decimal::new(micros.into(), 6).ok()?);
    EPOCH[usize::from(has_zone)]?.checked_add_day_time_duration(seconds)
}

/// The beginning of 1970, without a zone and in UTC.
static EPOCH: LazyLock<[Option<DateTime>; 2]> =
    LazyLock::new(|| ["", "Z"].map(|zone| DateTime::from_str(&format!("1970-01-01T00:00:00{zone}")).ok()));

fn moment_of(value: Option<&Term>) -> Option<Moment> {
    if let Term::Literal(literal) = value? { moment(literal) } else { None }
}

/// Merges the rows of consecutive sessions by the column `time`: rows of a session stay in their order, and a row
/// without a time stays with the row before it. All rows are in memory.
///
/// # Errors
///
/// Errors in the rows.
pub fn by_time(solutions: Solutions<'_>) -> Result<Solutions<'_>, QueryError> {
    let rows: Vec<QuerySolution> = solutions.rows.collect::<Result<_, _>>()?;
    let is_of_one = |one: &QuerySolution, other: &QuerySolution| one.get("session") == other.get("session");
    let mut moments: Vec<Option<Moment>> = rows.iter().map(|row| moment_of(row.get("time"))).collect();
    for place in 1..rows.len() {
        if is_of_one(&rows[place - 1], &rows[place]) {
            moments[place] = moments[place].max(moments[place - 1]);
        }
    }
    for place in (1..rows.len()).rev() {
        if moments[place - 1].is_none() && is_of_one(&rows[place - 1], &rows[place]) {
            moments[place - 1] = moments[place];
        }
    }
    let mut timed: Vec<_> = moments.into_iter().zip(rows).collect();
    timed.sort_by_key(|(moment, _)| *moment);
    Ok(Solutions { variables: solutions.variables, rows: Box::new(timed.into_iter().map(|(_, row)| Ok(row))) })
}

/// Replaces times with the seconds since `start`, or since the first time in the rows.
pub fn relative<'a>(solutions: Solutions<'a>, start: Option<&Term>) -> Solutions<'a> {
    let mut start = moment_of(start);
    let variables = solutions.variables.clone();
    computed(solutions, variables, move |row| {
        let values = row.iter().map(|value| {
            let found = moment_of(value.as_ref());
            let since = found.and_then(|(has_date, seconds)| {
                let (dated, first) = *start.get_or_insert((has_date, seconds));
                let since = seconds.checked_sub(first).filter(|_| dated == has_date)?;
                // Times without a date pass midnight where they go back by more than half a day.
                if !has_date && since < Decimal::from(-43_200) { since.checked_add(86_400) } else { Some(since) }
            });
            since.map_or_else(
                || value.clone(),
                |since| Some(Literal::new_typed_literal(since.to_string(), xsd::DECIMAL).into()),
            )
        });
        values.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_from_microseconds_is_the_time_in_its_text() {
        for (micros, has_zone, text) in [
            (1_772_442_000_024_000, true, "2026-03-02T09:00:00.024Z"),
            (1_772_442_000_000_001, false, "2026-03-02T09:00:00.000001"),
            (-500_000, true, "1969-12-31T23:59:59.5Z"),
        ] {
            let time = date_time(micros, has_zone).unwrap();
            assert_eq!((time, time.to_string()), (DateTime::from_str(text).unwrap(), text.to_owned()));
        }
    }
}
