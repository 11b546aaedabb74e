//! Mappings: from an annotated message to triples.
//!
//! There is one definition, the walk (`mapping/walk.rs`) over an annotated message, and two writers for it. One writes
//! JSON-LD, which the JSON-LD 1.1 algorithms expand with the contexts into the graph: this is the reference path, for
//! any contexts, and anyone can check it. The other pushes the same triples directly, including triples from a further
//! context as long as its compiled terms cover it. A message that they do not cover takes the reference path.

mod bblock;
mod data;
mod document;
mod facts;
mod further;
mod loss;
mod number;
mod reference;
mod rows;
mod shape;
mod spans;
mod stack;
pub(crate) mod terms;
mod triples;
mod walk;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use oxrdf::{GraphName, NamedNode};

use self::bblock::PlainMessages;
use self::document::DocumentWriter;
use self::further::{FurtherContexts, FurtherTerms, MessagePlan};
pub use self::loss::{Loss, Losses};
pub use self::number::NumberLiteral;
use self::reference::ContextExpander;
#[doc(hidden)]
pub use self::reference::document_quads;
pub use self::reference::{ActiveContext, ReferenceError, document_to_rdf, process_with};
use self::shape::{MappingRules, Shape};
pub use self::stack::{STACK, deep_thread};
use self::triples::TripleWriter;
use self::walk::MessageWalk;
use crate::context::{self, Context};
use crate::json::{self, Numbers};
use crate::message::{Content, Problem};
use crate::protocol::makers::MakerTerms;
use crate::protocol::{self, Statement};
use crate::session::triples::{BlankName, TripleSink};
use crate::session::{Annotated, Node, SessionEnd, session_reference};
use crate::sink::{DocumentRecords, SinkInput};

/// Returns the makers of triples, and their terms.
pub(crate) fn makers() -> impl Iterator<Item = &'static MakerTerms> {
    walk::MAKERS.iter().chain(&*protocol::makers::MAKERS)
}

/// A mapping from messages to triples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mapping {
    /// Sessions, exchanges, times and problems; nothing lost
    ///
    /// Each session has a named graph.
    #[default]
    Session,
    /// The building block to the letter: every message by itself under its context
    ///
    /// Each is a document of its own, in the default graph.
    Bblock,
}

/// The maximum size of a document that is expanded, in bytes. Expansion takes up to 450 times the document's memory. A
/// larger message is treated as data under further contexts, and is left out in `bblock`.
const MOST_EXPANDED: usize = 1 << 20;
/// The size in bytes above which documents are expanded one at a time.
const ALONE: usize = 64 << 10;
/// The maximum size of a message that is mapped by further contexts, in bytes. The triples of its values take up to 100
/// times its memory.
const MOST_PLANNED: usize = 8 << 20;

/// A mapping under a list of contexts, for any number of inputs.
#[derive(Debug, Clone)]
pub struct Mapper {
    mapping: Mapping,
    provenance: bool,
    reference_only: bool,
    /// The `@context` of a document, without the base.
    contexts: Vec<serde_json::Value>,
    further: Option<FurtherTerms>,
    /// The lock held while a large document is expanded.
    alone: Arc<Mutex<()>>,
}

impl Mapper {
    /// Creates a mapper for the built-in contexts and then `further` contexts, in order. Fails if JSON-LD refuses a
    /// context.
    pub fn new(mapping: Mapping, further: &[Context]) -> Result<Self, ReferenceError> {
        let builtin = match mapping {
            Mapping::Session => context::builtin(),
            Mapping::Bblock => context::builtin().get(..1).unwrap_or_default(),
        };
        let terms = (!further.is_empty()).then(|| FurtherTerms::new(further));
        let mut mapper = Self {
            mapping,
            provenance: false,
            reference_only: false,
            contexts: Vec::new(),
            further: terms,
            alone: Arc::default(),
        };
        for context in builtin.iter().chain(further) {
            // A context within an array of contexts must not be an array.
            mapper.contexts.extend(context::definitions(context.value()).iter().cloned());
        }
        if mapper.further.is_some() {
            Expander::new(&mapper, None).map_err(|error| culprit(mapping, further, error))?;
        }
        Ok(mapper)
    }

    /// Sets whether each record gets its line, byte offset and SHA-256.
    #[must_use]
    pub fn with_provenance(self, provenance: bool) -> Self {
        Self { provenance, ..self }
    }

    /// Sets whether every message takes the reference path, even if the fast path covers it.
    #[must_use]
    pub fn with_reference_only(self, reference_only: bool) -> Self {
        Self { reference_only, ..self }
    }

    /// The mapping in use.
    pub fn mapping(&self) -> Mapping {
        self.mapping
    }

    /// Returns true if messages are annotated as messages of sessions.
    pub(crate) fn in_session(&self) -> bool {
        self.mapping == Mapping::Session
    }

    /// The `@context` of an input's documents: the built-in contexts, the further contexts, the base.
    pub fn context(&self, input: &InputIri) -> serde_json::Value {
        let mut contexts = self.contexts.clone();
        if self.base_in_context(input) {
            contexts.push(serde_json::json!({ "@base": input.iri }));
        }
        serde_json::Value::Array(contexts)
    }

    /// The format of numbers in payloads.
    pub fn numbers(&self) -> Numbers {
        match self.mapping {
            Mapping::Session => Numbers::Exact,
            Mapping::Bblock => Numbers::Rfc8785,
        }
    }

    /// Returns true if the mapping does not look into payloads and extra members.
    pub fn payloads_stay_opaque(&self) -> bool {
        self.further.is_none() && !self.reference_only
    }

    /// Returns true if a message of `length` bytes is data whatever the contexts say.
    pub(crate) fn is_too_large(&self, length: usize) -> bool {
        length > MOST_PLANNED && !self.reference_only
    }

    /// Returns true if long arrays are processed in pieces.
    pub(crate) fn takes_pieces(&self) -> bool {
        !self.reference_only
    }

    /// Returns the data about an input that a sink needs.
    pub(crate) fn sink_input<'i>(&self, input: &'i InputIri, source: &'i str) -> SinkInput<'i> {
        SinkInput { iri: &input.iri, source, named: self.in_session(), context: self.context(input) }
    }

    fn base_in_context(&self, input: &InputIri) -> bool {
        self.in_session() || input.stated
    }
}

/// Returns the error with the name of the first context that cannot follow the contexts before it.
fn culprit(mapping: Mapping, further: &[Context], error: ReferenceError) -> ReferenceError {
    let fails = |count: &usize| Mapper::new(mapping, further.get(..*count).unwrap_or_default()).is_err();
    match (1..further.len()).find(fails).unwrap_or(further.len()).checked_sub(1).and_then(|index| further.get(index)) {
        Some(context) => ReferenceError::NoJsonLd { origin: context.origin().to_owned(), message: error.to_string() },
        None => error,
    }
}

/// The IRI of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputIri {
    /// The index among the inputs, from 0.
    pub number: u32,
    /// The IRI: absolute, without a fragment.
    pub iri: String,
    /// True if the user gave the IRI. In `bblock`, it is then the `@base` of a context; otherwise it is only the
    /// document's base, which the building block's own `@base` overrides.
    pub stated: bool,
}

/// Maps the records of one input. Every thread has its own.
pub struct InputMapper<'m> {
    mapper: &'m Mapper,
    input: &'m InputIri,
    /// Created when the first message needs it.
    expander: Option<Expander>,
    plain: Option<PlainMessages>,
    tally: MapTally,
    /// The next free blank node of a record that is mapped in pieces.
    next: BlankName,
}

/// The counts of a mapping.
#[derive(Debug, Default)]
pub struct MapTally {
    /// The losses.
    pub losses: Losses,
    /// Messages that have the problem `KeywordMember` only under further contexts.
    pub keyword_members: u64,
    /// Records that took the reference path, by reason.
    pub by_reference: BTreeMap<&'static str, u64>,
}

impl MapTally {
    /// Adds the counts of another tally.
    pub fn merge(&mut self, other: &Self) {
        self.losses.merge(&other.losses);
        self.keyword_members += other.keyword_members;
        for (reason, count) in &other.by_reference {
            *self.by_reference.entry(reason).or_default() += count;
        }
    }
}

/// Processed contexts for the reference path.
struct Expander {
    reference: ContextExpander,
    shape: Rc<Shape>,
    further: Option<FurtherContexts>,
}

impl Drop for Expander {
    fn drop(&mut self) {
        self.shape.forget();
    }
}

impl Expander {
    fn new(mapper: &Mapper, input: Option<&InputIri>) -> Result<Self, ReferenceError> {
        let contexts = match input {
            Some(input) => mapper.context(input),
            None => serde_json::Value::Array(mapper.contexts.clone()),
        };
        let reference = ContextExpander::new(&contexts, input.map(|input| &*input.iri), mapper.numbers())?;
        let rules = MappingRules { numbers: mapper.numbers(), iri_members: mapper.mapping == Mapping::Bblock };
        let shape = Shape::new(reference.active().clone(), rules);
        let further = mapper.further.clone().map(|terms| FurtherContexts::new(shape.clone(), terms));
        Ok(Self { reference, shape, further })
    }
}

/// A unit of mapping.
pub enum MapPart<'p> {
    /// The nodes of a record, with the reference of their session and the statements of protocols.
    Nodes(&'p str, &'p [Annotated<'p>], &'p [Statement<'p>]),
    /// The session's own node, at its end.
    End(&'p SessionEnd<'p>),
    /// A record in the mapping `bblock`, by its number: its object, or the objects of its array, unchanged.
    Plain(u64, &'p [u8], &'p Content<'p>),
}

/// The reference of the nodes' session, and the statements of protocols.
type NodeSurroundings<'p> = (&'p str, &'p [Statement<'p>]);

/// The target of a mapping: triples, or the JSON-LD that expands to them.
pub trait MapTarget {
    /// Maps a part into the target.
    fn map(&mut self, mapper: &mut InputMapper<'_>, part: &MapPart<'_>) -> Result<(), ReferenceError>;
}

impl<T: TripleSink> MapTarget for T {
    fn map(&mut self, mapper: &mut InputMapper<'_>, part: &MapPart<'_>) -> Result<(), ReferenceError> {
        match *part {
            MapPart::Nodes(session, nodes, statements) => {
                let plain = mapper.mapper.payloads_stay_opaque();
                // Under further contexts each message is a document of its own.
                let size = if mapper.mapper.further.is_some() { 1 } else { nodes.len().max(1) };
                let mut result = Ok(());
                for nodes in nodes.chunks(size) {
                    let blank = mapper.blank(nodes.first().map_or(0, |node| node.name.record));
                    let around = (session, statements);
                    let mapped = if plain { Ok(()) } else { mapper.push_under_contexts(around, nodes, blank, self) };
                    if plain || mapped.is_err() {
                        // A message that a further context cannot map is data, as without that context.
                        let mut walk = mapper.walk(around, blank, self);
                        nodes.iter().for_each(|node| walk.node(node, None));
                    }
                    result = result.and(mapped);
                }
                result
            }
            MapPart::End(end) if mapper.mapper.reference_only => {
                let mut document = String::new();
                mapper.document_walk(("", &[]), &mut document).session_end(end);
                mapper.expand(&session_reference(end.key), &mut mapper.blank(0), &document, self)
            }
            MapPart::End(end) => {
                let blank = mapper.blank(0);
                mapper.walk(("", &[]), blank, self).session_end(end);
                Ok(())
            }
            MapPart::Plain(record, bytes, content) => {
                let blank = mapper.blank(record);
                if let Some(plain) = &mapper.plain
                    && let Some(next) = plain.push(content, blank, self)
                {
                    mapper.next = next;
                    return Ok(());
                }
                let mut blanks = blank;
                let result = mapper.each_object(bytes, |mapper, shape, object| {
                    let reason = match mapper.mapper.reference_only {
                        true => "asked for",
                        false => match bblock::push(object, shape, blanks, self, &mut mapper.tally.losses)? {
                            Ok(next) => {
                                blanks = next;
                                return Ok(());
                            }
                            Err(reason) => reason,
                        },
                    };
                    mapper.count_reference(reason);
                    // Each object separately: expansion would merge equal objects.
                    let mut document = String::new();
                    bblock::write(object, shape, blanks, &mut document, &mut mapper.tally.losses)?;
                    mapper.expand("", &mut blanks, &document, self)
                });
                mapper.next = blanks;
                result
            }
        }
    }
}

impl MapTarget for DocumentRecords {
    fn map(&mut self, mapper: &mut InputMapper<'_>, part: &MapPart<'_>) -> Result<(), ReferenceError> {
        let out = self.record();
        match *part {
            MapPart::Nodes(session, nodes, statements) => mapper.write((session, statements), nodes, out),
            MapPart::End(end) => {
                mapper.document_walk(("", &[]), out).session_end(end);
                Ok(())
            }
            MapPart::Plain(record, bytes, _) => {
                let mut blank = mapper.blank(record);
                let result = mapper.each_object(bytes, |mapper, shape, object| {
                    let start = out.len();
                    let written = bblock::write(object, shape, blank.mint(), out, &mut mapper.tally.losses);
                    written.inspect_err(|_| out.truncate(start))
                });
                mapper.next = blank;
                result
            }
        }
    }
}

impl<'m> InputMapper<'m> {
    /// Creates a mapper for the records of an input.
    pub fn new(mapper: &'m Mapper, input: &'m InputIri) -> Self {
        let plain = (mapper.mapping == Mapping::Bblock && mapper.payloads_stay_opaque())
            .then(|| PlainMessages::new(mapper.base_in_context(input), &input.iri));
        let next = BlankName { input: input.number, record: 0, index: 0 };
        Self { mapper, input, expander: None, plain, tally: MapTally::default(), next }
    }

    /// Returns the counts since the last call.
    pub fn take_tally(&mut self) -> MapTally {
        std::mem::take(&mut self.tally)
    }

    /// Counts a loss found outside the mapping.
    pub fn lose(&mut self, loss: Loss) {
        self.tally.losses.add(loss);
    }

    /// Returns the first blank node of a record, or the next one in a record that is mapped in pieces.
    fn blank(&self, record: u64) -> BlankName {
        if self.next.record == record { self.next } else { BlankName { input: self.input.number, record, index: 0 } }
    }

    fn walk<'t, 'v, T: TripleSink>(
        &'t mut self,
        (session, statements): NodeSurroundings<'t>,
        blank: BlankName,
        triples: &'t mut T,
    ) -> MessageWalk<'t, TripleWriter<'t, 'v, T>> {
        let writer = TripleWriter::new(triples, blank);
        MessageWalk { writer, provenance: self.mapper.provenance, session, statements }
    }

    fn document_walk<'w>(
        &self,
        (session, statements): NodeSurroundings<'w>,
        out: &'w mut String,
    ) -> MessageWalk<'w, DocumentWriter<'w>> {
        MessageWalk { writer: DocumentWriter::new(out), provenance: self.mapper.provenance, session, statements }
    }

    /// Maps nodes under further contexts: by a plan if it covers the whole message, otherwise by expansion.
    fn push_under_contexts<T: TripleSink>(
        &mut self,
        around: NodeSurroundings<'_>,
        nodes: &[Annotated<'_>],
        mut blank: BlankName,
        triples: &mut T,
    ) -> Result<(), ReferenceError> {
        let reason = match nodes {
            _ if self.mapper.reference_only => "asked for",
            [node] => {
                let plan = self.plan(node, blank, false)?;
                match plan.as_ref().and_then(|plan| plan.tally.uncovered) {
                    Some(reason) => reason,
                    None => {
                        self.note(node, plan.as_ref());
                        let mut walk = self.walk(around, blank, triples);
                        walk.node(node, plan.as_ref());
                        self.next = walk.writer.next;
                        return Ok(());
                    }
                }
            }
            _ => "asked for",
        };
        self.count_reference(reason);
        let mut document = String::new();
        self.write(around, nodes, &mut document)?;
        let result = self.expand(around.0, &mut blank, &document, triples);
        self.next = blank;
        result
    }

    /// Writes nodes as JSON-LD. A message that a further context cannot map is written as without that context.
    fn write(
        &mut self,
        around: NodeSurroundings<'_>,
        nodes: &[Annotated<'_>],
        out: &mut String,
    ) -> Result<(), ReferenceError> {
        let mut result = Ok(());
        for node in nodes {
            let mut blank = self.blank(node.name.record);
            let plan = self.plan(node, blank.mint(), true);
            self.next = blank;
            let plan = plan.unwrap_or_else(|error| {
                result = Err(error);
                None
            });
            self.note(node, plan.as_ref());
            self.document_walk(around, out).node(node, plan.as_ref());
        }
        result
    }

    /// Returns the plan of further contexts for a message, if there are any: as JSON-LD text if `written`, otherwise as
    /// values.
    fn plan<'e>(
        &mut self,
        node: &'e Annotated<'e>,
        blank: BlankName,
        written: bool,
    ) -> Result<Option<MessagePlan<'e>>, ReferenceError> {
        let Node::Message(message) = &node.node else { return Ok(None) };
        if self.mapper.further.is_none() {
            return Ok(None);
        }
        if message.is_longer(MOST_PLANNED) {
            return Err(ReferenceError::Large(MOST_PLANNED >> 20));
        }
        let further = self.expander()?.further.as_ref();
        further.map(|further| MessagePlan::new(further, message, blank, written)).transpose()
    }

    /// Counts the losses of an executed plan.
    fn note(&mut self, node: &Annotated<'_>, plan: Option<&MessagePlan<'_>>) {
        if let Some(plan) = plan {
            self.tally.losses.merge(&plan.tally.losses);
            self.tally.keyword_members +=
                u64::from(plan.has_keyword() && !node.problems.contains(Problem::KeywordMember));
        }
    }

    fn count_reference(&mut self, reason: &'static str) {
        *self.tally.by_reference.entry(reason).or_default() += 1;
    }

    /// Calls `take` with each object of a record, and the shape for its terms.
    fn each_object(
        &mut self,
        bytes: &[u8],
        mut take: impl FnMut(&mut Self, &Rc<Shape>, &json::Value<'_>) -> Result<(), ReferenceError>,
    ) -> Result<(), ReferenceError> {
        if self.mapper.is_too_large(bytes.len()) {
            return Err(ReferenceError::Large(MOST_PLANNED >> 20));
        }
        let Ok(value) = json::parse(bytes) else {
            self.tally.losses.add(Loss::NoObject);
            return Ok(());
        };
        let shape = self.expander()?.shape.clone();
        let single = std::slice::from_ref(&value);
        let values = if let json::Value::Array(array) = &value { array.items.as_slice() } else { single };
        let mut result = Ok(());
        for value in values {
            result = result.and(take(self, &shape, value));
        }
        result
    }

    fn expander(&mut self) -> Result<&Expander, ReferenceError> {
        if self.expander.is_none() {
            self.expander = Some(Expander::new(self.mapper, Some(self.input))?);
        }
        self.expander.as_ref().ok_or_else(|| ReferenceError::Base(self.input.iri.clone()))
    }

    fn expand<T: TripleSink>(
        &mut self,
        session: &str,
        blanks: &mut BlankName,
        document: &str,
        triples: &mut T,
    ) -> Result<(), ReferenceError> {
        if document.is_empty() {
            return Ok(());
        }
        if document.len() > MOST_EXPANDED && !self.mapper.reference_only {
            return Err(ReferenceError::Large(MOST_EXPANDED >> 20));
        }
        let graph = match self.mapper.mapping {
            Mapping::Session => GraphName::NamedNode(NamedNode::new_unchecked(format!("{}{session}", self.input.iri))),
            Mapping::Bblock => GraphName::DefaultGraph,
        };
        self.expander()?;
        let Some(expander) = &self.expander else { return Ok(()) };
        let _alone = (document.len() > ALONE).then(|| self.mapper.alone.lock().unwrap_or_else(PoisonError::into_inner));
        let mut quads = Vec::new();
        let document = format!("[{document}]");
        expander.reference.quads(&document, &graph, blanks, &mut self.tally.losses, &mut quads)?;
        triples.quads(&quads);
        Ok(())
    }
}
