//! RDF files as data for queries.

use std::io::{self, Read};
use std::path::Path;

use oxrdf::BlankNode;
use oxrdfio::{RdfFormat, RdfParseError, RdfSyntaxError};

use super::cancel::Cause;
use super::dataset::Loading;
use crate::record::decompressed;
use crate::sink::{Compression, Syntax};
use crate::store::quads::{quads, with_blanks};

/// Why an RDF file could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum RdfError {
    /// It cannot be read.
    #[error("cannot read {input}")]
    Read {
        /// The file, as the user named it.
        input: String,
        /// Why not.
        source: io::Error,
    },
    /// It is not what its name says.
    #[error("{input}{place} is not {format}")]
    Syntax {
        /// The file, as the user named it.
        input: String,
        /// Line and column, where they are known: `:3:14`.
        place: String,
        /// The syntax that it should be in.
        format: RdfFormat,
        /// The parser's words.
        source: Box<RdfSyntaxError>,
    },
    /// Loading was ended.
    #[error(transparent)]
    Ended(#[from] Cause),
}

/// The syntax of an RDF file by its name; `None` for everything else, which is a log.
pub fn rdf_format(path: &Path) -> Option<RdfFormat> {
    let syntax = Syntax::from_extension(&Compression::split(path).0?)?;
    // Documents on lines are not an RDF syntax of their own.
    (syntax != Syntax::JsonLdLines).then(|| syntax.into())
}

impl Loading<'_> {
    /// Loads an RDF file, compressed or not. Its blank nodes are its own; its relative IRIs are resolved against `iri`.
    /// Literals have at most `longest` bytes.
    pub fn rdf(
        &mut self,
        input: &str,
        iri: &str,
        format: RdfFormat,
        longest: usize,
        read: impl Read + Send,
    ) -> Result<(), RdfError> {
        let failed = |source| RdfError::Read { input: input.to_owned(), source };
        // One that no other file has.
        let prefix = BlankNode::default().into_string();
        let mut text = Vec::new();
        let quads = quads(format, iri, longest, decompressed(read).map_err(failed)?, Some(&mut text));
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
            self.insert(with_blanks(quad, &prefix).as_ref());
            if count % 4096 == 0 {
                self.cancel().check()?;
            }
        }
        Ok(())
    }
}
