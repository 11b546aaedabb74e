//! Parquet: messages, sessions, problems and corrected latencies as tables, for column-based query engines.
//!
//! Each worker fills columns of its own (`sink/rows.rs`); the sink concatenates them.

mod writer;

use std::fs::{self, File};
use std::io;
use std::path::Path;

use self::writer::TableWriter;
use super::output::OutputError;
use super::record_sink::{RecordSink, SinkError, SinkInput};
use super::rows::schema::TABLES;
use super::rows::{RecordRows, RequestNames};
use super::unfinished::UnfinishedFolder;
use crate::protocol::OpenRequests;

/// The maximum size of a row group before compression, in bytes, unless a single row is larger. Writers and readers
/// keep a row group in memory.
const ROW_GROUP: usize = 32 << 20;
/// The maximum length of a request's method or tool that is copied to the answer, in bytes. This bounds memory.
const REPEATED: usize = 256;

/// A folder of tables. It does not appear before [`Tables::finish`]; dropped before that, it leaves no trace.
pub struct Tables {
    sink: TablesSink,
    folder: UnfinishedFolder,
}

impl Tables {
    /// Creates tables for a folder, where they replace existing tables.
    ///
    /// # Errors
    ///
    /// The folder contains anything but tables, or is not writable.
    pub fn create(folder: &Path) -> Result<Self, OutputError> {
        let failed = |cause| OutputError::new(folder, cause);
        let target = UnfinishedFolder::target(folder).map_err(failed)?;
        check_replaceable(&target).map_err(failed)?;
        let folder = UnfinishedFolder::beside(target).map_err(failed)?;
        Ok(Self { sink: TablesSink::new(&folder.path()).map_err(failed)?, folder })
    }

    /// Returns the sink that fills the tables.
    pub(super) fn tables(&mut self) -> &mut TablesSink {
        &mut self.sink
    }

    /// Moves the tables into the folder, after their sink was finished.
    pub fn finish(self) -> Result<(), OutputError> {
        // Windows does not rename a folder with open files.
        drop(self.sink);
        let target = self.folder.target.clone();
        self.folder.finish().map_err(|cause| OutputError::new(&target, cause))
    }
}

/// Fails if a folder contains anything but tables.
fn check_replaceable(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    if UnfinishedFolder::holds_current(folder) {
        return Err(io::Error::other("it is, or contains, the current folder: run the command from elsewhere"));
    }
    for entry in entries {
        let name = entry?.file_name();
        if !TABLES.iter().any(|table| name.to_str() == Some(&table.file())) {
            let name = name.to_string_lossy();
            let advice = "name a folder that is new, empty or holds such tables only";
            return Err(io::Error::other(format!(
                "the folder holds {name:?}, which is not one of its tables: {advice}"
            )));
        }
    }
    Ok(())
}

/// Writes the tables of any number of inputs.
pub(crate) struct TablesSink {
    writers: Vec<TableWriter>,
    /// The method and tool of requests of the input that wait for their answers.
    open: OpenRequests<RequestNames>,
}

impl TablesSink {
    fn new(folder: &Path) -> io::Result<Self> {
        fs::create_dir(folder)?;
        let writer = |table| TableWriter::new(table, File::create_new(folder.join(table.file()))?, ROW_GROUP);
        Ok(Self { writers: TABLES.into_iter().map(writer).collect::<io::Result<_>>()?, open: OpenRequests::default() })
    }
}

impl RecordSink for TablesSink {
    type Rendered = RecordRows;

    fn start(&mut self, _: &SinkInput<'_>) -> Result<(), SinkError> {
        self.open = OpenRequests::default();
        Ok(())
    }

    fn rendered(&self, input: &SinkInput<'_>) -> RecordRows {
        RecordRows::new(input.iri, input.source)
    }

    fn take(&mut self, rendered: &mut RecordRows) -> Result<(), SinkError> {
        rendered.repeat_requests(&mut self.open, REPEATED);
        let tables = [&rendered.messages, &rendered.sessions, &rendered.problems, &rendered.latencies];
        for (writer, rows) in self.writers.iter_mut().zip(tables) {
            if rows.too_large {
                let message = "a value has more than 2 GiB, which Parquet does not hold: lower --max-record-size";
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, message).into());
            }
            writer.take(rows)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.writers.iter_mut().try_for_each(TableWriter::finish).map_err(SinkError::from)
    }
}
