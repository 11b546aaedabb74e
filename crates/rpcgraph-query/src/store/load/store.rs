//! Graphs to an embedded store.

use std::io::{self, Read};

use oxigraph::store::{QuadIter, StorageError, Store};
use oxrdf::{NamedNodeRef, Quad};
use oxrdfio::RdfFormat;

use super::parts::DigestParts;
use super::{ReplaceError, SpooledGraph, Target};
use crate::json::sha256;
use crate::store::quads::{quads, with_blanks};

/// The maximum number of quads that a transaction adds and removes: it holds them in memory.
const QUADS: u64 = 100_000;
/// The maximum size of N-Triples that a transaction adds, or that the bulk loader gets at once, in bytes.
const BYTES: u64 = 64 << 20;

/// A store as a [`Target`].
///
/// A graph is replaced in one transaction if its old and new quads are at most 100,000 together and the new quads at
/// most 64 MiB; beyond that, memory would not be bounded. A larger graph first loses the triples that declare the
/// session, and gets them back last; the rest goes through the bulk loader, which is several times as fast as a
/// transaction. So an interrupted load leaves the old graph, or a graph that does not look like a session.
pub struct StoreTarget {
    store: Store,
}

impl StoreTarget {
    /// Creates a target for a store.
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// Returns the stored quads of a graph, of one subject or all.
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
            // Without this, committed data accumulates in memory faster than it is written.
            #[cfg(feature = "rocksdb")]
            self.store.flush()?;
        }
        Ok(())
    }

    /// Removes the old quads that are not among the new ones. A log that grew has hardly any, and removing all quads
    /// would take several times as long as loading them again.
    fn remove_stale(&self, graph: SpooledGraph<'_>) -> Result<(), ReplaceError> {
        let parts = DigestParts::for_items(graph.triples());
        for part in parts.numbers() {
            let new = parts.digests(part, parsed(graph, graph.reader()))?;
            let is_stale = |quad: &Quad| parts.digest(part, quad).is_some_and(|digest| !new.contains(&digest));
            self.remove(self.old(graph.name(), None).filter(|quad| quad.as_ref().map_or(true, is_stale)))?;
        }
        Ok(())
    }

    fn replace_in_parts(&self, graph: SpooledGraph<'_>, progress: &mut dyn FnMut(u64)) -> Result<(), ReplaceError> {
        // The graph's own node first: from here on, the graph does not look complete.
        self.remove(self.old(graph.name(), Some(graph.name())))?;
        self.remove_stale(graph)?;
        // More threads would use more memory.
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

    /// A store keeps exactly what it is given, so counting is pointless.
    fn count(&self, _: NamedNodeRef<'_>) -> Result<Option<u64>, ReplaceError> {
        Ok(None)
    }

    /// Comparing the triples would take as long as replacing them.
    fn has(&self, _: SpooledGraph<'_>) -> bool {
        false
    }
}

/// Parses N-Triples into quads of a graph.
fn parsed<'a>(graph: SpooledGraph<'a>, triples: impl Read + 'a) -> impl Iterator<Item = Result<Quad, ReplaceError>> {
    let name = graph.name().into_owned();
    let prefix = blank_prefix(graph.name());
    // The program wrote this text itself, so the length of literals is not limited.
    quads(RdfFormat::NTriples, "", usize::MAX, triples, None).map(move |quad| {
        let quad = quad.map_err(io::Error::from)?;
        Ok(with_blanks(Quad { graph_name: name.clone().into(), ..quad }, &prefix))
    })
}

/// Returns the prefix for a graph's blank nodes. Their labels are unique only within an input, while a store treats
/// equal labels in all graphs as one node.
fn blank_prefix(graph: NamedNodeRef<'_>) -> String {
    "g".chars().chain(sha256(graph.as_str().as_bytes()).chars().take(16)).collect()
}
