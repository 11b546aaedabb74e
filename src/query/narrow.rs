//! Data that a query does not need: triples of records that it excludes, and texts of which it needs only the length.

use std::collections::BTreeSet;
use std::sync::Arc;

use oxrdf::vocab::rdf;
use oxrdf::{Literal, NamedNode, NamedNodeRef, Term, Variable};
use spareval::QueryEvaluator;
use spargebra::Query;
use spargebra::algebra::{AggregateExpression, Expression, Function, GraphPattern, PropertyPathExpression};
use spargebra::term::{NamedNodePattern, TermPattern};

use super::algebra::{operands, parts, parts_mut};
use crate::sink::columns::FORESEEN;
use crate::sink::{Condition, ValueTest};
use crate::vocab::{jrpc, rpcg};

/// The properties whose values may be long.
const PAYLOADS: [NamedNodeRef<'_>; 5] =
    [jrpc::HAS_PARAMETERS, jrpc::HAS_RESULT, jrpc::HAS_ERROR_DATA, rpcg::VALUE, rpcg::TEXT];

/// Further properties that only messages have.
const OF_MESSAGES: [NamedNodeRef<'_>; 9] = [
    rpcg::IN_BATCH,
    rpcg::BATCH_INDEX,
    rpcg::RESPONDS_TO,
    rpcg::LATENCY_SECONDS,
    jrpc::HAS_ID,
    jrpc::HAS_PARAMETERS,
    jrpc::HAS_RESULT,
    jrpc::HAS_ERROR,
    rpcg::TOOL_NAME,
];

/// The classes of messages.
const KINDS: [NamedNodeRef<'_>; 6] =
    [jrpc::REQUEST, jrpc::NOTIFICATION, jrpc::RESPONSE, jrpc::ERROR_RESPONSE, rpcg::BATCH, rpcg::INVALID_MESSAGE];

/// The known facts about a variable.
#[derive(Debug, Clone)]
pub(super) enum Known {
    /// A record that meets this condition.
    Record(Condition),
    /// A message, or the error of a message.
    Message,
}

/// The facts that hold in every solution of a pattern.
#[derive(Default)]
struct Certain<'p> {
    /// The variables that have a value.
    bound: BTreeSet<&'p Variable>,
    /// Records with a property that is known before their triples, and its value.
    values: Vec<(&'p Variable, Vec<NamedNode>, &'p TermPattern)>,
    /// The tests that variables pass.
    tests: Vec<(&'p Variable, String, Arc<ValueTest>)>,
    /// Other facts about variables.
    known: Vec<(TermPattern, Known)>,
}

/// Returns the facts about variables and blank nodes in every solution of a pattern.
pub(super) fn certain(pattern: &GraphPattern) -> Vec<(TermPattern, Known)> {
    Certain::of(pattern).known()
}

/// Returns the variables that have a value in every solution of a pattern.
pub(super) fn bound(pattern: &GraphPattern) -> BTreeSet<&Variable> {
    Certain::of(pattern).bound
}

impl<'p> Certain<'p> {
    fn of(pattern: &'p GraphPattern) -> Self {
        let mut certain = Self::default();
        certain.add(pattern);
        certain
    }

    fn add(&mut self, pattern: &'p GraphPattern) {
        match pattern {
            GraphPattern::Bgp { patterns } => patterns.iter().for_each(|triple| {
                let property = match &triple.predicate {
                    NamedNodePattern::NamedNode(property) => Some(vec![property.clone()]),
                    NamedNodePattern::Variable(_) => None,
                };
                self.triple(&triple.subject, property, &triple.object);
            }),
            GraphPattern::Path { subject, path, object } => self.triple(subject, choices(path), object),
            GraphPattern::Values { variables, bindings } => {
                for (column, variable) in variables.iter().enumerate() {
                    let terms = bindings.iter().map(|row| Some(Term::from(row.get(column)?.clone()?)));
                    if let Some(terms) = terms.collect::<Option<Vec<_>>>() {
                        self.tests.push((variable, format!("{terms:?}"), Arc::new(move |term| terms.contains(term))));
                    }
                }
            }
            GraphPattern::Filter { expr, inner } => {
                let mut inside = Certain::of(inner);
                inside.condition(expr);
                self.bound.extend(inside.bound);
                self.values.extend(inside.values);
                self.tests.extend(inside.tests);
                self.known.extend(inside.known);
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

    fn triple(&mut self, subject: &'p TermPattern, properties: Option<Vec<NamedNode>>, object: &'p TermPattern) {
        for term in [subject, object] {
            if let TermPattern::Variable(variable) = term {
                self.bound.insert(variable);
            }
        }
        let Some(properties) = properties else { return };
        if properties.as_slice() == [jrpc::HAS_ERROR] {
            self.known.push((object.clone(), Known::Message));
        }
        let is_kind =
            |class: &TermPattern| matches!(class, TermPattern::NamedNode(class) if KINDS.contains(&class.as_ref()));
        // A record's failure is known before its triples too.
        let is_failure = matches!(object, TermPattern::NamedNode(class) if *class == rpcg::FAILURE);
        let is_known = |property: &NamedNode| FORESEEN.contains(&property.as_ref());
        if properties.iter().all(is_known) || (properties.as_slice() == [rdf::TYPE] && is_failure) {
            if let TermPattern::Variable(subject) = subject {
                self.values.push((subject, properties, object));
            }
        } else if properties.iter().all(|property| OF_MESSAGES.contains(&property.as_ref()))
            || (properties.as_slice() == [rdf::TYPE] && is_kind(object))
        {
            self.known.push((subject.clone(), Known::Message));
        }
    }

    /// Adds a condition of the solutions.
    fn condition(&mut self, condition: &'p Expression) {
        match condition {
            Expression::And(left, right) => {
                self.condition(left);
                self.condition(right);
            }
            Expression::Exists(pattern) => {
                let known = certain(pattern).into_iter().filter(|(term, _)| is_among(term, &self.bound));
                self.known.extend(known.collect::<Vec<_>>());
            }
            condition => {
                let mut variables = BTreeSet::new();
                if is_of_values(condition, &mut variables)
                    && let (Some(variable), None) = (variables.pop_first(), variables.first())
                    && self.bound.contains(variable)
                    && let Some(test) = test(variable, condition)
                {
                    self.tests.push((variable, condition.to_string(), test));
                }
            }
        }
    }

    fn known(self) -> Vec<(TermPattern, Known)> {
        let Self { values, tests, mut known, .. } = self;
        for (record, properties, value) in values {
            let fitting: Vec<_> = match value {
                TermPattern::Variable(value) => tests.iter().filter(|(of, ..)| *of == value).collect(),
                _ => Vec::new(),
            };
            let text = value.to_string() + &fitting.iter().map(|(_, text, _)| text.as_str()).collect::<String>();
            let test: Option<Arc<ValueTest>> = match (value, fitting.as_slice()) {
                (TermPattern::NamedNode(node), _) => Some(is_term(node.clone().into())),
                (TermPattern::Literal(literal), _) => Some(is_term(literal.clone().into())),
                (_, []) => None,
                (_, tests) => {
                    let tests: Vec<_> = tests.iter().map(|(.., test)| Arc::clone(test)).collect();
                    Some(Arc::new(move |term| tests.iter().all(|test| test(term))))
                }
            };
            known.push((record.clone().into(), Known::Record(Condition { properties, test, text })));
        }
        known
    }
}

/// Returns true if a term is one of these variables.
pub(super) fn is_among(term: &TermPattern, variables: &BTreeSet<&Variable>) -> bool {
    matches!(term, TermPattern::Variable(variable) if variables.contains(variable))
}

fn is_term(wanted: Term) -> Arc<ValueTest> {
    Arc::new(move |term| *term == wanted)
}

/// Returns the properties of a path that only chooses between properties.
fn choices(path: &PropertyPathExpression) -> Option<Vec<NamedNode>> {
    match path {
        PropertyPathExpression::NamedNode(property) => Some(vec![property.clone()]),
        PropertyPathExpression::Alternative(left, right) => Some([choices(left)?, choices(right)?].concat()),
        _ => None,
    }
}

/// Returns true if the result of an expression depends only on the values of variables, and collects the variables.
fn is_of_values<'p>(expression: &'p Expression, variables: &mut BTreeSet<&'p Variable>) -> bool {
    match expression {
        Expression::Variable(variable) | Expression::Bound(variable) => {
            variables.insert(variable);
        }
        Expression::Exists(_)
        | Expression::FunctionCall(
            Function::Custom(_)
            | Function::Rand
            | Function::Now
            | Function::Uuid
            | Function::StrUuid
            | Function::BNode
            | Function::Iri,
            _,
        ) => return false,
        _ => {}
    }
    operands(expression).into_iter().all(|operand| is_of_values(operand, variables))
}

/// Returns a condition on one variable as a test.
fn test(variable: &Variable, condition: &Expression) -> Option<Arc<ValueTest>> {
    let inner = Box::new(GraphPattern::Bgp { patterns: Vec::new() });
    let sparopt::algebra::GraphPattern::Filter { expression, .. } =
        (&GraphPattern::Filter { expr: condition.clone(), inner }).into()
    else {
        return None;
    };
    let (evaluator, variable) = (QueryEvaluator::new(), variable.clone());
    let fits = move |term: &Term| {
        evaluator.evaluate_effective_boolean_value_expression(&expression, [(&variable, term.clone())]) == Some(true)
    };
    Some(Arc::new(fits))
}

/// Rewrites a query for columns that hold only the lengths of some properties' values, and returns it with those
/// properties. `None` unless the query uses the values only in `STRLEN(STR(?value))`, in `BIND` or an aggregate.
pub(super) fn sized(query: &Query) -> Option<(Query, Vec<NamedNode>)> {
    let mut sized = query.clone();
    let Query::Select { pattern, .. } = &mut sized else { return None };
    let mut variables = Vec::new();
    shorten(pattern, &mut variables);
    // Every other use of a variable or a property shows in the query's text.
    let text = query.to_sse();
    let occurrences = |word: String| text.split([' ', '(', ')', '\n']).filter(|token| *token == word).count();
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
fn values<'p>(pattern: &'p GraphPattern, variable: &Variable, found: &mut Vec<Vec<NamedNodeRef<'p>>>) -> Option<usize> {
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

/// Returns the properties that a path can end with.
fn last_steps(path: &PropertyPathExpression) -> Option<Vec<NamedNodeRef<'_>>> {
    match path {
        PropertyPathExpression::NamedNode(property) => Some(vec![property.as_ref()]),
        PropertyPathExpression::Sequence(_, last) => last_steps(last),
        PropertyPathExpression::Alternative(left, right) => Some([last_steps(left)?, last_steps(right)?].concat()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;
    use crate::sink::Subjects;

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

    #[test]
    fn conditions_are_those_of_every_solution() {
        // The conditions under which params are wanted, for each use.
        let wanted = |pattern: &str| {
            let query = Query::parse(&format!("SELECT * {{ {pattern} }}"), None).unwrap();
            let uses = query.needs().uses(jrpc::HAS_PARAMETERS).unwrap_or_default();
            let terms = ["a", "b"].map(|text| Term::from(Literal::from(text)));
            let fits = |condition: &Condition| {
                let fits = |term: &&Term| condition.test.as_ref().is_none_or(|test| test(term));
                terms.iter().filter(fits).map(|term| term.to_string().replace('"', "")).collect::<String>()
            };
            let groups = uses.iter().map(|used| match &used.of {
                Subjects::Records(of) => of.iter().map(fits).collect::<Vec<_>>().join("&"),
                Subjects::Any | Subjects::Messages => String::new(),
            });
            groups.collect::<Vec<_>>().join(" ")
        };
        for (pattern, methods) in [
            ("?m jrpc:hasMethod 'a' ; jrpc:hasParameters ?p", "a"),
            ("?m jrpc:hasMethod ?x ; jrpc:hasParameters ?p", "ab"),
            ("?m jrpc:hasMethod 'a' OPTIONAL { ?m jrpc:hasParameters ?p }", "a"),
            ("VALUES ?x { 'a' 'c' } ?m jrpc:hasMethod ?x ; jrpc:hasParameters ?p", "a"),
            ("?m jrpc:hasMethod ?x ; jrpc:hasParameters ?p FILTER(?x IN ('a', 'c') && ?p != 5)", "a"),
            ("?m jrpc:hasMethod ?x ; jrpc:hasParameters ?p FILTER(STRSTARTS(UCASE(?x), 'B'))", "b"),
            ("?m jrpc:hasParameters ?p FILTER EXISTS { ?m jrpc:hasMethod ?x FILTER(?x < 'b') }", "a"),
            ("?m jrpc:hasMethod 'a' FILTER EXISTS { ?m jrpc:hasParameters ?p }", "a"),
            ("?m jrpc:hasMethod 'a' ; jrpc:hasParameters|jrpc:hasResult ?p", "a"),
            (
                "{ ?m jrpc:hasMethod 'a' ; jrpc:hasParameters ?p } UNION { ?m jrpc:hasMethod 'b' ; jrpc:hasParameters ?p }",
                "a b",
            ),
            ("{ ?m jrpc:hasParameters ?p } UNION { ?x jrpc:hasResult ?p } ?m jrpc:hasMethod 'a'", "a"),
            // Without a condition.
            ("?m jrpc:hasParameters ?p OPTIONAL { ?m jrpc:hasMethod 'a' }", ""),
            ("{ ?m jrpc:hasMethod 'a' } UNION { ?m jrpc:hasParameters ?p }", ""),
            ("?m jrpc:hasMethod ?x ; jrpc:hasParameters ?p FILTER(?x = 'a' || ?p = 5)", "ab"),
            ("VALUES ?x { 'a' UNDEF } ?m jrpc:hasMethod ?x ; jrpc:hasParameters ?p", "ab"),
            ("?m jrpc:hasMethod ?x ; jrpc:hasParameters ?p { FILTER(!BOUND(?x)) }", "ab"),
            ("?m jrpc:hasMethod 'a' { SELECT (COUNT(*) AS ?n) { ?m jrpc:hasParameters ?p } }", ""),
            ("?m jrpc:hasMethod 'a' ; jrpc:hasParameters ?p { ?other jrpc:hasParameters ?p }", "a "),
            // Without its triples, a record would look absent here, which changes the answer.
            ("{ OPTIONAL { ?m jrpc:hasParameters ?p } } ?m jrpc:hasMethod 'a'", ""),
            ("OPTIONAL { ?m jrpc:hasParameters ?p } FILTER EXISTS { ?m jrpc:hasMethod 'a' }", ""),
            ("{ ?x a ?y MINUS { ?m jrpc:hasParameters ?p ; rpcg:about ?y } } ?m jrpc:hasMethod 'a'", ""),
        ] {
            assert_eq!(wanted(pattern), methods, "{pattern}");
        }
    }
}
