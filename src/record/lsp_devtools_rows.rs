//! The rows of an `lsp-devtools-db`, as messages.
//!
//! A database cannot be read from its beginning to its end, so all of it is held in memory: twice while SQLite takes it
//! over, once after that, and no more than the limit for records.

use super::decoder::{Decoder, Step};
use super::object::{NewObject, string};
use super::times::{date_time, epoch, number};
use super::{Location, Record, Sender};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, MAIN_DB, OptionalExtension, Row};
use std::borrow::Cow;

/// The order of rowids is that in which the messages were recorded.
const ROW: &str = "SELECT rowid, session, timestamp, source, id, method, params, result, error FROM protocol
    WHERE rowid > ?1 ORDER BY rowid LIMIT 1";

/// Collects the database, then gives a record for every row. A record's line is the row's id.
pub(super) struct Database {
    limit: usize,
    magic: &'static [u8],
    state: DatabaseState,
    failure: Option<String>,
}

enum DatabaseState {
    Bytes(Vec<u8>),
    /// The id of the last row, and how many were given.
    Open {
        connection: Connection,
        last: i64,
        given: u64,
    },
    Over,
}

impl Database {
    /// Of databases that begin with `magic`.
    pub(super) fn new(limit: usize, magic: &'static [u8]) -> Self {
        // SQLite's own interface takes no more than this.
        let limit = limit.min(i32::MAX as usize);
        Self { limit, magic, state: DatabaseState::Bytes(Vec::new()), failure: None }
    }

    fn next<'a>(&mut self, input: &'a [u8], end: bool) -> Result<Step<'a>, String> {
        match &mut self.state {
            DatabaseState::Bytes(bytes) if !input.is_empty() => {
                let limit = self.limit;
                if input.len() > limit.saturating_sub(bytes.len()) {
                    return Err(format!(
                        "the database has more than {limit} bytes, which is what may be held of it (the limit for records)"
                    ));
                }
                bytes.extend_from_slice(input);
                Ok(Step::Skip { consumed: input.len() })
            }
            DatabaseState::Bytes(_) if !end => Ok(Step::NeedMore),
            DatabaseState::Bytes(bytes) => {
                if !bytes.starts_with(self.magic) {
                    return Err("this is no SQLite database".to_owned());
                }
                let connection = open(std::mem::take(bytes)).map_err(|error| error.to_string())?;
                self.state = DatabaseState::Open { connection, last: i64::MIN, given: 0 };
                self.next(input, end)
            }
            DatabaseState::Open { connection, last, given } => {
                let row = read(connection, *last, self.limit).map_err(|error| error.to_string())?;
                let Some(mut record) = row else {
                    self.state = DatabaseState::Over;
                    return Ok(Step::NeedMore);
                };
                let row = record.location.line as i64;
                if row <= *last {
                    return Err("the rows of the database are not in order: it is damaged".to_owned());
                }
                *given += 1;
                record.location.record = *given;
                *last = row;
                Ok(Step::entry(0, 0, record))
            }
            DatabaseState::Over => Ok(Step::NeedMore),
        }
    }
}

impl Decoder for Database {
    fn step<'a>(&mut self, input: &'a [u8], end: bool) -> Step<'a> {
        self.next(input, end).unwrap_or_else(|problem| {
            (self.state, self.failure) = (DatabaseState::Over, Some(problem));
            Step::NeedMore
        })
    }

    fn failure(&mut self) -> Option<String> {
        self.failure.take()
    }
}

fn open(mut bytes: Vec<u8>) -> rusqlite::Result<Connection> {
    // A database with a write-ahead log cannot be opened in memory. What is in that file is not here anyway.
    if let Some(versions) = bytes.get_mut(18..20).filter(|versions| *versions == [2, 2]) {
        versions.fill(1);
    }
    let mut connection = Connection::open_in_memory()?;
    connection.deserialize_read_exact(MAIN_DB, &bytes[..], bytes.len(), true)?;
    Ok(connection)
}

/// The next row after the one with the id `last`.
fn read(connection: &Connection, last: i64, limit: usize) -> rusqlite::Result<Option<Record<'static>>> {
    connection.prepare_cached(ROW)?.query_row([last], |row| record(row, limit)).optional()
}

fn record(row: &Row<'_>, limit: usize) -> rusqlite::Result<Record<'static>> {
    let text = |column: &str| {
        Ok::<_, rusqlite::Error>(match row.get_ref(column)? {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(number.to_string().into_bytes()),
            ValueRef::Real(number) => Some(number.to_string().into_bytes()),
            ValueRef::Text(text) | ValueRef::Blob(text) => Some(text.to_vec()),
        })
    };
    let line: i64 = row.get("rowid")?;
    let mut message = NewObject::new();
    let mut members = Vec::new();
    for name in ["id", "method", "params", "result", "error"] {
        let Some(value) = text(name)? else { continue };
        match name {
            // The column is text, so `1` and `"1"` are the same there. Numbers are what nearly everybody sends.
            "id" if is_integer(&value) => message.member(name, &value),
            "id" | "method" => message.member(name, &string(&value)),
            _ => message.member(name, &value),
        }
        members.push(name);
    }

    let mut record = Record::within(limit, message.end());
    record.location = Location { record: 0, line: line as u64, byte: 0 };
    record.flags.reconstructed = true;
    // A result that Python takes for false is not recorded: null, 0, false, "", [] and {}.
    record.flags.result_unknown = members == ["id"];
    let session = text("session")?.map(|key| String::from_utf8_lossy(&key).into_owned());
    record.session = session.filter(|key| !key.is_empty()).map(Cow::Owned);
    record.sender = match text("source")?.as_deref() {
        Some(b"client") => Some(Sender::Client),
        Some(b"server") => Some(Sender::Server),
        _ => None,
    };
    record.time = text("timestamp")?.and_then(|time| match number(&time) {
        Some(seconds) if !time.contains(&b':') => epoch(seconds),
        _ => date_time(&time),
    });
    Ok(record)
}

fn is_integer(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) && (digits == b"0" || digits[0] != b'0')
}

#[cfg(test)]
mod tests {
    use super::super::lsp_devtools_db::MAGIC;
    use super::super::{Entry, Format, ReadError, Reader, ReaderOptions, Time};
    use super::*;

    const TABLE: &str =
        "CREATE TABLE protocol (session TEXT, timestamp REAL, source TEXT, id TEXT NULL, method TEXT NULL,
        params TEXT NULL, result TEXT NULL, error TEXT NULL);";

    fn database(sql: &str) -> Vec<u8> {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(sql).unwrap();
        connection.serialize(MAIN_DB).unwrap().to_vec()
    }

    fn read(bytes: &[u8], limit: usize) -> (Vec<Record<'static>>, Option<String>) {
        let options = ReaderOptions::default().with_format(Format::LspDevtoolsDb).with_max_record_size(limit);
        let mut reader = Reader::new(bytes, &options).unwrap();
        let mut records = Vec::new();
        loop {
            match reader.next_entry() {
                Ok(Some(Entry::Record(record))) => records.push(record.into_owned()),
                Ok(Some(Entry::LogLine(line))) => panic!("{line:?}"),
                Ok(None) => return (records, None),
                Err(ReadError::Unreadable { problem, .. }) => {
                    assert!(reader.next_entry().unwrap().is_none());
                    return (records, Some(problem));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn row(values: &str) -> Record<'static> {
        let bytes = database(&format!("{TABLE} INSERT INTO protocol VALUES ({values});"));
        let (mut records, error) = read(&bytes, 1 << 20);
        assert_eq!((records.len(), error), (1, None), "{values}");
        records.remove(0)
    }

    #[test]
    fn messages_from_rows() {
        let table = [
            ("1, 'a', '{\"x\": 1.0}', NULL, NULL", r#"{"id":1,"method":"a","params":{"x": 1.0}}"#),
            ("'0', 'a', NULL, NULL, NULL", r#"{"id":0,"method":"a"}"#),
            ("'01', 'a\"b', NULL, NULL, NULL", r#"{"id":"01","method":"a\"b"}"#),
            ("NULL, 'a', '[]', NULL, NULL", r#"{"method":"a","params":[]}"#),
            ("'4f-2', NULL, NULL, '[1]', NULL", r#"{"id":"4f-2","result":[1]}"#),
            ("'-7', NULL, NULL, NULL, '{\"code\": 1}'", r#"{"id":-7,"error":{"code": 1}}"#),
            ("'1', NULL, NULL, NULL, NULL", r#"{"id":1}"#),
            ("NULL, NULL, NULL, NULL, NULL", "{}"),
        ];
        for (values, expected) in table {
            let record = row(&format!("'s', 1.5, 'client', {values}"));
            assert_eq!(String::from_utf8_lossy(&record.bytes), expected);
            assert!(record.flags.reconstructed);
            assert_eq!(record.flags.result_unknown, expected == r#"{"id":1}"#);
        }
    }

    #[test]
    fn what_else_a_row_tells() {
        let time = |text: &str| text.parse().ok().map(Time::DateTime);
        let record = row("'s', 1767607200.25, 'server', NULL, 'a', NULL, NULL, NULL");
        assert_eq!((record.sender, record.session.as_deref()), (Some(Sender::Server), Some("s")));
        assert_eq!(record.time, time("2026-01-05T10:00:00.25Z"));
        let record = row("'', '2026-01-05T10:00:00+01:00', 'nobody', NULL, 'a', NULL, NULL, NULL");
        assert_eq!((record.sender, record.session), (None, None));
        assert_eq!(record.time, time("2026-01-05T10:00:00+01:00"));
        let record = row("NULL, NULL, NULL, NULL, 'a', NULL, NULL, NULL");
        assert_eq!((record.sender, record.session, record.time), (None, None, None));
    }

    #[test]
    fn many_rows_in_the_order_of_their_ids() {
        let rows: String =
            (0..500).map(|id| format!("INSERT INTO protocol(rowid, id) VALUES ({}, {id});", 1000 - id)).collect();
        let (records, error) = read(&database(&format!("{TABLE}{rows}")), 1 << 20);
        assert_eq!((records.len(), error), (500, None));
        for (index, record) in records.iter().enumerate() {
            let location = Location { record: index as u64 + 1, line: index as u64 + 501, byte: 0 };
            assert_eq!(record.location, location);
            assert_eq!(record.bytes, format!("{{\"id\":{}}}", 499 - index).into_bytes());
        }
    }

    #[test]
    fn limits_and_defects() {
        let whole = database(&format!("{TABLE} INSERT INTO protocol(method) VALUES ('a');"));
        let problem = |bytes: &[u8], limit| read(bytes, limit).1.unwrap_or_default();
        assert!(problem(&whole, 100).contains("more than 100 bytes"));
        assert_eq!(problem(b"", 100), "this is no SQLite database");
        assert_eq!(problem(b"{}", 100), "this is no SQLite database");
        assert_eq!(problem(&whole[..whole.len() / 2], 1 << 20), "database disk image is malformed");
        assert_eq!(problem(MAGIC, 1 << 20), "file is not a database");
        assert!(problem(&database("CREATE TABLE other (id)"), 1 << 20).contains("no such table: protocol"));
        let long = database(&format!("{TABLE} INSERT INTO protocol(method) VALUES ('{}');", "a".repeat(99_000)));
        let (records, _) = read(&long, long.len());
        assert_eq!(records[0].length, 99_013);
        let mut logged = whole;
        logged[18..20].fill(2);
        assert_eq!(read(&logged, 1 << 20).0.len(), 1);
    }
}
