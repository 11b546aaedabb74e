//! What tools give and resources hold: items of content, without the texts and bytes in them, which the payload has.

use std::borrow::Cow;

use oxrdf::NamedNodeRef;
use oxrdf::vocab::xsd;

use super::{Said, Speaker, Statement};
use crate::json;
use crate::session::Name;
use crate::triples::{NodeRef, Part, PartKind};
use crate::vocab::{mcp, rpcg};

/// An item of content.
pub(crate) struct ContentItem<'a> {
    class: NamedNodeRef<'static>,
    kind: Option<Cow<'a, str>>,
    mime_type: Option<Cow<'a, str>>,
    uri: Option<Cow<'a, str>>,
    size: usize,
}

impl<'a> ContentItem<'a> {
    /// Those of an array in canonical JSON; there are none in any other value.
    pub fn all(content: &'a str) -> Vec<Self> {
        json::elements(content).map(Self::new).collect()
    }

    fn new(text: &'a str) -> Self {
        let mut item = Self { class: mcp::CONTENT, kind: None, mime_type: None, uri: None, size: text.len() };
        for (name, value) in json::members(text) {
            match name {
                "type" => item.kind = json::string(value),
                "mimeType" => item.mime_type = json::string(value),
                "uri" => item.uri = json::string(value),
                "blob" => item.class = mcp::BLOB_RESOURCE_CONTENTS,
                "text" => item.class = mcp::TEXT_RESOURCE_CONTENTS,
                // What is embedded has them in itself.
                "resource" => json::members(value).for_each(|(name, value)| match name {
                    "mimeType" => item.mime_type = json::string(value),
                    "uri" => item.uri = json::string(value),
                    _ => {}
                }),
                _ => {}
            }
        }
        item.class = match item.kind.as_deref() {
            Some("text") => mcp::TEXT_CONTENT,
            Some("image") => mcp::IMAGE_CONTENT,
            Some("audio") => mcp::AUDIO_CONTENT,
            Some("resource") => mcp::EMBEDDED_RESOURCE,
            Some("resource_link") => mcp::RESOURCE_LINK,
            Some(_) => mcp::CONTENT,
            None => item.class,
        };
        item
    }
}

/// Says of the open node that it has these items, which a message brought, and then of the items what they are.
pub(super) fn say_content<'a>(
    owner: NodeRef<'a>,
    property: NamedNodeRef<'static>,
    items: Vec<ContentItem<'a>>,
    message: Name,
    out: &mut Vec<Statement<'a>>,
) {
    let node = |index| NodeRef::Part(message, Part { kind: PartKind::Content, index });
    let mut speaker = Speaker::new(out, owner);
    (1..).zip(&items).for_each(|(index, _)| speaker.link(property, node(index)));
    for (index, item) in (1..).zip(items) {
        speaker.subject = node(index);
        speaker.class(item.class);
        speaker.literal(mcp::HAS_CONTENT_TYPE, item.kind, xsd::STRING);
        speaker.literal(mcp::HAS_MIME_TYPE, item.mime_type, xsd::STRING);
        speaker.literal(rpcg::URI, item.uri, xsd::ANY_URI);
        speaker.say(rpcg::SIZE, Said::Count(item.size as u64));
    }
}
