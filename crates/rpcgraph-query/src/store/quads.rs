//! RDF documents, parsed within limits, since they are untrusted.
//!
//! The readers of oxttl fail on literals longer than 16 MiB, which occur in logs. So this module feeds its parsers
//! directly.

mod guard;

use std::convert::identity;
use std::io::{self, Read};
use std::{iter, mem};

use oxrdf::{BlankNode, GraphName, NamedOrBlankNode, Quad, Term, Triple};
use oxrdfio::{RdfFormat, RdfParseError, RdfParser};
use oxttl::{NQuadsParser, NTriplesParser, TriGParser, TurtleParser};

use self::guard::{DepthGuard, EntityGuard, GuardedReader, too_long};

/// The default maximum length of a literal, in bytes.
#[cfg(feature = "http")]
pub(crate) const LONGEST: usize = 256 << 20;
/// The number of bytes that a parser is fed at once, unless it has waited in vain for the end of something longer.
const CHUNK: usize = 64 << 10;

/// An iterator over parsed quads.
pub(crate) type Quads<'r> = Box<dyn Iterator<Item = Result<Quad, RdfParseError>> + 'r>;

/// Parses the quads of a document; relative IRIs resolve against `base`. Nothing in the document may be longer than
/// `longest` bytes. In JSON-LD, literals of more than 16 MiB are accepted only in documents of at most `longest` bytes,
/// and only with a buffer `text` for the document.
pub(crate) fn quads<'r>(
    format: RdfFormat,
    base: &str,
    longest: usize,
    read: impl Read + 'r,
    text: Option<&'r mut Vec<u8>>,
) -> Quads<'r> {
    // Boxed, so that parsers are compiled for one type of reader.
    boxed_quads(format, base, longest, Box::new(read), text)
}

fn boxed_quads<'r>(
    format: RdfFormat,
    base: &str,
    longest: usize,
    read: Box<dyn Read + 'r>,
    text: Option<&'r mut Vec<u8>>,
) -> Quads<'r> {
    macro_rules! fed {
        ($parser:expr, $quad:expr) => {{
            let mut parser = $parser.low_level();
            let mut feed = Feed { read, longest, waiting: 0, chunk: Vec::new() };
            Box::new(iter::from_fn(move || {
                loop {
                    if let Some(quad) = parser.parse_next() {
                        feed.waiting = 0;
                        return Some(quad.map($quad).map_err(|error| RdfParseError::Syntax(error.into())));
                    }
                    if parser.is_end() {
                        return None;
                    }
                    match feed.next() {
                        Ok([]) => parser.end(),
                        Ok(bytes) => parser.extend_from_slice(bytes),
                        Err(error) => return Some(Err(error.into())),
                    }
                }
            }))
        }};
    }
    let in_no_graph = |triple: Triple| triple.in_graph(GraphName::DefaultGraph);
    match format {
        RdfFormat::NTriples => fed!(NTriplesParser::new(), in_no_graph),
        RdfFormat::NQuads => fed!(NQuadsParser::new(), identity),
        RdfFormat::Turtle => fed!(TurtleParser::new().with_base_iri(base).unwrap_or_default(), in_no_graph),
        RdfFormat::TriG => fed!(TriGParser::new().with_base_iri(base).unwrap_or_default(), identity),
        _ => {
            let parser = RdfParser::from_format(format);
            let parser = parser.clone().with_base_iri(base).unwrap_or(parser);
            match format {
                RdfFormat::JsonLd { .. } => {
                    json_ld(parser, longest, Box::new(GuardedReader { read, guard: DepthGuard::default() }), text)
                }
                _ => parsed(parser, Box::new(GuardedReader { read, guard: EntityGuard::default() })),
            }
        }
    }
}

/// Parses JSON-LD. The reader of oxjsonld fails at 16 MiB as well, and cannot be fed: a document that is short enough
/// is parsed as a whole.
fn json_ld<'r>(
    parser: RdfParser,
    longest: usize,
    mut read: Box<dyn Read + 'r>,
    text: Option<&'r mut Vec<u8>>,
) -> Quads<'r> {
    let Some(text) = text else { return parsed(parser, read) };
    match read.by_ref().take((longest as u64).saturating_add(1)).read_to_end(text) {
        Ok(length) if length <= longest => {
            Box::new(parser.for_slice(text).map(|quad| quad.map_err(RdfParseError::Syntax)))
        }
        Ok(_) => parsed(parser, Box::new(text.as_slice().chain(read))),
        Err(error) => Box::new(iter::once(Err(error.into()))),
    }
}

fn parsed<'r>(parser: RdfParser, read: Box<dyn Read + 'r>) -> Quads<'r> {
    Box::new(parser.for_reader(read))
}

/// The source of bytes for a parser.
struct Feed<R> {
    read: R,
    longest: usize,
    /// The number of bytes fed since the parser's last quad.
    waiting: usize,
    chunk: Vec<u8>,
}

impl<R: Read> Feed<R> {
    /// Returns the next bytes; an empty slice at the end.
    fn next(&mut self) -> io::Result<&[u8]> {
        if self.waiting > self.longest {
            return Err(too_long(mem::take(&mut self.waiting)));
        }
        // The parser restarts at an incomplete item: twice as many bytes each time keep restarts rare.
        let wanted = CHUNK.max(self.waiting);
        self.chunk.clear();
        self.waiting += self.read.by_ref().take(wanted as u64).read_to_end(&mut self.chunk)?;
        Ok(&self.chunk)
    }
}

/// Adds a prefix to the labels of a quad's blank nodes. Labels are unique only within one graph or answer, while a
/// store treats equal labels from everywhere as one node.
pub(crate) fn with_blanks(mut quad: Quad, prefix: &str) -> Quad {
    let with_prefix = |node: &BlankNode| BlankNode::new_unchecked(format!("{prefix}{}", node.as_str()));
    if let NamedOrBlankNode::BlankNode(node) = &quad.subject {
        quad.subject = with_prefix(node).into();
    }
    if let Term::BlankNode(node) = &quad.object {
        quad.object = with_prefix(node).into();
    }
    if let GraphName::BlankNode(node) = &quad.graph_name {
        quad.graph_name = with_prefix(node).into();
    }
    quad
}
