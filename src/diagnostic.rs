//! Recoverable findings: what is wrong with a record, and where it is.

use std::fmt;

use crate::record::Location;

/// Something that was found in an input and did not end the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The input, as the user named it.
    pub input: String,
    /// Where in it.
    pub location: Location,
    /// What.
    pub message: String,
    /// Whether the graph holds the record all the same; if not, the finding is all there is of it.
    pub in_graph: bool,
}

/// `session.ndjson:12: record 12 at byte 345: …`
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Location { record, line, byte } = self.location;
        write!(f, "{}:{line}: record {record} at byte {byte}: {}", self.input, self.message)
    }
}
