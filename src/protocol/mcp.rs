//! The Model Context Protocol, from revision 2024-11-05 on.
//!
//! | of | becomes |
//! |---|---|
//! | a request | `rpcg:inOperation` of it and of what answers it: an operation, named by the request |
//! | `tools/call`, `resources/read`, `prompts/get` | also what the operation is about: `mcp:executesTool`, `mcp:accessesResource`, `mcp:instantiatesPrompt` |
//! | the answer to a call of a tool | `rpcg:toolResult`, with `mcp:isError` and its content |
//! | the answer to `resources/read` | `mcp:hasContents` of the resource |
//! | the answer to `tools/list`, `resources/list`, `resources/templates/list`, `prompts/list` | definitions, each `rpcg:definedIn` the lists that show it |
//! | `initialize`, `server/discover`, `_meta` of a request | `rpcg:introduces` a client or server, with its capabilities |
//! | `notifications/progress`, `notifications/cancelled` | `rpcg:progressOf`, `rpcg:cancels` the request |
//! | `notifications/message` | `mcp:hasLevel`, `mcp:hasLogger` |
//! | `_meta.traceparent` | `rpcg:traceId`, `rpcg:parentSpanId` |
//!
//! What the members mean is said in MCP's [specification](https://modelcontextprotocol.io/specification/2025-11-25).

use std::collections::BTreeMap;
use std::sync::Arc;

use oxrdf::vocab::xsd;

use super::content::say_content;
use super::definitions::{DefinitionKind, Definitions};
use super::extract::{AsksFor, Extract, McpNotification, McpRequest, McpResult, Tells, Trace};
use super::sides::KnownSide;
use super::{Key, KeyMap, Said, Speaker, Statement, key};
use crate::message::{Id, Message};
use crate::record::Sender;
use crate::session::{Annotated, Name, Node, Sessions};
use crate::triples::{NodeRef, Part, PartKind};
use crate::vocab::{mcp, rpcg};

/// How many requests are remembered that are not answered; beyond that, what answers the oldest is in no operation.
const OPEN: usize = 1 << 18;
/// How many definitions are remembered, of all sessions together.
const DEFINITIONS: usize = 1 << 16;

/// Links messages with those before them, in their order.
///
/// Remembers the requests that wait for their answers, 2^18 at most: what answers an older one is in no operation. And at
/// most 2^16 sessions and definitions, each by digests. Where half of that is reached, the sessions that were used longest
/// ago lose theirs: what is listed there again is new. Further definitions of one session are new in each list, and what is
/// used of them has only a name.
#[derive(Default)]
pub(crate) struct Linker {
    open: BTreeMap<Name, OpenOperation>,
    /// Open requests by their progress tokens.
    tokens: KeyMap<Name>,
    sessions: KeyMap<McpSession>,
    /// The reference of the session that messages are linked in, and its key.
    current: (Arc<str>, Key),
    /// How many definitions all sessions have.
    definitions: usize,
    uses: u64,
}

/// The operation of a request that is not answered yet.
struct OpenOperation {
    awaits: Awaits,
    token: Option<Key>,
}

/// What the answer to a request can tell.
enum Awaits {
    Other,
    List(DefinitionKind, Option<Key>),
    ToolResult,
    Contents(NodeRef<'static>),
    Server,
}

/// What is known of the two sides of a session.
#[derive(Default)]
struct McpSession {
    last_used: u64,
    client: Option<KnownSide>,
    server: Option<KnownSide>,
    /// What the server offers.
    definitions: [Definitions; DefinitionKind::ALL.len()],
}

impl McpSession {
    fn len(&self) -> usize {
        self.definitions.iter().map(Definitions::len).sum()
    }
}

impl Linker {
    /// Says what a message is about, of the session with that reference, which is that of the last record.
    pub fn link<'a>(
        &mut self,
        session: &Arc<str>,
        sessions: &Sessions,
        annotated: &Annotated<'a>,
        extract: Extract<'a>,
        out: &mut Vec<Statement<'a>>,
    ) {
        let name = annotated.name;
        if self.current.0 != *session {
            self.current = (session.clone(), key(session));
        }
        let answered = annotated.responds_to.and_then(|request| Some((request, self.open.remove(&request)?)));
        if let Some((request, open)) = answered {
            open.token.map(|token| self.tokens.remove(&token));
            let operation = NodeRef::Part(request, Part::OPERATION);
            Speaker::new(out, NodeRef::Message(name)).link(rpcg::IN_OPERATION, operation);
            if let Extract::Result(result) = extract {
                self.result(name, result, open.awaits, out);
            }
            return;
        }
        match extract {
            Extract::Request(request) => self.request(annotated, request, out),
            Extract::Notification(notification) => self.notification(annotated, sessions, notification, out),
            Extract::Nothing | Extract::Result(_) => {}
        }
    }

    fn request<'a>(&mut self, annotated: &Annotated<'a>, request: McpRequest<'a>, out: &mut Vec<Statement<'a>>) {
        let name = annotated.name;
        let operation = NodeRef::Part(name, Part::OPERATION);
        let mut speaker = Speaker::new(out, NodeRef::Message(name));
        speaker.link(rpcg::IN_OPERATION, operation);
        say_trace(&mut speaker, request.trace);
        let mut awaits = Awaits::Other;
        if let Some(client) = request.client {
            client.say(Sender::Client, &mut self.session().client, name, out);
        }
        let mut speaker = Speaker::new(out, operation);
        speaker.class(request.class);
        match request.asks_for {
            AsksFor::Other => {}
            AsksFor::Server => awaits = Awaits::Server,
            AsksFor::List(kind, cursor) => awaits = Awaits::List(kind, cursor),
            AsksFor::Use(kind, property, key) => {
                let mut defined = Vec::new();
                let node = self
                    .definitions(kind, |definitions, room| definitions.find(kind, key, name, room > 0, &mut defined));
                speaker.link(property, node);
                out.append(&mut defined);
                awaits = match kind {
                    DefinitionKind::Tool => Awaits::ToolResult,
                    DefinitionKind::Resource => Awaits::Contents(node),
                    DefinitionKind::Template | DefinitionKind::Prompt => Awaits::Other,
                };
            }
        }
        // Null never pairs.
        if let Node::Message(Message { id: Some(Id::Null), .. }) = &annotated.node {
            return;
        }
        let token = request.token.map(|token| self.token(token, annotated.sender));
        if let Some(token) = token {
            self.tokens.insert(token, name);
        }
        self.open.insert(name, OpenOperation { awaits, token });
        if self.open.len() > OPEN
            && let Some((_, oldest)) = self.open.pop_first()
        {
            oldest.token.map(|token| self.tokens.remove(&token));
        }
    }

    fn result<'a>(&mut self, name: Name, result: McpResult<'a>, awaits: Awaits, out: &mut Vec<Statement<'a>>) {
        match awaits {
            Awaits::Other => {}
            Awaits::List(kind, cursor) => {
                let page = result.lists.into_iter().find(|(listed, _)| *listed == kind);
                if let Some((_, page)) = page {
                    self.definitions(kind, |definitions, room| {
                        definitions.take(kind, page, (cursor, result.next_cursor), (name, room), out);
                    });
                }
            }
            Awaits::ToolResult => {
                let node = NodeRef::Part(name, Part { kind: PartKind::Result, index: 0 });
                let mut speaker = Speaker::new(out, NodeRef::Message(name));
                speaker.link(rpcg::TOOL_RESULT, node);
                speaker.subject = node;
                speaker.class(mcp::TOOL_RESULT);
                if let Some(is_error) = result.is_error {
                    speaker.say(mcp::IS_ERROR, Said::Boolean(is_error));
                }
                say_content(node, mcp::HAS_CONTENT, result.content, name, out);
            }
            Awaits::Contents(resource) => say_content(resource, mcp::HAS_CONTENTS, result.contents, name, out),
            Awaits::Server => {
                if let Some(server) = result.server {
                    server.say(Sender::Server, &mut self.session().server, name, out);
                }
            }
        }
    }

    fn notification<'a>(
        &mut self,
        annotated: &Annotated<'a>,
        sessions: &Sessions,
        notification: McpNotification<'a>,
        out: &mut Vec<Statement<'a>>,
    ) {
        let Annotated { name, sender, .. } = annotated;
        let mut speaker = Speaker::new(out, NodeRef::Message(*name));
        match notification.tells {
            Tells::Other => {}
            Tells::Progress(token) => {
                // The side that asked, as far as it is known.
                let asked = [None, Some(Sender::Client), Some(Sender::Server)];
                let asked = asked.into_iter().filter(|asker| asker.is_none() || sender.is_none() || asker != sender);
                let mut found = asked.filter_map(|asker| self.tokens.get(&self.token(token, asker)));
                if let (Some(request), None) = (found.next(), found.next()) {
                    speaker.link(rpcg::PROGRESS_OF, NodeRef::Message(*request));
                }
            }
            Tells::Cancelled(id) => {
                if let Some(request) = sessions.open_request(*sender, &id).filter(|request| request < name) {
                    speaker.link(rpcg::CANCELS, NodeRef::Message(request));
                }
            }
            Tells::Log(level, logger) => {
                speaker.literal(mcp::HAS_LEVEL, level, xsd::STRING);
                speaker.literal(mcp::HAS_LOGGER, logger, xsd::STRING);
            }
        }
        say_trace(&mut speaker, notification.trace);
    }

    /// Stands for the token that the side gave to a request of the session: other bits for each side.
    fn token(&self, token: Key, asker: Option<Sender>) -> Key {
        self.current.1.rotate_left(1) ^ token ^ asker.map_or(0, |sender| 1 + sender as Key)
    }

    /// What is known of the session.
    fn session(&mut self) -> &mut McpSession {
        self.uses += 1;
        if self.definitions + self.sessions.len() > DEFINITIONS / 2 && self.sessions.len() > 1 {
            self.forget();
        }
        let known = self.sessions.entry(self.current.1).or_default();
        known.last_used = self.uses;
        known
    }

    /// Uses the definitions of the session, to which so many may be added.
    fn definitions<R>(&mut self, kind: DefinitionKind, with: impl FnOnce(&mut Definitions, usize) -> R) -> R {
        let room = DEFINITIONS.saturating_sub(self.definitions);
        let definitions = &mut self.session().definitions[kind as usize];
        let before = definitions.len();
        let result = with(definitions, room);
        let after = definitions.len();
        self.definitions = (self.definitions + after).saturating_sub(before);
        result
    }

    /// Forgets those sessions that were used longest ago, half of them, but not this one.
    fn forget(&mut self) {
        let mut others: Vec<_> = self.sessions.iter().filter(|(key, _)| **key != self.current.1).collect();
        others.sort_unstable_by_key(|(_, known)| known.last_used);
        let oldest = others.iter().take(others.len().div_ceil(2)).map(|(key, _)| **key);
        for key in oldest.collect::<Vec<_>>() {
            let forgotten = self.sessions.remove(&key);
            self.definitions -= forgotten.map_or(0, |known| known.len());
        }
    }
}

fn say_trace<'a>(speaker: &mut Speaker<'_, 'a>, trace: Option<Trace<'a>>) {
    if let Some(Trace { trace, span }) = trace {
        speaker.literal(rpcg::TRACE_ID, Some(trace.into()), xsd::STRING);
        speaker.literal(rpcg::PARENT_SPAN_ID, Some(span.into()), xsd::STRING);
    }
}
