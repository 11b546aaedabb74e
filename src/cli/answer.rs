//! Answers to queries: how and where they are written.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use anyhow::bail;
use clap::Args;
use rpcgraph::query::results::{ResultsFormat, guarded, write_boolean, write_graph, write_solutions};
use rpcgraph::query::{Answer, Form, ResultsError, Table};
use rpcgraph::sink::Syntax;
use rpcgraph::summary::counted;

use super::target::TargetArgs;
use super::words::Named;
use super::{Failure, say};

/// Options of every command that answers queries.
#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// How rows are written (table, csv, tsv, json, jsonl, xml, markdown), or the syntax of a graph, of CONSTRUCT or
    /// DESCRIBE [default: table or turtle, or what the extension of --output says]
    #[arg(short, long, value_name = "NAME", aliases = ["results", "format"], hide_possible_values = true)]
    #[arg(value_parser = Named(parse_output, output_names))]
    to: Option<OutputName>,

    /// With `-t csv`: a ' before each text that a spreadsheet would run, such as =1+1
    #[arg(long)]
    csv_safe: bool,

    #[command(flatten)]
    target: TargetArgs,
}

/// What an answer is written as.
#[derive(Debug, Clone, Copy)]
enum OutputName {
    Rows(ResultsFormat),
    Graph(Syntax),
}

fn parse_output(name: &str) -> Result<OutputName, String> {
    let rows = ResultsFormat::ALL.into_iter().find(|format| format.name() == name).map(OutputName::Rows);
    let graph = || Syntax::ALL.into_iter().find(|syntax| syntax.name() == name).map(OutputName::Graph);
    rows.or_else(graph)
        .ok_or_else(|| format!("there is no such format; there are {}, and for graphs {}", row_names(), graph_names()))
}

fn output_names() -> Vec<&'static str> {
    ResultsFormat::ALL.into_iter().map(ResultsFormat::name).chain(Syntax::ALL.into_iter().map(Syntax::name)).collect()
}

fn row_names() -> String {
    ResultsFormat::ALL.map(ResultsFormat::name).join(", ")
}

fn graph_names() -> String {
    Syntax::ALL.map(Syntax::name).join(", ")
}

/// Writes an answer as the options say.
pub struct AnswerWriter<'a> {
    target: &'a TargetArgs,
    results: ResultsFormat,
    csv_safe: bool,
    syntax: Syntax,
    base: Option<String>,
}

impl AnswerArgs {
    /// Writes an answer of this form; IRIs are short against `base`.
    ///
    /// # Errors
    ///
    /// The extension of the output stands for no format that the form has, or the output is a file that is read.
    pub fn writer<'p>(
        &self,
        form: Form,
        base: Option<String>,
        read: impl Iterator<Item = &'p Path>,
    ) -> Result<AnswerWriter<'_>, Failure> {
        self.target.check(read)?;
        let (mut results, mut syntax) = Default::default();
        match (form, self.to) {
            (Form::Graph, Some(OutputName::Rows(rows))) => {
                bail!("the answer is a graph, and {} is for rows: one of {} is for it", rows.name(), graph_names());
            }
            (Form::Select | Form::Ask, Some(OutputName::Graph(syntax))) => {
                bail!("the answer is rows, and {} is for a graph: one of {} is for them", syntax.name(), row_names());
            }
            (_, Some(OutputName::Graph(named))) => syntax = named,
            (_, Some(OutputName::Rows(named))) => results = named,
            (Form::Graph, None) => syntax = self.target.kind(None, Syntax::from_extension, "--to")?,
            (Form::Select | Form::Ask, None) => {
                results = self.target.kind(None, ResultsFormat::from_extension, "--to")?
            }
        }
        if self.csv_safe && results != ResultsFormat::Csv {
            bail!("--csv-safe is about rows in CSV: name that with -t csv, or leave it out");
        }
        Ok(AnswerWriter { target: &self.target, results, csv_safe: self.csv_safe, syntax, base })
    }
}

impl AnswerWriter<'_> {
    /// Writes the answer, and gives the number of rows or triples in it with the word for them. A boolean is 1 or 0 and
    /// has no word.
    pub fn write(self, answer: Answer<'_>) -> Result<(u64, &'static str), Failure> {
        let xml = match &answer {
            Answer::Graph(_) => self.syntax == Syntax::RdfXml,
            _ => self.results == ResultsFormat::Xml,
        };
        let mut output = self.target.open(xml)?;
        let mut cut = 0;
        let written = match answer {
            Answer::Solutions(solutions) => {
                let table = Table::default().with_width(self.width()).with_base(self.base);
                let solutions = if self.csv_safe { guarded(solutions) } else { solutions };
                let written = write_solutions(solutions, self.results, &table, &mut output);
                written.map(|written| {
                    cut = written.cut;
                    (written.rows, "row")
                })
            }
            Answer::Boolean(truth) => write_boolean(truth, self.results, &mut output).map(|()| (u64::from(truth), "")),
            Answer::Graph(triples) => {
                write_graph(triples, self.syntax, self.base.as_deref(), &mut output).map(|count| (count, "triple"))
            }
        };
        let written = written.map_err(|error| match error {
            ResultsError::Sink(error) => self.target.unwritable(error.into()),
            ResultsError::Query(error) => error.into(),
        })?;
        output.finish()?;
        if cut > 0 {
            say(&format!("note: {} cut (…): -t csv has all of it", counted(cut, "cell")));
        }
        Ok(written)
    }

    /// The width of a table: that of the terminal that it is for.
    fn width(&self) -> Option<usize> {
        if self.target.file().is_some() || !io::stdout().is_terminal() {
            return None;
        }
        terminal_size::terminal_size().map(|(width, _)| width.0.into())
    }
}
