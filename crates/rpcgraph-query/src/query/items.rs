//! Elements of arrays and members of objects as patterns: `?json rpcg:element ?item`, `?json rpcg:member ?pair`.
//!
//! These patterns do not match triples. Their subject is a literal that another part of the query binds. So each
//! pattern is removed from its basic graph pattern and becomes a look-up for every solution of its surroundings,
//! `LATERAL` in the algebra:
//!
//! ```text
//! ?item-0 elements-of ?json . ?item-0 value-of ?item
//! ```
//!
//! The dataset ([`Columnar`](super::columnar)) provides the node in between, since the optimizer does not allow a
//! literal as a subject.

use oxrdf::{NamedNode, NamedNodeRef, Variable};
use spargebra::Query;
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use super::algebra::pattern_mut;
use super::paths::name_blank;
use super::scope::{Names, in_scope};
use crate::vocab::rpcg;

/// The properties of a node that stands for an item. They contain a space, so that they cannot clash with other
/// properties.
pub(super) const ELEMENT_OF: NamedNodeRef<'static> = NamedNodeRef::new_unchecked("element of");
pub(super) const MEMBER_OF: NamedNodeRef<'static> = NamedNodeRef::new_unchecked("member of");
pub(super) const VALUE_OF: NamedNodeRef<'static> = NamedNodeRef::new_unchecked("value of");

/// Returns true for a property whose triples are not in the data.
pub(super) fn is_virtual(name: &NamedNode) -> bool {
    [ELEMENT_OF, MEMBER_OF, VALUE_OF].contains(&name.as_ref())
}

/// Returns the property from an item back to its literal.
pub(super) fn inverse(predicate: NamedNodeRef<'_>) -> Option<NamedNodeRef<'static>> {
    match predicate {
        rpcg::ELEMENT => Some(ELEMENT_OF),
        rpcg::MEMBER => Some(MEMBER_OF),
        _ => None,
    }
}

/// Rewrites the patterns of a query that access items.
///
/// # Errors
///
/// A message for the user.
pub(super) fn rewrite(query: &mut Query) -> Result<(), String> {
    let pattern = pattern_mut(query);
    let mut rewriter = Rewriter::default();
    let open = rewriter.pattern(pattern)?;
    bound(open)
}

/// Fails if the source of items is not bound.
fn bound(open: Names) -> Result<(), String> {
    match open.into_iter().next() {
        None => Ok(()),
        Some(variable) => Err(format!(
            "nothing gives {variable}, whose rpcg:element or rpcg:member the query asks for: bind it to JSON in the same group \
             or around it, with a pattern such as ?message jrpc:hasResult {variable}, or with BIND(rpcg:json(…) AS {variable})"
        )),
    }
}

#[derive(Default)]
struct Rewriter {
    items: usize,
}

impl Rewriter {
    /// Rewrites a pattern. Returns the variables whose items it accesses but which it does not bind.
    fn pattern(&mut self, pattern: &mut GraphPattern) -> Result<Names, String> {
        Ok(match pattern {
            GraphPattern::Bgp { patterns } => {
                let triples = std::mem::take(patterns);
                let (rewritten, open) = self.triples(triples)?;
                *pattern = rewritten;
                open
            }
            GraphPattern::Path { subject, object, .. } => {
                [subject, object].into_iter().for_each(name_blank);
                Names::new()
            }
            GraphPattern::Join { left, right } => {
                let (of_left, of_right) = (self.pattern(left)?, self.pattern(right)?);
                if open(&of_left, right).len() < of_left.len() {
                    std::mem::swap(left, right);
                    lateral(pattern, &of_right, &of_left)
                } else {
                    lateral(pattern, &of_left, &of_right)
                }
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                let of_left = self.pattern(left)?;
                let mut of_right = self.pattern(right)?;
                if let Some(expression) = expression {
                    of_right.extend(open(&self.expression(expression)?, right));
                }
                lateral(pattern, &of_left, &of_right)
            }
            GraphPattern::Lateral { left, right } => {
                let (of_left, of_right) = (self.pattern(left)?, self.pattern(right)?);
                lateral(pattern, &of_left, &of_right)
            }
            GraphPattern::Union { left, right } => &self.pattern(left)? | &self.pattern(right)?,
            GraphPattern::Minus { left, right } => {
                bound(self.pattern(right)?)?;
                self.pattern(left)?
            }
            GraphPattern::Filter { expr: expression, inner } | GraphPattern::Extend { inner, expression, .. } => {
                let of_expression = self.expression(expression)?;
                &self.pattern(inner)? | &open(&of_expression, inner)
            }
            GraphPattern::Project { inner, .. } => {
                bound(self.pattern(inner)?)?;
                Names::new()
            }
            GraphPattern::OrderBy { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. }
            | GraphPattern::Group { inner, .. }
            | GraphPattern::Graph { inner, .. } => self.pattern(inner)?,
            GraphPattern::Values { .. } | GraphPattern::Service { .. } => Names::new(),
        })
    }

    /// Rewrites the patterns in a condition. They see the variables around the condition.
    fn expression(&mut self, expression: &mut Expression) -> Result<Names, String> {
        Ok(match expression {
            Expression::Exists(pattern) => self.pattern(pattern)?,
            Expression::Not(inner) => self.expression(inner)?,
            Expression::And(left, right) | Expression::Or(left, right) => {
                &self.expression(left)? | &self.expression(right)?
            }
            // Items accessed anywhere else are found when the rewritten query is checked.
            _ => Names::new(),
        })
    }

    fn triples(&mut self, mut triples: Vec<TriplePattern>) -> Result<(GraphPattern, Names), String> {
        for TriplePattern { subject, object, .. } in &mut triples {
            [subject, object].into_iter().for_each(name_blank);
        }
        let (mut items, patterns): (Vec<_>, Vec<_>) =
            triples.into_iter().partition(|triple| of_items(triple).is_some());
        let mut pattern = GraphPattern::Bgp { patterns };
        let mut missing = Names::new();
        while !items.is_empty() {
            let known = in_scope(&pattern);
            let is_bound =
                |triple: &TriplePattern| matches!(&triple.subject, TermPattern::Variable(json) if known.contains(json));
            let TriplePattern { subject, predicate, object } =
                items.remove(items.iter().position(is_bound).unwrap_or_default());
            let (TermPattern::Variable(json), NamedNodePattern::NamedNode(property)) = (&subject, &predicate) else {
                return Err(format!(
                    "{subject} is not JSON: the subject of rpcg:element and rpcg:member is a variable"
                ));
            };
            if !known.contains(json) {
                missing.insert(json.clone());
            }
            let node = TermPattern::Variable(Variable::new_unchecked(format!("item {}", self.items)));
            self.items += 1;
            let triple = |predicate: NamedNodeRef<'_>, object| GraphPattern::Bgp {
                patterns: vec![TriplePattern {
                    subject: node.clone(),
                    predicate: NamedNode::from(predicate).into(),
                    object,
                }],
            };
            let inverse = inverse(property.as_ref()).unwrap_or(ELEMENT_OF);
            for right in [triple(inverse, subject.clone()), triple(VALUE_OF, object)] {
                pattern = GraphPattern::Lateral { left: Box::new(pattern), right: Box::new(right) };
            }
        }
        Ok((pattern, missing))
    }
}

/// Returns the property of a triple that accesses items.
fn of_items(triple: &TriplePattern) -> Option<NamedNodeRef<'static>> {
    match &triple.predicate {
        NamedNodePattern::NamedNode(predicate) => inverse(predicate.as_ref()),
        NamedNodePattern::Variable(_) => None,
    }
}

/// Returns the wanted variables that a pattern does not bind.
fn open(wanted: &Names, pattern: &GraphPattern) -> Names {
    if wanted.is_empty() { Names::new() } else { wanted - &in_scope(pattern) }
}

/// Allows the right side of a join to see the solutions of the left side, if it accesses their items. Returns the
/// variables that are still unbound.
fn lateral(pattern: &mut GraphPattern, of_left: &Names, of_right: &Names) -> Names {
    let (GraphPattern::Join { left, .. } | GraphPattern::LeftJoin { left, .. } | GraphPattern::Lateral { left, .. }) =
        &mut *pattern
    else {
        return of_left | of_right;
    };
    let still = open(of_right, left);
    if still.len() < of_right.len() && !matches!(pattern, GraphPattern::Lateral { .. }) {
        let nothing = || GraphPattern::Bgp { patterns: Vec::new() };
        *pattern = match std::mem::replace(pattern, nothing()) {
            GraphPattern::Join { left, right } => GraphPattern::Lateral { left, right },
            GraphPattern::LeftJoin { left, right, expression } => GraphPattern::Lateral {
                left,
                right: Box::new(GraphPattern::LeftJoin { left: Box::new(nothing()), right, expression }),
            },
            other => other,
        };
    }
    of_left | &still
}
