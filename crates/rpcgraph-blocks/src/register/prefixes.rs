//! Prefixes that cannot be URI schemes, such as `my_agents` in `my_agents:x`. In JSON-LD any term may be a prefix, but
//! the `json-ld` crate accepts only prefixes that an IRI could begin with. Other names replace such prefixes during
//! expansion.

use std::collections::BTreeSet;

use json_ld::syntax::{Parse as _, Value};
use oxiri::Iri;
use oxrdf::{Literal, NamedNode, NamedOrBlankNode, Quad, Term};

use super::references::resolve;
use crate::json::{self, Numbers};
use crate::vocab::rdf;

/// The prefixes, each with the name that replaces it.
#[derive(Default)]
pub struct OtherPrefixes(Vec<(String, String)>);

impl OtherPrefixes {
    /// Parses a JSON text, a context or a document, with other names in place of its prefixes. Its contexts define the
    /// other names as they define the prefixes.
    pub fn parse(text: &str, is_context: bool) -> Result<(Value, Self), String> {
        let prefixes: BTreeSet<_> = text.split('"').filter_map(odd_prefix).collect();
        let other = |(index, prefix): (usize, &str)| (prefix.to_owned(), format!("rpcgraph-prefix-{index}"));
        let others = Self(prefixes.into_iter().enumerate().map(other).collect());
        let mut renamed = text.to_owned();
        for (prefix, other) in &others.0 {
            renamed = renamed.replace(&format!("\"{prefix}:"), &format!("\"{other}:"));
        }
        let (mut value, _) = Value::parse_str(&renamed).map_err(|error| error.to_string())?;
        if !others.0.is_empty() {
            others.define(&mut value, is_context);
        }
        Ok((value, others))
    }

    /// Copies the definitions of the prefixes in contexts to the other names.
    fn define(&self, value: &mut Value, is_context: bool) {
        match value {
            Value::Object(object) => {
                for (prefix, other) in self.0.iter().filter(|_| is_context) {
                    if let Some(definition) = object.get(prefix.as_str()).next().cloned() {
                        object.insert(other.as_str().into(), definition);
                    }
                }
                object.iter_mut().for_each(|(name, value)| self.define(value, name.as_str() == "@context"));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.define(item, is_context)),
            _ => {}
        }
    }

    /// Restores the prefixes in quads. A name whose prefix is not declared is resolved against the base, as by other
    /// processors; without a base it is not an IRI, and its quads are removed. Returns the undeclared prefixes.
    pub fn restore(&self, quads: &mut Vec<Quad>, base: Option<&str>) -> Vec<&str> {
        let mut undeclared = BTreeSet::new();
        let folder = resolve(base, "./");
        let mut name = |node: &mut NamedNode| {
            let found = self.0.iter().find_map(|(prefix, other)| {
                Some((prefix, node.as_str().strip_prefix(other.as_str())?.strip_prefix(':')?))
            });
            let Some((prefix, local)) = found else { return true };
            undeclared.insert(prefix.as_str());
            let whole = folder.as_ref().and_then(|folder| NamedNode::new(format!("{folder}{prefix}:{local}")).ok());
            whole.map(|whole| *node = whole).is_some()
        };
        quads.retain_mut(|quad| {
            let subject = if let NamedOrBlankNode::NamedNode(node) = &mut quad.subject { name(node) } else { true };
            let object = match &mut quad.object {
                Term::NamedNode(node) => name(node),
                Term::Literal(literal) => {
                    *literal = self.own(literal);
                    true
                }
                _ => true,
            };
            subject && name(&mut quad.predicate) && object
        });
        undeclared.into_iter().collect()
    }

    /// Restores the prefixes in a literal.
    fn own(&self, literal: &Literal) -> Literal {
        let text = self.0.iter().fold(literal.value().to_owned(), |text, (prefix, other)| {
            text.replace(&format!("{other}:"), &format!("{prefix}:"))
        });
        if text == literal.value() {
            return literal.clone();
        }
        match literal.language() {
            Some(language) => Literal::new_language_tagged_literal_unchecked(text, language),
            None if literal.datatype() == rdf::JSON => {
                // Restored names may sort differently, so the members are sorted again.
                let mut ordered = String::new();
                let value = json::parse(text.as_bytes());
                let written = value.map(|value| json::write_canonical(&value, Numbers::Rfc8785, &mut ordered).is_ok());
                Literal::new_typed_literal(if written.unwrap_or(false) { ordered } else { text }, rdf::JSON)
            }
            None => Literal::new_typed_literal(text, literal.datatype()),
        }
    }
}

/// Returns the prefix of a string if it cannot be the name of a URI scheme.
fn odd_prefix(text: &str) -> Option<&str> {
    let (prefix, _) = text.split_once(':').filter(|(_, local)| !local.is_empty() && !local.starts_with("//"))?;
    let is_name = prefix.chars().all(|character| character.is_ascii_alphanumeric() || "_-.".contains(character));
    (is_name && prefix.len() > 1 && Iri::parse(format!("{prefix}:x")).is_err()).then_some(prefix)
}
