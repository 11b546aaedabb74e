//! Numbers of ids as in the graph: `jrpc:hasNumberValue 15` finds the id 15, which is a decimal in the graph, not an
//! integer.

use oxrdf::Literal;
use oxrdf::vocab::xsd;
use spargebra::Query;
use spargebra::algebra::{GraphPattern, PropertyPathExpression};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use super::algebra::{for_each_mut, pattern_mut};
use crate::json::Decimal;
use crate::message::MAX_ID_DIGITS;
use crate::vocab::jrpc;

/// Rewrites the numbers in the objects of that property.
pub(super) fn rewrite(query: &mut Query) {
    for_each_mut(pattern_mut(query), &mut |pattern| match pattern {
        GraphPattern::Bgp { patterns } => {
            let of_ids = |triple: &&mut TriplePattern| matches!(&triple.predicate, NamedNodePattern::NamedNode(name) if *name == jrpc::HAS_NUMBER_VALUE);
            patterns.iter_mut().filter(of_ids).for_each(|triple| in_object(&mut triple.object));
        }
        GraphPattern::Path { subject, path, object } => {
            let mut decimal = object.clone();
            in_object(&mut decimal);
            if decimal == *object {
                return;
            }
            // The numbers of other properties stay unchanged.
            let with = |path, object| GraphPattern::Path { subject: subject.clone(), path, object };
            match (ending(path, true), ending(path, false)) {
                (Some(path), None) => *pattern = with(path, decimal),
                (Some(ids), Some(others)) => {
                    let (left, right) = (with(ids, decimal).into(), with(others, object.clone()).into());
                    *pattern = GraphPattern::Union { left, right };
                }
                (None, _) => {}
            }
        }
        _ => {}
    });
}

/// Returns the part of a path that ends with that property, or the part that ends with another property.
fn ending(path: &PropertyPathExpression, of_ids: bool) -> Option<PropertyPathExpression> {
    use PropertyPathExpression::{Alternative, NamedNode, OneOrMore, Sequence};
    match path {
        NamedNode(name) => ((*name == jrpc::HAS_NUMBER_VALUE) == of_ids).then(|| path.clone()),
        // `jrpc:hasNumberValue +15` parses as a path of one or more steps; a literal does not lead to further steps.
        OneOrMore(inner) if matches!(&**inner, NamedNode(name) if *name == jrpc::HAS_NUMBER_VALUE) => {
            of_ids.then(|| path.clone())
        }
        Sequence(first, last) => Some(Sequence(first.clone(), ending(last, of_ids)?.into())),
        Alternative(one, other) => match (ending(one, of_ids), ending(other, of_ids)) {
            (Some(one), Some(other)) => Some(Alternative(one.into(), other.into())),
            (one, other) => one.or(other),
        },
        other => (!of_ids).then(|| other.clone()),
    }
}

fn in_object(object: &mut TermPattern) {
    if let TermPattern::Literal(literal) = object
        && [xsd::INTEGER, xsd::DECIMAL, xsd::DOUBLE].contains(&literal.datatype())
        && let Some(number) = Decimal::parse(literal.value().trim_start_matches('+'))
        && let Some(plain) = number.to_plain(MAX_ID_DIGITS)
    {
        *literal = Literal::new_typed_literal(plain, xsd::DECIMAL);
    }
}

#[cfg(test)]
mod tests {
    use crate::query::Query;

    #[test]
    fn numbers_of_ids_are_decimals() {
        for number in ["15", "15.0", "+15", "1.5e1"] {
            for pattern in [
                "?m jrpc:hasId/jrpc:hasNumberValue NUMBER",
                "?i jrpc:hasStringValue|jrpc:hasNumberValue NUMBER",
                "?m a ?t FILTER(!EXISTS { ?m jrpc:hasId/jrpc:hasNumberValue NUMBER } && true)",
                "BIND(EXISTS { ?i jrpc:hasNumberValue NUMBER } AS ?is)",
                "?m (jrpc:hasId/jrpc:hasNumberValue)|rpcg:sequence NUMBER",
            ] {
                let text = format!("SELECT * {{ {} }}", pattern.replace("NUMBER", number));
                let portable = Query::parse(&text, None).unwrap().to_portable();
                assert!(portable.contains("\"15\"^^<http://www.w3.org/2001/XMLSchema#decimal>"), "{portable}");
                Query::parse(&portable, None).unwrap();
            }
        }
        // In other places, and if they are already decimals, numbers stay unchanged.
        for text in ["SELECT * { ?m rpcg:sequence 15 }", "SELECT * { ?i jrpc:hasNumberValue \"15\"^^xsd:decimal, ?n }"]
        {
            assert!(Query::parse(text, None).unwrap().to_portable().ends_with(text));
        }
    }
}
