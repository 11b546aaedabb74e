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
    /// None: whatever the object is.
    objects: Option<Vec<Term>>,
    /// None: whatever the method of the message is.
    methods: Option<Vec<String>>,
    /// Whether it is enough to know how long the object is.
    sizes: bool,
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
        self.triples_of(predicate, object, None);
    }

    /// Adds the triples with this predicate, and this object if there is one, of messages with one of these methods.
    pub(crate) fn triples_of(&mut self, predicate: NamedNode, object: Option<Term>, methods: Option<&[String]>) {
        let Some(predicates) = &mut self.predicates else { return };
        let index = predicates.iter().position(|wanted| wanted.predicate == predicate).unwrap_or_else(|| {
            predicates.push(Wanted { predicate, objects: Some(Vec::new()), methods: Some(Vec::new()), sizes: false });
            predicates.len() - 1
        });
        let Some(wanted) = predicates.get_mut(index) else { return };
        match (methods, &mut wanted.methods) {
            (Some(more), Some(methods)) => methods.extend_from_slice(more),
            (None, methods) => *methods = None,
            (Some(_), None) => {}
        }
        match (object, &mut wanted.objects) {
            (None, objects) => *objects = None,
            (Some(object), Some(objects)) if !objects.contains(&object) => objects.push(object),
            (Some(_), _) => {}
        }
    }

    /// The methods of the messages whose triples with this predicate are wanted; none: any.
    pub(crate) fn methods(&self, predicate: NamedNodeRef<'_>) -> Option<&[String]> {
        self.wanted(predicate)?.methods.as_deref()
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

    /// Whether a triple may be wanted: its predicate, and its object if that is an IRI and known.
    pub fn wants(&self, predicate: NamedNodeRef<'_>, object: Option<&str>) -> bool {
        let Some(wanted) = self.wanted(predicate) else { return self.predicates.is_none() };
        let (Some(objects), Some(iri)) = (&wanted.objects, object) else { return true };
        objects.iter().any(|object| match object.as_ref() {
            TermRef::NamedNode(node) => node.as_str() == iri,
            _ => true,
        })
    }
}

impl Default for Selection {
    fn default() -> Self {
        Self::all()
    }
}
