//! Percentiles as aggregates, which SPARQL does not have.

use std::mem;

use oxigraph::sparql::AggregateFunctionAccumulator;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNodeRef, Term, Variable};
use oxsdatatypes::{Decimal, Double};
use spargebra::Query;
use spargebra::algebra::{AggregateExpression, AggregateFunction, Expression, GraphPattern};

use super::algebra::{for_each_mut, pattern_mut};

/// The value of an unbound argument of an aggregate, which is skipped as `COUNT` skips it.
pub(super) const UNBOUND: NamedNodeRef<'static> = NamedNodeRef::new_unchecked("unbound argument");

/// Makes the functions of ours that aggregate, and `COUNT`, skip unbound arguments and errors. Oxigraph would make their
/// results unbound.
pub(super) fn skip_unbound(query: &mut Query) {
    let mut counted = 0;
    for_each_mut(pattern_mut(query), &mut |pattern| {
        let GraphPattern::Group { inner, aggregates, .. } = pattern else { return };
        for (_, aggregate) in aggregates {
            let AggregateExpression::FunctionCall { name, expr, .. } = aggregate else { continue };
            match (name, &*expr) {
                (AggregateFunction::Custom(_), _) => {
                    let argument = mem::replace(expr, UNBOUND.into_owned().into());
                    *expr = Expression::Coalesce(vec![argument, UNBOUND.into_owned().into()]);
                }
                (AggregateFunction::Count, Expression::Variable(_)) => {}
                (AggregateFunction::Count, _) => {
                    // A variable that gets no value is not counted.
                    let variable = Variable::new_unchecked(format!("counted {counted}"));
                    counted += 1;
                    let expression = mem::replace(expr, variable.clone().into());
                    let rows = mem::replace(&mut **inner, GraphPattern::Bgp { patterns: Vec::new() });
                    **inner = GraphPattern::Extend { inner: rows.into(), variable, expression };
                }
                _ => {}
            }
        }
    });
}

/// An accumulator that does not get unbound arguments.
pub(super) struct SkipsUnbound(pub Box<dyn AggregateFunctionAccumulator + Send + Sync>);

impl AggregateFunctionAccumulator for SkipsUnbound {
    fn accumulate(&mut self, element: Term) {
        if !matches!(&element, Term::NamedNode(node) if *node == UNBOUND) {
            self.0.accumulate(element);
        }
    }

    fn finish(&mut self) -> Option<Term> {
        self.0.finish()
    }
}

/// The smallest number such that this percentage of the numbers are not greater: the nearest rank, so that the result
/// is one of the numbers, and exact. Any term that is not a number makes the result unbound, as for `AVG`.
pub(super) struct Percentile {
    percent: usize,
    numbers: Vec<Ranked>,
    failed: bool,
}

/// A number.
#[derive(Clone, Copy)]
enum Ranked {
    Integer(Decimal),
    Decimal(Decimal),
    Double(f64),
}

impl Ranked {
    fn from_term(term: &Term) -> Option<Self> {
        let Term::Literal(literal) = term else { return None };
        let text = literal.value();
        match literal.datatype() {
            xsd::INTEGER => text.parse().ok().map(Self::Integer),
            xsd::DECIMAL => text.parse().ok().map(Self::Decimal),
            xsd::DOUBLE | xsd::FLOAT => {
                text.parse::<Double>().ok().map(f64::from).filter(|double| !double.is_nan()).map(Self::Double)
            }
            _ => None,
        }
    }

    fn exact(self) -> Option<Decimal> {
        match self {
            Self::Integer(number) | Self::Decimal(number) => Some(number),
            Self::Double(_) => None,
        }
    }

    fn double(self) -> f64 {
        match self {
            Self::Integer(number) | Self::Decimal(number) => Double::from(number).into(),
            Self::Double(number) => number,
        }
    }

    fn term(self) -> Term {
        match self {
            Self::Integer(number) => Literal::new_typed_literal(number.to_string(), xsd::INTEGER).into(),
            Self::Decimal(number) => Literal::from(number).into(),
            Self::Double(number) => Literal::from(number).into(),
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
        match Ranked::from_term(&element) {
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
        let exact = self.numbers.iter().all(|number| number.exact().is_some());
        let (_, found, _) = self.numbers.select_nth_unstable_by(rank - 1, |a, b| match exact {
            true => a.exact().cmp(&b.exact()),
            false => a.double().total_cmp(&b.double()),
        });
        Some(found.term())
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
    fn percentiles_without_numbers_are_unbound() {
        assert_eq!(percentile(50, &[]), None);
        assert_eq!(percentile(50, &["1", "x"]), None);
    }
}
