//! Errors opening, reading or querying a log.

use std::io;

use super::convert::ConvertError;
use crate::mapping::ReferenceError;
use crate::query::QueryError;
use crate::sink::SinkError;

/// An error opening, reading or querying a log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file cannot be opened.
    #[error("cannot read {path}")]
    Open {
        /// The file, as it was named.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The path is a folder.
    #[error("cannot read {path}: it is a folder; name the logs in it")]
    Folder {
        /// The folder, as it was named.
        path: String,
    },
    /// The path does not have a `file:` IRI.
    #[error("{path} does not have a file: IRI; give the session one as its base")]
    NoIri {
        /// The path, as it was named.
        path: String,
    },
    /// The IRI of a session is not an absolute IRI.
    #[error("{base:?} is not an absolute IRI: {reason}")]
    BadIri {
        /// The IRI that was given.
        base: String,
        /// The reason.
        reason: String,
    },
    /// The IRI of a session has a fragment.
    #[error("{base:?} has a fragment; fragments are for the messages of the session")]
    Fragment {
        /// The IRI that was given.
        base: String,
    },
    /// A context cannot be used.
    #[error(transparent)]
    Context(#[from] ReferenceError),
    /// Reading, mapping or writing failed.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// The query fails.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The log holds no messages to ask about.
    #[error("{input}: {reason}")]
    Unread {
        /// The log, as findings name it.
        input: String,
        /// A description of the content, with advice.
        reason: String,
    },
}

impl From<SinkError> for LogError {
    fn from(error: SinkError) -> Self {
        Self::Convert(error.into())
    }
}
