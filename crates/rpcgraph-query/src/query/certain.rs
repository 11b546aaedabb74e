//! Facts that hold in every solution of a pattern.

use std::collections::{BTreeSet, HashMap};

use oxrdf::NamedNodeRef;
use oxrdf::vocab::rdf;
use spargebra::algebra::{Expression, GraphPattern, PropertyPathExpression};
use spargebra::term::{NamedNodePattern, TermPattern};

use super::scope::{Names, certain as bound};
use crate::sink::WantedSubject;
use crate::vocab::{jrpc, rpcg};

/// Properties that only records have: messages, batches and log lines.
pub(super) const OF_RECORDS: [NamedNodeRef<'_>; 15] = [
    rpcg::IN_SESSION,
    rpcg::SEQUENCE,
    rpcg::SENT_BY,
    rpcg::CAPTURED_AT,
    rpcg::CLOCK_TIME,
    rpcg::IN_BATCH,
    rpcg::BATCH_INDEX,
    rpcg::RESPONDS_TO,
    rpcg::LATENCY_SECONDS,
    rpcg::TOOL_NAME,
    jrpc::HAS_METHOD,
    jrpc::HAS_ID,
    jrpc::HAS_PARAMETERS,
    jrpc::HAS_RESULT,
    jrpc::HAS_ERROR,
];

/// Classes of records.
const KINDS: [NamedNodeRef<'_>; 6] =
    [jrpc::REQUEST, jrpc::NOTIFICATION, jrpc::RESPONSE, jrpc::ERROR_RESPONSE, rpcg::BATCH, rpcg::INVALID_MESSAGE];

/// The terms that are records, errors of answers or failures.
pub(super) type SubjectKinds = HashMap<TermPattern, WantedSubject>;

/// Returns the terms that are records, errors of answers or failures in every solution of a pattern.
pub(super) fn subject_kinds(pattern: &GraphPattern) -> SubjectKinds {
    let mut kinds = SubjectKinds::new();
    add(pattern, &mut kinds);
    kinds
}

/// Adds known subjects, of which the narrower kind counts where a term has two.
pub(super) fn merge(kinds: &mut SubjectKinds, more: impl IntoIterator<Item = (TermPattern, WantedSubject)>) {
    for (term, kind) in more {
        kinds.entry(term).and_modify(|known| *known = kind.max(*known)).or_insert(kind);
    }
}

fn add(pattern: &GraphPattern, kinds: &mut SubjectKinds) {
    match pattern {
        GraphPattern::Bgp { patterns } => patterns.iter().for_each(|triple| {
            if let NamedNodePattern::NamedNode(property) = &triple.predicate {
                add_triple(&triple.subject, &[property.as_ref()], &triple.object, kinds);
            }
        }),
        GraphPattern::Path { subject, path, object } => {
            choices(path).iter().for_each(|properties| add_triple(subject, properties, object, kinds));
        }
        GraphPattern::Filter { expr, inner } => {
            add(inner, kinds);
            add_condition(expr, &bound(inner), kinds);
        }
        GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => {
            add(left, kinds);
            add(right, kinds);
        }
        GraphPattern::LeftJoin { left: inner, .. }
        | GraphPattern::Minus { left: inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::Graph { inner, .. } => add(inner, kinds),
        GraphPattern::Project { inner, variables } => {
            let shown = variables.iter().cloned().collect();
            merge(kinds, subject_kinds(inner).into_iter().filter(|(term, _)| is_among(term, &shown)));
        }
        _ => {}
    }
}

fn add_triple(subject: &TermPattern, properties: &[NamedNodeRef<'_>], object: &TermPattern, kinds: &mut SubjectKinds) {
    if properties == [jrpc::HAS_ERROR] {
        merge(kinds, [(object.clone(), WantedSubject::Record)]);
    }
    let class = match object {
        TermPattern::NamedNode(class) if properties == [rdf::TYPE] => Some(class.as_ref()),
        _ => None,
    };
    if class == Some(rpcg::FAILURE) {
        merge(kinds, [(subject.clone(), WantedSubject::Failure)]);
    } else if class.is_some_and(|class| KINDS.contains(&class))
        || properties.iter().all(|property| OF_RECORDS.contains(property))
    {
        merge(kinds, [(subject.clone(), WantedSubject::Record)]);
    }
}

/// Returns the properties of the triples that every solution of a pattern needs.
pub(super) fn properties(pattern: &GraphPattern) -> BTreeSet<NamedNodeRef<'_>> {
    match pattern {
        GraphPattern::Bgp { patterns } => {
            let predicates = patterns.iter().filter_map(|triple| match &triple.predicate {
                NamedNodePattern::NamedNode(property) => Some(property.as_ref()),
                NamedNodePattern::Variable(_) => None,
            });
            predicates.collect()
        }
        GraphPattern::Path { path, .. } => steps(path),
        GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => {
            &properties(left) | &properties(right)
        }
        GraphPattern::Union { left, right } => &properties(left) & &properties(right),
        // Without a key, there is a solution for no triple, too.
        GraphPattern::Group { variables, .. } if variables.is_empty() => BTreeSet::new(),
        GraphPattern::LeftJoin { left: inner, .. }
        | GraphPattern::Minus { left: inner, .. }
        | GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::Group { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => properties(inner),
        GraphPattern::Values { .. } | GraphPattern::Graph { .. } | GraphPattern::Service { .. } => BTreeSet::new(),
    }
}

/// Returns the properties of the steps that a path always takes.
fn steps(path: &PropertyPathExpression) -> BTreeSet<NamedNodeRef<'_>> {
    match path {
        PropertyPathExpression::NamedNode(property) => BTreeSet::from([property.as_ref()]),
        PropertyPathExpression::Sequence(left, right) => &steps(left) | &steps(right),
        PropertyPathExpression::Alternative(left, right) => &steps(left) & &steps(right),
        PropertyPathExpression::Reverse(path) | PropertyPathExpression::OneOrMore(path) => steps(path),
        _ => BTreeSet::new(),
    }
}

/// Adds what a condition makes certain; these variables have a value.
fn add_condition(condition: &Expression, bound: &Names, kinds: &mut SubjectKinds) {
    match condition {
        Expression::And(left, right) => {
            add_condition(left, bound, kinds);
            add_condition(right, bound, kinds);
        }
        Expression::Exists(pattern) => {
            merge(kinds, subject_kinds(pattern).into_iter().filter(|(term, _)| is_among(term, bound)));
        }
        _ => {}
    }
}

/// True if a term is one of these variables.
pub(super) fn is_among(term: &TermPattern, variables: &Names) -> bool {
    matches!(term, TermPattern::Variable(variable) if variables.contains(variable))
}

/// The properties that a path chooses from, if that is all that it does.
fn choices(path: &PropertyPathExpression) -> Option<Vec<NamedNodeRef<'_>>> {
    match path {
        PropertyPathExpression::NamedNode(property) => Some(vec![property.as_ref()]),
        PropertyPathExpression::Alternative(left, right) => Some([choices(left)?, choices(right)?].concat()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;

    #[test]
    fn payloads_are_wanted_of_messages_alone_where_every_solution_has_one() {
        for (pattern, of_messages) in [
            ("?m jrpc:hasMethod 'a' ; rpcg:value ?p", true),
            ("?m jrpc:hasMethod 'a' OPTIONAL { ?m rpcg:value ?p }", true),
            ("?m rpcg:value ?p FILTER EXISTS { ?m jrpc:hasMethod ?x FILTER(?x < 'b') }", true),
            ("?m jrpc:hasMethod 'a' FILTER EXISTS { ?m rpcg:value ?p }", true),
            ("?m jrpc:hasMethod 'a' ; rpcg:value|jrpc:hasResult ?p", true),
            ("?a jrpc:hasError ?e . ?e rpcg:value ?p", true),
            ("?a jrpc:hasError/rpcg:value ?p", true),
            ("{ ?m rpcg:value ?p } UNION { ?x jrpc:hasResult ?p } ?m jrpc:hasMethod 'a'", true),
            ("?m rpcg:value ?p OPTIONAL { ?m jrpc:hasMethod 'a' }", false),
            ("{ ?m jrpc:hasMethod 'a' } UNION { ?m rpcg:value ?p }", false),
            ("?m jrpc:hasMethod 'a' { SELECT (COUNT(*) AS ?n) { ?m rpcg:value ?p } }", false),
            ("?m jrpc:hasMethod 'a' ; rpcg:value ?p { ?other rpcg:value ?p }", false),
            // A message that is not there would leave the optional part without a value.
            ("{ OPTIONAL { ?m rpcg:value ?p } } ?m jrpc:hasMethod 'a'", false),
            ("OPTIONAL { ?m rpcg:value ?p } FILTER EXISTS { ?m jrpc:hasMethod 'a' }", false),
            ("{ ?x a ?y MINUS { ?m rpcg:value ?p ; rpcg:about ?y } } ?m jrpc:hasMethod 'a'", false),
        ] {
            let query = Query::parse(&format!("SELECT * {{ {pattern} }}"), None).unwrap();
            assert_eq!(!query.needs().wants_elsewhere(rpcg::VALUE, None), of_messages, "{pattern}");
        }
    }

    #[test]
    fn payloads_are_wanted_of_failures_alone_where_every_solution_is_one() {
        for (pattern, of_failures) in [
            ("?m a rpcg:Failure OPTIONAL { ?m jrpc:hasResult ?p }", true),
            ("{ SELECT ?m { ?m a rpcg:Failure ; rpcg:respondsTo ?r } } ?m jrpc:hasResult ?p", true),
            ("?m jrpc:hasResult|rpcg:reason ?p FILTER EXISTS { ?m a rpcg:Failure }", true),
            ("{ SELECT ?r { ?m a rpcg:Failure ; rpcg:respondsTo ?r } } ?m jrpc:hasResult ?p", false),
            ("?m a jrpc:Response ; jrpc:hasResult ?p", false),
            ("?m jrpc:hasResult ?p OPTIONAL { ?m a rpcg:Failure }", false),
            ("?m a rpcg:Failure ; jrpc:hasResult ?p . ?other jrpc:hasResult ?q", false),
            ("?m a rpcg:Failure { SELECT (COUNT(*) AS ?n) { ?m jrpc:hasResult ?p } }", false),
        ] {
            let query = Query::parse(&format!("SELECT * {{ {pattern} }}"), None).unwrap();
            assert_eq!(query.needs().is_of_failures(jrpc::HAS_RESULT), of_failures, "{pattern}");
        }
    }
}
