//! The mapping `bblock`: an unchanged message under the building block's context, without members that JSON-LD would
//! interpret as keywords.

use std::rc::Rc;

use oxiri::{Iri, IriRef};

use super::data::{DataWriter, MemberTally};
use super::loss::{Loss, Losses};
use super::reference::ReferenceError;
use super::shape::Shape;
use super::triples::TripleWriter;
use super::walk::{BlockTerm, MessageWalk, NodeWriter as _};
use crate::context;
use crate::json::{Object, Value};
use crate::message::{Content, ErrorMember, Id, Message, Payload, Single};
use crate::session::triples::{BlankName, NodeRef, TripleSink};
use crate::vocab::jrpc;

/// Returns the object of a message, and counts what the mapping loses of the message as a whole.
fn object<'v>(value: &'v Value<'v>, losses: &mut Losses) -> Option<&'v Object<'v>> {
    let Value::Object(object) = value else {
        losses.add(Loss::NoObject);
        return None;
    };
    if value.evidence().duplicate_member {
        losses.add(Loss::DuplicateMember);
    }
    if matches!(object.get("id"), Some(Value::Null)) {
        losses.add(Loss::NullId);
    }
    Some(object)
}

/// Pushes the triples of a message whose terms are all compiled, and returns the next free blank node; otherwise the
/// reason why only the reference path can produce them.
pub(super) fn push(
    value: &Value<'_>,
    shape: &Rc<Shape>,
    blanks: BlankName,
    triples: &mut impl TripleSink,
    losses: &mut Losses,
) -> Result<Result<BlankName, &'static str>, ReferenceError> {
    let Value::Object(object) = value else {
        losses.add(Loss::NoObject);
        return Ok(Ok(blanks));
    };
    let mut tally = MemberTally::default();
    DataWriter { out: None, tally: &mut tally, blanks }.members(shape, &object.members)?;
    if let Some(reason) = tally.uncovered {
        return Ok(Err(reason));
    }
    self::object(value, losses);
    losses.merge(&tally.losses);
    Ok(Ok(TripleWriter::new(triples, blanks).object(&object.members, shape)))
}

/// Appends a message's document, after a comma unless it is the first.
pub(super) fn write(
    value: &Value<'_>,
    shape: &Rc<Shape>,
    blanks: BlankName,
    out: &mut String,
    losses: &mut Losses,
) -> Result<(), ReferenceError> {
    let Some(object) = object(value, losses) else { return Ok(()) };
    if !out.is_empty() {
        out.push(',');
    }
    out.push('{');
    let mut tally = MemberTally::default();
    let result = DataWriter { out: Some(out), tally: &mut tally, blanks }.members(shape, &object.members);
    losses.merge(&tally.losses);
    out.push('}');
    result
}

/// The fast path: messages whose members the context all maps unchanged.
pub(super) struct PlainMessages {
    /// The IRI prefix for an id that is a single path segment, if the base has one.
    folder: Option<String>,
}

impl PlainMessages {
    /// Creates the fast path. Ids resolve against `iri` if it is in the context, and otherwise against the building
    /// block's own base.
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

    /// Pushes the triples of a message and returns the next free blank node; `None` if the fast path does not cover the
    /// message.
    pub fn push(
        &self,
        content: &Content<'_>,
        mut blank: BlankName,
        triples: &mut impl TripleSink,
    ) -> Option<BlankName> {
        let Content::Single(Single::Message(message)) = content else { return None };
        let id = self.id(message)?;
        let error = match &message.error {
            None => None,
            Some(ErrorMember::Object(error))
                if error.extra.is_none()
                    && is_canonical(error.data.as_ref())
                    && error.code.as_deref().is_none_or(is_short) =>
            {
                Some(error)
            }
            Some(_) => return None,
        };
        let covered = message.extra.is_none()
            && message.text.is_none()
            && is_canonical(message.params.as_ref())
            && is_canonical(message.result.as_ref());
        if !covered {
            return None;
        }
        let own = blank.mint();
        let writer = TripleWriter::new(triples, own);
        let mut walk = MessageWalk { writer, provenance: false, session: "", statements: &[] };
        walk.writer.open(NodeRef::Blank(own));
        walk.members(message, None, |writer| match &id {
            PlainId::None => {}
            PlainId::Integer(digits) => writer.integer_member(BlockTerm::termless(jrpc::HAS_ID), digits),
            PlainId::Iri(iri) => writer.link(jrpc::HAS_ID, NodeRef::Iri(iri)),
        });
        if let Some(error) = error {
            let node = NodeRef::Blank(blank.mint());
            walk.writer.link(jrpc::HAS_ERROR, node);
            walk.writer.open(node);
            walk.error_members(error, None);
        }
        Some(blank)
    }

    /// Returns the object of `jrpc:hasId`; `None` if only the reference path can determine it.
    fn id<'m>(&self, message: &'m Message<'_>) -> Option<PlainId<'m>> {
        match &message.id {
            None => Some(PlainId::None),
            Some(Id::Null) => None,
            Some(Id::Number(digits)) => is_short(digits).then_some(PlainId::Integer(digits)),
            Some(Id::String(text)) => {
                let segment =
                    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
                        && !text.is_empty()
                        && !text.starts_with('.');
                let folder = self.folder.as_ref().filter(|_| segment)?;
                Some(PlainId::Iri(format!("{folder}{text}")))
            }
        }
    }
}

enum PlainId<'m> {
    None,
    Integer(&'m str),
    Iri(String),
}

/// Returns true if an integer is short enough for a double and any JSON-LD processor.
fn is_short(digits: &str) -> bool {
    digits.len() <= 15 && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// Returns true if a payload is absent, or in the canonical form that all processors agree on.
fn is_canonical(payload: Option<&Payload<'_>>) -> bool {
    payload.is_none_or(|payload| payload.canonical.interoperable)
}
