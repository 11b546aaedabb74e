//! Rows being written: row groups in a file.

use std::fs::File;
use std::io::{self, BufWriter};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use crate::sink::rows::cells::{Cells, TableRows};
use crate::sink::rows::schema::{CellType, TableColumn, TableSchema, VERSION};

/// The number of rows passed to an encoder at once.
const BATCH: usize = 8_192;

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
        let writer = SerializedFileWriter::new(BufWriter::new(file), file_schema(table)?, Arc::new(properties))?;
        Ok(Self { group: TableRows::new(table), limit, writer })
    }

    /// Appends rows. The ends of row groups depend only on the rows.
    pub fn take(&mut self, rows: &TableRows) -> io::Result<()> {
        let mut first = 0;
        let mut held = self.group.size();
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
        let full = std::mem::replace(&mut self.group, TableRows::new(table));
        let (rows, columns) = (full.count(), full.columns);
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
        if self.group.count() > 0 {
            self.end_group()?;
        }
        self.writer.finish()?;
        Ok(())
    }
}

/// Returns the schema of a table's file.
fn file_schema(table: &TableSchema) -> Result<TypePtr, ParquetError> {
    let field = |column: &TableColumn| {
        let repetition = if column.required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        Ok(Arc::new(cell_type(column.cells, column.name, repetition)?))
    };
    let fields = table.columns.iter().map(field).collect::<Result<_, ParquetError>>()?;
    Ok(Arc::new(Type::group_type_builder(table.name).with_fields(fields).build()?))
}

fn cell_type(cells: CellType, name: &str, repetition: Repetition) -> Result<Type, ParquetError> {
    let (physical, logical) = match cells {
        CellType::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        CellType::Bytes => (PhysicalType::BYTE_ARRAY, None),
        CellType::Boolean => (PhysicalType::BOOLEAN, None),
        CellType::Integer => (PhysicalType::INT64, None),
        CellType::Timestamp => (PhysicalType::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
        CellType::Decimal => (PhysicalType::INT64, Some(LogicalType::decimal(9, 18))),
    };
    let builder = Type::primitive_type_builder(name, physical).with_repetition(repetition);
    let builder = if cells == CellType::Decimal { builder.with_precision(18).with_scale(9) } else { builder };
    builder.with_logical_type(logical).build()
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

    use super::*;
    use crate::sink::rows::schema::problems;

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
