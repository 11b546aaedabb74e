//! The way back from tables: the messages of `messages.parquet`, in its order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};

use super::{RebuiltContent, RebuiltRecord, object};
use crate::json::quoted;
use crate::sink::parquet::schema::messages;

/// Why messages cannot be rebuilt from a file.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// It cannot be read, or it is not Parquet.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// A column is missing.
    #[error("it is not the table of messages that `convert -t parquet` writes: it has no column {0}")]
    NoColumn(&'static str),
    /// A cell is empty that never is, or has something else in it.
    #[error("it is not the table of messages that `convert -t parquet` writes: the column {0} lacks a value")]
    NoValue(&'static str),
}

impl From<ParquetError> for TableError {
    fn from(error: ParquetError) -> Self {
        Self::Read(error.into())
    }
}

/// The records of a table of messages: the elements of a batch are told with it, and log lines are not records.
pub struct TableRecords {
    rows: RowIter<'static>,
    /// The next row, which begins another record.
    next: Option<MessageRow>,
}

/// The cells of a row that are not null.
struct MessageRow(BTreeMap<String, Field>);

impl TableRecords {
    /// Those of a file.
    pub fn open(file: File) -> Result<Self, TableError> {
        let reader = SerializedFileReader::new(file)?;
        let fields = reader.metadata().file_metadata().schema().get_fields();
        let missing = |name: &&str| !fields.iter().any(|field| field.name() == *name);
        if let Some(name) = messages::TABLE.columns.iter().map(|column| column.name).find(missing) {
            return Err(TableError::NoColumn(name));
        }
        // Few rows at once: each may be large.
        let rows = RowIter::from_file_into(Box::new(reader)).with_batch_size(16);
        Ok(Self { rows, next: None })
    }

    fn row(&mut self) -> Result<Option<MessageRow>, TableError> {
        if let Some(row) = self.next.take() {
            return Ok(Some(row));
        }
        for row in self.rows.by_ref() {
            let row = MessageRow::new(row?);
            if row.text("kind") != Some("LogLine") {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    fn record(&mut self) -> Result<Option<RebuiltRecord>, TableError> {
        let Some(first) = self.row()? else { return Ok(None) };
        let (session, sequence) = (first.required("session_iri")?.to_owned(), first.sequence()?);
        let mut iri = first.text("batch_iri").map_or_else(|| first.required("message_iri"), Ok)?.to_owned();
        let in_batch = first.text("batch_iri").is_some() || first.text("kind") == Some("Batch");
        if !in_batch {
            return Ok(Some(RebuiltRecord { iri, sequence, content: first.content()? }));
        }
        let mut elements = Vec::new();
        let mut row = Some(first);
        while let Some(element) = row {
            if element.text("session_iri") != Some(&session) || element.sequence()? != sequence {
                self.next = Some(element);
                break;
            }
            match element.text("kind") {
                Some("Batch") => iri = element.required("message_iri")?.to_owned(),
                _ => elements.push(element.single()?),
            }
            row = self.row()?;
        }
        let content = RebuiltContent::Json(format!("[{}]", elements.join(",")));
        Ok(Some(RebuiltRecord { iri, sequence, content }))
    }
}

impl Iterator for TableRecords {
    type Item = Result<RebuiltRecord, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.record().transpose()
    }
}

impl MessageRow {
    fn new(row: Row) -> Self {
        Self(row.into_columns().into_iter().filter(|(_, cell)| !matches!(cell, Field::Null)).collect())
    }

    fn text(&self, column: &str) -> Option<&str> {
        match self.0.get(column) {
            Some(Field::Str(text)) => Some(text),
            _ => None,
        }
    }

    fn required(&self, column: &'static str) -> Result<&str, TableError> {
        self.text(column).ok_or(TableError::NoValue(column))
    }

    fn sequence(&self) -> Result<u64, TableError> {
        match self.0.get("seq") {
            Some(Field::Long(number)) => u64::try_from(*number).map_err(|_| TableError::NoValue("seq")),
            _ => Err(TableError::NoValue("seq")),
        }
    }

    fn content(&self) -> Result<RebuiltContent, TableError> {
        if self.text("kind") != Some("MalformedRecord") {
            return Ok(RebuiltContent::Json(self.single()?));
        }
        Ok(match (self.0.get("raw"), self.text("text")) {
            (Some(Field::Bytes(bytes)), _) => RebuiltContent::Bytes(bytes.data().to_vec()),
            (_, Some(text)) => RebuiltContent::Text(text.to_owned()),
            (_, None) => RebuiltContent::Skipped,
        })
    }

    /// JSON text of a message, or of a value that is not one.
    fn single(&self) -> Result<String, TableError> {
        let json = |column| self.text(column).map(str::to_owned);
        let string = |column| self.text(column).map(quoted);
        if let Some(text) = json("text") {
            return Ok(text);
        }
        if self.text("kind") == Some("InvalidMessage") {
            return self.required("value").map(str::to_owned);
        }
        let id = match self.text("id_kind") {
            None => None,
            Some("Null") => Some("null".to_owned()),
            Some("String") => Some(quoted(self.required("id_string")?)),
            Some(_) => Some(self.required("id_number")?.to_owned()),
        };
        let error = self.text("error_iri").map(|_| {
            let members =
                [("code", json("error_code")), ("message", string("error_message")), ("data", json("error_data"))];
            json("value").unwrap_or_else(|| object(members, self.text("error_extra")))
        });
        let members = [
            ("jsonrpc", string("jsonrpc")),
            ("id", id),
            ("method", string("method")),
            ("params", json("params")),
            ("result", json("result")),
            ("error", error),
        ];
        Ok(object(members, self.text("extra")))
    }
}
