//! Graphs to a SPARQL server.
//!
//! A staging graph is filled batch by batch beside the graph that it replaces, and moved to its name with one update. A
//! server that accepts whole graphs (`--graph-store` without `--update`) gets each in one request instead.

use std::io::Cursor;
use std::thread;
use std::time::Duration;

use oxrdf::{NamedNode, NamedNodeRef};

use super::{ReplaceError, SpooledGraph, Target};
use crate::json::sha256;
use crate::store::answer::FallibleAnswer;
use crate::store::endpoint::{Endpoint, EndpointError, Repeat, ServerDataset};

/// The number of checks for an update whose answer was lost, and the wait before each check.
const LOOKS: u32 = 5;
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// A SPARQL server as a [`Target`].
#[derive(Debug)]
pub struct ServerTarget<'e> {
    endpoint: &'e Endpoint,
    resumes: bool,
}

impl<'e> ServerTarget<'e> {
    /// Creates a target for a server after it has answered a query, so that an error shows before a long log is read.
    pub fn connect(endpoint: &'e Endpoint) -> Result<Self, EndpointError> {
        endpoint.ask("ASK {}")?;
        Ok(Self { endpoint, resumes: false })
    }

    /// Sets whether graphs that are already complete are skipped, which is faster if there are many.
    #[must_use]
    pub fn resuming(self, resumes: bool) -> Self {
        Self { resumes, ..self }
    }

    /// Fills the staging graph.
    fn fill(
        &self,
        staging: NamedNodeRef<'_>,
        graph: SpooledGraph<'_>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ReplaceError> {
        for (index, batch) in graph.batches().iter().enumerate() {
            let triples = graph.text(batch)?;
            // The first batch drops leftovers of an earlier load. Blank nodes become new nodes each time they are sent.
            let repeat = if index == 0 || !batch.blank_nodes { Repeat::Harmless } else { Repeat::Never };
            match self.endpoint.graph_store() {
                Some(graphs) if index == 0 => {
                    graphs.put(staging, triples.len() as u64, || Cursor::new(triples.clone()))?;
                }
                Some(graphs) => graphs.post(staging, &triples, repeat)?,
                None => {
                    let first = if index == 0 { format!("DROP SILENT GRAPH {staging} ;\n") } else { String::new() };
                    let update = format!("{first}{}", insert(staging, &triples));
                    self.endpoint.update(&update, &format!("an update of {}", graph.name()), repeat)?;
                }
            }
            progress(batch.triples);
        }
        Ok(())
    }

    /// Moves the staging graph to the graph's name, and declares the session.
    fn put_in_place(&self, staging: NamedNodeRef<'_>, graph: SpooledGraph<'_>) -> Result<(), ReplaceError> {
        let name = graph.name();
        let what = format!("the update that puts {name} in its place");
        let node = if graph.node().is_empty() { String::new() } else { insert(name, graph.node()) };
        let after = |update: String| if node.is_empty() { update } else { format!("{update} ;\n{node}") };
        if graph.batches().is_empty() {
            let update = after(format!("DROP SILENT GRAPH {name}"));
            return Ok(self.endpoint.update(&update, &what, Repeat::Harmless)?);
        }
        // Never retried: some servers treat a missing source as an empty one.
        let update = after(format!("MOVE GRAPH {staging} TO GRAPH {name}"));
        let Err(error) = self.endpoint.update(&update, &what, Repeat::Never) else { return Ok(()) };
        match &error {
            EndpointError::Lost { .. } | EndpointError::Unreachable { .. } => {}
            // A gateway has lost the server during the request.
            EndpointError::Status { status: 502..=504, .. } => {}
            // The server may still be working on it.
            EndpointError::TimedOut(_) => return Err(in_doubt(name, error)),
            _ => {
                self.clean(staging, &error);
                return Err(error.into());
            }
        }
        if !self.was_moved(staging, graph).unwrap_or(false) {
            return Err(in_doubt(name, error));
        }
        match node.is_empty() {
            true => Ok(()),
            // Its triples do not have blank nodes.
            false => Ok(self.endpoint.update(&node, &what, Repeat::Harmless)?),
        }
    }

    /// Returns true if the server has moved the staging graph. Waits, since the server may still be moving it.
    fn was_moved(&self, staging: NamedNodeRef<'_>, graph: SpooledGraph<'_>) -> Result<bool, ReplaceError> {
        let query = format!("ASK {{ GRAPH {staging} {{ ?s ?p ?o }} }}");
        for _ in 0..LOOKS {
            thread::sleep(BETWEEN_LOOKS);
            if !self.endpoint.ask(&query)? {
                // If the server has lost all its data, the staging graph is gone as well.
                let (there, all) = (self.endpoint.count(graph.name())?, graph.distinct()?);
                let node = graph.node().lines().count() as u64;
                return Ok(there == all || there + node == all);
            }
        }
        Ok(false)
    }

    /// Drops the staging graph if the server still answers; otherwise the next load drops it.
    fn clean(&self, staging: NamedNodeRef<'_>, error: &EndpointError) {
        if matches!(error, EndpointError::Status { .. } | EndpointError::Redirect { .. }) {
            let _ = self.endpoint.update(&format!("DROP SILENT GRAPH {staging}"), "an update", Repeat::Harmless);
        }
    }
}

impl Target for ServerTarget<'_> {
    fn replace(&self, graph: SpooledGraph<'_>, progress: &mut dyn FnMut(u64)) -> Result<(), ReplaceError> {
        if let (Some(graphs), false) = (self.endpoint.graph_store(), self.endpoint.update_is_stated()) {
            graphs.put(graph.name(), graph.length(), || graph.reader())?;
            progress(graph.triples());
            return Ok(());
        }
        let staging = staging_graph(graph.name());
        if let Err(error) = self.fill(staging.as_ref(), graph, progress) {
            if let ReplaceError::Endpoint(error) = &error {
                self.clean(staging.as_ref(), error);
            }
            return Err(error);
        }
        self.put_in_place(staging.as_ref(), graph)
    }

    fn count(&self, graph: NamedNodeRef<'_>) -> Result<Option<u64>, ReplaceError> {
        Ok(Some(self.endpoint.count(graph)?))
    }

    /// Reads the whole graph if it has as many triples. A graph that cannot be read counts as different.
    fn has(&self, graph: SpooledGraph<'_>) -> bool {
        let name = graph.name();
        if !self.resumes || !self.endpoint.count(name).is_ok_and(|there| there > 0 && there <= graph.triples()) {
            return false;
        }
        let query = format!("CONSTRUCT {{ ?s ?p ?o }} WHERE {{ GRAPH {name} {{ ?s ?p ?o }} }}");
        match self.endpoint.query(&query, &ServerDataset::default()) {
            Ok(FallibleAnswer::Graph(triples)) => {
                graph.is_just(triples.map(|triple| triple.map_err(ReplaceError::from))).unwrap_or(false)
            }
            _ => false,
        }
    }
}

fn in_doubt(graph: NamedNodeRef<'_>, error: EndpointError) -> ReplaceError {
    ReplaceError::InDoubt { graph: graph.into_owned(), source: Box::new(error) }
}

/// Returns the name of the staging graph. It is the same for each load, so that leftovers are eventually dropped.
fn staging_graph(graph: NamedNodeRef<'_>) -> NamedNode {
    let digits: String = sha256(graph.as_str().as_bytes()).chars().take(32).collect();
    NamedNode::new_unchecked(format!("urn:rpcgraph:staging:{digits}"))
}

/// Returns the update that adds N-Triples to a graph.
///
/// N-Triples and SPARQL differ in one point: in SPARQL, `\u` and four digits are a character wherever they stand
/// ([19.2](https://www.w3.org/TR/sparql11-query/#codepointEscape)), maybe also after a backslash that is itself
/// escaped, as in the JSON `"\u001b"`. With the `u` escaped in turn, both interpretations agree.
fn insert(graph: NamedNodeRef<'_>, triples: &str) -> String {
    let mut update = format!("INSERT DATA {{ GRAPH {graph} {{\n");
    let mut rest = triples;
    while let Some((before, after)) = rest.split_once('\\') {
        update.push_str(before);
        update.push('\\');
        let mut characters = after.chars();
        let escaped = characters.next();
        update.extend(escaped);
        rest = characters.as_str();
        if escaped == Some('\\') && rest.starts_with(['u', 'U']) {
            let (letter, after) = rest.split_at(1);
            update.push_str(if letter == "u" { "\\u0075" } else { "\\u0055" });
            rest = after;
        }
    }
    update.push_str(rest);
    update.push_str("} }");
    update
}
