//! The pieces of a group: triples, paths and patterns, joined in order of their cost.

use std::collections::BTreeSet;

use oxrdf::NamedNode;
use spargebra::algebra::{GraphPattern, PropertyPathExpression};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use super::super::algebra::parts;
use super::super::items::{ELEMENT_OF, MEMBER_OF, VALUE_OF};
use super::compile::{Compiled, Compiler, Uncovered};
use super::plan::{Operator, TermSource, TripleScan};
use super::scope::{Names, in_scope, named};
use crate::sink::columns::TermId;

/// A pattern of a group, or a path between two terms.
enum GroupPiece<'p> {
    Scan(&'p TermPattern, Vec<&'p PropertyPathExpression>, &'p TermPattern),
    Triple(&'p TriplePattern),
    Pattern(&'p GraphPattern),
}

impl Compiler<'_> {
    /// Appends a group.
    pub fn group(&mut self, pattern: &GraphPattern, part: &mut Compiled) -> Result<(), Uncovered> {
        let mut pieces = Vec::new();
        flatten(pattern, &mut pieces);
        self.pieces(pieces, part)
    }

    /// Appends pieces, the cheapest first.
    fn pieces(&mut self, mut pieces: Vec<GroupPiece<'_>>, part: &mut Compiled) -> Result<(), Uncovered> {
        while !pieces.is_empty() {
            let visible = part.visible(self);
            let mut best: Option<(f64, usize)> = None;
            for (place, piece) in pieces.iter().enumerate() {
                let cost = self.cost(piece, &visible, part.operators.is_empty());
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, place));
                }
            }
            match pieces.remove(best.map_or(0, |(_, place)| place)) {
                GroupPiece::Pattern(pattern) => self.join(pattern, part)?,
                GroupPiece::Scan(subject, paths, object) => self.path(subject, &paths, object, part)?,
                GroupPiece::Triple(triple) => match &triple.predicate {
                    NamedNodePattern::NamedNode(name) => {
                        let name = PropertyPathExpression::NamedNode(name.clone());
                        self.path(&triple.subject, &[&name], &triple.object, part)?;
                    }
                    NamedNodePattern::Variable(name) => {
                        let (subject, object) = (self.place(&triple.subject)?, self.place(&triple.object)?);
                        let predicate = self.slot(name);
                        if [subject, object].contains(&TermSource::Slot(predicate)) {
                            return Err(Uncovered);
                        }
                        let predicate = Some(predicate);
                        let columns = (0..self.run.columns.all().len()).collect();
                        self.scan(
                            TripleScan { subject, predicate, object, columns, name: name.to_string(), optional: false },
                            part,
                        );
                    }
                },
            }
            self.ready(part)?;
        }
        Ok(())
    }

    fn scan(&mut self, scan: TripleScan, part: &mut Compiled) {
        scan.slots().for_each(|slot| part.binds(slot));
        part.operators.push(Operator::Scan(scan));
    }

    fn place(&mut self, term: &TermPattern) -> Result<TermSource, Uncovered> {
        Ok(match term {
            TermPattern::Variable(variable) => TermSource::Slot(self.slot(variable)),
            TermPattern::BlankNode(_) => TermSource::Slot(self.slot(&named(term).ok_or(Uncovered)?)),
            TermPattern::NamedNode(node) => TermSource::Known(self.run.id(node.clone().into())),
            TermPattern::Literal(literal) => TermSource::Known(self.run.id(literal.clone().into())),
            #[cfg(feature = "shacl")]
            TermPattern::Triple(_) => return Err(Uncovered),
        })
    }

    /// Appends a path, as a choice between paths.
    fn path(
        &mut self,
        subject: &TermPattern,
        paths: &[&PropertyPathExpression],
        object: &TermPattern,
        part: &mut Compiled,
    ) -> Result<(), Uncovered> {
        let (from, to) = (self.place(subject)?, self.place(object)?);
        self.places(from, paths, to, part)
    }

    fn places(
        &mut self,
        from: TermSource,
        paths: &[&PropertyPathExpression],
        to: TermSource,
        part: &mut Compiled,
    ) -> Result<(), Uncovered> {
        use PropertyPathExpression::{Alternative, NamedNode as Name, Reverse, Sequence};
        let names: Option<Vec<_>> =
            paths.iter().map(|path| if let Name(name) = path { Some(name) } else { None }).collect();
        if let Some(names) = names {
            if let [name] = names.as_slice()
                && let (TermSource::Slot(item), TermSource::Slot(other)) = (from, to)
            {
                let operator = match name.as_ref() {
                    ELEMENT_OF => Some(Operator::Items { json: other, item, members: false }),
                    MEMBER_OF => Some(Operator::Items { json: other, item, members: true }),
                    VALUE_OF => Some(Operator::Same { from: item, to: other }),
                    _ => None,
                };
                if let Some(operator) = operator {
                    part.binds(item);
                    part.binds(other);
                    part.operators.push(operator);
                    return Ok(());
                }
            }
            if names.iter().any(|name| [ELEMENT_OF, MEMBER_OF, VALUE_OF].contains(&name.as_ref())) {
                return Err(Uncovered);
            }
            let mut columns: Vec<usize> = names.iter().filter_map(|name| self.run.columns.place(name)).collect();
            let mut known = BTreeSet::new();
            columns.retain(|column| known.insert(*column));
            let local = |name: &&NamedNode| name.as_str().rsplit(['#', '/']).next().unwrap_or_default().to_owned();
            let name = names.iter().map(local).collect::<Vec<_>>().join("|");
            self.scan(TripleScan { subject: from, predicate: None, object: to, columns, name, optional: false }, part);
            return Ok(());
        }
        match paths {
            [Reverse(inner)] => {
                let mut choices = Vec::new();
                choose(inner, &mut choices);
                self.places(to, &choices, from, part)
            }
            [Sequence(first, second)] => {
                let middle = TermSource::Slot(self.hidden());
                let (mut ahead, mut behind) = (Vec::new(), Vec::new());
                choose(first, &mut ahead);
                choose(second, &mut behind);
                let is_known = |place: TermSource, part: &Compiled| match place {
                    TermSource::Slot(slot) => part.certain.contains(&slot),
                    TermSource::Known(_) => true,
                };
                if is_known(to, part) && !is_known(from, part) {
                    self.places(middle, &behind, to, part)?;
                    self.places(from, &ahead, middle, part)
                } else {
                    self.places(from, &ahead, middle, part)?;
                    self.places(middle, &behind, to, part)
                }
            }
            [Alternative(..)] | [] => Err(Uncovered),
            [_] => Err(Uncovered),
            many => {
                let (mut inners, mut slots) = (Vec::new(), BTreeSet::new());
                for path in many {
                    let mut inside = part.inside();
                    self.places(from, &[path], to, &mut inside)?;
                    slots.extend(inside.possible.iter().copied());
                    inners.push(self.inner(inside));
                }
                let mut end = |place| match place {
                    TermSource::Slot(slot) => slot,
                    TermSource::Known(_) => self.hidden(),
                };
                let ends = [end(from), end(to)];
                part.operators.push(Operator::Alternative(inners, ends));
                for place in [from, to] {
                    if let TermSource::Slot(slot) = place {
                        part.binds(slot);
                    }
                }
                Ok(())
            }
        }
    }

    /// Estimates the number of rows that a piece makes of one row, or of none for the first piece.
    fn cost(&self, piece: &GroupPiece<'_>, visible: &Names, first: bool) -> f64 {
        match piece {
            GroupPiece::Triple(triple) => {
                let is_known = |term: &TermPattern| match named(term) {
                    Some(name) => visible.contains(&name),
                    None => true,
                };
                let name = match &triple.predicate {
                    NamedNodePattern::NamedNode(name) => Some(name),
                    NamedNodePattern::Variable(_) => None,
                };
                self.cost_of(name.into_iter(), (is_known(&triple.subject), is_known(&triple.object)), &triple.object)
            }
            GroupPiece::Scan(subject, paths, object) => {
                let is_known = |term: &TermPattern| named(term).is_none_or(|name| visible.contains(&name));
                let names = paths.iter().flat_map(|path| names_in(path));
                1.5 * self.cost_of(names, (is_known(subject), is_known(object)), object)
            }
            GroupPiece::Pattern(pattern) => {
                let rows = self.rows(pattern);
                let is_connected = !in_scope(pattern).is_disjoint(visible);
                match (first, is_connected) {
                    (true, _) => rows,
                    (false, true) => rows.min(2.0),
                    (false, false) => rows.max(1.0) * 1e3,
                }
            }
        }
    }

    fn cost_of<'n>(
        &self,
        names: impl Iterator<Item = &'n NamedNode>,
        (subject, object): (bool, bool),
        value: &TermPattern,
    ) -> f64 {
        let columns = self.run.columns.all();
        let places: Vec<usize> = names.filter_map(|name| self.run.columns.place(name)).collect();
        let all: usize = places.iter().filter_map(|place| columns.get(*place)).map(|(_, column)| column.len()).sum();
        let all = all as f64;
        match (subject, object) {
            (true, true) => 0.5,
            (true, false) => 1.0,
            (false, true) if named(value).is_some() => 1.2,
            (false, true) => {
                let id = match value {
                    TermPattern::NamedNode(node) => self.run.id(node.clone().into()),
                    TermPattern::Literal(literal) => self.run.id(literal.clone().into()),
                    _ => TermId::UNBOUND,
                };
                let count = |place: &usize| {
                    let count = || columns.get(*place).map_or(0, |(_, column)| column.count(id));
                    *self.counts.borrow_mut().entry((*place, id)).or_insert_with(count)
                };
                places.iter().map(count).sum::<usize>() as f64
            }
            (false, false) => all,
        }
    }

    /// Estimates the number of rows of a pattern.
    fn rows(&self, pattern: &GraphPattern) -> f64 {
        let part = |part: &&GraphPattern| self.rows(part);
        match pattern {
            GraphPattern::Bgp { patterns } => patterns
                .iter()
                .map(|triple| self.cost(&GroupPiece::Triple(triple), &Names::new(), true))
                .fold(f64::INFINITY, f64::min),
            GraphPattern::Path { path, object, .. } => self.cost_of(names_in(path).into_iter(), (false, false), object),
            GraphPattern::Join { .. } => parts(pattern).iter().map(part).fold(f64::INFINITY, f64::min),
            GraphPattern::Union { .. } => parts(pattern).iter().map(part).sum(),
            GraphPattern::Group { inner, variables, .. } => {
                if variables.is_empty() {
                    1.0
                } else {
                    self.rows(inner).sqrt()
                }
            }
            GraphPattern::Slice { inner, length, .. } => {
                self.rows(inner).min(length.map_or(f64::INFINITY, |length| length as f64))
            }
            GraphPattern::Values { bindings, .. } => bindings.len() as f64,
            GraphPattern::Filter { inner, .. } => 0.5 * self.rows(inner),
            _ => parts(pattern).first().map_or(1.0, part),
        }
    }
}

/// Collects the alternatives of a path.
fn choose<'p>(path: &'p PropertyPathExpression, into: &mut Vec<&'p PropertyPathExpression>) {
    match path {
        PropertyPathExpression::Alternative(left, right) => {
            choose(left, into);
            choose(right, into);
        }
        path => into.push(path),
    }
}

/// Returns the properties in a path.
fn names_in(path: &PropertyPathExpression) -> Vec<&NamedNode> {
    use PropertyPathExpression::{Alternative, NamedNode as Name, Reverse, Sequence};
    match path {
        Name(name) => vec![name],
        Reverse(inner) => names_in(inner),
        Sequence(left, right) | Alternative(left, right) => [names_in(left), names_in(right)].concat(),
        _ => Vec::new(),
    }
}

fn flatten<'p>(pattern: &'p GraphPattern, pieces: &mut Vec<GroupPiece<'p>>) {
    match pattern {
        GraphPattern::Join { left, right } => {
            flatten(left, pieces);
            flatten(right, pieces);
        }
        GraphPattern::Bgp { patterns } => pieces.extend(patterns.iter().map(GroupPiece::Triple)),
        GraphPattern::Path { subject, path, object } => {
            let mut paths = Vec::new();
            choose(path, &mut paths);
            pieces.push(GroupPiece::Scan(subject, paths, object));
        }
        pattern => pieces.push(GroupPiece::Pattern(pattern)),
    }
}
