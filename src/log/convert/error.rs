//! Errors that stop a conversion.

use crate::diagnostic::Finding;
use crate::mapping::ReferenceError;
use crate::record::ReadError;
use crate::sink::SinkError;

/// Why a conversion stopped.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The source failed.
    #[error("{input}")]
    Read {
        /// The input, as findings name it.
        input: String,
        /// Where it failed, and how.
        #[source]
        error: ReadError,
    },
    /// The sink failed.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The contexts do not work.
    #[error(transparent)]
    Mapping(#[from] ReferenceError),
    /// A record is not a valid message, and [`Options::strict`](super::Options::strict) asks for nothing but those.
    #[error("{0}")]
    NotAMessage(Finding),
    /// A worker panicked; the panic hook has printed where.
    #[error("the conversion of {input} broke off: this is a fault of rpcgraph; please report it with the lines above")]
    Panicked {
        /// The input, as findings name it.
        input: String,
    },
}
