//! The options of a reader, and the errors that end an input early.

use super::super::decompress::{InputEncoding, TextFailure};
use super::super::session_by::SessionBy;
use super::super::{Format, OwnFormat};
use std::io;

/// Options for reading an input.
#[derive(Clone, Debug)]
pub struct ReaderOptions {
    /// The format; `None` to detect it with [`Format::detect`].
    pub format: Option<Format>,
    /// The places of messages in the lines of an input, if the user states them. The format is then `json-lines`.
    pub own_format: Option<OwnFormat>,
    /// The value that separates sessions, if the user states it.
    pub session_by: Option<SessionBy>,
    /// The size in bytes above which records are skipped, and given as [`oversized`](crate::record::Flags::oversized). The
    /// reader's memory is bounded by this size and a few buffers of 64 KiB.
    pub max_record_size: usize,
}

impl Default for ReaderOptions {
    /// Detects the format, and keeps records of up to 256 MiB.
    fn default() -> Self {
        Self { format: None, own_format: None, session_by: None, max_record_size: 256 * 1024 * 1024 }
    }
}

impl ReaderOptions {
    /// Sets the format, which is then not detected.
    #[must_use]
    pub fn with_format(self, format: Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// Sets the places of messages in the lines of the input.
    #[must_use]
    pub fn with_own_format(self, own_format: OwnFormat) -> Self {
        Self { own_format: Some(own_format), ..self }
    }

    /// True if the user stated how to read the input, so that the format is not detected.
    pub fn is_stated(&self) -> bool {
        self.format.is_some() || self.own_format.is_some()
    }

    /// Sets the size in bytes above which records are skipped.
    #[must_use]
    pub fn with_max_record_size(self, bytes: usize) -> Self {
        Self { max_record_size: bytes, ..self }
    }
}

/// An error that ends an input early. Whole entries before it have been given.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The input itself failed.
    #[error("reading failed after {after} bytes of text")]
    Io {
        /// The number of bytes that had been read, after decompression.
        after: u64,
        /// The error of the input.
        source: io::Error,
    },
    /// The input is compressed, and its data is damaged or cut off.
    #[error("{kind} data {} after {after} bytes of text", if source.is_some() { "is damaged" } else { "ends early" })]
    Compressed {
        /// The kind of compression.
        kind: InputEncoding,
        /// The number of bytes that had been decompressed.
        after: u64,
        /// The defect of the data; `None` if it ends early.
        source: Option<io::Error>,
    },
    /// The format of the input, detected or stated, is recognised but not read.
    #[error("{} is not read: {reason}", format.name())]
    Refused {
        /// The format.
        format: Format,
        /// The reason, with advice.
        reason: &'static str,
    },
    /// The input does not have its format, or is damaged.
    #[error("cannot read the rest of the {} input: {problem}", format.name())]
    Unreadable {
        /// The format.
        format: Format,
        /// The defect.
        problem: String,
    },
}

impl ReadError {
    pub(super) fn new(failure: TextFailure, after: u64) -> Self {
        match failure {
            TextFailure::Source(source) => Self::Io { after, source },
            TextFailure::Data { kind, source } => Self::Compressed { kind, after, source },
        }
    }
}
