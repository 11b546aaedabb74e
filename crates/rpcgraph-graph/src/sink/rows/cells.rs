//! Cells in columns, rows being ranges of them.

use std::ops::Range;

use super::schema::TableSchema;

/// The cells of a column, one for each row, so that rows are ranges.
#[derive(Default)]
pub struct Cells {
    /// The definition levels of Parquet: 0 for null, 1 for a value.
    pub levels: Vec<i16>,
    /// The values, in a column of numbers.
    pub numbers: Vec<i64>,
    /// The end of each row's bytes, in a column of bytes.
    pub ends: Vec<u32>,
    pub bytes: Vec<u8>,
}

impl Cells {
    pub fn start(&self, row: usize) -> usize {
        row.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize)
    }

    fn bytes(&self, row: usize) -> Option<&[u8]> {
        let present = self.levels.get(row).is_some_and(|level| *level == 1);
        self.bytes.get(self.start(row)..self.start(row + 1)).filter(|_| present)
    }

    fn append(&mut self, other: &Self, rows: Range<usize>) {
        self.levels.extend_from_slice(other.levels.get(rows.clone()).unwrap_or_default());
        self.numbers.extend_from_slice(other.numbers.get(rows.clone()).unwrap_or_default());
        let (start, moved) = (other.start(rows.start), self.bytes.len());
        self.bytes.extend_from_slice(other.bytes.get(start..other.start(rows.end)).unwrap_or_default());
        let ends = other.ends.get(rows).unwrap_or_default();
        self.ends.extend(ends.iter().map(|end| (*end as usize - start + moved) as u32));
    }

    fn clear(&mut self) {
        self.levels.clear();
        self.numbers.clear();
        self.ends.clear();
        self.bytes.clear();
        self.bytes.shrink_to(1 << 20);
    }
}

/// Rows of a table.
pub struct TableRows {
    pub table: &'static TableSchema,
    pub columns: Vec<Cells>,
    rows: usize,
    /// The running total of bytes held, up to each row.
    held: Vec<usize>,
    /// True if a value did not fit.
    pub too_large: bool,
}

impl TableRows {
    pub fn new(table: &'static TableSchema) -> Self {
        let columns = table.columns.iter().map(|_| Cells::default()).collect();
        Self { table, columns, rows: 0, held: Vec::new(), too_large: false }
    }

    pub fn count(&self) -> usize {
        self.rows
    }

    /// Fills a cell of the current row, in a column of text or bytes, unless it is filled.
    pub fn text(&mut self, column: usize, text: impl AsRef<[u8]>) {
        self.text_of(column, [text.as_ref()]);
    }

    /// Fills a cell as [`text`](Self::text) does, with a text given in parts.
    pub fn text_of<T: AsRef<[u8]>>(&mut self, column: usize, parts: impl IntoIterator<Item = T>) {
        let Some(cells) = self.columns.get_mut(column).filter(|cells| cells.levels.len() <= self.rows) else { return };
        parts.into_iter().for_each(|part| cells.bytes.extend_from_slice(part.as_ref()));
        match i32::try_from(cells.bytes.len()) {
            Ok(end) => {
                cells.levels.push(1);
                cells.ends.push(end.unsigned_abs());
            }
            Err(_) => self.too_large = true,
        }
    }

    /// Fills a cell as [`text`](Self::text) does, if there is a text.
    pub fn optional(&mut self, column: usize, text: Option<impl AsRef<[u8]>>) {
        if let Some(text) = text {
            self.text(column, text);
        }
    }

    /// Fills a cell of the current row, in a column of numbers, unless it is filled.
    pub fn number(&mut self, column: usize, number: i64) {
        if let Some(cells) = self.columns.get_mut(column).filter(|cells| cells.levels.len() <= self.rows) {
            cells.levels.push(1);
            cells.numbers.push(number);
        }
    }

    /// Ends the current row: its empty cells are null.
    pub fn end_row(&mut self) {
        self.rows += 1;
        let mut held = 0;
        for (cells, column) in self.columns.iter_mut().zip(self.table.columns) {
            if cells.levels.len() < self.rows {
                cells.levels.push(0);
                match column.cells.is_number() {
                    true => cells.numbers.push(0),
                    false => cells.ends.push(cells.ends.last().copied().unwrap_or(0)),
                }
            }
            held += 10 * cells.levels.len() + cells.bytes.len();
        }
        self.held.push(held);
    }

    /// Fills an empty column of text after all rows have ended.
    pub fn refill<'t>(&mut self, column: usize, texts: impl Iterator<Item = Option<&'t str>>) {
        let Some(cells) = self.columns.get_mut(column) else { return };
        cells.clear();
        for (text, held) in texts.zip(&mut self.held) {
            cells.levels.push(text.is_some().into());
            cells.bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
            // A chunk has few rows, and each text is short.
            cells.ends.push(u32::try_from(cells.bytes.len()).unwrap_or(u32::MAX));
            *held += cells.bytes.len();
        }
    }

    /// Returns the text in a column of a row, if there is one.
    pub fn get(&self, column: usize, row: usize) -> Option<&str> {
        str::from_utf8(self.bytes(column, row)?).ok()
    }

    /// Returns the bytes in a column of a row, if there are any.
    pub fn bytes(&self, column: usize, row: usize) -> Option<&[u8]> {
        self.columns.get(column)?.bytes(row)
    }

    /// Returns the bytes that all rows hold.
    pub fn size(&self) -> usize {
        self.held.last().copied().unwrap_or(0)
    }

    /// Returns the bytes that some rows hold, of rows that were filled one by one.
    pub fn held(&self, rows: &Range<usize>) -> usize {
        let up_to = |row: usize| row.checked_sub(1).and_then(|before| self.held.get(before)).copied().unwrap_or(0);
        up_to(rows.end) - up_to(rows.start)
    }

    /// Appends rows of the same table.
    pub fn append(&mut self, other: &Self, rows: Range<usize>) {
        let before = self.size();
        self.held.push(before + other.held(&rows));
        self.rows += rows.len();
        self.columns.iter_mut().zip(&other.columns).for_each(|(cells, more)| cells.append(more, rows.clone()));
    }

    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Cells::clear);
        self.rows = 0;
        self.held.clear();
    }
}
