//! How many spans overlap: an aggregate, since a join of each span with all others would grow with their square.

use oxigraph::sparql::AggregateFunctionAccumulator;
use oxrdf::{Literal, Term};
use oxsdatatypes::Decimal;

/// Most of the spans that have a number in common. A span is a string: the number it begins with, `/`, and the first number
/// behind it, or nothing where it goes on. Anything else makes the result unbound.
#[derive(Default)]
pub(super) struct MostAtOnce {
    /// Where a span begins (`true`) or is over.
    ends: Vec<(Decimal, bool)>,
    failed: bool,
}

/// Beginning and end of a span.
fn span(term: &Term) -> Option<(Decimal, Option<Decimal>)> {
    let Term::Literal(literal) = term else { return None };
    let (from, to) = literal.value().split_once('/')?;
    let to = if to.is_empty() { None } else { Some(to.parse().ok()?) };
    Some((from.parse().ok()?, to))
}

impl AggregateFunctionAccumulator for MostAtOnce {
    fn accumulate(&mut self, element: Term) {
        match span(&element) {
            // A span that is over before it begins is none.
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
        // What is over at a number comes before what begins there.
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

    fn most(spans: &[&str]) -> Option<String> {
        let mut accumulator = MostAtOnce::default();
        spans.iter().for_each(|span| accumulator.accumulate(Literal::from(*span).into()));
        match accumulator.finish() {
            Some(Term::Literal(literal)) => Some(literal.value().to_owned()),
            _ => None,
        }
    }

    #[test]
    fn spans_that_overlap() {
        assert_eq!(most(&[]).as_deref(), Some("0"));
        assert_eq!(most(&["1/2", "2/3", "3/"]).as_deref(), Some("1"));
        assert_eq!(most(&["1/10", "2/5", "4/", "6/7"]).as_deref(), Some("3"));
        assert_eq!(most(&["0.5/0.75", "0.7/0.8", "3/1"]).as_deref(), Some("2"));
        assert_eq!(most(&["1/2", "x"]), None);
    }
}
