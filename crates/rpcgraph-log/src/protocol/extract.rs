//! Statements of the Model Context Protocol from a single message: the part of the work that does not need other
//! messages.

use std::borrow::Cow;

use oxrdf::NamedNodeRef;

use super::content::ContentItem;
use super::definitions::{DefinitionKind, ListedDefinition, shown};
use super::documents::DiagnosticsReports;
use super::lsp::LspMessage;
use super::mcp::class_of_operation;
use super::sides::SideDescription;
use super::{Extraction, Maker, Protocol, TextDigest, key, pick, picked};
use crate::json;
use crate::message::{ErrorMember, Id, Kind, Message, Payload, PayloadView, Single};
use crate::record::Protocols;
use crate::vocab::{mcp, rpcg};

/// The statements of a single message.
pub enum Extract<'a> {
    /// No statement of a protocol.
    Nothing,
    /// A request of MCP.
    Request(McpRequest<'a>),
    /// A notification of MCP.
    Notification(McpNotification<'a>),
    /// A result of MCP.
    Result(McpResult<'a>),
    /// An error of MCP.
    Error(McpError<'a>),
    /// A message of LSP.
    Lsp(Box<LspMessage<'a>>),
}

/// A request.
pub struct McpRequest<'a> {
    /// The class of the operation.
    pub(crate) class: NamedNodeRef<'static>,
    pub(crate) meaning: RequestMeaning<'a>,
    /// The digest of the progress token.
    pub(crate) token: Option<TextDigest>,
    pub(crate) trace: Option<Trace<'a>>,
    /// The client's description of itself.
    pub(crate) client: Option<Box<SideDescription<'a>>>,
    /// For a request that continues an operation: the digest of the `requestState` that it returns, and the digest of
    /// the names of its responses.
    pub(crate) state: Option<TextDigest>,
    pub(crate) responses: Option<TextDigest>,
}

pub(crate) enum RequestMeaning<'a> {
    Other,
    /// A definition by its kind and key, with the property that links the operation to it, and the digest of the
    /// arguments.
    Use(DefinitionKind, NamedNodeRef<'static>, Cow<'a, str>, TextDigest),
    /// A task by the digest of its id; true if its result is requested.
    Task(TextDigest, bool),
    /// A list of definitions, starting at the cursor if there is one.
    List(DefinitionKind, Option<TextDigest>),
    /// The server's description of itself.
    Server,
}

/// A notification.
pub struct McpNotification<'a> {
    pub(crate) trace: Option<Trace<'a>>,
    pub(crate) meaning: NotificationMeaning<'a>,
}

pub(crate) enum NotificationMeaning<'a> {
    Other,
    /// Progress of a request, by its token.
    Progress(TextDigest),
    /// Cancellation of a request.
    Cancelled(Id<'a>),
    /// A log message: level and logger.
    Log(Option<Cow<'a, str>>, Option<Cow<'a, str>>),
    /// The list of these definitions has changed.
    Changed(&'static [DefinitionKind]),
    /// The status of a task.
    Task(Box<McpResult<'a>>),
}

/// The position of a message in a trace (W3C Trace Context): the trace, and the span that sent the message.
pub(crate) struct Trace<'a> {
    pub trace: &'a str,
    pub span: &'a str,
}

impl<'a> Trace<'a> {
    /// Parses a `traceparent`: version, trace, span and flags, in lower-case hexadecimal digits.
    fn read(traceparent: &'a str) -> Option<Self> {
        // Canonical text does not escape any character of a valid `traceparent`.
        let mut parts = traceparent.strip_prefix('"')?.strip_suffix('"')?.split('-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_hex = |text: &str, length| {
            text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let is_set = |text: &str| text.bytes().any(|byte| byte != b'0');
        let right = is_hex(version, 2) && is_hex(trace, 32) && is_hex(span, 16) && is_hex(flags, 2);
        (right && version != "ff" && is_set(trace) && is_set(span)).then_some(Self { trace, span })
    }
}

/// A possible answer to a request of MCP.
#[derive(Default)]
pub struct McpResult<'a> {
    pub(crate) lists: Vec<(DefinitionKind, Vec<ListedDefinition<'a>>)>,
    pub(crate) next_cursor: Option<TextDigest>,
    /// True if the tool failed.
    pub(crate) is_error: Option<bool>,
    /// True if only the result of a task, inside the message's result, says so.
    pub(crate) is_of_task: bool,
    /// The content of a tool result.
    pub(crate) content: Vec<ContentItem<'a>>,
    /// The contents of a resource.
    pub(crate) contents: Vec<ContentItem<'a>>,
    /// The server's description of itself.
    pub(crate) server: Option<Box<SideDescription<'a>>>,
    /// Diagnostics of documents (LSP).
    pub(crate) reports: Option<Box<DiagnosticsReports<'a>>>,
    /// The continuation of the operation, if there may be one.
    pub(crate) round: Option<Box<Round<'a>>>,
}

/// The members of a result about a continued operation, or about the status of its task.
pub(crate) struct Round<'a> {
    /// `input_required`, or the status of the task.
    pub status: Cow<'a, str>,
    /// The digest of the state that the next request has to return, and the digest of the names of the requested
    /// inputs.
    pub state: Option<TextDigest>,
    pub asked: Option<TextDigest>,
    pub inputs: Inputs<'a>,
    /// The digest of the task's id.
    pub task: Option<TextDigest>,
    /// True if this message creates the task.
    pub is_new: bool,
    /// True if this message holds the outcome of the operation, or there will not be an outcome.
    pub is_last: bool,
}

/// Inputs requested from people, or from programs on their behalf: names, and requests in canonical JSON.
pub(crate) struct Inputs<'a> {
    pub requests: Vec<(Cow<'a, str>, &'a str)>,
    pub interoperable: bool,
}

/// An error code that MCP defines.
pub struct McpError<'a> {
    pub(crate) kind: NamedNodeRef<'static>,
    /// The URLs to visit first.
    pub(crate) inputs: Inputs<'a>,
}

impl<'a> Extract<'a> {
    /// Extracts the statements of each message whose method was looked up, of about that number; none if no protocol is
    /// wanted.
    pub fn all(selection: Extraction, number: usize, singles: impl Iterator<Item = &'a Single<'a>>) -> Vec<Self> {
        if selection.protocol == Protocol::None {
            return Vec::new();
        }
        let mut all = Vec::with_capacity(number);
        all.extend(singles.map(|single| Self::from_message(selection, single)));
        all
    }

    fn from_message(selection: Extraction, single: &'a Single<'a>) -> Self {
        let Single::Message(message) = single else { return Self::Nothing };
        let Extraction { protocol, makers, .. } = selection;
        let is_cancellation =
            || matches!(message.method.as_deref(), Some("notifications/cancelled" | "$/cancelRequest"));
        let may_be_of_error = matches!(message.kind, Kind::Request | Kind::ErrorResponse);
        let is_told = !makers.are_of_protocols(&[Maker::Cancellation, Maker::ErrorKind])
            || makers.has(Maker::ErrorKind) && may_be_of_error
            || makers.has(Maker::Cancellation) && is_cancellation();
        if !is_told {
            return Self::Nothing;
        }
        let found = match message.kind {
            Kind::Request | Kind::Notification if protocol != Protocol::Mcp => Self::lsp(message),
            _ => None,
        };
        let found = found.or_else(|| match message.kind {
            Kind::Request if protocol == Protocol::Lsp => None,
            Kind::Request => McpRequest::from_message(message).map(Self::Request),
            Kind::Notification => McpNotification::from_message(selection, message).map(Self::Notification),
            Kind::Response => {
                message.result.as_ref().and_then(|result| McpResult::from_object(selection, result.view()))
            }
            Kind::ErrorResponse => McpError::from_message(message).map(Self::Error),
        });
        found.unwrap_or(Self::Nothing)
    }

    /// Extracts the statements of an LSP request or notification.
    fn lsp(message: &'a Message<'a>) -> Option<Self> {
        let method = message.method.as_deref().filter(|_| has(message, Protocols::LSP))?;
        let params = message.params.as_ref()?.view();
        let of_request = message.kind == Kind::Request;
        LspMessage::from_params(method, params.text, (of_request, params.interoperable)).map(Box::new).map(Self::Lsp)
    }
}

/// Returns true if the protocol defines the message's method.
fn has(message: &Message<'_>, protocol: Protocols) -> bool {
    message.known.is_some_and(|known| known.protocols.has(protocol))
}

/// Returns a view of a payload; of nothing if there is none.
fn view<'a>(payload: Option<&'a Payload<'a>>) -> PayloadView<'a> {
    payload.map(Payload::view).unwrap_or_default()
}

/// The members of params of requests.
const PARAMS: [&str; 13] = [
    "name",
    "uri",
    "arguments",
    "cursor",
    "progressToken",
    "protocolVersion",
    "clientInfo",
    "capabilities",
    "requestState",
    "inputResponses",
    "taskId",
    "sessionId",
    "_meta",
];

/// The members of `_meta` that requests and notifications have.
const META: [&str; 5] = [
    "traceparent",
    "progressToken",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
];

/// Returns the digest of a token, if it is a string or a number.
fn token_key(token: Option<&str>) -> Option<TextDigest> {
    token.filter(|token| !token.starts_with(['{', '[', 't', 'f', 'n'])).map(key)
}

fn string(value: Option<&str>) -> Option<Cow<'_, str>> {
    json::string(value?)
}

impl<'a> McpRequest<'a> {
    fn from_message(message: &'a Message<'a>) -> Option<Self> {
        let method = message.method.as_deref()?;
        let protocols = message.known?.protocols;
        if !protocols.has(Protocols::MCP) {
            return None;
        }
        let object = view(message.params.as_ref());
        let [name, uri, arguments, cursor, token, version, client, capabilities, state, responses, task, session, meta] =
            picked(object, PARAMS);
        let [traceparent, own_token, own_version, own_client, own_capabilities] =
            picked(meta.unwrap_or_default(), META);
        let version = version.or(own_version);
        let uses = |kind, property, used| match string(used) {
            Some(used) => RequestMeaning::Use(kind, property, used, key(arguments)),
            None => RequestMeaning::Other,
        };
        let list = |kind| RequestMeaning::List(kind, string(cursor).map(key));
        let meaning = match method {
            "tools/call" => uses(DefinitionKind::Tool, mcp::EXECUTES_TOOL, name),
            "resources/read" => uses(DefinitionKind::Resource, mcp::ACCESSES_RESOURCE, uri),
            "prompts/get" => uses(DefinitionKind::Prompt, mcp::INSTANTIATES_PROMPT, name),
            "tools/list" => list(DefinitionKind::Tool),
            "resources/list" => list(DefinitionKind::Resource),
            "resources/templates/list" => list(DefinitionKind::Template),
            "prompts/list" => list(DefinitionKind::Prompt),
            // In LSP, `initialize` does not have a version; in ACP, the version is a number.
            "initialize" => {
                string(version)?;
                RequestMeaning::Server
            }
            "server/discover" => RequestMeaning::Server,
            _ if method.starts_with("tasks/")
                && let Some(task) = string(task) =>
            {
                RequestMeaning::Task(key(task), method == "tasks/result")
            }
            _ if method != "ping" && protocols.has(Protocols::ACP) && session.is_some() => return None,
            _ => RequestMeaning::Other,
        };
        let (client, capabilities) = (client.or(own_client), capabilities.or(own_capabilities));
        let client = SideDescription::new(client, version, capabilities, object.interoperable);
        Some(Self {
            class: class_of_operation(method),
            meaning,
            token: token_key(token.or(own_token)),
            trace: traceparent.and_then(Trace::read),
            client: client.map(Box::new),
            state: state.map(key),
            responses: responses.and_then(names),
        })
    }
}

impl<'a> McpNotification<'a> {
    fn from_message(selection: Extraction, message: &'a Message<'a>) -> Option<Self> {
        let protocol = selection.protocol;
        let method = message.method.as_deref()?;
        // Of LSP, only cancellations are extracted here.
        if method == "$/cancelRequest" && protocol != Protocol::Mcp {
            return Some(Self { trace: None, meaning: cancelled(message.params.as_ref()?.member("id")?)? });
        }
        if protocol == Protocol::Lsp || !has(message, Protocols::MCP) {
            return None;
        }
        let object = view(message.params.as_ref());
        let [token, request, level, logger, task, meta] =
            picked(object, ["progressToken", "requestId", "level", "logger", "taskId", "_meta"]);
        let [traceparent, own_token, ..] = picked(meta.unwrap_or_default(), META);
        let meaning = match method {
            "notifications/progress" => token_key(token.or(own_token)).map(NotificationMeaning::Progress),
            "notifications/cancelled" => request.and_then(cancelled),
            "notifications/message" => Some(NotificationMeaning::Log(string(level), string(logger))),
            _ if let changed @ [_, ..] = DefinitionKind::changed_by(method) => {
                Some(NotificationMeaning::Changed(changed))
            }
            _ => task.and_then(|_| match McpResult::from_object(selection, object)? {
                Extract::Result(result) => Some(NotificationMeaning::Task(Box::new(result))),
                _ => None,
            }),
        };
        Some(Self { trace: traceparent.and_then(Trace::read), meaning: meaning.unwrap_or(NotificationMeaning::Other) })
    }
}

fn cancelled(id: &str) -> Option<NotificationMeaning<'_>> {
    Id::from_value(&json::parse(id.as_bytes()).ok()?).map(NotificationMeaning::Cancelled)
}

impl<'a> McpResult<'a> {
    fn from_object(selection: Extraction, object: PayloadView<'a>) -> Option<Extract<'a>> {
        let interoperable = object.interoperable;
        let mut result = Self::default();
        let (mut says, mut server, mut version, mut capabilities) = (false, None, None, None);
        let (mut may_report, mut has_content) = (false, false);
        let content = |value| if selection.makers.has(Maker::Content) { ContentItem::all(value) } else { Vec::new() };
        let mut round = [None; ROUND.len()];
        object.each_member(&mut |name, value| {
            match name {
                "nextCursor" => result.next_cursor = json::string(value).map(key),
                "isError" => result.is_error = value.parse().ok(),
                "content" => {
                    has_content = value.starts_with('[') && value != "[]";
                    result.content = content(value);
                }
                "contents" => result.contents = content(value),
                "serverInfo" => server = Some(value),
                "protocolVersion" => version = Some(value),
                "capabilities" => capabilities = Some(value),
                "kind" | "items" | "relatedDocuments" => may_report = true,
                "_meta" => server = server.or(json::member(value, "io.modelcontextprotocol/serverInfo")),
                _ => match DefinitionKind::listed_by(name) {
                    Some(kind) if value.starts_with('[') => {
                        result.lists.push((kind, shown(kind, value, interoperable)));
                    }
                    _ => return pick(&ROUND, &mut round, name, value),
                },
            }
            says = true;
        });
        if let Some((found, outcome)) = Round::read(round, interoperable) {
            // The member `result` of a task holds the outcome in the form of a tool result.
            if !has_content
                && let Some(Extract::Result(outcome)) =
                    outcome.and_then(|outcome| Self::from_object(selection, object.part(outcome)))
            {
                result = Self { is_of_task: result.is_error.is_none(), ..outcome };
            }
            result.round = Some(Box::new(found));
            says = true;
        }
        if may_report {
            result.reports = DiagnosticsReports::read(object.text).map(Box::new);
        }
        result.server = SideDescription::new(server, version, capabilities, interoperable).map(Box::new);
        says.then_some(Extract::Result(result))
    }
}

/// The members of a result about a continued operation, or about the status of its task.
const ROUND: [&str; 8] = ["resultType", "inputRequests", "requestState", "task", "taskId", "status", "result", "error"];

impl<'a> Round<'a> {
    /// Returns the continuation that [`ROUND`] describes, in canonical JSON, and the result of its task.
    fn read(mut members: [Option<&'a str>; ROUND.len()], interoperable: bool) -> Option<(Self, Option<&'a str>)> {
        let [result_type, _, _, new_task, ..] = members;
        for (name, value) in new_task.into_iter().flat_map(json::members) {
            pick(&ROUND, &mut members, name, value);
        }
        let [_, inputs, state, _, task, status, result, error] = members;
        let (task, status) = match result_type {
            Some("\"input_required\"") => (None, Some("input_required".into())),
            _ => (Some(key(string(task)?)), string(status)),
        };
        let status = status?;
        let requests = inputs.into_iter().flat_map(json::members);
        let requests = requests.filter_map(|(name, request)| Some((json::unescaped(name)?, request))).collect();
        let round = Self {
            is_last: task.is_some() && (result.is_some() || error.is_some() || status == "cancelled"),
            status,
            state: state.map(key),
            asked: inputs.and_then(names),
            inputs: Inputs { requests, interoperable },
            task,
            is_new: new_task.is_some() || result_type == Some("\"task\""),
        };
        Some((round, result))
    }
}

impl<'a> McpError<'a> {
    fn from_message(message: &'a Message<'a>) -> Option<Self> {
        let Some(ErrorMember::Object(error)) = &message.error else { return None };
        let kind = match error.code.as_deref()? {
            "-32020" => rpcg::HEADER_MISMATCH,
            "-32021" => rpcg::MISSING_REQUIRED_CLIENT_CAPABILITY,
            "-32022" => rpcg::UNSUPPORTED_PROTOCOL_VERSION,
            "-32042" => rpcg::URL_ELICITATION_REQUIRED,
            _ => return None,
        };
        let data = view(error.data.as_ref());
        let urls = data.member("elicitations");
        let requests = urls
            .into_iter()
            .flat_map(json::elements)
            .filter_map(|request| Some((json::string(json::member(request, "elicitationId")?)?, request)));
        Some(Self { kind, inputs: Inputs { requests: requests.collect(), interoperable: data.interoperable } })
    }
}

/// Returns the digest of an object's member names; `None` if the object is empty.
fn names(object: &str) -> Option<TextDigest> {
    let mut names = json::members(object).map(|(name, _)| name).peekable();
    names.peek()?;
    Some(key(names.collect::<Vec<_>>()))
}
