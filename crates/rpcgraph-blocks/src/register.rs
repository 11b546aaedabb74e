//! Registers: a building block's examples in, the same examples uplifted, validated and documented out.
//!
//! ```text
//! folder → block → example or test → files and an item of the report → register → folder
//!          block   item (uplift, schema, shapes)                       report, page, html, catalogue, output
//! ```
//!
//! A [building block](https://opengeospatial.github.io/bblocks/) is a folder with a JSON-LD context, a JSON Schema and
//! examples. Its authors publish its register: each example as JSON, JSON-LD and Turtle, a report of the examples that
//! passed, a page, and an RDF description of them all. [`Register::build`] makes a register in memory, the same on
//! every run; [`Register::write`] puts it into a folder as a whole. The blocks of a repository refer to each other
//! through a library. Code and schemas of a block are untrusted and run in a sandbox.

mod annotate;
mod block;
mod builder;
mod catalogue;
mod compare;
mod dependencies;
mod error;
pub mod examples;
mod extension;
mod folder;
mod html;
mod item;
mod language;
mod library;
mod lost;
mod options;
pub(crate) mod output;
mod page;
mod prefixes;
mod properties;
mod references;
mod report;
mod repository;
mod rules;
mod sandbox;
mod schema;
#[cfg(feature = "shacl")]
mod shapes;
#[cfg(not(feature = "shacl"))]
#[path = "register/shapes/absent.rs"]
mod shapes;
mod shapes_graphs;
mod site;
mod steps;
mod terms;
mod turtle;
mod uplift;
mod view;
mod yaml;

use std::error::Error;

use oxsdatatypes::DayTimeDuration;

pub use self::compare::{Comparison, compare};
pub use self::error::BlockError;
pub use self::folder::MAX_FILE;
pub use self::options::RegisterOptions;
pub use self::output::{Files, Product, WriteError};
pub use self::report::{BlockReport, ItemSubject, ItemVerdict, ReportEntry, ReportItem, Section};
pub use self::repository::{Register, RegisterBlock, Repository};
use crate::record::unix_epoch;
use crate::schema::worker::serve;

/// Runs untrusted code and schemas for a process that makes a register or answers queries: answers its requests until the end of
/// standard input.
///
/// # Errors
///
/// If a request is not one that such a process sends.
pub fn worker() -> Result<(), Box<dyn Error + Send + Sync>> {
    serve(sandbox::answers)
}

/// Returns the time that is `seconds` after 1970, in UTC, as reports write it. `None` if the year has more than four
/// digits.
pub fn date_time(seconds: i64) -> Option<String> {
    let time = unix_epoch()?.checked_add_day_time_duration(DayTimeDuration::new(seconds))?;
    (0..10_000).contains(&time.year()).then(|| time.to_string().replace('Z', "+00:00"))
}
