//! Sort keys: every `ORDER BY` sorts by one total order over all terms.
//!
//! Oxigraph compares numbers by value, but a number with any other literal as text. Together, this is not an order (9 <
//! 10 < "1x" < 9), and the sort of Rust's library panics. So a key is computed once for each row, as a term that
//! Oxigraph compares with all other keys consistently:
//!
//! | term | key |
//! |---|---|
//! | blank node, IRI | a blank node: blank nodes sort first |
//! | text, and other literals that are not numbers | an IRI |
//! | number; time and duration in seconds | a numeric literal |

use std::mem;
use std::str::FromStr as _;

use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, Literal, NamedNode, NamedNodeRef, Term, Variable};
use oxsdatatypes::{DayTimeDuration, Decimal, Double};
use spargebra::Query;
use spargebra::algebra::{Expression, Function, GraphPattern, OrderExpression};

use super::algebra::{for_each_mut, pattern_mut};
use super::times::moment;

/// The function that computes a key. Its name contains a space, so that queries cannot call it.
pub(super) const SORT_KEY: NamedNodeRef<'static> = NamedNodeRef::new_unchecked("sort key");

/// Replaces the sort expressions of a query with keys.
pub(super) fn rewrite(query: &mut Query) {
    let mut keys = 0;
    for_each_mut(pattern_mut(query), &mut |pattern| {
        let GraphPattern::OrderBy { inner, expression } = pattern else { return };
        for OrderExpression::Asc(by) | OrderExpression::Desc(by) in expression {
            let variable = Variable::new_unchecked(format!("key {keys}"));
            keys += 1;
            let by = mem::replace(by, Expression::Variable(variable.clone()));
            let unsorted = mem::replace(&mut **inner, GraphPattern::Bgp { patterns: Vec::new() });
            let expression = Expression::FunctionCall(Function::Custom(SORT_KEY.into_owned()), vec![by]);
            **inner = GraphPattern::Extend { inner: unsorted.into(), variable, expression };
        }
    });
}

/// Returns the key of a term.
pub(super) fn sort_key(term: &Term) -> Option<Term> {
    Some(match term {
        Term::BlankNode(node) => BlankNode::new_unchecked(format!("0{}", node.as_str())).into(),
        Term::NamedNode(node) => BlankNode::new_unchecked(format!("1{}", node.as_str())).into(),
        Term::Literal(literal) => number(literal).map_or_else(
            || {
                let (text, datatype) = (literal.value(), literal.datatype().as_str());
                let language = literal.language().unwrap_or_default();
                NamedNode::new_unchecked(format!("{text}\0{datatype}\0{language}")).into()
            },
            Term::from,
        ),
        #[cfg(feature = "shacl")]
        Term::Triple(_) => return None,
    })
}

/// Returns the number by which a literal is sorted. Only numbers beyond the range of decimals are doubles, so all are
/// compared exactly.
fn number(literal: &Literal) -> Option<Literal> {
    let text = literal.value();
    let decimal = match literal.datatype() {
        xsd::DATE_TIME | xsd::TIME => moment(literal)?.1,
        xsd::DURATION | xsd::DAY_TIME_DURATION => DayTimeDuration::from_str(text).ok()?.as_seconds(),
        xsd::DOUBLE | xsd::FLOAT => match Decimal::try_from(Double::from_str(text).ok()?) {
            Ok(decimal) => decimal,
            Err(_) => return beyond(text),
        },
        datatype if is_exact(datatype) => match Decimal::from_str(text) {
            Ok(_) if datatype == xsd::DECIMAL => return Some(literal.clone()),
            Ok(decimal) => decimal,
            Err(_) => return beyond(text),
        },
        _ => return None,
    };
    Some(Literal::new_typed_literal(decimal.to_string(), xsd::DECIMAL))
}

fn beyond(text: &str) -> Option<Literal> {
    Double::from_str(text).ok().filter(|number| !number.is_nan()).map(|number| f64::from(number).into())
}

/// Returns true if a datatype is `xsd:decimal` or derived from it.
fn is_exact(datatype: NamedNodeRef<'_>) -> bool {
    [
        xsd::INTEGER,
        xsd::DECIMAL,
        xsd::LONG,
        xsd::INT,
        xsd::SHORT,
        xsd::BYTE,
        xsd::UNSIGNED_LONG,
        xsd::UNSIGNED_INT,
        xsd::UNSIGNED_SHORT,
        xsd::UNSIGNED_BYTE,
        xsd::NON_NEGATIVE_INTEGER,
        xsd::NON_POSITIVE_INTEGER,
        xsd::POSITIVE_INTEGER,
        xsd::NEGATIVE_INTEGER,
    ]
    .contains(&datatype)
}
