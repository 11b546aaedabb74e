//! `convert`: logs to RDF.

use clap::Args;
use rpcgraph::sink::Syntax;

use super::follow::followed;
use super::read::{Attempt, GraphArgs, ReadArgs, SummaryArgs};
use super::target::{TargetArgs, parse_syntax};
use super::{Failure, Outcome, print_failure};

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/convert.txt").trim_end())]
pub struct Convert {
    #[command(flatten)]
    read: ReadArgs,

    /// Syntax of the output [default: turtle, or what the extension of --output says]
    #[arg(short, long, value_name = "NAME", value_parser = parse_syntax)]
    to: Option<Syntax>,

    #[command(flatten)]
    target: TargetArgs,

    /// Go on as the log grows, until Ctrl-C: triples are written as soon as their message is there
    #[arg(long)]
    follow: bool,

    #[command(flatten)]
    graph: GraphArgs,

    #[command(flatten)]
    summary: SummaryArgs,
}

impl Convert {
    pub fn run(&self) -> Result<Outcome, Failure> {
        let mut sources = self.read.sources()?;
        if self.follow {
            sources = vec![followed(sources)?];
        }
        let syntax = self.target.kind(self.to, Syntax::from_extension, "--to")?;
        self.target.check(self.read.files(&sources))?;
        let mut run = self.read.run(&self.graph, self.summary.quiet)?;
        let mut output = self.target.open(syntax == Syntax::RdfXml)?;
        let mut sink = syntax.sink(&mut output, sources.len());
        let mut outcome = Outcome::Done;
        for source in &sources {
            let attempt = run.attempt(source, &mut sink).map_err(|failure| self.target.unwritable(failure))?;
            match attempt {
                Attempt::Done | Attempt::Failed => {}
                Attempt::Unread(why) => {
                    print_failure(&why);
                    outcome = Outcome::Findings;
                }
                Attempt::Stopped => {
                    // The output before that record is whole; a file would pass for all of it.
                    if self.target.file().is_none() {
                        sink.finish()?;
                    }
                    return Ok(Outcome::Findings);
                }
            }
        }
        run.findings.end();
        if self.target.file().is_some() {
            run.check(", so there is no output file")?;
        }
        sink.finish().map_err(|error| self.target.unwritable(error.into()))?;
        drop(sink);
        output.finish()?;
        self.summary.say(run.total.as_ref());
        run.check("")?;
        Ok(outcome)
    }
}
