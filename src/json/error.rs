//! Errors in JSON text, with their place.

use std::fmt;

/// Deepest nesting of arrays and objects that is accepted.
pub const MAX_DEPTH: usize = 1024;

/// Why a text is not accepted as one JSON value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Where: bytes of the input before the place, so 0 is the first byte.
    pub offset: usize,
}

/// What is wrong with a text that should be JSON.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ErrorKind {
    /// The bytes are not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// Arrays and objects are nested deeper than [`MAX_DEPTH`].
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// The text ends inside a value: with more text it might become one.
    #[error("the text ends inside a value")]
    UnexpectedEnd,
    /// There is only whitespace.
    #[error("no JSON value, only whitespace or nothing")]
    Empty,
    /// The grammar is broken; this says how, without the place.
    #[error("{0}")]
    Syntax(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::Empty => write!(f, "{}", self.kind),
            kind => write!(f, "{kind} at byte {}", self.offset),
        }
    }
}

impl std::error::Error for Error {}
