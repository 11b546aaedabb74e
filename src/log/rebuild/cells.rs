//! Cells of a table, with checks of the types of columns and the sizes of cells.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::vec;

use parquet::basic::{Encoding, Type as PhysicalType};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::{SerializedFileReader, SerializedPageReader};

use crate::sink::parquet::schema::{CellType, TableColumn, TableSchema};

/// An error rebuilding messages from a file.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file cannot be read, or is not Parquet.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// A table of a folder cannot be read.
    #[error("{0}.parquet: {1}")]
    NoTable(&'static str, io::Error),
    /// A column is missing.
    #[error("it is not the table of {0} that `convert -t parquet` writes: the column {1} is missing")]
    NoColumn(&'static str, &'static str),
    /// A column has cells of another type.
    #[error("it is not the table of {0} that `convert -t parquet` writes: the column {1} has another type")]
    WrongType(&'static str, &'static str),
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

/// The number of rows that are read at once. Their cells share the memory of the pages that they are in.
const BATCH: usize = 64;

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
        let reader = SerializedFileReader::new(file.try_clone()?)?;
        let metadata = Arc::new(reader.metadata().clone());
        let schema = metadata.file_metadata().schema_descr();
        let mut columns = Vec::new();
        for column in table.columns {
            let named = |place: &usize| schema.column(*place).path().parts() == [column.name];
            let place = (0..schema.num_columns()).find(named);
            let place = place.ok_or(TableError::NoColumn(table.name, column.name))?;
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
        Ok(Self { file, metadata, columns, longest, group: 0, left: 0, readers, batch })
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
                .map(|((column, _), reader)| cells(column, reader, rows, self.longest))
                .collect::<Result<_, _>>()?;
            self.left -= rows;
        }
    }

    /// Opens the columns of the next row group. Returns false after the last one.
    fn next_group(&mut self) -> Result<bool, TableError> {
        let Some(group) = self.metadata.row_groups().get(self.group) else { return Ok(false) };
        let rows = usize::try_from(group.num_rows()).map_err(|_| damaged("a row group has less than no rows"))?;
        let reader = |(_, place): &(&TableColumn, usize)| -> Result<ColumnReader, TableError> {
            let chunk = group.columns().get(*place).filter(|chunk| is_placed(chunk));
            let chunk = chunk.ok_or_else(|| damaged("a column is before the file's beginning"))?;
            let file = Arc::new(self.file.try_clone()?);
            let pages = SerializedPageReader::new(file, chunk, rows, None)?;
            let pages = ColumnPages { pages, has_dictionary: false };
            Ok(get_column_reader(chunk.column_descr_ptr(), Box::new(pages)))
        };
        self.readers = self.columns.iter().map(reader).collect::<Result<_, _>>()?;
        (self.left, self.group) = (rows, self.group + 1);
        Ok(true)
    }
}

impl Iterator for TableReader {
    type Item = Result<TableRow, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.row().transpose()
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
    column: &TableColumn,
    reader: &mut ColumnReader,
    rows: usize,
    longest: usize,
) -> Result<vec::IntoIter<Option<CellValue>>, TableError> {
    let cells = match reader {
        ColumnReader::ByteArrayColumnReader(reader) => read(reader, rows, CellValue::Bytes)?,
        ColumnReader::Int64ColumnReader(reader) => read(reader, rows, CellValue::Number)?,
        ColumnReader::BoolColumnReader(reader) => read(reader, rows, CellValue::Boolean)?,
        _ => Vec::new(),
    };
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
    pages: SerializedPageReader<File>,
    has_dictionary: bool,
}

impl PageReader for ColumnPages {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        let page = self.pages.get_next_page()?;
        match &page {
            Some(Page::DictionaryPage { .. }) => self.has_dictionary = true,
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
