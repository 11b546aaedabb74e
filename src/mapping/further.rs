//! Which members of a message a further context maps, decided before anything of the message is written.
//!
//! This is what [`document`](super::document) does about further contexts, for the fast path: the same members are
//! mapped, the same are kept in `rpcg:extraMembers`, and what cannot be told here takes the reference path.

use std::borrow::Cow;
use std::rc::Rc;

use oxrdf::NamedNodeRef;
use oxrdf::vocab::xsd;

use super::document::{Further, leaves_nothing};
use super::loss::{Loss, Losses};
use super::plan::{Entry, NotCovered};
use super::shape::Shape;
use crate::json::{Text, Value};
use crate::message::{ErrorMember, Member, Message, Payload};
use crate::vocab::jrpc;

/// What is to be written of a message or an error in place of its members.
#[derive(Default)]
pub(super) struct Members<'e> {
    /// Names of the members that the built-in contexts map no longer.
    pub taken: Vec<&'static str>,
    /// Members under the terms that map them.
    pub mapped: Vec<(Rc<Entry>, Held<'e>)>,
    /// What is kept in `rpcg:extraMembers`.
    pub extra: Vec<Member<'e>>,
}

/// A value of the message, or one that was made of a part of it.
pub(super) enum Held<'e> {
    Lent(&'e Value<'e>),
    Own(Value<'e>),
}

impl<'e> Held<'e> {
    /// The value.
    pub fn get(&self) -> &Value<'e> {
        match self {
            Self::Lent(value) => value,
            Self::Own(value) => value,
        }
    }
}

/// What is to be written of a message.
#[derive(Default)]
pub(super) struct MessagePlan<'e> {
    pub message: Members<'e>,
    pub error: Members<'e>,
    pub losses: Losses,
}

impl Members<'_> {
    /// Whether the built-in contexts map the member.
    pub fn keeps(&self, name: &str) -> bool {
        !self.taken.contains(&name)
    }
}

impl<'e> MessagePlan<'e> {
    /// Decides about the members of a message.
    pub fn new(further: &Further, message: &'e Message<'e>) -> Result<Self, NotCovered> {
        let mut plan = Self::default();
        let root = further.root();
        let losses = &mut plan.losses;
        for (name, property, text) in
            [("jsonrpc", jrpc::VERSION, &message.version), ("method", jrpc::HAS_METHOD, &message.method)]
        {
            if let Some(text) = text
                && !is_string(&*entry(root, name)?, property)
            {
                let value = Value::String(Text::Unicode(Cow::Borrowed(text)));
                plan.message.take(root, name, Held::Own(value), losses)?;
            }
        }
        for (name, property, payload) in
            [("params", jrpc::HAS_PARAMETERS, &message.params), ("result", jrpc::HAS_RESULT, &message.result)]
        {
            if let Some(payload) = payload
                && !is_json(&*entry(root, name)?, property)
            {
                plan.message.take(root, name, value(payload), losses)?;
            }
        }
        if let Some(error) = &message.error {
            let shape = match &*entry(root, "error")? {
                Entry::Mapped(mapped)
                    if mapped.leads_to_nodes(jrpc::HAS_ERROR)
                        && mapped.below().active().base_iri() == root.active().base_iri() =>
                {
                    mapped.below().clone()
                }
                _ => return Err(NotCovered("another meaning of `error`")),
            };
            if let ErrorMember::Object(error) = error {
                if !is_integer(&*entry(&shape, "code")?)
                    || !is_string(&*entry(&shape, "message")?, jrpc::HAS_ERROR_MESSAGE)
                {
                    return Err(NotCovered("another meaning of `code` or `message`"));
                }
                if let Some(data) = &error.data {
                    let entry = entry(&shape, "data")?;
                    if !is_json(&entry, jrpc::HAS_ERROR_DATA) && !matches!(*entry, Entry::Unmapped) {
                        plan.error.take(&shape, "data", value(data), losses)?;
                    }
                }
                plan.error.extra_members(further, &shape, &error.extra, losses)?;
            }
        }
        plan.message.extra_members(further, root, &message.extra, losses)?;
        Ok(plan)
    }

    /// Whether a member was taken out that JSON-LD would have obeyed.
    pub fn has_keyword(&self) -> bool {
        self.losses.count(Loss::KeywordMember) > 0
    }
}

impl<'e> Members<'e> {
    /// Maps a member as the further context has it, and keeps it beside that if not all of it is mapped.
    fn take(
        &mut self,
        shape: &Rc<Shape>,
        name: &'static str,
        value: Held<'e>,
        losses: &mut Losses,
    ) -> Result<(), NotCovered> {
        self.taken.push(name);
        self.map(shape, Text::Unicode(Cow::Borrowed(name)), name, value, losses)
    }

    fn map(
        &mut self,
        shape: &Rc<Shape>,
        text: Text<'e>,
        name: &str,
        value: Held<'e>,
        losses: &mut Losses,
    ) -> Result<(), NotCovered> {
        let entry = entry(shape, name)?;
        let mut lost = Losses::default();
        entry.survey(shape, value.get(), &mut lost)?;
        if lost != Losses::default() || leaves_nothing(value.get()) {
            self.extra.push((text, value.get().clone()));
        }
        losses.merge(&lost);
        self.mapped.push((entry, value));
        Ok(())
    }

    fn extra_members(
        &mut self,
        further: &Further,
        shape: &Rc<Shape>,
        members: &'e [Member<'e>],
        losses: &mut Losses,
    ) -> Result<(), NotCovered> {
        for (name, value) in members {
            match name.as_str() {
                Some(term) if further.takes(term) => {
                    self.map(shape, name.clone(), term, Held::Lent(value), losses)?;
                }
                _ => self.extra.push((name.clone(), value.clone())),
            }
        }
        Ok(())
    }
}

fn entry(shape: &Rc<Shape>, name: &str) -> Result<Rc<Entry>, NotCovered> {
    shape.entry(name).map_err(|_| NotCovered("a scoped context that is none"))
}

fn value<'e>(payload: &'e Payload<'e>) -> Held<'e> {
    match payload {
        Payload::Value(value) => Held::Lent(value),
        Payload::Canonical { .. } => Held::Own(payload.value().into_owned()),
    }
}

fn is_json(entry: &Entry, property: NamedNodeRef<'_>) -> bool {
    matches!(entry, Entry::Json(own) if own.as_ref() == property)
}

fn is_string(entry: &Entry, property: NamedNodeRef<'_>) -> bool {
    matches!(entry, Entry::Mapped(mapped) if mapped.is_typed(property, xsd::STRING))
}

fn is_integer(entry: &Entry) -> bool {
    matches!(entry, Entry::Mapped(mapped) if mapped.is_typed(jrpc::HAS_ERROR_CODE, xsd::INTEGER))
}
