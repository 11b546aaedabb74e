//! Graphs to a store of our own.

use std::io::{self, Read};

use oxigraph::store::{QuadIter, StorageError, Store};
use oxrdf::{NamedNodeRef, Quad};
use oxrdfio::RdfFormat;

use super::parts::HashParts;
use super::{ReplaceError, SpooledGraph, Target};
use crate::json::sha256;
use crate::store::quads::{quads, with_blanks};

/// How many quads a transaction adds and removes at most: it has them in memory.
const QUADS: u64 = 100_000;
/// How many bytes of N-Triples it adds at most, and how many are given to the bulk loader at once.
const BYTES: u64 = 64 << 20;

/// A store as a [`Target`].
///
/// A graph is replaced in one transaction where its old and new quads are at most 100,000 together and the new ones at
/// most 64 MiB. Otherwise the memory for that would have no bound: then the triples that say that there is a session are
/// taken away first and put back last, and the rest goes through the bulk loader, several times as fast as a transaction.
/// So a load that is interrupted leaves the old graph, or one that does not look like a session.
pub struct StoreTarget {
    store: Store,
}

impl StoreTarget {
    /// Graphs go to this store.
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// Quads of a graph, those of its own node or all.
    fn old(&self, graph: NamedNodeRef<'_>, subject: Option<NamedNodeRef<'_>>) -> QuadIter<'static> {
        self.store.quads_for_pattern(subject.map(Into::into), None, None, Some(graph.into()))
    }

    fn replace_at_once(&self, graph: SpooledGraph<'_>, progress: &mut dyn FnMut(u64)) -> Result<(), ReplaceError> {
        let mut transaction = self.store.start_transaction()?;
        for quad in self.old(graph.name(), None) {
            transaction.remove(&quad?);
        }
        for quad in parsed(graph, graph.reader()) {
            transaction.insert(&quad?);
            progress(1);
        }
        Ok(transaction.commit()?)
    }

    /// Removes quads, in transactions of limited size.
    fn remove(&self, quads: impl Iterator<Item = Result<Quad, StorageError>>) -> Result<(), ReplaceError> {
        let mut quads = quads.peekable();
        while quads.peek().is_some() {
            let mut transaction = self.store.start_transaction()?;
            for (_, quad) in (0..QUADS).zip(&mut quads) {
                transaction.remove(&quad?);
            }
            transaction.commit()?;
            // Otherwise committed data piles up in memory, faster than it is written.
            #[cfg(feature = "rocksdb")]
            self.store.flush()?;
        }
        Ok(())
    }

    /// Removes the old quads that are not among the new ones: of a log that grew hardly any, and to remove all would take
    /// several times as long as to load them again.
    fn remove_stale(&self, graph: SpooledGraph<'_>) -> Result<(), ReplaceError> {
        let parts = HashParts::of(graph.triples());
        for part in parts.numbers() {
            let new = parts.hashes(part, parsed(graph, graph.reader()))?;
            let is_stale = |quad: &Quad| parts.hash(part, quad).is_some_and(|hash| !new.contains(&hash));
            self.remove(self.old(graph.name(), None).filter(|quad| quad.as_ref().map_or(true, is_stale)))?;
        }
        Ok(())
    }

    fn replace_in_parts(&self, graph: SpooledGraph<'_>, progress: &mut dyn FnMut(u64)) -> Result<(), ReplaceError> {
        // Its own node first: from here on it does not look whole.
        self.remove(self.old(graph.name(), Some(graph.name())))?;
        self.remove_stale(graph)?;
        // More threads would have more of it in memory.
        let mut loader = self.store.bulk_loader().with_num_threads(1);
        let batches = graph.batches();
        let mut start = 0;
        while start < batches.len() {
            let (mut end, mut triples, mut bytes) = (start, 0, 0);
            while let Some(batch) = batches.get(end).filter(|_| triples < QUADS && bytes < BYTES) {
                triples += batch.triples;
                bytes += batch.length as u64;
                end += 1;
            }
            let part = batches.get(start..end).unwrap_or_default();
            loader.load_ok_quads::<ReplaceError, ReplaceError>(parsed(graph, graph.batch_reader(part)))?;
            progress(triples);
            start = end;
        }
        loader.commit()?;
        let mut transaction = self.store.start_transaction()?;
        for quad in parsed(graph, graph.node().as_bytes()) {
            transaction.insert(&quad?);
            progress(1);
        }
        Ok(transaction.commit()?)
    }
}

impl Target for StoreTarget {
    fn replace(&self, graph: SpooledGraph<'_>, progress: &mut dyn FnMut(u64)) -> Result<(), ReplaceError> {
        let room = QUADS.checked_sub(graph.triples()).filter(|_| graph.length() <= BYTES);
        let has_room = |room: u64| (0..=room).zip(self.old(graph.name(), None)).count() as u64 <= room;
        match room.is_some_and(has_room) {
            true => self.replace_at_once(graph, progress),
            false => self.replace_in_parts(graph, progress),
        }
    }

    /// A store keeps what it is given.
    fn count(&self, _: NamedNodeRef<'_>) -> Result<Option<u64>, ReplaceError> {
        Ok(None)
    }

    /// To look for each triple would take as long as to replace it.
    fn has(&self, _: SpooledGraph<'_>) -> bool {
        false
    }
}

/// N-Triples as quads of a graph.
fn parsed<'a>(graph: SpooledGraph<'a>, triples: impl Read + 'a) -> impl Iterator<Item = Result<Quad, ReplaceError>> {
    let name = graph.name().into_owned();
    let prefix = blank_prefix(graph.name());
    // It was written here, however long its literals are.
    quads(RdfFormat::NTriples, "", usize::MAX, triples, None).map(move |quad| {
        let quad = quad.map_err(io::Error::from)?;
        Ok(with_blanks(Quad { graph_name: name.clone().into(), ..quad }, &prefix))
    })
}

/// The prefix of a graph's blank nodes: their labels are told apart within an input only, and a store takes one label
/// for one node whichever graph it is in.
fn blank_prefix(graph: NamedNodeRef<'_>) -> String {
    "g".chars().chain(sha256(graph.as_str().as_bytes()).chars().take(16)).collect()
}
