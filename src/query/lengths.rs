//! Queries that can do without a text, because its length is enough.

use std::collections::BTreeSet;

use oxrdf::{Literal, NamedNode, NamedNodeRef, Variable};
use spargebra::Query;
use spargebra::algebra::{AggregateExpression, Expression, Function, GraphPattern};
use spargebra::term::{NamedNodePattern, TermPattern};

use super::algebra::{last_steps, parts, parts_mut};
use crate::vocab::{jrpc, rpcg};

/// The properties whose values may be long.
pub(super) const PAYLOADS: [NamedNodeRef<'_>; 5] =
    [jrpc::HAS_PARAMETERS, jrpc::HAS_RESULT, jrpc::HAS_ERROR_DATA, rpcg::VALUE, rpcg::TEXT];

/// Rewrites a query for columns that hold only the lengths of some properties' values, and returns it with those
/// properties. `None` unless the query uses the values only in `STRLEN(STR(?value))`, in `BIND` or an aggregate.
pub(super) fn sized(query: &Query) -> Option<(Query, Vec<NamedNode>)> {
    let mut sized = query.clone();
    let Query::Select { pattern, .. } = &mut sized else { return None };
    let mut variables = Vec::new();
    shorten(pattern, &mut variables);
    let text = query.to_sse();
    let occurrences = |word: String| occurrences(&text, &word);
    let lengths = variables.len();
    variables.sort_unstable();
    variables.dedup();
    let mut objects = Vec::new();
    // Joined with another value, it would need more than the length.
    let is_single = |variable| values(pattern, variable, &mut objects).is_some();
    let are_single = variables.iter().all(is_single);
    let elsewhere = variables.iter().map(|variable| occurrences(variable.to_string())).sum::<usize>();
    let properties: BTreeSet<NamedNodeRef<'_>> = objects.iter().flat_map(|object| object.iter().copied()).collect();
    let is_fit = |property: &NamedNodeRef<'_>| {
        let of_lengths = objects.iter().flatten().filter(|other| *other == property).count();
        PAYLOADS.contains(property) && occurrences(property.to_string()) == of_lengths
    };
    let fits = are_single
        && elsewhere == lengths + objects.len()
        && !text.contains("(count distinct)")
        && properties.iter().all(is_fit);
    let properties: Vec<_> = properties.into_iter().map(NamedNodeRef::into_owned).collect();
    (fits && !properties.is_empty()).then_some((sized, properties))
}

/// Returns how often a variable or a property is used, given the query's text (`Query::to_sse`), which shows every use.
pub(super) fn occurrences(query: &str, word: &str) -> usize {
    query.split([' ', '(', ')', '\n']).filter(|token| *token == word).count()
}

/// Replaces lengths with the numbers that stand for the values, and collects the variables.
fn shorten(pattern: &mut GraphPattern, variables: &mut Vec<Variable>) {
    match pattern {
        GraphPattern::Extend { expression, .. } => shorten_expression(expression, variables),
        GraphPattern::Group { aggregates, .. } => {
            for (_, aggregate) in aggregates {
                if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                    shorten_expression(expr, variables);
                }
            }
        }
        _ => {}
    }
    parts_mut(pattern).into_iter().for_each(|part| shorten(part, variables));
}

fn shorten_expression(expression: &mut Expression, variables: &mut Vec<Variable>) {
    if let Expression::FunctionCall(Function::StrLen, arguments) = &*expression
        && let [Expression::FunctionCall(Function::Str, arguments)] = arguments.as_slice()
        && let [Expression::Variable(variable)] = arguments.as_slice()
    {
        let (variable, value) = (variable.clone(), Box::new(Expression::Variable(variable.clone())));
        variables.push(variable);
        // A sum is an ordinary number, and no longer the number that stands for the value. IRIs stay unchanged.
        let is_iri = Expression::FunctionCall(Function::IsIri, vec![(*value).clone()]);
        let length = Expression::Add(value, Box::new(Expression::Literal(Literal::from(0))));
        *expression = Expression::If(Box::new(is_iri), Box::new(expression.clone()), Box::new(length));
    }
}

/// Collects the properties whose values a variable has, for each pattern that binds it. Returns the number of those
/// patterns that are joined; `None` if several are in a subselect, or if a path may lead elsewhere.
pub(super) fn values<'p>(
    pattern: &'p GraphPattern,
    variable: &Variable,
    found: &mut Vec<Vec<NamedNodeRef<'p>>>,
) -> Option<usize> {
    let is_value = |object: &TermPattern| matches!(object, TermPattern::Variable(other) if other == variable);
    let before = found.len();
    match pattern {
        GraphPattern::Bgp { patterns } => {
            for triple in patterns.iter().filter(|triple| is_value(&triple.object)) {
                let NamedNodePattern::NamedNode(property) = &triple.predicate else { return None };
                found.push(vec![property.as_ref()]);
            }
        }
        GraphPattern::Path { path, object, .. } if is_value(object) => found.push(last_steps(path)?),
        _ => {}
    }
    let mut counts = vec![found.len() - before];
    for part in parts(pattern) {
        counts.push(values(part, variable, found)?);
    }
    match pattern {
        GraphPattern::Union { .. } => counts.into_iter().max(),
        // A variable that the subselect projects would occur once more in the query's text.
        GraphPattern::Project { .. } => (counts.into_iter().sum::<usize>() < 2).then_some(0),
        _ => Some(counts.into_iter().sum()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;

    fn properties(text: &str) -> Vec<NamedNode> {
        sized(&Query::parse(text, None).unwrap().algebra).map(|(_, properties)| properties).unwrap_or_default()
    }

    #[test]
    fn lengths_are_enough_where_nothing_else_is_asked_for() {
        let both = [jrpc::HAS_PARAMETERS.into_owned(), jrpc::HAS_RESULT.into_owned()];
        for text in [
            "SELECT ?m ?n { ?m jrpc:hasResult|jrpc:hasParameters ?p BIND(STRLEN(STR(?p)) AS ?n) }",
            "SELECT ?m ?n { ?m jrpc:hasResult|jrpc:hasParameters ?p BIND(STRLEN(STR(?p)) AS ?n)
             { SELECT (MAX(STRLEN(STR(?p))) AS ?n) { ?m jrpc:hasResult|jrpc:hasParameters ?p } } }",
            "SELECT ?m ?n { { ?m jrpc:hasResult ?p } UNION { ?m jrpc:hasParameters ?p } BIND(STRLEN(STR(?p)) AS ?n) }",
            "SELECT ?t (SUM(STRLEN(STR(?p))) AS ?n) { ?m jrpc:hasParameters|jrpc:hasResult ?p ; a ?t } GROUP BY ?t",
        ] {
            assert_eq!(properties(text), both, "{text}");
        }
        for text in [
            "SELECT * { ?m jrpc:hasResult ?p BIND(STRLEN(STR(?p)) AS ?n) }",
            "SELECT ?m { ?m jrpc:hasResult ?p BIND(STRLEN(STR(?p)) AS ?n) FILTER(?p != 5) }",
            "SELECT ?m { ?m jrpc:hasResult ?p ; jrpc:hasParameters ?p BIND(STRLEN(STR(?p)) AS ?n) }",
            "SELECT ?m ?q { ?m jrpc:hasResult ?p BIND(STRLEN(STR(?p)) AS ?n) ?m jrpc:hasResult ?q }",
            "SELECT ?m { ?m jrpc:hasResult ?p BIND(STRLEN(STR(?p)) AS ?n) FILTER EXISTS { ?x jrpc:hasResult 5 } }",
            "SELECT ?m { ?m jrpc:hasMethod ?p BIND(STRLEN(STR(?p)) AS ?n) }",
            "SELECT ?m { ?m jrpc:hasResult/rpcg:element ?p BIND(STRLEN(STR(?p)) AS ?n) }",
            "SELECT ?m { ?m jrpc:hasResult ?p BIND(STRLEN(STR(?p)) AS ?n) { SELECT ?p { ?x ?y ?p } } }",
            "SELECT (COUNT(DISTINCT *) AS ?c) { ?m jrpc:hasResult ?p BIND(STRLEN(STR(?p)) AS ?n) }",
            "SELECT ?p (COUNT(*) AS ?c) { ?m jrpc:hasResult ?p BIND(STRLEN(STR(?p)) AS ?n) } GROUP BY ?p",
            "SELECT ?m { ?m a jrpc:Request }",
        ] {
            assert!(properties(text).is_empty(), "{text}");
        }
    }
}
