//! Messages: the content of a record, judged by its members alone.
//!
//! [`Content::parse`] is tolerant: it classifies a message by the table in its documentation, and notes departures from
//! JSON-RPC 2.0 as [`Problem`]s. It drops nothing: a member that the building block's context does not map, or whose
//! value has the wrong type, is in [`Message::extra`].
//!
//! The terms come from the [JSON-RPC 2.0 specification](https://www.jsonrpc.org/specification).

mod certainty;
mod id;
mod oracle;
mod parse;
mod payload;
mod problem;
mod scanner;

use std::borrow::Cow;

pub use self::id::{Id, MAX_ID_DIGITS};
pub use self::parse::is_keyword_like;
pub use self::payload::Payload;
pub(crate) use self::payload::PayloadView;
pub use self::problem::{Problem, Problems};
pub use self::scanner::{PayloadBuffer, Scanned, Scanner};
use crate::json::{self, Text, Value};
use crate::record::{KnownMethod, known_method};

/// A member of an object: its name and its value.
pub type Member<'a> = (Text<'a>, Value<'a>);

/// The content of a record.
#[expect(clippy::large_enum_variant, reason = "most values are this variant; boxing would allocate for each message")]
#[derive(Debug, Clone)]
pub enum Content<'a> {
    /// One message, or one JSON value that is not a message.
    Single(Single<'a>),
    /// A JSON array: a batch (JSON-RPC 2.0, section 6), empty or with elements that are not messages.
    Batch(Vec<Single<'a>>),
    /// Text that is not JSON, or is nested deeper than [`json::MAX_DEPTH`].
    Malformed(json::Error),
    /// An HTTP exchange without a message.
    Exchange,
}

/// A message, or a JSON value that is not one.
#[derive(Debug, Clone)]
pub enum Single<'a> {
    /// A message.
    Message(Message<'a>),
    /// A JSON value that is not a message.
    Invalid(Invalid<'a>),
}

/// The four kinds of message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A call that expects an answer (section 4).
    Request,
    /// A call that does not expect an answer (section 4.1).
    Notification,
    /// An answer with a result (section 5).
    Response,
    /// An answer with an error (section 5.1).
    ErrorResponse,
}

/// A message. Members that are absent are `None`; members that are `null` are not.
#[derive(Debug, Clone)]
pub struct Message<'a> {
    /// The kind of message.
    pub kind: Kind,
    /// `jsonrpc`, if it is a string.
    pub version: Option<Cow<'a, str>>,
    /// `id`; always present in a request.
    pub id: Option<Id<'a>>,
    /// `method`; present in requests and notifications, and only there.
    pub method: Option<Cow<'a, str>>,
    /// `params`, of whatever type.
    pub params: Option<Payload<'a>>,
    /// `result`; present in responses, and only there; absent if the log does not hold it.
    pub result: Option<Payload<'a>>,
    /// `error`; present in error responses, and only there.
    pub error: Option<ErrorMember<'a>>,
    /// An object of all other members, and of the members above with a value of the wrong type. Boxed, since few
    /// messages have one.
    pub extra: Option<Box<Payload<'a>>>,
    /// The problems of the message.
    pub problems: Problems,
    /// The source text, if the members above do not keep all of it (duplicate members).
    pub text: Option<&'a str>,
    /// The method in published protocols, once [looked up](Content::look_up_methods).
    pub(crate) known: Option<KnownMethod>,
    /// The task that failed (MCP), or an empty text if a tool failed, once the methods were looked up.
    pub(crate) failed: Option<Box<str>>,
}

impl Message<'_> {
    /// Creates a message that has only its kind.
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            version: None,
            id: None,
            method: None,
            params: None,
            result: None,
            error: None,
            extra: None,
            problems: Problems::default(),
            text: None,
            known: None,
            failed: None,
        }
    }

    /// Returns the boolean `isError` of the result (MCP).
    pub fn is_error(&self) -> Option<bool> {
        self.result.as_ref()?.is_error()
    }

    /// True if its payloads and other members are longer than `most` bytes.
    pub fn is_longer(&self, most: usize) -> bool {
        let (in_error, other) = match &self.error {
            None => (None, None),
            Some(ErrorMember::Other(payload)) => (Some(payload), None),
            Some(ErrorMember::Object(error)) => (error.data.as_ref(), error.extra.as_deref()),
        };
        let payloads = [self.params.as_ref(), self.result.as_ref(), self.extra.as_deref(), in_error, other];
        payloads.into_iter().flatten().map(|payload| payload.text.len()).sum::<usize>() > most
    }
}

/// The value of the member `error`.
#[derive(Debug, Clone)]
pub enum ErrorMember<'a> {
    /// An error object (section 5.1). Boxed, since few messages have one.
    Object(Box<ErrorObject<'a>>),
    /// Anything else.
    Other(Payload<'a>),
}

/// An error object (section 5.1).
#[derive(Debug, Clone, Default)]
pub struct ErrorObject<'a> {
    /// `code`, if it is an integer: its plain decimal digits, with a sign if negative.
    pub code: Option<Cow<'a, str>>,
    /// `message`, if it is a string.
    pub message: Option<Cow<'a, str>>,
    /// `data`, of whatever type.
    pub data: Option<Payload<'a>>,
    /// An object of all other members, and of the members above with a value of the wrong type.
    pub extra: Option<Box<Payload<'a>>>,
}

/// A JSON value that is not a message.
#[derive(Debug, Clone)]
pub struct Invalid<'a> {
    /// The value.
    pub value: Payload<'a>,
    /// The reason why it is not a message, in a few words: the row of the table that it does not fit.
    pub reason: &'static str,
    /// Other problems of the value.
    pub problems: Problems,
    /// The source text, if the value does not keep all of it (duplicate members).
    pub text: Option<&'a str>,
}

impl<'a> Content<'a> {
    /// The messages, and the values in place of messages; empty for text that is not JSON.
    pub fn elements(&self) -> &[Single<'a>] {
        match self {
            Self::Single(single) => std::slice::from_ref(single),
            Self::Batch(elements) => elements,
            Self::Malformed(_) | Self::Exchange => &[],
        }
    }

    /// As [`Content::elements`], to change them.
    pub fn elements_mut(&mut self) -> &mut [Single<'a>] {
        match self {
            Self::Single(single) => std::slice::from_mut(single),
            Self::Batch(elements) => elements,
            Self::Malformed(_) | Self::Exchange => &mut [],
        }
    }

    /// Returns the text of each element of a batch, which is valid JSON; otherwise nothing.
    pub fn element_texts<'r>(&self, record: &'r [u8]) -> Vec<&'r str> {
        match self {
            Self::Batch(_) => json::elements(str::from_utf8(record).unwrap_or_default()).collect(),
            Self::Single(_) | Self::Malformed(_) | Self::Exchange => Vec::new(),
        }
    }

    /// Looks up the methods in published protocols.
    pub fn look_up_methods(&mut self) {
        self.elements_mut().iter_mut().for_each(Single::look_up_method);
    }
}

/// True for the methods of notifications about the progress of a task.
fn is_of_task(method: Option<&str>) -> bool {
    matches!(method, Some("notifications/tasks/status" | "notifications/tasks"))
}

impl Single<'_> {
    /// Looks up the method in published protocols, and checks for the failure of a tool or a task.
    pub fn look_up_method(&mut self) {
        let Self::Message(message) = self else { return };
        message.known = message.method.as_deref().and_then(known_method);
        message.failed = match (&message.result, &message.params) {
            _ if message.is_error() == Some(true) => Some("".into()),
            (Some(result), _) => result.failed_task(),
            (_, Some(params)) if is_of_task(message.method.as_deref()) => params.failed_task(),
            _ => None,
        };
    }

    /// The known method, if it was looked up and implies a sender.
    pub fn known_sender(&self) -> Option<KnownMethod> {
        match self {
            Self::Message(message) => message.known.filter(|known| known.sender.is_some()),
            Self::Invalid(_) => None,
        }
    }

    /// The problems of the message or value.
    pub fn problems(&self) -> Problems {
        match self {
            Self::Message(message) => message.problems,
            Self::Invalid(invalid) => invalid.problems,
        }
    }
}

impl Kind {
    /// Every kind, in the order of the table.
    pub const ALL: [Self; 4] = [Self::Request, Self::Notification, Self::Response, Self::ErrorResponse];
}
