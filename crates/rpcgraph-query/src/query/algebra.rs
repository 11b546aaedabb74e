//! Access to the parts of patterns and expressions: the patterns in a pattern, except in conditions, and the
//! expressions in an expression.

use oxrdf::NamedNodeRef;
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, Expression, GraphPattern, OrderExpression, PropertyPathExpression, QueryDataset,
};
use spargebra::term::{TermPattern, TriplePattern, Variable};

use super::scope::certain;

/// Returns the pattern of a query, mutably.
pub(super) fn pattern_mut(query: &mut Query) -> &mut GraphPattern {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    pattern
}

/// Returns the pattern of a query.
pub(super) fn pattern(query: &Query) -> &GraphPattern {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    pattern
}

/// Returns the variables that a pattern with the modifiers of solutions selects.
pub(super) fn projected(pattern: &GraphPattern) -> &[Variable] {
    match pattern {
        GraphPattern::Project { variables, .. } => variables,
        GraphPattern::Slice { inner, .. } | GraphPattern::Distinct { inner } | GraphPattern::Reduced { inner } => {
            projected(inner)
        }
        _ => &[],
    }
}

/// Restricts a pattern to the targets of a shape, below the conditions and bindings of each group, which see `?this` as
/// [SHACL's pre-binding](https://www.w3.org/TR/shacl/#pre-binding) defines. `targets` is a subselect of `?this`.
pub(super) fn join_targets(pattern: &mut GraphPattern, targets: &GraphPattern) {
    match pattern {
        GraphPattern::Extend { inner, variable, .. } if !is_this(variable) => join_targets(inner, targets),
        GraphPattern::Project { inner, variables } if variables.iter().any(is_this) => join_targets(inner, targets),
        GraphPattern::Group { inner, variables, .. } if variables.iter().any(is_this) => join_targets(inner, targets),
        GraphPattern::Filter { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::LeftJoin { left: inner, .. }
        | GraphPattern::Minus { left: inner, .. } => join_targets(inner, targets),
        GraphPattern::Union { left, right } => [left, right].into_iter().for_each(|part| join_targets(part, targets)),
        GraphPattern::Join { left, right } if !(is_joined(left) && is_joined(right)) => {
            [left, right].into_iter().filter(|part| !is_joined(part)).for_each(|part| join_targets(part, targets));
        }
        _ => restrict(pattern, targets),
    }
}

fn is_this(variable: &Variable) -> bool {
    variable.as_str() == "this"
}

/// Returns true if a pattern has no conditions and bindings that see `?this`: a join with the targets restricts it.
fn is_joined(pattern: &GraphPattern) -> bool {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => true,
        GraphPattern::Join { left, right } => is_joined(left) && is_joined(right),
        GraphPattern::Project { variables, .. } => !variables.iter().any(is_this),
        GraphPattern::Distinct { inner } => is_joined(inner),
        _ => false,
    }
}

/// Joins a pattern with targets, or tests each solution: a set of all targets would take memory for each message.
fn restrict(pattern: &mut GraphPattern, targets: &GraphPattern) {
    let inner = std::mem::take(pattern);
    let one_by_one = parts(targets).pop().and_then(|selected| parts(selected).pop());
    let is_blank = |triple: &TriplePattern| {
        [&triple.subject, &triple.object].into_iter().any(|term| matches!(term, TermPattern::BlankNode(_)))
    };
    *pattern = match one_by_one {
        // Each target is found once.
        Some(targets @ GraphPattern::Values { .. }) => join(targets, inner),
        Some(targets @ GraphPattern::Bgp { patterns }) if !patterns.iter().any(is_blank) => join(targets, inner),
        Some(targets) if certain(&inner).iter().any(is_this) => {
            GraphPattern::Filter { expr: Expression::Exists(Box::new(targets.clone())), inner: Box::new(inner) }
        }
        _ => join(targets, inner),
    };
}

fn join(targets: &GraphPattern, pattern: GraphPattern) -> GraphPattern {
    GraphPattern::Join { left: Box::new(targets.clone()), right: Box::new(pattern) }
}

/// Returns the dataset clause of a query, mutably.
pub(super) fn dataset_mut(query: &mut Query) -> &mut Option<QueryDataset> {
    let (Query::Select { dataset, .. }
    | Query::Construct { dataset, .. }
    | Query::Describe { dataset, .. }
    | Query::Ask { dataset, .. }) = query;
    dataset
}

/// Visits a pattern, then every pattern in it, including `EXISTS`.
pub(super) fn for_each_mut(pattern: &mut GraphPattern, visit: &mut dyn FnMut(&mut GraphPattern)) {
    visit(pattern);
    expressions_mut(pattern).into_iter().for_each(|expression| in_expression(expression, visit));
    parts_mut(pattern).into_iter().for_each(|part| for_each_mut(part, visit));
}

fn in_expression(expression: &mut Expression, visit: &mut dyn FnMut(&mut GraphPattern)) {
    if let Expression::Exists(pattern) = expression {
        for_each_mut(pattern, visit);
    }
    operands_mut(expression).into_iter().for_each(|operand| in_expression(operand, visit));
}

/// Returns the properties that a path can end with.
pub(super) fn last_steps(path: &PropertyPathExpression) -> Option<Vec<NamedNodeRef<'_>>> {
    match path {
        PropertyPathExpression::NamedNode(property) => Some(vec![property.as_ref()]),
        PropertyPathExpression::Sequence(_, last) => last_steps(last),
        PropertyPathExpression::Alternative(left, right) => Some([last_steps(left)?, last_steps(right)?].concat()),
        _ => None,
    }
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
                // A service is evaluated on its own data, not ours.
                GraphPattern::Bgp { .. }
                | GraphPattern::Path { .. }
                | GraphPattern::Values { .. }
                | GraphPattern::Service { .. } => Vec::new(),
            }
        }
    };
}

parts!(
    /// Returns the patterns in a pattern.
    parts
);
parts!(
    /// Returns the patterns in a pattern, mutably.
    parts_mut mut
);

macro_rules! expressions {
    ($(#[$doc:meta])* $name:ident $($mutability:tt)?) => {
        $(#[$doc])*
        pub(super) fn $name(pattern: & $($mutability)? GraphPattern) -> Vec<& $($mutability)? Expression> {
            match pattern {
                GraphPattern::Filter { expr: expression, .. }
                | GraphPattern::Extend { expression, .. }
                | GraphPattern::LeftJoin { expression: Some(expression), .. } => vec![expression],
                GraphPattern::OrderBy { expression, .. } => {
                    let keys = expression.into_iter();
                    keys.map(|(OrderExpression::Asc(by) | OrderExpression::Desc(by))| by).collect()
                }
                GraphPattern::Group { aggregates, .. } => {
                    let aggregated = aggregates.into_iter().filter_map(|(_, aggregate)| match aggregate {
                        AggregateExpression::FunctionCall { expr, .. } => Some(expr),
                        AggregateExpression::CountSolutions { .. } => None,
                    });
                    aggregated.collect()
                }
                _ => Vec::new(),
            }
        }
    };
}

expressions!(
    /// Returns the expressions of a pattern, without the expressions of the patterns in it.
    expressions
);
expressions!(
    /// Returns the expressions of a pattern, mutably, without the expressions of the patterns in it.
    expressions_mut mut
);

macro_rules! operands {
    ($(#[$doc:meta])* $name:ident $($mutability:tt)?) => {
        $(#[$doc])*
        pub(super) fn $name(expression: & $($mutability)? Expression) -> Vec<& $($mutability)? Expression> {
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
                Expression::In(left, list) => std::iter::once(& $($mutability)? **left).chain(list).collect(),
                Expression::If(condition, left, right) => vec![condition, left, right],
                Expression::Coalesce(list) | Expression::FunctionCall(_, list) => Vec::from_iter(list),
            }
        }
    };
}

operands!(
    /// Returns the expressions in an expression.
    operands
);
operands!(
    /// Returns the expressions in an expression, mutably.
    operands_mut mut
);
