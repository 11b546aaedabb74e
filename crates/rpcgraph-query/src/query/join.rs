//! Joins by hash of the variables that two patterns share.
//!
//! Oxigraph's keys are only the variables that have a value in each solution. A variable that `BIND` computes may have
//! none, and pairs with any value then. So each such variable gets a key that always has a value, in two copies of each
//! solution: they meet at its value, or at a mark for its absence.

use oxrdf::{Literal, NamedNode, Variable};
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::GroundTerm;

use super::scope::{Names, certain, in_scope};

/// Joins two patterns by their solutions. The optimizer would evaluate the first for each solution of the second, in an
/// order that is not for this, if it were not a subselect.
pub(super) fn by_hash(first: GraphPattern, second: GraphPattern) -> GraphPattern {
    let (of_first, of_second) = (in_scope(&first), in_scope(&second));
    let all = &certain(&first) & &certain(&second);
    let shared = &of_first & &of_second;
    let uncertain: Vec<&Variable> = shared.difference(&all).collect();
    let mut first = first;
    let mut second = second;
    for (nth, variable) in uncertain.iter().enumerate() {
        first = keyed(first, variable, nth, JoinSide::First);
        second = keyed(second, variable, nth, JoinSide::Second);
    }
    let keys = (0..uncertain.len()).map(key);
    let variables = of_first.iter().cloned().chain(keys).collect();
    let first = GraphPattern::Project { inner: Box::new(first), variables };
    let joined = GraphPattern::Join { left: Box::new(first), right: Box::new(second) };
    match uncertain.is_empty() {
        true => joined,
        false => projected(joined, &of_first | &of_second),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum JoinSide {
    First,
    Second,
}

fn key(nth: usize) -> Variable {
    Variable::new_unchecked(format!("key {nth}"))
}

fn projected(pattern: GraphPattern, variables: Names) -> GraphPattern {
    GraphPattern::Project { inner: Box::new(pattern), variables: variables.into_iter().collect() }
}

/// Adds the key of a variable. Two solutions meet once:
///
/// | solution | keys on the first side | keys on the second side |
/// |---|---|---|
/// | with a value | the value, *second absent* | the value, *first absent* |
/// | without | *first absent* | *first absent*, *second absent* |
fn keyed(pattern: GraphPattern, variable: &Variable, nth: usize, side: JoinSide) -> GraphPattern {
    let copy = Variable::new_unchecked(format!("copy {nth}"));
    let mark = |side| {
        let name = if side == JoinSide::First { "first" } else { "second" };
        Expression::NamedNode(NamedNode::new_unchecked(format!("urn:absent:{name}")))
    };
    let other = if side == JoinSide::First { JoinSide::Second } else { JoinSide::First };
    let copies = [0, 1].map(|nth| vec![Some(GroundTerm::Literal(Literal::from(nth)))]);
    let copies = GraphPattern::Values { variables: vec![copy.clone()], bindings: copies.into() };
    let mut inner = GraphPattern::Join { left: Box::new(pattern), right: Box::new(copies) };
    let is_original =
        Expression::Equal(Box::new(Expression::Variable(copy)), Box::new(Expression::Literal(Literal::from(0))));
    if side == JoinSide::First {
        let expr = Expression::Or(Box::new(is_original.clone()), Box::new(Expression::Bound(variable.clone())));
        inner = GraphPattern::Filter { expr, inner: Box::new(inner) };
    }
    let value =
        Expression::If(Box::new(is_original), Box::new(Expression::Variable(variable.clone())), Box::new(mark(other)));
    let expression = Expression::Coalesce(vec![value, mark(side)]);
    GraphPattern::Extend { inner: Box::new(inner), variable: key(nth), expression }
}
