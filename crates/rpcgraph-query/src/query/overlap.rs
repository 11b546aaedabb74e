//! The number of overlapping spans, as an aggregate: joining each span with all others would take quadratic time.

use oxigraph::sparql::AggregateFunctionAccumulator;
use oxrdf::{Literal, Term};
use oxsdatatypes::Decimal;

/// The maximum number of spans that have a number in common. A span is a string: its first number, `/`, and the first
/// number after the span, or nothing if the span is open. Any other term makes the result unbound.
#[derive(Default)]
pub(super) struct MaxOverlap {
    /// The start (`true`) and the end of each span.
    ends: Vec<(Decimal, bool)>,
    failed: bool,
}

/// Parses the start and the end of a span.
fn span(term: &Term) -> Option<(Decimal, Option<Decimal>)> {
    let Term::Literal(literal) = term else { return None };
    let (from, to) = literal.value().split_once('/')?;
    let to = if to.is_empty() { None } else { Some(to.parse().ok()?) };
    Some((from.parse().ok()?, to))
}

impl AggregateFunctionAccumulator for MaxOverlap {
    fn accumulate(&mut self, element: Term) {
        match span(&element) {
            // A span that ends before it starts is empty.
            Some((from, Some(to))) if to <= from => {}
            Some((from, to)) => {
                self.ends.push((from, true));
                self.ends.extend(to.map(|to| (to, false)));
            }
            None => self.failed = true,
        }
    }

    fn finish(&mut self) -> Option<Term> {
        if self.failed {
            return None;
        }
        // An end sorts before a start at the same number.
        self.ends.sort_unstable();
        let (mut open, mut most) = (0_u64, 0);
        for (_, begins) in &self.ends {
            open = if *begins { open + 1 } else { open.saturating_sub(1) };
            most = most.max(open);
        }
        Some(Literal::from(most).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn max_overlap(spans: &[&str]) -> Option<String> {
        let mut accumulator = MaxOverlap::default();
        spans.iter().for_each(|span| accumulator.accumulate(Literal::from(*span).into()));
        match accumulator.finish() {
            Some(Term::Literal(literal)) => Some(literal.value().to_owned()),
            _ => None,
        }
    }

    #[test]
    fn spans_that_overlap() {
        assert_eq!(max_overlap(&[]).as_deref(), Some("0"));
        assert_eq!(max_overlap(&["1/2", "2/3", "3/"]).as_deref(), Some("1"));
        assert_eq!(max_overlap(&["1/10", "2/5", "4/", "6/7"]).as_deref(), Some("3"));
        assert_eq!(max_overlap(&["0.5/0.75", "0.7/0.8", "3/1"]).as_deref(), Some("2"));
        assert_eq!(max_overlap(&["1/2", "x"]), None);
    }
}
