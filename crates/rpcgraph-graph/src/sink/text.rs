//! Triples as N-Triples, N-Quads, Turtle and TriG.

mod names;

use std::io::Write as _;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{GraphName, NamedNodeRef, Quad};

pub(crate) use self::names::TripleLayout;
pub(super) use self::names::push_fragment;
use self::names::{NodeNames, push_decimal};
use super::rendered::{KEPT, RecordSpan, Rendered};
use crate::json;
use crate::session::triples::{NodeRef, ObjectRef, TripleSink};

/// Writes triples as text: one per line, or one block per subject with prefixed names and IRIs relative to the input's
/// IRI.
pub(crate) struct TextRenderer {
    layout: TripleLayout,
    names: NodeNames,
    out: Vec<u8>,
    /// The text after the last triple of a subject, which is the graph and a full stop, and then the subject.
    around: Vec<u8>,
    /// The length of the text before the subject.
    end: usize,
    predicate: String,
    /// True if the subject already has a triple.
    open: bool,
    /// The start of the record in `out`.
    record: usize,
    /// The reference of the record's graph.
    graph: Option<String>,
    records: Vec<RecordSpan>,
    count: u64,
}

impl TextRenderer {
    pub fn new(layout: TripleLayout, iri: &str) -> Self {
        Self {
            layout,
            names: NodeNames::new(layout, iri),
            out: Vec::with_capacity(KEPT),
            around: Vec::new(),
            end: 0,
            predicate: String::new(),
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
            self.out.extend_from_slice(self.around.get(..self.end).unwrap_or_default());
            self.open = false;
        }
    }

    /// Writes the text before an object.
    fn predicate(&mut self, predicate: NamedNodeRef<'_>) {
        self.count += 1;
        let is_open = std::mem::replace(&mut self.open, true);
        let TripleLayout::Blocks { margin, .. } = self.layout else {
            let from = if is_open { 0 } else { self.end };
            self.out.extend_from_slice(self.around.get(from..).unwrap_or_default());
            self.out.extend_from_slice(predicate.as_str().as_bytes());
            return self.out.extend_from_slice(b"> ");
        };
        if is_open && self.predicate == predicate.as_str() {
            return self.out.extend_from_slice(b" , ");
        }
        if is_open {
            self.out.extend_from_slice(if margin { b" ;\n\t\t" } else { b" ;\n\t" });
        } else {
            if margin {
                self.out.push(b'\t');
            }
            self.out.extend_from_slice(self.around.get(self.end..).unwrap_or_default());
        }
        self.predicate.clear();
        self.predicate.push_str(predicate.as_str());
        if predicate == rdf::TYPE {
            self.out.push(b'a');
        } else {
            self.names.push_iri(predicate.as_str(), &mut self.out);
        }
        self.out.push(b' ');
    }

    fn object(&mut self, object: ObjectRef<'_>) {
        let lines = matches!(self.layout, TripleLayout::Lines { .. });
        match object {
            ObjectRef::Node(node) => self.names.push(node, &mut self.out),
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
                self.names.push_iri(datatype, &mut self.out);
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

    /// Sets the text after the last triple of a subject: a graph, if any, and a full stop.
    fn set_end(&mut self, graph: Option<NodeRef<'_>>) {
        self.around.clear();
        if let Some(graph) = graph {
            self.around.push(b' ');
            self.names.push(graph, &mut self.around);
        }
        self.around.extend_from_slice(b" .\n");
        self.end = self.around.len();
    }

    /// Returns the graph of a quad, `None` for the default graph, and in TriG for the record's own.
    fn graph_of<'q>(&self, quad: &'q Quad) -> Option<NodeRef<'q>> {
        match (&quad.graph_name, self.layout) {
            (GraphName::BlankNode(blank), _) => Some(NodeRef::Label(blank.as_str())),
            (GraphName::DefaultGraph, _) | (_, TripleLayout::Blocks { margin: true, .. }) => None,
            (GraphName::NamedNode(name), _) => Some(NodeRef::Iri(name.as_str())),
        }
    }

    /// Continues in another graph: TriG closes the block of the graph, and opens the block of the next one.
    fn change_graph(&mut self, from: Option<NodeRef<'_>>, to: Option<NodeRef<'_>>) {
        let TripleLayout::Blocks { margin, .. } = self.layout else { return self.set_end(to) };
        if from.is_some() || margin {
            self.out.extend_from_slice(b"}\n");
        }
        let own = self.graph.as_deref().map(NodeRef::Session).filter(|_| margin);
        if let Some(graph) = to.or(own) {
            self.names.push(graph, &mut self.out);
            self.out.extend_from_slice(b" {\n");
        }
    }
}

impl Rendered for TextRenderer {
    fn start_record(&mut self, graph: Option<&str>) {
        let in_graph = self.layout == (TripleLayout::Lines { graphs: true });
        self.set_end(graph.map(NodeRef::Session).filter(|_| in_graph));
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
        self.around.truncate(self.end);
        self.names.push(node, &mut self.around);
        let lines = matches!(self.layout, TripleLayout::Lines { .. });
        self.around.extend_from_slice(if lines { b" <" } else { b" " });
    }

    fn triple(&mut self, predicate: NamedNodeRef<'_>, object: ObjectRef<'_>) {
        self.predicate(predicate);
        self.object(object);
    }

    /// Writes quads. Turtle and N-Triples ignore their graphs.
    fn quads(&mut self, quads: &[Quad]) {
        let (has_graphs, is_trig) = match self.layout {
            TripleLayout::Lines { graphs } => (graphs, false),
            TripleLayout::Blocks { graphs, .. } => (graphs, graphs),
        };
        let (mut subject, mut graph) = (None, is_trig.then_some(None));
        for quad in quads {
            let next = Some(self.graph_of(quad)).filter(|_| has_graphs);
            if subject != Some(&quad.subject) || graph != next {
                self.close();
                if let Some(next) = next.filter(|next| graph != Some(*next)) {
                    self.change_graph(graph.flatten(), next);
                }
                (subject, graph) = (Some(&quad.subject), next);
                self.subject(quad.subject.as_ref().into());
            }
            match ObjectRef::new(quad.object.as_ref()) {
                Some(object) => self.triple(quad.predicate.as_ref(), object),
                None => {
                    self.predicate(quad.predicate.as_ref());
                    let _ = write!(self.out, "{}", quad.object);
                }
            }
        }
        if let (Some(last @ Some(_)), true) = (graph, is_trig) {
            self.close();
            self.change_graph(last, None);
        }
    }
}

/// Appends a string literal without its type: `STRING_LITERAL_QUOTE` of N-Triples and Turtle.
fn write_quoted(text: &str, out: &mut Vec<u8>) {
    const ROOM: usize = 64;
    out.reserve(text.len() + 2);
    out.push(b'"');
    // Payloads have a quote every few bytes: short pieces are put together here, sixteen bytes at a time.
    let (mut pieces, mut filled) = ([0; ROOM + 32], 0);
    let mut rest = text.as_bytes();
    while let Some((chunk, after)) = rest.split_first_chunk::<16>() {
        let plain = json::special_in(chunk).unwrap_or(chunk.len());
        pieces[filled..filled + 16].copy_from_slice(chunk);
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
    loop {
        let (plain, behind) = rest.split_at_checked(json::special(rest)).unwrap_or((rest, b""));
        out.extend_from_slice(plain);
        let Some((special, behind)) = behind.split_first() else { break };
        write_escape(*special, out);
        rest = behind;
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
