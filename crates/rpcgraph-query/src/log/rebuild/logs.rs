//! Tables as the logs from which they were made, each with the entries that its reader gave.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use percent_encoding::percent_decode_str;

use super::cells::TableError;
use super::tables::{TABLES, TableFiles, TableRecords};
use crate::diagnostic::printable_path;
use crate::log::convert::Input;
use crate::log::log_iri;
use crate::record::{Decoder, Entry, Format, Location, LogLine, OwnEntries, ReaderOptions, Step, Time};
use crate::sink::rows::schema::sessions;

/// The logs from which a folder of tables was made.
pub struct TableLogs {
    folder: PathBuf,
    files: TableFiles,
    logs: Vec<TableLog>,
    /// The indexes of the logs, by IRI.
    places: HashMap<String, usize>,
    /// The records after the last log that was read, so that reading the next log does not start over.
    rest: Mutex<Option<TableRest>>,
}

struct TableLog {
    iri: String,
    source: String,
    format: Format,
    records: u64,
    /// The sessions whose senders were inferred.
    inferred: HashSet<String>,
    /// The keys of the sessions that ended in a restart, by the IRI of the message that began the next one.
    restarts: HashMap<String, String>,
    /// The keys of the sessions whose server ended, each with the time.
    exits: Vec<(String, Time)>,
}

/// The remaining records, from the log with the index `from` on.
struct TableRest {
    records: TableRecords,
    from: usize,
}

impl TableLogs {
    /// True if a folder has at least one of the tables. If it lacks another, [`open`](Self::open) fails.
    pub fn are_in(folder: &Path) -> bool {
        TABLES.iter().any(|table| folder.join(table.file()).is_file())
    }

    /// Opens the logs of a folder.
    pub fn open(folder: &Path) -> Result<Self, TableError> {
        let mut logs: Vec<TableLog> = Vec::new();
        let mut places = HashMap::new();
        let files = TableFiles::open(folder)?;
        for row in files.rows(&sessions::TABLE, ReaderOptions::default().max_record_size)? {
            let row = row?;
            let session = row.required("session_iri")?;
            let iri = log_iri(session);
            let place = *places.entry(iri.to_owned()).or_insert(logs.len());
            if place == logs.len() {
                let format = Format::from_name(row.required("format")?).ok_or(TableError::NoValue("format"))?;
                let (iri, source) = (iri.to_owned(), row.required("source")?.to_owned());
                logs.push(TableLog {
                    iri,
                    source,
                    format,
                    records: 0,
                    inferred: HashSet::new(),
                    restarts: HashMap::new(),
                    exits: Vec::new(),
                });
            }
            let Some(log) = logs.get_mut(place) else { continue };
            log.records += row.number("record_count")?;
            if row.is_true("sender_inferred") {
                log.inferred.insert(session.to_owned());
            }
            if let Some(time) = row.text("exited_at").and_then(|text| text.parse().ok()) {
                log.exits.push((key_of(session).unwrap_or_default(), Time::DateTime(time)));
            }
            if let Some(message) = row.text("restarted_by") {
                log.restarts.insert(message.to_owned(), key_of(session).unwrap_or_default());
            }
        }
        Ok(Self { folder: folder.to_owned(), files, logs, places, rest: Mutex::default() })
    }

    /// Returns the IRIs of the logs, in order.
    pub fn iris(&self) -> impl Iterator<Item = &str> {
        self.logs.iter().map(|log| &*log.iri)
    }

    /// Returns the input of a log; `None` if the index is too large. Reading all logs in order takes as long as reading
    /// the tables. A cell of more than `longest` bytes is an error.
    pub fn input(self: &Arc<Self>, place: usize, longest: usize) -> Result<Option<Input<OwnEntries>>, TableError> {
        let Some(log) = self.logs.get(place) else { return Ok(None) };
        let rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut rest = match rest.filter(|rest| rest.from <= place) {
            Some(rest) => rest,
            None => TableRest { records: TableRecords::in_tables(&self.files, longest)?, from: 0 },
        };
        while self.next_place(&mut rest)?.is_some_and(|next| next < place) {
            rest.records.next().transpose()?;
        }
        rest.from = place;
        let exits = log.exits.clone();
        let entries =
            TableEntries { tables: Arc::clone(self), place, rest: Some(rest), count: 0, exits, failure: None };
        Ok(Some(Input {
            name: printable_path(&self.folder.join(&log.source)),
            source: log.source.clone(),
            iri: log.iri.clone(),
            iri_stated: true,
            read: OwnEntries { format: log.format, decoder: Box::new(entries) },
        }))
    }

    /// Returns the index of the log of the next record.
    fn next_place(&self, rest: &mut TableRest) -> Result<Option<usize>, TableError> {
        let from = rest.from;
        let Some(session) = rest.records.next_session()? else { return Ok(None) };
        match self.places.get(log_iri(session)) {
            Some(place) if *place >= from => Ok(Some(*place)),
            _ => Err(TableError::Misplaced(format!("messages of {session} are not in one block"))),
        }
    }
}

/// Returns the key of a session from its IRI.
fn key_of(session: &str) -> Option<String> {
    let (_, key) = session.split_once("#session-")?;
    Some(percent_decode_str(key).decode_utf8_lossy().into_owned())
}

/// The entries of a log.
struct TableEntries {
    tables: Arc<TableLogs>,
    place: usize,
    /// `None` after the last entry.
    rest: Option<TableRest>,
    /// The number of records that were given.
    count: u64,
    /// The exits of servers, which follow the records.
    exits: Vec<(String, Time)>,
    failure: Option<TableError>,
}

impl TableEntries {
    fn entry(&mut self) -> Result<Option<Entry<'static>>, TableError> {
        let (Some(mut rest), Some(log)) = (self.rest.take(), self.tables.logs.get(self.place)) else { return Ok(None) };
        if self.tables.next_place(&mut rest)? != Some(self.place) {
            if self.count != log.records {
                return Err(TableError::Misplaced(format!(
                    "{} has {} records, not {}",
                    log.iri, self.count, log.records
                )));
            }
            if let Some((key, time)) = self.exits.pop() {
                self.rest = Some(rest);
                let exit =
                    LogLine { session: Some(key.into()), time: Some(time), is_exit: true, ..LogLine::new(Vec::new()) };
                let mut entry = Entry::from(exit);
                entry.set_place(Location { record: self.count.max(1), ..Location::START });
                return Ok(Some(entry));
            }
            rest.from = self.place + 1;
            *self.tables.rest.lock().unwrap_or_else(PoisonError::into_inner) = Some(rest);
            return Ok(None);
        }
        let Some(record) = rest.records.next().transpose()? else { return Ok(None) };
        self.rest = Some(rest);
        let mut entry = record.entry;
        let key = key_of(&record.session).map(Cow::Owned);
        let mut location = entry.location();
        match &mut entry {
            Entry::Record(message) => {
                self.count += 1;
                message.session = key;
                message.restarts = log.restarts.get(&record.iri).map(|ended| ended.as_str().into());
                message.flags.sender_inferred = log.inferred.contains(&record.session);
            }
            Entry::LogLine(line) => line.session = key,
        }
        if location.record != self.count {
            return Err(TableError::Misplaced(format!("{} is not record {}", record.iri, self.count)));
        }
        // Not 0: the place is known. The reader counts records itself.
        location.record = location.record.max(1);
        entry.set_place(location);
        Ok(Some(entry))
    }
}

impl Decoder for TableEntries {
    fn step<'a>(&mut self, _: &'a [u8], _: bool) -> Step<'a> {
        match self.entry() {
            Ok(Some(entry)) => Step::Entry { start: 0, consumed: 0, entry },
            Ok(None) => Step::NeedMore,
            Err(failure) => {
                self.failure = Some(failure);
                Step::NeedMore
            }
        }
    }

    fn failure(&mut self) -> Option<String> {
        self.failure.take().map(|failure| failure.to_string())
    }
}
