//! Options of a conversion.

use crate::protocol::Protocol;
use crate::record::ReaderOptions;

/// How to convert.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// How to read.
    pub reader: ReaderOptions,
    /// Stop at the first record that is not a valid message.
    pub strict: bool,
    /// Keep the text between messages.
    pub log_lines: bool,
    /// Whose messages are told in the terms of their protocol, where there are sessions and the sink wants it.
    pub protocol: Protocol,
    /// Threads to use at most; 0 is one.
    pub jobs: usize,
}
