//! Writes a log of MCP-like messages to standard output: the same for the same seed.
//!
//! `cargo bench --bench workload -- MESSAGES [SEED]`

use std::io::{self, BufWriter, Write};

#[path = "support/workload.rs"]
mod workload;

fn main() -> io::Result<()> {
    // Cargo adds `--bench`.
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let mut argument = |default: u64| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (messages, seed) = (argument(100_000), argument(workload::SEED));
    let mut out = BufWriter::new(io::stdout().lock());
    workload::write(&mut out, messages, seed)?;
    out.flush()
}
