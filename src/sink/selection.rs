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
        let Some(predicates) = &mut self.predicates else { return };
        let index = predicates.iter().position(|wanted| wanted.predicate == predicate).unwrap_or_else(|| {
            predicates.push(Wanted { predicate, objects: Some(Vec::new()) });
            predicates.len() - 1
        });
        let Some(wanted) = predicates.get_mut(index) else { return };
        match (object, &mut wanted.objects) {
            (None, objects) => *objects = None,
            (Some(object), Some(objects)) if !objects.contains(&object) => objects.push(object),
            (Some(_), _) => {}
        }
    }

    /// The predicates of the triples that are wanted; none: any predicate.
    pub fn predicates(&self) -> Option<impl Iterator<Item = NamedNodeRef<'_>>> {
        Some(self.predicates.as_ref()?.iter().map(|wanted| wanted.predicate.as_ref()))
    }

    /// Whether a triple may be wanted: its predicate, and its object if that is an IRI and known.
    pub fn wants(&self, predicate: NamedNodeRef<'_>, object: Option<&str>) -> bool {
        let Some(predicates) = &self.predicates else { return true };
        let Some(wanted) = predicates.iter().find(|wanted| wanted.predicate.as_ref() == predicate) else {
            return false;
        };
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
