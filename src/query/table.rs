//! Rows as columns that line up, for people.

use std::borrow::Cow;
use std::io::Write;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNodeRef, Term};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::QUERY_PREFIXES;
use super::answer::{QueryError, ResultsError, Solutions};
use crate::diagnostic::printable;
use crate::vocab::rdf;

/// Rows that widths are taken from. Those after them are written as they come.
const MEASURED: usize = 1000;
/// No column is made narrower than this.
const NARROWEST: usize = 8;
/// No cell is wider than this where nothing says how wide the table may be.
const WIDEST: usize = 400;
const GAP: &str = "  ";

/// How a table looks.
#[derive(Debug, Clone, Default)]
pub struct Table {
    width: Option<usize>,
    base: Option<String>,
}

/// The text of a cell, whether it is a number, and whether there was more of it.
#[derive(Default)]
struct Cell {
    text: String,
    number: bool,
    cut: bool,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, number: false, cut: false }
    }
}

/// What was written of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WrittenRows {
    /// Rows.
    pub rows: u64,
    /// Cells that are not whole, where the table has no width of its own.
    pub cut: u64,
}

impl Table {
    /// Not wider than this number of columns: long cells are cut, and end in `…` then. Without a width, only those of more
    /// than 400 columns are.
    pub fn with_width(self, width: Option<usize>) -> Self {
        Self { width, ..self }
    }

    /// Leaves out what IRIs begin with, so that `<https://example.org/log#m12>` is `<#m12>`.
    pub fn with_base(self, base: Option<String>) -> Self {
        Self { base, ..self }
    }

    /// Writes the rows, and counts them.
    pub(super) fn write(&self, solutions: Solutions<'_>, mut writer: impl Write) -> Result<WrittenRows, ResultsError> {
        let names: Vec<_> = solutions.variables.iter().map(|variable| variable.as_str()).collect();
        let mut rows =
            solutions.rows.map(|row| Ok(row?.values().iter().map(|value| self.cell(value.as_ref())).collect()));
        let measured: Vec<Vec<Cell>> = rows.by_ref().take(MEASURED).collect::<Result<_, QueryError>>()?;
        let columns = self.columns(&names, &measured);

        let heads: Vec<Cell> = names.iter().map(|name| (*name).to_owned().into()).collect();
        write_row(&heads, &columns, &mut writer)?;
        let rule: Vec<_> = columns.iter().map(|column| "─".repeat(column.width)).collect();
        writeln!(writer, "{}", rule.join(GAP))?;
        let mut written = WrittenRows::default();
        for row in measured.into_iter().map(Ok).chain(rows) {
            let row = row?;
            write_row(&row, &columns, &mut writer)?;
            written.rows += 1;
            written.cut += row.iter().filter(|cell| cell.cut && self.width.is_none()).count() as u64;
        }
        writer.flush()?;
        Ok(written)
    }

    /// Writes the rows as a table of Markdown, and counts them.
    pub(super) fn write_markdown(
        &self,
        solutions: Solutions<'_>,
        mut writer: impl Write,
    ) -> Result<WrittenRows, ResultsError> {
        let names: Vec<_> = solutions.variables.iter().map(|variable| variable.as_str()).collect();
        let whole = Self { width: Some(usize::MAX), base: self.base.clone() };
        let mut rows =
            solutions.rows.map(|row| Ok(row?.values().iter().map(|value| whole.cell(value.as_ref())).collect()));
        let measured: Vec<Vec<Cell>> = rows.by_ref().take(MEASURED).collect::<Result<_, QueryError>>()?;
        let columns = self.columns(&names, &measured);
        writeln!(writer, "| {} |", names.join(" | "))?;
        let rule: Vec<_> = columns.iter().map(|column| if column.right { "--:" } else { "---" }).collect();
        writeln!(writer, "| {} |", rule.join(" | "))?;
        let mut written = WrittenRows::default();
        for row in measured.into_iter().map(Ok).chain(rows) {
            let cells: Vec<_> = row?.iter().map(|cell| markdown(&cell.text)).collect();
            writeln!(writer, "| {} |", cells.join(" | "))?;
            written.rows += 1;
        }
        writer.flush()?;
        Ok(written)
    }

    fn cell(&self, value: Option<&Term>) -> Cell {
        let mut cell = match value {
            None => Cell::default(),
            Some(Term::NamedNode(node)) => self.iri(node.as_ref()).into(),
            Some(Term::Literal(literal)) => self.literal(literal),
            Some(term) => printable(&term.to_string()).into_owned().into(),
        };
        if let Cow::Owned(text) = cut(&cell.text, self.width.unwrap_or(WIDEST)) {
            (cell.text, cell.cut) = (text, true);
        }
        cell
    }

    fn literal(&self, literal: &Literal) -> Cell {
        let datatype = literal.datatype();
        let number = [xsd::INTEGER, xsd::DECIMAL, xsd::DOUBLE, xsd::FLOAT].contains(&datatype);
        let plain = [xsd::STRING, xsd::BOOLEAN, xsd::DATE_TIME, xsd::TIME, xsd::DATE, rdf::JSON].contains(&datatype);
        let text = printable(literal.value()).into_owned();
        let text = match literal.language() {
            Some(language) => format!("{text}@{language}"),
            None if number || plain => text,
            None => format!("\"{text}\"^^{}", self.iri(datatype)),
        };
        Cell { text, number, cut: false }
    }

    fn iri(&self, node: NamedNodeRef<'_>) -> String {
        let iri = node.as_str();
        if let Some(rest) = self.base.as_deref().and_then(|base| iri.strip_prefix(base)) {
            return printable(&format!("<{rest}>")).into_owned();
        }
        for (prefix, namespace) in QUERY_PREFIXES {
            if let Some(local) = iri.strip_prefix(namespace)
                && !local.is_empty()
                && local.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
            {
                return format!("{prefix}:{local}");
            }
        }
        printable(&format!("<{iri}>")).into_owned()
    }

    fn columns(&self, names: &[&str], rows: &[Vec<Cell>]) -> Vec<Column> {
        let mut columns: Vec<_> = names
            .iter()
            .enumerate()
            .map(|(index, name)| {
                let cells = || rows.iter().filter_map(|row| row.get(index));
                let widest = cells().map(|cell| cell.text.width()).max().unwrap_or(0);
                let numbers = cells().any(|cell| cell.number);
                let right = numbers && cells().all(|cell| cell.number || cell.text.is_empty());
                Column { width: widest.max(name.width()), right, cut: self.width.is_some() }
            })
            .collect();
        let Some(width) = self.width else { return columns };
        let gaps = GAP.len() * columns.len().saturating_sub(1);
        let total = columns.iter().map(|column| column.width).sum::<usize>() + gaps;
        // The widest columns give way first, all to one width.
        for _ in width..total {
            let widest = columns.iter_mut().max_by_key(|column| column.width);
            let Some(widest) = widest.filter(|column| column.width > NARROWEST) else { break };
            widest.width -= 1;
        }
        columns
    }
}

/// The text with a backslash before what Markdown would take for more than text.
fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\`*_[]<>|~&#".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

struct Column {
    width: usize,
    right: bool,
    /// Whether cells are cut to the width.
    cut: bool,
}

fn write_row(row: &[Cell], columns: &[Column], writer: &mut impl Write) -> Result<(), ResultsError> {
    let mut line = String::new();
    for (index, (cell, column)) in row.iter().zip(columns).enumerate() {
        if index > 0 {
            line.push_str(GAP);
        }
        let text = if column.cut { cut(&cell.text, column.width) } else { Cow::from(&cell.text) };
        let padding = " ".repeat(column.width.saturating_sub(text.width()));
        match column.right {
            true => line.extend([&*padding, &*text]),
            false => line.extend([&*text, &*padding]),
        }
    }
    writeln!(writer, "{}", line.trim_end())?;
    Ok(())
}

/// The text in at most `width` columns: the beginning and `…`, if it is longer.
fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return text.into();
    }
    let mut used = 1;
    let fits = |character: &char| {
        used += character.width().unwrap_or(0);
        used <= width
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use oxigraph::sparql::QuerySolution;
    use oxrdf::{NamedNode, Variable};

    use super::*;

    fn table(table: &Table, names: &[&str], rows: &[&[Term]]) -> String {
        let variables: Vec<_> = names.iter().map(|name| Variable::new_unchecked(*name)).collect();
        let rows: Vec<_> = rows
            .iter()
            .map(|row| Ok(QuerySolution::from((variables.clone(), row.iter().cloned().map(Some).collect::<Vec<_>>()))))
            .collect();
        let mut out = Vec::new();
        table.write(Solutions { variables, rows: Box::new(rows.into_iter()) }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn node(iri: &str) -> Term {
        NamedNode::new_unchecked(iri).into()
    }

    #[test]
    fn columns_line_up_and_numbers_stand_right() {
        let json = Literal::new_typed_literal("[1]", rdf::JSON);
        let shown = table(
            &Table::default().with_base(Some("https://example.org/log".to_owned())),
            &["message", "count", "params"],
            &[
                &[node("https://example.org/log#m1"), Literal::from(7).into(), json.into()],
                &[node("http://json-rpc.org/ontology#Request"), Literal::from(12).into(), Literal::from("日本").into()],
            ],
        );
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!(
            lines,
            [
                "message       count  params",
                "────────────  ─────  ──────",
                "<#m1>             7  [1]",
                "jrpc:Request     12  日本",
            ]
        );
    }

    #[test]
    fn one_long_cell_does_not_widen_all_rows() {
        let rows: Vec<[Term; 2]> = (0..3000)
            .map(|row| {
                [Literal::from(if row == 7 { "x".repeat(1 << 20) } else { "a".to_owned() }).into(), node("urn:b")]
            })
            .collect();
        let rows: Vec<&[Term]> = rows.iter().map(|row| &row[..]).collect();
        let shown = table(&Table::default(), &["a", "b"], &rows);
        assert!(shown.len() < 3_000 * 420, "{}", shown.len());
        assert!(shown.contains(&format!("{}…  <urn:b>", "x".repeat(399))));
    }

    #[test]
    fn long_cells_are_cut_on_a_terminal_only() {
        let long: Term = Literal::from("x".repeat(100)).into();
        let row: &[Term] = &[Literal::from("short").into(), long];
        assert!(table(&Table::default(), &["a", "b"], &[row]).contains(&"x".repeat(100)));
        let cut = table(&Table::default().with_width(Some(40)), &["a", "b"], &[row]);
        for line in cut.lines() {
            assert!(line.width() <= 40, "{line}");
        }
        assert!(cut.contains("xxx…"));
    }

    #[test]
    fn a_terminal_is_not_given_control_characters() {
        let shown = table(&Table::default(), &["a"], &[&[Literal::from("a\u{1b}[2Jb\nc").into()]]);
        assert!(shown.contains("a\\u{1b}[2Jb\\nc"), "{shown}");
    }
}
