//! The members of a message that a further context maps, determined before any of the message is written.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

use oxrdf::vocab::xsd;

use super::data::{DataWriter, MemberTally};
use super::loss::{Loss, Losses};
use super::reference::ReferenceError;
use super::shape::{MemberMeaning, Shape};
use crate::context::Context;
use crate::json::{Number, Object, Text, Value};
use crate::message::{ErrorMember, ErrorObject, Member, Message, Payload, is_keyword_like};
use crate::session::triples::BlankName;
use crate::vocab::jrpc;

/// Further contexts, and the shape of a message's members under them.
pub(super) struct FurtherContexts {
    root: Rc<Shape>,
    terms: FurtherTerms,
}

/// The terms that further contexts define.
#[derive(Debug, Clone)]
pub(super) struct FurtherTerms {
    terms: BTreeSet<String>,
    /// True if the contexts set `@vocab`, which makes a property of every member.
    vocabulary: bool,
}

impl FurtherTerms {
    pub fn new(contexts: &[Context]) -> Self {
        let vocabulary = contexts.iter().any(Context::sets_vocab);
        let terms = contexts.iter().flat_map(|context| context.terms().iter().cloned()).collect();
        Self { terms, vocabulary }
    }
}

impl FurtherContexts {
    pub fn new(root: Rc<Shape>, terms: FurtherTerms) -> Self {
        Self { root, terms }
    }

    /// Returns true if further contexts map a member that the built-in contexts do not map.
    fn takes(&self, name: &str) -> bool {
        let builtin =
            matches!(name, "jsonrpc" | "id" | "method" | "params" | "result" | "error" | "code" | "message" | "data");
        let defined = self.terms.terms.contains(name) || self.terms.vocabulary && !name.contains(':');
        !builtin && !is_keyword_like(name) && defined
    }
}

/// A value of the message, or a value built from a part of it.
type HeldValue<'e> = Cow<'e, Value<'e>>;

/// The members to write of a message or an error.
#[derive(Default)]
pub(super) struct MembersPlan<'e> {
    /// The members that the built-in contexts no longer map.
    taken: Vec<&'static str>,
    /// The members that the built-in contexts still map, but without a term: written under the property's IRI.
    termless: Vec<&'static str>,
    /// The mapped members with their terms, for triples.
    pub values: Vec<(Rc<MemberMeaning>, HeldValue<'e>)>,
    /// The same members as JSON-LD text, with commas between them.
    pub text: String,
    /// The members for `rpcg:extraMembers`.
    pub extra: Vec<Member<'e>>,
}

/// The members to write of a message and its error.
#[derive(Default)]
pub(super) struct MessagePlan<'e> {
    pub message: MembersPlan<'e>,
    pub error: MembersPlan<'e>,
    /// True if a further context redefines `error`, and maps the error too; the error's node then stands by itself.
    pub error_apart: bool,
    pub tally: MemberTally,
}

impl MembersPlan<'_> {
    /// Returns `None` if the built-in contexts no longer map the member, otherwise true if the member keeps its term.
    pub fn keeps(&self, name: &str) -> Option<bool> {
        (!self.taken.contains(&name)).then(|| !self.termless.contains(&name))
    }
}

impl<'e> MessagePlan<'e> {
    /// Plans the members of a message: as JSON-LD text if `written`, otherwise as values.
    pub fn new(
        further: &FurtherContexts,
        message: &'e Message<'e>,
        blanks: BlankName,
        written: bool,
    ) -> Result<Self, ReferenceError> {
        let mut plan = Self::default();
        let root = &further.root;
        let scope = &mut MemberScope { further, shape: root, blanks, written, tally: &mut plan.tally };
        for (name, property, text) in
            [("jsonrpc", jrpc::VERSION, &message.version), ("method", jrpc::HAS_METHOD, &message.method)]
        {
            if let Some(text) = text
                && !root.term(name)?.is_typed(property, xsd::STRING)
            {
                plan.message.take(scope, name, string(text))?;
            }
        }
        for (name, property, payload) in
            [("params", jrpc::HAS_PARAMETERS, &message.params), ("result", jrpc::HAS_RESULT, &message.result)]
        {
            if let Some(payload) = payload
                && !root.term(name)?.is_json(property)
            {
                plan.message.take(scope, name, Cow::Owned(payload.value()))?;
            }
        }
        if let Some(error) = &message.error {
            let term = root.term("error")?;
            // Our own names must resolve under a scoped context as they do outside.
            let below = term
                .leads_to_nodes(jrpc::HAS_ERROR)
                .filter(|below| below.active().base_iri() == root.active().base_iri());
            if below.is_none() {
                scope.tally.uncovered("another meaning of `error`");
                plan.message.take(scope, "error", Cow::Owned(error_value(error)))?;
                plan.error_apart = true;
            }
            if let ErrorMember::Object(error) = error {
                let scope = &mut MemberScope { shape: below.unwrap_or(root), tally: scope.tally, ..*scope };
                plan.error.error(scope, error)?;
            }
        }
        plan.message.extra_members(scope, message.extra.as_deref())?;
        Ok(plan)
    }

    /// Returns true if a member named like a keyword was removed.
    pub fn has_keyword(&self) -> bool {
        self.tally.losses.count(Loss::KeywordMember) > 0
    }
}

/// The place of the members being planned.
struct MemberScope<'p> {
    further: &'p FurtherContexts,
    shape: &'p Rc<Shape>,
    blanks: BlankName,
    written: bool,
    tally: &'p mut MemberTally,
}

impl<'e> MembersPlan<'e> {
    /// Plans the members of an error. Each keeps its meaning in the building block unless a further context redefines
    /// it.
    fn error(&mut self, scope: &mut MemberScope<'_>, error: &'e ErrorObject<'e>) -> Result<(), ReferenceError> {
        let code = |term: &MemberMeaning| term.is_typed(jrpc::HAS_ERROR_CODE, xsd::INTEGER);
        let message = |term: &MemberMeaning| term.is_typed(jrpc::HAS_ERROR_MESSAGE, xsd::STRING);
        let data = |term: &MemberMeaning| term.is_json(jrpc::HAS_ERROR_DATA);
        if let Some(digits) = error.code.as_deref()
            && self.has_changed(scope, "code", code)?
        {
            self.take(scope, "code", Cow::Owned(Value::Number(Number::new(digits))))?;
        }
        if let Some(text) = error.message.as_deref()
            && self.has_changed(scope, "message", message)?
        {
            self.take(scope, "message", string(text))?;
        }
        if let Some(payload) = &error.data
            && self.has_changed(scope, "data", data)?
        {
            self.take(scope, "data", Cow::Owned(payload.value()))?;
        }
        self.extra_members(scope, error.extra.as_deref())
    }

    fn has_changed(
        &mut self,
        scope: &MemberScope<'_>,
        name: &'static str,
        is_same: impl Fn(&MemberMeaning) -> bool,
    ) -> Result<bool, ReferenceError> {
        let term = scope.shape.term(name)?;
        let unmapped = matches!(*term, MemberMeaning::Unmapped | MemberMeaning::KeyedByIri | MemberMeaning::Alias(_));
        if unmapped {
            self.termless.push(name);
        }
        Ok(!unmapped && !is_same(&term))
    }

    fn take(
        &mut self,
        scope: &mut MemberScope<'_>,
        name: &'static str,
        value: HeldValue<'e>,
    ) -> Result<(), ReferenceError> {
        self.taken.push(name);
        self.map(scope, Text::Unicode(Cow::Borrowed(name)), name, value)
    }

    /// Maps a member as the further context defines it, and also keeps it as an extra member unless all of it is
    /// mapped.
    fn map(
        &mut self,
        scope: &mut MemberScope<'_>,
        text: Text<'e>,
        name: &str,
        value: HeldValue<'e>,
    ) -> Result<(), ReferenceError> {
        let mut tally = MemberTally::default();
        let out = scope.written.then_some(&mut self.text);
        DataWriter { out, tally: &mut tally, blanks: scope.blanks }.member(scope.shape, name, &value)?;
        if tally.losses != Losses::default() || leaves_nothing(&value) {
            self.extra.push((text, value.clone().into_owned()));
        }
        scope.tally.merge(&tally);
        if !scope.written {
            self.values.push((scope.shape.term(name)?, value));
        }
        Ok(())
    }

    fn extra_members(
        &mut self,
        scope: &mut MemberScope<'_>,
        extra: Option<&'e Payload<'e>>,
    ) -> Result<(), ReferenceError> {
        for (name, value) in extra.into_iter().flat_map(members_of) {
            match name.as_str() {
                Some(term)
                    if scope.further.takes(term) && !matches!(*scope.shape.term(term)?, MemberMeaning::Alias(_)) =>
                {
                    self.map(scope, name.clone(), term, Cow::Owned(value))?;
                }
                _ => self.extra.push((name, value)),
            }
        }
        Ok(())
    }
}

/// Returns the members of an object.
fn members_of<'e>(object: &'e Payload<'e>) -> Vec<Member<'e>> {
    if let Value::Object(object) = object.value() { object.members } else { Vec::new() }
}

fn string(text: &str) -> HeldValue<'_> {
    Cow::Owned(Value::String(Text::Unicode(Cow::Borrowed(text))))
}

/// Returns true if the value, or a part of it, does not produce a triple: JSON-LD drops nulls, empty arrays and arrays
/// of nulls.
fn leaves_nothing(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::Array(array) => array.items.is_empty() || array.items.iter().any(leaves_nothing),
        Value::Object(object) => object.members.iter().any(|(_, value)| leaves_nothing(value)),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns the original error as one JSON value.
fn error_value<'e>(error: &'e ErrorMember<'e>) -> Value<'e> {
    let object = match error {
        ErrorMember::Other(payload) => return payload.value(),
        ErrorMember::Object(object) => object,
    };
    let code = object.code.as_deref().map(|code| Value::Number(Number::new(code)));
    let message = object.message.as_deref().map(|message| string(message).into_owned());
    let data = object.data.as_ref().map(Payload::value);
    let named = |(name, value): (_, Option<Value<'e>>)| Some((Text::Unicode(Cow::Borrowed(name)), value?));
    let members = [("code", code), ("message", message), ("data", data)].into_iter().filter_map(named);
    Value::Object(Object::from_members(
        members.chain(object.extra.as_deref().into_iter().flat_map(members_of)).collect(),
    ))
}
