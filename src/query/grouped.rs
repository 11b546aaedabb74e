//! Groups whose rows are found in columns are counted there, without a row of terms for each.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use oxrdf::{NamedNode, Term, Variable};
use spargebra::Query;
use spargebra::algebra::{AggregateExpression, AggregateFunction, Expression, GraphPattern};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};

use super::algebra::{parts_mut, pattern_mut};
use super::{Cancel, Cause};
use crate::sink::columns::{Columns, Matches, TermId};

/// How many groups are counted here at most: their terms become part of the query.
const GROUPS: usize = 1 << 12;
/// How many rows are counted before it is asked whether to go on.
const AT_ONCE: u64 = 1 << 16;

/// Puts the groups of a query that are counted here in the place of what asks for them. `is_made` tells predicates of which
/// no column has triples and there are some all the same.
pub(super) fn count(
    query: &mut Query,
    columns: &Arc<Columns>,
    is_made: &dyn Fn(&NamedNode) -> bool,
    cancel: &Cancel,
) -> Result<(), Cause> {
    replace(pattern_mut(query), columns, is_made, cancel)
}

fn replace(
    pattern: &mut GraphPattern,
    columns: &Arc<Columns>,
    is_made: &dyn Fn(&NamedNode) -> bool,
    cancel: &Cancel,
) -> Result<(), Cause> {
    if let GraphPattern::Group { inner, variables: keys, aggregates } = &*pattern
        && let GraphPattern::Bgp { patterns } = &**inner
        && let Some(counting) = Counting::new(patterns, keys, aggregates, columns, is_made)
    {
        if let Some(groups) = counting.groups(cancel)? {
            *pattern = groups;
        }
        return Ok(());
    }
    parts_mut(pattern).into_iter().try_for_each(|part| replace(part, columns, is_made, cancel))
}

/// A pattern whose subject is known once the ones before it are.
struct Look {
    /// Its place among what is known.
    subject: usize,
    /// None: no triple has it.
    predicate: Option<TermId>,
    object: Object,
}

enum Object {
    /// One that is asked for; none: no triple has it.
    Known(Option<TermId>),
    /// It takes the next place among what is known.
    Found,
}

/// What is counted: rows, or the values at a place of them.
enum Aggregate {
    Rows,
    Distinct(usize),
    Sum(usize),
    Least(usize),
    Most(usize),
}

/// An aggregate of a group so far.
enum Counted {
    Number(i64),
    Distinct(HashSet<TermId>),
}

/// Goes on, or ends: with a cause, or since it is no longer what is counted here.
type Step = ControlFlow<Option<Cause>>;

struct Counting<'q> {
    columns: &'q Arc<Columns>,
    looks: Vec<Look>,
    /// The places of the keys, and what is counted in each group.
    keys: Vec<usize>,
    aggregates: Vec<Aggregate>,
    /// Of both.
    variables: Vec<Variable>,
}

impl<'q> Counting<'q> {
    /// `None` where it is anything else than numbers of rows that one look after the other finds.
    fn new(
        patterns: &[TriplePattern],
        keys: &[Variable],
        aggregates: &[(Variable, AggregateExpression)],
        columns: &'q Arc<Columns>,
        is_made: &dyn Fn(&NamedNode) -> bool,
    ) -> Option<Self> {
        // Without keys, there is a group of no rows, too.
        if keys.is_empty() {
            return None;
        }
        let is_object = |subject: &TermPattern| patterns.iter().any(|triple| triple.object == *subject);
        let first = &patterns.iter().find(|triple| !is_object(&triple.subject))?.subject;
        // One that is named is not found, but looked up.
        if !matches!(first, TermPattern::Variable(_) | TermPattern::BlankNode(_)) {
            return None;
        }
        let mut known = vec![first];
        let mut left: Vec<_> = patterns.iter().collect();
        let mut looks = Vec::new();
        while !left.is_empty() {
            let place = |term: &TermPattern| known.iter().position(|known| *known == term);
            let (next, subject) =
                left.iter().enumerate().find_map(|(at, triple)| Some((at, place(&triple.subject)?)))?;
            let TriplePattern { predicate: NamedNodePattern::NamedNode(predicate), object, .. } = left.remove(next)
            else {
                return None;
            };
            let find = |term: Term| columns.find(&term);
            let is_known = place(object).is_some() || is_made(predicate);
            let look = |object| Look { subject, predicate: find(predicate.clone().into()), object };
            looks.push(match object {
                TermPattern::Variable(_) if !is_known => {
                    known.push(object);
                    look(Object::Found)
                }
                TermPattern::NamedNode(node) if !is_known => look(Object::Known(find(node.clone().into()))),
                TermPattern::Literal(literal) if !is_known => look(Object::Known(find(literal.clone().into()))),
                _ => return None,
            });
        }
        let place = |variable: &Variable| {
            known.iter().position(|known| matches!(known, TermPattern::Variable(known) if known == variable))
        };
        let aggregate = |(_, aggregate): &(Variable, AggregateExpression)| Aggregate::new(aggregate, &place);
        Some(Self {
            columns,
            looks,
            keys: keys.iter().map(place).collect::<Option<_>>()?,
            aggregates: aggregates.iter().map(aggregate).collect::<Option<_>>()?,
            variables: keys.iter().chain(aggregates.iter().map(|(variable, _)| variable)).cloned().collect(),
        })
    }

    /// The groups as values; `None` if they are too many, or there is more to be counted than numbers.
    fn groups(&self, cancel: &Cancel) -> Result<Option<GraphPattern>, Cause> {
        let mut groups = HashMap::<Vec<TermId>, Vec<Counted>>::new();
        let (mut key, mut rows) = (Vec::new(), 0);
        let mut count = |row: &[TermId]| {
            rows += 1;
            if rows % AT_ONCE == 0
                && let Err(cause) = cancel.check()
            {
                return Step::Break(Some(cause));
            }
            key.clear();
            key.extend(self.keys.iter().filter_map(|place| row.get(*place)));
            let counted = if let Some(counted) = groups.get_mut(&key) {
                self.aggregates.iter().zip(counted).try_for_each(|(aggregate, counted)| aggregate.add(row, counted))
            } else if groups.len() < GROUPS {
                let first = self.aggregates.iter().map(|aggregate| aggregate.first(row)).collect::<Option<_>>();
                first.map(|first| groups.insert(key.clone(), first)).map(|_| ())
            } else {
                None
            };
            counted.map_or(Step::Break(None), Step::Continue)
        };
        match self.rows(&self.looks, &mut Vec::new(), &mut count) {
            Step::Break(Some(cause)) => return Err(cause),
            Step::Break(None) => return Ok(None),
            Step::Continue(()) => {}
        }
        let bindings = groups.into_iter().map(|(key, counted)| {
            let keys = key.into_iter().map(|id| match self.columns.term(id) {
                Term::NamedNode(node) => Some(GroundTerm::NamedNode(node)),
                Term::Literal(literal) => Some(GroundTerm::Literal(literal)),
                _ => None,
            });
            let numbers = counted.iter().map(|counted| Some(GroundTerm::Literal(counted.number()?.into())));
            keys.chain(numbers).map(|term| term.map(Some)).collect()
        });
        let bindings = bindings.collect::<Option<_>>();
        Ok(bindings.map(|bindings| GraphPattern::Values { variables: self.variables.clone(), bindings }))
    }

    /// Finds the rows that begin with what is known.
    fn rows(&self, looks: &[Look], known: &mut Vec<TermId>, found: &mut dyn FnMut(&[TermId]) -> Step) -> Step {
        let Some((look, looks)) = looks.split_first() else { return found(known) };
        let (Some(predicate), object) = (look.predicate, &look.object) else { return Step::Continue(()) };
        let wanted = match object {
            Object::Known(None) => return Step::Continue(()),
            Object::Known(wanted) => *wanted,
            Object::Found => None,
        };
        let (subject, length) = (known.get(look.subject).copied(), known.len());
        for (subject, _, object) in Matches::new(self.columns.clone(), subject, Some(predicate), wanted) {
            if known.is_empty() {
                known.push(subject);
            }
            if wanted.is_none() {
                known.push(object);
            }
            self.rows(looks, known, found)?;
            known.truncate(length);
        }
        Step::Continue(())
    }
}

impl Aggregate {
    fn new(aggregate: &AggregateExpression, place: &dyn Fn(&Variable) -> Option<usize>) -> Option<Self> {
        let AggregateExpression::FunctionCall { name, expr, distinct } = aggregate else {
            let AggregateExpression::CountSolutions { distinct: false } = aggregate else { return None };
            return Some(Self::Rows);
        };
        let Expression::Variable(variable) = expr else { return None };
        let place = place(variable)?;
        Some(match (name, distinct) {
            (AggregateFunction::Count, false) => Self::Rows,
            (AggregateFunction::Count, true) => Self::Distinct(place),
            (AggregateFunction::Sum, false) => Self::Sum(place),
            (AggregateFunction::Min, _) => Self::Least(place),
            (AggregateFunction::Max, _) => Self::Most(place),
            _ => return None,
        })
    }

    /// The aggregate of a group with that row alone, if its value is a number.
    fn first(&self, row: &[TermId]) -> Option<Counted> {
        Some(match self {
            Self::Rows => Counted::Number(1),
            Self::Distinct(place) => Counted::Distinct(HashSet::from([*row.get(*place)?])),
            Self::Sum(place) | Self::Least(place) | Self::Most(place) => {
                Counted::Number(row.get(*place)?.as_integer()?)
            }
        })
    }

    /// Counts a further row.
    fn add(&self, row: &[TermId], counted: &mut Counted) -> Option<()> {
        let integer = |place: &usize| row.get(*place)?.as_integer();
        match (self, counted) {
            (Self::Rows, Counted::Number(number)) => *number += 1,
            (Self::Sum(place), Counted::Number(number)) => *number = number.checked_add(integer(place)?)?,
            (Self::Least(place), Counted::Number(number)) => *number = integer(place)?.min(*number),
            (Self::Most(place), Counted::Number(number)) => *number = integer(place)?.max(*number),
            (Self::Distinct(place), Counted::Distinct(values)) => {
                values.insert(*row.get(*place)?);
            }
            _ => return None,
        }
        Some(())
    }
}

impl Counted {
    fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Distinct(values) => i64::try_from(values.len()).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The patterns of a query that count, before and after.
    fn groups(text: &str) -> usize {
        fn count(pattern: &GraphPattern) -> usize {
            let here = usize::from(matches!(pattern, GraphPattern::Group { .. }));
            here + super::super::algebra::parts(pattern).into_iter().map(count).sum::<usize>()
        }
        let mut query = crate::query::Query::parse(text, None).unwrap().algebra;
        super::count(&mut query, &Arc::default(), &|made| made.as_str().ends_with("element"), &Cancel::default())
            .unwrap();
        let Query::Select { pattern, .. } = query else { panic!() };
        count(&pattern)
    }

    #[test]
    fn numbers_of_rows_that_are_looked_up_are_counted_here() {
        for counted in [
            "SELECT ?m (COUNT(*) AS ?n) { ?r jrpc:hasMethod ?m } GROUP BY ?m",
            "SELECT ?s ?t (COUNT(?r) AS ?n) { ?r rpcg:inSession ?s ; a ?t } GROUP BY ?s ?t",
            "SELECT ?s (MAX(?n) AS ?last) (MIN(?n) AS ?first) (SUM(?n) AS ?sum) { ?r rpcg:inSession ?s ; rpcg:sequence ?n } GROUP BY ?s",
            "SELECT ?m (COUNT(DISTINCT ?r) AS ?n) { ?a a jrpc:ErrorResponse ; rpcg:respondsTo ?r . ?r jrpc:hasMethod ?m } GROUP BY ?m",
            "SELECT * { ?x rpcg:sequence ?n OPTIONAL { SELECT ?n (COUNT(*) AS ?c) { ?r rpcg:sequence ?n } GROUP BY ?n } }",
        ] {
            assert_eq!(groups(counted), 0, "{counted}");
        }
        for other in [
            "SELECT (COUNT(*) AS ?n) { ?r jrpc:hasMethod ?m }",
            "SELECT ?t (COUNT(*) AS ?n) { <https://example.org/log#m4> a ?t } GROUP BY ?t",
            "SELECT ?m (AVG(?n) AS ?a) { ?r jrpc:hasMethod ?m ; rpcg:sequence ?n } GROUP BY ?m",
            "SELECT ?m (COUNT(*) AS ?n) { ?r jrpc:hasMethod ?m FILTER(?m != 'a') } GROUP BY ?m",
            "SELECT ?p (COUNT(*) AS ?n) { ?r ?p ?o } GROUP BY ?p",
            "SELECT ?s (COUNT(*) AS ?n) { ?a rpcg:inSession ?s . ?b rpcg:inSession ?s } GROUP BY ?s",
            "SELECT ?x (COUNT(*) AS ?n) { ?x rpcg:respondsTo ?x } GROUP BY ?x",
            "SELECT ?p (COUNT(*) AS ?n) { ?r jrpc:hasParameters ?p . ?p rpcg:element ?e } GROUP BY ?p",
            "SELECT ?m (COUNT(DISTINCT *) AS ?n) { ?r jrpc:hasMethod ?m } GROUP BY ?m",
            "SELECT ?m (SUM(?n + 1) AS ?a) { ?r jrpc:hasMethod ?m ; rpcg:sequence ?n } GROUP BY ?m",
        ] {
            assert_eq!(groups(other), 1, "{other}");
        }
    }
}
