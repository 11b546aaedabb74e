//! Graphs as Turtle for people, and the same on every run.
//!
//! The writer of oxttl streams: it cannot put a blank node where it is used, and its prefixes come in any order.

use std::collections::{BTreeMap, HashMap, HashSet};

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{BlankNode, GraphName, Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term, Triple};

use super::examples::Prefixes;
use crate::vocab;

/// The triples of the default graph in their order, each once, their blank nodes named `b0`, `b1`, … in the order in
/// which they appear.
pub fn default_graph(quads: &[Quad]) -> Vec<Triple> {
    let mut names: HashMap<String, BlankNode> = HashMap::new();
    let mut known = HashSet::new();
    let mut triples = Vec::new();
    for quad in quads.iter().filter(|quad| quad.graph_name == GraphName::DefaultGraph) {
        if !known.insert(quad) {
            continue;
        }
        let mut rename = |blank: &BlankNode| {
            let next = names.len();
            let name = names.entry(blank.as_str().to_owned());
            name.or_insert_with(|| BlankNode::new_unchecked(format!("b{next}"))).clone()
        };
        let subject = match &quad.subject {
            NamedOrBlankNode::BlankNode(blank) => rename(blank).into(),
            named => named.clone(),
        };
        let object = match &quad.object {
            Term::BlankNode(blank) => rename(blank).into(),
            other => other.clone(),
        };
        triples.push(Triple::new(subject, quad.predicate.clone(), object));
    }
    triples
}

/// Writes triples, with those of the prefixes that they use: a block a subject, blank nodes in brackets and lists in
/// parentheses wherever only one triple leads to them.
pub fn write(triples: &[Triple], prefixes: &Prefixes) -> String {
    let mut writer = Writer::new(triples, prefixes);
    let mut out = String::new();
    let subjects: Vec<_> = writer.order.clone();
    // Those that nothing leads to, or several triples, or that have a name; then what is left, which is in circles.
    for first in [true, false] {
        for subject in &subjects {
            if writer.written.contains(subject) || (first && writer.is_nested(subject)) {
                continue;
            }
            out.push('\n');
            writer.block(subject, &mut out);
        }
    }
    let mut text = String::new();
    for (name, namespace) in &writer.used {
        text.push_str(&format!("@prefix {name}: <{namespace}> .\n"));
    }
    text.push_str(if text.is_empty() { out.trim_start_matches('\n') } else { &out });
    text
}

struct Writer<'t> {
    prefixes: &'t Prefixes,
    used: BTreeMap<&'t str, &'t str>,
    /// Subjects in the order of their triples.
    order: Vec<NamedOrBlankNode>,
    properties: HashMap<NamedOrBlankNode, Vec<(&'t NamedNode, &'t Term)>>,
    /// How many triples lead to a blank node.
    references: HashMap<&'t BlankNode, usize>,
    /// Blank nodes that are written by their labels.
    labelled: HashSet<BlankNode>,
    written: HashSet<NamedOrBlankNode>,
}

impl<'t> Writer<'t> {
    fn new(triples: &'t [Triple], prefixes: &'t Prefixes) -> Self {
        let mut writer = Self {
            prefixes,
            used: BTreeMap::new(),
            order: Vec::new(),
            properties: HashMap::new(),
            references: HashMap::new(),
            labelled: HashSet::new(),
            written: HashSet::new(),
        };
        for triple in triples {
            let properties = writer.properties.entry(triple.subject.clone()).or_default();
            if properties.is_empty() {
                writer.order.push(triple.subject.clone());
            }
            properties.push((&triple.predicate, &triple.object));
            if let Term::BlankNode(blank) = &triple.object {
                *writer.references.entry(blank).or_default() += 1;
            }
        }
        let several = writer.references.iter().filter(|(_, count)| **count > 1).map(|(blank, _)| (*blank).clone());
        writer.labelled = several.collect();
        writer
    }

    /// Whether one triple leads to a node, so that it can stand there.
    fn is_nested(&self, subject: &NamedOrBlankNode) -> bool {
        matches!(subject, NamedOrBlankNode::BlankNode(blank) if self.references.get(blank) == Some(&1))
    }

    fn block(&mut self, subject: &NamedOrBlankNode, out: &mut String) {
        self.written.insert(subject.clone());
        match subject {
            NamedOrBlankNode::NamedNode(node) => self.iri(node.as_ref(), out),
            NamedOrBlankNode::BlankNode(blank) => {
                if self.references.contains_key(blank) {
                    self.labelled.insert(blank.clone());
                    out.push_str(&blank.to_string());
                } else {
                    out.push_str("[]");
                }
            }
        }
        out.push(' ');
        self.properties(subject, 1, out);
        out.push_str(" .\n");
    }

    fn properties(&mut self, subject: &NamedOrBlankNode, depth: usize, out: &mut String) {
        let properties = self.properties.get(subject).cloned().unwrap_or_default();
        let mut last = None;
        for (predicate, object) in properties {
            if last == Some(predicate) {
                out.push_str(" , ");
            } else {
                if last.is_some() {
                    out.push_str(" ;\n");
                    out.extend(std::iter::repeat_n("    ", depth));
                }
                match *predicate == rdf::TYPE {
                    true => out.push('a'),
                    false => self.iri(predicate.as_ref(), out),
                }
                out.push(' ');
            }
            last = Some(predicate);
            self.term(object, depth, out);
        }
    }

    fn term(&mut self, term: &Term, depth: usize, out: &mut String) {
        match term {
            Term::NamedNode(node) => self.iri(node.as_ref(), out),
            Term::Literal(literal) => self.literal(literal, out),
            Term::BlankNode(blank) if self.labelled.contains(blank) => out.push_str(&blank.to_string()),
            Term::BlankNode(blank) => self.blank(blank, depth, out),
        }
    }

    fn blank(&mut self, blank: &BlankNode, depth: usize, out: &mut String) {
        let subject = NamedOrBlankNode::from(blank.clone());
        if let Some((cells, items)) = self.list(blank) {
            self.written.extend(cells.into_iter().map(NamedOrBlankNode::from));
            out.push('(');
            for item in items {
                out.push(' ');
                self.term(item, depth, out);
            }
            return out.push_str(" )");
        }
        self.written.insert(subject.clone());
        if !self.properties.contains_key(&subject) {
            return out.push_str("[]");
        }
        out.push_str("[\n");
        out.extend(std::iter::repeat_n("    ", depth + 1));
        self.properties(&subject, depth + 1, out);
        out.push('\n');
        out.extend(std::iter::repeat_n("    ", depth));
        out.push(']');
    }

    /// The cells and the items of a list, if the node is a list and nothing else.
    fn list(&self, first: &BlankNode) -> Option<(Vec<BlankNode>, Vec<&'t Term>)> {
        let (mut cells, mut items) = (Vec::new(), Vec::new());
        let mut known = HashSet::new();
        let mut cell = first;
        loop {
            if self.labelled.contains(cell) || !known.insert(cell) {
                return None;
            }
            let properties = self.properties.get(&NamedOrBlankNode::from(cell.clone()))?;
            let of = |property| properties.iter().find(|(predicate, _)| predicate.as_ref() == property);
            let ((_, item), (_, rest)) = (of(rdf::FIRST)?, of(rdf::REST)?);
            if properties.len() != 2 {
                return None;
            }
            cells.push(cell.clone());
            items.push(*item);
            match rest {
                Term::NamedNode(nil) if *nil == rdf::NIL => return Some((cells, items)),
                Term::BlankNode(next) => cell = next,
                _ => return None,
            }
        }
    }

    fn literal(&mut self, literal: &Literal, out: &mut String) {
        let datatype = literal.datatype();
        if is_plain(datatype) {
            return out.push_str(&literal.to_string());
        }
        let (text, digits) =
            (literal.value(), |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
        let integer = datatype == xsd::INTEGER && digits(text.strip_prefix('-').unwrap_or(text));
        if integer || (datatype == xsd::BOOLEAN && matches!(text, "true" | "false")) {
            return out.push_str(text);
        }
        out.push_str(&Literal::new_simple_literal(text).to_string());
        out.push_str("^^");
        self.iri(datatype, out);
    }

    fn iri(&mut self, iri: NamedNodeRef<'_>, out: &mut String) {
        // The longest namespace of those that leave a name.
        let mut best: Option<(&str, &str, usize)> = None;
        for (name, namespace) in self.prefixes {
            let local = iri.as_str().strip_prefix(namespace.as_str()).filter(|local| is_local_name(local));
            if local.is_some() && is_prefix(name) && best.is_none_or(|(_, _, length)| namespace.len() > length) {
                best = Some((name, namespace, namespace.len()));
            }
        }
        let Some((name, namespace, length)) = best else { return out.push_str(&iri.to_string()) };
        self.used.insert(name, namespace);
        out.push_str(name);
        out.push(':');
        out.push_str(iri.as_str().get(length..).unwrap_or_default());
    }
}

/// Whether a name needs no escapes behind a prefix: fewer than Turtle allows, and all that vocabularies use.
fn is_local_name(local: &str) -> bool {
    local.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && local.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The datatypes that Turtle need not name.
fn is_plain(datatype: NamedNodeRef<'_>) -> bool {
    datatype == xsd::STRING || datatype == rdf::LANG_STRING
}

/// Whether a name is a prefix in Turtle: fewer than are allowed, and all that are used.
fn is_prefix(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Prefixes for any graph: those of a context, under those that are given, under those of the W3C's namespaces for what
/// neither names.
pub fn prefixes(context: &serde_json::Value, given: &Prefixes) -> Prefixes {
    let mut prefixes: Prefixes = [("rdf", vocab::rdf::NAMESPACE), ("xsd", "http://www.w3.org/2001/XMLSchema#")]
        .into_iter()
        .map(|(name, namespace)| (name.to_owned(), namespace.to_owned()))
        .collect();
    let definitions = match context {
        serde_json::Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    for (name, definition) in definitions.iter().filter_map(serde_json::Value::as_object).flatten() {
        if let Some(namespace) = definition.as_str()
            && namespace.ends_with([':', '/', '?', '#'])
            && oxiri::Iri::parse(namespace).is_ok()
        {
            prefixes.insert(name.clone(), namespace.to_owned());
        }
    }
    prefixes.extend(given.clone());
    prefixes
}
