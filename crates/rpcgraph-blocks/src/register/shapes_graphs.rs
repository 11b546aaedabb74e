//! The graphs of a block's shapes and their closures, which every build reads, whether it can check shapes or not.

use oxrdf::Triple;

use super::error::BlockError;
use super::library::{Library, shown};
use super::turtle::read_turtle;

/// The graphs of shapes and of their closures.
pub struct ShapesGraphs {
    /// The graph of each file of shapes, with its name.
    pub shapes: Vec<(String, Vec<Triple>)>,
    /// The graphs of the closures, as one.
    pub closure: Vec<Triple>,
    /// URLs of shapes and closures, which are not fetched.
    pub remote: Vec<String>,
}

impl ShapesGraphs {
    /// Reads shapes and closures by their URIs. Fails if a file is missing or is not Turtle.
    pub fn read(uris: &[String], closures: &[String], library: &Library) -> Result<Self, BlockError> {
        let mut graphs = Self { shapes: Vec::new(), closure: Vec::new(), remote: Vec::new() };
        for uri in closures.iter().filter(|_| !uris.is_empty()) {
            let graph = graphs.graph(uri, library)?;
            graphs.closure.extend(graph.into_iter().flatten());
        }
        for uri in uris {
            let graph = graphs.graph(uri, library)?;
            graphs.shapes.extend(graph.map(|graph| (shown(uri), graph)));
        }
        Ok(graphs)
    }

    fn graph(&mut self, uri: &str, library: &Library) -> Result<Option<Vec<Triple>>, BlockError> {
        match library.text(uri, "the building block's shapes") {
            Err(BlockError::Remote { .. }) => {
                self.remote.push(shown(uri));
                Ok(None)
            }
            text => read_turtle(&text?, None).map(Some).map_err(|error| BlockError::syntax(&shown(uri), error)),
        }
    }
}
