//! The parts of a pattern that are patterns, those in conditions aside, and those of an expression that are expressions.

use spargebra::Query;
use spargebra::algebra::{Expression, GraphPattern};

/// The pattern of a query, to be changed.
pub(super) fn pattern_mut(query: &mut Query) -> &mut GraphPattern {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    pattern
}

macro_rules! parts {
    ($(#[$doc:meta])* $name:ident $($mutability:tt)?) => {
        $(#[$doc])*
        pub(super) fn $name(pattern: & $($mutability)? GraphPattern) -> Vec<& $($mutability)? GraphPattern> {
            match pattern {
                GraphPattern::Join { left, right }
                | GraphPattern::Lateral { left, right }
                | GraphPattern::LeftJoin { left, right, .. }
                | GraphPattern::Union { left, right }
                | GraphPattern::Minus { left, right } => vec![left, right],
                GraphPattern::Filter { inner, .. }
                | GraphPattern::Extend { inner, .. }
                | GraphPattern::Graph { inner, .. }
                | GraphPattern::Group { inner, .. }
                | GraphPattern::OrderBy { inner, .. }
                | GraphPattern::Project { inner, .. }
                | GraphPattern::Distinct { inner }
                | GraphPattern::Reduced { inner }
                | GraphPattern::Slice { inner, .. } => vec![inner],
                // A service is asked about its data, not ours.
                GraphPattern::Bgp { .. }
                | GraphPattern::Path { .. }
                | GraphPattern::Values { .. }
                | GraphPattern::Service { .. } => Vec::new(),
            }
        }
    };
}

parts!(
    /// The parts.
    parts
);
parts!(
    /// The parts, to be changed.
    parts_mut mut
);

/// The parts of an expression that are expressions.
pub(super) fn operands(expression: &Expression) -> Vec<&Expression> {
    match expression {
        Expression::NamedNode(_)
        | Expression::Literal(_)
        | Expression::Variable(_)
        | Expression::Bound(_)
        | Expression::Exists(_) => Vec::new(),
        Expression::Or(left, right)
        | Expression::And(left, right)
        | Expression::Equal(left, right)
        | Expression::SameTerm(left, right)
        | Expression::Greater(left, right)
        | Expression::GreaterOrEqual(left, right)
        | Expression::Less(left, right)
        | Expression::LessOrEqual(left, right)
        | Expression::Add(left, right)
        | Expression::Subtract(left, right)
        | Expression::Multiply(left, right)
        | Expression::Divide(left, right) => vec![left, right],
        Expression::UnaryPlus(inner) | Expression::UnaryMinus(inner) | Expression::Not(inner) => vec![inner],
        Expression::In(left, list) => std::iter::once(&**left).chain(list).collect(),
        Expression::If(condition, left, right) => vec![condition, left, right],
        Expression::Coalesce(list) | Expression::FunctionCall(_, list) => list.iter().collect(),
    }
}
