//! The Model Context Protocol, from revision 2024-11-05 on.
//!
//! | in the log | in the graph |
//! |---|---|
//! | a request | `rpcg:inOperation` on the request and its answer: an operation, named by the request |
//! | `tools/call`, `resources/read`, `prompts/get` | also the subject of the operation: `mcp:executesTool`, `mcp:accessesResource`, `mcp:instantiatesPrompt` |
//! | the answer to a tool call | `rpcg:toolResult`, with its content |
//! | the answer to `resources/read` | `mcp:hasContents` of the resource |
//! | the answer to `tools/list`, `resources/list`, `resources/templates/list`, `prompts/list` | definitions, each `rpcg:definedIn` the lists that show it |
//! | a call, or its answer, after its definition changed or the server said so | `rpcg:definitionOutdated` |
//! | `initialize`, `server/discover`, `_meta` of a request | `rpcg:introduces` a client or server, with its capabilities |
//! | `notifications/progress`, `notifications/cancelled`, LSP's `$/cancelRequest` | `rpcg:progressOf`, `rpcg:cancels` the request |
//! | a use of a gateway, and the use that it asks a server for ([`forwarding`](super::forwarding)) | `rpcg:forwards`, at the end of the session |
//! | `notifications/message` | `mcp:hasLevel`, `mcp:hasLogger` |
//! | `_meta.traceparent` | `rpcg:traceId`, `rpcg:parentSpanId` |
//! | a request that continues an operation ([`rounds`](super::rounds)) | `rpcg:continues` the answer that left the operation open |
//! | inputs that an answer requests | `rpcg:asks` inputs, each with its name and its request |
//! | an answer that leaves an operation open, or the status of a task | `rpcg:status` |
//! | the end of an operation with more than one request | `rpcg:endedBy` on that operation, and its `rpcg:durationSeconds` |
//! | errors -32020 to -32022, -32042 | `rpcg:errorKind` |
//!
//! MCP's [specification](https://modelcontextprotocol.io/specification/2025-11-25) defines the members.

mod continuation;

use std::collections::HashMap;
use std::sync::Arc;

use oxrdf::NamedNodeRef;
use oxrdf::vocab::xsd;

use self::continuation::{ContinuationKey, round_key, task_key};
use super::content::say_content;
use super::definitions::{DefinitionKind, Definitions};
use super::extract::{
    Extract, Inputs, McpNotification, McpRequest, McpResult, NotificationMeaning, RequestMeaning, Round, Trace,
};
use super::forwarding::{Forwarding, Use};
use super::lsp::{LspMessage, LspPendingRequest, LspSession};
use super::makers::MakerTerms;
use super::open::{OpenRequests, ProgressTokens};
use super::rounds::{ContinuedOperation, PausedOperation, Rounds, UsedDefinition};
use super::sides::{KnownSide, MCP_SIDES};
use super::{DigestMap, Maker, Makers, Statement, StatementObject, StatementWriter, TextDigest, key};
use crate::message::{Id, Kind, Message, Problem};
use crate::record::Sender;
use crate::session::triples::{NodeRef, PartKind, ProtocolPart};
use crate::session::{Annotated, Name, Node, Sessions};
use crate::vocab::{mcp, rpcg};

/// The maximum number of definitions, documents, diagnostics and the like in memory, over all sessions.
const REMEMBERED: usize = 1 << 16;

/// The classes of operations, by the methods of their requests.
const CLASSES: [(&str, NamedNodeRef<'static>); 8] = [
    ("tools/call", mcp::CALL_TOOL_OPERATION),
    ("resources/read", mcp::READ_RESOURCE_OPERATION),
    ("prompts/get", mcp::GET_PROMPT_OPERATION),
    ("tools/list", mcp::LIST_TOOLS_OPERATION),
    ("resources/list", mcp::LIST_RESOURCES_OPERATION),
    ("prompts/list", mcp::LIST_PROMPTS_OPERATION),
    ("ping", mcp::PING_OPERATION),
    ("initialize", mcp::INITIALIZE_OPERATION),
];

/// Returns the class of the operation that a request of a method starts.
pub(super) fn class_of_operation(method: &str) -> NamedNodeRef<'static> {
    CLASSES.iter().find(|(known, _)| *known == method).map_or(rpcg::OPERATION, |(_, class)| *class)
}

pub(super) fn makers() -> [MakerTerms; 3] {
    let of_records = vec![
        rpcg::IN_OPERATION,
        rpcg::CONTINUES,
        rpcg::TRACE_ID,
        rpcg::PARENT_SPAN_ID,
        rpcg::STATUS,
        rpcg::ASKS,
        rpcg::PROGRESS_OF,
        mcp::HAS_LEVEL,
        mcp::HAS_LOGGER,
        rpcg::IS_ERROR,
        rpcg::TOOL_RESULT,
        rpcg::DEFINITION_OUTDATED,
    ];
    let of_nodes = [
        rpcg::OPERATION,
        mcp::EXECUTES_TOOL,
        mcp::ACCESSES_RESOURCE,
        mcp::INSTANTIATES_PROMPT,
        rpcg::ENDED_BY,
        rpcg::DURATION_SECONDS,
        mcp::TOOL_RESULT,
        rpcg::INPUT,
        mcp::HAS_NAME,
        rpcg::VALUE,
    ];
    let of_nodes = of_nodes.into_iter().chain(CLASSES.iter().map(|(_, class)| *class)).collect();
    let records = |maker, property| MakerTerms::new(maker, vec![property], Vec::new());
    let problems = vec![rpcg::AMBIGUOUS_PAIRING];
    [
        MakerTerms { problems, ..MakerTerms::new(Maker::Operation, of_records, of_nodes) },
        MakerTerms::new(Maker::Cancellation, vec![rpcg::CANCELS, rpcg::STATE, rpcg::FAILURE], Vec::new()),
        records(Maker::ErrorKind, rpcg::ERROR_KIND),
    ]
}

/// Links messages to earlier ones, in their order.
///
/// Memory is bounded by these limits:
/// - 2^18 requests that wait for their answers: the answer to an older request is not part of an operation.
/// - 2^16 operations that an answer has left open: a request that continues an older one starts an operation of its
///   own.
/// - 2^16 sessions, definitions, documents, diagnostics, registrations and tokens of LSP, each by digests. When half of
///   this limit is reached, the sessions that were used longest ago are evicted: what is listed or named there again
///   counts as new. Further definitions of one session are new in each list, and uses of them have only a name; further
///   documents are new in each message; further diagnostics are new in each report, and are not replaced.
///
/// Of requests that cross a gateway, 2^18 are linked, in 2^16 sessions, and of those that wait at once, the last 256.
#[derive(Default)]
pub struct Linker {
    open: OpenRequests<OpenOperation>,
    /// Open requests by their progress tokens.
    tokens: ProgressTokens<()>,
    rounds: Rounds,
    /// `None` if requests that cross a gateway are not wanted.
    forwarding: Option<Forwarding>,
    sessions: DigestMap<ProtocolSession>,
    /// The reference of the session whose messages are being linked, and its key.
    current: (Arc<str>, TextDigest),
    /// The number of definitions, documents and the like over all sessions.
    remembered: usize,
    uses: u64,
}

/// The operation of an unanswered request.
struct OpenOperation {
    pending: PendingRequest,
    token: Option<TextDigest>,
    /// The operation that the request continues.
    before: Option<Box<PausedOperation>>,
}

/// The kind of answer that a request waits for, with the data for linking it.
enum PendingRequest {
    Other,
    List(DefinitionKind, Option<TextDigest>),
    Use(UsedDefinition),
    Server,
    /// The status of a task; true for its result.
    Task(bool),
    Lsp(Box<LspPendingRequest>),
}

/// The linker's memory of one session.
#[derive(Default)]
struct ProtocolSession {
    last_used: u64,
    client: Option<KnownSide>,
    server: Option<KnownSide>,
    /// The definitions of the server, by kind.
    definitions: [Definitions; DefinitionKind::ALL.len()],
    lsp: LspSession,
}

impl ProtocolSession {
    fn len(&self) -> usize {
        self.lsp.len() + self.definitions.iter().map(Definitions::len).sum::<usize>()
    }
}

impl Linker {
    /// Creates a linker for the statements of these makers.
    pub fn new(makers: Makers) -> Self {
        Self { forwarding: makers.has(Maker::Forwarding).then(Forwarding::default), ..Self::default() }
    }

    /// Returns the requests that a gateway has forwarded, by the reference of their session, with its requests for them.
    pub fn forwarded(&self) -> HashMap<Arc<str>, Vec<(Name, Name)>> {
        let server = |session: TextDigest| self.sessions.get(&session)?.server.map(|(_, description)| description);
        let is_same_server = |outer: &str, inner| server(key(outer)).is_some_and(|outer| server(inner) == Some(outer));
        self.forwarding.as_ref().map(|forwarding| forwarding.links(is_same_server)).unwrap_or_default()
    }

    /// Appends the statements of a message. The session's reference is the session of the last record.
    pub fn link<'a>(
        &mut self,
        session: &Arc<str>,
        sessions: &mut Sessions,
        annotated: &mut Annotated<'a>,
        extract: Extract<'a>,
        out: &mut Vec<Statement<'a>>,
    ) {
        if self.current.0 != *session {
            self.current = (session.clone(), key(session));
        }
        let answered = annotated.responds_to.and_then(|request| Some((request, self.open.take(request)?)));
        if let Some((request, open)) = answered {
            return self.answer(annotated, extract, request, open, out);
        }
        match extract {
            Extract::Request(request) => self.request(annotated, request, out),
            Extract::Notification(notification) => self.notification(annotated, sessions, notification, out),
            Extract::Lsp(message) => self.lsp(annotated, *message, out),
            Extract::Nothing | Extract::Result(_) | Extract::Error(_) => {}
        }
    }

    fn request<'a>(&mut self, annotated: &mut Annotated<'a>, request: McpRequest<'a>, out: &mut Vec<Statement<'a>>) {
        let name = annotated.name;
        let before = if self.rounds.is_empty() {
            ContinuedOperation::Nothing
        } else {
            self.find_continued(&request, annotated.sender)
        };
        let before = match before {
            ContinuedOperation::Nothing => None,
            ContinuedOperation::With(paused) => Some(paused),
            ContinuedOperation::Doubt => {
                annotated.problems.insert(Problem::AmbiguousPairing);
                None
            }
        };
        let operation = NodeRef::Part(before.as_ref().map_or(name, |paused| paused.operation), ProtocolPart::OPERATION);
        let mut writer = StatementWriter::new(Maker::Operation, out, NodeRef::Message(name));
        writer.link(rpcg::IN_OPERATION, operation);
        if let Some(paused) = &before {
            writer.link(rpcg::CONTINUES, NodeRef::Message(paused.answer));
        }
        let trace = request.trace.as_ref().map(|trace| trace.trace);
        say_trace(&mut writer, request.trace);
        if let Some(client) = request.client {
            client.add(Sender::Client, &MCP_SIDES, &mut self.session().client, name, out);
        }
        let mut writer = StatementWriter::new(Maker::Operation, out, operation);
        if before.is_none() {
            writer.class(request.class);
        }
        let pending = match request.meaning {
            RequestMeaning::Other => PendingRequest::Other,
            RequestMeaning::Server => PendingRequest::Server,
            RequestMeaning::List(kind, cursor) => PendingRequest::List(kind, cursor),
            RequestMeaning::Task(_, is_result) => PendingRequest::Task(is_result),
            RequestMeaning::Use(kind, property, text, arguments) => {
                if let Some(forwarding) = &mut self.forwarding {
                    forwarding.ask(&self.current, name, Use { kind, name: &text, arguments, trace });
                }
                match before.as_ref().and_then(|paused| paused.used) {
                    Some(used) => PendingRequest::Use(UsedDefinition { arguments, ..used }),
                    None => {
                        let (mut defined, key) = (Vec::new(), key(&text));
                        let node = self.remember(|session, room| {
                            session.definitions[kind as usize].find(kind, (key, text), name, room > 0, &mut defined)
                        });
                        writer.link(property, node);
                        out.append(&mut defined);
                        let used = UsedDefinition { kind, key, arguments, node };
                        if self.is_outdated(used) {
                            StatementWriter::new(Maker::Operation, out, NodeRef::Message(name))
                                .add(rpcg::DEFINITION_OUTDATED, StatementObject::Boolean(true));
                        }
                        PendingRequest::Use(used)
                    }
                }
            }
        };
        let token = request.token.map(|token| self.token(token, annotated.sender));
        self.await_answer(annotated, OpenOperation { pending, token, before });
    }

    fn await_answer(&mut self, annotated: &Annotated<'_>, open: OpenOperation) {
        // A null id never pairs.
        if let Node::Message(Message { id: Some(Id::Null), .. }) = &annotated.node {
            return;
        }
        if let Some(token) = open.token {
            self.tokens.insert(token, annotated.name, ());
        }
        if let Some((request, forgotten)) = self.open.insert(annotated.name, open) {
            self.forget_request(request, &forgotten, false);
        }
    }

    /// Forgets a request that was evicted or answered, and what stands for it elsewhere.
    fn forget_request(&mut self, request: Name, open: &OpenOperation, succeeded: bool) {
        open.token.iter().for_each(|token| self.tokens.remove(*token, request));
        if let (Some(forwarding), PendingRequest::Use(_)) = (&mut self.forwarding, &open.pending) {
            forwarding.end(request, succeeded);
        }
    }

    /// Links an LSP request or notification.
    fn lsp<'a>(&mut self, annotated: &Annotated<'a>, message: LspMessage<'a>, out: &mut Vec<Statement<'a>>) {
        let pending = self.remember(|ProtocolSession { lsp, client, .. }, room| {
            lsp.link(annotated.name, message, (client, room), out)
        });
        if annotated.kind() == Some(Kind::Request) && pending.is_any() {
            let pending = PendingRequest::Lsp(Box::new(pending));
            self.await_answer(annotated, OpenOperation { pending, token: None, before: None });
        }
    }

    /// Links the answer to an open request.
    fn answer<'a>(
        &mut self,
        annotated: &Annotated<'a>,
        extract: Extract<'a>,
        request: Name,
        open: OpenOperation,
        out: &mut Vec<Statement<'a>>,
    ) {
        self.forget_request(request, &open, annotated.failure.is_none());
        let OpenOperation { pending, before, .. } = open;
        if let PendingRequest::Lsp(pending) = pending {
            let described = match extract {
                Extract::Result(result) => {
                    (result.server.map(|server| *server), result.reports.map(|reports| *reports))
                }
                _ => (None, None),
            };
            return self.remember(|ProtocolSession { lsp, server, .. }, room| {
                lsp.answer((request, annotated.name), &pending, described, (server, room), out);
            });
        }
        let name = annotated.name;
        let operation = before.as_ref().map_or(request, |paused| paused.operation);
        let mut writer = StatementWriter::new(Maker::Operation, out, NodeRef::Message(name));
        writer.link(rpcg::IN_OPERATION, NodeRef::Part(operation, ProtocolPart::OPERATION));
        let used = match pending {
            PendingRequest::Use(used) => Some(used),
            _ => before.as_ref().and_then(|paused| paused.used),
        };
        if used.is_some_and(|used| self.is_outdated(used)) {
            writer.add(rpcg::DEFINITION_OUTDATED, StatementObject::Boolean(true));
        }
        // `is_last` is true for the outcome of the operation; otherwise `keys` find the requests that may continue it.
        let (mut is_last, mut keys) = (!matches!(pending, PendingRequest::Task(false)), Vec::new());
        match extract {
            Extract::Result(mut result) => {
                let round = result.round.take().filter(|round| round.is_continuation(&pending));
                if let Some(round) = &round {
                    is_last = round.is_last;
                    keys = self.keys(round, annotated.sender.map(Sender::other), used);
                    writer.literal(rpcg::STATUS, Some(round.status.clone()), xsd::STRING);
                }
                let inputs = round.map(|round| round.inputs);
                link_inputs(name, &mut writer, inputs.as_ref());
                match (pending, used) {
                    (PendingRequest::Use(_) | PendingRequest::Task(_), Some(used)) if is_last => {
                        give(name, result, used, out)
                    }
                    (PendingRequest::Use(_) | PendingRequest::Task(_), _) => {}
                    (pending, _) => self.result(name, result, pending, out),
                }
                say_inputs(name, inputs, out);
            }
            Extract::Error(error) => {
                if error.kind == rpcg::URL_ELICITATION_REQUIRED
                    && let Some(used) = used
                {
                    let wants = ContinuationKey::Again(used.arguments);
                    is_last = false;
                    keys = vec![round_key(self.current.1, (used.kind, used.key), wants)];
                }
                link_inputs(name, &mut writer, Some(&error.inputs));
                StatementWriter::new(Maker::ErrorKind, out, NodeRef::Error(name))
                    .link(rpcg::ERROR_KIND, NodeRef::Iri(error.kind.as_str()));
                say_inputs(name, Some(error.inputs), out);
            }
            _ => {}
        }
        if is_last {
            if let Some(before) = before {
                self.end(&before, annotated, out);
            }
        } else if !keys.is_empty() {
            let since = match before {
                Some(before) => annotated.time.and_then(|time| Some((time, before.seconds(Some(time))?))),
                None => annotated.time.zip(annotated.latency),
            };
            self.rounds.pause(PausedOperation { operation, answer: name, used, since, has_ended: false }, keys);
        }
    }

    /// Returns true if the definition that an operation uses may have changed.
    fn is_outdated(&mut self, used: UsedDefinition) -> bool {
        self.session().definitions[used.kind as usize].is_outdated(used.key, used.node)
    }

    fn result<'a>(&mut self, name: Name, result: McpResult<'a>, pending: PendingRequest, out: &mut Vec<Statement<'a>>) {
        match pending {
            PendingRequest::List(kind, cursor) => {
                let page = result.lists.into_iter().find(|(listed, _)| *listed == kind);
                if let Some((_, page)) = page {
                    self.remember(|session, room| {
                        session.definitions[kind as usize].take(
                            kind,
                            page,
                            (cursor, result.next_cursor),
                            (name, room),
                            out,
                        );
                    });
                }
            }
            PendingRequest::Server => {
                if let Some(server) = result.server {
                    server.add(Sender::Server, &MCP_SIDES, &mut self.session().server, name, out);
                }
            }
            PendingRequest::Other | PendingRequest::Use(_) | PendingRequest::Task(_) | PendingRequest::Lsp(_) => {}
        }
    }

    fn notification<'a>(
        &mut self,
        annotated: &Annotated<'a>,
        sessions: &mut Sessions,
        notification: McpNotification<'a>,
        out: &mut Vec<Statement<'a>>,
    ) {
        let Annotated { name, sender, .. } = annotated;
        let mut writer = StatementWriter::new(Maker::Operation, out, NodeRef::Message(*name));
        match notification.meaning {
            NotificationMeaning::Other => {}
            NotificationMeaning::Progress(token) => {
                // The side that made the request, if known.
                let asked = [None, Some(Sender::Client), Some(Sender::Server)];
                let asked = asked.into_iter().filter(|asker| asker.is_none() || sender.is_none() || asker != sender);
                let mut found = asked.filter_map(|asker| self.tokens.newest(self.token(token, asker)));
                if let (Some((request, ())), None) = (found.next(), found.next()) {
                    writer.link(rpcg::PROGRESS_OF, NodeRef::Message(request));
                }
            }
            NotificationMeaning::Cancelled(id) => {
                if let Some(request) = sessions.cancel(*sender, &id, *name) {
                    writer.by(Maker::Cancellation).link(rpcg::CANCELS, NodeRef::Message(request));
                }
            }
            NotificationMeaning::Log(level, logger) => {
                writer.literal(mcp::HAS_LEVEL, level, xsd::STRING);
                writer.literal(mcp::HAS_LOGGER, logger, xsd::STRING);
            }
            NotificationMeaning::Changed(kinds) => {
                let definitions = &mut self.session().definitions;
                kinds.iter().for_each(|kind| definitions[*kind as usize].changes(*name));
            }
            NotificationMeaning::Task(result) => return self.task(annotated, *result, notification.trace, out),
        }
        say_trace(&mut writer, notification.trace);
    }

    /// Links a notification about the status of a task.
    fn task<'a>(
        &mut self,
        annotated: &Annotated<'a>,
        mut result: McpResult<'a>,
        trace: Option<Trace<'a>>,
        out: &mut Vec<Statement<'a>>,
    ) {
        let Some(Round { status, task: Some(task), is_last, .. }) = result.round.take().map(|round| *round) else {
            return;
        };
        let mut writer = StatementWriter::new(Maker::Operation, out, NodeRef::Message(annotated.name));
        let known = self.rounds.find([task_key(self.current.1, annotated.sender.map(Sender::other), task)]);
        if let ContinuedOperation::With(paused) = &known {
            writer.link(rpcg::IN_OPERATION, NodeRef::Part(paused.operation, ProtocolPart::OPERATION));
        }
        writer.literal(rpcg::STATUS, Some(status), xsd::STRING);
        say_trace(&mut writer, trace);
        if let (ContinuedOperation::With(paused), true) = (known, is_last) {
            if let Some(used) = paused.used {
                give(annotated.name, result, used, out);
            }
            self.end(&paused, annotated, out);
        }
    }

    /// Returns the key of a progress token in the current session, different for each side.
    fn token(&self, token: TextDigest, asker: Option<Sender>) -> TextDigest {
        self.current.1.rotate_left(1) ^ token ^ asker.map_or(0, |sender| 1 + sender as TextDigest)
    }

    /// Returns the memory of the current session.
    fn session(&mut self) -> &mut ProtocolSession {
        self.uses += 1;
        if self.remembered + self.sessions.len() > REMEMBERED / 2 && self.sessions.len() > 1 {
            self.forget();
        }
        let known = self.sessions.entry(self.current.1).or_default();
        known.last_used = self.uses;
        known
    }

    /// Calls `with` on the memory of the current session and the number of further items that it may hold.
    fn remember<R>(&mut self, with: impl FnOnce(&mut ProtocolSession, usize) -> R) -> R {
        let room = REMEMBERED.saturating_sub(self.remembered);
        let session = self.session();
        let before = session.len();
        let result = with(session, room);
        let after = session.len();
        self.remembered = (self.remembered + after).saturating_sub(before);
        result
    }

    /// Evicts the half of the other sessions that was used longest ago.
    fn forget(&mut self) {
        let mut others: Vec<_> = self.sessions.iter().filter(|(key, _)| **key != self.current.1).collect();
        others.sort_unstable_by_key(|(_, known)| known.last_used);
        let oldest = others.iter().take(others.len().div_ceil(2)).map(|(key, _)| **key);
        for key in oldest.collect::<Vec<_>>() {
            let forgotten = self.sessions.remove(&key);
            self.remembered -= forgotten.map_or(0, |known| known.len());
        }
    }
}

fn say_trace<'a>(writer: &mut StatementWriter<'_, 'a>, trace: Option<Trace<'a>>) {
    if let Some(Trace { trace, span }) = trace {
        writer.literal(rpcg::TRACE_ID, Some(trace.into()), xsd::STRING);
        writer.literal(rpcg::PARENT_SPAN_ID, Some(span.into()), xsd::STRING);
    }
}

/// Appends the outcome of a use: the result of a tool, or the contents of a resource.
fn give<'a>(name: Name, result: McpResult<'a>, used: UsedDefinition, out: &mut Vec<Statement<'a>>) {
    match used.kind {
        DefinitionKind::Tool => {
            let node = NodeRef::Part(name, ProtocolPart { kind: PartKind::Result, index: 0 });
            let mut writer = StatementWriter::new(Maker::Operation, out, NodeRef::Message(name));
            // The walk states the member of the message's own result.
            if let (true, Some(is_error)) = (result.is_of_task, result.is_error) {
                writer.add(rpcg::IS_ERROR, StatementObject::Boolean(is_error));
            }
            writer.link(rpcg::TOOL_RESULT, node);
            writer.subject = node;
            writer.class(mcp::TOOL_RESULT);
            say_content(node, mcp::HAS_CONTENT, result.content, name, out);
        }
        DefinitionKind::Resource => say_content(used.node, mcp::HAS_CONTENTS, result.contents, name, out),
        DefinitionKind::Template | DefinitionKind::Prompt => {}
    }
}

fn input(message: Name, index: u32) -> NodeRef<'static> {
    NodeRef::Part(message, ProtocolPart { kind: PartKind::Input, index })
}

/// Links a message to the inputs that it requests.
fn link_inputs<'a>(message: Name, writer: &mut StatementWriter<'_, 'a>, inputs: Option<&Inputs<'a>>) {
    let requests = inputs.into_iter().flat_map(|inputs| &inputs.requests);
    (1..).zip(requests).for_each(|(index, _)| writer.link(rpcg::ASKS, input(message, index)));
}

fn say_inputs<'a>(message: Name, inputs: Option<Inputs<'a>>, out: &mut Vec<Statement<'a>>) {
    let Some(Inputs { requests, interoperable }) = inputs else { return };
    for (index, (name, request)) in (1..).zip(requests) {
        let mut writer = StatementWriter::new(Maker::Operation, out, input(message, index));
        writer.class(rpcg::INPUT);
        writer.literal(mcp::HAS_NAME, Some(name), xsd::STRING);
        writer.add(rpcg::VALUE, StatementObject::Json(request.into(), interoperable));
    }
}
