//! `convert`: writes logs as RDF, tables or spans.

use crate::mapping::Mapping;
use crate::sink::{Output, OutputError, Sink, SpanCounts, Syntax, Tables};
use crate::summary::counted;
use anyhow::bail;
use clap::Args;

use super::console::{Outcome, print_failure, say};
use super::follow::followed;
use super::read::{GraphArgs, InputOutcome, ReadArgs, SummaryArgs};
use super::target::{TargetArgs, leave_on_ctrl_c, parse_syntax};

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/convert.txt").trim_end())]
pub struct ConvertCommand {
    #[command(flatten)]
    read: ReadArgs,

    /// Format: turtle, nquads, trig, jsonld, parquet, otlp, …
    ///
    /// Syntaxes of RDF are turtle, ntriples, nquads, trig, jsonld, jsonld-lines and rdfxml. `parquet` makes a folder of tables, `otlp` spans for OpenTelemetry. Without -t, the extension of --output selects the
    /// format; the default is turtle.
    #[arg(short, long, value_name = "NAME", value_parser = ConvertTo::parse, help_heading = "Output")]
    to: Option<ConvertTo>,

    /// With `-t otlp`: also error messages, URIs and arguments of tools, up to 4,096 characters of each
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    payloads: bool,

    #[command(flatten)]
    target: TargetArgs,

    /// Continue as the log grows, until Ctrl-C
    #[arg(long, help_heading = "Input")]
    follow: bool,

    #[command(flatten)]
    graph: GraphArgs,

    #[command(flatten)]
    summary: SummaryArgs,
}

/// A format of the output.
#[derive(Debug, Clone, Copy)]
enum ConvertTo {
    Graph(Syntax),
    Parquet,
    Otlp,
}

impl Default for ConvertTo {
    fn default() -> Self {
        Self::Graph(Syntax::default())
    }
}

impl ConvertTo {
    fn parse(name: &str) -> Result<Self, String> {
        match name {
            "parquet" => Ok(Self::Parquet),
            "otlp" => Ok(Self::Otlp),
            _ => parse_syntax(name).map(Self::Graph).map_err(|error| format!("{error}, parquet, otlp")),
        }
    }
}

/// The open output.
enum ConvertOutput {
    Stream(Box<Output>, Syntax),
    /// Spans; true for spans with payloads.
    Spans(Box<Output>, bool),
    Tables(Box<Tables>),
}

impl ConvertOutput {
    fn sink(&mut self, inputs: usize) -> Sink<'_> {
        match self {
            Self::Stream(output, syntax) => syntax.sink(output, inputs),
            Self::Spans(output, payloads) => Sink::spans(output, *payloads),
            Self::Tables(tables) => tables.sink(),
        }
    }

    fn finish(self) -> Result<(), OutputError> {
        match self {
            Self::Stream(output, _) | Self::Spans(output, _) => output.finish(),
            Self::Tables(tables) => tables.finish(),
        }
    }
}

impl ConvertCommand {
    fn open(&self, to: ConvertTo) -> anyhow::Result<ConvertOutput> {
        Ok(match to {
            ConvertTo::Graph(syntax) => {
                ConvertOutput::Stream(Box::new(self.target.open(syntax == Syntax::RdfXml)?), syntax)
            }
            ConvertTo::Parquet => ConvertOutput::Tables(Box::new(self.tables()?)),
            ConvertTo::Otlp if self.read.mapping == Mapping::Bblock => {
                bail!("spans are of sessions: leave out --mapping bblock")
            }
            ConvertTo::Otlp => ConvertOutput::Spans(Box::new(self.target.open(false)?), self.payloads),
        })
    }

    fn tables(&self) -> anyhow::Result<Tables> {
        let Some(folder) = self.target.file() else { bail!("tables are files in a folder: name it with --output DIR") };
        if self.read.mapping == Mapping::Bblock || self.read.has_contexts() || self.follow {
            bail!("tables are of whole sessions as they are: leave out --mapping bblock, --context and --follow");
        }
        leave_on_ctrl_c();
        Ok(Tables::create(folder)?)
    }

    pub fn run(&self) -> anyhow::Result<Outcome> {
        let mut sources = self.read.input.sources()?;
        if self.follow {
            sources = vec![followed(sources)?];
        }
        let from_extension = |extension: &str| Syntax::from_extension(extension).map(ConvertTo::Graph);
        let to = self.target.kind(self.to, from_extension, "--to")?;
        if self.payloads && !matches!(to, ConvertTo::Otlp) {
            bail!("--payloads is for -t otlp: name that, or leave it out");
        }
        let mut run = self.read.run(&self.graph, self.summary.quiet)?;
        let mut output = self.open(to)?;
        let mut sink = output.sink(sources.len());
        let mut outcome = Outcome::Done;
        for source in &sources {
            let attempt = run.attempt(source, &mut sink).map_err(|failure| self.target.unwritable(failure))?;
            match attempt {
                InputOutcome::Done | InputOutcome::Failed => {}
                InputOutcome::Unread(why) => {
                    print_failure(&why);
                    outcome = Outcome::Findings;
                }
                InputOutcome::Stopped => {
                    // The output before that record is complete; but a file would be mistaken for the whole.
                    if self.target.file().is_none() {
                        sink.finish()?;
                    }
                    return Ok(Outcome::Findings);
                }
            }
        }
        run.findings.end();
        if self.target.file().is_some() {
            run.check(", so the output file was not written")?;
        }
        sink.finish().map_err(|error| self.target.unwritable(error.into()))?;
        let spans = sink.span_counts();
        drop(sink);
        output.finish()?;
        self.summary.say(run.total.as_ref());
        if let Some(counts) = spans.filter(|_| !self.summary.quiet) {
            say(&span_summary(&counts));
        }
        run.check("")?;
        Ok(outcome)
    }
}

/// Formats the summary of spans.
fn span_summary(counts: &SpanCounts) -> String {
    let SpanCounts { spans, untimed, unanswered, not_captured, apart } = *counts;
    let (spans, untimed) = (counted(spans, "span"), counted(untimed, "message"));
    let (unanswered, apart) = (counted(unanswered, "request"), counted(apart, "other message"));
    let not_captured = match not_captured {
        0 => String::new(),
        count => format!(", {} whose answers are not in this log", counted(count, "request")),
    };
    format!("{spans}; in none: {untimed} without a time, {unanswered} without an answer{not_captured}, {apart}")
}
