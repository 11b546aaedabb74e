//! A log at one look: what happened, when and why.
//!
//! ```text
//! questions → facts: calls, failures, silent calls, programs → incident → sentences → lines
//! ```
//!
//! The page has the same sentences. The facts are rows of SPARQL queries over the graph, so that each number on the screen can be asked for.

pub(crate) mod causes;
#[cfg(feature = "cli")]
mod command;
pub(crate) mod facts;
pub(crate) mod incident;
#[cfg(feature = "cli")]
mod lines;
pub(crate) mod moment;
#[cfg(feature = "cli")]
mod rows;
pub(crate) mod sentences;
#[cfg(feature = "cli")]
mod story;
#[cfg(feature = "cli")]
mod strip;
pub(crate) mod units;

use self::facts::{Call, CallOutcome};

#[cfg(feature = "cli")]
pub use self::command::{RepeatedArgs, shell_quoted};
pub use self::facts::Facts;
#[cfg(feature = "cli")]
pub use self::lines::{ScreenStyle, lines};
#[cfg(feature = "cli")]
pub use self::rows::{Part, by_cause, by_columns};
#[cfg(feature = "cli")]
pub use self::story::{Beside, StoryPart, StoryRow, solutions, story_lines};

/// The least number of calls with times and outcomes that are drawn over time, and searched for an incident.
const MIN_TIMED: usize = 200;
/// The maximum number of buckets in which an incident is looked for first.
const BUCKETS: usize = 60;

impl Facts {
    /// Returns the incidents, the worst first: of buckets of the length that a screen of 80 columns has, or bursts in shorter
    /// ones.
    pub(crate) fn incidents(&self) -> Vec<incident::Incident> {
        let of_parts = |parts| {
            let mut found = self.buckets(parts * BUCKETS)?.incidents();
            found.retain(|incident| parts == 1 || incident.kind() != incident::IncidentKind::Slow);
            (!found.is_empty()).then_some(found)
        };
        [1, 2, 4, 8].into_iter().find_map(of_parts).unwrap_or_default()
    }

    /// The number of calls with a time whose outcome is known. Failures need no latencies.
    fn timed_calls(&self) -> usize {
        let is_timed = |call: &&Call| call.counted_at().is_some() && call.outcome != CallOutcome::Unknown;
        self.calls.iter().filter(is_timed).count()
    }

    /// Sorts the calls into buckets of time; `None` if too few have times.
    pub(crate) fn buckets(&self, most: usize) -> Option<incident::Buckets> {
        let buckets = if self.timed_calls() < MIN_TIMED { None } else { incident::Buckets::new(&self.calls, most) };
        buckets.filter(|buckets| buckets.buckets.len() > 1)
    }
}
