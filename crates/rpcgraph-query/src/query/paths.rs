//! Paths as triples: a choice of two paths is a union of bags, so that a pair of nodes that both connect counts twice
//! ([SPARQL 1.1, 18.4](https://www.w3.org/TR/sparql11-query/#PropertyPathPatterns)). Oxigraph makes a set of it.

use oxrdf::Variable;
use spargebra::Query;
use spargebra::algebra::{GraphPattern, PropertyPathExpression};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use super::algebra::{for_each_mut, pattern_mut};

/// Makes variables for the nodes between the steps of paths.
#[derive(Default)]
pub(super) struct Paths(usize);

/// The pattern with one solution, without values.
pub(super) fn empty() -> GraphPattern {
    GraphPattern::Bgp { patterns: Vec::new() }
}

/// Replaces the paths of a query.
pub(super) fn rewrite(query: &mut Query) {
    let mut paths = Paths::default();
    let pattern = pattern_mut(query);
    name_blanks(pattern);
    for_each_mut(pattern, &mut |pattern| {
        if let GraphPattern::Path { path, .. } = pattern
            && is_divisible(path)
            && let GraphPattern::Path { subject, path, object } = std::mem::replace(pattern, empty())
        {
            *pattern = paths.joined(subject, path, object);
        }
    });
}

/// Replaces blank nodes with variables, which may occur in several basic graph patterns.
pub(super) fn name_blanks(pattern: &mut GraphPattern) {
    for_each_mut(pattern, &mut |pattern| match pattern {
        GraphPattern::Bgp { patterns } => {
            for TriplePattern { subject, object, .. } in patterns {
                [subject, object].into_iter().for_each(name_blank);
            }
        }
        GraphPattern::Path { subject, object, .. } => [subject, object].into_iter().for_each(name_blank),
        _ => {}
    });
}

/// Replaces a blank node with a variable.
pub(super) fn name_blank(term: &mut TermPattern) {
    if let TermPattern::BlankNode(blank) = term {
        *term = TermPattern::Variable(Variable::new_unchecked(format!("blank {}", blank.as_str())));
    }
}

fn is_divisible(path: &PropertyPathExpression) -> bool {
    !matches!(
        path,
        PropertyPathExpression::ZeroOrMore(_)
            | PropertyPathExpression::OneOrMore(_)
            | PropertyPathExpression::ZeroOrOne(_)
            | PropertyPathExpression::NegatedPropertySet(_)
    )
}

impl Paths {
    /// Returns the joins of a path in any order.
    fn joined(&mut self, subject: TermPattern, path: PropertyPathExpression, object: TermPattern) -> GraphPattern {
        self.steps(subject, path, object, &|left, right| GraphPattern::Join { left, right })
    }

    /// Returns the joins of a path from its subject, or from its object.
    pub fn lateral(
        &mut self,
        subject: TermPattern,
        path: PropertyPathExpression,
        object: TermPattern,
        is_backward: bool,
    ) -> GraphPattern {
        self.steps(subject, path, object, &|left, right| match is_backward {
            true => GraphPattern::Lateral { left: right, right: left },
            false => GraphPattern::Lateral { left, right },
        })
    }

    fn steps(
        &mut self,
        subject: TermPattern,
        path: PropertyPathExpression,
        object: TermPattern,
        join: &dyn Fn(Box<GraphPattern>, Box<GraphPattern>) -> GraphPattern,
    ) -> GraphPattern {
        match path {
            PropertyPathExpression::NamedNode(name) => {
                let predicate = NamedNodePattern::NamedNode(name);
                GraphPattern::Bgp { patterns: vec![TriplePattern { subject, predicate, object }] }
            }
            PropertyPathExpression::Reverse(inner) => {
                self.steps(object, *inner, subject, &|left, right| join(right, left))
            }
            PropertyPathExpression::Sequence(first, second) => {
                self.0 += 1;
                let middle = TermPattern::Variable(Variable::new_unchecked(format!("step {}", self.0)));
                let left = self.steps(subject, *first, middle.clone(), join);
                let right = self.steps(middle, *second, object, join);
                join(left.into(), right.into())
            }
            PropertyPathExpression::Alternative(one, other) => GraphPattern::Union {
                left: self.steps(subject.clone(), *one, object.clone(), join).into(),
                right: self.steps(subject, *other, object, join).into(),
            },
            path => GraphPattern::Path { subject, path, object },
        }
    }
}
