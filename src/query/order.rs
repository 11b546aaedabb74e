//! Rows that are found in the order that is asked for need not be sorted, nor held until the last is there.

use oxrdf::{NamedNodeRef, Variable};
use spargebra::Query;
use spargebra::algebra::{Expression, GraphPattern, OrderExpression};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use crate::vocab::rpcg;

/// The variables that rows are sorted by: a session, a number, and perhaps an index in a batch.
struct Keys<'q> {
    session: &'q Variable,
    number: &'q Variable,
    index: Option<&'q Variable>,
}

/// The query without its sorting: it looks up one after the other what it asks of each numbered record, in their order.
/// `None` where it sorts by anything else than session, number and index of such a record, or does more than that.
pub(super) fn in_record_order(query: &Query) -> Option<Query> {
    let mut query = query.clone();
    let Query::Select { pattern, .. } = &mut query else { return None };
    let mut pattern = pattern;
    while let GraphPattern::Project { inner, .. } | GraphPattern::Slice { inner, .. } = pattern {
        pattern = inner;
    }
    let GraphPattern::OrderBy { inner, expression } = pattern else { return None };
    let keys = expression.iter().map(|key| match key {
        OrderExpression::Asc(Expression::Variable(variable)) => Some(variable),
        _ => None,
    });
    let keys = match keys.collect::<Option<Vec<_>>>()?.as_slice() {
        [session, number] => Keys { session, number, index: None },
        [session, number, index] => Keys { session, number, index: Some(index) },
        _ => return None,
    };
    let mut looked_up = std::mem::replace(&mut **inner, GraphPattern::Bgp { patterns: Vec::new() });
    // Where anything else says what the index is, it need not be that of the record.
    let text = looked_up.to_string();
    let words = || text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '?'));
    if keys.index.is_some_and(|index| words().filter(|word| *word == index.to_string()).count() > 1) {
        return None;
    }
    let (_, has_index) = keys.look_up(&mut looked_up)?;
    (has_index || keys.index.is_none()).then(|| *pattern = looked_up)?;
    Some(query)
}

impl Keys<'_> {
    /// Makes the pattern look-ups for each record. Gives the record, and whether they give the index.
    fn look_up(&self, pattern: &mut GraphPattern) -> Option<(TermPattern, bool)> {
        match pattern {
            GraphPattern::Bgp { patterns } => {
                let number = patterns.iter().position(|triple| is(triple, rpcg::SEQUENCE, self.number))?;
                let first = patterns.remove(number);
                let record = first.subject.clone();
                let is_session = |triple: &TriplePattern| is(triple, rpcg::IN_SESSION, self.session);
                patterns.iter().find(|triple| triple.subject == record && is_session(triple))?;
                let bgp = |triple| GraphPattern::Bgp { patterns: vec![triple] };
                let mut known = vec![record.clone()];
                let mut found = bgp(first);
                while !patterns.is_empty() {
                    // What no record leads to would be sought among all, for each record.
                    let next = patterns.iter().position(|triple| known.contains(&triple.subject))?;
                    let triple = patterns.remove(next);
                    known.push(triple.object.clone());
                    found = GraphPattern::Lateral { left: found.into(), right: bgp(triple).into() };
                }
                *pattern = found;
                Some((record, false))
            }
            GraphPattern::Filter { inner, .. } | GraphPattern::Extend { inner, .. } => self.look_up(inner),
            GraphPattern::LeftJoin { left, right, expression } => {
                let (record, has_index) = self.look_up(left)?;
                let gives_index = match (&**right, expression, self.index) {
                    (GraphPattern::Bgp { patterns }, None, Some(index)) => matches!(patterns.as_slice(),
                        [only] if only.subject == record && is(only, rpcg::BATCH_INDEX, index)),
                    _ => false,
                };
                Some((record, has_index || gives_index))
            }
            _ => None,
        }
    }
}

fn is(triple: &TriplePattern, predicate: NamedNodeRef<'_>, object: &Variable) -> bool {
    triple.predicate == NamedNodePattern::NamedNode(predicate.into_owned())
        && triple.object == TermPattern::Variable(object.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;

    #[test]
    fn only_the_order_of_records_is_one_that_need_not_be_made() {
        let is_found = |text: &str| in_record_order(&Query::parse(text, None).unwrap().algebra).is_some();
        let star = "?m rpcg:inSession ?s ; a ?type ; rpcg:sequence ?n";
        let index = "OPTIONAL { ?m rpcg:batchIndex ?i }";
        for found in [
            format!("SELECT * {{ {star} {index} }} ORDER BY ?s ?n ?i"),
            format!(
                "SELECT ?type {{ {star} {index} OPTIONAL {{ ?m jrpc:hasMethod ?x }} FILTER(?x = 'a') }} ORDER BY ?s ?n ?i LIMIT 3"
            ),
            format!("SELECT * {{ {star} }} ORDER BY ?s ?n"),
        ] {
            assert!(is_found(&found), "{found}");
        }
        for sorted in [
            format!("SELECT * {{ {star} {index} }}"),
            format!("SELECT * {{ {star} {index} }} ORDER BY ?n ?s ?i"),
            format!("SELECT * {{ {star} {index} }} ORDER BY ?s DESC(?n) ?i"),
            format!("SELECT * {{ {star} {index} }} ORDER BY ?s ?n ?i ?type"),
            format!("SELECT * {{ {star} OPTIONAL {{ ?other rpcg:batchIndex ?i }} }} ORDER BY ?s ?n ?i"),
            format!("SELECT * {{ {{ {star} }} UNION {{ {star} }} }} ORDER BY ?s ?n"),
            format!("SELECT DISTINCT * {{ {star} }} ORDER BY ?s ?n"),
            format!("SELECT * {{ {star} OPTIONAL {{ ?x rpcg:inBatch ?i }} {index} }} ORDER BY ?s ?n ?i"),
            format!("SELECT * {{ {star} . ?answer rpcg:respondsTo ?m }} ORDER BY ?s ?n"),
            "SELECT * { ?m rpcg:inSession ?s . ?other rpcg:sequence ?n } ORDER BY ?s ?n".to_owned(),
        ] {
            assert!(!is_found(&sorted), "{sorted}");
        }
    }
}
