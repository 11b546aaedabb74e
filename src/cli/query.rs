//! `query`: SPARQL over logs, RDF files, a store or a server.

use std::fs;
use std::io::{self, IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{ArgGroup, Args};
use rpcgraph::convert::ConvertError;
use rpcgraph::query::results::{ResultsError, ResultsFormat, write_boolean, write_graph, write_solutions};
use rpcgraph::query::{Answer, Cancel, Cause, Dataset, Form, Query, Table};
use rpcgraph::sink::Syntax;

use super::input::Source;
use super::queries::named;
use super::read::{GraphArgs, ReadArgs, SummaryArgs};
use super::target::{TargetArgs, parse_syntax};
use super::{Failure, Outcome, say};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("question").required(true), after_help = "\
Examples:
  rpcgraph query session.ndjson --named methods          calls, errors and latencies of each method
  rpcgraph query session.ndjson --named errors           what failed, and why
  rpcgraph query logs/*.ndjson --named slowest --param limit=5
  rpcgraph query session.ndjson -q 'SELECT ?method (COUNT(*) AS ?n) { ?m jrpc:hasMethod ?method } GROUP BY ?method'
  rpcgraph query session.ndjson -q 'ASK { ?answer a jrpc:ErrorResponse }' --exit-status
  rpcgraph query session.ndjson -q 'DESCRIBE <#m12>'     everything about a message

The prefixes jrpc, rpcg, rdf, rdfs, xsd, prov and dcterms need no declaration. Each session is a named graph; a query
without FROM sees them all. `rpcgraph queries` lists the named queries.

Exit status:
  0  done
  1  --exit-status and nothing was found, or stopped by --strict
  2  not done")]
pub struct QueryCommand {
    #[command(flatten)]
    read: ReadArgs,

    /// The query
    #[arg(short, long, value_name = "TEXT", group = "question")]
    query: Option<String>,

    /// The query, in a file; `-` for standard input
    #[arg(long, value_name = "FILE", group = "question")]
    query_file: Option<PathBuf>,

    /// One of the queries that `rpcgraph queries` lists
    #[arg(long, value_name = "NAME", group = "question")]
    named: Option<String>,

    /// A parameter of the named query; repeatable
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parse_parameter, requires = "named")]
    parameters: Vec<(String, String)>,

    /// How rows are written [default: table, or what the extension of --output says]
    #[arg(long, value_name = "NAME", value_parser = parse_results)]
    results: Option<ResultsFormat>,

    /// Syntax of a graph, of CONSTRUCT or DESCRIBE [default: turtle, or what the extension of --output says]
    #[arg(short, long, value_name = "NAME", value_parser = parse_syntax)]
    to: Option<Syntax>,

    #[command(flatten)]
    target: TargetArgs,

    /// Exit with status 1 if the answer is no, or no row, or no triple
    #[arg(long)]
    exit_status: bool,

    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    timeout: Option<Duration>,

    #[command(flatten)]
    graph: GraphArgs,

    #[command(flatten)]
    summary: SummaryArgs,
}

fn parse_parameter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

fn parse_results(name: &str) -> Result<ResultsFormat, String> {
    ResultsFormat::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
        format!("there is no such format; there are {}", ResultsFormat::ALL.map(ResultsFormat::name).join(", "))
    })
}

/// A time in seconds, maybe with a fraction.
pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "expected a number of seconds, such as 10 or 0.5".to_owned())
}

impl QueryCommand {
    pub fn run(&self) -> Result<Outcome, Failure> {
        let text = self.text()?;
        let sources = self.read.sources()?;
        let base = base(&sources);
        let query = Query::parse(&text, base.as_deref())?;
        for term in query.unknown_terms() {
            say(&format!("note: no vocabulary has the term {term}; `rpcgraph ontology` prints what there is"));
        }
        if query.uses_services() {
            bail!("the query calls another service; --allow-service lets it");
        }
        let format = self.target.kind(self.results, ResultsFormat::from_extension, "--results");
        let syntax = self.target.kind(self.to, Syntax::from_extension, "--to");
        match query.form() {
            Form::Graph => drop(syntax.as_ref().map_err(|error| anyhow::anyhow!("{error}"))?),
            Form::Select | Form::Ask => drop(format.as_ref().map_err(|error| anyhow::anyhow!("{error}"))?),
        }

        let cancel = self.cancel()?;
        let dataset = Dataset::new(&query, sources.iter().any(|source| source.rdf_format().is_some()))?;
        if let Some(outcome) = self.load(&dataset, &sources, &cancel)? {
            return Ok(outcome);
        }
        let answer = dataset.answer(&query, &cancel)?;
        let mut output = self.target.open()?;
        let table = Table::default().with_base(base.clone()).with_width(self.width());
        let (found, noun) = match answer {
            Answer::Solutions(solutions) => {
                (write_solutions(solutions, format?, &table, &mut output).map_err(|error| self.failed(error))?, "row")
            }
            Answer::Boolean(truth) => {
                write_boolean(truth, format?, &mut output).map_err(|error| self.failed(error))?;
                (u64::from(truth), "")
            }
            Answer::Graph(triples) => {
                let written = write_graph(triples, syntax?, base.as_deref(), &mut output);
                (written.map_err(|error| self.failed(error))?, "triple")
            }
        };
        output.finish()?;
        if !self.summary.is_quiet() && !noun.is_empty() {
            say(&format!("{found} {noun}{}", if found == 1 { "" } else { "s" }));
        }
        Ok(if self.exit_status && found == 0 { Outcome::Findings } else { Outcome::Done })
    }

    /// The query as it is asked, before anything is known of the data.
    fn text(&self) -> Result<String, Failure> {
        if let Some(text) = &self.query {
            return Ok(text.clone());
        }
        if let Some(name) = &self.named {
            return Ok(named(name)?.with_parameters(&self.parameters)?);
        }
        let Some(path) = &self.query_file else {
            bail!("there is no query; give one with --query, --query-file or --named")
        };
        if path.as_os_str() == "-" {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).context("cannot read the query from standard input")?;
            return Ok(text);
        }
        fs::read_to_string(path).with_context(|| format!("cannot read the query from {}", path.display()))
    }

    /// The switch that ends the query: Ctrl-C turns it, and the time.
    fn cancel(&self) -> Result<Cancel, Failure> {
        let cancel = Cancel::default();
        if let Some(time) = self.timeout {
            cancel.after(time);
        }
        let interrupted = cancel.clone();
        ctrlc::set_handler(move || {
            // Who asks twice does not want to wait.
            if interrupted.cause().is_some() {
                std::process::exit(2);
            }
            interrupted.cancel(Cause::Interrupted);
        })
        .context("cannot listen for Ctrl-C")?;
        Ok(cancel)
    }

    /// Loads the inputs. An outcome: that of `--strict`.
    fn load(&self, dataset: &Dataset, sources: &[Source], cancel: &Cancel) -> Result<Option<Outcome>, Failure> {
        let mut loading = dataset.load(cancel)?;
        let mut converter = self.read.converter(&self.graph)?;
        let mut findings = self.summary.findings_elsewhere();
        for source in sources {
            if let Some(format) = source.rdf_format() {
                loading.rdf(&source.name(), &source.iri, format, self.read.open(source)?)?;
                continue;
            }
            let converted = self.read.convert(source, &mut converter, &mut loading.sink(), &mut findings);
            loading.check()?;
            if let Err(failure) = converted {
                return match failure.downcast::<ConvertError>() {
                    Ok(ConvertError::NotAMessage(finding)) => {
                        say(&finding.to_string());
                        Ok(Some(Outcome::Findings))
                    }
                    Ok(error) => Err(error.into()),
                    Err(failure) => Err(failure),
                };
            }
        }
        loading.commit()?;
        Ok(None)
    }

    /// How wide a table may be: as wide as the terminal that it is for.
    fn width(&self) -> Option<usize> {
        if self.target.file().is_some() || !io::stdout().is_terminal() {
            return None;
        }
        terminal_size::terminal_size().map(|(width, _)| width.0.into())
    }

    fn failed(&self, error: ResultsError) -> Failure {
        match error {
            ResultsError::Sink(error) => self.target.unwritable(error.into()),
            ResultsError::Query(error) => error.into(),
        }
    }
}

/// What IRIs are short for: the session, or the folder that all sessions are in.
fn base(sources: &[Source]) -> Option<String> {
    let [first, rest @ ..] = sources else { return None };
    if rest.is_empty() {
        return Some(first.iri.clone());
    }
    let mut common = first.iri.as_str();
    for source in rest {
        let shared = common.bytes().zip(source.iri.bytes()).take_while(|(a, b)| a == b).count();
        // Up to a slash, which is no part of a character.
        common = common.get(..shared).and_then(|shared| shared.rfind('/').map(|slash| &shared[..=slash])).unwrap_or("");
    }
    // A base needs more than `file:///`.
    (common.matches('/').count() > 3).then(|| common.to_owned())
}
