//! The features that a query uses: triples, graphs, functions, services. They are determined from its algebra, without
//! evaluating it.

use std::collections::BTreeSet;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{NamedNode, Term};
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, Function, GraphPattern, OrderExpression, PropertyPathExpression,
};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};

use super::algebra::{operands, parts};
use super::certain::{OF_RECORDS, SubjectKinds, is_among, merge, subject_kinds};
use super::items::inverse;
use super::scope::certain;
use crate::sink::{Selection, WantedSubject};
use crate::vocab::{jrpc, rpcg};

/// The features that a query uses.
#[derive(Debug, Clone)]
pub(super) struct QueryFeatures {
    /// The triples that can affect the answer.
    pub needs: Selection,
    /// A `GRAPH` pattern.
    pub graphs: bool,
    /// A `SERVICE` pattern.
    pub services: bool,
    /// Patterns for the items of JSON.
    pub items: bool,
    /// The custom functions in the query, each with its number of arguments.
    pub calls: Vec<(NamedNode, usize)>,
    /// The second arguments that are texts but not JSON Pointers.
    pub no_pointers: BTreeSet<String>,
    pub terms: BTreeSet<String>,
    /// The terms that are records, errors of answers or failures in every solution of the current pattern.
    kinds: SubjectKinds,
}

impl QueryFeatures {
    pub fn from_query(query: &spargebra::Query) -> Self {
        let mut uses = Self {
            needs: Selection::nothing(),
            graphs: false,
            services: false,
            items: false,
            calls: Vec::new(),
            no_pointers: BTreeSet::new(),
            terms: BTreeSet::new(),
            kinds: SubjectKinds::new(),
        };
        match query {
            spargebra::Query::Describe { pattern, .. } => {
                uses.pattern(pattern);
                // A description consists of every triple of its subject.
                uses.needs.everything();
            }
            spargebra::Query::Construct { template, pattern, .. } => {
                uses.pattern(pattern);
                for triple in template {
                    uses.named(&triple.predicate);
                    uses.term(&triple.object);
                }
            }
            spargebra::Query::Select { pattern, .. } | spargebra::Query::Ask { pattern, .. } => uses.pattern(pattern),
        }
        uses
    }

    /// Examines a pattern, with the facts known in it.
    fn pattern(&mut self, pattern: &GraphPattern) {
        let before = self.kinds.clone();
        merge(&mut self.kinds, subject_kinds(pattern));
        self.parts(pattern);
        self.kinds = before;
    }

    fn parts(&mut self, pattern: &GraphPattern) {
        match pattern {
            // A subselect may count, so the facts around it do not apply inside.
            GraphPattern::Project { inner, .. } | GraphPattern::Slice { inner, .. } => {
                let around = std::mem::take(&mut self.kinds);
                self.pattern(inner);
                self.kinds = around;
                return;
            }
            GraphPattern::Bgp { patterns } => patterns.iter().for_each(|triple| self.triple(triple)),
            GraphPattern::Path { subject, path, object } => {
                self.term(subject);
                self.term(object);
                self.path(path, self.kind_of(subject));
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                self.parts(left);
                return self.inside(left, |uses| {
                    uses.pattern(right);
                    expression.iter().for_each(|expression| uses.expression(expression));
                });
            }
            GraphPattern::Minus { left, right } => {
                self.parts(left);
                return self.inside(left, |uses| uses.pattern(right));
            }
            GraphPattern::Filter { expr: expression, inner } | GraphPattern::Extend { expression, inner, .. } => {
                self.inside(inner, |uses| uses.expression(expression));
            }
            GraphPattern::Graph { .. } => {
                self.graphs = true;
                // A graph exists even if none of its triples is needed; each graph has its session.
                self.needs.triples(rdf::TYPE.into_owned(), Some(rpcg::SESSION.into_owned().into()));
            }
            GraphPattern::Values { bindings, .. } => bindings.iter().flatten().flatten().for_each(|value| {
                if let GroundTerm::NamedNode(node) = value {
                    self.iri(node);
                }
            }),
            GraphPattern::OrderBy { expression, inner } => {
                self.inside(inner, |uses| {
                    for order in expression {
                        let (OrderExpression::Asc(expression) | OrderExpression::Desc(expression)) = order;
                        uses.expression(expression);
                    }
                });
            }
            GraphPattern::Group { aggregates, inner, .. } => self.inside(inner, |uses| {
                for (_, aggregate) in aggregates {
                    if let AggregateExpression::FunctionCall { name, expr, .. } = aggregate {
                        if let AggregateFunction::Custom(name) = name {
                            uses.calls.push((name.clone(), 1));
                        }
                        uses.expression(expr);
                    }
                }
            }),
            GraphPattern::Service { .. } => self.services = true,
            _ => {}
        }
        for part in parts(pattern) {
            match pattern {
                // The facts about these parts are already facts about the whole pattern.
                GraphPattern::Join { .. }
                | GraphPattern::Lateral { .. }
                | GraphPattern::Filter { .. }
                | GraphPattern::Extend { .. }
                | GraphPattern::Graph { .. } => self.parts(part),
                _ => self.pattern(part),
            }
        }
    }

    fn triple(&mut self, triple: &TriplePattern) {
        self.term(&triple.subject);
        self.term(&triple.object);
        self.named(&triple.predicate);
        let object = match &triple.object {
            // Only IRIs are compared when triples are created; a literal's value may have other spellings.
            TermPattern::NamedNode(node) => Some(Term::from(node.clone())),
            _ => None,
        };
        match &triple.predicate {
            // Computed from triples that another pattern needs.
            NamedNodePattern::NamedNode(predicate) if inverse(predicate.as_ref()).is_some() => self.items = true,
            NamedNodePattern::NamedNode(predicate) => {
                self.needs_of(predicate, object, self.kind_of(&triple.subject));
            }
            NamedNodePattern::Variable(_) => self.needs.everything(),
        }
    }

    /// Returns what is known of a subject.
    fn kind_of(&self, subject: &TermPattern) -> WantedSubject {
        self.kinds.get(subject).copied().unwrap_or(WantedSubject::Any)
    }

    fn needs_of(&mut self, predicate: &NamedNode, object: Option<Term>, subject: WantedSubject) {
        // Other triples of a failure may not follow its class.
        let subject =
            if OF_RECORDS.contains(&predicate.as_ref()) { subject } else { subject.min(WantedSubject::Record) };
        self.needs.triples_of(predicate.clone(), object, subject);
    }

    /// Examines a path with such subjects.
    fn path(&mut self, path: &PropertyPathExpression, of: WantedSubject) {
        match path {
            PropertyPathExpression::NamedNode(predicate) => {
                self.iri(predicate);
                self.items |= inverse(predicate.as_ref()).is_some();
                self.needs_of(predicate, None, of);
            }
            PropertyPathExpression::Reverse(path) | PropertyPathExpression::OneOrMore(path) => {
                self.path(path, WantedSubject::Any);
            }
            PropertyPathExpression::Sequence(left, right) => {
                self.path(left, of);
                let is_error = **left == PropertyPathExpression::NamedNode(jrpc::HAS_ERROR.into_owned());
                self.path(right, if is_error { WantedSubject::Record } else { WantedSubject::Any });
            }
            PropertyPathExpression::Alternative(left, right) => {
                self.path(left, of);
                self.path(right, of);
            }
            // A path of length zero joins every node of the graph with itself.
            PropertyPathExpression::ZeroOrMore(path) | PropertyPathExpression::ZeroOrOne(path) => {
                self.path(path, WantedSubject::Any);
                self.needs.everything();
            }
            PropertyPathExpression::NegatedPropertySet(_) => self.needs.everything(),
        }
    }

    fn iri(&mut self, node: &NamedNode) {
        self.terms.insert(node.as_str().to_owned());
    }

    fn named(&mut self, pattern: &NamedNodePattern) {
        if let NamedNodePattern::NamedNode(node) = pattern {
            self.iri(node);
        }
    }

    fn term(&mut self, pattern: &TermPattern) {
        if let TermPattern::NamedNode(node) = pattern {
            self.iri(node);
        }
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::NamedNode(node) => self.iri(node),
            Expression::FunctionCall(Function::Custom(name), arguments) => {
                self.calls.push((name.clone(), arguments.len()));
                if let Some(Expression::Literal(pointer)) = arguments.get(1)
                    && !pointer.value().is_empty()
                    && pointer.datatype() == xsd::STRING
                    // The second argument of `rpcg:conforms` is JSON.
                    && !pointer.value().starts_with(['/', '{'])
                {
                    self.no_pointers.insert(pointer.value().to_owned());
                }
            }
            Expression::Exists(pattern) => self.pattern(pattern),
            _ => {}
        }
        operands(expression).into_iter().for_each(|operand| self.expression(operand));
    }

    /// Examines an expression over the solutions of a pattern. Only facts about variables bound in all solutions apply.
    fn inside(&mut self, around: &GraphPattern, look: impl FnOnce(&mut Self)) {
        let bound = certain(around);
        let before = self.kinds.clone();
        self.kinds.retain(|term, _| is_among(term, &bound));
        look(self);
        self.kinds = before;
    }
}

#[cfg(test)]
mod tests {
    use oxrdf::NamedNodeRef;

    use super::super::Query;
    use super::*;

    fn uses(text: &str) -> QueryFeatures {
        Query::parse(text, None).unwrap().uses
    }

    fn wants(text: &str, predicate: NamedNodeRef<'_>, object: NamedNodeRef<'_>) -> bool {
        uses(text).needs.wants(predicate, Some(object.as_str()))
    }

    #[test]
    fn a_bound_predicate_needs_its_triples_only() {
        let text = "SELECT ?m { ?r a jrpc:Request ; jrpc:hasMethod ?m FILTER NOT EXISTS { ?a rpcg:respondsTo ?r } }";
        assert!(wants(text, rdf::TYPE, jrpc::REQUEST));
        assert!(!wants(text, rdf::TYPE, jrpc::RESPONSE));
        assert!(wants(text, jrpc::HAS_METHOD, jrpc::REQUEST));
        assert!(wants(text, rpcg::RESPONDS_TO, jrpc::REQUEST));
        assert!(!wants(text, jrpc::HAS_PARAMETERS, jrpc::REQUEST));
    }

    #[test]
    fn open_patterns_need_all_triples() {
        for text in [
            "SELECT * { ?s ?p ?o }",
            "SELECT * { ?s !rdf:type ?o }",
            "SELECT * { ?s rpcg:inBatch* ?o }",
            "SELECT * { ?s rpcg:inBatch? ?o }",
            "DESCRIBE ?s { ?s a jrpc:Request }",
            "SELECT * { ?s a jrpc:Request FILTER EXISTS { ?s ?p 1 } }",
            "SELECT (COUNT(*) AS ?n) { ?s a jrpc:Request { SELECT ?s { ?s ?p 1 } } }",
            "SELECT * { ?s a jrpc:Request } ORDER BY EXISTS { ?s ?p 1 }",
        ] {
            assert!(wants(text, jrpc::HAS_ERROR_DATA, jrpc::REQUEST), "{text}");
        }
    }

    #[test]
    fn paths_need_each_of_their_steps() {
        let text = "SELECT * { ?a rpcg:respondsTo/jrpc:hasMethod|^rpcg:inBatch ?m }";
        for predicate in [rpcg::RESPONDS_TO, jrpc::HAS_METHOD, rpcg::IN_BATCH] {
            assert!(wants(text, predicate, jrpc::REQUEST));
        }
        assert!(!wants(text, rdf::TYPE, jrpc::REQUEST));
    }

    #[test]
    fn a_service_needs_nothing_of_ours() {
        let uses = uses("SELECT * { ?r a jrpc:Request SERVICE <http://example.org/> { ?s ?p ?o } }");
        assert!(uses.services);
        assert!(!uses.needs.wants(jrpc::HAS_METHOD, None));
    }

    #[test]
    fn texts_that_are_no_pointers_are_noticed() {
        let query = "SELECT (rpcg:json(?p, 'a/b') AS ?a) (rpcg:jsonType(?p, '') AS ?t) { ?m jrpc:hasParameters ?p FILTER(rpcg:json(?p, '/c')) }";
        assert_eq!(Query::parse(query, None).unwrap().no_pointers().collect::<Vec<_>>(), ["a/b"]);
    }

    #[test]
    fn unknown_terms_are_noticed() {
        let query = Query::parse("SELECT * { ?r a jrpc:Reqest ; rpcg:sequence ?n ; rpcg:methd ?m }", None).unwrap();
        assert_eq!(query.unknown_terms(), ["jrpc:Reqest", "rpcg:methd"]);
    }
}
