//! Queries that can do without most of a payload, because they look only at some of its members.

use std::collections::{BTreeMap, BTreeSet};

use oxrdf::{NamedNode, NamedNodeRef, Variable};
use spargebra::Query;
use spargebra::algebra::{Expression, Function, GraphPattern};

use super::algebra::{expressions, operands, parts};
use super::functions::FUNCTIONS;
use super::lengths::{PAYLOADS, occurrences, values};
use crate::json;

/// The names of members that are looked at, by variable.
type Looks<'q> = BTreeMap<&'q Variable, (usize, BTreeSet<String>)>;

/// Returns the properties of whose values a query sees only some members, with the names of these. A value is bound to a
/// variable, and the variable is used only in functions of JSON with a constant pointer, as in `rpcg:json(?value, "/a/b")`.
pub(super) fn looked_at(query: &Query) -> Vec<(NamedNode, Vec<String>)> {
    let Query::Select { pattern, .. } = query else { return Vec::new() };
    let mut looks = Looks::new();
    in_pattern(pattern, &mut looks);
    let text = query.to_sse();
    if looks.is_empty() || text.contains("(count distinct)") {
        return Vec::new();
    }
    let mut found: BTreeMap<NamedNodeRef<'_>, (usize, BTreeSet<String>)> = BTreeMap::new();
    for (variable, (count, names)) in looks {
        let mut objects = Vec::new();
        // Joined with another value, it would need more than the members.
        let is_single = values(pattern, variable, &mut objects).is_some();
        if is_single && occurrences(&text, &variable.to_string()) == count + objects.len() {
            for property in objects.into_iter().flatten().filter(|property| PAYLOADS.contains(property)) {
                let (bound, members) = found.entry(property).or_default();
                *bound += 1;
                members.extend(names.iter().cloned());
            }
        }
    }
    let is_whole = |property: &NamedNodeRef<'_>, bound| occurrences(&text, &property.to_string()) != bound;
    let found = found.into_iter().filter(|(property, (bound, _))| !is_whole(property, *bound));
    found.map(|(property, (_, names))| (property.into_owned(), names.into_iter().collect())).collect()
}

fn in_pattern<'q>(pattern: &'q GraphPattern, looks: &mut Looks<'q>) {
    expressions(pattern).into_iter().for_each(|expression| in_expression(expression, looks));
    parts(pattern).into_iter().for_each(|part| in_pattern(part, looks));
}

fn in_expression<'q>(expression: &'q Expression, looks: &mut Looks<'q>) {
    if let Expression::FunctionCall(Function::Custom(name), arguments) = expression
        && let [Expression::Variable(variable), Expression::Literal(pointer)] = arguments.as_slice()
        && let Some(first) = pointer.value().strip_prefix('/').and_then(|tokens| tokens.split('/').next())
        && FUNCTIONS.iter().any(|known| known.iri() == *name && known.kind().is_of_text())
    {
        let (count, names) = looks.entry(variable).or_default();
        *count += 1;
        names.insert(json::pointer_name(first).into_owned());
    }
    operands(expression).into_iter().for_each(|operand| in_expression(operand, looks));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;
    use crate::vocab::jrpc;

    #[test]
    fn the_catalogue_reads_few_payloads() {
        use crate::query::catalogue::CATALOGUE;
        let reduced = CATALOGUE.iter().filter(|query| !looks(query.text).is_empty()).map(|query| query.name);
        assert_eq!(reduced.collect::<Vec<_>>(), ["overview", "inputs", "cancelled", "progress"]);
    }

    fn looks(text: &str) -> Vec<(NamedNode, Vec<String>)> {
        looked_at(&Query::parse(text, None).unwrap().algebra)
    }

    #[test]
    fn members_are_enough_where_nothing_else_is_asked_for() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let (params, result) = (jrpc::HAS_PARAMETERS.into_owned(), jrpc::HAS_RESULT.into_owned());
        for (text, expected) in [
            (
                "SELECT ?n { ?m jrpc:hasParameters ?p BIND(rpcg:json(?p, \"/a~1b/c\") AS ?n) }",
                vec![(params.clone(), names(&["a/b"]))],
            ),
            (
                "SELECT (SUM(rpcg:jsonSize(?p, \"/a/*\")) AS ?n) { ?m jrpc:hasParameters|jrpc:hasResult ?p
                 FILTER(rpcg:jsonType(?p, \"/0\") = \"null\") } ORDER BY rpcg:json(?p, \"/a\")",
                vec![(params.clone(), names(&["0", "a"])), (result.clone(), names(&["0", "a"]))],
            ),
            (
                "SELECT ?n ?r { ?m jrpc:hasParameters ?p ; jrpc:hasResult ?r BIND(rpcg:json(?p, \"/a\") AS ?n) }",
                vec![(params, names(&["a"]))],
            ),
            (
                "SELECT ?n { ?m jrpc:hasResult ?p BIND(rpcg:json(?p, \"/a\") AS ?n)
                 { SELECT (MAX(rpcg:json(?p, \"/b\")) AS ?x) { ?m jrpc:hasResult ?p } } }",
                vec![(result, names(&["a", "b"]))],
            ),
        ] {
            assert_eq!(looks(text), expected, "{text}");
        }
        for text in [
            "SELECT * { ?m jrpc:hasResult ?p BIND(rpcg:json(?p, \"/a\") AS ?n) }",
            "SELECT ?n { ?m jrpc:hasResult ?p BIND(rpcg:json(?p, \"\") AS ?n) }",
            "SELECT ?n { ?m jrpc:hasResult ?p BIND(rpcg:json(?p) AS ?n) }",
            "SELECT ?n { ?m jrpc:hasResult ?p VALUES ?x { \"/a\" } BIND(rpcg:json(?p, ?x) AS ?n) }",
            "SELECT ?n { ?m jrpc:hasResult ?p FILTER(BOUND(?p)) BIND(rpcg:json(?p, \"/a\") AS ?n) }",
            "SELECT ?n { ?m jrpc:hasResult ?p ; jrpc:hasParameters ?p BIND(rpcg:json(?p, \"/a\") AS ?n) }",
            "SELECT ?n { ?m jrpc:hasResult ?p BIND(rpcg:json(?p, \"/a\") AS ?n) FILTER EXISTS { ?m jrpc:hasResult 5 } }",
            "SELECT ?n { ?m jrpc:hasResult ?p BIND(rpcg:json(?p, \"/a\") AS ?n) { ?m jrpc:hasResult ?q } }",
            "SELECT (COUNT(DISTINCT *) AS ?c) { ?m jrpc:hasResult ?p BIND(rpcg:json(?p, \"/a\") AS ?n) }",
            "SELECT ?n { ?m jrpc:hasResult ?p BIND(rpcg:json(?p, \"/a\") AS ?n) } GROUP BY ?p ?n",
            "SELECT ?n { ?m rpcg:extraMembers ?p BIND(rpcg:json(?p, \"/a\") AS ?n) }",
            "SELECT ?n { ?m jrpc:hasResult ?p BIND(rpcg:conforms(?p, \"/a\") AS ?n) }",
        ] {
            assert!(looks(text).is_empty(), "{text}");
        }
    }
}
