//! Errors in JSON text, with their place.

use std::fmt;

/// The deepest accepted nesting of arrays and objects.
pub const MAX_DEPTH: usize = 1024;

/// An error from parsing a text as one JSON value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The kind of error.
    pub kind: ErrorKind,
    /// The offset of the error in the input, in bytes from 0.
    pub offset: usize,
}

/// The kind of a parse error.
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
    /// The text is empty, or only whitespace.
    #[error("no JSON value, only whitespace or nothing")]
    Empty,
    /// The text breaks the grammar. Holds the reason, without the place.
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
