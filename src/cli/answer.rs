//! Writes answers to queries: formats, columns, pager and output.

use std::io::{self, Write};

use crate::overview::ScreenStyle;
use crate::query::results::{
    ResultsFormat, guarded, with_columns, with_short_names, write_boolean, write_graph, write_solutions,
};
use crate::query::{Answer, Form, ResultsError, Solutions, Table, TableColumns};
use crate::sink::{Output, OutputError, SinkError, Syntax};
use crate::summary::counted;
use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};

use super::column_names::column_named;
use super::console::say;
use super::pager::{self, Pager};
use super::target::TargetArgs;
use super::words::NamedParser;

/// The first columns of a table of sections.
const SECTIONS: [&str; 2] = ["part", "what"];

/// Options of every command that answers queries.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct AnswerArgs {
    /// Format: table, csv, json, jsonl, markdown, messages, …
    ///
    /// Rows are written as table, csv, tsv, json, jsonl, xml, markdown or messages.
    /// With `messages`, the messages that the first column names, as lines of JSON, in the order of their logs. A graph (of
    /// CONSTRUCT and DESCRIBE) has the syntaxes of `rpcgraph convert`. Without -t, the extension of --output selects the
    /// format; the default is table or turtle.
    #[arg(short, long, value_name = "NAME", hide_possible_values = true)]
    #[arg(value_parser = NamedParser(parse_output, || outputs().map(|(name, _)| name).collect()))]
    to: Option<OutputName>,

    /// With `-t csv`: put a ' before texts that a spreadsheet would evaluate, such as =1+1
    #[arg(long, hide_short_help = true)]
    csv_safe: bool,

    /// Print only these columns, separated by commas
    ///
    /// `messageName` is the short name, such as m3, of the IRI in the column `message`; other columns of IRIs have one, too.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    columns: Vec<String>,

    /// Show all columns and whole cells of tables
    #[arg(long, hide_short_help = true)]
    wide: bool,

    /// Colour failures in tables: `auto` on a terminal without NO_COLOR
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, hide_short_help = true)]
    color: Color,

    /// Do not page long answers on a terminal
    #[arg(long, hide_short_help = true)]
    no_pager: bool,

    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// The format of an answer.
#[derive(Debug, Clone, Copy)]
enum OutputName {
    Rows(ResultsFormat),
    Graph(Syntax),
    Messages,
}

/// The name of [`OutputName::Messages`].
const MESSAGES: &str = "messages";

/// Returns all formats, with their names.
fn outputs() -> impl Iterator<Item = (&'static str, OutputName)> {
    let rows = ResultsFormat::ALL.into_iter().map(|format| (format.name(), OutputName::Rows(format)));
    let graphs = Syntax::ALL.into_iter().map(|syntax| (syntax.name(), OutputName::Graph(syntax)));
    rows.chain([(MESSAGES, OutputName::Messages)]).chain(graphs)
}

/// Returns the names of the formats for graphs, or of the other formats.
fn names_of(graphs: bool) -> String {
    let fits = outputs().filter(|(_, output)| matches!(output, OutputName::Graph(_)) == graphs);
    fits.map(|(name, _)| name).collect::<Vec<_>>().join(", ")
}

fn parse_output(name: &str) -> Result<OutputName, String> {
    let named = outputs().find(|(known, _)| *known == name).map(|(_, output)| output);
    named
        .or_else(|| ResultsFormat::from_extension(name).map(OutputName::Rows))
        .or_else(|| Syntax::from_extension(name).map(OutputName::Graph))
        .ok_or_else(|| format!("unknown format; use one of {}, or for graphs {}", names_of(false), names_of(true)))
}

/// Writes an answer with the options of the command.
pub struct AnswerWriter<'a> {
    args: &'a AnswerArgs,
    results: ResultsFormat,
    syntax: Syntax,
    base: Option<String>,
    limit: Option<usize>,
    live: bool,
    columns: TableColumns,
}

impl AnswerArgs {
    /// True if the answer goes to a file.
    pub fn is_file(&self) -> bool {
        self.target.file().is_some()
    }

    /// True for `-t messages`.
    pub fn are_messages(&self) -> bool {
        matches!(self.to, Some(OutputName::Messages))
    }

    /// True if the answer is for people to read: a table on standard output, with the default columns.
    pub fn is_screen(&self) -> bool {
        matches!(self.to, None | Some(OutputName::Rows(ResultsFormat::Table))) && !self.is_file() && !self.has_columns()
    }

    /// True if columns are chosen.
    pub fn has_columns(&self) -> bool {
        !self.columns.is_empty()
    }

    /// Opens the output for messages.
    pub fn messages(&self) -> Result<Output, OutputError> {
        self.target.open(false)
    }

    /// Returns the writer for an answer of this form, with at most `limit` rows. IRIs are shortened against `base`.
    ///
    /// # Errors
    ///
    /// If the extension of the output does not name a format for this form.
    pub fn writer(&self, form: Form, base: Option<String>, limit: Option<usize>) -> anyhow::Result<AnswerWriter<'_>> {
        let (mut results, mut syntax) = Default::default();
        match (form, self.to) {
            (Form::Graph, Some(OutputName::Rows(rows))) => {
                bail!("the answer is a graph, and {} is for rows: one of {} is for it", rows.name(), names_of(true));
            }
            (Form::Select | Form::Ask, Some(OutputName::Graph(syntax))) => {
                bail!(
                    "the answer is rows, and {} is for a graph: one of {} is for them",
                    syntax.name(),
                    names_of(false)
                );
            }
            (Form::Select, Some(OutputName::Messages)) => {}
            (_, Some(OutputName::Messages)) => bail!("-t {MESSAGES} is for rows, whose first column names messages"),
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
        Ok(AnswerWriter { args: self, results, syntax, base, limit, live: false, columns: TableColumns::default() })
    }
}

impl AnswerWriter<'_> {
    /// Adds what is known of the columns. With `--wide`, all are shown.
    pub fn with_columns(self, columns: TableColumns) -> Self {
        let shown = if self.args.wide { Vec::new() } else { columns.shown };
        Self { columns: TableColumns { shown, ..columns }, ..self }
    }

    /// Shortens IRIs against another base.
    pub fn with_base(self, base: Option<String>) -> Self {
        Self { base, ..self }
    }

    /// Returns the writer for rows that arrive one by one, each of which is written at once.
    pub fn live(self) -> anyhow::Result<Self> {
        let format = match (self.args.to, self.results) {
            (Some(OutputName::Messages), _) => MESSAGES,
            (_, ResultsFormat::Json | ResultsFormat::Xml | ResultsFormat::Markdown) => self.results.name(),
            _ => return Ok(Self { live: true, ..self }),
        };
        bail!("--follow writes rows as they come: as table, csv, tsv or jsonl, and not as {format}")
    }

    /// Writes the answer. Returns the number of its rows or triples, and the noun for them. A boolean counts as 1 or 0,
    /// with an empty noun.
    pub fn write(self, answer: Answer<'_>) -> anyhow::Result<(u64, &'static str)> {
        let xml = match &answer {
            Answer::Graph(_) => self.syntax == Syntax::RdfXml,
            _ => self.results == ResultsFormat::Xml,
        };
        let table = matches!(answer, Answer::Solutions(_)) && self.results == ResultsFormat::Table;
        let target = &self.args.target;
        // Waits for the pager when dropped, after everything has been written.
        let (_pager, mut output) = self.output(xml, table)?;
        let mut cut = 0;
        let written = match answer {
            Answer::Solutions(solutions) => {
                let names: Vec<_> = solutions.variables.iter().map(|variable| variable.as_str()).collect();
                let table = Table {
                    width: self.width(),
                    base: self.base.clone(),
                    colour: self.has_colour(),
                    sections: names.starts_with(&SECTIONS),
                    live: self.live,
                    all_columns: self.args.has_columns(),
                    columns: self.columns.clone(),
                };
                let Solutions { variables, rows } = self.columns(solutions)?;
                let solutions = Solutions { variables, rows: Box::new(rows.take(self.limit.unwrap_or(usize::MAX))) };
                let solutions = if self.args.csv_safe { guarded(solutions) } else { solutions };
                let written = match self.live {
                    true => write_solutions(solutions, self.results, &table, &mut EachLine(&mut output)),
                    false => write_solutions(solutions, self.results, &table, &mut output),
                };
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
            ResultsError::Sink(error) => target.unwritable(error.into()),
            ResultsError::Query(error) => error.into(),
        })?;
        output.finish()?;
        if cut > 0 {
            say(&format!("note: {} cut (…): -t csv has all of it", counted(cut, "cell")));
        }
        Ok(written)
    }

    /// Returns the format of rows.
    pub fn format(&self) -> ResultsFormat {
        self.results
    }

    /// Returns how lines for people look.
    pub fn style(&self) -> ScreenStyle {
        let width = self.width().filter(|width| *width < usize::MAX);
        ScreenStyle { width: width.map(|width| width.max(40)), is_coloured: self.has_colour() }
    }

    /// Writes lines for people.
    pub fn print(self, text: &str) -> anyhow::Result<()> {
        let (_pager, mut output) = self.output(false, true)?;
        output.write_all(text.as_bytes()).map_err(|error| self.args.target.unwritable(SinkError::Io(error).into()))?;
        Ok(output.finish()?)
    }

    /// Opens the output for the answer: on a terminal, possibly a pager. In a `table`, the only escape sequences are
    /// colours.
    fn output(&self, xml: bool, table: bool) -> anyhow::Result<(Option<Pager>, Output)> {
        let AnswerArgs { target, no_pager, wide, .. } = self.args;
        if target.file().is_some() || !pager::is_able() {
            return Ok((None, target.open(xml)?));
        }
        let escaped = (!table).then_some(xml);
        Ok(pager::shown(!no_pager && !self.live, *wide, escaped))
    }

    fn columns<'s>(&self, solutions: Solutions<'s>) -> anyhow::Result<Solutions<'s>> {
        if self.args.columns.is_empty() {
            return Ok(solutions);
        }
        let variables = solutions.variables.clone();
        let known: Vec<_> = variables.iter().map(|variable| variable.as_str()).collect();
        let names = self.args.columns.iter().map(|name| column_named(name, &known).unwrap_or(name).to_owned());
        let names: Vec<_> = names.collect();
        let solutions = with_short_names(solutions, &names, self.base.as_deref());
        with_columns(solutions, &names)
            .map_err(|name| anyhow!("unknown column {name:?}; use one of {}", known.join(", ")))
    }

    fn has_colour(&self) -> bool {
        match self.args.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => self.args.target.file().is_none() && pager::is_coloured(),
        }
    }

    /// Returns the width of tables: the terminal's, or what `COLUMNS` states for a pipe; `None` without either.
    fn width(&self) -> Option<usize> {
        if self.args.wide {
            return Some(usize::MAX);
        }
        if self.args.target.file().is_some() {
            return None;
        }
        pager::width()
    }
}

/// Flushes after each line, so that readers receive it at once.
struct EachLine<'o>(&'o mut Output);

impl Write for EachLine<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(bytes)?;
        if bytes.ends_with(b"\n") {
            self.0.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
