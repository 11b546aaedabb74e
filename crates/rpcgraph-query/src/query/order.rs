//! The order of joins, by the columns' counts.
//!
//! Oxigraph orders joins by fixed estimates, but keeps the order of `LATERAL`. So each group of triples and paths becomes
//! a chain of `LATERAL`, the cheapest first, and so does an `OPTIONAL` whose pattern means the same if its variables
//! already have values. A chain is a balanced tree: a query of thousands of triples does not need a deep stack.

use std::collections::{BTreeSet, HashMap};

use oxrdf::{Literal, NamedNode, Term, Variable};
use spargebra::Query;
use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, PropertyPathExpression};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use super::algebra::{operands_mut, parts, pattern_mut};
use super::items;
use super::join::by_hash;
use super::paths::{Paths, empty, name_blanks};
use super::scope::{Names, certain, in_scope, is_safe};
use crate::sink::columns::{Columns, TermId};

/// Orders the joins of a query over columns, whose paths become triples where possible.
pub(super) fn order(query: &mut Query, columns: &Columns) {
    let mut order = JoinOrder { columns, counts: HashMap::new(), paths: Paths::default() };
    let pattern = pattern_mut(query);
    name_blanks(pattern);
    *pattern = order.pattern(std::mem::replace(pattern, empty()), &JoinContext::default());
}

/// The variables around a pattern.
#[derive(Default, Clone)]
struct JoinContext {
    /// The variables that may have a value.
    visible: Names,
    /// The variables that have one.
    certain: Names,
}

impl JoinContext {
    fn after(&self, pattern: &GraphPattern) -> Self {
        Self { visible: &self.visible | &in_scope(pattern), certain: &self.certain | &certain(pattern) }
    }
}

struct JoinOrder<'c> {
    columns: &'c Columns,
    /// The number of triples with an object in a column.
    counts: HashMap<(usize, TermId), usize>,
    paths: Paths,
}

/// A part of a group.
struct JoinInput {
    pattern: PiecePattern,
    /// The estimated rows of the piece alone, and for each value of its subject or object.
    alone: f64,
    by_subject: f64,
    by_object: f64,
}

enum PiecePattern {
    Triple(TriplePattern),
    Path(TermPattern, PropertyPathExpression, TermPattern),
    Other(GraphPattern, Names),
}

/// The cost of a piece as the next one: pieces that share a variable with the pieces before come first, then pieces with few rows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PieceCost {
    is_apart: bool,
    /// The bits of the estimated number of rows, which is not negative: they have its order.
    rows: u64,
}

impl PieceCost {
    fn rows(self) -> f64 {
        f64::from_bits(self.rows)
    }
}

impl PiecePattern {
    /// Returns the variables of the piece.
    fn names(&self) -> Vec<&Variable> {
        match self {
            Self::Triple(triple) => {
                let predicate =
                    if let NamedNodePattern::Variable(name) = &triple.predicate { Some(name) } else { None };
                [variable(&triple.subject), predicate, variable(&triple.object)].into_iter().flatten().collect()
            }
            Self::Path(subject, _, object) => [subject, object].into_iter().filter_map(variable).collect(),
            Self::Other(_, names) => names.iter().collect(),
        }
    }
}

impl JoinOrder<'_> {
    fn pattern(&mut self, pattern: GraphPattern, around: &JoinContext) -> GraphPattern {
        let boxed = |pattern: GraphPattern| Box::new(pattern);
        let pattern = self.without_empty(pattern);
        match pattern {
            GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Join { .. } => {
                let mut pieces = Vec::new();
                self.flatten(pattern, &mut pieces);
                self.group(pieces, around)
            }
            GraphPattern::Lateral { left, right } => {
                let behind = around.after(&left);
                let (left, right) = (self.pattern(*left, around), self.pattern(*right, &behind));
                GraphPattern::Lateral { left: boxed(left), right: boxed(right) }
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                let behind = around.after(&left);
                let both = expression.is_some().then(|| behind.after(&right));
                let expression = expression.map(|expression| self.expression(expression, &both.unwrap_or_default()));
                let left = self.pattern(*left, around);
                if self.is_lateral(&right, &behind) {
                    let right = self.pattern(*right, &behind);
                    let right = GraphPattern::LeftJoin { left: boxed(empty()), right: boxed(right), expression };
                    return GraphPattern::Lateral { left: boxed(left), right: boxed(right) };
                }
                let right = self.pattern(*right, &JoinContext::default());
                GraphPattern::LeftJoin { left: boxed(left), right: boxed(right), expression }
            }
            GraphPattern::Filter { expr, inner } => {
                let expr = self.condition(expr, &inner, around);
                GraphPattern::Filter { expr, inner: boxed(self.pattern(*inner, around)) }
            }
            GraphPattern::Extend { inner, variable, expression } => {
                let expression = self.condition(expression, &inner, around);
                GraphPattern::Extend { inner: boxed(self.pattern(*inner, around)), variable, expression }
            }
            GraphPattern::Union { left, right } => GraphPattern::Union {
                left: boxed(self.pattern(*left, around)),
                right: boxed(self.pattern(*right, around)),
            },
            GraphPattern::Minus { left, right } => GraphPattern::Minus {
                left: boxed(self.pattern(*left, around)),
                right: boxed(self.pattern(*right, &JoinContext::default())),
            },
            GraphPattern::Group { inner, variables, aggregates } => {
                let all = AggregateExpression::CountSolutions { distinct: true };
                // The variables of the steps of paths are not part of a solution.
                let shown = aggregates.iter().any(|(_, aggregate)| *aggregate == all).then(|| in_scope(&inner));
                let mut inner = self.pattern(*inner, &JoinContext::default());
                if let Some(shown) = shown {
                    inner = GraphPattern::Project { inner: boxed(inner), variables: shown.into_iter().collect() };
                }
                GraphPattern::Group { inner: boxed(inner), variables, aggregates }
            }
            GraphPattern::OrderBy { inner, expression } => {
                GraphPattern::OrderBy { inner: boxed(self.pattern(*inner, &JoinContext::default())), expression }
            }
            GraphPattern::Project { inner, variables } => {
                GraphPattern::Project { inner: boxed(self.pattern(*inner, &JoinContext::default())), variables }
            }
            GraphPattern::Distinct { inner } => {
                GraphPattern::Distinct { inner: boxed(self.pattern(*inner, &JoinContext::default())) }
            }
            GraphPattern::Reduced { inner } => {
                GraphPattern::Reduced { inner: boxed(self.pattern(*inner, &JoinContext::default())) }
            }
            GraphPattern::Slice { inner, start, length } => {
                GraphPattern::Slice { inner: boxed(self.pattern(*inner, &JoinContext::default())), start, length }
            }
            GraphPattern::Values { .. } | GraphPattern::Graph { .. } | GraphPattern::Service { .. } => pattern,
        }
    }

    /// Returns a pattern without the operands around it that have no solutions.
    fn without_empty(&mut self, mut pattern: GraphPattern) -> GraphPattern {
        loop {
            pattern = match pattern {
                GraphPattern::LeftJoin { left, right, .. }
                | GraphPattern::Minus { left, right }
                | GraphPattern::Union { left, right }
                    if self.is_empty(&right) =>
                {
                    *left
                }
                GraphPattern::Union { left, right } if self.is_empty(&left) => *right,
                pattern => return pattern,
            }
        }
    }

    /// Orders the joins in the patterns of a condition on the solutions of a pattern.
    fn condition(&mut self, condition: Expression, of: &GraphPattern, around: &JoinContext) -> Expression {
        match has_patterns(&condition) {
            true => {
                let behind = around.after(of);
                self.expression(condition, &behind)
            }
            false => condition,
        }
    }

    fn expression(&mut self, mut expression: Expression, around: &JoinContext) -> Expression {
        if let Expression::Exists(pattern) = &mut expression {
            if self.is_empty(pattern) {
                return Literal::from(false).into();
            }
            **pattern = self.pattern(std::mem::replace(&mut **pattern, empty()), around);
        }
        for operand in operands_mut(&mut expression) {
            if has_patterns(operand) {
                let inner = std::mem::replace(operand, Expression::Coalesce(Vec::new()));
                *operand = self.expression(inner, around);
            }
        }
        expression
    }

    /// Returns true if a pattern may be evaluated for each solution of another, whose variables it shares.
    fn is_lateral(&self, pattern: &GraphPattern, left: &JoinContext) -> bool {
        !in_scope(pattern).is_disjoint(&left.visible) && is_safe(pattern, &left.visible)
    }

    /// Returns true if a pattern has no solutions, since the columns lack a property or an object that it needs. Most logs lack what
    /// many `OPTIONAL`s of the built-in questions ask for.
    fn is_empty(&mut self, pattern: &GraphPattern) -> bool {
        match pattern {
            GraphPattern::Bgp { patterns } => patterns.iter().any(|TriplePattern { predicate, object, .. }| {
                let NamedNodePattern::NamedNode(name) = predicate else { return false };
                !items::is_virtual(name) && self.costs(Some(vec![name]), object)[1] == 0.0
            }),
            GraphPattern::Path { path, object, .. } => {
                names_in(path).is_some_and(|names| self.costs(Some(names), object)[0] == 0.0)
            }
            GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => {
                self.is_empty(left) || self.is_empty(right)
            }
            // The last pattern first: unions of many are nested to the left.
            GraphPattern::Union { left, right } => self.is_empty(right) && self.is_empty(left),
            GraphPattern::LeftJoin { left, .. } | GraphPattern::Minus { left, .. } => self.is_empty(left),
            GraphPattern::Filter { inner, .. }
            | GraphPattern::Extend { inner, .. }
            | GraphPattern::OrderBy { inner, .. }
            | GraphPattern::Project { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. } => self.is_empty(inner),
            GraphPattern::Group { inner, variables, .. } => !variables.is_empty() && self.is_empty(inner),
            GraphPattern::Values { bindings, .. } => bindings.is_empty(),
            GraphPattern::Graph { .. } | GraphPattern::Service { .. } => false,
        }
    }

    fn flatten(&mut self, pattern: GraphPattern, pieces: &mut Vec<JoinInput>) {
        match self.without_empty(pattern) {
            GraphPattern::Join { left, right } => {
                self.flatten(*left, pieces);
                self.flatten(*right, pieces);
            }
            GraphPattern::Bgp { patterns } => {
                for triple in patterns {
                    let names =
                        if let NamedNodePattern::NamedNode(name) = &triple.predicate { Some(name) } else { None };
                    let [alone, by_object] = self.costs(names.map(|name| vec![name]), &triple.object);
                    pieces.push(JoinInput { pattern: PiecePattern::Triple(triple), alone, by_subject: 1.0, by_object });
                }
            }
            GraphPattern::Path { subject, path, object } => {
                let [alone, by_object] = self.costs(names_in(&path), &object);
                let pattern = PiecePattern::Path(subject, path, object);
                pieces.push(JoinInput { pattern, alone: 1.5 * alone, by_subject: 1.5, by_object: 1.5 * by_object });
            }
            pattern => {
                let (rows, names) = (self.rows(&pattern), in_scope(&pattern));
                let near = rows.min(2.0);
                let pattern = PiecePattern::Other(pattern, names);
                pieces.push(JoinInput { pattern, alone: rows, by_subject: near, by_object: near });
            }
        }
    }

    /// Joins pieces: first the cheapest, then the cheapest of those that share a variable with the pieces before.
    fn group(&mut self, pieces: Vec<JoinInput>, around: &JoinContext) -> GraphPattern {
        let mut left: Vec<Option<JoinInput>> = pieces.into_iter().map(Some).collect();
        let mut known = around.clone();
        let mut by_name: HashMap<Variable, Vec<usize>> = HashMap::new();
        for (place, piece) in left.iter().enumerate() {
            for name in piece.iter().flat_map(|piece| piece.pattern.names()) {
                by_name.entry(name.clone()).or_default().push(place);
            }
        }
        // Costs change only for pieces with a variable that the piece before was the first to have.
        let mut costs: Vec<PieceCost> = left.iter().flatten().map(|piece| self.piece_cost(piece, &known)).collect();
        let mut queue: BTreeSet<(PieceCost, usize)> = costs.iter().copied().zip(0..).collect();
        let mut joined: Option<GraphPattern> = None;
        let mut chain: Vec<GraphPattern> = Vec::new();
        let mut rows = 1.0;
        while let Some((cost, place)) = queue.pop_first() {
            let Some(piece) = left[place].take() else { break };
            if cost.is_apart && rows > 1.0 {
                // A pattern that shares no variable is evaluated once, not for each row.
                joined = merged(joined, std::mem::take(&mut chain));
            }
            rows *= cost.rows();
            let names: Names = piece.pattern.names().into_iter().cloned().collect();
            let changed: Vec<_> = names.difference(&known.visible).cloned().collect();
            match piece.pattern {
                PiecePattern::Triple(triple) => {
                    known.certain.extend(names.iter().cloned());
                    chain.push(GraphPattern::Bgp { patterns: vec![triple] });
                }
                PiecePattern::Path(subject, path, object) => {
                    let is_known = |term: &TermPattern| variable(term).is_none_or(|name| known.certain.contains(name));
                    let is_backward = !is_known(&subject) && is_known(&object);
                    known.certain.extend(names.iter().cloned());
                    chain.push(self.paths.lateral(subject, path, object, is_backward));
                }
                PiecePattern::Other(pattern, _) => {
                    let of_pattern = certain(&pattern);
                    if self.is_lateral(&pattern, &known) {
                        chain.push(self.pattern(pattern, &known));
                    } else {
                        let pattern = self.pattern(pattern, &JoinContext::default());
                        let before = merged(joined, std::mem::take(&mut chain));
                        joined = Some(match before {
                            Some(before) => by_hash(before, pattern),
                            None => pattern,
                        });
                    }
                    known.certain.extend(of_pattern);
                }
            }
            known.visible.extend(names);
            for other in changed.iter().filter_map(|name| by_name.get(name)).flatten() {
                if let Some(piece) = &left[*other] {
                    let cost = self.piece_cost(piece, &known);
                    queue.remove(&(std::mem::replace(&mut costs[*other], cost), *other));
                    queue.insert((cost, *other));
                }
            }
        }
        merged(joined, chain).unwrap_or_else(empty)
    }

    fn piece_cost(&self, piece: &JoinInput, known: &JoinContext) -> PieceCost {
        let names = piece.pattern.names();
        // Most variables that may have a value have one.
        let rows = self.cost(piece, &known.visible);
        // A triple that occurs once at most multiplies nothing, and leads to the others.
        let is_single = matches!(piece.pattern, PiecePattern::Triple(_)) && rows <= 1.0;
        let is_apart = !is_single && !names.is_empty() && names.iter().all(|name| !known.visible.contains(*name));
        PieceCost { is_apart, rows: rows.to_bits() }
    }

    /// Estimates the number of rows that a piece makes of a row in which these variables have values.
    fn cost(&self, piece: &JoinInput, known: &Names) -> f64 {
        let is_known = |term: &TermPattern| variable(term).is_none_or(|name| known.contains(name));
        let (subject, object) = match &piece.pattern {
            PiecePattern::Triple(triple) => (is_known(&triple.subject), is_known(&triple.object)),
            PiecePattern::Path(subject, _, object) => (is_known(subject), is_known(object)),
            PiecePattern::Other(_, names) => {
                let is_near = names.iter().any(|name| known.contains(name));
                (is_near, is_near)
            }
        };
        match (subject, object) {
            (true, true) => piece.by_subject.min(piece.by_object).min(1.0) / 2.0,
            (true, false) => piece.by_subject,
            (false, true) => piece.by_object,
            (false, false) => piece.alone,
        }
    }

    /// Estimates the rows of a choice of properties, or of all: alone, and for each value of the object.
    fn costs(&mut self, names: Option<Vec<&NamedNode>>, object: &TermPattern) -> [f64; 2] {
        let places: Vec<usize> = match names {
            Some(names) => names.into_iter().filter_map(|name| self.columns.column_index(name)).collect(),
            None => (0..self.columns.all().len()).collect(),
        };
        let all = self.columns.all();
        let columns = || places.iter().filter_map(|place| Some((*place, &all.get(*place)?.1)));
        let alone: usize = columns().map(|(_, column)| column.len()).sum();
        let term = match object {
            TermPattern::NamedNode(node) => Some(Term::from(node.clone())),
            TermPattern::Literal(literal) => Some(literal.clone().into()),
            _ => None,
        };
        let by_object = match term.map(|term| self.columns.find(&term)) {
            None => columns().map(|(_, column)| column.by_object_rows()).sum(),
            Some(None) => 0.0,
            Some(Some(id)) => {
                let counts = &mut self.counts;
                let count =
                    columns().map(|(place, column)| *counts.entry((place, id)).or_insert_with(|| column.count(id)));
                count.sum::<usize>() as f64
            }
        };
        [alone as f64, by_object]
    }

    /// Estimates the number of rows of a pattern.
    fn rows(&mut self, pattern: &GraphPattern) -> f64 {
        match pattern {
            GraphPattern::Bgp { patterns } => patterns.iter().fold(f64::INFINITY, |least, triple| {
                let names = if let NamedNodePattern::NamedNode(name) = &triple.predicate { Some(name) } else { None };
                let [alone, by_object] = self.costs(names.map(|name| vec![name]), &triple.object);
                least.min(if variable(&triple.object).is_some() { alone } else { by_object })
            }),
            GraphPattern::Path { path, object, .. } => self.costs(names_in(path), object)[0],
            GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => {
                self.rows(left).min(self.rows(right))
            }
            GraphPattern::Union { left, right } => self.rows(left) + self.rows(right),
            GraphPattern::Group { inner, variables, .. } => match variables.is_empty() {
                true => 1.0,
                false => self.rows(inner).sqrt(),
            },
            GraphPattern::Slice { inner, length, .. } => {
                self.rows(inner).min(length.map_or(f64::INFINITY, |length| length as f64))
            }
            GraphPattern::Values { bindings, .. } => bindings.len() as f64,
            GraphPattern::Filter { inner, .. } => 0.5 * self.rows(inner),
            _ => parts(pattern).first().map_or(1.0, |part| self.rows(part)),
        }
    }
}

fn variable(term: &TermPattern) -> Option<&Variable> {
    if let TermPattern::Variable(variable) = term { Some(variable) } else { None }
}

/// Joins what comes before with a chain: for each of its rows, if the chain needs its values.
fn merged(before: Option<GraphPattern>, chain: Vec<GraphPattern>) -> Option<GraphPattern> {
    match before {
        _ if chain.is_empty() => before,
        None => Some(balanced(chain)),
        Some(before) => {
            let of_chain: Names = chain.iter().flat_map(in_scope).collect();
            let is_apart = in_scope(&before).is_disjoint(&of_chain);
            let (left, right) = (Box::new(before), Box::new(balanced(chain)));
            Some(if is_apart { GraphPattern::Join { left, right } } else { GraphPattern::Lateral { left, right } })
        }
    }
}

/// Returns a chain of patterns as a balanced tree.
fn balanced(mut chain: Vec<GraphPattern>) -> GraphPattern {
    if chain.len() < 2 {
        return chain.pop().unwrap_or_else(empty);
    }
    let right = chain.split_off(chain.len() / 2);
    GraphPattern::Lateral { left: Box::new(balanced(chain)), right: Box::new(balanced(right)) }
}

/// Returns true if an ordered pattern has neither joins nor conditions, so that Oxigraph's optimizer has nothing to change.
/// It takes a time that is quadratic in the number of triples, since it infers the types of all variables at each.
pub(super) fn is_settled(pattern: &GraphPattern) -> bool {
    match pattern {
        GraphPattern::Bgp { patterns } => patterns.len() < 2,
        GraphPattern::Join { .. }
        | GraphPattern::LeftJoin { .. }
        | GraphPattern::Minus { .. }
        | GraphPattern::Filter { .. }
        | GraphPattern::Graph { .. }
        | GraphPattern::Service { .. } => false,
        GraphPattern::Extend { expression, .. } if has_patterns(expression) => false,
        _ => parts(pattern).into_iter().all(is_settled),
    }
}

/// Returns true if an expression contains patterns.
fn has_patterns(expression: &Expression) -> bool {
    matches!(expression, Expression::Exists(_)) || super::algebra::operands(expression).into_iter().any(has_patterns)
}

/// Returns the properties in a path; `None` if it may be any.
fn names_in(path: &PropertyPathExpression) -> Option<Vec<&NamedNode>> {
    use PropertyPathExpression::{Alternative, NamedNode as Name, OneOrMore, Reverse, Sequence};
    match path {
        Name(name) => Some(vec![name]),
        Reverse(inner) | OneOrMore(inner) => names_in(inner),
        Sequence(left, right) | Alternative(left, right) => Some([names_in(left)?, names_in(right)?].concat()),
        _ => None,
    }
}

/// Returns the order of a query's joins, as lines: a chain of patterns stands one below the other.
pub(super) fn plan(query: &mut Query) -> String {
    let mut lines = String::new();
    write_plan(pattern_mut(query), 0, &mut lines);
    lines
}

fn write_plan(pattern: &GraphPattern, depth: usize, lines: &mut String) {
    let name: &str = match pattern {
        GraphPattern::Lateral { left, right } => {
            write_plan(left, depth, lines);
            return write_plan(right, depth, lines);
        }
        GraphPattern::Bgp { patterns } => {
            let triples: Vec<String> = patterns.iter().map(TriplePattern::to_string).collect();
            if triples.is_empty() { return } else { &format!("find {}", triples.join(" . ")) }
        }
        GraphPattern::Path { .. } | GraphPattern::Values { .. } => &pattern.to_string(),
        GraphPattern::Join { .. } => "join",
        GraphPattern::LeftJoin { .. } => "optional",
        GraphPattern::Filter { .. } => "filter",
        GraphPattern::Union { .. } => "union",
        GraphPattern::Minus { .. } => "minus",
        GraphPattern::Extend { variable, .. } => &format!("bind {variable}"),
        GraphPattern::Group { variables, .. } => &format!("group {}", listed(variables)),
        GraphPattern::OrderBy { .. } => "sort",
        GraphPattern::Project { variables, .. } => &format!("select {}", listed(variables)),
        GraphPattern::Distinct { .. } | GraphPattern::Reduced { .. } => "distinct",
        GraphPattern::Slice { .. } => "limit",
        GraphPattern::Graph { .. } | GraphPattern::Service { .. } => "elsewhere",
    };
    lines.push_str(&format!("{:indent$}{}\n", "", name.trim(), indent = 2 * depth));
    parts(pattern).into_iter().for_each(|part| write_plan(part, depth + 1, lines));
}

fn listed(variables: &[Variable]) -> String {
    variables.iter().map(Variable::to_string).collect::<Vec<_>>().join(" ")
}
