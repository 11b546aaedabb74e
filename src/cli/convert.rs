//! `convert`: logs to RDF.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use rpcgraph::convert::{ConvertError, Converter, Input, Options};
use rpcgraph::diagnostic::Finding;
use rpcgraph::mapping::Mapper;
use rpcgraph::sink::{Compression, Output, OutputError, Sink, SinkError, Syntax};
use rpcgraph::summary::Summary;

use super::input::{Source, sources};
use super::progress::Watched;
use super::{Failure, Outcome, ReadArgs, print_failure, say};

/// How many findings are shown of records that the graph holds all the same.
const SHOWN_FINDINGS: u64 = 20;

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

    /// Stop at the first record that is not a valid message, with exit status 1
    #[arg(long)]
    strict: bool,

    /// Also say of each record its line, byte offset and SHA-256
    #[arg(long)]
    provenance: bool,

    /// Keep the text between messages
    #[arg(long)]
    log_lines: bool,

    /// Print no summary and no findings, only errors
    #[arg(long, conflicts_with = "verbose")]
    quiet: bool,

    /// Also say how many records needed the full JSON-LD algorithms, and why
    #[arg(long)]
    verbose: bool,
}

fn parse_syntax(name: &str) -> Result<Syntax, String> {
    Syntax::ALL
        .into_iter()
        .find(|syntax| syntax.name() == name)
        .ok_or_else(|| format!("there is no such syntax; there are {}", Syntax::ALL.map(Syntax::name).join(", ")))
}

impl Convert {
    pub fn run(&self) -> Result<Outcome, Failure> {
        let sources = sources(&self.read.inputs, self.read.base.as_deref())?;
        let (syntax, compression) = self.syntax()?;
        let mapper =
            Mapper::new(self.read.mapping.into(), &self.read.load_contexts()?)?.with_provenance(self.provenance);
        let options = Options {
            reader: self.read.reader_options(),
            strict: self.strict,
            log_lines: self.log_lines,
            jobs: self.read.jobs(),
        };
        let mut output = match self.file() {
            Some(path) => Output::file(path, compression)?,
            None => Output::stdout(),
        };
        let mut sink = syntax.sink(&mut output, sources.len());

        let mut findings = Findings { quiet: self.quiet, shown: 0, hidden: 0 };
        let mut converter = Converter::new(mapper, options);
        let mut total: Option<Summary> = None;
        let mut failed = 0_usize;
        for source in &sources {
            match self.convert(source, &mut converter, &mut sink, &mut findings) {
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
        if let Some(total) = total
            && !self.quiet
        {
            say(&total.to_string());
            if self.verbose {
                say(&by_reference(&total));
            }
        }
        if failed > 0 {
            bail!("{failed} of {} inputs failed", sources.len());
        }
        Ok(Outcome::Done)
    }

    fn convert(
        &self,
        source: &Source,
        converter: &mut Converter,
        sink: &mut Sink<'_>,
        findings: &mut Findings,
    ) -> Result<Summary, Failure> {
        let (read, size) = source.open()?;
        let read = Watched::new(read, source.name(), size, self.read.progress);
        let input = Input {
            name: source.name(),
            source: source.file_name(),
            iri: source.iri.clone(),
            iri_stated: source.iri_stated,
            read,
        };
        Ok(converter.convert(input, sink, &mut |finding| findings.show(&finding))?)
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

/// Which records took the reference path.
fn by_reference(summary: &Summary) -> String {
    let count: u64 = summary.by_reference.values().sum();
    let mut text = format!("reference path: {count} of {} records", summary.records);
    for (reason, count) in &summary.by_reference {
        text.push_str(&format!("\n  {count}  {reason}"));
    }
    text
}

/// Shows findings: all that are nowhere else, and the first of the rest.
struct Findings {
    quiet: bool,
    shown: u64,
    hidden: u64,
}

impl Findings {
    fn show(&mut self, finding: &Finding) {
        if self.quiet && finding.in_graph {
            return;
        }
        if finding.in_graph && self.shown >= SHOWN_FINDINGS {
            self.hidden += 1;
            return;
        }
        self.shown += u64::from(finding.in_graph);
        say(&finding.to_string());
    }

    fn end(&self) {
        if self.hidden > 0 {
            say(&format!("… and {} findings more; the graph holds them all", self.hidden));
        }
    }
}
