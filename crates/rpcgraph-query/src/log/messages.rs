//! Iteration over messages, with one at a time in memory.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::Read;
use std::time::Duration;

use crate::log::convert::{ConvertError, Input};
use crate::message::{Content, ErrorMember, Id, Kind, Message, Payload, Problems};
use crate::record::{Entry, Location, OwnEntries, ReadError, Reader, ReaderOptions, Record, Sender};
use crate::session::{Annotated, Name, Node, Sessions};

use super::error::LogError;

/// A message of a log, with what its session knows about it.
#[derive(Debug, Clone, Default)]
pub struct LoggedMessage {
    /// The name in the graph: `m7`, or `m7.2` in a batch.
    pub name: Name,
    /// The place of its record.
    pub location: Location,
    /// The key of its session, if the log holds several.
    pub session: Option<String>,
    /// The time of capture, in the form of `xsd:dateTime`, or of `xsd:time` if the log does not have a date.
    pub time: Option<String>,
    /// The side that sent it, as the log states or as inferred from the traffic.
    pub sender: Option<Sender>,
    /// The kind of message; `None` if it is not a message.
    pub kind: Option<Kind>,
    /// `id`.
    pub id: Option<Id<'static>>,
    /// `method`.
    pub method: Option<String>,
    /// `params`, as canonical JSON (RFC 8785).
    pub params: Option<String>,
    /// `result`, as canonical JSON.
    pub result: Option<String>,
    /// `code` and `message` of an error that is an object.
    pub error: Option<(Option<String>, Option<String>)>,
    /// The message that it answers.
    pub responds_to: Option<Name>,
    /// The time from the message that it answers to this one.
    pub latency: Option<Duration>,
    /// The problems of the message.
    pub problems: Problems,
    /// The text of the message as in the log, with U+FFFD for bytes that are not UTF-8.
    pub text: String,
}

/// An entry of a log: a message, or a value in its place; or a line between messages.
#[derive(Debug, Clone)]
pub enum LoggedEntry {
    /// A message.
    Message(Box<LoggedMessage>),
    /// Text between messages, and its place.
    LogLine(Location, String),
}

/// The messages of a log, as they are read.
pub struct Messages {
    input: String,
    /// `None` after the end, or after an error.
    reader: Option<Result<Reader<'static>, ReadError>>,
    sessions: Sessions,
    ready: VecDeque<LoggedMessage>,
}

impl Messages {
    pub(super) fn new(input: Input<Box<dyn Read + Send>>, options: &ReaderOptions) -> Self {
        let reader = Some(Reader::new(input.read, options));
        Self { input: input.name, reader, sessions: Sessions::new(), ready: VecDeque::new() }
    }

    /// Returns the messages of an input that supplies its own entries.
    pub fn from_input(input: Input<OwnEntries>) -> Self {
        let reader = Some(Reader::of(input.read));
        Self { input: input.name, reader, sessions: Sessions::new(), ready: VecDeque::new() }
    }

    fn failed(&mut self, error: ReadError) -> LogError {
        ConvertError::Read { input: std::mem::take(&mut self.input), error }.into()
    }
}

impl Iterator for Messages {
    type Item = Result<LoggedMessage, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_entry()? {
                Ok(LoggedEntry::Message(message)) => return Some(Ok(*message)),
                Ok(LoggedEntry::LogLine(..)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Messages {
    /// Returns the next message, or line between messages.
    pub fn next_entry(&mut self) -> Option<Result<LoggedEntry, LogError>> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(Ok(LoggedEntry::Message(Box::new(message))));
            }
            let next = self.reader.take()?.and_then(|mut reader| Ok((reader.next_entry()?, reader)));
            match next {
                Ok((Some(entry), reader)) => {
                    self.reader = Some(Ok(reader));
                    match entry {
                        Entry::Record(record) => read(&record, &mut self.sessions, &mut self.ready),
                        Entry::LogLine(line) => {
                            let text = String::from_utf8_lossy(&line.bytes).into_owned();
                            return Some(Ok(LoggedEntry::LogLine(line.location, text)));
                        }
                    }
                }
                Ok((None, _)) => return None,
                Err(error) => return Some(Err(self.failed(error))),
            }
        }
    }
}

fn read(record: &Record<'_>, sessions: &mut Sessions, ready: &mut VecDeque<LoggedMessage>) {
    let mut content = Content::from_record(record);
    let elements = content.element_texts(&record.bytes);
    let annotated = sessions.annotate(record, &mut content);
    let session = sessions.last_key().map(str::to_owned);
    for annotated in annotated {
        let text = match annotated.batch_index {
            Some(index) => elements.get(index as usize - 1).map(|element| Cow::Borrowed(*element)),
            None => Some(String::from_utf8_lossy(&record.bytes)),
        };
        if !matches!(annotated.node, Node::Batch) {
            let message = LoggedMessage::from_annotated(&annotated, text.unwrap_or_default().into_owned());
            ready.push_back(LoggedMessage { session: session.clone(), ..message });
        }
    }
}

impl LoggedMessage {
    /// Adds the members of a message.
    pub(crate) fn with_members(self, message: &Message<'_>) -> Self {
        let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
        let text = |payload: &Payload<'_>| (*payload.text).to_owned();
        Self {
            kind: Some(message.kind),
            id: message.id.clone().map(Id::into_owned),
            method: owned(&message.method),
            params: message.params.as_ref().map(text),
            result: message.result.as_ref().map(text),
            error: match &message.error {
                Some(ErrorMember::Object(error)) => Some((owned(&error.code), owned(&error.message))),
                _ => None,
            },
            ..self
        }
    }

    fn from_annotated(annotated: &Annotated<'_>, text: String) -> Self {
        let named = Self { name: annotated.name, location: annotated.location, ..Self::default() };
        let logged = match &annotated.node {
            Node::Message(message) => named.with_members(message),
            _ => named,
        };
        let seconds = annotated.latency.map(|seconds| f64::from(oxsdatatypes::Double::from(seconds)));
        Self {
            time: annotated.time.map(|time| time.to_string()),
            sender: annotated.sender,
            responds_to: annotated.responds_to,
            latency: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            problems: annotated.problems,
            text,
            ..logged
        }
    }
}
