//! `convert`: logs to RDF.

use anyhow::bail;
use clap::Args;
use rpcgraph::sink::Syntax;
use rpcgraph::summary::Summary;

use super::read::{Attempt, GraphArgs, ReadArgs, SummaryArgs};
use super::target::{TargetArgs, parse_syntax};
use super::{Failure, Outcome, say};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rpcgraph convert session.ndjson                     Turtle on standard output
  rpcgraph convert session.ndjson -o session.nq.gz    N-Quads, compressed
  rpcgraph convert -t jsonld < session.ndjson         what the triples are made from
  rpcgraph convert -m bblock session.ndjson           every message by itself
  rpcgraph convert logs/*.ndjson -t trig --base https://example.org/logs/

Exit status:
  0  done; bad records are in the graph
  1  stopped by --strict
  2  not done")]
pub struct Convert {
    #[command(flatten)]
    read: ReadArgs,

    /// Syntax of the output [default: turtle, or what the extension of --output says]
    #[arg(short, long, value_name = "NAME", value_parser = parse_syntax)]
    to: Option<Syntax>,

    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    graph: GraphArgs,

    #[command(flatten)]
    summary: SummaryArgs,
}

impl Convert {
    pub fn run(&self) -> Result<Outcome, Failure> {
        let sources = self.read.sources()?;
        let syntax = self.target.kind(self.to, Syntax::from_extension, "--to")?;
        let mut converter = self.read.converter(&self.graph)?;
        let mut output = self.target.open()?;
        let mut sink = syntax.sink(&mut output, sources.len());

        let mut findings = self.summary.findings();
        let mut total: Option<Summary> = None;
        let mut failed = 0_usize;
        for source in &sources {
            match self.read.attempt(source, &mut converter, &mut sink, &mut findings) {
                Ok(Attempt::Done(summary)) => match &mut total {
                    Some(total) => total.merge(&summary),
                    None => total = Some(*summary),
                },
                Ok(Attempt::Failed) => failed += 1,
                Ok(Attempt::Stopped(finding)) => {
                    say(&format!("{finding}"));
                    // What came before it is whole; a file would pass for all of it.
                    if self.target.file().is_none() {
                        sink.finish()?;
                    }
                    return Ok(Outcome::Findings);
                }
                Err(failure) => return Err(self.target.unwritable(failure)),
            }
        }
        findings.end();
        if failed > 0 && self.target.file().is_some() {
            bail!("{failed} of {} inputs failed, so there is no output file", sources.len());
        }
        sink.finish().map_err(|error| self.target.unwritable(error.into()))?;
        drop(sink);
        output.finish()?;
        self.summary.say(total.as_ref());
        if failed > 0 {
            bail!("{failed} of {} inputs failed", sources.len());
        }
        Ok(Outcome::Done)
    }
}
