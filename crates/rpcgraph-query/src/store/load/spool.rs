//! The triples of an input, kept until the whole input was read: none reaches a server or a store before.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use oxrdf::{BlankNodeRef, GraphName, NamedNode, NamedNodeRef, NamedOrBlankNodeRef, Quad, TermRef};
use tempfile::SpooledTempFile;

use super::parts::DigestParts;
use crate::mapping::Mapping;
use crate::sink::{QuadSink, SinkError};

/// The number of triples in a batch, unless the next ones share a blank node with it. Virtuoso's parser fails at about
/// 5,000 in one update.
const BATCH_TRIPLES: u64 = 2_000;
/// The approximate size of a batch as N-Triples, in bytes.
const BATCH_BYTES: usize = 1 << 20;
/// The maximum size of incomplete batches in memory, in bytes, and of complete batches.
const IN_MEMORY: usize = 8 << 20;

/// Keeps the triples of one input by graph, in a temporary file if there are many.
///
/// A graph is a list of batches. Two batches never share a blank node, since the blank nodes of a record are its own
/// and the quads of a record arrive together. The triples of the graph's own node, which declare the session, are kept
/// separately: they must always come last.
pub struct Spool {
    /// The graph for triples without a graph.
    default_graph: NamedNode,
    file: Arc<Mutex<SpooledTempFile>>,
    length: u64,
    /// The graphs by their names, in order of their first triples.
    graphs: IndexMap<NamedNode, GraphSpool>,
    /// The size of batches that are not yet in the file, in bytes.
    pending: usize,
}

#[derive(Debug, Default)]
struct GraphSpool {
    batches: Vec<SpoolBatch>,
    /// The N-Triples of the next batch.
    text: String,
    next: SpoolBatch,
    /// The N-Triples of the graph's own node.
    node: String,
    node_triples: u64,
}

/// A batch of triples in the file.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SpoolBatch {
    offset: u64,
    /// The length as N-Triples, in bytes.
    pub length: usize,
    /// The number of triples.
    pub triples: u64,
    /// True if there is a blank node among them, so that sending them again adds other triples.
    pub blank_nodes: bool,
}

/// A graph of a [`Spool`].
#[derive(Clone, Copy)]
pub struct SpooledGraph<'s> {
    spool: &'s Spool,
    name: &'s NamedNode,
    graph: &'s GraphSpool,
}

impl Spool {
    /// Creates an empty spool for the input with this IRI.
    ///
    /// Under [`Mapping::Bblock`], its triples are not in a graph. They are kept in a graph with the IRI of the input,
    /// which exists even if it is empty.
    pub fn new(input: NamedNode, mapping: Mapping) -> Self {
        let mut spool = Self {
            default_graph: input,
            file: Arc::new(Mutex::new(SpooledTempFile::new(IN_MEMORY))),
            length: 0,
            graphs: IndexMap::new(),
            pending: 0,
        };
        if mapping == Mapping::Bblock {
            spool.graph(&GraphName::DefaultGraph);
        }
        spool
    }

    /// The graphs, in order of their first triples.
    pub fn graphs(&self) -> impl Iterator<Item = SpooledGraph<'_>> {
        self.graphs.iter().map(|(name, graph)| SpooledGraph { spool: self, name, graph })
    }

    fn graph(&mut self, name: &GraphName) -> usize {
        let name = match name {
            GraphName::NamedNode(name) => name,
            GraphName::BlankNode(_) | GraphName::DefaultGraph => &self.default_graph,
        };
        let known = self.graphs.get_index_of(name);
        known.unwrap_or_else(|| self.graphs.insert_full(name.clone(), GraphSpool::default()).0)
    }

    /// Appends quads of one graph.
    fn run(&mut self, quads: &[Quad]) -> io::Result<()> {
        let Some(first) = quads.first() else { return Ok(()) };
        let index = self.graph(&first.graph_name);
        let last_use = last_uses(quads);
        let mut needed_until = 0;
        for (position, quad) in quads.iter().enumerate() {
            let Some((name, graph)) = self.graphs.get_index_mut(index) else { continue };
            let is_node = first.graph_name != GraphName::DefaultGraph && quad.subject == name.as_ref().into();
            let text = if is_node { &mut graph.node } else { &mut graph.text };
            let before = text.len();
            // Writing to a string never fails.
            let _ = writeln!(text, "{} {} {} .", quad.subject, quad.predicate, quad.object);
            let written = text.len() - before;
            if is_node {
                graph.node_triples += 1;
                continue;
            }
            graph.next.triples += 1;
            self.pending += written;
            for node in blank_nodes(quad) {
                graph.next.blank_nodes = true;
                needed_until = needed_until.max(last_use.get(&node).copied().unwrap_or(position));
            }
            let full = graph.next.triples >= BATCH_TRIPLES || graph.text.len() >= BATCH_BYTES;
            if full && needed_until <= position {
                self.flush(index)?;
            }
        }
        Ok(())
    }

    /// Writes the next batch to the file, unless it is empty.
    fn flush(&mut self, index: usize) -> io::Result<()> {
        let Some((_, graph)) = self.graphs.get_index_mut(index).filter(|(_, graph)| !graph.text.is_empty()) else {
            return Ok(());
        };
        let mut file = lock(&self.file);
        file.seek(SeekFrom::Start(self.length))?;
        file.write_all(graph.text.as_bytes())?;
        graph.batches.push(SpoolBatch { offset: self.length, length: graph.text.len(), ..graph.next });
        self.length += graph.text.len() as u64;
        self.pending -= graph.text.len();
        graph.text = String::new();
        graph.next = SpoolBatch::default();
        Ok(())
    }

    fn flush_all(&mut self) -> io::Result<()> {
        (0..self.graphs.len()).try_for_each(|index| self.flush(index))
    }
}

impl QuadSink for Spool {
    fn quads(&mut self, quads: &[Quad]) -> Result<(), SinkError> {
        for run in quads.chunk_by(|left, right| left.graph_name == right.graph_name) {
            self.run(run).map_err(failed)?;
        }
        // Many concurrent sessions fill their batches slowly.
        if self.pending > IN_MEMORY {
            self.flush_all().map_err(failed)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(self.flush_all().map_err(failed)?)
    }
}

/// Adds the place of the failure to an I/O error.
fn failed(error: io::Error) -> io::Error {
    let folder = std::env::temp_dir();
    let message = format!("cannot keep triples in a temporary file in {}: {error}", folder.display());
    io::Error::new(error.kind(), format!("{message}; TMPDIR may name another folder"))
}

impl<'s> SpooledGraph<'s> {
    /// The name.
    pub fn name(&self) -> NamedNodeRef<'s> {
        self.name.as_ref()
    }

    /// The batches, without the triples of the graph's own node.
    pub(super) fn batches(&self) -> &'s [SpoolBatch] {
        &self.graph.batches
    }

    /// Reads a batch as N-Triples.
    #[cfg(feature = "http")]
    pub(super) fn text(&self, batch: &SpoolBatch) -> io::Result<String> {
        let mut text = String::with_capacity(batch.length);
        self.batch_reader(&[*batch]).read_to_string(&mut text)?;
        Ok(text)
    }

    /// The triples of the graph's own node as N-Triples; empty if the graph is not a session.
    pub(super) fn node(&self) -> &'s str {
        &self.graph.node
    }

    /// The number of triples, including the graph's own node. Duplicates count each time.
    pub fn triples(&self) -> u64 {
        self.graph.batches.iter().map(|batch| batch.triples).sum::<u64>() + self.graph.node_triples
    }

    /// Returns the number of different triples.
    pub fn distinct(&self) -> io::Result<u64> {
        let parts = DigestParts::for_items(self.triples());
        parts.numbers().try_fold(0, |count, part| {
            let lines = BufReader::new(self.reader()).lines();
            Ok(count + parts.digests(part, lines)?.len() as u64)
        })
    }

    /// Returns true if this graph consists of exactly these triples, by their digests. Returns false for too many
    /// triples to hold all digests in memory, and for triples with blank nodes.
    #[cfg(feature = "http")]
    pub(super) fn is_just<E: From<io::Error>>(
        &self,
        triples: impl Iterator<Item = Result<oxrdf::Triple, E>>,
    ) -> Result<bool, E> {
        let parts = DigestParts::for_items(self.triples());
        if parts.numbers().count() > 1 {
            return Ok(false);
        }
        let most = usize::try_from(self.triples()).unwrap_or(usize::MAX);
        let lines = triples.map(|triple| triple.map(|triple| format!("{triple} ."))).take(most.saturating_add(1));
        let there = parts.digests(0, lines)?;
        Ok(there == parts.digests(0, BufReader::new(self.reader()).lines())?)
    }

    /// The length of the text from [`SpooledGraph::reader`], in bytes.
    pub(super) fn length(&self) -> u64 {
        (self.graph.batches.iter().map(|batch| batch.length).sum::<usize>() + self.graph.node.len()) as u64
    }

    /// Returns a reader of the whole graph as N-Triples, with the triples of its own node last.
    pub(super) fn reader(&self) -> impl Read + Send + use<> {
        self.batch_reader(&self.graph.batches).chain(io::Cursor::new(self.graph.node.clone().into_bytes()))
    }

    /// Returns a reader of some of the batches as N-Triples.
    pub(super) fn batch_reader(&self, batches: &[SpoolBatch]) -> impl Read + Send + use<> {
        BatchReader { file: Arc::clone(&self.spool.file), parts: batches.iter().copied().collect() }
    }
}

/// Reads batches one after the other.
struct BatchReader {
    file: Arc<Mutex<SpooledTempFile>>,
    /// The batches to read; the first one may be the rest of a batch.
    parts: VecDeque<SpoolBatch>,
}

impl Read for BatchReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(batch) = self.parts.front_mut() else { return Ok(0) };
        let length = batch.length.min(buffer.len());
        let Some(buffer) = buffer.get_mut(..length) else { return Ok(0) };
        let mut file = lock(&self.file);
        file.seek(SeekFrom::Start(batch.offset))?;
        file.read_exact(buffer)?;
        (batch.offset, batch.length) = (batch.offset + length as u64, batch.length - length);
        if batch.length == 0 {
            self.parts.pop_front();
        }
        Ok(length)
    }
}

/// Locks the file. Each read and write begins with a seek, so a failed one does not affect the next.
fn lock(file: &Mutex<SpooledTempFile>) -> MutexGuard<'_, SpooledTempFile> {
    file.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the last use of each blank node.
fn last_uses(quads: &[Quad]) -> HashMap<BlankNodeRef<'_>, usize> {
    let uses = quads.iter().enumerate();
    uses.flat_map(|(position, quad)| blank_nodes(quad).map(move |node| (node, position))).collect()
}

fn blank_nodes(quad: &Quad) -> impl Iterator<Item = BlankNodeRef<'_>> {
    let subject = match quad.subject.as_ref() {
        NamedOrBlankNodeRef::BlankNode(node) => Some(node),
        NamedOrBlankNodeRef::NamedNode(_) => None,
    };
    let object = match quad.object.as_ref() {
        TermRef::BlankNode(node) => Some(node),
        _ => None,
    };
    subject.into_iter().chain(object)
}
