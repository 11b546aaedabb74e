//! Messages one by one, each by itself in memory.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::io::Read;
use std::time::Duration;

use serde_json::value::RawValue;

use crate::convert::{ConvertError, Input};
use crate::json::Numbers;
use crate::message::{Content, ErrorMember, Id, Kind, Payload, Problems};
use crate::record::{Entry, Location, Reader, ReaderOptions, Record, Sender, Time};
use crate::session::{Annotated, Name, Node, Session};

use super::LogError;

/// A message of a log, and what its session knows of it.
#[derive(Debug, Clone)]
pub struct LoggedMessage {
    /// What the graph calls it: `m7`, or `m7.2` in a batch.
    pub name: Name,
    /// Where its record is.
    pub location: Location,
    /// Key of its session, where the log holds several.
    pub session: Option<String>,
    /// When it was captured, in the form of `xsd:dateTime`, or of `xsd:time` where the log has no date.
    pub time: Option<String>,
    /// Which side sent it.
    pub sender: Option<Sender>,
    /// The kind of message; none where it is not a message.
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
    /// The time from that message to this one.
    pub latency: Option<Duration>,
    /// What is wrong with it.
    pub problems: Problems,
    /// The text of the message as it is in the log, with U+FFFD for what is not UTF-8.
    pub text: String,
}

/// The messages of a log, as they are read.
pub struct Messages(Stage);

enum Stage {
    /// Nothing was read yet.
    Opened {
        input: Box<Input<Box<dyn Read + Send>>>,
        options: ReaderOptions,
    },
    /// The sessions are those that have begun, by their key.
    Reading {
        input: String,
        reader: Box<Reader<Box<dyn Read + Send>>>,
        sessions: HashMap<Option<String>, Session>,
        ready: VecDeque<LoggedMessage>,
    },
    Ended,
}

impl Messages {
    pub(super) fn new(input: Input<Box<dyn Read + Send>>, options: &ReaderOptions) -> Self {
        Self(Stage::Opened { input: Box::new(input), options: *options })
    }
}

impl Iterator for Messages {
    type Item = Result<LoggedMessage, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match std::mem::replace(&mut self.0, Stage::Ended) {
                Stage::Opened { input, options } => {
                    let Input { name, read, .. } = *input;
                    match Reader::new(read, &options) {
                        Ok(reader) => {
                            let (sessions, ready) = (HashMap::new(), VecDeque::new());
                            self.0 = Stage::Reading { input: name, reader: Box::new(reader), sessions, ready };
                        }
                        Err(error) => return Some(Err(ConvertError::Read { input: name, error }.into())),
                    }
                }
                Stage::Reading { input, mut reader, mut sessions, mut ready } => {
                    if let Some(message) = ready.pop_front() {
                        self.0 = Stage::Reading { input, reader, sessions, ready };
                        return Some(Ok(message));
                    }
                    match reader.next_entry() {
                        Ok(None) => return None,
                        Ok(Some(Entry::Record(record))) => read(&record, &mut sessions, &mut ready),
                        Ok(Some(Entry::LogLine(_))) => {}
                        Err(error) => return Some(Err(ConvertError::Read { input, error }.into())),
                    }
                    self.0 = Stage::Reading { input, reader, sessions, ready };
                }
                Stage::Ended => return None,
            }
        }
    }
}

fn read(record: &Record<'_>, sessions: &mut HashMap<Option<String>, Session>, ready: &mut VecDeque<LoggedMessage>) {
    let content = match record.flags.result_unknown {
        true => Content::parse_without_result(&record.bytes),
        false => Content::parse(&record.bytes),
    };
    let key = record.session.as_deref().map(str::to_owned);
    let session = sessions.entry(key.clone()).or_insert_with(|| Session::new(key));
    // Elements of a batch have no text of their own; they are valid JSON, since the batch is.
    let elements: Vec<&RawValue> = match content {
        Content::Batch(_) => serde_json::from_slice(&record.bytes).unwrap_or_default(),
        Content::Single(_) | Content::Malformed(_) => Vec::new(),
    };
    for annotated in session.annotate(record, content) {
        let text = match annotated.batch_index {
            Some(index) => elements.get(index as usize - 1).map(|element| Cow::Borrowed(element.get())),
            None => Some(String::from_utf8_lossy(&record.bytes)),
        };
        if !matches!(annotated.node, Node::Batch) {
            ready.push_back(LoggedMessage::new(record, &annotated, text.unwrap_or_default().into_owned()));
        }
    }
}

impl LoggedMessage {
    fn new(record: &Record<'_>, annotated: &Annotated<'_>, text: String) -> Self {
        let message = match &annotated.node {
            Node::Message(message) => Some(message),
            _ => None,
        };
        let error = message.and_then(|message| match message.error.as_ref()? {
            ErrorMember::Object(error) => {
                let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
                Some((owned(&error.code), owned(&error.message)))
            }
            ErrorMember::Other(_) => None,
        });
        Self {
            name: annotated.name,
            location: annotated.location,
            session: record.session.as_deref().map(str::to_owned),
            time: annotated.time.map(|time| match time {
                Time::DateTime(time) => time.to_string(),
                Time::Clock(time) => time.to_string(),
            }),
            sender: annotated.sender,
            kind: annotated.kind(),
            id: message.and_then(|message| message.id.clone()).map(Id::into_owned),
            method: message.and_then(|message| message.method.as_deref()).map(str::to_owned),
            params: message.and_then(|message| canonical(message.params.as_ref()?)),
            result: message.and_then(|message| canonical(message.result.as_ref()?)),
            error,
            responds_to: annotated.responds_to,
            latency: annotated
                .latency
                .and_then(|seconds| Duration::try_from_secs_f64(f64::from(oxsdatatypes::Double::from(seconds))).ok()),
            problems: annotated.problems,
            text,
        }
    }
}

fn canonical(payload: &Payload<'_>) -> Option<String> {
    let mut buffer = String::new();
    // Exact numbers never fail.
    payload.canonical(Numbers::Exact, &mut buffer).ok().map(|(text, _)| text.to_owned())
}
