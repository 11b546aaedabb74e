//! Rows that arrive one by one, each on a line of its values.

use std::io::Write;

use oxigraph::sparql::QuerySolution;

use super::fit::folded;
use super::{CellKind, CellPage, GAP, LINES, PLAIN, RED, Table, WrittenRows, has_failed};
use crate::query::answer::{QueryError, ResultsError};

/// The maximum width of cells that are aligned.
const NARROW: usize = 14;

impl Table {
    /// Writes the names of the columns, and rows as they arrive, and counts the rows. A new day stands above its first time, and so does a new session.
    pub(super) fn write_live(
        &self,
        names: &[&str],
        rows: impl Iterator<Item = Result<QuerySolution, QueryError>>,
        writer: &mut dyn Write,
    ) -> Result<WrittenRows, ResultsError> {
        let mut written = WrittenRows::default();
        let (mut widths, mut cells) = (vec![0; names.len()], CellPage::new(names.len()));
        let units = self.units(names);
        let (mut day, mut session) = (None, String::new());
        writeln!(writer, "{}", names.join(GAP))?;
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
            let mut line = String::new();
            let mut failed = false;
            for ((index, name), widest) in names.iter().enumerate().zip(&mut widths) {
                let (cell, text) = cells.get(0, index);
                if cell.kind == CellKind::Empty || (*name == "session" && session == text) {
                    continue;
                }
                if *name == "session" {
                    text.clone_into(&mut session);
                }
                failed |= has_failed(name, text);
                let width = cell.width;
                *widest = width.max(*widest).min(NARROW);
                let padding = if *name == "session" { 0 } else { widest.saturating_sub(width) };
                line.extend([text, &" ".repeat(padding), GAP]);
            }
            let (style, end) = if failed && self.colour { (RED, PLAIN) } else { ("", "") };
            for line in folded(line.trim_end(), self.width.unwrap_or(usize::MAX), LINES) {
                writeln!(writer, "{style}{line}{end}")?;
            }
            written.rows += 1;
        }
        Ok(written)
    }
}
