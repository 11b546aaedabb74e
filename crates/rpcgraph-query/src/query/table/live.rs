//! Rows that arrive one by one: their columns have widths before the first row is known.

use std::io::Write;

use oxigraph::sparql::QuerySolution;

use super::layout::{LaidOutColumn, TableLayout};
use super::{CellPage, Table, WHOLE, WrittenRows};
use crate::diagnostic::display_width;
use crate::query::answer::{QueryError, ResultsError};

/// The widths of columns, for usual values.
const USUAL: [(&str, usize); 11] = [
    ("session", 24),
    ("time", 12),
    ("kind", 13),
    ("method", 16),
    ("code", 6),
    ("id", 6),
    ("sender", 6),
    ("error", 40),
    ("about", 16),
    ("content", 40),
    ("data", 20),
];
/// The width of other columns of text.
const OTHER: usize = 10;

impl Table {
    /// Writes the names of the columns, and rows as they arrive, and counts the rows. A new day stands above its first time.
    pub(super) fn write_live(
        &self,
        names: &[&str],
        rows: impl Iterator<Item = Result<QuerySolution, QueryError>>,
        writer: &mut dyn Write,
    ) -> Result<WrittenRows, ResultsError> {
        let (mut written, mut cells) = (WrittenRows::default(), CellPage::new(names.len()));
        let (page, units) = (self.live_layout(names), self.units(names));
        let (mut day, mut line) = (None, String::new());
        self.head(&page, false, writer)?;
        writer.flush()?;
        for row in rows {
            cells.clear();
            self.add(&row?, &units, &mut cells)?;
            for index in 0..names.len() {
                let this = cells.shorten_times(index).filter(|this| day.as_ref() != Some(this));
                if let Some(this) = this {
                    writeln!(writer, "{this}")?;
                    day = Some(this);
                }
            }
            match page.records {
                true => self.record(&cells, 0, &page, written.rows > 0, writer)?,
                false => self.row(&cells, 0, &page, &mut line, writer)?,
            }
            written.rows += 1;
        }
        page.end(self.width, writer)?;
        Ok(written)
    }

    /// Determines the layout without rows. The widest text takes the columns that are left over.
    fn live_layout(&self, names: &[&str]) -> TableLayout {
        let width = self.width.filter(|width| *width < usize::MAX);
        let mut page = TableLayout { keys: self.keys(), ..TableLayout::default() };
        for (index, name) in names.iter().enumerate() {
            if !self.is_shown(name) {
                page.left_out.push((*name).to_owned());
                continue;
            }
            let right = self.unit(name).is_some();
            let usual = USUAL.iter().find(|(usual, _)| usual == name).map_or(OTHER, |(_, width)| *width);
            let usual = if right || index == 0 { 0 } else { usual };
            let text = width.is_some() && !right && !WHOLE.contains(name);
            let column_width = usual.max(display_width(name));
            page.columns.push(LaidOutColumn { index, width: column_width, name: (*name).to_owned(), right, text });
        }
        let Some(width) = width else { return page };
        let mut page = self.fit(page, width);
        let left = width.saturating_sub(page.width());
        if let Some(widest) = page.columns.iter_mut().filter(|column| column.text).max_by_key(|column| column.width) {
            widest.width += left;
        }
        page
    }
}
