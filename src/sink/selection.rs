//! Which triples are wanted: all, or those of some predicates.

use oxrdf::{NamedNode, NamedNodeRef, Term, TermRef};

/// A choice of triples by predicate, and by object where the object is an IRI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// None: every triple.
    predicates: Option<Vec<Wanted>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Wanted {
    predicate: NamedNode,
    uses: Vec<Use>,
    /// Whether it is enough to know how long the object is.
    sizes: bool,
}

/// What a query does with a predicate.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Use {
    /// None: whatever the object is.
    object: Option<Term>,
    /// Only of messages, batches, and the errors of answers.
    of_messages: bool,
}

impl Use {
    /// Whether it is about that object, if that is an IRI and known.
    fn wants(&self, object: Option<&str>) -> bool {
        match (self.object.as_ref().map(Term::as_ref), object) {
            (Some(TermRef::NamedNode(node)), Some(iri)) => node.as_str() == iri,
            _ => true,
        }
    }
}

impl Selection {
    /// Every triple.
    pub fn all() -> Self {
        Self { predicates: None }
    }

    /// No triple.
    pub fn nothing() -> Self {
        Self { predicates: Some(Vec::new()) }
    }

    /// Adds every triple.
    pub fn everything(&mut self) {
        self.predicates = None;
    }

    /// Adds the triples with this predicate, and this object if there is one.
    pub fn triples(&mut self, predicate: NamedNode, object: Option<Term>) {
        self.triples_of(predicate, object, false);
    }

    /// Adds the triples with this predicate, and this object if there is one; of any subject, or only of messages, batches
    /// and the errors of answers.
    pub(crate) fn triples_of(&mut self, predicate: NamedNode, object: Option<Term>, of_messages: bool) {
        let Some(predicates) = &mut self.predicates else { return };
        let index = predicates.iter().position(|wanted| wanted.predicate == predicate).unwrap_or_else(|| {
            predicates.push(Wanted { predicate, uses: Vec::new(), sizes: false });
            predicates.len() - 1
        });
        let new = Use { object, of_messages };
        if let Some(Wanted { uses, .. }) = predicates.get_mut(index)
            && !uses.contains(&new)
        {
            uses.push(new);
        }
    }

    /// Adds the triples of another choice.
    pub(crate) fn add(&mut self, other: &Self) {
        let Some(predicates) = &other.predicates else { return self.everything() };
        for Wanted { predicate, uses, sizes } in predicates {
            let sizes = *sizes && self.wanted(predicate.as_ref()).is_none_or(|wanted| wanted.sizes);
            uses.iter().for_each(|used| self.triples_of(predicate.clone(), used.object.clone(), used.of_messages));
            let added = self.predicates.iter_mut().flatten().find(|wanted| wanted.predicate == *predicate);
            added.into_iter().for_each(|wanted| wanted.sizes = sizes);
        }
    }

    /// Wants triples whatever their subjects are.
    pub(crate) fn of_anything(&mut self) {
        let uses = self.predicates.iter_mut().flatten().flat_map(|wanted| &mut wanted.uses);
        uses.for_each(|used| used.of_messages = false);
    }

    /// Wants no more of the objects of these predicates than their lengths.
    pub(crate) fn only_sizes(&mut self, predicates: &[NamedNode]) {
        let wanted = self.predicates.iter_mut().flatten().filter(|wanted| predicates.contains(&wanted.predicate));
        wanted.for_each(|wanted| wanted.sizes = true);
    }

    /// Whether the length of the object is enough.
    pub(crate) fn wants_size(&self, predicate: NamedNodeRef<'_>) -> bool {
        self.wanted(predicate).is_some_and(|wanted| wanted.sizes)
    }

    fn wanted(&self, predicate: NamedNodeRef<'_>) -> Option<&Wanted> {
        self.predicates.iter().flatten().find(|wanted| wanted.predicate.as_ref() == predicate)
    }

    /// The predicates of the triples that are wanted; none: any predicate.
    pub fn predicates(&self) -> Option<impl Iterator<Item = NamedNodeRef<'_>>> {
        Some(self.predicates.as_ref()?.iter().map(|wanted| wanted.predicate.as_ref()))
    }

    /// True if a triple may be wanted of a subject that is not a message, a batch or the error of an answer.
    pub(crate) fn wants_elsewhere(&self, predicate: NamedNodeRef<'_>, object: Option<&str>) -> bool {
        self.wanted(predicate).map_or(self.predicates.is_none(), |wanted| {
            wanted.uses.iter().any(|used| !used.of_messages && used.wants(object))
        })
    }

    /// Whether a triple may be wanted: its predicate, and its object if that is an IRI and known.
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
