//! The third job: the register of a building block's examples.
//!
//! ```text
//! cargo run --example register -- examples/json-rpc register
//! ```

#![expect(clippy::print_stderr, reason = "a program reports to its user")]

use std::error::Error;
use std::path::Path;

use rpcgraph::register::{Register, RegisterOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(block), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("usage: register BLOCK FOLDER".into());
    };
    register(Path::new(&block), Path::new(&out))
}

/// Uplifts and validates a block's examples, and writes what came of them into a new folder.
pub fn register(block: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let register = Register::build(block, &RegisterOptions { offline: true, ..RegisterOptions::default() })?;
    register.write(out, false)?;
    for block in &register.blocks {
        for item in block.report.failed() {
            eprintln!("{}: {}", item.title(), item.reasons().join("; "));
        }
        eprintln!("{}: {} of {} passed", block.report.name, block.report.passed(), block.report.items.len());
    }
    Ok(())
}
