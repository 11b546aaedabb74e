//! The mapping `bblock`: a message as it is, under the building block's context. What JSON-LD would obey is taken out.

use std::rc::Rc;

use oxiri::{Iri, IriRef};
use oxrdf::vocab::xsd;

use super::loss::{Loss, Losses};
use super::reference::ReferenceError;
use super::shape::{IriMembers, Rules, Shape};
use super::triples::{Blank, Node, Object, Triples};
use crate::context;
use crate::json::{Numbers, Value};
use crate::message::{Content, ErrorMember, ErrorObject, Id, Message, Payload, Single};
use crate::vocab::{jrpc, rdf};

/// Appends a message's document, behind a comma if there is one before it.
pub(super) fn write(
    value: &Value<'_>,
    shape: &Rc<Shape>,
    blanks: Blank,
    out: &mut String,
    losses: &mut Losses,
) -> Result<(), ReferenceError> {
    let Value::Object(object) = value else {
        losses.add(Loss::NoObject);
        return Ok(());
    };
    if value.evidence().duplicate_member {
        losses.add(Loss::DuplicateMember);
    }
    if matches!(object.get("id"), Some(Value::Null)) {
        losses.add(Loss::NullId);
    }
    if !out.is_empty() {
        out.push(',');
    }
    out.push('{');
    let rules = Rules { numbers: Numbers::Rfc8785, iri_members: IriMembers::Mapped, blanks };
    shape.write_members(&object.members, rules, out, losses)?;
    out.push('}');
    Ok(())
}

/// The fast path: messages of which the context maps every member as it is.
pub(super) struct Plain {
    /// What an id that is one segment of a path is appended to; none where there is no such thing.
    folder: Option<String>,
}

impl Plain {
    /// Ids resolve against `iri`, if it is in the context, and otherwise against the building block's own base.
    pub fn new(in_context: bool, iri: &str) -> Self {
        let own = context::builtin().first().and_then(|context| context.value().get("@base")?.as_str());
        let base = if in_context { Some(iri) } else { own };
        let folder = base.and_then(|base| {
            let base = Iri::parse(base).ok()?;
            let probe = base.resolve(&IriRef::parse("x").ok()?).ok()?.into_inner();
            probe.strip_suffix('x').map(str::to_owned)
        });
        Self { folder }
    }

    /// Pushes the triples of a message, and tells whether it was one that this covers.
    pub fn push(&self, content: &Content<'_>, blank: Blank, triples: &mut impl Triples) -> bool {
        let Content::Single(Single::Message(message)) = content else { return false };
        let Some(id) = self.id(message) else { return false };
        let error = match &message.error {
            None => None,
            Some(ErrorMember::Object(error)) if error.extra.is_empty() && is_canonical(error.data.as_ref()) => {
                match error.code.as_deref().is_none_or(is_short) {
                    true => Some(error),
                    false => return false,
                }
            }
            Some(_) => return false,
        };
        let covered = message.extra.is_empty()
            && message.text.is_none()
            && is_canonical(message.params.as_ref())
            && is_canonical(message.result.as_ref());
        if covered {
            push(message, &id, error, blank, triples);
        }
        covered
    }

    /// What `jrpc:hasId` says; nothing where only the reference path can tell.
    fn id(&self, message: &Message<'_>) -> Option<PlainId> {
        match &message.id {
            None => Some(PlainId::None),
            Some(Id::Null) => None,
            Some(Id::Number(digits)) => is_short(digits).then(|| PlainId::Integer(digits.to_string())),
            Some(Id::String(text)) => {
                let segment =
                    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
                        && !text.is_empty()
                        && !text.starts_with('.');
                segment.then(|| self.folder.as_ref().map(|folder| PlainId::Iri(format!("{folder}{text}"))))?
            }
        }
    }
}

enum PlainId {
    None,
    Integer(String),
    Iri(String),
}

/// Whether an integer is short enough for a double and any JSON-LD processor.
fn is_short(digits: &str) -> bool {
    digits.len() <= 15 && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

fn is_canonical(payload: Option<&Payload<'_>>) -> bool {
    !matches!(payload, Some(Payload::Value(_)))
}

/// The text of a payload that is in canonical form.
fn text<'a>(payload: Option<&Payload<'a>>) -> Option<&'a str> {
    match payload {
        Some(Payload::Canonical { text, .. }) => Some(text),
        _ => None,
    }
}

fn push(
    message: &Message<'_>,
    id: &PlainId,
    error: Option<&ErrorObject<'_>>,
    blank: Blank,
    triples: &mut impl Triples,
) {
    triples.subject(Node::Blank(blank));
    if let Some(version) = &message.version {
        triples.triple(jrpc::VERSION, Object::Text(version));
    }
    match id {
        PlainId::None => {}
        PlainId::Integer(digits) => triples.triple(jrpc::HAS_ID, Object::Typed(digits, xsd::INTEGER.as_str())),
        PlainId::Iri(iri) => triples.triple(jrpc::HAS_ID, Object::Node(Node::Iri(iri))),
    }
    if let Some(method) = &message.method {
        triples.triple(jrpc::HAS_METHOD, Object::Text(method));
    }
    if let Some(params) = text(message.params.as_ref()) {
        triples.triple(jrpc::HAS_PARAMETERS, Object::Typed(params, rdf::JSON.as_str()));
    }
    if let Some(result) = text(message.result.as_ref()) {
        triples.triple(jrpc::HAS_RESULT, Object::Typed(result, rdf::JSON.as_str()));
    }
    let Some(error) = error else { return };
    let node = Node::Blank(Blank { index: blank.index + 1, ..blank });
    triples.triple(jrpc::HAS_ERROR, Object::Node(node));
    triples.subject(node);
    if let Some(code) = &error.code {
        triples.triple(jrpc::HAS_ERROR_CODE, Object::Typed(code, xsd::INTEGER.as_str()));
    }
    if let Some(message) = &error.message {
        triples.triple(jrpc::HAS_ERROR_MESSAGE, Object::Text(message));
    }
    if let Some(data) = text(error.data.as_ref()) {
        triples.triple(jrpc::HAS_ERROR_DATA, Object::Typed(data, rdf::JSON.as_str()));
    }
}
