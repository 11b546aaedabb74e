//! RDF files as data for queries.

use std::io::{self, Read};
use std::path::Path;

use oxrdf::{BlankNode, GraphName, NamedNode};
use oxrdfio::{RdfFormat, RdfParseError, RdfSyntaxError};

use super::cancel::Cause;
use super::dataset::Loading;
use super::graphed::GraphedLogs;
use crate::record::decompressed;
use crate::sink::{Compression, Syntax};
use crate::store::quads::{quads, with_blanks};

/// Errors in loading an RDF file.
#[derive(Debug, thiserror::Error)]
pub enum RdfError {
    /// The file is not readable.
    #[error("cannot read {input}")]
    Read {
        /// The file, as the user named it.
        input: String,
        /// The cause.
        source: io::Error,
    },
    /// The content does not match the syntax of the file's name.
    #[error("{input}{place} is not {format}")]
    Syntax {
        /// The file, as the user named it.
        input: String,
        /// The line and column, if known: `:3:14`.
        place: String,
        /// The expected syntax.
        format: RdfFormat,
        /// The error of the parser.
        source: Box<RdfSyntaxError>,
    },
    /// Loading was cancelled.
    #[error(transparent)]
    Ended(#[from] Cause),
}

/// Returns the syntax of an RDF file by its name; `None` for all other files, which are logs.
pub fn rdf_format(path: &Path) -> Option<RdfFormat> {
    let syntax = Syntax::from_extension(&Compression::split(path).0?)?;
    // JSON-LD lines are not a syntax of RDF files.
    (syntax != Syntax::JsonLdLines).then(|| syntax.into())
}

impl Loading<'_> {
    /// Loads an RDF file, compressed or not. Its blank nodes do not clash with others; its relative IRIs resolve
    /// against `iri`. Literals may have at most `longest` bytes. Returns the IRIs of the logs in it
    /// in which no JSON-RPC was found.
    pub fn rdf(
        &mut self,
        input: &str,
        iri: &str,
        format: RdfFormat,
        longest: usize,
        read: impl Read + Send,
    ) -> Result<Vec<String>, RdfError> {
        let failed = |source| RdfError::Read { input: input.to_owned(), source };
        // A unique blank-node prefix.
        let prefix = BlankNode::default().into_string();
        let graph = GraphName::from(NamedNode::new_unchecked(iri));
        let mut text = Vec::new();
        let quads = quads(format, iri, longest, decompressed(read).map_err(failed)?, Some(&mut text));
        let mut logs = GraphedLogs::default();
        for (count, quad) in quads.enumerate() {
            let quad = quad.map_err(|error| match error {
                RdfParseError::Io(error) => failed(error),
                RdfParseError::Syntax(source) => {
                    let place = source.location().map(|place| place.start);
                    let place = place.map(|start| format!(":{}:{}", start.line + 1, start.column + 1));
                    RdfError::Syntax {
                        input: input.to_owned(),
                        place: place.unwrap_or_default(),
                        format,
                        source: source.into(),
                    }
                }
            })?;
            let mut quad = with_blanks(quad, &prefix);
            // The default graph of a file is the graph of its IRI, as for logs.
            if quad.graph_name == GraphName::DefaultGraph {
                quad.graph_name = graph.clone();
            }
            logs.take(quad.as_ref());
            self.insert(quad.as_ref());
            if count % 4096 == 0 {
                self.cancel().check()?;
            }
        }
        Ok(logs.unread())
    }
}
