//! Triples as N-Triples, N-Quads, Turtle and TriG.

use std::io::Write as _;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{GraphName, NamedNodeRef, Quad};

use super::rendered::{KEPT, RecordSpan, Rendered};
use crate::json;
use crate::session::triples::{BlankName, NodeRef, ObjectRef, TripleSink};
use crate::vocab::{PREFIXES, is_local_name};

/// Writes triples as text: one per line, or one block per subject with prefixed names and IRIs relative to the input's
/// IRI.
pub(crate) struct TextRenderer {
    layout: TripleLayout,
    /// IRI of the input.
    iri: String,
    /// The beginning of IRIs within the input: the bracket, and the input's IRI unless they are relative to it.
    own: Vec<u8>,
    /// The end of a line: the graph and a full stop.
    tail: Vec<u8>,
    out: Vec<u8>,
    subject: Vec<u8>,
    predicate: String,
    /// A cache of IRIs as last written in blocks: a graph has few properties and types.
    names: Vec<WrittenName>,
    /// True if the block of the subject already has a triple.
    open: bool,
    /// The start of the record in `out`.
    record: usize,
    /// The reference of the record's graph.
    graph: Option<String>,
    records: Vec<RecordSpan>,
    count: u64,
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
    fn place(iri: &str) -> usize {
        let end = iri.as_bytes().last_chunk().map_or(0, |end| u32::from_le_bytes(*end));
        let length = u32::try_from(iri.len()).unwrap_or(0);
        ((end ^ length).wrapping_mul(0x27D4_EB2F) >> 25) as usize
    }
}

/// The layout of triples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TripleLayout {
    /// N-Triples, or N-Quads with `graphs`.
    Lines { graphs: bool },
    /// Turtle, or TriG with an indented `margin`.
    Blocks { margin: bool, relative: bool },
}

impl TextRenderer {
    pub fn new(layout: TripleLayout, iri: &str) -> Self {
        Self {
            layout,
            iri: iri.to_owned(),
            own: match layout {
                TripleLayout::Blocks { relative: true, .. } => b"<".to_vec(),
                _ => format!("<{iri}").into_bytes(),
            },
            tail: Vec::new(),
            out: Vec::new(),
            subject: Vec::new(),
            predicate: String::new(),
            names: match layout {
                TripleLayout::Lines { .. } => Vec::new(),
                TripleLayout::Blocks { .. } => vec![WrittenName::default(); NAMES],
            },
            open: false,
            record: 0,
            graph: None,
            records: Vec::new(),
            count: 0,
        }
    }

    /// Returns the text written so far.
    pub fn text(&self) -> &[u8] {
        &self.out
    }

    /// Returns the span of each record that has triples.
    pub fn records(&self) -> &[RecordSpan] {
        &self.records
    }

    fn close(&mut self) {
        if self.open {
            self.out.extend_from_slice(b" .\n");
            self.open = false;
        }
    }

    /// Writes the text before an object.
    fn predicate(&mut self, predicate: NamedNodeRef<'_>) {
        self.count += 1;
        let TripleLayout::Blocks { margin, .. } = self.layout else {
            self.out.extend_from_slice(&self.subject);
            self.out.extend_from_slice(predicate.as_str().as_bytes());
            return self.out.extend_from_slice(b"> ");
        };
        if self.open && self.predicate == predicate.as_str() {
            return self.out.extend_from_slice(b" , ");
        }
        if self.open {
            self.out.extend_from_slice(if margin { b" ;\n\t\t" } else { b" ;\n\t" });
        } else {
            if margin {
                self.out.push(b'\t');
            }
            self.out.extend_from_slice(&self.subject);
            self.open = true;
        }
        self.predicate.clear();
        self.predicate.push_str(predicate.as_str());
        if predicate == rdf::TYPE {
            self.out.push(b'a');
        } else {
            self.write_iri(predicate.as_str());
        }
        self.out.push(b' ');
    }

    /// Writes the text after an object, if each triple is a line.
    fn end_triple(&mut self) {
        if matches!(self.layout, TripleLayout::Lines { .. }) {
            self.out.extend_from_slice(&self.tail);
        }
    }

    fn object(&mut self, object: ObjectRef<'_>) {
        let lines = matches!(self.layout, TripleLayout::Lines { .. });
        match object {
            ObjectRef::Node(node) => self.write_node(node),
            ObjectRef::Text(text) => write_quoted(text, &mut self.out),
            ObjectRef::Tagged(text, tag) => {
                write_quoted(text, &mut self.out);
                self.out.push(b'@');
                self.out.extend_from_slice(tag.as_bytes());
            }
            ObjectRef::Typed(lexical, datatype) => {
                if !lines && is_shorthand(lexical, datatype) {
                    return self.out.extend_from_slice(lexical.as_bytes());
                }
                write_quoted(lexical, &mut self.out);
                self.out.extend_from_slice(b"^^");
                self.write_iri(datatype);
            }
            ObjectRef::Integer(number) => {
                if lines {
                    self.out.push(b'"');
                    push_decimal(b"", number, &mut self.out);
                    self.out.extend_from_slice(b"\"^^<http://www.w3.org/2001/XMLSchema#integer>");
                } else {
                    push_decimal(b"", number, &mut self.out);
                }
            }
        }
    }

    fn write_node(&mut self, node: NodeRef<'_>) {
        let mut out = std::mem::take(&mut self.out);
        self.node(node, &mut out);
        self.out = out;
    }

    fn write_iri(&mut self, iri: &str) {
        let mut out = std::mem::take(&mut self.out);
        let mut names = std::mem::take(&mut self.names);
        match names.get_mut(WrittenName::place(iri)).filter(|_| iri.len() < 256) {
            Some(name) => {
                if name.iri != iri {
                    name.iri.replace_range(.., iri);
                    name.written.clear();
                    self.iri(iri, &mut name.written);
                }
                out.extend_from_slice(&name.written);
            }
            None => self.iri(iri, &mut out),
        }
        self.names = names;
        self.out = out;
    }

    fn node(&self, node: NodeRef<'_>, out: &mut Vec<u8>) {
        match node {
            NodeRef::Session(reference) => {
                out.extend_from_slice(&self.own);
                out.extend_from_slice(reference.as_bytes());
            }
            NodeRef::Iri(iri) => return self.iri(iri, out),
            NodeRef::Blank(blank) => return push_label(blank, out),
            NodeRef::Label(label) => {
                out.extend_from_slice(b"_:");
                return out.extend_from_slice(label.as_bytes());
            }
            part => {
                out.extend_from_slice(&self.own);
                push_fragment(part, out);
            }
        }
        out.push(b'>');
    }

    fn iri(&self, iri: &str, out: &mut Vec<u8>) {
        let TripleLayout::Blocks { relative, .. } = self.layout else {
            out.push(b'<');
            out.extend_from_slice(iri.as_bytes());
            return out.push(b'>');
        };
        for (prefix, namespace) in PREFIXES {
            if let Some(local) = iri.strip_prefix(namespace)
                && is_local_name(local)
            {
                out.extend_from_slice(prefix.as_bytes());
                out.push(b':');
                return out.extend_from_slice(local.as_bytes());
            }
        }
        let inside = iri.strip_prefix(self.iri.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('#'));
        out.push(b'<');
        out.extend_from_slice(inside.filter(|_| relative).unwrap_or(iri).as_bytes());
        out.push(b'>');
    }
}

impl Rendered for TextRenderer {
    fn start_record(&mut self, graph: Option<&str>) {
        self.tail.clear();
        if let (Some(reference), TripleLayout::Lines { graphs: true }) = (graph, self.layout) {
            for part in [" <", &self.iri, reference, ">"] {
                self.tail.extend_from_slice(part.as_bytes());
            }
        }
        self.tail.extend_from_slice(b" .\n");
        self.record = self.out.len();
        self.graph = graph.map(str::to_owned);
        if matches!(self.layout, TripleLayout::Blocks { .. }) {
            self.out.push(b'\n');
        }
    }

    fn continue_record(&mut self, graph: Option<&str>) {
        self.start_record(graph);
        self.out.truncate(self.record); // no blank line
    }

    fn end_record(&mut self) {
        self.close();
        if self.out.get(self.record..) == Some(b"\n") {
            self.out.truncate(self.record); // it had no triples
        }
        let (start, end) = (self.record, self.out.len());
        if end > start {
            self.records.push(RecordSpan { start, end, graph: self.graph.take() });
        }
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn clear(&mut self) {
        self.out.clear();
        self.out.shrink_to(KEPT);
        self.records.clear();
        self.count = 0;
    }
}

impl TripleSink for TextRenderer {
    fn subject(&mut self, node: NodeRef<'_>) {
        self.close();
        let mut subject = std::mem::take(&mut self.subject);
        subject.clear();
        self.node(node, &mut subject);
        let lines = matches!(self.layout, TripleLayout::Lines { .. });
        subject.extend_from_slice(if lines { b" <" } else { b" " });
        self.subject = subject;
    }

    fn triple(&mut self, predicate: NamedNodeRef<'_>, object: ObjectRef<'_>) {
        self.predicate(predicate);
        self.object(object);
        self.end_triple();
    }

    /// Writes quads. Turtle and TriG ignore the graph of quads, since TriG shows it in the enclosing block.
    fn quads(&mut self, quads: &[Quad]) {
        let mut last = None;
        for quad in quads {
            if last != Some(&quad.subject) {
                last = Some(&quad.subject);
                self.subject(quad.subject.as_ref().into());
            }
            if self.layout == (TripleLayout::Lines { graphs: true }) {
                self.tail.clear();
                if quad.graph_name != GraphName::DefaultGraph {
                    let _ = write!(self.tail, " {}", quad.graph_name);
                }
                self.tail.extend_from_slice(b" .\n");
            }
            match ObjectRef::new(quad.object.as_ref()) {
                Some(object) => self.triple(quad.predicate.as_ref(), object),
                None => {
                    self.predicate(quad.predicate.as_ref());
                    let _ = write!(self.out, "{}", quad.object);
                    self.end_triple();
                }
            }
        }
    }
}

/// Appends the fragment of a node that is named by its record or its line, like `Display` but faster; nothing for other
/// nodes.
pub(super) fn push_fragment(node: NodeRef<'_>, out: &mut Vec<u8>) {
    let mut index = 0;
    let (letter, number, element, suffix) = match node {
        NodeRef::Message(name) => (b'm', name.record, name.element, ""),
        NodeRef::Id(name) => (b'm', name.record, name.element, "-id"),
        NodeRef::Error(name) => (b'm', name.record, name.element, "-error"),
        NodeRef::Part(name, part) => {
            index = part.index;
            (b'm', name.record, name.element, part.kind.suffix())
        }
        NodeRef::LogLine(line, nth) => (b'l', line, nth, ""),
        NodeRef::Session(_) | NodeRef::Iri(_) | NodeRef::Blank(_) | NodeRef::Label(_) => return,
    };
    push_decimal(&[b'#', letter], number, out);
    if let Some(element) = element {
        push_decimal(b".", element.into(), out);
    }
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
fn push_decimal(before: &[u8], mut number: u64, out: &mut Vec<u8>) {
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

/// Appends a string literal without its type: `STRING_LITERAL_QUOTE` of N-Triples and Turtle.
fn write_quoted(text: &str, out: &mut Vec<u8>) {
    const ROOM: usize = 64;
    out.reserve(text.len() + 2);
    out.push(b'"');
    // Payloads have a quote every few bytes: short pieces are put together here, eight bytes at a time.
    let (mut pieces, mut filled) = ([0; ROOM + 16], 0);
    let mut rest = text.as_bytes();
    while let Some((chunk, after)) = rest.split_first_chunk::<8>() {
        let plain = json::special(chunk);
        pieces[filled..filled + 8].copy_from_slice(chunk);
        filled += plain;
        let special = chunk.get(plain).copied();
        if let Some(special @ (b'"' | b'\\')) = special {
            pieces[filled..filled + 2].copy_from_slice(&[b'\\', special]);
            filled += 2;
            rest = rest.get(plain + 1..).unwrap_or_default();
            if filled <= ROOM {
                continue;
            }
        }
        out.extend_from_slice(pieces.get(..filled).unwrap_or_default());
        filled = 0;
        match special {
            Some(b'"' | b'\\') => {}
            Some(special) => {
                write_escape(special, out);
                rest = rest.get(plain + 1..).unwrap_or_default();
            }
            None => {
                let (long, behind) = after.split_at_checked(json::special(after)).unwrap_or((after, b""));
                out.extend_from_slice(long);
                rest = behind;
            }
        }
    }
    out.extend_from_slice(pieces.get(..filled).unwrap_or_default());
    for byte in rest {
        match byte {
            0x20.. if !matches!(byte, b'"' | b'\\') => out.push(*byte),
            special => write_escape(*special, out),
        }
    }
    out.push(b'"');
}

fn write_escape(special: u8, out: &mut Vec<u8>) {
    let letter = match special {
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        b'\x08' => b'b',
        b'\x0C' => b'f',
        b'"' | b'\\' => special,
        control => {
            let _ = write!(out, "\\u{control:04X}");
            return;
        }
    };
    out.extend_from_slice(&[b'\\', letter]);
}

/// Returns true if Turtle has a form of the literal without quotes and type.
fn is_shorthand(lexical: &str, datatype: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = lexical.strip_prefix(['+', '-']).unwrap_or(lexical);
    if datatype == xsd::INTEGER.as_str() {
        digits(unsigned)
    } else if datatype == xsd::DECIMAL.as_str() {
        unsigned.split_once('.').is_some_and(|(integer, fraction)| digits(integer) && digits(fraction))
    } else if datatype == xsd::DOUBLE.as_str() {
        let exponent = |text: &str| digits(text.strip_prefix(['+', '-']).unwrap_or(text));
        unsigned.split_once('E').is_some_and(|(mantissa, power)| {
            exponent(power) && mantissa.split_once('.').is_some_and(|(integer, part)| digits(integer) && digits(part))
        })
    } else {
        datatype == xsd::BOOLEAN.as_str() && matches!(lexical, "true" | "false")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        let quoted = |text: &str| {
            let mut out = Vec::new();
            write_quoted(text, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(quoted(""), "\"\"");
        assert_eq!(quoted("plain é😀 text, longer than a word"), "\"plain é😀 text, longer than a word\"");
        for length in 0..200 {
            for every in [1, 2, 3, 7, 8, 9, 40] {
                let text: String = (0..length).map(|at| if at % every == 0 { '"' } else { 'a' }).collect();
                assert_eq!(quoted(&text), format!("\"{}\"", text.replace('"', "\\\"")));
            }
        }
        assert_eq!(quoted("\"\\\n\r\t\u{8}\u{c}\u{0}\u{1f}"), r#""\"\\\n\r\t\b\f\u0000\u001F""#);
    }

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

    #[test]
    fn shorthands_are_what_turtle_reads() {
        for (lexical, datatype, expected) in [
            ("-32601", xsd::INTEGER, true),
            ("1", xsd::DECIMAL, false),
            ("0.418", xsd::DECIMAL, true),
            ("1.", xsd::DECIMAL, false),
            ("1.5E0", xsd::DOUBLE, true),
            ("INF", xsd::DOUBLE, false),
            ("true", xsd::BOOLEAN, true),
            ("1", xsd::BOOLEAN, false),
            ("", xsd::INTEGER, false),
        ] {
            assert_eq!(is_shorthand(lexical, datatype.as_str()), expected, "{lexical}");
        }
    }
}
