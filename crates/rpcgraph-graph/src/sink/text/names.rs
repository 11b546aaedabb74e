//! The written names of nodes: IRIs and blank-node labels.

use crate::session::Name;
use crate::session::triples::{BlankName, NodeRef};
use crate::vocab::{PREFIXES, is_local_name};

/// The layout of triples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TripleLayout {
    /// N-Triples, or N-Quads with `graphs`.
    Lines { graphs: bool },
    /// Turtle, or TriG with `graphs`, and an indented `margin` if each record is in a named graph.
    Blocks { graphs: bool, margin: bool, relative: bool },
}

/// Writes the names of nodes in a layout.
pub(super) struct NodeNames {
    layout: TripleLayout,
    /// IRI of the input.
    iri: String,
    /// The beginning of IRIs within the input: the bracket, and the input's IRI unless they are relative to it.
    own: Vec<u8>,
    /// The message that was named last, and the beginning of its IRI.
    message: (Option<Name>, Vec<u8>),
    /// A cache of IRIs as last written in blocks: a graph has few properties and types.
    cached: Vec<WrittenName>,
}

/// An IRI and its written form.
#[derive(Clone, Default)]
struct WrittenName {
    iri: String,
    written: Vec<u8>,
}

/// The size of the cache of IRIs.
const NAMES: usize = 128;

impl WrittenName {
    /// Returns the cache slot of the IRI, from its length and its end. Two IRIs with one slot replace each other.
    fn cache_slot(iri: &str) -> usize {
        let end = iri.as_bytes().last_chunk().map_or(0, |end| u32::from_le_bytes(*end));
        let length = u32::try_from(iri.len()).unwrap_or(0);
        ((end ^ length).wrapping_mul(0x27D4_EB2F) >> 25) as usize
    }
}

impl NodeNames {
    pub fn new(layout: TripleLayout, iri: &str) -> Self {
        let (own, cached) = match layout {
            TripleLayout::Lines { .. } => (format!("<{iri}"), 0),
            TripleLayout::Blocks { relative: false, .. } => (format!("<{iri}"), NAMES),
            TripleLayout::Blocks { relative: true, .. } => ("<".to_owned(), NAMES),
        };
        let cached = vec![WrittenName::default(); cached];
        Self { layout, iri: iri.to_owned(), own: own.into_bytes(), message: (None, Vec::new()), cached }
    }

    /// Appends the name of a node.
    pub fn push(&mut self, node: NodeRef<'_>, out: &mut Vec<u8>) {
        if let Some((name, suffix, index)) = part_of(node) {
            if self.message.0 != Some(name) {
                self.message.0 = Some(name);
                self.message.1.clear();
                self.message.1.extend_from_slice(&self.own);
                push_fragment(NodeRef::Message(name), &mut self.message.1);
            }
            out.extend_from_slice(&self.message.1);
            push_suffix(suffix, index, out);
            return out.push(b'>');
        }
        match node {
            NodeRef::Iri(iri) => return self.push_iri(iri, out),
            NodeRef::Blank(blank) => return push_label(blank, out),
            NodeRef::Label(label) => {
                out.extend_from_slice(b"_:");
                return out.extend_from_slice(label.as_bytes());
            }
            NodeRef::Session(reference) => {
                out.extend_from_slice(&self.own);
                out.extend_from_slice(reference.as_bytes());
            }
            line => {
                out.extend_from_slice(&self.own);
                push_fragment(line, out);
            }
        }
        out.push(b'>');
    }

    /// Appends an IRI.
    #[inline]
    pub fn push_iri(&mut self, iri: &str, out: &mut Vec<u8>) {
        let TripleLayout::Blocks { relative, .. } = self.layout else { return push_whole(iri, out) };
        let Some(name) = self.cached.get_mut(WrittenName::cache_slot(iri)).filter(|_| iri.len() < 256) else {
            return push_short(iri, Some(&*self.iri).filter(|_| relative), out);
        };
        if name.iri != iri {
            name.iri.replace_range(.., iri);
            name.written.clear();
            push_short(iri, Some(&*self.iri).filter(|_| relative), &mut name.written);
        }
        out.extend_from_slice(&name.written);
    }
}

/// Appends an IRI: with a prefix if possible, otherwise relative to `base` if there is one and the IRI is within it.
fn push_short(iri: &str, base: Option<&str>, out: &mut Vec<u8>) {
    for (prefix, namespace) in PREFIXES {
        if let Some(local) = iri.strip_prefix(namespace)
            && is_local_name(local)
        {
            out.extend_from_slice(prefix.as_bytes());
            out.push(b':');
            return out.extend_from_slice(local.as_bytes());
        }
    }
    let inside = base.and_then(|base| iri.strip_prefix(base));
    push_whole(inside.filter(|rest| rest.is_empty() || rest.starts_with('#')).unwrap_or(iri), out);
}

fn push_whole(iri: &str, out: &mut Vec<u8>) {
    out.push(b'<');
    out.extend_from_slice(iri.as_bytes());
    out.push(b'>');
}

/// Appends the fragment of a node that is named by its record or its line, like `Display` but faster; nothing for other
/// nodes.
pub(crate) fn push_fragment(node: NodeRef<'_>, out: &mut Vec<u8>) {
    let (letter, number, element, suffix, index) = match (part_of(node), node) {
        (Some((name, suffix, index)), _) => (b'm', name.record, name.element, suffix, index),
        (None, NodeRef::LogLine(line, nth)) => (b'l', line, nth, "", 0),
        _ => return,
    };
    push_decimal(&[b'#', letter], number, out);
    if let Some(element) = element {
        push_decimal(b".", element.into(), out);
    }
    push_suffix(suffix, index, out);
}

/// Returns the message that a node is, or is a part of, and the suffix of its name and its number unless that is 0.
fn part_of(node: NodeRef<'_>) -> Option<(Name, &'static str, u32)> {
    match node {
        NodeRef::Message(name) => Some((name, "", 0)),
        NodeRef::Id(name) => Some((name, "-id", 0)),
        NodeRef::Error(name) => Some((name, "-error", 0)),
        NodeRef::Part(name, part) => Some((name, part.kind.suffix(), part.index)),
        _ => None,
    }
}

fn push_suffix(suffix: &str, index: u32, out: &mut Vec<u8>) {
    if !suffix.is_empty() {
        out.extend_from_slice(suffix.as_bytes());
    }
    if index > 0 {
        push_decimal(b"", index.into(), out);
    }
}

/// Appends the label of a blank node, like `Display` but faster.
fn push_label(blank: BlankName, out: &mut Vec<u8>) {
    out.extend_from_slice(b"_:");
    if blank.input > 0 {
        out.push(b'i');
        push_decimal(b"", u64::from(blank.input) + 1, out);
    }
    push_decimal(b"m", blank.record, out);
    push_decimal(b"b", blank.index.into(), out);
}

/// Appends at most four bytes, then the decimal digits of a number.
pub(super) fn push_decimal(before: &[u8], mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 24];
    let mut first = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        first -= 1;
        if number == 0 {
            break;
        }
    }
    for byte in before.iter().rev() {
        first -= 1;
        digits[first] = *byte;
    }
    out.extend_from_slice(digits.get(first..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_those_of_blank_nodes() {
        for (input, record, index) in [(0, 7, 0), (1, 1, 12), (u32::MAX, u64::MAX, u32::MAX)] {
            let blank = BlankName { input, record, index };
            let mut out = Vec::new();
            push_label(blank, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!("_:{blank}"));
        }
    }

    #[test]
    fn decimals_are_written() {
        for number in [0, 7, 10, 1_234_567_890, u64::MAX] {
            let mut out = Vec::new();
            push_decimal(b"", number, &mut out);
            assert_eq!(out, number.to_string().into_bytes());
        }
    }
}
