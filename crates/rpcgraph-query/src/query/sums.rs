//! Sums of times and durations.
//!
//! Oxigraph's optimizer treats `+` as commutative and orders its operands by a hash, while its evaluator adds a duration to
//! a time only if the time comes first. A difference keeps its operands in place, and a time minus a negated duration is
//! their sum.

use oxrdf::vocab::xsd;
use spargebra::Query;
use spargebra::algebra::{Expression, Function};

use super::algebra::{expressions_mut, for_each_mut, operands, operands_mut, pattern_mut};

/// The maximum number of parts of the operands that a rewritten sum repeats: sums of five variables. Longer sums stay as
/// they are, since each further variable triples a sum.
const MAX_REPEATED: usize = 8;
const DURATIONS: [oxrdf::NamedNodeRef<'_>; 3] = [xsd::DURATION, xsd::DAY_TIME_DURATION, xsd::YEAR_MONTH_DURATION];

/// Rewrites the sums that may have a time and a duration as operands, in any order.
pub(super) fn rewrite(query: &mut Query) {
    for_each_mut(pattern_mut(query), &mut |pattern| {
        expressions_mut(pattern).into_iter().for_each(|expression| _ = rewrite_in(expression));
    });
}

/// Rewrites an expression, and returns the number of its parts before.
fn rewrite_in(expression: &mut Expression) -> usize {
    let parts: usize = operands_mut(expression).into_iter().map(rewrite_in).sum();
    if let Expression::Add(left, right) = expression
        && !is_number(left)
        && !is_number(right)
    {
        let minus = |left: &Expression, right: &Expression| {
            Expression::Subtract(Box::new(left.clone()), Box::new(Expression::UnaryMinus(Box::new(right.clone()))))
        };
        if is_duration(right) {
            *expression = minus(left, right);
        } else if is_duration(left) {
            *expression = minus(right, left);
        } else if parts <= MAX_REPEATED {
            let sum = Expression::Add(left.clone(), right.clone());
            *expression = Expression::Coalesce(vec![sum, minus(left, right), minus(right, left)]);
        }
    }
    parts + 1
}

/// Returns true if the value of an expression is a number, if it has one.
fn is_number(expression: &Expression) -> bool {
    match expression {
        Expression::Literal(literal) => !DURATIONS.contains(&literal.datatype()) && !is_time(literal),
        Expression::Multiply(..) | Expression::Divide(..) | Expression::FunctionCall(Function::StrLen, _) => true,
        Expression::Add(..) => operands(expression).into_iter().any(is_number),
        _ => false,
    }
}

fn is_time(literal: &oxrdf::Literal) -> bool {
    [xsd::DATE_TIME, xsd::DATE, xsd::TIME].contains(&literal.datatype())
}

fn is_duration(expression: &Expression) -> bool {
    matches!(expression, Expression::Literal(literal) if DURATIONS.contains(&literal.datatype()))
}

#[cfg(test)]
mod tests {
    use crate::query::{Answer, Cancel, Dataset, Query};

    fn value(expression: &str) -> String {
        let duration = "\"PT5S\"^^xsd:dayTimeDuration";
        let text = format!(
            "SELECT ?value {{ VALUES (?t ?date ?time ?d ?m ?n) {{ (\"2026-01-05T10:00:00Z\"^^xsd:dateTime \"2026-01-05\"^^xsd:date \
             \"10:00:00\"^^xsd:time {duration} \"P1M\"^^xsd:yearMonthDuration 2) }} BIND({} AS ?value) }}",
            expression.replace("FIVE", duration)
        );
        let query = Query::parse(&text, None).unwrap();
        let dataset = Dataset::new(&query, false).unwrap();
        let Answer::Solutions(solutions) = dataset.answer(&query, &Cancel::default()).unwrap() else { panic!() };
        let rows: Vec<_> = solutions.rows.collect::<Result<_, _>>().unwrap();
        rows[0].get("value").map_or("unbound".to_owned(), |value| match value {
            oxrdf::Term::Literal(literal) => literal.value().to_owned(),
            other => other.to_string(),
        })
    }

    #[test]
    fn a_time_and_a_duration_have_a_sum_in_any_order() {
        for (expression, sum) in [
            ("?t + FIVE", "2026-01-05T10:00:05Z"),
            ("FIVE + ?t", "2026-01-05T10:00:05Z"),
            ("?t + ?d", "2026-01-05T10:00:05Z"),
            ("?d + ?t", "2026-01-05T10:00:05Z"),
            ("?d + ?d + ?t", "2026-01-05T10:00:10Z"),
            ("?d + (?d + ?t + ?d)", "2026-01-05T10:00:15Z"),
            ("?d + ?d + ?d + ?d + ?t", "2026-01-05T10:00:20Z"),
            ("?t + (?t - (?t + ?d)) + FIVE", "2026-01-05T10:00:00Z"),
            ("?m + ?t", "2026-02-05T10:00:00Z"),
            ("?date + ?m", "2026-02-05"),
            ("?time + ?d", "10:00:05"),
            ("FIVE + FIVE", "PT10S"),
            ("?d + ?d", "PT10S"),
            ("xsd:dayTimeDuration(\"PT5S\") + xsd:dateTime(\"2026-01-05T10:00:00Z\")", "2026-01-05T10:00:05Z"),
            ("?n + ?n + ?n", "6"),
            ("?n + 1.5", "3.5"),
            ("?n + 1 + ?n", "5"),
            ("?t + ?n", "unbound"),
            ("?t + ?t", "unbound"),
        ] {
            assert_eq!(value(expression), sum, "{expression}");
        }
    }
}
