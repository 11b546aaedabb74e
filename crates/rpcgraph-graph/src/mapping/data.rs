//! Members of the log as JSON-LD, limited to what JSON-LD may see; or only a count of the losses.

use std::borrow::Cow;
use std::rc::Rc;

use super::loss::{Loss, Losses};
use super::reference::ReferenceError;
use super::shape::{AcceptedValues, MappedTerm, MemberMeaning, NodeKeyword, Shape, Strings};
use crate::json::{self, Canonical, Number, Numbers, Object, Value};
use crate::message::{Member, is_keyword_like};
use crate::session::triples::BlankName;
use crate::vocab::{jrpc, rdf};

/// The reason why the reference path produces the triples of nodes that a log names.
const ALIAS: &str = "aliases of keywords";

/// The result of examining members.
#[derive(Default)]
pub(super) struct MemberTally {
    pub losses: Losses,
    /// The reason why only the reference path can produce their triples, if so.
    pub uncovered: Option<&'static str>,
}

impl MemberTally {
    pub fn uncovered(&mut self, reason: &'static str) {
        self.uncovered.get_or_insert(reason);
    }

    pub fn merge(&mut self, other: &Self) {
        self.losses.merge(&other.losses);
        other.uncovered.into_iter().for_each(|reason| self.uncovered(reason));
    }
}

/// Writes the members that a context maps.
pub(super) struct DataWriter<'w> {
    /// `None` if only the tally is wanted.
    pub out: Option<&'w mut String>,
    pub tally: &'w mut MemberTally,
    /// Prefix of the blank nodes of this record, unique in the log.
    pub blanks: BlankName,
}

/// The place of a value.
#[derive(Clone, Copy)]
struct ValuePlace<'s> {
    /// The shape that its term belongs to.
    shape: &'s Shape,
    term: &'s MappedTerm,
    takes: AcceptedValues,
    keyed: Option<AcceptedValues>,
    /// True if the value is the list itself, or its only item.
    list: bool,
}

impl DataWriter<'_> {
    /// Writes the members of an object that the context maps, with commas between them.
    pub fn members(&mut self, shape: &Rc<Shape>, members: &[Member<'_>]) -> Result<(), ReferenceError> {
        for (name, value) in members {
            match name.as_str() {
                None => self.tally.losses.add(Loss::UnmappedMember),
                Some(name) if is_keyword_like(name) => self.tally.losses.add(Loss::KeywordMember),
                Some(name) => self.member(shape, name, value)?,
            }
        }
        Ok(())
    }

    /// Writes the members of a node in a payload, where aliases of keywords name the node and its classes.
    fn node(&mut self, shape: &Rc<Shape>, members: &[Member<'_>]) -> Result<(), ReferenceError> {
        let mut known = Vec::new();
        for member in members {
            let name = member.0.as_str().filter(|name| !is_keyword_like(name));
            let term = name.map(|name| shape.term(name)).transpose()?;
            match term.as_deref() {
                Some(MemberMeaning::Alias(keyword)) if !known.contains(keyword) => {
                    known.push(*keyword);
                    self.alias(shape, *keyword, &member.1);
                }
                Some(MemberMeaning::Alias(_)) => self.tally.losses.add(Loss::KeywordMember),
                _ => self.members(shape, std::slice::from_ref(member))?,
            }
        }
        Ok(())
    }

    fn alias(&mut self, shape: &Shape, keyword: NodeKeyword, value: &Value<'_>) {
        let values = match (value, keyword) {
            (Value::Array(array), NodeKeyword::Type) => array.items.as_slice(),
            (one, _) => std::slice::from_ref(one),
        };
        let mut iris = Vec::new();
        for value in values {
            let Value::String(text) = value else {
                self.tally.losses.add(Loss::NotTaken);
                continue;
            };
            let blank = text.as_str().filter(|text| keyword == NodeKeyword::Id && text.starts_with("_:"));
            match blank.map(|text| self.own(text).into_owned()).or_else(|| shape.node_iri(keyword, text.as_str()?)) {
                Some(iri) => iris.push(iri),
                None => self.tally.losses.add(Loss::NoIri),
            }
        }
        if iris.is_empty() {
            return;
        }
        self.tally.uncovered(ALIAS);
        self.key(if keyword == NodeKeyword::Id { "@id" } else { "@type" });
        let is_list = keyword == NodeKeyword::Type;
        self.raw(if is_list { "[" } else { "" });
        for (index, iri) in iris.iter().enumerate() {
            self.raw(if index > 0 { "," } else { "" });
            self.string(iri);
        }
        self.raw(if is_list { "]" } else { "" });
    }

    /// Writes one member, or nothing if the context does not map it.
    pub fn member(&mut self, shape: &Rc<Shape>, name: &str, value: &Value<'_>) -> Result<(), ReferenceError> {
        let start = self.out.as_ref().map_or(0, |out| out.len());
        match &*shape.term(name)? {
            MemberMeaning::Unmapped => self.tally.losses.add(Loss::UnmappedMember),
            MemberMeaning::KeyedByIri => self.tally.losses.add(Loss::KeyedByIri),
            // The id of the message stays one, where its term is an alias.
            MemberMeaning::Alias(_) if name == "id" => {
                self.tally.uncovered(ALIAS);
                let term = &MappedTerm::node(shape, jrpc::HAS_ID);
                self.key(jrpc::HAS_ID.as_str());
                let place = ValuePlace { shape, term, takes: term.takes, keyed: None, list: false };
                if !self.value(place, value)? {
                    self.truncate(start);
                }
            }
            MemberMeaning::Alias(_) => self.tally.losses.add(Loss::KeywordMember),
            MemberMeaning::Json(property) => {
                let property = property.as_ref().map(|property| property.as_str());
                if self.json(name, property, value, shape.rules().numbers).is_none() {
                    self.truncate(start);
                }
            }
            MemberMeaning::Mapped(term) => {
                term.uncovered.into_iter().for_each(|reason| self.tally.uncovered(reason));
                if self.out.is_none() && self.tally.uncovered.is_some() {
                    return Ok(()); // the member will be written, and examined again then
                }
                self.key(name);
                let place = ValuePlace { shape, term, takes: term.takes, keyed: term.keyed, list: term.list };
                // Null produces no triple, but the json-ld crate would make an empty list of it.
                if !self.value(place, value)? {
                    self.truncate(start);
                    if term.list {
                        self.tally.uncovered("null for a list");
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes a member whose value is a JSON literal. Returns `None` if the value cannot be written; part of it may
    /// then be written.
    fn json(&mut self, name: &str, property: Option<&str>, value: &Value<'_>, numbers: Numbers) -> Option<()> {
        if property.is_none() {
            self.tally.uncovered("JSON in a container");
        }
        let (mut literal, mut exact) = (String::new(), String::new());
        let Some(out) = &mut self.out else {
            // Triples hold the exact numbers.
            let is_exact = numbers == Numbers::Exact
                || json::write_canonical(value, numbers, &mut literal).is_ok()
                    && json::write_canonical(value, Numbers::Exact, &mut exact).is_ok()
                    && exact == literal;
            if !is_exact {
                self.tally.uncovered("a number that RFC 8785 changes");
            }
            return Some(());
        };
        let losses = &mut self.tally.losses;
        let Ok(canonical) = json::write_canonical(value, numbers, &mut literal) else {
            losses.add(Loss::NumberOutOfRange);
            return None;
        };
        if numbers == Numbers::Rfc8785
            && json::write_canonical(value, Numbers::Exact, &mut exact).is_ok()
            && exact != literal
        {
            losses.add(Loss::NumberChanged);
        }
        match property {
            Some(property) => write_literal_member(name, property, &literal, canonical, out),
            // The term cannot carry the digits that the exact form keeps.
            None if numbers == Numbers::Exact && !canonical.interoperable => {
                losses.add(Loss::NumberChanged);
                return None;
            }
            None if value.evidence().lone_surrogate => {
                losses.add(Loss::LoneSurrogate);
                return None;
            }
            None => {
                write_key(name, out);
                out.push_str(&literal);
            }
        }
        Some(())
    }

    /// Writes a value, limited to what JSON-LD may see, and returns true if that is more than `null`.
    fn value(&mut self, place: ValuePlace<'_>, value: &Value<'_>) -> Result<bool, ReferenceError> {
        let takes = place.takes;
        let taken = match value {
            Value::Null => true,
            Value::Array(_) => takes != AcceptedValues::OneString,
            Value::Object(_) => !matches!(takes, AcceptedValues::Strings | AcceptedValues::OneString),
            Value::String(_) => takes != AcceptedValues::Nodes || place.term.iris,
            Value::Number(_) | Value::Bool(_) => takes == AcceptedValues::Anything,
        };
        if !taken {
            return Ok(self.null(Some(Loss::NotTaken)));
        }
        match value {
            Value::Array(array) => self.array(place, &array.items)?,
            Value::Object(object) => self.object(place, object)?,
            Value::String(text) => match text.as_str() {
                None => return Ok(self.null(Some(Loss::LoneSurrogate))),
                Some(text) if place.term.iris => return Ok(self.iri(place, text)),
                Some(text) => {
                    self.strings(place.term);
                    self.string(text);
                }
            },
            Value::Number(number) => return Ok(self.number(place.term, number)),
            Value::Bool(value) => self.raw(if *value { "true" } else { "false" }),
            Value::Null => return Ok(self.null(None)),
        }
        Ok(true)
    }

    fn array(&mut self, place: ValuePlace<'_>, items: &[Value<'_>]) -> Result<(), ReferenceError> {
        // An array under a map container is not a map; its items are ordinary values.
        let takes = if place.takes == AcceptedValues::Strings { AcceptedValues::OneString } else { place.takes };
        let below = ValuePlace { takes, keyed: None, list: false, ..place };
        self.raw("[");
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.raw(",");
            }
            if place.list && matches!(item, Value::Array(_)) {
                self.tally.uncovered("lists of lists");
            }
            self.value(below, item)?;
        }
        self.raw("]");
        Ok(())
    }

    fn object(&mut self, place: ValuePlace<'_>, object: &Object<'_>) -> Result<(), ReferenceError> {
        self.raw("{");
        match place.keyed {
            None => self.node(&place.term.below, &object.members)?,
            Some(keyed) => {
                let takes = if place.takes == AcceptedValues::Anything { keyed } else { place.takes };
                let below = ValuePlace { takes, keyed: None, ..place };
                for (name, value) in &object.members {
                    match name.as_str() {
                        Some(name) if !is_keyword_like(name) => {
                            let key = if place.term.iri_keys { self.own(name) } else { name.into() };
                            self.key(&key);
                            self.value(below, value)?;
                        }
                        _ => self.tally.losses.add(Loss::KeywordMember),
                    }
                }
            }
        }
        self.raw("}");
        Ok(())
    }

    fn raw(&mut self, text: &str) {
        if let Some(out) = &mut self.out {
            out.push_str(text);
        }
    }

    fn string(&mut self, text: &str) {
        if let Some(out) = &mut self.out {
            json::write_str(text, out);
        }
    }

    fn key(&mut self, name: &str) {
        if let Some(out) = &mut self.out {
            write_key(name, out);
        }
    }

    fn truncate(&mut self, length: usize) {
        if let Some(out) = &mut self.out {
            out.truncate(length);
        }
    }

    fn null(&mut self, loss: Option<Loss>) -> bool {
        loss.into_iter().for_each(|loss| self.tally.losses.add(loss));
        self.raw("null");
        false
    }

    /// Writes a string that stands for an IRI, or for a blank node that belongs to this record only.
    fn iri(&mut self, place: ValuePlace<'_>, text: &str) -> bool {
        self.strings(place.term);
        if is_keyword_like(text) {
            return self.null(Some(Loss::NoIri));
        }
        match (oxiri::Iri::parse(text), text.split_once(':')) {
            (Ok(_), Some((prefix, rest))) => {
                if !rest.starts_with("//") && place.shape.active().get(prefix).is_some() {
                    self.tally.uncovered("compact IRIs");
                }
            }
            _ => {
                self.tally.uncovered("relative IRIs, and blank nodes by name");
                if oxiri::IriRef::parse(text).is_err() && !text.starts_with("_:") {
                    return self.null(Some(Loss::NoIri));
                }
            }
        }
        let own = self.own(text);
        self.string(&own);
        true
    }

    fn strings(&mut self, term: &MappedTerm) {
        if let Strings::Uncovered(reason) = term.strings {
            self.tally.uncovered(reason);
        }
    }

    /// Writes a number: as a JSON number, or as a typed literal if processors would disagree on it.
    fn number(&mut self, term: &MappedTerm, number: &Number<'_>) -> bool {
        let Some(literal) = term.number(number.as_str()) else { return self.null(Some(Loss::NumberOutOfRange)) };
        if literal.changed {
            self.tally.losses.add(Loss::NumberChanged);
        }
        match literal.native {
            Some(native) => self.raw(&native),
            None => {
                let datatype = term.datatype.as_ref().map_or(literal.datatype.as_str(), |datatype| datatype.as_str());
                if let Some(out) = &mut self.out {
                    write_typed(&literal.lexical, datatype, out);
                }
            }
        }
        true
    }

    /// Returns an IRI reference unchanged, and a blank node with the prefix of this record.
    fn own<'t>(&self, reference: &'t str) -> Cow<'t, str> {
        match reference.strip_prefix("_:") {
            Some(label) => format!("_:{}-{label}", self.blanks).into(),
            None => reference.into(),
        }
    }
}

/// Starts a member, after a comma unless it is the first in the object or array.
pub(super) fn write_key(name: &str, out: &mut String) {
    if !out.ends_with(['{', '[']) && !out.is_empty() {
        out.push(',');
    }
    json::write_str(name, out);
    out.push(':');
}

/// Writes a member whose value is a JSON literal in canonical form: natively under its term, or, if another processor
/// would print another form of it, as a string of type `rdf:JSON` under the property itself.
pub(super) fn write_literal_member(term: &str, property: &str, literal: &str, canonical: Canonical, out: &mut String) {
    if canonical.interoperable {
        write_key(term, out);
        out.push_str(literal);
    } else {
        write_key(property, out);
        write_typed(literal, rdf::JSON.as_str(), out);
    }
}

/// Writes a value object.
pub(super) fn write_typed(lexical: &str, datatype: &str, out: &mut String) {
    out.push_str("{\"@type\":");
    json::write_str(datatype, out);
    out.push_str(",\"@value\":");
    json::write_str(lexical, out);
    out.push('}');
}
