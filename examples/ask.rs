//! The second job: questions to a log, one that comes with the library and one of our own.
//!
//! ```text
//! cargo run --example ask -- examples/mcp-session.ndjson
//! ```

use std::error::Error;
use std::io::Write;

use rpcgraph::{Log, Query};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: ask LOG")?;
    ask(&path, std::io::stdout())
}

/// Says what failed, what was never answered, and how long each answer took.
pub fn ask(path: &str, mut out: impl Write) -> Result<(), Box<dyn Error>> {
    for row in Log::open(path)?.ask(&Query::named("errors")?)? {
        let row = row?;
        let text = |column| row.text(column).unwrap_or("-");
        writeln!(out, "failed: {} with {} {}", text("method"), text("code"), text("error"))?;
    }

    let unanswered = Query::parse(
        "SELECT ?method {
           ?request a jrpc:Request ; jrpc:hasMethod ?method
           FILTER NOT EXISTS { ?answer rpcg:respondsTo ?request }
         }",
        None,
    )?;
    for row in Log::open(path)?.ask(&unanswered)? {
        writeln!(out, "never answered: {}", row?.text("method").unwrap_or("-"))?;
    }

    // Without SPARQL: the messages themselves, each with what its session knows of it.
    for message in Log::open(path)?.messages() {
        let message = message?;
        if let (Some(request), Some(latency)) = (message.responds_to, message.latency) {
            writeln!(out, "{} answers {request} after {} ms", message.name, latency.as_millis())?;
        }
    }
    Ok(())
}
