//! Clients and servers, as they tell of themselves.

use oxrdf::NamedNodeRef;
use oxrdf::vocab::xsd;

use super::{Key, Said, Speaker, Statement, key};
use crate::json;
use crate::record::Sender;
use crate::session::Name;
use crate::triples::{NodeRef, Part, PartKind};
use crate::vocab::{mcp, rpcg};

/// What a side tells of itself, in canonical JSON.
pub(crate) struct Introduction<'a> {
    info: Option<&'a str>,
    version: Option<&'a str>,
    capabilities: Option<&'a str>,
    interoperable: bool,
    /// Stands for all of it.
    key: Key,
}

/// A side that was introduced: the message that did, and what stands for what it said.
pub(super) type KnownSide = (Name, Key);

impl<'a> Introduction<'a> {
    /// One that names a program, or says what it can do.
    pub fn new(
        info: Option<&'a str>,
        version: Option<&'a str>,
        capabilities: Option<&'a str>,
        interoperable: bool,
    ) -> Option<Self> {
        let says = info.is_some() || capabilities.is_some();
        says.then(|| Self { info, version, capabilities, interoperable, key: key((info, version, capabilities)) })
    }

    /// Says that a message introduces a side: the one that is known, if it says the same.
    pub fn say(self, side: Sender, known: &mut Option<KnownSide>, message: Name, out: &mut Vec<Statement<'a>>) {
        let same = known.filter(|(_, key)| *key == self.key);
        let (name, _) = *known.insert(same.unwrap_or((message, self.key)));
        let (kind, class, property, capability) = match side {
            Sender::Client => (PartKind::Client, mcp::MCP_CLIENT, rpcg::CLIENT_CAPABILITIES, mcp::CLIENT_CAPABILITIES),
            Sender::Server => (PartKind::Server, mcp::MCP_SERVER, mcp::HAS_CAPABILITIES, mcp::SERVER_CAPABILITIES),
        };
        let node = NodeRef::Part(name, Part { kind, index: 0 });
        let mut speaker = Speaker::new(out, NodeRef::Message(message));
        speaker.link(rpcg::INTRODUCES, node);
        if same.is_none() {
            speaker.subject = node;
            speaker.class(class);
            self.describe(&mut speaker, message, property, capability);
        }
    }

    fn describe(
        &self,
        speaker: &mut Speaker<'_, 'a>,
        message: Name,
        property: NamedNodeRef<'static>,
        class: NamedNodeRef<'static>,
    ) {
        for (name, value) in self.info.into_iter().flat_map(json::members) {
            let property = match name {
                "name" => mcp::HAS_NAME,
                "title" => mcp::HAS_TITLE,
                "version" => mcp::HAS_VERSION,
                _ => continue,
            };
            speaker.literal(property, json::string(value), xsd::STRING);
        }
        speaker.literal(mcp::HAS_PROTOCOL_VERSION, self.version.and_then(json::string), xsd::STRING);
        let node = |index| NodeRef::Part(message, Part { kind: PartKind::Capability, index });
        let capabilities = || (1..).zip(self.capabilities.into_iter().flat_map(json::members));
        capabilities().for_each(|(index, _)| speaker.link(property, node(index)));
        for (index, (name, value)) in capabilities() {
            speaker.subject = node(index);
            speaker.class(class);
            speaker.literal(mcp::HAS_NAME, json::unescaped(name), xsd::STRING);
            speaker.say(rpcg::VALUE, Said::Json(value.into(), self.interoperable));
        }
    }
}
