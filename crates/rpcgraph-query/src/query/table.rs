//! Rows as aligned columns, for people.
//!
//! Rows are laid out in pages. Columns with the same value in every row of a page stand above it; empty columns are left out.
//! If a row is still wider than the terminal, the least important columns are left out; if that is not enough, each row
//! becomes a record of lines. A page with the same layout as the previous one continues below it.

mod cells;
mod fit;
mod layout;
mod live;
mod units;

use std::borrow::Cow;
use std::io::Write;

use oxigraph::sparql::QuerySolution;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term, Variable};

use self::cells::{Cell, CellKind, CellPage};
use self::fit::shortened;
pub use self::fit::{cut, cut_middle, folded, frequent_prefix};
use self::layout::{LaidOutColumn, TableLayout, fitted, write_line};
pub use self::units::{duration, trimmed};
use super::answer::{QueryError, ResultsError, Solutions};
use super::names::short_name;
use crate::diagnostic::markup::markdown;
use crate::diagnostic::{display_width, printable};
use crate::vocab::rdf;

/// The number of rows in a page.
const PAGE: usize = 1000;
/// The minimum width of a shortened column of text.
const NARROWEST: usize = 10;
/// The minimum width of a shortened column of text if other columns are left out.
const READABLE: usize = 14;
/// The maximum width of a cell if the table does not have a width.
const WIDEST: usize = 400;
/// The maximum length of any cell on a terminal: a page of cells is in memory.
const LONGEST: usize = 1 << 16;
/// The columns whose texts are never cut.
const WHOLE: [&str; 2] = ["id", "problem"];
/// The columns that are left out if a table is too wide, in this order.
const LEAST: &str = "session data id request answer sender content about kind min max source format notifications responses \
                     batches others ended last state";
/// The columns that are left out after these, and after the first column was cut.
const NEXT: &str = "server code seconds";
/// The maximum number of lines of a long text in a record; other values are never cut.
const LINES: usize = 6;
/// Formats a number with its unit.
type ColumnUnit = fn(f64) -> String;

const GAP: &str = "  ";
const RED: &str = "\u{1b}[31m";
const PLAIN: &str = "\u{1b}[0m";

/// The layout options of a table.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// The width in columns: long texts are cut and end in `…`, and rows that do not fit become records of lines. Without a
    /// width, only cells of more than 400 columns are cut.
    pub width: Option<usize>,
    /// A prefix that IRIs lose, so that `<https://example.org/log#m12>` becomes `m12`.
    pub base: Option<String>,
    /// True if failures are red.
    pub colour: bool,
    /// True if the first column is a heading, which is not repeated in rows below.
    pub sections: bool,
    /// True if rows are shown one by one as they arrive, in columns whose widths do not depend on them.
    pub live: bool,
    /// True if all columns are shown.
    pub all_columns: bool,
    /// Which columns are shown and how, by name.
    pub columns: TableColumns,
}

/// The columns of a question, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableColumns {
    /// The columns that are shown unless all are wanted; empty: all.
    pub shown: Vec<String>,
    /// The number of values that others rest on, of how many, less how many: the first is shown, too, unless it is the
    /// difference of the others in every row.
    pub partial: Vec<String>,
    /// The columns of seconds; `HEADING/COLUMN` is one below a heading.
    pub seconds: Vec<String>,
    /// The columns of bytes, likewise.
    pub bytes: Vec<String>,
}

/// Counts of a written answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WrittenRows {
    /// Rows.
    pub rows: u64,
    /// The number of cut cells, in a table without a width.
    pub cut: u64,
}

impl Table {
    /// Writes the rows, and counts them.
    pub(super) fn write(&self, solutions: Solutions<'_>, writer: &mut dyn Write) -> Result<WrittenRows, ResultsError> {
        let names: Vec<_> = solutions.variables.iter().map(|variable| variable.as_str()).collect();
        if self.live {
            return self.write_live(&names, solutions.rows, writer);
        }
        let units = self.units(&names);
        let (mut rows, mut cells) = (solutions.rows, CellPage::new(names.len()));
        let mut written = WrittenRows::default();
        let mut shown: Option<TableLayout> = None;
        let mut line = String::new();
        loop {
            cells.clear();
            rows.by_ref().take(PAGE).try_for_each(|row| self.add(&row?, &units, &mut cells))?;
            if cells.rows == 0 && shown.is_some() {
                break;
            }
            if self.width.is_none() {
                written.cut += cells.cut() as u64;
            }
            if self.sections {
                cells.without_repeats();
            }
            let next = self.page(&names, &mut cells);
            let page = match shown.take() {
                Some(last) if last.takes(&next) => last,
                last => {
                    last.iter().try_for_each(|last| last.end(self.width, writer))?;
                    self.head(&next, last.is_some(), writer)?;
                    next
                }
            };
            for (row, nth) in (0..cells.rows).zip(written.rows..) {
                match page.records {
                    true => self.record(&cells, row, &page, nth > 0, writer)?,
                    false => self.row(&cells, row, &page, &mut line, writer)?,
                }
            }
            written.rows += cells.rows as u64;
            shown = Some(page);
        }
        shown.iter().try_for_each(|last| last.end(self.width, writer))?;
        writer.flush()?;
        Ok(written)
    }

    /// Determines the layout of a page. The common part of all times in a column is removed.
    fn page(&self, names: &[&str], cells: &mut CellPage) -> TableLayout {
        let mut page = TableLayout { keys: self.keys(), ..TableLayout::default() };
        let partial = self.columns.partial.first().filter(|_| self.is_partial(names, cells));
        for (index, name) in names.iter().enumerate() {
            let name = (*name).to_owned();
            let is_empty = cells.rows > 0 && cells.column(index).all(|(cell, _)| cell.kind == CellKind::Empty);
            if is_empty && index > 0 && !self.all_columns {
                continue;
            }
            if !self.is_shown(&name) && partial != Some(&name) {
                page.left_out.extend((cells.rows > 0).then_some(name));
                continue;
            }
            let (first, value) = cells.get(0, index);
            let is_first = |(cell, text): (&Cell, &str)| cell.kind == first.kind && !cell.cut && text == value;
            if cells.rows > 1 && cells.column(index).all(is_first) {
                page.above.push((name, value.to_owned()));
                continue;
            }
            if let Some(day) = cells.shorten_times(index) {
                page.above.push((name.clone(), day));
            }
            let right = cells.is_number(index);
            let is_text = page.columns.is_empty() || cells.column(index).any(|(cell, _)| cell.kind == CellKind::Text);
            let text = is_text && !WHOLE.contains(&&*name);
            if right && self.unit(&name).is_none() {
                cells.align(index);
            }
            let widest = cells.column(index).map(|(cell, _)| cell.width).max().unwrap_or(0);
            page.columns.push(LaidOutColumn { index, width: widest.max(display_width(&name)), name, right, text });
        }
        let Some(width) = self.width else { return page };
        if fitted(page.columns.clone(), width, usize::MAX, (page.keys, false)).is_none() {
            for (nth, column) in page.columns.iter_mut().enumerate() {
                let common = cells.without_prefix(column.index).map(|prefix| format!("{prefix}…"));
                // Below a heading, rows have other names.
                let short = match (common, nth) {
                    (None, 0) if !self.sections => {
                        cells.with_short_prefix(column.index).map(|prefix| format!("… = {prefix}"))
                    }
                    (common, _) => common,
                };
                if let Some(short) = short {
                    let widest = cells.column(column.index).map(|(cell, _)| cell.width).max().unwrap_or(0);
                    column.width = widest.max(display_width(&column.name));
                    page.above.push((column.name.clone(), short));
                }
            }
        }
        self.fit(page, width)
    }

    /// Fits a layout into a width: shortens texts, leaves out the least important columns, or makes rows records of lines.
    fn fit(&self, page: TableLayout, width: usize) -> TableLayout {
        let (mut columns, mut left_out) = (page.columns.clone(), page.left_out.clone());
        let fitting = loop {
            let narrowest = if left_out.len() == page.left_out.len() { NARROWEST } else { READABLE };
            let place = |name| (page.keys..columns.len()).find(|place| columns[*place].name == name);
            let of = |names: &'static str| names.split(' ').find_map(place).filter(|_| !self.all_columns);
            let least = of(LEAST);
            if let Some(fitting) = fitted(columns.clone(), width, narrowest, (page.keys, least.is_none())) {
                break Some(fitting);
            }
            match least.or_else(|| of(NEXT)) {
                Some(least) => left_out.push(columns.remove(least).name),
                None => break None,
            }
        };
        match fitting {
            Some(columns) => TableLayout { columns, left_out, ..page },
            None => TableLayout { records: true, ..page },
        }
    }

    /// Returns the number of columns that name a row: below a heading, the next one does.
    fn keys(&self) -> usize {
        1 + usize::from(self.sections)
    }

    /// True if a column is among those that are shown.
    fn is_shown(&self, name: &str) -> bool {
        let shown = &self.columns.shown;
        shown.is_empty() || self.all_columns || shown.iter().any(|shown| shown == name)
    }

    /// True if some values in a page of cells rest on fewer numbers than there are.
    fn is_partial(&self, names: &[&str], cells: &CellPage) -> bool {
        let [known, all, less] = self.columns.partial.as_slice() else { return false };
        let index = |column: &String| names.iter().position(|name| name == column);
        let (Some(known), Some(all), Some(less)) = (index(known), index(all), index(less)) else { return false };
        let number = |row, column| cells.get(row, column).1.trim().parse::<u64>().unwrap_or_default();
        let rows = 0..cells.rows;
        rows.clone().any(|row| number(row, known) > 0)
            && rows.clone().any(|row| number(row, known) != number(row, all).saturating_sub(number(row, less)))
    }

    fn head(&self, page: &TableLayout, again: bool, writer: &mut dyn Write) -> Result<(), ResultsError> {
        if again {
            writeln!(writer)?;
        }
        let above: Vec<_> = page.above.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        for line in folded(&above.join("   "), self.width.unwrap_or(usize::MAX), usize::MAX) {
            writeln!(writer, "{line}")?;
        }
        if !page.above.is_empty() {
            writeln!(writer)?;
        }
        if !page.records {
            let names = page.columns.iter().map(|column| (column.name.as_str(), display_width(&column.name), false));
            write_line(names, page, &mut String::new(), writer)?;
            let rule: Vec<_> = page.columns.iter().map(|column| "─".repeat(column.width)).collect();
            writeln!(writer, "{}", rule.join(GAP))?;
        }
        Ok(())
    }

    fn row(
        &self,
        cells: &CellPage,
        row: usize,
        page: &TableLayout,
        line: &mut String,
        writer: &mut dyn Write,
    ) -> Result<(), ResultsError> {
        let cells = page.columns.iter().map(|column| {
            let (cell, text) = cells.get(row, column.index);
            (text, cell.width, self.colour && has_failed(&column.name, text))
        });
        write_line(cells, page, line, writer)
    }

    /// Writes a row as lines, each with the name of a column and its value.
    fn record(
        &self,
        cells: &CellPage,
        row: usize,
        page: &TableLayout,
        again: bool,
        writer: &mut dyn Write,
    ) -> Result<(), ResultsError> {
        if again {
            writeln!(writer)?;
        }
        let names = page.columns.iter().map(|column| display_width(&column.name)).max().unwrap_or(0);
        let width = self.width.unwrap_or(WIDEST).saturating_sub(names + GAP.len()).max(1);
        for column in &page.columns {
            let (_, text) = cells.get(row, column.index);
            let (style, end) = if self.colour && has_failed(&column.name, text) { (RED, PLAIN) } else { ("", "") };
            let most = if column.text { LINES } else { usize::MAX };
            for (nth, line) in folded(text.trim(), width, most).enumerate() {
                let name = if nth == 0 { &column.name } else { "" };
                let padding = " ".repeat(names.saturating_sub(display_width(name)));
                writeln!(writer, "{name}{padding}{GAP}{style}{line}{end}")?;
            }
        }
        Ok(())
    }

    /// Writes the rows as a Markdown table, and counts them.
    pub(super) fn write_markdown(
        &self,
        solutions: Solutions<'_>,
        writer: &mut dyn Write,
    ) -> Result<WrittenRows, ResultsError> {
        let names: Vec<_> = solutions.variables.iter().map(|variable| variable.as_str()).collect();
        let whole = Self { width: Some(usize::MAX), ..self.clone() };
        let (mut rows, mut cells) = (solutions.rows, CellPage::new(names.len()));
        rows.by_ref().take(PAGE).try_for_each(|row| whole.add(&row?, &[], &mut cells))?;
        writeln!(writer, "| {} |", names.join(" | "))?;
        let rule: Vec<_> = (0..names.len()).map(|index| if cells.is_number(index) { "--:" } else { "---" }).collect();
        writeln!(writer, "| {} |", rule.join(" | "))?;
        let mut written = WrittenRows::default();
        while cells.rows > 0 {
            for row in 0..cells.rows {
                let row: Vec<_> = (0..names.len()).map(|index| markdown(cells.get(row, index).1)).collect();
                writeln!(writer, "| {} |", row.join(" | "))?;
            }
            written.rows += cells.rows as u64;
            cells.clear();
            rows.by_ref().take(PAGE).try_for_each(|row| whole.add(&row?, &[], &mut cells))?;
        }
        writer.flush()?;
        Ok(written)
    }

    /// Adds a row to a page.
    fn add(&self, row: &QuerySolution, units: &[Option<ColumnUnit>], cells: &mut CellPage) -> Result<(), QueryError> {
        let section = row.values().first().and_then(Option::as_ref).filter(|_| self.sections);
        for (place, value) in row.values().iter().enumerate() {
            let unit =
                units.get(place).copied().flatten().or_else(|| self.unit_in(section?, row.variables().get(place)?));
            let with_unit = |literal: &Literal| Some(unit?(literal.value().parse().ok()?));
            let (text, kind) = match value {
                None => (Cow::Borrowed(""), CellKind::Empty),
                Some(Term::Literal(literal)) if let Some(text) = with_unit(literal) => (text.into(), CellKind::Number),
                Some(Term::NamedNode(node)) => (short_name(node.as_ref(), self.base.as_deref()), CellKind::Name),
                Some(Term::Literal(literal)) => self.literal(literal),
                Some(term) => (printable(&term.to_string()).into_owned().into(), CellKind::Name),
            };
            let most = self.width.map_or(WIDEST, |width| width.saturating_mul(LINES).max(LONGEST));
            let width = display_width(&text);
            if width <= most {
                cells.push(&text, width, kind, false);
            } else {
                let text = shortened(&text, width, most);
                cells.push(&text, display_width(&text), kind, true);
            }
        }
        cells.end_row();
        Ok(())
    }

    /// Returns the units of columns.
    fn units(&self, names: &[&str]) -> Vec<Option<ColumnUnit>> {
        names.iter().map(|name| self.unit(name)).collect()
    }

    /// Returns the unit of a column below a heading.
    fn unit_in(&self, section: &Term, column: &Variable) -> Option<ColumnUnit> {
        let Term::Literal(section) = section else { return None };
        self.unit(&format!("{}/{}", section.value(), column.as_str()))
    }

    fn unit(&self, name: &str) -> Option<ColumnUnit> {
        let is_of = |names: &[String]| names.iter().any(|known| known == name);
        let TableColumns { seconds, bytes, .. } = &self.columns;
        if is_of(seconds) { Some(duration) } else { is_of(bytes).then_some(units::bytes as ColumnUnit) }
    }

    fn literal<'l>(&self, literal: &'l Literal) -> (Cow<'l, str>, CellKind) {
        let datatype = literal.datatype();
        let number = [xsd::INTEGER, xsd::DECIMAL, xsd::DOUBLE, xsd::FLOAT].contains(&datatype);
        let plain = [xsd::STRING, xsd::BOOLEAN, xsd::TIME, xsd::DATE, xsd::ANY_URI, rdf::JSON].contains(&datatype);
        let text = printable(literal.value());
        match literal.language() {
            Some(language) => (format!("{text}@{language}").into(), CellKind::Text),
            None if number => (text, CellKind::Number),
            None if datatype == xsd::DATE_TIME => (text, CellKind::DateTime),
            None if plain => (text, CellKind::Text),
            None => (format!("\"{text}\"^^{}", short_name(datatype, self.base.as_deref())).into(), CellKind::Text),
        }
    }
}

/// Returns true if a value indicates a failure.
fn has_failed(column: &str, value: &str) -> bool {
    match column {
        "error" | "code" => !value.is_empty(),
        "errors" | "failures" | "others" => !matches!(value.trim(), "" | "0"),
        "kind" => matches!(value, "ErrorResponse" | "InvalidMessage" | "MalformedRecord"),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
