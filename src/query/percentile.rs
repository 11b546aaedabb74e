//! Percentiles as aggregates: SPARQL has none.

use oxigraph::sparql::AggregateFunctionAccumulator;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term};
use oxsdatatypes::{Decimal, Double};

/// The smallest of the numbers such that so many percent of them are not greater: the nearest rank, so that the result
/// is one of them and exact. Anything that is no number makes the result unbound, as it does for `AVG`.
pub(super) struct Percentile {
    percent: usize,
    numbers: Vec<(Number, Term)>,
    failed: bool,
}

/// A number to compare by.
#[derive(Clone, Copy)]
enum Number {
    Decimal(Decimal),
    Double(f64),
}

impl Number {
    fn of(literal: &Literal) -> Option<Self> {
        let datatype = literal.datatype();
        if datatype == xsd::DECIMAL || datatype == xsd::INTEGER {
            return literal.value().parse().ok().map(Self::Decimal);
        }
        let double = datatype == xsd::DOUBLE || datatype == xsd::FLOAT;
        let number: f64 = literal.value().parse::<Double>().ok().filter(|_| double)?.into();
        (!number.is_nan()).then_some(Self::Double(number))
    }

    fn to_double(self) -> f64 {
        match self {
            Self::Decimal(decimal) => Double::from(decimal).into(),
            Self::Double(double) => double,
        }
    }
}

impl Percentile {
    pub fn new(percent: usize) -> Self {
        Self { percent, numbers: Vec::new(), failed: false }
    }
}

impl AggregateFunctionAccumulator for Percentile {
    fn accumulate(&mut self, element: Term) {
        let number = match &element {
            Term::Literal(literal) => Number::of(literal),
            _ => None,
        };
        match number {
            Some(number) => self.numbers.push((number, element)),
            None => self.failed = true,
        }
    }

    fn finish(&mut self) -> Option<Term> {
        if self.failed || self.numbers.is_empty() {
            return None;
        }
        let rank = (self.numbers.len() * self.percent).div_ceil(100).max(1);
        // Decimals among themselves are compared exactly. Beside a double they are doubles, all of them: a mixture of
        // both comparisons would be no order.
        let exact = self.numbers.iter().all(|(number, _)| matches!(number, Number::Decimal(_)));
        let (_, (_, term), _) = self.numbers.select_nth_unstable_by(rank - 1, |(a, _), (b, _)| match (a, b) {
            (Number::Decimal(a), Number::Decimal(b)) if exact => a.cmp(b),
            (a, b) => a.to_double().total_cmp(&b.to_double()),
        });
        Some(term.clone())
    }
}

#[cfg(test)]
mod tests {
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
    fn of_nothing_and_of_no_numbers_there_is_none() {
        assert_eq!(percentile(50, &[]), None);
        assert_eq!(percentile(50, &["1", "x"]), None);
    }
}
