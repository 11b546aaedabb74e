//! Loading: graphs of a log replace the graphs of the same name on a server or in a store.
//!
//! ```text
//! input → quads → spool → target
//! ```
//!
//! A graph is replaced as a whole, so that a log may be loaded twice, or again after it grew. Sending starts after
//! the whole input was read, and the triples that declare a session arrive last. So whatever fails on the way, a
//! declared session is complete.

mod parts;
#[cfg(feature = "http")]
mod server;
mod spool;
mod store;

use std::io;

use oxigraph::store::StorageError;
use oxrdf::{NamedNode, NamedNodeRef};

#[cfg(feature = "http")]
pub use self::server::ServerTarget;
pub use self::spool::{Spool, SpooledGraph};
pub use self::store::StoreTarget;
#[cfg(feature = "http")]
use crate::store::endpoint::EndpointError;

/// A destination of graphs, usable from several threads at once.
pub trait Target: Sync {
    /// Replaces a graph. `progress` receives the number of triples that have arrived since its last call.
    fn replace(&self, graph: SpooledGraph<'_>, progress: &mut dyn FnMut(u64)) -> Result<(), ReplaceError>;

    /// Returns the number of triples in a graph at the target; `None` if counting is pointless.
    fn count(&self, graph: NamedNodeRef<'_>) -> Result<Option<u64>, ReplaceError>;

    /// Returns true if the target already holds exactly these triples, and was configured to check that.
    fn has(&self, graph: SpooledGraph<'_>) -> bool;
}

/// Errors in loading a graph.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    /// The temporary file was not readable.
    #[error("cannot read the temporary file")]
    Spool(#[from] io::Error),
    /// The server failed. Its old graph is still there.
    #[cfg(feature = "http")]
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The server failed in the last step, moving the complete graph to its name.
    #[cfg(feature = "http")]
    #[error("it is unknown whether the server replaced {graph}: load it again, which is safe")]
    InDoubt {
        /// The graph.
        graph: NamedNode,
        /// The failure.
        source: Box<EndpointError>,
    },
    /// The store failed. The graph is the old one, or lacks the triples that declare a session.
    #[error("the store failed")]
    Store(#[from] StorageError),
}

/// The counts of a load.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Graphs.
    pub graphs: u64,
    /// Triples in them.
    pub triples: u64,
    /// The number of graphs that were already there unchanged, and so were not sent.
    pub there: u64,
    /// Graphs that may differ from those sent.
    pub doubts: Vec<UnverifiedGraph>,
}

impl Loaded {
    /// Adds the counts.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.graphs += other.graphs;
        self.triples += other.triples;
        self.there += other.there;
        self.doubts.extend(other.doubts);
        self
    }
}

/// A graph that may differ from the one sent.
#[derive(Debug, thiserror::Error)]
pub enum UnverifiedGraph {
    /// The number of triples differs.
    #[error("{graph} has {there} triples there, but {sent} were sent: the server does not keep all as it is")]
    Differs {
        /// The graph.
        graph: NamedNode,
        /// The number of different triples sent.
        sent: u64,
        /// The number of triples at the target.
        there: u64,
    },
    /// The triples could not be counted.
    #[error("{graph} is loaded, but what is there could not be counted")]
    NotCounted {
        /// The graph.
        graph: NamedNode,
        /// The cause.
        source: ReplaceError,
    },
}

/// Replaces each graph of a spool unless the target already has it. Adds each graph to `loaded` as soon as it is
/// loaded.
///
/// # Errors
///
/// Graphs before the failed one are loaded.
pub fn load(
    spool: &Spool,
    target: &dyn Target,
    progress: &mut dyn FnMut(u64),
    loaded: &mut Loaded,
) -> Result<(), ReplaceError> {
    for graph in spool.graphs() {
        let is_there = target.has(graph);
        match is_there {
            true => progress(graph.triples()),
            false => target.replace(graph, progress)?,
        }
        loaded.graphs += 1;
        loaded.triples += graph.triples();
        loaded.there += u64::from(is_there);
        if is_there {
            continue;
        }
        let name = graph.name();
        match target.count(name) {
            Ok(None) => {}
            Ok(Some(there)) if there == graph.triples() => {}
            Ok(Some(there)) => {
                let sent = graph.distinct()?;
                if sent != there {
                    loaded.doubts.push(UnverifiedGraph::Differs { graph: name.into_owned(), sent, there });
                }
            }
            Err(source) => loaded.doubts.push(UnverifiedGraph::NotCounted { graph: name.into_owned(), source }),
        }
    }
    Ok(())
}
