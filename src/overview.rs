//! A log at one look: what happened, when and why.
//!
//! ```text
//! questions → facts: calls, failures, silent calls, programs → incident → lines
//! ```
//!
//! The facts are rows of SPARQL queries over the graph, so that each number on the screen can be asked for.

mod causes;
mod facts;
mod incident;
mod lines;
mod moment;
mod strip;
mod units;

pub use self::causes::by_cause;
pub use self::facts::{Facts, Part};
pub use self::lines::{ScreenStyle, lines};
