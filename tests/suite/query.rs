//! `query`: SPARQL over logs and RDF files, what is written of the answer, and how it ends.

mod columns;
mod data;
mod drawn;
mod ends;
mod everywhere;
mod functions;
mod limits;
mod listed;

use crate::cli::{Place, Ran};

/// Runs a query over a log called `s`, which is the session `https://example.org/s`.
fn ask(log: &str, query: &str, options: &[&str]) -> Ran {
    let place = Place::with("s", log);
    let mut arguments = vec!["query", "s", "--base", crate::cli::BASE, "--quiet", "-q", query];
    arguments.extend(options);
    place.run(&arguments)
}

/// The rows of a query, as CSV, without the names of the columns.
#[track_caller]
fn rows(log: &str, query: &str) -> Vec<String> {
    let ran = ask(log, query, &["-t", "csv"]);
    ran.quietly();
    ran.text().lines().skip(1).map(str::to_owned).collect()
}
