//! What a server offers: the definitions of its tools, resources, templates and prompts, as its lists show them.
//!
//! A definition is a node as long as each list shows it as it was: a run. Where a list shows another one under the same key, a
//! new run begins, also where the content was seen before. A definition is gone when all pages of a list were seen, one
//! after the other from the first, and it was on none of them.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::mem;

use oxrdf::NamedNodeRef;
use oxrdf::vocab::xsd;

use super::{Key, KeyMap, Said, Speaker, Statement, key};
use crate::json;
use crate::json::sha256;
use crate::session::Name;
use crate::session::triples::{NodeRef, Part, PartKind};
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

    /// The member of a result that lists them, and their member that tells them apart.
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

    /// The one that a member of a result lists.
    pub fn listed_by(member: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.members().0 == member)
    }
}

/// The members of a definition that are said of its node: strings, if they are; `None` stands for JSON.
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

/// A definition that a list shows.
pub(crate) struct Shown<'a> {
    /// Its place in the list, from 1.
    index: u32,
    key: Key,
    /// Its canonical text.
    text: &'a str,
    interoperable: bool,
    digest: String,
}

/// The definitions of a list, in canonical text. What has no key is not one.
pub(super) fn shown(kind: DefinitionKind, list: &str, interoperable: bool) -> Vec<Shown<'_>> {
    let found = (1..).zip(json::elements(list)).filter_map(|(index, text)| {
        let key = key(&json::string(json::member(text, kind.members().1)?)?);
        Some(Shown { index, key, text, interoperable, digest: sha256(text.as_bytes()) })
    });
    found.collect()
}

/// The definitions of one kind in a session.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    in_force: KeyMap<InForce>,
    /// Those that were removed, so that what comes back is known to be a revision.
    gone: KeyMap<DefinitionNode>,
    /// What was asked for while no definition of it was in force.
    undefined: KeyMap<DefinitionNode>,
    pass: Pass,
}

/// The message that brought a definition, and its place there.
type DefinitionNode = (Name, u32);

/// A definition that is in force.
#[derive(Debug)]
struct InForce {
    node: DefinitionNode,
    digest: String,
    /// The last message that showed it, and the pass that this was part of.
    shown_in: Name,
    pass: u64,
}

/// Reading a list page by page.
#[derive(Debug, Clone, Copy, Default)]
struct Pass {
    number: u64,
    /// Whether it began with the first page, and none is missing so far.
    whole: bool,
    /// Whether one before it was complete, so that what is new in it was added.
    again: bool,
    /// The cursor of the next page.
    next: Option<Key>,
}

impl Definitions {
    /// How many nodes are remembered.
    pub fn len(&self) -> usize {
        self.in_force.len() + self.gone.len() + self.undefined.len()
    }

    /// The node for what a request asks for by that key: the definition in force, or one that has only the key. `room`
    /// tells whether a new one may be remembered.
    pub fn find<'a>(
        &mut self,
        kind: DefinitionKind,
        (key, key_text): (Key, Cow<'a, str>),
        request: Name,
        room: bool,
        out: &mut Vec<Statement<'a>>,
    ) -> NodeRef<'static> {
        let known = self.in_force.get(&key).map(|found| found.node).or_else(|| self.undefined.get(&key).copied());
        let (class, part) = kind.class();
        let (name, index) = known.unwrap_or((request, 0));
        let node = NodeRef::Part(name, Part { kind: part, index });
        if known.is_none() {
            let mut speaker = Speaker::new(out, node);
            speaker.class(class);
            if let Some((_, property, Some(datatype))) = MEMBERS.iter().find(|(name, ..)| *name == kind.members().1) {
                speaker.say(*property, Said::Literal(key_text, *datatype));
            }
            if room {
                self.undefined.insert(key, (request, 0));
            }
        }
        node
    }

    /// Takes a page of a list: the definitions on it, the cursor that it was asked for with, and that of the next page. At most
    /// `room` further nodes are remembered.
    pub fn take<'a>(
        &mut self,
        kind: DefinitionKind,
        page: Vec<Shown<'a>>,
        cursors: (Option<Key>, Option<Key>),
        (message, mut room): (Name, usize),
        out: &mut Vec<Statement<'a>>,
    ) {
        let (asked, next) = cursors;
        if asked.is_none() || asked != self.pass.next {
            self.pass = Pass { number: self.pass.number + 1, whole: asked.is_none(), next: None, ..self.pass };
        }
        let (class, part) = kind.class();
        let node_ref = |(name, index)| NodeRef::Part(name, Part { kind: part, index });
        for shown in page {
            let found = self.in_force.get_mut(&shown.key);
            if let Some(found) = found.filter(|found| found.digest == shown.digest) {
                found.pass = self.pass.number;
                if mem::replace(&mut found.shown_in, message) != message {
                    Speaker::new(out, node_ref(found.node)).link(rpcg::DEFINED_IN, NodeRef::Message(message));
                }
                continue;
            }
            let node = (message, shown.index);
            let replaced = self.in_force.remove(&shown.key).map(|found| found.node);
            let before = replaced.or_else(|| self.gone.remove(&shown.key));
            self.undefined.remove(&shown.key);
            let mut speaker = Speaker::new(out, node_ref(node));
            speaker.class(class);
            describe(&mut speaker, &shown);
            if let Some(before) = before {
                speaker.link(prov::WAS_REVISION_OF, node_ref(before));
            }
            speaker.link(rpcg::DEFINED_IN, NodeRef::Message(message));
            if replaced.is_some() {
                speaker.link(rpcg::CHANGED_IN, NodeRef::Message(message));
            } else if self.pass.again {
                speaker.link(rpcg::ADDED_IN, NodeRef::Message(message));
            }
            if room > 0 || before.is_some() {
                room = room.saturating_sub(usize::from(before.is_none()));
                let pass = self.pass.number;
                self.in_force.insert(shown.key, InForce { node, digest: shown.digest, shown_in: message, pass });
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
                Speaker::new(out, node_ref(node)).link(rpcg::REMOVED_IN, NodeRef::Message(message));
                self.gone.insert(key, node);
            }
        }
    }
}

/// Says what a definition tells of itself.
fn describe<'a>(speaker: &mut Speaker<'_, 'a>, shown: &Shown<'a>) {
    let interoperable = shown.interoperable;
    let mut others = String::new();
    for (name, value) in json::members(shown.text) {
        let known = MEMBERS.iter().find(|(member, ..)| *member == name);
        match known.map(|(_, property, datatype)| (*property, *datatype, json::string(value))) {
            Some((property, Some(datatype), Some(text))) => speaker.say(property, Said::Literal(text, datatype)),
            Some((property, None, _)) => {
                speaker.say(property, Said::Json(Cow::Borrowed(value), interoperable));
            }
            _ => {
                let before = if others.is_empty() { '{' } else { ',' };
                let _ = write!(others, "{before}\"{name}\":{value}");
            }
        }
    }
    if !others.is_empty() {
        others.push('}');
        speaker.say(rpcg::EXTRA_MEMBERS, Said::Json(Cow::Owned(others), interoperable));
    }
    speaker.say(rpcg::DIGEST, Said::Literal(Cow::Owned(shown.digest.clone()), xsd::STRING));
    speaker.say(rpcg::SIZE, Said::Count(shown.text.len() as u64));
}
