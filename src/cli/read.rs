//! What every command that reads logs has in common: options, and the way from an input to a sink.

use std::io::Read;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rpcgraph::context::{self, Context, Loader};
use rpcgraph::convert::{ConvertError, Converter, Input, Options};
use rpcgraph::diagnostic::Finding;
use rpcgraph::mapping::{Mapper, Mapping};
use rpcgraph::record::{Format, ReaderOptions};
use rpcgraph::sink::Sink;
use rpcgraph::summary::Summary;

use super::input::{Source, sources};
use super::progress::{self, Watched};
use super::{Failure, print_failure, say};

/// How many findings are shown of records that the graph holds all the same.
const SHOWN_FINDINGS: u64 = 20;

/// Options of every command that reads logs.
#[derive(Debug, Args)]
pub struct ReadArgs {
    /// Logs to read, compressed or not; `-` or none for standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Format of the logs [default: detected from their content]
    #[arg(short, long, value_name = "NAME", value_parser = parse_format)]
    from: Option<Format>,

    /// How messages become triples
    #[arg(short, long, value_name = "NAME", value_enum, default_value_t)]
    mapping: MappingName,

    /// A further JSON-LD context, a file or a URL, applied after the built-in ones; repeatable
    #[arg(short, long = "context", value_name = "FILE|URL")]
    contexts: Vec<String>,

    /// IRI of the session; with several inputs, what their names are resolved against
    ///
    /// Without it, a session's IRI is the `file:` IRI of its input, `urn:rpcgraph:stdin` for standard input.
    #[arg(long, value_name = "IRI")]
    base: Option<String>,

    /// Never fetch a context
    #[arg(long)]
    offline: bool,

    /// Skip records that are longer, in bytes; K, M and G stand for KiB, MiB and GiB
    #[arg(long, value_name = "N", default_value = "256M", value_parser = parse_size)]
    max_record_size: usize,

    /// Use at most N threads [default: one for each processor]; the output is the same for any N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// When to show progress on standard error: `auto` is on a terminal, after a second
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    progress: progress::When,
}

/// Options of every command that makes a graph.
#[derive(Debug, Args)]
pub struct GraphArgs {
    /// Stop at the first record that is not a valid message, with exit status 1
    #[arg(long)]
    strict: bool,

    /// Also say of each record its line, byte offset and SHA-256
    #[arg(long)]
    provenance: bool,

    /// Keep the text between messages
    #[arg(long)]
    log_lines: bool,
}

/// What to say of a run.
#[derive(Debug, Args)]
pub struct SummaryArgs {
    /// Print no summary and no findings, only errors
    #[arg(long, conflicts_with = "verbose")]
    quiet: bool,

    /// Also say how many records needed the full JSON-LD algorithms, and why
    #[arg(long)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum MappingName {
    /// Sessions, exchanges, times and problems; nothing lost
    #[default]
    Session,
    /// The building block to the letter: every message by itself under its context
    Bblock,
}

impl From<MappingName> for Mapping {
    fn from(name: MappingName) -> Self {
        match name {
            MappingName::Session => Self::Session,
            MappingName::Bblock => Self::Bblock,
        }
    }
}

/// What came of an input.
pub enum Attempt {
    Done(Box<Summary>),
    /// It could not be read.
    Failed,
    /// A record is not a valid message, and nothing but those is wanted.
    Stopped(Finding),
}

impl ReadArgs {
    /// The inputs, none of them opened.
    pub fn sources(&self) -> Result<Vec<Source>, Failure> {
        sources(&self.inputs, self.base.as_deref())
    }

    /// `--base`, as it was given.
    pub fn base(&self) -> Option<&str> {
        self.base.as_deref()
    }

    /// What converts them.
    pub fn converter(&self, graph: &GraphArgs) -> Result<Converter, Failure> {
        let mapper = Mapper::new(self.mapping(), &self.load_contexts()?)?.with_provenance(graph.provenance);
        let options = Options {
            reader: ReaderOptions { format: self.from, max_record_size: self.max_record_size },
            strict: graph.strict,
            log_lines: graph.log_lines,
            jobs: self.jobs(),
        };
        Ok(Converter::new(mapper, options))
    }

    /// Converts one of them.
    pub fn convert(
        &self,
        source: &Source,
        converter: &mut Converter,
        sink: &mut Sink<'_>,
        findings: &mut Findings,
    ) -> Result<Summary, Failure> {
        let read = self.open(source)?;
        let input = Input {
            name: source.name(),
            source: source.file_name(),
            iri: source.iri.clone(),
            iri_stated: source.iri_stated,
            read,
        };
        Ok(converter.convert(input, sink, &mut |finding| findings.show(&finding))?)
    }

    /// Opens one of them, with progress.
    pub fn open(&self, source: &Source) -> Result<Watched<Box<dyn Read + Send>>, Failure> {
        let (read, size) = source.open()?;
        Ok(Watched::new(read, source.name(), size, self.progress))
    }

    /// Converts one of them. An input that fails, which is said, is no reason to give up the others.
    pub fn attempt(
        &self,
        source: &Source,
        converter: &mut Converter,
        sink: &mut Sink<'_>,
        findings: &mut Findings,
    ) -> Result<Attempt, Failure> {
        let failure = match self.convert(source, converter, sink, findings) {
            Ok(summary) => return Ok(Attempt::Done(Box::new(summary))),
            Err(failure) => failure,
        };
        match failure.downcast::<ConvertError>() {
            Ok(ConvertError::NotAMessage(finding)) => return Ok(Attempt::Stopped(finding)),
            Ok(error @ ConvertError::Read { .. }) => print_failure(&error.into()),
            Ok(ConvertError::Sink(error)) => return Err(error.into()),
            Ok(error) => return Err(error.into()),
            Err(failure) => print_failure(&failure),
        }
        Ok(Attempt::Failed)
    }

    /// When to show progress.
    pub fn progress(&self) -> progress::When {
        self.progress
    }

    /// How messages become triples.
    pub fn mapping(&self) -> Mapping {
        self.mapping.into()
    }

    fn jobs(&self) -> usize {
        match self.jobs {
            Some(jobs) => jobs.into(),
            None => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    fn load_contexts(&self) -> Result<Vec<Context>, Failure> {
        let loader = Loader::new().offline(self.offline);
        let load = |argument: &String| loader.load(&context::Reference::parse(argument));
        Ok(self.contexts.iter().map(load).collect::<Result<_, _>>()?)
    }
}

impl GraphArgs {
    /// Whether a record that is not a valid message ends the run.
    pub fn strict(&self) -> bool {
        self.strict
    }
}

impl SummaryArgs {
    /// What shows findings.
    pub fn findings(&self) -> Findings {
        Findings { quiet: self.quiet, shown: 0, hidden: 0 }
    }

    /// What shows the findings that the graph does not hold.
    pub fn findings_elsewhere(&self) -> Findings {
        Findings { quiet: !self.verbose, shown: 0, hidden: 0 }
    }

    /// Whether only errors are wanted.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Says what was done, if anything.
    pub fn say(&self, total: Option<&Summary>) {
        let Some(total) = total.filter(|_| !self.quiet) else { return };
        say(&total.to_string());
        if self.verbose {
            say(&by_reference(total));
        }
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
pub struct Findings {
    quiet: bool,
    shown: u64,
    hidden: u64,
}

impl Findings {
    /// Shows one, or counts it.
    pub fn show(&mut self, finding: &Finding) {
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

    /// Says how many were not shown.
    pub fn end(&self) {
        if self.hidden > 0 {
            say(&format!("… and {} findings more; the graph holds them all", self.hidden));
        }
    }
}

/// A format by its name.
pub fn parse_format(name: &str) -> Result<Format, String> {
    Format::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        format!("there is no such format; there are {}", names.join(", "))
    })
}

/// A size in bytes, maybe with a unit.
pub fn parse_size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let unit = text.get(digits.len()..).unwrap_or_default().to_ascii_lowercase();
    let factor = match unit.as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return Err("expected a number of bytes such as 65536, 64K, 16M or 1G".to_owned()),
    };
    let size = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(factor));
    size.filter(|size| *size > 0).ok_or_else(|| "expected a number of bytes such as 65536, 64K, 16M or 1G".to_owned())
}
