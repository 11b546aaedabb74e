//! `convert`: logs to RDF.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use rpcgraph::convert::ConvertError;
use rpcgraph::sink::{Compression, Output, OutputError, SinkError, Syntax};
use rpcgraph::summary::Summary;

use super::read::{GraphArgs, ReadArgs, SummaryArgs};
use super::{Failure, Outcome, print_failure, say};

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

    /// Write to a file, which appears when it is complete; its extension tells syntax and compression
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    graph: GraphArgs,

    #[command(flatten)]
    summary: SummaryArgs,
}

fn parse_syntax(name: &str) -> Result<Syntax, String> {
    Syntax::ALL
        .into_iter()
        .find(|syntax| syntax.name() == name)
        .ok_or_else(|| format!("there is no such syntax; there are {}", Syntax::ALL.map(Syntax::name).join(", ")))
}

impl Convert {
    pub fn run(&self) -> Result<Outcome, Failure> {
        let sources = self.read.sources()?;
        let (syntax, compression) = self.syntax()?;
        let mut converter = self.read.converter(&self.graph)?;
        let mut output = match self.file() {
            Some(path) => Output::file(path, compression)?,
            None => Output::stdout(),
        };
        let mut sink = syntax.sink(&mut output, sources.len());

        let mut findings = self.summary.findings();
        let mut total: Option<Summary> = None;
        let mut failed = 0_usize;
        for source in &sources {
            match self.read.convert(source, &mut converter, &mut sink, &mut findings) {
                Ok(summary) => match &mut total {
                    Some(total) => total.merge(&summary),
                    None => total = Some(summary),
                },
                Err(failure) => match failure.downcast::<ConvertError>() {
                    Ok(ConvertError::NotAMessage(finding)) => {
                        say(&format!("{finding}"));
                        // What came before it is whole; a file would pass for all of it.
                        if self.file().is_none() {
                            sink.finish()?;
                        }
                        return Ok(Outcome::Findings);
                    }
                    // An input that fails is no reason to give up the others.
                    Ok(error @ ConvertError::Read { .. }) => {
                        print_failure(&error.into());
                        failed += 1;
                    }
                    Ok(ConvertError::Sink(error)) => return Err(self.unwritable(error)),
                    Ok(error) => return Err(error.into()),
                    Err(failure) => {
                        print_failure(&failure);
                        failed += 1;
                    }
                },
            }
        }
        findings.end();
        if failed > 0 && self.file().is_some() {
            bail!("{failed} of {} inputs failed, so there is no output file", sources.len());
        }
        sink.finish().map_err(|error| self.unwritable(error))?;
        drop(sink);
        output.finish()?;
        self.summary.say(total.as_ref());
        if failed > 0 {
            bail!("{failed} of {} inputs failed", sources.len());
        }
        Ok(Outcome::Done)
    }

    /// The file to write, if it is one.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// The same failure with the name of the output, but for a closed pipe, which is none.
    fn unwritable(&self, error: SinkError) -> Failure {
        match (error, self.file()) {
            (SinkError::Io(cause), Some(path)) => OutputError::new(path, cause).into(),
            (error, _) => error.into(),
        }
    }

    /// Syntax and compression, from the options and the extensions of the output.
    fn syntax(&self) -> Result<(Syntax, Compression), Failure> {
        let Some(path) = self.file() else {
            return Ok((self.to.unwrap_or(Syntax::Turtle), Compression::None));
        };
        let extension = |path: &Path| path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        let mut name = path.to_owned();
        let compression = extension(&name).and_then(|extension| Compression::from_extension(&extension));
        if compression.is_some() {
            name.set_extension("");
        }
        let syntax = match (self.to, extension(&name)) {
            (Some(syntax), _) => syntax,
            (None, None) => Syntax::Turtle,
            (None, Some(extension)) => match Syntax::from_extension(&extension) {
                Some(syntax) => syntax,
                None => {
                    bail!("no syntax goes by the extension {extension:?} of {}; name one with --to", path.display())
                }
            },
        };
        Ok((syntax, compression.unwrap_or_default()))
    }
}
