//! Options of a conversion.

use crate::protocol::Protocol;
use crate::record::ReaderOptions;

/// Options of a conversion.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Options for reading.
    pub reader: ReaderOptions,
    /// Stop at the first record that is not a valid message.
    pub strict: bool,
    /// Keep the text between messages.
    pub log_lines: bool,
    /// The protocol whose nodes and links are added, if there are sessions and the sink wants them.
    pub protocol: Protocol,
    /// The maximum number of threads; 0 means 1.
    pub jobs: usize,
}
