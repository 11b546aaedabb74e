//! Graphs to a store of our own.

use oxigraph::store::{StorageError, Store, Transaction};
use oxrdf::{BlankNode, GraphNameRef, NamedNodeRef, NamedOrBlankNode, QuadRef, Term, Triple};
use oxrdfio::{RdfFormat, RdfParseError, RdfParser};
use sha2::{Digest as _, Sha256};

use super::{LoadError, SpooledGraph, Target};

/// How many quads a transaction adds and removes: it has them in memory.
const QUADS: usize = 100_000;

/// A store as a [`Target`].
///
/// A graph is replaced in one transaction where its old and new quads are at most 100,000 together, and in several
/// otherwise: the first takes the triples away that say that there is a session, the last puts them back. So the memory
/// for it has a bound, and a load that is interrupted leaves the old graph, or one that does not look like a session.
pub struct StoreTarget {
    store: Store,
}

impl StoreTarget {
    /// Graphs go to this store.
    pub fn new(store: Store) -> Self {
        Self { store }
    }
}

impl Target for StoreTarget {
    fn replace(&mut self, graph: SpooledGraph<'_>, progress: &mut dyn FnMut(u64)) -> Result<(), LoadError> {
        let name = graph.name();
        let mut changes = Changes::new(&self.store);
        for subject in [Some(name.into()), None] {
            for quad in self.store.quads_for_pattern(subject, None, None, Some(name.into())) {
                let quad = quad?;
                changes.next()?.remove(&quad);
            }
        }
        let prefix = blank_prefix(name);
        for quad in RdfParser::from_format(RdfFormat::NTriples).for_reader(graph.reader()) {
            let triple = with_blanks(quad.map_err(unreadable)?.into(), &prefix);
            let quad = QuadRef::new(&triple.subject, &triple.predicate, &triple.object, GraphNameRef::from(name));
            changes.next()?.insert(quad);
            progress(1);
        }
        Ok(changes.commit()?)
    }

    /// A store keeps what it is given.
    fn count(&mut self, _: NamedNodeRef<'_>) -> Result<Option<u64>, LoadError> {
        Ok(None)
    }
}

/// Changes to a store, in transactions of limited size.
struct Changes<'s> {
    store: &'s Store,
    /// Begun with the first change: a store has one at a time.
    transaction: Option<Transaction<'s>>,
    count: usize,
}

impl<'s> Changes<'s> {
    fn new(store: &'s Store) -> Self {
        Self { store, transaction: None, count: 0 }
    }

    /// The transaction that the next change is part of.
    fn next(&mut self) -> Result<&mut Transaction<'s>, StorageError> {
        if self.count == QUADS {
            self.commit()?;
        }
        self.count += 1;
        match &mut self.transaction {
            Some(transaction) => Ok(transaction),
            none => Ok(none.insert(self.store.start_transaction()?)),
        }
    }

    fn commit(&mut self) -> Result<(), StorageError> {
        self.count = 0;
        self.transaction.take().map_or(Ok(()), Transaction::commit)
    }
}

/// What blank nodes of a graph begin with: their labels are told apart within an input only, and a store takes one label
/// for one node whichever graph it is in.
fn blank_prefix(graph: NamedNodeRef<'_>) -> String {
    let digest = Sha256::digest(graph.as_str());
    digest.iter().take(8).fold("g".to_owned(), |prefix, byte| format!("{prefix}{byte:02x}"))
}

fn with_blanks(mut triple: Triple, prefix: &str) -> Triple {
    let renamed = |node: &BlankNode| BlankNode::new_unchecked(format!("{prefix}{}", node.as_str()));
    if let NamedOrBlankNode::BlankNode(node) = &triple.subject {
        triple.subject = renamed(node).into();
    }
    if let Term::BlankNode(node) = &triple.object {
        triple.object = renamed(node).into();
    }
    triple
}

fn unreadable(error: RdfParseError) -> LoadError {
    match error {
        RdfParseError::Io(error) => error.into(),
        RdfParseError::Syntax(error) => std::io::Error::other(error).into(),
    }
}
