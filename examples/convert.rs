//! The first job: a log to Turtle.
//!
//! ```text
//! cargo run --example convert -- examples/mcp-session.ndjson
//! ```

#![expect(clippy::print_stderr, reason = "a program reports to its user")]

use std::error::Error;
use std::io::Write;

use rpcgraph::{Log, Syntax};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: convert LOG")?;
    convert(&path, std::io::stdout())
}

/// Writes the graph of a log, and on standard error what was read.
pub fn convert(path: &str, out: impl Write + Send) -> Result<(), Box<dyn Error>> {
    let log = Log::open(path)?.with_base("https://example.org/session")?;
    let summary = log.with_findings(|finding| eprintln!("{finding}")).write_to(out, Syntax::Turtle)?;
    eprintln!("{summary}");
    Ok(())
}
