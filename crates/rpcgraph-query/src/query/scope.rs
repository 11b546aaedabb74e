//! The variables of patterns: variables that may have a value, and variables that have one in every solution.

use std::collections::BTreeSet;

use oxrdf::Variable;
use spargebra::algebra::{Expression, GraphPattern};

use super::algebra::{operands, parts};

pub(super) type Names = BTreeSet<Variable>;

/// Returns the variables that a pattern may bind.
pub(super) fn in_scope(pattern: &GraphPattern) -> Names {
    let mut names = Names::new();
    pattern.on_in_scope_variable(|variable| {
        if !names.contains(variable) {
            names.insert(variable.clone());
        }
    });
    names
}

/// Returns all variables in an expression, including its patterns.
fn names_of(expression: &Expression) -> Names {
    let mut names = Names::new();
    match expression {
        Expression::Variable(variable) | Expression::Bound(variable) => _ = names.insert(variable.clone()),
        Expression::Exists(pattern) => all_names(pattern, &mut names),
        _ => {}
    }
    operands(expression).into_iter().for_each(|operand| names.extend(names_of(operand)));
    names
}

/// Collects all variables in a pattern, including its conditions.
fn all_names(pattern: &GraphPattern, names: &mut Names) {
    names.extend(in_scope(pattern));
    match pattern {
        GraphPattern::Filter { expr: expression, .. }
        | GraphPattern::Extend { expression, .. }
        | GraphPattern::LeftJoin { expression: Some(expression), .. } => names.extend(names_of(expression)),
        _ => {}
    }
    parts(pattern).into_iter().for_each(|part| all_names(part, names));
}

/// Returns the variables that have a value in every solution of a pattern.
pub(super) fn certain(pattern: &GraphPattern) -> Names {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } => in_scope(pattern),
        GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => {
            let mut names = certain(left);
            names.append(&mut certain(right));
            names
        }
        GraphPattern::Union { left, right } => &certain(left) & &certain(right),
        GraphPattern::LeftJoin { left: inner, .. }
        | GraphPattern::Minus { left: inner, .. }
        | GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => certain(inner),
        GraphPattern::Project { inner, variables } | GraphPattern::Group { inner, variables, .. } => {
            &certain(inner) & &variables.iter().cloned().collect()
        }
        GraphPattern::Values { variables, bindings } => {
            let is_bound = |nth: usize| bindings.iter().all(|row| row.get(nth).is_some_and(Option::is_some));
            variables.iter().enumerate().filter(|(nth, _)| is_bound(*nth)).map(|(_, name)| name.clone()).collect()
        }
        GraphPattern::Graph { .. } | GraphPattern::Service { .. } => Names::new(),
    }
}

/// Returns true if a pattern keeps its meaning when these variables already have values.
pub(super) fn is_safe(pattern: &GraphPattern, visible: &Names) -> bool {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => true,
        GraphPattern::Join { left, right }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Union { left, right } => is_safe(left, visible) && is_safe(right, visible),
        GraphPattern::LeftJoin { left, right, expression } => {
            let (left_of, mut inside) = (certain(left), Names::new());
            all_names(right, &mut inside);
            let both = &left_of | &certain(right);
            let condition = expression.as_ref().map(names_of).unwrap_or_default();
            is_safe(left, visible)
                && is_safe(right, &(visible | &in_scope(left)))
                && (&inside & visible).is_subset(&left_of)
                && (&condition & visible).is_subset(&both)
        }
        GraphPattern::Filter { expr, inner } => {
            is_safe(inner, visible) && (&names_of(expr) & visible).is_subset(&certain(inner))
        }
        GraphPattern::Extend { inner, variable, expression } => {
            is_safe(inner, visible)
                && !visible.contains(variable)
                && (&names_of(expression) & visible).is_subset(&certain(inner))
        }
        GraphPattern::Minus { left, right } => {
            let mut inside = Names::new();
            all_names(right, &mut inside);
            is_safe(left, visible) && (&inside & visible).is_subset(&certain(left))
        }
        GraphPattern::Project { .. }
        | GraphPattern::Group { .. }
        | GraphPattern::OrderBy { .. }
        | GraphPattern::Distinct { .. }
        | GraphPattern::Reduced { .. }
        | GraphPattern::Slice { .. }
        | GraphPattern::Graph { .. }
        | GraphPattern::Service { .. } => false,
    }
}
