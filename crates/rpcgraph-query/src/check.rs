//! Conformance: rules over captured traffic, and what breaks them.
//!
//! ```text
//! rule files → Rules → judge(Dataset of all logs) → Judged, one for each rule → text, JSON, SARIF, JUnit
//! ```
//!
//! | word | meaning |
//! |---|---|
//! | rule | a SHACL-SPARQL constraint, whose query finds the messages that break a clause of a specification |
//! | condition | a query for the sessions that a rule can be decided for |
//! | fault | a message that breaks a rule |
//! | verdict | passed, failed, unexercised or undecidable, for a rule and all logs |
//! | excerpt | the place of a fault in its line of the log |
//! | baseline | a file of known faults |

mod baseline;
mod facts;
mod fault;
mod judge;
mod output;
mod rules;
mod sarif;

pub use self::baseline::{Baseline, BaselineError};
pub use self::fault::{Excerpt, Fault, read_excerpts};
pub use self::judge::{Judged, Verdict};
pub use self::output::{CheckResult, TextStyle};
pub use self::rules::{BUILT_IN, Level, OPENRPC, Rule, RuleError, Rules};
pub use self::sarif::RESULTS;
