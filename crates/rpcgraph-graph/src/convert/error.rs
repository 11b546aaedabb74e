//! Errors that stop a conversion.

use crate::diagnostic::Finding;
use crate::mapping::ReferenceError;
use crate::record::ReadError;
use crate::sink::SinkError;

/// An error that stops a conversion.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The source failed.
    #[error("{input}")]
    Read {
        /// The input, as findings name it.
        input: String,
        /// The place and the cause.
        #[source]
        error: ReadError,
    },
    /// The sink failed.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// A context cannot be used.
    #[error(transparent)]
    Mapping(#[from] ReferenceError),
    /// A record is not a valid message, and [`Options::strict`](super::Options::strict) is set.
    #[error("{0}")]
    NotAMessage(Finding),
    /// A worker panicked; the panic hook has printed where.
    #[error("the conversion of {input} failed: this is a bug in rpcgraph; please report it with the lines above")]
    Panicked {
        /// The input, as findings name it.
        input: String,
    },
}
