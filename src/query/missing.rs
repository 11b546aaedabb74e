//! What the data does not have need not be looked for: a look-up that finds nothing, in every row, takes as long as any other.

use oxrdf::NamedNode;
use spargebra::Query;
use spargebra::algebra::{GraphPattern, PropertyPathExpression};
use spargebra::term::{NamedNodePattern, TriplePattern};

use super::algebra::pattern_mut;

/// Takes out of a query what finds nothing where these are the predicates of all triples: OPTIONAL parts, what is
/// subtracted, alternatives.
pub(super) fn leave_out(query: &mut Query, is_there: &impl Fn(&NamedNode) -> bool) {
    can_be(pattern_mut(query), is_there);
}

/// Whether a pattern can have solutions; leaves out the parts of it that have none and are not needed for that.
fn can_be(pattern: &mut GraphPattern, is_there: &impl Fn(&NamedNode) -> bool) -> bool {
    match pattern {
        GraphPattern::Bgp { patterns } => patterns.iter().all(|triple| match &triple.predicate {
            NamedNodePattern::NamedNode(predicate) => is_there(predicate),
            NamedNodePattern::Variable(_) => true,
        }),
        GraphPattern::Path { subject, path, object } => {
            let known = left_of(path, is_there);
            if let Some(PropertyPathExpression::NamedNode(predicate)) = known {
                let (subject, predicate, object) = (subject.clone(), predicate.into(), object.clone());
                *pattern = GraphPattern::Bgp { patterns: vec![TriplePattern { subject, predicate, object }] };
                return true;
            }
            known.map(|known| *path = known).is_some()
        }
        GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => {
            let left = can_be(left, is_there);
            can_be(right, is_there) && left
        }
        GraphPattern::LeftJoin { left, right, .. } | GraphPattern::Minus { left, right } => {
            let result = can_be(left, is_there);
            if !can_be(right, is_there) {
                *pattern = taken(left);
            }
            result
        }
        GraphPattern::Union { left, right } => match (can_be(left, is_there), can_be(right, is_there)) {
            (true, false) => {
                *pattern = taken(left);
                true
            }
            (false, true) => {
                *pattern = taken(right);
                true
            }
            (left, right) => left || right,
        },
        GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => can_be(inner, is_there),
        // Of no rows, there may be a group.
        GraphPattern::Group { inner, .. } => {
            can_be(inner, is_there);
            true
        }
        GraphPattern::Values { .. } | GraphPattern::Graph { .. } | GraphPattern::Service { .. } => true,
    }
}

/// The pattern, out of its place.
fn taken(pattern: &mut GraphPattern) -> GraphPattern {
    std::mem::replace(pattern, GraphPattern::Bgp { patterns: Vec::new() })
}

/// What is left of a path; nothing if it leads nowhere.
fn left_of(path: &PropertyPathExpression, is_there: &impl Fn(&NamedNode) -> bool) -> Option<PropertyPathExpression> {
    use PropertyPathExpression::{Alternative, NamedNode, Sequence};
    match path {
        NamedNode(predicate) => is_there(predicate).then(|| path.clone()),
        Sequence(first, second) => {
            let (first, second) = (left_of(first, is_there)?, left_of(second, is_there)?);
            Some(Sequence(first.into(), second.into()))
        }
        Alternative(one, other) => match (left_of(one, is_there), left_of(other, is_there)) {
            (Some(one), Some(other)) => Some(Alternative(one.into(), other.into())),
            (one, other) => one.or(other),
        },
        _ => Some(path.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_nothing_is_left_out() {
        let is_there = |predicate: &NamedNode| !predicate.as_str().contains("no");
        for (text, rest) in [
            ("?a rpcg:b ?c OPTIONAL { ?a rpcg:no ?d }", "?a rpcg:b ?c"),
            (
                "?a rpcg:b ?c OPTIONAL { ?c rpcg:b ?d OPTIONAL { ?d rpcg:no ?e } }",
                "?a rpcg:b ?c OPTIONAL { ?c rpcg:b ?d }",
            ),
            ("?a rpcg:b ?c OPTIONAL { ?a rpcg:b ?d ; rpcg:no ?e BIND(1 AS ?x) }", "?a rpcg:b ?c"),
            ("?a rpcg:b|rpcg:no ?c", "?a rpcg:b ?c"),
            ("?a rpcg:d|(rpcg:b/rpcg:no)|rpcg:b ?c", "?a rpcg:d|rpcg:b ?c"),
            ("?a rpcg:b ?c OPTIONAL { ?a rpcg:d/rpcg:no ?d }", "?a rpcg:b ?c"),
            ("{ ?a rpcg:b ?c } UNION { ?a rpcg:no ?c }", "?a rpcg:b ?c"),
            ("?a rpcg:b ?c MINUS { ?a rpcg:no ?d }", "?a rpcg:b ?c"),
            ("?a rpcg:b ?c OPTIONAL { { SELECT ?a { ?a rpcg:no ?x } LIMIT 1 } }", "?a rpcg:b ?c"),
        ] {
            let parse =
                |pattern: &str| crate::Query::parse(&format!("SELECT ?a {{ {pattern} }}"), None).unwrap().algebra;
            let mut query = parse(text);
            leave_out(&mut query, &is_there);
            assert_eq!(query, parse(rest), "{text}");
        }
        for kept in [
            "?a rpcg:no ?c",
            "?a rpcg:b ?c OPTIONAL { SELECT (COUNT(*) AS ?n) { ?a rpcg:no ?x } }",
            "?a rpcg:b ?c OPTIONAL { ?a rpcg:no* ?d }",
            "?a rpcg:b ?c OPTIONAL { ?a ?no ?d }",
            "?a rpcg:b ?c FILTER NOT EXISTS { ?a rpcg:no ?d }",
        ] {
            let query = crate::Query::parse(&format!("SELECT ?a {{ {kept} }}"), None).unwrap().algebra;
            let mut same = query.clone();
            leave_out(&mut same, &is_there);
            assert_eq!(same, query, "{kept}");
        }
    }
}
