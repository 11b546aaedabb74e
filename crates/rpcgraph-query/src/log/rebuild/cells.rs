//! Cells of a table, with checks of the types of columns and the sizes of pages and cells.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::vec;

use bytes::Bytes;
use parquet::basic::{Encoding, Type as PhysicalType};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{ChunkReader, FileReader, Length};
use parquet::file::serialized_reader::{SerializedFileReader, SerializedPageReader};

use crate::sink::rows::schema::{CellType, TableColumn, TableSchema};

/// An error rebuilding messages from a file.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file cannot be read, or is not Parquet.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// A table of a folder cannot be read.
    #[error("{0}.parquet: {1}")]
    NoTable(&'static str, io::Error),
    /// The Parquet library stopped at something that no table has.
    #[error("the table of {0} is damaged: write it again with `rpcgraph convert -t parquet`")]
    Damaged(&'static str),
    /// A column is missing.
    #[error("it is not the table of {0} that `convert -t parquet` writes: the column {1} is missing")]
    NoColumn(&'static str, &'static str),
    /// A column has cells of another type.
    #[error("it is not the table of {0} that `convert -t parquet` writes: the column {1} has another type")]
    WrongType(&'static str, &'static str),
    /// Two columns have the same name.
    #[error("it is not the table of {0} that `convert -t parquet` writes: it has two columns {1}")]
    TwoColumns(&'static str, &'static str),
    /// A cell is too long.
    #[error("a cell in the column {0} has {1} bytes, more than --max-record-size allows ({2})")]
    TooLong(&'static str, usize, usize),
    /// A text is not UTF-8.
    #[error("a cell in the column {0} is not UTF-8")]
    NoText(&'static str),
    /// A cell that must have a value is empty, or has an invalid value.
    #[error("it is not a table that `convert -t parquet` writes: the column {0} lacks a value")]
    NoValue(&'static str),
    /// Rows are missing, or in another order.
    #[error("rows are missing, or not in the order in which `convert -t parquet` writes them: {0}")]
    Misplaced(String),
}

impl From<ParquetError> for TableError {
    fn from(error: ParquetError) -> Self {
        Self::Read(error.into())
    }
}

thread_local! {
    /// The table that this thread decodes.
    static DECODED: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Returns the error for a panic of this thread: the Parquet library panics at some damaged tables. A program that does
/// not unwind prints the error in place of the panic.
pub fn error_of_panic() -> Option<TableError> {
    DECODED.get().map(TableError::Damaged)
}

/// Decodes a part of a table. Where panics unwind, they become errors.
fn decoded<T>(table: &'static TableSchema, decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, TableError> {
    DECODED.set(Some(table.name));
    let decoded = panic::catch_unwind(AssertUnwindSafe(decode));
    DECODED.set(None);
    Ok(decoded.map_err(|_| TableError::Damaged(table.name))??)
}

/// The number of rows that are read at once. Their cells share the memory of the pages that they are in.
const BATCH: usize = 64;
/// The maximum size of the open pages, in bytes, in addition to twice the longest cell.
const PAGES: u64 = 256 << 20;

/// A cell that is not null.
enum CellValue {
    Bytes(ByteArray),
    Number(i64),
    Boolean(bool),
}

/// The cells of a row that are not null.
pub(super) struct TableRow(BTreeMap<&'static str, CellValue>);

/// The rows of a table.
pub(super) struct TableReader {
    file: File,
    table: &'static TableSchema,
    metadata: Arc<ParquetMetaData>,
    /// The columns to read, and their indexes in the file.
    columns: Vec<(&'static TableColumn, usize)>,
    /// The maximum size of a cell, in bytes.
    longest: usize,
    /// The index of the next row group, and the number of rows left in the group before.
    group: usize,
    left: usize,
    readers: Vec<ColumnReader>,
    batch: Vec<vec::IntoIter<Option<CellValue>>>,
}

impl TableReader {
    /// Opens the table in a file, whose cells may have up to `longest` bytes.
    pub fn open(file: File, table: &'static TableSchema, longest: usize) -> Result<Self, TableError> {
        let copy = file.try_clone()?;
        let metadata = decoded(table, || Ok(SerializedFileReader::new(copy)?.metadata().clone()))?;
        let metadata = Arc::new(metadata);
        let schema = metadata.file_metadata().schema_descr();
        let mut columns = Vec::new();
        for column in table.columns {
            let named = |place: &usize| schema.column(*place).path().parts() == [column.name];
            let mut places = (0..schema.num_columns()).filter(named);
            let place = places.next().ok_or(TableError::NoColumn(table.name, column.name))?;
            if places.next().is_some() {
                return Err(TableError::TwoColumns(table.name, column.name));
            }
            let physical = match column.cells {
                CellType::Text | CellType::Bytes => PhysicalType::BYTE_ARRAY,
                CellType::Boolean => PhysicalType::BOOLEAN,
                CellType::Integer => PhysicalType::INT64,
                // Only for SQL: each has a column of text beside it.
                CellType::Timestamp | CellType::Decimal => continue,
            };
            let there = schema.column(place);
            if there.physical_type() != physical || there.max_rep_level() > 0 || there.max_def_level() > 1 {
                return Err(TableError::WrongType(table.name, column.name));
            }
            columns.push((column, place));
        }
        let (readers, batch) = (Vec::new(), Vec::new());
        Ok(Self { file, table, metadata, columns, longest, group: 0, left: 0, readers, batch })
    }

    fn row(&mut self) -> Result<Option<TableRow>, TableError> {
        loop {
            let mut row = BTreeMap::new();
            let mut are_there = 0;
            for ((column, _), cells) in self.columns.iter().zip(&mut self.batch) {
                let Some(cell) = cells.next() else { continue };
                are_there += 1;
                row.extend(cell.map(|cell| (column.name, cell)));
            }
            if are_there > 0 {
                return Ok(Some(TableRow(row)));
            }
            if self.left == 0 && !self.next_group()? {
                return Ok(None);
            }
            let rows = self.left.min(BATCH);
            let columns = self.columns.iter().zip(&mut self.readers);
            self.batch = columns
                .map(|((column, _), reader)| cells((self.table, column), reader, rows, self.longest))
                .collect::<Result<_, _>>()?;
            self.left -= rows;
        }
    }

    /// Opens the columns of the next row group. Returns false after the last one.
    fn next_group(&mut self) -> Result<bool, TableError> {
        let Some(group) = self.metadata.row_groups().get(self.group) else { return Ok(false) };
        let open = Arc::new(AtomicU64::new(0));
        let rows = usize::try_from(group.num_rows()).map_err(|_| damaged("a row group has less than no rows"))?;
        let reader = |(_, place): &(&TableColumn, usize)| -> Result<ColumnReader, TableError> {
            let chunk = group.columns().get(*place).filter(|chunk| is_placed(chunk));
            let chunk = chunk.ok_or_else(|| damaged("a column is before the file's beginning"))?;
            let most = (self.longest as u64).saturating_mul(2).saturating_add(PAGES);
            let pages = Pages { file: self.file.try_clone()?, most, open: Arc::clone(&open), last: AtomicU64::new(0) };
            decoded(self.table, || {
                let pages = SerializedPageReader::new(Arc::new(pages), chunk, rows, None)?;
                let pages = ColumnPages { pages, has_dictionary: false };
                Ok(get_column_reader(chunk.column_descr_ptr(), Box::new(pages)))
            })
        };
        self.readers = self.columns.iter().map(reader).collect::<Result<_, _>>()?;
        (self.left, self.group) = (rows, self.group + 1);
        Ok(true)
    }
}

impl Iterator for TableReader {
    type Item = Result<TableRow, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.row();
        if row.is_err() {
            // Readers that failed are not asked again.
            (self.group, self.left, self.batch) = (usize::MAX, 0, Vec::new());
        }
        row.transpose()
    }
}

impl TableRow {
    pub fn text(&self, column: &str) -> Option<&str> {
        self.bytes(column).and_then(|bytes| str::from_utf8(bytes).ok())
    }

    pub fn bytes(&self, column: &str) -> Option<&[u8]> {
        match self.0.get(column) {
            Some(CellValue::Bytes(bytes)) => Some(bytes.data()),
            _ => None,
        }
    }

    pub fn required(&self, column: &'static str) -> Result<&str, TableError> {
        self.text(column).ok_or(TableError::NoValue(column))
    }

    /// Returns a number, or 0 if the cell is null. A negative number is an error.
    pub fn number(&self, column: &'static str) -> Result<u64, TableError> {
        match self.0.get(column) {
            Some(CellValue::Number(number)) => u64::try_from(*number).map_err(|_| TableError::NoValue(column)),
            _ => Ok(0),
        }
    }

    pub fn is_true(&self, column: &str) -> bool {
        matches!(self.0.get(column), Some(CellValue::Boolean(true)))
    }
}

/// Reads the next cells of a column.
fn cells(
    (table, column): (&'static TableSchema, &TableColumn),
    reader: &mut ColumnReader,
    rows: usize,
    longest: usize,
) -> Result<vec::IntoIter<Option<CellValue>>, TableError> {
    let cells = decoded(table, || match reader {
        ColumnReader::ByteArrayColumnReader(reader) => read(reader, rows, CellValue::Bytes),
        ColumnReader::Int64ColumnReader(reader) => read(reader, rows, CellValue::Number),
        ColumnReader::BoolColumnReader(reader) => read(reader, rows, CellValue::Boolean),
        _ => Ok(Vec::new()),
    })?;
    if cells.len() != rows {
        return Err(TableError::NoValue(column.name));
    }
    for cell in cells.iter().flatten() {
        if let CellValue::Bytes(bytes) = cell {
            if bytes.len() > longest {
                return Err(TableError::TooLong(column.name, bytes.len(), longest));
            }
            if column.cells == CellType::Text && str::from_utf8(bytes.data()).is_err() {
                return Err(TableError::NoText(column.name));
            }
        }
    }
    Ok(cells.into_iter())
}

fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    cell: impl Fn(T::T) -> CellValue,
) -> Result<Vec<Option<CellValue>>, ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    reader.read_records(rows, Some(&mut levels), None, &mut values)?;
    let mut values = values.into_iter().map(cell);
    // A column without nulls does not have levels.
    Ok(match levels.is_empty() {
        true => values.map(Some).collect(),
        false => levels.iter().map(|level| if *level > 0 { values.next() } else { None }).collect(),
    })
}

/// True if the offsets and the size of a chunk are not negative.
fn is_placed(chunk: &ColumnChunkMetaData) -> bool {
    chunk.data_page_offset() >= 0
        && chunk.dictionary_page_offset().is_none_or(|offset| offset >= 0)
        && chunk.compressed_size() >= 0
}

fn damaged(why: &str) -> ParquetError {
    ParquetError::General(why.to_owned())
}

/// The pages of a column. A dictionary must come before it is used.
struct ColumnPages {
    pages: SerializedPageReader<Pages>,
    has_dictionary: bool,
}

impl PageReader for ColumnPages {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        let page = self.pages.get_next_page()?;
        match &page {
            // The library allocates the values before it reads them.
            Some(Page::DictionaryPage { buf, num_values, .. }) if *num_values as usize > buf.len() => {
                return Err(damaged("a dictionary has more values than bytes"));
            }
            Some(Page::DictionaryPage { .. }) => self.has_dictionary = true,
            Some(Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. })
                if u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len) > buf.len() as u64 =>
            {
                return Err(damaged("the levels of a page are longer than the page"));
            }
            // The library allocates as many lengths as such a page states.
            Some(page) if matches!(page.encoding(), Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY) => {
                return Err(damaged(
                    "a page is encoded by deltas, which are not read here: write it with dictionaries",
                ));
            }
            Some(page)
                if !self.has_dictionary
                    && matches!(page.encoding(), Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY) =>
            {
                return Err(damaged("a page needs a dictionary that is not there"));
            }
            _ => {}
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.pages.skip_next_page()
    }
}

impl Iterator for ColumnPages {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// A file from which the pages of one column are read. The open pages of all columns together are limited to `most`
/// bytes.
struct Pages {
    file: File,
    most: u64,
    /// The total size of the last page of each column, in bytes.
    open: Arc<AtomicU64>,
    last: AtomicU64,
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for Pages {
    type T = BufReader<File>;

    /// Reads the header of a page, and checks the size of the page.
    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let mut head = Vec::new();
        self.file.get_read(start)?.take(16).read_to_end(&mut head)?;
        let size = page_size(&head).ok_or_else(|| damaged("a page does not begin with its type and its size"))?;
        let last = self.last.swap(size, Ordering::Relaxed);
        let open = self.open.fetch_add(size, Ordering::Relaxed) + size;
        self.open.fetch_sub(last, Ordering::Relaxed);
        if open - last > self.most {
            let why = format!("a page of {size} bytes is more than --max-record-size allows");
            return Err(damaged(&why));
        }
        self.file.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        match start.checked_add(length as u64) {
            Some(end) if end <= self.len() => self.file.get_bytes(start, length),
            _ => Err(damaged("a page goes on after the end of the file")),
        }
    }
}

/// Returns the size of a page before compression, in bytes: the second field of its header, in Thrift's compact
/// protocol, where the first two fields are 32-bit integers.
fn page_size(head: &[u8]) -> Option<u64> {
    const INTEGER: u8 = 0x15;
    let mut rest = head.strip_prefix(&[INTEGER])?;
    varint(&mut rest)?;
    rest = rest.strip_prefix(&[INTEGER])?;
    let zigzag = varint(&mut rest)?;
    (zigzag % 2 == 0).then_some(zigzag / 2)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let end = rest.iter().take(5).position(|byte| byte & 0x80 == 0)?;
    let (bytes, after) = rest.split_at(end + 1);
    *rest = after;
    Some(bytes.iter().rev().fold(0, |number, byte| (number << 7) | u64::from(byte & 0x7f)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_page_is_read_from_its_header() {
        for (head, size) in [
            (&[0x15, 0, 0x15, 10, 0x15, 8][..], Some(5)),
            (&[0x15, 4, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f], Some(0x7fff_ffff)),
            (&[0x15, 0, 0x15, 9], None),
            (&[0x15, 0, 0x25, 10], None),
            (&[0x15, 0, 0x15, 0x80], None),
            (&[0x15, 0x80, 0x80, 0x80, 0x80, 0x80, 0x15, 2], None),
            (&[], None),
        ] {
            assert_eq!(page_size(head), size, "{head:x?}");
        }
    }
}
