//! Errors in a building block that its author can correct.

use std::error::Error;
use std::io;

use crate::context::LoadError;

/// Name of the block in messages, where the block itself names a file.
pub const BLOCK: &str = "the building block";

/// The reason why a building block does not have a register.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlockError {
    /// A folder or a file cannot be read, or is not YAML, JSON or Turtle, or not what it is to hold.
    #[error("{what}")]
    File {
        /// The file, or what failed.
        what: String,
        /// The system's error, or the error with its line.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A reference to a URL, which is not fetched.
    #[error(
        "`{reference}`, named by {by}, is a URL, and examples and schemas are not fetched: put a copy in the block, or \
         name a folder for it with --import URL=DIR, or fetch it with --online -c URL"
    )]
    Remote {
        /// The reference.
        reference: String,
        /// The file or the example that named it.
        by: String,
    },
    /// A context cannot be used.
    #[error(transparent)]
    Context(#[from] LoadError),
    /// A reference, a context, a JSON Schema, shapes, an IRI, a prefix or a name for files that cannot be used.
    #[error("{0}")]
    Unusable(String),
}

impl BlockError {
    pub(super) fn read(reference: &str, by: &str, source: io::Error) -> Self {
        Self::File { what: format!("cannot read `{reference}`, named by {by}"), source: source.into() }
    }

    pub(super) fn outside(reference: &str, by: &str) -> Self {
        Self::Unusable(format!(
            "`{reference}`, named by {by}, is outside of the building block's folder: put a copy of it there"
        ))
    }

    pub(super) fn syntax(file: &str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::File { what: file.to_owned(), source: source.into() }
    }

    pub(super) fn unusable(place: &str, message: impl std::fmt::Display) -> Self {
        Self::Unusable(format!("{place}: {message}"))
    }
}

/// Formats an error with its causes in one line.
pub fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(&format!(": {error}"));
        cause = error.source();
    }
    message
}

/// Fails if an IRI is not absolute.
pub fn absolute(iri: &str, place: impl Fn() -> String) -> Result<(), BlockError> {
    let failed = |_| BlockError::unusable(&place(), format!("{iri:?} is not an absolute IRI"));
    oxiri::Iri::parse(iri).map(drop).map_err(failed)
}
