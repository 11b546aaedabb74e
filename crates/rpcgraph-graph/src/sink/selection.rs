//! Selections of triples: all, or by predicate.

use std::fmt;
use std::sync::Arc;

use oxrdf::{NamedNode, NamedNodeRef, Term, TermRef};

use crate::session::triples::ObjectRef;

/// A selection of triples by predicate, and by object if the object is an IRI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// `None` selects every triple.
    predicates: Option<Vec<WantedPredicate>>,
    /// The functions whose values are wanted of some objects.
    functions: Option<Arc<dyn LiteralFunctions>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct WantedPredicate {
    predicate: NamedNode,
    uses: Vec<PredicateUse>,
    extent: WantedExtent,
}

/// The IRI of a function, and its constant argument.
pub type FunctionName = (String, String);

/// Functions of literals, with constant arguments.
pub trait LiteralFunctions: fmt::Debug + Send + Sync {
    fn names(&self) -> &[FunctionName];

    /// Passes on each value of a literal, with the index of its function. JSON may be known to be canonical.
    fn compute(&self, literal: ObjectRef<'_>, is_canonical: bool, each: &mut dyn FnMut(usize, ObjectRef<'_>));
}

impl PartialEq for dyn LiteralFunctions {
    fn eq(&self, other: &Self) -> bool {
        self.names() == other.names()
    }
}

impl Eq for dyn LiteralFunctions {}

/// The part of an object that is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedExtent {
    Whole,
    /// Only the values of the functions, for a literal.
    Values,
    /// As `Values`, but different literals remain different.
    DistinctValues,
}

/// The use of a predicate in a query.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PredicateUse {
    /// `None` if any object is wanted.
    object: Option<Term>,
    subject: WantedSubject,
}

/// The subjects whose triples are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WantedSubject {
    Any,
    /// Records, and the errors of answers.
    Record,
    /// Failures, which are records.
    Failure,
}

impl PredicateUse {
    /// Returns true if the use may include the object, which is given if it is a known IRI.
    fn wants(&self, object: Option<&str>) -> bool {
        match (self.object.as_ref().map(Term::as_ref), object) {
            (Some(TermRef::NamedNode(node)), Some(iri)) => node.as_str() == iri,
            _ => true,
        }
    }
}

impl Selection {
    /// Selects every triple.
    pub fn all() -> Self {
        Self { predicates: None, functions: None }
    }

    /// Selects no triple.
    pub fn nothing() -> Self {
        Self { predicates: Some(Vec::new()), functions: None }
    }

    /// Adds every triple.
    pub fn everything(&mut self) {
        self.predicates = None;
    }

    /// Adds the triples with this predicate, and with this object if it is given.
    pub fn triples(&mut self, predicate: NamedNode, object: Option<Term>) {
        self.triples_of(predicate, object, WantedSubject::Any);
    }

    /// Adds the triples of these subjects with this predicate, and with this object if it is given.
    pub fn triples_of(&mut self, predicate: NamedNode, object: Option<Term>, subject: WantedSubject) {
        let Some(predicates) = &mut self.predicates else { return };
        let index = predicates.iter().position(|wanted| wanted.predicate == predicate).unwrap_or_else(|| {
            predicates.push(WantedPredicate { predicate, uses: Vec::new(), extent: WantedExtent::Whole });
            predicates.len() - 1
        });
        let new = PredicateUse { object, subject };
        if let Some(WantedPredicate { uses, .. }) = predicates.get_mut(index)
            && !uses.contains(&new)
        {
            uses.push(new);
        }
    }

    /// Adds the triples of another selection.
    pub fn add(&mut self, other: &Self) {
        let Some(predicates) = &other.predicates else { return self.everything() };
        let is_same = self.functions.is_none() || other.functions.is_none() || self.functions == other.functions;
        self.functions = self.functions.take().or_else(|| other.functions.clone()).filter(|_| is_same);
        for WantedPredicate { predicate, uses, extent } in predicates {
            let known = self.wanted(predicate.as_ref());
            let is_same = known.is_none_or(|wanted| wanted.extent == *extent);
            let extent = if is_same { *extent } else { WantedExtent::Whole };
            uses.iter().for_each(|used| self.triples_of(predicate.clone(), used.object.clone(), used.subject));
            let mut added = self.predicates.iter_mut().flatten();
            if let Some(added) = added.find(|wanted| wanted.predicate == *predicate) {
                added.extent = extent;
            }
        }
    }

    /// Reduces the literals of some predicates to the values of functions.
    pub fn reduce(&mut self, to: Arc<dyn LiteralFunctions>, predicates: &[(NamedNode, WantedExtent)]) {
        self.functions = Some(to);
        for wanted in self.predicates.iter_mut().flatten() {
            let extent = predicates.iter().find(|(predicate, _)| *predicate == wanted.predicate);
            wanted.extent = extent.map_or(WantedExtent::Whole, |(_, extent)| *extent);
        }
    }

    /// Returns the part of a predicate's objects that is needed.
    pub(crate) fn extent(&self, predicate: NamedNodeRef<'_>) -> WantedExtent {
        let extent = self.wanted(predicate).filter(|_| self.functions.is_some()).map(|wanted| wanted.extent);
        extent.unwrap_or(WantedExtent::Whole)
    }

    /// Returns the functions whose values are needed of some objects.
    pub(crate) fn functions(&self) -> Option<&Arc<dyn LiteralFunctions>> {
        self.functions.as_ref()
    }

    fn wanted(&self, predicate: NamedNodeRef<'_>) -> Option<&WantedPredicate> {
        self.predicates.iter().flatten().find(|wanted| wanted.predicate.as_ref() == predicate)
    }

    /// Returns the IRIs that are wanted as objects of a predicate; `None` for any.
    pub(crate) fn objects(&self, predicate: NamedNodeRef<'_>) -> Option<Vec<&str>> {
        let uses = self.wanted(predicate)?.uses.iter();
        uses.map(|used| match &used.object {
            Some(Term::NamedNode(node)) => Some(node.as_str()),
            _ => None,
        })
        .collect()
    }

    /// Returns the selected predicates; `None` for any predicate.
    pub fn predicates(&self) -> Option<impl Iterator<Item = NamedNodeRef<'_>>> {
        Some(self.predicates.as_ref()?.iter().map(|wanted| wanted.predicate.as_ref()))
    }

    /// Returns true if a triple may be wanted whose subject is neither a record nor the error of an answer.
    pub fn wants_elsewhere(&self, predicate: NamedNodeRef<'_>, object: Option<&str>) -> bool {
        self.wanted(predicate).map_or(self.predicates.is_none(), |wanted| {
            wanted.uses.iter().any(|used| used.subject == WantedSubject::Any && used.wants(object))
        })
    }

    /// Returns true if only the triples of failures are wanted.
    pub fn is_of_failures(&self, predicate: NamedNodeRef<'_>) -> bool {
        let is_of_failures =
            |wanted: &WantedPredicate| wanted.uses.iter().all(|used| used.subject == WantedSubject::Failure);
        self.wanted(predicate).is_some_and(is_of_failures)
    }

    /// Returns true if a triple may be wanted, by its predicate, and by its object if that is a known IRI.
    pub fn wants(&self, predicate: NamedNodeRef<'_>, object: Option<&str>) -> bool {
        let Some(wanted) = self.wanted(predicate) else { return self.predicates.is_none() };
        wanted.uses.iter().any(|used| used.wants(object))
    }
}

impl Default for Selection {
    fn default() -> Self {
        Self::all()
    }
}
