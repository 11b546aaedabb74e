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
//! | verdict | passed, failed, known, unexercised or undecidable, for a rule and all logs |
//! | excerpt | the place of a fault in its line of the log |
//! | baseline | a file of known faults, and how many there are of each |
//! | budget | limits of a team, as rules |
//! | set | rules for a revision of MCP, which do not change |

mod baseline;
mod budget;
mod drift;
mod facts;
mod fault;
mod judge;
mod output;
mod rules;
mod sarif;
mod sets;

pub use self::baseline::{Baseline, BaselineError, GoneFault};
pub use self::drift::DRIFT;
pub use self::fault::{Excerpt, Fault, read_excerpts};
pub use self::judge::{Judged, Verdict};
pub use self::output::{CheckResult, TextStyle};
pub use self::rules::{BUILT_IN, HEAD, Level, Rule, RuleError, Rules};
pub use self::sarif::RESULTS;
pub use self::sets::SETS;
