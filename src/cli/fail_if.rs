//! `--fail-if`: rows, none, or a condition on the columns of each row, such as `p95 > 200ms`.

use std::cell::Cell;

use crate::query::{QuerySolution, Solutions};
use anyhow::bail;

use super::filter::text_of;

/// Compares the value of a column with a bound.
type Comparison = fn(f64, f64) -> bool;

/// The comparisons, the longer names first.
const COMPARISONS: [(&str, Comparison); 6] = [
    (">=", |a, b| a >= b),
    ("<=", |a, b| a <= b),
    ("!=", |a, b| a != b),
    (">", |a, b| a > b),
    ("<", |a, b| a < b),
    ("=", |a, b| a == b),
];

/// Units, in the units of columns: seconds, bytes and shares of 1.
const UNITS: [(&str, f64); 9] = [
    ("us", 1e-6),
    ("ms", 1e-3),
    ("min", 60.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("s", 1.0),
    ("h", 3_600.0),
    ("B", 1.0),
    ("%", 0.01),
];

/// The columns whose quotient is `share`, where the answer has no such column: failures of all calls.
const SHARE: (&str, [&str; 2]) = ("failures", ["count", "requests"]);

#[derive(Debug, Clone)]
pub enum FailIf {
    Rows,
    None,
    Condition(RowCondition),
}

/// A comparison of a column with a number.
#[derive(Debug, Clone)]
pub struct RowCondition {
    column: String,
    compare: Comparison,
    bound: f64,
}

impl FailIf {
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "rows" => return Ok(Self::Rows),
            "none" => return Ok(Self::None),
            _ => {}
        }
        let expected = || "expected rows, none, or a condition such as 'p95 > 200ms', 'failures > 0' or 'share > 1%'";
        let found = COMPARISONS.iter().find_map(|(sign, compare)| Some((text.split_once(sign)?, *compare)));
        let ((column, bound), compare) = found.ok_or_else(expected)?;
        let (column, bound) = (column.trim(), bound.trim());
        let unit = UNITS.iter().find_map(|(unit, factor)| Some((bound.strip_suffix(unit)?, *factor)));
        let (number, factor) = unit.unwrap_or((bound, 1.0));
        let bound = number.trim().parse::<f64>().ok().filter(|bound| bound.is_finite() && !column.is_empty());
        let bound = bound.ok_or_else(expected)? * factor;
        Ok(Self::Condition(RowCondition { column: column.to_owned(), compare, bound }))
    }
}

impl RowCondition {
    /// Passes rows on, and counts in `met` those that meet the condition.
    pub fn watch<'a>(&'a self, solutions: Solutions<'a>, met: &'a Cell<u64>) -> anyhow::Result<Solutions<'a>> {
        let Solutions { variables, rows } = solutions;
        let has = |name: &str| variables.iter().any(|variable| variable.as_str() == name);
        let whole = SHARE.1.into_iter().find(|whole| has(whole) && has(SHARE.0));
        let whole = whole.filter(|_| self.column == "share" && !has("share"));
        if !has(&self.column) && whole.is_none() {
            let known: Vec<_> = variables.iter().map(|variable| variable.as_str()).collect();
            bail!("--fail-if: unknown column {:?}; use one of {}", self.column, known.join(", "));
        }
        let rows = rows.inspect(move |row| {
            let number =
                |row: &QuerySolution, name: &str| row.get(name).and_then(|value| text_of(value).parse::<f64>().ok());
            let value = row.as_ref().ok().and_then(|row| match whole {
                Some(whole) => Some(number(row, SHARE.0)? / number(row, whole)?).filter(|share| share.is_finite()),
                None => number(row, &self.column),
            });
            if value.is_some_and(|value| (self.compare)(value, self.bound)) {
                met.set(met.get() + 1);
            }
        });
        Ok(Solutions { variables, rows: Box::new(rows) })
    }
}
