//! Writing answers: the four result formats of the W3C, JSON lines, tables, and graphs in every syntax.

use std::io::Write;

use oxigraph::sparql::QuerySolution;
use oxigraph::sparql::results::{QueryResultsFormat, QueryResultsSerializer};
use oxrdf::vocab::xsd;
use oxrdf::{GraphName, Literal, LiteralRef, NamedNode, Quad, Term, Variable};
use serde_json::value::RawValue;

use super::answer::{ResultsError, Solutions, Triples, computed};
use super::table::Table;
pub use super::table::WrittenRows;
use crate::diagnostic::markup::not_xml;
use crate::json;
use crate::sink::{QuadSink as _, RdfXmlSink, SinkError, Syntax, XmlWriter, serializer, write_line};
use crate::vocab::rdf;

/// A format for rows and booleans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResultsFormat {
    /// Columns for people.
    #[default]
    Table,
    /// [SPARQL 1.1 Query Results CSV](https://www.w3.org/TR/sparql11-results-csv-tsv/).
    Csv,
    /// [SPARQL 1.1 Query Results TSV](https://www.w3.org/TR/sparql11-results-csv-tsv/).
    Tsv,
    /// [SPARQL 1.1 Query Results JSON](https://www.w3.org/TR/sparql11-results-json/).
    Json,
    /// One JSON object per row, with a member for each bound column.
    JsonLines,
    /// [SPARQL Query Results XML](https://www.w3.org/TR/rdf-sparql-XMLres/).
    Xml,
    /// A table of [GitHub Flavored Markdown](https://github.github.com/gfm/#tables-extension-).
    Markdown,
}

impl ResultsFormat {
    /// Every format, in the order of the documentation.
    pub const ALL: [Self; 7] =
        [Self::Table, Self::Csv, Self::Tsv, Self::Json, Self::JsonLines, Self::Xml, Self::Markdown];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Json => "json",
            Self::JsonLines => "jsonl",
            Self::Xml => "xml",
            Self::Markdown => "markdown",
        }
    }

    /// Returns the format for a file name's extension.
    pub fn from_extension(extension: &str) -> Option<Self> {
        match extension {
            // The parser library maps `txt` to CSV.
            "txt" => return Some(Self::Table),
            "jsonl" | "ndjson" => return Some(Self::JsonLines),
            "md" => return Some(Self::Markdown),
            _ => {}
        }
        let standard = QueryResultsFormat::from_extension(extension)?;
        Self::ALL.into_iter().find(|format| format.standard() == Some(standard))
    }

    /// Returns the corresponding W3C format, if there is one.
    fn standard(self) -> Option<QueryResultsFormat> {
        match self {
            Self::Table | Self::JsonLines | Self::Markdown => None,
            Self::Csv => Some(QueryResultsFormat::Csv),
            Self::Tsv => Some(QueryResultsFormat::Tsv),
            Self::Json => Some(QueryResultsFormat::Json),
            Self::Xml => Some(QueryResultsFormat::Xml),
        }
    }
}

/// Writes rows as they arrive, and counts them.
pub fn write_solutions(
    solutions: Solutions<'_>,
    format: ResultsFormat,
    table: &Table,
    writer: &mut dyn Write,
) -> Result<WrittenRows, ResultsError> {
    let standard = match (format.standard(), format) {
        (Some(standard), _) => standard,
        (None, ResultsFormat::JsonLines) => return write_json_lines(solutions, writer),
        (None, ResultsFormat::Markdown) => return table.write_markdown(solutions, writer),
        (None, _) => return table.write(solutions, writer),
    };
    let mut xml;
    let out: &mut dyn Write = match format {
        ResultsFormat::Xml => {
            xml = XmlWriter(&mut *writer);
            &mut xml
        }
        _ => &mut *writer,
    };
    let mut serializer =
        QueryResultsSerializer::from_format(standard).serialize_solutions_to_writer(out, solutions.variables)?;
    let mut written = WrittenRows::default();
    for row in solutions.rows {
        let row = row?;
        if format == ResultsFormat::Xml {
            check_xml(&row, written.rows + 1)?;
        }
        // CSV writes an IRI as its text. The serializer quotes commas in literals alone.
        let is_quoted = |node: &NamedNode| format == ResultsFormat::Csv && node.as_str().contains(',');
        serializer.serialize(row.iter().map(|(variable, term)| match term {
            Term::NamedNode(node) if is_quoted(node) => {
                (variable, LiteralRef::new_simple_literal(node.as_str()).into())
            }
            term => (variable, term.as_ref()),
        }))?;
        written.rows += 1;
    }
    serializer.finish()?;
    // The serializer ends only lines of rows.
    if matches!(format, ResultsFormat::Json | ResultsFormat::Xml) {
        writeln!(writer)?;
    }
    writer.flush()?;
    Ok(written)
}

/// Writes one JSON object per row, with a member for each bound column. Numbers and booleans become JSON values,
/// rdf:JSON becomes its content; anything else is a string: an IRI, or the text of a literal.
fn write_json_lines(solutions: Solutions<'_>, writer: &mut dyn Write) -> Result<WrittenRows, ResultsError> {
    let mut written = WrittenRows::default();
    let mut line = String::new();
    for row in solutions.rows {
        line.clear();
        for (variable, value) in row?.iter() {
            line.push(if line.is_empty() { '{' } else { ',' });
            json::write_str(variable.as_str(), &mut line);
            line.push(':');
            match value {
                Term::NamedNode(node) => json::write_str(node.as_str(), &mut line),
                Term::Literal(literal) => match plain_json(literal) {
                    // In JSON, line ends are only white space.
                    Some(plain) => line.extend(plain.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c })),
                    None => json::write_str(literal.value(), &mut line),
                },
                term => json::write_str(&term.to_string(), &mut line),
            }
        }
        writeln!(writer, "{}{line}}}", if line.is_empty() { "{" } else { "" })?;
        written.rows += 1;
    }
    writer.flush()?;
    Ok(written)
}

/// Returns the JSON text of a literal that is valid JSON.
fn plain_json(literal: &Literal) -> Option<&str> {
    let (text, datatype) = (literal.value(), literal.datatype());
    let is_json = |text: &str| serde_json::from_str::<&RawValue>(text).is_ok();
    let is_number = || text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    let is_plain = match datatype {
        rdf::JSON => is_json(text),
        xsd::BOOLEAN => match text {
            "true" | "1" => return Some("true"),
            "false" | "0" => return Some("false"),
            _ => false,
        },
        xsd::INTEGER | xsd::DECIMAL | xsd::DOUBLE | xsd::FLOAT => is_number() && is_json(text),
        _ => false,
    };
    is_plain.then_some(text)
}

/// Returns the rows with only these columns, in this order. Fails with the name of an unknown column.
pub fn with_columns<'a>(solutions: Solutions<'a>, names: &[String]) -> Result<Solutions<'a>, String> {
    let place = |name: &String| solutions.variables.iter().position(|variable| variable.as_str() == name);
    let places: Vec<usize> = names.iter().map(|name| place(name).ok_or(name)).collect::<Result<_, _>>()?;
    let variables: Vec<Variable> = places.iter().filter_map(|place| solutions.variables.get(*place).cloned()).collect();
    let value = |row: &[Option<Term>], place: &usize| row.get(*place).cloned().flatten();
    Ok(computed(solutions, variables, move |row| places.iter().map(|place| value(row, place)).collect()))
}

/// Adds the columns among `names` that end in `Name`, such as `messageName`: the short names, as tables show them, of the
/// IRIs in another column.
pub fn with_short_names<'a>(solutions: Solutions<'a>, names: &[String], base: Option<&str>) -> Solutions<'a> {
    let place = |name: &str| solutions.variables.iter().position(|variable| variable.as_str() == name);
    let new = names.iter().filter(|name| place(name).is_none());
    let new: Vec<(usize, &String)> = new.filter_map(|name| Some((place(name.strip_suffix("Name")?)?, name))).collect();
    let mut variables = solutions.variables.clone();
    variables.extend(new.iter().map(|(_, name)| Variable::new_unchecked(*name)));
    let places: Vec<usize> = new.into_iter().map(|(place, _)| place).collect();
    let base = base.map(str::to_owned);
    computed(solutions, variables, move |row| {
        let names = places.iter().map(|place| match row.get(*place)?.as_ref()? {
            Term::NamedNode(node) => {
                Some(Literal::from(&*super::names::short_name(node.as_ref(), base.as_deref())).into())
            }
            other => Some(other.clone()),
        });
        row.iter().cloned().chain(names).collect()
    })
}

/// Adds a `'` before each text that a spreadsheet would execute: one that begins with `=`, `+`, `-`, `@`, a tab or a
/// carriage return and is not a number.
pub fn guarded(solutions: Solutions<'_>) -> Solutions<'_> {
    let is_command = |literal: &Literal| {
        literal.value().starts_with(['=', '+', '-', '@', '\t', '\r']) && literal.value().parse::<f64>().is_err()
    };
    let guard = move |value: &Option<Term>| match value {
        Some(Term::Literal(literal)) if is_command(literal) => {
            Some(Literal::from(format!("'{}", literal.value())).into())
        }
        value => value.clone(),
    };
    let variables = solutions.variables.clone();
    computed(solutions, variables, move |row| row.iter().map(guard).collect())
}

/// Writes the result of an `ASK`.
pub fn write_boolean(truth: bool, format: ResultsFormat, writer: &mut dyn Write) -> Result<(), ResultsError> {
    match format.standard() {
        None => writeln!(writer, "{truth}")?,
        Some(standard) => {
            QueryResultsSerializer::from_format(standard).serialize_boolean_to_writer(&mut *writer, truth)?;
            writeln!(writer)?;
        }
    }
    Ok(writer.flush()?)
}

fn check_xml(row: &QuerySolution, number: u64) -> Result<(), SinkError> {
    for value in row.values().iter().flatten() {
        if let Term::Literal(literal) = value
            && let Some(character) = not_xml(literal.value())
        {
            return Err(SinkError::NotXml { character: character.into(), subject: format!("row {number}") });
        }
    }
    Ok(())
}

/// Writes a graph as its triples arrive, and counts them. IRIs are relative to `base` if the syntax allows it.
pub fn write_graph(
    triples: Triples<'_>,
    syntax: Syntax,
    base: Option<&str>,
    writer: &mut (dyn Write + Send),
) -> Result<u64, ResultsError> {
    let mut count = 0;
    match syntax {
        Syntax::RdfXml => {
            // The sink refuses literals that XML cannot carry.
            let mut sink = RdfXmlSink::new(&mut *writer);
            for triple in triples {
                sink.quads(&[triple?.in_graph(GraphName::DefaultGraph)])?;
                count += 1;
            }
            sink.finish()?;
        }
        Syntax::JsonLdLines => {
            // One document for each run of triples with the same subject.
            let mut run: Vec<Quad> = Vec::new();
            for triple in triples {
                let quad = triple?.in_graph(GraphName::DefaultGraph);
                if run.first().is_some_and(|first| first.subject != quad.subject) {
                    write_line(&run, &mut *writer)?;
                    run.clear();
                }
                run.push(quad);
                count += 1;
            }
            write_line(&run, &mut *writer)?;
        }
        _ => {
            let mut serializer = serializer(syntax, base).for_writer(&mut *writer);
            for triple in triples {
                serializer.serialize_triple(&triple?)?;
                count += 1;
            }
            serializer.finish()?;
        }
    }
    writer.flush()?;
    Ok(count)
}
