//! `--fail-if`: rows, none, or a condition on the columns of each row, such as `p95 > 200ms`.

use std::cell::RefCell;

use crate::query::{QuerySolution, Solutions, TableColumns, duration, trimmed};
use crate::summary::counted;
use anyhow::bail;

use super::column_names::column_named;
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

/// The quantity that the numbers of a column measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Seconds,
    Bytes,
    /// A share of 1.
    Share,
    /// A count, or another number without a unit.
    Number,
}

/// Units, their factors, and the columns that they fit.
const UNITS: [(&str, f64, Quantity); 9] = [
    ("us", 1e-6, Quantity::Seconds),
    ("ms", 1e-3, Quantity::Seconds),
    ("min", 60.0, Quantity::Seconds),
    ("kB", 1e3, Quantity::Bytes),
    ("MB", 1e6, Quantity::Bytes),
    ("s", 1.0, Quantity::Seconds),
    ("h", 3_600.0, Quantity::Seconds),
    ("B", 1.0, Quantity::Bytes),
    ("%", 0.01, Quantity::Share),
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
    /// The condition as typed.
    text: String,
    column: String,
    compare: Comparison,
    bound: f64,
    /// The quantity of the unit, if one was typed.
    unit: Option<Quantity>,
}

/// The rows that meet a condition.
#[derive(Debug, Default)]
pub struct RowsMet {
    pub count: u64,
    /// The first of them: its first column, and its value.
    first: Option<String>,
}

impl RowsMet {
    /// Describes the rows behind the number of all rows; empty if there are none.
    pub fn described(&self, condition: &RowCondition) -> String {
        let more = self.count.saturating_sub(1);
        let more = if more > 0 { format!(" and {}", counted(more, "more row")) } else { String::new() };
        let first = self.first.as_ref().map(|first| format!("; {:?} is met by {first}{more}", condition.text));
        first.unwrap_or_default()
    }
}

impl Quantity {
    /// Returns the quantity of a column of an answer.
    fn of(column: &str, columns: &TableColumns) -> Self {
        let is_of = |names: &[String]| names.iter().any(|name| name == column);
        match column {
            "share" => Self::Share,
            _ if is_of(&columns.seconds) => Self::Seconds,
            _ if is_of(&columns.bytes) => Self::Bytes,
            _ => Self::Number,
        }
    }

    /// States what to write after a column of this quantity.
    fn advice(self) -> &'static str {
        match self {
            Self::Seconds => "is in seconds: write a number with us, ms, s, min or h, such as 200ms",
            Self::Bytes => "is in bytes: write a number with B, kB or MB, such as 10kB",
            Self::Share => "is a share: write a number with %, such as 1%",
            Self::Number => "has no unit: write only a number",
        }
    }

    fn format(self, value: f64) -> String {
        match self {
            Self::Seconds => duration(value),
            Self::Bytes => format!("{value} B"),
            Self::Share => format!("{} %", trimmed(value * 100.0)),
            Self::Number => value.to_string(),
        }
    }
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
        let unit = UNITS.iter().find_map(|(unit, factor, of)| Some((bound.strip_suffix(unit)?, *factor, Some(*of))));
        let (number, factor, unit) = unit.unwrap_or((bound, 1.0, None));
        let bound = number.trim().parse::<f64>().ok().filter(|bound| bound.is_finite() && !column.is_empty());
        let bound = bound.ok_or_else(expected)? * factor;
        let (text, column) = (text.trim().to_owned(), column.to_owned());
        Ok(Self::Condition(RowCondition { text, column, compare, bound, unit }))
    }
}

impl RowCondition {
    /// Passes rows on, and collects in `met` those that meet the condition. Its unit must fit the column, if the units of all
    /// `columns` are known.
    pub fn watch<'a>(
        &'a self,
        solutions: Solutions<'a>,
        columns: Option<&TableColumns>,
        met: &'a RefCell<RowsMet>,
    ) -> anyhow::Result<Solutions<'a>> {
        let Solutions { variables, rows } = solutions;
        let known: Vec<_> = variables.iter().map(|variable| variable.as_str()).collect();
        let column = column_named(&self.column, &known).unwrap_or(&self.column).to_owned();
        let has = |name: &str| known.contains(&name);
        let of_share = SHARE.1.into_iter().find(|whole| has(whole) && has(SHARE.0));
        let whole = of_share.filter(|_| column == "share" && !has("share"));
        if !has(&column) && whole.is_none() {
            bail!("--fail-if: unknown column {:?}; use one of {}", self.column, known.join(", "));
        }
        let quantity = columns.map_or(self.unit, |columns| Some(Quantity::of(&column, columns)));
        let quantity = quantity.unwrap_or(Quantity::Number);
        if self.unit.is_some_and(|unit| unit != quantity) {
            let share = match (self.unit, of_share) {
                (Some(Quantity::Share), Some(_)) if quantity == Quantity::Number => {
                    ", or compare `share`, the failures of all calls"
                }
                _ => "",
            };
            bail!("--fail-if {:?}: {column} {}{share}", self.text, quantity.advice());
        }
        let key = variables.first().cloned();
        let rows = rows.inspect(move |row| {
            let number =
                |row: &QuerySolution, name: &str| row.get(name).and_then(|value| text_of(value).parse::<f64>().ok());
            let value = row.as_ref().ok().and_then(|row| match whole {
                Some(whole) => Some(number(row, SHARE.0)? / number(row, whole)?).filter(|share| share.is_finite()),
                None => number(row, &column),
            });
            let Some(value) = value.filter(|value| (self.compare)(*value, self.bound)) else { return };
            let mut met = met.borrow_mut();
            met.count += 1;
            if met.first.is_none() {
                let name = key.as_ref().and_then(|key| {
                    let name = text_of(row.as_ref().ok()?.get(key)?);
                    // A message has a short name behind the IRI of its log.
                    let name = name.rsplit_once('#').map_or(name, |(_, name)| name);
                    Some(format!("{} {name}: ", key.as_str()))
                });
                met.first = Some(format!("{}{column} {}", name.unwrap_or_default(), quantity.format(value)));
            }
        });
        Ok(Solutions { variables, rows: Box::new(rows) })
    }
}
