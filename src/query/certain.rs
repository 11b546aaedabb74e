//! Facts that hold in every solution of a pattern.

use std::collections::BTreeSet;

use oxrdf::vocab::rdf;
use oxrdf::{NamedNodeRef, Variable};
use spargebra::algebra::{Expression, GraphPattern, PropertyPathExpression};
use spargebra::term::{NamedNodePattern, TermPattern};

use crate::vocab::{jrpc, rpcg};

/// Properties that only records have: messages, batches and log lines.
const OF_RECORDS: [NamedNodeRef<'_>; 15] = [
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
const KINDS: [NamedNodeRef<'_>; 7] = [
    jrpc::REQUEST,
    jrpc::NOTIFICATION,
    jrpc::RESPONSE,
    jrpc::ERROR_RESPONSE,
    rpcg::BATCH,
    rpcg::INVALID_MESSAGE,
    rpcg::FAILURE,
];

/// The bound variables of every solution of a pattern, and the terms that are records in it.
#[derive(Default)]
pub(super) struct CertainTerms<'p> {
    pub bound: BTreeSet<&'p Variable>,
    /// The terms that are records, or errors of answers.
    pub records: Vec<TermPattern>,
}

impl<'p> CertainTerms<'p> {
    pub fn of(pattern: &'p GraphPattern) -> Self {
        let mut certain = Self::default();
        certain.add(pattern);
        certain
    }

    fn add(&mut self, pattern: &'p GraphPattern) {
        match pattern {
            GraphPattern::Bgp { patterns } => patterns.iter().for_each(|triple| {
                let property = match &triple.predicate {
                    NamedNodePattern::NamedNode(property) => Some(vec![property.as_ref()]),
                    NamedNodePattern::Variable(_) => None,
                };
                self.triple(&triple.subject, property, &triple.object);
            }),
            GraphPattern::Path { subject, path, object } => self.triple(subject, choices(path), object),
            GraphPattern::Filter { expr, inner } => {
                let mut inside = CertainTerms::of(inner);
                inside.condition(expr);
                self.bound.extend(inside.bound);
                self.records.extend(inside.records);
            }
            GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => {
                self.add(left);
                self.add(right);
            }
            GraphPattern::LeftJoin { left: inner, .. }
            | GraphPattern::Minus { left: inner, .. }
            | GraphPattern::Extend { inner, .. }
            | GraphPattern::Graph { inner, .. } => self.add(inner),
            _ => {}
        }
    }

    fn triple(&mut self, subject: &'p TermPattern, properties: Option<Vec<NamedNodeRef<'_>>>, object: &'p TermPattern) {
        for term in [subject, object] {
            if let TermPattern::Variable(variable) = term {
                self.bound.insert(variable);
            }
        }
        let Some(properties) = properties else { return };
        if properties == [jrpc::HAS_ERROR] {
            self.records.push(object.clone());
        }
        let class = match object {
            TermPattern::NamedNode(class) if properties == [rdf::TYPE] => Some(class.as_ref()),
            _ => None,
        };
        if class.is_some_and(|class| KINDS.contains(&class))
            || properties.iter().all(|property| OF_RECORDS.contains(property))
        {
            self.records.push(subject.clone());
        }
    }

    /// Adds what a condition makes certain.
    fn condition(&mut self, condition: &'p Expression) {
        match condition {
            Expression::And(left, right) => {
                self.condition(left);
                self.condition(right);
            }
            Expression::Exists(pattern) => {
                let records = CertainTerms::of(pattern).records;
                self.records.extend(records.into_iter().filter(|term| is_among(term, &self.bound)));
            }
            _ => {}
        }
    }
}

/// True if a term is one of these variables.
pub(super) fn is_among(term: &TermPattern, variables: &BTreeSet<&Variable>) -> bool {
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
}
