//! Rebuilds records from tables, in the order of `messages.parquet`.

use std::fs::File;
use std::io;
use std::iter::Peekable;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use oxsdatatypes::DateTime;

use super::cells::{TableError, TableReader, TableRow};
use super::object;
use crate::json::quoted;
use crate::message::Problem;
use crate::record::{
    Entry, Http, HttpExchange, HttpOutcome, Location, LogLine, ReaderOptions, Record, Sender, Time, file_id,
};
use crate::sink::rows::schema::{TableSchema, messages, problems, sessions};

/// The records of a table of messages, and the lines between records. A batch is one record, with its elements.
pub struct TableRecords {
    rows: TableReader,
    /// The next row, which begins another record.
    next: Option<TableRow>,
    problems: Peekable<StatedProblems>,
}

/// Problems that the log stated, with the IRIs of their messages, in the order of the messages.
type StatedProblems = Box<dyn Iterator<Item = Result<(String, Problem), TableError>> + Send>;

/// A record, or a line between records.
pub struct TableRecord {
    /// Its IRI.
    pub iri: String,
    /// The IRI of its session.
    pub session: String,
    /// The record or line, without its session. The bytes are empty if the record was too large to be kept.
    pub entry: Entry<'static>,
}

/// The number of attempts to open a folder while it is being replaced, and the pause between attempts.
const TRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(5);

/// The tables from which a log is rebuilt.
pub(super) const TABLES: [&TableSchema; 3] = [&messages::TABLE, &sessions::TABLE, &problems::TABLE];

/// The open tables of a folder. They stay the same when other files take their place.
pub(super) struct TableFiles(Vec<File>);

impl TableFiles {
    /// Opens the tables of a folder, all written together.
    pub fn open(folder: &Path) -> Result<Self, TableError> {
        let file = |table: &&'static TableSchema| {
            File::open(folder.join(table.file())).map_err(|error| TableError::NoTable(table.name, error))
        };
        let mut tries = TRIES;
        loop {
            let before = file_id(folder);
            let files = TABLES.iter().map(file).collect::<Result<_, _>>();
            tries -= 1;
            if tries == 0 || before.is_some() && before == file_id(folder) {
                return files.map(Self);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Returns the rows of a table.
    pub fn rows(&self, table: &'static TableSchema, longest: usize) -> Result<TableReader, TableError> {
        let mut files = TABLES.iter().zip(&self.0).filter(|(other, _)| other.name == table.name);
        let (_, file) = files.next().ok_or_else(|| TableError::NoTable(table.name, io::ErrorKind::NotFound.into()))?;
        TableReader::open(file.try_clone()?, table, longest)
    }
}

impl TableRecords {
    /// Opens a file.
    pub fn open(file: File) -> Result<Self, TableError> {
        let problems: StatedProblems = Box::new(std::iter::empty());
        let rows = TableReader::open(file, &messages::TABLE, ReaderOptions::default().max_record_size)?;
        Ok(Self { rows, next: None, problems: problems.peekable() })
    }

    /// Reads tables, with the problems that the log stated; cells have at most `longest` bytes.
    pub(super) fn in_tables(files: &TableFiles, longest: usize) -> Result<Self, TableError> {
        let rows = files.rows(&problems::TABLE, longest)?;
        let problems: StatedProblems = Box::new(rows.filter_map(|row| stated_problem(row).transpose()));
        let rows = files.rows(&messages::TABLE, longest)?;
        Ok(Self { rows, next: None, problems: problems.peekable() })
    }

    /// Returns the session of the next record.
    pub(super) fn next_session(&mut self) -> Result<Option<&str>, TableError> {
        self.next = self.row()?;
        self.next.as_ref().map(|row| row.required("session_iri")).transpose()
    }

    fn row(&mut self) -> Result<Option<TableRow>, TableError> {
        match self.next.take() {
            Some(row) => Ok(Some(row)),
            None => self.rows.next().transpose(),
        }
    }

    fn record(&mut self) -> Result<Option<TableRecord>, TableError> {
        let Some(first) = self.row()? else {
            return match self.problems.next().transpose()? {
                Some((message, _)) => Err(TableError::Misplaced(format!("there is a problem of {message}"))),
                None => Ok(None),
            };
        };
        let session = first.required("session_iri")?.to_owned();
        let mut iri = first.text("batch_iri").map_or_else(|| first.required("message_iri"), Ok)?.to_owned();
        if first.text("kind") == Some("LogLine") {
            return Ok(Some(TableRecord { iri, session, entry: first.log_line()?.into() }));
        }
        let mut record = first.record()?;
        let in_batch = first.text("batch_iri").is_some() || first.text("kind") == Some("Batch");
        if first.text("kind") == Some("HttpExchange") {
            let exchange = Http::clone(record.http.as_deref().unwrap_or(&Http::default())).record();
            record.latency = first.parsed("latency_text")?;
            record = Record { bytes: exchange.bytes, length: exchange.length, ..record };
            return Ok(Some(TableRecord { iri, session, entry: record.into() }));
        }
        if !in_batch {
            record.latency = first.parsed("latency_text")?;
            // A record without a latency must not get one from its time.
            record.flags.shares_time = record.latency.is_none();
            record.bytes = first.content()?.into();
            self.note_problems(&first, &mut record)?;
            return Ok(Some(TableRecord { iri, session, entry: record.into() }));
        }
        let mut elements = String::new();
        let mut row = Some(first);
        while let Some(element) = row {
            let is_line = element.text("kind") == Some("LogLine");
            let is_same =
                element.text("session_iri") == Some(&session) && element.sequence()? == record.location.record;
            if is_line || !is_same {
                self.next = Some(element);
                break;
            }
            // If an element has another sender, its method implied it, and will do so again.
            record.sender = record.sender.filter(|sender| element.sender() == Some(*sender));
            self.note_problems(&element, &mut record)?;
            match element.text("kind") {
                Some("Batch") => iri = element.required("message_iri")?.to_owned(),
                _ => {
                    elements.push_str(if elements.is_empty() { "" } else { "," });
                    elements.push_str(&element.single()?);
                }
            }
            row = self.row()?;
        }
        record.bytes = format!("[{elements}]").into_bytes().into();
        Ok(Some(TableRecord { iri, session, entry: record.into() }))
    }

    /// Adds the problems that the log stated about a message.
    fn note_problems(&mut self, row: &TableRow, record: &mut Record<'_>) -> Result<(), TableError> {
        let Some(iri) = row.text("message_iri") else { return Ok(()) };
        let is_of_it =
            |problem: &Result<(String, Problem), _>| problem.as_ref().map_or(true, |(message, _)| message == iri);
        while let Some((_, problem)) = self.problems.next_if(is_of_it).transpose()? {
            match problem {
                Problem::Truncated => record.flags.truncated = true,
                Problem::Reconstructed => record.flags.reconstructed = true,
                Problem::ResultUnknown => record.flags.result_unknown = true,
                // The sender was not known before the request was found.
                _ => record.sender = None,
            }
        }
        Ok(())
    }
}

/// Returns a problem, if the message alone does not show it.
fn stated_problem(row: Result<TableRow, TableError>) -> Result<Option<(String, Problem)>, TableError> {
    const STATED: [Problem; 4] =
        [Problem::Truncated, Problem::Reconstructed, Problem::ResultUnknown, Problem::AmbiguousPairing];
    let row = row?;
    let name = row.required("problem")?;
    let problem = STATED.into_iter().find(|problem| problem.name() == name);
    problem.map(|problem| Ok((row.required("message_iri")?.to_owned(), problem))).transpose()
}

impl Iterator for TableRecords {
    type Item = Result<TableRecord, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.record().transpose()
    }
}

impl TableRow {
    fn sequence(&self) -> Result<u64, TableError> {
        self.number("seq")
    }

    fn parsed<T: FromStr>(&self, column: &'static str) -> Result<Option<T>, TableError> {
        self.text(column).map(|text| text.parse().map_err(|_| TableError::NoValue(column))).transpose()
    }

    fn time(&self) -> Result<Option<Time>, TableError> {
        Ok(match self.parsed::<DateTime>("time_text")? {
            Some(time) => Some(Time::DateTime(time)),
            None => self.parsed("clock")?.map(Time::Clock),
        })
    }

    fn sender(&self) -> Option<Sender> {
        match self.text("sender")? {
            "Client" => Some(Sender::Client),
            _ => Some(Sender::Server),
        }
    }

    fn location(&self) -> Result<Location, TableError> {
        Ok(Location { record: self.sequence()?, line: self.number("line")?, byte: self.number("byte_offset")? })
    }

    fn log_line(&self) -> Result<LogLine<'static>, TableError> {
        let (time, location) = (self.time()?, self.location()?);
        Ok(LogLine { time, location, ..LogLine::new(self.text_or_bytes()) })
    }

    /// Returns a record without its bytes.
    fn record(&self) -> Result<Record<'static>, TableError> {
        let (time, sender, location) = (self.time()?, self.sender(), self.location()?);
        let (http, headers) =
            (self.http()?.map(Arc::new), self.text("request_headers").map(|text| Arc::new(text.to_owned())));
        Ok(Record { time, sender, location, http, headers, ..Record::new(Vec::new()) })
    }

    /// Returns the HTTP exchange of a record, as far as it is still needed.
    fn http(&self) -> Result<Option<Http>, TableError> {
        let text = |column| self.text(column).unwrap_or_default().to_owned();
        let exchange = self.text("http_method").map(|method| HttpExchange {
            method: method.to_owned(),
            url: text("url"),
            reason: text("reason"),
        });
        let status = u16::try_from(self.number("http_status")?).ok().filter(|status| *status > 0);
        let closing = exchange.as_ref().and_then(|exchange| {
            let closings = [HttpOutcome::Disconnected, HttpOutcome::Cancelled];
            closings.into_iter().find(|outcome| outcome.closing() == Some(&exchange.reason))
        });
        let outcome = match self.text("failure") {
            None => closing.unwrap_or(HttpOutcome::Negotiated),
            Some("http") => HttpOutcome::Failed,
            Some(_) => HttpOutcome::Done,
        };
        let ids = if exchange.is_some() { self.id()?.map(String::into_boxed_str) } else { None };
        let is_any = status.is_some() || exchange.is_some();
        Ok(is_any.then(|| Http { status, outcome, ids: ids.into_iter().collect(), exchange }))
    }

    /// Returns the JSON text of an id.
    fn id(&self) -> Result<Option<String>, TableError> {
        Ok(match self.text("id_kind") {
            None => None,
            Some("Null") => Some("null".to_owned()),
            Some("String") => Some(quoted(self.required("id_string")?)),
            Some(_) => Some(self.required("id_number")?.to_owned()),
        })
    }

    fn content(&self) -> Result<Vec<u8>, TableError> {
        match self.text("kind") {
            Some("MalformedRecord") => Ok(self.text_or_bytes()),
            _ => self.single().map(String::into_bytes),
        }
    }

    fn text_or_bytes(&self) -> Vec<u8> {
        self.bytes("raw").or_else(|| self.bytes("text")).unwrap_or_default().to_vec()
    }

    /// Returns the JSON text of a message, or of a value that is not one.
    fn single(&self) -> Result<String, TableError> {
        let json = |column| self.text(column).map(str::to_owned);
        let string = |column| self.text(column).map(quoted);
        if let Some(text) = json("text") {
            return Ok(text);
        }
        if self.text("kind") == Some("InvalidMessage") {
            return self.required("value").map(str::to_owned);
        }
        let id = self.id()?;
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
