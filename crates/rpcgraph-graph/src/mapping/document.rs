//! The walk as JSON-LD node objects.
//!
//! Members of the message stand under the terms of the building block's context; everything else stands under full
//! IRIs, as value objects. A JSON literal that another processor would print in another form is a typed string, and so
//! is an integer beyond 2^53.

use oxrdf::NamedNodeRef;
use oxrdf::vocab::xsd;

use super::data::{write_key, write_literal_member, write_typed};
use super::further::MembersPlan;
use super::walk::{BlockTerm, NodeWriter};
use crate::json::{self, Canonical};
use crate::message::Payload;
use crate::session::triples::NodeRef;
use crate::vocab::rdf;

/// The largest integer that every JSON-LD processor reads exactly: 2^53.
const MAX_EXACT_INTEGER: u64 = 1 << 53;

/// Writes nodes as JSON-LD, with commas between them.
pub(super) struct DocumentWriter<'w> {
    out: &'w mut String,
}

impl<'w> DocumentWriter<'w> {
    pub fn new(out: &'w mut String) -> Self {
        Self { out }
    }

    fn start_node(&mut self, node: NodeRef<'_>) {
        self.out.push('{');
        write_key("@id", self.out);
        json::write_str(&node.to_string(), self.out);
    }

    fn key(&mut self, member: BlockTerm) {
        write_key(member.name.unwrap_or(member.property.as_str()), self.out);
    }

    /// Writes a value object for a number or a boolean.
    fn native(&mut self, property: NamedNodeRef<'_>, value: &str) {
        write_key(property.as_str(), self.out);
        for part in ["{\"@value\":", value, "}"] {
            self.out.push_str(part);
        }
    }

    /// Writes a JSON literal without a term.
    fn json_literal(&mut self, property: NamedNodeRef<'_>, literal: &str, canonical: Canonical) {
        write_key(property.as_str(), self.out);
        if canonical.interoperable {
            for part in ["{\"@type\":\"@json\",\"@value\":", literal, "}"] {
                self.out.push_str(part);
            }
        } else {
            write_typed(literal, rdf::JSON.as_str(), self.out);
        }
    }
}

impl<'v> NodeWriter<'v> for DocumentWriter<'_> {
    fn open(&mut self, node: NodeRef<'_>) {
        if !self.out.is_empty() {
            self.out.push(',');
        }
        self.start_node(node);
    }

    fn open_child(&mut self, link: BlockTerm, node: NodeRef<'_>) {
        self.key(link);
        self.start_node(node);
    }

    fn close(&mut self) {
        self.out.push('}');
    }

    fn announce(&mut self, _: BlockTerm, _: NodeRef<'_>) {}

    fn class(&mut self, class: NamedNodeRef<'static>) {
        write_key("@type", self.out);
        json::write_str(class.as_str(), self.out);
    }

    fn classes(&mut self, classes: [NamedNodeRef<'static>; 2]) {
        write_key("@type", self.out);
        for (before, class) in ["[", ","].into_iter().zip(classes) {
            self.out.push_str(before);
            json::write_str(class.as_str(), self.out);
        }
        self.out.push(']');
    }

    fn string_member(&mut self, member: BlockTerm, text: &str) {
        match member.name {
            Some(_) => {
                self.key(member);
                json::write_str(text, self.out);
            }
            None => self.literal(member.property, text, xsd::STRING),
        }
    }

    fn integer_member(&mut self, member: BlockTerm, digits: &str) {
        let exact = digits.trim_start_matches('-').parse().is_ok_and(|number: u64| number <= MAX_EXACT_INTEGER);
        if exact && member.name.is_some() {
            self.key(member);
            self.out.push_str(digits);
        } else {
            write_key(member.property.as_str(), self.out);
            write_typed(digits, xsd::INTEGER.as_str(), self.out);
        }
    }

    fn payload(&mut self, member: BlockTerm, payload: &Payload<'_>) {
        let Payload { text, canonical, .. } = payload;
        match member.name {
            Some(name) => write_literal_member(name, member.property.as_str(), text, *canonical, self.out),
            None => self.json_literal(member.property, text, *canonical),
        }
    }

    fn mapped(&mut self, plan: &'v MembersPlan<'v>) {
        if !plan.text.is_empty() {
            self.out.push(',');
            self.out.push_str(&plan.text);
        }
    }

    fn link(&mut self, property: NamedNodeRef<'static>, node: NodeRef<'_>) {
        write_key(property.as_str(), self.out);
        self.start_node(node);
        self.close();
    }

    fn links<'n>(&mut self, property: NamedNodeRef<'static>, nodes: impl Iterator<Item = NodeRef<'n>>) {
        write_key(property.as_str(), self.out);
        self.out.push('[');
        for node in nodes {
            if !self.out.ends_with('[') {
                self.out.push(',');
            }
            self.start_node(node);
            self.close();
        }
        self.out.push(']');
    }

    fn literal(&mut self, property: NamedNodeRef<'static>, lexical: &str, datatype: NamedNodeRef<'static>) {
        write_key(property.as_str(), self.out);
        if datatype == xsd::STRING {
            self.out.push_str("{\"@value\":");
            json::write_str(lexical, self.out);
            self.out.push('}');
        } else {
            write_typed(lexical, datatype.as_str(), self.out);
        }
    }

    fn count(&mut self, property: NamedNodeRef<'static>, number: u64) {
        self.native(property, &number.to_string());
    }

    fn boolean(&mut self, property: NamedNodeRef<'static>, value: bool) {
        self.native(property, if value { "true" } else { "false" });
    }

    fn finish(&mut self) {}
}
