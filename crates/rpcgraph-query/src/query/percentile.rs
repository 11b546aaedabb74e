//! Percentiles as aggregates, which SPARQL does not have.

use oxigraph::sparql::AggregateFunctionAccumulator;
use oxrdf::Term;
use oxrdf::vocab::xsd;
use oxsdatatypes::{Decimal, Double};

/// The smallest number such that this percentage of the numbers are not greater: the nearest rank, so that the result
/// is one of the numbers, and exact. Any term that is not a number makes the result unbound, as for `AVG`.
pub(super) struct Percentile {
    percent: usize,
    numbers: Vec<Ranked>,
    failed: bool,
}

/// A number, and the values to compare it by.
struct Ranked {
    term: Term,
    double: f64,
    decimal: Option<Decimal>,
}

impl Ranked {
    fn of(term: Term) -> Option<Self> {
        let Term::Literal(literal) = &term else { return None };
        let (double, decimal): (f64, _) = match literal.datatype() {
            xsd::DECIMAL | xsd::INTEGER => {
                let decimal: Decimal = literal.value().parse().ok()?;
                (Double::from(decimal).into(), Some(decimal))
            }
            xsd::DOUBLE | xsd::FLOAT => (literal.value().parse::<Double>().ok()?.into(), None),
            _ => return None,
        };
        (!double.is_nan()).then_some(Self { term, double, decimal })
    }
}

impl Percentile {
    pub fn new(percent: usize) -> Self {
        Self { percent, numbers: Vec::new(), failed: false }
    }
}

impl AggregateFunctionAccumulator for Percentile {
    fn accumulate(&mut self, element: Term) {
        match Ranked::of(element) {
            Some(number) => self.numbers.push(number),
            None => self.failed = true,
        }
    }

    fn finish(&mut self) -> Option<Term> {
        if self.failed || self.numbers.is_empty() {
            return None;
        }
        let rank = (self.numbers.len() * self.percent).div_ceil(100).max(1);
        // Decimals are compared exactly with each other. If there is a double, all are compared as doubles: mixing both
        // comparisons would not be an order.
        let exact = self.numbers.iter().all(|number| number.decimal.is_some());
        let (_, found, _) = self.numbers.select_nth_unstable_by(rank - 1, |a, b| match exact {
            true => a.decimal.cmp(&b.decimal),
            false => a.double.total_cmp(&b.double),
        });
        Some(found.term.clone())
    }
}

#[cfg(test)]
mod tests {
    use oxrdf::Literal;

    use super::*;

    fn percentile(percent: usize, numbers: &[&str]) -> Option<String> {
        let mut accumulator = Percentile::new(percent);
        for number in numbers {
            accumulator.accumulate(Literal::new_typed_literal(*number, xsd::DECIMAL).into());
        }
        match accumulator.finish() {
            Some(Term::Literal(literal)) => Some(literal.value().to_owned()),
            _ => None,
        }
    }

    #[test]
    fn the_nearest_rank_is_one_of_the_numbers() {
        assert_eq!(percentile(50, &["0.3", "0.1", "0.2"]).as_deref(), Some("0.2"));
        assert_eq!(percentile(50, &["4", "1", "3", "2"]).as_deref(), Some("2"));
        assert_eq!(percentile(95, &["4", "1", "3", "2"]).as_deref(), Some("4"));
        let hundred: Vec<_> = (1..=100).map(|n| n.to_string()).collect();
        let hundred: Vec<_> = hundred.iter().map(String::as_str).collect();
        assert_eq!(percentile(95, &hundred).as_deref(), Some("95"));
        assert_eq!(percentile(99, &hundred).as_deref(), Some("99"));
    }

    #[test]
    fn percentiles_without_numbers_are_unbound() {
        assert_eq!(percentile(50, &[]), None);
        assert_eq!(percentile(50, &["1", "x"]), None);
    }
}
