//! Loading: graphs of a log replace those of the same name on a server or in a store.
//!
//! ```text
//! input → quads → spool → target
//! ```
//!
//! A graph is replaced as a whole, so that a log may be loaded twice, or again after it grew. Nothing is sent before the
//! input was read to its end, and the triples that say that there is a session are the last to arrive: whatever goes
//! wrong on the way, what looks like a session is a whole one.

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

/// Takes graphs, of several threads at once.
pub trait Target: Sync {
    /// Replaces a graph. `progress` is told how many triples have arrived since it was last told.
    fn replace(&self, graph: SpooledGraph<'_>, progress: &mut dyn FnMut(u64)) -> Result<(), ReplaceError>;

    /// How many triples a graph has there, where it is worth asking.
    fn count(&self, graph: NamedNodeRef<'_>) -> Result<Option<u64>, ReplaceError>;

    /// Whether the graph is there already with just these triples and no others, where it is to be looked for.
    fn has(&self, graph: SpooledGraph<'_>) -> bool;
}

/// Why a graph could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    /// The temporary file could not be read.
    #[error("cannot read the temporary file")]
    Spool(#[from] io::Error),
    /// The server failed. The graph that it had is still there.
    #[cfg(feature = "http")]
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The server failed when the graph was complete and had only to be put in its place.
    #[cfg(feature = "http")]
    #[error("nobody knows whether the server has put {graph} in its place: load it again, which does no harm")]
    InDoubt {
        /// The graph.
        graph: NamedNode,
        /// The failure.
        source: Box<EndpointError>,
    },
    /// The store failed. The graph has none of the triples that say that there is a session, or it is the old one.
    #[error("the store failed")]
    Store(#[from] StorageError),
}

/// Counts of a load.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Graphs.
    pub graphs: u64,
    /// Triples in them.
    pub triples: u64,
    /// How many of the graphs were there as they are, and so were not sent.
    pub there: u64,
    /// Graphs that may differ from those sent.
    pub doubts: Vec<Doubt>,
}

impl Loaded {
    /// Both counts together.
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
pub enum Doubt {
    /// There are more triples or fewer.
    #[error("{graph} has {there} triples there, but {sent} were sent: the server does not keep all as it is")]
    Differs {
        /// The graph.
        graph: NamedNode,
        /// How many different triples were sent.
        sent: u64,
        /// How many are there.
        there: u64,
    },
    /// The triples could not be counted.
    #[error("{graph} is loaded, but what is there could not be counted")]
    NotCounted {
        /// The graph.
        graph: NamedNode,
        /// Why not.
        source: ReplaceError,
    },
}

/// Replaces each graph of a spool, but for those that the target tells that it has. What is loaded is added to `loaded` as
/// soon as it is.
///
/// # Errors
///
/// Graphs before the one that failed are loaded.
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
                    loaded.doubts.push(Doubt::Differs { graph: name.into_owned(), sent, there });
                }
            }
            Err(source) => loaded.doubts.push(Doubt::NotCounted { graph: name.into_owned(), source }),
        }
    }
    Ok(())
}
