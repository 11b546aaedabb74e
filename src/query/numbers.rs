//! Numbers of ids as a graph has them: `jrpc:hasNumberValue 15` finds the id 15, which is a decimal there and not an integer.

use oxrdf::Literal;
use oxrdf::vocab::xsd;
use spargebra::Query;
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use super::algebra::{parts_mut, pattern_mut};
use crate::json::Decimal;
use crate::message::MAX_ID_DIGITS;
use crate::vocab::jrpc;

/// Rewrites the numbers that stand behind that property.
pub(super) fn rewrite(query: &mut Query) {
    in_pattern(pattern_mut(query));
}

fn in_pattern(pattern: &mut GraphPattern) {
    match pattern {
        GraphPattern::Bgp { patterns } => {
            let of_ids = |triple: &&mut TriplePattern| matches!(&triple.predicate, NamedNodePattern::NamedNode(name) if *name == jrpc::HAS_NUMBER_VALUE);
            patterns.iter_mut().filter(of_ids).for_each(|triple| in_object(&mut triple.object));
        }
        GraphPattern::Path { path, object, .. } if path.to_string().contains(jrpc::HAS_NUMBER_VALUE.as_str()) => {
            in_object(object);
        }
        GraphPattern::Filter { expr, .. } => in_condition(expr),
        _ => {}
    }
    parts_mut(pattern).into_iter().for_each(in_pattern);
}

fn in_condition(condition: &mut Expression) {
    match condition {
        Expression::Exists(pattern) => in_pattern(pattern),
        Expression::Not(inner) => in_condition(inner),
        Expression::And(left, right) | Expression::Or(left, right) => {
            in_condition(left);
            in_condition(right);
        }
        _ => {}
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
            ] {
                let text = format!("SELECT * {{ {} }}", pattern.replace("NUMBER", number));
                let portable = Query::parse(&text, None).unwrap().to_portable();
                assert!(portable.contains("\"15\"^^<http://www.w3.org/2001/XMLSchema#decimal>"), "{portable}");
                Query::parse(&portable, None).unwrap();
            }
        }
        // Elsewhere, and as they are already, they stay.
        for text in ["SELECT * { ?m rpcg:sequence 15 }", "SELECT * { ?i jrpc:hasNumberValue \"15\"^^xsd:decimal, ?n }"]
        {
            assert!(Query::parse(text, None).unwrap().to_portable().ends_with(text));
        }
    }
}
