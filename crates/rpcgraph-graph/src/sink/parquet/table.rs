//! Rows being written: cells in columns, and row groups in a file.

use std::fs::File;
use std::io::{self, BufWriter};
use std::ops::Range;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};

use super::schema::{CellType, TableSchema, VERSION};

/// The number of rows passed to an encoder at once.
const BATCH: usize = 8_192;

/// The cells of a column, one for each row, so that rows are ranges.
#[derive(Default)]
struct Cells {
    /// The definition levels of Parquet: 0 for null, 1 for a value.
    levels: Vec<i16>,
    /// The values, in a column of numbers.
    numbers: Vec<i64>,
    /// The end of each row's bytes, in a column of bytes.
    ends: Vec<u32>,
    bytes: Vec<u8>,
}

impl Cells {
    fn start(&self, row: usize) -> usize {
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
pub(crate) struct TableRows {
    table: &'static TableSchema,
    columns: Vec<Cells>,
    rows: usize,
    /// The running total of bytes held, up to each row.
    held: Vec<usize>,
    /// True if a value did not fit.
    pub(super) too_large: bool,
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
        str::from_utf8(self.columns.get(column)?.bytes(row)?).ok()
    }

    fn held(&self, rows: &Range<usize>) -> usize {
        let up_to = |row: usize| row.checked_sub(1).and_then(|before| self.held.get(before)).copied().unwrap_or(0);
        up_to(rows.end) - up_to(rows.start)
    }

    fn append(&mut self, other: &Self, rows: Range<usize>) {
        let before = self.held.last().copied().unwrap_or(0);
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

/// Writes a table, one row group at a time.
pub(super) struct TableWriter {
    group: TableRows,
    /// The maximum size of a row group, in bytes, unless a single row is larger.
    limit: usize,
    writer: SerializedFileWriter<BufWriter<File>>,
}

impl TableWriter {
    pub fn new(table: &'static TableSchema, file: File, limit: usize) -> io::Result<Self> {
        let version = KeyValue::new("rpcgraph.schema".to_owned(), VERSION.to_owned());
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_key_value_metadata(Some(vec![version]))
            .build();
        let writer = SerializedFileWriter::new(BufWriter::new(file), table.schema()?, Arc::new(properties))?;
        Ok(Self { group: TableRows::new(table), limit, writer })
    }

    /// Appends rows. The ends of row groups depend only on the rows.
    pub fn take(&mut self, rows: &TableRows) -> io::Result<()> {
        let mut first = 0;
        let mut held = self.group.held.last().copied().unwrap_or(0);
        for row in 0..rows.count() {
            let more = rows.held(&(row..row + 1));
            if held > 0 && held + more > self.limit {
                self.group.append(rows, first..row);
                self.end_group()?;
                (first, held) = (row, 0);
            }
            held += more;
        }
        self.group.append(rows, first..rows.count());
        Ok(())
    }

    fn end_group(&mut self) -> io::Result<()> {
        let mut group = self.writer.next_row_group()?;
        let table = self.group.table;
        let TableRows { columns, rows, .. } = std::mem::replace(&mut self.group, TableRows::new(table));
        for (cells, column) in columns.into_iter().zip(table.columns) {
            if let Some(mut writer) = group.next_column()? {
                write_column(&mut writer, cells, column.cells, column.required, rows)?;
                writer.close()?;
            }
        }
        group.close()?;
        Ok(())
    }

    pub fn finish(&mut self) -> io::Result<()> {
        if self.group.rows > 0 {
            self.end_group()?;
        }
        self.writer.finish()?;
        Ok(())
    }
}

fn write_column(
    writer: &mut SerializedColumnWriter<'_>,
    mut cells: Cells,
    kind: CellType,
    required: bool,
    rows: usize,
) -> Result<(), ParquetError> {
    let all = ByteArray::from(std::mem::take(&mut cells.bytes));
    for first in (0..rows).step_by(BATCH) {
        let some = first..rows.min(first + BATCH);
        let levels = cells.levels.get(some.clone()).unwrap_or_default();
        let present = some.zip(levels).filter(|(_, level)| **level == 1).map(|(row, _)| row);
        let levels = (!required).then_some(levels);
        let numbers = present.clone().filter_map(|row| cells.numbers.get(row).copied());
        match kind {
            CellType::Text | CellType::Bytes => {
                let values = present.map(|row| all.slice(cells.start(row), cells.start(row + 1) - cells.start(row)));
                let values: Vec<ByteArray> = values.collect();
                writer.typed::<ByteArrayType>().write_batch(&values, levels, None)?;
            }
            CellType::Boolean => {
                let values: Vec<bool> = numbers.map(|number| number != 0).collect();
                writer.typed::<BoolType>().write_batch(&values, levels, None)?;
            }
            CellType::Integer | CellType::Timestamp | CellType::Decimal => {
                let values: Vec<i64> = numbers.collect();
                writer.typed::<Int64Type>().write_batch(&values, levels, None)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::FileReader as _;
    use parquet::file::serialized_reader::SerializedFileReader;

    use super::super::schema::problems;
    use super::*;

    /// Returns the number of rows in each row group, if rows of the given sizes are taken `at_once` at a time.
    fn groups(at_once: usize, sizes: &[usize]) -> Vec<i64> {
        let file = tempfile::tempfile().unwrap();
        let mut writer = TableWriter::new(&problems::TABLE, file.try_clone().unwrap(), 1_000).unwrap();
        let mut rows = TableRows::new(&problems::TABLE);
        for sizes in sizes.chunks(at_once) {
            rows.clear();
            for size in sizes {
                rows.text(problems::SESSION_IRI, "s");
                rows.text(problems::MESSAGE, "m");
                rows.text(problems::PROBLEM, "x".repeat(*size));
                rows.end_row();
            }
            writer.take(&rows).unwrap();
        }
        writer.finish().unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let read: Vec<_> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        let expected = sizes.iter().map(|size| {
            format!("{{session_iri: \"s\", message: \"m\", problem: \"{}\", message_iri: null}}", "x".repeat(*size))
        });
        assert_eq!(read, expected.collect::<Vec<_>>());
        reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect()
    }

    #[test]
    fn row_groups_end_by_rows_alone() {
        let sizes = [300, 300, 300, 300, 5_000, 10, 10, 950, 950];
        for at_once in 1..=sizes.len() {
            assert_eq!(groups(at_once, &sizes), [2, 2, 1, 2, 1, 1], "{at_once}");
        }
        assert_eq!(groups(3, &[]), [0; 0]);
    }
}
