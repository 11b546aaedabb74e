//! The content of tool results and resources: items, without their texts and bytes, which the payload holds.

use std::borrow::Cow;

use oxrdf::NamedNodeRef;
use oxrdf::vocab::xsd;

use super::makers::MakerTerms;
use super::{Maker, Statement, StatementObject, StatementWriter};
use crate::json::Cursor;
use crate::session::Name;
use crate::session::triples::{NodeRef, PartKind, ProtocolPart};
use crate::vocab::{mcp, rpcg};

/// The classes of items by the values of their members `type`; the last is for any other value.
const CLASSES: [(&str, NamedNodeRef<'static>); 6] = [
    ("text", mcp::TEXT_CONTENT),
    ("image", mcp::IMAGE_CONTENT),
    ("audio", mcp::AUDIO_CONTENT),
    ("resource", mcp::EMBEDDED_RESOURCE),
    ("resource_link", mcp::RESOURCE_LINK),
    ("", mcp::CONTENT),
];

pub(super) fn maker() -> MakerTerms {
    let properties = [
        mcp::HAS_CONTENT,
        mcp::HAS_CONTENTS,
        mcp::HAS_CONTENT_TYPE,
        mcp::HAS_MIME_TYPE,
        rpcg::URI,
        rpcg::SIZE,
        mcp::BLOB_RESOURCE_CONTENTS,
        mcp::TEXT_RESOURCE_CONTENTS,
    ];
    let classes = CLASSES.iter().map(|(_, class)| *class);
    MakerTerms::new(Maker::Content, Vec::new(), properties.into_iter().chain(classes).collect())
}

/// An item of content.
pub(crate) struct ContentItem<'a> {
    class: NamedNodeRef<'static>,
    kind: Option<Cow<'a, str>>,
    mime_type: Option<Cow<'a, str>>,
    uri: Option<Cow<'a, str>>,
    size: usize,
}

impl<'a> ContentItem<'a> {
    /// Reads the items of an array in canonical JSON. Any other value does not have items.
    pub fn all(content: &'a str) -> Vec<Self> {
        let mut items = Vec::new();
        Cursor::new(content, 0).each(b'[', |item| {
            items.push(Self::read(item));
            Some(())
        });
        items
    }

    fn read(text: &mut Cursor<'a>) -> Self {
        let mut item = Self { class: mcp::CONTENT, kind: None, mime_type: None, uri: None, size: 0 };
        let start = text.at();
        let members = text.each_member(|name, value| match name {
            "type" => item.kind = value.text_value(),
            "mimeType" => item.mime_type = value.text_value(),
            "uri" => item.uri = value.text_value(),
            "blob" => item.class = mcp::BLOB_RESOURCE_CONTENTS,
            "text" => item.class = mcp::TEXT_RESOURCE_CONTENTS,
            // An embedded resource holds these members itself.
            "resource" => drop(value.each_member(|name, value| match name {
                "mimeType" => item.mime_type = value.text_value(),
                "uri" => item.uri = value.text_value(),
                _ => {}
            })),
            _ => {}
        });
        if members.is_none() {
            text.pass_canonical(0);
        }
        item.size = text.at() - start;
        if let Some(kind) = item.kind.as_deref() {
            let known = CLASSES.iter().find(|(name, _)| *name == kind);
            item.class = known.map_or(mcp::CONTENT, |(_, class)| *class);
        }
        item
    }
}

/// States that the owner has these items, which the message introduced, and then describes each item.
pub(super) fn say_content<'a>(
    owner: NodeRef<'a>,
    property: NamedNodeRef<'static>,
    items: Vec<ContentItem<'a>>,
    message: Name,
    out: &mut Vec<Statement<'a>>,
) {
    let node = |index| NodeRef::Part(message, ProtocolPart { kind: PartKind::Content, index });
    let mut writer = StatementWriter::new(Maker::Content, out, owner);
    (1..).zip(&items).for_each(|(index, _)| writer.link(property, node(index)));
    for (index, item) in (1..).zip(items) {
        writer.subject = node(index);
        writer.class(item.class);
        writer.literal(mcp::HAS_CONTENT_TYPE, item.kind, xsd::STRING);
        writer.literal(mcp::HAS_MIME_TYPE, item.mime_type, xsd::STRING);
        writer.literal(rpcg::URI, item.uri, xsd::ANY_URI);
        writer.add(rpcg::SIZE, StatementObject::Count(item.size as u64));
    }
}
