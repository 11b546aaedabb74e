//! The Model Context Protocol, from revision 2024-11-05 on.
//!
//! | of | becomes |
//! |---|---|
//! | a request | `rpcg:inOperation` of it and of what answers it: an operation, named by the request |
//! | `tools/call`, `resources/read`, `prompts/get` | also what the operation is about: `mcp:executesTool`, `mcp:accessesResource`, `mcp:instantiatesPrompt` |
//! | the answer to `tools/list`, `resources/list`, `resources/templates/list`, `prompts/list` | definitions, each `rpcg:definedIn` the lists that show it |
//!
//! What the members mean is said in MCP's [specification](https://modelcontextprotocol.io/specification/2025-11-25).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use oxrdf::NamedNodeRef;

use super::definitions::{DefinitionKind, Definitions, Shown, shown};
use super::{Key, Protocol, Speaker, Statement, key};
use crate::json::{self, MemberName};
use crate::message::{Id, Kind, Message, Payload, Single};
use crate::record::known_method;
use crate::session::{Annotated, Name, Node};
use crate::triples::{NodeRef, Part};
use crate::vocab::{mcp, rpcg};

static NAME: LazyLock<MemberName> = LazyLock::new(|| MemberName::new("name"));
static URI: LazyLock<MemberName> = LazyLock::new(|| MemberName::new("uri"));
static CURSOR: LazyLock<MemberName> = LazyLock::new(|| MemberName::new("cursor"));
static PROTOCOL_VERSION: LazyLock<MemberName> = LazyLock::new(|| MemberName::new("protocolVersion"));
static SESSION_ID: LazyLock<MemberName> = LazyLock::new(|| MemberName::new("sessionId"));

/// How many requests are remembered that are not answered; beyond that, what answers the oldest is in no operation.
const OPEN: usize = 1 << 18;
/// How many definitions are remembered, of all sessions together.
const DEFINITIONS: usize = 1 << 16;

/// What a message tells of itself.
pub(crate) enum Extract<'a> {
    Nothing,
    Request(McpRequest<'a>),
    Result(McpResult<'a>),
}

/// A request.
pub(crate) struct McpRequest<'a> {
    /// Class of the operation.
    class: NamedNodeRef<'static>,
    asks_for: AsksFor<'a>,
}

enum AsksFor<'a> {
    Other,
    /// Something that is defined, by its key; the property that leads from the operation to it.
    Use(DefinitionKind, NamedNodeRef<'static>, Cow<'a, str>),
    /// A list of definitions, from this cursor on.
    List(DefinitionKind, Option<Key>),
}

/// What may be the answer to a request for a list.
pub(crate) struct McpResult<'a> {
    lists: Vec<(DefinitionKind, Vec<Shown<'a>>)>,
    next_cursor: Option<Key>,
}

impl<'a> Extract<'a> {
    /// Takes it out of a message. `spelled` is what [`spell`](super::spell) gave.
    pub fn of(protocol: Protocol, single: &Single<'a>, spelled: Option<&'a (String, bool)>) -> Self {
        let Single::Message(message) = single else { return Self::Nothing };
        match (protocol, message.kind, &message.method) {
            (Protocol::None, ..) => Self::Nothing,
            (_, Kind::Request, Some(method)) => match McpRequest::of(method, message) {
                Some(request) => Self::Request(request),
                None => Self::Nothing,
            },
            (_, Kind::Response, _) => match (&message.result, spelled) {
                (Some(Payload::Canonical { text, interoperable }), _) => McpResult::of(text, *interoperable),
                (_, Some((text, interoperable))) => McpResult::of(text, *interoperable),
                _ => Self::Nothing,
            },
            _ => Self::Nothing,
        }
    }
}

impl<'a> McpRequest<'a> {
    fn of(method: &str, message: &Message<'a>) -> Option<Self> {
        let string = |name| message.params.as_ref().and_then(|params| params.string_member(name));
        let uses = |kind, property, name| match string(name) {
            Some(text) => AsksFor::Use(kind, property, text),
            None => AsksFor::Other,
        };
        let list = |kind| AsksFor::List(kind, string(&CURSOR).map(|cursor| key(&cursor)));
        let (class, asks_for) = match method {
            "tools/call" => (mcp::CALL_TOOL_OPERATION, uses(DefinitionKind::Tool, mcp::EXECUTES_TOOL, &NAME)),
            "resources/read" => {
                (mcp::READ_RESOURCE_OPERATION, uses(DefinitionKind::Resource, mcp::ACCESSES_RESOURCE, &URI))
            }
            "prompts/get" => (mcp::GET_PROMPT_OPERATION, uses(DefinitionKind::Prompt, mcp::INSTANTIATES_PROMPT, &NAME)),
            "tools/list" => (mcp::LIST_TOOLS_OPERATION, list(DefinitionKind::Tool)),
            "resources/list" => (mcp::LIST_RESOURCES_OPERATION, list(DefinitionKind::Resource)),
            "resources/templates/list" => (rpcg::OPERATION, list(DefinitionKind::Template)),
            "prompts/list" => (mcp::LIST_PROMPTS_OPERATION, list(DefinitionKind::Prompt)),
            "ping" => (mcp::PING_OPERATION, AsksFor::Other),
            // LSP's has no version, and that of ACP is a number.
            "initialize" => {
                string(&PROTOCOL_VERSION)?;
                (mcp::INITIALIZE_OPERATION, AsksFor::Other)
            }
            _ => {
                let protocols = known_method(method)?.protocols;
                let is_others = protocols.has("ACP") && string(&SESSION_ID).is_some();
                if !protocols.has("MCP") || is_others {
                    return None;
                }
                (rpcg::OPERATION, AsksFor::Other)
            }
        };
        Some(Self { class, asks_for })
    }
}

impl<'a> McpResult<'a> {
    fn of(text: &'a str, interoperable: bool) -> Extract<'a> {
        let mut result = Self { lists: Vec::new(), next_cursor: None };
        for (name, value) in json::members(text) {
            if name == "nextCursor" {
                result.next_cursor = json::string(value).map(|cursor| key(&cursor));
            } else if value.starts_with('[')
                && let Some(kind) = DefinitionKind::listed_by(name)
            {
                result.lists.push((kind, shown(kind, value, interoperable)));
            }
        }
        if result.lists.is_empty() { Extract::Nothing } else { Extract::Result(result) }
    }
}

/// Links messages with those before them, in their order.
///
/// Remembers the requests that wait for their answers, 2^18 at most: what answers an older one is in no operation. And at
/// most 2^16 definitions, each by digests. Where half of that is reached, the sessions that were used longest ago lose
/// theirs: what is listed there again is new. Further definitions of one session are new in each list, and what is used of
/// them has only a name.
#[derive(Default)]
pub(crate) struct Linker {
    open: BTreeMap<Name, OpenOperation>,
    sessions: HashMap<Arc<str>, McpSession>,
    /// How many definitions all sessions have.
    definitions: usize,
    uses: u64,
}

/// The operation of a request that is not answered yet.
struct OpenOperation {
    lists: Option<(DefinitionKind, Option<Key>)>,
}

/// What a session's server offers.
#[derive(Default)]
struct McpSession {
    last_used: u64,
    definitions: [Definitions; DefinitionKind::ALL.len()],
}

impl McpSession {
    fn len(&self) -> usize {
        self.definitions.iter().map(Definitions::len).sum()
    }
}

impl Linker {
    /// Says what a message is about, of the session with that reference.
    pub fn link<'a>(
        &mut self,
        session: &Arc<str>,
        annotated: &Annotated<'a>,
        extract: Extract<'a>,
        out: &mut Vec<Statement<'a>>,
    ) {
        let name = annotated.name;
        let answered = annotated.responds_to.and_then(|request| Some((request, self.open.remove(&request)?)));
        let operation = match (&answered, &extract) {
            (Some((request, _)), _) => *request,
            (None, Extract::Request(_)) => name,
            _ => return,
        };
        let operation = NodeRef::Part(operation, Part::OPERATION);
        Speaker::new(out, NodeRef::Message(name)).link(rpcg::IN_OPERATION, operation);
        match (extract, answered) {
            (Extract::Request(request), _) => self.request(session, annotated, request, operation, out),
            (Extract::Result(result), Some((_, OpenOperation { lists: Some((kind, cursor)) }))) => {
                let page = result.lists.into_iter().find(|(listed, _)| *listed == kind);
                if let Some((_, page)) = page {
                    self.in_session(session, kind, |definitions, room| {
                        definitions.take(kind, page, (cursor, result.next_cursor), (name, room), out);
                    });
                }
            }
            _ => {}
        }
    }

    fn request<'a>(
        &mut self,
        session: &Arc<str>,
        annotated: &Annotated<'a>,
        request: McpRequest<'a>,
        operation: NodeRef<'a>,
        out: &mut Vec<Statement<'a>>,
    ) {
        let mut lists = None;
        let mut speaker = Speaker::new(out, operation);
        speaker.class(request.class);
        match request.asks_for {
            AsksFor::Other => {}
            AsksFor::List(kind, cursor) => lists = Some((kind, cursor)),
            AsksFor::Use(kind, property, key) => {
                let mut defined = Vec::new();
                let node = self.in_session(session, kind, |definitions, room| {
                    definitions.find(kind, key, annotated.name, room > 0, &mut defined)
                });
                speaker.link(property, node);
                out.append(&mut defined);
            }
        }
        // Null never pairs.
        if let Node::Message(Message { id: Some(id), .. }) = &annotated.node
            && *id != Id::Null
        {
            self.open.insert(annotated.name, OpenOperation { lists });
            if self.open.len() > OPEN {
                self.open.pop_first();
            }
        }
    }

    /// Uses the definitions of a session, to which so many may be added.
    fn in_session<R>(
        &mut self,
        session: &Arc<str>,
        kind: DefinitionKind,
        with: impl FnOnce(&mut Definitions, usize) -> R,
    ) -> R {
        self.uses += 1;
        if !self.sessions.contains_key(session) {
            self.sessions.insert(session.clone(), McpSession::default());
        }
        if self.definitions + self.sessions.len() > DEFINITIONS / 2 && self.sessions.len() > 1 {
            self.forget(session);
        }
        let room = DEFINITIONS.saturating_sub(self.definitions);
        let known = self.sessions.entry(session.clone()).or_default();
        known.last_used = self.uses;
        let definitions = &mut known.definitions[kind as usize];
        let before = definitions.len();
        let result = with(definitions, room);
        self.definitions = (self.definitions + definitions.len()).saturating_sub(before);
        result
    }

    /// Forgets those sessions that were used longest ago, half of them, but not this one.
    fn forget(&mut self, session: &Arc<str>) {
        let mut others: Vec<_> = self.sessions.iter().filter(|(reference, _)| *reference != session).collect();
        others.sort_unstable_by_key(|(_, known)| known.last_used);
        let oldest = others.iter().take(others.len().div_ceil(2)).map(|(reference, _)| Arc::clone(reference));
        for reference in oldest.collect::<Vec<_>>() {
            let forgotten = self.sessions.remove(&reference);
            self.definitions -= forgotten.map_or(0, |known| known.len());
        }
    }
}
