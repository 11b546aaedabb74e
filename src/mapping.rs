//! Mappings: how an annotated message becomes triples.
//!
//! There is one definition, in two steps that anyone can check: the annotated message is written as JSON-LD, and that
//! JSON-LD is expanded with the contexts as the JSON-LD 1.1 algorithms say. There are two ways to run it. The reference
//! path does just that, under any contexts. The fast path gives the same triples without the detour, for what the
//! built-in contexts alone decide; a message that it does not cover takes the reference path.

mod bblock;
mod direct;
mod document;
mod facts;
mod further;
mod loss;
mod number;
mod plan;
mod reference;
mod shape;
pub(crate) mod terms;
mod triples;

use std::collections::BTreeMap;
use std::rc::Rc;

use oxrdf::{GraphName, NamedNode, Quad};

use self::bblock::Plain;
use self::direct::Direct;
use self::document::{DocumentWriter, Further, FurtherTerms, session_reference};
use self::further::MessagePlan;
pub use self::loss::{Loss, Losses};
#[cfg(feature = "register")]
pub(crate) use self::number::NumberLiteral;
use self::plan::NotCovered;
pub use self::reference::ReferenceError;
#[doc(hidden)]
pub use self::reference::document_quads;
#[cfg(feature = "register")]
pub(crate) use self::reference::{Active, document_to_rdf, process_with};
use self::reference::{Blanks, Reference};
use self::shape::Shape;
pub use self::triples::{Blank, Node, Object, Triples};
use crate::context::{self, Context};
use crate::json::{self, Numbers};
use crate::message::{Content, Problem};
use crate::session::{self, Annotated, Origin, Session, SessionEnd};

/// Which mapping.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mapping {
    /// Sessions, exchanges, times and problems; a named graph for each session; nothing lost.
    #[default]
    Session,
    /// The building block to the letter: every message a document of its own under the context, in the default graph.
    Bblock,
}

/// A mapping under a list of contexts, for any number of inputs.
#[derive(Debug, Clone)]
pub struct Mapper {
    mapping: Mapping,
    provenance: bool,
    reference_only: bool,
    /// What a document's `@context` is, but for the base.
    contexts: Vec<serde_json::Value>,
    further: Option<FurtherTerms>,
}

impl Mapper {
    /// The built-in contexts and then `further` ones, in order. Fails where JSON-LD refuses them.
    pub fn new(mapping: Mapping, further: &[Context]) -> Result<Self, ReferenceError> {
        let builtin = match mapping {
            Mapping::Session => context::builtin(),
            Mapping::Bblock => context::builtin().get(..1).unwrap_or_default(),
        };
        let terms = (!further.is_empty()).then(|| FurtherTerms::new(further));
        let mut mapper =
            Self { mapping, provenance: false, reference_only: false, contexts: Vec::new(), further: terms };
        for context in builtin.iter().chain(further) {
            // A context within an array of contexts must not be an array.
            match context.value() {
                serde_json::Value::Array(several) => mapper.contexts.extend(several.iter().cloned()),
                one => mapper.contexts.push(one.clone()),
            }
        }
        if mapper.further.is_some() {
            Expander::new(&mapper, None).map_err(|error| culprit(mapping, further, error))?;
        }
        Ok(mapper)
    }

    /// Whether to say of each record its line, byte offset and SHA-256.
    #[must_use]
    pub fn with_provenance(self, provenance: bool) -> Self {
        Self { provenance, ..self }
    }

    /// Whether to expand JSON-LD for every message, also where the fast path would do.
    #[must_use]
    pub fn with_reference_only(self, reference_only: bool) -> Self {
        Self { reference_only, ..self }
    }

    /// The mapping.
    pub fn mapping(&self) -> Mapping {
        self.mapping
    }

    /// The `@context` of an input's documents: the built-in contexts, the further ones, the base.
    pub fn context(&self, input: &InputIri) -> serde_json::Value {
        let mut contexts = self.contexts.clone();
        if self.base_in_context(input) {
            contexts.push(serde_json::json!({ "@base": input.iri }));
        }
        serde_json::Value::Array(contexts)
    }

    /// How numbers of payloads are written.
    pub fn numbers(&self) -> Numbers {
        match self.mapping {
            Mapping::Session => Numbers::Exact,
            Mapping::Bblock => Numbers::Rfc8785,
        }
    }

    /// Whether messages may come with their payloads in canonical form: whether no further context looks into them.
    pub fn takes_canonical(&self) -> bool {
        self.further.is_none() && !self.reference_only
    }

    fn base_in_context(&self, input: &InputIri) -> bool {
        self.mapping == Mapping::Session || input.stated
    }
}

/// The same error with the name of the first context that cannot follow those before it.
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
    /// Its place among the inputs, from 0.
    pub number: u32,
    /// The IRI: absolute, without a fragment.
    pub iri: String,
    /// Whether the user gave it. In `bblock` it is then a context's `@base`, and otherwise only the document's base, over
    /// which the building block's own `@base` goes.
    pub stated: bool,
}

/// Maps the records of one input; every thread has its own.
pub struct InputMapper<'m> {
    mapper: &'m Mapper,
    input: &'m InputIri,
    /// Made when the first message needs it.
    expander: Option<Expander>,
    plain: Option<Plain>,
    losses: Losses,
    document: String,
    literal: String,
    /// See [`InputMapper::take_late`].
    late: u64,
    /// Records that took the reference path, by why they did.
    by_reference: BTreeMap<&'static str, u64>,
}

/// What the reference path needs: processed contexts.
struct Expander {
    reference: Reference,
    shape: Rc<Shape>,
    further: Option<Further>,
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
        let reference = Reference::new(&contexts, input.map(|input| &*input.iri), mapper.numbers())?;
        let shape = Shape::new(reference.active().clone());
        let further = mapper.further.clone().map(|terms| Further::new(shape.clone(), terms));
        Ok(Self { reference, shape, further })
    }
}

/// Where triples go: written out, or collected; or the JSON-LD that they would be made from.
pub enum Rendering<'r, T> {
    /// Triples.
    Triples(&'r mut T),
    /// JSON-LD node objects, commas between them.
    Documents(&'r mut String),
}

/// What takes triples from either path.
pub trait TripleSink: Triples {
    /// Takes quads that the reference path made, the triples of a subject together.
    fn quads(&mut self, quads: &[Quad]);
}

impl<'m> InputMapper<'m> {
    /// A mapper for the records of an input.
    pub fn new(mapper: &'m Mapper, input: &'m InputIri) -> Self {
        let plain = match mapper.mapping {
            Mapping::Bblock if mapper.takes_canonical() => Some(Plain::new(mapper.base_in_context(input), &input.iri)),
            _ => None,
        };
        let (losses, document, literal) = (Losses::default(), String::new(), String::new());
        Self { mapper, input, expander: None, plain, losses, document, literal, late: 0, by_reference: BTreeMap::new() }
    }

    /// Maps the nodes of a record.
    pub fn nodes<'e, T: TripleSink>(
        &mut self,
        session: &str,
        nodes: &'e [Annotated<'e>],
        rendering: Rendering<'_, T>,
    ) -> Result<(), ReferenceError> {
        let record = nodes.first().map_or(0, |node| node.name.record);
        match rendering {
            Rendering::Triples(triples) if self.mapper.takes_canonical() => {
                let mut direct = self.direct(session, record, triples);
                nodes.iter().for_each(|node| direct.node(node));
                Ok(())
            }
            Rendering::Triples(triples) => {
                if self.plan(session, record, nodes, triples)? {
                    return Ok(());
                }
                let mut document = std::mem::take(&mut self.document);
                document.clear();
                let mut blanks = Blanks::new(self.input.number, record);
                let result = self.write(session, nodes, &mut document);
                let result = result.and_then(|()| self.expand(session, &mut blanks, &document, triples));
                self.document = document;
                if result.is_err() {
                    // What a further context cannot take is data, as it is without that context.
                    let mut direct = self.direct(session, record, triples);
                    nodes.iter().for_each(|node| direct.node(node));
                }
                result
            }
            Rendering::Documents(out) => self.write(session, nodes, out),
        }
    }

    /// Maps the session's own node, when it has ended.
    pub fn end<T: TripleSink>(
        &mut self,
        session: &Session,
        origin: &Origin,
        rendering: Rendering<'_, T>,
    ) -> Result<(), ReferenceError> {
        let end = session.end(origin);
        match rendering {
            Rendering::Triples(triples) => self.direct("", 0, triples).session_end(&end),
            Rendering::Documents(out) => self.write_end(&end, out),
        }
        Ok(())
    }

    /// Maps a record in the mapping `bblock`: its object, or those of its array, as they are.
    pub fn plain<T: TripleSink>(
        &mut self,
        record: u64,
        bytes: &[u8],
        content: &Content<'_>,
        mut rendering: Rendering<'_, T>,
    ) -> Result<(), ReferenceError> {
        let blank = Blank { input: self.input.number, record, index: 0 };
        if let (Rendering::Triples(triples), Some(plain)) = (&mut rendering, &self.plain)
            && plain.push(content, blank, *triples)
        {
            return Ok(());
        }
        let Ok(value) = json::parse(bytes) else {
            self.losses.add(Loss::NoObject);
            return Ok(());
        };
        if matches!(rendering, Rendering::Triples(_)) {
            self.count_reference(if self.plain.is_some() { "not one plain message" } else { "a further context" });
        }
        let shape = self.expander()?.shape.clone();
        let single = std::slice::from_ref(&value);
        let values = if let json::Value::Array(array) = &value { array.items.as_slice() } else { single };
        let mut blanks = Blanks::new(self.input.number, record);
        for (index, value) in (0..).zip(values) {
            match &mut rendering {
                Rendering::Documents(out) => {
                    bblock::write(value, &shape, Blank { index, ..blank }, out, &mut self.losses)?;
                }
                Rendering::Triples(triples) => {
                    // Each by itself: expansion makes one of objects that are the same.
                    let mut document = std::mem::take(&mut self.document);
                    document.clear();
                    let result = bblock::write(value, &shape, blanks.scope(), &mut document, &mut self.losses);
                    let result = result.and_then(|()| self.expand("", &mut blanks, &document, *triples));
                    self.document = document;
                    result?;
                }
            }
        }
        Ok(())
    }

    /// Takes what could not be carried since the last call.
    pub fn take_losses(&mut self) -> Losses {
        std::mem::take(&mut self.losses)
    }

    /// Takes the number of messages, since the last call, that turned out to have the problem `KeywordMember` only under
    /// further contexts.
    pub fn take_late(&mut self) -> u64 {
        std::mem::take(&mut self.late)
    }

    /// Takes the numbers of records, since the last call, that took the reference path, by why they did.
    pub fn take_by_reference(&mut self) -> BTreeMap<&'static str, u64> {
        std::mem::take(&mut self.by_reference)
    }

    /// Counts a loss that shows outside the mapping.
    pub fn lose(&mut self, loss: Loss) {
        self.losses.add(loss);
    }

    fn direct<'t, T: Triples>(&'t mut self, session: &'t str, record: u64, triples: &'t mut T) -> Direct<'t, T> {
        let blank = Blank { input: self.input.number, record, index: 0 };
        let provenance = self.mapper.provenance;
        Direct { triples, buffer: &mut self.literal, provenance, session, blank, planned: false }
    }

    /// Maps a record under further contexts without expansion, if that covers all of it, and tells whether it does.
    fn plan<'e, T: Triples>(
        &mut self,
        session: &str,
        record: u64,
        nodes: &'e [Annotated<'e>],
        triples: &mut T,
    ) -> Result<bool, ReferenceError> {
        // The blank nodes of a batch's elements would have to be told apart.
        if self.mapper.reference_only || nodes.len() > 1 {
            self.count_reference(if self.mapper.reference_only { "asked for" } else { "a batch" });
            return Ok(false);
        }
        self.expander()?;
        let Some(further) = self.expander.as_ref().and_then(|expander| expander.further.as_ref()) else {
            return Ok(false);
        };
        let plan = match nodes.first().map(|node| &node.node) {
            Some(session::Node::Message(message)) => MessagePlan::new(further, message),
            _ => Ok(MessagePlan::default()),
        };
        let plan = match plan {
            Ok(plan) => plan,
            Err(NotCovered(reason)) => {
                self.count_reference(reason);
                return Ok(false);
            }
        };
        self.losses.merge(&plan.losses);
        for node in nodes {
            self.late += u64::from(plan.has_keyword() && !node.problems.contains(Problem::KeywordMember));
            let mut direct = self.direct(session, record, triples);
            direct.planned = true;
            direct.planned_node(node, &plan);
        }
        Ok(true)
    }

    fn count_reference(&mut self, reason: &'static str) {
        *self.by_reference.entry(reason).or_default() += 1;
    }

    fn write<'e>(&mut self, session: &str, nodes: &'e [Annotated<'e>], out: &mut String) -> Result<(), ReferenceError> {
        if self.mapper.further.is_some() {
            self.expander()?;
        }
        let mut writer = self.writer(session, nodes.first().map_or(0, |node| node.name.record), out);
        for node in nodes {
            writer.separate();
            writer.node(node)?;
        }
        Ok(())
    }

    fn write_end(&mut self, end: &SessionEnd<'_>, out: &mut String) {
        let mut writer = self.writer("", 0, out);
        writer.separate();
        writer.session_end(end);
    }

    fn writer<'w>(&'w mut self, session: &str, record: u64, out: &'w mut String) -> DocumentWriter<'w> {
        DocumentWriter {
            out,
            losses: &mut self.losses,
            further: self.expander.as_ref().and_then(|expander| expander.further.as_ref()),
            provenance: self.mapper.provenance,
            buffer: String::new(),
            blanks: Blank { input: self.input.number, record, index: 0 },
            late: &mut self.late,
            session: session.to_owned(),
        }
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
        blanks: &mut Blanks,
        document: &str,
        triples: &mut T,
    ) -> Result<(), ReferenceError> {
        if document.is_empty() {
            return Ok(());
        }
        let graph = match self.mapper.mapping {
            Mapping::Session => GraphName::NamedNode(NamedNode::new_unchecked(format!("{}{session}", self.input.iri))),
            Mapping::Bblock => GraphName::DefaultGraph,
        };
        self.expander()?;
        let Some(expander) = &self.expander else { return Ok(()) };
        let mut quads = Vec::new();
        let document = format!("[{document}]");
        expander.reference.quads(&document, &graph, blanks, &mut self.losses, &mut quads)?;
        triples.quads(&quads);
        Ok(())
    }
}

/// IRI reference of a session's graph, against the input's IRI.
pub fn graph_reference(session: &Session) -> String {
    session_reference(session.key())
}
