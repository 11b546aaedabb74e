//! Clients and servers, as they describe themselves.

use std::borrow::Cow;

use oxrdf::NamedNodeRef;
use oxrdf::vocab::xsd;

use super::makers::MakerTerms;
use super::{Maker, Statement, StatementObject, StatementWriter, TextDigest, key};
use crate::json;
use crate::record::Sender;
use crate::session::Name;
use crate::session::triples::{NodeRef, PartKind, ProtocolPart};
use crate::vocab::{lsp, mcp, rpcg};

/// The terms of a protocol for a client or a server.
pub(crate) struct SideTerms {
    class: NamedNodeRef<'static>,
    has_capability: NamedNodeRef<'static>,
    capability: NamedNodeRef<'static>,
    words: &'static SideVocabulary,
}

/// The properties of a side, and the capability members that are groups of capabilities.
struct SideVocabulary {
    name: NamedNodeRef<'static>,
    title: Option<NamedNodeRef<'static>>,
    version: NamedNodeRef<'static>,
    groups: &'static [&'static str],
}

const MCP_WORDS: SideVocabulary =
    SideVocabulary { name: mcp::HAS_NAME, title: Some(mcp::HAS_TITLE), version: mcp::HAS_VERSION, groups: &[] };
const LSP_WORDS: SideVocabulary = SideVocabulary {
    name: lsp::NAME,
    title: None,
    version: lsp::VERSION,
    groups: &["workspace", "textDocument", "notebookDocument", "window", "general"],
};

/// The terms of MCP for client and server.
pub(super) const MCP_SIDES: [SideTerms; 2] = [
    SideTerms {
        class: mcp::MCP_CLIENT,
        has_capability: rpcg::CLIENT_CAPABILITIES,
        capability: mcp::CLIENT_CAPABILITIES,
        words: &MCP_WORDS,
    },
    SideTerms {
        class: mcp::MCP_SERVER,
        has_capability: mcp::HAS_CAPABILITIES,
        capability: mcp::SERVER_CAPABILITIES,
        words: &MCP_WORDS,
    },
];

/// The terms of LSP for client and server.
pub(super) const LSP_SIDES: [SideTerms; 2] = [lsp_side(lsp::CLIENT), lsp_side(lsp::SERVER)];

const fn lsp_side(class: NamedNodeRef<'static>) -> SideTerms {
    SideTerms { class, has_capability: lsp::HAS_CAPABILITY, capability: lsp::CAPABILITY, words: &LSP_WORDS }
}

pub(super) fn maker() -> MakerTerms {
    let mut of_nodes = vec![mcp::HAS_PROTOCOL_VERSION, rpcg::VALUE, rpcg::CLIENT_NAME, rpcg::SERVER_NAME];
    for SideTerms { class, has_capability, capability, words } in MCP_SIDES.iter().chain(&LSP_SIDES) {
        of_nodes.extend([*class, *has_capability, *capability, words.name, words.version]);
        of_nodes.extend(words.title);
    }
    MakerTerms::new(Maker::Side, vec![rpcg::INTRODUCES], of_nodes)
}

/// A side's description of itself, in canonical JSON.
pub(crate) struct SideDescription<'a> {
    info: Option<&'a str>,
    version: Option<&'a str>,
    capabilities: Option<&'a str>,
    interoperable: bool,
    /// The digest of the whole description.
    key: TextDigest,
}

/// A side that was introduced: the message that introduced it, and the digest of its description.
pub(super) type KnownSide = (Name, TextDigest);

impl<'a> SideDescription<'a> {
    /// Creates an introduction; `None` without a program or capabilities.
    pub fn new(
        info: Option<&'a str>,
        version: Option<&'a str>,
        capabilities: Option<&'a str>,
        interoperable: bool,
    ) -> Option<Self> {
        let says = info.is_some() || capabilities.is_some();
        says.then(|| Self { info, version, capabilities, interoperable, key: key((info, version, capabilities)) })
    }

    /// States that a message introduces a side, which is the known one if the description is the same; the first gives the
    /// session the name of its program. `terms` are the terms for clients, then for servers.
    pub fn add(
        self,
        side: Sender,
        [client, server]: &'static [SideTerms; 2],
        known: &mut Option<KnownSide>,
        message: Name,
        out: &mut Vec<Statement<'a>>,
    ) {
        let is_first = known.is_none();
        let same = known.filter(|(_, key)| *key == self.key);
        let (name, _) = *known.insert(same.unwrap_or((message, self.key)));
        let (kind, terms, named) = match side {
            Sender::Client => (PartKind::Client, client, rpcg::CLIENT_NAME),
            Sender::Server => (PartKind::Server, server, rpcg::SERVER_NAME),
        };
        let node = NodeRef::Part(name, ProtocolPart { kind, index: 0 });
        let mut writer = StatementWriter::new(Maker::Side, out, NodeRef::Message(message));
        writer.link(rpcg::INTRODUCES, node);
        if same.is_none() {
            writer.subject = node;
            writer.class(terms.class);
            self.describe(&mut writer, message, terms);
        }
        if is_first {
            writer.subject = NodeRef::Session("");
            let name = self.info.into_iter().flat_map(json::members).find(|(member, _)| *member == "name");
            writer.literal(named, name.and_then(|(_, name)| json::string(name)), xsd::STRING);
        }
    }

    fn describe(&self, writer: &mut StatementWriter<'_, 'a>, message: Name, terms: &SideTerms) {
        for (name, value) in self.info.into_iter().flat_map(json::members) {
            let property = match name {
                "name" => Some(terms.words.name),
                "title" => terms.words.title,
                "version" => Some(terms.words.version),
                _ => None,
            };
            if let Some(property) = property {
                writer.literal(property, json::string(value), xsd::STRING);
            }
        }
        writer.literal(mcp::HAS_PROTOCOL_VERSION, self.version.and_then(json::string), xsd::STRING);
        let capabilities = self.capabilities(terms.words.groups);
        let node = |index| NodeRef::Part(message, ProtocolPart { kind: PartKind::Capability, index });
        (1..).zip(&capabilities).for_each(|(index, _)| writer.link(terms.has_capability, node(index)));
        for (index, (name, value)) in (1..).zip(capabilities) {
            writer.subject = node(index);
            writer.class(terms.capability);
            writer.literal(terms.words.name, name, xsd::STRING);
            writer.add(rpcg::VALUE, StatementObject::Json(value.into(), self.interoperable));
        }
    }

    /// Returns the name and the settings of each capability. The name of a group is a prefix to the names in it.
    fn capabilities(&self, groups: &[&str]) -> Vec<(Option<Cow<'a, str>>, &'a str)> {
        let mut found = Vec::new();
        for (name, value) in self.capabilities.into_iter().flat_map(json::members) {
            if groups.contains(&name) && value.starts_with('{') {
                let inside = json::members(value);
                found.extend(inside.map(|(inner, value)| {
                    (json::unescaped(inner).map(|inner| format!("{name}.{inner}").into()), value)
                }));
            } else {
                found.push((json::unescaped(name), value));
            }
        }
        found
    }
}
