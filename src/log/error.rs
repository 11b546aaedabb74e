//! Errors opening, reading or querying a log.

use std::io;

use super::convert::ConvertError;
use crate::mapping::ReferenceError;
use crate::query::QueryError;
use crate::sink::SinkError;

/// Why there is nothing to be had from a log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file cannot be opened.
    #[error("cannot read {path}")]
    Open {
        /// The file, as it was named.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// The path is that of a folder.
    #[error("cannot read {path}: it is a folder; name the logs in it")]
    Folder {
        /// The folder, as it was named.
        path: String,
    },
    /// The path has no `file:` IRI.
    #[error("{path} has no file: IRI; give the session one as its base")]
    NoIri {
        /// The path, as it was named.
        path: String,
    },
    /// The IRI of a session is not an absolute IRI.
    #[error("{base:?} is no absolute IRI: {reason}")]
    BadIri {
        /// What was given.
        base: String,
        /// Why it is not one.
        reason: String,
    },
    /// The IRI of a session has a fragment.
    #[error("{base:?} has a fragment; fragments are for the messages of the session")]
    Fragment {
        /// What was given.
        base: String,
    },
    /// The contexts do not work.
    #[error(transparent)]
    Context(#[from] ReferenceError),
    /// Reading, mapping or writing failed.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// The query has no answer.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The log holds no messages to ask about.
    #[error("{input}: {reason}")]
    Unread {
        /// The log, as findings name it.
        input: String,
        /// What it is, and what to do about it.
        reason: String,
    },
}

impl From<SinkError> for LogError {
    fn from(error: SinkError) -> Self {
        Self::Convert(error.into())
    }
}
