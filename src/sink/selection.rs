//! Selections of triples: all, or by predicate.

use std::fmt;
use std::sync::Arc;

use oxrdf::{NamedNode, NamedNodeRef, Term, TermRef};

/// A selection of triples by predicate, and by object if the object is an IRI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// `None` selects every triple.
    predicates: Option<Vec<Wanted>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Wanted {
    predicate: NamedNode,
    uses: Vec<Use>,
    /// True if only the length of the object is needed.
    sizes: bool,
}

/// The use of a predicate in a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Use {
    /// `None` if any object is wanted.
    object: Option<Term>,
    pub of: Subjects,
}

/// The subjects whose triples are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subjects {
    /// Any subject.
    Any,
    /// Messages, batches, and the errors of answers.
    Messages,
    /// Records that meet all conditions.
    Records(Vec<Condition>),
}

impl Use {
    /// Returns true if the use may include the object, which is given if it is a known IRI.
    pub fn wants(&self, object: Option<&str>) -> bool {
        match (self.object.as_ref().map(Term::as_ref), object) {
            (Some(TermRef::NamedNode(node)), Some(iri)) => node.as_str() == iri,
            _ => true,
        }
    }
}

/// A condition on records: the record has one of the properties with a value that passes the test.
#[derive(Clone)]
pub(crate) struct Condition {
    pub properties: Vec<NamedNode>,
    /// `None` if any value passes.
    pub test: Option<Arc<ValueTest>>,
    /// The test as text. Tests with the same text are equal.
    pub text: String,
}

/// A test of a value.
pub(crate) type ValueTest = dyn Fn(&Term) -> bool + Send + Sync;

impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        self.properties == other.properties && self.text == other.text
    }
}

impl Eq for Condition {}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.properties, self.text)
    }
}

impl Selection {
    /// Selects every triple.
    pub fn all() -> Self {
        Self { predicates: None }
    }

    /// Selects no triple.
    pub fn nothing() -> Self {
        Self { predicates: Some(Vec::new()) }
    }

    /// Adds every triple.
    pub fn everything(&mut self) {
        self.predicates = None;
    }

    /// Adds the triples with this predicate, and with this object if it is given.
    pub fn triples(&mut self, predicate: NamedNode, object: Option<Term>) {
        self.triples_of(predicate, object, Subjects::Any);
    }

    /// Adds the triples of these subjects with this predicate, and with this object if it is given.
    pub(crate) fn triples_of(&mut self, predicate: NamedNode, object: Option<Term>, of: Subjects) {
        let Some(predicates) = &mut self.predicates else { return };
        let index = predicates.iter().position(|wanted| wanted.predicate == predicate).unwrap_or_else(|| {
            predicates.push(Wanted { predicate, uses: Vec::new(), sizes: false });
            predicates.len() - 1
        });
        let new = Use { object, of };
        if let Some(Wanted { uses, .. }) = predicates.get_mut(index)
            && !uses.contains(&new)
        {
            uses.push(new);
        }
    }

    /// Adds the triples of another selection.
    pub(crate) fn add(&mut self, other: &Self) {
        let Some(predicates) = &other.predicates else { return self.everything() };
        for Wanted { predicate, uses, sizes } in predicates {
            let sizes = *sizes && self.wanted(predicate.as_ref()).is_none_or(|wanted| wanted.sizes);
            uses.iter().for_each(|used| self.triples_of(predicate.clone(), used.object.clone(), used.of.clone()));
            let added = self.predicates.iter_mut().flatten().find(|wanted| wanted.predicate == *predicate);
            added.into_iter().for_each(|wanted| wanted.sizes = sizes);
        }
    }

    /// Returns the uses of a predicate; `None` if all triples are selected, or none with this predicate.
    pub(crate) fn uses(&self, predicate: NamedNodeRef<'_>) -> Option<&[Use]> {
        self.wanted(predicate).map(|wanted| wanted.uses.as_slice())
    }

    /// Removes the restrictions on subjects.
    pub(crate) fn of_anything(&mut self) {
        let uses = self.predicates.iter_mut().flatten().flat_map(|wanted| &mut wanted.uses);
        uses.for_each(|used| used.of = Subjects::Any);
    }

    /// Reduces the objects of these predicates to their lengths.
    pub(crate) fn only_sizes(&mut self, predicates: &[NamedNode]) {
        let wanted = self.predicates.iter_mut().flatten().filter(|wanted| predicates.contains(&wanted.predicate));
        wanted.for_each(|wanted| wanted.sizes = true);
    }

    /// Returns true if only the length of the object is needed.
    pub(crate) fn wants_size(&self, predicate: NamedNodeRef<'_>) -> bool {
        self.wanted(predicate).is_some_and(|wanted| wanted.sizes)
    }

    fn wanted(&self, predicate: NamedNodeRef<'_>) -> Option<&Wanted> {
        self.predicates.iter().flatten().find(|wanted| wanted.predicate.as_ref() == predicate)
    }

    /// Returns the selected predicates; `None` for any predicate.
    pub fn predicates(&self) -> Option<impl Iterator<Item = NamedNodeRef<'_>>> {
        Some(self.predicates.as_ref()?.iter().map(|wanted| wanted.predicate.as_ref()))
    }

    /// Returns true if a triple may be wanted whose subject is not one of [`Subjects::Messages`].
    pub(crate) fn wants_elsewhere(&self, predicate: NamedNodeRef<'_>, object: Option<&str>) -> bool {
        self.uses(predicate).map_or(self.predicates.is_none(), |uses| {
            uses.iter().any(|used| used.of == Subjects::Any && used.wants(object))
        })
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
