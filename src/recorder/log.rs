//! The log that is written: a JSON object on each line.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender as Channel, channel};
use std::thread;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::record::Sender;

/// The number of bytes that may wait to be written. What is more is left out of the log.
const MAX_WAITING: usize = 64 << 20;

/// A message or text for the log.
pub struct Piece {
    pub time: SystemTime,
    /// The side that sent it; `None` for lines of the recorder.
    pub sender: Option<Sender>,
    /// The session, if it is not the process.
    pub session: Option<Arc<str>>,
    /// The facts about its HTTP exchange; `None` on stdio.
    pub http: Option<HttpPart>,
    /// Empty if nothing was sent.
    pub bytes: Vec<u8>,
}

/// The members of a line that are about HTTP.
#[derive(Clone, Default, Serialize)]
pub struct HttpPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub resumed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Arc<RequestPart>>,
    /// The headers of a request, beside its body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<BTreeMap<String, String>>,
}

/// An HTTP request.
#[derive(Serialize)]
pub struct RequestPart {
    pub method: String,
    pub url: String,
    /// The headers that MCP defines, by their names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The ids of the messages in its body.
    pub ids: Vec<Box<RawValue>>,
}

impl Piece {
    /// Creates a piece of the session that is the process, at this time, on stdio.
    pub fn now(sender: Option<Sender>, bytes: &[u8]) -> Self {
        Self { time: SystemTime::now(), sender, session: None, http: None, bytes: bytes.to_vec() }
    }
}

/// A log that never fails: what cannot be written is reported once, and the session goes on without a log.
pub struct RecordLog {
    file: Option<File>,
    path: String,
    session: String,
    sequence: u64,
    report: Box<dyn FnMut(&str) + Send>,
}

impl RecordLog {
    /// Opens a log at its end, or creates it. `report` gets at most one message: why nothing more is recorded.
    pub fn open(path: &Path, report: impl FnMut(&str) + Send + 'static) -> Self {
        let session = new_name();
        let shown = crate::diagnostic::printable_path(path);
        let mut log = Self { file: None, path: shown, session, sequence: 0, report: Box::new(report) };
        match OpenOptions::new().append(true).create(true).open(path) {
            Ok(file) => log.file = Some(file),
            Err(error) => log.fail(&error),
        }
        log
    }

    /// Starts the thread that writes the log. It ends, and the sender of the `Receiver` with it, after the piece that
    /// [`LogQueue::end`] passes.
    ///
    /// # Errors
    ///
    /// The thread cannot be started.
    pub fn start(mut self) -> io::Result<(LogQueue, Receiver<()>)> {
        let (pieces, received) = channel::<(Piece, bool)>();
        let (ended, end) = channel();
        let queue = LogQueue { pieces, waiting: Arc::default(), lost: Arc::default() };
        let (waiting, lost) = (Arc::clone(&queue.waiting), Arc::clone(&queue.lost));
        thread::Builder::new().spawn(move || {
            for (piece, is_last) in received {
                waiting.fetch_sub(piece.bytes.len(), Ordering::Relaxed);
                self.write(&piece);
                let count = lost.swap(0, Ordering::Relaxed);
                if count > 0 {
                    let text = format!("{count} messages were not recorded: the log could not be written as fast");
                    self.write(&Piece {
                        http: piece.http.map(|_| HttpPart::default()),
                        ..Piece::now(None, text.as_bytes())
                    });
                }
                if is_last {
                    break;
                }
            }
            drop(ended);
        })?;
        Ok((queue, end))
    }

    fn fail(&mut self, error: &io::Error) {
        self.file = None;
        (self.report)(&format!("note: cannot write {}, so nothing more is recorded: {error}", self.path));
    }

    fn write(&mut self, piece: &Piece) {
        let Some(file) = &mut self.file else { return };
        self.sequence += 1;
        let time = rfc3339(piece.time, SecondsFormat::Micros);
        let session = json!(piece.session.as_deref().unwrap_or(&self.session));
        let mut line = format!("{{\"time\":\"{time}\",\"session\":{session},\"sequence\":{}", self.sequence);
        line += if piece.http.is_some() { ",\"transport\":\"http\"" } else { ",\"transport\":\"stdio\"" };
        if let Some(sender) = piece.sender {
            line += if sender == Sender::Client { ",\"sender\":\"client\"" } else { ",\"sender\":\"server\"" };
        }
        let http = piece.http.as_ref().and_then(|http| serde_json::to_string(http).ok());
        if let Some(members) = http.as_deref().and_then(|object| object.strip_prefix('{')?.strip_suffix('}'))
            && !members.is_empty()
        {
            line += &format!(",{members}");
        }
        let text = str::from_utf8(&piece.bytes);
        let is_message = matches!(piece.bytes.first(), Some(b'{' | b'['))
            && text.is_ok_and(|text| serde_json::from_str::<&RawValue>(text).is_ok());
        match text {
            Ok("") => line += "}\n",
            // Line ends of valid JSON are between its tokens.
            Ok(text) if is_message => line += &format!(",\"message\":{}}}\n", text.replace(['\n', '\r'], " ")),
            Ok(text) => line += &format!(",\"text\":{}}}\n", json!(text)),
            Err(_) => line += &format!(",\"bytes\":\"{}\"}}\n", BASE64_STANDARD.encode(&piece.bytes)),
        }
        // One write for each line, so that a killed recorder leaves whole lines.
        if let Err(error) = file.write_all(line.as_bytes()) {
            self.fail(&error);
        }
    }
}

/// The way to the log, which never waits for it.
#[derive(Clone)]
pub struct LogQueue {
    pieces: Channel<(Piece, bool)>,
    waiting: Arc<AtomicUsize>,
    lost: Arc<AtomicUsize>,
}

impl LogQueue {
    /// Passes a piece to the log, or counts it as lost if too much waits.
    pub fn send(&self, piece: Piece) {
        let length = piece.bytes.len();
        if self.waiting.load(Ordering::Relaxed).saturating_add(length) > MAX_WAITING.max(length) {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.waiting.fetch_add(length, Ordering::Relaxed);
        // Fails behind the last piece.
        let _ = self.pieces.send((piece, false));
    }

    /// Passes the last piece to the log.
    pub fn end(&self, piece: Piece) {
        self.waiting.fetch_add(piece.bytes.len(), Ordering::Relaxed);
        let _ = self.pieces.send((piece, true));
    }
}

/// Waits for the log to be written, but not for long.
pub fn wait(end: &Receiver<()>) {
    let _ = end.recv_timeout(Duration::from_secs(5));
}

/// Returns a name that no other process has at this time.
pub fn new_name() -> String {
    format!("{}-{}", DateTime::<Utc>::from(SystemTime::now()).format("%Y%m%dT%H%M%S%3fZ"), process::id())
}

fn rfc3339(time: SystemTime, precision: SecondsFormat) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(precision, true)
}
