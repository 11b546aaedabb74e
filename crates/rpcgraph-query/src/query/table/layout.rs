//! The layout of a page of rows: its columns, their widths, and its lines.

use std::borrow::Cow;
use std::io::Write;

use super::fit::{cut_middle, shortened};
use super::{GAP, PLAIN, RED};
use crate::diagnostic::display_width;
use crate::query::answer::ResultsError;

/// The layout of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TableLayout {
    /// The columns above the page: their names, and the common value.
    pub above: Vec<(String, String)>,
    /// The names of columns that are not shown, since the table would be too wide.
    pub left_out: Vec<String>,
    pub columns: Vec<LaidOutColumn>,
    /// True if each row is a record of lines.
    pub records: bool,
    /// The number of columns that name a row: they are cut last, and in their middle, since names often differ at their ends.
    pub keys: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LaidOutColumn {
    pub index: usize,
    pub name: String,
    pub width: usize,
    pub right: bool,
    /// True if its cells may be cut.
    pub text: bool,
}

impl TableLayout {
    /// Returns the width of a row.
    pub fn width(&self) -> usize {
        row_width(&self.columns)
    }

    /// Returns true if the rows of another page can follow this one under the same head.
    pub fn takes(&self, other: &Self) -> bool {
        let fits = |(mine, theirs): (&LaidOutColumn, &LaidOutColumn)| {
            mine.name == theirs.name && mine.right == theirs.right && mine.width >= theirs.width
        };
        self.above == other.above
            && self.left_out == other.left_out
            && self.records == other.records
            && self.columns.len() == other.columns.len()
            && self.columns.iter().zip(&other.columns).all(fits)
    }

    pub fn end(&self, width: Option<usize>, writer: &mut dyn Write) -> Result<(), ResultsError> {
        if !self.left_out.is_empty() {
            writeln!(writer)?;
            let all = self.left_out.as_slice();
            let line = |shown: usize| {
                let more = all.len() - shown;
                let more = (more > 0).then(|| format!("{more} more"));
                let names: Vec<_> = all.iter().take(shown).cloned().chain(more).collect();
                format!("not shown: {} (--wide shows all)", names.join(", "))
            };
            let fits = |line: &String| width.is_none_or(|width| display_width(line) <= width);
            let fitting = (1..=all.len()).rev().map(line).find(fits);
            writeln!(writer, "{}", fitting.unwrap_or_else(|| line(0)))?;
        }
        Ok(())
    }
}

/// Returns the width of a row with these columns.
fn row_width(columns: &[LaidOutColumn]) -> usize {
    let gaps = GAP.len() * columns.len().saturating_sub(1);
    columns.iter().map(|column| column.width).sum::<usize>() + gaps
}

/// Returns the columns in this width, if they fit: the widest texts shrink first, all to one width that is not below
/// `narrowest`. The first `keys` columns shrink after the others, and only if `with_keys`.
pub(super) fn fitted(
    mut columns: Vec<LaidOutColumn>,
    width: usize,
    narrowest: usize,
    (keys, with_keys): (usize, bool),
) -> Option<Vec<LaidOutColumn>> {
    for _ in width..row_width(&columns) {
        let shrinks = |(place, column): &(usize, &mut LaidOutColumn)| {
            column.text && (*place >= keys || with_keys) && column.width > narrowest.max(display_width(&column.name))
        };
        let widest =
            columns.iter_mut().enumerate().filter(shrinks).max_by_key(|(place, column)| (*place >= keys, column.width));
        widest?.1.width -= 1;
    }
    Some(columns)
}

fn pad(line: &mut String, mut columns: usize) {
    const SPACES: &str = "                                                                ";
    while columns > 0 {
        let some = SPACES.get(..columns).unwrap_or(SPACES);
        line.push_str(some);
        columns -= some.len();
    }
}

/// Writes a line of cells, each given with its width, some of them in red.
pub(super) fn write_line<'c>(
    cells: impl Iterator<Item = (&'c str, usize, bool)>,
    page: &TableLayout,
    line: &mut String,
    writer: &mut dyn Write,
) -> Result<(), ResultsError> {
    line.clear();
    for (nth, ((text, width, red), column)) in cells.zip(&page.columns).enumerate() {
        if nth > 0 {
            line.push_str(GAP);
        }
        // Numbers and times are not cut: they reach beyond their column.
        let text = match (width > column.width && column.text, nth) {
            (false, _) => Cow::Borrowed(text),
            (true, nth) if nth < page.keys => cut_middle(text, column.width),
            (true, _) => shortened(text, width, column.width).into(),
        };
        // A text ends earlier if its next character is wide.
        let padding = match text {
            Cow::Borrowed(_) => column.width.saturating_sub(width),
            Cow::Owned(_) => column.width.saturating_sub(display_width(&text)),
        };
        // Nothing stands behind the last column.
        let is_last = nth + 1 == page.columns.len();
        let (before, after) = match column.right {
            true => (padding, 0),
            false => (0, if is_last { 0 } else { padding }),
        };
        let (style, end) = if red { (RED, PLAIN) } else { ("", "") };
        pad(line, before);
        line.extend([style, &*text, end]);
        pad(line, after);
    }
    line.truncate(line.trim_end().len());
    line.push('\n');
    Ok(writer.write_all(line.as_bytes())?)
}
