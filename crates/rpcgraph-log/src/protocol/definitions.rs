//! The definitions of a server's tools, resources, templates and prompts, as its lists show them.
//!
//! A node stands for a run: consecutive lists that show the same definition under a key. When a list shows another
//! definition under the key, a new run begins, even if that definition was seen before. A definition is removed once
//! all pages of a list were seen, in order from the first, and it was on none of them.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::mem;

use oxrdf::NamedNodeRef;
use oxrdf::vocab::xsd;

use super::makers::MakerTerms;
use super::{DigestMap, Maker, Statement, StatementObject, StatementWriter, TextDigest, key};
use crate::json;
use crate::json::sha256;
use crate::session::Name;
use crate::session::triples::{NodeRef, PartKind, ProtocolPart};
use crate::vocab::{mcp, prov, rpcg};

/// The kinds of definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DefinitionKind {
    Tool,
    Resource,
    Template,
    Prompt,
}

impl DefinitionKind {
    pub const ALL: [Self; 4] = [Self::Tool, Self::Resource, Self::Template, Self::Prompt];

    /// Returns the member of a result that lists definitions of this kind, and the member of a definition that is its
    /// key.
    fn members(self) -> (&'static str, &'static str) {
        match self {
            Self::Tool => ("tools", "name"),
            Self::Resource => ("resources", "uri"),
            Self::Template => ("resourceTemplates", "uriTemplate"),
            Self::Prompt => ("prompts", "name"),
        }
    }

    fn class(self) -> (NamedNodeRef<'static>, PartKind) {
        match self {
            Self::Tool => (mcp::TOOL, PartKind::Tool),
            Self::Resource => (mcp::RESOURCE, PartKind::Resource),
            Self::Template => (mcp::RESOURCE_TEMPLATE, PartKind::Template),
            Self::Prompt => (mcp::PROMPT, PartKind::Prompt),
        }
    }

    /// Returns the kinds of definitions whose list has changed, as a notification says.
    pub fn changed_by(method: &str) -> &'static [Self] {
        match method {
            "notifications/tools/list_changed" => &[Self::Tool],
            "notifications/resources/list_changed" => &[Self::Resource, Self::Template],
            "notifications/prompts/list_changed" => &[Self::Prompt],
            _ => &[],
        }
    }

    /// Returns the kind of definition that a member of a result lists.
    pub fn listed_by(member: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.members().0 == member)
    }
}

/// The members of a definition that become statements about its node, with their datatypes; `None` stands for JSON. A
/// member with a datatype counts only if it is a string.
const MEMBERS: [(&str, NamedNodeRef<'static>, Option<NamedNodeRef<'static>>); 10] = [
    ("annotations", mcp::HAS_ANNOTATIONS, None),
    ("arguments", mcp::HAS_ARGUMENTS, None),
    ("description", mcp::HAS_DESCRIPTION, Some(xsd::STRING)),
    ("inputSchema", mcp::HAS_INPUT_SCHEMA, None),
    ("mimeType", mcp::HAS_MIME_TYPE, Some(xsd::STRING)),
    ("name", mcp::HAS_NAME, Some(xsd::STRING)),
    ("outputSchema", mcp::HAS_OUTPUT_SCHEMA, None),
    ("title", mcp::HAS_TITLE, Some(xsd::STRING)),
    ("uri", mcp::HAS_URI, Some(xsd::ANY_URI)),
    ("uriTemplate", mcp::HAS_URI_TEMPLATE, Some(xsd::STRING)),
];

pub(super) fn maker() -> MakerTerms {
    let terms = [
        prov::WAS_REVISION_OF,
        rpcg::DEFINED_IN,
        rpcg::ADDED_IN,
        rpcg::CHANGED_IN,
        rpcg::REMOVED_IN,
        rpcg::EXTRA_MEMBERS,
        rpcg::DIGEST,
        rpcg::SIZE,
    ];
    let classes = DefinitionKind::ALL.into_iter().map(|kind| kind.class().0);
    let members = MEMBERS.iter().map(|(_, property, _)| *property);
    MakerTerms::new(Maker::Definition, Vec::new(), terms.into_iter().chain(classes).chain(members).collect())
}

/// A definition on a page of a list.
pub(crate) struct ListedDefinition<'a> {
    /// The position in the list, from 1.
    index: u32,
    key: TextDigest,
    /// The canonical text.
    text: &'a str,
    interoperable: bool,
    digest: String,
}

/// Returns the definitions of a list in canonical text. An element without a key is skipped.
pub(super) fn shown(kind: DefinitionKind, list: &str, interoperable: bool) -> Vec<ListedDefinition<'_>> {
    let found = (1..).zip(json::elements(list)).filter_map(|(index, text)| {
        let key = key(&json::string(json::member(text, kind.members().1)?)?);
        Some(ListedDefinition { index, key, text, interoperable, digest: sha256(text.as_bytes()) })
    });
    found.collect()
}

/// The definitions of one kind in a session.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    in_force: DigestMap<CurrentDefinition>,
    /// Removed definitions, so that a later one under the same key is linked as a revision.
    gone: DigestMap<DefinitionNode>,
    /// Nodes for keys that were used while no definition was in force.
    undefined: DigestMap<DefinitionNode>,
    pass: ListReading,
    /// The last message that said that the list has changed.
    notice: Option<Name>,
}

/// The message that introduced a definition, and its position there.
type DefinitionNode = (Name, u32);

/// A definition that is in force.
#[derive(Debug)]
struct CurrentDefinition {
    node: DefinitionNode,
    digest: String,
    /// The last message that showed the definition, and the pass that the message was part of.
    shown_in: Name,
    pass: u64,
}

/// One reading of a list, page by page.
#[derive(Debug, Clone, Copy, Default)]
struct ListReading {
    number: u64,
    /// True if the pass began with the first page and no page is missing so far.
    whole: bool,
    /// True if an earlier pass was complete, so that a new definition counts as added.
    again: bool,
    /// The cursor of the next page.
    next: Option<TextDigest>,
}

impl Definitions {
    /// The number of nodes in memory.
    pub fn len(&self) -> usize {
        self.in_force.len() + self.gone.len() + self.undefined.len()
    }

    /// Returns the node for the key in a request: the definition in force, or a node that has only the key. `room` is
    /// true if a new node may be remembered.
    pub fn find<'a>(
        &mut self,
        kind: DefinitionKind,
        (key, key_text): (TextDigest, Cow<'a, str>),
        request: Name,
        room: bool,
        out: &mut Vec<Statement<'a>>,
    ) -> NodeRef<'static> {
        let known = self.in_force.get(&key).map(|found| found.node).or_else(|| self.undefined.get(&key).copied());
        let (class, part) = kind.class();
        let (name, index) = known.unwrap_or((request, 0));
        let node = NodeRef::Part(name, ProtocolPart { kind: part, index });
        if known.is_none() {
            let mut writer = StatementWriter::new(Maker::Definition, out, node);
            writer.class(class);
            if let Some((_, property, Some(datatype))) = MEMBERS.iter().find(|(name, ..)| *name == kind.members().1) {
                writer.add(*property, StatementObject::Literal(key_text, *datatype));
            }
            if room {
                self.undefined.insert(key, (request, 0));
            }
        }
        node
    }

    /// Takes a message that says that the list has changed.
    pub fn changes(&mut self, notice: Name) {
        self.notice = Some(notice);
    }

    /// Returns true if the definition that was found for a key may not be the server's any more: the server said that its
    /// list has changed, or listed another definition or none, and has not listed this one again.
    pub fn is_outdated(&self, key: TextDigest, node: NodeRef<'static>) -> bool {
        let NodeRef::Part(message, ProtocolPart { index: index @ 1.., .. }) = node else { return false };
        let current = self.in_force.get(&key).filter(|current| current.node == (message, index));
        current.is_none_or(|current| self.notice.is_some_and(|notice| current.shown_in < notice))
    }

    /// Processes a page of a list: its definitions, the cursor of its request, and the cursor of the next page.
    /// Remembers at most `room` further nodes.
    pub fn take<'a>(
        &mut self,
        kind: DefinitionKind,
        page: Vec<ListedDefinition<'a>>,
        cursors: (Option<TextDigest>, Option<TextDigest>),
        (message, mut room): (Name, usize),
        out: &mut Vec<Statement<'a>>,
    ) {
        let (asked, next) = cursors;
        if asked.is_none() || asked != self.pass.next {
            self.pass = ListReading { number: self.pass.number + 1, whole: asked.is_none(), next: None, ..self.pass };
        }
        let (class, part) = kind.class();
        let node_ref = |(name, index)| NodeRef::Part(name, ProtocolPart { kind: part, index });
        for shown in page {
            let found = self.in_force.get_mut(&shown.key);
            if let Some(found) = found.filter(|found| found.digest == shown.digest) {
                found.pass = self.pass.number;
                if mem::replace(&mut found.shown_in, message) != message {
                    StatementWriter::new(Maker::Definition, out, node_ref(found.node))
                        .link(rpcg::DEFINED_IN, NodeRef::Message(message));
                }
                continue;
            }
            let node = (message, shown.index);
            let replaced = self.in_force.remove(&shown.key).map(|found| found.node);
            let before = replaced.or_else(|| self.gone.remove(&shown.key));
            self.undefined.remove(&shown.key);
            let mut writer = StatementWriter::new(Maker::Definition, out, node_ref(node));
            writer.class(class);
            describe(&mut writer, &shown);
            if let Some(before) = before {
                writer.link(prov::WAS_REVISION_OF, node_ref(before));
            }
            writer.link(rpcg::DEFINED_IN, NodeRef::Message(message));
            if replaced.is_some() {
                writer.link(rpcg::CHANGED_IN, NodeRef::Message(message));
            } else if self.pass.again {
                writer.link(rpcg::ADDED_IN, NodeRef::Message(message));
            }
            if room > 0 || before.is_some() {
                room = room.saturating_sub(usize::from(before.is_none()));
                let pass = self.pass.number;
                self.in_force
                    .insert(shown.key, CurrentDefinition { node, digest: shown.digest, shown_in: message, pass });
            }
        }
        self.pass.next = next;
        if next.is_none() && mem::take(&mut self.pass.whole) {
            self.pass.again = true;
            let number = self.pass.number;
            let removed = self.in_force.extract_if(|_, found| found.pass != number);
            let mut removed: Vec<_> = removed.map(|(key, found)| (found.node, key)).collect();
            removed.sort_unstable();
            for (node, key) in removed {
                StatementWriter::new(Maker::Definition, out, node_ref(node))
                    .link(rpcg::REMOVED_IN, NodeRef::Message(message));
                self.gone.insert(key, node);
            }
        }
    }
}

/// Appends the statements of a definition.
fn describe<'a>(writer: &mut StatementWriter<'_, 'a>, shown: &ListedDefinition<'a>) {
    let interoperable = shown.interoperable;
    let mut others = String::new();
    for (name, value) in json::members(shown.text) {
        let known = MEMBERS.iter().find(|(member, ..)| *member == name);
        match known.map(|(_, property, datatype)| (*property, *datatype, json::string(value))) {
            Some((property, Some(datatype), Some(text))) => {
                writer.add(property, StatementObject::Literal(text, datatype))
            }
            Some((property, None, _)) => {
                writer.add(property, StatementObject::Json(Cow::Borrowed(value), interoperable));
            }
            _ => {
                let before = if others.is_empty() { '{' } else { ',' };
                let _ = write!(others, "{before}\"{name}\":{value}");
            }
        }
    }
    if !others.is_empty() {
        others.push('}');
        writer.add(rpcg::EXTRA_MEMBERS, StatementObject::Json(Cow::Owned(others), interoperable));
    }
    writer.add(rpcg::DIGEST, StatementObject::Literal(Cow::Owned(shown.digest.clone()), xsd::STRING));
    writer.add(rpcg::SIZE, StatementObject::Count(shown.text.len() as u64));
}
