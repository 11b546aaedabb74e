//! The Language Server Protocol, 3.17 and 3.18.
//!
//! | in the log | in the graph |
//! |---|---|
//! | a message that names documents ([`documents`](super::documents)) | `lsp:document`: one node for each document, whatever the spelling of its URI |
//! | the version, language or result id of a document in a message | `lsp:mentions` a node that has them and links to the document |
//! | `textDocument/publishDiagnostics`; reports that answer `textDocument/diagnostic` or `workspace/diagnostic`, or are a partial result of them | diagnostics, each a node from the report that it is `lsp:reportedIn` to the report that it is `lsp:replacedIn` |
//! | `initialize` and its answer | `rpcg:introduces` a client or server, with its capabilities |
//! | `client/registerCapability`, `client/unregisterCapability` | `lsp:registers`, `lsp:unregisters` a capability of the server |
//! | `$/progress` | `rpcg:progressOf` the request |
//!
//! A report replaces the previous report on the same document: a pushed report replaces the last pushed report, and an
//! answer replaces the last answer with the same `identifier`. A diagnostic that both reports contain unchanged stays
//! one node, and so does a diagnostic that a report contains twice.

use std::borrow::Cow;

use oxrdf::NamedNodeRef;
use oxrdf::vocab::xsd;

use super::documents::{DiagnosticsReports, DocumentMention, mentions};
use super::makers::MakerTerms;
use super::open::ProgressTokens;
use super::sides::{KnownSide, LSP_SIDES, SideDescription};
use super::{DigestMap, Maker, Statement, StatementObject, StatementWriter, TextDigest, key, picked};
use crate::json;
use crate::record::Sender;
use crate::session::Name;
use crate::session::triples::{NodeRef, PartKind, ProtocolPart};
use crate::vocab::{lsp, rpcg};

pub(super) fn maker() -> MakerTerms {
    let of_records = vec![lsp::DOCUMENT, lsp::MENTIONS, lsp::REGISTERS, lsp::UNREGISTERS, rpcg::PROGRESS_OF];
    // Some are of the sides, too.
    let of_nodes = lsp::ALL.iter().copied().chain([rpcg::VALUE]).collect();
    MakerTerms::new(Maker::Lsp, of_records, of_nodes)
}

/// The statements of a single request or notification.
pub struct LspMessage<'a> {
    mentions: Vec<DocumentMention<'a>>,
    meaning: LspMeaning<'a>,
    /// The tokens of its progress and of its partial results.
    tokens: [Option<TextDigest>; 2],
}

enum LspMeaning<'a> {
    Other,
    Client(Option<SideDescription<'a>>),
    /// The token; true at the end; reports so far.
    Progress(TextDigest, bool, Option<DiagnosticsReports<'a>>),
    /// The token of progress to come.
    Token(TextDigest),
    /// Canonical JSON, and whether it is interoperable.
    Registers(&'a str, bool),
    Unregisters(&'a str),
    /// A request for diagnostics: the digest of their stream.
    Asks(TextDigest),
}

/// The kind of answer that a request of LSP waits for, with the data for linking it.
pub(super) struct LspPendingRequest {
    is_introduction: bool,
    asks: Option<DiagnosticsRequest>,
    tokens: [Option<TextDigest>; 2],
}

/// A request for diagnostics: their stream, and the document if the request names one.
#[derive(Clone, Copy)]
struct DiagnosticsRequest {
    stream: TextDigest,
    document: Option<TextDigest>,
}

/// The message that introduced something, and its position there.
type Introducer = (Name, u32);

/// The linker's memory of one session.
#[derive(Default)]
pub(super) struct LspSession {
    documents: DigestMap<Introducer>,
    /// The diagnostics in force, for each document and stream.
    reports: DigestMap<DigestMap<Introducer>>,
    diagnostics: usize,
    registrations: DigestMap<Introducer>,
    /// Requests by their progress tokens.
    tokens: ProgressTokens<Option<DiagnosticsRequest>>,
}

/// The message being linked, and its counters.
struct Linking {
    message: Name,
    stream: Option<TextDigest>,
    /// The number of further items that may be remembered.
    room: usize,
    diagnostics: u32,
}

impl<'a> LspMessage<'a> {
    /// Extracts the statements from the params, in canonical text, of a message with an LSP method.
    pub fn from_params(method: &str, text: &'a str, (is_request, interoperable): (bool, bool)) -> Option<Self> {
        let mentions = mentions(method, "params", text);
        let mut tokens = [None; 2];
        let mut meaning = LspMeaning::Other;
        if is_request || method == "$/progress" {
            let [work_done, partial] = picked(text, ["workDoneToken", "partialResultToken"]);
            tokens = [work_done, partial].map(|token| token.map(key));
            meaning = LspMeaning::from_params(method, text, interoperable)?;
        }
        let is_relevant = !matches!(meaning, LspMeaning::Other) || !mentions.is_empty() || tokens != [None; 2];
        is_relevant.then_some(Self { mentions, meaning, tokens })
    }
}

impl<'a> LspMeaning<'a> {
    /// Returns `None` if the message does not belong to LSP.
    fn from_params(method: &str, params: &'a str, interoperable: bool) -> Option<Self> {
        let member = |name| json::member(params, name);
        let meaning = match method {
            // In MCP and ACP, `initialize` has a version.
            "initialize" if member("protocolVersion").is_some() => return None,
            "initialize" => {
                let [info, capabilities] = picked(params, ["clientInfo", "capabilities"]);
                Some(Self::Client(SideDescription::new(info, None, capabilities, interoperable)))
            }
            "$/progress" => member("token").zip(member("value")).map(|(token, value)| {
                let is_end = json::members(value).any(|member| member == ("kind", "\"end\""));
                Self::Progress(key(token), is_end, DiagnosticsReports::read(value))
            }),
            "window/workDoneProgress/create" => member("token").map(|token| Self::Token(key(token))),
            "client/registerCapability" => member("registrations").map(|all| Self::Registers(all, interoperable)),
            // The protocol spells it this way.
            "client/unregisterCapability" => member("unregisterations").map(Self::Unregisters),
            "textDocument/diagnostic" | "workspace/diagnostic" => Some(Self::Asks(key((method, member("identifier"))))),
            _ => None,
        };
        Some(meaning.unwrap_or(Self::Other))
    }
}

impl LspPendingRequest {
    /// Returns true if the answer can carry statements.
    pub fn is_any(&self) -> bool {
        self.is_introduction || self.asks.is_some() || self.tokens != [None; 2]
    }
}

impl LspSession {
    /// The number of items in memory.
    pub fn len(&self) -> usize {
        self.documents.len() + self.diagnostics + self.registrations.len() + self.tokens.len()
    }

    /// Appends the statements of a request or notification, and returns what to expect of its answer. `room` is the
    /// number of further items that may be remembered.
    pub fn link<'a>(
        &mut self,
        name: Name,
        message: LspMessage<'a>,
        (client, room): (&mut Option<KnownSide>, usize),
        out: &mut Vec<Statement<'a>>,
    ) -> LspPendingRequest {
        let LspMessage { mut mentions, meaning, tokens } = message;
        let mut pending = LspPendingRequest { is_introduction: false, asks: None, tokens };
        let mut linked = Linking { message: name, stream: Some(key("pushed")), room, diagnostics: 0 };
        let mut writer = StatementWriter::new(Maker::Lsp, out, NodeRef::Message(name));
        match meaning {
            LspMeaning::Other => {}
            LspMeaning::Client(client_says) => {
                pending.is_introduction = true;
                client_says.into_iter().for_each(|side| side.add(Sender::Client, &LSP_SIDES, client, name, out));
            }
            LspMeaning::Progress(token, is_end, reports) => {
                if let Some((request, asked)) = self.tokens.newest(token) {
                    writer.link(rpcg::PROGRESS_OF, NodeRef::Message(request));
                    linked.stream = asked.map(|asked| asked.stream);
                    mentions.extend(reports.filter(|_| asked.is_some()).into_iter().flat_map(|reports| reports.others));
                    if is_end {
                        self.tokens.remove(token, request);
                    }
                }
            }
            LspMeaning::Token(token) => self.await_progress(token, (name, None), &mut linked),
            LspMeaning::Registers(all, interoperable) => self.register(all, interoperable, &mut linked, out),
            LspMeaning::Unregisters(all) => {
                for found in registered(all).filter_map(|(id, _)| self.registrations.remove(&id)) {
                    writer.link(lsp::UNREGISTERS, part(PartKind::Capability, found));
                }
            }
            LspMeaning::Asks(stream) => {
                let document = mentions.first().map(|mention| mention.document);
                pending.asks = Some(DiagnosticsRequest { stream, document });
            }
        }
        for token in tokens.into_iter().flatten() {
            self.await_progress(token, (name, pending.asks), &mut linked);
        }
        self.mention(mentions, linked, out);
        pending
    }

    /// Links the answer to a request: the server's introduction, and reports.
    pub fn answer<'a>(
        &mut self,
        (request, name): (Name, Name),
        pending: &LspPendingRequest,
        (introduction, reports): (Option<SideDescription<'a>>, Option<DiagnosticsReports<'a>>),
        (server, room): (&mut Option<KnownSide>, usize),
        out: &mut Vec<Statement<'a>>,
    ) {
        for token in pending.tokens.into_iter().flatten() {
            self.tokens.remove(token, request);
        }
        if let Some(introduction) = introduction.filter(|_| pending.is_introduction) {
            introduction.add(Sender::Server, &LSP_SIDES, server, name, out);
        }
        let (Some(asked), Some(mut reports)) = (pending.asks, reports) else { return };
        // The request has already stated the document's URI.
        let document = asked.document.filter(|document| self.documents.contains_key(document));
        if let (Some(document), Some(members)) = (document, reports.own) {
            reports.others.insert(0, DocumentMention { uri: Cow::Borrowed(""), document, members });
        }
        let linked = Linking { message: name, stream: Some(asked.stream), room, diagnostics: 0 };
        self.mention(reports.others, linked, out);
    }

    fn await_progress(&mut self, token: TextDigest, request: (Name, Option<DiagnosticsRequest>), linked: &mut Linking) {
        if linked.has_room() {
            self.tokens.insert(token, request.0, request.1);
        }
    }

    fn register<'a>(&mut self, all: &'a str, interoperable: bool, linked: &mut Linking, out: &mut Vec<Statement<'a>>) {
        let node = |index| part(PartKind::Capability, (linked.message, index));
        let mut writer = StatementWriter::new(Maker::Lsp, out, NodeRef::Message(linked.message));
        (1..).zip(registered(all)).for_each(|(index, _)| writer.link(lsp::REGISTERS, node(index)));
        for (index, (_, registration)) in (1..).zip(registered(all)) {
            writer.subject = node(index);
            writer.class(lsp::CAPABILITY);
            for (name, value) in json::members(registration) {
                match name {
                    "method" => writer.literal(lsp::NAME, json::string(value), xsd::STRING),
                    "registerOptions" => writer.add(rpcg::VALUE, StatementObject::Json(value.into(), interoperable)),
                    _ => {}
                }
            }
        }
        for (index, (id, _)) in (1..).zip(registered(all)) {
            if linked.has_room() {
                self.registrations.insert(id, (linked.message, index));
            }
        }
    }

    /// Appends the documents that a message names, and the statements about them.
    fn mention<'a>(&mut self, mentions: Vec<DocumentMention<'a>>, mut linked: Linking, out: &mut Vec<Statement<'a>>) {
        let (message, mut others) = (linked.message, Vec::new());
        let (mut documents, mut described) = (DigestMap::default(), Vec::new());
        for (index, DocumentMention { uri, document, members }) in (1..).zip(mentions) {
            let node = *documents.entry(document).or_insert_with(|| {
                let node = self.document((document, uri), index, &mut linked, &mut others);
                StatementWriter::new(Maker::Lsp, out, NodeRef::Message(message)).link(lsp::DOCUMENT, node);
                node
            });
            described.push((index, document, node, members));
        }
        for (index, document, node, members) in described {
            if members.version.is_some()
                || members.language.is_some()
                || members.result_id.is_some()
                || members.kind.is_some()
            {
                let mention = part(PartKind::Mention, (message, index));
                StatementWriter::new(Maker::Lsp, out, NodeRef::Message(message)).link(lsp::MENTIONS, mention);
                let mut writer = StatementWriter::new(Maker::Lsp, &mut others, mention);
                writer.class(lsp::MENTION);
                writer.link(lsp::DOCUMENT, node);
                writer.literal(lsp::DOCUMENT_VERSION, members.version.map(Cow::Borrowed), xsd::INTEGER);
                writer.literal(lsp::LANGUAGE_ID, members.language, xsd::STRING);
                writer.literal(lsp::REPORT_KIND, members.kind, xsd::STRING);
                writer.literal(lsp::RESULT_ID, members.result_id, xsd::STRING);
            }
            if let (Some(stream), Some(diagnostics)) = (linked.stream, members.diagnostics) {
                self.report((key((document, stream)), node), diagnostics, &mut linked, &mut others);
            }
        }
        out.append(&mut others);
    }

    /// Returns the node of a document: the known node, or a new one that the message introduces.
    fn document<'a>(
        &mut self,
        (document, uri): (TextDigest, Cow<'a, str>),
        index: u32,
        linked: &mut Linking,
        out: &mut Vec<Statement<'a>>,
    ) -> NodeRef<'static> {
        let known = self.documents.get(&document).copied();
        let node = part(PartKind::Document, known.unwrap_or((linked.message, index)));
        if known.is_none() {
            let mut writer = StatementWriter::new(Maker::Lsp, out, node);
            writer.class(lsp::DOCUMENT_CLASS);
            writer.literal(lsp::URI, Some(uri), xsd::ANY_URI);
            if linked.has_room() {
                self.documents.insert(document, (linked.message, index));
            }
        }
        node
    }

    /// Replaces the diagnostics of a document with a new report.
    fn report<'a>(
        &mut self,
        (report, document): (TextDigest, NodeRef<'static>),
        diagnostics: Vec<(TextDigest, &'a str)>,
        linked: &mut Linking,
        out: &mut Vec<Statement<'a>>,
    ) {
        let mut before = self.reports.remove(&report).unwrap_or_default();
        self.diagnostics -= before.len();
        linked.room += before.len();
        let (message, mut now) = (NodeRef::Message(linked.message), DigestMap::default());
        for (key, text) in diagnostics {
            if now.contains_key(&key) {
                continue;
            }
            let known = before.remove(&key);
            let found = known.unwrap_or_else(|| {
                linked.diagnostics += 1;
                (linked.message, linked.diagnostics)
            });
            if known.is_none() {
                let mut writer = StatementWriter::new(Maker::Lsp, out, part(PartKind::Diagnostic, found));
                writer.class(lsp::DIAGNOSTIC);
                writer.link(lsp::DOCUMENT, document);
                describe(&mut writer, text);
                writer.link(lsp::REPORTED_IN, message);
            }
            now.insert(key, found);
        }
        let mut replaced: Vec<_> = before.into_values().collect();
        replaced.sort_unstable();
        for found in replaced {
            StatementWriter::new(Maker::Lsp, out, part(PartKind::Diagnostic, found)).link(lsp::REPLACED_IN, message);
        }
        if now.len() > linked.room {
            // Without room, the diagnostics of this report are never replaced.
            now.clear();
        }
        linked.room -= now.len();
        self.diagnostics += now.len();
        if !now.is_empty() {
            self.reports.insert(report, now);
        }
    }
}

impl Linking {
    /// Returns true if another item may be remembered, and counts it.
    fn has_room(&mut self) -> bool {
        let has_room = self.room > 0;
        self.room = self.room.saturating_sub(1);
        has_room
    }
}

fn part(kind: PartKind, (message, index): Introducer) -> NodeRef<'static> {
    NodeRef::Part(message, ProtocolPart { kind, index })
}

/// Returns the digest of the id, and the whole text, of each registration.
fn registered(all: &str) -> impl Iterator<Item = (TextDigest, &str)> {
    json::elements(all).filter_map(|text| Some((key(json::member(text, "id")?), text)))
}

/// Appends the statements of a diagnostic.
fn describe<'a>(writer: &mut StatementWriter<'_, 'a>, text: &'a str) {
    for (name, value) in json::members(text) {
        match name {
            "severity" => {
                let name = match value {
                    "1" => Some("Error"),
                    "2" => Some("Warning"),
                    "3" => Some("Information"),
                    "4" => Some("Hint"),
                    _ => None,
                };
                writer.literal(lsp::SEVERITY, name.map(Cow::Borrowed), xsd::STRING);
            }
            // The code is a string or a number.
            "code" => {
                let number =
                    Some(value).filter(|value| value.starts_with(|first: char| first == '-' || first.is_ascii_digit()));
                writer.literal(lsp::CODE, json::string(value).or(number.map(Cow::Borrowed)), xsd::STRING);
            }
            "source" => writer.literal(lsp::SOURCE, json::string(value), xsd::STRING),
            // The message is a string, or markup content.
            "message" => {
                let markup = || json::string(json::member(value, "value")?);
                let text = json::string(value).or_else(markup);
                writer.literal(lsp::MESSAGE, text, xsd::STRING);
            }
            "range" => describe_range(writer, value),
            _ => {}
        }
    }
}

/// The places of a range.
const PLACES: [(&str, &str, NamedNodeRef<'static>); 4] = [
    ("start", "line", lsp::START_LINE),
    ("start", "character", lsp::START_CHARACTER),
    ("end", "line", lsp::END_LINE),
    ("end", "character", lsp::END_CHARACTER),
];

fn describe_range<'a>(writer: &mut StatementWriter<'_, 'a>, range: &'a str) {
    for (end, position) in json::members(range) {
        for (member, value) in json::members(position) {
            let place = PLACES.iter().find(|(of, name, _)| (*of, *name) == (end, member));
            if let (Some((.., property)), Ok(number)) = (place, value.parse()) {
                writer.add(*property, StatementObject::Count(number));
            }
        }
    }
}
